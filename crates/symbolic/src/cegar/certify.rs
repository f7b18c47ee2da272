//! A proof, checked again: state by state, with questions of its own.
//!
//! The nodes of a complete graph that stand for themselves are claimed to be an invariant. For each of them the actions are made anew, and for each action that is possible one of the nodes must have
//! in it all that the action leads to: threads are where it says, every value that it knows is the new value, every predicate is as it says. These are questions to a new solver, one by one; nothing that the search
//! has concluded is used, neither what it kept of answers nor which node it took to cover which.

use super::abstraction::{Abstract, World};
use super::control::Control;
use super::graph::{Graph, Wanted, successors};
use super::path::{Action, Halt, Target};
use raddle_solve::Term;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How many actions lead from a state of the invariant to one; in words what is wrong if one does not.
pub(super) fn certify(
    world: &mut World<'_>,
    graph: &Graph,
    wanted: Wanted,
    told: &FxHashSet<Target>,
) -> Result<Result<u64, String>, Halt> {
    world.forget_answers();
    let mut places: FxHashMap<Rc<Control>, Vec<usize>> = FxHashMap::default();
    for (at, node) in graph.nodes.iter().enumerate().filter(|(_, node)| node.expanded) {
        places.entry(node.state.control.clone()).or_default().push(at);
    }
    let first = Graph::new(world)?;
    if !graph.nodes.first().is_some_and(|node| first.nodes[0].state.is_within(&node.state)) {
        return Ok(Err("it does not hold at first".into()));
    }
    let mut checked = 0;
    for node in graph.nodes.iter().filter(|node| node.expanded) {
        let facts = world.facts(&node.state);
        let all = successors(world, &node.state, &facts, wanted)?;
        for action in all.actions.into_iter().chain(all.noticed) {
            let premises: Vec<Term> = facts.iter().copied().chain([action.guard]).collect();
            if !world.can_hold(&premises)? {
                continue;
            }
            checked += 1;
            match &action.target {
                Some(target) if !told.contains(target) => {
                    return Ok(Err(format!("a target can be reached: {target:?}")));
                }
                Some(Target::Failure { .. } | Target::Bound { .. }) | None => {}
                Some(_) => continue,
            }
            let mut held = false;
            for &other in places.get(&action.control).into_iter().flatten() {
                if leads_into(world, &node.state, &premises, &action, &graph.nodes[other].state)? {
                    held = true;
                    break;
                }
            }
            if !held {
                return Ok(Err("an action leads out of it".into()));
            }
        }
    }
    Ok(Ok(checked))
}

/// Whether an action leads from a state to nothing but what is in another one.
fn leads_into(
    world: &mut World<'_>,
    from: &Abstract,
    premises: &[Term],
    action: &Action,
    to: &Abstract,
) -> Result<bool, Halt> {
    let mut with: FxHashMap<Term, Term> = FxHashMap::default();
    for (&var, &value) in &from.known {
        let term = world.vars.term(world.code, &mut world.terms, var);
        with.insert(term, world.terms.constant(world.terms.width(term), value));
    }
    for &(var, value) in &action.updates {
        with.insert(world.vars.term(world.code, &mut world.terms, var), value);
    }
    let mut claims = Vec::new();
    for (&var, &value) in &to.known {
        let term = world.vars.term(world.code, &mut world.terms, var);
        let value = world.terms.constant(world.terms.width(term), value);
        claims.push(world.terms.eq(term, value));
    }
    for (&at, &holds) in &to.literals {
        let predicate = world.precision.predicates[at].0;
        claims.push(if holds { predicate } else { world.terms.not(predicate) });
    }
    let mut done = FxHashMap::default();
    for claim in claims {
        let claim = world.terms.replace(claim, &|var| with.get(&var).copied(), &mut done);
        let broken = world.terms.not(claim);
        let asked: Vec<Term> = premises.iter().copied().chain([broken]).collect();
        if world.can_hold(&asked)? {
            return Ok(false);
        }
    }
    Ok(true)
}
