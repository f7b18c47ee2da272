//! A history as a picture: one lane a process, one bar an operation from its call to its return.
//!
//! Bars are drawn on a canvas, so that ten and ten thousand operations both move smoothly. The wheel zooms, dragging moves, the pointer over a bar
//! tells all about it. Where the history is linearizable each bar carries its linearization point; where it is not, the operations
//! that cannot be ordered are marked and the page opens on them.
//!
//! A page holds at most [`MOST`] operations, those around the clash or the first ones, and says when it leaves some out.

use super::{Found, Lin, Operation};
use crate::html::{Picture, page};
use crate::text::clean;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The most operations a page shows.
const MOST: usize = 50_000;

const PICTURE: Picture = Picture {
    style: include_str!("timeline.css"),
    tools: "  <nav><button id=\"all\">all</button><button id=\"bad\">marked</button><span id=\"where\"></span> &middot; wheel: zoom &middot; \
            drag: move &middot; shift-wheel: up and down</nav>\n",
    body: "<div id=\"stage\"><canvas id=\"c\"></canvas><div id=\"tip\"></div></div>\n",
    script: include_str!("timeline.js"),
};

/// What the script draws.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Timeline {
    lanes: Vec<String>,
    bars: Vec<Bar>,
    wrong_from: Option<u32>,
}

/// An operation: its lane, the events of its call and its return (-1 if it never did), its words, whether it is marked, its linearization point, the lines of
/// its call and its return. A sequence, since there may be many.
type Bar = (usize, u32, i64, String, u8, Option<f32>, u32, u32);

impl Lin {
    pub(super) fn timeline(&self) -> String {
        let (clash, order): (HashSet<usize>, &[usize]) = match &self.found {
            Found::Not(explanation) => (explanation.operations.iter().copied().collect(), &[]),
            Found::Linearizable(order) => (HashSet::new(), order),
            Found::Unknown(_) => (HashSet::new(), &[]),
        };
        let points = self.points(order);
        let chosen = self.choose(&clash);
        let left_out = self.operations.number() - chosen.len();
        let mut lanes = Lanes::new(chosen.iter().map(|&id| self.operations.operation(id).process));
        let mut bars: Vec<Bar> = Vec::with_capacity(chosen.len());
        for id in chosen {
            let operation = self.operations.operation(id);
            let lane = lanes.place(&operation, |process| clean(&self.operations.process(process)));
            let Operation { call, ret, call_line, return_line, .. } = operation;
            let (end, words) = (ret.map_or(-1, i64::from), clean(&self.operations.words(id)));
            let marked = u8::from(clash.contains(&id));
            bars.push((lane, call, end, words, marked, points.get(&id).copied(), call_line, return_line));
        }
        let (lanes, order) = lanes.sorted();
        bars.iter_mut().for_each(|bar| bar.0 = order[bar.0]);
        let (verdict, mut text) = self.sentence(clash.len());
        if left_out > 0 {
            let all = self.operations.number();
            write!(text, " {left_out} of {all} operations are not shown.").expect("a string takes everything");
        }
        let wrong_from = match &self.found {
            Found::Not(explanation) => explanation.earliest.map(|earliest| earliest.event),
            _ => None,
        };
        let title = format!("{}: {verdict}", self.object);
        page(&title, &text, PICTURE, &Timeline { lanes, bars, wrong_from })
    }

    /// The verdict in a word or two, and what there is to see.
    fn sentence(&self, marked: usize) -> (&'static str, String) {
        match &self.found {
            Found::Linearizable(_) => {
                ("linearizable", "Dots are the linearization points: read them from left to right.".into())
            }
            Found::Unknown(why) => ("unknown", why.clone()),
            Found::Not(explanation) => {
                let mut text = format!("{} The {marked} marked operations cannot be ordered.", explanation.text);
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
