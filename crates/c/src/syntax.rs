//! What does the text say, before anybody asks what it means? The syntax tree the parser makes.
//!
//! Names are not resolved and types not computed; the one thing the parser knows about names is whether they are
//! type names. The typed tree in [`tree`](crate::tree) is what the checker makes of this one.

use crate::float::FloatLit;
use crate::token::{Encoding, IntLit, Name, Pos};
use std::rc::Rc;

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) pos: Pos,
}

/// Kinds of expressions.
#[derive(Debug)]
pub(crate) enum ExprKind {
    Ident(Name),
    Int(IntLit),
    Char(i64, Encoding),
    Float(FloatLit),
    Str(Rc<[u32]>, Encoding),
    /// `__func__`.
    FuncName,
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `a = b`, or `a op= b`.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    IncDec {
        by: i64,
        prefix: bool,
        operand: Box<Expr>,
    },
    /// `c ? a : b`; without `a`, the GNU form that yields the condition's value.
    Cond(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Member {
        base: Box<Expr>,
        field: Name,
        arrow: bool,
    },
    Cast(Box<TypeName>, Box<Expr>),
    CompoundLiteral(Box<TypeName>, Vec<InitItem>),
    SizeofType(Box<TypeName>),
    SizeofExpr(Box<Expr>),
    AlignofType(Box<TypeName>),
    AlignofExpr(Box<Expr>),
    OffsetOf(Box<TypeName>, Vec<Designator>),
    Generic(Box<Expr>, Vec<(Option<TypeName>, Expr)>),
    StmtExpr(Vec<Stmt>),
    TypesCompatible(Box<TypeName>, Box<TypeName>),
    ChooseExpr(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The argument of a variadic function, of this type, that a pointer to a slot of 64 bits points to.
    VaArg(Box<TypeName>, Box<Expr>),
    /// `&&label`.
    LabelAddress(Name),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Complement,
    Not,
    Deref,
    AddrOf,
}

/// Arithmetic, bitwise and comparing operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
}

/// A type in parentheses.
#[derive(Debug)]
pub(crate) struct TypeName {
    pub(crate) specs: Specs,
    pub(crate) declarator: Declarator,
}

/// Everything before the declarators of a declaration.
#[derive(Debug)]
pub(crate) struct Specs {
    pub(crate) storage: Storage,
    pub(crate) thread_local: bool,
    pub(crate) inline: bool,
    pub(crate) quals: Quals,
    pub(crate) base: TypeSpec,
    pub(crate) align: Vec<AlignSpec>,
    pub(crate) attrs: Attrs,
    pub(crate) pos: Pos,
}

/// Storage classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    None,
    Typedef,
    Extern,
    Static,
    Auto,
}

/// Qualifiers that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub(crate) struct Quals {
    pub(crate) constant: bool,
    pub(crate) volatile: bool,
    pub(crate) atomic: bool,
}

/// `_Alignas`.
#[derive(Debug)]
pub(crate) enum AlignSpec {
    Type(Box<TypeName>),
    Expr(Expr),
}

/// The attributes that change what a program means.
#[derive(Debug, Default)]
pub(crate) struct Attrs {
    pub(crate) packed: bool,
    /// `aligned`, with its argument or for the greatest alignment.
    pub(crate) aligned: Vec<Option<Expr>>,
    /// The first attribute seen that would change the meaning and is not supported.
    pub(crate) unsupported: Option<(Name, Pos)>,
    pub(crate) transparent_union: bool,
    /// What is `extern inline` is no definition for other files.
    pub(crate) gnu_inline: bool,
    pub(crate) rare: Option<Box<RareAttrs>>,
    /// The function is called before `main`.
    pub(crate) constructor: bool,
    /// The function is called when the program ends.
    pub(crate) destructor: bool,
}

/// Attributes that few declarations have.
#[derive(Debug, Default)]
pub(crate) struct RareAttrs {
    /// `vector_size` in bytes, or `ext_vector_type` in elements.
    pub(crate) vector: Option<(Expr, bool)>,
    /// `mode`: another size of the same kind of number.
    pub(crate) mode: Option<(Name, Pos)>,
    /// What the declared name is another name for.
    pub(crate) alias: Option<Name>,
    /// The function that is given the variable's address when its block is left.
    pub(crate) cleanup: Option<(Name, Pos)>,
}

impl Attrs {
    /// The function that is given the variable's address when its block is left.
    pub(crate) fn cleanup(&self) -> Option<&(Name, Pos)> {
        self.rare.as_ref()?.cleanup.as_ref()
    }

    /// What the declared name is another name for.
    pub(crate) fn alias(&self) -> Option<&Name> {
        self.rare.as_ref()?.alias.as_ref()
    }
}

/// The words that say which type it is.
#[derive(Debug)]
pub(crate) enum TypeSpec {
    Void,
    Bool,
    Char(Option<bool>),
    /// Signedness (true for unsigned) and number of `long`s, with -1 for `short`.
    Int {
        unsigned: bool,
        longs: i8,
    },
    Float(FloatKind),
    Int128 {
        unsigned: bool,
    },
    VaList,
    Record(RecordSpec),
    Enum(EnumSpec),
    Typedef(Name),
    TypeofExpr(Box<Expr>),
    TypeofType(Box<TypeName>),
    Atomic(Box<TypeName>),
    /// `__auto_type`.
    Auto,
}

/// Floating types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FloatKind {
    Float,
    Double,
    /// Computed with the precision of `double`, in objects of its own size.
    LongDouble,
    /// Complex numbers, and numbers of 16 or 128 bits. Nothing is known of them but their size.
    Other,
}

/// `struct` or `union`.
#[derive(Debug)]
pub(crate) struct RecordSpec {
    pub(crate) is_union: bool,
    pub(crate) tag: Option<Name>,
    pub(crate) members: Option<Vec<Member>>,
    pub(crate) attrs: Attrs,
    pub(crate) pos: Pos,
}

/// A declaration of members.
#[derive(Debug)]
pub(crate) enum Member {
    Fields { specs: Specs, declarators: Vec<(Declarator, Option<Expr>)> },
    StaticAssert(StaticAssert),
}

/// `enum`.
#[derive(Debug)]
pub(crate) struct EnumSpec {
    pub(crate) tag: Option<Name>,
    pub(crate) values: Option<Vec<(Name, Pos, Option<Expr>)>>,
    pub(crate) packed: bool,
    pub(crate) pos: Pos,
}

/// The name and what stands around it.
#[derive(Debug)]
pub(crate) struct Declarator {
    pub(crate) name: Option<Name>,
    pub(crate) pos: Pos,
    /// From the name outwards: `int *a[3]` is an array, then a pointer.
    pub(crate) derived: Vec<Derived>,
    pub(crate) attrs: Attrs,
}

/// A step from the name outwards.
#[derive(Debug)]
pub(crate) enum Derived {
    Pointer(Quals),
    Array(Option<Box<Expr>>, Pos),
    Function { params: Vec<Param>, variadic: bool, prototype: bool },
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) specs: Specs,
    pub(crate) declarator: Declarator,
}

/// An initialiser.
#[derive(Debug)]
pub(crate) enum Init {
    Expr(Expr),
    List(Vec<InitItem>, Pos),
}

/// One element of a braced initialiser.
#[derive(Debug)]
pub(crate) struct InitItem {
    pub(crate) designators: Vec<Designator>,
    pub(crate) init: Init,
    pub(crate) pos: Pos,
}

/// A step into an aggregate.
#[derive(Debug)]
pub(crate) enum Designator {
    Field(Name, Pos),
    Index(Expr),
    Range(Expr, Expr),
}

/// A declaration of objects, functions or types.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) specs: Specs,
    pub(crate) declarators: Vec<(Declarator, Option<Init>)>,
}

/// `_Static_assert`.
#[derive(Debug)]
pub(crate) struct StaticAssert {
    pub(crate) cond: Expr,
    pub(crate) message: String,
    pub(crate) pos: Pos,
}

/// A statement or a declaration in a block.
#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) pos: Pos,
}

/// Kinds of statements.
#[derive(Debug)]
pub(crate) enum StmtKind {
    Empty,
    Expr(Expr),
    Block(Vec<Stmt>),
    Decl(Declaration),
    StaticAssert(StaticAssert),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    Switch(Expr, Box<Stmt>),
    Case(Expr, Option<Expr>, Box<Stmt>),
    Default(Box<Stmt>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For {
        init: Option<Box<Stmt>>,
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Goto(Name),
    /// `goto *value`.
    GotoValue(Expr),
    Label(Name, Box<Stmt>),
    Continue,
    Break,
    Return(Option<Expr>),
    /// Inline assembly.
    Asm(Asm),
}

/// Inline assembly.
#[derive(Debug)]
pub(crate) struct Asm {
    /// The strings of the template, joined.
    pub(crate) template: String,
    pub(crate) outputs: Vec<AsmOperand>,
    pub(crate) inputs: Vec<AsmOperand>,
}

/// An operand of inline assembly.
#[derive(Debug)]
pub(crate) struct AsmOperand {
    pub(crate) name: Option<Name>,
    pub(crate) constraint: String,
    pub(crate) expr: Expr,
}

/// The whole text.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) items: Vec<Item>,
}

/// Something at the outermost level.
#[derive(Debug)]
pub(crate) enum Item {
    Decl(Declaration),
    Function(Rc<FunctionDef>),
    StaticAssert(StaticAssert),
}

/// A function with its body.
#[derive(Debug)]
pub(crate) struct FunctionDef {
    pub(crate) specs: Specs,
    pub(crate) declarator: Declarator,
    /// Parameter declarations of an old-style definition.
    pub(crate) old_params: Vec<Declaration>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) pos: Pos,
}
