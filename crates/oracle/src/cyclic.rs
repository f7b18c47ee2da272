//! Random programs whose loops do not end, and whose states are few; and a plain search through all of their states.

use raddle_machine::{AnyMemory, Automaton, ByteMemory, Code, Memory, State, Status, Thread, Visible};
use raddle_testkit::Random;
use raddle_trace::{Model, Step, StoreBuffer};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsearched {
    /// There are more states than were asked for.
    TooLarge,
    /// A loop turns for ever without a visible step, so that nobody knows where its thread rests.
    Restless,
}

/// Which assertions can fail, by line, and how many states there are, if store buffers are no longer than this.
///
/// # Errors
/// If there are more states than `most`, or the machine cannot follow a thread.
pub fn plain(code: &Code, model: Model, buffer: usize, most: usize) -> Result<(BTreeSet<u32>, usize), Unsearched> {
    let first = State::new(AnyMemory::of(model, ByteMemory::initial(code)), Thread::main(code, false));
    let (mut seen, mut todo, mut failing) = (HashSet::from([first.clone()]), vec![first], BTreeSet::new());
    while let Some(state) = todo.pop() {
        for thread in state.threads() {
            if let Status::Failed(failure) = thread.status() {
                failure.property.ok_or(Unsearched::Restless)?;
                failing.insert(code.span(failure.pc).line);
            }
        }
        for step in state.moves(code) {
            let id = step.thread();
            let is_store =
                matches!(state.thread(id).map(Automaton::status), Some(Status::Ready(Visible::Store { .. })));
            let waiting = state.memory().waiting(id).map_or(0, StoreBuffer::len);
            if matches!(step, Step::Run(_)) && is_store && waiting >= buffer && state.memory().keeps() {
                continue;
            }
            let mut next = state.clone();
            next.step(code, step, &mut ()).expect("it is a move");
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
        if seen.len() > most {
            return Err(Unsearched::TooLarge);
        }
    }
    Ok((failing, seen.len()))
}

/// A random program as [`program()`] makes them, with unknown inputs, assumptions, sections under a lock, loops that count, and an array.
pub fn richer(random: &mut Random) -> String {
    let mut text = String::from("global x: i32; global y: i32; global z: i32; global m: mutex; global l: i32[3];\n");
    let threads = random.between(2, 3);
    for thread in 0..threads {
        writeln!(text, "fn t{thread}() {{ let a = 0; let b = 0; let k = 0;").expect("a string");
        let loops = random.chance(75);
        let head = if random.chance(70) { "loop".to_owned() } else { format!("while k < {}", random.between(1, 3)) };
        if loops {
            writeln!(text, "{head} {{ k = (k + 1) % 4;").expect("a string");
        }
        for _ in 0..random.between(2, if threads == 3 { 3 } else { 4 }) {
            more(random, loops, &mut text);
        }
        if loops {
            text.push_str("}\n");
        }
        text.push_str("}\n");
    }
    let starts: String = (0..threads).map(|thread| format!("let h{thread} = spawn t{thread}(); ")).collect();
    let joins: String = (0..threads).filter(|_| random.chance(50)).map(|thread| format!("join h{thread}; ")).collect();
    let last = random.below(3);
    writeln!(text, "fn main() {{ {starts}\n{joins}\nlet e = load x; assert e != {last}; }}").expect("a string");
    text
}

fn more(random: &mut Random, in_loop: bool, text: &mut String) {
    let (x, y) = (random.pick(&["x", "y", "z"]), random.pick(&["x", "y", "z"]));
    let reg = random.pick(&["a", "b"]);
    let (value, n) = (random.below(3), random.number());
    let line = match random.below(9) {
        0 => format!("{reg} = choose; assume {reg} >= 0 && {reg} < 3; store {x}, {reg};"),
        1 => format!("{reg} = choose; if {reg} == {value} {{ store {x}, 1; }} else {{ {reg} = 2; }}"),
        2 => format!("lock m; {reg} = load {x}; store {x}, ({reg} + 1) % 3; unlock m;"),
        3 => format!(
            "lock m; {reg} = load {x}; let c{n} = load {y}; unlock m; assert {reg} != c{n} || {reg} != {value};"
        ),
        4 => format!("{reg} = load {x}; assume {reg} != {value};"),
        5 => format!("let i{n} = choose 0..3; store l[i{n}], {value};"),
        6 => format!("{reg} = load l[{value}]; assert {reg} != {};", random.between(1, 2)),
        7 => format!("atomic {{ {reg} = load {x}; store {y}, {reg}; }}"),
        _ => return statement(random, &["x", "y", "z"], in_loop, text),
    };
    text.push_str(&line);
    text.push('\n');
}

/// A random program: threads that turn in loops and leave them by what they read, or not at all; values are 0 to 2.
pub fn program(random: &mut Random) -> String {
    of_size(random, &["x", "y", "z"], 3, 5)
}

/// One of a long row of random programs: every eighth as [`program()`] makes them, the others with two threads of two or three statements on two variables, which have tens of states instead of hundreds. What goes wrong
/// does so in small programs, too, and of these ten are searched in the time of one.
pub fn mixed(seed: u64, random: &mut Random) -> String {
    if seed.is_multiple_of(8) { program(random) } else { of_size(random, &["x", "y"], 2, 3) }
}

fn of_size(random: &mut Random, variables: &[&str], most_threads: usize, most_statements: usize) -> String {
    let mut text = String::from("global x: i32; global y: i32; global z: i32; global m: mutex;\n");
    let threads = random.between(2, most_threads);
    for thread in 0..threads {
        writeln!(text, "fn t{thread}() {{ let a = 0; let b = 0; let k = 0;").expect("a string");
        for _ in 0..random.between(0, 1) {
            statement(random, variables, false, &mut text);
        }
        let loops = random.chance(80);
        if loops {
            text.push_str("loop {\n");
        }
        for _ in 0..random.between(2, if threads == 3 { 3 } else { most_statements }) {
            statement(random, variables, loops, &mut text);
        }
        if loops {
            text.push_str("}\n");
            if random.chance(50) {
                statement(random, variables, false, &mut text);
            }
        }
        text.push_str("}\n");
    }
    let starts: String = (0..threads).map(|thread| format!("spawn t{thread}(); ")).collect();
    writeln!(text, "fn main() {{ {starts}}}").expect("a string");
    text
}

fn statement(random: &mut Random, variables: &[&str], in_loop: bool, text: &mut String) {
    let (x, y) = (random.pick(variables), random.pick(variables));
    let reg = random.pick(&["a", "b"]);
    let value = random.below(3);
    let leaves = if random.chance(70) { "break" } else { "continue" };
    let line = match random.below(12) {
        0 | 1 => format!("store {x}, {value};"),
        2 => format!("store {x}, ({reg} + 1) % 3;"),
        3 | 4 => format!("{reg} = load {x};"),
        5 if in_loop => format!("{reg} = load {x}; if {reg} == {value} {{ {leaves}; }}"),
        5 => format!("{reg} = load {x} until {reg} != {value};"),
        6 => format!(
            "{reg} = load {x}; let c{0} = load {y}; assert {reg} != {value} || c{0} != {1};",
            random.number(),
            random.below(3)
        ),
        7 => format!("{reg} = load {x}; assert {reg} != {value};"),
        8 => format!("{reg} = cas {x}, {value}, {};", random.below(3)),
        9 => String::from(if random.chance(50) { "fence.sc;" } else { "lock m; unlock m;" }),
        10 => format!("{reg} = choose 0..2; store {x}, {reg};"),
        _ => format!("k = (k + 1) % 3; if k == {value} {{ store {x}, k; }}"),
    };
    text.push_str(&line);
    text.push('\n');
}
