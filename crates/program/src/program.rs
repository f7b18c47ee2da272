//! Programs, functions, objects and their identifiers.

use crate::analysis::Inputs;
use crate::inst::Block;
use crate::shape::Shapes;
use crate::source::{SourceMap, Span};
use crate::types::Type;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the table it names an entry of.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A function of a program.
    FuncId
);
id!(
    /// A global object of a program.
    GlobalId
);
id!(
    /// A local object of a function.
    LocalId
);
id!(
    /// A register of a function.
    Reg
);
id!(
    /// A block of a function.
    BlockId
);

/// The largest object, in bytes.
pub const MAX_OBJECT_SIZE: u32 = 1 << 26;
/// What all global objects together, or all local objects of a function, may take, in bytes.
pub const MAX_TOTAL_SIZE: u64 = 1 << 28;

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Global objects, thread-local ones included.
    pub globals: Vec<Object>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Where execution starts, in the first thread. Takes no parameters.
    pub entry: Option<FuncId>,
    /// Whether the program ends when that function returns, whatever other threads are doing, as C has it. Otherwise only
    /// the first thread ends.
    pub entry_exits: bool,
    /// What is assumed of unknown inputs.
    pub inputs: Inputs,
    /// The text the spans point into.
    pub sources: SourceMap,
    /// What objects are made of, for messages.
    pub shapes: Shapes,
}

impl Program {
    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        let at = self.functions.iter().position(|f| f.name == name)?;
        Some(FuncId(at as u32))
    }

    /// The global object with this name.
    pub fn global(&self, name: &str) -> Option<GlobalId> {
        let at = self.globals.iter().position(|g| g.name == name)?;
        Some(GlobalId(at as u32))
    }
}

/// What a piece of memory is for, which decides its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One value.
    Scalar(Type),
    /// So many values.
    Array(Type, u32),
    /// So many bytes with this alignment: whatever a front end puts there.
    Bytes {
        /// Size in bytes.
        size: u32,
        /// Alignment in bytes, a power of two.
        align: u32,
    },
    /// A mutex: an `i32`, 0 when free.
    Mutex,
    /// A reader-writer lock: an `i32`, the number of readers, or -1 for a writer.
    RwLock,
    /// A condition variable: an `i64`, the set of waiting threads.
    Cond,
    /// A barrier for so many threads: an `i64`, the count in the upper half and the arrivals in the lower.
    Barrier(u32),
    /// A semaphore with this initial value: an `i32`.
    Semaphore(u32),
    /// So many loopers with mailboxes of this kind: an `i32` each, which says the kind and never changes. What a looper is known by is its address.
    Looper(Mailbox, u32),
}

/// In which order a looper takes messages out of its mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mailbox {
    /// First posted, first taken.
    Queue,
    /// Any message that is there.
    Bag,
    /// Last posted, first taken.
    Stack,
}

impl Mailbox {
    /// Every kind.
    pub const ALL: [Mailbox; 3] = [Mailbox::Queue, Mailbox::Bag, Mailbox::Stack];

    /// The word in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Mailbox::Queue => "queue",
            Mailbox::Bag => "bag",
            Mailbox::Stack => "stack",
        }
    }

    /// What is in memory where a looper with such a mailbox is. No number that a program has there by chance.
    pub const fn word(self) -> u32 {
        0x6c6f_6f70 + self as u32
    }
}

impl Layout {
    /// Size in bytes.
    pub const fn size(self) -> u32 {
        match self {
            Layout::Scalar(ty) => ty.size(),
            Layout::Array(ty, n) => ty.size().saturating_mul(n),
            Layout::Bytes { size, .. } => size,
            Layout::Mutex | Layout::RwLock | Layout::Semaphore(_) => 4,
            Layout::Looper(_, count) => count.saturating_mul(4),
            Layout::Cond | Layout::Barrier(_) => 8,
        }
    }

    /// Alignment in bytes.
    pub const fn align(self) -> u32 {
        match self {
            Layout::Scalar(ty) | Layout::Array(ty, _) => ty.size(),
            Layout::Bytes { align, .. } => align,
            Layout::Mutex | Layout::RwLock | Layout::Semaphore(_) | Layout::Looper(..) => 4,
            Layout::Cond | Layout::Barrier(_) => 8,
        }
    }
}

/// A global object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Size and meaning.
    pub layout: Layout,
    /// Initial values; every byte not mentioned is zero (or what the layout says).
    pub init: Vec<InitField>,
    /// Whether every thread has a copy of its own.
    pub thread_local: bool,
    /// Whether writing to it is an error.
    pub constant: bool,
    /// Where it is declared.
    pub span: Span,
}

/// One initial value inside an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitField {
    /// Offset in bytes.
    pub offset: u32,
    /// Type.
    pub ty: Type,
    /// Value.
    pub value: InitValue,
}

/// An initial value. An address of type `i32` is its 32-bit number; see [`CastOp::Pack`](crate::CastOp::Pack).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitValue {
    /// A number.
    Int(u64),
    /// The address of a global object plus an offset.
    Global(GlobalId, i64),
    /// The address of a function.
    Func(FuncId),
}

/// What the name of a function ends with that stands for the one before it at the start of a thread, because something is done when that has returned.
pub const THREAD_SUFFIX: &str = ".thread_start";

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The registers that receive the arguments: the first of [`Function::regs`].
    pub params: u32,
    /// What it returns.
    pub ret: Option<Type>,
    /// Its registers. They hold 0 when the function is entered.
    pub regs: Vec<RegDecl>,
    /// Objects that live as long as the activation and have an address. Uninitialised when the function is entered.
    pub locals: Vec<Local>,
    /// Its blocks; execution starts at the first.
    pub blocks: Vec<Block>,
    /// Where it is declared.
    pub span: Span,
}

impl Function {
    /// The type of a register.
    pub fn reg_type(&self, reg: Reg) -> Type {
        self.regs[reg.index()].ty
    }

    /// The type of an expression of this function.
    pub fn expr_type(&self, expr: &crate::Expr) -> Type {
        expr.ty(&|reg| self.reg_type(reg))
    }
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegDecl {
    /// Its name; unique in the function.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A local object with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name; unique in the function.
    pub name: String,
    /// Size and meaning.
    pub layout: Layout,
    /// Where it is declared.
    pub span: Span,
}

/// Removes the blocks that cannot be reached from the first and renumbers the rest, keeping their order.
pub fn drop_unreachable_blocks(function: &mut Function) {
    let mut reachable = vec![false; function.blocks.len()];
    let mut todo = vec![BlockId(0)];
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut reachable[block.index()], true) {
            function.blocks[block.index()].term.kind.for_each_target(|target| todo.push(target));
        }
    }
    let mut new_id = Vec::with_capacity(reachable.len());
    let mut next = 0;
    for &kept in &reachable {
        new_id.push(BlockId(next));
        next += u32::from(kept);
    }
    let mut keep = reachable.iter();
    function.blocks.retain(|_| *keep.next().expect("one flag per block"));
    for block in &mut function.blocks {
        block.term.kind.map_targets(|target| new_id[target.index()]);
    }
}
