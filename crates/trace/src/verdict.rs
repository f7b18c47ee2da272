//! What is said about a program in the end: verdict, how far it reaches, what was violated.

use crate::schedule::Schedule;
use crate::threads::ThreadName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A place in the user's source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// File, as the user named it.
    pub file: Arc<str>,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The text of the line, trimmed.
    pub text: Arc<str>,
}

/// A kind of thing that must not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Property {
    /// A false assertion.
    Assert,
    /// A reached error mark.
    Error,
    /// A use of memory that is not there: out of bounds, freed, null, wild, never initialised.
    Memory,
    /// A misuse of a lock, condition variable, barrier, semaphore or thread handle.
    Lock,
    /// A division by zero.
    Arithmetic,
    /// Two unordered accesses to one location, one of them a write and one of them not atomic.
    Race,
    /// Threads that wait for each other for ever.
    Deadlock,
}

impl Property {
    /// Every property.
    pub const ALL: [Property; 7] = [
        Property::Assert,
        Property::Error,
        Property::Memory,
        Property::Lock,
        Property::Arithmetic,
        Property::Race,
        Property::Deadlock,
    ];

    /// The name on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Property::Assert => "assert",
            Property::Error => "error",
            Property::Memory => "memory",
            Property::Lock => "lock",
            Property::Arithmetic => "arithmetic",
            Property::Race => "race",
            Property::Deadlock => "deadlock",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Property {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Property::ALL.into_iter().find(|property| property.name() == name).ok_or_else(|| {
            let names: Vec<_> = Property::ALL.iter().map(|p| p.name()).collect();
            format!("no property is called `{name}`; there are {}", names.join(", "))
        })
    }
}

/// What was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No execution within the scope breaks a property.
    Holds,
    /// Some execution breaks one; it has been replayed.
    Violated,
    /// Neither could be established.
    Unknown,
}

/// How far a verdict reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scope {
    /// All executions of the program.
    AllExecutions,
    /// All executions, however often their loops turn: every state they go through was looked at.
    States {
        /// How many there are.
        states: u64,
    },
    /// All executions in which no loop turns more often than this.
    LoopBound {
        /// How often the body of a loop is entered each time the loop is.
        turns: u32,
    },
    /// All executions in which unknown inputs lie in a range.
    Inputs {
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
        /// How often the body of a loop is entered each time the loop is, if that was cut off.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        turns: Option<u32>,
    },
    /// No execution came to its end, so a verdict would rest on nothing.
    Nothing {
        /// So many ended before, in a wait without end or at a false assumption.
        blocked: u64,
        /// So many were cut off at the loop bound.
        bounded: u64,
    },
    /// Only a part; the reason says why it ended.
    Partial {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::AllExecutions => f.write_str("all executions"),
            Scope::States { states } => write!(f, "all executions, without a bound: {states} states"),
            Scope::LoopBound { turns } => write!(f, "all executions in which no loop turns more than {turns} times"),
            Scope::Inputs { low, high, turns } => {
                write!(f, "all executions for inputs in {low}..{high}")?;
                turns.map_or(Ok(()), |turns| write!(f, " in which no loop turns more than {turns} times"))
            }
            Scope::Nothing { blocked, bounded } => {
                write!(
                    f,
                    "nothing: no execution came to its end ({blocked} blocked, {bounded} cut off at the loop bound)"
                )
            }
            Scope::Partial { reason } => write!(f, "part of the executions: {reason}"),
        }
    }
}

/// An execution that breaks a property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// Which property.
    pub property: Property,
    /// What happened, in one line.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The run that shows it.
    pub schedule: Schedule<ThreadName>,
}

/// A thread that waits for something that never comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadName,
    /// For what: "the mutex m", "T1 to end".
    pub what: String,
    /// Where in the source.
    pub place: Place,
}
