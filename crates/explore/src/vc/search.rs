//! The search: which annotated order is looked at next.
//!
//! A stack of nodes, one frontier. A node is a closed annotated order. All threads are run to their next reads, and what they
//! did is put into the order in every way the leaves allow. In each of these orders every pending read is tried, locks and
//! then the root's first: each group of writes it could read from, in every way its thread allows, makes a child. What a read has tried is
//! forbidden for it below the reads that are tried later.

use super::accesses::Accesses;
use super::candidates::{self, Group};
use super::ends::{ending, ends};
use super::extend::{Extension, Manner, New};
use super::options::{Root, Rule, Settings};
use super::order::Order;
use super::realise::realise;
use crate::rules::Follows;
use crate::sequence::ends::Ends;
use crate::sequence::pool::{self, Back, Behind, Divisible, Given, Parts};
use crate::sequence::signals::{Ancestor, Ancestors, stops};
use crate::sequence::{Extended, Initial, Mark, NO_LOC, Pending, Report, Shell, Stop, Tried, Walk, forbid};
use raddle_engine::{Deadline, Question};
use raddle_trace::{EventId, ThreadId, ThreadName};

/// How many steps of the search for an order are done between two looks at the clock. Each copies an order.
const ORDERS: u32 = 64;

/// A place to take frontier and accesses back to.
#[derive(Clone, Copy, Debug)]
struct Place {
    mark: Mark,
    accesses: usize,
}

/// A read that is being tried with one group of writes.
#[derive(Debug)]
struct Child {
    place: Place,
    thread: ThreadId,
    value: Initial,
    extension: Extension,
}

/// One of the orders of a node.
#[derive(Debug)]
struct Now {
    order: Order,
    /// What the pending read of each thread has tried, if anything.
    tried: Vec<Option<Tried>>,
    /// Which of the pending reads is being tried.
    next: usize,
    /// Those behind are tried by somebody else.
    until: usize,
    /// Its groups, the next one last; `None` if it has not been begun.
    groups: Option<Vec<Group>>,
    child: Option<Child>,
    /// Whether further reads have to be tried.
    more: bool,
    /// Some group of the current read has been explored.
    possible: bool,
}

/// What is tried at a node.
#[derive(Debug)]
enum Branch {
    /// The alternatives of a choice. The new events are not in the order yet.
    Choice { order: Order, new: Vec<EventId>, thread: ThreadId, count: u32, next: u32 },
    /// The pending reads, in every order.
    Orders {
        reads: Vec<Pending>,
        extension: Extension,
        now: Option<Box<Now>>,
        /// The ends that this is in some orders.
        ends: Ends,
        /// Reads and values that end an execution.
        known: Vec<(ThreadId, Initial)>,
        /// What has come of the read that was tried last: whether others have to be tried, and whether it was possible.
        last: (bool, bool),
    },
}

/// A set of events with good writes and an order.
#[derive(Debug)]
struct Node {
    place: Place,
    tried: Vec<Option<Tried>>,
    branch: Branch,
    /// The share of the search below, as far as it has not been given to children.
    weight: f64,
    /// Whether anything came of it.
    fruitful: bool,
    /// Parts of it that others work on.
    given: Vec<Given>,
}

/// A node, and the accesses of its events.
pub(crate) struct Whole {
    accesses: Accesses,
    node: Node,
}

/// A part of a search.
type Part<'c> = pool::Part<'c, Whole>;

impl Node {
    /// Whether anything is left to try.
    fn has_more(&self) -> bool {
        match &self.branch {
            Branch::Choice { count, next, .. } => next < count,
            Branch::Orders { extension, now, .. } => {
                extension.has_more()
                    || now.as_ref().is_some_and(|now| {
                        let inside = now.child.as_ref().is_some_and(|child| child.extension.has_more());
                        let groups = now.groups.as_ref().is_some_and(|groups| !groups.is_empty());
                        inside || groups || (now.more && now.next + usize::from(now.groups.is_some()) < now.until)
                    })
            }
        }
    }

    /// The share of a child, if nobody knows how many there are.
    fn share(&mut self) -> f64 {
        self.weight /= 2.0;
        self.weight
    }
}

/// The search, and what it has found. The lengths of sequences in its bugs are counted from the ends of orders.
pub(crate) struct Search<'c> {
    pub(super) shell: Shell<'c>,
    settings: Settings,
    pub(super) root: ThreadId,
    manner: Manner,
    pub(super) accesses: Accesses,
    nodes: Vec<Node>,
    ancestors: Ancestors,
    /// How many of them are above the outermost node.
    inherited: usize,
    /// Where to leave what comes of it, if it is a part of a search.
    part: Option<Given>,
}

impl<'c> Walk<'c> for Search<'c> {
    const PATIENCE: u32 = 256;

    fn shell(&mut self) -> &mut Shell<'c> {
        &mut self.shell
    }

    fn begin(&mut self) -> Result<(), Stop> {
        self.shell.added(ThreadId::MAIN, 0);
        self.enter(Order::default(), Vec::new(), Vec::new(), 1.0)?;
        // A single node may have more orders than anybody wants to wait for.
        let more = self.has_more();
        self.shell.report.look_around(more);
        Ok(())
    }

    fn has_more(&self) -> bool {
        self.nodes.iter().any(Node::has_more)
    }

    /// Only at the end of an execution does it know that there is one more.
    fn is_full(&mut self) -> bool {
        false
    }

    fn advance(&mut self) -> Result<bool, Stop> {
        let Some(node) = self.nodes.last_mut() else { return Ok(false) };
        match &mut node.branch {
            Branch::Choice { order, new, thread, count, next } => {
                if *next == *count {
                    self.hear();
                    return Ok(self.leave());
                }
                let (thread, pick) = (*thread, *next);
                *next += 1;
                let (order, mut new, tried) = (order.clone(), new.clone(), node.tried.clone());
                let (share, place) = (node.share(), node.place);
                self.back_to(place);
                new.push(self.shell.frontier.choose(thread, pick));
                self.shell.added(thread, new.len());
                self.enter(order, new, tried, share)?;
                Ok(true)
            }
            Branch::Orders { now: None, extension, ends, .. } => {
                let alarm = self.shell.report.alarm();
                let mut watch = alarm.watch(ORDERS);
                let Some(order) = extension.next(&self.accesses, &mut watch)? else { return Ok(self.leave()) };
                let tried = node.tried.clone();
                let ends = ends.clone();
                for (end, wanted) in ends {
                    let Some(sequence) =
                        ending(&wanted, &order, &mut self.accesses, self.root, self.manner, &mut watch)?
                    else {
                        // A thread that has only not looked again has looked all the same.
                        self.shell.check_races(&realise(&order, self.root))?;
                        continue;
                    };
                    self.nodes.last_mut().expect("it is being looked at").fruitful = true;
                    self.end(end, &sequence)?;
                }
                let node = self.nodes.last_mut().expect("it is being looked at");
                let Branch::Orders { reads, now, .. } = &mut node.branch else { unreachable!("it has orders") };
                *now = Some(Box::new(Now {
                    order,
                    tried,
                    next: 0,
                    until: reads.len(),
                    groups: None,
                    child: None,
                    more: true,
                    possible: false,
                }));
                Ok(true)
            }
            Branch::Orders { now: Some(now), .. } if now.child.is_some() => self.next_child(),
            Branch::Orders { .. } => self.next_group(),
        }
    }
}

impl<'c> Search<'c> {
    pub(crate) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings, meetings: bool) -> Self {
        Search::with(Shell::new("vc", question, deadline, meetings), question, settings)
    }

    /// Without any node.
    fn with(shell: Shell<'c>, question: Question<'c>, settings: Settings) -> Self {
        let number = match settings.root {
            Root::Main => 0,
            Root::First => 1,
            Root::Nth(number) => number,
        };
        let numbering = question.code.numbering();
        let root = ThreadName::nth(number).and_then(|name| numbering.number(name)).unwrap_or(ThreadId::MAIN);
        Search {
            shell,
            settings,
            root,
            manner: Manner {
                relaxed: settings.relaxed && !settings.every_order,
                every_answer: settings.follows(Rule::EveryAnswer),
                close_after_writes: settings.follows(Rule::CloseAfterWrites),
            },
            accesses: Accesses::new(root),
            nodes: Vec::new(),
            ancestors: Ancestors::default(),
            inherited: 0,
            part: None,
        }
    }

    fn place(&mut self) -> Place {
        Place { mark: self.shell.frontier.mark(), accesses: self.accesses.len() }
    }

    fn back_to(&mut self, place: Place) {
        self.shell.frontier.undo(place.mark);
        self.accesses.truncate(place.accesses);
    }

    /// Enters a node: runs the threads, looks whether this is an end, and prepares what is tried. `new` are events that are not
    /// in the order yet.
    fn enter(
        &mut self,
        order: Order,
        mut new: Vec<EventId>,
        tried: Vec<Option<Tried>>,
        weight: f64,
    ) -> Result<(), Stop> {
        self.shell.report.counters.nodes += 1;
        let known = new.len();
        let extended = self.shell.extend(&mut new)?;
        for &id in &new[known..] {
            let event = self.shell.frontier.event(id);
            if event.writes() {
                let loc = event.loc;
                self.accesses.write(id, loc);
                self.refuse_misuse(id, loc)?;
                self.ancestors.shown(id, &self.shell.frontier);
            }
            self.refuse_late_access(id)?;
        }
        self.report_bugs(&order, &new)?;
        let frontier = &self.shell.frontier;
        let length: usize = frontier.ids().map(|thread| frontier.events(thread).len()).sum();
        self.shell.report.statistics.longest = self.shell.report.statistics.longest.max(length as u64);
        let place = self.place();
        let none = |place, tried| {
            let branch =
                Branch::Choice { order: Order::default(), new: Vec::new(), thread: ThreadId::MAIN, count: 0, next: 0 };
            Node { place, tried, branch, weight, fruitful: true, given: Vec::new() }
        };
        if extended == Extended::TooLong {
            let sequence = self.sequence(&order, &new);
            self.shell.check_races(&sequence)?;
            self.shell.cut();
            self.nodes.push(none(place, tried));
            return Ok(());
        }
        let threads = self.shell.frontier.ids();
        let mut reads: Vec<Pending> =
            threads.clone().filter_map(|thread| self.shell.frontier.pending(thread)).collect();
        for &pending in &reads {
            self.ancestors.pending(pending, |ancestor| ancestor.update);
        }
        if let Some((thread, count)) =
            threads.clone().find_map(|thread| Some((thread, self.shell.frontier.choice(thread)?)))
        {
            let branch = Branch::Choice { order, new, thread, count, next: 0 };
            self.nodes.push(Node { place, tried, branch, weight, fruitful: true, given: Vec::new() });
            return Ok(());
        }
        for &pending in &reads {
            self.refuse_pending(pending)?;
        }
        self.sort(&mut reads);
        let ends = ends(&mut self.shell.frontier);
        let every = self.settings.every_order;
        if let Some(end) = ends.certain().filter(|_| !every) {
            self.remember_end();
            let sequence = self.sequence(&order, &new);
            self.end(end, &sequence)?;
            self.nodes.push(none(place, tried));
            return Ok(());
        }
        if ends.exist() && !self.settings.follows(Rule::WaitsAreNoShortcut) {
            self.remember_end();
        }
        let new = new.into_iter().map(|id| self.new_event(id)).collect();
        let extension = Extension::new(order, new, self.manner);
        let branch = Branch::Orders { reads, extension, now: None, ends, known: Vec::new(), last: (false, false) };
        self.nodes.push(Node { place, tried, branch, weight, fruitful: false, given: Vec::new() });
        Ok(())
    }

    /// The order in which reads are tried. Which comes first makes no difference to what is found, and much to how many executions there are:
    /// a read that is tried late finds more writes of one value, which are one group then.
    fn sort(&self, reads: &mut [Pending]) {
        let frontier = &self.shell.frontier;
        let mut visible = Vec::new();
        reads.sort_by_cached_key(|&Pending { thread, loc, mutex, .. }| {
            frontier.visible(thread, loc, &mut visible);
            let sees_own = self.manner.relaxed && visible.iter().any(|write| write.thread == thread);
            // What follows a lock is there for the other reads then, and what follows those is mostly dead ends.
            (!mutex, !sees_own, thread != self.root)
        });
    }

    /// Tells the node above that the read with the value it is trying ends an execution.
    fn remember_end(&mut self) {
        if let Some(Node { branch: Branch::Orders { now: Some(now), known, .. }, .. }) = self.nodes.last_mut()
            && let Some(child) = &now.child
        {
            known.push((child.thread, child.value));
        }
    }

    fn new_event(&self, id: EventId) -> New {
        let event = self.shell.frontier.event(id);
        let (reads, writes) = (event.reads(), event.writes());
        let loc = if reads || writes { event.loc } else { NO_LOC };
        let mut behind: smallvec::SmallVec<[EventId; 2]> =
            self.shell.frontier.joints(id).into_iter().flatten().collect();
        behind.extend_from_slice(self.shell.frontier.met(event));
        if reads && writes {
            // A lock follows one release.
            behind.extend_from_slice(self.shell.frontier.sources(event));
        }
        New { id, loc, writes, behind }
    }

    /// Explores the next way to put the read that is being tried into the order.
    fn next_child(&mut self) -> Result<bool, Stop> {
        let place = self.child().place;
        self.back_to(place);
        let node = self.nodes.last_mut().expect("it is being looked at");
        let Branch::Orders { now: Some(now), known, .. } = &mut node.branch else {
            unreachable!("a read is being tried")
        };
        let child = now.child.as_mut().expect("a read is being tried");
        let thread = child.thread;
        let again = self.settings.shortcut && known.contains(&(thread, child.value));
        let alarm = self.shell.report.alarm();
        let found = if again { None } else { child.extension.next(&self.accesses, &mut alarm.watch(ORDERS))? };
        now.more |= again;
        let Some(order) = found else {
            now.child = None;
            now.more |= self.ancestors.pop();
            let place = node.place;
            self.back_to(place);
            return Ok(true);
        };
        now.possible = true;
        let mut tried = now.tried.clone();
        node.fruitful = true;
        let share = node.share();
        if let Some(entry) = tried.get_mut(thread.index()) {
            *entry = None;
        }
        self.shell.added(thread, 0);
        self.enter(order, Vec::new(), tried, share)?;
        Ok(true)
    }

    /// The read that is being tried.
    fn child(&self) -> &Child {
        match self.nodes.last().map(|node| &node.branch) {
            Some(Branch::Orders { now: Some(now), .. }) => now.child.as_ref().expect("a read is being tried"),
            _ => unreachable!("a read is being tried"),
        }
    }

    /// Begins with the next group of the read that is being tried, or with the next read, or ends with the order.
    fn next_group(&mut self) -> Result<bool, Stop> {
        let node = self.nodes.last_mut().expect("it is being looked at");
        let Branch::Orders { reads, now: now @ Some(_), known, last, .. } = &mut node.branch else {
            unreachable!("reads are being tried")
        };
        let current = now.as_mut().expect("just matched");
        let Some(&pending) =
            reads[..current.until].get(current.next).filter(|_| current.groups.is_some() || current.more)
        else {
            *last = (current.more, current.possible);
            *now = None;
            return Ok(true);
        };
        let thread = pending.thread;
        let Some(groups) = &mut current.groups else {
            let tried = current.tried.get(thread.index()).and_then(Option::as_ref);
            let divided = (!self.manner.relaxed).then_some(self.root);
            let mut found = candidates::groups(&mut self.shell.frontier, pending, divided, tried);
            found.reverse();
            current.more = !(self.settings.signals && tried.is_none() && stops(&pending));
            current.possible = false;
            current.groups = Some(found);
            return Ok(true);
        };
        let Some(group) = groups.pop() else {
            self.hear();
            let node = self.nodes.last_mut().expect("it is being looked at");
            let Branch::Orders { now: Some(now), .. } = &mut node.branch else { unreachable!("reads are being tried") };
            now.groups = None;
            now.next += 1;
            // A lock that cannot be taken says nothing about the others.
            now.more |= !now.possible && now.next < now.until;
            forbid(&mut now.tried, thread, &self.shell.frontier);
            return Ok(true);
        };
        if self.settings.shortcut && known.contains(&(thread, group.value)) {
            // What it would have shown is not looked at.
            (current.more, current.possible) = (true, true);
            return Ok(true);
        }
        let signal = current.more;
        self.shell.report.statistics.events += 1;
        let order = current.order.clone();
        let id = match group.value {
            Initial::Value(value) => self.shell.frontier.read(thread, value, None, &group.members),
            Initial::Uninitialised => self.shell.frontier.read_uninitialised(thread, &group.members),
        };
        if group.locks {
            self.accesses.write(id, pending.loc);
        } else {
            self.accesses.read(id, pending.loc, group.members);
        }
        self.ancestors.push(Ancestor::of(id, pending, false, signal));
        self.ancestors.shown(id, &self.shell.frontier);
        self.refuse_late_access(id)?;
        let extension = Extension::new(order, vec![self.new_event(id)], self.manner);
        let child = Child { place: self.place(), thread, value: group.value, extension };
        let node = self.nodes.last_mut().expect("it is being looked at");
        let Branch::Orders { now: Some(now), .. } = &mut node.branch else { unreachable!("reads are being tried") };
        now.child = Some(child);
        Ok(true)
    }

    /// All of the innermost node, or of its read, has been tried: hears what came of the parts that were given away.
    fn hear(&mut self) {
        let node = self.nodes.last_mut().expect("it is being looked at");
        for given in node.given.drain(..) {
            let back = given.get().expect("it was waited for");
            self.ancestors.hear(&back.signals);
            node.fruitful |= back.fruitful;
            if let Branch::Orders { now: Some(now), known, .. } = &mut node.branch {
                now.more |= back.more;
                now.possible |= back.possible;
                known.extend(back.ended.iter().filter(|ended| !known.contains(ended)).copied().collect::<Vec<_>>());
            }
        }
    }

    /// Gives away a part of a node.
    fn split_at(&mut self, pool::Cut { at, above, behind }: pool::Cut) -> Part<'c> {
        let node = &mut self.nodes[at];
        let (mut frontier, mut accesses) = (self.shell.frontier.clone(), self.accesses.clone());
        frontier.undo(node.place.mark);
        accesses.truncate(node.place.accesses);
        let weight = node.share();
        let branch = match &mut node.branch {
            Branch::Choice { order, new, thread, count, next } => {
                let middle = *next + (*count - *next) / 2;
                let (order, new, thread) = (order.clone(), new.clone(), *thread);
                Branch::Choice { order, new, thread, count: std::mem::replace(count, middle), next: middle }
            }
            Branch::Orders { reads, now, known, .. } => {
                let now = now.as_mut().expect("its reads are being tried");
                let (order, mut tried) = (now.order.clone(), now.tried.clone());
                let (reads, groups) = if behind {
                    forbid(&mut tried, reads[now.next].thread, &frontier);
                    (reads[now.next + 1..].to_vec(), None)
                } else {
                    let groups = now.groups.as_mut().map(|groups| groups.drain(..groups.len().div_ceil(2)).collect());
                    (vec![reads[now.next]], groups)
                };
                now.until = if behind { now.next + 1 } else { now.until };
                let now = Now {
                    order,
                    tried,
                    next: 0,
                    until: reads.len(),
                    groups,
                    child: None,
                    more: behind,
                    possible: false,
                };
                Branch::Orders {
                    reads,
                    extension: Extension::none(self.manner),
                    now: Some(Box::new(now)),
                    ends: Ends::default(),
                    known: known.clone(),
                    last: (false, false),
                }
            }
        };
        let given = Given::default();
        node.given.push(given.clone());
        let (place, tried) = (node.place, node.tried.clone());
        let node = Node { place, tried, branch, weight, fruitful: false, given: Vec::new() };
        let whole = Whole { accesses, node };
        pool::Part { frontier, ancestors: self.ancestors.first(above), node: whole, given: Some(given) }
    }

    /// Leaves the innermost node. Returns whether there is another one.
    fn leave(&mut self) -> bool {
        let node = self.nodes.pop().expect("it is being looked at");
        self.shell.report.done += node.weight;
        if self.nodes.is_empty()
            && let Some(part) = self.part.take()
        {
            let ((more, possible), ended) = match node.branch {
                Branch::Orders { last, known, .. } => (last, known),
                Branch::Choice { .. } => ((false, true), Vec::new()),
            };
            let (fruitful, signals) = (node.fruitful, self.ancestors.signals());
            part.set(Back { more, possible, fruitful, signals, ended }).expect("nobody else tells it");
            return false;
        }
        self.shell.report.counters.dead_ends += u64::from(!node.fruitful);
        !self.nodes.is_empty()
    }
}

impl<'c> Parts<'c> for Search<'c> {
    type Node = Whole;
    type Settings = Settings;

    fn of_part(part: Part<'c>, question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings) -> Self {
        let pool::Part { frontier, ancestors, node: Whole { accesses, node }, given } = part;
        let search = Search::with(Shell::with(frontier, "vc", question, deadline), question, settings);
        Search { accesses, nodes: vec![node], inherited: ancestors.len(), ancestors, part: given, ..search }
    }

    fn into_whole(mut self) -> (Option<Part<'c>>, Report<'c>) {
        let Shell { frontier, report, .. } = self.shell;
        let node = self.nodes.pop().map(|node| Whole { accesses: self.accesses, node });
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
            Branch::Orders { now: Some(now), .. } => {
                let groups = now.groups.as_deref().unwrap_or_default();
                // Whether a value has ended an execution matters to those of the same value.
                let apart = |(at, group): (usize, &Group)| groups[..at].iter().all(|other| other.value != group.value);
                if groups.iter().enumerate().all(apart) { groups.len() } else { 0 }
            }
            Branch::Orders { now: None, .. } => 0,
        }
    }

    fn reads(&self) -> Option<Behind> {
        match &self.branch {
            Branch::Orders { now: Some(now), .. } => Some(Behind::of(now.until.saturating_sub(now.next + 1), now.more)),
            _ => None,
        }
    }

    fn is_waiting(&self) -> bool {
        match &self.branch {
            Branch::Choice { count, next, .. } => next == count,
            Branch::Orders { now: Some(now), .. } => {
                now.child.is_none() && now.groups.as_ref().is_some_and(Vec::is_empty)
            }
            Branch::Orders { now: None, .. } => false,
        }
    }

    fn given(&self) -> &[Given] {
        &self.given
    }
}
