//! The automaton format of the robustness checker TRENCHER (Derevenetc, Meyer 2014): threads as automata over one memory.
//!
//! ```text
//! file       ::= { thread | "domain" n | "goal" { thread ":" state } }         # to the end of the line is a comment
//! thread     ::= "thread" name "initial" state { transition | "mark" { state } } "end"
//! transition ::= "transition" from to instr
//! instr      ::= "write" value address | "read" register address | "local" register expr | "check" expr
//!              | "mfence" | "noop" | "lock" | "unlock" | "atomic" { instr } "end"
//! expr       ::= number | register | "!" expr | operator expr expr             (in front: == != < <= > >= && || + - * % &)
//! ```
//!
//! Words are separated by blanks. Memory and registers hold 0 at first. What is ours: `domain`, `goal`, `mark`, `atomic` and `%`; `domain n` lets numbers be 0 to n - 1 and arithmetic wrap there, otherwise they have 32 bits.
//! A *goal* is reached when each of these threads is at that state, whatever memory holds; with marks, when every thread that has marked states is at one. That a goal is reached is a failed assertion: who is at its state may count itself, once
//! and for all, and who is the last one fails (Calin 2016, the memory encoding of goals; in one order, see `goals`).
//!
//! [`read()`] writes the program in Raddle's own language and reads that; places are those of the automaton. [`write()`] goes the other way, as far as there are words for a program.

mod goals;
mod read;
mod update;
mod write;

pub use read::read;
pub use write::write;
