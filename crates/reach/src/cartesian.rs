//! Cartesian reduction: threads change only where they may meet.
//!
//! From a state each actor, a thread or what it has on its way, is followed for itself as far as no other may notice: among all of these ways only the last moves may depend on each other. The states behind the ways are what follows (Gueta, Flanagan, Yahav and Sagiv 2007; section 12.7 of our
//! notes on Calin 2016); states in between are not remembered.
//!
//! *Why nothing is lost.* Take a run from the state to one in which a thread has failed or nothing can move. Of the actors that make all moves of their ways in it take the one that is done first: whatever the others have done until then belongs to their ways and is not the last of them, so
//! its whole way can come first, and the rest of the run is shorter. If nobody makes all of its moves, none of the runs' moves hinders anybody, and everybody could go on. That holds whether states repeat or not, so no proviso is needed for cycles.
//!
//! *Where a way ends.* At a move that lets somebody do what it could not do at all (a thread is started, a store is put on its way: its arrival would have a way of its own); where there are several moves to choose from, or none; and after [`MOST`] moves. A way that comes back to where it was is its first move
//! alone. Who waits has a way, too, of the one move that it cannot make: nobody goes on behind what that depends on. A thread and what it has on its way depend on each other, but for loads from other cells.
//!
//! *Ends.* Where all that can move turn in loops in vain, everything is followed, so that the beginnings of the turns are met, where a run is seen to be over.
//!
//! Breadth-first, by one worker; the way to a violation need not be a shortest one. Cost: per state, the lengths of the ways times the number of threads.

use crate::machine::{Machine, Piece};
use crate::memo::{Accessed, Actor};
use crate::schedule::{Move, Then, realise};
use crate::search::{Graph, Notice, Pause};
use crate::sight::everybody_turns;
use crate::steps::{Going, List, Looked, Steps};
use crate::visited::Index;
use raddle_trace::Schedule;
use std::ops::ControlFlow;

/// How often it is asked whether to go on.
const PAUSE: u64 = 1024;

/// The longest way.
const MOST: usize = 64;

/// The way of an actor.
struct Way {
    actor: Actor,
    /// What its moves access; of who waits, what it would.
    accesses: Vec<Accessed>,
    moves: Vec<Move>,
    /// The states on it, the first one included.
    states: Vec<List>,
    /// Whether it may go on.
    is_open: bool,
}

impl Way {
    fn one(actor: Actor, accessed: Accessed, from: &[u32], step: Option<(Move, &Going)>) -> Self {
        let is_open = step.is_some_and(|(_, going)| !going.opens);
        let states = std::iter::once(from.into()).chain(step.map(|(_, going)| going.to.clone())).collect();
        Way { actor, accesses: vec![accessed], moves: step.map(|(of, _)| of).into_iter().collect(), states, is_open }
    }

    /// Whether a move of somebody else makes no difference to any of these.
    fn all_free(&self, accesses: &[Accessed], actor: Actor, accessed: Accessed) -> bool {
        accesses.iter().all(|&own| !depends((self.actor, own), (actor, accessed)))
    }

    fn last(&self) -> Accessed {
        *self.accesses.last().expect("there is one")
    }
}

/// Whether it makes a difference which of two moves comes first.
fn depends((one, accessed): (Actor, Accessed), (other, also): (Actor, Accessed)) -> bool {
    if one.thread != other.thread || one.runs == other.runs {
        return accessed.conflicts(also);
    }
    let (runs, arrives) = if one.runs { (accessed, also) } else { (also, accessed) };
    !matches!((runs, arrives), (Accessed::Cell(read, false), Accessed::Cell(written, _)) if read != written)
}

/// Which move of its thread each of these is.
fn numbered(moves: &[Going]) -> impl Iterator<Item = (Move, &Going)> {
    moves.iter().enumerate().map(|(at, going)| {
        let thread = going.actor.thread;
        let nth = moves[..at].iter().filter(|before| before.actor.thread == thread).count();
        (Move { thread, nth }, going)
    })
}

/// The ways that lead on from a state, each with the moves on it.
fn ways(steps: &mut Steps<'_, '_>, list: &[u32], looked: &Looked) -> Option<Vec<(Vec<Move>, List)>> {
    let single = |(of, going): (Move, &Going)| (vec![of], going.to.clone());
    if is_turning(steps, list) {
        return Some(numbered(&looked.moves).map(single).collect());
    }
    let (mut ways, mut ends): (Vec<Way>, Vec<(Vec<Move>, List)>) = (Vec::new(), Vec::new());
    for &(actor, accessed) in looked.next.iter() {
        let own: Vec<(Move, &Going)> = numbered(&looked.moves).filter(|(_, going)| going.actor == actor).collect();
        match own[..] {
            [step] => ways.push(Way::one(actor, accessed, list, Some(step))),
            _ => {
                ways.push(Way::one(actor, accessed, list, None));
                ends.extend(own.into_iter().map(single));
            }
        }
    }
    let mut grows = true;
    while grows {
        grows = false;
        for at in 0..ways.len() {
            grows |= ways[at].is_open && grow(steps, &mut ways, at)?;
        }
    }
    let whole = ways.into_iter().filter(|way| !way.moves.is_empty());
    ends.extend(whole.map(|mut way| (way.moves, way.states.pop().expect("it leads somewhere"))));
    Some(ends)
}

/// Whether all that can move turn in vain.
fn is_turning(steps: &Steps<'_, '_>, list: &[u32]) -> bool {
    let machine = steps.machine;
    let state = steps.graph.join(machine, list);
    everybody_turns(machine, &state, &machine.moves(&state).0)
}

/// Lets a way go on by one move, if that is possible for now.
fn grow(steps: &mut Steps<'_, '_>, ways: &mut [Way], at: usize) -> Option<bool> {
    let way = &ways[at];
    let others = || ways.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, way)| way);
    if !others().all(|other| other.all_free(&other.accesses, way.actor, way.last())) {
        return Some(false);
    }
    let here = way.states.last().expect("there is one");
    let moves = steps.look_at(here, way.actor.thread)?;
    let mut own = numbered(&moves).filter(|(_, going)| going.actor == way.actor);
    let next = match (own.next(), own.next()) {
        (Some(next), None) if way.moves.len() < MOST => Some(next),
        _ => None,
    };
    let Some((step, going)) = next else {
        ways[at].is_open = false;
        return Some(false);
    };
    let passed = |other: &Way| other.accesses.split_last().map_or(0, |(_, before)| before.len());
    if !others().all(|other| other.all_free(&other.accesses[..passed(other)], way.actor, going.accessed)) {
        return Some(false);
    }
    let way = &mut ways[at];
    if way.states.contains(&going.to) {
        way.accesses.truncate(1);
        way.moves.truncate(1);
        way.states.truncate(2);
        way.is_open = false;
        return Some(false);
    }
    way.accesses.push(going.accessed);
    way.moves.push(step);
    way.states.push(going.to.clone());
    way.is_open = !going.opens;
    Some(true)
}

/// How a search ended before its end: somebody said so, or moves cannot be told apart.
type Ended<E> = Option<E>;

/// Searches from the first state on, as [`crate::search::search`] does.
pub(crate) fn search<E>(
    machine: &Machine<'_>,
    notice: &mut Notice<'_, Machine<'_>, E>,
    pause: &mut Pause<'_, Machine<'_>, E>,
) -> (Graph<Piece>, Option<Ended<E>>) {
    let mut steps = Steps::new(machine);
    let ended = run(&mut steps, notice, pause).break_value();
    (steps.graph, ended)
}

fn run<E>(
    steps: &mut Steps<'_, '_>,
    notice: &mut Notice<'_, Machine<'_>, E>,
    pause: &mut Pause<'_, Machine<'_>, E>,
) -> ControlFlow<Ended<E>> {
    let mut next = steps.begin();
    let mut farther = next + 1;
    while (next as usize) < steps.graph.visited.len() {
        if next == farther {
            farther = steps.graph.visited.len() as Index;
            steps.graph.depth += 1;
        }
        if u64::from(next).is_multiple_of(PAUSE) {
            pause(&steps.graph).map_break(Some)?;
        }
        let list = steps.list(next);
        let Some(looked) = steps.look(&list) else { return ControlFlow::Break(None) };
        let Some(ways) = ways(steps, &list, &looked) else { return ControlFlow::Break(None) };
        for (by, (_, to)) in ways.iter().enumerate() {
            let (index, _) = steps.meet(to, next, by as u16);
            steps.graph.transitions += 1;
            steps.graph.leads_back |= index <= next;
        }
        notice(&steps.graph, next, looked.sight).map_break(Some)?;
        next += 1;
    }
    ControlFlow::Continue(())
}

/// The moves on the way to a state, and the schedule that they are, with what comes then.
pub(crate) fn schedule(machine: &Machine<'_>, graph: &Graph<Piece>, index: Index, then: &Then) -> Schedule {
    let mut steps = Steps::again(machine, graph.clone());
    let mut moves = Vec::new();
    for (from, by) in graph.way(index) {
        let list = steps.list(from);
        let looked = steps.look(&list).expect("it was looked at");
        let mut ways = ways(&mut steps, &list, &looked).expect("it was followed");
        moves.append(&mut ways[usize::from(by)].0);
    }
    realise(machine.code, machine.model, moves, then)
}

/// Whether some run goes on for ever.
pub(crate) fn goes_on(machine: &Machine<'_>, graph: &Graph<Piece>) -> bool {
    let mut steps = Steps::again(machine, graph.clone());
    graph.has_cycle(|index| {
        let list = steps.list(index);
        let looked = steps.look(&list).expect("it was looked at");
        let ways = ways(&mut steps, &list, &looked).expect("it was followed");
        ways.iter().filter_map(|(_, to)| graph.visited.index(to)).collect()
    })
}
