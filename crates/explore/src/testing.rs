//! Programs for tests that look inside an engine.

use raddle_engine::{Control, Deadline, Fault, Options, Outcome, PropertySet, Question};
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_trace::{Model, Property};

/// A program whose first thread starts these threads, explored under SC to the end. It has the objects `x`, `y`, `m` and `n`.
pub(crate) fn explored(
    threads: &[&str],
    explore: impl for<'c> FnOnce(Question<'c>, &'c Deadline<'c>) -> Result<Outcome, Fault>,
) -> Outcome {
    let mut text = "global x: i32; global y: i32; global z: i32; global m: mutex; global n: mutex;\n".to_owned();
    let functions = threads.iter().enumerate().map(|(number, body)| format!("fn t{number}() {{ {body} }}\n"));
    text.extend(functions);
    let spawns: String = (0..threads.len()).map(|number| format!("spawn t{number}(); ")).collect();
    text += &format!("fn main() {{ {spawns}}}\n");
    let program = raddle_program::parse("threads.rdl", &text, &[]).expect("a program");
    let code = compile(&program, &AllShared, &CompileOptions::default());
    let mut options = Options::new(Model::Sc);
    options.all = true;
    options.properties = PropertySet::all().without(Property::Race);
    let control = Control::new();
    let deadline = Deadline::new(options.limits, &control);
    explore(Question { code: &code, options: &options }, &deadline).expect("it is supported")
}

/// Holds an engine against itself: what it counts as a whole, and in as many parts as there may be.
pub(crate) fn parts_make_up_the_whole(
    threads: &[&str],
    whole: impl for<'c> FnOnce(Question<'c>, &'c Deadline<'c>) -> Result<Outcome, Fault>,
    in_parts: impl for<'c> FnOnce(Question<'c>, &'c Deadline<'c>) -> (Outcome, u64),
) {
    let whole = explored(threads, whole);
    let mut parts = 0;
    let other = explored(threads, |question, deadline| {
        let (outcome, count) = in_parts(question, deadline);
        parts = count;
        Ok(outcome)
    });
    assert!(parts > 0, "nothing of {threads:?} was given away");
    assert_eq!(other.statistics, whole.statistics, "{threads:?}");
    assert_eq!(other.counters, whole.counters, "{threads:?}");
    assert_eq!(other.verdict, whole.verdict, "{threads:?}");
    assert!((other.share_done - 1.0).abs() < 1e-9, "{} of {threads:?}", other.share_done);
}
