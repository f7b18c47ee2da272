//! `raddle show`: the program as Raddle sees it.

use crate::args::Show;
use crate::output::{self, Output};
use crate::status::Status;
use raddle::prepare::transform;

pub(crate) fn run(args: &Show) -> Status {
    match raddle::load(&args.input.file, &args.input.options(&args.c)) {
        Ok(loaded) => {
            let program = if args.prepared { transform(&loaded.program) } else { loaded.program };
            output::print(&raddle::program::print(&program), Status::Holds)
        }
        Err(error) => {
            let file = args.input.file.display().to_string();
            Output::new("show", &file, args.json).failure(&error.into())
        }
    }
}
