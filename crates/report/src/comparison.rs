//! Several engines on one program: the table of what each of them did, and whether they agree.

use crate::json::{SCHEMA, line};
use crate::numbers::{grouped, time};
use crate::style::{BAD, GOOD, HEAD, OPEN, Style, paint};
use crate::text::clean;
use raddle_trace::{Model, Scope, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// What several engines did.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The program, as the user named it.
    pub file: String,
    /// The values given to its parameters.
    pub parameters: BTreeMap<String, String>,
    /// Under which memory model.
    pub model: Model,
    /// The engines, in the order they ran.
    pub engines: Vec<Entry>,
}

/// An engine and what it did.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub engine: String,
    /// What came out, or why it does not take the program.
    pub result: Result<Run, String>,
}

/// What an engine did.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Its verdict.
    pub verdict: Verdict,
    /// How far the verdict reaches.
    pub scope: Scope,
    /// Complete executions.
    pub executions: u64,
    /// Blocked ones.
    pub blocked: u64,
    /// Executions of a class that was explored before.
    pub redundant: Option<u64>,
    /// Events added.
    pub events: u64,
    /// Time that went by.
    pub seconds: f64,
    /// Processor time of all workers.
    pub cpu_seconds: f64,
    /// What is violated, and where.
    pub violation: Option<String>,
}

impl Comparison {
    /// What the engines say together: that of those which decided. `None` if one of them contradicts another.
    ///
    /// An engine that reached a limit contradicts nobody.
    pub fn verdict(&self) -> Option<Verdict> {
        let said = |verdict| self.runs().any(|run| run.verdict == verdict);
        match (said(Verdict::Holds), said(Verdict::Violated)) {
            (true, true) => None,
            (true, false) => Some(Verdict::Holds),
            (false, true) => Some(Verdict::Violated),
            (false, false) => Some(Verdict::Unknown),
        }
    }

    /// Whether some engine takes the program.
    pub fn any_ran(&self) -> bool {
        self.runs().next().is_some()
    }

    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.engines.iter().filter_map(|entry| entry.result.as_ref().ok())
    }

    /// For a person.
    pub fn human(&self) -> String {
        let mut given = clean(&self.file);
        for (name, value) in &self.parameters {
            given += &clean(&format!(" {name}={value}"));
        }
        let (style, word) = self.verdict().map_or((BAD, "contradiction"), spelled);
        let decided = self.runs().filter(|run| run.verdict != Verdict::Unknown).count();
        let what = match (self.verdict(), decided) {
            (None, _) => "the engines contradict each other; this is a bug in Raddle",
            (_, 0) if !self.any_ran() => "no engine takes this program",
            (_, 0) => "no engine came to a verdict",
            (_, 1) => "one engine came to a verdict",
            _ => "the engines agree",
        };
        format!("{}: {given} under {}: {what}\n\n{}", paint(style, word), self.model, self.table())
    }

    fn table(&self) -> String {
        const HEADINGS: [&str; 7] = ["engine", "verdict", "classes", "blocked", "redundant", "events", "time"];
        let mut widths = HEADINGS.map(str::len);
        let rows: Vec<(&Entry, Option<[String; 7]>)> = self
            .engines
            .iter()
            .map(|entry| (entry, entry.result.as_ref().ok().map(|run| cells(&entry.engine, run))))
            .collect();
        for (entry, cells) in &rows {
            widths[0] = widths[0].max(entry.engine.chars().count());
            for (width, cell) in widths.iter_mut().zip(cells.iter().flatten()) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut out = paint(HEAD, aligned(&HEADINGS.map(str::to_owned), &widths)) + "\n";
        for (entry, cells) in rows {
            match (cells, &entry.result) {
                (Some(cells), Ok(run)) => {
                    out += &aligned(&cells, &widths);
                    if let Some(violation) = &run.violation {
                        out += &format!("  {}", clean(violation));
                    } else if let Scope::Partial { reason } = &run.scope {
                        out += &format!("  {}", clean(reason));
                    }
                }
                (_, Ok(_)) => {}
                (_, Err(reason)) => out += &format!("{:<width$}  {}", entry.engine, clean(reason), width = widths[0]),
            }
            out.push('\n');
        }
        out
    }

    /// As one JSON object on one line.
    pub fn json(&self, version: &str) -> String {
        #[derive(Serialize)]
        struct EngineObject<'a> {
            engine: &'a str,
            run: Option<&'a Run>,
            refused: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Object<'a> {
            schema: u32,
            version: &'a str,
            file: &'a str,
            parameters: &'a BTreeMap<String, String>,
            model: Model,
            agree: bool,
            verdict: Option<Verdict>,
            engines: Vec<EngineObject<'a>>,
        }
        let engines = self.engines.iter().map(|entry| EngineObject {
            engine: &entry.engine,
            run: entry.result.as_ref().ok(),
            refused: entry.result.as_ref().err().map(String::as_str),
        });
        line(&Object {
            schema: SCHEMA,
            version,
            file: &self.file,
            parameters: &self.parameters,
            model: self.model,
            agree: self.verdict().is_some(),
            verdict: self.verdict(),
            engines: engines.collect(),
        })
    }
}

fn spelled(verdict: Verdict) -> (Style, &'static str) {
    match verdict {
        Verdict::Holds => (GOOD, "holds"),
        Verdict::Violated => (BAD, "violated"),
        Verdict::Unknown => (OPEN, "unknown"),
    }
}

fn cells(engine: &str, run: &Run) -> [String; 7] {
    let [executions, blocked, events] = [run.executions, run.blocked, run.events].map(grouped);
    let redundant = run.redundant.map_or_else(|| "-".to_owned(), grouped);
    let verdict = spelled(run.verdict).1.to_owned();
    [engine.to_owned(), verdict, executions, blocked, redundant, events, time(run.seconds)]
}

/// The first two to the left, the numbers to the right.
fn aligned(cells: &[String; 7], widths: &[usize; 7]) -> String {
    let padded =
        cells.iter().zip(widths).enumerate().map(|(column, (cell, &width))| {
            if column < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
    padded.collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(results: &[Result<Verdict, &str>]) -> Comparison {
        let run = |verdict| Run {
            verdict,
            scope: Scope::AllExecutions,
            executions: 12_345,
            blocked: 1,
            redundant: Some(0),
            events: 99,
            seconds: 0.5,
            cpu_seconds: 0.5,
            violation: (verdict == Verdict::Violated).then(|| "assert at p.rdl:3".to_owned()),
        };
        let engines = results
            .iter()
            .enumerate()
            .map(|(at, result)| Entry { engine: format!("e{at}"), result: result.map(run).map_err(str::to_owned) });
        let parameters = [("N".to_owned(), "3".to_owned())].into();
        Comparison { file: "p.rdl".to_owned(), parameters, model: Model::Tso, engines: engines.collect() }
    }

    fn plain(comparison: &Comparison) -> String {
        anstream::adapter::strip_str(&comparison.human()).to_string()
    }

    #[test]
    fn the_verdict_is_that_of_the_engines_which_decided() {
        use Verdict::{Holds, Unknown, Violated};
        let verdict = |results: &[Result<Verdict, &str>]| comparison(results).verdict();
        assert_eq!(verdict(&[Ok(Holds), Ok(Holds)]), Some(Holds));
        assert_eq!(verdict(&[Ok(Unknown), Ok(Violated)]), Some(Violated));
        assert_eq!(verdict(&[Ok(Unknown), Err("no")]), Some(Unknown));
        assert_eq!(verdict(&[Ok(Holds), Ok(Violated)]), None);
        assert_eq!(verdict(&[Ok(Violated), Ok(Unknown), Ok(Holds)]), None);
        assert_eq!(verdict(&[Err("no")]), Some(Unknown));
    }

    #[test]
    fn a_contradiction_is_called_a_bug() {
        let text = plain(&comparison(&[Ok(Verdict::Holds), Ok(Verdict::Violated)]));
        assert!(text.starts_with("contradiction: p.rdl N=3 under tso: the engines contradict"), "{text}");
        assert!(text.contains("bug in Raddle"), "{text}");
    }

    #[test]
    fn columns_line_up_and_refusals_say_why() {
        let text = plain(&comparison(&[Ok(Verdict::Violated), Err("does not take locks")]));
        let expected = "\
violated: p.rdl N=3 under tso: one engine came to a verdict

engine  verdict   classes  blocked  redundant  events    time
e0      violated   12,345        1          0      99  0.50 s  assert at p.rdl:3
e1      does not take locks
";
        assert_eq!(text, expected);
    }
}
