//! Why there is no other good component: the partition, as the algorithms made it.
//!
//! A *good component* (in an MDP: good end-component) is a strongly connected set with an edge inside, which no random edge leaves and in which every pair
//! that is requested is granted. Every algorithm here looks for the largest ones by cutting sets of vertices in two ways, and what it did is a tree over
//! the set of all vertices:
//!
//! * **split**: no cycle goes through two of the parts, so a good component lies inside one of them;
//! * **remove**: the removed vertices request what nobody in the set grants, or leave the set at random, or can be driven to such a vertex, so no good component has one of them.
//!
//! What is left are good components, and single vertices without an edge to themselves. Each claim is about edges alone, so [`crate::check`] can
//! go through the tree without knowing which algorithm made it.

use crate::graph::Vertex;
use crate::sets::{Backend, Space};

/// One of the sets of an [`Argument`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(u32);

/// What is claimed about one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing yet.
    Open,
    /// No cycle goes through two of these.
    Split {
        /// Sets, each with a claim of its own.
        parts: Vec<(Vec<Vertex>, NodeId)>,
        /// Single vertices without an edge to themselves.
        alone: Vec<Vertex>,
    },
    /// No good component has one of the removed vertices.
    Remove {
        /// These.
        removed: Vec<Vertex>,
        /// What is said about the others.
        rest: NodeId,
    },
    /// There is no edge inside.
    NoEdge,
    /// It is a good component.
    Good,
}

/// The tree of claims, or nothing if nobody wants one.
#[derive(Clone, Debug)]
pub struct Argument {
    claims: Option<Vec<Claim>>,
}

impl Argument {
    /// One that is kept; the root is the set of all vertices.
    pub fn kept() -> Self {
        Self::of(vec![Claim::Open])
    }

    /// One that is not, for those who only measure.
    pub fn none() -> Self {
        Argument { claims: None }
    }

    /// The set of all vertices.
    pub const ROOT: NodeId = NodeId(0);

    /// What is claimed about a set. Nothing is if the argument is not kept.
    pub fn claim(&self, node: NodeId) -> &Claim {
        self.claims.as_ref().and_then(|claims| claims.get(node.0 as usize)).unwrap_or(&Claim::Open)
    }

    /// Whether it is kept.
    pub fn is_kept(&self) -> bool {
        self.claims.is_some()
    }

    /// One with these claims, of which the first is about the set of all vertices.
    pub fn of(claims: Vec<Claim>) -> Self {
        Argument { claims: Some(claims) }
    }

    /// All claims; the first is about the set of all vertices.
    pub fn claims(&self) -> &[Claim] {
        self.claims.as_deref().unwrap_or_default()
    }

    fn new_node(claims: &mut Vec<Claim>) -> NodeId {
        claims.push(Claim::Open);
        NodeId(u32::try_from(claims.len() - 1).expect("there are fewer sets than edges and vertices"))
    }

    /// The set falls apart into these parts and single vertices without an edge.
    pub(crate) fn split<B: Backend>(
        &mut self,
        space: &Space<B>,
        node: NodeId,
        parts: &[&B::Set],
        alone: Vec<Vertex>,
    ) -> Vec<NodeId> {
        let Some(claims) = &mut self.claims else { return vec![node; parts.len()] };
        let ids: Vec<NodeId> = parts.iter().map(|_| Self::new_node(claims)).collect();
        let parts = parts.iter().zip(&ids).map(|(part, &id)| (space.members(part), id)).collect();
        claims[node.0 as usize] = Claim::Split { parts, alone };
        ids
    }

    /// These vertices are in no good component of the set.
    pub(crate) fn remove<B: Backend>(&mut self, space: &Space<B>, node: NodeId, removed: &B::Set) -> NodeId {
        let Some(claims) = &mut self.claims else { return node };
        let removed = space.members(removed);
        if removed.is_empty() {
            return node;
        }
        let rest = Self::new_node(claims);
        claims[node.0 as usize] = Claim::Remove { removed, rest };
        rest
    }

    pub(crate) fn no_edge(&mut self, node: NodeId) {
        self.set(node, Claim::NoEdge);
    }

    pub(crate) fn good(&mut self, node: NodeId) {
        self.set(node, Claim::Good);
    }

    fn set(&mut self, node: NodeId, claim: Claim) {
        if let Some(claims) = &mut self.claims {
            claims[node.0 as usize] = claim;
        }
    }
}
