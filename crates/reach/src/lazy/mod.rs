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
use crate::machine::{Machine, Piece};
use crate::robust::{self, late::Late};
use crate::schedule::{realise, schedule_with_arrivals};
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
use std::collections::BTreeSet;
use std::sync::Arc;
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
    without_mailboxes(engine, question)
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
    /// What the code lets attacks delay.
    late: Arc<Late>,
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
            late: Arc::new(Late::new(question.code, &BTreeSet::new())),
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
        Extended {
            exact: self.exact,
            depth: self.depth,
            ..Extended::with(code, self.words.clone(), Arc::clone(&self.late))
        }
    }

    fn run(&mut self) -> Result<Outcome, Fault> {
        let Question { code, options } = *self.question;
        let most: u64 = options.switches.get(&ROUNDS).parse().unwrap_or(u64::MAX);
        let oracle: &dyn Oracle = if options.switches.get(&ORACLE) == "runs" { &Leaving } else { &Attacked };
        loop {
            self.rounds += 1;
            let is_plain = self.words.is_empty() && self.depth.is_none();
            let (mut watch, graph, ended) = if is_plain { self.plain() } else { self.round() };
            let stopped = match ended {
                Some(Halt::Fault(fault)) => return Err(fault),
                Some(Halt::Stop(reason)) => {
                    self.notes.extend(what_grows(code, &graph.pieces()).map(|what| format!("what grows most: {what}")));
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
                    watch.reach.states = Some(graph.states());
                    watch.reach.goes_on = watch.statistics.executions == 0 && graph.goes_on();
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

    /// Searches the program without delays: that is the machine of SC.
    fn plain(&mut self) -> (Watch<'q>, Searched<'q>, Option<Halt>) {
        let machine = Machine::new(self.question.code, Model::Sc);
        let watch = RefCell::new(Watch::new(self.question, false, self.deadline));
        let (graph, ended) = search(
            &machine,
            self.plan(),
            &mut |graph: &Graph<Piece>, index, sight| {
                watch
                    .borrow_mut()
                    .notice(sight, &mut |_, then| Some(schedule_with_arrivals(&machine, graph, index, then)))
            },
            &mut |graph| watch.borrow().pause(graph),
        );
        (watch.into_inner(), Searched::Plain(machine, graph), ended)
    }

    fn plan(&self) -> Plan {
        Plan { order: Order::Breadth, workers: self.question.options.workers.max(1), breadth: Breadth::Enough }
    }

    /// Searches the extended program.
    fn round(&mut self) -> (Watch<'q>, Searched<'q>, Option<Halt>) {
        let code = self.question.code;
        let extended = self.extended();
        let watch = RefCell::new(Watch::new(self.question, false, self.deadline));
        let cut = Cell::new(false);
        let (graph, ended) = search(
            &extended,
            self.plan(),
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
        (watch.into_inner(), Searched::Extended(extended, graph), ended)
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

    fn outcome(&mut self, mut watch: Watch<'q>, graph: &Searched<'q>, stop: Option<StopReason>) -> Outcome {
        watch.reach.stop = stop;
        let (transitions, depth) = graph.size();
        watch.statistics.events = transitions;
        watch.statistics.longest = depth;
        let counters = vec![
            ("states", graph.states()),
            ("transitions", transitions),
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

/// What was searched, and the states that were met.
enum Searched<'c> {
    Plain(Machine<'c>, Graph<Piece>),
    Extended(Extended<'c>, Graph<ExtendedPart>),
}

impl Searched<'_> {
    fn states(&self) -> u64 {
        match self {
            Searched::Plain(_, graph) => graph.visited.len() as u64,
            Searched::Extended(_, graph) => graph.visited.len() as u64,
        }
    }

    /// How many moves were followed, and how many lead to the states that are farthest.
    fn size(&self) -> (u64, u64) {
        match self {
            Searched::Plain(_, graph) => (graph.transitions, graph.depth),
            Searched::Extended(_, graph) => (graph.transitions, graph.depth),
        }
    }

    /// Whether some execution goes on for ever.
    fn goes_on(&self) -> bool {
        match self {
            Searched::Plain(machine, graph) => graph.leads_back && graph.goes_on(machine),
            Searched::Extended(extended, graph) => graph.leads_back && graph.goes_on(extended),
        }
    }

    /// The parts of the machine among the parts of states.
    fn pieces(&self) -> Vec<Piece> {
        let piece = |part: &ExtendedPart| match part {
            ExtendedPart::Piece(piece) => Some(piece.clone()),
            ExtendedPart::Own(_) => None,
        };
        match self {
            Searched::Plain(_, graph) => graph.parts.list().to_vec(),
            Searched::Extended(_, graph) => graph.parts.list().iter().filter_map(piece).collect(),
        }
    }
}
