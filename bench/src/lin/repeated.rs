//! Stacks and queues whose values repeat: the search for pairs beside a search over orders as others do it.
//!
//! The latter is that of Wing and Gong 1993 with the cache of Lowe 2017, as Porcupine has it: the first call that the object allows is linearized, what has been linearized and
//! the state are remembered, and when a return is met the last decision is taken back. It stands for checkers that are not installed here.

use super::general::General;
use super::generate::container;
use super::{Made, Table, seconds};
use crate::failure::Failure;
use crate::table::thousands;
use raddle::cost::Meter;
use raddle::linear::check::Config;
use raddle::linear::history::{History, Method, Op};
use raddle::linear::monitor::timeline::timeline;
use raddle::linear::object::ObjectKind;
use raddle::linear::value::{Value, ValueId, Values};
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// How many different values there are.
const VALUES: i64 = 7;

/// What a search over orders may hold.
const BYTES: usize = 4 << 30;

impl General {
    /// Stacks and queues of seven values on eight threads.
    ///
    /// # Errors
    /// If a verdict is wrong.
    pub(super) fn repeated(self) -> Result<Table, Failure> {
        const SIZES: [(usize, usize); 4] = [(8, 100), (8, 200), (8, 300), (8, 400)];
        let title = "stacks and queues of 7 values: CPU seconds; *orders* is a search over orders with a cache";
        let mut table =
            Table::new(title, "threads|operations|queue|orders|one wrong|orders|stack|orders|one wrong|orders");
        for &(threads, count) in self.sizes(&SIZES) {
            let mut cells = vec![threads.to_string(), thousands(count as u64)];
            for kind in [ObjectKind::Queue, ObjectKind::Stack] {
                let good = repeat(&container(kind, count, threads));
                let mut bad = good.clone();
                exchange(&mut bad);
                for history in [good, bad] {
                    let meter = Meter::start();
                    let found = Orders::new(kind, &history, self.patience).search();
                    let time = meter.read().cpu_seconds;
                    // An exchange of answers may be harmless; whoever knows the verdict tells the other.
                    let made = if found == Some(false) { Made::Wrong } else { Made::Linearizable };
                    let config = Config::new(kind);
                    cells.push(match found {
                        Some(_) => self.decide(&history, config, made)?,
                        None => self.decide_alone(&history, config)?,
                    });
                    cells.push(if found.is_some() { seconds(time) } else { "unknown".into() });
                }
            }
            table.lines.push(cells);
        }
        Ok(table)
    }
}

/// The same history with few values.
pub(super) fn repeat(history: &History) -> History {
    let mut values = Values::default();
    let few = |id: ValueId, values: &mut Values| match history.value(id) {
        Value::Int(number) => values.intern_int(number.rem_euclid(VALUES)),
        _ => ValueId::NIL,
    };
    let ops = history.ops.iter().map(|op| {
        let arg = few(op.arg, &mut values);
        let process = values.intern(history.value(op.process).clone());
        let result = op.result.map(|result| few(result, &mut values));
        Op { arg, result, process, ..*op }
    });
    let ops = ops.collect();
    History { ops, values, events: history.events }
}

/// Exchanges the answers of two removals in the middle that follow each other and differ.
pub(super) fn exchange(history: &mut History) {
    let removals: Vec<usize> = (history.ops.len() / 2..history.ops.len())
        .filter(|&at| history.ops[at].method == Method::Remove && history.ops[at].result.is_some())
        .collect();
    let differ = removals.windows(2).find(|pair| history.ops[pair[0]].result != history.ops[pair[1]].result);
    if let Some(&[one, two]) = differ {
        let answer = history.ops[one].result;
        history.ops[one].result = history.ops[two].result;
        history.ops[two].result = answer;
    }
}

const NONE: usize = usize::MAX;

/// A search over orders.
struct Orders<'a> {
    kind: ObjectKind,
    ops: &'a [Op],
    /// The events in order: the operation, and whether it returns; of a call where its return is.
    events: Vec<(usize, bool)>,
    back: Vec<usize>,
    next: Vec<usize>,
    previous: Vec<usize>,
    end: Instant,
}

impl<'a> Orders<'a> {
    fn new(kind: ObjectKind, history: &'a History, patience: u64) -> Orders<'a> {
        let events: Vec<(usize, bool)> =
            timeline(&history.ops).map(|event| (event.op.index(), event.returns)).collect();
        let count = events.len();
        let mut back = vec![NONE; history.ops.len()];
        events.iter().enumerate().filter(|(_, event)| event.1).for_each(|(at, event)| back[event.0] = at);
        // The last place is a head before the first event.
        let next = (0..count).map(|at| if at + 1 < count { at + 1 } else { NONE }).chain([0]).collect();
        let previous = (0..count).map(|at| if at > 0 { at - 1 } else { count }).chain([NONE]).collect();
        let end = Instant::now() + Duration::from_secs(patience);
        Orders { kind, ops: &history.ops, events, back, next, previous, end }
    }

    fn unlink(&mut self, at: usize) {
        let (before, after) = (self.previous[at], self.next[at]);
        self.next[before] = after;
        if after != NONE {
            self.previous[after] = before;
        }
    }

    fn link(&mut self, at: usize) {
        let (before, after) = (self.previous[at], self.next[at]);
        self.next[before] = at;
        if after != NONE {
            self.previous[after] = at;
        }
    }

    fn step(&self, state: &VecDeque<u32>, op: &Op) -> Option<VecDeque<u32>> {
        let mut state = state.clone();
        if op.method == Method::Insert {
            state.push_back(op.arg.0);
            return Some(state);
        }
        let taken = if self.kind == ObjectKind::Stack { state.pop_back() } else { state.pop_front() };
        (op.result == Some(ValueId(taken.unwrap_or(0)))).then_some(state)
    }

    /// Whether there is an order; nothing if there was not enough time or memory.
    fn search(mut self) -> Option<bool> {
        let head = self.events.len();
        let mut done = vec![0u64; self.ops.len().div_ceil(64)];
        let mut state: VecDeque<u32> = VecDeque::new();
        let mut path: Vec<(usize, VecDeque<u32>)> = Vec::new();
        let mut seen: HashSet<(Vec<u64>, VecDeque<u32>)> = HashSet::new();
        let mut held = 0;
        let mut at = self.next[head];
        while at != NONE && self.next[head] != NONE {
            let (op, returns) = self.events[at];
            if returns {
                let Some((call, before)) = path.pop() else { return Some(false) };
                let op = self.events[call].0;
                state = before;
                done[op / 64] &= !(1 << (op % 64));
                self.link(self.back[op]);
                self.link(call);
                at = self.next[call];
                continue;
            }
            if let Some(after) = self.step(&state, &self.ops[op]) {
                done[op / 64] |= 1 << (op % 64);
                if seen.insert((done.clone(), after.clone())) {
                    held += 8 * done.len() + 4 * after.len() + 96;
                    if held > BYTES || (seen.len().is_multiple_of(1024) && Instant::now() >= self.end) {
                        return None;
                    }
                    path.push((at, std::mem::replace(&mut state, after)));
                    self.unlink(at);
                    self.unlink(self.back[op]);
                    at = self.next[head];
                    continue;
                }
                done[op / 64] &= !(1 << (op % 64));
            }
            at = self.next[at];
        }
        Some(true)
    }
}
