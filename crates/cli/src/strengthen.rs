//! `raddle strengthen`: the weakest memory orders and fences for which a program keeps its properties.

use crate::args::{Asked, Strengthen};
use crate::check::stop_when_asked;
use crate::output::Output;
use crate::progress::Progress;
use crate::status::{Failure, Status};
use raddle::answer::Question;
use raddle::report::{Answer, Problem};
use raddle::{Control, Model, load};
use std::sync::Arc;

pub(crate) fn run(args: &Strengthen) -> Status {
    let file = args.asked.input.file.display().to_string();
    let output = Output { full: args.full, ..Output::new("strengthen", &file, args.asked.json) };
    output.end(answer(&args.asked, &file))
}

fn answer(asked: &Asked, file: &str) -> Result<Answer, Failure> {
    if asked.what.model(Model::Rc11).is_none() {
        return Err(Problem::new("orderings are chosen for one memory model")
            .help("--model rc11 is that of C11")
            .into());
    }
    let load_options = asked.load_options();
    let loaded = raddle::load(&asked.input.file, &load_options)?;
    loaded.refuse(Model::Rc11)?;
    let settings = asked.settings(Model::Rc11);
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let progress = Progress::start(&control);
    let question = Question { file, load: &load_options, loaded: &loaded, settings: &settings };
    let answer = raddle::strengthen(&question, &control);
    progress.end();
    answer.map_err(|error| Failure::in_program(&error, load::sources(&loaded.program.sources)))
}
