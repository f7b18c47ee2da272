//! A prefix of an execution: how far each thread is, and how much of each lane has reached memory.
//!
//! Which write is the last one in memory need not be remembered. A write that somebody still wants to read must stay the last one of its
//! location; so a location is *held* while a write in memory has unexecuted readers, and where nobody holds it, nobody
//! cares which write it was. Moves are logged and can be undone.

use crate::shape::{Kind, Op, Shape};

/// A move: a thread's next operation, or the next write of a lane reaching memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Step(u32),
    Flush(u32),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix {
    /// Per thread how many operations are done.
    pub(crate) pos: Vec<u32>,
    /// Per lane how many writes are in memory.
    pub(crate) done: Vec<u32>,
    /// Per lane how many writes were issued.
    issued: Vec<u32>,
    /// Per thread how many writes are buffered.
    pending: Vec<u32>,
    /// Per write, initial ones included, how many readers are yet to come.
    wanted: Vec<u32>,
    /// Per location how many writes in memory are wanted.
    held: Vec<u32>,
    /// Operations still to come.
    left: u32,
    pub(crate) log: Vec<Move>,
}

fn refill(target: &mut Vec<u32>, len: usize) {
    target.clear();
    target.resize(len, 0);
}

impl Prefix {
    /// Nothing has happened.
    pub(crate) fn reset(&mut self, shape: &Shape) {
        refill(&mut self.pos, shape.threads());
        refill(&mut self.pending, shape.threads());
        refill(&mut self.done, shape.lanes());
        refill(&mut self.issued, shape.lanes());
        refill(&mut self.held, shape.locs);
        self.wanted.clone_from(&shape.readers);
        for loc in 0..shape.locs {
            self.held[loc] = u32::from(self.wanted[shape.ops.len() + loc] > 0);
        }
        self.left = shape.ops.len() as u32;
        self.log.clear();
    }

    /// What [`Prefix::load`] takes.
    pub(crate) fn save(&self, into: &mut Vec<u32>) {
        into.extend_from_slice(&self.pos);
        into.extend_from_slice(&self.done);
    }

    /// The prefix with these positions and flush counts, with an empty log.
    pub(crate) fn load(&mut self, shape: &Shape, saved: &[u32]) {
        self.reset(shape);
        let (pos, done) = saved.split_at(shape.threads());
        for (thread, &target) in pos.iter().enumerate() {
            self.pos[thread] = target;
            self.left -= target;
            let start = shape.starts[thread];
            for op in &shape.ops[start as usize..(start + target) as usize] {
                if op.source != crate::shape::NONE {
                    self.wanted[op.source as usize] -= 1;
                }
                if op.lane != crate::shape::NONE {
                    self.issued[op.lane as usize] += 1;
                    self.pending[thread] += 1;
                }
            }
        }
        for (loc, held) in self.held.iter_mut().enumerate() {
            *held = u32::from(self.wanted[shape.ops.len() + loc] > 0);
        }
        for (lane, &count) in done.iter().enumerate() {
            self.done[lane] = count;
            for &op in &shape.lane(lane)[..count as usize] {
                self.pending[shape.op(op).thread as usize] -= 1;
                if self.wanted[op as usize] > 0 {
                    self.held[shape.op(op).loc as usize] += 1;
                }
            }
        }
    }

    /// Every operation is done.
    pub(crate) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// The thread's next operation, if it has one and has been started.
    pub(crate) fn next<'s>(&self, shape: &'s Shape, thread: usize) -> Option<(u32, &'s Op)> {
        let number = shape.starts[thread] + self.pos[thread];
        (number < shape.starts[thread + 1] && self.is_started(shape, thread)).then(|| (number, shape.op(number)))
    }

    fn is_started(&self, shape: &Shape, thread: usize) -> bool {
        let spawn = shape.spawns[thread];
        spawn == crate::shape::NONE || self.has_done(shape, spawn)
    }

    /// The operation is behind us.
    pub(crate) fn has_done(&self, shape: &Shape, op: u32) -> bool {
        let thread = shape.op(op).thread as usize;
        shape.starts[thread] + self.pos[thread] > op
    }

    pub(crate) fn is_finished(&self, shape: &Shape, thread: usize) -> bool {
        self.pos[thread] == shape.length(thread) && self.is_started(shape, thread)
    }

    /// The next write of the lane, if it is issued already.
    pub(crate) fn front(&self, shape: &Shape, lane: usize) -> Option<u32> {
        (self.done[lane] < self.issued[lane]).then(|| shape.lane(lane)[self.done[lane] as usize])
    }

    pub(crate) fn has_pending(&self, lane: usize) -> bool {
        self.done[lane] < self.issued[lane]
    }

    /// The thread's buffer is empty.
    pub(crate) fn is_drained(&self, thread: usize) -> bool {
        self.pending[thread] == 0
    }

    /// Somebody is yet to read this write.
    pub(crate) fn is_wanted(&self, write: u32) -> bool {
        self.wanted[write as usize] > 0
    }

    pub(crate) fn is_held(&self, loc: u32) -> bool {
        self.held[loc as usize] > 0
    }

    /// The write has reached memory.
    pub(crate) fn in_memory(&self, shape: &Shape, write: u32) -> bool {
        if shape.is_initial(write) {
            return true;
        }
        let op = shape.op(write);
        self.done[op.lane as usize] > op.lane_index
    }

    fn waited(&self, list: &[(u32, u32)]) -> bool {
        list.iter().all(|&(lane, count)| self.done[lane as usize] >= count)
    }

    /// The next write of the lane may reach memory: it overwrites nothing that is wanted, and its readers' own writes are out of
    /// its way.
    pub(crate) fn can_flush(&self, shape: &Shape, lane: usize) -> bool {
        self.front(shape, lane).is_some_and(|write| {
            !self.is_held(shape.op(write).loc) && self.waited(shape.waits(write)) && self.waited(shape.behind(write))
        })
    }

    /// The read would read its source now. An own write needs no look: buffered it is found there, and in memory it is held.
    pub(crate) fn can_read(&self, shape: &Shape, op: &Op) -> bool {
        shape.is_local(op) || self.in_memory(shape, op.source)
    }

    /// The store would read its source, and overwrites nothing that others want.
    pub(crate) fn can_store(&self, shape: &Shape, number: u32) -> bool {
        let op = shape.op(number);
        let free = if op.source == crate::shape::NONE {
            !self.is_held(op.loc)
        } else {
            self.in_memory(shape, op.source) && self.wanted[op.source as usize] == 1
        };
        free && self.is_drained(op.thread as usize) && self.waited(shape.waits(number))
    }

    /// The operation can be done now.
    pub(crate) fn can_step(&self, shape: &Shape, number: u32) -> bool {
        let op = shape.op(number);
        match op.kind {
            Kind::Read => self.can_read(shape, op),
            Kind::Write | Kind::Pass => true,
            Kind::Store => self.can_store(shape, number),
            Kind::Fence => self.is_drained(op.thread as usize),
            Kind::Join => self.is_drained(op.thread as usize) && self.is_finished(shape, op.loc as usize),
        }
    }

    pub(crate) fn apply(&mut self, shape: &Shape, what: Move) {
        self.log.push(what);
        match what {
            Move::Step(thread) => self.step(shape, thread as usize),
            Move::Flush(lane) => {
                let write = shape.lane(lane as usize)[self.done[lane as usize] as usize];
                self.pending[shape.op(write).thread as usize] -= 1;
                self.arrive(shape, write);
            }
        }
    }

    fn step(&mut self, shape: &Shape, thread: usize) {
        let number = shape.starts[thread] + self.pos[thread];
        let op = shape.op(number);
        self.pos[thread] += 1;
        self.left -= 1;
        if op.source != crate::shape::NONE {
            self.wanted[op.source as usize] -= 1;
            if self.wanted[op.source as usize] == 0 && self.in_memory(shape, op.source) {
                self.held[op.loc as usize] -= 1;
            }
        }
        match op.kind {
            Kind::Write => {
                self.issued[op.lane as usize] += 1;
                self.pending[thread] += 1;
            }
            Kind::Store => {
                self.issued[op.lane as usize] += 1;
                self.arrive(shape, number);
            }
            _ => {}
        }
    }

    fn arrive(&mut self, shape: &Shape, write: u32) {
        let op = shape.op(write);
        self.done[op.lane as usize] += 1;
        self.held[op.loc as usize] += u32::from(self.is_wanted(write));
    }

    fn depart(&mut self, shape: &Shape, write: u32) {
        let op = shape.op(write);
        self.done[op.lane as usize] -= 1;
        self.held[op.loc as usize] -= u32::from(self.is_wanted(write));
    }

    /// Takes moves back until the log has this length.
    pub(crate) fn undo_to(&mut self, shape: &Shape, len: usize) {
        while self.log.len() > len {
            match self.log.pop().expect("the log is longer than that") {
                Move::Step(thread) => self.unstep(shape, thread as usize),
                Move::Flush(lane) => {
                    let write = shape.lane(lane as usize)[self.done[lane as usize] as usize - 1];
                    self.depart(shape, write);
                    self.pending[shape.op(write).thread as usize] += 1;
                }
            }
        }
    }

    fn unstep(&mut self, shape: &Shape, thread: usize) {
        self.pos[thread] -= 1;
        self.left += 1;
        let number = shape.starts[thread] + self.pos[thread];
        let op = shape.op(number);
        match op.kind {
            Kind::Write => {
                self.issued[op.lane as usize] -= 1;
                self.pending[thread] -= 1;
            }
            Kind::Store => {
                self.depart(shape, number);
                self.issued[op.lane as usize] -= 1;
            }
            _ => {}
        }
        if op.source != crate::shape::NONE {
            if self.wanted[op.source as usize] == 0 && self.in_memory(shape, op.source) {
                self.held[op.loc as usize] += 1;
            }
            self.wanted[op.source as usize] += 1;
        }
    }

    /// Lets everything that is buffered reach memory, oldest first. To be called when nobody wants anything any more.
    pub(crate) fn flush_all(&mut self, shape: &Shape) {
        loop {
            let before = self.log.len();
            for lane in 0..shape.lanes() {
                while self.can_flush(shape, lane) {
                    self.apply(shape, Move::Flush(lane as u32));
                }
            }
            if self.log.len() == before {
                return;
            }
        }
    }
}
