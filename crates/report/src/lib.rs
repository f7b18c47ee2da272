//! What people and programs read.
//!
//! An [`Answer`] is everything there is to say about one question put to Raddle, whatever the command: the file it is about, what it cost, and a
//! [`Body`] with what was found. This crate turns it into text for a person, one JSON object, a graph or a page, and what is wrong with an input into a
//! message with an [`excerpt`] of it. It knows traces only: neither programs nor engines.
//!
//! Everything that came from an input is cleaned on the way out, in one place for each way: `paper` and [`excerpt`] for text, [`json`], [`dot`], `html`.
//!
//! Reading order: [`answer`], then what the commands have to say: [`check`] with [`counterexample`], [`litmus`], [`live`] with [`scheduler`], [`family`], [`comparison`], [`replay`], [`trace`], [`mailbox`], [`lin`], [`stream`], [`levels`], [`transactions`], [`memsys`], [`fair`], [`robust`] and [`strengthen`]; then how
//! it is shown: `paper`, `text`, `grid`, `table`, [`names`], [`wording`], `run`, `happens_before` with `unordered`, [`excerpt`], [`json`], [`dot`] with `relations`, `html` with `walk`.

pub mod answer;
pub mod check;
pub mod comparison;
pub mod counterexample;
mod digest;
pub mod dot;
pub mod excerpt;
pub mod fair;
pub mod family;
mod fold;
mod grid;
mod happens_before;
mod html;
pub mod json;
pub mod levels;
pub mod lin;
pub mod litmus;
pub mod live;
pub mod mailbox;
pub mod memsys;
pub mod names;
pub mod numbers;
mod paper;
mod relations;
pub mod replay;
pub mod robust;
mod run;
mod sarif;
pub mod scheduler;
pub mod stream;
pub mod strengthen;
mod style;
mod table;
mod text;
pub mod trace;
pub mod transactions;
mod unordered;
mod walk;
mod witness;
pub mod wording;

pub use answer::{Answer, Body, Conclusion, Cost, Sources};
pub use check::Check;
pub use comparison::Comparison;
pub use counterexample::Counterexample;
pub use digest::sha256;
pub use excerpt::Problem;
pub use fair::Fair;
pub use family::Family;
pub use levels::Levels;
pub use lin::Lin;
pub use litmus::Litmus;
pub use live::Live;
pub use mailbox::Mailbox;
pub use memsys::Memsys;
pub use paper::Layout;
pub use replay::Replay;
pub use stream::Stream;
pub use strengthen::Strengthen;
pub use text::clean;
pub use trace::Trace;
pub use transactions::Transactions;
pub use witness::Task;
