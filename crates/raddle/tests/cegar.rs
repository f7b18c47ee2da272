//! The engine `cegar` where it could go wrong: cycles in which somebody is never followed, waits, ends of the program, what abstract states forget, inputs, pointers.

use raddle::engine::PropertySet;
use raddle::{Control, ENGINES, Model, Outcome, Property, Settings, StopReason, Verdict, verify};

fn ask(text: &str, switches: &[&str], properties: PropertySet) -> Outcome {
    let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut settings = Settings::new(Model::Sc);
    settings.engine = ENGINES.find("cegar").expect("an engine");
    settings.options.properties = properties;
    for switch in switches {
        settings.options.switches.set(settings.engine, switch).expect("a switch");
    }
    verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error:?}"))
}

fn failures() -> PropertySet {
    PropertySet::all().without(Property::Deadlock).without(Property::Race)
}

/// What is found in every order of looking and by every reduction; all of them have to say the same.
fn verdict(text: &str) -> Verdict {
    let mut found = Vec::new();
    for por in ["por=none", "por=local", "por=spor", "por=aaspor"] {
        for domain in ["domain=both", "domain=predicates"] {
            found.push((ask(text, &[por, domain], failures()).verdict, por, domain));
        }
    }
    found.push((ask(text, &["search=depth"], failures()).verdict, "search=depth", ""));
    found.push((ask(text, &["certify=on"], failures()).verdict, "certify=on", ""));
    assert!(found.iter().all(|one| one.0 == found[0].0), "{text} {found:?}");
    found[0].0
}

/// Without the rule about ways back in the code, reductions follow the first thread for ever and miss the other one.
#[test]
fn a_thread_that_turns_for_ever_hides_nobody() {
    for body in ["let a = choose 0..2;", "store y, 1;", "fence.sc;", "let a = load y; store y, 1 - a;"] {
        let text = format!(
            "global x: i32; global y: i32;
             fn turns() {{ loop {{ {body} }} }}
             fn fails() {{ let a = load x; assert a != 0; }}
             fn main() {{ spawn turns(); spawn fails(); }}"
        );
        assert_eq!(verdict(&text), Verdict::Violated, "{body}");
    }
}

/// Two threads that only read do not depend on each other; but who is stopped by an assumption, or waits, must not stop the other one.
#[test]
fn who_assumes_or_waits_hides_nobody() {
    for waits in ["let a = load x; assume a == 1;", "let a = load x until a == 1;"] {
        let text = format!(
            "global x: i32;
             fn waits() {{ {waits} }}
             fn fails() {{ let a = load x; if a != 1 {{ error \"there\"; }} }}
             fn main() {{ let v = choose; store x, v; spawn waits(); spawn fails(); }}"
        );
        assert_eq!(verdict(&text), Verdict::Violated, "{waits}");
    }
}

/// What an assumption is about may have been read long before.
#[test]
fn who_assumes_later_hides_nobody() {
    let text = "global x: i32; global z: i32;
        fn assumes() { let a = load x; store z, 1; assume a == 1; }
        fn fails() { let a = load x; if a != 1 { error \"there\"; } }
        fn main() { let v = choose; store x, v; spawn assumes(); spawn fails(); }";
    assert_eq!(verdict(text), Verdict::Violated);
}

/// What a thread does after its next step counts, also behind the call that it is in.
#[test]
fn what_a_thread_does_later_counts() {
    for first in ["store y, 1;", "call before();"] {
        let text = format!(
            "global x: i32; global y: i32;
             fn before() {{ store y, 1; }}
             fn writes() {{ {first} store x, 1; }}
             fn fails() {{ let a = load x; assert a == 0; }}
             fn main() {{ spawn fails(); spawn writes(); }}"
        );
        assert_eq!(verdict(&text), Verdict::Violated, "{first}");
    }
}

/// A thread that waits for another one goes on as soon as that has ended, which may be before a third one has done anything; and of two who wait for the same thread either may be the first.
#[test]
fn who_waits_for_a_thread_goes_on_when_it_has_ended() {
    let text = "global x: i32; global w: i32;
        fn awaited() { store w, 1; }
        fn writes() { store x, 1; }
        fn also() { store w, 2; store w, 3; }
        fn main() { spawn writes(); let h = spawn awaited(); spawn also(); join h; let a = load x; assert a == 1; }";
    assert_eq!(verdict(text), Verdict::Violated);
    let two = |fails: &str| {
        let does = |name: &str| if name == fails { "error \"there\";" } else { "store x, 1;" };
        format!(
            "global x: i32; fn child() {{}} fn one(h: i64) {{ join h; {} }} fn two(h: i64) {{ join h; {} }}
             fn main() {{ let h = spawn child(); spawn one(h); spawn two(h); }}",
            does("one"),
            does("two")
        )
    };
    for name in ["one", "two"] {
        for por in ["por=none", "por=local", "por=spor", "por=aaspor"] {
            // Whoever comes second has nobody to wait for, which is not looked for here.
            let only = PropertySet::none().with(Property::Error);
            assert_eq!(ask(&two(name), &[por], only).verdict, Verdict::Violated, "{name} {por}");
        }
    }
}

#[test]
fn who_ends_the_program_hides_nobody() {
    for last in ["store y, 1;", "let a = choose 0..2;"] {
        let text = format!(
            "global x: i32; global y: i32;
             fn ends() {{ {last} exit; }}
             fn fails() {{ let a = load x; assert a != 0; }}
             fn main() {{ spawn ends(); spawn fails(); }}"
        );
        assert_eq!(verdict(&text), Verdict::Violated, "{last}");
    }
}

/// The first thread may end the program as soon as it has started another one, or has written; what others do meanwhile may come before that, too.
#[test]
fn whoever_may_end_the_program_may_do_so_later() {
    for before in ["", "store x, 1;"] {
        let text = format!(
            "global x: i32; entry main exit;
             fn fails() {{ let a = load x; store x, 2; let b = load x; if b == 2 {{ error \"there\"; }} }}
             fn main() {{ spawn fails(); {before} }}"
        );
        assert_eq!(verdict(&text), Verdict::Violated, "{before}");
    }
    let looks = "global x: i32; fn fails() { let a = load x; if a == 1 { error \"there\"; } }
         fn ends() { store x, 1; exit; } fn main() { spawn fails(); spawn ends(); }";
    assert_eq!(verdict(looks), Verdict::Violated);
}

/// Where abstract states know nothing of `z`, an order in which the third thread comes first seems possible; it is not, and the violation has to be found all the same (Telbisz 2024, partial feasibility).
#[test]
fn what_seems_possible_only_with_what_is_not_known_is_looked_at_again() {
    let text = "global x: i32; global y: i32; global z: i32;
        fn one() { store x, 1; }
        fn two() { let a = load y; if a == 0 { error \"there\"; } }
        fn three() { let a = load z until a == 1; store z, 0; }
        fn main() { spawn one(); spawn two(); spawn three(); }";
    assert_eq!(verdict(text), Verdict::Violated);
}

/// An atomic block whose thread is stopped inside leaves nobody to move; the others come first then.
#[test]
fn who_is_stopped_in_an_atomic_block_hides_nobody() {
    let text = "global x: i32; global y: i32;
        fn stops() { atomic { let a = load y; assume a == 1; } }
        fn fails() { let a = load x; assert a != 0; }
        fn main() { spawn stops(); spawn fails(); }";
    assert_eq!(verdict(text), Verdict::Violated);
}

/// No value tells the two apart; a predicate does.
#[test]
fn predicates_begin_where_values_end() {
    let text = "fn main() { let v = choose; let a = 0; if v == 7 { a = 1; } if v == 7 { assert a == 1; } else { assert a == 0; } }";
    assert_eq!(ask(text, &["domain=both"], failures()).verdict, Verdict::Holds);
    let values =
        "global x: i32; fn main() { let v = choose; store x, v; let a = load x; let b = load x; assert a == b; }";
    let alone = ask(values, &["domain=values"], failures());
    assert_eq!(alone.verdict, Verdict::Unknown);
    assert!(matches!(alone.stop, Some(StopReason::GaveUp { .. })), "{:?}", alone.stop);
    assert_eq!(verdict(values), Verdict::Holds);
}

/// One input of 2^32 breaks it.
#[test]
fn the_whole_range_of_an_input_is_looked_at() {
    let text = |than: &str| {
        format!(
            "global x: i32; fn main() {{ loop {{ let v = choose; let a = v * 3 + 1; assert a {than}; store x, v; }} }}"
        )
    };
    let outcome = ask(&text("!= 1234567"), &[], failures());
    // 3 v + 1 = 1234567 modulo 2^32 has one solution.
    assert_eq!(outcome.verdict, Verdict::Violated);
    assert_eq!(ask(&text("!= v + v + v + 2"), &[], failures()).verdict, Verdict::Holds);
}

#[test]
fn a_pointer_that_is_moved_by_an_input_gets_to_every_place() {
    let text = |most: u32, right: &str| {
        format!(
            "global a: i32[4]; global stop: i32;
             fn writes() {{ loop {{ let i = choose; assume i >= 0 && i < {most}; store a[i], i + 1; let s = load stop; if s == 1 {{ break; }} }} }}
             fn main() {{ spawn writes(); let v = load a[2]; assert v == 0 || v == {right}; }}"
        )
    };
    assert_eq!(ask(&text(4, "3"), &[], failures()).verdict, Verdict::Holds);
    assert_eq!(ask(&text(4, "2"), &[], failures()).verdict, Verdict::Violated);
    let beyond = ask(&text(5, "3"), &[], failures());
    assert_eq!(beyond.verdict, Verdict::Violated);
    assert_eq!(beyond.findings[0].violation().property, Property::Memory);
}

#[test]
fn a_proof_about_nothing_is_none() {
    let text = "global x: i32; fn main() { let a = load x; assume a == 1; assert a == 2; }";
    let outcome = ask(text, &[], failures());
    assert_eq!(outcome.verdict, Verdict::Unknown, "{:?}", outcome.scope);
    // No run that was tried comes to its end; one is found among the abstract states.
    let rare = "global x: i32; fn main() { let v = choose; assume v * v == 1522756; store x, v; let a = load x; assert a == v; }";
    assert_eq!(ask(rare, &[], failures()).verdict, Verdict::Holds);
}

#[test]
fn deadlocks_and_races_are_targets() {
    let all = PropertySet::all();
    let deadlock = "global m: mutex; global n: mutex;
        fn other() { loop { lock n; lock m; unlock m; unlock n; } }
        fn main() { spawn other(); loop { lock m; lock n; unlock n; unlock m; } }";
    let found = ask(deadlock, &[], all);
    assert_eq!(found.findings[0].violation().property, Property::Deadlock);
    assert_eq!(
        ask(&deadlock.replace("lock n; lock m; unlock m; unlock n;", "lock m; lock n; unlock n; unlock m;"), &[], all)
            .verdict,
        Verdict::Holds
    );
    let race = "global x: i32; global m: mutex;
        fn other() { loop { lock m; store.na x, 1; unlock m; } }
        fn main() { spawn other(); loop { lock m; let a = load.na x; unlock m; } }";
    assert_eq!(ask(race, &["certify=on"], all).verdict, Verdict::Holds);
    let found = ask(
        &race.replace("lock m; let a = load.na x; unlock m;", "let a = load.na x;"),
        &[],
        all.without(Property::Deadlock),
    );
    assert_eq!(found.findings[0].violation().property, Property::Race);
}

/// The numbers of the machine for wake-ups and arrivals grow for ever; what is known of them does not.
#[test]
fn meetings_that_never_end_have_finitely_many_states() {
    let signals = |wake: &str| {
        format!(
            "global m: mutex; global c: cond; global d: cond; global turn: i32;
             fn other() {{ loop {{ lock m; let r = load turn; while r != 1 {{ wait c, m; r = load turn; }} store turn, 0; {wake} unlock m; }} }}
             fn main() {{ spawn other(); loop {{ lock m; let r = load turn; while r != 0 {{ wait d, m; r = load turn; }} store turn, 1; signal c; unlock m; }} }}"
        )
    };
    for wake in ["signal d;", "broadcast d;"] {
        assert_eq!(ask(&signals(wake), &["certify=on"], PropertySet::all()).verdict, Verdict::Holds, "{wake}");
    }
    let lost = ask(&signals(""), &[], PropertySet::all());
    assert_eq!(lost.findings[0].violation().property, Property::Deadlock);
    let phases = |count: u32| {
        format!(
            "global b: barrier({count}); global x: i32;
             fn other() {{ loop {{ store x, 1; barrier_wait b; barrier_wait b; }} }}
             fn main() {{ spawn other(); loop {{ barrier_wait b; let r = load x; assert r == 1; store x, 0; barrier_wait b; }} }}"
        )
    };
    assert_eq!(verdict(&phases(2)), Verdict::Holds);
    assert_eq!(verdict(&phases(1)), Verdict::Violated);
    assert_eq!(ask(&phases(3), &[], PropertySet::all()).findings[0].violation().property, Property::Deadlock);
}

/// A signal wakes one of those who wait, whichever; a broadcast all of them.
#[test]
fn any_of_those_who_wait_may_be_woken() {
    let text = |wake: &str| {
        format!(
            "global m: mutex; global c: cond; global n: i32; global x: i32;
             fn waits(i: i32) {{ lock m; let a = load n; store n, a + 1; wait c, m; store x, i; unlock m; }}
             fn main() {{ spawn waits(1); spawn waits(2); let a = load n until a == 2; lock m; {wake} c; unlock m; let b = load x until b != 0; assert b != 1; exit; }}"
        )
    };
    for wake in ["signal", "broadcast"] {
        assert_eq!(verdict(&text(wake)), Verdict::Violated, "{wake}");
        assert_eq!(verdict(&text(wake).replace("b != 1", "b != 2")), Verdict::Violated, "{wake}");
        assert_eq!(verdict(&text(wake).replace("b != 1", "b != 3")), Verdict::Holds, "{wake}");
    }
}

#[test]
fn a_proof_says_how_large_it_is() {
    let text = "global x: i32; global y: i32; global m: mutex;
        fn counts() { loop { lock m; let a = load x; store x, a + 1; let b = load y; store y, b + 1; let c = load x; let d = load y; assert c == d; unlock m; } }
        fn main() { spawn counts(); spawn counts(); }";
    let outcome = ask(text, &["certify=on"], failures());
    assert_eq!(outcome.verdict, Verdict::Holds, "{:?}", outcome.stop);
    assert!(
        outcome.counter("abstract_states") > 1 && outcome.counter("predicates") > 0 && outcome.counter("certified") > 0
    );
    assert!(outcome.notes.iter().any(|note| note.contains("invariant of")), "{:?}", outcome.notes);
}

/// As soon as nobody can look at `x` any more, states that differ in it are one; what the actions do is not forgotten.
#[test]
fn what_nobody_observes_is_forgotten() {
    let text = |wrong: u32| {
        format!(
            "global x: i32; global y: i32;
             fn one() {{ store x, 1; store y, 1; let r = load y; assert r != {wrong}; }}
             fn two() {{ let s = load x; store y, s; store x, 0; store x, 2; store x, 3; }}
             fn main() {{ spawn one(); spawn two(); }}"
        )
    };
    let states = |forget: &str| {
        let outcome = ask(&text(2), &["domain=values", "por=none", forget], failures());
        assert_eq!(outcome.verdict, Verdict::Holds, "{forget}");
        outcome.counter("abstract_states")
    };
    let (all, few) = (states("forget=dead"), states("forget=unobserved"));
    assert!(few < all, "{few} {all}");
    for switches in [["por=none", "prune=full"], ["por=local", "prune=lazy"], ["por=spor", "prune=full"]] {
        for wrong in [0, 1] {
            let outcome = ask(&text(wrong), &[&switches[..], &["forget=unobserved"]].concat(), failures());
            assert_eq!(outcome.verdict, Verdict::Violated, "{wrong} {switches:?}");
        }
    }
    // The way to the end is not possible, though nobody observes what is assigned.
    let spurious = "global x: i32; fn main() { store x, 1; let y = load x; if y != 1 { error \"there\"; } }";
    assert_eq!(ask(spurious, &["forget=unobserved"], failures()).verdict, Verdict::Holds);
}

/// What was built before a refinement and knows no more by it stays.
#[test]
fn a_graph_may_be_pruned_instead_of_built_again() {
    let text = "global x: i32; global y: i32; global z: i32;
        fn one() { loop { store x, 1; let a = load x; assert a == 1; } }
        fn two() { loop { store y, 2; let b = load y; assert b == 2; store z, 3; let c = load z; assert c == 3; } }
        fn main() { spawn one(); spawn two(); }";
    let built = |prune: &str| {
        let outcome = ask(text, &[prune], failures());
        assert_eq!(outcome.verdict, Verdict::Holds, "{prune}");
        assert!(outcome.counter("refinements") > 1, "{prune}");
        [outcome.counter("graphs"), outcome.counter("actions")]
    };
    let (full, lazy) = (built("prune=full"), built("prune=lazy"));
    assert!(lazy[0] < full[0] && lazy[1] < full[1], "{lazy:?} {full:?}");
}
