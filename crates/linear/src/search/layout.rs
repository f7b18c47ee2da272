//! A history as the search sees it: numbers.
//!
//! Operations with the same call and answer are of one *class*; the parts of the object are numbered; each operation has a *slot* while
//! it is open, which is given to another one once it has returned, so that sets of open operations are a few bits.

use rustc_hash::FxHashMap;

use super::model::Model;
use super::terms::Entry;
use crate::history::Ts;

/// The order of the events, and what each operation is.
pub(super) struct Layout {
    /// Operations that return, in order of their returns.
    pub(super) returns: Vec<u32>,
    /// All operations in order of their calls.
    calls: Vec<u32>,
    /// For each return, how many operations had been called by then.
    called: Vec<u32>,
    /// Of each operation, its slot.
    slot: Vec<u32>,
    /// How many slots there are.
    pub(super) slots: usize,
    /// Of each operation, when it returns.
    pub(super) end: Vec<Ts>,
    /// Of each operation, its class.
    pub(super) class: Vec<u32>,
    /// Of each operation, the number of the part it is about.
    pub(super) part: Vec<u32>,
    /// How many parts there are.
    pub(super) parts: usize,
}

/// The calls with their answers, by class.
pub(super) type Classes<M> = Vec<(<M as Model>::Call, Option<<M as Model>::Ret>)>;

impl Layout {
    /// The history up to, but without, the events of `until`.
    pub(super) fn new<M: Model>(model: &M, entries: &[Entry<M>], until: Ts) -> (Layout, Classes<M>) {
        let mut calls: Vec<u32> = (0..entries.len() as u32).collect();
        calls.sort_by_key(|&at| entries[at as usize].start);
        let mut returns: Vec<u32> = (0..entries.len() as u32).filter(|&at| entries[at as usize].end < until).collect();
        returns.sort_by_key(|&at| entries[at as usize].end);
        let mut slot = vec![0; entries.len()];
        let (mut free, mut slots, mut next) = (Vec::new(), 0, 0);
        let mut called = Vec::with_capacity(returns.len());
        for &done in &returns {
            while next < calls.len() && entries[calls[next] as usize].start < entries[done as usize].end {
                slot[calls[next] as usize] = free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                });
                next += 1;
            }
            called.push(next as u32);
            free.push(slot[done as usize]);
        }
        let mut classes = Numbering::default();
        let class = entries.iter().map(|entry| classes.number(&(entry.call.clone(), entry.ret.clone()))).collect();
        let mut parts = Numbering::default();
        let part = entries.iter().map(|entry| parts.number(&model.part(&entry.call))).collect();
        let layout = Layout {
            returns,
            calls,
            called,
            slot,
            slots: slots as usize,
            end: entries.iter().map(|entry| entry.end).collect(),
            class,
            part,
            parts: parts.items.len(),
        };
        (layout, classes.items)
    }

    /// How many returns there are.
    pub(super) fn last(&self) -> u32 {
        self.returns.len() as u32
    }

    /// The slot of an operation.
    pub(super) fn slot(&self, op: u32) -> usize {
        self.slot[op as usize] as usize
    }

    /// Whether an operation never returns.
    pub(super) fn pending(&self, op: u32) -> bool {
        self.end[op as usize] == Ts::INF
    }

    /// The operations called between the return before this level and the return of this level.
    pub(super) fn opened(&self, level: u32) -> &[u32] {
        let from = level.checked_sub(1).map_or(0, |before| self.called[before as usize]);
        &self.calls[from as usize..self.called[level as usize] as usize]
    }
}

/// Numbers for things, in the order in which they are first met.
struct Numbering<T> {
    items: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbering<T> {
    fn default() -> Numbering<T> {
        Numbering { items: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbering<T> {
    fn number(&mut self, item: &T) -> u32 {
        if let Some(&number) = self.numbers.get(item) {
            return number;
        }
        let number = self.items.len() as u32;
        self.items.push(item.clone());
        self.numbers.insert(item.clone(), number);
        number
    }
}
