//! Operations and reasons in words.

use super::Recorded;
use raddle_linear::drain::Drained;
use raddle_linear::history::{History, Method, Op, OpId};
use raddle_linear::value::ValueId;
use raddle_linear::verdict::Reason;

/// A value, cut to a length that fits a line.
fn short(history: &History, value: ValueId) -> String {
    const SHOWN: usize = 60;
    let text = history.value(value).to_string();
    if text.chars().count() <= SHOWN { text } else { format!("{}...", text.chars().take(SHOWN).collect::<String>()) }
}

/// An operation in a few words: `push(5)`, `pop() = 5`, `cas(1, 2) = true`, with `?` for an unknown result.
pub(super) fn words(recorded: &Recorded, op: &Op) -> String {
    let history = &recorded.history;
    let mut arguments = Vec::new();
    if op.place != ValueId::NIL {
        arguments.push(short(history, op.place));
    }
    if op.arg != ValueId::NIL || matches!(op.method, Method::Write | Method::Cas) {
        arguments.push(short(history, op.arg));
    }
    if op.method == Method::Cas {
        arguments.push(short(history, op.arg2));
    }
    let name = recorded.kind.method_name(op.method);
    let part = Drained::of(history.value(op.arg)).filter(|_| op.method == Method::Remove);
    let name = part.map_or(name.into(), |part| format!("drain {} of {}", part.before + 1, part.all));
    if part.is_some() {
        arguments.pop();
    }
    let empty = matches!(op.method, Method::Remove | Method::PopFront | Method::PopBack);
    let result = match op.result {
        None if op.is_pending() => " = ?".to_string(),
        None | Some(ValueId::NIL) if !empty && op.method != Method::Read => String::new(),
        Some(ValueId::NIL) if empty => " = empty".to_string(),
        Some(result) => format!(" = {}", short(history, result)),
        None => String::new(),
    };
    format!("{name}({}){result}", arguments.join(", "))
}

/// Why a history is not linearizable, in a sentence or two.
pub(super) fn sentence(recorded: &Recorded, reason: &Reason) -> String {
    let op = |id: &OpId| recorded.history.op(*id);
    let say = |id: &OpId| words(recorded, op(id));
    let value = |id: &OpId| short(&recorded.history, op(id).arg);
    let list = |ids: &[OpId]| {
        let mut text = ids.iter().take(8).map(value).collect::<Vec<_>>().join(", ");
        if ids.len() > 8 {
            text.push_str(&format!(" and {} more", ids.len() - 8));
        }
        text
    };
    match reason {
        Reason::FreshValue { remove } => {
            format!("{} returned a value that nobody had inserted.", say(remove))
        }
        Reason::DuplicateRemoval { first, second, .. } => {
            format!("{} and {} returned the same value, which was inserted once.", say(first), say(second))
        }
        Reason::RemovedBeforeInserted { insert, remove } => {
            format!("{} had returned before {} was called.", say(remove), say(insert))
        }
        Reason::EmptyNeverPossible { covered_by, .. } => {
            format!("A removal found nothing, but throughout it something was stored: {}.", list(covered_by))
        }
        Reason::CriticalPair { early, late } => format!(
            "{} was in before {} was called in, and {} was out before anyone began to take {}.",
            value(early),
            value(late),
            value(late),
            value(early)
        ),
        Reason::InvertedPair { lower, upper } => format!(
            "{} was pushed onto {}, and {} was out before anyone began to take {}.",
            value(upper),
            value(lower),
            value(lower),
            value(upper)
        ),
        Reason::StackStuck { pushes } => format!(
            "Of the values {} some are stored at every moment, and none of them can have been at the bottom all the while: each was pushed \
             after the push of another had returned, or popped before the pop of another was called.",
            list(pushes)
        ),
        Reason::TooFewPending { inserts } => format!(
            "The values {} could only be explained by removals that never returned, and there are too few of these or they were called too late.",
            list(inserts)
        ),
        Reason::SetStuck { value, op, present } => format!(
            "{} cannot be explained: {} was {} then, and no operation that was open could have changed that.",
            say(op),
            short(&recorded.history, *value),
            if *present { "present" } else { "absent" }
        ),
        Reason::CountExceeded { value, adds, .. } => format!(
            "{} was removed {} times, but only {} adds had been called.",
            short(&recorded.history, *value),
            adds + 1,
            adds
        ),
        Reason::NoOrder { blocked, .. } => {
            format!("No order of the operations explains {}.", say(blocked))
        }
    }
}
