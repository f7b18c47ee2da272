//! The engine `dc` against numbers that are known: classes by reads-from (Chalupa et al. 2018, and by enumeration), the number
//! of annotations it looks at, and what it must not lose.

use raddle_engine::{Control, Deadline, Engine, Fault, Options, Outcome, PropertySet, Question, Statistics};
use raddle_explore::dc::options::Settings;
use raddle_explore::dc::{self, DataCentric};
use raddle_machine::Code;
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_oracle::class::Class;
use raddle_oracle::compare::{code, with_switches};
use raddle_oracle::{Budget, Comparison, Effort, Sketch, compare, compare::Equivalence, enumerate, litmus};
use raddle_trace::{EventId, Model, Property, ThreadId, Verdict};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

const PLAIN: Settings = Settings { burst: false, refine: false, signals: true, backwards: false };
const BURST: Settings = Settings { burst: true, ..PLAIN };
const EVERY_READ: Settings = Settings { signals: false, ..PLAIN };
const REFINED: Settings = Settings { refine: true, ..PLAIN };

fn explore(code: &Code, options: &Options, settings: Settings) -> Result<Outcome, Fault> {
    let (question, control) = (Question { code, options }, Control::new());
    DataCentric.takes(&question)?;
    dc::explore(question, &Deadline::new(options.limits, &control), settings)
}

fn outcome(sketch: &Sketch, settings: Settings) -> Outcome {
    let mut options = Options::new(Model::Sc);
    options.all = true;
    options.properties = PropertySet::all().without(Property::Race);
    explore(&code(sketch), &options, settings).expect("it is supported")
}

fn explored(threads: &[impl AsRef<str>], settings: Settings) -> Outcome {
    let threads: Vec<&str> = threads.iter().map(AsRef::as_ref).collect();
    outcome(&litmus(&threads), settings)
}

fn counted(threads: &[impl AsRef<str>], settings: Settings) -> Statistics {
    explored(threads, settings).statistics
}

/// How many classes there are, by all variants that find them exactly.
fn classes(threads: &[impl AsRef<str>]) -> u64 {
    let found = counted(threads, PLAIN).executions;
    assert_eq!(counted(threads, Settings { backwards: true, ..PLAIN }).executions, found, "backwards");
    assert_eq!(counted(threads, BURST).executions, found, "by bursts");
    found
}

fn binomial(n: u64, k: u64) -> u64 {
    (1..=k).fold(1, |product, i| product * (n - k + i) / i)
}

#[test]
fn store_buffering_and_the_motivating_example() {
    assert_eq!(classes(&["W x 1; R y", "W y 1; R x"]), 3);
    assert_eq!(classes(&["W x 1; R x", "W x 2; R x"]), 3);
}

#[test]
fn two_long_threads_are_linear() {
    for n in 1..=5 {
        let thread = |value: usize| format!("{}R x", format!("W x {value}; ").repeat(n));
        assert_eq!(classes(&[thread(1), thread(2)]), 2 * n as u64 + 1, "n = {n}");
    }
}

#[test]
fn many_short_threads_are_like_labelled_trees() {
    for (k, expected) in [(2, 3), (3, 16), (4, 125)] {
        assert_eq!(classes(&vec!["R x; W x 1"; k]), expected, "read first, k = {k}");
        assert_eq!(classes(&vec!["W x 1; R x"; k]), expected, "write first, k = {k}");
    }
}

/// The example of a cyclic communication graph with an exponential gap.
fn cyclic_example(n: usize) -> [String; 3] {
    let long = |value: usize| format!("W x {value}; {}R y; R x", format!("W y {value}; ").repeat(n + 1));
    ["W x 1; R x".to_owned(), long(2), long(3)]
}

/// How many classes there are by reads-from and the order of the writes of two threads, the first and the last that write.
fn classes_with_the_order_of_two(threads: &[String]) -> usize {
    let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
    let brute = enumerate(&code(&litmus(&threads)), Model::Sc, Budget::default()).expect("small");
    let traces = brute.complete.traces.iter();
    let writers = |class: &Class| -> BTreeSet<ThreadId> {
        class.coherence.iter().flat_map(|(_, writes)| writes).map(|id| id.thread).collect()
    };
    let of_two = traces.map(|class| {
        let (first, last) = (writers(class).first().copied(), writers(class).last().copied());
        let is = |id: &EventId| Some(id.thread) == first || Some(id.thread) == last;
        let ordered = |writes: &Vec<EventId>| -> Vec<EventId> { writes.iter().copied().filter(is).collect() };
        // They share one location.
        let shared = class.coherence.iter().map(|(_, writes)| ordered(writes));
        let shared = shared.filter(|writes| writes.iter().any(|id| Some(id.thread) == first));
        (class.reads_from(), shared.collect::<Vec<_>>())
    });
    of_two.collect::<FxHashSet<_>>().len()
}

#[test]
fn the_cyclic_example_is_linear_both_ways() {
    for n in 0..=3 {
        let threads = cyclic_example(n);
        assert_eq!(classes(&threads), 38 + 22 * n as u64, "by reads-from, n = {n}");
        // Of the first and the third thread, that is: what the second one shares with both stays open.
        let refined = counted(&threads, REFINED).executions;
        assert_eq!(
            refined,
            classes_with_the_order_of_two(&threads) as u64,
            "with the order of two writes of x, n = {n}"
        );
        assert!(
            refined > 38 + 22 * n as u64 && refined < 72 + 36 * n as u64,
            "between all and no orders of x, n = {n}"
        );
    }
}

#[test]
fn a_forest_is_not_refined() {
    for threads in [["W x 1; R x", "W x 2; R x"], ["W x 1; W y 1; R x", "W y 2; W x 2; R y"]] {
        assert_eq!(counted(&threads, REFINED).executions, counted(&threads, PLAIN).executions);
    }
    let chain = ["W x 1; R x", "W x 2; W y 1; R x; R y", "W y 2; W z 1; R y; R z", "W z 2; R z"];
    assert_eq!(counted(&chain, REFINED).executions, counted(&chain, PLAIN).executions);
}

#[test]
fn bank_accounts() {
    let withdraw = |amount: u32, last: &str| format!("lock l; a=R b; if a!=0 {{ W b {amount} }}; unlock l{last}");
    let sketch = |last: &str| {
        let threads = format!("let b 4;\nthread\n{}\nthread\n{}\n", withdraw(1, last), withdraw(2, last));
        raddle_oracle::litmus::parse(&threads).expect("it is in the notation")
    };
    for switches in [PLAIN, BURST] {
        assert_eq!(outcome(&sketch("; R b"), switches).statistics.executions, 4);
        assert_eq!(outcome(&sketch(""), switches).statistics.executions, 2);
    }
}

#[test]
fn programs_with_one_writer_per_location() {
    for (n, expected) in [(2, 5), (3, 12), (4, 28), (5, 64), (6, 144)] {
        let case = raddle_oracle::cases::last_zero(n);
        assert_eq!(outcome(&case.sketch, PLAIN).statistics.executions, expected, "lastzero({n})");
        let bursts = outcome(&case.sketch, BURST).statistics;
        assert_eq!((bursts.executions, bursts.redundant), (expected, Some(0)), "lastzero({n}) by bursts");
    }
    for (k, third, expected) in [(1, false, 3), (2, false, 19), (3, false, 141), (1, true, 11), (2, true, 140)] {
        let case = raddle_oracle::cases::fib(k, third);
        assert_eq!(outcome(&case.sketch, PLAIN).statistics.executions, expected, "{}", case.name);
        assert_eq!(outcome(&case.sketch, BURST).statistics.executions, expected, "{} by bursts", case.name);
    }
}

/// Optimistic locking by two threads, up to `n` times.
fn opt_lock(n: usize) -> [String; 2] {
    let thread = |id: usize| {
        let turn = format!("W l {id}; W x {id}; a=R l; if a=={id} {{ R x }} else {{ ");
        format!("{}{}", turn.repeat(n), "} ".repeat(n))
    };
    [thread(1), thread(2)]
}

#[test]
fn optimistic_locking_is_linear() {
    for n in 1..=6 {
        assert_eq!(classes(&opt_lock(n)), 12 * n as u64 - 5, "n = {n}");
    }
    assert_eq!(counted(&opt_lock(12), PLAIN).executions, 139);
    // Bursts meet some executions again.
    assert!(counted(&opt_lock(2), BURST).redundant > Some(0));
}

#[test]
fn locked_counters() {
    for n in 1..=4 {
        let thread = "lock m; a=R x; W x a+1; unlock m; ".repeat(n);
        let expected = binomial(2 * n as u64, n as u64);
        assert_eq!(classes(&[thread.clone(), thread.clone()]), expected, "pthread_demo({n})");
        let bursts = counted(&[thread.clone(), thread], BURST);
        assert_eq!(bursts.redundant, Some(0), "pthread_demo({n}) by bursts");
    }
}

#[test]
fn writers_that_nobody_tells_apart() {
    for n in 1..=6 {
        let mut threads: Vec<String> = (0..n).map(|value| format!("W x {value}")).collect();
        threads.push("R x".to_owned());
        assert_eq!(classes(&threads), n as u64 + 1, "float_read({n})");
        let joins: Vec<String> = (1..=n).map(|thread| format!("join {thread}; ")).collect();
        let spawns: Vec<String> = (1..=n).map(|thread| format!("spawn {thread}; ")).collect();
        let mut threads = vec![format!("{}{}R x", spawns.concat(), joins.concat())];
        threads.extend((0..n).map(|value| format!("W x {value}")));
        assert_eq!(classes(&threads), n as u64, "lastwrite({n})");
        let mut threads = vec!["R x".to_owned(); n];
        threads.push("W x 1".to_owned());
        assert_eq!(classes(&threads), 1 << n, "readers({n})");
    }
}

#[test]
fn two_writers_and_a_reader_of_one_location() {
    for u in 1..=3 {
        let writer = |value: usize| format!("W x {value}; ").repeat(u);
        let sketch = [writer(1), writer(2), "R x; ".repeat(u)];
        let threads: Vec<&str> = sketch.iter().map(String::as_str).collect();
        let brute = enumerate(&code(&litmus(&threads)), Model::Sc, Budget::default()).expect("small");
        assert_eq!(classes(&sketch), brute.complete.reads_from.len() as u64, "redundant_co({u})");
    }
}

#[test]
fn what_bursts_would_lose_as_printed() {
    assert_eq!(classes(&["R x", "R y; W x 1", "W y 1"]), 4);
}

#[test]
fn independent_pairs_make_more_annotations_than_classes() {
    for k in 1..=5 {
        let threads: Vec<String> = (0..k).flat_map(|i| [format!("R x{i}"), format!("W x{i} 1")]).collect();
        let (plain, bursts) = (explored(&threads, EVERY_READ), explored(&threads, BURST));
        let nodes = |found: &Outcome| (found.statistics.executions, found.counter("nodes"));
        assert_eq!(nodes(&plain), (1 << k, 3u64.pow(k)), "k = {k}");
        assert_eq!(nodes(&explored(&threads, PLAIN)), (1 << k, (2 << k) - 1), "k = {k}, with signals");
        assert_eq!(nodes(&bursts), (1 << k, 1 << k), "k = {k}, by bursts");
        assert_eq!(bursts.statistics.redundant, Some(0), "k = {k}, by bursts");
    }
    // One node for each observation function of a trace, maximal or not.
    assert_eq!(explored(&["W x 1; R x", "W x 2; R x"], EVERY_READ).counter("nodes"), 8);
}

#[test]
fn threads_with_nothing_to_do_with_each_other_make_no_annotations_of_their_own() {
    let cells: Vec<String> = (0..12).map(|i| format!("W x{i} 1; R x{i}; lock m{i}; R y{i}; unlock m{i}")).collect();
    let found = explored(&cells, PLAIN);
    assert_eq!((found.statistics.executions, found.counter("nodes")), (1, 1 + 3 * 12));
}

/// Locks in opposite orders, and something behind the inner one.
const INVERSION: [&str; 2] = ["lock m; lock n; R x; unlock n; unlock m", "lock n; lock m; W x 1; unlock m; unlock n"];

#[test]
fn what_is_behind_a_deadlock_is_found() {
    for switches in [PLAIN, BURST, REFINED, Settings { backwards: true, ..BURST }] {
        let found = outcome(&litmus(&INVERSION), switches);
        assert_eq!(found.verdict, Verdict::Violated);
        assert_eq!(found.findings.len(), 1);
        assert_eq!(found.findings[0].violation().property, Property::Deadlock);
        assert_eq!((found.statistics.executions, found.statistics.blocked), (2, 1), "{switches:?}");
    }
    // A first trace that ends in a deadlock: the locks are taken in turns.
    let turns = ["a=R z; lock m; W y 1; lock n; R x", "lock n; W z 1; lock m; R y"];
    let brute = enumerate(&code(&litmus(&turns)), Model::Sc, Budget::default()).expect("small");
    let blocked = brute.blocked.reads_from.len() as u64;
    for switches in [PLAIN, BURST] {
        assert_eq!(counted(&turns, switches).blocked, blocked, "{switches:?}");
    }
}

#[test]
fn what_was_tried_below_is_not_forbidden() {
    let case = raddle_oracle::cases::fib(2, false);
    assert_eq!(outcome(&case.sketch, PLAIN).statistics.executions, 19);
}

#[test]
fn a_refined_class_is_between_the_two_equivalences() {
    let programs: [&[&str]; 3] = [
        &["W x 1; R y", "W y 1; R z", "W z 1; W x 2; R x", "W y 2; R x"],
        &["W x 1; A y 1", "A y 2; R x", "W x 2; R y"],
        &["lock m; W x 1; unlock m", "lock m; W x 2; unlock m", "W x 3; R x"],
    ];
    let refined = with_switches("dc refined", Equivalence::Refined, &DataCentric, &["refine=on"]);
    for threads in programs {
        let compared = compare(&litmus(threads), Model::Sc, &refined, Effort::default());
        assert!(matches!(compared, Comparison::Agree(_)), "{threads:?}: {compared:?}");
    }
}

#[test]
fn what_it_does_not_decide_is_refused() {
    let refused = |threads: &[&str], model: Model, settings: Settings| {
        let error = explore(&code(&litmus(threads)), &Options::new(model), settings).expect_err("it is refused");
        error.to_string()
    };
    let tso = refused(&["W x 1; R y", "W y 1; R x"], Model::Tso, PLAIN);
    assert!(tso.contains("tso") && tso.contains("--engine"), "{tso}");
    let mut all = Options::new(Model::Sc);
    all.all = true;
    let race = explore(&code(&litmus(&["W.na x 1", "R.na x"])), &all, PLAIN).expect_err("it is refused").to_string();
    assert!(race.contains("does not go on after a data race"), "{race}");
    let waits = refused(&["a=wait x == 1", "W x 1"], Model::Sc, BURST);
    assert!(waits.contains("burst=off"), "{waits}");
    let atomic = refused(&["atomic { W x 1; W y 1 }", "R x; R y"], Model::Sc, PLAIN);
    assert!(atomic.contains("atomic"), "{atomic}");
}

#[test]
fn a_loop_that_only_reads_is_cut_off() {
    let program =
        "global x: i32; fn a() { loop { let r = load x; if r == 1 { break; } let s = load x; if s == 2 { break; } } }
        fn main() { spawn a(); store x, 3; }";
    let program = raddle_program::parse("loop.rdl", program, &[]).expect("a program");
    let code = raddle_machine::compile(&program, &AllShared, &CompileOptions::default());
    for burst in [false, true] {
        let mut options = Options::new(Model::Sc);
        options.limits.depth = Some(60);
        options.limits.executions = Some(50);
        options.properties = PropertySet::all().without(Property::Race);
        let found = explore(&code, &options, Settings { burst, ..PLAIN }).expect("it is supported");
        assert_eq!(found.verdict, Verdict::Unknown);
        assert!(found.statistics.cut > 0, "{:?}", found.statistics);
    }
}

#[test]
fn an_access_after_the_end_of_its_object_is_reported_or_refused() {
    let late = litmus(&["p0=zalloc; WP q p0; R x; free p0", "p1=RP q; ifnull p1 { } else { W *p1 1 }"]);
    let mut options = Options::new(Model::Sc);
    options.properties = PropertySet::all().without(Property::Race);
    let found = explore(&code(&late), &options, PLAIN).expect("one violation is to be reported");
    assert_eq!(found.findings[0].violation().property, Property::Memory);
    // What happens after it is another matter.
    options.all = true;
    let error = explore(&code(&late), &options, PLAIN).expect_err("all violations are to be reported");
    assert!(error.to_string().contains("end of its object"), "{error}");
    options.all = false;
    options.properties = options.properties.without(Property::Memory);
    assert!(explore(&code(&late), &options, PLAIN).is_err());
    // The reader tells the owner that it is done.
    let right =
        litmus(&["p0=zalloc; WP q p0; a=wait d == 1; free p0", "p1=RP q; ifnull p1 { } else { W *p1 1 }; W d 1"]);
    options.all = true;
    options.properties = PropertySet::all().without(Property::Race);
    let found = explore(&code(&right), &options, PLAIN).expect("no access can be late");
    assert_eq!((found.verdict, found.statistics.executions), (Verdict::Holds, 2));
}
