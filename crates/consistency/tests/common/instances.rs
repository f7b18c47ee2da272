//! Instances for tests and benchmarks: random ones, and those that have caught mistakes.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use raddle_consistency::replay::Memory;
use raddle_consistency::{Action, EventId, Instance, Loc, Model, Source, ThreadId};
use raddle_testkit::Random;

/// What random instances look like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Threads.
    pub(crate) threads: usize,
    /// Events of all threads together, spawns and joins apart.
    pub(crate) events: usize,
    /// Locations.
    pub(crate) locations: usize,
    /// How many of a hundred events are full fences.
    pub(crate) fences: usize,
    /// How many of a hundred events are store-store fences.
    pub(crate) store_fences: usize,
    /// How many of a hundred events are updates.
    pub(crate) updates: usize,
    /// Whether the first thread may start and join others.
    pub(crate) children: bool,
}

/// Threads of random events; every read reads the initial value.
pub(crate) fn program(size: Size, random: &mut Random) -> Instance {
    let mut threads: Vec<Vec<Action>> = vec![Vec::new(); size.threads];
    for _ in 0..size.events {
        let loc = Loc(random.below(size.locations) as u32);
        let roll = random.below(100);
        let (fences, store_fences) = (size.fences, size.fences + size.store_fences);
        let action = if roll < fences {
            Action::Fence
        } else if roll < store_fences {
            Action::StoreFence
        } else if roll < store_fences + size.updates {
            Action::Update { loc, from: Source::Initial }
        } else if random.chance(50) {
            Action::Read { loc, from: Source::Initial }
        } else {
            Action::Write { loc }
        };
        threads[random.below(size.threads)].push(action);
    }
    if size.children {
        for child in 1..size.threads {
            let child = ThreadId(child as u32);
            let main = threads[0].len();
            let mut join_after = 0;
            if random.chance(40) {
                join_after = random.below(main + 1);
                threads[0].insert(join_after, Action::Spawn { child });
                join_after += 1;
            }
            if random.chance(40) {
                let at = join_after + random.below(threads[0].len() + 1 - join_after);
                threads[0].insert(at, Action::Join { child });
            }
        }
    }
    let threads: Vec<&[Action]> = threads.iter().map(Vec::as_slice).collect();
    Instance::of(&threads)
}

/// The same with another source.
pub(crate) fn with_source(action: Action, from: Source) -> Action {
    match action {
        Action::Read { loc, .. } => Action::Read { loc, from },
        Action::Update { loc, .. } => Action::Update { loc, from },
        other => other,
    }
}

/// The writes of a location.
pub(crate) fn writes(program: &Instance, loc: Loc) -> Vec<EventId> {
    let writes = program.events().filter(|(_, action)| action.writes() && action.loc() == Some(loc));
    writes.map(|(event, _)| event).collect()
}

/// Gives every read a random source, an impossible one of its own thread seldom.
pub(crate) fn random_sources(program: &Instance, random: &mut Random) -> Instance {
    let mut instance = program.clone();
    for (event, action) in program.events() {
        let (Some(loc), Some(_)) = (action.loc(), action.source()) else { continue };
        let mut candidates = vec![Source::Initial];
        candidates.extend(writes(program, loc).into_iter().filter(|&write| write != event).map(Source::Write));
        let hidden = |source: &Source| match source {
            Source::Write(write) if write.thread == event.thread => {
                let own = writes(program, loc)
                    .into_iter()
                    .filter(|own| own.thread == event.thread && own.index < event.index);
                own.max() != Some(*write)
            }
            Source::Write(_) => false,
            Source::Initial => {
                writes(program, loc).iter().any(|own| own.thread == event.thread && own.index < event.index)
            }
        };
        let mut from = candidates[random.below(candidates.len())];
        for _ in 0..8 {
            if !hidden(&from) {
                break;
            }
            from = candidates[random.below(candidates.len())];
        }
        instance.set(event, with_source(action, from));
    }
    instance
}

/// Gives every read the source it has in a random run. Nothing if the run gets stuck.
pub(crate) fn sources_of_run(program: &Instance, model: Model, random: &mut Random) -> Option<Instance> {
    let mut instance = program.clone();
    let mut memory = Memory::new(program, model);
    // How eager buffers are differs from run to run, or long buffers would be rare.
    let lazy = random.below(100);
    while !memory.is_complete(program) {
        let threads = (0..program.threads() as u32).map(ThreadId);
        let ready: Vec<ThreadId> = threads.filter(|&thread| memory.can_run(program, thread)).collect();
        let flushes = memory.flushes();
        if ready.is_empty() && flushes.is_empty() {
            return None;
        }
        if !flushes.is_empty() && (ready.is_empty() || !random.chance(lazy)) {
            memory.flush(flushes[random.below(flushes.len())]);
            continue;
        }
        let thread = ready[random.below(ready.len())];
        let (event, action) = memory.next(program, thread)?;
        if let Some(from) = memory.run(program, thread) {
            instance.set(event, with_source(action, from));
        }
    }
    Some(instance)
}

/// Replaces the source of one read by another write of its location.
pub(crate) fn with_one_other_source(instance: &Instance, random: &mut Random) -> Instance {
    let reads: Vec<(EventId, Action)> = instance.events().filter(|(_, action)| action.source().is_some()).collect();
    let mut changed = instance.clone();
    if reads.is_empty() {
        return changed;
    }
    let (event, action) = reads[random.below(reads.len())];
    let loc = action.loc().expect("a read has a location");
    let mut candidates: Vec<EventId> = writes(instance, loc);
    candidates.retain(|&write| write != event);
    if !candidates.is_empty() {
        let from = Source::Write(candidates[random.below(candidates.len())]);
        changed.set(event, with_source(action, from));
    }
    changed
}

/// Instances on which a key that knows too little loses the only executions.
pub(crate) mod regressions {
    use super::*;

    const X: Loc = Loc(0);
    const Y: Loc = Loc(1);
    const Z: Loc = Loc(2);
    const Q: Loc = Loc(3);

    fn from(thread: u32, index: u32) -> Source {
        Source::Write(EventId::new(ThreadId(thread), index))
    }

    fn w(loc: Loc) -> Action {
        Action::Write { loc }
    }

    fn r(loc: Loc, from: Source) -> Action {
        Action::Read { loc, from }
    }

    /// A write that only its own thread is yet to read holds its location.
    pub(crate) fn local_holder() -> Instance {
        Instance::of(&[
            &[w(X), r(Y, from(2, 1)), Action::Fence, w(Z)],
            &[w(X), r(Z, from(0, 3)), r(X, from(1, 0))],
            &[r(X, from(1, 0)), w(Y)],
        ])
    }

    /// A thread without a fence is stuck before another one's update.
    pub(crate) fn stuck_before_update() -> Instance {
        Instance::of(&[&[w(X), r(X, from(1, 2))], &[w(X), Action::Fence, Action::Update { loc: X, from: from(1, 0) }]])
    }

    /// A write is stuck behind a store-store fence.
    pub(crate) fn stuck_behind_store_fence() -> Instance {
        Instance::of(&[
            &[w(X), Action::StoreFence, w(Y), r(Z, from(2, 1)), w(X), w(Q)],
            &[w(X)],
            &[r(X, from(1, 0)), w(Z)],
            &[r(Q, from(0, 5)), r(Y, from(0, 2)), r(X, from(1, 0))],
        ])
    }

    /// All of them.
    pub(crate) fn all() -> [Instance; 5] {
        [local_holder(), stuck_before_update(), stuck_behind_store_fence(), waiting_for_unread(), waiting_for_update()]
    }

    /// A fence needs a write out that is read by a thread whose own write must be out before; that one waits behind a store-store
    /// fence for a write that nobody has read yet.
    pub(crate) fn waiting_for_unread() -> Instance {
        Instance::of(&[&[w(X), Action::Fence, r(Y, from(1, 0))], &[w(Y), Action::StoreFence, w(X), r(X, from(0, 0))]])
    }

    /// The same, where an update is read by that thread, and the location is held from the fence to the update.
    pub(crate) fn waiting_for_update() -> Instance {
        Instance::of(&[
            &[w(X), Action::Fence, r(Y, from(1, 0)), Action::Update { loc: X, from: from(0, 0) }],
            &[w(Y), Action::StoreFence, w(X), r(X, from(0, 3))],
        ])
    }
}
