//! `raddle check --live`: does every fair run do what it is to do?

use crate::args::Check;
use crate::check::{settings, stop_when_asked};
use crate::progress::Progress;
use crate::status::Failure;
use raddle::answer::Question;
use raddle::report::{Answer, Problem};
use raddle::{Control, Property, load};
use std::sync::Arc;

pub(crate) fn answer(args: &Check, file: &str) -> Result<Answer, Failure> {
    refuse(args)?;
    let load_options = args.asked.load_options();
    let mut loaded = raddle::load(&args.asked.input.file, &load_options)?;
    if loaded.litmus.is_some() {
        let problem = Problem::new("a litmus test asks about final states, and says nothing about runs that never end");
        return Err(problem.help("leave --live and --ltl out").into());
    }
    let mut settings = settings(args, loaded.model)?;
    if args.asked.what.model.is_none() {
        let (model, note) = raddle::liveness::model_meant(loaded.model);
        settings.options.model = model;
        loaded.notes.extend(note);
    }
    loaded.refuse(settings.options.model)?;
    let asked = args.live.settings(&loaded.program)?;
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let progress = Progress::start(&control);
    let question = Question { file, load: &load_options, loaded: &loaded, settings: &settings };
    let answer = raddle::live(&question, &asked, &control);
    progress.end();
    answer.map_err(|error| Failure::in_program(&error, load::sources(&loaded.program.sources)))
}

/// What has no meaning beside `--live` is not passed over.
fn refuse(args: &Check) -> Result<(), Failure> {
    let asked = &args.asked;
    let given = [
        (!asked.loop_bound.is_empty(), "--loop-bound", "a run that is cut off does not go on for ever"),
        (asked.all, "--all", "the first run that does not do what it is to do is shown"),
        (
            args.engine.name() != "auto",
            "--engine",
            "states are searched as by `explicit`, and nobody else can be asked",
        ),
        (!args.engine_option.is_empty(), "--engine-option", "states are searched as by `explicit`, without reductions"),
        (args.commuting_updates, "--commuting-updates", "executions are not told apart"),
        (args.states, "--states", "only litmus tests have final states to list"),
        (
            asked.what.only.contains(&Property::Race),
            "--only race",
            "data races are not looked for in runs that never end",
        ),
        (args.save_schedule.is_some(), "--save-schedule", "--json has the schedule"),
        (asked.what.model.is_some_and(|model| model.one().is_none()), "--model all", "name one of sc and tso"),
    ];
    match given.iter().find(|(given, ..)| *given) {
        Some((_, option, help)) => {
            Err(Problem::new(format!("`{option}` has no meaning beside `--live` and `--ltl`")).help(*help).into())
        }
        None => Ok(()),
    }
}
