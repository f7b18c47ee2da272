//! Every C example does what its first lines say, under every model and engine they name.
//!
//! A line reads `// raddle: OPTIONS expect: holds|violated(PROPERTY) [classes: N]`, with the options of `raddle check`:
//! `--model`, `--engine`, `-D`, `--no`, `--loop-bound`, `--nondet`. `RADDLE_C_EXAMPLE=name` runs one file and says more.

mod support;

use raddle_engine::{Control, Engine, Options, Question};
use raddle_explore::ENGINES;
use raddle_machine::compile::AllShared;
use raddle_trace::{Model, Property, Verdict};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

struct Expectation {
    front_end: raddle_c::Options,
    engine: &'static dyn Engine,
    options: Options,
    loop_bound: Option<u32>,
    violated: Option<Property>,
    classes: Option<u64>,
}

/// What a line asks for.
fn expectation(line: &str) -> Expectation {
    let (given, expected) = line.split_once("expect:").expect("options, then what is expected");
    let mut front_end = raddle_c::Options::default();
    let mut options = Options::new(Model::Sc);
    options.limits.time = Some(Duration::from_secs(20));
    let mut engine = ENGINES.find("auto").expect("there");
    let mut loop_bound = None;
    let mut words = given.split_whitespace();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        match word {
            "--model" => options.model = value().parse().expect("a model"),
            "--engine" => engine = ENGINES.find(value()).expect("an engine"),
            "-D" => front_end.defines.push(value().to_owned()),
            "--loop-bound" => loop_bound = Some(value().parse().expect("a number")),
            "--commuting-updates" => options.commuting_updates = true,
            "--spurious" => front_end.spurious_wakeups = true,
            "--32" => front_end.ilp32 = true,
            "--no" => {
                for name in value().split(',') {
                    let property = Property::ALL.into_iter().find(|p| p.name() == name).expect("a property");
                    options.properties = options.properties.without(property);
                }
            }
            other => panic!("unknown option {other}"),
        }
    }
    let mut words = expected.split_whitespace();
    let verdict = words.next().expect("a verdict");
    let violated = verdict.strip_prefix("violated(").map(|rest| {
        let name = rest.trim_end_matches(')');
        Property::ALL.into_iter().find(|p| p.name() == name).expect("a property")
    });
    assert!(violated.is_some() || verdict == "holds", "{line}");
    let classes = words.find(|w| *w == "classes:").and_then(|_| words.next()).map(|n| n.parse().expect("a number"));
    Expectation { front_end, engine, options, loop_bound, violated, classes }
}

/// What is different from what was expected, or how long it took.
fn check(path: &Path, line: &str, expectation: &Expectation) -> Result<Duration, String> {
    let started = Instant::now();
    let mut program = support::compile_file(path, &expectation.front_end)?;
    raddle_program::validate(&program).map_err(|errors| format!("{line}: not valid: {errors:?}"))?;
    raddle_program::analysis::spin_loops(&mut program);
    raddle_program::analysis::drop_unused_results(&mut program);
    let options = raddle_machine::compile::Options { loop_bound: expectation.loop_bound };
    let code = raddle_machine::compile(&program, &AllShared, &options);
    let question = Question { code: &code, options: &expectation.options };
    let outcome = expectation.engine.ask(&question, &Control::new()).map_err(|error| format!("{line}: {error}"))?;
    let found = outcome.findings.first().map(|finding| finding.violation().property);
    let holds = outcome.verdict == Verdict::Holds;
    let executions = outcome.statistics.executions;
    let right = match expectation.violated {
        Some(property) => found == Some(property),
        None => holds && expectation.classes.is_none_or(|classes| classes == executions),
    };
    if right {
        return Ok(started.elapsed());
    }
    let what = outcome.findings.first().map_or(String::new(), |finding| format!(": {}", finding.violation().message));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Err(format!("{name}: `{line}`, but {:?} with {executions} classes{what}", outcome.verdict))
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let entries = std::fs::read_dir(folder).expect("the examples");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

#[test]
fn every_example_does_what_it_says() {
    let only = std::env::var("RADDLE_C_EXAMPLE").ok();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for file in files() {
        if only.as_ref().is_some_and(|name| file.file_stem().is_none_or(|stem| stem != name.as_str())) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("an example");
        let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("// raddle: ")).collect();
        assert!(!lines.is_empty(), "{} expects nothing", file.display());
        for line in lines {
            let expectation = expectation(line);
            checked += 1;
            match check(&file, line, &expectation) {
                Ok(time) if only.is_some() || time > Duration::from_secs(5) => {
                    println!("{}: {line}: {time:?}", file.display());
                }
                Ok(_) => {}
                Err(error) => wrong.push(error),
            }
        }
    }
    println!("{checked} expectations checked");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_at_least_forty_examples() {
    assert!(files().len() >= 40, "only {}", files().len());
}
