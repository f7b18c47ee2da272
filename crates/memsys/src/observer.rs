//! Do all runs of a machine satisfy RA or SRA? The machine runs beside an observer that guesses a cycle (after the outline of Grahn 2026; the procedure itself is a
//! reconstruction).
//!
//! A cycle in hb ∪ pco with k coherence edges is `w'_1 pco w_1 hb* w'_2 pco w_2 ... hb* w'_1`, where a read r_i returns w_i though w'_i is hb-before it. If two of
//! the w'_i are of one core, program order makes a cycle with fewer coherence edges; so k is at most the number of cores. Under RA all of them are about one
//! location. k = 1 is WRA, for which [`crate::wra`] is faster.
//!
//! For a fixed k the observer has k *strands*. Strand i knows its location, the registers that hold w_i (`value`), the places (cores and registers) that are hb-after
//! w_i, where w'_{i+1} is looked for (`after`), and those that are hb-after w'_i, where r_i is looked for (`overwriter`). Each of the three sets waits to be begun, is being
//! followed or is done. Sets follow what the machine does; besides, an event may play one role:
//!
//! | role of strand i, j the next | event | needs | effect |
//! |---|---|---|---|
//! | start | θ writes y into d | value, after not begun | value = {d}, after = {θ, d} |
//! | link | θ writes y into d | θ ∈ after, overwriter of j not begun | after done, overwriter of j = {θ, d} |
//! | both (k ≥ 2) | θ writes y into d | none of the three begun | value = {d}, after done, overwriter of j = {θ, d} |
//! | close | θ reads y from d | d ∈ value, θ ∈ overwriter | value, overwriter done |
//!
//! A followed set that becomes empty ends the branch; all sets done is a violation. Only the first strand may start first. Breadth first, so the first violation is
//! a shortest one. The problem is PSPACE-complete; there may be exponentially many configurations in cores and registers. Registers that no way leads from to a
//! read (`live`) are dropped from the sets, which changes no answer and merges configurations.

use crate::Model;
use crate::budget::{Budget, Limit};
use crate::live::Live;
use crate::machine::{Core, Event, Location, Machine, Move, Neighbours, Register, State};
use crate::table::Table;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// One location ([`Model::Ra`]) or all of them.
    pub model: Model,
    /// The number of coherence edges, at least 1.
    pub strands: usize,
    /// Look for runs of at most so many transitions.
    pub longest: usize,
    /// Forget registers that do not matter any more.
    pub forget: bool,
}

/// What the search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No run within the bounds has such a cycle.
    Nothing,
    /// A shortest run that has.
    Violation(Vec<Move>),
    /// A limit was reached.
    Stopped(Limit),
}

/// The sets of a strand, in the order in which they are stored behind its head.
const SETS: usize = 3;
const VALUE: usize = 0;
const AFTER: usize = 1;
const OVERWRITER: usize = 2;

/// How far a set is, two bits in the head of its strand above the number of the location.
const IDLE: u64 = 0;
const ACTIVE: u64 = 1;
const DONE: u64 = 2;
const LOCATION: u64 = u32::MAX as u64;

struct Observer<'m> {
    machine: &'m Machine,
    search: Search,
    /// Words in a set. Registers come first, then cores.
    words: usize,
    live: Option<(Live, Vec<Live>)>,
}

/// Looks for a violation with so many coherence edges; the number of configurations that were met comes with it.
pub fn observe(machine: &Machine, search: Search, budget: &Budget) -> (Found, u64) {
    let live = search.forget.then(|| {
        let locations = (0..machine.locations().len() as u32).map(|number| Live::of(machine, Some(Location(number))));
        (Live::of(machine, None), locations.collect())
    });
    let words = (machine.registers().len() + machine.cores().len()).div_ceil(64);
    let observer = Observer { machine, search, words, live };
    let mut table = Table::new(1 + search.strands * observer.stride());
    let found = observer.run(&mut table, budget);
    (found, table.len() as u64)
}

impl Observer<'_> {
    /// Words of a strand.
    fn stride(&self) -> usize {
        1 + SETS * self.words
    }

    fn run(&self, table: &mut Table, budget: &Budget) -> Found {
        let leaving = Neighbours::leaving(self.machine);
        let mut first = vec![0; 1 + self.search.strands * self.stride()];
        first[0] = u64::from(self.machine.initial().0);
        table.insert(&first, u32::MAX, u32::MAX);
        let (mut at, mut level_ends, mut length) = (0, 1, 0);
        let mut row = first;
        let mut next = Vec::new();
        while at < table.len() {
            if at == level_ends {
                (level_ends, length) = (table.len(), length + 1);
            }
            if length >= self.search.longest {
                return Found::Nothing;
            }
            if let Some(limit) = budget.reached(at as u64, table.len() as u64, table.bytes()) {
                return Found::Stopped(limit);
            }
            row.copy_from_slice(table.row(at));
            for &number in leaving.of(State(row[0] as u32)) {
                let transition = self.machine.transitions()[number as usize];
                next.clear();
                self.successors(&row, transition.event, transition.to, &mut next);
                for next in next.chunks_exact(row.len()) {
                    if table.insert(next, at as u32, number) && self.accepts(next) {
                        return Found::Violation(table.way(table.len() - 1).into_iter().map(Move).collect());
                    }
                }
            }
            at += 1;
        }
        Found::Nothing
    }

    fn head(&self, strand: usize) -> usize {
        1 + strand * self.stride()
    }

    fn status(&self, row: &[u64], strand: usize, set: usize) -> u64 {
        row[self.head(strand)] >> (32 + 2 * set) & 3
    }

    fn has(&self, row: &[u64], strand: usize, set: usize, place: usize) -> bool {
        let word = row[self.head(strand) + 1 + set * self.words + place / 64];
        word >> (place % 64) & 1 == 1
    }

    fn of_core(&self, core: Core) -> usize {
        self.machine.registers().len() + core.index()
    }

    fn accepts(&self, row: &[u64]) -> bool {
        let done = |strand| (0..SETS).all(|set| self.status(row, strand, set) == DONE);
        (0..self.search.strands).all(done)
    }

    /// Everything that may come of an event, one row after the other.
    fn successors(&self, row: &[u64], event: Event, to: State, out: &mut Vec<u64>) {
        let mut passive = row.to_vec();
        passive[0] = u64::from(to.0);
        for strand in 0..self.search.strands {
            self.follow(&mut passive, strand, event);
        }
        self.keep(&passive, out);
        match event {
            Event::Write { core, location, register } => {
                for strand in 0..self.search.strands {
                    self.write_roles(row, &passive, strand, (core, location, register), out);
                }
            }
            Event::Read { core, location, register } => {
                for strand in 0..self.search.strands {
                    let here = row[self.head(strand)] & LOCATION == u64::from(location.0) + 1;
                    let returned = here && self.has(row, strand, VALUE, register.index());
                    if returned && self.has(row, strand, OVERWRITER, self.of_core(core)) {
                        let mut next = passive.clone();
                        self.finish(&mut next, strand, VALUE);
                        self.finish(&mut next, strand, OVERWRITER);
                        self.keep(&next, out);
                    }
                }
            }
            Event::Copy { .. } | Event::Idle => {}
        }
    }

    /// The sets of a strand after an event in which it plays no role.
    fn follow(&self, row: &mut [u64], strand: usize, event: Event) {
        for set in 0..SETS {
            if self.status(row, strand, set) != ACTIVE {
                continue;
            }
            let has = |place| self.has(row, strand, set, place);
            let (place, now) = match event {
                Event::Copy { to, from } => (to.index(), has(from.index())),
                Event::Write { core, register, .. } => (register.index(), set != VALUE && has(self.of_core(core))),
                Event::Read { core, register, .. } if set != VALUE && has(register.index()) => {
                    (self.of_core(core), true)
                }
                Event::Read { .. } | Event::Idle => continue,
            };
            let word = &mut row[1 + strand * self.stride() + 1 + set * self.words + place / 64];
            *word = *word & !(1 << (place % 64)) | u64::from(now) << (place % 64);
        }
    }

    fn write_roles(
        &self,
        row: &[u64],
        passive: &[u64],
        strand: usize,
        (core, location, register): (Core, Location, Register),
        out: &mut Vec<u64>,
    ) {
        let next_strand = (strand + 1) % self.search.strands;
        let idle = |strand, set| self.status(row, strand, set) == IDLE;
        let places = [self.of_core(core), register.index()];
        let fits = self.fits(row, strand, location);
        let starts = idle(strand, VALUE) && idle(strand, AFTER) && fits && (strand == 0 || !idle(0, VALUE));
        let links = idle(next_strand, OVERWRITER) && self.fits(row, next_strand, location);
        if starts {
            let mut next = passive.to_vec();
            self.begin(&mut next, strand, VALUE, location, &places[1..]);
            self.begin(&mut next, strand, AFTER, location, &places);
            self.keep(&next, out);
        }
        if links && self.has(row, strand, AFTER, places[0]) {
            let mut next = passive.to_vec();
            self.finish(&mut next, strand, AFTER);
            self.begin(&mut next, next_strand, OVERWRITER, location, &places);
            self.keep(&next, out);
        }
        if starts && links && self.search.strands >= 2 {
            let mut next = passive.to_vec();
            self.begin(&mut next, strand, VALUE, location, &places[1..]);
            self.finish(&mut next, strand, AFTER);
            self.begin(&mut next, next_strand, OVERWRITER, location, &places);
            self.keep(&next, out);
        }
    }

    /// Whether the strand may be about this location.
    fn fits(&self, row: &[u64], strand: usize, location: Location) -> bool {
        let free = |strand| {
            let known = row[self.head(strand)] & LOCATION;
            known == 0 || known == u64::from(location.0) + 1
        };
        match self.search.model {
            Model::Wra | Model::Ra => (0..self.search.strands).all(free),
            Model::Sra => free(strand),
        }
    }

    fn begin(&self, row: &mut [u64], strand: usize, set: usize, location: Location, places: &[usize]) {
        let head = self.head(strand);
        row[head] = row[head] & !LOCATION | (u64::from(location.0) + 1) | ACTIVE << (32 + 2 * set);
        let words = &mut row[head + 1 + set * self.words..][..self.words];
        words.fill(0);
        places.iter().for_each(|place| words[place / 64] |= 1 << (place % 64));
    }

    fn finish(&self, row: &mut [u64], strand: usize, set: usize) {
        let head = self.head(strand);
        row[head] = row[head] & !(3 << (32 + 2 * set)) | DONE << (32 + 2 * set);
        row[head + 1 + set * self.words..][..self.words].fill(0);
    }

    /// Keeps a configuration, unless a set that is followed leads nowhere.
    fn keep(&self, row: &[u64], out: &mut Vec<u64>) {
        let begin = out.len();
        out.extend_from_slice(row);
        let row = &mut out[begin..];
        for strand in 0..self.search.strands {
            for set in 0..SETS {
                if self.status(row, strand, set) != ACTIVE {
                    continue;
                }
                let head = self.head(strand);
                let (state, location) = (State(row[0] as u32), (row[head] & LOCATION) as usize - 1);
                let words = &mut row[head + 1 + set * self.words..][..self.words];
                if let Some((any, each)) = &self.live {
                    let live = if set == VALUE { each[location].row(state) } else { any.row(state) };
                    let registers = self.machine.registers().len();
                    for (at, word) in words.iter_mut().enumerate() {
                        // What is no register stays.
                        let others = match registers.saturating_sub(at * 64) {
                            0 => u64::MAX,
                            64.. => 0,
                            some => u64::MAX << some,
                        };
                        *word &= live.get(at).copied().unwrap_or(0) | others;
                    }
                }
                if words.iter().all(|&word| word == 0) {
                    out.truncate(begin);
                    return;
                }
            }
        }
    }
}
