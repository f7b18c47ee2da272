//! Switches of the engine `vc`.

use raddle_machine::Addr;

/// How the engine `vc` works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCentric {
    /// Which thread is the root. Classes do not tell orders of its events apart, so the number of executions depends on it.
    pub root: Root,
    /// If a read with a value ends an execution in one order of the leaves, do not look at the same read with the same
    /// value in the other orders: the events and their values are the same.
    pub shortcut: bool,
    /// Leave writes of leaves unordered as long as no read has one of them as a good write.
    pub relaxed: bool,
    /// Count an execution for each order of writes at its end that no read can tell apart, as the definition of classes
    /// has it. Without this (the default) there is one. Then [`relaxed`](Self::relaxed) is off.
    pub every_order: bool,
    /// What an engine must not get wrong because it loses executions then.
    pub corrections: Corrections,
}

impl Default for ValueCentric {
    fn default() -> Self {
        ValueCentric {
            root: Root::default(),
            shortcut: true,
            relaxed: true,
            every_order: false,
            corrections: Corrections::default(),
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

/// Points at which the published text can be read, or its algorithm be written, so that executions are lost. They can be taken
/// out only to show that, and no command line reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrections {
    /// The closure is computed again when writes are added, not only when reads are: a new write is bad for all reads.
    pub close_after_writes: bool,
    /// With relaxed orders, a write that becomes good for a read is ordered with the other writes of leaves.
    pub order_good_writes: bool,
    /// The shortcut is not taken where threads wait: whether an execution can end so depends on the order.
    pub waits_are_no_shortcut: bool,
}

impl Default for Corrections {
    fn default() -> Self {
        Corrections { close_after_writes: true, order_good_writes: true, waits_are_no_shortcut: true }
    }
}

impl ValueCentric {
    /// The names of the switches on the command line.
    pub const KEYS: [&str; 3] = ["root", "shortcut", "orders"];

    /// Sets a switch as it is written on the command line, `root=2`.
    ///
    /// # Errors
    /// In words, if there is no such switch or it cannot be set so.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        match text.split_once('=') {
            Some(("root", "main")) => self.root = Root::Main,
            Some(("root", "first")) => self.root = Root::First,
            Some(("root", number)) => {
                let number = number.parse().ok().filter(|&number| (1..Addr::MAX_THREADS).contains(&number));
                self.root =
                    number.map(Root::Nth).ok_or("`root` is main, first, or the number of a thread that main starts")?;
            }
            Some(("shortcut", "on")) => self.shortcut = true,
            Some(("shortcut", "off")) => self.shortcut = false,
            Some(("orders", "relaxed")) => (self.relaxed, self.every_order) = (true, false),
            Some(("orders", "strict")) => (self.relaxed, self.every_order) = (false, false),
            Some(("orders", "all")) => (self.relaxed, self.every_order) = (false, true),
            Some(("shortcut", value)) => return Err(format!("`shortcut` is on or off, not `{value}`")),
            Some(("orders", value)) => return Err(format!("`orders` is relaxed, strict or all, not `{value}`")),
            Some((key, _)) => return Err(format!("vc has no switch `{key}`; there are {}", Self::KEYS.join(", "))),
            None => return Err(format!("`{text}` is not of the form key=value")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_set_by_name() {
        let mut options = ValueCentric::default();
        for text in ["root=3", "shortcut=off", "orders=all"] {
            options.set(text).expect("a switch");
        }
        let expected = ValueCentric {
            root: Root::Nth(3),
            shortcut: false,
            relaxed: false,
            every_order: true,
            ..Default::default()
        };
        assert_eq!(options, expected);
        for text in ["root=main", "root=first", "shortcut=on", "orders=strict", "orders=relaxed"] {
            options.set(text).expect("a switch");
        }
        assert_eq!(options, ValueCentric::default());
        for text in ["root", "root=0", "root=-1", "root=99999999", "shortcut=maybe", "orders=", "closure=on", ""] {
            assert!(options.set(text).is_err(), "{text}");
        }
    }
}
