//! A run on one page: its steps, its source and its graph side by side, to be walked through with the arrow keys.
//!
//! Everything is in the page as elements that were set here, so it can be read, searched and printed without its script; the script marks where one is, and fades what comes
//! later. What came from an input is quoted by [`element`] wherever it is set; attributes hold numbers and words of our own only.
//!
//! A page holds at most [`MOST`] steps, the last ones, and says when it leaves some out; of long files it shows the lines around those that ran.

mod graph;
mod listing;

use crate::answer::Answer;
use crate::counterexample::Counterexample;
use crate::html::{Picture, element, page};
use crate::numbers::counted;
use crate::unordered::{ordering, sentences};
use crate::wording::{HARD_BLANK, Wording};
use listing::Listing;
use raddle_trace::execution::Entry;
use raddle_trace::{Execution, Ordering, Place, ThreadName, Waiting};
use std::fmt::Write;

/// The most steps a page shows.
const MOST: usize = 1_500;

/// One line of the table, and one node of the graph unless it is a flush.
struct Moment<'e> {
    /// Its number, or what stands in its place.
    label: String,
    thread: Option<ThreadName>,
    words: String,
    order: Option<&'static str>,
    place: Option<&'e Place>,
    entry: Option<&'e Entry>,
    wrong: bool,
}

/// The page about a counterexample.
pub(crate) fn of(answer: &Answer, found: &Counterexample) -> String {
    let title = format!("{}: {}", found.violation.property, found.violation.message);
    let text = format!("{} under {}. An execution that breaks a property.", answer.file, found.execution.model);
    let notes = sentences(&found.execution).into_iter().map(|sentence| format!("note: {sentence}"));
    let notes: Vec<String> = notes.chain([format!("replay: {}", found.replay)]).collect();
    run(answer, &title, &text, (&found.execution, &found.waiting), &notes)
}

/// The page about a run.
pub(crate) fn run(
    answer: &Answer,
    title: &str,
    text: &str,
    (execution, waiting): (&Execution, &[Waiting]),
    notes: &[String],
) -> String {
    let mut moments = moments(execution, waiting);
    let left_out = moments.len().saturating_sub(MOST);
    moments.drain(..left_out);
    let text = match left_out {
        0 => text.to_owned(),
        steps => format!("{text} The first {} are left out.", counted(steps as u64, "step")),
    };
    let mut threads: Vec<ThreadName> = moments.iter().filter_map(|moment| moment.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let listing = Listing::new(&answer.sources, &moments);
    let notes: String = notes.iter().map(|note| format!("<li>{}</li>\n", element(note))).collect();
    let body = format!(
        "<main>\n<section id=\"steps\" aria-label=\"steps\">\n{}</section>\n<section id=\"source\" aria-label=\"source\">\n{}</section>\n\
         <section id=\"graph\" aria-label=\"execution graph\">\n{}</section>\n</main>\n<ul id=\"notes\">\n{notes}</ul>\n",
        table(execution, &moments, &threads, &listing),
        listing.html(),
        graph::svg(execution, &moments, &threads),
    );
    let picture =
        Picture { style: include_str!("walk.css"), tools: TOOLS, body: &body, script: include_str!("walk.js") };
    page(title, &text, picture, &moments.len())
}

const TOOLS: &str = "  <nav><button id=\"first\">|←</button><button id=\"back\">←</button><button id=\"on\">→</button><button id=\"last\">→|</button><span id=\"where\"></span> &middot; \
                     arrow keys: step &middot; Home, End: first, last &middot; click: go there<span id=\"legend\"></span></nav>\n";

fn moments<'e>(execution: &'e Execution, waiting: &'e [Waiting]) -> Vec<Moment<'e>> {
    let wording = Wording::new(execution);
    let mut moments = Vec::new();
    for (at, entry) in execution.steps.iter().enumerate() {
        let words = wording.step(entry).replace(HARD_BLANK, " ");
        let label = wording.number(at).to_string();
        let step = Moment { label, thread: None, words, order: None, place: None, entry: Some(entry), wrong: false };
        match entry {
            Entry::Event { event, printed, .. } => {
                let order = event.order.filter(|&order| order != Ordering::NonAtomic).map(ordering);
                let words =
                    printed.iter().fold(step.words, |words, line| format!("{words}; prints {}", line.trim_end()));
                moments.push(Moment { thread: Some(event.id.thread), words, order, place: Some(&event.place), ..step });
            }
            Entry::Flush { write, .. } => moments.push(Moment { thread: Some(write.thread), ..step }),
            Entry::Failure { .. } if !waiting.is_empty() => {}
            Entry::Failure { thread, place, .. } => {
                moments.push(Moment { label: "✗".into(), thread: *thread, place: Some(place), wrong: true, ..step });
            }
        }
    }
    moments.extend(waiting.iter().map(|wait| Moment {
        label: "✗".into(),
        thread: Some(wait.thread),
        words: format!("waits for {}", wait.what),
        order: None,
        place: Some(&wait.place),
        entry: None,
        wrong: true,
    }));
    moments
}

/// The name of a thread with the function it runs.
fn heading(execution: &Execution, thread: ThreadName) -> String {
    execution.function(thread).map_or_else(|| thread.to_string(), |function| format!("{thread} {function}"))
}

fn table(execution: &Execution, moments: &[Moment<'_>], threads: &[ThreadName], listing: &Listing<'_>) -> String {
    let heads: String =
        threads.iter().map(|&thread| format!("<th>{}</th>", element(&heading(execution, thread)))).collect();
    let mut out = format!("<table>\n<thead><tr><th>step</th>{heads}<th>line</th></tr></thead>\n<tbody>\n");
    for (at, moment) in moments.iter().enumerate() {
        let (line, shown) = match moment.place.and_then(|place| Some((listing.row(place)?, place.line))) {
            Some((row, line)) => (format!(" data-line=\"{row}\""), line.to_string()),
            None => (String::new(), String::new()),
        };
        let class = if moment.wrong { " class=\"wrong\"" } else { "" };
        write!(out, "<tr data-at=\"{at}\"{line}{class}><td>{}</td>", moment.label).expect("a string takes everything");
        for &thread in threads {
            let own = moment.thread == Some(thread) || (moment.thread.is_none() && Some(&thread) == threads.first());
            out += &if own { cell(moment) } else { "<td></td>".to_owned() };
        }
        writeln!(out, "<td>{shown}</td></tr>").expect("a string takes everything");
    }
    out + "</tbody>\n</table>\n"
}

fn cell(moment: &Moment<'_>) -> String {
    let order = moment.order.map_or_else(String::new, |order| format!(" <small>{order}</small>"));
    format!("<td>{}{order}</td>", element(&moment.words))
}
