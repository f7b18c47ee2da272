//! Raddle's reading of C is the compiler's: random programs print the same through both.
//!
//! The default run is a sample. The full sweep of 2,000 programs:
//! `RADDLE_C_PROGRAMS=2000 cargo test -p raddle-c --release --test semantics -- --nocapture`
//! (`RADDLE_C_SEED` starts elsewhere).

mod support;

use support::differences;

#[test]
fn random_programs_print_what_the_compiler_says() {
    differences(&[], str::to_owned, &raddle_c::Options::default());
}
