//! Streett objectives: symbolic steps of the basic algorithm against the improved one.
//!
//! The experiment of Toman (2021, chapter 6) on inputs that can be made here: corridors with as many pairs as cells (`raddle::fair::families`), dining philosophers
//! (`raddle::fair::protocols`), graphs drawn at random with random pairs; each as a graph and as MDPs with a share of random vertices. Steps are counted after the first
//! decomposition, which the algorithms share; every answer is compared with that of the basic algorithm. `--large` asks about a million states with BDDs, `--orders` what the order of their variables does.

use crate::engines::write;
use crate::failure::Failure;
use crate::plot::{Panel, draw};
use crate::table::{markdown, thousands};
use raddle::fair::argument::Argument;
use raddle::fair::families::{corridor, grouped_corridor, random_graph, random_marks};
use raddle::fair::graph::{Graph, Pair, Vertex};
use raddle::fair::protocols::{Forks, Protocol, philosophers};
use raddle::fair::sets::{Backend, Bdds, Bits, Codes, Order, Space, Stop};
use raddle::fair::solve::{Goal, Method, solve};
use raddle::fair::streett::{Algorithm, Threshold};
use serde::Serialize;
use std::time::Instant;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tiny parameters: says that everything works, nothing about speed
    #[arg(long)]
    quick: bool,

    /// Only two million states and 144 pairs, with BDDs
    #[arg(long)]
    large: bool,

    /// Only how the order of variables counts
    #[arg(long, conflicts_with = "large")]
    orders: bool,

    /// Also write the table and a plot into the directory `docs`
    #[arg(long, conflicts_with_all = ["quick", "large", "orders"])]
    doc: bool,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["large", "orders", "doc"])]
    json: bool,
}

/// The algorithms, each against the first.
const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("basic", Algorithm::Basic),
    ("log", Algorithm::Improved(Threshold::Log)),
    ("sqrt-m-log", Algorithm::Improved(Threshold::SqrtEdgesByLog)),
    ("never", Algorithm::Improved(Threshold::Never)),
];

/// Shares of random vertices.
const PERCENT: [usize; 4] = [0, 10, 20, 50];

/// An input and what every algorithm takes for it.
#[derive(Clone, Debug, Serialize)]
struct Row {
    input: &'static str,
    states: usize,
    edges: usize,
    pairs: usize,
    /// Percent of the vertices that are random.
    random: usize,
    winning: usize,
    taken: Vec<Taken>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Taken {
    algorithm: &'static str,
    steps: u64,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.large {
        return large(if args.quick { 5 } else { 12 });
    }
    if args.orders {
        return orders(if args.quick { 100 } else { 3_000 });
    }
    let rows = rows(args.quick)?;
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    anstream::print!("{}", table(&rows));
    if args.doc {
        write("fair-steps.svg", &draw(&panels(&rows)))?;
        write("fair-steps.md", &page(&rows))?;
    }
    Ok(())
}

fn rows(quick: bool) -> Result<Vec<Row>, Failure> {
    let mut inputs: Vec<(&'static str, Graph, Vec<Pair>)> = Vec::new();
    let sizes: &[usize] = if quick { &[10, 20] } else { &[25, 50, 100, 200] };
    for &cells in sizes {
        let (graph, pairs) = corridor(cells);
        inputs.push(("corridor", graph, pairs));
    }
    for (name, forks) in [("philosophers, at once", Forks::AtOnce), ("philosophers, in order", Forks::InOrder)] {
        for count in if quick { 3..=4 } else { 4..=6 } {
            let Protocol { graph, pairs, .. } = philosophers(count, forks, false);
            inputs.push((name, graph, pairs));
        }
    }
    let sizes: &[usize] = if quick { &[30] } else { &[250, 500, 1_000, 2_000] };
    for &vertices in sizes {
        inputs.push(("random, 10 pairs", random_graph(vertices, 3, vertices as u64), random_pairs(vertices, 10)));
    }
    for &vertices in sizes {
        let pairs = random_pairs(vertices, vertices / 10);
        inputs.push(("random, n/10 pairs", random_graph(vertices, 3, vertices as u64), pairs));
    }
    let mut rows = Vec::new();
    for (name, graph, pairs) in inputs {
        for percent in PERCENT {
            rows.push(row(name, graph.clone(), &pairs, percent)?);
        }
    }
    Ok(rows)
}

/// Pairs with requests in about a hundredth of the states and one grant; every fifth has none, so that removals bring about others.
fn random_pairs(vertices: usize, count: usize) -> Vec<Pair> {
    let requests = |seed: u64| random_marks(vertices, 1, seed);
    let grant = |seed: u64| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) % vertices as u64) as Vertex;
    let grants = |seed: u64| if seed.is_multiple_of(5) { Vec::new() } else { vec![grant(seed)] };
    (0..count as u64).map(|seed| Pair { requests: requests(seed), grants: grants(seed) }).collect()
}

/// One input by all algorithms.
fn row(input: &'static str, graph: Graph, pairs: &[Pair], random: usize) -> Result<Row, Failure> {
    let marks = random_marks(graph.vertices(), random, 16);
    let graph = graph.with_random(&marks).map_err(|error| Failure::Fair(error.to_string()))?;
    let mut taken = Vec::new();
    let mut first: Option<Vec<Vertex>> = None;
    for (algorithm, method) in ALGORITHMS {
        let space = Space::new(Bits::new(&graph), &graph, pairs)?;
        let (steps, seconds, winning) = measure(&space, method)?;
        let winning = space.members(&winning);
        if *first.get_or_insert_with(|| winning.clone()) != winning {
            return Err(Failure::Fair(format!("{algorithm} and basic disagree on {input}")));
        }
        taken.push(Taken { algorithm, steps, seconds });
    }
    let (states, edges, pairs) = (graph.vertices(), graph.edge_count(), pairs.len());
    anstream::eprintln!("{input}, {states} states, {random} % random");
    Ok(Row { input, states, edges, pairs, random, winning: first.map_or(0, |winning| winning.len()), taken })
}

/// Symbolic steps after the first decomposition, the time of everything, and who wins.
fn measure<B: Backend>(space: &Space<B>, streett: Algorithm) -> Result<(u64, f64, B::Set), Stop> {
    let method = Method { streett, ends: Algorithm::Improved(Threshold::SqrtEdges) };
    let begin = Instant::now();
    let solution = solve(space, method, Goal::AlmostSurely, Argument::none())?;
    Ok((solution.phases.search.symbolic(), begin.elapsed().as_secs_f64(), solution.winning))
}

fn table(rows: &[Row]) -> String {
    let mut head: Vec<String> = ["input", "states", "edges", "pairs", "random, %", "winning"].map(str::to_owned).into();
    for (algorithm, _) in ALGORITHMS {
        head.extend([format!("{algorithm}: steps"), "s".to_owned()]);
    }
    let line = |row: &Row| {
        let numbers = [row.states, row.edges, row.pairs, row.random, row.winning];
        let mut cells = vec![row.input.to_owned()];
        cells.extend(numbers.map(|number| thousands(number as u64)));
        cells.extend(row.taken.iter().flat_map(|taken| [thousands(taken.steps), format!("{:.3}", taken.seconds)]));
        cells
    };
    markdown(&head, &rows.iter().map(line).collect::<Vec<_>>(), 1)
}

/// One panel per input and share of random vertices.
fn panels(rows: &[Row]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    let mut inputs: Vec<&'static str> = rows.iter().map(|row| row.input).collect();
    inputs.dedup();
    for input in inputs {
        for percent in PERCENT {
            let here = || rows.iter().filter(|row| row.input == input && row.random == percent);
            let series = |at: usize| here().map(|row| (row.states as i64, row.taken[at].steps)).collect();
            panels.push(Panel {
                title: format!("{input}, {percent} % random"),
                parameter: "states".to_owned(),
                series: (0..ALGORITHMS.len()).map(|at| (ALGORITHMS[at].0, series(at))).collect(),
            });
        }
    }
    panels
}

fn page(rows: &[Row]) -> String {
    format!(
        "# Symbolic steps, basic against improved\n\n\
         Written by `cargo run --release -p raddle-bench -- fair --doc`. Images and preimages of sets that an algorithm takes after the first \
         decomposition, and the seconds of everything, with sets as bits. `basic` decomposes a component again after each removal; the others search in \
         lock-step below a [threshold](fair.md#options) of lost edges and decompose above it, `never` searches always. All answers are the same, or \
         the command would have failed.\n\n\
         - *corridor*: as many pairs as cells, one door after the other closes; the gain of the bound shows.\n\
         - *philosophers*: may the first be hungry for ever although everybody is treated fairly? Two ways of taking forks, a pair for each and one for the complaint.\n\
         - *random*: three edges from each state, requests in a hundredth of the states, and one state that grants, or none for every fifth pair.\n\n\
         {}\n![Steps against states, for each input and share of random states](fair-steps.svg)\n",
        table(rows)
    )
}

/// Many states and pairs, with BDDs over what states are made of.
fn large(count: u32) -> Result<(), Failure> {
    let Protocol { graph, pairs, columns } = philosophers(count, Forks::AtOnce, true);
    let (states, edges) = (thousands(graph.vertices() as u64), thousands(graph.edge_count() as u64));
    anstream::println!("{count} philosophers in company: {states} states, {edges} edges, {} pairs", pairs.len());
    for (name, algorithm) in [ALGORITHMS[0], ALGORITHMS[1]] {
        let begin = Instant::now();
        let codes = Codes::columns(graph.vertices(), &columns);
        let sets = Bdds::coded(&graph, codes, Order::default(), 1 << 30)?;
        let nodes = sets.relation_nodes();
        let space = Space::new(sets, &graph, &pairs)?;
        let built = begin.elapsed().as_secs_f64();
        let (steps, seconds, winning) = measure(&space, algorithm)?;
        let winning = space.members(&winning).len();
        anstream::println!(
            "{name}: {} nodes for the edges in {built:.1} s; {steps} steps ({} in all) in {seconds:.1} s; {} states win",
            thousands(nodes as u64),
            space.steps().symbolic(),
            thousands(winning as u64)
        );
    }
    Ok(())
}

/// What the order of the variables does to size and time.
fn orders(cells: usize) -> Result<(), Failure> {
    let inputs = [
        ("corridor", grouped_corridor(cells, 10)),
        ("random", (random_graph(3 * cells, 2, 16), random_pairs(3 * cells, 10))),
    ];
    for (name, (graph, pairs)) in inputs {
        for order in [Order::Interleaved, Order::Apart] {
            let sets = Bdds::new(&graph, order, 1 << 30)?;
            let nodes = sets.relation_nodes();
            let space = Space::new(sets, &graph, &pairs)?;
            let (steps, seconds, _) = measure(&space, ALGORITHMS[1].1)?;
            anstream::println!(
                "{name:<10} {:>8} states {order:?}: {nodes} nodes for the edges, {steps} steps in {seconds:.2} s",
                graph.vertices()
            );
        }
    }
    Ok(())
}
