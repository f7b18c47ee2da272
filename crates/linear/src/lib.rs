//! Linearizability of recorded histories.

pub mod assemble;
pub mod certificate;
pub mod check;
mod explain;
pub mod format;
pub mod history;
pub mod monitor;
pub mod object;
pub mod prefix;
pub mod search;
pub mod value;
pub mod verdict;
