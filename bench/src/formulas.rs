//! How the time of `oc` grows with the bound, by every way to search: `raddle-bench oc`.
//!
//! The programs are the families on which ordering consistency is measured in the literature (He, Sun and Fan 2021; Telbisz 2024), written anew with the number of turns as a parameter, each in a form that is right and in one that is
//! wrong (`bench/symbolic`). The columns are contradictions during the search (`prop`), in complete assignments (`basic`) and times of events (`clock`), with and without contradictions that are found beforehand. A verdict that is not
//! the known one is an error, however fast it was reached.

use crate::failure::Failure;
use crate::table::{dash, markdown};
use raddle::cost::Meter;
use raddle::engine::PropertySet;
use raddle::{Control, Define, ENGINES, Language, LoadOptions, Model, Property, Settings, StopReason, Verdict};
use serde::Serialize;
use std::time::Duration;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Two bounds of each, to see that it works
    #[arg(long)]
    quick: bool,

    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Stop each run after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "20")]
    limit: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A program with a bound.
struct Family {
    name: &'static str,
    text: &'static str,
    bounds: &'static [u32],
    /// What makes it right, and what makes it wrong, for a bound.
    right: fn(u32) -> (&'static str, u64),
    wrong: fn(u32) -> (&'static str, u64),
    /// Whether its loops wait, so that the number of their turns has to be bounded, too.
    waits: bool,
}

macro_rules! family {
    ($name:literal, $bounds:expr, $right:expr, $wrong:expr, $waits:literal) => {
        Family {
            name: $name,
            text: include_str!(concat!("../symbolic/", $name, ".rdl")),
            bounds: $bounds,
            right: $right,
            wrong: $wrong,
            waits: $waits,
        }
    };
}

/// What two numbers that begin at 1 and are added to each other come to in so many turns each.
fn fibonacci(turns: u32) -> u64 {
    let (_, last) = (0..2 * turns).fold((1, 1), |(one, other), _| (other, one + other));
    last
}

const FAMILIES: [Family; 8] = [
    family!("fib_bench", &[1, 2, 3, 4, 5, 6], |n| ("LIMIT", fibonacci(n)), |n| ("LIMIT", fibonacci(n) - 1), false),
    family!(
        "triangular",
        &[1, 2, 4, 6, 8, 10],
        |n| ("LIMIT", 2 * u64::from(n) + 6),
        |n| ("LIMIT", 2 * u64::from(n) + 5),
        false
    ),
    family!("queue", &[1, 2, 3, 4, 5, 6], |_| ("LOCKED", 1), |_| ("LOCKED", 0), false),
    family!("stack", &[1, 2, 3, 4, 5, 6], |_| ("LOCKED", 1), |_| ("LOCKED", 0), false),
    family!("szymanski", &[1, 2, 3, 4, 5, 6], |_| ("RIGHT", 1), |_| ("RIGHT", 0), false),
    family!("singleton", &[1, 2, 4, 8, 16, 32], |_| ("LAST", 1), |_| ("LAST", 0), false),
    family!("bigshot", &[1, 2, 4, 8, 16, 32], |_| ("ORDER", 1), |_| ("ORDER", 0), false),
    family!("dekker", &[1, 2, 3, 4, 5, 6], |_| ("RIGHT", 1), |_| ("RIGHT", 0), true),
];

/// The ways to search.
const WAYS: [[&str; 2]; 6] = [
    ["search=prop", "conflicts=simple"],
    ["search=prop", "conflicts=none"],
    ["search=basic", "conflicts=simple"],
    ["search=basic", "conflicts=none"],
    ["search=clock", "conflicts=simple"],
    ["search=clock", "conflicts=none"],
];

/// A program with a bound.
#[derive(Debug, Serialize)]
struct Line {
    program: &'static str,
    right: bool,
    bound: u32,
    clauses: u64,
    /// Contradictions that were found beforehand.
    conflicts: u64,
    /// By way to search: CPU seconds, `None` if that was not enough, and clauses that came of orders.
    ways: Vec<(Option<f64>, u64)>,
}

/// Measures and prints.
///
/// # Errors
/// If a program is not accepted, or a verdict is wrong.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for family in &FAMILIES {
        if args.only.as_ref().is_some_and(|only| !family.name.contains(only.as_str())) {
            continue;
        }
        let bounds = if args.quick { &family.bounds[..2] } else { family.bounds };
        for right in [true, false] {
            for &bound in bounds {
                lines.push(line(args, family, right, bound)?);
            }
        }
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&lines)?);
    } else {
        anstream::print!("{}", table(&lines));
    }
    Ok(())
}

fn line(args: &Args, family: &Family, right: bool, bound: u32) -> Result<Line, Failure> {
    let (name, value) = if right { (family.right)(bound) } else { (family.wrong)(bound) };
    let define = |name: &str, value: u64| Define { name: name.to_owned(), value: value.to_string() };
    let defines = [define("N", u64::from(bound)), define(name, value)];
    let title = format!("{}({bound}), {name}={value}", family.name);
    let options = LoadOptions { defines: defines.to_vec(), ..LoadOptions::default() };
    let loaded = raddle::load_text(&title, family.text, Language::Rdl, &options).map_err(Failure::of(&title))?;
    let mut line = Line { program: family.name, right, bound, clauses: 0, conflicts: 0, ways: Vec::new() };
    for way in WAYS {
        let mut settings = Settings::new(Model::Sc);
        settings.engine = ENGINES.find("oc").expect("it is among them");
        settings.options.properties = PropertySet::all().without(Property::Deadlock).without(Property::Race);
        settings.options.limits.time = Some(Duration::from_secs(args.limit));
        settings.loop_bound = family.waits.then_some(2);
        for switch in way {
            settings.options.switches.set(settings.engine, switch).expect("a switch of the engine");
        }
        let meter = Meter::start();
        let outcome = raddle::verify(&loaded.program, &settings, &Control::new()).map_err(Failure::of(&title))?;
        let seconds = meter.read().cpu_seconds;
        let seconds = match (outcome.verdict, &outcome.stop) {
            (Verdict::Unknown, Some(StopReason::Time(_))) => None,
            (Verdict::Holds, _) if right => Some(seconds),
            (Verdict::Violated, _) if !right => Some(seconds),
            (found, _) => {
                return Err(Failure::Verdict { program: title, found: format!("{found:?} by {}", way.join(", ")) });
            }
        };
        line.clauses = outcome.counter("clauses");
        line.conflicts =
            line.conflicts.max(outcome.counter("crossing_conflicts") + outcome.counter("between_conflicts"));
        line.ways.push((seconds, outcome.counter("order_clauses")));
    }
    Ok(line)
}

fn table(lines: &[Line]) -> String {
    let head = ["program", "bound", "", "found before", "prop", "without", "basic", "without", "clock", "without"];
    let rows = lines.iter().map(|line| {
        let mut row = vec![
            line.program.to_owned(),
            line.bound.to_string(),
            if line.right { "holds" } else { "violated" }.to_owned(),
            line.conflicts.to_string(),
        ];
        row.extend(line.ways.iter().map(|(seconds, _)| seconds.map_or_else(dash, |seconds| format!("{seconds:.2}"))));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    markdown(&head.map(str::to_owned), &rows, 1)
}
