//! The answer to one question, before it is put into words.
//!
//! Every command fills the same [`Answer`]: what was asked about, what it cost, and a [`Body`] with what this command has to say. Whatever
//! an answer can become, text, JSON, a graph or a page, it becomes here, and how it ends is its [`Conclusion`].

use crate::check::Check;
use crate::comparison::Comparison;
use crate::fair::Fair;
use crate::family::Family;
use crate::json::Head;
use crate::levels::Levels;
use crate::lin::Lin;
use crate::litmus::Litmus;
use crate::live::Live;
use crate::mailbox::Mailbox;
use crate::memsys::Memsys;
use crate::numbers::{memory, time};
use crate::paper::{Layout, Paper};
use crate::replay::Replay;
use crate::robust::Robust;
use crate::stream::Stream;
use crate::strengthen::Strengthen;
use crate::style::{BAD, GOOD, OPEN, Style};
use crate::trace::Trace;
use crate::transactions::Transactions;
use crate::witness::Task;
use raddle_trace::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything there is to say.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked about, as the user named it.
    pub file: String,
    /// The texts that the answer may quote from.
    pub sources: Sources,
    /// What it cost.
    pub cost: Cost,
    /// What was found.
    pub body: Body,
}

/// What a command has to say.
#[derive(Clone, Debug)]
pub enum Body {
    /// `check`: does some execution break a property?
    Check(Check),
    /// `check` of a litmus test: is what it says about its final states true?
    Litmus(Litmus),
    /// `check --live`: does every fair run do what it is to do?
    Live(Box<Live>),
    /// `check --model all`: under which memory models?
    Family(Family),
    /// `compare`: do the engines agree?
    Compare(Comparison),
    /// `replay`: what does this schedule do?
    Replay(Replay),
    /// `trace`: is there an execution of this shape?
    Trace(Trace),
    /// `lin`: is this history linearizable?
    Lin(Lin),
    /// `lin --stream`: the same, of a history that is not kept.
    Stream(Stream),
    /// `lin --levels`: the strongest level of consistency.
    Levels(Levels),
    /// `lin --txn`: at which isolation level do these transactions stand?
    Transactions(Transactions),
    /// `trace --mailbox`: is there a run of handlers with mailboxes of this shape?
    Mailbox(Mailbox),
    /// `memsys`: do all runs of this memory system satisfy a model?
    Memsys(Memsys),
    /// `fair`: can this objective be satisfied, does this specification hold?
    Fair(Fair),
    /// `robust`: is every execution under TSO one of SC?
    Robust(Robust),
    /// `strengthen`: which memory orders and fences does this program need?
    Strengthen(Strengthen),
}

/// How an answer ends. A command has one exit status for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// All is well.
    Holds,
    /// Something is violated.
    Violated,
    /// Not everything was looked at.
    Unknown,
    /// Nobody takes the question.
    Refused,
    /// Two answers that cannot both be right, which is a bug in Raddle.
    Contradiction,
}

impl From<Verdict> for Conclusion {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Conclusion::Holds,
            Verdict::Violated => Conclusion::Violated,
            Verdict::Unknown => Conclusion::Unknown,
        }
    }
}

impl Conclusion {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Conclusion::Holds => "holds",
            Conclusion::Violated => "violated",
            Conclusion::Unknown | Conclusion::Refused => "unknown",
            Conclusion::Contradiction => "contradiction",
        }
    }

    /// The colour of the word.
    pub(crate) fn style(self) -> Style {
        match self {
            Conclusion::Holds => GOOD,
            Conclusion::Violated | Conclusion::Contradiction => BAD,
            Conclusion::Unknown | Conclusion::Refused => OPEN,
        }
    }
}

/// What every body can do.
pub(crate) trait Say {
    /// The command that it answers.
    fn command(&self) -> &'static str;
    fn conclusion(&self) -> Conclusion;
    /// For a person: the verdict first, then why, then how far it reaches, then what it took.
    fn text(&self, answer: &Answer, paper: &mut Paper);
    /// As a JSON object on one line.
    fn json(&self, head: Head<'_>) -> String;
    /// As a graph for Graphviz, if there is something to draw.
    fn dot(&self) -> Option<String> {
        None
    }
    /// As a page for a browser, if there is something to draw.
    fn html(&self, _answer: &Answer) -> Option<String> {
        None
    }
    /// As a log for code hosts, if it is about a program.
    fn sarif(&self) -> Option<String> {
        None
    }
    /// The first violation as a witness of competitions, if they know such ones.
    fn witness(&self, _task: &Task, _sources: &Sources) -> Option<String> {
        None
    }
    /// As lines for editors, if it is about a program.
    fn lines(&self, _answer: &Answer) -> Option<String> {
        None
    }
}

impl Answer {
    fn say(&self) -> &dyn Say {
        match &self.body {
            Body::Check(body) => body,
            Body::Litmus(body) => body,
            Body::Live(body) => &**body,
            Body::Family(body) => body,
            Body::Compare(body) => body,
            Body::Replay(body) => body,
            Body::Trace(body) => body,
            Body::Lin(body) => body,
            Body::Stream(body) => body,
            Body::Levels(body) => body,
            Body::Transactions(body) => body,
            Body::Mailbox(body) => body,
            Body::Memsys(body) => body,
            Body::Fair(body) => body,
            Body::Robust(body) => body,
            Body::Strengthen(body) => body,
        }
    }

    /// How it ends.
    pub fn conclusion(&self) -> Conclusion {
        self.say().conclusion()
    }

    /// For a person. Text carries ANSI colours; whoever prints it strips them where they are not wanted.
    pub fn text(&self, layout: Layout) -> String {
        let mut paper = Paper::new(layout);
        self.say().text(self, &mut paper);
        paper.finish()
    }

    /// For a program: one JSON object on one line.
    pub fn json(&self) -> String {
        let command = self.say().command();
        self.say().json(Head { command: Some(command), file: Some(&self.file), cost: Some(self.cost) })
    }

    /// As a graph in the language of Graphviz, if there is something to draw.
    pub fn dot(&self) -> Option<String> {
        self.say().dot()
    }

    /// As a log in SARIF 2.1.0, if it is about a program.
    pub fn sarif(&self) -> Option<String> {
        self.say().sarif()
    }

    /// The first violation as a witness of verification competitions, if they know such ones.
    pub fn witness(&self, task: &Task) -> Option<String> {
        self.say().witness(task, &self.sources)
    }

    /// One line for each violation, as compilers have it, and one for the verdict; if it is about a program.
    pub fn lines(&self) -> Option<String> {
        self.say().lines(self)
    }

    /// As one page for a browser that loads nothing, if there is something to draw.
    pub fn html(&self) -> Option<String> {
        self.say().html(self)
    }
}

/// Time and memory.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// Time that went by.
    pub seconds: f64,
    /// Processor time of all workers.
    pub cpu_seconds: f64,
    /// The most memory the process held at once, if the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl Cost {
    /// The last words of an answer: what was counted, the time that went by and the most memory.
    pub(crate) fn after(&self, mut counted: Vec<String>) -> String {
        counted.push(time(self.seconds));
        counted.extend(self.peak_memory());
        counted.join(", ")
    }

    /// The most memory, in words.
    pub(crate) fn peak_memory(&self) -> Option<String> {
        self.peak_memory_bytes.map(|bytes| format!("{} peak memory", memory(bytes)))
    }
}

/// The texts that places point into, by the name of their file.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: BTreeMap<Arc<str>, Arc<str>>,
}

impl Sources {
    /// The text of a file, if it is known.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.files.get(file).map(|text| &**text)
    }
}

impl<N: Into<Arc<str>>, T: Into<Arc<str>>> FromIterator<(N, T)> for Sources {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(files: I) -> Self {
        Sources { files: files.into_iter().map(|(name, text)| (name.into(), text.into())).collect() }
    }
}
