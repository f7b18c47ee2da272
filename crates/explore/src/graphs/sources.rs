//! Reads-from classes: which sources a read may take, and which of them is the canonical one.
//!
//! In a search over reads-from classes the order of writes is a witness, not a choice: a new write is put last, and only
//! sources make branches. Reads-from equivalence is that of Abdulla et al. 2019 and Toman 2021, chapter 5; the
//! published exploration (RF-SMC) keeps sets of mutated schedules to meet no class twice. Here backward revisits with a maximality
//! condition take their place, as in the search over coherence, so nothing is remembered: what the method of Kokologiannakis
//! et al. 2022 needs is that consistency is closed under prefixes, and that each consistent graph and next read determine one
//! *canonical* source that keeps it consistent. Here that is the first consistent one in the order of [`by_rank`]. Both are functions of the graph
//! alone, never of the witness at hand.
//!
//! A source at or after the floor of the witness is consistent as it stands. One that is overwritten in every
//! witness (by `base`) is not. Only for what lies between, another witness is looked for ([`super::realise`]); and where there is none,
//! sources before that one are refused with it (`is_refused_with`).
//!
//! Revisits by plain writes need no such question: what is kept, then the write, then the read, is a run.

use super::branch::{Branch, Frame, Level, copy};
use super::context::Context;
use super::event::{Event, Flags, INIT, Kind, LocId, Slot};
use super::graph::Graph;
use super::models::Model;
use super::realise::Question;
use super::sample::{Sample, repeats};
use super::snapshot::Node;
use crate::world::Initial;
use raddle_machine::{Automaton, Reaction, Status, Visible};
use raddle_trace::BitSet;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// Sources not yet tried; the last one is next.
pub(crate) type Sources = SmallVec<[Slot; 6]>;

/// The branch of a read over its sources.
pub(super) fn source_branch<M: Model>(context: &mut Context<'_>, graph: &mut Graph<M>, event: Event) -> Branch {
    let floor = M::read_floor(graph, &event);
    let node = graph.tip(event.thread).expect("it is about to move").clone();
    let look = Look::new(graph, graph.present(), &event, &node);
    let mut sources: Sources = look.uncovered();
    sources.retain(|&mut source| look.is_offered(context, source));
    sources.reverse();
    let sampled = context.shared.purpose.sample.is_some_and(Sample::is_open);
    let repeats = if sampled { repeats(context, graph, event.loc, &node, &sources) } else { 0.0 };
    Branch::Source { event, sources, floor, stamp: None, explained: false, repeats }
}

/// The canonical order of sources: threads from the last to the first, their writes from the last to the first, then the initial value.
pub(super) fn by_rank<M: Model>(graph: &Graph<M>, source: Slot) -> Reverse<Option<(u32, u32)>> {
    Reverse((source != INIT).then(|| (graph.event(source).thread.0, graph.event(source).index)))
}

/// A read, together with the events that are there without it.
struct Look<'a, M: Model> {
    graph: &'a Graph<M>,
    events: &'a BitSet,
    read: &'a Event,
    /// The state of its thread before it.
    node: &'a Node,
    /// Of each thread the last write of the location that is before it in every witness, whatever its source.
    latest: SmallVec<[Slot; 8]>,
    waits: bool,
    updates: bool,
}

impl<'a, M: Model> Look<'a, M> {
    fn new(graph: &'a Graph<M>, events: &'a BitSet, read: &'a Event, node: &'a Node) -> Self {
        let mut base = Vec::new();
        M::past(graph, read, &mut base);
        let waits = waits(node);
        let is_before = |&write: &Slot| {
            let event = graph.event(write);
            let own = event.thread == read.thread && event.index < read.index;
            own || base[write as usize / 64] >> (write % 64) & 1 == 1
        };
        let latest = graph.chains_of_writes(read.loc, events).filter_map(|mut chain| chain.find(is_before)).collect();
        Look { graph, events, read, node, latest, waits, updates: node.updates() }
    }

    /// The sources that are not overwritten, in canonical order. If one is, so are those before it in its thread.
    fn uncovered(&self) -> Sources {
        let mut sources = Sources::new();
        for last in self.graph.location(self.read.loc).lasts.iter().rev() {
            let there = self.graph.chain(self.graph.last_among(last.write, self.events));
            sources.extend(there.take_while(|&write| !self.is_overwritten(write)));
        }
        if !self.is_overwritten(INIT) {
            sources.push(INIT);
        }
        sources
    }

    /// The writes of the location that are there.
    fn writes(&self) -> impl Iterator<Item = Slot> + '_ {
        let co = self.graph.location(self.read.loc).co.iter().copied();
        co.filter(|&write| self.events.contains(write as usize))
    }

    /// Whether another write comes between the source and the read in every witness. Writes of one thread to one location are in
    /// order, so it is enough to look at the last ones.
    fn is_overwritten(&self, source: Slot) -> bool {
        let comes_after = |write: Slot| source == INIT || self.graph.always_before(source, write);
        self.latest.iter().any(|&write| write != source && comes_after(write))
    }

    /// Whether the read may take the source as far as its own operation goes: a wait takes an unsuitable value only where it
    /// may be the last.
    fn is_offered(&self, context: &mut Context<'_>, source: Slot) -> bool {
        if !self.waits || !self.blocks(context, source) {
            return true;
        }
        if M::ORDERED {
            self.graph.may_be_last(self.read.loc, source, self.events)
        } else {
            self.waits_for_ever(context) == Some(source)
        }
    }

    /// Whether an operation that waits goes on waiting with this source.
    fn blocks(&self, context: &mut Context<'_>, source: Slot) -> bool {
        reaction(context, self.graph, self.node, self.read.loc, source) == Some(Reaction::Block)
    }

    /// Where writes have no order a thread waits for ever if nothing it may see is suitable: the first source, in canonical order, that stands for
    /// all of them. One that ends the wait and makes an assumption fail stands before others, because the thread has not waited in vain then.
    fn waits_for_ever(&self, context: &mut Context<'_>) -> Option<Slot> {
        let mut sources = self.uncovered();
        sources.retain(|&mut source| !(self.updates && self.is_consumed(source)));
        let all = sources.iter().all(|&source| self.blocks(context, source));
        let assumes = sources.iter().copied().find(|&source| self.is_assuming(context, source));
        assumes.or(sources.first().copied()).filter(|_| all)
    }

    /// Whether the source would end the wait, and make an assumption behind it fail.
    fn is_assuming(&self, context: &mut Context<'_>, source: Slot) -> bool {
        match context.value(self.graph, self.read.loc, source) {
            Initial::Value(value) => self.node.state.is_assuming(context.code, value),
            Initial::Uninitialised => false,
        }
    }

    /// Whether some update that is there has taken the source.
    fn is_consumed(&self, source: Slot) -> bool {
        self.writes().any(|write| {
            let event = self.graph.event(write);
            event.flags.contains(Flags::LOCKED) && self.graph.source_of_update(event) == source
        })
    }

    /// Whether the events and the read of this source have a witness.
    fn is_consistent(&self, context: &mut Context<'_>, source: Slot, floor: isize) -> bool {
        debug_assert!(!self.is_overwritten(source));
        let (read, updates) = reading(context, self.graph, self.node, &Event { rf: source, ..*self.read });
        if self.graph.is_explained(&read, updates, floor, self.events) {
            return true;
        }
        let question = Question { graph: self.graph, events: self.events, read: Some(&read), updates, edges: &[] };
        context.realise(question).is_some()
    }
}

/// Whether the pending operation of a thread waits for a value.
fn waits(node: &Node) -> bool {
    matches!(node.state.status(), Status::Ready(Visible::Load { wait: true, .. } | Visible::Update { wait: true, .. }))
}

/// What a thread would do with the value of the source; `None` if there is no value.
fn reaction<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    node: &Node,
    loc: LocId,
    source: Slot,
) -> Option<Reaction> {
    match context.value(graph, loc, source) {
        Initial::Value(value) => Some(node.reaction(context.code, value)),
        Initial::Uninitialised => None,
    }
}

/// The read as it is with its source, on which its ordering may depend, and whether it is half of an update that writes.
pub(super) fn reading<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    node: &Node,
    read: &Event,
) -> (Event, bool) {
    let reaction = reaction(context, graph, node, read.loc, read.rf);
    let order = node.order_of_read(read.order, reaction != Some(Reaction::Read));
    (Event { order, ..*read }, matches!(reaction, Some(Reaction::Write(_) | Reaction::Pick(_))))
}

/// Whether a thread that waits may find an unsuitable value at the end of some witness.
pub(super) fn may_block<M: Model>(context: &mut Context<'_>, graph: &Graph<M>, node: &Node) -> bool {
    let lasts = graph.location(node.loc).lasts.iter().map(|last| last.write);
    lasts.chain([INIT]).any(|source| {
        graph.may_be_last(node.loc, source, graph.present())
            && reaction(context, graph, node, node.loc, source) == Some(Reaction::Block)
    })
}

/// Whether the read took the canonical source with respect to `previous`, which contains it.
pub(super) fn is_canonical<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    slot: Slot,
    previous: &mut BitSet,
) -> bool {
    let read = graph.event(slot);
    if read.rf != INIT && !previous.contains(read.rf as usize) {
        return false;
    }
    let node = graph.node_before(read);
    previous.remove(slot as usize);
    let look = Look::new(graph, previous, read, &node);
    let is_possible = |context: &mut Context<'_>, source: Slot| {
        if (look.waits || look.updates) && !look.is_offered(context, source) {
            return false;
        }
        let writes = |reaction| matches!(reaction, Some(Reaction::Write(_) | Reaction::Pick(_)));
        !(look.updates && look.is_consumed(source) && writes(reaction(context, graph, &node, read.loc, source)))
    };
    let own = by_rank(graph, read.rf);
    let mut sources = look.uncovered().into_iter().take_while(|&source| by_rank(graph, source) < own);
    let (mut floor, mut refused) = (None, Sources::new());
    let is_better = sources.any(|source| {
        if refused.iter().any(|&refused| graph.is_refused_with(source, refused)) || !is_possible(context, source) {
            return false;
        }
        let floor = *floor.get_or_insert_with(|| M::read_floor_within(graph, read, previous));
        let consistent = look.is_consistent(context, source, floor);
        if !consistent {
            refused.push(source);
        }
        consistent
    });
    // What was consistent in the whole graph is so in part of it.
    let canonical = !is_better && is_possible(context, read.rf);
    previous.insert(slot as usize);
    canonical
}

/// Where writes have no order: whether a thread that waits does so for ever, and this graph is the one that counts.
pub(super) fn is_stuck<M: Model>(context: &mut Context<'_>, graph: &Graph<M>, slot: Slot) -> bool {
    let read = graph.event(slot);
    let node = graph.node_before(read);
    let mut others = graph.present().clone();
    others.remove(slot as usize);
    Look::new(graph, &others, read, &node).waits_for_ever(context) == Some(read.rf)
}

/// The level in which the read takes a source that needs another witness; `None` if there is none.
pub(super) fn other_witness<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    read: &Event,
    stamp: Option<usize>,
    weight: f64,
    pool: &mut Vec<Level<M>>,
) -> Option<Level<M>> {
    let node = graph.tip(read.thread).expect("it is about to move").clone();
    let (looks, updates) = reading(context, graph, &node, read);
    let question = Question { graph, events: graph.present(), read: Some(&looks), updates, edges: &[] };
    // Half of an update that has no place for the other half is needed, too: that may be offered to older reads.
    let whole = updates && M::NAMED && context.realise(question).is_some();
    let sequence = context.realise(Question { updates: whole, ..question })?;
    let mut level = copy(graph, pool);
    level.graph.adopt(sequence.iter().copied().filter(|&slot| (slot as usize) < graph.events.len()));
    let floor = M::read_floor(&mut level.graph, read);
    debug_assert!(level.graph.co_position(read.loc, read.rf) >= floor, "the witness is made for the source");
    let sources = SmallVec::from_slice(&[read.rf]);
    let branch = Branch::Source { event: *read, sources, floor, stamp, explained: true, repeats: 0.0 };
    level.frames.clear();
    level.frames.push(Frame { branch, mark: level.graph.mark(), added: 0, weight });
    Some(level)
}

impl<M: Model> Graph<M> {
    /// Whether a new last read of its thread cannot have the source, because it cannot have this other one, which is refused. In
    /// a run in which it reads the source it may come later, as nothing waits for it: right after whatever write comes after the
    /// source. So that would not be refused either.
    pub(super) fn is_refused_with(&self, source: Slot, refused: Slot) -> bool {
        !M::NAMED && source != refused && refused != INIT && (source == INIT || self.always_before(source, refused))
    }

    /// Whether one write is before another of its location in every witness.
    fn always_before(&self, first: Slot, second: Slot) -> bool {
        M::always_before(self, first, second)
    }

    /// Whether the witness at hand, as far as these events go, explains the read, which has this floor; if not, another one may.
    pub(super) fn is_explained(&self, read: &Event, updates: bool, floor: isize, events: &BitSet) -> bool {
        self.co_position(read.loc, read.rf) >= floor
            && (M::floors_decide(self, events, Some(read), updates) || self.last_in(read.loc, read.rf, events))
    }

    /// Whether nothing says that the write is not the last of its location among the events.
    pub(super) fn may_be_last(&self, loc: LocId, write: Slot, events: &BitSet) -> bool {
        // What holds of the last write of a thread holds of those before it.
        let mut lasts = self.chains_of_writes(loc, events).filter_map(|mut chain| chain.next());
        lasts.all(|other| write != INIT && !self.always_before(write, other))
    }

    /// The source of the update that a write half belongs to.
    pub(super) fn source_of_update(&self, write: &Event) -> Slot {
        let events = self.threads[write.thread.index()].events[..write.index as usize].iter().rev();
        let half = events.map(|&slot| self.event(slot)).find(|event| event.kind == Kind::Read);
        half.expect("an update has a read half").rf
    }

    /// The state of a thread before one of its events.
    fn node_before(&self, event: &Event) -> std::sync::Arc<Node> {
        let log = &self.threads[event.thread.index()];
        let tip = log.tip.as_ref().expect("it has events");
        super::graph::ancestor(tip, log.events.len() - event.index as usize)
    }
}
