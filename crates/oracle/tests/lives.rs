//! Ends of lives under store buffers: what arrives at an object that has ended is an error for every engine, and what stands behind such an error is never taken for right.
//!
//! An engine stops a thread where an access of it may come after the end of its object, in whatever order, and the machine where it does come after it, be it on its way from a store buffer. So an engine need not tell of
//! each such access, nor of a race of one of them with a third one. It must not say `holds`. `RADDLE_LIVES` is how many programs.

use raddle::ENGINES;
use raddle_engine::{Control, Fault, Finding, Options, Outcome, PropertySet, Question};
use raddle_oracle::brute::{Behaviours, Budget, enumerate};
use raddle_oracle::compare::{code, prepared};
use raddle_oracle::{Family, generate};
use raddle_testkit::{numbers, setting};
use raddle_trace::{Model, Property, Verdict};
use std::collections::BTreeMap;

/// Programs with more states are not looked at.
const STATES: usize = 3_000;

const TOLD: [&str; 6] = ["optimal", "rf", "explicit", "oc", "lazy-tso", "abstract-tso"];

#[test]
fn what_comes_too_late_is_never_called_right() {
    let mut arrivals: BTreeMap<(&str, Model), u32> = BTreeMap::new();
    let mut races: BTreeMap<(&str, Model), u32> = BTreeMap::new();
    for index in numbers(setting("RADDLE_LIVES", 900)) {
        let sketch = generate(Family::Heap, 23, index);
        let given = prepared(&sketch);
        for model in Model::OPERATIONAL {
            let budget = |races: bool| Budget { states: STATES, races, ..Budget::default() };
            let brute = |races: bool| enumerate(&code(&sketch), model, budget(races)).ok();
            let Some(plain) = brute(false).filter(ends_early) else { continue };
            let is_late = plain.failures.iter().any(|failure| failure.message.starts_with("a buffered write reaches"));
            let racing = brute(true).filter(|found| found.failures.iter().any(|one| one.property == Property::Race));
            for engine in TOLD {
                let ask = |properties: PropertySet, all: bool| -> Option<Outcome> {
                    let mut options = Options::new(model);
                    (options.all, options.properties) = (all, properties);
                    let question = Question { code: &given, options: &options };
                    match ENGINES.find(engine).expect("an engine").ask(&question, &Control::new()) {
                        Ok(outcome) => Some(outcome),
                        Err(Fault::Refused(_)) => None,
                        Err(fault) => panic!("{engine}, {model}: {fault}\n{sketch}"),
                    }
                };
                let what = |outcome: &Outcome| {
                    format!("{engine}, {model}, {:?}: {:?}\n{sketch}", outcome.verdict, outcome.stop)
                };
                for all in [false, true] {
                    let Some(found) = ask(PropertySet::all().without(Property::Race), all) else { continue };
                    let told = found.findings.iter().any(|one| one.violation().property == Property::Memory);
                    assert!(found.verdict == Verdict::Violated && (told || !all), "{}", what(&found));
                    if is_late && all {
                        *arrivals.entry((engine, model)).or_default() += 1;
                    }
                }
                if racing.is_none() {
                    continue;
                }
                if let Some(found) = ask(PropertySet::none().with(Property::Race), true) {
                    let told = found.findings.iter().map(Finding::violation).any(|one| one.property == Property::Race);
                    assert!(found.verdict == Verdict::Unknown || told, "{}", what(&found));
                    *races.entry((engine, model)).or_default() += 1;
                }
            }
        }
    }
    println!("late arrivals: {arrivals:?}\nraces beside ends of lives: {races:?}");
    for model in [Model::Tso, Model::Pso] {
        for engine in TOLD {
            let known = model == Model::Tso || !engine.ends_with("tso");
            let least = if known { 10 } else { 0 };
            assert!(arrivals.get(&(engine, model)).copied().unwrap_or(0) >= least, "{engine}, {model}");
        }
        for engine in ["optimal", "rf"] {
            assert!(races.get(&(engine, model)).copied().unwrap_or(0) >= 10, "{engine}, {model}");
        }
    }
}

/// Whether some access comes after the end of its object.
fn ends_early(found: &Behaviours) -> bool {
    found.failures.iter().any(|failure| failure.message.contains("life has ended"))
}
