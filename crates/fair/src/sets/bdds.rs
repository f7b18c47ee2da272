//! Sets as binary decision diagrams (OxiDD), edges as one relation.
//!
//! A vertex is a code in binary ([`Codes`]: its number, or what it is made of), the highest bit first, so the vertex of a set with the least code is the path that goes to 0 wherever it can.
//! A set is a function of the bits of a vertex; the edges are a function of the bits of a vertex and of its successor. By default the bits of the two stand side by side
//! ([`Order::Interleaved`]), which keeps relations between similar numbers small and makes renaming one to the other a walk. There is no
//! reordering while it runs: the library offers none that is automatic.
//!
//! Sets and edges are made bottom up from sorted codes. Where a single one is left below a node, what is below is a cube of its last bits, which others have in common
//! with it; each is made once.

use super::{Backend, Codes, Stop};
use crate::graph::{Graph, Vertex};
use oxidd::bcdd::{BCDDFunction, BCDDManagerRef, new_manager};
use oxidd::util::{AllocResult, FxHasher, OptBool, SatCountCache};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel, Manager, ManagerRef,
    Subst, VarNo,
};
use rustc_hash::FxHashMap;
use std::hash::BuildHasherDefault;

/// How the bits of a vertex and those of its successor are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Bit by bit side by side.
    #[default]
    Interleaved,
    /// All bits of the vertex, then all bits of the successor.
    Apart,
}

impl Order {
    /// The variables of bit `bit` of `bits`, counted from the highest: of the vertex, of the successor.
    fn variables(self, bit: u32, bits: u32) -> (VarNo, VarNo) {
        match self {
            Order::Interleaved => (2 * bit, 2 * bit + 1),
            Order::Apart => (bit, bits + bit),
        }
    }
}

/// Sets as binary decision diagrams.
pub struct Bdds {
    manager: BCDDManagerRef,
    codes: Codes,
    bits: u32,
    order: Order,
    edges: BCDDFunction,
    /// All bits of a vertex, of a successor.
    here: BCDDFunction,
    there: BCDDFunction,
    /// From the bits of a vertex to those of a successor, and back.
    forth: Subst<BCDDFunction>,
    back: Subst<BCDDFunction>,
    nothing: BCDDFunction,
    everything: BCDDFunction,
}

/// Bytes that a node takes with its share of the table that finds it.
const NODE_BYTES: usize = 24;
/// One entry of the cache of results for so many nodes.
const NODES_PER_RESULT: usize = 4;

impl Bdds {
    /// For subsets of the vertices of this graph, by their numbers, in about this much memory.
    ///
    /// # Errors
    /// If the edges alone need more.
    pub fn new(graph: &Graph, order: Order, bytes: u64) -> Result<Self, Stop> {
        Self::coded(graph, Codes::numbers(graph.vertices()), order, bytes)
    }

    /// The same, where these bits stand for a vertex.
    ///
    /// # Errors
    /// If the edges alone need more.
    pub fn coded(graph: &Graph, codes: Codes, order: Order, bytes: u64) -> Result<Self, Stop> {
        let bits = codes.bits();
        let nodes = usize::try_from(bytes).unwrap_or(usize::MAX) / (NODE_BYTES + 32 / NODES_PER_RESULT);
        let nodes = nodes.clamp(1 << 10, u32::MAX as usize / 2);
        let manager = new_manager(nodes, (nodes / NODES_PER_RESULT).next_power_of_two(), 1);
        manager.with_manager_exclusive(|manager| manager.add_vars(2 * bits));
        let made: AllocResult<Bdds> = manager.with_manager_shared(|shared| {
            let var = |number| BCDDFunction::var(shared, number);
            let (here, there): (Vec<VarNo>, Vec<VarNo>) = (0..bits).map(|bit| order.variables(bit, bits)).unzip();
            let functions = |vars: &[VarNo]| vars.iter().map(|&number| var(number)).collect::<AllocResult<Vec<_>>>();
            let cube = |vars: &[VarNo]| {
                vars.iter().rev().try_fold(BCDDFunction::t(shared), |cube, &number| var(number)?.and(&cube))
            };
            Ok(Bdds {
                manager: manager.clone(),
                codes,
                bits,
                order,
                edges: BCDDFunction::f(shared),
                here: cube(&here)?,
                there: cube(&there)?,
                forth: Subst::new(here.clone(), functions(&there)?),
                back: Subst::new(there.clone(), functions(&here)?),
                nothing: BCDDFunction::f(shared),
                everything: BCDDFunction::t(shared),
            })
        });
        let mut sets = made.map_err(|_| Stop::Memory)?;
        sets.edges = sets.relation(graph)?;
        Ok(sets)
    }

    /// How many nodes are in use, garbage included.
    pub fn nodes(&self) -> usize {
        self.manager.with_manager_shared(|manager| manager.num_inner_nodes())
    }

    /// How many nodes the edges take.
    pub fn relation_nodes(&self) -> usize {
        self.edges.node_count()
    }

    /// Does it, and once more after a collection of garbage if there was no room.
    fn room(&self, work: impl Fn() -> AllocResult<BCDDFunction>) -> Result<BCDDFunction, Stop> {
        if let Ok(done) = work() {
            return Ok(done);
        }
        self.manager.with_manager_shared(|manager| manager.gc());
        work().map_err(|_| Stop::Memory)
    }

    fn relation(&self, graph: &Graph) -> Result<BCDDFunction, Stop> {
        let (bits, order) = (self.bits, self.order);
        let key = |(from, to): (Vertex, Vertex)| {
            let (from, to) = (self.codes.code(from), self.codes.code(to));
            match order {
                Order::Interleaved => (spread(from) << 1) | spread(to),
                Order::Apart => (u128::from(from) << bits) | u128::from(to),
            }
        };
        let mut keys: Vec<u128> = graph.edges().map(key).collect();
        keys.sort_unstable();
        let variables: Vec<VarNo> = (0..2 * bits).collect();
        self.room(|| self.function(&keys, &variables))
    }

    /// The function that is true for these keys, ascending, whose highest bit is the first of the variables.
    fn function(&self, keys: &[u128], variables: &[VarNo]) -> AllocResult<BCDDFunction> {
        let variables = self.manager.with_manager_shared(|manager| {
            variables.iter().map(|&number| BCDDFunction::var(manager, number)).collect::<AllocResult<Vec<_>>>()
        })?;
        self.build(keys, &variables, &mut FxHashMap::default())
    }

    fn build(&self, keys: &[u128], variables: &[BCDDFunction], cubes: &mut Cubes) -> AllocResult<BCDDFunction> {
        let Some((variable, below)) = variables.split_first() else {
            return Ok(if keys.is_empty() { self.nothing.clone() } else { self.everything.clone() });
        };
        if keys.is_empty() {
            return Ok(self.nothing.clone());
        }
        if keys.len() as u128 == 1 << variables.len() {
            return Ok(self.everything.clone());
        }
        let single = (keys.len() == 1).then(|| (variables.len(), keys[0] & ((1 << variables.len()) - 1)));
        if let Some(cube) = single.and_then(|single| cubes.get(&single)) {
            return Ok(cube.clone());
        }
        let bit = 1 << below.len();
        let (low, high) = keys.split_at(keys.partition_point(|key| key & bit == 0));
        let (low, high) = (self.build(low, below, cubes)?, self.build(high, below, cubes)?);
        let made = if low == high { low } else { variable.ite(&high, &low)? };
        if let Some(single) = single {
            cubes.insert(single, made.clone());
        }
        Ok(made)
    }

    fn image(&self, set: &BCDDFunction, gone: &BCDDFunction) -> AllocResult<BCDDFunction> {
        self.edges.apply_exists(BooleanOperator::And, set, gone)
    }

    fn walk(&self, set: &BCDDFunction, bit: u32, code: u64, found: &mut Vec<Vertex>) {
        if !set.satisfiable() {
            return;
        }
        if bit == self.bits {
            found.push(self.codes.vertex(code));
            return;
        }
        let (here, _) = self.order.variables(bit, self.bits);
        let decides = set.with_manager_shared(|manager, edge| match manager.get_node(edge) {
            oxidd::Node::Inner(node) => node.level() == manager.var_to_level(here),
            oxidd::Node::Terminal(_) => false,
        });
        let (high, low) =
            if decides { set.cofactors().expect("an inner node has cofactors") } else { (set.clone(), set.clone()) };
        self.walk(&low, bit + 1, code << 1, found);
        self.walk(&high, bit + 1, (code << 1) | 1, found);
    }
}

/// Cubes that were made: over how many of the last variables, and their bits.
type Cubes = FxHashMap<(usize, u128), BCDDFunction>;

/// The bits of a code with a zero before each.
fn spread(code: u64) -> u128 {
    let mut wide = u128::from(code);
    for (shift, mask) in [
        (32, 0x0000_0000_ffff_ffff_0000_0000_ffff_ffff),
        (16, 0x0000_ffff_0000_ffff_0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff_00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333_3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555_5555_5555_5555_5555),
    ] {
        wide = (wide | (wide << shift)) & mask;
    }
    wide
}

impl Backend for Bdds {
    type Set = BCDDFunction;

    fn set(&self, vertices: &[Vertex]) -> Result<BCDDFunction, Stop> {
        let mut keys: Vec<u128> = vertices.iter().map(|&vertex| u128::from(self.codes.code(vertex))).collect();
        keys.sort_unstable();
        keys.dedup();
        let variables: Vec<VarNo> = (0..self.bits).map(|bit| self.order.variables(bit, self.bits).0).collect();
        self.room(|| self.function(&keys, &variables))
    }

    fn members(&self, set: &BCDDFunction) -> Vec<Vertex> {
        let mut found = Vec::new();
        self.walk(set, 0, 0, &mut found);
        found.sort_unstable();
        found
    }

    fn least(&self, set: &BCDDFunction) -> Option<Vertex> {
        let cube = set.pick_cube(|_, _, _| false)?;
        let bit = |bit| u64::from(cube[self.order.variables(bit, self.bits).0 as usize] == OptBool::True);
        Some(self.codes.vertex((0..self.bits).fold(0, |code, at| (code << 1) | bit(at))))
    }

    fn size(&self, set: &BCDDFunction) -> u64 {
        // The bits of the successor are free, and there are as many of them.
        let mut cache = SatCountCache::<u128, BuildHasherDefault<FxHasher>>::default();
        (set.sat_count(2 * self.bits, &mut cache) >> self.bits) as u64
    }

    fn is_empty(&self, set: &BCDDFunction) -> bool {
        !set.satisfiable()
    }

    fn same(&self, one: &BCDDFunction, other: &BCDDFunction) -> bool {
        one == other
    }

    fn or(&self, one: &BCDDFunction, other: &BCDDFunction) -> Result<BCDDFunction, Stop> {
        self.room(|| one.or(other))
    }

    fn and(&self, one: &BCDDFunction, other: &BCDDFunction) -> Result<BCDDFunction, Stop> {
        self.room(|| one.and(other))
    }

    fn minus(&self, one: &BCDDFunction, other: &BCDDFunction) -> Result<BCDDFunction, Stop> {
        self.room(|| other.imp_strict(one))
    }

    fn pre(&self, set: &BCDDFunction) -> Result<BCDDFunction, Stop> {
        self.room(|| self.image(&set.substitute(&self.forth)?, &self.there))
    }

    fn post(&self, set: &BCDDFunction) -> Result<BCDDFunction, Stop> {
        self.room(|| self.image(set, &self.here)?.substitute(&self.back))
    }
}
