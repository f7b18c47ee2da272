//! Statements and blocks.

use super::{Fault, Parsed, Parser};
use crate::syntax::{Asm, AsmOperand, StaticAssert, Stmt, StmtKind};
use crate::token::{Kw, P, Tok};

impl Parser<'_> {
    /// The rest of a block after its opening brace.
    pub(super) fn block_items(&mut self) -> Parsed<Vec<Stmt>> {
        let mut items = Vec::new();
        while !self.eat(P::RBrace) {
            if *self.peek() == Tok::Eof {
                return Err(self.unexpected("`}`"));
            }
            if self.eat_kw(Kw::LabelDecl) {
                while !self.eat(P::Semi) {
                    self.ident()?;
                    self.eat(P::Comma);
                }
                continue;
            }
            items.push(self.block_item()?);
        }
        Ok(items)
    }

    fn block_item(&mut self) -> Parsed<Stmt> {
        let pos = self.pos();
        let label = matches!(self.peek(), Tok::Ident(_)) && *self.peek_at(1) == Tok::Punct(P::Colon);
        let kind = if self.is_kw(Kw::StaticAssert) {
            StmtKind::StaticAssert(self.static_assert()?)
        } else if !label && self.starts_declaration() {
            StmtKind::Decl(self.declaration()?)
        } else {
            return self.statement();
        };
        Ok(Stmt { kind, pos })
    }

    /// `_Static_assert(cond, "message");`
    pub(super) fn static_assert(&mut self) -> Parsed<StaticAssert> {
        let pos = self.pos();
        self.bump();
        self.expect(P::LParen)?;
        let cond = self.assign_expr()?;
        let mut message = String::new();
        if self.eat(P::Comma) {
            while let Tok::Str(units, _) = self.peek() {
                message.extend(units.iter().filter_map(|&u| char::from_u32(u)));
                self.bump();
            }
        }
        self.expect(P::RParen)?;
        self.expect(P::Semi)?;
        Ok(StaticAssert { cond, message, pos })
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        self.deeper(|p| {
            let pos = p.pos();
            let kind = p.statement_kind()?;
            Ok(Stmt { kind, pos })
        })
    }

    /// The statement a loop, a branch or a label governs, in a scope of its own.
    fn body(&mut self) -> Parsed<Box<Stmt>> {
        Ok(Box::new(self.scoped(Parser::statement)?))
    }

    fn paren_expr(&mut self) -> Parsed<crate::syntax::Expr> {
        self.expect(P::LParen)?;
        let expr = self.expr()?;
        self.expect(P::RParen)?;
        Ok(expr)
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        match self.peek().clone() {
            Tok::Punct(P::LBrace) => {
                self.bump();
                Ok(StmtKind::Block(self.scoped(Parser::block_items)?))
            }
            Tok::Punct(P::Semi) => {
                self.bump();
                Ok(StmtKind::Empty)
            }
            Tok::Ident(name) if *self.peek_at(1) == Tok::Punct(P::Colon) => {
                self.bump();
                self.bump();
                self.attributes()?;
                Ok(StmtKind::Label(name, Box::new(self.labelled()?)))
            }
            Tok::Kw(keyword) => self.keyword_statement(keyword),
            _ => self.expression_statement(),
        }
    }

    /// What a label stands before; at the end of a block, and before a declaration, the empty statement.
    fn labelled(&mut self) -> Parsed<Stmt> {
        if self.is(P::RBrace) {
            return Ok(Stmt { kind: StmtKind::Empty, pos: self.pos() });
        }
        self.deeper(Parser::block_item)
    }

    fn expression_statement(&mut self) -> Parsed<StmtKind> {
        let expr = self.expr()?;
        self.expect(P::Semi)?;
        Ok(StmtKind::Expr(expr))
    }

    fn keyword_statement(&mut self, keyword: Kw) -> Parsed<StmtKind> {
        match keyword {
            Kw::If => {
                self.bump();
                let cond = self.paren_expr()?;
                let then = self.body()?;
                let otherwise = if self.eat_kw(Kw::Else) { Some(self.body()?) } else { None };
                Ok(StmtKind::If(cond, then, otherwise))
            }
            Kw::Switch => {
                self.bump();
                let subject = self.paren_expr()?;
                Ok(StmtKind::Switch(subject, self.body()?))
            }
            Kw::Case => {
                self.bump();
                let low = self.cond_expr()?;
                let high = if self.eat(P::Ellipsis) { Some(self.cond_expr()?) } else { None };
                self.expect(P::Colon)?;
                Ok(StmtKind::Case(low, high, Box::new(self.labelled()?)))
            }
            Kw::Default => {
                self.bump();
                self.expect(P::Colon)?;
                Ok(StmtKind::Default(Box::new(self.labelled()?)))
            }
            Kw::While => {
                self.bump();
                let cond = self.paren_expr()?;
                Ok(StmtKind::While(cond, self.body()?))
            }
            Kw::Do => {
                self.bump();
                let body = self.body()?;
                if !self.eat_kw(Kw::While) {
                    return Err(self.unexpected("`while`"));
                }
                let cond = self.paren_expr()?;
                self.expect(P::Semi)?;
                Ok(StmtKind::DoWhile(body, cond))
            }
            Kw::For => {
                self.bump();
                self.scoped(Parser::for_statement)
            }
            Kw::Goto => {
                self.bump();
                if self.eat(P::Star) {
                    let target = self.expr()?;
                    self.expect(P::Semi)?;
                    return Ok(StmtKind::GotoValue(target));
                }
                let label = self.ident()?;
                self.expect(P::Semi)?;
                Ok(StmtKind::Goto(label))
            }
            Kw::Continue | Kw::Break => {
                self.bump();
                self.expect(P::Semi)?;
                Ok(if keyword == Kw::Break { StmtKind::Break } else { StmtKind::Continue })
            }
            Kw::Return => {
                self.bump();
                let value = if self.is(P::Semi) { None } else { Some(self.expr()?) };
                self.expect(P::Semi)?;
                Ok(StmtKind::Return(value))
            }
            Kw::Asm => self.asm_statement(),
            Kw::Attribute => {
                self.attributes()?;
                self.expect(P::Semi)?;
                Ok(StmtKind::Empty)
            }
            _ => self.expression_statement(),
        }
    }

    fn for_statement(&mut self) -> Parsed<StmtKind> {
        self.expect(P::LParen)?;
        let pos = self.pos();
        let init = if self.eat(P::Semi) {
            None
        } else if self.starts_declaration() {
            Some(Box::new(Stmt { kind: StmtKind::Decl(self.declaration()?), pos }))
        } else {
            Some(Box::new(Stmt { kind: self.expression_statement()?, pos }))
        };
        let cond = if self.is(P::Semi) { None } else { Some(self.expr()?) };
        self.expect(P::Semi)?;
        let step = if self.is(P::RParen) { None } else { Some(self.expr()?) };
        self.expect(P::RParen)?;
        Ok(StmtKind::For { init, cond, step, body: self.body()? })
    }

    /// `asm volatile ("..." : outputs : inputs : clobbers);`
    fn asm_statement(&mut self) -> Parsed<StmtKind> {
        let pos = self.pos();
        self.bump();
        while matches!(self.peek(), Tok::Kw(Kw::Volatile | Kw::Inline | Kw::Goto)) {
            if self.is_kw(Kw::Goto) {
                return Err(Fault::new(pos, "`asm goto` is not supported"));
            }
            self.bump();
        }
        self.expect(P::LParen)?;
        let template = self.strings();
        let mut asm = Asm { template, outputs: Vec::new(), inputs: Vec::new() };
        if self.eat(P::Colon) {
            asm.outputs = self.asm_operands()?;
            if self.eat(P::Colon) {
                asm.inputs = self.asm_operands()?;
                if self.eat(P::Colon) {
                    while !self.is(P::RParen) {
                        self.strings();
                        if !self.is(P::RParen) {
                            self.expect(P::Comma)?;
                        }
                    }
                }
            }
        }
        self.expect(P::RParen)?;
        self.expect(P::Semi)?;
        Ok(StmtKind::Asm(asm))
    }

    /// Strings that stand beside each other, as one.
    fn strings(&mut self) -> String {
        let mut text = String::new();
        while let Tok::Str(units, _) = self.peek() {
            text.extend(units.iter().filter_map(|&unit| char::from_u32(unit)));
            self.bump();
        }
        text
    }

    /// `[name] "constraint" (expression), ...`
    fn asm_operands(&mut self) -> Parsed<Vec<AsmOperand>> {
        let mut operands = Vec::new();
        while !self.is(P::Colon) && !self.is(P::RParen) {
            let name = if self.eat(P::LBracket) {
                let name = self.ident()?;
                self.expect(P::RBracket)?;
                Some(name)
            } else {
                None
            };
            let constraint = self.strings();
            let expr = self.paren_expr()?;
            operands.push(AsmOperand { name, constraint, expr });
            if !self.eat(P::Comma) {
                break;
            }
        }
        Ok(operands)
    }
}
