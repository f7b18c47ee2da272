//! The search: which set of events is looked at next.
//!
//! A stack of nodes, one frontier. A node is entered by running all threads to their next reads; it is left when its reads
//! have been tried as far as they need to be.

use super::candidates::{self, Group};
use super::options::{Rule, Settings};
use crate::rules::Follows;
use crate::sequence::pool::{self, Back, Behind, Divisible, Given, Parts};
use crate::sequence::signals::{Ancestor, Ancestors, stops};
use crate::sequence::witness::{self, NewRead};
use crate::sequence::{Extended, Initial, Mark, Pending, Report, Shell, Stop, Tried, Walk, forbid};
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
pub(crate) struct Node {
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
    /// Parts of it that others work on.
    given: Vec<Given>,
}

/// The search, and what it has found.
pub(crate) struct Search<'c> {
    pub(super) shell: Shell<'c>,
    settings: Settings,
    nodes: Vec<Node>,
    ancestors: Ancestors,
    /// How many of them are above the outermost node.
    inherited: usize,
    /// Where to leave what comes of it, if it is a part of a search.
    part: Option<Given>,
    buffer: Vec<EventId>,
}

/// Whether a pending update may be one that the ancestor has disabled.
fn hides(settings: &Settings, pending: Pending, compares: bool, ancestor: &Ancestor) -> bool {
    if pending.mutex && ancestor.mutex {
        settings.follows(Rule::LocksHideLocks)
    } else {
        ancestor.update && (settings.follows(Rule::UpdatesHideUpdates) || (compares && ancestor.compares))
    }
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

impl Divisible for Node {
    fn left(&self) -> usize {
        match &self.branch {
            Branch::Choice { count, next, .. } => (count - next) as usize,
            Branch::Reads { groups, .. } => groups.as_ref().map_or(0, Vec::len),
        }
    }

    fn reads(&self) -> Option<Behind> {
        match &self.branch {
            Branch::Choice { .. } => None,
            Branch::Reads { reads, next, more, .. } => Some(Behind::of(reads.len().saturating_sub(next + 1), *more)),
        }
    }

    fn given(&self) -> &[Given] {
        &self.given
    }
}

/// A part of it.
type Part<'c> = pool::Part<'c, Node>;

impl<'c> Walk<'c> for Search<'c> {
    // A look is as much work as one of a search over graphs, on average over what `raddle-bench choice` measures.
    const PATIENCE: u32 = 320;

    fn shell(&mut self) -> &mut Shell<'c> {
        &mut self.shell
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
                    self.hear();
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
                    self.hear();
                    let node = self.nodes.last_mut().expect("it is being looked at");
                    let Branch::Reads { reads, next, groups, more, possible, .. } = &mut node.branch else {
                        unreachable!("reads are being tried")
                    };
                    *groups = None;
                    *next += 1;
                    // A lock that cannot be taken says nothing about the others.
                    *more |= !*possible && *next < reads.len();
                    forbid(&mut node.tried, pending.thread, &self.shell.frontier);
                    return Ok(true);
                };
                let signal = *more;
                self.try_group(pending, &group, signal)?;
                Ok(true)
            }
        }
    }
}

impl<'c> Parts<'c> for Search<'c> {
    type Node = Node;
    type Settings = Settings;

    fn of_part(part: Part<'c>, question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings) -> Self {
        let pool::Part { frontier, ancestors, node, given } = part;
        let mut shell = Shell::with(frontier, "rvf", question, deadline);
        shell.heuristics = settings.heuristics();
        let (inherited, nodes, buffer) = (ancestors.len(), vec![node], Vec::new());
        Search { shell, settings, nodes, ancestors, inherited, part: given, buffer }
    }

    fn into_whole(mut self) -> (Option<Part<'c>>, Report<'c>) {
        let Shell { frontier, report, .. } = self.shell;
        let whole = self.nodes.pop().map(|node| pool::Part { frontier, ancestors: self.ancestors, node, given: None });
        (whole, report)
    }

    fn waits_for(&self) -> Option<Given> {
        pool::awaited(&self.nodes)
    }

    fn split(&mut self) -> Option<Part<'c>> {
        pool::cut(&self.nodes, &self.ancestors, self.inherited).map(|cut| self.split_at(cut))
    }
}

impl<'c> Search<'c> {
    pub(crate) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings, meetings: bool) -> Self {
        let mut shell = Shell::new("rvf", question, deadline, meetings);
        shell.heuristics = settings.heuristics();
        let (nodes, ancestors, buffer) = (Vec::new(), Ancestors::default(), Vec::new());
        Search { shell, settings, nodes, ancestors, inherited: 0, part: None, buffer }
    }

    /// Gives away a part of a node.
    fn split_at(&mut self, pool::Cut { at, above, behind }: pool::Cut) -> Part<'c> {
        let node = &mut self.nodes[at];
        let mut frontier = self.shell.frontier.clone();
        frontier.undo(node.mark);
        let (mut tried, mut weight) = (node.tried.clone(), 0.0);
        let branch = match &mut node.branch {
            Branch::Choice { thread, count, next } => {
                let middle = *next + (*count - *next) / 2;
                Branch::Choice { thread: *thread, count: std::mem::replace(count, middle), next: middle }
            }
            Branch::Reads { reads, next, .. } if behind => {
                forbid(&mut tried, reads[*next].thread, &frontier);
                weight = std::mem::replace(&mut node.weight, 0.0);
                let reads = reads.split_off(*next + 1);
                Branch::Reads { reads, next: 0, groups: None, more: true, inside: false, possible: false }
            }
            Branch::Reads { reads, next, groups, .. } => {
                let groups = groups.as_mut().map(|groups| groups.drain(..groups.len().div_ceil(2)).collect());
                Branch::Reads {
                    reads: vec![reads[*next]],
                    next: 0,
                    groups,
                    more: false,
                    inside: false,
                    possible: false,
                }
            }
        };
        let given = Given::default();
        node.given.push(given.clone());
        let (mark, sequence, share) = (node.mark, node.sequence.clone(), node.share);
        let node = Node { mark, sequence, tried, branch, weight, share, fruitful: false, given: Vec::new() };
        pool::Part { frontier, ancestors: self.ancestors.first(above), node, given: Some(given) }
    }

    /// All of the innermost node, or of its read, has been tried: hears what came of the parts that were given away.
    fn hear(&mut self) {
        let node = self.nodes.last_mut().expect("it is being looked at");
        for given in node.given.drain(..) {
            let back = given.get().expect("it was waited for");
            self.ancestors.hear(&back.signals);
            node.fruitful |= back.fruitful;
            if let Branch::Reads { more, possible, .. } = &mut node.branch {
                *more |= back.more;
                *possible |= back.possible;
            }
        }
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
            self.ancestors.shown(id, &self.shell.frontier);
        }
        if extended == Extended::TooLong {
            self.shell.check_races(&sequence)?;
            self.shell.cut();
            self.shell.report.done += weight;
            let branch = Branch::Choice { thread: ThreadId::MAIN, count: 0, next: 0 };
            self.nodes.push(Node {
                mark,
                sequence,
                tried,
                branch,
                weight: 0.0,
                share: 0.0,
                fruitful: true,
                given: Vec::new(),
            });
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
            let settings = &self.settings;
            self.ancestors.pending(pending, |ancestor| hides(settings, pending, compares, ancestor));
        }
        let mut fruitful = false;
        let branch = match choice {
            Some((thread, count)) => Branch::Choice { thread, count, next: 0 },
            None => {
                // Where somebody has a read to make that does not wait, nothing ends.
                fruitful = reads.iter().all(|pending| pending.wait) && self.end(&sequence)?;
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
        self.nodes.push(Node { mark, sequence, tried, branch, weight, share, fruitful, given: Vec::new() });
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
        self.ancestors.push(Ancestor::of(id, pending, compares, signal));
        if self.settings.follows(Rule::UpdatesSignal) {
            self.ancestors.shown(id, &self.shell.frontier);
        }
        self.shell.added(pending.thread, sequence.len());
        self.report_bugs(&sequence)?;
        self.enter(sequence, tried, share)
    }

    /// Leaves the innermost node. Returns whether there is another one.
    fn leave(&mut self) -> bool {
        let node = self.nodes.pop().expect("it is being looked at");
        self.shell.report.done += node.weight;
        if self.nodes.is_empty()
            && let Some(part) = self.part.take()
        {
            let more = matches!(node.branch, Branch::Reads { more: true, .. });
            let (fruitful, signals) = (node.fruitful, self.ancestors.signals());
            let told = part.set(Back { more, possible: fruitful, fruitful, signals, ended: Vec::new() });
            told.expect("nobody else tells it");
            return false;
        }
        self.shell.report.counters.dead_ends += u64::from(!node.fruitful);
        if let Some(parent) = self.nodes.last() {
            self.shell.frontier.undo(parent.mark);
        }
        !self.nodes.is_empty()
    }
}
