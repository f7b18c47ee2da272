//! What is no strategy of a fair scheduler is not taken for one, whoever proposes it.

use raddle_live::strategy::{Next, Proposed, confirm};
use raddle_live::{Fairness, Strength, Unit};
use raddle_machine::compile::{AllShared, Options};
use raddle_machine::{Code, compile};
use raddle_trace::{Model, Schedule, Step, ThreadName};

fn code(text: &str) -> Code {
    let program = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    compile(&program, &AllShared, &Options::default())
}

fn steps(code: &Code, text: &str) -> Vec<Step> {
    let schedule: Schedule<ThreadName> = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let step = |step: Step<ThreadName>| step.named(|name| code.numbering().number(name)).expect("a thread");
    schedule.steps.into_iter().map(step).collect()
}

/// Judges a strategy of states with moves like `1=0 to 2`.
fn judged(code: &Code, stem: &str, states: &[&[(&str, usize)]]) -> Result<Vec<usize>, String> {
    let fairness = Fairness { strength: Strength::Weak, unit: Unit::Thread };
    let one = |&(text, to): &(&str, usize)| (steps(code, text)[0], to);
    let states: Vec<Vec<(Step, usize)>> = states.iter().map(|moves| moves.iter().map(one).collect()).collect();
    let stem = steps(code, stem);
    let proposed = Proposed { stem: &stem, states: &states, waits: None };
    confirm(code, Model::Sc, fairness, proposed).map(|strategy| {
        let drawn = |point: &raddle_live::strategy::Point| {
            point.turns.iter().filter(|turn| matches!(turn.next, Next::Drawn(_))).count()
        };
        strategy.states.iter().map(drawn).collect()
    })
}

/// Draws a bit and stores it, for ever.
const STORES: &str = "global x: i32; global y: i32;
    fn draws() { loop { let a = choose random 0..2; store x, a; } }
    fn says() { store y, 1; }
    fn main() { spawn draws(); spawn says(); }";

/// What the first thread does for ever: with 0 in memory, what is drawn, the same with 1.
const FOR_EVER: [&[(&str, usize)]; 6] =
    [&[("1=0", 1), ("1=1", 2)], &[("1", 0)], &[("1", 3)], &[("1=0", 4), ("1=1", 5)], &[("1", 0)], &[("1", 3)]];

#[test]
fn a_strategy_goes_wherever_chance_leads() {
    let code = code(STORES);
    // The other thread has stored before.
    assert_eq!(judged(&code, "0 0 2", &FOR_EVER), Ok(vec![1, 0, 0, 1, 0, 0]));
}

#[test]
fn who_could_always_move_must_move() {
    let wrong = judged(&code(STORES), "0 0", &FOR_EVER).expect_err("the other thread could store");
    assert!(wrong.contains("not fair"), "{wrong}");
}

#[test]
fn all_that_can_be_drawn_has_to_be_there() {
    let code = code(STORES);
    let wrong = judged(&code, "0 0 2", &[&[("1=0", 1)], &[("1", 0)]]).expect_err("1 can be drawn");
    assert!(wrong.contains("draws something else"), "{wrong}");
    let both: [&[(&str, usize)]; 2] = [&[("1=0", 1), ("1=1", 1)], &[("1", 0)]];
    let wrong = judged(&code, "0 0 2", &both).expect_err("that is another state");
    assert!(wrong.contains("another state"), "{wrong}");
}

#[test]
fn a_strategy_has_to_come_back() {
    let code = code("global x: i8; fn t() { store x, 1; loop { let a = load x; } } fn main() { spawn t(); }");
    let wrong = judged(&code, "0", &[&[("1", 1)], &[("1", 1)]]).expect_err("it leaves its first state for ever");
    assert!(wrong.contains("does not come back"), "{wrong}");
    let wrong = judged(&code, "0", &[&[]]).expect_err("nothing moves");
    assert!(wrong.contains("nothing moves"), "{wrong}");
}
