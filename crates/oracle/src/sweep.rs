//! Many programs, several engines: who was really compared on what.
//!
//! A comparison says nothing about an engine that refused every program, or whose programs were all too large. So a sweep counts
//! per engine, family and model what came of each program, and whoever runs one can ask for least numbers.

use crate::compare::{Agreed, Comparison, Effort, Expected, Subject, code, compare_with};
use crate::generate::Family;
use crate::sketch::Sketch;
use raddle_trace::Model;
use rustc_hash::FxHashMap;
use std::ops::AddAssign;

/// What came of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The engine and brute force agree.
    pub agreed: u64,
    /// Those among them where races were compared, too.
    pub races: u64,
    /// Classes of all kinds on which they agree.
    pub classes: u64,
    /// They do not agree.
    pub disagreed: u64,
    /// The engine does not claim to take the program.
    pub left_out: u64,
    /// It takes programs like this one, but not what happens in it.
    pub refused: u64,
    /// Too large for brute force.
    pub too_large: u64,
}

impl Tally {
    /// Programs on which the engine was held against brute force.
    pub fn compared(&self) -> u64 {
        self.agreed + self.disagreed
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.agreed += other.agreed;
        self.races += other.races;
        self.classes += other.classes;
        self.disagreed += other.disagreed;
        self.left_out += other.left_out;
        self.refused += other.refused;
        self.too_large += other.too_large;
    }
}

/// An engine that is wrong about a program.
#[derive(Debug)]
pub struct Disagreement<'s> {
    /// Which engine.
    pub engine: &'s Subject,
    /// Under which model.
    pub model: Model,
    /// What differs, one line each.
    pub differences: Vec<String>,
}

/// Engines, and what came of the programs so far.
pub struct Sweep {
    engines: Vec<Subject>,
    effort: Effort,
    tallies: FxHashMap<(usize, Family, Model), Tally>,
    programs: u64,
}

impl Sweep {
    /// A sweep over nothing yet.
    pub fn new(engines: Vec<Subject>, effort: Effort) -> Sweep {
        Sweep { engines, effort, tallies: FxHashMap::default(), programs: 0 }
    }

    /// The engines.
    pub fn engines(&self) -> &[Subject] {
        &self.engines
    }

    /// How many programs some engine was compared on.
    pub fn programs(&self) -> u64 {
        self.programs
    }

    /// Holds every engine against brute force on a program.
    pub fn compare(&mut self, family: Family, sketch: &Sketch, models: &[Model]) -> Vec<Disagreement<'_>> {
        self.compare_some(family, sketch, models, |_| true)
    }

    /// Holds some of the engines against brute force on a program.
    pub fn compare_some(
        &mut self,
        family: Family,
        sketch: &Sketch,
        models: &[Model],
        asked: impl Fn(&Subject) -> bool,
    ) -> Vec<Disagreement<'_>> {
        let takes = |engine: &Subject, model: Model| asked(engine) && (engine.applies)(sketch, model);
        let mut disagreements = Vec::new();
        let mut compared = false;
        let code = code(sketch);
        for &model in models {
            let taken = self.engines.iter().any(|engine| takes(engine, model));
            let expected = taken.then(|| Expected::of(&code, model, self.effort));
            for (at, engine) in self.engines.iter().enumerate() {
                let tally = self.tallies.entry((at, family, model)).or_default();
                let expected = match &expected {
                    Some(expected) if takes(engine, model) => expected,
                    _ => {
                        tally.left_out += 1;
                        continue;
                    }
                };
                let Ok(expected) = expected else {
                    tally.too_large += 1;
                    continue;
                };
                let comparison = compare_with(sketch, model, engine, expected);
                compared |= matches!(comparison, Comparison::Agree(_) | Comparison::Disagree(_));
                match comparison {
                    Comparison::Agree(Agreed { classes, races }) => {
                        tally.agreed += 1;
                        tally.classes += classes;
                        tally.races += u64::from(races);
                    }
                    Comparison::TooLarge => tally.too_large += 1,
                    Comparison::Refused(_) => tally.refused += 1,
                    Comparison::Disagree(differences) => {
                        tally.disagreed += 1;
                        disagreements.push(Disagreement { engine, model, differences });
                    }
                }
            }
        }
        self.programs += u64::from(compared);
        disagreements
    }

    /// What came of the programs of some engines, families and models.
    pub fn tally(&self, of: impl Fn(&Subject, Family, Model) -> bool) -> Tally {
        let mut sum = Tally::default();
        for (&(engine, family, model), &tally) in &self.tallies {
            if of(&self.engines[engine], family, model) {
                sum += tally;
            }
        }
        sum
    }
}
