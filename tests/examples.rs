//! Every example, and every program of the benchmark, does what it says it does: one test per file.
//!
//! An example carries its expectations in its own text, one per line:
//!
//! ```text
//! // raddle: --model tso -D N=3 expect: violated(assert)
//! // raddle: --model sc expect: holds classes: 6 blocked: 0
//! ```
//!
//! Before `expect:` stand options of `raddle check`, after it the verdict (and the property that is violated; `termination`, `waiting` or `formula` of a run that never ends) and, if they
//! matter, the number of complete executions (`classes`) and of `blocked` ones. The schedule of every violation is replayed.

mod common;

use common::{raddle, root};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// More executions than any expectation has. An engine that makes more is wrong, and should say so instead of going on for ever.
const MOST_EXECUTIONS: &str = "500000";

#[derive(Debug)]
struct Expectation {
    line: usize,
    options: Vec<String>,
    verdict: String,
    property: Option<String>,
    classes: Option<u64>,
    blocked: Option<u64>,
}

fn parse(line: usize, text: &str) -> Result<Expectation, String> {
    let (options, expected) = text.split_once("expect:").ok_or("no `expect:`")?;
    let mut words = expected.split_whitespace();
    let verdict = words.next().ok_or("no verdict")?;
    let (verdict, property) = match verdict.split_once('(') {
        Some((verdict, property)) => (verdict, Some(property.trim_end_matches(')').to_owned())),
        None => (verdict, None),
    };
    if !["holds", "violated", "unknown"].contains(&verdict) {
        return Err(format!("`{verdict}` is no verdict"));
    }
    let options = shlex::split(options).ok_or("the options are no whole words")?;
    let mut expectation =
        Expectation { line, options, verdict: verdict.to_owned(), property, classes: None, blocked: None };
    while let Some(key) = words.next() {
        let number =
            words.next().and_then(|word| word.parse().ok()).ok_or_else(|| format!("no number after `{key}`"))?;
        match key {
            "classes:" => expectation.classes = Some(number),
            "blocked:" => expectation.blocked = Some(number),
            _ => return Err(format!("`{key}` is not something to expect")),
        }
    }
    Ok(expectation)
}

/// The expectations in a file.
fn expectations(path: &Path) -> Result<Vec<Expectation>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let said = |line: &'_ str| -> Option<String> {
        let line = line.trim();
        line.strip_prefix("// raddle:").or(line.strip_prefix("# raddle:")).map(str::to_owned)
    };
    let lines = text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, said(line)?)));
    lines.map(|(line, text)| parse(line, &text).map_err(|error| format!("line {line}: {error}"))).collect()
}

/// The programs below a folder.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, found);
        } else if path
            .extension()
            .is_some_and(|end| ["rdl", "c", "i", "litmus", "trencher"].iter().any(|known| end == *known))
        {
            found.push(path);
        }
    }
}

/// What is wrong with one run, if anything.
fn disagreement(file: &str, expected: &Expectation, workers: &str) -> Option<String> {
    let mut args: Vec<&str> = vec!["check", file, "--json", "--workers", workers, "--max-executions", MOST_EXECUTIONS];
    args.extend(expected.options.iter().map(String::as_str));
    let ran = raddle(&args);
    let place = format!("{file}:{} (--workers {workers})", expected.line);
    let wrong = |what: String| Some(format!("{place}: {what}"));
    let Ok(answer) = serde_json::from_str::<serde_json::Value>(&ran.stdout) else {
        return wrong(format!("no JSON: {ran:?}"));
    };
    if answer["verdict"] != expected.verdict {
        return wrong(format!("expected {}, got {}", expected.verdict, ran.stdout));
    }
    let status = ["holds", "violated", "?", "unknown"].iter().position(|&verdict| verdict == expected.verdict);
    if Some(ran.status as usize) != status {
        return wrong(format!("exit status {}", ran.status));
    }
    if let Some(property) = &expected.property
        && answer["violation"]["property"] != **property
    {
        return wrong(format!("expected a violation of {property}, got {}", answer["violation"]));
    }
    for (key, count) in [("executions", expected.classes), ("blocked", expected.blocked)] {
        if count.is_some_and(|count| answer[key] != count) {
            return wrong(format!("expected {count:?} {key}, got {}", answer[key]));
        }
    }
    // Not every engine counts them.
    if answer["statistics"]["redundant"].as_u64().is_some_and(|redundant| redundant > 0) {
        return wrong(format!("{} redundant executions", answer["statistics"]["redundant"]));
    }
    replay_disagreement(&answer).and_then(wrong)
}

/// Whether the printed command shows the same violation again.
fn replay_disagreement(answer: &serde_json::Value) -> Option<String> {
    let command = shlex::split(answer["violation"]["replay"].as_str()?).expect("a command of whole words");
    let args: Vec<&str> = command.iter().skip(1).map(String::as_str).chain(["--json"]).collect();
    let again = raddle(&args);
    let message = again.json()["violation"]["message"].clone();
    // A run that never ends breaks nothing as far as it is shown; that its loop comes back is for the machine to say.
    let goes_on = answer["violation"]["stem"].is_u64();
    let same = again.status == i32::from(!goes_on) && (goes_on || message == answer["violation"]["message"]);
    (!same).then(|| format!("replayed, the schedule shows something else: {message}"))
}

/// Whether the file does all that it says.
fn keeps_its_promises(file: &str) -> Result<(), Failed> {
    let expected = expectations(&root().join(file))?;
    // Of some programs of the benchmark nothing is known but what brute force says.
    if expected.is_empty() && file.starts_with("examples") {
        return Err("it says nothing about what is expected".into());
    }
    let mut wrong = Vec::new();
    for expected in &expected {
        wrong.extend(disagreement(file, expected, "1"));
        // Counts do not depend on the number of workers.
        if expected.verdict == "holds" {
            wrong.extend(disagreement(file, expected, "2"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// What an expectation cannot say is told, and not left out.
fn expectations_are_read_strictly() -> Result<(), Failed> {
    let right = parse(1, " --model tso -D N=3 expect: violated(assert) classes: 6 blocked: 0")?;
    let read = (right.verdict.as_str(), right.property.as_deref(), right.classes, right.blocked, right.options.len());
    if read != ("violated", Some("assert"), Some(6), Some(0), 4) {
        return Err(format!("{right:?}").into());
    }
    for wrong in ["--model sc", "expect:", "expect: hold", "expect: holds classes: many", "expect: holds nodes: 3"] {
        if let Ok(expectation) = parse(1, wrong) {
            return Err(format!("`{wrong}` is read as {expectation:?}").into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let root = root();
    let mut trials = vec![Trial::test("expectations are read strictly", expectations_are_read_strictly)];
    for (folder, least) in [("examples", 100), ("bench/programs", 50)] {
        let mut found = Vec::new();
        programs(&root.join(folder), &mut found);
        assert!(found.len() >= least, "only {} programs in {folder}", found.len());
        found.sort();
        for path in found {
            let file = path.strip_prefix(&root).expect("under the root").display().to_string();
            trials.push(Trial::test(file.clone(), move || keeps_its_promises(&file)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
