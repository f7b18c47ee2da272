//! Whole processes on the same files: `raddle lin FILE` and, if it is installed, Porcupine.
//!
//! Porcupine (Athalye, Go) is a library; `bench/peers/porcupine` has the program around it and says how it is built. Where `porcupine-lin` is not on the search path and not
//! named, that is said and its column left out. CPU time is that of the process, starting and reading included. Both must say the same, or nothing.

use super::generate::{container, register, simulate, store};
use super::repeated::repeat;
use super::{Table, seconds};
use crate::failure::Failure;
use crate::peers::{beside_this_one, is_there};
use crate::table::thousands;
use raddle::cost::children_seconds;
use raddle::linear::format::write::json_lines;
use raddle::linear::history::History;
use raddle::linear::object::ObjectKind;
use raddle::linear::value::Values;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// What to run, and where the files go.
pub(super) struct Whole<'a> {
    /// Where the files are kept; nowhere, if nobody says.
    pub(super) folder: Option<&'a Path>,
    /// The program around Porcupine.
    pub(super) porcupine: &'a Path,
    /// Seconds after which a tool gives up.
    pub(super) patience: u64,
    /// Tiny histories only.
    pub(super) quick: bool,
}

impl Whole<'_> {
    /// The table.
    ///
    /// # Errors
    /// If a verdict is wrong, or `raddle` is not beside this command.
    pub(super) fn table(&self) -> Result<Table, Failure> {
        let own = beside_this_one()?;
        if !is_there(&own) {
            let what = "it is not beside this command; `cargo build --release` builds it".to_owned();
            return Err(Failure::Tool { tool: "raddle".to_owned(), what });
        }
        let peer = is_there(self.porcupine);
        if !peer {
            anstream::eprintln!("Porcupine: `{}` is not installed, and left out", self.porcupine.display());
        }
        let scratch = std::env::temp_dir().join(format!("raddle-bench-{}", std::process::id()));
        let folder = self.folder.unwrap_or(&scratch);
        std::fs::create_dir_all(folder)?;
        let title =
            format!("whole processes, 8 threads: CPU seconds; a tool may take {} s of wall time", self.patience);
        let mut table = Table::new(&title, "history|operations|raddle|Porcupine");
        let mut histories = histories();
        if self.quick {
            histories.truncate(1);
        }
        for (name, kind, history) in histories {
            let file = folder.join(format!("{}-{}.jsonl", name.replace(' ', "-"), history.ops.len()));
            json_lines(&history, kind, &mut File::create(&file)?)?;
            let path = file.to_string_lossy().into_owned();
            let limit = self.patience.to_string();
            let ours = ["lin", &path, "--type", &kind.to_string(), "--time-limit", &limit, "--json"];
            let mut cells = vec![name.to_owned(), thousands(history.ops.len() as u64), measure(&own, &ours, name)?];
            cells.push(match peer {
                true => measure(self.porcupine, &[&kind.to_string(), &path, &limit], name)?,
                false => "-".to_owned(),
            });
            table.lines.push(cells);
        }
        if self.folder.is_none() {
            std::fs::remove_dir_all(&scratch)?;
        }
        Ok(table)
    }
}

/// Linearizable histories: of few values, of different ones, of keys.
fn histories() -> Vec<(&'static str, ObjectKind, History)> {
    let mut all = Vec::new();
    for (name, kind) in [("queue of 7 values", ObjectKind::Queue), ("stack of 7 values", ObjectKind::Stack)] {
        all.extend([100, 200, 300, 400].map(|count| (name, kind, repeat(&container(kind, count, 8)))));
    }
    let kinds = [("queue", ObjectKind::Queue), ("stack", ObjectKind::Stack), ("set", ObjectKind::Set)];
    for (name, kind) in kinds {
        all.extend([200, 20_000].map(|count| (name, kind, container(kind, count, 8))));
    }
    for count in [1_000, 10_000] {
        let history = simulate(&mut register(5), Values::default(), count, 8, 11);
        all.push(("register of 5 values", ObjectKind::Register, history));
        let (mut object, values) = store(10);
        all.push(("store of 10 keys", ObjectKind::Map, simulate(&mut object, values, count, 8, 12)));
    }
    all
}

/// The CPU time of one run; it must not find a violation, because there is none.
fn measure(program: &Path, arguments: &[&str], what: &str) -> Result<String, Failure> {
    let before = children_seconds();
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    let time = children_seconds() - before;
    let said = String::from_utf8_lossy(&output.stdout);
    let says = |word: &str| said.trim() == word || said.contains(&format!("\"verdict\":\"{word}\""));
    let failure = |found: String| Failure::History { what: format!("{what}: {}", program.display()), found };
    if says("holds") {
        Ok(seconds(time))
    } else if says("unknown") {
        Ok(format!("unknown after {}", seconds(time)))
    } else if says("violated") {
        Err(failure("a violation was invented".to_owned()))
    } else {
        Err(failure(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("no output").to_owned()))
    }
}
