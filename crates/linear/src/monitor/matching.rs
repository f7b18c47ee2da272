//! Pairing the inserts and removals of a stack or queue history by value.
//!
//! Input: the operations of one object in which no value is inserted twice. Output: one [`Val`] a value with the four
//! times that matter, the removals that found nothing, the removals that are still open; or a flaw of one
//! value, which already decides the history.
//!
//! - An insert that is pending and whose value came out has taken effect: its return is [`Ts::INF`]. One whose value
//!   nobody saw is dropped; a legal completion, and by value removal it can only help.
//! - A value that never came out gets a virtual removal `[Ts::END, Ts::INF)`. All of these overlap each other, so they can
//!   be placed last in whatever order is needed.
//!
//! After Grahn 2026, with the case "removed before inserted" kept as a flaw and pending operations added. Cost: linear, expected.

use rustc_hash::FxHashMap;

use crate::history::{Method, Op, OpId, Ts};
use crate::value::ValueId;

/// In which order values come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Last in, first out.
    Stack,
    /// First in, first out.
    Queue,
}

/// A value with the times of its insert and its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Val {
    /// The insert.
    pub insert: OpId,
    /// The removal; `None` if it is virtual.
    pub remove: Option<OpId>,
    /// Call of the insert.
    pub pc: Ts,
    /// Return of the insert.
    pub pr: Ts,
    /// Call of the removal.
    pub oc: Ts,
    /// Return of the removal.
    pub or: Ts,
}

impl Val {
    /// Whether insert and removal overlap, so that the value is nowhere certainly stored.
    pub fn overlaps(&self) -> bool {
        self.oc < self.pr
    }
}

/// A removal that found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Empty {
    /// The operation.
    pub op: OpId,
    /// Its call.
    pub call: Ts,
    /// Its return.
    pub ret: Ts,
}

/// A violation of a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A removal returned a value that no insert was ever called with.
    Fresh {
        /// The removal.
        remove: OpId,
    },
    /// Two removals returned the same value.
    Duplicate {
        /// The insert.
        insert: OpId,
        /// The removal that returned first.
        first: OpId,
        /// The other one.
        second: OpId,
    },
    /// The removal had returned before the insert was called.
    TooEarly {
        /// The insert.
        insert: OpId,
        /// The removal.
        remove: OpId,
    },
}

/// The operations of a stack or queue history, paired.
#[derive(Clone, Debug, Default)]
pub struct Matched {
    /// Values that came out, in order of their inserts' calls.
    pub taken: Vec<Val>,
    /// Values that never came out, with virtual removals, in order of their inserts' calls.
    pub left: Vec<Val>,
    /// Removals that found nothing, in order of their calls.
    pub empties: Vec<Empty>,
    /// Removals without a known result, in order of their calls.
    pub open: Vec<(Ts, OpId)>,
}

/// The two inserts of a value that is inserted twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The value.
    pub value: ValueId,
    /// The first insert.
    pub first: OpId,
    /// The second.
    pub second: OpId,
}

/// What came of pairing.
#[derive(Clone, Debug)]
pub enum Matching {
    /// Every value has one insert and at most one removal.
    Paired(Matched),
    /// A single value is already wrong; the flaw that shows first.
    Flawed(Flaw),
}

const NOBODY: OpId = OpId(u32::MAX);

/// The operations on a value, in as few bytes as there are many of them.
#[derive(Clone, Copy)]
struct Slot {
    insert: OpId,
    remove: OpId,
}

impl Slot {
    fn known(self) -> (Option<OpId>, Option<OpId>) {
        let known = |op: OpId| Some(op).filter(|op| *op != NOBODY);
        (known(self.insert), known(self.remove))
    }
}

/// Numbers for values: a table where most values of the history are in these operations, a map where they are few.
enum Slots {
    Dense(Vec<u32>),
    Sparse(FxHashMap<ValueId, u32>),
}

impl Slots {
    fn new(ops: &[Op]) -> Slots {
        let greatest = ops.iter().map(|op| op.arg.max(op.result.unwrap_or(op.arg))).max().unwrap_or(ValueId::NIL);
        if greatest.index() <= 2 * ops.len() {
            return Slots::Dense(vec![u32::MAX; greatest.index() + 1]);
        }
        Slots::Sparse(FxHashMap::with_capacity_and_hasher(ops.len() / 2 + 1, Default::default()))
    }

    /// The number of a value; the next one if it has none.
    fn number(&mut self, value: ValueId, next: u32) -> u32 {
        match self {
            Slots::Sparse(numbers) => *numbers.entry(value).or_insert(next),
            Slots::Dense(numbers) => {
                let number = &mut numbers[value.index()];
                if *number == u32::MAX {
                    *number = next;
                }
                *number
            }
        }
    }
}

/// Pairs the operations; a value that is inserted twice is refused.
pub fn pair(ops: &[Op]) -> Result<Matching, Repeated> {
    let mut slots = Slots::new(ops);
    let mut order: Vec<Slot> = Vec::with_capacity(ops.len() / 2 + 1);
    let mut matched = Matched::default();
    let mut flaw: Option<(Ts, Flaw)> = None;
    let mut duplicates: Vec<(ValueId, OpId)> = Vec::new();
    let mut slot = |value: ValueId, order: &mut Vec<Slot>| -> usize {
        let next = order.len() as u32;
        let index = slots.number(value, next);
        if index == next {
            order.push(Slot { insert: NOBODY, remove: NOBODY });
        }
        index as usize
    };
    for (index, op) in ops.iter().enumerate() {
        let id = OpId(index as u32);
        match (op.method, op.result) {
            (Method::Insert, _) => {
                let at = slot(op.arg, &mut order);
                if order[at].insert != NOBODY {
                    return Err(Repeated { value: op.arg, first: order[at].insert, second: id });
                }
                order[at].insert = id;
            }
            (_, None) => matched.open.push((op.call, id)),
            (_, Some(ValueId::NIL)) => matched.empties.push(Empty { op: id, call: op.call, ret: op.ret }),
            (_, Some(value)) => {
                let at = slot(value, &mut order);
                match order[at].remove {
                    NOBODY => order[at].remove = id,
                    _ => duplicates.push((value, id)),
                }
            }
        }
    }
    let mut note = |when: Ts, what: Flaw| {
        if flaw.is_none_or(|(earlier, _)| when < earlier) {
            flaw = Some((when, what));
        }
    };
    for (value, again) in duplicates {
        let at = slot(value, &mut order);
        if let (Some(insert), Some(other)) = order[at].known() {
            let (first, second) =
                if ops[other.index()].ret < ops[again.index()].ret { (other, again) } else { (again, other) };
            note(ops[second.index()].ret, Flaw::Duplicate { insert, first, second });
        } else {
            note(ops[again.index()].ret, Flaw::Fresh { remove: again });
        }
    }
    for slot in &order {
        match slot.known() {
            (None, Some(remove)) => note(ops[remove.index()].ret, Flaw::Fresh { remove }),
            (Some(insert), Some(remove)) => {
                let (put, took) = (&ops[insert.index()], &ops[remove.index()]);
                if took.ret < put.call {
                    note(took.ret, Flaw::TooEarly { insert, remove });
                }
                matched.taken.push(Val {
                    insert,
                    remove: Some(remove),
                    pc: put.call,
                    pr: put.ret,
                    oc: took.call,
                    or: took.ret,
                });
            }
            (Some(insert), None) => {
                let put = &ops[insert.index()];
                if !put.is_pending() {
                    matched.left.push(Val {
                        insert,
                        remove: None,
                        pc: put.call,
                        pr: put.ret,
                        oc: Ts::END,
                        or: Ts::INF,
                    });
                }
            }
            (None, None) => {}
        }
    }
    if let Some((_, flaw)) = flaw {
        return Ok(Matching::Flawed(flaw));
    }
    matched.taken.sort_unstable_by_key(|val| val.pc);
    matched.left.sort_unstable_by_key(|val| val.pc);
    matched.open.sort_unstable();
    Ok(Matching::Paired(matched))
}
