//! Switches of the engine `rvf`.

/// How the engine `rvf` works. What is on by default makes it faster; nothing but [`by_source`](Self::by_source) changes what is
/// explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadsValueFrom {
    /// Compute the closure of an instance before it is searched.
    pub closure: bool,
    /// Execute reads, and writes that nobody needs, without alternative.
    pub greedy: bool,
    /// Use the sequence at hand: as the solution if it is one, else as the order in which a search goes.
    pub guidance: bool,
    /// Leave out reads that need not be tried, by backtrack signals.
    pub signals: bool,
    /// Tell writes of the same value apart: explores exactly one execution per class of events and reads-from.
    pub by_source: bool,
    /// What we do beyond the published method because it loses executions without.
    pub corrections: Corrections,
}

impl Default for ReadsValueFrom {
    fn default() -> Self {
        ReadsValueFrom {
            closure: true,
            greedy: true,
            guidance: true,
            signals: true,
            by_source: false,
            corrections: Corrections::default(),
        }
    }
}

/// Corrections of the published method. Without any of them executions are lost; they can be taken out only to show that,
/// and no command line reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrections {
    /// A pending compare-exchange is a signal to every update before it on the location, not only to compare-exchanges.
    pub updates_hide_updates: bool,
    /// A pending lock is a signal to every lock of the mutex, which may never be released.
    pub locks_hide_locks: bool,
    /// What an update writes is a signal like any other write.
    pub updates_signal: bool,
    /// Updates are not executed greedily.
    pub updates_are_not_greedy: bool,
}

impl Default for Corrections {
    fn default() -> Self {
        Corrections {
            updates_hide_updates: true,
            locks_hide_locks: true,
            updates_signal: true,
            updates_are_not_greedy: true,
        }
    }
}

impl ReadsValueFrom {
    /// Sets a switch as it is written on the command line, `closure=off`.
    ///
    /// # Errors
    /// In words, if there is no such switch or it cannot be set so.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form key=value"))?;
        let on = |value: &str| match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(format!("`{key}` is on or off, not `{value}`")),
        };
        match key {
            "closure" => self.closure = on(value)?,
            "greedy" => self.greedy = on(value)?,
            "guidance" => self.guidance = on(value)?,
            "signals" => self.signals = on(value)?,
            "classes" => {
                self.by_source = match value {
                    "values" => false,
                    "sources" => true,
                    _ => return Err(format!("`classes` is values or sources, not `{value}`")),
                }
            }
            _ => {
                return Err(format!(
                    "rvf has no switch `{key}`; there are closure, greedy, guidance, signals, classes"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_set_by_name() {
        let mut options = ReadsValueFrom::default();
        for text in ["closure=off", "greedy=off", "guidance=off", "signals=off", "classes=sources"] {
            options.set(text).expect("a switch");
        }
        let off = ReadsValueFrom {
            closure: false,
            greedy: false,
            guidance: false,
            signals: false,
            by_source: true,
            corrections: Corrections::default(),
        };
        assert_eq!(options, off);
        for text in ["closure", "closure=maybe", "speed=on", "classes=on", ""] {
            assert!(options.set(text).is_err(), "{text}");
        }
    }
}
