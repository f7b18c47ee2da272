//! The text form `.rdl`: [`parse`] and [`print()`].
//!
//! One language with two faces. People write the structured face (`if`, `while`, `for`, nested blocks); the printer
//! writes the flat one (labelled blocks that end in `goto`), which shows a program exactly as engines see it. Both
//! are one grammar, so printed text parses, and gives the same program: for every valid program `p` without
//! unreachable blocks, `parse(print(p))` equals `p` up to source locations.
//!
//! The way of a text: `lexer` cuts it into tokens; `parser` (with `parse_stmt`, `parse_action`, `parse_expr`) builds a tree, `ast`; `lower`
//! (with `lower_body`, `lower_flow`, `lower_action`, `lower_expr`) resolves names, gives types to literals and registers and builds the
//! [`Program`]; [`validate`](crate::validate()) has the last word. `printer` goes back.
//!
//! The language is described in `docs/rdl.md`. Any text ends in a program or in diagnostics: nesting is bounded
//! ([`MAX_NESTING`], [`MAX_HEIGHT`]), so is the size of objects, and at most [`MAX_ERRORS`] errors are reported.

mod ast;
mod lexer;
mod lower;
mod lower_action;
mod lower_body;
mod lower_expr;
mod lower_flow;
mod names;
mod parse_action;
mod parse_expr;
mod parse_stmt;
mod parser;
mod printer;

pub use parser::{MAX_HEIGHT, MAX_NESTING};
pub use printer::print;

use crate::program::Program;
use crate::source::{Diagnostic, SourceMap};
use std::fmt;

/// How many errors one run reports.
pub const MAX_ERRORS: usize = 20;

/// What is wrong with a text.
#[derive(Clone, Debug)]
pub struct ParseErrors {
    /// The text, so that the diagnostics can be shown.
    pub sources: SourceMap,
    /// At least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for ParseErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.iter().try_for_each(|diagnostic| f.write_str(&diagnostic.render(&self.sources)))
    }
}

impl std::error::Error for ParseErrors {}

/// Parses and checks a program.
///
/// `name` is what diagnostics call the file. `params` override the values of the program's `param` declarations.
///
/// # Errors
/// All that is wrong with the text, in the order of the text, up to [`MAX_ERRORS`].
pub fn parse(name: &str, text: &str, params: &[(String, i64)]) -> Result<Program, ParseErrors> {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let mut report = Report::default();
    let tokens = lexer::tokens(file, text, &mut report);
    let tree = parser::parse(&tokens, text, &mut report);
    let program = lower::lower(&tree, params, sources, &mut report);
    if report.diagnostics.is_empty()
        && let Err(diagnostics) = crate::validate(&program)
    {
        report.diagnostics = diagnostics;
    }
    if report.diagnostics.is_empty() {
        return Ok(program);
    }
    let mut diagnostics = report.diagnostics;
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.line, diagnostic.span.column));
    diagnostics.truncate(MAX_ERRORS);
    Err(ParseErrors { sources: program.sources, diagnostics })
}

/// The errors found so far.
#[derive(Debug, Default)]
struct Report {
    diagnostics: Vec<Diagnostic>,
}

impl Report {
    fn add(&mut self, diagnostic: Diagnostic) {
        let repeats = |known: &Diagnostic| known.span == diagnostic.span && known.message == diagnostic.message;
        if !self.full() && !self.diagnostics.iter().any(repeats) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether there is no point in looking further.
    fn full(&self) -> bool {
        self.diagnostics.len() >= MAX_ERRORS
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
