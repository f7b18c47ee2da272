//! Turns of a loop that look alike, as one line.
//!
//! A loop that fills an array makes as many lines as it has elements. Lines that repeat, with other numbers in them, are left out but for the first and the last turn: as many lines in a
//! row, of the same threads and the same places of the source, with the same words apart from numbers. A turn that another line refers to (`x → 1 (T1 step 27)`, or a note under the table) is
//! shown, so that whoever reads finds the step. The longest turn that is looked for has [`LONGEST`] lines; the cost is that times the number of lines.

use crate::numbers::counted;
use crate::table::Row;
use crate::wording::HARD_BLANK;
use std::collections::BTreeSet;

/// The most lines of one turn.
const LONGEST: usize = 16;
/// So many turns are shown however alike they look.
const SHORT: usize = 4;
/// Fewer lines than this are not worth a remark.
const FEW: usize = 6;

/// Leaves out turns. The sentences are what stands elsewhere about the run.
pub(crate) fn fold(rows: &mut Vec<Row>, sentences: &[String]) {
    let shapes: Vec<Shape> = rows.iter().map(Shape::of).collect();
    let mut folded = Vec::with_capacity(rows.len());
    let mut at = 0;
    while at < rows.len() {
        let Some((period, turns)) = repetition(&shapes, at) else {
            folded.push(at..at + 1);
            at += 1;
            continue;
        };
        // Who is referred to from outside of the turns is shown, and its turn with it.
        let end = at + period * turns;
        let outside = rows[..at].iter().chain(&rows[end..]).map(|row| row.words.as_str());
        let wanted = mentioned(outside.chain(sentences.iter().map(String::as_str)));
        let shown = |turn: usize| {
            let lines = at + turn * period..at + (turn + 1) * period;
            turn == 0
                || turn + 1 == turns
                || rows[lines].iter().any(|row| row.label.parse().is_ok_and(|label: usize| wanted.contains(&label)))
        };
        let mut turn = 0;
        while turn < turns {
            let next = (turn..turns).find(|&turn| shown(turn)).unwrap_or(turns);
            let hidden = at + turn * period..at + next * period;
            if hidden.len() >= FEW || hidden.is_empty() {
                folded.push(hidden);
            } else {
                folded.extend(hidden.map(|line| line..line + 1));
            }
            if next < turns {
                folded.extend((at + next * period..at + (next + 1) * period).map(|line| line..line + 1));
            }
            turn = next + 1;
        }
        at = end;
    }
    let mut kept = Vec::with_capacity(folded.len());
    let mut lines: Vec<Option<Row>> = std::mem::take(rows).into_iter().map(Some).collect();
    for range in folded {
        match range.len() {
            0 => {}
            1 => kept.extend(lines[range.start].take()),
            many => kept.push(Row::note("", format!("… {} like these", counted(many as u64, "line")))),
        }
    }
    *rows = kept;
}

/// What lines of different turns have in common.
#[derive(PartialEq, Eq)]
struct Shape {
    lane: Option<usize>,
    source: String,
    words: String,
    /// A line without a number is printed text or a remark.
    step: bool,
}

impl Shape {
    fn of(row: &Row) -> Shape {
        let mut words = String::new();
        let mut digits = false;
        for c in row.words.chars() {
            if c.is_ascii_digit() {
                if !digits {
                    words.push('0');
                }
                digits = true;
            } else {
                digits = false;
                words.push(c);
            }
        }
        let step = row.label.parse::<usize>().is_ok();
        Shape { lane: row.lane, source: row.source.clone(), words, step }
    }
}

/// How many lines a turn has that begins here and comes again, and how many turns there are: those that leave out most.
fn repetition(shapes: &[Shape], at: usize) -> Option<(usize, usize)> {
    let mut best = None;
    for period in 1..=LONGEST.min((shapes.len() - at) / (SHORT + 1)) {
        let same = shapes[at + period..].iter().zip(&shapes[at..]).take_while(|(a, b)| a == b).count();
        let turns = same / period + 1;
        let lines = period * turns;
        let is_step = shapes[at].step && shapes[at].lane.is_some();
        if turns > SHORT && is_step && best.is_none_or(|(_, _, most)| lines > most) {
            best = Some((period, turns, lines));
        }
    }
    best.map(|(period, turns, _)| (period, turns))
}

/// The numbers of the steps that these texts refer to.
fn mentioned<'t>(texts: impl Iterator<Item = &'t str>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for text in texts {
        for (at, word) in text.match_indices("step") {
            let Some(rest) = text[at + word.len()..].strip_prefix([' ', HARD_BLANK]) else { continue };
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            found.extend(digits.parse::<usize>());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::PLAIN;

    fn rows(texts: &[&str]) -> Vec<Row> {
        let row = |(at, text): (usize, &&str)| Row {
            label: (at + 1).to_string(),
            lane: Some(0),
            words: (*text).to_owned(),
            style: PLAIN,
            source: String::new(),
        };
        texts.iter().enumerate().map(row).collect()
    }

    fn shown(texts: &[&str], sentences: &[&str]) -> Vec<String> {
        let mut rows = rows(texts);
        fold(&mut rows, &sentences.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        rows.into_iter().map(|row| if row.label.is_empty() { row.words } else { row.label }).collect()
    }

    const TURNS: [&str; 16] = [
        "start", "a[0] = 1", "x → 0", "a[1] = 2", "x → 0", "a[2] = 3", "x → 0", "a[3] = 4", "x → 0", "a[4] = 5",
        "x → 0", "a[5] = 6", "x → 0", "a[6] = 7", "x → 0", "end",
    ];

    #[test]
    fn the_first_and_the_last_turn_are_shown() {
        assert_eq!(shown(&TURNS, &[]), ["1", "2", "3", "… 10 lines like these", "14", "15", "16"]);
    }

    #[test]
    fn what_is_referred_to_is_shown() {
        let with = ["T1 step 10 (line 3) writes a[4]"];
        assert_eq!(
            shown(&TURNS, &with),
            ["1", "2", "3", "… 6 lines like these", "10", "11", "12", "13", "14", "15", "16"]
        );
        let mut last = TURNS;
        last[15] = "a[1] → 2 (T1\u{a0}step\u{a0}4)";
        assert_eq!(shown(&last, &[]), ["1", "2", "3", "4", "5", "… 8 lines like these", "14", "15", "16"]);
    }

    #[test]
    fn short_runs_stay_whole() {
        let few = ["x = 1", "x = 2", "x = 3", "x = 4", "y = 1"];
        assert_eq!(shown(&few, &[]), ["1", "2", "3", "4", "5"]);
        assert_eq!(shown(&[], &[]), Vec::<String>::new());
    }
}
