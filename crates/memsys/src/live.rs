//! Which registers still matter.
//!
//! What a register holds matters in a state if a way leads from there to a read of it (or of what it was copied to) on which it is not overwritten first. The
//! observer forgets registers that do not matter, so that configurations that differ in nothing else are one. Liveness as compilers compute it: backwards along
//! transitions until nothing changes, once for all reads and once for the reads of each location.

use crate::machine::{Event, Location, Machine, Neighbours, State};

/// Per state a set of registers.
#[derive(Debug)]
pub(crate) struct Live {
    words: usize,
    rows: Vec<u64>,
}

impl Live {
    /// The registers that may still be read, as this location or as any.
    pub(crate) fn of(machine: &Machine, location: Option<Location>) -> Self {
        let words = machine.registers().len().div_ceil(64).max(1);
        let mut live = Live { words, rows: vec![0; words * machine.states().len()] };
        let entering = Neighbours::entering(machine);
        let mut pending: Vec<State> = (0..machine.states().len() as u32).map(State).collect();
        let mut is_pending = vec![true; pending.len()];
        let mut row = vec![0; words];
        while let Some(state) = pending.pop() {
            is_pending[state.index()] = false;
            for &number in entering.of(state) {
                let transition = machine.transitions()[number as usize];
                row.copy_from_slice(live.row(state));
                match transition.event {
                    Event::Read { location: read, register, .. } => {
                        if location.is_none_or(|location| location == read) {
                            row[register.index() / 64] |= 1 << (register.0 % 64);
                        }
                    }
                    Event::Write { register, .. } => row[register.index() / 64] &= !(1 << (register.0 % 64)),
                    Event::Copy { to, from } => {
                        let matters = row[to.index() / 64] >> (to.0 % 64) & 1;
                        if to != from {
                            row[to.index() / 64] &= !(1 << (to.0 % 64));
                        }
                        row[from.index() / 64] |= matters << (from.0 % 64);
                    }
                    Event::Idle => {}
                }
                let before = transition.from.index() * words;
                let mut grew = false;
                for (word, &more) in live.rows[before..before + words].iter_mut().zip(&row) {
                    grew |= more & !*word != 0;
                    *word |= more;
                }
                if grew && !is_pending[transition.from.index()] {
                    is_pending[transition.from.index()] = true;
                    pending.push(transition.from);
                }
            }
        }
        live
    }

    /// The registers that matter in a state.
    pub(crate) fn row(&self, state: State) -> &[u64] {
        &self.rows[state.index() * self.words..][..self.words]
    }
}
