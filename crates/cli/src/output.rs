//! Where answers and problems go: standard output as text or as JSON, standard error, files.

use crate::Status;
use raddle::report::table::Layout;
use raddle::report::{Problem, Sources, json};
use raddle::{Error, VERSION};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The width of text that goes to no terminal.
const WIDTH: usize = 100;

/// In which form answers are given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    /// As JSON, or for a person.
    pub(crate) fn new(json: bool) -> Self {
        Output { json }
    }

    /// Prints the answer in the form that was asked for. The run ends with this status if that succeeds.
    pub(crate) fn answer(
        self,
        status: Status,
        json: impl FnOnce() -> String,
        human: impl FnOnce() -> String,
    ) -> Status {
        print(&if self.json { json() } else { human() }, status)
    }

    /// Says why there is no answer.
    pub(crate) fn error(self, error: &Error) -> Status {
        self.error_in(error, &error.sources())
    }

    /// The same, with the text of the program it is about.
    pub(crate) fn error_in(self, error: &Error, sources: &Sources) -> Status {
        if error.is_internal() {
            return report_bug(self.json, &error.to_string());
        }
        self.problems(&error.problems(), sources, Status::Input)
    }

    /// Says what is wrong with the command line or with a file it names.
    pub(crate) fn problem(self, problem: &Problem) -> Status {
        self.problem_in(problem, &Sources::default())
    }

    /// The same, with the text it is about.
    pub(crate) fn problem_in(self, problem: &Problem, sources: &Sources) -> Status {
        self.problems(std::slice::from_ref(problem), sources, Status::Input)
    }

    fn problems(self, problems: &[Problem], sources: &Sources, status: Status) -> Status {
        if self.json {
            return print(&json::error(problems, VERSION), status);
        }
        let texts: Vec<String> = problems.iter().map(|problem| problem.render(sources, width())).collect();
        print_error(&texts.join("\n"));
        status
    }

    /// Writes a file the user asked for.
    pub(crate) fn write(self, path: &Path, text: &str) -> Result<(), Status> {
        std::fs::write(path, text)
            .map_err(|error| self.problem(&Problem::new(format!("cannot write `{}`: {error}", path.display()))))
    }
}

/// Says that Raddle is at fault.
pub(crate) fn report_bug(json: bool, what: &str) -> Status {
    let message = format!("internal error: {}", what.trim_start_matches("internal error: "));
    let help = "this is a bug in Raddle and says nothing about the program; \
                please report it with the command line and the input";
    let problem = Problem::new(message).help(help);
    Output::new(json).problems(&[problem], &Sources::default(), Status::Internal)
}

/// The layout for text on standard output.
pub(crate) fn layout(full: bool) -> Layout {
    Layout { width: width(), full }
}

/// `COLUMNS` if it is set, else the width of the terminal, else a fixed one.
fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width));
    asked.or_else(terminal).filter(|&width| width > 0).unwrap_or(WIDTH)
}

/// Prints to standard output, with colours if it is a terminal that wants them.
///
/// The run ends with this status, unless the text cannot be written: then nobody has the answer, and the run ends as it does when a file cannot be written.
pub(crate) fn print(text: &str, status: Status) -> Status {
    match write_all(&mut anstream::stdout().lock(), text) {
        Ok(()) => status,
        Err(error) => {
            let problem = Problem::new(format!("cannot write to standard output: {error}"));
            print_error(&problem.render(&Sources::default(), width()));
            if status == Status::Internal { status } else { Status::Input }
        }
    }
}

/// Prints to standard error, with colours if it is a terminal that wants them.
pub(crate) fn print_error(text: &str) {
    // If standard error takes nothing there is nowhere left to say so; the exit status tells.
    let _ = write_all(&mut anstream::stderr().lock(), text);
}

/// A reader that has gone away (`raddle show x.rdl | head`) has seen what it wanted to see.
fn write_all(stream: &mut impl Write, text: &str) -> std::io::Result<()> {
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
