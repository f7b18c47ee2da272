//! Moves of the machine, each worked out once.
//!
//! What a thread does next depends on little of a state: on the thread, on the cell of memory that it accesses and on what it has on its way; and it changes no more than that. So moves are remembered
//! by the numbers of these parts, and following a state means to look its moves up and to exchange numbers in its list (Blom, van de Pol and Weber 2010: transitions cached by what they depend on). A move that is not
//! known yet is made by the machine itself, on a state that consists of these parts alone: there is no second account of what programs do. Moves that depend on more (threads that start or have ended, memory that
//! does not live for ever, atomic blocks) are made on the whole state each time.
//!
//! What is worth noticing about a state is noticed by `notice`, for which the whole state is put together; but only if what is known of its parts does not say already that there is nothing.
//!
//! Debug builds compare with what the machine says about the whole state: the first states each, then some. Measured (three mutual exclusions of `bench/spin`, one core): seven to ten times as many states in a second
//! as by making every move on the whole state, and about twice as many as the verifiers that SPIN compiles.

mod actors;
mod meetings;
pub(crate) mod sketch;

pub(crate) use actors::{Accessed, Actor, Whose};
use meetings::Meetings;

use crate::machine::{Concrete, Machine, Piece};
use crate::parts::{Numbers, Settled, is_own};
use crate::persistent::{self, Process, Set};
use crate::semantics::{Breadth, Expanded, Remembers, Semantics};
use crate::sight::{Sight, everybody_turns, notice};
use raddle_machine::Addr;
use raddle_trace::{Step, ThreadId};
use rustc_hash::FxHashMap;
use sketch::{Needs, Sketch, ThreadSketch, alone, may_race, sketch};
use smallvec::SmallVec;

/// The number of a part that is not there.
pub(crate) const NONE: u32 = u32::MAX;

/// Moves that have been worked out.
#[derive(Debug, Default)]
pub struct Memo {
    /// What is known of parts, by number.
    sketches: Vec<Option<Sketch>>,
    /// What is accessed by threads and by what is on its way, if that is asked for.
    meetings: Meetings,
    /// The next operation of a thread: by the thread, the cell and what is on its way.
    operations: FxHashMap<[u32; 3], u32>,
    /// The arrival of a store: by what is on its way, the cell, and which one of those that can arrive.
    arrivals: FxHashMap<[u32; 3], u32>,
    entries: Vec<Entry>,
    /// From here on, entries have numbers of the batch.
    settled: usize,
    planned: Vec<Planned>,
    list: Vec<u32>,
    /// How many states were followed.
    followed: u64,
}

/// What is known of an operation or an arrival.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// It depends on more than was thought.
    whole: bool,
    /// A store finds no room.
    full: bool,
    outcomes: SmallVec<[Outcome; 1]>,
}

/// What becomes of the parts.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    thread: u32,
    cell: u32,
    outgoing: u32,
}

/// A place in the list of a state: of a part, or where it would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) at: u32,
    pub(crate) part: u32,
}

/// What can happen next.
#[derive(Clone, Copy, Debug)]
struct Planned {
    thread: ThreadId,
    /// Where the thread is in the list.
    at: u32,
    /// Whether the thread runs, or something arrives.
    runs: bool,
    /// Where it arrives, if that says which one.
    place: u64,
    looks: bool,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    /// Parts are exchanged.
    Exchange { thread: u32, cell: Option<Spot>, addr: Option<Addr>, outgoing: Spot, outcome: Outcome },
    /// The machine makes the step.
    Step(Step),
}

impl Remembers for Memo {
    fn settle(&mut self, settled: &Settled) {
        for entry in &mut self.entries[self.settled..] {
            for Outcome { thread, cell, outgoing } in &mut entry.outcomes {
                for part in [thread, cell, outgoing] {
                    if *part != NONE {
                        *part = settled.number(*part);
                    }
                }
            }
        }
        self.settled = self.entries.len();
    }
}

impl Memo {
    /// What is known of a part.
    fn sketch(&mut self, machine: &Machine<'_>, numbers: &Numbers<'_, Piece>, part: u32) {
        let at = part as usize;
        if self.sketches.len() <= at {
            self.sketches.resize(at + 1, None);
        }
        if self.sketches[at].is_none() {
            self.sketches[at] = Some(sketch(machine, numbers.get(part)));
            if let Some(footprints) = &machine.footprints {
                match numbers.get(part) {
                    Piece::Thread(thread) => {
                        self.meetings.add(part, persistent::of_thread(machine, footprints, thread))
                    }
                    Piece::Outgoing(id, outgoing) => {
                        self.meetings.add(part, persistent::of_outgoing(machine, footprints, *id, outgoing));
                    }
                    _ => {}
                }
            }
        }
    }

    fn known(&self, part: u32) -> &Sketch {
        self.sketches[part as usize].as_ref().expect("it was looked at")
    }

    fn thread(&self, part: u32) -> &ThreadSketch {
        match self.known(part) {
            Sketch::Thread(thread) => thread,
            _ => unreachable!("threads come first"),
        }
    }

    /// Where a cell is in the list, or would be; what stands before `start` is none.
    fn cell(&self, list: &[u32], start: usize, addr: Addr) -> Spot {
        for (at, &part) in list.iter().enumerate().skip(start) {
            match *self.known(part) {
                Sketch::Memory(here) if here < addr => {}
                Sketch::Memory(here) if here == addr => return Spot { at: at as u32, part },
                _ => return Spot { at: at as u32, part: NONE },
            }
        }
        Spot { at: list.len() as u32, part: NONE }
    }

    /// Where in the list is what a thread has on its way, or would be.
    fn outgoing(&self, list: &[u32], start: usize, id: ThreadId) -> Spot {
        for (at, &part) in list.iter().enumerate().skip(start) {
            match *self.known(part) {
                Sketch::Outgoing { thread, .. } if thread == id => return Spot { at: at as u32, part },
                Sketch::Outgoing { thread, .. } if thread > id => return Spot { at: at as u32, part: NONE },
                _ => {}
            }
        }
        Spot { at: list.len() as u32, part: NONE }
    }
}

/// What becomes of the parts of a state that consists of a thread, a cell and what is on its way; `None` if that is not all.
fn outcome(
    machine: &Machine<'_>,
    numbers: &mut Numbers<'_, Piece>,
    mut next: Concrete,
    addr: Option<Addr>,
) -> Option<Outcome> {
    if next.threads().any(|thread| thread.has_waited()) {
        return None;
    }
    machine.tidy(&mut next);
    let mut outcome = Outcome { thread: NONE, cell: NONE, outgoing: NONE };
    let mut more = !next.ended().is_empty() || next.atomic().is_some();
    machine.split(&next, &mut |piece| match piece {
        Piece::Thread(_) => {
            more |= outcome.thread != NONE;
            outcome.thread = numbers.number(piece);
        }
        Piece::Cell(access, _) => {
            more |= addr != Some(access.addr);
            outcome.cell = numbers.number(piece);
        }
        Piece::Outgoing(..) => {
            more |= outcome.outgoing != NONE;
            outcome.outgoing = numbers.number(piece);
        }
        Piece::Rest(_) => {}
        Piece::Object(..) => more = true,
    });
    (!more).then_some(outcome)
}

/// The state of a list, put together when it is asked for.
struct Whole<'w, 'c> {
    machine: &'w Machine<'c>,
    list: &'w [u32],
    state: Option<Concrete>,
}

impl Whole<'_, '_> {
    fn state(&mut self, numbers: &Numbers<'_, Piece>) -> &Concrete {
        let Whole { machine, list, state } = self;
        state.get_or_insert_with(|| machine.join(&mut list.iter().map(|&part| numbers.get(part))))
    }
}

/// Follows the state that is made of these parts.
pub(crate) fn recall(
    machine: &Machine<'_>,
    memo: &mut Memo,
    numbers: &mut Numbers<'_, Piece>,
    list: &[u32],
    breadth: Breadth,
    next: &mut dyn FnMut(u16, &[u32]),
) -> Option<Expanded<Sight>> {
    // What a looper takes depends on its mailbox.
    if machine.code.has_mailboxes() {
        return None;
    }
    for &part in list {
        memo.sketch(machine, numbers, part);
    }
    let rest = list.iter().position(|&part| matches!(memo.known(part), Sketch::Rest { .. }))?;
    if matches!(memo.known(list[rest]), Sketch::Rest { atomic: true }) {
        return None;
    }
    let mut whole = Whole { machine, list, state: None };
    let mut planned = std::mem::take(&mut memo.planned);
    planned.clear();
    let mut full = false;
    for at in 0..rest {
        plan(machine, memo, numbers, &mut whole, (at, rest), &mut planned, &mut full);
    }
    if planned.len() > usize::from(u16::MAX) {
        memo.planned = planned;
        return None;
    }
    let all_look = planned.iter().all(|one| one.runs && one.looks);
    let over = all_look && !planned.iter().any(|one| moves_on(machine, memo, numbers, (list, rest), one));
    let arrives_safely = |id: ThreadId| {
        let outgoing = memo.outgoing(list, rest + 1, id);
        let stores = (outgoing.part != NONE).then(|| memo.known(outgoing.part));
        !matches!(stores, Some(Sketch::Outgoing { stores, .. }) if stores.contains(&None))
    };
    let local = |one: &&Planned| one.runs && memo.thread_of(list, rest, one.thread).local && arrives_safely(one.thread);
    let alone = planned.iter().find(local).map(|one| one.thread);
    let enough = breadth == Breadth::Enough && planned.len() > 1;
    let alone = alone.filter(|_| enough && machine.local);
    let threads = || list[..rest].iter().map(|&part| memo.thread(part));
    // Whatever could be wrong with the state shows in its parts; then the whole of it is looked at.
    let noticed = full || over || threads().any(|thread| thread.odd) || (machine.races && may_race(threads()));
    let sight = if noticed {
        let state = whole.state(numbers);
        let (moves, full) = machine.moves(state);
        notice(machine, state, &moves, full)
    } else {
        Sight::default()
    };
    let set = if enough && alone.is_none() && machine.footprints.is_some() {
        let turn = over && {
            let state = whole.state(numbers);
            everybody_turns(machine, state, &machine.moves(state).0)
        };
        if turn { None } else { memo.persistent(machine, list, rest, &planned) }
    } else {
        None
    };
    let mut after = std::mem::take(&mut memo.list);
    let mut left_out = false;
    for (number, one) in planned.iter().enumerate() {
        if alone.is_some_and(|alone| !one.runs || one.thread != alone) || set.is_some_and(|set| set >> one.at & 1 == 0)
        {
            left_out = true;
            continue;
        }
        follow(one, &mut whole, numbers, &mut after);
        next(number as u16, &after);
    }
    memo.list = after;
    memo.planned = planned;
    memo.followed += 1;
    Some(Expanded { sight, reduced: left_out })
}

impl Memo {
    fn thread_of(&self, list: &[u32], rest: usize, id: ThreadId) -> &ThreadSketch {
        let mut threads = list[..rest].iter().map(|&part| self.thread(part));
        threads.find(|thread| thread.id == id).expect("it is there")
    }

    /// Which of the threads of a state are a persistent set, if that is less than all.
    fn persistent(&mut self, machine: &Machine<'_>, list: &[u32], rest: usize, planned: &[Planned]) -> Option<Set> {
        let place = |id: ThreadId| list[..rest].iter().position(|&part| self.thread(part).id == id);
        let mut moves: SmallVec<[u32; 16]> = SmallVec::from_elem(0, rest);
        planned.iter().for_each(|one| moves[one.at as usize] += 1);
        let keeps = machine.keeps();
        let process = |(at, &part): (usize, &u32)| {
            let thread = self.thread(part);
            let outgoing = if keeps { self.outgoing(list, rest + 1, thread.id).part } else { NONE };
            Process {
                runs: self.meetings.class(part),
                arrives: (outgoing != NONE).then(|| self.meetings.class(outgoing)),
                waits_for: match thread.needs {
                    Needs::End(child) => place(child),
                    _ => None,
                },
                moves: moves[at],
            }
        };
        let processes: SmallVec<[Process<u32>; 16]> = list[..rest].iter().enumerate().map(process).collect();
        persistent::smallest(&processes, |one, other| self.meetings.meets(one, other))
    }

    /// Whether to compare with what the machine says about the whole state.
    pub(crate) fn is_doubted(&self) -> bool {
        cfg!(debug_assertions) && (self.followed < 100 || self.followed.is_multiple_of(16))
    }
}

/// What one thread can do in the state that is made of these parts, and what can arrive of it. `None` if that cannot be told of it alone.
pub(crate) fn recall_one(
    machine: &Machine<'_>,
    memo: &mut Memo,
    numbers: &mut Numbers<'_, Piece>,
    list: &[u32],
    id: ThreadId,
    next: &mut dyn FnMut(&[u32]),
) -> Option<()> {
    for &part in list {
        memo.sketch(machine, numbers, part);
    }
    let rest = list.iter().position(|&part| matches!(memo.known(part), Sketch::Rest { .. }))?;
    let at = list[..rest].iter().position(|&part| memo.thread(part).id == id);
    let mut whole = Whole { machine, list, state: None };
    let (mut planned, mut full) = (std::mem::take(&mut memo.planned), false);
    planned.clear();
    if let Some(at) = at {
        plan(machine, memo, numbers, &mut whole, (at, rest), &mut planned, &mut full);
    }
    let mut after = std::mem::take(&mut memo.list);
    for one in &planned {
        follow(one, &mut whole, numbers, &mut after);
        next(&after);
    }
    memo.list = after;
    memo.planned = planned;
    Some(())
}

/// After so many looks it is not known whether a thread makes a turn of a loop in vain.
pub(crate) const LOOKS: usize = 16;

/// Whether a thread that looks at memory, and may be at a turn of a loop in vain, is known to be at none: alone it comes to something else than a look. `false` if that takes a look at the whole state.
fn moves_on(
    machine: &Machine<'_>,
    memo: &mut Memo,
    numbers: &mut Numbers<'_, Piece>,
    (list, rest): (&[u32], usize),
    one: &Planned,
) -> bool {
    let How::Exchange { thread, cell, outgoing, mut outcome, .. } = one.how else { return false };
    if outgoing.part != NONE {
        return false;
    }
    let mut cell = cell.map_or(NONE, |cell| cell.part);
    for _ in 0..LOOKS {
        let part = outcome.thread;
        if outcome.outgoing != NONE || outcome.cell != cell {
            return true;
        }
        if part == list[thread as usize] || is_own(part) {
            return false;
        }
        memo.sketch(machine, numbers, part);
        let next = *memo.thread(part);
        if !next.looks {
            return true;
        }
        let addr = match next.needs {
            Needs::Cell(addr) => Some(addr),
            Needs::Nothing => None,
            _ => return false,
        };
        cell = addr.map_or(NONE, |addr| memo.cell(list, rest + 1, addr).part);
        let entry = operation(machine, memo, numbers, (part, NONE, cell), addr);
        let Entry { whole: false, outcomes, .. } = &memo.entries[entry as usize] else { return false };
        let &[only] = &outcomes[..] else { return false };
        outcome = only;
    }
    false
}

/// The parts of the state that a planned move leads to.
fn follow(one: &Planned, whole: &mut Whole<'_, '_>, numbers: &mut Numbers<'_, Piece>, after: &mut Vec<u32>) {
    after.clear();
    match one.how {
        How::Exchange { thread, cell, outgoing, outcome, .. } => {
            exchange(whole.list, thread, cell, outgoing, outcome, after);
        }
        How::Step(step) => {
            let machine = whole.machine;
            let state = machine.after(whole.state(numbers), step);
            machine.split(&state, &mut |piece| after.push(numbers.number(piece)));
        }
    }
}

/// What the thread at this place of the list can do next, and what can arrive of what it has on its way.
fn plan(
    machine: &Machine<'_>,
    memo: &mut Memo,
    numbers: &mut Numbers<'_, Piece>,
    whole: &mut Whole<'_, '_>,
    (at, rest): (usize, usize),
    planned: &mut Vec<Planned>,
    full: &mut bool,
) {
    let list = whole.list;
    let part = list[at];
    let thread = *memo.thread(part);
    let id = thread.id;
    let outgoing = memo.outgoing(list, rest + 1, id);
    if outgoing.part != NONE {
        let Sketch::Outgoing { leaving, .. } = memo.known(outgoing.part).clone() else {
            unreachable!("it was found as such")
        };
        for (nth, (step, addr)) in leaving.into_iter().enumerate() {
            let cell = addr.map(|addr| memo.cell(list, rest + 1, addr));
            let place = match step {
                Step::FlushAt(_, place) => place,
                _ => 0,
            };
            let arrives = |how| Planned { thread: id, at: at as u32, runs: false, place, looks: false, how };
            let Some(cell) = cell else {
                planned.push(arrives(How::Step(step)));
                continue;
            };
            let entry = arrival(machine, memo, numbers, (part, outgoing.part, cell.part), (nth, step, addr));
            let how = match &memo.entries[entry as usize] {
                Entry { whole: false, outcomes, .. } => How::Exchange {
                    thread: at as u32,
                    cell: Some(cell),
                    addr,
                    outgoing,
                    outcome: Outcome { thread: part, ..outcomes[0] },
                },
                _ => How::Step(step),
            };
            planned.push(arrives(how));
        }
    }
    let runs = |how| Planned { thread: id, at: at as u32, runs: true, place: 0, looks: thread.looks, how };
    let (needs_whole, cell) = match thread.needs {
        Needs::NoMove => return,
        Needs::End(child) => {
            let of_child = list[..rest].iter().map(|&part| memo.thread(part)).find(|thread| thread.id == child);
            if of_child.is_some_and(|child| !child.finished) {
                return;
            }
            (true, None)
        }
        Needs::Whole => (true, None),
        Needs::Nothing => (false, None),
        Needs::Cell(addr) => (false, Some(memo.cell(list, rest + 1, addr))),
    };
    if !needs_whole {
        let addr = match thread.needs {
            Needs::Cell(addr) => Some(addr),
            _ => None,
        };
        let cell_part = cell.map_or(NONE, |cell| cell.part);
        let entry = operation(machine, memo, numbers, (part, outgoing.part, cell_part), addr);
        let entry = &memo.entries[entry as usize];
        if !entry.whole {
            *full |= entry.full;
            planned.extend(
                entry
                    .outcomes
                    .iter()
                    .map(|&outcome| runs(How::Exchange { thread: at as u32, cell, addr, outgoing, outcome })),
            );
            return;
        }
    }
    let (moves, refused) = machine.moves(whole.state(numbers));
    *full |= refused;
    let own = moves.into_iter().filter(|step| step.thread() == id && matches!(step, Step::Run(_) | Step::Choose(..)));
    planned.extend(own.map(|step| runs(How::Step(step))));
}

/// What is known of the next operation of a thread; what is not is found out.
fn operation(
    machine: &Machine<'_>,
    memo: &mut Memo,
    numbers: &mut Numbers<'_, Piece>,
    (thread, outgoing, cell): (u32, u32, u32),
    addr: Option<Addr>,
) -> u32 {
    if let Some(&entry) = memo.operations.get(&[thread, outgoing, cell]) {
        return entry;
    }
    let state = parts_alone(machine, numbers, (thread, outgoing, cell));
    let (moves, full) = machine.moves(&state);
    let mut entry = Entry { full, ..Entry::default() };
    for step in moves.into_iter().filter(|step| matches!(step, Step::Run(_) | Step::Choose(..))) {
        add(machine, numbers, &state, step, addr, &mut entry);
    }
    let number = memo.entries.len() as u32;
    memo.entries.push(entry);
    memo.operations.insert([thread, outgoing, cell], number);
    number
}

/// What is known of the arrival of a store; what is not is found out.
fn arrival(
    machine: &Machine<'_>,
    memo: &mut Memo,
    numbers: &mut Numbers<'_, Piece>,
    (thread, outgoing, cell): (u32, u32, u32),
    (nth, step, addr): (usize, Step, Option<Addr>),
) -> u32 {
    let key = [outgoing, cell, nth as u32];
    if let Some(&entry) = memo.arrivals.get(&key) {
        return entry;
    }
    let state = parts_alone(machine, numbers, (thread, outgoing, cell));
    let mut entry = Entry::default();
    add(machine, numbers, &state, step, addr, &mut entry);
    let number = memo.entries.len() as u32;
    memo.entries.push(entry);
    memo.arrivals.insert(key, number);
    number
}

fn parts_alone(
    machine: &Machine<'_>,
    numbers: &Numbers<'_, Piece>,
    (thread, outgoing, cell): (u32, u32, u32),
) -> Concrete {
    let part = |number: u32| (number != NONE).then(|| numbers.get(number));
    let Piece::Thread(thread) = numbers.get(thread) else { unreachable!("it is one") };
    alone(machine, thread.clone(), part(cell), part(outgoing))
}

/// Adds what a step leads to.
fn add(
    machine: &Machine<'_>,
    numbers: &mut Numbers<'_, Piece>,
    state: &Concrete,
    step: Step,
    addr: Option<Addr>,
    entry: &mut Entry,
) {
    let mut next = state.clone();
    next.step(machine.code, step, &mut ()).expect("it is among the moves");
    match outcome(machine, numbers, next, addr) {
        Some(outcome) => entry.outcomes.push(outcome),
        None => entry.whole = true,
    }
}

/// The list with parts exchanged.
fn exchange(list: &[u32], thread: u32, cell: Option<Spot>, outgoing: Spot, outcome: Outcome, after: &mut Vec<u32>) {
    // Cells stand before what is on its way, so places behind are still good when the later one is done first.
    after.extend_from_slice(list);
    after[thread as usize] = outcome.thread;
    put(after, outgoing, outcome.outgoing);
    if let Some(cell) = cell {
        put(after, cell, outcome.cell);
    }
}

pub(crate) fn put(list: &mut Vec<u32>, Spot { at, part }: Spot, new: u32) {
    match (part, new) {
        (NONE, NONE) => {}
        (NONE, new) => list.insert(at as usize, new),
        (_, NONE) => {
            list.remove(at as usize);
        }
        (_, new) => list[at as usize] = new,
    }
}
