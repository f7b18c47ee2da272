//! `raddle compare`: every engine on one program, side by side.

use crate::Status;
use crate::args::Compare;
use crate::check::{stop_when_asked, workers};
use crate::output::{self, Output};
use raddle::report::{Comparison, Problem};
use raddle::{Control, Limits, Settings, VERSION, Verdict, load};
use std::sync::Arc;

pub(crate) fn run(args: &Compare) -> Status {
    let output = Output::new(args.json);
    let load_options = args.input.options(&args.c);
    let loaded = match raddle::load(&args.input.file, &load_options) {
        Ok(loaded) => loaded,
        Err(error) => return output.error(&error),
    };
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let engines = match raddle::compare::compare(&loaded.program, &settings(args), &control) {
        Ok(engines) => engines,
        Err(error) => return output.error_in(&error, &load::sources(&loaded.program.sources)),
    };
    let comparison = Comparison {
        file: args.input.file.display().to_string(),
        parameters: load_options.defines.iter().map(|define| (define.name.clone(), define.value.clone())).collect(),
        model: args.what.model,
        engines,
    };
    let status = match comparison.verdict() {
        None => Status::Internal,
        Some(_) if !comparison.any_ran() => Status::Input,
        Some(Verdict::Holds) => Status::Holds,
        Some(Verdict::Violated) => Status::Violated,
        Some(Verdict::Unknown) => Status::Unknown,
    };
    let status = output.answer(status, || comparison.json(VERSION), || comparison.human());
    if comparison.verdict().is_none() && !args.json {
        contradiction();
    }
    status
}

/// Says so under the table. JSON has said it in `agree`.
fn contradiction() {
    let problem = Problem::new("internal error: engines contradict each other about this program")
        .help("this is a bug in Raddle, and neither verdict can be trusted; please report it with the program");
    output::print_error(&format!("\n{}", problem.render(&Default::default(), 100)));
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
