//! Good end-components of MDPs.
//!
//! Source: Toman (2021, chapter 6). *Basic*: find the largest end-components ([`crate::mec`]), remove from each the random attractor of the vertices whose requests nobody in it
//! grants, find the end-components of what is left. *Improved*: candidates are closed under random edges but need not be end-components, so each round needs
//! strongly connected components only, and if few vertices lost an edge a lock-step search for one; what was cut off loses the attractors that
//! would leave it at random.
//!
//! Deviations: attractors are inside the candidate; the starts of a part that comes out of a whole decomposition are the neighbours of the attractor that it lost (the proof
//! in the source says they are none, its algorithm has them).

use super::{Algorithm, Candidate, Good, Parts, parts};
use crate::argument::{Argument, NodeId};
use crate::lockstep;
use crate::mec::end_components;
use crate::sets::{Backend, Space, Stop};

/// The largest good end-components; `ends` is the algorithm for end-components.
///
/// # Errors
/// If a limit is reached.
pub fn good_end_components<B: Backend>(
    space: &Space<B>,
    algorithm: Algorithm,
    ends: Algorithm,
    argument: &mut Argument,
) -> Result<Good<B::Set>, Stop> {
    let begin = space.steps();
    let whole = end_components(space, &space.all(), Argument::ROOT, ends, argument)?;
    let first = space.steps() - begin;
    let components = match algorithm {
        Algorithm::Basic => basic(space, whole, ends, argument)?,
        Algorithm::Improved(threshold) => {
            let candidates = whole.into_iter().map(|part| Candidate::whole(space, part)).collect();
            improved(space, candidates, threshold.number(space.vertices(), space.edges()), argument)?
        }
    };
    Ok(Good { components, first, search: space.steps() - begin - first })
}

fn basic<B: Backend>(
    space: &Space<B>,
    mut work: Parts<B::Set>,
    ends: Algorithm,
    argument: &mut Argument,
) -> Result<Vec<B::Set>, Stop> {
    let mut good = Vec::new();
    while let Some((set, node)) = work.pop() {
        let bad = space.bad(&set)?;
        if space.is_empty(&bad) {
            argument.good(node);
            good.push(set);
        } else {
            let gone = space.attractor(&set, &bad)?;
            let node = argument.remove(space, node, &gone);
            work.extend(end_components(space, &space.minus(&set, &gone)?, node, ends, argument)?);
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
            let gone = space.attractor(&candidate.set, &bad)?;
            candidate = candidate.without(space, &gone, argument)?;
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
                Some(parts) => {
                    for part in parts {
                        work.push(closed(space, part, set, argument)?);
                    }
                }
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
            let pulled = space.attractor(set, &found.component)?;
            let left = space.minus(set, &pulled)?;
            work.push(Candidate {
                heads: space.and(&space.or(&found.heads, &space.post(&pulled)?)?, &left)?,
                tails: space.and(&space.or(&found.tails, &space.pre(&pulled)?)?, &left)?,
                set: left,
                node: argument.remove(space, ids[1], &space.minus(&pulled, &found.component)?),
            });
            work.push(closed(space, (found.component, ids[0]), set, argument)?);
        }
    }
    Ok(good)
}

/// A strongly connected part of a closed set without what may leave it at random.
fn closed<B: Backend>(
    space: &Space<B>,
    (part, node): (B::Set, NodeId),
    of: &B::Set,
    argument: &mut Argument,
) -> Result<Candidate<B::Set>, Stop> {
    let leaving = space.random_into(&part, &space.minus(of, &part)?)?;
    let whole = Candidate::whole(space, (part, node));
    if space.is_empty(&leaving) {
        return Ok(whole);
    }
    let gone = space.attractor(&whole.set, &leaving)?;
    whole.without(space, &gone, argument)
}
