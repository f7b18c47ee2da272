//! The event log of LiMo and Violin.
//!
//! ```text
//! # @object atomic-stack
//! [1] call push 1
//! [2] call pop
//! [1] return
//! [2] return 1
//! ```
//!
//! `ID` names the open operation: a thread that is used again, or a fresh number an operation. An argument may stand in
//! parentheses; `label<thread,index>` is a value whose identity is the pair. A removal without a result, or with
//! `empty`, found nothing. Lines of durable histories (`crash`) are refused.

use std::io::{BufReader, Read};

use super::lines::Lines;
use super::{InputError, Phase, RawEvent, Source, Tables};
use crate::object::ObjectKind;
use crate::value::{Value, ValueId};

/// Reads event logs.
pub struct EventLog<R> {
    lines: Lines<R>,
    kind: Option<ObjectKind>,
}

impl<R: Read> EventLog<R> {
    /// A reader of this input.
    pub fn new(input: BufReader<R>) -> EventLog<R> {
        EventLog { lines: Lines::new(input), kind: None }
    }
}

impl<R: Read> Source for EventLog<R> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        while let Some((line, raw)) = self.lines.next_line()? {
            let text = raw.trim();
            let wrong = |message: String| InputError::at(line, text, message);
            if text.is_empty() {
                continue;
            }
            if let Some(comment) = text.strip_prefix('#') {
                if let Some(name) = comment.trim().strip_prefix("@object") {
                    if self.kind.is_some() {
                        return Err(wrong("the object is declared twice".into()));
                    }
                    self.kind = Some(name.trim().parse().map_err(|error| wrong(format!("{error}")))?);
                }
                continue;
            }
            if self.kind.is_none() {
                return Err(wrong("a line `# @object NAME` must come before the first event".into()));
            }
            if text == "crash" || text.starts_with("crash ") || text.ends_with("] crash") {
                return Err(wrong(
                    "histories with crashes of the system (durable linearizability) are not supported".into(),
                ));
            }
            return parse(line, text, tables).map(Some).map_err(wrong);
        }
        Ok(None)
    }

    fn declared(&self) -> Option<ObjectKind> {
        self.kind
    }
}

fn parse(line: u32, text: &str, tables: &mut Tables) -> Result<RawEvent, String> {
    let rest = text.strip_prefix('[').ok_or("expected `[ID] call METHOD ...` or `[ID] return ...`")?;
    let (id, rest) = rest.split_once(']').ok_or("expected `]` after the number of the operation")?;
    let process = scalar(id.trim(), tables)?;
    let rest = rest.trim();
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    match word {
        "call" => {
            let end = rest.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(rest.len());
            let (method, argument) = rest.split_at(end);
            if method.is_empty() {
                return Err("expected the name of a method after `call`".into());
            }
            let name = tables.name(method).ok_or("more than 65,536 different methods")?;
            let argument = argument.trim();
            let argument = match argument.strip_prefix('(') {
                Some(inner) => inner.strip_suffix(')').ok_or("expected `)` at the end of the line")?.trim(),
                None => argument,
            };
            let value = if argument.is_empty() { ValueId::NIL } else { scalar(argument, tables)? };
            Ok(RawEvent {
                line,
                process,
                phase: Phase::Invoke,
                name: Some(name),
                place: ValueId::NIL,
                value,
                time: None,
            })
        }
        "return" => {
            let value = if rest.is_empty() { ValueId::NIL } else { scalar(rest, tables)? };
            Ok(RawEvent { line, process, phase: Phase::Ok, name: None, place: ValueId::NIL, value, time: None })
        }
        other => Err(format!("expected `call` or `return`, found `{other}`")),
    }
}

/// A value of the text formats: a number, a truth value, a word, or `label<thread,index>`.
pub(super) fn scalar(word: &str, tables: &mut Tables) -> Result<ValueId, String> {
    if let Ok(number) = word.parse::<i64>() {
        return Ok(tables.values.intern_int(number));
    }
    match word {
        "true" => return Ok(ValueId::TRUE),
        "false" => return Ok(ValueId::FALSE),
        _ => {}
    }
    let plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if plain(word) {
        return Ok(tables.values.intern(Value::text(word)));
    }
    if let Some((label, pair)) = word.split_once('<')
        && let Some((thread, index)) = pair.strip_suffix('>').and_then(|pair| pair.split_once(','))
        && !label.contains(char::is_whitespace)
        && plain(thread.trim())
        && plain(index.trim())
    {
        let identity = format!("<{},{}>", thread.trim(), index.trim());
        return Ok(tables.values.intern(Value::text(identity)));
    }
    Err(format!("`{word}` is no value: letters, digits and `_`, or label<thread,index>"))
}
