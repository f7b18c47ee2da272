//! A run as a message chart: a lane per core, time downwards, an arrow where a value gets from one core to another.

use super::{Memsys, Step, StepKind};
use crate::paper::Paper;
use crate::style::{FAINT, FLUSHED, HEAD};
use crate::text::{clean, elide, pad, width};

/// Between lanes.
const GAP: usize = 3;

impl Memsys {
    pub(super) fn chart(&self, steps: &[Step], paper: &mut Paper) {
        let lanes: Vec<String> = self.cores.iter().map(|name| clean(name)).collect();
        let words: Vec<String> = steps.iter().map(own).collect();
        let widest = words.iter().chain(&lanes).map(|words| width(words)).max().unwrap_or(0);
        let lane = widest.max(8) + GAP;
        let mut head = pad("step", 6);
        lanes.iter().for_each(|name| head += &pad(name, lane));
        paper.say("  ").paint(HEAD, head.trim_end()).end();
        let room = paper.layout().width.saturating_sub(8 + lane * lanes.len());
        let mut last_rule: Option<&str> = None;
        for (number, (step, words)) in steps.iter().zip(&words).enumerate() {
            paper.say(format!("  {:>4}  ", number + 1));
            match &step.kind {
                StepKind::Write { core, .. } | StepKind::Read { core, .. } => {
                    let before = " ".repeat(core * lane);
                    paper.say(&before).say(pad(words, lane * (lanes.len() - core)));
                }
                StepKind::Move { write: Some(write), between: Some((from, to)) } => {
                    let (left, right) = (*from.min(to), *from.max(to));
                    let cells = (right - left) * lane;
                    paper.say(" ".repeat(left * lane));
                    paper.paint(FLUSHED, arrow(write, cells, from < to));
                    paper.say(" ".repeat((lanes.len() - right) * lane));
                }
                StepKind::Move { .. } | StepKind::Idle => {
                    paper.say(" ".repeat(lane * lanes.len()));
                }
            }
            // A rule is named where it begins.
            let rule = step.rule.as_deref().filter(|rule| last_rule != Some(rule));
            last_rule = step.rule.as_deref();
            let what = match (rule, &step.kind) {
                (Some(rule), StepKind::Idle) => rule.to_owned(),
                (Some(rule), _) => format!("{rule}: {}", step.words),
                (None, _) => step.words.clone(),
            };
            if room >= 16 {
                paper.paint(FAINT, elide(&clean(&what), room));
            }
            paper.end();
        }
    }
}

/// What stands in the lane of a core.
fn own(step: &Step) -> String {
    match &step.kind {
        StepKind::Write { location, write, .. } => clean(&format!("write {location} ({write})")),
        StepKind::Read { location, source, .. } => {
            clean(&format!("read {location} = {}", source.as_deref().unwrap_or("initial")))
        }
        StepKind::Move { .. } | StepKind::Idle => String::new(),
    }
}

/// `── w1 ───▶` in so many cells.
fn arrow(label: &str, cells: usize, rightwards: bool) -> String {
    let dashes = cells.saturating_sub(width(label) + 3);
    let (before, after) = (dashes / 2, dashes - dashes / 2);
    let (before, after) = ("─".repeat(before), "─".repeat(after));
    if rightwards { format!("{before} {label} {after}▶") } else { format!("◀{before} {label} {after}") }
}
