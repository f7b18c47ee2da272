//! Violation witnesses of the verification competitions: format 2.0, in YAML (Ayaziová, Beyer, Lingsch-Rosenfeld, Spiessl and Strejček 2024).
//!
//! A witness names the program by its hashes, the property, and waypoints of an execution that breaks it: what each unknown input is, in the order in which they are asked for, and where the
//! property is broken. The format has no word for who runs when, so the order of the threads is not in it: a validator has to find one; `raddle replay` has it.

use crate::answer::Sources;
use crate::counterexample::Counterexample;
use raddle_trace::execution::Entry;
use raddle_trace::{Action, Place, Property};
use std::fmt::Write;

/// What a witness says about the task beside the run.
#[derive(Clone, Debug)]
pub struct Task {
    /// The files of the program with the hash of each: SHA-256 in hexadecimal digits.
    pub files: Vec<(String, String)>,
    /// Whether `long` and pointers have 32 bits.
    pub ilp32: bool,
    /// When the witness is made, in seconds since the beginning of 1970.
    pub created: u64,
}

/// The witness of a counterexample; `None` where competitions have no such property.
pub(crate) fn yaml(task: &Task, found: &Counterexample, sources: &Sources) -> Option<String> {
    let specification = specification(found.violation.property)?;
    let quoted = |text: &str| serde_json::to_string(text).expect("a text can be quoted");
    let identity = crate::digest::sha256(format!("{task:?} {specification} {}", found.violation.schedule).as_bytes());
    let mut out = String::new();
    let mut line = |text: &str| out.write_fmt(format_args!("{text}\n")).expect("a string takes all");
    line("- entry_type: \"violation_sequence\"");
    line("  metadata:");
    line("    format_version: \"2.0\"");
    line(&format!("    uuid: \"{}\"", uuid(&identity)));
    line(&format!("    creation_time: \"{}\"", time(task.created)));
    line("    producer:");
    line("      name: \"Raddle\"");
    line(&format!("      version: \"{}\"", env!("CARGO_PKG_VERSION")));
    line("    task:");
    line("      input_files:");
    task.files.iter().for_each(|(name, _)| line(&format!("        - {}", quoted(name))));
    line("      input_file_hashes:");
    task.files.iter().for_each(|(name, hash)| line(&format!("        {}: \"{hash}\"", quoted(name))));
    line(&format!("      specification: \"CHECK( init(main()), LTL({specification}) )\""));
    line(&format!("      data_model: \"{}\"", if task.ilp32 { "ILP32" } else { "LP64" }));
    line("      language: \"C\"");
    line("  content:");
    let mut waypoint = |kind: &str, place: &Place, column: u32, constraint: Option<String>| {
        line("    - segment:");
        line("        - waypoint:");
        line(&format!("            type: \"{kind}\""));
        line("            action: \"follow\"");
        line("            location:");
        line(&format!("              file_name: {}", quoted(&place.file)));
        line(&format!("              line: {}", place.line));
        line(&format!("              column: {column}"));
        if let Some(value) = constraint {
            line("            constraint:");
            line(&format!("              value: {}", quoted(&value)));
            line("              format: \"acsl_expression\"");
        }
    };
    for step in &found.execution.steps {
        if let Entry::Event { event, .. } = step
            && let Action::Input { value } = event.action
            && let Some(column) = closing(&event.place, sources)
        {
            waypoint("function_return", &event.place, column, Some(format!("\\result == {value}")));
        }
    }
    waypoint("target", &found.violation.place, found.violation.place.column.max(1), None);
    Some(out)
}

/// What competitions call the property.
fn specification(property: Property) -> Option<&'static str> {
    match property {
        Property::Assert | Property::Error => Some("G ! call(reach_error())"),
        Property::Race => Some("G ! data-race"),
        Property::Memory => Some("G valid-deref"),
        Property::Arithmetic => Some("G ! overflow"),
        Property::Lock | Property::Deadlock => None,
    }
}

/// The column of the parenthesis that closes the call at a place: that is where a function returns.
fn closing(place: &Place, sources: &Sources) -> Option<u32> {
    let line = sources.text(&place.file)?.lines().nth(place.line.checked_sub(1)? as usize)?;
    let mut depth = 0;
    for (at, c) in line.chars().enumerate().skip(place.column.checked_sub(1)? as usize) {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return Some(at as u32 + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A hash in the form of a random UUID (RFC 9562, version 4).
fn uuid(hash: &str) -> String {
    let variant = ["8", "9", "a", "b"][usize::from(hash.as_bytes()[16] % 4)];
    format!("{}-{}-4{}-{variant}{}-{}", &hash[..8], &hash[8..12], &hash[13..16], &hash[17..20], &hash[20..32])
}

/// Seconds since 1970 as a date and time in UTC. The calendar is counted from March, so that the leap day comes last (Hinnant 2013).
fn time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(time(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(time(1_709_251_200), "2024-03-01T00:00:00Z");
    }

    #[test]
    fn a_function_returns_where_its_call_ends() {
        let sources: Sources = [("a.c", "int x = f(g(1), 2) + 1;\nh(")].into_iter().collect();
        let place = |line, column| Place { file: "a.c".into(), line, column, text: "".into() };
        assert_eq!(closing(&place(1, 9), &sources), Some(18));
        assert_eq!(closing(&place(1, 11), &sources), Some(14));
        assert_eq!(closing(&place(2, 1), &sources), None);
        assert_eq!(closing(&place(9, 1), &sources), None);
    }
}
