//! Queues whose values repeat: which dequeue took what which enqueue put in?
//!
//! With different values the answer is given and a queue is decided without a search. With repeated values the answers are all that there
//! is to search for: once every dequeue has its enqueue, what is left is a queue of different values. So a configuration of this search is no content of
//! the queue, of which there are very many, but how many enqueues and dequeues are paired.
//!
//! Pairs are made in the order in which values pass through the queue. An enqueue can be next if it was called before any other enqueue, and any dequeue,
//! that is left has returned; a dequeue, if it was called before any other dequeue that is left has returned. These conditions are all that
//! an order of pairs has to meet: give the i-th enqueue the latest call among the first i enqueues as its time, the i-th dequeue the latest call among
//! the first i of both. A dequeue that found nothing has its place between two pairs: all calls before it must come before all returns after it. It is
//! taken as soon as it can be, since that costs nothing.
//!
//! Of two enqueues (dequeues) of the same value that can be next the one that returns first may go first: in whatever order the others
//! come, the two can change places. So there is one choice for each value, and equal values cost nothing. An enqueue that never returned may be used
//! or not; a dequeue that never returned may take any value, and the one called first serves best. What is never dequeued comes last.
//!
//! Configurations from which there is no way on are remembered. Ours, from the order of Gibbons, Bruno, Phillips 2002. Cost: exponential in the
//! different values that may be next at once, at worst (the problem is NP-complete); a few configurations for each pair in histories of programs.

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use super::matching::Empty;
use super::pairing::{Item, Paired, Problem};
use crate::history::{OpId, Ts};
use crate::search::mask::Mask;
use crate::search::{Budget, Limit};
use crate::value::ValueId;

/// Decides a queue. Tells also how many configurations that took.
pub fn decide(problem: &Problem, budget: &Budget) -> (Paired, u64) {
    let (returned, lost): (Vec<Item>, Vec<Item>) = problem.inserts.iter().partition(|item| item.ret < Ts::INF);
    let empty = |empty: &Empty| Item { op: empty.op, value: ValueId::NIL, call: empty.call, ret: empty.ret };
    let tracks = Tracks {
        inserts: Track::new(returned),
        removes: Track::new(problem.removes.clone()),
        empties: Track::new(problem.empties.iter().map(empty).collect()),
    };
    let mut lost_inserts: FxHashMap<ValueId, Vec<(Ts, OpId)>> = FxHashMap::default();
    for item in lost {
        lost_inserts.entry(item.value).or_default().push((item.call, item.op));
    }
    let mut lost = Lost { removes: problem.lost.clone(), ..Lost::default() };
    for (number, (value, mut calls)) in lost_inserts.into_iter().enumerate() {
        calls.sort_unstable();
        lost.inserts.push(calls);
        lost.numbers.insert(value, number);
    }
    match tracks.inserts.slots.max(tracks.removes.slots).max(tracks.empties.slots) {
        0..=64 => Search::<u64>::new(&tracks, &lost, budget).run(),
        65..=128 => Search::<u128>::new(&tracks, &lost, budget).run(),
        _ => Search::<Box<[u64]>>::new(&tracks, &lost, budget).run(),
    }
}

const NOBODY: u32 = u32::MAX;

/// Operations of one sort in the order of their returns. While one is open it has a slot.
struct Track {
    items: Vec<Item>,
    /// The items in the order of their calls, and for each item how many had been called when it returned.
    calls: Vec<u32>,
    called: Vec<u32>,
    slot: Vec<u32>,
    slots: usize,
    /// The latest call among the first so many items.
    latest_call: Vec<Ts>,
}

impl Track {
    fn new(mut items: Vec<Item>) -> Track {
        items.sort_unstable_by_key(|item| item.ret);
        let mut calls: Vec<u32> = (0..items.len() as u32).collect();
        calls.sort_unstable_by_key(|&at| items[at as usize].call);
        let (mut slot, mut called) = (vec![0; items.len()], Vec::with_capacity(items.len()));
        let (mut free, mut slots, mut next) = (Vec::new(), 0, 0);
        let mut latest_call = vec![Ts(0)];
        for (at, item) in items.iter().enumerate() {
            while next < calls.len() && items[calls[next] as usize].call < item.ret {
                slot[calls[next] as usize] = free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                });
                next += 1;
            }
            called.push(next as u32);
            free.push(slot[at]);
            latest_call.push(latest_call[at].max(item.call));
        }
        Track { items, calls, called, slot, slots: slots as usize, latest_call }
    }

    /// The items called between the return before this level and the return of this level.
    fn opened(&self, level: u32) -> &[u32] {
        let from = level.checked_sub(1).map_or(0, |before| self.called[before as usize]);
        let to = self.called.get(level as usize).copied().unwrap_or(from);
        &self.calls[from as usize..to as usize]
    }

    /// The first return that is left.
    fn deadline(&self, level: u32) -> Ts {
        self.items.get(level as usize).map_or(Ts::INF, |item| item.ret)
    }
}

struct Tracks {
    inserts: Track,
    removes: Track,
    empties: Track,
}

/// Operations that never returned, in the order of their calls.
#[derive(Default)]
struct Lost {
    /// Inserts, for each value that has some.
    inserts: Vec<Vec<(Ts, OpId)>>,
    numbers: FxHashMap<ValueId, usize>,
    removes: Vec<(Ts, OpId)>,
}

/// What has been paired of a track: all items before a level, and some of those that are open there.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Part<K> {
    level: u32,
    done: K,
}

/// Where the search stands on a track: who is open.
struct Cursor {
    level: u32,
    occupant: Vec<u32>,
}

impl Cursor {
    fn new(track: &Track) -> Cursor {
        let mut cursor = Cursor { level: 0, occupant: vec![NOBODY; track.slots] };
        cursor.let_in(track);
        cursor
    }

    fn let_in(&mut self, track: &Track) {
        for &item in track.opened(self.level) {
            self.occupant[track.slot[item as usize] as usize] = item;
        }
    }

    fn stand_at(&mut self, track: &Track, level: u32) {
        while self.level > level {
            for &item in track.opened(self.level) {
                self.occupant[track.slot[item as usize] as usize] = NOBODY;
            }
            self.level -= 1;
            self.occupant[track.slot[self.level as usize] as usize] = self.level;
        }
        while self.level < level {
            self.occupant[track.slot[self.level as usize] as usize] = NOBODY;
            self.level += 1;
            self.let_in(track);
        }
    }

    /// The items that are open and not done.
    fn open<'a, K: Mask>(&'a self, done: &'a K) -> impl Iterator<Item = u32> + 'a {
        let left = move |(slot, item): (usize, &u32)| (*item != NOBODY && !done.has(slot)).then_some(*item);
        self.occupant.iter().enumerate().filter_map(left)
    }
}

/// What has been paired.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Config<K> {
    inserts: Part<K>,
    removes: Part<K>,
    empties: Part<K>,
    /// How many inserts of each value that never returned are used.
    lost_inserts: Box<[u32]>,
    /// How many removals that never returned are used.
    lost_removes: u32,
}

/// An operation to be paired: one that returned, or the next of those that did not.
#[derive(Clone, Copy)]
enum End {
    Item(u32),
    Lost,
}

/// A pair that may be next.
#[derive(Clone, Copy)]
struct Choice {
    value: ValueId,
    insert: End,
    remove: End,
}

/// What stands in the order of the values.
#[derive(Clone, Copy)]
enum Place {
    Pair(OpId, OpId),
    Empty(OpId),
}

/// A configuration on the current path, with what is still to be tried.
struct Frame<K> {
    config: Config<K>,
    choices: Vec<Choice>,
    line: usize,
}

struct Search<'a, K> {
    tracks: &'a Tracks,
    lost: &'a Lost,
    budget: &'a Budget,
    at: [Cursor; 3],
    seen: FxHashSet<Config<K>>,
    line: Vec<Place>,
    visited: u64,
    /// The return that some configuration got to and none past.
    furthest: (Ts, Option<OpId>),
}

impl<'a, K: Mask> Search<'a, K> {
    fn new(tracks: &'a Tracks, lost: &'a Lost, budget: &'a Budget) -> Self {
        let at = [&tracks.inserts, &tracks.removes, &tracks.empties].map(Cursor::new);
        let (seen, line) = (FxHashSet::default(), Vec::new());
        Search { tracks, lost, budget, at, seen, line, visited: 0, furthest: (Ts(0), None) }
    }

    fn run(mut self) -> (Paired, u64) {
        let part = |track: &Track| Part { level: 0, done: K::empty(track.slots) };
        let mut config = Config {
            inserts: part(&self.tracks.inserts),
            removes: part(&self.tracks.removes),
            empties: part(&self.tracks.empties),
            lost_inserts: vec![0; self.lost.inserts.len()].into(),
            lost_removes: 0,
        };
        let mut path: Vec<Frame<K>> = Vec::new();
        loop {
            self.take_empties(&mut config);
            if self.is_done(&config) {
                return (Paired::Order(self.order(&config)), self.visited);
            }
            if self.seen.insert(config.clone()) {
                self.visited += 1;
                if let Some(limit) = self.limit() {
                    return (Paired::Limit(limit), self.visited);
                }
                self.note(&config);
                let choices = self.choices(&config);
                path.push(Frame { config, choices, line: self.line.len() });
            }
            // The next choice on the path, or the one before.
            let choice = loop {
                let Some(frame) = path.last_mut() else {
                    return (Paired::Fails(self.furthest.1), self.visited);
                };
                match frame.choices.pop() {
                    Some(choice) => break choice,
                    None => path.pop(),
                };
            };
            let frame = path.last().expect("the choice is from its end");
            config = frame.config.clone();
            self.line.truncate(frame.line);
            self.stand_at(&config);
            self.pair(&mut config, choice);
        }
    }

    fn stand_at(&mut self, config: &Config<K>) {
        self.at[0].stand_at(&self.tracks.inserts, config.inserts.level);
        self.at[1].stand_at(&self.tracks.removes, config.removes.level);
        self.at[2].stand_at(&self.tracks.empties, config.empties.level);
    }

    fn is_done(&self, config: &Config<K>) -> bool {
        config.removes.level as usize == self.tracks.removes.items.len()
            && config.empties.level as usize == self.tracks.empties.items.len()
    }

    fn limit(&self) -> Option<Limit> {
        if self.visited > self.budget.configurations {
            return Some(Limit::Configurations);
        }
        if !self.visited.is_multiple_of(256) {
            return None;
        }
        let outside = self.at.iter().map(|cursor| K::outside(cursor.occupant.len())).sum::<usize>();
        let each = std::mem::size_of::<Config<K>>() + outside + 4 * self.lost.inserts.len() + 8;
        if self.seen.capacity() as u64 * each as u64 > self.budget.bytes {
            return Some(Limit::Memory);
        }
        self.budget.deadline.filter(|end| Instant::now() >= *end).map(|_| Limit::Time)
    }

    /// Notes how far the history is explained.
    fn note(&mut self, config: &Config<K>) {
        let next = |track: &Track, level: u32| track.items.get(level as usize).map(|item| (item.ret, Some(item.op)));
        let removes = next(&self.tracks.removes, config.removes.level);
        let empties = next(&self.tracks.empties, config.empties.level);
        if let Some(reached) = removes.into_iter().chain(empties).min()
            && reached > self.furthest
        {
            self.furthest = reached;
        }
    }

    /// The first return that is left of inserts, of removals, and of removals that found nothing.
    fn deadlines(&self, config: &Config<K>) -> [Ts; 3] {
        [
            self.tracks.inserts.deadline(config.inserts.level),
            self.tracks.removes.deadline(config.removes.level),
            self.tracks.empties.deadline(config.empties.level),
        ]
    }

    /// Marks an item done and passes the returns of all that are.
    fn finish(track: &Track, cursor: &mut Cursor, part: &mut Part<K>, item: u32) {
        part.done.insert(track.slot[item as usize] as usize);
        while let Some(&slot) = track.slot.get(part.level as usize)
            && part.done.has(slot as usize)
            && cursor.occupant[slot as usize] == part.level
        {
            part.done.remove(slot as usize);
            part.level += 1;
            cursor.stand_at(track, part.level);
        }
    }

    /// Gives a place to every removal that found nothing and can have one here.
    fn take_empties(&mut self, config: &mut Config<K>) {
        let total = self.tracks.empties.items.len();
        while (config.empties.level as usize) < total {
            let [inserts, removes, empties] = self.deadlines(config);
            let bound = inserts.min(removes).min(empties);
            if self.latest_call(config) > bound {
                return;
            }
            let items = &self.tracks.empties.items;
            let Some(next) = self.at[2].open(&config.empties.done).find(|&item| items[item as usize].call < bound)
            else {
                return;
            };
            self.line.push(Place::Empty(items[next as usize].op));
            Search::finish(&self.tracks.empties, &mut self.at[2], &mut config.empties, next);
        }
    }

    /// The latest call of everything that has its place.
    fn latest_call(&self, config: &Config<K>) -> Ts {
        let of = |track: &Track, cursor: &Cursor, part: &Part<K>| {
            let open =
                cursor.occupant.iter().enumerate().filter(|(slot, item)| **item != NOBODY && part.done.has(*slot));
            let latest = open.map(|(_, item)| track.items[*item as usize].call).max().unwrap_or(Ts(0));
            latest.max(track.latest_call[part.level as usize])
        };
        let used = config.lost_inserts.iter().zip(&self.lost.inserts);
        let inserts = used.filter_map(|(&used, calls)| calls[..used as usize].last()).map(|(call, _)| *call).max();
        let removes = self.lost.removes[..config.lost_removes as usize].last().map(|(call, _)| *call);
        of(&self.tracks.inserts, &self.at[0], &config.inserts)
            .max(of(&self.tracks.removes, &self.at[1], &config.removes))
            .max(of(&self.tracks.empties, &self.at[2], &config.empties))
            .max(inserts.unwrap_or(Ts(0)))
            .max(removes.unwrap_or(Ts(0)))
    }

    /// The pairs that may be next, the best one last.
    fn choices(&self, config: &Config<K>) -> Vec<Choice> {
        let [inserts, removes, empties] = self.deadlines(config);
        let bound = removes.min(empties);
        let first_of_each = |track: &Track, cursor: &Cursor, part: &Part<K>, bound: Ts| {
            let mut first: FxHashMap<ValueId, u32> = FxHashMap::default();
            for item in cursor.open(&part.done).filter(|&item| track.items[item as usize].call < bound) {
                // Items are in the order of their returns.
                first
                    .entry(track.items[item as usize].value)
                    .and_modify(|best| *best = item.min(*best))
                    .or_insert(item);
            }
            first
        };
        let puts = first_of_each(&self.tracks.inserts, &self.at[0], &config.inserts, bound.min(inserts));
        let takes = first_of_each(&self.tracks.removes, &self.at[1], &config.removes, bound);
        let taker = self.lost.removes.get(config.lost_removes as usize).filter(|(call, _)| *call < bound);
        let mut choices = Vec::new();
        for (&value, &insert) in &puts {
            let remove = takes.get(&value).map(|&item| End::Item(item)).or(taker.map(|_| End::Lost));
            choices.extend(remove.map(|remove| Choice { value, insert: End::Item(insert), remove }));
        }
        for (&value, &remove) in takes.iter().filter(|(value, _)| !puts.contains_key(value)) {
            let waiting = self
                .lost
                .numbers
                .get(&value)
                .and_then(|&number| self.lost.inserts[number].get(config.lost_inserts[number] as usize));
            if waiting.is_some_and(|(call, _)| *call < bound.min(inserts)) {
                choices.push(Choice { value, insert: End::Lost, remove: End::Item(remove) });
            }
        }
        let urgency = |end: End, track: &Track| match end {
            End::Item(item) => track.items[item as usize].ret,
            End::Lost => Ts::INF,
        };
        choices.sort_unstable_by_key(|choice| {
            let remove = urgency(choice.remove, &self.tracks.removes);
            std::cmp::Reverse((remove.min(urgency(choice.insert, &self.tracks.inserts)), remove, choice.value))
        });
        choices
    }

    fn pair(&mut self, config: &mut Config<K>, choice: Choice) {
        let insert = match choice.insert {
            End::Item(item) => {
                Search::finish(&self.tracks.inserts, &mut self.at[0], &mut config.inserts, item);
                self.tracks.inserts.items[item as usize].op
            }
            End::Lost => {
                let number = self.lost.numbers[&choice.value];
                config.lost_inserts[number] += 1;
                self.lost.inserts[number][config.lost_inserts[number] as usize - 1].1
            }
        };
        let remove = match choice.remove {
            End::Item(item) => {
                Search::finish(&self.tracks.removes, &mut self.at[1], &mut config.removes, item);
                self.tracks.removes.items[item as usize].op
            }
            End::Lost => {
                config.lost_removes += 1;
                self.lost.removes[config.lost_removes as usize - 1].1
            }
        };
        self.line.push(Place::Pair(insert, remove));
    }

    /// The linearization that the order of pairs gives.
    fn order(&self, config: &Config<K>) -> Vec<OpId> {
        let calls: FxHashMap<OpId, Ts> = [&self.tracks.inserts, &self.tracks.removes, &self.tracks.empties]
            .into_iter()
            .flat_map(|track| track.items.iter().map(|item| (item.op, item.call)))
            .chain(self.lost.inserts.iter().flatten().chain(&self.lost.removes).map(|&(call, op)| (op, call)))
            .collect();
        let mut order = Vec::with_capacity(2 * self.line.len());
        // (time, whether it is a removal, operation); what is not placed yet.
        let mut block: Vec<(Ts, bool, OpId)> = Vec::new();
        let (mut inserted, mut removed) = (Ts(0), Ts(0));
        let flush = |block: &mut Vec<(Ts, bool, OpId)>, order: &mut Vec<OpId>| {
            // A stable sort: inserts stay in their order, and so do removals.
            block.sort_by_key(|(time, removes, _)| (*time, *removes));
            order.extend(block.drain(..).map(|(_, _, op)| op));
        };
        for place in &self.line {
            match *place {
                Place::Pair(insert, remove) => {
                    inserted = inserted.max(calls[&insert]);
                    removed = removed.max(inserted).max(calls[&remove]);
                    block.push((inserted, false, insert));
                    block.push((removed, true, remove));
                }
                Place::Empty(op) => {
                    flush(&mut block, &mut order);
                    order.push(op);
                    inserted = inserted.max(removed).max(calls[&op]);
                    removed = inserted;
                }
            }
        }
        let inserts = &self.tracks.inserts;
        let rest = (config.inserts.level..inserts.items.len() as u32).filter(|&item| {
            let slot = inserts.slot[item as usize] as usize;
            !(self.at[0].occupant[slot] == item && config.inserts.done.has(slot))
        });
        let mut rest: Vec<Item> = rest.map(|item| inserts.items[item as usize]).collect();
        rest.sort_unstable_by_key(|item| item.call);
        for item in rest {
            inserted = inserted.max(item.call);
            block.push((inserted, false, item.op));
        }
        flush(&mut block, &mut order);
        order
    }
}
