//! A stack whose values differ, while it is being read.
//!
//! Give every value the span from the point of its push to the point of its pop. A history is that of a stack iff the points can be chosen within the operations so
//! that no two spans cross and no pop that found nothing lies in a span. What can be done at a moment:
//!
//! - If the push is still open, push and pop go side by side, and nobody else is concerned.
//! - Else the push goes as late as it can, to `s`, and the span from `s` to now is closed to the pushes of all values that are not popped yet. This is possible unless there is a value whose
//!   push has returned and was called after `s`: such a one has to be popped first.
//! - A pop that found nothing may be as soon as no value is stored whose push has returned; everything up to now is closed.
//!
//! A pop gets its point as soon as that spoils nothing, which is: always, but for a stored value `a` that may have been pushed after the call of a push `c` that was called after `s` and
//! is open still. For take an order in which the pop is later. Whatever is popped in between and was pushed inside the span is either stored, and then it can be pushed just below `s` instead; or
//! its push is open, and then it can be pushed just after now instead, or just below `s` if it was called before `s` and must be below something stored. The order among them stays as it was, but if
//! some `a` was pushed after some `c`: then `c` cannot follow it below `s`.
//!
//! All else is a choice: whether such a pop takes effect, and what is taken by pops that never returned, which are needed only to make room for others. It matters when a push returns, which may stand
//! in the way from then on, and when a pop returns that has no point. Then all ways are followed. A pop that cannot have a point when it returns is wrong.
//!
//! An event is looked at once it is known how every operation called before it ends (`delay`). Holds: the values stored, the operations that wait, and pushes that were lost.
//! Cost: the pops that are open, an event, times the choices.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::delay::{Delay, unexplained};
use super::multiset::renamed;
use super::{Seen, Trouble, Watcher, Wrong};
use crate::history::{Method, Op, Ts};
use crate::object::ObjectKind;
use crate::search::Budget;
use crate::value::{ValueId, Values};

/// Events are at even times; points between them at odd ones.
type Time = u64;

fn time(at: Ts) -> Time {
    2 * u64::from(at.0)
}

/// How things may stand.
#[derive(Clone, Default, PartialEq)]
struct Place {
    /// The spans in which nothing whose push is open may have been pushed, in order.
    closed: Vec<(Time, Time)>,
    /// The values that are there and whose push has returned, by the calls of their pushes: the value and the latest moment at which it may have been pushed.
    stored: BTreeMap<Time, (ValueId, Time)>,
    /// The same by these moments, with the calls.
    latest: BTreeSet<(Time, Time)>,
    /// The calls of the pushes that are open, or were lost.
    open: BTreeSet<Time>,
    /// The call of the push of each value that is there or whose push is open.
    pushed: FxHashMap<ValueId, Time>,
    /// Pops that are open and have no point: their calls and what they found.
    waiting: Vec<(Ts, ValueId)>,
    /// How many of the pops that never return have been used.
    used: usize,
}

impl Place {
    /// The latest moment at which a stored value may have been pushed.
    fn latest(&self, value: ValueId) -> Option<Time> {
        self.stored.get(self.pushed.get(&value)?).map(|(_, latest)| *latest)
    }

    /// Closes the time from a moment on.
    fn close(&mut self, from: Time, now: Time) {
        while self.closed.last().is_some_and(|&(_, to)| to >= from) {
            self.closed.pop();
        }
        self.closed.push((from, now));
        while let Some(&(latest, call)) = self.latest.last().filter(|(latest, _)| *latest > from) {
            self.latest.remove(&(latest, call));
            self.latest.insert((from, call));
            if let Some(stored) = self.stored.get_mut(&call) {
                stored.1 = from;
            }
        }
    }

    /// A push begins.
    fn begin(&mut self, value: ValueId, call: Time) {
        self.pushed.insert(value, call);
        self.open.insert(call);
    }

    /// A push returns.
    fn store(&mut self, value: ValueId, call: Time, at: Time) {
        let mut latest = at;
        for &(from, to) in self.closed.iter().rev() {
            if to < latest {
                break;
            }
            latest = latest.min(from);
        }
        self.open.remove(&call);
        self.stored.insert(call, (value, latest));
        self.latest.insert((latest, call));
    }

    /// Takes a value out.
    fn pop(&mut self, value: ValueId, now: Time) {
        let Some(call) = self.pushed.remove(&value) else { return };
        self.open.remove(&call);
        if let Some((_, latest)) = self.stored.remove(&call) {
            self.latest.remove(&(latest, call));
            self.close(latest, now);
        }
    }

    /// The values that must be out before a pop can have its point: all, if nothing was found. Nothing, if it found what is not there.
    fn above(&self, found: ValueId) -> Option<impl Iterator<Item = ValueId>> {
        let from = match found {
            ValueId::NIL => 0,
            value => match self.latest(value) {
                Some(latest) => latest,
                // Its push is open.
                None => self.pushed.get(&value).map(|_| Time::MAX)?,
            },
        };
        Some(self.stored.range(from..).map(|(_, (value, _))| *value))
    }

    /// Whether a pop can have its point now and nobody loses by it.
    fn is_free(&self, found: ValueId) -> bool {
        if self.above(found).is_none_or(|mut above| above.next().is_some()) {
            return false;
        }
        // A push that is open and was called after this value was pushed, and a stored value that may have been pushed after that call.
        let Some(from) = self.latest(found) else { return true };
        let own = self.pushed.get(&found);
        let after = self.open.range(from..).next();
        after.is_none_or(|&call| self.latest.range((call, 0)..).all(|(_, stored)| Some(stored) == own))
    }

    /// Gives a pop its point, with nothing in its way.
    fn settle(&mut self, at: usize, now: Time) {
        let (_, found) = self.waiting.remove(at);
        if found == ValueId::NIL {
            self.close(0, now);
        } else {
            self.pop(found, now);
        }
    }

    /// Gives points to the pops that can have one at no cost.
    fn greedy(&mut self, now: Time) {
        while let Some(at) = (0..self.waiting.len()).find(|&at| self.is_free(self.waiting[at].1)) {
            self.settle(at, now);
        }
    }

    /// Gives a pop its point by popping what is in its way, with pops that never return where nobody else is about to.
    fn force(&self, call: Ts, lost: usize, now: Time) -> Option<Place> {
        let (_, found) = *self.waiting.iter().find(|waiting| waiting.0 == call)?;
        let is_lost = |value: &ValueId| self.waiting.iter().all(|waiting| waiting.1 != *value);
        if self.above(found)?.filter(is_lost).nth(lost - self.used).is_some() {
            return None;
        }
        let mut above: Vec<ValueId> = self.above(found)?.collect();
        let mut after = self.clone();
        while let Some(top) = (0..above.len()).max_by_key(|&at| after.latest(above[at])) {
            let value = above.swap_remove(top);
            match after.waiting.iter().position(|waiting| waiting.1 == value) {
                Some(own) => {
                    after.waiting.remove(own);
                }
                None => after.used += 1,
            }
            after.pop(value, now);
        }
        let at = after.waiting.iter().position(|waiting| waiting.0 == call)?;
        after.settle(at, now);
        after.greedy(now);
        Some(after)
    }

    /// Where all this leads, one pop at a time.
    fn forced(&self, lost: usize, now: Time) -> impl Iterator<Item = Place> {
        self.waiting.iter().filter_map(move |(call, _)| self.force(*call, lost, now))
    }

    /// Whether nothing can be done from another place that cannot be done from here.
    fn at_least(&self, other: &Place) -> bool {
        self.used <= other.used
            && self.closed == other.closed
            && self.stored == other.stored
            && self.open == other.open
            && self.pushed == other.pushed
            && self.waiting == other.waiting
    }

    /// Forgets closed spans in which nothing could have been pushed anyhow.
    fn forget(&mut self) {
        let first = self.open.first().copied().unwrap_or(Time::MAX);
        let gone = self.closed.iter().take_while(|&&(_, to)| to < first).count();
        self.closed.drain(..gone);
    }
}

fn add(places: &mut Vec<Place>, place: Place) -> bool {
    let new = !places.iter().any(|known| known.at_least(&place));
    if new {
        places.retain(|known| !place.at_least(known));
        places.push(place);
    }
    new
}

/// Watches a stack.
pub struct StackWatcher {
    delay: Delay,
    places: Vec<Place>,
    /// How many pops that never return have been called.
    lost: usize,
    /// Events before this have been looked at.
    seen: Ts,
    budget: Budget,
}

impl StackWatcher {
    /// An empty stack; what may be spent on the events of a moment, and how many returns are looked at together.
    pub fn new(budget: Budget, together: usize) -> StackWatcher {
        StackWatcher { delay: Delay::new(together), places: vec![Place::default()], lost: 0, seen: Ts(0), budget }
    }

    fn look(&mut self) -> Seen {
        let Some(until) = self.delay.settled() else { return Ok(()) };
        let mut events: Vec<(Ts, bool, Op)> = Vec::new();
        for op in self.delay.before(until) {
            let both = [(op.call, false), (op.ret, true)];
            events.extend(
                both.into_iter().filter(|(at, _)| (self.seen..until).contains(at)).map(|(at, ends)| (at, ends, *op)),
            );
        }
        events.sort_unstable_by_key(|(at, ..)| *at);
        for (at, ends, op) in events {
            self.event(time(at), ends, &op)?;
            self.seen = Ts(at.0 + 1);
        }
        self.delay.retain(|op| op.call >= until || (op.ret >= until && !op.is_pending()));
        Ok(())
    }

    /// An event, and what can be done just after it.
    fn event(&mut self, at: Time, ends: bool, op: &Op) -> Seen {
        match (op.method, ends) {
            (Method::Insert, false) => {
                for place in &mut self.places {
                    if place.pushed.contains_key(&op.arg) {
                        let why = "{0} is pushed while it may still be there; its monitor needs different values";
                        return Err(Trouble::Unsupported(Wrong::new(why, &[op.arg])));
                    }
                    place.begin(op.arg, at);
                    place.greedy(at + 1);
                }
            }
            (_, false) => match op.result {
                None => self.lost += 1,
                Some(found) => self.places.iter_mut().for_each(|place| {
                    place.waiting.push((op.call, found));
                    place.greedy(at + 1);
                }),
            },
            (Method::Insert, true) => {
                self.make_room(at - 1)?;
                let call = time(op.call);
                for place in &mut self.places {
                    if place.pushed.get(&op.arg) == Some(&call) {
                        place.store(op.arg, call, at);
                    }
                    place.forget();
                }
                self.merge();
            }
            (_, true) => {
                let settled = |place: &Place| place.waiting.iter().all(|waiting| waiting.0 != op.call);
                let mut after = Vec::new();
                for place in std::mem::take(&mut self.places) {
                    let place = if settled(&place) { Some(place) } else { place.force(op.call, self.lost, at - 1) };
                    place.into_iter().for_each(|place| {
                        add(&mut after, place);
                    });
                }
                if after.is_empty() {
                    return Err(unexplained(ObjectKind::Stack.method_name(op.method), op));
                }
                self.places = after;
            }
        }
        Ok(())
    }

    /// Places that have become the same are one.
    fn merge(&mut self) {
        if self.places.len() > 1 {
            let mut apart = Vec::new();
            for place in std::mem::take(&mut self.places) {
                add(&mut apart, place);
            }
            self.places = apart;
        }
    }

    /// Follows all ways in which pops that wait may take effect.
    fn make_room(&mut self, now: Time) -> Seen {
        let mut open: Vec<Place> = self.places.iter().flat_map(|place| place.forced(self.lost, now)).collect();
        while let Some(place) = open.pop() {
            if !add(&mut self.places, place.clone()) {
                continue;
            }
            open.extend(place.forced(self.lost, now));
            let each = |place: &Place| 64 * (1 + place.pushed.len() + place.waiting.len()) as u64;
            if self.places.iter().chain(&open).map(each).sum::<u64>() > self.budget.bytes {
                return Err(Trouble::GaveUp("the memory limit was reached".into()));
            }
            if self.budget.deadline.is_some_and(|end| std::time::Instant::now() >= end) {
                return Err(Trouble::GaveUp("the time limit was reached".into()));
            }
        }
        Ok(())
    }
}

impl Watcher for StackWatcher {
    fn called(&mut self, op: &Op) -> Seen {
        self.delay.called(op);
        Ok(())
    }

    fn returned(&mut self, op: &Op, _: &mut Values) -> Seen {
        self.delay.ended(op)?;
        self.look()
    }

    fn vanished(&mut self, op: &Op) -> Seen {
        self.delay.vanished(op)
    }

    fn lost(&mut self, op: &Op) -> Seen {
        self.delay.ended(op)
    }

    fn finish(&mut self, _: &mut Values) -> Result<Option<String>, Trouble> {
        self.delay.end();
        self.look()?;
        Ok(None)
    }

    fn held(&self) -> usize {
        self.delay.len() + self.places.iter().map(|place| 1 + place.pushed.len() + place.closed.len()).sum::<usize>()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.delay.each_value(visit);
        for place in &mut self.places {
            place.stored.values_mut().for_each(|(value, _)| visit(value));
            place.waiting.iter_mut().for_each(|(_, value)| visit(value));
            place.pushed = place.pushed.drain().map(|(mut value, call)| (renamed(&mut value, visit), call)).collect();
        }
    }
}
