//! The tree the parser builds: the text with its structure, nothing resolved.

use crate::Ordering;
use crate::expr::{BinOp, CastOp, Splice, UnOp};
use crate::float::{FloatBin, FloatUn};
use crate::inst::{ErrorKind, RmwOp, Unwritten};
use crate::program::Mailbox;
use crate::source::Span;
use crate::types::Type;
use std::borrow::Cow;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Ast<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) span: Span,
    /// Height of the tree; bounded by the parser, so that recursion over it is.
    pub(super) height: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Kind<'a> {
    /// A number (negative if a minus stands directly before it), and its type if it is attached.
    Int(i128, Option<Type>),
    Bool(bool),
    Null,
    Name(Name<'a>),
    AddressOf(Box<Place<'a>>),
    Unary(Prefix, Box<Ast<'a>>),
    Binary(&'static Infix, Box<Ast<'a>>, Box<Ast<'a>>),
    Cast(CastOp, Type, Box<Ast<'a>>),
    /// `float_sqrt(a)`
    Float(FloatUn, Box<Ast<'a>>),
    /// `float_add(a, b)`
    Floats(FloatBin, Box<Ast<'a>>, Box<Ast<'a>>),
    /// `splice(a, b, to, width, from)`
    Splice(Splice, Box<Ast<'a>>, Box<Ast<'a>>),
    Select(Box<Ast<'a>>, Box<Ast<'a>>, Box<Ast<'a>>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    /// `-`
    Neg,
    /// `~`
    Complement,
    /// `!`, on truth values only
    Not,
}

impl Prefix {
    pub(super) fn op(self) -> UnOp {
        match self {
            Prefix::Neg => UnOp::Neg,
            Prefix::Complement | Prefix::Not => UnOp::Not,
        }
    }
}

/// An infix operator.
#[derive(Debug, PartialEq)]
pub(super) struct Infix {
    pub(super) text: &'static str,
    pub(super) op: BinOp,
    /// `a > b` is `b < a`.
    pub(super) swapped: bool,
    /// For truth values only.
    pub(super) logical: bool,
    /// Higher binds tighter.
    pub(super) precedence: u8,
}

/// The precedence of `c ? a : b`.
pub(super) const SELECT: u8 = 1;
/// The precedence of comparisons, which do not chain.
pub(super) const COMPARISON: u8 = 4;
/// The precedence of prefix operators.
pub(super) const PREFIX: u8 = 11;
/// The precedence of what needs no parentheses anywhere.
pub(super) const ATOM: u8 = 12;

const fn infix(text: &'static str, op: BinOp, precedence: u8) -> Infix {
    Infix { text, op, swapped: false, logical: false, precedence }
}

/// Every infix operator. The first one for an operation (with matching `logical`, not swapped) is how it is printed.
pub(super) static INFIX: [Infix; 25] = [
    Infix { logical: true, ..infix("||", BinOp::Or, 2) },
    Infix { logical: true, ..infix("&&", BinOp::And, 3) },
    infix("==", BinOp::Eq, COMPARISON),
    infix("!=", BinOp::Ne, COMPARISON),
    infix("<", BinOp::SLt, COMPARISON),
    infix("<=", BinOp::SLe, COMPARISON),
    infix("<u", BinOp::ULt, COMPARISON),
    infix("<=u", BinOp::ULe, COMPARISON),
    Infix { swapped: true, ..infix(">", BinOp::SLt, COMPARISON) },
    Infix { swapped: true, ..infix(">=", BinOp::SLe, COMPARISON) },
    Infix { swapped: true, ..infix(">u", BinOp::ULt, COMPARISON) },
    Infix { swapped: true, ..infix(">=u", BinOp::ULe, COMPARISON) },
    infix("|", BinOp::Or, 5),
    infix("^", BinOp::Xor, 6),
    infix("&", BinOp::And, 7),
    infix("<<", BinOp::Shl, 8),
    infix(">>", BinOp::AShr, 8),
    infix(">>u", BinOp::LShr, 8),
    infix("+", BinOp::Add, 9),
    infix("-", BinOp::Sub, 9),
    infix("*", BinOp::Mul, 10),
    infix("/", BinOp::SDiv, 10),
    infix("/u", BinOp::UDiv, 10),
    infix("%", BinOp::SRem, 10),
    infix("%u", BinOp::URem, 10),
];

/// Something with an address.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) kind: PlaceKind<'a>,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum PlaceKind<'a> {
    /// `x`, or `@x` for the global one whatever `x` means in the function.
    Name { name: Name<'a>, global: bool },
    /// `x[i]`, `@x[i]`
    Index { name: Name<'a>, global: bool, index: Ast<'a> },
    /// `*p`
    Deref(Ast<'a>),
}

/// The layout of an object, before sizes are known.
#[derive(Clone, Debug)]
pub(super) enum LayoutAst<'a> {
    Scalar(Type),
    Array(Type, Ast<'a>),
    Bytes(Ast<'a>, Option<Ast<'a>>),
    Mutex,
    RwLock,
    Cond,
    Barrier(Ast<'a>),
    Semaphore(Ast<'a>),
    /// One, or so many.
    Looper(Mailbox, Option<Ast<'a>>),
}

/// The initial value of a global object.
#[derive(Clone, Debug)]
pub(super) enum Init<'a> {
    None,
    /// `= e`
    Value(Ast<'a>),
    /// `= {e, e}`
    List(Vec<Ast<'a>>),
    /// `{0: i32 5, 8: ptr &x}`
    Fields(Vec<(Ast<'a>, Type, Ast<'a>)>),
}

#[derive(Debug)]
pub(super) struct Global<'a> {
    pub(super) name: Name<'a>,
    pub(super) thread_local: bool,
    pub(super) constant: bool,
    pub(super) layout: LayoutAst<'a>,
    pub(super) init: Init<'a>,
}

#[derive(Debug)]
pub(super) struct Func<'a> {
    pub(super) name: Name<'a>,
    pub(super) params: Vec<(Name<'a>, Type)>,
    pub(super) ret: Option<Type>,
    pub(super) body: Vec<Stmt<'a>>,
    /// The closing brace.
    pub(super) end: Span,
}

#[derive(Debug, Default)]
pub(super) struct File<'a> {
    pub(super) params: Vec<(Name<'a>, Ast<'a>)>,
    pub(super) globals: Vec<Global<'a>>,
    pub(super) functions: Vec<Func<'a>>,
    pub(super) entry: Option<Name<'a>>,
    /// Its return ends the program.
    pub(super) entry_exits: bool,
}

#[derive(Debug)]
pub(super) struct Stmt<'a> {
    pub(super) kind: StmtKind<'a>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum StmtKind<'a> {
    Let {
        name: Name<'a>,
        ty: Option<Type>,
        value: Option<Action<'a>>,
    },
    Assign {
        name: Name<'a>,
        value: Action<'a>,
    },
    Do(Action<'a>),
    Var {
        name: Name<'a>,
        layout: LayoutAst<'a>,
        init: Option<Ast<'a>>,
    },
    Store {
        order: Ordering,
        ty: Option<Type>,
        place: Place<'a>,
        value: Ast<'a>,
    },
    Fence(Ordering),
    Sync(SyncKind, Place<'a>),
    CondWait {
        cond: Place<'a>,
        mutex: Place<'a>,
        timed: bool,
    },
    BarrierInit(Place<'a>, Ast<'a>),
    Free {
        ptr: Ast<'a>,
        scoped: bool,
    },
    Assert(Ast<'a>, String),
    Assume(Ast<'a>),
    Error(ErrorKind, String),
    Print(String, Vec<Ast<'a>>),
    AtomicBegin,
    AtomicEnd,
    Atomic(Vec<Stmt<'a>>),
    Block(Vec<Stmt<'a>>),
    /// `if`, `else if`, ..., `else`
    If(Vec<(Ast<'a>, Vec<Stmt<'a>>)>, Vec<Stmt<'a>>),
    /// `if c goto A else B`
    Branch(Ast<'a>, Name<'a>, Option<Name<'a>>),
    While(Ast<'a>, Vec<Stmt<'a>>),
    Loop(Vec<Stmt<'a>>),
    /// `loop;`: a turn of a loop begins here; `loop unbounded;`
    Turn {
        unbounded: bool,
    },
    DoWhile(Vec<Stmt<'a>>, Ast<'a>),
    For {
        name: Name<'a>,
        ty: Option<Type>,
        from: Ast<'a>,
        to: Ast<'a>,
        body: Vec<Stmt<'a>>,
    },
    Switch {
        value: Ast<'a>,
        arms: Vec<(Vec<Ast<'a>>, Arm<'a>)>,
        default: Option<Arm<'a>>,
    },
    Break(Option<Name<'a>>),
    Continue(Option<Name<'a>>),
    Label(Name<'a>),
    Goto(Name<'a>),
    Spin(Name<'a>),
    Return(Option<Ast<'a>>),
    ThreadExit(Option<Ast<'a>>),
    Exit,
    Unreachable,
}

/// What a case of a switch does.
#[derive(Debug)]
pub(super) enum Arm<'a> {
    Goto(Name<'a>),
    Block(Vec<Stmt<'a>>),
}

/// Operations on one synchronisation object that give no value.
#[derive(Clone, Copy, Debug)]
pub(super) enum SyncKind {
    Lock { recursive: bool },
    Unlock,
    ReadLock,
    WriteLock,
    RwUnlock,
    Signal,
    Broadcast,
    SemWait,
    SemPost,
    Destroy(Type),
}

/// Whom to call.
#[derive(Debug)]
pub(super) enum CalleeAst<'a> {
    Direct(Name<'a>),
    Indirect(Ast<'a>),
}

/// Who runs the function.
#[derive(Debug)]
pub(super) enum How<'a> {
    /// Whoever calls it.
    Call,
    /// A new thread.
    Spawn,
    /// A looper.
    Post(Place<'a>),
}

/// What can stand to the right of `=`: an expression, or an instruction that gives a value.
#[derive(Debug)]
pub(super) enum Action<'a> {
    Expr(Ast<'a>),
    Load {
        order: Ordering,
        ty: Option<Type>,
        place: Place<'a>,
        until: Option<Ast<'a>>,
        /// It may read what was never written.
        unwritten: Unwritten,
    },
    Rmw {
        op: RmwOp,
        order: Ordering,
        ty: Option<Type>,
        place: Place<'a>,
        operand: Ast<'a>,
        /// The condition behind `until` (true) or `unless`.
        idle: Option<(Ast<'a>, bool)>,
    },
    Cas(Box<CasAst<'a>>),
    Call {
        callee: CalleeAst<'a>,
        args: Vec<Ast<'a>>,
        how: How<'a>,
    },
    Join(Ast<'a>),
    ThreadId,
    TryLock {
        place: Place<'a>,
        recursive: bool,
    },
    TryRwLock {
        place: Place<'a>,
        write: bool,
    },
    BarrierWait(Place<'a>),
    SemTryWait(Place<'a>),
    Alloc {
        size: Ast<'a>,
        zeroed: bool,
        scoped: bool,
    },
    Choose {
        low: Ast<'a>,
        high: Ast<'a>,
        inclusive: bool,
        /// `choose random`, and the weights.
        random: Option<Vec<Ast<'a>>>,
    },
    /// `choose`, `choose signed`, `choose in 0..=3, 7..=9`
    Input {
        signed: bool,
        values: Option<Vec<(Ast<'a>, Ast<'a>)>>,
    },
}

#[derive(Debug)]
pub(super) struct CasAst<'a> {
    pub(super) success: Ordering,
    pub(super) failure: Option<Ordering>,
    pub(super) ty: Option<Type>,
    pub(super) place: Place<'a>,
    pub(super) expected: Ast<'a>,
    pub(super) desired: Ast<'a>,
    pub(super) wait: bool,
}
