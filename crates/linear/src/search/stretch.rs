//! A piece of a history, for whoever cannot keep the whole: from everywhere the object may stand at its beginning to everywhere at its end.
//!
//! Breadth first, as in `breadth`, but with several configurations to begin with, and all the best ones at the end: those that are no worse than another one in
//! the same state. How each was reached is forgotten. Of very many only those are followed that leave the most to use, and it is told that there were others. A piece ends at a return; of the operations open there it is known how they end. Only for objects of one part.

use rustc_hash::FxHashMap;

use super::layout::Layout;
use super::machine::Machine;
use super::mask::Mask;
use super::model::Model;
use super::moves::Moves;
use super::refuted::Options;
use super::terms::{Budget, Entry, Limit};
use crate::history::Ts;

/// Where the object may stand between two pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<S> {
    /// Its state.
    pub state: S,
    /// What is left to do with each of the operations that are open.
    pub left: Vec<Left>,
}

/// What is left to do with an operation that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Left {
    /// It may still take effect.
    pub usable: bool,
    /// Its return may be passed: it took effect, or had a place where it changes nothing.
    pub free: bool,
}

/// What became of a piece.
#[derive(Clone, Debug)]
pub enum Stretched<S> {
    /// The positions of the operations that are open at its end, where the object may stand there, and whether it may also stand elsewhere.
    To(Vec<usize>, Vec<Place<S>>, bool),
    /// No order gets past the return of this operation.
    Stuck(usize),
    /// None of those that were followed does.
    Lost,
    /// A limit was reached.
    OutOfBudget(Limit),
}

/// Goes through a piece that ends just before `until`. Every operation called by then is among the entries, those open at its beginning first, in the order of `Place::left`.
pub fn stretch<M: Model>(
    model: &M,
    from: &[Place<M::State>],
    entries: &[Entry<M>],
    until: Ts,
    budget: Budget,
) -> Stretched<M::State> {
    let (layout, classes) = Layout::new(model, entries, until);
    let machine = Machine::new(model, classes);
    match layout.slots {
        0..=64 => run(Moves::<M, u64>::new(machine, layout, budget), from),
        65..=128 => run(Moves::<M, u128>::new(machine, layout, budget), from),
        _ => run(Moves::<M, Box<[u64]>>::new(machine, layout, budget), from),
    }
}

/// The most configurations that are followed from a return.
const FOLLOWED: usize = 1 << 11;

/// The best configurations of a level, by state.
type Best<K> = FxHashMap<u32, Vec<Options<K>>>;

fn run<M: Model, K: Mask>(mut moves: Moves<'_, M, K>, from: &[Place<M::State>]) -> Stretched<M::State> {
    let last = moves.layout.last();
    let mut waiting: Vec<Best<K>> = vec![Best::default(); last as usize + 1];
    for place in from {
        let options = moves.resume(place);
        keep(&mut waiting[moves.cursor.level as usize], moves.now[0], &options);
    }
    let mut furthest = 0;
    let mut narrowed = false;
    let mut held = 0u64;
    let each = 8 + 2 * (std::mem::size_of::<K>() + K::outside(moves.layout.slots)) as u64;
    for level in 0..last {
        let mut best = std::mem::take(&mut waiting[level as usize]);
        let mut open: Vec<(u32, Options<K>)> =
            best.iter().flat_map(|(state, list)| list.iter().map(|options| (*state, options.clone()))).collect();
        if !open.is_empty() {
            furthest = level;
        }
        if open.len() > FOLLOWED {
            narrowed = true;
            // The last one is taken first.
            open.sort_by_cached_key(|(state, options)| (size(&options.usable), *state));
            open.drain(..open.len() - FOLLOWED);
        }
        let mut met = open.len();
        let next = moves.layout.returns[level as usize];
        while let Some((state, options)) = open.pop() {
            if !best.get(&state).is_some_and(|list| list.contains(&options)) {
                continue;
            }
            moves.visited += 1;
            if let Some(limit) = moves.exhausted(|| held * each) {
                return Stretched::OutOfBudget(limit);
            }
            moves.cursor.stand_at(&moves.layout, level);
            moves.now[0] = state;
            let candidates = moves.collect(&options, next);
            for index in candidates.0..candidates.1 {
                let candidate = moves.candidates[index];
                moves.cursor.stand_at(&moves.layout, level);
                moves.now[0] = state;
                let mut options = options.clone();
                moves.make(&mut options, next, candidate);
                moves.forget();
                let (there, state) = (moves.cursor.level, moves.now[0]);
                let new = if there > level {
                    keep(&mut waiting[there as usize], state, &options)
                } else {
                    let new = keep(&mut best, state, &options);
                    met += usize::from(new);
                    if new && met <= 8 * FOLLOWED {
                        open.push((state, options));
                    }
                    narrowed |= new && met > 8 * FOLLOWED;
                    new
                };
                held += u64::from(new);
            }
            moves.candidates.clear();
        }
    }
    let reached = std::mem::take(&mut waiting[last as usize]);
    if reached.is_empty() && narrowed {
        return Stretched::Lost;
    }
    if reached.is_empty() {
        return Stretched::Stuck(moves.layout.returns[furthest as usize] as usize);
    }
    moves.cursor.stand_at(&moves.layout, last);
    let open = moves.cursor.open();
    let left = |options: &Options<K>| {
        let left = |&(_, slot): &(u32, usize)| Left { usable: options.usable.has(slot), free: options.free.has(slot) };
        open.iter().map(left).collect()
    };
    let places = reached.iter().flat_map(|(state, list)| {
        let state = &moves.machine.states[*state as usize];
        list.iter().map(move |options| Place { state: state.clone(), left: left(options) })
    });
    let places = places.collect();
    Stretched::To(open.iter().map(|(op, _)| *op as usize).collect(), places, narrowed)
}

/// How many there are.
fn size<K: Mask>(set: &K) -> usize {
    let mut size = 0;
    set.each(|_| size += 1);
    size
}

/// Keeps a configuration unless there is one that is as good, and drops those that are no better. Tells whether it is kept.
fn keep<K: Mask>(best: &mut Best<K>, state: u32, options: &Options<K>) -> bool {
    let list = best.entry(state).or_default();
    if list.iter().any(|known| known.at_least(options)) {
        return false;
    }
    list.retain(|known| !options.at_least(known));
    list.push(options.clone());
    true
}
