//! Operands: `EAX`, `%eax`, `$1`, `$x`, `[x]`, `[EAX]`, `[x+8]`, `(x)`, `8(%rax)`.

use super::{Code, register, signed};
use crate::Result_;
use crate::condition::Spot;
use crate::cursor::Cursor;
use crate::lex::Kind;
use raddle_program::{BinOp, CastOp, Diagnostic, Expr, Reg, Span, Type};

#[derive(Clone, Debug)]
pub(super) enum Operand {
    Register(Reg),
    Value(Expr),
    /// At this address.
    Memory(Expr),
}

/// How an operand was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As Intel writes it, or as both do.
    Plain,
    /// `%eax`, `(x)`.
    Att,
}

pub(super) struct Operands {
    pub(super) first: Operand,
    pub(super) second: Operand,
    /// The source stands first.
    pub(super) source_first: bool,
}

impl Code<'_> {
    pub(super) fn operands(&mut self, cursor: &mut Cursor<'_>) -> Result_<Operands> {
        let place = cursor.span();
        let (first, one) = self.operand(cursor)?;
        cursor.expect(",")?;
        let (second, other) = self.operand(cursor)?;
        if matches!((&first, &second), (Operand::Memory(_), Operand::Memory(_))) {
            return Err(Diagnostic::new(place, "only one operand can be in memory").into());
        }
        // A constant is never the target, whatever the style.
        let source_first = match (&first, &second) {
            (Operand::Value(_), _) => true,
            (_, Operand::Value(_)) => false,
            _ => one == Style::Att || other == Style::Att,
        };
        Ok(Operands { first, second, source_first })
    }

    pub(super) fn operand(&mut self, cursor: &mut Cursor<'_>) -> Result_<(Operand, Style)> {
        let span = cursor.span();
        if cursor.eat("$") {
            if let Kind::Word(name) = cursor.peek() {
                cursor.advance();
                return Ok((Operand::Value(self.symbol(name, span)?), Style::Plain));
            }
            let value = cursor.number("a constant")?;
            return Ok((Operand::Value(constant(value)), Style::Plain));
        }
        if cursor.eat("[") {
            let addr = self.address(cursor)?;
            cursor.expect("]")?;
            return Ok((Operand::Memory(addr), Style::Plain));
        }
        let negative = cursor.is("-");
        if negative || matches!(cursor.peek(), Kind::Number(_)) {
            let number = cursor.number("a constant")?;
            if !cursor.is("(") {
                return Ok((Operand::Value(constant(number)), Style::Plain));
            }
            // `8(%rax)`
            let base = self.in_brackets(cursor)?;
            return Ok((Operand::Memory(offset(base, number)), Style::Att));
        }
        if cursor.is("(") {
            return Ok((Operand::Memory(self.in_brackets(cursor)?), Style::Att));
        }
        let style = if cursor.eat("%") { Style::Att } else { Style::Plain };
        let (name, place) = cursor.word("a register, a constant ($1) or an address ([x])")?;
        // `DWORD PTR [x]`
        if matches!(name.to_ascii_uppercase().as_str(), "DWORD" | "QWORD" | "PTR") {
            return self.operand(cursor);
        }
        let Some(known) = register(&name) else {
            let help = format!("memory is written [{name}], an address ${name}");
            return Err(Diagnostic::new(place, format!("`{name}` is no register")).help(help).into());
        };
        if name.len() == 2 && name.to_ascii_lowercase().ends_with('h') {
            return Err(Diagnostic::new(place, format!("`{name}` is not supported")).into());
        }
        Ok((Operand::Register(self.register(known)), style))
    }

    fn in_brackets(&mut self, cursor: &mut Cursor<'_>) -> Result_<Expr> {
        cursor.expect("(")?;
        let addr = self.address(cursor)?;
        cursor.expect(")")?;
        Ok(addr)
    }

    /// `x`, `EAX`, `x+8`, `EAX-4`.
    fn address(&mut self, cursor: &mut Cursor<'_>) -> Result_<Expr> {
        let span = cursor.span();
        cursor.eat("%");
        let (name, _) = cursor.word("a location or a register")?;
        let base = match register(&name) {
            Some(known) if self.world.known(&name).is_none() => {
                Expr::cast(CastOp::ZExt, Type::Ptr, Expr::Reg(self.register(known)))
            }
            _ => {
                let at = self.world.location(&name, span);
                Expr::Global(self.world.global(at))
            }
        };
        if cursor.is("+") || cursor.is("-") {
            let negative = cursor.eat("-");
            cursor.eat("+");
            let number = cursor.number("a number")?;
            return Ok(offset(base, if negative { number.wrapping_neg() } else { number }));
        }
        Ok(base)
    }

    /// The address of a location as a value.
    fn symbol(&mut self, name: &str, span: Span) -> Result_<Expr> {
        self.world.address(&Spot { thread: None, name: name.to_owned(), index: 0, indexed: false, span })
    }
}

fn offset(base: Expr, bytes: i64) -> Expr {
    Expr::binary(BinOp::Add, base, Expr::int(Type::I64, bytes))
}

/// A constant of 32 bits is one with a sign: `$0xffffffff` is `$-1`.
fn constant(value: i64) -> Expr {
    Expr::int(Type::I64, signed(value))
}
