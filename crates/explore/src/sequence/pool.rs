//! Workers that share one search over sequences.
//!
//! A part of a search is some of what is left to try at one node: groups of the read that is being tried, further reads that have
//! to be tried in any case, or alternatives of a choice. It goes with the events as they are at the node, and with the reads that are being tried above it. What happens in
//! it matters to the rest of the search in few ways: a write that shows up may be a signal to a read above, and a value may turn out to end an execution. Such things are set
//! and never taken back, so it does not matter when they are heard of, as long as it is before the node decides whether further
//! reads are tried. There the giver waits, and works on other parts meanwhile. So the nodes that are explored, and all that is counted,
//! are the same for any number of workers.
//!
//! Cost: a part has a copy of the frontier, so parts are given only to workers who have nothing to do.
//!
//! Used by `rvf`, `vc` and `dc`.

use super::frontier::Frontier;
use super::report::{Report, Stop};
use super::shell::{self, Walk};
use super::signals::Ancestors;
use crate::workers::Workers;
use crate::world::Initial;
use raddle_engine::{Deadline, Outcome, Question};
use raddle_trace::ThreadId;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// After so many steps a worker looks whether others have nothing to do.
const STEPS: u32 = 4;

/// A part of a search.
pub(crate) struct Part<'c, N> {
    pub(crate) frontier: Frontier<'c>,
    pub(crate) ancestors: Ancestors,
    /// The outermost node.
    pub(crate) node: N,
    /// Where to leave what came of it; none for the whole.
    pub(crate) given: Option<Given>,
}

/// What came of a part, once that is known.
pub(crate) type Given = Arc<OnceLock<Back>>;

/// What came of a part.
#[derive(Debug)]
pub(crate) struct Back {
    /// The read that was tried has got a signal.
    pub(crate) more: bool,
    /// Some group was possible.
    pub(crate) possible: bool,
    /// Something came of it.
    pub(crate) fruitful: bool,
    /// Which of the reads above have got a signal.
    pub(crate) signals: Vec<bool>,
    /// Reads that end an execution with such a value, if the engine asks for that.
    pub(crate) ended: Vec<(ThreadId, Initial)>,
}

/// A node, some of which can be given away.
pub(crate) trait Divisible {
    /// How many alternatives, or groups of the read that is being tried, are left. One that has not been begun has work for whoever is there.
    fn left(&self) -> usize;

    /// Whether it tries reads; whether there are reads behind the one that is being tried, and these are tried in any case.
    fn reads(&self) -> Option<Behind>;

    /// Whether nothing is left to do but to hear what came of the parts that were given away.
    fn is_waiting(&self) -> bool {
        self.left() == 0
    }

    /// Parts of it that others work on.
    fn given(&self) -> &[Given];
}

/// Whether there are further reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// There are none.
    Nothing,
    /// There are, and they have to be tried.
    Certain,
    /// There are, and they have to be tried if a signal comes.
    Perhaps,
}

impl Behind {
    /// So many reads.
    pub(crate) fn of(count: usize, certain: bool) -> Behind {
        match (count, certain) {
            (0, _) => Behind::Nothing,
            (_, true) => Behind::Certain,
            (_, false) => Behind::Perhaps,
        }
    }
}

/// Which part of a search is to be given away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The node.
    pub(crate) at: usize,
    /// So many reads are being tried above it.
    pub(crate) above: usize,
    /// The reads behind the one that is being tried, instead of half of what is left of that.
    pub(crate) behind: bool,
}

/// A part of the outermost node that can spare something: about half of what is left of the read that is being
/// tried, or the reads behind it if it is certain that they have to be tried. `above` reads are being tried above the outermost node.
pub(crate) fn cut<N: Divisible>(nodes: &[N], ancestors: &Ancestors, mut above: usize) -> Option<Cut> {
    let innermost = nodes.len().checked_sub(1)?;
    for (at, node) in nodes.iter().enumerate() {
        let inside = at < innermost;
        if node.left() > usize::from(!inside) {
            return Some(Cut { at, above, behind: false });
        }
        if let Some(behind) = node.reads() {
            let certain =
                behind == Behind::Certain || (behind == Behind::Perhaps && inside && ancestors.has_signal(above));
            if inside && certain {
                return Some(Cut { at, above, behind: true });
            }
            above += 1;
        }
    }
    None
}

/// A part that the innermost node has to wait for: it has nothing else to do.
pub(crate) fn awaited<N: Divisible>(nodes: &[N]) -> Option<Given> {
    let node = nodes.last().filter(|node| node.is_waiting())?;
    node.given().iter().find(|given| given.get().is_none()).cloned()
}

/// A search that can be shared.
pub(crate) trait Parts<'c>: Walk<'c> {
    /// What a part consists of.
    type Node: Send;
    /// How it works.
    type Settings: Copy + Sync;

    /// The search of a part.
    fn of_part(
        part: Part<'c, Self::Node>,
        question: Question<'c>,
        deadline: &'c Deadline<'c>,
        settings: Self::Settings,
    ) -> Self;

    /// All of a search that has begun, unless there is nothing to do, and what it has found.
    fn into_whole(self) -> (Option<Part<'c, Self::Node>>, Report<'c>);

    /// A part that has to be waited for.
    fn waits_for(&self) -> Option<Given>;

    /// Gives away a part, if there is one to spare.
    fn split(&mut self) -> Option<Part<'c, Self::Node>>;
}

/// What the workers share.
struct Pool<'c, S: Parts<'c>> {
    question: Question<'c>,
    deadline: &'c Deadline<'c>,
    settings: S::Settings,
    workers: Workers<Part<'c, S::Node>>,
    found: Mutex<Found<'c>>,
}

/// What all of them found, and why the search ended before its end, if it did.
struct Found<'c> {
    report: Report<'c>,
    stop: Result<(), Stop>,
}

/// Explores with as many workers as are asked for.
pub(crate) fn explore<'c, S: Parts<'c>>(
    mut search: S,
    question: Question<'c>,
    deadline: &'c Deadline<'c>,
    settings: S::Settings,
) -> Result<Outcome, Stop> {
    if question.options.workers <= 1 {
        return shell::run(search);
    }
    let stop = search.begin();
    let (whole, report) = search.into_whole();
    let ended = stop.is_err() || report.stopped();
    let found = Mutex::new(Found { report, stop });
    let pool = Pool::<S> { question, deadline, settings, workers: Workers::default(), found };
    if let Some(whole) = whole.filter(|_| !ended) {
        pool.workers.run(whole, question.options.workers, || {
            while let Some((part, _busy)) = pool.workers.take() {
                pool.work(part);
            }
        });
    }
    let Found { mut report, stop } = pool.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.finish(stop)
}

impl<'c, S: Parts<'c>> Pool<'c, S> {
    /// Explores a part, and adds what it shows to what is known.
    fn work(&self, part: Part<'c, S::Node>) {
        let Pool { question, deadline, settings, .. } = *self;
        let runs = self.found.lock().unwrap_or_else(PoisonError::into_inner).report.runs();
        let mut search = S::of_part(part, question, deadline, settings);
        search.shell().report.share_runs(runs);
        let stop = self.walk(&mut search);
        let (_, report) = search.into_whole();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if stop.is_err() || report.stopped() {
            self.workers.stop();
        }
        found.report.absorb(report);
        if let Err(stop) = stop
            && found.stop.as_ref().map_or_else(Stop::severity, |()| 0) < stop.severity()
        {
            found.stop = Err(stop);
        }
    }

    fn walk(&self, search: &mut S) -> Result<(), Stop> {
        let (mut patience, mut steps) = (S::PATIENCE, STEPS);
        while !search.shell().report.stopped() {
            let missing = || search.waits_for().map(|given| move || given.get().is_some());
            self.workers.work_while(missing, |part| self.work(part));
            if self.workers.stopped() || !search.advance()? {
                break;
            }
            (patience, steps) = (patience - 1, steps - 1);
            if patience == 0 || search.is_full() {
                patience = S::PATIENCE;
                let more = search.has_more();
                search.shell().report.look_around(more);
            }
            if steps == 0 {
                steps = STEPS;
                self.workers.share(|| search.split());
            }
        }
        Ok(())
    }
}

/// Explores everything, but whatever can be given away as a part of its own. Also says how many parts there were.
#[cfg(test)]
pub(crate) fn explored_in_parts<'c, S: Parts<'c>>(
    mut search: S,
    question: Question<'c>,
    deadline: &'c Deadline<'c>,
    settings: S::Settings,
) -> (Outcome, u64) {
    search.begin().map_err(|_| ()).expect("it is supported");
    let parts = in_parts(&mut search, question, deadline, settings);
    (search.shell().report.finish(Ok(())).map_err(|_| ()).expect("nothing stops it"), parts)
}

#[cfg(test)]
fn in_parts<'c, S: Parts<'c>>(
    search: &mut S,
    question: Question<'c>,
    deadline: &'c Deadline<'c>,
    settings: S::Settings,
) -> u64 {
    let mut parts = 0;
    while search.advance().map_err(|_| ()).expect("it is supported") {
        while let Some(part) = search.split() {
            let mut other = S::of_part(part, question, deadline, settings);
            parts += 1 + in_parts(&mut other, question, deadline, settings);
            search.shell().report.absorb(other.into_whole().1);
        }
        assert!(search.waits_for().is_none(), "all parts have been explored");
    }
    parts
}
