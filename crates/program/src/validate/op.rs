//! Instructions: operands, targets, orderings.

use super::FunctionCheck;
use crate::Ordering;
use crate::expr::{BinOp, Expr};
use crate::inst::{Callee, Draw, Op};
use crate::program::{Layout, Reg};
use crate::types::Type;

/// What is wrong, and what would be right.
type Fault = (String, Option<String>);

/// How many values a choice has at most.
const MAX_CHOICES: u64 = 1 << 16;

fn fault(message: impl Into<String>, help: &str) -> Fault {
    (message.into(), Some(help.to_owned()))
}

fn plain(message: String) -> Fault {
    (message, None)
}

impl FunctionCheck<'_, '_> {
    /// Checks one instruction.
    pub(super) fn op(&self, op: &Op) -> Result<(), Fault> {
        match op {
            Op::Assign { dst, value } => {
                let ty = self.reg(*dst).map_err(plain)?;
                self.value(value, ty)
            }
            Op::Load { dst, ty, addr, order, until, .. } => {
                self.address(addr)?;
                self.target(*dst, *ty)?;
                if matches!(order, Ordering::Release | Ordering::AcqRel) {
                    return Err(fault(format!("a load cannot be `{order}`"), "a load is na, rlx, acq or sc"));
                }
                match (until, dst) {
                    (None, _) => Ok(()),
                    (Some(cond), Some(_)) => self.value(cond, Type::I1),
                    (Some(_), None) => {
                        Err(fault("`until` needs the value that was read", "write `r = load x until ...`"))
                    }
                }
            }
            Op::Store { ty, addr, value, order } => {
                self.address(addr)?;
                self.value(value, *ty)?;
                match order {
                    Ordering::Acquire | Ordering::AcqRel => {
                        Err(fault(format!("a store cannot be `{order}`"), "a store is na, rlx, rel or sc"))
                    }
                    _ => Ok(()),
                }
            }
            Op::Rmw { dst, ty, addr, operand, order, idle, .. } => {
                self.address(addr)?;
                self.value(operand, *ty)?;
                self.target(*dst, *ty)?;
                if let Some(idle) = idle {
                    if dst.is_none() {
                        let help = "write `r = rmw.xchg x, 1 until ...`";
                        return Err(fault("a condition needs the value that was read", help));
                    }
                    self.value(&idle.until, Type::I1)?;
                }
                atomic(*order)
            }
            Op::Cas { dst, ty, addr, expected, desired, success, failure, .. } => {
                self.address(addr)?;
                self.value(expected, *ty)?;
                self.value(desired, *ty)?;
                self.target(*dst, *ty)?;
                atomic(*success)?;
                atomic(*failure)?;
                match failure {
                    Ordering::Release | Ordering::AcqRel => Err(fault(
                        format!("a compare-exchange that fails is a read and cannot be `{failure}`"),
                        "on failure it is rlx, acq or sc",
                    )),
                    _ => Ok(()),
                }
            }
            Op::Fence { .. } | Op::AtomicBegin | Op::AtomicEnd | Op::Error { .. } => Ok(()),
            Op::Call { dst, callee, args } => {
                let ret = self.callee(callee, args)?;
                match (dst, ret) {
                    (Some(dst), Some(Some(ty))) => self.target(Some(*dst), ty),
                    (Some(_), Some(None)) => Err(fault("this function returns nothing", "leave out the `=`")),
                    _ => self.any_target(*dst),
                }
            }
            Op::Spawn { dst, callee, args, mailbox: None } => {
                self.callee(callee, args)?;
                self.target(*dst, Type::I64)
            }
            Op::Spawn { dst, callee, args, mailbox: Some(mailbox) } => {
                self.callee(callee, args)?;
                self.address(mailbox)?;
                self.looper(mailbox)?;
                match dst {
                    Some(_) => Err(fault("a message has no handle", "leave out the `=`")),
                    None => Ok(()),
                }
            }
            Op::Join { dst, thread } => {
                self.value(thread, Type::I64)?;
                self.any_target(*dst)
            }
            Op::ThreadId { dst } => self.target(Some(*dst), Type::I64),
            Op::Lock { mutex: object, .. }
            | Op::Unlock { mutex: object }
            | Op::ReadLock { lock: object }
            | Op::WriteLock { lock: object }
            | Op::RwUnlock { lock: object }
            | Op::CondSignal { cond: object }
            | Op::CondBroadcast { cond: object }
            | Op::SemWait { sem: object }
            | Op::SemPost { sem: object }
            | Op::Free { ptr: object, .. } => self.address(object),
            Op::SyncDestroy { object, ty } => {
                self.address(object)?;
                self.destroyed(object, *ty)
            }
            Op::TryLock { dst, mutex: object, .. }
            | Op::TryRwLock { dst, lock: object, .. }
            | Op::BarrierWait { dst, barrier: object }
            | Op::SemTryWait { dst, sem: object } => {
                self.address(object)?;
                self.target(*dst, Type::I1)
            }
            Op::CondWait { cond, mutex, .. } => {
                self.address(cond)?;
                self.address(mutex)
            }
            Op::BarrierInit { barrier, count } => {
                self.address(barrier)?;
                self.value(count, Type::I32)
            }
            Op::Alloc { dst, size, .. } => {
                self.value(size, Type::I64)?;
                self.target(Some(*dst), Type::Ptr)
            }
            Op::Assert { cond, .. } | Op::Assume { cond } => self.value(cond, Type::I1),
            Op::Choose { dst, low, high, draw } => self.choose(*dst, *low, *high, draw.as_ref()),
            Op::Input { dst, values, .. } => self.input(*dst, values.as_deref()),
            Op::Print { args, .. } => args.iter().try_for_each(|arg| self.ty(arg).map(drop).map_err(plain)),
        }
    }

    /// An object that is destroyed by name is destroyed as what it is.
    fn destroyed(&self, object: &Expr, ty: Type) -> Result<(), Fault> {
        if !matches!(ty, Type::I32 | Type::I64) {
            return Err(plain(format!("a synchronisation object is never a `{ty}`")));
        }
        let layout = match object {
            Expr::Global(id) => self.program.globals[id.index()].layout,
            Expr::Local(id) => self.function.locals[id.index()].layout,
            _ => return Ok(()),
        };
        match (layout, ty) {
            (Layout::Cond | Layout::Barrier(_), Type::I32) => {
                Err(fault("this object has 8 bytes", "write `destroy_wide` for condition variables and barriers"))
            }
            (Layout::Mutex | Layout::RwLock | Layout::Semaphore(_), Type::I64) => {
                Err(fault("this object has 4 bytes", "write `destroy` for mutexes, reader-writer locks and semaphores"))
            }
            _ => Ok(()),
        }
    }

    /// A looper that is known by name is one.
    fn looper(&self, mailbox: &Expr) -> Result<(), Fault> {
        let mut base = mailbox;
        while let Expr::Binary(BinOp::Add | BinOp::Sub, pointer, _) = base {
            base = pointer;
        }
        let name = match base {
            Expr::Global(id) => {
                let object = &self.program.globals[id.index()];
                // Front ends put loopers where they like, but they are constant.
                if matches!(object.layout, Layout::Looper(..)) || object.constant {
                    return Ok(());
                }
                &object.name
            }
            Expr::Local(id) => &self.function.locals[id.index()].name,
            _ => return Ok(()),
        };
        let help = "declare it with `looper name: queue;`, outside of functions";
        Err(fault(format!("`{name}` is no looper"), help))
    }

    fn choose(&self, dst: Reg, low: u64, high: u64, draw: Option<&Draw>) -> Result<(), Fault> {
        let ty = self.reg(dst).map_err(plain)?;
        if ty == Type::Ptr {
            return Err(fault("a choice gives a number, not a pointer", "choose an index"));
        }
        if low > high {
            return Err(fault(format!("the range {low}..={high} is empty"), "the least value comes first"));
        }
        if high > ty.mask() {
            return Err(plain(format!("{high} does not fit in `{ty}`")));
        }
        if high - low >= MAX_CHOICES {
            return Err(fault(format!("{low}..={high} has more than {MAX_CHOICES} values"), "narrow the range"));
        }
        if let Some(Draw::Weighted(weights)) = draw {
            let values = high - low + 1;
            if weights.len() as u64 != values {
                return Err(plain(format!("{values} values are drawn, and there are {} weights", weights.len())));
            }
            if weights.iter().any(|weight| !(1..=Draw::MOST).contains(weight)) {
                let message = format!("a weight is a number from 1 to {}", Draw::MOST);
                return Err(fault(message, "a value that is never drawn is not in the range"));
            }
        }
        Ok(())
    }

    fn input(&self, dst: Reg, values: Option<&[(u64, u64)]>) -> Result<(), Fault> {
        let ty = self.reg(dst).map_err(plain)?;
        if matches!(ty, Type::Ptr | Type::I1) {
            return Err(fault(
                format!("an input is a number, not of type `{ty}`"),
                "write `choose 0..2` for a truth value",
            ));
        }
        values.iter().copied().flatten().try_for_each(|&(low, high)| self.choose(dst, low, high, None))?;
        let count = |values: &[(u64, u64)]| values.iter().map(|(low, high)| high - low + 1).sum::<u64>();
        match values.map(count) {
            Some(0) => Err(plain("an input has some value".to_owned())),
            Some(n) if n > MAX_CHOICES => Err(plain(format!("an input of more than {MAX_CHOICES} values"))),
            _ => Ok(()),
        }
    }

    /// Checks callee and arguments; what the callee returns, if it is known.
    fn callee(&self, callee: &Callee, args: &[Expr]) -> Result<Option<Option<Type>>, Fault> {
        match callee {
            Callee::Direct(id) => {
                let Some(function) = self.program.functions.get(id.index()) else {
                    return Err(plain(format!("function {} does not exist", id.0)));
                };
                if args.len() != function.params as usize {
                    let name = &function.name;
                    let message = format!("`{name}` takes {} arguments, not {}", function.params, args.len());
                    return Err(plain(message));
                }
                for (arg, param) in args.iter().zip(&function.regs) {
                    self.value(arg, param.ty)?;
                }
                Ok(Some(function.ret))
            }
            Callee::Indirect(pointer) => {
                self.address(pointer)?;
                for arg in args {
                    self.ty(arg).map_err(plain)?;
                }
                Ok(None)
            }
        }
    }

    fn address(&self, expr: &Expr) -> Result<(), Fault> {
        self.value(expr, Type::Ptr)
    }

    fn value(&self, expr: &Expr, ty: Type) -> Result<(), Fault> {
        self.expect(expr, ty).map_err(plain)
    }

    fn target(&self, dst: Option<Reg>, ty: Type) -> Result<(), Fault> {
        let Some(reg) = dst else { return Ok(()) };
        match self.reg(reg).map_err(plain)? {
            found if found == ty => Ok(()),
            found => {
                let name = &self.function.regs[reg.index()].name;
                Err(plain(format!("a value of type `{ty}` is put in `{name}`, which has type `{found}`")))
            }
        }
    }

    fn any_target(&self, dst: Option<Reg>) -> Result<(), Fault> {
        dst.map_or(Ok(()), |reg| self.reg(reg).map(drop).map_err(plain))
    }
}

fn atomic(order: Ordering) -> Result<(), Fault> {
    if order == Ordering::NonAtomic {
        return Err(fault("a read-modify-write is always atomic", "it is rlx, acq, rel, acqrel or sc"));
    }
    Ok(())
}
