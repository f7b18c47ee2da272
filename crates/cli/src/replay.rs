//! `raddle replay`: run a schedule again and show it.

use crate::args::{Others, Replay};
use crate::output::Output;
use crate::schedule_file;
use crate::status::{Failure, Status};
use raddle::cost::Meter;
use raddle::report::{Answer, Body, Problem};
use raddle::{PropertySet, Schedule, load};
use std::path::Path;

pub(crate) fn run(args: &Replay) -> Status {
    let file = args.input.file.display().to_string();
    let (dot, html) = (args.dot.as_deref(), args.html.as_deref());
    let output = Output { full: args.full, dot, html, ..Output::new("replay", &file, args.json) };
    output.end(answer(args, &file))
}

fn answer(args: &Replay, file: &str) -> Result<Answer, Failure> {
    let meter = Meter::start();
    let loaded = raddle::load(&args.input.file, &args.input.options(&args.c, &Others::default()))?;
    let model = args.model.unwrap_or(loaded.model);
    loaded.refuse(model)?;
    let program = loaded.program;
    let schedule = schedule(&args.schedule.join(" "))?;
    let sources = load::sources(&program.sources);
    let properties = args.no.iter().fold(PropertySet::all(), |set, &property| set.without(property));
    let replay = if args.as_written { raddle::replay_as_written } else { raddle::replay };
    let replayed =
        replay(&program, model, &schedule, properties).map_err(|error| Failure::in_program(&error, sources.clone()))?;
    Ok(Answer { file: file.to_owned(), sources, cost: meter.read(), body: Body::Replay(replayed) })
}

fn schedule(text: &str) -> Result<Schedule, Failure> {
    let parsed = match text.strip_prefix('@') {
        Some(path) => schedule_file::parse(&load::read(Path::new(path))?),
        None => text.parse(),
    };
    parsed.map_err(|message| Problem::new(format!("not a schedule: {message}")).into())
}
