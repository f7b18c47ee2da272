//! What does the program mean? The typed tree: names resolved, conversions explicit, layout decided.
//!
//! The checker makes it from the syntax tree and the lowering turns it into the program representation. Every
//! expression has its C type. A read of an object is a [`ExprKind::Load`], so that the number of accesses a program
//! makes can be read off the tree; arrays and functions that decay are [`ExprKind::AddrOf`].

use crate::ctype::{Bits, QTy};
use crate::syntax::{BinaryOp, UnaryOp};
use crate::token::{Name, Pos};
use raddle_program::{FloatBin, FloatUn, Ordering};

/// An object: global, static, local or parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct VarId(pub(crate) u32);

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FnId(pub(crate) u32);

/// A string literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StrId(pub(crate) u32);

/// A label of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LabelId(pub(crate) u32);

impl LabelId {
    /// The number that stands for the label of a function as a value: nothing is at such an address.
    pub(crate) fn address(self, function: FnId) -> u64 {
        u64::from(function.0 % 2048 + 1) << 20 | u64::from(self.0 + 1) << 4
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) ty: QTy,
    pub(crate) pos: Pos,
}

/// Kinds of expressions. Operands are values unless the kind says "object".
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// An integer or pointer constant, cut to its width.
    Const(u64),
    /// An object.
    Var(VarId),
    /// A function.
    Func(FnId),
    /// An object: the array of a string literal.
    Str(StrId),
    /// The object a pointer points at.
    Deref(Box<Expr>),
    /// A member of an object (or of a struct value).
    Member(Box<Expr>, u64, Option<Bits>),
    /// A compound literal: an object that is initialised here.
    Literal(VarId, Box<Init>),
    /// The value of an object.
    Load(Box<Expr>),
    /// The address of an object or function.
    AddrOf(Box<Expr>),
    /// A conversion to this expression's type.
    Convert(Box<Expr>),
    /// `-`, `~` or `!`.
    Unary(UnaryOp, Box<Expr>),
    /// Operands of one type, except for shifts.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Pointer plus (or minus) index times size.
    PtrAdd {
        ptr: Box<Expr>,
        index: Box<Expr>,
        size: u64,
        minus: bool,
    },
    /// Difference of pointers in elements of this size.
    PtrDiff(Box<Expr>, Box<Expr>, u64),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// Without a middle: the value of the condition, converted.
    Cond(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// Object, value.
    Assign(Box<Expr>, Box<Expr>),
    /// `object op= value`, computed in the type `via`.
    OpAssign {
        op: Change,
        target: Box<Expr>,
        value: Box<Expr>,
        via: QTy,
    },
    /// `++` and `--`; the value is the old one or the new one.
    IncDec {
        target: Box<Expr>,
        by: i64,
        prefix: bool,
    },
    Call(Box<Expr>, Vec<Expr>),
    /// Statements, the last of which may give the value.
    StmtExpr(Vec<Stmt>, Option<Box<Expr>>),
    /// An operation of the compiler or the verifier.
    Builtin(Builtin, Vec<Expr>),
}

/// How a compound assignment computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// An operator on numbers.
    Op(BinaryOp),
    /// A step of a pointer over elements of this size.
    Step { size: u64, minus: bool },
}

/// The read-modify-write operations C can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RmwKind {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
    Min { signed: bool },
    Max { signed: bool },
    Exchange,
}

/// Operations that are no C operators. Arguments that are objects are given as such, not as addresses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Builtin {
    /// (object): its value.
    AtomicLoad(Order),
    /// (object, value).
    AtomicStore(Order),
    /// (object, value): the old value, or the new one.
    AtomicRmw { op: RmwKind, order: Order, new: bool },
    /// (object, object of the expected value, desired value): whether it succeeded; stores what it found if not. A weak one may fail
    /// without a reason.
    CompareExchange { success: Order, failure: Order, weak: bool },
    /// (object, expected, desired): the old value, or whether it succeeded.
    SyncCas { old: bool },
    /// (object): sets it and returns whether it was set.
    TestAndSet(Order),
    /// A fence.
    Fence(Order),
    /// (condition): a violation if it is false.
    Assert(String),
    /// (condition).
    Assume,
    /// A violation, in the words of verification competitions.
    Error(String),
    /// Control does not come here; a violation if it does.
    Trap(&'static str),
    /// Ends the thread's atomic block, or begins it.
    AtomicBlock { begin: bool },
    /// Any value of this type, from the range for unknown inputs.
    Nondet,
    /// (number): one below it, drawn by chance.
    Random,
    /// (value): bits set.
    Popcount,
    /// (value): leading zeros.
    Clz,
    /// (value): trailing zeros.
    Ctz,
    /// (value): bytes in the opposite order.
    Bswap,
    /// (a, b, object): whether `a op b` does not fit the object, which receives it.
    Overflow(BinaryOp),
    /// The arguments of the function beyond its parameters: a pointer to the first.
    Rest,
    /// (size in bytes): memory of the function, or of the block if it is an array of variable length.
    Alloca,
    /// (value): an operator on a floating-point number.
    Float(FloatUn),
    /// (values): an operator on two of them.
    Floats(FloatBin),
    /// (values): evaluated, without effect.
    Nothing,
}

/// A memory order argument.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Known(Ordering),
    /// Computed when the program runs.
    Runtime(Box<Expr>),
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        matches!((self, other), (Order::Known(a), Order::Known(b)) if a == b)
    }
}

/// How an object gets its first value when its declaration is executed.
#[derive(Clone, Debug)]
pub(crate) enum Init {
    /// A scalar, or a struct copied whole.
    Value(Expr),
    /// Parts; what is not mentioned is zero.
    Parts(Vec<InitPart>),
}

/// One scalar (or struct copied whole) inside an object.
#[derive(Clone, Debug)]
pub(crate) struct InitPart {
    pub(crate) offset: u64,
    pub(crate) bits: Option<Bits>,
    pub(crate) ty: QTy,
    pub(crate) value: Expr,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) pos: Pos,
}

/// Kinds of statements.
#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Expr(Expr),
    Block(Vec<Stmt>),
    Decl(VarId, Option<Init>),
    /// To be evaluated on every way out of the block.
    Cleanup(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For {
        init: Vec<Stmt>,
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Switch {
        subject: Expr,
        /// Values from the first to the second, unsigned in the subject's width.
        cases: Vec<(u64, u64)>,
        body: Box<Stmt>,
    },
    /// The place of a case of the innermost switch, or of its default.
    Case(Option<u32>),
    Label(LabelId),
    Goto(LabelId),
    /// To the label whose [address](LabelId::address) this is.
    GotoValue(Expr),
    Break,
    Continue,
    Return(Option<Expr>),
}

/// A checked function body.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) params: Vec<VarId>,
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) labels: u32,
}

/// How long an object lives and who sees it.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// The whole program; `init` is `None` while there is no definition.
    Static { thread_local: bool, defined: bool, init: Vec<StaticPart> },
    /// An activation of a function.
    Auto,
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: Name,
    pub(crate) ty: QTy,
    pub(crate) storage: Storage,
    pub(crate) align: u64,
    pub(crate) pos: Pos,
}

/// A part of an initial value.
#[derive(Clone, Debug)]
pub(crate) struct StaticPart {
    pub(crate) offset: u64,
    pub(crate) bits: Option<Bits>,
    pub(crate) ty: QTy,
    pub(crate) value: Constant,
}

/// A value known before the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constant {
    /// A number, cut to the width of its type.
    Int(u64),
    /// An address.
    Addr(Base, i64),
}

/// What an address constant is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Var(VarId),
    Str(StrId),
    Func(FnId),
}
