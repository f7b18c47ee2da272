//! Which kind of object is this a history of, when nobody says?
//!
//! All methods of the history are looked at: a kind is possible if it has all of them under the names that people use for it. Where more than one
//! is possible the values decide: a read that returned a list is none of a counter. If more than one kind is left, the question goes back
//! to the user, with the kinds that are left; a wrong guess would be a wrong verdict.

use rustc_hash::FxHashSet;

use crate::assemble::RawOp;
use crate::format::{InputError, NameId, Phase, Tables};
use crate::meaning::{Meaning, Words};
use crate::object::{KINDS, ObjectKind};
use crate::value::{Value, ValueId};

/// The kind of object these operations were called on.
pub fn kind<'a>(ops: impl Iterator<Item = &'a RawOp> + Clone, tables: &mut Tables) -> Result<ObjectKind, InputError> {
    let mut names: Vec<NameId> = Vec::new();
    let mut seen: FxHashSet<NameId> = FxHashSet::default();
    let mut keyed = false;
    for op in ops.clone() {
        if seen.insert(op.name) {
            names.push(op.name);
        }
        keyed |= op.place != ValueId::NIL;
    }
    if names.is_empty() {
        return Err(InputError::Whole("the history has no event; give the type of the object".into()));
    }
    let texts: Vec<String> = names.iter().map(|name| tables.names.text(*name).to_ascii_lowercase()).collect();
    let mut possible = suggested(&texts, keyed);
    if possible.is_empty() {
        // The first method that no kind has together with those before it is the one to complain about.
        let fits =
            (1..texts.len()).map(|count| suggested(&texts[..count], keyed)).take_while(|kinds| !kinds.is_empty());
        if let Some([kind]) = fits.last().as_deref() {
            return Ok(*kind);
        }
        let having: Vec<ObjectKind> =
            kinds().filter(|kind| texts.iter().all(|name| kind.method(name).is_some())).collect();
        return Err(undecided(&texts, &having));
    }
    if let [kind] = possible[..] {
        return Ok(kind);
    }
    let named = possible.clone();
    possible.retain(|kind| fits(*kind, ops.clone(), tables));
    match possible[..] {
        [kind] => Ok(kind),
        [] => Err(undecided(&texts, &named)),
        _ => Err(undecided(&texts, &possible)),
    }
}

fn kinds() -> impl Iterator<Item = ObjectKind> {
    KINDS.iter().map(|(kind, _)| *kind)
}

fn suggested(names: &[String], keyed: bool) -> Vec<ObjectKind> {
    kinds().filter(|kind| suggests(*kind, names, keyed)).collect()
}

/// Whether methods with these names are what people call on this kind of object: it has them all, and they do not belong to another kind
/// that merely shares them.
fn suggests(kind: ObjectKind, names: &[String], keyed: bool) -> bool {
    let any = |telling: &[&str]| names.iter().any(|name| telling.contains(&name.replace('_', "-").as_str()));
    let only = |common: &[&str]| names.iter().all(|name| common.contains(&name.as_str()));
    if !names.iter().all(|name| kind.method(name).is_some()) {
        return false;
    }
    match kind {
        ObjectKind::Stack => any(&["push", "pop"]),
        ObjectKind::Queue => any(&["enqueue", "dequeue", "enq", "deq"]),
        ObjectKind::Deque => !only(&["push", "pop"]),
        ObjectKind::PriorityQueue => any(&["extract", "extract-min", "remove-min", "delete-min", "pop-min"]),
        ObjectKind::Multiset => !any(&["contains", "ctn", "member"]),
        ObjectKind::Register => !keyed && !only(&["get", "put", "set"]),
        ObjectKind::Map => keyed,
        ObjectKind::Counter => !only(&["get"]),
        ObjectKind::Log => any(&["append"]),
        ObjectKind::Set | ObjectKind::Lock => true,
        // Never told apart from a lock or a queue by its methods.
        ObjectKind::Mutex | ObjectKind::Bag => false,
    }
}

/// Whether every operation makes sense on this kind of object.
fn fits<'a>(kind: ObjectKind, mut ops: impl Iterator<Item = &'a RawOp> + Clone, tables: &mut Tables) -> bool {
    if matches!(kind, ObjectKind::Register | ObjectKind::Map) && reads_lists_made_by_appending(ops.clone(), tables) {
        return false;
    }
    let mut meaning = Meaning::new(kind, Words::default());
    ops.all(|op| meaning.op(op, tables).is_ok())
}

/// Whether only appends change the object and some read returned a list: a register would have made a text of them.
fn reads_lists_made_by_appending<'a>(ops: impl Iterator<Item = &'a RawOp> + Clone, tables: &Tables) -> bool {
    let name = |op: &RawOp| tables.names.text(op.name).to_ascii_lowercase();
    let observes = |op: &RawOp| matches!(name(op).as_str(), "read" | "get" | "r");
    ops.clone().all(|op| observes(op) || name(op) == "append")
        && ops.clone().any(|op| name(op) == "append")
        && ops
            .into_iter()
            .any(|op| observes(op) && op.end == Phase::Ok && matches!(tables.values.get(op.answered), Value::List(_)))
}

fn undecided(names: &[String], kinds: &[ObjectKind]) -> InputError {
    const SHOWN: usize = 8;
    if kinds.is_empty() && names.iter().any(|name| name == "txn") {
        let why = "these are transactions: check them with --txn list-append or --txn rw-register";
        return InputError::Whole(why.into());
    }
    let mut methods = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        methods.push_str(" and others");
    }
    let kinds: Vec<String> = kinds.iter().map(ObjectKind::to_string).collect();
    InputError::Whole(match kinds.as_slice() {
        [] => format!("cannot tell the type of the object: no type has all the methods {methods}; name it with --type"),
        [first @ .., last] if !first.is_empty() => format!(
            "cannot tell the type of the object: {methods} may be called on a {} or {last}; name it with --type",
            first.join(", ")
        ),
        only => format!(
            "cannot tell the type of the object: {methods} may be called on a {}; name it with --type",
            only.join("")
        ),
    })
}
