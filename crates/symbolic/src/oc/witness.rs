//! From an execution to a schedule of the machine.
//!
//! Of the nodes of an execution those are needed that come before the end in question; the rest is left out, lest another thread fails on the way. Steps that belong to no node
//! are taken as soon as their thread gets to them.

use super::graph::{Action, Event, Failure, Graph, Node};
use super::search::Execution;
use raddle_machine::Code;
use raddle_trace::{Model, Schedule, Step, ThreadId};
use rustc_hash::FxHashSet;

struct Writer<'g> {
    code: &'g Code,
    graph: &'g Graph,
    execution: &'g Execution,
    /// How many entries of its plan each thread is to take.
    until: Vec<usize>,
    /// By thread: how many of its steps are written.
    taken: Vec<usize>,
    steps: Vec<Step>,
}

impl Writer<'_> {
    /// Takes the steps of a thread in this node, and those behind it that are in none.
    fn run(&mut self, thread: usize, mut node: Option<Node>) {
        let mut children = Vec::new();
        while let Some(&(at, pick)) = self.execution.plans[thread].get(self.taken[thread]) {
            let planned = self.graph.threads[thread].plan[at];
            if at >= self.until[thread] || (planned.node.is_some() && planned.node != node) {
                break;
            }
            node = planned.node;
            self.taken[thread] += 1;
            let id = self.graph.threads[thread].id;
            match planned.action {
                Action::Run => self.steps.push(Step::Run(id)),
                Action::Arrive => self.arrive(node),
                Action::Wake(_) if pick == 0 => self.steps.push(Step::Run(id)),
                Action::Wake(_) => self.steps.push(Step::Choose(id, pick as u32 - 1)),
                Action::Pick(_) => self.steps.push(Step::Choose(id, pick as u32)),
                Action::Input(_, values) => {
                    let pick = self.code.input_values(values).pick(pick);
                    self.steps.push(Step::Choose(id, pick.unwrap_or(0)));
                }
                Action::Spawn(child) => {
                    self.steps.push(Step::Run(id));
                    children.push(child);
                }
            }
        }
        // Those who are started in an atomic block cannot move before its end.
        for child in children {
            self.run(child, None);
        }
    }
}

impl Writer<'_> {
    /// A store arrives in this node.
    fn arrive(&mut self, node: Option<Node>) {
        let Some(&(thread, addr)) = node.and_then(|node| self.execution.arrivals.get(&node)) else { return };
        let id = self.graph.threads[thread].id;
        self.steps.push(flush(self.graph.model, id, addr));
    }
}

/// The schedule of a whole execution, and of those who look in vain behind it.
pub(super) fn whole_schedule(code: &Code, graph: &Graph, execution: &Execution) -> Schedule {
    let until = vec![usize::MAX; graph.threads.len()];
    let mut schedule = write(code, graph, execution, until, |_| true);
    let stuck = execution.stuck.iter().map(|&at| graph.stuck[at]);
    let looks = stuck.filter(|stuck| stuck.looks).map(|stuck| Step::Run(graph.threads[stuck.thread].id));
    schedule.steps.extend(looks);
    schedule
}

/// The schedule of an execution up to two accesses that are next, and of these. If the first one depends on what it finds, all that comes before it is needed.
pub(super) fn race_schedule(
    code: &Code,
    graph: &Graph,
    execution: &Execution,
    nodes: [Node; 2],
    depends: bool,
) -> Schedule {
    let before = |node: Node| graph.edges.iter().filter(move |edge| edge.1 == node).map(|edge| edge.0);
    let happens: FxHashSet<Node> = execution.nodes.iter().copied().collect();
    let mut needed: FxHashSet<Node> = FxHashSet::default();
    let mut todo = nodes.to_vec();
    while let Some(node) = todo.pop() {
        // What does not happen has something before it that does.
        todo.extend(before(node).filter(|&earlier| needed.insert(earlier) && !happens.contains(&earlier)));
    }
    for &node in &execution.nodes {
        let found = depends && execution.is_before(node, nodes[0]);
        if found || needed.iter().any(|&other| execution.is_before(node, other)) {
            needed.insert(node);
        }
    }
    let until = vec![usize::MAX; graph.threads.len()];
    let mut schedule = write(code, graph, execution, until, |node| needed.contains(&node));
    for node in nodes {
        let whose = graph.threads.iter().find(|thread| thread.plan.iter().any(|planned| planned.node == Some(node)));
        let Some(thread) = whose else { continue };
        // What an update comes behind need not come before the other access, and can arrive now.
        let owner = graph.owners[node as usize];
        for &earlier in execution.nodes.iter().filter(|&&earlier| execution.is_before(earlier, node)) {
            let arrival = execution.arrivals.get(&earlier).filter(|arrival| arrival.0 == owner);
            if let Some(&(_, addr)) = arrival.filter(|_| needed.insert(earlier)) {
                schedule.steps.push(flush(graph.model, thread.id, addr));
            }
        }
        schedule.steps.push(Step::Run(thread.id));
    }
    schedule
}

/// The schedule of an execution up to a race of an access in an atomic block with one outside.
pub(super) fn block_race_schedule(
    code: &Code,
    graph: &Graph,
    execution: &Execution,
    block: Node,
    outside: &Event,
) -> Schedule {
    let in_vain = outside.may_be_in_vain();
    let mut needed: FxHashSet<Node> = [block].into_iter().collect();
    if in_vain {
        needed.extend(graph.edges.iter().filter(|edge| edge.1 == outside.issued).map(|edge| edge.0));
    } else {
        needed.insert(outside.issued);
    }
    for &node in &execution.nodes {
        if needed.iter().any(|&other| execution.is_before(node, other)) {
            needed.insert(node);
        }
    }
    let until = vec![usize::MAX; graph.threads.len()];
    let mut schedule = write(code, graph, execution, until, |node| needed.contains(&node));
    if in_vain {
        schedule.steps.push(Step::Run(graph.threads[graph.owners[outside.issued as usize]].id));
    }
    schedule
}

/// A store to this address arrives.
fn flush(model: Model, thread: ThreadId, addr: u64) -> Step {
    if model == Model::Tso { Step::Flush(thread) } else { Step::FlushAt(thread, addr) }
}

/// The schedule of an execution up to a failure.
pub(super) fn schedule(code: &Code, graph: &Graph, execution: &Execution, failure: &Failure) -> Schedule {
    let (thread, steps) = (failure.thread, failure.steps);
    let mut until = vec![usize::MAX; graph.threads.len()];
    let mut needed: FxHashSet<Node> = failure.arrival.into_iter().collect();
    if failure.arrival.is_none() {
        until[thread] = steps;
        // The nodes of the thread that count, and all that are before them.
        let own = execution.plans[thread].iter().filter(|(at, _)| *at < steps);
        needed.extend(own.filter_map(|&(at, _)| graph.threads[thread].plan[at].node));
    }
    // It has to be started, and so have those who start it.
    let mut young = thread;
    while let Some((parent, at)) = (0..graph.threads.len()).find_map(|parent| {
        let plan = &graph.threads[parent].plan;
        let at = plan.iter().position(|planned| matches!(planned.action, Action::Spawn(child) if child == young))?;
        Some((parent, at))
    }) {
        let before = execution.plans[parent].iter().filter(|(step, _)| *step <= at);
        needed.extend(before.filter_map(|&(step, _)| graph.threads[parent].plan[step].node));
        young = parent;
    }
    for &node in &execution.nodes {
        let leads = needed.iter().any(|&other| execution.is_before(node, other));
        if leads {
            needed.insert(node);
        }
    }
    write(code, graph, execution, until, |node| needed.contains(&node))
}

fn write(
    code: &Code,
    graph: &Graph,
    execution: &Execution,
    until: Vec<usize>,
    is_needed: impl Fn(Node) -> bool,
) -> Schedule {
    let count = graph.threads.len();
    let mut writer = Writer { code, graph, execution, until, taken: vec![0; count], steps: Vec::new() };
    writer.run(0, None);
    for &node in execution.nodes.iter().filter(|&&node| is_needed(node)) {
        let whose = (0..count).find(|&thread| {
            let next = execution.plans[thread].get(writer.taken[thread]);
            next.is_some_and(|&(at, _)| graph.threads[thread].plan[at].node == Some(node))
        });
        match whose {
            Some(whose) => writer.run(whose, Some(node)),
            None => writer.arrive(Some(node)),
        }
    }
    Schedule { steps: writer.steps }
}
