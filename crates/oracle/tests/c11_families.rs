//! Families of programs whose numbers of executions are known under every model, by `optimal` and by `rf`.

use raddle_engine::{Control, Engine, PropertySet, Question};
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options};
use raddle_trace::{Model, Property};

/// A model, and which orderings accesses have: relaxed, release and acquire, seq_cst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Under {
    Sc,
    Sra,
    Ra,
    Wra,
    Relaxed,
    Acquiring,
    Strong,
}

use Under::{Acquiring, Ra, Relaxed, Sc, Sra, Strong, Wra};

const ALL: [Under; 7] = [Sc, Sra, Ra, Wra, Relaxed, Acquiring, Strong];
const WEAK: [Under; 5] = [Sra, Ra, Wra, Relaxed, Acquiring];

impl Under {
    fn model(self) -> Model {
        match self {
            Sc => Model::Sc,
            Sra => Model::Sra,
            Ra => Model::Ra,
            Wra => Model::Wra,
            Relaxed | Acquiring | Strong => Model::Rc11,
        }
    }

    /// The text with its orderings: `load.O`, `store.O`, `rmw.add.O`, `cas.O`.
    fn ordered(self, text: &str) -> String {
        let [load, store, update] = match self {
            Relaxed => ["rlx"; 3],
            Strong => ["sc"; 3],
            _ => ["acq", "rel", "acqrel"],
        };
        let text = text.replace("load.O", &format!("load.{load}")).replace("store.O", &format!("store.{store}"));
        let compared = format!("cas.{update}.{load}");
        text.replace("cas.O", &compared).replace(".O ", &format!(".{update} "))
    }
}

/// Complete and blocked executions.
fn counts(engine: &str, text: &str, under: Under) -> (u64, u64) {
    let text = under.ordered(text);
    let program = raddle_program::parse("family", &text, &[]).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let code = compile(&program, &AllShared, &Options::default());
    let mut options = raddle_engine::Options::new(under.model());
    options.properties = PropertySet::all().without(Property::Race).without(Property::Deadlock);
    let engine: &dyn Engine = raddle::ENGINES.find(engine).expect("it is there");
    let outcome = engine.ask(&Question { code: &code, options: &options }, &Control::new());
    let statistics = outcome.unwrap_or_else(|error| panic!("{text} under {under:?}: {error}")).statistics;
    assert_eq!(statistics.redundant.unwrap_or(0), 0, "{text} under {under:?}");
    (statistics.executions, statistics.blocked)
}

/// Compares numbers of complete executions by `optimal` and by `rf`.
fn expect(text: &str, under: &[Under], traces: u64, sources: u64) {
    for &under in under {
        for (engine, count) in [("optimal", traces), ("rf", sources)] {
            assert_eq!(counts(engine, text, under).0, count, "{text} under {under:?} by {engine}");
        }
    }
}

/// The program with these threads, and its locations.
fn threads(globals: &[String], bodies: &[String]) -> String {
    let globals: String = globals.iter().map(|name| format!("global {name}; ")).collect();
    let functions: String = bodies.iter().enumerate().map(|(at, body)| format!("fn t{at}() {{ {body} }} ")).collect();
    let spawns: String = (0..bodies.len()).map(|at| format!("spawn t{at}(); ")).collect();
    format!("{globals}{functions}fn main() {{ {spawns}}}")
}

fn cells(name: &str, count: u32) -> Vec<String> {
    (0..count).map(|at| format!("{name}{at}: i32")).collect()
}

#[test]
fn store_buffers() {
    let program = |n: u32, fence: &str| {
        let body = |at: u32| format!("store.O x{at}, 1; {fence} let r = load.O x{};", (at + 1) % n);
        threads(&cells("x", n), &(0..n).map(body).collect::<Vec<_>>())
    };
    for n in 2..=5 {
        let all = 1 << n;
        expect(&program(n, ""), &[Sc, Strong], all - 1, all - 1);
        expect(&program(n, ""), &WEAK, all, all);
    }
    for n in 2..=4 {
        let all = (1 << n) - 1;
        expect(&program(n, "fence.sc;"), &[Sc, Sra, Ra, Relaxed, Acquiring, Strong], all, all);
    }
}

#[test]
fn chains_of_messages() {
    for n in 1..=4 {
        let mut bodies = vec!["store.O x, 1; store.O y1, 1;".to_owned()];
        bodies.extend((1..n).map(|at| format!("let a = load.O y{at}; store.O y{}, 1;", at + 1)));
        bodies.push(format!("let a = load.O y{n}; let b = load.O x;"));
        let globals: Vec<String> = (1..=n).map(|at| format!("y{at}: i32")).chain(["x: i32".to_owned()]).collect();
        let text = threads(&globals, &bodies);
        // A copy is made whatever was seen, so that the chain can break at every link.
        let all: u64 = 1 << (n + 1);
        expect(&text, &[Sc, Sra, Ra, Wra, Acquiring, Strong], all - 1, all - 1);
        expect(&text, &[Relaxed], all, all);
    }
}

/// Two threads that add up each other's numbers.
fn fibonacci(k: usize, reader: bool) -> String {
    let half = |mine: &str, other: &str| {
        let turn =
            |at| format!("let a{at} = load.O {mine}; let b{at} = load.O {other}; store.O {mine}, a{at} + b{at}; ");
        (0..k).map(turn).collect::<String>()
    };
    let mut bodies = vec![half("i", "j"), half("j", "i")];
    if reader {
        bodies.push("let a = load.O i; let b = load.O j;".to_owned());
    }
    threads(&["i: i32 = 1".to_owned(), "j: i32 = 1".to_owned()], &bodies)
}

#[test]
fn fibonacci_numbers() {
    for (k, strong, weak) in [(1, 3, 3), (2, 19, 20), (3, 141, 175), (4, 1107, 1764)] {
        expect(&fibonacci(k, false), &[Sc], strong, strong);
        expect(&fibonacci(k, false), &WEAK, weak, weak);
        if k <= 3 {
            expect(&fibonacci(k, false), &[Strong], strong, strong);
        }
    }
    for (k, strong, causal, relaxed) in [(1, 11, 11, 12), (2, 140, 153, 180)] {
        expect(&fibonacci(k, true), &[Sc, Strong], strong, strong);
        expect(&fibonacci(k, true), &[Sra, Ra, Wra, Acquiring], causal, causal);
        expect(&fibonacci(k, true), &[Relaxed], relaxed, relaxed);
    }
}

#[test]
fn readers_and_writers() {
    for n in 1..=6 {
        let mut bodies = vec!["store.O x, 1;".to_owned()];
        bodies.extend((0..n).map(|_| "let r = load.O x;".to_owned()));
        expect(&threads(&["x: i32".to_owned()], &bodies), &ALL, 1 << n, 1 << n);
    }
    let ordered = [Sc, Sra, Ra, Relaxed, Acquiring, Strong];
    for n in 1..=4u64 {
        let writers: Vec<String> = (1..=n).map(|value| format!("store.O x, {value};")).collect();
        let factorial: u64 = (1..=n).product();
        let text = threads(&["x: i32".to_owned()], &writers);
        expect(&text, &ordered, factorial, 1);
        expect(&text, &[Wra], 1, 1);
        let with_reader: Vec<String> = writers.into_iter().chain(["let r = load.O x;".to_owned()]).collect();
        let text = threads(&["x: i32".to_owned()], &with_reader);
        expect(&text, &ordered, factorial * (n + 1), n + 1);
        expect(&text, &[Wra], n + 1, n + 1);
    }
}

#[test]
fn rings_of_writes() {
    for n in 2..=4 {
        let body = |at: u32| format!("store.O x{at}, 1; store.O x{}, 2;", (at + 1) % n);
        let text = threads(&cells("x", n), &(0..n).map(body).collect::<Vec<_>>());
        expect(&text, &[Sc, Sra, Strong], (1 << n) - 1, 1);
        expect(&text, &[Ra, Relaxed, Acquiring], 1 << n, 1);
        expect(&text, &[Wra], 1, 1);
    }
}

#[test]
fn independent_reads_of_independent_writes() {
    for (readers, strong, weak) in [(2u32, 15, 16), (3, 57, 64)] {
        let mut bodies: Vec<String> = vec!["store.O x0, 1;".into(), "store.O x1, 1;".into()];
        let reader = |at: u32| format!("let a = load.O x{}; let b = load.O x{};", at % 2, (at + 1) % 2);
        bodies.extend((0..readers).map(reader));
        let text = threads(&cells("x", 2), &bodies);
        expect(&text, &[Sc, Strong], strong, strong);
        expect(&text, &[Sra, Ra, Wra, Acquiring], weak, weak);
    }
}

#[test]
fn updates() {
    for (count, each, classes) in [(2, 1, 2), (2, 2, 6), (2, 3, 20), (3, 1, 6), (3, 2, 90), (4, 1, 24)] {
        let body: String = (0..each).map(|at| format!("let r{at} = rmw.add.O x, 1; ")).collect();
        let text = threads(&["x: i32".to_owned()], &vec![body; count]);
        expect(&text, &ALL, classes, classes);
    }
    for (count, traces, sources) in [(2, 4, 3), (3, 36, 16)] {
        let lost = "let r = load.O x; store.O x, r + 1;".to_owned();
        let text = threads(&["x: i32".to_owned()], &vec![lost; count]);
        expect(&text, &[Sc, Sra, Ra, Relaxed, Acquiring, Strong], traces, sources);
        expect(&text, &[Wra], sources, sources);
    }
    for count in 2..=4 {
        let body = |value: u64| format!("let r = cas.O x, 0, {value};");
        let text = threads(&["x: i32".to_owned()], &(1..=count).map(body).collect::<Vec<_>>());
        expect(&text, &ALL, count, count);
    }
}

#[test]
fn updates_that_must_succeed() {
    let body = "let a = load.O x; let b = cas.O x, a, a + 1; assume b == a;".to_owned();
    let text = threads(&["x: i32".to_owned()], &vec![body; 2]);
    for under in ALL {
        assert_eq!(counts("optimal", &text, under), (2, 2), "under {under:?}");
    }
}

#[test]
fn locks_and_waits() {
    let ordered = [Sc, Sra, Ra, Relaxed, Acquiring, Strong];
    let under_lock = "lock m; let r = load.O x; store.O x, r + 1; unlock m;".to_owned();
    for (count, classes) in [(2, 2), (3, 6)] {
        let text = threads(&["m: mutex".into(), "x: i32".into()], &vec![under_lock.clone(); count]);
        for under in ordered {
            assert_eq!(counts("optimal", &text, under), (classes, 0), "{count} threads under {under:?}");
        }
    }
    let opposite = ["lock m; lock n; unlock n; unlock m;".to_owned(), "lock n; lock m; unlock m; unlock n;".to_owned()];
    let text = threads(&["m: mutex".into(), "n: mutex".into()], &opposite);
    for under in ordered {
        assert_eq!(counts("optimal", &text, under), (2, 1), "opposite orders under {under:?}");
    }
    let waits =
        ["store.O x, 1; store.O flag, 1;".to_owned(), "let f = load.O flag until f == 1; let r = load.O x;".to_owned()];
    let text = threads(&["flag: i32".into(), "x: i32".into()], &waits);
    expect(&text, &[Sc, Sra, Ra, Acquiring, Strong], 1, 1);
    expect(&text, &[Relaxed], 2, 2);
}

#[test]
fn flags_and_a_critical_section() {
    let body = |mine: &str, other: &str| {
        format!("store.O {mine}, 1; let a = load.O {other}; if a == 0 {{ let b = load.O z; store.O z, 1; }}")
    };
    let text = threads(&["x: i32".into(), "y: i32".into(), "z: i32".into()], &[body("x", "y"), body("y", "x")]);
    expect(&text, &[Sc, Strong], 3, 3);
    expect(&text, &[Sra, Ra, Relaxed, Acquiring], 7, 6);
    expect(&text, &[Wra], 6, 6);
}
