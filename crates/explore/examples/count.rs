//! Counts the classes of an `.rdl` program: `count FILE MODEL [WORKERS] [NAME=VALUE]...`.

use raddle_explore::{Control, Options, explore};
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(&args[0]).expect("a readable file");
    let params: Vec<(String, i64)> = args[3..]
        .iter()
        .map(|word| word.split_once('=').expect("NAME=VALUE"))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect();
    let program = raddle_program::text::parse(&args[0], &text, &params).unwrap_or_else(|errors| panic!("{errors}"));
    let code = raddle_machine::compile(&program, &AllShared, &CompileOptions::default());
    let mut options = Options::new(args[1].parse().expect("a model"));
    options.workers = args[2].parse().expect("a number of workers");
    options.all = true;
    let start = Instant::now();
    match explore(&code, &options, &Control::new()) {
        Ok(outcome) => {
            let seconds = start.elapsed().as_secs_f64();
            let statistics = outcome.statistics;
            println!(
                "{:?} {}  {:.3} s  {:.0}/s  share {}",
                outcome.verdict,
                outcome.scope,
                seconds,
                statistics.runs() as f64 / seconds,
                outcome.share_done
            );
            println!("{statistics:?}");
            for finding in outcome.findings {
                println!("{} {} {}", finding.violation.property, finding.violation.message, finding.violation.schedule);
            }
        }
        Err(error) => println!("error: {error}"),
    }
}
