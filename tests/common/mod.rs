//! Running the command.

#![allow(dead_code, reason = "every test binary uses a part of it")]

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
