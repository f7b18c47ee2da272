//! A queue while it is being read.
//!
//! When a dequeue returns `a`, every value `b` that was in before `a` was called in, and that is still there, must be on its way out: it needs a
//! dequeue that is open now. From then on `b` has a *deadline*: the dequeue that will return it must have been called before. The
//! values with deadlines must be servable by distinct open dequeues; comparing the sorted lists decides that. When `b` comes out, its
//! dequeue's call is compared with its deadline. Without empty dequeues this reports every violation at the earliest return.
//!
//! A dequeue that finds nothing needs an instant of its interval at which nothing is certainly stored. When a value `[pr, oc]` comes
//! out, that stretch is cut out of the intervals of all open dequeues and of all empty ones that are not yet settled. An empty
//! dequeue is settled once the dequeues open at its return have returned: a value still stored then was not being taken. Dequeues that
//! are never heard of again may leave it unsettled; the answer is then unknown.
//!
//! A value may come again once it has come out. Holds: values stored, open operations, unsettled empty dequeues. Cost: an event costs
//! logarithmic time plus the open dequeues.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::multiset::renamed;
use super::{Seen, Trouble, Watcher, Wrong};
use crate::history::{Method, Op, Ts};
use crate::value::{ValueId, Values};

struct Stored {
    insert_call: Ts,
    insert_return: Option<Ts>,
    deadline: Option<Ts>,
}

/// The parts of an interval at which nothing is known to be stored.
#[derive(Clone, Default)]
struct Gaps(Vec<(Ts, Ts)>);

impl Gaps {
    /// Cuts out a stretch.
    fn cut(&mut self, from: Ts, to: Ts) {
        if self.0.iter().all(|gap| to <= gap.0 || gap.1 <= from) {
            return;
        }
        let mut rest = Vec::with_capacity(self.0.len() + 1);
        for &(start, end) in &self.0 {
            if to <= start || end <= from {
                rest.push((start, end));
                continue;
            }
            if start < from {
                rest.push((start, from));
            }
            if to < end {
                rest.push((to, end));
            }
        }
        self.0 = rest;
    }
}

/// An empty dequeue that is not settled.
struct Unsettled {
    /// Where it may take effect.
    gaps: Gaps,
    ret: Ts,
    /// Dequeues that were open at its return.
    waits_for: BTreeSet<Ts>,
}

/// Watches a queue.
#[derive(Default)]
pub struct QueueWatcher {
    stored: FxHashMap<ValueId, Stored>,
    /// Values without a deadline whose insert has returned, by that return.
    calm: BTreeMap<Ts, ValueId>,
    /// Values with a deadline, `(deadline, return of the insert)`.
    due: BTreeMap<(Ts, Ts), ValueId>,
    /// Open dequeues by their calls.
    open: BTreeMap<Ts, Gaps>,
    /// Dequeues that are never heard of again.
    lost: BTreeSet<Ts>,
    unsettled: Vec<Unsettled>,
    doubt: bool,
}

fn wrong(message: &str, about: &[ValueId]) -> Trouble {
    Trouble::Wrong(Wrong::new(message, about))
}

impl QueueWatcher {
    /// Whether distinct open dequeues can serve all deadlines.
    fn served(&self) -> Seen {
        let mut calls = merged(self.open.keys().copied(), self.lost.iter().copied());
        for ((deadline, _), value) in &self.due {
            if calls.next().is_none_or(|call| call > *deadline) {
                return Err(wrong(
                    "{0} should have come out by now, and no dequeue is left that could be taking it",
                    &[*value],
                ));
            }
        }
        Ok(())
    }

    /// A dequeue ended, whatever it found.
    fn settle(&mut self, call: Ts) -> Seen {
        for empty in &mut self.unsettled {
            empty.waits_for.remove(&call);
        }
        let ready: Vec<Unsettled> = self.unsettled.extract_if(.., |empty| empty.waits_for.is_empty()).collect();
        for empty in ready {
            self.judge(empty)?;
        }
        Ok(())
    }

    fn judge(&mut self, mut empty: Unsettled) -> Seen {
        // The value that went in first covers everything that any stored value covers.
        let stored = self.stored.values().filter_map(|stored| stored.insert_return).min();
        if let Some(from) = stored {
            empty.gaps.cut(from, Ts::INF);
        }
        if !empty.gaps.0.is_empty() {
            return Ok(());
        }
        if self.lost.first().is_some_and(|call| *call < empty.ret) {
            self.doubt = true;
            return Ok(());
        }
        Err(wrong("a dequeue found nothing although something was stored throughout", &[]))
    }

    fn removed(&mut self, op: &Op, value: ValueId) -> Seen {
        let Some(stored) = self.stored.remove(&value) else {
            return Err(wrong("{0} came out, but it was not in (never inserted, or taken before)", &[value]));
        };
        if let Some(pr) = stored.insert_return {
            self.calm.remove(&pr);
            if let Some(deadline) = stored.deadline {
                self.due.remove(&(deadline, pr));
                if op.call > deadline {
                    return Err(wrong("{0} went in before another value and came out after it", &[value]));
                }
            }
            if pr < op.call {
                for gaps in self.open.values_mut() {
                    gaps.cut(pr, op.call);
                }
                for empty in &mut self.unsettled {
                    empty.gaps.cut(pr, op.call);
                }
            }
        }
        while let Some(entry) = self.calm.first_entry() {
            if *entry.key() > stored.insert_call {
                break;
            }
            let (pr, late) = entry.remove_entry();
            if let Some(stored) = self.stored.get_mut(&late) {
                stored.deadline = Some(op.ret);
                self.due.insert((op.ret, pr), late);
            }
        }
        self.served()
    }
}

/// Two sorted sequences as one.
fn merged(one: impl Iterator<Item = Ts>, two: impl Iterator<Item = Ts>) -> impl Iterator<Item = Ts> {
    let (mut one, mut two) = (one.peekable(), two.peekable());
    std::iter::from_fn(move || match (one.peek(), two.peek()) {
        (Some(left), Some(right)) if left > right => two.next(),
        (Some(_), _) => one.next(),
        (None, _) => two.next(),
    })
}

impl Watcher for QueueWatcher {
    fn called(&mut self, op: &Op) -> Seen {
        if op.method == Method::Insert {
            let stored = Stored { insert_call: op.call, insert_return: None, deadline: None };
            if self.stored.insert(op.arg, stored).is_some() {
                let why = "{0} is inserted while it may still be stored; its monitor needs different values";
                return Err(Trouble::Unsupported(Wrong::new(why, &[op.arg])));
            }
        } else {
            self.open.insert(op.call, Gaps(vec![(op.call, Ts::INF)]));
        }
        Ok(())
    }

    fn returned(&mut self, op: &Op, _: &mut Values) -> Seen {
        if op.method == Method::Insert {
            if let Some(stored) = self.stored.get_mut(&op.arg)
                && stored.insert_call == op.call
            {
                stored.insert_return = Some(op.ret);
                self.calm.insert(op.ret, op.arg);
            }
            return Ok(());
        }
        let gaps = self.open.remove(&op.call);
        match op.result {
            Some(ValueId::NIL) | None => {
                self.served()?;
                let mut gaps = gaps.unwrap_or_default();
                gaps.cut(op.ret, Ts::INF);
                let waits_for: BTreeSet<Ts> = self.open.keys().copied().collect();
                self.unsettled.push(Unsettled { gaps, ret: op.ret, waits_for });
            }
            Some(value) => self.removed(op, value)?,
        }
        self.settle(op.call)
    }

    fn vanished(&mut self, op: &Op) -> Seen {
        if op.method == Method::Insert {
            return match self.stored.remove(&op.arg) {
                Some(_) => Ok(()),
                None => Err(wrong("the insert of {0} had no effect, yet it came out", &[op.arg])),
            };
        }
        self.open.remove(&op.call);
        self.served()?;
        self.settle(op.call)
    }

    fn lost(&mut self, op: &Op) -> Seen {
        // A lost insert stays: its value may come out at any time, and it never forces anything.
        if op.method != Method::Insert && self.open.remove(&op.call).is_some() {
            self.lost.insert(op.call);
            return self.settle(op.call);
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut Values) -> Result<Option<String>, Trouble> {
        for call in std::mem::take(&mut self.open).into_keys() {
            self.lost.insert(call);
        }
        for mut empty in std::mem::take(&mut self.unsettled) {
            empty.waits_for.clear();
            self.judge(empty)?;
        }
        let why = "an empty dequeue can only be explained by dequeues that never returned; check without --stream";
        Ok(self.doubt.then(|| why.to_string()))
    }

    fn held(&self) -> usize {
        self.stored.len() + self.open.len() + self.lost.len() + self.unsettled.len()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.stored = self.stored.drain().map(|(mut value, stored)| (renamed(&mut value, visit), stored)).collect();
        self.calm.values_mut().for_each(&mut *visit);
        self.due.values_mut().for_each(&mut *visit);
    }
}
