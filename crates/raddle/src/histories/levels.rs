//! `lin --levels`: the strongest level of consistency that a history has.

use super::words::words;
use super::{Recorded, Settings};
use crate::cost::Meter;
use crate::error::Error;
use raddle_linear::decide::{self, Levelled};
use raddle_linear::history::OpId;
use raddle_linear::levels::{Standing, Why};
use raddle_report::levels as report;
use raddle_report::{Answer, Body, Conclusion, Sources};
use std::io::Read;

/// Reads a history of a register or a map and says how it stands to each level of consistency; `name` is what the answer and diagnostics call it.
///
/// # Errors
/// If it is not an accepted history, values repeat, or Raddle finds a bug in itself.
pub fn lin_levels(name: &str, input: impl Read, settings: &Settings) -> Result<Answer, Error> {
    let meter = Meter::start();
    let Levelled { kind, history, levels } =
        decide::levels(input, settings).map_err(|error| Error::of_history(error, name))?;
    let recorded = Recorded { kind, history };
    let level = |(level, standing): (raddle_linear::levels::Level, Standing)| {
        let (conclusion, why, ids, cycle) = match standing {
            Standing::Holds => (Conclusion::Holds, None, Vec::new(), false),
            Standing::Unknown(why) => (Conclusion::Unknown, Some(why), Vec::new(), false),
            Standing::Violated(why) => {
                let (text, ids, cycle) = recorded.why(why);
                (Conclusion::Violated, Some(text), ids, cycle)
            }
        };
        let operations = ids.into_iter().map(|id| recorded.briefly(id)).collect();
        report::Level { name: level.name(), conclusion, why, operations, cycle }
    };
    let body = report::Levels {
        object: kind.to_string(),
        operations: recorded.history.ops.len(),
        events: u64::from(recorded.history.events),
        levels: levels.into_iter().map(level).collect(),
    };
    let (file, sources, cost) = (name.to_owned(), Sources::default(), meter.read());
    Ok(Answer { file, sources, cost, body: Body::Levels(body) })
}

impl Recorded {
    fn briefly(&self, id: OpId) -> report::Operation {
        let op = self.history.op(id);
        let process = self.history.value(op.process).to_string();
        report::Operation { id: id.index(), process, words: words(self, op), call_line: op.call_line }
    }

    /// Why a level does not hold: the sentence, the operations, and whether they are a cycle.
    fn why(&self, why: Why) -> (String, Vec<OpId>, bool) {
        match why {
            Why::Unwritten(read) => ("nobody wrote what this read returned".into(), vec![read], false),
            Why::Cycle(ids) => ("each of these comes before the next, and the last before the first".into(), ids, true),
            Why::Overwritten { write, between, read } => {
                let text = match write {
                    Some(_) => "the read returned what the first write wrote, and the second write comes between them",
                    None => "the read returned the value at the beginning, and the write comes before it",
                };
                (text.into(), write.into_iter().chain([between, read]).collect(), false)
            }
            Why::NotLinearizable(ids) => ("these operations cannot be ordered in real time".into(), ids, false),
            Why::NoOrder(ids) if ids.is_empty() => {
                ("no order of the operations explains every read".into(), ids, false)
            }
            Why::NoOrder(ids) => {
                ("no order of these operations explains every read, whatever the others do".into(), ids, false)
            }
        }
    }
}
