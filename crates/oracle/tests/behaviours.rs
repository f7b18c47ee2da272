//! What brute force says beside numbers: failures, deadlocks, final states, ends of waits, and budgets.

use raddle_oracle::brute::{End, classify};
use raddle_oracle::compare::code;
use raddle_oracle::{Behaviours, Budget, TooLarge, enumerate, litmus};
use raddle_trace::{Model, Property, Schedule, ThreadName};

fn sc(threads: &[&str]) -> Behaviours {
    enumerate(&code(&litmus(threads)), Model::Sc, Budget::default()).expect("small")
}

fn with_races(threads: &[&str], model: Model) -> Behaviours {
    enumerate(&code(&litmus(threads)), model, Budget { races: true, ..Budget::default() }).expect("small")
}

fn counts(found: &Behaviours) -> [usize; 4] {
    [found.traces(), found.blocked.traces.len(), found.failed.traces.len(), found.deadlocks.len()]
}

fn failures(found: &Behaviours) -> Vec<(Property, u32)> {
    found.failures.iter().map(|failure| (failure.property, failure.line)).collect()
}

#[test]
fn a_failed_thread_stays_and_the_others_go_on() {
    let found = sc(&["a=R x; assert a==1; W y 1", "W x 1; R y"]);
    // Read 0 and fail, before or after the write of x; read 1 and go on, with y written before or after it is read.
    assert_eq!(counts(&found), [2, 0, 1, 0]);
    assert_eq!(failures(&found), [(Property::Assert, 3)]);
}

#[test]
fn deadlocks_are_blocked_classes_in_which_nobody_assumed() {
    let opposite = sc(&["lock m; lock n; unlock n; unlock m", "lock n; lock m; unlock m; unlock n"]);
    assert_eq!(counts(&opposite), [2, 1, 0, 1]);
    assert_eq!(failures(&opposite), [(Property::Deadlock, 3)]);
    let never = sc(&["a=wait x == 2", "W x 1"]);
    assert_eq!(counts(&never), [0, 1, 0, 1]);
    let assumed = sc(&["a=R x; assume a==1", "W x 1; W x 2"]);
    assert_eq!(counts(&assumed), [1, 1, 0, 0]);
    let both = sc(&["assume a==1", "b=wait x == 1"]);
    assert_eq!(counts(&both), [0, 1, 0, 0]);
}

#[test]
fn the_equivalences_also_tell_blocked_runs_apart() {
    let found = sc(&["lock m; W x 1", "lock m; W x 2", "R x"]);
    let blocked = &found.blocked;
    assert_eq!([blocked.traces.len(), blocked.reads_from.len(), blocked.reads_value_from.len()], [4; 3]);
    let one = sc(&["lock m; unlock m", "lock m; lock n; unlock n; unlock m", "lock n; lock m"]);
    assert!(one.deadlocks.len() <= one.blocked.traces.len());
}

#[test]
fn a_loop_that_waits_counts_as_the_turn_that_leaves_it() {
    for threads in [["a=wait x != 0", "W x 1"], ["spin { a=R x } a!=0", "W x 1"]] {
        assert_eq!(counts(&sc(&threads)), [1, 0, 0, 0], "{threads:?}");
    }
    for threads in [["a=wait x == 2", "W x 1"], ["spin { a=R x } a==2", "W x 1"]] {
        assert_eq!(counts(&sc(&threads)), [0, 1, 0, 1], "{threads:?}");
    }
    // Both reads of the turn that leaves are events: the other write may come before or after it.
    assert_eq!(counts(&sc(&["spin { a=R x; b=R y } a!=0", "W x 1", "W y 1"])), [2, 0, 0, 0]);
    // Missed: the value was there, but may be gone when the thread looks.
    assert_eq!(counts(&sc(&["spin { a=R x } a==1", "W x 1; W x 2"])), [1, 1, 0, 1]);
}

#[test]
fn names_of_threads_do_not_depend_on_who_was_faster() {
    // Two threads start one each; in which order makes no class.
    let found = sc(&["spawn 2; R x", "spawn 3; R x", "W y 1", "R y"]);
    assert_eq!(counts(&found), [2, 0, 0, 0]);
    // The same with a mutex, in which the holder's number stands, and a condition variable, whose waiters have numbers.
    let found = sc(&["spawn 2", "spawn 3", "lock m; unlock m", "lock m; unlock m"]);
    assert_eq!(counts(&found), [2, 0, 0, 0]);
    assert_eq!(found.reads_value_from(), 2);
}

#[test]
fn a_signal_wakes_any_one_waiter() {
    let wait = "lock m; condwait c m; unlock m";
    let found = sc(&[wait, wait, "lock m; a=R x; if a==2 { signal c }; unlock m", "W x 2"]);
    assert_eq!(found.traces(), 0, "one waiter is never woken");
    let found = sc(&[wait, wait, "lock m; broadcast c; unlock m"]);
    // Both wait before the broadcast, in either order, and come back in either order.
    assert_eq!(found.traces(), 4);
    let found = sc(&[wait, wait, "lock m; signal c; signal c; unlock m"]);
    // As before, and the signals pick in either order.
    assert_eq!(found.traces(), 8);
}

#[test]
fn final_memory_and_values_read_are_those_of_complete_runs() {
    let found = sc(&["a=R x; W x a+1", "a=R x; W x a+1"]);
    let finals: Vec<_> = found.finals().iter().map(|memory| memory["x"]).collect();
    assert_eq!(finals, [1, 2]);
    let reads: Vec<_> = found.reads().iter().map(|reads| reads[1..].concat()).collect();
    assert_eq!(reads, [[0, 0], [0, 1], [1, 0]]);
}

#[test]
fn races_are_failures_if_they_are_asked_for() {
    for model in Model::OPERATIONAL {
        let race = |threads: &[&str]| {
            let found = with_races(threads, model);
            found.failures.iter().any(|failure| failure.property == Property::Race)
        };
        assert!(race(&["W.na x 1", "R.na x"]));
        assert!(race(&["W.na x 1", "R x"]));
        assert!(!race(&["R.na x", "R.na x"]));
        assert!(!race(&["lock m; W.na x 1; unlock m", "lock m; R.na x; unlock m"]));
        assert!(!race(&["W.na x 1; W.rel y 1", "a=R.acq y; if a==1 { R.na x }"]));
        assert!(race(&["W.na x 1; W y 1", "a=R.acq y; if a==1 { R.na x }"]));
        assert!(!race(&["W.na x 1; S; W y 1", "a=R y; F.acq; if a==1 { R.na x }"]));
        assert!(!race(&["W.na x 1; spawn 1; join 1; W.na x 2", "W.na x 3"]));
        assert!(race(&["spawn 1; W.na x 2; join 1", "W.na x 3"]));
    }
}

#[test]
fn objects_that_have_ended_are_noticed_in_some_order() {
    let found = sc(&["p0=zalloc; WP q p0; free p0", "p0=RP q; ifnull p0 { } else { R *p0 }"]);
    assert_eq!(failures(&found), [(Property::Memory, 9)]);
    // Not yet published; read before the free. After the free is the failure.
    assert_eq!(found.traces(), 2);
    let found = sc(&["p0=alloc; a=R *p0"]);
    assert_eq!(failures(&found), [(Property::Memory, 3)]);
}

#[test]
fn all_ways_to_fail_at_one_place_are_noticed() {
    // Never written, or ended already: in both cases the same threads have done the same.
    let threads = ["p0=alloc; W *p0 0; WP q p0; free p0", "p0=RP q; ifnull p0 { } else { R *p0 }"];
    let found = enumerate(&code(&litmus(&threads)), Model::Pso, Budget::default()).expect("small");
    let messages: Vec<_> = found.failures.iter().map(|failure| failure.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
}

#[test]
fn an_atomic_block_is_not_interleaved() {
    for model in Model::OPERATIONAL {
        let increment = "atomic { a=R x; W x a+1 }";
        let code = code(&litmus(&[increment, increment]));
        let found = enumerate(&code, model, Budget::default()).expect("small");
        assert_eq!(found.finals().iter().map(|memory| memory["x"]).collect::<Vec<_>>(), [2]);
        assert_eq!(found.traces(), 2);
    }
}

#[test]
fn a_program_that_is_too_large_is_said_to_be() {
    let code = code(&raddle_oracle::cases::writers(5).sketch);
    let error = enumerate(&code, Model::Tso, Budget { states: 50, ..Budget::default() }).expect_err("too large");
    assert_eq!(error, TooLarge::States(50));
}

#[test]
fn a_schedule_has_a_class_that_brute_force_knows() {
    let code = code(&litmus(&["W x 1; a=R y", "W y 1; b=R x"]));
    let found = enumerate(&code, Model::Tso, Budget::default()).expect("small");
    let schedule = |text: &str| {
        let named: Schedule<ThreadName> = text.parse().expect("well formed");
        named.numbered(code.numbering()).expect("threads of the program")
    };
    let (end, class) = classify(&code, Model::Tso, &schedule("0 0 1 1 2 2 1! 2!")).expect("a whole run");
    assert_eq!(end, End::Complete);
    assert!(found.complete.traces.contains(&class));
    assert!(classify(&code, Model::Tso, &schedule("0 0 1")).is_err());
}
