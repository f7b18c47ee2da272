//! Every example, and every program of the benchmark, does what it says it does.
//!
//! An example carries its expectations in its own text, one per line:
//!
//! ```text
//! // raddle: --model tso -D N=3 expect: violated(assert)
//! // raddle: --model sc expect: holds classes: 6 blocked: 0
//! ```
//!
//! Before `expect:` stand options of `raddle check`, after it the verdict (and the property that is violated) and, if they
//! matter, the number of complete executions (`classes`) and of `blocked` ones. The schedule of every violation is replayed.

mod common;

use common::{raddle, root};
use std::path::{Path, PathBuf};

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
    let options = options.split_whitespace().map(str::to_owned).collect();
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

fn expectations(path: &Path) -> Vec<Expectation> {
    let text = std::fs::read_to_string(path).expect("an example is text");
    let lines =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, line.trim().strip_prefix("// raddle:")?)));
    lines.map(|(line, text)| parse(line, text).unwrap_or_else(|e| panic!("{}:{line}: {e}", path.display()))).collect()
}

fn programs(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|end| ["rdl", "c", "i"].iter().any(|known| end == *known)) {
            found.push(path);
        }
    }
    found.sort();
}

/// What is wrong with one run, if anything.
fn disagreement(file: &str, expected: &Expectation, workers: &str) -> Option<String> {
    let mut args: Vec<&str> = vec!["check", file, "--json", "--workers", workers, "--time-limit", "60s"];
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
    let command = words(answer["violation"]["replay"].as_str()?);
    let args: Vec<&str> = command.iter().skip(1).map(String::as_str).chain(["--json"]).collect();
    let again = raddle(&args);
    let message = again.json()["violation"]["message"].clone();
    let same = again.status == 1 && message == answer["violation"]["message"];
    (!same).then(|| format!("replayed, the schedule shows something else: {message}"))
}

/// The words of a command as a shell would take them; single quotes are all that is used.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words
}

#[test]
fn examples_keep_their_promises() {
    let root = root();
    let mut found = Vec::new();
    programs(&root.join("examples"), &mut found);
    programs(&root.join("bench/programs"), &mut found);
    let mut checked = 0;
    let mut wrong = Vec::new();
    for path in &found {
        let file = path.strip_prefix(&root).expect("under the root").display().to_string();
        for expected in expectations(path) {
            wrong.extend(disagreement(&file, &expected, "1"));
            // Counts do not depend on the number of workers.
            if expected.verdict == "holds" {
                wrong.extend(disagreement(&file, &expected, "2"));
            }
            checked += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} expectations fail:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 0, "no examples found");
}
