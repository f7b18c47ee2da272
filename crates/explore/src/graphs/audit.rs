//! What debug builds check beside the search, by other means: that no class is met twice, and that every graph is
//! consistent. Both are slow and remember things, which the search itself must not.

use super::event::{Event, INIT, Kind, NO_LOC, Slot, preserved};
use super::graph::{Equivalence, Graph};
use raddle_trace::{Model, Relation, ThreadId};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// The classes met so far, by a hash of their program order, reads-from and coherence.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    met: FxHashSet<u64>,
}

impl Audit {
    /// Checks a graph at the end of an execution. Returns whether its class was met before.
    pub(crate) fn leaf(&mut self, graph: &Graph) -> bool {
        assert!(graph.order.len() > 80 || is_consistent(graph), "a graph of the search is inconsistent");
        !self.met.insert(class(graph))
    }
}

/// A hash of what makes a class: two different classes may in theory share it, and would be reported, not overlooked.
fn class(graph: &Graph) -> u64 {
    let name = |slot: Slot| match slot {
        INIT => None,
        slot => Some((graph.event(slot).thread, graph.event(slot).index)),
    };
    let mut hasher = FxHasher::default();
    for (thread, log) in graph.threads.iter().enumerate() {
        for event in log.events.iter().map(|&slot| graph.event(slot)) {
            let source = if event.kind == Kind::Read { name(event.rf) } else { None };
            (thread, event.kind as u8, event.loc, event.value, source).hash(&mut hasher);
        }
    }
    if graph.equivalence == Equivalence::Coherence {
        for accesses in &graph.locations {
            accesses.co.iter().for_each(|&write| name(write).hash(&mut hasher));
            0xc0_u8.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The predicate of the model, from its definition: the global relation has no cycle, nor has any location's own.
fn is_consistent(graph: &Graph) -> bool {
    let mut global = Relation::new();
    let mut local = Relation::new();
    let mut cyclic = false;
    let mut edge = |relation: &mut Relation, a: Slot, b: Slot| cyclic |= relation.add_edge(a as usize, b as usize);
    for log in &graph.threads {
        for (at, &b) in log.events.iter().enumerate() {
            for &a in &log.events[..at] {
                let (first, second) = (graph.event(a), graph.event(b));
                if preserved(graph.model, first, second) {
                    edge(&mut global, a, b);
                }
                if first.loc == second.loc && is_access(first) && is_access(second) {
                    edge(&mut local, a, b);
                }
            }
            if let Some(spawn) = log.spawn {
                edge(&mut global, spawn, b);
            }
            if graph.event(b).kind == Kind::Join {
                let child = ThreadId(graph.event(b).value as u32);
                graph.threads[child.index()].events.iter().for_each(|&a| edge(&mut global, a, b));
            }
        }
    }
    for accesses in &graph.locations {
        for pair in accesses.co.windows(2) {
            edge(&mut global, pair[0], pair[1]);
            edge(&mut local, pair[0], pair[1]);
        }
        for &read in accesses.reads.iter().filter(|&&slot| graph.event(slot).kind == Kind::Read) {
            let source = graph.event(read).rf;
            if source != INIT {
                edge(&mut local, source, read);
                if graph.model == Model::Sc || graph.event(source).thread != graph.event(read).thread {
                    edge(&mut global, source, read);
                }
            }
            let after = accesses.co.iter().skip_while(|&&w| source != INIT && w != source);
            for &write in after.skip(usize::from(source != INIT)) {
                edge(&mut global, read, write);
                edge(&mut local, read, write);
            }
        }
    }
    !cyclic
}

fn is_access(event: &Event) -> bool {
    matches!(event.kind, Kind::Read | Kind::Write) && event.loc != NO_LOC
}
