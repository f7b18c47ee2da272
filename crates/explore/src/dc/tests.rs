//! What the published method loses without each of the rules that we add.

use super::explore;
use super::options::{Rule, Settings};
use super::search::Search;
use crate::sequence::pool;
use crate::testing::{explored, parts_make_up_the_whole};
use raddle_engine::{Deadline, Question, Statistics};

/// By bursts.
fn counts(threads: &[&str], without: Option<Rule>) -> Statistics {
    let settings = Settings { burst: true, without, ..Settings::default() };
    explored(threads, |question, deadline| explore(question, deadline, settings)).statistics
}

#[test]
fn a_source_that_was_tried_was_tried_with_its_past() {
    let threads = ["let a = load x;", "let a = load y; store x, 1;", "store y, 1;"];
    assert_eq!(counts(&threads, None).executions, 4);
    assert_eq!(counts(&threads, Some(Rule::ForbidBursts)).executions, 3, "as printed, one is lost");
}

#[test]
fn what_is_behind_a_lock_that_is_waited_for_is_found() {
    let inversion =
        ["lock m; lock n; let a = load x; unlock n; unlock m;", "lock n; lock m; store x, 1; unlock m; unlock n;"];
    let turns =
        ["let a = load z; lock m; store y, 1; lock n; let b = load x;", "lock n; store z, 1; lock m; let b = load y;"];
    let runs = |without| [inversion, turns].map(|threads| counts(&threads, without).runs()).iter().sum::<u64>();
    assert!(runs(Some(Rule::PendingLocks)) < runs(None), "without pending locks something is lost");
}

#[test]
fn a_search_in_parts_explores_the_same() {
    let programs: [&[&str]; 5] = [
        &["store x, 1; let a = load y;", "store y, 1; let a = load x;", "let a = load x; let b = load y;"],
        &["let a = rmw.add x, 1; let b = load y;", "let a = cas x, 0, 5; store y, a;", "let a = load x; store y, 3;"],
        &["lock m; store x, 1; unlock m;", "lock m; store x, 2; lock n;", "lock n; lock m; let a = load x;"],
        &["let a = choose 0..3; store x, a;", "let a = choose 0..2; let b = load x; store y, a;", "let c = load y;"],
        &[
            "store x, 1; let a = load y;",
            "store x, 2; let a = load y; store y, 1;",
            "store y, 2; store x, 3; let a = load x;",
        ],
    ];
    for refine in [false, true] {
        let settings = Settings { refine, ..Settings::default() };
        for threads in programs {
            let whole = |question: Question<'_>, deadline: &Deadline<'_>| explore(question, deadline, settings);
            parts_make_up_the_whole(threads, whole, |question, deadline| {
                pool::explored_in_parts(Search::new(question, deadline, settings, true), question, deadline, settings)
            });
        }
    }
}
