//! A violation is shown by a run without steps that it does not need, however it was found.

use raddle::engine::{Deadline, Equivalence, Fault, Options, PropertySet, Question, Reach, Refusal, confirm};
use raddle::trace::{Schedule, ThreadName};
use raddle::{Control, Engine, Model, Outcome, Property, Statistics};

/// Finds one run, which it was given.
struct Given(Schedule<ThreadName>, Property);

impl Engine for Given {
    fn name(&self) -> &'static str {
        "given"
    }

    fn summary(&self) -> &'static str {
        "one run"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::Traces
    }

    fn takes(&self, _: &Question<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn run(&self, question: &Question<'_>, _: &Deadline<'_>) -> Result<Outcome, Fault> {
        let schedule = self.0.numbered(question.code.numbering()).expect("threads of the program");
        let found = confirm(question, schedule, self.1, 0)?;
        Ok(Outcome::new("given", question, Reach::default(), vec![found], Statistics::default()))
    }
}

/// The schedule that is shown for a violation of this property by a run that has this one.
fn shown(model: Model, text: &str, property: Property, schedule: &str) -> String {
    let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let code = raddle::prepare(&program, None);
    let options = Options { properties: PropertySet::all(), ..Options::new(model) };
    let engine: &dyn Engine = &Given(schedule.parse().expect("a schedule"), property);
    let outcome = engine.ask(&Question { code: &code, options: &options }, &Control::new());
    let outcome = outcome.unwrap_or_else(|fault| panic!("{fault}"));
    outcome.findings[0].violation().schedule.to_string()
}

const ASSERT: Property = Property::Assert;

#[test]
fn who_has_nothing_to_do_with_it_does_nothing() {
    let text = "global x: i32; global y: i32; global z: i32;
        fn a() { store z, 1; store x, 1; store z, 2; } fn b() { store y, 1; store y, 2; }
        fn c() { let p = load x; assert p == 0; }
        fn main() { spawn a(); spawn b(); spawn c(); }";
    assert_eq!(shown(Model::Sc, text, ASSERT, "0 0 2 1 0 1 2 1 3"), "0 0 0 1 1 3");
}

#[test]
fn a_value_that_makes_no_difference_need_not_be_read() {
    let text = "global x: i32; fn a() { store x, 1; } fn b() { let p = load x; assert p > 5; }
        fn main() { spawn a(); spawn b(); }";
    assert_eq!(shown(Model::Sc, text, ASSERT, "0 0 1 2"), "0 0 2");
}

#[test]
fn who_is_waited_for_comes_to_an_end() {
    let text = "global x: i32; fn a() { store x, 1; store x, 2; store x, 3; } fn b() { store x, 4; }
        fn main() { let t = spawn a(); spawn b(); join t; let p = load x; assert p == 0; }";
    assert_eq!(shown(Model::Sc, text, ASSERT, "0 0 2 1 1 1 0 0"), "0 0 1 1 1 0 0");
}

#[test]
fn both_sides_of_a_race_stay() {
    let text = "global x: i32; global y: i32; fn a() { store.na x, 1; store y, 1; } fn b() { store.na x, 2; }
        fn main() { spawn a(); spawn b(); }";
    assert_eq!(shown(Model::Sc, text, Property::Race, "0 0 1 1 2"), "0 0 1 2");
    assert_eq!(shown(Model::Rc11, text, Property::Race, "0 0 1@0 1@0 2"), "0 0 1@0 2");
}

#[test]
fn writes_stand_among_those_that_are_left() {
    let text = "global x: i32; fn a() { store x, 1; } fn b() { store x, 2; } fn c() { let p = load x; assert p != 2; }
        fn main() { spawn a(); spawn b(); spawn c(); }";
    assert_eq!(shown(Model::Rc11, text, ASSERT, "0 0 0 1@0 2@1 3<2.0"), "0 0 0 2@0 3<2.0");
    assert_eq!(shown(Model::Wra, text, ASSERT, "0 0 0 1 2 3<2.0"), "0 0 0 2 3<2.0");
}

#[test]
fn an_earlier_write_may_be_read_as_well() {
    let text = "global x: i32; global y: i32; fn a() { store.na y, 1; store.rlx x, 1; store.na y, 2; store.rlx x, 2; }
        fn b() { let p = load.acq x; if p > 0 { let q = load.na y; } }
        fn main() { spawn a(); spawn b(); }";
    let given = "0 0 1@0 1@0 1@1 1@1 2<1.3 2<1.2";
    assert_eq!(shown(Model::Rc11, text, Property::Race, given), "0 0 1@0 1@0 2<1.1 2<1.0");
}

#[test]
fn buffers_are_emptied_as_far_as_somebody_looks() {
    let text = "global x: i32; global y: i32; global z: i32; fn a() { store x, 1; store y, 1; }
        fn b() { store z, 1; let p = load x; assert p == 0; }
        fn main() { spawn a(); spawn b(); }";
    assert_eq!(shown(Model::Tso, text, ASSERT, "0 0 1 1 1! 1! 2 2! 2"), "0 0 1 1! 2 2");
    let late = "0 0 1 1 1!400008000000 1!400010000000 2 2";
    assert_eq!(shown(Model::Pso, text, ASSERT, late), "0 0 1 1!400008000000 2 2");
}

#[test]
fn threads_go_on_for_as_long_as_they_can() {
    let text = "global x: i32; global y: i32; global z: i32; fn a() { store z, 1; store x, 1; }
        fn b() { store y, 1; store y, 2; let q = load x; assert q == 0; }
        fn main() { spawn a(); spawn b(); }";
    assert_eq!(shown(Model::Sc, text, ASSERT, "0 0 2 1 2 1 2"), "0 0 1 1 2 2 2");
    assert_eq!(shown(Model::Rc11, text, ASSERT, "0 0 2@0 1@0 2@1 1@0 2<1.1"), "0 0 1@0 1@0 2@0 2@1 2<1.1");
    let locks = "global m: mutex; global n: mutex; fn a() { lock m; lock n; } fn b() { lock n; lock m; }
        fn main() { spawn a(); spawn b(); }";
    assert_eq!(shown(Model::Sc, locks, Property::Deadlock, "0 1 0 2"), "0 0 1 2");
}

#[test]
fn where_nothing_moves_everybody_is_where_he_is() {
    let text = "global m: mutex; global x: i32; fn a() { lock m; store x, 1; } fn b() { store x, 2; lock m; }
        fn main() { spawn a(); spawn b(); }";
    assert_eq!(shown(Model::Sc, text, Property::Deadlock, "0 0 2 1 1"), "0 0 2 1 1");
}
