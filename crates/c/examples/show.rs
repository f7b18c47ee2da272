//! Shows what a C file is lowered to, and runs it in one thread if `--run` is given:
//! `cargo run -p raddle-c --example show -- [--run] FILE`.

use raddle_machine::compile::AllShared;
use raddle_machine::{Automaton, System, compile};
use raddle_trace::Model;
use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let run = args.iter().any(|a| a == "--run");
    let file = args.iter().find(|a| !a.starts_with('-')).expect("a file");
    let compiled = match raddle_c::compile(Path::new(file), &raddle_c::Options::default()) {
        Ok(compiled) => compiled,
        Err(raddle_c::Error::Rejected(rejected)) => {
            for d in &rejected.diagnostics {
                let line = rejected.sources.line(d.span).unwrap_or("");
                println!(
                    "{}:{}:{}: {} ({})\n  {line}",
                    rejected.sources.name(d.span),
                    d.span.line,
                    d.span.column,
                    d.message,
                    d.label
                );
            }
            return;
        }
        Err(other) => return println!("{other}"),
    };
    if !run {
        println!("{}", raddle_program::print(&compiled.program));
    }
    if let Err(errors) = raddle_program::validate(&compiled.program) {
        println!("not valid: {errors:#?}");
        return;
    }
    if run {
        let code = compile(&compiled.program, &AllShared, &Default::default());
        let mut system = System::new(&code, Model::Sc, false, true);
        while let Some(&step) = system.moves().first() {
            system.step(step).expect("one of the moves");
        }
        let threads = system.threads().len() as u32;
        for id in 0..threads {
            print!("{}", system.take_printed(raddle_trace::ThreadId(id)).concat());
        }
        for thread in system.threads() {
            println!("{:?}", thread.status());
        }
    }
}
