//! Writes that follow each other whatever happens: a write, the update that read it, the update that read that, and so on.
//!
//! Atomicity says that nothing comes between them, so the order of the writes of a location is an order of such *blocks*.

/// A write, in the block it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) block: u32,
    /// How many of the block come before it.
    pub(crate) place: u32,
}

/// The blocks of all locations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// Per event; writes only.
    members: Vec<Option<Member>>,
    /// The writes of each block, in order.
    pub(crate) writes: Vec<Vec<u32>>,
    /// Per block: it begins with an update of the initial value, so it is the first of its location.
    pub(crate) initial: Vec<bool>,
}

/// Two updates that read the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Twice(pub(crate) u32, pub(crate) u32);

/// What makes blocks of writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) event: u32,
    pub(crate) loc: u32,
    /// What the update it belongs to has read.
    pub(crate) follows: Option<Option<u32>>,
}

impl Blocks {
    /// The blocks of these writes, which are of so many events.
    pub(crate) fn of(events: usize, writes: impl Iterator<Item = Write> + Clone) -> Result<Self, Twice> {
        const NOBODY: u32 = u32::MAX;
        let mut next = vec![NOBODY; events];
        let mut first: rustc_hash::FxHashMap<u32, u32> = rustc_hash::FxHashMap::default();
        for write in writes.clone() {
            let other = match write.follows {
                None => continue,
                Some(None) => first.insert(write.loc, write.event),
                Some(Some(source)) => {
                    Some(std::mem::replace(&mut next[source as usize], write.event)).filter(|&old| old != NOBODY)
                }
            };
            if let Some(other) = other {
                return Err(Twice(other, write.event));
            }
        }
        let mut blocks = Blocks { members: vec![None; events], ..Blocks::default() };
        for head in writes.filter(|write| !matches!(write.follows, Some(Some(_)))) {
            let number = blocks.writes.len() as u32;
            let mut chain = Vec::new();
            let mut at = head.event;
            while at != NOBODY {
                blocks.members[at as usize] = Some(Member { block: number, place: chain.len() as u32 });
                chain.push(at);
                at = next[at as usize];
            }
            blocks.writes.push(chain);
            blocks.initial.push(head.follows.is_some());
        }
        Ok(blocks)
    }

    /// Where a write is.
    pub(crate) fn member(&self, write: usize) -> Member {
        self.members[write].expect("it is a write")
    }

    pub(crate) fn len(&self) -> usize {
        self.writes.len()
    }
}
