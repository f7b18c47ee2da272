//! The graph of a run as a drawing: a column per thread, a row per step, so that time goes down; program order straight, everything else as curves beside it.
//!
//! No layout is searched for: events stand where the table has them. A curve leaves a box on the side of its goal and is moved a little by its relation, so that two of the same events can be told apart.

use super::{Moment, heading};
use crate::html::element;
use crate::relations::{End, Relation, Relations};
use crate::text::{clean, elide, width};
use raddle_trace::execution::Entry;
use raddle_trace::{Action, EventName, Execution, ThreadName};
use std::collections::HashMap;
use std::fmt::Write;

const ROW: usize = 46;
const BOX: usize = 34;
const GAP: usize = 96;
const HEAD: usize = 26;
/// The longest label of a box, in letters; what is wrong stands above and in the table already.
const LABEL: usize = 44;
const WRONG: usize = 26;

/// A box of the drawing.
struct Placed {
    x: usize,
    y: usize,
    width: usize,
    /// The step it belongs to; initial values belong to none.
    at: Option<usize>,
}

pub(super) fn svg(execution: &Execution, moments: &[Moment<'_>], threads: &[ThreadName]) -> String {
    let relations = Relations::of(execution);
    let column = |thread: ThreadName| threads.binary_search(&thread).ok();
    let label = |moment: &Moment<'_>| {
        elide(&clean(&format!("{} {}", moment.label, moment.words)), if moment.wrong { WRONG } else { LABEL })
    };
    let mut widths: Vec<usize> =
        threads.iter().map(|&thread| room(&elide(&heading(execution, thread), LABEL))).collect();
    for moment in moments.iter().filter(|moment| drawn(moment)) {
        if let Some(column) = moment.thread.and_then(column) {
            widths[column] = widths[column].max(room(&label(moment))).max(room(&below(moment)));
        }
    }
    // Initial values have a column of their own, if any was read.
    let names: Vec<String> = relations.initial.iter().map(|name| elide(&clean(name), LABEL)).collect();
    let initial = names.iter().map(|name| room(name).max(room(INITIAL))).max().unwrap_or(0);
    let mut left = vec![if initial > 0 { 20 + initial + GAP } else { 20 }];
    for (column, width) in widths.iter().enumerate() {
        left.push(left[column] + width + GAP);
    }
    let mut places: HashMap<End, Placed> = HashMap::new();
    let (mut boxes, mut lines) = (String::new(), String::new());
    for (number, name) in names.iter().enumerate() {
        let place = Placed { x: 20, y: HEAD + number * ROW, width: initial, at: None };
        draw(&mut boxes, &place, "initial", name, INITIAL);
        places.insert(End::Initial(number), place);
    }
    let mut row = 0;
    let mut last: Vec<Option<(usize, usize)>> = vec![None; threads.len()];
    for (at, moment) in moments.iter().enumerate().filter(|(_, moment)| drawn(moment)) {
        let Some(column) = moment.thread.and_then(column) else { continue };
        let place = Placed { x: left[column], y: HEAD + row * ROW, width: widths[column], at: Some(at) };
        row += 1;
        draw(&mut boxes, &place, if moment.wrong { "wrong" } else { "step" }, &label(moment), &below(moment));
        let x = place.x + 14;
        if let Some((above, from)) = last[column].replace((place.y + BOX, at)) {
            straight(&mut lines, (x, above), (x, place.y), (from, at), "po");
        }
        if let Some(end) = end(moment) {
            places.insert(end, place);
        }
    }
    starts_and_ends(&mut lines, execution, &places);
    for (from, to, relation) in &relations.edges {
        // The initial value is the first one of its location, which need not be drawn.
        let first = matches!(from, End::Initial(_)) && *relation == Relation::Coherence;
        if let (Some(from), Some(to), false) = (places.get(from), places.get(to), first) {
            curve(&mut lines, from, to, *relation);
        }
    }
    let heads: String = threads
        .iter()
        .zip(&left)
        .map(|(&thread, x)| {
            format!(
                "<text class=\"head\" x=\"{x}\" y=\"16\">{}</text>\n",
                element(&elide(&heading(execution, thread), LABEL))
            )
        })
        .collect();
    let (wide, high) = (left[threads.len()], HEAD + row.max(names.len()) * ROW + 10);
    format!(
        "<svg width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\">\n{}{heads}{lines}{boxes}</svg>\n",
        arrows()
    )
}

/// One arrow head per relation, in its colour.
fn arrows() -> String {
    let heads = ["po", "rf", "fr", "co", "sw", "hb", "race"].map(|class| {
        format!(
            "<marker id=\"a-{class}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"9\" \
             orient=\"auto\"><path class=\"{class}\" d=\"M0 0 8 4 0 8z\"/></marker>\n"
        )
    });
    format!("<defs>\n{}</defs>\n", heads.concat())
}

const INITIAL: &str = "initial";

/// How wide a box with this label is.
fn room(label: &str) -> usize {
    width(label) * 37 / 5 + 18
}

/// What stands below the label of a step, in small letters.
fn below(moment: &Moment<'_>) -> String {
    let line = moment.place.filter(|place| place.line > 0).map(|place| format!("line {}", place.line));
    let words: Vec<String> = line.into_iter().chain(moment.order.map(str::to_owned)).collect();
    words.join(" · ")
}

/// Flushes are in the table only: an event is drawn once.
fn drawn(moment: &Moment<'_>) -> bool {
    !matches!(moment.entry, Some(Entry::Flush { .. }))
}

fn end(moment: &Moment<'_>) -> Option<End> {
    match moment.entry? {
        Entry::Event { event, .. } => Some(End::Event(event.id)),
        Entry::Failure { thread, .. } => thread.map(End::Failure),
        Entry::Flush { .. } => None,
    }
}

fn draw(out: &mut String, place: &Placed, class: &str, label: &str, small: &str) {
    let Placed { x, y, width, .. } = place;
    let at = place.at.map_or_else(String::new, |at| format!(" data-at=\"{at}\""));
    writeln!(
        out,
        "<g class=\"node {class}\"{at}><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX}\" rx=\"5\"/>\
         <text x=\"{}\" y=\"{}\">{}</text><text class=\"small\" x=\"{}\" y=\"{}\">{}</text></g>",
        x + 8,
        y + 15,
        element(label),
        x + 8,
        y + 28,
        element(small)
    )
    .expect("a string takes everything");
}

fn straight(out: &mut String, from: (usize, usize), to: (usize, usize), steps: (usize, usize), class: &str) {
    writeln!(
        out,
        "<path class=\"edge {class}\" data-at=\"{}\" d=\"M{} {} L{} {}\" marker-end=\"url(#a-po)\"/>",
        steps.0.max(steps.1),
        from.0,
        from.1,
        to.0,
        to.1
    )
    .expect("a string takes everything");
}

fn starts_and_ends(out: &mut String, execution: &Execution, places: &HashMap<End, Placed>) {
    let mut bounds: HashMap<ThreadName, (EventName, EventName)> = HashMap::new();
    for event in execution.events() {
        bounds.entry(event.id.thread).or_insert((event.id, event.id)).1 = event.id;
    }
    for event in execution.events() {
        let ends = match event.action {
            Action::Spawn { child, .. } | Action::Post { message: child, .. } => {
                bounds.get(&child).map(|&(first, _)| (event.id, first))
            }
            Action::Join { child } => bounds.get(&child).map(|&(_, last)| (last, event.id)),
            _ => None,
        };
        let placed = ends.and_then(|(from, to)| Some((places.get(&End::Event(from))?, places.get(&End::Event(to))?)));
        if let Some((from, to)) = placed {
            let side = |one: &Placed, other: &Placed| if one.x < other.x { one.x + one.width } else { one.x };
            let ends = ((side(from, to), from.y + BOX / 2), (side(to, from), to.y + BOX / 2));
            straight(out, ends.0, ends.1, (from.at.unwrap_or(0), to.at.unwrap_or(0)), "start");
        }
    }
}

fn curve(out: &mut String, from: &Placed, to: &Placed, relation: Relation) {
    let (class, number) = match relation {
        Relation::ReadsFrom | Relation::ReadsAndSynchronises => ("rf", 0),
        Relation::Coherence => ("co", 1),
        Relation::FromRead => ("fr", 2),
        Relation::Synchronises => ("sw", 3),
        Relation::HappensBefore => ("hb", 4),
        Relation::Race => ("race", 5),
    };
    let shift = 5 + number * 5;
    let (start, goal) = (from.y + shift, to.y + shift);
    // Columns never overlap, so one lies left of the other or they are one.
    let (x, u, bend) = if from.x < to.x {
        (from.x + from.width, to.x, [from.x + from.width + GAP / 2, to.x - GAP / 2])
    } else if from.x > to.x {
        (from.x, to.x + to.width, [from.x - GAP / 2, to.x + to.width + GAP / 2])
    } else {
        let right = from.x + from.width;
        (right, to.x + to.width, [right + 24 + number * 9; 2])
    };
    let at = from.at.unwrap_or(0).max(to.at.unwrap_or(0));
    let middle = ((x + 3 * bend[0] + 3 * bend[1] + u) / 8, start.midpoint(goal));
    writeln!(
        out,
        "<path class=\"edge {class}\" data-at=\"{at}\" d=\"M{x} {start} C{} {start} {} {goal} {u} {goal}\" marker-end=\"url(#a-{class})\"/>\
         <text class=\"name {class}\" data-at=\"{at}\" x=\"{}\" y=\"{}\">{}</text>",
        bend[0], bend[1], middle.0, middle.1, relation.name()
    )
    .expect("a string takes everything");
}
