//! `raddle fair`: can this objective be satisfied, does this specification hold?

use crate::args::{DeadEnds, Fair, FairAlgorithm, SetsOption};
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::fair::solve::Method;
use raddle::fair::streett::{Algorithm, Threshold};
use raddle::fairness::{Form, Keep, Settings, Subject, Text};
use raddle::report::{Answer, Problem};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No file is larger than this.
const MAX_BYTES: u64 = 4 << 30;

pub(crate) fn run(args: &Fair) -> Status {
    let file = args.file.display().to_string();
    let output =
        Output { command: Some("fair"), file: Some(&file), json: args.json, full: args.full, ..Output::default() };
    output.end(answer(args))
}

fn answer(args: &Fair) -> Result<Answer, Failure> {
    let form = match args.file.extension().and_then(|end| end.to_str()) {
        Some("aut") => Form::Aut,
        Some("tra") => Form::Tra,
        _ => {
            let name = args.file.display();
            let problem = Problem::new(format!("do not know what form `{name}` has"));
            return Err(problem.help("graphs end in .aut (Aldebaran), MDPs and Markov chains in .tra (PRISM)").into());
        }
    };
    let optional = |path: &Option<PathBuf>| path.as_deref().map(read).transpose();
    let subject = Subject {
        system: (form, read(&args.file)?),
        labels: optional(&args.labels)?,
        states: optional(&args.states)?,
        pairs: optional(&args.pairs)?,
        specification: optional(&args.spec)?,
    };
    Ok(raddle::fair(&subject, &settings(args))?)
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
