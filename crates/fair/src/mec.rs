//! Largest end-components of MDPs.
//!
//! Source: Toman (2021, chapter 6). An *end-component* is a strongly connected set with an edge inside that no random edge leaves: whoever is in it can stay
//! and be everywhere in it again and again. *Basic*: decompose into strongly connected components, remove from each the random attractor of the random vertices that leave
//! it, decompose again; n² steps. *Improved*: keep the tails, who lost an edge that went out, and find bottom components by lock-step search from them while they
//! are few; n sqrt(m) steps. What such a search finds is closed already, as the set it is in was.
//!
//! Deviation: attractors are inside the candidate, not the whole graph.

use crate::argument::{Argument, NodeId};
use crate::lockstep;
use crate::sets::{Backend, Space, Stop};
use crate::streett::{Algorithm, Parts, all_parts, parts};

/// The largest end-components inside a set that no random edge leaves; `node` is what it is in the argument.
///
/// # Errors
/// If a limit is reached.
pub fn end_components<B: Backend>(
    space: &Space<B>,
    within: &B::Set,
    node: NodeId,
    algorithm: Algorithm,
    argument: &mut Argument,
) -> Result<Parts<B::Set>, Stop> {
    let whole = all_parts(space, within, node, argument)?;
    match algorithm {
        Algorithm::Basic => basic(space, whole, argument),
        Algorithm::Improved(threshold) => {
            improved(space, whole, threshold.number(space.vertices(), space.edges()), argument)
        }
    }
}

/// Random vertices of the set with an edge that leaves it.
fn leaving<B: Backend>(space: &Space<B>, set: &B::Set) -> Result<B::Set, Stop> {
    space.random_into(set, &space.minus(&space.all(), set)?)
}

fn basic<B: Backend>(
    space: &Space<B>,
    mut work: Parts<B::Set>,
    argument: &mut Argument,
) -> Result<Parts<B::Set>, Stop> {
    let mut found = Vec::new();
    while let Some((set, node)) = work.pop() {
        let leaving = leaving(space, &set)?;
        if space.is_empty(&leaving) {
            found.push((set, node));
        } else {
            let gone = space.attractor(&set, &leaving)?;
            let node = argument.remove(space, node, &gone);
            work.extend(all_parts(space, &space.minus(&set, &gone)?, node, argument)?);
        }
    }
    Ok(found)
}

fn improved<B: Backend>(
    space: &Space<B>,
    whole: Parts<B::Set>,
    threshold: u64,
    argument: &mut Argument,
) -> Result<Parts<B::Set>, Stop> {
    let mut work: Vec<(B::Set, B::Set, NodeId)> =
        whole.into_iter().map(|(set, node)| (set, space.none(), node)).collect();
    let mut found = Vec::new();
    while let Some((mut set, mut tails, mut node)) = work.pop() {
        let leaving = leaving(space, &set)?;
        if !space.is_empty(&leaving) {
            let gone = space.attractor(&set, &leaving)?;
            set = space.minus(&set, &gone)?;
            tails = space.and(&space.or(&tails, &space.pre(&gone)?)?, &set)?;
            node = argument.remove(space, node, &gone);
        }
        debug_assert!(lockstep::holds(space, &set, None, &tails), "tails are missing");
        if !space.has_edge(&set)? {
            argument.no_edge(node);
            continue;
        }
        let starts = space.size(&tails);
        if starts == 0 {
            found.push((set, node));
        } else if starts >= threshold {
            match parts(space, &set, node, argument)? {
                None => found.push((set, node)),
                Some(parts) => work.extend(parts.into_iter().map(|(part, node)| (part, space.none(), node))),
            }
        } else {
            let bottom = lockstep::search(space, &set, &space.none(), &tails)?;
            let rest = space.minus(&set, &bottom.component)?;
            let ids = argument.split(space, node, &[&bottom.component, &rest], Vec::new());
            if space.has_edge(&bottom.component)? {
                found.push((bottom.component.clone(), ids[0]));
            } else {
                argument.no_edge(ids[0]);
            }
            if space.is_empty(&rest) {
                argument.no_edge(ids[1]);
            } else {
                let tails = space.and(&space.or(&bottom.tails, &space.pre(&bottom.component)?)?, &rest)?;
                work.push((rest, tails, ids[1]));
            }
        }
    }
    Ok(found)
}
