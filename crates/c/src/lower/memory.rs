//! Objects: where they are, reading and writing them, copying and clearing them.

use super::Lowered;
use super::function::{FnLowerer, Home};
use super::value::{binary, convert, offset, pack, resize, settled, unpack};
use super::whole::is_wide;
use crate::ctype::{Bits, IntKind, QTy, Ty};
use crate::parse::Fault;
use crate::tree::{Expr, ExprKind};
use raddle_program::{self as ir, BinOp, ErrorKind, Field, Op, Ordering, Reg, Splice, Term, Type, UnOp, Unwritten};

/// Arrays longer than this are copied and cleared by a loop.
const UNROLL: u64 = 8;

/// Where an object is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In a register.
    Reg(Reg),
    /// A parameter that is known; it can only be read.
    Known(ir::Expr),
    /// In memory.
    Memory { addr: ir::Expr, order: Ordering },
    /// Some bits in memory.
    Bits { addr: ir::Expr, bits: Bits },
}

/// Whether an object is reached by a pointer.
fn behind_pointer(object: &Expr) -> bool {
    match &object.kind {
        ExprKind::Member(base, ..) => behind_pointer(base),
        ExprKind::Var(_) | ExprKind::Literal(..) => false,
        _ => true,
    }
}

impl FnLowerer<'_, '_> {
    /// Where an object is.
    pub(super) fn place(&mut self, object: &Expr) -> Lowered<Place> {
        let order = match object.ty.quals {
            quals if quals.atomic => Ordering::SeqCst,
            quals if quals.volatile && self.nesting == 0 => {
                self.program.plain_volatile |= !self.program.options.volatile_relaxed;
                if self.program.options.volatile_relaxed { Ordering::Relaxed } else { Ordering::NonAtomic }
            }
            _ => Ordering::NonAtomic,
        };
        match &object.kind {
            ExprKind::Var(id) => {
                self.declare(*id)?;
                match self.homes.get(id) {
                    Some(Home::Reg(reg)) => Ok(Place::Reg(*reg)),
                    Some(Home::Known(value)) => Ok(Place::Known(value.clone())),
                    _ => Ok(Place::Memory { addr: self.var_address(*id, object.pos)?, order }),
                }
            }
            ExprKind::Member(base, at, Some(bits)) => {
                let addr = offset(self.address(base)?, *at);
                Ok(Place::Bits { addr, bits: *bits })
            }
            _ => Ok(Place::Memory { addr: self.address(object)?, order }),
        }
    }

    /// The address of an object in memory, or of a struct value.
    pub(super) fn address(&mut self, object: &Expr) -> Lowered<ir::Expr> {
        match &object.kind {
            ExprKind::Var(id) => self.var_address(*id, object.pos),
            ExprKind::Str(id) => Ok(ir::Expr::Global(self.program.string(*id))),
            ExprKind::Func(id) => Ok(ir::Expr::Func(self.program.function_address(*id, object.pos)?)),
            ExprKind::Deref(pointer) => {
                let addr = match self.indexed(pointer)? {
                    Some(addr) => addr,
                    None => self.value(pointer)?,
                };
                Ok(settled(&mut self.b, addr))
            }
            ExprKind::Member(base, at, None) => Ok(offset(self.address(base)?, *at)),
            ExprKind::Member(_, _, Some(_)) => Err(Fault::new(object.pos, "a bit-field has no address")),
            ExprKind::Literal(id, init) => {
                // A scalar literal needs memory only if its address is taken, which is what happens here.
                self.in_memory.insert(*id);
                let addr = self.var_address(*id, object.pos)?;
                if let crate::tree::Storage::Auto = self.program.checker.var(*id).storage {
                    self.initialise(addr.clone(), &object.ty, init)?;
                }
                Ok(addr)
            }
            _ => self.record(object),
        }
    }

    /// The address of an element of an array that is a part of something larger: a member, or a row. Memory knows the bounds of the whole object
    /// only, so those of the array are looked at here.
    fn indexed(&mut self, pointer: &Expr) -> Lowered<Option<ir::Expr>> {
        let ExprKind::PtrAdd { ptr, index, size, minus: false } = &pointer.kind else { return Ok(None) };
        let ExprKind::AddrOf(array) = &ptr.kind else { return Ok(None) };
        let Some(count) = self.inner_bound(array) else { return Ok(None) };
        self.in_order(pointer);
        let base = self.address(array)?;
        let value = self.value(index)?;
        let wide = Ty::Int(IntKind::LLong);
        let mut value = self.converted(value, &index.ty.ty, &wide);
        if !matches!(value, ir::Expr::Const(..) | ir::Expr::Reg(_)) {
            value = self.hold("index", value);
        }
        self.at(pointer.pos);
        let outside = binary(BinOp::ULe, ir::Expr::Const(Type::I64, count), value.clone());
        let message = format!("the index is outside of the array, which has {count} elements");
        self.refuse(outside, ErrorKind::Memory, &message);
        Ok(Some(match self.distance(value, &wide, *size) {
            ir::Expr::Const(_, by) => offset(base, by),
            distance => ir::Expr::binary(BinOp::Add, base, distance),
        }))
    }

    /// How many elements an array has that is a part of something larger. One at the end of a struct behind a pointer may have more than it
    /// says, as was usual before C99.
    fn inner_bound(&self, array: &Expr) -> Option<u64> {
        let Ty::Array(_, Some(count)) = array.ty.ty else { return None };
        let bounded = match &array.kind {
            ExprKind::Deref(_) => true,
            ExprKind::Member(base, at, None) => !behind_pointer(base) || !self.is_last(base, *at, &array.ty),
            _ => false,
        };
        (bounded && count > 0).then_some(count)
    }

    /// Whether no member of the record ends behind this one.
    fn is_last(&self, record: &Expr, at: u64, member: &QTy) -> bool {
        let types = &self.program.checker.types;
        let Ty::Record(id) = record.ty.ty else { return true };
        let end = |offset: u64, ty: &QTy| offset + types.size(&ty.ty).unwrap_or(0);
        let fields = types.record(id).fields.as_deref().unwrap_or(&[]);
        fields.iter().all(|field| end(field.offset, &field.ty) <= end(at, member))
    }

    /// Reads an object of a scalar type.
    pub(super) fn read(&mut self, place: &Place, ty: &QTy, name: &str) -> Lowered<ir::Expr> {
        match place {
            Place::Reg(reg) => Ok(ir::Expr::Reg(*reg)),
            Place::Known(value) => Ok(value.clone()),
            Place::Memory { addr, order } => {
                let scalar = self.scalar(ty)?;
                Ok(self.load(addr.clone(), scalar, *order, name))
            }
            Place::Bits { addr, bits } => {
                let (scalar, signed) = (self.scalar(ty)?, ty.ty.int().is_some_and(IntKind::signed));
                let mut value = None;
                for piece in bits.pieces() {
                    let unit = self.b.reg(name, piece.unit);
                    let (dst, unwritten, order) = (Some(unit), Unwritten::Field(piece.bits), Ordering::NonAtomic);
                    let addr = offset(addr.clone(), piece.at);
                    self.b.push(Op::Load { dst, ty: piece.unit, addr, order, until: None, unwritten });
                    let unit = ir::Expr::Reg(unit);
                    if bits.rest.is_none() {
                        value = Some((unit, piece.unit, bits.shift));
                        break;
                    }
                    let (whole, ..) = value.unwrap_or((ir::Expr::Const(Type::I64, 0), Type::I64, 0));
                    let to = Field { shift: piece.from, width: piece.bits.width };
                    let op = BinOp::Splice(Splice { to, from: piece.bits.shift });
                    value = Some((ir::Expr::binary(op, whole, unit), Type::I64, 0));
                }
                let (unit, unit_ty, shift) = value.expect("there is a first piece");
                // Up against the top, then down again, which brings the sign along.
                let width = unit_ty.bits();
                let up = ir::Expr::Const(unit_ty, u64::from(width - bits.width - shift));
                let down = ir::Expr::Const(unit_ty, u64::from(width - bits.width));
                let raised = binary(BinOp::Shl, unit, up);
                let value = binary(if signed { BinOp::AShr } else { BinOp::LShr }, raised, down);
                Ok(resize(value, unit_ty, scalar, signed))
            }
        }
    }

    /// Writes an object of a scalar type; the value has the object's type already.
    pub(super) fn write(&mut self, place: &Place, ty: &QTy, value: ir::Expr) -> Lowered<()> {
        match place {
            Place::Reg(dst) => self.set(*dst, value),
            Place::Known(_) => return Err(self.fault("a known parameter is not assigned to")),
            Place::Memory { addr, order } => {
                let scalar = self.scalar(ty)?;
                self.store(addr.clone(), scalar, value, *order);
            }
            Place::Bits { addr, bits } => {
                let scalar = self.scalar(ty)?;
                // Of a field in one unit no more is taken of the value than the unit has.
                let wide = if bits.rest.is_some() { Type::I64 } else { bits.unit };
                let value = resize(value, scalar, wide, false);
                for piece in bits.pieces() {
                    let (addr, order) = (offset(addr.clone(), piece.at), Ordering::NonAtomic);
                    let unit = self.load_part(addr.clone(), piece.unit, order, Unwritten::Kept);
                    let op = BinOp::Splice(Splice { to: piece.bits, from: piece.from });
                    let value = ir::Expr::binary(op, unit, value.clone());
                    self.b.push(Op::Store { ty: piece.unit, addr, value, order });
                }
            }
        }
        Ok(())
    }

    /// What an assignment to the place leaves there: for a bit-field, the value cut to its width.
    pub(super) fn stored(&mut self, place: &Place, ty: &QTy, value: ir::Expr) -> Lowered<ir::Expr> {
        let Place::Bits { bits, .. } = place else { return Ok(value) };
        let scalar = self.scalar(ty)?;
        let signed = ty.ty.int().is_some_and(IntKind::signed);
        let by = ir::Expr::Const(scalar, u64::from(scalar.bits().saturating_sub(bits.width)));
        let raised = binary(BinOp::Shl, value, by.clone());
        Ok(binary(if signed { BinOp::AShr } else { BinOp::LShr }, raised, by))
    }

    fn load(&mut self, addr: ir::Expr, scalar: Type, order: Ordering, name: &str) -> ir::Expr {
        let ty = self.stored_as(scalar);
        let dst = self.b.reg(name, ty);
        self.b.push(Op::Load { dst: Some(dst), ty, addr, order, until: None, unwritten: Unwritten::Error });
        self.as_value(scalar, ir::Expr::Reg(dst))
    }

    /// Reads a part of something that is moved as a whole, and of which C does not ask that every part has a value. What is [kept](Unwritten::Kept) must
    /// be moved as it is, to memory or to another function.
    pub(super) fn load_part(&mut self, addr: ir::Expr, ty: Type, order: Ordering, unwritten: Unwritten) -> ir::Expr {
        let dst = self.b.reg("part", ty);
        self.b.push(Op::Load { dst: Some(dst), ty, addr, order, until: None, unwritten });
        ir::Expr::Reg(dst)
    }

    pub(super) fn store(&mut self, addr: ir::Expr, scalar: Type, value: ir::Expr, order: Ordering) {
        let (ty, value) = (self.stored_as(scalar), self.as_stored(scalar, value));
        self.b.push(Op::Store { ty, addr, value, order });
    }

    /// The type by which memory holds such a scalar.
    pub(super) fn stored_as(&self, scalar: Type) -> Type {
        self.program.checker.types.stored(scalar)
    }

    /// A scalar as memory holds it.
    pub(super) fn as_stored(&self, scalar: Type, value: ir::Expr) -> ir::Expr {
        if self.stored_as(scalar) == scalar { value } else { pack(value) }
    }

    /// A scalar that memory holds like this.
    pub(super) fn as_value(&self, scalar: Type, value: ir::Expr) -> ir::Expr {
        if self.stored_as(scalar) == scalar { value } else { unpack(value) }
    }

    pub(super) fn scalar(&self, ty: &QTy) -> Lowered<Type> {
        self.program.checker.types.scalar(&ty.ty).ok_or_else(|| {
            let shown = self.program.checker.types.show(ty);
            self.fault(format!("`{shown}` is not a scalar"))
        })
    }

    /// Copies an object scalar by scalar.
    pub(super) fn copy(&mut self, to: ir::Expr, from: ir::Expr, ty: &QTy) -> Lowered<()> {
        let (to, from) = (settled(&mut self.b, to), settled(&mut self.b, from));
        match &ty.ty {
            Ty::Array(element, Some(n)) if *n > UNROLL => {
                let size = self.program.checker.types.size(&element.ty).unwrap_or(1);
                let element = element.clone();
                self.counted(ir::Expr::Const(Type::I64, *n), |f, index| {
                    let distance = binary(BinOp::Mul, index, ir::Expr::Const(Type::I64, size));
                    let (to, from) = (
                        ir::Expr::binary(BinOp::Add, to, distance.clone()),
                        ir::Expr::binary(BinOp::Add, from, distance),
                    );
                    f.copy(to, from, &element)
                })
            }
            Ty::Array(element, Some(n)) => {
                let size = self.program.checker.types.size(&element.ty).unwrap_or(1);
                for index in 0..*n {
                    self.copy(offset(to.clone(), index * size), offset(from.clone(), index * size), element)?;
                }
                Ok(())
            }
            Ty::Record(id) if !self.program.checker.types.record(*id).is_union => {
                let fields = self.program.checker.types.record(*id).fields.clone().unwrap_or_default();
                let mut units = Vec::new();
                for field in &fields {
                    let (to, from) = (offset(to.clone(), field.offset), offset(from.clone(), field.offset));
                    match field.bits {
                        Some(bits) => {
                            for piece in bits.pieces() {
                                let unit = (field.offset + piece.at, piece.unit);
                                if !units.contains(&unit) {
                                    units.push(unit);
                                    let at = |start: &ir::Expr| offset(start.clone(), piece.at);
                                    self.move_scalar(at(&to), at(&from), piece.unit, Ordering::NonAtomic);
                                }
                            }
                        }
                        None => self.copy(to, from, &field.ty)?,
                    }
                }
                Ok(())
            }
            _ => {
                let Some(leaves) = self.program.checker.types.leaves(ty, 1 << 16) else {
                    let shown = self.program.checker.types.show(ty);
                    return Err(self.fault(format!("a `{shown}` is too large to be copied")));
                };
                for leaf in leaves {
                    let order = if leaf.atomic { Ordering::SeqCst } else { Ordering::NonAtomic };
                    let (to, from) = (offset(to.clone(), leaf.offset), offset(from.clone(), leaf.offset));
                    self.move_scalar(to, from, leaf.ty, order);
                }
                Ok(())
            }
        }
    }

    fn move_scalar(&mut self, to: ir::Expr, from: ir::Expr, ty: Type, order: Ordering) {
        let value = self.load_part(from, ty, order, Unwritten::Kept);
        self.b.push(Op::Store { ty, addr: to, value, order });
    }

    /// Sets every byte of an object, scalar by scalar.
    pub(super) fn fill(&mut self, to: ir::Expr, ty: &QTy, byte: &ir::Expr) -> Lowered<()> {
        let to = settled(&mut self.b, to);
        match &ty.ty {
            Ty::Array(element, Some(n)) if *n > UNROLL => {
                let size = self.program.checker.types.size(&element.ty).unwrap_or(1);
                let (element, byte) = (element.clone(), byte.clone());
                self.counted(ir::Expr::Const(Type::I64, *n), |f, index| {
                    let distance = binary(BinOp::Mul, index, ir::Expr::Const(Type::I64, size));
                    f.fill(ir::Expr::binary(BinOp::Add, to, distance), &element, &byte)
                })
            }
            Ty::Array(element, Some(n)) => {
                let size = self.program.checker.types.size(&element.ty).unwrap_or(1);
                (0..*n).try_for_each(|index| self.fill(offset(to.clone(), index * size), element, byte))
            }
            Ty::Record(id) if !self.program.checker.types.record(*id).is_union => {
                let fields = self.program.checker.types.record(*id).fields.clone().unwrap_or_default();
                let mut units = Vec::new();
                for field in &fields {
                    let to = offset(to.clone(), field.offset);
                    match field.bits {
                        Some(bits) => {
                            for piece in bits.pieces() {
                                let unit = (field.offset + piece.at, piece.unit);
                                if !units.contains(&unit) {
                                    units.push(unit);
                                    let at = |start: &ir::Expr| offset(start.clone(), piece.at);
                                    self.fill_scalar(at(&to), piece.unit, byte, Ordering::NonAtomic);
                                }
                            }
                        }
                        None => self.fill(to, &field.ty, byte)?,
                    }
                }
                Ok(())
            }
            _ => {
                let Some(leaves) = self.program.checker.types.leaves(ty, 1 << 16) else {
                    let shown = self.program.checker.types.show(ty);
                    return Err(self.fault(format!("a `{shown}` is too large to be filled")));
                };
                for leaf in leaves {
                    // A fresh object has no readers yet; clearing an atomic is not an atomic operation.
                    self.fill_scalar(offset(to.clone(), leaf.offset), leaf.ty, byte, Ordering::NonAtomic);
                }
                Ok(())
            }
        }
    }

    /// Stores a value all of whose bytes are `byte` (an `i8`).
    fn fill_scalar(&mut self, to: ir::Expr, ty: Type, byte: &ir::Expr, order: Ordering) {
        let wide = resize(byte.clone(), Type::I8, Type::I64, false);
        let repeated = binary(BinOp::Mul, wide, ir::Expr::Const(Type::I64, 0x0101_0101_0101_0101));
        let value = resize(repeated, Type::I64, ty, false);
        self.b.push(Op::Store { ty, addr: to, value, order });
    }

    /// Gives the bytes between the members of an object a value, as `memset` does and an assignment does not.
    pub(super) fn fill_padding(&mut self, to: ir::Expr, ty: &QTy, byte: &ir::Expr) {
        let types = &self.program.checker.types;
        let (Some(size), Some(leaves)) = (types.size(&ty.ty), types.leaves(ty, 1 << 16)) else { return };
        let mut end = 0;
        let mut gaps = Vec::new();
        for leaf in &leaves {
            gaps.extend(end..leaf.offset);
            end = end.max(leaf.offset + u64::from(leaf.ty.size()));
        }
        for at in gaps.into_iter().chain(end..size) {
            self.fill_scalar(offset(to.clone(), at), Type::I8, byte, Ordering::NonAtomic);
        }
    }

    /// Runs `body` for each index below `count` (an `i64`), which is computed once.
    pub(super) fn counted(
        &mut self,
        count: ir::Expr,
        body: impl FnOnce(&mut Self, ir::Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        let index = self.b.reg("index", Type::I64);
        self.b.push(Op::Assign { dst: index, value: ir::Expr::Const(Type::I64, 0) });
        let count = settled(&mut self.b, count);
        let (head, turn, done) = (self.b.block(), self.b.block(), self.b.block());
        self.b.terminate(Term::Goto(head));
        self.b.switch_to(head);
        let more = ir::Expr::binary(BinOp::ULt, ir::Expr::Reg(index), count);
        self.b.terminate(Term::If(more, turn, done));
        self.b.switch_to(turn);
        self.b.begin_turn(true);
        body(self, ir::Expr::Reg(index))?;
        let next = ir::Expr::binary(BinOp::Add, ir::Expr::Reg(index), ir::Expr::Const(Type::I64, 1));
        self.b.push(Op::Assign { dst: index, value: next });
        self.b.terminate(Term::Goto(head));
        self.b.switch_to(done);
        Ok(())
    }

    /// Gives an object in memory its first value.
    pub(super) fn initialise(&mut self, addr: ir::Expr, ty: &QTy, init: &crate::tree::Init) -> Lowered<()> {
        use crate::tree::Init;
        if ty.quals.atomic
            && is_wide(&ty.ty)
            && let Some(layout) = self.program.layout(&ty.value(), 0)
        {
            // In the parts in which it is accessed later.
            let object = ir::Expr::Local(self.b.local("initial", layout));
            self.initialise(object.clone(), &ty.value(), init)?;
            return self.whole_copy(&addr, &object, ty);
        }
        match init {
            Init::Value(value) if is_wide(&ty.ty) => {
                let from = self.record(value)?;
                self.copy(addr, from, ty)
            }
            Init::Value(value) => {
                let value = self.value(value)?;
                // The first value of an atomic object is not an atomic operation.
                let place = Place::Memory { addr, order: Ordering::NonAtomic };
                self.write(&place, ty, value)
            }
            Init::Parts(parts) => {
                let size = self.program.checker.types.size(&ty.ty).unwrap_or(0);
                if !self.covered(ty, size, parts) {
                    self.fill(addr.clone(), ty, &ir::Expr::Const(Type::I8, 0))?;
                }
                for part in parts {
                    let to = offset(addr.clone(), part.offset);
                    if is_wide(&part.ty.ty) {
                        let from = self.record(&part.value)?;
                        self.copy(to, from, &part.ty)?;
                        continue;
                    }
                    let value = self.value(&part.value)?;
                    let place = match part.bits {
                        Some(bits) => Place::Bits { addr: to, bits },
                        None => Place::Memory { addr: to, order: Ordering::NonAtomic },
                    };
                    self.write(&place, &part.ty, value)?;
                }
                Ok(())
            }
        }
    }

    /// Whether the parts mention every scalar of the object, so that nothing has to be cleared.
    fn covered(&self, ty: &QTy, size: u64, parts: &[crate::tree::InitPart]) -> bool {
        if parts.iter().any(|part| part.bits.is_some()) || size > 4096 {
            return false;
        }
        let Some(leaves) = self.program.checker.types.leaves(ty, 512) else { return false };
        leaves.iter().all(|leaf| {
            parts.iter().any(|part| {
                let size = self.program.checker.types.size(&part.ty.ty).unwrap_or(0);
                part.offset <= leaf.offset && leaf.offset + u64::from(leaf.ty.size()) <= part.offset + size
            })
        })
    }

    /// The address of a struct value: of the object itself where there is one, else of a temporary.
    pub(super) fn record(&mut self, value: &Expr) -> Lowered<ir::Expr> {
        if Self::is_computed(value) {
            return self.wide_object(value);
        }
        self.in_order(value);
        match &value.kind {
            ExprKind::Load(object) => {
                if object.ty.quals.atomic {
                    self.whole_load(object, Ordering::SeqCst, value)
                } else {
                    self.address(object)
                }
            }
            ExprKind::Convert(inner) => self.record(inner),
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.record(b)
            }
            ExprKind::Assign(target, source) => {
                if target.ty.quals.atomic {
                    return self.whole_store(target, source, Ordering::SeqCst, value);
                }
                let first = if self.goes_from_right() { Some(self.address(target)?) } else { None };
                let from = self.record(source)?;
                let to = first.map_or_else(|| self.address(target), Ok)?;
                let to = settled(&mut self.b, to);
                self.at(value.pos);
                self.copy(to.clone(), from, &source.ty)?;
                Ok(to)
            }
            ExprKind::Cond(cond, Some(then), otherwise) => {
                let dst = self.b.reg("struct", Type::Ptr);
                let (yes, no, done) = (self.b.block(), self.b.block(), self.b.block());
                self.branch(cond, yes, no)?;
                for (block, side) in [(yes, then), (no, otherwise)] {
                    self.b.switch_to(block);
                    let value = self.record(side)?;
                    self.b.push(Op::Assign { dst, value });
                    self.b.terminate(Term::Goto(done));
                }
                self.b.switch_to(done);
                Ok(ir::Expr::Reg(dst))
            }
            ExprKind::StmtExpr(stmts, Some(last)) => {
                self.stmts(stmts)?;
                self.record(last)
            }
            ExprKind::Call(callee, args) => {
                let layout = self.program.layout(&value.ty, 0);
                let Some(layout) = layout else {
                    return Err(Fault::new(value.pos, "a call that returns an incomplete type"));
                };
                let temporary = ir::Expr::Local(self.b.local("returned", layout));
                self.call(value, callee, args, Some(temporary.clone()))?;
                Ok(temporary)
            }
            ExprKind::Var(_) | ExprKind::Deref(_) | ExprKind::Member(..) | ExprKind::Literal(..) => self.address(value),
            ExprKind::Builtin(builtin, args) => self.whole_builtin(value, builtin, args),
            _ => Err(Fault::new(value.pos, "this struct value is not supported")),
        }
    }

    /// Converts a value between C types.
    pub(super) fn converted(&self, value: ir::Expr, from: &Ty, to: &Ty) -> ir::Expr {
        convert(&self.program.checker.types, value, from, to)
    }

    /// The complement of a value.
    pub(super) fn complement(value: ir::Expr) -> ir::Expr {
        match value {
            ir::Expr::Const(ty, bits) => ir::Expr::Const(ty, UnOp::Not.apply(ty, bits)),
            other => ir::Expr::unary(UnOp::Not, other),
        }
    }
}
