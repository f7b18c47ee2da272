//! `raddle robust`: is every execution under TSO one of sequential consistency?

use crate::args::Robust;
use crate::check::stop_when_asked;
use crate::output::{Output, write_file};
use crate::progress::Progress;
use crate::status::{Failure, Status};
use raddle::answer::Question;
use raddle::report::{Answer, Body};
use raddle::{Control, Model, Settings, Wanted, load};
use std::sync::Arc;

pub(crate) fn run(args: &Robust) -> Status {
    let file = args.input.file.display().to_string();
    let dot = args.dot.as_deref();
    let output = Output { command: Some("robust"), file: Some(&file), json: args.json, dot, ..Output::default() };
    let answer = answer(args, &file).and_then(|answer| {
        if let (Some(path), Body::Robust(body)) = (&args.patch, &answer.body)
            && let Some(patch) = body.patch.as_deref().filter(|patch| !patch.is_empty())
        {
            write_file(path, patch)?;
        }
        Ok(answer)
    });
    output.end(answer)
}

fn answer(args: &Robust, file: &str) -> Result<Answer, Failure> {
    let load_options = args.input.options(&args.c, &args.others);
    let loaded = raddle::load(&args.input.file, &load_options)?;
    loaded.refuse(Model::Tso)?;
    let mut settings = Settings::new(Model::Tso);
    settings.options.workers = args.workers;
    settings.options.limits.time = args.time_limit;
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let progress = Progress::start(&control);
    let question = Question { file, load: &load_options, loaded: &loaded, settings: &settings };
    let answer = raddle::robust(&question, Wanted { fences: args.fences, patch: args.patch.is_some() }, &control);
    progress.end();
    answer.map_err(|error| Failure::in_program(&error, load::sources(&loaded.program.sources)))
}
