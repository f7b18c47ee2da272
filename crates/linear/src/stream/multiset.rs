//! A multiset while it is being read: at no moment more removes returned than adds called.
//!
//! An add that ends without effect turns out never to have counted, also at the moments that have passed since its call. So for each value we
//! keep, between the calls of adds that are still open, the least count there was; such an add takes one from all of them since its call.
//!
//! Holds: the values that are stored, and those with open adds. Cost: linear in the open adds of the value, an event.

use rustc_hash::FxHashMap;

use super::{Seen, Trouble, Watcher, Wrong};
use crate::history::{Method, Op, Ts};
use crate::value::{ValueId, Values};

/// What is known of one value.
#[derive(Default)]
struct Count {
    /// Adds called less removes returned.
    now: u64,
    /// The open adds in order of their calls, each with the least count between its call and the next one's.
    open: Vec<(Ts, u64)>,
}

/// Watches a multiset.
#[derive(Default)]
pub struct MultisetWatcher {
    counts: FxHashMap<ValueId, Count>,
}

impl MultisetWatcher {
    /// An add is open no longer; whether it had no effect.
    fn close(&mut self, op: &Op, vanished: bool) -> Seen {
        let Some(count) = self.counts.get_mut(&op.arg) else {
            return Ok(());
        };
        let Some(at) = count.open.iter().position(|(call, _)| *call == op.call) else {
            return Ok(());
        };
        if vanished {
            if count.open[at..].iter().any(|(_, least)| *least == 0) || count.now == 0 {
                let message = "an add of {0} had no effect, yet its value was removed";
                return Err(Trouble::Wrong(Wrong::new(message, &[op.arg])));
            }
            count.now -= 1;
            count.open[at..].iter_mut().for_each(|(_, least)| *least -= 1);
        }
        let (_, least) = count.open.remove(at);
        if let Some((_, before)) = at.checked_sub(1).and_then(|before| count.open.get_mut(before)) {
            *before = least.min(*before);
        }
        if count.now == 0 && count.open.is_empty() {
            self.counts.remove(&op.arg);
        }
        Ok(())
    }
}

impl Watcher for MultisetWatcher {
    fn called(&mut self, op: &Op) -> Seen {
        match op.method {
            Method::Insert => {
                let count = self.counts.entry(op.arg).or_default();
                count.now += 1;
                count.open.push((op.call, count.now));
            }
            Method::Remove => {}
            _ => {
                let why = "membership queries and reads of a multiset are not covered by its monitor";
                return Err(Trouble::Unsupported(Wrong::new(why, &[])));
            }
        }
        Ok(())
    }

    fn returned(&mut self, op: &Op, _: &mut Values) -> Seen {
        match (op.method, op.result) {
            (Method::Insert, Some(ValueId::FALSE)) => {
                Err(Trouble::Wrong(Wrong::new("an add of {0} failed, and an add to a multiset never does", &[op.arg])))
            }
            (Method::Insert, _) => self.close(op, false),
            (Method::Remove, Some(ValueId::TRUE)) => {
                let count = self.counts.get_mut(&op.arg).filter(|count| count.now > 0);
                let Some(count) = count else {
                    let message = "more removes of {0} have returned than adds were called";
                    return Err(Trouble::Wrong(Wrong::new(message, &[op.arg])));
                };
                count.now -= 1;
                match count.open.last_mut() {
                    Some((_, least)) => *least = count.now.min(*least),
                    None if count.now == 0 => {
                        self.counts.remove(&op.arg);
                    }
                    None => {}
                }
                Ok(())
            }
            _ => {
                let why = "failed removes on a multiset are not covered by its monitor";
                Err(Trouble::Unsupported(Wrong::new(why, &[])))
            }
        }
    }

    fn vanished(&mut self, op: &Op) -> Seen {
        match op.method {
            Method::Insert => self.close(op, true),
            _ => Ok(()),
        }
    }

    fn lost(&mut self, op: &Op) -> Seen {
        // It counts for ever, as if it had returned.
        self.close(op, false)
    }

    fn finish(&mut self, _: &mut Values) -> Result<Option<String>, Trouble> {
        Ok(None)
    }

    fn held(&self) -> usize {
        self.counts.len()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.counts = self.counts.drain().map(|(mut value, count)| (renamed(&mut value, visit), count)).collect();
    }
}

/// A value after `visit` has seen it.
pub(super) fn renamed(value: &mut ValueId, visit: &mut dyn FnMut(&mut ValueId)) -> ValueId {
    visit(value);
    *value
}
