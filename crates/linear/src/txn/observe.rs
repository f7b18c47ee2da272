//! What clients saw: anomalies that need no graph, and the dependencies that can be inferred.
//!
//! Of a list the longest read tells the order of its versions; what was appended and never read comes after them, in an order that is open. Of a register
//! it is known that the first version comes before all others, and that what a transaction read comes before what it then wrote (else there is a
//! cycle that read committed excludes).

use rustc_hash::FxHashMap;

use super::graph::{Edge, EdgeKind, KNOWN};
use super::levels::Phenomenon;
use super::{Anomaly, Micro, Outcome, Seen, Transactions, TxnError, Workload};
use crate::value::ValueId;

/// How many anomalies of one kind are kept.
const KEPT: usize = 8;

/// What is known of a key and still open.
#[derive(Clone, Debug)]
pub struct KeyOrder {
    /// The key.
    pub key: ValueId,
    /// The transactions that wrote it and whose order is open, by number, each with what it wrote last.
    pub rest: Vec<(u32, ValueId)>,
    /// Who read a version of a register, and who wrote it, by the writers' numbers. Not the first version: what is read there comes before everything.
    pub reads: Vec<(u32, u32)>,
}

impl KeyOrder {
    /// What a transaction whose order is open wrote last.
    pub fn version(&self, writer: u32) -> ValueId {
        self.rest.binary_search_by_key(&writer, |(txn, _)| *txn).map_or(ValueId::NIL, |at| self.rest[at].1)
    }

    /// The reads of what a transaction wrote.
    pub fn readers(&self, writer: u32) -> &[(u32, u32)] {
        let from = self.reads.partition_point(|(_, known)| *known < writer);
        let count = self.reads[from..].partition_point(|(_, known)| *known == writer);
        &self.reads[from..from + count]
    }
}

/// Of each transaction the last write.
fn last_of_each(writes: impl Iterator<Item = (u32, ValueId)>) -> Vec<(u32, ValueId)> {
    let mut last: Vec<(u32, ValueId)> = Vec::new();
    for (txn, value) in writes {
        match last.last_mut().filter(|(before, _)| *before == txn) {
            Some(before) => before.1 = value,
            None => last.push((txn, value)),
        }
    }
    last
}

/// What was inferred.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Which transactions count as committed.
    pub included: Vec<bool>,
    /// The dependencies.
    pub edges: Vec<Edge>,
    /// How many nodes they are between: the transactions, and gates.
    pub nodes: u32,
    /// The anomalies.
    pub anomalies: Vec<Anomaly>,
    /// Whether something was read that tells nothing about versions, so that no order of them can be made up.
    pub broken: bool,
    /// The keys.
    pub keys: Vec<KeyOrder>,
}

/// A write.
#[derive(Clone, Copy)]
struct Write {
    txn: u32,
    /// Whether it is the last one of its transaction to the key.
    last: bool,
    /// Whether some transaction that committed read it.
    read: bool,
}

/// A read of what others had written.
#[derive(Clone, Copy)]
struct External {
    key: ValueId,
    txn: u32,
    /// What it saw; of a list without the elements at its end that the transaction itself had appended.
    seen: Seen,
    /// How many these are.
    own: u32,
    /// Whether the transaction writes the key too, after this read or, to a list, before it.
    writes: bool,
}

struct Observer<'a> {
    history: &'a Transactions,
    writes: FxHashMap<(ValueId, ValueId), Write>,
    found: Observed,
    counts: FxHashMap<Phenomenon, usize>,
}

/// Infers what can be inferred.
pub fn observe(history: &Transactions, workload: Workload) -> Result<Observed, TxnError> {
    let included = history.txns.iter().map(|txn| txn.outcome == Outcome::Committed).collect();
    let found = Observed { included, nodes: history.txns.len() as u32, ..Observed::default() };
    let writes = writes(history)?;
    let mut observer = Observer { history, writes, found, counts: FxHashMap::default() };
    let mut reads = observer.externals(workload);
    // Reads of a key stand together, in the order of the keys' numbers.
    reads.sort_by_key(|read| read.key);
    observer.look_up(&reads);
    let written = observer.written();
    let mut at = 0;
    for (key, writers) in written {
        let from = at + reads[at..].partition_point(|read| read.key < key);
        at = from + reads[from..].partition_point(|read| read.key == key);
        match workload {
            Workload::ListAppend => observer.list(key, &reads[from..at], writers),
            Workload::RwRegister => observer.register(key, &reads[from..at], last_of_each(writers.into_iter())),
        }
    }
    Ok(observer.found)
}

/// Who wrote what.
fn writes(history: &Transactions) -> Result<FxHashMap<(ValueId, ValueId), Write>, TxnError> {
    let mut writes: FxHashMap<(ValueId, ValueId), Write> = FxHashMap::default();
    let mut last: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for (number, txn) in history.txns.iter().enumerate() {
        last.clear();
        for micro in history.parts(number as u32) {
            let Micro::Write(key, value) = *micro else { continue };
            let write = Write { txn: number as u32, last: true, read: false };
            if let Some(other) = writes.insert((key, value), write) {
                return Err(TxnError::Unsupported(format!(
                    "{} is written to key {} twice (lines {} and {}); values of a key must all be different",
                    history.values.get(value),
                    history.values.get(key),
                    history.txns[other.txn as usize].call_line,
                    txn.call_line
                )));
            }
            if let Some(before) = last.insert(key, value)
                && let Some(write) = writes.get_mut(&(key, before))
            {
                write.last = false;
            }
        }
    }
    Ok(writes)
}

impl Observer<'_> {
    fn report(&mut self, phenomenon: Phenomenon, txns: &[u32], key: ValueId, value: ValueId) {
        let count = self.counts.entry(phenomenon).or_default();
        *count += 1;
        if *count <= KEPT {
            let (txns, cycle, cases) = (txns.to_vec(), Vec::new(), Vec::new());
            self.found.anomalies.push(Anomaly { phenomenon, realtime: false, txns, key, value, cycle, cases });
        }
    }

    fn edge(&mut self, from: u32, to: u32, kind: EdgeKind, key: ValueId, value: ValueId) {
        if from != to {
            self.found.edges.push(Edge { from, to, kind, key, value, by: KNOWN });
        }
    }

    /// What transactions that committed read of others; reports reads that contradict their own transaction.
    fn externals(&mut self, workload: Workload) -> Vec<External> {
        let mut externals = Vec::new();
        // Of each key of a transaction: what was read or written last, and for lists the appends.
        let mut known: FxHashMap<ValueId, (Option<Seen>, Vec<ValueId>)> = FxHashMap::default();
        for txn in 0..self.history.txns.len() as u32 {
            if self.history.txns[txn as usize].outcome != Outcome::Committed {
                continue;
            }
            known.clear();
            let first = externals.len();
            for micro in self.history.parts(txn) {
                match *micro {
                    Micro::Write(key, value) => {
                        let (state, own) = known.entry(key).or_default();
                        own.push(value);
                        if workload == Workload::RwRegister {
                            *state = Some(Seen::Value(value));
                        }
                        let before = externals[first..].iter_mut().filter(|read: &&mut External| read.key == key);
                        before.for_each(|read| read.writes = true);
                    }
                    Micro::Read(key, seen) => self.external(txn, key, seen, &mut known, &mut externals),
                }
            }
        }
        externals
    }

    fn external(
        &mut self,
        txn: u32,
        key: ValueId,
        seen: Seen,
        known: &mut FxHashMap<ValueId, (Option<Seen>, Vec<ValueId>)>,
        externals: &mut Vec<External>,
    ) {
        let (state, own) = known.entry(key).or_default();
        let count = own.len() as u32;
        let (base, own) = match seen {
            Seen::Unknown => return,
            Seen::Value(_) => (seen, 0),
            Seen::List(from, to) => {
                let list = self.history.list((from, to));
                if !list.ends_with(own) {
                    self.found.broken = true;
                    return self.report(Phenomenon::Internal, &[txn], key, ValueId::NIL);
                }
                (Seen::List(from, to - count), count)
            }
        };
        let same = |other: Seen| match (other, base) {
            (Seen::List(a, b), Seen::List(c, d)) => self.history.list((a, b)) == self.history.list((c, d)),
            (one, two) => one == two,
        };
        match *state {
            Some(before) if same(before) => return,
            Some(_) => self.report(Phenomenon::Internal, &[txn], key, ValueId::NIL),
            None => {}
        }
        *state = Some(base);
        externals.push(External { key, txn, seen: base, own, writes: own > 0 });
    }

    /// Looks up who wrote what was read: marks it, and reports what should not have been read.
    fn look_up(&mut self, reads: &[External]) {
        let mut longest: FxHashMap<ValueId, u32> = FxHashMap::default();
        for read in reads {
            let values = match read.seen {
                Seen::Value(ValueId::NIL) | Seen::Unknown => continue,
                Seen::Value(value) => vec![value],
                // Most elements have been looked up with another list. If it began otherwise, that is an anomaly of its own.
                Seen::List(from, to) => {
                    let seen = longest.entry(read.key).or_insert(0);
                    let list = self.history.list((from, to));
                    let known = (*seen as usize).min(list.len().saturating_sub(1));
                    *seen = (*seen).max(list.len() as u32);
                    list[known..].to_vec()
                }
            };
            let count = values.len();
            for (at, value) in values.into_iter().enumerate() {
                self.look_up_one(read, value, at + 1 == count);
            }
        }
    }

    fn look_up_one(&mut self, read: &External, value: ValueId, end: bool) {
        let Some(write) = self.writes.get_mut(&(read.key, value)) else {
            self.found.broken = true;
            return self.report(Phenomenon::Unwritten, &[read.txn], read.key, value);
        };
        let first = !write.read;
        write.read = true;
        let Write { txn, last, .. } = *write;
        match self.history.txns[txn as usize].outcome {
            Outcome::Aborted if first || end => self.report(Phenomenon::G1a, &[txn, read.txn], read.key, value),
            Outcome::Unknown => self.found.included[txn as usize] = true,
            _ => {}
        }
        // Its own writes were taken off before, so this one came later or had been overwritten.
        if txn == read.txn && (first || end) {
            self.report(Phenomenon::Internal, &[txn], read.key, value);
        }
        if end && !last && txn != read.txn {
            self.report(Phenomenon::G1b, &[txn, read.txn], read.key, value);
        }
    }

    /// The keys in order, each with the transactions that count and wrote it, and what they wrote.
    fn written(&self) -> Vec<(ValueId, Vec<(u32, ValueId)>)> {
        let mut all: Vec<(ValueId, u32, ValueId)> = Vec::new();
        for txn in 0..self.history.txns.len() as u32 {
            for micro in self.history.parts(txn) {
                match *micro {
                    Micro::Write(key, value) if self.found.included[txn as usize] => all.push((key, txn, value)),
                    // A key that nobody wrote is read all the same.
                    Micro::Read(..) | Micro::Write(..) => {}
                }
            }
        }
        all.sort_by_key(|(key, txn, _)| (*key, *txn));
        all.chunk_by(|one, two| one.0 == two.0)
            .map(|chunk| (chunk[0].0, chunk.iter().map(|(_, txn, value)| (*txn, *value)).collect()))
            .collect()
    }

    /// The dependencies through a list.
    fn list(&mut self, key: ValueId, reads: &[External], writes: Vec<(u32, ValueId)>) {
        let elements = |read: &External| match read.seen {
            Seen::List(from, to) => self.history.list((from, to + read.own)),
            _ => &[],
        };
        let longest = reads.iter().max_by_key(|read| elements(read).len());
        let spine: Vec<ValueId> = longest.map_or(Vec::new(), |read| elements(read).to_vec());
        let mut sorted = spine.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let reader = longest.map_or(0, |read| read.txn);
            self.found.broken = true;
            return self.report(Phenomenon::Duplicate, &[reader], key, pair[0]);
        }
        let other = reads.iter().find(|read| !spine.starts_with(elements(read)));
        if let (Some(one), Some(two)) = (longest, other) {
            let (one, two) = (one.txn, two.txn);
            self.found.broken = true;
            return self.report(Phenomenon::Incompatible, &[one, two], key, ValueId::NIL);
        }
        // Who wrote each element, if that counts.
        let writer = |value: ValueId| self.writes.get(&(key, value)).map(|write| write.txn);
        let counts = |txn: &u32| self.found.included[*txn as usize];
        let writers: Vec<Option<u32>> = spine.iter().map(|&value| writer(value).filter(counts)).collect();
        let open = writes.iter().filter(|(_, value)| sorted.binary_search(value).is_err());
        let rest = last_of_each(open.copied());
        let mut before: Option<(u32, ValueId)> = None;
        for (at, txn) in writers.iter().enumerate() {
            let Some(txn) = *txn else { continue };
            if let Some((from, value)) = before {
                self.edge(from, txn, EdgeKind::Ww, key, value);
            }
            before = Some((txn, spine[at]));
        }
        if let Some((from, value)) = before {
            rest.iter().for_each(|(txn, _)| self.edge(from, *txn, EdgeKind::Ww, key, value));
        }
        // The next element that counts, from each place on.
        let mut next: Vec<Option<u32>> = vec![None; spine.len() + 1];
        for at in (0..spine.len()).rev() {
            next[at] = writers[at].or(next[at + 1]);
        }
        let mut at_end = Vec::new();
        let mut updates: FxHashMap<usize, u32> = FxHashMap::default();
        for read in reads {
            let length = match read.seen {
                Seen::List(from, to) => (to - from) as usize,
                _ => continue,
            };
            let version = length.checked_sub(1).map_or(ValueId::NIL, |last| spine[last]);
            if let Some(from) = length.checked_sub(1).and_then(|last| writers[last]) {
                self.edge(from, read.txn, EdgeKind::Wr, key, version);
            }
            match next[length] {
                Some(to) => self.edge(read.txn, to, EdgeKind::Rw, key, version),
                None => at_end.push(read.txn),
            }
            if read.writes
                && let Some(other) = updates.insert(length, read.txn)
                && other != read.txn
            {
                self.report(Phenomenon::LostUpdate, &[other, read.txn], key, version);
            }
        }
        let version = spine.last().copied().unwrap_or(ValueId::NIL);
        self.gates(&at_end, &rest, key, version);
        self.found.keys.push(KeyOrder { key, rest, reads: Vec::new() });
    }

    /// The dependencies through a register.
    fn register(&mut self, key: ValueId, reads: &[External], rest: Vec<(u32, ValueId)>) {
        let mut first = Vec::new();
        let mut updates: FxHashMap<ValueId, Vec<u32>> = FxHashMap::default();
        let mut known: Vec<(u32, u32)> = Vec::new();
        for read in reads.iter().filter(|read| read.writes) {
            let Seen::Value(value) = read.seen else { continue };
            let updates = updates.entry(value).or_default();
            updates.push(read.txn);
            if let &mut [.., one, two] = &mut updates[..]
                && one != two
            {
                self.report(Phenomenon::LostUpdate, &[one, two], key, value);
            }
        }
        for read in reads {
            let Seen::Value(value) = read.seen else { continue };
            if value == ValueId::NIL {
                first.push(read.txn);
                continue;
            }
            let Some(write) = self.writes.get(&(key, value)) else { continue };
            let from = write.txn;
            if self.found.included[from as usize] {
                known.push((read.txn, from));
                self.edge(from, read.txn, EdgeKind::Wr, key, value);
            }
            // One of those that overwrite it is enough: where there are two, an update is lost.
            if let Some(&to) = updates.get(&value).and_then(|updates| updates.first()) {
                self.edge(read.txn, to, EdgeKind::Rw, key, value);
            }
        }
        self.gates(&first, &rest, key, ValueId::NIL);
        known.sort_unstable_by_key(|(reader, writer)| (*writer, *reader));
        self.found.keys.push(KeyOrder { key, rest, reads: known });
    }

    /// `rw` from every reader to every writer but itself, over gates: through one of them to all writers up to some place, through another to all from some
    /// place on.
    fn gates(&mut self, readers: &[u32], writers: &[(u32, ValueId)], key: ValueId, value: ValueId) {
        if readers.is_empty() || writers.is_empty() {
            return;
        }
        if let [(writer, _)] = writers {
            readers.iter().for_each(|&reader| self.edge(reader, *writer, EdgeKind::Rw, key, value));
            return;
        }
        let count = writers.len() as u32;
        let (to, from) = (self.found.nodes, self.found.nodes + count);
        self.found.nodes += 2 * count;
        for (at, &(writer, _)) in writers.iter().enumerate() {
            let at = at as u32;
            self.edge(to + at, writer, EdgeKind::Through, key, value);
            self.edge(from + at, writer, EdgeKind::Through, key, value);
            if at > 0 {
                self.edge(to + at, to + at - 1, EdgeKind::Through, key, value);
                self.edge(from + at - 1, from + at, EdgeKind::Through, key, value);
            }
        }
        let place: FxHashMap<u32, u32> = writers.iter().enumerate().map(|(at, (txn, _))| (*txn, at as u32)).collect();
        for &reader in readers {
            match place.get(&reader) {
                None => self.edge(reader, from, EdgeKind::Rw, key, value),
                Some(&at) => {
                    if at > 0 {
                        self.edge(reader, to + at - 1, EdgeKind::Rw, key, value);
                    }
                    if at + 1 < count {
                        self.edge(reader, from + at + 1, EdgeKind::Rw, key, value);
                    }
                }
            }
        }
    }
}
