//! The search: which set of events is looked at next.
//!
//! A stack of nodes, one frontier. A node is entered by running all threads to their next reads; it is left when its reads
//! have been tried as far as they need to be.

use super::candidates::{self, Group, Tried};
use super::options::{Rule, Settings};
use super::signals::{Ancestor, Ancestors};
use crate::sequence::witness::{self, NewRead};
use crate::sequence::{Extended, Initial, Mark, Pending, Shell, Stop, Walk};
use raddle_engine::{Deadline, Question};
use raddle_trace::{EventId, ThreadId};

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
    pub(super) shell: Shell<'c>,
    settings: Settings,
    nodes: Vec<Node>,
    ancestors: Ancestors,
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

impl<'c> Walk<'c> for Search<'c> {
    const PATIENCE: u32 = 256;

    fn shell(&mut self) -> &mut Shell<'c> {
        &mut self.shell
    }

    fn into_shell(self) -> Shell<'c> {
        self.shell
    }

    fn begin(&mut self) -> Result<(), Stop> {
        self.shell.added(ThreadId::MAIN, 0);
        self.report_bugs(&[])?;
        self.enter(Vec::new(), Vec::new(), 1.0)
    }

    fn has_more(&self) -> bool {
        self.nodes.iter().any(Node::has_more)
    }

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
                sequence.push(self.shell.frontier.choose(thread, pick));
                self.shell.added(thread, sequence.len());
                self.report_bugs(&sequence)?;
                self.enter(sequence, tried, share)?;
                Ok(true)
            }
            Branch::Reads { reads, next, groups, more, inside, possible } => {
                if std::mem::replace(inside, false) {
                    let signal = self.ancestors.pop();
                    *more |= signal;
                    self.shell.frontier.undo(node.mark);
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
                            candidates::groups(&mut self.shell.frontier, pending, tried, by_source, &mut self.buffer);
                        found.reverse();
                        let share = node.weight / (reads.len() - *next) as f64;
                        node.weight -= share;
                        node.share = share / found.len().max(1) as f64;
                        if found.is_empty() {
                            self.shell.report.done += share;
                        }
                        groups.insert(found)
                    }
                };
                let Some(group) = list.pop() else {
                    *groups = None;
                    *next += 1;
                    // A lock that cannot be taken says nothing about the others.
                    *more |= !*possible;
                    let frontier = &self.shell.frontier;
                    let counts: Tried = frontier.ids().map(|thread| frontier.events(thread).len() as u32).collect();
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
}

impl<'c> Search<'c> {
    pub(crate) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings) -> Self {
        let mut shell = Shell::new("rvf", question, deadline);
        shell.heuristics = settings.heuristics();
        Search { shell, settings, nodes: Vec::new(), ancestors: Ancestors::default(), buffer: Vec::new() }
    }

    /// Enters a node: runs the threads, sends signals, looks whether this is an end, and prepares what is tried.
    fn enter(&mut self, mut sequence: Vec<EventId>, tried: Vec<Option<Tried>>, weight: f64) -> Result<(), Stop> {
        self.shell.report.counters.nodes += 1;
        let known = sequence.len();
        let extended = self.shell.extend(&mut sequence)?;
        self.report_bugs(&sequence)?;
        self.shell.report.statistics.longest = self.shell.report.statistics.longest.max(sequence.len() as u64);
        let mark = self.shell.frontier.mark();
        for &id in &sequence[known..] {
            self.signal_write(id);
        }
        if extended == Extended::TooLong {
            self.shell.check_races(&sequence)?;
            self.shell.cut();
            self.shell.report.done += weight;
            let branch = Branch::Choice { thread: ThreadId::MAIN, count: 0, next: 0 };
            self.nodes.push(Node { mark, sequence, tried, branch, weight: 0.0, share: 0.0, fruitful: true });
            return Ok(());
        }
        let mut choice = None;
        let mut reads: Vec<Pending> = Vec::new();
        for thread in self.shell.frontier.ids() {
            choice = choice.or(self.shell.frontier.choice(thread).map(|count| (thread, count)));
            reads.extend(self.shell.frontier.pending(thread));
        }
        for &pending in &reads {
            let state = self.shell.frontier.state(pending.thread).expect("it has a pending read");
            let compares = state.operation_name(self.shell.frontier.world.code) == "cas";
            self.ancestors.pending(pending, compares, &self.settings);
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

    /// Explores what follows if the pending read reads from the group, if it can.
    fn try_group(&mut self, pending: Pending, group: &Group, signal: bool) -> Result<(), Stop> {
        let node = self.nodes.last_mut().expect("it is being looked at");
        self.shell.report.statistics.events += 1;
        let read = NewRead { pending, sources: &group.members, writes: group.writes };
        let found = self.shell.find(&node.sequence, witness::Question::Read(read))?;
        let share = node.share;
        let Some(sequence) = found else {
            self.shell.report.done += share;
            return Ok(());
        };
        let Branch::Reads { inside, possible, .. } = &mut node.branch else { unreachable!("a read is being tried") };
        (*inside, *possible) = (true, true);
        node.fruitful = true;
        let mut tried = node.tried.clone();
        if let Some(entry) = tried.get_mut(pending.thread.index()) {
            *entry = None;
        }
        let state = self.shell.frontier.state(pending.thread).expect("it has a pending read");
        let compares = state.operation_name(self.shell.frontier.world.code) == "cas";
        let id = match group.value {
            Initial::Value(value) => self.shell.frontier.read(pending.thread, value, group.pick, &group.members),
            Initial::Uninitialised => self.shell.frontier.read_uninitialised(pending.thread, &group.members),
        };
        self.ancestors.push(Ancestor {
            id,
            loc: pending.loc,
            update: pending.update,
            mutex: pending.mutex,
            compares,
            signal,
        });
        if self.settings.follows(Rule::UpdatesSignal) {
            self.signal_write(id);
        }
        self.shell.added(pending.thread, sequence.len());
        self.report_bugs(&sequence)?;
        self.enter(sequence, tried, share)
    }

    fn signal_write(&mut self, id: EventId) {
        let event = self.shell.frontier.event(id);
        if event.writes() {
            let frontier = &self.shell.frontier;
            self.ancestors.write(id, event.loc, |ancestor| frontier.before(ancestor, id));
        }
    }

    /// Leaves the innermost node. Returns whether there is another one.
    fn leave(&mut self) -> bool {
        let node = self.nodes.pop().expect("it is being looked at");
        self.shell.report.done += node.weight;
        self.shell.report.counters.dead_ends += u64::from(!node.fruitful);
        if let Some(parent) = self.nodes.last() {
            self.shell.frontier.undo(parent.mark);
        }
        !self.nodes.is_empty()
    }
}
