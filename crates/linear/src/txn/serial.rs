//! An order of register transactions in real time, by running them: the short way to strict serializability.
//!
//! A set of transactions that have run tells all that matters about the registers: a version that somebody has still to read must be the current one, and one that nobody
//! is to read may be anything. So a transaction may run next if it was called before anybody left returned, if the versions it reads are current, and if the versions it overwrites have no other readers
//! to come. The search is that of Wing and Gong 1993 with Lowe's 2017 table of what failed, over these sets:
//!
//! - one whose versions nobody is to read can only help by running at once;
//! - one whose version must last until somebody is called, past the return of another writer of the key that is open, cannot run before that other one;
//! - of the others those that returned first are tried first.
//!
//! With so many transactions open at a time as there are clients, wrong turns show soon, and the cost is linear in practice. Where it leads nowhere for long, the one that returned first is run all the same. Then
//! nothing is concluded: the dependency graph has to tell ([`super::complete`]), for which the order is a good guess, wrong in few places. An order without that is replayed by whoever asked.

use rustc_hash::{FxHashMap, FxHashSet};

use super::lists::Lists;
use super::observe::Observed;
use super::{Micro, Outcome, Seen, Transactions};
use crate::history::Ts;
use crate::value::ValueId;

/// How many transactions may be looked at for each one there is.
const LOOKS: u64 = 300;

/// How many may be looked at however few there are.
const LEAST: u64 = 1_000_000;

/// How often one goes back before a transaction is run that does not fit.
const TURNS: u32 = 1_000;

/// How many are looked at between two looks at the clock.
const PATIENCE: u64 = 1 << 16;

/// The end of a list.
const END: u32 = u32::MAX;

/// An order of the transactions.
pub(super) struct Serial {
    pub(super) order: Vec<u32>,
    /// Whether each of them reads there what it read.
    pub(super) fits: bool,
}

/// Runs the transactions of registers in an order in which each reads what it read, as far as there is one; nothing if that takes too long.
pub(super) fn order(history: &Transactions, observed: &Observed, late: &dyn Fn() -> bool) -> Option<Serial> {
    Run::new(history, observed).order(LEAST + LOOKS * history.txns.len() as u64, late)
}

/// Calls and returns that are left, in order of time, as a list from which transactions can be taken and put back. The call of transaction `t` is `2 t + 1`, its return `2 t + 2`; 0 is the head.
struct Left {
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Left {
    fn new(history: &Transactions, included: &[bool]) -> Left {
        let mut events: Vec<(Ts, bool, u32)> = Vec::with_capacity(2 * history.txns.len());
        for (at, txn) in (0u32..).zip(&history.txns).filter(|(at, _)| included[*at as usize]) {
            events.push((txn.call, false, at));
            if txn.ret < Ts::INF {
                events.push((txn.ret, true, at));
            }
        }
        events.sort_unstable();
        let mut left =
            Left { next: vec![END; 2 * history.txns.len() + 1], previous: vec![END; 2 * history.txns.len() + 1] };
        let mut last = 0;
        for (_, returns, txn) in events {
            let event = 2 * txn + 1 + u32::from(returns);
            left.next[last as usize] = event;
            left.previous[event as usize] = last;
            last = event;
        }
        left
    }

    /// The transactions that were called before any that is left returned.
    fn open(&self) -> impl Iterator<Item = u32> {
        let follow = |event: u32| Some(self.next[event as usize]).filter(|next| *next % 2 == 1 && *next != END);
        std::iter::successors(follow(0), move |event| follow(*event)).map(|event| event / 2)
    }

    /// Takes out a transaction.
    fn take(&mut self, txn: u32) {
        for event in [2 * txn + 1, 2 * txn + 2] {
            let (before, after) = (self.previous[event as usize], self.next[event as usize]);
            if before != END {
                self.next[before as usize] = after;
                if after != END {
                    self.previous[after as usize] = before;
                }
            }
        }
    }

    /// Puts back the one that was taken last of those that are out.
    fn put_back(&mut self, txn: u32) {
        for event in [2 * txn + 2, 2 * txn + 1] {
            let (before, after) = (self.previous[event as usize], self.next[event as usize]);
            if before != END {
                self.next[before as usize] = event;
                if after != END {
                    self.previous[after as usize] = event;
                }
            }
        }
    }
}

/// Transactions run one after another.
struct Run<'a> {
    history: &'a Transactions,
    left: Left,
    /// The versions each transaction writes and reads.
    writes: Lists,
    reads: Lists,
    /// Of each version its key, how many reads are to come, and when the last of its readers was called.
    keys: Vec<u32>,
    unread: Vec<u32>,
    needed: Vec<Ts>,
    /// The version of each key that is there now.
    current: Vec<u32>,
    count: usize,
    /// What has run, and the versions that were there before.
    ran: Vec<u32>,
    overwritten: Vec<u32>,
    /// A number that stands for the set of what has run.
    set: u64,
}

/// A place at which there was a choice.
struct Choice {
    /// How many had run.
    ran: usize,
    /// Where what is left to try begins.
    options: usize,
}

impl<'a> Run<'a> {
    fn new(history: &'a Transactions, observed: &Observed) -> Run<'a> {
        let txns = history.txns.len();
        let (mut writes, mut reads, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let mut current = Vec::with_capacity(observed.keys.len());
        let mut numbers: FxHashMap<ValueId, u32> = FxHashMap::default();
        for (number, known) in (0u32..).zip(&observed.keys) {
            // What was there at the beginning is a version, too.
            numbers.insert(known.key, number);
            current.push(keys.len() as u32);
            keys.push(number);
            let mut readers = known.reads.iter().peekable();
            for &(writer, _) in &known.rest {
                let version = keys.len() as u32;
                keys.push(number);
                writes.push((writer, version));
                while let Some((reader, _)) = readers.next_if(|(_, from)| *from == writer) {
                    reads.push((*reader, version));
                }
            }
        }
        for txn in (0..txns as u32).filter(|txn| history.txns[*txn as usize].outcome == Outcome::Committed) {
            let from = reads.len();
            for micro in history.parts(txn) {
                if let Micro::Read(key, Seen::Value(ValueId::NIL)) = micro
                    && let Some(&number) = numbers.get(key)
                    && !reads[from..].contains(&(txn, current[number as usize]))
                {
                    reads.push((txn, current[number as usize]));
                }
            }
        }
        let (mut unread, mut needed) = (vec![0; keys.len()], vec![Ts(0); keys.len()]);
        for &(reader, version) in &reads {
            unread[version as usize] += 1;
            let called = &mut needed[version as usize];
            *called = (*called).max(history.txns[reader as usize].call);
        }
        Run {
            history,
            left: Left::new(history, &observed.included),
            writes: Lists::new(txns, &writes),
            reads: Lists::new(txns, &reads),
            keys,
            unread,
            needed,
            current,
            count: observed.included.iter().filter(|included| **included).count(),
            ran: Vec::with_capacity(txns),
            overwritten: Vec::new(),
            set: 0,
        }
    }

    fn order(mut self, mut looks: u64, late: &dyn Fn() -> bool) -> Option<Serial> {
        // How often one went back without getting further than before.
        let (mut fits, mut turns, mut furthest) = (true, 0, 0);
        let mut choices: Vec<Choice> = Vec::new();
        let mut options: Vec<u32> = Vec::new();
        let mut failed: FxHashSet<u64> = FxHashSet::default();
        let mut asked = looks;
        while self.ran.len() < self.count {
            if self.ran.len() > furthest {
                (furthest, turns) = (self.ran.len(), 0);
            }
            let begin = options.len();
            let free = self.options(&mut options, &mut looks);
            if looks == 0 || (asked - looks > PATIENCE && late()) {
                return None;
            }
            asked = if asked - looks > PATIENCE { looks } else { asked };
            if let Some(free) = free {
                options.truncate(begin);
                self.run(free);
                continue;
            }
            if options.len() > begin + 1 {
                if failed.contains(&self.set) {
                    options.truncate(begin);
                } else {
                    choices.push(Choice { ran: self.ran.len(), options: begin });
                }
            }
            // The next one to try here or, if there is none, where there was a choice.
            if options.len() == begin {
                turns += 1;
                while turns <= TURNS
                    && let Some(Choice { ran, options: begin }) = choices.last()
                {
                    self.back_to(*ran);
                    if options.len() > *begin {
                        break;
                    }
                    failed.insert(self.set);
                    choices.pop();
                }
            }
            if turns > TURNS || options.is_empty() {
                (fits, turns) = (false, 0);
                options.clear();
                choices.clear();
                let first = self.left.open().min_by_key(|txn| self.history.txns[*txn as usize].ret)?;
                self.run(first);
                continue;
            }
            let next = options.pop()?;
            self.run(next);
        }
        Some(Serial { order: self.ran, fits })
    }

    /// What may run next, the best one last; or one that may as well run at once.
    fn options(&self, options: &mut Vec<u32>, looks: &mut u64) -> Option<u32> {
        let begin = options.len();
        for txn in self.left.open() {
            *looks = looks.saturating_sub(1);
            if !self.possible(txn) {
                continue;
            }
            if self.writes.of(txn).iter().all(|version| self.unread[*version as usize] == 0) {
                return Some(txn);
            }
            options.push(txn);
        }
        let mut at = begin;
        while at < options.len() {
            match self.must_wait(options[at]) {
                true => _ = options.remove(at),
                false => at += 1,
            }
        }
        options[begin..].sort_unstable_by_key(|txn| std::cmp::Reverse((self.history.txns[*txn as usize].ret, *txn)));
        None
    }

    /// Whether a transaction reads what is there and overwrites nothing that others are to read.
    fn possible(&self, txn: u32) -> bool {
        let current = |version: u32| self.current[self.keys[version as usize] as usize];
        let reads = self.reads.of(txn);
        reads.iter().all(|version| current(*version) == *version)
            && self.writes.of(txn).iter().all(|version| {
                let before = current(*version);
                self.unread[before as usize] <= u32::from(reads.contains(&before))
            })
    }

    /// Whether another one that is open writes a key that this one writes, and returned before the last reader of this one's version was called.
    fn must_wait(&self, txn: u32) -> bool {
        self.writes.of(txn).iter().filter(|version| self.unread[**version as usize] > 0).any(|version| {
            let (key, needed) = (self.keys[*version as usize], self.needed[*version as usize]);
            self.left.open().any(|other| {
                other != txn
                    && self.history.txns[other as usize].ret < needed
                    && self.writes.of(other).iter().any(|written| self.keys[*written as usize] == key)
            })
        })
    }

    fn run(&mut self, txn: u32) {
        self.left.take(txn);
        self.reads.of(txn).iter().for_each(|version| self.unread[*version as usize] -= 1);
        for &version in self.writes.of(txn) {
            let current = &mut self.current[self.keys[version as usize] as usize];
            self.overwritten.push(std::mem::replace(current, version));
        }
        self.set ^= mixed(txn);
        self.ran.push(txn);
    }

    fn back_to(&mut self, count: usize) {
        for txn in self.ran.drain(count..).rev() {
            self.set ^= mixed(txn);
            for &version in self.writes.of(txn).iter().rev() {
                let before = self.overwritten.pop().expect("what was overwritten has been kept");
                self.current[self.keys[version as usize] as usize] = before;
            }
            self.reads.of(txn).iter().for_each(|version| self.unread[*version as usize] += 1);
            self.left.put_back(txn);
        }
    }
}

/// A number like a random one for each transaction (the finaliser of SplitMix64). Sets with equal numbers are taken for equal: an order may then be missed.
fn mixed(txn: u32) -> u64 {
    let mut mixed = (u64::from(txn) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
