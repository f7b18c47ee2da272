//! Sequential models of the objects known by name.
//!
//! One model serves all of them: it turns a call into the state it leaves behind, by the kind of the object. States are plain data and
//! are cloned when they change; the engine asks once for each state and kind of operation. Texts that arise by appending are interned
//! next to the values of the history, so that a state stays a few numbers however long its texts grow.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::foresight::{Foresight, LOST};
use super::model::{Model, Nature, Ties};
use super::terms::Entry;
use crate::drain::Drained;
use crate::history::{Method, Op, Ts};
use crate::monitor::counting::{change, first_excess};
use crate::object::ObjectKind;
use crate::value::{Value, ValueId, Values};

/// A call with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Its argument.
    pub arg: ValueId,
    /// Its second argument.
    pub arg2: ValueId,
    /// The key, where one model holds several.
    pub place: ValueId,
    /// The caller, where it matters: for locks.
    pub process: ValueId,
}

/// The state of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Stack, queue, deque, log: from the bottom, the front, the first.
    Sequence(Vec<ValueId>),
    /// A queue that is being drained: the same, and the last dequeue of each drain that is not at its end, in order.
    Draining(Vec<ValueId>, Vec<ValueId>),
    /// Set, multiset, bag, priority queue: how often each value is there, in order of the values' numbers.
    Bag(Vec<(ValueId, u32)>),
    /// Register, map: the keys that were written, in order, and what they hold.
    Cells(Vec<(ValueId, ValueId)>),
    /// Counter.
    Number(i64),
    /// Lock: who holds it.
    Holder(Option<ValueId>),
}

impl State {
    /// Visits every value in it, to note or to rename it.
    pub fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        match self {
            State::Sequence(items) => items.iter_mut().for_each(visit),
            State::Draining(items, drained) => {
                items.iter_mut().chain(drained.iter_mut()).for_each(visit);
                drained.sort_unstable();
            }
            // Both are kept in the order of numbers.
            State::Bag(bag) => {
                bag.iter_mut().for_each(|(value, _)| visit(value));
                bag.sort_unstable();
            }
            State::Cells(cells) => {
                cells.iter_mut().for_each(|(key, value)| {
                    visit(key);
                    visit(value);
                });
                cells.sort_unstable();
            }
            State::Number(_) => {}
            State::Holder(holder) => holder.iter_mut().for_each(visit),
        }
    }

    /// How many values are in it.
    pub fn length(&self) -> usize {
        match self {
            State::Sequence(items) => items.len(),
            State::Draining(items, drained) => items.len() + drained.len(),
            State::Bag(bag) => bag.len(),
            State::Cells(cells) => cells.len(),
            State::Number(_) | State::Holder(_) => 1,
        }
    }
}

/// Values that are not in the history: texts that arose by appending.
#[derive(Clone, Debug, Default)]
struct Pool {
    values: Vec<Value>,
    numbers: FxHashMap<Value, ValueId>,
    appended: FxHashMap<(ValueId, ValueId), ValueId>,
}

/// The model of one object of a known kind.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// The kind.
    pub kind: ObjectKind,
    /// The values its histories speak of.
    pub values: &'a Values,
    initial: Value,
    pool: RefCell<Pool>,
    foresight: Option<Foresight>,
}

impl<'a> Object<'a> {
    /// An object that starts out empty.
    pub fn new(kind: ObjectKind, values: &'a Values) -> Object<'a> {
        Object::starting_with(kind, values, Value::Nil)
    }

    /// An object whose register, keys or counter hold this value at the beginning.
    pub fn starting_with(kind: ObjectKind, values: &'a Values, initial: Value) -> Object<'a> {
        Object { kind, values, initial, pool: RefCell::default(), foresight: None }
    }

    /// The same object, which knows that it will be asked about these operations only, or about some of them, some of which may be pending
    /// instead.
    pub fn foreseeing(mut self, ops: &[Op], whole: bool) -> Object<'a> {
        if matches!(self.kind, ObjectKind::Register | ObjectKind::Map) {
            self.foresight = Foresight::new(ops, whole, self.values);
        }
        self
    }

    /// The values that came up and are not in the table, in the order of their numbers, which follow those of the table.
    pub fn made(self) -> Vec<Value> {
        self.pool.into_inner().values
    }

    fn number(&self, value: Value) -> ValueId {
        if let Some(number) = self.values.find(&value) {
            return number;
        }
        let mut pool = self.pool.borrow_mut();
        if let Some(number) = pool.numbers.get(&value) {
            return *number;
        }
        let number = ValueId((self.values.len() + pool.values.len()) as u32);
        pool.values.push(value.clone());
        pool.numbers.insert(value, number);
        number
    }

    fn value(&self, number: ValueId) -> Value {
        match number.index().checked_sub(self.values.len()) {
            None => self.values.get(number).clone(),
            Some(at) => self.pool.borrow().values[at].clone(),
        }
    }

    fn appended(&self, now: ValueId, piece: ValueId) -> ValueId {
        if now == LOST {
            return LOST;
        }
        if let Some(known) = self.pool.borrow().appended.get(&(now, piece)) {
            return *known;
        }
        let longer = match (self.value(now), self.values.get(piece)) {
            (Value::List(items), piece) => {
                Value::list(items.iter().cloned().chain([piece.clone()]).collect::<Vec<_>>())
            }
            (Value::Nil, piece) => Value::text(piece.to_string()),
            (text, piece) => Value::text(format!("{text}{piece}")),
        };
        let number = self.number(longer);
        self.pool.borrow_mut().appended.insert((now, piece), number);
        number
    }

    /// An operation as this model takes it. `whole` keeps the key, for a model that holds all of them.
    pub fn request(&self, op: &Op, whole: bool) -> Request {
        Request {
            method: op.method,
            arg: op.arg,
            arg2: op.arg2,
            place: if whole { op.place } else { ValueId::NIL },
            process: if self.kind == ObjectKind::Lock { op.process } else { ValueId::NIL },
        }
    }

    fn cells(&self, cells: &[(ValueId, ValueId)], call: &Request, ret: Option<ValueId>) -> Vec<State> {
        let place = cells.binary_search_by_key(&call.place, |(key, _)| *key);
        let now = place.map_or_else(|_| self.number(self.initial.clone()), |at| cells[at].1);
        // A key that was never written reads as nothing, or as the empty text.
        let blank = place.is_err() && now == ValueId::NIL;
        let same = |answer: ValueId| answer == now || (blank && *self.values.get(answer) == Value::text(""));
        let stay = || vec![State::Cells(cells.to_vec())];
        let set = |value: ValueId| {
            let mut cells = cells.to_vec();
            match place {
                Ok(at) => cells[at].1 = value,
                Err(at) => cells.insert(at, (call.place, value)),
            }
            vec![State::Cells(cells)]
        };
        match call.method {
            Method::Read if ret.is_none_or(same) => stay(),
            Method::Write => set(call.arg),
            Method::Append => set(self.appended(now, call.arg)),
            Method::Cas => match (ret, same(call.arg)) {
                (Some(ValueId::TRUE) | None, true) => set(call.arg2),
                (Some(ValueId::FALSE) | None, false) => stay(),
                _ => vec![],
            },
            _ => vec![],
        }
    }

    /// Whether a text is made of some of these pieces, each used once; yes if that is too long to find out.
    fn composed(&self, text: &str, pieces: &[ValueId]) -> bool {
        const STEPS: usize = 256;
        let pieces: Vec<String> = pieces.iter().map(|piece| self.values.get(*piece).to_string()).collect();
        let mut tasks = vec![(text, vec![false; pieces.len()])];
        let mut steps = 0;
        while let Some((rest, used)) = tasks.pop() {
            steps += 1;
            if rest.is_empty() || steps > STEPS {
                return true;
            }
            for (at, piece) in pieces.iter().enumerate().filter(|(at, piece)| !used[*at] && !piece.is_empty()) {
                if let Some(rest) = rest.strip_prefix(piece.as_str()) {
                    let mut used = used.clone();
                    used[at] = true;
                    tasks.push((rest, used));
                }
            }
        }
        false
    }

    fn bag(&self, bag: &[(ValueId, u32)], call: &Request, ret: Option<ValueId>) -> Vec<State> {
        let change = |value: ValueId, more: bool| {
            let mut bag = bag.to_vec();
            match (bag.binary_search_by_key(&value, |(known, _)| *known), more) {
                (Ok(at), true) => bag[at].1 += 1,
                (Ok(at), false) if bag[at].1 > 1 => bag[at].1 -= 1,
                (Ok(at), false) => {
                    bag.remove(at);
                }
                (Err(at), true) => bag.insert(at, (value, 1)),
                (Err(_), false) => {}
            }
            vec![State::Bag(bag)]
        };
        let stay = || vec![State::Bag(bag.to_vec())];
        let there = |value: ValueId| bag.binary_search_by_key(&value, |(known, _)| *known).is_ok();
        if self.kind == ObjectKind::PriorityQueue {
            if call.method == Method::Insert {
                return change(call.arg, true);
            }
            let least = bag.iter().map(|(value, _)| *value).min_by_key(|value| self.values.get(*value));
            return match (ret, least) {
                (None | Some(ValueId::NIL), None) => stay(),
                (None, Some(least)) => change(least, false),
                (Some(answer), Some(least)) if self.values.get(answer) == self.values.get(least) => {
                    change(least, false)
                }
                _ => vec![],
            };
        }
        if self.kind == ObjectKind::Bag {
            return match (call.method, ret) {
                (Method::Insert, _) => change(call.arg, true),
                (_, Some(ValueId::NIL)) if !bag.is_empty() => vec![],
                (_, None) if !bag.is_empty() => bag.iter().flat_map(|(value, _)| change(*value, false)).collect(),
                (_, None | Some(ValueId::NIL)) => stay(),
                (_, Some(answer)) if there(answer) => change(answer, false),
                _ => vec![],
            };
        }
        let set = self.kind == ObjectKind::Set;
        let present = there(call.arg);
        let truth = ret.map(|answer| answer == ValueId::TRUE);
        match call.method {
            Method::Insert => match (set && present, truth) {
                (true, None | Some(false)) => stay(),
                (false, None | Some(true)) => change(call.arg, true),
                _ => vec![],
            },
            Method::Remove => match (present, truth) {
                (false, None | Some(false)) => stay(),
                (true, None | Some(true)) => change(call.arg, false),
                _ => vec![],
            },
            Method::Read if ret.is_none_or(|answer| self.contents(answer).is_some_and(|all| all == bag)) => stay(),
            Method::Read => vec![],
            _ if truth.is_none_or(|truth| truth == present) => stay(),
            _ => vec![],
        }
    }

    /// What a read of a whole set or multiset says is there; nothing if it is something that is nowhere else in the history.
    fn contents(&self, answer: ValueId) -> Option<Vec<(ValueId, u32)>> {
        let Value::List(items) = self.values.get(answer) else { return None };
        let mut ids: Vec<ValueId> = items.iter().map(|item| self.values.find(item)).collect::<Option<_>>()?;
        ids.sort_unstable();
        let counted = ids.chunk_by(|one, two| one == two);
        let count = |same: &[ValueId]| if self.kind == ObjectKind::Set { 1 } else { same.len() as u32 };
        Some(counted.map(|same| (same[0], count(same))).collect())
    }

    /// Whether a set or multiset may still become what a read says: what is missing is being added, what is too much removed.
    fn gathers(&self, bag: &[(ValueId, u32)], answer: ValueId, open: &[&Request]) -> bool {
        let Some(wanted) = self.contents(answer) else { return false };
        let count = |all: &[(ValueId, u32)], value: ValueId| {
            all.binary_search_by_key(&value, |(known, _)| *known).map_or(0, |at| all[at].1)
        };
        let called = |method: Method, value: ValueId| {
            open.iter().filter(|call| call.method == method && call.arg == value).count() as u32
        };
        let values = bag.iter().chain(&wanted).map(|(value, _)| *value);
        values.into_iter().all(|value| {
            let (now, then) = (count(bag, value), count(&wanted, value));
            now <= then + called(Method::Remove, value) && then <= now + called(Method::Insert, value)
        })
    }

    /// A queue some of whose dequeues belong to drains: those of one drain come one after another.
    fn drain(&self, items: &[ValueId], drained: &[ValueId], call: &Request, ret: Option<ValueId>) -> Vec<State> {
        let mut drained = drained.to_vec();
        let place = if call.method == Method::Remove { Drained::of(self.values.get(call.arg)) } else { None };
        if let Some(place) = place {
            if let Some(previous) = place.previous() {
                let known = self.values.find(&previous.value());
                let Some(at) = drained.iter().position(|last| Some(*last) == known) else { return vec![] };
                drained.remove(at);
            }
            if !place.is_last() {
                drained.push(call.arg);
                drained.sort_unstable();
            }
        }
        let after = self.sequence(items, call, ret).into_iter();
        after
            .map(|state| match state {
                State::Sequence(items) if !drained.is_empty() => State::Draining(items, drained.clone()),
                state => state,
            })
            .collect()
    }

    fn sequence(&self, items: &[ValueId], call: &Request, ret: Option<ValueId>) -> Vec<State> {
        let front = matches!(
            (self.kind, call.method),
            (ObjectKind::Queue, Method::Remove) | (_, Method::PopFront | Method::PushFront)
        );
        match call.method {
            Method::Insert | Method::PushBack | Method::PushFront => {
                let mut items = items.to_vec();
                let at = if front { 0 } else { items.len() };
                items.insert(at, call.arg);
                vec![State::Sequence(items)]
            }
            Method::Append
                if ret.is_none_or(|answer| {
                    answer == ValueId::NIL || *self.values.get(answer) == Value::Int(items.len() as i64)
                }) =>
            {
                let mut items = items.to_vec();
                items.push(call.arg);
                vec![State::Sequence(items)]
            }
            Method::Append => vec![],
            Method::Read => {
                let equal = |answer: ValueId| match self.values.get(answer) {
                    Value::List(list) => {
                        list.len() == items.len()
                            && list.iter().zip(items).all(|(one, two)| one == self.values.get(*two))
                    }
                    _ => false,
                };
                if ret.is_none_or(equal) { vec![State::Sequence(items.to_vec())] } else { vec![] }
            }
            _ => {
                let taken = if front { items.first() } else { items.last() };
                if ret.is_some_and(|answer| answer != taken.copied().unwrap_or(ValueId::NIL)) {
                    return vec![];
                }
                let mut items = items.to_vec();
                if !items.is_empty() {
                    let at = if front { 0 } else { items.len() - 1 };
                    items.remove(at);
                }
                vec![State::Sequence(items)]
            }
        }
    }

    fn count(&self, number: i64, call: &Request, ret: Option<ValueId>) -> Vec<State> {
        let answered = |wanted: i64| ret.is_none_or(|answer| *self.values.get(answer) == Value::Int(wanted));
        let add = || match self.values.get(call.arg) {
            Value::Int(amount) => number.checked_add(*amount).map(State::Number).into_iter().collect(),
            _ => vec![],
        };
        match call.method {
            Method::Read if answered(number) => vec![State::Number(number)],
            Method::Add => add(),
            Method::FetchAdd if answered(number) => add(),
            _ => vec![],
        }
    }

    fn holder(&self, holder: Option<ValueId>, call: &Request, ret: Option<ValueId>) -> Vec<State> {
        let taken = || vec![State::Holder(Some(call.process))];
        match (call.method, holder, ret) {
            (Method::Acquire, None, _) => taken(),
            (Method::TryAcquire, None, None | Some(ValueId::TRUE)) => taken(),
            (Method::TryAcquire, Some(_), None | Some(ValueId::FALSE)) => {
                vec![State::Holder(holder)]
            }
            (Method::Release, Some(owner), _) if owner == call.process => vec![State::Holder(None)],
            _ => vec![],
        }
    }
}

impl Model for Object<'_> {
    type State = State;
    type Call = Request;
    type Ret = ValueId;

    fn initial(&self) -> State {
        match self.kind {
            ObjectKind::Stack | ObjectKind::Queue | ObjectKind::Deque | ObjectKind::Log => State::Sequence(Vec::new()),
            ObjectKind::Set | ObjectKind::Multiset | ObjectKind::Bag | ObjectKind::PriorityQueue => {
                State::Bag(Vec::new())
            }
            ObjectKind::Register | ObjectKind::Map => State::Cells(Vec::new()),
            ObjectKind::Counter => State::Number(match self.initial {
                Value::Int(number) => number,
                _ => 0,
            }),
            ObjectKind::Lock | ObjectKind::Mutex => State::Holder(None),
        }
    }

    fn step(&self, state: &State, call: &Request, ret: Option<&ValueId>) -> Vec<State> {
        let ret = ret.copied();
        match state {
            State::Sequence(items) if self.kind == ObjectKind::Queue => self.drain(items, &[], call, ret),
            State::Sequence(items) => self.sequence(items, call, ret),
            State::Draining(items, drained) => self.drain(items, drained, call, ret),
            State::Bag(bag) => self.bag(bag, call, ret),
            State::Cells(cells) => self.cells(cells, call, ret),
            State::Number(number) => self.count(*number, call, ret),
            State::Holder(holder) => self.holder(*holder, call, ret),
        }
    }

    /// Values of a container may be left out one by one, and so may values of a register that no compare-and-set links. What
    /// counts, appends or locks has no such rule.
    fn ties(&self, call: &Request, ret: Option<&ValueId>) -> Option<Ties> {
        let about = |values: &[ValueId], optional: bool| {
            let values = values.iter().map(|value| u64::from(call.place.0) << 32 | u64::from(value.0)).collect();
            Some(Ties { values, optional })
        };
        match (self.kind, call.method, ret.copied()) {
            // It speaks of every value.
            (ObjectKind::Set | ObjectKind::Multiset, Method::Read, _) => None,
            (ObjectKind::Set | ObjectKind::Multiset, Method::Contains, _) => about(&[call.arg], true),
            (ObjectKind::Set | ObjectKind::Multiset, _, Some(ValueId::FALSE)) => about(&[call.arg], true),
            (ObjectKind::Set | ObjectKind::Multiset, _, _) => about(&[call.arg], false),
            (ObjectKind::Register | ObjectKind::Map, Method::Read, Some(answer)) => about(&[answer], true),
            (ObjectKind::Register | ObjectKind::Map, Method::Read, None) => about(&[], true),
            (ObjectKind::Register | ObjectKind::Map, Method::Write, _) => about(&[call.arg], false),
            (ObjectKind::Register | ObjectKind::Map, Method::Cas, Some(ValueId::TRUE) | None) => {
                about(&[call.arg, call.arg2], false)
            }
            (
                ObjectKind::Register
                | ObjectKind::Map
                | ObjectKind::Counter
                | ObjectKind::Log
                | ObjectKind::Lock
                | ObjectKind::Mutex,
                _,
                _,
            ) => None,
            (_, Method::Insert | Method::PushBack | Method::PushFront, _) => about(&[call.arg], false),
            // Nobody knows what a pending removal took; leaving it out could only make things worse.
            (_, _, None) => about(&[], false),
            (_, _, Some(ValueId::NIL)) => about(&[], true),
            (_, _, Some(answer)) => about(&[answer], false),
        }
    }

    /// More came out than went in.
    fn impossible(&self, start: &State, entries: &[Entry<Self>]) -> Option<usize> {
        let stored: Vec<ValueId> = match start {
            State::Sequence(items) if self.kind != ObjectKind::Log => items.clone(),
            State::Bag(bag) => {
                bag.iter().flat_map(|(value, count)| std::iter::repeat_n(*value, *count as usize)).collect()
            }
            _ => return None,
        };
        let changes = entries
            .iter()
            .map(|entry| (change(self.kind, entry.call.method, entry.call.arg, entry.ret), entry.start, entry.end));
        first_excess(changes, stored.into_iter()).map(|(position, ..)| position)
    }

    /// A value that is read no more, and grows into none that is, is as good as any other such value.
    fn fades(&self, state: &State) -> Option<(Ts, State)> {
        let (State::Cells(cells), Some(foresight)) = (state, &self.foresight) else {
            return None;
        };
        let last = |(key, value): &(ValueId, ValueId)| match *value {
            LOST => None,
            value => Some(foresight.last_seen(*key, value, || self.value(value))).filter(|last| *last < Ts::INF),
        };
        let (at, last) =
            cells.iter().enumerate().filter_map(|(at, cell)| Some((at, last(cell)?))).min_by_key(|(_, last)| *last)?;
        let mut faded = cells.clone();
        faded[at].1 = LOST;
        Some((last, State::Cells(faded)))
    }

    fn inert(&self, state: &State, call: &Request) -> bool {
        let State::Cells(cells) = state else { return false };
        cells.binary_search_by_key(&call.place, |(key, _)| *key).is_ok_and(|at| cells[at].1 == LOST)
    }

    /// A read of a set: what it must see can be gathered. A read of a register or key: what it must see is there after some write, or grows out of what is there by appending.
    fn attainable(&self, state: &State, call: &Request, ret: &ValueId, open: &[&Request]) -> bool {
        if let (State::Bag(bag), Method::Read) = (state, call.method) {
            return self.gathers(bag, *ret, open);
        }
        let (State::Cells(cells), Method::Read) = (state, call.method) else {
            return true;
        };
        let place = cells.binary_search_by_key(&call.place, |(key, _)| *key);
        let now = place.map_or_else(|_| self.number(self.initial.clone()), |at| cells[at].1);
        let pieces: Vec<ValueId> =
            open.iter().filter(|call| call.method == Method::Append).map(|call| call.arg).collect();
        let wanted = self.values.get(*ret);
        let grows_into = |from: ValueId| match (from, wanted) {
            _ if from == *ret => true,
            _ if from == LOST || pieces.is_empty() => false,
            (from, wanted) => match (self.value(from), wanted) {
                (Value::Nil, Value::Text(wanted)) => self.composed(wanted, &pieces),
                (Value::Text(from), Value::Text(wanted)) => {
                    wanted.strip_prefix(from.as_ref()).is_some_and(|rest| self.composed(rest, &pieces))
                }
                _ => true,
            },
        };
        grows_into(now)
            || open.iter().any(|call| match call.method {
                Method::Write => grows_into(call.arg),
                Method::Cas => grows_into(call.arg2),
                _ => false,
            })
    }

    fn part(&self, call: &Request) -> u64 {
        u64::from(call.place.0)
    }

    fn nature(&self, call: &Request, ret: Option<&ValueId>) -> Nature {
        let container = matches!(self.kind, ObjectKind::Set | ObjectKind::Multiset);
        match (call.method, ret.copied()) {
            (Method::Read | Method::Contains, _) => Nature::Observes,
            (Method::Cas | Method::TryAcquire, Some(ValueId::FALSE)) => Nature::Observes,
            (Method::Insert | Method::Remove, Some(ValueId::FALSE)) if container => Nature::Observes,
            (Method::Remove | Method::PopFront | Method::PopBack, Some(ValueId::NIL)) => Nature::Observes,
            (Method::Write, _) => Nature::Overwrites,
            (Method::PushFront | Method::PushBack, _) => Nature::Silent,
            (Method::Insert, None) => Nature::Silent,
            (Method::Insert, _) if self.kind != ObjectKind::Set => Nature::Silent,
            (Method::Append, None | Some(ValueId::NIL)) => Nature::Silent,
            (Method::Append, _) if self.kind != ObjectKind::Log => Nature::Silent,
            _ => Nature::Plain,
        }
    }

    fn weight(&self, state: &State) -> usize {
        let inside = match state {
            State::Sequence(items) => items.len() * 4,
            State::Draining(items, drained) => (items.len() + drained.len()) * 4,
            State::Bag(bag) => bag.len() * 8,
            // A step makes at most one new text.
            State::Cells(cells) => {
                let known = cells.iter().filter(|(_, value)| *value != LOST);
                cells.len() * 8 + known.map(|(_, value)| self.value(*value).weight()).max().unwrap_or(0)
            }
            State::Number(_) | State::Holder(_) => 0,
        };
        inside + std::mem::size_of::<State>()
    }

    fn describe(&self, state: &State) -> String {
        let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(" ");
        let name = |value: &ValueId| self.values.get(*value).to_string();
        let held = |value: &ValueId| match *value {
            LOST => "something that is not read any more".to_string(),
            value => self.value(value).to_string(),
        };
        match state {
            State::Sequence(items) | State::Draining(items, _) => format!("[{}]", list(&mut items.iter().map(name))),
            State::Bag(bag) => {
                let item = |(value, count): &(ValueId, u32)| {
                    if *count == 1 { name(value) } else { format!("{}×{count}", name(value)) }
                };
                format!("{{{}}}", list(&mut bag.iter().map(item)))
            }
            State::Cells(cells) => match cells.as_slice() {
                [] => self.initial.to_string(),
                [(ValueId::NIL, value)] => held(value),
                cells => format!(
                    "{{{}}}",
                    list(&mut cells.iter().map(|(key, value)| format!("{}: {}", name(key), held(value))))
                ),
            },
            State::Number(number) => number.to_string(),
            State::Holder(None) => "free".into(),
            State::Holder(Some(_)) if self.kind == ObjectKind::Mutex => "held".into(),
            State::Holder(Some(process)) => format!("held by {}", name(process)),
        }
    }
}
