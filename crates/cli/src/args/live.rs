//! What can be asked about runs that never end.

use crate::status::Failure;
use clap::{Args, ValueEnum};
use raddle::Program;
use raddle::live::{BUFFER, Fairness, Goal, Settings, Strength, Unit};
use raddle::liveness::{FORMULA, formula};

/// What to ask about fair runs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Runs that never end")]
pub(crate) struct Live {
    /// Ask whether every fair run ends (`ends`), or whether whoever waits gets on, be there an end or not (`waits`): under sc or tso, of programs with finitely many states. Loops
    /// that wait are loops here
    #[arg(long, value_enum, value_name = "ends|waits", num_args = 0..=1, require_equals = true, default_missing_value = "ends", hide_possible_values = true)]
    live: Option<GoalOption>,

    /// Ask whether every fair run satisfies this formula of temporal logic over global variables: G (want -> F in == 1). Operators: ! && || -> <-> G F X U R W
    #[arg(long, value_name = "FORMULA", conflicts_with = "live", allow_hyphen_values = true)]
    ltl: Option<String>,

    /// A run counts if whoever can always move does (`weak`), or whoever can move again and again does (`strong`) [default: weak]
    #[arg(long, value_enum, value_name = "weak|strong", hide_possible_values = true)]
    fairness: Option<StrengthOption>,

    /// Who is owed that: each `thread`, or each `action` of one, a step from one place of its code to another [default: thread]
    #[arg(long, value_enum, value_name = "thread|action", hide_possible_values = true)]
    fairness_unit: Option<UnitOption>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GoalOption {
    Ends,
    Waits,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StrengthOption {
    Weak,
    Strong,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnitOption {
    Thread,
    Action,
}

impl Live {
    /// Whether something is asked about runs that never end.
    pub(crate) fn is_asked(&self) -> bool {
        self.live.is_some() || self.ltl.is_some()
    }

    /// The option that has no meaning because nothing is.
    pub(crate) fn idle(&self) -> Option<&'static str> {
        let given = [(self.fairness.is_some(), "--fairness"), (self.fairness_unit.is_some(), "--fairness-unit")];
        given.into_iter().find(|(given, _)| *given && !self.is_asked()).map(|(_, option)| option)
    }

    /// What is asked of this program.
    pub(crate) fn settings(&self, program: &Program) -> Result<Settings, Failure> {
        let goal = match (&self.ltl, self.live) {
            (Some(text), _) => {
                let quoted = || [(FORMULA, text.as_str())].into_iter().collect();
                Goal::Formula(formula(text, program).map_err(|problem| Failure::from(problem).about(quoted()))?)
            }
            (None, Some(GoalOption::Waits)) => Goal::Waits,
            (None, Some(GoalOption::Ends) | None) => Goal::Ends,
        };
        let strength = match self.fairness {
            None | Some(StrengthOption::Weak) => Strength::Weak,
            Some(StrengthOption::Strong) => Strength::Strong,
        };
        let unit = match self.fairness_unit {
            None | Some(UnitOption::Thread) => Unit::Thread,
            Some(UnitOption::Action) => Unit::Action,
        };
        Ok(Settings { goal, fairness: Fairness { strength, unit }, buffer: BUFFER })
    }
}
