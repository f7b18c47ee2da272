//! Switches of the engine `dc`.

/// How the engine `dc` works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataCentric {
    /// Annotate the causal past of a read with it (burst mutations, as corrected): fewer steps, and some executions twice.
    pub burst: bool,
    /// On communication graphs with cycles, tell the orders of writes apart that the published method fixes, instead of
    /// looking for any one of them: more executions, each found in polynomial time.
    pub refine: bool,
    /// Take the threads in the opposite order. What is explored is the same.
    pub backwards: bool,
    /// What we do beyond the published method because it is wrong without.
    pub corrections: Corrections,
}

/// Corrections of the published method. Without any of them executions are lost or impossible ones are taken for
/// possible; they can be taken out only to show that, and no command line reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrections {
    /// Clauses that hold two choices against each other which share no thread.
    pub composed: bool,
    /// A write that comes after the source of a read comes after the read (printed: the source does).
    pub rivals_follow_reads: bool,
    /// A lock that its thread waits at is a read that can be changed.
    pub pending_locks: bool,
    /// A burst forbids what it has annotated, not the changed read alone.
    pub forbid_bursts: bool,
    /// What a branch has tried is forbidden in this branch and its siblings only.
    pub tried_is_local: bool,
}

impl Default for Corrections {
    fn default() -> Self {
        Corrections {
            composed: true,
            rivals_follow_reads: true,
            pending_locks: true,
            forbid_bursts: true,
            tried_is_local: true,
        }
    }
}

impl DataCentric {
    /// The names of its switches.
    pub const KEYS: [&str; 3] = ["burst", "refine", "backwards"];

    /// Sets a switch as it is written on the command line, `burst=on`.
    ///
    /// # Errors
    /// In words, if there is no such switch or it cannot be set so.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form key=value"))?;
        let switch = match key {
            "burst" => &mut self.burst,
            "refine" => &mut self.refine,
            "backwards" => &mut self.backwards,
            _ => return Err(format!("dc has no switch `{key}`; there are {}", Self::KEYS.join(", "))),
        };
        *switch = match value {
            "on" => true,
            "off" => false,
            _ => return Err(format!("`{key}` is on or off, not `{value}`")),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_set_by_name() {
        let mut options = DataCentric::default();
        for text in ["burst=on", "refine=on", "backwards=on", "refine=off"] {
            options.set(text).expect("a switch");
        }
        let expected = DataCentric { burst: true, backwards: true, ..DataCentric::default() };
        assert_eq!(options, expected);
        for text in ["burst", "burst=perhaps", "speed=on", ""] {
            assert!(options.set(text).is_err(), "{text}");
        }
    }
}
