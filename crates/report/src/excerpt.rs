//! What is wrong, with the source lines it is about.
//!
//! The shape is that of rustc: the message, the place, the lines with the spot underlined, and what would be right.

use crate::answer::Sources;
use crate::counterexample::Counterexample;
use crate::text::clean;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use raddle_trace::execution::Entry;
use raddle_trace::{Place, Property};
use std::ops::Range;

/// Something wrong, in a program or in an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in one line.
    pub message: String,
    /// A name for the kind of problem, shown in brackets.
    pub id: Option<&'static str>,
    /// Where.
    pub marks: Vec<Mark>,
    /// What would be right.
    pub help: Option<String>,
}

/// A spot in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// File.
    pub file: String,
    /// Line, from 1; 0 if only the file is known.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Length in characters; 0 for up to the end of the statement.
    pub len: u32,
    /// What stands beside the spot.
    pub label: String,
}

/// Marks further apart than this are shown as excerpts of their own.
const FAR: u32 = 2_000;

impl Mark {
    fn at(place: &Place, label: String) -> Mark {
        Mark { file: place.file.to_string(), line: place.line, column: place.column, len: 0, label }
    }
}

impl Problem {
    /// A problem with no place in any file.
    pub fn new(message: impl Into<String>) -> Self {
        Problem { message: message.into(), ..Problem::default() }
    }

    /// With this advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// At this spot.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// What a counterexample shows. A deadlock is marked wherever a thread waits.
    pub fn of(counterexample: &Counterexample) -> Self {
        let Counterexample { violation, execution, waiting, .. } = counterexample;
        let failing = execution.steps.iter().rev().find_map(|step| match step {
            Entry::Failure { thread, message, .. } if *message == violation.message => *thread,
            _ => None,
        });
        let marks = if violation.property == Property::Deadlock && !waiting.is_empty() {
            let marks = waiting.iter().filter(|wait| wait.place.line > 0);
            marks.map(|wait| Mark::at(&wait.place, format!("{} waits for {}", wait.thread, wait.what))).collect()
        } else if violation.place.line > 0 {
            let label = failing.map_or_else(String::new, |thread| format!("in {thread}"));
            vec![Mark::at(&violation.place, label)]
        } else {
            Vec::new()
        };
        let deadlock = violation.property == Property::Deadlock && !marks.is_empty();
        let message = if deadlock { "deadlock".to_owned() } else { violation.message.clone() };
        Problem { message, id: Some(violation.property.name()), marks, help: None }
    }

    /// The problem as text, at most `width` cells wide where that is possible.
    pub fn render(&self, sources: &Sources, width: usize) -> String {
        let message = clean(&self.message);
        let title = Level::ERROR.primary_title(message);
        let title = match self.id {
            Some(id) => title.id(id),
            None => title,
        };
        let mut group = Group::with_title(title);
        for marks in self.excerpts() {
            group = element(group, &marks, sources);
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(clean(help)));
        }
        let mut out = Renderer::styled().term_width(width.max(40)).render(&[group]);
        out.push('\n');
        out
    }

    /// The problem in lines as compilers write them, `file:line:column: error: message`; the first is what is wrong.
    pub fn lines(&self) -> Vec<String> {
        let place = |mark: &Mark| match mark.line {
            0 => mark.file.clone(),
            line => format!("{}:{line}:{}", mark.file, mark.column.max(1)),
        };
        let first = self.marks.first().map_or_else(|| "raddle".to_owned(), place);
        let kind = self.id.map_or_else(String::new, |id| format!(" [{id}]"));
        let mut lines = vec![format!("{first}: error: {}{kind}", self.message)];
        let labelled = self.marks.iter().filter(|mark| !mark.label.is_empty());
        lines.extend(labelled.map(|mark| format!("{}: note: {}", place(mark), mark.label)));
        lines.extend(self.help.iter().map(|help| format!("{first}: note: {help}")));
        lines.iter().map(|line| clean(line)).collect()
    }

    /// The marks in groups, each of one file and near each other, the first one first.
    fn excerpts(&self) -> Vec<Vec<&Mark>> {
        let mut groups: Vec<Vec<&Mark>> = Vec::new();
        for mark in &self.marks {
            let near = |group: &&mut Vec<&Mark>| {
                let first = group[0];
                first.file == mark.file && first.line > 0 && mark.line > 0 && first.line.abs_diff(mark.line) < FAR
            };
            match groups.iter_mut().find(near) {
                Some(group) => group.push(mark),
                None => groups.push(vec![mark]),
            }
        }
        groups
    }
}

fn element<'a>(group: Group<'a>, marks: &[&Mark], sources: &Sources) -> Group<'a> {
    let first = marks[0];
    let lines = sources.text(&first.file).and_then(|text| Excerpt::cut(text, marks));
    let Some(excerpt) = lines else {
        let origin = Origin::path(clean(&first.file));
        return group.element(match first.line {
            0 => origin,
            line => origin.line(line as usize).char_column(first.column as usize),
        });
    };
    let spans: Vec<_> = marks.iter().map(|mark| (excerpt.span(mark), mark)).collect();
    let snippet = Snippet::source(excerpt.text).line_start(excerpt.first as usize).path(clean(&first.file));
    let annotations = spans.into_iter().map(|(span, mark)| {
        let annotation = AnnotationKind::Primary.span(span);
        if mark.label.is_empty() { annotation } else { annotation.label(clean(&mark.label)) }
    });
    group.element(snippet.annotations(annotations))
}

/// The lines of a text from the first mark to the last.
struct Excerpt {
    first: u32,
    text: String,
}

impl Excerpt {
    fn cut(text: &str, marks: &[&Mark]) -> Option<Excerpt> {
        let first = marks.iter().map(|mark| mark.line).min()?;
        let last = marks.iter().map(|mark| mark.line).max()?;
        let skipped = first.checked_sub(1)? as usize;
        let lines: Vec<String> = text.lines().skip(skipped).take((last - first + 1) as usize).map(clean).collect();
        // A mark behind the last line stands for the end of the file.
        if lines.is_empty() { None } else { Some(Excerpt { first, text: lines.join("\n") }) }
    }

    /// The bytes of the excerpt that the mark underlines.
    fn span(&self, mark: &Mark) -> Range<usize> {
        let mut start = 0;
        for _ in self.first..mark.line {
            start = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at + 1);
        }
        let line = self.text[start..].lines().next().unwrap_or("");
        let byte = |chars: usize| line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at);
        let column = (mark.column.max(1) - 1) as usize;
        let from = byte(column);
        let to = match mark.len {
            0 => from + statement(&line[from..]),
            len => byte(column + len as usize),
        };
        start + from..start + to.max(from)
    }
}

/// The length of the statement at the start of this text: up to `;`, `{`, a comment or the end of the line.
fn statement(text: &str) -> usize {
    let end = [";", "{", "//", "/*"].iter().filter_map(|stop| text.find(stop)).min().unwrap_or(text.len());
    let trimmed = text[..end].trim_end().len();
    if trimmed == 0 { text.chars().next().map_or(0, char::len_utf8) } else { trimmed }
}
