//! Which line of the user's own files does a byte of the preprocessed text come from?
//!
//! The preprocessor leaves markers (`# 12 "file.c"`) where the origin of the text changes. [`Lines`] keeps, for
//! each line of the preprocessed text, the file and line it stands for. Columns shift when macros are expanded,
//! so a span looks for where its token comes from in the original line (see [`align`]), and falls back to the whole line.

use crate::align;
use crate::token::Pos;
use raddle_program::{SourceMap, Span};
use std::path::Path;

/// Source files larger than this are named in diagnostics, but not shown.
const MAX_SHOWN_FILE: u64 = 16 << 20;

/// The map from preprocessed text to original lines.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The files met so far.
    pub(crate) sources: SourceMap,
    /// Where the lines of those files start, once their text is known.
    starts: Vec<Vec<u32>>,
    lines: Vec<Line>,
    file: u32,
    next_line: u32,
    text: String,
    /// `#pragma pack`: from which byte on which alignment is the greatest of members (0 for none); ascending.
    pub(crate) packs: Vec<(u32, u64)>,
    /// Alignments to go back to.
    pushed: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    start: u32,
    file: u32,
    line: u32,
}

impl Lines {
    /// A map for the preprocessed `text` of the file `name`, which is line by line its own origin until a marker
    /// says something else.
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let mut sources = SourceMap::default();
        sources.add(name, "");
        Lines {
            sources,
            starts: Vec::new(),
            lines: Vec::new(),
            file: 0,
            next_line: 1,
            text: text.to_owned(),
            packs: Vec::new(),
            pushed: Vec::new(),
        }
    }

    /// A line of the preprocessed text starts at this byte.
    pub(crate) fn start_line(&mut self, start: u32) {
        self.lines.push(Line { start, file: self.file, line: self.next_line });
        self.next_line = self.next_line.saturating_add(1);
    }

    /// A line of the form `# 12 "file.c" flags`, `#line 12 "file.c"`, `#pragma pack(...)` or something else that does not matter.
    pub(crate) fn directive(&mut self, start: u32, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let rest = line.trim_start_matches('#').trim_start();
        if let Some(pragma) = rest.strip_prefix("pragma").map(str::trim_start) {
            if let Some(pack) = pragma.strip_prefix("pack").map(str::trim_start) {
                self.pack(start, pack);
            }
            return;
        }
        let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let Ok(number) = rest[..digits].parse::<u32>() else { return };
        if let Some(name) = rest[digits..].trim_start().strip_prefix('"') {
            let name = name.split('"').next().unwrap_or(name).replace("\\\\", "\\");
            self.file = self.file_named(&name);
        }
        self.next_line = number;
    }

    /// `(push, 2)`, `(push)`, `(pop)`, `(2)`, `()`, with names among them.
    fn pack(&mut self, start: u32, arguments: &str) {
        let inner = arguments.trim_start_matches('(').split(')').next().unwrap_or("");
        let mut now = self.packs.last().map_or(0, |&(_, align)| align);
        let words: Vec<&str> = inner.split(',').map(str::trim).collect();
        let number = words.iter().find_map(|word| word.parse().ok());
        match words[0] {
            "push" => self.pushed.push(now),
            "pop" => now = self.pushed.pop().unwrap_or(0),
            "" => now = 0,
            _ => {}
        }
        self.packs.push((start, number.unwrap_or(now)));
    }

    fn file_named(&mut self, name: &str) -> u32 {
        match self.sources.files.iter().position(|f| *f.name == *name) {
            Some(index) => index as u32,
            None => self.sources.add(name, ""),
        }
    }

    /// The original place of the token or construct of `len` bytes at `pos`.
    pub(crate) fn span(&mut self, pos: Pos, len: u32) -> Span {
        let index = self.lines.partition_point(|l| l.start <= pos.0).saturating_sub(1);
        let Some(&Line { start, file, line }) = self.lines.get(index) else { return Span::default() };
        self.load(file);
        let token_end = (pos.0 + len.max(1)).min(self.text.len() as u32);
        let token = self.text.get(pos.0 as usize..token_end as usize).unwrap_or("");
        let token = token.lines().next().unwrap_or("");
        let column = self.text.get(start as usize..pos.0 as usize).map_or(0, |before| before.chars().count());
        let span = Span { file, line, column: column as u32 + 1, len: token.chars().count().max(1) as u32 };
        let Some(original) = self.original(span) else { return span };
        let in_place = original.chars().skip(column).take(token.chars().count()).eq(token.chars());
        if in_place && !token.is_empty() {
            return span;
        }
        let before = pos.0 as usize - start as usize;
        let preprocessed = self.text.get(start as usize..).and_then(|rest| rest.lines().next()).unwrap_or("");
        if let Some((at, len)) = align::origin(original, preprocessed, before) {
            let chars = |bytes: std::ops::Range<usize>| original[bytes].chars().count() as u32;
            return Span { column: chars(0..at) + 1, len: chars(at..at + len), ..span };
        }
        match find_word(original, token) {
            Some(at) => Span { column: original[..at].chars().count() as u32 + 1, ..span },
            None => {
                let indent = original.chars().take_while(|c| c.is_whitespace()).count();
                let len = original.trim().chars().count().max(1);
                Span { column: indent as u32 + 1, len: len as u32, ..span }
            }
        }
    }

    /// The text of the original line.
    fn original(&self, span: Span) -> Option<&str> {
        let starts = self.starts.get(span.file as usize)?;
        let line = (span.line as usize).checked_sub(1)?;
        let start = *starts.get(line)? as usize;
        let text = &self.sources.files[span.file as usize].text;
        let end = starts.get(line + 1).map_or(text.len(), |&next| next as usize);
        Some(text[start..end].trim_end_matches(['\n', '\r']))
    }

    /// Reads a file's text when its first span is asked for.
    fn load(&mut self, file: u32) {
        let Some(entry) = self.sources.files.get_mut(file as usize) else { return };
        if !entry.text.is_empty() || entry.name.starts_with('<') {
            return;
        }
        let path = Path::new(&*entry.name);
        let shown = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= MAX_SHOWN_FILE);
        if shown && let Ok(bytes) = std::fs::read(path) {
            let text = String::from_utf8_lossy(&bytes);
            self.set_text(file, &text);
        }
    }

    /// Gives the text of a file that cannot or need not be read from disk.
    pub(crate) fn set_text(&mut self, file: u32, text: &str) {
        if let Some(entry) = self.sources.files.get_mut(file as usize) {
            entry.text = text.into();
            let index = file as usize;
            self.starts.resize(self.starts.len().max(index + 1), Vec::new());
            let newlines = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at as u32 + 1);
            self.starts[index] = std::iter::once(0).chain(newlines).collect();
        }
    }
}

/// Where `word` stands in `line` without being part of a longer name.
fn find_word(line: &str, word: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let named = word.starts_with(is_name);
    line.match_indices(word).map(|(at, _)| at).find(|&at| {
        let glued = line[..at].ends_with(is_name) || line[at + word.len()..].starts_with(is_name);
        !(word.is_empty() || named && glued)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    #[test]
    fn markers_move_the_origin() {
        let text = "a\n# 7 \"other.h\" 1 3\nb\n# 2 \"main.c\" 2\nc\n\nd\n";
        let mut lines = Lines::new("main.c", text);
        let tokens = lex(text, &mut lines).expect("lexes");
        let at: Vec<_> = tokens[..4]
            .iter()
            .map(|t| {
                let span = lines.span(t.pos, t.len);
                (lines.sources.name(span).to_owned(), span.line)
            })
            .collect();
        let expected = [("main.c", 1), ("other.h", 7), ("main.c", 2), ("main.c", 4)];
        assert_eq!(at, expected.map(|(n, l)| (n.to_owned(), l)));
    }

    #[test]
    fn what_a_macro_makes_has_the_column_of_the_macro() {
        let text = "  f(a); if (!(x)) fail(); else b;\n";
        let mut lines = Lines::new("m.c", text);
        lines.set_text(0, "  f(a); CHECK(x) b;\n");
        let tokens = lex(text, &mut lines).expect("lexes");
        let mut columns = Vec::new();
        for token in &tokens[..tokens.len() - 1] {
            let span = lines.span(token.pos, token.len);
            columns.push((span.column, span.len));
        }
        // `f ( a ) ;`, `if ( ! (`, `x`, `) ) fail ( ) ; else`, `b ;`
        assert_eq!(columns[5..8], [(9, 8), (14, 1), (9, 8)]);
        assert_eq!(columns[9], (15, 1));
        assert_eq!(columns[12], (9, 8));
        assert_eq!(columns[columns.len() - 2..], [(18, 1), (19, 1)]);
    }

    #[test]
    fn a_column_shifted_by_a_macro_is_found_again() {
        let text = "  int looooooong = x;\n";
        let mut lines = Lines::new("m.c", text);
        lines.set_text(0, "  int M = x;\n");
        let tokens = lex(text, &mut lines).expect("lexes");
        assert_eq!(lines.span(tokens[3].pos, tokens[3].len).column, 11);
    }
}
