//! `raddle compare`: every engine on one program, side by side.

use crate::args::Compare;
use crate::check::{stop_when_asked, workers};
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::cost::Meter;
use raddle::report::{Answer, Body, Comparison};
use raddle::{Control, Limits, Settings, load};
use std::sync::Arc;

pub(crate) fn run(args: &Compare) -> Status {
    let file = args.input.file.display().to_string();
    let output = Output { command: Some("compare"), file: Some(&file), json: args.json, ..Output::default() };
    output.end(answer(args, &file))
}

fn answer(args: &Compare, file: &str) -> Result<Answer, Failure> {
    let meter = Meter::start();
    let load_options = args.input.options(&args.c);
    let loaded = raddle::load(&args.input.file, &load_options)?;
    let sources = load::sources(&loaded.program.sources);
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let engines = raddle::compare::compare(&loaded.program, &settings(args), &control)
        .map_err(|error| Failure::in_program(&error, sources.clone()))?;
    let comparison = Comparison { parameters: load_options.parameters(), model: args.what.model, engines };
    Ok(Answer { file: file.to_owned(), sources, cost: meter.read(), body: Body::Compare(comparison) })
}

fn settings(args: &Compare) -> Settings {
    let mut settings = Settings::new(args.what.model);
    settings.loop_bound = args.loop_bound;
    let options = &mut settings.options;
    options.properties = args.what.properties();
    options.all = args.all;
    options.limits = Limits { executions: args.max_executions, time: args.time_limit, ..Limits::default() };
    options.workers = workers(args.workers);
    settings
}
