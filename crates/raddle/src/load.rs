//! From a file to a program.

use crate::error::Error;
use raddle_program::{Program, SourceMap};
use raddle_report::Sources;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

/// The largest file that is read.
pub const MAX_BYTES: u64 = 64 << 20;

/// A language programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Raddle's own, `.rdl`.
    Rdl,
}

impl Language {
    /// The language of a file, by the end of its name.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "rdl" => Some(Language::Rdl),
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
        let number = magnitude.ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()));
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

/// Reads a program from a file; the end of its name says in which language.
///
/// # Errors
/// If the file cannot be read or is not an accepted program.
pub fn load(path: &Path, defines: &[Define]) -> Result<Program, Error> {
    let language = Language::of(path).ok_or_else(|| Error::UnknownLanguage { path: path.to_owned() });
    // A missing file is the better message, whatever its name.
    let text = match language {
        Err(unknown) if path.exists() => return Err(unknown),
        _ => read(path)?,
    };
    load_text(&path.display().to_string(), &text, language?, defines)
}

/// Reads a program from a text; `name` is what diagnostics call it.
///
/// # Errors
/// If it is not an accepted program.
pub fn load_text(name: &str, text: &str, language: Language, defines: &[Define]) -> Result<Program, Error> {
    match language {
        Language::Rdl => {
            let numbers: Vec<(String, i64)> = defines
                .iter()
                .map(|define| Ok((define.name.clone(), define.number()?)))
                .collect::<Result<_, Error>>()?;
            raddle_program::parse(name, text, &numbers)
                .map_err(|errors| Error::Rejected { sources: errors.sources, diagnostics: errors.diagnostics })
        }
    }
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
