//! What `check --model all` has to say: under which memory models a program is right.

use crate::answer::{Answer, Conclusion, Say};
use crate::check::with_parameters;
use crate::comparison::Run;
use crate::grid::Grid;
use crate::json::Head;
use crate::numbers::{grouped, time};
use crate::paper::Paper;
use raddle_trace::{Model, Scope, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// A program under several memory models.
#[derive(Clone, Debug)]
pub struct Family {
    /// The values given to its parameters.
    pub parameters: BTreeMap<String, String>,
    /// The models, stronger ones first, and what came out under each, or why it does not take the program.
    pub models: Vec<(Model, Result<Run, String>)>,
}

impl Family {
    /// The models under which the verdict is this.
    fn under(&self, verdict: Verdict) -> Vec<&'static str> {
        let runs = self.models.iter().filter(|(_, result)| result.as_ref().is_ok_and(|run| run.verdict == verdict));
        runs.map(|(model, _)| model.name()).collect()
    }

    /// `holds under sc, tso; violated under pso`.
    fn summary(&self) -> String {
        let refused: Vec<&str> =
            self.models.iter().filter(|(_, result)| result.is_err()).map(|(model, _)| model.name()).collect();
        let parts = [
            ("holds under", self.under(Verdict::Holds)),
            ("violated under", self.under(Verdict::Violated)),
            ("unknown under", self.under(Verdict::Unknown)),
            ("not for", refused),
        ];
        let said = parts.iter().filter(|(_, models)| !models.is_empty());
        said.map(|(what, models)| format!("{what} {}", models.join(", "))).collect::<Vec<_>>().join("; ")
    }
}

impl Say for Family {
    fn command(&self) -> &'static str {
        "check"
    }

    fn conclusion(&self) -> Conclusion {
        let said = |verdict| !self.under(verdict).is_empty();
        if said(Verdict::Violated) {
            Conclusion::Violated
        } else if said(Verdict::Unknown) {
            Conclusion::Unknown
        } else if said(Verdict::Holds) {
            Conclusion::Holds
        } else {
            Conclusion::Refused
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word());
        paper.say(format!(": {}: {}", with_parameters(&answer.file, &self.parameters), self.summary())).end().end();
        let mut grid = Grid::new(["model", "verdict", "classes", "blocked", "time"], 2);
        for (model, result) in &self.models {
            match result {
                Err(reason) => grid.remark(model.name(), reason),
                Ok(run) => {
                    let remark = match (&run.violation, &run.scope) {
                        (Some(violation), _) => violation,
                        (None, Scope::Partial { reason }) => reason,
                        (None, _) => "",
                    };
                    let verdict = Conclusion::from(run.verdict).word().to_owned();
                    let [executions, blocked] = [run.executions, run.blocked].map(grouped);
                    grid.row([model.name().to_owned(), verdict, executions, blocked, time(run.seconds)], remark);
                }
            }
        }
        grid.text(paper);
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct ModelFields<'a> {
            model: Model,
            run: Option<&'a Run>,
            refused: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Fields<'a> {
            parameters: &'a BTreeMap<String, String>,
            models: Vec<ModelFields<'a>>,
        }
        let models = self.models.iter().map(|(model, result)| ModelFields {
            model: *model,
            run: result.as_ref().ok(),
            refused: result.as_ref().err().map(String::as_str),
        });
        head.line(&Fields { parameters: &self.parameters, models: models.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Body, Cost, Sources};
    use crate::paper::Layout;

    fn family(results: &[(Model, Result<Verdict, &str>)]) -> Family {
        let run = |verdict| Run {
            verdict,
            scope: Scope::AllExecutions,
            executions: 12,
            blocked: 0,
            redundant: None,
            events: 99,
            seconds: 0.5,
            cpu_seconds: 0.5,
            violation: (verdict == Verdict::Violated).then(|| "assert at p.rdl:3".to_owned()),
        };
        let models = results.iter().map(|(model, result)| (*model, result.map(run).map_err(str::to_owned)));
        Family { parameters: BTreeMap::new(), models: models.collect() }
    }

    #[test]
    fn a_line_for_each_model_and_one_for_all() {
        let body = family(&[
            (Model::Sc, Ok(Verdict::Holds)),
            (Model::Tso, Ok(Verdict::Holds)),
            (Model::Rc11, Ok(Verdict::Violated)),
            (Model::Wra, Err("seq_cst fences")),
        ]);
        let answer = Answer {
            file: "p.rdl".into(),
            sources: Sources::default(),
            cost: Cost::default(),
            body: Body::Family(body),
        };
        let text = anstream::adapter::strip_str(&answer.text(Layout { width: 100, full: false })).to_string();
        let expected = "\
violated: p.rdl: holds under sc, tso; violated under rc11; not for wra

model  verdict   classes  blocked    time
sc     holds          12        0  0.50 s
tso    holds          12        0  0.50 s
rc11   violated       12        0  0.50 s  assert at p.rdl:3
wra    seq_cst fences
";
        assert_eq!(text, expected);
        let json: serde_json::Value = serde_json::from_str(&answer.json()).expect("JSON");
        assert_eq!(json["models"][2]["run"]["verdict"], "violated");
    }

    #[test]
    fn one_violation_is_enough_and_nothing_is_no_verdict() {
        let end = |results: &[(Model, Result<Verdict, &str>)]| family(results).conclusion();
        let (sc, tso) = (Model::Sc, Model::Tso);
        assert_eq!(end(&[(sc, Ok(Verdict::Unknown)), (tso, Ok(Verdict::Violated))]), Conclusion::Violated);
        assert_eq!(end(&[(sc, Ok(Verdict::Holds)), (tso, Ok(Verdict::Unknown))]), Conclusion::Unknown);
        assert_eq!(end(&[(sc, Ok(Verdict::Holds)), (tso, Err("no"))]), Conclusion::Holds);
        assert_eq!(end(&[(sc, Err("no"))]), Conclusion::Refused);
    }
}
