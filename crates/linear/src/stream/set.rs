//! A set while it is being read.
//!
//! The lazy greedy of [`crate::monitor::set`], without knowing the results of open operations. Whether an open add will turn out
//! to have added or to have found the value there shows only at its return; so a toggle does not choose an operation but
//! leaves a *token*: "some add that is open now took effect here". An add that returns successfully uses up the oldest
//! token issued since its call; one that returns unsuccessfully can serve no token any more. At every moment the unused tokens must be
//! servable by distinct open operations called before them; as the sets of candidates are nested, comparing the sorted
//! lists decides that.
//!
//! A query was right at some moment of its call iff the state was right when it was called or has changed since.
//!
//! Holds: the values that are present, and those with open operations. Cost: linear in the open operations of the value, an event.

use rustc_hash::FxHashMap;

use super::multiset::renamed;
use super::{Seen, Trouble, Watcher, Wrong};
use crate::history::{Method, Op, Ts};
use crate::value::{ValueId, Values};

/// What is known of one value.
#[derive(Default)]
struct Projection {
    present: bool,
    /// How often the state has changed since nothing was last open.
    changes: u64,
    /// Adds (0) and removes (1) that are open or lost: how many changes there had been at their calls.
    active: [Vec<u64>; 2],
    /// Unused tokens of adds (0) and removes (1): the change they stand for.
    tokens: [Vec<u64>; 2],
    /// Every open operation by its call: the state and the number of changes then.
    open: FxHashMap<Ts, (bool, u64)>,
    /// How many operations were lost.
    lost: usize,
}

/// Watches a set.
#[derive(Default)]
pub struct SetWatcher {
    values: FxHashMap<ValueId, Projection>,
}

const ADD: usize = 0;
const REMOVE: usize = 1;

fn kind(op: &Op) -> Option<usize> {
    match op.method {
        Method::Insert => Some(ADD),
        Method::Remove => Some(REMOVE),
        _ => None,
    }
}

impl Projection {
    /// Whether the unused tokens of a kind can be served by distinct active operations.
    fn served(&self, kind: usize) -> bool {
        let (tokens, active) = (&self.tokens[kind], &self.active[kind]);
        tokens.len() <= active.len() && tokens.iter().zip(active).all(|(token, called)| called < token)
    }

    /// Changes the state by some active operation.
    fn toggle(&mut self) -> bool {
        let kind = if self.present { REMOVE } else { ADD };
        self.changes += 1;
        self.present = !self.present;
        self.tokens[kind].push(self.changes);
        self.served(kind)
    }

    /// An active operation is active no longer.
    fn deactivate(&mut self, kind: usize, called: u64) {
        // Both lists grow at the end with a count that never falls, so they are sorted.
        let at = self.active[kind].partition_point(|&other| other < called);
        self.active[kind].remove(at);
    }
}

impl SetWatcher {
    fn projection(&mut self, op: &Op) -> &mut Projection {
        self.values.entry(op.arg).or_default()
    }

    fn tidy(&mut self, value: ValueId) {
        if let Some(projection) = self.values.get_mut(&value)
            && projection.open.is_empty()
            && projection.lost == 0
        {
            if projection.present {
                projection.changes = 0;
            } else {
                self.values.remove(&value);
            }
        }
    }
}

impl Watcher for SetWatcher {
    fn called(&mut self, op: &Op) -> Seen {
        if op.method == Method::Read {
            let why = "reads of a whole set are not covered by its monitor";
            return Err(Trouble::Unsupported(Wrong::new(why, &[])));
        }
        let projection = self.projection(op);
        let mark = (projection.present, projection.changes);
        projection.open.insert(op.call, mark);
        if let Some(kind) = kind(op) {
            projection.active[kind].push(mark.1);
        }
        Ok(())
    }

    fn returned(&mut self, op: &Op, _: &mut Values) -> Seen {
        let wrong = |message: &str| Err(Trouble::Wrong(Wrong::new(message, &[op.arg])));
        if op.result.is_none() {
            let why = "it is not told whether {0} was new, which the monitor of sets needs";
            return Err(Trouble::Unsupported(Wrong::new(why, &[op.arg])));
        }
        let projection = self.projection(op);
        let Some((present_then, called)) = projection.open.remove(&op.call) else {
            return Ok(());
        };
        let truth = op.result == Some(ValueId::TRUE);
        match kind(op) {
            Some(kind) if truth => {
                projection.deactivate(kind, called);
                let token = projection.tokens[kind].iter().position(|&token| token > called);
                match token {
                    Some(at) => {
                        projection.tokens[kind].remove(at);
                    }
                    None => {
                        if projection.present == (kind == ADD) && !projection.toggle() {
                            return wrong(if kind == ADD {
                                "{0} was added although it was there and nothing could have removed it"
                            } else {
                                "{0} was removed although it was not there and nothing could have added it"
                            });
                        }
                        projection.changes += 1;
                        projection.present = kind == ADD;
                    }
                }
                if !projection.served(kind) {
                    return wrong("no operation on {0} is left that could have done what others saw");
                }
            }
            other => {
                let wanted = match other {
                    Some(ADD) => true,
                    Some(_) => false,
                    None => truth,
                };
                if let Some(kind) = other {
                    projection.deactivate(kind, called);
                    if !projection.served(kind) {
                        return wrong("no operation on {0} is left that could have done what others saw");
                    }
                }
                let seen = present_then == wanted || projection.changes > called;
                if !seen && !projection.toggle() {
                    return wrong(if wanted {
                        "{0} was found there although it was not and nothing could have added it"
                    } else {
                        "{0} was not found although it was there and nothing could have removed it"
                    });
                }
            }
        }
        self.tidy(op.arg);
        Ok(())
    }

    fn vanished(&mut self, op: &Op) -> Seen {
        let projection = self.projection(op);
        let Some((_, called)) = projection.open.remove(&op.call) else {
            return Ok(());
        };
        if let Some(kind) = kind(op) {
            projection.deactivate(kind, called);
            if !projection.served(kind) {
                return Err(Trouble::Wrong(Wrong::new(
                    "an operation on {0} had no effect, yet others saw it",
                    &[op.arg],
                )));
            }
        }
        self.tidy(op.arg);
        Ok(())
    }

    fn lost(&mut self, op: &Op) -> Seen {
        let projection = self.projection(op);
        projection.open.remove(&op.call);
        if kind(op).is_some() {
            projection.lost += 1;
        }
        self.tidy(op.arg);
        Ok(())
    }

    fn finish(&mut self, _: &mut Values) -> Result<Option<String>, Trouble> {
        Ok(None)
    }

    fn held(&self) -> usize {
        self.values.len()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.values =
            self.values.drain().map(|(mut value, projection)| (renamed(&mut value, visit), projection)).collect();
    }
}
