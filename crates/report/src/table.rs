//! A run as a table: one column per thread, one line per step, the source beside it.
//!
//! Columns are as wide as what stands in them. If the screen is too narrow for that, they become lanes: a step starts in the lane
//! of its thread and may run on over the lanes to its right, which are empty in its line; the source is cut off with an
//! ellipsis. Only then do steps wrap. If even that is not enough (many threads), all threads share one column and every
//! line names its thread. What happens before the first thread is started is mostly preparation; if it is
//! long it is left out, and so is the middle of a very long run, unless the whole is asked for.

use crate::answer::Waiting;
use crate::numbers::counted;
use crate::style::{BAD, BUFFERED, FAINT, FLUSHED, HEAD, PLAIN, paint};
use crate::text::{clean, elide, pad, width, wrap};
use crate::wording::Wording;
use anstyle::Style;
use raddle_trace::execution::Entry;
use raddle_trace::{Action, Execution, Place, ThreadName};

/// How to lay out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Cells in a line of the terminal.
    pub width: usize,
    /// Leave nothing out.
    pub full: bool,
}

/// So many steps before the first spawn are shown.
const PREPARATION: usize = 8;
/// So many lines are shown of a long run, ...
const LINES: usize = 300;
/// ... of them so many from its beginning.
const FIRST_LINES: usize = 50;
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
const MARK: &str = "✗";

/// One line of the table, before it is laid out.
#[derive(Debug)]
struct Row {
    label: String,
    thread: Option<ThreadName>,
    words: String,
    style: Style,
    source: String,
}

/// The table of a run. `waiting` says what threads wait for at its end, if that is what is wrong.
pub fn table(execution: &Execution, waiting: &[Waiting], layout: Layout) -> String {
    let rows = rows(execution, waiting, layout.full);
    let mut threads: Vec<ThreadName> = rows.iter().filter_map(|row| row.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let names: Vec<String> = threads.iter().map(|&thread| thread_name(execution, thread)).collect();
    let labels = rows.iter().map(|row| width(&row.label)).max().unwrap_or(0).max(4);
    let source = rows.iter().map(|row| width(&row.source)).max().unwrap_or(0).max("source".len());

    let columns: Vec<Wish> = threads
        .iter()
        .zip(&names)
        .map(|(&thread, name)| {
            let widest = |failures: bool| {
                let own = rows.iter().filter(|row| row.thread == Some(thread) && row.fails() == failures);
                own.map(|row| width(&row.words)).max().unwrap_or(0)
            };
            let steps = widest(false).max(width(name));
            Wish { steps, all: widest(true).clamp(steps, steps.max(WIDEST_FAILURE)) }
        })
        .collect();
    let room = layout.width.saturating_sub(labels + GAP);
    match share_out(&columns, source, room) {
        Some((columns, source)) => Table { labels, columns, source, threads: &threads }.render(&names, &rows),
        None => one_column(execution, &rows, labels, layout.width),
    }
}

fn thread_name(execution: &Execution, thread: ThreadName) -> String {
    match execution.function(thread) {
        Some(function) => clean(&format!("{thread} {function}")),
        None => thread.to_string(),
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

/// The lines of the table, with what is left out already left out.
fn rows(execution: &Execution, waiting: &[Waiting], full: bool) -> Vec<Row> {
    let wording = Wording::new(execution);
    let sources = SourceColumn::new(execution, waiting);
    let mut rows = Vec::new();
    for (at, entry) in execution.steps.iter().enumerate() {
        let label = wording.number(at).to_string();
        let words = wording.step(entry);
        match entry {
            Entry::Event { event, buffered, printed } => {
                let style = if *buffered { BUFFERED } else { PLAIN };
                let thread = Some(event.id.thread);
                rows.push(Row { label, thread, words, style, source: sources.show(&event.place) });
                for line in printed {
                    let words = format!("prints {}", clean(line.trim_end()));
                    rows.push(Row { label: String::new(), thread, words, style: FAINT, source: String::new() });
                }
            }
            Entry::Flush { write, .. } => {
                let thread = Some(write.thread);
                rows.push(Row { label, thread, words, style: FLUSHED, source: String::new() });
            }
            Entry::Failure { .. } if !waiting.is_empty() => {}
            Entry::Failure { thread, place, .. } => {
                let source = sources.show(place);
                rows.push(Row { label: MARK.into(), thread: *thread, words, style: BAD, source });
            }
        }
    }
    if !full {
        leave_out_preparation(execution, &mut rows);
        leave_out_middle(&mut rows);
    }
    for wait in waiting {
        let words = clean(&format!("waits for {}", wait.what));
        let source = sources.show(&wait.place);
        rows.push(Row { label: MARK.into(), thread: Some(wait.thread), words, style: BAD, source });
    }
    rows
}

fn leave_out_preparation(execution: &Execution, rows: &mut Vec<Row>) {
    let spawns =
        |entry: &Entry| matches!(entry, Entry::Event { event, .. } if matches!(event.action, Action::Spawn { .. }));
    let Some(first) = execution.steps.iter().position(spawns) else { return };
    if first > PREPARATION {
        let label = Wording::new(execution).number(first).to_string();
        let rows_before = rows.iter().position(|row| row.label == label).unwrap_or(0);
        let words = format!("… {} before the first thread is started", counted(first as u64, "step"));
        rows.splice(..rows_before, [Row::note(words)]);
    }
}

fn leave_out_middle(rows: &mut Vec<Row>) {
    if rows.len() > LINES {
        let end = rows.len() - (LINES - FIRST_LINES);
        let words = format!("… {} left out", counted((end - FIRST_LINES) as u64, "line"));
        rows.splice(FIRST_LINES..end, [Row::note(words)]);
    }
}

impl Row {
    /// Whether it says what went wrong.
    fn fails(&self) -> bool {
        self.label == MARK
    }

    fn note(words: String) -> Row {
        Row { label: String::new(), thread: None, words, style: FAINT, source: String::new() }
    }
}

/// The source line of a step; with the file's name if the run visits several files.
struct SourceColumn {
    digits: usize,
    several: bool,
}

impl SourceColumn {
    fn new(execution: &Execution, waiting: &[Waiting]) -> Self {
        let events = execution.steps.iter().filter_map(|entry| match entry {
            Entry::Event { event, .. } => Some(&event.place),
            Entry::Failure { place, .. } => Some(place),
            Entry::Flush { .. } => None,
        });
        let places: Vec<&Place> =
            events.chain(waiting.iter().map(|wait| &wait.place)).filter(|place| place.line > 0).collect();
        SourceColumn {
            digits: places.iter().map(|place| place.line.to_string().len()).max().unwrap_or(1),
            several: places.windows(2).any(|pair| pair[0].file != pair[1].file),
        }
    }

    fn show(&self, place: &Place) -> String {
        if place.line == 0 {
            return String::new();
        }
        let (line, text) = (place.line, clean(&place.text));
        if self.several {
            let file = place.file.rsplit('/').next().unwrap_or(&place.file);
            format!("{}:{line} {text}", clean(file))
        } else {
            format!("{line:>digits$} {text}", digits = self.digits)
        }
    }
}

/// The table with a column per thread.
struct Table<'a> {
    labels: usize,
    columns: Vec<usize>,
    source: usize,
    threads: &'a [ThreadName],
}

impl Table<'_> {
    fn render(&self, names: &[String], rows: &[Row]) -> String {
        let gap = " ".repeat(GAP);
        let mut out = String::new();
        let mut line = pad("step", self.labels);
        for (name, &column) in names.iter().zip(&self.columns) {
            line += &gap;
            line += &pad(&elide(name, column), column);
        }
        line += &gap;
        line += "source";
        push_line(&mut out, &paint(HEAD, line.trim_end()));

        for row in rows {
            let label = format!("{:>labels$}", row.label, labels = self.labels);
            let Some(at) = self.threads.iter().position(|&thread| row.thread == Some(thread)) else {
                push_line(&mut out, &format!("{label}{gap}{}", paint(row.style, &row.words)));
                continue;
            };
            let before: usize = self.columns[..at].iter().map(|column| column + GAP).sum();
            let room = span(&self.columns, at);
            for (number, words) in wrap(&row.words, room).iter().enumerate() {
                let first = number == 0;
                let label = if first { paint(label_style(row), &label) } else { " ".repeat(self.labels) };
                let cell = paint(row.style, words);
                let mut line = format!("{label}{gap}{}{cell}", " ".repeat(before));
                if first && !row.source.is_empty() {
                    line += &" ".repeat(room.saturating_sub(width(words)) + GAP);
                    line += &paint(FAINT, elide(&row.source, self.source));
                }
                push_line(&mut out, &line);
            }
        }
        out
    }
}

/// The table in which every line names its thread.
fn one_column(execution: &Execution, rows: &[Row], labels: usize, total: usize) -> String {
    let gap = " ".repeat(GAP);
    let name = |row: &Row| row.thread.map_or_else(String::new, |thread| thread_name(execution, thread));
    let names = rows.iter().map(|row| width(&name(row))).max().unwrap_or(0).clamp(6, 18);
    let natural = rows
        .iter()
        .filter(|row| row.thread.is_some() && row.label != MARK)
        .map(|row| width(&row.words))
        .max()
        .unwrap_or(0);
    let room = total.saturating_sub(labels + names + 3 * GAP).max(NARROWEST + NARROWEST_SOURCE);
    let words_width = natural.max(NARROWEST).min(room - NARROWEST_SOURCE);
    let source_width = room - words_width;
    let mut out = String::new();
    let head = format!("{}{gap}{}{gap}{}{gap}source", pad("step", labels), pad("thread", names), pad("", words_width));
    push_line(&mut out, &paint(HEAD, head));
    for row in rows {
        let label = format!("{:>labels$}", row.label);
        let tag = pad(&elide(&name(row), names), names);
        for (number, words) in
            wrap(&row.words, if row.thread.is_some() { words_width } else { room }).iter().enumerate()
        {
            let mut line = if number == 0 {
                format!("{}{gap}{tag}{gap}", paint(label_style(row), &label))
            } else {
                " ".repeat(labels + names + 2 * GAP)
            };
            line += &paint(row.style, words);
            if number == 0 && !row.source.is_empty() {
                line += &" ".repeat(words_width.saturating_sub(width(words)) + GAP);
                line += &paint(FAINT, elide(&row.source, source_width));
            }
            push_line(&mut out, &line);
        }
    }
    out
}

fn label_style(row: &Row) -> Style {
    if row.fails() { BAD } else { FAINT }
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}
