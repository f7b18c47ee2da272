//! The engines there are.

use raddle_engine::Registry;
use raddle_explore::Auto;
use raddle_explore::dc::DataCentric;
use raddle_explore::graphs::{Optimal, ReadsFrom};
use raddle_explore::rvf::ReadsValueFrom;
use raddle_explore::vc::ValueCentric;
use raddle_reach::buffers::AbstractTso;
use raddle_reach::explicit::Explicit;
use raddle_reach::lazy::Lazy;
use raddle_symbolic::cegar::Cegar;
use raddle_symbolic::oc::OrderingConsistency;

/// All engines, in the order they are shown in. What `--engine` takes, its help, comparisons, the oracle, the benchmarks and the tables of the book read from
/// this list.
pub const ENGINES: Registry = Registry::new(&[
    &Auto,
    &Optimal,
    &ReadsFrom,
    &ReadsValueFrom,
    &ValueCentric,
    &DataCentric,
    &Explicit,
    &Lazy,
    &AbstractTso,
    &OrderingConsistency,
    &Cegar,
]);
