//! The question: messages, their events, what reads read and the order of writes.

use thiserror::Error;

/// How a handler takes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mailbox {
    /// First posted, first taken.
    Queue,
    /// Any message that is there.
    Multiset,
    /// Last posted, first taken.
    Stack,
}

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The handler takes the message: its first event.
    Get,
    /// Posts a message, by number, to the handler that it belongs to.
    Post(usize),
    /// Reads a location; from that event, or the initial value.
    Read {
        /// Which location.
        location: usize,
        /// The write.
        from: Option<usize>,
    },
    /// Writes a location.
    Write {
        /// Which.
        location: usize,
    },
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it does.
    pub kind: Kind,
    /// The message that it belongs to.
    pub message: usize,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who runs it.
    pub handler: usize,
    /// Its events, the first a get; none, if it is never run.
    pub events: Vec<usize>,
    /// The event that posts it; nobody, if it is there from the beginning.
    pub post: Option<usize>,
    /// Whether it had begun and not ended when the trace ended.
    pub open: bool,
}

/// An event-driven trace.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Trace {
    /// How many handlers there are.
    pub handlers: usize,
    /// The messages.
    pub messages: Vec<Message>,
    /// All events, by number.
    pub events: Vec<Event>,
    /// The writes of each location, in their order.
    pub coherence: Vec<Vec<usize>>,
    /// Events of which the trace says that the first comes before the second.
    pub said: Vec<(usize, usize)>,
    /// What is not known and may be anything that makes a run.
    pub unknown: Unknown,
}

/// What a trace leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Unknown {
    /// Locations whose writes have no known order; of these, `coherence` says only which writes there are.
    pub orders: Vec<usize>,
    /// Reads whose source is not known, with what each may have read: writes, or the initial value. What stands in [`Kind::Read`] counts for nothing.
    pub reads: Vec<(usize, Vec<Option<usize>>)>,
}

impl Unknown {
    /// Whether everything is known.
    pub fn is_nothing(&self) -> bool {
        self.orders.is_empty() && self.reads.is_empty()
    }
}

/// What is asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The mailbox of each handler.
    pub mailboxes: Vec<Mailbox>,
    /// Whether messages that are posted and never run are in the mailbox. If not, they are ignored.
    pub strict: bool,
}

impl Rules {
    /// The same mailbox for everybody.
    pub fn all(mailbox: Mailbox, trace: &Trace) -> Self {
        Rules { mailboxes: vec![mailbox; trace.handlers], strict: true }
    }
}

/// Why something is no trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A number names nothing, or the wrong thing.
    #[error("event {0} names something that is not there")]
    Event(usize),
    /// A message is not as it should be.
    #[error("message {0} does not begin with its get, is posted twice, or belongs to no handler")]
    Message(usize),
    /// The order of writes does not have every write of its location once.
    #[error("the order of writes of location {0} does not have each of them once")]
    Coherence(usize),
    /// What is said to be unknown is no location, or no read with something that it may have read.
    #[error("what is unknown names location or event {0}, which is none or is there twice")]
    Unknown(usize),
    /// There is not a mailbox for every handler.
    #[error("there are {0} mailboxes for {1} handlers")]
    Mailboxes(usize, usize),
}

impl Trace {
    /// One more message, without events yet.
    pub fn add_message(&mut self, handler: usize) -> usize {
        self.handlers = self.handlers.max(handler + 1);
        self.messages.push(Message { handler, events: Vec::new(), post: None, open: false });
        self.messages.len() - 1
    }

    /// One more event at the end of a message. Posts and writes are noted; writes come last in the order of their location.
    pub fn add(&mut self, message: usize, kind: Kind) -> usize {
        let event = self.events.len();
        self.events.push(Event { kind, message });
        self.messages[message].events.push(event);
        match kind {
            Kind::Post(posted) => self.messages[posted].post = Some(event),
            Kind::Write { location } => {
                if self.coherence.len() <= location {
                    self.coherence.resize(location + 1, Vec::new());
                }
                self.coherence[location].push(event);
            }
            Kind::Get | Kind::Read { .. } => {}
        }
        event
    }

    /// The first and the last event of a message that is run.
    pub(super) fn ends(&self, message: usize) -> Option<(usize, usize)> {
        let events = &self.messages[message].events;
        events.first().copied().zip(events.last().copied())
    }

    /// Whether everything that is named is there, and once.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self) -> Result<(), Malformed> {
        self.check_growing()?;
        let never_run = |message: &Message| message.post.is_none() && message.events.is_empty();
        self.messages.iter().position(never_run).map_or(Ok(()), |number| Err(Malformed::Message(number)))
    }

    /// The same of a trace that grows: it may have messages of which nothing has happened yet.
    pub(super) fn check_growing(&self) -> Result<(), Malformed> {
        let mut owner = vec![None; self.events.len()];
        let mut posts = vec![None; self.messages.len()];
        for (number, message) in self.messages.iter().enumerate() {
            for (at, &event) in message.events.iter().enumerate() {
                let known =
                    self.events.get(event).filter(|event| event.message == number).ok_or(Malformed::Event(event))?;
                if (known.kind == Kind::Get) != (at == 0) || owner[event].replace(number).is_some() {
                    return Err(Malformed::Message(number));
                }
            }
        }
        for (number, event) in self.events.iter().enumerate() {
            let right = owner[number].is_some()
                && match event.kind {
                    Kind::Get | Kind::Write { .. } => true,
                    Kind::Post(posted) => posts.get_mut(posted).is_some_and(|post| post.replace(number).is_none()),
                    Kind::Read { location, from } => from.is_none_or(|from| {
                        self.events.get(from).is_some_and(|event| event.kind == Kind::Write { location })
                    }),
                };
            if !right {
                return Err(Malformed::Event(number));
            }
        }
        let wrong =
            |(number, message): (usize, &Message)| message.handler >= self.handlers || message.post != posts[number];
        if let Some(number) = self.messages.iter().enumerate().position(wrong) {
            return Err(Malformed::Message(number));
        }
        for (location, order) in self.coherence.iter().enumerate() {
            let is_write =
                |event: usize| self.events.get(event).is_some_and(|event| event.kind == Kind::Write { location });
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != order.len() || !order.iter().all(|&event| is_write(event)) {
                return Err(Malformed::Coherence(location));
            }
        }
        if let Some(&(from, to)) = self.said.iter().find(|&&(from, to)| from.max(to) >= self.events.len()) {
            return Err(Malformed::Event(from.max(to)));
        }
        self.check_unknown()?;
        let ordered: usize = self.coherence.iter().map(Vec::len).sum();
        let writes = self.events.iter().filter(|event| matches!(event.kind, Kind::Write { .. })).count();
        if ordered != writes { Err(Malformed::Coherence(self.coherence.len())) } else { Ok(()) }
    }

    fn check_unknown(&self) -> Result<(), Malformed> {
        let mut orders = self.unknown.orders.clone();
        orders.sort_unstable();
        if let Some(pair) = orders.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Malformed::Unknown(pair[0]));
        }
        if let Some(&location) = orders.last().filter(|&&location| location >= self.coherence.len()) {
            return Err(Malformed::Unknown(location));
        }
        let mut seen = vec![false; self.events.len()];
        for (read, sources) in &self.unknown.reads {
            let right = match self.events.get(*read).map(|event| event.kind) {
                Some(Kind::Read { location, .. }) => sources
                    .iter()
                    .flatten()
                    .all(|&write| self.events.get(write).is_some_and(|event| event.kind == Kind::Write { location })),
                _ => false,
            };
            if !right || sources.is_empty() || std::mem::replace(&mut seen[*read], true) {
                return Err(Malformed::Unknown(*read));
            }
        }
        Ok(())
    }
}
