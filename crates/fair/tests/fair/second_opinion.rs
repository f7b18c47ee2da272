//! The checker of evidence: whatever it is handed, what it accepts is true.

use crate::truth::{mask, random_input, truth};
use raddle_fair::argument::{Argument, Claim};
use raddle_fair::check;
use raddle_fair::evidence::{self, Lasso};
use raddle_fair::graph::{Graph, Pair, Vertex};
use raddle_fair::sets::{Bits, Space};
use raddle_fair::solve::{Goal, Layer, Method, Solution, solve};
use raddle_testkit::Random;

fn solved(graph: &Graph, pairs: &[Pair]) -> (Vec<Vec<Vertex>>, Vec<Vertex>, Vec<Layer>, Argument) {
    let space = Space::new(Bits::new(graph), graph, pairs).expect("fits");
    let solution = solve(&space, Method::default(), Goal::AlmostSurely, Argument::kept()).expect("no limit");
    let Solution { good, winning, layers, argument, .. } = solution;
    (good.iter().map(|set| space.members(set)).collect(), space.members(&winning), layers, argument)
}

/// Adds or removes a vertex.
fn toggle(set: &mut Vec<Vertex>, graph: &Graph, random: &mut Random) {
    let vertex = random.below(graph.vertices()) as Vertex;
    match set.iter().position(|&other| other == vertex) {
        Some(at) => drop(set.remove(at)),
        None => set.push(vertex),
    }
}

#[test]
fn no_changed_argument_hides_a_good_component() {
    let mut random = Random::new(1);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..3_000 {
        let (graph, pairs) = random_input(&mut random, 7, 3);
        let (_, _, _, argument) = solved(&graph, &pairs);
        let mut claims = argument.claims().to_vec();
        let at = random.below(claims.len());
        match &mut claims[at] {
            Claim::Split { parts, alone } => match random.below(3) {
                0 if !parts.is_empty() => toggle(&mut parts[0].0, &graph, &mut random),
                1 => toggle(alone, &graph, &mut random),
                _ if parts.len() > 1 => {
                    let moved = parts[0].0.pop();
                    parts[1].0.extend(moved);
                }
                _ => claims[at] = Claim::NoEdge,
            },
            Claim::Remove { removed, .. } => toggle(removed, &graph, &mut random),
            other => *other = random.pick(&[Claim::NoEdge, Claim::Open, Claim::Good]),
        }
        match check::argument(&graph, &pairs, &Argument::of(claims)) {
            Err(_) => refused += 1,
            Ok(claimed) => {
                accepted += 1;
                let claimed = mask(&claimed.ones().map(|vertex| vertex as Vertex).collect::<Vec<_>>());
                for good in truth(&graph, &pairs).good {
                    assert_eq!(good & !claimed, 0, "{graph:?} {pairs:?}");
                }
            }
        }
    }
    assert!(refused > 500 && accepted > 100, "{refused} refused, {accepted} accepted");
}

#[test]
fn nobody_who_can_win_is_accepted_as_a_loser() {
    let mut random = Random::new(2);
    let mut refused = 0;
    for _ in 0..3_000 {
        let (graph, pairs) = random_input(&mut random, 7, 3);
        let (_, mut winning, mut layers, argument) = solved(&graph, &pairs);
        let claimed = check::argument(&graph, &pairs, &argument).expect("the argument");
        for _ in 0..random.between(1, 3) {
            toggle(&mut winning, &graph, &mut random);
            if layers.is_empty() || random.one_in(3) {
                layers.push(Layer { core: Vec::new(), pulled: Vec::new() });
            }
            let at = random.below(layers.len());
            let layer = &mut layers[at];
            toggle(if random.one_in(2) { &mut layer.core } else { &mut layer.pulled }, &graph, &mut random);
        }
        let truth = truth(&graph, &pairs);
        for (goal, wins) in [(Goal::AlmostSurely, truth.surely), (Goal::Possibly, truth.possibly)] {
            match check::layers(&graph, &claimed, &winning, goal, &layers) {
                Err(_) => refused += 1,
                Ok(()) => assert_eq!(wins & !mask(&winning), 0, "{graph:?} {pairs:?} {layers:?} {goal:?}"),
            }
        }
    }
    assert!(refused > 500, "{refused}");
}

#[test]
fn no_strategy_is_accepted_where_none_wins() {
    let mut random = Random::new(3);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..5_000 {
        let (graph, pairs) = random_input(&mut random, 7, 3);
        let (good, winning, _, _) = solved(&graph, &pairs);
        let mut set = winning.clone();
        if random.one_in(2) {
            toggle(&mut set, &graph, &mut random);
        }
        let mut strategy = evidence::strategy(&graph, &winning, &good);
        for &vertex in &set {
            if !graph.is_random(vertex) && !winning.contains(&vertex) {
                strategy.push((vertex, vec![random.pick(graph.successors(vertex))]));
            }
        }
        if !strategy.is_empty() && random.one_in(2) {
            let at = random.below(strategy.len());
            strategy[at].1 = vec![random.pick(graph.successors(strategy[at].0))];
        }
        match check::strategy(&graph, &pairs, &set, &strategy) {
            Err(_) => refused += 1,
            Ok(()) => {
                accepted += 1;
                assert_eq!(mask(&set) & !truth(&graph, &pairs).surely, 0, "{graph:?} {pairs:?} {strategy:?}");
            }
        }
    }
    assert!(refused > 500 && accepted > 500, "{refused} refused, {accepted} accepted");
}

#[test]
fn a_lasso_is_a_path_that_closes_and_grants() {
    let graph = Graph::new(3, vec![(0, 1), (1, 0), (1, 2), (2, 1)], &[]).expect("a graph");
    let pairs = [Pair { requests: vec![1], grants: vec![2] }];
    let check = |stem: &[Vertex], cycle: &[Vertex]| {
        check::lasso(&graph, &pairs, 0, &Lasso { stem: stem.to_vec(), cycle: cycle.to_vec() }).is_ok()
    };
    assert!(check(&[0], &[1, 2]) && check(&[], &[0, 1, 2, 1]));
    assert!(!check(&[], &[0, 1]), "requests without a grant");
    assert!(!check(&[], &[]) && !check(&[0], &[]), "no cycle");
    assert!(!check(&[], &[1, 2]), "another beginning");
    assert!(!check(&[0], &[2, 1]) && !check(&[0, 1], &[2]) && !check(&[0, 7], &[1, 2]), "no edges");
}
