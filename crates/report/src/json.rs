//! JSON: one object on one line, whatever the answer, with the same head.
//!
//! The schema is described in the book (`docs/json.md`) and in `docs/json-schema.json`. Fields may be added; what is there
//! keeps its name and meaning as long as [`SCHEMA`] stays the same.

use crate::answer::Cost;
use crate::excerpt::Problem;
use crate::text::is_harmful;
use serde::Serialize;
use std::fmt::Write;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// What every object begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    /// The command that answers.
    pub(crate) command: Option<&'a str>,
    /// What it was asked about.
    pub(crate) file: Option<&'a str>,
    /// What the answer cost, if there is one.
    pub(crate) cost: Option<Cost>,
}

impl Head<'_> {
    /// The object with these fields besides, on a line of its own.
    pub(crate) fn line(self, fields: &impl Serialize) -> String {
        #[derive(Serialize)]
        struct Object<'a, F> {
            schema: u32,
            version: &'a str,
            command: Option<&'a str>,
            file: Option<&'a str>,
            #[serde(flatten)]
            fields: F,
            #[serde(flatten)]
            cost: Option<Cost>,
        }
        let Head { command, file, cost } = self;
        let object = Object { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), command, file, fields, cost };
        let text =
            serde_json::to_string(&object).expect("no map with keys that are not strings, no number out of range");
        escaped(&text) + "\n"
    }
}

/// The same JSON without characters that a terminal might act upon, should it be shown there. They stand inside of strings only.
pub(crate) fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_harmful(c) {
            write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes everything");
        } else {
            out.push(c);
        }
    }
    out
}

/// Why there is no answer: what is wrong with an input, or an internal error. The first problem is also given as `error`.
pub fn error(command: Option<&str>, file: Option<&str>, problems: &[Problem]) -> String {
    #[derive(Clone, Serialize)]
    struct Entry<'a> {
        message: &'a str,
        file: Option<&'a str>,
        line: Option<u32>,
        column: Option<u32>,
        help: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Fields<'a> {
        error: Option<Entry<'a>>,
        errors: Vec<Entry<'a>>,
    }
    fn entry(problem: &Problem) -> Entry<'_> {
        let mark = problem.marks.first();
        let known = mark.filter(|mark| mark.line > 0);
        Entry {
            message: &problem.message,
            file: mark.map(|mark| mark.file.as_str()),
            line: known.map(|mark| mark.line),
            column: known.map(|mark| mark.column),
            help: problem.help.as_deref(),
        }
    }
    let errors: Vec<Entry<'_>> = problems.iter().map(entry).collect();
    Head { command, file, cost: None }.line(&Fields { error: errors.first().cloned(), errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_gets_through_and_none_is_lost() {
        let hostile = "\u{1b}[31m\u{9b}2J\u{202e}\u{7f}\u{2028}\n\"";
        let text = error(Some("check"), Some(hostile), &[Problem::new(hostile)]);
        assert!(!text.trim_end_matches('\n').contains(is_harmful), "{text:?}");
        let object: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&object["file"], &object["error"]["message"]), (&hostile.into(), &hostile.into()));
    }
}
