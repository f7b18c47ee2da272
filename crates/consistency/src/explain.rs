//! Why there is no execution: few events that clash, and a cycle among them.
//!
//! Leaving an event out (a [`Action::Note`] takes its place) only makes room: an execution of the whole, without the event, is one of the rest, if nobody
//! reads the event. So [`explain`] starts from what closure needed for its cycle, leaves out one event after another as long as the
//! rest still clashes, and so makes what remains minimal.
//!
//! A cycle may use conclusions: that a write is before another because a read saw only the other. These are listed as [`Conclusion`]s, each with the way it
//! follows from; the conclusions it uses stand before it. Where closure finds no cycle, only a search knows that there is no
//! execution, and there is no cycle to show.

use crate::causal::conflict::Conflict;
use crate::causal::{self, Found};
use crate::closure::{ClosureOrder, Failure};
use crate::instance::{Action, Instance, Malformed, Source};
use crate::models::{self, Axioms};
use crate::order::{Link, Order, Why};
use crate::settings::{Closure, Settings};
use crate::shape::{Hidden, Shape};
use crate::verify::{Answer, Verifier};
use raddle_trace::{EventId, Model, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Something that happens at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// The thread does the event.
    Does(EventId),
    /// The write, buffered before, reaches memory.
    Reaches(EventId),
    /// The thread has ended, and its buffer is empty.
    Ends(ThreadId),
}

/// Why one moment is before another. Reads are named by `R`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason<R = EventId> {
    /// Program order.
    Program,
    /// A write is buffered before it reaches memory.
    Issue,
    /// A buffer is first in, first out.
    Buffer,
    /// The buffer must be empty.
    Drain,
    /// A store-store fence stands between them.
    StoreFence,
    /// A thread is started before it does anything.
    Start,
    /// A thread has ended when it is joined.
    End,
    /// The second reads the first.
    ReadsFrom,
    /// This read reads the second, a write of another thread, though its own thread had written the first.
    OwnBefore(R),
    /// This read comes after the first and reads the second, so the first cannot be the later one.
    Earlier(R),
    /// The first is this read, and reads something that is before the second, so it reads before the second overwrites it.
    Later(R),
    /// The first reads something that its own thread has hidden with the second.
    Hidden,
    /// This read, which reads the first, comes before the second, which writes.
    Read(R),
    /// The first of these reads comes before the second, and they read the first and the second write.
    InOrder(R, R),
    /// Updates lead from the first to the second, each of which reads what the one before wrote.
    Chain,
    /// Nothing comes between the second, updates that follow it, and the first.
    Together,
    /// The first is an update of the initial value.
    FirstUpdate,
    /// Both are updates of what one write wrote, and each would come right after it.
    SameSource,
}

impl<R> Reason<R> {
    /// The same with another name for the read.
    pub fn map<S>(self, name: impl Fn(R) -> S) -> Reason<S> {
        match self {
            Reason::Program => Reason::Program,
            Reason::Issue => Reason::Issue,
            Reason::Buffer => Reason::Buffer,
            Reason::Drain => Reason::Drain,
            Reason::StoreFence => Reason::StoreFence,
            Reason::Start => Reason::Start,
            Reason::End => Reason::End,
            Reason::ReadsFrom => Reason::ReadsFrom,
            Reason::OwnBefore(read) => Reason::OwnBefore(name(read)),
            Reason::Earlier(read) => Reason::Earlier(name(read)),
            Reason::Later(read) => Reason::Later(name(read)),
            Reason::Hidden => Reason::Hidden,
            Reason::Read(read) => Reason::Read(name(read)),
            Reason::InOrder(first, second) => Reason::InOrder(name(first), name(second)),
            Reason::Chain => Reason::Chain,
            Reason::Together => Reason::Together,
            Reason::FirstUpdate => Reason::FirstUpdate,
            Reason::SameSource => Reason::SameSource,
        }
    }
}

/// One moment is before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tie {
    /// The earlier one.
    pub from: Moment,
    /// The later one.
    pub to: Moment,
    /// Why.
    pub why: Reason,
}

/// A tie that follows from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// What follows.
    pub tie: Tie,
    /// The way between the two moments that matter for it.
    pub since: Vec<Tie>,
}

/// Why there is no execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The instance without what is not needed, which still clashes. An update whose reading is not needed is a write here.
    pub core: Instance,
    /// Without any one of its events, but for writes that are read, the core does not clash.
    pub minimal: bool,
    /// What the cycle uses.
    pub conclusions: Vec<Conclusion>,
    /// Moments each of which is before the next, and the last before the first. Empty if only a search knows that there is no execution.
    pub cycle: Vec<Tie>,
}

impl Clash {
    /// The events that clash, whatever the others do.
    pub fn events(&self) -> impl Iterator<Item = EventId> + '_ {
        self.core.events().map(|(event, _)| event).filter(|&event| !self.core.is_nothing(event))
    }
}

/// Finds out why an instance is inconsistent; nothing if it is consistent or the limits are too tight to tell.
pub fn explain(instance: &Instance, model: Model, settings: &Settings<'_>) -> Result<Option<Clash>, Malformed> {
    instance.validate()?;
    let settings = Settings { closure: Closure::First, ..*settings };
    let mut explainer = Explainer {
        model,
        settings,
        verifier: Verifier::new(),
        shape: Shape::default(),
        closure: ClosureOrder::default(),
    };
    let whole = explainer.cycle(instance);
    let mut core = instance.clone();
    let sure = |answer: Answer| answer == Answer::Inconsistent;
    match &whole {
        Some(found) => {
            let keep = found.events(instance);
            for (event, _) in instance.events().filter(|(event, _)| !keep.contains(event)) {
                core.set(event, Action::Note);
            }
        }
        None if sure(explainer.verifier.verify(instance, model, &settings)?) => {}
        None => return Ok(None),
    }
    let (mut small, mut places) = compact(&core);
    if whole.is_some() && explainer.cycle(&small).is_none() {
        debug_assert!(false, "what the cycle mentions has a cycle");
        core.clone_from(instance);
        (small, places) = compact(&core);
    }
    explainer.shrink(&mut small, whole.is_some());
    let minimal = explainer.is_minimal(&small)?;
    for (&place, (event, action)) in places.iter().zip(small.events()) {
        if small.is_nothing(event) || matches!(action, Action::Write { .. }) {
            core.set(place, action);
        }
    }
    let Cycle { conclusions, cycle } = explainer.cycle(&core).unwrap_or_default();
    Ok(Some(Clash { core, minimal, conclusions, cycle }))
}

struct Explainer<'i> {
    model: Model,
    settings: Settings<'i>,
    verifier: Verifier,
    shape: Shape,
    closure: ClosureOrder,
}

#[derive(Clone, Debug, Default)]
struct Cycle {
    conclusions: Vec<Conclusion>,
    cycle: Vec<Tie>,
}

impl Cycle {
    /// Everything it mentions, and what the reads among that read.
    fn events(&self, instance: &Instance) -> BTreeSet<EventId> {
        let mut events = BTreeSet::new();
        let conclusions =
            self.conclusions.iter().flat_map(|conclusion| conclusion.since.iter().chain([&conclusion.tie]));
        for tie in self.cycle.iter().chain(conclusions) {
            for moment in [tie.from, tie.to] {
                match moment {
                    Moment::Does(event) | Moment::Reaches(event) => events.extend([event]),
                    Moment::Ends(_) => {}
                }
            }
            match (tie.why, tie.from, tie.to) {
                (Reason::OwnBefore(read) | Reason::Earlier(read) | Reason::Later(read) | Reason::Read(read), ..) => {
                    events.insert(read);
                }
                (Reason::InOrder(first, second), ..) => events.extend([first, second]),
                (Reason::StoreFence, Moment::Reaches(from), Moment::Reaches(to)) => {
                    let between = (from.index..to.index).map(|index| EventId::new(from.thread, index));
                    events.extend(between.filter(|&event| instance.get(event) == Some(Action::StoreFence)));
                }
                _ => {}
            }
        }
        let mut todo: Vec<EventId> = events.iter().copied().collect();
        while let Some(event) = todo.pop() {
            if let Some(Source::Write(write)) = instance.get(event).and_then(Action::source)
                && events.insert(write)
            {
                todo.push(write);
            }
        }
        events
    }
}

impl Explainer<'_> {
    fn is_late(&self) -> bool {
        self.settings.limits.interrupt.is_due()
    }

    /// Whether there is a cycle.
    fn is_cyclic(&mut self, instance: &Instance) -> bool {
        if let Some(axioms) = models::axioms(self.model) {
            return self.links(instance, axioms).is_some();
        }
        self.shape.build(instance, self.model).is_err()
            || self.closure.build(&self.shape, self.settings.limits.interrupt) == Err(Failure::Cyclic)
    }

    /// The cycle of a model given by axioms.
    fn links(&self, instance: &Instance, axioms: &dyn Axioms) -> Option<Vec<causal::conflict::Link>> {
        match causal::decide(instance, axioms, &self.settings.limits, &mut 0) {
            Ok(Found::Conflict(Conflict::Cycle(links))) => Some(links),
            _ => None,
        }
    }

    /// Leaves out what is not needed for a cycle, or, if there never was one, for the search to fail.
    fn shrink(&mut self, core: &mut Instance, cyclic: bool) {
        let interrupt = self.settings.limits.interrupt;
        let mut clashes = |core: &Instance| {
            if cyclic {
                self.is_cyclic(core)
            } else {
                matches!(self.verifier.verify(core, self.model, &self.settings), Ok(Answer::Inconsistent))
            }
        };
        // Reads first, then what nobody reads any more; that may be the last reader of something in turn.
        let mut writes = false;
        loop {
            let events: Vec<(EventId, Action)> =
                core.events().filter(|&(event, action)| action.writes() == writes && !core.is_nothing(event)).collect();
            let before = core.clone();
            let mut size = if cyclic { 1 } else { events.len().next_power_of_two() };
            while size > 0 {
                for chunk in events.chunks(size) {
                    if interrupt.is_due() {
                        return;
                    }
                    let smaller = without(core, chunk);
                    if smaller != *core && clashes(&smaller) {
                        *core = smaller;
                    }
                }
                size /= 2;
            }
            if writes && before == *core {
                return;
            }
            writes = true;
        }
    }

    /// Whether the rest is consistent without any one event.
    fn is_minimal(&mut self, core: &Instance) -> Result<bool, Malformed> {
        for (event, action) in core.events().filter(|&(event, _)| !core.is_nothing(event)) {
            let smaller = without(core, &[(event, action)]);
            if self.is_late() {
                return Ok(false);
            }
            if smaller != *core
                && !matches!(self.verifier.verify(&smaller, self.model, &self.settings)?, Answer::Consistent(_))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The cycle closure finds, if it finds one.
    fn cycle(&mut self, instance: &Instance) -> Option<Cycle> {
        if let Some(axioms) = models::axioms(self.model) {
            let links = self.links(instance, axioms)?;
            let (conclusions, cycle) = causal::explain::ties(instance, axioms.synchronises(), &links);
            return Some(Cycle { conclusions, cycle });
        }
        if let Err(hidden) = self.shape.build(instance, self.model) {
            return Some(self.hidden(instance, hidden));
        }
        if Order::bytes(&self.shape) > self.settings.limits.bytes
            || self.closure.build(&self.shape, self.settings.limits.interrupt) != Err(Failure::Cyclic)
        {
            return None;
        }
        let links = self.closure.order.cycle(&self.shape);
        let mut edges = BTreeSet::new();
        let mut todo: Vec<Link> = links.clone();
        let mut since = Vec::new();
        while let Some(link) = todo.pop() {
            let (Some(edge), Some(path)) = (link.edge, self.since(&link)) else { continue };
            if edges.insert(edge) {
                todo.extend(&path);
                since.push((edge, link, path));
            }
        }
        since.sort_by_key(|&(edge, ..)| edge);
        let conclusions = since
            .into_iter()
            .map(|(_, link, path)| Conclusion { tie: self.tie(instance, &link), since: self.ties(instance, &path) });
        Some(Cycle { conclusions: conclusions.collect(), cycle: self.ties(instance, &links) })
    }

    /// The way a conclusion follows from, if the link is one that follows from something.
    fn since(&self, link: &Link) -> Option<Vec<Link>> {
        let (shape, order) = (&self.shape, &self.closure.order);
        let source = |read: u32| Some(shape.op(read).source).filter(|&source| !shape.is_initial(source));
        let (from, to) = match link.why {
            Why::Earlier(read) => (link.from, read),
            Why::Later(read) => (order.arrival(source(read)?), link.to),
            _ => return None,
        };
        order.path(shape, from, to, link.edge?)
    }

    fn moment(&self, instance: &Instance, node: u32) -> Moment {
        let (op, arrival) = self.closure.order.op(node);
        match self.shape.event(instance, op) {
            Some(event) if arrival => Moment::Reaches(event),
            Some(event) => Moment::Does(event),
            // What stands for no event: the fence of an update, which comes next, or the end of a thread.
            None if self.shape.index(op) + 1 == self.shape.length(self.shape.op(op).thread as usize) => {
                Moment::Ends(ThreadId(self.shape.op(op).thread))
            }
            None => self
                .shape
                .event(instance, op + 1)
                .map_or(Moment::Ends(ThreadId(self.shape.op(op).thread)), Moment::Does),
        }
    }

    fn tie(&self, instance: &Instance, link: &Link) -> Tie {
        let event = |op| self.shape.event(instance, op).expect("a read is an event");
        Tie { from: self.moment(instance, link.from), to: self.moment(instance, link.to), why: link.why.map(event) }
    }

    /// The links as ties, with steps along the same chain drawn together.
    fn ties(&self, instance: &Instance, links: &[Link]) -> Vec<Tie> {
        let mut ties: Vec<Tie> = Vec::new();
        for link in links {
            let tie = self.tie(instance, link);
            match ties.last_mut() {
                _ if tie.from == tie.to => {}
                Some(last) if last.why == tie.why && matches!(tie.why, Reason::Program | Reason::Buffer) => {
                    last.to = tie.to;
                }
                _ => ties.push(tie),
            }
        }
        // A cycle may begin in the middle of a chain.
        if ties.len() > 1 && ties[0].from == ties[ties.len() - 1].to {
            let (first, last) = (ties[0], ties[ties.len() - 1]);
            if first.why == last.why && matches!(first.why, Reason::Program | Reason::Buffer) {
                ties[0].from = last.from;
                ties.pop();
            }
        }
        ties
    }

    /// The cycle of a read whose own thread has hidden its source.
    fn hidden(&self, instance: &Instance, Hidden { read, write }: Hidden) -> Cycle {
        let moment = |op| Moment::Does(self.shape.event(instance, op).expect("an access is an event"));
        let (read_at, write_at) = (moment(read), moment(write));
        let forward = Tie { from: write_at, to: read_at, why: Reason::Program };
        let ties = if write > read {
            [Tie { why: Reason::ReadsFrom, ..forward }, Tie { from: read_at, to: write_at, why: Reason::Program }]
        } else {
            [forward, Tie { from: read_at, to: write_at, why: Reason::Hidden }]
        };
        Cycle { conclusions: Vec::new(), cycle: ties.to_vec() }
    }
}

/// The instance without its notes, and where its events come from.
fn compact(instance: &Instance) -> (Instance, Vec<EventId>) {
    let mut places = Vec::new();
    let mut names = FxHashMap::default();
    for thread in (0..instance.threads() as u32).map(ThreadId) {
        let all = (0..instance.thread(thread).len() as u32).map(|index| EventId::new(thread, index));
        for (new, old) in all.filter(|&event| !instance.is_nothing(event)).enumerate() {
            places.push(old);
            names.insert(old, EventId::new(thread, new as u32));
        }
    }
    let renamed = |source: Source| match source {
        Source::Initial => Source::Initial,
        Source::Write(write) => Source::Write(names[&write]),
    };
    let mut small = Instance::new();
    for thread in (0..instance.threads() as u32).map(ThreadId) {
        small.begin_thread();
        for (index, &action) in instance.thread(thread).iter().enumerate() {
            let event = EventId::new(thread, index as u32);
            if instance.is_nothing(event) {
                continue;
            }
            let action = match action {
                Action::Read { loc, from } => Action::Read { loc, from: renamed(from) },
                Action::Update { loc, from } => Action::Update { loc, from: renamed(from) },
                other => other,
            };
            small.push_with(action, instance.order(event));
        }
    }
    (small, places)
}

/// The instance without these events, but for writes that somebody reads: of an update only the reading is left out then.
fn without(instance: &Instance, events: &[(EventId, Action)]) -> Instance {
    let mut smaller = instance.clone();
    for &(event, _) in events {
        let Some(action) = instance.get(event) else { continue };
        let read = smaller.events().any(|(_, other)| other.source() == Some(Source::Write(event)));
        match action {
            Action::Update { loc, .. } if read => smaller.set(event, Action::Write { loc }),
            Action::Write { .. } if read => {}
            _ => smaller.set(event, Action::Note),
        }
    }
    smaller
}
