//! What the choice of an engine costs: `raddle-bench choice`.
//!
//! Every program of `bench/programs` is made larger until the best of the engines that `auto` chooses from needs a while; then `auto` is measured on the same program. Its time over that of
//! the best is its regret. A program that none of them finishes in time has no best and is left out, and so is one without a parameter that stays small: most of `examples/c`, which
//! are measured as they are.
//!
//! Whoever needs [several times](HOPELESS) what another one has needed is not waited for.

use crate::engines::cell::measure;
use crate::failure::Failure;
use crate::table::markdown;
use raddle::{Define, ENGINES, Model};
use raddle_bench::catalogue::{self, Entry};
use serde::Serialize;
use std::time::Duration;

/// Between whom `auto` has the choice.
const ENGINES_TO_CHOOSE: [&str; 3] = ["optimal", "rf", "rvf"];

/// A program is large enough when the best needs so many CPU seconds.
const LARGE: f64 = 0.05;

/// An engine that needs so many times what the best has needed is given up; so is `auto`, later.
const HOPELESS: f64 = 4.0;
const HOPELESS_AUTO: f64 = 20.0;

/// The largest parameter that is tried.
const LARGEST: i64 = 1_000;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Give up after so many seconds for each program and engine
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    limit: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A program, and what everybody needs for it.
#[derive(Debug, Serialize)]
struct Line {
    program: String,
    /// CPU seconds of each of [`ENGINES_TO_CHOOSE`] that came to the end.
    engines: Vec<Option<f64>>,
    auto: Option<f64>,
}

impl Line {
    fn best(&self) -> Option<f64> {
        self.engines.iter().flatten().copied().reduce(f64::min)
    }

    fn regret(&self) -> Option<f64> {
        Some(self.auto? / self.best()?)
    }
}

/// Measures and prints.
///
/// # Errors
/// If a program is not accepted or an engine contradicts itself.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let limit = Duration::from_secs(args.limit);
    let mut lines = Vec::new();
    let mut entries = catalogue::entries()?;
    entries.extend(catalogue::examples_in_c()?);
    for entry in entries {
        if args.only.as_ref().is_none_or(|only| entry.name.contains(only.as_str()))
            && let Some(line) = grown(&entry, limit)?
        {
            anstream::eprintln!("{}: {:.2}", line.program, line.regret().unwrap_or(f64::INFINITY));
            lines.push(line);
        }
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&lines)?);
    } else {
        anstream::print!("{}", table(&lines));
    }
    Ok(())
}

/// The program at the first size at which the best engine needs a while.
fn grown(entry: &Entry, limit: Duration) -> Result<Option<Line>, Failure> {
    let mut defines = entry.table.clone();
    let parameter = entry.plot.as_ref().map(|growth| growth.parameter.clone());
    if let Some(growth) = &entry.plot
        && !defines.iter().any(|define| define.name == growth.parameter)
    {
        defines.push(growth.at(*growth.values.end()));
    }
    loop {
        let line = measured(entry, &defines, limit)?;
        match line.best() {
            None => return Ok(None),
            Some(best) if best >= LARGE => return Ok(Some(line)),
            Some(_) => {}
        }
        let of_parameter = |define: &&mut Define| parameter.as_ref().is_none_or(|name| *name == define.name);
        let Some(define) = defines.iter_mut().rfind(of_parameter) else { return Ok(None) };
        let Ok(value) = define.value.parse::<i64>() else { return Ok(None) };
        if value >= LARGEST {
            return Ok(None);
        }
        define.value = (value + (value / 8).max(1)).to_string();
    }
}

fn measured(entry: &Entry, defines: &[Define], limit: Duration) -> Result<Line, Failure> {
    let title = entry.title(defines);
    let program = entry.load(defines).map_err(Failure::of(&title))?;
    let seconds = |name: &str, limit: Duration| {
        let engine = ENGINES.find(name).expect("it is among them");
        let cell = measure(&title, &program, engine, Model::Sc, limit)?;
        Ok::<_, Failure>(cell.done().map(|explored| explored.cpu_seconds))
    };
    let mut line = Line { program: title.clone(), engines: Vec::new(), auto: None };
    for name in ENGINES_TO_CHOOSE {
        let enough = line.best().map(|best| Duration::from_secs_f64(HOPELESS * best.max(LARGE)));
        line.engines.push(seconds(name, enough.map_or(limit, |enough| enough.min(limit)))?);
    }
    if let Some(best) = line.best().filter(|&best| best >= LARGE) {
        line.auto = seconds("auto", limit.max(Duration::from_secs_f64(HOPELESS_AUTO * best)))?;
    }
    Ok(line)
}

fn table(lines: &[Line]) -> String {
    let mut head = vec!["program".to_owned()];
    head.extend(ENGINES_TO_CHOOSE.iter().chain(&["auto"]).map(|name| format!("{name}, ms")));
    head.push("auto / best".to_owned());
    let number = |value: Option<f64>, scale: f64, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{:.digits$}", value * scale))
    };
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let times = line.engines.iter().chain([&line.auto]).map(|&time| number(time, 1e3, 0));
            let mut row = vec![line.program.clone()];
            row.extend(times);
            row.push(number(line.regret(), 1.0, 2));
            row
        })
        .collect();
    let regrets: Vec<f64> = lines.iter().filter_map(Line::regret).collect();
    let mean = (regrets.iter().map(|regret| regret.ln()).sum::<f64>() / regrets.len().max(1) as f64).exp();
    let worst = regrets.iter().copied().fold(1.0, f64::max);
    let unfinished = lines.len() - regrets.len();
    format!(
        "{}\n{} programs: {mean:.2} in the geometric mean, {worst:.2} at most; {unfinished} that auto did not finish\n",
        markdown(&head, &rows, 1),
        regrets.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regret_is_the_time_over_that_of_the_best() {
        let line = |auto| Line { program: "p(3)".to_owned(), engines: vec![Some(0.4), None, Some(0.1)], auto };
        assert_eq!(line(Some(0.2)).regret(), Some(2.0));
        assert_eq!(line(None).regret(), None);
        let text = table(&[line(Some(0.2)), line(Some(0.8)), line(None)]);
        assert!(text.contains("400 |") && text.contains("2.00"), "{text}");
        assert!(
            text.ends_with("2 programs: 4.00 in the geometric mean, 8.00 at most; 1 that auto did not finish\n"),
            "{text}"
        );
    }
}
