//! The *causal map* of Agarwal et al. 2021: what a pending read has tried, so that it is not tried again below the reads that are
//! tried later.

use super::event::INITIAL;
use super::frontier::Frontier;
use raddle_trace::{EventId, ThreadId};
use std::sync::Arc;

/// How many events of each thread are forbidden as sources of a read that has tried them; the initial write is, too.
#[derive(Clone, Debug)]
pub(crate) struct Tried(Arc<[u32]>);

impl Tried {
    /// Whether a write has been tried.
    pub(crate) fn has(&self, write: EventId) -> bool {
        write == INITIAL || self.0.get(write.thread.index()).is_some_and(|&count| write.index < count)
    }
}

/// The pending read of a thread has tried all that is there.
pub(crate) fn forbid(tried: &mut Vec<Option<Tried>>, thread: ThreadId, frontier: &Frontier<'_>) {
    let counts = frontier.ids().map(|thread| frontier.events(thread).len() as u32).collect();
    if tried.len() <= thread.index() {
        tried.resize(thread.index() + 1, None);
    }
    tried[thread.index()] = Some(Tried(counts));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_causal_map_forbids_what_was_there() {
        // Toman 2021: w_x of thread 1; w_y w_x r_y w_x of thread 2; r_y w_x r_x w_x of thread 3. When the read of x of thread 1 was
        // tried, threads 2 and 3 had been run to behind their first reads.
        let tried = Tried(Arc::from([0, 1, 4, 2]));
        let id = |thread, index| EventId::new(ThreadId(thread), index);
        let writes = [id(1, 0), id(2, 1), id(2, 3), id(3, 1), id(3, 3)];
        let left: Vec<_> = writes.into_iter().filter(|&write| !tried.has(write)).collect();
        assert_eq!(left, [id(3, 3)]);
        assert!(tried.has(INITIAL));
        assert!(!tried.has(id(4, 0)), "the thread was not there");
    }
}
