//! Fair components of graphs whose edges belong to somebody, with and without random vertices, held against all sets of edges, and against the symbolic algorithms. `RADDLE_FAIR_LABELLED` is how many random graphs.

use raddle_fair::argument::Argument;
use raddle_fair::graph::{Graph, Pair, Vertex};
use raddle_fair::labelled::{EVERYWHERE, Edge, Labelled, NOBODY, Within};
use raddle_fair::sets::{Bits, Space};
use raddle_fair::smaller::smaller;
use raddle_fair::solve::{Goal, Method, solve};
use raddle_fair::streett::Algorithm;
use raddle_testkit::{Random, setting};
use std::collections::BTreeSet;

/// A random graph with pairs, of which so many percent of the vertices are random.
fn random(random: &mut Random, drawn: usize) -> Labelled {
    let (vertices, pairs) = (random.between(1, 7), random.between(0, 3));
    let mut graph = Labelled::new(pairs);
    for _ in 0..vertices {
        if random.chance(drawn) {
            graph.push_random((0..random.between(1, 3)).map(|_| random.below(vertices) as Vertex).collect::<Vec<_>>());
            continue;
        }
        let some = |random: &mut Random| (0..pairs as u16).filter(|_| random.chance(30)).collect::<Vec<u16>>();
        let (requests, grants) = (some(random), some(random));
        let edges: Vec<(Vertex, u16)> = (0..random.between(0, 3))
            .map(|_| {
                let by = if pairs > 0 && random.chance(40) { random.below(pairs) as u16 } else { NOBODY };
                (random.below(vertices) as Vertex, by)
            })
            .collect();
        graph.push(requests, grants, edges);
    }
    graph
}

/// Whether some set of edges makes a good cycle, or a good end-component: every set is tried.
fn by_all_sets(graph: &Labelled) -> bool {
    let edges = graph.edges();
    (1u32..1 << edges).any(|chosen| {
        let taken: Vec<Edge> = (0..edges as Edge).filter(|edge| chosen >> edge & 1 == 1).collect();
        let source =
            |edge: Edge| (0..graph.len() as Vertex).find(|&at| graph.from(at).contains(&edge)).expect("it has one");
        let vertices: BTreeSet<Vertex> = taken.iter().flat_map(|&edge| [source(edge), graph.target(edge)]).collect();
        let reaches = |from: Vertex| {
            let mut seen = BTreeSet::from([from]);
            while let Some(&edge) =
                taken.iter().find(|&&edge| seen.contains(&source(edge)) && !seen.contains(&graph.target(edge)))
            {
                seen.insert(graph.target(edge));
            }
            seen
        };
        let connected = vertices.iter().all(|&from| reaches(from) == vertices);
        let open = |&at: &Vertex| graph.is_random(at) && !graph.from(at).all(|edge| taken.contains(&edge));
        connected
            && !vertices.iter().any(open)
            && (0..graph.pairs()).all(|pair| {
                !vertices.iter().any(|&at| graph.requests(at, pair))
                    || vertices.iter().any(|&at| graph.grants(at, pair))
                    || taken.iter().any(|&edge| graph.granted(edge) == pair)
            })
    })
}

#[test]
fn good_sets_are_found_where_some_set_of_edges_is_a_good_cycle() {
    let (mut some, mut none) = (0, 0);
    for seed in 0..setting("RADDLE_FAIR_LABELLED", 2_000) {
        let graph = random(&mut Random::new(0x1abe1 + seed), 0);
        if graph.edges() > 9 {
            continue;
        }
        let found = graph.decompose(&EVERYWHERE, &|| false).expect("nobody stops it");
        assert_eq!(!found.good.is_empty(), by_all_sets(&graph), "seed {seed}: {graph:?}");
        for set in &found.good {
            let cycle = graph.cycle(set, &EVERYWHERE);
            let mut at = set[0];
            let mut on_way = vec![at];
            for &edge in &cycle {
                assert!(graph.from(at).contains(&edge), "seed {seed}");
                at = graph.target(edge);
                on_way.push(at);
            }
            assert_eq!(at, set[0], "seed {seed}");
            for pair in 0..graph.pairs() {
                let asked = on_way.iter().any(|&at| graph.requests(at, pair));
                let given = on_way.iter().any(|&at| graph.grants(at, pair))
                    || cycle.iter().any(|&edge| graph.granted(edge) == pair);
                assert!(!asked || given, "seed {seed}: pair {pair} of {cycle:?} in {graph:?}");
            }
        }
        if found.good.is_empty() { none += 1 } else { some += 1 }
    }
    assert!(some > 300 && none > 200, "{some} with a good cycle, {none} without");
}

/// The same graph for the symbolic algorithms: an edge that grants goes through a vertex of its own, and who has no edge goes where nothing is good.
fn unlabelled(graph: &Labelled) -> (Graph, Vec<Pair>) {
    let n = graph.len() as Vertex;
    let mut pairs = vec![Pair::default(); usize::from(graph.pairs()) + 1];
    let (mut edges, mut next) = (vec![(n, n)], n + 1);
    for vertex in 0..n {
        for pair in 0..graph.pairs() {
            if graph.requests(vertex, pair) {
                pairs[usize::from(pair)].requests.push(vertex);
            }
            if graph.grants(vertex, pair) {
                pairs[usize::from(pair)].grants.push(vertex);
            }
        }
        if graph.from(vertex).is_empty() {
            edges.push((vertex, n));
        }
        for edge in graph.from(vertex) {
            if graph.granted(edge) == NOBODY {
                edges.push((vertex, graph.target(edge)));
            } else {
                pairs[usize::from(graph.granted(edge))].grants.push(next);
                edges.extend([(vertex, next), (next, graph.target(edge))]);
                next += 1;
            }
        }
    }
    pairs[usize::from(graph.pairs())].requests.push(n);
    let random: Vec<Vertex> = (0..n).filter(|&vertex| graph.is_random(vertex)).collect();
    (Graph::new(next as usize, edges, &random).expect("a graph"), pairs)
}

/// Whether these vertices and edges are connected, closed under chance, and grant what they request.
fn is_good(graph: &Labelled, vertices: &[Vertex], edges: &[Edge]) -> bool {
    let source =
        |edge: Edge| (0..graph.len() as Vertex).find(|&at| graph.from(at).contains(&edge)).expect("it has one");
    let reaches = |from: Vertex| {
        let mut seen = BTreeSet::from([from]);
        while let Some(&edge) =
            edges.iter().find(|&&edge| seen.contains(&source(edge)) && !seen.contains(&graph.target(edge)))
        {
            seen.insert(graph.target(edge));
        }
        seen
    };
    let all: BTreeSet<Vertex> = vertices.iter().copied().collect();
    let closed = |&at: &Vertex| !graph.is_random(at) || graph.from(at).all(|edge| edges.contains(&edge));
    !edges.is_empty()
        && edges.iter().all(|&edge| all.contains(&source(edge)) && all.contains(&graph.target(edge)))
        && vertices.iter().all(|&from| reaches(from) == all)
        && vertices.iter().all(closed)
        && (0..graph.pairs()).all(|pair| {
            !vertices.iter().any(|&at| graph.requests(at, pair))
                || vertices.iter().any(|&at| graph.grants(at, pair))
                || edges.iter().any(|&edge| graph.granted(edge) == pair)
        })
}

#[test]
fn good_end_components_are_those_of_all_sets_of_edges_and_of_the_symbolic_algorithms() {
    let (mut some, mut none) = (0, 0);
    for seed in 0..setting("RADDLE_FAIR_LABELLED", 2_000) {
        let mut numbers = Random::new(0xc4a2ce + seed);
        let drawn = numbers.pick(&[20, 40, 70]);
        let graph = random(&mut numbers, drawn);
        let found = graph.decompose(&EVERYWHERE, &|| false).expect("nobody stops it");
        if graph.edges() <= 9 {
            assert_eq!(!found.good.is_empty(), by_all_sets(&graph), "seed {seed}: {graph:?}");
        }
        let (plain, pairs) = unlabelled(&graph);
        let space = Space::new(Bits::new(&plain), &plain, &pairs).expect("it fits");
        for streett in [Method::default().streett, Algorithm::Basic] {
            let method = Method { streett, ..Method::default() };
            let solved = solve(&space, method, Goal::Possibly, Argument::none()).expect("no limit");
            let own = |set| space.members(set).into_iter().filter(|&at| (at as usize) < graph.len()).collect();
            let mut symbolic: Vec<Vec<Vertex>> = solved.good.iter().map(own).collect();
            symbolic.sort_unstable();
            assert_eq!(found.good, symbolic, "seed {seed}: {graph:?}");
        }
        for set in &found.good {
            let small = smaller(&graph, set, &EVERYWHERE);
            assert!(small.vertices.iter().all(|vertex| set.contains(vertex)), "seed {seed}");
            assert!(is_good(&graph, &small.vertices, &small.edges), "seed {seed}: {small:?} of {graph:?}");
            let fewer = |left: Vertex| {
                let vertices: Vec<Vertex> = small.vertices.iter().copied().filter(|&at| at != left).collect();
                let within =
                    Within { vertex: &|vertex| vertices.contains(&vertex), edge: &|edge| small.edges.contains(&edge) };
                graph.decompose(&within, &|| false).expect("nobody stops it").good.is_empty()
            };
            assert!(small.vertices.iter().all(|&vertex| fewer(vertex)), "seed {seed}: {small:?} of {graph:?}");
        }
        if found.good.is_empty() { none += 1 } else { some += 1 }
    }
    assert!(some > 300 && none > 200, "{some} with a good end-component, {none} without");
}
