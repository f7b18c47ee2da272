//! Traces as people and programs write them down.
//!
//! `text` and `json` turn bytes into a `Draft`, in which everything is still a word at a spot; `resolve` finds what the words mean and makes a [`Trace`] of
//! it, or says which word is wrong and what would be right. `spanned` reads JSON and remembers where things stand.

pub(crate) mod json;
mod resolve;
pub(crate) mod spanned;
mod text;

pub use raddle_trace::{InputError, Spot};

use crate::instance::Instance;
use raddle_trace::{EventId, ThreadId};

/// The forms of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One event a line.
    Text,
    /// One JSON object.
    Json,
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "text" => Ok(Format::Text),
            "json" => Ok(Format::Json),
            _ => Err(format!("no format is called `{name}`; there are text and json, and log for the log of a store")),
        }
    }
}

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) spot: Spot,
}

/// A trace before its words mean anything.
#[derive(Clone, Debug, Default)]
struct Draft {
    /// Locations and their initial values.
    initial: Vec<(Word, Word)>,
    threads: Vec<DraftThread>,
}

#[derive(Clone, Debug)]
struct DraftThread {
    name: Word,
    events: Vec<DraftEvent>,
}

#[derive(Clone, Debug)]
struct DraftEvent {
    label: Option<Word>,
    kind: DraftKind,
    /// The memory ordering, if one was said.
    order: Option<Word>,
    spot: Spot,
}

#[derive(Clone, Debug)]
enum DraftKind {
    Read { loc: Word, value: Option<Word>, from: Option<Word> },
    Write { loc: Word, value: Option<Word> },
    Update { loc: Word, old: Option<Word>, new: Option<Word>, from: Option<Word> },
    Fence,
    StoreFence,
    Spawn(Word),
    Join(Word),
    Note,
}

/// The events there are, for whoever wrote another one.
const EVENTS: &str = "the events are write, read, update, fence, store-fence, spawn, join and note";

/// A trace with the names its author gave things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The question.
    pub instance: Instance,
    threads: Vec<String>,
    locations: Vec<String>,
    /// Per event, thread by thread, what it did, in words, and where it stands.
    events: Vec<(String, Spot)>,
}

impl Trace {
    /// A trace with names from elsewhere; nothing if there is not one for each thread and each event, thread by thread.
    pub fn of(
        instance: Instance,
        threads: Vec<String>,
        locations: Vec<String>,
        events: Vec<(String, Spot)>,
    ) -> Option<Self> {
        let fits = threads.len() == instance.threads() && events.len() == instance.len();
        fits.then_some(Trace { instance, threads, locations, events })
    }

    /// The name of a thread.
    pub fn thread(&self, thread: ThreadId) -> &str {
        &self.threads[thread.index()]
    }

    /// The names of all locations, by number.
    pub fn locations(&self) -> &[String] {
        &self.locations
    }

    /// The name of an event, `left.0`.
    pub fn name(&self, event: EventId) -> String {
        format!("{}.{}", self.thread(event.thread), event.index)
    }

    /// What an event did, in words.
    pub fn words(&self, event: EventId) -> &str {
        &self.events[self.instance.flat(event) as usize].0
    }

    /// Where an event stands.
    pub fn spot(&self, event: EventId) -> Spot {
        self.events[self.instance.flat(event) as usize].1
    }
}

/// Reads a trace. Without a format, what begins with a brace is JSON.
pub fn read(bytes: &[u8], format: Option<Format>) -> Result<Trace, InputError> {
    let text = utf8(bytes)?;
    let format = format.unwrap_or(if text.trim_start().starts_with('{') { Format::Json } else { Format::Text });
    let draft = match format {
        Format::Text => text::parse(text)?,
        Format::Json => json::parse(text)?,
    };
    resolve::resolve(draft)
}

/// The text of a trace.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, InputError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let line = valid.matches('\n').count() as u32 + 1;
        let column = valid.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) as u32 + 1;
        InputError::at(Spot { line, column, len: 1 }, "the trace is not UTF-8 text")
    })
}
