//! What is no fair loop is not taken for one, whoever proposes it; and waiting is what it is said to be.

use raddle_engine::{Control, Options, Question};
use raddle_live::lasso::{Proposed, Shows, Why, confirm};
use raddle_live::{BUFFER, Fairness, Goal, Settings, Strength, Unit, Verdict, decide};
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_machine::{Code, compile};
use raddle_trace::{Model, Schedule, Step};

fn code(text: &str) -> Code {
    let program = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    compile(&program, &AllShared, &CompileOptions::default())
}

/// The steps of a schedule of this program.
fn steps(code: &Code, text: &str) -> Vec<Step> {
    let schedule: Schedule<raddle_trace::ThreadName> = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let step =
        |step: Step<raddle_trace::ThreadName>| step.named(|name| code.numbering().number(name)).expect("a thread");
    schedule.steps.into_iter().map(step).collect()
}

const WEAK: Fairness = Fairness { strength: Strength::Weak, unit: Unit::Thread };
const STRONG: Fairness = Fairness { strength: Strength::Strong, unit: Unit::Thread };

fn judged(code: &Code, model: Model, fairness: Fairness, stem: &str, turn: &str) -> Result<Vec<Why>, String> {
    let (stem, turn) = (steps(code, stem), steps(code, turn));
    let proposed = Proposed { stem: &stem, turn: &turn, shows: Shows::NoEnd };
    confirm(code, model, fairness, proposed).map(|lasso| lasso.reasons.into_iter().map(|reason| reason.why).collect())
}

fn decided(code: &Code, model: Model, goal: Goal, fairness: Fairness) -> Verdict {
    let options = Options::new(model);
    let settings = Settings { goal, fairness, buffer: BUFFER };
    let found = decide(&Question { code, options: &options }, &settings, &Control::new());
    found.unwrap_or_else(|fault| panic!("{fault}")).verdict
}

const SPIN: &str = "global x: i32;
    fn looks() { loop { let a = load x; if a == 1 { break; } } }
    fn says() { store x, 1; }
    fn main() { spawn looks(); spawn says(); }";

#[test]
fn a_loop_in_which_somebody_could_have_moved_is_not_fair() {
    let code = code(SPIN);
    let wrong = judged(&code, Model::Sc, WEAK, "0 0", "1").expect_err("the other thread could store");
    assert!(wrong.contains("not fair"), "{wrong}");
}

#[test]
fn a_store_that_never_arrives_is_not_fair() {
    let code = code(SPIN);
    let wrong = judged(&code, Model::Tso, WEAK, "0 0 2", "1").expect_err("the store could arrive");
    assert!(wrong.contains("Drain"), "{wrong}");
    assert!(matches!(decided(&code, Model::Tso, Goal::Ends, WEAK), Verdict::Holds));
}

#[test]
fn a_loop_has_to_come_back() {
    let code = code("global x: i32; fn main() { loop { let a = load x; store x, 1 - a; } }");
    let wrong = judged(&code, Model::Sc, WEAK, "", "0 0").expect_err("x is another one");
    assert!(wrong.contains("come back"), "{wrong}");
    assert!(judged(&code, Model::Sc, WEAK, "", "").is_err(), "nothing is no loop");
    assert_eq!(judged(&code, Model::Sc, WEAK, "", "0 0 0 0"), Ok(vec![Why::Moves(4)]));
}

#[test]
fn what_nobody_reads_again_makes_no_difference_to_a_loop() {
    let code = code("global x: i32; fn main() { let a = 7; loop { a = load x; } }");
    assert_eq!(judged(&code, Model::Sc, WEAK, "", "0"), Ok(vec![Why::Looks(1)]));
}

const BLOCKS: &str = "global m: mutex; global x: i32;
    fn takes() { loop { lock m; unlock m; } }
    fn main() { spawn takes(); lock m; unlock m; }";

#[test]
fn one_who_blocks_is_owed_something_by_strong_fairness_alone() {
    let code = code(BLOCKS);
    let weak = judged(&code, Model::Sc, WEAK, "0", "1 1").expect("it is fair");
    assert!(matches!(weak[0], Why::AbleAtTimes(_)), "{weak:?}");
    assert!(judged(&code, Model::Sc, STRONG, "0", "1 1").is_err());
}

#[test]
fn one_who_spins_moves() {
    let text = "global l: i32;
        fn takes() { loop { let a = cas l, 0, 1; if a == 0 { store l, 0; } } }
        fn main() { spawn takes(); loop { let a = cas l, 0, 1; if a == 0 { break; } } store l, 0; }";
    let code = code(text);
    // The other one holds the lock whenever this one looks.
    assert_eq!(judged(&code, Model::Sc, STRONG, "0", "1 0 1"), Ok(vec![Why::Looks(1), Why::Moves(2)]));
    let actions = Fairness { strength: Strength::Strong, unit: Unit::Action };
    assert!(judged(&code, Model::Sc, actions, "0", "1 0 1").is_err(), "it could have taken the lock");
}

#[test]
fn an_atomic_block_is_no_excuse() {
    let text = "global x: i32;
        fn turns() { loop { atomic { let a = load x; store x, a; } } }
        fn main() { spawn turns(); store x, 1; }";
    let code = code(text);
    let wrong = judged(&code, Model::Sc, WEAK, "0", "1 1 1 1").expect_err("the store could have come between blocks");
    assert!(wrong.contains("not fair"), "{wrong}");
}

#[test]
fn a_loop_that_never_leaves_its_block_keeps_everybody_out() {
    let text = "global x: i32;
        fn turns() { atomic { loop { let a = load x; if a == 1 { break; } } } }
        fn main() { spawn turns(); store x, 1; }";
    let code = code(text);
    assert!(matches!(decided(&code, Model::Sc, Goal::Ends, STRONG), Verdict::Violated(_)));
    assert!(matches!(decided(&code, Model::Sc, Goal::Ends, WEAK), Verdict::Violated(_)));
}

#[test]
fn who_acts_or_joins_does_not_wait() {
    let text = "global x: i32;
        fn turns() { loop { let a = load x; store x, 1 - a; } }
        fn main() { let t = spawn turns(); join t; }";
    let code = code(text);
    assert!(matches!(decided(&code, Model::Sc, Goal::Waits, WEAK), Verdict::Holds));
    let Verdict::Violated(lasso) = decided(&code, Model::Sc, Goal::Ends, WEAK) else { panic!("it never ends") };
    assert!(matches!(lasso.reasons[0].why, Why::NeverAble(_)), "{:?}", lasso.reasons);
    let proposed = Proposed {
        stem: &steps(&code, "0"),
        turn: &steps(&code, "1 1 1 1"),
        shows: Shows::Waits(code.numbering().number("1".parse().expect("a name")).expect("a thread")),
    };
    let wrong = confirm(&code, Model::Sc, WEAK, proposed).expect_err("it stores");
    assert!(wrong.contains("does not wait"), "{wrong}");
}

#[test]
fn no_run_is_no_promise() {
    let code = code("global x: i32; fn main() { let a = load x; assume a == 1; }");
    let Verdict::Unknown { why, .. } = decided(&code, Model::Sc, Goal::Ends, WEAK) else { panic!("there is nothing") };
    assert!(why.contains("assumption"), "{why}");
}

#[test]
fn what_the_end_of_the_program_cuts_short_does_not_go_on() {
    let text = "global x: i32; entry main exit;
        fn turns() { loop { let a = load x; store x, 1 - a; } }
        fn main() { spawn turns(); }";
    assert!(matches!(decided(&code(text), Model::Sc, Goal::Ends, WEAK), Verdict::Holds));
}

#[test]
fn what_grows_for_ever_is_not_decided() {
    let code = code("global x: i32; fn main() { loop { rmw.add x, 1; } }");
    let mut options = Options::new(Model::Sc);
    options.limits.states = Some(1_000);
    let settings = Settings { goal: Goal::Ends, fairness: WEAK, buffer: BUFFER };
    let found = decide(&Question { code: &code, options: &options }, &settings, &Control::new()).expect("no fault");
    assert!(matches!(found.verdict, Verdict::Unknown { stop: Some(_), .. }), "{found:?}");
    assert!(found.notes.iter().any(|note| note.contains("x had")), "{:?}", found.notes);
}
