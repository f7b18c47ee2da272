//! Tests of what only tests can ask for: worklists in random order, and keys that know too little.

#[path = "../../tests/common/mod.rs"]
mod common;
mod oracle;
mod regressions;
