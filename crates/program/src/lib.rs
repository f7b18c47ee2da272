//! The program representation: what every front end produces and every engine consumes.
//!
//! A [`Program`] is a set of global [`Object`]s and [`Function`]s. A function is a control-flow graph of
//! [`Block`]s over typed registers. Registers are private to an activation of the function; everything that
//! another thread could reach lives in memory and is touched by explicit instructions only ([`Op::Load`],
//! [`Op::Store`], [`Op::Rmw`], ...), so the visible events of a program can be read off its text.
//!
//! Reading order: [`types`], [`expr`], [`float`], [`partial`], [`inst`], [`program`], then [`source`] for locations and diagnostics, [`mod@text`] for
//! the text form, [`trencher`] for automata, [`mod@validate`] for what engines may rely on, and [`analysis`].

pub mod analysis;
pub mod builder;
pub mod expr;
pub mod float;
pub mod inst;
pub mod partial;
pub mod program;
pub mod shape;
pub mod source;
#[cfg(test)]
mod testing;
pub mod text;
pub mod trencher;
pub mod types;
pub mod validate;

pub use builder::FunctionBuilder;
pub use expr::{BinOp, CastOp, Expr, Splice, UnOp};
pub use float::{FloatBin, FloatCast, FloatUn};
pub use inst::{Block, Callee, Draw, ErrorKind, Idle, Inst, Op, RmwOp, Term, Terminator, Turn, Unwritten};
pub use partial::{Field, NO_VALUE};
pub use program::{
    BlockId, FuncId, Function, GlobalId, InitField, InitValue, Layout, Local, LocalId, MAX_OBJECT_SIZE, MAX_TOTAL_SIZE,
    Mailbox, Object, Program, Reg, RegDecl, THREAD_SUFFIX,
};
pub use raddle_trace::Ordering;
pub use shape::{Member, Parts, Shape, Shapes};
pub use source::{Diagnostic, SourceFile, SourceMap, Span};
pub use text::{ParseErrors, parse, print};
pub use types::Type;
pub use validate::validate;
