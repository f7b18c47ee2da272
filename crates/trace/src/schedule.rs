//! Schedules: which thread moves next, what a choice picks, which buffered write reaches memory.
//!
//! A schedule together with a program and a model determines a run. The written form is a list of words:
//! `2` lets thread 2 do its next event, `2=1` lets it take alternative 1 of a choice, `2!` lets its oldest buffered
//! write reach memory, and `2!10000c` the oldest one that it buffered for that (hexadecimal) address (partial store order).
//! Where memory is not one sequence of writes, `2<1.3` lets thread 2 read what event 3 of thread 1 wrote, `2<i` the initial value, `2<1.3=1`
//! also picks alternative 1, and with `2@0` its write becomes number 0 among the writes of its location that are there; `2` alone reads or
//! becomes the last one.
//! What is written down, kept and handed on has the names of threads (`2.1` is the first thread that thread 2 started); whoever runs
//! programs works with their numbers.

use crate::ids::{EventId, ThreadId};
use crate::threads::{Numbering, ThreadName};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step<T = ThreadId> {
    /// The thread executes its next visible operation.
    Run(T),
    /// The thread's next operation is a choice and takes this alternative (from 0).
    Choose(T, u32),
    /// The thread's next operation reads from this write, or the initial one, and takes an alternative if it has several.
    ReadFrom(T, Option<EventId<T>>, Option<u32>),
    /// The thread's next operation is a store, and becomes the one at this position among the writes of its location, from 0.
    WriteAt(T, u32),
    /// The thread's oldest buffered write reaches memory.
    Flush(T),
    /// The thread's oldest buffered write to this address reaches memory.
    FlushAt(T, u64),
}

impl<T: Copy> Step<T> {
    /// Whose step it is.
    pub const fn thread(self) -> T {
        match self {
            Step::Run(thread)
            | Step::Choose(thread, _)
            | Step::ReadFrom(thread, ..)
            | Step::WriteAt(thread, _)
            | Step::Flush(thread)
            | Step::FlushAt(thread, _) => thread,
        }
    }

    /// The same step with other names for threads, if there is one for each.
    pub fn named<U>(self, name: impl Fn(T) -> Option<U>) -> Option<Step<U>> {
        let thread = name(self.thread())?;
        Some(match self {
            Step::Run(_) => Step::Run(thread),
            Step::Choose(_, pick) => Step::Choose(thread, pick),
            Step::ReadFrom(_, None, pick) => Step::ReadFrom(thread, None, pick),
            Step::ReadFrom(_, Some(write), pick) => {
                Step::ReadFrom(thread, Some(EventId::new(name(write.thread)?, write.index)), pick)
            }
            Step::WriteAt(_, at) => Step::WriteAt(thread, at),
            Step::Flush(_) => Step::Flush(thread),
            Step::FlushAt(_, addr) => Step::FlushAt(thread, addr),
        })
    }
}

impl<T: fmt::Display> fmt::Display for Step<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Run(thread) => write!(f, "{thread:#}"),
            Step::Choose(thread, pick) => write!(f, "{thread:#}={pick}"),
            Step::ReadFrom(thread, source, pick) => {
                match source {
                    Some(write) => write!(f, "{thread:#}<{:#}.{}", write.thread, write.index)?,
                    None => write!(f, "{thread:#}<i")?,
                }
                pick.map_or(Ok(()), |pick| write!(f, "={pick}"))
            }
            Step::WriteAt(thread, at) => write!(f, "{thread:#}@{at}"),
            Step::Flush(thread) => write!(f, "{thread:#}!"),
            Step::FlushAt(thread, addr) => write!(f, "{thread:#}!{addr:x}"),
        }
    }
}

impl FromStr for Step<ThreadName> {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{word}` is not a step; steps look like `2`, `2=1`, `2!`, `2!10000000c`, `2<1.3`, `2<i`, `2@0` or `2.1`"
            )
        };
        let thread = |text: &str| text.parse().map_err(|_| bad());
        if let Some((t, from)) = word.split_once('<') {
            let (write, pick) = match from.split_once('=') {
                Some((write, pick)) => (write, Some(pick.parse().map_err(|_| bad())?)),
                None => (from, None),
            };
            let source = match write.rsplit_once('.') {
                _ if write == "i" => None,
                Some((name, index)) => Some(EventId::new(thread(name)?, index.parse().map_err(|_| bad())?)),
                None => return Err(bad()),
            };
            return Ok(Step::ReadFrom(thread(t)?, source, pick));
        }
        if let Some((t, at)) = word.split_once('@') {
            return Ok(Step::WriteAt(thread(t)?, at.parse().map_err(|_| bad())?));
        }
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

/// A list of steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule<T = ThreadId> {
    /// In order.
    pub steps: Vec<Step<T>>,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Schedule { steps: Vec::new() }
    }
}

impl Schedule {
    /// The same schedule, with the names of the threads of a program that numbers them in this way.
    ///
    /// # Panics
    /// If there is no thread with one of its numbers.
    #[must_use]
    pub fn named(&self, numbering: Numbering) -> Schedule<ThreadName> {
        let named = |step: &Step| step.named(|thread| numbering.name(thread)).expect("a thread that moves has a name");
        Schedule { steps: self.steps.iter().map(named).collect() }
    }
}

impl Schedule<ThreadName> {
    /// The same schedule, with the numbers of the threads; `None` if one of them cannot be a thread of the program.
    pub fn numbered(&self, numbering: Numbering) -> Option<Schedule> {
        let steps = self.steps.iter().map(|step| step.named(|name| numbering.number(name)));
        Some(Schedule { steps: steps.collect::<Option<_>>()? })
    }
}

impl<T: fmt::Display> fmt::Display for Schedule<T> {
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

impl FromStr for Schedule<ThreadName> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let steps = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        Ok(Schedule { steps })
    }
}

/// As a list of words.
impl Serialize for Schedule<ThreadName> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.steps.iter().map(Step::to_string))
    }
}

impl<'de> Deserialize<'de> for Schedule<ThreadName> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        let steps = words.iter().map(|word| word.parse().map_err(serde::de::Error::custom));
        Ok(Schedule { steps: steps.collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_reads_back_as_it_was_written() {
        let text = "0 0 1 1! 2=3 1!1000000000000004 12 2.1 2.1.3! 2.1=0 2<1.3 2.1<i 2<2.1.0=4 1<i=0 2.1@0";
        let schedule: Schedule<ThreadName> = text.parse().expect("well formed");
        let thread = |name: &str| name.parse::<ThreadName>().expect("a name");
        assert_eq!(schedule.steps[3], Step::Flush(thread("1")));
        assert_eq!(schedule.steps[4], Step::Choose(thread("2"), 3));
        assert_eq!(schedule.steps[7], Step::Run(thread("2.1")));
        assert_eq!(schedule.to_string(), text);
        let json = serde_json::to_string(&schedule).expect("serialises");
        assert_eq!(serde_json::from_str::<Schedule<ThreadName>>(&json).expect("reads"), schedule);
    }

    #[test]
    fn a_bad_word_is_named() {
        for word in ["x", "1=", "1=z", "1!g", "-1", "99999999999", "1.0", "1."] {
            let error = word.parse::<Step<ThreadName>>().expect_err("malformed");
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn numbers_become_names_and_names_numbers() {
        let nested = |name: &str| Numbering::Nested.number(name.parse().expect("a name")).expect("it has a number");
        let schedule = Schedule { steps: vec![Step::Run(nested("3")), Step::FlushAt(nested("2.1"), 16)] };
        let named = schedule.named(Numbering::Nested);
        assert_eq!(named.to_string(), "3 2.1!10");
        assert_eq!(named.numbered(Numbering::Nested), Some(schedule));
        assert_eq!(named.numbered(Numbering::Flat), None);
        assert_eq!(Schedule { steps: vec![Step::Choose(ThreadId(3), 1)] }.named(Numbering::Flat).to_string(), "3=1");
    }
}
