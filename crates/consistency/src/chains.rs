//! A partial order over events that form chains; it grows event by event and edge by edge, and what was added can be taken back.
//!
//! Events that are before one another anyway (those of a thread) are a chain, so what is before an event is one number per chain: how
//! many of its events. Asking is one look-up. An edge is added by raising the numbers of what comes behind it, which is the
//! end of each chain.
//!
//! Cost: with `k` chains an edge costs `k` binary searches, and `k` for each event whose past grows. From the first [mark](Chains::mark)
//! on every number that is raised is written down, so a way of `n` events takes at most `n²` of these, whatever edges were added.

/// The order.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// How many numbers a row has.
    width: usize,
    /// Per event its chain and its number there.
    places: Vec<(u32, u32)>,
    /// The events of each chain.
    chains: Vec<Vec<u32>>,
    /// Per event and chain, how many events of the chain are before it; for its own chain, its number.
    rows: Vec<u32>,
    /// The edges it was made from, but for those of chains; those that followed from others are not here.
    edges: Vec<(u32, u32)>,
    /// What is being carried on.
    row: Vec<u32>,
    /// Numbers that were raised, and what they were: event, chain, old number.
    trail: Vec<(u32, u32, u32)>,
    recording: bool,
}

/// What to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    events: usize,
    edges: usize,
    trail: usize,
}

impl Chains {
    /// Forgets everything, and makes room for so many events in each chain, numbered chain by chain. They are unordered until they are
    /// placed.
    pub fn reset(&mut self, lengths: impl IntoIterator<Item = u32>) {
        self.places.clear();
        self.edges.clear();
        self.trail.clear();
        self.recording = false;
        let mut used = 0;
        for (chain, length) in lengths.into_iter().enumerate() {
            if self.chains.len() == chain {
                self.chains.push(Vec::new());
            }
            let first = self.places.len() as u32;
            self.chains[chain].clear();
            self.chains[chain].extend(first..first + length);
            self.places.extend((0..length).map(|number| (chain as u32, number)));
            used = chain + 1;
        }
        self.chains.truncate(used);
        self.width = used;
        self.rows.clear();
        self.rows.resize(self.places.len() * self.width, 0);
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The events of each chain.
    pub fn chains(&self) -> &[Vec<u32>] {
        &self.chains
    }

    /// The chain of an event and its number there.
    #[inline]
    pub fn place_of(&self, event: u32) -> (usize, u32) {
        let (chain, number) = self.places[event as usize];
        (chain as usize, number)
    }

    /// The edges between chains that it was made from. All others follow from these and from chains.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// How many events of each chain are before this one.
    #[inline]
    pub fn row(&self, event: u32) -> &[u32] {
        &self.rows[event as usize * self.width..][..self.width]
    }

    /// Whether `a` is before `b`.
    #[inline]
    pub fn before(&self, a: u32, b: u32) -> bool {
        let (chain, number) = self.places[a as usize];
        self.rows[b as usize * self.width + chain as usize] > number
    }

    /// Whether the order says which of two events comes first.
    #[inline]
    pub fn decides(&self, a: u32, b: u32) -> bool {
        self.before(a, b) || self.before(b, a)
    }

    /// Adds an event at the end of a chain, behind these. Returns its number.
    pub fn push(&mut self, chain: usize, behind: impl IntoIterator<Item = u32>) -> u32 {
        self.widen(chain + 1);
        let event = self.places.len() as u32;
        self.places.push((chain as u32, self.chains[chain].len() as u32));
        self.chains[chain].push(event);
        self.rows.resize(self.places.len() * self.width, 0);
        self.place(event, behind);
        event
    }

    /// Places all events, which must be numbered chain by chain, along a sequence of them: each behind the one before it in its chain, and behind the
    /// one that `after` says, unless that is `u32::MAX`.
    pub fn place_all(&mut self, sequence: &[u32], after: impl Fn(u32) -> u32) {
        let width = self.width;
        for &event in sequence {
            let (chain, number) = self.places[event as usize];
            let to = event as usize * width;
            if number > 0 {
                // Rows are too short for a call, and for what a copy of unknown length is made of otherwise.
                let both = &mut self.rows[to - width..to + width];
                for at in 0..width {
                    both[width + at] = both[at];
                }
            }
            self.rows[to + chain as usize] = number;
            let other = after(event);
            if other != u32::MAX {
                self.edges.push((other, event));
                self.carry(other, event);
            }
        }
    }

    /// Puts an event behind the one before it in its chain, and behind these. All of them must have been placed.
    #[inline]
    fn place(&mut self, event: u32, behind: impl IntoIterator<Item = u32>) {
        let (chain, number) = self.place_of(event);
        let to = event as usize * self.width;
        if let Some(last) = number.checked_sub(1) {
            // Earlier events of a chain have lower numbers. Rows are too short for a call.
            let from = self.chains[chain][last as usize] as usize * self.width;
            let (earlier, later) = self.rows.split_at_mut(to);
            let own = later[..self.width].iter_mut();
            own.zip(&earlier[from..from + self.width]).for_each(|(mine, &theirs)| *mine = theirs);
        }
        self.rows[to + chain] = number;
        for other in behind {
            self.edges.push((other, event));
            self.carry(other, event);
        }
    }

    /// Puts `a`, and what is before it, before `b`; not before what comes behind `b`. For those who place all events along an order.
    #[inline]
    pub fn carry(&mut self, a: u32, b: u32) {
        let (from, to) = (a as usize * self.width, b as usize * self.width);
        let (first, second) = self.rows.split_at_mut(from.max(to));
        let (theirs, own) = if from < to {
            (&first[from..from + self.width], &mut second[..self.width])
        } else {
            (&second[..self.width], &mut first[to..to + self.width])
        };
        own.iter_mut().zip(theirs).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
        let (chain, number) = self.place_of(a);
        let own = &mut self.rows[to + chain];
        *own = (*own).max(number + 1);
    }

    /// Puts `a` before `b`. Returns whether that is new, or `None`, and does nothing, if it would close a cycle.
    #[inline]
    pub fn insert(&mut self, a: u32, b: u32) -> Option<bool> {
        if a == b || self.before(b, a) {
            return None;
        }
        if self.before(a, b) {
            return Some(false);
        }
        self.grow(a, b);
        Some(true)
    }

    /// Puts `a` before `b`, and before what is behind that.
    fn grow(&mut self, a: u32, b: u32) {
        let Chains { width, places, chains, rows, edges, row, trail, recording } = self;
        let width = *width;
        edges.push((a, b));
        row.clear();
        row.extend_from_slice(&rows[a as usize * width..][..width]);
        let (chain, number) = places[a as usize];
        row[chain as usize] = number + 1;
        let (chain, number) = places[b as usize];
        for (other, events) in chains.iter().enumerate() {
            // What is at or behind `b` is the end of each chain, and mostly nothing.
            let behind = |&event: &u32| rows[event as usize * width + chain as usize] > number;
            let first = if other == chain as usize {
                number as usize
            } else if events.last().is_some_and(behind) {
                events.partition_point(|event| !behind(event))
            } else {
                continue;
            };
            for &event in &events[first..] {
                let own = &mut rows[event as usize * width..][..width];
                let changed = if *recording { raise_and_note(own, row, event, trail) } else { raise(own, row) };
                // What follows in the chain has it already.
                if !changed {
                    break;
                }
            }
        }
    }

    fn widen(&mut self, chains: usize) {
        if chains <= self.width {
            return;
        }
        let mut wide = Vec::with_capacity((self.places.len() + 1) * chains);
        for row in self.rows.chunks_exact(self.width.max(1)) {
            wide.extend_from_slice(row);
            wide.resize(wide.len() + chains - self.width, 0);
        }
        self.rows = wide;
        self.chains.resize_with(chains, Vec::new);
        self.width = chains;
    }

    /// A place to come back to.
    pub fn mark(&mut self) -> Mark {
        self.recording = true;
        Mark { events: self.places.len(), edges: self.edges.len(), trail: self.trail.len() }
    }

    /// Takes back all that was added since.
    pub fn undo(&mut self, mark: Mark) {
        for (event, chain, old) in self.trail.drain(mark.trail..).rev() {
            if (event as usize) < mark.events {
                self.rows[event as usize * self.width + chain as usize] = old;
            }
        }
        self.edges.truncate(mark.edges);
        for &(chain, _) in &self.places[mark.events..] {
            self.chains[chain as usize].pop();
        }
        self.places.truncate(mark.events);
        self.rows.truncate(mark.events * self.width);
    }
}

/// Raises the numbers of a row to those of another. Returns whether any changed.
#[inline]
pub fn raise(row: &mut [u32], to: &[u32]) -> bool {
    let (mut changed, to) = (false, &to[..row.len()]);
    for at in 0..row.len() {
        if row[at] < to[at] {
            row[at] = to[at];
            changed = true;
        }
    }
    changed
}

/// The same, and writes down what they were.
fn raise_and_note(row: &mut [u32], to: &[u32], event: u32, trail: &mut Vec<(u32, u32, u32)>) -> bool {
    let known = trail.len();
    for (chain, (mine, &theirs)) in row.iter_mut().zip(to).enumerate() {
        if *mine < theirs {
            trail.push((event, chain as u32, *mine));
            *mine = theirs;
        }
    }
    trail.len() > known
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_testkit::Random;

    #[test]
    fn edges_are_transitive_and_cycles_are_refused() {
        let mut order = Chains::default();
        let events: Vec<Vec<u32>> =
            [0, 2, 1].map(|chain| (0..3).map(|_| order.push(chain, [])).collect()).into_iter().collect();
        let [a, c, b] = &events[..] else { unreachable!("three chains") };
        assert_eq!(order.insert(a[1], b[1]), Some(true));
        assert_eq!(order.insert(b[2], c[0]), Some(true));
        assert_eq!(order.insert(a[0], c[2]), Some(false), "that follows");
        assert!(!order.decides(a[2], c[0]));
        assert_eq!(order.insert(c[1], a[1]), None, "it is behind");
        assert_eq!(order.insert(c[1], a[2]), Some(true));
        assert!(order.before(b[0], a[2]));
    }

    #[test]
    fn what_comes_behind_two_events_comes_behind_all_before_them() {
        let mut order = Chains::default();
        let first = order.push(0, []);
        let second = order.push(3, [first]);
        let third = order.push(1, [second]);
        assert!(order.before(first, third));
        assert_eq!(order.row(third), [1, 0, 0, 1]);
        assert!(order.chains()[2].is_empty());
    }

    #[test]
    fn what_was_added_can_be_taken_back() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let mut order = Chains::default();
            let mut states: Vec<(Mark, Chains)> = Vec::new();
            for _ in 0..60 {
                let any = |random: &mut Random, order: &Chains| random.below_u32(order.len() as u32);
                match random.below(6) {
                    0 if !states.is_empty() => {
                        let (mark, before) = states.pop().expect("there is one");
                        order.undo(mark);
                        assert_eq!(order.places, before.places);
                        for event in 0..before.len() as u32 {
                            let (row, expected) = (order.row(event), before.row(event));
                            assert_eq!(row[..expected.len()], *expected);
                            assert!(row[expected.len()..].iter().all(|&count| count == 0), "chains that came later");
                        }
                    }
                    1 => {
                        let mark = order.mark();
                        states.push((mark, order.clone()));
                    }
                    2 | 3 => {
                        let chain = random.below(4);
                        let behind = (!order.is_empty()).then(|| any(&mut random, &order));
                        order.push(chain, behind);
                    }
                    _ if order.len() > 1 => {
                        let (a, b) = (any(&mut random, &order), any(&mut random, &order));
                        let cycle = a == b || order.before(b, a);
                        assert_eq!(order.insert(a, b).is_none(), cycle);
                    }
                    _ => {}
                }
            }
        }
    }
}
