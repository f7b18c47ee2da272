//! The state space of a program as a system of [`raddle_fair`]: for objectives that are pairs or automata.
//!
//! States are those of the program as it is written, found as for any question about runs that never end; who moves is the action of a step. What is drawn becomes a choice with several targets, which is drawn there, too. A run that ends stays where it is.
//! Nothing is looked for: a thread that fails ends the run.
//!
//! Labels are what an objective asks for by name ([`Label::parse`]):
//!
//! | name | holds in |
//! |---|---|
//! | `can T1`, `cannot T1` | states in which the thread can move, or cannot |
//! | `can T1 buffer`, `cannot T1 buffer` | the same for its store buffer |
//! | `T1 at 17` | states in which it stands before line 17 |
//! | `ended` | states in which the run has ended |
//! | `x == 1 && !y` | states in which that is true of global variables |
//!
//! `T1` and `T1 buffer` are actions.
//!
//! The system has to be whole: a limit, a store that waits for room, or an assumption that is false somewhere (such a run is none, and a graph cannot say so) is refused.

use crate::fairness::{Actor, Unit, able, is_drawn};
use crate::graph::{Short, States, states};
use crate::ltl::{Ltl, Wrong, word};
use crate::running::closed;
use raddle_engine::{Control, Deadline, PropertySet, Question};
use raddle_fair::graph::Vertex;
use raddle_fair::system::{Choice, System};
use raddle_machine::{Addr, Automaton, Code, Memory, Status};
use raddle_program::Program;
use raddle_reach::machine::{Concrete, Piece};
use raddle_reach::semantics::Semantics;
use raddle_trace::{Step, ThreadId, ThreadName};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What a name says about a state.
#[derive(Clone, Debug)]
pub enum Label {
    /// Whether the thread, or its store buffer, can move; or cannot.
    Able {
        /// Which thread.
        thread: ThreadName,
        /// Its store buffer.
        drain: bool,
        /// It can; else it cannot.
        can: bool,
    },
    /// It stands before this line.
    At(ThreadName, u32),
    /// The run has ended.
    Ended,
    /// A condition on global variables.
    Condition(Ltl),
}

impl Label {
    /// What a name says; nothing if it is that of an action.
    ///
    /// # Errors
    /// If it is none of those, nor a condition.
    pub fn parse(name: &str, program: &Program) -> Result<Option<Label>, Wrong> {
        let words: Vec<&str> = name.split_whitespace().collect();
        let thread = |word: &str| word.strip_prefix('T').and_then(|number| number.parse::<ThreadName>().ok());
        let known = match words[..] {
            ["ended"] => return Ok(Some(Label::Ended)),
            [one] | [one, "buffer"] if thread(one).is_some() => return Ok(None),
            [can @ ("can" | "cannot"), one, ref rest @ ..] if matches!(rest, [] | ["buffer"]) => {
                thread(one).map(|thread| Label::Able { thread, drain: !rest.is_empty(), can: can == "can" })
            }
            [one, "at", line] => thread(one).zip(line.parse().ok()).map(|(thread, line)| Label::At(thread, line)),
            _ => None,
        };
        if let Some(label) = known {
            return Ok(Some(label));
        }
        let condition = Ltl::parse(name, program)?;
        if condition.formula.is_temporal() {
            let message = "a label is about one state, and has no temporal operators".to_owned();
            return Err(Wrong { message, at: 0, len: name.chars().count() });
        }
        Ok(Some(Label::Condition(condition)))
    }

    fn holds(&self, code: &Code, state: &Concrete, can_move: &[Actor]) -> bool {
        let number = |name: ThreadName| code.numbering().number(name);
        match self {
            Label::Ended => can_move.is_empty(),
            Label::Able { thread, drain, can } => {
                let actor = number(*thread).map(|id| if *drain { Actor::Drain(id) } else { Actor::Thread(id) });
                actor.is_some_and(|actor| can_move.contains(&actor)) == *can
            }
            Label::At(thread, line) => number(*thread).and_then(|id| state.thread(id)).is_some_and(|thread| {
                matches!(thread.status(), Status::Ready(_)) && code.span(thread.pc()).line == *line
            }),
            Label::Condition(condition) => {
                word::holds(&condition.formula, &[condition.letter(state.memory().bytes())], 0)
            }
        }
    }
}

/// The system, or why there is none.
#[derive(Clone, Debug)]
pub enum Space {
    /// All of it.
    Whole(System),
    /// There is more than could be looked at, or it is no graph.
    Part(String),
}

/// The state space of a program, with these labels.
pub fn space(question: &Question<'_>, buffer: usize, labels: &[(String, Label)], control: &Control) -> Space {
    let Question { code, options } = *question;
    let options = raddle_engine::Options { properties: PropertySet::none(), ..options.clone() };
    let deadline = Deadline::new(options.limits, control);
    let (all, short) = states(&Question { code, options: &options }, buffer, &deadline);
    match short {
        Some(Short::Stop(stop, _)) => return Space::Part(stop.to_string()),
        Some(Short::Broken(..)) => unreachable!("nothing is looked for"),
        None => {}
    }
    if let Some(pc) = all.full {
        let at = code.place(pc);
        let why = format!("a thread has {buffer} stores on their way, and there are runs in which it has more");
        return Space::Part(format!("{why} ({}:{})", at.file, at.line));
    }
    if all.assumed > 0 {
        return Space::Part(format!("an assumption is false in {} states, and such runs are none", all.assumed));
    }
    let mut actions = Actions::default();
    let (mut choices, mut names) = (Vec::new(), Vec::new());
    let mut made_of = MadeOf::default();
    let mut labelled: Vec<(String, Vec<Vertex>)> = labels.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    for index in 0..all.len() as Vertex {
        if index % 256 == 0
            && let Some(stop) = deadline.passed()
        {
            return Space::Part(stop.to_string());
        }
        let state = all.state(index);
        let can_move = match closed(&state) {
            Some(_) => Vec::new(),
            None => able(Unit::Thread, code, &state, &|step| all.running.after(&state, step)),
        };
        for ((_, vertices), (_, label)) in labelled.iter_mut().zip(labels) {
            if label.holds(code, &state, &can_move) {
                vertices.push(index);
            }
        }
        names.push(stands(code, &state));
        made_of.push(&all, &state);
        choose(&all, index, &state, &mut actions, &mut choices);
    }
    let mut system = System::new(all.len(), 0, actions.names, choices);
    system.labels = labelled;
    system.names = names;
    system.columns = made_of.columns(all.len());
    Space::Whole(system)
}

/// What states are made of: each piece by its number.
#[derive(Default)]
struct MadeOf {
    numbers: FxHashMap<Piece, u32>,
    columns: BTreeMap<Part, Vec<u32>>,
    states: usize,
}

/// What there is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Rest,
    Thread(usize),
    Memory(Addr),
    Outgoing(ThreadId),
}

impl MadeOf {
    /// One more state.
    fn push(&mut self, all: &States<'_>, state: &Concrete) {
        let mut threads = 0;
        all.running.split(state, &mut |piece| {
            let part = match piece {
                Piece::Rest(_) => Part::Rest,
                Piece::Thread(_) => {
                    threads += 1;
                    Part::Thread(threads)
                }
                Piece::Cell(cell, _) => Part::Memory(cell.addr),
                Piece::Object(base, _) => Part::Memory(*base),
                Piece::Outgoing(thread, _) => Part::Outgoing(*thread),
            };
            let next = self.numbers.len() as u32 + 1;
            let number = *self.numbers.entry(piece.clone()).or_insert(next);
            let column = self.columns.entry(part).or_default();
            // A state in which there is no such piece has 0.
            column.resize(self.states, 0);
            column.push(number);
        });
        self.states += 1;
    }

    fn columns(self, states: usize) -> Vec<Vec<u32>> {
        let whole = |mut column: Vec<u32>| {
            column.resize(states, 0);
            column
        };
        self.columns.into_values().map(whole).collect()
    }
}

/// Numbers for who moves.
#[derive(Default)]
struct Actions {
    known: FxHashMap<(ThreadId, bool), u32>,
    names: Vec<String>,
}

/// What one can choose in a state.
fn choose(all: &States<'_>, index: Vertex, state: &Concrete, actions: &mut Actions, choices: &mut Vec<Choice>) {
    let machine = &all.running.machine;
    let code = machine.code;
    let begin = choices.len();
    let moves = if closed(state).is_some() { Vec::new() } else { machine.moves(state).0 };
    let mut draws: Option<ThreadId> = None;
    for step in moves {
        let (id, drain) = (step.thread(), matches!(step, Step::Flush(_) | Step::FlushAt(..)));
        let action = *actions.known.entry((id, drain)).or_insert_with(|| {
            let buffer = if drain { " buffer" } else { "" };
            actions.names.push(format!("{}{buffer}", code.name(id)));
            (actions.names.len() - 1) as u32
        });
        let target = all.graph.find(&all.running, &all.running.after(state, step)).expect("the search has met it");
        let drawn = is_drawn(code, state, step);
        match choices.last_mut() {
            // All that a thread can draw follows each other.
            Some(last) if drawn && draws == Some(id) => last.targets.push((target, Some(action))),
            _ => {
                let line = state.thread(id).map_or(0, |thread| code.span(thread.pc()).line);
                choices.push(Choice { from: index, targets: vec![(target, Some(action))], line });
            }
        }
        draws = drawn.then_some(id);
    }
    for choice in &mut choices[begin..] {
        choice.targets.sort_unstable();
        choice.targets.dedup();
    }
    if choices.len() == begin {
        choices.push(Choice { from: index, targets: vec![(index, None)], line: 0 });
    }
}

/// Where threads stand.
fn stands(code: &Code, state: &Concrete) -> String {
    let ready = state.threads().filter(|thread| matches!(thread.status(), Status::Ready(_)));
    let places = ready.map(|thread| format!("{}:{}", code.name(thread.id()), code.span(thread.pc()).line));
    let places: Vec<String> = places.collect();
    if places.is_empty() { "ended".to_owned() } else { places.join(" ") }
}
