//! What the integration tests of the C front end share: random programs, running a program in one thread.
#![allow(dead_code)]

pub(crate) mod assembly;
pub(crate) mod generate;
pub(crate) mod layouts;
pub(crate) mod texts;

use raddle_machine::compile::AllShared;
use raddle_machine::{Automaton, Status, System};
use raddle_testkit::{Scratch, setting};
use raddle_trace::{Model, ThreadId};
use std::path::Path;
use std::process::Command;

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
    let mut program = program.clone();
    raddle_program::analysis::resolve_inputs(&mut program);
    let code = raddle_machine::compile(&program, &AllShared, &Default::default());
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

/// Runs random programs of one thread through the compiler and through Raddle, and panics where they print different things. The compiler gets
/// what `rewrite` makes of them.
pub(crate) fn differences(flags: &[&str], rewrite: fn(&str) -> String, options: &raddle_c::Options) {
    let flags = [&["-w", "-std=gnu11", "-O0"], flags].concat();
    compare("RADDLE_C_PROGRAMS", 120, generate::file, str::to_owned, (&flags, rewrite), options);
}

/// The same of programs that some generator makes of a seed and a number, as many as the setting says. Raddle gets what `ours` makes of them.
pub(crate) fn compare(
    amount: &str,
    otherwise: u64,
    generate: fn(u64, usize) -> String,
    ours: fn(&str) -> String,
    (flags, theirs): (&[&str], fn(&str) -> String),
    options: &raddle_c::Options,
) {
    let programs = setting(amount, otherwise) as usize;
    let seed = setting("RADDLE_C_SEED", 1);
    let scratch = Scratch::new();
    for file in 0..programs.div_ceil(PER_FILE) {
        let text = generate(seed * 100_000 + file as u64, PER_FILE);
        let (rewritten, text) = (scratch.file("rewritten.c", theirs(&text)), ours(&text));
        let source = scratch.file("p.c", &text);
        let expected = printed_by_the_compiler(&rewritten, &scratch.join("p"), flags);
        let expected = expected.unwrap_or_else(|error| panic!("file {file}: {error}\n{text}"));
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

/// A `main` that runs the programs of a file one after the other, each under a heading.
pub(crate) fn main_of_all(programs: usize) -> String {
    let runs: String =
        (0..programs).map(|index| format!("    printf(\"program {index}\\n\"); p{index}_main();\n")).collect();
    format!("int main(void) {{\n{runs}    return 0;\n}}\n")
}

/// What a program prints that the system's compiler makes of a file.
fn printed_by_the_compiler(source: &Path, binary: &Path, flags: &[&str]) -> Result<String, String> {
    let compiled = Command::new("cc").args(flags).arg("-o").arg(binary).arg(source).output();
    let compiled = compiled.expect("cc can be run");
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let output = Command::new(binary).output().expect("the program can be run");
    if !output.status.success() {
        return Err(format!("it ends with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
