//! Which global objects does the program have, and what do they hold at first?

use super::{Lowered, Lowerer};
use crate::ctype::{Piece, QTy, Ty};
use crate::parse::Fault;
use crate::syntax::FloatKind;
use crate::token::Pos;
use crate::tree::{Base, Constant, StaticPart, Storage, StrId, VarId};
use raddle_program::{Field, GlobalId, InitField, InitValue, Layout, Object, Type};
use std::collections::BTreeMap;

/// Objects of the C library.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Whether no part of an object of this type may be written.
fn is_constant(ty: &QTy) -> bool {
    match &ty.ty {
        Ty::Array(element, _) => ty.quals.constant || is_constant(element),
        _ => ty.quals.constant,
    }
}

impl Lowerer<'_> {
    /// The global object of a static variable; made when it is first mentioned.
    pub(super) fn global(&mut self, id: VarId, pos: Pos) -> Lowered<GlobalId> {
        if let Some(&known) = self.globals.get(&id) {
            return Ok(known);
        }
        let var = self.checker.var(id).clone();
        let Storage::Static { thread_local, defined, mut init } = var.storage else {
            return Err(Fault::new(pos, format!("`{}` is not a static object", var.name)));
        };
        // The streams of the system's headers are pointers to nothing, as those of ours are.
        if let (Some(number), Ty::Ptr(_)) = (STREAMS.iter().position(|name| **name == *var.name), &var.ty.ty)
            && !defined
        {
            let value = Constant::Int(number as u64 + 1);
            init = vec![StaticPart { offset: 0, bits: None, ty: var.ty.clone(), value }];
        } else if !defined {
            let fault = Fault::new(pos, format!("`{}` is declared but not defined", var.name));
            return Err(fault.label("used here"));
        }
        let layout = self.layout(&var.ty, var.align).ok_or_else(|| {
            Fault::new(
                var.pos,
                format!("`{}` has the incomplete type `{}`", var.name, self.checker.types.show(&var.ty)),
            )
        })?;
        let span = self.span(var.pos);
        let name = self.unique(&var.name);
        let number = GlobalId(self.program.globals.len() as u32);
        self.globals.insert(id, number);
        let constant = is_constant(&var.ty);
        if let Some(shape) = self.shape_of_object(&var.ty) {
            self.program.shapes.globals.insert(name.clone(), shape);
        }
        self.program.globals.push(Object { name, layout, init: Vec::new(), thread_local, constant, span });
        let init = self.init_fields(&init, pos)?;
        self.program.globals[number.index()].init = init;
        Ok(number)
    }

    /// Size and meaning of an object of this type.
    pub(super) fn layout(&self, ty: &crate::ctype::QTy, align: u64) -> Option<Layout> {
        let types = &self.checker.types;
        let size = types.size(&ty.ty)?;
        let natural = types.object_align(ty);
        if align <= natural {
            // A `long double` has more bytes than its number.
            let whole = |ty: &Ty| types.scalar(ty).filter(|_| !matches!(ty, Ty::Float(FloatKind::LongDouble)));
            if let Some(scalar) = whole(&ty.ty) {
                return Some(Layout::Scalar(types.stored(scalar)));
            }
            if let crate::ctype::Ty::Array(element, Some(n)) = &ty.ty
                && let Some(scalar) = whole(&element.ty)
            {
                return Some(Layout::Array(types.stored(scalar), *n as u32));
            }
        }
        Some(Layout::Bytes { size: size as u32, align: natural.max(align).max(1) as u32 })
    }

    fn init_fields(&mut self, parts: &[StaticPart], pos: Pos) -> Lowered<Vec<InitField>> {
        let mut fields: Vec<InitField> = Vec::with_capacity(parts.len());
        // What bit-fields make of them.
        let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
        for part in parts {
            let offset = part.offset as u32;
            let value = match part.value {
                Constant::Int(bits) => InitValue::Int(bits),
                Constant::Addr(Base::Var(id), at) => InitValue::Global(self.global(id, pos)?, at),
                Constant::Addr(Base::Str(id), at) => InitValue::Global(self.string(id), at),
                Constant::Addr(Base::Func(id), 0) => InitValue::Func(self.function_address(id, pos)?),
                Constant::Addr(Base::Func(_), _) => return Err(Fault::new(pos, "an address inside of a function")),
            };
            if let (Some(bits), InitValue::Int(value)) = (part.bits, value) {
                for piece in bits.pieces() {
                    let Piece { at, unit, bits: Field { shift, .. }, from } = piece;
                    let mask = piece.bits.mask();
                    // Bit-fields of several units may lie in one byte.
                    for byte in 0..unit.size() {
                        let cut = |bits: u64| bits >> (8 * byte) & 0xff;
                        let (mask, part) = (cut(mask), cut((value >> from << shift) & mask));
                        if mask != 0 {
                            let known = bytes.entry(offset + at as u32 + byte).or_insert(0);
                            *known = *known & !mask | part;
                        }
                    }
                }
                continue;
            }
            let ty = match (value, self.checker.types.scalar(&part.ty.ty)) {
                (InitValue::Int(_), Some(ty)) => self.checker.types.stored(ty),
                (InitValue::Int(_), None) => continue,
                _ => self.checker.types.stored(Type::Ptr),
            };
            let value = if let InitValue::Int(bits) = value { InitValue::Int(ty.truncate(bits)) } else { value };
            fields.push(InitField { offset, ty, value });
        }
        let byte = |(offset, bits)| InitField { offset, ty: Type::I8, value: InitValue::Int(bits) };
        fields.extend(bytes.into_iter().map(byte));
        Ok(fields)
    }

    /// The object of a string literal.
    pub(super) fn string(&mut self, id: StrId) -> GlobalId {
        if let Some(&known) = self.strings.get(&id) {
            return known;
        }
        let string = &self.checker.strings[id.0 as usize];
        let ty = Type::int(8 * string.kind.size(self.checker.types.model)).unwrap_or(Type::I8);
        let field = |(index, unit): (usize, &u32)| InitField {
            offset: index as u32 * ty.size(),
            ty,
            value: InitValue::Int(ty.truncate(u64::from(*unit))),
        };
        let init = string.units.iter().enumerate().filter(|(_, unit)| **unit != 0).map(field).collect();
        let layout = Layout::Array(ty, string.units.len() as u32);
        let name = self.unique(&format!("string.{}", id.0));
        let number = GlobalId(self.program.globals.len() as u32);
        self.program.globals.push(Object {
            name,
            layout,
            init,
            thread_local: false,
            constant: true,
            span: Default::default(),
        });
        self.strings.insert(id, number);
        number
    }
}
