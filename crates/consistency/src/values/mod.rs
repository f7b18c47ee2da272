//! VerifySC (Agarwal et al. 2021, Toman 2021): sequential consistency where each read may read any of a set of good writes.
//!
//! This is the question an exploration of reads-value-from classes asks: what matters is which value a read gets, not which write it is from. An execution is a
//! sequence of all events in program order in which every read reads a good write of it.
//!
//! The search goes over prefixes. The *active* write of a location is the last one. A read that is yet to come *holds* its location when all its good writes have
//! been; then the active one must be good for it, and nobody may overwrite it. Two prefixes are the same if threads are at the same positions and the
//! active writes are of the same threads: at most `n^k · k^d` for `k` threads, `n` events each, and `d` locations. Without a choice are done: a read
//! whose active write is good, and a write that nobody can want any more over one that nobody can want any more. An update is chosen like a write.
//!
//! Closure is the filter before the search: an order every execution respects, or the certainty that there is none. It does not decide. If an *auxiliary
//! trace* is given, it is tried first, and then the search takes events in its order.
//!
//! Deviation: positions and active writes are kept in one key, with the active writes of those locations only that two threads write.

mod closure;
mod search;

use crate::instance::{Instance, Malformed, Source};
use crate::replay::Memory;
use crate::settings::Limits;
use crate::verify::{Answer, Statistics};
use raddle_trace::{EventId, Model, Step};

/// For every read of an instance, thread by thread, the writes it may read. What the instance itself says about its sources does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoodWrites {
    starts: Vec<u32>,
    sources: Vec<Source>,
}

impl GoodWrites {
    /// No reads.
    pub fn new() -> Self {
        GoodWrites::default()
    }

    /// The sources an instance names, and no others.
    pub fn of(instance: &Instance) -> Self {
        let mut good = GoodWrites::new();
        for source in instance.events().filter_map(|(_, action)| action.source()) {
            good.begin_read();
            good.push(source);
        }
        good
    }

    /// Forgets everything but the memory it holds.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.sources.clear();
    }

    /// Begins the set of the next read.
    pub fn begin_read(&mut self) {
        self.starts.push(self.sources.len() as u32);
    }

    /// Adds a write to the set of the read that was begun last.
    pub fn push(&mut self, source: Source) {
        self.sources.push(source);
    }

    /// How many reads there are.
    pub fn reads(&self) -> usize {
        self.starts.len()
    }

    /// The good writes of a read.
    pub fn of_read(&self, read: usize) -> &[Source] {
        let end = self.starts.get(read + 1).map_or(self.sources.len(), |&end| end as usize);
        &self.sources[self.starts[read] as usize..end]
    }
}

/// How to verify.
#[derive(Clone, Copy, Debug)]
pub struct ValueSettings<'g> {
    /// Compute the closure first.
    pub closure: bool,
    /// Make moves that cannot hurt without a choice.
    pub greedy: bool,
    /// An order of the events to be tried first.
    pub guide: Option<&'g [EventId]>,
    /// When to give up.
    pub limits: Limits,
}

impl Default for ValueSettings<'_> {
    fn default() -> Self {
        ValueSettings { closure: true, greedy: true, guide: None, limits: Limits::default() }
    }
}

/// Why a question makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedValues {
    /// The instance itself.
    #[error(transparent)]
    Instance(#[from] Malformed),
    /// There are more or fewer sets than reads.
    #[error("there are {reads} reads and {sets} sets of good writes")]
    OtherNumber {
        /// Reads of the instance.
        reads: usize,
        /// Sets.
        sets: usize,
    },
    /// A good write that is none.
    #[error("{write} cannot be read by {read}")]
    NotAWrite {
        /// The read.
        read: EventId,
        /// The write.
        write: EventId,
    },
}

/// Answers, with memory that is used again for the next one.
#[derive(Clone, Debug, Default)]
pub struct ValueVerifier {
    problem: search::Problem,
    closure: closure::ValueClosure,
    statistics: Statistics,
}

impl ValueVerifier {
    /// A verifier.
    pub fn new() -> Self {
        ValueVerifier::default()
    }

    /// What the last answer cost.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Is there a sequentially consistent execution in which every read reads a good write?
    ///
    /// # Panics
    /// If a witness does not replay, which would be a mistake in this crate.
    pub fn verify(
        &mut self,
        instance: &Instance,
        good: &GoodWrites,
        settings: &ValueSettings<'_>,
    ) -> Result<Answer, MalformedValues> {
        validate(instance, good)?;
        self.statistics = Statistics::default();
        if let Some(guide) = settings.guide {
            let schedule: Vec<Step> = guide.iter().map(|event| Step::Run(event.thread)).collect();
            if fits(instance, good, &schedule) {
                return Ok(Answer::Consistent(schedule));
            }
        }
        self.problem.shape.build_without_sources(instance, Model::Sc);
        self.problem.fill(instance, good);
        let order = if settings.closure {
            self.statistics.closed = true;
            if self.closure.build(&self.problem).is_err() {
                self.statistics.cyclic = true;
                return Ok(Answer::Inconsistent);
            }
            Some(&self.closure.order)
        } else {
            None
        };
        let found = self.problem.search(instance, order, settings, &mut self.statistics.prefixes);
        if let Answer::Consistent(schedule) = &found {
            assert!(fits(instance, good, schedule), "a witness does not replay: {instance:?}\n{good:?}\n{schedule:?}");
        }
        Ok(found)
    }
}

fn validate(instance: &Instance, good: &GoodWrites) -> Result<(), MalformedValues> {
    instance.validate()?;
    let reads = || instance.events().filter(|(_, action)| action.source().is_some());
    let count = reads().count();
    if count != good.reads() {
        return Err(MalformedValues::OtherNumber { reads: count, sets: good.reads() });
    }
    for (at, (read, action)) in reads().enumerate() {
        for &source in good.of_read(at) {
            if let Source::Write(write) = source {
                let fits = |other: crate::Action| other.writes() && other.loc() == action.loc() && write != read;
                if !instance.get(write).is_some_and(fits) {
                    return Err(MalformedValues::NotAWrite { read, write });
                }
            }
        }
    }
    Ok(())
}

/// Whether the schedule runs everything, and every read reads a good write.
fn fits(instance: &Instance, good: &GoodWrites, schedule: &[Step]) -> bool {
    let mut memory = Memory::new(instance, Model::Sc);
    // The number of the first read of each thread among all reads.
    let mut reads = Vec::new();
    let mut total = 0;
    for thread in (0..instance.threads() as u32).map(raddle_trace::ThreadId) {
        reads.push(total);
        total += instance.thread(thread).iter().filter(|action| action.source().is_some()).count();
    }
    for step in schedule {
        let thread = step.thread();
        if thread.index() >= instance.threads() || !memory.can_run(instance, thread) {
            return false;
        }
        if let Some(found) = memory.run(instance, thread) {
            if !good.of_read(reads[thread.index()]).contains(&found) {
                return false;
            }
            reads[thread.index()] += 1;
        }
    }
    memory.is_complete(instance)
}
