//! The library's functions on characters, strings, numbers in strings, memory, arrays and lists of arguments do what the system's do: random calls, through both.
//!
//! The default run is a sample; `RADDLE_C_TEXTS=20000 cargo test -p raddle-c --release --test texts` is more of it (`RADDLE_C_SEED` starts elsewhere).

mod support;

use support::{compare, texts};

#[test]
fn random_calls_print_what_the_system_prints() {
    let flags = ["-w", "-std=gnu11", "-O0"];
    let options = raddle_c::Options::default();
    compare("RADDLE_C_TEXTS", 120, texts::file, str::to_owned, (&flags, str::to_owned), &options);
}
