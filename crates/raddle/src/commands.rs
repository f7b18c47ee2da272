//! Compilation databases: how a build compiles its files.
//!
//! The format is that of Clang's `compile_commands.json`: a list of entries with a directory, a file, and the arguments as a list or as one line for
//! a shell. Of the arguments those for the preprocessor are kept.

use crate::error::Error;
use raddle_c::{FileFlags, Options};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The entries of a database.
pub(crate) fn read(path: &Path) -> Result<Vec<FileFlags>, Error> {
    let text = crate::load::read(path)?;
    let wrong = |what: &str| Error::Commands { path: path.to_owned(), what: what.to_owned() };
    let entries: Value = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    let entries = entries.as_array().ok_or_else(|| wrong("it should be a list of entries"))?;
    entries
        .iter()
        .map(|entry| file_flags(entry).ok_or_else(|| wrong("an entry lacks its file or its command")))
        .collect()
}

fn file_flags(entry: &Value) -> Option<FileFlags> {
    let directory = PathBuf::from(entry.get("directory").and_then(Value::as_str).unwrap_or("."));
    let file = directory.join(entry.get("file")?.as_str()?);
    let words: Vec<String> = match (entry.get("arguments"), entry.get("command")) {
        (Some(list), _) => {
            list.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect::<Option<_>>()?
        }
        (None, Some(line)) => split(line.as_str()?),
        _ => return None,
    };
    let mut flags = Vec::new();
    let mut words = words.into_iter().skip(1);
    while let Some(word) = words.next() {
        let kept =
            ["-I", "-isystem", "-iquote", "-include", "-D", "-U"].into_iter().find(|name| word.starts_with(name));
        let Some(name) = kept else {
            flags.extend(Some(word).filter(|word| word.starts_with("-std=")));
            continue;
        };
        let value = match &word[name.len()..] {
            "" => words.next()?,
            value => value.to_owned(),
        };
        let is_path = !matches!(name, "-D" | "-U");
        let value = if is_path { directory.join(&value).display().to_string() } else { value };
        flags.extend([name.to_owned(), value]);
    }
    Some(FileFlags { file, flags })
}

/// The words of a line as a shell takes it.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut open, mut quote) = (Vec::new(), String::new(), false, None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                word.extend(letters.next());
                open = true;
            }
            (_, Some(end)) if letter == end => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                open = true;
            }
            (_, None) if letter.is_whitespace() => {
                if std::mem::take(&mut open) {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                word.push(letter);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

/// The options with what a database adds for a program whose `main` is in `entry`.
pub(crate) fn apply(mut options: Options, entry: &Path, database: &[FileFlags]) -> Options {
    options.flags = database.to_vec();
    if options.with.is_empty() {
        let same = |file: &Path| matches!((file.canonicalize(), entry.canonicalize()), (Ok(a), Ok(b)) if a == b);
        let is_c = |file: &Path| file.extension().is_some_and(|extension| extension == "c");
        let others =
            database.iter().map(|flags| &flags.file).filter(|file| is_c(file) && !same(file) && !has_main(file));
        options.with = others.cloned().collect();
        options.with.dedup();
    }
    options
}

/// Whether a file seems to define `main`, and so belongs to another program.
fn has_main(file: &Path) -> bool {
    let text = std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    text.match_indices("main").any(|(at, word)| {
        let before = text[..at].trim_end_matches([' ', '\t', '\n', '\r']);
        let apart = before.len() < at;
        apart
            && (before.ends_with("int") || before.ends_with("void"))
            && text[at + word.len()..].trim_start().starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_flags() {
        let entry = serde_json::json!({
            "directory": "/p", "file": "src/a.c",
            "command": "gcc -O2 -Iinclude -D 'NAME=\"x y\"' -DN=3 -isystem /usr/x -std=c11 -c src/a.c -o a.o",
        });
        let found = file_flags(&entry).expect("an entry");
        assert_eq!(found.file, Path::new("/p/src/a.c"));
        let expected =
            ["-I", "/p/include", "-D", "NAME=\"x y\"", "-D", "N=3", "-isystem", "/usr/x", "-std=c11"].map(String::from);
        assert_eq!(found.flags, expected);
        assert_eq!(file_flags(&serde_json::json!({"file": "a.c"})), None);
    }
}
