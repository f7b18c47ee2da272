//! A run as a table: one column per thread, one line per step, the source beside it.
//!
//! What happens before the first thread is started is mostly preparation; if it is long it is left out, and so are turns of a loop that look alike and the
//! middle of a very long run, unless the whole is asked for.

use crate::fold::fold;
use crate::numbers::counted;
use crate::paper::Paper;
use crate::style::{BAD, BUFFERED, FAINT, FLUSHED, PLAIN};
use crate::table::{MARK, Row, Table};
use crate::unordered;
use crate::wording::Wording;
use raddle_trace::execution::Entry;
use raddle_trace::{Action, Execution, Place, ThreadName, Waiting};

/// So many steps before the first spawn are shown.
const PREPARATION: usize = 8;
/// So many lines are shown of a long run, ...
const LINES: usize = 300;
/// ... of them so many from its beginning.
const FIRST_LINES: usize = 50;

/// Writes the table of a run. `waiting` says what threads wait for at its end, if that is what is wrong.
pub(crate) fn table(execution: &Execution, waiting: &[Waiting], paper: &mut Paper) {
    let names = names(execution, waiting);
    let rows = rows(execution, waiting, &names, paper.layout().full);
    lay_out(execution, &names, rows, paper);
}

/// Writes the table of a run that goes on for ever: what comes behind the first `stem` steps comes again and again.
pub(crate) fn lasso(execution: &Execution, stem: usize, paper: &mut Paper) {
    let names = names(execution, &[]);
    let mut rows = rows(execution, &[], &names, paper.layout().full);
    let first = Wording::new(execution).number(stem);
    // The line itself may have been left out.
    let begins = |row: &Row| row.label.parse::<usize>().is_ok_and(|number| number >= first);
    let at = rows.iter().position(begins).unwrap_or(rows.len());
    rows.insert(at, Row::note("", "for ever:".into()));
    rows.push(Row::note("", format!("again from step {first}")));
    lay_out(execution, &names, rows, paper);
}

fn lay_out(execution: &Execution, names: &[ThreadName], mut rows: Vec<Row>, paper: &mut Paper) {
    // Who does nothing that is shown has no column.
    let mut shown: Vec<usize> = rows.iter().filter_map(|row| row.lane).collect();
    shown.sort_unstable();
    shown.dedup();
    for row in &mut rows {
        row.lane = row.lane.and_then(|lane| shown.binary_search(&lane).ok());
    }
    let name = |&lane: &usize| match execution.function(names[lane]) {
        Some(function) => format!("{} {function}", names[lane]),
        None => names[lane].to_string(),
    };
    Table { indent: 0, lanes: shown.iter().map(name).collect(), rows, sources: true }.text(paper);
}

/// The threads that a run is about, in order.
fn names(execution: &Execution, waiting: &[Waiting]) -> Vec<ThreadName> {
    let steps = execution.steps.iter().filter_map(|entry| match entry {
        Entry::Event { event, .. } => Some(event.id.thread),
        Entry::Flush { write, .. } => Some(write.thread),
        Entry::Failure { thread, .. } => *thread,
    });
    let mut names: Vec<ThreadName> = steps.chain(waiting.iter().map(|wait| wait.thread)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The lines of the table, with what is left out already left out. Lanes are places among the names.
fn rows(execution: &Execution, waiting: &[Waiting], names: &[ThreadName], full: bool) -> Vec<Row> {
    let wording = Wording::new(execution);
    let sources = SourceColumn::new(execution, waiting);
    let lane = |thread: ThreadName| names.binary_search(&thread).ok();
    let mut rows = Vec::new();
    for (at, entry) in execution.steps.iter().enumerate() {
        let label = wording.number(at).to_string();
        let words = wording.step(entry);
        match entry {
            Entry::Event { event, buffered, printed } => {
                let style = if *buffered { BUFFERED } else { PLAIN };
                let lane = lane(event.id.thread);
                rows.push(Row { label, lane, words, style, source: sources.show(&event.place) });
                for line in printed {
                    let words = format!("prints {}", line.trim_end());
                    rows.push(Row { label: String::new(), lane, words, style: FAINT, source: String::new() });
                }
            }
            Entry::Flush { write, .. } => {
                rows.push(Row { label, lane: lane(write.thread), words, style: FLUSHED, source: String::new() });
            }
            Entry::Failure { .. } if !waiting.is_empty() => {}
            Entry::Failure { thread, place, .. } => {
                let source = sources.show(place);
                rows.push(Row { label: MARK.into(), lane: thread.and_then(lane), words, style: BAD, source });
            }
        }
    }
    if !full {
        leave_out_preparation(execution, &mut rows);
        fold(&mut rows, &unordered::sentences(execution));
        leave_out_middle(&mut rows);
    }
    for wait in waiting {
        let words = format!("waits for {}", wait.what);
        let source = sources.show(&wait.place);
        rows.push(Row { label: MARK.into(), lane: lane(wait.thread), words, style: BAD, source });
    }
    rows
}

fn leave_out_preparation(execution: &Execution, rows: &mut Vec<Row>) {
    let spawns = |entry: &Entry| matches!(entry, Entry::Event { event, .. } if matches!(event.action, Action::Spawn { .. } | Action::Post { .. }));
    let Some(first) = execution.steps.iter().position(spawns) else { return };
    if first > PREPARATION {
        let label = Wording::new(execution).number(first).to_string();
        let rows_before = rows.iter().position(|row| row.label == label).unwrap_or(0);
        let words = format!("… {} before the first thread is started", counted(first as u64, "step"));
        rows.splice(..rows_before, [Row::note("", words)]);
    }
}

fn leave_out_middle(rows: &mut Vec<Row>) {
    if rows.len() > LINES {
        let end = rows.len() - (LINES - FIRST_LINES);
        let words = format!("… {} left out", counted((end - FIRST_LINES) as u64, "line"));
        rows.splice(FIRST_LINES..end, [Row::note("", words)]);
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
        let (line, text) = (place.line, &place.text);
        if self.several {
            let file = place.file.rsplit('/').next().unwrap_or(&place.file);
            format!("{file}:{line} {text}")
        } else {
            format!("{line:>digits$} {text}", digits = self.digits)
        }
    }
}
