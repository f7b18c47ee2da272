//! Sets of vertices, and what one may do with them: the only data of the symbolic algorithms.
//!
//! The edges are touched through `pre` and `post` alone; each call of one of them is a *symbolic step*, the measure in which the
//! bounds of Toman (2021, chapter 6) are given. Union, intersection, difference and tests for emptiness and equality are counted apart, and so are
//! cardinalities and picks. A [`Backend`] says how sets are kept: as [`Bits`] or as [`Bdds`]. Both pick the least vertex of a set, so an
//! algorithm takes the same steps on either (unless BDDs are over [`Codes`] that are not the numbers of vertices: then the least code is picked). A [`Space`] is a back end with counters, the objective and a limit.
//!
//! Deviation: random attractors are relative to a candidate set (`attractor`), as candidates are no closed sets at that moment; the printed
//! algorithms go through the whole graph, which is right but breaks the bound on the steps.

mod bdds;
mod bits;
mod codes;

pub use bdds::{Bdds, Order};
pub use bits::Bits;
pub use codes::Codes;

use crate::graph::{Graph, Pair, Vertex};
use std::cell::Cell;
use std::ops::{Add, Sub};
use std::time::Instant;
use thiserror::Error;

/// Why a computation ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Stop {
    /// Time is up.
    #[error("the time limit was reached")]
    Time,
    /// Sets grew too large.
    #[error("the memory limit was reached")]
    Memory,
}

/// A way to keep sets of vertices.
pub trait Backend: Sized {
    /// A set of vertices.
    type Set: Clone;

    /// The set of these vertices.
    fn set(&self, vertices: &[Vertex]) -> Result<Self::Set, Stop>;
    /// What is in a set, ascending.
    fn members(&self, set: &Self::Set) -> Vec<Vertex>;
    /// The least vertex of a set, if there is one; what is least is up to the back end, and always the same.
    fn least(&self, set: &Self::Set) -> Option<Vertex>;
    /// How many there are.
    fn size(&self, set: &Self::Set) -> u64;
    /// Whether there are none.
    fn is_empty(&self, set: &Self::Set) -> bool;
    /// Whether two sets are the same.
    fn same(&self, one: &Self::Set, other: &Self::Set) -> bool;
    /// What is in one or the other.
    fn or(&self, one: &Self::Set, other: &Self::Set) -> Result<Self::Set, Stop>;
    /// What is in both.
    fn and(&self, one: &Self::Set, other: &Self::Set) -> Result<Self::Set, Stop>;
    /// What is in the one, not in the other.
    fn minus(&self, one: &Self::Set, other: &Self::Set) -> Result<Self::Set, Stop>;
    /// Vertices with a successor in the set.
    fn pre(&self, set: &Self::Set) -> Result<Self::Set, Stop>;
    /// Vertices with a predecessor in the set.
    fn post(&self, set: &Self::Set) -> Result<Self::Set, Stop>;
}

/// How often something was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Preimages.
    pub pre: u64,
    /// Images.
    pub post: u64,
    /// Unions, intersections, differences, tests for emptiness and equality.
    pub operations: u64,
    /// Cardinalities.
    pub sizes: u64,
    /// Picks of a vertex.
    pub picks: u64,
}

impl Steps {
    /// Symbolic steps: preimages and images.
    pub fn symbolic(self) -> u64 {
        self.pre + self.post
    }
}

impl Add for Steps {
    type Output = Steps;
    fn add(self, other: Steps) -> Steps {
        Steps {
            pre: self.pre + other.pre,
            post: self.post + other.post,
            operations: self.operations + other.operations,
            sizes: self.sizes + other.sizes,
            picks: self.picks + other.picks,
        }
    }
}

impl Sub for Steps {
    type Output = Steps;
    fn sub(self, other: Steps) -> Steps {
        Steps {
            pre: self.pre - other.pre,
            post: self.post - other.post,
            operations: self.operations - other.operations,
            sizes: self.sizes - other.sizes,
            picks: self.picks - other.picks,
        }
    }
}

/// A graph or an MDP and its objective as sets, with counters and a limit.
pub struct Space<B: Backend> {
    backend: B,
    all: B::Set,
    random: B::Set,
    pairs: Vec<(B::Set, B::Set)>,
    vertices: u64,
    edges: u64,
    steps: Cell<Steps>,
    deadline: Option<Instant>,
}

impl<B: Backend> Space<B> {
    /// The graph and the objective, in this back end, which was made of the same graph.
    ///
    /// # Errors
    /// If the sets do not fit.
    pub fn new(backend: B, graph: &Graph, pairs: &[Pair]) -> Result<Self, Stop> {
        let everything: Vec<Vertex> = (0..graph.vertices() as Vertex).collect();
        let random: Vec<Vertex> = graph.random().collect();
        let sets = pairs.iter().map(|pair| Ok((backend.set(&pair.requests)?, backend.set(&pair.grants)?)));
        Ok(Space {
            all: backend.set(&everything)?,
            random: backend.set(&random)?,
            pairs: sets.collect::<Result<_, Stop>>()?,
            vertices: graph.vertices() as u64,
            edges: graph.edge_count() as u64,
            steps: Cell::default(),
            deadline: None,
            backend,
        })
    }

    /// The same, which stops at this time.
    pub fn until(self, deadline: Option<Instant>) -> Self {
        Space { deadline, ..self }
    }

    /// What was done up to now.
    pub fn steps(&self) -> Steps {
        self.steps.get()
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> u64 {
        self.vertices
    }

    /// How many edges there are.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Every vertex.
    pub fn all(&self) -> B::Set {
        self.all.clone()
    }

    /// The random vertices.
    pub fn random(&self) -> &B::Set {
        &self.random
    }

    /// What is in a set, ascending. For evidence and tests: no algorithm looks at a set this way.
    pub fn members(&self, set: &B::Set) -> Vec<Vertex> {
        self.backend.members(set)
    }

    /// No vertex.
    pub fn none(&self) -> B::Set {
        self.backend.set(&[]).expect("nothing takes no memory")
    }

    fn count(&self, change: impl FnOnce(&mut Steps)) {
        let mut steps = self.steps.get();
        change(&mut steps);
        self.steps.set(steps);
    }

    /// Forgets what was done since then: it was a check, no part of an algorithm.
    pub(crate) fn rewind(&self, to: Steps) {
        self.steps.set(to);
    }

    fn in_time(&self) -> Result<(), Stop> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stop::Time),
            _ => Ok(()),
        }
    }

    pub(crate) fn pre(&self, set: &B::Set) -> Result<B::Set, Stop> {
        self.in_time()?;
        self.count(|steps| steps.pre += 1);
        self.backend.pre(set)
    }

    pub(crate) fn post(&self, set: &B::Set) -> Result<B::Set, Stop> {
        self.in_time()?;
        self.count(|steps| steps.post += 1);
        self.backend.post(set)
    }

    pub(crate) fn or(&self, one: &B::Set, other: &B::Set) -> Result<B::Set, Stop> {
        self.count(|steps| steps.operations += 1);
        self.backend.or(one, other)
    }

    pub(crate) fn and(&self, one: &B::Set, other: &B::Set) -> Result<B::Set, Stop> {
        self.count(|steps| steps.operations += 1);
        self.backend.and(one, other)
    }

    pub(crate) fn minus(&self, one: &B::Set, other: &B::Set) -> Result<B::Set, Stop> {
        self.count(|steps| steps.operations += 1);
        self.backend.minus(one, other)
    }

    pub(crate) fn is_empty(&self, set: &B::Set) -> bool {
        self.count(|steps| steps.operations += 1);
        self.backend.is_empty(set)
    }

    pub(crate) fn same(&self, one: &B::Set, other: &B::Set) -> bool {
        self.count(|steps| steps.operations += 1);
        self.backend.same(one, other)
    }

    pub(crate) fn size(&self, set: &B::Set) -> u64 {
        self.count(|steps| steps.sizes += 1);
        self.backend.size(set)
    }

    /// One vertex of a set that has one, as a set.
    pub(crate) fn pick(&self, set: &B::Set) -> Result<B::Set, Stop> {
        self.count(|steps| steps.picks += 1);
        let least = self.backend.least(set).expect("nobody picks from nothing");
        self.backend.set(&[least])
    }

    /// Every vertex of a small set, each as a set.
    pub(crate) fn singles(&self, set: &B::Set) -> Result<Vec<B::Set>, Stop> {
        let members = self.backend.members(set);
        self.count(|steps| steps.picks += members.len() as u64);
        members.into_iter().map(|vertex| self.backend.set(&[vertex])).collect()
    }

    /// Whether there is an edge inside.
    pub(crate) fn has_edge(&self, set: &B::Set) -> Result<bool, Stop> {
        Ok(!self.is_empty(&self.and(&self.post(set)?, set)?))
    }

    /// Vertices that request what nobody in the set grants.
    pub(crate) fn bad(&self, set: &B::Set) -> Result<B::Set, Stop> {
        let mut bad = self.none();
        for (requests, grants) in &self.pairs {
            if self.is_empty(&self.and(grants, set)?) {
                bad = self.or(&bad, &self.and(requests, set)?)?;
            }
        }
        Ok(bad)
    }

    /// Vertices of `inside` that can reach `target` without leaving it.
    pub(crate) fn reach(&self, inside: &B::Set, target: &B::Set) -> Result<B::Set, Stop> {
        let mut reached = self.and(target, inside)?;
        loop {
            let more = self.or(&reached, &self.and(&self.pre(&reached)?, inside)?)?;
            if self.same(&more, &reached) {
                return Ok(reached);
            }
            reached = more;
        }
    }

    /// Vertices of `inside` from which one may be driven to `from`, whatever one chooses as long as one does not leave `inside`.
    pub(crate) fn attractor(&self, inside: &B::Set, from: &B::Set) -> Result<B::Set, Stop> {
        self.attractor_around(inside, from, &self.none())
    }

    /// The same, when nobody leaves `end`.
    pub(crate) fn attractor_around(&self, inside: &B::Set, from: &B::Set, end: &B::Set) -> Result<B::Set, Stop> {
        let mut attracted = self.and(from, inside)?;
        if self.is_empty(&attracted) {
            return Ok(attracted);
        }
        let free = self.minus(inside, end)?;
        loop {
            let can = self.and(&self.pre(&attracted)?, &free)?;
            let elsewhere = self.minus(&self.pre(&self.minus(inside, &attracted)?)?, &self.random)?;
            let more = self.or(&attracted, &self.minus(&can, &elsewhere)?)?;
            if self.same(&more, &attracted) {
                return Ok(attracted);
            }
            attracted = more;
        }
    }

    /// Random vertices of the set with an edge to these others.
    pub(crate) fn random_into(&self, set: &B::Set, others: &B::Set) -> Result<B::Set, Stop> {
        self.and(&self.and(set, &self.random)?, &self.pre(others)?)
    }
}
