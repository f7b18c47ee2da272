//! A multiset while it is being read: never more removes returned than adds called.

use rustc_hash::FxHashMap;

use super::{Seen, Trouble, Watcher, Wrong};
use crate::history::{Method, Op};
use crate::value::ValueId;

/// Watches a multiset.
#[derive(Default)]
pub struct MultisetWatcher {
    /// Adds called less removes returned.
    counts: FxHashMap<ValueId, u64>,
}

impl MultisetWatcher {
    fn take(&mut self, op: &Op, message: &str) -> Seen {
        match self.counts.get_mut(&op.arg) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) => {
                self.counts.remove(&op.arg);
            }
            None => return Err(Trouble::Wrong(Wrong::new(message, &[op.arg]))),
        }
        Ok(())
    }
}

impl Watcher for MultisetWatcher {
    fn called(&mut self, op: &Op) -> Seen {
        match op.method {
            Method::Insert => *self.counts.entry(op.arg).or_default() += 1,
            Method::Remove => {}
            _ => {
                let why = "membership queries on a multiset cannot be streamed; leave out --stream";
                return Err(Trouble::Unsupported(Wrong::new(why, &[])));
            }
        }
        Ok(())
    }

    fn returned(&mut self, op: &Op) -> Seen {
        match (op.method, op.result) {
            (Method::Remove, Some(ValueId::TRUE)) => {
                self.take(op, "more removes of {0} have returned than adds were called")
            }
            (Method::Remove, _) => {
                let why = "failed removes on a multiset cannot be streamed; leave out --stream";
                Err(Trouble::Unsupported(Wrong::new(why, &[])))
            }
            _ => Ok(()),
        }
    }

    fn vanished(&mut self, op: &Op) -> Seen {
        match op.method {
            Method::Insert => self.take(op, "an add of {0} had no effect, yet its value was removed"),
            _ => Ok(()),
        }
    }

    fn lost(&mut self, _op: &Op) -> Seen {
        Ok(())
    }

    fn finish(&mut self) -> Result<Option<String>, Trouble> {
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
