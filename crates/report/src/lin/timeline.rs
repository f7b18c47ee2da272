//! A history as a picture: one lane a process, one bar an operation from its call to its return.
//!
//! Bars are drawn on a canvas, so that ten and ten thousand operations both move smoothly. The wheel zooms, dragging moves, the pointer over a bar
//! tells all about it. Where the history is linearizable each bar carries its linearization point; where it is not, the operations
//! that cannot be ordered are marked, those they clash with (which had taken effect, or of which the call counts) are marked less, the states the object may have
//! been in are listed, and the page opens on all that. Of several keys or objects one can be looked at alone.
//!
//! A page holds at most [`MOST`] operations, those around the clash or the first ones, and says when it leaves some out.

use super::{Explanation, Found, Lin, Operation};
use crate::html::{Picture, page};
use crate::text::clean;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The most operations a page shows.
const MOST: usize = 50_000;

const PICTURE: Picture<'_> = Picture {
    style: include_str!("timeline.css"),
    tools: "  <nav><button id=\"all\">all</button><button id=\"bad\">marked</button><select id=\"key\" hidden></select><span id=\"where\"></span> &middot; wheel: zoom &middot; \
            drag: move &middot; shift-wheel: up and down</nav>\n",
    body: "<ul id=\"states\" hidden></ul>\n<div id=\"stage\"><canvas id=\"c\"></canvas><div id=\"tip\"></div></div>\n",
    script: include_str!("timeline.js"),
};

/// What the script draws.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Timeline {
    lanes: Vec<String>,
    bars: Vec<Bar>,
    wrong_from: Option<u32>,
    /// The keys or objects, and the one that the explanation is about.
    keys: Vec<String>,
    about: Option<usize>,
    /// What is known of the states the object may have been in.
    states: Vec<String>,
}

/// How an operation is marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None = 0,
    /// It cannot be ordered with the others.
    Clashes = 1,
    /// It had taken effect before it returned.
    InEffect = 2,
    /// Its call counts.
    Called = 3,
}

/// An operation: its lane, the events of its call and its return (-1 if it never did), its words, how it is marked, its linearization point, the lines of
/// its call and its return, its key. A sequence, since there may be many.
type Bar = (usize, u32, i64, String, u8, Option<f32>, u32, u32, Option<usize>);

impl Lin {
    pub(super) fn timeline(&self) -> String {
        let (marks, order): (HashMap<usize, Mark>, &[usize]) = match &self.found {
            Found::Not(explanation) => (marks(explanation), &[]),
            Found::Linearizable(order) => (HashMap::new(), order),
            Found::Unknown(_) => (HashMap::new(), &[]),
        };
        let points = self.points(order);
        let chosen = self.choose(&marks.keys().copied().collect());
        let mut keys = Keys::default();
        let left_out = self.operations.number() - chosen.len();
        let mut lanes = Lanes::new(chosen.iter().map(|&id| self.operations.operation(id).process));
        let mut bars: Vec<Bar> = Vec::with_capacity(chosen.len());
        for id in chosen {
            let operation = self.operations.operation(id);
            let lane = lanes.place(&operation, |process| clean(&self.operations.process(process)));
            let Operation { call, ret, call_line, return_line, .. } = operation;
            let (end, words) = (ret.map_or(-1, i64::from), clean(&self.operations.words(id)));
            let mark = marks.get(&id).copied().unwrap_or(Mark::None) as u8;
            let key = self.operations.data(id).key.map(|key| keys.number(shown(&key)));
            bars.push((lane, call, end, words, mark, points.get(&id).copied(), call_line, return_line, key));
        }
        let (lanes, order) = lanes.sorted();
        bars.iter_mut().for_each(|bar| bar.0 = order[bar.0]);
        let (verdict, mut text) = self.sentence();
        if left_out > 0 {
            let all = self.operations.number();
            write!(text, " {left_out} of {all} operations are not shown.").expect("a string takes everything");
        }
        let (mut wrong_from, mut about, mut states) = (None, None, Vec::new());
        if let Found::Not(explanation) = &self.found {
            wrong_from = explanation.earliest.map(|earliest| earliest.event);
            about = explanation.object.as_ref().map(|(_, key)| keys.number(shown(key)));
            states = self.states(explanation).into_iter().map(|state| clean(&state)).collect();
        }
        let title = format!("{}: {verdict}", self.object);
        page(&title, &text, PICTURE, &Timeline { lanes, bars, wrong_from, keys: keys.names, about, states })
    }

    /// What is known of the states the object may have been in, in sentences.
    fn states(&self, explanation: &Explanation) -> Vec<String> {
        let before = explanation.before.iter();
        let before = before.map(|state| format!("Just before, the object may have been: {}", self.state(state)));
        let since = explanation.since.iter().map(|since| {
            format!("Just before event {} it may be taken to have been: {}", since.event, self.state(&since.state))
        });
        before.chain(since).collect()
    }

    /// The verdict in a word or two, and what there is to see.
    fn sentence(&self) -> (&'static str, String) {
        match &self.found {
            Found::Linearizable(_) => {
                ("linearizable", "Dots are the linearization points: read them from left to right.".into())
            }
            Found::Unknown(why) => ("unknown", why.clone()),
            Found::Not(explanation) => {
                let marked = match explanation.operations.len() {
                    1 => "The marked operation cannot be explained.".to_owned(),
                    many => format!("The {many} marked operations cannot be ordered."),
                };
                let mut text = format!("{} {marked}", explanation.text);
                if let Some(earliest) = explanation.earliest {
                    write!(text, " The history is wrong from event {} on.", earliest.event)
                        .expect("a string takes everything");
                }
                ("not linearizable", text)
            }
        }
    }

    /// A point in time for every operation of a linearization, strictly increasing.
    fn points(&self, order: &[usize]) -> HashMap<usize, f32> {
        let call = |at: usize| self.operations.operation(order[at]).call;
        let mut points = HashMap::new();
        let (mut start, mut now) = (0, 0);
        while start < order.len() {
            now = now.max(call(start));
            let end = (start + 1..order.len()).find(|&at| call(at) > now).unwrap_or(order.len());
            for (place, id) in order[start..end].iter().enumerate() {
                points.insert(*id, now as f32 + (place + 1) as f32 / (end - start + 1) as f32);
            }
            start = end;
        }
        points
    }

    /// The operations a page shows.
    fn choose(&self, clash: &HashSet<usize>) -> Vec<usize> {
        let number = self.operations.number();
        if number <= MOST {
            return (0..number).collect();
        }
        let middle = clash.iter().copied().max().unwrap_or(0);
        let from = middle.saturating_sub(MOST / 2).min(number - MOST);
        let mut outside: Vec<usize> = clash.iter().copied().filter(|id| !(from..from + MOST).contains(id)).collect();
        outside.sort_unstable();
        outside.truncate(1000);
        let mut chosen: Vec<usize> = (from..from + MOST - outside.len()).collect();
        chosen.extend(outside);
        chosen.sort_unstable();
        chosen
    }
}

/// How the operations of an explanation are marked.
fn marks(explanation: &Explanation) -> HashMap<usize, Mark> {
    let since = explanation.since.iter().map(|since| &since.state);
    let in_effect = explanation.before.iter().chain(since).flat_map(|state| &state.done);
    let mut marks: HashMap<usize, Mark> = in_effect.map(|&id| (id, Mark::InEffect)).collect();
    marks.extend(explanation.called.iter().map(|&id| (id, Mark::Called)));
    marks.extend(explanation.operations.iter().map(|&id| (id, Mark::Clashes)));
    marks
}

/// A key as people read it.
fn shown(key: &serde_json::Value) -> String {
    clean(&key.as_str().map_or_else(|| key.to_string(), str::to_owned))
}

/// Keys by number.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Keys {
    fn number(&mut self, name: String) -> usize {
        let next = self.names.len();
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}

/// Which lane an operation is drawn in. Operations of one lane do not overlap: a process gets a second lane while one of its
/// operations is never heard of again, and where there are very many processes all of them share lanes.
struct Lanes {
    names: Vec<String>,
    shared: bool,
    /// The lanes of a process, each with the end of its last operation.
    of: HashMap<u32, Vec<(usize, u32)>>,
}

impl Lanes {
    /// More processes than this share lanes.
    const MANY: usize = 256;
    /// What finds no place in this many lanes is drawn in the last one.
    const MOST: usize = 4096;

    fn new(processes: impl Iterator<Item = u32>) -> Lanes {
        let different: HashSet<u32> = processes.collect();
        Lanes { names: Vec::new(), shared: different.len() > Lanes::MANY, of: HashMap::new() }
    }

    fn place(&mut self, operation: &Operation, name: impl FnOnce(u32) -> String) -> usize {
        let owner = if self.shared { 0 } else { operation.process };
        let end = operation.ret.unwrap_or(u32::MAX);
        let lanes = self.of.entry(owner).or_default();
        if let Some((lane, last)) = lanes.iter_mut().find(|(_, last)| *last < operation.call) {
            *last = end;
            return *lane;
        }
        if self.names.len() >= Lanes::MOST {
            return self.names.len() - 1;
        }
        let lane = self.names.len();
        self.names.push(if self.shared { String::new() } else { name(operation.process) });
        lanes.push((lane, end));
        lane
    }

    /// The names of the lanes in the order of the processes, numbers first, and where each lane goes.
    fn sorted(self) -> (Vec<String>, Vec<usize>) {
        let mut lanes: Vec<usize> = (0..self.names.len()).collect();
        if !self.shared {
            lanes.sort_by_key(|&lane| {
                let name = &self.names[lane];
                let number = name.parse::<i64>().ok();
                (number.is_none(), number, name.clone())
            });
        }
        let mut order = vec![0; lanes.len()];
        lanes.iter().enumerate().for_each(|(place, &lane)| order[lane] = place);
        (lanes.into_iter().map(|lane| self.names[lane].clone()).collect(), order)
    }
}
