//! Streett objectives on explicit graphs whose edges belong to somebody.
//!
//! Fairness between the parts of a system is about who *moves*, which is a property of edges, and about who *could*, which is one of vertices. Here a vertex requests and grants pairs,
//! as elsewhere in this crate, and an edge may grant one more. A cycle is good if whatever is requested on it is granted on it.
//!
//! Decomposition (Emerson and Lei 1987): of a strongly connected set, a pair that is requested and not granted inside takes the vertices that request it out, and what is left is
//! decomposed again. A set that keeps everything and has an edge is good, every good cycle lies in one, and one walk through what it grants is a good cycle. The components
//! are Tarjan's (1972).
//!
//! *Chance.* At a random vertex nobody chooses: the successor is drawn, each with some probability above zero. What a set is needed for then is to stay in it for ever, with probability one, and to satisfy what is requested: a
//! *good end-component*, which no edge of a random vertex leaves. So random vertices that may leave a component go out of it, too, and with whatever goes out go those that can be driven there: by chance, or because
//! there is no other way (the random attractor; Toman 2021, chapter 6, whose algorithms in symbolic steps are [`crate::streett::mdps`]). Who moves through all of what is left, by lot or in turn, sees everything in it again and again.
//!
//! Cost: a decomposition per removal, of which there are at most as many as pairs on the way to each set: O((n + m) k). The symbolic algorithms of this crate
//! count images of sets and suit graphs that are given by formulas; graphs that were made state by state are here, with a few bytes per edge.

use crate::graph::Vertex;
use crate::tarjan::Tarjan;

/// An edge by its number; those of a vertex follow each other.
pub type Edge = u32;

/// An edge that grants nothing.
pub const NOBODY: u16 = u16::MAX;

/// A graph with pairs.
#[derive(Clone, Debug)]
pub struct Labelled {
    pairs: u16,
    /// How many words the pairs of a vertex take.
    words: usize,
    /// Where the edges of each vertex begin.
    starts: Vec<Edge>,
    targets: Vec<Vertex>,
    grants_of_edges: Vec<u16>,
    requests: Vec<u64>,
    grants: Vec<u64>,
    /// The random vertices, ascending.
    random: Vec<Vertex>,
}

/// Part of a graph: what is left out takes no part in any cycle.
pub struct Within<'w> {
    /// Which vertices there are.
    pub vertex: &'w dyn Fn(Vertex) -> bool,
    /// Which edges there are.
    pub edge: &'w dyn Fn(Edge) -> bool,
}

impl std::fmt::Debug for Within<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Within")
    }
}

/// The whole graph.
pub const EVERYWHERE: Within<'static> = Within { vertex: &|_| true, edge: &|_| true };

/// What a decomposition found.
#[derive(Clone, Debug, Default)]
pub struct Decomposed {
    /// The largest good sets, each in the order of its vertices.
    pub good: Vec<Vec<Vertex>>,
    /// How many strongly connected sets with an edge were looked at.
    pub examined: u64,
}

impl Labelled {
    /// A graph without vertices, with so many pairs.
    ///
    /// # Panics
    /// If they are more than edges can name.
    pub fn new(pairs: usize) -> Self {
        assert!(pairs <= usize::from(NOBODY), "edges name pairs by 16 bits");
        let (words, pairs) = (pairs.div_ceil(64), pairs as u16);
        let (targets, grants_of_edges, random) = (Vec::new(), Vec::new(), Vec::new());
        let (requests, grants) = (Vec::new(), Vec::new());
        Labelled { pairs, words, starts: vec![0], targets, grants_of_edges, requests, grants, random }
    }

    /// Adds the next vertex: the pairs that it requests, those that it grants, and where its edges lead, each with the pair that it grants.
    pub fn push(
        &mut self,
        requests: impl IntoIterator<Item = u16>,
        grants: impl IntoIterator<Item = u16>,
        edges: impl IntoIterator<Item = (Vertex, u16)>,
    ) {
        add(&mut self.requests, self.words, requests);
        add(&mut self.grants, self.words, grants);
        for (target, by) in edges {
            self.targets.push(target);
            self.grants_of_edges.push(by);
        }
        self.starts.push(self.targets.len() as Edge);
    }

    /// Adds the next vertex, where one of these is drawn; it requests and grants nothing.
    pub fn push_random(&mut self, targets: impl IntoIterator<Item = Vertex>) {
        self.random.push(self.len() as Vertex);
        self.push([], [], targets.into_iter().map(|target| (target, NOBODY)));
    }

    /// Whether the successor is drawn here.
    pub fn is_random(&self, vertex: Vertex) -> bool {
        self.random.binary_search(&vertex).is_ok()
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> u16 {
        self.pairs
    }

    /// How many vertices there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The edges of a vertex.
    pub fn from(&self, vertex: Vertex) -> std::ops::Range<Edge> {
        self.starts[vertex as usize]..self.starts[vertex as usize + 1]
    }

    /// Where an edge leads.
    pub fn target(&self, edge: Edge) -> Vertex {
        self.targets[edge as usize]
    }

    /// The pair that an edge grants.
    pub fn granted(&self, edge: Edge) -> u16 {
        self.grants_of_edges[edge as usize]
    }

    fn of<'a>(&self, marks: &'a [u64], vertex: Vertex) -> &'a [u64] {
        &marks[vertex as usize * self.words..][..self.words]
    }

    /// Whether the vertex requests the pair.
    pub fn requests(&self, vertex: Vertex, pair: u16) -> bool {
        has(self.of(&self.requests, vertex), pair)
    }

    /// Whether the vertex grants the pair.
    pub fn grants(&self, vertex: Vertex, pair: u16) -> bool {
        has(self.of(&self.grants, vertex), pair)
    }

    /// The largest good sets of a part of the graph; `None` if `stop` said so on the way.
    pub fn decompose(&self, within: &Within<'_>, stop: &dyn Fn() -> bool) -> Option<Decomposed> {
        let mut found = Decomposed::default();
        // The set that a vertex is in; those in none are out.
        let mut sets = vec![OUT; self.len()];
        let first: Vec<Vertex> = (0..self.len() as Vertex).filter(|&vertex| (within.vertex)(vertex)).collect();
        let mut next_set = 0;
        let mut todo = vec![first];
        let mut tarjan = Tarjan::new(self.len());
        let mut attractor = Attractor::new(self);
        while let Some(set) = todo.pop() {
            if stop() {
                return None;
            }
            next_set += 1;
            for &vertex in &set {
                sets[vertex as usize] = next_set;
            }
            let inside = |edge: Edge| sets[self.target(edge) as usize] == next_set && (within.edge)(edge);
            let components = tarjan.components(self, &set, &inside);
            // What was left behind stays in no set, so that nobody finds it in another's.
            for &vertex in &set {
                sets[vertex as usize] = OUT;
            }
            for component in components {
                next_set += 1;
                for &vertex in &component {
                    sets[vertex as usize] = next_set;
                }
                let inside = |edge: Edge| sets[self.target(edge) as usize] == next_set && (within.edge)(edge);
                if let Some(bad) = self.ungranted(&component, &inside) {
                    found.examined += 1;
                    let gone = attractor.of(&component, &bad, &inside);
                    if bad.iter().all(|&word| word == 0) && gone.is_empty() {
                        let mut component = component;
                        component.sort_unstable();
                        found.good.push(component);
                        continue;
                    }
                    let requests = |&vertex: &Vertex| {
                        self.of(&self.requests, vertex).iter().zip(&bad).any(|(asked, bad)| asked & bad != 0)
                    };
                    let goes = |vertex: &Vertex| requests(vertex) || gone.binary_search(vertex).is_ok();
                    let left: Vec<Vertex> = component.into_iter().filter(|vertex| !goes(vertex)).collect();
                    if !left.is_empty() {
                        todo.push(left);
                    }
                }
            }
        }
        found.good.sort_unstable();
        Some(found)
    }

    /// The pairs that are requested and not granted in a set; `None` if it has no edge.
    fn ungranted(&self, set: &[Vertex], inside: &dyn Fn(Edge) -> bool) -> Option<Vec<u64>> {
        let (mut asked, mut given) = (vec![0; self.words], vec![0; self.words]);
        let mut any = false;
        for &vertex in set {
            join(&mut asked, self.of(&self.requests, vertex));
            join(&mut given, self.of(&self.grants, vertex));
            for edge in self.from(vertex).filter(|&edge| inside(edge)) {
                any = true;
                if self.granted(edge) != NOBODY {
                    set_bit(&mut given, self.granted(edge));
                }
            }
        }
        any.then(|| asked.iter().zip(&given).map(|(asked, given)| asked & !given).collect())
    }

    /// A good cycle through a good set, from its first vertex on: short where that is easy, never shortest by promise.
    ///
    /// It begins as a shortest cycle through that vertex; as long as something is requested on it that is not granted, it goes on to the nearest place where it is.
    ///
    /// # Panics
    /// If the set is not good.
    pub fn cycle(&self, set: &[Vertex], within: &Within<'_>) -> Vec<Edge> {
        let start = set[0];
        let inside = |edge: Edge| set.binary_search(&self.target(edge)).is_ok() && (within.edge)(edge);
        let home = |vertex: Vertex| vertex == start;
        let mut way = self.nearest(start, &inside, &|edge| home(self.target(edge))).expect("it is connected");
        loop {
            let on_way: Vec<Vertex> = std::iter::once(start).chain(way.iter().map(|&edge| self.target(edge))).collect();
            let missing = (0..self.pairs).find(|&pair| {
                on_way.iter().any(|&vertex| self.requests(vertex, pair))
                    && !on_way.iter().any(|&vertex| self.grants(vertex, pair))
                    && !way.iter().any(|&edge| self.granted(edge) == pair)
            });
            let Some(pair) = missing else { return way };
            // The way back home is made again behind the detour.
            let gives = |edge: Edge| self.granted(edge) == pair || self.grants(self.target(edge), pair);
            let detour = self.nearest(start, &inside, &gives).expect("the set grants it");
            let end = self.target(*detour.last().expect("it has an edge"));
            way.extend(detour);
            if !home(end) {
                way.extend(self.nearest(end, &inside, &|edge| home(self.target(edge))).expect("it is connected"));
            }
        }
    }

    /// A shortest way from a vertex along such edges, whose last edge is as wished.
    fn nearest(&self, from: Vertex, inside: &dyn Fn(Edge) -> bool, wished: &dyn Fn(Edge) -> bool) -> Option<Vec<Edge>> {
        let mut came = rustc_hash::FxHashMap::default();
        let mut todo = std::collections::VecDeque::from([from]);
        while let Some(vertex) = todo.pop_front() {
            for edge in self.from(vertex).filter(|&edge| inside(edge)) {
                if wished(edge) {
                    let mut way = vec![edge];
                    let mut at = vertex;
                    while at != from {
                        let (edge, before) = came[&at];
                        way.push(edge);
                        at = before;
                    }
                    way.reverse();
                    return Some(way);
                }
                let next = self.target(edge);
                if next != from && !came.contains_key(&next) {
                    came.insert(next, (edge, vertex));
                    todo.push_back(next);
                }
            }
        }
        None
    }
}

/// In no set.
const OUT: u32 = 0;

fn has(marks: &[u64], pair: u16) -> bool {
    marks[usize::from(pair) / 64] >> (pair % 64) & 1 == 1
}

fn set_bit(marks: &mut [u64], pair: u16) {
    marks[usize::from(pair) / 64] |= 1 << (pair % 64);
}

fn join(marks: &mut [u64], more: &[u64]) {
    for (word, more) in marks.iter_mut().zip(more) {
        *word |= more;
    }
}

fn add(marks: &mut Vec<u64>, words: usize, pairs: impl IntoIterator<Item = u16>) {
    let at = marks.len();
    marks.resize(at + words, 0);
    for pair in pairs {
        set_bit(&mut marks[at..], pair);
    }
}

/// Who can be driven out of a component: to who requests what nobody grants, or to the outside.
struct Attractor<'g> {
    graph: &'g Labelled,
    /// The place of a vertex in the component; only those of the component mean anything.
    places: Vec<u32>,
}

impl<'g> Attractor<'g> {
    fn new(graph: &'g Labelled) -> Self {
        let places = if graph.random.is_empty() { Vec::new() } else { vec![0; graph.len()] };
        Attractor { graph, places }
    }

    /// These vertices, ascending. Nothing where nothing is random: then who requests goes, and the decomposition says the rest.
    fn of(&mut self, component: &[Vertex], bad: &[u64], inside: &dyn Fn(Edge) -> bool) -> Vec<Vertex> {
        let Attractor { graph, places } = self;
        if graph.random.is_empty() {
            return Vec::new();
        }
        for (place, &vertex) in component.iter().enumerate() {
            places[vertex as usize] = place as u32;
        }
        let random: Vec<bool> = component.iter().map(|&vertex| graph.is_random(vertex)).collect();
        // Who comes to whom, and how many ways one can choose from; chance cannot.
        let mut before: Vec<(u32, u32)> = Vec::new();
        let mut ways = vec![0u32; component.len()];
        let mut gone = vec![false; component.len()];
        for (place, &vertex) in component.iter().enumerate() {
            for edge in graph.from(vertex) {
                if inside(edge) {
                    before.push((places[graph.target(edge) as usize], place as u32));
                    ways[place] += 1;
                } else if random[place] {
                    gone[place] = true;
                }
            }
            gone[place] |= graph.of(&graph.requests, vertex).iter().zip(bad).any(|(asked, bad)| asked & bad != 0);
        }
        before.sort_unstable();
        let mut todo: Vec<u32> = (0..component.len() as u32).filter(|&place| gone[place as usize]).collect();
        while let Some(to) = todo.pop() {
            let first = before.partition_point(|&(target, _)| target < to);
            for &(_, from) in before[first..].iter().take_while(|&&(target, _)| target == to) {
                let place = from as usize;
                ways[place] -= 1;
                if !gone[place] && (random[place] || ways[place] == 0) {
                    gone[place] = true;
                    todo.push(from);
                }
            }
        }
        let mut gone: Vec<Vertex> =
            component.iter().zip(&gone).filter(|(_, gone)| **gone).map(|(&vertex, _)| vertex).collect();
        gone.sort_unstable();
        gone
    }
}
