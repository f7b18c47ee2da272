//! What comes out must have gone in: counting, for every object that values are put into and taken out of.
//!
//! At no moment may more removals of a value have returned than inserts of it have been called. Whatever the order in which an object gives its values
//! back, this is necessary; for a multiset it is all there is. It costs a sort, and most wrong histories of stacks, queues, deques and
//! priority queues whose values repeat are wrong already here, where a search would try every order first.
//!
//! With one of the removals less, counting would not object, and if nothing else had happened the rest could be ordered: each
//! removal right behind an insert. So the removals that returned are a smallest explanation.

use rustc_hash::FxHashMap;

use crate::history::{Method, Op, OpId, Ts};
use crate::object::ObjectKind;
use crate::value::ValueId;

/// The first removal for which there is nothing to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// The value.
    pub value: ValueId,
    /// The removal.
    pub op: OpId,
    /// When it returned.
    pub at: Ts,
    /// How many inserts had been called by then.
    pub adds: u32,
}

/// What an operation does to the number of copies of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// One more, from its call on at the earliest.
    Insert(ValueId),
    /// One less, until its return at the latest.
    Remove(ValueId),
}

/// What a call with an answer may do to the number of copies of a value; nothing for what is no insert or removal. A failed insert counts, too: that
/// makes the test weaker and what it finds true even if the answer of the insert were not known.
pub fn change(kind: ObjectKind, method: Method, arg: ValueId, result: Option<ValueId>) -> Option<Change> {
    let named = matches!(kind, ObjectKind::Set | ObjectKind::Multiset);
    match method {
        Method::Insert | Method::PushFront | Method::PushBack => Some(Change::Insert(arg)),
        Method::Remove if named => (result == Some(ValueId::TRUE)).then_some(Change::Remove(arg)),
        Method::Remove | Method::PopFront | Method::PopBack => {
            result.filter(|result| *result != ValueId::NIL).map(Change::Remove)
        }
        _ => None,
    }
}

/// The first removal, by position and value, that exceeds the inserts; with how many inserts there were. `changes` are what the operations do,
/// with their calls and returns; `stored` is what there was at the beginning.
pub fn first_excess(
    changes: impl Iterator<Item = (Option<Change>, Ts, Ts)>,
    stored: impl Iterator<Item = ValueId>,
) -> Option<(usize, ValueId, u32)> {
    let mut events: Vec<(Ts, usize, Change)> = Vec::new();
    for (position, (change, call, ret)) in changes.enumerate() {
        match change {
            Some(Change::Insert(_)) => events.extend(change.map(|change| (call, position, change))),
            Some(Change::Remove(_)) if ret < Ts::INF => events.extend(change.map(|change| (ret, position, change))),
            _ => {}
        }
    }
    events.sort_unstable_by_key(|(at, position, _)| (*at, *position));
    // Inserts called and removals returned, of each value.
    let mut counts: FxHashMap<ValueId, (u32, u32)> = FxHashMap::default();
    for value in stored {
        counts.entry(value).or_default().0 += 1;
    }
    for (_, position, change) in events {
        match change {
            Change::Insert(value) => counts.entry(value).or_default().0 += 1,
            Change::Remove(value) => {
                let (called, returned) = counts.entry(value).or_default();
                *returned += 1;
                if returned > called {
                    return Some((position, value, *called));
                }
            }
        }
    }
    None
}

/// The first removal of a history that exceeds the inserts.
pub fn exceeded(kind: ObjectKind, ops: &[Op]) -> Option<Exceeded> {
    let changes = ops.iter().map(|op| (change(kind, op.method, op.arg, op.result), op.call, op.ret));
    let (position, value, adds) = first_excess(changes, std::iter::empty())?;
    Some(Exceeded { value, op: OpId(position as u32), at: ops[position].ret, adds })
}
