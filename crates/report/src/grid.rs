//! A table of names and numbers: the first columns to the left, the numbers to the right.

use crate::paper::Paper;
use crate::style::HEAD;
use crate::text::{clean, pad, width};

/// Between columns.
const GAP: &str = "  ";

/// A table before it is laid out.
#[derive(Debug)]
pub(crate) struct Grid<const COLUMNS: usize> {
    headings: [&'static str; COLUMNS],
    /// So many columns are words.
    words: usize,
    rows: Vec<Row<COLUMNS>>,
}

#[derive(Debug)]
struct Row<const COLUMNS: usize> {
    name: String,
    /// The other columns, if there is something to say in them.
    cells: Option<[String; COLUMNS]>,
    remark: String,
}

impl<const COLUMNS: usize> Grid<COLUMNS> {
    /// An empty one. Its first `words` columns are words.
    pub(crate) fn new(headings: [&'static str; COLUMNS], words: usize) -> Self {
        Grid { headings, words, rows: Vec::new() }
    }

    /// A row, with a remark behind it.
    pub(crate) fn row(&mut self, cells: [String; COLUMNS], remark: &str) {
        let cells = cells.map(|cell| clean(&cell));
        let name = cells.first().cloned().unwrap_or_default();
        self.rows.push(Row { name, cells: Some(cells), remark: remark.to_owned() });
    }

    /// A row with a name and no more than a remark.
    pub(crate) fn remark(&mut self, name: &str, remark: &str) {
        self.rows.push(Row { name: clean(name), cells: None, remark: remark.to_owned() });
    }

    /// Writes the table.
    pub(crate) fn text(&self, paper: &mut Paper) {
        let mut widths = self.headings.map(str::len);
        for row in &self.rows {
            widths[0] = widths[0].max(width(&row.name));
            for (widest, cell) in widths.iter_mut().zip(row.cells.iter().flatten()) {
                *widest = (*widest).max(width(cell));
            }
        }
        paper.paint(HEAD, self.aligned(&self.headings, &widths)).end();
        for row in &self.rows {
            match &row.cells {
                Some(cells) => paper.say(self.aligned(&cells.each_ref().map(String::as_str), &widths)),
                None => paper.say(pad(&row.name, widths[0])),
            };
            paper.say(if row.remark.is_empty() { "" } else { GAP }).say(&row.remark).end();
        }
    }

    fn aligned(&self, cells: &[&str; COLUMNS], widths: &[usize; COLUMNS]) -> String {
        let padded = cells.iter().zip(widths).enumerate().map(|(column, (cell, &cells))| {
            let blanks = " ".repeat(cells.saturating_sub(width(cell)));
            if column < self.words { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") }
        });
        padded.collect::<Vec<_>>().join(GAP)
    }
}
