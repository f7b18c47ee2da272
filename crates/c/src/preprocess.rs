//! What does the C preprocessor make of a file?
//!
//! `cc -E` (or `$CC -E`), with the system's headers switched off and our own in their place; or, for programs that need more than those, with the
//! system's headers and ours behind them. They are not mixed: both declare the types of threads, each in its own way. Nothing of the
//! compiler's own opinion is used beyond that: no code is generated and none is run. A preprocessor that fails is an
//! error with its message, never an empty program.

use crate::headers::HEADERS;
use crate::{Error, FileFlags, Options, Rejected};
use raddle_program::{Diagnostic, SourceMap, Span};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// More output than this is refused.
const MAX_OUTPUT: usize = 256 << 20;

/// Macros that make an LP64 compiler's preprocessor describe ILP32.
const ILP32: [(&str, &str); 13] = [
    ("__SIZEOF_LONG__", "4"),
    ("__LONG_MAX__", "0x7fffffffL"),
    ("__LONG_WIDTH__", "32"),
    ("__SIZE_TYPE__", "unsigned int"),
    ("__PTRDIFF_TYPE__", "int"),
    ("__INT64_TYPE__", "long long"),
    ("__UINT64_TYPE__", "unsigned long long"),
    ("__SIZEOF_POINTER__", "4"),
    ("__SIZEOF_SIZE_T__", "4"),
    ("__SIZEOF_PTRDIFF_T__", "4"),
    ("__INTPTR_TYPE__", "int"),
    ("__UINTPTR_TYPE__", "unsigned int"),
    ("__ILP32__", "1"),
];

/// Whose headers a program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headers {
    /// Ours, and no others.
    Ours,
    /// The system's, and ours where it has none.
    System,
}

/// The preprocessed text of a C file.
pub(crate) fn preprocess(path: &Path, options: &Options, whose: Headers) -> Result<String, Error> {
    let headers = HeaderDir::create()?;
    let compiler = options.compiler.clone().or_else(|| std::env::var("CC").ok()).filter(|c| !c.trim().is_empty());
    let compiler = compiler.unwrap_or_else(|| "cc".to_owned());
    // `$CC` may carry flags of its own.
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words).args(["-E", "-x", "c"]);
    match whose {
        Headers::Ours => command.args(["-nostdinc", "-isystem"]).arg(&headers.path),
        // Functions of characters are functions, not looks into tables; nothing is fortified; `pthread_cleanup_push` is a variable with a
        // function that is called at its end, not a `setjmp`.
        Headers::System => {
            command.args(["-D__NO_CTYPE", "-U_FORTIFY_SOURCE", "-D__EXCEPTIONS=1", "-idirafter"]).arg(&headers.path)
        }
    };
    command.arg(format!("-std={}", options.std.as_deref().unwrap_or("gnu11")));
    command.arg("-D__RADDLE__=1");
    if options.ilp32 {
        for (name, value) in ILP32 {
            command.arg(format!("-U{name}")).arg(format!("-D{name}={value}"));
        }
        command.args(["-U__LP64__", "-U_LP64"]);
    }
    command.args(options.include_dirs.iter().map(|dir| format!("-I{}", dir.display())));
    command.args(options.defines.iter().map(|define| format!("-D{define}")));
    command.args(options.undefines.iter().map(|name| format!("-U{name}")));
    let same = |flags: &&FileFlags| flags.file == path || same_file(&flags.file, path);
    command.args(options.flags.iter().find(same).into_iter().flat_map(|flags| &flags.flags));
    // A file name must not be taken for an option.
    command.arg(if path.to_string_lossy().starts_with('-') { Path::new(".").join(path) } else { path.to_owned() });
    let output = command.output().map_err(|source| Error::Compiler { command: compiler.clone(), source })?;
    if !output.status.success() {
        return Err(Error::Rejected(explain(&String::from_utf8_lossy(&output.stderr), path)));
    }
    if output.stdout.len() > MAX_OUTPUT {
        let what = format!("{} bytes after preprocessing are more than {MAX_OUTPUT}", output.stdout.len());
        return Err(Error::Rejected(explain(&what, path)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// What the compiler said, as diagnostics: lines of the form `file:line:column: error: message`.
fn explain(said: &str, path: &Path) -> Rejected {
    let mut sources = SourceMap::default();
    let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    sources.add(path.to_string_lossy().as_ref(), text);
    let mut diagnostics = Vec::new();
    for line in said.lines() {
        let Some(at) = line.find("error: ") else { continue };
        let message = &line[at + "error: ".len()..];
        let mut place = line[..at].trim_end_matches(|c: char| c.is_whitespace() || c == ':');
        place =
            place.strip_suffix("fatal").map_or(place, |p| p.trim_end_matches(|c: char| c.is_whitespace() || c == ':'));
        let mut parts = place.rsplitn(3, ':');
        let (column, line, file) = (parts.next(), parts.next(), parts.next());
        let number = |part: Option<&str>| part.and_then(|p| p.trim().parse::<u32>().ok());
        let mut span = Span::default();
        if let (Some(column), Some(line), Some(file)) = (number(column), number(line), file) {
            let known = sources.files.iter().position(|f| *f.name == *file);
            let index = known.map_or_else(
                || {
                    let text = std::fs::read_to_string(file).unwrap_or_default();
                    sources.add(file, text)
                },
                |index| index as u32,
            );
            span = Span { file: index, line, column, len: 1 };
        }
        diagnostics.push(Diagnostic::new(span, format!("preprocessing failed: {message}")));
    }
    if diagnostics.is_empty() {
        let said = if said.trim().is_empty() { "the compiler gave no reason" } else { said.trim() };
        diagnostics.push(Diagnostic::new(Span::default(), format!("preprocessing failed: {said}")));
    }
    Rejected { diagnostics, sources }
}

/// A directory with our headers, removed when it is no longer needed.
struct HeaderDir {
    path: PathBuf,
}

impl HeaderDir {
    fn create() -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let path = std::env::temp_dir().join(format!("raddle-headers-{}-{number}-{stamp:x}", std::process::id()));
        // Creation fails if somebody else made a directory of this name.
        std::fs::create_dir(&path).map_err(|source| Error::Headers { path: path.clone(), source })?;
        let dir = HeaderDir { path };
        for (name, text) in HEADERS {
            let file = dir.path.join(name);
            let written =
                file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, text));
            written.map_err(|source| Error::Headers { path: file, source })?;
        }
        Ok(dir)
    }
}

impl Drop for HeaderDir {
    fn drop(&mut self) {
        // Nothing to be done about a directory that cannot be removed.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_preprocessor_says_becomes_a_diagnostic() {
        let rejected = explain(
            "a.c:3:10: fatal error: nope.h: No such file or directory\ncompilation terminated.\n",
            Path::new("a.c"),
        );
        assert_eq!(rejected.diagnostics.len(), 1);
        let diagnostic = &rejected.diagnostics[0];
        assert_eq!((diagnostic.span.line, diagnostic.span.column), (3, 10));
        assert_eq!(diagnostic.message, "preprocessing failed: nope.h: No such file or directory");
    }

    #[test]
    fn a_preprocessor_that_does_not_exist_is_an_error() {
        let options = Options { compiler: Some("raddle-no-such-compiler".to_owned()), ..Options::default() };
        assert!(matches!(preprocess(Path::new("x.c"), &options, Headers::Ours), Err(Error::Compiler { .. })));
    }
}
