//! Switches of the engine `dc`.

use raddle_engine::{Switch, Switches};

/// How the engine `dc` works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
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
    /// A lock that its thread waits at is a read that can be changed.
    pub pending_locks: bool,
    /// A burst forbids what it has annotated, not the changed read alone.
    pub forbid_bursts: bool,
    /// What a branch has tried is forbidden in this branch and its siblings only.
    pub tried_is_local: bool,
}

impl Default for Corrections {
    fn default() -> Self {
        Corrections { pending_locks: true, forbid_bursts: true, tried_is_local: true }
    }
}

const BURST: Switch =
    Switch::on_off("burst", false, "annotate the causal past of a read with it: fewer steps, some executions twice");
const REFINE: Switch =
    Switch::on_off("refine", false, "tell orders of writes apart where threads communicate in cycles");
const BACKWARDS: Switch = Switch::on_off("backwards", false, "take the threads in the opposite order");

/// The switches of the engine.
pub(super) const SWITCHES: &[Switch] = &[BURST, REFINE, BACKWARDS];

impl From<&Switches> for Settings {
    fn from(switches: &Switches) -> Self {
        Settings {
            burst: switches.is_on(&BURST),
            refine: switches.is_on(&REFINE),
            backwards: switches.is_on(&BACKWARDS),
            corrections: Corrections::default(),
        }
    }
}
