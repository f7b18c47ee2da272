//! VerifyTSO (Toman 2021): total store order, and sequential consistency as the case in which every write goes to memory at once.
//!
//! For a set of writes that have reached memory there is one largest set of thread events that can be done, and it serves every execution
//! with these writes. So the search does whatever threads can do without touching memory, and chooses only which thread's next write reaches
//! memory: at most `n^k` prefixes for `n` writes in each of `k` threads, told apart by how many writes of each thread are in memory.
//!
//! A write may reach memory unless it overwrites what somebody is yet to read, or overtakes an own write of one of its readers. An update
//! is a write that is chosen together with its read. Under SC this is the search over position vectors with reads
//! done as early as possible.
//!
//! Beyond Toman 2021: a write that nobody is yet to read goes to memory as soon as it can ([`crate::Settings::eager`]). Nothing is lost: if a later
//! moment is right, so is this one, since nobody wants what it overwrites, and nobody reads it before it is overwritten in turn.

use super::{Buffers, MemoryModel, Task};
use crate::order::Order;
use crate::prefix::{Move, Prefix};
use crate::replay::Write;
use crate::search::{End, Strategy};
use crate::shape::{Kind, Shape};
use raddle_trace::{Step, StoreBuffer, ThreadId};

pub(crate) struct TotalStoreOrder;

impl MemoryModel for TotalStoreOrder {
    fn buffers(&self) -> Buffers {
        Buffers::PerThread
    }

    fn arrival(&self, thread: ThreadId, _: u64) -> Step {
        Step::Flush(thread)
    }

    fn leaves(&self, _: &StoreBuffer<Write>, at: usize) -> bool {
        at == 0
    }

    fn search(&self, task: Task<'_>) -> End {
        search(task)
    }
}

/// The search for an execution.
pub(super) fn search(task: Task<'_>) -> End {
    let Task { shape, prefix, search, order, settings, limits, visited } = task;
    search.run(shape, prefix, &Tso { order, eager: settings.eager }, settings.order, limits, visited)
}

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tso<'o> {
    /// An order every execution respects.
    pub(crate) order: Option<&'o Order>,
    pub(crate) eager: bool,
}

impl Tso<'_> {
    fn allows(&self, prefix: &Prefix, node: impl FnOnce(&Order) -> u32) -> bool {
        self.order.is_none_or(|order| order.allows(prefix, node(order)))
    }

    /// The thread's next operation is not a store and can be done.
    fn can_step(&self, shape: &Shape, prefix: &Prefix, thread: usize) -> bool {
        prefix.next(shape, thread).is_some_and(|(number, op)| {
            op.kind != Kind::Store && prefix.can_step(shape, number) && self.allows(prefix, |_| number)
        })
    }

    /// The thread's next write to reach memory, as a move, if it can be made.
    fn memory_move(&self, shape: &Shape, prefix: &Prefix, thread: usize) -> Option<(u32, Move)> {
        if let Some(write) = prefix.front(shape, thread) {
            let can = prefix.can_flush(shape, thread) && self.allows(prefix, |order| order.arrival(write));
            return can.then_some((write, Move::Flush(thread as u32)));
        }
        let (number, op) = prefix.next(shape, thread)?;
        let can = op.kind == Kind::Store && prefix.can_store(shape, number) && self.allows(prefix, |_| number);
        can.then_some((number, Move::Step(thread as u32)))
    }
}

impl Strategy for Tso<'_> {
    fn saturate(&self, shape: &Shape, prefix: &mut Prefix) {
        loop {
            let before = prefix.log.len();
            for thread in 0..shape.threads() {
                while self.can_step(shape, prefix, thread) {
                    prefix.apply(shape, Move::Step(thread as u32));
                }
                if !self.eager {
                    continue;
                }
                while let Some((write, what)) = self.memory_move(shape, prefix, thread)
                    && !prefix.is_wanted(write)
                {
                    prefix.apply(shape, what);
                }
            }
            if prefix.log.len() == before {
                return;
            }
        }
    }

    fn choices(&self, shape: &Shape, prefix: &Prefix, choices: &mut Vec<Move>) {
        let moves = (0..shape.threads()).filter_map(|thread| self.memory_move(shape, prefix, thread));
        choices.extend(moves.map(|(_, what)| what));
    }

    fn choose(&self, shape: &Shape, prefix: &mut Prefix, choice: Move) -> bool {
        prefix.apply(shape, choice);
        true
    }

    fn key(&self, _: &Shape, prefix: &Prefix, key: &mut Vec<u32>) {
        key.extend_from_slice(&prefix.done);
    }
}
