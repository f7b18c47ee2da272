//! Inline assembly does what the processor does: random instructions, through both.
//!
//! The default run is a sample; `RADDLE_C_ASSEMBLY=20000 cargo test -p raddle-c --release --test assembly` is more of it (`RADDLE_C_SEED` starts elsewhere).
#![cfg(target_arch = "x86_64")]

mod support;

use support::{assembly, compare};

#[test]
fn random_instructions_do_what_the_processor_does() {
    let flags = ["-w", "-std=gnu11", "-O1"];
    let options = raddle_c::Options::default();
    compare("RADDLE_C_ASSEMBLY", 200, assembly::file, str::to_owned, (&flags, str::to_owned), &options);
}
