//! Holds engines against brute force on random programs, prints how many, and the smallest disagreement.

use raddle_oracle::compare::{Expected, code, compare_with, minimise};
use raddle_oracle::{Comparison, Effort, Family, Sketch, Subject, generate, subjects};
use raddle_trace::Model;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "\
Holds engines against brute force on random programs.

Usage: raddle-fuzz [OPTIONS]

  --programs N      how many programs to compare on [default: 10000]
  --seed N          which ones [default: 1]
  --model M         sc, tso, pso or all [default: all]
  --kinds LIST      A mixed, B buffered, C heap, D racy, E atomic blocks, F no updates,
                    G counters, H guarded, I wait loops [default: all]
  --engine NAME     only this engine [default: every one]
  --states N        give up on a program with more states of the machine [default: 20000]
  --classes N       and on one with more classes [default: 2000]
  --from N          start at this program of the seed [default: 0]
  --keep-going      count disagreements instead of ending at the first
  --no-shrink       print a disagreement as it was found

Exit status: 0 no disagreement, 1 some, 2 wrong usage.";

struct Arguments {
    programs: u64,
    seed: u64,
    models: Vec<Model>,
    families: Vec<Family>,
    engine: Option<String>,
    effort: Effort,
    from: u64,
    keep_going: bool,
    shrink: bool,
}

fn arguments() -> Result<Option<Arguments>, String> {
    let mut parsed = Arguments {
        programs: 10_000,
        seed: 1,
        models: Model::ALL.to_vec(),
        families: Family::ALL.to_vec(),
        engine: None,
        effort: Effort::default(),
        from: 0,
        keep_going: false,
        shrink: true,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("`{text}` is not a number"));
        match word.as_str() {
            "--programs" => parsed.programs = number(value()?)?,
            "--seed" => parsed.seed = number(value()?)?,
            "--from" => parsed.from = number(value()?)?,
            "--states" => parsed.effort.states = number(value()?)? as usize,
            "--classes" => parsed.effort.classes = number(value()?)? as usize,
            "--engine" => parsed.engine = Some(value()?),
            "--model" => {
                let name = value()?;
                if name != "all" {
                    parsed.models = vec![name.parse()?];
                }
            }
            "--kinds" => parsed.families = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--keep-going" => parsed.keep_going = true,
            "--no-shrink" => parsed.shrink = false,
            "--help" | "-h" => return Ok(None),
            other => return Err(format!("there is no option `{other}`")),
        }
    }
    Ok(Some(parsed))
}

/// What was done.
#[derive(Default)]
struct Tally {
    programs: u64,
    comparisons: u64,
    classes: u64,
    too_large: u64,
    refused: u64,
    disagreements: u64,
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut engines = subjects();
    if let Some(name) = &arguments.engine {
        engines.retain(|engine| engine.name == *name);
        if engines.is_empty() {
            eprintln!("error: no engine is called `{name}`");
            return ExitCode::from(2);
        }
    }
    // A panic of an engine is part of the report, and shrinking makes many of them.
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let tally = run(&arguments, &engines);
    let Tally { programs, comparisons, classes, too_large, refused, disagreements } = tally;
    let names: Vec<_> = engines.iter().map(|engine| engine.name.as_str()).collect();
    println!(
        "{programs} programs, {comparisons} comparisons with {} ({classes} classes, {refused} refused), {too_large} too \
         large, {disagreements} disagreements, {:.1} s",
        names.join(", "),
        start.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(disagreements > 0))
}

fn run(arguments: &Arguments, engines: &[Subject]) -> Tally {
    let mut tally = Tally::default();
    let mut told = Instant::now();
    let mut index = arguments.from;
    while tally.programs < arguments.programs {
        let family = arguments.families[(index % arguments.families.len() as u64) as usize];
        let sketch = generate(family, arguments.seed, index);
        index += 1;
        // If no engine takes any program there is no end to it.
        if index - arguments.from > 1_000 + 100 * arguments.programs {
            break;
        }
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            eprintln!("{} programs, {} classes, {} disagreements", tally.programs, tally.classes, tally.disagreements);
        }
        let code = code(&sketch);
        let mut compared = false;
        for &model in &arguments.models {
            if !engines.iter().any(|engine| (engine.applies)(&sketch, model)) {
                tally.refused += 1;
                continue;
            }
            let Ok(expected) = Expected::of(&code, model, arguments.effort) else {
                tally.too_large += 1;
                continue;
            };
            for engine in engines.iter().filter(|engine| (engine.applies)(&sketch, model)) {
                match compare_with(&sketch, model, engine, &expected) {
                    Comparison::Agree(classes) => tally.classes += classes,
                    Comparison::TooLarge => continue,
                    Comparison::Refused(_) => {
                        tally.refused += 1;
                        continue;
                    }
                    Comparison::Disagree(differences) => {
                        tally.disagreements += 1;
                        println!("program {} of family {family}, seed {}, {model}:", index - 1, arguments.seed);
                        show(&sketch, model, engine, arguments, &differences);
                        if !arguments.keep_going {
                            return tally;
                        }
                    }
                }
                tally.comparisons += 1;
                compared = true;
            }
        }
        tally.programs += u64::from(compared);
    }
    tally
}

/// Prints a disagreement, made as small as it gets.
fn show(sketch: &Sketch, model: Model, engine: &Subject, arguments: &Arguments, differences: &[String]) {
    let (small, differences) = if arguments.shrink {
        minimise(sketch, model, engine, arguments.effort)
    } else {
        (sketch.clone(), differences.to_vec())
    };
    println!("{small}");
    for difference in differences {
        println!("  {difference}");
    }
    println!("\n{}", raddle_program::print(&small.program()));
}
