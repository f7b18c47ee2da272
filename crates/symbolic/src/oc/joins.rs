//! Who waits for whom.
//!
//! A wait for a thread is over when that thread has ended, and what the thread did comes before what follows the wait. Which thread it is depends on the handle, a value like any other; so these
//! orders are under conditions: a wait on one side of a branch orders nothing if the other side is taken.

use super::graph::{Action, Graph, Node, Planned, Stuck};
use super::unroll::Fail;
use raddle_engine::Refusal;
use raddle_machine::Code;
use raddle_solve::Term;

/// A node is before another if a condition holds.
pub(super) type Edge = (Term, Node, Node);

/// Says when joins are over and when they fail, and returns what they order.
pub(super) fn join_threads(code: &Code, graph: &mut Graph) -> Result<Vec<Edge>, Fail> {
    let mut edges = Vec::new();
    let joins = graph.joins.clone();
    // By join and thread: that the one is of the other.
    let mut matches: Vec<Vec<(usize, Term)>> = Vec::new();
    for join in &joins {
        let mut of = Vec::new();
        for number in 0..graph.threads.len() {
            let thread = &graph.threads[number];
            let (id, guard) = (thread.id, thread.guard);
            let handle = graph.terms.constant(64, u64::from(id.0) + 1);
            let is = graph.terms.eq(join.handle, handle);
            let is = graph.terms.and(is, guard);
            if graph.terms.is_false(is) || number == 0 {
                continue;
            }
            match graph.started(join.thread, join.steps, number) {
                Some(true) => of.push((number, is)),
                Some(false) => {}
                None => {
                    let message =
                        "the engine `oc` does not know whether the thread that this waits for has been started";
                    return Err(Fail::Refused(Box::new(Refusal::at(code, join.pc, message))));
                }
            }
        }
        matches.push(of);
    }
    for (at, join) in joins.iter().enumerate() {
        let mut known = graph.terms.bool(false);
        let mut again = known;
        let mut ended = known;
        for &(number, is) in &matches[at] {
            known = graph.terms.or(known, is);
            for (earlier, others) in joins.iter().zip(&matches) {
                let Some(&(_, was)) = others.iter().find(|other| other.0 == number) else { continue };
                if earlier.node == join.node && earlier.steps == join.steps {
                    continue;
                }
                if earlier.thread != join.thread {
                    let message = "the engine `oc` takes no two threads that may wait for the same one";
                    return Err(Fail::Refused(Box::new(Refusal::at(code, join.pc, message))));
                }
                if earlier.steps < join.steps {
                    let both = graph.terms.all([earlier.over, was, is]);
                    again = graph.terms.or(again, both);
                }
            }
            for (guard, behind, result) in graph.threads[number].ends.clone() {
                let here = graph.terms.all([join.over, is, guard]);
                ended = graph.terms.or(ended, here);
                edges.extend(behind.iter().map(|&node| (here, node, join.node)));
                let same = graph.terms.eq(join.result, result);
                graph.require(here, same);
            }
        }
        let unknown = graph.terms.not(known);
        let fails = graph.terms.or(unknown, again);
        let fails = graph.terms.and(join.guard, fails);
        let exact = graph.terms.eq(join.fails, fails);
        graph.constraints.push(exact);
        let fine = graph.terms.and_not(ended, fails);
        graph.require(join.over, fine);
        // Whoever waits for one that does not end is stuck.
        let mut ends = graph.terms.bool(false);
        for &(number, is) in &matches[at] {
            let of: Vec<Term> = graph.threads[number].ends.iter().map(|end| end.0).collect();
            let end = graph.terms.any(of);
            let end = graph.terms.and(is, end);
            ends = graph.terms.or(ends, end);
        }
        let stays = graph.terms.any([join.over, fails, ends]);
        let guard = graph.terms.and_not(join.guard, stays);
        graph.stuck.push(Stuck { thread: join.thread, guard, pc: join.pc, looks: false });
    }
    Ok(edges)
}

impl Graph {
    /// Whether a thread has been started when another one has done so many entries of its plan, if that can be told.
    fn started(&self, thread: usize, steps: usize, started: usize) -> Option<bool> {
        if let Some(at) = self.starts(thread, started) {
            return Some(at < steps);
        }
        // Of threads with the same name there is one in an execution: on different ways the so many-th child is unrolled for each.
        let (here, there) = (self.ancestors(thread), self.ancestors(started));
        let is_other = |one: usize, other: usize| one != other && self.threads[one].id == self.threads[other].id;
        if here.iter().any(|&one| there.iter().any(|&other| is_other(one, other))) {
            return Some(false);
        }
        // What those had done by then who started this thread, and those who started them, has been done.
        let mut younger = thread;
        while let Some(parent) = self.parent(younger) {
            if let (Some(at), Some(end)) = (self.starts(parent, started), self.starts(parent, younger)) {
                return (at < end).then_some(true);
            }
            younger = parent;
        }
        None
    }

    fn parent(&self, thread: usize) -> Option<usize> {
        (0..self.threads.len()).find(|&parent| self.starts(parent, thread).is_some())
    }

    /// A thread, who started it, who started that one, and so on.
    fn ancestors(&self, thread: usize) -> Vec<usize> {
        std::iter::successors(Some(thread), |&thread| self.parent(thread)).collect()
    }

    /// Where in the plan of a thread another one is started.
    fn starts(&self, thread: usize, started: usize) -> Option<usize> {
        let is = |planned: &Planned| matches!(planned.action, Action::Spawn(number) if number == started);
        self.threads[thread].plan.iter().position(is)
    }
}
