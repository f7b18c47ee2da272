//! What the published method loses without each of the rules that we add; and that parts make up the whole.

use super::explore;
use super::options::{Rule, Settings};
use super::search::Search;
use crate::sequence::Walk;
use crate::testing::explored;
use raddle_engine::{Deadline, Question, Statistics};

fn counts(threads: &[&str], without: Option<Rule>) -> Statistics {
    let settings = Settings { without, ..Settings::default() };
    explored(threads, |question, deadline| explore(question, deadline, settings)).statistics
}

#[test]
fn an_update_can_hide_a_compare_exchange() {
    let threads = ["let a = rmw.add x, 1;", "let a = cas x, 0, 5;"];
    assert_eq!(counts(&threads, None).executions, 2);
    let published = counts(&threads, Some(Rule::UpdatesHideUpdates));
    assert_eq!(published.executions, 1, "the published rule misses the compare-exchange that succeeds");
}

#[test]
fn a_critical_section_that_is_never_left_can_hide_others() {
    let threads = ["lock m; store x, 1;", "lock m; store x, 2;", "let a = load x;"];
    assert_eq!(counts(&threads, None).blocked, 4);
    let published = counts(&threads, Some(Rule::LocksHideLocks));
    assert_eq!(published.blocked, 2, "without a rule for locks half of the outcomes are missed");
}

#[test]
fn what_an_update_writes_is_a_signal() {
    let threads = ["let a = load x;", "let a = rmw.add x, 1;"];
    assert_eq!(counts(&threads, None).executions, 2);
    let published = counts(&threads, Some(Rule::UpdatesSignal));
    assert_eq!(published.executions, 1, "the read of what the update writes is missed");
}

/// Explores all of a search, but whatever can be given away is explored as a part of its own. Returns how many parts there were.
fn in_parts<'c>(search: &mut Search<'c>, question: Question<'c>, deadline: &'c Deadline<'c>) -> u64 {
    let mut parts = 0;
    while search.advance().expect("it is supported") {
        while let Some(part) = search.split() {
            let mut other = Search::of_part(part, question, deadline, Settings::default());
            parts += 1 + in_parts(&mut other, question, deadline);
            search.shell().report.absorb(other.shell.report);
        }
        assert!(search.waits_for().is_none(), "all parts have been explored");
    }
    parts
}

#[test]
fn a_search_in_parts_explores_the_same() {
    let programs: [&[&str]; 5] = [
        &["store x, 1; let a = load y;", "store y, 1; let a = load x;", "let a = load x; let b = load y;"],
        &["let a = rmw.add x, 1; let b = load y;", "let a = cas x, 0, 5; store y, a;", "let a = load x; store y, 3;"],
        &["lock m; store x, 1; unlock m;", "lock m; store x, 2; lock n;", "lock n; lock m; let a = load x;"],
        &["let a = choose 0..3; store x, a;", "let a = choose 0..2; let b = load x; store y, a;", "let c = load y;"],
        &["store x, 1; let a = load x until a == 2;", "store x, 2; let a = load y;", "store y, 1; store x, 1;"],
    ];
    for threads in programs {
        let whole = explored(threads, |question, deadline| explore(question, deadline, Settings::default()));
        let mut parts = 0;
        let other = explored(threads, |question, deadline| {
            let mut search = Search::new(question, deadline, Settings::default(), true);
            search.begin().map_err(|_| ()).expect("it is supported");
            parts = in_parts(&mut search, question, deadline);
            Ok(search.shell.report.finish(Ok(())).expect("nothing stops it"))
        });
        assert!(parts > 0, "nothing of {threads:?} was given away");
        assert_eq!(other.statistics, whole.statistics, "{threads:?}");
        assert_eq!(other.counters, whole.counters, "{threads:?}");
        assert_eq!(other.verdict, whole.verdict, "{threads:?}");
        assert!((other.share_done - 1.0).abs() < 1e-9, "{} of {threads:?}", other.share_done);
    }
}
