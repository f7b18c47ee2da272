//! `raddle fair`: can this objective be satisfied, does this specification hold?

use crate::args::{DeadEnds, Fair, FairAlgorithm, Input, Models, Others, SetsOption};
use crate::check::stop_when_asked;
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::engine::Options;
use raddle::fair::solve::Method;
use raddle::fair::streett::{Algorithm, Threshold};
use raddle::fairness::{Form, Keep, OfProgram, Settings, Subject, System, Text};
use raddle::report::{Answer, Problem};
use raddle::{Control, Model};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No file is larger than this.
const MAX_BYTES: u64 = 4 << 30;

pub(crate) fn run(args: &Fair) -> Status {
    let file = args.file.display().to_string();
    let output =
        Output { command: Some("fair"), file: Some(&file), json: args.json, full: args.full, ..Output::default() };
    output.end(answer(args))
}

fn answer(args: &Fair) -> Result<Answer, Failure> {
    let control = Arc::new(Control::new());
    let system = match args.file.extension().and_then(|end| end.to_str()) {
        Some("aut") => System::Text(Form::Aut, read(&args.file)?),
        Some("tra") => System::Text(Form::Tra, read(&args.file)?),
        Some("rdl" | "c" | "i") => {
            stop_when_asked(&control);
            System::Program(Box::new(program(args)?))
        }
        _ => {
            let name = args.file.display();
            let problem = Problem::new(format!("do not know what form `{name}` has"));
            let help =
                "graphs end in .aut (Aldebaran), MDPs and Markov chains in .tra (PRISM), programs in .rdl, .c and .i";
            return Err(problem.help(help).into());
        }
    };
    refuse(args, &system)?;
    let optional = |path: &Option<PathBuf>| path.as_deref().map(read).transpose();
    let subject = Subject {
        system,
        labels: optional(&args.labels)?,
        states: optional(&args.states)?,
        pairs: optional(&args.pairs)?,
        specification: optional(&args.spec)?,
    };
    Ok(raddle::fair(&subject, &settings(args), &control)?)
}

/// The program whose state space is asked about.
fn program(args: &Fair) -> Result<OfProgram, Failure> {
    let input = Input { file: args.file.clone(), defines: args.defines.clone() };
    let mut loaded = raddle::load(&args.file, &input.options(&args.c, &Others::default()))?;
    let model = match args.model.map(Models::one) {
        Some(Some(model)) => model,
        Some(None) => return Err(Problem::new("name one of sc and tso").into()),
        None => {
            let (model, note) = raddle::liveness::model_meant(loaded.model);
            loaded.notes.extend(note);
            model
        }
    };
    if !matches!(model, Model::Sc | Model::Tso) {
        let problem = Problem::new(format!("the states of a program are known under sc and tso, not under {model}"));
        return Err(problem.into());
    }
    let mut options = Options::new(model);
    options.limits.time = args.time_limit;
    options.limits.memory = args.max_memory.or(options.limits.memory);
    Ok(OfProgram { name: args.file.display().to_string(), loaded, options })
}

/// What has no meaning for this kind of system is not passed over.
fn refuse(args: &Fair, system: &System) -> Result<(), Failure> {
    let is_program = matches!(system, System::Program(_));
    let given = [
        (!is_program && args.model.is_some(), "--model", "it is for programs"),
        (!is_program && !args.defines.is_empty(), "--define", "it is for programs"),
        (
            is_program && args.labels.is_some(),
            "--labels",
            "labels of a program are written where they are used: \"x == 1\"",
        ),
        (
            is_program && args.states.is_some(),
            "--states",
            "states of a program are called after the places of its threads",
        ),
    ];
    match given.into_iter().find(|(given, ..)| *given) {
        Some((_, option, help)) => {
            Err(Problem::new(format!("`{option}` has no meaning for `{}`", args.file.display())).help(help).into())
        }
        None => Ok(()),
    }
}

fn settings(args: &Fair) -> Settings {
    let defaults = Settings::default();
    let method = match args.algorithm {
        FairAlgorithm::Basic => Method { streett: Algorithm::Basic, ends: Algorithm::Basic },
        FairAlgorithm::Improved => Method {
            streett: Algorithm::Improved(args.threshold.unwrap_or(Threshold::Log)),
            ends: Algorithm::Improved(args.threshold.unwrap_or(Threshold::SqrtEdges)),
        },
    };
    Settings {
        keep: match args.sets {
            SetsOption::Auto => Keep::Auto,
            SetsOption::Bits => Keep::Bits,
            SetsOption::Bdds => Keep::Bdds,
        },
        method,
        dead_ends_stay: matches!(args.dead_ends, DeadEnds::Stay),
        memory: args.max_memory.unwrap_or(defaults.memory),
        time_limit: args.time_limit,
    }
}

fn read(path: &Path) -> Result<Text, Problem> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)) {
        Err(error) => return Err(Problem::new(format!("cannot read `{name}`: {error}"))),
        Ok(_) if bytes.len() as u64 > MAX_BYTES => {
            return Err(Problem::new(format!("`{name}` is too large; it may have {} GiB", MAX_BYTES >> 30)));
        }
        Ok(_) => {}
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Text { name, text }),
        Err(_) => Err(Problem::new(format!("`{name}` is not UTF-8 text"))),
    }
}
