//! What to explore and how far.

use crate::control::Control;
use crate::dc::options::DataCentric;
use crate::rvf::options::ReadsValueFrom;
use crate::vc::options::ValueCentric;
use raddle_trace::{Model, Property};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Which engine explores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The best one that applies.
    #[default]
    Auto,
    /// One execution per class of program order, reads-from and coherence.
    Optimal,
    /// One execution per class of program order and reads-from.
    ReadsFrom,
    /// At most one execution per class of values and the causal order of reads (SC only).
    ReadsValueFrom,
    /// At most one execution per class of values, causal order of reads, and the order of all but one thread (SC only).
    ValueCentric,
    /// One execution per class of program order and reads-from, by annotations that are realised (SC only).
    DataCentric,
}

impl Engine {
    /// Every engine, by its name on the command line.
    pub const ALL: [Engine; 6] = [
        Engine::Auto,
        Engine::Optimal,
        Engine::ReadsFrom,
        Engine::ReadsValueFrom,
        Engine::ValueCentric,
        Engine::DataCentric,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Optimal => "optimal",
            Engine::ReadsFrom => "rf",
            Engine::ReadsValueFrom => "rvf",
            Engine::ValueCentric => "vc",
            Engine::DataCentric => "dc",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Engine::ALL.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            let names: Vec<_> = Engine::ALL.iter().map(|engine| engine.name()).collect();
            format!("no engine is called `{name}`; there are {}", names.join(", "))
        })
    }
}

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

/// When to give up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// After so many executions, of whatever end.
    pub executions: Option<u64>,
    /// After so much time.
    pub time: Option<Duration>,
    /// In an execution, after so many events; the rest of it is not explored. Default [`Limits::DEPTH`].
    pub depth: Option<usize>,
    /// When the process uses so many bytes.
    pub memory: Option<u64>,
}

impl Limits {
    /// The number of events of one execution that is taken for non-termination.
    pub const DEPTH: usize = 5_000;

    /// After so many executions that do not end, it is not worth while to look at more of them, unless somebody has said
    /// how deep to look.
    pub(crate) const ENDLESS: u64 = 20;

    /// Why an exploration that began then and has ended so many executions must stop, if it must.
    pub(crate) fn reached(&self, control: &Control, start: Instant, runs: u64) -> Option<String> {
        if control.stopped() {
            return Some("it was interrupted".to_owned());
        }
        if let Some(limit) = self.executions.filter(|&limit| runs >= limit) {
            return Some(format!("the limit of {limit} executions was reached"));
        }
        if let Some(limit) = self.time.filter(|&limit| start.elapsed() >= limit) {
            return Some(format!("the time limit of {limit:?} was reached"));
        }
        let limit = self.memory.filter(|&limit| crate::memory::resident() >= limit)?;
        Some(format!("the memory limit of {limit} bytes was reached"))
    }
}

/// What to explore.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which engine.
    pub engine: Engine,
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
    /// How the engine `rvf` works.
    pub rvf: ReadsValueFrom,
    /// How the engine `vc` works.
    pub vc: ValueCentric,
    /// How the engine `dc` works.
    pub dc: DataCentric,
}

impl Options {
    /// Everything is looked for, nothing is limited, one worker.
    pub fn new(model: Model) -> Self {
        Options {
            engine: Engine::Auto,
            model,
            properties: PropertySet::all(),
            all: false,
            limits: Limits::default(),
            workers: 1,
            commuting_updates: false,
            keep_schedules: false,
            rvf: ReadsValueFrom::default(),
            vc: ValueCentric::default(),
            dc: DataCentric::default(),
        }
    }

    /// Sets a switch of the engine as it is written on the command line, `closure=off`.
    ///
    /// # Errors
    /// In words, if the engine has no such switch or it cannot be set so.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        match self.engine {
            Engine::ReadsValueFrom => self.rvf.set(text),
            Engine::ValueCentric => self.vc.set(text),
            Engine::DataCentric => self.dc.set(text),
            engine => Err(format!("the engine `{engine}` has no switches; rvf, vc and dc have")),
        }
    }
}
