//! VerifyPSO (Toman 2021, with another key): partial store order.
//!
//! The opposite of the search for TSO: it chooses thread events, and lets writes reach memory as late as possible. A write goes to memory only when a
//! read of another thread needs it or a fence of its own thread does; these drag it along. A write that nobody is yet to read any more is
//! *spurious* and goes as soon as it can.
//!
//! Beyond Toman 2021: a thread event that drags nothing along and is not an update is done as soon as it can be, without a choice
//! ([`crate::Settings::eager`]). If it can be done later it can be done now: what a read reads is held until then, and buffering a
//! write or passing a fence with an empty buffer takes nothing from anybody. What is left to choose is who drags.
//!
//! # What tells prefixes apart
//!
//! With the same thread events done, the writes in memory that were needed are the same, so the locations that are held are the same. The prefixes
//! differ in spurious writes only: some went to memory before their location was held, others are stuck behind the hold. Those that are stuck
//! keep fences from passing, so they matter.
//!
//! Toman 2021 tells prefixes apart by a *fence map*: for threads `t` and `t'` the last read of `t'` that must happen before `t` can pass its next
//! fence. That loses executions, in three ways:
//!
//! - A write that still has a reader in its own thread holds its location, too; the printed map leaves that case out. It is right to leave out
//!   only holders of `t` itself ([`Key::CorrectedFenceMap`]).
//! - A thread can be stuck without a fence: a write before an update of its own that reads what another thread wrote must reach memory before
//!   that write does.
//! - Behind a store-store fence a write can be stuck because an older one of another location is.
//!
//! So the key here ([`Key::Auto`]) is: nothing if nothing waits for empty buffers; else a bit for every thread and location, "the location is held and the
//! thread has a write to it in the buffer" ([`Key::Stuck`]); with store-store fences how much of each buffer is in memory ([`Key::Flushes`]). The bound of
//! `n^k · 2^(kd)` prefixes for `k` threads and `d` locations stays; the one in terms of `k` only is given up. Keys are taken when all spurious writes that can go are gone.
//!
//! # Store-store fences
//!
//! A write that is dragged drags what store-store fences put before it (Toman 2021). That is not enough. A write that nobody reads may have to be out before its
//! location is held: because of a read of its own thread, of another write. If it waits behind a store-store fence for a write that somebody is yet to read,
//! nothing drags that one in time. So a write that others of its thread wait for may also go to memory by choice. Nothing else needs one: as long as
//! nothing waits for a write, it can as well go when it is needed.
//!
//! # Under an order
//!
//! Thread events wait for the thread events that closure puts before them. What closure says about writes reaching memory is not asked for: a write
//! that has its place before the event may be left in the buffer here because nobody needs it yet.

use super::{Buffers, MemoryModel, Task};
use crate::order::Order;
use crate::prefix::{Move, Prefix};
use crate::replay::Write;
use crate::search::{End, Strategy};
use crate::settings::Key;
use crate::shape::{Kind, NONE, Shape};
use raddle_trace::{Step, StoreBuffer, ThreadId};

pub(crate) struct PartialStoreOrder;

impl MemoryModel for PartialStoreOrder {
    fn buffers(&self) -> Buffers {
        Buffers::PerLocation
    }

    fn arrival(&self, thread: ThreadId, loc: u64) -> Step {
        Step::FlushAt(thread, loc)
    }

    fn leaves(&self, buffer: &StoreBuffer<Write>, at: usize) -> bool {
        buffer.is_free(at)
    }

    fn search(&self, task: Task<'_>) -> End {
        let Task { shape, prefix, search, order, settings, limits, visited } = task;
        let key = if settings.key == Key::Auto { auto_key(shape) } else { settings.key };
        search.run(shape, prefix, &Pso { order, key, eager: settings.eager }, settings.order, limits, visited)
    }
}

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pso<'o> {
    /// An order every execution respects.
    pub(crate) order: Option<&'o Order>,
    pub(crate) key: Key,
    pub(crate) eager: bool,
}

/// The smallest key that is right for the shape.
fn auto_key(shape: &Shape) -> Key {
    if shape.has_store_fences {
        Key::Flushes
    } else if shape.has_fences {
        Key::Stuck
    } else {
        Key::Positions
    }
}

impl Pso<'_> {
    fn allows(&self, prefix: &Prefix, node: impl FnOnce(&Order) -> u32) -> bool {
        self.order.is_none_or(|order| order.allows_thread_events(prefix, node(order)))
    }

    /// Brings a write to memory, with everything that must go before it.
    fn drag(&self, shape: &Shape, prefix: &mut Prefix, write: u32) -> bool {
        if prefix.in_memory(shape, write) {
            return true;
        }
        if !prefix.has_done(shape, write) || !self.allows(prefix, |order| order.arrival(write)) {
            return false;
        }
        let op = shape.op(write);
        if shape.has_store_fences {
            flush_until(shape, prefix, shape.behind(write));
            flush_until(shape, prefix, &[(op.lane, op.lane_index + 1)]);
        } else if prefix.front(shape, op.lane as usize) == Some(write) && prefix.can_flush(shape, op.lane as usize) {
            prefix.apply(shape, Move::Flush(op.lane));
        }
        prefix.in_memory(shape, write)
    }

    /// The thread's next operation can be done without dragging a write along, and without writing to memory.
    fn can_step_alone(&self, shape: &Shape, prefix: &Prefix, thread: usize) -> bool {
        prefix.next(shape, thread).is_some_and(|(number, op)| {
            op.kind != Kind::Store && prefix.can_step(shape, number) && self.allows(prefix, |_| number)
        })
    }

    /// Empties the thread's buffers.
    fn drain(&self, shape: &Shape, prefix: &mut Prefix, thread: usize) -> bool {
        if prefix.is_drained(thread) {
            return true;
        }
        let lanes = shape.lanes_of(thread);
        if shape.has_store_fences {
            flush_until(shape, prefix, &lanes.map(|lane| (lane as u32, u32::MAX)).collect::<Vec<_>>());
        } else {
            for lane in lanes {
                while prefix.can_flush(shape, lane) {
                    prefix.apply(shape, Move::Flush(lane as u32));
                }
            }
        }
        prefix.is_drained(thread)
    }
}

/// Lets lanes go to memory up to these counts, as far as they can. In which order does not matter: whether a write can go depends on its
/// location, on other threads, and on what must be before it.
fn flush_until(shape: &Shape, prefix: &mut Prefix, counts: &[(u32, u32)]) {
    loop {
        let before = prefix.log.len();
        for &(lane, count) in counts {
            while prefix.done[lane as usize] < count && prefix.can_flush(shape, lane as usize) {
                prefix.apply(shape, Move::Flush(lane));
            }
        }
        if prefix.log.len() == before {
            return;
        }
    }
}

/// Something in the thread's buffers waits for the next write of the lane because of a store-store fence.
fn is_waited_for(shape: &Shape, prefix: &Prefix, lane: usize, write: u32) -> bool {
    let waits = |other: usize| {
        prefix.front(shape, other).is_some_and(|front| {
            shape.behind(front).iter().any(|&(before, count)| before as usize == lane && count > prefix.done[lane])
        })
    };
    shape.lanes_of(shape.op(write).thread as usize).any(waits)
}

impl Strategy for Pso<'_> {
    fn saturate(&self, shape: &Shape, prefix: &mut Prefix) {
        loop {
            let before = prefix.log.len();
            for lane in 0..shape.lanes() {
                while let Some(write) = prefix.front(shape, lane)
                    && !prefix.is_wanted(write)
                    && prefix.can_flush(shape, lane)
                {
                    prefix.apply(shape, Move::Flush(lane as u32));
                }
            }
            for thread in 0..if self.eager { shape.threads() } else { 0 } {
                while self.can_step_alone(shape, prefix, thread) {
                    prefix.apply(shape, Move::Step(thread as u32));
                }
            }
            if prefix.log.len() == before {
                return;
            }
        }
    }

    fn choices(&self, shape: &Shape, prefix: &Prefix, choices: &mut Vec<Move>) {
        let ready = (0..shape.threads())
            .filter(|&thread| prefix.next(shape, thread).is_some_and(|(number, _)| self.allows(prefix, |_| number)));
        choices.extend(ready.map(|thread| Move::Step(thread as u32)));
        if shape.has_store_fences {
            let waited_for = (0..shape.lanes()).filter(|&lane| {
                let front = prefix.front(shape, lane).filter(|&write| prefix.is_wanted(write));
                front.is_some_and(|write| prefix.can_flush(shape, lane) && is_waited_for(shape, prefix, lane, write))
            });
            choices.extend(waited_for.map(|lane| Move::Flush(lane as u32)));
        }
    }

    fn choose(&self, shape: &Shape, prefix: &mut Prefix, choice: Move) -> bool {
        let Move::Step(thread) = choice else {
            prefix.apply(shape, choice);
            return true;
        };
        let Some((number, op)) = prefix.next(shape, thread as usize) else { return false };
        let ready = match op.kind {
            Kind::Write | Kind::Pass => true,
            Kind::Fence | Kind::Join => self.drain(shape, prefix, thread as usize),
            Kind::Read => shape.is_local(op) || self.drag(shape, prefix, op.source),
            Kind::Store => op.source == NONE || self.drag(shape, prefix, op.source),
        };
        if ready && prefix.can_step(shape, number) {
            prefix.apply(shape, choice);
            return true;
        }
        false
    }

    fn key(&self, shape: &Shape, prefix: &Prefix, key: &mut Vec<u32>) {
        key.extend_from_slice(&prefix.pos);
        match self.key {
            Key::Positions => {}
            Key::Flushes => key.extend_from_slice(&prefix.done),
            Key::Auto | Key::Stuck => stuck_bits(shape, prefix, key),
            Key::PrintedFenceMap => fence_map(shape, prefix, true, key),
            Key::CorrectedFenceMap => fence_map(shape, prefix, false, key),
        }
    }
}

/// A bit per lane: its location is held, and something is in the lane.
fn stuck_bits(shape: &Shape, prefix: &Prefix, key: &mut Vec<u32>) {
    for first in (0..shape.lanes()).step_by(32) {
        let lanes = first..shape.lanes().min(first + 32);
        let stuck = lanes.filter(|&lane| prefix.has_pending(lane) && prefix.is_held(shape.op(shape.lane(lane)[0]).loc));
        key.push(stuck.fold(0, |bits, lane| bits | 1 << (lane - first)));
    }
}

/// For every two threads `t` and `t'` with a fence left in `t`: the number of the last read of `t'` that is yet to come, whose source holds its location,
/// to which `t` has a buffered write. Not counted if the source is of `t` or, as printed, of `t'`.
fn fence_map(shape: &Shape, prefix: &Prefix, printed: bool, key: &mut Vec<u32>) {
    for t in 0..shape.threads() {
        let rest = (shape.starts[t] + prefix.pos[t])..shape.starts[t + 1];
        let has_fence = { rest }.any(|op| matches!(shape.op(op).kind, Kind::Fence | Kind::Join));
        for other in (0..shape.threads()).filter(|&other| other != t) {
            let counts = |number: &u32| {
                let op = shape.op(*number);
                let of = |thread: usize| !shape.is_initial(op.source) && shape.op(op.source).thread == thread as u32;
                op.source != NONE
                    && prefix.in_memory(shape, op.source)
                    && has_pending_at(shape, prefix, t, op.loc)
                    && !of(t)
                    && !(printed && of(other))
            };
            let reads = (shape.starts[other] + prefix.pos[other])..shape.starts[other + 1];
            let last = if has_fence { { reads }.rev().find(counts) } else { None };
            key.push(last.map_or(0, |read| shape.index(read) + 1));
        }
    }
}

fn has_pending_at(shape: &Shape, prefix: &Prefix, thread: usize, loc: u32) -> bool {
    let lane = shape.lanes_of(thread).find(|&lane| shape.op(shape.lane(lane)[0]).loc == loc);
    lane.is_some_and(|lane| prefix.has_pending(lane))
}
