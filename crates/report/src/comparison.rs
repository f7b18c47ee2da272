//! What `compare` has to say: what several engines did with one program, and whether they agree.

use crate::answer::{Answer, Conclusion, Say};
use crate::check::with_parameters;
use crate::grid::Grid;
use crate::json::Head;
use crate::numbers::{counted, grouped, time};
use crate::paper::Paper;
use raddle_trace::{Model, Scope, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// What several engines did.
#[derive(Clone, Debug)]
pub struct Comparison {
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
}

impl Say for Comparison {
    fn command(&self) -> &'static str {
        "compare"
    }

    fn conclusion(&self) -> Conclusion {
        match self.verdict() {
            None => Conclusion::Contradiction,
            Some(_) if !self.any_ran() => Conclusion::Refused,
            Some(verdict) => verdict.into(),
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        let decided = self.runs().filter(|run| run.verdict != Verdict::Unknown).count();
        let what = match (conclusion, decided) {
            (Conclusion::Contradiction, _) => "the engines contradict each other; this is a bug in Raddle",
            (Conclusion::Refused, _) => "no engine takes this program",
            (_, 0) => "no engine came to a verdict",
            (_, 1) => "one engine came to a verdict",
            _ => "the engines agree",
        };
        let given = with_parameters(&answer.file, &self.parameters);
        paper.paint(conclusion.style(), conclusion.word());
        paper.say(format!(": {given} under {}: {what}", self.model)).end().end();
        self.grid().text(paper);
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct EngineFields<'a> {
            engine: &'a str,
            run: Option<&'a Run>,
            refused: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Fields<'a> {
            parameters: &'a BTreeMap<String, String>,
            model: Model,
            agree: bool,
            verdict: Option<Verdict>,
            engines: Vec<EngineFields<'a>>,
        }
        let engines = self.engines.iter().map(|entry| EngineFields {
            engine: &entry.engine,
            run: entry.result.as_ref().ok(),
            refused: entry.result.as_ref().err().map(String::as_str),
        });
        head.line(&Fields {
            parameters: &self.parameters,
            model: self.model,
            agree: self.verdict().is_some(),
            verdict: self.verdict(),
            engines: engines.collect(),
        })
    }
}

impl Comparison {
    fn grid(&self) -> Grid<7> {
        let headings = ["engine", "verdict", "classes", "blocked", "redundant", "events", "time"];
        let mut grid = Grid::new(headings, 2);
        for Entry { engine, result } in &self.engines {
            match result {
                Err(reason) => grid.remark(engine, reason),
                Ok(run) => {
                    let verdict = Conclusion::from(run.verdict).word().to_owned();
                    let [executions, blocked, events] = [run.executions, run.blocked, run.events].map(grouped);
                    let redundant = run.redundant.map_or_else(|| "-".to_owned(), grouped);
                    let time = time(run.seconds);
                    let (classes, remark) = match (&run.violation, &run.scope) {
                        (Some(violation), _) => (executions, violation.clone()),
                        (None, Scope::Partial { reason }) => (executions, reason.clone()),
                        // There are no classes to count.
                        (None, Scope::States { states }) => ("-".to_owned(), counted(*states, "state")),
                        (None, _) => (executions, String::new()),
                    };
                    grid.row([engine.clone(), verdict, classes, blocked, redundant, events, time], &remark);
                }
            }
        }
        grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Body, Cost, Sources};
    use crate::paper::Layout;

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
        Comparison { parameters, model: Model::Tso, engines: engines.collect() }
    }

    fn answer(comparison: Comparison) -> Answer {
        let body = Body::Compare(comparison);
        Answer { file: "p.rdl".into(), sources: Sources::default(), cost: Cost::default(), body }
    }

    fn plain(comparison: Comparison) -> String {
        anstream::adapter::strip_str(&answer(comparison).text(Layout { width: 100, full: false })).to_string()
    }

    #[test]
    fn what_nobody_counted_is_no_number() {
        let mut uncounted = comparison(&[Ok(Verdict::Holds)]);
        uncounted.engines[0].result.as_mut().expect("it ran").redundant = None;
        let row = plain(uncounted.clone()).lines().last().map(str::to_owned);
        assert_eq!(row.as_deref(), Some("e0      holds     12,345        1          -      99  0.50 s"));
        let json: serde_json::Value = serde_json::from_str(&answer(uncounted).json()).expect("JSON");
        assert!(json["engines"][0]["run"]["redundant"].is_null(), "{json}");
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
        let text = plain(comparison(&[Ok(Verdict::Holds), Ok(Verdict::Violated)]));
        assert!(text.starts_with("contradiction: p.rdl N=3 under tso: the engines contradict"), "{text}");
        assert!(text.contains("bug in Raddle"), "{text}");
    }

    #[test]
    fn columns_line_up_and_refusals_say_why() {
        let text = plain(comparison(&[Ok(Verdict::Violated), Err("does not take locks")]));
        let expected = "\
violated: p.rdl N=3 under tso: one engine came to a verdict

engine  verdict   classes  blocked  redundant  events    time
e0      violated   12,345        1          0      99  0.50 s  assert at p.rdl:3
e1      does not take locks
";
        assert_eq!(text, expected);
    }
}
