//! What all sequences of one exploration share: the code, numbers for locations, initial values.

use super::event::{LocId, NO_LOC};
use raddle_engine::{Fault, Options, Refusal};
use raddle_machine::names::Lookup;
use raddle_machine::{Access, Addr, Automaton, ByteMemory, Code, Status, System, Thread, Visible};
use raddle_trace::{Model, Schedule, Step, ThreadId};
use rustc_hash::FxHashMap;

/// How many steps the first thread may do before it starts another.
const LONGEST_OPENING: usize = 10_000_000;

/// The value of a location before anything is written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initial {
    Value(u64),
    Uninitialised,
}

/// What all sequences share.
#[derive(Debug)]
pub(crate) struct World<'c> {
    pub(crate) code: &'c Code,
    /// The first thread when it is no longer alone.
    pub(crate) main: Thread,
    /// How it came there.
    pub(crate) opening: Schedule,
    /// Memory at that moment.
    memory: ByteMemory,
    /// The objects whose lives had ended by then.
    ended: Vec<Addr>,
    locations: FxHashMap<Addr, LocId>,
    accesses: Vec<Access>,
    /// Which location each byte belongs to.
    bytes: FxHashMap<Addr, LocId>,
    /// Initial values that do not depend on who allocated what.
    initials: Vec<Option<Initial>>,
}

impl<'c> World<'c> {
    /// Runs the first thread on the machine until its next operation is a choice, the start of a thread, or cannot be
    /// done. Nobody else is there, so every execution begins in this way.
    pub(crate) fn new(code: &'c Code, options: &Options) -> Self {
        debug_assert!(super::MODELS.contains(&options.model), "engines check the model first");
        let mut system = System::new(code, Model::Sc, false, false);
        let mut opening = Schedule::default();
        while opening.steps.len() < LONGEST_OPENING {
            let main = system.thread(ThreadId::MAIN).expect("the first thread");
            let alone = match main.status() {
                Status::Ready(visible) => {
                    !matches!(visible, Visible::Spawn { .. } | Visible::Choose { .. } | Visible::Join { .. })
                }
                _ => false,
            };
            let step = Step::Run(ThreadId::MAIN);
            if !alone || system.moves() != [step] {
                break;
            }
            system.step(step).expect("it is among the moves");
            opening.steps.push(step);
        }
        World {
            code,
            main: system.thread(ThreadId::MAIN).expect("the first thread").clone(),
            opening,
            memory: system.memory().clone(),
            ended: system.ended().collect(),
            locations: FxHashMap::default(),
            accesses: Vec::new(),
            bytes: FxHashMap::default(),
            initials: Vec::new(),
        }
    }

    /// The number of a location. Two accesses that overlap must be to the same bytes.
    pub(crate) fn loc(&mut self, access: Access, pc: u32) -> Result<LocId, Fault> {
        let known = self.locations.get(&access.addr).copied().unwrap_or(NO_LOC);
        if known != NO_LOC && self.accesses[known as usize].size == access.size {
            return Ok(known);
        }
        let loc = self.accesses.len() as LocId;
        for byte in 0..u32::from(access.size) {
            if self.bytes.insert(access.addr.plus(byte), loc).is_some() {
                let message =
                    format!("accesses of different sizes overlap at {:#x}; this is not supported yet", access.addr.0);
                return Err(Refusal::at(self.code, pc, message).into());
            }
        }
        self.locations.insert(access.addr, loc);
        self.accesses.push(access);
        self.initials.push(None);
        Ok(loc)
    }

    /// The bytes a location stands for.
    pub(crate) fn access(&self, loc: LocId) -> Access {
        self.accesses[loc as usize]
    }

    /// The value of a location that nothing has been written to.
    pub(crate) fn initial(&mut self, loc: LocId, threads: Lookup<'_>) -> Initial {
        if let Some(initial) = self.initials[loc as usize] {
            return initial;
        }
        let access = self.accesses[loc as usize];
        if let Some((value, written)) = self.memory.read(access) {
            let initial = if written { Initial::Value(value) } else { Initial::Uninitialised };
            self.initials[loc as usize] = Some(initial);
            return initial;
        }
        let located = self.code.locate(access, threads).expect("checked before the access was offered");
        located.contents.value(access).map_or(Initial::Uninitialised, Initial::Value)
    }

    /// What is wrong with an access, as far as that does not depend on what other threads do meanwhile.
    pub(crate) fn check(&self, access: Access, threads: Lookup<'_>) -> Option<String> {
        match self.code.locate(access, threads) {
            Err(message) => Some(message),
            Ok(located) if self.ended.contains(&located.base) => {
                let name = self.code.describe(access.addr, threads);
                Some(format!("access to {name} after its life has ended"))
            }
            Ok(_) => None,
        }
    }

    /// What is wrong with ending the life of the object at this address, as far as that does not depend on others.
    pub(crate) fn check_free(&self, addr: Addr, scope: bool, threads: Lookup<'_>) -> Option<String> {
        let access = Access { addr, size: 0 };
        if let Some(message) = self.check(access, threads) {
            return Some(message);
        }
        let located = self.code.locate(access, threads).ok()?;
        let freeable = located.mortal && (scope || (located.heap && addr == located.base));
        (!freeable).then(|| {
            let name = self.code.describe(addr, threads);
            format!("free of {name}, which is not the start of an allocated object")
        })
    }
}
