//! For an explorer that builds traces event by event: is there still a run?
//!
//! After every step the order of what is given is closed incrementally, and saturated: two messages of a handler of which an event of the one reaches an event of the other (or, in a queue, the post of
//! the one that of the other) are in that order, each with all its events. A cycle then rules out the trace and everything that grows out of it, since nothing is used here that a later event could take
//! back: that a message is open, or not yet taken, says nothing. What is not ruled out is first tried on the machine, along the run that is known; only [`Oracle::check`] searches. [`Oracle::backtrack`] takes
//! steps back. After Grahn 2026, section on use in model checkers; keeping the last run is ours.
//!
//! A step that changes what edges rest on (a source, a place in the order of writes) makes the order anew and keeps the old one for the way back.
//!
//! Cost: a row operation for everybody before and behind each new edge; pairs of messages of a handler are looked at until nothing more follows; the known run is replayed. The closure is a square of bits and is laid out anew when it is full.

use super::constraints::given;
use super::greedy;
use super::order::{Edge, Mark as Place, Order};
use super::replay::replay;
use super::solve::{Answer, Error, Limits, solve_growing};
use super::trace::{Event, Kind, Mailbox, Malformed, Rules, Trace};
use rustc_hash::FxHashSet;

/// What is known without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is a run.
    Consistent,
    /// There is none, and there will be none whatever is added.
    Inconsistent,
    /// Only a search can tell.
    Undecided,
}

/// A moment to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(usize);

/// Messages of a handler of which the first is run before the second.
type Before = (usize, usize);

/// What one step did, so that it can be taken back.
#[derive(Clone, Debug)]
enum Step {
    Message { handlers: usize },
    Event { coherence: usize },
    End { message: usize },
    Source { read: usize, old: Option<usize>, before: Box<Known> },
    Moved { location: usize, old: Vec<usize>, before: Box<Known> },
}

/// What has been concluded.
#[derive(Clone, Debug)]
struct Known {
    order: Order,
    decided: Vec<Before>,
    is_decided: FxHashSet<Before>,
}

impl Known {
    fn nothing(size: usize) -> Self {
        let mut order = Order::new(size, std::iter::empty()).expect("no edge is no cycle");
        order.keep(true);
        Known { order, decided: Vec::new(), is_decided: FxHashSet::default() }
    }
}

#[derive(Clone, Debug)]
struct Done {
    step: Step,
    place: Place,
    decided: usize,
    refuted: bool,
}

/// A trace that grows and shrinks.
#[derive(Clone, Debug)]
pub struct Oracle {
    trace: Trace,
    rules: Rules,
    known: Known,
    done: Vec<Done>,
    refuted: bool,
    /// A run of the events so far, or the beginning of one.
    run: Vec<usize>,
}

impl Oracle {
    /// Nothing has happened yet. Handlers without a rule have queues.
    pub fn new(rules: Rules) -> Self {
        let trace = Trace { handlers: rules.mailboxes.len(), ..Trace::default() };
        Oracle { trace, rules, known: Known::nothing(64), done: Vec::new(), refuted: false, run: Vec::new() }
    }

    /// The trace as it is now: messages that have begun and were not ended are open.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The run that is known: all events in order, if the last answer was [`Status::Consistent`].
    pub fn run(&self) -> &[usize] {
        &self.run
    }

    /// A moment to go back to.
    pub fn mark(&self) -> Mark {
        Mark(self.done.len())
    }

    fn begin(&mut self, step: Step) {
        let (place, decided) = (self.known.order.mark(), self.known.decided.len());
        self.done.push(Done { step, place, decided, refuted: self.refuted });
    }

    /// One more message, of which nothing has happened yet. Those that nobody posts have to be there before anything happens to their handler.
    pub fn add_message(&mut self, handler: usize) -> usize {
        self.begin(Step::Message { handlers: self.trace.handlers });
        let message = self.trace.add_message(handler);
        self.trace.messages[message].open = true;
        while self.rules.mailboxes.len() < self.trace.handlers {
            self.rules.mailboxes.push(Mailbox::Queue);
        }
        message
    }

    /// One more event at the end of a message. A write comes last in the order of its location.
    ///
    /// # Errors
    /// If it names something that is not there.
    pub fn push_event(&mut self, event: Event) -> Result<Status, Malformed> {
        let Event { kind, message } = event;
        let number = self.trace.events.len();
        let own = self.trace.messages.get(message).ok_or(Malformed::Event(number))?;
        let right = (kind == Kind::Get) == own.events.is_empty()
            && own.open
            && match kind {
                Kind::Get => true,
                Kind::Write { location } => location <= crate::instance::MAX_LOC as usize,
                Kind::Post(posted) => self
                    .trace
                    .messages
                    .get(posted)
                    .is_some_and(|message| message.post.is_none() && message.events.is_empty()),
                Kind::Read { location, from } => self.is_source(location, from),
            };
        if !right {
            return Err(Malformed::Event(number));
        }
        let before = self.trace.messages[message].events.last().copied();
        self.begin(Step::Event { coherence: self.trace.coherence.len() });
        self.trace.add(message, kind);
        self.grow();
        let mut edges: Vec<(usize, usize)> = before.map(|before| (before, number)).into_iter().collect();
        match kind {
            Kind::Get => edges.extend(self.trace.messages[message].post.map(|post| (post, number))),
            Kind::Post(_) => {}
            Kind::Read { location, from } => edges.extend(self.around_read(number, location, from)),
            Kind::Write { location } => edges.extend(self.around_write(number, location)),
        }
        // Whoever comes after the message comes after this, too.
        edges.extend(
            self.known
                .decided
                .iter()
                .filter(|(first, _)| *first == message)
                .filter_map(|&(_, second)| Some((number, self.trace.ends(second)?.0))),
        );
        if kind == Kind::Get {
            edges.extend(
                self.known
                    .decided
                    .iter()
                    .filter(|(_, second)| *second == message)
                    .filter_map(|&(first, _)| Some((self.trace.ends(first)?.1, number))),
            );
        }
        Ok(self.settle(edges, Some(number)))
    }

    /// The message has ended. Nothing is added to it any more, and others of its handler may follow.
    ///
    /// # Errors
    /// If it has not begun.
    pub fn end_message(&mut self, message: usize) -> Result<Status, Malformed> {
        if !self.trace.messages.get(message).is_some_and(|message| message.open && !message.events.is_empty()) {
            return Err(Malformed::Message(message));
        }
        self.begin(Step::End { message });
        self.trace.messages[message].open = false;
        Ok(self.settle(Vec::new(), None))
    }

    /// The read reads another write, or the initial value.
    ///
    /// # Errors
    /// If these are no read and no write of its location.
    pub fn set_rf(&mut self, read: usize, from: Option<usize>) -> Result<Status, Malformed> {
        let Some(&Event { kind: Kind::Read { location, from: old }, .. }) = self.trace.events.get(read) else {
            return Err(Malformed::Event(read));
        };
        if !self.is_source(location, from) {
            return Err(Malformed::Event(read));
        }
        let refuted = self.refuted;
        self.trace.events[read].kind = Kind::Read { location, from };
        let before = Box::new(self.anew());
        Ok(self.changed(Step::Source { read, old, before }, refuted))
    }

    /// The write is to stand at this place in the order of its location.
    ///
    /// # Errors
    /// If it is no write, or there is no such place.
    pub fn insert_co(&mut self, write: usize, position: usize) -> Result<Status, Malformed> {
        let Some(&Event { kind: Kind::Write { location }, .. }) = self.trace.events.get(write) else {
            return Err(Malformed::Event(write));
        };
        if position >= self.trace.coherence[location].len() {
            return Err(Malformed::Coherence(location));
        }
        let old = self.trace.coherence[location].clone();
        let refuted = self.refuted;
        let order = &mut self.trace.coherence[location];
        order.retain(|&other| other != write);
        order.insert(position, write);
        let before = Box::new(self.anew());
        Ok(self.changed(Step::Moved { location, old, before }, refuted))
    }

    /// What is known now.
    pub fn status(&self) -> Status {
        match self.refuted {
            true => Status::Inconsistent,
            false if self.run.len() == self.trace.events.len() => Status::Consistent,
            false => Status::Undecided,
        }
    }

    /// The full search, with the rules for messages that are open or were not taken.
    ///
    /// # Errors
    /// If a schedule does not replay.
    pub fn check(&mut self, limits: &Limits<'_>) -> Result<Answer, Error> {
        if self.refuted {
            return Ok(Answer::Inconsistent);
        }
        if self.run.len() == self.trace.events.len() {
            return Ok(Answer::Consistent(self.run.clone()));
        }
        let (answer, _) = solve_growing(&self.trace, &self.rules, limits)?;
        if let Answer::Consistent(schedule) = &answer {
            self.run.clone_from(schedule);
        }
        Ok(answer)
    }

    /// Takes back every step since the mark.
    pub fn backtrack(&mut self, mark: Mark) {
        while self.done.len() > mark.0 {
            let Some(Done { step, place, decided, refuted }) = self.done.pop() else { return };
            self.refuted = refuted;
            let undo = |known: &mut Known| {
                known.order.undo(place);
                let Known { decided: all, is_decided, .. } = known;
                all.drain(decided..).for_each(|pair| _ = is_decided.remove(&pair));
            };
            match step {
                Step::Message { handlers } => {
                    undo(&mut self.known);
                    self.trace.messages.pop();
                    self.trace.handlers = handlers;
                    self.rules.mailboxes.truncate(handlers);
                }
                Step::Event { coherence } => {
                    undo(&mut self.known);
                    if let Some(event) = self.trace.events.pop() {
                        self.trace.messages[event.message].events.pop();
                        match event.kind {
                            Kind::Post(posted) => self.trace.messages[posted].post = None,
                            Kind::Write { location } => {
                                let gone = self.trace.events.len();
                                self.trace.coherence[location].retain(|&other| other != gone);
                            }
                            Kind::Get | Kind::Read { .. } => {}
                        }
                    }
                    self.trace.coherence.truncate(coherence);
                }
                Step::End { message } => {
                    undo(&mut self.known);
                    self.trace.messages[message].open = true;
                }
                Step::Source { read, old, before } => {
                    if let Kind::Read { from, .. } = &mut self.trace.events[read].kind {
                        *from = old;
                    }
                    self.known = *before;
                }
                Step::Moved { location, old, before } => {
                    self.trace.coherence[location] = old;
                    self.known = *before;
                }
            }
        }
        // Without what was taken back a run is still one, unless a source or an order of writes has changed.
        let events = self.trace.events.len();
        self.run.retain(|&event| event < events);
        if self.run.len() == events && !self.runs() {
            self.run.clear();
        }
        if !self.refuted && self.run.len() < events {
            self.look_for_a_run();
        }
    }

    fn is_source(&self, location: usize, from: Option<usize>) -> bool {
        from.is_none_or(|write| {
            self.trace.events.get(write).is_some_and(|event| event.kind == Kind::Write { location })
        })
    }

    /// Reads-from, and from-read to the next write.
    fn around_read(&self, read: usize, location: usize, from: Option<usize>) -> Vec<(usize, usize)> {
        let order = self.trace.coherence.get(location).map_or(&[][..], Vec::as_slice);
        let at = from.map_or(0, |write| order.iter().position(|&other| other == write).map_or(0, |at| at + 1));
        from.map(|write| (write, read)).into_iter().chain(order.get(at).map(|&next| (read, next))).collect()
    }

    /// From the write before, and from those who read that.
    fn around_write(&self, write: usize, location: usize) -> Vec<(usize, usize)> {
        let order = &self.trace.coherence[location];
        let before = order.len().checked_sub(2).map(|at| order[at]);
        let reads = |event: &Event| event.kind == Kind::Read { location, from: before };
        let readers = (0..self.trace.events.len()).filter(|&read| reads(&self.trace.events[read]));
        before.into_iter().chain(readers).map(|event| (event, write)).collect()
    }

    /// Makes room for the events there are.
    fn grow(&mut self) {
        if self.trace.events.len() > self.known.order.size() {
            self.known.order.grow(self.trace.events.len() * 2);
        }
    }

    /// Makes the order anew, since something was changed that edges rest on; what was known before.
    fn anew(&mut self) -> Known {
        let size = self.known.order.size();
        let before = std::mem::replace(&mut self.known, Known::nothing(size));
        let mut edges = Vec::new();
        for message in &self.trace.messages {
            edges.extend(message.events.windows(2).map(|pair| (pair[0], pair[1])));
            edges.extend(message.post.zip(message.events.first().copied()));
        }
        for (read, event) in self.trace.events.iter().enumerate() {
            if let Kind::Read { location, from } = event.kind {
                edges.extend(self.around_read(read, location, from));
            }
        }
        for order in &self.trace.coherence {
            edges.extend(order.windows(2).map(|pair| (pair[0], pair[1])));
        }
        match Order::new(size, edges.into_iter()) {
            Some(mut order) => {
                order.keep(true);
                self.known.order = order;
                self.refuted = false;
            }
            None => self.refuted = true,
        }
        before
    }

    fn changed(&mut self, step: Step, refuted: bool) -> Status {
        self.begin(step);
        if let Some(done) = self.done.last_mut() {
            done.refuted = refuted;
        }
        self.saturate();
        self.run.clear();
        self.look_for_a_run();
        self.status()
    }

    fn settle(&mut self, edges: Vec<(usize, usize)>, event: Option<usize>) -> Status {
        for (from, to) in edges {
            self.add(from, to);
        }
        self.saturate();
        let known = self.run.len();
        self.run.extend(event);
        if known + usize::from(event.is_some()) != self.trace.events.len() || !self.runs() {
            self.run.truncate(known);
            self.look_for_a_run();
        }
        self.status()
    }

    fn add(&mut self, from: usize, to: usize) {
        if !self.refuted {
            self.refuted = !self.known.order.add(Edge { from, to, since: Vec::new() });
        }
    }

    /// Decides pairs of messages until nothing more follows.
    fn saturate(&mut self) {
        let mut changed = true;
        while changed && !self.refuted {
            changed = false;
            for first in 0..self.trace.messages.len() {
                for second in (0..self.trace.messages.len()).filter(|&second| second != first) {
                    if !self.refuted && self.follows(first, second) && self.known.is_decided.insert((first, second)) {
                        changed = true;
                        self.known.decided.push((first, second));
                        if let (Some((_, last)), Some((get, _))) = (self.trace.ends(first), self.trace.ends(second)) {
                            self.add(last, get);
                        }
                        let (one, other) = (&self.trace.messages[first], &self.trace.messages[second]);
                        if let (Mailbox::Queue, Some(early), Some(late)) =
                            (self.rules.mailboxes[one.handler], one.post, other.post)
                        {
                            self.add(early, late);
                        }
                    }
                }
            }
        }
    }

    /// Whether the first is run before the second, both having begun.
    fn follows(&self, first: usize, second: usize) -> bool {
        let (one, other) = (&self.trace.messages[first], &self.trace.messages[second]);
        let (Some((get, _)), Some((_, last))) = (self.trace.ends(first), self.trace.ends(second)) else { return false };
        if one.handler != other.handler {
            return false;
        }
        let posted = match (one.post, other.post) {
            (Some(early), Some(late)) => self.known.order.reaches(early, late),
            (None, Some(_)) => true,
            _ => false,
        };
        self.known.order.reaches(get, last) || (self.rules.mailboxes[one.handler] == Mailbox::Queue && posted)
    }

    /// Whether the run that is known is one of the trace as it is.
    fn runs(&self) -> bool {
        replay(&self.trace, &self.rules, &self.run).is_ok()
    }

    /// A run without a search; with what holds of messages that are open or were not taken now.
    fn look_for_a_run(&mut self) {
        if self.refuted {
            return;
        }
        let edges = given(&self.trace, &self.rules);
        let order = Order::new(self.trace.events.len(), edges.iter().map(|edge| (edge.from, edge.to)));
        let run = order.and_then(|order| greedy::run(&self.trace, &self.rules, &order, &Limits::default()));
        if let Some(run) = run {
            self.run = run;
            if !self.runs() {
                self.run.clear();
            }
        }
    }
}
