//! Does one run violate a model? By the definitions, for short runs.
//!
//! * *hb* is the transitive closure of program order and reads-from.
//! * *pco* leads from u to w if they are different writes of one location, some read returns w, and u is hb-before that read.
//! * WRA: no w hb u pco w. RA: program order, reads-from and the pco of a single location have no cycle. SRA: nor with the pco of all.
//!
//! pco is computed from hb once and does not feed back into it (Grahn 2026; the printed condition of SRA is cut off after "pc", it means pco). For plain reads and
//! writes this is the same as asking for a total coherence order. A read of another location's write passes hb on and is bound by nothing else; a read of
//! an initial value is wrong if a write of its location is hb-before it.
//!
//! This is the judge of every violation that is reported: closures of relations as they are written above, cubic in the length of the run. Long runs are for
//! [`crate::monitor`].

use crate::Model;
use crate::machine::Location;
use crate::run::{Kind, Run};
use std::collections::VecDeque;

/// A side of a tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// An access of the run.
    Access(usize),
    /// The value of a location before any write.
    Initial(Location),
}

/// Why one access is before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Program order.
    Program,
    /// The second reads from the first.
    ReadsFrom,
    /// An initial value is older than everything.
    Oldest,
    /// The read returns the second, and the first is hb-before the read along this way of program order and reads-from.
    Overwritten {
        /// The read.
        read: usize,
        /// From the first access to the read, both included.
        way: Vec<usize>,
    },
}

/// One access is before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The earlier one.
    pub from: Node,
    /// The later one.
    pub to: Node,
    /// Why.
    pub why: Reason,
}

/// A relation on accesses.
pub(crate) struct Relation {
    rows: Vec<Vec<u64>>,
}

impl Relation {
    pub(crate) fn new(size: usize) -> Self {
        Relation { rows: vec![vec![0; size.div_ceil(64)]; size] }
    }

    pub(crate) fn add(&mut self, from: usize, to: usize) {
        self.rows[from][to / 64] |= 1 << (to % 64);
    }

    pub(crate) fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from][to / 64] >> (to % 64) & 1 == 1
    }

    /// The transitive closure.
    pub(crate) fn closed(mut self) -> Self {
        for middle in 0..self.rows.len() {
            let row = self.rows[middle].clone();
            for from in 0..self.rows.len() {
                if self.has(from, middle) {
                    self.rows[from].iter_mut().zip(&row).for_each(|(word, &more)| *word |= more);
                }
            }
        }
        self
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.rows.len()).all(|at| !self.has(at, at))
    }
}

/// What the definitions are made of.
pub(crate) struct Relations {
    pub(crate) happens_before: Relation,
    /// Pairs of program order and reads-from, the neighbours only.
    base: Vec<(usize, usize, Reason)>,
    /// `(u, w, r)`: the read r returns w though u is hb-before it.
    pub(crate) coherence: Vec<(usize, usize, usize)>,
}

impl Relations {
    pub(crate) fn of(run: &Run) -> Self {
        let size = run.accesses.len();
        let mut base: Vec<(usize, usize, Reason)> = Vec::new();
        for (at, previous) in run.previous().into_iter().enumerate() {
            base.extend(previous.map(|previous| (previous, at, Reason::Program)));
            if let Kind::Read(Some(write)) = run.accesses[at].kind {
                base.push((write, at, Reason::ReadsFrom));
            }
        }
        let mut relation = Relation::new(size);
        base.iter().for_each(|&(from, to, _)| relation.add(from, to));
        let happens_before = relation.closed();
        let mut coherence = Vec::new();
        for read in 0..size {
            let Some(write) = run.source(read) else { continue };
            let before = |&other: &usize| other != write && happens_before.has(other, read);
            coherence.extend(run.writes(run.accesses[read].location).filter(before).map(|other| (other, write, read)));
        }
        Relations { happens_before, base, coherence }
    }

    /// A shortest way along program order and reads-from.
    fn way(&self, from: usize, to: usize, size: usize) -> Vec<usize> {
        let edges = self.base.iter().map(|&(from, to, _)| (from, to)).collect::<Vec<_>>();
        shortest_way(&edges, size, from, to).expect("the first is hb-before the second")
    }

    fn overwritten(&self, (from, to, read): (usize, usize, usize), size: usize) -> Tie {
        let why = Reason::Overwritten { read, way: self.way(from, read, size) };
        Tie { from: Node::Access(from), to: Node::Access(to), why }
    }

    /// Ties along a way of program order and reads-from.
    fn ties(&self, way: &[usize]) -> Vec<Tie> {
        let tie = |pair: &[usize]| {
            let of = |(from, to, _): &&(usize, usize, Reason)| (*from, *to) == (pair[0], pair[1]);
            let why = self.base.iter().find(of).map_or(Reason::Program, |(_, _, why)| why.clone());
            Tie { from: Node::Access(pair[0]), to: Node::Access(pair[1]), why }
        };
        way.windows(2).map(tie).collect()
    }
}

/// Why the run violates the model: accesses each of which is before the next, and the last before the first. `None` if it does not.
pub fn judge(run: &Run, model: Model) -> Option<Vec<Tie>> {
    let relations = Relations::of(run);
    if let Some(ties) = overwritten_initial(run, &relations) {
        return Some(ties);
    }
    let size = run.accesses.len();
    match model {
        Model::Wra => {
            let hides = |(from, to, _): &&(usize, usize, usize)| relations.happens_before.has(*to, *from);
            let &found = relations.coherence.iter().find(hides)?;
            let mut ties = relations.ties(&relations.way(found.1, found.0, size));
            ties.push(relations.overwritten(found, size));
            Some(ties)
        }
        Model::Ra => run.locations().find_map(|location| {
            let here = |edge: &&(usize, usize, usize)| run.accesses[edge.1].location == location;
            let coherence: Vec<_> = relations.coherence.iter().filter(here).copied().collect();
            cycle(run, &relations, &coherence)
        }),
        Model::Sra => cycle(run, &relations, &relations.coherence),
    }
}

/// An initial value that is read though a write came before.
fn overwritten_initial(run: &Run, relations: &Relations) -> Option<Vec<Tie>> {
    if !run.initial_values {
        return None;
    }
    let size = run.accesses.len();
    let (write, read) = run.accesses.iter().enumerate().find_map(|(read, access)| {
        let initial = access.kind == Kind::Read(None);
        let mut before = run.writes(access.location).filter(|&write| relations.happens_before.has(write, read));
        initial.then(|| before.next()).flatten().map(|write| (write, read))
    })?;
    let initial = Node::Initial(run.accesses[read].location);
    let why = Reason::Overwritten { read, way: relations.way(write, read, size) };
    Some(vec![
        Tie { from: initial, to: Node::Access(write), why: Reason::Oldest },
        Tie { from: Node::Access(write), to: initial, why },
    ])
}

/// A cycle of program order, reads-from and these edges, with as few ties as possible.
fn cycle(run: &Run, relations: &Relations, coherence: &[(usize, usize, usize)]) -> Option<Vec<Tie>> {
    let size = run.accesses.len();
    let mut union = Relation::new(size);
    let mut edges: Vec<(usize, usize)> = relations.base.iter().map(|&(from, to, _)| (from, to)).collect();
    edges.extend(coherence.iter().map(|&(from, to, _)| (from, to)));
    edges.iter().for_each(|&(from, to)| union.add(from, to));
    if union.closed().is_irreflexive() {
        return None;
    }
    let ways = coherence.iter().filter_map(|&(from, to, _)| shortest_way(&edges, size, to, from));
    let mut way = ways.min_by_key(Vec::len).expect("program order and reads-from alone have no cycle");
    way.push(way[0]);
    let tie = |pair: &[usize]| {
        let of = |edge: &&(usize, usize, usize)| (edge.0, edge.1) == (pair[0], pair[1]);
        let base = relations.base.iter().any(|&(from, to, _)| (from, to) == (pair[0], pair[1]));
        match coherence.iter().find(of) {
            Some(&edge) if !base => relations.overwritten(edge, size),
            _ => relations.ties(pair).remove(0),
        }
    };
    Some(way.windows(2).map(tie).collect())
}

fn shortest_way(edges: &[(usize, usize)], size: usize, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut next = vec![Vec::new(); size];
    edges.iter().for_each(|&(from, to)| next[from].push(to));
    let mut parent = vec![usize::MAX; size];
    let mut queue = VecDeque::from([from]);
    parent[from] = from;
    while let Some(at) = queue.pop_front() {
        if at == to {
            let mut way = vec![to];
            while let Some(&at) = way.last().filter(|&&at| at != from) {
                way.push(parent[at]);
            }
            way.reverse();
            return Some(way);
        }
        for &then in &next[at] {
            if parent[then] == usize::MAX {
                parent[then] = at;
                queue.push_back(then);
            }
        }
    }
    None
}
