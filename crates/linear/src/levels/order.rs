//! An order of operations that grows by edges, with the past of each as one number for each process.
//!
//! Operations of a process are in the order they were called; whatever lies before an operation is of each process a beginning. So the past of an operation is
//! how much of each process it holds, and "is before" costs one look.

use std::collections::VecDeque;

/// Operations of several processes and what is known of their order.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The process of each operation and its place there.
    pub(super) place: Vec<(u32, u32)>,
    /// The operations of each process.
    pub(super) processes: Vec<Vec<u32>>,
    /// Edges besides the order of the processes.
    edges: Vec<Vec<u32>>,
    /// `clocks[operation * processes + process]`: how many operations of the process are before it, itself included.
    clocks: Vec<u32>,
}

impl Order {
    /// The order of the processes alone.
    pub(super) fn new(processes: Vec<Vec<u32>>, operations: usize) -> Order {
        let mut place = vec![(0, 0); operations];
        for (process, list) in processes.iter().enumerate() {
            for (at, &operation) in list.iter().enumerate() {
                place[operation as usize] = (process as u32, at as u32);
            }
        }
        Order { place, edges: vec![Vec::new(); operations], clocks: Vec::new(), processes }
    }

    /// Adds an edge; [`Order::settle`] makes it count.
    pub(super) fn add(&mut self, from: u32, to: u32) {
        self.edges[from as usize].push(to);
    }

    fn next(&self, operation: u32) -> impl Iterator<Item = u32> + '_ {
        let (process, at) = self.place[operation as usize];
        let list = &self.processes[process as usize];
        // Operations that are left out stand in no list.
        let after = list.get(at as usize).filter(|other| **other == operation).and(list.get(at as usize + 1));
        self.edges[operation as usize].iter().copied().chain(after.copied())
    }

    /// Computes what is before what; a cycle, if there is one.
    pub(super) fn settle(&mut self) -> Result<(), Vec<u32>> {
        let (count, width) = (self.place.len(), self.processes.len());
        let mut entering = vec![0u32; count];
        (0..count as u32).for_each(|operation| self.next(operation).for_each(|to| entering[to as usize] += 1));
        let mut ready: Vec<u32> = (0..count as u32).filter(|&operation| entering[operation as usize] == 0).collect();
        self.clocks = vec![0; count * width];
        let mut passed = 0;
        while let Some(operation) = ready.pop() {
            passed += 1;
            let (process, at) = self.place[operation as usize];
            let mine = operation as usize * width;
            if self.processes[process as usize].get(at as usize) == Some(&operation) {
                self.clocks[mine + process as usize] = at + 1;
            }
            let next: Vec<u32> = self.next(operation).collect();
            for to in next {
                for process in 0..width {
                    let theirs = to as usize * width + process;
                    self.clocks[theirs] = self.clocks[theirs].max(self.clocks[mine + process]);
                }
                entering[to as usize] -= 1;
                if entering[to as usize] == 0 {
                    ready.push(to);
                }
            }
        }
        if passed == count { Ok(()) } else { Err(self.cycle(&entering)) }
    }

    /// A short cycle among the operations that something left enters.
    fn cycle(&self, entering: &[u32]) -> Vec<u32> {
        let left = |operation: u32| entering[operation as usize] > 0;
        // Going back along edges that are left one comes to a cycle; a shortest one through that operation is looked for.
        let mut before = vec![u32::MAX; self.place.len()];
        for operation in (0..self.place.len() as u32).filter(|&operation| left(operation)) {
            self.next(operation).for_each(|to| before[to as usize] = operation);
        }
        let mut at = (0..self.place.len() as u32).find(|&operation| left(operation)).unwrap_or(0);
        for _ in 0..self.place.len() {
            at = before[at as usize];
        }
        self.path(at, at)
    }

    /// A shortest path from one operation to another, both ends but for the last one named; itself if the two are the same and there is no way.
    pub(super) fn path(&self, from: u32, to: u32) -> Vec<u32> {
        let mut before = vec![u32::MAX; self.place.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(operation) = queue.pop_front() {
            for next in self.next(operation) {
                if next == to {
                    let (mut path, mut at) = (vec![operation], operation);
                    while at != from {
                        at = before[at as usize];
                        path.push(at);
                    }
                    path.reverse();
                    return path;
                }
                if before[next as usize] == u32::MAX && next != from {
                    before[next as usize] = operation;
                    queue.push_back(next);
                }
            }
        }
        vec![from]
    }

    /// How many operations of a process are before an operation.
    pub(super) fn past(&self, operation: u32, process: usize) -> u32 {
        self.clocks[operation as usize * self.processes.len() + process]
    }

    /// Whether one is before the other.
    pub(super) fn before(&self, one: u32, other: u32) -> bool {
        let (process, at) = self.place[one as usize];
        one != other && self.past(other, process as usize) > at
    }
}
