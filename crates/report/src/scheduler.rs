//! What a fair scheduler does for ever where chance decides something: how it gets there, and from then on what moves in which state.

use crate::dot::Graph;
use crate::live::{Goal, Reason, sentences};
use crate::paper::Paper;
use crate::run;
use crate::style::{FAINT, HEAD};
use crate::table::{Row, Table};
use raddle_trace::{Execution, Place, Schedule, ThreadName};
use serde::Serialize;
use std::collections::BTreeMap;

/// How many states of it are shown unless the whole is asked for.
const MOST: usize = 60;

/// A scheduler.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// How it gets there.
    pub execution: Execution,
    /// The same as a schedule.
    pub schedule: Schedule<ThreadName>,
    /// What it does in which state; the first is where the run ends.
    pub states: Vec<Point>,
    /// Why it is fair, to each thread and each store buffer.
    pub reasons: Vec<Reason>,
    /// Who waits for ever, and where.
    pub waits: Option<(ThreadName, Place)>,
    /// The command that shows the run again.
    pub replay: String,
}

/// A state in which a scheduler does something for ever.
#[derive(Clone, Debug)]
pub struct Point {
    /// What is in memory, as far as it is not the same in all of them.
    pub memory: Vec<(String, i64)>,
    /// What moves; if that is more than one, each again and again.
    pub turns: Vec<Turn>,
}

/// A move.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Whose.
    pub thread: ThreadName,
    /// Where it stands; nothing if it is its store buffer that moves.
    pub place: Option<Place>,
    /// Where it leads: one state, or one for each alternative that can be drawn.
    pub next: Vec<Drawn>,
}

/// Where a move leads.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Drawn {
    /// The alternative, if it is drawn.
    pub alternative: Option<u32>,
    /// Its weight among those that can be drawn.
    pub weight: u32,
    /// The state, from 0.
    pub state: usize,
}

impl Turn {
    /// Where it leads, in words.
    fn next(&self) -> String {
        let whole: u64 = self.next.iter().map(|one| u64::from(one.weight)).sum();
        let say = |one: &Drawn| match one.alternative {
            None => format!("to {}", one.state + 1),
            Some(pick) => format!("{pick} to {} ({}/{whole})", one.state + 1, one.weight),
        };
        let all: Vec<String> = self.next.iter().map(say).collect();
        if self.next.iter().any(|one| one.alternative.is_some()) {
            format!("draws: {}", all.join(", "))
        } else {
            all.join(", ")
        }
    }

    /// The line of the source that moves.
    fn source(&self) -> String {
        self.place
            .as_ref()
            .map_or_else(|| "(store buffer)".into(), |place| format!("{} {}", place.line, place.text.trim()))
    }
}

impl Point {
    fn memory(&self) -> String {
        self.memory.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

impl Scheduler {
    /// What is wrong, in one line.
    pub(crate) fn message(&self, goal: &Goal) -> String {
        match (goal, &self.waits) {
            (Goal::Waits, Some((thread, place))) => {
                format!("under this scheduler {thread} waits for ever, at {}:{}", place.file, place.line)
            }
            _ => "under this scheduler the program goes on for ever, whatever is drawn".to_owned(),
        }
    }

    pub(crate) fn text(&self, goal: &Goal, paper: &mut Paper) {
        run::table(&self.execution, &[], paper);
        paper.end();
        let begin = if self.execution.steps.is_empty() { "from the beginning" } else { "from then on" };
        paper.say(format!("{begin} the scheduler is in one of these states (the first is 1) and moves"));
        let several = self.states.iter().any(|point| point.turns.len() > 1);
        paper.say(if several {
            " what is said there, of several moves each again and again:"
        } else {
            " what is said there:"
        });
        paper.end().end();
        self.table(paper);
        paper.end();
        paper.paint(HEAD, "wrong:").say(format!(" {}", self.message(goal))).end();
        for sentence in sentences(&self.execution, &self.reasons) {
            paper.paint(HEAD, "fair:").say(format!(" {sentence}")).end();
        }
        paper.paint(HEAD, "replay:").say(" ").say(&self.replay).end().end();
    }

    /// Where one who is pointed there looks: where somebody waits, or what moves first.
    pub(crate) fn place(&self) -> Option<&Place> {
        let waits = self.waits.as_ref().map(|(_, place)| place);
        waits.or(self.states.first()?.turns.iter().find_map(|turn| turn.place.as_ref()))
    }

    /// What it does in which state, why it is fair, and how to see the run again: a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let state = |(at, point): (usize, &Point)| {
            let moves: Vec<String> = point
                .turns
                .iter()
                .map(|turn| format!("{} at {}: {}", turn.thread, turn.source(), turn.next()))
                .collect();
            let memory = if point.memory.is_empty() { String::new() } else { format!(" ({})", point.memory()) };
            format!("state {}{memory}: {}", at + 1, moves.join("; "))
        };
        let shown = self.states.iter().enumerate().take(MOST).map(state);
        let left = self.states.len().saturating_sub(MOST);
        let more = (left > 0).then(|| format!("and {left} states more, which --json has"));
        let fair = sentences(&self.execution, &self.reasons).map(|sentence| format!("fair: {sentence}"));
        shown.chain(more).chain(fair).chain([format!("replay: {}", self.replay)]).collect()
    }

    /// A line per move, a column per thread.
    fn table(&self, paper: &mut Paper) {
        let shown = if paper.layout().full { self.states.len() } else { self.states.len().min(MOST) };
        let states = &self.states[..shown];
        let mut names: Vec<ThreadName> =
            states.iter().flat_map(|point| point.turns.iter().map(|turn| turn.thread)).collect();
        names.sort_unstable();
        names.dedup();
        let mut rows = Vec::new();
        for (at, point) in states.iter().enumerate() {
            // What is in memory is said where it has changed.
            let before = at.checked_sub(1).map(|before| &states[before].memory);
            let says = !point.memory.is_empty() && before != Some(&point.memory);
            if says {
                rows.push(Row { style: FAINT, ..Row::note(&(at + 1).to_string(), point.memory()) });
            }
            for (number, turn) in point.turns.iter().enumerate() {
                let label = if number == 0 && !says { (at + 1).to_string() } else { String::new() };
                let lane = names.binary_search(&turn.thread).ok();
                let style = crate::style::PLAIN;
                rows.push(Row { label, lane, words: turn.next(), style, source: turn.source() });
            }
        }
        if shown < self.states.len() {
            let left = self.states.len() - shown;
            rows.push(Row::note("", format!("… and {left} states more; --full shows them")));
        }
        let name = |&name: &ThreadName| match self.execution.function(name) {
            Some(function) => format!("{name} {function}"),
            None => name.to_string(),
        };
        Table { indent: 0, lanes: names.iter().map(name).collect(), rows, sources: true }.text(paper);
    }

    /// The states and moves as a graph; what is drawn has a node of its own.
    pub(crate) fn dot(&self) -> String {
        let mut graph = Graph::new("scheduler");
        for (at, point) in self.states.iter().enumerate() {
            let label =
                if point.memory.is_empty() { format!("{}", at + 1) } else { format!("{}\n{}", at + 1, point.memory()) };
            graph.node(&format!("s{at}"), &label, if at == 0 { ", penwidth=2" } else { "" });
        }
        for (at, point) in self.states.iter().enumerate() {
            for (number, turn) in point.turns.iter().enumerate() {
                let words = format!("{}: {}", turn.thread, turn.source());
                let words = crate::dot::quote(&words);
                let mut from = format!("s{at}");
                if turn.next.iter().any(|one| one.alternative.is_some()) {
                    let drawn = format!("d{at}_{number}");
                    graph.node(&drawn, "", ", shape=circle, width=0.15, style=filled, fillcolor=black");
                    graph.edge(&from, &drawn, &format!("label={words}"));
                    from = drawn;
                }
                for one in &turn.next {
                    let label = match one.alternative {
                        Some(pick) => format!("label=\"{pick}\", style=dashed"),
                        None => format!("label={words}"),
                    };
                    graph.edge(&from, &format!("s{}", one.state), &label);
                }
            }
        }
        graph.finish()
    }

    /// The states for JSON.
    pub(crate) fn states(&self) -> Vec<State<'_>> {
        self.states.iter().map(State::of).collect()
    }
}

/// A state in JSON.
#[derive(Serialize)]
pub(crate) struct State<'a> {
    memory: BTreeMap<&'a str, i64>,
    moves: Vec<Move<'a>>,
}

#[derive(Serialize)]
struct Move<'a> {
    thread: ThreadName,
    store_buffer: bool,
    file: Option<&'a str>,
    line: Option<u32>,
    next: &'a [Drawn],
}

impl<'a> State<'a> {
    fn of(point: &'a Point) -> Self {
        State {
            memory: point.memory.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
            moves: point.turns.iter().map(Move::of).collect(),
        }
    }
}

impl<'a> Move<'a> {
    fn of(turn: &'a Turn) -> Self {
        let place = turn.place.as_ref();
        Move {
            thread: turn.thread,
            store_buffer: place.is_none(),
            file: place.map(|place| &*place.file),
            line: place.map(|place| place.line),
            next: &turn.next,
        }
    }
}
