//! Threads that wait for others before they do anything else.

use raddle::ENGINES;
use raddle_engine::{Control, Engine, Fault, Options, Outcome, Question};
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_machine::{Code, compile};
use raddle_oracle::brute::{Budget, enumerate};
use raddle_oracle::{Comparison, Effort, Family, Sketch, compare, generate, subjects};
use raddle_trace::{Model, Property, Verdict};

fn code(text: &str) -> Code {
    let program = raddle_program::parse("joins.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    compile(&program, &AllShared, &CompileOptions::default())
}

/// What an engine says, if it takes the program.
fn ask(engine: &'static dyn Engine, code: &Code, model: Model, switches: &[&str], all: bool) -> Option<Outcome> {
    let mut options = Options::new(model);
    options.properties = options.properties.without(Property::Race).without(Property::Deadlock);
    options.all = all;
    switches.iter().for_each(|switch| options.switches.set(engine, switch).expect("a switch"));
    let question = Question { code, options: &options };
    match engine.ask(&question, &Control::new()) {
        Ok(found) => Some(found),
        Err(Fault::Refused(_)) => None,
        Err(fault @ Fault::NotReplayed(_)) => panic!("{}, {model}: {fault}", engine.name()),
    }
}

/// Holds all engines against brute force; how many took the program, and whether there is an error.
fn agree(text: &str, model: Model) -> (Vec<&'static str>, bool) {
    let code = code(text);
    let found = enumerate(&code, model, Budget::default()).expect("small enough");
    let wrong = found.failures.iter().any(|failure| failure.property == Property::Lock);
    let mut takers = Vec::new();
    for engine in ENGINES.iter() {
        let ways: &[&[&str]] = match engine.name() {
            "cegar" => &[&["por=none"], &["por=local"], &["por=spor"], &["por=aaspor"]],
            "explicit" => &[&[], &["local=off"], &["reduction=dynamic", "search=depth"]],
            _ => &[&[]],
        };
        for (switches, all) in ways.iter().flat_map(|switches| [(switches, false), (switches, true)]) {
            let Some(outcome) = ask(engine, &code, model, switches, all) else { continue };
            let name = engine.name();
            let expected = match (wrong, found.outcomes.is_empty()) {
                (true, _) => Verdict::Violated,
                (false, false) => Verdict::Holds,
                // No run comes to its end.
                (false, true) => Verdict::Unknown,
            };
            assert_eq!(outcome.verdict, expected, "{name} {switches:?}, {model}:\n{text}");
            takers.push(name);
        }
    }
    takers.dedup();
    (takers, wrong)
}

#[test]
fn a_thread_that_begins_with_a_join_comes_after_its_start() {
    // The reader waits for the writer before anything else. Whoever puts the events into another order must not let it wait
    // before it was started.
    let text = "global x: i32; global y: i32;
        fn writer() { store x, 1; }
        fn reader(t: i64) { join t; let a = load x; store y, 1; }
        fn main() {
            let t = spawn writer();
            store x, 2;
            let a = load x;
            store y, 2;
            let u = spawn reader(t);
            let b = load y;
            store x, 3;
            join u;
            let c = load x;
            let d = load y;
        }";
    let program = raddle_program::parse("joins.rdl", text, &[]).expect("a program");
    let code = compile(&program, &AllShared, &CompileOptions::default());
    let mut counts = Vec::new();
    for name in ["optimal", "rf", "rvf", "vc", "dc"] {
        let mut options = Options::new(Model::Sc);
        options.keep_schedules = true;
        let question = Question { code: &code, options: &options };
        let engine = ENGINES.find(name).expect("an engine");
        let found = engine.ask(&question, &Control::new()).expect("it takes this program");
        assert_eq!(found.verdict, Verdict::Holds, "{name}");
        for schedule in &found.schedules {
            let run = raddle_machine::replay(&code, Model::Sc, &schedule.named(code.numbering()), false);
            assert!(run.is_ok(), "{name}: {run:?}");
        }
        counts.push((name, found.statistics.executions));
    }
    let of = |name: &str| counts.iter().find(|(other, _)| *other == name).map_or(0, |&(_, count)| count);
    assert_eq!(of("rf"), of("dc"), "{counts:?}");
    assert!(of("rvf") > 1 && of("rvf") <= of("rf") && of("rf") <= of("optimal"), "{counts:?}");
}

/// Whoever makes up a handle waits for a thread that may not have been started, whichever order an engine looks at first.
#[test]
fn a_handle_that_nobody_has_given() {
    let text = |main: &str| {
        format!(
            "global x: i32; global y: i32;
            fn child() {{ store x, 1; }}
            fn other() {{ join 3; store y, 1; }}
            fn third() {{ join 2; store y, 1; }}
            fn main() {{ {main} }}"
        )
    };
    for model in Model::OPERATIONAL {
        let (takers, wrong) = agree(&text("spawn other(); spawn child();"), model);
        assert!(wrong && ["optimal", "rf", "explicit"].iter().all(|name| takers.contains(name)), "{takers:?}");
        assert!(agree(&text("store x, 2; spawn other(); store y, 2; let a = load x; spawn child();"), model).1);
        // Main is told that the other one is there before it starts the one that is waited for: still nobody has told the other one.
        assert!(
            agree(
                &text("spawn other(); let a = load y until y == 0; spawn child();").replace("y == 0", "a == 0"),
                model
            )
            .1
        );
        // It has been started before whoever waits for it.
        let (takers, wrong) = agree(&text("spawn child(); store x, 2; spawn third();"), model);
        assert!(!wrong && takers.contains(&"optimal") && takers.contains(&"explicit"), "{takers:?}");
    }
    // What comes by memory was there before.
    let passed = "global t: i64; global x: i32;
        fn child() { store x, 1; }
        fn other() { let u = load t; if u != 0 { join u; store x, 2; } }
        fn main() { spawn other(); let u = spawn child(); store.rel t, u; }";
    for model in Model::OPERATIONAL.into_iter().chain(Model::AXIOMATIC) {
        assert!(!agree(passed, model).1);
        assert!(agree(&passed.replace("if u != 0", "if u == 0").replace("join u", "join 3"), model).1, "{model}");
    }
    // Handles that are left over from memory which holds something else.
    let stale = passed.replace("global t: i64;", "global t: i64 = 3;");
    assert!(agree(&stale, Model::Sc).1);
}

/// Graphs show this error and go no further, so without it they say nothing.
#[test]
fn what_is_behind_the_error_is_not_decided() {
    let code = code(
        "global x: i32;
        fn child() { store x, 1; }
        fn other() { join 3; assert false; }
        fn main() { spawn other(); spawn child(); }",
    );
    let mut options = Options::new(Model::Sc);
    options.properties = options.properties.without(Property::Lock);
    for (name, verdict) in [("optimal", Verdict::Unknown), ("rf", Verdict::Unknown), ("explicit", Verdict::Violated)] {
        let question = Question { code: &code, options: &options };
        let found =
            ENGINES.find(name).expect("an engine").ask(&question, &Control::new()).expect("it takes this program");
        assert_eq!(found.verdict, verdict, "{name}");
    }
}

/// Programs in which threads wait for numbers, on their own or after what they have read.
#[test]
fn handles_that_are_made_up() {
    let bodies = [
        "store x, 1;",
        "join 2;",
        "join 3; store x, 2;",
        "store x, 2; join 4;",
        "let a = load x; if a == 1 { join 4; }",
    ];
    let (mut wrong, mut fine) = (0, 0);
    for (a, b, c) in (0..125).map(|number| (number / 25, number / 5 % 5, number % 5)) {
        let [a, b, c] = [a, b, c].map(|number: usize| bodies[number]);
        let text = format!(
            "global x: i32; fn a() {{ {a} }} fn b() {{ {b} }} fn c() {{ {c} }}
            fn main() {{ spawn a(); spawn b(); let r = load x; if r == 0 {{ spawn c(); }} }}"
        );
        let code = code(&text);
        if enumerate(&code, Model::Sc, Budget { states: 5_000, ..Budget::default() }).is_ok() {
            *if agree(&text, Model::Sc).1 { &mut wrong } else { &mut fine } += 1;
        }
    }
    assert!(wrong > 50 && fine > 0, "{wrong} {fine}");
}

/// Random programs whose first thread waits for all others and ends: counts, ends, runs.
#[test]
fn joins_that_nothing_follows_make_no_difference() {
    let programs = std::env::var("RADDLE_JOINS").map_or(8, |number| number.parse().expect("a number"));
    let effort = Effort { states: 2_000, classes: 200 };
    let engines: Vec<_> = subjects().into_iter().filter(|one| ["optimal", "rf"].contains(&one.name.as_str())).collect();
    let families = Family::ALL.into_iter().filter(|&family| family != Family::Events);
    let (mut compared, mut classes) = (0, 0);
    for (index, family) in (0..programs).flat_map(|index| families.clone().map(move |family| (index, family))) {
        let sketch = Sketch { joined: true, ..generate(family, 77, index) };
        for model in Model::OPERATIONAL.into_iter().chain([Model::Rc11, Model::Ra]) {
            for engine in &engines {
                match compare(&sketch, model, engine, effort) {
                    Comparison::Agree(agreed) => {
                        compared += 1;
                        classes += agreed.classes;
                    }
                    Comparison::Disagree(differences) => {
                        panic!("{family} {index}, {}, {model}: {differences:?}\n{sketch}", engine.name)
                    }
                    Comparison::Refused(_) | Comparison::TooLarge => {}
                }
            }
        }
    }
    assert!(compared > 20 * programs && classes > 100 * programs, "{compared} {classes}");
}

/// What comes behind the joins is executed, and a join that is one too many is an error.
#[test]
fn what_follows_joins_is_not_lost() {
    let text = |rest: &str| {
        format!(
            "global x: i32; fn a() {{ store x, 1; }} fn main() {{ let t = spawn a(); let u = spawn a(); join t; join u; {rest} }}"
        )
    };
    for model in Model::OPERATIONAL.into_iter().chain(Model::AXIOMATIC) {
        assert!(!agree(&text(""), model).1);
        assert!(agree(&text("join t;"), model).1, "{model}");
        let after = code(&text("let r = load x; assert r == 0;"));
        for name in ["optimal", "rf"] {
            let found = ask(ENGINES.find(name).expect("an engine"), &after, model, &[], false);
            assert_eq!(found.map(|found| found.verdict), Some(Verdict::Violated), "{name}, {model}");
        }
    }
}
