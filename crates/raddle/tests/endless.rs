//! Programs that do not end are explored with growing bounds.

use raddle::{Control, Language, LoadOptions, Model, Outcome, Settings, StopReason, Verdict, load_text, verify};

fn check(text: &str) -> Outcome {
    check_under(Model::Sc, text)
}

fn check_under(model: Model, text: &str) -> Outcome {
    let program = load_text("p.rdl", text, Language::Rdl, &LoadOptions::default()).expect("accepted").program;
    verify(&program, &Settings::new(model), &Control::new()).expect("no error")
}

fn workers(check: &str) -> String {
    format!(
        "global x: i32; global done: i32;
        fn worker() {{ let i = 0; while true {{ let old = rmw.add x, 1; i = i + 1; {check} }} }}
        fn main() {{ spawn worker(); spawn worker(); }}"
    )
}

#[test]
fn a_violation_in_the_first_turns_is_found() {
    let outcome = check(&workers("assert old != 1, \"first turn\";"));
    assert_eq!(outcome.verdict, Verdict::Violated, "{}", outcome.scope);
    let outcome = check(&workers("assert i < 3 || old < 5, \"third turn\";"));
    assert_eq!(outcome.verdict, Verdict::Violated, "{}", outcome.scope);
}

#[test]
fn the_third_of_threads_that_are_started_for_ever_is_found() {
    let text = "global x: i32;
        fn once() { let old = rmw.add x, 1; assert old != 2, \"third\"; }
        fn main() { while true { spawn once(); } }";
    let outcome = check(text);
    assert_eq!(outcome.verdict, Verdict::Violated, "{}", outcome.scope);
}

#[test]
fn the_scope_says_how_far_it_was_explored() {
    // Under SC there is a proof.
    let outcome = check_under(Model::Pso, "global x: i32; fn main() { while true { store x, 1; } }");
    assert_eq!(outcome.verdict, Verdict::Unknown);
    let Some(StopReason::Endless { turns, .. }) = outcome.stop else { panic!("{:?}", outcome.stop) };
    assert!(turns >= 1024, "{turns}");
    assert!(outcome.scope.to_string().contains(&format!("no violation with up to {turns} turns")), "{}", outcome.scope);
}

/// Who needs no bound decides, whether one worker is asked for or two, and a note says who.
#[test]
fn under_sc_a_proof_needs_no_bound() {
    let text = |wrong: &str| {
        format!(
            "global x: i32; global y: i32; global m: mutex;
             fn counts() {{ loop {{ lock m; let a = load x; store x, a + 1; let b = load y; store y, b + 1; let c = load x; let d = load y; assert c == d {wrong}; unlock m; }} }}
             fn main() {{ spawn counts(); spawn counts(); }}"
        )
    };
    let with = |workers: usize, text: &str| {
        let program = load_text("p.rdl", text, Language::Rdl, &LoadOptions::default()).expect("accepted").program;
        let mut settings = Settings::new(Model::Sc);
        settings.options.workers = workers;
        verify(&program, &settings, &Control::new()).expect("no error")
    };
    for workers in [1, 2] {
        let proved = with(workers, &text(""));
        assert_eq!((proved.verdict, proved.engine), (Verdict::Holds, "cegar"), "{workers}");
        assert!(proved.notes.iter().any(|note| note.starts_with("auto took cegar: ")), "{:?}", proved.notes);
        assert_eq!(with(workers, &text("&& c != 3")).verdict, Verdict::Violated, "{workers}");
    }
}

/// Under TSO such programs are decided without a bound, and a note says why.
#[test]
fn under_tso_they_are_decided_where_they_can_be() {
    let check = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let program = raddle::load(&path, &LoadOptions::default()).expect("accepted").program;
        verify(&program, &Settings::new(Model::Tso), &Control::new()).expect("no error")
    };
    for (name, verdict, engine, why) in [
        ("peterson_forever.rdl", Verdict::Violated, "lazy-tso", ""),
        ("ttas_stop.rdl", Verdict::Holds, "lazy-tso", "with 1 delay of stores built in"),
        ("store_loop.rdl", Verdict::Holds, "abstract-tso", "more behaviours than under tso"),
    ] {
        let outcome = check(name);
        assert_eq!((outcome.verdict, outcome.engine), (verdict, engine), "{name}: {}", outcome.scope);
        assert!(why.is_empty() || outcome.notes.iter().any(|note| note.contains(why)), "{name}: {:?}", outcome.notes);
    }
}

/// A thread that turns for ever and looks at nothing is as good as one that has stopped: the others go on, and what it has done before counts.
#[test]
fn whoever_turns_for_ever_in_silence_stops() {
    let program = |worker: &str, main: &str| {
        format!(
            "global x: i32; global y: i32; fn worker() {{ {worker} }} fn main() {{ let t = spawn worker(); {main} }}"
        )
    };
    let met = |worker: &str, main: &str| check(&program(worker, main));
    for endless in
        ["loop { }", "let n = 0; loop { n = n + 1; }", "let r = load y; while r == 0 { }", "again: goto again;"]
    {
        let found = met(&format!("store x, 1; {endless}"), "let v = load x; assert v != 1;");
        assert_eq!(found.verdict, Verdict::Violated, "{endless}: {}", found.scope);
        let race = met(&format!("let seen = load.na x; {endless}"), "store.na x, 1;");
        assert_eq!(race.verdict, Verdict::Violated, "{endless}: {}", race.scope);
        // Who waits for it waits for ever, but not in a deadlock; and nothing has come to its end.
        let waits = met(endless, "join t; store x, 1; let v = load x; assert v != 1;");
        assert_eq!((waits.verdict, waits.statistics.executions), (Verdict::Unknown, 0), "{endless}: {}", waits.scope);
    }
    let sometimes = met("let r = load y; if r == 0 { loop { } }", "store y, 1; join t;");
    assert_eq!((sometimes.verdict, sometimes.statistics.executions), (Verdict::Holds, 1), "{}", sometimes.scope);
    // An error in the turn is met before.
    let fails = met("let r = load y; loop { assert r == 0; }", "store y, 1;");
    assert_eq!(fails.verdict, Verdict::Violated, "{}", fails.scope);
    // What stops a thread bounds its inputs.
    let bounded = check("fn main() { let n: i32; n = choose signed; if n < 3 || n > 7 { loop { } } assert n != 7; }");
    assert_eq!(bounded.verdict, Verdict::Violated, "{}", bounded.scope);
}
