//! Writing histories.
