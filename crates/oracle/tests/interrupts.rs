//! Being told to stop is heard in the middle of a single question, too. That the engine `rf` does so is a test of its own module, which asks
//! hard questions without a search around them.

use raddle::ENGINES;
use raddle_engine::{Control, Options, Question, StopReason};
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_trace::Model;

/// How many reads an engine had tried when it heard that it is to stop.
fn reads_until_heard(text: &str, name: &str, switches: &[&str]) -> u64 {
    let program = raddle_program::parse("hard.rdl", text, &[]).expect("a program");
    let code = compile(&program, &AllShared, &CompileOptions::default());
    let control = Control::new();
    control.stop();
    let engine = ENGINES.find(name).expect("an engine");
    let mut options = Options::new(Model::Sc);
    switches.iter().for_each(|switch| options.switches.set(engine, switch).expect("a switch"));
    let outcome = engine.ask(&Question { code: &code, options: &options }, &control).expect("it takes this program");
    assert_eq!(outcome.stop, Some(StopReason::Interrupted), "{name}");
    outcome.statistics.events
}

#[test]
fn the_search_for_a_sequence_is_interrupted() {
    // Two threads that look at what the other one wrote: the questions grow with every read.
    let turns = "global x: i32; global y: i32;
        fn one() { for k in 0..200 { store x, k; let a = load y; } }
        fn other() { for k in 0..200 { store y, k; let a = load x; } }
        fn main() { spawn one(); spawn other(); }";
    // Between questions the clock is looked at every 256 reads that are tried.
    assert!(reads_until_heard(turns, "rvf", &["guidance=off"]) < 256);
}

#[test]
fn the_realisation_of_an_annotation_is_interrupted() {
    // The last read gets a source that is overwritten in the trace at hand, so all reads before it are in question.
    let late = "global x: i32; global y: i32;
        fn reader() { for k in 0..50 { let a = load x; } let b = load y; }
        fn writer() { store y, 1; store y, 2; }
        fn main() { spawn reader(); spawn writer(); }";
    // Between questions the clock is looked at every 64 reads that are tried.
    assert!(reads_until_heard(late, "dc", &[]) < 64);
}
