//! Histories of our own making.
//!
//! They come from a simulation: threads call, take effect and return in a random order, so every history is linearizable and about
//! as many operations overlap as there are threads. [`damage`] and [`stale`] then make it wrong in one place.

use fastrand::Rng;
use raddle::linear::history::{History, Method, Op, Ts};
use raddle::linear::object::ObjectKind;
use raddle::linear::value::{Value, ValueId, Values};
use std::collections::{BTreeSet, VecDeque};

/// A sequential object of the simulation: chooses a call, then answers it when it takes effect.
pub(crate) trait Simulated {
    fn call(&mut self, random: &mut Rng, values: &mut Values) -> Op;
    fn effect(&mut self, op: &mut Op, values: &mut Values);
}

fn blank(method: Method) -> Op {
    Op {
        process: ValueId::NIL,
        place: ValueId::NIL,
        method,
        arg: ValueId::NIL,
        arg2: ValueId::NIL,
        result: None,
        call: Ts(0),
        ret: Ts::INF,
        call_line: 0,
        ret_line: 0,
    }
}

/// A stack or queue of different values; as many inserts as removals, or five to four.
pub(crate) struct Line {
    stack: bool,
    insert_percent: usize,
    stored: VecDeque<ValueId>,
    made: i64,
}

impl Simulated for Line {
    fn call(&mut self, random: &mut Rng, values: &mut Values) -> Op {
        if random.usize(..100) < self.insert_percent {
            self.made += 1;
            Op { arg: values.intern_int(self.made), ..blank(Method::Insert) }
        } else {
            blank(Method::Remove)
        }
    }

    fn effect(&mut self, op: &mut Op, _values: &mut Values) {
        op.result = Some(match op.method {
            Method::Insert => {
                self.stored.push_back(op.arg);
                ValueId::NIL
            }
            _ if self.stack => self.stored.pop_back().unwrap_or(ValueId::NIL),
            _ => self.stored.pop_front().unwrap_or(ValueId::NIL),
        });
    }
}

/// A set with queries, or a multiset, over many values.
struct Members {
    multiset: bool,
    values: usize,
    stored: BTreeSet<(ValueId, u32)>,
}

impl Simulated for Members {
    fn call(&mut self, random: &mut Rng, values: &mut Values) -> Op {
        let arg = values.intern_int(random.usize(..self.values) as i64);
        let method = match random.usize(..if self.multiset { 10 } else { 15 }) {
            0..=4 => Method::Insert,
            5..=9 => Method::Remove,
            _ => Method::Contains,
        };
        Op { arg, ..blank(method) }
    }

    fn effect(&mut self, op: &mut Op, _values: &mut Values) {
        let last = self.stored.range((op.arg, 0)..=(op.arg, u32::MAX)).next_back().copied();
        let truth = match op.method {
            Method::Insert if self.multiset => self.stored.insert((op.arg, last.map_or(0, |(_, copy)| copy + 1))),
            Method::Insert => self.stored.insert((op.arg, 0)),
            Method::Remove => last.is_some_and(|last| self.stored.remove(&last)),
            _ => last.is_some(),
        };
        op.result = Some(ValueId::of_bool(truth));
    }
}

/// A key-value store: get, put and append of texts, as the lab logs of distributed-systems courses have them.
pub(crate) struct Store {
    keys: Vec<ValueId>,
    held: Vec<String>,
    made: usize,
}

impl Simulated for Store {
    fn call(&mut self, random: &mut Rng, values: &mut Values) -> Op {
        let place = self.keys[random.usize(..self.keys.len())];
        self.made += 1;
        let piece = Value::text(format!("x {} y", self.made));
        match random.usize(..10) {
            0..=3 => Op { place, ..blank(Method::Read) },
            4 => Op { place, arg: values.intern(piece), ..blank(Method::Write) },
            _ => Op { place, arg: values.intern(piece), ..blank(Method::Append) },
        }
    }

    fn effect(&mut self, op: &mut Op, values: &mut Values) {
        let at = self.keys.iter().position(|key| *key == op.place).expect("the key is one of ours");
        let piece = values.get(op.arg).to_string();
        op.result = Some(match op.method {
            Method::Read => values.intern(Value::text(&self.held[at])),
            Method::Write => {
                self.held[at] = piece;
                ValueId::NIL
            }
            _ => {
                self.held[at].push_str(&piece);
                ValueId::NIL
            }
        });
    }
}

/// A register with few values, read, written, compared-and-set.
pub(crate) struct Cell {
    holds: ValueId,
    values: usize,
}

/// A register of so many values.
pub(crate) fn register(values: usize) -> Cell {
    Cell { holds: ValueId::NIL, values }
}

impl Simulated for Cell {
    fn call(&mut self, random: &mut Rng, values: &mut Values) -> Op {
        let mut value = || values.intern_int(random.usize(..self.values) as i64);
        let (arg, arg2) = (value(), value());
        match random.usize(..3) {
            0 => blank(Method::Read),
            1 => Op { arg, ..blank(Method::Write) },
            _ => Op { arg, arg2, ..blank(Method::Cas) },
        }
    }

    fn effect(&mut self, op: &mut Op, _values: &mut Values) {
        op.result = Some(match op.method {
            Method::Read => self.holds,
            Method::Write => {
                self.holds = op.arg;
                ValueId::NIL
            }
            _ => {
                let equal = self.holds == op.arg;
                if equal {
                    self.holds = op.arg2;
                }
                ValueId::of_bool(equal)
            }
        });
    }
}

/// A linearizable history of an object under a number of threads.
pub(crate) fn simulate(
    object: &mut dyn Simulated,
    mut values: Values,
    count: usize,
    threads: usize,
    seed: u64,
) -> History {
    let mut random = Rng::with_seed(seed);
    let processes: Vec<ValueId> = (0..threads).map(|thread| values.intern_int(thread as i64)).collect();
    let mut open: Vec<Option<(usize, bool)>> = vec![None; threads];
    let mut ops: Vec<Op> = Vec::with_capacity(count);
    let (mut clock, mut returned) = (0u32, 0);
    while returned < count {
        let thread = random.usize(..threads);
        match open[thread] {
            None if ops.len() < count => {
                let op = object.call(&mut random, &mut values);
                open[thread] = Some((ops.len(), false));
                ops.push(Op { process: processes[thread], call: Ts(clock), ..op });
                clock += 1;
            }
            None => {}
            Some((at, false)) => {
                object.effect(&mut ops[at], &mut values);
                open[thread] = Some((at, true));
            }
            Some((at, true)) => {
                ops[at].ret = Ts(clock);
                clock += 1;
                open[thread] = None;
                returned += 1;
            }
        }
    }
    History { ops, values, events: clock }
}

/// A stack or queue with so many inserts in a hundred calls.
pub(crate) fn line(stack: bool, insert_percent: usize) -> Line {
    Line { stack, insert_percent, stored: VecDeque::new(), made: 0 }
}

/// A linearizable history of a container: stack and queue of different values, or a set with queries or a multiset of many.
pub(crate) fn container(kind: ObjectKind, count: usize, threads: usize) -> History {
    let seed = (count + threads) as u64;
    let mut object: Box<dyn Simulated> = match kind {
        ObjectKind::Stack => Box::new(line(true, 50)),
        ObjectKind::Queue => Box::new(line(false, 50)),
        _ => Box::new(Members {
            multiset: kind == ObjectKind::Multiset,
            values: count / 10 + 8,
            stored: BTreeSet::new(),
        }),
    };
    let mut history = simulate(object.as_mut(), Values::default(), count, threads, seed);
    if kind == ObjectKind::Multiset {
        // The monitor covers adds and successful removes.
        history.ops.retain(|op| op.result == Some(ValueId::TRUE));
    }
    history
}

/// A store of so many keys, and the values its histories start with.
pub(crate) fn store(keys: usize) -> (Store, Values) {
    let mut values = Values::default();
    let keys: Vec<ValueId> = (0..keys).map(|key| values.intern(Value::text(key.to_string()))).collect();
    (Store { held: vec![String::new(); keys.len()], keys, made: 0 }, values)
}

/// Exchanges the answers of two removals in the middle that are far apart, or turns a set's answer around.
pub(crate) fn damage(history: &mut History, kind: ObjectKind) {
    let middle = history.ops.len() / 2;
    match kind {
        ObjectKind::Set => {
            if let Some(op) = history.ops[middle..].iter_mut().find(|op| op.method == Method::Insert) {
                op.result = Some(ValueId::of_bool(op.result == Some(ValueId::FALSE)));
            }
        }
        ObjectKind::Multiset => {
            let extra: Vec<Op> =
                history.ops[middle..].iter().copied().filter(|op| op.method == Method::Insert).take(1).collect();
            for at in middle..history.ops.len() {
                if history.ops[at].method == Method::Insert && extra.iter().any(|op| op.arg == history.ops[at].arg) {
                    history.ops[at].method = Method::Remove;
                }
            }
        }
        _ => {
            let removal = |op: &Op| op.method == Method::Remove && op.result != Some(ValueId::NIL);
            let one = (middle..history.ops.len()).find(|&at| removal(&history.ops[at]));
            let two = one.and_then(|one| (one + 200..history.ops.len()).find(|&at| removal(&history.ops[at])));
            if let (Some(one), Some(two)) = (one, two) {
                let answer = history.ops[one].result;
                history.ops[one].result = history.ops[two].result;
                history.ops[two].result = answer;
            }
        }
    }
}

/// A read near the end answers what an earlier read of the same key answered.
pub(crate) fn stale(history: &mut History) {
    let reads: Vec<usize> = (0..history.ops.len()).filter(|&at| history.ops[at].method == Method::Read).collect();
    for &late in reads.iter().rev() {
        let stale = |at: &usize| {
            let (one, two) = (&history.ops[*at], &history.ops[late]);
            one.place == two.place && one.ret < two.call && one.result != two.result
        };
        if let Some(early) = reads.iter().copied().find(stale) {
            history.ops[late].result = history.ops[early].result;
            return;
        }
    }
}
