//! The history as a picture: one self-contained page.
//!
//! One lane a process, one bar an operation from its call to its return, drawn on a canvas so that ten and ten thousand operations
//! both move smoothly. The wheel zooms, dragging moves, the pointer over a bar tells all about it. Where the history is linearizable
//! each bar carries its linearization point; where it is not, the operations that cannot be ordered are marked and the page opens on them.
//!
//! A page holds at most [`MOST`] operations, those around the clash or the first ones, and says when it leaves some out.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Context, sentence, words};
use crate::history::{Op, OpId, Ts};
use crate::value::ValueId;
use crate::verdict::Verdict;

/// The most operations a page shows.
pub const MOST: usize = 50_000;

const PAGE: &str = include_str!("timeline.html");

/// Text that may stand inside an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// JSON that may stand inside a script.
fn script(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// The page with its marks filled in; what is filled in is not searched for marks.
fn fill(parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = PAGE;
    loop {
        let next = parts
            .iter()
            .filter_map(|(mark, content)| Some((rest.find(mark)?, mark, content)))
            .min_by_key(|(at, ..)| *at);
        let Some((at, mark, content)) = next else {
            break;
        };
        page.push_str(&rest[..at]);
        page.push_str(content);
        rest = &rest[at + mark.len()..];
    }
    page.push_str(rest);
    page
}

/// The page.
pub fn page(context: &Context<'_>) -> String {
    let history = context.history;
    let (clash, order): (FxHashSet<OpId>, &[OpId]) = match &context.report.verdict {
        Verdict::Violated(explanation) => (explanation.ops.iter().copied().collect(), &[]),
        Verdict::Holds(order) => (FxHashSet::default(), order),
        Verdict::Unknown(_) => (FxHashSet::default(), &[]),
    };
    let points = points(context, order);
    let chosen = choose(context, &clash);
    let left_out = history.ops.len() - chosen.len();
    let mut lanes = Lanes::new(chosen.iter().map(|id| history.op(*id).process));
    let mut bars = Vec::with_capacity(chosen.len());
    for id in chosen {
        let op = history.op(id);
        let lane = lanes.place(context, op);
        let end = if op.is_pending() { -1 } else { i64::from(op.ret.0) };
        let point = points.get(&id).copied();
        bars.push((
            lane,
            op.call.0,
            end,
            words(context, op),
            u8::from(clash.contains(&id)),
            point,
            op.call_line,
            op.ret_line,
        ));
    }
    let (names, order) = lanes.sorted();
    bars.iter_mut().for_each(|bar| bar.0 = order[bar.0]);
    let mut title = format!("{}: ", context.kind);
    let mut text = String::new();
    match &context.report.verdict {
        Verdict::Holds(_) => {
            title.push_str("linearizable");
            text.push_str("Dots are the linearization points: read them from left to right.");
        }
        Verdict::Unknown(why) => {
            title.push_str("unknown");
            text.push_str(why);
        }
        Verdict::Violated(explanation) => {
            title.push_str("not linearizable");
            text.push_str(&sentence(context, &explanation.reason));
            let _ = write!(text, " The {} marked operations cannot be ordered.", clash.len());
            if let Some(earliest) = explanation.earliest {
                let Ts(event) = earliest.event;
                let _ = write!(text, " The history is wrong from event {event} on.");
            }
        }
    }
    if left_out > 0 {
        let _ = write!(text, " {left_out} of {} operations are not shown.", history.ops.len());
    }
    let wrong_from = match &context.report.verdict {
        Verdict::Violated(explanation) => explanation.earliest.map(|earliest| earliest.event.0),
        _ => None,
    };
    fill(&[
        ("@TITLE@", escaped(&title)),
        ("@TEXT@", escaped(&text)),
        ("@WRONG@", script(&wrong_from)),
        ("@LANES@", script(&names)),
        ("@BARS@", script(&bars)),
    ])
}

/// Which lane an operation is drawn in. Operations of one lane do not overlap: a process gets a second lane while one of its
/// operations is never heard of again, and where there are very many processes all of them share lanes.
struct Lanes {
    names: Vec<String>,
    shared: bool,
    /// The lanes of a process, each with the end of its last operation.
    of: FxHashMap<ValueId, Vec<(usize, Ts)>>,
}

impl Lanes {
    /// More processes than this share lanes.
    const MANY: usize = 256;
    /// What finds no place in this many lanes is drawn in the last one.
    const MOST: usize = 4096;

    fn new(processes: impl Iterator<Item = ValueId>) -> Lanes {
        let different: FxHashSet<ValueId> = processes.collect();
        Lanes { names: Vec::new(), shared: different.len() > Lanes::MANY, of: FxHashMap::default() }
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

    fn place(&mut self, context: &Context<'_>, op: &Op) -> usize {
        let owner = if self.shared { ValueId::NIL } else { op.process };
        let lanes = self.of.entry(owner).or_default();
        if let Some((lane, last)) = lanes.iter_mut().find(|(_, last)| *last < op.call) {
            *last = op.ret;
            return *lane;
        }
        if self.names.len() >= Lanes::MOST {
            return self.names.len() - 1;
        }
        let lane = self.names.len();
        self.names.push(if self.shared { String::new() } else { context.history.value(op.process).to_string() });
        lanes.push((lane, op.ret));
        lane
    }
}

/// A point in time for every operation of a linearization, strictly increasing.
fn points(context: &Context<'_>, order: &[OpId]) -> FxHashMap<OpId, f32> {
    let mut points = FxHashMap::default();
    let mut start = 0;
    let mut now = Ts(0);
    while start < order.len() {
        now = now.max(context.history.op(order[start]).call);
        let mut end = start + 1;
        while end < order.len() && context.history.op(order[end]).call <= now {
            end += 1;
        }
        for (place, id) in order[start..end].iter().enumerate() {
            points.insert(*id, now.0 as f32 + (place + 1) as f32 / (end - start + 1) as f32);
        }
        start = end;
    }
    points
}

/// The operations a page shows.
fn choose(context: &Context<'_>, clash: &FxHashSet<OpId>) -> Vec<OpId> {
    let ops = &context.history.ops;
    if ops.len() <= MOST {
        return crate::history::all_ops(ops.len());
    }
    let middle = clash.iter().map(|id| id.index()).max().unwrap_or(0);
    let from = middle.saturating_sub(MOST / 2).min(ops.len() - MOST);
    let mut chosen: Vec<OpId> =
        clash.iter().copied().filter(|id| !(from..from + MOST).contains(&id.index())).take(1000).collect();
    chosen.extend((from..from + MOST - chosen.len()).map(|at| OpId(at as u32)));
    chosen.sort_unstable();
    chosen
}
