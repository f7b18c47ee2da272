//! Whole processes on the same files: `raddle lin FILE` and, if they are installed, Porcupine and LiMo.
//!
//! Porcupine (Athalye, Go) is a library; `bench/peers/porcupine` has the program around it and says how it is built. LiMo (Grahn, C++) comes with its own, `linearize`. Where one is
//! not on the search path and not named, that is said and its columns are left out. CPU time is that of the process, starting and reading included. A history made by a simulation is
//! linearizable, and a tool that says otherwise is wrong; of one whose answers were changed afterwards all who know must say the same.

use super::generate::{container, damage, register, simulate, stale, store};
use super::repeated::{exchange, repeat};
use super::{Table, seconds};
use crate::failure::Failure;
use crate::peers::{beside_this_one, is_there};
use crate::table::thousands;
use raddle::cost::children_seconds;
use raddle::linear::format::write::json_lines;
use raddle::linear::history::{History, Method};
use raddle::linear::monitor::timeline::timeline;
use raddle::linear::object::ObjectKind;
use raddle::linear::value::{ValueId, Values};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What to run, and where the files go.
pub(super) struct Whole<'a> {
    /// Where the files are kept; nowhere, if nobody says.
    pub(super) folder: Option<&'a Path>,
    /// The program around Porcupine.
    pub(super) porcupine: &'a Path,
    /// LiMo's `linearize`.
    pub(super) limo: &'a Path,
    /// Seconds of wall time after which a tool gives up.
    pub(super) patience: u64,
    /// Tiny histories only.
    pub(super) quick: bool,
}

/// A history, as its simulation made it and with answers changed.
struct Pair {
    name: &'static str,
    kind: ObjectKind,
    good: History,
    wrong: History,
}

/// What a tool says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Holds,
    Violated,
    Unknown,
    /// It ended without an answer.
    Nothing,
}

impl Whole<'_> {
    /// The tables.
    ///
    /// # Errors
    /// If a verdict is wrong, or `raddle` is not beside this command.
    pub(super) fn tables(&self, show: &mut dyn FnMut(Table)) -> Result<(), Failure> {
        let own = beside_this_one()?;
        if !is_there(&own) {
            let what = "it is not beside this command; `cargo build --release` builds it".to_owned();
            return Err(Failure::Tool { tool: "raddle".to_owned(), what });
        }
        let scratch = std::env::temp_dir().join(format!("raddle-bench-{}", std::process::id()));
        let folder = self.folder.unwrap_or(&scratch);
        std::fs::create_dir_all(folder)?;
        let limit = self.patience.to_string();
        let mut histories = small();
        let porcupine = |kind: ObjectKind, file: &Path| {
            command(self.porcupine, &[&kind.to_string(), &file.to_string_lossy(), &limit])
        };
        let porcupine: Peer = ("Porcupine", self.porcupine, &porcupine);
        show(self.table(&own, porcupine, json_lines, folder, &mut histories)?);
        let mut histories = large();
        let limo = |_: ObjectKind, file: &Path| command(self.limo, &[&file.to_string_lossy()]);
        show(self.table(&own, ("LiMo", self.limo, &limo), event_log, folder, &mut histories)?);
        if self.folder.is_none() {
            std::fs::remove_dir_all(&scratch)?;
        }
        Ok(())
    }

    fn table(
        &self,
        own: &Path,
        (peer, program, ask): Peer,
        write: fn(&History, ObjectKind, &mut dyn Write) -> std::io::Result<()>,
        folder: &Path,
        histories: &mut Vec<Pair>,
    ) -> Result<Table, Failure> {
        let there = is_there(program);
        if !there {
            anstream::eprintln!("{peer}: `{}` is not installed, and left out", program.display());
        }
        let limit = self.patience;
        let title = format!("whole processes, 8 threads: CPU seconds; a tool may take {limit} s of wall time");
        let mut table = Table::new(&title, &format!("history|operations|raddle|{peer}|one wrong: raddle|{peer}"));
        if self.quick {
            histories.truncate(1);
        }
        for Pair { name, kind, good, wrong } in histories.drain(..) {
            let mut cells = vec![name.to_owned(), thousands(good.ops.len() as u64)];
            for (history, made) in [(&good, Some(Said::Holds)), (&wrong, None)] {
                let what = if made.is_some() { "good" } else { "wrong" };
                let file = folder.join(format!("{}-{}-{what}-{peer}", name.replace(' ', "-"), history.ops.len()));
                write(history, kind, &mut File::create(&file)?)?;
                let ours = command(
                    own,
                    &["lin", &file.to_string_lossy(), "--type", &kind.to_string(), "--time-limit", &limit.to_string()],
                );
                let mut known = made;
                let what = |tool: &str| format!("{name} of {} operations, {what}: {tool}", history.ops.len());
                let (said, time) = self.run(ours, folder)?;
                cells.push(judged(said, time, &mut known, what("raddle"))?);
                cells.push(match there {
                    true => {
                        let (said, time) = self.run(ask(kind, &file), folder)?;
                        judged(said, time, &mut known, what(peer))?
                    }
                    false => "-".to_owned(),
                });
            }
            table.lines.push(cells);
        }
        Ok(table)
    }

    /// What one run says, and its CPU time. One that does not end by itself is ended some time after it should have.
    fn run(&self, mut command: Command, folder: &Path) -> Result<(Said, f64), Failure> {
        let output: PathBuf = folder.join("output");
        let before = children_seconds();
        command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(File::create(&output)?);
        let mut child = command.spawn()?;
        let end = Instant::now() + Duration::from_secs(self.patience + self.patience / 4 + 1);
        while child.try_wait()?.is_none() {
            if Instant::now() >= end {
                child.kill()?;
                child.wait()?;
                return Ok((Said::Unknown, children_seconds() - before));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let time = children_seconds() - before;
        let text = String::from_utf8_lossy(&std::fs::read(&output)?).into_owned();
        let says = |words: &[&str]| text.lines().any(|line| words.iter().any(|word| line.starts_with(word)));
        let said = match () {
            () if says(&["holds", "OK"]) => Said::Holds,
            () if says(&["violated", "Violation:"]) => Said::Violated,
            () if says(&["unknown"]) => Said::Unknown,
            () => Said::Nothing,
        };
        Ok((said, time))
    }
}

/// A tool, where it is, and how it is asked.
type Peer<'a> = (&'static str, &'a Path, &'a dyn Fn(ObjectKind, &Path) -> Command);

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// A cell of the table; an error if somebody else knows better.
fn judged(said: Said, time: f64, known: &mut Option<Said>, what: String) -> Result<String, Failure> {
    match said {
        Said::Unknown => return Ok(format!("unknown after {}", seconds(time))),
        Said::Nothing => return Ok("no answer".to_owned()),
        Said::Holds | Said::Violated => {}
    }
    match known.replace(said) {
        Some(other) if other != said => {
            Err(Failure::History { what, found: format!("{said:?}, where {other:?} is known") })
        }
        _ => Ok(seconds(time)),
    }
}

/// Histories of few values, of different ones, of keys.
fn small() -> Vec<Pair> {
    let mut all = Vec::new();
    let mut pair = |name, kind, good: History, change: &dyn Fn(&mut History)| {
        let mut wrong = good.clone();
        change(&mut wrong);
        all.push(Pair { name, kind, good, wrong });
    };
    for (name, kind) in [("queue of 7 values", ObjectKind::Queue), ("stack of 7 values", ObjectKind::Stack)] {
        for count in [100, 200, 300, 400] {
            pair(name, kind, repeat(&container(kind, count, 8)), &exchange);
        }
    }
    let kinds = [("queue", ObjectKind::Queue), ("stack", ObjectKind::Stack), ("set", ObjectKind::Set)];
    for (name, kind) in kinds {
        for count in [200, 1_000, 20_000] {
            pair(name, kind, container(kind, count, 8), &|history| damage(history, kind));
        }
    }
    for count in [1_000, 10_000] {
        let history = simulate(&mut register(5), Values::default(), count, 8, 11);
        pair("register of 5 values", ObjectKind::Register, history, &stale);
        let (mut object, values) = store(10);
        pair("store of 10 keys", ObjectKind::Map, simulate(&mut object, values, count, 8, 12), &stale);
    }
    all
}

/// Stacks and queues of different values.
fn large() -> Vec<Pair> {
    let mut all = Vec::new();
    for (name, kind) in [("queue", ObjectKind::Queue), ("stack", ObjectKind::Stack)] {
        for count in [200, 2_000, 20_000, 100_000] {
            let mut good = container(kind, count, 8);
            // LiMo's monitor of queues does not know removals that found nothing.
            good.ops.retain(|op| op.method == Method::Insert || op.result != Some(ValueId::NIL));
            let mut wrong = good.clone();
            damage(&mut wrong, kind);
            all.push(Pair { name, kind, good, wrong });
        }
    }
    all
}

/// An event log with LiMo's names of the methods, by threads.
fn event_log(history: &History, kind: ObjectKind, out: &mut dyn Write) -> std::io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "# @object atomic-{kind}")?;
    let (insert, remove) = if kind == ObjectKind::Stack { ("push", "pop") } else { ("enq", "deq") };
    for event in timeline(&history.ops) {
        let op = history.op(event.op);
        let process = history.value(op.process);
        match (event.returns, op.method, op.result) {
            (false, Method::Insert, _) => writeln!(out, "[{process}] call {insert} {}", history.value(op.arg))?,
            (false, ..) => writeln!(out, "[{process}] call {remove}")?,
            (true, Method::Insert, _) => writeln!(out, "[{process}] return")?,
            (true, _, None | Some(ValueId::NIL)) => writeln!(out, "[{process}] return empty")?,
            (true, _, Some(result)) => writeln!(out, "[{process}] return {}", history.value(result))?,
        }
    }
    out.flush()
}
