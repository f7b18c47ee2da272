//! What is worth noticing about a state of the machine: threads that have failed, that nothing can happen any more, that two accesses race.
//!
//! *The end of a run.* A run is over when nothing can move. A thread that turns in a loop without effect moves for ever; if all that move do so, each of
//! them can go on to the end of its turn and find again what sends it round, so that is the end as well. Whether that is a deadlock is
//! decided as the machine decides it at the end of a replay.
//!
//! *Races.* Two accesses of different threads to the same memory, one of them a write and one of them ordinary, that can both be done next: after either the
//! other comes without anything in between that could order them. If all that threads synchronise by acquires and releases, every race by
//! happens-before is found so. Take the first one of a run, and of what came before it only what happens before one of the two accesses, in the same order: every read finds what it
//! found, since its source happens before it (an atomic source synchronises with it, and an ordinary one would race), and in the end both accesses
//! are pending. Where synchronisation is weaker than that the engine does not look for races.

use crate::machine::{Concrete, Machine, own};
use crate::thread::{Pending, Shared};
use raddle_machine::memory::Memory;
use raddle_machine::{Automaton, Blocked, Failure, Reaction, Status, Visible};
use raddle_program::Ordering;
use raddle_trace::{Step, ThreadId};

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Every thread has finished, or the program was ended.
    Complete,
    /// Some thread waits for something that never comes, or an assumption is false.
    Blocked,
    /// Some loop wants to turn more often than it may.
    Bounded,
    /// Some thread has failed.
    Failed,
}

/// Threads that wait for ever.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Deadlock {
    /// Who waits, and at which instruction.
    pub waiting: Vec<(ThreadId, u32)>,
    /// Who of them turns in a loop.
    pub turning: Vec<ThreadId>,
}

/// Two accesses that race; the first is not in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Race {
    /// Who makes one of them, and at which instruction.
    pub first: (ThreadId, u32),
    /// Who makes the other one.
    pub second: (ThreadId, u32),
}

/// What is worth noticing about a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// If a run ends here, how.
    pub end: Option<End>,
    /// What threads have failed at.
    pub failures: Vec<Failure>,
    /// Who waits for ever, if that is wrong.
    pub deadlock: Option<Deadlock>,
    /// A race.
    pub race: Option<Race>,
    /// A store that found no room in its buffer.
    pub full: Option<u32>,
    /// A loop that has reached its bound.
    pub bounded: Option<u32>,
}

/// Looks at a state; `full` says that a store had to wait for room in its buffer.
pub(crate) fn notice(machine: &Machine<'_>, state: &Concrete, moves: &[Step], full: bool) -> Sight {
    let mut sight = Sight::default();
    for thread in state.threads() {
        match thread.status() {
            Status::Failed(failure) => sight.failures.push((**failure).clone()),
            Status::Blocked(Blocked::LoopBound) => sight.bounded = Some(thread.pc()),
            Status::Ready(Visible::Store { .. }) if full => sight.full = Some(thread.pc()),
            _ => {}
        }
    }
    if let Some(turning) = over(machine, state, moves).filter(|_| !full) {
        sight.end = Some(end(machine, state));
        sight.deadlock = deadlock(machine, state, turning);
    }
    if machine.races {
        sight.race = race(machine, state, moves);
    }
    sight
}

/// Whether a turn of a loop without effect may have this operation in it.
pub(crate) fn may_turn(status: &Status) -> bool {
    use Visible::{AtomicBegin, AtomicEnd, Fence, Load, Update};
    matches!(status, Status::Ready(Load { .. } | Update { .. } | Fence { .. } | AtomicBegin | AtomicEnd))
}

/// If nothing can happen any more but turns of loops without effect: whose.
fn over(machine: &Machine<'_>, state: &Concrete, moves: &[Step]) -> Option<Vec<ThreadId>> {
    let looks = |step: &Step| matches!(step, Step::Run(id) if may_turn(own(state, *id).status()));
    let turns = |step: &Step| turns_in_vain(machine, state, step.thread());
    let over = moves.iter().all(looks) && moves.iter().all(turns);
    over.then(|| moves.iter().map(|step| step.thread()).collect())
}

/// After so many looks in one turn of a loop it is not taken for one that has no effect.
const LOOKS: usize = 10_000;

/// Whether the thread, if nobody else moves, makes a turn of a loop that leaves everything as it is.
fn turns_in_vain(machine: &Machine<'_>, state: &Concrete, id: ThreadId) -> bool {
    turned(machine, state, id).is_some_and(|thread| thread == *own(state, id))
}

/// Whether nothing can happen any more but turns of loops without effect, be it that some are under way.
pub(crate) fn everybody_turns(machine: &Machine<'_>, state: &Concrete, moves: &[Step]) -> bool {
    let looks = |step: &Step| matches!(step, Step::Run(id) if may_turn(own(state, *id).status()));
    moves.iter().all(looks) && moves.iter().all(|step| turned(machine, state, step.thread()).is_some())
}

/// The thread at the beginning of a turn of a loop, if it gets there by nothing but looks behind a turn that had no effect.
fn turned(machine: &Machine<'_>, state: &Concrete, id: ThreadId) -> Option<Shared> {
    let code = machine.code;
    let mut alone = state.clone();
    for _ in 0..LOOKS {
        let looks = match *own(&alone, id).status() {
            Status::Ready(Visible::Load { .. } | Visible::Fence { .. } | Visible::AtomicBegin | Visible::AtomicEnd) => {
                true
            }
            Status::Ready(Visible::Update { access, .. }) => {
                let found = alone.look(code, id, access);
                found.is_some_and(|found| own(&alone, id).reaction(code, found.value) == Reaction::Read)
            }
            _ => false,
        };
        if !looks || alone.step(code, Step::Run(id), &mut ()).is_err() {
            return None;
        }
        if *own(&alone, id).status() == Status::Blocked(Blocked::Spin) {
            let mut thread = own(&alone, id).clone();
            thread.change().turn_again(code);
            if let Some(live) = &machine.live {
                thread.change().forget(code, live);
            }
            return Some(thread);
        }
    }
    None
}

/// Whether the thread waits before an assumption that would fail.
fn is_assuming(machine: &Machine<'_>, state: &Concrete, id: ThreadId) -> bool {
    let thread = own(state, id);
    match *thread.status() {
        Status::Ready(Visible::Load { access, wait: true, .. }) => {
            state.look(machine.code, id, access).is_some_and(|found| thread.is_assuming(machine.code, found.value))
        }
        _ => false,
    }
}

/// How a run ends that is over.
fn end(machine: &Machine<'_>, state: &Concrete) -> End {
    let (mut exited, mut assumed, mut worst) = (false, false, End::Complete);
    for thread in state.threads() {
        let end = match thread.status() {
            Status::Finished { exit, .. } => {
                exited |= exit;
                End::Complete
            }
            Status::Failed(_) => End::Failed,
            Status::Blocked(Blocked::LoopBound) => End::Bounded,
            Status::Blocked(Blocked::Assume) => {
                assumed = true;
                End::Blocked
            }
            Status::Blocked(Blocked::Spin) => End::Blocked,
            Status::Ready(_) => {
                assumed |= is_assuming(machine, state, thread.id());
                End::Blocked
            }
        };
        worst = worst.max(end);
    }
    // Who waits when the program ends waits no longer.
    if worst == End::Blocked && exited && !assumed { End::Complete } else { worst }
}

/// Who waits for ever in a run that is over, if that is a deadlock.
fn deadlock(machine: &Machine<'_>, state: &Concrete, turning: Vec<ThreadId>) -> Option<Deadlock> {
    let mut waiting = Vec::new();
    for thread in state.threads() {
        match thread.status() {
            Status::Finished { exit: false, .. } => continue,
            Status::Finished { exit: true, .. } | Status::Failed(_) => return None,
            // It says nothing about the program: it is cut off.
            Status::Blocked(Blocked::Assume | Blocked::LoopBound) => return None,
            Status::Ready(_) if is_assuming(machine, state, thread.id()) => return None,
            Status::Blocked(Blocked::Spin) | Status::Ready(_) => waiting.push((thread.id(), thread.pc())),
        }
    }
    (!waiting.is_empty()).then_some(Deadlock { waiting, turning })
}

/// Two accesses that can both be done next and race.
fn race(machine: &Machine<'_>, state: &Concrete, moves: &[Step]) -> Option<Race> {
    let pending: Vec<Pending> =
        state.threads().filter_map(|thread| pending(machine, state, moves, thread.id())).collect();
    let conflict = |one: &Pending, other: &Pending| {
        (one.writes || other.writes) && !(one.atomic && other.atomic) && one.access.overlaps(other.access)
    };
    for (at, one) in pending.iter().enumerate() {
        if let Some(other) = pending[at + 1..].iter().find(|other| conflict(one, other)) {
            // Who looks in vain writes nothing, so one of the two does not.
            let (first, second) = if one.in_vain { (other, one) } else { (one, other) };
            let at = |pending: &Pending| (pending.thread, own(state, pending.thread).pc());
            return Some(Race { first: at(first), second: at(second) });
        }
    }
    None
}

/// The access that a thread can make next, if there is memory for it.
fn pending(machine: &Machine<'_>, state: &Concrete, moves: &[Step], id: ThreadId) -> Option<Pending> {
    let thread = own(state, id);
    let Status::Ready(visible) = *thread.status() else { return None };
    let can_run = moves.iter().any(|step| matches!(step, Step::Run(who) | Step::Choose(who, _) if *who == id));
    let memory = state.memory();
    let of = |access, writes, order: Ordering, in_vain| {
        let atomic = order != Ordering::NonAtomic;
        Some(Pending { thread: id, access, writes, atomic, in_vain })
    };
    match visible {
        Visible::Store { access, order, .. } if can_run && state.has(machine.code, access) => {
            of(access, true, order, false)
        }
        Visible::Load { access, order, wait } => {
            state.look(machine.code, id, access)?;
            let in_vain = !can_run && wait && !memory.is_held(id);
            if can_run || in_vain { of(access, false, order, in_vain) } else { None }
        }
        Visible::Update { access, order, failure, wait, .. } => {
            let found = state.look(machine.code, id, access)?;
            match thread.reaction(machine.code, found.value) {
                Reaction::Write(_) | Reaction::Pick(_) if can_run => of(access, true, order, false),
                Reaction::Read if can_run => of(access, false, failure, false),
                Reaction::Block if wait && !memory.is_held(id) && memory.is_settled(id) => {
                    of(access, false, failure, true)
                }
                _ => None,
            }
        }
        _ => None,
    }
}
