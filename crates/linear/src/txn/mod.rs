//! Histories of transactions: which isolation level do they show?
//!
//! A transaction is a list of reads and writes of several keys, as Elle's workloads write them: appends to lists (`[:append k v]`, `[:r k [1 2]]`) or writes to registers
//! (`[:w k v]`, `[:r k v]`). No value is written to a key twice, so every read names the transaction it read from.
//!
//! Adya 1999 defines levels by phenomena: reads of what was never committed, and cycles of dependencies. `ww`: the next version of a key; `wr`: a read from
//! a write; `rw`: a read of a version and the write of the next one. Alvaro and Kingsbury 2020 (Elle) infer these from what clients saw: a list tells the order of its versions; of
//! registers only reads before writes do. [`observe`] finds what is wrong without a graph and infers the dependencies, [`graph`] looks for cycles
//! in time linear in the history, [`levels`] says what is excluded where.
//!
//! Deviations. (1) That there is no anomaly in what was inferred is not enough for `holds`: an order of all versions is made up ([`complete`]) and the whole graph
//! is looked at again; for the serializable levels the order of the transactions is replayed. Of registers an order in real time is looked for first by running the transactions (`serial`): where there is one, nothing else need be asked. Where every order has a cycle that is the anomaly (`no-version-order`); where the search for one
//! comes to its bound the answer is `unknown`. Nothing is assumed about registers that the level does not say: not that the keys on their own are linearizable or sequential. (2) Versions of a list that nobody read come after all that were read, which gives more edges than Elle's.
//!
//! A transaction of which nobody knows the end is taken as committed if something of it was read, and as aborted else. That is right: if nobody read of it, leaving it out
//! changes nothing for the others.
//!
//! Cost: linear in the operations and in the elements of lists read, but for the search for short cycles and for orders of versions, which are bounded.

pub mod complete;
mod conflicts;
pub mod graph;
mod guess;
pub mod levels;
mod lists;
pub mod observe;
pub mod read;
mod serial;

use std::str::FromStr;
use std::time::Instant;

use crate::history::Ts;
use crate::search::Budget;
use crate::value::{ValueId, Values};
use complete::Ordered;
use graph::{EdgeKind, Graph, Known};
pub use levels::{Level, Phenomenon, Standing};
use serial::Serial;

/// What the transactions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Appends to lists and reads of whole lists.
    ListAppend,
    /// Writes to and reads of registers.
    RwRegister,
}

impl Workload {
    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Workload::ListAppend => "list-append",
            Workload::RwRegister => "rw-register",
        }
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(name: &str) -> Result<Workload, String> {
        let known = [Workload::ListAppend, Workload::RwRegister];
        let found = known.into_iter().find(|workload| workload.name() == name);
        found.ok_or_else(|| format!("unknown workload `{name}`; known are list-append and rw-register"))
    }
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It took effect.
    Committed,
    /// It had none.
    Aborted,
    /// Nobody knows.
    Unknown,
}

/// What a read saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nobody knows.
    Unknown,
    /// This value of a register; nothing is [`ValueId::NIL`].
    Value(ValueId),
    /// These elements of a list: a piece of [`Transactions::elements`].
    List(u32, u32),
}

/// A part of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Micro {
    /// A write to a register or an append to a list: key and value.
    Write(ValueId, ValueId),
    /// A read of a key.
    Read(ValueId, Seen),
}

/// A transaction.
#[derive(Clone, Copy, Debug)]
pub struct Txn {
    /// Who ran it.
    pub process: ValueId,
    /// How it ended.
    pub outcome: Outcome,
    /// When it was called.
    pub call: Ts,
    /// When it ended, [`Ts::INF`] if nobody knows.
    pub ret: Ts,
    /// The line of its call.
    pub call_line: u32,
    /// The line of its end, 0 if there is none.
    pub ret_line: u32,
    /// Its parts: a piece of [`Transactions::micros`].
    pub parts: (u32, u32),
}

/// A history of transactions, in the order of their calls.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    /// The transactions.
    pub txns: Vec<Txn>,
    /// Their parts.
    pub micros: Vec<Micro>,
    /// The elements of lists that were read.
    pub elements: Vec<ValueId>,
    /// The values.
    pub values: Values,
    /// How many events there are.
    pub events: u32,
}

impl Transactions {
    /// The parts of a transaction.
    pub fn parts(&self, txn: u32) -> &[Micro] {
        let (from, to) = self.txns[txn as usize].parts;
        &self.micros[from as usize..to as usize]
    }

    /// The elements of a list that was read.
    pub fn list(&self, (from, to): (u32, u32)) -> &[ValueId] {
        &self.elements[from as usize..to as usize]
    }
}

/// One dependency of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transaction it leads from.
    pub from: u32,
    /// The transaction it leads to.
    pub to: u32,
    /// What it is.
    pub kind: EdgeKind,
    /// The key; nothing for real time.
    pub key: ValueId,
    /// The version that is overwritten, or was read; nothing for the first one.
    pub value: ValueId,
}

/// Something that some level excludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// What it is.
    pub phenomenon: Phenomenon,
    /// Whether it needs real time.
    pub realtime: bool,
    /// The transactions.
    pub txns: Vec<u32>,
    /// The key and the value it is about; nothing for cycles.
    pub key: ValueId,
    /// The value.
    pub value: ValueId,
    /// The cycle, if it is one.
    pub cycle: Vec<Step>,
    /// If no order of the versions is without a cycle: cycles of which each order has one in which no transaction reads a version of a key and writes an older one.
    pub cases: Vec<Vec<Step>>,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The anomalies; of each kind of cycle one, of others a few.
    pub anomalies: Vec<Anomaly>,
    /// Each level, from the weakest.
    pub levels: Vec<(Level, Standing)>,
    /// An order in which the transactions could have run one after another, if there is one; it respects real time if the strict level holds.
    pub order: Option<Vec<u32>>,
    /// How many dependencies were inferred.
    pub edges: usize,
    /// Whether it was time to stop before everything had been tried.
    pub stopped: bool,
}

impl Checked {
    /// What is known if it was time to stop before anything had been looked at.
    pub fn open() -> Checked {
        let levels = Level::ALL.map(|level| (level, Standing::Open)).to_vec();
        Checked { anomalies: Vec::new(), levels, order: None, edges: 0, stopped: true }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TxnError {
    /// The history is not one of this workload.
    #[error("{0}")]
    Unsupported(String),
    /// An order did not survive being replayed. This is a fault of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Checks a history of transactions; what is found after the deadline is left out.
pub fn check(history: &Transactions, workload: Workload, deadline: Option<Instant>) -> Result<Checked, TxnError> {
    let late = || deadline.is_some_and(|end| Instant::now() >= end);
    let observed = observe::observe(history, workload)?;
    let mut anomalies = observed.anomalies.clone();
    let serial = match workload {
        Workload::RwRegister if !observed.broken => serial::order(history, &observed, &late),
        _ => None,
    };
    if let Some(Serial { order, fits: true }) = &serial
        && anomalies.is_empty()
    {
        let order = complete::witness(history, &observed, Level::StrictSerializable, order.clone())?;
        let levels = Level::ALL.map(|level| (level, Standing::Holds)).to_vec();
        return Ok(Checked { anomalies, levels, order, edges: observed.edges.len(), stopped: false });
    }
    let guess = serial.map(|serial| complete::places(history, &serial.order));
    let strict = Known::new(history, &observed, true);
    let graph = Graph::new(&strict, &[]);
    if !late() && graph.topological().is_none() {
        anomalies.extend(Graph::new(&Known::new(history, &observed, false), &[]).anomalies());
        let realtime = if late() { Vec::new() } else { graph.anomalies() };
        for found in realtime {
            // What needs no real time has been found already.
            if found.realtime && !anomalies.iter().any(|other| !other.realtime && other.phenomenon == found.phenomenon)
            {
                anomalies.push(found);
            }
        }
    }
    drop((graph, strict));
    let budget = Budget { deadline, ..Budget::default() };
    let mut order = None;
    let mut levels: Vec<(Level, Standing)> = Vec::new();
    // From the strongest: what holds there holds below.
    for level in Level::ALL.into_iter().rev() {
        let mut standing = levels::standing(level, &anomalies);
        if levels.last().is_some_and(|(_, above)| *above == Standing::Holds) {
            standing = Standing::Holds;
        } else if standing == Standing::Open {
            match complete::complete(history, &observed, level, guess.as_deref(), &budget, &late)? {
                Ordered::Found(found) => (standing, order) = (Standing::Holds, found),
                Ordered::Excluded(cycles) => anomalies.push(graph::no_order(level, cycles)),
                Ordered::Open => {}
            }
        }
        levels.push((level, standing));
    }
    levels.reverse();
    // What was found about a level counts for those above it.
    for (level, standing) in levels.iter_mut().filter(|(_, standing)| *standing == Standing::Open) {
        *standing = levels::standing(*level, &anomalies);
    }
    Ok(Checked { anomalies, levels, order, edges: observed.edges.len(), stopped: late() })
}
