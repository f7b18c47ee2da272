//! From a file to a program.

use crate::commands;
use crate::error::Error;
use raddle_litmus::{Flavour, Test};
use raddle_program::analysis::{self, Pieces};
use raddle_program::{Program, SourceMap, Span};
use raddle_report::Sources;
use raddle_trace::{Model, Place};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};

/// The largest file that is read.
pub const MAX_BYTES: u64 = 64 << 20;

/// A language programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Raddle's own, `.rdl`.
    Rdl,
    /// C: `.c`, or `.i` if it went through the preprocessor already.
    C,
    /// Litmus tests, `.litmus`.
    Litmus,
    /// Automata of TRENCHER: `.trencher`.
    Trencher,
}

impl Language {
    /// The language of a file, by the end of its name.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "rdl" => Some(Language::Rdl),
            "c" | "i" => Some(Language::C),
            "litmus" => Some(Language::Litmus),
            "trencher" => Some(Language::Trencher),
            _ => None,
        }
    }
}

/// A value for a parameter of a program, `NAME=VALUE`; the value is 1 if only the name is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// The name.
    pub name: String,
    /// The value, as it was written.
    pub value: String,
}

impl FromStr for Define {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').unwrap_or((text, "1"));
        let mut letters = name.chars();
        let starts = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !starts || !letters.all(|c| c.is_alphanumeric() || c == '_') {
            return Err(format!("`{text}` should look like NAME=VALUE"));
        }
        Ok(Define { name: name.to_owned(), value: value.to_owned() })
    }
}

impl Define {
    /// The value as a number.
    ///
    /// # Errors
    /// If it is none, or does not fit.
    pub fn number(&self) -> Result<i64, Error> {
        let text = self.value.trim();
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let magnitude = match digits.strip_prefix("0x") {
            Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16),
            None => digits.parse(),
        };
        let number = magnitude.ok().filter(|_| digits.chars().all(|c| c.is_ascii_alphanumeric()));
        number.and_then(|magnitude| i64::try_from(if negative { -magnitude } else { magnitude }).ok()).ok_or_else(
            || {
                Error::Define(format!(
                    "the value of -D {}={} is not a number of at most 64 bits",
                    self.name, self.value
                ))
            },
        )
    }
}

/// How to read a program.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Values for parameters; macros, in C.
    pub defines: Vec<Define>,
    /// What only C programs need. Its `defines` are added to those above.
    pub c: raddle_c::Options,
    /// A compilation database: how the build preprocesses files, and which there are.
    pub compile_commands: Option<PathBuf>,
    /// Accesses to make in pieces.
    pub pieces: Vec<Pieces>,
}

impl LoadOptions {
    /// The options of the command line that say the same, for a command that reads the program again.
    pub fn flags(&self) -> Vec<String> {
        let raddle_c::Options {
            include_dirs,
            undefines,
            std,
            ilp32,
            nondet,
            spurious_wakeups,
            weak_cas_fails,
            evaluation_right,
            overflow_is_error,
            volatile_relaxed,
            args,
            with,
            undefined_nondet,
            ..
        } = &self.c;
        let mut flags = Vec::new();
        let mut flag = |name: &str, value: String| flags.extend([name.to_owned(), value]);
        self.defines.iter().for_each(|Define { name, value }| flag("-D", format!("{name}={value}")));
        include_dirs.iter().for_each(|path| flag("-I", path.display().to_string()));
        undefines.iter().for_each(|name| flag("-U", name.clone()));
        std.iter().for_each(|std| flag("--std", std.clone()));
        args.iter().for_each(|arg| flag("--arg", arg.clone()));
        with.iter().for_each(|path| flag("--with", path.display().to_string()));
        self.compile_commands.iter().for_each(|path| flag("--compile-commands", path.display().to_string()));
        self.pieces.iter().for_each(|pieces| flag("--pieces", pieces.to_string()));
        if *undefined_nondet {
            flag("--undefined", "nondet".to_owned());
        }
        nondet.iter().for_each(|range| flag("--nondet", format!("{}..{}", range.start(), range.end())));
        flags.extend(ilp32.then(|| "--ilp32".to_owned()));
        flags.extend(spurious_wakeups.then(|| "--spurious-wakeups".to_owned()));
        flags.extend(weak_cas_fails.then(|| "--weak-cas-fails".to_owned()));
        flags.extend(evaluation_right.then(|| "--evaluation=right".to_owned()));
        flags.extend(overflow_is_error.then(|| "--overflow=error".to_owned()));
        flags.extend(volatile_relaxed.then(|| "--volatile=relaxed".to_owned()));
        flags
    }

    /// The values given to parameters, by name.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        self.defines.iter().map(|define| (define.name.clone(), define.value.clone())).collect()
    }

    /// What the front end is told for this file.
    fn c_for(&self, path: &Path) -> Result<raddle_c::Options, Error> {
        let options = self.c_options();
        match &self.compile_commands {
            Some(database) => Ok(commands::apply(options, path, &commands::read(database)?)),
            None => Ok(options),
        }
    }

    fn c_options(&self) -> raddle_c::Options {
        let mut options = self.c.clone();
        options.defines.extend(self.defines.iter().map(|Define { name, value }| format!("{name}={value}")));
        options
    }
}

/// A program, and what a reader of the verdict should know about how it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// One sentence each.
    pub notes: Vec<String>,
    /// What it asks, if it is a litmus test. The program is its question then.
    pub litmus: Option<Box<Test>>,
    /// The memory model that is meant where nothing is said: that of its language.
    pub model: Model,
    /// An atomic load or store that is made in pieces, in one step, which it is under SC alone.
    pub sc_only: Option<Span>,
    /// What it relies on beside its language.
    pub habits: raddle_c::Habits,
}

impl Loaded {
    /// Makes accesses of the program in pieces. Returns how many there are.
    pub(crate) fn split(&mut self, pieces: &[Pieces]) -> usize {
        let made = analysis::split(&mut self.program, pieces);
        self.sc_only = self.sc_only.or(made.sc_only);
        made.count
    }

    /// Refuses a model under which accesses that are made in pieces would be more than they are.
    ///
    /// # Errors
    /// Which access that is.
    pub fn refuse(&self, model: Model) -> Result<(), Error> {
        let Some(span) = self.sc_only.filter(|_| model != Model::Sc) else { return Ok(()) };
        let file = self.program.sources.name(span).into();
        let place = Place { file, line: span.line, column: span.column, text: Default::default() };
        let message = format!(
            "an atomic load or store of memory that is accessed with different sizes is one step under sc, not under {model}"
        );
        Err(Error::Unsupported { message, place, pieces: Vec::new() })
    }
}

/// Reads a program from a file; the end of its name says in which language.
///
/// # Errors
/// If the file cannot be read or is not an accepted program.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, Error> {
    let mut loaded = load_whole(path, options)?;
    loaded.split(&options.pieces);
    Ok(loaded)
}

/// Reads a program whose own file has another text. What it includes stands beside the file as it is.
pub(crate) fn load_edited(path: &Path, text: &str, options: &LoadOptions) -> Result<Loaded, Error> {
    let name = path.display().to_string();
    let mut loaded = match Language::of(path) {
        Some(Language::C) if path.extension().is_none_or(|extension| extension != "i") => {
            let copy = Copy::of(path, text)?;
            let mut c = options.c_for(path)?;
            c.include_dirs
                .insert(0, path.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new(".")).into());
            c.flags.iter_mut().filter(|flags| flags.file == path).for_each(|flags| flags.file.clone_from(&copy.path));
            compiled(raddle_c::compile(&copy.path, &c))?
        }
        language => load_text(&name, text, language.unwrap_or(Language::Rdl), options)?,
    };
    loaded.split(&options.pieces);
    Ok(loaded)
}

/// A file that is there while it is needed.
struct Copy {
    dir: PathBuf,
    path: PathBuf,
}

impl Copy {
    fn of(path: &Path, text: &str) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let dir = std::env::temp_dir().join(format!("raddle-edit-{}-{number}-{stamp:x}", std::process::id()));
        let failed = |source| Error::Read { path: dir.clone(), source };
        // Creation fails if somebody else made a directory of this name.
        std::fs::create_dir(&dir).map_err(failed)?;
        let copy = Copy { path: dir.join(path.file_name().unwrap_or_default()), dir: dir.clone() };
        std::fs::write(&copy.path, text).map_err(failed)?;
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // Nothing to be done about a directory that cannot be removed.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Reads a program, with its accesses as they are written.
fn load_whole(path: &Path, options: &LoadOptions) -> Result<Loaded, Error> {
    let language = Language::of(path).ok_or_else(|| Error::UnknownLanguage { path: path.to_owned() });
    match language {
        // A missing file is the better message, whatever its name.
        Err(unknown) if path.exists() => Err(unknown),
        Ok(Language::C) => {
            check_size(path)?;
            compiled(raddle_c::compile(path, &options.c_for(path)?))
        }
        language => {
            if let Some(other) = options.c.with.first() {
                return Err(Error::OneFile { path: path.to_owned(), other: other.clone() });
            }
            load_text(&path.display().to_string(), &read(path)?, language?, options)
        }
    }
}

/// Reads a program from a text; `name` is what diagnostics call it. C must have gone through the preprocessor.
///
/// # Errors
/// If it is not an accepted program.
pub fn load_text(name: &str, text: &str, language: Language, options: &LoadOptions) -> Result<Loaded, Error> {
    match language {
        Language::C => compiled(raddle_c::compile_preprocessed(name, text, &options.c_options())),
        Language::Litmus => {
            if let Some(define) = options.defines.first() {
                return Err(Error::Define(format!(
                    "a litmus test has no parameters, so -D {} means nothing",
                    define.name
                )));
            }
            let test = raddle_litmus::parse(name, text)
                .map_err(|errors| Error::Rejected { sources: errors.sources, diagnostics: errors.diagnostics })?;
            let model = match test.flavour {
                Flavour::C => Model::Rc11,
                Flavour::X86 => Model::Tso,
            };
            Ok(Loaded {
                program: test.question.clone(),
                notes: test.notes.clone(),
                litmus: Some(Box::new(test)),
                model,
                sc_only: None,
                habits: raddle_c::Habits::default(),
            })
        }
        Language::Trencher => {
            if let Some(define) = options.defines.first() {
                return Err(Error::Define(format!("automata have no parameters, so -D {} means nothing", define.name)));
            }
            let program = raddle_program::trencher::read(name, text)
                .map_err(|errors| Error::Rejected { sources: errors.sources, diagnostics: errors.diagnostics })?;
            Ok(Loaded {
                program,
                notes: Vec::new(),
                litmus: None,
                model: Model::Tso,
                sc_only: None,
                habits: raddle_c::Habits::default(),
            })
        }
        Language::Rdl => {
            let numbers: Vec<(String, i64)> = options
                .defines
                .iter()
                .map(|define| Ok((define.name.clone(), define.number()?)))
                .collect::<Result<_, Error>>()?;
            let mut program = raddle_program::parse(name, text, &numbers)
                .map_err(|errors| Error::Rejected { sources: errors.sources, diagnostics: errors.diagnostics })?;
            program.inputs.range = options.c.nondet.as_ref().map(|range| (*range.start(), *range.end()));
            Ok(Loaded {
                program,
                notes: Vec::new(),
                litmus: None,
                model: Model::Sc,
                sc_only: None,
                habits: raddle_c::Habits::default(),
            })
        }
    }
}

fn compiled(result: Result<raddle_c::Compiled, raddle_c::Error>) -> Result<Loaded, Error> {
    match result {
        Ok(raddle_c::Compiled { program, notes, competition, habits }) => {
            let model = if competition { Model::Sc } else { Model::Rc11 };
            Ok(Loaded { program, notes, litmus: None, model, sc_only: None, habits })
        }
        Err(raddle_c::Error::Rejected(raddle_c::Rejected { diagnostics, sources })) => {
            Err(Error::Rejected { sources, diagnostics })
        }
        Err(error) => Err(Error::FrontEnd(error)),
    }
}

fn check_size(path: &Path) -> Result<(), Error> {
    let metadata = std::fs::metadata(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    if metadata.is_file() && metadata.len() > MAX_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), size: metadata.len() });
    }
    Ok(())
}

/// The text of a file, if it is text of a sensible size.
///
/// # Errors
/// If it cannot be read, is too large or is not UTF-8.
pub fn read(path: &Path) -> Result<String, Error> {
    let unreadable = |source| Error::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), size });
    }
    let mut bytes = Vec::new();
    // What is not a plain file has no size to be trusted.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), size: bytes.len() as u64 });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
        Error::NotText { path: path.to_owned(), line: line as u32, column: column as u32 }
    })
}

/// The texts of a program, for reports.
pub fn sources(map: &SourceMap) -> Sources {
    map.files.iter().map(|file| (file.name.clone(), file.text.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defines_are_names_with_numbers() {
        let number = |text: &str| text.parse::<Define>().expect("well formed").number().ok();
        assert_eq!(number("N=3"), Some(3));
        assert_eq!(number("N"), Some(1));
        assert_eq!(number("N=-0x10"), Some(-16));
        assert_eq!(number("N=-9223372036854775808"), Some(i64::MIN));
        for bad in ["N=", "N=x", "N=0x", "N=9223372036854775808", "N=--1", "N=0x-1", "N=+1"] {
            assert_eq!(number(bad), None, "{bad}");
        }
        for bad in ["", "=1", "1N=1", "a b=1", "-x"] {
            assert!(bad.parse::<Define>().is_err(), "{bad}");
        }
    }
}
