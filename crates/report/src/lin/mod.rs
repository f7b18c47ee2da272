//! What `lin` has to say: whether a history is linearizable, with an order that shows it or operations that cannot be ordered.
//!
//! A history may have millions of operations, of which a report shows few. So they stay with whoever read them, and are asked for by number.

mod json;
mod text;
mod timeline;

use crate::answer::{Answer, Conclusion, Say};
use crate::json::Head;
use crate::paper::Paper;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// The answer about a history.
#[derive(Clone, Debug)]
pub struct Lin {
    /// The kind of object.
    pub object: String,
    /// The operations, in the order of their calls.
    pub operations: Arc<dyn Operations>,
    /// How many events there are.
    pub events: u64,
    /// How many objects or keys were checked on their own.
    pub parts: usize,
    /// Who gave the answer: a monitor, or `search`.
    pub engine: String,
    /// How many configurations a search visited; 0 for monitors.
    pub configurations: u64,
    /// How many states it met.
    pub states: u64,
    /// What was found.
    pub found: Found,
    /// Under which other meaning of its words the history would hold.
    pub hints: Vec<String>,
}

/// The operations of a history.
pub trait Operations: Debug + Send + Sync {
    /// How many there are.
    fn number(&self) -> usize;
    /// When the operation was called, and so on.
    fn operation(&self, id: usize) -> Operation;
    /// The operation in a few words: `push(5)`, `pop() = 5`.
    fn words(&self, id: usize) -> String;
    /// What the operation was given and what it returned.
    fn data(&self, id: usize) -> Data;
    /// The name of a process.
    fn process(&self, process: u32) -> String;
}

/// When and by whom an operation was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The process, by number.
    pub process: u32,
    /// The number of the event of its call.
    pub call: u32,
    /// The number of the event of its return, if it ever returned.
    pub ret: Option<u32>,
    /// The line of its call in the input, 0 if there is none.
    pub call_line: u32,
    /// The line of its return in the input, 0 if there is none.
    pub return_line: u32,
}

/// What an operation was given and what it returned, as it stands in JSON.
#[derive(Clone, Debug)]
pub struct Data {
    /// The process.
    pub process: Value,
    /// The object or key, if the input names one.
    pub key: Option<Value>,
    /// The name of the method.
    pub method: &'static str,
    /// Its argument.
    pub value: Option<Value>,
    /// The new value of a compare-and-set.
    pub new: Option<Value>,
    /// What it returned, if somebody knows.
    pub result: Option<Value>,
}

/// What was found. Operations are named by number.
#[derive(Clone, Debug)]
pub enum Found {
    /// This order explains every result and respects real time.
    Linearizable(Vec<usize>),
    /// There is none.
    Not(Box<Explanation>),
    /// There was no answer within the limits; why.
    Unknown(String),
}

/// Why a history is not linearizable.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The kind of violation, as a stable name.
    pub reason: &'static str,
    /// The same in a sentence or two.
    pub text: String,
    /// The object or key it is about, in words and as it stands in JSON, if the history names one.
    pub object: Option<(String, Value)>,
    /// Operations that cannot be ordered.
    pub operations: Vec<usize>,
    /// Operations of which only the calls count.
    pub called: Vec<usize>,
    /// Whether all others may have taken effect at any time after their calls, or never; else they do not matter at all.
    pub others_pending: bool,
    /// Whether none of `operations` can be spared.
    pub minimal: bool,
    /// Whether the general checker was asked about them and agreed.
    pub confirmed: bool,
    /// What came before `operations`, if it was replaced by the state the object may be taken to have been in.
    pub since: Option<Since>,
    /// States the object could be in just before, if no order gets past an operation.
    pub before: Vec<State>,
    /// After which event the history is wrong.
    pub earliest: Option<Earliest>,
}

/// A state that an object could be in.
#[derive(Clone, Debug)]
pub struct State {
    /// The state, in words.
    pub words: String,
    /// Open operations that had taken effect.
    pub done: Vec<usize>,
}

/// What the beginning of a history was replaced by.
#[derive(Clone, Debug)]
pub struct Since {
    /// The number of the event that comes next.
    pub event: u32,
    /// The state just before it.
    pub state: State,
}

/// After which event a history is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Earliest {
    /// The number of the event.
    pub event: u32,
    /// Its line in the input, if there is one.
    pub line: Option<u32>,
    /// Whether the history was still right before it.
    pub exact: bool,
}

impl Say for Lin {
    fn command(&self) -> &'static str {
        "lin"
    }

    fn conclusion(&self) -> Conclusion {
        match self.found {
            Found::Linearizable(_) => Conclusion::Holds,
            Found::Not(_) => Conclusion::Violated,
            Found::Unknown(_) => Conclusion::Unknown,
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        self.write_text(answer.cost, paper);
    }

    fn json(&self, head: Head<'_>) -> String {
        head.line(&self.fields())
    }

    fn html(&self, _: &Answer) -> Option<String> {
        Some(self.timeline())
    }
}
