//! Good components of graphs.
//!
//! Source: Toman (2021, chapter 6). *Basic*: decompose into strongly connected components; remove from each the vertices whose requests nobody in it
//! grants; decompose again what is left. *Improved*: instead of the last, if few vertices lost an edge, search in lock-step from them ([`crate::lockstep`])
//! and cut off what is found. A removal may take away the only grant of another pair, so removing goes on until nothing is bad, for
//! every candidate that is looked at.
//!
//! Deviation: components of one vertex without an edge are dropped when they are found.

use super::{Algorithm, Candidate, Good, Parts, all_parts, parts};
use crate::argument::Argument;
use crate::lockstep;
use crate::sets::{Backend, Space, Stop};

/// The largest good components, whatever vertices are random.
///
/// # Errors
/// If a limit is reached.
pub fn good_components<B: Backend>(
    space: &Space<B>,
    algorithm: Algorithm,
    argument: &mut Argument,
) -> Result<Good<B::Set>, Stop> {
    let begin = space.steps();
    let whole = all_parts(space, &space.all(), Argument::ROOT, argument)?;
    let first = space.steps() - begin;
    let components = match algorithm {
        Algorithm::Basic => basic(space, whole, argument)?,
        Algorithm::Improved(threshold) => {
            let candidates = whole.into_iter().map(|part| Candidate::whole(space, part)).collect();
            improved(space, candidates, threshold.number(space.vertices(), space.edges()), argument)?
        }
    };
    Ok(Good { components, first, search: space.steps() - begin - first })
}

fn basic<B: Backend>(space: &Space<B>, mut work: Parts<B::Set>, argument: &mut Argument) -> Result<Vec<B::Set>, Stop> {
    let mut good = Vec::new();
    while let Some((set, node)) = work.pop() {
        let bad = space.bad(&set)?;
        if space.is_empty(&bad) {
            argument.good(node);
            good.push(set);
        } else {
            let node = argument.remove(space, node, &bad);
            work.extend(all_parts(space, &space.minus(&set, &bad)?, node, argument)?);
        }
    }
    Ok(good)
}

fn improved<B: Backend>(
    space: &Space<B>,
    mut work: Vec<Candidate<B::Set>>,
    threshold: u64,
    argument: &mut Argument,
) -> Result<Vec<B::Set>, Stop> {
    let mut good = Vec::new();
    while let Some(mut candidate) = work.pop() {
        loop {
            let bad = space.bad(&candidate.set)?;
            if space.is_empty(&bad) {
                break;
            }
            candidate = candidate.without(space, &bad, argument)?;
        }
        let Candidate { set, heads, tails, node } = &candidate;
        debug_assert!(lockstep::holds(space, set, Some(heads), tails), "starts are missing");
        if !space.has_edge(set)? {
            argument.no_edge(*node);
            continue;
        }
        let starts = candidate.starts(space);
        if starts == 0 {
            argument.good(*node);
            good.push(candidate.set);
        } else if starts >= threshold {
            match parts(space, set, *node, argument)? {
                None => {
                    argument.good(*node);
                    good.push(candidate.set);
                }
                Some(parts) => work.extend(parts.into_iter().map(|part| Candidate::whole(space, part))),
            }
        } else {
            let found = lockstep::search(space, set, heads, tails)?;
            if space.same(&found.component, set) {
                argument.good(*node);
                good.push(candidate.set);
                continue;
            }
            let rest = space.minus(set, &found.component)?;
            let ids = argument.split(space, *node, &[&found.component, &rest], Vec::new());
            work.push(Candidate {
                heads: space.and(&space.or(&found.heads, &space.post(&found.component)?)?, &rest)?,
                tails: space.and(&space.or(&found.tails, &space.pre(&found.component)?)?, &rest)?,
                set: rest,
                node: ids[1],
            });
            work.push(Candidate::whole(space, (found.component, ids[0])));
        }
    }
    Ok(good)
}
