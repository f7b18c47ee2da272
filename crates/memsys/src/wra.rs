//! Do all runs of a machine satisfy WRA? Backward saturation, in polynomial time (Grahn 2026).
//!
//! A violating run can be cut at the read r that returns a hidden write: `... w ... w' ... r`, with w hb w' hb r. Seen from its end, a suffix of it is described
//! by a few words about the state q that it begins in:
//!
//! * `Fragile(q, a, c, x)`: a suffix from q ends in a read of x that returns what register a holds now, and whatever is at c now is hb-before that
//!   read. c is a core (all that it did so far) or a register (the write that it holds).
//! * `Exposed(q, a, c, x)`: the same, and a write w' of x stands in the suffix, hb-before the read; whatever is at c is hb-before w'.
//! * `Violating(q)`: the suffix violates whatever comes before it.
//!
//! | transition p → q | at q | at p |
//! |---|---|---|
//! | φ reads x from a | | `Fragile(a, φ, x)` |
//! | d := b | `K(a, c, x)` | the same with d replaced by b |
//! | θ reads from d | `K(a, c, x)` | the same; if c = θ also `K(a, d, x)` |
//! | θ writes y into d ≠ a | `K(a, c, x)` | `K(a, θ if c = d else c, x)` |
//! | the same, y = x, c ∈ {θ, d} | `Fragile(a, c, x)` | also `Exposed(a, θ, x)`: this write is w' |
//! | θ writes x into a, c ∈ {θ, a} | `Exposed(a, c, x)` | `Violating`: this write is w |
//! | any | `Violating` | `Violating` |
//!
//! With initial values, `Exposed` in the initial state is a violation too: every register holds an initial value there, which is hb-before everything.
//!
//! Facts are met in the order of the lengths of their suffixes, so the first violation is a shortest one. There are at most
//! 2·states·registers·(cores + registers)·locations of them, a bit each, and 12 bytes for those that hold. The published rules carry the final state as well, which the
//! decision does not need.

use crate::budget::{Budget, Limit};
use crate::machine::{Event, Machine, Move, Neighbours, State};

/// What is known of a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Seen { exposed: bool, state: State, register: u32, carrier: u32, location: u32 },
    Violating(State),
}

/// What saturation found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// All runs satisfy WRA.
    Nothing,
    /// A shortest run that does not.
    Violation(Vec<Move>),
    /// A limit was reached.
    Stopped(Limit),
}

struct Saturation<'m> {
    machine: &'m Machine,
    cores: u32,
    registers: u32,
    locations: u32,
    seen: Vec<u64>,
    /// Each fact, the transition in front of its suffix and the fact that it was made of.
    facts: Vec<(Fact, u32, u32)>,
}

/// Looks for a violation of WRA; the number of facts that were met comes with it.
pub fn saturate(machine: &Machine, budget: &Budget) -> (Found, u64) {
    let (cores, registers) = (machine.cores().len() as u64, machine.registers().len() as u64);
    let (states, locations) = (machine.states().len() as u64, machine.locations().len() as u64);
    let places = [registers, cores + registers, locations, 2].into_iter().try_fold(states, u64::checked_mul);
    let Some(bits) = places.and_then(|facts| facts.checked_add(states)).filter(|bits| bits / 8 <= budget.bytes) else {
        return (Found::Stopped(Limit::Memory), 0);
    };
    let mut saturation = Saturation {
        machine,
        cores: cores as u32,
        registers: registers as u32,
        locations: locations as u32,
        seen: vec![0; bits.div_ceil(64) as usize],
        facts: Vec::new(),
    };
    let found = saturation.run(budget, bits / 8);
    (found, saturation.facts.len() as u64)
}

impl Saturation<'_> {
    fn run(&mut self, budget: &Budget, table: u64) -> Found {
        let entering = Neighbours::entering(self.machine);
        for (number, transition) in self.machine.transitions().iter().enumerate() {
            if let Event::Read { core, location, register } = transition.event {
                let fact = Fact::Seen {
                    exposed: false,
                    state: transition.from,
                    register: register.0,
                    carrier: core.0,
                    location: location.0,
                };
                self.insert(fact, number as u32, u32::MAX);
            }
        }
        let mut at = 0;
        while at < self.facts.len() {
            let fact = self.facts[at].0;
            if self.is_violation(fact) {
                return Found::Violation(self.suffix(at));
            }
            let held = table + (self.facts.len() * size_of::<(Fact, u32, u32)>()) as u64;
            if let Some(limit) = budget.reached(at as u64, self.facts.len() as u64, held) {
                return Found::Stopped(limit);
            }
            let state = match fact {
                Fact::Seen { state, .. } | Fact::Violating(state) => state,
            };
            for &number in entering.of(state) {
                self.step(fact, number, at as u32);
            }
            at += 1;
        }
        Found::Nothing
    }

    /// Whether the suffix alone is a violating run.
    fn is_violation(&self, fact: Fact) -> bool {
        match fact {
            Fact::Violating(state) => state == self.machine.initial(),
            Fact::Seen { exposed, state, .. } => {
                exposed && self.machine.initial_values && state == self.machine.initial()
            }
        }
    }

    /// Puts a transition in front of a suffix.
    fn step(&mut self, fact: Fact, number: u32, parent: u32) {
        let transition = self.machine.transition(Move(number));
        let state = transition.from;
        let Fact::Seen { exposed, register, carrier, location, .. } = fact else {
            self.insert(Fact::Violating(state), number, parent);
            return;
        };
        let cores = self.cores;
        let mut derive = |exposed, register, carrier| {
            self.insert(Fact::Seen { exposed, state, register, carrier, location }, number, parent);
        };
        match transition.event {
            Event::Idle => derive(exposed, register, carrier),
            Event::Copy { to, from } => {
                let replaced = |register| if register == to.0 { from.0 } else { register };
                let carrier = if carrier < cores { carrier } else { cores + replaced(carrier - cores) };
                derive(exposed, replaced(register), carrier);
            }
            Event::Read { core, register: source, .. } => {
                derive(exposed, register, carrier);
                if carrier == core.0 {
                    derive(exposed, register, cores + source.0);
                }
            }
            Event::Write { core, location: written, register: target } => {
                let before = carrier == core.0 || carrier == cores + target.0;
                if target.0 != register {
                    derive(exposed, register, if before { core.0 } else { carrier });
                    if !exposed && before && written.0 == location {
                        derive(true, register, core.0);
                    }
                } else if exposed && before && written.0 == location {
                    self.insert(Fact::Violating(state), number, parent);
                }
            }
        }
    }

    fn insert(&mut self, fact: Fact, number: u32, parent: u32) {
        let bit = match fact {
            Fact::Seen { exposed, state, register, carrier, location } => {
                let at = u64::from(state.0) * u64::from(self.registers) + u64::from(register);
                let at = at * u64::from(self.cores + self.registers) + u64::from(carrier);
                (at * u64::from(self.locations) + u64::from(location)) * 2 + u64::from(exposed)
            }
            Fact::Violating(state) => {
                let last = self.machine.states().len() as u64 * u64::from(self.registers);
                let last = last * u64::from(self.cores + self.registers) * u64::from(self.locations) * 2;
                last + u64::from(state.0)
            }
        };
        let (word, mask) = (&mut self.seen[(bit / 64) as usize], 1 << (bit % 64));
        if *word & mask == 0 {
            *word |= mask;
            self.facts.push((fact, number, parent));
        }
    }

    /// The transitions of the suffix that a fact is about.
    fn suffix(&self, fact: usize) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut at = fact as u32;
        while let Some(&(_, number, parent)) = self.facts.get(at as usize) {
            moves.push(Move(number));
            at = parent;
        }
        moves
    }
}
