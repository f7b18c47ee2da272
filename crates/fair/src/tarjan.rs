//! Strongly connected components of a part of a labelled graph (Tarjan 1972), without recursion. Linear; what it notes of vertices is kept from one part to the next.

use crate::graph::Vertex;
use crate::labelled::{Edge, Labelled};

/// The search, and what it notes of vertices.
pub(crate) struct Tarjan {
    /// When a vertex was met, from 1; 0 if it was not.
    met: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
}

impl Tarjan {
    pub(crate) fn new(vertices: usize) -> Self {
        Tarjan { met: vec![0; vertices], low: vec![0; vertices], on_stack: vec![false; vertices] }
    }

    /// The components of these vertices by these edges.
    pub(crate) fn components(
        &mut self,
        graph: &Labelled,
        set: &[Vertex],
        inside: &dyn Fn(Edge) -> bool,
    ) -> Vec<Vec<Vertex>> {
        for &vertex in set {
            self.met[vertex as usize] = 0;
        }
        let (mut clock, mut stack, mut components) = (0, Vec::new(), Vec::new());
        for &root in set {
            if self.met[root as usize] != 0 {
                continue;
            }
            let mut way: Vec<(Vertex, Edge)> = Vec::new();
            self.enter(root, &mut clock, &mut stack);
            way.push((root, graph.from(root).start));
            while let Some((vertex, next)) = way.last_mut() {
                let vertex = *vertex;
                if *next < graph.from(vertex).end {
                    let edge = *next;
                    *next += 1;
                    if !inside(edge) {
                        continue;
                    }
                    let target = graph.target(edge);
                    if self.met[target as usize] == 0 {
                        self.enter(target, &mut clock, &mut stack);
                        way.push((target, graph.from(target).start));
                    } else if self.on_stack[target as usize] {
                        self.low[vertex as usize] = self.low[vertex as usize].min(self.met[target as usize]);
                    }
                    continue;
                }
                way.pop();
                if let Some(&(above, _)) = way.last() {
                    self.low[above as usize] = self.low[above as usize].min(self.low[vertex as usize]);
                }
                if self.low[vertex as usize] == self.met[vertex as usize] {
                    let mut component = Vec::new();
                    loop {
                        let one = stack.pop().expect("the root is on it");
                        self.on_stack[one as usize] = false;
                        component.push(one);
                        if one == vertex {
                            break;
                        }
                    }
                    components.push(component);
                }
            }
        }
        components
    }

    fn enter(&mut self, vertex: Vertex, clock: &mut u32, stack: &mut Vec<Vertex>) {
        *clock += 1;
        self.met[vertex as usize] = *clock;
        self.low[vertex as usize] = *clock;
        self.on_stack[vertex as usize] = true;
        stack.push(vertex);
    }
}
