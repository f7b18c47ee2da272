//! The search over positions and active writes, depth first, with moves that are taken back.

use super::{GoodWrites, ValueSettings};
use crate::instance::{Instance, Source};
use crate::order::Order;
use crate::shape::{Kind, NONE, Shape};
use crate::verify::Answer;
use raddle_trace::{Step, ThreadId};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// The question made ready, and how far the search is.
#[derive(Clone, Debug, Default)]
pub(super) struct Problem {
    pub(super) shape: Shape,
    /// Per operation where its good writes begin in `good`, and the end. Initial values are [`NONE`].
    good_starts: Vec<u32>,
    good: Vec<u32>,
    /// Per write where the reads it is good for begin, and the end.
    wanted_starts: Vec<u32>,
    wanted: Vec<u32>,
    reads: Vec<bool>,
    writes: Vec<Vec<u32>>,
    /// Locations that two threads write, whose active writes positions do not tell.
    shared: Vec<u32>,
    state: State,
}

#[derive(Clone, Debug, Default)]
struct State {
    pos: Vec<u32>,
    /// Per location the active write.
    active: Vec<u32>,
    /// Per read how many good writes are yet to come.
    left: Vec<u32>,
    /// Per location how many reads hold it.
    held: Vec<u32>,
    /// Per write how many reads that are yet to come it is good for; then per location the same of the initial value.
    useful: Vec<u32>,
    /// The threads that moved, each with the write that was active at the location before.
    log: Vec<(u32, u32)>,
}

/// A prefix on the way: the length of its log, and what is left to choose.
struct Frame {
    choices: Vec<u32>,
    mark: usize,
}

impl Problem {
    pub(super) fn is_read(&self, op: u32) -> bool {
        self.reads[op as usize]
    }

    /// The good writes of a read.
    pub(super) fn good(&self, read: u32) -> &[u32] {
        &self.good[self.good_starts[read as usize] as usize..self.good_starts[read as usize + 1] as usize]
    }

    pub(super) fn is_good(&self, read: u32, write: u32) -> bool {
        self.good(read).contains(&write)
    }

    /// All writes of the location of an operation.
    pub(super) fn writes_like(&self, op: u32) -> &[u32] {
        &self.writes[self.shape.op(op).loc as usize]
    }

    /// Takes over the good writes. The shape is there already.
    pub(super) fn fill(&mut self, instance: &Instance, good: &GoodWrites) {
        let count = self.shape.ops.len();
        self.good_starts.clear();
        self.good.clear();
        self.reads.clear();
        let mut read = 0;
        // Under SC every event is one operation, so their numbers are the same.
        for (_, action) in instance.events() {
            self.good_starts.push(self.good.len() as u32);
            self.reads.push(action.source().is_some());
            if action.source().is_some() {
                let start = self.good.len();
                self.good.extend(good.of_read(read).iter().map(|&source| match source {
                    Source::Initial => NONE,
                    Source::Write(write) => instance.flat(write),
                }));
                self.good[start..].sort_unstable();
                let mut kept = self.good.split_off(start);
                kept.dedup();
                self.good.append(&mut kept);
                read += 1;
            }
        }
        self.good_starts.push(self.good.len() as u32);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for read in 0..count as u32 {
            pairs.extend(self.good(read).iter().filter(|&&write| write != NONE).map(|&write| (write, read)));
        }
        pairs.sort_unstable();
        self.wanted_starts.clear();
        self.wanted_starts.extend((0..=count as u32).map(|write| pairs.partition_point(|pair| pair.0 < write) as u32));
        self.wanted.clear();
        self.wanted.extend(pairs.iter().map(|pair| pair.1));
        self.writes.clear();
        self.writes.resize(self.shape.locs, Vec::new());
        for (number, op) in self.shape.ops.iter().enumerate().filter(|(_, op)| op.lane != NONE) {
            self.writes[op.loc as usize].push(number as u32);
        }
        self.shared.clear();
        let thread = |write: &u32| self.shape.op(*write).thread;
        let two = |writes: &Vec<u32>| writes.windows(2).any(|pair| thread(&pair[0]) != thread(&pair[1]));
        self.shared.extend((0..self.shape.locs as u32).filter(|&loc| two(&self.writes[loc as usize])));
    }

    fn reset(&mut self) {
        let (count, locs) = (self.shape.ops.len(), self.shape.locs);
        let mut state = std::mem::take(&mut self.state);
        let refill = |target: &mut Vec<u32>, len, value| {
            target.clear();
            target.resize(len, value);
        };
        refill(&mut state.pos, self.shape.threads(), 0);
        refill(&mut state.active, locs, NONE);
        refill(&mut state.left, count, 0);
        refill(&mut state.held, locs, 0);
        refill(&mut state.useful, count + locs, 0);
        state.log.clear();
        for read in (0..count as u32).filter(|&read| self.is_read(read)) {
            let loc = self.shape.op(read).loc as usize;
            for &write in self.good(read) {
                if write == NONE {
                    state.useful[count + loc] += 1;
                } else {
                    state.useful[write as usize] += 1;
                    state.left[read as usize] += 1;
                }
            }
            state.held[loc] += u32::from(state.left[read as usize] == 0);
        }
        self.state = state;
    }

    /// The thread's next operation, if it can be done.
    fn next(&self, order: Option<&Order>, thread: usize) -> Option<u32> {
        let (shape, state) = (&self.shape, &self.state);
        let number = shape.starts[thread] + state.pos[thread];
        let done = |op: u32| {
            let thread = shape.op(op).thread as usize;
            shape.starts[thread] + state.pos[thread] > op
        };
        let started = |thread: usize| shape.spawns[thread] == NONE || done(shape.spawns[thread]);
        if number >= shape.starts[thread + 1] || !started(thread) {
            return None;
        }
        let op = shape.op(number);
        let loc = op.loc as usize;
        let reads = self.is_read(number);
        let can = match op.kind {
            Kind::Join => state.pos[loc] == shape.length(loc) && started(loc),
            Kind::Read => self.is_good(number, state.active[loc]),
            Kind::Store => {
                let own = u32::from(reads && state.left[number as usize] == 0);
                (!reads || self.is_good(number, state.active[loc])) && state.held[loc] == own
            }
            Kind::Write | Kind::Fence | Kind::Pass => true,
        };
        let allowed = |order: &Order| {
            let counts = state.pos.iter().enumerate();
            { counts }.all(|(other, &count)| order.count_before(number, other) - u32::from(other == thread) <= count)
        };
        (can && order.is_none_or(allowed)).then_some(number)
    }

    fn step(&mut self, number: u32) {
        let op = *self.shape.op(number);
        let loc = op.loc as usize;
        self.state.pos[op.thread as usize] += 1;
        if self.is_read(number) {
            self.count(number, false);
            self.state.held[loc] -= u32::from(self.state.left[number as usize] == 0);
        }
        let before = if op.kind == Kind::Store { self.state.active[loc] } else { NONE };
        self.state.log.push((op.thread, before));
        if op.kind == Kind::Store {
            self.state.active[loc] = number;
            let (from, to) = (self.wanted_starts[number as usize], self.wanted_starts[number as usize + 1]);
            for at in from..to {
                let read = self.wanted[at as usize];
                self.state.left[read as usize] -= 1;
                let holds = self.state.left[read as usize] == 0 && !self.is_done(read);
                self.state.held[loc] += u32::from(holds);
            }
        }
    }

    fn is_done(&self, op: u32) -> bool {
        let thread = self.shape.op(op).thread as usize;
        self.shape.starts[thread] + self.state.pos[thread] > op
    }

    /// Counts a read in or out as one that its good writes are useful for.
    fn count(&mut self, read: u32, more: bool) {
        let initial = self.shape.ops.len() + self.shape.op(read).loc as usize;
        for at in self.good_starts[read as usize]..self.good_starts[read as usize + 1] {
            let write = self.good[at as usize];
            let useful = &mut self.state.useful[if write == NONE { initial } else { write as usize }];
            *useful = if more { *useful + 1 } else { *useful - 1 };
        }
    }

    fn undo_to(&mut self, mark: usize) {
        while self.state.log.len() > mark {
            let (thread, before) = self.state.log.pop().expect("the log is longer than that");
            let number = self.shape.starts[thread as usize] + self.state.pos[thread as usize] - 1;
            let op = *self.shape.op(number);
            let loc = op.loc as usize;
            if op.kind == Kind::Store {
                for at in self.wanted_starts[number as usize]..self.wanted_starts[number as usize + 1] {
                    let read = self.wanted[at as usize];
                    let held = self.state.left[read as usize] == 0 && !self.is_done(read);
                    self.state.held[loc] -= u32::from(held);
                    self.state.left[read as usize] += 1;
                }
                self.state.active[loc] = before;
            }
            if self.is_read(number) {
                self.state.held[loc] += u32::from(self.state.left[number as usize] == 0);
                self.count(number, true);
            }
            self.state.pos[thread as usize] -= 1;
        }
    }

    /// Nobody that is yet to come can want what is active there.
    fn is_dead(&self, loc: usize) -> bool {
        let active = self.state.active[loc];
        let at = if active == NONE { self.shape.ops.len() + loc } else { active as usize };
        self.state.useful[at] == 0
    }

    /// Does what can be done without a choice.
    fn saturate(&mut self, order: Option<&Order>) {
        loop {
            let before = self.state.log.len();
            for thread in 0..self.shape.threads() {
                while let Some(number) = self.next(order, thread) {
                    let op = self.shape.op(number);
                    let safe = match op.kind {
                        Kind::Store => {
                            let unwanted = self.state.useful[number as usize] == 0;
                            unwanted && !self.is_read(number) && self.is_dead(op.loc as usize)
                        }
                        _ => true,
                    };
                    if !safe {
                        break;
                    }
                    self.step(number);
                }
            }
            if self.state.log.len() == before {
                return;
            }
        }
    }

    fn key(&self) -> Box<[u32]> {
        let thread = |write: u32| if write == NONE { NONE } else { self.shape.op(write).thread };
        let active = self.shared.iter().map(|&loc| thread(self.state.active[loc as usize]));
        self.state.pos.iter().copied().chain(active).collect()
    }

    fn choices(&self, order: Option<&Order>, rank: &[u32]) -> Vec<u32> {
        let threads = 0..self.shape.threads();
        let mut choices: Vec<u32> = threads.filter_map(|thread| self.next(order, thread)).collect();
        if !rank.is_empty() {
            // Taken from behind.
            choices.sort_by_key(|&number| std::cmp::Reverse(rank[number as usize]));
        }
        choices
    }

    /// Looks for a witness.
    pub(super) fn search(
        &mut self,
        instance: &Instance,
        order: Option<&Order>,
        settings: &ValueSettings<'_>,
        visited: &mut u64,
    ) -> Answer {
        let mut rank = Vec::new();
        if let Some(guide) = settings.guide {
            rank.resize(self.shape.ops.len(), NONE);
            for (at, &event) in guide.iter().enumerate().filter(|(_, event)| instance.get(**event).is_some()) {
                rank[instance.flat(event) as usize] = at as u32;
            }
        }
        self.reset();
        let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
        let mut way: Vec<Frame> = Vec::new();
        loop {
            if settings.greedy {
                self.saturate(order);
            }
            if self.state.log.len() == self.shape.ops.len() {
                let steps = self.state.log.iter().map(|&(thread, _)| Step::Run(ThreadId(thread)));
                return Answer::Consistent(steps.collect());
            }
            let key = self.key();
            let bytes = seen.len() as u64 * (4 * key.len() as u64 + 48);
            if seen.insert(key) {
                *visited += 1;
                let limits = &settings.limits;
                let late = || limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
                if *visited > limits.prefixes || bytes > limits.bytes || (visited.is_multiple_of(64) && late()) {
                    return Answer::Unknown;
                }
                way.push(Frame { choices: self.choices(order, &rank), mark: self.state.log.len() });
            }
            // Back to the last prefix with a choice left, and on with that.
            loop {
                let Some(frame) = way.last_mut() else { return Answer::Inconsistent };
                let (mark, choice) = (frame.mark, frame.choices.pop());
                self.undo_to(mark);
                if let Some(number) = choice {
                    self.step(number);
                    break;
                }
                way.pop();
            }
        }
    }
}
