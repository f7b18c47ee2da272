//! Small programs whose answer is known by reasoning, one for each thing that was once answered wrongly.

use raddle::{Control, ENGINES, Model, Outcome, Property, Scope, Settings, Verdict, verify};
use std::collections::BTreeSet;

/// The engines that take whatever the language has.
const TOLERANT: [&str; 2] = ["optimal", "auto"];

/// What `raddle check --all` finds under a model.
fn check(text: &str, model: Model) -> Outcome {
    check_by("auto", text, model)
}

fn check_by(engine: &str, text: &str, model: Model) -> Outcome {
    let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut settings = Settings::new(model);
    settings.options.all = true;
    settings.engine = ENGINES.find(engine).expect("an engine");
    verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// The same properties are broken under every model; none if the program holds.
fn finds(text: &str, expected: &[Property]) {
    for (model, engine) in Model::OPERATIONAL.into_iter().flat_map(|model| TOLERANT.map(|engine| (model, engine))) {
        let outcome = check_by(engine, text, model);
        let mut found: Vec<Property> = outcome.findings.iter().map(|finding| finding.violation().property).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expected, "{engine}, {model}: {text}");
        let verdict = if expected.is_empty() { Verdict::Holds } else { Verdict::Violated };
        assert_eq!(outcome.verdict, verdict, "{engine}, {model}: {text}");
        assert_eq!(outcome.statistics.redundant.unwrap_or(0), 0, "{engine}, {model}: {text}");
    }
}

#[test]
fn a_thread_that_ends_the_program_is_never_joined() {
    let text = "fn ends() { exit; }
        fn main() { let t = spawn ends(); join t; error \"after the end\"; }";
    finds(text, &[]);
    assert_eq!(check(text, Model::Sc).statistics.executions, 1);
}

#[test]
fn a_lock_that_no_other_thread_can_reach_is_a_lock() {
    finds("fn main() { var m: mutex; lock m; unlock m; }", &[]);
    finds("fn main() { let p = alloc zeroed 4; lock *p; unlock *p; free p; }", &[]);
    finds("fn main() { let p = alloc 4; lock *p; }", &[Property::Memory]);
    finds("fn main() { var m: mutex; unlock m; }", &[Property::Lock]);
}

#[test]
fn a_local_synchronisation_object_is_ready_for_use() {
    let text = "fn worker(b: ptr, s: ptr, m: ptr, x: ptr) {
            lock *m; let r: i32 = load.na *x; store.na i32 *x, r + 1; unlock *m; sem_post *s; barrier_wait *b;
        }
        fn main() {
            var b: barrier(2); var s: semaphore(0); var m: mutex; var x: i32 = 0;
            let t = spawn worker(&b, &s, &m, &x);
            sem_wait s; barrier_wait b;
            lock m; let r = load.na x; assert r == 1; unlock m;
            join t;
        }";
    finds(text, &[]);
}

#[test]
fn a_division_by_zero_in_the_condition_of_a_wait_is_an_error() {
    let text = "global x: i32;
        fn writer() { store x, 5; }
        fn main() { spawn writer(); let r = load x until 10 / r == 2; }";
    finds(text, &[Property::Arithmetic]);
    let text = "fn main() { var x: i32 = 0; let r = load x until 10 / r == 2; }";
    finds(text, &[Property::Arithmetic]);
}

#[test]
fn a_truth_value_in_memory_is_one_bit_wherever_the_memory_is() {
    let body = "store i8 x, 2; let b: i1 = load i1 x; assert b == false; if b { error; }";
    finds(&format!("global x: bytes(1); fn main() {{ {body} }}"), &[]);
    finds(&format!("fn main() {{ var x: bytes(1); {body} }}"), &[]);
}

#[test]
fn a_barrier_may_be_destroyed_when_everybody_was_let_go_and_not_before() {
    let text = "global b: barrier(2);
        fn worker() { let last = barrier_wait b; if last { destroy_wide b; } }
        fn main() { spawn worker(); spawn worker(); }";
    finds(text, &[]);
    let text = "global b: barrier(2);
        fn worker() { barrier_wait b; }
        fn main() { spawn worker(); spawn worker(); destroy_wide b; }";
    finds(text, &[Property::Lock]);
}

/// Arrivals have no order as long as the end of the barrier comes behind all departures.
#[test]
fn a_barrier_that_ends_after_everybody_has_left_is_one_meeting() {
    let worker = "global b: barrier(2); fn worker() { barrier_wait b; }";
    let destroyed = format!("{worker} fn main() {{ let t = spawn worker(); barrier_wait b; join t; destroy_wide b; }}");
    let heap = "fn worker(b: ptr) { barrier_wait *b; barrier_wait *b; }
        fn main() {
            let b = alloc zeroed 8; barrier_init *b, 2;
            let t = spawn worker(b); barrier_wait *b; barrier_wait *b; join t; free b;
        }";
    for text in [destroyed.as_str(), heap] {
        for engine in ["optimal", "rf", "rvf", "dc"] {
            let outcome = check_by(engine, text, Model::Sc);
            assert_eq!((outcome.verdict, outcome.statistics.executions), (Verdict::Holds, 1), "{engine}: {text}");
        }
    }
    let early = heap.replace("join t; free b;", "free b; join t;");
    let last = "global b: barrier(2);
        fn worker() { let last = barrier_wait b; if last { destroy_wide b; } }
        fn main() { spawn worker(); spawn worker(); }";
    for (text, verdict) in [(early.as_str(), Verdict::Violated), (last, Verdict::Holds)] {
        for engine in ["optimal", "rf", "rvf"] {
            assert_eq!(check_by(engine, text, Model::Sc).verdict, verdict, "{engine}: {text}");
        }
    }
}

#[test]
fn a_condition_variable_is_not_used_after_its_end_nor_ended_while_used() {
    let text = "global c: cond; global m: mutex;
        fn main() { destroy_wide c; lock m; wait c, m; unlock m; }";
    finds(text, &[Property::Lock]);
    let text = "global c: cond; global m: mutex; global waits: i32;
        fn waiter() { lock m; store waits, 1; wait c, m; unlock m; }
        fn main() { spawn waiter(); lock m; let w = load waits; assume w == 1; destroy_wide c; unlock m; }";
    finds(text, &[Property::Lock]);
    let text = "global c: cond; global m: mutex; global waits: i32;
        fn waiter() { lock m; store waits, 1; wait c, m; unlock m; }
        fn main() {
            let t = spawn waiter(); lock m; let w = load waits; assume w == 1; broadcast c; destroy_wide c; unlock m; destroy m;
        }";
    // The waiter takes the mutex again after its end.
    finds(text, &[Property::Lock]);
}

#[test]
fn the_looks_of_a_wait_can_race() {
    for wait in [
        "let r = load.acq x until r == 1;",
        "cas.acqrel x, 1, 2 wait;",
        "loop { let r = load.acq x; if r == 1 { break; } }",
    ] {
        let text = format!(
            "global x: i32;
            fn writer() {{ store.na x, 0; store.rel x, 1; }}
            fn main() {{ spawn writer(); {wait} }}"
        );
        finds(&text, &[Property::Race]);
        let text = format!(
            "global x: i32;
            fn writer() {{ store.rel x, 1; }}
            fn main() {{ store.na x, 0; spawn writer(); {wait} }}"
        );
        finds(&text, &[]);
    }
}

/// The last write of `x` puts the read after the end of the object's life. In another order of writes, which no read tells from this one, it comes before, and
/// does not know that the object was made.
#[test]
fn an_access_before_the_end_of_a_life_may_race_with_its_beginning() {
    let text = "global x: i32; global q: ptr;
        fn makes() { let p = alloc zeroed 4; store q, p; free p; store x, 0; }
        fn uses() { let p = load q; store x, 0; if p != null { load i32 *p; } }
        fn main() { spawn makes(); spawn uses(); }";
    for (model, engine) in Model::OPERATIONAL.into_iter().flat_map(|model| ["optimal", "rf"].map(|name| (model, name)))
    {
        let outcome = check_by(engine, text, model);
        let found = outcome.findings.iter().map(|found| found.violation().property);
        assert!(found.into_iter().any(|property| property == Property::Race), "{engine} under {model}");
    }
}

#[test]
fn what_does_not_end_is_named_and_ends_soon() {
    let partial_under = |model: Model, text: &str| {
        let outcome = check(text, model);
        assert_eq!(outcome.verdict, Verdict::Unknown, "{text}");
        match outcome.scope {
            Scope::Partial { reason } => reason,
            scope => panic!("{scope:?}"),
        }
    };
    let partial = |text: &str| partial_under(Model::Sc, text);
    let silent = partial("fn main() { let i = 0;\n while i != 1 { i = i + 2; } }");
    assert!(silent.contains("test.rdl:2") && silent.contains("--loop-bound"), "{silent}");
    let deep = partial("fn f(n: i32) -> i32 {\n let r = f(n + 1); return r; }\n fn main() { f(0); }");
    assert!(deep.contains("test.rdl:2") && deep.contains("recursion"), "{deep}");
    // Every turn doubles the number of executions, none of which ends. Under SC there is a proof.
    let wide = partial_under(
        Model::Pso,
        "global x: i32;\n fn f() { loop {\n let c = choose 0..2; store x, c; } }\n fn main() { spawn f(); spawn f(); }",
    );
    assert!(wide.contains("test.rdl:3") && wide.contains("turns of each loop"), "{wide}");
}

#[test]
fn a_division_by_zero_in_a_turn_of_a_wait_loop_is_not_lost() {
    for way_out in ["load x; if r == 2 { break; }", "cas x, 2, 3; if r == 2 { break; }"] {
        let text = format!(
            "global x: i32;
            fn writer() {{ store x, 1; store x, 0; store x, 2; }}
            fn main() {{ spawn writer(); let d = 0; loop {{ let r = {way_out} if r == 1 {{ d = 10 / (r - 1); }} }} }}"
        );
        finds(&text, &[Property::Arithmetic]);
    }
}

#[test]
fn a_limit_on_executions_is_exact_and_cuts_nothing_off_if_it_is_enough() {
    let text = "global x: i32;
        fn writer(v: i32) { store x, v; }
        fn main() { spawn writer(1); spawn writer(2); spawn writer(3); }";
    let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    for limit in 1..=7 {
        let mut settings = Settings::new(Model::Sc);
        settings.engine = ENGINES.find("optimal").expect("an engine");
        settings.options.limits.executions = Some(limit);
        let outcome = verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
        let verdict = if limit < 6 { Verdict::Unknown } else { Verdict::Holds };
        assert_eq!((outcome.verdict, outcome.statistics.executions), (verdict, limit.min(6)));
    }
}

#[test]
fn an_index_that_is_far_out_of_bounds_meets_no_other_object() {
    let objects = "global a: i32[2]; global b: i32 = 7;";
    finds(&format!("{objects} fn main() {{ let i = 1073741824; let r = load a[i]; }}"), &[Property::Memory]);
    finds(&format!("{objects} fn main() {{ let i = -1073741824; store a[i], 1; }}"), &[Property::Memory]);
    finds("fn main() { var a: i32[2]; var b: i32 = 1; let i = 1073741824; let r = load a[i]; }", &[Property::Memory]);
    // What comes back in small steps is where it was.
    finds(&format!("{objects} fn main() {{ let p = &a - 4; p = p + 8; store i32 *p, 1; }}"), &[]);
}

#[test]
fn updates_commute_only_where_nobody_can_tell_their_order() {
    let commuting = |text: &str, model: Model| {
        let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let mut settings = Settings::new(model);
        settings.options.all = true;
        settings.options.commuting_updates = true;
        verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
    };
    let joined = |wrong: &str| {
        format!(
            "global x: i32; fn add() {{ rmw.add x, 2; rmw.sub x, 1; }}
            fn main() {{ let t = spawn add(); let u = spawn add(); join t; join u;
                let r = load x; assert r {wrong} 2, \"sum\"; }}"
        )
    };
    let watched = "global x: i32; fn add() { rmw.add x, 1; } fn look() { let r = load x; assert r < 2, \"two\"; }
        fn main() { spawn add(); spawn add(); spawn look(); }";
    let mixed = "global x: i32 = 1; fn add() { rmw.add x, 1; } fn mask() { rmw.and x, 1; }
        fn main() { let t = spawn add(); let u = spawn mask(); join t; join u;
            let r = load x; assert r != 0, \"masked last\"; }";
    for model in Model::OPERATIONAL {
        let outcome = commuting(&joined("=="), model);
        assert_eq!((outcome.verdict, outcome.statistics.executions), (Verdict::Holds, 1));
        assert_eq!(commuting(&joined("!="), model).verdict, Verdict::Violated);
        for text in [watched, mixed] {
            let (with, without) = (commuting(text, model), check(text, model));
            assert_eq!(with.verdict, Verdict::Violated, "{model}: {text}");
            assert_eq!(with.statistics, without.statistics, "{model}: {text}");
            assert!(with.notes.iter().any(|note| note.contains("their order may matter")), "{:?}", with.notes);
        }
    }
}

#[test]
fn updates_that_commute_hide_no_error() {
    let handed_over = "global x: i32; global flag: i32; fn a() { store.na x, 1; store flag, 1; }
        fn b() { let f = load flag; if f == 1 { rmw.add x, 1; } } fn main() { spawn a(); spawn b(); }";
    let read_before = "global x: i32; global flag: i32; fn a() { let r = load.na x; store flag, 1; }
        fn b() { let f = load flag; if f == 1 { rmw.add x, 1; } } fn main() { spawn a(); spawn b(); }";
    let read_after = "global x: i32; global flag: i32; fn a() { rmw.add x, 1; store flag, 1; }
        fn b() { let f = load flag; if f == 1 { let r = load.na x; } } fn main() { spawn a(); spawn b(); }";
    let beside = "global x: i32; global y: i32; fn a() { store.na y, 1; rmw.add.acqrel x, 1; }
        fn b() { rmw.add.acqrel x, 1; let r = load.na y; } fn main() { spawn a(); spawn b(); }";
    let unwritten = "global q: ptr; fn add() { let p = load q until p != null; rmw.add i32 *p, 1; }
        fn main() { let p = alloc 4; store q, p; spawn add(); spawn add(); }";
    let written_late = unwritten.replace("spawn add(); }", "spawn add(); store i32 *p, 0; }");
    let freed = "global q: ptr; fn add() { let p = load q until p != null; rmw.add i32 *p, 1; }
        fn main() { let p = alloc zeroed 4; store q, p; spawn add(); spawn add(); free p; }";
    // The update of the flag's reader may find the store still buffered.
    let buffered = "global x: i32; global flag: i32; fn a() { store x, 5; store flag, 1; }
        fn b() { let f = load flag; if f == 1 { rmw.add x, 1; } } fn main() { let t = spawn a(); let u = spawn b();
        join t; join u; let r = load x; assert r != 5, \"lost\"; }";
    let texts = [handed_over, read_before, read_after, beside, unwritten, &written_late, freed, buffered];
    for text in texts {
        let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let engines = ["optimal", "rf"];
        for (model, engine) in Model::OPERATIONAL.into_iter().flat_map(|model| engines.map(|engine| (model, engine))) {
            let found = |commuting_updates| {
                let mut settings = Settings::new(model);
                settings.engine = ENGINES.find(engine).expect("an engine");
                settings.options.all = true;
                settings.options.commuting_updates = commuting_updates;
                let outcome = verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
                let properties = outcome.findings.iter().map(|finding| finding.violation().property);
                (outcome.verdict, properties.collect::<BTreeSet<_>>())
            };
            let without = found(false);
            assert!(without.0 == Verdict::Violated || text == buffered, "{engine}, {model}: {text}");
            assert_eq!(found(true), without, "{engine}, {model}: {text}");
        }
    }
}

/// What is found if only these properties are looked for.
fn finds_only(text: &str, properties: &[Property], verdict: Verdict) {
    let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    for (model, engine) in Model::OPERATIONAL.into_iter().flat_map(|model| TOLERANT.map(|engine| (model, engine))) {
        let mut settings = Settings::new(model);
        settings.engine = ENGINES.find(engine).expect("an engine");
        settings.options.properties = properties.iter().copied().collect();
        let outcome = verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(outcome.verdict, verdict, "{engine}, {model}: {text}");
    }
}

#[test]
fn either_of_two_threads_may_be_the_one_that_joins_a_third() {
    let text = "global h: i64;
        fn c() { }
        fn a() { let t = load h until t != 0; join t; }
        fn b() { let t = load h until t != 0; join t; error \"b\"; }
        fn main() { spawn a(); spawn b(); let t = spawn c(); store h, t; }";
    finds_only(text, &[Property::Error], Verdict::Violated);
    finds(text, &[Property::Error, Property::Lock]);
    let both = text.replace("error \"b\";", "store h, 1;");
    finds(&both, &[Property::Lock]);
    // What comes behind a join that fails is not known.
    finds_only(&both, &[Property::Error], Verdict::Unknown);
    // Both lines of the joins are reported.
    assert_eq!(check(&both, Model::Sc).findings.len(), 2);
}

/// So many threads with so many blocks of stores, every other thread from the last variable to the first.
fn blocks_of_stores(threads: usize, blocks: usize, stores: usize) -> String {
    let globals: String = (0..stores).map(|x| format!("global x{x}: i32; ")).collect();
    let thread = |thread: usize| {
        let place = |at: usize| if thread.is_multiple_of(2) { at } else { stores - 1 - at };
        let block: String = (0..stores).map(|at| format!("store x{}, {thread}; ", place(at))).collect();
        format!("fn t{thread}() {{ {} }}\n", format!("atomic {{ {block}}} ").repeat(blocks))
    };
    let functions: String = (0..threads).map(thread).collect();
    let spawns: String = (0..threads).map(|thread| format!("spawn t{thread}(); ")).collect();
    format!("{globals}\n{functions}fn main() {{ {spawns}}}")
}

/// A thread that tries an atomic block again and again until nothing has changed meanwhile: half of somebody else's block lasts for no turn of it.
#[test]
fn a_loop_around_a_block_ends() {
    let text = "global a: i32; global b: i32;
        fn add() {
            loop {
                let seen = load a;
                let won = 0;
                atomic {
                    let one = load a;
                    let other = load b;
                    if one == seen && other == seen { store a, seen + 1; store b, seen + 1; won = 1; }
                }
                if won == 1 { break; }
            }
        }
        fn main() {
            let t = spawn add();
            add();
            join t;
            let one = load a;
            let other = load b;
            assert one == 2 && other == 2;
        }";
    let outcome = check_by("optimal", text, Model::Sc);
    assert_eq!((outcome.verdict, outcome.statistics.executions), (Verdict::Holds, 2), "{}", outcome.scope);
}

#[test]
fn blocks_that_write_are_one_step_each() {
    for (threads, blocks, executions) in [(2, 1, 2), (2, 2, 6), (2, 3, 20), (3, 1, 6), (3, 2, 90), (4, 1, 24)] {
        for stores in [2, 8, 16] {
            let text = blocks_of_stores(threads, blocks, stores);
            let outcome = check_by("optimal", &text, Model::Sc);
            let moot = outcome.counters.iter().find(|(name, _)| *name == "moot");
            assert_eq!((outcome.statistics.executions, moot), (executions, Some(&("moot", 0))), "{text}");
        }
    }
}

/// Blocks that read may have to read again before they fit. Graphs that tear one are dropped as soon as they do, if it is one of two threads or reads once;
/// few are left otherwise.
#[test]
fn few_graphs_tear_blocks_that_read() {
    let add = |x: usize| format!("let r{x} = load x{x}; store x{x}, r{x} + 1; ");
    let families: [(usize, usize, u64, [u64; 3]); 4] =
        [(2, 2, 6, [0, 0, 0]), (2, 4, 70, [0, 0, 0]), (3, 1, 6, [0, 4, 21]), (3, 2, 90, [0, 219, 845])];
    for (threads, blocks, executions, torn) in families {
        for (variables, torn) in (1..).zip(torn) {
            let globals: String = (0..variables).map(|x| format!("global x{x}: i32; ")).collect();
            let block = format!("atomic {{ {} }} ", (0..variables).map(add).collect::<String>());
            let thread = format!("fn t() {{ for i in 0..{blocks} {{ {block} }} }}");
            let text = format!("{globals}{thread} fn main() {{ {} }}", "spawn t(); ".repeat(threads));
            let outcome = check_by("optimal", &text, Model::Sc);
            let moot = outcome.counters.iter().find(|(name, _)| *name == "moot").expect("it is counted").1;
            assert_eq!(outcome.statistics.executions, executions, "{text}");
            assert!(moot <= torn, "{moot}: {text}");
        }
    }
}

#[test]
fn what_depends_on_an_error_that_is_not_looked_for_is_unknown() {
    let text = "global p: ptr;
        fn a() { let q = load p until q != 0; free q; }
        fn b() { let q = load p until q != 0; free q; error \"b\"; }
        fn main() { spawn a(); spawn b(); let q = alloc zeroed 4; store p, q; }";
    finds_only(text, &[Property::Error], Verdict::Unknown);
    finds_only(text, &[Property::Memory], Verdict::Violated);
}

#[test]
fn auto_takes_the_engine_that_suits_the_program() {
    let engine = |text: &str, model: Model| {
        let outcome = check_by("auto", text, model);
        assert_eq!(outcome.verdict, Verdict::Holds, "{text}");
        (outcome.engine, outcome.statistics.executions, outcome.notes.len())
    };
    // All write the same value: (n + 1)^(n - 1) reads-from classes, one class of values.
    let same = "global s: i32; fn t() { store s, 4; let r = load s; } fn main() { for i in 0..8 { spawn t(); } }";
    assert_eq!(engine(same, Model::Sc), ("rvf", 1, 1));
    let few = same.replace("0..8", "0..4");
    assert_eq!(engine(&few, Model::Sc), ("rf", 125, 0), "it ends within the sample");
    assert_eq!(engine(&few, Model::Tso), ("rf", 125, 0));
    let different =
        "global s: i32; fn t(v: i32) { store s, v; let r = load s; } fn main() { for i in 0..5 { spawn t(i + 1); } }";
    assert_eq!(engine(different, Model::Sc), ("rf", 1_296, 0), "values do not repeat");
    let block =
        "global s: i32; fn t() { atomic { let r = load s; store s, r + 1; } } fn main() { spawn t(); spawn t(); }";
    assert_eq!(engine(block, Model::Sc).0, "optimal");
    // The order in which they arrive is no part of the values.
    let meeting = same.replace("store s", "barrier_wait b; store s");
    assert_eq!(engine(&format!("global b: barrier(8); {meeting}"), Model::Sc), ("rvf", 1, 1));
}

/// Whoever ends the program in an atomic block, or is stuck there, stops everybody: what others would do behind the block does not happen.
#[test]
fn nothing_comes_behind_an_atomic_block_that_is_never_left() {
    let text = |last: &str, other: &str| {
        format!(
            "global x: i32; fn a() {{ atomic {{ store x, 1; {last}; }} }} fn b() {{ {other} }} fn main() {{ spawn a(); spawn b(); }}"
        )
    };
    let reads = "let r = load x; if r == 1 { let p: ptr; store i32 *p, 1; } assert r == 0;";
    let waits = "let r = load x until r == 1; error;";
    for (last, other, expected) in [
        ("exit", reads, Verdict::Holds),
        ("exit", waits, Verdict::Holds),
        ("assume false", reads, Verdict::Unknown),
        ("assume false", waits, Verdict::Unknown),
    ] {
        let program = raddle::program::parse("test.rdl", &text(last, other), &[]).expect("a program");
        for (engine, model) in ["optimal", "explicit"].into_iter().flat_map(|e| Model::OPERATIONAL.map(|m| (e, m))) {
            for only in [None, Some(Property::Race)] {
                let mut settings = Settings::new(model);
                settings.options.all = true;
                if let Some(property) = only {
                    settings.options.properties = [property].into_iter().collect();
                }
                settings.engine = ENGINES.find(engine).expect("an engine");
                let outcome = verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
                let what = format!("{engine}, {model}, {only:?}: {last}; {other}: {:?}", outcome.stop);
                assert_eq!((outcome.verdict, outcome.statistics.failed), (expected, 0), "{what}");
                assert!(outcome.stop.is_none(), "{what}");
            }
        }
    }
}
