//! The engine `explicit`: all states of the program, each once.
//!
//! What is asked is whether a state can be reached in which a thread has failed, nothing can move though somebody waits, or two accesses race. Under SC and for
//! finitely many states the search ends and decides that, loops or not; with store buffers as long as the buffers that occur have a bound
//! (Calin 2016, where this is the baseline of everything else). Breadth-first a violation is found on a shortest way.
//!
//! Cost: one look at every state and move; memory for every state, a few bytes per part of it.

use crate::cartesian;
use crate::dynamic;
use crate::footprint::Footprints;
use crate::growth::what_grows;
use crate::machine::{Machine, Piece};
use crate::schedule::schedule;
use crate::search::{Graph, Order, Plan, search};
use crate::semantics::Breadth;
use crate::watch::{Halt, Watch};
use raddle_engine::{Deadline, Engine, Equivalence, Fault, Outcome, Question, Refusal, StopReason, Switch, Values};
use raddle_trace::Model;
use std::cell::RefCell;
use std::collections::BTreeSet;

const SEARCH: Switch = Switch::words(
    "search",
    &["breadth", "depth"],
    "which of the states that were met to look at next: the first or the last",
);
const LIVE: Switch = Switch::on_off("live", true, "clear what no thread will read again");
const LOCAL: Switch = Switch::on_off("local", true, "what no other thread can notice is done first and alone");
const REDUCTION: Switch = Switch::words(
    "reduction",
    &["none", "persistent", "cartesian", "dynamic"],
    "follow one order of moves that commute: by what the code may access, by how far threads go before they meet (one worker), or as it turns out (depth-first, one worker)",
);
const BUFFER: Switch = Switch {
    key: "buffer",
    values: Values::WordsOrNumber(&["auto", "any"], "how many"),
    default: "auto",
    summary: "how many stores of a thread can be on their way; auto is any number if there are no loops, else 8",
};

/// How long a store buffer gets in a program with loops if nobody says.
const BOUND: usize = 8;

/// The engine `explicit`.
#[derive(Clone, Copy, Debug)]
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn summary(&self) -> &'static str {
        "every state once, so that loops need no bound where states repeat; sc, tso, pso"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::States
    }

    fn switches(&self) -> &'static [Switch] {
        &[SEARCH, LIVE, LOCAL, REDUCTION, BUFFER]
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        let Question { code, options } = question;
        if !Model::OPERATIONAL.contains(&options.model) {
            let message = format!("the engine `explicit` knows sc, tso and pso, not {}", options.model);
            return Err(Refusal::whole(code, message));
        }
        let reduction = options.switches.get(&REDUCTION);
        let instead = format!("leave out --engine-option reduction={reduction}");
        if reduction != "none" && code.has_atomic_blocks() {
            return Err(Refusal::whole(code, format!("atomic blocks are not reduced; {instead}")));
        }
        if reduction != "none" && code.guesses_handles() {
            let message =
                format!("a thread may be waited for that has not been started, which is not reduced; {instead}");
            return Err(Refusal::whole(code, message));
        }
        if reduction != "none" && code.has_mailboxes() {
            return Err(Refusal::whole(code, format!("programs with mailboxes are not reduced; {instead}")));
        }
        if !question.looks_for_races() {
            return Ok(());
        }
        if matches!(reduction, "dynamic" | "cartesian") {
            let message = format!(
                "races are not looked for with --engine-option reduction={reduction}; --no race leaves them out"
            );
            return Err(Refusal::whole(code, message));
        }
        let instead = "--no race leaves races out, --engine optimal finds them";
        if code.has_atomic_blocks() {
            let message = format!("the engine `explicit` does not look for races beside atomic blocks; {instead}");
            return Err(Refusal::whole(code, message));
        }
        if code.has_mailboxes() {
            let message = format!("the engine `explicit` does not look for races between messages; {instead}");
            return Err(Refusal::whole(code, message));
        }
        match code.weak_synchronisation() {
            Some(pc) => {
                let message = format!(
                    "the engine `explicit` finds races only where threads synchronise by acquire, release and locks that are waited for, which this does not; {instead}"
                );
                Err(Refusal::at(code, pc, message))
            }
            None => Ok(()),
        }
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        self.run_with(question, deadline, &BTreeSet::new())
    }
}

/// What is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Whole,
    Persistent,
    Cartesian,
    Dynamic,
}

/// How a search ended.
enum Ended {
    /// Everything has been followed.
    Whole,
    /// Before that.
    Told(Halt),
    /// It cannot be done in this way.
    Impossible(&'static str),
}

/// Follows the states of a program.
fn follow(machine: &Machine<'_>, how: How, plan: Plan, watch: &RefCell<Watch<'_>>) -> (Graph<Piece>, Ended) {
    let mut notice = |graph: &Graph<Piece>, index, sight| {
        let way = |then: &_| match how {
            How::Cartesian => cartesian::schedule(machine, graph, index, then),
            How::Whole | How::Persistent | How::Dynamic => schedule(machine, graph, index, then),
        };
        watch.borrow_mut().notice(sight, &mut |_, then| Some(way(then)))
    };
    let mut pause = |graph: &Graph<Piece>| watch.borrow().pause(graph);
    let too_many = "a state has too many ways on to be told apart";
    match how {
        How::Whole | How::Persistent => {
            let (graph, ended) = search(machine, plan, &mut notice, &mut pause);
            (graph, ended.map_or(Ended::Whole, Ended::Told))
        }
        How::Cartesian => {
            let (graph, ended) = cartesian::search(machine, &mut notice, &mut pause);
            (graph, ended.map_or(Ended::Whole, |told| told.map_or(Ended::Impossible(too_many), Ended::Told)))
        }
        How::Dynamic => {
            let (graph, ended) = dynamic::search(machine, &mut notice, &mut pause);
            let ended = ended.map_or(Ended::Whole, |ended| match ended {
                dynamic::Ended::Told(halt) => Ended::Told(halt),
                dynamic::Ended::Repeats => Ended::Impossible("states repeat on the way"),
                dynamic::Ended::Blocks => Ended::Impossible(too_many),
            });
            (graph, ended)
        }
    }
}

impl Explicit {
    /// All states of the program with full fences before these instructions.
    pub(crate) fn run_with(
        &self,
        question: &Question<'_>,
        deadline: &Deadline<'_>,
        fences: &BTreeSet<u32>,
    ) -> Result<Outcome, Fault> {
        let Question { code, options } = *question;
        let switches = &options.switches;
        let mut machine = Machine::new(code, options.model);
        machine.fences.clone_from(fences);
        machine.races = question.looks_for_races();
        machine.bound = match switches.get(&BUFFER) {
            "any" => None,
            "auto" => code.has_loops().then_some(BOUND),
            number => number.parse().ok(),
        };
        if !switches.is_on(&LIVE) {
            machine.live = None;
        }
        let order = if switches.get(&SEARCH) == "depth" { Order::Depth } else { Order::Breadth };
        machine.local = switches.is_on(&LOCAL);
        let mut how = match switches.get(&REDUCTION) {
            "persistent" => How::Persistent,
            "cartesian" => How::Cartesian,
            "dynamic" => How::Dynamic,
            _ => How::Whole,
        };
        let plan = Plan { order, workers: options.workers.max(1), breadth: Breadth::Enough };
        let watch = RefCell::new(Watch::new(question, machine.races, deadline));
        let mut notes = Vec::new();
        let (graph, ended) = loop {
            machine.footprints = (how == How::Persistent).then(|| Footprints::new(code));
            match follow(&machine, how, plan, &watch) {
                (graph, Ended::Whole) => break (graph, None),
                (graph, Ended::Told(halt)) => break (graph, Some(halt)),
                (_, Ended::Impossible(why)) => {
                    notes.push(format!("{why}, so persistent sets were followed instead"));
                    how = How::Persistent;
                    watch.replace(Watch::new(question, machine.races, deadline));
                }
            }
        };
        let mut watch = watch.into_inner();
        let in_parallel = matches!(how, How::Whole | How::Persistent);
        if order == Order::Depth && in_parallel && options.workers > 1 {
            notes.push("depth-first search has one worker".into());
        }
        if !in_parallel && options.workers > 1 {
            notes.push(format!("the search with reduction={} has one worker", switches.get(&REDUCTION)));
        }
        match ended {
            Some(Halt::Fault(fault)) => return Err(fault),
            Some(Halt::Stop(reason)) => {
                if let Some(what) = what_grows(code, graph.parts.list()) {
                    notes.push(format!("what grows most: {what}"));
                }
                watch.reach.stop = Some(reason);
            }
            Some(Halt::Found | Halt::Spurious) => {}
            None => {
                watch.reach.states = Some(graph.visited.len() as u64);
                let goes_on = || match how {
                    How::Cartesian => cartesian::goes_on(&machine, &graph),
                    How::Whole | How::Persistent | How::Dynamic => graph.goes_on(&machine),
                };
                watch.reach.goes_on = watch.statistics.executions == 0 && graph.leads_back && goes_on();
                if let Some(pc) = watch.full {
                    let bound = machine.bound.unwrap_or(0);
                    let why = format!(
                        "a thread had {bound} stores on their way, and runs in which it has more were not looked at; --engine-option buffer=N lets it have more"
                    );
                    watch.reach.stop = Some(StopReason::GaveUp { why, at: code.place(pc) });
                }
            }
        }
        let states = graph.visited.len() as u64;
        watch.statistics.events = graph.transitions;
        watch.statistics.longest = graph.depth;
        let counters = vec![
            ("states", states),
            ("transitions", graph.transitions),
            ("depth", graph.depth),
            ("bytes_per_state", graph.size() as u64 / states.max(1)),
            ("parts", graph.parts.list().len() as u64),
        ];
        let (reach, findings) = (std::mem::take(&mut watch.reach), std::mem::take(&mut watch.findings));
        let mut outcome =
            Outcome { counters, ..Outcome::new(self.name(), question, reach, findings, watch.statistics) };
        outcome.notes.extend(notes);
        Ok(outcome)
    }
}
