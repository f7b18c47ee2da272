//! What each model asks of an execution.

mod ra;
mod rc11;
mod sra;
mod wra;

use super::relations::Relations;
use super::{Broken, Done, Kind};
use raddle_trace::{Matrix, Model};

/// The first axiom of a model that an execution breaks.
pub(super) fn first_broken(model: Model) -> fn(&Relations<'_>) -> Option<Broken> {
    match model {
        Model::Wra => wra::broken,
        Model::Ra => ra::broken,
        Model::Sra => sra::broken,
        Model::Rc11 => rc11::broken,
        Model::Sc | Model::Tso | Model::Pso => unreachable!("this model has a memory of its own"),
    }
}

/// What happens before what in an execution.
pub(super) fn happens_before(model: Model, relations: &Relations<'_>) -> Matrix {
    if model == Model::Rc11 { rc11::happens_before(relations) } else { relations.causality() }
}
