//! The line that tells how far a search has come, on standard error and only if that is a terminal.

use raddle::Control;
use raddle::report::numbers::{grouped, short, time};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A search that takes no longer shows no line.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the line changes.
const PERIOD: Duration = Duration::from_millis(200);
/// Goes to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Shows the line until it is told to end.
#[derive(Debug)]
pub(crate) struct Progress {
    shown_by: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Watches this search.
    pub(crate) fn start(control: &Arc<Control>) -> Self {
        if !std::io::stderr().is_terminal() {
            return Progress { shown_by: None };
        }
        let (end, ended) = channel();
        let control = Arc::clone(control);
        let watch = move || {
            let start = Instant::now();
            let mut wait = PATIENCE;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
                wait = PERIOD;
                let text = line(control.progress(), start.elapsed().as_secs_f64());
                let columns = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| width.0);
                let text: String = text.chars().take(usize::from(columns).saturating_sub(1)).collect();
                // A progress line nobody can read is not worth failing for.
                let _ = write!(std::io::stderr(), "{CLEAR}{text}").and_then(|()| std::io::stderr().flush());
            }
            if wait == PERIOD {
                let _ = write!(std::io::stderr(), "{CLEAR}").and_then(|()| std::io::stderr().flush());
            }
        };
        let thread = std::thread::Builder::new().name("progress".into()).spawn(watch);
        Progress { shown_by: thread.ok().map(|handle| (end, handle)) }
    }

    /// Clears the line.
    pub(crate) fn end(self) {
        if let Some((end, handle)) = self.shown_by {
            drop(end);
            let _ = handle.join();
        }
    }
}

/// The line after so many seconds. It says nothing about how much there is still to come: search trees are far too uneven for that.
fn line(progress: raddle::Progress, seconds: f64) -> String {
    let runs = progress.executions + progress.blocked;
    let mut parts = vec![format!("{} executions", grouped(progress.executions))];
    if progress.blocked > 0 {
        parts.push(format!("{} blocked", grouped(progress.blocked)));
    }
    parts.push(format!("{}/s", short(runs as f64 / seconds.max(1e-3))));
    parts.push(time(seconds));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_has_been_seen() {
        let progress = raddle::Progress { executions: 12_000, blocked: 500, share: 0.25 };
        let text = line(progress, 12.5);
        assert_eq!(text, "12,000 executions, 500 blocked, 1.00k/s, 12.5 s");
        let start = raddle::Progress { executions: 0, blocked: 0, share: 0.0 };
        assert_eq!(line(start, 0.5), "0 executions, 0/s, 0.50 s");
    }
}
