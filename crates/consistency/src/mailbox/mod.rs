//! Event-driven traces: is there a run of this shape in which every handler takes its messages from a mailbox?
//!
//! A *handler* owns a mailbox and runs one *message* at a time to its end. Messages read, write and post further messages. Given are the events of each message in order,
//! what every read read, and the order of the writes of each location; sought are the order in which each handler runs its messages and the order in which they were posted,
//! so that together they have no cycle under sequential consistency (Grahn 2026). NP-complete for queues; the solver closes the order under what must hold, and searches for the rest.
//!
//! | mailbox | which message a handler takes |
//! |---|---|
//! | [`Mailbox::Multiset`] | any that is there |
//! | [`Mailbox::Queue`] | the one that was posted first |
//! | [`Mailbox::Stack`] | the one that was posted last |
//!
//! Each handler has a mailbox of its own kind. Messages that nobody posts are there from the beginning, in any order. A message that is posted and never run is *unexecuted*;
//! one that had begun when the trace ended is *open*, and the last of its handler.
//!
//! The order of the writes of a location and the sources of reads may be left open ([`Unknown`]); then any that make a run will do.
//!
//! Where this follows not the printed text but its correction: from-read edges are among what is given (the text leaves them out of the encoding), and the order of posts to a
//! queue or stack is total (the published prototype leaves it partial and accepts traces that no run has).
//!
//! Reading order: [`trace`] (the question), [`mod@replay`] (what it means), `order`, `constraints` and `unknown` (what is known, and what is to decide), `greedy` (a run at the first go), [`mod@solve`] (the search), [`mod@explain`]; [`oracle`] (step by step, for explorers); [`mod@format`] (how traces are written down), [`families`] (hard ones).

mod constraints;
pub mod explain;
pub mod families;
pub mod format;
mod greedy;
pub mod oracle;
mod order;
pub mod replay;
pub mod solve;
pub mod trace;
mod unknown;

pub use constraints::{Given, GivenEdge};
pub use explain::{Core, explain};
pub use oracle::{Mark, Oracle, Status};
pub use replay::replay;
pub use solve::{Answer, Error, Limits, Statistics, solve};
pub use trace::{Event, Kind, Mailbox, Malformed, Message, Rules, Trace, Unknown};
