//! The theory of orders: can all events be put into one order, if reads take their values from these writes?
//!
//! Events belong to nodes; a node happens at once, and inside of it events stand in their positions. *Happens before* is the least relation on nodes that
//! contains what is given (program order, a read behind the write it reads from) and is closed under three axioms (Telbisz 2024, after He, Sun and
//! Fan 2021), for writes `w`, `other` and a read `r` of one location where `r` reads from `w` and `other` is done:
//!
//! * A1: it is transitive;
//! * A2: if `other` is before `r`, it is before `w`;
//! * A3: if `w` is before `other`, so is `r`.
//!
//! A node before itself is a contradiction. Everything given comes with a literal, and everything derived remembers from what, so that a
//! contradiction is explained by literals that cannot all hold. The closure is always taken to its end: one pass over the axioms misses
//! contradictions. What was given last can be taken back.
//!
//! This decides weak sequential consistency: the order of two writes that nobody reads between is left open. Whoever needs a total order
//! of the writes of a location gives it, pair by pair.
//!
//! Cost: memory for a number per pair of nodes; each pair is derived at most once and looked at once.

use crate::sat::Lit;
use rustc_hash::{FxHashMap, FxHashSet};

/// Something that happens at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub u32);

/// What is known of an event from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// As a part of what it happens.
    pub node: NodeId,
    /// Which part; no two events of a node have the same.
    pub position: u32,
    /// What it reads or writes.
    pub location: u32,
}

/// What a literal means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fact {
    /// A node is before another.
    Edge(NodeId, NodeId),
    /// A read takes its value from a write.
    Reads(EventId, EventId),
    /// The same, and the write may be one of the same thread that nobody else sees yet.
    Forwards(EventId, EventId),
    /// A write is done.
    Done(EventId),
    /// A write is before another.
    Before(EventId, EventId),
}

/// Which order a derived one rests on; [`NODE`] if it is that of positions in a node.
type Because = u32;
const NODE: Because = u32::MAX;

#[derive(Clone, Copy, Debug)]
enum Why {
    Given(Lit),
    /// One after the other; the outer two may be missing.
    Through(Because, Because, Because),
    /// By A2 or A3.
    Axiom {
        reads: Lit,
        done: Lit,
        because: Because,
    },
}

#[derive(Clone, Copy, Debug)]
struct Derived {
    from: u32,
    to: u32,
    why: Why,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    derived: usize,
    done: usize,
    active: usize,
}

/// A set of nodes.
type Bits = Vec<u64>;

fn bits(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        std::iter::successors(Some(bits), |rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|&rest| rest != 0)
            .map(move |rest| word * 64 + rest.trailing_zeros() as usize)
    })
}

/// Literals that cannot all hold.
pub type Contradiction = Vec<Lit>;

/// Events, what literals mean for their order, and what follows from those that hold.
#[derive(Clone, Debug)]
pub struct Orders {
    nodes: usize,
    events: Vec<Event>,
    in_node: Vec<Vec<EventId>>,
    facts: FxHashMap<Lit, Vec<Fact>>,
    /// By pair of nodes: how it was derived that the first is before the second, from 1.
    how: Vec<u32>,
    behind: Vec<Bits>,
    ahead: Vec<Bits>,
    derived: Vec<Derived>,
    /// How many of the derived orders the axioms have been applied to.
    looked_at: usize,
    /// The literal by which a write is done.
    done: Vec<Option<Lit>>,
    done_list: Vec<EventId>,
    done_at: FxHashMap<u32, Vec<EventId>>,
    /// By read: the writes it reads from. By write: the reads that do.
    sources: Vec<Vec<(EventId, Lit)>>,
    readers: Vec<Vec<(EventId, Lit)>>,
    active: Vec<(EventId, EventId)>,
    active_at: FxHashMap<u32, Vec<(EventId, EventId, Lit)>>,
    marks: Vec<Mark>,
    /// All that was said, in this order.
    said: Vec<(Lit, Fact)>,
    /// A write, and a read that comes behind it in its thread but perhaps not in the order of all events.
    hidden: FxHashSet<(EventId, EventId)>,
    /// What holds in any case contradicts itself.
    pub(crate) refuted: bool,
    /// How many contradictions were explained.
    pub(crate) contradictions: u64,
}

impl Orders {
    /// So many nodes with these events, in no order.
    pub fn new(nodes: usize, events: Vec<Event>) -> Self {
        let mut in_node = vec![Vec::new(); nodes];
        for (id, event) in (0..).map(EventId).zip(&events) {
            in_node[event.node.0 as usize].push(id);
        }
        let words = nodes.div_ceil(64);
        Orders {
            nodes,
            in_node,
            facts: FxHashMap::default(),
            how: vec![0; nodes * nodes],
            behind: vec![vec![0; words]; nodes],
            ahead: vec![vec![0; words]; nodes],
            derived: Vec::new(),
            looked_at: 0,
            done: vec![None; events.len()],
            done_list: Vec::new(),
            done_at: FxHashMap::default(),
            sources: vec![Vec::new(); events.len()],
            readers: vec![Vec::new(); events.len()],
            active: Vec::new(),
            active_at: FxHashMap::default(),
            marks: Vec::new(),
            said: Vec::new(),
            hidden: FxHashSet::default(),
            refuted: false,
            contradictions: 0,
            events,
        }
    }

    /// A node is before another if the literal holds.
    pub fn edge(&mut self, lit: Lit, from: NodeId, to: NodeId) {
        self.mean(lit, Fact::Edge(from, to));
    }

    /// A read takes its value from a write if the literal holds.
    pub fn reads(&mut self, lit: Lit, write: EventId, read: EventId) {
        self.mean(lit, Fact::Reads(write, read));
    }

    /// A read takes its value from a write of its own thread if the literal holds, perhaps before that write is one for everybody: the two are in no order because of it.
    pub fn forwards(&mut self, lit: Lit, write: EventId, read: EventId) {
        self.mean(lit, Fact::Forwards(write, read));
    }

    /// A read cannot miss this write, though it may come before it: it is one of its own thread. To be said before anything else of the two.
    pub fn hides(&mut self, write: EventId, read: EventId) {
        self.hidden.insert((write, read));
    }

    /// A write is done if the literal holds.
    pub fn done(&mut self, lit: Lit, write: EventId) {
        self.mean(lit, Fact::Done(write));
    }

    /// A write is before another if the literal holds.
    pub fn before_if(&mut self, lit: Lit, write: EventId, other: EventId) {
        self.mean(lit, Fact::Before(write, other));
    }

    fn mean(&mut self, lit: Lit, fact: Fact) {
        self.undo_to(0);
        self.said.push((lit, fact));
        match lit.as_bool() {
            Some(false) => {}
            Some(true) => {
                let result = self.learn(lit, fact).and_then(|()| self.close());
                self.refuted |= result.is_err();
            }
            None => self.facts.entry(lit).or_default().push(fact),
        }
    }

    /// All that was said.
    pub(crate) fn said(&self) -> &[(Lit, Fact)] {
        &self.said
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(crate) fn node_of(&self, event: EventId) -> NodeId {
        self.events[event.0 as usize].node
    }

    pub(crate) fn same_location(&self, one: EventId, other: EventId) -> bool {
        self.events[one.0 as usize].location == self.events[other.0 as usize].location
    }

    pub(crate) fn hides_from(&self, write: EventId, read: EventId) -> bool {
        self.hidden.contains(&(write, read))
    }

    /// Whether the first of two events in one node comes first; `None` if they are in different ones.
    pub(crate) fn fixed(&self, one: EventId, other: EventId) -> Option<bool> {
        let (one, other) = (self.events[one.0 as usize], self.events[other.0 as usize]);
        (one.node == other.node).then_some(one.position < other.position)
    }

    /// The literals that mean something.
    pub fn literals(&self) -> impl Iterator<Item = Lit> + '_ {
        self.facts.keys().copied()
    }

    /// How many literals have been said to hold.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether no literal has been said to hold.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Takes back all but the first so many literals.
    pub fn undo_to(&mut self, len: usize) {
        let Some(&Mark { derived, done, active }) = self.marks.get(len) else { return };
        self.marks.truncate(len);
        for Derived { from, to, .. } in self.derived.drain(derived..) {
            let (from, to) = (from as usize, to as usize);
            self.how[from * self.nodes + to] = 0;
            self.behind[from][to / 64] &= !(1 << (to % 64));
            self.ahead[to][from / 64] &= !(1 << (from % 64));
        }
        self.looked_at = self.looked_at.min(derived);
        for write in self.done_list.drain(done..) {
            self.done[write.0 as usize] = None;
            self.done_at.get_mut(&self.events[write.0 as usize].location).expect("it was done").pop();
        }
        for (write, read) in self.active.drain(active..).rev() {
            self.sources[read.0 as usize].pop();
            self.readers[write.0 as usize].pop();
            self.active_at.get_mut(&self.events[read.0 as usize].location).expect("it was active").pop();
        }
    }

    /// The literal holds, too.
    ///
    /// # Errors
    /// If it cannot: literals, this one among them, that cannot all hold. Nothing has changed then.
    pub fn hold(&mut self, lit: Lit) -> Result<(), Contradiction> {
        let before = self.marks.len();
        self.marks.push(Mark { derived: self.derived.len(), done: self.done_list.len(), active: self.active.len() });
        let facts = self.facts.get(&lit).cloned().unwrap_or_default();
        let result = facts.into_iter().try_for_each(|fact| self.learn(lit, fact)).and_then(|()| self.close());
        if result.is_err() {
            self.contradictions += 1;
            self.undo_to(before);
        }
        result
    }

    /// Whether the first event is before the second, and why.
    fn why_before(&self, first: EventId, second: EventId) -> Option<Because> {
        let (one, other) = (self.events[first.0 as usize], self.events[second.0 as usize]);
        if one.node == other.node {
            return (one.position < other.position).then_some(NODE);
        }
        self.how[one.node.0 as usize * self.nodes + other.node.0 as usize].checked_sub(1)
    }

    /// Whether it follows that the first node is before the second.
    pub fn is_before(&self, first: NodeId, second: NodeId) -> bool {
        self.how[first.0 as usize * self.nodes + second.0 as usize] != 0
    }

    fn learn(&mut self, lit: Lit, fact: Fact) -> Result<(), Contradiction> {
        match fact {
            Fact::Edge(from, to) => self.add(from.0, to.0, Why::Given(lit)),
            Fact::Before(write, other) => self.order(write, other, Why::Given(lit)),
            Fact::Reads(write, read) | Fact::Forwards(write, read) => {
                if matches!(fact, Fact::Reads(..)) {
                    self.order(write, read, Why::Given(lit))?;
                }
                self.sources[read.0 as usize].push((write, lit));
                self.readers[write.0 as usize].push((read, lit));
                self.active.push((write, read));
                let location = self.events[read.0 as usize].location;
                self.active_at.entry(location).or_default().push((write, read, lit));
                for other in self.done_at.get(&location).cloned().unwrap_or_default() {
                    self.apply(write, read, lit, other)?;
                }
                Ok(())
            }
            Fact::Done(write) => {
                if self.done[write.0 as usize].is_some() {
                    return Ok(());
                }
                self.done[write.0 as usize] = Some(lit);
                self.done_list.push(write);
                let location = self.events[write.0 as usize].location;
                self.done_at.entry(location).or_default().push(write);
                for (source, read, reads) in self.active_at.get(&location).cloned().unwrap_or_default() {
                    self.apply(source, read, reads, write)?;
                }
                Ok(())
            }
        }
    }

    /// A2 and A3 for a write, a read that reads from it, and another write that is done.
    fn apply(&mut self, write: EventId, read: EventId, reads: Lit, other: EventId) -> Result<(), Contradiction> {
        let Some(done) = self.done[other.0 as usize] else { return Ok(()) };
        if other == write {
            return Ok(());
        }
        let hides = || self.hidden.contains(&(other, read)).then_some(NODE);
        if let Some(because) = self.why_before(other, read).or_else(hides)
            && self.why_before(other, write).is_none()
        {
            self.order(other, write, Why::Axiom { reads, done, because })?;
        }
        if let Some(because) = self.why_before(write, other)
            && self.why_before(read, other).is_none()
        {
            self.order(read, other, Why::Axiom { reads, done, because })?;
        }
        Ok(())
    }

    /// An event is before another.
    fn order(&mut self, first: EventId, second: EventId, why: Why) -> Result<(), Contradiction> {
        let (one, other) = (self.events[first.0 as usize], self.events[second.0 as usize]);
        if one.node != other.node {
            return self.add(one.node.0, other.node.0, why);
        }
        if one.position < other.position { Ok(()) } else { Err(self.explain(&[why])) }
    }

    fn at(&self, from: usize, to: usize) -> Because {
        if from == to { NODE } else { self.how[from * self.nodes + to] - 1 }
    }

    /// A node is before another, and what is before the one before what is behind the other.
    fn add(&mut self, from: u32, to: u32, why: Why) -> Result<(), Contradiction> {
        let (a, b) = (from as usize, to as usize);
        if a == b {
            return Err(self.explain(&[why]));
        }
        if let Some(back) = self.how[b * self.nodes + a].checked_sub(1) {
            return Err(self.explain(&[why, Why::Through(NODE, back, NODE)]));
        }
        if self.how[a * self.nodes + b] != 0 {
            return Ok(());
        }
        self.put(a, b, why);
        let middle = self.at(a, b);
        let mut ends = self.behind[b].clone();
        ends[b / 64] |= 1 << (b % 64);
        let mut starts = self.ahead[a].clone();
        starts[a / 64] |= 1 << (a % 64);
        for i in bits(&starts) {
            let new: Bits = ends.iter().zip(&self.behind[i]).map(|(end, known)| end & !known).collect();
            for j in bits(&new) {
                let why = Why::Through(self.at(i, a), middle, self.at(b, j));
                self.put(i, j, why);
            }
        }
        Ok(())
    }

    fn put(&mut self, from: usize, to: usize, why: Why) {
        self.derived.push(Derived { from: from as u32, to: to as u32, why });
        self.how[from * self.nodes + to] = self.derived.len() as u32;
        self.behind[from][to / 64] |= 1 << (to % 64);
        self.ahead[to][from / 64] |= 1 << (from % 64);
    }

    /// Applies the axioms to what was derived, until nothing new follows.
    fn close(&mut self) -> Result<(), Contradiction> {
        while let Some(&Derived { from, to, .. }) = self.derived.get(self.looked_at) {
            self.looked_at += 1;
            for at in 0..self.in_node[from as usize].len() {
                let first = self.in_node[from as usize][at];
                for then in 0..self.in_node[to as usize].len() {
                    let second = self.in_node[to as usize][then];
                    if self.events[first.0 as usize].location == self.events[second.0 as usize].location {
                        self.look_at(first, second)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What follows from one event being before another of the same location.
    fn look_at(&mut self, first: EventId, second: EventId) -> Result<(), Contradiction> {
        for at in 0..self.sources[second.0 as usize].len() {
            let (write, lit) = self.sources[second.0 as usize][at];
            self.apply(write, second, lit, first)?;
        }
        for at in 0..self.readers[first.0 as usize].len() {
            let (read, lit) = self.readers[first.0 as usize][at];
            self.apply(first, read, lit, second)?;
        }
        Ok(())
    }

    /// The literals that these orders rest on.
    fn explain(&self, whys: &[Why]) -> Contradiction {
        let mut lits: FxHashSet<Lit> = FxHashSet::default();
        let mut seen: FxHashSet<Because> = FxHashSet::default();
        let mut todo: Vec<Why> = whys.to_vec();
        while let Some(why) = todo.pop() {
            let below: [Because; 3] = match why {
                Why::Given(lit) => {
                    lits.insert(lit);
                    [NODE; 3]
                }
                Why::Through(one, two, three) => [one, two, three],
                Why::Axiom { reads, done, because } => {
                    lits.extend([reads, done]);
                    [because, NODE, NODE]
                }
            };
            for because in below {
                if because != NODE && seen.insert(because) {
                    todo.push(self.derived[because as usize].why);
                }
            }
        }
        lits.remove(&Lit::TRUE);
        let mut lits: Vec<Lit> = lits.into_iter().collect();
        lits.sort_unstable();
        lits
    }
}
