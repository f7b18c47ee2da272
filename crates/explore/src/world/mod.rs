//! What every execution of a program begins with, whatever the engine: the first thread run up to where it is no longer alone
//! ([`opening`]), memory as it is then, which objects' lives have ended, and numbers for the locations that threads touch.
//!
//! Engines differ in what they do with events; what an address means is the same for all of them. A [`World`] is shared by the
//! workers of a search. Each has a [`View`] of it, which remembers what it has looked up, so that the lock on the numbers is
//! taken once per worker and location.

mod opening;

use raddle_engine::{Fault, Refusal};
use raddle_machine::address::Owner;
use raddle_machine::names::Lookup;
use raddle_machine::{Access, Addr, ByteMemory, Code, Thread, Written};
use raddle_program::{NO_VALUE, partial};
use raddle_trace::{Model, Place, Schedule, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The number of a location.
pub(crate) type LocId = u32;

/// No location.
pub(crate) const NO_LOC: LocId = u32::MAX;

/// What fences update under models that have them as updates: no object is there.
const HIDDEN: Access = Access { addr: Addr(0), size: 1 };

/// The value of a location before anything is written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initial {
    Value(u64),
    /// Bits of it were never written; all of them, or [`View::part`] says which.
    Uninitialised,
}

impl Initial {
    /// What a write with this value leaves there: a part of something larger may be moved that has no value.
    pub(crate) fn written(value: u64) -> Self {
        if partial::is_partial(value) { Initial::Uninitialised } else { Initial::Value(value) }
    }
}

/// What all executions share.
#[derive(Debug)]
pub(crate) struct World<'c> {
    /// The first thread when it is no longer alone.
    pub(crate) main: Arc<Thread>,
    /// How it came there.
    pub(crate) opening: Schedule,
    code: &'c Code,
    /// Memory at that moment.
    memory: ByteMemory,
    /// The objects whose lives had ended by then.
    ended: Vec<Addr>,
    names: Mutex<Names>,
}

/// Numbers for locations, given out on first use and never changed.
#[derive(Debug, Default)]
struct Names {
    accesses: Vec<Access>,
    /// Which instruction was the first to access each.
    first: Vec<u32>,
    /// Which location each byte belongs to.
    bytes: FxHashMap<Addr, LocId>,
}

impl<'c> World<'c> {
    /// Runs the first thread as long as it is alone.
    pub(crate) fn new(code: &'c Code, model: Model) -> Self {
        let (system, opening) = opening::run(code, model);
        World {
            main: Arc::new(system.thread(ThreadId::MAIN).expect("the first thread").clone()),
            opening,
            code,
            memory: system.memory().clone(),
            ended: system.ended().collect(),
            names: Mutex::default(),
        }
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().expect("no worker panics while it holds the names")
    }
}

impl Names {
    /// The number of a location; or one that it overlaps, and which instruction was the first to access that.
    fn number(&mut self, access: Access, pc: u32) -> Result<LocId, (Access, u32)> {
        let bytes = (0..u32::from(access.size)).map(|byte| access.addr.plus(byte));
        if let Some(&loc) = bytes.clone().find_map(|byte| self.bytes.get(&byte)) {
            let known = self.accesses[loc as usize];
            return if known == access { Ok(loc) } else { Err((known, self.first[loc as usize])) };
        }
        let loc = self.accesses.len() as LocId;
        self.bytes.extend(bytes.map(|byte| (byte, loc)));
        self.accesses.push(access);
        self.first.push(pc);
        Ok(loc)
    }
}

/// One worker's view: the world, and what it has looked up already.
#[derive(Clone, Debug)]
pub(crate) struct View<'c> {
    world: Arc<World<'c>>,
    pub(crate) code: &'c Code,
    /// The size of each, and whether it is part of an object that is always there.
    locations: FxHashMap<Addr, (LocId, u8, bool)>,
    accesses: Vec<Option<Access>>,
    /// Initial values that do not depend on who allocated what.
    initials: Vec<Option<Initial>>,
}

impl<'c> View<'c> {
    pub(crate) fn new(world: Arc<World<'c>>) -> Self {
        let code = world.code;
        View { world, code, locations: FxHashMap::default(), accesses: Vec::new(), initials: Vec::new() }
    }

    /// How the first thread came to where it is no longer alone.
    pub(crate) fn opening(&self) -> &Schedule {
        &self.world.opening
    }

    /// The number of a location. Two accesses that overlap must be to the same bytes.
    pub(crate) fn loc(&mut self, access: Access, pc: u32) -> Result<LocId, Fault> {
        if let Some(&(loc, size, _)) = self.locations.get(&access.addr)
            && size == access.size
        {
            return Ok(loc);
        }
        let named = self.world.names().number(access, pc);
        let loc = named.map_err(|(other, first)| self.overlap((access, pc), (other, first)))?;
        let lasts = matches!(access.addr.owner(), Owner::Global(_)) && self.check(access, &|_| None).is_none();
        self.locations.insert(access.addr, (loc, access.size, lasts));
        keep(&mut self.accesses, loc, access);
        Ok(loc)
    }

    /// The number of a location that has one, if an access to it can never be wrong: it is part of a global object.
    pub(crate) fn lasting(&self, access: Access) -> Option<LocId> {
        let &(loc, size, lasts) = self.locations.get(&access.addr)?;
        (lasts && size == access.size).then_some(loc)
    }

    /// The number of the location that only fences update.
    pub(crate) fn hidden(&mut self) -> LocId {
        self.loc(HIDDEN, 0).expect("nothing else is there")
    }

    /// Two accesses overlap, and are not to the same bytes.
    fn overlap(&self, mine: (Access, u32), other: (Access, u32)) -> Refusal {
        let counted = |size: u8| if size == 1 { "1 byte".to_owned() } else { format!("{size} bytes") };
        let name = self.code.describe(mine.0.addr, &|id| (id == ThreadId::MAIN).then_some(&*self.world.main));
        let place = self.code.place(other.1);
        let message = format!(
            "this access to {} at {name} overlaps one to {} ({}:{}:{}); accesses of different sizes to the same memory are made in \
             pieces where `--pieces PLACE=BYTES` says so, which `raddle check` finds out by itself",
            counted(mine.0.size),
            counted(other.0.size),
            place.file,
            place.line,
            place.column
        );
        let apart = mine.0.addr.0.abs_diff(other.0.addr.0);
        let common = mine.0.size.min(other.0.size).min(1 << apart.trailing_zeros().min(3));
        let larger = [mine, other].into_iter().filter(|(access, _)| access.size > common);
        let pieces = larger.map(|(_, pc)| (self.code.place(pc), common)).collect();
        Refusal { pieces, ..Refusal::at(self.code, mine.1, message) }
    }

    /// The bytes a location stands for.
    pub(crate) fn access(&self, loc: LocId) -> Access {
        let known = self.accesses.get(loc as usize).copied().flatten();
        // Another worker may have named it.
        known.unwrap_or_else(|| self.world.names().accesses[loc as usize])
    }

    /// What [stands for](partial) the value of a location with bits that were never written, and that nothing has been written to but by the first thread while it was alone.
    pub(crate) fn part(&self, loc: LocId) -> u64 {
        let access = self.access(loc);
        self.world.memory.read(access).map_or(NO_VALUE, |(value, written)| written.stands_for(value, access.size))
    }

    /// The value of a location that nothing has been written to.
    pub(crate) fn initial(&mut self, loc: LocId, threads: Lookup<'_>) -> Initial {
        if let Some(Some(initial)) = self.initials.get(loc as usize) {
            return *initial;
        }
        let access = self.access(loc);
        if access == HIDDEN {
            return Initial::Value(0);
        }
        if let Some((value, written)) = self.world.memory.read(access) {
            let initial = if written == Written::All { Initial::Value(value) } else { Initial::Uninitialised };
            keep(&mut self.initials, loc, initial);
            return initial;
        }
        let located = self.code.locate(access, threads).expect("checked before the access was offered");
        located.contents.value(access).map_or(Initial::Uninitialised, Initial::Value)
    }

    /// What is wrong with an access, as far as that does not depend on what other threads do meanwhile.
    pub(crate) fn check(&self, access: Access, threads: Lookup<'_>) -> Option<String> {
        match self.code.locate(access, threads) {
            Err(message) => Some(message),
            Ok(located) if self.world.ended.contains(&located.base) => {
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

/// What an engine says that could not leave arrivals at barriers without an order.
pub(crate) fn arrivals_told_apart(at: &Place) -> String {
    let Place { file, line, .. } = at;
    format!("arrivals at barriers are told apart by their order, since it may matter at {file}:{line}")
}

/// Puts something into a list by number.
fn keep<T: Clone>(list: &mut Vec<Option<T>>, loc: LocId, what: T) {
    if list.len() <= loc as usize {
        list.resize(loc as usize + 1, None);
    }
    list[loc as usize] = Some(what);
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_machine::compile::{AllShared, Options, compile};
    use raddle_machine::{Automaton, Status, Visible};
    use raddle_program::parse;
    use raddle_trace::Step;

    fn code(text: &str) -> Code {
        let program = parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        compile(&program, &AllShared, &Options::default())
    }

    fn access(addr: u64, size: u8) -> Access {
        Access { addr: Addr(addr), size }
    }

    #[test]
    fn workers_agree_on_numbers() {
        let code = code("global x: i32; fn main() { store x, 1; }");
        let world = Arc::new(World::new(&code, Model::Sc));
        let (mut one, mut other) = (View::new(world.clone()), View::new(world));
        let first = one.loc(access(64, 4), 0).expect("the first");
        let second = other.loc(access(68, 4), 0).expect("beside it");
        assert_ne!(first, second);
        assert_eq!(other.loc(access(64, 4), 0).ok(), Some(first));
        assert_eq!(one.access(second), access(68, 4), "what another worker has named is known");
        assert_eq!(one.loc(access(68, 4), 0).ok(), Some(second));
    }

    #[test]
    fn overlapping_accesses_are_refused_and_change_nothing() {
        let code = code("global x: i32; fn main() { store x, 1; }");
        let mut view = View::new(Arc::new(World::new(&code, Model::Sc)));
        let word = view.loc(access(64, 4), 0).expect("the first");
        for wrong in [access(64, 8), access(64, 1), access(66, 2), access(62, 4)] {
            assert!(matches!(view.loc(wrong, 0), Err(Fault::Refused(_))), "{wrong:?} overlaps");
        }
        assert_eq!(view.loc(access(64, 4), 0).ok(), Some(word));
        assert_eq!(
            view.loc(access(60, 4), 0).ok(),
            Some(word + 1),
            "a refused access has taken no number and no bytes"
        );
        assert_eq!(view.loc(access(68, 4), 0).ok(), Some(word + 2));
    }

    #[test]
    fn what_the_first_thread_does_alone_is_in_memory() {
        let code = code(
            "global x: i32; global y: i32 = 7;
             fn other() { store x, 2; }
             fn main() { store x, 1; let t = spawn other(); store y, 3; join t; }",
        );
        for model in Model::OPERATIONAL {
            let world = Arc::new(World::new(&code, model));
            let Status::Ready(Visible::Spawn { .. }) = world.main.status() else { panic!("it is about to start one") };
            let arrivals = world.opening.steps.iter().filter(|step| !matches!(step, Step::Run(_))).count();
            assert_eq!(arrivals, usize::from(!model.is_sequential()), "{model}: one store has arrived");
            let mut view = View::new(world);
            let values = code.shared_globals().map(|(addr, bytes)| {
                let loc = view.loc(access(addr.0, bytes.len() as u8), 0).expect("no overlap");
                view.initial(loc, &|_| None)
            });
            assert_eq!(values.collect::<Vec<_>>(), [Initial::Value(1), Initial::Value(7)], "{model}");
        }
    }
}
