//! The trace as a graph for Graphviz: a cluster per thread, reads-from in green, and the cycle in red if there is one.

use super::{Context, Finding, reason, short};
use crate::explain::{Moment, Tie};
use crate::instance::{Action, Source};
use raddle_trace::{EventId, ThreadId};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The graph in the language of `dot`.
pub fn dot(context: &Context<'_>) -> String {
    let mut out = String::from("digraph trace {\n");
    out += "  rankdir=TB; newrank=true; fontname=\"sans-serif\";\n";
    out += "  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11];\n";
    out += "  edge [fontname=\"sans-serif\", fontsize=9];\n";
    write(&mut out, context).expect("a string takes everything");
    out += "}\n";
    out
}

fn write(out: &mut String, context: &Context<'_>) -> std::fmt::Result {
    let trace = context.trace;
    let clash = match context.finding {
        Finding::Inconsistent(clash) => clash.as_ref(),
        _ => None,
    };
    let cycle: &[Tie] = clash.map_or(&[], |clash| &clash.cycle);
    let core: BTreeSet<EventId> = clash.map_or_else(BTreeSet::new, |clash| clash.events().collect());
    let extra: BTreeSet<Moment> =
        cycle.iter().map(|tie| tie.from).filter(|moment| !matches!(moment, Moment::Does(_))).collect();
    for thread in (0..trace.instance.threads() as u32).map(ThreadId) {
        writeln!(out, "  subgraph cluster_{} {{", thread.0)?;
        writeln!(out, "    label={}; color=grey; style=rounded;", quote(trace.thread(thread)))?;
        for index in 0..trace.instance.thread(thread).len() as u32 {
            let event = EventId::new(thread, index);
            let colour = if core.contains(&event) { ", color=red, penwidth=2" } else { "" };
            let label = quote(&format!("{}\n{}", trace.name(event), trace.words(event)));
            writeln!(out, "    {} [label={label}{colour}];", node(Moment::Does(event)))?;
            if index > 0 {
                let before = Moment::Does(EventId::new(thread, index - 1));
                writeln!(out, "    {} -> {} [weight=10];", node(before), node(Moment::Does(event)))?;
            }
        }
        writeln!(out, "  }}")?;
    }
    for &moment in &extra {
        let what = if let Moment::Reaches(_) = moment { "\nin memory" } else { "" };
        let label = quote(&format!("{}{what}", short(trace, moment)));
        writeln!(out, "  {} [label={label}, style=dashed, color=red];", node(moment))?;
    }
    for (event, action) in trace.instance.events() {
        if let Some(Source::Write(write)) = Action::source(action) {
            let (from, to) = (node(Moment::Does(write)), node(Moment::Does(event)));
            writeln!(out, "  {from} -> {to} [label=\"rf\", color=forestgreen, constraint=false];")?;
        }
    }
    for tie in cycle {
        let label = quote(&reason(trace, tie));
        let (from, to) = (node(tie.from), node(tie.to));
        writeln!(out, "  {from} -> {to} [label={label}, color=red, fontcolor=red, penwidth=2];")?;
    }
    Ok(())
}

fn node(moment: Moment) -> String {
    match moment {
        Moment::Does(event) => format!("e{}_{}", event.thread.0, event.index),
        Moment::Reaches(event) => format!("m{}_{}", event.thread.0, event.index),
        Moment::Ends(thread) => format!("end{}", thread.0),
    }
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
