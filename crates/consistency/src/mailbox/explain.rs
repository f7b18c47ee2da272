//! Why there is no run: a smallest set of given edges that rules all runs out.
//!
//! Reads-from, coherence and from-read edges and what the trace says besides are left out one by one, as long as there is still no run; what stays is needed, each of it. The order within messages, posts and
//! mailboxes are always kept, and so is it that a read of an unknown source reads one of those it may have read. One solution of the trace for every such edge.

use super::constraints::{Given, GivenEdge, given};
use super::solve::{Answer, Limits, Search};
use super::trace::{Rules, Trace};

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Edges of reads-from, coherence, from-read and what the trace says that cannot all be had.
    pub edges: Vec<GivenEdge>,
    /// Whether none of them can be spared; not known if a limit was reached.
    pub minimal: bool,
}

/// A smallest set of edges that rules out all runs of a trace that has none. `None` if it has one, or nobody knows within the limits.
pub fn explain(trace: &Trace, rules: &Rules, limits: &Limits<'_>) -> Option<Core> {
    let all = given(trace, rules);
    let is_kept = |edge: &GivenEdge| matches!(edge.why, Given::Program | Given::Posted | Given::Mailbox);
    let answer = |edges: &[GivenEdge]| Search::new(trace, rules).run(edges, limits);
    if answer(&all) != Answer::Inconsistent {
        return None;
    }
    let (kept, mut needed): (Vec<GivenEdge>, Vec<GivenEdge>) = all.into_iter().partition(is_kept);
    let mut minimal = true;
    let mut at = 0;
    while at < needed.len() {
        let edge = needed.remove(at);
        match answer(&[kept.as_slice(), &needed].concat()) {
            Answer::Inconsistent => {}
            Answer::Consistent(_) => {
                needed.insert(at, edge);
                at += 1;
            }
            Answer::Unknown => {
                minimal = false;
                needed.insert(at, edge);
                at += 1;
            }
        }
    }
    Some(Core { edges: needed, minimal })
}
