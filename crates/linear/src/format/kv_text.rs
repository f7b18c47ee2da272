//! Key-value logs in plain words.
//!
//! ```text
//! INVOKE 0 put k 5
//! RETURN 0
//! INVOKE 1 get k
//! RETURN 1 5
//! INVOKE 0 cas k 5 6
//! RETURN 0 true
//! ```
//!
//! `INVOKE PROCESS METHOD KEY ARGUMENT...` and `RETURN PROCESS RESULT?`; the words of either may also be repeated on the
//! return as `RETURN PROCESS METHOD KEY RESULT?`. Texts with blanks stand in double quotes. `FAIL PROCESS` had no effect, `INFO
//! PROCESS` is unknown to the end. A result `nil` means that there was nothing.

use std::io::{BufReader, Read};

use super::edn::value_of;
use super::lines::Lines;
use super::{InputError, Phase, RawEvent, Source, Tables};
use crate::object::ObjectKind;
use crate::value::{Value, ValueId};

/// Reads key-value logs.
pub struct KvText<R> {
    lines: Lines<R>,
}

impl<R: Read> KvText<R> {
    /// A reader of this input.
    pub fn new(input: BufReader<R>) -> KvText<R> {
        KvText { lines: Lines::new(input) }
    }
}

impl<R: Read> Source for KvText<R> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        while let Some((line, raw)) = self.lines.next_line()? {
            let text = raw.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            return parse(line, text, tables).map(Some).map_err(|message| InputError::at(line, text, message));
        }
        Ok(None)
    }

    fn declared(&self) -> Option<ObjectKind> {
        Some(ObjectKind::Map)
    }
}

fn parse(line: u32, text: &str, tables: &mut Tables) -> Result<RawEvent, String> {
    let Value::List(words) = value_of(&format!("[{text}]"))? else {
        return Err("expected words".into());
    };
    let word = |position: usize| match words.get(position) {
        Some(Value::Text(word)) => Some(word.to_ascii_lowercase()),
        _ => None,
    };
    let phase = match word(0).as_deref() {
        Some("invoke") => Phase::Invoke,
        Some("return") => Phase::Ok,
        Some("fail") => Phase::Fail,
        Some("info") => Phase::Info,
        _ => return Err("expected INVOKE, RETURN, FAIL or INFO".into()),
    };
    let process = words.get(1).ok_or("expected the number of a process")?.clone();
    let method =
        word(2).filter(|name| ObjectKind::Map.method(name).is_some() && (phase == Phase::Invoke || words.len() > 3));
    let (name, place, rest) = match (phase, method) {
        (_, Some(name)) => {
            let key = words.get(3).ok_or("expected a key after the method")?.clone();
            let name = tables.name(&name).ok_or("more than 65,536 different methods")?;
            (Some(name), tables.values.intern(key), &words[4..])
        }
        (Phase::Invoke, None) => return Err("expected get, put, append or cas, then a key".into()),
        (_, None) => (None, ValueId::NIL, &words[2..]),
    };
    let value = match rest {
        [] => Value::Nil,
        [one] => one.clone(),
        [old, new] if phase == Phase::Invoke => Value::list([old.clone(), new.clone()]),
        _ => return Err(format!("{} words too many", rest.len() - 1)),
    };
    let process = tables.values.intern(process);
    let value = tables.carry(value);
    Ok(RawEvent { line, process, phase, name, place, value, time: None })
}
