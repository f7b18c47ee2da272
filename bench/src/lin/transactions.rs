//! Histories of transactions, of our own making and written as Elle's workloads write them, from the file to the verdict.
//!
//! Clients run transactions of one to four reads and writes of ten keys; a key is given up for a new one after so many writes. A transaction takes effect at one instant between its call and its
//! return, so the history is strictly serializable, and another answer is an error. What is timed is all that `raddle lin FILE --txn` does but starting and printing; the text is made before.

use super::{Table, seconds};
use crate::failure::Failure;
use crate::table::thousands;
use fastrand::Rng;
use raddle::cost::Meter;
use raddle::linear::decide::{Settings, transactions};
use raddle::linear::txn::{Standing, Workload};
use std::fmt::Write;

const CLIENTS: usize = 10;
const KEYS: usize = 10;

/// Where a client stands.
enum Client {
    Idle,
    Called(Vec<(usize, Option<u32>)>),
    /// What its return says.
    Done(String),
}

/// The text of a history.
fn history(workload: Workload, count: usize, writes: u32) -> String {
    let mut random = Rng::with_seed(17);
    let lists = workload == Workload::ListAppend;
    let write = if lists { ":append" } else { ":w" };
    // Of each key the number of writes asked for, and what is there; and the keys in use.
    let mut state: Vec<(u32, String)> = vec![(0, String::new()); KEYS];
    let mut keys: Vec<usize> = (0..KEYS).collect();
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::Idle).collect();
    let (mut text, mut called, mut done) = (String::new(), 0, 0);
    let event = |text: &mut String, client: usize, kind: &str, words: &str| {
        _ = writeln!(text, "{{:process {client}, :type :{kind}, :f :txn, :value [{words}]}}");
    };
    while done < count {
        let at = random.usize(..CLIENTS);
        clients[at] = match std::mem::replace(&mut clients[at], Client::Idle) {
            Client::Idle if called == count => Client::Idle,
            Client::Idle => {
                let mut parts = Vec::new();
                let mut words = String::new();
                for _ in 0..random.usize(1..=4) {
                    let place = random.usize(..KEYS);
                    let key = keys[place];
                    let gap = if words.is_empty() { "" } else { " " };
                    if random.bool() {
                        parts.push((key, None));
                        _ = write!(words, "{gap}[:r {key} nil]");
                        continue;
                    }
                    state[key].0 += 1;
                    let value = state[key].0;
                    if value == writes {
                        keys[place] = state.len();
                        state.push((0, String::new()));
                    }
                    parts.push((key, Some(value)));
                    _ = write!(words, "{gap}[{write} {key} {value}]");
                }
                event(&mut text, at, "invoke", &words);
                called += 1;
                Client::Called(parts)
            }
            Client::Called(parts) => {
                let mut words = String::new();
                for (key, written) in parts {
                    let gap = if words.is_empty() { "" } else { " " };
                    let now = &mut state[key].1;
                    _ = match written {
                        Some(value) => {
                            let before = if lists && !now.is_empty() { format!("{now} ") } else { String::new() };
                            *now = format!("{before}{value}");
                            write!(words, "{gap}[{write} {key} {value}]")
                        }
                        None if lists => write!(words, "{gap}[:r {key} [{now}]]"),
                        None if now.is_empty() => write!(words, "{gap}[:r {key} nil]"),
                        None => write!(words, "{gap}[:r {key} {now}]"),
                    };
                }
                Client::Done(words)
            }
            Client::Done(words) => {
                event(&mut text, at, "ok", &words);
                done += 1;
                Client::Idle
            }
        };
    }
    text
}

/// How long histories of so many transactions take.
///
/// # Errors
/// If one of them is said not to be strictly serializable.
pub(super) fn table(quick: bool) -> Result<Table, Failure> {
    let title = "transactions on ten keys at a time, 10 clients: CPU seconds from the file to the verdict";
    let mut table = Table::new(title, "workload|writes to a key|transactions|operations|MB|seconds|MB a second");
    let counts: &[usize] = if quick { &[1_000] } else { &[10_000, 100_000, 1_000_000] };
    for (workload, writes) in [
        (Workload::RwRegister, 64),
        (Workload::RwRegister, 1_000_000),
        (Workload::ListAppend, 32),
        (Workload::ListAppend, 256),
    ] {
        for &count in counts {
            // Beyond this the text does not fit into a small machine.
            if writes == 256 && count > 100_000 {
                continue;
            }
            let text = history(workload, count, writes);
            let what = || format!("{} of {count} transactions", workload.name());
            let meter = Meter::start();
            let found = transactions(text.as_bytes(), &Settings::default(), workload);
            let time = meter.read().cpu_seconds;
            let failure = |found: String| Failure::History { what: what(), found };
            let (read, checked) = found.map_err(|error| failure(error.to_string()))?;
            if let Some((level, standing)) = checked.levels.iter().find(|(_, standing)| *standing != Standing::Holds) {
                return Err(failure(format!("{}: {standing:?}", level.name())));
            }
            let size = text.len() as f64 / 1e6;
            table.lines.push(vec![
                workload.name().to_owned(),
                thousands(u64::from(writes)),
                thousands(count as u64),
                thousands(read.micros.len() as u64),
                format!("{size:.0}"),
                seconds(time),
                format!("{:.0}", size / time),
            ]);
        }
    }
    Ok(table)
}
