//! The question as a whole: good components, then who can reach one.
//!
//! What "can" means for the last step is a [`Goal`]. On graphs the two goals are the same, a path that ends in a good component. In an MDP *almost surely* asks for a strategy that satisfies the
//! objective with probability one, and *possibly* for one that does so with some probability above zero. A specification holds with probability one under every
//! strategy exactly if nobody can possibly satisfy its negation.
//!
//! Almost-sure reachability is not given by Toman (2021), only used. Here: who cannot reach the target at all is lost, and so is whoever may be driven there; this
//! is repeated on what is left until everybody can reach the target. Each round is linear, a handful is usual, as many as there are vertices are possible,
//! so its steps are counted apart. The target counts as absorbing: good end-components need not be left, and for other targets it is what reaching means.

use crate::argument::Argument;
use crate::graph::Vertex;
use crate::sets::{Backend, Space, Steps, Stop};
use crate::streett::graphs::good_components;
use crate::streett::mdps::good_end_components;
use crate::streett::{Algorithm, Good, Threshold};

/// What it takes to win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The objective is satisfied with probability one.
    AlmostSurely,
    /// It is satisfied with some probability above zero.
    Possibly,
}

/// How to go about it.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// For the objective.
    pub streett: Algorithm,
    /// For end-components.
    pub ends: Algorithm,
}

impl Default for Method {
    fn default() -> Self {
        Method { streett: Algorithm::Improved(Threshold::Log), ends: Algorithm::Improved(Threshold::SqrtEdges) }
    }
}

/// Symbolic steps by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// The first decomposition into components or end-components.
    pub first: Steps,
    /// The search for good ones in them.
    pub search: Steps,
    /// Who can reach one.
    pub reach: Steps,
}

/// Some vertices who lose, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// From here nothing leads to a good component but through earlier layers.
    pub core: Vec<Vertex>,
    /// From here one may be driven to the core or to earlier layers, whatever one chooses.
    pub pulled: Vec<Vertex>,
}

/// Everything that was found.
#[derive(Clone, Debug)]
pub struct Solution<S> {
    /// The largest good components or end-components.
    pub good: Vec<S>,
    /// Who can satisfy the objective.
    pub winning: S,
    /// Everybody else, if the argument is kept.
    pub layers: Vec<Layer>,
    /// Why there are no other good components.
    pub argument: Argument,
    /// What it took.
    pub phases: Phases,
}

/// Finds who can satisfy the objective.
///
/// # Errors
/// If a limit is reached.
pub fn solve<B: Backend>(
    space: &Space<B>,
    method: Method,
    goal: Goal,
    mut argument: Argument,
) -> Result<Solution<B::Set>, Stop> {
    let mdp = !space.is_empty(space.random());
    let Good { components, first, search } = if mdp {
        good_end_components(space, method.streett, method.ends, &mut argument)?
    } else {
        good_components(space, method.streett, &mut argument)?
    };
    let begin = space.steps();
    let target = components.iter().try_fold(space.none(), |all, good| space.or(&all, good))?;
    let mut layers = Vec::new();
    let winning = if mdp && goal == Goal::AlmostSurely {
        almost_sure_reach(space, &target, |core, removed| {
            if argument.is_kept() {
                let pulled = space.minus(removed, core)?;
                layers.push(Layer { core: space.members(core), pulled: space.members(&pulled) });
            }
            Ok(())
        })?
    } else {
        let all = space.all();
        let winning = space.reach(&all, &target)?;
        let lost = space.minus(&all, &winning)?;
        if argument.is_kept() && !space.is_empty(&lost) {
            layers.push(Layer { core: space.members(&lost), pulled: Vec::new() });
        }
        winning
    };
    let phases = Phases { first, search, reach: space.steps() - begin };
    Ok(Solution { good: components, winning, layers, argument, phases })
}

/// Who can reach the target with probability one. `lost` is told of every round: who cannot reach it at all, and who is lost with them.
///
/// # Errors
/// If a limit is reached, or `lost` says so.
pub fn almost_sure_reach<B: Backend>(
    space: &Space<B>,
    target: &B::Set,
    mut lost: impl FnMut(&B::Set, &B::Set) -> Result<(), Stop>,
) -> Result<B::Set, Stop> {
    let mut left = space.all();
    loop {
        let core = space.minus(&left, &space.reach(&left, target)?)?;
        if space.is_empty(&core) {
            return Ok(left);
        }
        let removed = space.attractor_around(&left, &core, target)?;
        lost(&core, &removed)?;
        left = space.minus(&left, &removed)?;
    }
}
