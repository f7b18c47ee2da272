//! Monitors: decision procedures for one kind of object.
//!
//! All of them work on the operations of a single object. For stacks and queues every value is inserted at most
//! once ([`matching`]), but for the one that says otherwise; the central notion there is the *inner interval* of a value, from the return of its insert to the
//! call of its removal, during which the value is certainly stored ([`segments`]).
//!
//! | object | module | cost |
//! |---|---|---|
//! | stack | [`stack`], reference [`stack_quadratic`] | n log² n, n² |
//! | queue | [`queue`], references [`queue_tree`] and all pairs | n (after sorting), n log n, n² |
//! | stack, queue whose values repeat or whose removals never returned | [`stack_pairs`], [`queue_pairs`], searches | exponential at worst |
//! | set | [`set`] | n log n |
//! | multiset | [`multiset`] | n |
//! | register, key whose values are written once and that is right | [`register`] | n log n |
//! | all of these, deque, priority queue | [`counting`], necessary only | n log n |

pub mod counting;
pub mod matching;
pub mod multiset;
pub mod pairing;
pub mod pending;
pub mod queue;
pub mod queue_pairs;
pub mod queue_tree;
pub mod register;
pub mod segment_tree;
pub mod segments;
pub mod set;
pub mod stack;
pub mod stack_pairs;
pub mod stack_quadratic;
pub mod timeline;

pub use matching::{Discipline, Empty, Flaw, Matched, Val};
