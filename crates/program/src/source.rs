//! Where things come from, and what is wrong with them.

use std::sync::{Arc, OnceLock};

/// A place in a source file: lines and columns count from 1. Line 0 means "nowhere".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Index into the [`SourceMap`].
    pub file: u32,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Length in characters on that line; at least 1 for a place that is known.
    pub len: u32,
}

/// The files of a program.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// Files, in the order they were added.
    pub files: Vec<SourceFile>,
}

/// One file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// As the user named it.
    pub name: Arc<str>,
    /// Its text; empty if it is known by name only.
    pub text: Arc<str>,
    /// Where its lines begin, once somebody has asked for one: a counterexample asks for hundreds.
    lines: OnceLock<Box<[usize]>>,
}

impl SourceFile {
    /// A line of the text, from 0.
    fn line(&self, number: usize) -> Option<&str> {
        let starts = self.lines.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
        });
        self.text[*starts.get(number)?..].lines().next()
    }
}

impl SourceMap {
    /// Adds a file and returns its index.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> u32 {
        self.files.push(SourceFile { name: name.into(), text: text.into(), lines: OnceLock::new() });
        (self.files.len() - 1) as u32
    }

    /// The name of the span's file.
    pub fn name(&self, span: Span) -> &str {
        self.files.get(span.file as usize).map_or("<unknown>", |f| &f.name)
    }

    /// The text of the span's line, if it is known.
    pub fn line(&self, span: Span) -> Option<&str> {
        let index = (span.line as usize).checked_sub(1)?;
        self.files.get(span.file as usize)?.line(index)
    }
}

/// Something wrong with an input: what, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands beside the caret.
    pub label: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without label or help.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { message: message.into(), span, label: String::new(), help: None }
    }

    /// With this text beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With this advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The diagnostic as plain text: message, place, the line with the span underlined, and the advice.
    pub fn render(&self, sources: &SourceMap) -> String {
        let mut out = format!("error: {}\n", self.message);
        let margin = " ".repeat(self.span.line.to_string().len());
        if self.span.line > 0 {
            let name = sources.name(self.span);
            out += &format!("{margin}--> {name}:{}:{}\n", self.span.line, self.span.column);
            if let Some(line) = sources.line(self.span) {
                let blanks: String = line
                    .chars()
                    .chain(std::iter::repeat(' '))
                    .take(self.span.column.saturating_sub(1) as usize)
                    .map(|c| if c == '\t' { '\t' } else { ' ' })
                    .collect();
                let carets = "^".repeat(self.span.len.max(1) as usize);
                out += &format!("{margin} |\n{} | {line}\n", self.span.line);
                out += format!("{margin} | {blanks}{carets} {}", self.label).trim_end();
                out.push('\n');
            }
        }
        if let Some(help) = &self.help {
            out += &format!("{margin} = help: {help}\n");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_text() {
        for text in ["", "one", "one\n", "one\r\n\ntwo\nthree", "\n\n"] {
            let mut sources = SourceMap::default();
            let file = sources.add("text", text);
            for line in 0..6u32 {
                let expected = (line as usize).checked_sub(1).and_then(|at| text.lines().nth(at));
                assert_eq!(sources.line(Span { file, line, ..Span::default() }), expected, "{text:?}, line {line}");
            }
        }
    }
}
