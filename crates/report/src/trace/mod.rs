//! What `trace` has to say: whether there is an execution of a given shape, with a run that shows it or a clash that rules it out.

mod dot;
mod json;
mod text;

use crate::answer::{Answer, Conclusion, Say};
use crate::json::Head;
use crate::paper::Paper;
use raddle_trace::{EventId, Model, Step, ThreadId};

/// The answer about a trace.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Under which memory model.
    pub model: Model,
    /// The threads, with what each of them did.
    pub threads: Vec<Thread>,
    /// The names of locations, by number.
    pub locations: Vec<String>,
    /// What was found.
    pub found: Found<Step, Clash>,
    /// A read of a value that nobody wrote.
    pub unwritten: Option<EventId>,
    /// How many prefixes of executions were looked at.
    pub prefixes: u64,
    /// Whether cycles were looked for before the search.
    pub closed: bool,
    /// Whether one was found.
    pub cyclic: bool,
}

/// A thread of a trace.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// What it did, in order.
    pub events: Vec<Event>,
}

/// An event of a trace.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it did, in words.
    pub words: String,
    /// Its line in the input.
    pub line: u32,
    /// The location it writes, if it is a write that may wait in a buffer.
    pub buffers: Option<u64>,
    /// The write it reads from, if it reads and the source is not the initial value.
    pub source: Option<EventId>,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found<Step, Clash> {
    /// There is an execution, and these are its steps.
    Consistent(Vec<Step>),
    /// There is none; this is why, unless nobody asked.
    Inconsistent(Option<Clash>),
    /// Nobody knows, for this reason: "the time limit was reached".
    Unknown(String),
}

impl<Step, Clash> Found<Step, Clash> {
    /// What that comes to.
    pub(crate) fn conclusion(&self) -> Conclusion {
        match self {
            Found::Consistent(_) => Conclusion::Holds,
            Found::Inconsistent(_) => Conclusion::Violated,
            Found::Unknown(_) => Conclusion::Unknown,
        }
    }
}

/// Why there is no execution.
#[derive(Clone, Debug)]
pub struct Clash {
    /// The events that clash, each with whether only its writing matters though it reads as well.
    pub events: Vec<(EventId, bool)>,
    /// Whether without any one of them the others do not clash.
    pub minimal: bool,
    /// What the cycle uses.
    pub conclusions: Vec<Deduction>,
    /// Moments each of which is before the next, and the last before the first. Empty if only a search knows that there is no execution.
    pub cycle: Vec<Tie>,
}

/// A tie that follows from others.
#[derive(Clone, Debug)]
pub struct Deduction {
    /// What follows.
    pub tie: Tie,
    /// The way between the two moments that matter for it.
    pub since: Vec<Tie>,
}

/// One moment is before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The earlier one.
    pub from: Moment,
    /// The later one.
    pub to: Moment,
    /// Why, as a stable name.
    pub why: &'static str,
    /// Why, in words.
    pub text: String,
}

/// Something that happens at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// The thread does the event.
    Does(EventId),
    /// The write, buffered before, reaches memory.
    Reaches(EventId),
    /// The thread has ended, and its buffer is empty.
    Ends(ThreadId),
}

impl Say for Trace {
    fn command(&self) -> &'static str {
        "trace"
    }

    fn conclusion(&self) -> Conclusion {
        self.found.conclusion()
    }

    fn text(&self, _: &Answer, paper: &mut Paper) {
        self.write_text(paper);
    }

    fn json(&self, head: Head<'_>) -> String {
        head.line(&self.fields())
    }

    fn dot(&self) -> Option<String> {
        Some(self.graph())
    }
}

impl Trace {
    fn word(&self) -> &'static str {
        match self.found {
            Found::Consistent(_) => "consistent",
            Found::Inconsistent(_) => "inconsistent",
            Found::Unknown(_) => "unknown",
        }
    }

    /// How many events there are.
    fn len(&self) -> usize {
        self.threads.iter().map(|thread| thread.events.len()).sum()
    }

    fn thread(&self, thread: ThreadId) -> &str {
        self.threads.get(thread.index()).map_or("?", |thread| &thread.name)
    }

    fn event(&self, id: EventId) -> Option<&Event> {
        self.threads.get(id.thread.index())?.events.get(id.index as usize)
    }

    fn words(&self, id: EventId) -> &str {
        self.event(id).map_or("?", |event| &event.words)
    }

    /// The name of an event, `left.0`.
    fn name(&self, id: EventId) -> String {
        format!("{}.{}", self.thread(id.thread), id.index)
    }

    fn location(&self, number: u64) -> &str {
        usize::try_from(number).ok().and_then(|at| self.locations.get(at)).map_or("?", String::as_str)
    }

    /// A moment in words: `left.0  write x`, `left.0  write x reaches memory`.
    fn moment(&self, moment: Moment) -> String {
        match moment {
            Moment::Does(event) => format!("{}  {}", self.name(event), self.words(event)),
            Moment::Reaches(event) => format!("{}  {} reaches memory", self.name(event), self.words(event)),
            Moment::Ends(thread) => format!("{} has ended, its buffer empty", self.thread(thread)),
        }
    }

    /// A moment in one or two words.
    fn short(&self, moment: Moment) -> String {
        match moment {
            Moment::Does(event) | Moment::Reaches(event) => self.name(event),
            Moment::Ends(thread) => format!("the end of {}", self.thread(thread)),
        }
    }
}
