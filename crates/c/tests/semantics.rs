//! Raddle's reading of C is the compiler's: random programs print the same through both.
//!
//! The default run is a sample. The full sweep of 2,000 programs:
//! `RADDLE_C_PROGRAMS=2000 cargo test -p raddle-c --release --test semantics -- --nocapture`
//! (`RADDLE_C_SEED` starts elsewhere).

mod support;

use std::process::Command;
use support::{Scratch, compile_file, generate, run};

/// Programs in one file, so that the compiler is started less often.
const PER_FILE: usize = 10;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_print_what_the_compiler_says() {
    let programs = number("RADDLE_C_PROGRAMS", 120);
    let seed = number("RADDLE_C_SEED", 1) as u64;
    let scratch = Scratch::new("semantics");
    for file in 0..programs.div_ceil(PER_FILE) {
        let text = generate::file(seed * 100_000 + file as u64, PER_FILE);
        let source = scratch.file("p.c", &text);
        let binary = scratch.0.join("p");
        let compiled = Command::new("cc").args(["-w", "-std=gnu11", "-O0", "-o"]).arg(&binary).arg(&source).output();
        let compiled = compiled.expect("cc can be run");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&binary).output().expect("the program can be run");
        assert!(output.status.success(), "the program of file {file} fails: {:?}", output.status);
        let expected = String::from_utf8_lossy(&output.stdout);
        let program = compile_file(&source, &raddle_c::Options::default());
        let program = program.unwrap_or_else(|error| panic!("file {file} is rejected: {error}\n{text}"));
        let printed = run(&program).unwrap_or_else(|error| panic!("file {file}: {error}\n{text}"));
        if printed != expected {
            let differs = printed.lines().zip(expected.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let heading = expected.lines().take(differs + 1).filter(|l| l.starts_with("program")).last();
            panic!(
                "file {file}, {heading:?}: line {differs} is {:?}, and the compiler says {:?}\n{text}",
                printed.lines().nth(differs),
                expected.lines().nth(differs)
            );
        }
    }
}
