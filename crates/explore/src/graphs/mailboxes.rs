//! Programs with mailboxes: which graphs are graphs of a run, and which can be given up early.
//!
//! *Messages.* To the search a message is a thread: its post starts it, its first event is that its looper takes it ([`Kind::Take`]), and then it goes on like any other.
//! That a looper runs one message after the other, and in the order of its mailbox, is no part of a graph. So two messages that do not touch
//! the same memory have one graph, whichever was run first, and a class is program order, reads-from, coherence and who posted what (Grahn 2026, who leaves the orders
//! of execution and of posts to be found for each graph).
//!
//! *Is it one of a run?* At the end of an execution the verifier of [`raddle_consistency::mailbox`] looks for such orders; its schedule becomes that of the machine. Where there is
//! none the end is no execution, and is dropped (counted as moot). Graphs must not be dropped for that on the way: consistency of this kind is not kept by what a
//! revisit keeps, which may be a part of a message and all of another that ran after it. The graphs that the search goes through are those of the program in which
//! messages are not kept apart, every one of which it meets once; so every class of the real program is met once, too. Published explorers of such programs (Abdulla, Atig, Bonneland, Das,
//! Jonsson, Lång, Sagonas 2023) search over runs with wake-up trees instead, where the same question is asked of every reversal; here it is asked of few graphs, and none is remembered.
//!
//! *What is known early.* Three things keep the number of dropped ends small:
//! * Of two messages in a queue, one of which was posted with knowledge of the post of the other, the order is no question. Taking the later one is like joining the earlier one, so the
//!   search treats it so. With one poster per queue nothing is ever dropped for the order of a mailbox.
//! * A message is taken late: while its looper is in the middle of another one, everybody else goes first.
//! * What can never be revisited away stays (see [`blocks`](super::blocks)); if that alone has no run, nothing that follows has one. That is asked as if objects lived for ever,
//!   or graphs would be dropped that show an [error](super::lives).
//!
//! *Loopers that are stuck.* A message that waits for ever, or fails, keeps its looper from all others in the mailbox. Where the search meets a message that may do so it starts over in a mode in
//! which each message of such a looper is taken or is *never* taken; the verifier says in the end whether that is so. That doubles the work per message of such loopers, so it is done for them alone.
//!
//! *Reads-from alone.* The engine `rf` goes through the same graphs and remembers, of those of a run, what they are without coherence. To look for coherence as well as for the orders of messages
//! would be a search of its own at every read; as it is, `rf` counts less than `optimal` and does as much.
//!
//! *Errors and races.* What is wrong is shown by a run of the graph up to it, or, if that is none, of the whole graph. Races are looked for at the end of executions, on the machine, along the schedule that
//! was found: what happens before what is the same in every run of a class.

use super::context::Context;
use super::event::{Event, Flags, Kind, Slot};
use super::graph::{Graph, Log};
use super::linearise::executed;
use super::models::Model;
use super::step::Bug;
use raddle_consistency::mailbox::{
    Answer, Event as Happening, Kind as What, Limits, Mailbox as Box, Message, Rules, Trace, solve,
};
use raddle_consistency::{Interrupt, Never};
use raddle_engine::Deadline;
use raddle_machine::{Addr, Automaton, Code, Status, System};
use raddle_program::Mailbox;
use raddle_trace::{BitSet, Model as MemoryModel, Property, Schedule, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which messages have to have ended before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// All of them, as at the end of a run: who is in the middle of one takes no other.
    Real,
    /// None: what is missing may come later, and what was posted and not taken may be taken in between.
    Open,
}

/// Whether an object's life has to end once, and after all accesses to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lives {
    /// It has to, but for the order that shows an error.
    Kept,
    /// That is not asked.
    Aside,
}

/// Whether what is added can only be a part of graphs that are none of a run. The event added last is the only one that may have made a difference.
pub(super) fn is_hopeless<M: Model>(context: &mut Context<'_>, graph: &Graph<M>) -> bool {
    let Some(kept) = super::blocks::kept_for_ever(graph) else { return false };
    if !graph.shares_a_looper(&kept) {
        return false;
    }
    let mut events = executed(graph);
    let lost: Vec<usize> = events.iter().filter(|&slot| !kept.contains(slot)).collect();
    lost.into_iter().for_each(|slot| events.remove(slot));
    let deadline = context.shared.deadline;
    match order(context, graph, &events, None, (Ends::Open, Lives::Aside), &Until(deadline)) {
        Ok(found) => found.is_none(),
        Err(Late) => {
            context.realiser.interrupted = true;
            false
        }
    }
}

/// Whether the end is one of a run.
pub(super) fn is_run<M: Model>(context: &mut Context<'_>, graph: &Graph<M>) -> bool {
    if !graph.leaves_only_what_is_stuck() {
        return false;
    }
    let deadline = context.shared.deadline;
    match order(context, graph, &executed(graph), None, (Ends::Real, Lives::Kept), &Until(deadline)) {
        Ok(found) => found.is_some(),
        Err(Late) => {
            context.realiser.interrupted = true;
            false
        }
    }
}

/// The events in the order of a run, however long it takes to find it.
pub(super) fn run_of<M: Model>(
    context: &Context<'_>,
    graph: &Graph<M>,
    events: &BitSet,
    forced: Option<(Slot, Slot)>,
) -> Option<Vec<Slot>> {
    order(context, graph, events, forced, (Ends::Real, Lives::Kept), &Never).unwrap_or_default()
}

/// The events in the order of a run in which these two come in this order, if objects lived for ever.
pub(super) fn run_beside_lives<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    events: &BitSet,
    forced: (Slot, Slot),
) -> Option<Vec<Slot>> {
    let deadline = context.shared.deadline;
    order(context, graph, events, Some(forced), (Ends::Real, Lives::Aside), &Until(deadline)).unwrap_or_else(|Late| {
        context.realiser.interrupted = true;
        None
    })
}

/// The time that there was is over.
struct Late;

struct Until<'d>(&'d Deadline<'d>);

impl Interrupt for Until<'_> {
    fn is_due(&self) -> bool {
        self.0.passed().is_some()
    }
}

/// The events in the order of a run, if there is one.
fn order<M: Model>(
    context: &Context<'_>,
    graph: &Graph<M>,
    events: &BitSet,
    forced: Option<(Slot, Slot)>,
    (ends, lives): (Ends, Lives),
    interrupt: &dyn Interrupt,
) -> Result<Option<Vec<Slot>>, Late> {
    let (mut trace, rules, slots) = asked(context.code, graph, events, ends);
    let at = |slot: Slot| slots.iter().position(|&other| other == Some(slot));
    if let Some((first, second)) = forced {
        trace.said.extend(at(first).zip(at(second)));
    }
    // Whoever ends an object's life does so once, and after all accesses to it.
    let frees = graph.frees.iter().filter(|&&free| lives == Lives::Kept && events.contains(free as usize));
    for &free in frees {
        let base = Addr(graph.event(free).value).base();
        let again = |&other: &Slot| {
            let same = other < free && Addr(graph.event(other).value).base() == base;
            same && events.contains(other as usize) && ![Some((free, other)), Some((other, free))].contains(&forced)
        };
        if graph.frees.iter().any(again) {
            return Ok(None);
        }
        let locations = (0..graph.locations.len() as u32).filter(|&loc| context.view.access(loc).addr.base() == base);
        for accesses in locations.map(|loc| graph.location(loc)) {
            let all = accesses.co.iter().chain(&accesses.reads).copied();
            let others = all.filter(|&access| forced != Some((free, access)));
            trace.said.extend(others.filter_map(|access| at(access).zip(at(free))));
        }
    }
    let limits = Limits { interrupt, ..Limits::default() };
    let (answer, _) = solve(&trace, &rules, &limits).expect("a graph is a trace, and what is found replays");
    match answer {
        Answer::Consistent(schedule) => Ok(Some(schedule.into_iter().filter_map(|event| slots[event]).collect())),
        Answer::Inconsistent => Ok(None),
        Answer::Unknown => Err(Late),
    }
}

/// The question to the verifier, and the slot behind each of its events.
///
/// A thread that is no message is a handler with one message. All that the memory model and the program say is given as an order; to the verifier every event but a
/// get or a post is a write of a location of its own.
fn asked<M: Model>(code: &Code, graph: &Graph<M>, events: &BitSet, ends: Ends) -> (Trace, Rules, Vec<Option<Slot>>) {
    let mut trace = Trace::default();
    let mut rules = Rules { mailboxes: Vec::new(), strict: ends == Ends::Real };
    let mut loopers: FxHashMap<Addr, usize> = FxHashMap::default();
    let mut slots: Vec<Option<Slot>> = Vec::new();
    // The message of each thread, and the event of each slot.
    let mut messages: Vec<Option<usize>> = vec![None; graph.threads.len()];
    let mut numbers: FxHashMap<Slot, usize> = FxHashMap::default();
    for (index, log) in graph.threads.iter().enumerate() {
        let Some(state) = graph.state(ThreadId(index as u32)) else { continue };
        if log.spawn.is_some_and(|spawn| !events.contains(spawn as usize)) {
            continue;
        }
        let kept: Vec<Slot> = log.events.iter().copied().filter(|&slot| events.contains(slot as usize)).collect();
        let looper = state.message();
        if kept.is_empty() && looper.is_none() {
            continue;
        }
        let handler = match looper {
            None => {
                rules.mailboxes.push(Box::Multiset);
                rules.mailboxes.len() - 1
            }
            Some(looper) => *loopers.entry(looper).or_insert_with(|| {
                rules.mailboxes.push(match code.mailbox(looper) {
                    Some(Mailbox::Queue) => Box::Queue,
                    Some(Mailbox::Stack) => Box::Stack,
                    Some(Mailbox::Bag) | None => Box::Multiset,
                });
                rules.mailboxes.len() - 1
            }),
        };
        let message = trace.messages.len();
        messages[index] = Some(message);
        let over = matches!(state.status(), Status::Finished { .. }) && kept.len() == log.events.len();
        let open = looper.is_some() && ends == Ends::Real && !over && !kept.is_empty();
        let mut numbered = Vec::with_capacity(kept.len() + 1);
        let mut add = |slot: Option<Slot>, kind: What, slots: &mut Vec<Option<Slot>>| {
            numbered.push(slots.len());
            slots.push(slot);
            trace.events.push(Happening { kind, message });
        };
        if looper.is_none() {
            add(None, What::Get, &mut slots);
        }
        for slot in kept {
            numbers.insert(slot, slots.len());
            let kind = if graph.event(slot).kind == Kind::Take { What::Get } else { What::Write { location: 0 } };
            add(Some(slot), kind, &mut slots);
        }
        trace.messages.push(Message { handler, events: numbered, post: None, open });
    }
    trace.handlers = rules.mailboxes.len();
    // Who is started by whom, and who posted what.
    for (index, log) in graph.threads.iter().enumerate() {
        let (Some(message), Some(spawn)) = (messages[index], log.spawn) else { continue };
        let post = numbers[&spawn];
        if graph.state(ThreadId(index as u32)).is_some_and(|state| state.message().is_some()) {
            trace.events[post].kind = What::Post(message);
            trace.messages[message].post = Some(post);
        } else {
            trace.said.push((post, trace.messages[message].events[0]));
        }
    }
    for event in 0..trace.events.len() {
        if let What::Write { location } = &mut trace.events[event].kind {
            *location = trace.coherence.len();
            trace.coherence.push(vec![event]);
        }
    }
    // The last event of each thread before an event stands for those before it.
    for (&slot, &number) in &numbers {
        let row = M::before(graph, slot);
        let is_before = |other: Slot| row.get(other as usize / 64).is_some_and(|word| word >> (other % 64) & 1 == 1);
        let own = graph.event(slot).thread.index();
        for (_, log) in graph.threads.iter().enumerate().filter(|(index, _)| *index != own) {
            let last = log.events.iter().rev().find(|&&other| is_before(other) && numbers.contains_key(&other));
            trace.said.extend(last.map(|last| (numbers[last], number)));
        }
    }
    trace.said.sort_unstable();
    (trace, rules, slots)
}

/// A race that shows along this run of the machine, with the run up to it.
pub(super) fn race_along(code: &Code, model: MemoryModel, schedule: &Schedule) -> Option<Bug> {
    let mut system = System::new(code, model, true, false);
    let raced = |system: &System<'_>, steps: usize, more: Option<raddle_trace::Step>| {
        let mut races = system.threads().filter_map(|thread| match thread.status() {
            Status::Failed(failure) if failure.property == Some(Property::Race) => Some(failure.pc),
            _ => None,
        });
        let steps = schedule.steps[..steps].iter().copied().chain(more).collect();
        let schedule = Some(Schedule { steps });
        let (property, target, attempt, forced) = (Property::Race, None, None, None);
        races.next().map(|pc| Bug { property, pc, target, attempt, forced, schedule })
    };
    for (at, &step) in schedule.steps.iter().enumerate() {
        // Who has raced before goes no further, so this one may not be possible; but then it has been told.
        system.step(step).ok()?;
        if let Some(bug) = raced(&system, at + 1, None) {
            return Some(bug);
        }
    }
    let look = system.racing_looks().first().copied()?;
    system.step(look).ok()?;
    raced(&system, schedule.steps.len(), Some(look))
}

impl<M: Model> Graph<M> {
    /// The looper that runs this thread, if it is a message.
    fn looper(&self, thread: ThreadId) -> Option<Addr> {
        self.state(thread)?.message()
    }

    /// The messages that are taken out of the same queue before this one, since it was posted with knowledge of their posts.
    fn queued_before(&self, thread: ThreadId) -> impl Iterator<Item = ThreadId> + '_ {
        let looper = self.looper(thread);
        let post = self.threads[thread.index()].spawn;
        let others = (0..self.threads.len() as u32).map(ThreadId).filter(move |&other| other != thread);
        others.filter(move |&other| {
            let earlier = self.threads[other.index()].spawn;
            let queue = |slot: Slot| self.event(slot).flags.contains(Flags::QUEUE);
            earlier.zip(post).is_some_and(|(earlier, post)| {
                queue(earlier) && self.looper(other) == looper && self.prefix.before(earlier as usize, post as usize)
            })
        })
    }

    /// Whether two messages of one looper have some of these events; of one message alone there is always a run.
    fn shares_a_looper(&self, events: &BitSet) -> bool {
        let mut loopers = FxHashSet::default();
        let has = |log: &Log| log.events.first().is_some_and(|&first| events.contains(first as usize));
        let with = self.threads.iter().enumerate().filter(|(_, log)| has(log));
        with.filter_map(|(index, _)| self.looper(ThreadId(index as u32))).any(|looper| !loopers.insert(looper))
    }

    /// Whether nothing is left in the mailboxes of loopers that run nothing.
    fn leaves_only_what_is_stuck(&self) -> bool {
        let messages =
            || (0..self.threads.len() as u32).map(ThreadId).filter_map(|thread| Some((thread, self.looper(thread)?)));
        let is_taken = |thread: ThreadId| {
            let first = self.threads[thread.index()].events.first();
            first.is_some_and(|&take| self.event(take).value == 0)
        };
        let is_stuck = |looper: Addr| {
            messages().any(|(thread, other)| other == looper && is_taken(thread) && !self.has_ended(thread))
        };
        messages().all(|(thread, looper)| is_taken(thread) || is_stuck(looper))
    }

    fn has_ended(&self, thread: ThreadId) -> bool {
        self.state(thread).is_some_and(|state| matches!(state.status(), Status::Finished { .. }))
    }

    /// The ends of the messages that are taken before this one in any case.
    pub(super) fn before_take(&self, take: &Event) -> Vec<Slot> {
        if take.value != 0 {
            return Vec::new();
        }
        self.queued_before(take.thread).filter_map(|other| self.last(other)).collect()
    }

    /// Whether the message may be taken now: `None` if not yet, else whether it would be better to wait.
    pub(super) fn may_take(&self, thread: ThreadId) -> Option<bool> {
        if !self.queued_before(thread).all(|other| self.has_ended(other)) {
            return None;
        }
        let looper = self.looper(thread);
        let mut others = (0..self.threads.len() as u32).map(ThreadId);
        let is_open = |other: ThreadId| {
            self.looper(other) == looper && !self.threads[other.index()].events.is_empty() && !self.has_ended(other)
        };
        Some(others.any(|other| other != thread && is_open(other)))
    }
}
