//! Runs of a program as they are looked at for liveness: the machine of `reach`, without what comes behind the end of a run.

use raddle_machine::memory::Memory;
use raddle_machine::{Automaton, Blocked, Failure, State, Status, Visible};
use raddle_reach::machine::{Concrete, Machine, Piece};
use raddle_reach::semantics::{Breadth, Expanded, Semantics};
use raddle_trace::{Step, ThreadId};

/// The machine, up to where runs end.
#[derive(Debug)]
pub struct Running<'c> {
    /// The machine.
    pub machine: Machine<'c>,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Every thread has finished, or the program was ended.
    Complete,
    /// Nothing can move, and these threads wait.
    Deadlock(Vec<(ThreadId, u32)>),
    /// An assumption was false, so this was no run.
    Assumed,
    /// A thread has failed.
    Failed(Failure),
}

/// What is worth noticing about a state.
#[derive(Clone, Debug)]
pub struct Seen {
    /// How the run ends here, if it does.
    pub end: Option<End>,
    /// A store that had to wait for room in its buffer.
    pub full: Option<u32>,
}

/// How a run ends in this state, if nothing that can happen behind it matters any more.
pub fn closed<M: Memory, T: Automaton>(state: &State<M, T>) -> Option<End> {
    let mut end = None;
    for thread in state.threads() {
        match thread.status() {
            Status::Failed(failure) => return Some(End::Failed((**failure).clone())),
            Status::Blocked(Blocked::Assume | Blocked::LoopBound | Blocked::Spin) => end = Some(End::Assumed),
            Status::Finished { exit: true, .. } if end.is_none() => end = Some(End::Complete),
            Status::Finished { .. } | Status::Ready(_) => {}
        }
    }
    end
}

/// Whether a run that ends in this state has come to its end as it should.
pub fn is_complete<M: Memory, T: Automaton>(state: &State<M, T>) -> bool {
    closed(state).unwrap_or_else(|| stuck(state)) == End::Complete
}

/// How a run ends in this state, from which nobody can move.
fn stuck<M: Memory, T: Automaton>(state: &State<M, T>) -> End {
    let waits = |thread: &&T| matches!(thread.status(), Status::Ready(_));
    let waiting: Vec<(ThreadId, u32)> =
        state.threads().filter(waits).map(|thread| (thread.id(), thread.pc())).collect();
    if waiting.is_empty() { End::Complete } else { End::Deadlock(waiting) }
}

impl Semantics for Running<'_> {
    type State = Concrete;
    type Part = Piece;
    type Sight = Seen;
    type Memo = ();

    fn initial(&self) -> Concrete {
        self.machine.initial()
    }

    fn split(&self, state: &Concrete, see: &mut dyn FnMut(&Piece)) {
        self.machine.split(state, see);
    }

    fn join(&self, parts: &mut dyn Iterator<Item = &Piece>) -> Concrete {
        self.machine.join(parts)
    }

    /// Everything is followed, whatever is asked for: what is left out for safety leaves out loops.
    fn expand(&self, state: &Concrete, _: Breadth, next: &mut dyn FnMut(u16, Concrete)) -> Expanded<Seen> {
        if let Some(end) = closed(state) {
            return Expanded { sight: Seen { end: Some(end), full: None }, reduced: false };
        }
        let (moves, refused) = self.machine.moves(state);
        let full = refused.then(|| self.refused(state)).flatten();
        if moves.len() > usize::from(u16::MAX) {
            let message = format!("there are {} ways to go on, which are too many to look at each", moves.len());
            let pc = state.thread(moves[0].thread()).map_or(0, Automaton::pc);
            let end = Some(End::Failed(Failure { property: None, message, pc, pending: false }));
            return Expanded { sight: Seen { end, full }, reduced: false };
        }
        for (number, &step) in moves.iter().enumerate() {
            next(number as u16, self.after(state, step));
        }
        let end = (moves.is_empty() && !refused).then(|| stuck(state));
        Expanded { sight: Seen { end, full }, reduced: false }
    }
}

impl Running<'_> {
    /// The state that a move leads to. Barriers forget how many rounds there were.
    pub fn after(&self, state: &Concrete, step: Step) -> Concrete {
        let mut next = self.machine.after(state, step);
        self.machine.forget_rounds(state, step, &mut next);
        next
    }

    /// A store that has to wait for room in its buffer.
    fn refused(&self, state: &Concrete) -> Option<u32> {
        let (moves, _) = self.machine.moves(state);
        let stores = state.threads().filter(|thread| {
            matches!(thread.status(), Status::Ready(Visible::Store { .. })) && !moves.contains(&Step::Run(thread.id()))
        });
        stores.map(Automaton::pc).next()
    }
}
