//! One step of a run in a few words.
//!
//! | step | words |
//! |---|---|
//! | a read | `x → 1 (T2 step 4)`, `x → 0 (initial)`, `x → 1 (own buffer, step 3)`; where there is no single memory also what it missed: `x → 0 (initial, misses T2 step 4)` |
//! | a write | `x = 1`; through a store buffer first `x = 1 buffered`, then `x = 1 reaches memory` |
//! | a read-modify-write | `add x: 0 → 1 (initial)`; one that writes nothing is a read: `x → 1 (T2 step 4), cas fails` |
//! | an address | what it is the address of: `head = node#1`, `tail → &queue.stub (initial)` |
//! | moving what was never written, or not all of it | `x → no value`, `x = 17 in part` |
//! | a synchronisation | `lock m`, `sem post s`, `starts T1`, `joins T1` |
//!
//! Steps are counted from 1 over the whole run, as in the first column of the table. Blanks that no line should be broken at
//! are [`HARD_BLANK`]s.

use raddle_trace::execution::Entry;
use raddle_trace::{Action, Event, EventName, Execution, Model, Source, ThreadName};
use std::collections::HashMap;

/// A blank that keeps what stands around it on one line.
pub const HARD_BLANK: char = '\u{a0}';

/// The words for the steps of one run.
#[derive(Debug)]
pub struct Wording<'e> {
    execution: &'e Execution,
    /// Where in the run an event stands.
    positions: HashMap<EventName, usize>,
    /// The number of each step; failures have none of their own.
    numbers: Vec<usize>,
}

impl<'e> Wording<'e> {
    /// For this run.
    pub fn new(execution: &'e Execution) -> Self {
        let positions = execution.steps.iter().enumerate().filter_map(|(at, step)| match step {
            Entry::Event { event, .. } => Some((event.id, at)),
            _ => None,
        });
        let numbers = execution.steps.iter().scan(0, |number, step| {
            *number += usize::from(!matches!(step, Entry::Failure { .. }));
            Some(*number)
        });
        Wording { execution, positions: positions.collect(), numbers: numbers.collect() }
    }

    /// The number of the step at this position of the run, from 1; of a failure, that of the step before it.
    pub fn number(&self, position: usize) -> usize {
        self.numbers[position]
    }

    /// What the step does.
    pub fn step(&self, entry: &Entry) -> String {
        match entry {
            Entry::Event { event, buffered, .. } => {
                let words = self.action(&event.action, self.missed(event));
                if *buffered { format!("{words} buffered") } else { words }
            }
            Entry::Flush { write, location, value } => {
                let written = match self.find(*write) {
                    Some(action) => self.action(action, None),
                    None => format!("{location}\u{a0}=\u{a0}{}", self.value(*value)),
                };
                format!("{written} reaches memory")
            }
            Entry::Failure { message, .. } => message.clone(),
        }
    }

    /// The newest write before this read in the run that it did not see, where every step that is not buffered would otherwise be seen.
    pub(crate) fn missed(&self, event: &Event) -> Option<EventName> {
        let execution = self.execution;
        let Action::Read { location, from, .. } = &event.action else { return None };
        if !Model::AXIOMATIC.contains(&execution.model) || matches!(from, Source::Buffer(_)) {
            return None;
        }
        let order = execution.coherence.get(location)?;
        let seen = from.write().and_then(|source| order.iter().position(|&write| write == source));
        let newer = &order[seen.map_or(0, |at| at + 1)..];
        let position = self.positions.get(&event.id)?;
        newer.iter().rev().copied().find(|write| self.positions.get(write).is_some_and(|at| at < position))
    }

    fn find(&self, id: EventName) -> Option<&'e Action> {
        let step = &self.execution.steps[*self.positions.get(&id)?];
        match step {
            Entry::Event { event, .. } => Some(&event.action),
            _ => None,
        }
    }

    fn action(&self, action: &Action, missed: Option<EventName>) -> String {
        match action {
            Action::Read { what, location, value, from } => {
                let (value, from) = (self.value(*value), self.source(*from, missed));
                match what.as_str() {
                    "load" => format!("{location}\u{a0}→\u{a0}{value} {from}"),
                    "cas" => format!("{location}\u{a0}→\u{a0}{value} {from}, cas fails"),
                    "load nothing from" => format!("{location}\u{a0}→\u{a0}no\u{a0}value {from}"),
                    "load in part" => format!("{location}\u{a0}→\u{a0}{value}\u{a0}in\u{a0}part {from}"),
                    other if other.ends_with("nothing from") => format!("{other} {location}"),
                    other if other.contains("try") => format!("{other} {location} fails {from}"),
                    other => format!("{other} {location}\u{a0}→\u{a0}{value}"),
                }
            }
            Action::Write { what, location, value } => match what.as_str() {
                "store" => format!("{location}\u{a0}=\u{a0}{}", self.value(*value)),
                "store nothing to" => format!("{location}\u{a0}=\u{a0}no\u{a0}value"),
                "store in part" => format!("{location}\u{a0}=\u{a0}{value}\u{a0}in\u{a0}part"),
                other => format!("{other} {location}"),
            },
            Action::Update { what, location, old, new, from } => {
                if is_lock(what) {
                    format!("{what} {location}")
                } else {
                    format!(
                        "{what} {location}: {}\u{a0}→\u{a0}{} {}",
                        self.value(*old),
                        self.value(*new),
                        self.source(*from, missed)
                    )
                }
            }
            Action::Fence { what } => format!("fence {what}"),
            Action::Spawn { child, .. } => format!("starts {child}"),
            Action::Post { message, function, looper } => {
                format!("posts {message}, a message for {function}, to {looper}")
            }
            Action::Take { looper } => format!("is taken by {looper}"),
            Action::Join { child } => format!("joins {child}"),
            Action::Input { value } => format!("unknown input\u{a0}=\u{a0}{}", self.value(*value)),
            Action::Choose { value } => format!("picks alternative {value}"),
            Action::Free { location } => format!("ends the life of {location}"),
            Action::Atomic { begin: true } => "atomic block begins".into(),
            Action::Atomic { begin: false } => "atomic block ends".into(),
        }
    }

    /// The thread and the step of an event: `T1 step 3`.
    pub(crate) fn name(&self, id: EventName) -> String {
        format!("{}{}", id.thread, self.step_number(id, "\u{a0}step\u{a0}"))
    }

    fn source(&self, source: Source<ThreadName>, missed: Option<EventName>) -> String {
        let step = |id: EventName| self.name(id);
        let missed = missed.map(|newer| format!(", misses {}", step(newer))).unwrap_or_default();
        match source {
            Source::Initial => format!("(initial{missed})"),
            Source::Write(id) => format!("({}{missed})", step(id)),
            Source::Buffer(id) => format!("(own buffer{})", self.step_number(id, ", step\u{a0}")),
        }
    }

    /// An address as what it is one of, small numbers in decimal, large ones in hexadecimal.
    fn value(&self, value: i64) -> String {
        match self.execution.pointers.get(&value) {
            Some(name) => name.clone(),
            None if value.unsigned_abs() < 1 << 32 => value.to_string(),
            None => format!("{value:#x}"),
        }
    }

    fn step_number(&self, id: EventName, before: &str) -> String {
        let position = self.positions.get(&id);
        position.map_or_else(String::new, |&at| format!("{before}{}", self.numbers[at]))
    }
}

/// Whether the operation takes or leaves a lock, whose value says no more than the operation does.
fn is_lock(what: &str) -> bool {
    let what = what.strip_prefix("wait: ").unwrap_or(what);
    what.ends_with("lock")
}
