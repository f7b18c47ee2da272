//! Counterexamples for code hosts and editors: a log in SARIF 2.1.0 (OASIS 2020).
//!
//! Each violation is a result with its rule (the property), its message and its place; the run that shows it is a code flow with one thread flow per thread,
//! whose locations carry the number of their step in the whole run. A run that violates nothing gives a log without results.

use crate::counterexample::Counterexample;
use crate::json::escaped;
use crate::wording::{HARD_BLANK, Wording};
use raddle_trace::execution::Entry;
use raddle_trace::{Execution, Place, Property};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'f> {
    /// Its rule.
    pub(crate) rule: &'f str,
    /// What it is to break that.
    pub(crate) means: &'f str,
    pub(crate) message: &'f str,
    pub(crate) place: Option<&'f Place>,
    /// The run that shows it.
    pub(crate) execution: &'f Execution,
}

/// The log of these violations.
pub(crate) fn log(counterexamples: &[Counterexample]) -> String {
    let names: Vec<String> = counterexamples.iter().map(|found| found.violation.property.to_string()).collect();
    let found = counterexamples.iter().zip(&names).map(|(found, name)| Found {
        rule: name,
        means: means(found.violation.property),
        message: &found.violation.message,
        place: Some(&found.violation.place),
        execution: &found.execution,
    });
    log_of(&found.collect::<Vec<_>>())
}

/// The log of these results.
pub(crate) fn log_of(found: &[Found<'_>]) -> String {
    let rules: BTreeMap<&str, &str> = found.iter().map(|found| (found.rule, found.means)).collect();
    let rule = |(name, means): (&&str, &&str)| json!({ "id": name, "shortDescription": { "text": means } });
    let rules: Vec<Value> = rules.iter().map(rule).collect();
    let results: Vec<Value> = found.iter().map(result).collect();
    let driver = json!({ "name": "Raddle", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules });
    let run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results });
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    let log = json!({ "$schema": schema, "version": "2.1.0", "runs": [run] });
    escaped(&serde_json::to_string(&log).expect("keys are strings")) + "\n"
}

/// What it is to break a property.
fn means(property: Property) -> &'static str {
    match property {
        Property::Assert => "An assertion does not hold.",
        Property::Error => "What must not be reached is reached.",
        Property::Memory => "Memory is used that is not there, or was never written.",
        Property::Lock => "A lock is misused.",
        Property::Arithmetic => "A number is divided by zero, or has no result.",
        Property::Race => "Two threads access the same memory, one of them writes, and nothing orders them.",
        Property::Deadlock => "Threads wait for what never comes.",
    }
}

fn result(found: &Found<'_>) -> Value {
    let mut result = json!({
        "ruleId": found.rule,
        "level": "error",
        "message": { "text": found.message },
        "codeFlows": [{ "threadFlows": flows(found.execution) }],
    });
    if let Some(location) = found.place.and_then(location) {
        result["locations"] = json!([location]);
    }
    result
}

/// The steps of each thread. What reaches memory later is no step of a thread and is left out.
fn flows(execution: &Execution) -> Vec<Value> {
    let wording = Wording::new(execution);
    let mut flows: BTreeMap<_, Vec<Value>> = BTreeMap::new();
    for (position, step) in execution.steps.iter().enumerate() {
        let (thread, place) = match step {
            Entry::Event { event, .. } => (event.id.thread, &event.place),
            Entry::Failure { thread: Some(thread), place, .. } => (*thread, place),
            Entry::Failure { .. } | Entry::Flush { .. } => continue,
        };
        let Some(mut location) = location(place) else { continue };
        location["message"] = json!({ "text": wording.step(step).replace(HARD_BLANK, " ") });
        let order = position + 1;
        flows.entry(thread).or_default().push(json!({ "location": location, "executionOrder": order }));
    }
    let flow = |(thread, locations)| {
        let name = execution.function(thread).map_or(thread.to_string(), |function| format!("{thread} {function}"));
        json!({ "id": thread.to_string(), "message": { "text": name }, "locations": locations })
    };
    flows.into_iter().map(flow).collect()
}

/// A place in a file, if its line is known.
fn location(place: &Place) -> Option<Value> {
    let known = place.line > 0 && !place.file.is_empty();
    known.then(|| {
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.file) },
            "region": { "startLine": place.line, "startColumn": place.column.max(1) },
        } })
    })
}

/// The name of a file as a reference (RFC 3986), relative if the name is.
fn uri(file: &str) -> String {
    let mut out = String::new();
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    if file.starts_with('/') { format!("file://{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn names_of_files_are_references() {
        assert_eq!(uri("src/a b#1.c"), "src/a%20b%231.c");
        assert_eq!(uri("/tmp/x.c"), "file:///tmp/x.c");
    }
}
