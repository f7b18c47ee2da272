//! The source of a run: the lines that ran are marked, with who ran them.

use super::Moment;
use crate::answer::Sources;
use crate::html::element;
use raddle_trace::{Place, ThreadName};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Of a file with more lines than this, ...
const LONG: usize = 400;
/// ... so many are shown around each that ran.
const AROUND: u32 = 8;

/// The lines to show.
pub(super) struct Listing<'e> {
    files: Vec<File<'e>>,
    rows: BTreeMap<(&'e str, u32), usize>,
}

struct File<'e> {
    name: &'e str,
    lines: Vec<(u32, &'e str, BTreeSet<ThreadName>)>,
}

impl<'e> Listing<'e> {
    /// Of the files that these steps are from; a file whose text is not known has the lines that ran only.
    pub(super) fn new(sources: &'e Sources, moments: &[Moment<'e>]) -> Self {
        let mut ran: BTreeMap<&str, BTreeMap<u32, (&str, BTreeSet<ThreadName>)>> = BTreeMap::new();
        for moment in moments {
            let Some(place) = moment.place.filter(|place| place.line > 0) else { continue };
            let line = ran.entry(&place.file).or_default().entry(place.line).or_insert((&place.text, BTreeSet::new()));
            line.1.extend(moment.thread);
        }
        let mut listing = Listing { files: Vec::new(), rows: BTreeMap::new() };
        for (name, ran) in ran {
            let all: Vec<&str> = sources.text(name).map(|text| text.lines().collect()).unwrap_or_default();
            let near =
                |line: u32| ran.range(line.saturating_sub(AROUND)..=line.saturating_add(AROUND)).next().is_some();
            let shown = (1..).zip(all.iter().copied()).filter(|&(number, _)| all.len() <= LONG || near(number));
            let mut lines: Vec<_> = shown.map(|(number, text)| (number, text, BTreeSet::new())).collect();
            for (&number, (text, threads)) in &ran {
                match lines.binary_search_by_key(&number, |line| line.0) {
                    Ok(at) => lines[at].2.clone_from(threads),
                    Err(at) => lines.insert(at, (number, *text, threads.clone())),
                }
            }
            let first = listing.rows.len();
            listing.rows.extend(lines.iter().enumerate().map(|(at, line)| ((name, line.0), first + at)));
            listing.files.push(File { name, lines });
        }
        listing
    }

    /// Where a place is shown.
    pub(super) fn row(&self, place: &Place) -> Option<usize> {
        self.rows.get(&(&*place.file, place.line)).copied()
    }

    pub(super) fn html(&self) -> String {
        let mut out = String::new();
        let mut row = 0;
        for File { name, lines } in &self.files {
            writeln!(out, "<h2>{}</h2>\n<table>", element(name)).expect("a string takes everything");
            let mut last = 0;
            for (number, text, threads) in lines {
                if *number != last + 1 {
                    out += "<tr><td>…</td><td></td><td></td></tr>\n";
                }
                last = *number;
                let names: Vec<String> = threads.iter().map(ToString::to_string).collect();
                let class = if names.is_empty() { "" } else { " class=\"ran\"" };
                writeln!(
                    out,
                    "<tr data-row=\"{row}\"{class}><td>{number}</td><td>{}</td><td>{}</td></tr>",
                    names.join(" "),
                    element(&text.replace('\t', "    "))
                )
                .expect("a string takes everything");
                row += 1;
            }
            out += "</table>\n";
        }
        out
    }
}
