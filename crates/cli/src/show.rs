//! `raddle show`: the program as Raddle sees it.

use crate::Status;
use crate::args::Show;
use crate::output::{self, Output};

pub(crate) fn run(args: &Show) -> Status {
    match raddle::load(&args.input.file, &args.input.defines) {
        Ok(program) => {
            output::print(&raddle::program::print(&program));
            Status::Holds
        }
        Err(error) => Output::new(args.json).error(&error),
    }
}
