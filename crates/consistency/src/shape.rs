//! An instance made ready for a model: operations, buffers, and who waits for whom.
//!
//! The three models become one. Operations are numbered densely, thread by thread. Every write belongs to a *lane*, a queue of writes that
//! reach memory in order: one per thread under TSO (and SC), one per thread and location under PSO. Under SC every write goes to
//! memory at once, as an update does in every model; such operations are [`Kind::Store`], and a lane lists them, too.
//!
//! On store buffers an update becomes a fence and a store (Toman 2021 models it so, and the search for PSO relies on it), and a thread
//! somebody joins ends with a fence, so that a join has to look at the child's position only.
//!
//! Initial values are writes that nobody issues: the number of the one of location `x` is the number of operations plus `x`.

use crate::instance::{Action, Instance, Source};
use crate::models::{self, Buffers, MemoryModel};
use raddle_trace::{EventId, Model, ThreadId};

/// No operation, no event, no lane.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads.
    Read,
    /// Puts a write into the lane.
    Write,
    /// Writes to memory, having read if there is a source; the buffer is empty.
    Store,
    /// Waits for an empty buffer.
    Fence,
    /// Waits for an empty buffer and for the end of a thread.
    Join,
    /// Changes nothing.
    Pass,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    pub(crate) thread: u32,
    /// The location; of a join the child.
    pub(crate) loc: u32,
    /// What is read: an operation, an initial value, or [`NONE`].
    pub(crate) source: u32,
    /// Of a write its lane.
    pub(crate) lane: u32,
    /// Of a write its number in the lane.
    pub(crate) lane_index: u32,
    /// Its number among the events; [`NONE`] for what stands for no event.
    pub(crate) event: u32,
    /// How many store-store fences came before it in its thread.
    epoch: u32,
}

/// Lists of pairs, one list per number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    starts: Vec<u32>,
    items: Vec<(u32, u32)>,
}

impl Lists {
    /// Groups `(number, item)` by the number, keeping their order.
    fn fill(&mut self, lists: usize, pairs: &[(u32, (u32, u32))]) {
        self.starts.clear();
        self.starts.resize(lists + 1, 0);
        for &(list, _) in pairs {
            self.starts[list as usize + 1] += 1;
        }
        for list in 0..lists {
            self.starts[list + 1] += self.starts[list];
        }
        self.items.clear();
        self.items.resize(pairs.len(), (0, 0));
        for &(list, item) in pairs.iter().rev() {
            // Filled from behind, `starts[list + 1]` walks down to where the list begins.
            let at = &mut self.starts[list as usize + 1];
            *at -= 1;
            self.items[*at as usize] = item;
        }
        // Now `starts[list + 1]` is the beginning of `list`.
        self.starts.remove(0);
        self.starts.push(pairs.len() as u32);
    }

    pub(crate) fn of(&self, list: u32) -> &[(u32, u32)] {
        &self.items[self.starts[list as usize] as usize..self.starts[list as usize + 1] as usize]
    }
}

/// An instance made ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) model: &'static dyn MemoryModel,
    pub(crate) ops: Vec<Op>,
    /// Where the operations of each thread begin, and the end.
    pub(crate) starts: Vec<u32>,
    /// The spawn of each thread, or [`NONE`].
    pub(crate) spawns: Vec<u32>,
    pub(crate) locs: usize,
    /// Where each lane begins in `lane_ops`, and the end.
    lane_starts: Vec<u32>,
    lane_ops: Vec<u32>,
    /// The first lane of each thread, and the end.
    thread_lanes: Vec<u32>,
    /// How many reads every write has, initial ones included.
    pub(crate) readers: Vec<u32>,
    /// Per write `(lane, count)`: its readers' own earlier writes, which must be in memory before it.
    waits: Lists,
    /// Per write `(lane, count)`: what a store-store fence puts before it.
    behind: Lists,
    /// There are operations that wait for empty buffers.
    pub(crate) has_fences: bool,
    /// There are store-store fences that matter.
    pub(crate) has_store_fences: bool,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Location to its dense number.
    names: Vec<u32>,
    /// Event to its operation.
    op_of: Vec<u32>,
    /// Per location the last own write, and which thread that is about.
    last: Vec<(u32, u32)>,
    pairs: Vec<(u32, (u32, u32))>,
    joined: Vec<bool>,
    lane_of: Vec<u32>,
    counts: Vec<u32>,
}

/// A read that no execution can contain, whatever the rest does: its own thread has hidden the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// The operation that reads.
    pub(crate) read: u32,
    /// The own write it should have read, or the own later one it did read.
    pub(crate) write: u32,
}

impl Shape {
    pub(crate) fn threads(&self) -> usize {
        self.spawns.len()
    }

    pub(crate) fn lanes(&self) -> usize {
        self.lane_starts.len() - 1
    }

    /// The writes of a lane, in the order they reach memory.
    pub(crate) fn lane(&self, lane: usize) -> &[u32] {
        &self.lane_ops[self.lane_starts[lane] as usize..self.lane_starts[lane + 1] as usize]
    }

    pub(crate) fn lanes_of(&self, thread: usize) -> std::ops::Range<usize> {
        self.thread_lanes[thread] as usize..self.thread_lanes[thread + 1] as usize
    }

    /// How many operations the thread has.
    pub(crate) fn length(&self, thread: usize) -> u32 {
        self.starts[thread + 1] - self.starts[thread]
    }

    pub(crate) fn op(&self, op: u32) -> &Op {
        &self.ops[op as usize]
    }

    /// The number of an operation in its thread.
    pub(crate) fn index(&self, op: u32) -> u32 {
        op - self.starts[self.op(op).thread as usize]
    }

    /// Whether a source is an initial value.
    pub(crate) fn is_initial(&self, source: u32) -> bool {
        source as usize >= self.ops.len()
    }

    /// Whether a read reads a write of its own thread.
    pub(crate) fn is_local(&self, read: &Op) -> bool {
        !self.is_initial(read.source) && self.op(read.source).thread == read.thread
    }

    pub(crate) fn waits(&self, write: u32) -> &[(u32, u32)] {
        self.waits.of(write)
    }

    pub(crate) fn behind(&self, write: u32) -> &[(u32, u32)] {
        if self.has_store_fences { self.behind.of(write) } else { &[] }
    }

    /// Fills the shape from a valid instance, but for what reads read.
    pub(crate) fn build_without_sources(&mut self, instance: &Instance, model: Model) {
        self.model = models::machine(model);
        self.add_ops(instance);
        self.add_lanes();
    }

    /// Fills the shape from a valid instance. Tells a read that cannot be, if there is one.
    pub(crate) fn build(&mut self, instance: &Instance, model: Model) -> Result<(), Hidden> {
        self.build_without_sources(instance, model);
        self.resolve(instance);
        self.find_waits()?;
        if self.has_store_fences {
            self.find_behind();
        }
        Ok(())
    }

    /// Whether writes wait in buffers before they reach memory.
    pub(crate) fn is_buffered(&self) -> bool {
        self.model.buffers() != Buffers::None
    }

    fn add_ops(&mut self, instance: &Instance) {
        let (buffered, store_fences) = (self.is_buffered(), self.model.buffers() == Buffers::PerLocation);
        self.ops.clear();
        self.starts.clear();
        self.spawns.clear();
        self.spawns.resize(instance.threads(), NONE);
        (self.locs, self.has_fences, self.has_store_fences) = (0, false, false);
        let Scratch { names, op_of, joined, .. } = &mut self.scratch;
        names.clear();
        op_of.clear();
        joined.clear();
        joined.resize(instance.threads(), false);
        for (_, action) in instance.events() {
            if let Action::Join { child } = action {
                joined[child.index()] = true;
            }
        }
        let mut event = 0;
        for (thread, &joined) in joined.iter().enumerate() {
            self.starts.push(self.ops.len() as u32);
            let mut epoch = 0;
            let op = |kind, loc, event, epoch| Op {
                kind,
                thread: thread as u32,
                loc,
                source: NONE,
                lane: NONE,
                lane_index: 0,
                event,
                epoch,
            };
            for &action in instance.thread(ThreadId(thread as u32)) {
                let loc = match action {
                    Action::Join { child } => child.0,
                    _ => action.loc().map_or(NONE, |loc| {
                        let at = loc.index();
                        if names.len() <= at {
                            names.resize(at + 1, NONE);
                        }
                        if names[at] == NONE {
                            names[at] = self.locs as u32;
                            self.locs += 1;
                        }
                        names[at]
                    }),
                };
                let kind = match action {
                    Action::Read { .. } => Kind::Read,
                    Action::Write { .. } if buffered => Kind::Write,
                    Action::Write { .. } | Action::Update { .. } => Kind::Store,
                    Action::Fence | Action::Spawn { .. } => Kind::Fence,
                    Action::Join { .. } => Kind::Join,
                    Action::StoreFence | Action::Note => Kind::Pass,
                };
                if action == Action::StoreFence && store_fences {
                    epoch += 1;
                    self.has_store_fences = true;
                }
                if kind == Kind::Store && buffered {
                    self.ops.push(op(Kind::Fence, NONE, NONE, epoch));
                    self.has_fences = true;
                }
                self.has_fences |= buffered && matches!(kind, Kind::Fence | Kind::Join);
                if let Action::Spawn { child } = action {
                    self.spawns[child.index()] = self.ops.len() as u32;
                }
                op_of.push(self.ops.len() as u32);
                self.ops.push(op(kind, loc, event, epoch));
                event += 1;
            }
            if buffered && joined {
                self.ops.push(op(Kind::Fence, NONE, NONE, epoch));
                self.has_fences = true;
            }
        }
        self.starts.push(self.ops.len() as u32);
    }

    /// Puts every write into its lane.
    fn add_lanes(&mut self) {
        let per_location = self.model.buffers() == Buffers::PerLocation;
        let Scratch { lane_of, counts, .. } = &mut self.scratch;
        lane_of.clear();
        lane_of.resize(self.locs, NONE);
        self.thread_lanes.clear();
        counts.clear();
        let mut lanes = 0;
        for thread in 0..self.spawns.len() {
            self.thread_lanes.push(lanes);
            let first = lanes;
            if !per_location {
                lanes += 1;
                counts.push(0);
            }
            for op in &mut self.ops[self.starts[thread] as usize..self.starts[thread + 1] as usize] {
                if !matches!(op.kind, Kind::Write | Kind::Store) {
                    continue;
                }
                let lane = if per_location {
                    let lane = &mut lane_of[op.loc as usize];
                    if *lane == NONE || *lane < first {
                        *lane = lanes;
                        lanes += 1;
                        counts.push(0);
                    }
                    *lane
                } else {
                    first
                };
                op.lane = lane;
                op.lane_index = counts[lane as usize];
                counts[lane as usize] += 1;
            }
        }
        self.thread_lanes.push(lanes);
        self.lane_starts.clear();
        self.lane_starts.push(0);
        let mut total = 0;
        self.lane_starts.extend(counts.iter().map(|count| {
            total += count;
            total
        }));
        self.lane_ops.clear();
        self.lane_ops.resize(total as usize, NONE);
        for (number, op) in self.ops.iter().enumerate() {
            if op.lane != NONE {
                self.lane_ops[(self.lane_starts[op.lane as usize] + op.lane_index) as usize] = number as u32;
            }
        }
    }

    /// Finds the operation every read reads, and counts the readers.
    fn resolve(&mut self, instance: &Instance) {
        self.readers.clear();
        self.readers.resize(self.ops.len() + self.locs, 0);
        for (event, (_, action)) in instance.events().enumerate() {
            let Some(source) = action.source() else { continue };
            let op = self.scratch.op_of[event] as usize;
            let source = match source {
                Source::Initial => self.ops.len() as u32 + self.ops[op].loc,
                Source::Write(write) => self.scratch.op_of[instance.flat(write) as usize],
            };
            self.ops[op].source = source;
            self.readers[source as usize] += 1;
        }
    }

    /// Finds each read's last own write. If the read is of another write, the own one is in memory before that; if it is of an own
    /// one, it must be this.
    fn find_waits(&mut self) -> Result<(), Hidden> {
        let Scratch { last, pairs, .. } = &mut self.scratch;
        last.clear();
        last.resize(self.locs, (NONE, NONE));
        pairs.clear();
        for (number, op) in self.ops.iter().enumerate() {
            if op.source != NONE {
                let own = last[op.loc as usize];
                let own = if own.0 == op.thread { own.1 } else { NONE };
                let hidden = |write| Err(Hidden { read: number as u32, write });
                if op.source as usize >= self.ops.len() {
                    if own != NONE {
                        return hidden(own);
                    }
                } else if self.ops[op.source as usize].thread == op.thread {
                    if op.source != own {
                        return hidden(if op.source as usize > number { op.source } else { own });
                    }
                } else if own != NONE {
                    let own = &self.ops[own as usize];
                    pairs.push((op.source, (own.lane, own.lane_index + 1)));
                }
            }
            if op.lane != NONE {
                last[op.loc as usize] = (op.thread, number as u32);
            }
        }
        self.waits.fill(self.ops.len(), pairs);
        Ok(())
    }

    /// Finds what store-store fences put before each write.
    fn find_behind(&mut self) {
        let pairs = &mut self.scratch.pairs;
        pairs.clear();
        for thread in 0..self.spawns.len() {
            let lanes = self.thread_lanes[thread] as usize..self.thread_lanes[thread + 1] as usize;
            for number in self.starts[thread]..self.starts[thread + 1] {
                let op = &self.ops[number as usize];
                if op.kind != Kind::Write || op.epoch == 0 {
                    continue;
                }
                for lane in lanes.clone().filter(|&lane| lane as u32 != op.lane) {
                    let writes = &self.lane_ops[self.lane_starts[lane] as usize..self.lane_starts[lane + 1] as usize];
                    let earlier = writes.partition_point(|&write| self.ops[write as usize].epoch < op.epoch);
                    if earlier > 0 {
                        pairs.push((number, (lane as u32, earlier as u32)));
                    }
                }
            }
        }
        self.behind.fill(self.ops.len(), pairs);
    }

    /// The event of an operation.
    pub(crate) fn event(&self, instance: &Instance, op: u32) -> Option<EventId> {
        let Op { thread, event, .. } = *self.op(op);
        let thread = ThreadId(thread);
        (event != NONE).then(|| EventId::new(thread, event - instance.flat(EventId::new(thread, 0))))
    }
}
