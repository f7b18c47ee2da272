//! Declarations: specifiers, declarators, records, enumerations, initialisers, attributes.

use super::{Fault, MAX_DEPTH, Parsed, Parser};
use crate::syntax::*;
use crate::token::{Kw, Name, P, Tok};
use std::rc::Rc;

impl Parser<'_> {
    /// Whether a declaration starts here.
    pub(super) fn starts_declaration(&self) -> bool {
        match self.peek() {
            Tok::Kw(Kw::Typedef | Kw::Extern | Kw::Static | Kw::Auto | Kw::Register | Kw::ThreadLocal) => true,
            Tok::Kw(Kw::Inline | Kw::Noreturn | Kw::Alignas) => true,
            Tok::Kw(Kw::Extension) => {
                // Before a declaration or before an expression.
                let mut ahead = 1;
                while *self.peek_at(ahead) == Tok::Kw(Kw::Extension) {
                    ahead += 1;
                }
                matches!(self.peek_at(ahead), Tok::Kw(Kw::Typedef | Kw::Extern | Kw::Static)) || self.starts_type(ahead)
            }
            Tok::Kw(Kw::Attribute) => *self.peek_at(1) == Tok::Punct(P::LParen) && self.attribute_before_declaration(),
            _ => self.starts_type(0),
        }
    }

    /// Whether what follows the attribute here is a declaration and not the end of a statement.
    fn attribute_before_declaration(&self) -> bool {
        let mut ahead = 1;
        let mut open = 0;
        loop {
            match self.peek_at(ahead) {
                Tok::Punct(P::LParen) => open += 1,
                Tok::Punct(P::RParen) => open -= 1,
                Tok::Eof => return false,
                _ => {}
            }
            ahead += 1;
            if open == 0 {
                return *self.peek_at(ahead) != Tok::Punct(P::Semi);
            }
        }
    }

    /// Whether a type name starts so many tokens ahead.
    pub(super) fn starts_type(&self, ahead: usize) -> bool {
        match self.peek_at(ahead) {
            Tok::Ident(name) => self.is_type_name(name),
            // In parentheses; otherwise it may also be a statement.
            Tok::Kw(Kw::Attribute) => ahead > 0,
            Tok::Kw(keyword) => matches!(
                keyword,
                Kw::Atomic
                    | Kw::AutoType
                    | Kw::Bool
                    | Kw::Char
                    | Kw::Complex
                    | Kw::Const
                    | Kw::Double
                    | Kw::Enum
                    | Kw::Float
                    | Kw::Float128
                    | Kw::Float32
                    | Kw::Float64
                    | Kw::Int
                    | Kw::Int128
                    | Kw::UInt128
                    | Kw::Long
                    | Kw::Restrict
                    | Kw::Short
                    | Kw::Signed
                    | Kw::Struct
                    | Kw::Typeof
                    | Kw::Union
                    | Kw::Unsigned
                    | Kw::VaList
                    | Kw::Void
                    | Kw::Volatile
            ),
            _ => false,
        }
    }

    /// At file scope: a declaration, or a function with its body.
    pub(super) fn declaration_or_function(&mut self) -> Parsed<Option<Item>> {
        let specs = self.specs()?;
        if self.eat(P::Semi) {
            return Ok(Some(Item::Decl(Declaration { specs, declarators: Vec::new() })));
        }
        let declarator = self.declarator()?;
        let is_function = matches!(declarator.derived.first(), Some(Derived::Function { .. }));
        if is_function && (self.is(P::LBrace) || self.starts_declaration()) {
            let pos = declarator.pos;
            if let Some(name) = &declarator.name {
                self.declare(name, false);
            }
            let (old_params, body) = self.scoped(|p| {
                let mut old_params = Vec::new();
                while !p.is(P::LBrace) {
                    if *p.peek() == Tok::Eof {
                        return Err(p.unexpected("`{`"));
                    }
                    old_params.push(p.declaration()?);
                }
                if let Some(Derived::Function { params, .. }) = declarator.derived.first() {
                    for name in params.iter().filter_map(|param| param.declarator.name.as_ref()) {
                        p.declare(name, false);
                    }
                }
                p.bump();
                Ok((old_params, p.block_items()?))
            })?;
            return Ok(Some(Item::Function(Rc::new(FunctionDef { specs, declarator, old_params, body, pos }))));
        }
        Ok(Some(Item::Decl(self.declaration_rest(specs, declarator)?)))
    }

    /// A declaration with its semicolon.
    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let specs = self.specs()?;
        if self.eat(P::Semi) {
            return Ok(Declaration { specs, declarators: Vec::new() });
        }
        let first = self.declarator()?;
        self.declaration_rest(specs, first)
    }

    fn declaration_rest(&mut self, specs: Specs, first: Declarator) -> Parsed<Declaration> {
        let mut declarators = Vec::new();
        let mut next = first;
        loop {
            let Some(name) = next.name.clone() else {
                return Err(self.unexpected("a name to declare"));
            };
            // The name is in scope in its own initialiser.
            self.declare(&name, specs.storage == Storage::Typedef);
            let init = if self.eat(P::Assign) { Some(self.initializer()?) } else { None };
            declarators.push((next, init));
            if !self.eat(P::Comma) {
                break;
            }
            self.attributes()?;
            next = self.declarator()?;
        }
        self.expect(P::Semi)?;
        Ok(Declaration { specs, declarators })
    }

    /// A declarator; it may lack its name.
    pub(super) fn declarator(&mut self) -> Parsed<Declarator> {
        self.deeper(Parser::declarator_inner)
    }

    fn declarator_inner(&mut self) -> Parsed<Declarator> {
        let mut attrs = self.attributes()?;
        let mut pointers = Vec::new();
        while self.eat(P::Star) {
            let mut quals = Quals::default();
            loop {
                match self.peek() {
                    Tok::Kw(Kw::Const) => quals.constant = true,
                    Tok::Kw(Kw::Volatile) => quals.volatile = true,
                    Tok::Kw(Kw::Atomic) => quals.atomic = true,
                    Tok::Kw(Kw::Restrict) => {}
                    Tok::Kw(Kw::Attribute) => {
                        attrs.merge(self.attributes()?);
                        continue;
                    }
                    _ => break,
                }
                self.bump();
            }
            pointers.push(Derived::Pointer(quals));
            if pointers.len() > MAX_DEPTH as usize {
                return Err(Fault::new(self.pos(), "too many pointers in one declarator"));
            }
        }
        let pos = self.pos();
        let mut name = None;
        let mut derived = Vec::new();
        let mut name_pos = pos;
        match self.peek() {
            Tok::Ident(_) => name = Some(self.ident()?),
            Tok::Punct(P::LParen) if !self.is_parameter_list() => {
                self.bump();
                let inner = self.declarator()?;
                self.expect(P::RParen)?;
                name = inner.name;
                name_pos = inner.pos;
                derived = inner.derived;
                attrs.merge(inner.attrs);
            }
            _ => {}
        }
        loop {
            let at = self.pos();
            if self.eat(P::LBracket) {
                while matches!(self.peek(), Tok::Kw(Kw::Static | Kw::Const | Kw::Restrict | Kw::Volatile)) {
                    self.bump();
                }
                let unspecified = self.is(P::Star) && *self.peek_at(1) == Tok::Punct(P::RBracket);
                let size = if self.is(P::RBracket) {
                    None
                } else if unspecified {
                    self.bump();
                    None
                } else {
                    Some(Box::new(self.assign_expr()?))
                };
                self.expect(P::RBracket)?;
                derived.push(Derived::Array(size, at));
            } else if self.eat(P::LParen) {
                derived.push(self.deeper(|p| p.scoped(Parser::parameters))?);
            } else {
                break;
            }
            if derived.len() > MAX_DEPTH as usize {
                return Err(Fault::new(at, "too many dimensions in one declarator"));
            }
        }
        derived.extend(pointers.into_iter().rev());
        if self.eat_kw(Kw::Asm) {
            // A name for the linker, as in the system's headers.
            self.expect(P::LParen)?;
            self.skip_balanced()?;
        }
        attrs.merge(self.attributes()?);
        Ok(Declarator { name, pos: name_pos, derived, attrs })
    }

    /// Whether the parenthesis here opens the parameters of an unnamed function rather than a nested declarator.
    fn is_parameter_list(&self) -> bool {
        *self.peek_at(1) == Tok::Punct(P::RParen)
            || (self.starts_type(1) && *self.peek_at(1) != Tok::Kw(Kw::Attribute))
            || *self.peek_at(1) == Tok::Kw(Kw::Register)
    }

    fn parameters(&mut self) -> Parsed<Derived> {
        let mut params = Vec::new();
        let mut variadic = false;
        if self.eat(P::RParen) {
            return Ok(Derived::Function { params, variadic, prototype: false });
        }
        if let Tok::Ident(name) = self.peek()
            && !self.is_type_name(name)
        {
            return self.old_style_names();
        }
        if self.is_kw(Kw::Void) && *self.peek_at(1) == Tok::Punct(P::RParen) {
            self.bump();
            self.bump();
            return Ok(Derived::Function { params, variadic, prototype: true });
        }
        loop {
            if self.eat(P::Ellipsis) {
                variadic = true;
                break;
            }
            let specs = self.specs()?;
            let declarator = self.declarator()?;
            if let Some(name) = &declarator.name {
                self.declare(name, false);
            }
            params.push(Param { specs, declarator });
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect(P::RParen)?;
        Ok(Derived::Function { params, variadic, prototype: true })
    }

    /// `int f(a, b)`: the types follow; until then they are `int`.
    fn old_style_names(&mut self) -> Parsed<Derived> {
        let mut params = Vec::new();
        loop {
            let pos = self.pos();
            let name: Name = self.ident()?;
            let specs = Specs {
                storage: Storage::None,
                thread_local: false,
                inline: false,
                quals: Quals::default(),
                base: TypeSpec::Int { unsigned: false, longs: 0 },
                align: Vec::new(),
                attrs: Attrs::default(),
                pos,
            };
            let declarator = Declarator { name: Some(name), pos, derived: Vec::new(), attrs: Attrs::default() };
            params.push(Param { specs, declarator });
            if !self.eat(P::Comma) {
                break;
            }
        }
        self.expect(P::RParen)?;
        Ok(Derived::Function { params, variadic: false, prototype: false })
    }

    fn initializer(&mut self) -> Parsed<Init> {
        let pos = self.pos();
        if self.is(P::LBrace) { Ok(Init::List(self.init_list()?, pos)) } else { Ok(Init::Expr(self.assign_expr()?)) }
    }

    /// A braced list.
    pub(super) fn init_list(&mut self) -> Parsed<Vec<InitItem>> {
        self.deeper(|p| {
            p.expect(P::LBrace)?;
            let mut items = Vec::new();
            while !p.eat(P::RBrace) {
                let pos = p.pos();
                let designators = p.designators()?;
                let init = p.initializer()?;
                items.push(InitItem { designators, init, pos });
                if !p.is(P::RBrace) {
                    p.expect(P::Comma)?;
                }
            }
            Ok(items)
        })
    }

    fn designators(&mut self) -> Parsed<Vec<Designator>> {
        let mut path = Vec::new();
        loop {
            let pos = self.pos();
            if self.eat(P::Dot) {
                path.push(Designator::Field(self.ident()?, pos));
            } else if self.eat(P::LBracket) {
                let from = self.cond_expr()?;
                path.push(if self.eat(P::Ellipsis) {
                    Designator::Range(from, self.cond_expr()?)
                } else {
                    Designator::Index(from)
                });
                self.expect(P::RBracket)?;
            } else if path.is_empty()
                && matches!(self.peek(), Tok::Ident(_))
                && *self.peek_at(1) == Tok::Punct(P::Colon)
            {
                // The old GNU form `field: value`.
                path.push(Designator::Field(self.ident()?, pos));
                self.bump();
                return Ok(path);
            } else {
                if !path.is_empty() {
                    self.expect(P::Assign)?;
                }
                return Ok(path);
            }
        }
    }
}
