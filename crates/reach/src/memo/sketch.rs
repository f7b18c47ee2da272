//! What the numbers of parts stand for, as far as moves are looked up by them.

use crate::machine::{Concrete, Machine, Piece, cell_of};
use crate::sight::may_turn;
use crate::thread::Shared;
use raddle_machine::memory::Memory;
use raddle_machine::{Access, Addr, AnyMemory, Automaton, Blocked, Ended, Mailboxes, State, Status, Visible};
use raddle_program::Ordering;
use raddle_trace::{Step, ThreadId};
use smallvec::SmallVec;

/// What is known of a part.
#[derive(Clone, Debug)]
pub(crate) enum Sketch {
    Thread(ThreadSketch),
    Rest {
        atomic: bool,
    },
    Memory(Addr),
    /// What can arrive, with the cells that it is to; and the cells that all of it is to.
    Outgoing {
        thread: ThreadId,
        leaving: SmallVec<[(Step, Option<Addr>); 1]>,
        stores: SmallVec<[Option<Addr>; 1]>,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadSketch {
    pub(crate) id: ThreadId,
    pub(crate) needs: Needs,
    /// What it does next nobody can notice or prevent.
    pub(crate) local: bool,
    /// What it does next may be part of a turn of a loop that has no effect.
    pub(crate) looks: bool,
    /// Something is to be told about it.
    pub(crate) odd: bool,
    pub(crate) finished: bool,
    /// It stores next.
    pub(crate) stores: bool,
    /// It starts a thread next.
    pub(crate) starts: bool,
    /// What it accesses next, whether it may write, and whether it may be ordinary.
    pub(crate) pending: Option<(Access, bool, bool)>,
}

/// What the next operation of a thread depends on, beside itself and what it has on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// There is none.
    NoMove,
    Nothing,
    Cell(Addr),
    /// That this thread has ended; what then depends on the whole state.
    End(ThreadId),
    Whole,
}

/// What is known of a part.
pub(crate) fn sketch(machine: &Machine<'_>, piece: &Piece) -> Sketch {
    match piece {
        Piece::Thread(thread) => Sketch::Thread(thread_sketch(machine, thread)),
        Piece::Rest(rest) => Sketch::Rest { atomic: rest.atomic().is_some() },
        Piece::Cell(access, _) => Sketch::Memory(access.addr),
        Piece::Object(base, _) => Sketch::Memory(*base),
        Piece::Outgoing(thread, outgoing) => {
            let mut memory = AnyMemory::of(machine.model, machine.memory.clone());
            memory.set_outgoing(*thread, outgoing.clone());
            let mut steps = Vec::new();
            memory.moves(*thread, &mut steps);
            let store = |step: Step| memory.leaving(step).and_then(|at| outgoing.stores().iter().nth(at));
            let leaving =
                steps.into_iter().map(|step| (step, store(step).and_then(|store| cell_of(machine, store.access))));
            let stores = outgoing.stores().iter().map(|store| cell_of(machine, store.access)).collect();
            Sketch::Outgoing { thread: *thread, leaving: leaving.collect(), stores }
        }
    }
}

fn thread_sketch(machine: &Machine<'_>, thread: &Shared) -> ThreadSketch {
    let status = thread.status();
    let needs = match *status {
        Status::Ready(visible) => match visible {
            Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. } => {
                cell_of(machine, access).map_or(Needs::Whole, Needs::Cell)
            }
            Visible::Fence { .. } | Visible::Choose { .. } => Needs::Nothing,
            Visible::Join { thread } => Needs::End(thread),
            _ => Needs::Whole,
        },
        _ => Needs::NoMove,
    };
    let pending = match *status {
        Status::Ready(Visible::Load { access, order, .. }) => Some((access, false, order == Ordering::NonAtomic)),
        Status::Ready(Visible::Store { access, order, .. }) => Some((access, true, order == Ordering::NonAtomic)),
        Status::Ready(Visible::Update { access, order, failure, .. }) => {
            Some((access, true, order == Ordering::NonAtomic || failure == Ordering::NonAtomic))
        }
        _ => None,
    };
    let alone = alone(machine, thread.clone(), None, None);
    ThreadSketch {
        id: thread.id(),
        needs,
        local: machine.is_local(&alone, thread.id()),
        looks: may_turn(status),
        odd: matches!(status, Status::Failed(_) | Status::Blocked(Blocked::LoopBound)),
        finished: matches!(status, Status::Finished { .. }),
        stores: matches!(status, Status::Ready(Visible::Store { .. })),
        starts: matches!(status, Status::Ready(Visible::Spawn { .. })),
        pending,
    }
}

/// A state that consists of these parts.
pub(crate) fn alone(machine: &Machine<'_>, thread: Shared, cell: Option<&Piece>, outgoing: Option<&Piece>) -> Concrete {
    let mut memory = AnyMemory::of(machine.model, machine.memory.clone());
    for piece in cell.into_iter().chain(outgoing) {
        match piece {
            Piece::Cell(access, cell) => {
                memory.bytes_mut().set_cell(*access, *cell).expect("it is a part of a global object");
            }
            Piece::Outgoing(thread, outgoing) => memory.set_outgoing(*thread, outgoing.clone()),
            _ => unreachable!("neither a cell nor something on its way"),
        }
    }
    State::of_parts([(thread, false)], memory, Ended::new(), None, Mailboxes::default())
}

/// Whether two of the accesses that come next may race.
pub(crate) fn may_race<'t>(threads: impl Iterator<Item = &'t ThreadSketch>) -> bool {
    let pending: SmallVec<[(Access, bool, bool); 8]> = threads.filter_map(|thread| thread.pending).collect();
    pending.iter().enumerate().any(|(at, (one, writes, ordinary))| {
        pending[at + 1..].iter().any(|(other, also_writes, also_ordinary)| {
            (*writes || *also_writes) && (*ordinary || *also_ordinary) && one.overlaps(*other)
        })
    })
}
