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
use crate::history::{OpId, Ts};
use crate::value::ValueId;
use crate::verdict::Verdict;

/// The most operations a page shows.
pub const MOST: usize = 50_000;

const PAGE: &str = include_str!("timeline.html");

/// Text that may stand inside an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// JSON that may stand inside a script.
fn script(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
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
    let mut lanes: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut names: Vec<String> = Vec::new();
    let mut bars = Vec::with_capacity(chosen.len());
    for id in chosen {
        let op = history.op(id);
        let lane = *lanes.entry(op.process).or_insert_with(|| {
            names.push(history.value(op.process).to_string());
            names.len() - 1
        });
        let end = if op.is_pending() {
            -1
        } else {
            i64::from(op.ret.0)
        };
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
            let _ = write!(
                text,
                " The {} marked operations cannot be ordered.",
                clash.len()
            );
            if let Some(earliest) = explanation.earliest {
                let Ts(event) = earliest.event;
                let _ = write!(text, " The history is wrong from event {event} on.");
            }
        }
    }
    if left_out > 0 {
        let _ = write!(
            text,
            " {left_out} of {} operations are not shown.",
            history.ops.len()
        );
    }
    let wrong_from = match &context.report.verdict {
        Verdict::Violated(explanation) => explanation.earliest.map(|earliest| earliest.event.0),
        _ => None,
    };
    PAGE.replace("@TITLE@", &escaped(&title))
        .replace("@TEXT@", &escaped(&text))
        .replace("@WRONG@", &script(&wrong_from))
        .replace("@LANES@", &script(&names))
        .replace("@BARS@", &script(&bars))
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
            points.insert(
                *id,
                now.0 as f32 + (place + 1) as f32 / (end - start + 1) as f32,
            );
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
    let mut chosen: Vec<OpId> = clash
        .iter()
        .copied()
        .filter(|id| !(from..from + MOST).contains(&id.index()))
        .take(1000)
        .collect();
    chosen.extend((from..from + MOST - chosen.len()).map(|at| OpId(at as u32)));
    chosen.sort_unstable();
    chosen
}
