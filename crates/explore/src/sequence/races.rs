//! Data races, decided for all executions of a class at once.
//!
//! Engines on sequences run threads as if races were harmless. At the end of an execution they ask here whether any sequence of
//! its events has a race: two accesses of different threads to one location, one of them a write, one of them not atomic,
//! neither before the other by happens-before; or an access to an object and that a thread made it. That relation is defined in [`raddle_machine::race`]: program order, start and
//! end of threads, and synchronisation from a write to a read of it. It depends on which write each read reads from, and
//! a class of values leaves that open: each read has a set of *good* writes.
//!
//! # No race is lost
//!
//! Let `s` be any execution of the program, ended at an access that races with an earlier one. It is the beginning of a
//! complete one in which the race is ignored, and of that the race is one, too, since nothing that comes later adds to the past of an
//! event. (A look in vain races in the complete execution, too: either it is followed by another access of the same wait, which is compared like
//! the look, or the thread waits at the end. A turn of a loop without effect is the end of its thread, so an execution with one counts as complete here
//! even if what the turn read has been overwritten since.) The searches of `rvf`, `vc` and `dc` *cover* every complete execution `s`: there is an end with the events of `s` such that
//! each read has its source in `s` among its good writes. For let `s` begin like a node of the search, that is, have its events,
//! with sources that are good, and let no pending read have a source in `s` that has been tried. The first event of `s`
//! beyond the node is a pending read with its source in the node. Of the pending reads for which the source is there, the first one
//! that is tried (those before it have other sources in `s`, so they lose nothing) gets a child whose group contains the source;
//! there is a sequence of its events, namely `s` without all others; and `s` begins like the child. If `rvf` does not try a
//! read because an earlier one, `r`, has got no signal, then `s` up to the first write to the location of `r` that is not in the node,
//! and the events of the node, and `r`, and this write, are an execution that begins like a child of `r`, so that the write has
//! shown up, and there was a signal. So `s` is one of the sequences that are asked about here. Conversely, a sequence with a race is a run
//! of the machine up to its first race.
//!
//! # How it is decided
//!
//! 1. *For certain.* A clock of each event that holds in all sequences: a read learns what all its good writes publish. If this
//!    orders all conflicting accesses there is no race. That is enough for reads with one source, so always for `dc`, and for locks.
//! 2. *At hand.* The clocks of the sequence that is there. If they do not order two conflicting accesses, there is a race.
//! 3. *Elsewhere.* Some read has good writes that publish different things. Each of them is taken for its source, one after the
//!    other; a sequence is looked for, and the steps are repeated. If all sources of each read publish the same, the clocks of step 1
//!    are those of every sequence, also of the one at hand; so step 2 has found what there is.
//!
//! Cost: steps 1 and 2 are a walk over the events. Step 3 can be exponential in the number of reads that synchronise
//! with several writes of one value; each step asks whether there is a sequence.

use super::event::{Event, INITIAL, Kind, LocId, NO_LOC};
use super::frontier::Frontier;
use raddle_consistency::Interrupted;
use raddle_machine::Addr;
use raddle_program::Ordering;
use raddle_trace::{EventId, ThreadId};

/// A read, and the write it is to read from.
pub(crate) type Source = (EventId, EventId);

/// An access that later ones are compared with.
#[derive(Clone, Copy, Debug)]
struct Past {
    event: EventId,
    writes: bool,
    atomic: bool,
}

/// How to come to a race.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    /// The events that lead there.
    pub(crate) sequence: Vec<EventId>,
    /// The thread that then looks in vain; if there is none, the last event races.
    pub(crate) look: Option<ThreadId>,
}

/// Where a walk meets a race.
#[derive(Clone, Copy, Debug)]
enum Met {
    /// After so many events, the racing one included.
    At(usize),
    /// At the end, by a look in vain of this thread.
    Look(ThreadId),
}

/// What a read reads from.
#[derive(Clone, Copy, Debug)]
enum Sources<'a> {
    /// The last write of its location.
    AtHand,
    /// Any good write, but for these reads.
    Any(&'a [Source]),
}

/// Looks for races, with buffers.
#[derive(Debug, Default)]
pub(crate) struct Races {
    threads: usize,
    /// Where the numbers of each thread's events start.
    starts: Vec<u32>,
    /// Per thread and thread, how many events happen before what comes next.
    now: Vec<u32>,
    /// What weaker writes publish since the last release fence.
    fence: Vec<u32>,
    /// What the next acquire fence learns.
    pending: Vec<u32>,
    /// Per event and thread, what a write publishes, or an arrival at a barrier to those who meet there.
    messages: Vec<u32>,
    /// Whether what a write publishes is more than it was in the walk before.
    changed: bool,
    /// What the read at hand learns.
    learnt: Vec<u32>,
    /// Per location, whether somebody accesses it without being atomic.
    plain: Vec<bool>,
    /// Per location, what a thread did next when it had made the object there, if others access it.
    made: Vec<Option<EventId>>,
    /// Locations in objects whose lives have ended.
    ended: Vec<LocId>,
    /// Per location, its last write.
    last: Vec<EventId>,
    /// Per location, the last accesses of each thread.
    past: Vec<Vec<Past>>,
}

impl Races {
    /// A race in any sequence of the events of `sequence`, which are all there are, with good sources, or by a look of a thread
    /// that waits at the end. `find` looks for a sequence in which some reads have these sources.
    pub(crate) fn find(
        &mut self,
        frontier: &Frontier<'_>,
        sequence: &[EventId],
        mut find: impl FnMut(&[Source]) -> Result<Option<Vec<EventId>>, Interrupted>,
    ) -> Result<Option<Race>, Interrupted> {
        if !self.may_race(frontier, sequence, &[]) {
            return Ok(None);
        }
        let mut open: Vec<Vec<Source>> = vec![Vec::new()];
        while let Some(chosen) = open.pop() {
            let found = if chosen.is_empty() { Some(sequence.to_vec()) } else { find(&chosen)? };
            let Some(found) = found else { continue };
            if let Some(race) = self.of_all(frontier, &found) {
                return Ok(Some(race));
            }
            if self.may_race(frontier, &found, &chosen) {
                open.extend(self.split(frontier, &found, &chosen));
            }
        }
        Ok(None)
    }

    /// The first race in a sequence of all events, or a race of a look at its end.
    pub(crate) fn of_all(&mut self, frontier: &Frontier<'_>, sequence: &[EventId]) -> Option<Race> {
        self.prepare(frontier, sequence);
        let (events, look) = match self.walk(frontier, sequence, Sources::AtHand)? {
            Met::At(events) => (events, None),
            Met::Look(thread) => (sequence.len(), Some(thread)),
        };
        Some(Race { sequence: sequence[..events].to_vec(), look })
    }

    /// The first race in a sequence of some of the events.
    pub(crate) fn first(&mut self, frontier: &Frontier<'_>, sequence: &[EventId]) -> Option<Race> {
        self.of_all(frontier, sequence).filter(|race| race.look.is_none())
    }

    /// Whether some sequence of these events may have a race, as far as can be told by what is certain.
    fn may_race(&mut self, frontier: &Frontier<'_>, sequence: &[EventId], chosen: &[Source]) -> bool {
        self.prepare(frontier, sequence);
        if self.plain.iter().all(|plain| !plain) && self.made.iter().all(Option::is_none) {
            return false;
        }
        // What writes publish that come later in this sequence is known only after a walk.
        loop {
            self.changed = false;
            if self.walk(frontier, sequence, Sources::Any(chosen)).is_none() {
                return false;
            }
            if !self.changed {
                return true;
            }
        }
    }

    /// All choices of a source for the first read whose good writes do not publish the same.
    fn split(&self, frontier: &Frontier<'_>, sequence: &[EventId], chosen: &[Source]) -> Vec<Vec<Source>> {
        let sources = |read: EventId| frontier.sources(frontier.event(read));
        let differ = |&&read: &&EventId| {
            let mut messages = sources(read).iter().map(|&source| self.message(source));
            !chosen.iter().any(|&(other, _)| other == read)
                && messages.next().is_some_and(|first| messages.any(|other| other != first))
                && synchronises(frontier, read)
        };
        let read = sequence.iter().find(differ).expect("if all publish the same, one sequence is like the others");
        sources(*read).iter().map(|&source| chosen.iter().copied().chain([(*read, source)]).collect()).collect()
    }

    fn prepare(&mut self, frontier: &Frontier<'_>, sequence: &[EventId]) {
        self.threads = frontier.threads();
        self.starts.clear();
        let mut start = 0;
        for thread in 0..self.threads as u32 {
            self.starts.push(start);
            start += frontier.events(ThreadId(thread)).len() as u32;
        }
        self.messages.clear();
        self.messages.resize(start as usize * self.threads, 0);
        self.plain.clear();
        for event in sequence.iter().map(|&id| frontier.event(id)).filter(|event| event.loc != NO_LOC) {
            let loc = event.loc as usize;
            if self.plain.len() <= loc {
                self.plain.resize(loc + 1, false);
            }
            self.plain[loc] |= event.order == Some(Ordering::NonAtomic);
        }
        self.made.clear();
        self.made.resize(self.plain.len(), None);
        for (thread, loc) in
            sequence.iter().map(|&id| (id.thread, frontier.event(id).loc)).filter(|&(_, loc)| loc != NO_LOC)
        {
            if self.made[loc as usize].is_none() {
                self.made[loc as usize] = frontier.first_after_making(loc).filter(|made| made.thread != thread);
            }
        }
        if self.past.len() < self.plain.len() {
            self.past.resize_with(self.plain.len(), Vec::new);
        }
    }

    /// Where it stands what an event publishes.
    fn row(&self, id: EventId) -> std::ops::Range<usize> {
        let start = (self.starts[id.thread.index()] + id.index) as usize * self.threads;
        start..start + self.threads
    }

    /// What a write publishes; nothing if it is the initial one.
    fn message(&self, write: EventId) -> &[u32] {
        if write == INITIAL {
            return &[];
        }
        let message = &self.messages[self.row(write)];
        if message.iter().all(|&count| count == 0) { &[] } else { message }
    }

    /// Computes the clocks along a sequence. Returns the first access that is not ordered with another one that it is in conflict with.
    fn walk(&mut self, frontier: &Frontier<'_>, sequence: &[EventId], sources: Sources<'_>) -> Option<Met> {
        for clocks in [&mut self.now, &mut self.fence, &mut self.pending] {
            clocks.clear();
            clocks.resize(self.threads * self.threads, 0);
        }
        self.past[..self.plain.len()].iter_mut().for_each(Vec::clear);
        self.last.clear();
        self.last.resize(self.plain.len(), INITIAL);
        self.ended.clear();
        let mut race = None;
        for (at, &id) in sequence.iter().enumerate() {
            let event = frontier.event(id);
            if self.event(frontier, id, event, sources) {
                race = race.or(Some(Met::At(at + 1)));
                if let Sources::AtHand = sources {
                    return race;
                }
            }
        }
        race.or_else(|| self.look(frontier))
    }

    /// A thread that waits now, and whose look is not ordered with a write.
    fn look(&self, frontier: &Frontier<'_>) -> Option<Met> {
        let races = |&thread: &ThreadId| {
            let Some(pending) = frontier.pending(thread).filter(|pending| pending.wait) else { return false };
            let past = self.past[..self.plain.len()].get(pending.loc as usize);
            let now = &self.now[thread.index() * self.threads..];
            past.into_iter().flatten().any(|other| {
                let known = now[other.event.thread.index()] > other.event.index;
                other.event.thread != thread && other.writes && !other.atomic && !known
            })
        };
        (0..self.threads as u32).map(ThreadId).find(races).map(Met::Look)
    }

    /// Goes on by an event. Returns whether it is an access that is not ordered with an earlier one.
    fn event(&mut self, frontier: &Frontier<'_>, id: EventId, event: &Event, sources: Sources<'_>) -> bool {
        let own = id.thread.index() * self.threads;
        self.now[own + id.thread.index()] = id.index + 1;
        let mut race = false;
        match (event.kind, event.order) {
            (Kind::Spawn, _) => {
                let child = event.value as usize * self.threads;
                join(&mut self.now, child, own, self.threads);
            }
            (Kind::Join, _) => {
                let child = event.value as usize * self.threads;
                join(&mut self.now, own, child, self.threads);
            }
            (Kind::Arrive, _) => {
                let row = self.row(id);
                self.messages[row].copy_from_slice(&self.now[own..own + self.threads]);
            }
            (Kind::Depart, _) => {
                for &arrival in frontier.met(event) {
                    let row = self.row(arrival);
                    raise(&mut self.now[own..own + self.threads], &self.messages[row]);
                }
            }
            (Kind::Note, Some(order)) => self.fence(own, order),
            (Kind::Free, _) => {
                let base = Addr(event.value).base();
                let within = |loc: &LocId| self.made[*loc as usize].is_some() && frontier.base(*loc) == base;
                self.ended.extend((0..self.made.len() as LocId).filter(within));
            }
            (Kind::Read | Kind::Write | Kind::Update, Some(order)) => {
                let loc = event.loc as usize;
                self.learnt.clear();
                if event.reads() && order != Ordering::NonAtomic {
                    // A wait has looked at memory before it found what it synchronises with.
                    race |= event.waited && self.access(id, event, false);
                    self.learn(frontier, id, event, sources);
                    let into = if order.acquires() { &mut self.now } else { &mut self.pending };
                    raise(&mut into[own..own + self.threads], &self.learnt);
                }
                race |= self.access(id, event, event.writes());
                if event.writes() {
                    self.publish(id, order, own);
                    self.last[loc] = id;
                }
            }
            _ => {}
        }
        race
    }

    fn fence(&mut self, own: usize, order: Ordering) {
        let row = own..own + self.threads;
        if order.acquires() {
            raise(&mut self.now[row.clone()], &self.pending[row.clone()]);
        }
        if order.releases() {
            self.fence[row.clone()].copy_from_slice(&self.now[row]);
        }
    }

    /// What a read learns from its source; from all of them, what they have in common.
    fn learn(&mut self, frontier: &Frontier<'_>, read: EventId, event: &Event, sources: Sources<'_>) {
        let good = match sources {
            Sources::AtHand => std::slice::from_ref(&self.last[event.loc as usize]),
            Sources::Any(chosen) => match chosen.iter().find(|(other, _)| *other == read) {
                Some((_, source)) => std::slice::from_ref(source),
                None => frontier.sources(event),
            },
        };
        let mut learnt = std::mem::take(&mut self.learnt);
        for (nth, &source) in good.iter().enumerate() {
            let message = self.message(source);
            if message.is_empty() {
                learnt.clear();
                break;
            } else if nth == 0 {
                learnt.extend_from_slice(message);
            } else {
                learnt.iter_mut().zip(message).for_each(|(mine, theirs)| *mine = (*mine).min(*theirs));
            }
        }
        self.learnt = learnt;
    }

    /// A write publishes what its thread did before it, or before the last release fence; an update also what its source did.
    fn publish(&mut self, id: EventId, order: Ordering, own: usize) {
        let clock = if order.releases() { &self.now } else { &self.fence };
        let clock = &clock[own..own + self.threads];
        let row = self.row(id);
        let message = &mut self.messages[row];
        self.changed |= raise(message, clock);
        self.changed |= raise(message, &self.learnt);
    }

    /// Compares an access with those before it, and remembers it. Returns whether it is not ordered with one of them.
    fn access(&mut self, id: EventId, event: &Event, writes: bool) -> bool {
        let now = &self.now[id.thread.index() * self.threads..];
        // Behind the end of its life, an access is wrong for that.
        let unknown = !self.ended.contains(&event.loc)
            && self.made[event.loc as usize]
                .is_some_and(|made| made.thread != id.thread && now[made.thread.index()] <= made.index);
        if unknown || !self.plain[event.loc as usize] {
            return unknown;
        }
        let new = Past { event: id, writes, atomic: event.order != Some(Ordering::NonAtomic) };
        let list = &mut self.past[event.loc as usize];
        let race = list.iter().any(|other| {
            other.event.thread != id.thread
                && (other.writes || writes)
                && !(other.atomic && new.atomic)
                && now[other.event.thread.index()] <= other.event.index
        });
        let same = |other: &&mut Past| {
            other.event.thread == id.thread && (other.writes, other.atomic) == (new.writes, new.atomic)
        };
        match list.iter_mut().find(same) {
            Some(other) => *other = new,
            None => list.push(new),
        }
        race
    }
}

/// Whether it matters what a read learns: it acquires, or an acquire fence follows, or it passes on what it learns.
fn synchronises(frontier: &Frontier<'_>, read: EventId) -> bool {
    let events = &frontier.events(read.thread)[read.index as usize..];
    let fence = |event: &Event| event.kind == Kind::Note && event.order.is_some_and(Ordering::acquires);
    events[0].reads()
        && events[0].order.is_some_and(|order| {
            order.acquires() || (order != Ordering::NonAtomic && (events[0].writes() || events.iter().any(fence)))
        })
}

/// Raises the numbers of a row to those of another. Returns whether any changed.
fn raise(row: &mut [u32], to: &[u32]) -> bool {
    let mut changed = false;
    for (mine, &theirs) in row.iter_mut().zip(to) {
        changed |= *mine < theirs;
        *mine = theirs.max(*mine);
    }
    changed
}

/// Raises the row that starts at `to` to the one that starts at `from`.
fn join(rows: &mut [u32], to: usize, from: usize, width: usize) {
    for at in 0..width {
        rows[to + at] = rows[to + at].max(rows[from + at]);
    }
}
