//! How a run ends: the one place where exit statuses are decided.

use raddle::Error;
use raddle::report::{Conclusion, Problem, Sources};
use std::process::ExitCode;

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The question is answered, and all is well.
    Holds = 0,
    /// Something is violated.
    Violated = 1,
    /// The input or the command line is wrong, or the answer cannot be written.
    Input = 2,
    /// No answer within the limits.
    Unknown = 3,
    /// A bug in Raddle.
    Internal = 4,
}

impl From<Conclusion> for Status {
    fn from(conclusion: Conclusion) -> Self {
        match conclusion {
            Conclusion::Holds => Status::Holds,
            Conclusion::Violated => Status::Violated,
            Conclusion::Unknown => Status::Unknown,
            Conclusion::Refused => Status::Input,
            Conclusion::Contradiction => Status::Internal,
        }
    }
}

impl From<&Failure> for Status {
    fn from(failure: &Failure) -> Self {
        if failure.internal { Status::Internal } else { Status::Input }
    }
}

impl Status {
    /// The status if what should have been said could not be written.
    pub(crate) fn unwritten(self) -> Self {
        if self == Status::Internal { self } else { Status::Input }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// Why there is no answer, ready to be shown.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// What is wrong; at least one problem.
    pub(crate) problems: Vec<Problem>,
    /// The texts it is about.
    pub(crate) sources: Sources,
    /// Whether Raddle is at fault.
    internal: bool,
}

impl Failure {
    /// Raddle is at fault.
    pub(crate) fn internal(what: &str) -> Self {
        let message = format!("internal error: {}", what.trim_start_matches("internal error: "));
        let help = "this is a bug in Raddle and says nothing about the program; \
                    please report it with the command line and the input";
        Failure { internal: true, ..Problem::new(message).help(help).into() }
    }

    /// The same, about these texts.
    pub(crate) fn about(self, sources: Sources) -> Self {
        Failure { sources, ..self }
    }

    /// No answer about a program with these texts.
    pub(crate) fn in_program(error: &Error, sources: Sources) -> Self {
        Failure { sources, ..error.into() }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure { problems: vec![problem], sources: Sources::default(), internal: false }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        if error.is_internal() {
            return Failure::internal(&error.to_string());
        }
        Failure { problems: error.problems(), sources: error.sources(), internal: false }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::from(&error)
    }
}
