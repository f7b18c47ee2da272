//! One event of an execution, as a person or another program reads it.

use crate::ids::{EventId, ThreadId};
use crate::ordering::Ordering;
use crate::threads::ThreadName;
use crate::verdict::Place;
use serde::{Deserialize, Serialize};

/// An event by the name of its thread, which is the same in every run.
pub type EventName = EventId<ThreadName>;

/// An event with everything a report needs to show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Which event.
    pub id: EventName,
    /// What it did.
    pub action: Action,
    /// The memory ordering of an access or a fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Ordering>,
    /// Where in the source.
    pub place: Place,
}

/// Where the value of a read came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source<T = ThreadId> {
    /// The initial value.
    Initial,
    /// This write, through memory.
    Write(EventId<T>),
    /// This write, still in the thread's own store buffer.
    Buffer(EventId<T>),
}

impl<T> Source<T> {
    /// The write, unless it is the initial one.
    pub fn write(self) -> Option<EventId<T>> {
        match self {
            Source::Initial => None,
            Source::Write(id) | Source::Buffer(id) => Some(id),
        }
    }
}

/// What an event did. Locations are named as the source names them where possible (`x`, `a[3]`, `heap#1+8`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// Read memory. A failed compare-exchange or try-lock is one, too.
    Read {
        /// Which operation: `load`, `cas`, `trylock`, ...
        what: String,
        /// Location.
        location: String,
        /// The value.
        value: i64,
        /// Where it came from.
        from: Source<ThreadName>,
    },
    /// Wrote memory.
    Write {
        /// Which operation: `store`, `unlock`, ...
        what: String,
        /// Location.
        location: String,
        /// The value.
        value: i64,
    },
    /// Read and wrote memory in one step.
    Update {
        /// Which operation: `add`, `cas`, `lock`, ...
        what: String,
        /// Location.
        location: String,
        /// What was there.
        old: i64,
        /// What is there now.
        new: i64,
        /// Where the old value came from.
        from: Source<ThreadName>,
    },
    /// A fence.
    Fence {
        /// Its ordering.
        what: String,
    },
    /// Started a thread.
    Spawn {
        /// Which.
        child: ThreadName,
        /// The function it runs.
        function: String,
    },
    /// Posted a message to a looper.
    Post {
        /// The message, which goes by the name of a thread.
        message: ThreadName,
        /// The function that the looper is to run.
        function: String,
        /// Which looper.
        looper: String,
    },
    /// The looper took this message out of its mailbox.
    Take {
        /// Which looper.
        looper: String,
    },
    /// Waited for a thread's end.
    Join {
        /// Which.
        child: ThreadName,
    },
    /// Picked one of several alternatives.
    Choose {
        /// The value picked.
        value: i64,
    },
    /// Was given an unknown input.
    Input {
        /// The value.
        value: i64,
    },
    /// Ended the life of a piece of memory.
    Free {
        /// Which.
        location: String,
    },
    /// Entered or left an atomic block.
    Atomic {
        /// Entered rather than left.
        begin: bool,
    },
}

impl Action {
    /// The write this one reads from, if it reads.
    pub fn source(&self) -> Option<Source<ThreadName>> {
        match self {
            Action::Read { from, .. } | Action::Update { from, .. } => Some(*from),
            _ => None,
        }
    }

    /// The location it touches, if it touches one.
    pub fn location(&self) -> Option<&str> {
        match self {
            Action::Read { location, .. }
            | Action::Write { location, .. }
            | Action::Update { location, .. }
            | Action::Free { location } => Some(location),
            _ => None,
        }
    }

    /// The same, to be renamed.
    pub fn location_mut(&mut self) -> Option<&mut String> {
        match self {
            Action::Read { location, .. }
            | Action::Write { location, .. }
            | Action::Update { location, .. }
            | Action::Free { location } => Some(location),
            _ => None,
        }
    }

    /// Whether it writes memory.
    pub fn writes(&self) -> bool {
        matches!(self, Action::Write { .. } | Action::Update { .. })
    }
}
