//! The engine `cegar` on random programs whose loops do not end, held against a plain search (states of the machine in a set, every move followed), and against `explicit` where there are
//! unknown inputs, which are enumerated in what the product has prepared only.
//!
//! What is compared is which assertions can fail, in every setting; what is proved is checked again. `RADDLE_CEGAR` is how many programs.

use raddle_engine::{Control, Engine, Finding, Options, Outcome, PropertySet, Question};
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_machine::{Code, compile};
use raddle_oracle::cyclic::{plain, program, richer};
use raddle_reach::explicit::Explicit;
use raddle_symbolic::cegar::Cegar;
use raddle_testkit::{Random, setting};
use raddle_trace::{Model, Property, Verdict};
use std::collections::BTreeSet;
use std::time::Duration;

/// A program that is larger than this is not looked at.
const MOST: usize = 4_000;

fn ask(engine: &'static dyn Engine, code: &Code, switches: &[&str]) -> Outcome {
    let mut options = Options::new(Model::Sc);
    options.all = true;
    options.properties = PropertySet::none().with(Property::Assert);
    // No program of this size comes near that: an engine that reaches it does not end.
    options.limits.time = Some(Duration::from_secs(600));
    for switch in switches {
        options.switches.set(engine, switch).expect("a switch");
    }
    engine.ask(&Question { code, options: &options }, &Control::new()).unwrap_or_else(|fault| panic!("{fault}"))
}

fn failing(outcome: &Outcome) -> BTreeSet<u32> {
    outcome.findings.iter().map(Finding::violation).map(|violation| violation.place.line).collect()
}

#[test]
fn what_can_be_reached_in_cyclic_programs_is_found_and_the_rest_is_proved() {
    let settings: [&[&str]; 14] = [
        &[],
        &["certify=on"],
        &["domain=predicates", "certify=on"],
        &["search=depth", "por=none"],
        &["domain=predicates", "values=3"],
        &["por=spor"],
        &["por=aaspor"],
        &["por=aaspor", "domain=predicates", "search=depth"],
        &["prune=lazy"],
        &["prune=lazy", "domain=predicates", "search=depth"],
        &["forget=unobserved"],
        &["forget=unobserved", "por=spor"],
        &["forget=unobserved", "por=aaspor", "domain=predicates"],
        &["forget=unobserved", "prune=lazy", "certify=on"],
    ];
    let (mut compared, mut failed, mut proved, mut unknown) = (0, 0, 0, 0);
    let from = setting("RADDLE_FROM", 0);
    for seed in from..from + setting("RADDLE_CEGAR", 24) {
        let random = &mut Random::new(0xce9a + seed);
        let mut text = if seed % 2 == 0 { program(random) } else { richer(random) };
        // The end of the first thread may be that of the program, which nobody has to wait for.
        if seed % 3 == 0 {
            text.insert_str(0, "entry main exit;\n");
        }
        let has_inputs = text.contains("choose;");
        let source = raddle_program::parse("test.rdl", &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let prepared = raddle::prepare(&source, None);
        let as_written = (!has_inputs).then(|| compile(&source, &AllShared, &CompileOptions::default()));
        let expected = match &as_written {
            Some(code) => match plain(code, Model::Sc, 0, MOST) {
                Ok((failing, _)) => failing,
                Err(_) => continue,
            },
            None => {
                let all = ask(&Explicit, &prepared, &[]);
                if all.counter("states") > MOST as u64 || !prepared.inputs().sampled.is_empty() {
                    continue;
                }
                failing(&all)
            }
        };
        for code in [Some(&prepared), as_written.as_ref()].into_iter().flatten() {
            for switches in settings {
                let outcome = ask(&Cegar, code, switches);
                let what = format!("{text}seed {seed} with {switches:?}: {:?}", outcome.stop);
                assert_eq!(failing(&outcome), expected, "{what}");
                compared += 1;
                failed += usize::from(!expected.is_empty());
                proved += usize::from(outcome.verdict == Verdict::Holds);
                unknown += usize::from(expected.is_empty() && outcome.verdict != Verdict::Holds);
            }
        }
    }
    println!("{compared} comparisons, {failed} with failures, {proved} proofs, {unknown} unknown");
    assert!(
        compared > 150 && failed > 30 && proved > 30 && unknown * 20 < compared,
        "{compared} {failed} {proved} {unknown}"
    );
}
