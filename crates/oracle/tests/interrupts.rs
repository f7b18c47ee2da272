//! Being told to stop is heard in the middle of a single question, too.

use raddle_engine::{Control, Engine, Options, PropertySet, Question, StopReason};
use raddle_explore::graphs::ReadsFrom;
use raddle_oracle::compare::code;
use raddle_oracle::{Family, generate};
use raddle_trace::{Model, Property};

#[test]
fn the_search_for_an_order_of_writes_is_interrupted() {
    let control = Control::new();
    control.stop();
    let mut options = Options::new(Model::Sc);
    options.properties = PropertySet::all().without(Property::Race);
    let engine: &dyn Engine = &ReadsFrom;
    let mut inside = 0;
    for index in 0..600 {
        let code = code(&generate(Family::Mixed, 3, index));
        let Ok(outcome) = engine.ask(&Question { code: &code, options: &options }, &control) else { continue };
        // Between questions the clock is looked at every 256 steps, so whoever stopped before that was inside one.
        inside += u32::from(outcome.stop == Some(StopReason::Interrupted) && outcome.statistics.events < 200);
    }
    assert!(inside > 0, "no question was interrupted");
}
