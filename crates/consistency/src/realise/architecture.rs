//! Who waits to be ordered against whom: the graph of threads that decides whether clauses of two literals are enough.
//!
//! There is an edge between two threads if some event of the one is before some event of the other (*decided*), or if that is
//! still to be found out (*open*). A cyclic order of events visits each thread once if it is as short as possible, so it is a
//! simple cycle of this graph. If no simple cycle has more than two open edges, then what has been chosen along one open edge
//! and what has been chosen along another one can be held against each other by a clause of two literals, and nothing else
//! is needed ([`realise`](super)). Forests have no cycles at all; a star, where all open edges meet in a *hub*, has none with
//! three open edges.
//!
//! Chalupa et al. 2018 take the graph of shared variables of the whole program and leave cycles to an *all-but-two* set of edges whose
//! writes are ordered beforehand. Here the graph is made for one annotation, from what its closure leaves open, and edges
//! have a direction and a place: a cycle comes into a thread not later than it leaves. So what main does before it
//! starts the others is on no cycle.

/// How many steps the search for a cycle may take. If that is not enough there may be one.
const PATIENCE: u32 = 20_000;

/// Edges from one thread to another.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// The last event from which one leaves.
    last: u32,
    /// The first event to which one goes.
    first: u32,
    open: bool,
}

/// The graph.
#[derive(Debug)]
pub struct Architecture {
    threads: usize,
    edges: Vec<Option<Edge>>,
}

/// A simple cycle with more than two open edges.
#[derive(Debug, PartialEq, Eq)]
pub enum Cycle {
    /// Through these threads.
    Through(Vec<usize>),
    /// Perhaps there is one: the search was given up.
    Perhaps,
}

struct Walk<'a> {
    graph: &'a Architecture,
    path: Vec<usize>,
    patience: u32,
}

impl Architecture {
    /// Nothing is decided and nothing open.
    pub fn new(threads: usize) -> Self {
        Architecture { threads, edges: vec![None; threads * threads] }
    }

    /// An event of `p`, with its number there, is before one of `q`.
    pub fn decided(&mut self, (p, last): (usize, u32), (q, first): (usize, u32)) {
        self.add(p, q, Edge { last, first, open: false });
    }

    /// It is open whether an event of `p` is before one of `q` or after it.
    pub fn open(&mut self, (p, a): (usize, u32), (q, b): (usize, u32)) {
        self.add(p, q, Edge { last: a, first: b, open: true });
        self.add(q, p, Edge { last: b, first: a, open: true });
    }

    fn add(&mut self, p: usize, q: usize, new: Edge) {
        let edge = &mut self.edges[p * self.threads + q];
        *edge = Some(match *edge {
            None => new,
            Some(old) => {
                Edge { last: old.last.max(new.last), first: old.first.min(new.first), open: old.open || new.open }
            }
        });
    }

    fn edge(&self, p: usize, q: usize) -> Option<Edge> {
        self.edges[p * self.threads + q]
    }

    fn is_open(&self, p: usize, q: usize) -> bool {
        self.edge(p, q).is_some_and(|edge| edge.open)
    }

    /// Whether one can come into `t` from `p` and leave to `q`.
    fn passes(&self, p: usize, t: usize, q: usize) -> bool {
        matches!((self.edge(p, t), self.edge(t, q)), (Some(into), Some(out)) if into.first <= out.last)
    }

    /// A simple cycle with more than two open edges, if there is one.
    pub fn cycle(&self) -> Option<Cycle> {
        let open = self.edges.iter().flatten().filter(|edge| edge.open).count() / 2;
        let star = |hub: usize| (0..self.threads).all(|p| (0..p).all(|q| p == hub || q == hub || !self.is_open(p, q)));
        if open < 3 || (0..self.threads).any(star) {
            return None;
        }
        let mut walk = Walk { graph: self, path: Vec::new(), patience: PATIENCE };
        for start in 0..self.threads {
            walk.path.push(start);
            if walk.go_on(0) {
                return Some(Cycle::Through(walk.path));
            }
            walk.path.pop();
            if walk.patience == 0 {
                return Some(Cycle::Perhaps);
            }
        }
        None
    }

    /// The threads of the block (biconnected component, of the graph without directions) that holds this edge.
    pub fn block(&self, p: usize, q: usize) -> Vec<usize> {
        // A thread is in the block if it is on a simple cycle with the edge: if there are ways from it to both ends that
        // meet nowhere. Equivalently, no single thread in between separates it from the edge.
        let adjacent = |a: usize, b: usize| self.edge(a, b).is_some() || self.edge(b, a).is_some();
        let reached_without = |gone: usize| {
            let mut seen = vec![false; self.threads];
            let mut todo: Vec<usize> = [p, q].into_iter().filter(|&end| end != gone).collect();
            todo.iter().for_each(|&end| seen[end] = true);
            while let Some(at) = todo.pop() {
                for next in (0..self.threads).filter(|&next| next != gone && adjacent(at, next)) {
                    if !std::mem::replace(&mut seen[next], true) {
                        todo.push(next);
                    }
                }
            }
            seen
        };
        let reached: Vec<Vec<bool>> = (0..self.threads).map(reached_without).collect();
        let inside = |&thread: &usize| (0..self.threads).all(|gone| gone == thread || reached[gone][thread]);
        (0..self.threads).filter(inside).collect()
    }
}

impl Walk<'_> {
    /// Looks for a cycle that begins with the path, which has so many open edges. Its first thread is the least one.
    fn go_on(&mut self, open: usize) -> bool {
        let graph = self.graph;
        let (start, at) = (self.path[0], *self.path.last().expect("it has a start"));
        for next in start..graph.threads {
            self.patience = self.patience.saturating_sub(1);
            if self.patience == 0 {
                return false;
            }
            let Some(edge) = graph.edge(at, next) else { continue };
            if let [.., before, _] = self.path[..]
                && !graph.passes(before, at, next)
            {
                continue;
            }
            let open = open + usize::from(edge.open);
            if next == start {
                if open > 2 && graph.passes(at, start, self.path[1]) {
                    return true;
                }
            } else if !self.path.contains(&next) {
                self.path.push(next);
                if self.go_on(open) {
                    return true;
                }
                self.path.pop();
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(threads: usize, open: &[(usize, usize)], decided: &[(usize, usize)]) -> Architecture {
        let mut graph = Architecture::new(threads);
        open.iter().for_each(|&(p, q)| graph.open((p, 0), (q, 0)));
        decided.iter().for_each(|&(p, q)| graph.decided((p, 0), (q, 0)));
        graph
    }

    #[test]
    fn forests_and_stars_are_fine_and_triangles_are_not() {
        assert_eq!(graph(4, &[(0, 1), (1, 2), (2, 3)], &[]).cycle(), None);
        assert_eq!(graph(4, &[(0, 1), (0, 2), (0, 3)], &[(1, 2), (2, 3), (3, 1)]).cycle(), None);
        assert_eq!(graph(3, &[(0, 1), (1, 2), (2, 0)], &[]).cycle(), Some(Cycle::Through(vec![0, 1, 2])));
        // A ring of four with two open edges.
        assert_eq!(graph(4, &[(0, 1), (2, 3)], &[(1, 2), (3, 0)]).cycle(), None);
        assert!(graph(4, &[(0, 1), (1, 2), (2, 3)], &[(3, 0)]).cycle().is_some());
    }

    #[test]
    fn what_is_done_before_others_start_is_on_no_cycle() {
        let mut main = graph(5, &[(1, 2), (2, 3), (3, 4)], &[]);
        for child in 1..5 {
            main.decided((0, child as u32), (child, 0));
            main.decided((child, 0), (0, 5 + child as u32));
        }
        assert_eq!(main.cycle(), None);
        main.decided((1, 0), (0, 0));
        assert!(main.cycle().is_some());
    }

    #[test]
    fn a_block_ends_where_one_thread_separates() {
        let two = graph(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)], &[]);
        assert_eq!(two.block(0, 1), [0, 1, 2]);
        assert_eq!(two.block(3, 4), [2, 3, 4]);
        let bridge = graph(3, &[(0, 1), (1, 2)], &[]);
        assert_eq!(bridge.block(0, 1), [0, 1]);
    }

    #[test]
    fn too_many_threads_to_be_sure() {
        let upwards: Vec<(usize, usize)> = (0..24).flat_map(|q| (0..q).map(move |p| (p, q))).collect();
        assert_eq!(graph(24, &[(0, 1), (1, 2), (2, 3)], &upwards).cycle(), Some(Cycle::Perhaps));
        // Two open edges, or a star: no need to look.
        assert_eq!(graph(24, &[(0, 1), (1, 2)], &upwards).cycle(), None);
        assert_eq!(graph(24, &[(0, 1), (0, 2), (0, 3)], &upwards).cycle(), None);
    }
}
