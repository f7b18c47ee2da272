//! Data races: two accesses to one place, one of them a write, one of them not atomic, and nothing that orders them.

mod support;

use raddle_machine::{Automaton, Status, System};
use raddle_trace::{Model, Property};
use support::code;

/// Whether some run of the program has a race. The programs are so small that all runs can be tried.
fn races(text: &str, model: Model) -> bool {
    let code = code(text);
    let mut todo = vec![System::new(&code, model, true, false)];
    let (mut found, mut runs) = (false, 0);
    while let Some(system) = todo.pop() {
        let raced =
            |status: &Status| matches!(status, Status::Failed(failure) if failure.property == Some(Property::Race));
        found |= system.threads().any(|thread| raced(thread.status()));
        runs += usize::from(system.moves().is_empty());
        todo.extend(system.moves().into_iter().chain(system.racing_looks()).map(|step| {
            let mut next = system.clone();
            next.step(step).expect("it is possible");
            next
        }));
    }
    assert!(runs > 0);
    found
}

/// One thread writes `x` in this way and the other reads it in that way.
fn check(expected: bool, a: &str, b: &str) {
    let text = format!(
        "global x: i32; global f: i32; global m: mutex;
        fn a() {{ {a} }} fn b() {{ {b} }} fn main() {{ spawn a(); spawn b(); }}"
    );
    for model in Model::OPERATIONAL {
        assert_eq!(races(&text, model), expected, "{model}: {a} || {b}");
    }
}

#[test]
fn accesses_that_nothing_orders() {
    check(true, "store.na x, 1;", "let v = load.na x;");
    check(true, "store.na x, 1;", "store.na x, 1;");
    check(true, "store.na x, 1;", "let v = load.sc x;");
    check(true, "store.sc x, 1;", "let v = load.na x;");
    check(true, "rmw.add.sc x, 1;", "let v = load.na x;");
    check(false, "let v = load.na x;", "let v = load.na x;");
    check(false, "store.rlx x, 1;", "let v = load.rlx x;");
    // Of four bytes, one.
    check(true, "store.na x, 1;", "let v = load.na i8 x;");
}

#[test]
fn looks_that_are_in_vain() {
    check(true, "store.na x, 1;", "let v = load.sc x until v == 1;");
    check(true, "store.na x, 1;", "let v = load.sc x until v == 2;");
    check(false, "store.rlx x, 1;", "let v = load.sc x until v == 2;");
    // What the thread knows of before it waits is no race, nor is what nobody has written.
    check(false, "store.na x, 1; store.rel f, 1;", "let w = load.acq f until w == 1; let v = load.sc x until v == 2;");
    check(true, "store.na x, 1; store.rlx f, 1;", "let w = load.acq f until w == 1; let v = load.sc x until v == 2;");
    check(false, "let w = load.na x;", "let v = load.sc x until v == 2;");
}

#[test]
fn a_look_in_vain_that_races_with_nothing_is_no_step() {
    let code = code("global x: i32; fn main() { store.na x, 1; let v = load.sc x until v == 2; }");
    let mut system = System::new(&code, Model::Sc, true, false);
    let store = system.moves()[0];
    system.step(store).expect("the store is a move");
    assert!(system.moves().is_empty() && system.racing_looks().is_empty());
    assert!(system.step(store).is_err());
}

#[test]
fn accesses_that_a_mutex_orders() {
    check(false, "lock m; store.na x, 1; unlock m;", "lock m; let v = load.na x; unlock m;");
    check(true, "lock m; store.na x, 1; unlock m;", "lock m; unlock m; let v = load.na x;");
    check(true, "lock m; store.na x, 1; unlock m;", "let v = load.na x;");
}

#[test]
fn accesses_that_a_message_orders() {
    let send = |order: &str| format!("store.na x, 1; store.{order} f, 1;");
    let receive = |order: &str| format!("let v = load.{order} f until v == 1; let w = load.na x;");
    check(false, &send("rel"), &receive("acq"));
    check(false, &send("sc"), &receive("sc"));
    check(true, &send("rlx"), &receive("acq"));
    check(true, &send("rel"), &receive("rlx"));
    check(false, "store.na x, 1; fence.rel; store.rlx f, 1;", &receive("acq"));
    check(false, &send("rel"), "let v = load.rlx f until v == 1; fence.acq; let w = load.na x;");
    // An update in between carries the message on; a store does not.
    check(false, &send("rel"), "let v = rmw.add.rlx f, 1; if v == 1 { fence.acq; let w = load.na x; }");
}

#[test]
fn accesses_that_the_life_of_a_thread_orders() {
    let text = "global x: i32; fn a() { store.na x, 1; } fn main() { BEFORE let t = spawn a(); BETWEEN join t; AFTER }";
    let with = |before: &str, between: &str, after: &str| {
        let text = text.replace("BEFORE", before).replace("BETWEEN", between).replace("AFTER", after);
        Model::OPERATIONAL.map(|model| races(&text, model))
    };
    let write = "store.na x, 2;";
    assert_eq!(with(write, "", write), [false; 3]);
    assert_eq!(with("", write, ""), [true; 3]);
}
