//! A conflict as ties between events, each with its reason.

use super::clocks::Clocks;
use super::conflict::{Link, Why};
use crate::explain::{Conclusion, Moment, Reason, Tie};
use crate::instance::{Action, Instance, Source};
use raddle_trace::{EventId, Ordering};

/// The cycle of a conflict, and the conclusions it uses.
pub(crate) fn ties(instance: &Instance, synchronises: bool, links: &[Link]) -> (Vec<Conclusion>, Vec<Tie>) {
    let names: Vec<EventId> = instance.events().map(|(id, _)| id).collect();
    let clocks = Clocks::of(instance, &names, synchronises).ok();
    let teller = Teller { instance, names: &names, spawns: instance.spawns(), clocks: clocks.as_ref(), synchronises };
    let (mut conclusions, mut cycle) = (Vec::new(), Vec::new());
    links.iter().for_each(|link| teller.tell(link, &mut conclusions, &mut cycle));
    (conclusions, merged(cycle))
}

struct Teller<'i> {
    instance: &'i Instance,
    names: &'i [EventId],
    spawns: Vec<Option<u32>>,
    /// None if program order and reads-from have a cycle.
    clocks: Option<&'i Clocks>,
    synchronises: bool,
}

impl Teller<'_> {
    fn action(&self, event: u32) -> Action {
        self.instance.get(self.names[event as usize]).expect("it is one")
    }

    fn source(&self, event: u32) -> Option<u32> {
        match self.action(event).source() {
            Some(Source::Write(write)) => Some(self.instance.flat(write)),
            _ => None,
        }
    }

    fn tie(&self, from: u32, to: u32, why: Reason) -> Tie {
        let does = |event: u32| Moment::Does(self.names[event as usize]);
        Tie { from: does(from), to: does(to), why }
    }

    fn tell(&self, link: &Link, conclusions: &mut Vec<Conclusion>, cycle: &mut Vec<Tie>) {
        let Link { from, to, why } = *link;
        let name = |event: u32| self.names[event as usize];
        let mut conclude = |tie: Tie, since: Vec<Tie>| {
            conclusions.push(Conclusion { tie, since });
            cycle.push(tie);
        };
        match why {
            Why::Step => cycle.push(self.step(from, to)),
            Why::Before => cycle.extend(self.path(from, to)),
            Why::Chain => cycle.push(self.tie(from, to, Reason::Chain)),
            Why::Together => cycle.push(self.tie(from, to, Reason::Together)),
            Why::First => cycle.push(self.tie(from, to, Reason::FirstUpdate)),
            Why::Twice => cycle.push(self.tie(from, to, Reason::SameSource)),
            Why::Overwritten { source } => {
                let since = source.map_or(Vec::new(), |source| self.path(source, to));
                let tie = self.tie(from, to, Reason::Later(name(from)));
                if since.is_empty() { cycle.push(tie) } else { conclude(tie, since) }
            }
            Why::Shown { access, since } => {
                let way = self.path(since, access);
                match (since == from, access == to) {
                    (true, true) => cycle.extend(way),
                    (true, false) => conclude(self.tie(from, to, Reason::Earlier(name(access))), way),
                    (false, true) => conclude(self.tie(from, to, Reason::Read(name(since))), way),
                    (false, false) => conclude(self.tie(from, to, Reason::InOrder(name(since), name(access))), way),
                }
            }
        }
    }

    /// A step of program order or reads-from.
    fn step(&self, from: u32, to: u32) -> Tie {
        let same = self.names[from as usize].thread == self.names[to as usize].thread;
        let why = match (self.action(from), self.action(to)) {
            _ if self.source(to) == Some(from) && !(same && from < to) => Reason::ReadsFrom,
            _ if same => Reason::Program,
            (Action::Spawn { child }, _) if child == self.names[to as usize].thread => Reason::Start,
            (_, Action::Join { child }) if child == self.names[from as usize].thread => Reason::End,
            _ => Reason::Program,
        };
        self.tie(from, to, why)
    }

    /// How one event happens before another, or is it.
    fn path(&self, from: u32, to: u32) -> Vec<Tie> {
        let Some(clocks) = self.clocks else { return Vec::new() };
        let known = |event: u32| event == from || clocks.before(self.names[from as usize], event, event == from);
        let mut ties = Vec::new();
        let mut at = to;
        while at != from {
            let id = self.names[at as usize];
            let before = if id.index > 0 { Some(at - 1) } else { self.spawns[id.thread.index()] };
            let ended = match self.action(at) {
                Action::Join { child } => self.instance.end(child),
                _ => None,
            };
            if let Some(before) = before.into_iter().chain(ended).find(|&before| known(before)) {
                ties.push(self.step(before, at));
                at = before;
                continue;
            }
            // It was learnt from a read, here or, at a fence, before.
            let mut reads = (self.instance.flat(EventId::new(id.thread, 0))..=at).rev().filter(|&read| {
                let atomic = self.instance.order(self.names[read as usize]) != Ordering::NonAtomic;
                self.source(read).is_some() && (read == at || self.synchronises && atomic)
            });
            let Some((read, chain)) = reads.find_map(|read| Some((read, self.chain(read, &known)?))) else {
                debug_assert!(false, "there is a way from {from} to {to}");
                return Vec::new();
            };
            if read != at {
                ties.push(self.tie(read, at, Reason::Program));
            }
            let mut reader = read;
            for write in chain {
                ties.push(self.tie(write, reader, Reason::ReadsFrom));
                reader = write;
            }
            at = reader;
        }
        ties.reverse();
        merged(ties)
    }

    /// The writes a message came through, backwards from a read to one that knows where it began.
    fn chain(&self, read: u32, known: &impl Fn(u32) -> bool) -> Option<Vec<u32>> {
        let mut chain = vec![self.source(read)?];
        while let Some(&write) = chain.last().filter(|&&write| !known(write)) {
            chain.push(self.source(write)?);
        }
        Some(chain)
    }
}

/// The ties with steps along the same thread drawn together.
fn merged(ties: Vec<Tie>) -> Vec<Tie> {
    let mut merged: Vec<Tie> = Vec::new();
    for tie in ties {
        match merged.last_mut() {
            Some(last) if last.why == Reason::Program && tie.why == Reason::Program && last.to == tie.from => {
                last.to = tie.to
            }
            _ => merged.push(tie),
        }
    }
    merged
}
