//! Which type do specifiers and declarators spell?

use super::{Checked, Checker, Symbol, Tag};
use crate::ctype::{FuncTy, IntKind, QTy, RecordId, Ty, union};
use crate::layout::{Proto, complete, width_fits};
use crate::parse::Fault;
use crate::syntax::{
    AlignSpec, Attrs, Declarator, Derived, EnumSpec, FloatKind, Member, Quals, RecordSpec, Specs, TypeName, TypeSpec,
};
use crate::tree::Constant;
use std::rc::Rc;

/// The tag of vector types, whose values are only copied.
pub(super) const VECTOR: &str = "(vector)";

/// The alignment `aligned` means without an argument.
const MAX_ALIGN: u64 = 16;

impl Checker {
    pub(super) fn type_name(&mut self, name: &TypeName) -> Checked<QTy> {
        let base = self.specs(&name.specs)?;
        self.declarator(&name.declarator, base)
    }

    /// The type specifiers spell; this is where records and enumerations come into being.
    pub(super) fn specs(&mut self, specs: &Specs) -> Checked<QTy> {
        self.check_attrs(&specs.attrs)?;
        let mut ty = match &specs.base {
            TypeSpec::Void => Ty::Void.plain(),
            TypeSpec::Bool => Ty::Int(IntKind::Bool).plain(),
            TypeSpec::Char(None) => Ty::Int(IntKind::Char).plain(),
            TypeSpec::Char(Some(false)) => Ty::Int(IntKind::SChar).plain(),
            TypeSpec::Char(Some(true)) => Ty::Int(IntKind::UChar).plain(),
            TypeSpec::Int { unsigned, longs } => Ty::Int(match (longs, unsigned) {
                (-1, false) => IntKind::Short,
                (-1, true) => IntKind::UShort,
                (0, false) => IntKind::Int,
                (0, true) => IntKind::UInt,
                (1, false) => IntKind::Long,
                (1, true) => IntKind::ULong,
                (_, false) => IntKind::LLong,
                (_, true) => IntKind::ULLong,
            })
            .plain(),
            TypeSpec::Float(kind) => Ty::Float(*kind).plain(),
            TypeSpec::Int128 { unsigned } => Ty::Int128 { signed: !unsigned }.plain(),
            // Arguments beyond the parameters stand side by side in slots of 64 bits; this points to the next.
            TypeSpec::VaList => Ty::Int(IntKind::ULLong).plain().pointer().plain(),
            TypeSpec::Record(record) => Ty::Record(self.record(record)?).plain(),
            TypeSpec::Enum(spec) => Ty::Int(self.enumeration(spec)?).plain(),
            TypeSpec::Typedef(name) => match self.lookup(name) {
                Some(Symbol::Typedef(ty)) => ty.clone(),
                _ => return Err(Fault::new(specs.pos, format!("`{name}` is not a type here"))),
            },
            TypeSpec::TypeofExpr(expr) => self.expr(expr)?.ty,
            TypeSpec::TypeofType(name) => self.type_name(name)?,
            TypeSpec::Atomic(name) => {
                let mut inner = self.type_name(name)?;
                inner.quals.atomic = true;
                inner
            }
            TypeSpec::Auto => {
                return Err(Fault::new(specs.pos, "`__auto_type` needs an initialiser that is an expression"));
            }
        };
        ty.quals = union(ty.quals, specs.quals);
        self.reshaped(ty, &specs.attrs)
    }

    /// A type with the attributes that make another one of it.
    fn reshaped(&mut self, ty: QTy, attrs: &Attrs) -> Checked<QTy> {
        let Some(attrs) = &attrs.rare else { return Ok(ty) };
        if let Some((count, elements)) = &attrs.vector {
            let element = self.types.size(&ty.ty).unwrap_or(1);
            let size = self.constant_int(count)?.saturating_mul(if *elements { element } else { 1 });
            if !size.is_power_of_two() || size > 1 << 12 {
                return Err(Fault::new(count.pos, "the size of a vector is a power of two"));
            }
            // Vectors can be kept and copied; nothing is computed with them.
            let id = self.types.declare_record(false, Some(VECTOR.into()));
            let record = &mut self.types.records[id.0 as usize];
            (record.fields, record.size, record.align) = (Some(Vec::new()), size, size);
            return Ok(QTy { ty: Ty::Record(id), quals: ty.quals });
        }
        let Some((mode, pos)) = &attrs.mode else { return Ok(ty) };
        let resized = match (&ty.ty, mode.trim_matches('_')) {
            (Ty::Int(kind), name) => {
                let sizes = match name {
                    "QI" | "byte" => Some((IntKind::SChar, IntKind::UChar)),
                    "HI" => Some((IntKind::Short, IntKind::UShort)),
                    "SI" => Some((IntKind::Int, IntKind::UInt)),
                    "DI" => Some((IntKind::LLong, IntKind::ULLong)),
                    "word" | "pointer" => Some((IntKind::Long, IntKind::ULong)),
                    _ => None,
                };
                match sizes {
                    Some((signed, unsigned)) => Some(Ty::Int(if kind.signed() { signed } else { unsigned })),
                    None => (name == "TI").then_some(Ty::Int128 { signed: kind.signed() }),
                }
            }
            (Ty::Float(_), "SF") => Some(Ty::Float(FloatKind::Float)),
            (Ty::Float(_), "DF") => Some(Ty::Float(FloatKind::Double)),
            (Ty::Float(_), "XF" | "TF" | "KF" | "IF" | "HF" | "BF" | "SC" | "DC" | "XC" | "TC" | "KC" | "IC") => {
                Some(Ty::Float(FloatKind::Other))
            }
            _ => None,
        };
        match resized {
            Some(resized) => Ok(QTy { ty: resized, quals: ty.quals }),
            None => Err(Fault::new(*pos, format!("the mode `{mode}` of this type is not supported"))),
        }
    }

    /// The type of the declarator's name, given what stands before it.
    pub(super) fn declarator(&mut self, declarator: &Declarator, base: QTy) -> Checked<QTy> {
        self.check_attrs(&declarator.attrs)?;
        let ty = self.derive(declarator, base, false)?;
        self.reshaped(ty, &declarator.attrs)
    }

    fn derive(&mut self, declarator: &Declarator, base: QTy, param: bool) -> Checked<QTy> {
        let mut ty = base;
        for (index, step) in declarator.derived.iter().enumerate().rev() {
            ty = match step {
                Derived::Pointer(quals) => QTy { ty: ty.pointer(), quals: *quals },
                Derived::Array(size, pos) => {
                    if matches!(ty.ty, Ty::Func(_) | Ty::Void) || self.types.size(&ty.ty).is_none() {
                        let shown = self.types.show(&ty);
                        return Err(Fault::new(*pos, format!("an array of elements of the incomplete type `{shown}`")));
                    }
                    // The size of a parameter's outermost dimension does not matter.
                    let n = match size {
                        Some(size) if !(param && index == 0) => self.array_size(size, index == 0)?,
                        _ => None,
                    };
                    let quals = Quals { atomic: false, ..ty.quals };
                    let array = Ty::Array(Rc::new(ty), n);
                    if n.is_some() && self.types.size(&array).is_none() {
                        return Err(Fault::new(*pos, "this array is too large"));
                    }
                    QTy { ty: array, quals }
                }
                Derived::Function { params, variadic, prototype } => {
                    if matches!(ty.ty, Ty::Func(_) | Ty::Array(..)) {
                        return Err(Fault::new(declarator.pos, "a function cannot return a function or an array"));
                    }
                    let mut types = Vec::new();
                    self.scopes.push(super::Scope::default());
                    for param in params {
                        let result = self.param_type(&param.specs, &param.declarator);
                        if result.is_err() {
                            self.scopes.pop();
                        }
                        types.push(result?);
                    }
                    self.scopes.pop();
                    let func = FuncTy { ret: ty, params: types, variadic: *variadic, prototype: *prototype };
                    Ty::Func(Rc::new(func)).plain()
                }
            };
        }
        Ok(ty)
    }

    /// The type of a parameter: arrays and functions become pointers.
    pub(super) fn param_type(&mut self, specs: &Specs, declarator: &Declarator) -> Checked<QTy> {
        let base = self.specs(specs)?;
        self.check_attrs(&declarator.attrs)?;
        let ty = self.derive(declarator, base, true)?;
        if ty.ty == Ty::Void {
            return Err(Fault::new(declarator.pos, "a parameter cannot be `void`"));
        }
        Ok(adjust(ty))
    }

    /// How many elements an array has; `None` for a variable length where one is allowed.
    fn array_size(&mut self, size: &crate::syntax::Expr, outermost: bool) -> Checked<Option<u64>> {
        let mut open = self.open_length.take();
        let value = self.rvalue_of(size)?;
        let Some(kind) = value.ty.ty.int() else {
            return Err(Fault::new(size.pos, "the size of an array must be an integer"));
        };
        match self.evaluate(&value) {
            Ok(Constant::Int(n)) => {
                let signed = truncate_signed(n, kind, self);
                if signed < 0 && kind.signed() {
                    return Err(Fault::new(size.pos, "the size of an array is negative"));
                }
                self.open_length = open;
                Ok(Some(n))
            }
            _ if outermost && let Some(length) = &mut open => {
                *length = Some(value);
                self.open_length = open;
                Ok(None)
            }
            _ => Err(Fault::new(size.pos, "an array of variable length is not supported here")
                .label("not a constant")
                .help("give the array a constant size, or allocate it with malloc")),
        }
    }

    fn record(&mut self, spec: &RecordSpec) -> Checked<RecordId> {
        self.check_attrs(&spec.attrs)?;
        let known = spec.tag.as_ref().and_then(|tag| {
            if spec.members.is_some() { self.scope().tags.get(tag).copied() } else { self.lookup_tag(tag) }
        });
        let id = match known {
            Some(Tag::Record(id, is_union)) if is_union == spec.is_union => id,
            Some(_) => return Err(Fault::new(spec.pos, "this tag stands for another kind of type")),
            None => {
                let id = self.types.declare_record(spec.is_union, spec.tag.clone());
                if let Some(tag) = &spec.tag {
                    self.scope().tags.insert(tag.clone(), Tag::Record(id, spec.is_union));
                }
                id
            }
        };
        let Some(members) = &spec.members else { return Ok(id) };
        if self.types.records[id.0 as usize].fields.is_some() {
            return Err(Fault::new(spec.pos, "this record is defined twice"));
        }
        let mut protos = Vec::new();
        for (index, member) in members.iter().enumerate() {
            match member {
                Member::StaticAssert(assertion) => self.static_assert(assertion)?,
                Member::Fields { specs, declarators } => {
                    self.members(specs, declarators, index + 1 == members.len(), &mut protos)?;
                }
            }
        }
        let align = self.alignment(&[], &spec.attrs)?;
        let pack = self.packs.partition_point(|&(from, _)| from <= spec.pos.0).checked_sub(1);
        let pack = pack.map(|at| self.packs[at].1).filter(|&pack| pack > 0);
        protos.iter_mut().for_each(|proto| proto.packed |= spec.attrs.packed);
        if !complete(&mut self.types, id, protos, pack, align) {
            return Err(Fault::new(spec.pos, "this record is too large"));
        }
        if let Some(tag) = spec.tag.as_ref().filter(|_| self.at_file_scope()) {
            self.types.complete.insert(tag.clone(), id);
        }
        Ok(id)
    }

    fn members(
        &mut self,
        specs: &Specs,
        declarators: &[(Declarator, Option<crate::syntax::Expr>)],
        last: bool,
        protos: &mut Vec<Proto>,
    ) -> Checked<()> {
        let base = self.specs(specs)?;
        let specs_align = self.alignment(&specs.align, &specs.attrs)?;
        if declarators.is_empty() {
            // An anonymous member; a tagged one only declares the type.
            let anonymous = matches!(&specs.base, TypeSpec::Record(r) if r.tag.is_none());
            if anonymous {
                protos.push(Proto { name: None, ty: base, width: None, align: specs_align, packed: false });
            }
            return Ok(());
        }
        for (index, (declarator, width)) in declarators.iter().enumerate() {
            let ty = self.declarator(declarator, base.clone())?;
            let align = specs_align.max(self.alignment(&[], &declarator.attrs)?);
            let packed = declarator.attrs.packed || specs.attrs.packed;
            let width = match width {
                None => None,
                Some(expr) => {
                    let width = self.constant_int(expr)?;
                    let named_zero = width == 0 && declarator.name.is_some();
                    if named_zero || !width_fits(&self.types, &ty.ty, width) {
                        return Err(Fault::new(expr.pos, "a bit-field cannot have this width"));
                    }
                    if ty.quals.atomic {
                        return Err(Fault::new(expr.pos, "an atomic bit-field is not supported"));
                    }
                    Some(width as u32)
                }
            };
            let flexible = matches!(ty.ty, Ty::Array(_, None)) && last && index + 1 == declarators.len();
            if width.is_none() && !flexible && self.types.size(&ty.ty).is_none() {
                let shown = self.types.show(&ty);
                return Err(Fault::new(declarator.pos, format!("a member of the incomplete type `{shown}`")));
            }
            if let Some(name) = &declarator.name
                && protos.iter().any(|p| p.name.as_ref() == Some(name))
            {
                return Err(Fault::new(declarator.pos, format!("two members are called `{name}`")));
            }
            protos.push(Proto { name: declarator.name.clone(), ty, width, align, packed });
        }
        Ok(())
    }

    fn enumeration(&mut self, spec: &EnumSpec) -> Checked<IntKind> {
        let Some(values) = &spec.values else {
            let tag = spec.tag.as_ref().and_then(|tag| self.lookup_tag(tag));
            return match tag {
                Some(Tag::Enum(kind)) => Ok(kind),
                Some(Tag::Record(..)) => Err(Fault::new(spec.pos, "this tag stands for another kind of type")),
                // Declared before it is defined, as GNU allows.
                None => Ok(IntKind::UInt),
            };
        };
        let mut next = 0i64;
        let (mut negative, mut wide, mut least, mut most) = (false, false, 0i64, 0i64);
        for (name, pos, value) in values {
            if let Some(expr) = value {
                let value = self.rvalue_of(expr)?;
                let (Some(kind), Ok(Constant::Int(bits))) = (value.ty.ty.int(), self.evaluate(&value)) else {
                    return Err(Fault::new(expr.pos, "the value of an enumerator must be an integer constant"));
                };
                next = truncate_signed(bits, kind, self);
            }
            let kind = if i32::try_from(next).is_ok() { IntKind::Int } else { IntKind::Long };
            negative |= next < 0;
            (least, most) = (least.min(next), most.max(next));
            wide |= kind == IntKind::Long && u32::try_from(next).is_err();
            let bits = super::truncate(&self.types, &Ty::Int(kind), next as u64);
            if self.scope().symbols.insert(name.clone(), Symbol::Enumerator(bits, kind)).is_some() {
                return Err(Fault::new(*pos, format!("`{name}` is declared twice")));
            }
            next = next.wrapping_add(1);
        }
        let kind = match (wide, negative) {
            // The smallest type that holds them all.
            (false, _) if spec.packed => match (least, most) {
                (0.., ..=255) => IntKind::UChar,
                (-128.., ..=127) => IntKind::SChar,
                (0.., ..=65535) => IntKind::UShort,
                (-32768.., ..=32767) => IntKind::Short,
                (0.., _) => IntKind::UInt,
                _ => IntKind::Int,
            },
            (false, false) => IntKind::UInt,
            (false, true) => IntKind::Int,
            (true, false) => IntKind::ULong,
            (true, true) => IntKind::Long,
        };
        if let Some(tag) = &spec.tag {
            self.scope().tags.insert(tag.clone(), Tag::Enum(kind));
        }
        Ok(kind)
    }

    /// The alignment that `_Alignas` and attributes ask for; 0 if they ask for none.
    pub(super) fn alignment(&mut self, specs: &[AlignSpec], attrs: &Attrs) -> Checked<u64> {
        let mut align = 0;
        let check = |align: u64, pos| {
            let right = align == 0 || (align.is_power_of_two() && align <= 1 << 16);
            if right { Ok(align) } else { Err(Fault::new(pos, "an alignment must be a power of two up to 65536")) }
        };
        for spec in specs {
            align = align.max(match spec {
                AlignSpec::Type(name) => {
                    let ty = self.type_name(name)?;
                    self.types.align(&ty.ty)
                }
                AlignSpec::Expr(expr) => check(self.constant_int(expr)?, expr.pos)?,
            });
        }
        for aligned in &attrs.aligned {
            align = align.max(match aligned {
                None => MAX_ALIGN,
                Some(expr) => check(self.constant_int(expr)?, expr.pos)?,
            });
        }
        Ok(align)
    }

    pub(super) fn check_attrs(&self, attrs: &Attrs) -> Checked<()> {
        match &attrs.unsupported {
            // Functions that the system's headers declare with the others are refused where they are called.
            Some((name, pos))
                if !self.at_file_scope()
                    || self.function.is_some()
                    || matches!(name.trim_matches('_'), "scalar_storage_order" | "ms_struct") =>
            {
                Err(Fault::new(*pos, format!("the attribute `{name}` is not supported")))
            }
            _ => Ok(()),
        }
    }

    /// The value of an integer constant expression.
    pub(super) fn constant_int(&mut self, expr: &crate::syntax::Expr) -> Checked<u64> {
        let value = self.rvalue_of(expr)?;
        match (value.ty.ty.int(), self.evaluate(&value)) {
            (Some(_), Ok(Constant::Int(bits))) => Ok(bits),
            _ => Err(Fault::new(expr.pos, "an integer constant is needed here").label("not a constant")),
        }
    }
}

/// What a parameter of this type really is.
pub(super) fn adjust(ty: QTy) -> QTy {
    match ty.ty {
        Ty::Array(element, _) => QTy { ty: Ty::Ptr(element), quals: Quals::default() },
        Ty::Func(_) => ty.pointer().plain(),
        _ => ty,
    }
}

/// The bits of an integer of this kind as a number.
fn truncate_signed(bits: u64, kind: IntKind, checker: &Checker) -> i64 {
    let shift = 64 - 8 * kind.size(checker.types.model);
    if kind.signed() { ((bits << shift) as i64) >> shift } else { bits as i64 }
}
