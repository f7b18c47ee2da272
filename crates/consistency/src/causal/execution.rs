//! An execution without the order of its writes, and the relations of one that has it.

use raddle_trace::{Matrix, Ordering};

/// An event. Others are named by their number.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The location it accesses.
    pub loc: Option<u32>,
    /// What it read, if it reads: a write, or the initial value.
    pub reads: Option<Option<usize>>,
    /// Whether others can read from it.
    pub writes: bool,
    /// If it is the writing of an update: what the update read. Nothing comes between that and this.
    pub follows: Option<Option<usize>>,
    /// Its ordering.
    pub order: Ordering,
    /// Whether it is a fence.
    pub fence: bool,
}

impl Event {
    /// A full fence.
    pub fn is_full_fence(&self) -> bool {
        self.fence && self.order == Ordering::SeqCst
    }

    /// An access or a fence that is in the order of sequentially consistent ones.
    pub fn is_sc(&self) -> bool {
        self.order == Ordering::SeqCst && (self.fence || self.writes || self.reads.is_some())
    }
}

/// Events, their program order and what happens before what.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The events.
    pub events: Vec<Event>,
    /// Program order, with the starts and ends of threads.
    pub po: Matrix,
    /// What happens before.
    pub hb: Matrix,
}

impl Execution {
    /// `[set]`.
    pub(crate) fn on(&self, is_in: impl Fn(&Event) -> bool) -> Matrix {
        Matrix::on(self.events.len(), |event| is_in(&self.events[event]))
    }

    /// Whether two events access one location.
    pub(crate) fn same_location(&self, a: usize, b: usize) -> bool {
        self.events[a].loc.is_some() && self.events[a].loc == self.events[b].loc
    }

    /// The relations, if this is the order of writes, or what is known of it.
    pub(crate) fn relations(&self, mo: Matrix) -> Relations<'_> {
        let size = self.events.len();
        let mut rf = Matrix::empty(size);
        let mut rb = Matrix::empty(size);
        for (read, event) in self.events.iter().enumerate() {
            let Some(source) = event.reads else { continue };
            if let Some(source) = source {
                rf.add(source, read);
            }
            let later = |&write: &usize| match source {
                Some(source) => mo.has(source, write),
                None => self.events[write].writes && self.same_location(read, write),
            };
            (0..size).filter(|&write| write != read).filter(later).for_each(|write| rb.add(read, write));
        }
        Relations { execution: self, rf, mo, rb }
    }
}

/// What an execution and an order of its writes, or a part of one, make of its events; names as in the papers.
pub(crate) struct Relations<'e> {
    pub(crate) execution: &'e Execution,
    rf: Matrix,
    pub(crate) mo: Matrix,
    rb: Matrix,
}

impl Relations<'_> {
    fn eco(&self) -> Matrix {
        self.rf.or(&self.mo).or(&self.rb).closure()
    }

    /// Whether `hb ; eco?` is irreflexive.
    pub(crate) fn is_coherent(&self) -> bool {
        self.execution.hb.then(&self.eco().or_same()).is_irreflexive()
    }

    /// `[Fsc] ; (order ∪ hb ; eco ; hb) ; [Fsc]`.
    pub(crate) fn fences(&self, order: &Matrix) -> Matrix {
        let fence = self.execution.on(Event::is_full_fence);
        let hb = &self.execution.hb;
        fence.then(&order.or(&hb.then(&self.eco()).then(hb))).then(&fence)
    }

    /// ```text
    /// scb      = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ rb
    /// psc_base = ([Esc] ∪ [Fsc] ; hb?) ; scb ; ([Esc] ∪ hb? ; [Fsc])
    /// psc_F    = [Fsc] ; (hb ∪ hb ; eco ; hb) ; [Fsc]
    /// ```
    pub(crate) fn psc(&self) -> Matrix {
        let Execution { po, hb, .. } = self.execution;
        let same = |a: usize, b: usize| self.execution.same_location(a, b);
        let elsewhere = po.filter(|a, b| !same(a, b));
        let scb = po.or(&elsewhere.then(hb).then(&elsewhere)).or(&hb.filter(same)).or(&self.mo).or(&self.rb);
        let (fence, event) = (self.execution.on(Event::is_full_fence), self.execution.on(Event::is_sc));
        let from = event.or(&fence.then(&hb.or_same()));
        let to = event.or(&hb.or_same().then(&fence));
        from.then(&scb).then(&to).or(&self.fences(hb))
    }
}
