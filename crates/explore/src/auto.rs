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

use crate::control::Control;
use crate::graphs::{self, Sampled};
use crate::options::{Engine, Limits, Options};
use crate::outcome::{Error, Outcome};
use crate::rvf;
use crate::sequence;
use raddle_machine::Code;
use raddle_trace::{Scope, Verdict};
use std::time::{Duration, Instant};

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
    pub(crate) fn speaks_for_values(&self, workers: usize) -> bool {
        // The other engine has one worker only.
        self.repeats > WORTH * workers as f64 && self.share < 0.5
    }

    /// How long the whole search by reads-from would take, estimated.
    fn prospect(&self) -> Duration {
        let seconds = self.time.as_secs_f64() / self.share.max(1e-9);
        Duration::from_secs_f64(seconds.min(1e9))
    }
}

/// Explores with the engine that suits the program.
pub(crate) fn explore(code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    let by = |engine| Options { engine, ..options.clone() };
    if code.has_atomic_blocks() {
        return graphs::explore_traces(code, &by(Engine::Optimal), control);
    }
    if sequence::refusal(code, options).is_some() {
        return graphs::explore_reads_from(code, &by(Engine::ReadsFrom), control);
    }
    let start = Instant::now();
    let evidence = match graphs::sample_reads_from(code, &by(Engine::ReadsFrom), control)? {
        Sampled::Done(outcome) => return Ok(outcome),
        Sampled::Switch(evidence) => evidence,
    };
    let why = format!(
        "in {} sampled executions about {:.0} reads-from classes had the same values",
        evidence.executions, evidence.repeats
    );
    control.restart();
    let patience = evidence.prospect().max(TRY);
    let left = |limits: Limits| limits.time.map(|limit| limit.saturating_sub(start.elapsed()));
    let mut values = by(Engine::ReadsValueFrom);
    let remaining = left(values.limits);
    values.limits.time = Some(remaining.map_or(patience, |remaining| remaining.min(patience)));
    let shortcoming = match rvf::explore(code, &values, control) {
        Ok(mut outcome) => {
            let out_of_patience = matches!(outcome.scope, Scope::Partial { .. })
                && outcome.verdict == Verdict::Unknown
                && !control.stopped()
                && remaining.is_none_or(|remaining| remaining > patience)
                && start.elapsed() >= patience;
            if !out_of_patience {
                outcome.notes.push(format!("auto took rvf: {why}"));
                return Ok(outcome);
            }
            format!("rvf did not come to an end in {patience:.1?}")
        }
        // What it does not take may show on the way only.
        Err(Error::Unsupported { message, .. }) => message,
        Err(error) => return Err(error),
    };
    control.restart();
    let mut sources = by(Engine::ReadsFrom);
    sources.limits.time = left(sources.limits);
    let mut outcome = graphs::explore_reads_from(code, &sources, control)?;
    outcome.notes.push(format!("auto took rf: {why}, but {shortcoming}"));
    Ok(outcome)
}
