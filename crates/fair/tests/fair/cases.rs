//! The cases A to D: small enough to be followed by hand, each with a difference that a mistake would hide.

use crate::truth::{everything, mask, truth};
use raddle_fair::graph::{Graph, Pair, Vertex};

struct Case {
    edges: &'static str,
    random: &'static [Vertex],
    pairs: &'static [(&'static [Vertex], &'static [Vertex])],
    components: &'static [&'static [Vertex]],
    graph: (&'static [&'static [Vertex]], &'static [Vertex]),
    ends: &'static [&'static [Vertex]],
    mdp: (&'static [&'static [Vertex]], &'static [Vertex]),
}

const A_EDGES: &str = "0>1 1>2 1>5 2>0 2>3 3>4 4>2 4>3 5>6 6>6";
const A: Case = Case {
    edges: A_EDGES,
    random: &[],
    pairs: &[(&[4], &[0]), (&[3], &[6])],
    components: &[&[0, 1, 2, 3, 4], &[5], &[6]],
    graph: (&[&[0, 1, 2], &[6]], &[0, 1, 2, 3, 4, 5, 6]),
    ends: &[&[0, 1, 2, 3, 4], &[6]],
    mdp: (&[&[0, 1, 2], &[6]], &[0, 1, 2, 3, 4, 5, 6]),
};
const B: Case = Case {
    edges: A_EDGES,
    random: &[1, 2],
    pairs: &[(&[4], &[0]), (&[6], &[0])],
    components: &[&[0, 1, 2, 3, 4], &[5], &[6]],
    graph: (&[&[0, 1, 2, 3, 4]], &[0, 1, 2, 3, 4]),
    ends: &[&[3, 4], &[6]],
    mdp: (&[], &[]),
};
const C: Case = Case {
    edges: "0>1 0>2 1>0 1>3 2>4 3>3 4>2 4>5 5>6 6>5 6>7 7>7",
    random: &[1, 4],
    pairs: &[(&[2], &[5]), (&[7], &[6])],
    components: &[&[0, 1], &[2, 4], &[3], &[5, 6], &[7]],
    graph: (&[&[0, 1], &[3], &[5, 6]], &[0, 1, 2, 3, 4, 5, 6]),
    ends: &[&[3], &[5, 6], &[7]],
    mdp: (&[&[3], &[5, 6]], &[0, 1, 2, 3, 4, 5, 6]),
};
const D: Case = Case {
    edges: "0>1 0>2 1>3 1>4 2>0 2>3 3>3 4>4",
    random: &[1, 2],
    pairs: &[(&[4], &[])],
    components: &[&[0, 2], &[1], &[3], &[4]],
    graph: (&[&[0, 2], &[3]], &[0, 1, 2, 3]),
    ends: &[&[3], &[4]],
    mdp: (&[&[3]], &[0, 2, 3]),
};

fn edges(text: &str) -> Vec<(Vertex, Vertex)> {
    let number = |text: &str| text.parse().expect("a number");
    text.split(' ')
        .map(|edge| edge.split_once('>').map(|(from, to)| (number(from), number(to))).expect("a>b"))
        .collect()
}

#[test]
fn the_cases_come_out_as_by_hand() {
    for case in [A, B, C, D] {
        let edges = edges(case.edges);
        let vertices = edges.iter().map(|&(from, _)| from).max().expect("edges") as usize + 1;
        let pairs: Vec<Pair> = case
            .pairs
            .iter()
            .map(|(requests, grants)| Pair { requests: requests.to_vec(), grants: grants.to_vec() })
            .collect();
        let graph = Graph::new(vertices, edges.clone(), &[]).expect("a graph");
        let (said, _, parts) = everything(&graph, &pairs, |_| true);
        assert_eq!(parts, case.components);
        assert_eq!((said.good, said.winning), (sets(case.graph.0), case.graph.1.to_vec()), "{}", case.edges);
        let mdp = Graph::new(vertices, edges, case.random).expect("an MDP");
        let (said, _, _) = everything(&mdp, &pairs, |_| true);
        assert_eq!(said.ends, case.ends, "{}", case.edges);
        assert_eq!((said.good, said.winning), (sets(case.mdp.0), case.mdp.1.to_vec()), "{}", case.edges);
        // The brute force of the other tests knows these as well.
        assert_eq!(truth(&mdp, &pairs).surely, mask(case.mdp.1));
    }
}

fn sets(sets: &[&[Vertex]]) -> Vec<Vec<Vertex>> {
    sets.iter().map(|set| set.to_vec()).collect()
}
