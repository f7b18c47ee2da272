//! The engine `oc`: bounded model checking by ordering consistency.
//!
//! The program is unrolled to reads and writes under conditions (`unroll`), values and conditions being terms over what reads find and over unknown inputs. Who reads from whom is
//! left to a SAT solver (`encode`); that all of it fits into one order of events is a theory of its own beside it (`raddle_solve::orders`), which derives what happens before what,
//! explains contradictions, and is asked while the solver searches (switch `search=prop`) or of complete assignments only (`basic`). A model is turned
//! into a schedule (`witness`) and replayed. The method is that of Telbisz 2024 (after He, Sun and Fan 2021 and Sun et al. 2022).
//!
//! Loops whose turns depend on what is not known are unrolled 1, 2, 4, ... times, until something is violated or no execution gets to where one was cut: then nothing was cut off, and
//! the answer is about all executions. Unknown inputs have all the values that the code gives them, at no cost per value.
//!
//! Where this differs from Telbisz 2024: an operation that waits happens under a variable of its own instead of an atomic block; joins order under conditions (`joins`); an access to an unknown
//! address is one event per place it can be to (`memory`); a total order of the writes of a location is asked for only where an order of the model's events is not found at once (`search`);
//! an object of unknown size is one of several sizes, more of them as loops are followed further (`memory`); an atomic block in which the program ends has not begun for anybody else;
//! store buffers are a relaxed program order (`buffers`); what an address read from memory can be is found out by unrolling again (`points`).
//!
//! Cost: the number of pairs of nodes in memory; time as the solver needs it.

mod access;
mod buffers;
mod conflicts;
mod encode;
mod finals;
mod graph;
mod joins;
mod meetings;
mod memory;
mod points;
mod races;
mod search;
mod shape;
mod state;
mod step;
mod sync;
mod unroll;
mod witness;

pub use self::finals::final_states;
pub(crate) use self::memory::{MOST_BYTES, too_large};
pub(crate) use self::shape::successors;

use self::encode::Wanted;
use self::graph::{Cut, CutKind, Event, Graph};
use self::search::{Execution, NoAnswer, Search, Way};
use self::unroll::{Bound, Fail, MOST_STEPS, unroll};
use crate::apart;
use crate::clock::watched;
use raddle_engine::{
    Deadline, Engine, Equivalence, Fault, Finding, Outcome, Question, Reach, Refusal, Statistics, StopReason, Switch,
    Values, confirm, without_mailboxes,
};
use raddle_solve::{Lit, Stop};
use raddle_trace::{Model, Property, Schedule};

const SEARCH: Switch = Switch::words(
    "search",
    &["prop", "basic", "clock"],
    "look for contradictions of orders during the search, or in complete assignments only, or say in clauses when events happen",
);
const CONFLICTS: Switch =
    Switch::words("conflicts", &["simple", "none"], "whether short contradictions of orders are looked for beforehand");
const CERTIFY: Switch =
    Switch::words("certify", &["off", "on"], "check a proof whenever the solver says that there is no such execution");
const BOUND: Switch = Switch {
    key: "unroll",
    values: Values::WordsOrNumber(&["auto"], "how many"),
    default: "auto",
    summary: "turns of a loop that are followed where it is not known whether there are more; auto tries more and more",
};

/// How many turns of a loop that ends by counting are followed for one that is not certain.
const COUNTED: u32 = 64;

/// How many instructions are unrolled to see whether a program is taken.
const FIRST_LOOK: u64 = 100_000;

/// The engine `oc`.
#[derive(Clone, Copy, Debug)]
pub struct OrderingConsistency;

/// How far a run came.
struct Run<'q> {
    question: &'q Question<'q>,
    deadline: &'q Deadline<'q>,
    stop: &'q Stop,
    how: Way,
    conflicts: bool,
    certify: bool,
    findings: Vec<Finding>,
    statistics: Statistics,
    reach: Reach,
    counters: Vec<(&'static str, u64)>,
}

/// How a round with a bound ended.
enum Round {
    /// Nothing is left to be done.
    Done,
    /// An execution gets to where it was cut off, here.
    Deeper(u32),
    /// Too much for one formula; the last node was here.
    TooLarge(u32),
    Stopped,
}

impl Engine for OrderingConsistency {
    fn name(&self) -> &'static str {
        "oc"
    }

    fn summary(&self) -> &'static str {
        "one formula for all executions and inputs, loops unrolled as far as needed (ordering consistency); sc, tso, pso"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::States
    }

    fn switches(&self) -> &'static [Switch] {
        &[SEARCH, CONFLICTS, BOUND, CERTIFY]
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        let Question { code, options } = question;
        if !Model::OPERATIONAL.contains(&options.model) {
            let message = format!("the engine `oc` knows sc, tso and pso, not {}", options.model);
            return Err(Refusal::whole(code, message));
        }
        without_mailboxes(self.name(), question)?;
        if code.is_narrow() {
            return Err(Refusal::whole(code, "the engine `oc` takes no addresses of 32 bits"));
        }
        if question.looks_for_races() {
            apart::refuse(self.name(), question)?;
        }
        let deadlocks = options.properties.contains(Property::Deadlock);
        if deadlocks && code.has_spins() {
            let message =
                "the engine `oc` looks for no deadlocks beside loops that may wait; --no deadlock leaves them out";
            return Err(Refusal::whole(code, message));
        }
        if let Some(pc) = memory::too_large(code) {
            return Err(Refusal::at(code, pc, "the engine `oc` takes no local object of more than 16 KiB"));
        }
        match unroll(
            code,
            options.model,
            Bound::LEAST,
            (deadlocks, question.looks_for_races()),
            FIRST_LOOK,
            &Stop::new(),
        ) {
            Err(Fail::Refused(refusal)) => Err(*refusal),
            _ => Ok(()),
        }
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        watched(deadline, |stop| self.answer(question, deadline, stop))
    }
}

impl OrderingConsistency {
    fn answer(&self, question: &Question<'_>, deadline: &Deadline<'_>, stop: &Stop) -> Result<Outcome, Fault> {
        let Question { code, options } = *question;
        let mut run = Run {
            question,
            deadline,
            stop,
            how: match options.switches.get(&SEARCH) {
                "prop" => Way::Prop,
                "basic" => Way::Basic,
                _ => Way::Clock,
            },
            conflicts: options.switches.get(&CONFLICTS) == "simple",
            certify: options.switches.get(&CERTIFY) == "on",
            findings: Vec::new(),
            statistics: Statistics::default(),
            reach: Reach::default(),
            counters: Vec::new(),
        };
        let fixed: Option<u32> = options.switches.get(&BOUND).parse().ok();
        let mut bound = Bound { turns: fixed.unwrap_or(1), counted: if fixed.is_some() { COUNTED } else { 1 } };
        let mut notes = Vec::new();
        if options.workers > 1 {
            notes.push("the engine oc has one worker".into());
        }
        let mut done = 0;
        loop {
            match run.round(bound)? {
                Round::Done => break,
                Round::Deeper(pc) if fixed.is_some() || bound.turns >= 1 << 20 => {
                    run.reach.stop = Some(StopReason::Endless { turns: bound.turns, at: code.place(pc) });
                    break;
                }
                Round::Deeper(_) => {
                    if done == 0 {
                        bound.counted = COUNTED;
                    }
                    done = bound.turns;
                    bound.turns *= 2;
                }
                // Loops in loops.
                Round::TooLarge(_) if bound.counted > 1 => bound.counted /= 8,
                Round::TooLarge(pc) => {
                    let why = "there are too many events for one formula".to_owned();
                    run.reach.stop = Some(StopReason::GaveUp { why, at: code.place(pc) });
                    break;
                }
                Round::Stopped => {
                    run.reach.stop = Some(deadline.passed().unwrap_or(StopReason::Interrupted));
                    break;
                }
            }
        }
        if run.reach.stop.is_some() && done > 0 && run.findings.is_empty() {
            notes.push(format!("there is no violation with up to {done} uncertain turns of each loop"));
        }
        if run.certify && run.reach.stop.is_none() {
            let count =
                |name: &str| run.counters.iter().find(|(known, _)| *known == name).map_or(0, |counter| counter.1);
            let (answers, steps, lemmas) = (count("proofs"), count("proof_steps"), count("proof_lemmas"));
            notes.push(format!(
                "{answers} times the solver said that there is no such execution; its proofs were checked: {steps} steps, {lemmas} lemmas on orders"
            ));
        }
        run.counters.push(("unrolled", u64::from(bound.turns)));
        let Run { findings, statistics, reach, counters, .. } = run;
        let mut outcome = Outcome { counters, ..Outcome::new(self.name(), question, reach, findings, statistics) };
        outcome.notes.extend(notes);
        Ok(outcome)
    }
}

impl Run<'_> {
    /// Looks at all executions with so many uncertain turns of each loop.
    fn round(&mut self, bound: Bound) -> Result<Round, Fault> {
        let code = self.question.code;
        self.statistics = Statistics::default();
        if self.deadline.passed().is_some() {
            return Ok(Round::Stopped);
        }
        let deadlocks = self.question.options.properties.contains(Property::Deadlock);
        let model = self.question.options.model;
        let races = self.question.looks_for_races();
        let unrolled = unroll(code, model, bound, (deadlocks, races), MOST_STEPS, self.stop).and_then(|mut graph| {
            let joined = joins::join_threads(code, &mut graph)?;
            let (conflicts, certify) = (self.conflicts, self.certify);
            let how = Wanted { races, conflicts, certify };
            let formula = encode::encode(code, &mut graph, &joined, how, self.stop)?;
            Ok((graph, formula))
        });
        let (mut graph, formula) = match unrolled {
            Ok(both) => both,
            Err(Fail::Refused(refusal)) => return Err(Fault::Refused(*refusal)),
            Err(Fail::Stopped) => return Ok(Round::Stopped),
            Err(Fail::TooLarge(pc)) => return Ok(Round::TooLarge(pc)),
        };
        let events = graph.events.len() as u64;
        self.reach.every_input = graph.every_input;
        let mut search = Search::new(&mut graph, formula, self.how);
        let graph = search.graph;
        let round = self.look(graph, &mut search);
        self.counters = vec![("nodes", u64::from(graph.nodes)), ("memory_events", events), ("asked", search.asked)];
        self.counters.extend(search.counts());
        self.statistics.events = events;
        match round {
            Ok(round) => Ok(round),
            Err(Halt::Fault(fault)) => Err(fault),
            Err(Halt::NoAnswer(NoAnswer::Stopped)) => Ok(Round::Stopped),
            Err(Halt::NoAnswer(NoAnswer::NotProved(wrong))) => {
                Err(Fault::NotReplayed(format!("the solver's proof that there is none is wrong: {wrong}")))
            }
            Err(Halt::NoAnswer(NoAnswer::Disordered)) => {
                Err(Fault::NotReplayed("the writes of a model are in order, and its events are not".into()))
            }
        }
    }

    fn look(&mut self, graph: &Graph, search: &mut Search<'_>) -> Result<Round, Halt> {
        let Question { code, options } = *self.question;
        let mut raced = Vec::new();
        while let Some((execution, accesses)) = search.find_race(&raced)? {
            self.report_race(graph, &execution, accesses)?;
            raced.push((accesses[0].pc, accesses[1].pc));
            if !options.all {
                return Ok(Round::Done);
            }
        }
        let wanted = |at: &usize| options.properties.contains(graph.failures[*at].property);
        let (mut open, others): (Vec<usize>, Vec<usize>) = (0..graph.failures.len()).partition(wanted);
        while !open.is_empty() {
            let Some(execution) = happens(search, open.iter().map(|&at| graph.failures[at].guard))? else { break };
            self.report(graph, &execution, &mut open)?;
            if !options.all {
                return Ok(Round::Done);
            }
        }
        if options.properties.contains(Property::Deadlock) && self.deadlocks(graph, search)? && !options.all {
            return Ok(Round::Done);
        }
        if let Some(execution) = happens(search, others.iter().map(|&at| graph.failures[at].guard))? {
            self.statistics.failed = 1;
            if let Some(&at) = execution.failures.iter().find(|at| others.contains(at)) {
                code.disregard(graph.failures[at].pc);
            }
        }
        let mut cut = |kind: CutKind| {
            let of = |cut: &&Cut| cut.kind == kind;
            let execution = happens(search, graph.cuts.iter().filter(of).map(|cut| cut.guard))?;
            let found = execution
                .and_then(|execution| execution.cuts.iter().map(|&at| &graph.cuts[at]).find(of).map(|cut| cut.pc));
            Ok::<_, Halt>(found)
        };
        if let Some(pc) = cut(CutKind::GaveUp)? {
            let why = "control reached a place it cannot reach".into();
            self.reach.stop = Some(StopReason::GaveUp { why, at: code.place(pc) });
            return Ok(Round::Done);
        }
        if let Some(pc) = cut(CutKind::Unrolling)? {
            return Ok(Round::Deeper(pc));
        }
        if let Some(pc) = cut(CutKind::Unwritten)? {
            code.take_for_zero(pc);
        }
        if let Some(pc) = cut(CutKind::AskedFor)? {
            self.statistics.bounded = 1;
            self.reach.bounded_at = Some(pc);
        }
        let complete = complete(graph, search);
        match search.find_end(&complete)? {
            Some(_) => self.statistics.executions = 1,
            None => self.statistics.blocked = 1,
        }
        Ok(Round::Done)
    }

    /// Reports what fails in an execution, among the failures that are looked for and not reported.
    fn report(&mut self, graph: &Graph, execution: &Execution, open: &mut Vec<usize>) -> Result<(), Halt> {
        let code = self.question.code;
        let mut fault = None;
        let failed: Vec<usize> = execution.failures.iter().copied().filter(|at| open.contains(at)).collect();
        for at in failed {
            let failure = graph.failures[at];
            let schedule = witness::schedule(code, graph, execution, &failure);
            match self.shown(schedule, failure.property, failure.pc) {
                Ok(finding) => {
                    // The same failure may stand in several turns of a loop.
                    open.retain(|&other| {
                        let other = &graph.failures[other];
                        (other.pc, other.property) != (failure.pc, failure.property)
                    });
                    self.add(finding);
                    return Ok(());
                }
                Err(error) => fault = Some(error),
            }
        }
        let none = || Fault::NotReplayed("a model breaks a property and none of its threads fails".into());
        Err(Halt::Fault(fault.unwrap_or_else(none)))
    }
}

impl Run<'_> {
    /// Looks for executions that end with somebody waiting for ever, all others having ended or waiting, too. Who ends the whole program ends all waits.
    fn deadlocks(&mut self, graph: &Graph, search: &mut Search<'_>) -> Result<bool, Halt> {
        let Question { code, options } = *self.question;
        if graph.stuck.is_empty() {
            return Ok(false);
        }
        let mut conditions = Vec::new();
        for (number, thread) in graph.threads.iter().enumerate() {
            let stuck = graph.stuck.iter().filter(|stuck| stuck.thread == number).map(|stuck| stuck.guard);
            let rests = thread.ends.iter().map(|end| end.0).chain(stuck);
            let mut rests: Vec<Lit> = rests.map(|rest| search.lit(rest)).collect();
            rests.push(!search.lit(thread.guard));
            conditions.push(search.any(&rests));
            for &exit in &thread.exits {
                conditions.push(!search.lit(exit));
            }
        }
        let stuck: Vec<Lit> = graph.stuck.iter().map(|stuck| search.lit(stuck.guard)).collect();
        conditions.push(search.any(&stuck));
        let mut found = false;
        while let Some(execution) = search.find(&conditions)? {
            found = true;
            let schedule = witness::whole_schedule(code, graph, &execution);
            let pc = execution.stuck.first().map_or(0, |&at| graph.stuck[at].pc);
            self.add(self.shown(schedule, Property::Deadlock, pc)?);
            if !options.all {
                break;
            }
            // Another one: somebody else waits, or somewhere else.
            let other = |(at, &lit): (usize, &Lit)| if execution.stuck.contains(&at) { !lit } else { lit };
            let others: Vec<Lit> = stuck.iter().enumerate().map(other).collect();
            conditions.push(search.any(&others));
        }
        Ok(found)
    }

    fn report_race(&mut self, graph: &Graph, execution: &Execution, accesses: [Event; 2]) -> Result<(), Halt> {
        let [one, other] = accesses;
        let block = graph.blocks.iter().map(|block| block.node).find(|&node| node == one.node || node == other.node);
        if let Some(block) = block {
            let outside = if one.node == block { other } else { one };
            let schedule = witness::block_race_schedule(self.question.code, graph, execution, block, &outside);
            self.add(confirm(self.question, schedule, Property::Race, outside.pc)?);
            return Ok(());
        }
        // Who looks in vain writes nothing, so one of the two does not; it comes second.
        let in_vain = one.may_be_in_vain();
        let (first, second) = if in_vain || other.depends { (other, one) } else { (one, other) };
        let schedule =
            witness::race_schedule(self.question.code, graph, execution, [first.issued, second.issued], first.depends);
        self.add(confirm(self.question, schedule, Property::Race, second.pc)?);
        Ok(())
    }

    /// What a schedule shows. A replay goes no further than an access that races with an earlier one, and then that is what there is to report.
    fn shown(&self, schedule: Schedule, property: Property, pc: u32) -> Result<Finding, Fault> {
        let shown = confirm(self.question, schedule.clone(), property, pc);
        match shown {
            Err(_) if self.question.looks_for_races() => confirm(self.question, schedule, Property::Race, pc).or(shown),
            shown => shown,
        }
    }

    /// Adds what was found, unless it was found before.
    fn add(&mut self, finding: Finding) {
        let what = |finding: &Finding| {
            let violation = finding.violation();
            (violation.place.clone(), violation.message.clone())
        };
        if !self.findings.iter().any(|known| what(known) == what(&finding)) {
            self.findings.push(finding);
        }
    }
}

/// Why a round ended early.
enum Halt {
    Fault(Fault),
    NoAnswer(NoAnswer),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Halt::Fault(fault)
    }
}

impl From<NoAnswer> for Halt {
    fn from(why: NoAnswer) -> Self {
        Halt::NoAnswer(why)
    }
}

/// The literals that all threads come to their ends, or somebody ends the program.
fn complete(graph: &Graph, search: &mut Search<'_>) -> Vec<Lit> {
    // Whoever ends the program ends all threads.
    let exits = graph.threads.iter().flat_map(|thread| &thread.exits).chain(&graph.exits_inside);
    let exits: Vec<Lit> = exits.map(|&exit| search.lit(exit)).collect();
    let mut complete = Vec::new();
    for thread in &graph.threads {
        let mut ends: Vec<Lit> = thread.ends.iter().map(|end| search.lit(end.0)).collect();
        ends.push(!search.lit(thread.guard));
        ends.extend(&exits);
        complete.push(search.any(&ends));
    }
    complete
}

/// An execution in which one of these conditions holds.
fn happens(
    search: &mut Search<'_>,
    conditions: impl Iterator<Item = raddle_solve::Term>,
) -> Result<Option<Execution>, Halt> {
    let lits: Vec<Lit> = conditions.map(|condition| search.lit(condition)).collect();
    if lits.is_empty() {
        return Ok(None);
    }
    let any = search.any(&lits);
    Ok(search.find(&[any])?)
}
