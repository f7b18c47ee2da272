//! Programs with loops that wait, in the ways they are written, and with assumptions that a load leads into.
//!
//! Each loop is as plain as in a source file. Its turns that come back have no effect, or have one (a count that lives on, a compare-exchange that nobody looks
//! at, a store), or only some have; it has one way out or two; what it waits for may never come. Looks and stores may be such that can race.

use super::Generator;
use crate::sketch::{At, Cmp, Kind, Reg, Stmt, Test, Value};
use raddle_program::Ordering;

const A: Reg = Reg(0);
const B: Reg = Reg(1);
const C: Reg = Reg(2);

fn is(reg: Reg, value: i32) -> Test {
    Test { reg, cmp: Cmp::Eq, value: Value::Const(value) }
}

fn is_not(reg: Reg, value: i32) -> Test {
    Test { reg, cmp: Cmp::Ne, value: Value::Const(value) }
}

impl Generator {
    /// Two or three threads, most of which wait in a loop and then do something that others may wait for.
    pub(super) fn waits(&mut self) {
        let count = self.random.pick(&[1, 2, 2]);
        self.variables(count);
        self.uses.mutexes = self.objects("m", Kind::Mutex, 1);
        self.uses.orders = self.random.chance(40);
        self.uses.not_atomic = self.random.chance(30);
        let threads = self.random.pick(&[2, 2, 2, 3]);
        for thread in 0..threads {
            let mut body = Vec::new();
            if self.random.chance(30) {
                body.push(self.load());
            }
            if self.random.chance(30) {
                body.push(self.store());
            }
            if thread == 0 || self.random.chance(60) {
                body.extend(self.waiting());
                if self.random.chance(30) {
                    let reg = self.reg();
                    body.push(Stmt::Store(self.at(), Value::Reg(reg, 0), Ordering::Relaxed));
                }
            } else {
                for _ in 0..self.random.between(1, 3) {
                    let stmt = if self.random.chance(80) { self.store() } else { self.load() };
                    body.push(stmt);
                }
            }
            if self.random.chance(50) {
                body.push(self.store());
            }
            self.sketch.threads.push(body);
        }
    }

    fn look(&mut self, reg: Reg, x: At) -> Stmt {
        Stmt::Load(Some(reg), x, self.order())
    }

    fn try_swap(&mut self, reg: Reg, x: At, old: Value, new: Value) -> Stmt {
        Stmt::Cas(Some(reg), x, old, new, self.update_order())
    }

    /// A loop that waits, with what belongs to it before and behind.
    fn waiting(&mut self) -> Vec<Stmt> {
        let (x, y) = (self.at(), self.at());
        let k = self.random.below(3) as i32;
        let (zero, one) = (Value::Const(0), Value::Const(1));
        let new = self.random.pick(&[Value::Const(1), Value::Const(2), Value::Reg(A, 1)]);
        let repeat = Stmt::Loop;
        match self.random.below(23) {
            // One look; two looks; a look and a fence.
            1 if x != y => {
                vec![repeat(vec![self.look(A, x), Stmt::Leave(is(A, k)), self.look(B, y), Stmt::Leave(is_not(B, 0))])]
            }
            0 | 1 => vec![repeat(vec![self.look(A, x), Stmt::Leave(is(A, k))])],
            2 => vec![repeat(vec![self.look(A, x), Stmt::Leave(is(A, k)), self.fence()])],
            // A compare-exchange; after a look; after a wait; after a look that must be of the same value.
            3 => vec![repeat(vec![self.try_swap(A, x, zero, one), Stmt::Leave(is(A, 0))])],
            4 | 5 => vec![repeat(vec![
                self.look(A, x),
                Stmt::Again(is_not(A, 0)),
                self.try_swap(B, x, zero, one),
                Stmt::Leave(is(B, 0)),
            ])],
            6 => {
                let inner = repeat(vec![self.look(A, x), Stmt::Leave(is(A, 0))]);
                vec![repeat(vec![inner, self.try_swap(B, x, zero, one), Stmt::Leave(is(B, 0))])]
            }
            7 | 8 => vec![repeat(vec![
                self.look(A, x),
                self.try_swap(B, x, Value::Reg(A, 0), new),
                Stmt::Leave(Test { reg: B, cmp: Cmp::Eq, value: Value::Reg(A, 0) }),
            ])],
            // The same, with what the compare-exchange found as the next look.
            9 | 10 => {
                let order = self.update_order();
                let look = Stmt::Load(Some(A), x, order);
                let swap = Stmt::Cas(Some(B), x, Value::Reg(A, 0), new, order);
                let leave = Stmt::Leave(Test { reg: B, cmp: Cmp::Eq, value: Value::Reg(A, 0) });
                vec![look, repeat(vec![swap, leave, Stmt::Set(A, Value::Reg(B, 0))])]
            }
            // A first look or attempt before the loop.
            11 | 12 => {
                let look = self.look(A, x);
                let mut turn = vec![Stmt::Leave(is(A, k))];
                if x != y && self.random.chance(30) {
                    turn.push(self.look(B, y));
                }
                turn.push(look.clone());
                // Whether the last turn was the first one shows in what the other look found.
                vec![look, repeat(turn), Stmt::Set(B, zero)]
            }
            13 => {
                let swap = self.try_swap(A, x, zero, one);
                vec![swap.clone(), repeat(vec![Stmt::Leave(is(A, 0)), swap])]
            }
            // A count that dies; attempts that are counted.
            14 => vec![repeat(vec![Stmt::Count(C, 3), self.look(A, x), Stmt::Leave(is(A, k))]), Stmt::Set(C, zero)],
            15 => {
                let turn =
                    vec![Stmt::Set(C, Value::Reg(C, 1)), self.look(A, x), Stmt::Leave(is(A, k)), Stmt::Leave(is(C, 2))];
                vec![Stmt::Set(C, zero), repeat(turn)]
            }
            // Attempts that nobody looks at.
            16 => {
                let swap = Stmt::Cas(None, y, Value::Const(2), one, self.update_order());
                vec![repeat(vec![self.look(A, x), Stmt::Leave(is(A, k)), swap])]
            }
            17 => {
                let m = self.uses.mutexes[0];
                let inside = self.store();
                vec![repeat(vec![Stmt::TryLock(Some(A), m), Stmt::Leave(is_not(A, 0))]), inside, Stmt::Unlock(m)]
            }
            // No loop, but an assumption behind a look.
            18 => vec![self.look(A, x), Stmt::Assume(is(A, k))],
            19 => vec![self.look(A, x), Stmt::Set(B, Value::Reg(A, 1)), Stmt::Assume(is_not(B, k)), self.look(A, y)],
            20 => {
                let inside = Stmt::If(is(A, k), vec![Stmt::Assume(self.test())], vec![Stmt::Assert(self.test())]);
                vec![self.look(A, x), inside, Stmt::Assume(self.test())]
            }
            21 => vec![repeat(vec![self.look(A, x), Stmt::Assume(is_not(A, 2)), Stmt::Leave(is(A, k))])],
            // Turns that write if they find something.
            _ => {
                let store = Stmt::If(is(A, 1), vec![Stmt::Store(x, Value::Const(2), Ordering::Relaxed)], Vec::new());
                vec![repeat(vec![self.look(A, x), Stmt::Leave(is(A, k)), store])]
            }
        }
    }
}
