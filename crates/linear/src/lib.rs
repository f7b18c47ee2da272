//! Placeholder documentation, replaced by the crate's own.
