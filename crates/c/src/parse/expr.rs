//! Expressions: precedence climbing for binary operators, recursion for the rest.

use super::{Fault, MAX_CHAIN, Parsed, Parser};
use crate::syntax::{BinaryOp, Designator, Expr, ExprKind, UnaryOp};
use crate::token::{Encoding, Kw, P, Pos, Tok};

/// A binary operator's place in the grammar.
enum Infix {
    Op(BinaryOp),
    And,
    Or,
}

fn infix(punct: P) -> Option<(u8, Infix)> {
    use BinaryOp::*;
    Some(match punct {
        P::OrOr => (1, Infix::Or),
        P::AndAnd => (2, Infix::And),
        P::Pipe => (3, Infix::Op(Or)),
        P::Caret => (4, Infix::Op(Xor)),
        P::Amp => (5, Infix::Op(And)),
        P::EqEq => (6, Infix::Op(Eq)),
        P::Ne => (6, Infix::Op(Ne)),
        P::Lt => (7, Infix::Op(Lt)),
        P::Gt => (7, Infix::Op(Gt)),
        P::Le => (7, Infix::Op(Le)),
        P::Ge => (7, Infix::Op(Ge)),
        P::Shl => (8, Infix::Op(Shl)),
        P::Shr => (8, Infix::Op(Shr)),
        P::Plus => (9, Infix::Op(Add)),
        P::Minus => (9, Infix::Op(Sub)),
        P::Star => (10, Infix::Op(Mul)),
        P::Slash => (10, Infix::Op(Div)),
        P::Percent => (10, Infix::Op(Rem)),
        _ => return None,
    })
}

fn assignment(punct: P) -> Option<Option<BinaryOp>> {
    use BinaryOp::*;
    Some(match punct {
        P::Assign => None,
        P::MulEq => Some(Mul),
        P::DivEq => Some(Div),
        P::RemEq => Some(Rem),
        P::AddEq => Some(Add),
        P::SubEq => Some(Sub),
        P::ShlEq => Some(Shl),
        P::ShrEq => Some(Shr),
        P::AndEq => Some(And),
        P::XorEq => Some(Xor),
        P::OrEq => Some(Or),
        _ => return None,
    })
}

fn at(pos: Pos, kind: ExprKind) -> Expr {
    Expr { kind, pos }
}

impl Parser<'_> {
    /// An expression, commas included.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let mut left = self.assign_expr()?;
        let mut chain = 0;
        while self.is(P::Comma) {
            let pos = self.pos();
            self.bump();
            self.count(&mut chain)?;
            let right = self.assign_expr()?;
            left = at(pos, ExprKind::Comma(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    /// An expression without a comma at its top.
    pub(super) fn assign_expr(&mut self) -> Parsed<Expr> {
        self.deeper(|p| {
            let left = p.cond_expr()?;
            let Tok::Punct(punct) = *p.peek() else { return Ok(left) };
            let Some(op) = assignment(punct) else { return Ok(left) };
            let pos = p.pos();
            p.bump();
            let right = p.assign_expr()?;
            Ok(at(pos, ExprKind::Assign(op, Box::new(left), Box::new(right))))
        })
    }

    /// What may stand where a constant is asked for.
    pub(super) fn cond_expr(&mut self) -> Parsed<Expr> {
        let cond = self.binary_expr(1)?;
        if !self.is(P::Question) {
            return Ok(cond);
        }
        let pos = self.pos();
        self.bump();
        let then = if self.is(P::Colon) { None } else { Some(Box::new(self.deeper(Parser::expr)?)) };
        self.expect(P::Colon)?;
        let otherwise = self.deeper(Parser::cond_expr)?;
        Ok(at(pos, ExprKind::Cond(Box::new(cond), then, Box::new(otherwise))))
    }

    fn binary_expr(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary_expr()?;
        let mut chain = 0;
        while let Tok::Punct(punct) = *self.peek() {
            let Some((level, op)) = infix(punct).filter(|(level, _)| *level >= least) else { break };
            let pos = self.pos();
            self.bump();
            self.count(&mut chain)?;
            let right = self.deeper(|p| p.binary_expr(level + 1))?;
            let (l, r) = (Box::new(left), Box::new(right));
            left = at(
                pos,
                match op {
                    Infix::Op(op) => ExprKind::Binary(op, l, r),
                    Infix::And => ExprKind::And(l, r),
                    Infix::Or => ExprKind::Or(l, r),
                },
            );
        }
        Ok(left)
    }

    fn count(&self, chain: &mut u32) -> Parsed<()> {
        *chain += 1;
        if *chain > MAX_CHAIN {
            return Err(Fault::new(self.pos(), format!("more than {MAX_CHAIN} operators in one chain")));
        }
        Ok(())
    }

    fn unary_expr(&mut self) -> Parsed<Expr> {
        self.deeper(Parser::unary_inner)
    }

    fn unary_inner(&mut self) -> Parsed<Expr> {
        let pos = self.pos();
        match *self.peek() {
            Tok::Punct(P::Inc | P::Dec) => {
                let by = if self.is(P::Inc) { 1 } else { -1 };
                self.bump();
                let operand = Box::new(self.unary_expr()?);
                Ok(at(pos, ExprKind::IncDec { by, prefix: true, operand }))
            }
            Tok::Punct(P::AndAnd) => {
                self.bump();
                Ok(at(pos, ExprKind::LabelAddress(self.ident()?)))
            }
            Tok::Punct(punct @ (P::Amp | P::Star | P::Plus | P::Minus | P::Tilde | P::Bang)) => {
                self.bump();
                let op = match punct {
                    P::Amp => UnaryOp::AddrOf,
                    P::Star => UnaryOp::Deref,
                    P::Plus => UnaryOp::Plus,
                    P::Minus => UnaryOp::Minus,
                    P::Tilde => UnaryOp::Complement,
                    _ => UnaryOp::Not,
                };
                let operand = self.unary_expr()?;
                Ok(at(pos, ExprKind::Unary(op, Box::new(operand))))
            }
            Tok::Kw(Kw::Extension) => {
                self.bump();
                self.unary_expr()
            }
            Tok::Kw(Kw::Sizeof | Kw::Alignof) => {
                let sizeof = self.is_kw(Kw::Sizeof);
                self.bump();
                if self.is(P::LParen) && self.starts_type(1) {
                    self.bump();
                    let ty = Box::new(self.type_name()?);
                    self.expect(P::RParen)?;
                    if self.is(P::LBrace) {
                        let literal = self.compound_literal(pos, *ty)?;
                        let operand = Box::new(self.postfix(literal)?);
                        return Ok(at(
                            pos,
                            if sizeof { ExprKind::SizeofExpr(operand) } else { ExprKind::AlignofExpr(operand) },
                        ));
                    }
                    return Ok(at(pos, if sizeof { ExprKind::SizeofType(ty) } else { ExprKind::AlignofType(ty) }));
                }
                let operand = Box::new(self.unary_expr()?);
                Ok(at(pos, if sizeof { ExprKind::SizeofExpr(operand) } else { ExprKind::AlignofExpr(operand) }))
            }
            Tok::Punct(P::LParen) if self.starts_type(1) => {
                self.bump();
                let ty = self.type_name()?;
                self.expect(P::RParen)?;
                if self.is(P::LBrace) {
                    let literal = self.compound_literal(pos, ty)?;
                    return self.postfix(literal);
                }
                let operand = self.unary_expr()?;
                Ok(at(pos, ExprKind::Cast(Box::new(ty), Box::new(operand))))
            }
            _ => {
                let primary = self.primary()?;
                self.postfix(primary)
            }
        }
    }

    fn compound_literal(&mut self, pos: Pos, ty: crate::syntax::TypeName) -> Parsed<Expr> {
        let items = self.init_list()?;
        Ok(at(pos, ExprKind::CompoundLiteral(Box::new(ty), items)))
    }

    fn postfix(&mut self, mut left: Expr) -> Parsed<Expr> {
        let mut chain = 0;
        loop {
            let pos = self.pos();
            let Tok::Punct(punct) = *self.peek() else { return Ok(left) };
            let kind = match punct {
                P::LBracket => {
                    self.bump();
                    let index = self.deeper(Parser::expr)?;
                    self.expect(P::RBracket)?;
                    ExprKind::Index(Box::new(left), Box::new(index))
                }
                P::LParen => {
                    self.bump();
                    let args = self.arguments()?;
                    // The place of a call is its name: that is what a person looks for.
                    let pos = left.pos;
                    left = at(pos, ExprKind::Call(Box::new(left), args));
                    self.count(&mut chain)?;
                    continue;
                }
                P::Dot | P::Arrow => {
                    self.bump();
                    let field = self.ident()?;
                    ExprKind::Member { base: Box::new(left), field, arrow: punct == P::Arrow }
                }
                P::Inc | P::Dec => {
                    self.bump();
                    let by = if punct == P::Inc { 1 } else { -1 };
                    ExprKind::IncDec { by, prefix: false, operand: Box::new(left) }
                }
                _ => return Ok(left),
            };
            self.count(&mut chain)?;
            left = at(pos, kind);
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        if self.eat(P::RParen) {
            return Ok(args);
        }
        loop {
            args.push(self.assign_expr()?);
            if !self.eat(P::Comma) {
                self.expect(P::RParen)?;
                return Ok(args);
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let pos = self.pos();
        let kind = match self.peek().clone() {
            Tok::Ident(name) => {
                self.bump();
                ExprKind::Ident(name)
            }
            Tok::Int(literal) => {
                self.bump();
                ExprKind::Int(literal)
            }
            Tok::Char(value, encoding) => {
                self.bump();
                ExprKind::Char(value, encoding)
            }
            Tok::Float(literal) => {
                self.bump();
                ExprKind::Float(literal)
            }
            Tok::Str(..) => self.string_literal()?,
            Tok::Kw(Kw::Func) => {
                self.bump();
                ExprKind::FuncName
            }
            Tok::Punct(P::LParen) if *self.peek_at(1) == Tok::Punct(P::LBrace) => {
                self.bump();
                self.bump();
                let body = self.deeper(|p| p.scoped(Parser::block_items))?;
                self.expect(P::RParen)?;
                ExprKind::StmtExpr(body)
            }
            Tok::Punct(P::LParen) => {
                self.bump();
                let inner = self.deeper(Parser::expr)?;
                self.expect(P::RParen)?;
                return Ok(inner);
            }
            Tok::Kw(keyword) => return self.keyword_expr(pos, keyword),
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(at(pos, kind))
    }

    /// Adjacent literals are one.
    pub(super) fn string_literal(&mut self) -> Parsed<ExprKind> {
        let mut units = Vec::new();
        let mut encoding = Encoding::Plain;
        while let Tok::Str(part, part_encoding) = self.peek() {
            units.extend_from_slice(part);
            if *part_encoding != Encoding::Plain {
                encoding = *part_encoding;
            }
            self.bump();
        }
        Ok(ExprKind::Str(units.into(), encoding))
    }

    fn keyword_expr(&mut self, pos: Pos, keyword: Kw) -> Parsed<Expr> {
        if !matches!(keyword, Kw::Generic | Kw::OffsetOf | Kw::TypesCompatible | Kw::ChooseExpr | Kw::VaArg) {
            return Err(self.unexpected("an expression"));
        }
        self.bump();
        self.expect(P::LParen)?;
        let kind = match keyword {
            Kw::Generic => {
                let selector = Box::new(self.assign_expr()?);
                let mut arms = Vec::new();
                while self.eat(P::Comma) {
                    let ty = if self.eat_kw(Kw::Default) { None } else { Some(self.type_name()?) };
                    self.expect(P::Colon)?;
                    arms.push((ty, self.assign_expr()?));
                }
                ExprKind::Generic(selector, arms)
            }
            Kw::OffsetOf => {
                let ty = Box::new(self.type_name()?);
                self.expect(P::Comma)?;
                let field_pos = self.pos();
                let mut path = vec![Designator::Field(self.ident()?, field_pos)];
                loop {
                    let pos = self.pos();
                    if self.eat(P::Dot) {
                        path.push(Designator::Field(self.ident()?, pos));
                    } else if self.eat(P::LBracket) {
                        path.push(Designator::Index(self.expr()?));
                        self.expect(P::RBracket)?;
                    } else {
                        break;
                    }
                }
                ExprKind::OffsetOf(ty, path)
            }
            Kw::TypesCompatible => {
                let a = Box::new(self.type_name()?);
                self.expect(P::Comma)?;
                ExprKind::TypesCompatible(a, Box::new(self.type_name()?))
            }
            Kw::ChooseExpr => {
                let cond = Box::new(self.assign_expr()?);
                self.expect(P::Comma)?;
                let then = Box::new(self.assign_expr()?);
                self.expect(P::Comma)?;
                ExprKind::ChooseExpr(cond, then, Box::new(self.assign_expr()?))
            }
            // `va_arg`: the list is a pointer to the next argument.
            _ => {
                let operand = Box::new(self.assign_expr()?);
                self.expect(P::Comma)?;
                let ty = Box::new(self.type_name()?);
                ExprKind::VaArg(ty, Box::new(at(pos, ExprKind::IncDec { by: 1, prefix: false, operand })))
            }
        };
        self.expect(P::RParen)?;
        Ok(at(pos, kind))
    }
}
