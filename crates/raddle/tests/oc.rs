//! The engine `oc` where it could go wrong: orders of writes, rounds of derivation, joins in branches, blocks that do not end, loops, inputs.

use raddle::engine::PropertySet;
use raddle::{
    Control, ENGINES, Error, Model, Outcome, Program, Property, Scope, Settings, StopReason, Verdict, verify,
};

fn program(text: &str) -> Program {
    raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn ask(text: &str, switch: &str, properties: PropertySet) -> Result<Outcome, Error> {
    ask_under(Model::Sc, text, &[switch], properties)
}

fn ask_under(model: Model, text: &str, switches: &[&str], properties: PropertySet) -> Result<Outcome, Error> {
    let mut settings = Settings::new(model);
    settings.engine = ENGINES.find("oc").expect("an engine");
    settings.options.properties = properties;
    for switch in switches {
        settings.options.switches.set(settings.engine, switch).expect("a switch");
    }
    verify(&program(text), &settings, &Control::new())
}

/// What is found without looking for deadlocks, by every way to search.
fn verdict(text: &str) -> Verdict {
    verdict_under(Model::Sc, text)
}

fn verdict_under(model: Model, text: &str) -> Verdict {
    let properties = PropertySet::all().without(Property::Deadlock);
    let mut verdicts = Vec::new();
    for search in ["search=prop", "search=basic", "search=clock"] {
        for conflicts in ["conflicts=simple", "conflicts=none"] {
            let found = ask_under(model, text, &[search, conflicts], properties).expect("it takes this");
            verdicts.push(found.verdict);
        }
    }
    assert!(verdicts.windows(2).all(|pair| pair[0] == pair[1]), "{verdicts:?}: {text}");
    verdicts[0]
}

/// Threads given by their steps, `x=1` to write and `x?1` for a read that must find 1, and a main thread that starts all, waits for all and must not come to its end.
fn outcome(threads: &[&str], order: &[usize], locations: &[&str]) -> String {
    let mut text: String = locations.iter().map(|name| format!("global {name}: i32;\n")).collect();
    for (number, steps) in threads.iter().enumerate() {
        text += &format!("fn t{number}() {{\n");
        for (at, step) in steps.split_whitespace().enumerate() {
            text += &match step.split_once('=') {
                Some((name, value)) => format!("store {name}, {value};\n"),
                None => {
                    let (name, value) = step.split_once('?').expect("a step");
                    format!("let r{at} = load {name}; assume r{at} == {value};\n")
                }
            };
        }
        text += "}\n";
    }
    text += "fn main() {\n";
    text.extend(order.iter().map(|number| format!("let h{number} = spawn t{number}();\n")));
    text.extend(order.iter().map(|number| format!("join h{number};\n")));
    text + "error \"all came to their ends\";\n}\n"
}

const L1: [&str; 4] = ["y=1 s?1 v=1 z?1", "y=2 s=1 v?1 z?2", "z=1 u?1 t=1 y?1", "z=2 u=1 t?1 y?2"];

/// No execution comes to its end, so there is nothing to be said; one that is violated would have come.
#[test]
fn the_order_of_writes_must_be_total() {
    let text = outcome(&L1, &[0, 1, 2, 3], &["y", "z", "s", "t", "u", "v"]);
    assert_eq!(verdict(&text), Verdict::Unknown);
    let possible = outcome(&["y=1 s?1 v=1", "y=2 s=1 v?1 y?2"], &[0, 1], &["y", "s", "v"]);
    assert_eq!(verdict(&possible), Verdict::Violated);
}

#[test]
fn derivation_goes_on_until_nothing_new_follows() {
    let threads = ["x=1 y?2", "y=1", "y=2 y?1 x?0"];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        for locations in [["x", "y"], ["y", "x"]] {
            assert_eq!(verdict(&outcome(&threads, &order, &locations)), Verdict::Unknown, "{order:?} {locations:?}");
        }
    }
    assert_eq!(verdict(&outcome(&["x=1 y?2", "y=1", "y=2 y?1"], &[0, 1, 2], &["x", "y"])), Verdict::Violated);
}

/// Two copies of L1, of which an execution has one or the other.
#[test]
fn the_order_of_writes_is_asked_for_in_every_model() {
    let names = ["y", "z", "s", "t", "u", "v"];
    let mut text = String::from("global k: i32; fn racer() { store k, 1; }\n");
    let mut main = String::from("fn main() { spawn racer(); let c = load k;\n");
    for copy in 0..2 {
        let renamed = |step: &str| format!("{}{copy}{}", &step[..1], &step[1..]);
        let threads: Vec<String> =
            L1.iter().map(|thread| thread.split(' ').map(renamed).collect::<Vec<_>>().join(" ")).collect();
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        let locations: Vec<String> = names.iter().map(|name| format!("{name}{copy}")).collect();
        let locations: Vec<&str> = locations.iter().map(String::as_str).collect();
        let whole = outcome(&threads, &[0, 1, 2, 3], &locations);
        let (threads, body) = whole.split_once("fn main() {").expect("it has one");
        text += &threads.replace("fn t", &format!("fn c{copy}t"));
        let body = body.trim_end().trim_end_matches('}').replace("spawn t", &format!("spawn c{copy}t"));
        main += &format!("if c == {copy} {{ {body} }}\n");
    }
    text += &(main + "}\n");
    assert_eq!(verdict(&text), Verdict::Unknown);
}

/// What follows a branch comes after the thread that one side waits for only if that side was taken.
#[test]
fn a_join_in_a_branch_orders_on_that_side_only() {
    let text = |always: &str| {
        format!(
            "global x: i32; global c: i32;
             fn worker() {{ store x, 1; store c, 1; }}
             fn main() {{ let t = spawn worker(); let r = load c; if r == 1 {always} {{ join t; }} let s = load x; assert s == 1; }}"
        )
    };
    assert_eq!(verdict(&text("")), Verdict::Violated);
    assert_eq!(verdict(&text("|| r == 0")), Verdict::Holds);
}

#[test]
fn a_block_that_does_not_end_has_not_happened() {
    let text = |end: &str| {
        format!(
            "global x: i32; global y: i32;
             fn worker() {{ atomic {{ store x, 1; let r = load y; assume r == {end}; }} }}
             fn main() {{ spawn worker(); let r = load x; assert r == 0; }}"
        )
    };
    assert_eq!(verdict(&text("1")), Verdict::Unknown);
    assert_eq!(verdict(&text("0")), Verdict::Violated);
    let fails = "global x: i32; fn main() { atomic { store x, 1; let r = load x; assert r == 2; } }";
    assert_eq!(verdict(fails), Verdict::Violated);
    let holds = "global x: i32; fn main() { atomic { store x, 1; let r = load x; assert r == 1; } }";
    assert_eq!(verdict(holds), Verdict::Holds);
}

#[test]
fn loops_are_unrolled_until_nothing_is_cut_off() {
    let text = |most: u32, wrong: u32| {
        format!(
            "global x: i32;
             fn main() {{ let n = choose 0..{most}; let i: i32 = 0; while i < n {{ let r = load x; store x, r + 1; i = i + 1; }}
                let s = load x; assert s != {wrong}; }}"
        )
    };
    assert_eq!(verdict(&text(6, 6)), Verdict::Holds);
    assert_eq!(verdict(&text(6, 5)), Verdict::Violated);
    let fixed = ask(&text(6, 6), "unroll=2", PropertySet::all()).expect("it takes this");
    assert_eq!(fixed.verdict, Verdict::Unknown);
    assert!(matches!(fixed.stop, Some(StopReason::Endless { turns: 2, .. })), "{:?}", fixed.stop);
}

/// What somebody else has bounded is named in the answer.
#[test]
fn what_a_bound_leaves_out_is_said() {
    let text = "global x: i32; global y: i32;
        fn other() { store y, 3; }
        fn main() { spawn other(); let n = load y; let i: i32 = 0; while i < n { let r = load x; store x, r + 1; i = i + 1; } let s = load x; assert s != 3; }";
    let bounded = |most: u32| {
        let mut settings = Settings::new(Model::Sc);
        settings.engine = ENGINES.find("oc").expect("an engine");
        (settings.loop_bound, settings.bound_all_loops) = (Some(most), true);
        verify(&program(text), &settings, &Control::new()).expect("it takes this")
    };
    let short = bounded(2);
    assert_eq!(short.verdict, Verdict::Holds);
    assert!(matches!(short.scope, Scope::LoopBound { turns: 2 }), "{:?}", short.scope);
    assert_eq!(bounded(3).verdict, Verdict::Violated);
}

/// A thread is waited for once.
#[test]
fn who_is_waited_for_again_is_not_there() {
    let text = |again: &str| {
        format!("fn child() {{}} fn main() {{ let c = choose 0..2; let h = spawn child(); join h; {again} }}")
    };
    assert_eq!(verdict(&text("")), Verdict::Holds);
    assert_eq!(verdict(&text("if c == 1 { join h; }")), Verdict::Violated);
}

#[test]
fn every_value_of_an_input_is_looked_at() {
    let text = |factor: u32, wanted: u32| {
        format!(
            "global x: i32;
             fn other(v: i32) {{ let r = load x; store x, r + v; }}
             fn main() {{ let v: i32 = choose; let t = spawn other(v * {factor}); join t; let s = load x; assert s != {wanted}; }}"
        )
    };
    let found = ask(&text(2_654_435_761, 0xcafe_babe), "search=prop", PropertySet::all()).expect("it takes this");
    assert_eq!(found.verdict, Verdict::Violated);
    let even = ask(&text(2, 1), "search=prop", PropertySet::all()).expect("it takes this");
    assert_eq!((even.verdict, even.stop), (Verdict::Holds, None));
}

#[test]
fn an_index_that_is_not_known_may_be_any() {
    let text = |most: u32| {
        format!(
            "global a: i32[4];
             fn other() {{ store a[2], 7; }}
             fn main() {{ let i: i64 = choose 0..{most}; let t = spawn other(); join t; let r = load a[i]; assert r != 7 || i == 2; }}"
        )
    };
    assert_eq!(verdict(&text(4)), Verdict::Holds);
    assert_eq!(verdict(&text(5)), Verdict::Violated);
}

#[test]
fn who_waits_for_each_other_waits_for_ever() {
    let text = |order: &str| {
        format!(
            "global m: mutex; global n: mutex;
             fn one() {{ lock m; lock n; unlock n; unlock m; }}
             fn two() {{ {order} unlock n; unlock m; }}
             fn main() {{ let a = spawn one(); let b = spawn two(); join a; join b; }}"
        )
    };
    let found = |order: &str| ask(&text(order), "search=prop", PropertySet::all()).expect("it takes this");
    assert_eq!(found("lock m; lock n;").verdict, Verdict::Holds);
    let dead = found("lock n; lock m;");
    assert_eq!(dead.findings[0].violation().property, Property::Deadlock);
}

/// Whether a compare-exchange writes depends on what it finds, and it finds that only behind the access that it would race with.
#[test]
fn a_write_that_cannot_come_first_does_not_race() {
    let text = |expected: u32| {
        format!(
            "global x: i32;
             fn one() {{ let r = load.na x; store.rel x, 1; }}
             fn two() {{ cas.acqrel x, {expected}, 5; }}
             fn main() {{ spawn one(); spawn two(); }}"
        )
    };
    let found = |expected: u32| ask(&text(expected), "search=prop", PropertySet::all()).expect("it takes this");
    assert_eq!(found(1).verdict, Verdict::Holds);
    assert_eq!(found(0).findings[0].violation().property, Property::Race);
}

/// On different ways a thread makes different objects as its so many-th, and they have the same address.
#[test]
fn objects_of_different_ways_are_told_apart() {
    let text = |size: u32| {
        format!(
            "fn other(p: ptr) {{ store.rel i32 *(p + 4), 5; }}
             fn main() {{
                let c = choose 0..2; let p: ptr;
                if c == 1 {{ p = alloc {size}; }} else {{ p = alloc 8; }}
                let t = spawn other(p); join t; free p;
             }}"
        )
    };
    assert_eq!(verdict(&text(8)), Verdict::Holds);
    assert_eq!(verdict(&text(4)), Verdict::Violated);
}

/// The thread that makes the object is unrolled behind the one that finds its address in memory.
#[test]
fn an_address_that_was_read_is_one_that_was_written() {
    let text = |order: &str| {
        format!(
            "global q: ptr;
             fn reader() {{ let p: ptr = load.acq q; if p != null {{ let v = load.acq i32 *p; assert v == 7; }} }}
             fn writer() {{ let p: ptr = alloc zeroed 4; {order} }}
             fn main() {{ spawn reader(); spawn writer(); }}"
        )
    };
    assert_eq!(verdict(&text("store.rel i32 *p, 7; store.rel q, p;")), Verdict::Holds);
    assert_eq!(verdict(&text("store.rel q, p; store.rel i32 *p, 7;")), Verdict::Violated);
    assert_eq!(verdict(&text("store.rel i32 *p, 7; store.rel q, p; free p;")), Verdict::Violated);
}

/// Its store may be on its way when another thread ends the object: then it is lost, and the reader finds it in the buffer or the object dead, never anything else.
#[test]
fn who_reads_what_it_has_stored_finds_it_or_a_dead_object() {
    let text = |after: &str| {
        format!(
            "global q: ptr;
             fn other() {{ let p: ptr = load.acq q; if p != null {{ free p; }} }}
             fn main() {{ let p: ptr = alloc 4; store i32 *p, 7; let t = spawn other(); store.rlx q, p; {after} }}"
        )
    };
    let properties = PropertySet::all().without(Property::Deadlock).without(Property::Race);
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let mut settings = Settings::new(model);
        settings.engine = ENGINES.find("oc").expect("an engine");
        settings.options.all = true;
        settings.options.properties = properties;
        let reads = program(&text("let r = load i32 *p; assert r == 7;"));
        let found = verify(&reads, &settings, &Control::new()).expect("it takes this");
        let kinds: Vec<Property> = found.findings.iter().map(|finding| finding.violation().property).collect();
        assert_eq!(kinds, [Property::Memory], "{model}");
        let does_not = ask_under(model, &text(""), &[], properties).expect("it takes this");
        assert_eq!(does_not.verdict, Verdict::Holds, "{model}");
    }
}

#[test]
fn store_buffers_let_reads_pass_writes() {
    let text = |fence: &str| {
        format!(
            "global x: i32; global y: i32; global a: i32; global b: i32;
             fn one() {{ store.rlx x, 1; {fence} let r = load.rlx y; store.rlx a, r; }}
             fn two() {{ store.rlx y, 1; {fence} let r = load.rlx x; store.rlx b, r; }}
             fn main() {{ let s = spawn one(); let t = spawn two(); join s; join t;
                let r = load a; let q = load b; assert r == 1 || q == 1; }}"
        )
    };
    for (model, expected) in
        [(Model::Sc, Verdict::Holds), (Model::Tso, Verdict::Violated), (Model::Pso, Verdict::Violated)]
    {
        assert_eq!(verdict_under(model, &text("")), expected, "{model}");
        assert_eq!(verdict_under(model, &text("fence.sc;")), Verdict::Holds, "{model}");
    }
}

#[test]
fn stores_pass_each_other_under_pso_only() {
    let text = |order: &str| {
        format!(
            "global x: i32; global y: i32;
             fn one() {{ store.rlx x, 1; store.{order} y, 1; }}
             fn main() {{ spawn one(); let r = load.rlx y; let q = load.rlx x; assert r == 0 || q == 1; }}"
        )
    };
    for (model, expected) in [(Model::Tso, Verdict::Holds), (Model::Pso, Verdict::Violated)] {
        assert_eq!(verdict_under(model, &text("rlx")), expected, "{model}");
        assert_eq!(verdict_under(model, &text("rel")), Verdict::Holds, "{model}");
    }
}

/// A fence on one side of a branch orders nothing if the other side is taken.
/// What a thread does behind a store that has set out is behind it, wherever the store is; and store buffers let both threads in that sequential consistency keeps apart.
#[test]
fn races_are_found_where_stores_are_on_their_way() {
    let program = |one: &str, other: &str| {
        format!(
            "global x: i32; global y: i32; global z: i32;
             fn one() {{ {one} }} fn other() {{ {other} }} fn main() {{ spawn one(); spawn other(); }}"
        )
    };
    let passed = "let r = load.na z; if r == 1 { let s = load.na x; }";
    let passes = program("store.na x, 1; let r = load.acq y; store.na z, 1;", passed);
    let told = "let r = load.acq z; if r == 1 { let s = load.na x; }";
    let tells = program("store.na x, 1; store.rel z, 1;", told);
    let alone = |own: &str, theirs: &str| {
        format!("store.rel {own}, 1; let r = load.acq {theirs}; if r == 0 {{ store.na x, 1; }}")
    };
    let both = program(&alone("y", "z"), &alone("z", "y"));
    let found = |model: Model, text: &str| {
        let outcome = ask_under(model, text, &[], PropertySet::all()).expect("it takes this");
        outcome.findings.first().map(|finding| finding.violation().property)
    };
    for model in Model::OPERATIONAL {
        assert_eq!(found(model, &passes), Some(Property::Race), "{model}");
        assert_eq!(found(model, &tells), None, "{model}");
        assert_eq!(found(model, &both), (model != Model::Sc).then_some(Property::Race), "{model}");
    }
}

#[test]
fn a_fence_in_a_branch_orders_on_that_side_only() {
    let text = |always: &str| {
        format!(
            "global x: i32; global y: i32; global a: i32; global c: i32;
             fn one() {{ let k = load.rlx c; store.rlx x, 1; if k == 1 {always} {{ fence.sc; }} let r = load.rlx y; store.rlx a, r; }}
             fn main() {{ let s = spawn one(); store.rlx y, 1; fence.sc; let q = load.rlx x; join s; let r = load a; assert r == 1 || q == 1; }}"
        )
    };
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(verdict_under(model, &text("")), Verdict::Violated, "{model}");
        assert_eq!(verdict_under(model, &text("|| k == 0")), Verdict::Holds, "{model}");
    }
}

/// What a thread has stored it finds, before anybody else does; and not what was there before it.
#[test]
fn a_thread_finds_its_own_stores() {
    let text = |expected: u32| {
        format!(
            "global x: i32; global y: i32; global a: i32; global b: i32;
             fn one() {{ store.rlx x, 1; let own = load.rlx x; assert own != 0; let r = load.rlx y; store.rlx a, r; }}
             fn two() {{ store.rlx y, 1; let own = load.rlx y; assert own == 1; let r = load.rlx x; store.rlx b, r; }}
             fn main() {{ let s = spawn one(); let t = spawn two(); join s; join t;
                let r = load a; let q = load b; assert r == {expected} || q == {expected}; }}"
        )
    };
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(verdict_under(model, &text(1)), Verdict::Violated, "{model}");
        assert_eq!(verdict_under(model, &text(0)), Verdict::Violated, "{model}");
        let own = text(1).replace("assert r == 1 || q == 1;", "");
        assert_eq!(verdict_under(model, &own), Verdict::Holds, "{model}");
    }
}

#[test]
fn who_is_signalled_goes_on() {
    let text = |wake: &str| {
        format!(
            "global m: mutex; global c: cond; global ready: i32;
             fn waiter() {{ lock m; let r = load ready; while r == 0 {{ wait c, m; r = load ready; }} unlock m; }}
             fn main() {{ let s = spawn waiter(); let t = spawn waiter(); lock m; store ready, 1; {wake} c; unlock m; join s; join t; }}"
        )
    };
    let found = |wake: &str| ask(&text(wake), "search=prop", PropertySet::all()).expect("it takes this");
    assert_eq!(found("broadcast").verdict, Verdict::Holds);
    let lost = found("signal");
    assert_eq!(lost.findings[0].violation().property, Property::Deadlock);
}

#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    let text = |count: u32| {
        format!(
            "global b: barrier({count}); global x: i32;
             fn other() {{ store x, 1; barrier_wait b; }}
             fn main() {{ spawn other(); barrier_wait b; let r = load x; assert r == 1; }}"
        )
    };
    assert_eq!(verdict(&text(2)), Verdict::Holds);
    assert_eq!(verdict(&text(1)), Verdict::Violated);
}

/// The so many-th child has the same name on both sides, and each side waits for its own.
#[test]
fn children_of_different_ways_are_told_apart() {
    let text = "global m: mutex; global x: i32;
        fn worker() { store x, 1; }
        fn parent() { let t = spawn worker(); join t; let r = load x; assert r == 1; }
        fn starter() { let k = trylock m; let t = spawn parent(); join t; }
        fn main() { let t = spawn starter(); join t; }";
    assert_eq!(verdict(text), Verdict::Holds);
}

/// That there is no such execution is shown by proofs that are checked, with lemmas on orders among them, whatever way was searched.
#[test]
fn what_is_not_there_is_proved_not_to_be() {
    let text = outcome(&L1, &[0, 1, 2, 3], &["y", "z", "s", "t", "u", "v"]);
    let properties = PropertySet::all().without(Property::Deadlock);
    for search in ["search=prop", "search=basic"] {
        for conflicts in ["conflicts=simple", "conflicts=none"] {
            let found =
                ask_under(Model::Sc, &text, &[search, conflicts, "certify=on"], properties).expect("it takes this");
            assert_eq!(found.verdict, Verdict::Unknown);
            assert!(found.counter("proofs") > 0 && found.counter("proof_lemmas") > 0, "{:?}", found.counters);
            assert!(found.notes.iter().any(|note| note.contains("proofs were checked")), "{:?}", found.notes);
        }
    }
}

/// Nobody sees what a block has done in which the program ends, and an execution that ends so is one.
#[test]
fn the_program_may_end_inside_a_block() {
    let text = |wrong: u32| {
        format!(
            "global x: i32; global y: i32;
             fn worker() {{ atomic {{ store x, 1; let r = load y; if r == 0 {{ exit; }} store x, 2; }} }}
             fn main() {{ spawn worker(); let c = choose 0..2; store y, c; let s = load x; assert s != {wrong}; }}"
        )
    };
    assert_eq!(verdict(&text(1)), Verdict::Holds);
    assert_eq!(verdict(&text(2)), Verdict::Violated);
    let always = |wrong: u32| {
        format!("global x: i32; fn main() {{ atomic {{ store x, 1; let r = load x; assert r != {wrong}; exit; }} }}")
    };
    assert_eq!(verdict(&always(2)), Verdict::Holds);
    assert_eq!(verdict(&always(1)), Verdict::Violated);
    let never = "global x: i32; fn main() { atomic { store x, 1; let r = load x; assume r == 2; exit; } }";
    assert_eq!(verdict(never), Verdict::Unknown);
}

/// An object whose size is not known has one of all sizes, whether others can reach it or not.
#[test]
fn an_object_may_have_any_size() {
    let shared = |most: &str| {
        format!(
            "fn other(p: ptr, n: i32) {{ let i = choose 0..4; if i < n {{ store.rel i32 *(p + zext(i64, i) * 4), 5; }} }}
             fn main() {{ let n = choose 0..4; let p = alloc zext(i64, n) * 4; let t = spawn other(p, {most}); join t; free p; }}"
        )
    };
    assert_eq!(verdict(&shared("n")), Verdict::Holds);
    assert_eq!(verdict(&shared("n + 1")), Verdict::Violated);
    let own = |most: &str, wrong: u32| {
        format!(
            "fn main() {{
                let n: i32 = choose; assume n >= 1 && n <= 6; let p = alloc zeroed zext(i64, n) * 4;
                let i: i32 = choose; assume i >= 0 && i {most} n; let at = p + zext(i64, i) * 4;
                store.rel i32 *at, n - i; let r = load.acq i32 *at; free p; assert r != {wrong};
             }}"
        )
    };
    assert_eq!(verdict(&own("<", 0)), Verdict::Holds);
    assert_eq!(verdict(&own("<", 6)), Verdict::Violated);
    assert_eq!(verdict(&own("<=", 9)), Verdict::Violated);
    // There are always larger ones.
    let any = "fn main() { let n: i32 = choose; assume n >= 0; let p = alloc zext(i64, n) * 8; free p; }";
    let fixed = ask(any, "unroll=2", PropertySet::all()).expect("it takes this");
    assert!(matches!(fixed.stop, Some(StopReason::Endless { turns: 2, .. })), "{:?}", fixed.stop);
}

/// Where errors of memory are not looked for, what was never written is 0, and that is said.
#[test]
fn what_was_never_written_may_be_something_else() {
    let text = |writes: &str| {
        format!(
            "fn other(p: ptr) {{ let r = load.acq i32 *p; assert r != 3; }}
             fn main() {{ let p = alloc 4; {writes} let t = spawn other(p); join t; free p; }}"
        )
    };
    let ask = |writes: &str| {
        ask(&text(writes), "search=prop", PropertySet::all().without(Property::Memory)).expect("it takes this")
    };
    assert_eq!(ask("store.rel i32 *p, 2;").verdict, Verdict::Holds);
    assert_eq!(ask("store.rel i32 *p, 3;").verdict, Verdict::Violated);
    let unwritten = ask("");
    assert_eq!(unwritten.verdict, Verdict::Unknown);
    assert!(matches!(unwritten.stop, Some(StopReason::Unwritten { .. })), "{:?}", unwritten.stop);
}
