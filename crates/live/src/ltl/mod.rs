//! Linear temporal logic over conditions on global variables.
//!
//! A formula is about an infinite sequence of states: those of a run, one per step of the machine, and for ever the last one if the run ends. `G p`: p in every state; `F p`: in some state from here on; `X p`: in the
//! next one; `p U q`: p until q, which comes; `p R q`: q up to and including a state with p, or for ever; `p W q`: p until q, or for ever. A condition compares sums of global variables and numbers; memory is
//! asked, not store buffers.
//!
//! [`formula`] reads it, [`atoms`] finds the variables, [`tableau`] makes the automaton of the runs that break it, [`product`] looks for a fair run among them, and [`word`] says by the
//! definition whether a run that was found breaks it: it knows no automaton.

pub mod atoms;
pub mod formula;
pub mod product;
pub mod tableau;
pub mod word;

use atoms::{Atom, Letter};
use formula::Formula;
use raddle_machine::ByteMemory;
use raddle_program::Program;

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What.
    pub message: String,
    /// At which character, from 0.
    pub at: usize,
    /// For how many characters.
    pub len: usize,
}

/// A formula about the states of a program.
#[derive(Clone, Debug)]
pub struct Ltl {
    /// As it was written.
    pub text: String,
    /// The formula; its conditions are numbered.
    pub formula: Formula,
    /// The conditions.
    pub atoms: Vec<Atom>,
}

impl Ltl {
    /// Reads a formula about this program.
    ///
    /// # Errors
    /// If it is none, or speaks of what the program does not have.
    pub fn parse(text: &str, program: &Program) -> Result<Ltl, Wrong> {
        let tree = formula::parse(text)?;
        let mut atoms = Vec::new();
        let formula = formula::of(&tree, &mut |condition| {
            let atom = atoms::resolve(condition, program)?;
            if let Some(known) = atoms.iter().position(|known| *known == atom) {
                return Ok(known);
            }
            if atoms.len() == Letter::BITS as usize {
                let (at, len) = (condition.at, condition.len);
                return Err(Wrong { message: format!("a formula has at most {} conditions", Letter::BITS), at, len });
            }
            atoms.push(atom);
            Ok(atoms.len() - 1)
        })?;
        Ok(Ltl { text: text.to_owned(), formula, atoms })
    }

    /// Which conditions are true with this memory.
    pub fn letter(&self, memory: &ByteMemory) -> Letter {
        self.atoms.iter().enumerate().filter(|(_, atom)| atom.holds(memory)).fold(0, |letter, (at, _)| letter | 1 << at)
    }
}
