//! Checking a history while it is being read.
//!
//! A [`Watcher`] takes in calls and returns as they come and reports a violation at the first return at which it can know
//! one. What it holds is bounded by the operations that are open plus what the object still holds, so the length of the
//! history does not matter. The table of values is swept when it has doubled: what nobody holds any more is forgotten.
//!
//! | object | reports | holds |
//! |---|---|---|
//! | queue | at the earliest return, unless empty dequeues are involved, then once the dequeues open around them have returned | values stored, open operations |
//! | set, multiset | at the earliest return | values present, open operations |
//! | register, map, values written once | at the earliest return | open operations, and values overwritten since the oldest open read was called |
//! | stack | soon after it is known how the operations open around the return end | values stored, operations that wait for that |
//! | any other, and those above where values repeat or methods are not covered | likewise | everywhere the object may stand, operations that wait |
//!
//! A history of which it turns out in its first events that the procedure made for its kind does not cover it is begun again with the one for any. There is no
//! linearization at the end of a stream, because it would be as long as the history; the watchers are compared with trying all orders instead.

mod delay;
pub mod general;
pub mod multiset;
pub mod queue;
pub mod register;
pub mod set;
pub mod stack;

use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::assemble::{Assembler, RawOp};
use crate::decide::Error;
use crate::format::{InputError, RawEvent, Source, Tables};
use crate::guess;
use crate::history::{Method, Op};
use crate::meaning::{Meaning, Step, Words};
use crate::object::ObjectKind;
use crate::search::Budget;
use crate::value::{Value, ValueId, Values};

/// A violation, at the return that showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong, for people. Values stand as `{0}`, `{1}`, ... until they are filled in.
    pub message: String,
    /// The values the message speaks of.
    pub about: Vec<ValueId>,
}

impl Wrong {
    /// A violation about some values.
    pub fn new(message: &str, about: &[ValueId]) -> Wrong {
        Wrong { message: message.to_string(), about: about.to_vec() }
    }

    fn text(&self, values: &Values) -> String {
        let mut text = self.message.clone();
        for (number, value) in self.about.iter().enumerate() {
            text = text.replace(&format!("{{{number}}}"), &values.get(*value).to_string());
        }
        text
    }
}

/// What a watcher says to an event.
pub type Seen = Result<(), Trouble>;

/// Why a watcher stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The history is not linearizable.
    Wrong(Wrong),
    /// The history is outside what this watcher covers.
    Unsupported(Wrong),
    /// A limit was reached.
    GaveUp(String),
}

/// Watches one object.
pub trait Watcher {
    /// An operation is called.
    fn called(&mut self, op: &Op) -> Seen;
    /// An operation returned; values that come up are put into the table.
    fn returned(&mut self, op: &Op, values: &mut Values) -> Seen;
    /// An operation ended without effect.
    fn vanished(&mut self, op: &Op) -> Seen;
    /// Nobody will ever know how an operation ended.
    fn lost(&mut self, op: &Op) -> Seen;
    /// The history ends; what is open stays so. Why there is no verdict, if there is none.
    fn finish(&mut self, values: &mut Values) -> Result<Option<String>, Trouble>;
    /// How many things are held.
    fn held(&self) -> usize;
    /// Visits every value that is held, to note or to rename it.
    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId));
}

/// What came of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Streamed {
    /// The kind of object.
    pub kind: ObjectKind,
    /// How many operations were called.
    pub operations: u64,
    /// How many events were read.
    pub events: u64,
    /// The most things held at once: open operations, stored values, values in the table.
    pub peak: usize,
    /// The verdict.
    pub verdict: StreamVerdict,
}

/// The verdict on a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamVerdict {
    /// Linearizable.
    Holds,
    /// Not linearizable, known at this line of the input.
    Violated {
        /// The line.
        line: u32,
        /// The number of the event, from 0.
        event: u32,
        /// What is wrong.
        message: String,
    },
    /// It could not be decided in bounded memory.
    Unknown(String),
}

/// How to watch.
#[derive(Clone, Debug)]
pub struct Watching {
    /// The kind of object.
    pub kind: ObjectKind,
    /// With the procedure for any object, not with one made for this kind.
    pub general: bool,
    /// What a register, each key of a map, or a counter holds at the beginning.
    pub initial: Value,
    /// What may be spent on the events of a moment, and when to stop.
    pub budget: Budget,
    /// How many returns are looked at together where they have to wait for others: fewer are told of sooner, more are faster.
    pub together: usize,
}

impl Watching {
    /// The defaults for this kind of object.
    pub fn new(kind: ObjectKind) -> Watching {
        Watching { kind, general: false, initial: Value::Nil, budget: Budget::default(), together: 32 }
    }

    /// A watcher of one object; whoever asks for one made for the kind gets the one for any if there is none.
    pub fn watcher(&self, values: &mut Values) -> Box<dyn Watcher> {
        match self.kind {
            _ if self.general => self.any(),
            ObjectKind::Queue => Box::new(queue::QueueWatcher::default()),
            ObjectKind::Stack => Box::new(stack::StackWatcher::new(self.budget, self.together)),
            ObjectKind::Set => Box::new(set::SetWatcher::default()),
            ObjectKind::Multiset => Box::new(multiset::MultisetWatcher::default()),
            ObjectKind::Register | ObjectKind::Map => {
                let empty = values.intern(Value::text(""));
                Box::new(register::RegisterWatcher::new(values.intern(self.initial.clone()), empty))
            }
            _ => self.any(),
        }
    }

    fn any(&self) -> Box<dyn Watcher> {
        Box::new(general::GeneralWatcher::new(self.kind, self.initial.clone(), self.budget, self.together))
    }
}

/// Sweep the table of values when it holds this many more than are in use.
const SLACK: usize = 1 << 16;

/// How many events are looked at to find out what kind of object it is, when nobody says.
const LOOK_AHEAD: usize = 1 << 12;

/// Reads events until they tell what kind of object they are about: the kind, and the events.
fn look_ahead(source: &mut dyn Source, tables: &mut Tables) -> Result<(ObjectKind, Vec<RawEvent>), Error> {
    let mut ahead = Vec::new();
    let mut assembler = Assembler::default();
    let mut ops: Vec<RawOp> = Vec::new();
    loop {
        let next = source.next(tables)?;
        if let Some(kind) = source.declared() {
            ahead.extend(next);
            return Ok((kind, ahead));
        }
        if let Some(event) = next {
            ahead.push(event);
            let op = assembler.push(&event, tables)?;
            match ops.get_mut(op.number as usize) {
                Some(known) => *known = op,
                None => ops.push(op),
            }
        }
        let ended = next.is_none() || ahead.len() == LOOK_AHEAD;
        if ended || ahead.len().is_power_of_two() {
            match guess::kind(ops.iter(), tables) {
                Ok(kind) => return Ok((kind, ahead)),
                Err(why) if ended => return Err(why.into()),
                Err(_) => {}
            }
        }
    }
}

/// Reads a stream to its end or to the first violation. If `general` is nothing, the procedure made for the kind is used, and if the first events show
/// that it does not cover them, the one for any.
pub fn watch(
    source: &mut dyn Source,
    kind: Option<ObjectKind>,
    general: Option<bool>,
    words: Words,
    how: impl FnOnce(ObjectKind) -> Watching,
) -> Result<Streamed, Error> {
    let mut tables = Tables::default();
    let (kind, ahead) = match kind {
        Some(kind) => (kind, Vec::new()),
        None => look_ahead(source, &mut tables)?,
    };
    let mut watching = Watching { general: general.unwrap_or(false), ..how(kind) };
    let mut run = Run::new(&watching, words);
    // The first events are kept as long as it may turn out that another procedure is needed.
    let mut first = (general.is_none()).then(Vec::new);
    let mut ahead = ahead.into_iter();
    loop {
        let event = match ahead.next() {
            Some(event) => event,
            None => match source.next(&mut tables)? {
                Some(event) => event,
                None => break,
            },
        };
        if let Some(first) = &mut first {
            first.push(event);
        }
        let mut said = run.event(&event, &watching, &mut tables)?;
        if let Err(Trouble::Unsupported(_)) = &said
            && let Some(events) = first.take_if(|_| !watching.general)
        {
            watching.general = true;
            run = Run::new(&watching, words);
            said = Ok(());
            for event in events {
                said = run.event(&event, &watching, &mut tables)?;
                if said.is_err() {
                    break;
                }
            }
        }
        if let Err(trouble) = said {
            return run.stopped(trouble, &event, &tables);
        }
        let over =
            watching.budget.deadline.is_some_and(|end| run.events().is_multiple_of(1024) && Instant::now() >= end);
        if over {
            return Ok(run.streamed(StreamVerdict::Unknown("the time limit was reached".into())));
        }
        if ahead.len() == 0 && tables.values.len() > 2 * run.in_use + SLACK {
            // The first events name values that are forgotten now.
            first = None;
            run.sweep(&mut tables, source);
        }
        first = first.filter(|events| events.len() < LOOK_AHEAD);
    }
    run.finish(&mut tables)
}

/// A stream that is being watched.
struct Run {
    kind: ObjectKind,
    assembler: Assembler,
    meaning: Meaning,
    watchers: FxHashMap<ValueId, Box<dyn Watcher>>,
    operations: u64,
    peak: usize,
    /// How many values were in use when the table was last swept.
    in_use: usize,
}

impl Run {
    fn new(watching: &Watching, words: Words) -> Run {
        Run {
            kind: watching.kind,
            assembler: Assembler::default(),
            meaning: Meaning::new(watching.kind, words),
            watchers: FxHashMap::default(),
            operations: 0,
            peak: 0,
            in_use: 0,
        }
    }

    fn events(&self) -> u32 {
        self.assembler.events()
    }

    fn event(&mut self, event: &RawEvent, watching: &Watching, tables: &mut Tables) -> Result<Seen, Error> {
        let step = self.meaning.step(&self.assembler.push(event, tables)?, tables)?;
        let (Step::Called(op) | Step::Returned(op) | Step::Lost(op) | Step::Vanished(op)) = &step;
        if op.method == Method::Drain {
            let why = "a drain stands for many dequeues and cannot be streamed; leave out --stream";
            return Err(InputError::at(event.line, "", why).into());
        }
        let values = &mut tables.values;
        let watcher = self.watchers.entry(op.place).or_insert_with(|| watching.watcher(values));
        let seen = match &step {
            Step::Called(op) => {
                self.operations += 1;
                watcher.called(op)
            }
            Step::Returned(op) => watcher.returned(op, values),
            Step::Lost(op) => watcher.lost(op),
            Step::Vanished(op) => watcher.vanished(op),
        };
        self.peak = self.peak.max(watcher.held() + tables.values.len());
        Ok(seen)
    }

    fn streamed(&self, verdict: StreamVerdict) -> Streamed {
        let events = u64::from(self.events());
        Streamed { kind: self.kind, operations: self.operations, events, peak: self.peak, verdict }
    }

    /// What came of it, if a watcher stopped at an event.
    fn stopped(self, trouble: Trouble, event: &RawEvent, tables: &Tables) -> Result<Streamed, Error> {
        let verdict = match trouble {
            Trouble::Wrong(wrong) => {
                let message = wrong.text(&tables.values);
                StreamVerdict::Violated { line: event.line, event: self.events() - 1, message }
            }
            Trouble::GaveUp(why) => StreamVerdict::Unknown(why),
            Trouble::Unsupported(why) => {
                let why = format!("{}; leave out --stream, or add --engine search", why.text(&tables.values));
                return Err(InputError::at(event.line, "", why).into());
            }
        };
        Ok(self.streamed(verdict))
    }

    /// What came of it when everything was read.
    fn finish(mut self, tables: &mut Tables) -> Result<Streamed, Error> {
        let mut doubt = None;
        for watcher in self.watchers.values_mut() {
            match watcher.finish(&mut tables.values) {
                Ok(why) => doubt = doubt.or(why),
                Err(Trouble::GaveUp(why)) => doubt = doubt.or(Some(why)),
                Err(Trouble::Wrong(wrong) | Trouble::Unsupported(wrong)) => {
                    let message = wrong.text(&tables.values);
                    let event = self.assembler.events().saturating_sub(1);
                    let verdict = StreamVerdict::Violated { line: 0, event, message };
                    return Ok(self.streamed(verdict));
                }
            }
        }
        let verdict = doubt.map_or(StreamVerdict::Holds, StreamVerdict::Unknown);
        Ok(self.streamed(verdict))
    }

    /// Forgets every value that nobody holds.
    fn sweep(&mut self, tables: &mut Tables, source: &mut dyn Source) {
        let mut fresh = Values::default();
        let mut names: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let old = std::mem::take(&mut tables.values);
        let mut rename = |id: &mut ValueId| {
            *id = *names.entry(*id).or_insert_with(|| fresh.intern(old.get(*id).clone()));
        };
        source.each_value(&mut rename);
        self.assembler.each_value(&mut rename);
        let mut renamed = FxHashMap::default();
        for (mut place, mut watcher) in self.watchers.drain() {
            rename(&mut place);
            watcher.each_value(&mut rename);
            renamed.insert(place, watcher);
        }
        self.watchers = renamed;
        tables.values = fresh;
        self.in_use = tables.values.len();
    }
}
