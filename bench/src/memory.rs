//! Peak memory as the number of executions grows.
//!
//! The peak of a process never sinks, so each size has a process of its own: this program, started again.

use crate::failure::Failure;
use crate::measure::{explore, load};
use crate::suite::READERS;
use raddle::cost::peak_memory_bytes;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::process::Command;

/// What exploring readers(N) took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Point {
    /// N.
    pub(crate) readers: i64,
    /// Complete executions.
    pub(crate) executions: u64,
    /// The most memory the process held at once, if the system tells.
    pub(crate) peak_memory_bytes: Option<u64>,
}

/// Explores readers(N) in this process.
///
/// # Errors
/// If it is not explored as a whole, or the number of executions is wrong.
pub(crate) fn child(readers: i64) -> Result<Point, Failure> {
    let name = format!("readers({readers})");
    let program = load(&READERS, &name, readers)?;
    let executions = explore(&READERS, &name, &program, 1)?.statistics.executions;
    let expected = u32::try_from(readers).ok().and_then(|readers| 1u64.checked_shl(readers)).unwrap_or(0);
    if executions != expected {
        return Err(Failure::Count { program: name, found: executions, expected });
    }
    Ok(Point { readers, executions, peak_memory_bytes: peak_memory_bytes() })
}

/// Explores readers(N) for each N, in processes of their own.
///
/// # Errors
/// If one of them cannot be started or fails.
pub(crate) fn growth(sizes: RangeInclusive<i64>) -> Result<Vec<Point>, Failure> {
    let own = std::env::current_exe()?;
    sizes
        .map(|readers| {
            let output = Command::new(&own).arg("--child").arg(readers.to_string()).output()?;
            if !output.status.success() {
                return Err(Failure::Child(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
            }
            Ok(serde_json::from_slice(&output.stdout)?)
        })
        .collect()
}
