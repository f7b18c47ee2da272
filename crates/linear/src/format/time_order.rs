//! Events with clock readings, in the order of their clocks.
//!
//! Only the order of the readings counts. Two events with the same reading happened in an unknown order, and the
//! order that invents no precedence puts calls before returns. One thing is certain even then: a process does one thing
//! after another. So among events of one reading we take every call that is first of its process, then a
//! return whose process goes on within the same reading, and so forth; the remaining returns come last.
//!
//! The first event decides: with a reading every event must have one, without one the order of the lines is the
//! order of the events. Offline the events are sorted (n log n); a stream must be sorted already.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{InputError, Phase, RawEvent, Source, Tables};
use crate::object::ObjectKind;
use crate::value::ValueId;

/// The most events with one reading that a stream may hold back.
const MAX_TIED: usize = 1 << 20;

/// Puts the events of another source into time order.
pub struct TimeOrder<'a> {
    source: Box<dyn Source + 'a>,
    streaming: bool,
    timed: Option<bool>,
    sorted: Option<VecDeque<RawEvent>>,
    ahead: Option<RawEvent>,
    ready: VecDeque<RawEvent>,
}

impl<'a> TimeOrder<'a> {
    /// Orders the events of `source`; a streaming one must already be in order.
    pub fn new(source: Box<dyn Source + 'a>, streaming: bool) -> TimeOrder<'a> {
        TimeOrder { source, streaming, timed: None, sorted: None, ahead: None, ready: VecDeque::new() }
    }

    fn pull(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        let Some(event) = self.source.next(tables)? else {
            return Ok(None);
        };
        let timed = *self.timed.get_or_insert(event.time.is_some());
        if timed != event.time.is_some() {
            let message = if timed {
                "this event has no time although earlier ones do"
            } else {
                "this event has a time although earlier ones have none"
            };
            return Err(InputError::at(event.line, "", message));
        }
        Ok(Some(event))
    }

    /// The next event in order of time, ties still in order of lines.
    fn next_by_time(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        if self.streaming {
            return self.pull(tables);
        }
        if self.sorted.is_none() {
            let mut events = Vec::new();
            while let Some(event) = self.pull(tables)? {
                events.push(event);
            }
            if !events.is_sorted_by_key(|event: &RawEvent| event.time) {
                events.sort_by_key(|event| event.time);
            }
            self.sorted = Some(events.into());
        }
        Ok(self.sorted.as_mut().and_then(VecDeque::pop_front))
    }
}

impl Source for TimeOrder<'_> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        if let Some(event) = self.ready.pop_front() {
            return Ok(Some(event));
        }
        let first = match self.ahead.take() {
            Some(event) => event,
            None => match if self.timed == Some(false) { self.pull(tables)? } else { self.first(tables)? } {
                Some(event) => event,
                None => return Ok(None),
            },
        };
        if self.timed == Some(false) {
            return Ok(Some(first));
        }
        let mut group = vec![first];
        loop {
            match self.next_by_time(tables)? {
                None => break,
                Some(event) if event.time == first.time => {
                    if self.streaming && group.len() >= MAX_TIED {
                        return Err(InputError::at(
                            event.line,
                            "",
                            format!("more than {MAX_TIED} events with one clock reading"),
                        ));
                    }
                    group.push(event);
                }
                Some(event) if event.time < first.time => {
                    return Err(InputError::at(
                        event.line,
                        "",
                        "this event is earlier than the one before it; a stream must be in time order",
                    ));
                }
                Some(event) => {
                    self.ahead = Some(event);
                    break;
                }
            }
        }
        if group.len() == 1 {
            return Ok(Some(first));
        }
        self.ready = untie(group).into();
        Ok(self.ready.pop_front())
    }

    fn declared(&self) -> Option<ObjectKind> {
        self.source.declared()
    }

    fn has_whole(&self) -> bool {
        self.source.has_whole()
    }

    fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        self.ahead.iter_mut().chain(&mut self.ready).for_each(|event| event.each_value(visit));
        self.source.each_value(visit);
    }
}

impl TimeOrder<'_> {
    /// The first event of all: it tells whether there are clock readings.
    fn first(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        if self.timed.is_some() {
            return self.next_by_time(tables);
        }
        let Some(event) = self.pull(tables)? else {
            return Ok(None);
        };
        if self.timed == Some(false) || self.streaming {
            return Ok(Some(event));
        }
        let mut events = vec![event];
        while let Some(event) = self.pull(tables)? {
            events.push(event);
        }
        if !events.is_sorted_by_key(|event| event.time) {
            events.sort_by_key(|event| event.time);
        }
        self.sorted = Some(events.into());
        self.next_by_time(tables)
    }
}

/// Orders events that carry the same reading.
fn untie(group: Vec<RawEvent>) -> Vec<RawEvent> {
    let mut waiting: FxHashMap<ValueId, VecDeque<RawEvent>> = FxHashMap::default();
    let mut processes = Vec::new();
    for event in &group {
        let line = waiting.entry(event.process).or_default();
        if line.is_empty() {
            processes.push(event.process);
        }
        line.push_back(*event);
    }
    let mut ordered = Vec::with_capacity(group.len());
    let mut returns = Vec::new();
    let calls = |line: &mut VecDeque<RawEvent>, ordered: &mut Vec<RawEvent>| {
        while line.front().is_some_and(|event| event.phase == Phase::Invoke) {
            ordered.extend(line.pop_front());
        }
    };
    for process in &processes {
        calls(waiting.entry(*process).or_default(), &mut ordered);
    }
    // A process that goes on must have returned first; its return frees its next call.
    for process in &processes {
        let line = waiting.entry(*process).or_default();
        while line.len() > 1 {
            ordered.extend(line.pop_front());
            calls(line, &mut ordered);
        }
        returns.extend(line.pop_front());
    }
    returns.sort_by_key(|event| event.line);
    ordered.extend(returns);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: u32, process: u32, phase: Phase) -> RawEvent {
        RawEvent {
            line,
            process: ValueId(process),
            phase,
            name: None,
            place: ValueId::NIL,
            value: ValueId::NIL,
            time: Some(5),
        }
    }

    fn lines(events: &[RawEvent]) -> Vec<u32> {
        events.iter().map(|event| event.line).collect()
    }

    #[test]
    fn calls_come_before_returns_of_the_same_reading() {
        let group = vec![event(1, 10, Phase::Ok), event(2, 11, Phase::Invoke)];
        assert_eq!(lines(&untie(group)), [2, 1]);
    }

    #[test]
    fn a_process_keeps_its_own_order() {
        let group = vec![event(1, 10, Phase::Ok), event(2, 11, Phase::Ok), event(3, 10, Phase::Invoke)];
        assert_eq!(lines(&untie(group)), [1, 3, 2]);
    }
}
