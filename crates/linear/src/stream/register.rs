//! A register whose values are written once, while it is being read.
//!
//! All operations on one value form a cluster; let `f` be the first return and `s` the last call in it. Two clusters `u` and `v`
//! clash iff `f(u) < s(v)` and `f(v) < s(u)`: then each had begun to be there before the other had ceased. A history is linearizable iff no two
//! clusters clash and no value is read before its write was called. (Two overlapping forward zones, or a backward zone inside a forward
//! one, in the usual terms.)
//!
//! `f` is known from the first return on. For each value we keep `k(u)`, the least `f(v)` over all `v` with `s(v) > f(u)`: from then on `u` was
//! overwritten, and `u` clashes iff `s(u) > k(u)`. A value can be forgotten once every read that is open, or will be, was called after `k(u)`: to
//! read it then is as wrong as to read a value that was never written.
//!
//! After Gibbons and Korach 1997. Holds: open operations, the current candidates, and values overwritten since the oldest open
//! read was called. Cost: linear in what is held, an event.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::multiset::renamed;
use super::{Seen, Trouble, Watcher, Wrong};
use crate::history::{Method, Op, Ts};
use crate::value::{ValueId, Values};

/// Times start at 1 here, so that the initial value can come before everything.
type Time = u64;
const NEVER: Time = Time::MAX;

fn time(at: Ts) -> Time {
    u64::from(at.0) + 1
}

struct Cluster {
    first_return: Time,
    last_call: Time,
    overwritten: Time,
    /// Whether somebody has read it.
    read: bool,
    /// Whether its write is still open; until then it is not forgotten, so that a second write of the value is noticed.
    writing: bool,
}

/// Watches a register.
pub struct RegisterWatcher {
    clusters: FxHashMap<ValueId, Cluster>,
    reads: BTreeSet<Ts>,
    /// The empty text, if nothing is there at the beginning: reading it may mean that.
    blank: Option<ValueId>,
}

impl RegisterWatcher {
    /// A register that holds this value at the beginning; the number of the empty text.
    pub fn new(initial: ValueId, empty: ValueId) -> RegisterWatcher {
        let before = Cluster { first_return: 0, last_call: 0, overwritten: NEVER, read: false, writing: false };
        let blank = (initial == ValueId::NIL).then_some(empty);
        RegisterWatcher { clusters: FxHashMap::from_iter([(initial, before)]), reads: BTreeSet::new(), blank }
    }

    /// An operation on a value returned.
    fn extend(&mut self, value: ValueId, call: Ts, ret: Ts, read: bool) -> Seen {
        if self.blank == Some(value) {
            let why = "the empty text may mean that nothing is there, which the monitor of registers does not cover";
            return Err(Trouble::Unsupported(Wrong::new(why, &[])));
        }
        let Some(cluster) = self.clusters.get_mut(&value) else {
            return Err(Trouble::Wrong(Wrong::new(
                "{0} was read, but it was never written or had been overwritten",
                &[value],
            )));
        };
        cluster.first_return = cluster.first_return.min(time(ret));
        cluster.last_call = cluster.last_call.max(time(call));
        cluster.read |= read;
        cluster.writing &= read;
        let (first, last, overwritten) = (cluster.first_return, cluster.last_call, cluster.overwritten);
        if last > overwritten {
            return Err(Trouble::Wrong(Wrong::new("{0} was read after it had been overwritten", &[value])));
        }
        for (other, cluster) in &mut self.clusters {
            if *other != value && last > cluster.first_return && first < cluster.overwritten {
                cluster.overwritten = first;
                if cluster.last_call > first {
                    let message = "{0} and {1} were each there before the other had gone";
                    return Err(Trouble::Wrong(Wrong::new(message, &[*other, value])));
                }
            }
        }
        let oldest = self.reads.first().copied().map_or(time(ret), time);
        self.clusters.retain(|_, cluster| cluster.overwritten >= oldest || cluster.writing);
        Ok(())
    }
}

impl Watcher for RegisterWatcher {
    fn called(&mut self, op: &Op) -> Seen {
        match op.method {
            Method::Read => {
                self.reads.insert(op.call);
            }
            Method::Write => {
                let cluster = Cluster {
                    first_return: NEVER,
                    last_call: time(op.call),
                    overwritten: NEVER,
                    read: false,
                    writing: true,
                };
                if self.clusters.insert(op.arg, cluster).is_some() {
                    let why =
                        "{0} is written while it may still be there; its monitor needs values that are written once";
                    return Err(Trouble::Unsupported(Wrong::new(why, &[op.arg])));
                }
            }
            _ => {
                let why = "only reads and writes are covered by the monitor of registers";
                return Err(Trouble::Unsupported(Wrong::new(why, &[])));
            }
        }
        Ok(())
    }

    fn returned(&mut self, op: &Op, _: &mut Values) -> Seen {
        match (op.method, op.result) {
            (Method::Read, Some(value)) => {
                self.reads.remove(&op.call);
                self.extend(value, op.call, op.ret, true)
            }
            // Nobody knows what it read.
            (Method::Read, None) => {
                self.reads.remove(&op.call);
                Ok(())
            }
            _ => self.extend(op.arg, op.call, op.ret, false),
        }
    }

    fn vanished(&mut self, op: &Op) -> Seen {
        self.reads.remove(&op.call);
        if op.method == Method::Write && self.clusters.remove(&op.arg).is_some_and(|cluster| cluster.read) {
            return Err(Trouble::Wrong(Wrong::new("the write of {0} had no effect, yet it was read", &[op.arg])));
        }
        Ok(())
    }

    fn lost(&mut self, op: &Op) -> Seen {
        self.reads.remove(&op.call);
        Ok(())
    }

    fn finish(&mut self, _: &mut Values) -> Result<Option<String>, Trouble> {
        Ok(None)
    }

    fn held(&self) -> usize {
        self.clusters.len() + self.reads.len()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.blank.iter_mut().for_each(&mut *visit);
        self.clusters =
            self.clusters.drain().map(|(mut value, cluster)| (renamed(&mut value, visit), cluster)).collect();
    }
}
