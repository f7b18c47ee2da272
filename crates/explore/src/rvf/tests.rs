//! What the published method loses without each of the rules that we add.

use super::explore;
use super::options::{Rule, Settings};
use crate::testing::explored;
use raddle_engine::Statistics;

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
