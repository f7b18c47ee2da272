//! Who moves, and what it is owed.
//!
//! An *actor* is whoever the scheduler has to be fair to: a thread; under TSO also the drain of a thread's store buffer, since a store that never arrives is nobody's choice but the scheduler's; on request each
//! *action* of a thread, a step from one place of its code to another.
//!
//! - *Weak* fairness (justice): whoever can move from some point on without interruption moves again and again.
//! - *Strong* fairness (compassion): whoever can move again and again moves again and again.
//!
//! As a Streett pair of an actor on a loop: weak, every state requests it, and its moves grant it and the states in which it cannot move; strong, the states in which it can move request it, and its moves grant it. A store buffer that has something to drain has so until
//! it drains, so for drains the two are the same.
//!
//! *Atomic blocks* are one step in the eyes of everybody else. While somebody is in one the others cannot move, which must not count as a reason not to let them: otherwise a thread that runs blocks all the time would be excuse enough to
//! forget all others. So inside somebody's block nobody else requests or grants anything. A loop that never leaves a block is fair, then: there is no point at which anybody else could have moved.
//!
//! *Actions.* With [`Unit::Action`] an actor is a thread with the place before and the place behind its step. A loop around a compare-exchange has two: to fail and to succeed. Fairness between threads is content when it fails for
//! ever, strong fairness between actions is not: it could succeed again and again, so it does. That assumes more than most schedulers give; it separates a lock that starves by bad luck from one that starves by design. Alternatives of a choice are actions, too, if they lead to different
//! places. A draw is one action, wherever it leads: that is not for the scheduler to say.

use raddle_machine::memory::Memory;
use raddle_machine::{Automaton, Code, State, Status};
use raddle_trace::{Step, ThreadId};

/// How much whoever can move is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Whoever can always move, does.
    Weak,
    /// Whoever can again and again, does.
    Strong,
}

/// Who is owed that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Each thread, and each store buffer.
    Thread,
    /// Each step of a thread from one place to another, and each store buffer.
    Action,
}

/// What is assumed of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fairness {
    /// How much.
    pub strength: Strength,
    /// To whom.
    pub unit: Unit,
}

impl Strength {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Strength::Weak => "weak",
            Strength::Strong => "strong",
        }
    }
}

impl Unit {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Thread => "thread",
            Unit::Action => "action",
        }
    }
}

/// Who can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Actor {
    /// A thread.
    Thread(ThreadId),
    /// What lets a thread's buffered stores reach memory.
    Drain(ThreadId),
    /// A thread, from one instruction to another; [`ENDED`] if there is none behind the step.
    Action(ThreadId, u32, u32),
}

/// The place of a thread that has ended.
pub const ENDED: u32 = u32::MAX;

/// The place to which a draw leads: where that is says chance.
pub const DRAWN: u32 = u32::MAX - 1;

/// Whether chance says where the step leads.
pub fn is_drawn<M: Memory, T: Automaton>(code: &Code, state: &State<M, T>, step: Step) -> bool {
    matches!(step, Step::Choose(..))
        && state.thread(step.thread()).is_some_and(|thread| code.draw(thread.pc()).is_some())
}

impl Actor {
    /// Whose move it is that leads from one state to another.
    pub fn of<M: Memory, T: Automaton>(
        unit: Unit,
        code: &Code,
        before: &State<M, T>,
        step: Step,
        after: &State<M, T>,
    ) -> Actor {
        let id = step.thread();
        match (step, unit) {
            (Step::Flush(_) | Step::FlushAt(..), _) => Actor::Drain(id),
            (_, Unit::Thread) => Actor::Thread(id),
            _ if is_drawn(code, before, step) => Actor::Action(id, place(before, id), DRAWN),
            (_, Unit::Action) => Actor::Action(id, place(before, id), place(after, id)),
        }
    }

    /// Its thread.
    pub const fn thread(self) -> ThreadId {
        match self {
            Actor::Thread(id) | Actor::Drain(id) | Actor::Action(id, ..) => id,
        }
    }
}

/// Where a thread stands.
fn place<M: Memory, T: Automaton>(state: &State<M, T>, id: ThreadId) -> u32 {
    match state.thread(id) {
        Some(thread) if matches!(thread.status(), Status::Ready(_)) => thread.pc(),
        _ => ENDED,
    }
}

/// Whether the state is no point at which anybody but this thread could have moved: somebody else is in an atomic block.
pub fn is_inside<M: Memory, T: Automaton>(state: &State<M, T>, id: ThreadId) -> bool {
    state.atomic().is_some_and(|owner| owner != id)
}

/// Who can move in a state.
pub fn able<T: Automaton, M: Memory>(
    unit: Unit,
    code: &Code,
    state: &State<M, T>,
    after: &dyn Fn(Step) -> State<M, T>,
) -> Vec<Actor> {
    let moves = state.moves(code);
    let actor = |&step: &Step| match unit {
        // Where the step leads makes no difference.
        Unit::Thread => Actor::of(unit, code, state, step, state),
        Unit::Action if matches!(step, Step::Flush(_)) => Actor::Drain(step.thread()),
        Unit::Action => Actor::of(unit, code, state, step, &after(step)),
    };
    let mut able: Vec<Actor> = moves.iter().map(actor).collect();
    able.sort_unstable();
    able.dedup();
    able
}
