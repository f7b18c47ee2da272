//! The experiment of Toman 2021 on verification: with and without closure, made for the model and naive, on instances that have an
//! execution and on those that have none.
//!
//! ```text
//! cargo bench -p raddle-consistency --bench verification              # the table
//! cargo bench -p raddle-consistency --bench verification -- --quick   # a few small instances: does it work?
//! ```
//!
//! Every instance is verified in every way, and the answers are compared. Printed is the median time in microseconds; a search that takes
//! longer than half a second counts as that long and is *unfinished*.

#[path = "../tests/common/instances.rs"]
mod instances;

use instances::{Size, program, sources_of_run, with_one_other_source};
use raddle_consistency::{Algorithm, Answer, Closure, Instance, Interrupt, Limits, Model, Never, Settings, Verifier};
use raddle_testkit::Random;
use std::time::{Duration, Instant};

/// A time.
struct Until(Instant);

impl Interrupt for Until {
    fn is_due(&self) -> bool {
        Instant::now() >= self.0
    }
}

const WAYS: [(&str, Settings<'static>); 7] = {
    const fn way(algorithm: Algorithm, eager: bool, closure: Closure) -> Settings<'static> {
        let limits = Limits { prefixes: u64::MAX, bytes: 1 << 30, interrupt: &Never };
        Settings {
            closure,
            order: raddle_consistency::WorklistOrder::LastIn,
            key: raddle_consistency::Key::Auto,
            algorithm,
            eager,
            clauses: None,
            limits,
        }
    }
    [
        ("ours, closure first", way(Algorithm::Model, true, Closure::First)),
        ("ours, closure after 100", way(Algorithm::Model, true, Closure::After(100))),
        ("ours, no closure", way(Algorithm::Model, true, Closure::Off)),
        ("Toman 2021, closure", way(Algorithm::Model, false, Closure::First)),
        ("Toman 2021, no closure", way(Algorithm::Model, false, Closure::Off)),
        ("naive, closure", way(Algorithm::Naive, false, Closure::First)),
        ("naive, no closure", way(Algorithm::Naive, false, Closure::Off)),
    ]
};

struct Effort {
    instances: usize,
    sizes: &'static [(usize, usize, bool)],
    limit: Duration,
}

const FULL: Effort = Effort {
    instances: 24,
    sizes: &[(3, 36, false), (3, 36, true), (4, 64, false), (4, 64, true), (6, 120, true)],
    limit: Duration::from_millis(500),
};
const QUICK: Effort = Effort { instances: 3, sizes: &[(3, 12, true)], limit: Duration::from_millis(100) };

/// Instances of a size under a model, half of them with an execution.
fn instances(
    effort: &Effort,
    (threads, events, updates): (usize, usize, bool),
    model: Model,
    realizable: bool,
) -> Vec<Instance> {
    let random = &mut Random::new(7);
    let size = Size {
        threads,
        events,
        locations: threads,
        fences: 5,
        store_fences: 0,
        updates: if updates { 10 } else { 0 },
        children: false,
    };
    let mut found = Vec::new();
    let mut verifier = Verifier::new();
    while found.len() < effort.instances {
        let program = program(size, random);
        let Some(instance) = sources_of_run(&program, model, random) else { continue };
        if realizable {
            found.push(instance);
            continue;
        }
        let changed = with_one_other_source(&instance, random);
        let answer = verifier.verify(&changed, model, &Settings::default()).expect("well formed");
        // What the order within one thread rules out takes no search.
        if answer == Answer::Inconsistent && verifier.statistics().closed {
            found.push(changed);
        }
    }
    found
}

struct Measured {
    times: Vec<Duration>,
    unfinished: usize,
    answers: Vec<Option<bool>>,
}

fn measure(instances: &[Instance], model: Model, settings: &Settings<'_>, limit: Duration) -> Measured {
    let mut verifier = Verifier::new();
    let mut measured = Measured { times: Vec::new(), unfinished: 0, answers: Vec::new() };
    for instance in instances {
        let started = Instant::now();
        let limits = Limits { interrupt: &Until(started + limit), ..settings.limits };
        let answer = verifier.verify(instance, model, &Settings { limits, ..*settings }).expect("well formed");
        let mut time = started.elapsed();
        let answer = match answer {
            Answer::Consistent(_) => Some(true),
            Answer::Inconsistent => Some(false),
            Answer::Unknown => None,
        };
        if answer.is_none() {
            measured.unfinished += 1;
            time = limit;
        }
        measured.times.push(time);
        measured.answers.push(answer);
    }
    measured.times.sort();
    measured
}

/// The median time in microseconds, and how many took too long.
fn cell(measured: &Measured) -> String {
    let median = measured.times[measured.times.len() / 2].as_micros();
    match measured.unfinished {
        0 => median.to_string(),
        unfinished => format!("{median} ({unfinished} unfinished)"),
    }
}

fn main() {
    // `cargo test --benches` passes no argument, `cargo bench` passes `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = !arguments.iter().any(|argument| argument == "--bench") || arguments.iter().any(|a| a == "--quick");
    let effort = if quick { QUICK } else { FULL };
    println!("| model | threads | events | updates | execution | {} |", WAYS.map(|(name, _)| name).join(" | "));
    println!("|---|--:|--:|---|---|{}", "--:|".repeat(WAYS.len()));
    for model in Model::OPERATIONAL {
        for &size in effort.sizes {
            for realizable in [true, false] {
                let instances = instances(&effort, size, model, realizable);
                let cells = WAYS.map(|(name, settings)| {
                    let measured = measure(&instances, model, &settings, effort.limit);
                    let wrong = measured.answers.iter().flatten().any(|&answer| answer != realizable);
                    assert!(!wrong, "{name} under {model}: a wrong answer");
                    cell(&measured)
                });
                let (updates, execution) = (if size.2 { "yes" } else { "no" }, if realizable { "yes" } else { "no" });
                println!("| {model} | {} | {} | {updates} | {execution} | {} |", size.0, size.1, cells.join(" | "));
            }
        }
    }
}
