//! Depth first: quick where there is a linearization.
//!
//! A failure refutes the configuration of the part it is about, and goes back to the last decision about that part.

use super::mask::Mask;
use super::model::Model;
use super::moves::Moves;
use super::refuted::{Options, Refuted};
use super::terms::Found;

/// A configuration on the current path, from which something is to be tried.
struct Frame<K> {
    level: u32,
    options: Options<K>,
    /// The part it decides about, and the state of that part.
    part: u32,
    state: u32,
    /// The range of its candidates, from the next one to try.
    candidates: (usize, usize),
    /// How long the linearization and the list of changes are here.
    line: usize,
    changes: usize,
}

/// A search along one path.
struct Depth<'s, 'm, M: Model, K: Mask> {
    moves: &'s mut Moves<'m, M, K>,
    refuted: Refuted<K>,
    path: Vec<Frame<K>>,
}

/// Searches until `patience` configurations have been visited; then there is no answer.
pub(super) fn search<M: Model, K: Mask>(
    moves: &mut Moves<'_, M, K>,
    mut options: Options<K>,
    patience: u64,
) -> Option<Found<M::State>> {
    let refuted = Refuted::new(moves.layout.slots);
    let mut depth = Depth { moves, refuted, path: Vec::new() };
    while let Some(next) = depth.moves.cursor.next(&depth.moves.layout) {
        depth.moves.visited += 1;
        if let Some(limit) = depth.moves.exhausted(|| depth.bytes()) {
            return Some(Found::OutOfBudget(limit));
        }
        if depth.moves.visited > patience {
            return None;
        }
        let failed = depth.enter(options, next);
        match depth.resume(failed) {
            Ok(reached) => options = reached,
            Err(part) => return Some(Found::None(depth.moves.window(part))),
        }
    }
    Some(Found::Linearization(depth.moves.linearization(&depth.moves.line)))
}

impl<M: Model, K: Mask> Depth<'_, '_, M, K> {
    /// Puts a configuration on the path, or tells the part on which it is known to fail.
    fn enter(&mut self, options: Options<K>, next: u32) -> Option<u32> {
        let moves = &mut *self.moves;
        let part = moves.layout.part[next as usize];
        let state = moves.now[part as usize];
        let level = moves.cursor.level;
        let mine = options.only(&moves.cursor.members(&moves.layout, part));
        moves.trail.note(self.path.last().map(|frame| frame.level), level, part, state, &mine);
        if self.refuted.covers(level, state, &mine) {
            return Some(part);
        }
        let candidates = moves.collect(&options, next);
        let (line, changes) = (moves.line.len(), moves.changes.len());
        self.path.push(Frame { level, options, part, state, candidates, line, changes });
        None
    }

    /// Takes the next candidate of the path and goes where it leads; tells the part on which everything failed if none is left.
    fn resume(&mut self, mut failed: Option<u32>) -> Result<Options<K>, u32> {
        let moves = &mut *self.moves;
        loop {
            // Decisions about other parts are not to blame.
            while let Some(part) = failed
                && self.path.last().is_some_and(|frame| frame.part != part)
            {
                self.path.pop();
            }
            let Some(frame) = self.path.last_mut() else {
                return Err(failed.expect("the path only gets empty by failures"));
            };
            moves.cursor.retreat(&moves.layout, frame.level);
            if frame.candidates.0 < frame.candidates.1 {
                let candidate = moves.candidates[frame.candidates.0];
                frame.candidates.0 += 1;
                moves.candidates.truncate(frame.candidates.1);
                moves.line.truncate(frame.line);
                moves.undo(frame.changes);
                let mut options = frame.options.clone();
                let next = moves.layout.returns[frame.level as usize];
                moves.make(&mut options, next, candidate);
                return Ok(options);
            }
            let mine = frame.options.only(&moves.cursor.members(&moves.layout, frame.part));
            self.refuted.add(frame.level, frame.state, mine);
            failed = Some(frame.part);
            self.path.pop();
        }
    }

    fn bytes(&self) -> u64 {
        let frame = std::mem::size_of::<Frame<K>>() + 2 * K::outside(self.moves.layout.slots);
        self.refuted.bytes() + (self.path.len() * frame) as u64
    }
}
