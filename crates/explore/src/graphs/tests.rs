//! How much work a search is, by what it counts.

use super::context::Purpose;
use super::explore;
use super::graph::Equivalence;
use crate::testing::explored;

#[test]
fn a_source_that_is_refused_rules_out_those_before_it() {
    for writes in [5, 10, 20] {
        let thread = format!("for i in 0..{writes} {{ store x, i; }} let r = load x;");
        let outcome = explored(&[&thread, &thread], |question, deadline| {
            explore(&question, deadline, Purpose::new(Equivalence::ReadsFrom, question.options))
        });
        // Whoever reads the other's write must not have been overtaken by the other's read.
        assert_eq!(outcome.statistics.executions, 2 * writes + 1);
        assert_eq!(
            outcome.counter("questions"),
            2 * writes,
            "a question for each older write would be writes * (writes + 1)"
        );
    }
}
