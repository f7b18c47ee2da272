//! The question: threads of events, and for every read the write it read.
//!
//! An [`Instance`] is one flat list of actions with the places where threads begin, so that an engine can keep one and fill it again
//! ([`Instance::clear`]) without allocating. Every event has a [memory ordering](Ordering), which matters to models that know any. A *read* is whatever has a source, a *write* whatever others can read: an update is both.
//!
//! What the actions mean on store buffers is what the machine does: a full fence, an update, a spawn and a join wait until the thread's
//! buffer is empty; a join also waits for the end of the child and for its buffer. A compare-exchange that failed is a
//! [`Action::Fence`] followed by a [`Action::Read`]; a release store under PSO is a [`Action::StoreFence`] followed by a [`Action::Write`].

use raddle_trace::{EventId, Ordering, ThreadId};

/// A location. Small numbers: tables are as long as the largest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc(pub u32);

impl Loc {
    /// As an index into a table of locations.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The largest number a location may have.
pub const MAX_LOC: u32 = (1 << 24) - 1;

/// Where the value of a read came from. Whether it came out of the thread's own buffer or through memory is not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The initial value.
    Initial,
    /// This write or update.
    Write(EventId),
}

impl From<raddle_trace::Source> for Source {
    fn from(source: raddle_trace::Source) -> Self {
        source.write().map_or(Source::Initial, Source::Write)
    }
}

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Read a location.
    Read {
        /// Where.
        loc: Loc,
        /// What.
        from: Source,
    },
    /// Wrote a location; on store buffers into the buffer.
    Write {
        /// Where.
        loc: Loc,
    },
    /// Read and wrote a location in one step, directly in memory, with an empty buffer.
    Update {
        /// Where.
        loc: Loc,
        /// What it read.
        from: Source,
    },
    /// Waited for an empty buffer. To models with orderings, a fence with that of the event.
    Fence,
    /// Under PSO: what is written later reaches memory later than what was written before. To models with orderings, a releasing fence.
    StoreFence,
    /// Started a thread.
    Spawn {
        /// Which.
        child: ThreadId,
    },
    /// Waited for the end of a thread, and for its buffer to be empty.
    Join {
        /// Which.
        child: ThreadId,
    },
    /// Nothing that matters to memory. To models with orderings, an acquiring fence, if that is the ordering of the event.
    Note,
}

impl Action {
    /// The location, if there is one.
    pub const fn loc(self) -> Option<Loc> {
        match self {
            Action::Read { loc, .. } | Action::Write { loc } | Action::Update { loc, .. } => Some(loc),
            _ => None,
        }
    }

    /// What was read, if something was.
    pub const fn source(self) -> Option<Source> {
        match self {
            Action::Read { from, .. } | Action::Update { from, .. } => Some(from),
            _ => None,
        }
    }

    /// Whether others can read from it.
    pub const fn writes(self) -> bool {
        matches!(self, Action::Write { .. } | Action::Update { .. })
    }

    /// Whether it may be a fence to models with orderings.
    pub(crate) const fn is_fence(self) -> bool {
        matches!(self, Action::Fence | Action::StoreFence | Action::Note)
    }

    /// The ordering it has if nobody says another one.
    pub const fn default_order(self) -> Ordering {
        match self {
            Action::StoreFence => Ordering::Release,
            Action::Note => Ordering::Relaxed,
            _ => Ordering::SeqCst,
        }
    }
}

/// Events in program order, thread by thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    actions: Vec<Action>,
    orders: Vec<Ordering>,
    /// Where the events of each thread begin.
    starts: Vec<u32>,
}

impl Instance {
    /// No threads.
    pub fn new() -> Self {
        Instance::default()
    }

    /// From a list of threads.
    pub fn of(threads: &[&[Action]]) -> Self {
        let mut instance = Instance::new();
        for actions in threads {
            instance.begin_thread();
            actions.iter().for_each(|&action| {
                instance.push(action);
            });
        }
        instance
    }

    /// Forgets everything but the memory it holds.
    pub fn clear(&mut self) {
        self.actions.clear();
        self.orders.clear();
        self.starts.clear();
    }

    /// Begins the next thread.
    pub fn begin_thread(&mut self) -> ThreadId {
        self.starts.push(self.actions.len() as u32);
        ThreadId(self.starts.len() as u32 - 1)
    }

    /// Adds an event to the thread that was begun last.
    ///
    /// # Panics
    /// If no thread was begun.
    pub fn push(&mut self, action: Action) -> EventId {
        self.push_with(action, action.default_order())
    }

    /// Adds an event with this ordering to the thread that was begun last.
    ///
    /// # Panics
    /// If no thread was begun.
    pub fn push_with(&mut self, action: Action, order: Ordering) -> EventId {
        let start = *self.starts.last().expect("a thread was begun");
        self.actions.push(action);
        self.orders.push(order);
        EventId::new(ThreadId(self.starts.len() as u32 - 1), self.actions.len() as u32 - 1 - start)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.starts.len()
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The events of a thread.
    pub fn thread(&self, thread: ThreadId) -> &[Action] {
        let start = self.starts[thread.index()] as usize;
        let end = self.starts.get(thread.index() + 1).map_or(self.actions.len(), |&end| end as usize);
        &self.actions[start..end]
    }

    /// Every event, thread by thread.
    pub fn events(&self) -> impl Iterator<Item = (EventId, Action)> + '_ {
        (0..self.threads() as u32).map(ThreadId).flat_map(move |thread| {
            let actions = self.thread(thread).iter().enumerate();
            actions.map(move |(index, &action)| (EventId::new(thread, index as u32), action))
        })
    }

    /// What an event did, if there is such an event.
    pub fn get(&self, event: EventId) -> Option<Action> {
        let exists = event.thread.index() < self.threads();
        exists.then(|| self.thread(event.thread).get(event.index as usize).copied()).flatten()
    }

    /// The memory ordering of an event.
    ///
    /// # Panics
    /// If there is no such event.
    pub fn order(&self, event: EventId) -> Ordering {
        self.orders[self.flat(event) as usize]
    }

    /// Whether the event is nothing to any memory model.
    pub(crate) fn is_nothing(&self, event: EventId) -> bool {
        self.get(event) == Some(Action::Note) && self.order(event) == Ordering::Relaxed
    }

    /// Replaces an event. What is left out, a [`Action::Note`] in its place, is no fence any more.
    ///
    /// # Panics
    /// If there is no such event.
    pub fn set(&mut self, event: EventId, action: Action) {
        let at = self.flat(event) as usize;
        self.actions[at] = action;
        if action == Action::Note {
            self.orders[at] = action.default_order();
        }
    }

    /// Per thread, the number of the event that starts it, if one does.
    pub(crate) fn spawns(&self) -> Vec<Option<u32>> {
        let mut spawns = vec![None; self.threads()];
        for (number, action) in self.actions.iter().enumerate() {
            if let Action::Spawn { child } = action {
                spawns[child.index()] = Some(number as u32);
            }
        }
        spawns
    }

    /// The number of the last event of a thread, if it has any.
    pub(crate) fn end(&self, thread: ThreadId) -> Option<u32> {
        let start = self.starts[thread.index()];
        let end = self.starts.get(thread.index() + 1).map_or(self.actions.len() as u32, |&end| end);
        (end > start).then(|| end - 1)
    }

    /// The number of an event among all events.
    pub(crate) fn flat(&self, event: EventId) -> u32 {
        self.starts[event.thread.index()] + event.index
    }

    /// Whether the question makes sense at all.
    pub fn validate(&self) -> Result<(), Malformed> {
        let mut spawned = vec![false; self.threads()];
        for (event, action) in self.events() {
            if let Some(loc) = action.loc().filter(|loc| loc.0 > MAX_LOC) {
                return Err(Malformed::LocationTooLarge { event, loc });
            }
            if let Some(Source::Write(write)) = action.source() {
                let source = self.get(write).ok_or(Malformed::NoSuchSource { event, write })?;
                if write == event {
                    return Err(Malformed::ReadsItself { event });
                }
                if !source.writes() {
                    return Err(Malformed::SourceIsNoWrite { event, write });
                }
                if source.loc() != action.loc() {
                    return Err(Malformed::OtherLocation { event, write });
                }
            }
            if let Action::Spawn { child } | Action::Join { child } = action {
                if child.index() >= self.threads() {
                    return Err(Malformed::NoSuchThread { event, child });
                }
                if child == event.thread {
                    return Err(Malformed::OwnChild { event });
                }
            }
            if let Action::Spawn { child } = action
                && std::mem::replace(&mut spawned[child.index()], true)
            {
                return Err(Malformed::SpawnedTwice { event, child });
            }
        }
        Ok(())
    }
}

/// Why an instance makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A full fence where the order of all fences would have to be known.
    #[error(
        "{event} is a full fence: under wra these are updates of one hidden location, and a trace does not say in which order"
    )]
    FenceWithoutOrder {
        /// The fence.
        event: EventId,
    },
    /// A source that is not there.
    #[error("{event} reads from {write}, which is not there")]
    NoSuchSource {
        /// The read.
        event: EventId,
        /// Its source.
        write: EventId,
    },
    /// A source that writes nothing.
    #[error("{event} reads from {write}, which writes nothing")]
    SourceIsNoWrite {
        /// The read.
        event: EventId,
        /// Its source.
        write: EventId,
    },
    /// A source that writes something else.
    #[error("{event} reads from {write}, which writes another location")]
    OtherLocation {
        /// The read.
        event: EventId,
        /// Its source.
        write: EventId,
    },
    /// An update of what it wrote itself.
    #[error("{event} reads from itself")]
    ReadsItself {
        /// The update.
        event: EventId,
    },
    /// A thread that is not there.
    #[error("{event} is about thread {child}, which is not there")]
    NoSuchThread {
        /// The spawn or join.
        event: EventId,
        /// The thread.
        child: ThreadId,
    },
    /// A thread that starts or awaits itself.
    #[error("{event} is about its own thread")]
    OwnChild {
        /// The spawn or join.
        event: EventId,
    },
    /// A thread that is started twice.
    #[error("{event} starts {child} a second time")]
    SpawnedTwice {
        /// The second spawn.
        event: EventId,
        /// The thread.
        child: ThreadId,
    },
    /// A location whose number is too large for tables.
    #[error("{event} is about location {}, and the largest number of a location is {MAX_LOC}", loc.0)]
    LocationTooLarge {
        /// The access.
        event: EventId,
        /// The location.
        loc: Loc,
    },
}
