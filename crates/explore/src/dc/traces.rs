//! Traces: sequences of all events in which every read reads from its source, and how to find one.

use super::basis::{self, Basis, Cut, NewRead, Question, include};
use crate::sequence::ends::Wanted;
use crate::sequence::{Alarm, Counters, Frontier, INITIAL, LocId};
use raddle_consistency::Interrupted;
use raddle_consistency::realise::Realiser;
use raddle_trace::EventId;

/// Finds traces of a set of events.
#[derive(Debug)]
pub(super) struct Traces<'c> {
    pub(super) realiser: Realiser,
    pub(super) alarm: Alarm<'c>,
}

impl Traces<'_> {
    /// A trace of all events and a new read, and some writes in this order. `trace` is one of the events without the read.
    pub(super) fn with_read(
        &mut self,
        frontier: &Frontier<'_>,
        trace: &[EventId],
        read: NewRead,
        orders: &[(EventId, EventId)],
        counters: &mut Counters,
    ) -> Result<Option<Vec<EventId>>, Interrupted> {
        if let Some(found) = place(frontier, trace, read) {
            return Ok(Some(found));
        }
        let mut cut = basis::all_reads(frontier);
        let count = frontier.events(read.thread).len() as u32;
        cut[read.thread.index()] = count;
        frontier.start(read.thread).into_iter().chain([read.source]).for_each(|id| include(&mut cut, id));
        orders.iter().flat_map(|&(a, b)| [a, b]).for_each(|id| include(&mut cut, id));
        basis::close(frontier, &mut cut);
        let question = Question { read: Some(read), orders, lasts: &[] };
        self.find(frontier, trace, &cut, question, counters)
    }

    /// A trace of all events with these orders.
    pub(super) fn with_orders(
        &mut self,
        frontier: &Frontier<'_>,
        trace: &[EventId],
        orders: &[(EventId, EventId)],
        counters: &mut Counters,
    ) -> Result<Option<Vec<EventId>>, Interrupted> {
        let cut = basis::everything(frontier);
        self.find(frontier, trace, &cut, Question { orders, ..Question::default() }, counters)
    }

    /// A trace of all events after which everybody waits, with these orders beside.
    pub(super) fn with_end(
        &mut self,
        frontier: &Frontier<'_>,
        trace: &[EventId],
        wanted: &Wanted,
        orders: &[(EventId, EventId)],
        counters: &mut Counters,
    ) -> Result<Option<Vec<EventId>>, Interrupted> {
        if wanted.holds_after(frontier, trace) {
            return Ok(Some(trace.to_vec()));
        }
        // Those that wait at one location wait for the same write to be overwritten.
        let mut lasts: Vec<(LocId, Vec<EventId>)> = Vec::new();
        for last in &wanted.lasts {
            match lasts.iter_mut().find(|(loc, _)| *loc == last.loc) {
                Some((_, sources)) => sources.retain(|source| last.sources.contains(source)),
                None => lasts.push((last.loc, last.sources.clone())),
            }
        }
        let orders = [orders, &wanted.orders].concat();
        let cut = basis::everything(frontier);
        // Every combination of writes, as an odometer.
        let mut picks = vec![0; lasts.len()];
        loop {
            let chosen = lasts.iter().zip(&picks).map(|((loc, sources), &pick)| Some((*loc, *sources.get(pick)?)));
            let Some(chosen) = chosen.collect::<Option<Vec<(LocId, EventId)>>>() else { return Ok(None) };
            let question = Question { read: None, orders: &orders, lasts: &chosen };
            if let Some(found) = self.find(frontier, trace, &cut, question, counters)? {
                return Ok(Some(found));
            }
            let Some(wheel) = (0..picks.len()).find(|&wheel| picks[wheel] + 1 < lasts[wheel].1.len()) else {
                return Ok(None);
            };
            picks[wheel] += 1;
            picks[..wheel].fill(0);
        }
    }

    /// A trace of the events of a cut and a new read, and then the other events. There must be no read among these.
    pub(super) fn find(
        &mut self,
        frontier: &Frontier<'_>,
        trace: &[EventId],
        cut: &Cut,
        question: Question<'_>,
        counters: &mut Counters,
    ) -> Result<Option<Vec<EventId>>, Interrupted> {
        counters.questions += 1;
        let basis = Basis::new(frontier, trace, cut, question);
        let Some(found) = self.realiser.realise(&basis.problem, &basis.sequence, &self.alarm)? else {
            counters.unrealisable += 1;
            return Ok(None);
        };
        let mut found = basis.events(cut, &found);
        found.extend(trace.iter().filter(|id| id.index >= cut[id.thread.index()]));
        Ok(Some(found))
    }
}

/// Puts the read into the trace at hand, if that is a trace: just before its source is overwritten, and after what it comes
/// after. An update must not come between another one and its source.
fn place(frontier: &Frontier<'_>, trace: &[EventId], read: NewRead) -> Option<Vec<EventId>> {
    let index = frontier.events(read.thread).len() as u32;
    let before = match index.checked_sub(1) {
        Some(last) => Some(EventId::new(read.thread, last)),
        None => frontier.start(read.thread),
    };
    let writes = |&id: &EventId| frontier.event(id).writes() && frontier.event(id).loc == read.loc;
    let after = |of: Option<EventId>| of.map_or(Some(0), |of| Some(trace.iter().position(|&id| id == of)? + 1));
    let source = after(Some(read.source).filter(|&source| source != INITIAL))?;
    let at = trace[source..].iter().position(writes).map_or(trace.len(), |at| source + at);
    if after(before)? > at || (read.writes && trace.get(at).is_some_and(|&next| frontier.event(next).reads())) {
        return None;
    }
    let mut found = Vec::with_capacity(trace.len() + 1);
    found.extend_from_slice(&trace[..at]);
    found.push(EventId::new(read.thread, index));
    found.extend_from_slice(&trace[at..]);
    Some(found)
}
