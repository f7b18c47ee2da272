//! Running the command.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use raddle_testkit::Scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// What a run of the command left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }
}

/// Runs `raddle` with these arguments in the root of the repository, on a screen of 100 columns.
pub(crate) fn raddle(args: &[impl AsRef<std::ffi::OsStr>]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(root()).args(args).env("COLUMNS", "100").env_remove("RUST_BACKTRACE");
    ran(command.output().expect("the command starts"))
}

pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

/// Holds a command to refusing files, each by name, with these contents, a message and a place; in JSON the place is a number.
pub(crate) fn refuses(command: &str, options: &[&str], files: &[(&str, &[u8], &str, &str)]) {
    let dir = Scratch::new();
    for &(name, bytes, message, place) in files {
        let file = dir.file(name, bytes).display().to_string();
        let args = [&[command, &file], options].concat();
        let ran = raddle(&args);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{name}: {ran:?}");
        assert!(ran.stderr.contains(message) && ran.stderr.contains(&format!("{name}:{place}")), "{}", ran.stderr);
        let json = raddle(&[&args[..], &["--json"]].concat());
        assert_eq!((json.status, json.stderr.as_str()), (2, ""));
        assert!(json.json()["error"]["line"].is_number(), "{json:?}");
    }
}

/// Holds the command to refusing these arguments with a message.
pub(crate) fn rejects(args: &[&str], message: &str) {
    let ran = raddle(args);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}
