//! Every verifier in every setting gives the answer of the oracle, on random instances.
//!
//! The big sweep, 300,000 instances per model:
//!
//! ```text
//! cargo test --release -p raddle-consistency -- --ignored --nocapture
//! ```
//!
//! `RADDLE_SEED=7` in the environment makes it other instances.

use super::common::{instance, is_consistent};
use crate::{Algorithm, Answer, Closure, Instance, Key, Model, Settings, Verifier, WorklistOrder};

/// All settings that must be right, those that nobody changed first.
fn settings(model: Model, number: u64) -> Vec<Settings<'static>> {
    let plain = Settings { closure: Closure::Off, ..Settings::default() };
    let random = WorklistOrder::Random(number);
    let mut all = vec![
        Settings::default(),
        plain,
        Settings { closure: Closure::After(3), order: random, ..plain },
        Settings { order: WorklistOrder::FirstIn, ..plain },
        Settings { order: random, ..plain },
        Settings { order: random, closure: Closure::First, ..plain },
        Settings { algorithm: Algorithm::Naive, ..plain },
        Settings { algorithm: Algorithm::Naive, ..Settings::default() },
    ];
    all.push(Settings { eager: false, ..plain });
    all.push(Settings { eager: false, ..Settings::default() });
    if model == Model::Sc {
        all.push(Settings { clauses: Some(0), ..Settings::default() });
    }
    if model == Model::Pso {
        all.push(Settings { key: Key::Flushes, ..plain });
        all.push(Settings { key: Key::Flushes, eager: false, ..plain });
    }
    all
}

#[derive(Debug, Default)]
struct Counts {
    consistent: u64,
    inconsistent: u64,
    found_by_closure: u64,
    missed_by_closure: u64,
    /// What the keys that are kept for experiments would have lost.
    lost_by_printed_fence_map: u64,
    lost_by_corrected_fence_map: u64,
    lost_by_stuck_bits: u64,
}

fn compare(verifier: &mut Verifier, instance: &Instance, model: Model, number: u64, counts: &mut Counts) {
    let expected = is_consistent(instance, model);
    for (at, settings) in settings(model, number).into_iter().enumerate() {
        let answer = verifier.verify(instance, model, &settings).expect("the instance is well formed");
        let found = matches!(answer, Answer::Consistent(_));
        assert_eq!(found, expected, "number {number} under {model}, {settings:?}\n{instance:#?}");
        if at == 0 && !expected {
            counts.found_by_closure += u64::from(verifier.statistics().cyclic);
            counts.missed_by_closure += u64::from(verifier.statistics().closed && !verifier.statistics().cyclic);
        }
    }
    if expected && model == Model::Pso {
        let mut loses = |key| {
            let settings = Settings { closure: Closure::Off, key, eager: false, ..Settings::default() };
            u64::from(verifier.verify(instance, model, &settings) == Ok(Answer::Inconsistent))
        };
        counts.lost_by_printed_fence_map += loses(Key::PrintedFenceMap);
        counts.lost_by_corrected_fence_map += loses(Key::CorrectedFenceMap);
        counts.lost_by_stuck_bits += loses(Key::Stuck);
    }
    *if expected { &mut counts.consistent } else { &mut counts.inconsistent } += 1;
}

fn sweep(seed: u64, instances: u64) {
    let mut verifier = Verifier::new();
    for model in Model::OPERATIONAL {
        let mut counts = Counts::default();
        for number in 0..instances {
            let instance = instance(seed, number, model);
            compare(&mut verifier, &instance, model, number, &mut counts);
        }
        println!("{model}: {instances} instances, {counts:?}, no disagreement");
        assert!(counts.consistent * 10 > instances && counts.inconsistent * 10 > instances, "{model}: {counts:?}");
    }
}

#[test]
fn verifiers_agree_with_the_oracle() {
    sweep(1, 1500);
}

#[test]
#[ignore = "takes minutes"]
fn verifiers_agree_with_the_oracle_on_many() {
    sweep(raddle_testkit::setting("RADDLE_SEED", 2), 300_000);
}
