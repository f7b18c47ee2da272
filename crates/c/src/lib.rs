//! The C front end: from a C file to the program representation.
//!
//! | step | module | question |
//! |---|---|---|
//! | preprocess | `preprocess`, `headers` | what does `cc -E` make of the file, with our headers, or with the system's? |
//! | lex | `lex`, `token`, `source`, `align` | which words, and which of the user's lines are they from? |
//! | parse | `parse`, `syntax` | is it C, and what is its structure? |
//! | check | `check`, `ctype`, `layout`, `tree` | what do names, types and expressions mean? |
//! | lower | `lower` | which loads, stores and jumps is that? |
//!
//! Two properties hold throughout. Anything unsupported is a [`Diagnostic`] that names the construct and points
//! at the user's own line; nothing is skipped. And any bytes end in a program or in diagnostics: nesting is limited, the
//! passes run on a stack of their own, and constants and initialisers have bounds.
//!
//! The library model (pthreads, C11 threads, semaphores, strings, allocation) is C code in `library/`, put in
//! line where it is called. A function that is called but neither defined nor modelled is an error at the call.

mod align;
mod check;
mod ctype;
mod float;
mod headers;
mod layout;
mod lex;
mod lower;
mod parse;
mod preprocess;
mod source;
mod syntax;
mod token;
mod tree;
mod walk;

use check::{Checker, Origin};
use ctype::DataModel;
use parse::Fault;
use preprocess::Headers;
use raddle_program::{Diagnostic, Program, SourceMap};
use source::Lines;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The stack the passes run on. They recurse over expressions, whose depth the parser limits.
const STACK: usize = 512 << 20;

/// What the front end is told beside the file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directories searched for included files (`-I`).
    pub include_dirs: Vec<PathBuf>,
    /// Macros, as `NAME` or `NAME=VALUE` (`-D`).
    pub defines: Vec<String>,
    /// Macros to forget (`-U`).
    pub undefines: Vec<String>,
    /// The dialect, as in `-std=`; default `gnu11`.
    pub std: Option<String>,
    /// ILP32 instead of LP64: `long`, `size_t` and pointers have 32 bits.
    pub ilp32: bool,
    /// The values unknown inputs (`__VERIFIER_nondet_*`, `rand`) range over, cut to their type; default all of their type.
    pub nondet: Option<RangeInclusive<i64>>,
    /// Whether `pthread_cond_wait` may return without a signal.
    pub spurious_wakeups: bool,
    /// Whether a weak compare-exchange may fail where it finds what is expected.
    pub weak_cas_fails: bool,
    /// Whether what C evaluates in any order is evaluated in the other one: operands and arguments from the right, and where an assignment goes before what it puts there.
    pub evaluation_right: bool,
    /// Whether signed arithmetic that overflows is an error; otherwise it wraps.
    pub overflow_is_error: bool,
    /// Whether accesses to `volatile` objects are relaxed atomic ones, as much code takes them to be. By C11 they are plain.
    pub volatile_relaxed: bool,
    /// The arguments of `main` after the program's name.
    pub args: Vec<String>,
    /// The compiler whose preprocessor is used; default `$CC`, else `cc`.
    pub compiler: Option<String>,
    /// The other files of the program.
    pub with: Vec<PathBuf>,
    /// How the build compiles single files; see [`FileFlags`].
    pub flags: Vec<FileFlags>,
    /// Whether functions that are declared and nowhere defined may be called: they return any value and have no effect.
    pub undefined_nondet: bool,
}

/// Options of the preprocessor for one file, beside those for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFlags {
    /// The file.
    pub file: PathBuf,
    /// What the preprocessor is told, in order: `-I`, `-D`, `-U`, `-include`, `-isystem`, `-std`.
    pub flags: Vec<String>,
}

/// A program, and what a reader of the verdict should know about how it was read.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Restrictions that were made, one sentence each; part of the verdict's scope.
    pub notes: Vec<String>,
    /// Whether it is written in the words of verification competitions: atomic sections, `reach_error`. Their programs are meant to be sequentially consistent.
    pub competition: bool,
    /// What it relies on beside C11.
    pub habits: Habits,
}

/// What programs rely on that are older than C11, or made for one kind of processor. Where they are found to be wrong, a reader should know that there is another way to ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// There are accesses to `volatile` objects that are plain ones, as C11 has it.
    pub plain_volatile: bool,
    /// There is assembly of x86 that accesses memory or orders accesses.
    pub x86: bool,
}

/// A file that is not a program.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// What is wrong with it; never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// The text the diagnostics point into.
    pub sources: SourceMap,
}

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The preprocessor cannot be run.
    #[error("cannot run the C preprocessor `{command} -E`: {source}")]
    Compiler {
        /// The command.
        command: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Our headers cannot be written for the preprocessor to read.
    #[error("cannot write {path}: {source}")]
    Headers {
        /// Which file or directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not a program, or not one that is supported.
    #[error("{}", .0.diagnostics.first().map_or("not a program", |d| &d.message))]
    Rejected(Rejected),
}

/// Compiles a C file, with the other files of the program: `.i` is taken as it is, anything else goes through the preprocessor.
///
/// # Errors
/// What is wrong with the files, or why they could not be read.
pub fn compile(path: &Path, options: &Options) -> Result<Compiled, Error> {
    let files: Vec<&Path> = std::iter::once(path).chain(options.with.iter().map(PathBuf::as_path)).collect();
    // A better message than the preprocessor's, and no process for nothing.
    for &file in &files {
        std::fs::metadata(file).map_err(|source| Error::Read { path: file.to_owned(), source })?;
    }
    let ours = texts(&files, options, Headers::Ours);
    let missing = matches!(&ours, Err(Error::Rejected(_)));
    let first = match ours.and_then(|texts| compile_texts(&texts, options)) {
        Err(first @ Error::Rejected(_)) => first,
        result => return result,
    };
    if files.iter().all(|&file| is_preprocessed(file)) {
        return Err(first);
    }
    // Our headers may lack what the system's have.
    let system = texts(&files, options, Headers::System);
    let found = system.is_ok();
    match system.and_then(|texts| compile_texts(&texts, options)) {
        Ok(compiled) => Ok(compiled),
        // What lies beyond a header or a name that we do not have is the better message; a header that nobody has is, too.
        Err(second) if missing || found && is_lacking(&first) => Err(second),
        Err(_) => Err(first),
    }
}

/// Whether the error may come from headers that do not declare enough.
fn is_lacking(error: &Error) -> bool {
    let Error::Rejected(rejected) = error else { return false };
    let words = ["is not declared", "the incomplete type", "is not complete here"];
    let lacks = |message: &str| message.starts_with("expected") || words.iter().any(|word| message.contains(word));
    rejected.diagnostics.iter().any(|diagnostic| lacks(&diagnostic.message))
}

fn is_preprocessed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "i")
}

/// The texts of files, preprocessed, with their names.
fn texts(files: &[&Path], options: &Options, whose: Headers) -> Result<Vec<(String, String)>, Error> {
    let text = |&path: &&Path| {
        let name = path.to_string_lossy().into_owned();
        if is_preprocessed(path) {
            let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
            return Ok((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
        Ok((name, preprocess::preprocess(path, options, whose)?))
    };
    files.iter().map(text).collect()
}

/// The text of a C file after preprocessing with our headers.
///
/// # Errors
/// What the preprocessor says, or why it could not be run.
pub fn preprocess(path: &Path, options: &Options) -> Result<String, Error> {
    preprocess::preprocess(path, options, Headers::Ours)
}

/// Compiles text that went through the preprocessor already; `name` is what diagnostics call it where it has no
/// line markers.
///
/// # Errors
/// What is wrong with the text.
pub fn compile_preprocessed(name: &str, text: &str, options: &Options) -> Result<Compiled, Error> {
    compile_texts(&[(name.to_owned(), text.to_owned())], options)
}

fn compile_texts(texts: &[(String, String)], options: &Options) -> Result<Compiled, Error> {
    let run = || front_end(texts, options);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result.map_err(Error::Rejected),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // Without a stack of its own the parser's limits still hold, with less room to spare.
            Err(_) => run().map_err(Error::Rejected),
        }
    })
}

fn front_end(texts: &[(String, String)], options: &Options) -> Result<Compiled, Rejected> {
    // One text for all, so that a position tells the file as well; where each begins.
    let (mut text, mut starts) = (String::new(), Vec::new());
    for (name, part) in texts {
        if texts.len() > 1 {
            text.push_str(&format!("# 1 \"{name}\"\n"));
        }
        starts.push(text.len());
        text.push_str(part);
        text.push('\n');
    }
    if texts.len() == 1 {
        text.pop();
    }
    let mut lines = Lines::new(texts.first().map_or("", |(name, _)| name), &text);
    if !text.lines().any(|line| line.starts_with("# ") || line.starts_with("#line")) {
        lines.set_text(0, &text);
    }
    let reject = |faults: Vec<Fault>, mut lines: Lines| {
        let diagnostics = faults.into_iter().map(|fault| fault.diagnostic(&mut lines)).collect();
        Err(Rejected { diagnostics, sources: lines.sources })
    };
    if u32::try_from(text.len()).is_err() {
        return reject(vec![Fault::new(token::Pos(0), "this file is larger than 4 GiB")], lines);
    }
    let tokens = match lex::lex(&text, &mut lines) {
        Ok(tokens) => tokens,
        Err(error) => return reject(vec![Fault::new(error.pos, error.message)], lines),
    };
    let mut checker = Checker::new(DataModel { long: if options.ilp32 { 4 } else { 8 } });
    checker.packs = std::mem::take(&mut lines.packs);
    let mut faults = Vec::new();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied();
        let from = tokens.partition_point(|token| (token.pos.0 as usize) < start);
        let to = end.map_or(tokens.len(), |end| tokens.partition_point(|token| (token.pos.0 as usize) < end));
        let mut own = tokens[from..to].to_vec();
        if end.is_some() {
            own.push(token::Token { kind: token::Tok::Eof, pos: token::Pos(start as u32), len: 0 });
        }
        match parse::parse(&own) {
            Ok(unit) => faults.extend(checker.unit(&unit, Origin::User(number as u32))),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return reject(faults, lines);
    }
    checker.packs.clear();
    add_library(&mut checker);
    let finished = lower::lower(checker, lines, options);
    if !finished.faults.is_empty() {
        return reject(finished.faults, finished.lines);
    }
    let mut program = finished.program;
    program.sources = finished.lines.sources;
    program.inputs.range = options.nondet.as_ref().map(|range| (*range.start(), *range.end()));
    // What is left to be found here: atomic blocks that do not match, objects that are too large together.
    if let Err(diagnostics) = raddle_program::validate(&program) {
        return Err(Rejected { diagnostics, sources: program.sources });
    }
    Ok(Compiled { program, notes: finished.notes, competition: finished.competition, habits: finished.habits })
}

/// Checks the library model's declarations; its functions are checked when they are used.
fn add_library(checker: &mut Checker) {
    let mut lines = Lines::new("<library>", headers::LIBRARY);
    let tokens = lex::lex(headers::LIBRARY, &mut lines).expect("the library model is C");
    let unit = parse::parse(&tokens).expect("the library model is C");
    let faults = checker.unit(&unit, Origin::Library);
    assert!(faults.is_empty(), "the library model is well typed: {faults:?}");
}
