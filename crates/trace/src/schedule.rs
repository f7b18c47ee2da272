//! Schedules: which thread moves next, what a choice picks, which buffered write reaches memory.
//!
//! A schedule together with a program and a model determines a run. The written form is a list of words:
//! `2` lets thread 2 do its next event, `2=1` lets it take alternative 1 of a choice, `2!` lets its oldest buffered
//! write reach memory, and `2!10000c` the oldest one that it buffered for that (hexadecimal) address (partial store order).

use crate::ids::ThreadId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Step {
    /// The thread executes its next visible operation.
    Run(ThreadId),
    /// The thread's next operation is a choice and takes this alternative (from 0).
    Choose(ThreadId, u32),
    /// The thread's oldest buffered write reaches memory.
    Flush(ThreadId),
    /// The thread's oldest buffered write to this address reaches memory.
    FlushAt(ThreadId, u64),
}

impl Step {
    /// Whose step it is.
    pub const fn thread(self) -> ThreadId {
        match self {
            Step::Run(thread) | Step::Choose(thread, _) | Step::Flush(thread) | Step::FlushAt(thread, _) => thread,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Run(thread) => write!(f, "{}", thread.0),
            Step::Choose(thread, pick) => write!(f, "{}={pick}", thread.0),
            Step::Flush(thread) => write!(f, "{}!", thread.0),
            Step::FlushAt(thread, addr) => write!(f, "{}!{addr:x}", thread.0),
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let bad = || format!("`{word}` is not a step; steps look like `2`, `2=1`, `2!` or `2!10000000c`");
        let thread = |text: &str| text.parse().map(ThreadId).map_err(|_| bad());
        if let Some((t, pick)) = word.split_once('=') {
            return Ok(Step::Choose(thread(t)?, pick.parse().map_err(|_| bad())?));
        }
        match word.split_once('!') {
            Some((t, "")) => Ok(Step::Flush(thread(t)?)),
            Some((t, addr)) => Ok(Step::FlushAt(thread(t)?, u64::from_str_radix(addr, 16).map_err(|_| bad())?)),
            None => Ok(Step::Run(thread(word)?)),
        }
    }
}

impl From<Step> for String {
    fn from(step: Step) -> String {
        step.to_string()
    }
}

impl TryFrom<String> for Step {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}

/// A list of steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule {
    /// In order.
    pub steps: Vec<Step>,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.steps.iter().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let steps = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        Ok(Schedule { steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_reads_back_as_it_was_written() {
        let text = "0 0 1 1! 2=3 1!1000000000000004 12";
        let schedule: Schedule = text.parse().expect("well formed");
        assert_eq!(schedule.steps[3], Step::Flush(ThreadId(1)));
        assert_eq!(schedule.steps[4], Step::Choose(ThreadId(2), 3));
        assert_eq!(schedule.to_string(), text);
        let json = serde_json::to_string(&schedule).expect("serialises");
        assert_eq!(serde_json::from_str::<Schedule>(&json).expect("reads"), schedule);
    }

    #[test]
    fn a_bad_word_is_named() {
        for word in ["x", "1=", "1=z", "1!g", "-1", "99999999999"] {
            let error = word.parse::<Step>().expect_err("malformed");
            assert!(error.contains(word), "{error}");
        }
    }
}
