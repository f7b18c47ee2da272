//! `raddle compare`: every engine on one program, side by side.

use crate::args::{Asked, Compare};
use crate::check::stop_when_asked;
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::cost::Meter;
use raddle::report::{Answer, Body, Comparison, Problem};
use raddle::{Control, load};
use std::sync::Arc;

pub(crate) fn run(args: &Compare) -> Status {
    let file = args.asked.input.file.display().to_string();
    Output::new("compare", &file, args.asked.json).end(answer(&args.asked, &file))
}

fn answer(asked: &Asked, file: &str) -> Result<Answer, Failure> {
    let meter = Meter::start();
    let load_options = asked.load_options();
    let loaded = raddle::load(&asked.input.file, &load_options)?;
    let Some(model) = asked.what.model(loaded.model) else {
        return Err(Problem::new("engines are compared under one memory model")
            .help("`raddle check --model all` runs them all")
            .into());
    };
    loaded.refuse(model)?;
    let sources = load::sources(&loaded.program.sources);
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let engines = raddle::compare::compare(loaded.compared(), &asked.settings(model), &control)
        .map_err(|error| Failure::in_program(&error, sources.clone()))?;
    let comparison = Comparison { parameters: load_options.parameters(), model, engines };
    Ok(Answer { file: file.to_owned(), sources, cost: meter.read(), body: Body::Compare(comparison) })
}
