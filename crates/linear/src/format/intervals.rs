//! Interval lists: `METHOD VALUE START END`, one complete operation a line, under a line `# stack`.
//!
//! The lines need not be in order, so all of them are read before the first event comes out; the endpoints are then
//! clock readings like any other. A removal of `empty` found nothing. Set methods take `VALUE:true` or `VALUE:false`.

use std::collections::VecDeque;
use std::io::{BufReader, Read};

use super::event_log::scalar;
use super::lines::Lines;
use super::{InputError, Phase, RawEvent, Source, Tables};
use crate::history::Method;
use crate::object::ObjectKind;
use crate::value::ValueId;

/// Reads interval lists.
pub struct Intervals<R> {
    lines: Lines<R>,
    kind: Option<ObjectKind>,
    events: Option<VecDeque<RawEvent>>,
}

impl<R: Read> Intervals<R> {
    /// A reader of this input.
    pub fn new(input: BufReader<R>) -> Intervals<R> {
        Intervals { lines: Lines::new(input), kind: None, events: None }
    }

    fn read(&mut self, tables: &mut Tables) -> Result<VecDeque<RawEvent>, InputError> {
        let mut events = Vec::new();
        while let Some((line, raw)) = self.lines.next_line()? {
            let text = raw.trim();
            let wrong = |message: String| InputError::at(line, text, message);
            if text.is_empty() {
                continue;
            }
            if let Some(comment) = text.strip_prefix('#') {
                if self.kind.is_none() {
                    self.kind = Some(comment.trim().parse().map_err(|error| wrong(format!("{error}")))?);
                }
                continue;
            }
            let kind = self.kind.ok_or_else(|| wrong("a line `# stack` (or another object) must come first".into()))?;
            let [call, ret] = operation(kind, line, text, tables).map_err(wrong)?;
            events.push(call);
            events.push(ret);
        }
        // Each line is a process of its own, so only the readings order the events.
        events.sort_by_key(|event| (event.time, event.phase != Phase::Invoke));
        Ok(events.into())
    }
}

impl<R: Read> Source for Intervals<R> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        if self.events.is_none() {
            self.events = Some(self.read(tables)?);
        }
        Ok(self.events.as_mut().and_then(VecDeque::pop_front))
    }

    fn declared(&self) -> Option<ObjectKind> {
        self.kind
    }
}

fn operation(kind: ObjectKind, line: u32, text: &str, tables: &mut Tables) -> Result<[RawEvent; 2], String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [method, value, start, end] = words[..] else {
        return Err(format!("expected METHOD VALUE START END, found {} words", words.len()));
    };
    let name = tables.name(method).ok_or("more than 65,536 different methods")?;
    let meaning = kind.method(method).ok_or_else(|| format!("`{method}` is no method of a {kind}"))?;
    let clock = |word: &str| word.parse::<i64>().map_err(|_| format!("`{word}` is no whole number"));
    let (start, end) = (clock(start)?, clock(end)?);
    if end < start {
        return Err(format!("the operation ends at {end}, before it starts at {start}"));
    }
    let (on_call, on_return) = match (kind, meaning) {
        (ObjectKind::Set | ObjectKind::Multiset, _) => {
            let (about, truth) = value.split_once(':').unwrap_or((value, "true"));
            (scalar(about, tables)?, scalar(truth, tables)?)
        }
        (_, Method::Remove | Method::Read | Method::PopFront | Method::PopBack) => {
            (ValueId::NIL, scalar(value, tables)?)
        }
        _ => (scalar(value, tables)?, ValueId::NIL),
    };
    let process = tables.values.intern_int(i64::from(line));
    let event = RawEvent {
        line,
        process,
        phase: Phase::Invoke,
        name: Some(name),
        place: ValueId::NIL,
        value: on_call,
        time: Some(start),
    };
    Ok([event, RawEvent { phase: Phase::Ok, value: on_return, time: Some(end), ..event }])
}
