//! Loops that wait, in every shape of `examples/c/spin_shapes.c`: turning them into waits loses no outcome and invents none.
//!
//! Two threads take a lock once each and note who came first, what they found in a plain variable and how they found the lock a moment
//! before. Every outcome is asked for with the analysis of spin loops, and without it but with bounded loops.

mod support;

use raddle_engine::{Control, Engine, Options, Question};
use raddle_explore::Auto;
use raddle_machine::compile::AllShared;
use raddle_program::analysis::LoopBounds;
use raddle_testkit::Scratch;
use raddle_trace::{Model, Verdict};
use support::compile_file;

const SHAPES: u32 = 11;
const OUTCOMES: u32 = 8;

/// The example with another `main`: the outcome is one of eight numbers.
fn program() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/spin_shapes.c");
    let text = std::fs::read_to_string(path).expect("the example");
    let (shapes, _) = text.split_once("static void *worker").expect("the example has workers");
    format!(
        "{shapes}
static int order;
static int seen[2];
static void *worker(void *number)
{{
    int me = (int)(long)number;
    seen[me] = atomic_load_explicit(&the_lock.flag, memory_order_relaxed);
    lock(&the_lock);
    order = 2 * order + me;
    unlock(&the_lock);
    return 0;
}}
int main(void)
{{
    pthread_t a, b;
    counter = 0;
    pthread_create(&a, 0, worker, (void *)0);
    pthread_create(&b, 0, worker, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(order + 2 * (seen[0] + 2 * seen[1]) - 1 != OUTCOME);
    return 0;
}}
"
    )
}

fn possible(source: &std::path::Path, shape: u32, outcome: u32, model: Model, waits: bool) -> bool {
    let defines = vec![format!("SHAPE={shape}"), format!("OUTCOME={outcome}")];
    let front_end = raddle_c::Options { defines, ..raddle_c::Options::default() };
    let mut program = compile_file(source, &front_end).unwrap_or_else(|error| panic!("{error}"));
    if waits {
        let found = raddle_program::analysis::spin_loops(&mut program);
        assert!(!found.loops.is_empty(), "shape {shape} is not recognised");
    }
    let loop_bounds = LoopBounds { every: if waits { None } else { Some(2) }, named: Vec::new() };
    let code = raddle_machine::compile(
        &program,
        &AllShared,
        &raddle_machine::compile::Options { loop_bounds, ..Default::default() },
    );
    let engine: &dyn Engine = &Auto;
    let found = engine.ask(&Question { code: &code, options: &Options::new(model) }, &Control::new());
    let found = found.unwrap_or_else(|error| panic!("shape {shape}, outcome {outcome}, waits {waits}: {error}"));
    assert!(found.verdict != Verdict::Unknown, "shape {shape}, outcome {outcome}");
    !found.findings.is_empty()
}

#[test]
fn waiting_loses_no_outcome_and_invents_none() {
    let scratch = Scratch::new();
    let source = scratch.file("p.c", program());
    // One exchange, and one that is looked at first, also where stores are buffered.
    let buffered = [(0, Model::Tso), (8, Model::Tso)];
    for (shape, model) in (0..SHAPES).map(|shape| (shape, Model::Sc)).chain(buffered) {
        let outcomes = |waits| -> Vec<u32> {
            (0..OUTCOMES).filter(|&outcome| possible(&source, shape, outcome, model, waits)).collect()
        };
        let (waiting, turning) = (outcomes(true), outcomes(false));
        assert_eq!(waiting, turning, "shape {shape} under {model:?}");
        assert!(waiting.len() > 2 && waiting.len() < OUTCOMES as usize, "{waiting:?}");
    }
}
