//! Writing histories: JSON lines, and the event log where it can say the same.

use std::io::{self, Write};

use crate::history::{History, Method, Op};
use crate::monitor::timeline::timeline;
use crate::object::ObjectKind;
use crate::value::{Value, ValueId};

fn answer(history: &History, kind: ObjectKind, op: &Op) -> Value {
    let arg = || history.value(op.arg).clone();
    let result = op.result.unwrap_or(ValueId::NIL);
    match (kind, op.method) {
        (ObjectKind::Set | ObjectKind::Multiset, Method::Read) => history.value(result).clone(),
        (ObjectKind::Set, Method::Insert) if op.result.is_none() => arg(),
        (ObjectKind::Set | ObjectKind::Multiset, _) => Value::list([arg(), history.value(result).clone()]),
        (_, Method::Cas) => {
            Value::list([Value::list([arg(), history.value(op.arg2).clone()]), history.value(result).clone()])
        }
        (_, Method::FetchAdd) => Value::list([arg(), history.value(result).clone()]),
        (ObjectKind::Log, Method::Append) if result != ValueId::NIL => {
            Value::list([arg(), history.value(result).clone()])
        }
        (_, Method::Remove | Method::Read | Method::PopFront | Method::PopBack | Method::TryAcquire) => {
            history.value(result).clone()
        }
        _ => arg(),
    }
}

/// Writes a history as JSON lines.
pub fn json_lines(history: &History, kind: ObjectKind, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        process: &'a Value,
        r#type: &'static str,
        f: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<&'a Value>,
        value: Value,
    }
    let mut out = io::BufWriter::new(out);
    for event in timeline(&history.ops) {
        let op = history.op(event.op);
        let on_call = match op.method {
            Method::Cas => Value::list([history.value(op.arg).clone(), history.value(op.arg2).clone()]),
            _ => history.value(op.arg).clone(),
        };
        let line = Line {
            process: history.value(op.process),
            r#type: if event.returns { "ok" } else { "invoke" },
            f: kind.method_name(op.method),
            key: (op.place != ValueId::NIL).then(|| history.value(op.place)),
            value: if event.returns { answer(history, kind, op) } else { on_call },
        };
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    }
    out.flush()
}

/// Writes a stack, queue, set or multiset history of one object as an event log; the number of an operation stands for its thread.
///
/// Values are written as words, so texts with blanks do not survive.
pub fn event_log(history: &History, kind: ObjectKind, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    writeln!(out, "# @object atomic-{kind}")?;
    for event in timeline(&history.ops) {
        let op = history.op(event.op);
        if !event.returns {
            let name = kind.method_name(op.method);
            match op.arg {
                ValueId::NIL => writeln!(out, "[{}] call {name}", event.op.0)?,
                arg => writeln!(out, "[{}] call {name} {}", event.op.0, history.value(arg))?,
            }
        } else {
            match op
                .result
                .filter(|_| op.method != Method::Insert || matches!(kind, ObjectKind::Set | ObjectKind::Multiset))
            {
                None => writeln!(out, "[{}] return", event.op.0)?,
                Some(ValueId::NIL) => writeln!(out, "[{}] return empty", event.op.0)?,
                Some(result) => writeln!(out, "[{}] return {}", event.op.0, history.value(result))?,
            }
        }
    }
    out.flush()
}
