//! From events to transactions.
//!
//! Any format that can carry nested lists: EDN and JSON. What a transaction was asked to do stands on its call; what it did on its return if that is `:ok`.

use super::{Micro, Outcome, Seen, Transactions, Txn, Workload};
use crate::assemble::Assembler;
use crate::format::{InputError, Phase, Source, Tables};
use crate::history::Ts;
use crate::value::{Value, ValueId};

/// Reads a whole history.
pub fn read(source: &mut dyn Source, workload: Workload) -> Result<Transactions, InputError> {
    let mut tables = Tables::default();
    let mut assembler = Assembler::default();
    let mut history = Transactions::default();
    while let Some(event) = source.next(&mut tables)? {
        let op = assembler.push(&event, &tables)?;
        let known = event.phase == Phase::Ok;
        let wrong = |message: String| InputError::at(event.line, "", message);
        if event.phase == Phase::Invoke {
            let parts = parts(&mut history, &mut tables, event.value, workload, false).map_err(wrong)?;
            history.txns.push(Txn {
                process: op.process,
                outcome: Outcome::Unknown,
                call: op.call,
                ret: Ts::INF,
                call_line: op.call_line,
                ret_line: 0,
                parts,
            });
            continue;
        }
        let again = match known {
            true => Some(parts(&mut history, &mut tables, event.value, workload, true).map_err(wrong)?),
            false => None,
        };
        let txn = &mut history.txns[op.number as usize];
        (txn.ret, txn.ret_line) = (op.ret, op.ret_line);
        txn.parts = again.unwrap_or(txn.parts);
        txn.outcome = match event.phase {
            Phase::Ok => Outcome::Committed,
            Phase::Fail => Outcome::Aborted,
            Phase::Info | Phase::Invoke => Outcome::Unknown,
        };
    }
    history.values = tables.values;
    history.events = assembler.events();
    Ok(history)
}

/// The parts of a transaction.
fn parts(
    history: &mut Transactions,
    tables: &mut Tables,
    value: ValueId,
    workload: Workload,
    known: bool,
) -> Result<(u32, u32), String> {
    let from = history.micros.len() as u32;
    let list = match tables.values.get(value) {
        Value::List(list) => list.clone(),
        Value::Nil => [].into(),
        _ => {
            return Err(
                "the value of a transaction must be a list of operations, like [[:append 1 2] [:r 3 nil]]".into()
            );
        }
    };
    for part in list.iter() {
        let micro = match part {
            Value::List(items) => match &items[..] {
                [Value::Text(name), key, value] => micro(history, tables, (name, key, value), workload, known),
                _ => None,
            },
            _ => None,
        };
        history.micros.push(micro.ok_or_else(|| {
            let forms = match workload {
                Workload::ListAppend => "[:append key value] and [:r key list]",
                Workload::RwRegister => "[:w key value] and [:r key value]",
            };
            format!("`{part}` is no operation of this workload: {forms}")
        })?);
    }
    Ok((from, history.micros.len() as u32))
}

fn micro(
    history: &mut Transactions,
    tables: &mut Tables,
    (name, key, value): (&str, &Value, &Value),
    workload: Workload,
    known: bool,
) -> Option<Micro> {
    let key = tables.values.intern(key.clone());
    match (name.trim_start_matches(':'), workload) {
        ("append", Workload::ListAppend) | ("w" | "write", Workload::RwRegister) => {
            (*value != Value::Nil).then(|| Micro::Write(key, tables.values.intern(value.clone())))
        }
        ("r" | "read", _) if !known => Some(Micro::Read(key, Seen::Unknown)),
        ("r" | "read", Workload::RwRegister) => {
            Some(Micro::Read(key, Seen::Value(tables.values.intern(value.clone()))))
        }
        ("r" | "read", Workload::ListAppend) => {
            let from = history.elements.len() as u32;
            match value {
                Value::Nil => {}
                Value::List(items) => {
                    history.elements.extend(items.iter().map(|item| tables.values.intern(item.clone())));
                }
                _ => return None,
            }
            Some(Micro::Read(key, Seen::List(from, history.elements.len() as u32)))
        }
        _ => None,
    }
}
