//! Where answers go: standard output as text or as JSON, standard error, files.

use crate::status::{Failure, Status};
use raddle::report::{Answer, Conclusion, Layout, Problem, Sources, json};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The width of text that goes to no terminal.
const WIDTH: usize = 100;

/// What a command was asked to make of its answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Output<'a> {
    /// The command, if it is known.
    pub(crate) command: Option<&'a str>,
    /// The file it is about, if it is known.
    pub(crate) file: Option<&'a str>,
    /// Print JSON.
    pub(crate) json: bool,
    /// Print lines for editors.
    pub(crate) short: bool,
    /// Leave nothing out.
    pub(crate) full: bool,
    /// Write a graph here.
    pub(crate) dot: Option<&'a Path>,
    /// Write a page here.
    pub(crate) html: Option<&'a Path>,
    /// Write a log for code hosts here.
    pub(crate) sarif: Option<&'a Path>,
}

impl<'a> Output<'a> {
    /// Prints what this command says about this file.
    pub(crate) fn new(command: &'a str, file: &'a str, json: bool) -> Self {
        Output { command: Some(command), file: Some(file), json, ..Output::default() }
    }
}

impl Output<'_> {
    /// Ends the command: writes the files that are wanted, prints the answer or why there is none.
    pub(crate) fn end(self, result: Result<Answer, Failure>) -> Status {
        match result.and_then(|answer| self.write_files(&answer).map(|()| answer)) {
            Ok(answer) => self.answer(&answer),
            Err(failure) => self.failure(&failure),
        }
    }

    fn write_files(self, answer: &Answer) -> Result<(), Failure> {
        let wanted = [
            (self.dot, Answer::dot as fn(&Answer) -> Option<String>),
            (self.html, Answer::html),
            (self.sarif, Answer::sarif),
        ];
        for (path, draw) in wanted {
            if let Some(path) = path
                && let Some(drawn) = draw(answer)
            {
                write_file(path, &drawn)?;
            }
        }
        Ok(())
    }

    fn answer(self, answer: &Answer) -> Status {
        let conclusion = answer.conclusion();
        if self.json {
            return print(&answer.json(), conclusion.into());
        }
        if let Some(lines) = self.short.then(|| answer.lines()).flatten() {
            return print(&lines, conclusion.into());
        }
        let status = print(&answer.text(Layout { width: width(), full: self.full }), conclusion.into());
        if conclusion == Conclusion::Contradiction {
            let problem = Problem::new("internal error: engines contradict each other about this program")
                .help("this is a bug in Raddle, and neither verdict can be trusted; please report it with the program");
            print_error(&format!("\n{}", problem.render(&Sources::default(), width())));
        }
        status
    }

    /// Says why there is no answer.
    pub(crate) fn failure(self, failure: &Failure) -> Status {
        let Failure { problems, sources, .. } = failure;
        if self.json {
            return print(&json::error(self.command, self.file, problems), failure.into());
        }
        if self.short {
            let lines: Vec<String> = problems.iter().flat_map(Problem::lines).collect();
            return print(&(lines.join("\n") + "\n"), failure.into());
        }
        let texts: Vec<String> = problems.iter().map(|problem| problem.render(sources, width())).collect();
        print_error(&texts.join("\n"));
        failure.into()
    }
}

/// Writes a file the user asked for.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Problem::new(format!("cannot write `{}`: {error}", path.display())).into())
}

/// `COLUMNS` if it is set, else the width of the terminal, else a fixed one.
fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width));
    asked.or_else(terminal).filter(|&width| width > 0).unwrap_or(WIDTH)
}

/// Prints to standard output, with colours if it is a terminal that wants them.
///
/// The run ends with this status, unless the text cannot be written: then nobody has the answer, and the run ends as it does when a
/// file cannot be written.
pub(crate) fn print(text: &str, status: Status) -> Status {
    match write_all(&mut anstream::stdout().lock(), text) {
        Ok(()) => status,
        Err(error) => {
            let problem = Problem::new(format!("cannot write to standard output: {error}"));
            print_error(&problem.render(&Sources::default(), width()));
            status.unwritten()
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
