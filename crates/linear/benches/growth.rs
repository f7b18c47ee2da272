//! How checking time grows with the history.
//!
//! ```text
//! cargo bench -p raddle-linear --bench growth                # 10^3 to 10^6 operations
//! cargo bench -p raddle-linear --bench growth -- --max 7     # to 10^7
//! cargo bench -p raddle-linear --bench growth -- --only kv   # one table: monitors, stream, kv, register
//! ```
//!
//! Histories come from a simulation: threads call, take effect and return in a random order, so every history is linearizable and about
//! as many operations overlap as there are threads. Times are wall times of one run on one core and include the
//! second check of the linearization, not the generation. Under each table stands the exponent e of the best fit time = c n^e, and
//! the time divided by n log2 n, which stays level if that is the growth.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use raddle_linear::check::{Config, Engine, check};
use raddle_linear::command::{Options, run};
use raddle_linear::format::write::json_lines;
use raddle_linear::history::{History, Method, Op, Ts};
use raddle_linear::monitor::stack::StackAlgorithm;
use raddle_linear::object::ObjectKind;
use raddle_linear::search::Budget;
use raddle_linear::value::{Value, ValueId, Values};
use raddle_linear::verdict::Verdict;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % bound
    }
}

/// A sequential object of the simulation: chooses a call, then answers it when it takes effect.
trait Simulated {
    fn call(&mut self, random: &mut Random, values: &mut Values) -> Op;
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
struct Line {
    stack: bool,
    insert_percent: usize,
    stored: VecDeque<ValueId>,
    made: i64,
}

impl Simulated for Line {
    fn call(&mut self, random: &mut Random, values: &mut Values) -> Op {
        if random.below(100) < self.insert_percent {
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
    fn call(&mut self, random: &mut Random, values: &mut Values) -> Op {
        let arg = values.intern_int(random.below(self.values) as i64);
        let method = match random.below(if self.multiset { 10 } else { 15 }) {
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
struct Store {
    keys: Vec<ValueId>,
    held: Vec<String>,
    made: usize,
}

impl Simulated for Store {
    fn call(&mut self, random: &mut Random, values: &mut Values) -> Op {
        let place = self.keys[random.below(self.keys.len())];
        self.made += 1;
        let piece = Value::text(format!("x {} y", self.made));
        match random.below(10) {
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
struct Cell {
    holds: ValueId,
    values: usize,
}

impl Simulated for Cell {
    fn call(&mut self, random: &mut Random, values: &mut Values) -> Op {
        let mut value = || values.intern_int(random.below(self.values) as i64);
        let (arg, arg2) = (value(), value());
        match random.below(3) {
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
fn simulate(object: &mut dyn Simulated, mut values: Values, count: usize, threads: usize, seed: u64) -> History {
    let mut random = Random(seed * 2 + 1);
    let processes: Vec<ValueId> = (0..threads).map(|thread| values.intern_int(thread as i64)).collect();
    let mut open: Vec<Option<(usize, bool)>> = vec![None; threads];
    let mut ops: Vec<Op> = Vec::with_capacity(count);
    let (mut clock, mut returned) = (0u32, 0);
    while returned < count {
        let thread = random.below(threads);
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

fn line(stack: bool, insert_percent: usize) -> Line {
    Line { stack, insert_percent, stored: VecDeque::new(), made: 0 }
}

fn generate(kind: ObjectKind, count: usize, threads: usize) -> History {
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

fn timed(history: &History, config: &Config) -> (f64, String) {
    let started = Instant::now();
    let word = match check(history, config) {
        Ok(report) => match report.verdict {
            Verdict::Holds(_) => "holds".to_string(),
            Verdict::Violated(explanation) => {
                format!("violated ({} ops shown)", explanation.ops.len())
            }
            Verdict::Unknown(_) => "unknown".to_string(),
        },
        Err(error) => error.to_string(),
    };
    (started.elapsed().as_secs_f64(), word)
}

/// The exponent of the best fit time = c n^e.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(n, t)| (n.ln(), t.max(1e-9).ln())).collect();
    let count = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let cov: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let var: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    cov / var
}

fn monitors(max: u32) {
    println!("Monitors: seconds to check n operations and to check the linearization again\n");
    for kind in [ObjectKind::Queue, ObjectKind::Set, ObjectKind::Multiset, ObjectKind::Stack] {
        println!("{kind}");
        println!("{:>10} {:>12} {:>12} {:>12} {:>12} {:>12}", "n", "4 threads", "8", "16", "32", "64");
        let mut columns: Vec<Vec<(f64, f64)>> = vec![Vec::new(); 5];
        for power in 3..=max {
            let count = 10usize.pow(power);
            print!("{count:>10}");
            for (column, threads) in [4, 8, 16, 32, 64].into_iter().enumerate() {
                let history = generate(kind, count, threads);
                let (seconds, word) = timed(&history, &Config::new(kind));
                assert_eq!(word, "holds");
                columns[column].push((count as f64, seconds));
                print!(" {seconds:>12.4}");
            }
            println!();
        }
        print!("{:>10}", "e");
        columns.iter().for_each(|points| print!(" {:>12.2}", exponent(&points[1..])));
        print!("\n{:>10}", "ns/n·log n");
        for points in &columns {
            let shown: Vec<String> =
                points[1..].iter().map(|(n, t)| format!("{:.1}", t * 1e9 / (n * n.log2()))).collect();
            print!(" {:>12}", shown.join("/"));
        }
        println!("\n");
    }
    println!("Stack, inserts to removals 5:4 (10,000 pushes and 8,000 pops is the largest published case), 8 threads");
    println!("{:>10} {:>12} {:>12}", "n", "near-linear", "quadratic");
    for count in [1_800, 18_000, 180_000, 1_800_000] {
        let history = simulate(&mut line(true, 56), Values::default(), count, 8, 9);
        let (fast, word) = timed(&history, &Config::new(ObjectKind::Stack));
        assert_eq!(word, "holds");
        let slow = (count <= 18_000).then(|| {
            let config = Config { stack: StackAlgorithm::Quadratic, ..Config::new(ObjectKind::Stack) };
            format!("{:>12.4}", timed(&history, &config).0)
        });
        println!("{count:>10} {fast:>12.4} {}", slow.unwrap_or_default());
    }
    println!(
        "\nViolations, one million operations, 8 threads: two answers exchanged in the middle; with the explanation"
    );
    for kind in [ObjectKind::Queue, ObjectKind::Set, ObjectKind::Multiset, ObjectKind::Stack] {
        let mut history = generate(kind, 1_000_000, 8);
        damage(&mut history, kind);
        let (seconds, word) = timed(&history, &Config::new(kind));
        println!("{:>10} {seconds:>12.4}  {word}", kind.to_string());
    }
    println!();
}

/// Exchanges the answers of two removals in the middle that are far apart, or turns a set's answer around.
fn damage(history: &mut History, kind: ObjectKind) {
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

fn stream() {
    println!("From JSON lines to the verdict, one million operations, 8 threads: seconds");
    println!("{:>10} {:>10} {:>12} {:>12}", "object", "MB", "whole", "stream");
    for kind in [ObjectKind::Queue, ObjectKind::Set, ObjectKind::Multiset, ObjectKind::Stack] {
        let history = generate(kind, 1_000_000, 8);
        let mut bytes = Vec::new();
        json_lines(&history, kind, &mut bytes).expect("memory can be written to");
        let read = |stream: bool| {
            let options = Options { object: Some(kind), stream, ..Options::default() };
            let started = Instant::now();
            let mut shown = Vec::new();
            let outcome = run(&bytes[..], &options, &mut shown).expect("our own histories can be read");
            assert_eq!(outcome.word(), "holds", "{}", String::from_utf8_lossy(&shown));
            format!("{:>12.3}", started.elapsed().as_secs_f64())
        };
        let streamed = if kind == ObjectKind::Stack { String::new() } else { read(true) };
        println!("{:>10} {:>10} {} {streamed}", kind.to_string(), bytes.len() / 1_000_000, read(false));
    }
    println!();
}

fn store(keys: usize) -> (Store, Values) {
    let mut values = Values::default();
    let keys: Vec<ValueId> = (0..keys).map(|key| values.intern(Value::text(key.to_string()))).collect();
    (Store { held: vec![String::new(); keys.len()], keys, made: 0 }, values)
}

/// A read near the end answers what an earlier read of the same key answered.
fn stale(history: &mut History) {
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

fn kv() {
    println!("General checker, key-value store (get 40 %, put 10 %, append 50 %), 10 keys: seconds, configurations");
    println!(
        "{:>8} {:>8} | {:>26} {:>26} | {:>26} {:>26}",
        "clients", "ops", "whole, linearizable", "whole, stale read", "by key, linearizable", "by key, stale read"
    );
    for (clients, count) in
        [(10, 360), (10, 1_000), (10, 4_000), (25, 1_000), (50, 1_800), (50, 10_000), (100, 4_000), (100, 20_000)]
    {
        let (mut object, values) = store(10);
        let good = simulate(&mut object, values, count, clients, 3);
        let mut bad = good.clone();
        stale(&mut bad);
        print!("{clients:>8} {count:>8} |");
        for partition in [false, true] {
            for history in [&good, &bad] {
                let budget =
                    Budget { deadline: Some(Instant::now() + std::time::Duration::from_secs(10)), ..Budget::default() };
                let config = Config { partition, budget, explain: false, ..Config::new(ObjectKind::Map) };
                let started = Instant::now();
                let report = check(history, &config).expect("our own histories can be checked");
                let word = match report.verdict {
                    Verdict::Holds(_) => "holds",
                    Verdict::Violated(_) => "violated",
                    Verdict::Unknown(_) => "unknown",
                };
                print!(" {:>9.4} {word:>8} {:>7}", started.elapsed().as_secs_f64(), report.statistics.configurations);
            }
            print!(" |");
        }
        println!();
    }
    println!();
}

fn registers() {
    println!("General checker, register of 5 values (read, write, compare-and-set): seconds, configurations");
    println!("{:>8} {:>8} {:>28} {:>28}", "clients", "ops", "linearizable", "one read damaged");
    for (clients, count) in
        [(5, 1_000), (10, 1_000), (10, 10_000), (20, 1_000), (50, 1_000), (50, 10_000), (100, 10_000)]
    {
        let good = simulate(&mut Cell { holds: ValueId::NIL, values: 5 }, Values::default(), count, clients, 5);
        let mut bad = good.clone();
        stale(&mut bad);
        print!("{clients:>8} {count:>8}");
        for history in [&good, &bad] {
            let budget =
                Budget { deadline: Some(Instant::now() + std::time::Duration::from_secs(10)), ..Budget::default() };
            let config = Config { budget, explain: false, ..Config::new(ObjectKind::Register) };
            let started = Instant::now();
            let report = check(history, &config).expect("our own histories can be checked");
            let word = match report.verdict {
                Verdict::Holds(_) => "holds",
                Verdict::Violated(_) => "violated",
                Verdict::Unknown(_) => "unknown",
            };
            print!(" {:>9.4} {word:>8} {:>9}", started.elapsed().as_secs_f64(), report.statistics.configurations);
        }
        println!();
    }
    println!("\nGeneral checker on stacks and queues of different values (the monitors answer at once): seconds");
    for kind in [ObjectKind::Queue, ObjectKind::Stack] {
        for (threads, count) in [(4, 400), (4, 1_000), (8, 200), (8, 2_000)] {
            let history = generate(kind, count, threads);
            let budget =
                Budget { deadline: Some(Instant::now() + std::time::Duration::from_secs(10)), ..Budget::default() };
            let config = Config { engine: Engine::Search, budget, ..Config::new(kind) };
            let (seconds, word) = timed(&history, &config);
            println!("{:>8} {threads} threads {count:>6} operations {seconds:>9.4} {word}", kind.to_string());
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let option = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let max = option("--max").and_then(|word| word.parse().ok()).unwrap_or(6).clamp(4, 7);
    let only = option("--only").map(String::as_str);
    if only.is_none_or(|only| only == "monitors") {
        monitors(max);
    }
    if only.is_none_or(|only| only == "stream") {
        stream();
    }
    if only.is_none_or(|only| only == "kv") {
        kv();
    }
    if only.is_none_or(|only| only == "register") {
        registers();
    }
}
