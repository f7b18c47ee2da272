//! The programs of `bench/programs`, for the benchmark and for the tests that hold engines to known counts.

pub mod catalogue;
