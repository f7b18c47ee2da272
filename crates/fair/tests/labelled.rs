//! Fair components of graphs whose edges belong to somebody, held against all sets of edges. `RADDLE_FAIR_LABELLED` is how many random graphs.

use raddle_fair::graph::Vertex;
use raddle_fair::labelled::{EVERYWHERE, Edge, Labelled, NOBODY};
use raddle_testkit::{Random, setting};
use std::collections::BTreeSet;

/// A random graph with pairs.
fn random(random: &mut Random) -> Labelled {
    let (vertices, pairs) = (random.between(1, 7), random.between(0, 3));
    let mut graph = Labelled::new(pairs);
    for _ in 0..vertices {
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

/// Whether some set of edges makes a good cycle: every set is tried.
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
        connected
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
        let graph = random(&mut Random::new(0x1abe1 + seed));
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
