//! What replaces store buffers, held against store buffers: programs with delays built in, and buffers that forget.
//!
//! The states of a program in which nothing is on its way are collected in each way. With delays built in there are never more than under TSO, and when no attack is left there are all; with buffers that forget there are never fewer, and the
//! more they remember the fewer. `RADDLE_TSO` is how many programs.

use raddle_engine::{Control, Deadline, Engine, Finding, Limits, Options, Outcome, PropertySet, Question};
use raddle_machine::memory::Memory;
use raddle_machine::{Automaton, Code};
use raddle_oracle::compare::code;
use raddle_oracle::cyclic::mixed;
use raddle_oracle::sketch::Stmt;
use raddle_oracle::{Family, generate};
use raddle_reach::buffers::AbstractTso;
use raddle_reach::buffers::abstraction::{Abstract, BlurredPart, Precision};
use raddle_reach::buffers::backward::Controls;
use raddle_reach::lazy::Lazy;
use raddle_reach::lazy::extended::Extended;
use raddle_reach::lazy::oracle::{Advice, Attacked, Leaving, Oracle};
use raddle_reach::lazy::words::Words;
use raddle_reach::machine::{Concrete, Machine, Piece};
use raddle_reach::search::{Graph, Order, Plan, search};
use raddle_reach::semantics::{Breadth, Semantics};
use raddle_reach::visited::Index;
use raddle_testkit::{Random, numbers, setting};
use raddle_trace::{Model, Property, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

/// A program that has more states in some way is not looked at.
const MOST: usize = 2_000;

/// Most programs that end are looked at if they have no more.
const SMALL: usize = 200;

/// Those that are known may have so many.
const KNOWN: usize = 20_000;

/// So many states a single search of an engine may meet; nothing is said about programs that have more.
const STATES: u64 = 8_000;

/// A program that has more states without store buffers is not attacked.
const FEW: usize = 100;

/// The states of the machine in which nothing is on its way.
type Settled = HashSet<Vec<Piece>>;

/// Collects the settled states of a system, if there are not too many; and whether `look` noticed something in any state.
fn settled<S: Semantics>(
    code: &Code,
    semantics: &S,
    most: usize,
    state: impl Fn(&S::State) -> &Concrete,
    mut look: impl FnMut(&S::Sight) -> bool,
) -> Option<(Settled, bool)> {
    let machine = plain_machine(code, Model::Tso);
    let (mut all, mut noticed) = (Settled::new(), false);
    // Everything is followed: no reduction is held against another one.
    let plan = Plan { order: Order::Breadth, workers: 1, breadth: Breadth::Everything };
    let (_, ended) = search(
        semantics,
        plan,
        &mut |graph, index, sight| {
            noticed |= look(&sight);
            let whole = graph.state(semantics, index);
            let state = state(&whole);
            if state.threads().all(|thread| state.memory().is_settled(thread.id())) {
                let mut pieces = Vec::new();
                machine.split(state, &mut |piece| pieces.push(piece.clone()));
                all.insert(pieces);
            }
            ControlFlow::Continue(())
        },
        &mut |graph| if graph.visited.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
    );
    ended.is_none().then_some((all, noticed))
}

/// The settled states under a model with buffers of this length, and whether that makes a difference.
fn plain(code: &Code, model: Model, bound: Option<usize>, most: usize) -> Option<(Settled, bool)> {
    let mut machine = plain_machine(code, model);
    machine.bound = bound;
    settled(code, &machine, most, |state| state, |sight| sight.full.is_some())
}

/// A machine that clears nothing: what threads have read makes a difference.
fn plain_machine(code: &Code, model: Model) -> Machine<'_> {
    Machine { live: None, ..Machine::new(code, model) }
}

fn blurred(code: &Code, precision: Precision) -> Option<Settled> {
    Some(
        settled(
            code,
            &Abstract { machine: plain_machine(code, Model::Tso), ..Abstract::new(code, precision) },
            MOST,
            |state| state.state(),
            |_| false,
        )?
        .0,
    )
}

/// States in which a thread has failed, by the instruction it failed at.
type Failed = BTreeMap<u32, Vec<Index>>;

/// Those of a program, and all others, if there are not too many.
fn failures(blurry: &Abstract<'_>, most: usize) -> Option<(Graph<BlurredPart>, Failed)> {
    let mut failed = Failed::new();
    let plan = Plan { order: Order::Breadth, workers: 1, breadth: Breadth::Everything };
    let (graph, ended) = search(
        blurry,
        plan,
        &mut |_, index, sight: raddle_reach::buffers::abstraction::Sight| {
            sight.machine.failures.iter().for_each(|failure| failed.entry(failure.pc).or_default().push(index));
            ControlFlow::Continue(())
        },
        &mut |graph| if graph.visited.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
    );
    ended.is_none().then_some((graph, failed))
}

/// At which instructions threads can fail with buffers as multisets, found by going backwards; `None` if that takes too long.
fn backwards(code: &Code, most: usize) -> Option<BTreeSet<u32>> {
    let control = Control::new();
    let deadline = Deadline::new(Limits { states: Some(STATES), ..Limits::default() }, &control);
    let blurry = Abstract::new(code, Precision { queue: 0, count: 0, last: true });
    let (graph, failed) = failures(&blurry, most)?;
    let controls = Controls::new(&blurry, &graph, &deadline).ok()?;
    let mut found = BTreeSet::new();
    for (pc, states) in failed {
        if controls.way(&states, &deadline).ok()?.is_some() {
            found.insert(pc);
        }
    }
    Some(found)
}

/// Going backwards from what is wrong finds what going forwards does: no more than with numbers up to some bound and "many" beyond, no less than without stores that would be more; says whether those two agree.
fn agrees_backwards(code: &Code, what: &dyn Fn() -> String) -> Option<bool> {
    let found = backwards(code, 3 * MOST)?;
    for count in 0..=6 {
        let blurry = Abstract::new(code, Precision { queue: 0, count, last: true });
        let (_, more) = failures(&blurry, MOST)?;
        let (_, fewer) = failures(&Abstract { exact: true, ..blurry }, MOST)?;
        let [more, fewer] = [more, fewer].map(|failed| failed.into_keys().collect::<BTreeSet<u32>>());
        assert!(found.is_subset(&more), "backwards finds {found:?}, forwards at most {more:?}: {}", what());
        assert!(fewer.is_subset(&found), "backwards finds {found:?}, forwards at least {fewer:?}: {}", what());
        if more == fewer {
            return Some(true);
        }
    }
    Some(false)
}

/// The settled states with delays built in that an oracle asks for, round by round; whether the last round has all that it asks for.
fn extended(code: &Code, oracle: &dyn Oracle, exact: bool, rounds: usize) -> Option<(Vec<Settled>, bool)> {
    let control = Control::new();
    let deadline = Deadline::new(Limits { states: Some(STATES), ..Limits::default() }, &control);
    let (mut words, mut states) = (Words::default(), Vec::new());
    for _ in 0..rounds {
        let with = |words: &Words| {
            let mut extended = Extended::new(code, words.clone());
            (extended.exact, extended.machine) = (exact, plain_machine(code, Model::Tso));
            extended
        };
        states.push(settled(code, &with(&words), MOST, |state| state.state(), |_| false)?.0);
        match oracle.ask(with(&words), 1, &deadline).0 {
            Advice::Nothing => return Some((states, true)),
            Advice::Words(more) => {
                let new = more.iter().filter(|word| words.add(word)).count();
                assert!(new > 0, "{more:?} is built in already");
            }
            Advice::Stopped(_) => return None,
        }
    }
    Some((states, false))
}

fn ask(engine: &'static dyn Engine, code: &Code, switches: &[&str], states: Option<u64>) -> Outcome {
    let mut options = Options::new(Model::Tso);
    options.all = true;
    options.limits.states = states;
    options.properties = PropertySet::none().with(Property::Assert).with(Property::Deadlock);
    for switch in switches {
        options.switches.set(engine, switch).expect("a switch");
    }
    engine.ask(&Question { code, options: &options }, &Control::new()).unwrap_or_else(|fault| panic!("{fault}"))
}

/// What is wrong, and on which line.
fn failing(outcome: &Outcome) -> BTreeSet<(Property, u32)> {
    let violations = outcome.findings.iter().map(Finding::violation);
    violations.map(|violation| (violation.property, violation.place.line)).collect()
}

const PRECISIONS: [Precision; 7] = [
    Precision { queue: 0, count: 0, last: false },
    Precision { queue: 0, count: 0, last: true },
    Precision { queue: 0, count: 1, last: true },
    Precision { queue: 1, count: 1, last: true },
    Precision { queue: 2, count: 1, last: true },
    Precision { queue: 2, count: 3, last: true },
    Precision { queue: 4, count: 3, last: true },
];

#[test]
fn cyclic_programs() {
    let [mut compared, mut exact, mut abstracted, mut closed, mut delayed, mut back, mut decided] = [0; 7];
    for seed in numbers(setting("RADDLE_TSO", 30)) {
        let text = mixed(seed, &mut Random::new(0x750 + seed));
        let source = raddle_program::parse("test.rdl", &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let code = raddle::prepare(&source, None);
        let Some((tso, refused)) = plain(&code, Model::Tso, Some(2), MOST) else { continue };
        let Some((sc, _)) = plain(&code, Model::Sc, None, MOST) else { continue };
        let what = || format!("{text}seed {seed}");
        compared += 1;
        exact += usize::from(!refused);
        let mut coarser: Option<Settled> = None;
        for precision in PRECISIONS {
            let Some(states) = blurred(&code, precision) else { continue };
            assert!(tso.is_subset(&states), "{precision:?} loses states: {}", what());
            assert!(coarser.is_none_or(|coarser| states.is_subset(&coarser)), "{precision:?} is no finer: {}", what());
            coarser = Some(states);
            abstracted += 1;
        }
        for (oracle, with_captures) in [(&Attacked as &dyn Oracle, true), (&Attacked, false), (&Leaving, true)] {
            if sc.len() > FEW {
                continue;
            }
            let Some((rounds, whole)) = extended(&code, oracle, with_captures, 4) else { continue };
            assert!(sc.is_subset(&rounds[0]), "{}", what());
            delayed += rounds.len() - 1;
            let last = rounds.last().expect("there is one");
            assert!(refused || last.is_subset(&tso), "delays that are none: {}", what());
            assert!(!whole || !with_captures || tso.is_subset(last), "delays are missing: {}", what());
            closed += usize::from(whole && with_captures);
        }
        if let Some(is_decided) = agrees_backwards(&code, &what) {
            back += 1;
            decided += usize::from(is_decided);
        }
        let bounded = ask(&raddle_reach::explicit::Explicit, &code, &["buffer=2"], None);
        let ways: [(&'static dyn Engine, &[&str]); 6] = [
            (&AbstractTso, &["search=backward"]),
            (&Lazy, &["rounds=4"]),
            (&AbstractTso, &[]),
            (&AbstractTso, &["queue=none", "count=none"]),
            (&AbstractTso, &["queue=1", "count=1"]),
            (&AbstractTso, &["queue=3", "count=1"]),
        ];
        for (engine, switches) in ways {
            if engine.name() == "lazy-tso" && sc.len() > FEW {
                continue;
            }
            let found = ask(engine, &code, switches, Some(STATES));
            if found.stop.is_none() {
                assert!(failing(&bounded).is_subset(&failing(&found)), "{} loses: {}", engine.name(), what());
            }
            if !refused {
                assert!(failing(&found).is_subset(&failing(&bounded)), "{} invents: {}", engine.name(), what());
            }
        }
    }
    println!(
        "{compared} programs, {exact} of them whole with buffers of two; {abstracted} abstractions, {back} times gone back, {decided} times decided forwards as well; {delayed} delays, {closed} times no more"
    );
    let least = setting("RADDLE_TSO", 30) as usize;
    assert!(compared * 3 > least && exact * 10 > least && abstracted > least && closed > 2 && delayed > 2);
    assert!(back * 3 > least && decided * 2 > back, "{back} {decided}");
}

#[test]
fn programs_that_end() {
    let [mut compared, mut not_robust, mut violated] = [0; 3];
    let wanted = setting("RADDLE_TSO", 60) as usize;
    for index in numbers(u64::MAX) {
        if compared == wanted {
            break;
        }
        let sketch = generate(Family::Buffered, 77, index);
        if sketch.any(|stmt| matches!(stmt, Stmt::Loop(_) | Stmt::Spin(..))) {
            continue;
        }
        let code = code(&sketch);
        // Large ones take most of the time; every eighth may be one.
        let most = if index.is_multiple_of(8) { MOST } else { SMALL };
        let Some((tso, _)) = plain(&code, Model::Tso, None, most) else { continue };
        compared += 1;
        for precision in PRECISIONS {
            let Some(states) = blurred(&code, precision) else { continue };
            assert!(tso.is_subset(&states), "{precision:?} loses states: {sketch}");
        }
        // A queue that never overflows is exact.
        let whole = blurred(&code, Precision { queue: 40, count: 0, last: true });
        assert!(whole.is_none_or(|whole| whole == tso), "{sketch}");
        for oracle in [&Attacked as &dyn Oracle, &Leaving] {
            let Some((rounds, whole)) = extended(&code, oracle, true, 200) else { continue };
            assert!(whole, "{sketch}");
            assert!(rounds.last() == Some(&tso), "{sketch}");
            not_robust += usize::from(rounds.len() > 1);
        }
        let explicit = ask(&raddle_reach::explicit::Explicit, &code, &[], None);
        let ways: [(&'static dyn Engine, &[&str]); 5] = [
            (&Lazy, &[]),
            (&Lazy, &["unroll=4"]),
            (&Lazy, &["oracle=runs"]),
            (&AbstractTso, &[]),
            (&AbstractTso, &["search=backward"]),
        ];
        for (engine, switches) in ways {
            let found = ask(engine, &code, switches, Some(STATES));
            if found.stop.is_some() {
                continue;
            }
            assert_eq!(
                (found.verdict, failing(&found)),
                (explicit.verdict, failing(&explicit)),
                "{}: {sketch}",
                engine.name()
            );
        }
        violated += usize::from(explicit.verdict == Verdict::Violated);
    }
    println!("{compared} programs, {not_robust} times delays, {violated} with violations");
    assert!(not_robust * 4 > wanted, "{compared} {not_robust} {violated}");
}

/// Two ways to wait for ever with the same operations, up to where one of them ends.
#[test]
fn all_deadlocks_are_listed() {
    let text = "global x: i32; global y: i32; global z: i32;
        fn first() {
            let a = load x until a == 1;
            let b = load y until b == 1;
        }
        fn second() { let c = load z; if c == 1 { store x, 1; } }
        fn third() { store z, 1; }
        fn main() { spawn first(); spawn second(); spawn third(); }";
    let source = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let code = raddle::prepare(&source, None);
    for engine in [&raddle_reach::explicit::Explicit as &'static dyn Engine, &Lazy, &AbstractTso] {
        let found = ask(engine, &code, &[], None);
        let expected = BTreeSet::from([(Property::Deadlock, 3), (Property::Deadlock, 4)]);
        assert_eq!(failing(&found), expected, "{}", engine.name());
    }
}

/// Buffers in which the last store is counted with the others.
const fn set(queue: usize, count: u8) -> Precision {
    Precision { queue, count, last: false }
}

/// Programs, whether something goes wrong under TSO, and with which buffers it seems to.
#[test]
fn known_programs() {
    let two = |left: &str, right: &str| {
        format!(
            "global x: i32; global y: i32; fn left() {{ {left} }} fn right() {{ {right} }} fn main() {{ spawn left(); spawn right(); }}"
        )
    };
    // Also whether something goes wrong if all stores are counted.
    type Case<'c> = (&'c str, String, bool, &'c [(Precision, bool)], bool);
    let cases: &[Case<'_>] = &[
        (
            "stored twice, flushed thrice",
            two(
                "store x, 1; store x, 1; store x, 2;",
                "let a = load x; if a == 2 { store x, 0; fence.sc; let b = load x; assert b != 2; }",
            ),
            false,
            &[(set(0, 0), true), (set(1, 0), true), (set(2, 0), true), (set(0, 3), false), (set(3, 0), false)],
            false,
        ),
        (
            "in another order",
            two(
                "store x, 1; store x, 2; store x, 1;",
                "let a = load x; let b = load x; if a == 2 { if b == 1 { store x, 0; fence.sc; let c = load x; assert c != 1; } }",
            ),
            false,
            &[(set(0, 0), true), (set(0, 3), true), (set(1, 0), true), (set(2, 0), true), (set(3, 0), false)],
            true,
        ),
        (
            "backwards",
            two("store x, 1; store x, 2;", "let a = load x; let b = load x; assert a != 2 || b != 1;"),
            false,
            &[(set(0, 0), true), (set(0, 3), false), (set(1, 0), false)],
            false,
        ),
        (
            "an early read",
            "global a: i32; global b: i32; global r: i32; global s: i32;
             fn left() { store a, 1; store b, 1; let v = load a; store r, v; }
             fn right() { store a, 2; fence.sc; let v = load b; store s, v + 1; }
             fn main() { let l = spawn left(); let o = spawn right(); join l; join o;
                 let p = load r; let q = load s; let e = load a; assert p != 1 || q != 1 || e != 2; }"
                .to_owned(),
            true,
            &[(set(1, 0), true), (set(4, 0), true)],
            true,
        ),
        (
            "a queue that drains while something has overflowed",
            "global x: i32; global y: i32; global w: i32; global z: i32; global v: i32; global u: i32; global left_saw: i32; global right_saw: i32;
             fn left() { store x, 1; store y, 1; let p = load w; let r = load z; store v, r; let s = load u;
                 if p == 0 { if r == 1 { if s == 0 { fence.sc; store left_saw, 1; } } } }
             fn right() { store w, 1; fence.sc; let c = load x; let a = load x; store z, a; store u, 1; fence.sc; let b = load y;
                 if c == 0 { if a == 1 { if b == 0 { store right_saw, 1; } } } }
             fn main() { let l = spawn left(); let o = spawn right(); join l; join o;
                 let p = load left_saw; let q = load right_saw; assert p != 1 || q != 1; }"
                .to_owned(),
            true,
            &[(set(1, 0), true), (set(0, 0), true), (set(2, 0), true)],
            true,
        ),
    ];
    for (name, text, wrong, abstractions, counted) in cases {
        let source = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let code = raddle::prepare(&source, None);
        for &(precision, expected) in *abstractions {
            let machine = Abstract::new(&code, precision);
            let fails = |sight: &raddle_reach::buffers::abstraction::Sight| !sight.machine.failures.is_empty();
            let (_, found) = settled(&code, &machine, KNOWN, |state| state.state(), fails).expect("few states");
            assert_eq!(found, expected, "{name} with {precision:?}");
        }
        let found = backwards(&code, KNOWN).expect("few states");
        assert_eq!(!found.is_empty(), *counted, "{name} with all stores counted");
        let explicit: &'static dyn Engine = &raddle_reach::explicit::Explicit;
        let ways: [(&'static dyn Engine, &[&str]); 4] =
            [(&Lazy, &[]), (&AbstractTso, &[]), (&AbstractTso, &["search=backward"]), (explicit, &[])];
        for (engine, switches) in ways {
            let found = ask(engine, &code, switches, None);
            assert!(found.stop.is_none(), "{name} by {}: {:?}", engine.name(), found.stop);
            assert_eq!(found.verdict == Verdict::Violated, *wrong, "{name} by {}", engine.name());
        }
    }
}
