//! What a check says.

use crate::history::{OpId, Ts};
use crate::prefix::EarliestPrefix;
use crate::search::Statistics;
use crate::search::shrink::{Others, Since};
use crate::value::ValueId;

/// The answer for one history.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is linearizable, and this is a linearization. It has been checked again.
    Holds(Vec<OpId>),
    /// It is not, and this is why.
    Violated(Explanation),
    /// A limit was reached before there was an answer.
    Unknown(String),
}

/// Why a history is not linearizable.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The kind of violation, with the operations that play a part in it.
    pub reason: Reason,
    /// Operations that cannot be ordered.
    pub ops: Vec<OpId>,
    /// Operations of which only the calls count: `ops` cannot be ordered even if these took effect at any moment after their calls with any
    /// answer, or never.
    pub called: Vec<OpId>,
    /// What is assumed of all other operations of the object.
    pub others: Others,
    /// Whether none of `ops` can be spared: if for any one of them only its call counted, the rest could be ordered.
    pub minimal: bool,
    /// Whether the general checker was asked about `ops` and agreed.
    pub confirmed: bool,
    /// What came before `ops`, if it was replaced by the state the object may be taken to have been in.
    pub from: Option<Since<OpId>>,
    /// After which event the history is wrong.
    pub earliest: Option<EarliestPrefix>,
    /// The object or key it is about; [`ValueId::NIL`] when the history names none.
    pub place: ValueId,
}

/// The kinds of violations.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// A removal returned a value that nobody inserted.
    FreshValue {
        /// The removal.
        remove: OpId,
    },
    /// Two removals returned the same value.
    DuplicateRemoval {
        /// The insert.
        insert: OpId,
        /// The removal that returned first.
        first: OpId,
        /// The other one.
        second: OpId,
    },
    /// A removal had returned a value before its insert was called.
    RemovedBeforeInserted {
        /// The insert.
        insert: OpId,
        /// The removal.
        remove: OpId,
    },
    /// Something was stored throughout a removal that found nothing.
    EmptyNeverPossible {
        /// The removal.
        empty: OpId,
        /// The inserts of values that together cover it.
        covered_by: Vec<OpId>,
    },
    /// Queue: `early` went in before `late`, and `late` was out before anyone began to take `early`.
    CriticalPair {
        /// The insert of the value that went in first.
        early: OpId,
        /// The insert of the value that came out first.
        late: OpId,
    },
    /// Stack: `upper` was pushed onto `lower`, and `lower` was out before anyone began to take `upper`.
    InvertedPair {
        /// The push of the value below.
        lower: OpId,
        /// The push of the value above.
        upper: OpId,
    },
    /// Stack: something is stored throughout and no value can be outermost.
    StackStuck {
        /// The pushes of the values.
        pushes: Vec<OpId>,
    },
    /// The values left over would need more pending removals, or earlier ones, than there are.
    TooFewPending {
        /// The inserts of the values involved.
        inserts: Vec<OpId>,
    },
    /// Set: a return that no order of the operations on its value explains.
    SetStuck {
        /// The value.
        value: ValueId,
        /// The operation that returned.
        op: OpId,
        /// Whether the value was present then.
        present: bool,
    },
    /// Multiset: more removes had returned than adds had been called.
    CountExceeded {
        /// The value.
        value: ValueId,
        /// The remove that was one too many.
        op: OpId,
        /// How many adds had been called.
        adds: u32,
    },
    /// General: no order gets past the return of an operation.
    NoOrder {
        /// The operation.
        blocked: OpId,
        /// States the object could be in just before, with the open operations that had taken effect.
        before: Vec<(String, Vec<OpId>)>,
    },
}

impl Reason {
    /// A stable name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::FreshValue { .. } => "fresh-value",
            Reason::DuplicateRemoval { .. } => "duplicate-removal",
            Reason::RemovedBeforeInserted { .. } => "removed-before-inserted",
            Reason::EmptyNeverPossible { .. } => "empty-never-possible",
            Reason::CriticalPair { .. } => "critical-pair",
            Reason::InvertedPair { .. } => "inverted-pair",
            Reason::StackStuck { .. } => "stack-stuck",
            Reason::TooFewPending { .. } => "too-few-pending-removals",
            Reason::SetStuck { .. } => "set-stuck",
            Reason::CountExceeded { .. } => "count-exceeded",
            Reason::NoOrder { .. } => "no-order",
        }
    }

    /// The same reason with operations renamed.
    pub(crate) fn renamed(self, name: &impl Fn(OpId) -> OpId) -> Reason {
        let all = |ops: Vec<OpId>| ops.into_iter().map(name).collect();
        match self {
            Reason::FreshValue { remove } => Reason::FreshValue { remove: name(remove) },
            Reason::DuplicateRemoval { insert, first, second } => {
                Reason::DuplicateRemoval { insert: name(insert), first: name(first), second: name(second) }
            }
            Reason::RemovedBeforeInserted { insert, remove } => {
                Reason::RemovedBeforeInserted { insert: name(insert), remove: name(remove) }
            }
            Reason::EmptyNeverPossible { empty, covered_by } => {
                Reason::EmptyNeverPossible { empty: name(empty), covered_by: all(covered_by) }
            }
            Reason::CriticalPair { early, late } => Reason::CriticalPair { early: name(early), late: name(late) },
            Reason::InvertedPair { lower, upper } => Reason::InvertedPair { lower: name(lower), upper: name(upper) },
            Reason::StackStuck { pushes } => Reason::StackStuck { pushes: all(pushes) },
            Reason::TooFewPending { inserts } => Reason::TooFewPending { inserts: all(inserts) },
            Reason::SetStuck { value, op, present } => Reason::SetStuck { value, op: name(op), present },
            Reason::CountExceeded { value, op, adds } => Reason::CountExceeded { value, op: name(op), adds },
            Reason::NoOrder { blocked, before } => Reason::NoOrder {
                blocked: name(blocked),
                before: before.into_iter().map(|(state, done)| (state, done.into_iter().map(name).collect())).collect(),
            },
        }
    }
}

/// A verdict with how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The answer.
    pub verdict: Verdict,
    /// Who gave it: the name of a monitor, or `search`.
    pub engine: &'static str,
    /// How much searching it took; zero for monitors.
    pub statistics: Statistics,
    /// How many objects or keys were checked on their own.
    pub parts: usize,
    /// Under which other meaning of its words a violated history would hold.
    pub hints: Vec<String>,
}

impl Report {
    /// That nothing is known because the history could not be read in time.
    pub fn unread(why: String) -> Report {
        let (engine, statistics) = ("reader", Statistics::default());
        Report { verdict: Verdict::Unknown(why), engine, statistics, parts: 0, hints: Vec::new() }
    }
}

/// Where in the input an event stands, when a history knows.
pub fn line_of(ops: &[crate::history::Op], event: Ts) -> Option<u32> {
    ops.iter().find_map(|op| match event {
        at if at == op.ret && op.ret_line > 0 => Some(op.ret_line),
        at if at == op.call && op.call_line > 0 => Some(op.call_line),
        _ => None,
    })
}
