//! What the integration tests of the C front end share: random numbers, running a program in one thread.
#![allow(dead_code)]

pub(crate) mod generate;
pub(crate) mod mutate;

use raddle_machine::compile::AllShared;
use raddle_machine::{Status, System};
use raddle_trace::{Model, ThreadId};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A small generator of random numbers: the same seed gives the same test.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A directory for the files of one test, removed at its end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("raddle-c-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiles a file and shows what is wrong with it in one string.
pub(crate) fn compile_file(path: &Path, options: &raddle_c::Options) -> Result<raddle_program::Program, String> {
    match raddle_c::compile(path, options) {
        Ok(compiled) => Ok(compiled.program),
        Err(raddle_c::Error::Rejected(rejected)) => {
            let show = |d: &raddle_program::Diagnostic| {
                let name = rejected.sources.name(d.span).rsplit('/').next().unwrap_or("").to_owned();
                format!("{name}:{}:{}: {}", d.span.line, d.span.column, d.message)
            };
            Err(rejected.diagnostics.iter().map(show).collect::<Vec<_>>().join("\n"))
        }
        Err(other) => Err(other.to_string()),
    }
}

/// Runs a program that has one thread, and returns what it printed; or why it did not end well.
pub(crate) fn run(program: &raddle_program::Program) -> Result<String, String> {
    if let Err(errors) = raddle_program::validate(program) {
        return Err(format!("not valid: {:?}", errors[0]));
    }
    let code = raddle_machine::compile(program, &AllShared, &Default::default());
    let mut system = System::new(&code, Model::Sc, false, true);
    let mut output = String::new();
    let mut steps = 0u64;
    while let Some(&step) = system.moves().first() {
        system.step(step).expect("one of the moves");
        steps += 1;
        if steps.is_multiple_of(1024) {
            output.push_str(&system.take_printed(ThreadId::MAIN).concat());
        }
        if steps > 20_000_000 {
            return Err("does not end".to_owned());
        }
    }
    output.push_str(&system.take_printed(ThreadId::MAIN).concat());
    let status = system.threads().next().expect("the first thread").status().clone();
    match status {
        Status::Finished { .. } => Ok(output),
        other => Err(format!("{other:?} after\n{output}")),
    }
}

/// Programs in one file, so that the compiler is started less often.
const PER_FILE: usize = 10;

/// A number from the environment.
pub(crate) fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs random programs of one thread through the compiler and through Raddle, and panics where they print different things.
pub(crate) fn differences(flags: &[&str], options: &raddle_c::Options) {
    let programs = number("RADDLE_C_PROGRAMS", 120);
    let seed = number("RADDLE_C_SEED", 1) as u64;
    let scratch = Scratch::new("semantics");
    for file in 0..programs.div_ceil(PER_FILE) {
        let text = generate::file(seed * 100_000 + file as u64, PER_FILE);
        let source = scratch.file("p.c", &text);
        let binary = scratch.0.join("p");
        let mut compiler = Command::new("cc");
        compiler.args(flags).args(["-w", "-std=gnu11", "-O0", "-o"]).arg(&binary).arg(&source);
        let compiled = compiler.output().expect("cc can be run");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&binary).output().expect("the program can be run");
        assert!(output.status.success(), "the program of file {file} fails: {:?}", output.status);
        let expected = String::from_utf8_lossy(&output.stdout);
        let program = compile_file(&source, options);
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
