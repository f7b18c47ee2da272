//! The search: which set of events is looked at next.
//!
//! A stack of nodes, one frontier. A node is entered by running all threads to their next reads; it is left when its reads
//! have been tried as far as they need to be.

use super::candidates::{self, Group, Tried};
use super::options::Settings;
use super::signals::{Ancestor, Ancestors};
use super::witness::{self, Witness};
use crate::sequence::races::Races;
use crate::sequence::{Bug, Extended, Frontier, Initial, Mark, Pending, Report, Stop};
use raddle_engine::{Deadline, Fault, Options, Outcome, Question};
use raddle_machine::Automaton;
use raddle_trace::{EventId, ThreadId};

/// How many options are tried between two looks at the clock.
const PATIENCE: u32 = 256;

/// What is tried at a node.
#[derive(Debug)]
enum Branch {
    /// The alternatives of a choice.
    Choice { thread: ThreadId, count: u32, next: u32 },
    /// Pending reads, one after the other.
    Reads {
        reads: Vec<Pending>,
        /// The one that is being tried.
        next: usize,
        /// Its groups, the next one last; `None` if it has not been begun.
        groups: Option<Vec<Group>>,
        /// Whether further reads have to be tried.
        more: bool,
        /// A group of the current read is being explored.
        inside: bool,
        /// Some group of the current read has been.
        possible: bool,
    },
}

/// A set of events.
#[derive(Debug)]
struct Node {
    mark: Mark,
    /// Its events, in an order in which all reads read from their sources.
    sequence: Vec<EventId>,
    /// What the pending read of each thread has tried, if anything.
    tried: Vec<Option<Tried>>,
    branch: Branch,
    /// The share of the search below, as far as it has not been given to children.
    weight: f64,
    /// The share of each group of the current read.
    share: f64,
    /// Whether anything came of it.
    fruitful: bool,
}

/// The search, and what it has found.
pub(crate) struct Search<'c> {
    pub(super) options: &'c Options,
    pub(super) settings: Settings,
    depth: usize,
    pub(super) frontier: Frontier<'c>,
    nodes: Vec<Node>,
    ancestors: Ancestors,
    pub(super) witness: Witness,
    pub(super) report: Report<'c>,
    /// Looks for data races, if they are of interest.
    pub(super) races: Option<Races>,
    /// What is wrong in the node that is being entered.
    pub(super) bugs: Vec<Bug>,
    buffer: Vec<EventId>,
}

/// Whether trying this read can make it needless to try others. The argument for that needs a read that can be done at
/// any time, or a mutex: there what is in its way is another lock that shows up.
fn stops(pending: &Pending) -> bool {
    !pending.wait || pending.mutex
}

impl Node {
    /// Whether anything is left to try.
    fn has_more(&self) -> bool {
        match &self.branch {
            Branch::Choice { count, next, .. } => next < count,
            Branch::Reads { reads, next, groups, more, .. } => match groups {
                Some(groups) => !groups.is_empty() || (*more && next + 1 < reads.len()),
                None => *more && *next < reads.len(),
            },
        }
    }
}

impl<'c> Search<'c> {
    pub(crate) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings) -> Self {
        let Question { code, options } = question;
        let report = Report::new("rvf", question, deadline);
        Search {
            options,
            settings,
            depth: options.limits.depth(),
            frontier: Frontier::new(code, options),
            nodes: Vec::new(),
            ancestors: Ancestors::default(),
            witness: Witness::default(),
            races: report.looks_for_races().then(Races::default),
            report,
            bugs: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Explores everything, or until something stops it.
    pub(crate) fn run(mut self) -> Result<Outcome, Fault> {
        let walked = self.walk();
        self.report.finish(walked)
    }

    fn walk(&mut self) -> Result<(), Stop> {
        self.frontier.failed(ThreadId::MAIN, 0, &mut self.bugs);
        self.report_bugs(&[])?;
        self.enter(Vec::new(), Vec::new(), 1.0)?;
        let mut patience = PATIENCE;
        while !self.report.stopped() {
            if !self.advance()? {
                break;
            }
            patience -= 1;
            if patience == 0 || self.report.is_full() {
                patience = PATIENCE;
                let more = self.nodes.iter().any(Node::has_more);
                self.report.look_around(more);
            }
        }
        Ok(())
    }

    /// Enters a node: runs the threads, sends signals, looks whether this is an end, and prepares what is tried.
    fn enter(&mut self, mut sequence: Vec<EventId>, tried: Vec<Option<Tried>>, weight: f64) -> Result<(), Stop> {
        self.report.counters.nodes += 1;
        let known = sequence.len();
        let extended = self.frontier.extend(&mut sequence, &mut self.bugs, self.depth)?;
        self.report_bugs(&sequence)?;
        self.report.statistics.longest = self.report.statistics.longest.max(sequence.len() as u64);
        let mark = self.frontier.mark();
        for &id in &sequence[known..] {
            self.signal_write(id);
        }
        if extended == Extended::TooLong {
            let threads = (0..self.frontier.threads() as u32).map(ThreadId);
            let busiest = threads.max_by_key(|&thread| self.frontier.events(thread).len());
            let pc = busiest.and_then(|thread| self.frontier.state(thread)).map(|state| state.pc());
            self.check_races(&sequence)?;
            self.report.cut(pc);
            self.report.done += weight;
            let branch = Branch::Choice { thread: ThreadId::MAIN, count: 0, next: 0 };
            self.nodes.push(Node { mark, sequence, tried, branch, weight: 0.0, share: 0.0, fruitful: true });
            return Ok(());
        }
        let threads = (0..self.frontier.threads() as u32).map(ThreadId);
        let mut choice = None;
        let mut reads: Vec<Pending> = Vec::new();
        for thread in threads {
            choice = choice.or(self.frontier.choice(thread).map(|count| (thread, count)));
            reads.extend(self.frontier.pending(thread));
        }
        for &pending in &reads {
            let state = self.frontier.state(pending.thread).expect("it has a pending read");
            let compares = state.operation_name(self.frontier.world.code) == "cas";
            self.ancestors.pending(pending, compares, self.settings.corrections);
        }
        let mut fruitful = false;
        let branch = match choice {
            Some((thread, count)) => Branch::Choice { thread, count, next: 0 },
            None => {
                fruitful = self.end(&sequence)?;
                let is_tried = |pending: &Pending| tried.get(pending.thread.index()).is_some_and(Option::is_some);
                // Those that can stop the others first.
                reads.sort_by_key(|pending| (is_tried(pending), !stops(pending)));
                Branch::Reads { reads, next: 0, groups: None, more: true, inside: false, possible: false }
            }
        };
        let (weight, share) = match branch {
            Branch::Choice { count, .. } => (0.0, weight / f64::from(count)),
            Branch::Reads { .. } => (weight, 0.0),
        };
        self.nodes.push(Node { mark, sequence, tried, branch, weight, share, fruitful });
        Ok(())
    }

    /// Tries the next option of the innermost node, or leaves it. Returns `false` when nothing is left.
    fn advance(&mut self) -> Result<bool, Stop> {
        let Some(node) = self.nodes.last_mut() else { return Ok(false) };
        match &mut node.branch {
            Branch::Choice { thread, count, next } => {
                if *next == *count {
                    return Ok(self.leave());
                }
                let (thread, pick) = (*thread, *next);
                *next += 1;
                node.fruitful = true;
                let (share, tried, mut sequence) = (node.share, node.tried.clone(), node.sequence.clone());
                sequence.push(self.frontier.choose(thread, pick));
                self.frontier.failed(thread, sequence.len(), &mut self.bugs);
                self.report_bugs(&sequence)?;
                self.enter(sequence, tried, share)?;
                Ok(true)
            }
            Branch::Reads { reads, next, groups, more, inside, possible } => {
                if std::mem::replace(inside, false) {
                    let signal = self.ancestors.pop();
                    *more |= signal;
                    self.frontier.undo(node.mark);
                }
                let Some(&pending) = reads.get(*next).filter(|_| groups.is_some() || *more) else {
                    return Ok(self.leave());
                };
                let tried = node.tried.get(pending.thread.index()).and_then(Option::as_ref);
                let list = match groups {
                    Some(list) => list,
                    None => {
                        let stop = tried.is_none() && stops(&pending) && self.settings.signals;
                        *more = !stop;
                        *possible = false;
                        let by_source = self.settings.by_source;
                        let mut found =
                            candidates::groups(&mut self.frontier, pending, tried, by_source, &mut self.buffer);
                        found.reverse();
                        let share = node.weight / (reads.len() - *next) as f64;
                        node.weight -= share;
                        node.share = share / found.len().max(1) as f64;
                        if found.is_empty() {
                            self.report.done += share;
                        }
                        groups.insert(found)
                    }
                };
                let Some(group) = list.pop() else {
                    *groups = None;
                    *next += 1;
                    // A lock that cannot be taken says nothing about the others.
                    *more |= !*possible;
                    let counts = (0..self.frontier.threads() as u32).map(ThreadId);
                    let counts: Tried = counts.map(|thread| self.frontier.events(thread).len() as u32).collect();
                    if node.tried.len() <= pending.thread.index() {
                        node.tried.resize(pending.thread.index() + 1, None);
                    }
                    node.tried[pending.thread.index()] = Some(counts);
                    return Ok(true);
                };
                let signal = *more;
                self.try_group(pending, &group, signal)?;
                Ok(true)
            }
        }
    }

    /// Explores what follows if the pending read reads from the group, if it can.
    fn try_group(&mut self, pending: Pending, group: &Group, signal: bool) -> Result<(), Stop> {
        let node = self.nodes.last_mut().expect("it is being looked at");
        self.report.statistics.events += 1;
        let question = witness::Question::Read(pending, group);
        let (alarm, counters) = (self.report.alarm(), &mut self.report.counters);
        let found = self.witness.find(&self.frontier, &node.sequence, question, &self.settings, counters, alarm)?;
        let share = node.share;
        let Some(sequence) = found else {
            self.report.done += share;
            return Ok(());
        };
        let Branch::Reads { inside, possible, .. } = &mut node.branch else { unreachable!("a read is being tried") };
        (*inside, *possible) = (true, true);
        node.fruitful = true;
        let mut tried = node.tried.clone();
        if let Some(entry) = tried.get_mut(pending.thread.index()) {
            *entry = None;
        }
        let state = self.frontier.state(pending.thread).expect("it has a pending read");
        let compares = state.operation_name(self.frontier.world.code) == "cas";
        let id = match group.value {
            Initial::Value(value) => self.frontier.read(pending.thread, value, group.pick, &group.members),
            Initial::Uninitialised => self.frontier.read_uninitialised(pending.thread, &group.members),
        };
        self.ancestors.push(Ancestor {
            id,
            loc: pending.loc,
            update: pending.update,
            mutex: pending.mutex,
            compares,
            signal,
        });
        if self.settings.corrections.updates_signal {
            self.signal_write(id);
        }
        self.frontier.failed(pending.thread, sequence.len(), &mut self.bugs);
        self.report_bugs(&sequence)?;
        self.enter(sequence, tried, share)
    }

    fn signal_write(&mut self, id: EventId) {
        let event = self.frontier.event(id);
        if event.writes() {
            let frontier = &self.frontier;
            self.ancestors.write(id, event.loc, |ancestor| frontier.before(ancestor, id));
        }
    }

    /// Leaves the innermost node. Returns whether there is another one.
    fn leave(&mut self) -> bool {
        let node = self.nodes.pop().expect("it is being looked at");
        self.report.done += node.weight;
        self.report.counters.dead_ends += u64::from(!node.fruitful);
        if let Some(parent) = self.nodes.last() {
            self.frontier.undo(parent.mark);
        }
        !self.nodes.is_empty()
    }
}
