//! Expressions and places, by precedence climbing.

use super::ast::{Ast, COMPARISON, INFIX, Infix, Kind, PREFIX, Place, PlaceKind, Prefix, SELECT};
use super::lexer::Token;
use super::parser::{MAX_HEIGHT, Parsed, Parser};
use crate::expr::{CastOp, Splice};
use crate::float::{FloatBin, FloatCast, FloatUn};
use crate::partial::Field;
use crate::source::Diagnostic;

impl<'a> Parser<'a, '_> {
    pub(super) fn expr(&mut self) -> Parsed<Ast<'a>> {
        self.deeper(|parser| parser.climb(SELECT))
    }

    /// Runs `parse` one level further down.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.height >= MAX_HEIGHT {
            return self.too_high();
        }
        self.height += 1;
        let result = parse(self);
        self.height -= 1;
        result
    }

    fn too_high<T>(&mut self) -> Parsed<T> {
        let message = format!("this expression is nested more than {MAX_HEIGHT} levels deep");
        self.fail(Diagnostic::new(self.span(), message).help("put parts of it into registers with `let`"))
    }

    fn node(&mut self, kind: Kind<'a>, parts: &[u32], start: crate::Span) -> Parsed<Ast<'a>> {
        let height = parts.iter().max().map_or(0, |h| h + 1);
        if height > MAX_HEIGHT {
            return self.too_high();
        }
        Ok(Ast { kind, span: self.since(start), height })
    }

    fn climb(&mut self, least: u8) -> Parsed<Ast<'a>> {
        let start = self.span();
        let mut left = self.prefix()?;
        let mut compared = false;
        loop {
            if self.at_punct("?") && least <= SELECT {
                self.bump();
                let then = self.expr()?;
                self.expect(":")?;
                let otherwise = self.deeper(|parser| parser.climb(SELECT))?;
                let heights = [left.height, then.height, otherwise.height];
                let kind = Kind::Select(Box::new(left), Box::new(then), Box::new(otherwise));
                left = self.node(kind, &heights, start)?;
                continue;
            }
            let Some(infix) = self.infix().filter(|infix| infix.precedence >= least) else { return Ok(left) };
            if infix.precedence == COMPARISON && std::mem::replace(&mut compared, true) {
                let message = "comparisons do not chain";
                let help = "write `a < b && b < c`, or use parentheses";
                return self.fail(Diagnostic::new(self.span(), message).help(help));
            }
            self.bump();
            let right = self.deeper(|parser| parser.climb(infix.precedence + 1))?;
            let heights = [left.height, right.height];
            left = self.node(Kind::Binary(infix, Box::new(left), Box::new(right)), &heights, start)?;
        }
    }

    fn infix(&self) -> Option<&'static Infix> {
        let Token::Punct(punct) = *self.peek() else { return None };
        INFIX.iter().find(|infix| infix.text == punct)
    }

    pub(super) fn prefix(&mut self) -> Parsed<Ast<'a>> {
        let start = self.span();
        match *self.peek() {
            Token::Punct("-") => {
                self.bump();
                if let Token::Int(value, ty) = *self.peek() {
                    self.bump();
                    return self.node(Kind::Int(-i128::from(value), ty), &[], start);
                }
                self.unary(Prefix::Neg, start)
            }
            Token::Punct("~") => {
                self.bump();
                self.unary(Prefix::Complement, start)
            }
            Token::Punct("!") => {
                self.bump();
                self.unary(Prefix::Not, start)
            }
            Token::Punct("&") => {
                self.bump();
                let place = self.place()?;
                let height = place.height();
                self.node(Kind::AddressOf(Box::new(place)), &[height], start)
            }
            Token::Punct("*") => {
                let message = "an expression does not read memory";
                let help = "read it into a register first: `let r: i32 = load *p;`";
                self.fail(Diagnostic::new(start, message).help(help))
            }
            _ => self.atom(),
        }
    }

    fn unary(&mut self, op: Prefix, start: crate::Span) -> Parsed<Ast<'a>> {
        let operand = self.deeper(|parser| parser.climb(PREFIX))?;
        let height = operand.height;
        self.node(Kind::Unary(op, Box::new(operand)), &[height], start)
    }

    /// A number of bits, or of one.
    pub(super) fn bit_number(&mut self) -> Parsed<u8> {
        match *self.peek() {
            Token::Int(value, None) if value <= 64 => {
                self.bump();
                Ok(value as u8)
            }
            _ => self.expected("a number of at most 64"),
        }
    }

    fn atom(&mut self) -> Parsed<Ast<'a>> {
        let start = self.span();
        let kind = match *self.peek() {
            Token::Int(value, ty) => Kind::Int(i128::from(value), ty),
            Token::Word("true") => Kind::Bool(true),
            Token::Word("false") => Kind::Bool(false),
            Token::Word("null") => Kind::Null,
            Token::Word("zext") => return self.cast(CastOp::ZExt),
            Token::Word("sext") => return self.cast(CastOp::SExt),
            Token::Word("trunc") => return self.cast(CastOp::Trunc),
            Token::Word("pack") => return self.cast(CastOp::Pack),
            Token::Word("unpack") => return self.cast(CastOp::Unpack),
            Token::Word(word) if let Some(op) = FloatCast::named(word) => return self.cast(CastOp::Float(op)),
            Token::Word(word) if let Some(op) = FloatUn::named(word) => {
                self.bump();
                self.expect("(")?;
                let value = self.expr()?;
                self.expect(")")?;
                let height = value.height;
                return self.node(Kind::Float(op, Box::new(value)), &[height], start);
            }
            Token::Word(word) if let Some(op) = FloatBin::named(word) => {
                self.bump();
                self.expect("(")?;
                let a = self.expr()?;
                self.expect(",")?;
                let b = self.expr()?;
                self.expect(")")?;
                let heights = [a.height, b.height];
                return self.node(Kind::Floats(op, Box::new(a), Box::new(b)), &heights, start);
            }
            Token::Word("splice") => {
                self.bump();
                self.expect("(")?;
                let a = self.expr()?;
                self.expect(",")?;
                let b = self.expr()?;
                let mut numbers = [0; 3];
                for number in &mut numbers {
                    self.expect(",")?;
                    *number = self.bit_number()?;
                }
                self.expect(")")?;
                let [shift, width, from] = numbers;
                let (op, heights) = (Splice { to: Field { shift, width }, from }, [a.height, b.height]);
                return self.node(Kind::Splice(op, Box::new(a), Box::new(b)), &heights, start);
            }
            Token::Word(word @ ("load" | "rmw" | "cas" | "call" | "choose" | "join" | "spawn" | "post" | "alloc")) => {
                let message = format!("`{word}` is an instruction and cannot be part of an expression");
                let help = format!("give its result a name first: `let r = {word} ...;`");
                return self.fail(Diagnostic::new(start, message).help(help));
            }
            Token::Punct("(") => {
                self.bump();
                let mut inner = self.expr()?;
                self.expect(")")?;
                inner.span = self.since(start);
                return Ok(inner);
            }
            Token::Word(_) | Token::Quoted(_) => {
                let name = self.name("an expression")?;
                if self.at_punct("(") {
                    let message = format!("a call of `{}` cannot be part of an expression", name.text);
                    let help = format!("give its result a name first: `let r = {}(...);`", name.text);
                    return self.fail(Diagnostic::new(name.span, message).help(help));
                }
                return self.node(Kind::Name(name), &[], start);
            }
            _ => return self.expected("an expression"),
        };
        self.bump();
        self.node(kind, &[], start)
    }

    fn cast(&mut self, op: CastOp) -> Parsed<Ast<'a>> {
        let start = self.span();
        self.bump();
        self.expect("(")?;
        let to = self.type_name()?;
        self.expect(",")?;
        let value = self.expr()?;
        self.expect(")")?;
        let height = value.height;
        self.node(Kind::Cast(op, to, Box::new(value)), &[height], start)
    }

    /// `x`, `x[i]`, `*p`, `*(p + 8)`, `@x`
    pub(super) fn place(&mut self) -> Parsed<Place<'a>> {
        let start = self.span();
        if self.eat("*") {
            let address = self.deeper(Parser::prefix)?;
            return Ok(Place { kind: PlaceKind::Deref(address), span: self.since(start) });
        }
        if self.at_punct("&") {
            let message = "expected a place, found an address";
            return self
                .fail(Diagnostic::new(start, message).help("leave out the `&`: instructions take the place itself"));
        }
        let global = self.eat("@");
        let name = self.name("a place: the name of an object, `a[i]` or `*p`")?;
        let kind = if self.eat("[") {
            let index = self.expr()?;
            self.expect("]")?;
            PlaceKind::Index { name, global, index }
        } else {
            PlaceKind::Name { name, global }
        };
        Ok(Place { kind, span: self.since(start) })
    }
}

impl Place<'_> {
    /// Height of the expression inside.
    pub(super) fn height(&self) -> u32 {
        match &self.kind {
            PlaceKind::Name { .. } => 0,
            PlaceKind::Index { index, .. } => index.height + 1,
            PlaceKind::Deref(address) => address.height + 1,
        }
    }
}
