//! From the outcome of an exploration to an answer that can be reported.

use crate::load::{self, LoadOptions, Loaded};
use crate::prepare::prepare;
use crate::replay::counterexample;
use crate::verify::Settings;
use raddle_explore::{Outcome, Statistics};
use raddle_report::numbers::{counted, memory, time};
use raddle_report::{Answer, Body, Check, Cost};
use raddle_trace::{Model, Property, Schedule, Verdict};
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
    /// Whether somebody stopped the search.
    pub interrupted: bool,
}

impl Question<'_> {
    /// The answer.
    pub fn answer(&self, outcome: Outcome, cost: Cost) -> Answer {
        let options = &self.settings.options;
        let code = prepare(&self.loaded.program, self.settings.loop_bound);
        let races = options.properties.contains(Property::Race);
        let advice = self.advice(&outcome);
        let found = outcome.findings.into_iter().map(|finding| {
            let replay = self.replay_command(&finding.violation.schedule);
            counterexample(&code, finding, races, replay)
        });
        let check = Check {
            parameters: self.load.parameters(),
            verdict: outcome.verdict,
            scope: outcome.scope,
            model: options.model,
            engine: outcome.engine.name().to_owned(),
            counterexamples: found.collect(),
            all: options.all,
            executions: outcome.statistics.executions,
            blocked: outcome.statistics.blocked,
            share_done: outcome.share_done,
            statistics: statistics(&outcome.statistics),
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
            let depth = limits.depth.unwrap_or(raddle_explore::Limits::DEPTH) as u64;
            advice.push(format!(
                "{} had not ended after {}; if a loop there never ends, --loop-bound N lets every loop turn N times, \
                 and if it does, --max-depth N raises the limit",
                counted(statistics.cut, "execution"),
                counted(depth, "event"),
            ));
        }
        if outcome.verdict == Verdict::Unknown && self.interrupted {
            advice.push("the search was interrupted; --time-limit ends it after a given time".into());
        } else if outcome.verdict == Verdict::Unknown && statistics.cut == 0 {
            let hit = |number: u64| limits.executions.is_some_and(|limit| number >= limit);
            if hit(statistics.runs()) {
                advice.push("--max-executions raises the limit on executions".into());
            } else {
                advice.extend(
                    limits.time.map(|limit| format!("--time-limit raises the limit of {}", time(limit.as_secs_f64()))),
                );
                advice.extend(limits.memory.map(|limit| format!("--max-memory raises the limit of {}", memory(limit))));
            }
        }
        advice
    }

    /// The command that replays a schedule of this program.
    pub fn replay_command(&self, schedule: &Schedule) -> String {
        self.replay_command_with(&format!("'{schedule}'"))
    }

    /// The same with the schedule in a file.
    pub fn replay_command_with(&self, schedule: &str) -> String {
        let options = &self.settings.options;
        let mut command = format!("raddle replay {} {schedule}", quoted(self.file));
        for word in self.load.flags() {
            command += &format!(" {}", quoted(&word));
        }
        if options.model != Model::Sc {
            command += &format!(" --model {}", options.model);
        }
        if !options.properties.contains(Property::Race) {
            command += " --no race";
        }
        command
    }
}

fn statistics(counted: &Statistics) -> BTreeMap<String, u64> {
    let Statistics {
        executions,
        blocked,
        failed,
        bounded,
        cut,
        moot,
        redundant,
        probes,
        revisits,
        questions,
        unrealisable,
        events,
        longest,
        nodes,
        dead_ends,
    } = *counted;
    let named = [
        ("executions", executions),
        ("blocked", blocked),
        ("failed", failed),
        ("bounded", bounded),
        ("cut", cut),
        ("moot", moot),
        ("redundant", redundant),
        ("probes", probes),
        ("revisits", revisits),
        ("questions", questions),
        ("unrealisable", unrealisable),
        ("events", events),
        ("longest", longest),
    ];
    // Only some engines count these.
    let some = [("nodes", nodes), ("dead_ends", dead_ends)];
    let some = some.into_iter().filter(|_| nodes > 0);
    named.into_iter().chain(some).map(|(name, number)| (name.to_owned(), number)).collect()
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
