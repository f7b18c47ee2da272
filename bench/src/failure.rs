//! Why there are no numbers.

use thiserror::Error;

/// Why a benchmark has no result.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The verifier has no verdict.
    #[error("{program}: {source}")]
    Verifier {
        /// Of what.
        program: String,
        /// Why.
        source: Box<raddle::Error>,
    },
    /// The exploration did not cover everything.
    #[error("{program}: not all executions were explored")]
    Partial {
        /// Of what.
        program: String,
    },
    /// A wrong count; its speed is of no interest.
    #[error("{program}: {found} executions instead of {expected}")]
    Count {
        /// Of what.
        program: String,
        /// What was counted.
        found: u64,
        /// What should have been.
        expected: u64,
    },
    /// A program got a verdict it should not have got.
    #[error("{program}: {found}")]
    Verdict {
        /// Of what.
        program: String,
        /// What came out, and of whom.
        found: String,
    },
    /// A history got a verdict it should not have got.
    #[error("{what}: {found}")]
    History {
        /// Of what.
        what: String,
        /// What came out.
        found: String,
    },
    /// Algorithms for graphs disagree, or an input is none.
    #[error("{0}")]
    Fair(String),
    /// A program that is that of a published table has another count, or is not there.
    #[error("{0}")]
    Table(String),
    /// A limit was reached.
    #[error(transparent)]
    Stop(#[from] raddle::fair::sets::Stop),
    /// A process of its own could not be run.
    #[error("the process that measures memory failed: {0}")]
    Child(String),
    /// Another tool cannot be measured.
    #[error("{tool}: {what}")]
    Tool {
        /// Which.
        tool: String,
        /// Why.
        what: String,
    },
    /// A program that is measured by its name is not there.
    #[error("bench/programs has no program `{0}`")]
    Missing(&'static str),
    /// The programs cannot be read.
    #[error(transparent)]
    Catalogue(#[from] raddle_bench::catalogue::Problem),
    /// Input or output failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Something is not the JSON it should be.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl Failure {
    /// The verifier has no verdict about this program.
    pub(crate) fn of(program: &str) -> impl FnOnce(raddle::Error) -> Failure + use<> {
        let program = program.to_owned();
        |source| Failure::Verifier { program, source: Box::new(source) }
    }
}
