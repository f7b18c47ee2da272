//! Stacks in near-linear time.
//!
//! The procedure is the one of [`super::stack_quadratic`] (extreme values, splits at empty instants), with two
//! observations that make it fast. In every part the least push return only grows and the greatest pop call only shrinks,
//! so a value once *minimal* or *maximal* stays so, and each part needs only a pointer into the values ordered by push
//! call and by pop return. And inner intervals of different parts lie in disjoint ranges of time, so one global
//! array of coverage counters ([`super::segment_tree`]) serves all parts.
//!
//! A part keeps four linked lists: by push return, by pop call (their heads are `m` and `M`), and the values not yet
//! flagged minimal by push call, not yet flagged maximal by pop return. A split walks the first list from both ends
//! at once, takes out the smaller side, sorts it anew and leaves the larger side in place.
//!
//! Pairwise tests cannot replace this: for every k there are violations of k values all of whose proper subsets
//! are fine.
//!
//! After Grahn 2026; the data structure is ours. Cost: n log² n, since a value is on the smaller side at most log n times.

use super::matching::{Empty, Val};
use super::segment_tree::Coverage;
use super::segments::{Barrier, barriers, populated};
use super::stack_quadratic;
use crate::history::{OpId, Ts};

/// A push or pop of a value, by the position of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Its push.
    Push(u32),
    /// Its pop.
    Pop(u32),
}

/// What came of ordering values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Core {
    /// An order of all pushes and pops.
    Ordered(Vec<Move>),
    /// These values alone cannot be ordered: something is stored throughout and no value can be outermost.
    Stuck(Vec<u32>),
}

/// Which of the two procedures to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StackAlgorithm {
    /// The one of this module.
    #[default]
    NearLinear,
    /// The reference.
    Quadratic,
}

const NONE: u32 = u32::MAX;

/// One doubly linked list through the values for each part; the heads live in the parts.
struct Links {
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Links {
    fn new(length: usize) -> Links {
        Links { next: vec![NONE; length], prev: vec![NONE; length] }
    }

    /// Strings these values together; the first and last of them.
    fn string(&mut self, values: impl Iterator<Item = u32>) -> (u32, u32) {
        let (mut head, mut tail) = (NONE, NONE);
        for value in values {
            self.prev[value as usize] = tail;
            self.next[value as usize] = NONE;
            if tail == NONE {
                head = value;
            } else {
                self.next[tail as usize] = value;
            }
            tail = value;
        }
        (head, tail)
    }

    fn unlink(&mut self, value: u32, head: &mut u32, tail: &mut u32) {
        let (next, prev) = (self.next[value as usize], self.prev[value as usize]);
        if prev == NONE {
            *head = next;
        } else {
            self.next[prev as usize] = next;
        }
        if next == NONE {
            *tail = prev;
        } else {
            self.prev[next as usize] = prev;
        }
    }
}

/// The two ends of a list.
#[derive(Clone, Copy)]
struct Ends {
    head: u32,
    tail: u32,
}

impl Ends {
    fn of((head, tail): (u32, u32)) -> Ends {
        Ends { head, tail }
    }
}

/// A set of values to be ordered on its own.
struct Part {
    by_push_return: Ends,
    by_pop_call: Ends,
    not_minimal: Ends,
    not_maximal: Ends,
    /// Values that go around everything else, outermost first.
    around: Vec<u32>,
    /// What is inside, once it has been split.
    inside: Option<(usize, usize)>,
}

const MINIMAL: u8 = 1;
const MAXIMAL: u8 = 2;

struct Solver<'a> {
    vals: &'a [Val],
    /// Ranks of the push return and the pop call among all of these.
    span: Vec<(u32, u32)>,
    coverage: Coverage,
    push_return: Links,
    pop_call: Links,
    push_call: Links,
    pop_return: Links,
    flags: Vec<u8>,
    parts: Vec<Part>,
}

/// The positions of the values in order of a key.
fn sorted(values: impl Iterator<Item = u32>, key: impl Fn(u32) -> Ts) -> impl Iterator<Item = u32> {
    let mut packed: Vec<u64> = values.map(|value| u64::from(key(value).0) << 32 | u64::from(value)).collect();
    packed.sort_unstable();
    packed.into_iter().map(|entry| entry as u32)
}

fn descending(time: Ts) -> Ts {
    Ts(u32::MAX - time.0)
}

/// Orders the pushes and pops of values whose push and pop do not overlap, or says which values are stuck.
pub fn core(vals: &[Val]) -> Core {
    if vals.is_empty() {
        return Core::Ordered(Vec::new());
    }
    let mut solver = Solver::new(vals);
    let mut tasks = vec![0];
    while let Some(part) = tasks.pop() {
        solver.peel(part);
        let Part { by_push_return, by_pop_call, .. } = solver.parts[part];
        if by_push_return.head == NONE {
            continue;
        }
        let from = solver.span[by_push_return.head as usize].0 as usize;
        let to = solver.span[by_pop_call.head as usize].1 as usize;
        match solver.coverage.leftmost_zero(from, to) {
            None => return Core::Stuck(solver.members(part)),
            Some(gap) => {
                let (left, right) = solver.split(part, gap as u32);
                tasks.push(right);
                tasks.push(left);
            }
        }
    }
    Core::Ordered(solver.order())
}

impl<'a> Solver<'a> {
    fn new(vals: &'a [Val]) -> Solver<'a> {
        let count = vals.len();
        let mut times: Vec<u64> = Vec::with_capacity(2 * count);
        for (at, val) in vals.iter().enumerate() {
            times.push(u64::from(val.pr.0) << 32 | (2 * at) as u64);
            times.push(u64::from(val.oc.0) << 32 | (2 * at + 1) as u64);
        }
        times.sort_unstable();
        let mut span = vec![(0, 0); count];
        let (mut rank, mut last) = (0u32, None);
        let mut change: Vec<i32> = Vec::with_capacity(2 * count + 1);
        for entry in times {
            let (time, which) = (entry >> 32, entry as u32);
            if last != Some(time) {
                rank += u32::from(last.is_some());
                last = Some(time);
                change.push(0);
            }
            let slot = &mut span[which as usize / 2];
            if which % 2 == 0 {
                slot.0 = rank;
                change[rank as usize] += 1;
            } else {
                slot.1 = rank;
                change[rank as usize] -= 1;
            }
        }
        let mut depth = 0;
        for count in &mut change {
            depth += *count;
            *count = depth;
        }
        let all = || 0..count as u32;
        let time = |value: u32| &vals[value as usize];
        let mut solver = Solver {
            vals,
            span,
            coverage: Coverage::new(&change),
            push_return: Links::new(count),
            pop_call: Links::new(count),
            push_call: Links::new(count),
            pop_return: Links::new(count),
            flags: vec![0; count],
            parts: Vec::new(),
        };
        let part = Part {
            by_push_return: Ends::of(solver.push_return.string(sorted(all(), |v| time(v).pr))),
            by_pop_call: Ends::of(solver.pop_call.string(sorted(all(), |v| descending(time(v).oc)))),
            not_minimal: Ends::of(solver.push_call.string(sorted(all(), |v| time(v).pc))),
            not_maximal: Ends::of(solver.pop_return.string(sorted(all(), |v| descending(time(v).or)))),
            around: Vec::new(),
            inside: None,
        };
        solver.parts.push(part);
        solver
    }

    /// Takes extreme values out of a part until there are none.
    fn peel(&mut self, index: usize) {
        let part = &mut self.parts[index];
        let mut extreme = Vec::new();
        while part.by_push_return.head != NONE {
            let first_return = self.vals[part.by_push_return.head as usize].pr;
            let last_call = self.vals[part.by_pop_call.head as usize].oc;
            while part.not_minimal.head != NONE && self.vals[part.not_minimal.head as usize].pc < first_return {
                let value = part.not_minimal.head;
                self.push_call.unlink(value, &mut part.not_minimal.head, &mut part.not_minimal.tail);
                self.flags[value as usize] |= MINIMAL;
                if self.flags[value as usize] == MINIMAL | MAXIMAL {
                    extreme.push(value);
                }
            }
            while part.not_maximal.head != NONE && self.vals[part.not_maximal.head as usize].or > last_call {
                let value = part.not_maximal.head;
                self.pop_return.unlink(value, &mut part.not_maximal.head, &mut part.not_maximal.tail);
                self.flags[value as usize] |= MAXIMAL;
                if self.flags[value as usize] == MINIMAL | MAXIMAL {
                    extreme.push(value);
                }
            }
            if extreme.is_empty() {
                return;
            }
            for value in extreme.drain(..) {
                self.push_return.unlink(value, &mut part.by_push_return.head, &mut part.by_push_return.tail);
                self.pop_call.unlink(value, &mut part.by_pop_call.head, &mut part.by_pop_call.tail);
                let (from, to) = self.span[value as usize];
                self.coverage.add(from as usize, to as usize, -1);
                part.around.push(value);
            }
        }
    }

    fn members(&self, index: usize) -> Vec<u32> {
        let mut members = Vec::new();
        let mut value = self.parts[index].by_push_return.head;
        while value != NONE {
            members.push(value);
            value = self.push_return.next[value as usize];
        }
        members
    }

    /// Splits a part at a gap; the numbers of the left and the right side.
    fn split(&mut self, index: usize, gap: u32) -> (usize, usize) {
        let Ends { head, tail } = self.parts[index].by_push_return;
        let (mut from_left, mut from_right) = (head, tail);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let left_is_smaller = loop {
            if self.span[from_left as usize].0 > gap {
                break true;
            }
            if self.span[from_right as usize].0 <= gap {
                break false;
            }
            left.push(from_left);
            right.push(from_right);
            from_left = self.push_return.next[from_left as usize];
            from_right = self.push_return.prev[from_right as usize];
        };
        let smaller = if left_is_smaller {
            left
        } else {
            right.reverse();
            right
        };
        let mut rest = Part {
            by_push_return: self.parts[index].by_push_return,
            by_pop_call: self.parts[index].by_pop_call,
            not_minimal: self.parts[index].not_minimal,
            not_maximal: self.parts[index].not_maximal,
            around: Vec::new(),
            inside: None,
        };
        for &value in &smaller {
            self.push_return.unlink(value, &mut rest.by_push_return.head, &mut rest.by_push_return.tail);
            self.pop_call.unlink(value, &mut rest.by_pop_call.head, &mut rest.by_pop_call.tail);
            if self.flags[value as usize] & MINIMAL == 0 {
                self.push_call.unlink(value, &mut rest.not_minimal.head, &mut rest.not_minimal.tail);
            }
            if self.flags[value as usize] & MAXIMAL == 0 {
                self.pop_return.unlink(value, &mut rest.not_maximal.head, &mut rest.not_maximal.tail);
            }
        }
        let vals = self.vals;
        let flags = &self.flags;
        let lacking = |flag: u8| smaller.iter().copied().filter(move |&value| flags[value as usize] & flag == 0);
        let taken = Part {
            by_pop_call: Ends::of(
                self.pop_call.string(sorted(smaller.iter().copied(), |v| descending(vals[v as usize].oc))),
            ),
            not_minimal: Ends::of(self.push_call.string(sorted(lacking(MINIMAL), |v| vals[v as usize].pc))),
            not_maximal: Ends::of(
                self.pop_return.string(sorted(lacking(MAXIMAL), |v| descending(vals[v as usize].or))),
            ),
            by_push_return: Ends::of(self.push_return.string(smaller.iter().copied())),
            around: Vec::new(),
            inside: None,
        };
        let first = self.parts.len();
        let (left, right) = if left_is_smaller { (taken, rest) } else { (rest, taken) };
        self.parts.push(left);
        self.parts.push(right);
        self.parts[index].inside = Some((first, first + 1));
        (first, first + 1)
    }

    /// The order of all pushes and pops, once everything has been taken apart.
    fn order(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(2 * self.vals.len());
        let mut tasks = vec![(0, false)];
        while let Some((index, leaving)) = tasks.pop() {
            let part = &self.parts[index];
            if leaving {
                moves.extend(part.around.iter().rev().map(|&value| Move::Pop(value)));
                continue;
            }
            moves.extend(part.around.iter().map(|&value| Move::Push(value)));
            tasks.push((index, true));
            if let Some((left, right)) = part.inside {
                tasks.push((right, false));
                tasks.push((left, false));
            }
        }
        moves
    }
}

/// Why values and empty pops cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StackFailure {
    /// These values (positions) alone cannot.
    Stuck(Vec<u32>),
    /// Something is stored throughout this empty pop.
    Empty(Empty),
}

/// A linearization of all values and empty pops; virtual pops are left out.
pub fn linearize(vals: &[Val], empties: &[Empty], algorithm: StackAlgorithm) -> Result<Vec<OpId>, StackFailure> {
    let mut block: Vec<Val> = Vec::with_capacity(vals.len());
    let mut positions: Vec<u32> = Vec::with_capacity(vals.len());
    for at in sorted(0..vals.len() as u32, |at| vals[at as usize].pr) {
        let val = vals[at as usize];
        if !val.overlaps() {
            block.push(val);
            positions.push(at);
        }
    }
    let barriers = barriers(&populated(block.iter()), empties).map_err(StackFailure::Empty)?;
    // (operation, its call, its return); virtual pops are there as `None` because their times count.
    let mut line: Vec<(Option<OpId>, Ts)> = Vec::with_capacity(2 * vals.len() + empties.len());
    let solve = |from: usize, to: usize, line: &mut Vec<(Option<OpId>, Ts)>| {
        let solved = match algorithm {
            StackAlgorithm::NearLinear => core(&block[from..to]),
            StackAlgorithm::Quadratic => stack_quadratic::core(&block[from..to]),
        };
        match solved {
            Core::Ordered(moves) => {
                line.extend(moves.into_iter().map(|step| match step {
                    Move::Push(at) => (Some(block[from + at as usize].insert), block[from + at as usize].pc),
                    Move::Pop(at) => (block[from + at as usize].remove, block[from + at as usize].oc),
                }));
                Ok(())
            }
            Core::Stuck(stuck) => {
                Err(StackFailure::Stuck(stuck.into_iter().map(|at| positions[from + at as usize]).collect()))
            }
        }
    };
    let mut done = 0;
    for Barrier { op, gap_from, at } in barriers {
        let end = gap_from.map_or(0, |gap| block.partition_point(|val| val.pr <= gap));
        if end > done {
            solve(done, end, &mut line)?;
            done = end;
        }
        line.push((Some(op), at));
    }
    solve(done, block.len(), &mut line)?;
    Ok(weave(line, vals))
}

/// Puts the pairs of overlapping values, each push next to its pop, into a line of the others.
fn weave(line: Vec<(Option<OpId>, Ts)>, vals: &[Val]) -> Vec<OpId> {
    let mut pairs: Vec<(Ts, &Val)> =
        vals.iter().filter(|val| val.overlaps()).map(|val| (val.pc.max(val.oc), val)).collect();
    pairs.sort_unstable_by_key(|(at, _)| *at);
    let mut pairs = pairs.into_iter().peekable();
    let mut order = Vec::with_capacity(line.len() + 2 * pairs.len());
    let mut now = Ts(0);
    for (op, call) in line {
        let next = now.max(call);
        while let Some((_, val)) = pairs.next_if(|(at, _)| *at < next) {
            order.push(val.insert);
            order.extend(val.remove);
        }
        now = next;
        order.extend(op);
    }
    for (_, val) in pairs {
        order.push(val.insert);
        order.extend(val.remove);
    }
    order
}

/// For each upper value, among the lower values pushed wholly before it whose pop was called after it was in, the
/// one whose pop returned first: by then the upper value must be on its way out. n log n.
pub fn thresholds(lowers: &[Val], uppers: &[Val]) -> Vec<Option<u32>> {
    let by_oc: Vec<u32> = sorted(0..lowers.len() as u32, |at| lowers[at as usize].oc).collect();
    let mut rank = vec![0u32; lowers.len()];
    for (position, &at) in by_oc.iter().enumerate() {
        rank[at as usize] = position as u32;
    }
    let leaves = lowers.len().next_power_of_two().max(1);
    let mut least: Vec<(Ts, u32)> = vec![(Ts::INF, NONE); 2 * leaves];
    let mut waiting = sorted(0..lowers.len() as u32, |at| lowers[at as usize].pr).peekable();
    let mut found = vec![None; uppers.len()];
    for upper in sorted(0..uppers.len() as u32, |at| uppers[at as usize].pc) {
        let top = &uppers[upper as usize];
        while let Some(lower) = waiting.next_if(|&lower| lowers[lower as usize].pr < top.pc) {
            let mut node = leaves + rank[lower as usize] as usize;
            while node >= 1 {
                least[node] = least[node].min((lowers[lower as usize].or, lower));
                node /= 2;
            }
        }
        let start = by_oc.partition_point(|&at| lowers[at as usize].oc <= top.pr);
        let (mut left, mut right) = (leaves + start, 2 * leaves);
        let mut best = (Ts::INF, NONE);
        while left < right {
            if left & 1 == 1 {
                best = best.min(least[left]);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                best = best.min(least[right]);
            }
            left >>= 1;
            right >>= 1;
        }
        found[upper as usize] = (best.0 < Ts::INF).then_some(best.1);
    }
    found
}

/// A violation of two values, if there is one: `(lower, upper)` where `upper` was pushed onto `lower` and was still there when
/// `lower` had come out. Of all such pairs one that shows first. n log n.
pub fn inverted_pair(vals: &[Val]) -> Option<(u32, u32)> {
    let pairs =
        thresholds(vals, vals).into_iter().enumerate().filter_map(|(upper, lower)| Some((lower?, upper as u32)));
    pairs
        .filter(|&(lower, upper)| vals[lower as usize].or < vals[upper as usize].oc)
        .min_by_key(|&(lower, _)| vals[lower as usize].or)
}
