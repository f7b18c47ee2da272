//! A run that goes on for ever: a stem, and a loop that comes back to where it began. Judged on the machine alone.
//!
//! Whoever proposes a lasso knows states by numbers and has forgotten what makes no difference to them. Here nothing of that is used: the machine runs stem and loop from the first state of the program, and then
//!
//! 1. the loop has to come back to the state in which it began. What no thread will read again is cleared on both sides before they are compared ([`Thread::forget`]): threads go on in the same
//!    way whatever stands there (of the arrivals at a barrier only those of the last round matter), so what was done once can be done again;
//! 2. the loop has to be fair: what each actor could do is asked of each state in it, with the definitions of [`fairness`](crate::fairness) and not with pairs;
//! 3. it has to show what it is said to show: nothing has ended or failed in it, and who is said to wait does nothing that others could see. A formula has to be false of the run by its
//!    definition ([`word`]); such a run may also end, and then has no loop.
//!
//! What was learnt about fairness on the way is the reason that a person is given.

use crate::fairness::{Actor, Fairness, Strength, able, is_inside};
use crate::graph::changes;
use crate::ltl::{Ltl, word};
use crate::running::{closed, is_complete};
use raddle_machine::memory::Memory;
use raddle_machine::{Access, AnyMemory, Automaton, ByteMemory, Code, Live, State, Status, Thread, Visible, replay};
use raddle_trace::{Execution, Model, Place, Schedule, Step, ThreadId, ThreadName};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// A run that goes on for ever.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// Stem and one turn of the loop, as a run.
    pub execution: Execution,
    /// The schedule of both.
    pub schedule: Schedule<ThreadName>,
    /// How many entries of the run belong to the stem.
    pub stem: usize,
    /// How many steps of the schedule do.
    pub stem_steps: usize,
    /// Why the loop is fair: a reason for everybody.
    pub reasons: Vec<Reason>,
    /// Who waits in it for ever, and where, if that is what is wrong.
    pub waits: Option<(ThreadName, Place)>,
}

/// Why the loop is fair to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// To whom.
    pub thread: ThreadName,
    /// To its store buffer rather than to the thread.
    pub drain: bool,
    /// Why.
    pub why: Why,
}

/// Why a loop is fair to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It moves, so many times, all of them looks that change nothing.
    Looks(usize),
    /// It moves, so many times.
    Moves(usize),
    /// It can move nowhere in the loop; it stands there.
    NeverAble(Place),
    /// It cannot move in every state of the loop, which is enough for weak fairness; it stands there.
    AbleAtTimes(Place),
    /// It has finished.
    Finished,
    /// Nothing is on its way.
    Empty,
    /// Nobody else could move: the loop never leaves an atomic block.
    Inside,
}

/// A lasso that was proposed.
#[derive(Clone, Copy, Debug)]
pub struct Proposed<'p> {
    /// What leads to the loop.
    pub stem: &'p [Step],
    /// The loop.
    pub turn: &'p [Step],
    /// What it is said to show.
    pub shows: Shows<'p>,
}

/// What a lasso is said to show.
#[derive(Clone, Copy, Debug)]
pub enum Shows<'p> {
    /// That a run goes on for ever.
    NoEnd,
    /// That this thread waits for ever.
    Waits(ThreadId),
    /// That this formula is false; there may be no loop, if the run ends.
    Breaks(&'p Ltl),
}

/// Runs the lasso and judges it.
///
/// # Errors
/// If it is none, in words.
pub fn confirm(code: &Code, model: Model, fairness: Fairness, proposed: Proposed<'_>) -> Result<Lasso, String> {
    let Proposed { stem, turn, shows } = proposed;
    let mut state = State::new(AnyMemory::of(model, ByteMemory::initial(code)), Thread::main(code, false));
    let mut passed = Vec::new();
    let mut barriers = FxHashSet::default();
    for &step in stem {
        barriers.extend(arrival(code, &state, step));
        let before = state.clone();
        state.step(code, step, &mut ())?;
        passed.push(before);
    }
    let first = state.clone();
    let mut loop_states = Vec::new();
    let mut loop_actors = Vec::new();
    let mut acting = BTreeSet::new();
    for &step in turn {
        if closed(&state).is_some() {
            return Err("a run ends in the loop".into());
        }
        if changes(&state, code, step) {
            acting.insert(step.thread());
        }
        barriers.extend(arrival(code, &state, step));
        let before = state.clone();
        state.step(code, step, &mut ())?;
        loop_actors.push(Actor::of(fairness.unit, code, &before, step, &state));
        loop_states.push(before);
    }
    if turn.is_empty() {
        let has_ended = is_complete(&state) && (closed(&state).is_some() || state.moves(code).is_empty());
        if !(has_ended && matches!(shows, Shows::Breaks(_))) {
            return Err("there is no loop".into());
        }
        loop_states.push(state.clone());
    }
    let live = Live::new(code);
    if cleared(code, &live, &barriers, &first) != cleared(code, &live, &barriers, &state) {
        return Err("the loop does not come back to the state in which it began".into());
    }
    let able: Vec<Vec<Actor>> = loop_states.iter().map(|state| able_in(code, fairness, state)).collect();
    if !turn.is_empty() {
        is_fair(fairness, &loop_states, &able, &loop_actors, code)?;
    }
    if let Shows::Breaks(formula) = shows {
        let letters: Vec<u64> =
            passed.iter().chain(&loop_states).map(|state| formula.letter(state.memory().bytes())).collect();
        if word::holds(&formula.formula, &letters, passed.len()) {
            return Err("the formula is true of this run".into());
        }
    }
    let waits = if let Shows::Waits(id) = shows { Some(id) } else { None };
    if let Some(id) = waits
        && (acting.contains(&id) || !loop_states.iter().all(|state| stands(state, id)))
    {
        return Err(format!("{} does not wait in the loop", code.name(id)));
    }
    let whole: Vec<Step> = stem.iter().chain(turn).copied().collect();
    let named = |steps: &[Step]| Schedule { steps: steps.to_vec() }.named(code.numbering());
    let run = |steps: &[Step]| replay(code, model, &named(steps), false).map_err(|error| error.to_string());
    let (before, all) = (run(stem)?, run(&whole)?);
    if !all.failures.is_empty() {
        return Err("something goes wrong in the loop".into());
    }
    Ok(Lasso {
        execution: all.execution,
        schedule: named(&whole),
        stem: before.execution.steps.len(),
        stem_steps: stem.len(),
        reasons: reasons(code, &loop_states, &able, &loop_actors, &acting),
        waits: waits.map(|id| (code.name(id), code.place(loop_states[0].thread(id).map_or(0, Automaton::pc)))),
    })
}

pub(crate) type Running = State<AnyMemory>;

/// Whether the thread stands before something other than the wait for the end of another.
pub(crate) fn stands(state: &Running, id: ThreadId) -> bool {
    state.thread(id).is_some_and(
        |thread| matches!(thread.status(), Status::Ready(visible) if !matches!(visible, Visible::Join { .. })),
    )
}

/// Who can move.
pub(crate) fn able_in(code: &Code, fairness: Fairness, state: &Running) -> Vec<Actor> {
    able(fairness.unit, code, state, &|step| {
        let mut next = state.clone();
        next.step(code, step, &mut ()).expect("it is a move");
        next
    })
}

/// The barrier that the step is an arrival at.
pub(crate) fn arrival(code: &Code, state: &Running, step: Step) -> Option<Access> {
    match state.thread(step.thread())?.at_barrier(code)? {
        (barrier, None) => Some(barrier),
        (_, Some(_)) => None,
    }
}

/// The state without what makes no difference to how it goes on. At these barriers somebody has arrived.
pub(crate) fn cleared(code: &Code, live: &Live, barriers: &FxHashSet<Access>, state: &Running) -> Running {
    let mut state = state.clone();
    for &barrier in barriers {
        let Some((word, _)) = state.memory_mut().bytes_mut().read(barrier) else { continue };
        let mut settled = word;
        for thread in state.threads_mut() {
            settled = thread.forget_rounds(code, barrier, word);
        }
        let _there = state.memory_mut().bytes_mut().write(barrier, settled);
    }
    let mut waited = Vec::new();
    for thread in state.threads_mut() {
        thread.forget(code, live);
        if thread.has_waited() {
            waited.push((thread.wakeups(), thread.take_waits()));
        }
    }
    // Of wake-ups it matters only by how much they are more than the waits.
    for (access, waits) in waited {
        let bytes = state.memory_mut().bytes_mut();
        if let Some((word, _)) = bytes.read(access) {
            let _there = bytes.write(access, word.wrapping_sub(u64::from(waits)));
        }
    }
    state
}

/// Whether everybody gets what it is owed, by the definitions.
pub(crate) fn is_fair(
    fairness: Fairness,
    states: &[Running],
    able: &[Vec<Actor>],
    moved: &[Actor],
    code: &Code,
) -> Result<(), String> {
    let owed: BTreeSet<Actor> = able.iter().flatten().copied().collect();
    for actor in owed {
        if moved.contains(&actor) {
            continue;
        }
        let asked: Vec<usize> = (0..states.len()).filter(|&at| !is_inside(&states[at], actor.thread())).collect();
        let can: Vec<usize> = asked.iter().copied().filter(|&at| able[at].contains(&actor)).collect();
        let unfair = match fairness.strength {
            Strength::Weak => !asked.is_empty() && can.len() == asked.len(),
            Strength::Strong => !can.is_empty(),
        };
        if unfair {
            let who = code.name(actor.thread());
            return Err(format!("the loop is not fair: {who} could move ({actor:?}) and does not"));
        }
    }
    Ok(())
}

/// A reason for everybody.
pub(crate) fn reasons(
    code: &Code,
    states: &[Running],
    able: &[Vec<Actor>],
    moved: &[Actor],
    acting: &BTreeSet<ThreadId>,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for thread in states[0].threads() {
        let id = thread.id();
        let runs = |actor: &Actor| actor.thread() == id && !matches!(actor, Actor::Drain(_));
        let drains = |actor: &Actor| *actor == Actor::Drain(id);
        let times = |is: &dyn Fn(&Actor) -> bool| moved.iter().filter(|actor| is(actor)).count();
        let asked: Vec<usize> = (0..states.len()).filter(|&at| !is_inside(&states[at], id)).collect();
        let can = |is: &dyn Fn(&Actor) -> bool| asked.iter().filter(|&&at| able[at].iter().any(is)).count();
        // Where it stands while it cannot move.
        let stuck = asked.iter().copied().find(|&at| !able[at].iter().any(runs)).unwrap_or(0);
        let place = || code.place(states[stuck].thread(id).map_or(0, Automaton::pc));
        let why = match (times(&runs), thread.status()) {
            (0, Status::Finished { .. }) => Why::Finished,
            (0, _) if asked.is_empty() => Why::Inside,
            (0, _) if can(&runs) == 0 => Why::NeverAble(place()),
            (0, _) => Why::AbleAtTimes(place()),
            (moves, _) if acting.contains(&id) => Why::Moves(moves),
            (moves, _) => Why::Looks(moves),
        };
        let name = code.name(id);
        reasons.push(Reason { thread: name, drain: false, why });
        if !states[0].memory().keeps() {
            continue;
        }
        let why = match times(&drains) {
            0 if asked.is_empty() => Why::Inside,
            0 => Why::Empty,
            moves => Why::Moves(moves),
        };
        reasons.push(Reason { thread: name, drain: true, why });
    }
    reasons
}
