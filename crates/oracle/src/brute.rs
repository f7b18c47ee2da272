//! Brute force: every behaviour of a program on the operational machine, and the exact number of its classes.
//!
//! A walk over all moves of [`System`], depth first. Two runs that have led to the same events with the same sources
//! (and choices) in every thread, and the same writes in memory in the same order per location, are in the same
//! state: threads are functions of what they read and chose, memory of the last writes, buffers of what is written and
//! not in memory. Such a state is entered once. It also fixes the class so far, so nothing is lost. The histories
//! are lists with shared tails, numbered as they appear, so a state is a handful of numbers.
//!
//! One shortcut: a thread that is about to start another one does so before anything else happens. That move commutes
//! with every move of the others, and the new thread waits for nobody's leave. Only a thread that gets stuck inside an
//! atomic block can come in between, since it stops everybody; where one does, the walk is done again without shortcut. Nor is it taken where a thread may
//! wait for one by a handle that it was not given, which is an error before the start.
//!
//! What the end of a run is ([`End`]): a thread that failed stays where it is and the others go on. A thread whose turn
//! of a wait loop had no effect stays behind that turn; if at the end one of the turn's reads is no longer what it would
//! read now, the thread has only not looked again, and the run is *moot*: some other run is the one that counts. In the
//! class of a run that ends with such a thread the reads of the turn do not appear. The same holds for a thread that is stopped by an assumption
//! right behind loads, if nothing can race: whether it has made them nobody can tell, so they are no part of the class, and the run is moot if
//! the thread would now find something that passes. A thread that waits at the end has looked in vain, which may
//! be a race. Which turns had no effect is said by the code, or, where the
//! code has loops as they were written, by `turns::Turns`.

use crate::class::{Class, Event, ValueClass, Values};
use crate::turns::{Looks, Turns, looked};
use raddle_machine::observer::Record;
use raddle_machine::replay::deadlock;
use raddle_machine::{Addr, Automaton, Blocked, Code, Reaction, Status, System, Thread, Visible};
use raddle_trace::{EventId, Model, Property, Schedule, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use thiserror::Error;

/// How the enumeration is done and how far it may go.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// After so many states it gives up.
    pub states: usize,
    /// Whether data races are failures.
    pub races: bool,
    /// Whether loops turn as they are written, also where that has no effect. They need a bound then.
    pub every_turn: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { states: 1_000_000, races: false, every_turn: false }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TooLarge {
    /// More states than the budget allows.
    #[error("more than {0} states")]
    States(usize),
    /// The machine itself cannot go on.
    #[error("{0}")]
    Machine(String),
}

/// Something that went wrong in some run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// Which property.
    pub property: Property,
    /// On which line.
    pub line: u32,
    /// What, in one line.
    pub message: String,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every thread has finished, or the program was ended.
    Complete,
    /// Some thread waits for something that never comes, or an assumption is false.
    Blocked,
    /// Some thread failed.
    Failed,
    /// Some loop wants to turn more often than it may.
    Bounded,
    /// A waiting thread has only not looked again.
    Moot,
}

/// The classes of the runs that end in one way.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// By events, reads-from and coherence (Mazurkiewicz, Shasha-Snir).
    pub traces: FxHashSet<Class>,
    /// By events and reads-from.
    pub reads_from: FxHashSet<Class>,
    /// By values and the causal order of reads.
    pub reads_value_from: FxHashSet<ValueClass>,
    /// The same without the order of arrivals at barriers, if there are any.
    pub meetings_by_values: FxHashSet<ValueClass>,
}

impl Classes {
    /// The same if it makes no difference whether anybody uses the results of updates.
    fn with_results(&self) -> Classes {
        let plain = |classes: &FxHashSet<Class>| classes.iter().map(Class::with_results).collect();
        let by_values = |classes: &FxHashSet<ValueClass>| classes.iter().map(ValueClass::with_results).collect();
        Classes {
            traces: plain(&self.traces),
            reads_from: plain(&self.reads_from),
            reads_value_from: by_values(&self.reads_value_from),
            meetings_by_values: by_values(&self.meetings_by_values),
        }
    }
}

/// What a complete run comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// What each thread read, in order.
    pub reads: Vec<Vec<u64>>,
    /// The last values of the locations that were written.
    pub memory: BTreeMap<String, u64>,
}

/// Everything a program can do.
#[derive(Clone, Debug, Default)]
pub struct Behaviours {
    /// Runs in which every thread finishes.
    pub complete: Classes,
    /// Runs in which some thread waits for ever or an assumption fails.
    pub blocked: Classes,
    /// Runs in which some thread fails; it stays where it is, and the others go on.
    pub failed: Classes,
    /// Runs in which some loop reaches its bound.
    pub bounded: Classes,
    /// What goes wrong in some run, deadlocks included.
    pub failures: BTreeSet<Failure>,
    /// The blocked classes that are deadlocks.
    pub deadlocks: FxHashSet<Class>,
    /// What complete runs come to.
    pub outcomes: BTreeSet<Outcome>,
    /// Whether more threads come to some barrier than it is for, in one run.
    pub crowded: bool,
    /// How many states were entered.
    pub states: usize,
}

impl Behaviours {
    /// Memory at the end of complete runs.
    pub fn finals(&self) -> BTreeSet<&BTreeMap<String, u64>> {
        self.outcomes.iter().map(|outcome| &outcome.memory).collect()
    }

    /// What each thread read, in order, in complete runs.
    pub fn reads(&self) -> BTreeSet<&Vec<Vec<u64>>> {
        self.outcomes.iter().map(|outcome| &outcome.reads).collect()
    }

    /// The same if it makes no difference whether anybody uses the results of updates.
    #[must_use]
    pub fn with_results(&self) -> Behaviours {
        Behaviours {
            complete: self.complete.with_results(),
            blocked: self.blocked.with_results(),
            failed: self.failed.with_results(),
            bounded: self.bounded.with_results(),
            deadlocks: self.deadlocks.iter().map(Class::with_results).collect(),
            ..self.clone()
        }
    }

    /// How many complete classes there are by events, reads-from and coherence.
    pub fn traces(&self) -> usize {
        self.complete.traces.len()
    }

    /// How many complete classes there are by events and reads-from.
    pub fn reads_from(&self) -> usize {
        self.complete.reads_from.len()
    }

    /// How many complete classes there are by values and the causal order of reads.
    pub fn reads_value_from(&self) -> usize {
        self.complete.reads_value_from.len()
    }
}

/// Enumerates the behaviours of a program.
///
/// # Errors
/// If there are more states than the budget allows, or the machine cannot run the program.
pub fn enumerate(code: &Code, model: Model, budget: Budget) -> Result<Behaviours, TooLarge> {
    // Who starts threads first does not see who waits for one that has not been started.
    match walk(code, model, budget, !code.guesses_handles())? {
        Some(found) => Ok(found),
        None => walk(code, model, budget, false).map(|found| found.expect("only the shortcut can fail")),
    }
}

/// Walks over all states; `None` if the shortcut was asked for and cannot be taken.
fn walk<'c>(code: &'c Code, model: Model, budget: Budget, shortcut: bool) -> Result<Option<Behaviours>, TooLarge> {
    let mut arena =
        Arena { turns: (code.has_loops() && !budget.every_turn).then(|| Turns::new(code)), ..Arena::default() };
    let mut seen = FxHashSet::default();
    let mut found = Behaviours::default();
    let mut todo = Vec::new();
    // What fails is written down before states are compared: how a thread failed makes no other state.
    let enter = |state: State<'c>, todo: &mut Vec<State<'c>>, found: &mut Behaviours| {
        for thread in state.system.threads() {
            if let Status::Failed(failure) = thread.status() {
                let message = failure.message.clone();
                let property = failure.property.ok_or_else(|| TooLarge::Machine(message.clone()))?;
                found.failures.insert(Failure { property, line: code.span(failure.pc).line, message });
            }
        }
        todo.push(state);
        Ok(())
    };
    enter(State::new(code, model, budget.races), &mut todo, &mut found)?;
    while let Some(mut state) = todo.pop() {
        if !seen.insert(state.key()) {
            continue;
        }
        if seen.len() > budget.states {
            return Err(TooLarge::States(budget.states));
        }
        let moves = state.moves();
        if moves.is_empty() && shortcut && state.system.threads().any(|thread| thread.atomic_block().is_some()) {
            return Ok(None);
        }
        // Where a thread that waits could have seen something earlier, a run can be over and go on.
        if moves.is_empty() || state.system.is_over() {
            end(code, &arena, &state, &mut found);
        }
        let Some((&last, others)) = moves.split_last() else { continue };
        if let Some(&spawn) = moves.iter().find(|step| shortcut && state.starts_thread(step)) {
            state.step(&mut arena, spawn).expect("among the moves");
            enter(state, &mut todo, &mut found)?;
            continue;
        }
        for &step in others {
            let mut next = state.clone();
            next.step(&mut arena, step).expect("among the moves");
            enter(next, &mut todo, &mut found)?;
        }
        state.step(&mut arena, last).expect("among the moves");
        enter(state, &mut todo, &mut found)?;
    }
    found.states = seen.len();
    Ok(Some(found))
}

/// The end and the class of the run with this schedule, after which nothing may be left to do.
///
/// By this an engine that reports one schedule per execution can be held to the very set of classes.
///
/// # Errors
/// If the schedule is not possible, or not a whole run.
pub fn classify(code: &Code, model: Model, schedule: &Schedule) -> Result<(End, Class), String> {
    classify_values(code, model, schedule).map(|(end, class, _)| (end, class))
}

/// The same, with the values of the events.
///
/// # Errors
/// If the schedule is not possible, or not a whole run.
pub fn classify_values(
    code: &Code,
    model: Model,
    schedule: &Schedule,
) -> Result<(End, Class, Vec<Vec<Values>>), String> {
    let mut arena = Arena::default();
    let mut state = State::new(code, model, false);
    for &step in &schedule.steps {
        state.step(&mut arena, step)?;
    }
    if !state.system.is_over() {
        return Err("the schedule ends before the run does".into());
    }
    Ok(state.class(&arena))
}

fn end(code: &Code, arena: &Arena<'_>, state: &State<'_>, found: &mut Behaviours) {
    for step in state.system.racing_looks() {
        let mut system = state.system.clone();
        system.step(step).expect("it is possible");
        let thread = system.thread(step.thread()).expect("it has looked");
        let Status::Failed(failure) = thread.status() else { unreachable!("the look races") };
        let (line, message) = (code.span(failure.pc).line, failure.message.clone());
        found.failures.insert(Failure { property: Property::Race, line, message });
    }
    let (end, class, values) = state.class(arena);
    found.crowded |= is_crowded(&class, &values);
    let classes = match end {
        End::Moot => return,
        End::Complete => &mut found.complete,
        End::Blocked => &mut found.blocked,
        End::Failed => &mut found.failed,
        End::Bounded => &mut found.bounded,
    };
    classes.reads_from.insert(class.reads_from());
    classes.reads_value_from.insert(class.reads_value_from(&values));
    if code.has_barriers() && !found.crowded {
        classes.meetings_by_values.insert(class.meetings_by_values(&values));
    }
    classes.traces.insert(class.clone());
    match end {
        End::Complete => {
            let written = |event: &EventId| values[event.thread.index()][event.index as usize].written;
            let last = class.coherence.iter().filter_map(|(at, writes)| Some((*at, written(writes.last()?)?)));
            let memory = last.map(|(at, value)| (code.describe(at, &|_| None::<&Thread>), value)).collect();
            let read = |events: &Vec<Values>| events.iter().filter_map(|values| values.read).collect();
            found.outcomes.insert(Outcome { reads: values.iter().map(read).collect(), memory });
        }
        End::Blocked if state.threads.values().any(|known| known.idle.is_some()) => {
            let stuck = |thread: &Thread| matches!(thread.status(), Status::Ready(_) | Status::Finished { .. });
            if state.system.threads().all(stuck) {
                let message = "deadlock".to_owned();
                found.failures.insert(Failure { property: Property::Deadlock, line: 0, message });
                found.deadlocks.insert(class);
            }
        }
        End::Blocked => {
            if let Some((dead, _)) = deadlock(code, &state.system) {
                let property = dead.property.expect("a deadlock is a property's business");
                found.failures.insert(Failure { property, line: dead.place.line, message: dead.message });
                found.deadlocks.insert(class);
            }
        }
        _ => {}
    }
}

/// Whether more threads have come to some barrier than it is for.
fn is_crowded(class: &Class, values: &[Vec<Values>]) -> bool {
    let mut members: BTreeMap<Addr, (BTreeSet<usize>, u64)> = BTreeMap::new();
    for (thread, (events, values)) in class.threads.iter().zip(values).enumerate() {
        for (event, values) in events.iter().zip(values) {
            if let (Event::Arrive(at, ..), Some(word)) = (event, values.written) {
                let (threads, count) = members.entry(*at).or_default();
                threads.insert(thread);
                *count = word >> 32;
            }
        }
    }
    members.values().any(|(threads, count)| threads.len() as u64 > *count)
}

/// Whether loads that lead straight into an assumption are no part of a class. Code that is prepared says so itself.
fn forgets_loads(code: &Code) -> bool {
    code.forgets_loads() || !code.may_race() && !code.has_atomic_blocks()
}

/// A list with shared tails; 0 is the empty one.
type List = u32;

/// Lists by number: what is in front, and the rest. Equal lists have equal numbers.
#[derive(Default)]
struct Arena<'c> {
    /// Histories of threads. The values of events are a function of the thread and its history; two threads can have the
    /// same events with other values.
    events: Vec<(List, Event, Values)>,
    event_index: FxHashMap<(List, Event, Values), List>,
    /// Writes of a location.
    writes: Vec<(List, EventId)>,
    write_index: FxHashMap<(List, EventId), List>,
    /// What turns of loops are, if that is to be found out.
    turns: Option<Turns<'c>>,
}

impl Arena<'_> {
    fn event(&mut self, rest: List, event: Event, values: Values) -> List {
        let events = &mut self.events;
        *self.event_index.entry((rest, event, values)).or_insert_with(|| {
            events.push((rest, event, values));
            events.len() as List
        })
    }

    fn write(&mut self, rest: List, write: EventId) -> List {
        let writes = &mut self.writes;
        *self.write_index.entry((rest, write)).or_insert_with(|| {
            writes.push((rest, write));
            writes.len() as List
        })
    }

    fn history(&self, mut list: List) -> Vec<(Event, Values)> {
        let mut events = Vec::new();
        while let Some(at) = list.checked_sub(1) {
            let (rest, event, values) = self.events[at as usize];
            events.push((event, values));
            list = rest;
        }
        events.reverse();
        events
    }

    fn coherence(&self, mut list: List) -> Vec<EventId> {
        let mut writes = Vec::new();
        while let Some(at) = list.checked_sub(1) {
            let (rest, write) = self.writes[at as usize];
            writes.push(write);
            list = rest;
        }
        writes.reverse();
        writes
    }
}

/// What is known of a thread beside the machine's state.
#[derive(Clone, Debug, Default)]
struct Known {
    /// What it did.
    history: List,
    /// What it has done since its last effect.
    looks: Looks,
    /// From which of its operations on it had no effect, if it stops for that.
    idle: Option<u32>,
    /// The thread before the first of the loads that are the last it has done, and how many they are.
    loads: Option<(Rc<Thread>, usize)>,
}

#[derive(Clone, Debug)]
struct State<'c> {
    code: &'c Code,
    system: System<'c>,
    threads: BTreeMap<ThreadId, Known>,
    coherence: BTreeMap<Addr, List>,
}

impl<'c> State<'c> {
    fn new(code: &'c Code, model: Model, races: bool) -> Self {
        let system = System::new(code, model, races, false);
        State {
            code,
            system,
            threads: BTreeMap::from([(ThreadId::MAIN, Known::default())]),
            coherence: BTreeMap::new(),
        }
    }

    /// What tells this state from all others.
    fn key(&self) -> Box<[u64]> {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let mut key: Vec<u64> = self.threads.iter().map(|(thread, known)| pair(thread.0, known.history)).collect();
        key.extend(self.coherence.iter().flat_map(|(addr, &list)| [addr.0, list.into()]));
        // What was posted is in the histories, but not in which order.
        for (looper, waiting, running) in self.system.mailboxes().all() {
            key.extend([looper.0, pair(running.map_or(0, |message| message.0 + 1), waiting.len() as u32)]);
            key.extend(waiting.iter().map(|message| u64::from(message.0)));
        }
        key.into()
    }

    /// What can happen next. A thread whose turn had no effect stays where it is.
    fn moves(&self) -> Vec<Step> {
        let mut moves = self.system.moves();
        moves.retain(|step| match step {
            Step::Flush(_) | Step::FlushAt(..) => true,
            _ => self.threads[&step.thread()].idle.is_none(),
        });
        moves
    }

    fn starts_thread(&self, step: &Step) -> bool {
        let thread = self.system.thread(step.thread()).expect("threads with moves exist");
        matches!(step, Step::Run(_)) && matches!(thread.status(), Status::Ready(Visible::Spawn { mailbox: None, .. }))
    }

    fn step(&mut self, arena: &mut Arena<'_>, step: Step) -> Result<(), String> {
        let id = step.thread();
        let before = self.system.thread(id).filter(|_| arena.turns.is_some()).cloned();
        let mutex = self
            .system
            .thread(id)
            .is_some_and(|thread| matches!(thread.status(), Status::Ready(Visible::Update { mutex: true, .. })));
        let blind = self.system.thread(id).is_some_and(|thread| thread.blind_update(self.code).is_some());
        let meeting = self.system.thread(id).and_then(|thread| thread.meeting(self.code));
        let load = self.system.thread(id).filter(|thread| {
            matches!(thread.status(), Status::Ready(Visible::Load { .. })) && self.code.is_load(thread.pc())
        });
        let load = load.filter(|_| forgets_loads(self.code)).cloned();
        let record = self.system.step(step)?;
        if !matches!(record, Record::Flush { .. }) {
            let known = self.threads.get_mut(&id).expect("it has been started");
            known.loads = load.filter(|_| matches!(record, Record::Read { .. })).map(|load| match known.loads.take() {
                Some((first, count)) => (first, count + 1),
                None => (Rc::new(load), 1),
            });
        }
        if let (Some(turns), Some(before)) = (&mut arena.turns, before) {
            self.note_turn(turns, before, &record);
        }
        if let Record::Spawn(child) | Record::Post(child, _) = record {
            self.threads.insert(child, Known::default());
        }
        // Whoever fails to take a mutex learns that somebody holds it, not who.
        let value = |value: u64| if mutex { u64::from(value != 0) } else { value };
        let values = |read, written| Values { read, written };
        let mut in_memory = None;
        let next = EventId::new(id, self.system.events(id).wrapping_sub(1));
        let (event, values) = match record {
            Record::Read { access, value: read, source } => {
                let (at, from) = (access.addr, source.write());
                let leaves = meeting.is_some_and(|meeting| meeting.arrived);
                let event = if leaves { Event::Depart(at, from) } else { Event::Read(at, from) };
                (event, values(Some(value(read)), None))
            }
            Record::Write { access, value: written, buffered } => {
                if !buffered {
                    in_memory = Some((access.addr, next));
                }
                (Event::Write(access.addr), values(None, Some(value(written))))
            }
            Record::Update { access, old, new, source } => {
                in_memory = Some((access.addr, next));
                let picked = matches!(step, Step::Choose(..) | Step::ReadFrom(_, _, Some(_)))
                    .then(|| ThreadId((old & !new).trailing_zeros()));
                let (at, from) = (access.addr, source.write());
                let event = match meeting {
                    Some(meeting) => {
                        let last = (new & u64::from(u32::MAX)) % (new >> 32) == 0;
                        Event::Arrive(at, from, meeting.asks.then_some(last))
                    }
                    None if blind => Event::Blind(at, from),
                    None => Event::Update(at, from, picked),
                };
                (event, values(Some(value(old)), Some(value(new))))
            }
            Record::Fence(order) => (Event::Fence(order), Values::default()),
            Record::Spawn(child) => (Event::Spawn(child), Values::default()),
            Record::Post(message, looper) => (Event::Post(message, looper), Values::default()),
            Record::Take(_) => (Event::Take, Values::default()),
            Record::Join(child) => (Event::Join(child), Values::default()),
            Record::Choose(pick) => (Event::Choose(pick), Values::default()),
            Record::Free(at) => (Event::Free(at), Values::default()),
            Record::Atomic(begin) => (Event::Atomic(begin), Values::default()),
            Record::Flush { write, access, .. } => {
                self.reaches_memory(arena, access.addr, write);
                return Ok(());
            }
            Record::Lost(access) => (Event::Lost(access.addr), Values::default()),
            Record::Failed => (Event::Failed, Values::default()),
        };
        if let Some(orders) = self.system.orders() {
            let mut list = |writes: Vec<EventId>| writes.into_iter().fold(0, |list, write| arena.write(list, write));
            self.coherence = orders.into_iter().map(|(at, writes)| (at, list(writes))).collect();
        } else if let Some((at, write)) = in_memory {
            self.reaches_memory(arena, at, write);
        }
        let known = self.threads.get_mut(&id).expect("it has been started");
        known.history = arena.event(known.history, event, values);
        Ok(())
    }

    /// Notes what the step was for the turns of its thread.
    fn note_turn(&mut self, turns: &mut Turns<'_>, before: Thread, record: &Record) {
        let thread = before.id();
        let known = self.threads.get_mut(&thread).expect("it has been started");
        known.looks = match *record {
            Record::Read { value, .. } => looked(before, value, known.looks.take()),
            Record::Fence(_) | Record::Atomic(_) => looked(before, 0, known.looks.take()),
            Record::Flush { .. } => return,
            _ => None,
        };
        let now = self.system.thread(thread).expect("it has just moved");
        if let Status::Ready(_) = now.status() {
            known.idle = turns.idle_since(now, &known.looks);
        }
    }

    fn reaches_memory(&mut self, arena: &mut Arena<'_>, at: Addr, write: EventId) {
        let list = self.coherence.entry(at).or_default();
        *list = arena.write(*list, write);
    }

    /// Whether a thread that makes this load now, and what loads come then, is stopped by an assumption.
    fn would_stop(&self, before: &Thread) -> bool {
        let mut thread = before.clone();
        // A loop that turns without effect does so for ever.
        for _ in 0..100 {
            match *thread.status() {
                Status::Blocked(Blocked::Assume) => return true,
                Status::Ready(Visible::Load { access, .. }) if self.code.is_load(thread.pc()) => {
                    let Some(value) = self.system.look(thread.id(), access) else { return false };
                    if thread.reaction(self.code, value) == Reaction::Block {
                        return thread.is_assuming(self.code, value);
                    }
                    thread.answer(self.code, value, 0);
                }
                _ => return false,
            }
        }
        false
    }

    /// The end and the class of a run that is over, and the values of its events.
    fn class(&self, arena: &Arena<'_>) -> (End, Class, Vec<Vec<Values>>) {
        let mut end = End::Complete;
        let mut worse = |other: End| {
            let rank = |end: End| match end {
                End::Complete => 0,
                End::Blocked => 1,
                End::Bounded => 2,
                End::Failed => 3,
                End::Moot => 4,
            };
            if rank(other) > rank(end) {
                end = other;
            }
        };
        let writes = |at: Addr| self.coherence.get(&at).map(|&list| arena.coherence(list)).unwrap_or_default();
        let count = self.threads.keys().last().map_or(0, |last| last.index() + 1);
        let (mut threads, mut values) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let (mut exited, mut assumed) = (false, false);
        for (&thread, known) in &self.threads {
            let mut history = arena.history(known.history);
            let state = self.system.thread(thread).expect("known");
            let (status, since) = match known.idle {
                Some(since) => (&Status::Blocked(Blocked::Spin), since),
                None => (state.status(), state.since()),
            };
            match status {
                Status::Finished { exit, .. } => exited |= exit,
                Status::Failed(_) => worse(End::Failed),
                Status::Blocked(Blocked::LoopBound) => worse(End::Bounded),
                Status::Blocked(Blocked::Spin) => {
                    let turn = history.split_off(since as usize);
                    let stale =
                        |event: &Event| event.source().is_some_and(|(at, from)| from != writes(at).last().copied());
                    worse(if turn.iter().any(|(event, _)| stale(event)) { End::Moot } else { End::Blocked });
                }
                Status::Blocked(Blocked::Assume) | Status::Ready(_) => {
                    worse(End::Blocked);
                    if !matches!(status, Status::Ready(_)) || self.system.is_assuming(thread) {
                        assumed = true;
                        if let Some((first, count)) = &known.loads {
                            history.truncate(history.len() - count);
                            if !self.would_stop(first) {
                                worse(End::Moot);
                            }
                        }
                        history.push((Event::Stopped, Values::default()));
                    }
                }
            }
            (threads[thread.index()], values[thread.index()]) = history.into_iter().unzip();
        }
        // Who waits when the program ends waits no longer.
        if end == End::Blocked && exited && !assumed {
            end = End::Complete;
        }
        let coherence = self.coherence.iter().map(|(&at, &list)| (at, arena.coherence(list))).collect();
        (end, Class { threads, coherence }, values)
    }
}
