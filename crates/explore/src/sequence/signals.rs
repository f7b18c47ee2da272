//! Backtrack signals: is it enough to have tried this read, or must others be tried before it?
//!
//! While a read is being tried it is an *ancestor* of everything below. If no write to its location by another thread
//! shows up there, beyond those that were there already, then nothing is gained by letting other reads go first. A write that
//! shows up sets the ancestor's signal.
//!
//! Two things can keep a write from showing up although it is possible, and each is a signal, too (deviations from the
//! published rules, which lose executions):
//! * an update that is pending below may be one that the ancestor, itself an update, has disabled by what it wrote.
//!   Published for compare-exchanges below compare-exchanges only;
//! * a lock that is pending below may wait for a mutex that the ancestor took and nobody releases. Published: nothing.
//!
//! The second is a special case of the first here, where a lock is an update that waits.
//!
//! Used by `rvf`, for which they were published, by `vc` and by `dc`.

use super::event::LocId;
use super::frontier::Frontier;
use super::run::Pending;
use raddle_trace::EventId;

/// Whether trying this read can make it needless to try others. The argument for that needs a read that can be done at
/// any time, or a mutex: there what is in its way is another lock that shows up.
pub(crate) fn stops(pending: &Pending) -> bool {
    !pending.wait || pending.mutex
}

/// A read that is being tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ancestor {
    pub(crate) id: EventId,
    pub(crate) loc: LocId,
    pub(crate) update: bool,
    pub(crate) mutex: bool,
    /// A compare-exchange.
    pub(crate) compares: bool,
    pub(crate) signal: bool,
}

impl Ancestor {
    /// The event of a pending read; `compares` says whether it is a compare-exchange and that is of interest.
    pub(crate) fn of(id: EventId, pending: Pending, compares: bool, signal: bool) -> Ancestor {
        let Pending { loc, update, mutex, .. } = pending;
        Ancestor { id, loc, update, mutex, compares, signal }
    }
}

/// The reads that are being tried, the innermost last.
#[derive(Debug, Default)]
pub(crate) struct Ancestors {
    stack: Vec<Ancestor>,
    /// Those of each location.
    by_loc: Vec<Vec<u32>>,
}

impl Ancestors {
    pub(crate) fn push(&mut self, ancestor: Ancestor) {
        let loc = ancestor.loc as usize;
        if self.by_loc.len() <= loc {
            self.by_loc.resize_with(loc + 1, Vec::new);
        }
        self.by_loc[loc].push(self.stack.len() as u32);
        self.stack.push(ancestor);
    }

    pub(crate) fn len(&self) -> usize {
        self.stack.len()
    }

    /// The first so many of them.
    pub(crate) fn first(&self, count: usize) -> Ancestors {
        let mut first = Ancestors::default();
        self.stack[..count].iter().for_each(|&ancestor| first.push(ancestor));
        first
    }

    /// Whether this one, from the outermost on, has got a signal.
    pub(crate) fn has_signal(&self, number: usize) -> bool {
        self.stack[number].signal
    }

    /// Which of them have got a signal.
    pub(crate) fn signals(&self) -> Vec<bool> {
        self.stack.iter().map(|ancestor| ancestor.signal).collect()
    }

    /// Signals that came from elsewhere, from the outermost read on.
    pub(crate) fn hear(&mut self, signals: &[bool]) {
        self.stack.iter_mut().zip(signals).for_each(|(ancestor, signal)| ancestor.signal |= signal);
    }

    /// Ends trying the innermost read. Returns its signal.
    pub(crate) fn pop(&mut self) -> bool {
        let ancestor = self.stack.pop().expect("one for each read that is tried");
        self.by_loc[ancestor.loc as usize].pop();
        ancestor.signal
    }

    fn signal(&mut self, loc: LocId, is: impl Fn(&Ancestor) -> bool) {
        for &at in self.by_loc.get(loc as usize).map_or(&[][..], Vec::as_slice) {
            let ancestor = &mut self.stack[at as usize];
            ancestor.signal |= is(ancestor);
        }
    }

    /// An event has shown up. If it writes, that is a signal to those who could read from it.
    pub(crate) fn shown(&mut self, id: EventId, frontier: &Frontier<'_>) {
        let event = frontier.event(id);
        if event.writes() {
            self.signal(event.loc, |other| other.id.thread != id.thread && !frontier.before(other.id, id));
        }
    }

    /// A thread is about to do this, which says of updates of the location that were tried whether they may hide it.
    pub(crate) fn pending(&mut self, pending: Pending, hides: impl Fn(&Ancestor) -> bool) {
        if pending.update {
            self.signal(pending.loc, |ancestor| ancestor.id.thread != pending.thread && hides(ancestor));
        }
    }
}
