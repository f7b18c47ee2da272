//! Linearizability of recorded histories.

pub mod assemble;
pub mod certificate;
pub mod check;
pub mod command;
mod explain;
pub mod format;
pub mod history;
pub mod monitor;
pub mod object;
pub mod prefix;
pub mod recorder;
pub mod render;
pub mod search;
pub mod stream;
pub mod value;
pub mod verdict;
