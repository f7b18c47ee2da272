//! Long executions, made short before their axioms are evaluated.
//!
//! An access to a location that one thread alone accesses says nothing about the model, if only it reads the last write before it in program order
//! and writes are in program order: all its relations (reads-from, the order of writes, from a read to later writes) are part of program order then. Every run of
//! such accesses of a thread becomes one event that accesses nothing. It cannot be left out: that an access is followed by one elsewhere, and this by
//! a release, is more to the order of seq_cst accesses of RC11 than that it is followed by the release, which may be at the same location.

use super::{Axiomatic, Done, HIDDEN, Kind, Location};
use raddle_program::Ordering;
use raddle_trace::ThreadId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What one thread did at a location that nobody else accesses.
#[derive(Clone, Copy)]
enum Local {
    By { thread: ThreadId, last: Option<usize> },
    Shared,
}

impl Axiomatic {
    /// An execution that satisfies the axioms if and only if this one does, with fewer events; `None` if there is nothing to spare. Locations for which `keep`
    /// is true stay.
    pub(super) fn condensed(&self, keep: impl Fn(Location) -> bool) -> Option<Axiomatic> {
        let local = self.local_locations(keep);
        let is_local = |done: &Done| matches!(done.location.and_then(|at| local.get(&at)), Some(Local::By { .. }));
        let mut number = vec![usize::MAX; self.events.len()];
        let mut events = Vec::new();
        // For each thread, the event that stands for the run that it is in.
        let mut run: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for (at, done) in self.events.iter().enumerate() {
            let thread = done.id.thread;
            if !is_local(done) {
                run.remove(&thread);
                number[at] = events.len();
                events.push(*done);
                continue;
            }
            number[at] = *run.entry(thread).or_insert_with(|| {
                events.push(Done {
                    id: done.id,
                    kind: Kind::Other,
                    location: None,
                    order: Ordering::Relaxed,
                    half: false,
                });
                events.len() - 1
            });
        }
        if events.len() == self.events.len() {
            return None;
        }
        for done in &mut events {
            if let Kind::Read { from: Some(from) } = &mut done.kind {
                *from = number[*from];
            }
        }
        let renamed = |pair: &(usize, usize)| (number[pair.0], number[pair.1]);
        let neighbours = self.neighbours.iter().map(renamed).filter(|(a, b)| a != b).collect();
        let kept = self.order.iter().filter(|(at, _)| !matches!(local.get(at), Some(Local::By { .. })));
        let order = kept.map(|(&at, writes)| (at, writes.iter().map(|&write| number[write]).collect())).collect();
        // How many operations threads have done, and what comes before their next ones, is of no account to the axioms.
        Some(Axiomatic {
            model: self.model,
            initial: self.initial.clone(),
            events,
            threads: BTreeMap::new(),
            neighbours,
            order,
            opening: self.opening,
            opened: BTreeMap::new(),
        })
    }

    /// Which locations one thread alone accesses, in the only way in which it can.
    fn local_locations(&self, keep: impl Fn(Location) -> bool) -> FxHashMap<Location, Local> {
        let mut seen: FxHashMap<Location, Local> = FxHashMap::default();
        for (at, done) in self.events.iter().enumerate() {
            let Some(location) = done.location else { continue };
            let thread = done.id.thread;
            let local = seen.entry(location).or_insert_with(|| match location == HIDDEN || keep(location) {
                true => Local::Shared,
                false => Local::By { thread, last: None },
            });
            let Local::By { thread: owner, last } = local else { continue };
            let reads_last = match done.kind {
                Kind::Read { from } => from == *last,
                _ => true,
            };
            if *owner != thread || !reads_last {
                *local = Local::Shared;
            } else if matches!(done.kind, Kind::Write { .. }) {
                *last = Some(at);
            }
        }
        for (location, writes) in &self.order {
            if !writes.is_sorted() {
                seen.insert(*location, Local::Shared);
            }
        }
        seen
    }
}
