//! Claims about the algorithms as a whole.

mod agreement;
mod bounds;
mod cases;
mod damaged;
mod second_opinion;
mod truth;
