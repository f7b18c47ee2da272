//! `raddle check`: load, verify, report.

use crate::args::Check;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::schedule_file;
use crate::status::{Failure, Status};
use raddle::answer::Question;
use raddle::cost::Meter;
use raddle::program::Program;
use raddle::report::{Answer, Body, Family, Problem};
use raddle::{Control, Error, Settings, load};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &Check) -> Status {
    let file = args.asked.input.file.display().to_string();
    let output = Output { full: args.full, dot: args.dot.as_deref(), ..Output::new("check", &file, args.asked.json) };
    output.end(answer(args, &file))
}

fn answer(args: &Check, file: &str) -> Result<Answer, Failure> {
    refuse_files_of_all(args)?;
    let meter = Meter::start();
    let load_options = args.asked.load_options();
    let loaded = raddle::load(&args.asked.input.file, &load_options)?;
    let settings = settings(args)?;
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let progress = Progress::start(&control);
    if args.asked.what.model.one().is_none() {
        let family = raddle::compare::under_every_model(&loaded.program, &settings, &control);
        progress.end();
        return under_all(args, file, &loaded.program, family, &meter);
    }
    let outcome = raddle::verify(&loaded.program, &settings, &control);
    progress.end();
    let outcome = outcome.map_err(|error| Failure::in_program(&error, load::sources(&loaded.program.sources)))?;
    let question = Question { file, load: &load_options, loaded: &loaded, settings: &settings };
    let answer = question.answer(outcome, meter.read());
    if let Some(path) = &args.save_schedule {
        save_schedule(path, &question, &answer)?;
    }
    Ok(answer)
}

/// The answer for all memory models.
fn under_all(
    args: &Check,
    file: &str,
    program: &Program,
    family: Result<Family, Error>,
    meter: &Meter,
) -> Result<Answer, Failure> {
    let sources = load::sources(&program.sources);
    let family = family.map_err(|error| Failure::in_program(&error, sources.clone()))?;
    let body = Body::Family(Family { parameters: args.asked.load_options().parameters(), ..family });
    Ok(Answer { file: file.to_owned(), sources, cost: meter.read(), body })
}

/// A counterexample belongs to one model.
fn refuse_files_of_all(args: &Check) -> Result<(), Failure> {
    let many = args.asked.what.model.one().is_none();
    if many && (args.dot.is_some() || args.save_schedule.is_some()) {
        let help = "`--model all` says which models to look at; name one of them";
        return Err(Problem::new("a counterexample belongs to one memory model").help(help).into());
    }
    Ok(())
}

fn settings(args: &Check) -> Result<Settings, Error> {
    let mut settings = Settings { engine: args.engine, ..args.asked.settings() };
    let options = &mut settings.options;
    for option in &args.engine_option {
        options.switches.set(args.engine, option).map_err(Error::Switch)?;
    }
    options.limits.depth = args.max_depth;
    options.limits.memory = args.max_memory;
    options.commuting_updates = args.commuting_updates;
    Ok(settings)
}

/// The first interrupt ends the search, and what it has found is reported; the second one ends the process.
pub(crate) fn stop_when_asked(control: &Arc<Control>) {
    let control = Arc::clone(control);
    let handler = move || {
        if control.stopped() {
            std::process::exit(Status::Unknown as i32);
        }
        control.stop();
    };
    // Without a handler an interrupt ends the process at once, which is no worse than other programs do.
    let _ = ctrlc::set_handler(handler);
}

/// Writes the schedule of the first counterexample, if there is one.
fn save_schedule(path: &Path, question: &Question<'_>, answer: &Answer) -> Result<(), Failure> {
    let Body::Check(raddle::report::Check { counterexamples, .. }) = &answer.body else { return Ok(()) };
    let Some(first) = counterexamples.first() else { return Ok(()) };
    let command = question.replay_command_with(&format!("@{}", path.display()));
    output::write_file(path, &schedule_file::text(&command, &first.violation.schedule))
}
