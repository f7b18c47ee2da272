//! What engines that work on sequences of events share: the events of a program under sequential consistency, how
//! threads are run from one to the next, and the order that the program itself fixes.
//!
//! An engine of this kind holds a set of events, closed under program order, and looks for sequences of them in which
//! every read finds what it is said to find. This layer holds the set ([`Frontier`]): which events each thread has done
//! and in which state it rests, which writes each location has, and what can come next. It answers
//! * what follows without any read ([`Frontier::extend`]): threads run until each is finished, blocked, or about to read
//!   or to choose;
//! * which writes a pending read could read from as far as program order tells ([`Frontier::visible`]);
//! * which run of the machine a sequence is ([`Frontier::schedule`]).
//!
//! What is added can be taken back ([`Frontier::mark`], [`Frontier::undo`]), so a search over sets of events is a walk with one
//! frontier. A thread's state is copied once per read, not once per event.
//!
//! An event is named by its thread and its number there. That is unique as long as the reads before it in its thread are
//! answered as they were, which holds along one branch of a search and not between branches. Threads are named by who
//! started them and as how many-th, so a name means the same in every branch.
//!
//! Every visible operation is one event. An update (read-modify-write, compare-exchange, lock) is one event that reads and
//! writes, not two that are glued together: nothing can come between its halves. The initial write of each location is
//! [`INITIAL`]; it comes before everything and is no member of any thread. What the first thread does while it is alone is
//! executed once ([`World`](crate::world::World)) and makes initial values, not events.
//!
//! Engines built on this: [`rvf`](crate::rvf), [`vc`](crate::vc), [`dc`](crate::dc). What they cannot do for want of this layer: memory models
//! other than SC, atomic blocks, accesses of different sizes to overlapping memory. Data races are looked for at the ends of
//! executions ([`races`]), and so are accesses that can come after the ends of their objects ([`lives`]).
//!
//! Arrivals at a barrier have no order as long as every round has the same members ([`meetings`]).
//!
//! What such a search has around it is in [`shell`], and workers that share one in [`pool`]; [`witness`] asks for sequences, [`ends`] says what an execution comes to.

pub(crate) mod ends;
mod event;
mod frontier;
pub(crate) mod lives;
mod meetings;
pub(crate) mod pool;
mod races;
mod report;
mod run;
mod schedule;
pub(crate) mod shell;
pub(crate) mod signals;
mod tried;
pub(crate) mod witness;

pub(crate) use crate::world::Initial;
pub(crate) use event::{INITIAL, Kind, LocId, NO_LOC};
pub(crate) use frontier::{Frontier, Mark};
pub(crate) use report::{Alarm, Counters, End, Report, Stop};
pub(crate) use run::{Bug, Extended, Pending};
pub(crate) use shell::{Shell, Walk};
pub(crate) use tried::{Tried, forbid};

use raddle_engine::{Question, Refusal, without_mailboxes};

/// What stands against every engine that works on sequences, if anything does.
pub(crate) fn refusal(question: &Question<'_>) -> Option<String> {
    let Question { code, options } = question;
    if !options.model.is_sequential() {
        return Some(format!("the memory model {}, only sc", options.model));
    }
    code.has_atomic_blocks().then(|| "atomic blocks".to_owned())
}

/// Refuses programs that no engine on sequences takes.
pub(crate) fn takes(engine: &str, question: &Question<'_>) -> Result<(), Refusal> {
    without_mailboxes(engine, question)?;
    refusal(question).map_or(Ok(()), |what| {
        let message = format!("the engine `{engine}` does not handle {what}; use --engine optimal");
        Err(Refusal::whole(question.code, message))
    })
}
