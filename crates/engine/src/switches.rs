//! Switches of single engines: declared by the engine, parsed here.
//!
//! An engine declares its switches as constants; `--engine-option key=value` is checked against them once, and the engine asks
//! for the value of a switch by that constant. So no setting of one engine is a field of what all share.

use crate::face::Engine;
use std::fmt::Write;

/// A switch of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name.
    pub key: &'static str,
    /// What it can be set to.
    pub values: Values,
    /// What it is if nobody sets it.
    pub default: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
}

/// What a switch can be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, or a number from 1 on. The text says what the number is.
    WordsOrNumber(&'static [&'static str], &'static str),
}

const ON_OFF: &[&str] = &["on", "off"];

impl Switch {
    /// A switch that is on or off.
    pub const fn on_off(key: &'static str, on: bool, summary: &'static str) -> Self {
        Switch { key, values: Values::Words(ON_OFF), default: if on { "on" } else { "off" }, summary }
    }

    /// A switch with these words; the first is the default.
    pub const fn words(key: &'static str, words: &'static [&'static str], summary: &'static str) -> Self {
        Switch { key, values: Values::Words(words), default: words[0], summary }
    }

    /// What it can be set to, in words.
    fn choices(&self) -> String {
        let (words, number) = match self.values {
            Values::Words(words) => (words, None),
            Values::WordsOrNumber(words, number) => (words, Some(number)),
        };
        let all: Vec<&str> = words.iter().copied().chain(number).collect();
        let (last, before) = all.split_last().expect("a switch has values");
        format!("{}{}{last}", before.join(", "), if before.is_empty() { "" } else { " or " })
    }

    fn takes(&self, value: &str) -> bool {
        match self.values {
            Values::Words(words) => words.contains(&value),
            Values::WordsOrNumber(words, _) => {
                words.contains(&value) || value.parse::<u32>().is_ok_and(|number| (1..1 << 16).contains(&number))
            }
        }
    }
}

/// What was set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches(Vec<(&'static str, String)>);

impl Switches {
    /// Sets a switch of an engine as it is written on the command line, `closure=off`.
    ///
    /// # Errors
    /// In words, if the engine has no such switch or it cannot be set so.
    pub fn set(&mut self, engine: &dyn Engine, text: &str) -> Result<(), String> {
        let (name, switches) = (engine.name(), engine.switches());
        if switches.is_empty() {
            return Err(format!("the engine `{name}` has no switches; `raddle check --help` says who has which"));
        }
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form key=value"))?;
        let Some(switch) = switches.iter().find(|switch| switch.key == key) else {
            let keys: Vec<&str> = switches.iter().map(|switch| switch.key).collect();
            return Err(format!("{name} has no switch `{key}`; there are {}", keys.join(", ")));
        };
        if !switch.takes(value) {
            return Err(format!("`{key}` is {}, not `{value}`", switch.choices()));
        }
        self.0.retain(|(known, _)| *known != switch.key);
        self.0.push((switch.key, value.to_owned()));
        Ok(())
    }

    /// What the switch is set to.
    pub fn get<'a>(&'a self, switch: &'a Switch) -> &'a str {
        self.0.iter().find(|(key, _)| *key == switch.key).map_or(switch.default, |(_, value)| value)
    }

    /// Whether a switch is on.
    pub fn is_on(&self, switch: &Switch) -> bool {
        self.get(switch) == "on"
    }
}

/// The switches of all engines, for the help.
pub fn help(engines: impl IntoIterator<Item = &'static dyn Engine>) -> String {
    let mut text = String::new();
    for engine in engines {
        for switch in engine.switches() {
            let (name, key, default) = (engine.name(), switch.key, switch.default);
            let line = format!("{name} {key}={}: {} (default {default})", switch.choices(), switch.summary);
            writeln!(text, "{line}").expect("a string takes everything");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Deadline;
    use crate::{Equivalence, Fault, Outcome, Question, Refusal};

    const FAST: Switch = Switch::on_off("fast", true, "hurry");
    const ROOT: Switch = Switch {
        key: "root",
        values: Values::WordsOrNumber(&["first", "main"], "the number of a thread"),
        default: "first",
        summary: "where to begin",
    };

    struct Toy(&'static [Switch]);

    impl Engine for Toy {
        fn name(&self) -> &'static str {
            "toy"
        }
        fn summary(&self) -> &'static str {
            "does nothing"
        }
        fn equivalence(&self) -> Equivalence {
            Equivalence::Traces
        }
        fn switches(&self) -> &'static [Switch] {
            self.0
        }
        fn takes(&self, _: &Question<'_>) -> Result<(), Refusal> {
            Ok(())
        }
        fn run(&self, _: &Question<'_>, _: &Deadline<'_>) -> Result<Outcome, Fault> {
            Err(Fault::NotReplayed("nothing to run".into()))
        }
    }

    #[test]
    fn switches_are_set_by_name_and_the_last_one_counts() {
        let toy = Toy(&[FAST, ROOT]);
        let mut switches = Switches::default();
        assert!(switches.is_on(&FAST) && switches.get(&ROOT) == "first");
        for text in ["fast=off", "root=main", "root=7"] {
            switches.set(&toy, text).expect("a switch");
        }
        assert!(!switches.is_on(&FAST) && switches.get(&ROOT) == "7");
    }

    #[test]
    fn what_cannot_be_set_is_said_with_what_can() {
        let toy = Toy(&[FAST, ROOT]);
        let mut switches = Switches::default();
        let mut refused = |text: &str| switches.set(&toy, text).expect_err("not a switch");
        assert_eq!(refused("fast"), "`fast` is not of the form key=value");
        assert_eq!(refused("slow=on"), "toy has no switch `slow`; there are fast, root");
        assert_eq!(refused("fast=maybe"), "`fast` is on or off, not `maybe`");
        assert_eq!(refused("root=0"), "`root` is first, main or the number of a thread, not `0`");
        assert!(Switches::default().set(&Toy(&[]), "fast=on").is_err());
    }
}
