//! Weak release-acquire (Lahav, Boker 2022): a read must not take what it knows to be overwritten, and two updates do not read from one write. The writes of
//! a location have no order, so a class is what was read, and the search is the one over [sources](crate::graphs::sources) with nothing to be explained by
//! another order. Nor is there one with which an axiom on full fences could be stated: they are updates of one hidden location, and the order of these is part of a class.

use super::Model;
use super::causal;
use crate::graphs::event::{Event, Kind};
use crate::graphs::graph::Graph;
use raddle_program::Ordering;
use raddle_trace::{BitSet, Relation};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wra;

impl Model for Wra {
    type Rows = ();
    const MODEL: raddle_trace::Model = raddle_trace::Model::Wra;
    const FORWARDS: bool = false;
    const NAMED: bool = true;
    const ORDERED: bool = false;

    fn fence(_: Ordering) -> Option<Kind> {
        None
    }

    fn fence_updates(order: Ordering) -> bool {
        order == Ordering::SeqCst
    }

    fn read_floor(_: &mut Graph<Self>, _: &Event) -> isize {
        -1
    }

    fn write_floor(_: &mut Graph<Self>, _: &Event) -> isize {
        -1
    }

    fn read_floor_within(_: &Graph<Self>, _: &Event, _: &BitSet) -> isize {
        -1
    }

    fn collect(graph: &Graph<Self>, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
        causal::collect(graph, relation, event, row);
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool {
        use crate::graphs::event::{Flags, INIT, Slot};
        let before = |a: Slot, b: Slot| graph.prefix.before(a as usize, b as usize);
        graph.locations.iter().all(|accesses| {
            let sees = |&read: &Slot| {
                let source = graph.event(read).rf;
                let hides =
                    |&write: &Slot| write != source && before(write, read) && (source == INIT || before(source, write));
                !accesses.co.iter().any(hides)
            };
            let is_half = |&&write: &&Slot| graph.event(write).flags.contains(Flags::LOCKED);
            let halves = accesses.co.iter().filter(is_half).map(|&write| graph.source_of_update(graph.event(write)));
            let mut taken: Vec<Slot> = halves.collect();
            let updates = taken.len();
            taken.sort_unstable();
            taken.dedup();
            taken.len() == updates && accesses.reads.iter().all(sees)
        })
    }
}
