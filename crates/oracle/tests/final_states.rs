//! What memory can hold in the end, by the formulas of `oc` and by brute force.

use raddle_machine::{Access, Addr, Code};
use raddle_oracle::brute::{self, Budget};
use raddle_oracle::compare::prepared;
use raddle_oracle::{Family, generate};
use raddle_program::{GlobalId, Layout, Type};
use raddle_symbolic::oc::final_states;
use raddle_testkit::setting;
use raddle_trace::Model;
use std::collections::BTreeSet;

/// How many programs of each family, and on how many of them something has to be compared under each model.
const PROGRAMS: u64 = 60;
const LEAST: u64 = 25;

/// The numbers of four bytes that anybody can write, with their names and first values. Who holds a lock is named differently by brute force.
fn words(code: &Code) -> Vec<(String, Access, u64)> {
    let is_word = |(_, global): &(u32, &raddle_machine::code::GlobalCode)| {
        global.layout == Layout::Scalar(Type::I32) && global.tls.is_none() && !global.constant
    };
    let words = (0..).zip(code.globals()).filter(is_word).map(|(id, global)| {
        let first = global.bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        (global.name.clone(), Access { addr: Addr::global(GlobalId(id)), size: 4 }, first)
    });
    words.collect()
}

#[test]
fn memory_ends_as_brute_force_says() {
    let programs = setting("RADDLE_FINAL_STATES", PROGRAMS);
    for model in Model::OPERATIONAL {
        let (mut compared, mut states) = (0, 0);
        for family in [Family::Mixed, Family::Buffered, Family::Heap] {
            for index in 0..programs {
                let sketch = generate(family, 11, index);
                let code = prepared(&sketch);
                let words = words(&code);
                let Ok(brute) = brute::enumerate(&code, model, Budget { states: 5_000, ..Budget::default() }) else {
                    continue;
                };
                let places: Vec<Access> = words.iter().map(|word| word.1).collect();
                let Some(found) = final_states(&code, model, &places) else { continue };
                let last = |memory: &std::collections::BTreeMap<String, u64>| -> Vec<u64> {
                    words.iter().map(|(name, _, first)| memory.get(name).copied().unwrap_or(*first)).collect()
                };
                let expected: BTreeSet<Vec<u64>> = brute.finals().into_iter().map(last).collect();
                assert_eq!(found, expected, "{model}, program {index} of family {family}:\n{sketch}");
                compared += 1;
                states += found.len();
            }
        }
        println!("{model}: {compared} programs with {states} final states");
        assert!(compared >= LEAST, "hardly compared under {model}: {compared}");
    }
}
