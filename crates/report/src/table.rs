//! A table with a column per thread, one line per step, and perhaps the source beside it.
//!
//! Columns are as wide as what stands in them. If the screen is too narrow for that, they become lanes: a step starts in the lane
//! of its thread and may run on over the lanes to its right, which are empty in its line; the source is cut off with an
//! ellipsis. Only then do steps wrap. If even that is not enough (many threads), all threads share one column and every
//! line names its thread.

use crate::paper::Paper;
use crate::style::{BAD, FAINT, HEAD, Style};
use crate::text::{clean, elide, pad, width, wrap};

/// Between columns.
const GAP: usize = 2;
/// A thread's lane gets no narrower than this, ...
const LANE: usize = 11;
/// ... a step has at least this much room, ...
const NARROWEST: usize = 18;
/// ... and the source this.
const NARROWEST_SOURCE: usize = 16;
/// So much of the source comes before columns in which no step runs on, ...
const USEFUL_SOURCE: usize = 20;
/// ... so much before those in which what is wrong does not wrap much, ...
const WIDE_SOURCE: usize = 32;
/// ... and so much at most.
const WIDEST_SOURCE: usize = 60;
/// What is wrong makes a column no wider than this.
const WIDEST_FAILURE: usize = 26;
/// Marks the step that fails.
pub(crate) const MARK: &str = "✗";

/// A table before it is laid out.
#[derive(Debug)]
pub(crate) struct Table {
    /// Blanks before every line.
    pub(crate) indent: usize,
    /// The names of the threads, each with a lane.
    pub(crate) lanes: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// Whether there is a column for the source.
    pub(crate) sources: bool,
}

/// One line of a table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) label: String,
    /// Whose step it is; nobody's, if it is a note.
    pub(crate) lane: Option<usize>,
    pub(crate) words: String,
    pub(crate) style: Style,
    pub(crate) source: String,
}

impl Row {
    /// Whether it says what went wrong.
    fn fails(&self) -> bool {
        self.label == MARK
    }

    /// A remark between the steps.
    pub(crate) fn note(label: &str, words: String) -> Row {
        Row { label: label.to_owned(), lane: None, words, style: FAINT, source: String::new() }
    }

    fn label_style(&self) -> Style {
        if self.fails() { BAD } else { FAINT }
    }
}

impl Table {
    /// Writes the table.
    pub(crate) fn text(mut self, paper: &mut Paper) {
        // What is measured has to be what is shown.
        self.lanes.iter_mut().for_each(|name| *name = clean(name));
        for row in &mut self.rows {
            (row.words, row.source) = (clean(&row.words), clean(&row.source));
        }
        let labels = self.rows.iter().map(|row| width(&row.label)).max().unwrap_or(0).max(4);
        let wishes: Vec<Wish> = (0..self.lanes.len()).map(|lane| self.wish(lane)).collect();
        let source = match self.sources {
            true => self.rows.iter().map(|row| width(&row.source)).max().unwrap_or(0).max("source".len()),
            false => 0,
        };
        let total = paper.layout().width.saturating_sub(self.indent);
        match share_out(&wishes, source, total.saturating_sub(labels + GAP)) {
            Some((columns, source)) => self.in_lanes(labels, &columns, source, paper),
            None => self.in_one_column(labels, total, paper),
        }
    }

    fn wish(&self, lane: usize) -> Wish {
        let widest = |failures: bool| {
            let own = self.rows.iter().filter(|row| row.lane == Some(lane) && row.fails() == failures);
            own.map(|row| width(&row.words)).max().unwrap_or(0)
        };
        let steps = widest(false).max(width(&self.lanes[lane]));
        Wish { steps, all: widest(true).clamp(steps, steps.max(WIDEST_FAILURE)) }
    }

    fn in_lanes(&self, labels: usize, columns: &[usize], source: usize, paper: &mut Paper) {
        let (indent, gap) = (" ".repeat(self.indent), " ".repeat(GAP));
        let mut head = pad("step", labels);
        for (name, &column) in self.lanes.iter().zip(columns) {
            head = head + &gap + &pad(&elide(name, column), column);
        }
        if self.sources {
            head = head + &gap + "source";
        }
        paper.say(&indent).paint(HEAD, head.trim_end()).end();
        for row in &self.rows {
            let label = format!("{:>labels$}", row.label);
            let Some(lane) = row.lane else {
                paper.say(&indent).say(label).say(&gap).paint(row.style, &row.words).end();
                continue;
            };
            let before: usize = columns[..lane].iter().map(|column| column + GAP).sum();
            let room = span(columns, lane);
            for (number, words) in wrap(&row.words, room).iter().enumerate() {
                paper.say(&indent);
                if number == 0 {
                    paper.paint(row.label_style(), &label);
                } else {
                    paper.say(" ".repeat(labels));
                }
                paper.say(&gap).say(" ".repeat(before)).paint(row.style, words);
                if number == 0 && !row.source.is_empty() {
                    let blanks = room.saturating_sub(width(words)) + GAP;
                    paper.say(" ".repeat(blanks)).paint(FAINT, elide(&row.source, source));
                }
                paper.end();
            }
        }
    }

    /// Every line names its thread.
    fn in_one_column(&self, labels: usize, total: usize, paper: &mut Paper) {
        let (indent, gap) = (" ".repeat(self.indent), " ".repeat(GAP));
        let name = |row: &Row| row.lane.map_or("", |lane| &self.lanes[lane]);
        let names = self.rows.iter().map(|row| width(name(row))).max().unwrap_or(0).clamp(6, 18);
        let steps = self.rows.iter().filter(|row| row.lane.is_some() && !row.fails());
        let natural = steps.map(|row| width(&row.words)).max().unwrap_or(0);
        let (gaps, narrowest_source) = if self.sources { (3, NARROWEST_SOURCE) } else { (2, 0) };
        let room = total.saturating_sub(labels + names + gaps * GAP).max(NARROWEST + narrowest_source);
        let words_width = natural.max(NARROWEST).min(room - narrowest_source);
        let source_width = room - words_width;
        let mut head = pad("step", labels) + &gap + &pad("thread", names);
        if self.sources {
            head = head + &gap + &pad("", words_width) + &gap + "source";
        }
        paper.say(&indent).paint(HEAD, head.trim_end()).end();
        for row in &self.rows {
            let tag = pad(&elide(name(row), names), names);
            let limit = if row.lane.is_some() { words_width } else { room };
            for (number, words) in wrap(&row.words, limit).iter().enumerate() {
                paper.say(&indent);
                if number == 0 {
                    paper.paint(row.label_style(), format!("{:>labels$}", row.label)).say(&gap).say(&tag).say(&gap);
                } else {
                    paper.say(" ".repeat(labels + names + 2 * GAP));
                }
                paper.paint(row.style, words);
                if number == 0 && !row.source.is_empty() {
                    let blanks = words_width.saturating_sub(width(words)) + GAP;
                    paper.say(" ".repeat(blanks)).paint(FAINT, elide(&row.source, source_width));
                }
                paper.end();
            }
        }
    }
}

/// How wide a thread's column should be.
struct Wish {
    /// So that no step wraps.
    steps: usize,
    /// So that what is wrong does not wrap much either. It stands above the table already, so this comes last.
    all: usize,
}

/// Widths of the threads' columns and of the source that fit into `room`; `None` if there are too many threads.
fn share_out(wishes: &[Wish], source: usize, room: usize) -> Option<(Vec<usize>, usize)> {
    let mut columns: Vec<usize> = wishes.iter().map(|wish| wish.all.min(LANE)).collect();
    let mut source_width = source.min(NARROWEST_SOURCE);
    let used = columns.iter().map(|width| width + GAP).sum::<usize>() + source_width;
    let mut left = room.checked_sub(used)?;
    // The last lane has nobody's space to run on into; the others have, if it is wide enough.
    let last = columns.len().checked_sub(1)?;
    let overflow = |columns: &[usize]| {
        let missing = |(at, wish): (usize, &Wish)| wish.steps.saturating_sub(span(columns, at));
        wishes.iter().enumerate().map(missing).max().unwrap_or(0)
    };
    let goal = columns[last] + overflow(&columns);
    grow(&mut columns[last..], &[goal], &mut left);
    if span(&columns, last) < wishes[last].steps.min(NARROWEST) {
        return None;
    }
    let steps: Vec<usize> = wishes.iter().map(|wish| wish.steps).collect();
    let all: Vec<usize> = wishes.iter().map(|wish| wish.all).collect();
    for (source_goal, goals) in [(USEFUL_SOURCE, &steps), (WIDE_SOURCE, &all), (WIDEST_SOURCE, &all)] {
        grow(std::slice::from_mut(&mut source_width), &[source.min(source_goal)], &mut left);
        grow(&mut columns, goals, &mut left);
    }
    Some((columns, source_width))
}

/// How far a step in this column may run.
fn span(columns: &[usize], at: usize) -> usize {
    columns[at..].iter().sum::<usize>() + GAP * (columns.len() - at - 1)
}

/// Widens the columns up to their goals with what is left, all at the same pace.
fn grow(columns: &mut [usize], goals: &[usize], left: &mut usize) {
    while *left > 0 && columns.iter().zip(goals).any(|(width, goal)| width < goal) {
        for (width, goal) in columns.iter_mut().zip(goals) {
            if *width < *goal && *left > 0 {
                *width += 1;
                *left -= 1;
            }
        }
    }
}
