//! Ends of lives in programs with mailboxes: every error that some run has is told.
//!
//! The graphs that the search goes through are those of the program in which objects live for ever: an access beside the end of its object's life, and a second end, have the effect
//! that they would have then. When such a pair is added (see [`faults`](super::faults)) the run that shows it is looked for in what is there. There may be none yet, because the looper has to end a message first of
//! which the graph does not know the end, or because of a second error that has no part in the first. So the question is asked again at the end of each graph,
//! for each pair that the graph does not order.
//!
//! *Why that is enough.* Take a run that ends with such an error, and let it go on as if objects lived for ever. Its graph is one that the search meets, and does not drop: whether a graph is
//! [hopeless](super::mailboxes::is_hopeless) is asked without regard to lives. At its end the pair is there, not ordered the right way round, and there is a run in which
//! it is in the wrong order. Up to the first error of this kind any such run is one of the machine. So an error is told, if not always this one; usually each has been
//! told when it was added.
//!
//! Cost: one question to the verifier of mailboxes per such pair and end; none where happens-before keeps ends of lives behind accesses.

use super::event::{Event, Kind, NO_LOC, Slot};
use super::linearise::{executed, until_wrong};
use super::mailboxes::{race_along, run_beside_lives};
use super::models::Model;
use super::search::Search;
use super::step::Bug;
use raddle_machine::Addr;
use raddle_trace::Property;
use rustc_hash::FxHashSet;

impl<M: Model> Search<'_, M> {
    /// Errors about ends of lives in the graph at hand, which is that of an end.
    pub(super) fn wrong_lives(&mut self) {
        let graph = &self.levels.last().expect("the search is not over").graph;
        if graph.frees.is_empty() {
            return;
        }
        let base = |event: &Event| match event.kind {
            Kind::Free => Some(Addr(event.value).base()),
            _ if event.loc == NO_LOC => None,
            _ => Some(self.context.view.access(event.loc).addr.base()),
        };
        let executed = executed(graph);
        let mut pairs: Vec<(Slot, Slot)> = Vec::new();
        for &free in graph.frees.iter().filter(|&&free| executed.contains(free as usize)) {
            let own = base(graph.event(free));
            let others = graph.order.iter().filter(|&&slot| slot != free && base(graph.event(slot)) == own);
            pairs.extend(others.filter(|&&slot| !graph.before(slot, free)).map(|&slot| (free, slot)));
        }
        for (free, slot) in pairs {
            let places = (graph.event(free).pc, graph.event(slot).pc);
            if self.known_ends.contains(&places) {
                continue;
            }
            // What a thread waits for is looked at, too.
            let mut events = executed.clone();
            events.insert(slot as usize);
            let Some(order) = run_beside_lives(&mut self.context, graph, &events, (free, slot)) else { continue };
            let (context, mut ended) = (&self.context, FxHashSet::default());
            let breaks = |event: &Event| match event.kind {
                Kind::Free => !ended.insert(Addr(event.value).base()),
                _ if event.loc == NO_LOC => false,
                _ => ended.contains(&context.view.access(event.loc).addr.base()),
            };
            let Some((wrong, schedule)) = until_wrong(context, graph, &order, &events, breaks) else { continue };
            let pc = graph.event(wrong).pc;
            if pc == places.1 {
                self.known_ends.insert(places);
            }
            let looks = context.looks_for_races();
            let race = looks.then(|| race_along(context.code, context.shared.options.model, &schedule)).flatten();
            let (property, target, attempt, forced) = (Property::Memory, Some(wrong), None, None);
            let bug = Bug { property, pc, target, attempt, forced, schedule: Some(schedule) };
            self.bugs.push(race.unwrap_or(bug));
        }
    }
}
