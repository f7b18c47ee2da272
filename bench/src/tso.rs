//! Reachability and robustness under TSO beside published figures, and states per second beside SPIN.
//!
//! Tables: reachability by `lazy-tso` beside Calin 2016, Table 15.1 of our notes (virtual machine with 16 cores of 2.67 GHz); fences by `robust` beside the figures for depth-first search there, Table 15.2 (laptop of 2015 with 1.7 GHz);
//! families whose plots are lost; and mutual exclusions that `explicit` and the verifiers that SPIN generates search whole, state by state the same, if `spin` and a C compiler are installed: without reduction, and each with its own. Of the
//! published programs the drawings are lost; automata beside the figures have the sizes that are printed, or nearly, and programs with loops ask more. CPU time of this machine.

use crate::failure::Failure;
use crate::table::{dash, markdown, rounded, thousands};
use raddle::answer::Question;
use raddle::cost::{Meter, children_seconds};
use raddle::report::Body;
use raddle::report::robust::Purpose;
use raddle::{Control, Define, ENGINES, LoadOptions, Loaded, Model, Property, Settings, Verdict, Wanted};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tiny parameters, and without SPIN
    #[arg(long)]
    quick: bool,

    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Give up on a program after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,
}

/// A question with its known answer.
struct Case {
    name: &'static str,
    file: &'static str,
    n: Option<i64>,
    define: &'static str,
    /// Whether a goal is reached, or the program is not robust.
    wrong: bool,
    /// More parameters.
    more: &'static [(&'static str, i64)],
    /// CPU milliseconds that were published.
    published: Option<f64>,
    /// Control states and transitions of what was asked then.
    asked: Option<(u32, u32)>,
}

const fn case(name: &'static str, file: &'static str, n: Option<i64>, wrong: bool, published: Option<f64>) -> Case {
    Case { name, file, n, define: "N", wrong, published, asked: None, more: &[] }
}

/// What was asked with so many control states and transitions.
const fn asked(name: &'static str, file: &'static str, wrong: bool, published: f64, asked: (u32, u32)) -> Case {
    Case { asked: Some(asked), ..case(name, file, None, wrong, Some(published)) }
}

/// Reachability under TSO: does a goal state have a run?
const REACH: &[Case] = &[
    asked("parker", "trencher/parker_small.trencher", true, 8.0, (11, 10)),
    asked("parker, in a loop", "trencher/parker.trencher", true, 8.0, (11, 10)),
    asked("peterson", "trencher/peterson.trencher", true, 21.0, (14, 18)),
    asked("dekker", "trencher/dekker.trencher", true, 171.0, (24, 30)),
    asked("lamport", "trencher/lamport3.trencher", true, 1839.0, (33, 36)),
    asked("mcs, small, four threads", "trencher/mcs4_small.trencher", false, 127.0, (52, 50)),
    asked("mcs, four threads", "trencher/mcs4.trencher", false, 127.0, (52, 50)),
    Case { more: &[("ROUNDS", 1)], ..case("mcs, once", "tso/mcs.rdl", Some(4), false, Some(127.0)) },
    case("mcs, for ever", "tso/mcs.rdl", Some(4), false, Some(127.0)),
    asked("clh, three threads", "trencher/clh3.trencher", false, 10.0, (43, 41)),
    Case { more: &[("ROUNDS", 1)], ..case("clh, once", "tso/clh.rdl", Some(3), false, Some(10.0)) },
    case("clh, for ever", "tso/clh.rdl", Some(3), false, Some(10.0)),
    asked("stack, four threads", "trencher/stack4.trencher", false, 9.0, (46, 50)),
    case("stack", "tso/stack.rdl", Some(4), false, Some(9.0)),
];

/// Which fences make the program robust?
const FENCES: &[Case] = &[
    asked("dekker", "trencher/dekker.trencher", true, 431.0, (24, 30)),
    asked("dekker, fenced", "trencher/dekker_fenced.trencher", false, 0.0, (28, 34)),
    asked("peterson", "trencher/peterson.trencher", true, 168.0, (14, 18)),
    asked("peterson, fenced", "trencher/peterson_fenced.trencher", false, 1.0, (16, 20)),
    asked("lamport, small", "trencher/lamport_small.trencher", true, 12572.0, (33, 36)),
    asked("lamport, small, fenced", "trencher/lamport_small_fenced.trencher", false, 2.0, (39, 42)),
    asked("lamport", "trencher/lamport3.trencher", true, 12572.0, (33, 36)),
    asked("clh, three threads", "trencher/clh3.trencher", false, 94.0, (42, 41)),
    case("clh, for ever", "tso/clh.rdl", Some(3), false, Some(94.0)),
    asked("mcs, two threads", "trencher/mcs2.trencher", false, 41.0, (54, 58)),
    case("mcs, for ever", "tso/mcs.rdl", Some(2), false, Some(41.0)),
    // Without the fence of its authors, and with a second owner, it is robust neither here nor there.
    Case {
        define: "THIEVES",
        more: &[("TWO", 1), ("FENCE", 0)],
        asked: Some((80, 79)),
        ..case("work stealing, two owners", "tso/work_stealing.rdl", Some(3), true, Some(103_267.0))
    },
    Case {
        define: "THIEVES",
        asked: Some((73, 72)),
        ..case("work stealing", "tso/work_stealing.rdl", Some(2), false, Some(35.0))
    },
    asked("stack, four threads", "trencher/stack4.trencher", false, 0.0, (46, 50)),
    case("stack", "tso/stack.rdl", Some(4), false, Some(0.0)),
];

/// Families of which the plots are lost.
const FAMILIES: &[Case] = &[
    case("lamport", "tso/lamport_fast.rdl", Some(2), true, None),
    case("lamport", "tso/lamport_fast.rdl", Some(3), true, None),
    case("lamport", "tso/lamport_fast.rdl", Some(4), true, None),
    case("lamport", "tso/lamport_fast.rdl", Some(5), true, None),
    case("branching", "tso/branching.rdl", Some(10), true, None),
    case("branching", "tso/branching.rdl", Some(50), true, Some(90_000.0)),
    case("unwinding", "tso/unwinding.rdl", Some(10), true, None),
    case("unwinding", "tso/unwinding.rdl", Some(20), true, Some(510_000.0)),
    case("indexer", "indexer.rdl", Some(6), false, None),
    case("indexer", "indexer.rdl", Some(12), false, None),
];

/// Programs that SPIN searches, too: quick and full size.
const STATES: &[(&str, i64, i64)] = &[("lamport", 2, 4), ("szymanski", 2, 4), ("philosophers", 3, 8)];

/// Programs with moves that commute, by how large they are: quick and full size; and the model.
const COMMUTING: &[(&str, i64, i64, Model)] = &[
    ("examples/indexer.rdl", 3, 12, Model::Sc),
    ("examples/filesystem.rdl", 3, 14, Model::Sc),
    ("bench/spin/philosophers.rdl", 3, 7, Model::Sc),
    ("bench/spin/lamport.rdl", 2, 3, Model::Sc),
    ("examples/tso/clh.rdl", 2, 3, Model::Sc),
    ("examples/tso/mcs.rdl", 2, 3, Model::Tso),
    ("examples/tso/branching.rdl", 3, 10, Model::Tso),
];

/// What commutes is followed in one order by these.
const REDUCTIONS: [&str; 4] = ["none", "persistent", "cartesian", "dynamic"];

/// A line of a table.
#[derive(Debug, Serialize)]
struct Line {
    table: &'static str,
    program: String,
    verdict: String,
    states: u64,
    /// Searches that were made, of all kinds.
    queries: u64,
    cpu_ms: f64,
    /// CPU milliseconds that were published.
    published_ms: Option<f64>,
    /// Control states and transitions of what was asked then, and of these automata.
    asked: Option<(u32, u32)>,
    own: Option<(u32, u32)>,
}

/// A line of the comparison with SPIN.
#[derive(Debug, Serialize)]
struct Searched {
    program: String,
    /// Of moves that commute one order is followed.
    reduced: bool,
    states: u64,
    cpu_seconds: f64,
    bytes_per_state: u64,
    /// Wall time of one worker divided by that of two.
    two_workers: f64,
    spin: Option<Spin>,
}

#[derive(Debug, Serialize)]
struct Spin {
    states: u64,
    cpu_seconds: f64,
}

/// How many states are met by each reduction; none where a limit was reached.
#[derive(Debug, Serialize)]
struct Reduced {
    program: String,
    model: String,
    states: [Option<u64>; REDUCTIONS.len()],
    cpu_ms: [f64; REDUCTIONS.len()],
}

#[derive(Debug, Serialize)]
struct Tables {
    lines: Vec<Line>,
    reduced: Vec<Reduced>,
    searched: Vec<Searched>,
}

/// Measures and prints.
///
/// # Errors
/// If a verdict is not the known one, or a program cannot be read.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut lines = Vec::new();
    for (table, cases) in [("reachability", REACH), ("fences", FENCES), ("families", FAMILIES)] {
        let small =
            |case: &&Case| !args.quick || (case.published.is_none_or(|ms| ms < 200.0) && case.n.is_none_or(|n| n < 4));
        for case in cases.iter().filter(|case| wanted(case.name)).filter(small) {
            lines.push(if table == "fences" { fences(case, args)? } else { reach(table, case, args)? });
        }
    }
    let mut searched = Vec::new();
    for &(name, quick, full) in STATES.iter().filter(|(name, ..)| wanted(name)) {
        for reduced in [false, true] {
            searched.push(states(name, if args.quick { quick } else { full }, reduced, args)?);
        }
    }
    let mut reduced = Vec::new();
    for &(file, quick, full, model) in COMMUTING.iter().filter(|(file, ..)| wanted(file)) {
        reduced.push(reduce(file, if args.quick { quick } else { full }, model, args)?);
    }
    let tables = Tables { lines, reduced, searched };
    crate::print(args.json, &tables, || text(&tables))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above").to_owned()
}

fn read(path: &Path, defines: &[(&str, i64)]) -> Result<(Loaded, LoadOptions), Failure> {
    let define = |&(name, value): &(&str, i64)| Define { name: name.to_owned(), value: value.to_string() };
    let options = LoadOptions { defines: defines.iter().map(define).collect(), ..LoadOptions::default() };
    let loaded = raddle::load(path, &options).map_err(Failure::of(&path.display().to_string()))?;
    Ok((loaded, options))
}

fn settings(model: Model, args: &Args) -> Settings {
    let mut settings = Settings::new(model);
    settings.options.properties = settings.options.properties.without(Property::Race);
    settings.options.limits.time = Some(Duration::from_secs(args.patience));
    settings
}

fn read_case(case: &Case) -> Result<(Loaded, LoadOptions), Failure> {
    let defines: Vec<(&str, i64)> =
        case.n.map(|n| (case.define, n)).into_iter().chain(case.more.iter().copied()).collect();
    read(&path(case), &defines)
}

fn path(case: &Case) -> PathBuf {
    folder().join("examples").join(case.file)
}

/// Control states and transitions of automata.
fn size(path: &Path) -> Result<Option<(u32, u32)>, Failure> {
    if path.extension().is_none_or(|end| end != "trencher") {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path)?;
    let (mut thread, mut states, mut transitions) = ("", BTreeSet::new(), 0);
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["thread", name] => thread = name,
            ["transition", from, to, ..] => {
                states.extend([(thread, from), (thread, to)]);
                transitions += 1;
            }
            _ => {}
        }
    }
    Ok(Some((states.len() as u32, transitions)))
}

fn named(case: &Case) -> String {
    case.n.map_or_else(|| case.name.to_owned(), |n| format!("{}({n})", case.name))
}

/// A verdict that is not the known one has no time.
fn judged(name: &str, verdict: Verdict, wrong: bool) -> Result<String, Failure> {
    let expected = if wrong { Verdict::Violated } else { Verdict::Holds };
    if verdict != expected && verdict != Verdict::Unknown {
        return Err(Failure::History { what: name.to_owned(), found: format!("{verdict:?} instead of {expected:?}") });
    }
    Ok(format!("{verdict:?}").to_lowercase())
}

/// The answer to a question and the CPU milliseconds that it takes: the mean of as many times as go into a tenth of a second, since some take less than what a clock can tell.
fn measured<T>(ask: impl Fn() -> Result<T, Failure>) -> Result<(T, f64), Failure> {
    let meter = Meter::start();
    for times in 1.. {
        let answer = ask()?;
        let seconds = meter.read().cpu_seconds;
        if seconds > 0.1 {
            return Ok((answer, seconds * 1000.0 / f64::from(times)));
        }
    }
    unreachable!("time passes")
}

fn reach(table: &'static str, case: &Case, args: &Args) -> Result<Line, Failure> {
    let program = named(case);
    let (loaded, _) = read_case(case)?;
    // What never stores late needs no delays.
    let engine = if case.name == "indexer" { "explicit" } else { "lazy-tso" };
    let mut settings = settings(Model::Tso, args);
    settings.engine = ENGINES.find(engine).expect("it is one of them");
    if engine == "explicit" {
        // Its first thread clears the table before it starts others.
        settings.options.switches.set(settings.engine, "buffer=any").expect("it is a switch");
    }
    let ask = || raddle::verify(&loaded.program, &settings, &Control::new()).map_err(Failure::of(&program));
    let (outcome, cpu_ms) = measured(ask)?;
    Ok(Line {
        table,
        verdict: judged(&program, outcome.verdict, case.wrong)?,
        states: outcome.counter("states") + outcome.counter("oracle_states"),
        queries: 2 * outcome.counter("rounds").max(1) - u64::from(case.wrong),
        cpu_ms,
        published_ms: case.published,
        asked: case.asked,
        own: size(&path(case))?,
        program,
    })
}

fn fences(case: &Case, args: &Args) -> Result<Line, Failure> {
    let program = named(case);
    let path = path(case);
    let (loaded, load) = read_case(case)?;
    let settings = settings(Model::Tso, args);
    let file = path.display().to_string();
    let question = Question { file: &file, load: &load, loaded: &loaded, settings: &settings };
    let wanted = Wanted { fences: Some(Purpose::Robustness), patch: false };
    let ask = || raddle::robust(&question, wanted, &Control::new()).map_err(Failure::of(&program));
    let (answer, cpu_ms) = measured(ask)?;
    let Body::Robust(body) = answer.body else { unreachable!("it was asked for that") };
    let verdict = match (&body.limit, body.attacks.is_empty()) {
        (_, false) => Verdict::Violated,
        (None, true) => Verdict::Holds,
        (Some(_), true) => Verdict::Unknown,
    };
    let number = body.fences.as_ref().and_then(|sets| sets.first()).map_or(0, Vec::len);
    judged(&program, verdict, case.wrong)?;
    let verdict = format!("{number} fences");
    let (states, queries) = (body.states, body.tried + 1);
    let (asked, own) = (case.asked, size(&path)?);
    Ok(Line { table: "fences", program, verdict, states, queries, cpu_ms, published_ms: case.published, asked, own })
}

fn states(name: &str, n: i64, reduced: bool, args: &Args) -> Result<Searched, Failure> {
    let program = format!("{name}({n})");
    let (loaded, _) = read(&folder().join("bench/spin").join(name).with_extension("rdl"), &[("N", n)])?;
    let mut settings = settings(Model::Sc, args);
    // Only whole searches are compared.
    settings.options.limits.time = None;
    settings.engine = ENGINES.find("explicit").expect("it is one of them");
    let reduction = if reduced { "reduction=persistent" } else { "reduction=none" };
    settings.options.switches.set(settings.engine, reduction).expect("it is a switch");
    let mut counted = Vec::new();
    for workers in [1, 2] {
        settings.options.workers = workers;
        let meter = Meter::start();
        let outcome = raddle::verify(&loaded.program, &settings, &Control::new()).map_err(Failure::of(&program))?;
        judged(&program, outcome.verdict, false)?;
        counted.push((outcome.counter("states"), outcome.counter("bytes_per_state"), meter.read()));
    }
    let [(states, bytes_per_state, one), (also, _, two)] = &counted[..] else { unreachable!("two runs") };
    if states != also {
        return Err(Failure::Count { program, found: *also, expected: *states });
    }
    let spin = if args.quick { None } else { spin(name, n, reduced)? };
    Ok(Searched {
        program,
        reduced,
        states: *states,
        cpu_seconds: one.cpu_seconds,
        bytes_per_state: *bytes_per_state,
        two_workers: one.seconds / two.seconds,
        spin,
    })
}

fn reduce(file: &str, n: i64, model: Model, args: &Args) -> Result<Reduced, Failure> {
    let path = folder().join(file);
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let program = format!("{name}({n})");
    let (loaded, _) = read(&path, &[("N", n)])?;
    let mut settings = settings(model, args);
    settings.options.all = true;
    settings.engine = ENGINES.find("explicit").expect("it is one of them");
    settings.options.switches.set(settings.engine, "buffer=any").expect("it is a switch");
    let mut reduced = Reduced { program, model: model.to_string(), states: [None; 4], cpu_ms: [0.0; 4] };
    let mut verdicts = Vec::new();
    for (at, reduction) in REDUCTIONS.into_iter().enumerate() {
        let switch = format!("reduction={reduction}");
        settings.options.switches.set(settings.engine, &switch).expect("it is a switch");
        let ask = || raddle::verify(&loaded.program, &settings, &Control::new()).map_err(Failure::of(&reduced.program));
        let (outcome, cpu_ms) = measured(ask)?;
        reduced.cpu_ms[at] = cpu_ms;
        if outcome.stop.is_none() {
            reduced.states[at] = Some(outcome.counter("states"));
            verdicts.push((outcome.verdict, outcome.findings.len()));
        }
    }
    verdicts.dedup();
    if let [one, other, ..] = verdicts[..] {
        let found = format!("{one:?} and {other:?} by different reductions");
        return Err(Failure::History { what: reduced.program, found });
    }
    Ok(reduced)
}

/// The verifier that SPIN generates, compiled and run; `None` if there is no SPIN.
fn spin(name: &str, n: i64, reduced: bool) -> Result<Option<Spin>, Failure> {
    let model = folder().join("bench/spin").join(name).with_extension("pml");
    let dir = std::env::temp_dir().join(format!("raddle-bench-spin-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let call = |program: &Path, arguments: &[String]| -> std::io::Result<std::process::Output> {
        Command::new(program).args(arguments).current_dir(&dir).stdin(Stdio::null()).output()
    };
    let generated = call(Path::new("spin"), &[format!("-DN={n}"), "-a".to_owned(), model.display().to_string()]);
    let found = match generated {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
        Ok(_) => {
            let mut flags = ["-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"].map(str::to_owned).to_vec();
            flags.extend((!reduced).then(|| "-DNOREDUCE".to_owned()));
            call(Path::new("cc"), &flags)?;
            let before = children_seconds();
            let output = call(&dir.join("pan"), &["-m10000000".to_owned()])?;
            let cpu_seconds = children_seconds() - before;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let stored = text.lines().find_map(|line| line.trim().strip_suffix(" states, stored"));
            let wrong = || Failure::Tool { tool: "spin".to_owned(), what: format!("no number of states of {name}") };
            let states = stored.and_then(|number| number.trim().parse().ok()).ok_or_else(wrong)?;
            Some(Spin { states, cpu_seconds })
        }
    };
    std::fs::remove_dir_all(&dir)?;
    Ok(found)
}

fn text(tables: &Tables) -> String {
    let head = [
        "table",
        "program",
        "answer",
        "control states, transitions",
        "asked then",
        "states",
        "searches",
        "CPU ms",
        "published, CPU ms",
        "×",
    ]
    .map(str::to_owned);
    let both =
        |size: Option<(u32, u32)>| size.map_or_else(dash, |(states, transitions)| format!("{states}, {transitions}"));
    let lines: Vec<Vec<String>> = tables
        .lines
        .iter()
        .map(|line| {
            // What takes no time that a clock could tell cannot be beaten.
            let times = line.published_ms.filter(|&ms| ms > 0.0).map(|published| published / line.cpu_ms);
            vec![
                line.table.to_owned(),
                line.program.clone(),
                line.verdict.clone(),
                both(line.own),
                both(line.asked),
                thousands(line.states),
                line.queries.to_string(),
                if line.cpu_ms < 10.0 { format!("{:.2}", line.cpu_ms) } else { format!("{:.0}", line.cpu_ms) },
                line.published_ms.map_or_else(dash, rounded),
                times.map_or_else(dash, rounded),
            ]
        })
        .collect();
    let states = [
        "program",
        "reduced",
        "states",
        "per CPU second",
        "bytes per state",
        "2 workers, wall ×",
        "SPIN: states",
        "per CPU second",
        "CPU seconds ×",
    ]
    .map(str::to_owned);
    let searched: Vec<Vec<String>> = tables
        .searched
        .iter()
        .map(|line| {
            let rate = line.states as f64 / line.cpu_seconds;
            let spin = line.spin.as_ref().map(|spin| (spin.states, spin.states as f64 / spin.cpu_seconds));
            vec![
                line.program.clone(),
                if line.reduced { "yes".to_owned() } else { "no".to_owned() },
                thousands(line.states),
                rounded(rate),
                line.bytes_per_state.to_string(),
                format!("{:.2}", line.two_workers),
                spin.map_or_else(dash, |(states, _)| thousands(states)),
                spin.map_or_else(dash, |(_, rate)| rounded(rate)),
                line.spin.as_ref().map_or_else(dash, |spin| rounded(spin.cpu_seconds / line.cpu_seconds)),
            ]
        })
        .collect();
    let mut head_reduced = vec!["program".to_owned(), "model".to_owned()];
    head_reduced.extend(REDUCTIONS.iter().flat_map(|reduction| [format!("{reduction}: states"), "CPU ms".to_owned()]));
    let reduced: Vec<Vec<String>> = tables
        .reduced
        .iter()
        .map(|line| {
            let both = line.states.iter().zip(line.cpu_ms);
            let cells = both.flat_map(|(states, ms)| [states.map_or_else(dash, thousands), format!("{ms:.1}")]);
            [line.program.clone(), line.model.clone()].into_iter().chain(cells).collect()
        })
        .collect();
    let [lines, reduced, searched] =
        [markdown(&head, &lines, 5), markdown(&head_reduced, &reduced, 2), markdown(&states, &searched, 2)];
    format!("{lines}\n{reduced}\n{searched}")
}
