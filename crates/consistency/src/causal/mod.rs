//! Models given by axioms in which what happens before an event, and that is settled, says what it may read: weak, usual and strong release-acquire
//! and RC11.
//!
//! The question is whether the writes of each location can be put in an order that makes the execution consistent. `clocks` say what happens
//! before, `blocks` which writes stay together, `coherence` what follows for pairs of writes and whether that has a cycle. That is all for release-acquire without full
//! fences and for RC11 without sequentially consistent events, in nearly linear time; for weak release-acquire, where writes have no
//! order, a look at each read is. Strong release-acquire without updates is one acyclic relation. The rest is NP-hard, and `orders` searches.
//!
//! Sources: Lahav, Giannarakis, Vafeiadis 2016; Lahav, Vafeiadis, Kang, Hur, Dreyer 2017; Lahav, Boker 2022; Tunç et al. 2023.

mod blocks;
mod clocks;
mod coherence;
pub(crate) mod conflict;
mod execution;
pub(crate) mod explain;
mod orders;
mod witness;

pub(crate) use execution::Relations;
pub use execution::{Event, Execution};
pub use orders::Wish;

use crate::instance::{Action, Instance, Malformed, Source};
use crate::interrupt::{Interrupt, Interrupted};
use crate::models::{self, Axioms};
use crate::settings::Limits;
use blocks::{Blocks, Twice};
use clocks::Clocks;
use coherence::Accesses;
use conflict::{Conflict, Link, Why};
use raddle_trace::{EventId, Matrix, Model, Ordering, Step};

/// What came of an instance.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// This schedule runs it.
    Schedule(Vec<Step>),
    Conflict(Conflict),
    /// A limit was reached.
    Stopped,
}

/// An order of the writes of an execution that makes it consistent under a model; `None` if there is none. Writes of one location stand in it in their order.
///
/// # Errors
/// If it was told to stop.
///
/// # Panics
/// If the model is a machine with store buffers.
pub fn order(
    model: Model,
    execution: &Execution,
    wish: Wish<'_>,
    interrupt: &dyn Interrupt,
) -> Result<Option<Vec<usize>>, Interrupted> {
    orders::order(axioms(model), execution, wish, interrupt, &mut 0)
}

/// Whether an execution with this order of writes is consistent, from the definition of the model.
///
/// # Panics
/// If the model is a machine with store buffers.
pub fn is_consistent(model: Model, execution: &Execution, mo: Matrix) -> bool {
    let relations = execution.relations(mo);
    relations.is_coherent() && axioms(model).hold(&relations)
}

/// Whether what a model asks beyond coherence and atomicity holds of an execution with this order of writes.
///
/// # Panics
/// If the model is a machine with store buffers.
pub fn has_order(model: Model, execution: &Execution, mo: Matrix) -> bool {
    axioms(model).hold(&execution.relations(mo))
}

fn axioms(model: Model) -> &'static dyn Axioms {
    models::axioms(model).unwrap_or_else(|| panic!("{model} has store buffers"))
}

/// Looks for an execution. Counts the orders that a search looked at.
pub(crate) fn decide(
    instance: &Instance,
    axioms: &dyn Axioms,
    limits: &Limits<'_>,
    looks: &mut u64,
) -> Result<Found, Malformed> {
    let full_fence =
        |&(id, action): &(EventId, Action)| action == Action::Fence && instance.order(id) == Ordering::SeqCst;
    if !axioms.has_order()
        && let Some((event, _)) = instance.events().find(full_fence)
    {
        return Err(Malformed::FenceWithoutOrder { event });
    }
    if Clocks::bytes(instance) > limits.bytes {
        return Ok(Found::Stopped);
    }
    let names: Vec<EventId> = instance.events().map(|(id, _)| id).collect();
    let clocks = match Clocks::of(instance, &names, axioms.synchronises()) {
        Ok(clocks) => clocks,
        Err(links) => return Ok(Found::Conflict(Conflict::Cycle(links))),
    };
    let accesses = Accesses::of(instance);
    let blocks = match Blocks::of(instance.len(), accesses.writes()) {
        Ok(blocks) => blocks,
        Err(Twice(a, b)) => {
            let links = [(a, b), (b, a)].map(|(from, to)| Link { from, to, why: Why::Twice });
            return Ok(Found::Conflict(Conflict::Cycle(links.to_vec())));
        }
    };
    if !axioms.has_order() {
        return Ok(match accesses.hidden(&clocks, &names) {
            Some(edge) => Found::Conflict(Conflict::Cycle(Link::missed(&edge))),
            None => Found::Schedule(witness::schedule(instance, &names, &clocks, None)),
        });
    }
    let order = match accesses.order(&clocks, &blocks) {
        Ok(order) => order,
        Err(links) => return Ok(Found::Conflict(Conflict::Cycle(links))),
    };
    let updates = instance.events().any(|(_, action)| matches!(action, Action::Update { .. }));
    let is_sc = |&(id, action): &(EventId, Action)| {
        instance.order(id) == Ordering::SeqCst
            && (action == Action::Fence || axioms.synchronises() && action.loc().is_some())
    };
    let more = instance.events().filter(is_sc).nth(1).is_some();
    let order = if axioms.is_one_order() && !updates && !more {
        match one_order(instance, &names, &clocks, &accesses) {
            Ok(order) => order,
            Err(links) => return Ok(Found::Conflict(Conflict::Cycle(links))),
        }
    } else if more || axioms.is_one_order() {
        if matrix_bytes(instance.len()) > limits.bytes {
            return Ok(Found::Stopped);
        }
        let execution = execution(instance, &names, &clocks);
        let mut rank = vec![0; instance.len()];
        clocks.sequence.iter().enumerate().for_each(|(at, &event)| rank[event as usize] = at);
        let wish = Wish { demanded: &[], rank: &rank };
        match orders::order(axioms, &execution, wish, limits.interrupt, looks) {
            Ok(Some(order)) => order.into_iter().map(|write| write as u32).collect(),
            Ok(None) => return Ok(Found::Conflict(Conflict::Search)),
            Err(Interrupted) => return Ok(Found::Stopped),
        }
    } else {
        order
    };
    Ok(Found::Schedule(witness::schedule(instance, &names, &clocks, Some(&order))))
}

/// Whether a schedule runs the instance and what it does is consistent: of not too many events from the definition of the model, of more as far as coherence goes.
pub(crate) fn judge(instance: &Instance, axioms: &dyn Axioms, schedule: &[Step]) -> Result<(), String> {
    const FEW: usize = 300;
    let orders = witness::replay(instance, schedule).map_err(|misfit| misfit.to_string())?;
    if !axioms.has_order() {
        return Ok(());
    }
    let names: Vec<EventId> = instance.events().map(|(id, _)| id).collect();
    let clocks =
        Clocks::of(instance, &names, axioms.synchronises()).map_err(|_| "it happens before itself".to_owned())?;
    if instance.len() <= FEW {
        let execution = execution(instance, &names, &clocks);
        let mut mo = Matrix::empty(instance.len());
        for order in &orders {
            let order: Vec<usize> = order.iter().map(|&write| instance.flat(write) as usize).collect();
            for (at, &first) in order.iter().enumerate() {
                order[at + 1..].iter().for_each(|&second| mo.add(first, second));
            }
        }
        let relations = execution.relations(mo);
        let consistent = relations.is_coherent() && axioms.hold(&relations);
        return if consistent { Ok(()) } else { Err("an axiom is broken".into()) };
    }
    let mut place = vec![0; instance.len()];
    for order in &orders {
        order.iter().enumerate().for_each(|(at, &write)| place[instance.flat(write) as usize] = at);
    }
    let mut coherent = true;
    Accesses::of(instance).edges(&clocks, |edge| {
        coherent &= edge.second.is_some_and(|second| place[edge.first as usize] < place[second as usize]);
    });
    if coherent { Ok(()) } else { Err("it is not coherent".into()) }
}

/// What the search holds: some fifteen matrices.
fn matrix_bytes(events: usize) -> u64 {
    let row = (events as u64).div_ceil(64) * 8;
    (events as u64).saturating_mul(row).saturating_mul(16)
}

/// An order of the writes of all locations that agrees with what happens before, if there are no updates; or a cycle.
fn one_order(
    instance: &Instance,
    names: &[EventId],
    clocks: &Clocks,
    accesses: &Accesses,
) -> Result<Vec<u32>, Vec<Link>> {
    let mut links = clocks::steps(instance);
    accesses.edges(clocks, |edge| links.push(Link::of(&edge)));
    let sequence = clocks::sorted(instance.len(), &links)?;
    let writes = |&event: &u32| instance.get(names[event as usize]).is_some_and(Action::writes);
    Ok(sequence.into_iter().filter(writes).collect())
}

/// The instance with its relations.
fn execution(instance: &Instance, names: &[EventId], clocks: &Clocks) -> Execution {
    let size = instance.len();
    let mut po = Matrix::empty(size);
    clocks::program_steps(instance, |from, to| po.add(from as usize, to as usize));
    let hb = Matrix::of(size, |a, b| clocks.before(names[a], b as u32, a == b));
    let source = |source: Source| match source {
        Source::Initial => None,
        Source::Write(write) => Some(instance.flat(write) as usize),
    };
    let event = |(id, action): (EventId, Action)| Event {
        loc: action.loc().map(|loc| loc.0),
        reads: action.source().map(source),
        writes: action.writes(),
        follows: action.source().filter(|_| action.writes()).map(source),
        order: instance.order(id),
        fence: action.is_fence(),
    };
    Execution { events: instance.events().map(event).collect(), po: po.closure(), hb }
}
