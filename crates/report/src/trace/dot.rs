//! A trace as a graph: reads-from in green, and the cycle in red if there is one.

use super::{Found, Moment, Thread, Tie, Trace};
use crate::dot::{Graph, quote};
use raddle_trace::{EventId, ThreadId};
use std::collections::BTreeSet;

impl Trace {
    pub(super) fn graph(&self) -> String {
        let clash = match &self.found {
            Found::Inconsistent(clash) => clash.as_ref(),
            _ => None,
        };
        let cycle: &[Tie] = clash.map_or(&[], |clash| &clash.cycle);
        let clashing: BTreeSet<EventId> =
            clash.iter().flat_map(|clash| &clash.events).map(|(event, _)| *event).collect();
        let mut graph = Graph::new("trace");
        for (id, thread) in self.each_thread() {
            graph.cluster(&id.0.to_string(), &thread.name, |graph| {
                for (index, event) in thread.events.iter().enumerate() {
                    let id = EventId::new(id, index as u32);
                    let colour = if clashing.contains(&id) { ", color=red, penwidth=2" } else { "" };
                    graph.node(&node(Moment::Does(id)), &format!("{}\n{}", self.name(id), event.words), colour);
                    if let Some(before) = id.index.checked_sub(1) {
                        let before = Moment::Does(EventId::new(id.thread, before));
                        graph.edge(&node(before), &node(Moment::Does(id)), "weight=10");
                    }
                }
            });
        }
        let extra: BTreeSet<Moment> =
            cycle.iter().map(|tie| tie.from).filter(|moment| !matches!(moment, Moment::Does(_))).collect();
        for &moment in &extra {
            let what = if let Moment::Reaches(_) = moment { "\nin memory" } else { "" };
            graph.node(&node(moment), &format!("{}{what}", self.short(moment)), ", style=dashed, color=red");
        }
        for (id, thread) in self.each_thread() {
            for (index, event) in thread.events.iter().enumerate() {
                if let Some(write) = event.source {
                    let read = Moment::Does(EventId::new(id, index as u32));
                    graph.relation(&node(Moment::Does(write)), &node(read), "rf", "forestgreen");
                }
            }
        }
        for tie in cycle {
            let why = format!("label={}, color=red, fontcolor=red, penwidth=2", quote(&tie.text));
            graph.edge(&node(tie.from), &node(tie.to), &why);
        }
        graph.finish()
    }

    fn each_thread(&self) -> impl Iterator<Item = (ThreadId, &Thread)> {
        self.threads.iter().enumerate().map(|(number, thread)| (ThreadId(number as u32), thread))
    }
}

/// The name of a moment in a graph.
fn node(moment: Moment) -> String {
    match moment {
        Moment::Does(event) => format!("e{}_{}", event.thread.0, event.index),
        Moment::Reaches(event) => format!("m{}_{}", event.thread.0, event.index),
        Moment::Ends(thread) => format!("end{}", thread.0),
    }
}
