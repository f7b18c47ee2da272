//! What happened in a run: the reads and writes, and which write each read returned.
//!
//! [`replay`] runs transitions on a machine from its initial state, with nothing but the machine's own rules: a register holds the write that it was last
//! filled with. It shares nothing with the searches for violations and is what their findings are held against.

use crate::machine::{Core, Event, Location, Machine, Move};
use thiserror::Error;

/// A read or a write of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Who.
    pub core: Core,
    /// What.
    pub location: Location,
    /// Writes it, or reads it and from where.
    pub kind: Kind,
    /// The transition of the run that did it.
    pub step: usize,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It writes.
    Write,
    /// It returns what this access wrote, or what was there before any write.
    Read(Option<usize>),
}

/// The reads and writes of a run, in order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Run {
    /// The accesses; each reads from an earlier one.
    pub accesses: Vec<Access>,
    /// Whether a read without a write returns an initial value, which is older than everything.
    pub initial_values: bool,
}

/// Why transitions are no run of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("step {step} does not begin where the one before it ended")]
pub struct NotARun {
    /// Which, from 0.
    pub step: usize,
}

/// Runs the machine.
///
/// # Errors
/// If the transitions do not follow one another from the initial state.
pub fn replay(machine: &Machine, moves: &[Move]) -> Result<Run, NotARun> {
    let mut holds: Vec<Option<usize>> = vec![None; machine.registers().len()];
    let mut run = Run { accesses: Vec::new(), initial_values: machine.initial_values };
    let mut state = machine.initial();
    for (step, &number) in moves.iter().enumerate() {
        let transition = machine.transitions().get(number.index()).filter(|transition| transition.from == state);
        let transition = transition.ok_or(NotARun { step })?;
        state = transition.to;
        match transition.event {
            Event::Write { core, location, register } => {
                holds[register.index()] = Some(run.accesses.len());
                run.accesses.push(Access { core, location, kind: Kind::Write, step });
            }
            Event::Read { core, location, register } => {
                run.accesses.push(Access { core, location, kind: Kind::Read(holds[register.index()]), step });
            }
            Event::Copy { to, from } => holds[to.index()] = holds[from.index()],
            Event::Idle => {}
        }
    }
    Ok(run)
}

impl Run {
    /// The accesses that write this location.
    pub(crate) fn writes(&self, location: Location) -> impl Iterator<Item = usize> + '_ {
        let writes = move |access: &Access| access.kind == Kind::Write && access.location == location;
        self.accesses.iter().enumerate().filter(move |(_, access)| writes(access)).map(|(at, _)| at)
    }

    /// The write that a read has to agree with: its source, if that wrote the same location.
    pub(crate) fn source(&self, read: usize) -> Option<usize> {
        match self.accesses[read].kind {
            Kind::Read(Some(write)) if self.accesses[write].location == self.accesses[read].location => Some(write),
            _ => None,
        }
    }

    /// The locations that occur.
    pub(crate) fn locations(&self) -> impl Iterator<Item = Location> {
        let count = self.accesses.iter().map(|access| access.location.0 + 1).max().unwrap_or(0);
        (0..count).map(Location)
    }

    /// For each access the previous one of its core.
    pub(crate) fn previous(&self) -> Vec<Option<usize>> {
        let mut last = rustc_hash::FxHashMap::default();
        self.accesses.iter().enumerate().map(|(at, access)| last.insert(access.core, at)).collect()
    }
}
