//! Brute force confirms what engines count on the programs of `bench/programs`, under every model.
//!
//! Counts that are known from elsewhere stand in the programs, as lines `// raddle:`; `tests/examples.rs` checks those. Here
//! the parameters of `// brute:` are taken, and each engine must report exactly the classes there are.

use raddle::program::Op;
use raddle::{Model, prepare};
use raddle_bench::catalogue::{Entry, entries};
use raddle_oracle::brute::{Behaviours, Budget, enumerate};
use raddle_oracle::compare::{Equivalence, Refusal, count, subjects};
use std::collections::BTreeMap;

/// More than any of the programs needs.
const STATES: usize = 2_000_000;

/// Where an engine is wrong about a program. Who was compared is counted.
fn disagreements(entry: &Entry, model: Model, compared: &mut BTreeMap<String, usize>) -> Vec<String> {
    let defines = entry.brute.as_deref().unwrap_or_default();
    let title = format!("{} under {model}", entry.title(defines));
    let program = entry.load(defines).unwrap_or_else(|error| panic!("{title}: {error}"));
    let code = prepare(&program, None);
    // What is prepared says itself which turns of its loops have no effect.
    let budget = Budget { states: STATES, every_turn: true, ..Budget::default() };
    let truth: Behaviours = enumerate(&code, model, budget).unwrap_or_else(|error| panic!("{title}: {error}"));
    let assumes = program.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts);
    let assumes = assumes.into_iter().any(|inst| matches!(inst.op, Op::Assume { .. }));
    let mut wrong = Vec::new();
    for subject in subjects() {
        // All of them are prepared here.
        if subject.code.is_some() || !matches!(subject.equivalence, Equivalence::Traces | Equivalence::ReadsFrom) {
            continue;
        }
        match (subject.run)(&code, model, false) {
            Ok(found) => {
                *compared.entry(subject.name.clone()).or_default() += 1;
                let classes = |classes| count(subject.equivalence, classes, found.unordered);
                let (complete, blocked) = (classes(&truth.complete), classes(&truth.blocked));
                // What a thread has loaded that an assumption stops is no part of a class; engines on sequences may meet the same one in several ways.
                let several = assumes && subject.every_end && found.blocked >= blocked;
                let (executions, redundant) = (found.executions, found.redundant);
                if (executions, redundant) == (complete, 0) && (found.blocked == blocked || several) {
                    println!("{title}: {} has {complete} classes and {blocked} blocked ones", subject.name);
                } else {
                    wrong.push(format!(
                        "{title}: {complete} classes and {blocked} blocked ones by brute force, {} and {} by {}, {} redundant",
                        executions, found.blocked, subject.name, redundant
                    ));
                }
            }
            // The engines on graphs take all of these programs.
            Err(Refusal::Unsupported(reason)) if subject.every_end => println!("{title}: left out: {reason}"),
            Err(Refusal::Unsupported(reason) | Refusal::Broken(reason)) => {
                wrong.push(format!("{title}: {}: {reason}", subject.name))
            }
        }
    }
    wrong
}

fn hold_against_brute_force(model: Model) {
    let entries = entries().expect("the programs are there");
    let small: Vec<&Entry> = entries.iter().filter(|entry| entry.brute.is_some()).collect();
    assert!(small.len() >= 30, "only {} programs are compared", small.len());
    let mut compared = BTreeMap::new();
    let wrong: Vec<String> = small.iter().flat_map(|entry| disagreements(entry, model, &mut compared)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let on_sequences = if model == Model::Sc { &["dc", "rvf by source"][..] } else { &[] };
    for name in ["optimal", "rf", "optimal commuting", "rf commuting"].iter().chain(on_sequences) {
        assert_eq!(compared.get(*name), Some(&small.len()), "{name} takes all of them: {compared:?}");
    }
}

#[test]
fn brute_force_agrees_under_sc() {
    hold_against_brute_force(Model::Sc);
}

#[test]
fn brute_force_agrees_under_tso() {
    hold_against_brute_force(Model::Tso);
}

#[test]
fn brute_force_agrees_under_pso() {
    hold_against_brute_force(Model::Pso);
}
