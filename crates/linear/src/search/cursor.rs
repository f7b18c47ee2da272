//! Where the search stands in the history: before which return, and who is open there.

use super::layout::Layout;
use super::mask::Mask;

/// A place between two returns.
pub(super) struct Cursor<K> {
    /// How many returns have been passed.
    pub(super) level: u32,
    /// The slots of the operations that are open at the next return.
    pub(super) occupied: K,
    /// Whose a slot is.
    occupant: Vec<u32>,
}

impl<K: Mask> Cursor<K> {
    /// Before the first return.
    pub(super) fn new(layout: &Layout) -> Cursor<K> {
        let mut cursor = Cursor { level: 0, occupied: K::empty(layout.slots), occupant: vec![0; layout.slots] };
        cursor.let_in(layout);
        cursor
    }

    /// The operation that returns next.
    pub(super) fn next(&self, layout: &Layout) -> Option<u32> {
        layout.returns.get(self.level as usize).copied()
    }

    /// Calls `visit` for every open operation on a part.
    pub(super) fn each_on(&self, layout: &Layout, part: u32, mut visit: impl FnMut(u32, usize)) {
        self.occupied.each(|slot| {
            let op = self.occupant[slot];
            if layout.part[op as usize] == part {
                visit(op, slot);
            }
        });
    }

    /// The slots of the open operations on a part.
    pub(super) fn members(&self, layout: &Layout, part: u32) -> K {
        if layout.parts == 1 {
            return self.occupied.clone();
        }
        let mut members = K::empty(layout.slots);
        self.each_on(layout, part, |_, slot| members.insert(slot));
        members
    }

    /// The operations that are open, with their slots.
    pub(super) fn open(&self) -> Vec<(u32, usize)> {
        let mut open = Vec::new();
        self.occupied.each(|slot| open.push((self.occupant[slot], slot)));
        open.sort_unstable();
        open
    }

    fn let_in(&mut self, layout: &Layout) {
        if self.level < layout.last() {
            for &op in layout.opened(self.level) {
                let slot = layout.slot(op);
                self.occupant[slot] = op;
                self.occupied.insert(slot);
            }
        }
    }

    /// Passes the next return.
    pub(super) fn advance(&mut self, layout: &Layout) {
        self.occupied.remove(layout.slot(layout.returns[self.level as usize]));
        self.level += 1;
        self.let_in(layout);
    }

    /// Goes back to a level.
    pub(super) fn retreat(&mut self, layout: &Layout, level: u32) {
        while self.level > level {
            if self.level < layout.last() {
                for &op in layout.opened(self.level) {
                    self.occupied.remove(layout.slot(op));
                }
            }
            self.level -= 1;
            let op = layout.returns[self.level as usize];
            let slot = layout.slot(op);
            self.occupant[slot] = op;
            self.occupied.insert(slot);
        }
    }

    /// Goes to a level, wherever it is.
    pub(super) fn stand_at(&mut self, layout: &Layout, level: u32) {
        self.retreat(layout, level);
        while self.level < level {
            self.advance(layout);
        }
    }
}
