//! `raddle replay`: run a schedule again and show it.

use crate::args::Replay;
use crate::output::{self, Output};
use crate::{Status, schedule_file};
use raddle::report::{Problem, dot, human, json};
use raddle::{Schedule, VERSION, load};
use std::path::Path;

pub(crate) fn run(args: &Replay) -> Status {
    let output = Output::new(args.json);
    let program = match raddle::load(&args.input.file, &args.input.options(&args.c)) {
        Ok(loaded) => loaded.program,
        Err(error) => return output.error(&error),
    };
    let schedule = match schedule(&args.schedule.join(" "), output) {
        Ok(schedule) => schedule,
        Err(status) => return status,
    };
    let sources = load::sources(&program.sources);
    let replayed = match raddle::replay(&program, args.model, &schedule, args.no.is_empty()) {
        Ok(replayed) => replayed,
        Err(error) => return output.error_in(&error, &sources),
    };
    if let Some(path) = &args.dot
        && let Err(status) = output.write(path, &dot::dot(&replayed.execution))
    {
        return status;
    }
    let file = args.input.file.display().to_string();
    let found = replayed.counterexample.as_ref();
    let status = if found.is_some() { Status::Violated } else { Status::Holds };
    output.answer(
        status,
        || json::replayed(&file, &replayed.execution, found, VERSION),
        || human::replayed(&replayed.execution, found, &sources, output::layout(args.full)),
    )
}

fn schedule(text: &str, output: Output) -> Result<Schedule, Status> {
    let parsed = match text.strip_prefix('@') {
        Some(path) => {
            let text = load::read(Path::new(path)).map_err(|error| output.error(&error))?;
            schedule_file::parse(&text)
        }
        None => text.parse(),
    };
    parsed.map_err(|message| output.problem(&Problem::new(format!("not a schedule: {message}"))))
}
