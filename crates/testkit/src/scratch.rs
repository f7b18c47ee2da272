//! Folders for the files of a test.

use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A folder of its own for a test, empty at first, removed when this value goes.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// A new folder.
    ///
    /// # Panics
    /// If there is no room for temporary files.
    #[expect(clippy::new_without_default, reason = "a folder is made")]
    pub fn new() -> Self {
        Scratch(tempfile::Builder::new().prefix("raddle-").tempdir().expect("a folder for temporary files"))
    }

    /// A file in it with this contents; returns its path.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        std::fs::write(&path, contents).expect("a temporary file");
        path
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_value() {
        let (one, other) = (Scratch::new(), Scratch::new());
        assert_ne!(*one, *other);
        let path = one.file("a.txt", "text");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "text");
        drop(one);
        assert!(!path.exists() && other.is_dir());
    }
}
