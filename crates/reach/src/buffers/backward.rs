//! Backward coverability: can buffers that forget order, but no numbers, lead to a state in which something is wrong?
//!
//! Buffers as multisets have infinitely many states, but these are well-structured (Abdulla, Čerāns, Jonsson and Tsay 1996): a *control* is all of a state but how often older stores are on their way, and of two states with the same control the one with more of them can do what the other can,
//! after some of them have arrived. So what leads to something wrong is upward closed and has finitely many least elements, which are found by going backwards (Calin 2016, section 11.2 of our notes, with its corrections):
//!
//! | move | before it, of what is needed behind it |
//! |---|---|
//! | a store to a place with a last store on its way | one less of that last store, which is an older one now |
//! | an older store arrives | one more of it |
//! | the last store to a place arrives | the same, if no older one to that place is needed |
//! | any other | the same |
//!
//! Threads run byte code, which does not run backwards. So the controls and the moves between them are found by going forwards first, with buffers as sets: these have every move that multisets have, and finitely many states. That is also the cut that our notes recommend. Where nothing is wrong with sets nothing is asked.
//!
//! Cost: the states with sets, each twice, then least elements; how many of these there may be is not known to have a primitive recursive bound.

use super::abstraction::{Abstract, Blurred, BlurredPart, Choice, Number};
use super::guided::Operations;
use crate::machine::own;
use crate::robust::monitor::{Place, place};
use crate::search::{Graph, whole};
use crate::visited::Index;
use raddle_engine::{Deadline, StopReason};
use raddle_machine::{Automaton, Status, Visible};
use raddle_trace::{Step, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// All of a state but numbers of older stores, by number.
type Control = u32;

/// An older store: whose, where, what; by number.
type Older = u32;

/// How often older stores have to be on their way, in the order of their numbers, without those that need not.
type Needed = SmallVec<[(Older, u32); 4]>;

/// What a move does to numbers of older stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Effect {
    Nothing,
    /// A last store becomes an older one.
    Adds(Older),
    /// An older one arrives.
    Takes(Older),
    /// The last one of a thread's to a place arrives.
    Empties(ThreadId, Place),
}

/// A move between controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Move {
    from: Control,
    effect: Effect,
    /// The operation of a thread, by its instruction, and what is picked.
    operation: Option<(ThreadId, u32, Option<u32>)>,
}

/// A least element: a control with needs, and how something wrong is reached from it.
struct Least {
    control: Control,
    needed: Needed,
    /// The move that leads on, and where to; none where something is wrong.
    next: Option<(Move, usize)>,
    /// Another one is less.
    is_covered: bool,
}

/// The controls of a program and the moves between them.
#[derive(Debug)]
pub struct Controls {
    /// The control of each state with sets.
    of: Vec<Control>,
    /// By the control that they lead to.
    moves: Vec<Vec<Move>>,
    /// Of each of them, where threads have stores on their way.
    places: Vec<Vec<(ThreadId, Place)>>,
    older: Vec<(ThreadId, Place, u64)>,
    /// The program as a whole.
    program: raddle_trace::Place,
}

/// So many least elements are too many.
const MOST: usize = 10_000_000;

impl Controls {
    /// Those of all states with buffers as sets, which have been searched with nothing left out.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(
        blurry: &Abstract<'_>,
        graph: &Graph<BlurredPart>,
        deadline: &Deadline<'_>,
    ) -> Result<Controls, StopReason> {
        let is_control = |part: &u32| !matches!(graph.parts.get(*part), BlurredPart::Overflow(_));
        let mut numbers: FxHashMap<Vec<u32>, Control> = FxHashMap::default();
        let mut older: FxHashMap<(ThreadId, Place, u64), Older> = FxHashMap::default();
        let program = whole(blurry.machine.code);
        let mut all = Controls { of: Vec::new(), moves: Vec::new(), places: Vec::new(), older: Vec::new(), program };
        let states = graph.visited.len() as Index;
        for index in 0..states {
            let control: Vec<u32> = graph.visited.parts(index).filter(is_control).collect();
            let next = numbers.len() as Control;
            let control = *numbers.entry(control).or_insert(next);
            all.of.push(control);
            if control == next {
                all.moves.push(Vec::new());
                all.places.push(graph.state(blurry, index).places().collect());
            }
        }
        for index in 0..states {
            if let Some(reason) = deadline.met(graph.visited.len() as u64).filter(|_| index % 1024 == 0) {
                return Err(reason);
            }
            let blurred = graph.state(blurry, index);
            for choice in blurry.choices(&blurred) {
                let next = blurry.after(&blurred, choice);
                let to = graph.find(blurry, &next).expect("everything was followed");
                let mut number = |store: (ThreadId, Place, u64)| {
                    let next = older.len() as Older;
                    *older.entry(store).or_insert_with(|| {
                        all.older.push(store);
                        next
                    })
                };
                let step = Move {
                    from: all.of[index as usize],
                    effect: effect(blurry, &blurred, choice, &next, &mut number),
                    operation: operation(&blurred, choice),
                };
                let moves = &mut all.moves[all.of[to as usize] as usize];
                if !moves.contains(&step) {
                    moves.push(step);
                }
            }
        }
        Ok(all)
    }

    /// The operations of threads on a way from the first state to one of these, with buffers as multisets; and which one it is. `None` if there is none.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn way(&self, wrong: &[Index], deadline: &Deadline<'_>) -> Result<Option<(Operations, Index)>, StopReason> {
        let mut least: Vec<Least> = Vec::new();
        let mut by_control: Vec<Vec<usize>> = vec![Vec::new(); self.moves.len()];
        let mut todo = VecDeque::new();
        let mut ends: Vec<Index> = Vec::new();
        let mut looked = 0u64;
        for &index in wrong {
            let control = self.of[index as usize];
            let one = Least { control, needed: Needed::new(), next: None, is_covered: false };
            if add(one, &mut least, &mut by_control, &mut todo) {
                ends.push(index);
            }
        }
        while let Some(at) = todo.pop_front() {
            if least[at].is_covered {
                continue;
            }
            looked += 1;
            if let Some(reason) = deadline.met(looked).filter(|_| looked.is_multiple_of(256)) {
                return Err(reason);
            }
            if least.len() > MOST {
                let why = format!("going backwards there are more than {MOST} least elements");
                return Err(StopReason::GaveUp { why, at: self.program.clone() });
            }
            let Least { control, ref needed, .. } = least[at];
            // The first state has control 0 and nothing on its way.
            if control == self.of[0] && needed.is_empty() {
                return Ok(Some(followed(&least, at, &ends)));
            }
            let needed = needed.clone();
            for &step in &self.moves[control as usize] {
                if let Some(needed) = self.before(step, &needed) {
                    let one = Least { control: step.from, needed, next: Some((step, at)), is_covered: false };
                    add(one, &mut least, &mut by_control, &mut todo);
                }
            }
        }
        Ok(None)
    }

    /// What is needed before a move so that this much is there behind it; `None` if it never is.
    fn before(&self, step: Move, needed: &Needed) -> Option<Needed> {
        let mut needed = needed.clone();
        let at = |needed: &Needed, older: Older| needed.binary_search_by_key(&older, |&(older, _)| older);
        match step.effect {
            Effect::Nothing => {}
            Effect::Adds(older) => {
                if let Ok(at) = at(&needed, older) {
                    needed[at].1 -= 1;
                    if needed[at].1 == 0 {
                        needed.remove(at);
                    }
                }
            }
            Effect::Takes(older) => match at(&needed, older) {
                Ok(at) => needed[at].1 += 1,
                Err(at) => needed.insert(at, (older, 1)),
            },
            Effect::Empties(thread, place) => {
                let is_there = |&(older, _): &(Older, u32)| {
                    let (whose, to, _) = self.older[older as usize];
                    (whose, to) == (thread, place)
                };
                if needed.iter().any(is_there) {
                    return None;
                }
            }
        }
        // What is older stands before something that is last.
        let places = &self.places[step.from as usize];
        let is_possible = |&(older, _): &(Older, u32)| {
            let (whose, to, _) = self.older[older as usize];
            places.contains(&(whose, to))
        };
        needed.iter().all(is_possible).then_some(needed)
    }
}

/// Adds an element, unless another one is less; those that it is less than are no least ones any more.
fn add(one: Least, least: &mut Vec<Least>, by_control: &mut [Vec<usize>], todo: &mut VecDeque<usize>) -> bool {
    let known = &mut by_control[one.control as usize];
    if known.iter().any(|&at| is_less(&least[at].needed, &one.needed)) {
        return false;
    }
    known.retain(|&at| {
        let stays = !is_less(&one.needed, &least[at].needed);
        least[at].is_covered |= !stays;
        stays
    });
    known.push(least.len());
    todo.push_back(least.len());
    least.push(one);
    true
}

/// Whether nothing is needed more often.
fn is_less(one: &Needed, other: &Needed) -> bool {
    let has = |older: Older| other.iter().find(|&&(also, _)| also == older).map_or(0, |&(_, number)| number);
    one.iter().all(|&(older, number)| number <= has(older))
}

/// The operations on the way from an element, and what is wrong in the end. The elements that ways end at are the first ones, in order.
fn followed(least: &[Least], mut at: usize, ends: &[Index]) -> (Operations, Index) {
    let mut operations = Operations::new();
    while let Some((step, next)) = least[at].next {
        if let Some((thread, pc, pick)) = step.operation {
            operations.entry(thread).or_default().push((pc, pick));
        }
        at = next;
    }
    (operations, ends[at])
}

fn operation(blurred: &Blurred, choice: Choice) -> Option<(ThreadId, u32, Option<u32>)> {
    let (id, pick) = match choice {
        Choice::Step(Step::Run(id)) => (id, None),
        Choice::Step(Step::Choose(id, pick)) => (id, Some(pick)),
        _ => return None,
    };
    Some((id, own(blurred.state(), id).pc(), pick))
}

fn effect(
    blurry: &Abstract<'_>,
    blurred: &Blurred,
    choice: Choice,
    next: &Blurred,
    number: &mut impl FnMut((ThreadId, Place, u64)) -> Older,
) -> Effect {
    let last = |id: ThreadId, at: Place| {
        let mut lasts = blurry.lasts(blurred, id).into_iter();
        lasts.find(|store| place(store.access) == at).map(|store| store.value)
    };
    match choice {
        Choice::Arrival { thread, at, value, left: Number::Exactly(0) } if last(thread, at) == Some(value) => {
            Effect::Empties(thread, at)
        }
        Choice::Arrival { thread, at, value, .. } => Effect::Takes(number((thread, at, value))),
        Choice::Step(step) => {
            let id = step.thread();
            let Status::Ready(Visible::Store { access, .. }) = *own(blurred.state(), id).status() else {
                return Effect::Nothing;
            };
            let at = place(access);
            let stored = next.places().any(|there| there == (id, at));
            match last(id, at).filter(|_| stored && matches!(step, Step::Run(_))) {
                Some(value) => Effect::Adds(number((id, at, value))),
                None => Effect::Nothing,
            }
        }
    }
}
