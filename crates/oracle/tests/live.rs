//! `raddle check --live` on random programs with loops, held against brute force: all states of the machine, and every guess of who moves for ever.
//!
//! Every lasso that is found has been judged by the machine alone before it gets here, so what is compared is whether there is one. `RADDLE_LIVE` is how many programs.

use raddle::fair::solve::Method;
use raddle::fair::streett::Algorithm;
use raddle::fairness::{OfProgram, Subject, System, Text};
use raddle::report::Body;
use raddle::report::fair::Found;
use raddle::{Language, LoadOptions};
use raddle_engine::{Control, Options, PropertySet, Question};
use raddle_live::{Fairness, Goal, Settings, Strength, Unit, Verdict, decide};
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_machine::{Code, compile};
use raddle_oracle::cyclic::program;
use raddle_oracle::fair_runs::{Rules, Runs};
use raddle_program::Program;
use raddle_testkit::{Random, setting};
use raddle_trace::{Model, Property};

/// How long store buffers are.
const BUFFER: usize = 2;

/// A program with more states is not looked at.
const MOST: usize = 400;

const RIGHT: Rules = Rules { strong: false, threads: true, drains: true, chance: true, actions: false };

fn parsed(text: &str) -> Program {
    raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// A random program without assertions: every other one with atomic blocks, or without anything that blocks.
fn random(seed: u64) -> String {
    let text = program(&mut Random::new(0x11fe + seed));
    let mut lines: Vec<String> =
        text.lines().map(|line| line.split(" assert").next().unwrap_or(line).to_owned()).collect();
    if seed % 4 == 1 {
        for line in &mut lines {
            if line.starts_with("store") || line.starts_with("lock") {
                *line = format!("atomic {{ {line} }}");
            }
        }
    }
    lines.join("\n")
}

fn asked(code: &Code, model: Model, settings: &Settings, properties: PropertySet) -> Verdict {
    let mut options = Options::new(model);
    options.properties = properties;
    let found = decide(&Question { code, options: &options }, settings, &Control::new());
    found.unwrap_or_else(|fault| panic!("{fault}")).verdict
}

#[derive(Debug, Default)]
struct Counted {
    violated: usize,
    holds: usize,
    unknown: usize,
    noticed_threads: usize,
    noticed_drains: usize,
    noticed_strength: usize,
    /// What would be different if the scheduler said what is drawn.
    noticed_chance: usize,
    /// Schedulers that go on for ever, whatever is drawn.
    driven: usize,
    deadlocks: usize,
}

/// What brute force says: whether some run breaks the promise.
fn expected(runs: &Runs, rules: Rules, goal: &Goal) -> Option<bool> {
    match goal {
        Goal::Ends => runs.goes_on(rules, None),
        Goal::Waits => runs
            .threads()
            .into_iter()
            .try_fold(false, |found, thread| Some(found || runs.goes_on(rules, Some(thread))?)),
        Goal::Formula(_) => None,
    }
}

fn compare(text: &str, unit: Unit, counted: &mut Counted) {
    let source = parsed(text);
    let plain = compile(&source, &AllShared, &CompileOptions::default());
    let code = raddle::prepare::prepare_as_written(&source, PropertySet::none());
    for model in [Model::Sc, Model::Tso] {
        let Some(runs) = Runs::of(&plain, model, BUFFER, unit == Unit::Action, MOST) else { continue };
        for strength in [Strength::Weak, Strength::Strong] {
            let fairness = Fairness { strength, unit };
            let rules = Rules { strong: strength == Strength::Strong, ..RIGHT };
            for goal in [Goal::Ends, Goal::Waits] {
                let Some(broken) = expected(&runs, rules, &goal) else { continue };
                let settings = Settings { goal: goal.clone(), fairness, buffer: BUFFER };
                let what = || format!("{text}under {model}, {fairness:?}, {goal:?}");
                if runs.lost {
                    let found = asked(&code, model, &settings, PropertySet::none());
                    assert!(matches!(found, Verdict::Unknown { .. }), "a thread cannot be followed: {}", what());
                    continue;
                }
                match asked(&code, model, &settings, PropertySet::none()) {
                    Verdict::Violated(_) => {
                        assert!(broken, "brute force finds no such run: {}", what());
                        counted.violated += 1;
                    }
                    Verdict::Driven(_) => {
                        assert!(broken, "brute force finds no such scheduler: {}", what());
                        counted.driven += 1;
                    }
                    Verdict::Holds => {
                        assert!(!broken && !runs.full && !runs.deadlock, "brute force finds such a run: {}", what());
                        counted.holds += 1;
                    }
                    Verdict::Unknown { why, .. } => {
                        assert!(!broken && (runs.full || runs.deadlock), "{why}: {}", what());
                        counted.unknown += 1;
                    }
                    Verdict::Broken(_) => panic!("nothing is looked for: {}", what()),
                }
                let noticed = |wrong: Rules| usize::from(expected(&runs, wrong, &goal) != Some(broken));
                counted.noticed_threads += noticed(Rules { threads: false, ..rules });
                counted.noticed_drains += noticed(Rules { drains: false, ..rules });
                counted.noticed_strength += noticed(Rules { strong: !rules.strong, ..rules });
                counted.noticed_chance += noticed(Rules { chance: false, ..rules });
            }
        }
        let settings =
            Settings { goal: Goal::Ends, fairness: Fairness { strength: Strength::Weak, unit }, buffer: BUFFER };
        let deadlocks = PropertySet::none().with(Property::Deadlock);
        let found = matches!(asked(&code, model, &settings, deadlocks), Verdict::Broken(_));
        assert!(runs.lost || found == runs.deadlock, "a deadlock: {text}under {model}");
        counted.deadlocks += usize::from(found);
    }
}

#[test]
fn fair_runs_are_those_of_brute_force() {
    let mut counted = Counted::default();
    for seed in 0..setting("RADDLE_LIVE", 60) {
        compare(&random(seed), Unit::Thread, &mut counted);
    }
    println!("{counted:?}");
    assert!(counted.violated > 50 && counted.holds > 20, "{counted:?}");
    assert!(counted.noticed_threads > 10, "rules that owe nothing to threads are noticed: {counted:?}");
}

#[test]
fn fair_runs_by_action_are_those_of_brute_force() {
    let mut counted = Counted::default();
    for seed in 0..setting("RADDLE_LIVE", 60) {
        compare(&random(0x10000 + seed), Unit::Action, &mut counted);
    }
    println!("{counted:?}");
    for text in TELLING {
        compare(text, Unit::Action, &mut counted);
    }
    assert!(counted.violated > 20 && counted.holds > 5, "{counted:?}");
}

/// A random program in which threads draw, and leave their loops by what they have drawn and read.
fn drawing(seed: u64) -> String {
    let mut numbers = Random::new(0xd1ce + seed);
    let mut text = String::from("global x: i8; global y: i8; global m: mutex;\n");
    let threads = numbers.between(1, 3);
    for thread in 0..threads {
        text += &format!("fn t{thread}() {{ let a = 0i8; let b = 0i8;\n");
        let loops = numbers.chance(85);
        text += if loops { "loop {\n" } else { "" };
        for _ in 0..numbers.between(2, if threads == 3 { 3 } else { 5 }) {
            let (v, w) = (numbers.pick(&["x", "y"]), numbers.pick(&["x", "y"]));
            let value = numbers.below(2);
            text += &match numbers.below(10) {
                0 | 1 => "a = choose random 0..2;\n".to_owned(),
                2 => "a = choose random 0..=2 weights 1, 2, 3;\n".to_owned(),
                3 => "b = choose 0..2;\n".to_owned(),
                4 => format!("store {v}, a;\n"),
                5 => format!("b = load {v};\n"),
                6 => {
                    format!("atomic {{ b = load {v}; if b == {value} {{ a = choose random 0..2; store {w}, a; }} }}\n")
                }
                7 => format!("a = cas {v}, {value}, 1;\n"),
                8 => format!("lock m; b = load {v}; unlock m;\n"),
                _ => format!("store {v}, {value};\n"),
            };
        }
        let leave =
            ["if a == b { break; }", "if a == 1 { break; }", "if b == 1 { break; }", "if a != b { break; }", ""];
        text += if loops { numbers.pick(&leave) } else { "" };
        text += if loops { "\n}\n}\n" } else { "}\n" };
    }
    let starts: String = (0..threads).map(|thread| format!("spawn t{thread}(); ")).collect();
    text + &format!("fn main() {{ {starts}}}\n")
}

#[test]
fn what_fair_schedulers_can_do_is_what_brute_force_says() {
    for (unit, from) in [(Unit::Thread, 0x20000), (Unit::Action, 0x30000)] {
        let mut counted = Counted::default();
        for seed in 0..setting("RADDLE_LIVE", 60) {
            compare(&drawing(from + seed), unit, &mut counted);
        }
        println!("{counted:?}");
        let Counted { driven, violated, holds, noticed_chance, .. } = counted;
        assert!(driven > 10 && violated > 5 && holds > 10 && noticed_chance > 3, "{counted:?}");
    }
}

/// Whether the symbolic algorithms find a fair scheduler that goes on for ever with a probability above zero: pairs say what fair is, an automaton says that the run ends.
fn by_pairs(text: &str, threads: usize, strong: bool, method: Method) -> Option<bool> {
    let pair = |thread: usize| {
        if strong {
            format!("\"can T{thread}\" -> \"T{thread}\"\n")
        } else {
            format!("all -> \"T{thread}\" \"cannot T{thread}\"\n")
        }
    };
    let named = |name: &str, text: String| Some(Text { name: name.to_owned(), text });
    let loaded = raddle::load_text("test.rdl", text, Language::Rdl, &LoadOptions::default()).expect("it is a program");
    let options = Options::new(Model::Sc);
    let subject = Subject {
        system: System::Program(Box::new(OfProgram { name: "test.rdl".to_owned(), loaded, options })),
        labels: None,
        states: None,
        pairs: named("pairs", (0..=threads).map(pair).collect()),
        specification: named("hoa", include_str!("../../../examples/fair/ended.hoa").to_owned()),
    };
    let settings = raddle::fairness::Settings { method, ..Default::default() };
    // A thread that never moves has no action.
    let answer = raddle::fair(&subject, &settings, &Control::new()).ok()?;
    let Body::Fair(body) = answer.body else { unreachable!("it is about fairness") };
    match body.found {
        Found::Nobody(_) => Some(false),
        Found::Lasso { .. } | Found::Strategy { .. } => Some(true),
        Found::Unknown(_) => None,
    }
}

#[test]
fn the_symbolic_algorithms_say_the_same() {
    let (mut goes_on, mut ends) = (0, 0);
    let basic = Method { streett: Algorithm::Basic, ends: Algorithm::Basic };
    for seed in 0..setting("RADDLE_LIVE", 60) {
        let text = drawing(0x40000 + seed);
        // Inside an atomic block nobody else is asked, which these pairs do not say.
        if text.contains("atomic") {
            continue;
        }
        let source = parsed(&text);
        let code = raddle::prepare::prepare_as_written(&source, PropertySet::none());
        for strong in [false, true] {
            let strength = if strong { Strength::Strong } else { Strength::Weak };
            let fairness = Fairness { strength, unit: Unit::Thread };
            let settings = Settings { goal: Goal::Ends, fairness, buffer: BUFFER };
            let found = match asked(&code, Model::Sc, &settings, PropertySet::none()) {
                Verdict::Violated(_) | Verdict::Driven(_) => true,
                Verdict::Holds => false,
                Verdict::Unknown { .. } | Verdict::Broken(_) => continue,
            };
            for method in [Method::default(), basic] {
                let threads = text.matches("spawn").count();
                let Some(symbolic) = by_pairs(&text, threads, strong, method) else { continue };
                assert_eq!(found, symbolic, "{text}under {strength:?} fairness");
                if found { goes_on += 1 } else { ends += 1 }
            }
        }
    }
    println!("{goes_on} go on for ever, {ends} end");
    assert!(goes_on > 20 && ends > 20, "{goes_on} go on for ever, {ends} end");
}

/// Programs of which rules that forget threads, store buffers or the difference between weak and strong say something else, so that the comparison would tell.
const TELLING: [&str; 3] = [
    "global x: i32; global m: mutex;
         fn t0() { loop { let a = load x; if a == 1 { break; } } }
         fn t1() { store x, 1; }
         fn main() { spawn t0(); spawn t1(); }\n",
    "global m: mutex;
         fn t0() { loop { lock m; unlock m; } }
         fn main() { spawn t0(); lock m; unlock m; }\n",
    "global x: i32; global y: i32;
         fn t0() { loop { atomic { let a = load x; store x, a; } let b = load y; if b == 1 { break; } } }
         fn t1() { store y, 1; }
         fn main() { spawn t0(); spawn t1(); }\n",
];

#[test]
fn wrong_rules_are_noticed() {
    let mut counted = Counted::default();
    for text in TELLING {
        compare(text, Unit::Thread, &mut counted);
    }
    println!("{counted:?}");
    let Counted { noticed_threads, noticed_drains, noticed_strength, .. } = counted;
    assert!(noticed_threads > 0 && noticed_drains > 0 && noticed_strength > 0, "{counted:?}");
}
