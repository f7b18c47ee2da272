//! Switches of the engine `vc`.

use crate::rules::Follows;
use raddle_engine::{Switch, Switches, Values};

/// How the engine `vc` works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which thread is the root. Classes do not tell orders of its events apart, so the number of executions depends on it.
    pub root: Root,
    /// If a read with a value ends an execution in one order of the leaves, do not look at the same read with the same
    /// value in the other orders: the events and their values are the same.
    pub shortcut: bool,
    /// Leave out reads that need not be tried, by backtrack signals.
    pub signals: bool,
    /// Leave writes of leaves unordered until the closure asks for their order.
    pub relaxed: bool,
    /// Count an execution for each order of writes at its end that no read can tell apart, as the definition of classes
    /// has it. Without this (the default) there is one. Then [`relaxed`](Self::relaxed) is off.
    pub every_order: bool,
    /// The rule that is left out.
    #[cfg(test)]
    pub(super) without: Option<Rule>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            root: Root::default(),
            shortcut: true,
            signals: true,
            relaxed: true,
            every_order: false,
            #[cfg(test)]
            without: None,
        }
    }
}

/// Which thread is the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// The first thread.
    Main,
    /// The first one that the first thread starts.
    #[default]
    First,
    /// The n-th one that the first thread starts, from 1.
    Nth(u32),
}

/// Points at which the published text can be read, or its algorithm be written, so that executions are lost. Tests take one
/// out to show that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The closure is computed again when writes are added, not only when reads are: a new write is bad for all reads.
    CloseAfterWrites,
    /// With relaxed orders, where the closure asks for an order of writes each answer is tried.
    EveryAnswer,
    /// The shortcut is not taken where threads wait: whether an execution can end so depends on the order.
    WaitsAreNoShortcut,
}

impl Follows<Rule> for Settings {
    #[cfg(test)]
    fn without(&self) -> Option<Rule> {
        self.without
    }
}

const ROOT: Switch = Switch {
    key: "root",
    values: Values::WordsOrNumber(&["first", "main"], "the number of a thread that main starts"),
    default: "first",
    summary: "the thread whose events are not told apart by their order",
};
const SHORTCUT: Switch =
    Switch::on_off("shortcut", true, "do not look at a last read again in other orders of the leaves");
const SIGNALS: Switch = Switch::on_off("signals", true, "leave out reads that need not be tried");
const ORDERS: Switch =
    Switch::words("orders", &["relaxed", "strict", "all"], "which orders of writes of leaves are told apart");

/// The switches of the engine.
pub(super) const SWITCHES: &[Switch] = &[ROOT, SHORTCUT, SIGNALS, ORDERS];

impl From<&Switches> for Settings {
    fn from(switches: &Switches) -> Self {
        let orders = switches.get(&ORDERS);
        Settings {
            root: match switches.get(&ROOT) {
                "main" => Root::Main,
                number => number.parse().map_or(Root::First, Root::Nth),
            },
            shortcut: switches.is_on(&SHORTCUT),
            signals: switches.is_on(&SIGNALS),
            relaxed: orders == "relaxed",
            every_order: orders == "all",
            #[cfg(test)]
            without: None,
        }
    }
}
