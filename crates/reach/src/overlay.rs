//! Moves of systems that are the machine with something beside it, each worked out once.
//!
//! What attackers have seen so far, which delays a program is at, what buffers have forgotten: such systems have the states of the machine and one more part. What a thread does there depends on the thread, the cells that it and its stores access, what it has on its way and what stands beside. So their moves
//! are remembered by the numbers of these, as those of the machine are ([`memo`](crate::memo)): a move that is not known is made by the system itself, on a state that consists of these parts alone, and whatever depends on more is made on the whole state.
//!
//! Debug builds compare with what the system says about the whole state: the first states each, then some.

use crate::machine::{Machine, Piece, Rest};
use crate::memo::sketch::{Needs, Sketch, may_race, sketch};
use crate::memo::{LOOKS, NONE, Spot, put};
use crate::parts::{Numbers, Settled, is_own};
use crate::semantics::{Breadth, Expanded, Remembers, Semantics};
use raddle_machine::Addr;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::fmt::Debug;
use std::sync::Arc;

/// A system whose states are those of the machine with one more part, the last one of each.
pub(crate) trait Overlay: Semantics<Sight: Clone + Debug + PartialEq> {
    /// The machine.
    fn machine(&self) -> &Machine<'_>;

    /// A part of the machine.
    fn of_machine(piece: Piece) -> Self::Part;

    /// The part of the machine that this is.
    fn piece(part: &Self::Part) -> Option<&Piece>;

    /// What is worth noticing about a state with this beside the machine, whatever else it has; and whether it goes on.
    fn beside(&self, part: Option<&Self::Part>) -> (Self::Sight, bool);

    /// The ways that lead on from a state.
    fn ways(&self, state: &Self::State) -> Ways;

    /// Whether ends of runs are worth noticing; races are, if the machine looks for them.
    fn notices_ends(&self) -> bool;

    /// Adds what is worth noticing about one of the threads of a state; `false` if that takes a look at the whole.
    fn add(sight: &mut Self::Sight, of_thread: &Self::Sight) -> bool;
}

/// The ways that lead on from a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    /// How many there are, be it that some are not followed.
    pub(crate) count: u32,
    /// The first one that nobody could notice.
    pub(crate) silent: Option<u32>,
}

/// Moves that have been worked out.
#[derive(Debug)]
pub struct Known<S> {
    /// What is known of parts of the machine, by number.
    sketches: Vec<Option<Option<Sketch>>>,
    by_parts: FxHashMap<Key, u32>,
    entries: Vec<Entry<S>>,
    /// From here on, entries have numbers of the batch.
    settled: usize,
    followed: u64,
}

/// A thread, what it has on its way, what is beside, and the cells.
type Key = SmallVec<[u32; 6]>;

/// What a thread can do, and what can arrive of it.
#[derive(Debug)]
struct Entry<S> {
    /// It depends on more than was thought.
    whole: bool,
    ways: Ways,
    sight: S,
    /// Those that are followed, by number.
    outcomes: SmallVec<[(u32, Outcome); 2]>,
}

/// What becomes of the parts.
#[derive(Clone, Debug)]
struct Outcome {
    thread: u32,
    outgoing: u32,
    beside: u32,
    cells: SmallVec<[u32; 2]>,
}

/// Where in a state what matters to a thread stands.
struct Spots {
    thread: u32,
    outgoing: Spot,
    beside: Option<u32>,
    /// In the order of addresses.
    cells: SmallVec<[(Addr, Spot); 2]>,
}

impl<S> Default for Known<S> {
    fn default() -> Self {
        let (sketches, by_parts) = (Vec::new(), FxHashMap::default());
        Known { sketches, by_parts, entries: Vec::new(), settled: 0, followed: 0 }
    }
}

impl<S: Send> Remembers for Known<S> {
    fn settle(&mut self, settled: &Settled) {
        for entry in &mut self.entries[self.settled..] {
            for (_, Outcome { thread, outgoing, beside, cells }) in &mut entry.outcomes {
                for part in [thread, outgoing, beside].into_iter().chain(cells) {
                    if *part != NONE {
                        *part = settled.number(*part);
                    }
                }
            }
        }
        self.settled = self.entries.len();
    }
}

impl<S> Known<S> {
    /// Looks at a part, unless it is known.
    fn look<O: Overlay>(&mut self, system: &O, numbers: &Numbers<'_, O::Part>, part: u32) {
        let at = part as usize;
        if self.sketches.len() <= at {
            self.sketches.resize(at + 1, None);
        }
        if self.sketches[at].is_none() {
            self.sketches[at] = Some(O::piece(numbers.get(part)).map(|piece| sketch(system.machine(), piece)));
        }
    }

    fn known(&self, part: u32) -> Option<&Sketch> {
        self.sketches[part as usize].as_ref().expect("it was looked at").as_ref()
    }

    /// Where in the list, from a place on, something of the machine stands that comes in the order of `key`, or would.
    fn spot<K: Ord>(&self, list: &[u32], start: usize, end: usize, key: impl Fn(&Sketch) -> Option<K>, of: K) -> Spot {
        for (at, &part) in list.iter().enumerate().take(end).skip(start) {
            match self.known(part).and_then(&key) {
                Some(here) if here < of => {}
                Some(here) if here == of => return Spot { at: at as u32, part },
                Some(_) => return Spot { at: at as u32, part: NONE },
                None => {}
            }
        }
        Spot { at: end as u32, part: NONE }
    }
}

/// Follows the state that is made of these parts, as [`Semantics::recall`] does.
pub(crate) fn recall<S: Overlay>(
    system: &S,
    known: &mut Known<S::Sight>,
    numbers: &mut Numbers<'_, S::Part>,
    list: &[u32],
    breadth: Breadth,
    next: &mut dyn FnMut(u16, &[u32]),
) -> Option<Expanded<S::Sight>> {
    known.followed += 1;
    let is_doubted = cfg!(debug_assertions) && (known.followed < 100 || known.followed.is_multiple_of(16));
    if !is_doubted {
        return look_up(system, known, numbers, list, breadth, next);
    }
    let (mut recalled, mut made) = (Vec::new(), Vec::new());
    let expanded = look_up(system, known, numbers, list, breadth, &mut |by, to| {
        recalled.push((by, to.to_vec()));
        next(by, to);
    })?;
    let state = system.join(&mut list.iter().map(|&part| numbers.get(part)));
    let all = system.expand(&state, breadth, &mut |by, to| {
        let mut parts = Vec::new();
        system.split(&to, &mut |part| parts.push(numbers.number(part)));
        made.push((by, parts));
    });
    assert_eq!(recalled, made, "what was remembered is not what the system does");
    assert_eq!((&expanded.sight, expanded.reduced), (&all.sight, all.reduced));
    Some(expanded)
}

fn look_up<S: Overlay>(
    system: &S,
    known: &mut Known<S::Sight>,
    numbers: &mut Numbers<'_, S::Part>,
    list: &[u32],
    breadth: Breadth,
    next: &mut dyn FnMut(u16, &[u32]),
) -> Option<Expanded<S::Sight>> {
    let machine = system.machine();
    for &part in list {
        known.look(system, numbers, part);
    }
    let is_rest = |&part: &u32| matches!(known.known(part), Some(Sketch::Rest { atomic: false }));
    let rest = list.iter().position(is_rest)?;
    let beside = list.last().copied().filter(|&part| known.known(part).is_none());
    let (mut sight, goes_on) = system.beside(beside.map(|part| numbers.get(part)));
    if !goes_on {
        return Some(Expanded { sight, reduced: false });
    }
    let threads = || {
        list[..rest].iter().map(|&part| match known.known(part) {
            Some(Sketch::Thread(thread)) => thread,
            _ => unreachable!("threads come first"),
        })
    };
    if threads().any(|thread| thread.odd) || (machine.races && may_race(threads())) {
        return None;
    }
    let (mut found, mut ways, mut all_look): (SmallVec<[(u32, Spots); 8]>, Ways, bool) =
        (SmallVec::new(), Ways { count: 0, silent: None }, true);
    for at in 0..rest {
        let Some(spots) = spots(known, list, (at, rest), beside)? else { continue };
        let looks = matches!(known.known(list[at]), Some(Sketch::Thread(thread)) if thread.looks);
        let entry = entry(system, known, numbers, list, &spots);
        let Entry { whole, ways: own, sight: ref of_thread, .. } = known.entries[entry as usize];
        if whole || !S::add(&mut sight, of_thread) {
            return None;
        }
        ways.silent = ways.silent.or(own.silent.map(|silent| ways.count + silent));
        ways.count += own.count;
        all_look &= own.count == 0 || (looks && spots.outgoing.part == NONE);
        found.push((entry, spots));
    }
    if ways.count > u32::from(u16::MAX) {
        return None;
    }
    if all_look
        && system.notices_ends()
        && !(0..rest).any(|at| moves_on(system, known, numbers, list, (at, rest), beside))
    {
        return None;
    }
    let alone = ways.silent.filter(|_| breadth == Breadth::Enough);
    let (mut first, mut after) = (0, Vec::with_capacity(list.len() + 4));
    for (entry, spots) in found {
        let Entry { ways: own, ref outcomes, .. } = known.entries[entry as usize];
        for &(number, ref outcome) in outcomes {
            let number = first + number;
            if alone.is_none_or(|alone| alone == number) {
                after.clear();
                exchange(list, &spots, outcome, &mut after);
                next(number as u16, &after);
            }
        }
        first += own.count;
    }
    Some(Expanded { sight, reduced: alone.is_some() && ways.count > 1 })
}

/// Whether a thread that looks at memory, and may be at a turn of a loop in vain, is known to be at none: alone it comes to something else than a look. `false` if that takes a look at the whole state.
fn moves_on<S: Overlay>(
    system: &S,
    known: &mut Known<S::Sight>,
    numbers: &mut Numbers<'_, S::Part>,
    list: &[u32],
    (at, rest): (usize, usize),
    beside: Option<u32>,
) -> bool {
    let mut list: SmallVec<[u32; 16]> = SmallVec::from_slice(list);
    let start = list[at];
    for _ in 0..LOOKS {
        let Some(Some(spots)) = spots(known, &list, (at, rest), beside) else { return false };
        if spots.outgoing.part != NONE {
            return false;
        }
        let entry = entry(system, known, numbers, &list, &spots);
        let Entry { whole: false, outcomes, .. } = &known.entries[entry as usize] else { return false };
        let [(_, Outcome { thread, outgoing, beside: left, cells })] = &outcomes[..] else { return false };
        let (thread, stays) = (*thread, *left == beside.unwrap_or(NONE));
        if !stays || thread == start || is_own(thread) {
            return false;
        }
        if *outgoing != NONE || spots.cells.iter().zip(cells).any(|((_, spot), &cell)| spot.part != cell) {
            return true;
        }
        known.look(system, numbers, thread);
        let Some(Sketch::Thread(next)) = known.known(thread) else { return false };
        if !next.looks {
            return true;
        }
        list[at] = thread;
    }
    false
}

/// Where what matters to a thread stands; none if it has nothing to do, and no answer at all if that depends on more.
#[allow(clippy::option_option, reason = "the outer one is left by `?`")]
fn spots<S>(known: &Known<S>, list: &[u32], (at, rest): (usize, usize), beside: Option<u32>) -> Option<Option<Spots>> {
    let Some(Sketch::Thread(thread)) = known.known(list[at]) else { unreachable!("threads come first") };
    let end = list.len() - usize::from(beside.is_some());
    let outgoing = known.spot(
        list,
        rest + 1,
        end,
        |sketch| match sketch {
            Sketch::Outgoing { thread, .. } => Some(*thread),
            _ => None,
        },
        thread.id,
    );
    let is_running = |id| {
        let mut threads = list[..rest].iter().filter_map(|&part| known.known(part));
        threads.any(|sketch| matches!(sketch, Sketch::Thread(thread) if thread.id == id && !thread.finished))
    };
    let mut addrs: SmallVec<[Addr; 4]> = SmallVec::new();
    match thread.needs {
        Needs::NoMove if outgoing.part == NONE => return Some(None),
        // Nothing can move, but what is on its way.
        Needs::End(child) if outgoing.part == NONE && is_running(child) => return Some(None),
        Needs::NoMove | Needs::Nothing => {}
        Needs::Cell(addr) => addrs.push(addr),
        Needs::End(_) | Needs::Whole => return None,
    }
    if let Some(Sketch::Outgoing { stores, .. }) = (outgoing.part != NONE).then(|| known.known(outgoing.part)).flatten()
    {
        for &cell in stores {
            addrs.push(cell?);
        }
    }
    addrs.sort_unstable();
    addrs.dedup();
    let memory = |sketch: &Sketch| match sketch {
        Sketch::Memory(addr) => Some(*addr),
        // Behind all memory.
        Sketch::Outgoing { .. } => Some(Addr(u64::MAX)),
        _ => None,
    };
    let cells = addrs.into_iter().map(|addr| (addr, known.spot(list, rest + 1, end, memory, addr))).collect();
    Some(Some(Spots { thread: at as u32, outgoing, beside, cells }))
}

/// What is known of a thread among these parts; what is not is found out.
fn entry<S: Overlay>(
    system: &S,
    known: &mut Known<S::Sight>,
    numbers: &mut Numbers<'_, S::Part>,
    list: &[u32],
    spots: &Spots,
) -> u32 {
    let thread = list[spots.thread as usize];
    let beside = spots.beside.unwrap_or(NONE);
    let mut key: Key = smallvec![thread, spots.outgoing.part, beside];
    // Which cells these are is known from the thread and what it has on its way.
    key.extend(spots.cells.iter().map(|(_, spot)| spot.part));
    if let Some(&entry) = known.by_parts.get(&key) {
        return entry;
    }
    let rest = S::of_machine(Piece::Rest(Arc::new(Rest::of_one())));
    let state = {
        let part = |&number: &u32| (number != NONE).then(|| numbers.get(number));
        let cells = spots.cells.iter().map(|(_, spot)| &spot.part);
        let behind = cells.chain([&spots.outgoing.part, &beside]).filter_map(part);
        system.join(&mut [numbers.get(thread), &rest].into_iter().chain(behind))
    };
    let ways = system.ways(&state);
    let mut nexts: Vec<(u32, S::State)> = Vec::new();
    let looked = system.expand(&state, Breadth::Everything, &mut |by, next| nexts.push((u32::from(by), next)));
    let mut entry = Entry { whole: false, ways, sight: looked.sight, outcomes: SmallVec::new() };
    for (by, next) in nexts {
        let cells = smallvec![NONE; spots.cells.len()];
        let mut outcome = Outcome { thread: NONE, outgoing: NONE, beside: NONE, cells };
        system.split(&next, &mut |part| {
            let mut set = |at: &mut u32| {
                entry.whole |= *at != NONE;
                *at = numbers.number(part);
            };
            match S::piece(part) {
                None => set(&mut outcome.beside),
                Some(Piece::Thread(_)) => set(&mut outcome.thread),
                Some(Piece::Outgoing(..)) => set(&mut outcome.outgoing),
                Some(Piece::Cell(access, _)) => match spots.cells.iter().position(|(addr, _)| *addr == access.addr) {
                    Some(at) => set(&mut outcome.cells[at]),
                    None => entry.whole = true,
                },
                Some(Piece::Rest(rest)) => entry.whole |= **rest != Rest::of_one(),
                Some(Piece::Object(..)) => entry.whole = true,
            }
        });
        entry.whole |= outcome.thread == NONE;
        entry.outcomes.push((by, outcome));
    }
    let number = known.entries.len() as u32;
    known.entries.push(entry);
    known.by_parts.insert(key, number);
    number
}

/// The list with parts exchanged. What stands behind is exchanged first, so that places are still good.
fn exchange(list: &[u32], spots: &Spots, outcome: &Outcome, after: &mut Vec<u32>) {
    after.extend_from_slice(list);
    let at = list.len() as u32 - u32::from(spots.beside.is_some());
    put(after, Spot { at, part: spots.beside.unwrap_or(NONE) }, outcome.beside);
    put(after, spots.outgoing, outcome.outgoing);
    for ((_, spot), &cell) in spots.cells.iter().zip(&outcome.cells).rev() {
        put(after, *spot, cell);
    }
    after[spots.thread as usize] = outcome.thread;
}
