//! How the time per class grows with the length of the execution: `raddle-bench growth`.
//!
//! Two programs of `bench/programs` whose length is a parameter. In `work` the number of classes does not depend on it, and every
//! class differs from the one before it at its beginning, so the whole execution is made anew. In `long` all events are on one
//! variable, so that the consistency of a choice depends on all of them; there are too many classes to see them all, and a fixed
//! number of them is measured. Under each series stands the exponent e of the fit time = c n^e over all lengths.

use crate::engines::cell::{Cell, sample};
use crate::engines::engines;
use crate::failure::Failure;
use crate::table::{dash, markdown, thousands};
use raddle::{Define, Engine, Model, Settings};
use raddle_bench::catalogue::{self, Entry};
use serde::Serialize;
use std::time::Duration;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The lengths go up to this many events
    #[arg(long, value_name = "N", default_value = "512", value_parser = clap::value_parser!(u32).range(16..=4096))]
    events: u32,

    /// Measure at most so many executions of each
    #[arg(long, value_name = "N", default_value = "2000")]
    executions: u64,

    /// Under this model
    #[arg(long, default_value = "sc")]
    model: Model,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How one engine does on one program with a number of threads.
#[derive(Clone, Debug, Serialize)]
struct Series {
    program: &'static str,
    threads: u32,
    engine: &'static str,
    /// Events, executions, CPU seconds per execution.
    points: Vec<Point>,
    /// Of the fit.
    exponent: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Point {
    events: u64,
    executions: u64,
    seconds: f64,
}

/// A program whose length is a parameter.
struct Family {
    name: &'static str,
    parameter: &'static str,
    /// The value that makes so many events with so many threads.
    value: fn(u32, u32) -> u32,
}

const FAMILIES: [Family; 2] = [
    Family { name: "work", parameter: "M", value: |events, threads| (events / threads).saturating_sub(2) / 2 },
    Family { name: "long", parameter: "N", value: |events, threads| (events / threads).saturating_sub(1) },
];

/// Measures and prints.
///
/// # Errors
/// If a program is missing or not accepted, or an engine contradicts itself.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let entries = catalogue::entries()?;
    let lengths: Vec<u32> = (4..=12).map(|power| 1 << power).filter(|&length| length <= args.events).collect();
    let mut all = Vec::new();
    for family in FAMILIES {
        let entry = entries.iter().find(|entry| entry.name == family.name);
        let entry = entry.ok_or(Failure::Missing(family.name))?;
        for threads in 2..=4 {
            for engine in engines() {
                if let Some(series) = series(args, entry, &family, threads, engine, &lengths)? {
                    all.push(series);
                }
            }
        }
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        anstream::print!("{}", table(&all, &lengths));
    }
    Ok(())
}

/// `None` if the engine does not take the program.
fn series(
    args: &Args,
    entry: &Entry,
    family: &Family,
    threads: u32,
    engine: &'static dyn Engine,
    lengths: &[u32],
) -> Result<Option<Series>, Failure> {
    let mut points = Vec::new();
    for &length in lengths {
        let define = |name: &str, value: u32| Define { name: name.to_owned(), value: value.to_string() };
        let defines = [define("T", threads), define(family.parameter, (family.value)(length, threads))];
        let title = entry.title(&defines);
        let program = entry.load(&defines).map_err(Failure::of(&title))?;
        let mut settings = Settings::new(args.model);
        settings.engine = engine;
        settings.options.all = true;
        settings.options.limits.executions = Some(args.executions);
        settings.options.limits.time = Some(Duration::from_secs(20));
        match sample(&title, &program, &settings)? {
            Cell::Done(explored) | Cell::Limit(explored) => {
                points.push(Point { events: explored.longest, executions: explored.runs(), seconds: explored.cost() })
            }
            Cell::Refused { .. } => return Ok(None),
        }
    }
    let exponent = exponent(&points);
    Ok(Some(Series { program: family.name, threads, engine: engine.name(), points, exponent }))
}

/// The slope of the line through the logarithms, by least squares.
fn exponent(points: &[Point]) -> Option<f64> {
    let logarithms: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.events > 0 && point.seconds > 0.0)
        .map(|point| ((point.events as f64).ln(), point.seconds.ln()))
        .collect();
    let number = logarithms.len() as f64;
    let mean_x = logarithms.iter().map(|point| point.0).sum::<f64>() / number;
    let mean_y = logarithms.iter().map(|point| point.1).sum::<f64>() / number;
    let spread: f64 = logarithms.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    let common: f64 = logarithms.iter().map(|point| (point.0 - mean_x) * (point.1 - mean_y)).sum();
    (spread > 0.0).then(|| common / spread)
}

fn table(all: &[Series], lengths: &[u32]) -> String {
    let mut head = ["program", "threads", "engine", "executions"].map(str::to_owned).to_vec();
    head.extend(lengths.iter().map(|length| format!("{length}, µs")));
    head.push("exponent".to_owned());
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|series| {
            let most = series.points.iter().map(|point| point.executions).max().unwrap_or(0);
            let mut row = vec![series.program.to_owned(), series.threads.to_string(), series.engine.to_owned()];
            row.push(thousands(most));
            row.extend(series.points.iter().map(|point| format!("{:.1}", point.seconds * 1e6)));
            row.push(series.exponent.map_or_else(dash, |exponent| format!("{exponent:.2}")));
            row
        })
        .collect();
    markdown(&head, &rows, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let point = |events: u64| Point { events, executions: 1, seconds: 3.0 * (events as f64).powf(1.5) };
        let found = exponent(&[16, 64, 256].map(point)).expect("three lengths");
        assert!((found - 1.5).abs() < 1e-9, "{found}");
        assert_eq!(exponent(&[point(16)]), None);
    }

    #[test]
    fn parameters_make_the_wanted_number_of_events() {
        for threads in 2..=4 {
            let [work, long] = FAMILIES;
            assert!((work.value)(96, threads) * 2 * threads + 2 * threads <= 96);
            assert_eq!(((long.value)(96, threads) + 1) * threads, 96);
        }
    }
}
