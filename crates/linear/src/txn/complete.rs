//! From dependencies that were inferred to an order of all versions, which shows that a level holds, or to the reason why there is none.
//!
//! What is open is which of two versions of a key is the older one. Take an order of the transactions along what is known and assumed so far, order versions
//! by it, and look for the cycles that the level excludes in the graph that has them all. If there is none, the level holds. Each one that is found says
//! that the assumptions it rests on are not all true: a clause. Choices that satisfy all clauses become the next assumptions; if there are none, no order of the versions is
//! without a cycle, and the cycles that were found say why. For the serializable levels the order of the transactions is replayed in the
//! end: every transaction on the state that those before it left.
//!
//! Deciding this is NP-complete for registers (Papadimitriou 1979; Biswas and Enea 2019 say where not). The choices are those of a polygraph, left
//! to a solver as in Tan, Zhao, Mu, Walfish 2020 (serializability) and Huang et al. 2023 (snapshot isolation); unlike there, a choice is made up only when a
//! cycle rests on it, so that histories in which order of time is right cost no more than a few walks over the graph. Work is bounded: see [`WORK`].

use rustc_hash::FxHashMap;

use super::graph::{ALL, APART, DEPENDENCIES, Edge, EdgeKind, Graph, KNOWN, Known, WW};
use super::guess;
use super::levels::Level;
use super::observe::{KeyOrder, Observed};
use super::{Micro, Outcome, Seen, Step, Transactions, Txn, TxnError};
use crate::history::Ts;
use crate::search::Budget;
use crate::search::sat::{Literal, Solved, Solver};
use crate::value::ValueId;

/// How many edges may be followed for one level, roughly. No level needs more than a walk over the graph if time tells the order of the versions.
pub const WORK: u64 = 2_000_000_000;

/// How many clauses are looked at for a small set of them that has no solution.
const SHOWN: usize = 2_000;

/// What came of looking for an order.
pub enum Ordered {
    /// There is one; for the serializable levels, of the transactions.
    Found(Option<Vec<u32>>),
    /// There is none: whatever the order of the versions, it has one of these cycles.
    Excluded(Vec<Vec<Step>>),
    /// Nobody knows.
    Open,
}

/// Looks for an order of all versions that shows a level; `guess` may say where each transaction stands in an order that is right in most places.
pub fn complete(
    history: &Transactions,
    observed: &Observed,
    level: Level,
    guess: Option<&[u32]>,
    budget: &Budget,
    late: &dyn Fn() -> bool,
) -> Result<Ordered, TxnError> {
    if observed.broken {
        return Ok(Ordered::Open);
    }
    let (along, excluded) = match level {
        Level::ReadUncommitted => (WW, WW),
        Level::ReadCommitted => (DEPENDENCIES, DEPENDENCIES),
        Level::SnapshotIsolation => (DEPENDENCIES, APART),
        Level::Serializable | Level::StrictSerializable => (ALL, ALL),
    };
    let known = Known::new(history, observed, level == Level::StrictSerializable);
    let mut choices = Choices { solver: Solver::new(budget), pairs: FxHashMap::default(), clauses: Vec::new() };
    let mut work = 0;
    while work < WORK && !late() {
        let mut more = choices.assumed(observed);
        let mut graph = Graph::new(&known, &more);
        let serial = level >= Level::Serializable;
        let order = match guess {
            None if serial => guess::order(&graph, observed),
            _ => graph.order(along, guess),
        };
        if let Some(order) = order {
            let places = places(history, &order);
            let assumed = more.len();
            completed(observed, &places, &mut more);
            let forward = |edge: &Edge| places[edge.from as usize] < places[edge.to as usize];
            if serial && more[assumed..].iter().all(forward) {
                return witness(history, observed, level, order).map(Ordered::Found);
            }
            graph = Graph::new(&known, &more);
            match excluded.apart {
                true if graph.is_acyclic(excluded) => return Ok(Ordered::Found(None)),
                true => {}
                false => {
                    if let Some(order) = graph.order(excluded, guess) {
                        return witness(history, observed, level, order).map(Ordered::Found);
                    }
                }
            }
        }
        let cycles = graph.conflicts(excluded, &mut work);
        work += 4 * graph.edges.len() as u64;
        for cycle in cycles {
            choices.exclude(&graph, &cycle);
        }
        match choices.solver.solve() {
            Solved::Satisfiable => {}
            Solved::Unsatisfiable => return Ok(Ordered::Excluded(choices.reason(budget, late))),
            Solved::Stopped(_) => break,
        }
    }
    Ok(Ordered::Open)
}

/// The order that shows a serializable level, after it was replayed.
pub(super) fn witness(
    history: &Transactions,
    observed: &Observed,
    level: Level,
    mut order: Vec<u32>,
) -> Result<Option<Vec<u32>>, TxnError> {
    if level < Level::Serializable {
        return Ok(None);
    }
    order.retain(|&txn| observed.included[txn as usize]);
    replay(history, &order, level == Level::StrictSerializable).map_err(TxnError::Internal)?;
    Ok(Some(order))
}

/// Which of two versions is older, where a cycle rests on it.
struct Choices {
    solver: Solver,
    /// A key and two transactions that wrote it, the lower number first: the first one that was taken to be older, and the variable that says it is the other.
    pairs: FxHashMap<(ValueId, u32, u32), (u32, Literal)>,
    /// What was excluded, with the cycle.
    clauses: Vec<(Vec<Literal>, Vec<Step>)>,
}

impl Choices {
    /// The literal that says that of two versions of a key this one is older.
    fn older(&mut self, key: ValueId, one: u32, two: u32) -> Literal {
        let solver = &mut self.solver;
        let pair = self.pairs.entry((key, one.min(two), one.max(two)));
        let (first, other) = *pair.or_insert_with(|| (one, solver.variable()));
        if first == one { !other } else { other }
    }

    /// Says that what a cycle rests on is not all true.
    fn exclude(&mut self, graph: &Graph, cycle: &[usize]) {
        let mut clause: Vec<Literal> = Vec::new();
        for &at in cycle {
            let Edge { to, key, by, .. } = graph.edges[at];
            if by != KNOWN {
                clause.push(!self.older(key, by, to));
            }
        }
        clause.sort_unstable();
        clause.dedup();
        self.solver.add(&clause);
        self.clauses.push((clause, graph.steps(cycle)));
    }

    /// The dependencies that the choices made give.
    fn assumed(&self, observed: &Observed) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (&(key, low, high), &(first, other)) in &self.pairs {
            let second = low ^ high ^ first;
            let (older, newer) = if self.solver.value(other) { (second, first) } else { (first, second) };
            let at = observed.keys.partition_point(|known| known.key < key);
            let known = &observed.keys[at];
            let edge =
                |from: u32, kind: EdgeKind| Edge { from, to: newer, kind, key, value: known.version(older), by: older };
            edges.push(edge(older, EdgeKind::Ww));
            let readers = known.readers(older).iter().filter(|(reader, _)| *reader != newer);
            edges.extend(readers.map(|(reader, _)| edge(*reader, EdgeKind::Rw)));
        }
        // So that answers do not depend on the order of a table.
        edges.sort_unstable_by_key(|edge| (edge.key, edge.by, edge.to, edge.from));
        edges
    }

    /// Some of the cycles that were found, enough of them to exclude every order; none can be spared, if there were not too many.
    fn reason(self, budget: &Budget, late: &dyn Fn() -> bool) -> Vec<Vec<Step>> {
        let enough = |clauses: &[&(Vec<Literal>, Vec<Step>)]| {
            let mut solver = Solver::new(budget);
            self.pairs.values().for_each(|_| _ = solver.variable());
            clauses.iter().for_each(|(clause, _)| solver.add(clause));
            solver.solve() == Solved::Unsatisfiable
        };
        let mut kept: Vec<&(Vec<Literal>, Vec<Step>)> = self.clauses.iter().collect();
        let mut size = if kept.len() > SHOWN { 0 } else { kept.len() / 2 };
        while size > 0 {
            let mut at = 0;
            while at < kept.len() && !late() {
                let end = (at + size).min(kept.len());
                let without: Vec<_> = kept[..at].iter().chain(&kept[end..]).copied().collect();
                if enough(&without) {
                    kept = without;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
        // That versions of a key cannot come in a circle goes without saying.
        let circle = |steps: &[Step]| steps.iter().all(|step| step.kind == EdgeKind::Ww && step.key == steps[0].key);
        kept.into_iter().map(|(_, steps)| steps.clone()).filter(|steps| !circle(steps)).collect()
    }
}

/// Where each transaction stands in an order.
pub(super) fn places(history: &Transactions, order: &[u32]) -> Vec<u32> {
    let mut places = vec![u32::MAX; history.txns.len()];
    for (place, &txn) in order.iter().enumerate() {
        places[txn as usize] = place as u32;
    }
    places
}

/// Adds the dependencies that there are if versions come in the order of the transactions.
fn completed(observed: &Observed, places: &[u32], edges: &mut Vec<Edge>) {
    let place = |txn: u32| places[txn as usize];
    for known in observed.keys.iter().filter(|known| known.rest.len() > 1) {
        let KeyOrder { key, reads, .. } = known;
        let mut writers = known.rest.clone();
        writers.sort_unstable_by_key(|(txn, _)| place(*txn));
        for pair in writers.windows(2) {
            let ((older, value), (newer, _)) = (pair[0], pair[1]);
            edges.push(Edge { from: older, to: newer, kind: EdgeKind::Ww, key: *key, value, by: older });
        }
        for &(reader, writer) in reads {
            let at = writers.partition_point(|(txn, _)| place(*txn) <= place(writer));
            if let Some(&(next, _)) = writers.get(at).filter(|(next, _)| *next != reader) {
                let value = writers[at - 1].1;
                edges.push(Edge { from: reader, to: next, kind: EdgeKind::Rw, key: *key, value, by: writer });
            }
        }
    }
}

/// Runs the transactions one after another and compares what they read; with real time, looks also at when they were called and returned.
fn replay(history: &Transactions, order: &[u32], realtime: bool) -> Result<(), String> {
    let mut state: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
    let (mut latest, mut count) = (Ts(0), 0);
    for &txn in order {
        let Txn { call, ret, outcome, .. } = history.txns[txn as usize];
        if realtime && ret < latest {
            return Err(format!("transaction {txn} returned before one was called that stands before it in the order"));
        }
        latest = latest.max(call);
        count += usize::from(outcome == Outcome::Committed);
        for micro in history.parts(txn) {
            match *micro {
                Micro::Write(key, value) => state.entry(key).or_default().push(value),
                Micro::Read(_, Seen::Unknown) => {}
                Micro::Read(key, seen) => {
                    let now = state.get(&key).map_or(&[][..], Vec::as_slice);
                    let fits = match seen {
                        Seen::List(from, to) => now == history.list((from, to)),
                        Seen::Value(value) => now.last().copied().unwrap_or(ValueId::NIL) == value,
                        Seen::Unknown => true,
                    };
                    if !fits {
                        return Err(format!("transaction {txn} reads something else at its place in the order"));
                    }
                }
            }
        }
    }
    let committed = history.txns.iter().filter(|txn| txn.outcome == Outcome::Committed).count();
    if count == committed { Ok(()) } else { Err("a transaction that committed is missing in the order".into()) }
}
