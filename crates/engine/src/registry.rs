//! The engines there are.

use crate::face::Engine;

/// A list of engines, in the order they are shown in.
///
/// A crate of engines has one; what `--engine` takes, its help, comparisons, the oracle, the benchmarks and the tables of
/// the book read from it.
#[derive(Clone, Copy, Debug)]
pub struct Registry(&'static [&'static dyn Engine]);

impl Registry {
    /// The registry of these engines.
    pub const fn new(engines: &'static [&'static dyn Engine]) -> Self {
        Registry(engines)
    }

    /// The engines.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Engine> + use<> {
        self.0.iter().copied()
    }

    /// The engine of this name.
    ///
    /// # Errors
    /// In words, with the names there are.
    pub fn find(&self, name: &str) -> Result<&'static dyn Engine, String> {
        self.iter().find(|engine| engine.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.iter().map(Engine::name).collect();
            format!("no engine is called `{name}`; there are {}", names.join(", "))
        })
    }
}
