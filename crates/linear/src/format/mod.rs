//! Reading histories: from bytes in any of the formats to a stream of [`RawEvent`]s.
//!
//! Every format is a [`Source`] that yields one event at a time and holds a bounded amount of input: one line
//! (or one EDN form) of at most [`MAX_FORM`] bytes. What a value means is not decided here but by the object
//! ([`crate::assemble`]). The format is detected from the first line that is not blank, or named.
//!
//! A malformed line is an [`InputError`] with its number; a reader never skips what it does not understand.

pub mod edn;
pub mod event_log;
pub mod flat;
pub mod intervals;
pub mod jepsen_text;
pub mod json;
pub mod kv_text;
pub mod lines;
pub mod time_order;
mod units;
pub mod write;

use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::str::FromStr;
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::object::ObjectKind;
use crate::value::{Value, ValueId, Values};
use flat::Flat;

/// The longest line or form a reader accepts, in bytes.
pub const MAX_FORM: usize = 16 << 20;

/// What is wrong with an input.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The bytes could not be read.
    #[error("cannot read the input: {0}")]
    Io(#[from] std::io::Error),
    /// A line says something it must not.
    #[error("line {line}: {message}")]
    Line {
        /// The number of the line, from 1.
        line: u32,
        /// What is wrong with it.
        message: String,
        /// The line itself, or its beginning when it is long.
        text: String,
    },
    /// The input as a whole is not usable.
    #[error("{0}")]
    Whole(String),
    /// It was time to stop: [`Reading::deadline`].
    #[error("the time limit was reached while the history was read")]
    Late,
}

impl InputError {
    /// An error about a line; `text` is cut to a length that fits a screen.
    pub fn at(line: u32, text: &str, message: impl Into<String>) -> InputError {
        const SHOWN: usize = 160;
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push_str("...");
        }
        InputError::Line { line, message: message.into(), text: shown }
    }

    /// The line it is about; after all lines if it is about none.
    pub fn line(&self) -> u32 {
        match self {
            InputError::Line { line, .. } => *line,
            _ => u32::MAX,
        }
    }
}

/// Whether an event calls an operation, or how the operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The call.
    Invoke,
    /// It returned and took effect.
    Ok,
    /// It returned and certainly had no effect.
    Fail,
    /// Nobody knows whether it took effect; it stays open to the end.
    Info,
}

/// The number of a method name in [`Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameId(pub u16);

/// One event as the input states it.
#[derive(Clone, Copy, Debug)]
pub struct RawEvent {
    /// The line it stands on.
    pub line: u32,
    /// Whose operation it belongs to: at most one is open for each.
    pub process: ValueId,
    /// Call or end.
    pub phase: Phase,
    /// The name of the method; may be missing on a return.
    pub name: Option<NameId>,
    /// The object or key.
    pub place: ValueId,
    /// The value it carries; see [`Tables::flat`].
    pub value: ValueId,
    /// The reading of the clock, when there is one.
    pub time: Option<i64>,
}

/// The tables that grow while a history is read.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The values.
    pub values: Values,
    /// The names of methods.
    pub names: Names,
    /// If there is one, what events carry goes there, and [`RawEvent::value`] is a place in it.
    pub flat: Option<Flat>,
}

impl Tables {
    /// Takes in what an event carries.
    pub fn carry(&mut self, value: Value) -> ValueId {
        let Some(flat) = &mut self.flat else {
            return self.values.intern(value);
        };
        let place = flat.end();
        flat.add(value, &mut self.values);
        place
    }

    /// The number of a method name.
    pub fn name(&mut self, name: &str) -> Option<NameId> {
        self.names.number(name)
    }
}

/// The names of methods, by number.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<String>,
    numbers: FxHashMap<String, NameId>,
}

impl Names {
    /// The number of a name; nothing if there are too many.
    pub fn number(&mut self, name: &str) -> Option<NameId> {
        if let Some(&id) = self.numbers.get(name) {
            return Some(id);
        }
        let id = NameId(u16::try_from(self.texts.len()).ok()?);
        self.texts.push(name.to_string());
        self.numbers.insert(name.to_string(), id);
        Some(id)
    }

    /// The name with this number.
    pub fn text(&self, id: NameId) -> &str {
        &self.texts[id.0 as usize]
    }
}

/// A stream of events.
pub trait Source {
    /// The next event, or nothing at the end of the input.
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError>;

    /// The kind of object the input declares, known at the latest with the first event.
    fn declared(&self) -> Option<ObjectKind> {
        None
    }

    /// Whether there were whole operations among the events so far, which say nothing of real time.
    fn has_whole(&self) -> bool {
        false
    }

    /// Visits every value of the events that are held back, to note or to rename it.
    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        let _ = visit;
    }
}

/// A source that stops at a deadline.
struct Punctual<'a> {
    source: Box<dyn Source + 'a>,
    deadline: Instant,
    events: u32,
}

impl Source for Punctual<'_> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        self.events = self.events.wrapping_add(1);
        if self.events.is_multiple_of(1024) && Instant::now() >= self.deadline {
            return Err(InputError::Late);
        }
        self.source.next(tables)
    }

    fn declared(&self) -> Option<ObjectKind> {
        self.source.declared()
    }

    fn has_whole(&self) -> bool {
        self.source.has_whole()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.source.each_value(visit);
    }
}

impl RawEvent {
    /// Visits the values of the event.
    pub fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        visit(&mut self.process);
        visit(&mut self.place);
        visit(&mut self.value);
    }
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object an event.
    Json,
    /// Maps in EDN, one after another or in one vector: Jepsen, Knossos, Porcupine's key-value logs.
    Edn,
    /// `[1] call push 5` under an `# @object` line.
    EventLog,
    /// `push 5 1 2` under a `# stack` line.
    Intervals,
    /// `INFO  jepsen.util - 0 :invoke :read nil`.
    JepsenText,
    /// `INVOKE 0 put k v` and `RETURN 0 ...`.
    KvText,
}

/// Every format with the name people write.
pub const FORMATS: [(Format, &str); 6] = [
    (Format::Json, "json"),
    (Format::Edn, "edn"),
    (Format::EventLog, "event-log"),
    (Format::Intervals, "intervals"),
    (Format::JepsenText, "jepsen-text"),
    (Format::KvText, "kv-text"),
];

/// A name that is none of [`FORMATS`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`; known are json, edn, event-log, intervals, jepsen-text, kv-text")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        FORMATS
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(format, _)| *format)
            .ok_or_else(|| UnknownFormat(name.to_string()))
    }
}

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// The format; found by looking when `None`.
    pub format: Option<Format>,
    /// Values are `[key value]` pairs, as Jepsen's independent tests write them.
    pub independent: bool,
    /// The order of the lines is the order of the events, whatever the clock readings say.
    pub file_order: bool,
    /// Events out of time order are an error (streaming) instead of being sorted.
    pub streaming: bool,
    /// A line that does not say whether it is a call or a return is an operation as a whole, which took effect. It has no place in real time.
    pub whole: bool,
    /// Events carry lists of lists: only formats that can write those are read.
    pub nested: bool,
    /// When to stop.
    pub deadline: Option<Instant>,
}

/// Opens an input: detects the format, and puts events with clock readings into time order.
pub fn open<'a>(mut input: impl Read + 'a, reading: Reading) -> Result<Box<dyn Source + 'a>, InputError> {
    let mut head = Vec::new();
    while head.len() < MARK.len() && read_on(&mut input, &mut head)? {}
    // A mark of the order of bytes, as some editors write it.
    if head.starts_with(MARK) {
        head.drain(..MARK.len());
    }
    let format = match reading.format {
        Some(format) => format,
        None => detect(&mut input, &mut head)?,
    };
    let input = BufReader::with_capacity(1 << 16, Cursor::new(head).chain(input));
    if reading.nested && !matches!(format, Format::Json | Format::Edn | Format::JepsenText) {
        let why = "this format has no lists, so it cannot carry transactions; write them in EDN or JSON";
        return Err(InputError::Whole(why.into()));
    }
    let source: Box<dyn Source + 'a> = match format {
        Format::Json => Box::new(json::Json::new(input, reading.independent, reading.whole)),
        Format::Edn => Box::new(edn::EdnSource::new(input, reading.independent, reading.whole)),
        Format::EventLog => Box::new(event_log::EventLog::new(input)),
        Format::Intervals if reading.streaming => {
            return Err(InputError::Whole(
                "an interval list cannot be streamed: its lines are not in time order".into(),
            ));
        }
        Format::Intervals => Box::new(intervals::Intervals::new(input)),
        Format::JepsenText => Box::new(jepsen_text::JepsenText::new(input)),
        Format::KvText => Box::new(kv_text::KvText::new(input)),
    };
    let source: Box<dyn Source + 'a> = match reading.deadline {
        Some(deadline) => Box::new(Punctual { source, deadline, events: 0 }),
        None => source,
    };
    Ok(if reading.file_order { source } else { Box::new(time_order::TimeOrder::new(source, reading.streaming)) })
}

const MARK: &[u8] = b"\xef\xbb\xbf";

/// How much of a line tells the format, and how much is read to find such a line, in bytes.
const TELLS: usize = 200;
const HEAD: usize = 1 << 20;

/// Adds what comes next to what has been read; whether there was anything.
fn read_on(input: &mut impl Read, head: &mut Vec<u8>) -> Result<bool, InputError> {
    let mut chunk = [0; 4096];
    let count = loop {
        match input.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    head.extend_from_slice(&chunk[..count]);
    Ok(count > 0)
}

/// Looks at the first line that says something, and reads no further than needed: the input may be a pipe.
fn detect(input: &mut impl Read, head: &mut Vec<u8>) -> Result<Format, InputError> {
    let (mut at, mut number) = (0, 1);
    loop {
        let rest = head[at..].trim_ascii_start();
        let blanks = &head[at..head.len() - rest.len()];
        number += blanks.iter().filter(|byte| **byte == b'\n').count() as u32;
        at += blanks.len();
        let end = rest.iter().position(|byte| *byte == b'\n');
        if end.is_none() && rest.len() < TELLS && head.len() < HEAD && read_on(input, head)? {
            continue;
        }
        let line = &head[at..][..end.unwrap_or(head.len() - at).min(TELLS)];
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if let Some(format) = detect_line(line) {
            return Ok(format);
        }
        if line.is_empty() && head.len() < HEAD {
            return Err(InputError::Whole("the input is empty".into()));
        }
        if !line.starts_with('#') {
            let why = match line.replace(' ', "").starts_with("[{\"") {
                true => "a JSON array is not read; write one object a line",
                false => "cannot tell the format from this line; name it with --format",
            };
            return Err(InputError::at(number, line, why));
        }
        match end {
            Some(end) => at += end,
            None => return Err(InputError::Whole("cannot tell the format; name it with --format".into())),
        }
    }
}

fn detect_line(line: &str) -> Option<Format> {
    let packed: String = line.chars().filter(|c| !c.is_whitespace()).take(12).collect();
    if packed.starts_with("{\"") || packed == "{}" {
        Some(Format::Json)
    } else if packed.starts_with("{:")
        || packed.starts_with("[{:")
        || packed.starts_with("({:")
        || packed.starts_with("#jepsen")
        || packed.starts_with(';')
        || matches!(packed.as_str(), "[" | "[]" | "()")
    {
        Some(Format::Edn)
    } else if packed.starts_with("#@object") || (packed.starts_with('[') && line.contains("] call")) {
        Some(Format::EventLog)
    } else if let Some(name) = line.strip_prefix('#') {
        name.trim().parse::<ObjectKind>().ok().map(|_| Format::Intervals)
    } else if line.starts_with("INFO") && line.contains("jepsen") {
        Some(Format::JepsenText)
    } else if packed.to_ascii_uppercase().starts_with("INVOKE") {
        Some(Format::KvText)
    } else {
        None
    }
}
