//! Random C programs of two threads against an interpreter that shares nothing with Raddle: the test's own, on the test's own syntax.
//!
//! Locals, bit-fields and elements of arrays may be read before they have a value; structs are copied half written; mutexes are taken in any order, some of
//! them with a deadline; loops are counted, or left when another thread says so. Properties are left out, and loops bounded. With all properties, and wherever nothing
//! without a value is read, the verdict has to be the interpreter's. Where `memory` is left out and something without a value is read, *holds* and *violated* have to be its, and *unknown* is
//! let pass; so it is where a bound cuts.
//!
//! The default run is a sample; `RADDLE_C_RANDOM=20000 cargo test --release -p raddle --test c_random -- --nocapture` is more of it (`RADDLE_C_SEED` starts elsewhere).

mod interpret;
mod program;

use interpret::{Found, interpret};
use program::Program;
use raddle::{Control, LoadOptions, Model, Outcome, Property, Settings, Verdict, load, verify};
use raddle_testkit::{Random, Scratch, setting};
use std::path::Path;

/// What can go wrong in these programs.
const PROPERTIES: [Property; 3] = [Property::Assert, Property::Memory, Property::Deadlock];

/// The engines, each of which takes these programs.
const ENGINES: [&str; 6] = ["auto", "auto", "optimal", "rf", "rvf", "explicit"];

fn ask(file: &Path, text: &str, looked_for: &[Property], engine: &str, bound: Option<u32>) -> Outcome {
    let loaded = load(file, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut settings = Settings::new(Model::Sc);
    settings.engine = raddle::ENGINES.find(engine).expect("an engine");
    settings.loop_bound = bound;
    if engine == "explicit" {
        // It does not look for races where a lock is not waited for; there are none here.
        settings.options.properties = settings.options.properties.without(Property::Race);
    }
    for property in PROPERTIES.into_iter().filter(|property| !looked_for.contains(property)) {
        settings.options.properties = settings.options.properties.without(property);
    }
    verify(&loaded.program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{engine}: {error}\n{text}"))
}

/// Whether the outcome can be the right one; `exact` if it has to say yes or no.
fn judge(outcome: &Outcome, found: &Found, exact: bool) -> bool {
    match outcome.verdict {
        Verdict::Holds => found.wrong.is_empty(),
        Verdict::Violated => found.wrong.contains(&outcome.findings[0].violation().property),
        Verdict::Unknown => !exact,
    }
}

#[test]
fn verdicts_are_those_of_an_interpreter() {
    let (programs, seed) = (setting("RADDLE_C_RANDOM", 80), setting("RADDLE_C_SEED", 1));
    let scratch = Scratch::new();
    let (mut wrong, mut right, mut valueless, mut open) = (0, 0, 0, 0);
    for number in 0..programs {
        let mut random = Random::new(seed * 1_000_003 + number);
        let program = Program::random(&mut random);
        let text = program.to_string();
        let file = scratch.file("p.c", &text);
        let some: Vec<Property> = PROPERTIES.into_iter().filter(|_| random.chance(60)).collect();
        for looked_for in [&PROPERTIES[..], &some] {
            let engine = random.pick(&ENGINES);
            let found = interpret(&program, looked_for);
            let outcome = ask(&file, &text, looked_for, engine, None);
            let said = format!("program {number}, {engine}, {looked_for:?}: {} ({found:?})\n{text}", outcome.scope);
            let blank = program.threads.iter().any(|(start, _)| start.contains(&None));
            let exact = !found.valueless && (!blank || looked_for.contains(&Property::Memory));
            assert!(judge(&outcome, &found, exact), "{:?} {said}", outcome.verdict);
            let counter = match outcome.verdict {
                _ if !exact => &mut valueless,
                Verdict::Violated => &mut wrong,
                _ => &mut right,
            };
            *counter += 1;
            open += u64::from(outcome.verdict == Verdict::Unknown);
        }
        let bound = random.between(1, 2) as u32;
        let outcome = ask(&file, &text, &PROPERTIES, "auto", Some(bound));
        let found = interpret(&program, &PROPERTIES);
        let said = format!("program {number}, bound {bound}: {} ({found:?})\n{text}", outcome.scope);
        assert!(judge(&outcome, &found, false), "{:?} {said}", outcome.verdict);
    }
    println!(
        "{wrong} with and {right} without an error, {valueless} where something without a value is read, {open} of these open"
    );
    assert!(
        wrong * 5 >= programs && right * 5 >= programs && valueless * 20 >= programs,
        "{wrong} {right} {valueless}"
    );
    assert!(open < valueless, "all of {valueless} are open");
}
