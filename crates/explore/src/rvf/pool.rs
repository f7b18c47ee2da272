//! Workers that share one search.
//!
//! A part of a search is some of what is left to try at one node: groups of the read that is being tried, further reads that have
//! to be tried in any case, or alternatives of a choice. It goes with the events as they are at the node, and with the reads that are being tried above it. What happens in
//! it matters to the rest of the search in one way only: a write that shows up may be a signal to a read above. Signals are set
//! and never taken back, so it does not matter when they are heard of, as long as it is before the node decides whether further
//! reads are tried. There the giver waits, and works on other parts meanwhile. So the nodes that are explored, and all that is counted,
//! are the same for any number of workers.
//!
//! Cost: a part has a copy of the frontier, so parts are given only to workers who have nothing to do.

use super::options::Settings;
use super::search::{Node, Search};
use crate::sequence::signals::Ancestors;
use crate::sequence::{Frontier, Report, Stop, Walk};
use crate::workers::Workers;
use raddle_engine::{Deadline, Outcome, Question};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// After so many steps a worker looks whether others have nothing to do.
const STEPS: u32 = 4;

/// A part of a search.
pub(super) struct Part<'c> {
    pub(super) frontier: Frontier<'c>,
    pub(super) ancestors: Ancestors,
    pub(super) node: Node,
    /// Where to leave what came of it; none for the whole.
    pub(super) given: Option<Given>,
}

/// What came of a part, once that is known.
pub(super) type Given = Arc<OnceLock<Back>>;

/// What came of a part.
#[derive(Debug)]
pub(super) struct Back {
    /// The read that was tried has got a signal.
    pub(super) more: bool,
    /// Something came of it: some group was possible.
    pub(super) fruitful: bool,
    /// Which of the reads above have got a signal.
    pub(super) signals: Vec<bool>,
}

/// What the workers share.
struct Pool<'c> {
    question: Question<'c>,
    deadline: &'c Deadline<'c>,
    settings: Settings,
    workers: Workers<Part<'c>>,
    found: Mutex<Found<'c>>,
}

/// What all of them found, and why the search ended before its end, if it did.
struct Found<'c> {
    report: Report<'c>,
    stop: Result<(), Stop>,
}

/// Explores with as many workers as are asked for.
pub(super) fn explore(
    question: Question<'_>,
    deadline: &Deadline<'_>,
    settings: Settings,
    meetings: bool,
) -> Result<Outcome, Stop> {
    let mut search = Search::new(question, deadline, settings, meetings);
    let stop = search.begin();
    let (whole, report) = search.into_whole();
    let ended = stop.is_err() || report.stopped();
    let found = Mutex::new(Found { report, stop });
    let pool = Pool { question, deadline, settings, workers: Workers::default(), found };
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

impl<'c> Pool<'c> {
    /// Explores a part, and adds what it shows to what is known.
    fn work(&self, part: Part<'c>) {
        let Pool { question, deadline, settings, .. } = *self;
        let runs = self.found.lock().unwrap_or_else(PoisonError::into_inner).report.runs();
        let mut search = Search::of_part(part, question, deadline, settings);
        search.shell().report.share_runs(runs);
        let stop = self.walk(&mut search);
        let report = search.shell.report;
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

    fn walk(&self, search: &mut Search<'c>) -> Result<(), Stop> {
        let (mut patience, mut steps) = (Search::PATIENCE, STEPS);
        while !search.shell().report.stopped() {
            let missing = || search.waits_for().map(|given| move || given.get().is_some());
            self.workers.work_while(missing, |part| self.work(part));
            if self.workers.stopped() || !search.advance()? {
                break;
            }
            (patience, steps) = (patience - 1, steps - 1);
            if patience == 0 || search.is_full() {
                patience = Search::PATIENCE;
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
