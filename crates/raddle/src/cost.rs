//! What a run costs: time, processor time, memory.

use raddle_report::Cost;
use std::time::Instant;

/// Measures from when it was made.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    start: Instant,
    cpu: f64,
}

impl Default for Meter {
    fn default() -> Self {
        Meter::start()
    }
}

impl Meter {
    /// Starts to measure.
    pub fn start() -> Self {
        Meter { start: Instant::now(), cpu: cpu_seconds() }
    }

    /// What it has cost until now. Peak memory is that of the whole process.
    pub fn read(&self) -> Cost {
        Cost {
            seconds: self.start.elapsed().as_secs_f64(),
            cpu_seconds: (cpu_seconds() - self.cpu).max(0.0),
            peak_memory_bytes: peak_memory_bytes(),
        }
    }
}

/// Processor time of this process, in user and system mode.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    usage(nix::sys::resource::UsageWho::RUSAGE_SELF)
}

/// Processor time of the processes that this one started and that have ended, and of those they started.
#[cfg(unix)]
pub fn children_seconds() -> f64 {
    usage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)
}

#[cfg(unix)]
fn usage(who: nix::sys::resource::UsageWho) -> f64 {
    use nix::sys::time::TimeValLike;
    nix::sys::resource::getrusage(who).map_or(0.0, |usage| {
        (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
    })
}

#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    0.0
}

/// Processor time of the processes that this one started; 0 where the system does not tell.
#[cfg(not(unix))]
pub fn children_seconds() -> f64 {
    0.0
}

/// The most memory this process held at once.
///
/// Linux keeps the figure of `getrusage` across `exec`, so that a small process started by a large one would look large;
/// the one in `/proc` is its own.
#[cfg(target_os = "linux")]
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The most memory this process held at once.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn peak_memory_bytes() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    u64::try_from(usage.max_rss()).ok().map(|amount| amount * unit)
}

/// The most memory this process held at once.
#[cfg(not(unix))]
pub fn peak_memory_bytes() -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn work_costs_something() {
        let meter = Meter::start();
        let mut sum = 0u64;
        while meter.start.elapsed().as_millis() < 30 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let cost = meter.read();
        assert!(cost.seconds >= 0.03 && cost.cpu_seconds > 0.0, "{cost:?}");
        assert!(cost.peak_memory_bytes.is_some_and(|bytes| bytes > 100_000), "{cost:?}");
    }
}
