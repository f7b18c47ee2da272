//! Data races in the classes of engines on sequences.

use raddle::ENGINES;
use raddle_engine::{Control, Finding, Options, Outcome, Question};
use raddle_oracle::compare::{Comparison, Expected, code, compare_with, subjects};
use raddle_oracle::{Effort, Family, generate, litmus};
use raddle_trace::{Model, Property, Verdict};

/// Threads, and whether they race.
const PROGRAMS: &[(&[&str], bool)] = &[
    (&["W.na x 1", "R.na x"], true),
    (&["W.na x 1", "W.na y 1"], false),
    (&["R.na x", "R.na x"], false),
    (&["W x 1", "R.na x"], true),
    // Passing on, and what does not.
    (&["W.na x 1; W.rel y 1", "a=R.acq y; if a==1 { R.na x }"], false),
    (&["W.na x 1; W y 1", "a=R.acq y; if a==1 { R.na x }"], true),
    (&["W.na x 1; W.rel y 1", "a=R y; if a==1 { R.na x }"], true),
    (&["W.na x 1; W.rel y 1", "a=R.acq y; R.na x"], true),
    (&["W.na x 1; S; W y 1", "a=R y; if a==1 { F.acq; R.na x }"], false),
    (&["W.na x 1; S; W y 1", "a=R y; if a==1 { R.na x }"], true),
    // An update continues what it reads from; a write does not.
    (&["W.na x 1; W.rel y 1", "A y 1", "a=R.acq y; if a==2 { R.na x }"], false),
    (&["W.na x 1; W.rel y 1", "a=R y; if a==1 { W y 2 }", "a=R.acq y; if a==2 { R.na x }"], true),
    // The same value, of a write that comes too early, or of another thread: only one of the sequences of the class races.
    (&["W.rel y 1; W.na x 1; W.rel y 1", "a=R.acq y; if a==1 { R.na x }"], true),
    (&["W.na x 1; W.rel y 1", "W y 1", "a=R.acq y; if a==1 { R.na x }"], true),
    (&["W.na x 1; W.rel y 1; W.rel y 1", "a=R.acq y; if a==1 { R.na x }"], false),
    (&["W.na x 1; W.rel y 1", "W z 1", "a=R.acq y; b=R.acq z; if a==1 { if b==1 { R.na x } }"], false),
    // Two reads, and the sequence in which both read the weaker write is the one that races.
    (&["W.na x 1; W.rel y 1; W.rel z 1", "W y 1; W z 1", "a=R.acq y; b=R.acq z; if a==1 { if b==1 { R.na x } }"], true),
    // Waits look before they find.
    (&["W.na x 1; W.rel y 1", "a=wait.acq y == 1; R.na x"], false),
    (&["W.na x 1; W.na y 1", "a=wait.acq y == 1"], true),
    // Locks.
    (&["lock m; W.na x 1; unlock m", "lock m; R.na x; unlock m"], false),
    (&["lock m; W.na x 1; unlock m", "a=trylock m; R.na x"], true),
    (&["W.na x 1; lock m; unlock m", "lock m; unlock m; R.na x"], true),
    // Start and end.
    (&["W.na x 1; spawn 1; join 1; W.na x 2", "W.na x 3"], false),
    (&["spawn 1; W.na x 2; join 1", "W.na x 3"], true),
];

fn explore(engine: &str, threads: &[&str]) -> Outcome {
    let (code, options, control) = (code(&litmus(threads)), Options::new(Model::Sc), Control::new());
    let question = Question { code: &code, options: &options };
    let engine = ENGINES.find(engine).expect("an engine");
    engine.ask(&question, &control).expect("it takes this program")
}

#[test]
fn every_engine_knows_what_races() {
    for engine in ["rvf", "vc", "dc", "optimal", "rf"] {
        for &(threads, race) in PROGRAMS {
            // The engine `vc` takes no updates.
            if engine == "vc" && threads.iter().any(|thread| thread.contains("A y")) {
                continue;
            }
            let found = explore(engine, threads);
            let verdict = if race { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(found.verdict, verdict, "{engine}: {threads:?}");
            let violations = found.findings.iter().map(Finding::violation);
            let properties: Vec<Property> = violations.map(|violation| violation.property).collect();
            assert_eq!(properties, [Property::Race][..usize::from(race)], "{engine}: {threads:?}");
        }
    }
}

#[test]
fn an_error_behind_a_race_is_that_race() {
    for engine in ["rvf", "vc", "dc"] {
        let found = explore(engine, &["W.na x 1; W y 1", "a=R y; if a==1 { b=R.na x; assert b==2 }"]);
        assert_eq!(found.findings[0].violation().property, Property::Race, "{engine}");
    }
}

#[test]
fn random_programs_race_as_brute_force_says() {
    let effort = Effort { states: 5_000, classes: 400 };
    let engines = ["rvf", "vc", "dc", "dc by bursts", "rvf by source"];
    let engines: Vec<_> = subjects().into_iter().filter(|subject| engines.contains(&subject.name.as_str())).collect();
    assert_eq!(engines.len(), 5);
    let mut compared = [[0; 2]; 5];
    for index in 0..600 {
        let sketch = generate(Family::Guarded, 3, index);
        let code = code(&sketch);
        let Ok(expected) = Expected::of(&code, Model::Sc, effort) else { continue };
        let racing = expected.racing.as_ref().expect("there are accesses that are not atomic");
        let race = racing.failures.iter().any(|failure| failure.property == Property::Race);
        let engines = engines.iter().zip(&mut compared);
        for (engine, compared) in engines.filter(|(engine, _)| (engine.applies)(&sketch, Model::Sc)) {
            match compare_with(&sketch, Model::Sc, engine, &expected) {
                Comparison::Agree(_) => compared[usize::from(race)] += 1,
                Comparison::Refused(_) | Comparison::TooLarge => {}
                Comparison::Disagree(differences) => panic!("{}: {sketch}\n{differences:?}", engine.name),
            }
        }
    }
    assert!(compared.iter().flatten().all(|&count| count > 60), "with and without a race, by engine: {compared:?}");
}
