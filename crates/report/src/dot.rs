//! The execution as a graph for Graphviz.
//!
//! A cluster per thread, an event per node. Edges: program order (black), thread start and end (grey), reads-from (green),
//! coherence (blue, from each write to the next of its location), from-read (orange, from each read to the write that follows the one it read).
//! The initial values that were read are nodes of their own. Under store buffers coherence is the order in which
//! writes reach memory; a write that is still buffered at the end has no coherence edge.

use crate::wording::{HARD_BLANK, Wording};
use raddle_trace::execution::Entry;
use raddle_trace::{Action, EventName, Execution, Source, ThreadName};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The graph in the language of `dot`.
pub fn dot(execution: &Execution) -> String {
    let mut out = String::from("digraph execution {\n");
    out += "  rankdir=TB; newrank=true; fontname=\"sans-serif\";\n";
    out += "  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11];\n";
    out += "  edge [fontname=\"sans-serif\", fontsize=9];\n";
    write_graph(&mut out, execution).expect("a string takes everything");
    out += "}\n";
    out
}

fn write_graph(out: &mut String, execution: &Execution) -> std::fmt::Result {
    let initial: BTreeSet<&str> = execution
        .events()
        .filter(|event| event.action.source() == Some(Source::Initial))
        .filter_map(|event| event.action.location())
        .collect();
    for (number, location) in initial.iter().enumerate() {
        writeln!(out, "  init{number} [label={}, style=dashed];", quote(&format!("{location}: initial")))?;
    }
    clusters(out, execution)?;
    starts_and_ends(out, execution)?;

    let order = Coherence::new(execution);
    for event in execution.events() {
        let Some(source) = event.action.source() else { continue };
        let location = event.action.location().unwrap_or_default();
        let from = match source {
            Source::Initial => format!("init{}", initial.iter().position(|&name| name == location).unwrap_or(0)),
            Source::Write(write) | Source::Buffer(write) => node(write),
        };
        edge(out, &from, &node(event.id), "rf", "forestgreen")?;
        if let Some(next) = order.after(location, source.write())
            && next != event.id
        {
            edge(out, &node(event.id), &node(next), "fr", "darkorange")?;
        }
    }
    for (location, writes) in &execution.coherence {
        if let (Some(number), Some(&first)) = (initial.iter().position(|name| name == location), writes.first()) {
            edge(out, &format!("init{number}"), &node(first), "co", "royalblue")?;
        }
        for pair in writes.windows(2) {
            edge(out, &node(pair[0]), &node(pair[1]), "co", "royalblue")?;
        }
    }
    Ok(())
}

fn clusters(out: &mut String, execution: &Execution) -> std::fmt::Result {
    let wording = Wording::new(execution);
    let mut columns: BTreeMap<ThreadName, Vec<(String, String, bool)>> = BTreeMap::new();
    for (at, step) in execution.steps.iter().enumerate() {
        let words = wording.step(step).replace(HARD_BLANK, " ");
        let (thread, name, place, failed) = match step {
            Entry::Event { event, .. } => (event.id.thread, node(event.id), &event.place, false),
            Entry::Failure { thread: Some(thread), place, .. } => {
                (*thread, format!("failure_{}", word(*thread)), place, true)
            }
            _ => continue,
        };
        let number = if failed { "✗ ".to_owned() } else { format!("{}. ", wording.number(at)) };
        let line = if place.line > 0 { format!("\n{}: {}", place.line, place.text) } else { String::new() };
        columns.entry(thread).or_default().push((name, format!("{number}{words}{line}"), failed));
    }
    for (thread, nodes) in &columns {
        let function = execution.function(*thread).unwrap_or_default();
        writeln!(out, "  subgraph cluster_{} {{", word(*thread))?;
        writeln!(out, "    label={}; color=grey; style=rounded;", quote(&format!("{thread} {function}")))?;
        for (name, label, failed) in nodes {
            let colour = if *failed { ", color=red, fontcolor=red, penwidth=2" } else { "" };
            writeln!(out, "    {name} [label={}{colour}];", quote(label))?;
        }
        for pair in nodes.windows(2) {
            writeln!(out, "    {} -> {} [weight=10];", pair[0].0, pair[1].0)?;
        }
        writeln!(out, "  }}")?;
    }
    Ok(())
}

fn starts_and_ends(out: &mut String, execution: &Execution) -> std::fmt::Result {
    let of = |thread: ThreadName| execution.events().filter(move |event| event.id.thread == thread);
    for event in execution.events() {
        let ends = match event.action {
            Action::Spawn { child, .. } => of(child).next().map(|first| (event.id, first.id)),
            Action::Join { child } => of(child).last().map(|last| (last.id, event.id)),
            _ => None,
        };
        if let Some((from, to)) = ends {
            writeln!(out, "  {} -> {} [color=grey, style=dashed];", node(from), node(to))?;
        }
    }
    Ok(())
}

/// Which write comes after which.
struct Coherence<'e> {
    execution: &'e Execution,
}

impl<'e> Coherence<'e> {
    fn new(execution: &'e Execution) -> Self {
        Coherence { execution }
    }

    /// The write to the location that follows this one (or the initial one).
    fn after(&self, location: &str, write: Option<EventName>) -> Option<EventName> {
        let writes = self.execution.coherence.get(location)?;
        match write {
            None => writes.first().copied(),
            Some(write) => {
                let at = writes.iter().position(|&other| other == write)?;
                writes.get(at + 1).copied()
            }
        }
    }
}

fn edge(out: &mut String, from: &str, to: &str, name: &str, colour: &str) -> std::fmt::Result {
    writeln!(out, "  {from} -> {to} [label={name}, color={colour}, fontcolor={colour}, constraint=false];")
}

fn node(id: EventName) -> String {
    format!("t{}_{}", word(id.thread), id.index)
}

/// A thread as part of an identifier.
fn word(thread: ThreadName) -> String {
    format!("{thread:#}").replace('.', "_")
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
