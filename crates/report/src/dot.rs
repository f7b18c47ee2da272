//! Graphs for Graphviz: a cluster per thread, an event per node.
//!
//! `Graph` is what all of them are written with. In the graph of an [`execution`] the edges are program order (black), thread start and end (grey),
//! reads-from (green; `rf, sw` where the read synchronises with the write), coherence (blue, from each write to the next of its location), from-read (orange, from each read to the write that
//! follows the one it read), synchronisation by fences (purple), happens-before between accesses of one location (dark grey) and races (red); `relations` says
//! which are drawn where. The initial values that were read are nodes of their own. Under store buffers coherence is the order in
//! which writes reach memory; a write that is still buffered at the end has no coherence edge.

use crate::relations::{End, Relation, Relations};
use crate::text::clean;
use crate::wording::{HARD_BLANK, Wording};
use raddle_trace::execution::Entry;
use raddle_trace::{Action, EventName, Execution, ThreadName};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// A graph in the language of `dot`, as it is being written. Labels are cleaned here; names and attributes are ours.
#[derive(Debug)]
pub(crate) struct Graph {
    out: String,
    indent: &'static str,
}

impl Graph {
    pub(crate) fn new(name: &str) -> Self {
        let out = format!(
            "digraph {name} {{\n  rankdir=TB; newrank=true; fontname=\"sans-serif\";\n  \
             node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11];\n  \
             edge [fontname=\"sans-serif\", fontsize=9];\n"
        );
        Graph { out, indent: "  " }
    }

    /// Nodes and edges of one thread.
    pub(crate) fn cluster(&mut self, thread: &str, label: &str, fill: impl FnOnce(&mut Graph)) {
        self.line(format_args!("subgraph cluster_{thread} {{"));
        self.indent = "    ";
        self.line(format_args!("label={}; color=grey; style=rounded;", quote(label)));
        fill(self);
        self.indent = "  ";
        self.line("}");
    }

    /// A node; the attributes are a list that goes on after the label, `, color=red`.
    pub(crate) fn node(&mut self, name: &str, label: &str, attributes: &str) {
        self.line(format_args!("{name} [label={}{attributes}];", quote(label)));
    }

    /// An edge without a label.
    pub(crate) fn edge(&mut self, from: &str, to: &str, attributes: &str) {
        self.line(format_args!("{from} -> {to} [{attributes}];"));
    }

    /// An edge of a relation, in its colour. The layout does not depend on it.
    pub(crate) fn relation(&mut self, from: &str, to: &str, name: &str, colour: &str) {
        self.edge(from, to, &format!("label={name}, color={colour}, fontcolor={colour}, constraint=false"));
    }

    fn line(&mut self, text: impl Display) {
        writeln!(self.out, "{}{text}", self.indent).expect("a string takes everything");
    }

    pub(crate) fn finish(self) -> String {
        self.out + "}\n"
    }
}

/// The text in quotes. It may have several lines, and nothing else a terminal would act upon, should the file be shown there.
pub(crate) fn quote(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| clean(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}

/// The graph of a run.
pub fn execution(execution: &Execution) -> String {
    let mut graph = Graph::new("execution");
    let relations = Relations::of(execution);
    for (number, location) in relations.initial.iter().enumerate() {
        graph.node(&format!("init{number}"), &format!("{location}: initial"), ", style=dashed");
    }
    clusters(&mut graph, execution);
    starts_and_ends(&mut graph, execution);
    for (from, to, relation) in relations.edges {
        let colour = match relation {
            Relation::ReadsFrom | Relation::ReadsAndSynchronises => "forestgreen",
            Relation::FromRead => "darkorange",
            Relation::Coherence => "royalblue",
            Relation::Synchronises => "purple",
            Relation::HappensBefore => "grey40",
            Relation::Race => "red",
        };
        let name = relation.name();
        let name = if name.contains(',') { quote(name) } else { name.to_owned() };
        graph.relation(&end(from), &end(to), &name, colour);
    }
    graph.finish()
}

fn end(end: End) -> String {
    match end {
        End::Initial(number) => format!("init{number}"),
        End::Event(id) => node(id),
        End::Failure(thread) => failure(thread),
    }
}

fn clusters(graph: &mut Graph, execution: &Execution) {
    let wording = Wording::new(execution);
    let mut columns: BTreeMap<ThreadName, Vec<(String, String, bool)>> = BTreeMap::new();
    for (at, step) in execution.steps.iter().enumerate() {
        let words = wording.step(step).replace([HARD_BLANK, '\n'], " ");
        let (thread, name, place, failed) = match step {
            Entry::Event { event, .. } => (event.id.thread, node(event.id), &event.place, false),
            Entry::Failure { thread: Some(thread), place, .. } => (*thread, failure(*thread), place, true),
            _ => continue,
        };
        let number = if failed { "✗ ".to_owned() } else { format!("{}. ", wording.number(at)) };
        let line = if place.line > 0 { format!("\n{}: {}", place.line, place.text) } else { String::new() };
        columns.entry(thread).or_default().push((name, format!("{number}{words}{line}"), failed));
    }
    for (&thread, nodes) in &columns {
        let function = execution.function(thread).unwrap_or_default();
        graph.cluster(&word(thread), &format!("{thread} {function}"), |graph| {
            for (name, label, failed) in nodes {
                graph.node(name, label, if *failed { ", color=red, fontcolor=red, penwidth=2" } else { "" });
            }
            for pair in nodes.windows(2) {
                graph.edge(&pair[0].0, &pair[1].0, "weight=10");
            }
        });
    }
}

fn starts_and_ends(graph: &mut Graph, execution: &Execution) {
    let of = |thread: ThreadName| execution.events().filter(move |event| event.id.thread == thread);
    for event in execution.events() {
        let ends = match event.action {
            Action::Spawn { child, .. } | Action::Post { message: child, .. } => {
                of(child).next().map(|first| (event.id, first.id))
            }
            Action::Join { child } => of(child).last().map(|last| (last.id, event.id)),
            _ => None,
        };
        if let Some((from, to)) = ends {
            graph.edge(&node(from), &node(to), "color=grey, style=dashed");
        }
    }
}

fn failure(thread: ThreadName) -> String {
    format!("failure_{}", word(thread))
}

fn node(id: EventName) -> String {
    format!("t{}_{}", word(id.thread), id.index)
}

/// A thread as part of an identifier.
fn word(thread: ThreadName) -> String {
    format!("{thread:#}").replace('.', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_between_their_quotes() {
        assert_eq!(quote("a\"b\\\n\u{1b}c"), "\"a\\\"b\\\\\\n\u{fffd}c\"");
    }
}
