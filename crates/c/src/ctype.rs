//! What types are there in C, how large are they, and where are their members?
//!
//! Sizes follow the System V ABI: LP64 as on x86-64, or ILP32 as on i386, where `long long` and `double` are aligned to four bytes
//! in memory. A pointer of four bytes is an `i32` in memory and an address in a register (see [`Types::stored`]). A bit-field is read and
//! written through a *unit*, an ordinary integer: the one its declared type asks for, or the smallest that
//! contains it where the former would touch a member that is no bit-field (C11 makes those separate locations).

use crate::syntax::{FloatKind, Quals};
use crate::token::Name;
use raddle_program::Type;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::rc::Rc;

/// Objects larger than this are refused.
pub(crate) const MAX_OBJECT: u64 = 1 << 26;

/// Sizes that depend on the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataModel {
    /// Size of `long` and of a pointer in bytes.
    pub(crate) long: u32,
}

impl DataModel {
    /// Whether pointers have four bytes.
    pub(crate) fn narrow(self) -> bool {
        self.long == 4
    }
}

/// Integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntKind {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LLong,
    ULLong,
}

impl IntKind {
    /// Size in bytes.
    pub(crate) fn size(self, model: DataModel) -> u32 {
        match self {
            IntKind::Bool | IntKind::Char | IntKind::SChar | IntKind::UChar => 1,
            IntKind::Short | IntKind::UShort => 2,
            IntKind::Int | IntKind::UInt => 4,
            IntKind::Long | IntKind::ULong => model.long,
            IntKind::LLong | IntKind::ULLong => 8,
        }
    }

    /// Whether negative values exist. Plain `char` is signed, as on x86.
    pub(crate) fn signed(self) -> bool {
        use IntKind::*;
        matches!(self, Char | SChar | Short | Int | Long | LLong)
    }

    /// Conversion rank.
    pub(crate) fn rank(self) -> u32 {
        use IntKind::*;
        match self {
            Bool => 0,
            Char | SChar | UChar => 1,
            Short | UShort => 2,
            Int | UInt => 3,
            Long | ULong => 4,
            LLong | ULLong => 5,
        }
    }

    /// The unsigned type of the same rank.
    pub(crate) fn unsigned(self) -> IntKind {
        use IntKind::*;
        match self {
            Char | SChar | UChar => UChar,
            Short | UShort => UShort,
            Int | UInt => UInt,
            Long | ULong => ULong,
            LLong | ULLong => ULLong,
            Bool => Bool,
        }
    }

    fn name(self) -> &'static str {
        match self {
            IntKind::Bool => "_Bool",
            IntKind::Char => "char",
            IntKind::SChar => "signed char",
            IntKind::UChar => "unsigned char",
            IntKind::Short => "short",
            IntKind::UShort => "unsigned short",
            IntKind::Int => "int",
            IntKind::UInt => "unsigned int",
            IntKind::Long => "long",
            IntKind::ULong => "unsigned long",
            IntKind::LLong => "long long",
            IntKind::ULLong => "unsigned long long",
        }
    }
}

/// A type without its qualifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Void,
    Int(IntKind),
    Float(FloatKind),
    /// `__int128`: two numbers of 64 bits in memory.
    Int128 {
        signed: bool,
    },
    Ptr(Rc<QTy>),
    Array(Rc<QTy>, Option<u64>),
    Func(Rc<FuncTy>),
    Record(RecordId),
}

/// A type with its qualifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QTy {
    pub(crate) ty: Ty,
    pub(crate) quals: Quals,
}

/// A function type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FuncTy {
    pub(crate) ret: QTy,
    pub(crate) params: Vec<QTy>,
    pub(crate) variadic: bool,
    /// False for `f()`, which says nothing about its parameters.
    pub(crate) prototype: bool,
}

/// A `struct` or `union` type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecordId(pub(crate) u32);

/// What is known about a record.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) is_union: bool,
    pub(crate) tag: Option<Name>,
    /// `None` until the record is completed.
    pub(crate) fields: Option<Vec<Field>>,
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// The file that it is declared in.
    pub(crate) unit: u32,
}

/// A member.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Option<Name>,
    pub(crate) ty: QTy,
    /// Where it is; for a bit-field, where its unit is.
    pub(crate) offset: u64,
    pub(crate) bits: Option<Bits>,
}

/// Where a bit-field is in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    /// The type of the unit.
    pub(crate) unit: Type,
    /// Its lowest bit.
    pub(crate) shift: u32,
    /// How many bits it has.
    pub(crate) width: u32,
    /// Where the rest of it is, if it is packed so that no unit holds all of it.
    pub(crate) rest: Option<Rest>,
}

/// Where the upper bits of a bit-field are that lies in two units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// How many bytes behind the first unit's start.
    pub(crate) at: u64,
    /// The type of the second unit.
    pub(crate) unit: Type,
    /// Its lowest bit there.
    pub(crate) shift: u32,
}

/// What one unit has of a bit-field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// How many bytes behind the first unit's start.
    pub(crate) at: u64,
    pub(crate) unit: Type,
    /// Which bits of the unit.
    pub(crate) bits: raddle_program::Field,
    /// Which bits of the bit-field they are, from here on.
    pub(crate) from: u8,
}

impl Bits {
    /// The bit-field, unit by unit.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Piece> {
        let field = |shift: u32, width: u32| raddle_program::Field { shift: shift as u8, width: width as u8 };
        let first = self.width.min(self.unit.bits() - self.shift);
        let lower = Piece { at: 0, unit: self.unit, bits: field(self.shift, first), from: 0 };
        let upper = self.rest.map(|rest| {
            let bits = field(rest.shift, self.width - first);
            Piece { at: rest.at, unit: rest.unit, bits, from: first as u8 }
        });
        std::iter::once(lower).chain(upper)
    }
}

impl Ty {
    pub(crate) const INT: Ty = Ty::Int(IntKind::Int);

    /// Without qualifiers.
    pub(crate) fn plain(self) -> QTy {
        QTy { ty: self, quals: Quals::default() }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Ty::Int(_)
                | Ty::Ptr(_)
                | Ty::Float(FloatKind::Float | FloatKind::Double | FloatKind::LongDouble)
                | Ty::Int128 { .. }
        )
    }

    pub(crate) fn int(&self) -> Option<IntKind> {
        if let Ty::Int(kind) = self { Some(*kind) } else { None }
    }

    /// Whether it is an integer, of whatever size.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Ty::Int(_) | Ty::Int128 { .. })
    }

    /// What a pointer points at.
    pub(crate) fn pointee(&self) -> Option<&Rc<QTy>> {
        if let Ty::Ptr(to) = self { Some(to) } else { None }
    }

    pub(crate) fn func(&self) -> Option<&Rc<FuncTy>> {
        if let Ty::Func(func) = self { Some(func) } else { None }
    }
}

impl QTy {
    /// A pointer to this type.
    pub(crate) fn pointer(self) -> Ty {
        Ty::Ptr(Rc::new(self))
    }

    /// The same without qualifiers: the type of a value.
    pub(crate) fn value(&self) -> QTy {
        self.ty.clone().plain()
    }
}

/// All records of a program, and what can be computed from them.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) model: DataModel,
    pub(crate) records: Vec<Record>,
    /// Complete records by their tags, for files that only declare them.
    pub(crate) complete: FxHashMap<Name, RecordId>,
    /// The file that is being checked.
    pub(crate) unit: u32,
}

/// A scalar inside an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) offset: u64,
    pub(crate) ty: Type,
    pub(crate) atomic: bool,
}

impl Types {
    pub(crate) fn new(model: DataModel) -> Self {
        Types { model, records: Vec::new(), complete: FxHashMap::default(), unit: 0 }
    }

    pub(crate) fn record(&self, id: RecordId) -> &Record {
        let record = &self.records[id.0 as usize];
        if record.fields.is_none()
            && let Some(other) = record.tag.as_ref().and_then(|tag| self.complete.get(tag))
        {
            let other = &self.records[other.0 as usize];
            if other.unit != record.unit && other.is_union == record.is_union {
                return other;
            }
        }
        record
    }

    /// A new record, not yet complete.
    pub(crate) fn declare_record(&mut self, is_union: bool, tag: Option<Name>) -> RecordId {
        self.records.push(Record { is_union, tag, fields: None, size: 0, align: 1, unit: self.unit });
        RecordId(self.records.len() as u32 - 1)
    }

    /// The unsigned integer type of `sizeof`.
    pub(crate) fn size_type(&self) -> Ty {
        Ty::Int(if self.model.long == 8 { IntKind::ULong } else { IntKind::UInt })
    }

    /// The type of a difference of pointers.
    pub(crate) fn ptrdiff_type(&self) -> Ty {
        Ty::Int(if self.model.long == 8 { IntKind::Long } else { IntKind::Int })
    }

    /// Size in bytes; `None` for incomplete and function types and for what exceeds [`MAX_OBJECT`].
    pub(crate) fn size(&self, ty: &Ty) -> Option<u64> {
        match ty {
            Ty::Void | Ty::Func(_) | Ty::Array(_, None) => None,
            Ty::Int(kind) => Some(u64::from(kind.size(self.model))),
            Ty::Float(FloatKind::Float) => Some(4),
            Ty::Float(FloatKind::Double) => Some(8),
            Ty::Float(FloatKind::LongDouble) if self.model.narrow() => Some(12),
            Ty::Float(FloatKind::LongDouble | FloatKind::Other) | Ty::Int128 { .. } => Some(16),
            Ty::Ptr(_) => Some(u64::from(self.model.long)),
            Ty::Array(element, Some(n)) => self.size(&element.ty)?.checked_mul(*n).filter(|size| *size <= MAX_OBJECT),
            Ty::Record(id) => {
                let record = self.record(*id);
                record.fields.as_ref().map(|_| record.size)
            }
        }
    }

    /// Alignment in bytes.
    pub(crate) fn align(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Void | Ty::Func(_) => 1,
            Ty::Array(element, _) => self.align(&element.ty),
            Ty::Record(id) => self.record(*id).align,
            other => {
                let size = self.size(other).unwrap_or(1);
                if self.model.narrow() { size.min(4) } else { size }
            }
        }
    }

    /// Alignment in bytes of an object with these qualifiers: atomic objects are aligned to their size.
    pub(crate) fn object_align(&self, ty: &QTy) -> u64 {
        match &ty.ty {
            Ty::Int(_) | Ty::Ptr(_) | Ty::Float(_) if ty.quals.atomic => self.size(&ty.ty).unwrap_or(1),
            Ty::Array(element, _) => self.object_align(element),
            other => self.align(other),
        }
    }

    /// What a compiler likes best; `__alignof__` tells it, `_Alignof` does not.
    pub(crate) fn preferred_align(&self, ty: &QTy) -> u64 {
        match &ty.ty {
            Ty::Int(_) | Ty::Float(FloatKind::Double) => self.size(&ty.ty).unwrap_or(1),
            Ty::Array(element, _) => self.preferred_align(element),
            _ => self.object_align(ty),
        }
    }

    /// The type of the program representation that holds a scalar; `None` for anything that is none.
    pub(crate) fn scalar(&self, ty: &Ty) -> Option<Type> {
        match ty {
            Ty::Int(kind) => Type::int(kind.size(self.model) * 8),
            Ty::Ptr(_) => Some(Type::Ptr),
            Ty::Float(FloatKind::Float) => Some(Type::I32),
            // Of a `long double` the rest is padding.
            Ty::Float(FloatKind::Double | FloatKind::LongDouble) => Some(Type::I64),
            _ => None,
        }
    }

    /// The type by which memory holds a scalar: a pointer of four bytes is a number there.
    pub(crate) fn stored(&self, scalar: Type) -> Type {
        if scalar == Type::Ptr && self.model.narrow() { Type::I32 } else { scalar }
    }

    /// The member with this name, looked for in anonymous members too; its offset is from the start of `id`.
    pub(crate) fn field(&self, id: RecordId, name: &str) -> Option<Field> {
        let fields = self.record(id).fields.as_ref()?;
        for field in fields {
            match &field.name {
                Some(n) if **n == *name => return Some(field.clone()),
                Some(_) => {}
                None => {
                    if let Ty::Record(inner) = field.ty.ty
                        && let Some(mut found) = self.field(inner, name)
                    {
                        found.offset += field.offset;
                        found.ty.quals = union(found.ty.quals, field.ty.quals);
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// The scalars an object of this type consists of, in order of their offsets, at most `limit` of them.
    /// A union is its largest member; bit-fields are their units.
    pub(crate) fn leaves(&self, ty: &QTy, limit: usize) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.collect_leaves(ty, 0, limit, &mut leaves).then_some(leaves)
    }

    fn collect_leaves(&self, ty: &QTy, base: u64, limit: usize, leaves: &mut Vec<Leaf>) -> bool {
        if leaves.len() > limit {
            return false;
        }
        match &ty.ty {
            Ty::Array(element, n) => {
                let size = self.size(&element.ty).unwrap_or(0);
                (0..n.unwrap_or(0)).all(|i| self.collect_leaves(element, base + i * size, limit, leaves))
            }
            Ty::Record(id) => {
                let record = self.record(*id);
                let Some(fields) = &record.fields else { return true };
                if record.is_union {
                    return self.collect_union(fields, base, limit, leaves);
                }
                fields.iter().all(|field| self.collect_field(field, base, limit, leaves))
            }
            Ty::Float(FloatKind::Other) | Ty::Int128 { .. } => {
                let size = self.size(&ty.ty).unwrap_or(0);
                let (part, step) = if size.is_multiple_of(8) { (Type::I64, 8) } else { (Type::I32, 4) };
                (0..size / step).all(|i| self.push_leaf(base + step * i, part, false, leaves))
            }
            other => match self.scalar(other) {
                Some(scalar) => self.push_leaf(base, self.stored(scalar), ty.quals.atomic, leaves),
                None => true,
            },
        }
    }

    /// The scalars of the member that has most bytes of them, then what others have beside: every member survives a copy by parts.
    fn collect_union(&self, fields: &[Field], base: u64, limit: usize, leaves: &mut Vec<Leaf>) -> bool {
        let mut members = Vec::new();
        for field in fields.iter().rev() {
            let mut own = Vec::new();
            if !self.collect_field(field, base, limit, &mut own) {
                return false;
            }
            members.push(own);
        }
        members.sort_by_key(|own| std::cmp::Reverse(own.iter().map(|leaf| leaf.ty.size()).sum::<u32>()));
        let end = members.iter().flatten().map(|leaf| leaf.offset - base + u64::from(leaf.ty.size())).max();
        let mut taken = vec![false; end.unwrap_or(0) as usize];
        for leaf in members.into_iter().flatten() {
            let from = (leaf.offset - base) as usize;
            let bytes = from..from + leaf.ty.size() as usize;
            if !taken[bytes.clone()].contains(&true) {
                taken[bytes].fill(true);
                leaves.push(leaf);
                continue;
            }
            for at in bytes {
                if !std::mem::replace(&mut taken[at], true) {
                    self.push_leaf(base + at as u64, Type::I8, false, leaves);
                }
            }
        }
        true
    }

    fn collect_field(&self, field: &Field, base: u64, limit: usize, leaves: &mut Vec<Leaf>) -> bool {
        match field.bits {
            Some(bits) => bits.pieces().all(|piece| {
                let offset = base + field.offset + piece.at;
                let known = leaves.iter().any(|l| l.offset == offset && l.ty == piece.unit);
                known || self.push_leaf(offset, piece.unit, false, leaves)
            }),
            None => self.collect_leaves(&field.ty, base + field.offset, limit, leaves),
        }
    }

    fn push_leaf(&self, offset: u64, ty: Type, atomic: bool, leaves: &mut Vec<Leaf>) -> bool {
        leaves.push(Leaf { offset, ty, atomic });
        true
    }

    /// Whether two types are the same as far as `_Generic` and assignments care.
    pub(crate) fn compatible(&self, a: &Ty, b: &Ty) -> bool {
        match (a, b) {
            (Ty::Ptr(a), Ty::Ptr(b)) => a.quals == b.quals && self.compatible(&a.ty, &b.ty),
            (Ty::Array(a, n), Ty::Array(b, m)) => {
                (n == m || n.is_none() || m.is_none()) && self.compatible(&a.ty, &b.ty)
            }
            (Ty::Func(a), Ty::Func(b)) => {
                let same_params = a.params.len() == b.params.len()
                    && a.params.iter().zip(&b.params).all(|(x, y)| self.compatible(&x.ty, &y.ty));
                self.compatible(&a.ret.ty, &b.ret.ty) && (same_params || !a.prototype || !b.prototype)
            }
            (Ty::Record(a), Ty::Record(b)) => self.same_record(*a, *b),
            _ => a == b,
        }
    }

    /// Whether two records are one, or one as two files declare it.
    pub(crate) fn same_record(&self, a: RecordId, b: RecordId) -> bool {
        let (one, other) = (self.record(a), self.record(b));
        let alike = one.tag == other.tag && one.is_union == other.is_union && one.size == other.size;
        let fields = |record: &Record| record.fields.as_ref().map(|fields| fields.len());
        a == b || (alike && one.unit != other.unit && fields(one) == fields(other))
    }

    /// The type as C writes it.
    pub(crate) fn show(&self, ty: &QTy) -> String {
        let mut text = String::new();
        for (on, word) in
            [(ty.quals.constant, "const "), (ty.quals.volatile, "volatile "), (ty.quals.atomic, "_Atomic ")]
        {
            if on && !matches!(ty.ty, Ty::Ptr(_)) {
                text.push_str(word);
            }
        }
        match &ty.ty {
            Ty::Void => text.push_str("void"),
            Ty::Int(kind) => text.push_str(kind.name()),
            Ty::Float(FloatKind::Float) => text.push_str("float"),
            Ty::Float(FloatKind::Double) => text.push_str("double"),
            Ty::Float(FloatKind::LongDouble) => text.push_str("long double"),
            Ty::Float(FloatKind::Other) => text.push_str("_Complex"),
            Ty::Int128 { signed: true } => text.push_str("__int128"),
            Ty::Int128 { signed: false } => text.push_str("unsigned __int128"),
            Ty::Ptr(to) => {
                let _ = write!(text, "{} *", self.show(to));
            }
            Ty::Array(element, n) => {
                let n = n.map_or(String::new(), |n| n.to_string());
                let _ = write!(text, "{}[{n}]", self.show(element));
            }
            Ty::Func(func) => {
                let params: Vec<_> = func.params.iter().map(|p| self.show(p)).collect();
                let _ = write!(text, "{} ({})", self.show(&func.ret), params.join(", "));
            }
            Ty::Record(id) => {
                let record = self.record(*id);
                let keyword = if record.is_union { "union" } else { "struct" };
                let _ = write!(text, "{keyword} {}", record.tag.as_deref().unwrap_or("(unnamed)"));
            }
        }
        text
    }
}

/// Both sets of qualifiers.
pub(crate) fn union(a: Quals, b: Quals) -> Quals {
    Quals { constant: a.constant | b.constant, volatile: a.volatile | b.volatile, atomic: a.atomic | b.atomic }
}
