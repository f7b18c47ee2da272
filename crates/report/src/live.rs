//! What `check --live` has to say: whether every fair run does what it is to do, or a run that goes on for ever and does not, with the reason why it is fair.

use crate::answer::{Answer, Conclusion, Say};
use crate::check::with_parameters;
use crate::counterexample::{self, Counterexample};
use crate::json::Head;
use crate::numbers::{counted, grouped};
use crate::paper::Paper;
use crate::scheduler::{Scheduler, State};
use crate::style::{FAINT, HEAD};
use crate::wording::Wording;
use crate::{dot, run, sarif, walk};
use raddle_trace::execution::Entry;
use raddle_trace::{Execution, Model, Place, Schedule, ThreadName, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// The answer about fair runs of a program.
#[derive(Clone, Debug)]
pub struct Live {
    /// The values given to its parameters.
    pub parameters: BTreeMap<String, String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Under which memory model.
    pub model: Model,
    /// What every fair run is to do.
    pub goal: Goal,
    /// How much whoever can move is owed: weak or strong.
    pub fairness: &'static str,
    /// Who is owed that: each thread or each action.
    pub unit: &'static str,
    /// Whether chance decides something in the program.
    pub draws: bool,
    /// The run that does not, if there is one.
    pub lasso: Option<Lasso>,
    /// What a scheduler does so that it does not, if chance decides something on the way.
    pub scheduler: Option<Box<Scheduler>>,
    /// A run that breaks a property, if there is one: then nothing was asked about fair runs.
    pub broken: Option<Counterexample>,
    /// Why the answer does not reach as far as it could.
    pub limit: Option<String>,
    /// What it rests on.
    pub counts: Counts,
    /// What a person should know beside it.
    pub notes: Vec<String>,
}

/// What every fair run is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// It ends.
    Ends,
    /// Every thread in it that waits gets on.
    Waits,
    /// It satisfies this formula.
    Formula(String),
}

impl Goal {
    /// The property that is violated where it is not reached.
    fn property(&self) -> &'static str {
        match self {
            Goal::Ends => "termination",
            Goal::Waits => "waiting",
            Goal::Formula(_) => "formula",
        }
    }
}

/// What an answer rests on.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// States that were met.
    pub states: u64,
    /// Moves between them; nothing if that was not asked.
    pub moves: Option<u64>,
    /// Strongly connected sets of states that were looked at.
    pub components: Option<u64>,
    /// Those of them that have a fair loop.
    pub fair: Option<u64>,
    /// Pairs of a state and one of the automaton, if a formula was asked about.
    pub product: Option<u64>,
    /// States that end a run.
    pub ends: u64,
}

/// A run that goes on for ever.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// Stem and one turn of the loop.
    pub execution: Execution,
    /// The same as a schedule.
    pub schedule: Schedule<ThreadName>,
    /// How many entries of the run are the stem.
    pub stem: usize,
    /// How many steps of the schedule are.
    pub stem_steps: usize,
    /// Why the loop is fair, to each thread and each store buffer.
    pub reasons: Vec<Reason>,
    /// Who waits in it for ever, and where.
    pub waits: Option<(ThreadName, Place)>,
    /// The command that shows it again.
    pub replay: String,
}

/// Why a loop is fair to somebody.
#[derive(Clone, Debug)]
pub struct Reason {
    /// To whom.
    pub thread: ThreadName,
    /// To its store buffer.
    pub drain: bool,
    /// Why.
    pub why: Why,
    /// Where it stands, if it cannot move.
    pub place: Option<Place>,
}

/// Why a loop is fair to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It moves.
    Moves,
    /// It moves, and changes nothing.
    Looks,
    /// It can move nowhere in the loop.
    NeverAble,
    /// It cannot move in every state of it, and fairness is weak.
    AbleAtTimes,
    /// It has finished.
    Finished,
    /// Nothing is on its way.
    Empty,
    /// The loop never leaves somebody else's atomic block.
    Inside,
}

impl Lasso {
    /// What is wrong, in one line.
    fn message(&self, goal: &Goal) -> String {
        match (goal, &self.waits) {
            (Goal::Waits, Some((thread, place))) => {
                format!("{thread} waits for ever, at {}:{}", place.file, place.line)
            }
            (Goal::Ends | Goal::Waits, _) => "this run goes on for ever".to_owned(),
            (Goal::Formula(formula), _) => format!("of this run `{formula}` is false"),
        }
    }

    /// Whether there is no loop: the run ends.
    fn ends(&self) -> bool {
        self.stem == self.execution.steps.len()
    }
}

/// Why a loop is fair, a sentence for each.
pub(crate) fn sentences(execution: &Execution, reasons: &[Reason]) -> impl Iterator<Item = String> {
    let told = reasons.iter().filter_map(|reason| {
        let who = match execution.function(reason.thread) {
            Some(function) => format!("{} {function}", reason.thread),
            None => reason.thread.to_string(),
        };
        let at = reason
            .place
            .as_ref()
            .map_or_else(String::new, |place| format!("`{}` ({}:{})", place.text.trim(), place.file, place.line));
        match (reason.drain, reason.why) {
            (_, Why::Finished) | (true, Why::Empty | Why::NeverAble | Why::AbleAtTimes) => None,
            (true, Why::Inside) | (false, Why::Inside | Why::Empty) => {
                Some(format!("{who} could move at no point: the loop never leaves an atomic block"))
            }
            (true, Why::Moves | Why::Looks) => Some(format!("what {who} stores reaches memory")),
            (false, Why::Moves) => Some(format!("{who} moves")),
            (false, Why::Looks) => Some(format!("{who} moves, and does nothing but look")),
            (false, Why::NeverAble) => Some(format!("{who} cannot move, at {at}")),
            (false, Why::AbleAtTimes) => {
                Some(format!("{who} cannot move all the time, at {at}, and weak fairness asks for no more"))
            }
        }
    });
    told.collect::<Vec<_>>().into_iter()
}

impl Live {
    /// Of whom it is spoken.
    fn scheduler(&self) -> String {
        let each = if self.unit == "thread" { String::new() } else { format!(" to each {}", self.unit) };
        format!("{} fairness{each}", self.fairness)
    }

    fn headline(&self) -> String {
        if self.broken.is_some() {
            return "an execution breaks a property".into();
        }
        match (self.verdict, &self.goal) {
            (Verdict::Holds, Goal::Ends) if self.draws => "every fair scheduler ends it with probability 1".into(),
            (Verdict::Holds, Goal::Waits) if self.draws => {
                "under every fair scheduler, whoever waits gets on with probability 1".into()
            }
            (Verdict::Violated, Goal::Ends) if self.draws => "a fair scheduler keeps it from ending".into(),
            (Verdict::Violated, Goal::Waits) if self.draws => "a fair scheduler lets a thread wait for ever".into(),
            (Verdict::Unknown, _) if self.draws => {
                "no such scheduler was found, but not everything was explored".into()
            }
            (Verdict::Holds, Goal::Formula(formula)) => format!("every fair run satisfies `{formula}`"),
            (Verdict::Violated, Goal::Formula(formula)) => format!("a fair run breaks `{formula}`"),
            (Verdict::Holds, Goal::Ends) => "every fair run ends".into(),
            (Verdict::Holds, Goal::Waits) => "in every fair run, whoever waits gets on".into(),
            (Verdict::Violated, Goal::Ends) => "a fair run never ends".into(),
            (Verdict::Violated, Goal::Waits) => "in a fair run a thread waits for ever".into(),
            (Verdict::Unknown, _) => "no such run was found, but not everything was explored".into(),
        }
    }

    /// How far the verdict reaches.
    fn scope(&self) -> String {
        let Counts { states, moves, components, fair, .. } = self.counts;
        match (self.verdict, &self.limit) {
            (_, Some(limit)) => format!("part of the runs: {limit}"),
            (Verdict::Violated, None) if self.broken.is_some() => {
                "the search ended at the first violation, before anything was asked about fair runs".into()
            }
            (Verdict::Violated, None) if self.lasso.as_ref().is_some_and(Lasso::ends) => {
                "the run was made on the machine; it ends, and its last state is taken to last for ever".into()
            }
            (Verdict::Violated, None) if self.scheduler.is_some() => {
                "every state was visited on the machine, the scheduler is fair with probability 1 by what it says there, and it gets there with a probability above 0".into()
            }
            (Verdict::Violated, None) => "the loop was run on the machine, and is fair by what it says".into(),
            (_, None) => {
                let components = counted(components.unwrap_or(0), "component");
                let moves = counted(moves.unwrap_or(0), "move");
                let of_them = match (&self.goal, fair) {
                    (Goal::Formula(_), _) => "none of them fair and against the formula".to_owned(),
                    (_, None | Some(0)) => "none of them fair".to_owned(),
                    (_, Some(fair)) => format!("{} of the whole fair, and nobody waits in them", grouped(fair)),
                };
                let states = counted(states, "state");
                if self.draws {
                    let of_them = match fair {
                        None | Some(0) => "a fair scheduler stays in none of them".to_owned(),
                        Some(fair) => format!("a fair scheduler can stay in {}, and nobody waits there", grouped(fair)),
                    };
                    return format!("all fair schedulers, without a bound: {states}, {moves}; {components}, {of_them}");
                }
                format!("all fair runs, without a bound: {states}, {moves}; {components} to stay in, {of_them}")
            }
        }
    }
}

impl Say for Live {
    fn command(&self) -> &'static str {
        "check"
    }

    fn conclusion(&self) -> Conclusion {
        self.verdict.into()
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word());
        let given = with_parameters(&answer.file, &self.parameters);
        paper.say(format!(": {given} under {}, {}: {}", self.model, self.scheduler(), self.headline())).end();
        if let Some(broken) = &self.broken {
            paper.end();
            broken.text(&answer.sources, paper);
            paper.end();
        }
        if let Some(lasso) = &self.lasso {
            paper.end();
            if lasso.ends() {
                run::table(&lasso.execution, &[], paper);
            } else {
                run::lasso(&lasso.execution, lasso.stem, paper);
            }
            paper.end();
            if self.goal != Goal::Ends {
                paper.paint(HEAD, "wrong:").say(format!(" {}", lasso.message(&self.goal))).end();
            }
            for sentence in sentences(&lasso.execution, &lasso.reasons).filter(|_| !lasso.ends()) {
                paper.paint(HEAD, "fair:").say(format!(" {sentence}")).end();
            }
            paper.paint(HEAD, "replay:").say(" ").say(&lasso.replay).end().end();
        }
        if let Some(scheduler) = &self.scheduler {
            paper.end();
            scheduler.text(&self.goal, paper);
        }
        let mut line = |word: &str, text: &str| {
            paper.paint(HEAD, format!("{word}:")).say(" ").say(text).end();
        };
        line("scope", &self.scope());
        self.notes.iter().for_each(|note| line("note", note));
        let Counts { states, moves, ends, .. } = self.counts;
        let mut parts = vec![counted(states, "state")];
        parts.extend(moves.map(|moves| counted(moves, "move")));
        parts.push(counted(ends, "end"));
        paper.paint(FAINT, answer.cost.after(parts)).end();
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct Fields<'a> {
            parameters: &'a BTreeMap<String, String>,
            verdict: Verdict,
            model: Model,
            live: &'static str,
            formula: Option<&'a str>,
            fairness: &'static str,
            fairness_unit: &'static str,
            scope: String,
            limit: Option<&'a str>,
            #[serde(flatten)]
            counts: Counts,
            violation: Option<Violation<'a>>,
            notes: &'a [String],
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Violation<'a> {
            Broken(Box<counterexample::Fields<'a>>),
            Lasso(LassoFields<'a>),
        }
        #[derive(Serialize)]
        struct LassoFields<'a> {
            property: &'static str,
            message: String,
            stem: usize,
            stem_steps: usize,
            fair: Vec<ReasonFields>,
            waits: Option<ThreadName>,
            schedule: String,
            replay: &'a str,
            execution: &'a Execution,
            #[serde(skip_serializing_if = "Option::is_none")]
            scheduler: Option<Vec<State<'a>>>,
        }
        #[derive(Serialize)]
        struct ReasonFields {
            thread: ThreadName,
            store_buffer: bool,
            why: Why,
            file: Option<String>,
            line: Option<u32>,
        }
        let reason = |reason: &'_ Reason| ReasonFields {
            thread: reason.thread,
            store_buffer: reason.drain,
            why: reason.why,
            file: reason.place.as_ref().map(|place| place.file.to_string()),
            line: reason.place.as_ref().map(|place| place.line),
        };
        let lasso = self.lasso.as_ref().map(|lasso| {
            Violation::Lasso(LassoFields {
                property: self.goal.property(),
                message: lasso.message(&self.goal),
                stem: lasso.stem,
                stem_steps: lasso.stem_steps,
                fair: lasso.reasons.iter().map(reason).collect(),
                waits: lasso.waits.as_ref().map(|(thread, _)| *thread),
                schedule: lasso.schedule.to_string(),
                replay: &lasso.replay,
                execution: &lasso.execution,
                scheduler: None,
            })
        });
        let scheduler = self.scheduler.as_ref().map(|scheduler| {
            Violation::Lasso(LassoFields {
                property: self.goal.property(),
                message: scheduler.message(&self.goal),
                stem: scheduler.execution.steps.len(),
                stem_steps: scheduler.schedule.steps.len(),
                fair: scheduler.reasons.iter().map(reason).collect(),
                waits: scheduler.waits.as_ref().map(|(thread, _)| *thread),
                schedule: scheduler.schedule.to_string(),
                replay: &scheduler.replay,
                execution: &scheduler.execution,
                scheduler: Some(scheduler.states()),
            })
        });
        let broken = self.broken.as_ref().map(|broken| Violation::Broken(Box::new(broken.full())));
        head.line(&Fields {
            parameters: &self.parameters,
            verdict: self.verdict,
            model: self.model,
            live: self.goal.property(),
            formula: if let Goal::Formula(formula) = &self.goal { Some(formula) } else { None },
            fairness: self.fairness,
            fairness_unit: self.unit,
            scope: self.scope(),
            limit: self.limit.as_deref(),
            counts: self.counts,
            violation: broken.or(lasso).or(scheduler),
            notes: &self.notes,
        })
    }

    fn dot(&self) -> Option<String> {
        if let Some(scheduler) = &self.scheduler {
            return Some(scheduler.dot());
        }
        let of_lasso = self.lasso.as_ref().map(|lasso| &lasso.execution);
        of_lasso.or(self.broken.as_ref().map(|broken| &broken.execution)).map(dot::execution)
    }

    /// The run, to be walked through.
    fn html(&self, answer: &Answer) -> Option<String> {
        if let Some(broken) = &self.broken {
            return Some(walk::of(answer, broken));
        }
        let about = |what: &str| format!("{} under {}, {}. {what}", answer.file, self.model, self.scheduler());
        if let Some(scheduler) = &self.scheduler {
            let text = about("The run leads to where the scheduler begins; below stands what it does from then on.");
            let notes = scheduler.notes();
            return Some(walk::run(answer, &scheduler.message(&self.goal), &text, (&scheduler.execution, &[]), &notes));
        }
        let lasso = self.lasso.as_ref()?;
        let again = format!(
            "What comes from step {} on comes again and again.",
            Wording::new(&lasso.execution).number(lasso.stem)
        );
        let text = about(if lasso.ends() { "The last state of the run lasts for ever." } else { &again });
        let fair =
            sentences(&lasso.execution, &lasso.reasons).filter(|_| !lasso.ends()).map(|one| format!("fair: {one}"));
        let notes: Vec<String> = fair.chain([format!("replay: {}", lasso.replay)]).collect();
        Some(walk::run(answer, &lasso.message(&self.goal), &text, (&lasso.execution, &[]), &notes))
    }

    fn sarif(&self) -> Option<String> {
        if let Some(broken) = &self.broken {
            return Some(sarif::log(std::slice::from_ref(broken)));
        }
        let rule = self.goal.property();
        let means = match self.goal {
            Goal::Ends => "A fair run never ends.",
            Goal::Waits => "In a fair run a thread waits for ever.",
            Goal::Formula(_) => "A fair run breaks a formula.",
        };
        let (message, execution, place) = match (&self.lasso, &self.scheduler) {
            (Some(lasso), _) => {
                let begins = lasso.execution.steps.iter().skip(lasso.stem).find_map(|entry| match entry {
                    Entry::Event { event, .. } => Some(&event.place),
                    Entry::Flush { .. } | Entry::Failure { .. } => None,
                });
                let waits = lasso.waits.as_ref().map(|(_, place)| place);
                (lasso.message(&self.goal), &lasso.execution, waits.or(begins))
            }
            (None, Some(scheduler)) => (scheduler.message(&self.goal), &scheduler.execution, scheduler.place()),
            (None, None) => return Some(sarif::log(&[])),
        };
        Some(sarif::log_of(&[sarif::Found { rule, means, message: &message, place, execution }]))
    }
}
