//! Event-driven traces as people and programs write them down.
//!
//! `text` (the form of the prototype of Grahn 2026), `json`, `log` and `race` turn a text into a `Draft`, in which everything is still a word at a spot; `resolve` finds what the words
//! mean and makes a [`Named`] trace of it, or says which word is wrong and what would be right. A log is what was seen in the order in which it happened: the order of
//! writes and what reads read are taken from it, the order of messages is forgotten. Elsewhere an order of writes that nobody gives whole, and the source of a read whose value several
//! events write, is left open ([`super::Unknown`]).

mod json;
mod log;
mod race;
mod resolve;
mod text;

use super::trace::{Mailbox, Trace};
use crate::format::{InputError, Spot, Word};

/// The forms of an event-driven trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Handlers, messages in braces, sections of relations.
    Text,
    /// One JSON object.
    Json,
    /// One event a line, in the order in which they happened.
    Log,
    /// The same, as race detectors for event loops write it: `CALL tid:1 msg:2`.
    RaceLog,
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "text" => Ok(Format::Text),
            "json" => Ok(Format::Json),
            "log" => Ok(Format::Log),
            "race-log" => Ok(Format::RaceLog),
            _ => Err(format!("no format is called `{name}`; there are text, json and log, and race-log")),
        }
    }
}

impl std::str::FromStr for Mailbox {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "queue" => Ok(Mailbox::Queue),
            "multiset" => Ok(Mailbox::Multiset),
            "stack" => Ok(Mailbox::Stack),
            _ => Err(format!("no mailbox is called `{name}`; there are queue, multiset and stack")),
        }
    }
}

/// A trace may have so many events: who comes before whom takes a quarter of a byte for each two of them.
pub const MAX_EVENTS: usize = 30_000;
/// A trace may have so many pairs of messages of one handler, all handlers together: 3,162 messages of one, or 500 of each of 40.
pub const MAX_PAIRS: usize = 5_000_000;

#[derive(Clone, Debug, Default)]
struct Draft {
    handlers: Vec<DraftHandler>,
    relations: Vec<Chain>,
    /// Whether writes are in the order in which they stand, and reads read the last one.
    happened: bool,
}

#[derive(Clone, Debug)]
struct DraftHandler {
    name: Word,
    messages: Vec<DraftMessage>,
}

#[derive(Clone, Debug)]
struct DraftMessage {
    name: Word,
    /// Each with its place in the log, if it is one.
    events: Vec<(DraftEvent, usize)>,
    open: bool,
}

#[derive(Clone, Debug)]
struct DraftEvent {
    kind: DraftKind,
    spot: Spot,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DraftKind {
    Get(Word),
    Post(Word, Word),
    Read(Word, Word),
    Write(Word, Word),
}

/// What a chain of events says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Coherence,
    ReadsFrom,
    Posted,
    Runs,
    Posts,
}

#[derive(Clone, Debug)]
struct Chain {
    relation: Relation,
    events: Vec<Mention>,
}

/// An event that is spoken of.
#[derive(Clone, Debug)]
enum Mention {
    /// As it was written where it happens.
    Event(DraftEvent),
    /// `handler/message/index`.
    Path(Word),
}

impl Mention {
    fn spot(&self) -> Spot {
        match self {
            Mention::Event(event) => event.spot,
            Mention::Path(word) => word.spot,
        }
    }
}

/// A trace with the names its author gave things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The question.
    pub trace: Trace,
    /// What handlers are called.
    pub handlers: Vec<String>,
    /// What messages are called.
    pub messages: Vec<String>,
    /// What each event does, in words, and on which line it stands.
    pub events: Vec<(String, u32)>,
}

/// Reads a trace. Without a format it is what it looks like behind its comments: JSON begins with a brace (or a bracket, which is refused), text with `@`, `$` or `//`, and a log with none of them; that of a race detector has fields `tid:1`.
///
/// # Errors
/// If it is none; with a place.
pub fn read(bytes: &[u8], format: Option<Format>) -> Result<Named, InputError> {
    let text = crate::format::utf8(bytes)?;
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#'));
    let begins = |with: &[&str]| first.is_some_and(|line| with.iter().any(|with| line.starts_with(with)));
    let format = format.unwrap_or(if begins(&["{", "["]) {
        Format::Json
    } else if begins(&["@", "$", "//"]) {
        Format::Text
    } else if first.is_some_and(race::is_line) {
        Format::RaceLog
    } else {
        Format::Log
    });
    let draft = match format {
        Format::Text => text::parse(text)?,
        Format::Json => json::parse(text)?,
        Format::Log => log::parse(text)?,
        Format::RaceLog => race::parse(text)?,
    };
    resolve::resolve(&draft)
}
