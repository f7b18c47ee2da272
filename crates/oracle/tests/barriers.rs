//! Barriers: how many classes there are, by brute force and by the engines, none of which orders arrivals.

use raddle_engine::Engine;
use raddle_explore::dc::DataCentric;
use raddle_explore::graphs::{Optimal, ReadsFrom};
use raddle_explore::rvf::ReadsValueFrom;
use raddle_explore::vc::ValueCentric;
use raddle_oracle::compare::{Equivalence, Unordered, code, count, explorer, prepared};
use raddle_oracle::sketch::Kind;
use raddle_oracle::{Budget, Comparison, Effort, Sketch, compare, enumerate, litmus};
use raddle_trace::Model;

/// How many complete and blocked executions there are: the same by every engine, under every model that it takes, and by brute force.
fn counts(sketch: &Sketch) -> (u64, u64) {
    let mut all = Vec::new();
    for engine in [&Optimal as &'static dyn Engine, &ReadsFrom] {
        for model in Model::OPERATIONAL {
            let found = (explorer(engine).run)(&prepared(sketch), model, false).expect("an answer");
            assert!(found.unordered.arrivals, "{}: {:?}", engine.name(), found.notes);
            let brute = enumerate(&code(sketch), model, Budget::default()).expect("it is small");
            let classes = |classes| count(engine.equivalence(), classes, found.unordered);
            let counted = (found.executions, found.blocked);
            assert_eq!(counted, (classes(&brute.complete), classes(&brute.blocked)), "{} under {model}", engine.name());
            all.push(counted);
        }
    }
    for engine in [&ReadsValueFrom as &'static dyn Engine, &ValueCentric, &DataCentric] {
        let subject = explorer(engine);
        let found = (subject.run)(&prepared(sketch), Model::Sc, false).expect("an answer");
        assert!(found.unordered.arrivals, "{}: {:?}", engine.name(), found.notes);
        let compared = compare(sketch, Model::Sc, &subject, Effort::default());
        assert!(matches!(compared, Comparison::Agree(_)), "{}: {compared:?}", engine.name());
        all.push((found.executions, found.blocked));
    }
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]
}

/// So many threads that meet in so many rounds, at a barrier for `size`, some of which look whether they were the last.
fn rounds(threads: usize, size: usize, rounds: usize, asking: usize) -> Sketch {
    let body = |thread: usize| {
        let wait = if thread < asking { "a=barrier b; if a==1 { F }; " } else { "barrier b; " };
        wait.repeat(rounds)
    };
    let bodies: Vec<String> = (0..threads).map(body).collect();
    of_size(size, &bodies.iter().map(String::as_str).collect::<Vec<_>>())
}

/// These threads and a barrier `b`.
fn of_size(size: usize, threads: &[&str]) -> Sketch {
    let mut sketch = litmus(threads);
    for object in &mut sketch.objects {
        if let Kind::Barrier(count) = &mut object.kind {
            *count = size as u32;
        }
    }
    sketch
}

#[test]
fn arrivals_have_no_order_if_nobody_asks() {
    for (threads, times) in [(2, 1), (2, 3), (3, 1), (3, 2), (4, 1)] {
        assert_eq!(counts(&rounds(threads, threads, times, 0)), (1, 0), "{threads} threads, {times} rounds");
    }
}

#[test]
fn whoever_asks_learns_who_was_last() {
    for (threads, times) in [(2, 1), (2, 3), (3, 1), (3, 2)] {
        let expected = (threads as u64).pow(times as u32);
        assert_eq!(
            counts(&rounds(threads, threads, times, threads)),
            (expected, 0),
            "{threads} threads, {times} rounds"
        );
    }
    // One that asks was the last or not; two are it in turns, or neither.
    assert_eq!(counts(&rounds(3, 3, 1, 1)), (2, 0));
    assert_eq!(counts(&rounds(3, 3, 2, 2)), (9, 0));
}

#[test]
fn who_waits_for_more_than_come_waits_for_ever() {
    assert_eq!(counts(&rounds(2, 3, 1, 2)), (0, 1));
    assert_eq!(counts(&of_size(2, &["barrier b; barrier b", "barrier b"])), (0, 1));
}

/// Who gets into which round is open, so arrivals are told apart and the engine says so.
#[test]
fn more_threads_than_a_barrier_is_for_compete() {
    let sketch = rounds(3, 2, 1, 0);
    for engine in [&Optimal as &'static dyn Engine, &ReadsFrom, &ReadsValueFrom, &DataCentric] {
        let subject = explorer(engine);
        let found = (subject.run)(&prepared(&sketch), Model::Sc, false).expect("an answer");
        assert!(!found.unordered.arrivals && found.blocked >= 3, "{found:?}");
        for model in Model::OPERATIONAL.into_iter().filter(|&model| (subject.applies)(&sketch, model)) {
            let compared = compare(&sketch, model, &subject, Effort::default());
            assert!(matches!(compared, Comparison::Agree(_)), "{} under {model}: {compared:?}", engine.name());
        }
    }
}

#[test]
fn what_is_before_a_barrier_is_seen_behind_it() {
    // Each reads what the other wrote, whoever came last.
    assert_eq!(counts(&of_size(2, &["W x 1; barrier b; R y", "W y 1; barrier b; R x"])), (1, 0));
    // Without the barrier at one side somebody waits, and the other reads either.
    assert_eq!(counts(&of_size(2, &["W x 1; barrier b", "R x"])), (0, 2));
}

/// Arrivals of brute force are told apart by their order unless that is left out.
#[test]
fn brute_force_knows_the_orders() {
    let sketch = rounds(3, 3, 1, 0);
    let brute = enumerate(&code(&sketch), Model::Sc, Budget::default()).expect("it is small");
    assert!(!brute.crowded);
    let classes = |arrivals| count(Equivalence::Traces, &brute.complete, Unordered { updates: false, arrivals });
    assert_eq!((classes(false), classes(true)), (6, 1));
    let brute = enumerate(&code(&rounds(3, 2, 1, 0)), Model::Sc, Budget::default()).expect("it is small");
    assert!(brute.crowded);
}
