//! `raddle check`: load, verify, report.

use crate::args::Check;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::schedule_file;
use crate::status::{Failure, Status};
use raddle::answer::Question;
use raddle::cost::Meter;
use raddle::program::Program;
use raddle::report::{Answer, Body, Conclusion, Family, Problem, Task, sha256};
use raddle::{Control, Error, Loaded, Model, Settings, load};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

pub(crate) fn run(args: &Check) -> Status {
    let file = args.asked.input.file.display().to_string();
    let (dot, html, sarif) = (args.dot.as_deref(), args.html.as_deref(), args.sarif.as_deref());
    let output =
        Output { full: args.full, short: args.short, dot, html, sarif, ..Output::new("check", &file, args.asked.json) };
    output.end(answer(args, &file).and_then(|answer| write_witness(args, &answer).map(|()| answer)))
}

fn answer(args: &Check, file: &str) -> Result<Answer, Failure> {
    if args.live.is_asked() {
        return crate::live::answer(args, file);
    }
    if let Some(option) = args.live.idle() {
        let help = "--live or --ltl asks about runs that never end";
        return Err(Problem::new(format!("`{option}` has no meaning alone")).help(help).into());
    }
    refuse_files_of_all(args)?;
    let meter = Meter::start();
    let mut load_options = args.asked.load_options();
    let mut loaded = raddle::load(&args.asked.input.file, &load_options)?;
    let mut settings = settings(args, loaded.model)?;
    let named = args.asked.what.model;
    if named.is_none() && loaded.litmus.is_none() && loaded.model != Model::Sc {
        let (model, note) = raddle::model_meant(&loaded, &settings);
        settings.options.model = model;
        loaded.notes.extend(note);
    }
    if args.sarif.is_some() && loaded.litmus.is_some() {
        let problem = Problem::new("a litmus test asks about final states, and has no violations to list");
        return Err(problem.help("leave --sarif out; --json has the answer").into());
    }
    if args.states && loaded.litmus.is_none() {
        return Err(Problem::new("only litmus tests have final states to list").help("leave --states out").into());
    }
    let control = Arc::new(Control::new());
    stop_when_asked(&control);
    let progress = Progress::start(&control);
    if args.asked.what.model(loaded.model).is_none() {
        loaded.refuse(Model::Tso)?;
        let family = match &loaded.litmus {
            Some(test) => raddle::litmus_tests::under_every_model(test, &settings, &control),
            None => raddle::compare::under_every_model(&loaded.program, &settings, &control),
        };
        progress.end();
        return under_all(args, file, &loaded.program, family, &meter);
    }
    let mut verify = |loaded: &mut Loaded, settings: &Settings| {
        raddle::verify_in_pieces(loaded, &mut load_options, settings, &control)
    };
    let outcome = match &loaded.litmus {
        Some(_) => None,
        None => Some(match verify(&mut loaded, &settings) {
            // What had to be made in pieces on the way may ask for another model.
            Err(error @ Error::Unsupported { .. }) if named.is_none() && settings.options.model != Model::Sc => {
                let (model, note) = raddle::model_meant(&loaded, &settings);
                if model != settings.options.model {
                    settings.options.model = model;
                    loaded.notes.extend(note);
                    control.restart();
                    verify(&mut loaded, &settings)
                } else {
                    Err(error)
                }
            }
            outcome => outcome,
        }),
    };
    let question = Question { file, load: &load_options, loaded: &loaded, settings: &settings };
    let answer = match (&loaded.litmus, outcome) {
        (Some(test), _) => raddle::litmus(&question, test, args.states, &control),
        (None, outcome) => {
            outcome.expect("a program is verified").map(|outcome| question.answer(outcome, meter.read()))
        }
    };
    progress.end();
    let answer = answer.map_err(|error| Failure::in_program(&error, load::sources(&loaded.program.sources)))?;
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
    let many = args.asked.what.model(Model::default()).is_none();
    if many
        && ([&args.dot, &args.html, &args.sarif, &args.witness].iter().any(|file| file.is_some())
            || args.save_schedule.is_some()
            || args.states)
    {
        let help = "`--model all` says which models to look at; name one of them";
        let what = if args.states { "final states belong" } else { "a counterexample belongs" };
        return Err(Problem::new(format!("{what} to one memory model")).help(help).into());
    }
    Ok(())
}

pub(crate) fn settings(args: &Check, default: Model) -> Result<Settings, Error> {
    let mut settings = Settings { engine: args.engine, ..args.asked.settings(default) };
    let options = &mut settings.options;
    for option in &args.engine_option {
        options.switches.set(args.engine, option).map_err(Error::Switch)?;
    }
    if args.certify {
        options.switches.set(args.engine, "certify=on").map_err(Error::Switch)?;
    }
    options.limits.depth = args.max_depth;
    options.limits.memory = args.max_memory;
    options.limits.states = args.max_states;
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

/// Writes the first violation as a witness, if there is one.
fn write_witness(args: &Check, answer: &Answer) -> Result<(), Failure> {
    let Some(path) = &args.witness else { return Ok(()) };
    let options = args.asked.load_options();
    let mut files = Vec::new();
    for file in std::iter::once(&args.asked.input.file).chain(&options.c.with) {
        let bytes =
            std::fs::read(file).map_err(|error| Problem::new(format!("cannot read `{}`: {error}", file.display())))?;
        files.push((file.display().to_string(), sha256(&bytes)));
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let task = Task { files, ilp32: options.c.ilp32, created: now.map_or(0, |now| now.as_secs()) };
    match answer.witness(&task) {
        Some(witness) => output::write_file(path, &witness),
        None if answer.conclusion() == Conclusion::Violated => {
            let problem = Problem::new("competitions have no property of this kind, so there is no witness of it");
            Err(problem.help("--save-schedule and --sarif keep the run").into())
        }
        None => Ok(()),
    }
}

/// Writes the schedule of the first counterexample, if there is one.
fn save_schedule(path: &Path, question: &Question<'_>, answer: &Answer) -> Result<(), Failure> {
    let counterexamples = match &answer.body {
        Body::Check(check) => &check.counterexamples,
        Body::Litmus(litmus) => &litmus.check.counterexamples,
        _ => return Ok(()),
    };
    let Some(first) = counterexamples.first() else { return Ok(()) };
    let command = question.replay_command_with(&format!("@{}", path.display()));
    output::write_file(path, &schedule_file::text(&command, &first.violation.schedule))
}
