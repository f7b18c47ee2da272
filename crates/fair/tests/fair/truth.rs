//! What the tests share: the definitions by brute force, random inputs, and one way to run everything on one input.

use raddle_fair::argument::Argument;
use raddle_fair::graph::{Graph, Pair, Vertex};
use raddle_fair::mec::end_components;
use raddle_fair::scc::components;
use raddle_fair::sets::{Backend, Bdds, Bits, Codes, Order, Space, Steps};
use raddle_fair::solve::{Goal, Method, Solution, solve};
use raddle_fair::streett::{Algorithm, Threshold};
use raddle_fair::{check, evidence};
use raddle_testkit::Random;

/// A set of at most 32 vertices.
pub(crate) type Mask = u32;

/// What the definitions say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) components: Vec<Mask>,
    pub(crate) ends: Vec<Mask>,
    pub(crate) good: Vec<Mask>,
    pub(crate) possibly: Mask,
    pub(crate) surely: Mask,
}

/// The definitions, by trying every set of vertices.
pub(crate) fn truth(graph: &Graph, pairs: &[Pair]) -> Truth {
    let n = graph.vertices();
    let next: Vec<Mask> = (0..n as Vertex).map(|vertex| mask(graph.successors(vertex))).collect();
    let random = mask(&graph.random().collect::<Vec<_>>());
    let pairs: Vec<(Mask, Mask)> = pairs.iter().map(|pair| (mask(&pair.requests), mask(&pair.grants))).collect();
    let all: Mask = (1 << n) - 1;
    let connected = |set: Mask| {
        ones(set).all(|from| {
            let mut seen = 1 << from;
            loop {
                let more = ones(seen).fold(seen, |more, vertex| more | (next[vertex] & set));
                if more == seen {
                    break seen == set;
                }
                seen = more;
            }
        })
    };
    let has_edge = |set: Mask| ones(set).any(|vertex| next[vertex] & set != 0);
    let closed = |set: Mask| ones(set & random).all(|vertex| next[vertex] & !set == 0);
    let is_good = |set: Mask| pairs.iter().all(|&(requests, grants)| requests & set == 0 || grants & set != 0);
    let largest = |wanted: &dyn Fn(Mask) -> bool| {
        let sets: Vec<Mask> = (1..=all).filter(|&set| wanted(set)).collect();
        sets.iter().copied().filter(|&set| !sets.iter().any(|&other| other != set && other & set == set)).collect()
    };
    let connected: Vec<bool> = (0..=all).map(|set| set != 0 && connected(set)).collect();
    let is = |set: Mask| connected[set as usize];
    let good: Vec<Mask> = largest(&|set| is(set) && has_edge(set) && closed(set) && is_good(set));
    let target = good.iter().fold(0, |all, set| all | set);
    let mut possibly = target;
    for _ in 0..n {
        possibly |= ones(all).filter(|&vertex| next[vertex] & possibly != 0).fold(0, |set, vertex| set | (1 << vertex));
    }
    // The nested fixpoint: stay where one can come closer, whatever chance does.
    let mut surely = all;
    loop {
        let mut closer = target & surely;
        for _ in 0..n {
            closer |= ones(surely)
                .filter(|&vertex| {
                    next[vertex] & closer != 0 && (random >> vertex & 1 == 0 || next[vertex] & !surely == 0)
                })
                .fold(0, |set, vertex| set | (1 << vertex));
        }
        if closer == surely {
            break;
        }
        surely = closer;
    }
    Truth {
        components: largest(&is),
        ends: largest(&|set| is(set) && has_edge(set) && closed(set)),
        good,
        possibly,
        surely,
    }
}

fn ones(set: Mask) -> impl Iterator<Item = usize> {
    (0..32).filter(move |bit| set >> bit & 1 == 1)
}

pub(crate) fn mask(set: &[Vertex]) -> Mask {
    set.iter().fold(0, |mask, &vertex| mask | (1 << vertex))
}

/// Graphs of up to `most` vertices, of all densities, with and without random vertices, and up to `pairs` pairs.
pub(crate) fn random_input(random: &mut Random, most: usize, pairs: usize) -> (Graph, Vec<Pair>) {
    let n = random.between(1, most);
    let percent = random.pick(&[0, 0, 5, 10, 20, 40]);
    let mut edges = Vec::new();
    for from in 0..n {
        edges.push((from as Vertex, random.below(n) as Vertex));
        for to in 0..n {
            if random.chance(percent) {
                edges.push((from as Vertex, to as Vertex));
            }
        }
    }
    // A ring through all of them makes large components common.
    if random.one_in(3) {
        edges.extend((0..n).map(|vertex| (vertex as Vertex, ((vertex + 1) % n) as Vertex)));
    }
    let share = random.pick(&[0, 0, 20, 50, 100]);
    let some =
        |random: &mut Random, percent| -> Vec<Vertex> { (0..n as Vertex).filter(|_| random.chance(percent)).collect() };
    let drawn = some(random, share);
    let count = random.between(0, pairs);
    let pairs = (0..count)
        .map(|_| {
            let (requests, grants) = (random.pick(&[10, 25, 50]), random.pick(&[0, 10, 20, 30]));
            Pair { requests: some(random, requests), grants: some(random, grants) }
        })
        .collect();
    (Graph::new(n, edges, &drawn).expect("every vertex has a successor"), pairs)
}

/// Every way to solve a question.
pub(crate) fn methods() -> Vec<Method> {
    let thresholds = [0, 1, 2, 3].map(Threshold::Fixed);
    let named = [Threshold::Log, Threshold::SqrtEdges, Threshold::SqrtEdgesByLog, Threshold::Never];
    let mut methods = vec![
        Method { streett: Algorithm::Basic, ends: Algorithm::Basic },
        Method { streett: Algorithm::Basic, ends: Algorithm::Improved(Threshold::SqrtEdges) },
    ];
    for threshold in thresholds.into_iter().chain(named) {
        methods.push(Method { streett: Algorithm::Improved(threshold), ends: Algorithm::Improved(threshold) });
    }
    methods
}

/// Everything an algorithm says about an input, in plain numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) ends: Vec<Vec<Vertex>>,
    pub(crate) good: Vec<Vec<Vertex>>,
    pub(crate) winning: Vec<Vertex>,
    pub(crate) steps: Steps,
}

/// Runs one method in one back end and has all evidence checked.
///
/// # Panics
/// If a piece of evidence is wrong.
pub(crate) fn run<B: Backend>(graph: &Graph, pairs: &[Pair], space: &Space<B>, method: Method, goal: Goal) -> Said {
    let begin = space.steps();
    let solution = solve(space, method, goal, Argument::kept()).expect("no limit");
    let steps = space.steps() - begin;
    let Solution { good, winning, layers, argument, .. } = solution;
    let good = sorted(space, &good);
    let winning = space.members(&winning);
    verify(graph, pairs, goal, &good, &winning, &layers, &argument);
    let ends = end_components(space, &space.all(), Argument::ROOT, method.ends, &mut Argument::none());
    let ends: Vec<B::Set> = ends.expect("no limit").into_iter().map(|(set, _)| set).collect();
    Said { ends: sorted(space, &ends), good, winning, steps }
}

fn verify(
    graph: &Graph,
    pairs: &[Pair],
    goal: Goal,
    good: &[Vec<Vertex>],
    winning: &[Vertex],
    layers: &[raddle_fair::solve::Layer],
    argument: &Argument,
) {
    let claimed =
        check::argument(graph, pairs, argument).unwrap_or_else(|wrong| panic!("{wrong}\n{graph:?}\n{pairs:?}"));
    assert_eq!(claimed.ones().map(|vertex| vertex as Vertex).collect::<Vec<_>>(), {
        let mut all = good.concat();
        all.sort_unstable();
        all
    });
    check::layers(graph, &claimed, winning, goal, layers).expect("who loses");
    // On a good component the strategy wins whatever the goal; on all of the winning set if it is almost sure, or nothing is random.
    let domain = if goal == Goal::AlmostSurely || !graph.is_mdp() { winning.to_vec() } else { good.concat() };
    check::strategy(graph, pairs, &domain, &evidence::strategy(graph, &domain, good)).expect("the strategy wins");
    for &vertex in winning {
        if graph.is_mdp() {
            assert!(evidence::path_to(graph, vertex, good).is_some());
        } else {
            let lasso = evidence::lasso(graph, pairs, vertex, good).expect("a winner has a lasso");
            check::lasso(graph, pairs, vertex, &lasso).expect("the lasso is fair");
        }
    }
}

fn sorted<B: Backend>(space: &Space<B>, sets: &[B::Set]) -> Vec<Vec<Vertex>> {
    let mut all: Vec<Vec<Vertex>> = sets.iter().map(|set| space.members(set)).collect();
    all.sort();
    all
}

/// Runs every method: they agree with each other, and those whose turn it is take the same steps to the same end in both back ends.
///
/// # Panics
/// If they do not.
pub(crate) fn everything(
    graph: &Graph,
    pairs: &[Pair],
    turn: impl Fn(usize) -> bool,
) -> (Said, Vec<Vertex>, Vec<Vec<Vertex>>) {
    let bits = Space::new(Bits::new(graph), graph, pairs).expect("fits");
    let bdds = Space::new(Bdds::new(graph, Order::Interleaved, 1 << 22).expect("fits"), graph, pairs).expect("fits");
    // Thirds of the numbers, and what is left: the least code is not the least vertex.
    let vertices = 0..graph.vertices() as u32;
    let columns = [vertices.clone().map(|vertex| vertex % 3).collect(), vertices.map(|vertex| vertex / 3).collect()];
    let codes = Codes::columns(graph.vertices(), &columns);
    let coded = Bdds::coded(graph, codes, Order::Interleaved, 1 << 22).expect("fits");
    let coded = Space::new(coded, graph, pairs).expect("fits");
    let mut first: Option<Said> = None;
    for (at, method) in methods().into_iter().enumerate() {
        let one = run(graph, pairs, &bits, method, Goal::AlmostSurely);
        if turn(at) {
            let other = run(graph, pairs, &bdds, method, Goal::AlmostSurely);
            assert_eq!(one, other, "back ends differ by {method:?} on {graph:?} {pairs:?}");
            let steps = one.steps;
            let other = Said { steps, ..run(graph, pairs, &coded, method, Goal::AlmostSurely) };
            assert_eq!(one, other, "codes make a difference by {method:?} on {graph:?} {pairs:?}");
        }
        let first = first.get_or_insert_with(|| one.clone());
        assert_eq!(
            (&first.ends, &first.good, &first.winning),
            (&one.ends, &one.good, &one.winning),
            "{method:?} differs on {graph:?} {pairs:?}"
        );
    }
    let possibly = run(graph, pairs, &bits, Method::default(), Goal::Possibly).winning;
    let parts = sorted(&bits, &components(&bits, &bits.all()).expect("no limit"));
    assert_eq!(parts, sorted(&bdds, &components(&bdds, &bdds.all()).expect("no limit")));
    (first.expect("there are methods"), possibly, parts)
}
