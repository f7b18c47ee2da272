//! Operations that wait until it is known how those before them end.
//!
//! Some watchers have to know what an operation answered when they come to its call. They look at an event once every operation called before it has ended, or is
//! known never to. An operation that stays open while very many others are called is taken to be one that never ends; if it does after all, there is no verdict.

use super::{Trouble, Wrong};
use crate::history::{Op, Ts};
use crate::value::ValueId;

/// How many operations may wait for one to end.
const PATIENCE: usize = 1 << 16;

/// An operation that waits.
#[derive(Clone, Copy)]
struct Waiting {
    op: Op,
    /// Whether it is known how it ends.
    known: bool,
}

/// Operations in the order of their calls.
pub(super) struct Delay {
    waiting: Vec<Waiting>,
    returned: usize,
    /// How many returns are looked at together, if nothing stands in the way: fewer are told of sooner, more are faster.
    together: usize,
    /// So many returns must have come before it is worth looking again.
    enough: usize,
}

impl Delay {
    /// Looks at so many returns together.
    pub(super) fn new(together: usize) -> Delay {
        Delay { waiting: Vec::new(), returned: 0, together, enough: 0 }
    }

    /// An operation is called.
    pub(super) fn called(&mut self, op: &Op) {
        self.waiting.push(Waiting { op: *op, known: false });
    }

    fn find(&mut self, op: &Op) -> Result<usize, Trouble> {
        let at = self.waiting.binary_search_by_key(&op.call, |waiting| waiting.op.call);
        at.ok().filter(|&at| !self.waiting[at].known).ok_or_else(|| {
            let why = "an operation stayed open for too long and ended after all; leave out --stream";
            Trouble::GaveUp(why.into())
        })
    }

    /// An operation ended: it returned, or nobody will ever know how it ends.
    pub(super) fn ended(&mut self, op: &Op) -> Result<(), Trouble> {
        let at = self.find(op)?;
        self.waiting[at] = Waiting { op: *op, known: true };
        self.returned += usize::from(!op.is_pending());
        Ok(())
    }

    /// An operation turned out never to have taken effect.
    pub(super) fn vanished(&mut self, op: &Op) -> Result<(), Trouble> {
        let at = self.find(op)?;
        self.waiting.remove(at);
        Ok(())
    }

    /// The history ends: what is open stays so.
    pub(super) fn end(&mut self) {
        self.waiting.iter_mut().for_each(|waiting| waiting.known = true);
        self.enough = 0;
    }

    /// The moment before which everything is known, if it is worth looking now.
    pub(super) fn settled(&mut self) -> Option<Ts> {
        if self.returned < self.enough.max(1) {
            return None;
        }
        let mut unknown = self.waiting.iter().position(|waiting| !waiting.known);
        if let Some(at) = unknown.filter(|at| self.waiting.len() - at > PATIENCE) {
            self.waiting[at].known = true;
            unknown = self.waiting.iter().position(|waiting| !waiting.known);
        }
        let until = unknown.map_or(Ts::INF, |at| self.waiting[at].op.call);
        let ready = self.waiting.iter().filter(|waiting| waiting.op.ret < until).count();
        if self.enough > 0 && 2 * ready < self.returned {
            // Too much is held back: look again when there is twice as much.
            self.enough = 2 * self.returned;
            return None;
        }
        self.enough = self.together.max(2 * (self.returned - ready));
        self.returned -= ready;
        Some(until)
    }

    /// The operations called before a moment, in order.
    pub(super) fn before(&self, until: Ts) -> impl Iterator<Item = &Op> {
        self.waiting.iter().map(|waiting| &waiting.op).take_while(move |op| op.call < until)
    }

    /// Keeps those of the operations for which a test says so.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Op) -> bool) {
        self.waiting.retain(|waiting| keep(&waiting.op));
    }

    /// How many operations wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Visits every value that is held.
    pub(super) fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        for Waiting { op, .. } in &mut self.waiting {
            for value in [&mut op.process, &mut op.place, &mut op.arg, &mut op.arg2] {
                visit(value);
            }
            op.result.iter_mut().for_each(&mut *visit);
        }
    }
}

/// Says that no order of the operations explains one of them.
pub(super) fn unexplained(name: &str, op: &Op) -> Trouble {
    let mut about = Vec::new();
    let mut word = |value: ValueId| {
        about.push(value);
        format!("{{{}}}", about.len() - 1)
    };
    let arguments: Vec<String> =
        [op.arg, op.arg2].into_iter().filter(|value| *value != ValueId::NIL).map(&mut word).collect();
    let answer = op.result.map_or(String::new(), |result| format!(" = {}", word(result)));
    let message = format!(
        "no order of the operations explains {name}({}){answer}, called on line {}",
        arguments.join(", "),
        op.call_line
    );
    Trouble::Wrong(Wrong { message, about })
}
