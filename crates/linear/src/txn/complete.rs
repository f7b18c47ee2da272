//! From dependencies that were inferred to an order of all versions, which shows that a level holds.
//!
//! For the serializable levels: transactions in an order along the dependencies. If some read of a register would see another version there, one more
//! edge says so, and once more; for lists that never happens. The order is replayed in the end: every transaction on the state that those before
//! it left. For weaker levels: versions in such an order of the writers, and then the cycles that the level excludes are looked for in the
//! graph that has them all.
//!
//! Finding the order for registers is NP-complete (Papadimitriou 1979); this is an attempt that may fail.

use rustc_hash::FxHashMap;

use super::graph::{Edge, EdgeKind, Graph};
use super::levels::{Level, Phenomenon};
use super::observe::Observed;
use super::{Micro, Outcome, Seen, Transactions, Txn, TxnError};
use crate::history::Ts;
use crate::value::ValueId;

/// How often an order is mended.
const ROUNDS: usize = 200;

/// An order in which the transactions could have run one after another, if one is found before it is late.
pub fn serial(
    history: &Transactions,
    observed: &Observed,
    realtime: bool,
    late: &dyn Fn() -> bool,
) -> Result<Option<Vec<u32>>, TxnError> {
    if observed.broken {
        return Ok(None);
    }
    let mut more: Vec<Edge> = Vec::new();
    for _ in (0..ROUNDS).take_while(|_| !late()) {
        let graph = Graph::with(history, observed, &more, realtime);
        let Some(mut order) = graph.order(true) else { return Ok(None) };
        order.retain(|&txn| observed.included[txn as usize]);
        let mended = contradictions(history, observed, &order);
        if mended.is_empty() {
            replay(history, &order, realtime).map_err(TxnError::Internal)?;
            return Ok(Some(order));
        }
        more.extend(mended);
    }
    Ok(None)
}

/// Where each transaction stands in an order.
fn places(history: &Transactions, order: &[u32]) -> Vec<u32> {
    let mut places = vec![u32::MAX; history.txns.len()];
    for (place, &txn) in order.iter().enumerate() {
        places[txn as usize] = place as u32;
    }
    places
}

/// Edges that keep writes of registers away from between a write and its read.
fn contradictions(history: &Transactions, observed: &Observed, order: &[u32]) -> Vec<Edge> {
    let places = places(history, order);
    let place = |txn: u32| places[txn as usize];
    let mut edges = Vec::new();
    for key in observed.keys.iter().filter(|key| !key.reads.is_empty()) {
        let mut writers = key.rest.clone();
        writers.sort_unstable_by_key(|&txn| place(txn));
        for &(reader, writer) in &key.reads {
            let before = writers.partition_point(|&txn| place(txn) < place(reader));
            let Some(&between) = before.checked_sub(1).map(|at| &writers[at]) else { continue };
            let Some(writer) = writer.filter(|&writer| writer != between) else { continue };
            let ret = |txn: u32| history.txns[txn as usize].ret;
            // Either the one between goes before the writer, or the reader before the one between.
            let (from, to) = if ret(between) <= ret(reader) && history.txns[between as usize].call < ret(writer) {
                (between, writer)
            } else {
                (reader, between)
            };
            edges.push(Edge { from, to, kind: EdgeKind::Ww, key: key.key, value: ValueId::NIL });
        }
    }
    edges
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

/// Whether some order of all versions shows a level below the serializable ones.
pub fn weak(history: &Transactions, observed: &Observed, level: Level) -> bool {
    let phenomenon = match level {
        Level::ReadUncommitted => Phenomenon::G0,
        Level::ReadCommitted => Phenomenon::G1c,
        Level::SnapshotIsolation => Phenomenon::GNonadjacent,
        Level::Serializable | Level::StrictSerializable => return false,
    };
    if observed.broken {
        return false;
    }
    let Some(order) = Graph::new(history, observed, false).order(false) else {
        // A cycle with `wr`: the versions can be ordered all the same for the weakest level, if they are known.
        return level == Level::ReadUncommitted && observed.keys.iter().all(|key| key.rest.len() < 2);
    };
    let places = places(history, &order);
    let mut more = Vec::new();
    for key in &observed.keys {
        let mut writers = key.rest.clone();
        writers.sort_unstable_by_key(|&txn| places[txn as usize]);
        let edge = |from: u32, to: u32, kind: EdgeKind| Edge { from, to, kind, key: key.key, value: ValueId::NIL };
        more.extend(writers.windows(2).map(|pair| edge(pair[0], pair[1], EdgeKind::Ww)));
        for &(reader, writer) in &key.reads {
            let next = match writer {
                None => writers.first(),
                Some(writer) => {
                    let at = writers.partition_point(|&txn| places[txn as usize] <= places[writer as usize]);
                    writers.get(at)
                }
            };
            more.extend(next.filter(|&&next| next != reader).map(|&next| edge(reader, next, EdgeKind::Rw)));
        }
    }
    Graph::with(history, observed, &more, false).is_acyclic(phenomenon)
}
