//! In which order threads count themselves for a goal.
//!
//! Who is where a goal wants it may stay there for ever, so the order makes no difference to whether all of them come there, and one order is enough: that of the threads in the file. A number in memory says who has been counted; who comes next waits for that number, and the
//! last one fails. Goals that begin with the same threads share their numbers, and one goal is followed at a time. So a thread that is not counted yet has as many ways as there are goals in which its turn can come, and none of them goes on if it has not.
//!
//! A thread that holds the lock lets nobody else move, so it is counted last; if several may hold it, each of them may be the last one.

use std::collections::{BTreeMap, BTreeSet};

/// A thread, at one of these states.
pub(super) type Member<'t> = (usize, Vec<&'t str>);

/// A list of threads, each at one of some states.
pub(super) type Goal<'t> = Vec<Member<'t>>;

/// Nobody has been counted.
pub(super) const NOBODY: usize = 0;

/// Who can be counted when.
#[derive(Debug, Default)]
pub(super) struct Goals<'t> {
    /// From a number and the next thread to the number then.
    next: BTreeMap<(usize, Member<'t>), usize>,
    /// With which numbers whoever comes next is the last one.
    last: BTreeMap<Member<'t>, BTreeSet<usize>>,
    /// The greatest number.
    greatest: usize,
}

/// What a thread that is where goals want it can do about that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It waits for the first number, and makes it the second.
    Count(usize, usize),
    /// It waits for one of these, and the goal is reached.
    Last(BTreeSet<usize>),
}

impl<'t> Goals<'t> {
    /// These goals, if this says where a thread may hold the lock.
    pub(super) fn new(goals: Vec<Goal<'t>>, is_locked: impl Fn(usize, &str) -> bool) -> Self {
        let mut all = Goals::default();
        for mut goal in goals {
            goal.sort();
            let may_lock =
                |(_, (thread, states)): &(usize, &Member<'t>)| states.iter().any(|at| is_locked(*thread, at));
            let mut lasts: Vec<usize> = goal.iter().enumerate().filter(may_lock).map(|(at, _)| at).collect();
            if lasts.is_empty() {
                lasts.push(goal.len() - 1);
            }
            for last in lasts {
                let mut order = goal.clone();
                let last = order.remove(last);
                let counted = order.into_iter().fold(NOBODY, |from, member| all.counted(from, member));
                all.last.entry(last).or_default().insert(counted);
            }
        }
        all
    }

    /// The number when this thread has been counted as well.
    fn counted(&mut self, from: usize, member: Member<'t>) -> usize {
        let Goals { next, greatest, .. } = self;
        *next.entry((from, member)).or_insert_with(|| {
            *greatest += 1;
            *greatest
        })
    }

    /// Whether there is a number to remember.
    pub(super) fn counts(&self) -> bool {
        self.greatest != NOBODY
    }

    /// Whether a goal wants the thread to be at this state.
    pub(super) fn wants(&self, thread: usize, state: &str) -> bool {
        !self.ways(thread, state).is_empty()
    }

    /// What a thread can do at a state.
    pub(super) fn ways(&self, thread: usize, state: &str) -> Vec<Way> {
        let is_there = |(of, states): &Member<'_>| *of == thread && states.contains(&state);
        let counts = self.next.iter().filter(|((_, member), _)| is_there(member));
        let mut ways: Vec<Way> = counts.map(|((from, _), to)| Way::Count(*from, *to)).collect();
        let last = self.last.iter().filter(|(member, _)| is_there(member)).flat_map(|(_, numbers)| numbers);
        let last: BTreeSet<usize> = last.copied().collect();
        ways.extend((!last.is_empty()).then_some(Way::Last(last)));
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<'t>(of: &[(usize, usize)]) -> Vec<Goal<'t>> {
        of.iter().map(|&(one, other)| vec![(one, vec!["in"]), (other, vec!["in"])]).collect()
    }

    #[test]
    fn one_order_is_enough_and_begins_once() {
        let goals = Goals::new(pairs(&[(0, 1), (2, 0), (1, 2)]), |_, _| false);
        assert_eq!(goals.ways(0, "in"), [Way::Count(NOBODY, 1)]);
        assert_eq!(goals.ways(1, "in"), [Way::Count(NOBODY, 2), Way::Last(BTreeSet::from([1]))]);
        assert_eq!(goals.ways(2, "in"), [Way::Last(BTreeSet::from([1, 2]))]);
        assert!(goals.counts() && goals.wants(2, "in") && !goals.wants(2, "out") && !goals.wants(3, "in"));
    }

    #[test]
    fn who_holds_the_lock_is_the_last_one() {
        let goals = Goals::new(pairs(&[(0, 1)]), |thread, _| thread == 0);
        assert_eq!(goals.ways(1, "in"), [Way::Count(NOBODY, 1)]);
        assert_eq!(goals.ways(0, "in"), [Way::Last(BTreeSet::from([1]))]);
        let either = Goals::new(pairs(&[(0, 1)]), |_, _| true);
        assert_eq!(either.ways(0, "in").len() + either.ways(1, "in").len(), 4);
    }

    #[test]
    fn a_goal_of_one_thread_needs_no_number() {
        let goals = Goals::new(vec![vec![(3, vec!["here", "there"])]], |_, _| false);
        assert!(!goals.counts());
        assert_eq!(goals.ways(3, "there"), [Way::Last(BTreeSet::from([NOBODY]))]);
    }
}
