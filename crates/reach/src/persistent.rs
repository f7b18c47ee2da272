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
//! Cost: the square of the number of threads per state, on a few words each.

use crate::footprint::{Footprint, Footprints};
use crate::machine::Machine;
use crate::thread::Shared;
use raddle_machine::memory::{Memory, Outgoing};
use raddle_machine::{AnyMemory, Automaton, Status, Visible};
use raddle_trace::ThreadId;
use smallvec::{SmallVec, smallvec};

/// What is accessed next, and what may be from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    next: Footprint,
    future: Footprint,
}

/// A thread with what it has on its way.
#[derive(Debug)]
pub(crate) struct Process<'r> {
    /// Of the thread itself.
    pub(crate) runs: &'r Reach,
    /// Of what it has on its way.
    pub(crate) arrives: Option<&'r Reach>,
    /// Whose end it waits for.
    pub(crate) waits_for: Option<ThreadId>,
    /// How many moves there are.
    pub(crate) moves: usize,
}

impl Process<'_> {
    /// Whether what another one accesses, now or later, may bear on what this one does next.
    fn depends(&self, other: &Process<'_>) -> bool {
        let meets = |one: &Reach| {
            one.next.conflicts(&other.runs.future)
                || other.arrives.is_some_and(|arrives| one.next.conflicts(&arrives.future))
        };
        meets(self.runs) || self.arrives.is_some_and(meets)
    }
}

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

/// Which threads to follow; none where those are all that can move. `place` says where in the list a thread is.
pub(crate) fn smallest(
    processes: &[Process<'_>],
    place: impl Fn(ThreadId) -> Option<usize>,
) -> Option<SmallVec<[bool; 16]>> {
    let all: usize = processes.iter().map(|process| process.moves).sum();
    let mut best: Option<(usize, SmallVec<[bool; 16]>)> = None;
    // Whom one takes in is the same whoever it was begun with.
    let mut taken: SmallVec<[SmallVec<[usize; 8]>; 8]> = smallvec![SmallVec::new(); processes.len()];
    let mut is_known: SmallVec<[bool; 16]> = smallvec![false; processes.len()];
    for start in (0..processes.len()).filter(|&at| processes[at].moves > 0) {
        let mut set: SmallVec<[bool; 16]> = smallvec![false; processes.len()];
        let mut todo: SmallVec<[usize; 16]> = smallvec![start];
        set[start] = true;
        while let Some(member) = todo.pop() {
            if !std::mem::replace(&mut is_known[member], true) {
                let awaited = processes[member].waits_for.and_then(&place);
                let takes = |at: &usize| awaited == Some(*at) || processes[member].depends(&processes[*at]);
                taken[member] = (0..processes.len()).filter(takes).collect();
            }
            for &at in &taken[member] {
                if !set[at] {
                    set[at] = true;
                    todo.push(at);
                }
            }
        }
        let moves = processes.iter().zip(&set).filter(|(_, is_in)| **is_in).map(|(process, _)| process.moves).sum();
        if moves < best.as_ref().map_or(all, |(least, _)| *least) {
            best = Some((moves, set));
        }
    }
    best.map(|(_, set)| set)
}
