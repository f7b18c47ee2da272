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
//! | register, values written once | at the earliest return | open operations, and values overwritten since the oldest open read was called |
//!
//! A stack has no such watcher: whether a pop is right can depend on pushes arbitrarily long ago. There is no linearization at the end of
//! a stream, because it would be as long as the history; the watchers are compared with trying all orders instead.

pub mod multiset;
pub mod queue;
pub mod register;
pub mod set;

use rustc_hash::FxHashMap;

use crate::assemble::{Assembler, RawOp};
use crate::decide::Error;
use crate::format::{InputError, RawEvent, Source, Tables};
use crate::guess;
use crate::history::Op;
use crate::meaning::{Meaning, Step, Words};
use crate::object::ObjectKind;
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
}

/// Watches one object.
pub trait Watcher {
    /// An operation is called.
    fn called(&mut self, op: &Op) -> Seen;
    /// An operation returned.
    fn returned(&mut self, op: &Op) -> Seen;
    /// An operation ended without effect.
    fn vanished(&mut self, op: &Op) -> Seen;
    /// Nobody will ever know how an operation ended.
    fn lost(&mut self, op: &Op) -> Seen;
    /// The history ends; what is open stays so. Why there is no verdict, if there is none.
    fn finish(&mut self) -> Result<Option<String>, Trouble>;
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

/// A watcher for this kind of object.
pub fn watcher(kind: ObjectKind, initial: ValueId) -> Option<Box<dyn Watcher>> {
    Some(match kind {
        ObjectKind::Queue => Box::new(queue::QueueWatcher::default()),
        ObjectKind::Set => Box::new(set::SetWatcher::default()),
        ObjectKind::Multiset => Box::new(multiset::MultisetWatcher::default()),
        ObjectKind::Register | ObjectKind::Map => Box::new(register::RegisterWatcher::new(initial)),
        _ => return None,
    })
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

/// Reads a stream to its end or to the first violation.
pub fn watch(
    source: &mut dyn Source,
    kind: Option<ObjectKind>,
    words: Words,
    initial: &Value,
) -> Result<Streamed, Error> {
    let mut tables = Tables::default();
    let (kind, ahead) = match kind {
        Some(kind) => (kind, Vec::new()),
        None => look_ahead(source, &mut tables)?,
    };
    let mut ahead = ahead.into_iter();
    let mut initial = tables.values.intern(initial.clone());
    if watcher(kind, initial).is_none() {
        return Err(Error::Unsupported(format!("a {kind} cannot be streamed; leave out --stream")));
    }
    let mut assembler = Assembler::default();
    let mut meaning = Meaning::new(kind, words);
    let mut watchers: FxHashMap<ValueId, Box<dyn Watcher>> = FxHashMap::default();
    let (mut operations, mut peak, mut in_use) = (0u64, 0, 0);
    let finish = |verdict, operations, events: u32, peak| Streamed {
        kind,
        operations,
        events: u64::from(events),
        peak,
        verdict,
    };
    loop {
        let event = match ahead.next() {
            Some(event) => event,
            None => match source.next(&mut tables)? {
                Some(event) => event,
                None => break,
            },
        };
        let step = meaning.step(&assembler.push(&event, &tables)?, &mut tables)?;
        let (Step::Called(op) | Step::Returned(op) | Step::Lost(op) | Step::Vanished(op)) = &step;
        let watcher =
            watchers.entry(op.place).or_insert_with(|| watcher(kind, initial).expect("the kind has been looked up"));
        let seen = match &step {
            Step::Called(op) => {
                operations += 1;
                watcher.called(op)
            }
            Step::Returned(op) => watcher.returned(op),
            Step::Lost(op) => watcher.lost(op),
            Step::Vanished(op) => watcher.vanished(op),
        };
        match seen {
            Ok(()) => {}
            Err(Trouble::Wrong(wrong)) => {
                let message = wrong.text(&tables.values);
                let verdict = StreamVerdict::Violated { line: event.line, event: assembler.events() - 1, message };
                return Ok(finish(verdict, operations, assembler.events(), peak));
            }
            Err(Trouble::Unsupported(why)) => {
                return Err(InputError::at(event.line, "", why.text(&tables.values)).into());
            }
        }
        peak = peak.max(watcher.held() + tables.values.len());
        if ahead.len() == 0 && tables.values.len() > 2 * in_use + SLACK {
            in_use = sweep(&mut tables, &mut assembler, source, &mut watchers, &mut initial);
        }
    }
    let mut doubt = None;
    for watcher in watchers.values_mut() {
        match watcher.finish() {
            Ok(why) => doubt = doubt.or(why),
            Err(Trouble::Wrong(wrong) | Trouble::Unsupported(wrong)) => {
                let message = wrong.text(&tables.values);
                let event = assembler.events().saturating_sub(1);
                let verdict = StreamVerdict::Violated { line: 0, event, message };
                return Ok(finish(verdict, operations, assembler.events(), peak));
            }
        }
    }
    let verdict = doubt.map_or(StreamVerdict::Holds, StreamVerdict::Unknown);
    Ok(finish(verdict, operations, assembler.events(), peak))
}

/// Forgets every value that nobody holds; how many are left.
fn sweep(
    tables: &mut Tables,
    assembler: &mut Assembler,
    source: &mut dyn Source,
    watchers: &mut FxHashMap<ValueId, Box<dyn Watcher>>,
    initial: &mut ValueId,
) -> usize {
    let mut fresh = Values::default();
    let mut names: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let old = std::mem::take(&mut tables.values);
    let mut rename = |id: &mut ValueId| {
        *id = *names.entry(*id).or_insert_with(|| fresh.intern(old.get(*id).clone()));
    };
    rename(initial);
    source.each_value(&mut rename);
    assembler.each_value(&mut rename);
    let mut renamed = FxHashMap::default();
    for (mut place, mut watcher) in watchers.drain() {
        rename(&mut place);
        watcher.each_value(&mut rename);
        renamed.insert(place, watcher);
    }
    *watchers = renamed;
    tables.values = fresh;
    tables.values.len()
}
