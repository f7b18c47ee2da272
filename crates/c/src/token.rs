//! What are the words of C? Tokens, keywords, punctuation and literal values.

use crate::float::FloatLit;
use std::rc::Rc;

/// A name of the program under test.
pub(crate) type Name = Rc<str>;

/// A place in the preprocessed text: a byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Pos(pub(crate) u32);

/// A token, and the bytes it occupies.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Tok,
    /// Where it starts.
    pub(crate) pos: Pos,
    /// Its length in bytes.
    pub(crate) len: u32,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok {
    /// An identifier that is no keyword.
    Ident(Name),
    /// A keyword.
    Kw(Kw),
    /// An integer literal.
    Int(IntLit),
    /// A character constant; its value as an `int`.
    Char(i64, Encoding),
    /// A floating-point literal.
    Float(FloatLit),
    /// A string literal without its terminating zero.
    Str(Rc<[u32]>, Encoding),
    /// An operator or a bracket.
    Punct(P),
    /// The end of the text.
    Eof,
}

/// The element type a character constant or string literal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// No prefix, or `u8`: bytes.
    Plain,
    /// `u`.
    Char16,
    /// `U`.
    Char32,
    /// `L`.
    Wide,
}

/// An integer literal as written; its type depends on the data model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntLit {
    /// The value.
    pub(crate) value: u64,
    /// Written in decimal, so that it never becomes unsigned by itself.
    pub(crate) decimal: bool,
    /// A `u` suffix.
    pub(crate) unsigned: bool,
    /// How many `l` in the suffix.
    pub(crate) longs: u8,
}

macro_rules! keywords {
    ($($name:ident: $($text:literal)|+;)*) => {
        /// Keywords, GNU spellings folded into the standard ones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub(crate) enum Kw { $($name),* }

        impl Kw {
            /// The keyword with this spelling.
            pub(crate) fn from_text(text: &str) -> Option<Kw> {
                match text {
                    $($($text)|+ => Some(Kw::$name),)*
                    _ => None,
                }
            }
        }
    };
}

keywords! {
    Alignas: "_Alignas";
    Alignof: "_Alignof" | "__alignof__" | "__alignof";
    Asm: "asm" | "__asm__" | "__asm";
    Atomic: "_Atomic";
    Attribute: "__attribute__" | "__attribute";
    Auto: "auto";
    AutoType: "__auto_type";
    Bool: "_Bool";
    Break: "break";
    Case: "case";
    Char: "char";
    ChooseExpr: "__builtin_choose_expr";
    Complex: "_Complex" | "__complex__" | "__complex" | "_Imaginary";
    Const: "const" | "__const" | "__const__";
    Continue: "continue";
    Default: "default";
    Do: "do";
    Double: "double";
    Else: "else";
    Enum: "enum";
    Extension: "__extension__";
    Extern: "extern";
    Float: "float";
    Float128: "__float128" | "_Float128" | "_Float64x" | "__ibm128";
    Float32: "_Float32" | "_Float16";
    Float64: "_Float64" | "_Float32x";
    For: "for";
    Func: "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__";
    Generic: "_Generic";
    Goto: "goto";
    If: "if";
    Inline: "inline" | "__inline" | "__inline__";
    Int: "int";
    Int128: "__int128" | "__int128_t";
    UInt128: "__uint128_t";
    LabelDecl: "__label__";
    Long: "long";
    Noreturn: "_Noreturn";
    OffsetOf: "__builtin_offsetof";
    Register: "register";
    Restrict: "restrict" | "__restrict" | "__restrict__";
    Return: "return";
    Short: "short";
    Signed: "signed" | "__signed" | "__signed__";
    Sizeof: "sizeof";
    Static: "static";
    StaticAssert: "_Static_assert";
    Struct: "struct";
    Switch: "switch";
    ThreadLocal: "_Thread_local" | "__thread";
    Typedef: "typedef";
    Typeof: "typeof" | "__typeof" | "__typeof__";
    TypesCompatible: "__builtin_types_compatible_p";
    Union: "union";
    Unsigned: "unsigned";
    VaArg: "__builtin_va_arg";
    VaList: "__builtin_va_list" | "__gnuc_va_list";
    Void: "void";
    Volatile: "volatile" | "__volatile" | "__volatile__";
    While: "while";
}

macro_rules! puncts {
    ($($name:ident $text:literal,)*) => {
        /// Operators and brackets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub(crate) enum P { $($name),* }

        impl P {
            /// Every one of them, longer spellings before their prefixes.
            pub(crate) const ALL: &'static [(P, &'static str)] = &[$((P::$name, $text)),*];

            /// How it is written.
            pub(crate) fn text(self) -> &'static str {
                P::ALL.iter().find(|(p, _)| *p == self).map_or("", |(_, text)| text)
            }
        }
    };
}

puncts! {
    Ellipsis "...", ShlEq "<<=", ShrEq ">>=",
    Arrow "->", Inc "++", Dec "--", Shl "<<", Shr ">>", Le "<=", Ge ">=", EqEq "==", Ne "!=", AndAnd "&&", OrOr "||",
    MulEq "*=", DivEq "/=", RemEq "%=", AddEq "+=", SubEq "-=", AndEq "&=", XorEq "^=", OrEq "|=",
    LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}", Dot ".", Comma ",", Semi ";", Colon ":",
    Question "?", Assign "=", Star "*", Slash "/", Percent "%", Plus "+", Minus "-", Amp "&", Pipe "|", Caret "^",
    Tilde "~", Bang "!", Lt "<", Gt ">",
}
