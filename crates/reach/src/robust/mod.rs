//! Robustness: is every behaviour under TSO one of sequential consistency?
//!
//! A program is robust if every run under TSO has the program order, reads-from and order of writes of some run without store buffers. Then it has the same states, and what holds
//! under SC holds under TSO. Whether it is robust is decided without buffers, by [attacks](mod@attack), whatever its loops do; and
//! each attack that is found becomes a schedule, is replayed under TSO, and [shows a cycle](mod@cycle) by which no run of SC can be like it.
//!
//! Cost: one search over the states of SC with somebody who attacks. Fences: one more for every set that is tried.

pub mod attack;
pub mod cycle;
pub mod fences;
pub(crate) mod late;
pub(crate) mod monitor;

use crate::machine::own;
use crate::schedule::{Move, Then, realise};
use crate::search::{Graph, Order, Plan, ROOM, search};
use crate::semantics::Breadth;
use crate::visited::Index;
use attack::{Attack, AttackPart, Attacks, How};
use cycle::{Link, cycle};
use raddle_engine::{Deadline, Fault, Refusal, StopReason};
use raddle_machine::{Access, Automaton, Code, Status, Visible, replay};
use raddle_trace::{Execution, Model, Schedule, ThreadName};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A run of TSO that no run of SC is like.
#[derive(Clone, Debug)]
pub struct Witness {
    /// What is delayed past what.
    pub attack: Attack,
    /// The schedule.
    pub schedule: Schedule<ThreadName>,
    /// The run.
    pub execution: Execution,
    /// The cycle in it.
    pub cycle: Vec<Link>,
    /// The instructions that the attacker passes with something delayed.
    pub passed: BTreeSet<u32>,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Robustness {
    /// The attacks that succeed, each with a run: the first one, or all.
    pub witnesses: Vec<Witness>,
    /// How many states were looked at.
    pub states: u64,
    /// Why the search ended before everything was looked at.
    pub stop: Option<StopReason>,
}

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many workers.
    pub workers: usize,
    /// Whether all attacks are looked for, or the first that succeeds is enough.
    pub all: bool,
}

/// Why this cannot be asked of a program.
///
/// # Errors
/// What is in its way.
pub fn takes(code: &Code) -> Result<(), Refusal> {
    if let Some(place) = code.first_post() {
        return Err(Refusal::of("robustness is not defined here for programs with mailboxes", place));
    }
    Ok(())
}

enum Halt {
    Enough,
    Stop(StopReason),
    Fault(Fault),
}

/// Looks for attacks, with fences before these instructions.
///
/// # Errors
/// If the program is not taken, or an attack does not show what it should.
pub fn robust(
    code: &Code,
    fences: &BTreeSet<u32>,
    settings: Settings,
    deadline: &Deadline<'_>,
) -> Result<Robustness, Fault> {
    takes(code)?;
    let attacks = Attacks::new(code, fences.clone());
    if attacks.late.is_never() {
        return Ok(Robustness { witnesses: Vec::new(), states: 0, stop: None });
    }
    let mut witnesses: Vec<Witness> = Vec::new();
    let plan = Plan { order: Order::Breadth, workers: settings.workers.max(1), breadth: Breadth::Enough };
    let (graph, ended) = search(
        &attacks,
        plan,
        &mut |graph, index, sight| {
            if let Some((why, pc)) = sight.stuck {
                return ControlFlow::Break(Halt::Stop(StopReason::GaveUp { why, at: code.place(pc) }));
            }
            let Some(attack) = sight.success.filter(|attack| witnesses.iter().all(|known| known.attack != *attack))
            else {
                return ControlFlow::Continue(());
            };
            match witness(&attacks, graph, index, attack) {
                Ok(witness) => witnesses.push(witness),
                Err(halt) => return ControlFlow::Break(halt),
            }
            if settings.all { ControlFlow::Continue(()) } else { ControlFlow::Break(Halt::Enough) }
        },
        &mut |graph| match graph.must_end(code, ROOM, deadline) {
            Some(reason) => ControlFlow::Break(Halt::Stop(reason)),
            None => ControlFlow::Continue(()),
        },
    );
    let stop = match ended {
        Some(Halt::Fault(fault)) => return Err(fault),
        Some(Halt::Stop(reason)) => Some(reason),
        Some(Halt::Enough) | None => None,
    };
    // Of an input with many values only a few are there to be explored.
    let sampled = code.inputs().sampled.first();
    let sampled = sampled.map(|input| StopReason::Inputs { values: input.values, at: code.source_place(input.span) });
    let stop = stop.or(sampled);
    Ok(Robustness { witnesses, states: graph.visited.len() as u64, stop })
}

/// The run that shows an attack, replayed under TSO.
fn witness(attacks: &Attacks<'_>, graph: &Graph<AttackPart>, index: Index, attack: Attack) -> Result<Witness, Halt> {
    let code = attacks.machine.code;
    let mut accessed: Vec<(Access, u32)> = Vec::new();
    let mut way = Vec::new();
    let (mut attacker, mut passed) = (None, BTreeSet::new());
    for (from, by) in graph.way(index) {
        let attacked = graph.state(attacks, from);
        let choice = attacks.choices(&attacked)[usize::from(by)];
        let id = choice.step.thread();
        let thread = own(&attacked.state, id);
        accessed.extend(access(thread.status()).map(|access| (access, thread.pc())));
        let moves = attacked.state.moves(code);
        let nth = moves.iter().filter(|step| step.thread() == id).position(|step| *step == choice.step);
        way.push(Move { thread: id, nth: nth.expect("it is one of them") });
        let stores = matches!(own(&attacked.state, id).status(), Status::Ready(Visible::Store { .. }));
        if stores && choice.how == How::Plain && attacked.state.atomic().is_none() {
            way.push(Move { thread: id, nth: 0 });
        }
        if attacker == Some(id) {
            passed.insert(own(&attacked.state, id).pc());
        }
        if choice.how == How::Delayed {
            attacker = Some(id);
        }
    }
    let then = Then::Arrivals(attacker.expect("an attack that succeeds delays something"));
    let schedule = realise(code, Model::Tso, way, &then).named(code.numbering());
    let run = replay(code, Model::Tso, &schedule, false).map_err(|error| Halt::Fault(error.into()))?;
    let crosses =
        |one: &(Access, u32)| accessed.iter().any(|other| one.0 != other.0 && one.0.overlaps(other.0)).then_some(one.1);
    match (cycle(&run.execution), accessed.iter().find_map(crosses)) {
        (Some(cycle), _) => Ok(Witness { attack, schedule, execution: run.execution, cycle, passed }),
        // In executions the writes of each place have their order, and those of places that overlap have none.
        (None, Some(pc)) => {
            let why = "an attack may succeed by accesses of different sizes to the same memory, whose executions cannot be compared";
            Err(Halt::Stop(StopReason::GaveUp { why: why.to_owned(), at: code.place(pc) }))
        }
        (None, None) => {
            let why = format!("the run `{schedule}` is one of sequential consistency");
            Err(Halt::Fault(Fault::NotReplayed(why)))
        }
    }
}

/// What memory a thread accesses next.
fn access(status: &Status) -> Option<Access> {
    match *status {
        Status::Ready(
            Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. },
        ) => Some(access),
        _ => None,
    }
}
