//! Is the text C, and what is its syntax tree?
//!
//! A recursive-descent parser over the token list with one token of look-ahead, precedence climbing for binary
//! operators, and a table of scopes that tells type names from other names (the one place where C's grammar
//! depends on declarations). C11 and the GNU extensions met in practice.
//!
//! It is written by hand rather than taken from a crate: the candidate, `lang-c`, has no `_Alignas` on members,
//! no `a ?: b`, no `__auto_type`, overflows the stack on deep nesting, and answers a syntax error with a list of a
//! hundred token names. Input is hostile: nesting deeper than [`MAX_DEPTH`] is an error, and so is an operator
//! chain longer than [`MAX_CHAIN`], because later passes recurse over the tree. Cost: linear in the tokens.

mod decl;
mod expr;
mod specs;
mod stmt;

use crate::syntax::{Item, Unit};
use crate::token::{Kw, Name, P, Pos, Tok, Token};
use raddle_program::Diagnostic;
use rustc_hash::FxHashMap;

/// How deep brackets, statements, declarators and operators may nest.
const MAX_DEPTH: u32 = 400;
/// How many left-associative operators may follow each other in one expression.
const MAX_CHAIN: u32 = 4000;

/// What is wrong, where, in how many bytes of the preprocessed text, and what may help.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) pos: Pos,
    pub(crate) len: u32,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl Fault {
    pub(crate) fn new(pos: Pos, message: impl Into<String>) -> Self {
        Fault { pos, len: 0, message: message.into(), label: String::new(), help: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// As something to show, in the user's own file.
    pub(crate) fn diagnostic(self, sources: &mut crate::source::Lines) -> Diagnostic {
        let span = sources.span(self.pos, self.len);
        let mut diagnostic = Diagnostic::new(span, self.message).label(self.label);
        diagnostic.help = self.help;
        diagnostic
    }
}

type Parsed<T> = Result<T, Fault>;

/// Parses a whole translation unit.
pub(crate) fn parse(tokens: &[Token]) -> Parsed<Unit> {
    let mut parser = Parser { tokens, at: 0, depth: 0, scopes: vec![FxHashMap::default()] };
    let mut items = Vec::new();
    while *parser.peek() != Tok::Eof {
        if parser.eat(P::Semi) {
            continue;
        }
        if let Some(item) = parser.item()? {
            items.push(item);
        }
    }
    Ok(Unit { items })
}

pub(crate) struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    /// Whether a name is a type name, innermost scope last.
    scopes: Vec<FxHashMap<Name, bool>>,
}

impl Parser<'_> {
    fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Tok {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)].kind
    }

    fn pos(&self) -> Pos {
        self.tokens[self.at.min(self.tokens.len() - 1)].pos
    }

    fn bump(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is(&self, punct: P) -> bool {
        *self.peek() == Tok::Punct(punct)
    }

    fn eat(&mut self, punct: P) -> bool {
        let there = self.is(punct);
        if there {
            self.bump();
        }
        there
    }

    fn is_kw(&self, keyword: Kw) -> bool {
        *self.peek() == Tok::Kw(keyword)
    }

    fn eat_kw(&mut self, keyword: Kw) -> bool {
        let there = self.is_kw(keyword);
        if there {
            self.bump();
        }
        there
    }

    fn expect(&mut self, punct: P) -> Parsed<()> {
        if self.eat(punct) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", punct.text())))
    }

    fn ident(&mut self) -> Parsed<Name> {
        match self.peek() {
            Tok::Ident(name) => {
                let name = name.clone();
                self.bump();
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// A syntax error at the current token.
    fn unexpected(&self, expected: &str) -> Fault {
        let token = &self.tokens[self.at.min(self.tokens.len() - 1)];
        let found = match &token.kind {
            Tok::Ident(name) => format!("`{name}`"),
            Tok::Kw(_) => "a keyword".to_owned(),
            Tok::Int(_) | Tok::Float(_) => "a number".to_owned(),
            Tok::Char(..) => "a character constant".to_owned(),
            Tok::Str(..) => "a string".to_owned(),
            Tok::Punct(punct) => format!("`{}`", punct.text()),
            Tok::Eof => "the end of the file".to_owned(),
        };
        Fault { len: token.len, ..Fault::new(token.pos, format!("expected {expected}, found {found}")) }
            .label(format!("expected {expected} here"))
    }

    /// Runs a part of the grammar one level deeper.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Fault::new(self.pos(), format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn scoped<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.scopes.push(FxHashMap::default());
        let result = part(self);
        self.scopes.pop();
        result
    }

    fn declare(&mut self, name: &Name, is_type: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), is_type);
        }
    }

    fn is_type_name(&self, name: &Name) -> bool {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied().unwrap_or(false)
    }

    /// Skips to the bracket that closes the one just consumed.
    fn skip_balanced(&mut self) -> Parsed<()> {
        let mut open = 1u32;
        while open > 0 {
            match self.peek() {
                Tok::Punct(P::LParen) => open += 1,
                Tok::Punct(P::RParen) => open -= 1,
                Tok::Eof => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.bump();
        }
        Ok(())
    }
}

impl Parser<'_> {
    fn item(&mut self) -> Parsed<Option<Item>> {
        if self.is_kw(Kw::StaticAssert) {
            return Ok(Some(Item::StaticAssert(self.static_assert()?)));
        }
        if self.is_kw(Kw::Asm) {
            return Err(Fault::new(self.pos(), "assembly at file scope is not supported"));
        }
        self.declaration_or_function()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;
    use crate::source::Lines;

    fn outcome(text: &str) -> Result<usize, String> {
        let tokens = lex(text, &mut Lines::new("t.i", text)).map_err(|e| e.message)?;
        parse(&tokens).map(|unit| unit.items.len()).map_err(|f| f.message)
    }

    #[test]
    fn a_name_is_a_type_only_where_its_typedef_is_in_scope() {
        assert_eq!(outcome("typedef int T; void f(void) { int T = 1; T * 2; } T x;"), Ok(3));
        assert!(outcome("void f(void) { { typedef int T; } T x; }").is_err());
    }

    #[test]
    fn gnu_extensions_are_understood() {
        for text in [
            "int x = ({ int y = 1; y; });",
            "int f(int a) { return a ?: 2; }",
            "struct s { _Alignas(64) int x; int y __attribute__((aligned(8))); } __attribute__((packed));",
            "void f(int c) { switch (c) { case 1 ... 3: break; } }",
            "void f(void) { __auto_type x = 1; __asm__ volatile (\"\" ::: \"memory\"); }",
            "int a[] = { [0 ... 3] = 1, [5] = 2 };",
            "__extension__ typedef unsigned long long u64; __thread int t;",
            "int f(a, b) int a; char *b; { return a; }",
            "struct { int : 0; int x : 3; struct { int in; }; } s = { .x = 1 };",
            "void f(void) { __label__ out; goto out; out: ; }",
            "int (*table[3])(int, ...); int (*get(void))(int);",
        ] {
            assert_eq!(outcome(text).map(|_| ()), Ok(()), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        for (open, close) in [("(", ")"), ("{", "}"), ("-", ""), ("a[", "]"), ("(int)", ""), ("if(1)", ""), ("!", "")] {
            let text = format!("int a[3]; void f(void) {{ {}1{}; }}", open.repeat(100_000), close.repeat(100_000));
            assert!(outcome(&text).is_err(), "{open}");
        }
        assert!(outcome(&format!("int {}x;", "*".repeat(100_000))).is_err());
        assert!(outcome(&format!("int {}x{};", "(".repeat(100_000), ")".repeat(100_000))).is_err());
        assert!(outcome(&format!("int x = 1{};", "+1".repeat(100_000))).is_err());
        assert!(outcome(&format!("int x{};", "[1]".repeat(100_000))).is_err());
        assert!(outcome(&format!("int x = {}1{};", "{".repeat(100_000), "}".repeat(100_000))).is_err());
        assert!(outcome(&"struct {".repeat(100_000)).is_err());
    }

    #[test]
    fn errors_say_what_was_expected() {
        assert_eq!(outcome("int x = ;"), Err("expected an expression, found `;`".to_owned()));
        assert_eq!(outcome("int f(void) { return 1 }"), Err("expected `;`, found `}`".to_owned()));
    }
}
