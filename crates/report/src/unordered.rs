//! Why two events are not ordered: a read that misses a newer write, where there is no single memory, and two accesses that race.
//!
//! A write that happens before a read cannot be missed, and accesses that are ordered do not race. So either nothing leads from one to the other, neither reads nor starts and ends
//! of threads; or something does, but a read on the way did not synchronise with what it read: the write does not release, or the read does not acquire. Those pairs,
//! as few as would have to be mended, are what the sentence names, and what a person may want to change.

use crate::happens_before::{HappensBefore, Link, Rule};
use crate::wording::{HARD_BLANK, Wording};
use raddle_trace::execution::{Entry, Racing};
use raddle_trace::{Action, Event, EventId, EventName, Execution, Model, Ordering, Place, Source, ThreadName};

/// How many sentences there are at most about reads.
const SENTENCES: usize = 3;

/// Why the last reads that missed something may, and why the accesses that race are not ordered.
pub(crate) fn sentences(execution: &Execution) -> Vec<String> {
    let mut found = Vec::new();
    if Model::AXIOMATIC.contains(&execution.model) {
        let run =
            Run { order: HappensBefore::new(execution, rule(execution.model), None), wording: Wording::new(execution) };
        let events = run.order.events.iter().enumerate();
        let missing: Vec<_> = events.filter_map(|(at, event)| Some((at, run.wording.missed(event)?))).collect();
        let last = missing.len().saturating_sub(SENTENCES);
        found.extend(missing[last..].iter().map(|&(read, write)| run.miss(read, write)));
    }
    for race in races(execution) {
        let run = Run {
            order: HappensBefore::new(execution, Rule::Orderings, Some(&race.access)),
            wording: Wording::new(execution),
        };
        found.extend(
            run.order.place(race.with).map(|with| run.race(with, run.order.events.len() - 1, &race.access.place)),
        );
    }
    found.into_iter().map(|sentence| sentence.replace(HARD_BLANK, " ")).collect()
}

/// What synchronises under a model, data races apart.
pub(crate) fn rule(model: Model) -> Rule {
    if matches!(model, Model::Wra | Model::Ra | Model::Sra) { Rule::Reads } else { Rule::Orderings }
}

/// An access that was not done, since it races.
pub(crate) struct Race {
    /// The access before it.
    pub(crate) with: EventName,
    /// The event that it would have been.
    pub(crate) access: Event,
}

/// The races at the end of a run.
pub(crate) fn races(execution: &Execution) -> impl Iterator<Item = Race> + '_ {
    execution.steps.iter().filter_map(|step| match step {
        Entry::Failure { thread: Some(thread), place, race: Some(race), .. } => {
            Some(Race { with: race.with, access: access(execution, *thread, race, place) })
        }
        _ => None,
    })
}

fn access(execution: &Execution, thread: ThreadName, race: &Racing, place: &Place) -> Event {
    let index = execution.events().filter(|event| event.id.thread == thread).count();
    let location = execution.event(race.with).and_then(|event| event.action.location()).unwrap_or_default().to_owned();
    let from = race.from.map_or(Source::Initial, Source::Write);
    let action = Action::Read { what: "load".to_owned(), location, value: 0, from };
    let id = EventId::new(thread, u32::try_from(index).unwrap_or(u32::MAX));
    Event { id, action, order: Some(race.order), place: place.clone() }
}

struct Run<'e> {
    order: HappensBefore<'e>,
    wording: Wording<'e>,
}

impl Run<'_> {
    fn miss(&self, read: usize, write: EventName) -> String {
        let event = self.order.events[read];
        let start = format!("{} may miss {}", self.wording.name(event.id), self.wording.name(write));
        let links = self.order.place(write).and_then(|write| self.order.missing(write, read)).unwrap_or_default();
        if links.is_empty() {
            return format!("{start}: nothing that {} has read or waited for comes after it", event.id.thread);
        }
        let wrong: Vec<String> = links.iter().flat_map(|link| self.wrong(link, |id| self.wording.name(id))).collect();
        format!("{start}: {}, so nothing orders them", wrong.join(", and "))
    }

    fn race(&self, with: usize, access: usize, place: &Place) -> String {
        let events = &self.order.events;
        let line = |place: &Place| if place.line > 0 { format!(" (line {})", place.line) } else { String::new() };
        let name = |id: EventName| match self.order.place(id) {
            Some(at) if at == access => format!("{}'s access{}", id.thread, line(place)),
            Some(at) => format!("{}{}", self.wording.name(id), line(&events[at].place)),
            None => self.wording.name(id),
        };
        let (first, second) = (events[with].id, events[access].id);
        let Some(links) = self.order.missing(with, access).filter(|links| !links.is_empty()) else {
            let known = self.order.clocks().known(access, first.thread).checked_sub(1);
            let known = match known.map(|index| EventId::new(first.thread, index)) {
                Some(last) => format!("the last that {} knows of {} is {}", second.thread, first.thread, name(last)),
                None => format!("{} knows of nothing that {} did", second.thread, first.thread),
            };
            return format!(
                "nothing orders them: after {} no synchronisation leads from {} to {}; {known}",
                name(first),
                first.thread,
                second.thread
            );
        };
        let words = links.iter().map(|link| {
            let (source, reader) = (name(events[link.source].id), name(events[link.reader].id));
            let so = match (link.releases, link.acquires) {
                (false, false) => "they do not synchronise".to_owned(),
                (false, true) => format!("{reader}, which reads it, does not synchronise with it"),
                _ => format!("it does not synchronise with {source}"),
            };
            format!("{}, so {so}", self.wrong(link, name).join(", and "))
        });
        let words: Vec<String> = words.collect();
        format!("nothing orders them: {}", words.join("; "))
    }

    /// Which orderings of a pair are too weak.
    fn wrong(&self, link: &Link, name: impl Fn(EventName) -> String) -> Vec<String> {
        let (write, reader) = (self.order.events[link.write], self.order.events[link.reader]);
        let location = reader.action.location().unwrap_or_default();
        let mut wrong = Vec::new();
        if !link.releases {
            wrong.push(format!("{} writes {location} with {}, not release", name(write.id), order(write)));
        }
        if !link.acquires {
            wrong.push(format!("{} reads {location} with {}, not acquire", name(reader.id), order(reader)));
        }
        wrong
    }
}

/// The ordering of an event, as C calls it.
fn order(event: &Event) -> &'static str {
    event.order.map_or("an ordinary access", ordering)
}

/// An ordering, as C calls it.
pub(crate) fn ordering(order: Ordering) -> &'static str {
    match order {
        Ordering::NonAtomic => "an ordinary access",
        Ordering::Relaxed => "relaxed",
        Ordering::Acquire => "acquire",
        Ordering::Release => "release",
        Ordering::AcqRel => "acq_rel",
        Ordering::SeqCst => "seq_cst",
    }
}
