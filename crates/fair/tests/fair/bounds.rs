//! Symbolic steps on families of growing size: the bounds, and the gap between basic and improved.

use raddle_fair::argument::Argument;
use raddle_fair::families::{corridor, leaking_corridor, random_graph};
use raddle_fair::graph::{Graph, Pair, Vertex};
use raddle_fair::mec::end_components;
use raddle_fair::scc::components;
use raddle_fair::sets::{Bits, Space};
use raddle_fair::solve::{Goal, Method, solve};
use raddle_fair::streett::{Algorithm, Threshold};

/// Symbolic steps for the components of a graph.
fn component_steps(graph: &Graph) -> u64 {
    let space = Space::new(Bits::new(graph), graph, &[]).expect("fits");
    components(&space, &space.all()).expect("no limit");
    space.steps().symbolic()
}

/// Symbolic steps after the first decomposition.
fn search_steps(graph: &Graph, pairs: &[Pair], streett: Algorithm) -> u64 {
    let space = Space::new(Bits::new(graph), graph, pairs).expect("fits");
    let method = Method { streett, ends: Algorithm::Improved(Threshold::SqrtEdges) };
    let solution = solve(&space, method, Goal::AlmostSurely, Argument::none()).expect("no limit");
    solution.phases.search.symbolic()
}

fn end_component_steps(graph: &Graph, algorithm: Algorithm) -> u64 {
    let space = Space::new(Bits::new(graph), graph, &[]).expect("fits");
    end_components(&space, &space.all(), Argument::ROOT, algorithm, &mut Argument::none()).expect("no limit");
    space.steps().symbolic()
}

#[test]
fn components_take_at_most_five_steps_for_each_vertex() {
    let n: Vertex = 400;
    let chain: Vec<_> = (0..n).map(|vertex| (vertex, (vertex + 1).min(n - 1))).collect();
    let back: Vec<_> = (0..n).map(|vertex| (vertex, vertex.saturating_sub(1))).collect();
    let ring: Vec<_> = (0..n).map(|vertex| (vertex, (vertex + 1) % n)).collect();
    let both = [&chain[..], &back[..]].concat();
    let rings: Vec<_> = (0..n)
        .flat_map(|vertex| {
            let first = vertex - vertex % 10;
            [(vertex, first + (vertex + 1) % 10), (vertex, (first + 10).min(n - 1))]
        })
        .collect();
    let tree: Vec<_> =
        (0..n).flat_map(|vertex| [(vertex, (2 * vertex + 1) % n), (vertex, (2 * vertex + 2).min(n - 1))]).collect();
    let mut graphs: Vec<Graph> = [chain, back, ring, both, rings, tree]
        .into_iter()
        .map(|edges| Graph::new(n as usize, edges, &[]).expect("a graph"))
        .collect();
    graphs.extend((0..60).map(|seed| random_graph(n as usize, 1 + seed as usize % 4, seed)));
    graphs.push(corridor(130).0);
    for graph in &graphs {
        let (steps, vertices) = (component_steps(graph), graph.vertices() as u64);
        assert!(steps <= 5 * vertices, "{steps} steps for {vertices} vertices");
    }
}

/// By how much the steps of an algorithm grow when the family doubles.
fn growth(steps: impl Fn(usize, Algorithm) -> u64, algorithm: Algorithm) -> f64 {
    steps(160, algorithm) as f64 / steps(80, algorithm) as f64
}

/// With the threshold of the proof the tails of the doors that went add up until everything is decomposed, again and again; without one they never are.
fn is_quadratic_or_better(steps: impl Fn(usize, Algorithm) -> u64) {
    let basic = growth(&steps, Algorithm::Basic);
    assert!(basic > 3.7, "basic grows by {basic}");
    let improved = growth(&steps, Algorithm::Improved(Threshold::SqrtEdgesByLog));
    assert!(improved < 2.7, "improved grows by {improved}");
    let never = growth(&steps, Algorithm::Improved(Threshold::Never));
    assert!(never < 2.1, "without whole decompositions it grows by {never}");
}

#[test]
fn with_many_pairs_basic_is_quadratic_and_improved_is_not() {
    is_quadratic_or_better(|size, algorithm| {
        let (graph, pairs) = corridor(size);
        search_steps(&graph, &pairs, algorithm)
    });
}

#[test]
fn the_same_holds_for_mdps() {
    is_quadratic_or_better(|size, algorithm| {
        let (graph, pairs) = corridor(size);
        let drawn: Vec<Vertex> = (0..graph.vertices() as Vertex).filter(|vertex| vertex % 6 == 0).collect();
        search_steps(&graph.with_random(&drawn).expect("they exist"), &pairs, algorithm)
    });
}

#[test]
fn end_components_that_leak_one_by_one_are_found_in_linearly_many_steps_by_the_improved_algorithm() {
    let steps = |size, algorithm| end_component_steps(&leaking_corridor(size), algorithm);
    let basic = growth(steps, Algorithm::Basic);
    assert!(basic > 3.7, "basic grows by {basic}");
    let improved = growth(steps, Algorithm::Improved(Threshold::SqrtEdges));
    assert!(improved < 2.1, "improved grows by {improved}");
}

#[test]
fn the_bounds_hold_with_a_small_constant() {
    for size in [20, 40, 80, 160] {
        let (graph, pairs) = corridor(size);
        let (n, m, k) = (graph.vertices() as f64, graph.edge_count() as f64, pairs.len() as f64);
        let basic = search_steps(&graph, &pairs, Algorithm::Basic) as f64;
        let improved = search_steps(&graph, &pairs, Algorithm::Improved(Threshold::SqrtEdgesByLog)) as f64;
        assert!(basic <= 5.0 * n * n.min(k), "{basic}");
        assert!(improved <= 5.0 * n * (m * n.log2()).sqrt(), "{improved}");
        let leaking = leaking_corridor(size);
        let (n, m) = (leaking.vertices() as f64, leaking.edge_count() as f64);
        let ends = end_component_steps(&leaking, Algorithm::Improved(Threshold::SqrtEdges)) as f64;
        assert!(ends <= 5.0 * n * m.sqrt(), "{ends}");
        assert!(end_component_steps(&leaking, Algorithm::Basic) as f64 <= 5.0 * n * n);
    }
    for seed in 0..40 {
        let graph = random_graph(200, 2, seed);
        let pairs: Vec<Pair> =
            (0..40).map(|at| Pair { requests: vec![at * 5, at * 5 + 1], grants: vec![at * 5 + 2] }).collect();
        let drawn: Vec<Vertex> = (0..200).filter(|vertex| vertex % 5 == seed as Vertex % 5).collect();
        let bound = 5.0 * 200.0 * (graph.edge_count() as f64 * 200f64.log2()).sqrt();
        let improved = Algorithm::Improved(Threshold::SqrtEdgesByLog);
        assert!((search_steps(&graph, &pairs, improved) as f64) <= bound);
        assert!((search_steps(&graph.with_random(&drawn).expect("they exist"), &pairs, improved) as f64) <= bound);
    }
}
