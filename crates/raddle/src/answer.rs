//! From the outcome of an exploration to an answer that can be reported.

use crate::Schedule;
use crate::load::{self, LoadOptions, Loaded};
use crate::verify::Settings;
use raddle_engine::{Finding, Outcome, Statistics, StopReason};
use raddle_program::analysis::stop_silent_loops;
use raddle_report::names::shortened;
use raddle_report::numbers::{counted, memory, time};
use raddle_report::{Answer, Body, Check, Cost, Counterexample};
use raddle_trace::{Model, Property, Scope, Verdict};
use std::collections::BTreeMap;

/// A question, as it was put.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The program's file, as the user named it.
    pub file: &'a str,
    /// How it was read.
    pub load: &'a LoadOptions,
    /// The program.
    pub loaded: &'a Loaded,
    /// How it was verified.
    pub settings: &'a Settings,
}

impl Question<'_> {
    /// The answer.
    pub fn answer(&self, outcome: Outcome, cost: Cost) -> Answer {
        let options = &self.settings.options;
        let advice = self.advice(&outcome);
        let statistics = statistics(&outcome);
        let found = outcome.findings.into_iter().map(Finding::into_parts).map(|(violation, execution, waiting)| {
            let replay = self.replay_command(&violation.schedule);
            Counterexample::new(violation, execution, waiting, replay)
        });
        let check = Check {
            parameters: self.load.parameters(),
            verdict: outcome.verdict,
            scope: with_short_names(outcome.scope),
            model: options.model,
            engine: outcome.engine.to_owned(),
            counterexamples: found.collect(),
            all: options.all,
            executions: outcome.statistics.executions,
            blocked: outcome.statistics.blocked,
            share_done: outcome.share_done,
            statistics,
            advice,
            notes: self.loaded.notes.iter().cloned().chain(outcome.notes).collect(),
        };
        let sources = load::sources(&self.loaded.program.sources);
        Answer { file: self.file.to_owned(), sources, cost, body: Body::Check(check) }
    }

    /// What would bring the answer further: which limit was hit, and which option raises it.
    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        let (statistics, limits) = (&outcome.statistics, &self.settings.options.limits);
        let mut advice = Vec::new();
        if statistics.bounded > 0 {
            let cut = counted(statistics.bounded, "execution");
            advice.push(format!("{cut} ended at the loop bound; a greater --loop-bound lets loops turn more often"));
        }
        if statistics.cut > 0 {
            advice.push(format!(
                "{} had not ended after {}; if a loop there never ends, --loop-bound N lets every loop turn N times, \
                 and if it does, --max-depth N raises the limit",
                counted(statistics.cut, "execution"),
                counted(limits.depth() as u64, "event"),
            ));
        }
        if matches!(outcome.scope, Scope::Nothing { blocked: 1.., .. }) {
            let places = stop_silent_loops(&mut self.loaded.program.clone());
            let sources = &self.loaded.program.sources;
            let places: Vec<String> =
                places.iter().map(|span| format!("{}:{}", sources.name(*span), span.line)).collect();
            if !places.is_empty() {
                advice.push(format!(
                    "a loop that turns for ever and looks at nothing stops its thread, at {}",
                    places.join(", ")
                ));
            }
        }
        let habits = self.loaded.habits;
        if habits.x86 && self.settings.options.model == Model::Rc11 && !outcome.findings.is_empty() {
            advice.push(
                "this is about the model of C11, and there is assembly of x86; --model tso asks what such a processor does"
                    .to_owned(),
            );
        }
        if habits.plain_volatile && outcome.findings.iter().any(|found| found.violation().property == Property::Race) {
            advice.push(
                "accesses to `volatile` objects are ordinary ones, as C11 has it; --volatile relaxed takes them for relaxed atomic ones"
                    .to_owned(),
            );
        }
        if outcome.verdict == Verdict::Unknown {
            advice.extend(match outcome.stop {
                Some(StopReason::Interrupted) => {
                    Some("the search was interrupted; --time-limit ends it after a given time".into())
                }
                Some(StopReason::Executions(_)) => Some("--max-executions raises the limit on executions".into()),
                Some(StopReason::Time(limit)) => {
                    Some(format!("--time-limit raises the limit of {}", time(limit.as_secs_f64())))
                }
                Some(StopReason::Inputs { .. }) => Some(
                    "--nondet LOW..HIGH says which values of unknown inputs to explore; so does an assumption or a branch in \
                     the program before the input is used"
                        .into(),
                ),
                Some(StopReason::States(_)) => Some("--max-states raises the limit on states".into()),
                Some(StopReason::Memory(limit)) => Some(format!("--max-memory raises the limit of {}", memory(limit))),
                _ => None,
            });
        }
        advice
    }

    /// The command that replays a schedule of this program.
    pub fn replay_command(&self, schedule: &Schedule) -> String {
        self.replay_command_with(&format!("'{schedule}'"))
    }

    /// The same without a look at races.
    pub(crate) fn without_races(&self, schedule: &Schedule) -> String {
        let mut settings = self.settings.clone();
        settings.options.properties = settings.options.properties.without(Property::Race);
        Question { settings: &settings, ..*self }.replay_command(schedule)
    }

    /// The same with the schedule in a file.
    pub fn replay_command_with(&self, schedule: &str) -> String {
        let options = &self.settings.options;
        let mut command = format!("raddle replay {} {schedule}", quoted(self.file));
        for word in self.load.flags() {
            command += &format!(" {}", quoted(&word));
        }
        if options.model != self.loaded.model {
            command += &format!(" --model {}", options.model);
        }
        let ways_on = [Property::Race, Property::Memory, Property::Lock];
        // Where the program ends there for who does not look.
        let ends = [Property::Assert, Property::Error].into_iter().filter(|_| self.loaded.program.entry_exits);
        let left_out: Vec<&str> = ways_on
            .into_iter()
            .chain(ends)
            .filter(|&it| !options.properties.contains(it))
            .map(Property::name)
            .collect();
        if !left_out.is_empty() {
            command += &format!(" --no {}", left_out.join(","));
        }
        command
    }
}

/// A reason may name objects.
pub(crate) fn with_short_names(scope: Scope) -> Scope {
    match scope {
        Scope::Partial { reason } => Scope::Partial { reason: shortened(reason) },
        scope => scope,
    }
}

/// Everything that was counted, by name; what could have been and was not has no number.
fn statistics(outcome: &Outcome) -> BTreeMap<String, Option<u64>> {
    let Statistics { executions, blocked, failed, bounded, cut, redundant, events, longest } = outcome.statistics;
    let common = [
        ("executions", executions),
        ("blocked", blocked),
        ("failed", failed),
        ("bounded", bounded),
        ("cut", cut),
        ("events", events),
        ("longest", longest),
    ];
    let counted = common.into_iter().chain(outcome.counters.iter().copied()).map(|(name, number)| (name, Some(number)));
    counted.chain([("redundant", redundant)]).map(|(name, number)| (name.to_owned(), number)).collect()
}

/// The word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("examples/a-b.rdl"), "examples/a-b.rdl");
        assert_eq!(quoted("it's a file.rdl"), r"'it'\''s a file.rdl'");
        assert_eq!(quoted(""), "''");
    }
}
