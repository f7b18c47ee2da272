//! Threads that wait for others before they do anything else.

use raddle::ENGINES;
use raddle_engine::{Control, Options, Question};
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_trace::{Model, Verdict};

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
