//! The engine `optimal`: exactly one complete execution per class of program order, reads-from and coherence.
//!
//! That is one per Mazurkiewicz trace under SC and one per Shasha-Snir trace under TSO and PSO; no execution is run
//! twice, none is abandoned, and nothing that was visited is remembered. The method is that of Kokologiannakis, Marmanis,
//! Gladstein and Vafeiadis 2022 (TruSt): execution graphs grow event by event; a read takes each consistent source, a
//! write each consistent place, and a new write is offered to older reads by backward revisits under a maximality
//! condition. The memory model is one table of preserved program order and the floor rule.
//!
//! | file | question it answers |
//! |---|---|
//! | `event` | what is an event, and what does the model preserve? |
//! | `graph` | which sources and places are consistent? |
//! | `revisit` | which reads may a new write be offered to? |
//! | `search`, `branch` | what is tried next, and what is left to try? |
//! | `step`, `faults` | what follows from adding an event, and what is wrong with it? |
//! | `snapshot` | in which state is a thread after each event? |
//! | `happens_before` | do two accesses race? |
//! | `linearise` | which run of the store-buffer machine is this graph? |
//! | `commute` | does the order of updates matter? |
//! | `audit` | in debug builds: is every graph consistent, and every class met once? |
//! | `context` | what do all graphs share? |
//!
//! Where we go beyond the published algorithm: locks, waits, choices, TSO and PSO, the opening of the first thread that
//! is executed once, snapshots of thread states, and races. Deviations: a lock that would be revisited by the taking of
//! its mutex is removed instead and the taking marked (rule L3), so that mutexes cost no blocked executions; a wait takes an
//! unsuitable value only from the last write. Errors make their thread stuck; the others go on, or executions in which the
//! error does not happen would be lost. Atomic blocks are explored as if they were none, and ends that no run without
//! interleaving has are dropped (counted as moot): cutting them off earlier would lose revisits. Accesses of different
//! sizes to overlapping memory are refused.
//!
//! Cost: time per class polynomial in the number of events, mostly of those that are new in it; memory polynomial in the
//! length of one execution.

#[cfg(debug_assertions)]
mod audit;
mod branch;
mod commute;
mod context;
mod ends;
mod event;
mod faults;
mod graph;
mod happens_before;
mod linearise;
mod realise;
mod revisit;
mod search;
mod snapshot;
mod sources;
mod step;

use crate::confirm::confirm;
use crate::control::Control;
use crate::options::{Limits, Options};
use crate::outcome::{Error, Finding, Outcome, Statistics};
use branch::Level;
use context::{Context, Shared};
use graph::Equivalence;
use raddle_machine::{Code, Status};
use raddle_trace::{Place, Property, Schedule, Scope, Verdict};
use rustc_hash::FxHashSet;
use search::{Search, Tick};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;
use step::{Bug, Halt};

/// How many ticks pass between two looks at the clock and at idle workers.
const PATIENCE: u32 = 256;

/// After so many executions that do not end, it is not worth while to look at more of them, unless somebody has said
/// how deep to look.
const ENDLESS: u64 = 20;

/// What the workers share.
struct Pool<'c> {
    shared: Arc<Shared<'c>>,
    control: &'c Control,
    start: Instant,
    queue: Mutex<Queue>,
    more: Condvar,
    idle: AtomicUsize,
    stop: AtomicBool,
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

#[derive(Default)]
struct Findings {
    seen: FxHashSet<(Property, u32)>,
    list: Vec<Finding>,
    halt: Option<Halt>,
    limit: Option<String>,
    statistics: Statistics,
    done: f64,
    cut_at: Option<u32>,
    bounded_at: Option<u32>,
    schedules: Vec<Schedule>,
}

/// Explores one execution per class.
pub fn explore(code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    explore_by(Equivalence::Coherence, code, options, control)
}

/// Explores one execution per reads-from class.
pub fn explore_reads_from(code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    if code.has_atomic_blocks() {
        let message = "the engine `rf` does not take atomic blocks; `--engine optimal` does".to_owned();
        return Err(Error::Unsupported { message, place: code.place(0) });
    }
    explore_by(Equivalence::ReadsFrom, code, options, control)
}

fn explore_by(equivalence: Equivalence, code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    match explore_once(code, options, control, equivalence, options.commuting_updates) {
        Ok(outcome) => Ok(outcome),
        Err(Halt::Error(error)) => Err(error),
        Err(Halt::GaveUp(..)) => unreachable!("it is part of the outcome"),
        Err(Halt::DoesNotCommute(place)) => match explore_once(code, options, control, equivalence, false) {
            Ok(mut outcome) => {
                let (file, line) = (&place.file, place.line);
                outcome
                    .notes
                    .push(format!("the order of updates matters at {file}:{line}, so they were not taken to commute"));
                Ok(outcome)
            }
            Err(Halt::Error(error)) => Err(error),
            Err(Halt::DoesNotCommute(_) | Halt::GaveUp(..)) => unreachable!("neither leaves a run without commuting"),
        },
    }
}

fn explore_once(
    code: &Code,
    options: &Options,
    control: &Control,
    equivalence: Equivalence,
    commuting: bool,
) -> Result<Outcome, Halt> {
    let shared = Arc::new(Shared::new(code, options, equivalence, commuting));
    if let Status::Failed(failure) = shared.main.status() {
        return opening_failure(code, options, &shared, failure).map_err(Halt::Error);
    }
    let pool = Pool {
        shared: shared.clone(),
        control,
        start: Instant::now(),
        queue: Mutex::default(),
        more: Condvar::new(),
        idle: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        runs: AtomicU64::new(0),
        cut: AtomicU64::new(0),
        findings: Mutex::default(),
    };
    let depth = options.limits.depth.unwrap_or(Limits::DEPTH);
    let root = Search::new(Context::new(shared.clone()), depth).root();
    pool.queue.lock().expect("nobody has it yet").levels.push_back(root);
    let workers = options.workers.max(1);
    if workers == 1 {
        pool.work(depth, 1);
    } else {
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| pool.work(depth, workers));
            }
        });
    }
    let mut findings = pool.findings.into_inner().expect("all workers have ended");
    match findings.halt.take() {
        Some(Halt::GaveUp(message, place)) => {
            findings.limit = Some(given_up(&message, &place));
            Ok(finish(code, options, findings))
        }
        Some(halt) => Err(halt),
        None => Ok(finish(code, options, findings)),
    }
}

/// Why an execution was not followed to its end.
fn given_up(message: &str, place: &Place) -> String {
    format!("{}:{}: {message}", place.file, place.line)
}

/// The first thread fails before it starts another.
fn opening_failure(
    code: &Code,
    options: &Options,
    shared: &Shared<'_>,
    failure: &raddle_machine::Failure,
) -> Result<Outcome, Error> {
    let Some(property) = failure.property else {
        let limit = Some(given_up(&failure.message, &code.place(failure.pc)));
        return Ok(finish(code, options, Findings { limit, ..Findings::default() }));
    };
    let mut findings = Findings { done: 1.0, ..Findings::default() };
    findings.statistics.failed = 1;
    if options.properties.contains(property) {
        findings.list.push(confirm(code, options, shared.opening.clone(), property, failure.pc)?);
    }
    Ok(finish(code, options, findings))
}

fn finish(code: &Code, options: &Options, findings: Findings) -> Outcome {
    let statistics = findings.statistics;
    let mut notes = Vec::new();
    let line = |pc: u32| {
        let place = code.place(pc);
        format!("{}:{}", place.file, place.line)
    };
    let mut scope = Scope::AllExecutions;
    if let Some(pc) = findings.bounded_at {
        scope = Scope::LoopBound { turns: code.loop_bound().unwrap_or(0) };
        notes.push(format!("the loop at {} reached its bound", line(pc)));
    }
    if let Some(pc) = findings.cut_at {
        let depth = options.limits.depth.unwrap_or(Limits::DEPTH);
        let reason = format!(
            "an execution went on for more than {depth} events, at {}; bound its loops or raise the depth limit",
            line(pc)
        );
        scope = Scope::Partial { reason };
    }
    if let Some(reason) = findings.limit {
        scope = Scope::Partial { reason };
    }
    let verdict = match (&findings.list[..], &scope) {
        ([_, ..], _) => Verdict::Violated,
        ([], Scope::Partial { .. }) => Verdict::Unknown,
        ([], _) => Verdict::Holds,
    };
    Outcome {
        verdict,
        scope,
        findings: findings.list,
        statistics,
        share_done: findings.done.min(1.0),
        schedules: findings.schedules,
        notes,
    }
}

impl Pool<'_> {
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
        findings.statistics.add(&search.statistics);
        findings.schedules.append(&mut search.schedules);
        findings.done += search.done;
        findings.cut_at = findings.cut_at.or(search.cut_at);
        findings.bounded_at = findings.bounded_at.or(search.bounded_at);
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
        if cut >= ENDLESS && self.shared.options.limits.depth.is_none() {
            // Where they were cut off is told in any case.
            self.halt();
        }
        let limits = &self.shared.options.limits;
        let reason = if self.control.stopped() {
            Some("it was interrupted".to_owned())
        } else if limits.executions.is_some_and(|limit| runs >= limit) && search.explores() {
            Some(format!("the limit of {} executions was reached", limits.executions.unwrap_or(0)))
        } else if limits.time.is_some_and(|limit| self.start.elapsed() >= limit) {
            Some(format!("the time limit of {:?} was reached", limits.time.unwrap_or_default()))
        } else if limits.memory.is_some_and(|limit| crate::memory::resident() >= limit) {
            Some(format!("the memory limit of {} bytes was reached", limits.memory.unwrap_or(0)))
        } else {
            None
        };
        if let Some(reason) = reason {
            let mut findings = self.findings.lock().expect("no worker panics while it holds the findings");
            findings.limit.get_or_insert(reason);
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
