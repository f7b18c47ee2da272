//! Any object with a sequential model, while it is being read: compare-and-sets, appends, counters, locks, deques, values that repeat.
//!
//! A breadth-first search ([`stretch`]) that goes on as events come and remembers only everywhere the object may stand. It looks at a return once it is known how every
//! operation called before it ends (`delay`), so a violation is reported a little after the return that shows it.
//!
//! Holds: the operations that wait, those that were lost and may still take effect, and the places the object may be in, of which there are usually few. Where there
//! are very many, some are given up; then a violation cannot be told any more, and there is no verdict instead.

use super::delay::{Delay, unexplained};
use super::{Seen, Trouble, Watcher};
use crate::history::{Op, Ts};
use crate::object::ObjectKind;
use crate::search::objects::{Object, State};
use crate::search::stretch::{Place, Stretched, stretch};
use crate::search::{Budget, Entry, Model};
use crate::value::{Value, ValueId, Values};

/// Watches an object of any kind.
pub struct GeneralWatcher {
    kind: ObjectKind,
    initial: Value,
    budget: Budget,
    delay: Delay,
    /// Where the object may stand; what is left of those of the waiting operations that were open there, the first ones.
    places: Option<Vec<Place<State>>>,
    /// Whether it may also stand elsewhere: there were too many places to follow all.
    narrowed: bool,
}

impl GeneralWatcher {
    /// An object that holds this at the beginning; what may be spent on the events of a moment, and how many returns are looked at together.
    pub fn new(kind: ObjectKind, initial: Value, budget: Budget, together: usize) -> GeneralWatcher {
        GeneralWatcher { kind, initial, budget, delay: Delay::new(together), places: None, narrowed: false }
    }

    fn look(&mut self, values: &mut Values) -> Seen {
        let Some(settled) = self.delay.settled() else { return Ok(()) };
        let Some(last) = self.delay.before(settled).map(|op| op.ret).filter(|ret| *ret < settled).max() else {
            return Ok(());
        };
        let until = Ts(last.0 + 1);
        let object = Object::starting_with(self.kind, values, self.initial.clone());
        let ops: Vec<Op> = self.delay.before(until).copied().collect();
        let entry = |op: &Op| Entry { call: object.request(op, false), ret: op.result, start: op.call, end: op.ret };
        let entries: Vec<Entry<Object<'_>>> = ops.iter().map(entry).collect();
        let start = || vec![Place { state: object.initial(), left: Vec::new() }];
        let from = self.places.take().unwrap_or_else(start);
        let (open, mut places) = match stretch(&object, &from, &entries, until, self.budget) {
            Stretched::To(open, places, narrowed) => {
                self.narrowed |= narrowed;
                (open, places)
            }
            Stretched::Lost => return Err(lost()),
            Stretched::Stuck(_) if self.narrowed => return Err(lost()),
            Stretched::Stuck(at) => return Err(unexplained(self.kind.method_name(ops[at].method), &ops[at])),
            Stretched::OutOfBudget(limit) => return Err(Trouble::GaveUp(limit.to_string())),
        };
        // What never returns and can be of use nowhere any more is forgotten.
        let keep: Vec<bool> = open
            .iter()
            .enumerate()
            .map(|(at, &op)| !ops[op].is_pending() || places.iter().any(|place| place.left[at].usable))
            .collect();
        for place in &mut places {
            let mut kept = keep.iter();
            place.left.retain(|_| *kept.next().expect("one for each"));
        }
        let mut still = open.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(&op, _)| ops[op].call).peekable();
        self.delay.retain(|op| op.call >= until || still.next_if_eq(&op.call).is_some());
        let known = values.len();
        let made = object.made();
        let numbers: Vec<ValueId> = made.into_iter().map(|value| values.intern(value)).collect();
        for place in &mut places {
            place.state.each_value(&mut |value| {
                if let Some(at) = value.index().checked_sub(known) {
                    *value = numbers[at];
                }
            });
        }
        self.places = Some(places);
        Ok(())
    }
}

fn lost() -> Trouble {
    Trouble::GaveUp("the object could be in more places than can be followed while reading; leave out --stream".into())
}

impl Watcher for GeneralWatcher {
    fn called(&mut self, op: &Op) -> Seen {
        self.delay.called(op);
        Ok(())
    }

    fn returned(&mut self, op: &Op, values: &mut Values) -> Seen {
        self.delay.ended(op)?;
        self.look(values)
    }

    fn vanished(&mut self, op: &Op) -> Seen {
        self.delay.vanished(op)
    }

    fn lost(&mut self, op: &Op) -> Seen {
        self.delay.ended(op)
    }

    fn finish(&mut self, values: &mut Values) -> Result<Option<String>, Trouble> {
        self.delay.end();
        self.look(values)?;
        Ok(None)
    }

    fn held(&self) -> usize {
        let of_place = |place: &Place<State>| 1 + place.left.len() + place.state.length();
        self.delay.len() + self.places.iter().flatten().map(of_place).sum::<usize>()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.delay.each_value(visit);
        for place in self.places.iter_mut().flatten() {
            place.state.each_value(visit);
        }
    }
}
