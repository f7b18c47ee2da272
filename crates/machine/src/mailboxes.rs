//! Mailboxes: who is in them, and what a looper takes next.
//!
//! A message is a thread of its own to whoever drives threads: it is started by its post, rests before it is taken, and then runs to its end. What makes
//! it a message is that its looper takes it when it runs no other, and in the order of its mailbox: the first that was posted, the last, or any.

use crate::address::Addr;
use raddle_program::Mailbox;
use raddle_trace::ThreadId;
use std::collections::BTreeMap;

/// The mailboxes of all loopers that have something to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mailboxes(BTreeMap<Addr, Looper>);

/// What a looper has to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Looper {
    /// What was posted and not taken, in the order of the posts where the mailbox keeps it.
    waiting: Vec<ThreadId>,
    /// The message that it runs.
    running: Option<ThreadId>,
}

impl Mailboxes {
    /// A message is put into a mailbox.
    pub(crate) fn post(&mut self, looper: Addr, mailbox: Mailbox, message: ThreadId) {
        let waiting = &mut self.0.entry(looper).or_default().waiting;
        let at = match mailbox {
            Mailbox::Queue | Mailbox::Stack => waiting.len(),
            // Any of them is taken, so their order makes no other state.
            Mailbox::Bag => waiting.partition_point(|&other| other < message),
        };
        waiting.insert(at, message);
    }

    /// Whether the looper can take the message now.
    pub fn can_take(&self, looper: Addr, mailbox: Mailbox, message: ThreadId) -> bool {
        let Some(Looper { waiting, running: None }) = self.0.get(&looper) else { return false };
        match mailbox {
            Mailbox::Queue => waiting.first() == Some(&message),
            Mailbox::Stack => waiting.last() == Some(&message),
            Mailbox::Bag => waiting.contains(&message),
        }
    }

    /// The looper takes the message.
    pub(crate) fn take(&mut self, looper: Addr, message: ThreadId) {
        let state = self.0.get_mut(&looper).expect("it can be taken");
        state.waiting.retain(|&other| other != message);
        state.running = Some(message);
    }

    /// The looper has done with a message.
    pub(crate) fn done(&mut self, looper: Addr) {
        if let Some(state) = self.0.get_mut(&looper) {
            state.running = None;
            if state.waiting.is_empty() {
                self.0.remove(&looper);
            }
        }
    }

    /// The message that a looper runs.
    pub fn running(&self, looper: Addr) -> Option<ThreadId> {
        self.0.get(&looper)?.running
    }

    /// All loopers that have something to do: what waits for each, and what it runs.
    pub fn all(&self) -> impl Iterator<Item = (Addr, &[ThreadId], Option<ThreadId>)> {
        self.0.iter().map(|(&looper, state)| (looper, state.waiting.as_slice(), state.running))
    }
}
