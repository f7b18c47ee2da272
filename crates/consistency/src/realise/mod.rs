//! Realisation: is there a sequence in which every read of a problem reads from its one source?
//!
//! 1. *Closure* (of [`values`](crate::values), where each read has one good write). Program order, sources and given orders make a partial
//!    order. A write of the same location (a *rival*) that is before a read is before its source; one that is after the source is
//!    after the read. A cycle means no.
//! 2. Rivals that are still unordered against source and read are *open*. If the architecture (`architecture.rs`) of what is
//!    open has no simple cycle with more than two open edges, clauses of two literals (`clauses.rs`) decide.
//! 3. Otherwise an open rival is put before the source, and if that leads nowhere after it. The rival is one whose threads
//!    do not meet in the *hub* of their block, so that what remains open is a star in the end. What was added is taken
//!    back to try the other way, so the depth of this costs no stack.
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

mod architecture;
mod clauses;
#[cfg(test)]
mod tests;
mod two_sat;

use crate::chains::{Chains, Mark};
use crate::interrupt::{Interrupt, Interrupted, Watch};
use crate::values::{Closure, INIT, Problem};
pub use architecture::{Architecture, Cycle};

/// A read, its source, and a write that must not come between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rivalry {
    read: u32,
    source: u32,
    rival: u32,
}

impl Rivalry {
    /// The pairs of events that are open.
    fn pairs(self) -> [(u32, u32); 2] {
        [(self.rival, self.source), (self.rival, self.read)]
    }
}

/// One of two orders has been chosen, and the other is still to be tried.
#[derive(Clone, Copy, Debug)]
struct Decision {
    mark: Mark,
    other: (u32, u32),
}

/// After so many steps it asks whether to stop.
const STEPS: u32 = 64;

/// The decision procedure, with its buffers.
#[derive(Debug, Default)]
pub struct Realiser {
    order: Chains,
    closure: Closure,
    decisions: Vec<Decision>,
}

impl Realiser {
    /// A sequence of the events in which all reads read from their sources, if there is one. `sequence` holds the events in an
    /// order that keeps program order, spawn and join; the answer stays close to it.
    ///
    /// # Errors
    /// If it was told to stop.
    ///
    /// # Panics
    /// If the sequence it found is none, which would be a mistake in this crate.
    pub fn realise(
        &mut self,
        problem: &Problem,
        sequence: &[u32],
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Vec<u32>>, Interrupted> {
        let watch = &mut Watch::new(interrupt, STEPS);
        if !self.start(problem, sequence, watch)? || !self.decide(problem, watch)? {
            return Ok(None);
        }
        let found = self.linearise(problem, sequence);
        assert!(is_realised(problem, &found), "a realisation has every read after its source");
        Ok(Some(found))
    }

    /// What is certain of the order of events, if there can be a sequence at all.
    ///
    /// # Errors
    /// If it was told to stop.
    pub fn certain(
        &mut self,
        problem: &Problem,
        sequence: &[u32],
        interrupt: &dyn Interrupt,
    ) -> Result<Option<&Chains>, Interrupted> {
        Ok(self.start(problem, sequence, &mut Watch::new(interrupt, STEPS))?.then_some(&self.order))
    }

    /// What clauses of two literals tell: there is no sequence, or there is this one, or they do not tell.
    pub(crate) fn by_clauses(
        &mut self,
        problem: &Problem,
        sequence: &[u32],
        interrupt: &dyn Interrupt,
    ) -> Result<Clauses, Interrupted> {
        if !self.start(problem, sequence, &mut Watch::new(interrupt, STEPS))? {
            return Ok(Clauses::Unsatisfiable);
        }
        let open = self.open(problem);
        Ok(match clauses::decide(problem, &mut self.order, &open) {
            Ok(true) => Clauses::Ordered(self.linearise(problem, sequence)),
            Ok(false) => Clauses::Unsatisfiable,
            Err(clauses::Cyclic) => Clauses::Undecided,
        })
    }

    /// Program order, spawn and join, given orders, sources, and what follows.
    fn start(&mut self, problem: &Problem, sequence: &[u32], watch: &mut Watch<'_>) -> Result<bool, Interrupted> {
        Ok(problem.begin(&mut self.order, sequence) && self.closure.begin(problem, &mut self.order, watch)?)
    }

    /// What the closure leaves open. Then the rival is unordered against the read, too.
    fn open(&self, problem: &Problem) -> Vec<Rivalry> {
        let mut open = Vec::new();
        for read in (0..problem.len() as u32).filter(|&event| problem.ops[event as usize].reads) {
            let source = problem.good(read)[0];
            let rivals = self.closure.writes(problem.ops[read as usize].loc).iter();
            let rivals = rivals.filter(|&&write| source != INIT && write != source && write != read);
            let undecided = rivals.filter(|&&rival| !self.order.decides(rival, source));
            open.extend(undecided.map(|&rival| Rivalry { read, source, rival }));
        }
        open
    }

    /// Who waits to be ordered against whom.
    fn architecture(&self, open: &[Rivalry]) -> Architecture {
        let mut graph = Architecture::new(self.order.chains().len());
        let place = |event| self.order.place_of(event);
        for &(a, b) in self.order.edges().iter().filter(|&&(a, b)| place(a).0 != place(b).0) {
            graph.decided(place(a), place(b));
        }
        for (a, b) in open.iter().flat_map(|rivalry| rivalry.pairs()) {
            graph.open(place(a), place(b));
        }
        graph
    }

    /// Decides everything that is open. Returns whether that is possible.
    fn decide(&mut self, problem: &Problem, watch: &mut Watch<'_>) -> Result<bool, Interrupted> {
        self.decisions.clear();
        loop {
            watch.step()?;
            let open = self.open(problem);
            if open.is_empty() {
                return Ok(true);
            }
            let graph = self.architecture(&open);
            let possible = match graph.cycle() {
                None => {
                    let decided = clauses::decide(problem, &mut self.order, &open);
                    if decided.expect("clauses exclude cycles on this architecture") {
                        return Ok(true);
                    }
                    false
                }
                Some(cycle) => {
                    let Rivalry { source, rival, .. } = away_from_hub(&self.order, &graph, &cycle, &open);
                    self.decisions.push(Decision { mark: self.order.mark(), other: (source, rival) });
                    self.put(problem, (rival, source), watch)?
                }
            };
            if !possible && !self.turn_back(problem, watch)? {
                return Ok(false);
            }
        }
    }

    /// Takes the other way at the last decision that has one. Returns whether there is any.
    fn turn_back(&mut self, problem: &Problem, watch: &mut Watch<'_>) -> Result<bool, Interrupted> {
        while let Some(Decision { mark, other }) = self.decisions.pop() {
            self.order.undo(mark);
            if self.put(problem, other, watch)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds an edge and what follows. Returns whether there is no cycle.
    fn put(&mut self, problem: &Problem, (a, b): (u32, u32), watch: &mut Watch<'_>) -> Result<bool, Interrupted> {
        Ok(self.order.insert(a, b).is_some() && self.closure.go_on(problem, &mut self.order, watch)?)
    }

    /// A sequence that keeps the order, close to the one given.
    fn linearise(&self, problem: &Problem, sequence: &[u32]) -> Vec<u32> {
        let mut places = vec![0; problem.len()];
        sequence.iter().enumerate().for_each(|(at, &event)| places[event as usize] = at);
        let mut done = vec![0; problem.threads()];
        let mut found = Vec::with_capacity(sequence.len());
        while found.len() < sequence.len() {
            let heads = (0..done.len()).map(|thread| problem.starts[thread] + done[thread]);
            let heads = heads.enumerate().filter(|&(thread, head)| head < problem.starts[thread + 1]);
            let ready = |head: u32| self.order.row(head).iter().zip(&done).all(|(&before, &done)| before <= done);
            let ready = heads.filter(|&(_, head)| ready(head));
            let (thread, head) = ready.min_by_key(|&(_, head)| places[head as usize]).expect("an order has no cycle");
            done[thread] += 1;
            found.push(head);
        }
        found
    }
}

/// What clauses of two literals tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Clauses {
    /// They cannot be satisfied: there is no sequence.
    Unsatisfiable,
    /// This is one.
    Ordered(Vec<u32>),
    /// They do not tell.
    Undecided,
}

/// Something open that does not touch the hub of its block: the thread away from which the least is open.
fn away_from_hub(order: &Chains, graph: &Architecture, cycle: &Cycle, open: &[Rivalry]) -> Rivalry {
    let threads = |rivalry: &Rivalry| rivalry.pairs().map(|(a, b)| (order.place_of(a).0, order.place_of(b).0));
    let block: Vec<usize> = match cycle {
        Cycle::Through(path) => graph.block(path[0], path[1]),
        Cycle::Perhaps => (0..order.chains().len()).collect(),
    };
    let inside = |rivalry: &Rivalry| threads(rivalry).iter().any(|(p, q)| block.contains(p) && block.contains(q));
    let away = |rivalry: &Rivalry, hub: usize| threads(rivalry).iter().any(|&(p, q)| p != hub && q != hub);
    let mut candidates = open.iter().filter(|rivalry| inside(rivalry));
    let hub = block.iter().min_by_key(|&&hub| candidates.clone().filter(|rivalry| away(rivalry, hub)).count());
    let found = hub.and_then(|&hub| candidates.find(|rivalry| away(rivalry, hub)));
    *found.unwrap_or(&open[0])
}

/// Whether every read of a sequence reads from its source.
fn is_realised(problem: &Problem, sequence: &[u32]) -> bool {
    let mut memory = vec![INIT; problem.locations];
    sequence.iter().all(|&event| {
        let op = problem.ops[event as usize];
        let right = !op.reads || memory[op.loc as usize] == problem.good(event)[0];
        if op.writes {
            memory[op.loc as usize] = event;
        }
        right
    })
}
