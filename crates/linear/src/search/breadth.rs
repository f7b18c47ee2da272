//! Breadth first: quick where there is no linearization.
//!
//! All configurations of a level are known before the next level is looked at, so that only the best of them are kept: those that are
//! no worse than another one in the same state. Depth first meets the worse ones first as often as not and explores them in vain. Only for
//! objects of one part.

use rustc_hash::FxHashMap;

use super::mask::Mask;
use super::model::Model;
use super::moves::Moves;
use super::refuted::Options;
use super::terms::Found;

/// A configuration and how it was reached.
struct Node<K> {
    level: u32,
    state: u32,
    options: Options<K>,
    before: u32,
    /// Where the places given on the way to it begin; they reach to those of the next one.
    places: usize,
}

/// Searches until `patience` configurations have been visited; then there is no answer.
pub(super) fn search<M: Model, K: Mask>(
    moves: &mut Moves<'_, M, K>,
    options: Options<K>,
    patience: u64,
) -> Option<Found<M::State>> {
    let mut nodes: Vec<Node<K>> = Vec::new();
    let mut places: Vec<u32> = Vec::new();
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); moves.layout.returns.len() + 1];
    places.append(&mut moves.line);
    if moves.cursor.level == moves.layout.last() {
        return Some(Found::Linearization(moves.linearization(&places)));
    }
    moves.trail.note(None, moves.cursor.level, 0, moves.now[0], &options);
    nodes.push(Node { level: moves.cursor.level, state: moves.now[0], options, before: u32::MAX, places: 0 });
    waiting[moves.cursor.level as usize].push(0);
    let node_bytes = std::mem::size_of::<Node<K>>() + 2 * K::outside(moves.layout.slots);
    for level in 0..moves.layout.last() {
        let next = moves.layout.returns[level as usize];
        let mut best: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for node in std::mem::take(&mut waiting[level as usize]) {
            keep(&mut best, &nodes, node);
        }
        let mut open: Vec<u32> = best.values().flatten().copied().collect();
        open.sort_unstable_by(|one, two| two.cmp(one));
        while let Some(at) = open.pop() {
            let (state, options) = (nodes[at as usize].state, nodes[at as usize].options.clone());
            if !best.get(&state).is_some_and(|list| list.contains(&at)) {
                continue;
            }
            moves.visited += 1;
            if let Some(limit) = moves.exhausted(|| (nodes.len() * node_bytes + places.len() * 4) as u64) {
                return Some(Found::OutOfBudget(limit));
            }
            if moves.visited > patience {
                return None;
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
                moves.changes.clear();
                let reached =
                    Node { level: moves.cursor.level, state: moves.now[0], options, before: at, places: places.len() };
                places.append(&mut moves.line);
                let number = nodes.len() as u32;
                let there = reached.level;
                if there < moves.layout.last() {
                    moves.trail.note(Some(level), there, 0, reached.state, &reached.options);
                }
                nodes.push(reached);
                if there == moves.layout.last() {
                    return Some(Found::Linearization(line(moves, &nodes, &places, number)));
                }
                if there > level {
                    waiting[there as usize].push(number);
                } else if keep(&mut best, &nodes, number) {
                    open.push(number);
                }
            }
            moves.candidates.clear();
        }
    }
    moves.cursor.stand_at(&moves.layout, 0);
    Some(Found::None(moves.window(0)))
}

/// Keeps a configuration unless there is one that is as good, and drops those that are no better. Tells whether it is kept.
fn keep<K: Mask>(best: &mut FxHashMap<u32, Vec<u32>>, nodes: &[Node<K>], at: u32) -> bool {
    let node = &nodes[at as usize];
    let list = best.entry(node.state).or_default();
    let options = |other: u32| &nodes[other as usize].options;
    if list.iter().any(|&other| options(other).at_least(&node.options)) {
        return false;
    }
    list.retain(|&other| !node.options.at_least(options(other)));
    list.push(at);
    true
}

/// The linearization that leads to a configuration.
fn line<M: Model, K: Mask>(moves: &Moves<'_, M, K>, nodes: &[Node<K>], places: &[u32], last: u32) -> Vec<usize> {
    let mut pieces = Vec::new();
    let mut at = last;
    while let Some(node) = nodes.get(at as usize) {
        let end = nodes.get(at as usize + 1).map_or(places.len(), |after| after.places);
        pieces.push(&places[node.places..end]);
        at = node.before;
    }
    pieces.reverse();
    moves.linearization(&pieces.concat())
}
