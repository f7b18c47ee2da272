//! The programs of `bench/programs`, found by looking into the directory.
//!
//! A program says in comments on top what is to be done with it, so that a new one needs no registration:
//!
//! ```text
//! // raddle: --model sc --engine rf -D U=3 expect: holds classes: 16
//! // brute: U=2
//! // table: U=5
//! // plot: U=1..8
//! ```
//!
//! A line `raddle:` is a count that is known from elsewhere, in the form of the examples, and is tested like theirs. `brute:` names
//! the parameters with which brute force can run the program; a test holds all engines against it, under every model. `table:`
//! names those with which the program is measured; without it they are the defaults. `plot:` names a parameter and a
//! range: the program is one on which engines differ more and more, and their numbers of classes are drawn.

use raddle::{Define, LoadOptions, Program};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A program and what is to be done with it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name of its file, without the end.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The parameters with which it is measured.
    pub table: Vec<Define>,
    /// The parameters with which brute force can run it.
    pub brute: Option<Vec<Define>>,
    /// What grows in the plot, if it is drawn.
    pub plot: Option<Growth>,
}

/// A parameter and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Its name.
    pub parameter: String,
    /// From and to.
    pub values: RangeInclusive<i64>,
}

impl Growth {
    /// The parameter with one of its values.
    pub fn at(&self, value: i64) -> Define {
        Define { name: self.parameter.clone(), value: value.to_string() }
    }
}

/// What is wrong with the directory.
#[derive(Debug, Error)]
pub enum Problem {
    /// It or a file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line that says what to do makes no sense.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// In which file.
        path: PathBuf,
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// Where the programs are.
pub fn directory() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/programs"))
}

/// All programs, by name.
///
/// # Errors
/// If one of them cannot be read.
pub fn entries() -> Result<Vec<Entry>, Problem> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| Problem::Read { path, source }
    };
    let mut entries = Vec::new();
    for path in programs_in(directory())? {
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        entries.push(entry(path, &text)?);
    }
    Ok(entries)
}

/// The examples in C, as they are, by name.
///
/// # Errors
/// If they cannot be listed.
pub fn examples_in_c() -> Result<Vec<Entry>, Problem> {
    let mut paths = programs_in(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/c")))?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "c"));
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let entry = |path: PathBuf| Entry { name: name(&path), path, table: Vec::new(), brute: None, plot: None };
    Ok(paths.into_iter().map(entry).collect())
}

/// The programs of a directory, by name.
fn programs_in(directory: &Path) -> Result<Vec<PathBuf>, Problem> {
    let unreadable = |source| Problem::Read { path: directory.to_owned(), source };
    let mut paths = Vec::new();
    for file in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = file.map_err(unreadable)?.path();
        if path.extension().is_some_and(|end| end == "rdl" || end == "c") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn entry(path: PathBuf, text: &str) -> Result<Entry, Problem> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut entry = Entry { name, path, table: Vec::new(), brute: None, plot: None };
    for (at, line) in text.lines().enumerate() {
        let wrong = |message| Problem::Line { path: entry.path.clone(), line: at + 1, message };
        let Some((key, rest)) = line.strip_prefix("// ").and_then(|line| line.split_once(':')) else { continue };
        match key {
            "brute" => entry.brute = Some(defines(rest).map_err(wrong)?),
            "table" => entry.table = defines(rest).map_err(wrong)?,
            "plot" => entry.plot = Some(growth(rest).map_err(wrong)?),
            _ => {}
        }
    }
    Ok(entry)
}

fn defines(text: &str) -> Result<Vec<Define>, String> {
    text.split_whitespace().map(|word| word.parse::<Define>().map_err(|error| error.to_string())).collect()
}

fn growth(text: &str) -> Result<Growth, String> {
    let parsed = || {
        let (parameter, values) = text.trim().split_once('=')?;
        let (first, last) = values.split_once("..")?;
        Some(Growth { parameter: parameter.to_owned(), values: first.parse().ok()?..=last.parse().ok()? })
    };
    parsed().ok_or_else(|| format!("`{}` is not of the form U=1..8", text.trim()))
}

impl Entry {
    /// The program with these parameters.
    ///
    /// # Errors
    /// If it is not accepted.
    pub fn load(&self, defines: &[Define]) -> Result<Program, raddle::Error> {
        let options = LoadOptions { defines: defines.to_vec(), ..LoadOptions::default() };
        Ok(raddle::load(&self.path, &options)?.program)
    }

    /// The program with these parameters, as in `write_read(6)` or `rod_cut_bu(N=6, T=3)`.
    pub fn title(&self, defines: &[Define]) -> String {
        match defines {
            [] => self.name.clone(),
            [only] => format!("{}({})", self.name, only.value),
            several => {
                let words: Vec<String> =
                    several.iter().map(|Define { name, value }| format!("{name}={value}")).collect();
                format!("{}({})", self.name, words.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_says_what_to_do_with_it() {
        let text = "// raddle: expect: holds\n// brute: U=2\n// table: U=5 T=2\n// plot: U=1..8\n//\n// Text: more.\n";
        let entry = entry(PathBuf::from("some/family.rdl"), text).expect("well formed");
        assert_eq!(entry.title(&entry.table), "family(U=5, T=2)");
        assert_eq!(entry.title(entry.brute.as_deref().expect("given")), "family(2)");
        assert_eq!(entry.plot, Some(Growth { parameter: "U".to_owned(), values: 1..=8 }));
    }

    #[test]
    fn nonsense_is_named_with_its_line() {
        for text in ["//\n// plot: U", "//\n// table: 5"] {
            let message = entry(PathBuf::from("x.rdl"), text).expect_err("nonsense").to_string();
            assert!(message.starts_with("x.rdl:2: "), "{message}");
        }
    }

    #[test]
    fn every_program_is_accepted_with_all_the_parameters_it_names() {
        for entry in entries().expect("readable") {
            let mut sets = vec![entry.table.clone()];
            sets.extend(entry.brute.clone());
            sets.extend(entry.plot.iter().map(|growth| vec![growth.at(*growth.values.start())]));
            for defines in sets {
                entry.load(&defines).unwrap_or_else(|error| panic!("{}: {error}", entry.title(&defines)));
            }
        }
    }
}
