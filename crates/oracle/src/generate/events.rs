//! Programs with messages: threads and messages that post messages to loopers.
//!
//! Messages are few and short, and most of them meet in one or two variables, so that in which order a looper runs them is seen. They post further messages,
//! start threads, lock, wait and fail like any other code; some loopers are stuck for ever in the end.

use super::Generator;
use crate::sketch::{Kind, ObjectId, PtrReg, Stmt};
use raddle_program::{Mailbox, Ordering};

impl Generator {
    /// One or two threads, two to five messages, one or two loopers.
    pub(super) fn events(&mut self) {
        let count = self.random.pick(&[1, 1, 2, 2, 3]);
        self.variables(count);
        let loopers = self.random.pick(&[1, 1, 2, 2]);
        let loopers: Vec<ObjectId> = (0..loopers)
            .map(|i| {
                let kinds = [Mailbox::Queue, Mailbox::Queue, Mailbox::Bag, Mailbox::Stack];
                let mailbox = self.random.pick(&kinds);
                self.object(format!("l{i}"), Kind::Looper(mailbox))
            })
            .collect();
        self.uses.branches = self.random.chance(30);
        self.uses.updates = self.random.chance(30);
        self.uses.assertions = self.random.chance(15);
        self.uses.assumptions = self.random.chance(10);
        self.uses.choices = self.random.chance(10);
        self.uses.waits = self.random.chance(12);
        self.uses.spins = self.random.chance(30);
        self.uses.not_atomic = self.random.chance(20);
        self.uses.orders = self.random.chance(30);
        if self.random.chance(15) {
            self.uses.mutexes = self.objects("m", Kind::Mutex, 1);
        }
        if self.random.chance(5) {
            self.uses.semaphores = self.objects("s", Kind::Semaphore(1), 1);
        }
        let heap = self.random.chance(15).then(|| self.object("q".to_owned(), Kind::Pointer));
        let threads = self.random.pick(&[1, 1, 2, 2, 3]);
        let messages = self.random.between(2, if threads > 2 { 3 } else { 5 });
        for index in 0..threads + messages {
            let most = if index < threads { 1 } else { 3 };
            let least = usize::from(index >= threads);
            let room = self.random.between(least, most);
            let body = match heap {
                Some(q) if index >= threads && self.random.chance(70) => self.of_an_object(q),
                _ => self.stmts(room, 0),
            };
            self.sketch.threads.push(body);
        }
        for message in threads..threads + messages {
            // Most messages are posted by threads.
            let parent = if self.random.chance(65) { self.random.below(threads) } else { self.random.below(message) };
            let looper = self.random.pick(&loopers);
            let at = self.random.below(self.sketch.threads[parent].len() + 1);
            let start = if self.random.chance(93) { Stmt::Post(message, looper) } else { Stmt::Spawn(message) };
            self.sketch.threads[parent].insert(at, start);
        }
    }

    /// A message that makes an object, uses it if it is there, or ends its life.
    fn of_an_object(&mut self, q: ObjectId) -> Vec<Stmt> {
        let (p, null) = (PtrReg(0), PtrReg(1));
        let order = Ordering::Relaxed;
        let look = Stmt::LoadPtr(p, q, order);
        let then = match self.random.below(4) {
            0 => return vec![Stmt::Alloc(p, true), Stmt::StorePtr(q, p, order)],
            1 if self.random.chance(80) => vec![Stmt::Free(p), Stmt::StorePtr(q, null, order)],
            1 => vec![Stmt::Free(p)],
            _ => vec![self.through(p, order)],
        };
        vec![look, Stmt::IfNull(p, Vec::new(), then)]
    }
}
