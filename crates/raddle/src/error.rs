//! Why there is no answer.

use raddle_engine::{Fault, Refusal};
use raddle_linear::decide::Error as HistoryError;
use raddle_linear::format::InputError;
use raddle_machine::ReplayError;
use raddle_program::{Diagnostic, SourceMap};
use raddle_report::excerpt::Mark;
use raddle_report::{Problem, Sources};
use raddle_trace::Place;
use std::path::PathBuf;
use thiserror::Error;

/// Why a question could not be answered.
#[derive(Debug, Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is larger than any program.
    #[error("`{}` has {size} bytes; programs have at most {}", path.display(), crate::load::MAX_BYTES)]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// Its size.
        size: u64,
    },
    /// The file is not text.
    #[error("`{}` is not UTF-8 text", path.display())]
    NotText {
        /// Which.
        path: PathBuf,
        /// The line of the first bad byte, from 1.
        line: u32,
        /// The column of the first bad byte, from 1.
        column: u32,
    },
    /// The name of the file does not say what language it is in.
    #[error("do not know what language `{}` is in", path.display())]
    UnknownLanguage {
        /// Which.
        path: PathBuf,
    },
    /// A value given to a parameter makes no sense.
    #[error("{0}")]
    Define(String),
    /// A program has several files and is not in C.
    #[error("only programs in C have several files, and `{}` is not in C, so `{}` means nothing", path.display(), other.display())]
    OneFile {
        /// Its first file.
        path: PathBuf,
        /// The other one.
        other: PathBuf,
    },
    /// A compilation database is none.
    #[error("`{}` is not a compilation database: {what}", path.display())]
    Commands {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A bound is for a loop that is not there.
    #[error("{0}")]
    NoLoop(String),
    /// The engine has no such switch.
    #[error("{0}")]
    Switch(String),
    /// The program is not accepted.
    #[error("{}", summary(diagnostics))]
    Rejected {
        /// Its text.
        sources: SourceMap,
        /// What is wrong with it; at least one.
        diagnostics: Vec<Diagnostic>,
    },
    /// The C front end could not get at the program.
    #[error(transparent)]
    FrontEnd(raddle_c::Error),
    /// The program does something that is not supported.
    #[error("{message}")]
    Unsupported {
        /// What.
        message: String,
        /// Where.
        place: Place,
        /// What would help: these accesses, made in pieces of so many bytes.
        pieces: Vec<(Place, u8)>,
    },
    /// The trace is not accepted.
    #[error("{error}")]
    Trace {
        /// What is wrong with it.
        error: raddle_consistency::format::InputError,
        /// What it is called.
        name: String,
        /// Its text.
        text: String,
    },
    /// The memory system is not accepted.
    #[error("{error}")]
    Memsys {
        /// What is wrong with it.
        error: raddle_memsys::format::InputError,
        /// What it is called.
        name: String,
        /// Its text.
        text: String,
    },
    /// The history is not accepted, or the settings do not fit it.
    #[error("{error}")]
    History {
        /// What is wrong with it.
        error: raddle_linear::decide::Error,
        /// What it is called.
        name: String,
    },
    /// A file that a question about a graph or an MDP needs is not accepted.
    #[error("{error}")]
    Fair {
        /// What is wrong with it.
        error: raddle_fair::format::InputError,
        /// What it is called.
        name: String,
        /// Its text.
        text: String,
    },
    /// The schedule does not fit the program.
    #[error(transparent)]
    Schedule(#[from] ReplayError),
    /// A bug in Raddle.
    #[error("{0}")]
    Internal(String),
}

fn summary(diagnostics: &[Diagnostic]) -> &str {
    diagnostics.first().map_or("the program is not accepted", |first| &first.message)
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(Refusal { message, place, pieces }) => Error::Unsupported { message, place, pieces },
            fault @ Fault::NotReplayed(_) => Error::Internal(fault.to_string()),
        }
    }
}

impl Error {
    /// Why there is no verdict on the history of this name.
    pub(crate) fn of_history(error: HistoryError, name: &str) -> Self {
        match error {
            HistoryError::Internal(what) => Error::Internal(what),
            error => Error::History { error, name: name.to_owned() },
        }
    }

    /// Whether this is Raddle's fault.
    pub fn is_internal(&self) -> bool {
        matches!(self, Error::Internal(_))
    }

    /// What is wrong, ready to be shown; at least one problem.
    pub fn problems(&self) -> Vec<Problem> {
        let problem = Problem::new(self.to_string());
        let in_file = |path: &PathBuf, line, column| Mark {
            file: path.display().to_string(),
            line,
            column,
            len: 1,
            ..Mark::default()
        };
        vec![match self {
            Error::Rejected { sources, diagnostics } if !diagnostics.is_empty() => {
                return diagnostics.iter().map(|diagnostic| rejected(sources, diagnostic)).collect();
            }
            Error::Unsupported { message, place, .. } => {
                let Place { ref file, line, column, .. } = *place;
                let mark = Mark { file: file.to_string(), line, column, ..Mark::default() };
                if line > 0 { Problem::new(message).mark(mark) } else { problem }
            }
            Error::Trace { error, name, .. } | Error::Memsys { error, name, .. } => {
                let mark = error.spot.map(|spot| Mark {
                    file: name.clone(),
                    line: spot.line,
                    column: spot.column,
                    len: spot.len,
                    ..Mark::default()
                });
                Problem { help: error.help.clone(), marks: mark.into_iter().collect(), ..problem }
            }
            Error::History { error: HistoryError::Input(InputError::Line { line, message, .. }), name } => {
                Problem::new(message).mark(Mark { file: name.clone(), line: *line, column: 1, ..Mark::default() })
            }
            Error::Fair { error, name, .. } => {
                let (line, column) = (error.line, error.column);
                let mark = Mark { file: name.clone(), line, column, len: 1, ..Mark::default() };
                Problem { help: error.help.clone(), ..if line > 0 { problem.mark(mark) } else { problem } }
            }
            Error::NotText { path, line, column } => problem.mark(in_file(path, *line, *column)),
            Error::UnknownLanguage { .. } => {
                problem.help("programs end in .rdl (the language of Raddle), .c or .i (C), .litmus (litmus tests), .trencher (automata)")
            }
            Error::FrontEnd(raddle_c::Error::Compiler { .. }) => problem.help(
                "C programs go through the preprocessor of a C compiler; set CC to one, or give a file that \
                 went through it already (.i)",
            ),
            Error::Schedule(_) => problem.help(
                "a schedule belongs to one program, one memory model and one set of -D values; \
                 was the program changed since the schedule was saved?",
            ),
            _ => problem,
        }]
    }

    /// The texts the problems point into.
    pub fn sources(&self) -> Sources {
        match self {
            Error::Rejected { sources, .. } => crate::load::sources(sources),
            Error::Trace { name, text, .. } | Error::Memsys { name, text, .. } | Error::Fair { name, text, .. } => {
                [(name.as_str(), text.as_str())].into_iter().collect()
            }
            Error::History { error: HistoryError::Input(InputError::Line { line, text, .. }), name } => {
                // Only the line is known, not what stands before it.
                let padding = "\n".repeat((*line as usize).saturating_sub(1));
                [(name.as_str(), padding + text)].into_iter().collect()
            }
            _ => Sources::default(),
        }
    }
}

fn rejected(sources: &SourceMap, diagnostic: &Diagnostic) -> Problem {
    let span = diagnostic.span;
    let mut problem = Problem::new(&diagnostic.message);
    problem.help.clone_from(&diagnostic.help);
    if sources.files.get(span.file as usize).is_some() {
        problem = problem.mark(Mark {
            file: sources.name(span).to_owned(),
            line: span.line,
            column: span.column,
            len: span.len.max(1),
            label: diagnostic.label.clone(),
        });
    }
    problem
}
