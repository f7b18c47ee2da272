//! Jepsen's console log, the form of Porcupine's etcd test logs.
//!
//! ```text
//! INFO  jepsen.util - 0 :invoke :read nil
//! INFO  jepsen.util - 0 :ok :read 3
//! ```
//!
//! After the dash: process, type, method, value (EDN). Anything after the value that begins with a keyword (such as
//! `:hint 2`) is ignored. Lines of the nemesis are skipped.

use std::io::{BufReader, Read};

use super::edn::value_of;
use super::json::phase;
use super::lines::Lines;
use super::{InputError, RawEvent, Source, Tables};
use crate::value::{Value, ValueId};

/// Reads Jepsen console logs.
pub struct JepsenText<R> {
    lines: Lines<R>,
}

impl<R: Read> JepsenText<R> {
    /// A reader of this input.
    pub fn new(input: BufReader<R>) -> JepsenText<R> {
        JepsenText { lines: Lines::new(input) }
    }
}

impl<R: Read> Source for JepsenText<R> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        while let Some((line, raw)) = self.lines.next_line()? {
            let text = raw.trim();
            if text.is_empty() {
                continue;
            }
            let wrong = |message: String| InputError::at(line, text, message);
            if let Some(event) = parse(line, text, tables).map_err(wrong)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

fn parse(line: u32, text: &str, tables: &mut Tables) -> Result<Option<RawEvent>, String> {
    let (_, rest) = text.split_once(" - ").ok_or("expected `INFO  jepsen.util - PROCESS :type :f VALUE`")?;
    let mut pieces = Vec::new();
    let mut tail = rest.trim();
    while pieces.len() < 3 {
        match tail.find(char::is_whitespace) {
            Some(end) => {
                pieces.push(&tail[..end]);
                tail = tail[end..].trim_start();
            }
            None => {
                pieces.push(tail);
                tail = "";
                break;
            }
        }
    }
    let [process, kind, f] = pieces[..] else {
        return Err("expected PROCESS :type :f VALUE after the dash".into());
    };
    if process == ":nemesis" {
        return Ok(None);
    }
    let process = process.parse::<i64>().map_err(|_| format!("`{process}` is no process number"))?;
    let kind = kind.strip_prefix(':').ok_or("the type must be a keyword")?;
    let phase = phase(kind).ok_or_else(|| format!("`:{kind}` is no type: :invoke, :ok, :fail or :info"))?;
    let f = f.strip_prefix(':').ok_or("the method must be a keyword")?;
    let name = tables.name(f).ok_or("more than 65,536 different methods")?;
    let shown = tail.split_once("\t:").map_or(tail, |(value, _)| value);
    let value = match shown.trim() {
        "" => Value::Nil,
        text => value_of(text)?,
    };
    let value = tables.carry(value);
    let process = tables.values.intern_int(process);
    Ok(Some(RawEvent { line, process, phase, name: Some(name), place: ValueId::NIL, value, time: None }))
}
