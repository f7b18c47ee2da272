//! What a scheduler does for ever where chance decides something: a stem, and for each of some states what moves there. Judged on the machine alone, as a [lasso](crate::lasso) is.
//!
//! The machine goes wherever the strategy and chance lead from the end of the stem, and then
//!
//! 1. wherever it comes to it has to be in the state that the strategy says, up to what no thread will read again; if a thread draws, all that it can draw has to be there;
//! 2. every state has to be reached from every other: then each of them, and each move in them, comes again and again with probability one if moves are taken in turn or by lot;
//! 3. that has to be fair, by the definitions;
//! 4. nothing has ended or failed in any of the states, and who is said to wait does nothing that others could see.
//!
//! The stem is followed with a probability above zero.

use crate::fairness::{Actor, Fairness};
use crate::graph::changes;
use crate::lasso::{Reason, Running, able_in, arrival, cleared, is_fair, reasons, stands};
use crate::running::closed;
use raddle_machine::memory::Memory;
use raddle_machine::{Access, Addr, AnyMemory, Automaton, ByteMemory, Code, Live, State, Thread, replay};
use raddle_program::Layout;
use raddle_trace::{Execution, Model, Place, Schedule, Step, ThreadId, ThreadName};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// What a scheduler does for ever.
#[derive(Clone, Debug)]
pub struct Strategy {
    /// The stem, as a run.
    pub execution: Execution,
    /// Its schedule.
    pub schedule: Schedule<ThreadName>,
    /// The states, the first of them where the stem ends.
    pub states: Vec<Point>,
    /// Why it is fair: a reason for everybody.
    pub reasons: Vec<Reason>,
    /// Who waits for ever, and where, if that is what is wrong.
    pub waits: Option<(ThreadName, Place)>,
}

/// One of the states, and what moves in it: if that is more than one, each again and again.
#[derive(Clone, Debug)]
pub struct Point {
    /// Memory, as far as it is not the same everywhere: what is there.
    pub memory: Vec<(String, i64)>,
    /// What moves.
    pub turns: Vec<Turn>,
}

/// A move.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Whose.
    pub thread: ThreadName,
    /// Where it stands; nothing if its store buffer moves.
    pub place: Option<Place>,
    /// Where it leads.
    pub next: Next,
}

/// Where a move leads.
#[derive(Clone, Debug)]
pub enum Next {
    /// To this state.
    To(usize),
    /// To one of these, by what is drawn: the alternative, its weight, and the state.
    Drawn(Vec<(u32, u32, usize)>),
}

/// A strategy that was proposed.
#[derive(Clone, Copy, Debug)]
pub struct Proposed<'p> {
    /// What leads to its first state.
    pub stem: &'p [Step],
    /// Per state its moves and where they lead.
    pub states: &'p [Vec<(Step, usize)>],
    /// Who is said to wait.
    pub waits: Option<ThreadId>,
}

/// Runs the strategy and judges it.
///
/// # Errors
/// If it is none, in words.
pub fn confirm(code: &Code, model: Model, fairness: Fairness, proposed: Proposed<'_>) -> Result<Strategy, String> {
    let Proposed { stem, states: plan, waits } = proposed;
    let mut first = State::new(AnyMemory::of(model, ByteMemory::initial(code)), Thread::main(code, false));
    let mut barriers = FxHashSet::default();
    for &step in stem {
        barriers.extend(arrival(code, &first, step));
        first.step(code, step, &mut ())?;
    }
    let live = Live::new(code);
    let mut met: Vec<Option<Running>> = vec![None; plan.len()];
    *met.first_mut().ok_or("there are no states")? = Some(first);
    let mut todo = vec![0];
    let mut moved = Vec::new();
    let mut acting = BTreeSet::new();
    while let Some(at) = todo.pop() {
        let state = met[at].clone().expect("it was met");
        if closed(&state).is_some() {
            return Err("a run ends in a state of the strategy".into());
        }
        let steps = &plan[at];
        if steps.is_empty() {
            return Err("nothing moves in a state of the strategy".into());
        }
        draws_are_whole(code, &state, steps)?;
        for &(step, to) in steps {
            if changes(&state, code, step) {
                acting.insert(step.thread());
            }
            barriers.extend(arrival(code, &state, step));
            let mut next = state.clone();
            next.step(code, step, &mut ())?;
            moved.push(Actor::of(fairness.unit, code, &state, step, &next));
            match met.get_mut(to).ok_or("a move leads out of the strategy")? {
                Some(known) if cleared(code, &live, &barriers, known) != cleared(code, &live, &barriers, &next) => {
                    return Err("a move leads to another state than it is said to".into());
                }
                Some(_) => {}
                unknown => {
                    *unknown = Some(next);
                    todo.push(to);
                }
            }
        }
    }
    let states: Vec<Running> =
        met.into_iter().collect::<Option<_>>().ok_or("a state of the strategy is never reached")?;
    comes_back(plan)?;
    let able: Vec<Vec<Actor>> = states.iter().map(|state| able_in(code, fairness, state)).collect();
    is_fair(fairness, &states, &able, &moved, code)?;
    if let Some(id) = waits
        && (acting.contains(&id) || !states.iter().all(|state| stands(state, id)))
    {
        return Err(format!("{} does not wait", code.name(id)));
    }
    let schedule = Schedule { steps: stem.to_vec() }.named(code.numbering());
    let run = replay(code, model, &schedule, false).map_err(|error| error.to_string())?;
    if !run.failures.is_empty() {
        return Err("something goes wrong on the way".into());
    }
    Ok(Strategy {
        execution: run.execution,
        schedule,
        reasons: reasons(code, &states, &able, &moved, &acting),
        waits: waits.map(|id| (code.name(id), code.place(states[0].thread(id).map_or(0, Automaton::pc)))),
        states: told(code, &states, plan),
    })
}

/// The thread that draws by this step.
fn drawing(code: &Code, state: &Running, step: Step) -> Option<ThreadId> {
    let Step::Choose(id, _) = step else { return None };
    state.thread(id).filter(|thread| code.draw(thread.pc()).is_some()).map(|_| id)
}

/// Of a thread that draws, all that it can draw has to be there.
fn draws_are_whole(code: &Code, state: &Running, steps: &[(Step, usize)]) -> Result<(), String> {
    let draw: BTreeSet<ThreadId> = steps.iter().filter_map(|&(step, _)| drawing(code, state, step)).collect();
    let missing = |step: &Step| {
        drawing(code, state, *step).is_some_and(|id| draw.contains(&id))
            && !steps.iter().any(|(taken, _)| taken == step)
    };
    match state.moves(code).iter().find(|step| missing(step)) {
        Some(step) => {
            Err(format!("the strategy does not say what follows if {} draws something else", code.name(step.thread())))
        }
        None => Ok(()),
    }
}

/// Every state has to be reached from every other; all are from the first.
fn comes_back(plan: &[Vec<(Step, usize)>]) -> Result<(), String> {
    let mut back = vec![false; plan.len()];
    back[0] = true;
    loop {
        let comes = |moves: &Vec<(Step, usize)>| moves.iter().any(|&(_, to)| back[to]);
        let more: Vec<usize> = (0..plan.len()).filter(|&at| !back[at] && comes(&plan[at])).collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|at| back[at] = true);
    }
    if back.iter().all(|back| *back) { Ok(()) } else { Err("the strategy does not come back to where it began".into()) }
}

/// The states in words.
fn told(code: &Code, states: &[Running], plan: &[Vec<(Step, usize)>]) -> Vec<Point> {
    let names = variables(code);
    let value = |state: &Running, access: Access| {
        let word = state.memory().bytes().read(access).map_or(0, |(word, _)| word);
        let shift = 64 - 8 * u32::from(access.size);
        ((word << shift) as i64) >> shift
    };
    let changing: Vec<&(String, Access)> = names
        .iter()
        .filter(|(_, access)| states.iter().any(|state| value(state, *access) != value(&states[0], *access)))
        .collect();
    let point = |(state, moves): (&Running, &Vec<(Step, usize)>)| {
        let mut turns: Vec<Turn> = Vec::new();
        for &(step, to) in moves {
            let thread = code.name(step.thread());
            let pc = state.thread(step.thread()).map_or(0, Automaton::pc);
            let drains = matches!(step, Step::Flush(_) | Step::FlushAt(..));
            let place = (!drains).then(|| code.place(pc));
            if let (Some(_), Step::Choose(_, pick)) = (drawing(code, state, step), step) {
                let weight = code.draw(pc).map_or(1, |draw| draw.weight(pick as usize));
                let one = (pick, weight, to);
                match turns.iter_mut().find(|turn| turn.thread == thread && matches!(turn.next, Next::Drawn(_))) {
                    Some(Turn { next: Next::Drawn(all), .. }) => all.push(one),
                    _ => turns.push(Turn { thread, place, next: Next::Drawn(vec![one]) }),
                }
            } else {
                turns.push(Turn { thread, place, next: Next::To(to) });
            }
        }
        let memory = changing.iter().map(|(name, access)| (name.clone(), value(state, *access))).collect();
        Point { memory, turns }
    };
    states.iter().zip(plan).map(point).collect()
}

/// Arrays are looked at up to so many elements.
const ELEMENTS: u32 = 64;

/// The global variables with single values.
fn variables(code: &Code) -> Vec<(String, Access)> {
    let mut all = Vec::new();
    for (addr, global) in code.named_globals() {
        let at = |place: u32, size: u8| Access { addr: Addr(addr.0 + u64::from(place) * u64::from(size)), size };
        match global.layout {
            Layout::Scalar(ty) => all.push((global.name.clone(), at(0, ty.size() as u8))),
            Layout::Mutex | Layout::RwLock | Layout::Semaphore(_) => all.push((global.name.clone(), at(0, 4))),
            Layout::Array(ty, number) => {
                let element = |place: u32| (format!("{}[{place}]", global.name), at(place, ty.size() as u8));
                all.extend((0..number.min(ELEMENTS)).map(element));
            }
            _ => {}
        }
    }
    all
}
