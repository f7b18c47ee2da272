//! What all graphs of one exploration share, and what a worker has of its own.

use super::event::{INIT, Slot};
use super::graph::{Equivalence, Graph};
use super::models::Model;
use super::realise::{self, Realiser};
use super::sample::Sample;
use super::snapshot::Ways;
use crate::world::{Initial, LocId, View, World};
use raddle_engine::{Deadline, Options, Question};
use raddle_machine::{Addr, Code, Live};
use rustc_hash::FxHashSet;
use std::sync::{Arc, Mutex, OnceLock};

/// What a search is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose<'c> {
    /// What makes a class.
    pub(crate) equivalence: Equivalence,
    /// Updates whose results nobody uses commute, as far as is known.
    pub(crate) commuting: bool,
    /// Threads compete for joining another; see [`super::joins`].
    pub(crate) contested_joins: bool,
    /// No more threads come to a barrier than it is for, as far as is known; see [`super::meetings`].
    pub(crate) barriers: bool,
    /// Loopers whose messages may get stuck, by a part of their addresses: messages for them may never be taken; see [`super::mailboxes`].
    pub(crate) stuck: u64,
    /// Classes that differ in coherence alone are one: a class that was met is not counted again. Of programs with mailboxes only; see [`super::mailboxes`].
    pub(crate) by_reads: bool,
    /// What the first executions say of values is wanted.
    pub(crate) sample: Option<&'c Sample>,
}

impl Purpose<'_> {
    /// To explore one execution per class.
    pub(crate) fn new(equivalence: Equivalence, options: &Options) -> Self {
        let equivalence = if options.model == raddle_trace::Model::Wra { Equivalence::ReadsFrom } else { equivalence };
        Purpose {
            equivalence,
            commuting: options.commuting_updates,
            contested_joins: false,
            barriers: true,
            stuck: 0,
            by_reads: false,
            sample: None,
        }
    }
}

impl Purpose<'_> {
    fn mark(looper: Addr) -> u64 {
        // Neighbours in an array are told apart; others that share a mark only cost time.
        1_u64 << ((looper.0 >> 2 ^ looper.0 >> 32) % 64)
    }

    /// Whether messages of the looper may get stuck.
    pub(crate) fn is_stuck(&self, looper: Addr) -> bool {
        self.stuck & Purpose::mark(looper) != 0
    }

    /// From now on messages of the looper may get stuck.
    pub(crate) fn note_stuck(&mut self, looper: Addr) {
        self.stuck |= Purpose::mark(looper);
    }
}

/// What is shared by all workers.
#[derive(Debug)]
pub(crate) struct Shared<'c> {
    pub(crate) code: &'c Code,
    pub(crate) options: &'c Options,
    pub(crate) deadline: &'c Deadline<'c>,
    pub(crate) world: Arc<World<'c>>,
    pub(crate) purpose: Purpose<'c>,
    /// Which registers are read again; computed when somebody asks.
    live: OnceLock<Live>,
    /// The classes that were met, if they are remembered.
    pub(crate) met: Mutex<FxHashSet<Box<[u64]>>>,
}

impl<'c> Shared<'c> {
    pub(crate) fn new(question: &Question<'c>, deadline: &'c Deadline<'c>, purpose: Purpose<'c>) -> Self {
        let Question { code, options } = *question;
        Shared {
            code,
            options,
            deadline,
            world: Arc::new(World::new(code, options.model)),
            purpose,
            live: OnceLock::new(),
            met: Mutex::default(),
        }
    }

    /// Which registers are read again.
    pub(crate) fn live(&self) -> &Live {
        self.live.get_or_init(|| Live::new(self.code))
    }
}

/// What a worker has: the shared part, and what is its own.
#[derive(Debug)]
pub(crate) struct Context<'c> {
    pub(crate) shared: Arc<Shared<'c>>,
    pub(crate) code: &'c Code,
    pub(crate) races: bool,
    /// Updates whose results nobody uses commute.
    pub(crate) commuting: bool,
    /// Arrivals at barriers have no order.
    pub(crate) barriers: bool,
    /// Joins that nothing follows are no events; see [`super::tail`].
    pub(crate) tails: bool,
    pub(crate) view: View<'c>,
    pub(crate) realiser: Realiser,
    pub(crate) ways: Ways,
}

impl<'c> Context<'c> {
    pub(crate) fn new(shared: Arc<Shared<'c>>) -> Self {
        Context {
            code: shared.code,
            // Between messages they are looked for when an execution has ended.
            races: Question { code: shared.code, options: shared.options }.looks_for_races()
                && !shared.code.has_mailboxes(),
            commuting: shared.purpose.commuting,
            barriers: shared.purpose.barriers
                && shared.code.has_barriers()
                && !shared.code.has_atomic_blocks()
                && !shared.code.has_mailboxes(),
            tails: shared.code.joins_by_main()
                && !shared.code.guesses_handles()
                && !shared.code.has_atomic_blocks()
                && !shared.code.has_mailboxes(),
            view: View::new(shared.world.clone()),
            shared,
            realiser: Realiser::default(),
            ways: Ways::default(),
        }
    }

    /// Whether data races are looked for.
    pub(crate) fn looks_for_races(&self) -> bool {
        Question { code: self.code, options: self.shared.options }.looks_for_races()
    }

    /// An order of events that explains what they read, as far as the deadline lets one look for it.
    pub(crate) fn realise<M: Model>(&mut self, question: realise::Question<'_, M>) -> Option<&[Slot]> {
        self.realiser.realise(question, self.shared.deadline)
    }

    /// The value a read of `loc` gets from `source`.
    pub(crate) fn value<M: Model>(&mut self, graph: &Graph<M>, loc: LocId, source: u32) -> Initial {
        match source {
            INIT => self.view.initial(loc, &|id| graph.state(id)),
            source => Initial::written(graph.event(source).value),
        }
    }
}
