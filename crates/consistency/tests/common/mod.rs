//! The oracle: every run of the operational memory.

#![allow(dead_code, reason = "every test binary uses a part of it")]

pub(crate) mod instances;

use instances::{Size, program, random_sources, regressions, sources_of_run, with_one_other_source, with_source};
use raddle_consistency::replay::Memory;
use raddle_consistency::{Action, Instance, Model, Source, ThreadId};
use raddle_testkit::Random;
use std::collections::HashSet;

/// Whether some run reads what the instance says, found by trying all.
pub(crate) fn is_consistent(instance: &Instance, model: Model) -> bool {
    let first = Memory::new(instance, model);
    let mut seen = HashSet::from([first.clone()]);
    let mut stack = vec![first];
    while let Some(memory) = stack.pop() {
        if memory.is_complete(instance) {
            return true;
        }
        let mut successors = Vec::new();
        for thread in (0..instance.threads() as u32).map(ThreadId) {
            if memory.can_run(instance, thread) {
                let (_, action) = memory.next(instance, thread).expect("it can run");
                let mut after = memory.clone();
                if after.run(instance, thread) == action.source() {
                    successors.push(after);
                }
            }
        }
        for flush in memory.flushes() {
            let mut after = memory.clone();
            assert!(after.flush(flush), "what is listed is possible");
            successors.push(after);
        }
        stack.extend(successors.into_iter().filter(|memory| seen.insert(memory.clone())));
    }
    false
}

/// The program of an instance that has caught a mistake before, with up to three events put in, replaced or left out.
fn like_a_regression(size: Size, random: &mut Random) -> Instance {
    let all = regressions::all();
    let instance = &all[random.below(all.len())];
    let threads = (0..instance.threads() as u32).map(|thread| instance.thread(ThreadId(thread)));
    let without_source = |&action: &Action| with_source(action, Source::Initial);
    let mut threads: Vec<Vec<Action>> = threads.map(|events| events.iter().map(without_source).collect()).collect();
    for _ in 0..random.below(4) {
        let (choice, thread) = (random.below(3), random.below(threads.len()));
        let events = &mut threads[thread];
        let at = random.below(events.len() + 1);
        if choice > 0 && at < events.len() {
            events.remove(at);
        }
        if choice < 2 {
            let one = program(Size { threads: 1, events: 1, children: false, ..size }, random);
            events.insert(at, one.thread(ThreadId(0))[0]);
        }
    }
    Instance::of(&threads.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The `number`-th random instance of a seed: 2 to 4 threads, with every kind of event, sources at random, of a run, or of a run but for one.
pub(crate) fn instance(seed: u64, number: u64, model: Model) -> Instance {
    let random = &mut Random::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number << 8));
    let threads = 2 + random.below(3);
    let size = Size {
        threads,
        events: if random.chance(25) { 10 + random.below(5) } else { 4 + random.below(8) },
        locations: 1 + random.below(4),
        fences: [0, 0, 8, 20][random.below(4)],
        store_fences: [0, 0, 8, 20][random.below(4)],
        updates: [0, 0, 10, 30][random.below(4)],
        children: random.chance(30),
    };
    let program = if random.chance(30) { like_a_regression(size, random) } else { program(size, random) };
    match random.below(4) {
        0 => random_sources(&program, random),
        1 | 2 => {
            let of_run = sources_of_run(&program, model, random).unwrap_or_else(|| program.clone());
            with_one_other_source(&of_run, random)
        }
        _ => sources_of_run(&program, model, random).unwrap_or(program),
    }
}
