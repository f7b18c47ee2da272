//! Executions that satisfy a formula.
//!
//! The solver proposes a model for which no contradiction of orders is derived (weak sequential consistency). Whether it is an execution is seen by putting its nodes into one order in
//! which every read finds the write it reads from. Mostly that succeeds at once; if not, some writes of a location must be ordered, and
//! for each pair of them that happens and is in no order the solver is told that there is one (write serialisation, stage two of Telbisz 2024). That is
//! repeated until there is an execution or no model: a model may always leave other pairs open than the one before.

use super::encode::Formula;
use super::graph::{Action, Event, Graph, INITIAL, Location, Node};
use super::races::Race;
use raddle_solve::{Answer, Checked, Clocks, EventId, Lit, NodeId, Orders, Watcher, Wrong};
use rustc_hash::{FxHashMap, FxHashSet};

/// An execution: which nodes happen, in this order, and what each thread does.
#[derive(Clone, Debug)]
pub(super) struct Execution {
    pub(super) nodes: Vec<Node>,
    /// By thread: the entries of its plan that happen, with what is picked.
    pub(super) plans: Vec<Vec<(usize, u64)>>,
    /// Which stores arrive in which nodes: whose, and where.
    pub(super) arrivals: FxHashMap<Node, (usize, u64)>,
    /// Which failures happen.
    pub(super) failures: Vec<usize>,
    /// Who waits for ever, if they do.
    pub(super) stuck: Vec<usize>,
    /// Which pairs of accesses race.
    races: Vec<usize>,
    /// Which cuts are reached.
    pub(super) cuts: Vec<usize>,
    /// By pair of nodes: that the first is before the second in every order.
    before: FxHashSet<(Node, Node)>,
}

impl Execution {
    /// Whether a node is before another one in every order of this execution.
    pub(super) fn is_before(&self, one: Node, other: Node) -> bool {
        self.before.contains(&(one, other))
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    Stopped,
    /// Writes are in order and nodes are not: a mistake of this engine.
    Disordered,
    /// The solver's proof is wrong.
    NotProved(Wrong),
}

/// How contradictions of orders are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// During the solver's search.
    Prop,
    /// In complete assignments.
    Basic,
    /// They are clauses.
    Clock,
}

/// Who sees to it that there is an order.
#[derive(Debug)]
enum Order {
    Theory(Watcher),
    /// The times of nodes, and what follows from a model.
    Times(Clocks, Box<Orders>),
}

impl Order {
    /// What follows from the last model.
    fn with_orders<T>(&self, look: impl FnOnce(&Orders) -> T) -> T {
        match self {
            Order::Theory(watcher) => watcher.with_orders(look),
            Order::Times(_, orders) => look(orders),
        }
    }

    /// How many clauses came of orders, and how many models were judged.
    fn counts(&self) -> (u64, u64) {
        match self {
            Order::Theory(watcher) => watcher.counts(),
            Order::Times(..) => (0, 0),
        }
    }
}

/// A formula that is asked for executions.
#[derive(Debug)]
pub(super) struct Search<'g> {
    pub(super) graph: &'g Graph,
    formula: Formula,
    watcher: Order,
    /// Pairs of writes that have literals for their order.
    ordered: FxHashSet<(usize, usize)>,
    /// That some pair of accesses races, or threads stop as they do for that.
    racing: Lit,
    /// That the program may end inside of atomic blocks.
    quits: Lit,
    /// What was checked of proofs.
    checked: Checked,
    pub(super) asked: u64,
}

impl<'g> Search<'g> {
    pub(super) fn new(graph: &'g mut Graph, mut formula: Formula, way: Way) -> Self {
        let orders = std::mem::replace(&mut formula.orders, Orders::new(0, Vec::new()));
        let watcher = match way {
            Way::Prop | Way::Basic => Order::Theory(Watcher::new(&mut formula.solver.sat, orders, way == Way::Prop)),
            Way::Clock => Order::Times(Clocks::new(&mut graph.terms, &mut formula.solver, &orders), Box::new(orders)),
        };
        let graph = &*graph;
        let racing = formula.solver.sat.var();
        // Only whoever looks for races lets threads stop inside of atomic blocks.
        for stops in graph.blocks.iter().filter_map(|block| block.stops) {
            let stops = formula.solver.lit(&graph.terms, stops);
            formula.solver.sat.add(&[!stops, racing]);
        }
        let quits = graph.quits.map_or(Lit::FALSE, |quits| formula.solver.lit(&graph.terms, quits));
        for race in &formula.races {
            formula.solver.sat.add(&[!race.lit, racing]);
        }
        let (ordered, checked) = (FxHashSet::default(), Checked::default());
        Search { graph, formula, watcher, ordered, racing, quits, checked, asked: 0 }
    }

    /// The literal of a condition.
    pub(super) fn lit(&mut self, term: raddle_solve::Term) -> Lit {
        self.formula.solver.lit(&self.graph.terms, term)
    }

    /// The literal that one of these holds.
    pub(super) fn any(&mut self, lits: &[Lit]) -> Lit {
        let any = self.formula.solver.sat.var();
        let clause: Vec<Lit> = lits.iter().copied().chain([!any]).collect();
        self.formula.solver.sat.add(&clause);
        any
    }

    /// Variables and clauses, and clauses that came of orders, models judged, pairs of writes that were ordered.
    pub(super) fn counts(&self) -> [(&'static str, u64); 10] {
        let (vars, clauses) = self.formula.solver.sat.size();
        let (learnt, models) = self.watcher.counts();
        [
            ("variables", vars),
            ("clauses", clauses),
            ("order_clauses", learnt),
            ("models", models),
            ("ordered_writes", self.ordered.len() as u64),
            ("crossing_conflicts", self.formula.conflicts.crossing),
            ("between_conflicts", self.formula.conflicts.between),
            ("proofs", self.checked.answers),
            ("proof_steps", self.checked.steps),
            ("proof_lemmas", self.checked.lemmas),
        ]
    }

    /// An execution in which these literals hold, if there is one.
    pub(super) fn find(&mut self, assumptions: &[Lit]) -> Result<Option<Execution>, NoAnswer> {
        let assumptions: Vec<Lit> = assumptions.iter().copied().chain([!self.racing, !self.quits]).collect();
        self.find_any(&assumptions)
    }

    /// The same, and the program may end inside of an atomic block. What comes behind that has not happened.
    pub(super) fn find_end(&mut self, assumptions: &[Lit]) -> Result<Option<Execution>, NoAnswer> {
        let assumptions: Vec<Lit> = assumptions.iter().copied().chain([!self.racing]).collect();
        self.find_any(&assumptions)
    }

    /// An execution in which two accesses race that none of these instructions are, with the accesses.
    pub(super) fn find_race(&mut self, known: &[(u32, u32)]) -> Result<Option<(Execution, [Event; 2])>, NoAnswer> {
        let of = |race: &Race| [self.formula.events[race.first], self.formula.events[race.second]];
        let races: Vec<(Lit, [Event; 2])> = self.formula.races.iter().map(|race| (race.lit, of(race))).collect();
        let is_open = |[one, other]: &[Event; 2]| !known.contains(&(one.pc, other.pc));
        let open: Vec<Lit> = races.iter().filter(|race| is_open(&race.1)).map(|race| race.0).collect();
        if open.is_empty() {
            return Ok(None);
        }
        let any = self.any(&open);
        let Some(execution) = self.find_any(&[any, !self.quits])? else { return Ok(None) };
        let found = execution.races.iter().map(|&at| races[at].1).find(is_open);
        Ok(found.map(|accesses| (execution, accesses)))
    }

    fn find_any(&mut self, assumptions: &[Lit]) -> Result<Option<Execution>, NoAnswer> {
        loop {
            self.asked += 1;
            match self.formula.solver.solve(assumptions) {
                Answer::Unsat => {
                    let checked = self.formula.solver.sat.certificate(assumptions).map_err(NoAnswer::NotProved)?;
                    self.checked = checked.unwrap_or_default();
                    return Ok(None);
                }
                Answer::Unknown => return Err(NoAnswer::Stopped),
                Answer::Sat => {}
            }
            let happens: Vec<bool> =
                (0..self.formula.events.len()).map(|at| self.holds(self.formula.guards[at])).collect();
            let sources = self.sources(&happens);
            let plans = self.plans();
            let mut nodes: Vec<Node> = Vec::new();
            for (number, plan) in plans.iter().enumerate() {
                nodes.extend(plan.iter().filter_map(|&(at, _)| self.graph.threads[number].plan[at].node));
            }
            nodes.extend((0..happens.len()).filter(|&at| happens[at]).map(|at| self.formula.events[at].node));
            nodes.sort_unstable();
            nodes.dedup();
            nodes.retain(|&node| node != INITIAL);
            self.read_times(&mut nodes)?;
            if let Some(order) = self.linearise(&nodes, &happens, &sources) {
                return Ok(Some(self.execution(order, plans)));
            }
            if !self.order_writes(&happens) {
                return Err(NoAnswer::Disordered);
            }
        }
    }

    /// Where nodes have times: puts them into their order, and derives what follows from the model.
    fn read_times(&mut self, nodes: &mut [Node]) -> Result<(), NoAnswer> {
        let Order::Times(clocks, orders) = &mut self.watcher else { return Ok(()) };
        let solver = &mut self.formula.solver;
        nodes.sort_by_cached_key(|&node| solver.value(&self.graph.terms, clocks.of(node)));
        orders.undo_to(0);
        let mut literals: Vec<Lit> = orders.literals().collect();
        literals.sort_unstable();
        for lit in literals.into_iter().filter(|&lit| solver.sat.holds(lit)) {
            orders.hold(lit).map_err(|_| NoAnswer::Disordered)?;
        }
        Ok(())
    }

    fn holds(&mut self, lit: Lit) -> bool {
        self.formula.solver.sat.holds(lit)
    }

    /// What a term is in the last model, as long as nothing was added.
    pub(super) fn value(&mut self, term: raddle_solve::Term) -> u64 {
        self.formula.solver.value(&self.graph.terms, term)
    }

    /// From now on these terms do not all have the values that they have in the last model.
    pub(super) fn forbid(&mut self, terms: &[raddle_solve::Term]) {
        let mut others = Vec::new();
        for &term in terms {
            let bits = self.formula.solver.bits(&self.graph.terms, term);
            others.extend(bits.into_iter().map(|bit| if self.formula.solver.sat.holds(bit) { !bit } else { bit }));
        }
        self.formula.solver.sat.add(&others);
    }

    /// What the reads that happen read from.
    fn sources(&mut self, happens: &[bool]) -> FxHashMap<usize, usize> {
        let mut sources = FxHashMap::default();
        for at in 0..self.formula.reads.len() {
            let read = self.formula.reads[at].clone();
            if happens[read.event]
                && let Some(&(write, _)) = read.sources.iter().find(|source| self.formula.solver.sat.holds(source.1))
            {
                sources.insert(read.event, write);
            }
        }
        sources
    }

    fn plans(&mut self) -> Vec<Vec<(usize, u64)>> {
        let graph = self.graph;
        let mut plans = Vec::new();
        for thread in &graph.threads {
            let mut plan = Vec::new();
            for (at, planned) in thread.plan.iter().enumerate() {
                if self.value(planned.guard) == 1 {
                    let pick = match planned.action {
                        Action::Pick(pick) | Action::Wake(pick) | Action::Input(pick, _) => self.value(pick),
                        Action::Run | Action::Arrive | Action::Spawn(_) => 0,
                    };
                    plan.push((at, pick));
                }
            }
            plans.push(plan);
        }
        plans
    }

    /// An order of these nodes in which every read finds what it reads from.
    fn linearise(&self, nodes: &[Node], happens: &[bool], sources: &FxHashMap<usize, usize>) -> Option<Vec<Node>> {
        let events = &self.formula.events;
        let mut of: FxHashMap<Node, Vec<usize>> = FxHashMap::default();
        for (at, event) in events.iter().enumerate().filter(|(at, _)| happens[*at]) {
            of.entry(event.node).or_default().push(at);
        }
        let none = Vec::new();
        let in_node = |node: Node| of.get(&node).unwrap_or(&none);
        // Of each location: the write that is the last one, and how many reads are still to come of each write.
        let mut last: FxHashMap<Location, usize> = FxHashMap::default();
        let mut waiting: FxHashMap<usize, usize> = FxHashMap::default();
        for &write in sources.values() {
            *waiting.entry(write).or_default() += 1;
        }
        for &write in in_node(INITIAL) {
            last.insert(events[write].location, write);
        }
        let mut arrived: FxHashSet<usize> = FxHashSet::default();
        let mut left: Vec<Node> = nodes.to_vec();
        let mut order = Vec::new();
        while !left.is_empty() {
            let at = self.watcher.with_orders(|orders| {
                let first = |node: Node| !left.iter().any(|&other| orders.is_before(NodeId(other), NodeId(node)));
                left.iter().position(|&node| {
                    first(node) && can_be_next(&self.formula, in_node(node), sources, &last, &waiting, &arrived)
                })
            })?;
            let node = left.remove(at);
            for &event in in_node(node) {
                if events[event].writes {
                    last.insert(events[event].location, event);
                    arrived.insert(event);
                } else if let Some(write) = sources.get(&event) {
                    *waiting.get_mut(write).expect("it is read") -= 1;
                }
            }
            order.push(node);
        }
        Some(order)
    }

    /// Says of the writes that happen and are in no order that there is one; false if there are none.
    fn order_writes(&mut self, happens: &[bool]) -> bool {
        let mut pairs = Vec::new();
        for writes in self.formula.writes.values() {
            let done: Vec<usize> = writes.iter().copied().filter(|&write| happens[write]).collect();
            for (at, &one) in done.iter().enumerate() {
                for &other in &done[at + 1..] {
                    let (a, b) = (self.formula.events[one].node, self.formula.events[other].node);
                    let known = self.watcher.with_orders(|orders| {
                        orders.is_before(NodeId(a), NodeId(b)) || orders.is_before(NodeId(b), NodeId(a))
                    });
                    if a != b && !known && !self.ordered.contains(&(one, other)) {
                        pairs.push((one, other));
                    }
                }
            }
        }
        for &(one, other) in &pairs {
            self.ordered.insert((one, other));
            let sat = &mut self.formula.solver.sat;
            let (before, behind) = (sat.var(), sat.var());
            let (first, second) = (self.formula.guards[one], self.formula.guards[other]);
            for lit in [before, behind] {
                sat.add(&[!lit, first]);
                sat.add(&[!lit, second]);
            }
            sat.add(&[!first, !second, before, behind]);
            let (one, other) = (EventId(one as u32), EventId(other as u32));
            let Order::Theory(watcher) = &self.watcher else { return false };
            watcher.extend(sat, &[before, behind], |orders| {
                orders.before_if(before, one, other);
                orders.before_if(behind, other, one);
            });
        }
        !pairs.is_empty()
    }

    fn execution(&mut self, nodes: Vec<Node>, plans: Vec<Vec<(usize, u64)>>) -> Execution {
        let graph = self.graph;
        let mut before = FxHashSet::default();
        self.watcher.with_orders(|orders| {
            for &one in &nodes {
                let behind = nodes.iter().filter(|&&other| orders.is_before(NodeId(one), NodeId(other)));
                before.extend(behind.map(|&other| (one, other)));
            }
        });
        let failures = (0..graph.failures.len()).filter(|&at| self.value(graph.failures[at].guard) == 1).collect();
        let cuts = (0..graph.cuts.len()).filter(|&at| self.value(graph.cuts[at].guard) == 1).collect();
        let stuck = (0..graph.stuck.len()).filter(|&at| self.value(graph.stuck[at].guard) == 1).collect();
        let races = self.formula.races.iter().map(|race| race.lit).collect::<Vec<Lit>>();
        let races = (0..races.len()).filter(|&at| self.holds(races[at])).collect();
        let mut arrivals = FxHashMap::default();
        for &node in &nodes {
            let Some(arrival) = graph.arrivals.get(&node) else { continue };
            let place = arrival.places.iter().find(|place| self.value(place.0) == 1);
            arrivals.extend(place.map(|&(_, addr)| (node, (arrival.thread, addr))));
        }
        Execution { nodes, plans, arrivals, failures, stuck, races, cuts, before }
    }
}

/// Whether a node can come next: its reads find what they read from, and nothing is overwritten that somebody else still has to read.
fn can_be_next(
    formula: &Formula,
    node: &[usize],
    sources: &FxHashMap<usize, usize>,
    last: &FxHashMap<Location, usize>,
    waiting: &FxHashMap<usize, usize>,
    arrived: &FxHashSet<usize>,
) -> bool {
    let events = &formula.events;
    let mut own: FxHashMap<Location, usize> = FxHashMap::default();
    let mut read: FxHashMap<usize, usize> = FxHashMap::default();
    for &event in node {
        let location = events[event].location;
        let here = own.get(&location).or_else(|| last.get(&location)).copied();
        if events[event].writes {
            if let Some(here) = here {
                let still = waiting.get(&here).copied().unwrap_or(0) - read.get(&here).copied().unwrap_or(0);
                if still > 0 {
                    return false;
                }
            }
            own.insert(location, event);
        } else if let Some(&write) = sources.get(&event) {
            let in_buffer = formula.own.contains(&(write, event)) && !arrived.contains(&write);
            if here != Some(write) && !in_buffer {
                return false;
            }
            *read.entry(write).or_default() += 1;
        }
    }
    true
}
