//! Who can satisfy a Streett objective: on graphs by some path, in MDPs by some strategy with probability one.
//!
//! Source: Toman (2021, chapter 6), after Chatterjee, Henzinger, Loitzenbauer, Oraee and Toman (2018). All four algorithms find the largest good
//! components ([`graphs`]) or good end-components ([`mdps`]) and then ask who can reach one of them; they differ in the number of symbolic steps:
//!
//! | | basic | improved |
//! |---|---|---|
//! | graphs | n min(n, k) | n sqrt(m log n) |
//! | MDPs | n² min(n, k) | n sqrt(m log n) |
//!
//! for n vertices, m edges and k pairs, up to a constant.
//!
//! Deviation: before a set is decomposed it is *trimmed*. What nothing in the set leads to, or what leads to nothing in it, is a component of its own, and a whole layer of such vertices is found by
//! one image; the search for components would find them one by one. A layer has a vertex, so the number of steps stays linear; long thin ways are left to that search, for which they are as cheap. When what is left of a set after a removal is mostly
//! ways to and from a few cycles, as in state spaces, that is what most steps would go into.

pub mod graphs;
pub mod mdps;

use crate::argument::{Argument, NodeId};
use crate::scc::each_component;
use crate::sets::{Backend, Space, Steps, Stop};
use std::fmt;
use std::str::FromStr;

/// From how many lost edges on a set is decomposed as a whole instead of by lock-step searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// The root of m / log n, which the bound for Streett objectives is proved with.
    SqrtEdgesByLog,
    /// The root of m, which the bound for end-components is proved with.
    SqrtEdges,
    /// The logarithm of n, which is better when pairs are few.
    Log,
    /// This number; 0 never searches in lock-step.
    Fixed(u64),
    /// Always search in lock-step.
    Never,
}

impl Threshold {
    /// The number for a graph of this size.
    pub fn number(self, vertices: u64, edges: u64) -> u64 {
        let log = (vertices.max(2) as f64).log2();
        match self {
            Threshold::SqrtEdgesByLog => (edges as f64 / log).sqrt().ceil() as u64,
            Threshold::SqrtEdges => (edges as f64).sqrt().ceil() as u64,
            Threshold::Log => log.ceil() as u64,
            Threshold::Fixed(number) => number,
            Threshold::Never => u64::MAX,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::SqrtEdgesByLog => f.write_str("sqrt-m-log"),
            Threshold::SqrtEdges => f.write_str("sqrt-m"),
            Threshold::Log => f.write_str("log"),
            Threshold::Fixed(number) => write!(f, "{number}"),
            Threshold::Never => f.write_str("never"),
        }
    }
}

impl FromStr for Threshold {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "sqrt-m-log" => Threshold::SqrtEdgesByLog,
            "sqrt-m" => Threshold::SqrtEdges,
            "log" => Threshold::Log,
            "never" => Threshold::Never,
            number => Threshold::Fixed(
                number.parse().map_err(|_| "a threshold is log, sqrt-m, sqrt-m-log, never or a number".to_owned())?,
            ),
        })
    }
}

/// Which of the two algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Decompose everything again after each removal.
    Basic,
    /// Search in lock-step from where edges were lost, below this threshold.
    Improved(Threshold),
}

/// Good components, and what they took.
pub struct Good<S> {
    /// The largest good components; no vertex is in two of them.
    pub components: Vec<S>,
    /// Steps for the first decomposition, which all algorithms share.
    pub first: Steps,
    /// Steps after it.
    pub search: Steps,
}

/// A set that may contain good components.
pub(crate) struct Candidate<S> {
    pub(crate) set: S,
    /// Who lost an edge that came in, since a larger set was strongly connected.
    pub(crate) heads: S,
    /// Who lost an edge that went out.
    pub(crate) tails: S,
    pub(crate) node: NodeId,
}

impl<S> Candidate<S> {
    /// One that is strongly connected.
    pub(crate) fn whole<B: Backend<Set = S>>(space: &Space<B>, (set, node): (S, NodeId)) -> Self {
        Candidate { set, heads: space.none(), tails: space.none(), node }
    }

    /// Without these vertices, which no good component has.
    pub(crate) fn without<B: Backend<Set = S>>(
        self,
        space: &Space<B>,
        gone: &S,
        argument: &mut Argument,
    ) -> Result<Self, Stop> {
        let set = space.minus(&self.set, gone)?;
        Ok(Candidate {
            heads: space.and(&space.or(&self.heads, &space.post(gone)?)?, &set)?,
            tails: space.and(&space.or(&self.tails, &space.pre(gone)?)?, &set)?,
            node: argument.remove(space, self.node, gone),
            set,
        })
    }

    /// How many vertices lost an edge, once for each side.
    pub(crate) fn starts<B: Backend<Set = S>>(&self, space: &Space<B>) -> u64 {
        space.size(&self.heads) + space.size(&self.tails)
    }
}

/// So many layers are looked for whatever is in them ...
const LAYERS: u64 = 64;
/// ... and further ones as long as they have so many vertices in the mean: an image of everything that is left is not worth less.
const IN_A_LAYER: u64 = 16;

/// A set without what nothing in it leads to and without what leads to nothing in it, layer by layer.
fn trimmed<B: Backend>(space: &Space<B>, set: &B::Set) -> Result<B::Set, Stop> {
    let mut left = set.clone();
    let mut layers = 0;
    for step in [Space::post, Space::pre] {
        while layers < LAYERS || space.size(set) - space.size(&left) >= IN_A_LAYER * layers {
            let kept = space.and(&step(space, &left)?, &left)?;
            if space.same(&kept, &left) {
                break;
            }
            layers += 1;
            left = kept;
        }
    }
    Ok(left)
}

/// Sets, and what they are in the argument.
pub(crate) type Parts<S> = Vec<(S, NodeId)>;

/// The strongly connected components of a set that have an edge inside, as parts of the argument; none if the set is one itself.
pub(crate) fn parts<B: Backend>(
    space: &Space<B>,
    set: &B::Set,
    node: NodeId,
    argument: &mut Argument,
) -> Result<Option<Parts<B::Set>>, Stop> {
    let core = trimmed(space, set)?;
    let (mut parts, mut alone, mut trivial) = (Vec::new(), Vec::new(), !space.same(&core, set));
    if trivial && argument.is_kept() {
        alone.extend(space.members(&space.minus(set, &core)?));
    }
    each_component(space, &core, |component| {
        if space.size(&component) == 1 && !space.has_edge(&component)? {
            trivial = true;
            if argument.is_kept() {
                alone.extend(space.members(&component));
            }
        } else {
            parts.push(component);
        }
        Ok(())
    })?;
    if parts.len() == 1 && !trivial {
        return Ok(None);
    }
    let ids = argument.split(space, node, &parts.iter().collect::<Vec<_>>(), alone);
    Ok(Some(parts.into_iter().zip(ids).collect()))
}

/// The same, for those who do not mind whether the set is one itself.
pub(crate) fn all_parts<B: Backend>(
    space: &Space<B>,
    set: &B::Set,
    node: NodeId,
    argument: &mut Argument,
) -> Result<Parts<B::Set>, Stop> {
    Ok(parts(space, set, node, argument)?.unwrap_or_else(|| vec![(set.clone(), node)]))
}
