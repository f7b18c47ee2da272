//! Workers that share one search, its limits and what was found.

use super::branch::Level;
use super::context::{Context, Shared};
use super::search::{Search, Tick};
use super::step::{Bug, Halt};
use crate::confirm::confirm;
use crate::control::Control;
use crate::options::Limits;
use crate::outcome::{Finding, Reach, Statistics};
use raddle_trace::{Property, Schedule};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

/// How many ticks pass between two looks at the clock and at idle workers.
const PATIENCE: u32 = 256;

/// What the workers share.
pub(super) struct Pool<'c> {
    shared: Arc<Shared<'c>>,
    control: &'c Control,
    start: Instant,
    queue: Mutex<Queue>,
    more: Condvar,
    idle: AtomicUsize,
    stop: AtomicBool,
    /// The sample has been looked at.
    sampled: AtomicBool,
    runs: AtomicU64,
    cut: AtomicU64,
    findings: Mutex<Findings>,
}

#[derive(Default)]
struct Queue {
    levels: VecDeque<Level>,
    busy: usize,
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
    pub(super) halt: Option<Halt>,
    pub(super) statistics: Statistics,
    pub(super) done: f64,
    pub(super) reach: Reach,
    pub(super) schedules: Vec<Schedule>,
}

impl<'c> Pool<'c> {
    pub(super) fn new(shared: Arc<Shared<'c>>, control: &'c Control) -> Self {
        Pool {
            shared,
            control,
            start: Instant::now(),
            queue: Mutex::default(),
            more: Condvar::new(),
            idle: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            sampled: AtomicBool::new(false),
            runs: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            findings: Mutex::default(),
        }
    }

    /// Explores everything, or up to a limit.
    pub(super) fn explore(self) -> Findings {
        let options = self.shared.options;
        let depth = options.limits.depth.unwrap_or(Limits::DEPTH);
        let root = Search::new(Context::new(self.shared.clone()), depth).root();
        self.queue.lock().expect("nobody has it yet").levels.push_back(root);
        let workers = options.workers.max(1);
        if workers == 1 {
            self.work(depth, 1);
        } else {
            std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|| self.work(depth, workers));
                }
            });
        }
        self.findings.into_inner().expect("all workers have ended")
    }

    /// One worker: takes levels and searches them until there are none and nobody is making more.
    fn work(&self, depth: usize, workers: usize) {
        let mut search = Search::new(Context::new(self.shared.clone()), depth);
        let mut reported = Reported::default();
        while let Some(level) = self.take() {
            search.start(level);
            self.run(&mut search, workers, &mut reported);
            self.release();
        }
        let mut findings = self.findings.lock().expect("no worker panics while it holds the findings");
        let realiser = &search.context.realiser;
        search.statistics.questions = realiser.asked;
        search.statistics.unrealisable = realiser.refused;
        findings.statistics.add(&search.statistics);
        findings.schedules.append(&mut search.schedules);
        findings.done += search.done;
        let reach = &mut findings.reach;
        reach.cut_at = reach.cut_at.or(search.cut_at);
        reach.bounded_at = reach.bounded_at.or(search.bounded_at);
    }

    /// The next level to search; `None` when all is done.
    fn take(&self) -> Option<Level> {
        let mut queue = self.queue.lock().expect("no worker panics while it holds the queue");
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(level) = queue.levels.pop_front() {
                queue.busy += 1;
                return Some(level);
            }
            if queue.busy == 0 {
                self.more.notify_all();
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            queue = self.more.wait(queue).expect("no worker panics while it holds the queue");
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn release(&self) {
        self.queue.lock().expect("no worker panics while it holds the queue").busy -= 1;
        self.more.notify_all();
    }

    fn run(&self, search: &mut Search<'_>, workers: usize, reported: &mut Reported) {
        let mut patience = PATIENCE;
        let counts = self.shared.options.limits.executions.is_some();
        loop {
            match search.tick() {
                Tick::More => {}
                Tick::Done => {
                    // A limit that is reached with the last execution cuts nothing off.
                    self.tell(search, reported);
                    return;
                }
                Tick::Bug(bug) => self.bug(search, &bug),
                Tick::Halt(halt) => {
                    self.findings.lock().expect("no worker panics while it holds the findings").halt = Some(halt);
                    self.halt();
                }
            }
            patience -= 1;
            let ended = counts && search.explores() && search.statistics.runs() != reported.statistics.runs();
            if patience == 0 || ended {
                patience = PATIENCE;
                self.look_around(search, reported);
                if workers > 1 && self.idle.load(Ordering::Relaxed) > 0 {
                    self.share(search);
                }
            }
            if self.stop.load(Ordering::Relaxed) {
                search.abandon();
                return;
            }
        }
    }

    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.more.notify_all();
    }

    /// Gives work to idle workers.
    fn share(&self, search: &mut Search<'_>) {
        let mut queue = self.queue.lock().expect("no worker panics while it holds the queue");
        if queue.levels.len() < self.idle.load(Ordering::Relaxed)
            && let Some(level) = search.split()
        {
            queue.levels.push_back(level);
            self.more.notify_one();
        }
    }

    /// Tells the watcher how far it is. Returns how many executions have ended, and how many were cut off.
    fn tell(&self, search: &Search<'_>, reported: &mut Reported) -> (u64, u64) {
        let statistics = &search.statistics;
        let (old, new) = (&reported.statistics, statistics);
        let done = search.done - reported.done;
        self.control.advance(new.executions - old.executions, new.blocked - old.blocked, done);
        let runs = new.runs() - old.runs();
        let runs = self.runs.fetch_add(runs, Ordering::Relaxed) + runs;
        let cut = new.cut - old.cut;
        let cut = self.cut.fetch_add(cut, Ordering::Relaxed) + cut;
        *reported = Reported { statistics: *statistics, done: search.done };
        (runs, cut)
    }

    /// Tells the watcher how far it is, and stops at limits.
    fn look_around(&self, search: &Search<'_>, reported: &mut Reported) {
        let (runs, cut) = self.tell(search, reported);
        if cut >= Limits::ENDLESS && self.shared.options.limits.depth.is_none() {
            // Where they were cut off is told in any case.
            self.halt();
        }
        if self.shared.purpose.sample && !self.sampled.load(Ordering::Relaxed) {
            let share = self.control.progress().share;
            if let Some(evidence) = search.repeats.evidence(share, self.start.elapsed()) {
                self.sampled.store(true, Ordering::Relaxed);
                if evidence.speaks_for_values(self.shared.options.workers.max(1)) {
                    let mut findings = self.findings.lock().expect("no worker panics while it holds the findings");
                    findings.halt = Some(Halt::Switch(evidence));
                    self.halt();
                }
            }
        }
        let runs = if search.explores() { runs } else { 0 };
        let reason = self.shared.options.limits.reached(self.control, self.start, runs);
        if let Some(reason) = reason {
            let mut findings = self.findings.lock().expect("no worker panics while it holds the findings");
            findings.reach.limit.get_or_insert(reason);
            self.halt();
        }
    }

    /// Something is wrong in the current graph: confirms it by replay and keeps it.
    fn bug(&self, search: &mut Search<'_>, bug: &Bug) {
        let options = self.shared.options;
        if !options.properties.contains(bug.property) {
            return;
        }
        {
            let findings = self.findings.lock().expect("no worker panics while it holds the findings");
            if findings.seen.contains(&(bug.property, bug.pc)) {
                return;
            }
        }
        let Some(schedule) = search.schedule(bug) else { return };
        {
            let mut findings = self.findings.lock().expect("no worker panics while it holds the findings");
            if !findings.seen.insert((bug.property, bug.pc)) {
                return;
            }
        }
        let finding = confirm(self.shared.code, options, schedule, bug.property, bug.pc);
        let mut findings = self.findings.lock().expect("no worker panics while it holds the findings");
        match finding {
            Ok(finding) => {
                let known = |other: &Finding| {
                    other.violation.property == finding.violation.property
                        && other.violation.place == finding.violation.place
                };
                if !findings.list.iter().any(known) && (options.all || findings.list.is_empty()) {
                    findings.list.push(finding);
                }
                if !options.all {
                    self.halt();
                }
            }
            Err(error) => {
                findings.halt = Some(Halt::Error(error));
                self.halt();
            }
        }
    }
}
