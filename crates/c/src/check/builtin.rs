//! Which calls are operations of the compiler or the verifier rather than calls?
//!
//! `__atomic_*`, `__sync_*` and `__builtin_*` are generic in the type of what their argument points at, so they
//! cannot be functions. `__VERIFIER_*` and friends are known without a declaration, because programs written for
//! verifiers often have none. A function the program defines itself is called and not replaced, except
//! `reach_error` and `__VERIFIER_error`, which mean a violation whatever their body says.

use super::{Checked, Checker, Symbol};
use crate::ctype::{IntKind, Ty};
use crate::float::{self, Math};
use crate::parse::Fault;
use crate::syntax::{self, BinaryOp, FloatKind};
use crate::token::{Name, Pos};
use crate::tree::{Builtin, Expr, ExprKind, Order, RmwKind};
use raddle_program::{FloatBin, FloatUn, Ordering};

impl Checker {
    /// The operation, if the name stands for one; `None` for an ordinary call.
    pub(super) fn builtin_call(&mut self, name: &Name, args: &[syntax::Expr], pos: Pos) -> Checked<Option<Expr>> {
        match self.lookup(name) {
            Some(Symbol::Func(id)) => {
                let defined = self.func(*id).def.is_some();
                if defined && !matches!(&**name, "reach_error" | "__VERIFIER_error") {
                    return Ok(None);
                }
            }
            Some(_) => return Ok(None),
            None => {}
        }
        if let Some(rest) = name.strip_prefix("__atomic_") {
            return self.atomic_builtin(name, rest, args, pos).map(Some);
        }
        if let Some(rest) = name.strip_prefix("__c11_atomic_") {
            return self.c11_builtin(name, rest, args, pos).map(Some);
        }
        if let Some(rest) = name.strip_prefix("__sync_") {
            return self.sync_builtin(name, rest, args, pos).map(Some);
        }
        if let Some(rest) = name.strip_prefix("__VERIFIER_nondet_") {
            return self.nondet(rest, pos).map(Some);
        }
        if let Some(result) = self.verifier_builtin(name, args, pos)? {
            return Ok(Some(result));
        }
        let rest = name.strip_prefix("__builtin_");
        if let Some((math, kind)) = float::function(rest.unwrap_or(name))
            && (rest.is_some() || self.lookup(name).is_some())
        {
            return self.math(name, math, kind, args, pos).map(Some);
        }
        if matches!(rest.unwrap_or(name), "alloca" | "alloca_with_align") {
            let wide = self.types.size_type();
            let size = self.converted(name, args, 0, &wide, pos)?;
            return Ok(Some(self.make(Builtin::Alloca, vec![size], Ty::Void.plain().pointer(), pos)));
        }
        match rest {
            Some(rest) => self.compiler_builtin(rest, args, pos),
            None => Ok(None),
        }
    }

    /// A function of `<math.h>`.
    fn math(&mut self, name: &str, math: Math, kind: FloatKind, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        let ty = Ty::Float(kind);
        let first = self.converted(name, args, 0, &ty, pos)?;
        match math {
            Math::One(op) => Ok(self.make(Builtin::Float(op), vec![first], ty, pos)),
            Math::Two(op) => {
                let second = self.converted(name, args, 1, &ty, pos)?;
                Ok(self.make(Builtin::Floats(op), vec![first, second], ty, pos))
            }
            Math::Integer(op, kind) => {
                let rounded = self.make(Builtin::Float(op), vec![first], ty, pos);
                self.convert(rounded, &Ty::Int(kind))
            }
        }
    }

    /// A test of a floating-point number by comparisons of it with itself and with infinity.
    fn float_test(&mut self, rest: &str, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        let value = self.arg(rest, args, 0, pos)?;
        let value = self.convert(value, &Ty::Float(FloatKind::Double))?;
        let zero = |bits: u64| Expr { kind: ExprKind::Const(bits), ty: Ty::Float(FloatKind::Double).plain(), pos };
        let size = self.make(Builtin::Float(FloatUn::Abs), vec![value.clone()], Ty::Float(FloatKind::Double), pos);
        let infinity = zero(f64::INFINITY.to_bits());
        match rest {
            "isnan" => {
                // Whatever is no number is not less or equal to infinity.
                let number = self.binary(BinaryOp::Le, size, infinity, pos)?;
                Ok(Expr { kind: ExprKind::Unary(syntax::UnaryOp::Not, Box::new(number)), ty: Ty::INT.plain(), pos })
            }
            "isinf" | "isinf_sign" => self.binary(BinaryOp::Eq, size, infinity, pos),
            "isfinite" | "finite" => self.binary(BinaryOp::Lt, size, infinity, pos),
            _ => {
                let one = zero(1f64.to_bits());
                let sign =
                    self.make(Builtin::Floats(FloatBin::CopySign), vec![one, value], Ty::Float(FloatKind::Double), pos);
                self.binary(BinaryOp::Lt, sign, zero(0), pos)
            }
        }
    }

    fn make(&self, builtin: Builtin, args: Vec<Expr>, ty: Ty, pos: Pos) -> Expr {
        Expr { kind: ExprKind::Builtin(builtin, args), ty: ty.plain(), pos }
    }

    /// The argument at an index, as a value.
    fn arg(&mut self, name: &str, args: &[syntax::Expr], index: usize, pos: Pos) -> Checked<Expr> {
        match args.get(index) {
            Some(arg) => self.rvalue_of(arg),
            None => Err(Fault::new(pos, format!("`{name}` needs more arguments"))),
        }
    }

    /// The argument at an index, as the object it points at: a scalar, or something that is accessed as a whole.
    fn object_arg(&mut self, name: &str, args: &[syntax::Expr], index: usize, pos: Pos) -> Checked<Expr> {
        let pointer = self.arg(name, args, index, pos)?;
        let at = pointer.pos;
        let object = self.pointed(pointer)?;
        let whole = matches!(object.ty.ty, Ty::Record(_) | Ty::Int128 { .. })
            && matches!(self.types.size(&object.ty.ty), Some(1 | 2 | 4 | 8 | 16));
        if self.types.scalar(&object.ty.ty).is_none() && !whole {
            let shown = self.types.show(&object.ty);
            return Err(Fault::new(at, format!("an atomic operation on `{shown}` is not supported")));
        }
        Ok(object)
    }

    /// The argument at an index, as an object of this type if it points at nothing in particular.
    fn value_arg(&mut self, name: &str, args: &[syntax::Expr], index: usize, ty: &Ty, pos: Pos) -> Checked<Expr> {
        let mut pointer = self.arg(name, args, index, pos)?;
        if pointer.ty.ty.pointee().is_some_and(|to| to.ty == Ty::Void) {
            pointer = self.convert(pointer, &ty.clone().plain().pointer())?;
            return self.pointed(pointer);
        }
        self.object_arg(name, args, index, pos)
    }

    /// Arithmetic is for scalars only.
    fn refuse_whole(&self, name: &str, ty: &Ty, pos: Pos) -> Checked<()> {
        if self.types.scalar(ty).is_some() {
            return Ok(());
        }
        let shown = self.types.show(&ty.clone().plain());
        Err(Fault::new(pos, format!("`{name}` on `{shown}` is not supported")))
    }

    fn order(&mut self, name: &str, args: &[syntax::Expr], index: usize, pos: Pos) -> Checked<Order> {
        let value = self.arg(name, args, index, pos)?;
        let value = self.convert(value, &Ty::INT)?;
        match self.known_int(&value) {
            Some(bits) => match ordering(bits) {
                Some(order) => Ok(Order::Known(order)),
                None => Err(Fault::new(value.pos, "this is not a memory order")),
            },
            None => Ok(Order::Runtime(Box::new(value))),
        }
    }

    fn atomic_builtin(&mut self, name: &str, rest: &str, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        let boolean = Ty::Int(IntKind::Bool);
        match rest {
            "thread_fence" => {
                let order = self.order(name, args, 0, pos)?;
                return Ok(self.make(Builtin::Fence(order), Vec::new(), Ty::Void, pos));
            }
            // Orders only what one thread does against its own signal handlers.
            "signal_fence" => return Ok(self.make(Builtin::Nothing, Vec::new(), Ty::Void, pos)),
            "always_lock_free" | "is_lock_free" => return Ok(self.int(1, pos)),
            _ => {}
        }
        let object = self.object_arg(name, args, 0, pos)?;
        let ty = object.ty.value().ty;
        match rest {
            "load_n" => {
                let order = self.order(name, args, 1, pos)?;
                Ok(self.make(Builtin::AtomicLoad(order), vec![object], ty, pos))
            }
            "store_n" => {
                let value = self.converted(name, args, 1, &ty, pos)?;
                let order = self.order(name, args, 2, pos)?;
                Ok(self.make(Builtin::AtomicStore(order), vec![object, value], Ty::Void, pos))
            }
            "load" => {
                let target = self.value_arg(name, args, 1, &ty, pos)?;
                let order = self.order(name, args, 2, pos)?;
                let load = self.make(Builtin::AtomicLoad(order), vec![object], ty, pos);
                let value = self.convert(load, &target.ty.ty)?;
                Ok(Expr { kind: ExprKind::Assign(Box::new(target), Box::new(value)), ty: Ty::Void.plain(), pos })
            }
            "store" => {
                let source = self.value_arg(name, args, 1, &ty, pos)?;
                let value = self.convert(self.rvalue(source)?, &ty)?;
                let order = self.order(name, args, 2, pos)?;
                Ok(self.make(Builtin::AtomicStore(order), vec![object, value], Ty::Void, pos))
            }
            "exchange" => {
                let source = self.value_arg(name, args, 1, &ty, pos)?;
                let value = self.convert(self.rvalue(source)?, &ty)?;
                let target = self.value_arg(name, args, 2, &ty, pos)?;
                let order = self.order(name, args, 3, pos)?;
                let builtin = Builtin::AtomicRmw { op: RmwKind::Exchange, order, new: false };
                let old = self.make(builtin, vec![object, value], ty, pos);
                let old = self.convert(old, &target.ty.ty)?;
                Ok(Expr { kind: ExprKind::Assign(Box::new(target), Box::new(old)), ty: Ty::Void.plain(), pos })
            }
            "compare_exchange_n" | "compare_exchange" => {
                let expected = self.value_arg(name, args, 1, &ty, pos)?;
                let desired = if rest == "compare_exchange" {
                    let source = self.value_arg(name, args, 2, &ty, pos)?;
                    self.convert(self.rvalue(source)?, &ty)?
                } else {
                    self.converted(name, args, 2, &ty, pos)?
                };
                let success = self.order(name, args, 4, pos)?;
                let failure = self.order(name, args, 5, pos)?;
                let weak = matches!(self.arg(name, args, 3, pos)?.kind, ExprKind::Const(weak) if weak != 0);
                let builtin = Builtin::CompareExchange { success, failure, weak };
                Ok(self.make(builtin, vec![object, expected, desired], boolean, pos))
            }
            "test_and_set" => {
                self.refuse_whole(name, &ty, pos)?;
                let order = self.order(name, args, 1, pos)?;
                Ok(self.make(Builtin::TestAndSet(order), vec![object], boolean, pos))
            }
            "clear" => {
                self.refuse_whole(name, &ty, pos)?;
                let order = self.order(name, args, 1, pos)?;
                let zero = Expr { kind: ExprKind::Const(0), ty: ty.plain(), pos };
                Ok(self.make(Builtin::AtomicStore(order), vec![object, zero], Ty::Void, pos))
            }
            _ => {
                let Some((op, new)) =
                    rmw(rest, "fetch_", "_fetch").or((rest == "exchange_n").then_some((RmwKind::Exchange, false)))
                else {
                    return Err(Fault::new(pos, format!("`{name}` is not supported")));
                };
                if op != RmwKind::Exchange {
                    self.refuse_whole(name, &ty, pos)?;
                }
                let signed = ty.int().is_some_and(IntKind::signed);
                let op = match op {
                    RmwKind::Min { .. } => RmwKind::Min { signed },
                    RmwKind::Max { .. } => RmwKind::Max { signed },
                    op => op,
                };
                let value = self.rmw_operand(name, args, &ty, op, pos)?;
                let order = self.order(name, args, 2, pos)?;
                Ok(self.make(Builtin::AtomicRmw { op, order, new }, vec![object, value], ty, pos))
            }
        }
    }

    /// Clang's builtins for C11; but for these they are GNU's with values instead of addresses.
    fn c11_builtin(&mut self, name: &str, rest: &str, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        let plain = match rest {
            "load" => "load_n",
            "store" => "store_n",
            "exchange" => "exchange_n",
            // Not atomic: nobody may use the object before.
            "init" => {
                let object = self.object_arg(name, args, 0, pos)?;
                let value = self.converted(name, args, 1, &object.ty.value().ty, pos)?;
                let order = Order::Known(Ordering::NonAtomic);
                return Ok(self.make(Builtin::AtomicStore(order), vec![object, value], Ty::Void, pos));
            }
            "compare_exchange_strong" | "compare_exchange_weak" => {
                let object = self.object_arg(name, args, 0, pos)?;
                let expected = self.object_arg(name, args, 1, pos)?;
                let desired = self.converted(name, args, 2, &object.ty.value().ty, pos)?;
                let (success, failure) = (self.order(name, args, 3, pos)?, self.order(name, args, 4, pos)?);
                let weak = rest.ends_with("weak");
                let builtin = Builtin::CompareExchange { success, failure, weak };
                return Ok(self.make(builtin, vec![object, expected, desired], Ty::Int(IntKind::Bool), pos));
            }
            other => other,
        };
        if plain.starts_with("fetch_") && matches!(self.object_arg(name, args, 0, pos)?.ty.ty, Ty::Ptr(_)) {
            return Err(Fault::new(pos, format!("`{name}` on a pointer is not supported")));
        }
        self.atomic_builtin(name, plain, args, pos)
    }

    /// The operand of a read-modify-write; what is added to a pointer counts bytes, as GNU's builtins do.
    fn rmw_operand(&mut self, name: &str, args: &[syntax::Expr], ty: &Ty, op: RmwKind, pos: Pos) -> Checked<Expr> {
        if matches!(ty, Ty::Ptr(_)) && op != RmwKind::Exchange {
            return self.converted(name, args, 1, &Ty::Int(IntKind::LLong), pos);
        }
        self.converted(name, args, 1, ty, pos)
    }

    fn converted(&mut self, name: &str, args: &[syntax::Expr], index: usize, ty: &Ty, pos: Pos) -> Checked<Expr> {
        let value = self.arg(name, args, index, pos)?;
        self.convert(value, ty)
    }

    fn sync_builtin(&mut self, name: &str, rest: &str, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        let order = Order::Known(Ordering::SeqCst);
        if rest == "synchronize" {
            return Ok(self.make(Builtin::Fence(order), Vec::new(), Ty::Void, pos));
        }
        let object = self.object_arg(name, args, 0, pos)?;
        let ty = object.ty.value().ty;
        match rest {
            "val_compare_and_swap" | "bool_compare_and_swap" => {
                let expected = self.converted(name, args, 1, &ty, pos)?;
                let desired = self.converted(name, args, 2, &ty, pos)?;
                let old = rest.starts_with("val");
                let result = if old { ty } else { Ty::Int(IntKind::Bool) };
                Ok(self.make(Builtin::SyncCas { old }, vec![object, expected, desired], result, pos))
            }
            "lock_test_and_set" => {
                let value = self.converted(name, args, 1, &ty, pos)?;
                let order = Order::Known(Ordering::Acquire);
                let builtin = Builtin::AtomicRmw { op: RmwKind::Exchange, order, new: false };
                Ok(self.make(builtin, vec![object, value], ty, pos))
            }
            "lock_release" => {
                self.refuse_whole(name, &ty, pos)?;
                let zero = Expr { kind: ExprKind::Const(0), ty: ty.plain(), pos };
                let order = Order::Known(Ordering::Release);
                Ok(self.make(Builtin::AtomicStore(order), vec![object, zero], Ty::Void, pos))
            }
            _ => {
                let Some((op, new)) = rmw(rest, "fetch_and_", "_and_fetch") else {
                    return Err(Fault::new(pos, format!("`{name}` is not supported")));
                };
                self.refuse_whole(name, &ty, pos)?;
                let value = self.rmw_operand(name, args, &ty, op, pos)?;
                Ok(self.make(Builtin::AtomicRmw { op, order, new }, vec![object, value], ty, pos))
            }
        }
    }

    fn nondet(&mut self, rest: &str, pos: Pos) -> Checked<Expr> {
        let make = |ty| Ok(self.make(Builtin::Nondet, Vec::new(), ty, pos));
        let kind = match rest {
            "bool" | "_Bool" => IntKind::Bool,
            "char" => IntKind::Char,
            "uchar" | "unsigned_char" | "u8" => IntKind::UChar,
            "short" => IntKind::Short,
            "ushort" | "unsigned_short" | "u16" => IntKind::UShort,
            "int" => IntKind::Int,
            "uint" | "unsigned" | "unsigned_int" | "u32" => IntKind::UInt,
            "long" => IntKind::Long,
            "ulong" | "size_t" | "loff_t" | "sector_t" => IntKind::ULong,
            "longlong" => IntKind::LLong,
            "ulonglong" => IntKind::ULLong,
            "float" => return make(Ty::Float(FloatKind::Float)),
            "double" => return make(Ty::Float(FloatKind::Double)),
            "int128" | "uint128" => return make(Ty::Int128 { signed: rest == "int128" }),
            _ => {
                let message = format!("`__VERIFIER_nondet_{rest}` is not supported");
                return Err(Fault::new(pos, message).help("unknown values of numbers are"));
            }
        };
        make(Ty::Int(kind))
    }

    fn verifier_builtin(&mut self, name: &str, args: &[syntax::Expr], pos: Pos) -> Checked<Option<Expr>> {
        let condition = |c: &mut Self| match args.first() {
            Some(arg) => c.condition(arg),
            None => Err(Fault::new(pos, format!("`{name}` needs an argument"))),
        };
        let (builtin, values) = match name {
            // How far one step of atomic arithmetic goes: over an element if the object is a pointer.
            "__raddle_step" => {
                let pointer = self.arg(name, args, 0, pos)?;
                let object = self.pointed(pointer)?;
                return Ok(Some(match object.ty.ty.pointee() {
                    Some(to) => self.size_constant(self.sizeof(to, pos)?, pos),
                    None => self.int(1, pos),
                }));
            }
            "raddle_random" => {
                let alternatives = self.converted(name, args, 0, &Ty::INT, pos)?;
                return Ok(Some(self.make(Builtin::Random, vec![alternatives], Ty::INT, pos)));
            }
            "__raddle_assert" => {
                let cond = condition(self)?;
                (Builtin::Assert(literal_text(args.get(1))), vec![cond])
            }
            "__VERIFIER_assert" => (Builtin::Assert("__VERIFIER_assert".to_owned()), vec![condition(self)?]),
            "__assert_fail" | "__assert" | "__assert_rtn" | "_assert" => {
                let text = args.iter().map(|a| literal_text(Some(a))).find(|t| !t.is_empty()).unwrap_or_default();
                (Builtin::Assert(text), vec![self.int(0, pos)])
            }
            "__VERIFIER_error" | "reach_error" => {
                // Also where control never comes.
                self.competes = true;
                (Builtin::Error(format!("{name}() is reached")), Vec::new())
            }
            "__VERIFIER_assume" | "__CPROVER_assume" | "assume_abort_if_not" => {
                (Builtin::Assume, vec![condition(self)?])
            }
            "__VERIFIER_atomic_begin" => (Builtin::AtomicBlock { begin: true }, Vec::new()),
            "__VERIFIER_atomic_end" => (Builtin::AtomicBlock { begin: false }, Vec::new()),
            // Hints that help other tools find loops that wait; here loops are found without them.
            "__VERIFIER_loop_begin"
            | "__VERIFIER_loop_bound"
            | "__VERIFIER_spin_start"
            | "__VERIFIER_spin_end"
            | "__VERIFIER_potential_spin_end"
            | "__VERIFIER_optional" => {
                let values = args.iter().map(|a| self.rvalue_of(a)).collect::<Checked<Vec<_>>>()?;
                (Builtin::Nothing, values)
            }
            _ if name.starts_with("__VERIFIER_") && self.lookup(name).is_none() => {
                return Err(Fault::new(pos, format!("`{name}` is not supported")));
            }
            _ => return Ok(None),
        };
        Ok(Some(self.make(builtin, values, Ty::Void, pos)))
    }

    fn compiler_builtin(&mut self, rest: &str, args: &[syntax::Expr], pos: Pos) -> Checked<Option<Expr>> {
        let count = |builtin| (builtin, Ty::INT);
        let number = |value: f64, kind: FloatKind| {
            let bits = if kind == FloatKind::Float { u64::from((value as f32).to_bits()) } else { value.to_bits() };
            Ok(Some(Expr { kind: ExprKind::Const(bits), ty: Ty::Float(kind).plain(), pos }))
        };
        let (builtin, ty) = match rest {
            "huge_vall" | "infl" => return number(f64::INFINITY, FloatKind::LongDouble),
            "nanl" => return number(f64::NAN, FloatKind::LongDouble),
            "huge_val" | "inf" => return number(f64::INFINITY, FloatKind::Double),
            "huge_valf" | "inff" => return number(f64::INFINITY, FloatKind::Float),
            "nan" => return number(f64::NAN, FloatKind::Double),
            "nanf" => return number(f64::NAN, FloatKind::Float),
            "isnan" | "isinf" | "isinf_sign" | "isfinite" | "finite" | "signbit" | "signbitf" => {
                return self.float_test(rest, args, pos).map(Some);
            }
            "expect" | "expect_with_probability" | "assume_aligned" => return Ok(Some(self.arg(rest, args, 0, pos)?)),
            "constant_p" => {
                let value = self.arg(rest, args, 0, pos)?;
                return Ok(Some(self.int(i64::from(self.known_int(&value).is_some()), pos)));
            }
            "va_start" | "c23_va_start" | "va_copy" => {
                let target = match args.first() {
                    Some(list) => self.expr(list)?,
                    None => return Err(Fault::new(pos, "`va_start` needs a list")),
                };
                let ty = target.ty.value();
                let value = if rest == "va_copy" {
                    self.converted(rest, args, 1, &ty.ty, pos)?
                } else {
                    self.make(Builtin::Rest, Vec::new(), ty.ty.clone(), pos)
                };
                let kind = ExprKind::Assign(Box::new(target), Box::new(value));
                return Ok(Some(Expr { kind, ty, pos }));
            }
            "va_end" => return Ok(Some(self.make(Builtin::Nothing, Vec::new(), Ty::Void, pos))),
            "object_size" => return Ok(Some(self.size_constant(u64::MAX, pos))),
            "unreachable" | "trap" => {
                let name = if rest == "trap" { "__builtin_trap()" } else { "__builtin_unreachable()" };
                return Ok(Some(self.make(Builtin::Trap(name), Vec::new(), Ty::Void, pos)));
            }
            "prefetch" | "ia32_pause" | "ia32_clflush" | "ia32_clflushopt" | "ia32_clwb" => {
                let values = args.iter().map(|a| self.rvalue_of(a)).collect::<Checked<Vec<_>>>()?;
                return Ok(Some(self.make(Builtin::Nothing, values, Ty::Void, pos)));
            }
            "ia32_mfence" | "ia32_lfence" | "ia32_sfence" => {
                let order = match rest {
                    "ia32_mfence" => Ordering::SeqCst,
                    "ia32_lfence" => Ordering::Acquire,
                    _ => Ordering::Release,
                };
                return Ok(Some(self.make(Builtin::Fence(Order::Known(order)), Vec::new(), Ty::Void, pos)));
            }
            // Time stands still, as for the instruction.
            "ia32_rdtsc" | "ia32_rdtscp" => {
                let values = args.iter().map(|a| self.rvalue_of(a)).collect::<Checked<Vec<_>>>()?;
                let nothing = self.make(Builtin::Nothing, values, Ty::Void, pos);
                let zero = Expr { kind: ExprKind::Const(0), ty: Ty::Int(IntKind::ULLong).plain(), pos };
                let ty = zero.ty.clone();
                return Ok(Some(Expr { kind: ExprKind::Comma(Box::new(nothing), Box::new(zero)), ty, pos }));
            }
            "popcount" | "popcountl" | "popcountll" => count(Builtin::Popcount),
            "clz" | "clzl" | "clzll" => count(Builtin::Clz),
            "ctz" | "ctzl" | "ctzll" => count(Builtin::Ctz),
            "bswap16" => (Builtin::Bswap, Ty::Int(IntKind::UShort)),
            "bswap32" => (Builtin::Bswap, Ty::Int(IntKind::UInt)),
            "bswap64" => (Builtin::Bswap, Ty::Int(IntKind::ULLong)),
            "parity" | "parityl" | "parityll" => {
                let counted = self.compiler_builtin(&rest.replace("parity", "popcount"), args, pos)?;
                let counted = counted.ok_or_else(|| Fault::new(pos, "`__builtin_parity` needs an argument"))?;
                let one = self.int(1, pos);
                return self.binary(BinaryOp::And, counted, one, pos).map(Some);
            }
            _ if let Some((op, kind)) = overflow_named(rest) => return self.overflow(op, kind, args, pos).map(Some),
            // The rest are library functions under another name, if anything.
            _ => {
                let plain: Name = if rest == "thread_pointer" { "__raddle_thread_pointer" } else { rest }.into();
                if self.lookup(&plain).is_none() {
                    self.declare_implicitly(&plain, pos);
                }
                if let Some(Symbol::Func(_)) = self.lookup(&plain) {
                    let callee = syntax::Expr { kind: syntax::ExprKind::Ident(plain), pos };
                    return self.renamed_call(&callee, args, pos).map(Some);
                }
                return Err(Fault::new(pos, format!("`__builtin_{rest}` is not supported")));
            }
        };
        let operand = match (rest, &ty) {
            (_, Ty::Int(kind)) if *kind != IntKind::Int => ty.clone(),
            (name, _) if name.ends_with("ll") => Ty::Int(IntKind::ULLong),
            (name, _) if name.ends_with('l') => Ty::Int(IntKind::ULong),
            _ => Ty::Int(IntKind::UInt),
        };
        let value = self.converted(rest, args, 0, &operand, pos)?;
        Ok(Some(self.make(builtin, vec![value], ty, pos)))
    }

    fn renamed_call(&mut self, callee: &syntax::Expr, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        let function = self.rvalue_of(callee)?;
        let Some(func) = function.ty.ty.pointee().and_then(|to| to.ty.func()).cloned() else {
            return Err(Fault::new(pos, "this cannot be called"));
        };
        let mut values = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let value = self.rvalue_of(arg)?;
            values.push(match func.params.get(index) {
                Some(param) => self.convert(value, &param.ty)?,
                None => value,
            });
        }
        let ret = func.ret.value();
        Ok(Expr { kind: ExprKind::Call(Box::new(function), values), ty: ret, pos })
    }

    /// `__builtin_add_overflow` and its like, in the given type or in those of the arguments.
    fn overflow(&mut self, op: BinaryOp, kind: Option<IntKind>, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        let target = self.object_arg("overflow", args, 2, pos)?;
        let size = self.types.size(&target.ty.ty).unwrap_or(8);
        let (mut a, mut b) = (self.arg("overflow", args, 0, pos)?, self.arg("overflow", args, 1, pos)?);
        if let Some(kind) = kind {
            (a, b) = (self.convert(a, &Ty::Int(kind))?, self.convert(b, &Ty::Int(kind))?);
        }
        if let wide @ Ty::Int128 { signed } = target.ty.ty.clone() {
            // Operands that fit the type of the result; the sum of others has more bits than there are.
            let fits = |e: &Expr| match e.ty.ty {
                Ty::Int(kind) => signed || !kind.signed(),
                ref ty => *ty == wide,
            };
            if !fits(&a) || !fits(&b) {
                let message =
                    "arithmetic with overflow check on 128 bits needs operands that fit the type of the result";
                return Err(Fault::new(pos, message));
            }
            let (a, b) = (self.convert(a, &wide)?, self.convert(b, &wide)?);
            return Ok(self.make(Builtin::Overflow(op), vec![a, b, target], Ty::Int(IntKind::Bool), pos));
        }
        if [&a, &b, &target].iter().any(|e| e.ty.ty.int().is_none()) {
            return Err(Fault::new(pos, "arithmetic with overflow check is for integers"));
        }
        let narrow = |e: &Expr| self.types.size(&e.ty.ty).is_some_and(|size| size <= 4);
        let boolean = Ty::Int(IntKind::Bool);
        if size > 4 || !narrow(&a) || !narrow(&b) {
            // One more argument says that the operands have their own types.
            let own = self.int(1, pos);
            return Ok(self.make(Builtin::Overflow(op), vec![a, b, target, own], boolean, pos));
        }
        let wide = Ty::Int(IntKind::LLong);
        let (a, b) = (self.convert(a, &wide)?, self.convert(b, &wide)?);
        Ok(self.make(Builtin::Overflow(op), vec![a, b, target], boolean, pos))
    }
}

/// What `umull_overflow` and its like compute, and in which type; `mul_overflow` and its like have no type of their own.
fn overflow_named(name: &str) -> Option<(BinaryOp, Option<IntKind>)> {
    let stem = name.strip_suffix("_overflow")?;
    let operation = |name: &str| match name {
        "add" => Some(BinaryOp::Add),
        "sub" => Some(BinaryOp::Sub),
        "mul" => Some(BinaryOp::Mul),
        _ => None,
    };
    if let Some(op) = operation(stem) {
        return Some((op, None));
    }
    let (unsigned, rest) = match (stem.strip_prefix('u'), stem.strip_prefix('s')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return None,
    };
    let op = operation(rest.get(..3)?)?;
    let kind = match (&rest[3..], unsigned) {
        ("", false) => IntKind::Int,
        ("", true) => IntKind::UInt,
        ("l", false) => IntKind::Long,
        ("l", true) => IntKind::ULong,
        ("ll", false) => IntKind::LLong,
        ("ll", true) => IntKind::ULLong,
        _ => return None,
    };
    Some((op, Some(kind)))
}

/// The C11 memory order with this number.
pub(crate) fn ordering(bits: u64) -> Option<Ordering> {
    Some(match bits {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        5 => Ordering::SeqCst,
        _ => return None,
    })
}

/// `fetch_add` and its like: the operation, and whether the result is the new value.
fn rmw(rest: &str, old_prefix: &str, new_suffix: &str) -> Option<(RmwKind, bool)> {
    let (op, new) = match rest.strip_prefix(old_prefix) {
        Some(op) => (op, false),
        None => (rest.strip_suffix(new_suffix)?, true),
    };
    let kind = match op {
        "add" => RmwKind::Add,
        "sub" => RmwKind::Sub,
        "and" => RmwKind::And,
        "or" => RmwKind::Or,
        "xor" => RmwKind::Xor,
        "nand" => RmwKind::Nand,
        // Clang has these; they are for integers, and `__atomic_fetch_min` has the sign of its object.
        "min" => RmwKind::Min { signed: true },
        "max" => RmwKind::Max { signed: true },
        "umin" => RmwKind::Min { signed: false },
        "umax" => RmwKind::Max { signed: false },
        _ => return None,
    };
    Some((kind, new))
}

/// The text of an argument that is a string literal.
fn literal_text(arg: Option<&syntax::Expr>) -> String {
    match arg.map(|a| &a.kind) {
        Some(syntax::ExprKind::Str(units, _)) => units.iter().filter_map(|&u| char::from_u32(u)).collect(),
        _ => String::new(),
    }
}
