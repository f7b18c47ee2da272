//! Does one run violate a model? In near-linear time, for long runs and logs.
//!
//! Vector clocks in the order of the run: an access u of a core θ is hb-before e iff e has heard of so many accesses of θ. For each read of w and each core, only
//! the last write u of the location that the read has heard of matters: earlier ones are program-order before it. If u is not w, it is pco-before w; if besides
//! w is hb-before u, WRA is violated. RA: for each location, these edges and hb among its writes (again the last of each core) have no cycle. SRA: these edges, program
//! order and reads-from have no cycle (Grahn 2026). O(n·cores·log n) time for n accesses.

use crate::Model;
use crate::machine::{Core, Location};
use crate::run::{Kind, Run};
use rustc_hash::FxHashMap;

/// Which models a run violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Violated {
    /// Weak release-acquire.
    pub wra: bool,
    /// Release-acquire.
    pub ra: bool,
    /// Strong release-acquire.
    pub sra: bool,
}

impl Violated {
    /// Whether this one is.
    pub fn is(self, model: Model) -> bool {
        match model {
            Model::Wra => self.wra,
            Model::Ra => self.ra,
            Model::Sra => self.sra,
        }
    }
}

struct Clocks {
    cores: usize,
    /// What each access has heard of, itself included, per core.
    heard: Vec<u32>,
    /// The number of each access among those of its core, from 1.
    position: Vec<u32>,
    /// Per location and core the writes, in order.
    writes: FxHashMap<(Location, Core), Vec<usize>>,
}

impl Clocks {
    fn of(run: &Run) -> Self {
        let cores = run.accesses.iter().map(|access| access.core.index() + 1).max().unwrap_or(0);
        let mut clocks = Clocks { cores, heard: Vec::new(), position: Vec::new(), writes: FxHashMap::default() };
        clocks.heard.reserve(cores * run.accesses.len());
        let mut count = vec![0; cores];
        for ((at, access), previous) in run.accesses.iter().enumerate().zip(run.previous()) {
            let begin = clocks.heard.len();
            clocks.heard.resize(begin + cores, 0);
            let source = match access.kind {
                Kind::Read(source) => source,
                Kind::Write => None,
            };
            for before in previous.into_iter().chain(source) {
                for core in 0..cores {
                    clocks.heard[begin + core] = clocks.heard[begin + core].max(clocks.heard[before * cores + core]);
                }
            }
            count[access.core.index()] += 1;
            clocks.heard[begin + access.core.index()] = count[access.core.index()];
            clocks.position.push(count[access.core.index()]);
            if access.kind == Kind::Write {
                clocks.writes.entry((access.location, access.core)).or_default().push(at);
            }
        }
        clocks
    }

    fn heard(&self, access: usize, core: Core) -> u32 {
        self.heard[access * self.cores + core.index()]
    }

    /// The last write of the location by this core among its first so many accesses.
    fn last(&self, location: Location, core: Core, accesses: u32) -> Option<usize> {
        let writes = self.writes.get(&(location, core))?;
        let count = writes.partition_point(|&write| self.position[write] <= accesses);
        count.checked_sub(1).map(|at| writes[at])
    }
}

/// Which models the run violates.
pub fn check_run(run: &Run) -> Violated {
    let clocks = Clocks::of(run);
    let cores = || (0..clocks.cores as u32).map(Core);
    let mut wra = false;
    let mut coherence = Vec::new();
    for (read, access) in run.accesses.iter().enumerate() {
        let source = run.source(read);
        let initial = run.initial_values && access.kind == Kind::Read(None);
        if source.is_none() && !initial {
            continue;
        }
        for core in cores() {
            let Some(other) = clocks.last(access.location, core, clocks.heard(read, core)) else { continue };
            match source {
                None => wra = true,
                Some(write) if write != other => {
                    coherence.push((other, write));
                    let writer = run.accesses[write].core;
                    wra |= clocks.heard(other, writer) >= clocks.position[write];
                }
                Some(_) => {}
            }
        }
    }
    if wra {
        return Violated { wra: true, ra: true, sra: true };
    }
    let size = run.accesses.len();
    let mut every = coherence.clone();
    for (at, previous) in run.previous().into_iter().enumerate() {
        every.extend(previous.map(|previous| (previous, at)));
        if let Kind::Read(Some(write)) = run.accesses[at].kind {
            every.push((write, at));
        }
    }
    if !has_cycle(size, &every) {
        return Violated::default();
    }
    // Edges lead between writes of one location, so one graph for all of them is as good as one for each.
    for (at, access) in run.accesses.iter().enumerate().filter(|(_, access)| access.kind == Kind::Write) {
        for core in cores() {
            let others = clocks.heard(at, core) - u32::from(core == access.core);
            coherence.extend(clocks.last(access.location, core, others).map(|before| (before, at)));
        }
    }
    Violated { wra: false, ra: has_cycle(size, &coherence), sra: true }
}

/// Whether the edges have a cycle: whatever has nobody before it is taken away until nothing changes.
fn has_cycle(size: usize, edges: &[(usize, usize)]) -> bool {
    let mut before = vec![0u32; size];
    let mut begins = vec![0u32; size + 1];
    for &(from, to) in edges {
        before[to] += 1;
        begins[from + 1] += 1;
    }
    for at in 0..size {
        begins[at + 1] += begins[at];
    }
    let mut next = begins.clone();
    let mut list = vec![0u32; edges.len()];
    for &(from, to) in edges {
        list[next[from] as usize] = to as u32;
        next[from] += 1;
    }
    let mut free: Vec<usize> = (0..size).filter(|&at| before[at] == 0).collect();
    let mut taken = 0;
    while let Some(at) = free.pop() {
        taken += 1;
        for &to in &list[begins[at] as usize..begins[at + 1] as usize] {
            before[to as usize] -= 1;
            if before[to as usize] == 0 {
                free.push(to as usize);
            }
        }
    }
    taken < size
}
