//! The oracle: every run of the operational memory.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use raddle_consistency::replay::Memory;
use raddle_consistency::testing::{Random, Size, program, random_sources, sources_of_run, with_one_other_source};
use raddle_consistency::{Instance, Model, ThreadId};
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

/// The `number`-th random instance of a seed: 2 to 4 threads, with every kind of event, sources at random, of a run, or of a run but for one.
pub(crate) fn instance(seed: u64, number: u64, model: Model) -> Instance {
    let random = &mut Random::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number << 8));
    let threads = 2 + random.below(3);
    let size = Size {
        threads,
        events: if random.chance(25) { 10 + random.below(5) } else { 4 + random.below(8) },
        locations: 1 + random.below(3),
        fences: [0, 0, 8, 20][random.below(4)],
        store_fences: [0, 0, 8, 20][random.below(4)],
        updates: [0, 0, 10, 30][random.below(4)],
        children: random.chance(30),
    };
    let program = program(size, random);
    match random.below(4) {
        0 => random_sources(&program, random),
        1 | 2 => {
            let of_run = sources_of_run(&program, model, random).unwrap_or_else(|| program.clone());
            with_one_other_source(&of_run, random)
        }
        _ => sources_of_run(&program, model, random).unwrap_or(program),
    }
}
