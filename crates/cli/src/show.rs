//! `raddle show`: the program as Raddle sees it.

use crate::args::{Form, Show};
use crate::output::{self, Output};
use crate::status::Status;
use raddle::Error;
use raddle::prepare::transform;

pub(crate) fn run(args: &Show) -> Status {
    match raddle::load(&args.input.file, &args.input.options(&args.c, &args.others)) {
        Ok(loaded) => {
            let program = if args.prepared { transform(&loaded.program) } else { loaded.program };
            match args.to {
                Form::Rdl => output::print(&raddle::program::print(&program), Status::Holds),
                Form::Trencher => match raddle::program::trencher::write(&program) {
                    Ok(text) => output::print(&text, Status::Holds),
                    Err(diagnostic) => {
                        let error = Error::Rejected { sources: program.sources, diagnostics: vec![diagnostic] };
                        let file = args.input.file.display().to_string();
                        Output::new("show", &file, args.json).failure(&error.into())
                    }
                },
            }
        }
        Err(error) => {
            let file = args.input.file.display().to_string();
            Output::new("show", &file, args.json).failure(&error.into())
        }
    }
}
