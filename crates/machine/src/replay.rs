//! Replay: runs a schedule from the start and writes down what happens.
//!
//! This is how every counterexample is confirmed before anybody sees it, and how a saved one is shown again.

use crate::address::Addr;
use crate::automaton::{Access, Automaton, Blocked, Status, Visible};
use crate::code::Code;
use crate::observer::Record;
use crate::system::System;
use crate::thread::Thread;
use raddle_program::{NO_VALUE, partial};
use raddle_trace::execution::{Entry, Racing};
use raddle_trace::{
    Action, Event, EventId, EventName, Execution, Model, Ordering, Place, Property, Schedule, Source, Step, ThreadName,
    Waiting,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// A schedule that does not fit the program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("step {position} of the schedule (`{step}`) is not possible: {reason}")]
pub struct ReplayError {
    /// Which step, from 1.
    pub position: usize,
    /// The step.
    pub step: Step<ThreadName>,
    /// Why not.
    pub reason: String,
}

/// What a replay showed.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The run.
    pub execution: Execution,
    /// What went wrong, in the order it happened.
    pub failures: Vec<Found>,
    /// How many steps of the schedule were taken: all, unless something went wrong on the way.
    pub taken: usize,
    /// Who waits for what at the end, if that is a deadlock.
    pub waiting: Vec<Waiting>,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which property; `None` if the machine itself could not go on.
    pub property: Option<Property>,
    /// What, in one line.
    pub message: String,
    /// Where.
    pub place: Place,
    /// In which thread, if it is one thread's doing.
    pub thread: Option<ThreadName>,
    /// What it races with, if that is what is wrong.
    pub race: Option<Racing>,
}

/// Runs the schedule. A thread that fails moves no more; the others go on, as long as the schedule can be followed.
/// At the end, a state in which nothing can move and some thread is not finished is a deadlock.
pub fn replay(code: &Code, model: Model, schedule: &Schedule<ThreadName>, races: bool) -> Result<Replay, ReplayError> {
    // Axioms are about whole executions, so they are evaluated once. If something is wrong, the first step that is has to be found.
    match run(code, model, schedule, races, System::follow) {
        Ok((replay, false)) => Ok(replay),
        Ok((_, true)) | Err(_) => run(code, model, schedule, races, System::step).map(|(replay, _)| replay),
    }
}

/// How a step is done.
type Take<'c> = fn(&mut System<'c>, Step) -> Result<Record, String>;

/// Runs the schedule; also says whether memory refuses the run.
fn run<'c>(
    code: &'c Code,
    model: Model,
    schedule: &Schedule<ThreadName>,
    races: bool,
    take: Take<'c>,
) -> Result<(Replay, bool), ReplayError> {
    let mut system = System::new(code, model, races, true);
    let mut steps = Vec::new();
    let mut coherence: BTreeMap<String, Vec<EventName>> = BTreeMap::new();
    let mut pointers = BTreeMap::new();
    let mut failures = Vec::new();
    let mut taken = 0;
    let note = |system: &System<'_>, failures: &mut Vec<Found>, steps: &mut Vec<Entry>| {
        for found in failed_threads(code, system) {
            if !failures.contains(&found) {
                steps.push(failure_entry(&found));
                failures.push(found);
            }
        }
    };
    note(&system, &mut failures, &mut steps);
    for (position, &step) in schedule.steps.iter().enumerate() {
        let id = code.numbering().number(step.thread());
        let (origin, index) = match id.and_then(|id| Some((system.thread(id)?, system.events(id)))) {
            Some((thread, events)) => (Origin::of(code, thread), events),
            None => (Origin::default(), 0),
        };
        let outcome = match step.named(|name| code.numbering().number(name)) {
            Some(step) => take(&mut system, step),
            None => Err(format!("there is no thread {}", step.thread())),
        };
        let record = match outcome {
            Ok(record) => record,
            // A thread that has failed on the way can leave others unable to go on as planned.
            Err(_) if !failures.is_empty() => break,
            Err(reason) => return Err(ReplayError { position: position + 1, step, reason }),
        };
        taken = position + 1;
        let event_id = EventId::new(id.expect("it has moved"), index);
        if let Some((write, access)) = reaches_memory(&record, event_id) {
            coherence.entry(system.describe(access.addr)).or_default().push(named(code, write));
        }
        note_pointers(&system, &record, &mut pointers);
        steps.extend(entry(code, &mut system, record, event_id, origin));
        note(&system, &mut failures, &mut steps);
    }
    let mut waiting = Vec::new();
    if failures.is_empty()
        && let Some((found, all)) = deadlock(code, &system)
    {
        steps.push(failure_entry(&found));
        failures.push(found);
        waiting = all;
    }
    if let Some(orders) = system.orders() {
        let located = orders.into_iter().filter(|(addr, _)| *addr != Addr(0));
        let names = |writes: Vec<EventId>| writes.into_iter().map(|write| named(code, write)).collect();
        coherence = located.map(|(addr, writes)| (system.describe(addr), names(writes))).collect();
    }
    let threads = system.threads().map(|thread| code.function_name(thread.function()).to_owned()).collect();
    let names = system.threads().map(|thread| code.name(thread.id())).collect();
    let refused = system.refuses_run();
    let execution = Execution { model, threads, names, steps, coherence, pointers };
    Ok((Replay { execution, failures, taken, waiting }, refused))
}

fn named(code: &Code, event: EventId) -> EventName {
    EventId::new(code.name(event.thread), event.index)
}

fn failure_entry(found: &Found) -> Entry {
    let Found { thread, message, place, race, .. } = found.clone();
    Entry::Failure { thread, message, place, race }
}

fn reaches_memory(record: &Record, event: EventId) -> Option<(EventId, Access)> {
    match *record {
        Record::Write { access, buffered: false, .. } | Record::Update { access, .. } => Some((event, access)),
        Record::Flush { write, access, .. } => Some((write, access)),
        _ => None,
    }
}

/// Numbers below are taken for numbers, even if programs whose pointers have four bytes may mean addresses.
const FIRST_ADDRESS: u64 = 1 << 32;

/// Notes which of the values are addresses, and of what.
fn note_pointers(system: &System<'_>, record: &Record, pointers: &mut BTreeMap<i64, String>) {
    let values = match *record {
        Record::Read { value, .. } | Record::Write { value, .. } => [value, 0],
        Record::Update { old, new, .. } => [old, new],
        _ => return,
    };
    for value in values.into_iter().filter(|&value| value >= FIRST_ADDRESS) {
        if !pointers.contains_key(&(value as i64))
            && let Some(name) = system.pointee(value)
        {
            pointers.insert(value as i64, name);
        }
    }
}

/// What a thread was about to do.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    pc: u32,
    name: &'static str,
    /// The ordering, and the one of an update that writes nothing.
    orders: Option<(Ordering, Ordering)>,
}

impl Origin {
    fn of(code: &Code, thread: &Thread) -> Self {
        let orders = match *thread.status() {
            Status::Ready(Visible::Update { order, failure, .. }) => Some((order, failure)),
            Status::Ready(
                Visible::Load { order, .. } | Visible::Store { order, .. } | Visible::Fence { order, .. },
            ) => Some((order, order)),
            _ => None,
        };
        Origin { pc: thread.pc(), name: thread.operation_name(code), orders }
    }
}

fn entry(code: &Code, system: &mut System<'_>, record: Record, id: EventId, origin: Origin) -> Option<Entry> {
    let Origin { pc, name, orders } = origin;
    let reads = matches!(record, Record::Read { .. });
    let order = orders.map(|(order, failure)| if reads { failure } else { order });
    let location = |addr: Addr| system.describe(addr);
    let signed = |access: Access, value: u64| {
        let shift = 64 - 8 * u32::from(access.size);
        ((partial::split(value).0 << shift) as i64) >> shift
    };
    let from = |source: Source| match source {
        Source::Initial => Source::Initial,
        Source::Write(write) => Source::Write(named(code, write)),
        Source::Buffer(write) => Source::Buffer(named(code, write)),
    };
    // What is moved without a value, or without all of it, has no number to be shown.
    let what = match record {
        Record::Read { value: NO_VALUE, .. } => format!("{name} nothing from"),
        Record::Write { value: NO_VALUE, .. } => format!("{name} nothing to"),
        Record::Read { value, .. } | Record::Write { value, .. } if partial::is_partial(value) => {
            format!("{name} in part")
        }
        _ => name.to_owned(),
    };
    let mut in_buffer = false;
    let action = match record {
        Record::Read { access, value, source } => {
            Action::Read { what, location: location(access.addr), value: signed(access, value), from: from(source) }
        }
        Record::Write { access, value, buffered } => {
            in_buffer = buffered;
            Action::Write { what, location: location(access.addr), value: signed(access, value) }
        }
        Record::Update { access, old, new, source } => Action::Update {
            what,
            location: location(access.addr),
            old: signed(access, old),
            new: signed(access, new),
            from: from(source),
        },
        Record::Fence(order) => Action::Fence { what: order.name().to_owned() },
        Record::Spawn(child) => {
            let thread = system.thread(child).expect("just started");
            Action::Spawn { child: code.name(child), function: code.function_name(thread.function()).to_owned() }
        }
        Record::Post(message, looper) => {
            let thread = system.thread(message).expect("just posted");
            let function = code.function_name(thread.function()).to_owned();
            Action::Post { message: code.name(message), function, looper: location(looper) }
        }
        Record::Take(looper) => Action::Take { looper: location(looper) },
        Record::Join(child) => Action::Join { child: code.name(child) },
        Record::Choose(pick) => match code.input(pc, pick) {
            Some(value) => Action::Input { value },
            None => Action::Choose { value: i64::from(pick) },
        },
        Record::Free(addr) => Action::Free { location: location(addr) },
        Record::Atomic(begin) => Action::Atomic { begin },
        Record::Flush { write, access, value } => {
            let write = named(code, write);
            return Some(Entry::Flush { write, location: location(access.addr), value: signed(access, value) });
        }
        Record::Lost(_) | Record::Failed => return None,
    };
    let printed = system.take_printed(id.thread);
    let event = Event { id: named(code, id), action, order, place: code.place(pc) };
    Some(Entry::Event { event, buffered: in_buffer, printed })
}

fn failed_threads(code: &Code, system: &System<'_>) -> Vec<Found> {
    let failed = system.threads().filter_map(|thread| match thread.status() {
        Status::Failed(failure) => Some(Found {
            property: failure.property,
            message: failure.message.clone(),
            place: code.place(failure.pc),
            thread: Some(code.name(thread.id())),
            race: system.race(thread.id()).map(|race| Racing {
                with: named(code, race.other.event),
                order: race.this.order,
                from: race.found.map(|write| named(code, write)),
            }),
        }),
        _ => None,
    });
    failed.collect()
}

/// What is wrong with a state in which nothing can move, if it is a deadlock, and who waits for what.
pub fn deadlock(code: &Code, system: &System<'_>) -> Option<(Found, Vec<Waiting>)> {
    if !system.is_over() {
        return None;
    }
    let mut waiting = Vec::new();
    for thread in system.threads() {
        let what = match thread.status() {
            Status::Finished { exit: true, .. } => return None,
            Status::Finished { .. } => continue,
            // A failed assumption or a bounded loop says nothing about the program: it is not stuck, it is cut off.
            Status::Blocked(Blocked::Assume | Blocked::LoopBound) | Status::Failed(_) => return None,
            Status::Ready(_) if system.is_assuming(thread.id()) => return None,
            // It would look again and find something else.
            Status::Blocked(Blocked::Spin) if !system.reads_are_current(thread.id(), thread.since()) => return None,
            Status::Blocked(Blocked::Spin) => "another thread to end its loop".to_owned(),
            Status::Ready(visible) => awaited(code, system, thread, visible),
        };
        waiting.push(Waiting { thread: code.name(thread.id()), what, place: code.place(thread.pc()) });
    }
    let first = waiting.first()?;
    let all: Vec<String> = waiting.iter().map(|wait| format!("{} waits for {}", wait.thread, wait.what)).collect();
    let found = Found {
        property: Some(Property::Deadlock),
        message: format!("deadlock: {}", all.join(", ")),
        place: first.place.clone(),
        thread: Some(first.thread),
        race: None,
    };
    Some((found, waiting))
}

/// What a thread waits for that cannot do its next operation.
fn awaited(code: &Code, system: &System<'_>, thread: &Thread, visible: &Visible) -> String {
    match visible {
        Visible::Update { access, mutex: true, .. } => format!("the mutex {}", system.describe(access.addr)),
        Visible::Load { access, .. } | Visible::Update { access, .. } => {
            let name = system.describe(access.addr);
            match thread.operation_name(code) {
                "rdlock" | "wrlock" => format!("the lock {name}"),
                "sem wait" => format!("the semaphore {name}"),
                "barrier wait" => format!("the barrier {name}"),
                "wait: woken" => "a signal".to_owned(),
                "wait: lock" => format!("the mutex {name}"),
                _ => format!("a change of {name}"),
            }
        }
        Visible::Join { thread } => format!("{} to end", code.name(*thread)),
        Visible::Take { mailbox } => {
            let looper = system.describe(*mailbox);
            match system.mailboxes().running(*mailbox) {
                Some(running) => format!("{looper}, which runs {}", code.name(running)),
                None => format!("its turn in the mailbox of {looper}"),
            }
        }
        _ => "its turn".to_owned(),
    }
}
