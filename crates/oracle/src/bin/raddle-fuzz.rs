//! Holds engines against brute force on random programs, prints how many, and the smallest disagreement.

use clap::Parser;
use raddle_oracle::compare::minimise;
use raddle_oracle::sweep::Disagreement;
use raddle_oracle::{Effort, Family, Sketch, Sweep, Tally, generate, subjects, variants};
use raddle_trace::Model;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Holds engines against brute force on random programs.
#[derive(Debug, Parser)]
#[command(name = "raddle-fuzz", after_help = "Exit status: 0 no disagreement, 1 some, 2 wrong usage.")]
struct Arguments {
    /// How many programs to compare on
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    programs: u64,
    /// Which ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// sc, tso, pso, rc11, ra, sra, wra or all
    #[arg(long, value_name = "M", default_value = "all", value_parser = models)]
    model: Models,
    /// A mixed, B buffered, C heap, D racy, E atomic blocks, F no updates, G counters, H guarded, I wait loops, J barriers, K seq_cst, L messages [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    kinds: Vec<Family>,
    /// Only this engine [default: every one]
    #[arg(long, value_name = "NAME", conflicts_with = "without")]
    engine: Option<String>,
    /// Leave these out, with their variants: `oc` is `oc`, `oc basic`, and so on
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    without: Vec<String>,
    /// Also run every engine that has workers with so many; it has to count the same
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers: usize,
    /// Give up on a program with more states of the machine
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    states: usize,
    /// And on one with more classes
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    classes: usize,
    /// Start at this program of the seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Count disagreements instead of ending at the first
    #[arg(long)]
    keep_going: bool,
    /// Print a disagreement as it was found
    #[arg(long)]
    no_shrink: bool,
}

/// The models to compare under.
#[derive(Clone, Debug)]
struct Models(Vec<Model>);

fn models(name: &str) -> Result<Models, String> {
    if name == "all" { Ok(Models(Model::OPERATIONAL.to_vec())) } else { Ok(Models(vec![name.parse()?])) }
}

impl Arguments {
    fn effort(&self) -> Effort {
        Effort { states: self.states, classes: self.classes }
    }
}

fn main() -> ExitCode {
    let mut arguments = Arguments::parse();
    if arguments.kinds.is_empty() {
        arguments.kinds = Family::ALL.to_vec();
    }
    let mut engines = subjects();
    if arguments.workers > 1 {
        engines.extend(variants::with_workers(arguments.workers));
    }
    let all: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    let is_variant = |engine: &str, of: &str| engine.split([' ', ',']).next() == Some(of);
    let unknown = match &arguments.engine {
        Some(name) => Some(name).filter(|name| !all.contains(name)),
        None => arguments.without.iter().find(|name| !all.iter().any(|engine| is_variant(engine, name))),
    };
    if let Some(name) = unknown {
        eprintln!("error: no engine is called `{name}`; there are {}", all.join(", "));
        return ExitCode::from(2);
    }
    engines.retain(|engine| match &arguments.engine {
        Some(name) => engine.name == *name,
        None => !arguments.without.iter().any(|name| is_variant(&engine.name, name)),
    });
    if engines.is_empty() {
        eprintln!("error: no engine is left");
        return ExitCode::from(2);
    }
    // A panic of an engine is part of the report, and shrinking makes many of them.
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let mut sweep = Sweep::new(engines, arguments.effort());
    run(&arguments, &mut sweep);
    report(&sweep, start.elapsed());
    ExitCode::from(u8::from(sweep.tally(|_, _, _| true).disagreed > 0))
}

fn run(arguments: &Arguments, sweep: &mut Sweep) {
    let mut told = Instant::now();
    // If no engine takes any program there is no end to it.
    let most = 1_000 + 100 * arguments.programs;
    for index in (arguments.from..).take(usize::try_from(most).unwrap_or(usize::MAX)) {
        if sweep.programs() >= arguments.programs {
            break;
        }
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            let Tally { classes, disagreed, .. } = sweep.tally(|_, _, _| true);
            eprintln!("{} programs, {classes} classes, {disagreed} disagreements", sweep.programs());
        }
        let family = arguments.kinds[(index % arguments.kinds.len() as u64) as usize];
        let sketch = generate(family, arguments.seed, index);
        let disagreements = sweep.compare(family, &sketch, &arguments.model.0);
        for disagreement in &disagreements {
            let Disagreement { engine, model, .. } = disagreement;
            println!("program {index} of family {family}, seed {}, {model}, {}:", arguments.seed, engine.name);
            show(&sketch, disagreement, arguments);
        }
        if !disagreements.is_empty() && !arguments.keep_going {
            break;
        }
    }
}

/// Prints a disagreement, made as small as it gets.
fn show(sketch: &Sketch, disagreement: &Disagreement<'_>, arguments: &Arguments) {
    let Disagreement { engine, model, differences } = disagreement;
    let (small, differences) = if arguments.no_shrink {
        (sketch.clone(), differences.clone())
    } else {
        minimise(sketch, *model, engine, arguments.effort())
    };
    println!("{small}");
    for difference in differences {
        println!("  {difference}");
    }
    println!("\n{}", raddle_program::print(&small.program()));
}

/// Prints what each engine was compared on, and the sum.
fn report(sweep: &Sweep, time: Duration) {
    let width = sweep.engines().iter().map(|engine| engine.name.len()).max().unwrap_or(0);
    for engine in sweep.engines() {
        let tally = sweep.tally(|other, _, _| other.name == engine.name);
        let Tally { races, classes, left_out, refused, too_large, .. } = tally;
        println!(
            "{:width$}  {} compared ({classes} classes, {races} with races), {refused} refused, {too_large} too large, \
             {left_out} not for it",
            engine.name,
            tally.compared()
        );
    }
    let sum = sweep.tally(|_, _, _| true);
    println!(
        "{} programs, {} comparisons, {} disagreements, {:.1} s",
        sweep.programs(),
        sum.compared(),
        sum.disagreed,
        time.as_secs_f64()
    );
}
