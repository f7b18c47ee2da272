//! From files to an answer that was checked: the way through this crate.

use crate::argument::{Argument, Claim};
use crate::evidence;
use crate::format::{InputError, aut, hoa, pairs, prism};
use crate::graph::{Graph, Pair, Vertex, bits};
use crate::product::{Node, Objective, Product};
use crate::sets::{Backend, Bdds, Bits, Codes, Order, Space, Stop};
use crate::solve::{Goal, Layer, Method, Phases, Solution, solve};
use crate::successors::{NotExplored, explore};
use crate::system::{Choice, System};
use crate::{check, check::Wrong};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The system.
    System,
    /// The labels of its states.
    Labels,
    /// What its states are called.
    States,
    /// The pairs.
    Pairs,
    /// The automaton.
    Specification,
}

/// The form of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Aldebaran.
    Aut,
    /// Transitions of PRISM.
    Tra,
}

/// Where the system comes from.
#[derive(Clone, Debug)]
pub enum Source<'a> {
    /// A text of this form.
    Text(Form, &'a str),
    /// It was made, with the labels that pairs and automaton [name](names).
    Made(System),
}

/// What is asked of what.
#[derive(Clone, Debug)]
pub struct Files<'a> {
    /// The system.
    pub system: Source<'a>,
    /// Labels, for a system in the form of PRISM.
    pub labels: Option<&'a str>,
    /// Names of states, for the same.
    pub states: Option<&'a str>,
    /// Pairs: can they be satisfied, with probability one if something is random?
    pub pairs: Option<&'a str>,
    /// An automaton: does it accept whatever satisfies the pairs, with probability one if something is random?
    pub specification: Option<&'a str>,
}

/// How sets are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// As bits in small graphs, as BDDs in large ones.
    Auto,
    /// As bits.
    Bits,
    /// As BDDs.
    Bdds,
}

/// From how many vertices on sets are kept as BDDs, if nobody says.
pub const LARGE: usize = 1 << 16;

/// How to go about it, and how far.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How sets are kept.
    pub keep: Keep,
    /// Which algorithms.
    pub method: Method,
    /// States without a successor stay where they are, instead of being a mistake.
    pub dead_ends_stay: bool,
    /// How much memory sets may take, in bytes.
    pub memory: u64,
    /// When to give up.
    pub time_limit: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            keep: Keep::Auto,
            method: Method::default(),
            dead_ends_stay: false,
            memory: 1 << 30,
            time_limit: None,
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A file is not accepted.
    #[error("{1}")]
    Input(Role, InputError),
    /// Evidence is wrong: a mistake of Raddle.
    #[error("the evidence for the answer does not hold: {0}")]
    Internal(#[from] Wrong),
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Decided {
    /// How many states the system has.
    pub states: usize,
    /// Vertices of the product, how many of them are random, and edges between them.
    pub vertices: usize,
    /// Random ones.
    pub random: usize,
    /// Edges.
    pub edges: usize,
    /// Pairs.
    pub pairs: usize,
    /// How sets were kept.
    pub keep: &'static str,
    /// Symbolic steps.
    pub phases: Phases,
    /// How many vertices win.
    pub winning: usize,
    /// How many good components there are.
    pub good: usize,
    /// What was found for the initial state.
    pub found: Found,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A vertex on a path, in words, and the action that leads into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The vertex.
    pub state: String,
    /// The action.
    pub action: Option<String>,
}

/// What was found for the initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Some path satisfies the pairs.
    Lasso {
        /// Up to the cycle.
        stem: Vec<Step>,
        /// The cycle.
        cycle: Vec<Step>,
    },
    /// Some strategy does.
    Strategy {
        /// A path to where it begins, if that takes luck.
        stem: Vec<Step>,
        /// What to choose from in each vertex, all with some probability.
        choices: Vec<(String, Vec<String>)>,
    },
    /// Nobody does.
    Nobody(Vec<Piece>),
    /// A limit was reached.
    Unknown(String),
}

/// A set of the argument, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// In how many others it lies.
    pub depth: usize,
    /// What is said about it.
    pub claim: &'static str,
    /// The vertices that it is said about.
    pub states: Vec<String>,
    /// Pairs that they request and nobody grants, from 1.
    pub pairs: Vec<usize>,
}

/// What pairs and an automaton call by name, in the order in which they do: each name once, with the file and the place where it stands first.
///
/// # Errors
/// If the automaton is none.
pub fn names(pairs: Option<&str>, specification: Option<&str>) -> Result<Vec<(Role, u32, String)>, Error> {
    let mut names: Vec<(Role, u32, String)> = Vec::new();
    let mut add = |role, line, name: String| {
        if !names.iter().any(|(_, _, known)| *known == name) {
            names.push((role, line, name));
        }
    };
    for (line, name) in pairs.map(pairs::names).unwrap_or_default() {
        add(Role::Pairs, line, name);
    }
    if let Some(text) = specification {
        let automaton = hoa::read(text).map_err(|error| Error::Input(Role::Specification, error))?;
        automaton.propositions.into_iter().for_each(|name| add(Role::Specification, 1, name));
    }
    Ok(names)
}

/// Reads the files, answers the question and checks the answer.
///
/// # Errors
/// If a file is not accepted, or the evidence for the answer does not hold.
pub fn decide(files: Files<'_>, settings: &Settings) -> Result<Decided, Error> {
    let deadline = settings.time_limit.and_then(|limit| Instant::now().checked_add(limit));
    let in_file = |role| move |error| Error::Input(role, error);
    let mut system = match files.system {
        Source::Text(Form::Aut, text) => aut::read(text).map_err(in_file(Role::System))?,
        Source::Text(Form::Tra, text) => prism::transitions(text).map_err(in_file(Role::System))?,
        Source::Made(system) => system,
    };
    if let Some(text) = files.labels {
        prism::labels(text, &mut system).map_err(in_file(Role::Labels))?;
    }
    if let Some(text) = files.states {
        prism::states(text, &mut system).map_err(in_file(Role::States))?;
    }
    if settings.dead_ends_stay {
        system.let_dead_ends_stay();
    }
    let mut objective = Objective::default();
    if let Some(text) = files.pairs {
        let written = pairs::read(text, &system).map_err(in_file(Role::Pairs))?;
        system.draw(&written.random);
        objective.pairs = Some(written);
    }
    if let Some(text) = files.specification {
        objective.rejected_by = Some(hoa::read(text).map_err(in_file(Role::Specification))?);
    }
    let product = Product::new(&system, &objective).map_err(in_file(Role::Pairs))?;
    let notes = product.unknown_propositions().into_iter();
    let mut decided = Decided {
        states: system.states,
        vertices: 0,
        random: 0,
        edges: 0,
        pairs: 0,
        keep: "",
        phases: Phases::default(),
        winning: 0,
        good: 0,
        found: Found::Unknown(String::new()),
        notes: notes.map(|name| format!("nothing is called \"{name}\", so this proposition never holds")).collect(),
    };
    let explored = explore(&product, settings.memory, deadline);
    if let Some(problem) = product.problem() {
        return Err(Error::Input(Role::Specification, problem));
    }
    let explored = match explored {
        Ok(explored) => explored,
        Err(NotExplored::Stopped(stop)) => {
            decided.found = Found::Unknown(stop.to_string());
            return Ok(decided);
        }
        Err(NotExplored::DeadEnd(node)) => return Err(Error::Input(Role::System, dead_end(&system, node))),
    };
    let (graph, nodes) = (explored.graph, explored.states);
    let pairs = product.pairs(&nodes);
    decided.vertices = graph.vertices();
    decided.random = graph.random().count();
    decided.edges = graph.edge_count();
    decided.pairs = pairs.len();
    let as_bits = settings.keep == Keep::Bits || (settings.keep == Keep::Auto && graph.vertices() < LARGE);
    decided.keep = if as_bits { "bits" } else { "bdds" };
    // A specification fails if what it rejects is possible at all.
    let goal = if files.specification.is_some() { Goal::Possibly } else { Goal::AlmostSurely };
    let solved = if as_bits {
        solved(Bits::new(&graph), &graph, &pairs, goal, settings, deadline)
    } else {
        let codes = Codes::columns(graph.vertices(), &product.columns(&nodes));
        Bdds::coded(&graph, codes, Order::default(), settings.memory)
            .and_then(|sets| solved(sets, &graph, &pairs, goal, settings, deadline))
    };
    let solved = match solved {
        Ok(solved) => solved,
        Err(stop) => {
            decided.found = Found::Unknown(stop.to_string());
            return Ok(decided);
        }
    };
    decided.phases = solved.phases;
    decided.winning = solved.winning.len();
    decided.good = solved.good.len();
    let words = Words { system: &system, product: &product, nodes: &nodes, graph: &graph };
    decided.found = found(&words, &pairs, goal, &solved)?;
    Ok(decided)
}

fn dead_end(system: &System, node: Node) -> InputError {
    let (state, line) = match node {
        Node::At { state, .. } => {
            let leads = |choice: &&Choice| choice.targets.iter().any(|&(target, _)| target == state);
            (system.name(state), system.choices().iter().find(leads).map_or(1, |choice| choice.line))
        }
        Node::Drawing { choice, .. } => (String::new(), system.choices()[choice as usize].line),
    };
    InputError::at((line, 1), format!("state {state} has no successor"))
        .help("a path has to go on for ever; `--dead-ends stay` lets such states stay where they are")
}

/// A solution in plain numbers.
struct Solved {
    good: Vec<Vec<Vertex>>,
    winning: Vec<Vertex>,
    layers: Vec<Layer>,
    argument: Argument,
    phases: Phases,
}

fn solved<B: Backend>(
    sets: B,
    graph: &Graph,
    pairs: &[Pair],
    goal: Goal,
    settings: &Settings,
    deadline: Option<Instant>,
) -> Result<Solved, Stop> {
    let space = Space::new(sets, graph, pairs)?.until(deadline);
    let Solution { good, winning, layers, argument, phases } = solve(&space, settings.method, goal, Argument::kept())?;
    Ok(Solved {
        good: good.iter().map(|set| space.members(set)).collect(),
        winning: space.members(&winning),
        layers,
        argument,
        phases,
    })
}

/// Checks all evidence, and puts that for the initial vertex into words.
fn found(words: &Words<'_>, pairs: &[Pair], goal: Goal, solved: &Solved) -> Result<Found, Wrong> {
    const INITIAL: Vertex = 0;
    let graph = words.graph;
    let good = check::argument(graph, pairs, &solved.argument)?;
    check::layers(graph, &good, &solved.winning, goal, &solved.layers)?;
    // Where luck is needed, the strategy begins in a good component.
    let luck = graph.is_mdp() && goal == Goal::Possibly;
    let domain = if luck { solved.good.concat() } else { solved.winning.clone() };
    let strategy = evidence::strategy(graph, &domain, &solved.good);
    check::strategy(graph, pairs, &domain, &strategy)?;
    if solved.winning.binary_search(&INITIAL).is_err() {
        return Ok(Found::Nobody(words.pieces(pairs, &solved.argument)));
    }
    if !graph.is_mdp() {
        let lasso =
            evidence::lasso(graph, pairs, INITIAL, &solved.good).ok_or_else(|| Wrong::new("a winner has no lasso"))?;
        check::lasso(graph, pairs, INITIAL, &lasso)?;
        let all: Vec<Vertex> = lasso.stem.iter().chain(&lasso.cycle).copied().collect();
        let mut stem = words.path(&all);
        let mut cycle = stem.split_off(lasso.stem.len());
        // What leads back to its beginning.
        if let (Some(first), Some(begin), Some(end)) = (cycle.first_mut(), lasso.cycle.first(), lasso.cycle.last()) {
            let node = |vertex: Vertex| &words.nodes[vertex as usize];
            first.action = words.product.action(node(*end), node(*begin)).map(str::to_owned);
        }
        return Ok(Found::Lasso { stem, cycle });
    }
    let mut stem = Vec::new();
    let mut begin = INITIAL;
    if luck {
        let (path, _) = evidence::path_to(graph, INITIAL, &solved.good)
            .ok_or_else(|| Wrong::new("a winner has no path to a good component"))?;
        begin = *path.last().unwrap_or(&INITIAL);
        stem = words.path(&path);
    }
    Ok(Found::Strategy { stem, choices: words.choices(begin, &strategy) })
}

/// Names for vertices.
struct Words<'a> {
    system: &'a System,
    product: &'a Product<'a>,
    nodes: &'a [Node],
    graph: &'a Graph,
}

impl Words<'_> {
    fn vertex(&self, vertex: Vertex) -> String {
        match self.nodes[vertex as usize] {
            Node::At { state, .. } => self.system.name(state),
            Node::Drawing { choice, .. } => {
                let word = |&(state, action): &(Vertex, Option<u32>)| match self.system.action(action) {
                    Some(action) => format!("{state} by {action}"),
                    None => state.to_string(),
                };
                let targets: Vec<String> = self.system.choices()[choice as usize].targets.iter().map(word).collect();
                format!("by chance {}", targets.join(" or "))
            }
        }
    }

    fn path(&self, path: &[Vertex]) -> Vec<Step> {
        let node = |at: usize| &self.nodes[path[at] as usize];
        let before = |at: usize| at.checked_sub(1).map(node);
        let step = |at: usize| Step {
            state: self.vertex(path[at]),
            action: before(at).and_then(|before| self.product.action(before, node(at))).map(str::to_owned),
        };
        (0..path.len()).map(step).collect()
    }

    /// What the strategy chooses wherever it can come to from here.
    fn choices(&self, begin: Vertex, strategy: &evidence::Strategy) -> Vec<(String, Vec<String>)> {
        let chosen: rustc_hash::FxHashMap<Vertex, &[Vertex]> =
            strategy.iter().map(|(vertex, chosen)| (*vertex, &chosen[..])).collect();
        let mut seen = bits(self.graph.vertices(), &[begin]);
        let mut work = std::collections::VecDeque::from([begin]);
        let mut all = Vec::new();
        while let Some(vertex) = work.pop_front() {
            let next = match chosen.get(&vertex) {
                Some(next) => {
                    all.push((self.vertex(vertex), next.iter().map(|&to| self.vertex(to)).collect()));
                    next
                }
                None => self.graph.successors(vertex),
            };
            work.extend(next.iter().copied().filter(|&to| !seen.put(to as usize)));
        }
        all
    }

    /// A vertex of an argument, where the state of the automaton counts too.
    fn precisely(&self, vertex: Vertex) -> String {
        match self.nodes[vertex as usize] {
            Node::At { automaton: Some(at), .. } if self.product.has_automaton() => {
                format!("{} [{at}]", self.vertex(vertex))
            }
            _ => self.vertex(vertex),
        }
    }

    /// The argument, from the outside to the inside.
    fn pieces(&self, pairs: &[Pair], argument: &Argument) -> Vec<Piece> {
        // Vertices that differ in marks only have one name.
        let named = |set: &[Vertex]| {
            let mut names: Vec<String> = set.iter().map(|&vertex| self.precisely(vertex)).collect();
            let mut seen = rustc_hash::FxHashSet::default();
            names.retain(|name| seen.insert(name.clone()));
            names
        };
        let mut pieces = Vec::new();
        let all: Vec<Vertex> = (0..self.graph.vertices() as Vertex).collect();
        let mut work = vec![(Argument::ROOT, 0, all)];
        while let Some((node, depth, set)) = work.pop() {
            let piece = |claim, set: &[Vertex]| Piece { depth, claim, states: named(set), pairs: Vec::new() };
            if depth > 0 && !matches!(argument.claim(node), Claim::Good | Claim::NoEdge | Claim::Split { .. }) {
                pieces.push(piece("component", &set));
            }
            match argument.claim(node) {
                Claim::Open => {}
                Claim::Good => pieces.push(piece("good", &set)),
                Claim::NoEdge => pieces.push(piece("no-cycle", &set)),
                Claim::Remove { removed, rest } => {
                    let (inside, gone) = (bits(self.graph.vertices(), &set), bits(self.graph.vertices(), removed));
                    let meets = |set: &[Vertex], with: &fixedbitset::FixedBitSet| {
                        set.iter().any(|&vertex| with.contains(vertex as usize))
                    };
                    let open = |pair: &Pair| meets(&pair.requests, &gone) && !meets(&pair.grants, &inside);
                    let numbers =
                        pairs.iter().enumerate().filter(|(_, pair)| open(pair)).map(|(at, _)| at + 1).collect();
                    pieces.push(Piece { pairs: numbers, ..piece("remove", removed) });
                    let left = set.iter().copied().filter(|&vertex| !gone.contains(vertex as usize)).collect();
                    work.push((*rest, depth, left));
                }
                Claim::Split { parts, alone } => {
                    if !alone.is_empty() {
                        pieces.push(piece("no-cycle", alone));
                    }
                    work.extend(parts.iter().rev().map(|(part, node)| (*node, depth + 1, part.clone())));
                }
            }
        }
        pieces
    }
}
