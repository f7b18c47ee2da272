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
//!
//! Not every pending read has to be tried (ours, by the *signals* of `rvf`): if no write to the location of a read shows up while it is tried, nothing is gained by letting
//! others go first (`sequence::signals`). Threads that have nothing to do with each other do not make exponentially many nodes then.

use super::basis::NewRead;
use super::findings::Explorer;
use super::observe::{Answer, answers, observe};
use super::options::Settings;
use super::refine;
use crate::sequence::pool::{self, Back, Behind, Divisible, Given, Parts};
use crate::sequence::signals::{Ancestor, Ancestors, stops};
use crate::sequence::{Extended, Mark, Pending, Report, Shell, Stop, Walk};
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
    /// Answers of pending reads.
    Reads(Reads),
}

/// The pending reads of a node.
#[derive(Debug, Default)]
struct Reads {
    pending: Vec<Pending>,
    /// Which of them is tried.
    next: usize,
    /// What it can be annotated with and whether it writes then, the next one last; `None` if it has not been begun.
    options: Option<Vec<(Answer, bool)>>,
    /// Whether the others have to be tried, too.
    more: bool,
    /// Whether some annotation of this one is possible.
    possible: bool,
    /// One of its annotations is being explored.
    inside: bool,
}

impl Reads {
    /// All of them.
    fn new(pending: Vec<Pending>) -> Self {
        Reads { pending, more: true, ..Reads::default() }
    }

    /// Whether anything is left to try.
    fn has_more(&self) -> bool {
        match &self.options {
            Some(options) => !options.is_empty() || (self.more && self.next + 1 < self.pending.len()),
            None => self.more && self.next < self.pending.len(),
        }
    }
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
    /// The share of the search below, as far as it has not been given to children.
    weight: f64,
    /// That of each child.
    share: f64,
    /// Whether anything came of it.
    fruitful: bool,
    /// Parts of it that others work on.
    given: Vec<Given>,
}

/// A node, and along which edges the order of writes is part of the class.
pub(crate) struct Whole {
    refined: Vec<refine::Shared>,
    node: Node,
}

/// A part of a search.
type Part<'c> = pool::Part<'c, Whole>;

/// The search, and what it has found.
pub(super) struct Search<'c> {
    explorer: Explorer<'c>,
    nodes: Vec<Node>,
    /// Along which edges the order of writes is part of the class.
    refined: Vec<refine::Shared>,
    /// The reads that are being tried.
    ancestors: Ancestors,
    /// How many of them are above the outermost node.
    inherited: usize,
    /// Where to leave what comes of it, if it is a part of a search.
    part: Option<Given>,
    buffer: Vec<EventId>,
}

impl<'c> Walk<'c> for Search<'c> {
    const PATIENCE: u32 = 64;

    fn shell(&mut self) -> &mut Shell<'c> {
        &mut self.explorer.shell
    }

    fn begin(&mut self) -> Result<(), Stop> {
        if self.explorer.settings.refine {
            self.refined = refine::edges(&mut self.explorer)?;
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
            Branch::Reads(reads) => {
                if std::mem::take(&mut reads.inside) {
                    reads.more |= self.ancestors.pop();
                }
                match reads.options.as_mut().map(Vec::pop) {
                    Some(Some((answer, writes))) => self.try_read(answer, writes)?,
                    Some(None) => {
                        self.hear();
                        let node = self.nodes.last_mut().expect("it is being looked at");
                        let Branch::Reads(reads) = &mut node.branch else { unreachable!("reads are being tried") };
                        reads.options = None;
                        reads.next += 1;
                        // A lock that cannot be taken says nothing about the others.
                        reads.more |= !reads.possible && reads.next < reads.pending.len();
                    }
                    None if reads.has_more() => self.begin_read(),
                    None => return Ok(self.leave()),
                }
            }
            Branch::Choice { .. } | Branch::Order { .. } => {
                self.hear();
                return Ok(self.leave());
            }
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
            ancestors: Ancestors::default(),
            inherited: 0,
            part: None,
            buffer: Vec::new(),
        }
    }

    /// Enters a node: runs the threads to their next reads, and looks what there is to try.
    fn enter(&mut self, mut trace: Vec<EventId>, tried: Tried, orders: Orders, weight: f64) -> Result<(), Stop> {
        let explorer = &mut self.explorer;
        explorer.shell.report.counters.nodes += 1;
        let known = trace.len();
        let extended = explorer.shell.extend(&mut trace)?;
        explorer.report_bugs(&trace)?;
        for &id in &trace[known..] {
            self.ancestors.shown(id, &self.explorer.shell.frontier);
        }
        let explorer = &mut self.explorer;
        // Threads that do nothing but read are not stopped on the way.
        if extended == Extended::TooLong || trace.len() > explorer.shell.depth {
            explorer.cut(&trace)?;
            explorer.shell.report.done += weight;
            let mark = explorer.shell.frontier.mark();
            let branch = Branch::Reads(Reads::default());
            self.nodes.push(Node {
                mark,
                trace,
                tried,
                orders,
                branch,
                weight: 0.0,
                share: 0.0,
                fruitful: true,
                given: Vec::new(),
            });
            return Ok(());
        }
        for thread in explorer.threads() {
            if let Some(pending) = explorer.shell.frontier.pending(thread) {
                self.ancestors.pending(pending, |ancestor| ancestor.update);
            }
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
        let branch = if let Some(writes) = writes {
            Branch::Order { writes, next: 0 }
        } else if let Some((thread, count)) = choice {
            Branch::Choice { thread, count, next: 0 }
        } else {
            fruitful = explorer.end(&trace, &orders)?;
            let pending = threads.iter().filter_map(|&thread| explorer.shell.frontier.pending(thread));
            let mut pending: Vec<Pending> = pending.collect();
            // Those that can stop the others first.
            pending.sort_by_key(|pending| (self.is_tried(pending, &tried), !stops(pending)));
            Branch::Reads(Reads::new(pending))
        };
        let (weight, share) = match &branch {
            Branch::Choice { count, .. } => (0.0, weight / f64::from(*count)),
            Branch::Order { .. } => (0.0, weight / 2.0),
            Branch::Reads(_) => (weight, 0.0),
        };
        self.nodes.push(Node { mark, trace, tried, orders, branch, weight, share, fruitful, given: Vec::new() });
        Ok(())
    }

    /// The next event of a thread that has a pending read.
    fn next_read(&self, pending: &Pending) -> EventId {
        EventId::new(pending.thread, self.explorer.shell.frontier.events(pending.thread).len() as u32)
    }

    /// Whether something may not be tried for a pending read.
    fn is_tried(&self, pending: &Pending, tried: &Tried) -> bool {
        let read = self.next_read(pending);
        tried.iter().any(|&(other, _)| other == read)
    }

    /// Looks what the next pending read of the innermost node can be annotated with.
    fn begin_read(&mut self) {
        let node = self.nodes.last().expect("it is being looked at");
        let Branch::Reads(reads) = &node.branch else { unreachable!("reads are being tried") };
        let pending = reads.pending[reads.next];
        let left = reads.pending.len() - reads.next;
        let read = self.next_read(&pending);
        // Where something may not be tried, what is tried does not stand for all.
        let stop = self.explorer.settings.signals && stops(&pending) && !self.is_tried(&pending, &node.tried);
        let frontier = &mut self.explorer.shell.frontier;
        frontier.visible(pending.thread, pending.loc, &mut self.buffer);
        self.buffer.sort_unstable();
        let mut options = Vec::new();
        for &source in &self.buffer {
            let (answers, writes) = answers(frontier, pending, source);
            let open = answers.into_iter().filter(|&answer| !node.tried.contains(&(read, answer)));
            options.extend(open.map(|answer| (answer, writes)));
        }
        options.reverse();
        let node = self.nodes.last_mut().expect("it is being looked at");
        let share = node.weight / left as f64;
        node.weight -= share;
        node.share = share / options.len().max(1) as f64;
        if options.is_empty() {
            self.explorer.shell.report.done += share;
        }
        // What could not be realised is forbidden, too.
        node.tried.extend(options.iter().map(|&(answer, _)| (read, answer)));
        let Branch::Reads(reads) = &mut node.branch else { unreachable!("reads are being tried") };
        (reads.options, reads.more, reads.possible) = (Some(options), !stop, false);
    }

    /// Explores what follows if the pending read that is being tried gets this answer, if it can.
    fn try_read(&mut self, answer: Answer, writes: bool) -> Result<(), Stop> {
        let node = self.nodes.last_mut().expect("it is being looked at");
        let Branch::Reads(reads) = &mut node.branch else { unreachable!("reads are being tried") };
        let pending = reads.pending[reads.next];
        let Explorer { shell: Shell { frontier, report, .. }, traces, .. } = &mut self.explorer;
        report.statistics.events += 1;
        let read = EventId::new(pending.thread, frontier.events(pending.thread).len() as u32);
        let share = node.share;
        let new = NewRead { thread: pending.thread, loc: pending.loc, source: answer.source, writes };
        let found = traces.with_read(frontier, &node.trace, new, &node.orders, &mut report.counters)?;
        let Some(trace) = found else {
            report.done += share;
            return Ok(());
        };
        node.fruitful = true;
        (reads.possible, reads.inside) = (true, true);
        let signal = reads.more;
        let tried = node.tried.iter().copied().filter(|&(other, _)| other != read);
        let (tried, orders) = (tried.collect(), node.orders.clone());
        let id = observe(&mut self.explorer.shell.frontier, pending.thread, answer);
        debug_assert_eq!(id, read, "it was the next event of its thread");
        self.ancestors.push(Ancestor::of(id, pending, false, signal));
        self.ancestors.shown(id, &self.explorer.shell.frontier);
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

    /// All of the innermost node, or of its read, has been tried: hears what came of the parts that were given away.
    fn hear(&mut self) {
        let node = self.nodes.last_mut().expect("it is being looked at");
        for given in node.given.drain(..) {
            let back = given.get().expect("it was waited for");
            self.ancestors.hear(&back.signals);
            node.fruitful |= back.fruitful;
            if let Branch::Reads(reads) = &mut node.branch {
                reads.more |= back.more;
                reads.possible |= back.possible;
            }
        }
    }

    /// Gives away a part of a node.
    fn split_at(&mut self, pool::Cut { at, above, behind }: pool::Cut) -> Part<'c> {
        let node = &mut self.nodes[at];
        let mut frontier = self.explorer.shell.frontier.clone();
        frontier.undo(node.mark);
        let mut weight = 0.0;
        let branch = match &mut node.branch {
            Branch::Choice { thread, count, next } => {
                let middle = *next + (*count - *next) / 2;
                Branch::Choice { thread: *thread, count: std::mem::replace(count, middle), next: middle }
            }
            Branch::Order { .. } => unreachable!("there is nothing to spare"),
            Branch::Reads(reads) if behind => {
                weight = std::mem::replace(&mut node.weight, 0.0);
                Branch::Reads(Reads::new(reads.pending.split_off(reads.next + 1)))
            }
            Branch::Reads(reads) => {
                let options =
                    reads.options.as_mut().map(|options| options.drain(..options.len().div_ceil(2)).collect());
                Branch::Reads(Reads { pending: vec![reads.pending[reads.next]], options, ..Reads::default() })
            }
        };
        let given = Given::default();
        node.given.push(given.clone());
        let (mark, share) = (node.mark, node.share);
        let (trace, tried, orders) = (node.trace.clone(), node.tried.clone(), node.orders.clone());
        let node = Node { mark, trace, tried, orders, branch, weight, share, fruitful: false, given: Vec::new() };
        let whole = Whole { refined: self.refined.clone(), node };
        pool::Part { frontier, ancestors: self.ancestors.first(above), node: whole, given: Some(given) }
    }

    /// Leaves the innermost node. Returns whether the search goes on.
    fn leave(&mut self) -> bool {
        let node = self.nodes.pop().expect("it is being looked at");
        self.explorer.shell.report.done += node.weight;
        if self.nodes.is_empty()
            && let Some(part) = self.part.take()
        {
            let more = matches!(node.branch, Branch::Reads(Reads { more: true, .. }));
            let (fruitful, signals) = (node.fruitful, self.ancestors.signals());
            let told = part.set(Back { more, possible: fruitful, fruitful, signals, ended: Vec::new() });
            told.expect("nobody else tells it");
            return false;
        }
        self.explorer.shell.report.counters.dead_ends += u64::from(!node.fruitful);
        true
    }
}

impl<'c> Parts<'c> for Search<'c> {
    type Node = Whole;
    type Settings = Settings;

    fn of_part(part: Part<'c>, question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings) -> Self {
        let pool::Part { frontier, ancestors, node: Whole { refined, node }, given } = part;
        Search {
            explorer: Explorer::with(Shell::with(frontier, "dc", question, deadline), settings),
            nodes: vec![node],
            refined,
            inherited: ancestors.len(),
            ancestors,
            part: given,
            buffer: Vec::new(),
        }
    }

    fn into_whole(mut self) -> (Option<Part<'c>>, Report<'c>) {
        let Shell { frontier, report, .. } = self.explorer.shell;
        let node = self.nodes.pop().map(|node| Whole { refined: self.refined, node });
        (node.map(|node| pool::Part { frontier, ancestors: self.ancestors, node, given: None }), report)
    }

    fn waits_for(&self) -> Option<Given> {
        pool::awaited(&self.nodes)
    }

    fn split(&mut self) -> Option<Part<'c>> {
        pool::cut(&self.nodes, &self.ancestors, self.inherited).map(|cut| self.split_at(cut))
    }
}

impl Divisible for Node {
    fn left(&self) -> usize {
        match &self.branch {
            Branch::Choice { count, next, .. } => (count - next) as usize,
            Branch::Order { .. } => 0,
            Branch::Reads(reads) => reads.options.as_ref().map_or(0, Vec::len),
        }
    }

    fn reads(&self) -> Option<Behind> {
        let Branch::Reads(reads) = &self.branch else { return None };
        Some(Behind::of(reads.pending.len().saturating_sub(reads.next + 1), reads.more))
    }

    fn given(&self) -> &[Given] {
        &self.given
    }
}

impl Node {
    /// Whether anything is left to try.
    fn has_more(&self) -> bool {
        match &self.branch {
            Branch::Choice { count, next, .. } => next < count,
            Branch::Order { next, .. } => *next < 2,
            Branch::Reads(reads) => reads.has_more(),
        }
    }
}
