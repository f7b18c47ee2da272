//! Reads and writes of a history as a trace: what each process did in order, and which write each read read. Real time is forgotten.
//!
//! Processes are threads, keys are locations. So a log of a store can be asked about every model that [`raddle_consistency`] knows. As for the levels, the values of a key must all be
//! different, a write that never returned and that nobody read need not have happened, and a read that never returned tells nothing.
//!
//! Cost: linear; some 250 bytes an operation until the trace is made, about 100 of which stay (the history among them).

use raddle_consistency::{Action, EventId, Instance, Loc, Source, ThreadId};
use rustc_hash::FxHashMap;

use super::Acts;
use crate::check::{CheckError, Config};
use crate::history::{History, OpId};
use crate::value::ValueId;

/// What was read and written, as a trace.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The trace. A read of a value that nobody wrote is there as a read of the value at the beginning.
    pub instance: Instance,
    /// The operation behind each event of each thread, in order. A write of which nobody knows when it ended is a thread of its own, if its process went on; there it is started.
    pub threads: Vec<Vec<OpId>>,
    /// The key of each location.
    pub keys: Vec<ValueId>,
    /// A read that returned what nobody wrote: no model explains that.
    pub unwritten: Option<OpId>,
}

/// The trace of a history of a register or a map.
///
/// # Errors
/// If there are operations other than reads and writes, or values repeat.
pub fn observe(history: &History, config: &Config) -> Result<Observed, CheckError> {
    let acts = Acts::new(history, config)?;
    let (instance, keys, threads) = acts.instance();
    let unwritten = acts.unwritten().map(|read| acts.id(read));
    let threads = threads.iter().map(|own| acts.ids(own)).collect();
    Ok(Observed { instance, threads, keys, unwritten })
}

impl Acts {
    /// As a trace, the key of each of its locations, and the operation behind each event of each thread.
    pub(super) fn instance(&self) -> (Instance, Vec<ValueId>, Vec<Vec<u32>>) {
        let mut threads = self.processes.clone();
        let alone: FxHashMap<u32, u32> =
            (0u32..).zip(&self.processes).filter_map(|(thread, own)| Some((*own.first()?, thread))).collect();
        let mut starts: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        self.after.iter().for_each(|&(before, write)| starts.entry(before).or_default().push(write));
        if !starts.is_empty() {
            for own in &mut threads {
                let with = |&act: &u32| std::iter::once(act).chain(starts.get(&act).into_iter().flatten().copied());
                *own = own.iter().flat_map(with).collect();
            }
        }
        let mut place = vec![EventId::new(ThreadId(0), 0); self.acts.len()];
        let is_started = |thread: u32, act: u32| alone.get(&act).copied().filter(|&own| own != thread);
        for (thread, own) in (0u32..).zip(&threads) {
            for (index, &act) in (0u32..).zip(own).filter(|&(_, &act)| is_started(thread, act).is_none()) {
                place[act as usize] = EventId::new(ThreadId(thread), index);
            }
        }
        let mut numbers: FxHashMap<ValueId, u32> = FxHashMap::default();
        let mut keys = Vec::new();
        let mut instance = Instance::new();
        for (thread, own) in (0u32..).zip(&threads) {
            instance.begin_thread();
            for &act in own {
                if let Some(child) = is_started(thread, act) {
                    instance.push(Action::Spawn { child: ThreadId(child) });
                    continue;
                }
                let key = self.acts[act as usize].key;
                let loc = Loc(*numbers.entry(key).or_insert_with(|| {
                    keys.push(key);
                    keys.len() as u32 - 1
                }));
                let from =
                    self.source[act as usize].map_or(Source::Initial, |write| Source::Write(place[write as usize]));
                let writes = self.acts[act as usize].writes;
                instance.push(if writes { Action::Write { loc } } else { Action::Read { loc, from } });
            }
        }
        (instance, keys, threads)
    }
}
