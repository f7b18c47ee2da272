//! What debug builds check beside the search, by other means: that no class is met twice, that every graph is
//! consistent, and that the verifiers of [`raddle_consistency`] give the same answers. All are slow or remember things, which
//! the search itself must not.

use super::event::{Event, Flags, INIT, Kind, Slot};
use super::graph::{Equivalence, Graph};
use super::models::Model;
use super::realise::Question;
use raddle_consistency::{Action, Answer, Instance, Loc, Source};
use raddle_trace::{EventId, ThreadId};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// The classes met so far, by a hash of their program order, reads-from and coherence.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    met: FxHashSet<u64>,
}

impl Audit {
    /// Checks a graph at the end of an execution. Returns whether its class was met before.
    pub(crate) fn leaf<M: Model>(&mut self, graph: &Graph<M>) -> bool {
        assert!(graph.order.len() > 80 || M::is_consistent(graph), "a graph of the search is inconsistent");
        assert!(chains_agree(graph), "chains are not what the lists of a location are");
        !self.met.insert(class(graph))
    }
}

/// Whether the chains of each location have its writes and its reads, each once.
fn chains_agree<M: Model>(graph: &Graph<M>) -> bool {
    graph.locations.iter().all(|accesses| {
        let agrees = |list: &[Slot], lasts: &mut dyn Iterator<Item = Slot>| {
            let mut chained: Vec<Slot> = lasts.flat_map(|last| graph.chain(last)).collect();
            let mut list = list.to_vec();
            chained.sort_unstable();
            list.sort_unstable();
            chained == list
        };
        agrees(&accesses.co, &mut accesses.lasts.iter().map(|last| last.write))
            && agrees(&accesses.reads, &mut accesses.lasts.iter().map(|last| last.read))
    })
}

/// A hash of what makes a class: two different classes may in theory share it, and would be reported, not overlooked.
fn class<M: Model>(graph: &Graph<M>) -> u64 {
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

/// Whether the verifiers agree with an answer; they know nothing of demanded orders and of barriers, and larger questions take too long.
pub(super) fn agrees<M: Model>(question: &Question<'_, M>, answer: bool) -> bool {
    let graph = question.graph;
    if !question.edges.is_empty() || graph.order.len() > 24 || !graph.arrivals.is_empty() {
        return true;
    }
    let instance = instance(question);
    match raddle_consistency::verify(&instance, M::MODEL, &raddle_consistency::Settings::default()) {
        Ok(Answer::Consistent(_)) => answer,
        Ok(Answer::Inconsistent) => !answer,
        Ok(Answer::Unknown) => true,
        Err(malformed) => panic!("a question of the search is no instance: {malformed}"),
    }
}

/// The question as an instance of the consistency problem.
fn instance<M: Model>(question: &Question<'_, M>) -> Instance {
    let Question { graph, events, read, .. } = *question;
    // Which event of the instance each slot becomes; the last is the new read.
    let mut names: Vec<Option<EventId>> = vec![None; graph.events.len() + 1];
    let mut threads: Vec<Vec<(&Event, bool)>> = vec![Vec::new(); graph.threads.len()];
    for (index, log) in graph.threads.iter().enumerate() {
        let thread = ThreadId(index as u32);
        let mut place = 0;
        let kept = log.events.iter().copied().filter(|&slot| events.contains(slot as usize));
        for slot in kept {
            let event = graph.event(slot);
            let whole = graph.other_half(event).is_some_and(|write| events.contains(write as usize));
            if whole {
                // It is one with its write.
                continue;
            }
            let half = event.kind == Kind::Write && event.flags.contains(Flags::LOCKED);
            place += u32::from(is_failed_update(event));
            names[slot as usize] = Some(EventId::new(thread, place));
            place += 1;
            threads[index].push((event, half));
        }
        if let Some(read) = read.filter(|read| read.thread == thread) {
            threads[index].push((read, false));
        }
    }
    let from = |source: Slot| match source {
        INIT => Source::Initial,
        source => Source::Write(names[source as usize].expect("sources are kept")),
    };
    let mut instance = Instance::new();
    for events in threads {
        instance.begin_thread();
        for (event, half) in events {
            let (loc, child) = (Loc(event.loc), ThreadId(event.value as u32));
            if is_failed_update(event) {
                instance.push(Action::Fence);
            }
            instance.push(match event.kind {
                Kind::Read => Action::Read { loc, from: from(event.rf) },
                Kind::Write if half => Action::Update { loc, from: from(graph.source_of_update(event)) },
                Kind::Write => Action::Write { loc },
                Kind::StoreFence => Action::StoreFence,
                Kind::Spawn => Action::Spawn { child },
                Kind::Join => Action::Join { child },
                _ if event.drains() => Action::Fence,
                _ => Action::Note,
            });
        }
    }
    instance
}

/// Whether the event is an update that wrote nothing, or not yet: a read with an empty buffer.
fn is_failed_update(event: &Event) -> bool {
    event.kind == Kind::Read && event.flags.contains(Flags::LOCKED)
}
