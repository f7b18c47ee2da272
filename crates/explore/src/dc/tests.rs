//! What the published method loses without each of the rules that we add.

use super::explore;
use super::options::{Rule, Settings};
use crate::testing::explored;
use raddle_engine::Statistics;

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
