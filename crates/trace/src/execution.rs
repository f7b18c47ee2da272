//! An execution: its events with program order, reads-from, coherence and thread start and end.
//!
//! Program order is the order of each thread's list; the start of a thread precedes its events, and they precede
//! the join. Reads-from is stored with each read. Coherence is a list of writes per location, the initial write
//! standing before each list. [`steps`](Execution::steps) is the run itself, flushes of store buffers included.

use crate::event::{Action, Event, EventName};
use crate::ids::Model;
use crate::ordering::Ordering;
use crate::threads::ThreadName;
use crate::verdict::Place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Under which model.
    pub model: Model,
    /// The function each thread runs.
    pub threads: Vec<String>,
    /// The names of these threads.
    pub names: Vec<ThreadName>,
    /// The run, step by step.
    pub steps: Vec<Entry>,
    /// Per location the writes in the order they reached memory.
    pub coherence: BTreeMap<String, Vec<EventName>>,
    /// Which of the values are addresses, and of what.
    #[serde(default)]
    pub pointers: BTreeMap<i64, String>,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Entry {
    /// A thread did something.
    Event {
        /// What.
        #[serde(flatten)]
        event: Event,
        /// It wrote into the store buffer; a later [`Entry::Flush`] makes it visible to others.
        buffered: bool,
        /// What the thread printed until its next event.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        printed: Vec<String>,
    },
    /// A buffered write reached memory.
    Flush {
        /// Which.
        write: EventName,
        /// Where.
        location: String,
        /// Its value.
        value: i64,
    },
    /// What went wrong, at the end.
    Failure {
        /// In which thread, if it is one thread's doing.
        thread: Option<ThreadName>,
        /// What.
        message: String,
        /// Where in the source.
        place: Place,
        /// What an access that was not done races with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        race: Option<Racing>,
    },
}

/// An access that races with one before it, and was not done for that reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Racing {
    /// The one before it.
    pub with: EventName,
    /// Its own memory ordering.
    pub order: Ordering,
    /// The write that it reads, if it reads one; the look of a wait that finds nothing has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<EventName>,
}

impl Execution {
    /// The function that a thread runs.
    pub fn function(&self, thread: ThreadName) -> Option<&str> {
        let position = self.names.iter().position(|&name| name == thread)?;
        self.threads.get(position).map(String::as_str)
    }

    /// The events in the order they ran.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.steps.iter().filter_map(|step| match step {
            Entry::Event { event, .. } => Some(event),
            _ => None,
        })
    }

    /// The event with this name.
    pub fn event(&self, id: EventName) -> Option<&Event> {
        self.events().find(|event| event.id == id)
    }

    /// Reads-from: pairs of a write and a read; initial writes are left out.
    pub fn reads_from(&self) -> impl Iterator<Item = (EventName, EventName)> + '_ {
        self.events().filter_map(|event| Some((event.action.source()?.write()?, event.id)))
    }

    /// Pairs of a spawn and the child, and of the child and the join.
    pub fn spawns_and_joins(&self) -> impl Iterator<Item = (EventName, ThreadName)> + '_ {
        self.events().filter_map(|event| match event.action {
            Action::Spawn { child, .. } | Action::Post { message: child, .. } | Action::Join { child } => {
                Some((event.id, child))
            }
            _ => None,
        })
    }
}
