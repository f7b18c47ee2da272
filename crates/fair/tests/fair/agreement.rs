//! Every algorithm, both back ends and all thresholds against the definitions, on random graphs and MDPs.
//!
//! The big sweep, to be run for every change to the algorithms:
//!
//! ```text
//! RADDLE_FAIR_GRAPHS=100000 cargo test --release -p raddle-fair --test fair
//! ```

use crate::truth::{everything, mask, random_input, truth};
use raddle_testkit::{Random, setting};

#[test]
fn all_algorithms_say_what_the_definitions_say() {
    let mut random = Random::new(setting("RADDLE_FAIR_SEED", 16));
    let (mut mdps, mut lost, mut won, mut split) = (0, 0, 0, 0);
    let graphs = setting("RADDLE_FAIR_GRAPHS", 2_000);
    for number in 0..graphs as usize {
        let (graph, pairs) = random_input(&mut random, 8, 3);
        let expected = truth(&graph, &pairs);
        let (said, possibly, parts) = everything(&graph, &pairs, |method| method % 4 == number % 4);
        let masks = |sets: &[Vec<u32>]| {
            let mut masks: Vec<u32> = sets.iter().map(|set| mask(set)).collect();
            masks.sort_unstable();
            masks
        };
        assert_eq!(masks(&parts), expected.components, "{graph:?}");
        assert_eq!(masks(&said.ends), expected.ends, "{graph:?}");
        assert_eq!(masks(&said.good), expected.good, "{graph:?} {pairs:?}");
        assert_eq!(mask(&said.winning), expected.surely, "{graph:?} {pairs:?}");
        assert_eq!(mask(&possibly), expected.possibly, "{graph:?} {pairs:?}");
        mdps += u64::from(graph.is_mdp());
        won += u64::from(!said.winning.is_empty());
        lost += u64::from(said.winning.len() < graph.vertices());
        split += u64::from(said.good != said.ends);
    }
    // The sample is worth something only if all of this happens.
    for (what, count) in [("an MDP", mdps), ("a winner", won), ("a loser", lost), ("a component cut", split)] {
        assert!(count > graphs / 10, "only {count} of {graphs} inputs have {what}");
    }
}

#[test]
fn all_algorithms_agree_and_prove_it_on_larger_inputs() {
    let mut random = Random::new(setting("RADDLE_FAIR_SEED", 17));
    for number in 0..setting("RADDLE_FAIR_GRAPHS", 2_000) / 20 {
        let (graph, pairs) = random_input(&mut random, 60, 12);
        everything(&graph, &pairs, |method| method as u64 % 4 == number % 4);
    }
}
