//! What to look for.

use crate::limits::Limits;
use crate::switches::Switches;
use raddle_trace::{Model, Property};

/// A set of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertySet(u32);

impl PropertySet {
    /// Every property.
    pub fn all() -> Self {
        Property::ALL.into_iter().collect()
    }

    /// None.
    pub const fn none() -> Self {
        PropertySet(0)
    }

    /// Whether the property is in the set.
    pub const fn contains(self, property: Property) -> bool {
        self.0 >> property as u32 & 1 == 1
    }

    /// Without this property.
    #[must_use]
    pub const fn without(self, property: Property) -> Self {
        PropertySet(self.0 & !(1 << property as u32))
    }

    /// With this property.
    #[must_use]
    pub const fn with(self, property: Property) -> Self {
        PropertySet(self.0 | 1 << property as u32)
    }
}

impl FromIterator<Property> for PropertySet {
    fn from_iter<I: IntoIterator<Item = Property>>(properties: I) -> Self {
        properties.into_iter().fold(PropertySet::none(), PropertySet::with)
    }
}

/// What to look for, under which model, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// Under which memory model.
    pub model: Model,
    /// What must not happen.
    pub properties: PropertySet,
    /// Go on after a violation and collect the distinct ones.
    pub all: bool,
    /// When to give up.
    pub limits: Limits,
    /// How many threads of this process explore.
    pub workers: usize,
    /// Read-modify-writes of one location whose results nobody uses commute: their order makes no classes.
    pub commuting_updates: bool,
    /// Keep a run of every class, complete or blocked, for those who hold the engine against another one. Memory then
    /// grows with the number of executions.
    pub keep_schedules: bool,
    /// What was set of the engine's own switches.
    pub switches: Switches,
}

impl Options {
    /// Everything is looked for, nothing is limited, one worker.
    pub fn new(model: Model) -> Self {
        Options {
            model,
            properties: PropertySet::all(),
            all: false,
            limits: Limits::default(),
            workers: 1,
            commuting_updates: false,
            keep_schedules: false,
            switches: Switches::default(),
        }
    }
}
