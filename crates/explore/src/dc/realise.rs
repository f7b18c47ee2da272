//! Realisation: is there a trace in which every read of an instance reads from its source?
//!
//! 1. *Closure.* Program order, sources and given orders make a partial order. A write of the same location (a *rival*) that is
//!    before a read is before its source; one that is after the source is after the read. This is repeated until nothing
//!    changes. A cycle means no.
//! 2. Rivals that are still unordered against source and read are *open*. If the [architecture](super::architecture) of what is
//!    open has no simple cycle with more than two open edges, [clauses of two literals](super::clauses) decide.
//! 3. Otherwise an open rival is put before the source, and if that leads nowhere after it. The rival is one whose threads
//!    do not meet in the *hub* of their block, so that what remains open is a star in the end.
//!
//! The answer is exact on every architecture. On forests step 3 is never taken and the time is polynomial (Chalupa et al. 2018); otherwise
//! the problem is NP-complete and step 3 may be taken exponentially often.
//!
//! # Where we deviate from Chalupa et al. 2018
//!
//! * The closure comes first, so clauses are about open pairs only. Initial writes are no events: all rivals of a read of one
//!   follow the read.
//! * An update is a read and a rival of the other reads. That two locks do not take the same release follows.
//! * For cyclic architectures they order the writes of some variables beforehand by additional locks, which makes more
//!   classes; or enumerate all orders of the threads but one, for each annotation. Here orders are tried only where they are open,
//!   until clauses suffice, and one is enough. The rule by which a rival follows the read is misprinted (`r` before `w` for `r`
//!   before `w'`) and must be asked of the closure.

use super::architecture::{Architecture, Cycle};
use super::clauses;
use super::options::Corrections;
use crate::rvf::instance::{INIT, Instance, NONE};
use crate::rvf::order::Order;

/// A read, its source, and a write that must not come between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rivalry {
    pub(crate) read: u32,
    pub(crate) source: u32,
    pub(crate) rival: u32,
}

/// What was decided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decided {
    pub(crate) order: Order,
    /// Its edges between threads; the others follow from these.
    edges: Vec<(u32, u32)>,
}

/// An instance, and what is looked up in it.
#[derive(Debug)]
pub(crate) struct Realiser<'i> {
    pub(crate) instance: &'i Instance,
    /// The writes of each location.
    writes: Vec<Vec<u32>>,
    corrections: Corrections,
}

impl Decided {
    pub(crate) fn before(&self, instance: &Instance, a: u32, b: u32) -> bool {
        self.order.before(instance, a, b)
    }

    /// Puts `a` before `b`. Returns whether that changed something, or `None` if it closes a cycle.
    pub(crate) fn insert(&mut self, instance: &Instance, a: u32, b: u32) -> Option<bool> {
        if self.before(instance, a, b) {
            return Some(false);
        }
        self.edges.push((a, b));
        self.order.insert(instance, a, b).then_some(true)
    }
}

impl<'i> Realiser<'i> {
    pub(crate) fn new(instance: &'i Instance, corrections: Corrections) -> Self {
        let mut writes = vec![Vec::new(); instance.locations];
        for (event, op) in instance.ops.iter().enumerate() {
            if op.writes {
                writes[op.loc as usize].push(event as u32);
            }
        }
        Realiser { instance, writes, corrections }
    }

    /// A sequence of the events in which all reads read from their sources, if there is one. `sequence` holds the events in an
    /// order that keeps program order, spawn and join; the answer stays close to it.
    pub(crate) fn realise(&self, sequence: &[u32]) -> Option<Vec<u32>> {
        let decided = self.start(sequence)?;
        let decided = self.decide(decided)?;
        let found = self.linearise(&decided, sequence);
        assert!(self.is_realised(&found), "a realisation has every read after its source");
        Some(found)
    }

    /// Program order, spawn and join, given orders, sources, and what follows.
    pub(crate) fn start(&self, sequence: &[u32]) -> Option<Decided> {
        let instance = self.instance;
        let mut decided = Decided::default();
        decided.order.start(instance, sequence);
        let after = |event: u32| instance.ops[event as usize].after;
        let joints = (0..instance.len() as u32).filter(|&event| after(event) != NONE);
        decided.edges.extend(joints.map(|event| (after(event), event)));
        for &(a, b) in &instance.edges {
            decided.insert(instance, a, b)?;
        }
        for read in self.reads() {
            let source = instance.good(read)[0];
            if source != INIT {
                decided.insert(instance, source, read)?;
            }
        }
        self.close(&mut decided)?;
        Some(decided)
    }

    fn reads(&self) -> impl Iterator<Item = u32> + use<'_, 'i> {
        (0..self.instance.len() as u32).filter(|&event| self.instance.ops[event as usize].reads)
    }

    /// The writes that must not come between a read and its source.
    fn rivals(&self, read: u32) -> impl Iterator<Item = Rivalry> + use<'_, 'i> {
        let source = self.instance.good(read)[0];
        let writes = self.writes[self.instance.ops[read as usize].loc as usize].iter();
        let rivals = writes.filter(move |&&write| write != source && write != read);
        rivals.map(move |&rival| Rivalry { read, source, rival })
    }

    /// Adds what follows. `None` if it is a cycle.
    fn close(&self, decided: &mut Decided) -> Option<()> {
        let instance = self.instance;
        loop {
            let mut changed = false;
            for Rivalry { read, source, rival } in self.reads().flat_map(|read| self.rivals(read)) {
                if source == INIT {
                    changed |= decided.insert(instance, read, rival)?;
                } else if decided.before(instance, rival, read) {
                    changed |= decided.insert(instance, rival, source)?;
                } else if decided.before(instance, source, rival) {
                    let last = if self.corrections.rivals_follow_reads { rival } else { source };
                    changed |= decided.insert(instance, read, last)?;
                }
            }
            if !changed {
                return Some(());
            }
        }
    }

    /// What the closure leaves open. Then the rival is unordered against the read, too.
    pub(crate) fn open(&self, decided: &Decided) -> Vec<Rivalry> {
        let before = |a, b| decided.before(self.instance, a, b);
        let open = |rivalry: &Rivalry| {
            rivalry.source != INIT && !before(rivalry.rival, rivalry.source) && !before(rivalry.source, rivalry.rival)
        };
        self.reads().flat_map(|read| self.rivals(read)).filter(open).collect()
    }

    /// The pairs of events that a rivalry leaves open.
    pub(crate) fn pairs(&self, rivalry: &Rivalry) -> impl Iterator<Item = (u32, u32)> + use<> {
        let &Rivalry { read, source, rival } = rivalry;
        [(rival, source), (rival, read)].into_iter()
    }

    fn place(&self, event: u32) -> (usize, u32) {
        let thread = self.instance.thread(event);
        (thread, event - self.instance.starts[thread])
    }

    /// Who waits to be ordered against whom.
    pub(crate) fn architecture(&self, decided: &Decided, open: &[Rivalry]) -> Architecture {
        let mut graph = Architecture::new(self.instance.threads());
        for &(a, b) in &decided.edges {
            if self.instance.thread(a) != self.instance.thread(b) {
                graph.decided(self.place(a), self.place(b));
            }
        }
        for (a, b) in open.iter().flat_map(|rivalry| self.pairs(rivalry)) {
            graph.open(self.place(a), self.place(b));
        }
        graph
    }

    /// Decides everything that is open, if that is possible.
    fn decide(&self, decided: Decided) -> Option<Decided> {
        let open = self.open(&decided);
        if open.is_empty() {
            return Some(decided);
        }
        let graph = self.architecture(&decided, &open);
        let Some(cycle) = graph.cycle() else {
            let found = clauses::decide(self, decided, &open, self.corrections.composed);
            return found.expect("clauses exclude cycles on this architecture");
        };
        let chosen = self.away_from_hub(&graph, &cycle, &open);
        [(chosen.rival, chosen.source), (chosen.source, chosen.rival)].into_iter().find_map(|(a, b)| {
            let mut decided = decided.clone();
            decided.insert(self.instance, a, b)?;
            self.close(&mut decided)?;
            self.decide(decided)
        })
    }

    /// Something open that does not touch the hub of its block: the thread away from which the least is open.
    fn away_from_hub(&self, graph: &Architecture, cycle: &Cycle, open: &[Rivalry]) -> Rivalry {
        let threads =
            |rivalry: &Rivalry| self.pairs(rivalry).map(|(a, b)| (self.instance.thread(a), self.instance.thread(b)));
        let block: Vec<usize> = match cycle {
            Cycle::Through(path) => graph.block(path[0], path[1]),
            Cycle::Perhaps => (0..self.instance.threads()).collect(),
        };
        let inside = |rivalry: &Rivalry| threads(rivalry).any(|(p, q)| block.contains(&p) && block.contains(&q));
        let away = |rivalry: &Rivalry, hub: usize| threads(rivalry).any(|(p, q)| p != hub && q != hub);
        let mut candidates = open.iter().filter(|rivalry| inside(rivalry));
        let hub = block.iter().min_by_key(|&&hub| candidates.clone().filter(|rivalry| away(rivalry, hub)).count());
        let found = hub.and_then(|&hub| candidates.find(|rivalry| away(rivalry, hub)));
        *found.unwrap_or(&open[0])
    }

    /// A sequence that keeps the order, close to the one given.
    fn linearise(&self, decided: &Decided, sequence: &[u32]) -> Vec<u32> {
        let instance = self.instance;
        let mut places = vec![0; instance.len()];
        sequence.iter().enumerate().for_each(|(at, &event)| places[event as usize] = at);
        let mut done = vec![0; instance.threads()];
        let mut found = Vec::with_capacity(sequence.len());
        while found.len() < sequence.len() {
            let heads = (0..done.len()).map(|thread| instance.starts[thread] + done[thread]);
            let heads = heads.enumerate().filter(|&(thread, head)| head < instance.starts[thread + 1]);
            let ready = |head: u32| decided.order.row(head).iter().zip(&done).all(|(&before, &done)| before <= done);
            let ready = heads.filter(|&(_, head)| ready(head));
            let (thread, head) = ready.min_by_key(|&(_, head)| places[head as usize]).expect("an order has no cycle");
            done[thread] += 1;
            found.push(head);
        }
        found
    }

    /// Whether every read of a sequence reads from its source.
    pub(crate) fn is_realised(&self, sequence: &[u32]) -> bool {
        let mut memory = vec![INIT; self.instance.locations];
        sequence.iter().all(|&event| {
            let op = self.instance.ops[event as usize];
            let right = !op.reads || memory[op.loc as usize] == self.instance.good(event)[0];
            if op.writes {
                memory[op.loc as usize] = event;
            }
            right
        })
    }
}

#[cfg(test)]
mod tests;
