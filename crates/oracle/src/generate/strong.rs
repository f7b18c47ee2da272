//! Programs in which the common order of seq_cst accesses and full fences decides: short threads that go from location to location, most of their events being part of that
//! order.

use super::Generator;
use crate::sketch::{At, Stmt, Value};
use raddle_program::{Ordering, RmwOp};

impl Generator {
    /// Two to four threads of a few accesses.
    pub(super) fn strong(&mut self) {
        let locations: usize = self.random.pick(&[2, 2, 2, 3]);
        self.variables(locations);
        let threads = self.random.pick(&[2, 3, 3, 3, 4]);
        for _ in 0..threads {
            let length = if threads == 4 { 2 } else { self.random.between(2, 4) };
            let mut place = self.random.below(locations);
            let mut body = Vec::new();
            while body.len() < length {
                body.push(self.strong_access(place));
                if self.random.chance(25) {
                    body.push(Stmt::Fence(Ordering::SeqCst));
                }
                if self.random.chance(75) {
                    place = (place + 1) % locations;
                }
            }
            self.sketch.threads.push(body);
        }
    }

    fn strong_access(&mut self, place: usize) -> Stmt {
        let at = At::Object(self.uses.vars[place]);
        let value = Value::Const(self.random.between(1, 2) as i32);
        let strong = self.random.chance(55);
        let order = |weaker: Ordering| if strong { Ordering::SeqCst } else { weaker };
        let relaxed = self.random.chance(50);
        let or_relaxed = |order: Ordering| if relaxed { Ordering::Relaxed } else { order };
        match self.random.below(10) {
            0..5 => Stmt::Load(Some(self.reg()), at, order(or_relaxed(Ordering::Acquire))),
            5..9 => Stmt::Store(at, value, order(or_relaxed(Ordering::Release))),
            _ => Stmt::Rmw(Some(self.reg()), RmwOp::Xchg, at, value, order(or_relaxed(Ordering::AcqRel))),
        }
    }
}
