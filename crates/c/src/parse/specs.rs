//! What stands before the declarators: types, qualifiers, records, enumerations, attributes.

use super::{Fault, Parsed, Parser};
use crate::syntax::*;
use crate::token::{Kw, P, Pos, Tok};

/// Attributes that change what a program means in a way that is not modelled.
const UNSUPPORTED_ATTRIBUTES: [&str; 4] = ["weakref", "ifunc", "scalar_storage_order", "ms_struct"];

/// The words of a type, counted while they are read.
#[derive(Default)]
struct Words {
    void: bool,
    boolean: bool,
    character: bool,
    int: bool,
    int128: bool,
    short: bool,
    longs: i8,
    signed: bool,
    unsigned: bool,
    float: Option<FloatKind>,
    complex: bool,
    any: bool,
}

impl Parser<'_> {
    /// Declaration specifiers.
    pub(super) fn specs(&mut self) -> Parsed<Specs> {
        let pos = self.pos();
        let mut words = Words::default();
        let mut base = None;
        let mut specs = Specs {
            storage: Storage::None,
            thread_local: false,
            inline: false,
            quals: Quals::default(),
            base: TypeSpec::Void,
            align: Vec::new(),
            attrs: Attrs::default(),
            pos,
        };
        loop {
            match self.peek().clone() {
                Tok::Ident(name) if base.is_none() && !words.any && self.is_type_name(&name) => {
                    self.bump();
                    base = Some(TypeSpec::Typedef(name));
                }
                Tok::Kw(keyword) => {
                    if !self.specifier(keyword, &mut specs, &mut words, &mut base)? {
                        break;
                    }
                }
                _ => break,
            }
        }
        specs.base = match base {
            Some(_) if words.any => return Err(Fault::new(pos, "two types in one declaration")),
            Some(base) => base,
            None if !words.any => return Err(self.unexpected("a type")),
            None => words.resolve(pos)?,
        };
        Ok(specs)
    }

    /// Takes one specifier; false if the keyword is none.
    fn specifier(
        &mut self,
        keyword: Kw,
        specs: &mut Specs,
        words: &mut Words,
        base: &mut Option<TypeSpec>,
    ) -> Parsed<bool> {
        if words.take(keyword) {
            self.bump();
            return Ok(true);
        }
        match keyword {
            Kw::Typedef => specs.storage = Storage::Typedef,
            Kw::Extern => specs.storage = Storage::Extern,
            Kw::Static => specs.storage = Storage::Static,
            Kw::Auto | Kw::Register => specs.storage = Storage::Auto,
            Kw::ThreadLocal => specs.thread_local = true,
            Kw::Const => specs.quals.constant = true,
            Kw::Volatile => specs.quals.volatile = true,
            Kw::Inline => specs.inline = true,
            Kw::Restrict | Kw::Noreturn | Kw::Extension => {}
            Kw::VaList => *base = Some(TypeSpec::VaList),
            Kw::AutoType => *base = Some(TypeSpec::Auto),
            Kw::Atomic if *self.peek_at(1) == Tok::Punct(P::LParen) => {
                self.bump();
                self.bump();
                let inner = self.deeper(Parser::type_name)?;
                self.expect(P::RParen)?;
                *base = Some(TypeSpec::Atomic(Box::new(inner)));
                return Ok(true);
            }
            Kw::Atomic => specs.quals.atomic = true,
            Kw::Alignas => {
                self.bump();
                self.expect(P::LParen)?;
                specs.align.push(if self.starts_type(0) {
                    AlignSpec::Type(Box::new(self.type_name()?))
                } else {
                    AlignSpec::Expr(self.assign_expr()?)
                });
                self.expect(P::RParen)?;
                return Ok(true);
            }
            Kw::Attribute => {
                specs.attrs.merge(self.attributes()?);
                return Ok(true);
            }
            Kw::Struct | Kw::Union => {
                *base = Some(TypeSpec::Record(self.deeper(Parser::record)?));
                return Ok(true);
            }
            Kw::Enum => {
                *base = Some(TypeSpec::Enum(self.deeper(Parser::enumeration)?));
                return Ok(true);
            }
            Kw::Typeof => {
                self.bump();
                self.expect(P::LParen)?;
                *base = Some(if self.starts_type(0) {
                    TypeSpec::TypeofType(Box::new(self.deeper(Parser::type_name)?))
                } else {
                    TypeSpec::TypeofExpr(Box::new(self.expr()?))
                });
                self.expect(P::RParen)?;
                return Ok(true);
            }
            _ => return Ok(false),
        }
        self.bump();
        Ok(true)
    }

    fn record(&mut self) -> Parsed<RecordSpec> {
        let pos = self.pos();
        let is_union = self.is_kw(Kw::Union);
        self.bump();
        let mut attrs = self.attributes()?;
        let tag = if let Tok::Ident(_) = self.peek() { Some(self.ident()?) } else { None };
        let mut members = None;
        if self.eat(P::LBrace) {
            let mut list = Vec::new();
            while !self.eat(P::RBrace) {
                if self.eat(P::Semi) {
                    continue;
                }
                list.push(self.member()?);
            }
            members = Some(list);
            attrs.merge(self.attributes()?);
        } else if tag.is_none() {
            return Err(self.unexpected("a tag or `{`"));
        }
        Ok(RecordSpec { is_union, tag, members, attrs, pos })
    }

    fn member(&mut self) -> Parsed<Member> {
        if self.is_kw(Kw::StaticAssert) {
            return Ok(Member::StaticAssert(self.static_assert()?));
        }
        let specs = self.specs()?;
        let mut declarators = Vec::new();
        while !self.eat(P::Semi) {
            let mut declarator = if self.is(P::Colon) {
                Declarator { name: None, pos: self.pos(), derived: Vec::new(), attrs: Attrs::default() }
            } else {
                self.declarator()?
            };
            let width = if self.eat(P::Colon) { Some(self.cond_expr()?) } else { None };
            declarator.attrs.merge(self.attributes()?);
            declarators.push((declarator, width));
            if !self.is(P::Semi) {
                self.expect(P::Comma)?;
            }
        }
        Ok(Member::Fields { specs, declarators })
    }

    fn enumeration(&mut self) -> Parsed<EnumSpec> {
        let pos = self.pos();
        self.bump();
        let mut packed = self.attributes()?.packed;
        let tag = if let Tok::Ident(_) = self.peek() { Some(self.ident()?) } else { None };
        let mut values = None;
        if self.eat(P::LBrace) {
            let mut list = Vec::new();
            while !self.eat(P::RBrace) {
                let pos = self.pos();
                let name = self.ident()?;
                self.attributes()?;
                let value = if self.eat(P::Assign) { Some(self.cond_expr()?) } else { None };
                self.declare(&name, false);
                list.push((name, pos, value));
                if !self.is(P::RBrace) {
                    self.expect(P::Comma)?;
                }
            }
            values = Some(list);
            packed |= self.attributes()?.packed;
        } else if tag.is_none() {
            return Err(self.unexpected("a tag or `{`"));
        }
        Ok(EnumSpec { tag, values, packed, pos })
    }

    /// A type in a cast, `sizeof` and so on.
    pub(super) fn type_name(&mut self) -> Parsed<TypeName> {
        let specs = self.specs()?;
        let declarator = self.declarator()?;
        if declarator.name.is_some() {
            return Err(Fault::new(declarator.pos, "a name has no place in a type name"));
        }
        Ok(TypeName { specs, declarator })
    }

    /// Any number of `__attribute__((...))`.
    pub(super) fn attributes(&mut self) -> Parsed<Attrs> {
        let mut attrs = Attrs::default();
        while self.eat_kw(Kw::Attribute) {
            self.expect(P::LParen)?;
            self.expect(P::LParen)?;
            while !self.eat(P::RParen) {
                self.attribute(&mut attrs)?;
            }
            self.expect(P::RParen)?;
        }
        Ok(attrs)
    }

    fn attribute(&mut self, attrs: &mut Attrs) -> Parsed<()> {
        let pos = self.pos();
        match self.peek().clone() {
            Tok::Ident(name) => {
                self.bump();
                match name.trim_matches('_') {
                    "packed" => attrs.packed = true,
                    "constructor" => attrs.constructor = true,
                    "destructor" => attrs.destructor = true,
                    "gnu_inline" => attrs.gnu_inline = true,
                    "transparent_union" => attrs.transparent_union = true,
                    "aligned" => {
                        let mut arg = None;
                        if self.eat(P::LParen) {
                            arg = Some(if self.starts_type(0) {
                                let ty = Box::new(self.type_name()?);
                                Expr { kind: ExprKind::AlignofType(ty), pos }
                            } else {
                                self.assign_expr()?
                            });
                            self.expect(P::RParen)?;
                        }
                        attrs.aligned.push(arg);
                    }
                    "cleanup" => {
                        self.expect(P::LParen)?;
                        let pos = self.pos();
                        let Tok::Ident(function) = self.peek().clone() else {
                            return Err(self.unexpected("the name of a function"));
                        };
                        self.bump();
                        attrs.rare.get_or_insert_default().cleanup = Some((function, pos));
                        self.expect(P::RParen)?;
                    }
                    size @ ("vector_size" | "ext_vector_type") => {
                        self.expect(P::LParen)?;
                        let count = self.assign_expr()?;
                        attrs.rare.get_or_insert_default().vector = Some((count, size == "ext_vector_type"));
                        self.expect(P::RParen)?;
                    }
                    "mode" => {
                        self.expect(P::LParen)?;
                        let Tok::Ident(mode) = self.peek().clone() else {
                            return Err(self.unexpected("the name of a mode"));
                        };
                        self.bump();
                        attrs.rare.get_or_insert_default().mode = Some((mode, pos));
                        self.expect(P::RParen)?;
                    }
                    "alias" => {
                        self.expect(P::LParen)?;
                        let ExprKind::Str(units, _) = self.string_literal()? else {
                            return Err(self.unexpected("the name of a function or an object"));
                        };
                        let target: String = units.iter().filter_map(|&unit| char::from_u32(unit)).collect();
                        attrs.rare.get_or_insert_default().alias = Some(target.as_str().into());
                        self.expect(P::RParen)?;
                    }
                    other if UNSUPPORTED_ATTRIBUTES.contains(&other) => {
                        attrs.unsupported.get_or_insert((name, pos));
                    }
                    _ => {}
                }
                if self.eat(P::LParen) {
                    self.skip_balanced()?;
                }
            }
            Tok::Kw(_) => self.bump(),
            Tok::Punct(P::Comma) => self.bump(),
            _ => return Err(self.unexpected("an attribute")),
        }
        Ok(())
    }
}

impl Attrs {
    pub(super) fn merge(&mut self, other: Attrs) {
        self.packed |= other.packed;
        self.transparent_union |= other.transparent_union;
        self.gnu_inline |= other.gnu_inline;
        self.constructor |= other.constructor;
        self.destructor |= other.destructor;
        self.aligned.extend(other.aligned);
        if let Some(other) = other.rare {
            let rare = self.rare.get_or_insert_default();
            rare.vector = rare.vector.take().or(other.vector);
            rare.mode = rare.mode.take().or(other.mode);
            rare.alias = rare.alias.take().or(other.alias);
            rare.cleanup = rare.cleanup.take().or(other.cleanup);
        }
        if self.unsupported.is_none() {
            self.unsupported = other.unsupported;
        }
    }
}

impl Words {
    /// Takes the keyword if it is one of the words of a type.
    fn take(&mut self, keyword: Kw) -> bool {
        match keyword {
            Kw::Void => self.void = true,
            Kw::Bool => self.boolean = true,
            Kw::Char => self.character = true,
            Kw::Int => self.int = true,
            Kw::Int128 => self.int128 = true,
            Kw::UInt128 => (self.int128, self.unsigned) = (true, true),
            Kw::Short => self.short = true,
            Kw::Long => self.longs = (self.longs + 1).min(3),
            Kw::Signed => self.signed = true,
            Kw::Unsigned => self.unsigned = true,
            Kw::Float | Kw::Float32 => self.float = Some(FloatKind::Float),
            Kw::Double | Kw::Float64 => self.float = Some(FloatKind::Double),
            Kw::Float128 => self.float = Some(FloatKind::Other),
            Kw::Complex => self.complex = true,
            _ => return false,
        }
        self.any = true;
        true
    }

    fn resolve(self, pos: Pos) -> Parsed<TypeSpec> {
        let sign = if self.unsigned { Some(true) } else { self.signed.then_some(false) };
        let kinds = [self.void, self.boolean, self.character, self.int128, self.float.is_some()];
        let sized = self.short || self.longs > 0;
        let several = kinds.iter().filter(|k| **k).count() > 1;
        let sized_wrongly = sized && (self.void || self.boolean || self.character || self.int128);
        if several
            || sized_wrongly
            || (self.short && self.longs > 0)
            || self.longs > 2
            || (self.signed && self.unsigned)
        {
            return Err(Fault::new(pos, "these words do not make a type"));
        }
        Ok(if self.complex {
            TypeSpec::Float(FloatKind::Other)
        } else if self.void {
            TypeSpec::Void
        } else if self.boolean {
            TypeSpec::Bool
        } else if self.character {
            TypeSpec::Char(sign)
        } else if self.int128 {
            TypeSpec::Int128 { unsigned: self.unsigned }
        } else if let Some(float) = self.float {
            TypeSpec::Float(if self.longs > 0 { FloatKind::LongDouble } else { float })
        } else {
            let longs = if self.short { -1 } else { self.longs };
            TypeSpec::Int { unsigned: self.unsigned, longs }
        })
    }
}
