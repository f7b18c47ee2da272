//! The second opinion: goes through what an answer rests on, edge by edge, and knows nothing of how it was found.
//!
//! * A **lasso** has to be one of the graph, and its cycle satisfies every pair.
//! * A **strategy** makes the MDP a Markov chain on the winning set. It must not leave the set, and every bottom strongly connected component of the chain, which is where a play
//!   ends up with probability one, must satisfy every pair (a visited component is visited as a whole, again and again).
//! * An **argument** is a tree of claims ([`Claim`]); each is checked for its set. Together they say that every good component lies in one of the sets that are
//!   claimed good.
//! * **Layers** are who loses: from the core of a layer no edge leads elsewhere than into it or into earlier layers, and it has no vertex of a set claimed good, so
//!   staying in it is lost; whoever is pulled has, at random, some successor among those, or has no other.
//!
//! Winning set and layers together are all vertices, so both answers are checked for each of them. Cost: linear for lassos, strategies and layers, and linear per claim.

use crate::argument::{Argument, Claim};
use crate::evidence::{Lasso, Strategy, is_open};
use crate::graph::{Graph, Pair, Vertex, bits};
use crate::solve::{Goal, Layer};
use fixedbitset::FixedBitSet;
use thiserror::Error;

/// What is wrong with a piece of evidence: a mistake of Raddle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Wrong(String);

impl Wrong {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Wrong(what.into())
    }
}

fn wrong(what: impl Into<String>) -> Wrong {
    Wrong::new(what)
}

/// Checks a lasso that begins at a vertex.
///
/// # Errors
/// If it is none, or its cycle does not satisfy the objective.
pub fn lasso(graph: &Graph, pairs: &[Pair], from: Vertex, lasso: &Lasso) -> Result<(), Wrong> {
    let whole: Vec<Vertex> = lasso.stem.iter().chain(&lasso.cycle).copied().collect();
    let (Some(&first), Some(&entry)) = (whole.first(), lasso.cycle.first()) else {
        return Err(wrong("the lasso has no cycle"));
    };
    if first != from {
        return Err(wrong(format!("the lasso begins at {first}, not at {from}")));
    }
    for (&here, &next) in whole.iter().zip(whole[1..].iter().chain([&entry])) {
        if here as usize >= graph.vertices() || !graph.successors(here).contains(&next) {
            return Err(wrong(format!("the lasso goes from {here} to {next}, which is no edge")));
        }
    }
    match pairs.iter().position(|pair| is_open(pair, &lasso.cycle)) {
        Some(pair) => Err(wrong(format!("the cycle of the lasso requests pair {pair} and never grants it"))),
        None => Ok(()),
    }
}

/// Checks a strategy that is to satisfy the objective with probability one from everywhere in a set.
///
/// # Errors
/// If it leaves the set, chooses nothing, or may end where the objective is not satisfied.
pub fn strategy(graph: &Graph, pairs: &[Pair], set: &[Vertex], strategy: &Strategy) -> Result<(), Wrong> {
    let vertices = graph.vertices();
    let inside = bits(vertices, set);
    let mut moves: Vec<Option<&[Vertex]>> = vec![None; vertices];
    for (vertex, chosen) in strategy {
        if graph.is_random(*vertex) {
            return Err(wrong(format!("the strategy chooses at {vertex}, which is random")));
        }
        if chosen.is_empty() || chosen.iter().any(|to| !graph.successors(*vertex).contains(to)) {
            return Err(wrong(format!("the strategy does not choose among the successors of {vertex}")));
        }
        moves[*vertex as usize] = Some(chosen);
    }
    for &vertex in set {
        let slot = &mut moves[vertex as usize];
        if graph.is_random(vertex) {
            *slot = Some(graph.successors(vertex));
        }
        let Some(next) = *slot else { return Err(wrong(format!("the strategy is silent about {vertex}"))) };
        if next.iter().any(|&to| !inside.contains(to as usize)) {
            return Err(wrong(format!("the strategy leaves the winning set at {vertex}")));
        }
    }
    let moves = |vertex: Vertex| moves[vertex as usize].unwrap_or(&[]);
    let component = components(vertices, set, moves);
    let of = |vertex: Vertex| component[vertex as usize];
    // Components are numbered from 1; what leaves one is no bottom.
    let count = set.iter().map(|&vertex| of(vertex)).max().unwrap_or(0);
    let mut bottom = FixedBitSet::with_capacity(count + 1);
    bottom.insert_range(1..);
    for &vertex in set {
        if moves(vertex).iter().any(|&to| of(to) != of(vertex)) {
            bottom.set(of(vertex), false);
        }
    }
    for (at, pair) in pairs.iter().enumerate() {
        let met = |set: &[Vertex]| {
            let mut met = FixedBitSet::with_capacity(count + 1);
            for &vertex in set.iter().filter(|&&vertex| inside.contains(vertex as usize)) {
                met.insert(of(vertex));
            }
            met
        };
        let mut open = met(&pair.requests);
        open.difference_with(&met(&pair.grants));
        open.intersect_with(&bottom);
        if !open.is_clear() {
            return Err(wrong(format!("the strategy may end where pair {at} is requested and never granted")));
        }
    }
    Ok(())
}

/// Checks an argument; returns the union of the sets that it claims to be good.
///
/// # Errors
/// If a claim does not hold.
pub fn argument(graph: &Graph, pairs: &[Pair], argument: &Argument) -> Result<FixedBitSet, Wrong> {
    let vertices = graph.vertices();
    let pairs: Vec<(FixedBitSet, FixedBitSet)> =
        pairs.iter().map(|pair| (bits(vertices, &pair.requests), bits(vertices, &pair.grants))).collect();
    let mut good = FixedBitSet::with_capacity(vertices);
    let mut inside = FixedBitSet::with_capacity(vertices);
    let mut work = vec![(Argument::ROOT, (0..vertices as Vertex).collect::<Vec<_>>())];
    while let Some((node, set)) = work.pop() {
        inside.extend(set.iter().map(|&vertex| vertex as usize));
        match argument.claim(node) {
            Claim::Open => return Err(wrong(format!("nothing is said about a set of {} states", set.len()))),
            Claim::Good => good.extend(set.iter().map(|&vertex| vertex as usize)),
            Claim::NoEdge => {
                let edge = |&vertex: &Vertex| graph.successors(vertex).iter().any(|&to| inside.contains(to as usize));
                if let Some(vertex) = set.iter().find(|vertex| edge(vertex)) {
                    return Err(wrong(format!("there is an edge from {vertex} in a set that is said to have none")));
                }
            }
            Claim::Remove { removed, rest } => {
                let lost = hopeless(graph, &pairs, &set, &inside);
                if let Some(vertex) = removed.iter().find(|&&vertex| !lost.contains(vertex as usize)) {
                    return Err(wrong(format!("there is no reason to remove {vertex}")));
                }
                let gone = bits(vertices, removed);
                let rest_set = set.iter().copied().filter(|&vertex| !gone.contains(vertex as usize)).collect();
                work.push((*rest, rest_set));
            }
            Claim::Split { parts, alone } => {
                split(graph, &set, &inside, parts.iter().map(|(part, _)| &part[..]), alone)?;
                work.extend(parts.iter().map(|(part, node)| (*node, part.clone())));
            }
        }
        for &vertex in &set {
            inside.set(vertex as usize, false);
        }
    }
    Ok(good)
}

/// Vertices that are in no good component inside the set, by one round of reasons.
fn hopeless(graph: &Graph, pairs: &[(FixedBitSet, FixedBitSet)], set: &[Vertex], inside: &FixedBitSet) -> FixedBitSet {
    let mut lost = FixedBitSet::with_capacity(graph.vertices());
    for (requests, grants) in pairs {
        if inside.is_disjoint(grants) {
            lost.union_with(&(requests & inside));
        }
    }
    let leaves = |&vertex: &Vertex| {
        graph.is_random(vertex) && graph.successors(vertex).iter().any(|&to| !inside.contains(to as usize))
    };
    lost.extend(set.iter().filter(|vertex| leaves(vertex)).map(|&vertex| vertex as usize));
    pull(graph, set, inside, &mut lost);
    lost
}

/// Adds who may be driven there inside the set: at random, or because there is no other way.
fn pull(graph: &Graph, set: &[Vertex], inside: &FixedBitSet, lost: &mut FixedBitSet) {
    let within = |vertex: Vertex| graph.successors(vertex).iter().copied().filter(|&to| inside.contains(to as usize));
    let mut before: rustc_hash::FxHashMap<Vertex, Vec<Vertex>> = rustc_hash::FxHashMap::default();
    let mut ways: rustc_hash::FxHashMap<Vertex, usize> = rustc_hash::FxHashMap::default();
    for &vertex in set {
        let mut count = 0;
        for to in within(vertex) {
            before.entry(to).or_default().push(vertex);
            count += 1;
        }
        ways.insert(vertex, count);
        if count == 0 {
            lost.insert(vertex as usize);
        }
    }
    let mut work: Vec<Vertex> = set.iter().copied().filter(|&vertex| lost.contains(vertex as usize)).collect();
    while let Some(to) = work.pop() {
        for &from in before.get(&to).into_iter().flatten() {
            let ways = ways.get_mut(&from).expect("who has an edge inside is inside");
            *ways -= 1;
            if (graph.is_random(from) || *ways == 0) && !lost.put(from as usize) {
                work.push(from);
            }
        }
    }
}

/// Checks that these are all of the set, and that no cycle inside it goes through two of them.
fn split<'a>(
    graph: &Graph,
    set: &[Vertex],
    inside: &FixedBitSet,
    parts: impl Iterator<Item = &'a [Vertex]>,
    alone: &'a [Vertex],
) -> Result<(), Wrong> {
    let vertices = graph.vertices();
    let mut part_of = rustc_hash::FxHashMap::default();
    let singles = alone.chunks(1);
    for (number, part) in parts.chain(singles).enumerate() {
        for &vertex in part {
            if !inside.contains(vertex as usize) || part_of.insert(vertex, number).is_some() {
                return Err(wrong(format!("state {vertex} is in two parts, or in none of the set")));
            }
        }
    }
    if part_of.len() != set.len() {
        return Err(wrong("the parts are not the whole set"));
    }
    if let Some(vertex) = alone.iter().find(|vertex| graph.successors(**vertex).contains(vertex)) {
        return Err(wrong(format!("state {vertex} has an edge to itself")));
    }
    // Every strongly connected component lies in one part.
    let successors = |vertex: Vertex| graph.successors(vertex);
    let component = components_inside(vertices, set, inside, successors);
    let mut first: rustc_hash::FxHashMap<usize, usize> = rustc_hash::FxHashMap::default();
    for (&vertex, &number) in &part_of {
        if *first.entry(component[&vertex]).or_insert(number) != number {
            return Err(wrong(format!("a cycle through {vertex} goes through two parts")));
        }
    }
    Ok(())
}

/// Checks who loses: the layers, given what is good, and that they are everybody outside of the winning set.
///
/// # Errors
/// If somebody in a layer might win, or is in none although not in the winning set.
pub fn layers(
    graph: &Graph,
    good: &FixedBitSet,
    winning: &[Vertex],
    goal: Goal,
    layers: &[Layer],
) -> Result<(), Wrong> {
    let vertices = graph.vertices();
    let mut left = FixedBitSet::with_capacity(vertices);
    left.insert_range(..);
    if goal == Goal::Possibly && (layers.len() > 1 || layers.iter().any(|layer| !layer.pulled.is_empty())) {
        return Err(wrong("whoever is driven somewhere may still have luck"));
    }
    for layer in layers {
        let core = bits(vertices, &layer.core);
        for &vertex in &layer.core {
            if !left.contains(vertex as usize) || good.contains(vertex as usize) {
                return Err(wrong(format!("state {vertex} is good, or lost before")));
            }
            let escapes = |&to: &Vertex| left.contains(to as usize) && !core.contains(to as usize);
            if graph.successors(vertex).iter().any(escapes) {
                return Err(wrong(format!("one can leave the lost states at {vertex}")));
            }
        }
        let set: Vec<Vertex> = left.ones().map(|vertex| vertex as Vertex).collect();
        let mut lost = core.clone();
        for &vertex in &set {
            if graph.is_random(vertex) && graph.successors(vertex).iter().any(|&to| !left.contains(to as usize)) {
                lost.insert(vertex as usize);
            }
        }
        pull(graph, &set, &left, &mut lost);
        if let Some(vertex) = layer.pulled.iter().find(|&&vertex| !lost.contains(vertex as usize)) {
            return Err(wrong(format!("nothing drives state {vertex} to those who lost")));
        }
        for &vertex in layer.core.iter().chain(&layer.pulled) {
            left.set(vertex as usize, false);
        }
    }
    if left == bits(vertices, winning) { Ok(()) } else { Err(wrong("some states neither win nor lose")) }
}

/// The number of the strongly connected component of each vertex of a set, from 1, along these moves, which stay in the set.
fn components<'a>(vertices: usize, set: &[Vertex], moves: impl Fn(Vertex) -> &'a [Vertex]) -> Vec<usize> {
    let inside = bits(vertices, set);
    let found = components_inside(vertices, set, &inside, moves);
    let mut numbers = vec![0; vertices];
    for (vertex, number) in found {
        numbers[vertex as usize] = number;
    }
    numbers
}

/// Strongly connected components by two searches (Kosaraju and Sharir 1981): by the order in which a search leaves vertices, backwards along reversed edges.
fn components_inside<'a>(
    vertices: usize,
    set: &[Vertex],
    inside: &FixedBitSet,
    moves: impl Fn(Vertex) -> &'a [Vertex],
) -> rustc_hash::FxHashMap<Vertex, usize> {
    let mut seen = FixedBitSet::with_capacity(vertices);
    let mut left = Vec::with_capacity(set.len());
    let mut before: rustc_hash::FxHashMap<Vertex, Vec<Vertex>> = rustc_hash::FxHashMap::default();
    for &root in set {
        if seen.put(root as usize) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((vertex, next)) = path.last_mut() {
            match moves(*vertex).get(*next) {
                None => {
                    left.push(*vertex);
                    path.pop();
                }
                Some(&to) => {
                    *next += 1;
                    if inside.contains(to as usize) {
                        before.entry(to).or_default().push(*vertex);
                        if !seen.put(to as usize) {
                            path.push((to, 0));
                        }
                    }
                }
            }
        }
    }
    let mut component = rustc_hash::FxHashMap::default();
    let mut number = 0;
    for &root in left.iter().rev() {
        if component.contains_key(&root) {
            continue;
        }
        number += 1;
        component.insert(root, number);
        let mut work = vec![root];
        while let Some(vertex) = work.pop() {
            for &from in before.get(&vertex).into_iter().flatten() {
                if let std::collections::hash_map::Entry::Vacant(slot) = component.entry(from) {
                    slot.insert(number);
                    work.push(from);
                }
            }
        }
    }
    component
}
