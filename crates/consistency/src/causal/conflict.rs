//! Why no order of writes explains what was read.

use super::coherence::Edge;

/// One event is before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Program order, the start or end of a thread, or reads-from.
    Step,
    /// The first happens before the second.
    Before,
    /// The first read the source, or the initial value, which the second overwrites.
    Overwritten { source: Option<u32> },
    /// Writes of one location: the access reads or writes the second, and what happens before it has written or read the first.
    Shown { access: u32, since: u32 },
    /// Updates lead from the first to the second, each reading what the one before wrote.
    Chain,
    /// The first comes right after the second or what follows that, with nothing in between, so it comes before whatever the second comes before.
    Together,
    /// The first is an update of the initial value, so it comes before every other write.
    First,
    /// Both are updates of the same write, and each would have to come right after it.
    Twice,
}

impl Link {
    /// The link of an edge between writes.
    pub(crate) fn of(edge: &Edge) -> Self {
        let why = Why::Shown { access: edge.access, since: edge.since };
        Link { from: edge.first, to: edge.second.unwrap_or(edge.access), why }
    }

    /// The cycle of an edge that tells of a write the access should not have missed.
    pub(crate) fn missed(edge: &Edge) -> Vec<Self> {
        let way = Link { from: edge.first, to: edge.access, why: Why::Before };
        let why = Why::Overwritten { source: edge.second };
        // What was read is known because of the read, whose past is that of the access.
        let mut links = vec![way, Link { from: edge.access, to: edge.first, why }];
        if edge.since != edge.first {
            links[0].from = edge.since;
            links.insert(0, Link { from: edge.first, to: edge.since, why: Why::Step });
        }
        links
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub(crate) enum Conflict {
    /// Events each of which is before the next, and the last before the first.
    Cycle(Vec<Link>),
    /// Every order breaks an axiom.
    Search,
}
