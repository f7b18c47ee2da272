//! What can be asked about runs that never end.

use clap::{Args, ValueEnum};
use raddle::live::{BUFFER, Fairness, Goal, Settings, Strength, Unit};

/// What to ask about fair runs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Runs that never end")]
pub(crate) struct Live {
    /// Ask whether every fair run ends (`ends`), or whether whoever waits gets on, be there an end or not (`waits`): under sc or tso, of programs with finitely many states. Loops
    /// that wait are loops here
    #[arg(long, value_enum, value_name = "ends|waits", num_args = 0..=1, require_equals = true, default_missing_value = "ends", hide_possible_values = true)]
    live: Option<GoalOption>,

    /// A run counts if whoever can always move does (`weak`), or whoever can move again and again does (`strong`) [default: weak]
    #[arg(long, value_enum, value_name = "weak|strong", requires = "live", hide_possible_values = true)]
    fairness: Option<StrengthOption>,

    /// Who is owed that: each `thread`, or each `action` of one, a step from one place of its code to another [default: thread]
    #[arg(long, value_enum, value_name = "thread|action", requires = "live", hide_possible_values = true)]
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
    /// What is asked, if anything is.
    pub(crate) fn settings(&self) -> Option<Settings> {
        let goal = match self.live? {
            GoalOption::Ends => Goal::Ends,
            GoalOption::Waits => Goal::Waits,
        };
        let strength = match self.fairness {
            None | Some(StrengthOption::Weak) => Strength::Weak,
            Some(StrengthOption::Strong) => Strength::Strong,
        };
        let unit = match self.fairness_unit {
            None | Some(UnitOption::Thread) => Unit::Thread,
            Some(UnitOption::Action) => Unit::Action,
        };
        Some(Settings { goal, fairness: Fairness { strength, unit }, buffer: BUFFER })
    }
}
