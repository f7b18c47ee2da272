//! Where a thread is while it is unrolled, under which condition, and how two such states become one.

use super::buffers::Behind;
use raddle_machine::code::{Pc, Slot};
use raddle_program::FuncId;
use raddle_solve::{Term, Terms};
use std::rc::Rc;

/// The turn of a loop that a frame is in.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) head: Pc,
    /// How many turns it has made.
    pub(super) turns: u32,
    /// How many of these were not certain.
    pub(super) open: u32,
    /// How many were certain but for that the thread may have had to wait, or stop.
    pub(super) counted: u32,
    /// It is certain that this turn does not end the loop where it might.
    pub(super) stays: bool,
    /// Under which condition this turn began.
    pub(super) guard: Term,
}

impl Turn {
    pub(super) fn first(head: Pc, guard: Term) -> Self {
        Turn { head, turns: 0, open: 0, counted: 0, stays: false, guard }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) function: FuncId,
    /// The values of slots, as numbers of 64 bits.
    pub(super) slots: Vec<Term>,
    pub(super) return_to: Pc,
    pub(super) dst: Slot,
    pub(super) first_object: usize,
    pub(super) turns: Vec<Turn>,
    /// Where the turns of loops that have been looks only so far are noted.
    pub(super) looks: Vec<Slot>,
}

/// A byte of a private object, and whether it was written.
pub(super) type Byte = (Term, Term);

/// An object that the thread has made.
#[derive(Clone, Debug)]
pub(super) enum Object {
    /// Other threads can reach it.
    Shared,
    Private {
        bytes: Rc<Vec<Byte>>,
        /// How many of them it has, if that is not known: then those behind are not there.
        size: Option<Term>,
        live: bool,
        heap: bool,
        scoped: bool,
    },
}

/// Where a thread is.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) guard: Term,
    pub(super) pc: Pc,
    pub(super) frames: Vec<Frame>,
    pub(super) behind: Behind,
    /// The atomic block it is in, and how deep.
    pub(super) block: Option<(usize, u32)>,
    pub(super) children: u32,
    pub(super) held: Vec<(u64, i32)>,
    pub(super) objects: Vec<Object>,
    pub(super) waits: u32,
}

impl State {
    pub(super) fn frame(&self) -> &Frame {
        self.frames.last().expect("a running thread has a frame")
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a running thread has a frame")
    }

    /// The thread did more than look.
    pub(super) fn has_acted(&mut self) {
        self.frames.iter_mut().for_each(|frame| frame.looks.clear());
    }

    /// Whether the two differ in nothing but values and conditions.
    fn fits(&self, other: &State) -> bool {
        let frames = self.frames.len() == other.frames.len()
            && self.frames.iter().zip(&other.frames).all(|(a, b)| {
                a.function == b.function
                    && a.return_to == b.return_to
                    && a.dst == b.dst
                    && a.first_object == b.first_object
                    && a.looks == b.looks
                    && a.turns.len() == b.turns.len()
                    && a.turns.iter().zip(&b.turns).all(|(a, b)| a.head == b.head && a.turns == b.turns)
            });
        let objects = self.objects.len() == other.objects.len()
            && self.objects.iter().zip(&other.objects).all(|pair| match pair {
                (Object::Shared, Object::Shared) => true,
                (
                    Object::Private { bytes, size, live, heap, scoped },
                    Object::Private { bytes: others, size: room, live: lives, heap: on_heap, scoped: in_block },
                ) => {
                    // Of what is dead nobody asks what it was.
                    let alike = size.is_some() == room.is_some() && heap == on_heap && scoped == in_block;
                    live == lives && (!live || (bytes.len() == others.len() && alike))
                }
                _ => false,
            });
        frames
            && objects
            && self.pc == other.pc
            && self.block == other.block
            && self.children == other.children
            && self.held == other.held
            && self.waits == other.waits
    }

    /// Makes as many objects as the other state has, if these would be dead and of no other thread's concern: which numbers objects have says nothing.
    fn pad(&mut self, other: &State) {
        let gone = |object: &Object| matches!(object, Object::Private { live: false, .. });
        let more = other.objects.get(self.objects.len()..).unwrap_or_default();
        if more.iter().all(gone) {
            self.objects.extend_from_slice(more);
        }
    }

    /// Takes the other state in, if the two can be one. Their conditions exclude each other.
    pub(super) fn merge(&mut self, terms: &mut Terms, other: &State) -> bool {
        let mut padded = other.clone();
        padded.pad(self);
        let other = &padded;
        self.pad(other);
        if !self.fits(other) {
            return false;
        }
        let which = terms.selector(self.guard, other.guard);
        for (frame, others) in self.frames.iter_mut().zip(&other.frames) {
            for (slot, &value) in frame.slots.iter_mut().zip(&others.slots) {
                *slot = terms.ite(which, *slot, value);
            }
            for (turn, others) in frame.turns.iter_mut().zip(&others.turns) {
                turn.open = turn.open.max(others.open);
                turn.counted = turn.counted.max(others.counted);
                turn.stays |= others.stays;
                if turn.guard != others.guard {
                    turn.guard = terms.or(turn.guard, others.guard);
                }
            }
        }
        for (object, others) in self.objects.iter_mut().zip(&other.objects) {
            let (Object::Private { bytes, size, .. }, Object::Private { bytes: others, size: room, .. }) =
                (object, others)
            else {
                continue;
            };
            if let (Some(size), Some(room)) = (size, room) {
                *size = terms.ite(which, *size, *room);
            }
            if !Rc::ptr_eq(bytes, others) {
                for (byte, &(value, written)) in Rc::make_mut(bytes).iter_mut().zip(others.iter()) {
                    *byte = (terms.ite(which, byte.0, value), terms.ite(which, byte.1, written));
                }
            }
        }
        self.behind.merge(terms, which, &other.behind);
        self.guard = terms.or(self.guard, other.guard);
        true
    }
}
