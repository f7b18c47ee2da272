//! The memory models of C11 beside SC: the same programs, the same engines.
//!
//! Rates are executions per CPU second, blocked and failed ones included. The share is the rate divided by that under SC by the same engine: what the weaker model costs per
//! execution. The rate of GenMC is that of its `rc11` on programs of this size as published, 15,000 to 25,000; where its rate on this program was measured
//! (under SC, see [`suite`](crate::suite)) that one stands there.
//!
//! Programs are those of the suite that say what they do by relaxed accesses or locks, and families with sequentially consistent accesses and fences, whose common order is what
//! RC11 has to look at beyond clocks.

use crate::failure::Failure;
use crate::measure::{Effort, Size, load, settings, timed};
use crate::suite::{CASES, Case, Instance, UNKNOWN};
use crate::table::{dash, markdown, rounded, thousands};
use raddle::{ENGINES, Model};
use serde::Serialize;

/// What is compared, and under which models.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tiny parameters, one repetition
    #[arg(long)]
    quick: bool,

    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const MODELS: [Model; 3] = [Model::Sc, Model::Ra, Model::Rc11];

/// Programs of the suite that take no offence at weaker models.
const SHARED: [&str; 6] = ["readers", "fib", "lastzero", "indexer", "ticket lock", "mutex counter"];

/// N threads in a ring: each writes its own location and reads the next one's. All 2^N outcomes but one, where everything is sequentially consistent.
const RING: Case = Case {
    name: "ring, seq_cst",
    text: include_str!("../programs/models/ring.rdl"),
    model: Model::Sc,
    parameter: "N",
    full: Instance { value: 12, executions: None },
    quick: Instance { value: 3, executions: None },
    peers: UNKNOWN,
};

/// The same with relaxed accesses and full fences between them.
const FENCED_RING: Case =
    Case { name: "ring, fences", text: include_str!("../programs/models/ring_fenced.rdl"), ..RING };

/// A line of the table.
#[derive(Debug, Serialize)]
struct Line {
    program: String,
    model: &'static str,
    engines: Vec<Run>,
    genmc_rate: Option<f64>,
}

/// What an engine did.
#[derive(Debug, Serialize)]
struct Run {
    engine: &'static str,
    executions: u64,
    cpu_seconds: f64,
    rate: f64,
    /// The rate divided by that under SC.
    share: Option<f64>,
}

/// A program, and the number of its executions by `optimal` under a model with a parameter, if it is known.
type Subject = (Case, fn(Model, i64) -> Option<u64>);

fn subjects() -> Vec<Subject> {
    let shared = CASES.iter().filter(|case| case.model == Model::Sc && SHARED.contains(&case.name));
    let mut subjects: Vec<Subject> = Vec::new();
    for &case in shared {
        subjects.push((case, |_, _| None));
    }
    // Under RA accesses are releases and acquires, however strong they are.
    subjects.push((RING, |model, n| Some((1 << n) - u64::from(model != Model::Ra))));
    subjects.push((FENCED_RING, |_, n| Some((1 << n) - 1)));
    subjects
}

/// Measures and prints.
///
/// # Errors
/// If a program is not explored as a whole, or a count is not the known one.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (size, effort) = if args.quick { (Size::Quick, Effort::ONCE) } else { (Size::Full, Effort::STABLE) };
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut lines = Vec::new();
    for (case, known) in subjects().into_iter().filter(|(case, _)| wanted(case.name)) {
        lines.extend(measure(&case, known, size, effort)?);
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&lines)?);
    } else {
        anstream::print!("{}", text(&lines));
    }
    Ok(())
}

fn measure(
    case: &Case,
    known: fn(Model, i64) -> Option<u64>,
    size: Size,
    effort: Effort,
) -> Result<Vec<Line>, Failure> {
    let value = match size {
        Size::Full => case.full.value,
        Size::Quick => case.quick.value,
    };
    let program = format!("{}({value})", case.name);
    let loaded = load(case, &program, value)?;
    let mut lines: Vec<Line> = Vec::new();
    for model in MODELS {
        let mut engines = Vec::new();
        for engine in ["optimal", "rf"] {
            let mut settings = settings(model, 1);
            settings.engine = ENGINES.find(engine).expect("it is among them");
            let (outcome, times) = timed(&program, &loaded, &settings, effort)?;
            let found = outcome.statistics.executions;
            let expected = known(model, value).filter(|&expected| engine == "optimal" && expected != found);
            if let Some(expected) = expected {
                return Err(Failure::Count { program: format!("{program} under {model}"), found, expected });
            }
            let rate = outcome.statistics.runs() as f64 / times.cpu;
            let under_sc = lines.first().and_then(|line| line.engines.iter().find(|run| run.engine == engine));
            let share = under_sc.map(|run| rate / run.rate);
            engines.push(Run { engine, executions: found, cpu_seconds: times.cpu, rate, share });
        }
        let genmc_rate = matches!(size, Size::Full).then_some(case.peers.genmc).flatten();
        lines.push(Line { program: program.clone(), model: model.name(), engines, genmc_rate });
    }
    Ok(lines)
}

fn text(lines: &[Line]) -> String {
    let mut head: Vec<String> = ["program", "model"].map(str::to_owned).to_vec();
    for engine in ["optimal", "rf"] {
        head.extend([engine.to_owned(), "CPU ms".into(), "per CPU second".into(), "of SC".into()]);
    }
    head.extend(["GenMC".to_owned(), "×".to_owned()]);
    let cells = lines.iter().map(|line| {
        let mut cells = vec![line.program.clone(), line.model.to_owned()];
        for run in &line.engines {
            cells.push(thousands(run.executions));
            cells.push(format!("{:.2}", run.cpu_seconds * 1000.0));
            cells.push(rounded(run.rate));
            cells.push(run.share.map_or_else(dash, |share| format!("{share:.2}")));
        }
        let best = line.engines.first().map_or(f64::NAN, |run| run.rate);
        cells.push(line.genmc_rate.map_or_else(dash, rounded));
        cells.push(line.genmc_rate.map_or_else(dash, |rate| rounded(best / rate)));
        cells
    });
    markdown(&head, &cells.collect::<Vec<_>>(), 2)
}
