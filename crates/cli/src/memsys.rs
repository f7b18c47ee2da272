//! `raddle memsys`: does this memory system implement a model?

use crate::args::Memsys;
use crate::output::Output;
use crate::status::{Failure, Status};
use crate::trace::read;
use raddle::memory_systems::Settings;
use raddle::report::Answer;

pub(crate) fn run(args: &Memsys) -> Status {
    let file = args.file.display().to_string();
    let dot = args.dot.as_deref();
    let output = Output { command: Some("memsys"), file: Some(&file), json: args.json, dot, ..Output::default() };
    output.end(answer(args, &file))
}

fn answer(args: &Memsys, name: &str) -> Result<Answer, Failure> {
    let settings = Settings {
        model: args.model,
        defines: args.defines.clone(),
        configurations: args.max_configurations,
        memory: args.max_memory,
        time_limit: args.time_limit,
    };
    Ok(raddle::memsys(name, &read(name, "a memory system")?, &settings)?)
}
