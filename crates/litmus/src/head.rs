//! The first lines: the flavour and the name, then a description in quotes and `key=value` lines, up to the initial state.

use crate::Result_;
use crate::condition::Expectation;
use crate::lex::{nested, span};
use raddle_program::Diagnostic;
use std::fmt;

/// The language of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// C11.
    C,
    /// x86, 32 or 64 bits.
    X86,
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::C => "C",
            Flavour::X86 => "X86",
        })
    }
}

pub(crate) struct Head {
    pub(crate) flavour: Flavour,
    pub(crate) name: String,
    /// What a line `Result=`, `Expected=` or `Observation=` says.
    pub(crate) expectation: Option<Expectation>,
    /// Where the initial state begins.
    pub(crate) end: usize,
}

pub(crate) fn read(file: u32, text: &str) -> Result_<Head> {
    let start = skip(file, text, 0)?;
    let line = text[start..].lines().next().unwrap_or_default();
    let (word, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let error =
        |at: usize, len: usize, message: String| Diagnostic::new(span(file, text, at, len.max(1) as u32), message);
    let flavour = match word {
        "C" => Flavour::C,
        "X86" | "X86_64" | "x86" | "x86_64" => Flavour::X86,
        "" => return Err(error(start, 1, "there is no litmus test here".into()).help(FIRST).into()),
        "AArch64" | "ARM" | "PPC" | "RISCV" | "RISC-V" | "MIPS" | "LISA" | "Bell" | "BPF" | "ASL" | "CPP" | "JAVA"
        | "PTX" | "VULKAN" | "OPENCL" | "SPARC" => {
            let message = format!("litmus tests of the flavour {word} are not supported");
            return Err(error(start, word.len(), message).help("the flavours C, X86 and X86_64 are").into());
        }
        _ => {
            let shown: String = word.chars().take(40).collect();
            return Err(error(start, word.chars().count(), format!("`{shown}` is no flavour of litmus tests"))
                .help(FIRST)
                .into());
        }
    };
    let mut expectation = None;
    let mut at = start + line.len();
    loop {
        at = skip(file, text, at)?;
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            return Err(error(at, 1, "the initial state is missing".into())
                .help("it stands in braces: { x=0; y=0; }")
                .into());
        };
        match first {
            '{' => return Ok(Head { flavour, name: name.trim().to_owned(), expectation, end: at }),
            '"' => match rest[1..].find('"') {
                Some(end) => at += end + 2,
                None => return Err(error(at, 1, "this text does not end".into()).into()),
            },
            _ => {
                let end = rest.find(['\n', '{']).unwrap_or(rest.len());
                let line = &rest[..end];
                if let Some((key, value)) = line.split_once('=')
                    && matches!(key.trim(), "Result" | "Expected" | "Observation")
                {
                    let wrong = || {
                        error(at, line.trim_end().chars().count(), format!("`{}` is nothing to expect", value.trim()))
                            .help("a test expects Never, Sometimes or Always")
                    };
                    expectation = Some(Expectation::named(value.trim()).ok_or_else(|| Box::new(wrong()))?);
                }
                at += end.max(1);
            }
        }
    }
}

const FIRST: &str = "a litmus test begins with its flavour and its name: C MP+rel+acq, or X86 SB";

/// After blanks and comments.
fn skip(file: u32, text: &str, mut at: usize) -> Result_<usize> {
    loop {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start().len();
        at += blanks;
        let rest = &text[at..];
        let end = if rest.starts_with("(*") {
            nested(rest, "(*", "*)")
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map(|end| end + 4)
        } else if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else {
            return Ok(at);
        };
        let Some(end) = end else {
            return Err(Diagnostic::new(span(file, text, at, 2), "this comment does not end").into());
        };
        at += end;
    }
}
