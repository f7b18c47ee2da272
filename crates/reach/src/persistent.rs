//! Persistent sets: threads of which it is enough to follow the moves, for now.
//!
//! A set of moves is persistent if nothing that the others do, now or later, can depend on them or bear on them (Godefroid 1996). A thread and what it has on its way count as one here. Beginning with a thread that can move, whoever may come to access what one of the set
//! accesses next, one of the two writing, is taken in, whether the access is possible yet or not; and a thread that one of the set waits for. What a thread may come to access is known from the code ([footprints](crate::footprint)), from where it is and from where it returns to,
//! with what it has on its way. The smallest of the sets that the threads lead to is taken (section 12.3 of our notes on Calin 2016; the version there that looks at moves that are possible now alone is wrong).
//!
//! *Cycles.* Where nothing that follows by such a set is new, everything is followed: see [`search`](mod@crate::search). From every state comes, by states each met later than the one before, one of which everything is followed. So a run that leads to a failed thread
//! gets there, in an order that may be another one: the set's first move in it comes to its front and it is shorter, or none is in it, and it is possible behind a move of the set whose end is new.
//!
//! *What is kept.* What concerns one thread alone: that it fails, or finds its buffer full. That two accesses race: neither is passed without the other, since they conflict. States in which nothing can move. Where all that can move turn in loops in vain, everything is
//! followed, so that they are found at the beginnings of these turns as well, where a run is seen to be over.
//!
//! Cost: the square of the number of threads per state, on a bit each, as [`memo`](crate::memo) remembers which accesses meet.

use crate::footprint::{Footprint, Footprints};
use crate::machine::Machine;
use crate::thread::Shared;
use raddle_machine::memory::{Memory, Outgoing};
use raddle_machine::{AnyMemory, Automaton, Status, Visible};
use raddle_trace::ThreadId;
use smallvec::SmallVec;

/// What is accessed next, and what may be from now on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reach {
    next: Footprint,
    future: Footprint,
}

impl Reach {
    /// Whether what the other one accesses, now or later, may bear on what this one does next.
    pub(crate) fn meets(&self, other: &Reach) -> bool {
        self.next.conflicts(&other.future)
    }
}

/// A thread with what it has on its way; `R` says what each accesses.
#[derive(Debug)]
pub(crate) struct Process<R> {
    /// Of the thread itself.
    pub(crate) runs: R,
    /// Of what it has on its way.
    pub(crate) arrives: Option<R>,
    /// Whose end it waits for, if that is one of the processes.
    pub(crate) waits_for: Option<usize>,
    /// How many moves there are.
    pub(crate) moves: u32,
}

/// Some of at most 64 threads.
pub(crate) type Set = u64;

/// Of the thread itself.
pub(crate) fn of_thread(machine: &Machine<'_>, footprints: &Footprints, thread: &Shared) -> Reach {
    let (mut next, mut future) = (footprints.none(), footprints.none());
    let Status::Ready(visible) = *thread.status() else { return Reach { next, future } };
    future.join(footprints.from(thread.pc()));
    thread.returns().for_each(|pc| {
        future.join(footprints.from(pc));
    });
    match visible {
        // It goes into the buffer, where there is memory for it as long as the program runs. Races are between those who are about to access.
        Visible::Store { access, .. }
            if machine.keeps() && !machine.races && machine.sizes.contains_key(&access.addr.base()) => {}
        Visible::Load { access, .. } => next = footprints.access(access, false),
        Visible::Store { access, .. } | Visible::Update { access, .. } => next = footprints.access(access, true),
        Visible::Free { .. } => next = footprints.of_threads(),
        Visible::Join { .. } => next = footprints.wait(),
        Visible::Fence { .. } | Visible::Choose { .. } | Visible::Spawn { .. } => {}
        Visible::Take { .. } | Visible::AtomicBegin | Visible::AtomicEnd => unreachable!("such programs are refused"),
    }
    future.join(&next);
    Reach { next, future }
}

/// Whose end a thread waits for.
pub(crate) fn waits_for(thread: &Shared) -> Option<ThreadId> {
    match *thread.status() {
        Status::Ready(Visible::Join { thread }) => Some(thread),
        _ => None,
    }
}

/// Of what a thread has on its way.
pub(crate) fn of_outgoing(
    machine: &Machine<'_>,
    footprints: &Footprints,
    thread: ThreadId,
    outgoing: &Outgoing,
) -> Reach {
    let (mut next, mut future) = (footprints.none(), footprints.none());
    let mut memory = AnyMemory::of(machine.model, machine.memory.clone());
    memory.set_outgoing(thread, outgoing.clone());
    let mut steps = Vec::new();
    memory.moves(thread, &mut steps);
    let leaving: SmallVec<[usize; 4]> = steps.into_iter().filter_map(|step| memory.leaving(step)).collect();
    for (at, store) in outgoing.stores().iter().enumerate() {
        let access = footprints.access(store.access, true);
        if leaving.contains(&at) {
            next.join(&access);
        }
        future.join(&access);
    }
    Reach { next, future }
}

/// Which threads to follow; none where those are all that can move, or they are too many to be told apart by a word.
pub(crate) fn smallest<R: Copy>(processes: &[Process<R>], mut meets: impl FnMut(R, R) -> bool) -> Option<Set> {
    if processes.len() > Set::BITS as usize {
        return None;
    }
    let mut depends = |one: &Process<R>, other: &Process<R>| {
        meets(one.runs, other.runs)
            || other.arrives.is_some_and(|other| meets(one.runs, other))
            || one
                .arrives
                .is_some_and(|own| meets(own, other.runs) || other.arrives.is_some_and(|other| meets(own, other)))
    };
    // Whom one takes in is the same whoever it was begun with.
    let mut taken: SmallVec<[Option<Set>; 16]> = SmallVec::from_elem(None, processes.len());
    let mut least = processes.iter().map(|process| process.moves).sum();
    let mut best = None;
    for start in (0..processes.len()).filter(|&at| processes[at].moves > 0) {
        let (mut set, mut todo): (Set, Set) = (1 << start, 1 << start);
        let mut moves = 0;
        while todo != 0 {
            let member = todo.trailing_zeros() as usize;
            moves += processes[member].moves;
            let takes = *taken[member].get_or_insert_with(|| {
                let mut takes = processes[member].waits_for.map_or(0, |at| 1 << at);
                for (at, other) in processes.iter().enumerate() {
                    takes |= Set::from(depends(&processes[member], other)) << at;
                }
                takes
            });
            todo = (todo & (todo - 1)) | (takes & !set);
            set |= takes;
        }
        if moves < least {
            (least, best) = (moves, Some(set));
        }
    }
    best
}
