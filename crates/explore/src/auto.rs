//! The engine `auto`: chooses by evidence.
//!
//! Programs with atomic blocks go to `optimal`. All others start with `rf`, whose classes are never more than traces and
//! cost little more each. Under SC the classes of `rvf` can be fewer still, exponentially so where different writes write
//! the same value; but each of them costs more, and where values do not repeat there is no gain.
//! So the first executions of `rf` are a sample: at every read, how many sources are there for how many values? The product of
//! these ratios along an execution estimates how many reads-from classes make one class of values. If it promises more
//! than the difference in cost, and much of the search is still to come, `rvf` gets its try; if that takes longer than `rf`
//! would have (as far as one could tell), or it meets something it does not take, `rf` does it after all. A search that
//! ends within the sample, or goes on with `rf`, has lost nothing.
//!
//! Models that are defined by axioms go to `optimal`, except that a program which is the same under RC11 and under sequential consistency is
//! verified there.

use crate::graphs::{self, Optimal, Purpose, ReadsFrom, Sampled};
use crate::rvf::ReadsValueFrom;
use raddle_engine::{Deadline, Engine, Equivalence, Fault, Finding, Options, Outcome, Question, Refusal, StopReason};
use raddle_trace::{Model, Property, Verdict};
use std::time::Duration;

/// How many reads-from classes per class of values make `rvf` worth a try: more than its executions cost more.
const WORTH: f64 = 3.0;

/// The least time that a try gets.
const TRY: Duration = Duration::from_secs(2);

/// What a sample of executions says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// Reads-from classes per class of values, estimated.
    pub(crate) repeats: f64,
    /// Executions that were looked at.
    pub(crate) executions: u64,
    /// The share of the search that they were.
    pub(crate) share: f64,
    /// How long they took.
    pub(crate) time: Duration,
}

impl Evidence {
    /// Whether another engine should have a try.
    pub(crate) fn speaks_for_values(&self) -> bool {
        self.repeats > WORTH && self.share < 0.5
    }

    /// How long the whole search by reads-from would take, estimated.
    fn prospect(&self) -> Duration {
        let seconds = self.time.as_secs_f64() / self.share.max(1e-9);
        Duration::from_secs_f64(seconds.min(1e9))
    }
}

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
        if Model::AXIOMATIC.contains(&question.options.model) || ReadsFrom.takes(question).is_err() {
            return Optimal.run(question, deadline);
        }
        if ReadsValueFrom.takes(question).is_err() {
            return ReadsFrom.run(question, deadline);
        }
        match graphs::sample_reads_from(question, deadline)? {
            Sampled::Done(outcome) => Ok(*outcome),
            Sampled::Switch(evidence, learnt) => by_values(question, deadline, &evidence, learnt),
        }
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

/// Lets `rvf` try; if it comes to no end, or meets on the way what it does not take, `rf` does it after all.
fn by_values(
    question: &Question<'_>,
    deadline: &Deadline<'_>,
    evidence: &Evidence,
    learnt: Purpose,
) -> Result<Outcome, Fault> {
    let why = format!(
        "in {} sampled executions about {:.0} reads-from classes had the same values",
        evidence.executions, evidence.repeats
    );
    let control = deadline.control();
    control.restart();
    let patience = deadline.with_patience(evidence.prospect().max(TRY));
    let shortcoming = match ReadsValueFrom.run(question, &patience) {
        Ok(Outcome { findings, stop: Some(StopReason::Patience(limit)), .. }) if findings.is_empty() => {
            format!("rvf did not come to an end in {limit:.1?}")
        }
        Ok(mut outcome) => {
            outcome.notes.push(format!("auto took rvf: {why}"));
            return Ok(outcome);
        }
        Err(Fault::Refused(Refusal { message, .. })) => message,
        Err(fault) => return Err(fault),
    };
    control.restart();
    let mut outcome = graphs::explore(question, deadline, learnt)?;
    outcome.notes.push(format!("auto took rf: {why}, but {shortcoming}"));
    Ok(outcome)
}
