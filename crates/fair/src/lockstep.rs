//! A smallest thing first: a top or bottom strongly connected component by searches that take turns.
//!
//! Source: Toman (2021, chapter 6), after Chatterjee, Henzinger, Loitzenbauer, Oraee and Toman (2018). A set that was strongly connected lost some
//! vertices. *Heads* lost an edge that came in, *tails* one that went out. If it is not strongly connected any more, each of its top components (no edge comes in) has a head
//! and each bottom one (none goes out) a tail: that is the invariant (`holds`). So backward searches from the heads and forward
//! searches from the tails go one step each in turn, and the first that comes to its end has found such a component. A search
//! that meets another start gives way to it; that is asked before whether it is at its end, or a search from outside would return a set that is not connected.
//!
//! Cost: the number of starts, times the size of the smaller of the component and the rest. Deviations: none.

use crate::sets::{Backend, Space, Stop};

/// A component, and the starts that are left.
pub struct Found<S> {
    /// A top or bottom strongly connected component.
    pub component: S,
    /// Heads that met no other.
    pub heads: S,
    /// Tails that met no other.
    pub tails: S,
}

/// Finds a top or bottom component of a set for which the invariant holds, with at least one head or tail.
///
/// # Errors
/// If a limit is reached.
///
/// # Panics
/// If the invariant does not hold.
pub fn search<B: Backend>(
    space: &Space<B>,
    within: &B::Set,
    heads: &B::Set,
    tails: &B::Set,
) -> Result<Found<B::Set>, Stop> {
    let mut backward = Side::new(space, heads)?;
    let mut forward = Side::new(space, tails)?;
    loop {
        assert!(!backward.searches.is_empty() || !forward.searches.is_empty(), "some search meets no other start");
        if let Some(component) = backward.turn(space, within, Space::pre)? {
            return Ok(Found { component, heads: backward.live, tails: forward.live });
        }
        if let Some(component) = forward.turn(space, within, Space::post)? {
            return Ok(Found { component, heads: backward.live, tails: forward.live });
        }
    }
}

/// The searches of one direction.
struct Side<S> {
    /// Where one began, and how far it has come.
    searches: Vec<(S, S)>,
    /// The starts of those that go on.
    live: S,
}

impl<S: Clone> Side<S> {
    fn new<B: Backend<Set = S>>(space: &Space<B>, starts: &S) -> Result<Self, Stop> {
        let searches = space.singles(starts)?.into_iter().map(|start| (start.clone(), start)).collect();
        Ok(Side { searches, live: starts.clone() })
    }

    /// One step of each; what the first that is at its end has found.
    fn turn<B: Backend<Set = S>>(
        &mut self,
        space: &Space<B>,
        within: &S,
        step: fn(&Space<B>, &S) -> Result<S, Stop>,
    ) -> Result<Option<S>, Stop> {
        let mut going = Vec::with_capacity(self.searches.len());
        for (start, seen) in std::mem::take(&mut self.searches) {
            let more = space.and(&space.or(&seen, &step(space, &seen)?)?, within)?;
            if space.size(&space.and(&more, &self.live)?) > 1 {
                self.live = space.minus(&self.live, &start)?;
            } else if space.same(&more, &seen) {
                return Ok(Some(more));
            } else {
                going.push((start, more));
            }
        }
        self.searches = going;
        Ok(None)
    }
}

/// The invariant, asked in debug builds for small sets, without counting: without heads and tails the set is strongly connected, else each of its top
/// components has a head (if heads are kept) and each of its bottom components a tail.
pub(crate) fn holds<B: Backend>(space: &Space<B>, within: &B::Set, heads: Option<&B::Set>, tails: &B::Set) -> bool {
    const SMALL: usize = 16;
    let members = space.members(within);
    if !cfg!(debug_assertions) || members.len() > SMALL {
        return true;
    }
    let before = space.steps();
    let asked = || -> Result<bool, Stop> {
        let none = space.is_empty(tails) && heads.is_none_or(|heads| space.is_empty(heads));
        for single in space.singles(within)? {
            let ancestors = space.reach(within, &single)?;
            let mut descendants = single;
            loop {
                let more = space.or(&descendants, &space.and(&space.post(&descendants)?, within)?)?;
                if space.same(&more, &descendants) {
                    break;
                }
                descendants = more;
            }
            let top = space.is_empty(&space.minus(&ancestors, &descendants)?);
            let bottom = space.is_empty(&space.minus(&descendants, &ancestors)?);
            let component = space.and(&ancestors, &descendants)?;
            let met = |starts: &B::Set| Ok::<_, Stop>(!space.is_empty(&space.and(&component, starts)?));
            if none && !(top && bottom) {
                return Ok(false);
            }
            if !none && ((top && !heads.map_or(Ok(true), met)?) || (bottom && !met(tails)?)) {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let holds = asked().unwrap_or(true);
    space.rewind(before);
    holds
}
