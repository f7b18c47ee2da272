//! Condition variables and barriers, on terms. The machine's `thread/sync.rs` says the same on numbers, stage by stage; each stage is a step and a node here as there.
//!
//! Who is woken by a signal is a variable: one of those who wait, by its bit in the set of them. Only threads that wait somewhere in the unrolled program are asked for (`points`).

use super::access::{Kind, Update};
use super::graph::{Action, CutKind, Location};
use super::state::State;
use super::sync::{DESTROYED, MOST_LOCKS};
use super::unroll::{Fail, Unroller};
use raddle_machine::Addr;
use raddle_machine::address::WAKEUPS;
use raddle_machine::code::{NO_SLOT, Slot};
use raddle_program::{Ordering, Type, Unwritten};
use raddle_solve::{Term, Terms};
use raddle_trace::{Property, ThreadId};

/// The last thread that can wait on a condition variable.
const LAST_WAITER: u32 = 63;
/// How many bits what is counted here needs: there are fewer nodes.
const COUNTED: u8 = 13;
/// For how many different numbers of threads a barrier may be.
const MOST_COUNTS: usize = 8;

/// One more, of what needs few bits.
trait Increment {
    fn increment(&mut self, word: Term) -> Term;
}

impl Increment for Terms {
    fn increment(&mut self, word: Term) -> Term {
        let (low, high) = (self.extract(word, 0, COUNTED), self.extract(word, COUNTED, 64 - COUNTED));
        let one = self.constant(COUNTED, 1);
        let more = self.add(low, one);
        self.concat(high, more)
    }
}

impl Unroller<'_> {
    /// Whether threads wait at what this is the word of: the set is not empty, or a round of the barrier has begun.
    pub(super) fn somebody_waits(&mut self, word: Term) -> Term {
        let terms = &mut self.graph.terms;
        let (count, arrived) = (terms.extract(word, 32, 32), terms.extract(word, 0, 32));
        let (zero, end) = (terms.constant(32, 0), terms.constant(64, DESTROYED));
        let rest = terms.urem(arrived, count);
        // The remainder of a division by zero is the dividend.
        let (begun, over) = (terms.ne(rest, zero), terms.eq(word, end));
        terms.and_not(begun, over)
    }

    fn wakeups(&mut self, thread: u32) -> Term {
        self.graph.terms.constant(64, Addr::object(ThreadId(thread), WAKEUPS).0)
    }

    /// Adds to a word of eight bytes what `new` says, unless its object was destroyed, which is an error if it is asked for.
    fn change_word(
        &mut self,
        thread: usize,
        state: &mut State,
        at: Term,
        is_object: bool,
        new: impl Fn(&mut Self, Term) -> (Term, Term),
    ) -> Result<Term, Fail> {
        let pc = state.pc;
        let (mut gone, mut word) = (self.graph.terms.bool(false), at);
        let destroys = self.destroys && is_object;
        self.update(thread, state, NO_SLOT, Type::I64, at, false, |unroller, _, found| {
            word = found;
            let (new, writes) = new(unroller, found);
            let terms = &mut unroller.graph.terms;
            let end = terms.constant(64, DESTROYED);
            gone = if destroys { terms.eq(found, end) } else { terms.bool(false) };
            let writes = terms.and_not(writes, gone);
            Ok(Update { new, writes, goes_on: terms.bool(true), fails: terms.bool(false) })
        })?;
        self.fail_if(thread, state, gone, Property::Lock, pc);
        Ok(word)
    }

    /// Does something in a state if the condition holds, and nothing else; it may not end the thread.
    fn only_if(
        &mut self,
        state: &mut State,
        condition: Term,
        act: impl FnOnce(&mut Self, &mut State) -> Result<(), Fail>,
    ) -> Result<(), Fail> {
        let guard = self.graph.terms.and(state.guard, condition);
        if self.graph.terms.is_false(guard) {
            return Ok(());
        }
        let mut part = State { guard, ..state.clone() };
        act(self, &mut part)?;
        let without = self.graph.terms.and_not(state.guard, condition);
        state.guard = self.graph.terms.or(without, part.guard);
        state.behind = part.behind;
        state.has_acted();
        Ok(())
    }

    pub(super) fn cond_wait(
        &mut self,
        thread: usize,
        state: State,
        addr: u64,
        mutex: Term,
        timed: bool,
    ) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let Some(mutexes) = self.graph.terms.choices(mutex, MOST_LOCKS) else {
            return self.refuse(pc, "the engine `oc` does not know which lock this is");
        };
        let mut next = Vec::new();
        for choice in mutexes {
            let value = self.graph.terms.constant(64, choice);
            let is = self.graph.terms.eq(mutex, value);
            let guard = self.graph.terms.and(state.guard, is);
            if !self.graph.terms.is_false(guard) {
                next.extend(self.wait_with(thread, State { guard, ..state.clone() }, addr, choice, timed)?);
            }
        }
        Ok(next)
    }

    fn wait_with(
        &mut self,
        thread: usize,
        mut state: State,
        addr: u64,
        mutex: u64,
        timed: bool,
    ) -> Result<Vec<State>, Fail> {
        let (pc, yes) = (state.pc, self.graph.terms.bool(true));
        let Some(held) = state.held.iter().position(|held| held.0 == mutex) else {
            self.fail_if(thread, &mut state, yes, Property::Lock, pc);
            return Ok(Vec::new());
        };
        let id = self.graph.threads[thread].id;
        if id.0 > LAST_WAITER {
            return self.refuse(pc, "only the first 64 threads can wait on a condition variable");
        }
        self.points.waits(id.0);
        let (object, lock) = (self.graph.terms.constant(64, addr), self.graph.terms.constant(64, mutex));
        let me = self.graph.terms.constant(64, 1 << id.0);
        self.change_word(thread, &mut state, object, true, |unroller, set| (unroller.graph.terms.or(set, me), yes))?;
        let free = self.graph.terms.constant(64, 0);
        self.store(thread, &mut state, Type::I32, lock, free, Ordering::Release)?;
        let (_, count) = state.held.remove(held);
        let (at, woken) = (self.wakeups(id.0), self.graph.terms.constant(64, u64::from(state.waits)));
        if timed {
            let list = self.access(thread, &mut state, at, 8, Kind::Read)?;
            let look = self.begin(thread, &mut state, &list, Kind::Read, false, false);
            let (found, _) = self.look(thread, &mut state, &list, look, Type::I64, Unwritten::Error)?;
            self.few_wakeups(&state, found);
            let more = self.graph.terms.ult(woken, found);
            state.guard = self.graph.terms.and(state.guard, more);
        } else {
            self.load_until(
                thread,
                &mut state,
                NO_SLOT,
                Type::I64,
                at,
                Unwritten::Error,
                false,
                |unroller, state, found, at_end| {
                    if !at_end {
                        unroller.few_wakeups(state, found);
                    }
                    let terms = &mut unroller.graph.terms;
                    Ok((terms.ult(woken, found), terms.bool(false)))
                },
            )?;
        }
        state.waits += 1;
        let owner = u64::from(id.0) + 1;
        self.take(thread, state, NO_SLOT, mutex, true, count, |unroller, found| {
            let zero = unroller.graph.terms.constant(32, 0);
            (unroller.graph.terms.eq(found, zero), unroller.graph.terms.constant(32, owner))
        })
    }

    /// There are no more wake-ups than nodes; nobody else writes where they are counted.
    fn few_wakeups(&mut self, state: &State, count: Term) {
        let terms = &mut self.graph.terms;
        let (beyond, none) = (terms.extract(count, COUNTED, 64 - COUNTED), terms.constant(64 - COUNTED, 0));
        let few = terms.eq(beyond, none);
        self.graph.require(state.guard, few);
    }

    /// The bits of the threads that may wait.
    fn waiting_bits(&mut self) -> Vec<u32> {
        let waiters = self.points.waiters();
        (0..=LAST_WAITER).filter(|bit| waiters >> bit & 1 == 1).collect()
    }

    pub(super) fn signal(&mut self, thread: usize, mut state: State, addr: u64) -> Result<Vec<State>, Fail> {
        let object = self.graph.terms.constant(64, addr);
        let bits = self.waiting_bits();
        let chosen = self.graph.terms.var(64);
        self.graph.terms.restrict(chosen, bits.iter().map(|bit| 1 << bit).collect());
        let step = self.graph.threads[thread].plan.len();
        let set = self.change_word(thread, &mut state, object, true, |unroller, set| {
            let terms = &mut unroller.graph.terms;
            let (zero, others) = (terms.constant(64, 0), terms.not(chosen));
            (terms.and(set, others), terms.ne(set, zero))
        })?;
        if bits.is_empty() {
            return Ok(vec![state]);
        }
        // Somebody who waits is chosen; as how many-th of them is what a schedule says, if there are several.
        let terms = &mut self.graph.terms;
        let (zero, one) = (terms.constant(64, 0), terms.constant(64, 1));
        let somebody = terms.ne(set, zero);
        let (mut fits, mut number) = (terms.bool(false), terms.constant(32, 1));
        for &bit in &bits {
            let (waits, mark) = (terms.extract(set, bit as u8, 1), terms.constant(64, 1 << bit));
            let (here, later) = (terms.eq(chosen, mark), terms.ult(mark, chosen));
            let (here, before) = (terms.and(here, waits), terms.and(later, waits));
            fits = terms.or(fits, here);
            let before = terms.zext(before, 32);
            number = terms.add(number, before);
        }
        let less = terms.sub(set, one);
        let rest = terms.and(set, less);
        let (several, alone) = (terms.ne(rest, zero), terms.constant(32, 0));
        let pick = terms.ite(several, number, alone);
        let guard = self.graph.terms.and(state.guard, somebody);
        self.graph.require(guard, fits);
        for planned in &mut self.graph.threads[thread].plan[step..] {
            if planned.node.is_some() && matches!(planned.action, Action::Run) {
                planned.action = Action::Wake(pick);
            }
        }
        let mut at = self.wakeups(bits[0]);
        for &bit in &bits[1..] {
            let mark = self.graph.terms.constant(64, 1 << bit);
            let (is, other) = (self.graph.terms.eq(chosen, mark), self.wakeups(bit));
            at = self.graph.terms.ite(is, other, at);
        }
        self.only_if(&mut state, somebody, |unroller, state| unroller.wake(thread, state, at))?;
        Ok(vec![state])
    }

    pub(super) fn broadcast(&mut self, thread: usize, mut state: State, addr: u64) -> Result<Vec<State>, Fail> {
        let object = self.graph.terms.constant(64, addr);
        let set = self.change_word(thread, &mut state, object, true, |unroller, set| {
            let zero = unroller.graph.terms.constant(64, 0);
            (zero, unroller.graph.terms.ne(set, zero))
        })?;
        for bit in self.waiting_bits() {
            let waits = self.graph.terms.extract(set, bit as u8, 1);
            let at = self.wakeups(bit);
            self.only_if(&mut state, waits, |unroller, state| unroller.wake(thread, state, at))?;
        }
        Ok(vec![state])
    }

    /// One more wake-up.
    fn wake(&mut self, thread: usize, state: &mut State, at: Term) -> Result<(), Fail> {
        let yes = self.graph.terms.bool(true);
        let count =
            self.change_word(thread, state, at, false, |unroller, count| (unroller.graph.terms.increment(count), yes))?;
        self.few_wakeups(state, count);
        Ok(())
    }

    pub(super) fn barrier_init(
        &mut self,
        thread: usize,
        mut state: State,
        addr: u64,
        count: Term,
    ) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let (at, zero) = (self.graph.terms.constant(64, addr), self.graph.terms.constant(64, 0));
        let nobody = self.graph.terms.eq(count, zero);
        self.fail_if(thread, &mut state, nobody, Property::Lock, pc);
        match self.graph.terms.choices(count, MOST_COUNTS) {
            Some(counts) => counts.into_iter().for_each(|count| self.points.add_count(addr, count)),
            None => return self.refuse(pc, "the engine `oc` does not know for how many threads this barrier is"),
        }
        let (count, arrived) = (self.graph.terms.extract(count, 0, 32), self.graph.terms.constant(32, 0));
        let word = self.graph.terms.concat(count, arrived);
        self.store(thread, &mut state, Type::I64, at, word, Ordering::Release)?;
        Ok(vec![state])
    }

    pub(super) fn barrier_wait(
        &mut self,
        thread: usize,
        mut state: State,
        dst: Slot,
        addr: u64,
    ) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let at = self.graph.terms.constant(64, addr);
        let first = self.graph.initial(self.code, Location::Memory(addr, 8));
        if let Some(first) = self.graph.terms.as_const(first) {
            self.points.add_count(addr, first >> 32);
        }
        let word = self.change_word(thread, &mut state, at, true, |unroller, word| {
            let terms = &mut unroller.graph.terms;
            let zero = terms.constant(32, 0);
            let count = terms.extract(word, 32, 32);
            (terms.increment(word), terms.ne(count, zero))
        })?;
        let terms = &mut self.graph.terms;
        let (count, zero) = (terms.extract(word, 32, 32), terms.constant(32, 0));
        let never = terms.eq(count, zero);
        self.fail_if(thread, &mut state, never, Property::Lock, pc);
        // So many have arrived as there are nodes at most, and the barrier is for as many as somebody has said, unless memory was overwritten.
        let terms = &mut self.graph.terms;
        let (arrived, beyond) = (terms.extract(word, 0, COUNTED), terms.extract(word, COUNTED, 32 - COUNTED));
        let none = terms.constant(32 - COUNTED, 0);
        let mut known = terms.bool(false);
        let mut opening = arrived;
        for among in self.points.counts(addr).into_iter().filter(|&count| count != 0) {
            let terms = &mut self.graph.terms;
            let wide = terms.constant(32, among);
            let is = terms.eq(count, wide);
            if among >= 1 << (COUNTED - 1) {
                continue;
            }
            let among = terms.constant(COUNTED, among);
            let rest = terms.urem(arrived, among);
            let begun = terms.sub(arrived, rest);
            let there = terms.add(begun, among);
            opening = terms.ite(is, there, opening);
            known = terms.or(known, is);
        }
        let terms = &mut self.graph.terms;
        let few = terms.eq(beyond, none);
        let known = terms.and(known, few);
        let lost = terms.and_not(state.guard, known);
        self.cut(lost, pc, CutKind::GaveUp);
        state.guard = self.graph.terms.and(state.guard, known);
        let terms = &mut self.graph.terms;
        let one = terms.constant(COUNTED, 1);
        let now = terms.add(arrived, one);
        let last = terms.eq(now, opening);
        let more = terms.not(last);
        self.set(&mut state, dst, last);
        self.only_if(&mut state, more, |unroller, state| {
            unroller.load_until(
                thread,
                state,
                NO_SLOT,
                Type::I64,
                at,
                Unwritten::Error,
                false,
                |unroller, _, found, _| {
                    let terms = &mut unroller.graph.terms;
                    let (arrived, end) = (terms.extract(found, 0, 32), terms.constant(64, DESTROYED));
                    let opening = terms.zext(opening, 32);
                    let (early, over) = (terms.ult(arrived, opening), terms.eq(found, end));
                    let there = terms.not(early);
                    Ok((terms.or(there, over), terms.bool(false)))
                },
            )
        })?;
        Ok(vec![state])
    }
}
