//! Programs with barriers: rounds of accesses between which threads meet.
//!
//! A barrier may be for fewer threads than come to it, so that who is in which round is open, or for more, so that somebody waits for ever. Some threads look
//! whether they were the last, some come to fewer rounds, and some accesses are not atomic.

use super::Generator;
use crate::sketch::{Cmp, Kind, Stmt, Test, Value};

impl Generator {
    /// Two or three threads that meet in up to three rounds.
    pub(super) fn meetings(&mut self) {
        let count = self.random.pick(&[1, 1, 2]);
        self.variables(count);
        let threads: usize = self.random.pick(&[2, 2, 2, 3]);
        let for_all = threads as u32;
        let size = self.random.pick(&[for_all, for_all, for_all, for_all, for_all - 1, for_all + 1]);
        let count = self.random.pick(&[1, 1, 1, 2]);
        self.uses.barriers = self.objects("b", Kind::Barrier(size), count);
        self.uses.not_atomic = self.random.chance(40);
        self.uses.orders = self.random.chance(30);
        let rounds = self.random.pick(&[1, 1, 2, 2, 3]);
        let asking = self.random.pick(&[0, 0, 30, 60, 100]);
        let in_order = self.random.chance(80);
        for _ in 0..threads {
            let mut body = Vec::new();
            for round in 0..rounds {
                self.sometimes(&mut body);
                if self.random.chance(5) {
                    continue;
                }
                let at = if in_order { round % count } else { self.random.below(count) };
                let barrier = self.uses.barriers[at];
                let last = self.random.chance(asking).then(|| self.reg());
                body.push(Stmt::Barrier(last, barrier));
                if let Some(reg) = last.filter(|_| self.random.chance(70)) {
                    let test = Test { reg, cmp: Cmp::Ne, value: Value::Const(0) };
                    let then = if self.random.chance(80) { self.store() } else { Stmt::Assert(self.test()) };
                    body.push(Stmt::If(test, vec![then], Vec::new()));
                }
            }
            self.sometimes(&mut body);
            self.sketch.threads.push(body);
        }
        if self.random.chance(15) {
            self.nest();
        }
    }

    /// Nothing, or an access.
    fn sometimes(&mut self, body: &mut Vec<Stmt>) {
        match self.random.below(12) {
            0..3 => body.push(self.store()),
            3..5 => body.push(self.load()),
            5 => body.push(self.update()),
            6 => body.push(Stmt::Assume(self.test())),
            _ => {}
        }
    }
}
