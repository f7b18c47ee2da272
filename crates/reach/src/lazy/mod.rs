//! The engine `lazy-tso`: delays of stores are built into the program one by one, as they turn out to matter (Calin 2016).
//!
//! Round by round the program, [extended] by the delays found so far, is searched without store buffers. A violation there is one under TSO. If there is none, an
//! [oracle] looks for a delay that is not built in and adds behaviour: an attack on the robustness of the extended program. Without one, its states are all states under TSO, and the program is proved,
//! whatever its loops do; with one, that delay is built in as well.
//!
//! For programs without loops this ends; for others it may go on for ever, if ever longer delays matter: then the number of rounds is a limit. *Unrolled*, threads do at most so many operations, twice as many each time;
//! every violation is found so in the end, and nothing is proved unless all threads end within that. *Additive* captures are not forced: rounds are cheaper, and prove nothing but that a program
//! is robust.
//!
//! Cost: per round a search over the states of SC and one with an attacker.

pub mod extended;
pub mod oracle;
pub mod words;

use crate::growth::what_grows;
use crate::machine::Piece;
use crate::robust;
use crate::schedule::realise;
use crate::search::{Graph, Order, Plan, search, whole};
use crate::semantics::Breadth;
use crate::watch::{Halt, Watch};
use extended::{Extended, ExtendedPart};
use oracle::{Advice, Attacked, Leaving, Oracle};
use raddle_engine::{
    Deadline, Engine, Equivalence, Fault, Finding, Outcome, Question, Refusal, StopReason, Switch, Values,
    without_mailboxes,
};
use raddle_trace::Model;
use std::cell::{Cell, RefCell};
use words::Words;

const EXTENSION: Switch = Switch::words(
    "extension",
    &["exact", "additive"],
    "whether a delay that is built in replaces the store or stands beside it, which proves nothing",
);
const ORACLE: Switch = Switch::words(
    "oracle",
    &["attacks", "runs"],
    "who finds delays: attacks on robustness, or runs under TSO that leave those there are",
);
const UNROLL: Switch = Switch {
    key: "unroll",
    values: Values::WordsOrNumber(&["off"], "operations"),
    default: "off",
    summary: "let threads do so many operations, and twice as many each time",
};
const ROUNDS: Switch = Switch {
    key: "rounds",
    values: Values::WordsOrNumber(&["any"], "how many"),
    default: "100",
    summary: "how many delays are built in before it gives up",
};

/// The engine `lazy-tso`.
#[derive(Clone, Copy, Debug)]
pub struct Lazy;

/// What is asked of a program beyond what the machine can do.
pub(crate) fn takes(engine: &str, question: &Question<'_>) -> Result<(), Refusal> {
    let Question { code, options } = question;
    if options.model != Model::Tso {
        let message = format!("the engine `{engine}` knows tso, not {}", options.model);
        return Err(Refusal::whole(code, message));
    }
    without_mailboxes(engine, question)?;
    if code.has_atomic_blocks() {
        return Err(Refusal::whole(code, format!("the engine `{engine}` does not take atomic blocks")));
    }
    Ok(())
}

impl Engine for Lazy {
    fn name(&self) -> &'static str {
        "lazy-tso"
    }

    fn summary(&self) -> &'static str {
        "delays of stores are built into the program as they turn out to matter; tso, without a bound on loops or buffers"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::States
    }

    fn switches(&self) -> &'static [Switch] {
        &[EXTENSION, ORACLE, UNROLL, ROUNDS]
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        takes(self.name(), question)?;
        if question.looks_for_races() {
            let message = "the engine `lazy-tso` does not look for races; --no race leaves them out";
            return Err(Refusal::whole(question.code, message));
        }
        robust::takes(question.code)
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        let switches = &question.options.switches;
        let mut depth: Option<u32> = switches.get(&UNROLL).parse().ok();
        loop {
            let mut search = Search::new(question, deadline, depth);
            let found = search.run()?;
            match depth {
                Some(operations) if search.only_cut && operations < 1 << 16 => depth = Some(operations * 2),
                _ => return Ok(found),
            }
        }
    }
}

/// One loop of rounds.
struct Search<'q> {
    question: &'q Question<'q>,
    deadline: &'q Deadline<'q>,
    exact: bool,
    depth: Option<u32>,
    words: Words,
    /// A thread has done as many operations as it may.
    cut: bool,
    /// Nothing was left to look at but what threads would do then.
    only_cut: bool,
    findings: Vec<Finding>,
    notes: Vec<String>,
    rounds: u64,
    /// States that oracles looked at.
    looked: u64,
}

impl<'q> Search<'q> {
    fn new(question: &'q Question<'q>, deadline: &'q Deadline<'q>, depth: Option<u32>) -> Self {
        let exact = question.options.switches.get(&EXTENSION) == "exact";
        Search {
            question,
            deadline,
            exact,
            depth,
            words: Words::default(),
            cut: false,
            only_cut: false,
            findings: Vec::new(),
            notes: Vec::new(),
            rounds: 0,
            looked: 0,
        }
    }

    fn extended(&self) -> Extended<'q> {
        let Question { code, .. } = *self.question;
        Extended { exact: self.exact, depth: self.depth, ..Extended::new(code, self.words.clone()) }
    }

    fn run(&mut self) -> Result<Outcome, Fault> {
        let Question { code, options } = *self.question;
        let most: u64 = options.switches.get(&ROUNDS).parse().unwrap_or(u64::MAX);
        let oracle: &dyn Oracle = if options.switches.get(&ORACLE) == "runs" { &Leaving } else { &Attacked };
        loop {
            self.rounds += 1;
            let extended = self.extended();
            let (mut watch, graph, ended) = self.round(&extended);
            let stopped = match ended {
                Some(Halt::Fault(fault)) => return Err(fault),
                Some(Halt::Stop(reason)) => {
                    self.notes.extend(what_grows(code, &pieces(&graph)).map(|what| format!("what grows most: {what}")));
                    Some(reason)
                }
                Some(Halt::Found) => return Ok(self.outcome(watch, &graph, None)),
                Some(Halt::Spurious) | None => None,
            };
            self.keep(&mut watch);
            if stopped.is_some() {
                return Ok(self.outcome(watch, &graph, stopped));
            }
            let (advice, looked) = oracle.ask(self.extended(), options.workers.max(1), self.deadline);
            self.looked += looked;
            let gave_up = |why: &str| Some(StopReason::GaveUp { why: why.to_owned(), at: whole(code) });
            let stop = match advice {
                Advice::Stopped(reason) => Some(reason),
                Advice::Words(words) => {
                    let mut is_new = false;
                    words.iter().for_each(|word| is_new |= self.words.add(word));
                    if !is_new {
                        return Err(Fault::NotReplayed("a delay was found that is built in already".into()));
                    }
                    if self.rounds < most {
                        continue;
                    }
                    gave_up(
                        "ever more delays of stores make a difference; --engine-option rounds=N builds more of them in, and the engine abstract-tso may prove what this one cannot",
                    )
                }
                Advice::Nothing if self.cut => {
                    self.only_cut = self.findings.is_empty();
                    gave_up("threads do more operations than they were let do")
                }
                Advice::Nothing if !self.exact && !self.words.is_empty() => {
                    gave_up("no more delays were found, which with additive extensions proves nothing")
                }
                Advice::Nothing => {
                    watch.reach.states = Some(graph.visited.len() as u64);
                    watch.reach.goes_on =
                        watch.statistics.executions == 0 && graph.leads_back && graph.goes_on(&extended);
                    self.notes.push(match self.words.len() {
                        0 => "why: the program is robust, so its executions under tso are those under sc".to_owned(),
                        n => format!(
                            "why: with {n} delay{} of stores built in the program is robust, so its states without store buffers are all there are",
                            if n == 1 { "" } else { "s" }
                        ),
                    });
                    None
                }
            };
            return Ok(self.outcome(watch, &graph, stop));
        }
    }

    /// Searches the extended program.
    fn round(&mut self, extended: &Extended<'q>) -> (Watch<'q>, Graph<ExtendedPart>, Option<Halt>) {
        let code = self.question.code;
        let watch = RefCell::new(Watch::new(self.question, false, self.deadline));
        let cut = Cell::new(false);
        let plan =
            Plan { order: Order::Breadth, workers: self.question.options.workers.max(1), breadth: Breadth::Enough };
        let (graph, ended) = search(
            extended,
            plan,
            &mut |graph: &Graph<ExtendedPart>, index, sight: extended::Sight| {
                cut.set(cut.get() || sight.cut.is_some());
                if let Some((why, pc)) = sight.stuck {
                    return std::ops::ControlFlow::Break(Halt::Stop(StopReason::GaveUp { why, at: code.place(pc) }));
                }
                watch.borrow_mut().notice(sight.machine, &mut |_, then| {
                    Some(realise(code, Model::Tso, extended.way(graph, index), then))
                })
            },
            &mut |graph| watch.borrow().pause(graph),
        );
        self.cut = cut.get();
        (watch.into_inner(), graph, ended)
    }

    /// Keeps what was found in an earlier round and not yet again.
    fn keep(&mut self, watch: &mut Watch<'q>) {
        let what = |finding: &Finding| (finding.violation().place.clone(), finding.violation().message.clone());
        for finding in self.findings.drain(..) {
            if watch.findings.iter().all(|known| what(known) != what(&finding)) {
                watch.findings.push(finding);
            }
        }
        self.findings.clone_from(&watch.findings);
    }

    fn outcome(&mut self, mut watch: Watch<'q>, graph: &Graph<ExtendedPart>, stop: Option<StopReason>) -> Outcome {
        watch.reach.stop = stop;
        watch.statistics.events = graph.transitions;
        watch.statistics.longest = graph.depth;
        let counters = vec![
            ("states", graph.visited.len() as u64),
            ("transitions", graph.transitions),
            ("rounds", self.rounds),
            ("delays", self.words.len() as u64),
            ("oracle_states", self.looked),
        ];
        let mut outcome = Outcome {
            counters,
            ..Outcome::new("lazy-tso", self.question, watch.reach, watch.findings, watch.statistics)
        };
        outcome.notes.append(&mut self.notes);
        outcome
    }
}

/// The parts of the machine among the parts of states.
fn pieces(graph: &Graph<ExtendedPart>) -> Vec<Piece> {
    let piece = |part: &ExtendedPart| match part {
        ExtendedPart::Piece(piece) => Some(piece.clone()),
        ExtendedPart::Own(_) => None,
    };
    graph.parts.list().iter().filter_map(piece).collect()
}
