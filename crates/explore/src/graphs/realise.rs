//! Whether events and what they read can be explained, and by which order of writes.
//!
//! The question comes up when a read is to take a source that the witness at hand rules out. It is NP-hard in general and
//! polynomial for a fixed number of threads. Three stages, each needed only if the ones before leave it open:
//!
//! 1. *Closure* (Toman 2021, section 5.5, there with two events per write; here a write is the moment it reaches memory): for
//!    a read `r` of `w` and another write `o` of the location, `o` before `r` implies `o` before `w`, and `w` before `o`
//!    implies `r` before `o`; an own write before `r` is before `w`; nothing comes between the halves of an
//!    update. A cycle means no. Locations that one thread alone accesses follow from its own order and are left out.
//! 2. *Greedy*: execute whatever is possible, in the order of addition; a write must wait while somebody still has to read what
//!    it overwrites. Coming to the end means yes.
//! 3. *Search*: the same with backtracking over the writes. Everything but writes is executed as soon as possible, so
//!    one visit per set of executed writes is enough (as in VerifyTSO of Toman 2021; under PSO, too, at the price of
//!    one chain per thread and location).
//!
//! The verifiers of [`raddle_consistency`] answer the same question, but for [demanded orders](Question::edges), and debug builds ask them, too. To ask
//! them only would cost, instructions for them and for the translation against those spent here (engine `rf`, callgrind): 3.9 times as many
//! on peterson U=2, 1.8 on lamport U=2, 2.0 on coin_min_td N=7. An edge looks at all units here, which the verifiers do not, so where threads share a location
//! thousands of times they are better.

mod run;
#[cfg(test)]
mod tests;

use super::event::{Event, Flags, INIT, Kind, Slot};
use super::graph::{Accesses, Graph};
use super::models::{Model, causal};
use crate::sequence::Alarm;
use raddle_consistency::Interrupted;
use raddle_engine::Deadline;
use raddle_trace::{BitSet, Relation, ThreadId};
use run::Lane;
use std::ops::Range;

/// Which events are to be explained, and under which conditions.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a, M: Model> {
    pub(crate) graph: &'a Graph<M>,
    /// The events, closed under program order and reads-from.
    pub(crate) events: &'a BitSet,
    /// A read beyond them, the next event of its thread.
    pub(crate) read: Option<&'a Event>,
    /// It is half of an update, and the other half follows. Only where [floors say too little](Model::floors_decide) does that make a difference.
    pub(crate) updates: bool,
    /// Pairs of events that must be in this order.
    pub(crate) edges: &'a [(Slot, Slot)],
}

/// A read of the question.
#[derive(Clone, Copy, Debug)]
struct Look {
    slot: Slot,
    source: Slot,
    /// The other half, if it is half of an update.
    write: Option<Slot>,
}

/// The accesses of a location that take part, as ranges of the lists of all.
#[derive(Clone, Debug, Default)]
struct Place {
    writes: Range<usize>,
    looks: Range<usize>,
}

/// Space for answering questions, used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Realiser {
    order: Relation,
    row: Vec<u64>,
    places: Vec<Place>,
    /// The place that is looked at first.
    first: usize,
    writes: Vec<Slot>,
    looks: Vec<Look>,
    /// Per slot: the location's place among `places`, for writes.
    place_of: Vec<u32>,
    /// Per slot: the look that is the first half of the update it is the second of.
    half_of: Vec<Option<Look>>,
    /// The events of whole updates but their writes, which are executed with these.
    bound: Vec<u64>,
    units: Vec<Slot>,
    /// The places of units among all of them, lane by lane: each thread by itself where program order is kept, or all of them.
    line: Vec<u32>,
    lanes: Vec<Lane>,
    /// In a lane nothing happens before what stands in front of it.
    ordered: bool,
    done: Vec<u64>,
    last: Vec<Slot>,
    sequence: Vec<Slot>,
    /// How much has been gone through since the last look at the clock, in words.
    effort: usize,
    /// A question was given up.
    pub(crate) interrupted: bool,
    /// How many questions were asked, and how often the answer was no.
    pub(crate) asked: u64,
    pub(crate) refused: u64,
}

const NOWHERE: u32 = u32::MAX;

impl Realiser {
    /// An order of the events (the new read included, under the number after the last slot) that explains what they read. Under models in which locations have
    /// nothing to do with each other, only the writes of each location are in their order.
    ///
    /// Once the deadline has passed in the middle of a question, [`interrupted`](Realiser::interrupted) says that no answer is to be
    /// trusted any more.
    pub(crate) fn realise<M: Model>(&mut self, question: Question<'_, M>, deadline: &Deadline<'_>) -> Option<&[Slot]> {
        let realised = if M::NAMED {
            self.explained(&question, deadline)
        } else {
            self.close(question, deadline) && (self.greedy() || self.search(deadline))
        };
        self.asked += 1;
        self.refused += u64::from(!realised);
        #[cfg(debug_assertions)]
        assert!(
            M::NAMED || self.interrupted || super::audit::agrees(&question, realised),
            "the verifiers disagree with the search"
        );
        realised.then_some(&self.sequence)
    }

    /// The same for a model given by axioms, by the verifiers.
    fn explained<M: Model>(&mut self, question: &Question<'_, M>, deadline: &Deadline<'_>) -> bool {
        match causal::explain(question, &Alarm::new(deadline)) {
            Ok(None) => false,
            Ok(Some(sequence)) => {
                self.sequence = sequence;
                true
            }
            Err(Interrupted) => {
                self.interrupted = true;
                false
            }
        }
    }

    /// The number that the new read of a question goes by.
    fn new_slot<M: Model>(graph: &Graph<M>) -> Slot {
        graph.events.len() as Slot
    }

    /// Sets the question up and closes the order. Returns whether there is no cycle.
    fn close<M: Model>(&mut self, question: Question<'_, M>, deadline: &Deadline<'_>) -> bool {
        self.set_up(question);
        self.edges_of_threads(question) && self.saturate(deadline)
    }

    fn set_up<M: Model>(&mut self, Question { graph, events, read, .. }: Question<'_, M>) {
        let slots = graph.events.len() + 1;
        self.order.copy_from(M::base(graph));
        self.order.grow(slots);
        self.places.clear();
        self.first = 0;
        self.writes.clear();
        self.looks.clear();
        self.units.clear();
        self.place_of.clear();
        self.place_of.resize(slots, NOWHERE);
        self.half_of.clear();
        self.half_of.resize(slots, None);
        self.bound.clear();
        self.bound.resize(self.order.stride(), 0);
        graph.order.iter().filter(|&&slot| events.contains(slot as usize)).for_each(|&slot| self.units.push(slot));
        let new = Self::new_slot(graph);
        if let Some(read) = read {
            let mut row = std::mem::take(&mut self.row);
            M::collect(graph, M::base(graph), read, &mut row);
            self.order.clear_row(new as usize);
            self.order.row_mut(new as usize)[..row.len()].copy_from_slice(&row);
            self.row = row;
            if graph.reads_from_outside(read) {
                self.order.include(read.rf as usize, new as usize);
            }
            self.units.push(new);
        }
        for (loc, accesses) in graph.locations.iter().enumerate() {
            let first = self.writes.len();
            let writes = accesses.co.iter().filter(|&&write| events.contains(write as usize));
            writes.for_each(|&write| self.writes.push(write));
            if first == self.writes.len() {
                continue;
            }
            let reader = read.filter(|read| read.loc as usize == loc).map(|read| read.thread);
            if is_private(graph, accesses, reader) {
                self.writes.truncate(first);
                continue;
            }
            let looks = self.looks.len();
            for &slot in accesses.reads.iter().filter(|&&slot| events.contains(slot as usize)) {
                let event = graph.event(slot);
                if event.kind == Kind::Read {
                    let write = graph.other_half(event).filter(|&write| events.contains(write as usize));
                    self.looks.push(Look { slot, source: event.rf, write });
                }
            }
            if let Some(read) = read.filter(|read| read.loc as usize == loc) {
                self.looks.push(Look { slot: new, source: read.rf, write: None });
            }
            for &write in &self.writes[first..] {
                self.place_of[write as usize] = self.places.len() as u32;
            }
            for look in &self.looks[looks..] {
                if let Some(write) = look.write {
                    self.half_of[write as usize] = Some(*look);
                    for part in graph.parts_before(graph.event(write)) {
                        self.bound[part as usize / 64] |= 1 << (part % 64);
                    }
                }
            }
            if reader.is_some() {
                self.first = self.places.len();
            }
            self.places.push(Place { writes: first..self.writes.len(), looks: looks..self.looks.len() });
        }
        self.line_up(graph, read);
    }

    /// The edges that follow from single threads, and those of the question. Returns whether there is no cycle.
    fn edges_of_threads<M: Model>(&mut self, Question { graph, read, edges, .. }: Question<'_, M>) -> bool {
        for &(first, second) in edges {
            if !self.edge(first, second) {
                return false;
            }
        }
        if !M::FORWARDS {
            // An own write is before the read, which is enough.
            return true;
        }
        for place in self.places.clone() {
            for at in place.looks {
                let look = self.looks[at];
                let event =
                    if look.slot == Self::new_slot(graph) { read.expect("it is one") } else { graph.event(look.slot) };
                for write in place.writes.clone() {
                    let write = self.writes[write];
                    let other = graph.event(write);
                    let own = other.thread == event.thread && other.index < event.index && write != look.source;
                    if own && (look.source == INIT || !self.edge(write, look.source)) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Adds an edge and all that follows from it by transitivity. Returns whether it closes no cycle.
    fn edge(&mut self, first: Slot, second: Slot) -> bool {
        let (a, b) = (first as usize, second as usize);
        if self.order.before(a, b) {
            return true;
        }
        if a == b || self.order.before(b, a) {
            return false;
        }
        self.row.clear();
        self.row.extend_from_slice(self.order.row(a));
        self.row[a / 64] |= 1 << (a % 64);
        self.effort += self.units.len() * self.row.len();
        let (word, bit, more) = (b / 64, 1 << (b % 64), &self.row[..self.order.stride()]);
        for &unit in &self.units {
            let row = self.order.row_mut(unit as usize);
            if unit == second || row[word] & bit != 0 {
                row.iter_mut().enumerate().for_each(|(at, word)| *word |= more[at]);
            }
        }
        true
    }

    /// Applies the rules until nothing new follows. Returns whether there is no cycle.
    fn saturate(&mut self, deadline: &Deadline<'_>) -> bool {
        let mut changed = true;
        self.effort = 0;
        while std::mem::take(&mut changed) {
            // If there is a cycle it is most likely the new read that closes it, so its location and what was read last come first.
            for place in (self.first..self.places.len()).chain(0..self.first) {
                let Place { writes, looks } = self.places[place].clone();
                for at in looks.rev() {
                    self.effort += writes.len();
                    if self.effort >= LONG {
                        self.effort = 0;
                        self.interrupted |= deadline.passed().is_some();
                    }
                    if self.interrupted {
                        return false;
                    }
                    match self.serve(self.looks[at], writes.clone()) {
                        Some(news) => changed |= news,
                        None => return false,
                    }
                }
            }
        }
        true
    }

    /// Applies the rules to one read and the writes of its location. Returns whether anything new followed, or `None` if there is a cycle.
    fn serve(&mut self, Look { slot: read, source, write: half }: Look, writes: Range<usize>) -> Option<bool> {
        let mut changed = false;
        let before = |order: &Relation, a: Slot, b: Slot| order.before(a as usize, b as usize);
        // What is found out of the last write of a thread holds for those before it, and of the first for those behind it: the rest of
        // them is known when it is asked for.
        for at in writes.clone().rev() {
            let other = self.writes[at];
            // Whoever is before either half of an update is before its source.
            let first = before(&self.order, other, read) || half.is_some_and(|half| before(&self.order, other, half));
            if !first || other == source || Some(other) == half {
                continue;
            }
            if source == INIT {
                return None;
            }
            if !before(&self.order, other, source) {
                changed = true;
                self.edge(other, source).then_some(())?;
            }
        }
        let bound = half.unwrap_or(read);
        for at in writes {
            let other = self.writes[at];
            if other == source
                || Some(other) == half
                || before(&self.order, read, other) && before(&self.order, bound, other)
            {
                continue;
            }
            if source == INIT || before(&self.order, source, other) || before(&self.order, read, other) {
                changed = true;
                (self.edge(read, other) && self.edge(bound, other)).then_some(())?;
            }
        }
        Some(changed)
    }
}

/// How many words the closure goes through between two looks at the clock. Only executions of thousands of events need as many.
const LONG: usize = 1 << 24;

/// Whether one thread alone accesses a location, a new read by `new` included. What it read there follows from its own order, which
/// every model keeps.
fn is_private<M: Model>(graph: &Graph<M>, accesses: &Accesses, new: Option<ThreadId>) -> bool {
    let mut threads = accesses.co.iter().chain(&accesses.reads).map(|&slot| graph.event(slot).thread).chain(new);
    let first = threads.next();
    threads.all(|thread| Some(thread) == first)
}

impl<M: Model> Graph<M> {
    /// The write half that follows a read half.
    pub(super) fn other_half(&self, read: &Event) -> Option<Slot> {
        if !read.flags.contains(Flags::CONSUMES) {
            return None;
        }
        let events = &self.threads[read.thread.index()].events[read.index as usize + 1..];
        let mut same = events.iter().copied().take_while(|&slot| self.event(slot).operation == read.operation);
        same.find(|&slot| self.event(slot).kind == Kind::Write)
    }

    /// The events of an update before its write.
    fn parts_before(&self, write: &Event) -> impl Iterator<Item = Slot> + '_ {
        let events = self.threads[write.thread.index()].events[..write.index as usize].iter().rev().copied();
        let operation = write.operation;
        events.take_while(move |&slot| self.event(slot).operation == operation)
    }
}

impl<M: Model> Graph<M> {
    /// Takes another witness: `sequence` has all events in an order that explains what was read.
    pub(crate) fn adopt(&mut self, sequence: impl Iterator<Item = Slot> + Clone) {
        let mut rank = vec![0; self.events.len()];
        sequence.clone().enumerate().for_each(|(at, slot)| rank[slot as usize] = at);
        for accesses in
            self.locations.iter_mut().filter(|accesses| !accesses.co.is_sorted_by_key(|&write| rank[write as usize]))
        {
            accesses.co.sort_unstable_by_key(|&write| rank[write as usize]);
        }
        M::adopted(self, sequence);
    }
}
