//! Instances that separate the keys for PSO: each is realizable, and a key that knows too little loses its executions.

mod common;

use common::instances::regressions;
use raddle_consistency::{Answer, Closure, Instance, Key, Model, Settings, Verifier, WorklistOrder};

const RANDOM_ORDERS: u64 = 200;

/// In how many of the random orders an execution is found, and whether last-in first-out and first-in first-out find one.
fn found(instance: &Instance, key: Key) -> (bool, bool, u64) {
    let mut verifier = Verifier::new();
    let mut finds = |order| {
        let settings = Settings { closure: Closure::Off, order, key, eager: false, ..Settings::default() };
        let answer = verifier.verify(instance, Model::Pso, &settings).expect("the instance is well formed");
        matches!(answer, Answer::Consistent(_))
    };
    let random = (0..RANDOM_ORDERS).filter(|&seed| finds(WorklistOrder::Random(seed))).count();
    (finds(WorklistOrder::LastIn), finds(WorklistOrder::FirstIn), random as u64)
}

fn always_found(instance: &Instance, key: Key) {
    assert_eq!(found(instance, key), (true, true, RANDOM_ORDERS), "{key:?}");
}

fn sometimes_lost(instance: &Instance, key: Key) {
    let (last, first, random) = found(instance, key);
    assert!(!last || !first || random < RANDOM_ORDERS, "{key:?} has become right");
    println!("{key:?}: last in first out {last}, first in first out {first}, random {random} of {RANDOM_ORDERS}");
}

#[test]
fn a_local_reader_holds_a_location() {
    let instance = regressions::local_holder();
    for key in [Key::Auto, Key::Stuck, Key::Flushes, Key::CorrectedFenceMap] {
        always_found(&instance, key);
    }
    sometimes_lost(&instance, Key::PrintedFenceMap);
}

#[test]
fn a_thread_without_a_fence_is_stuck_before_an_update() {
    let instance = regressions::stuck_before_update();
    for key in [Key::Auto, Key::Stuck, Key::Flushes] {
        always_found(&instance, key);
    }
    sometimes_lost(&instance, Key::PrintedFenceMap);
    sometimes_lost(&instance, Key::CorrectedFenceMap);
}

#[test]
fn a_write_is_stuck_behind_a_store_fence() {
    let instance = regressions::stuck_behind_store_fence();
    for key in [Key::Auto, Key::Flushes] {
        always_found(&instance, key);
    }
    sometimes_lost(&instance, Key::PrintedFenceMap);
    sometimes_lost(&instance, Key::CorrectedFenceMap);
    sometimes_lost(&instance, Key::Stuck);
}

#[test]
fn a_write_goes_to_memory_for_those_that_wait_behind_it() {
    for key in [Key::Auto, Key::Flushes] {
        always_found(&regressions::waiting_for_unread(), key);
        always_found(&regressions::waiting_for_update(), key);
    }
}

#[test]
fn regressions_are_consistent_with_closure_and_under_other_settings() {
    for instance in regressions::all() {
        let answer = Verifier::new().verify(&instance, Model::Pso, &Settings::default());
        assert!(matches!(answer, Ok(Answer::Consistent(_))), "{instance:?}");
    }
    let answer = Verifier::new().verify(&regressions::local_holder(), Model::Tso, &Settings::default());
    assert!(matches!(answer, Ok(Answer::Consistent(_))));
}
