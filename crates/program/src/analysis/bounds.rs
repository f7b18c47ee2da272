//! How often may a loop turn?
//!
//! There may be one bound for every loop, and bounds for single loops, which are named by the line they begin at or by the function they stand
//! in. A bound for a single loop goes before the one for all, and holds whether or not it is known how often the loop turns. Loops of the
//! front end's own never have a bound.

use super::cfg::Cfg;
use super::loops::{LoopId, Loops};
use crate::inst::Turn;
use crate::program::{Function, Program};
use crate::source::SourceMap;
use std::path::Path;

/// Where a loop stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopPlace {
    /// It begins at this line of a file; the file's name may lack leading folders.
    Line(String, u32),
    /// It is in the function of this name.
    Function(String),
}

/// A bound for the loops at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBound {
    /// Where.
    pub place: LoopPlace,
    /// How often their bodies may be entered each time they are reached.
    pub turns: u32,
}

/// The bounds of a program's loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopBounds {
    /// For every loop.
    pub every: Option<u32>,
    /// For some. If several name one loop, the last does.
    pub named: Vec<NamedBound>,
}

impl LoopBounds {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.every.is_none() && self.named.is_empty()
    }

    /// The least of them.
    pub fn least(&self) -> Option<u32> {
        self.named.iter().map(|bound| bound.turns).chain(self.every).min()
    }

    /// The bound that is meant for this loop of a function by name.
    pub fn named(&self, sources: &SourceMap, function: &Function, turn: Turn) -> Option<u32> {
        let fits = |bound: &&NamedBound| match &bound.place {
            LoopPlace::Line(file, line) => {
                *line == turn.span.line && Path::new(sources.name(turn.span)).ends_with(file)
            }
            LoopPlace::Function(name) => *name == function.name,
        };
        self.named.iter().rev().filter(|_| !turn.unbounded).find(fits).map(|bound| bound.turns)
    }

    /// The bound of this loop of a function.
    pub fn of(&self, sources: &SourceMap, function: &Function, turn: Turn) -> Option<u32> {
        self.named(sources, function, turn).or(self.every).filter(|_| !turn.unbounded)
    }

    /// A place at which the program has no loop.
    pub fn misses(&self, program: &Program) -> Option<&LoopPlace> {
        let single = |bound: &NamedBound| LoopBounds { every: None, named: vec![bound.clone()] };
        let found = |bound: &NamedBound| {
            let only = single(bound);
            program.functions.iter().any(|function| {
                let cfg = Cfg::new(function);
                let loops = Loops::new(function, &cfg);
                let turns = (0..loops.list.len() as u32).map(|id| loops.beginning(function, &cfg, LoopId(id)).1);
                turns.into_iter().any(|turn| only.of(&program.sources, function, turn).is_some())
            })
        };
        self.named.iter().find(|bound| !found(bound)).map(|bound| &bound.place)
    }
}
