//! Liveness beside SPIN: whether whoever wants gets in, under weak fairness between processes, asked of the same programs in both languages.
//!
//! The programs of `bench/spin/live` stand there twice, as Promela and as `.rdl`, step by step the same: each enters a lock again and again, and the formula says that the first one that wants gets in. SPIN
//! translates its formula itself and searches with `-a -f`, with its partial order reduction and without; Raddle is asked by `raddle::live` with `--ltl` and weak fairness. Verdicts have to be the same, and those that
//! are known. CPU time is that of the search alone: SPIN's compiler run is left out, and so is reading the program.

use crate::failure::Failure;
use crate::table::{markdown, thousands};
use raddle::answer::Question;
use raddle::cost::{Meter, children_seconds};
use raddle::live::{BUFFER, Fairness, Goal, Settings as Asked, Strength, Unit};
use raddle::report::Body;
use raddle::{Control, Define, LoadOptions, Model, Settings, Verdict};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tiny parameters, and without SPIN
    #[arg(long)]
    quick: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A program, its formula, whether that holds, and its sizes: quick, then those that are measured.
struct Case {
    name: &'static str,
    formula: &'static str,
    holds: bool,
    quick: i64,
    sizes: &'static [i64],
}

const CASES: [Case; 3] = [
    Case { name: "ticket", formula: "G (wants[0] -> F !wants[0])", holds: true, quick: 2, sizes: &[4, 5, 6] },
    Case { name: "peterson", formula: "G (level[0] -> F !level[0])", holds: true, quick: 2, sizes: &[3, 4] },
    Case { name: "test_and_set", formula: "G (wants[0] -> F !wants[0])", holds: false, quick: 2, sizes: &[4, 8] },
];

/// What a search took.
#[derive(Clone, Copy, Debug, Serialize)]
struct Took {
    /// States of the program, and pairs of one and a state of the automaton.
    states: u64,
    product: u64,
    cpu_seconds: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Line {
    program: String,
    verdict: &'static str,
    raddle: Took,
    /// With reduction and without.
    spin: Option<[Took; 2]>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for case in &CASES {
        let quick = [case.quick];
        for &n in if args.quick { &quick[..] } else { case.sizes } {
            lines.push(line(case, n, args.quick)?);
        }
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&lines)?);
    } else {
        anstream::print!("{}", table(&lines));
    }
    Ok(())
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "spin", "live"].iter().collect()
}

fn line(case: &Case, n: i64, quick: bool) -> Result<Line, Failure> {
    let program = format!("{}({n})", case.name);
    let expected = if case.holds { Verdict::Holds } else { Verdict::Violated };
    let (verdict, ours) = ours(case, n, &program)?;
    judged(&program, "raddle", verdict, expected)?;
    let mut spin_took = None;
    if !quick && crate::peers::is_there(Path::new("spin")) && crate::peers::is_there(Path::new("cc")) {
        let mut both = Vec::new();
        for flags in [&[][..], &["-DNOREDUCE"][..]] {
            let (verdict, took) = spin(case.name, n, flags)?;
            judged(&program, "spin", verdict, expected)?;
            both.push(took);
        }
        spin_took = both.try_into().ok();
    }
    anstream::eprintln!("{program}");
    Ok(Line { program, verdict: if case.holds { "holds" } else { "violated" }, raddle: ours, spin: spin_took })
}

fn judged(program: &str, tool: &str, verdict: Verdict, expected: Verdict) -> Result<(), Failure> {
    if verdict == expected {
        return Ok(());
    }
    let what = format!("{program}: it says {verdict:?}, and {expected:?} is known");
    Err(Failure::Tool { tool: tool.to_owned(), what })
}

fn ours(case: &Case, n: i64, program: &str) -> Result<(Verdict, Took), Failure> {
    let path = folder().join(case.name).with_extension("rdl");
    let define = Define { name: "N".to_owned(), value: n.to_string() };
    let load = LoadOptions { defines: vec![define], ..LoadOptions::default() };
    let loaded = raddle::load(&path, &load).map_err(Failure::of(program))?;
    let formula = raddle::liveness::formula(case.formula, &loaded.program)
        .map_err(|problem| Failure::Tool { tool: "raddle".to_owned(), what: format!("{problem:?}") })?;
    let fairness = Fairness { strength: Strength::Weak, unit: Unit::Thread };
    let asked = Asked { goal: Goal::Formula(formula), fairness, buffer: BUFFER };
    let settings = Settings::new(Model::Sc);
    let file = path.display().to_string();
    let question = Question { file: &file, load: &load, loaded: &loaded, settings: &settings };
    let meter = Meter::start();
    let answer = raddle::live(&question, &asked, &Control::new()).map_err(Failure::of(program))?;
    let cpu_seconds = meter.read().cpu_seconds;
    let Body::Live(body) = &answer.body else { unreachable!("it is about liveness") };
    let took = Took { states: body.counts.states, product: body.counts.product.unwrap_or(0), cpu_seconds };
    Ok((body.verdict, took))
}

/// The verifier that SPIN generates, compiled with these flags and run. It stores pairs of a state and one of the automaton; with fairness it visits each up to as often as there are processes.
fn spin(name: &str, n: i64, flags: &[&str]) -> Result<(Verdict, Took), Failure> {
    let model = folder().join(name).with_extension("pml");
    let dir = std::env::temp_dir().join(format!("raddle-bench-live-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let call = |program: &Path, arguments: &[&str]| {
        Command::new(program).args(arguments).current_dir(&dir).stdin(Stdio::null()).output()
    };
    call(Path::new("spin"), &[&format!("-DN={n}"), "-a", &model.display().to_string()])?;
    let mut compile = vec!["-O2", "-DNFAIR=3", "-w", "-o", "pan", "pan.c"];
    compile.extend(flags);
    call(Path::new("cc"), &compile)?;
    let before = children_seconds();
    let output = call(&dir.join("pan"), &["-a", "-f", "-m1000000"])?;
    let cpu_seconds = children_seconds() - before;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    std::fs::remove_dir_all(&dir)?;
    // Large numbers are printed as 1.38944e+06.
    let number = |text: &str| text.trim().parse::<f64>().ok().map(|number| number as u64);
    let stored = text.lines().find_map(|line| {
        let (before, rest) = line.trim().split_once(" states, stored")?;
        let visited = rest.trim().strip_prefix('(').and_then(|rest| rest.split_whitespace().next());
        Some((number(before)?, visited.and_then(number)))
    });
    let errors = text.split_once("errors: ").and_then(|(_, rest)| number(rest.split_whitespace().next()?));
    let whole = !text.contains("max search depth too small") && !text.contains("out of memory");
    match (stored, errors) {
        (Some((stored, visited)), Some(errors)) if whole => {
            let verdict = if errors == 0 { Verdict::Holds } else { Verdict::Violated };
            Ok((verdict, Took { states: stored, product: visited.unwrap_or(stored), cpu_seconds }))
        }
        _ => Err(Failure::Tool { tool: "spin".to_owned(), what: format!("no whole search of {name}: {text}") }),
    }
}

fn table(lines: &[Line]) -> String {
    let head = [
        "program",
        "answer",
        "states",
        "with the automaton",
        "CPU s",
        "SPIN: stored",
        "visited",
        "CPU s",
        "×",
        "unreduced: stored",
        "visited",
        "CPU s",
        "×",
    ]
    .map(str::to_owned);
    let line = |line: &Line| {
        let ours = line.raddle;
        let mut cells = vec![line.program.clone(), line.verdict.to_owned()];
        cells.extend([thousands(ours.states), thousands(ours.product), format!("{:.2}", ours.cpu_seconds)]);
        for way in 0..2 {
            match line.spin.map(|both| both[way]) {
                Some(took) => cells.extend([
                    thousands(took.states),
                    thousands(took.product),
                    format!("{:.2}", took.cpu_seconds),
                    format!("{:.1}", took.cpu_seconds / ours.cpu_seconds),
                ]),
                None => cells.extend(["-"; 4].map(str::to_owned)),
            }
        }
        cells
    };
    markdown(&head, &lines.iter().map(line).collect::<Vec<_>>(), 2)
}
