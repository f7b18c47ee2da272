//! An oracle small enough to be obviously right, and random histories to put to it.
//!
//! The oracle knows each object by one function: what does this call answer in this state, and what is the state
//! afterwards? It tries every order that real time allows. It shares no code with the crate but the types of a history.

#![allow(dead_code, unreachable_pub)]

use std::collections::HashSet;

use raddle_linear::history::{History, Method, Op, Ts};
use raddle_linear::object::ObjectKind;
use raddle_linear::value::{Value, ValueId, Values};
use raddle_testkit::Random;

type State = Vec<Value>;

/// What a call answers in a state, and the state after it; nothing if it has to wait.
pub fn answer(kind: ObjectKind, state: &State, op: &Op, values: &Values) -> Option<(Value, State)> {
    let arg = values.get(op.arg).clone();
    let mut after = state.clone();
    let nil = Value::Nil;
    let int = |value: &Value| match value {
        Value::Int(number) => *number,
        _ => 0,
    };
    Some(match (kind, op.method) {
        (ObjectKind::Stack, Method::Insert) | (ObjectKind::Queue, Method::Insert) | (_, Method::PushBack) => {
            after.push(arg);
            (nil, after)
        }
        (_, Method::PushFront) => {
            after.insert(0, arg);
            (nil, after)
        }
        (ObjectKind::Stack, Method::Remove) | (_, Method::PopBack) => (after.pop().unwrap_or(nil), after),
        (ObjectKind::Queue, Method::Remove) | (_, Method::PopFront) => {
            if after.is_empty() {
                (nil, after)
            } else {
                (after.remove(0), after)
            }
        }
        (ObjectKind::PriorityQueue, Method::Insert) => {
            after.push(arg);
            after.sort();
            (nil, after)
        }
        (ObjectKind::PriorityQueue, _) => {
            if after.is_empty() {
                (nil, after)
            } else {
                (after.remove(0), after)
            }
        }
        (ObjectKind::Set | ObjectKind::Multiset, method) => {
            let at = state.iter().position(|value| *value == arg);
            match method {
                Method::Insert if kind == ObjectKind::Set && at.is_some() => (Value::Bool(false), after),
                Method::Insert => {
                    after.push(arg);
                    after.sort();
                    (Value::Bool(true), after)
                }
                Method::Remove => {
                    at.map(|at| after.remove(at));
                    (Value::Bool(at.is_some()), after)
                }
                Method::Read => (Value::list(state.clone()), after),
                _ => (Value::Bool(at.is_some()), after),
            }
        }
        (ObjectKind::Register, method) => {
            let now = state.first().cloned().unwrap_or(Value::Nil);
            match method {
                Method::Read => (now, after),
                Method::Write => (nil, vec![arg]),
                _ if now == arg => (Value::Bool(true), vec![values.get(op.arg2).clone()]),
                _ => (Value::Bool(false), after),
            }
        }
        (ObjectKind::Map, method) => {
            // A state of a map is a list of keys, each followed by what it holds.
            let key = values.get(op.place).clone();
            let at = state.iter().step_by(2).position(|known| *known == key).map(|at| 2 * at + 1);
            let now = at.map_or(Value::Nil, |at| state[at].clone());
            let set = |value: Value| {
                let mut pairs: Vec<(Value, Value)> = state
                    .chunks(2)
                    .map(|pair| (pair[0].clone(), pair[1].clone()))
                    .filter(|(known, _)| *known != key)
                    .collect();
                pairs.push((key.clone(), value));
                pairs.sort();
                pairs.into_iter().flat_map(|(key, value)| [key, value]).collect::<State>()
            };
            match method {
                Method::Read => (now, after),
                Method::Write => (nil, set(arg)),
                Method::Append => {
                    let text = if now == Value::Nil { String::new() } else { now.to_string() };
                    (nil, set(Value::text(format!("{text}{arg}"))))
                }
                _ if now == arg => (Value::Bool(true), set(values.get(op.arg2).clone())),
                _ => (Value::Bool(false), after),
            }
        }
        (ObjectKind::Counter, method) => {
            let now = state.first().map_or(0, int);
            match method {
                Method::Read => (Value::Int(now), after),
                Method::FetchAdd => (Value::Int(now), vec![Value::Int(now + int(&arg))]),
                _ => (nil, vec![Value::Int(now + int(&arg))]),
            }
        }
        (ObjectKind::Log, Method::Append) => {
            after.push(arg);
            (Value::Int(state.len() as i64), after)
        }
        (ObjectKind::Log, _) => (Value::list(state.clone()), after),
        (ObjectKind::Lock | ObjectKind::Mutex, method) => {
            let me = if kind == ObjectKind::Lock { values.get(op.process).clone() } else { Value::Nil };
            match (method, state.first()) {
                (Method::Acquire, None) => (nil, vec![me]),
                (Method::TryAcquire, None) => (Value::Bool(true), vec![me]),
                (Method::TryAcquire, Some(_)) => (Value::Bool(false), after),
                (Method::Release, Some(owner)) if *owner == me => (nil, vec![]),
                _ => return None,
            }
        }
        (ObjectKind::Bag, Method::Insert) => {
            after.push(arg);
            after.sort();
            (nil, after)
        }
        other => panic!("the generator made {other:?}"),
    })
}

/// Everything a call may answer in a state, with the state after it.
pub fn answers(kind: ObjectKind, state: &State, op: &Op, values: &Values) -> Vec<(Value, State)> {
    if kind != ObjectKind::Bag || op.method == Method::Insert || state.is_empty() {
        let nothing = (kind == ObjectKind::Bag && op.method == Method::Remove).then(|| (Value::Nil, state.clone()));
        return nothing.or_else(|| answer(kind, state, op, values)).into_iter().collect();
    }
    let without = |at: usize| {
        let mut after = state.clone();
        (after.remove(at), after)
    };
    (0..state.len()).map(without).collect()
}

/// Whether some order is legal, by trying all of them.
pub fn brute_force(kind: ObjectKind, ops: &[Op], values: &Values) -> bool {
    brute_force_since(kind, ops, ops, &vec![false; ops.len()], values)
}

/// Whether some order is legal if the operations are the first ones as long as not all of the early ones have taken effect, and the
/// second ones from then on.
pub fn brute_force_since(kind: ObjectKind, before: &[Op], after: &[Op], early: &[bool], values: &Values) -> bool {
    struct Orders<'a> {
        kind: ObjectKind,
        before: &'a [Op],
        after: &'a [Op],
        early: &'a [bool],
        values: &'a Values,
        seen: HashSet<(u32, State)>,
    }
    impl Orders<'_> {
        fn some(&mut self, done: u32, state: State) -> bool {
            let open = |at: usize| done >> at & 1 == 0;
            let early = (0..self.before.len()).any(|at| open(at) && self.early[at]);
            let ops = if early { self.before } else { self.after };
            if (0..ops.len()).all(|at| !open(at) || ops[at].ret == Ts::INF) {
                return true;
            }
            if !self.seen.insert((done, state.clone())) {
                return false;
            }
            let deadline = (0..ops.len()).filter(|&at| open(at)).map(|at| ops[at].ret).min();
            let deadline = deadline.expect("some operation is left");
            (0..ops.len()).any(|at| {
                let op = &ops[at];
                if !open(at) || op.call > deadline {
                    return false;
                }
                answers(self.kind, &state, op, self.values).into_iter().any(|(said, next)| {
                    let silent = op.method == Method::Append && op.result == Some(ValueId::NIL);
                    let agrees = silent || op.result.is_none_or(|result| *self.values.get(result) == said);
                    agrees && self.some(done | 1 << at, next)
                })
            })
        }
    }
    Orders { kind, before, after, early, values, seen: HashSet::new() }.some(0, Vec::new())
}

/// What random histories of a kind are made of.
#[derive(Clone, Copy)]
pub struct Shape {
    pub kind: ObjectKind,
    /// The most operations.
    pub ops: usize,
    /// How many different values; 0 makes every inserted value new, and a map is not asked to compare. Sets of three are read as a whole.
    pub values: usize,
}

fn methods(shape: Shape) -> &'static [Method] {
    use Method::*;
    match shape.kind {
        ObjectKind::Stack | ObjectKind::Queue | ObjectKind::Bag | ObjectKind::PriorityQueue => &[Insert, Remove],
        ObjectKind::Set | ObjectKind::Multiset if shape.values == 3 => &[Insert, Insert, Insert, Remove, Read, Read],
        ObjectKind::Set | ObjectKind::Multiset => &[Insert, Insert, Remove, Remove, Contains],
        ObjectKind::Register if shape.values == 0 => &[Read, Read, Read, Read, Write, Write, Write, Cas],
        ObjectKind::Register => &[Read, Read, Write, Cas],
        ObjectKind::Map if shape.values == 0 => &[Read, Read, Write, Append, Append],
        ObjectKind::Map => &[Read, Read, Write, Cas, Append],
        ObjectKind::Counter => &[Read, Add, FetchAdd],
        ObjectKind::Log => &[Read, Append, Append],
        ObjectKind::Lock | ObjectKind::Mutex => &[Acquire, Release, TryAcquire],
        ObjectKind::Deque => &[PushFront, PushBack, PopFront, PopBack],
    }
}

/// A random history: a legal run whose operations are stretched around their points, then often damaged; or intervals and
/// answers at random. Some operations are pending.
pub fn random_history(shape: Shape, random: &mut Random) -> History {
    let mut values = Values::default();
    let count = 1 + random.below(shape.ops);
    let legal = random.chance(75);
    let width = 1 + random.below(10);
    let mut state: State = Vec::new();
    let mut fresh = 0;
    let mut raw: Vec<(i64, i64, Op)> = Vec::new();
    let processes: Vec<ValueId> = (0..3).map(|number| values.intern_int(1000 + number)).collect();
    let places: Vec<ValueId> = (0..2).map(|number| values.intern(Value::text(format!("k{number}")))).collect();
    for position in 0..count as i64 {
        let method = random.pick(methods(shape));
        let mut value = |random: &mut Random, values: &mut Values| {
            let number = if shape.values == 0 {
                fresh += 1;
                fresh
            } else {
                1 + random.below(shape.values) as i64
            };
            values.intern_int(number)
        };
        let takes = !matches!(
            (shape.kind, method),
            (ObjectKind::Stack | ObjectKind::Queue | ObjectKind::Bag | ObjectKind::PriorityQueue, Method::Remove)
                | (
                    _,
                    Method::Read
                        | Method::PopFront
                        | Method::PopBack
                        | Method::Acquire
                        | Method::Release
                        | Method::TryAcquire
                )
        );
        let mut op = Op {
            process: random.pick(&processes),
            place: if shape.kind == ObjectKind::Map { random.pick(&places) } else { ValueId::NIL },
            method,
            arg: if takes { value(random, &mut values) } else { ValueId::NIL },
            arg2: if method == Method::Cas { value(random, &mut values) } else { ValueId::NIL },
            result: None,
            call: Ts(0),
            ret: Ts(0),
            call_line: 0,
            ret_line: 0,
        };
        let mut possible = answers(shape.kind, &state, &op, &values);
        let choice = if possible.is_empty() { None } else { Some(possible.swap_remove(random.below(possible.len()))) };
        let said = match choice {
            Some((said, next)) => {
                if legal {
                    state = next;
                }
                said
            }
            None => Value::Nil,
        };
        let known = values.len();
        let said = if legal {
            values.intern(said)
        } else {
            match said {
                Value::Nil if takes || matches!(shape.kind, ObjectKind::Lock | ObjectKind::Mutex) => ValueId::NIL,
                Value::Bool(_) if shape.kind == ObjectKind::Multiset && method == Method::Insert => ValueId::TRUE,
                Value::Bool(_) => ValueId::of_bool(random.chance(50)),
                Value::List(_) => values.intern(said),
                _ => ValueId(3 + random.below(known - 3) as u32),
            }
        };
        op.result = Some(if method == Method::Append && random.chance(70) { ValueId::NIL } else { said });
        if shape.kind == ObjectKind::Set && shape.values == 3 && method == Method::Insert && random.chance(60) {
            // As Jepsen's sets answer: nobody knows whether it was new.
            op.result = None;
        }
        let middle = 10 * position;
        let (left, right) = (random.below(10 * width) as i64, random.below(10 * width) as i64);
        raw.push((middle - left, middle + right, op));
    }
    if random.chance(50) {
        // Damage: swap the answers of two operations of one method, or move one operation.
        let (one, two) = (random.below(count), random.below(count));
        if raw[one].2.method == raw[two].2.method && random.chance(60) {
            let answer = raw[one].2.result;
            raw[one].2.result = raw[two].2.result;
            raw[two].2.result = answer;
        } else {
            let by = random.below(60) as i64 - 30;
            raw[one].0 += by;
            raw[one].1 += by;
        }
    }
    let pending: Vec<bool> = raw.iter().map(|_| random.chance(12)).collect();
    let mut ends: Vec<(i64, usize, usize, bool)> = Vec::new();
    for (at, (from, to, _)) in raw.iter().enumerate() {
        ends.push((*from, random.below(1000), at, false));
        if !pending[at] {
            ends.push((*to + 1, random.below(1000), at, true));
        }
    }
    ends.sort_unstable();
    let mut ops: Vec<Op> = raw.into_iter().map(|(_, _, op)| Op { ret: Ts::INF, ..op }).collect();
    for (at, op) in ops.iter_mut().enumerate() {
        if pending[at] {
            op.result = None;
        }
    }
    for (time, (_, _, at, returns)) in ends.iter().enumerate() {
        if *returns {
            ops[*at].ret = Ts(time as u32);
        } else {
            ops[*at].call = Ts(time as u32);
        }
    }
    ops.sort_by_key(|op| op.call);
    History { ops, values, events: ends.len() as u32 }
}

/// A history in words, for messages.
pub fn show(history: &History, ops: &[Op]) -> String {
    let mut text = String::new();
    for op in ops {
        let result = op.result.map_or("?".to_string(), |result| history.value(result).to_string());
        let ret = if op.ret == Ts::INF { "-".to_string() } else { op.ret.0.to_string() };
        text.push_str(&format!(
            "[{:>2},{:>2}] {:?}@{} {} {} -> {} by {}\n",
            op.call.0,
            ret,
            op.method,
            history.value(op.place),
            history.value(op.arg),
            history.value(op.arg2),
            result,
            history.value(op.process)
        ));
    }
    text
}
