//! Store buffers: writes of one thread that others do not see yet.
//!
//! What waits is kept in the order in which it was written. A store-store fence keeps what is written after it behind what was
//! written before. Whether only the oldest write may leave (total store order) or any that nothing holds back (partial store order)
//! is for the memory model to say; [`StoreBuffer::is_free`] tells what is held back. A buffer is a plain value: two that hold
//! the same and let the same leave are equal, however they came about.

/// Something that can wait in a buffer.
pub trait Buffered {
    /// Whether the two go to a common place, so that they must stay in their order.
    fn meets(&self, other: &Self) -> bool;
}

/// The writes of one thread on their way to memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreBuffer<E> {
    /// The oldest first.
    entries: Vec<Entry<E>>,
    /// Whether a store-store fence comes after the last one.
    fenced: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry<E> {
    what: E,
    /// Whether a store-store fence stands between the entry before it and this one.
    fenced: bool,
}

impl<E> Default for StoreBuffer<E> {
    fn default() -> Self {
        StoreBuffer { entries: Vec::new(), fenced: false }
    }
}

impl<E> StoreBuffer<E> {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// What waits, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &E> + ExactSizeIterator {
        self.entries.iter().map(|entry| &entry.what)
    }

    /// Adds a write.
    pub fn push(&mut self, what: E) {
        let fenced = std::mem::take(&mut self.fenced);
        self.entries.push(Entry { what, fenced });
    }

    /// A store-store fence: what comes later leaves later than what waits now.
    pub fn fence(&mut self) {
        self.fenced = !self.is_empty();
    }

    /// Lets the write at this position leave.
    ///
    /// # Panics
    /// If there is none.
    pub fn remove(&mut self, at: usize) -> E {
        let Entry { what, fenced } = self.entries.remove(at);
        match self.entries.get_mut(at) {
            // The fence before it is now the fence before the next one, unless nothing is left that it keeps back.
            Some(next) => next.fenced = at > 0 && (fenced || next.fenced),
            None => self.fenced = at > 0 && (fenced || self.fenced),
        }
        what
    }
}

impl<E: Buffered> StoreBuffer<E> {
    /// Whether no older write keeps the one at this position back: one to the same place, or any one before a store-store
    /// fence.
    pub fn is_free(&self, at: usize) -> bool {
        let fences = self.entries[..=at].iter().any(|entry| entry.fenced);
        !fences && self.entries[..at].iter().all(|older| !older.what.meets(&self.entries[at].what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write to a place, with a mark to tell it from others.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Write(char, u32);

    impl Buffered for Write {
        fn meets(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }

    /// A space is a fence, a letter a write to that place.
    fn buffer(text: &str) -> StoreBuffer<Write> {
        let mut buffer = StoreBuffer::default();
        for (at, place) in text.chars().enumerate() {
            if place == ' ' { buffer.fence() } else { buffer.push(Write(place, at as u32)) }
        }
        buffer
    }

    fn free(buffer: &StoreBuffer<Write>) -> String {
        buffer.iter().enumerate().filter(|(at, _)| buffer.is_free(*at)).map(|(_, write)| write.0).collect()
    }

    #[test]
    fn writes_to_one_place_leave_in_their_order() {
        let mut writes = buffer("xyxz");
        assert_eq!(free(&writes), "xyz");
        assert_eq!(writes.remove(0), Write('x', 0));
        assert_eq!(free(&writes), "yxz");
    }

    #[test]
    fn a_fence_keeps_back_what_comes_after_it() {
        let mut writes = buffer("xy z");
        assert_eq!(free(&writes), "xy");
        writes.remove(1);
        assert_eq!(free(&writes), "x");
        writes.remove(0);
        assert_eq!(free(&writes), "z");
    }

    #[test]
    fn a_fence_outlives_the_write_it_came_before() {
        let mut writes = buffer("x y");
        writes.remove(1);
        writes.push(Write('z', 9));
        assert_eq!(free(&writes), "x");
        let mut writes = buffer("x yz");
        writes.remove(1);
        assert_eq!(free(&writes), "x");
    }

    #[test]
    fn a_fence_with_nothing_before_it_leaves_no_trace() {
        assert_eq!(buffer(" "), StoreBuffer::default());
        let mut writes = buffer("x ");
        writes.remove(0);
        assert_eq!(writes, StoreBuffer::default());
        let mut writes = buffer("x yz");
        writes.remove(0);
        assert_eq!(free(&writes), "yz");
        writes.remove(0);
        assert_eq!(writes, StoreBuffer { entries: vec![Entry { what: Write('z', 3), fenced: false }], fenced: false });
    }

    /// Epochs, as a definition: a write is free if no older one is to the same place or of an earlier epoch.
    #[test]
    fn what_is_free_is_what_epochs_say() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut compared = 0;
        for _ in 0..200 {
            let (mut buffer, mut epochs, mut epoch) = (StoreBuffer::default(), Vec::<(Write, u32)>::new(), 0);
            for step in 0..30 {
                match random(4) {
                    0 => {
                        buffer.fence();
                        epoch += 1;
                    }
                    1 if !buffer.is_empty() => {
                        let at = random(buffer.len() as u64) as usize;
                        if buffer.is_free(at) {
                            assert_eq!(buffer.remove(at), epochs.remove(at).0);
                        }
                    }
                    _ => {
                        let write = Write(['x', 'y', 'z'][random(3) as usize], step);
                        buffer.push(write);
                        epochs.push((write, epoch));
                    }
                }
                for (at, (write, epoch)) in epochs.iter().enumerate() {
                    let expected = epochs[..at].iter().all(|(older, before)| !older.meets(write) && before == epoch);
                    assert_eq!(buffer.is_free(at), expected);
                    compared += 1;
                }
            }
        }
        assert!(compared > 10_000);
    }
}
