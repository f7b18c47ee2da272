//! The engine `cegar`: proofs without a bound, by abstraction that is refined where it is too coarse.
//!
//! An *abstract state* knows where every thread is and little else: the values of some variables, and whether some predicates hold (`abstraction`). From the first one all are built that actions lead
//! to (`graph`), each covered by another one that has it within. If no abstract state is wrong, no state is: that is a proof, for loops without end and inputs with all their values. If one is, the
//! actions that lead to it are put together and a solver is asked whether they can be done (`trace`). If so, there is a schedule, which is replayed. If not, the
//! contradiction says what to know beside (`refine`), and the graph is built again. The method is that of Telbisz 2024 (counterexample-guided abstraction refinement after Clarke et al. 2000, Henzinger et al. 2002).
//!
//! # How programs become actions
//!
//! There is no control-flow automaton of its own: the byte code is run on terms from where a thread rests (`walk`, `step`, `calls`, `access`, `sync`, `meetings`). A *location* of a thread is what the machine's `Thread` has beside
//! numbers: its stack of calls, the instruction, objects it has made, locks it holds (`control`). An *action* is a way from there to where the thread rests next (`path`): the operation that others may notice, and
//! what it does alone behind it, up to the next such operation or the head of a loop whose turns are open. So one access to shared memory is one action, as the method asks for, and everything
//! else is in large blocks. Branches whose conditions are not known split the way; a failed assumption is a way to a stop, so that guards are total but where a thread waits.
//!
//! | of a program | here |
//! |---|---|
//! | registers, temporaries | variables per thread and depth of the stack, forgotten when they are dead |
//! | memory | a variable per cell that is accessed at once (`vars`); accesses of other sizes to the same bytes are refused, or made in pieces |
//! | addresses | numbers: what they depend on is known in every abstraction; a pointer moved by an unknown input splits the way into all places it can be of |
//! | mutexes, reader-writer locks | a word that is known in every abstraction; who holds what is part of the location |
//! | condition variables, barriers | words that are known in every abstraction, without what only ever grows (`meetings`) |
//! | semaphores, waits for values | guards; where none holds the thread does not move |
//! | spawn, join, results | threads are named as everywhere; whether one has ended is part of the location, what it returned a variable |
//! | unknown inputs | another variable each time, with all values that the code gives it |
//! | atomic blocks | only the thread inside moves |
//! | deadlocks, races | actions to a target, under the condition that nobody moves, or that two pending accesses conflict |
//!
//! Which threads are followed from a state is said in `reduce`; that a complete graph is a proof is checked again in `certify`.
//!
//! Refused with a place: floating-point numbers, other memory models than SC, deadlocks beside loops that wait by turning, 32-bit addresses.
//!
//! # Where this differs from Telbisz 2024
//!
//! Values and predicates are one domain. Refinement is by weakest preconditions and by deletion of values; whatever it proposes is tried on the way it came from. A variable that gets too many values is not known
//! any longer and left to predicates. There are no sequence interpolants: questions are decided by clauses about bits, and what could be read off such proofs are circuits of bits rather than predicates about numbers. After a refinement the graph is built again from the start (full pruning), with the answers of the solver kept, or behind the last state from which the way is impossible with what there is to know (`prune=lazy`). What nobody observes any more can be forgotten (`observe`).
//!
//! Cost: a node per abstract state; per action a question per predicate that it may change. Nothing bounds the number of refinements; time does.

mod abstraction;
mod access;
mod calls;
mod certify;
mod control;
mod graph;
mod lives;
mod meetings;
mod observe;
mod path;
mod reduce;
mod refine;
mod step;
mod sync;
mod trace;
mod vars;
mod walk;

use self::abstraction::World;
use self::graph::{Built, Graph, Wanted};
use self::lives::{Lives, lives};
use self::path::{Halt, Target};
use self::reduce::Reduction;
use self::refine::Domain;
use self::trace::{Feasible, schedule};
use crate::apart;
use crate::clock::watched;
use crate::oc::too_large;
use raddle_engine::{
    Deadline, Engine, Equivalence, Fault, Finding, Outcome, Question, Reach, Refusal, Statistics, StopReason, Switch,
    Values, confirm, without_mailboxes,
};
use raddle_machine::code::Instr;
use raddle_program::{BinOp, CastOp, UnOp};
use raddle_solve::Stop;
use raddle_trace::{Model, Property};
use rustc_hash::FxHashSet;

const DOMAIN: Switch = Switch::words(
    "domain",
    &["both", "values", "predicates"],
    "what abstract states know of variables: values, and predicates where values do not do; values alone; predicates first",
);
const SEARCH: Switch = Switch::words(
    "search",
    &["breadth", "depth"],
    "which of the abstract states that were met to look at next: the first or the last",
);
const LIMIT: Switch = Switch {
    key: "values",
    values: Values::WordsOrNumber(&["auto"], "how many"),
    default: "auto",
    summary: "how many values of a variable are told apart before it is left to predicates; auto begins with 12",
};
const POR: Switch = Switch::words(
    "por",
    &["local", "none", "spor", "aaspor"],
    "which orders are looked at: what others cannot notice comes first; all; source sets; source sets by what abstract states know",
);
const FORGET: Switch = Switch::words(
    "forget",
    &["dead", "unobserved"],
    "what abstract states forget: what cannot be read any more; or what nothing that matters can come to depend on, too",
);
const PRUNE: Switch = Switch::words(
    "prune",
    &["full", "lazy"],
    "what is built again after a refinement: all, or what is behind the last state from which the way is impossible now",
);
const CERTIFY: Switch = Switch::on_off(
    "certify",
    false,
    "look at all orders, and check the proof again, state by state, with new questions",
);

/// With how many values a variable is left to predicates at first.
const FEW: usize = 12;
/// After so many refinements without an end, more values are told apart.
const PATIENT: u64 = 25;

/// The engine `cegar`.
#[derive(Clone, Copy, Debug)]
pub struct Cegar;

impl Engine for Cegar {
    fn name(&self) -> &'static str {
        "cegar"
    }

    fn summary(&self) -> &'static str {
        "proofs without a bound: abstract states, refined where they are too coarse; sc"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::States
    }

    fn switches(&self) -> &'static [Switch] {
        &[DOMAIN, SEARCH, LIMIT, POR, FORGET, PRUNE, CERTIFY]
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        let Question { code, options } = question;
        if options.model != Model::Sc {
            return Err(Refusal::whole(code, format!("the engine `cegar` knows sc, not {}", options.model)));
        }
        without_mailboxes(self.name(), question)?;
        if code.is_narrow() {
            return Err(Refusal::whole(code, "the engine `cegar` takes no addresses of 32 bits"));
        }
        if question.looks_for_races() {
            apart::refuse(self.name(), question)?;
        }
        if options.properties.contains(Property::Deadlock) && code.has_spins() {
            let message =
                "the engine `cegar` looks for no deadlocks beside loops that may wait; --no deadlock leaves them out";
            return Err(Refusal::whole(code, message));
        }
        if let Some(pc) = too_large(code) {
            return Err(Refusal::at(code, pc, "the engine `cegar` takes no local object of more than 16 KiB"));
        }
        for pc in 0..code.len() {
            let why = match code.instr(pc) {
                Instr::Un { op: UnOp::Float(_), .. }
                | Instr::Bin { op: BinOp::Float(_), .. }
                | Instr::Cast { op: CastOp::Float(_), .. } => {
                    "the engine `cegar` takes no floating-point numbers; --engine explicit takes them"
                }
                _ => continue,
            };
            return Err(Refusal::at(code, pc, why));
        }
        Ok(())
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        watched(deadline, |stop| Run::new(question, deadline, stop).answer(self.name()))
    }
}

/// How far a run came.
struct Run<'q> {
    question: &'q Question<'q>,
    deadline: &'q Deadline<'q>,
    stop: &'q Stop,
    world: World<'q>,
    /// The graph that is built on, if what was refined was pruned.
    kept: Option<Graph>,
    told: FxHashSet<Target>,
    findings: Vec<Finding>,
    statistics: Statistics,
    reach: Reach,
    domain: Domain,
    values: usize,
    graphs: u64,
    refinements: u64,
    /// Refinements since more values were told apart.
    recent: u64,
    actions: u64,
    certified: u64,
}

impl<'q> Run<'q> {
    fn new(question: &'q Question<'q>, deadline: &'q Deadline<'q>, stop: &'q Stop) -> Self {
        let switches = &question.options.switches;
        let mut world = World::new(question.code, stop);
        world.forgets = switches.get(&FORGET) == "unobserved";
        Run {
            question,
            deadline,
            stop,
            world,
            kept: None,
            told: FxHashSet::default(),
            findings: Vec::new(),
            statistics: Statistics::default(),
            reach: Reach { every_input: true, ..Reach::default() },
            domain: match switches.get(&DOMAIN) {
                "values" => Domain::Values,
                "predicates" => Domain::Predicates,
                _ => Domain::Both,
            },
            values: switches.get(&LIMIT).parse().unwrap_or(FEW),
            graphs: 0,
            refinements: 0,
            recent: 0,
            actions: 0,
            certified: 0,
        }
    }

    /// Whether something is looked for that is seen in states, and not at the end of an action.
    fn sees_states(&self) -> bool {
        self.question.looks_for_races() || self.question.options.properties.contains(Property::Deadlock)
    }

    fn wanted(&self) -> Wanted {
        let options = self.question.options;
        Wanted {
            deadlocks: options.properties.contains(Property::Deadlock),
            races: self.question.looks_for_races(),
            values: if self.domain == Domain::Values { usize::MAX } else { self.values },
            depth_first: options.switches.get(&SEARCH) == "depth",
            reduction: match options.switches.get(&POR) {
                // What is checked again is an invariant of all orders.
                _ if options.switches.is_on(&CERTIFY) => Reduction::None,
                // A wait for a thread that has not been started is an error, so starting it is no step like others.
                _ if self.question.code.guesses_handles() => Reduction::None,
                "none" => Reduction::None,
                "spor" if !self.sees_states() => Reduction::Sources,
                "aaspor" if !self.sees_states() => Reduction::Aware,
                _ => Reduction::Local,
            },
        }
    }

    fn answer(mut self, name: &'static str) -> Result<Outcome, Fault> {
        let mut notes = Vec::new();
        if self.question.options.workers > 1 {
            notes.push("the engine cegar has one worker".into());
        }
        let por = self.question.options.switches.get(&POR);
        if por.ends_with("spor") && self.sees_states() {
            notes.push(format!(
                "{por} does not find races and deadlocks, so the orders are those of local; --no race --no deadlock"
            ));
        }
        let proof = loop {
            match self.round() {
                Ok(Round::Again | Round::Refined) => {}
                Ok(Round::Proved(graph)) => break Some(graph),
                Ok(Round::Done) => break None,
                Err(End::Fault(fault)) => return Err(fault),
                Err(End::Halt(Halt::Refused(refusal))) => return Err(Fault::Refused(*refusal)),
                Err(End::Halt(Halt::Need(vars))) => {
                    self.world.precision.needed.extend(vars.into_iter().map(vars::Var::kind));
                }
                Err(End::Halt(Halt::Stopped)) => {
                    self.reach.stop = Some(self.deadline.passed().unwrap_or(StopReason::Interrupted));
                    break None;
                }
            }
        };
        let precision = &self.world.precision;
        let known = precision.kinds.len() + precision.needed.len();
        let predicates = precision.predicates.len();
        if let Some(graph) = &proof {
            let size = graph.size();
            self.reach.states = Some(size);
            self.live(graph);
            let counted = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
            notes.push(format!(
                "proved by an invariant of {} over the values of {} and {}",
                counted(size as usize, "abstract state"),
                counted(known, "variable"),
                counted(predicates, "predicate")
            ));
            if self.certified > 0 {
                notes.push(format!(
                    "the invariant was checked again: {} actions lead out of none of its states",
                    self.certified
                ));
            }
        }
        let counters = vec![
            ("abstract_states", proof.as_ref().map_or(0, Graph::size)),
            ("graphs", self.graphs),
            ("refinements", self.refinements),
            ("variables", known as u64),
            ("predicates", predicates as u64),
            ("actions", self.actions),
            ("asked", self.world.asked),
            ("certified", self.certified),
        ];
        self.statistics.events = self.actions;
        let Run { question, reach, findings, statistics, .. } = self;
        let mut outcome = Outcome { counters, ..Outcome::new(name, question, reach, findings, statistics) };
        outcome.notes.extend(notes);
        Ok(outcome)
    }

    /// Notes whether there are executions that the proof is about.
    fn live(&mut self, graph: &Graph) {
        match lives(self.question.code) {
            Lives::Ends => self.statistics.executions = 1,
            Lives::GoesOn => self.reach.goes_on = true,
            Lives::Stuck => {
                let ended = |node: &&graph::Node| {
                    let control = &node.state.control;
                    let all =
                        control.threads.iter().all(|thread| matches!(thread.status, control::Status::Finished { .. }));
                    all || control.is_over()
                };
                let ends: Vec<usize> = (0..graph.nodes.len()).filter(|&at| ended(&&graph.nodes[at])).take(50).collect();
                for at in ends {
                    let trace = graph.trace(at);
                    if let Ok(Feasible::Yes(_)) = self.world.feasible(&trace, self.stop) {
                        self.statistics.executions = 1;
                        return;
                    }
                }
                self.statistics.blocked = 1;
            }
        }
    }

    /// Builds a graph and looks at what comes of it.
    fn round(&mut self) -> Result<Round, End> {
        let wanted = self.wanted();
        let deadline = self.deadline;
        let mut graph = match self.kept.take() {
            Some(graph) => graph,
            None => {
                self.graphs += 1;
                Graph::new(&mut self.world)?
            }
        };
        let mut pause = |_: &Graph| match deadline.passed() {
            Some(_) => Err(Halt::Stopped),
            None => Ok(()),
        };
        let built = graph.build(&mut self.world, wanted, &self.told, &mut pause);
        self.actions += std::mem::take(&mut graph.actions);
        match built? {
            Built::Complete => {
                if self.question.options.switches.is_on(&CERTIFY) {
                    self.certified =
                        certify::certify(&mut self.world, &graph, wanted, &self.told)?.map_err(|what| {
                            End::Fault(Fault::NotReplayed(format!(
                                "a proof does not hold when it is checked again: {what}"
                            )))
                        })?;
                }
                Ok(Round::Proved(graph))
            }
            Built::Values(kinds) => {
                self.world.ban(&kinds);
                Ok(Round::Again)
            }
            Built::Target(node) => match self.target(&graph, node)? {
                Round::Refined => {
                    if self.prunes(wanted) && graph.prune(&mut self.world, node)? {
                        self.kept = Some(graph);
                    }
                    Ok(Round::Again)
                }
                round => Ok(round),
            },
        }
    }

    /// Whether a graph is built on after a refinement. Source sets may rest on what was not known then.
    fn prunes(&self, wanted: Wanted) -> bool {
        let lazy = self.question.options.switches.get(&PRUNE) == "lazy";
        lazy && matches!(wanted.reduction, Reduction::None | Reduction::Local)
    }

    /// Looks at a way to a target.
    fn target(&mut self, graph: &Graph, node: usize) -> Result<Round, End> {
        let Question { code, options } = *self.question;
        let trace = graph.trace(node);
        let last = trace.last().expect("a target is behind an action").clone();
        let target = last.target.clone().expect("it is one");
        let moves = match self.world.feasible(&trace, self.stop)? {
            Feasible::Yes(moves) => moves,
            Feasible::No(core) => return self.refine(&trace, &core, &target),
        };
        let (property, pc) = match target {
            Target::Failure { property, pc } => (property, pc),
            Target::Deadlock { pc } => (Property::Deadlock, pc),
            Target::Race { second, .. } => (Property::Race, second.pc),
            Target::Bound { pc } => {
                self.statistics.bounded = 1;
                self.reach.bounded_at = Some(pc);
                self.told.insert(target);
                return Ok(Round::Again);
            }
            Target::GaveUp { why, pc } => {
                self.reach.stop = Some(StopReason::GaveUp { why: why.into(), at: code.place(pc) });
                return Ok(Round::Done);
            }
        };
        if !options.properties.contains(property) {
            code.disregard(pc);
            self.statistics.failed = 1;
            self.told.insert(target);
            return Ok(Round::Again);
        }
        let Some(schedule) = schedule(code, &trace, &moves) else {
            let why = "there is a violation with an input that no schedule can name";
            self.reach.stop = Some(StopReason::GaveUp { why: why.into(), at: code.place(pc) });
            return Ok(Round::Done);
        };
        let mut shown = confirm(self.question, schedule.clone(), property, pc);
        if shown.is_err() && self.question.looks_for_races() {
            // A replay goes no further than an access that races with an earlier one, and then that is what there is to report.
            shown = confirm(self.question, schedule, Property::Race, pc).or(shown);
        }
        let finding = shown.map_err(End::Fault)?;
        let what = |finding: &Finding| (finding.violation().place.clone(), finding.violation().message.clone());
        if !self.findings.iter().any(|known| what(known) == what(&finding)) {
            self.findings.push(finding);
        }
        self.told.insert(target);
        Ok(if options.all { Round::Again } else { Round::Done })
    }

    fn refine(
        &mut self,
        trace: &[std::rc::Rc<path::Action>],
        core: &[Vec<raddle_solve::Term>],
        target: &Target,
    ) -> Result<Round, End> {
        self.refinements += 1;
        self.recent += 1;
        let before = self.world.precision.banned.clone();
        let stuck = !self.world.refine(trace, core, self.domain)?;
        let banned = !self.world.precision.banned.is_empty();
        if banned && (stuck || self.recent > PATIENT) {
            self.recent = 0;
            self.values *= 4;
            self.world.precision.banned.clear();
            return Ok(Round::Again);
        }
        if stuck {
            let pc = match *target {
                Target::Failure { pc, .. }
                | Target::Bound { pc }
                | Target::GaveUp { pc, .. }
                | Target::Deadlock { pc } => pc,
                Target::Race { second, .. } => second.pc,
            };
            let why = "abstract states that tell why this cannot happen were not found".to_owned();
            self.reach.stop = Some(StopReason::GaveUp { why, at: self.question.code.place(pc) });
            return Ok(Round::Done);
        }
        // With other variables given up states are others everywhere.
        Ok(if before == self.world.precision.banned { Round::Refined } else { Round::Again })
    }
}

/// How a round ended.
enum Round {
    Again,
    /// There is more to know of states on the way to a target.
    Refined,
    Proved(Graph),
    Done,
}

/// Why there are no more rounds.
enum End {
    Halt(Halt),
    Fault(Fault),
}

impl From<Halt> for End {
    fn from(halt: Halt) -> Self {
        End::Halt(halt)
    }
}
