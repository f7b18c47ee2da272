//! Registers and maps below linearizability: the strongest level that a history still has.
//!
//! | level | one order, or one for each process, of | that respects | source |
//! |---|---|---|---|
//! | linearizable | all operations | real time | Herlihy, Wing 1990 |
//! | sequential | all operations | the order of each process | Lamport 1979 |
//! | causal memory | for each process all writes and its reads | causality | Ahamad and others 1995 |
//! | causal convergence | all writes are settled in one order | causality | Burckhardt 2014 |
//! | release-acquire | the writes of each key are settled in one order | causality | Lahav, Giannarakis, Vafeiadis 2016 |
//! | causal | for each read its past | causality | Bouajjani, Enea, Guerraoui, Hamza 2017 |
//! | pram | for each process all writes and its reads | the order of each process | Lipton, Sandberg 1988 |
//! | eventual | nothing is read that nobody wrote | | |
//!
//! Causality is the order of each process and from each write to the reads of it. Of eventual consistency a history that ends can show no more than that.
//!
//! A write of which nobody knows when it ended took effect at any time after its call, or never: it comes after what its process did before, and not before what it did later.
//!
//! No value may be written to a key twice; then who read from whom is known, and all levels but sequential consistency are decided by patterns that must not occur
//! (Bouajjani and others 2017, section 4): below causality as it is, and, for each process, below the order that its reads force: if a write of the key
//! is before a read, it is before the write that was read. For PRAM the same with the order of processes in place of causality; the proof carries over, because all that
//! it needs is that the reads concerned follow each other in one process. Sequential consistency is NP-complete even so (Gibbons and Korach 1997): `sequential`
//! puts it to the verifiers of traces.
//!
//! To memory models these are old acquaintances: causal is WRA, release-acquire is RA, causal convergence is strong release-acquire (SRA), as the tests see for themselves with the
//! verifiers of [`raddle_consistency`]. [`observe`] makes the trace that they and all other models can be asked about.
//!
//! Cost: operations times processes, times the rounds until nothing more is forced, for each process (PRAM, causal memory).

mod observe;
mod order;
mod per_key;
mod sequential;

pub use observe::{Observed, observe};

use rustc_hash::FxHashMap;

use crate::check::{CheckError, Config, check};
use crate::history::{History, Method, OpId};
use crate::object::ObjectKind;
use crate::search::Budget;
use crate::value::{Value, ValueId};
use crate::verdict::Verdict;
use order::Order;

/// A level, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// One order that respects real time.
    Linearizable,
    /// One order that respects the order of each process.
    Sequential,
    /// For each process an order that respects causality.
    CausalMemory,
    /// Causal, and writes that nothing orders are settled the same way for all.
    CausalConvergence,
    /// Causal, and the writes of each key that nothing orders are settled the same way for all.
    ReleaseAcquire,
    /// Each read is explained by its past.
    Causal,
    /// For each process an order that respects the order of each process.
    Pram,
    /// What is read was written.
    Eventual,
}

impl Level {
    /// All levels. Each implies those after it, but that causal memory implies neither causal convergence nor release-acquire, that causal convergence does not imply
    /// causal memory, and that PRAM is implied by causal memory and what is above it only.
    pub const ALL: [Level; 8] = [
        Level::Linearizable,
        Level::Sequential,
        Level::CausalMemory,
        Level::CausalConvergence,
        Level::ReleaseAcquire,
        Level::Causal,
        Level::Pram,
        Level::Eventual,
    ];

    /// The name people read.
    pub fn name(self) -> &'static str {
        match self {
            Level::Linearizable => "linearizable",
            Level::Sequential => "sequential",
            Level::CausalMemory => "causal-memory",
            Level::CausalConvergence => "causal-convergence",
            Level::ReleaseAcquire => "release-acquire",
            Level::Causal => "causal",
            Level::Pram => "pram",
            Level::Eventual => "eventual",
        }
    }
}

/// Why a level does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// This read returned a value that nobody wrote.
    Unwritten(OpId),
    /// Each of these comes before the next and the last before the first.
    Cycle(Vec<OpId>),
    /// The read returned what the first write wrote (or the value at the beginning, if there is none), and the second write is between them.
    Overwritten {
        /// The write that was read.
        write: Option<OpId>,
        /// The write between.
        between: OpId,
        /// The read.
        read: OpId,
    },
    /// The operations that a violation of linearizability is about.
    NotLinearizable(Vec<OpId>),
    /// There is no one order; operations that have none, if they are known.
    NoOrder(Vec<OpId>),
}

/// How a history stands to a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has it.
    Holds,
    /// It does not.
    Violated(Why),
    /// Nobody knows; why.
    Unknown(String),
}

/// An operation as it counts here.
#[derive(Clone, Copy, Debug)]
struct Act {
    id: OpId,
    key: ValueId,
    /// What it wrote or read; nothing is the value at the beginning.
    value: ValueId,
    writes: bool,
}

/// What was read and written.
struct Acts {
    acts: Vec<Act>,
    processes: Vec<Vec<u32>>,
    /// The write that each read read.
    source: Vec<Option<u32>>,
    /// For a write that stands alone because nobody knows when it took effect: what its process did last before it.
    after: Vec<(u32, u32)>,
    /// The writes of each key in each process, in order.
    writes: FxHashMap<(ValueId, u32), Vec<u32>>,
}

/// Checks every level.
///
/// # Errors
/// If there are operations other than reads and writes, or values repeat.
pub fn levels(history: &History, config: &Config) -> Result<Vec<(Level, Standing)>, CheckError> {
    let report = check(history, config)?;
    below(report.verdict, history, config)
}

/// Checks every level of a log that says nothing of real time.
///
/// # Errors
/// If there are operations other than reads and writes, or values repeat.
pub fn levels_without_time(history: &History, config: &Config) -> Result<Vec<(Level, Standing)>, CheckError> {
    let why = "lines without a type do not say which operations were open at the same time";
    below(Verdict::Unknown(why.into()), history, config)
}

fn below(verdict: Verdict, history: &History, config: &Config) -> Result<Vec<(Level, Standing)>, CheckError> {
    let linearizable = match verdict {
        Verdict::Holds(_) => Standing::Holds,
        Verdict::Violated(explanation) => Standing::Violated(Why::NotLinearizable(explanation.ops)),
        Verdict::Unknown(why) => Standing::Unknown(why),
    };
    let strongest = linearizable == Standing::Holds;
    let mut levels = vec![(Level::Linearizable, linearizable)];
    let acts = Acts::new(history, config)?;
    for level in Level::ALL.into_iter().skip(1) {
        let standing = if strongest { Standing::Holds } else { acts.standing(level, &config.budget) };
        levels.push((level, standing));
    }
    // Without one order that explains every read there is none in real time either.
    if matches!(levels[0].1, Standing::Unknown(_)) && matches!(levels[1].1, Standing::Violated(_)) {
        levels[0].1 = levels[1].1.clone();
    }
    Ok(levels)
}

impl Acts {
    fn new(history: &History, config: &Config) -> Result<Acts, CheckError> {
        if !matches!(config.kind, ObjectKind::Register | ObjectKind::Map) {
            let message = format!("levels are known of registers and maps; this is a {}", config.kind);
            return Err(CheckError::Unsupported(message));
        }
        let initial =
            if config.initial == Value::Nil { Some(ValueId::NIL) } else { history.values.find(&config.initial) };
        // The value at the beginning is `NIL` from here on; if that is another one, nothing is a value like others.
        let known = |value: ValueId| match value {
            value if Some(value) == initial => ValueId::NIL,
            ValueId::NIL => ValueId(u32::MAX),
            value => value,
        };
        let mut written: FxHashMap<(ValueId, ValueId), OpId> = FxHashMap::default();
        let mut read: rustc_hash::FxHashSet<(ValueId, ValueId)> = rustc_hash::FxHashSet::default();
        for (id, op) in history.iter() {
            match op.method {
                Method::Write => {
                    let value = known(op.arg);
                    let other = written.insert((op.place, value), id);
                    if let Some(line) = other.map(|other| history.op(other).call_line) {
                        return Err(CheckError::Unsupported(format!(
                            "{} is written twice (lines {line} and {}); for levels the values of a key must all be different",
                            history.value(op.arg),
                            op.call_line
                        )));
                    }
                    if value == ValueId::NIL {
                        let message = "the value at the beginning is written again; for levels the values of a key must all be different";
                        return Err(CheckError::Unsupported(message.into()));
                    }
                }
                Method::Read => read.extend(op.result.map(|result| (op.place, known(result)))),
                _ => return Err(CheckError::Unsupported("levels are known of reads and writes only".into())),
            }
        }
        let mut acts = Acts {
            acts: Vec::new(),
            processes: Vec::new(),
            source: Vec::new(),
            after: Vec::new(),
            writes: FxHashMap::default(),
        };
        let mut numbers: FxHashMap<ValueId, u32> = FxHashMap::default();
        let mut last: FxHashMap<ValueId, OpId> = FxHashMap::default();
        history.iter().for_each(|(id, op)| _ = last.insert(op.process, id));
        for (id, op) in history.iter() {
            let writes = op.method == Method::Write;
            let value = match op.result {
                _ if writes => known(op.arg),
                Some(result) => known(result),
                None => continue,
            };
            // A write that never returned and that nobody read need not have happened.
            if writes && op.is_pending() && !read.contains(&(op.place, value)) {
                continue;
            }
            let next = acts.processes.len() as u32;
            let number = acts.acts.len() as u32;
            let process = if op.is_pending() && last.get(&op.process) != Some(&id) {
                // It may have taken effect after what its process did later.
                let before = numbers.get(&op.process).and_then(|&own| acts.processes[own as usize].last());
                acts.after.extend(before.map(|&before| (before, number)));
                next
            } else {
                *numbers.entry(op.process).or_insert(next)
            };
            if process == next {
                acts.processes.push(Vec::new());
            }
            acts.acts.push(Act { id, key: op.place, value, writes });
            acts.processes[process as usize].push(number);
            if writes {
                acts.writes.entry((op.place, process)).or_default().push(number);
            }
        }
        let by_value: FxHashMap<(ValueId, ValueId), u32> = (0u32..)
            .zip(&acts.acts)
            .filter(|(_, act)| act.writes)
            .map(|(number, act)| ((act.key, act.value), number))
            .collect();
        acts.source =
            acts.acts.iter().map(|act| by_value.get(&(act.key, act.value)).copied().filter(|_| !act.writes)).collect();
        Ok(acts)
    }

    fn id(&self, act: u32) -> OpId {
        self.acts[act as usize].id
    }

    fn ids(&self, acts: &[u32]) -> Vec<OpId> {
        acts.iter().map(|&act| self.id(act)).collect()
    }

    fn reads(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.acts).filter(|(_, act)| !act.writes).map(|(number, _)| number)
    }

    /// A read that returned what nobody wrote.
    fn unwritten(&self) -> Option<u32> {
        self.reads()
            .find(|&read| self.source[read as usize].is_none() && self.acts[read as usize].value != ValueId::NIL)
    }

    fn standing(&self, level: Level, budget: &Budget) -> Standing {
        if let Some(read) = self.unwritten() {
            return Standing::Violated(Why::Unwritten(self.id(read)));
        }
        if (self.acts.len() as u64).saturating_mul(4 * self.processes.len() as u64) > budget.bytes {
            return Standing::Unknown("the memory limit was reached".into());
        }
        let found = match level {
            Level::Eventual => None,
            Level::Linearizable | Level::Sequential => return self.sequential(budget),
            Level::Causal => self.causal().err(),
            Level::CausalConvergence => self.convergent().err(),
            Level::ReleaseAcquire => self.settled_by_key().err(),
            Level::CausalMemory => self.causal().and_then(|order| self.for_each_process(&order)).err(),
            Level::Pram => self.for_each_process(&self.in_order()).err(),
        };
        found.map_or(Standing::Holds, Standing::Violated)
    }

    /// The order of each process.
    fn in_order(&self) -> Order {
        let mut order = Order::new(self.processes.clone(), self.acts.len());
        self.after.iter().for_each(|&(before, write)| order.add(before, write));
        order
    }

    /// Causality.
    fn causality(&self) -> Result<Order, Why> {
        let mut order = self.in_order();
        for read in self.reads() {
            if let Some(write) = self.source[read as usize] {
                order.add(write, read);
            }
        }
        order.settle().map_err(|cycle| Why::Cycle(self.ids(&cycle)))?;
        Ok(order)
    }

    /// The last write of the key of an operation in each process that is before it, but for the one that it read, and for itself.
    fn before(&self, order: &Order, read: u32) -> Vec<u32> {
        let key = self.acts[read as usize].key;
        let own = Some(read).filter(|&act| self.acts[act as usize].writes).or(self.source[read as usize]);
        let last = |process: usize| {
            let writes = self.writes.get(&(key, process as u32))?;
            let past = order.past(read, process);
            let count = writes.partition_point(|&write| order.place[write as usize].1 < past);
            writes[..count].iter().rev().copied().find(|&write| Some(write) != own)
        };
        (0..self.processes.len()).filter_map(last).collect()
    }

    /// Whether a read of the beginning has a write before it.
    fn first_overwritten(&self, order: &Order, read: u32) -> Option<Why> {
        let first = self.source[read as usize].is_none();
        let between = self.before(order, read).first().copied().filter(|_| first)?;
        Some(Why::Overwritten { write: None, between: self.id(between), read: self.id(read) })
    }

    /// Causal consistency: nothing that was read had been overwritten in the past of the read.
    fn causal(&self) -> Result<Order, Why> {
        let order = self.causality()?;
        for read in self.reads() {
            if let Some(why) = self.first_overwritten(&order, read) {
                return Err(why);
            }
            let Some(write) = self.source[read as usize] else { continue };
            if let Some(&between) = self.before(&order, read).iter().find(|&&other| order.before(write, other)) {
                let (write, between, read) = (Some(self.id(write)), self.id(between), self.id(read));
                return Err(Why::Overwritten { write, between, read });
            }
        }
        Ok(order)
    }

    /// Causal convergence: what is in the past of a read comes before what it read, for all.
    fn convergent(&self) -> Result<(), Why> {
        let order = self.causal()?;
        let mut settled = order.clone();
        for read in self.reads() {
            if let Some(write) = self.source[read as usize] {
                self.before(&order, read).into_iter().for_each(|other| settled.add(other, write));
            }
        }
        settled.settle().map_err(|cycle| Why::Cycle(self.ids(&cycle)))
    }

    /// Whether each process can explain its reads in an order of all writes that extends this one.
    fn for_each_process(&self, common: &Order) -> Result<(), Why> {
        for process in &self.processes {
            let reads: Vec<u32> = process.iter().copied().filter(|&act| !self.acts[act as usize].writes).collect();
            if reads.is_empty() {
                continue;
            }
            let mut order = common.clone();
            reads.iter().for_each(|&read| {
                if let Some(write) = self.source[read as usize] {
                    order.add(write, read);
                }
            });
            self.force(&mut order, &reads)?;
            if let Some(why) = reads.iter().find_map(|&read| self.first_overwritten(&order, read)) {
                return Err(why);
            }
        }
        Ok(())
    }

    /// Closes an order under what these reads force: a write of the key that is before the read is before the write it read.
    fn force(&self, order: &mut Order, reads: &[u32]) -> Result<(), Why> {
        let cyclic = |cycle: Vec<u32>| Why::Cycle(self.ids(&cycle));
        order.settle().map_err(cyclic)?;
        loop {
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for &read in reads {
                if let Some(write) = self.source[read as usize] {
                    let before = self.before(order, read);
                    edges.extend(
                        before.into_iter().filter(|&other| !order.before(other, write)).map(|other| (other, write)),
                    );
                }
            }
            if edges.is_empty() {
                return Ok(());
            }
            edges.into_iter().for_each(|(from, to)| order.add(from, to));
            order.settle().map_err(cyclic)?;
        }
    }
}
