//! Runs of a program that an automaton accepts: both at once.
//!
//! A vertex is a state of the program and a state of the automaton that reads it. The fairness of the program's actors and the acceptance of the automaton are pairs of one graph, so one question is asked of both. Where a run ends
//! the last state is read for ever, by a move that belongs to nobody.

use super::atoms::Letter;
use super::tableau::Automaton;
use crate::graph::Moves;
use raddle_fair::labelled::{EVERYWHERE, Edge, Labelled, NOBODY};
use rustc_hash::FxHashMap;

/// A run of the product, by the moves of the program.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    /// The moves up to the loop: from which state, by which edge.
    pub stem: Vec<(u32, Edge)>,
    /// The moves of the loop; none if the run ends before it.
    pub turn: Vec<(u32, Edge)>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Searched {
    /// A fair run that is accepted.
    pub found: Option<Accepted>,
    /// How many vertices there are.
    pub vertices: u64,
    /// How many strongly connected sets were looked at.
    pub examined: u64,
}

/// The move of a run that has ended.
const STAYS: Edge = Edge::MAX;

/// Looks for a fair run that the automaton accepts. `letters` are those of the states, and `ends` says in which of them a run ends. `None` if `stop` said so on the way, or there are too many vertices.
pub fn search(
    moves: &Moves,
    automaton: &Automaton,
    letters: &[Letter],
    ends: &dyn Fn(u32) -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Searched> {
    let graph = &moves.labelled;
    let actors = moves.actors.len() as u16;
    let mut product = Labelled::new(moves.actors.len() + automaton.accepting.len());
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut vertices: Vec<(u32, u32)> = Vec::new();
    // From which vertex and by which move each was first met, and the moves behind the edges.
    let mut came: Vec<Option<(u32, Edge)>> = Vec::new();
    let mut behind: Vec<Edge> = Vec::new();
    for &start in automaton.initial.iter().filter(|&&at| automaton.states[at as usize].takes(letters[0])) {
        numbers.insert((0, start), vertices.len() as u32);
        vertices.push((0, start));
        came.push(None);
    }
    let mut at = 0;
    while at < vertices.len() {
        if at % 1024 == 0 && stop() || vertices.len() > u32::MAX as usize / 2 {
            return None;
        }
        let (state, reads) = vertices[at];
        let mut edges: Vec<(u32, u16)> = Vec::new();
        let stays = ends(state).then_some((STAYS, state, NOBODY));
        let steps = graph.from(state).map(|edge| (edge, graph.target(edge), graph.granted(edge)));
        for (edge, to, by) in steps.chain(stays) {
            for &next in &automaton.states[reads as usize].next {
                if !automaton.states[next as usize].takes(letters[to as usize]) {
                    continue;
                }
                let number = *numbers.entry((to, next)).or_insert_with(|| {
                    vertices.push((to, next));
                    came.push(Some((at as u32, edge)));
                    vertices.len() as u32 - 1
                });
                edges.push((number, by));
                behind.push(edge);
            }
        }
        let asks: Vec<u16> = (0..actors).filter(|&actor| graph.requests(state, actor)).collect();
        let gives = (0..actors).filter(|&actor| graph.grants(state, actor));
        let accepts = (0..automaton.accepting.len()).filter(|&set| automaton.accepting[set][reads as usize]);
        let gives: Vec<u16> = gives.chain(accepts.map(|set| actors + set as u16)).collect();
        product.push(asks.into_iter().chain(actors..actors + automaton.accepting.len() as u16), gives, edges);
        at += 1;
    }
    let found = product.decompose(&EVERYWHERE, stop)?;
    let mut searched = Searched { found: None, vertices: vertices.len() as u64, examined: found.examined };
    if let Some(set) = found.good.iter().min_by_key(|set| set[0]) {
        let (mut stem, mut turn) = (Vec::new(), Vec::new());
        let mut from = set[0];
        while let Some((before, edge)) = came[from as usize] {
            stem.push((vertices[before as usize].0, edge));
            from = before;
        }
        stem.reverse();
        let mut from = set[0];
        for edge in product.cycle(set, &EVERYWHERE) {
            turn.push((vertices[from as usize].0, behind[edge as usize]));
            from = product.target(edge);
        }
        let moved = |one: &(u32, Edge)| one.1 != STAYS;
        stem.retain(moved);
        turn.retain(moved);
        searched.found = Some(Accepted { stem, turn });
    }
    Some(searched)
}
