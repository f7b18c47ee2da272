//! Where fences make a program robust: sets of least cost.
//!
//! A successful attack passes instructions with something delayed; a fence before one of them takes it away. So a set of fences must hit every attack. Sets of least cost that hit
//! all attacks found so far are tried, and an attack that succeeds all the same is one more to hit (implicit hitting sets, Karp 2010 and others; Calin 2016 leaves inference to
//! earlier work). What is found in the end is minimal by construction, and has been verified: no attack succeeds with these fences.
//!
//! Cost: a fence in a loop costs more, ten times for each loop around it.

use super::{Robustness, Settings, robust};
use raddle_engine::{Deadline, Fault, StopReason};
use raddle_machine::Code;
use std::collections::BTreeSet;

/// Instructions before which a fence stands.
pub type Fences = BTreeSet<u32>;

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Sets of least cost, in order; one that is empty if the program is robust as it is.
    pub sets: Vec<Fences>,
    /// How many sets were tried.
    pub tried: usize,
    /// Why the search ended too early; then there are no sets.
    pub stop: Option<StopReason>,
}

/// At most so many sets of the same cost are listed.
const MOST: usize = 8;

/// Sets of fences of least cost that make the program robust.
///
/// # Errors
/// As [`robust()`].
pub fn fences(code: &Code, first: &Robustness, settings: Settings, deadline: &Deadline<'_>) -> Result<Found, Fault> {
    let mut paths: Vec<Fences> = first.witnesses.iter().map(|witness| witness.passed.clone()).collect();
    let mut found = Found { sets: Vec::new(), tried: 0, stop: first.stop.clone() };
    let cost = |fence: u32| 10u64.saturating_pow(code.loop_depth(fence));
    let mut best = None;
    let mut refuted: BTreeSet<Fences> = BTreeSet::new();
    while found.stop.is_none() && found.sets.len() < MOST {
        let known: Vec<Fences> = found.sets.clone();
        let is_new = |set: &Fences| !refuted.contains(set) && known.iter().all(|known| !known.is_subset(set));
        let Some((price, set)) = cheapest(&paths, &cost, &is_new) else { break };
        if best.is_some_and(|best| price > best) {
            break;
        }
        found.tried += 1;
        let outcome = robust(code, &set, Settings { all: false, ..settings }, deadline)?;
        found.stop = outcome.stop;
        match outcome.witnesses.into_iter().next() {
            Some(witness) => {
                refuted.insert(set);
                paths.push(witness.passed);
            }
            None if found.stop.is_none() => {
                best = Some(price);
                found.sets.push(set);
            }
            None => {}
        }
    }
    if found.stop.is_some() {
        found.sets.clear();
    }
    Ok(found)
}

/// A cheapest set that hits all paths and is new.
fn cheapest(paths: &[Fences], cost: &dyn Fn(u32) -> u64, is_new: &dyn Fn(&Fences) -> bool) -> Option<(u64, Fences)> {
    // By price, then in order, so that the answer is always the same.
    let mut todo: BTreeSet<(u64, Fences)> = BTreeSet::from([(0, Fences::new())]);
    while let Some((price, set)) = todo.pop_first() {
        match paths.iter().find(|path| path.is_disjoint(&set)) {
            None if is_new(&set) => return Some((price, set)),
            None => {}
            Some(path) => {
                for &fence in path {
                    let mut more = set.clone();
                    more.insert(fence);
                    todo.insert((price + cost(fence), more));
                }
            }
        }
    }
    None
}
