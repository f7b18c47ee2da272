//! From a set of events to a problem, and from its solution to a sequence.

use super::event::{INITIAL, LocId, NO_LOC};
use super::frontier::Frontier;
use super::report::{Alarm, Counters};
use super::run::Pending;
use raddle_consistency::Interrupted;
use raddle_consistency::values::{Heuristics, INIT, NONE, Op, Problem, Verifier};
use raddle_trace::{EventId, ThreadId};

/// Finds sequences, with buffers.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    problem: Problem,
    verifier: Verifier,
    /// Where the events of each thread start in the problem.
    starts: Vec<u32>,
    /// Numbers of locations in the problem, where the stamp is the current one.
    locs: Vec<(u32, u32)>,
    stamp: u32,
    used: u32,
    sequence: Vec<u32>,
}

/// A read at the end, after everything else: of this location, and from one of these writes.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub(crate) loc: LocId,
    pub(crate) sources: Vec<EventId>,
}

/// A pending read that reads from one of these writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRead<'a> {
    pub(crate) pending: Pending,
    pub(crate) sources: &'a [EventId],
    /// Whether it then writes.
    pub(crate) writes: bool,
}

/// What is asked beside the events that are there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Question<'a> {
    /// With one more read.
    Read(NewRead<'a>),
    /// With these orders, and with reads at the end.
    Order(&'a [(EventId, EventId)], &'a [Last]),
    /// With these reads reading from these writes.
    Sources(&'a [(EventId, EventId)]),
}

impl Witness {
    /// A sequence of the events, and of the new read if there is one, in which all reads read from their sources.
    pub(crate) fn find(
        &mut self,
        frontier: &Frontier<'_>,
        sequence: &[EventId],
        question: Question<'_>,
        heuristics: Heuristics,
        counters: &mut Counters,
        alarm: Alarm<'_>,
    ) -> Result<Option<Vec<EventId>>, Interrupted> {
        if heuristics.guidance
            && let Question::Read(read) = question
            && let Some(found) = place(frontier, sequence, read)
        {
            return Ok(Some(found));
        }
        self.build(frontier, sequence, question);
        counters.questions += 1;
        let Some(found) = self.verifier.verify(&self.problem, &self.sequence, heuristics, &alarm)? else {
            counters.unrealisable += 1;
            return Ok(None);
        };
        let threads = frontier.threads() as u32;
        let events = found.iter().map(|&number| {
            let thread = self.problem.thread(number) as u32;
            EventId::new(ThreadId(thread), number - self.starts[thread as usize])
        });
        let mut sequence = Vec::with_capacity(found.len() + ROOM);
        sequence.extend(events.filter(|event| event.thread.0 < threads));
        Ok(Some(sequence))
    }

    fn build(&mut self, frontier: &Frontier<'_>, sequence: &[EventId], question: Question<'_>) {
        self.number(frontier, question);
        self.stamp += 1;
        self.used = 0;
        self.problem.clear();
        for thread in (0..frontier.threads() as u32).map(ThreadId) {
            for (index, event) in frontier.events(thread).iter().enumerate() {
                let id = EventId::new(thread, index as u32);
                let (reads, writes) = (event.reads(), event.writes());
                let good = match question {
                    _ if !reads => (0, 0),
                    Question::Sources(chosen)
                        if let Some((_, source)) = chosen.iter().find(|(read, _)| *read == id) =>
                    {
                        self.good(&[*source])
                    }
                    _ => self.good(frontier.sources(event)),
                };
                let loc = if reads || writes { self.loc(event.loc) } else { NONE };
                // Most events have neither.
                let after = match frontier.joints(id) {
                    [None, None] => NONE,
                    [Some(start), None] => self.dense(start),
                    [start, Some(end)] => {
                        if let Some(start) = start {
                            self.problem.edges.push((self.dense(start), self.dense(id)));
                        }
                        self.dense(end)
                    }
                };
                for &arrival in frontier.met(event) {
                    self.problem.edges.push((self.dense(arrival), self.dense(id)));
                }
                self.problem.push(Op { loc, reads, writes, after, good });
            }
            if let Question::Read(read) = question
                && read.pending.thread == thread
            {
                let good = self.good(read.sources);
                let loc = self.loc(read.pending.loc);
                let first = frontier.events(thread).is_empty();
                let after = if first { frontier.start(thread) } else { None };
                let after = after.map_or(NONE, |before| self.dense(before));
                self.problem.push(Op { loc, reads: true, writes: read.writes, after, good });
            }
            self.problem.end_thread();
        }
        self.sequence.clear();
        for &id in sequence {
            let number = self.dense(id);
            self.sequence.push(number);
        }
        match question {
            Question::Read(NewRead { pending: Pending { thread, .. }, .. }) => {
                let last = EventId::new(thread, frontier.events(thread).len() as u32);
                let number = self.dense(last);
                self.sequence.push(number);
            }
            Question::Sources(_) => {}
            Question::Order(orders, lasts) => {
                for &(a, b) in orders {
                    let edge = (self.dense(a), self.dense(b));
                    self.problem.edges.push(edge);
                }
                if !lasts.is_empty() {
                    self.end(lasts);
                }
            }
        }
    }

    /// Gives numbers to events.
    fn number(&mut self, frontier: &Frontier<'_>, question: Question<'_>) {
        self.starts.clear();
        let mut start = 0;
        for thread in 0..frontier.threads() as u32 {
            self.starts.push(start);
            start += frontier.events(ThreadId(thread)).len() as u32;
            start += u32::from(matches!(question, Question::Read(read) if read.pending.thread.0 == thread));
        }
        self.starts.push(start);
    }

    fn dense(&self, id: EventId) -> u32 {
        self.starts[id.thread.index()] + id.index
    }

    /// The number of a location in the problem.
    fn loc(&mut self, loc: LocId) -> u32 {
        debug_assert_ne!(loc, NO_LOC, "reads and writes have a location");
        if self.locs.len() <= loc as usize {
            self.locs.resize(loc as usize + 1, (0, 0));
        }
        let entry = &mut self.locs[loc as usize];
        if entry.0 != self.stamp {
            *entry = (self.stamp, self.used);
            self.used += 1;
        }
        entry.1
    }

    /// Writes down a list of good writes.
    fn good(&mut self, sources: &[EventId]) -> (u32, u32) {
        let from = self.problem.good.len();
        for &source in sources {
            let number = if source == INITIAL { INIT } else { self.dense(source) };
            self.problem.good.push(number);
        }
        if sources.len() > 1 {
            self.problem.good[from..].sort_unstable();
        }
        (from as u32, self.problem.good.len() as u32)
    }

    /// Adds a thread that reads after everything else.
    fn end(&mut self, reads: &[Last]) {
        let first = self.problem.len() as u32;
        for read in reads {
            let good = self.good(&read.sources);
            let loc = self.loc(read.loc);
            self.sequence.push(self.problem.len() as u32);
            self.problem.push(Op { loc, reads: true, writes: false, after: NONE, good });
        }
        for thread in 0..self.problem.threads() {
            let (start, end) = (self.problem.starts[thread], self.problem.starts[thread + 1]);
            if end > start {
                self.problem.edges.push((end - 1, first));
            }
        }
        self.problem.end_thread();
    }
}

/// Puts the read somewhere into the sequence at hand, if that is a solution: just before a good write is overwritten, and
/// not before the events it comes after. An update must not come between another one and its source.
fn place(frontier: &Frontier<'_>, sequence: &[EventId], new: NewRead<'_>) -> Option<Vec<EventId>> {
    let NewRead { pending, sources, writes } = new;
    let index = frontier.events(pending.thread).len() as u32;
    let read = EventId::new(pending.thread, index);
    let before = if index > 0 { Some(EventId::new(pending.thread, index - 1)) } else { frontier.start(pending.thread) };
    let mut at = sequence.len();
    let mut free = true;
    for (position, &id) in sequence.iter().enumerate().rev() {
        let event = frontier.event(id);
        if event.writes() && event.loc == pending.loc {
            if free && sources.contains(&id) {
                return Some(with(sequence, at, read));
            }
            at = position;
            free = !writes || !event.reads();
        }
        // The read comes after this event, but may still see what is in memory then.
        if Some(id) == before {
            if at == position {
                return None;
            }
            let rest = sequence[..position].iter().rev().copied();
            let mut writes = rest.filter(|&id| frontier.event(id).writes() && frontier.event(id).loc == pending.loc);
            let seen = writes.next().unwrap_or(INITIAL);
            return (free && sources.contains(&seen)).then(|| with(sequence, at, read));
        }
    }
    (free && sources.contains(&INITIAL)).then(|| with(sequence, at, read))
}

/// How many events a sequence has room for behind the read: mostly its thread goes on before the next read.
const ROOM: usize = 16;

fn with(sequence: &[EventId], at: usize, read: EventId) -> Vec<EventId> {
    let mut found = Vec::with_capacity(sequence.len() + 1 + ROOM);
    found.extend_from_slice(&sequence[..at]);
    found.push(read);
    found.extend_from_slice(&sequence[at..]);
    found
}
