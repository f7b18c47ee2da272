//! What the published method loses without each of the rules that we add; and that parts make up the whole.

use super::explore;
use super::options::{Rule, Settings};
use super::search::Search;
use crate::sequence::pool;
use crate::testing::{explored, parts_make_up_the_whole};
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

#[test]
fn a_search_in_parts_explores_the_same() {
    let programs: [&[&str]; 5] = [
        &["store x, 1; let a = load y;", "store y, 1; let a = load x;", "let a = load x; let b = load y;"],
        &["let a = rmw.add x, 1; let b = load y;", "let a = cas x, 0, 5; store y, a;", "let a = load x; store y, 3;"],
        &["lock m; store x, 1; unlock m;", "lock m; store x, 2; lock n;", "lock n; lock m; let a = load x;"],
        &["let a = choose 0..3; store x, a;", "let a = choose 0..2; let b = load x; store y, a;", "let c = load y;"],
        &["store x, 1; let a = load x until a == 2;", "store x, 2; let a = load y;", "store y, 1; store x, 1;"],
    ];
    let settings = Settings::default();
    for threads in programs {
        let whole = |question: Question<'_>, deadline: &Deadline<'_>| explore(question, deadline, settings);
        parts_make_up_the_whole(threads, whole, |question, deadline| {
            pool::explored_in_parts(Search::new(question, deadline, settings, true), question, deadline, settings)
        });
    }
}
