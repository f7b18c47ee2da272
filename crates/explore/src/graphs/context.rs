//! What all graphs of one exploration share: the code, the numbering of locations, initial values.

use super::event::{INIT, LocId, Slot};
use super::graph::{Equivalence, Graph};
use super::models::Model;
use super::realise::{self, Realiser};
use raddle_engine::{Deadline, Fault, Options, Question, Refusal};
use raddle_machine::names::Lookup;
use raddle_machine::{Access, Addr, Automaton, ByteMemory, Code, Status, System, Thread, Visible};
use raddle_trace::{Property, Schedule, Step, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// Numbers for locations, given out on first use and never changed.
#[derive(Debug, Default)]
struct Names {
    locations: FxHashMap<Addr, LocId>,
    accesses: Vec<Access>,
    /// Which location each byte belongs to.
    bytes: FxHashMap<Addr, LocId>,
}

/// What a search is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose {
    /// What makes a class.
    pub(crate) equivalence: Equivalence,
    /// Updates whose results nobody uses commute, as far as is known.
    pub(crate) commuting: bool,
    /// Threads compete for joining another; see [`super::joins`].
    pub(crate) contested_joins: bool,
    /// The first executions are to say whether another engine is better.
    pub(crate) sample: bool,
}

impl Purpose {
    /// To explore one execution per class.
    pub(crate) fn new(equivalence: Equivalence, options: &Options) -> Self {
        Purpose { equivalence, commuting: options.commuting_updates, contested_joins: false, sample: false }
    }
}

/// What is shared by all workers.
#[derive(Debug)]
pub(crate) struct Shared<'c> {
    pub(crate) code: &'c Code,
    pub(crate) options: &'c Options,
    pub(crate) deadline: &'c Deadline<'c>,
    /// Memory when the first thread is started: the initial values of all graphs.
    initial: ByteMemory,
    /// The first thread at that moment.
    pub(crate) main: Arc<Thread>,
    /// How it came there.
    pub(crate) opening: Schedule,
    ended: Vec<Addr>,
    pub(crate) purpose: Purpose,
    names: Mutex<Names>,
}

/// The value of a location before anything is written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initial {
    Value(u64),
    Uninitialised,
}

impl<'c> Shared<'c> {
    /// Runs the first thread up to where it is no longer alone; see [`opening`].
    pub(crate) fn new(question: &Question<'c>, deadline: &'c Deadline<'c>, purpose: Purpose) -> Self {
        let Question { code, options } = *question;
        let (system, opening) = opening(code, options.model);
        let main = Arc::new(system.thread(ThreadId::MAIN).expect("the first thread").clone());
        Shared {
            code,
            options,
            deadline,
            initial: system.memory().clone(),
            main,
            opening,
            ended: system.ended().collect(),
            purpose,
            names: Mutex::default(),
        }
    }

    pub(crate) fn detect_races(&self) -> bool {
        self.code.has_non_atomic() && self.options.properties.contains(Property::Race)
    }
}

/// Runs the first thread on the machine until its next operation is a choice, the start of a thread, or cannot be
/// done. Nobody else is there, so this is one execution's beginning and all executions' beginning.
fn opening<'c>(code: &'c Code, model: raddle_trace::Model) -> (System<'c>, Schedule) {
    let mut system = System::new(code, model, false, false);
    let mut steps = Vec::new();
    loop {
        let main = system.thread(ThreadId::MAIN).expect("the first thread");
        let Status::Ready(visible) = main.status() else { break };
        if matches!(
            visible,
            Visible::Spawn { .. } | Visible::Choose { .. } | Visible::Join { .. } | Visible::AtomicBegin
        ) {
            break;
        }
        let step = match system.moves().as_slice() {
            // A buffered write is flushed before anything else is done.
            [flush @ (Step::Flush(_) | Step::FlushAt(..)), ..] => *flush,
            [Step::Run(thread)] => Step::Run(*thread),
            _ => break,
        };
        system.step(step).expect("it is among the moves");
        steps.push(step);
        if steps.len() > 10_000_000 {
            break;
        }
    }
    while let Some(&flush) = system.moves().iter().find(|step| matches!(step, Step::Flush(_) | Step::FlushAt(..))) {
        system.step(flush).expect("it is among the moves");
        steps.push(flush);
    }
    (system, Schedule { steps })
}

/// One worker's view: the shared part, and what it has looked up already.
#[derive(Debug)]
pub(crate) struct Context<'c> {
    pub(crate) shared: Arc<Shared<'c>>,
    pub(crate) code: &'c Code,
    pub(crate) races: bool,
    /// Updates whose results nobody uses commute.
    pub(crate) commuting: bool,
    locations: FxHashMap<Addr, (LocId, u8)>,
    accesses: Vec<Option<Access>>,
    /// Initial values that do not depend on who allocated what.
    initials: Vec<Option<Initial>>,
    pub(crate) realiser: Realiser,
}

impl<'c> Context<'c> {
    pub(crate) fn new(shared: Arc<Shared<'c>>) -> Self {
        Context {
            code: shared.code,
            races: shared.detect_races(),
            commuting: shared.purpose.commuting,
            shared,
            locations: FxHashMap::default(),
            accesses: Vec::new(),
            initials: Vec::new(),
            realiser: Realiser::default(),
        }
    }

    /// An order of events that explains what they read, as far as the deadline lets one look for it.
    pub(crate) fn realise<M: Model>(&mut self, question: realise::Question<'_, M>) -> Option<&[Slot]> {
        self.realiser.realise(question, self.shared.deadline)
    }

    /// The number of a location. Two accesses that overlap must be to the same bytes.
    pub(crate) fn loc(&mut self, access: Access, pc: u32) -> Result<LocId, Fault> {
        if let Some(&(loc, size)) = self.locations.get(&access.addr)
            && size == access.size
        {
            return Ok(loc);
        }
        let shared = self.shared.clone();
        let mut names = shared.names.lock().expect("no worker panics while it holds the names");
        let mixed = || {
            let message =
                format!("accesses of different sizes overlap at {:#x}; this is not supported yet", access.addr.0);
            Fault::from(Refusal::at(self.code, pc, message))
        };
        let loc = match names.locations.get(&access.addr) {
            Some(&loc) if names.accesses[loc as usize].size == access.size => loc,
            Some(_) => return Err(mixed()),
            None => {
                let loc = names.accesses.len() as LocId;
                for byte in 0..u32::from(access.size) {
                    if names.bytes.insert(access.addr.plus(byte), loc).is_some() {
                        return Err(mixed());
                    }
                }
                names.locations.insert(access.addr, loc);
                names.accesses.push(access);
                loc
            }
        };
        self.locations.insert(access.addr, (loc, access.size));
        Ok(loc)
    }

    /// The bytes a location stands for.
    pub(crate) fn access(&mut self, loc: LocId) -> Access {
        if let Some(Some(access)) = self.accesses.get(loc as usize) {
            return *access;
        }
        let access =
            self.shared.names.lock().expect("no worker panics while it holds the names").accesses[loc as usize];
        if self.accesses.len() <= loc as usize {
            self.accesses.resize(loc as usize + 1, None);
        }
        self.accesses[loc as usize] = Some(access);
        access
    }

    /// The value of a location that nothing has been written to.
    pub(crate) fn initial<M: Model>(&mut self, graph: &Graph<M>, loc: LocId) -> Initial {
        if let Some(Some(initial)) = self.initials.get(loc as usize) {
            return *initial;
        }
        let access = self.access(loc);
        if let Some((value, written)) = self.shared.initial.read(access) {
            let initial = if written { Initial::Value(value) } else { Initial::Uninitialised };
            if self.initials.len() <= loc as usize {
                self.initials.resize(loc as usize + 1, None);
            }
            self.initials[loc as usize] = Some(initial);
            return initial;
        }
        let located = self.code.locate(access, &|id| graph.state(id)).expect("checked before the access was offered");
        located.contents.value(access).map_or(Initial::Uninitialised, Initial::Value)
    }

    /// The value a read of `loc` gets from `source`.
    pub(crate) fn value<M: Model>(&mut self, graph: &Graph<M>, loc: LocId, source: u32) -> Initial {
        if source == INIT { self.initial(graph, loc) } else { Initial::Value(graph.event(source).value) }
    }

    /// What is wrong with an access, as far as that does not depend on what other threads do meanwhile.
    pub(crate) fn check(&self, access: Access, threads: Lookup<'_>) -> Option<String> {
        match self.code.locate(access, threads) {
            Err(message) => Some(message),
            Ok(located) if self.shared.ended.contains(&located.base) => {
                let name = self.code.describe(access.addr, threads);
                Some(format!("access to {name} after its life has ended"))
            }
            Ok(_) => None,
        }
    }

    /// What is wrong with ending the life of the object at this address.
    pub(crate) fn check_free(&self, addr: Addr, scope: bool, threads: Lookup<'_>) -> Option<String> {
        let located = self.code.locate(Access { addr, size: 0 }, threads).ok()?;
        let freeable = located.mortal && (scope || (located.heap && addr == located.base));
        (!freeable).then(|| {
            let name = self.code.describe(addr, threads);
            format!("free of {name}, which is not the start of an allocated object")
        })
    }
}
