//! What grows, where there seem to be more states than one can look at.
//!
//! A number that is counted up in a loop, memory that is allocated there, threads that are started: each of them makes states without end. Which it is shows in the
//! parts of the states that have been met.

use crate::machine::Piece;
use raddle_machine::{Access, Addr, Automaton, Code, Thread};
use raddle_trace::ThreadId;
use rustc_hash::FxHashMap;

/// From so many on, a number of parts is told.
const MANY: usize = 200;

/// The part of the states with the most different forms, in words.
pub fn what_grows(code: &Code, parts: &[Piece]) -> Option<String> {
    let mut objects: FxHashMap<Addr, usize> = FxHashMap::default();
    let mut threads: FxHashMap<ThreadId, (usize, u32)> = FxHashMap::default();
    let mut buffers: FxHashMap<ThreadId, (usize, usize)> = FxHashMap::default();
    for part in parts {
        match part {
            Piece::Object(base, _) | Piece::Cell(Access { addr: base, .. }, _) => {
                *objects.entry(*base).or_default() += 1
            }
            Piece::Thread(thread) => {
                let (forms, made) = threads.entry(thread.id()).or_default();
                *forms += 1;
                *made = thread.objects_made().max(*made);
            }
            Piece::Outgoing(thread, outgoing) => {
                let (forms, longest) = buffers.entry(*thread).or_default();
                *forms += 1;
                *longest = outgoing.stores().len().max(*longest);
            }
            Piece::Rest(_) => {}
        }
    }
    let name = |addr: Addr| code.describe(addr, &|_| None::<&Thread>);
    let objects =
        objects.into_iter().map(|(base, forms)| (forms, base.0, format!("{} had {forms} values", name(base))));
    let threads = threads.into_iter().map(|(id, (forms, made))| {
        let of = code.name(id);
        let text = if made as usize >= MANY / 2 {
            format!("{of} has made {made} objects")
        } else {
            format!("{of} was in {forms} states of its own")
        };
        (forms, u64::from(id.0), text)
    });
    let buffers = buffers.into_iter().map(|(id, (forms, longest))| {
        (forms, u64::from(id.0), format!("the store buffer of {} held up to {longest} stores", code.name(id)))
    });
    let most = objects.chain(threads).chain(buffers).max()?;
    (most.0 >= MANY).then_some(most.2)
}
