//! The engine `auto`: chooses by evidence.
//!
//! Programs with atomic blocks go to `optimal`. All others start with `rf`, whose classes are never more than traces. Where they are not fewer either, `optimal` needs less for each,
//! and [takes over](crate::turns). Under SC the classes of `rvf` can be fewer still, exponentially so where different writes write
//! the same value; but each of them costs more, and where values do not repeat there is no gain. So there `rvf` [takes turns](crate::turns)
//! with `rf` as soon as it takes longer, and whoever comes to the end first has answered.
//!
//! Models that are defined by axioms go to `optimal`, except that a program which is the same under RC11 and under sequential consistency is
//! verified there.

use crate::graphs::{Optimal, ReadsFrom};
use crate::rvf::ReadsValueFrom;
use crate::turns;
use raddle_engine::{Deadline, Engine, Equivalence, Fault, Finding, Options, Outcome, Question, Refusal};
use raddle_trace::{Model, Property, Verdict};

/// The engine `auto`.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn summary(&self) -> &'static str {
        "the one that suits the program: optimal, rf or rvf"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::Delegated
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        Optimal.takes(question)
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        if let Some(outcome) = without_races(question, deadline)? {
            return Ok(outcome);
        }
        // Where a model is given by axioms, the order of writes that explains a class may have to be searched for at every read.
        // In programs with mailboxes `rf` does no less work than `optimal`.
        let mailboxes = question.code.has_mailboxes();
        if mailboxes || Model::AXIOMATIC.contains(&question.options.model) || ReadsFrom.takes(question).is_err() {
            return Optimal.run(question, deadline);
        }
        turns::take(question, deadline, ReadsValueFrom.takes(question).is_ok())
    }
}

/// A program without data races in which all else that could race is seq_cst has no executions under RC11 but those of sequential consistency (Lahav,
/// Vafeiadis, Kang, Hur, Dreyer 2017). What is wrong with one of these is wrong under RC11, too, a race included, and is shown there.
fn without_races(question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Option<Outcome>, Fault> {
    let Question { code, options } = question;
    let sees_races = question.looks_for_races() || !code.may_race();
    let asks_for_runs = options.keep_schedules;
    if options.model != Model::Rc11 || asks_for_runs || !sees_races || !code.is_seq_cst() || code.has_atomic_blocks() {
        return Ok(None);
    }
    let sequential = Options { model: Model::Sc, ..(*options).clone() };
    let again = || {
        deadline.control().restart();
        Ok(None)
    };
    let mut outcome = match Auto.run(&Question { options: &sequential, ..*question }, deadline) {
        Ok(outcome) => outcome,
        Err(Fault::Refused(_)) => return again(),
        Err(fault) => return Err(fault),
    };
    let races = outcome.findings.iter().any(|found| found.violation().property == Property::Race);
    match outcome.verdict {
        // With a race there may be more to list than sequential consistency has.
        Verdict::Violated if races && options.all => return again(),
        Verdict::Violated => outcome.findings = shown_under_the_model(question, outcome.findings)?,
        Verdict::Holds | Verdict::Unknown => {}
    }
    outcome.notes.push(match outcome.verdict {
        Verdict::Holds => "all atomic accesses are seq_cst and nothing races, so every execution is one of sc".into(),
        _ => "all atomic accesses are seq_cst, so executions of sc were looked at first".into(),
    });
    Ok(Some(outcome))
}

/// An execution of sequential consistency is one of every model. The schedule is the same: what it does not say is that the last write is read.
fn shown_under_the_model(question: &Question<'_>, findings: Vec<Finding>) -> Result<Vec<Finding>, Fault> {
    findings.iter().map(|found| found.confirmed_for(question)).collect()
}
