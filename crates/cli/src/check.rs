//! `raddle check`: load, verify, report.

use crate::args::Check;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::{Status, schedule_file};
use raddle::answer::Question;
use raddle::cost::Meter;
use raddle::report::{Answer, dot, human, json};
use raddle::{Control, Error, Limits, Settings, VERSION, Verdict, load};
use std::sync::Arc;

pub(crate) fn run(args: &Check) -> Status {
    let meter = Meter::start();
    let output = Output::new(args.json);
    let load_options = args.input.options(&args.c);
    let loaded = match raddle::load(&args.input.file, &load_options) {
        Ok(loaded) => loaded,
        Err(error) => return output.error(&error),
    };
    let settings = match settings(args) {
        Ok(settings) => settings,
        Err(error) => return output.error(&error),
    };
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let progress = Progress::start(&control);
    let outcome = raddle::verify(&loaded.program, &settings, &control);
    progress.end();
    let sources = load::sources(&loaded.program.sources);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return output.error_in(&error, &sources),
    };
    let file = args.input.file.display().to_string();
    let question = Question { file: &file, load: &load_options, loaded: &loaded, settings: &settings };
    let answer = question.answer(outcome, meter.read());
    if let Err(status) = write_files(args, &question, &answer, output) {
        return status;
    }
    let status = match answer.verdict {
        Verdict::Holds => Status::Holds,
        Verdict::Violated => Status::Violated,
        Verdict::Unknown => Status::Unknown,
    };
    let human = || human::answer(&answer, &sources, output::layout(args.full));
    output.answer(status, || json::answer(&answer, VERSION), human)
}

fn settings(args: &Check) -> Result<Settings, Error> {
    let mut settings = Settings::new(args.what.model);
    settings.loop_bound = args.loop_bound;
    settings.engine = args.engine;
    let options = &mut settings.options;
    for option in &args.engine_option {
        options.switches.set(args.engine, option).map_err(Error::Switch)?;
    }
    options.properties = args.what.properties();
    options.all = args.all;
    options.limits = Limits {
        executions: args.max_executions,
        time: args.time_limit,
        depth: args.max_depth,
        memory: args.max_memory,
    };
    options.workers = workers(args.workers);
    options.commuting_updates = args.commuting_updates;
    Ok(settings)
}

/// So many threads; 0 stands for one per core.
pub(crate) fn workers(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    }
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

/// Writes the graph and the schedule of the first counterexample, if they are wanted and there is one.
fn write_files(args: &Check, question: &Question<'_>, answer: &Answer, output: Output) -> Result<(), Status> {
    let Some(first) = answer.counterexamples.first() else { return Ok(()) };
    if let Some(path) = &args.dot {
        output.write(path, &dot::dot(&first.execution))?;
    }
    if let Some(path) = &args.save_schedule {
        let command = question.replay_command_with(&format!("@{}", path.display()));
        output.write(path, &schedule_file::text(&command, &first.violation.schedule))?;
    }
    Ok(())
}
