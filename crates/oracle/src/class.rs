//! Classes of executions, as values that can be compared.
//!
//! Equivalences, most coarser than the one before; threads are deterministic, so the values of the first two need
//! not be written down:
//! * [`Class`]: the events of each thread, what each read reads from, and the order of the writes of each location.
//!   Mazurkiewicz traces under SC, Shasha-Snir traces under TSO and PSO.
//! * [`Class::reads_from`]: the same without the order of writes.
//! * [`Commuting`]: either of these, without the order of updates whose results nobody uses.
//! * [`Class::meetings`]: either of these, without the order in which threads arrive at barriers, where every round has the same members.
//! * [`ValueClass`]: the events with the values read and written, and the causal order (closure of program order and
//!   reads-from) between reads (reads-value-from, Agarwal, Chatterjee, Pathak, Pavlogiannis, Toman 2021).
//! * [`Leaves`]: what a value-centric class (Chatterjee, Pavlogiannis, Toman 2019) fixes beside that: the order of conflicting events
//!   outside one thread, the root, and which reads of the root read from the root.
//!
//! Threads and the objects they make have the same numbers in all runs, so a run's events need no renaming.

use raddle_machine::Addr;
use raddle_program::Ordering;
use raddle_trace::{EventId, ThreadId};

/// An event without its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// A read, also a failed compare-exchange or try-lock; `None` is the initial value.
    Read(Addr, Option<EventId>),
    /// A write.
    Write(Addr),
    /// A read and a write at once; the last part is the thread a signal picks among several.
    Update(Addr, Option<EventId>, Option<ThreadId>),
    /// An update whose result nobody uses.
    Blind(Addr, Option<EventId>),
    /// An arrival at a barrier; the last part is whether it was the last of its round, if the thread asks.
    Arrive(Addr, Option<EventId>, Option<bool>),
    /// Leaving a barrier after others have arrived.
    Depart(Addr, Option<EventId>),
    /// A fence.
    Fence(Ordering),
    /// The start of a thread.
    Spawn(ThreadId),
    /// A message was posted to this looper.
    Post(ThreadId, Addr),
    /// A looper took the message. When it did so among its messages is no part of the class.
    Take,
    /// The end of a thread was waited for.
    Join(ThreadId),
    /// The alternative that was picked.
    Choose(u32),
    /// The end of an object.
    Free(Addr),
    /// The begin (true) or the end of an atomic block.
    Atomic(bool),
    /// A write that was still buffered when its object ended, and failed then.
    Lost(Addr),
    /// The thread is stopped by an assumption that its next load would lead into.
    Stopped,
    /// The thread failed at its next operation, by no fault of its own state: a race, an object that has ended.
    Failed,
}

impl Event {
    /// The location it reads and the write it reads from, if it reads.
    pub fn source(self) -> Option<(Addr, Option<EventId>)> {
        match self {
            Event::Read(at, from) | Event::Update(at, from, _) | Event::Blind(at, from) => Some((at, from)),
            Event::Arrive(at, from, _) | Event::Depart(at, from) => Some((at, from)),
            _ => None,
        }
    }

    /// The same if it makes no difference whether anybody uses the result of an update.
    fn with_result(self) -> Event {
        match self {
            Event::Blind(at, from) => Event::Update(at, from, None),
            other => other,
        }
    }

    /// The same with another source, if it has one.
    fn with_source(self, from: Option<EventId>) -> Event {
        match self {
            Event::Read(at, _) => Event::Read(at, from),
            Event::Update(at, _, woken) => Event::Update(at, from, woken),
            Event::Blind(at, _) => Event::Blind(at, from),
            Event::Arrive(at, _, last) => Event::Arrive(at, from, last),
            Event::Depart(at, _) => Event::Depart(at, from),
            other => other,
        }
    }
}

/// What an event read and what it wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Values {
    /// What it read.
    pub read: Option<u64>,
    /// What it wrote.
    pub written: Option<u64>,
}

/// A class of executions: events, reads-from, coherence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class {
    /// The events of each thread, by number; none if there is no such thread.
    pub threads: Vec<Vec<Event>>,
    /// The writes of each location, as they reached memory. Empty in a reads-from class.
    pub coherence: Vec<(Addr, Vec<EventId>)>,
}

impl Class {
    /// The reads-from class it belongs to.
    #[must_use]
    pub fn reads_from(&self) -> Class {
        Class { threads: self.threads.clone(), coherence: Vec::new() }
    }

    /// The class it belongs to if it makes no difference whether anybody uses the results of updates.
    #[must_use]
    pub fn with_results(&self) -> Class {
        let threads = self.threads.iter().map(|events| events.iter().map(|event| event.with_result()).collect());
        Class { threads: threads.collect(), coherence: self.coherence.clone() }
    }

    /// The class it belongs to if arrivals at barriers have no order: they have no source and no place among the writes, whoever reads from one reads from
    /// the last other write before it, and leaving is no event. Whether an arrival was the last one stays, where its thread asks.
    #[must_use]
    pub fn meetings(&self) -> Class {
        let event = |id: &EventId| self.threads[id.thread.index()].get(id.index as usize);
        let arrives = |id: &EventId| matches!(event(id), Some(Event::Arrive(..)));
        let leaves = |event: &Event| matches!(event, Event::Depart(..));
        let renamed = |id: EventId| {
            let left = self.threads[id.thread.index()].iter().take(id.index as usize).filter(|event| leaves(event));
            EventId::new(id.thread, id.index - left.count() as u32)
        };
        let source = |at: Addr, from: EventId| {
            if !arrives(&from) {
                return Some(from);
            }
            let (_, writes) = self.coherence.iter().find(|(other, _)| *other == at)?;
            let end = writes.iter().position(|&write| write == from)?;
            writes[..end].iter().rev().copied().find(|write| !arrives(write))
        };
        let kept = |event: &Event| match (*event, event.source()) {
            (Event::Arrive(..), _) => event.with_source(None),
            (_, Some((at, Some(from)))) => event.with_source(source(at, from).map(renamed)),
            _ => *event,
        };
        let threads = self.threads.iter();
        let threads = threads.map(|events| events.iter().filter(|event| !leaves(event)).map(kept).collect()).collect();
        let others =
            |writes: &Vec<EventId>| writes.iter().filter(|write| !arrives(write)).copied().map(renamed).collect();
        let coherence = self.coherence.iter().map(|(at, writes)| (*at, others(writes))).collect();
        Class { threads, coherence }
    }

    /// The class it belongs to if blind updates commute: they have no source and no place among the writes, and whoever reads
    /// from one reads from the last other write before it, and all the blind updates since.
    #[must_use]
    pub fn commuting(&self) -> Commuting {
        let is_blind = |id: &EventId| matches!(self.threads[id.thread.index()][id.index as usize], Event::Blind(..));
        let mut applied = Vec::new();
        let mut class = self.clone();
        for event in class.threads.iter_mut().flatten() {
            let Some((at, Some(source))) = event.source() else { continue };
            if let Event::Blind(..) = event {
                *event = event.with_source(None);
                continue;
            }
            let writes = self.coherence.iter().find(|(other, _)| *other == at).map_or(&[][..], |(_, writes)| writes);
            // One that never reaches memory is no update.
            let Some(end) = writes.iter().position(|&write| write == source).map(|at| at + 1) else { continue };
            let start = writes[..end].iter().rposition(|write| !is_blind(write)).map_or(0, |at| at + 1);
            *event = event.with_source(writes[..start].last().copied());
            let mut updates = writes[start..end].to_vec();
            updates.sort_unstable();
            applied.push(updates);
        }
        class.coherence.iter_mut().for_each(|(_, writes)| writes.retain(|write| !is_blind(write)));
        Commuting { class, applied }
    }

    /// The reads-value-from class it belongs to, given the values of the events.
    pub fn reads_value_from(&self, values: &[Vec<Values>]) -> ValueClass {
        self.by_values(values, self.causal_past(false))
    }

    /// The same if arrivals at barriers have no order, as in [`meetings`](Self::meetings): what follows an arrival comes after all arrivals of its round.
    pub fn meetings_by_values(&self, values: &[Vec<Values>]) -> ValueClass {
        let kept = self.threads.iter().zip(values).map(|(events, values)| {
            let found = |(event, &values): (&Event, &Values)| match event {
                Event::Depart(..) => None,
                Event::Arrive(..) => Some(Values::default()),
                _ => Some(values),
            };
            events.iter().zip(values).filter_map(found).collect()
        });
        let (class, values): (Class, Vec<Vec<Values>>) = (self.meetings(), kept.collect());
        class.by_values(&values, class.causal_past(true))
    }

    fn by_values(&self, values: &[Vec<Values>], past: Vec<Vec<Vec<u32>>>) -> ValueClass {
        let reads = |thread: usize, upto: u32| {
            self.threads[thread][..upto as usize].iter().filter(|event| event.source().is_some()).count() as u32
        };
        let past = past.iter().zip(&self.threads).map(|(clocks, events)| {
            let clocks = clocks.iter().zip(events).filter(|(_, event)| event.source().is_some());
            clocks.map(|(clock, _)| clock.iter().enumerate().map(|(t, &upto)| reads(t, upto)).collect()).collect()
        });
        let events = self.threads.iter().zip(values).map(|(events, values)| {
            events.iter().zip(values).map(|(event, &values)| (event.with_source(None), values)).collect()
        });
        ValueClass { threads: events.collect(), past: past.collect() }
    }

    /// The order of conflicting events outside the root, and which reads of the root read from the root. The root is the
    /// first thread that the first thread starts.
    #[must_use]
    pub fn leaves(&self) -> Leaves {
        let root = ThreadId(1);
        let is_leaf = |id: &EventId| id.thread != root;
        let coherence = self.coherence.iter();
        let writes = coherence.map(|(at, writes)| (*at, writes.iter().copied().filter(is_leaf).collect())).collect();
        let place = |at: Addr, source: Option<EventId>| {
            let writes = self.coherence.iter().find(|(other, _)| *other == at).map_or(&[][..], |(_, writes)| writes);
            let end = source.and_then(|source| writes.iter().position(|&write| write == source)).map_or(0, |at| at + 1);
            writes[..end].iter().filter(|write| is_leaf(write)).count() as u32
        };
        let mark = |thread: usize, event: &Event| {
            let (at, source) = event.source()?;
            let own = source.is_some_and(|source| source.thread == root);
            Some(if thread == root.index() { u32::from(own) } else { place(at, source) })
        };
        let threads = self.threads.iter().enumerate();
        let reads = threads.map(|(t, events)| events.iter().filter_map(|event| mark(t, event)).collect()).collect();
        Leaves { writes, reads }
    }

    /// The arrivals of the round of an arrival.
    fn round(&self, thread: usize, index: usize) -> Vec<(usize, usize)> {
        let Event::Arrive(at, ..) = self.threads[thread][index] else { return Vec::new() };
        let arrivals = |thread: usize| {
            let events = self.threads[thread].iter().enumerate();
            events.filter(move |(_, event)| matches!(event, Event::Arrive(other, ..) if *other == at))
        };
        let round = arrivals(thread).position(|(other, _)| other == index).expect("it is one of them");
        (0..self.threads.len())
            .filter_map(|other| arrivals(other).nth(round).map(|(index, _)| (other, index)))
            .collect()
    }

    /// Per event and thread, how many events of the thread are before it (or it) in program order and reads-from; and, where they meet, after
    /// the arrivals of a round.
    fn causal_past(&self, meet: bool) -> Vec<Vec<Vec<u32>>> {
        let count = self.threads.len();
        let mut clocks: Vec<Vec<Vec<u32>>> = vec![Vec::new(); count];
        let start = |child: usize| {
            let is_start = |event: &Event| *event == Event::Spawn(ThreadId(child as u32));
            let found = |thread: usize| self.threads[thread].iter().position(is_start).map(|at| (thread, at));
            (0..count).find_map(found)
        };
        let met = |thread: usize, at: usize| if meet { self.round(thread, at) } else { Vec::new() };
        loop {
            let mut progress = false;
            for thread in 0..count {
                while let Some(event) = self.threads[thread].get(clocks[thread].len()) {
                    let mut before = Vec::new();
                    match clocks[thread].len() {
                        0 => before.extend(start(thread)),
                        done => {
                            before.push((thread, done - 1));
                            before.extend(met(thread, done - 1));
                        }
                    }
                    if let Some((_, Some(source))) = event.source() {
                        before.push((source.thread.index(), source.index as usize));
                    }
                    if let Event::Join(child) = event
                        && let Some(last) = self.threads[child.index()].len().checked_sub(1)
                    {
                        before.push((child.index(), last));
                        before.extend(met(child.index(), last));
                    }
                    if before.iter().any(|&(thread, at)| clocks[thread].len() <= at) {
                        break;
                    }
                    let mut clock = vec![0; count];
                    for (t, at) in before {
                        clock.iter_mut().zip(&clocks[t][at]).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
                    }
                    clock[thread] = clocks[thread].len() as u32 + 1;
                    clocks[thread].push(clock);
                    progress = true;
                }
            }
            if !progress {
                break;
            }
        }
        let done = clocks.iter().zip(&self.threads).all(|(clocks, events)| clocks.len() == events.len());
        assert!(done, "program order and reads-from have no cycle");
        clocks
    }
}

/// A class of executions that does not tell orders of blind updates apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Commuting {
    /// Everything but blind updates.
    class: Class,
    /// Per read that has a source: the blind updates whose sum it reads.
    applied: Vec<Vec<EventId>>,
}

impl Commuting {
    /// The class of which no update commutes.
    pub fn none(class: Class) -> Commuting {
        Commuting { class, applied: Vec::new() }
    }

    /// The reads-from class it belongs to.
    #[must_use]
    pub fn reads_from(&self) -> Commuting {
        Commuting { class: self.class.reads_from(), applied: self.applied.clone() }
    }
}

/// What a value-centric class fixes beside values and the causal order of reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Leaves {
    /// The writes of each location outside the root, in their order.
    writes: Vec<(Addr, Vec<EventId>)>,
    /// Per thread and read: how many writes outside the root are before it; in the root, whether it reads from the root.
    reads: Vec<Vec<u32>>,
}

/// A class of executions: events with values, causal order of reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueClass {
    threads: Vec<Vec<(Event, Values)>>,
    /// Per thread and read, how many reads of each thread are before it (or it).
    past: Vec<Vec<Vec<u32>>>,
}

impl ValueClass {
    /// The class without the causal order: which events, with which values.
    #[must_use]
    pub fn values(&self) -> ValueClass {
        ValueClass { threads: self.threads.clone(), past: Vec::new() }
    }

    /// The class it belongs to if it makes no difference whether anybody uses the results of updates.
    #[must_use]
    pub fn with_results(&self) -> ValueClass {
        let events = |events: &Vec<(Event, Values)>| {
            events.iter().map(|(event, values)| (event.with_result(), *values)).collect()
        };
        ValueClass { threads: self.threads.iter().map(events).collect(), past: self.past.clone() }
    }
}
