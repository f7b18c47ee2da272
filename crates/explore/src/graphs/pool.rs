//! Workers that share one search over graphs, its limits and what was found.

use super::branch::Level;
use super::context::{Context, Shared};
use super::graph::Equivalence;
use super::models::Model;
use super::search::{Counters, Search, Tick};
use super::step::{Bug, Halt};
use crate::workers::Workers;
use raddle_engine::{Deadline, Finding, Question, Reach, Statistics, StopReason, confirm};
use raddle_trace::{Property, Schedule};
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// How many ticks pass between two looks at the clock and at idle workers; fewer where a graph is long, since each may look at all of it. In a search over reads-from classes a tick is
/// about twice as much work.
const PATIENCE: u32 = 512;
const PATIENCE_BY_SOURCES: u32 = 256;
/// Events of a graph with which a tick counts as two. Where there are atomic blocks it costs as much as the square of their number.
const LONG: usize = 128;

/// What the workers share.
pub(super) struct Pool<'c, M: Model> {
    shared: Arc<Shared<'c>>,
    deadline: &'c Deadline<'c>,
    workers: Workers<Level<M>>,
    runs: AtomicU64,
    cut: AtomicU64,
    findings: Mutex<Findings>,
}

/// What a worker has told the others.
#[derive(Default)]
struct Reported {
    statistics: Statistics,
    done: f64,
}

/// What all workers found.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) seen: FxHashSet<(Property, u32)>,
    pub(super) list: Vec<Finding>,
    /// Why the search ended before its end: of all reasons the most severe.
    pub(super) halt: Option<Halt>,
    pub(super) statistics: Statistics,
    pub(super) counters: Counters,
    pub(super) done: f64,
    pub(super) reach: Reach,
    pub(super) schedules: Vec<Schedule>,
}

impl<'c, M: Model> Pool<'c, M> {
    pub(super) fn new(shared: Arc<Shared<'c>>) -> Self {
        Pool {
            deadline: shared.deadline,
            shared,
            workers: Workers::default(),
            runs: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            findings: Mutex::default(),
        }
    }

    /// Explores everything, or up to a limit.
    pub(super) fn explore(self) -> Findings {
        let options = self.shared.options;
        let depth = options.limits.depth();
        let root = Search::new(Context::new(self.shared.clone()), depth).root();
        self.workers.run(root, options.workers, || self.work(depth));
        self.findings.into_inner().expect("all workers have ended")
    }

    /// One worker: takes levels and searches them until there are none and nobody is making more.
    fn work(&self, depth: usize) {
        let mut search = Search::new(Context::new(self.shared.clone()), depth);
        let mut reported = Reported::default();
        while let Some((level, _busy)) = self.workers.take() {
            search.start(level);
            self.run(&mut search, &mut reported);
        }
        let mut findings = self.findings();
        let realiser = &search.context.realiser;
        search.counters.questions = realiser.asked;
        search.counters.unrealisable = realiser.refused;
        findings.statistics.add(&search.statistics);
        findings.counters.add(search.counters);
        findings.schedules.append(&mut search.schedules);
        findings.done += search.done;
        let reach = &mut findings.reach;
        reach.cut_at = reach.cut_at.or(search.cut_at);
        reach.bounded_at = reach.bounded_at.or(search.bounded_at);
    }

    fn findings(&self) -> MutexGuard<'_, Findings> {
        self.findings.lock().expect("no worker panics while it holds the findings")
    }

    fn run(&self, search: &mut Search<'_, M>, reported: &mut Reported) {
        let patient = match self.shared.purpose.equivalence {
            Equivalence::Coherence => PATIENCE,
            Equivalence::ReadsFrom => PATIENCE_BY_SOURCES,
        };
        let mut patience = patient;
        let most = self.shared.options.limits.executions;
        loop {
            match search.tick() {
                Tick::More => {}
                Tick::Done => {
                    // A limit that is reached with the last execution cuts nothing off.
                    self.tell(search, reported);
                    return;
                }
                Tick::Bug(bug) => self.bug(search, &bug),
                Tick::Halt(halt) => self.halt(halt),
            }
            if search.context.realiser.interrupted {
                self.halt(Halt::Stop(self.deadline.passed().unwrap_or(StopReason::Interrupted)));
            }
            let weight = 1 + (search.events() / LONG).pow(2);
            patience = patience.saturating_sub(u32::try_from(weight).unwrap_or(PATIENCE));
            if let Some(most) = most
                && search.explores()
                && search.statistics.runs() != reported.statistics.runs()
                && self.tell(search, reported).0 >= most
            {
                self.halt(Halt::Stop(StopReason::Executions(most)));
            }
            if patience == 0 {
                patience = patient;
                self.look_around(search, reported);
                self.workers.share(|| search.split());
            }
            if self.workers.stopped() {
                search.abandon();
                return;
            }
        }
    }

    /// Ends the search for this reason, if there is none that is more severe.
    fn halt(&self, halt: Halt) {
        let mut findings = self.findings();
        if findings.halt.as_ref().is_none_or(|known| known.severity() < halt.severity()) {
            findings.halt = Some(halt);
        }
        self.workers.stop();
    }

    /// Tells the watcher how far it is. Returns how many executions have ended, and how many were cut off.
    fn tell(&self, search: &Search<'_, M>, reported: &mut Reported) -> (u64, u64) {
        let statistics = &search.statistics;
        let (old, new) = (&reported.statistics, statistics);
        let done = search.done - reported.done;
        self.deadline.control().advance(new.executions - old.executions, new.blocked - old.blocked, done);
        let runs = new.runs() - old.runs();
        let runs = self.runs.fetch_add(runs, Ordering::Relaxed) + runs;
        let cut = new.cut - old.cut;
        let cut = self.cut.fetch_add(cut, Ordering::Relaxed) + cut;
        *reported = Reported { statistics: *statistics, done: search.done };
        (runs, cut)
    }

    /// Tells the watcher how far it is, and stops at limits.
    fn look_around(&self, search: &Search<'_, M>, reported: &mut Reported) {
        let (runs, cut) = self.tell(search, reported);
        if self.shared.options.limits.are_endless(cut) {
            // Where they were cut off is told in any case.
            self.workers.stop();
        }
        let runs = if search.explores() { runs } else { 0 };
        if let Some(reason) = self.deadline.reached(runs) {
            self.halt(Halt::Stop(reason));
        }
    }

    /// Something is wrong in the current graph: confirms it by replay and keeps it.
    fn bug(&self, search: &mut Search<'_, M>, bug: &Bug) {
        let options = self.shared.options;
        if !options.properties.contains(bug.property) {
            // What seems wrong behind an atomic block that nobody leaves is in no run.
            if !self.shared.code.has_atomic_blocks() || search.schedule(bug).is_some() {
                self.shared.code.disregard(bug.pc);
            }
            return;
        }
        {
            let findings = self.findings();
            if findings.seen.contains(&(bug.property, bug.pc)) {
                return;
            }
        }
        let Some(schedule) = search.schedule(bug) else { return };
        {
            let mut findings = self.findings();
            if !findings.seen.insert((bug.property, bug.pc)) {
                return;
            }
        }
        let finding = confirm(&Question { code: self.shared.code, options }, schedule, bug.property, bug.pc);
        match finding {
            Ok(finding) => {
                let mut findings = self.findings();
                let known = |other: &Finding| {
                    let (one, other) = (finding.violation(), other.violation());
                    one.property == other.property && one.place == other.place
                };
                if !findings.list.iter().any(known) && (options.all || findings.list.is_empty()) {
                    findings.list.push(finding);
                }
                if !options.all {
                    self.workers.stop();
                }
            }
            Err(fault) => self.halt(Halt::Fault(fault)),
        }
    }
}
