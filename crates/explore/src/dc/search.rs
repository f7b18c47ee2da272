//! The search: which annotation comes next.
//!
//! A stack of nodes, one frontier. A node is an annotation of all reads of the events at hand; its children annotate one of the
//! pending reads. What has been tried for a read is forbidden for it in the later siblings and below them. What is tried
//! below a node is forgotten when it is left.
//!
//! Also what could not be realised is forbidden. Chalupa et al. 2018 must not do so, since with them the reads before a source
//! may be annotated later. Here they all are annotated, and what cannot be realised cannot with more annotations either.
//!
//! Every observation function is met once. Let `O` be one, and a node annotated with a part of it such that nothing of the rest is
//! tried. Of the pending reads whose sources in `O` are there, the child that annotates the first one with its source is
//! such a node again, since those before it were tried with other sources. The order of the reads does not matter.

use super::basis::NewRead;
use super::findings::Explorer;
use super::observe::{Answer, answers, observe};
use super::options::Settings;
use super::refine;
use crate::sequence::{Extended, LocId, Mark, Pending, Shell, Stop, Walk};
use raddle_engine::{Deadline, Question};
use raddle_trace::{EventId, ThreadId};

/// Read, and answer that it is not to get.
type Tried = Vec<(EventId, Answer)>;

/// Writes, in this order.
type Orders = Vec<(EventId, EventId)>;

/// What is tried at a node.
#[derive(Debug)]
enum Branch {
    /// The alternatives of a choice.
    Choice { thread: ThreadId, count: u32, next: u32 },
    /// The two orders of two writes.
    Order { writes: (EventId, EventId), next: u32 },
    /// Answers of pending reads, the next one last.
    Reads { options: Vec<(Pending, Answer, bool)> },
}

/// An annotation of the events at hand.
#[derive(Debug)]
struct Node {
    mark: Mark,
    /// Its events, in an order in which all reads read from their sources.
    trace: Vec<EventId>,
    tried: Tried,
    /// Orders of writes that are part of the class.
    orders: Orders,
    branch: Branch,
    /// The share of the search of each child.
    share: f64,
    /// Whether anything came of it.
    fruitful: bool,
}

/// The search, and what it has found.
pub(super) struct Search<'c> {
    explorer: Explorer<'c>,
    nodes: Vec<Node>,
    /// Locations whose order of writes is part of the class.
    refined: Vec<LocId>,
    buffer: Vec<EventId>,
}

impl<'c> Walk<'c> for Search<'c> {
    const PATIENCE: u32 = 64;

    fn shell(&mut self) -> &mut Shell<'c> {
        &mut self.explorer.shell
    }

    fn begin(&mut self) -> Result<(), Stop> {
        if self.explorer.settings.refine {
            self.refined = refine::locations(&mut self.explorer)?;
        }
        self.added(ThreadId::MAIN, &[])?;
        self.enter(Vec::new(), Tried::new(), Orders::new(), 1.0)
    }

    fn has_more(&self) -> bool {
        self.nodes.iter().any(Node::has_more)
    }

    fn advance(&mut self) -> Result<bool, Stop> {
        let Some(node) = self.nodes.last_mut() else { return Ok(false) };
        self.explorer.shell.frontier.undo(node.mark);
        match &mut node.branch {
            Branch::Choice { thread, count, next } if *next < *count => {
                let (thread, pick) = (*thread, *next);
                *next += 1;
                node.fruitful = true;
                let (trace, tried, orders) = (node.trace.clone(), node.tried.clone(), node.orders.clone());
                let share = node.share;
                self.descend(thread, Answer::alternative(pick), trace, tried, orders, share)?;
            }
            Branch::Order { writes: (a, b), next } if *next < 2 => {
                let edge = if *next == 0 { (*a, *b) } else { (*b, *a) };
                *next += 1;
                self.try_order(edge)?;
            }
            Branch::Reads { options } => match options.pop() {
                Some((pending, answer, writes)) => self.try_read(pending, answer, writes)?,
                None => self.leave(),
            },
            Branch::Choice { .. } | Branch::Order { .. } => self.leave(),
        }
        Ok(true)
    }
}

impl<'c> Search<'c> {
    pub(super) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings, meetings: bool) -> Self {
        Search {
            explorer: Explorer::new(question, deadline, settings, meetings),
            nodes: Vec::new(),
            refined: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Enters a node: runs the threads to their next reads, and looks what there is to try.
    fn enter(&mut self, mut trace: Vec<EventId>, tried: Tried, orders: Orders, weight: f64) -> Result<(), Stop> {
        let explorer = &mut self.explorer;
        explorer.shell.report.counters.nodes += 1;
        let extended = explorer.shell.extend(&mut trace)?;
        explorer.report_bugs(&trace)?;
        // Threads that do nothing but read are not stopped on the way.
        if extended == Extended::TooLong || trace.len() > explorer.shell.depth {
            explorer.cut(&trace)?;
            explorer.shell.report.done += weight;
            let mark = explorer.shell.frontier.mark();
            let branch = Branch::Reads { options: Vec::new() };
            self.nodes.push(Node { mark, trace, tried, orders, branch, share: 0.0, fruitful: true });
            return Ok(());
        }
        self.open(trace, tried, orders, weight)
    }

    /// Looks what there is to try at a node.
    fn open(&mut self, trace: Vec<EventId>, tried: Tried, orders: Orders, weight: f64) -> Result<(), Stop> {
        let explorer = &mut self.explorer;
        let mark = explorer.shell.frontier.mark();
        let writes =
            refine::unordered(&explorer.shell.frontier, &trace, &orders, &self.refined, explorer.traces.alarm)?;
        let threads = explorer.threads();
        let choice = threads.iter().find_map(|&thread| Some((thread, explorer.shell.frontier.choice(thread)?)));
        let mut fruitful = false;
        let (branch, children) = if let Some(writes) = writes {
            (Branch::Order { writes, next: 0 }, 2)
        } else if let Some((thread, count)) = choice {
            (Branch::Choice { thread, count, next: 0 }, count as usize)
        } else {
            fruitful = explorer.end(&trace, &orders)?;
            let pending = threads.iter().filter_map(|&thread| explorer.shell.frontier.pending(thread)).collect();
            let mut options = self.options(pending, &tried);
            options.reverse();
            let children = options.len();
            (Branch::Reads { options }, children)
        };
        if children == 0 {
            self.explorer.shell.report.done += weight;
        }
        let share = weight / children.max(1) as f64;
        self.nodes.push(Node { mark, trace, tried, orders, branch, share, fruitful });
        Ok(())
    }

    /// What the pending reads can be annotated with.
    fn options(&mut self, pending: Vec<Pending>, tried: &Tried) -> Vec<(Pending, Answer, bool)> {
        let frontier = &mut self.explorer.shell.frontier;
        let mut options = Vec::new();
        for pending in pending {
            let read = EventId::new(pending.thread, frontier.events(pending.thread).len() as u32);
            frontier.visible(pending.thread, pending.loc, &mut self.buffer);
            self.buffer.sort_unstable();
            for &source in &self.buffer {
                let (answers, writes) = answers(frontier, pending, source);
                let open = answers.into_iter().filter(|&answer| !tried.contains(&(read, answer)));
                options.extend(open.map(|answer| (pending, answer, writes)));
            }
        }
        options
    }

    /// Explores what follows if a pending read gets this answer, if it can.
    fn try_read(&mut self, pending: Pending, answer: Answer, writes: bool) -> Result<(), Stop> {
        let node = self.nodes.last_mut().expect("it is being looked at");
        let Explorer { shell: Shell { frontier, report, .. }, traces, .. } = &mut self.explorer;
        report.statistics.events += 1;
        let read = EventId::new(pending.thread, frontier.events(pending.thread).len() as u32);
        let share = node.share;
        let new = NewRead { thread: pending.thread, loc: pending.loc, source: answer.source, writes };
        let found = traces.with_read(frontier, &node.trace, new, &node.orders, &mut report.counters)?;
        node.tried.push((read, answer));
        let Some(trace) = found else {
            report.done += share;
            return Ok(());
        };
        node.fruitful = true;
        let tried = node.tried.iter().copied().filter(|&(other, _)| other != read);
        let (tried, orders) = (tried.collect(), node.orders.clone());
        let id = observe(&mut self.explorer.shell.frontier, pending.thread, answer);
        debug_assert_eq!(id, read, "it was the next event of its thread");
        self.added(pending.thread, &trace)?;
        self.enter(trace, tried, orders, share)
    }

    /// Takes an alternative.
    fn descend(
        &mut self,
        thread: ThreadId,
        answer: Answer,
        mut trace: Vec<EventId>,
        tried: Tried,
        orders: Orders,
        share: f64,
    ) -> Result<(), Stop> {
        trace.push(observe(&mut self.explorer.shell.frontier, thread, answer));
        self.added(thread, &trace)?;
        self.enter(trace, tried, orders, share)
    }

    /// Explores one order of two writes, if it is possible.
    fn try_order(&mut self, edge: (EventId, EventId)) -> Result<(), Stop> {
        let node = self.nodes.last_mut().expect("it is being looked at");
        let Explorer { shell: Shell { frontier, report, .. }, traces, .. } = &mut self.explorer;
        let mut orders = node.orders.clone();
        orders.push(edge);
        let place = |of: EventId| node.trace.iter().position(|&id| id == of);
        let found = if place(edge.0) < place(edge.1) {
            Some(node.trace.clone())
        } else {
            traces.with_orders(frontier, &node.trace, &orders, &mut report.counters)?
        };
        let (share, tried) = (node.share, node.tried.clone());
        let Some(trace) = found else {
            report.done += share;
            return Ok(());
        };
        node.fruitful = true;
        self.open(trace, tried, orders, share)
    }

    /// Looks whether the last event of a thread was wrong.
    fn added(&mut self, thread: ThreadId, trace: &[EventId]) -> Result<(), Stop> {
        self.explorer.shell.added(thread, trace.len());
        self.explorer.report_bugs(trace)
    }

    /// Leaves the innermost node.
    fn leave(&mut self) {
        let node = self.nodes.pop().expect("it is being looked at");
        self.explorer.shell.report.counters.dead_ends += u64::from(!node.fruitful);
    }
}

impl Node {
    /// Whether anything is left to try.
    fn has_more(&self) -> bool {
        match &self.branch {
            Branch::Choice { count, next, .. } => next < count,
            Branch::Order { next, .. } => *next < 2,
            Branch::Reads { options } => !options.is_empty(),
        }
    }
}
