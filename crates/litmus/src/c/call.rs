//! Calls: what `<stdatomic.h>` and its equivalents among compilers' builtins declare, fences, mutexes.

use super::Body;
use super::expr::{Thing, Value, address, truth};
use crate::Result_;
use crate::lex::Kind;
use crate::types::CType;
use raddle_program::{CastOp, Diagnostic, Expr, Op, Ordering, RmwOp, Span, Term, Type, Unwritten};

/// Primitives of the Linux kernel, whose model is not among Raddle's.
const KERNEL: [&str; 24] = [
    "READ_ONCE",
    "WRITE_ONCE",
    "smp_",
    "rcu_",
    "synchronize_rcu",
    "synchronize_srcu",
    "srcu_",
    "spin_",
    "atomic_read",
    "atomic_set",
    "atomic_inc",
    "atomic_dec",
    "atomic_add",
    "atomic_sub",
    "atomic_cmpxchg",
    "atomic_xchg",
    "cmpxchg",
    "xchg",
    "call_rcu",
    "atomic_long",
    "atomic64",
    "down_",
    "up_",
    "__xchg",
];

impl Body<'_, '_> {
    /// A call of `name`; the cursor stands at the bracket.
    pub(super) fn call(&mut self, name: &str, place: Span) -> Result_<Value> {
        self.cursor.expect("(")?;
        // The type-generic names with and without an ordering, and the builtins that are the same.
        let builtin = name.strip_prefix("__atomic_").or_else(|| name.strip_prefix("__c11_atomic_"));
        let explicit = name.strip_suffix("_explicit");
        let base = explicit.unwrap_or(name);
        let operation = match builtin {
            Some(rest) => rest.strip_suffix("_n").unwrap_or(rest),
            None => base.strip_prefix("atomic_").unwrap_or(""),
        };
        let ordered = builtin.is_some() || explicit.is_some();
        let result = match operation {
            "load" => {
                let (addr, ty) = self.pointer()?;
                let order = self.order(ordered, place)?;
                if order == Ordering::Release || order == Ordering::AcqRel {
                    return Err(Diagnostic::new(place, "a load cannot release")
                        .help("loads are relaxed, acquire or seq_cst")
                        .into());
                }
                self.load(addr, &ty, order, place)?
            }
            "store" | "init" | "flag_clear" | "clear" => {
                let (addr, ty) = self.pointer()?;
                let value = if operation.ends_with("clear") { Value::number(0) } else { self.next()? };
                let order = if operation == "init" { Ordering::NonAtomic } else { self.order(ordered, place)? };
                if order == Ordering::Acquire || order == Ordering::AcqRel {
                    return Err(Diagnostic::new(place, "a store cannot acquire")
                        .help("stores are relaxed, release or seq_cst")
                        .into());
                }
                self.store(addr, &ty, value.clone(), order, place)?;
                value
            }
            "flag_test_and_set" | "test_and_set" => {
                let (addr, ty) = self.pointer()?;
                let order = self.order(ordered, place)?;
                self.rmw(RmwOp::Xchg, addr, &ty, Value::number(1), order, place)?
            }
            "exchange" | "fetch_add" | "fetch_sub" | "fetch_and" | "fetch_or" | "fetch_xor" | "add_fetch"
            | "sub_fetch" | "and_fetch" | "or_fetch" | "xor_fetch" => self.fetch(operation, ordered, place)?,
            "compare_exchange_strong" | "compare_exchange_weak" | "compare_exchange" => self.compare_exchange(
                operation,
                ordered,
                builtin.is_some_and(|name| {
                    name.starts_with("compare_exchange") && !name.contains("strong") && !name.contains("weak")
                }),
                place,
            )?,
            "thread_fence" | "signal_fence" => {
                let order = self.first_order()?;
                self.builder.at(place);
                // A signal fence orders nothing between threads.
                let order = if operation == "thread_fence" { order } else { Ordering::Relaxed };
                self.push(Op::Fence { order });
                Value::number(0)
            }
            _ => return self.other(name, place),
        };
        self.cursor.expect(")")?;
        Ok(result)
    }

    fn fetch(&mut self, operation: &str, ordered: bool, place: Span) -> Result_<Value> {
        let (addr, ty) = self.pointer()?;
        let operand = self.next()?;
        let order = self.order(ordered, place)?;
        let (op, sign) = match operation.trim_start_matches("fetch_").trim_end_matches("_fetch") {
            "add" => (RmwOp::Add, "+"),
            "sub" => (RmwOp::Sub, "-"),
            "and" => (RmwOp::And, "&"),
            "or" => (RmwOp::Or, "|"),
            "xor" => (RmwOp::Xor, "^"),
            _ => (RmwOp::Xchg, ""),
        };
        let old = self.rmw(op, addr, &ty, operand.clone(), order, place)?;
        if operation.ends_with("_fetch") { self.combine(sign, old, operand, place) } else { Ok(old) }
    }

    /// `(p, &expected, desired, success, failure)`; the builtin without a name for it says before the orderings whether it is weak.
    fn compare_exchange(&mut self, operation: &str, ordered: bool, says_weak: bool, place: Span) -> Result_<Value> {
        let (addr, ty) = self.pointer()?;
        self.cursor.expect(",")?;
        // What is expected is a register (`&e`) or a location.
        let register = match (self.cursor.peek(), self.cursor.ahead(1)) {
            (Kind::Sign("&"), Kind::Word(name)) if !self.parameters.contains_key(name) => {
                let span = self.cursor.span();
                self.cursor.advance();
                self.cursor.advance();
                if !self.variables.contains_key(name) {
                    return Err(Diagnostic::new(span, format!("`{name}` is not declared")).into());
                }
                Some(name.clone())
            }
            _ => None,
        };
        let expected = match register {
            Some(name) => Thing::Variable(name, place),
            None => {
                let pointer = self.argument()?;
                self.pointed(pointer, place)
            }
        };
        let found = self.value(expected.clone())?;
        let desired = self.next()?;
        let mut weak = operation.ends_with("weak");
        if says_weak {
            weak = !matches!(self.next()?.expr, Expr::Const(_, 0));
        }
        let success = self.order(ordered, place)?;
        let failure = if ordered && self.cursor.is(",") {
            self.order(true, place)?
        } else {
            // A single ordering is that of failures as well, without its release.
            match success {
                Ordering::AcqRel => Ordering::Acquire,
                Ordering::Release => Ordering::Relaxed,
                other => other,
            }
        };
        if matches!(failure, Ordering::Release | Ordering::AcqRel) {
            return Err(Diagnostic::new(place, "a compare-exchange that fails only reads, and cannot release").into());
        }
        if weak && !self.loops.is_empty() {
            let note = "a weak compare-exchange in a loop fails only where it finds another value";
            if !self.world.notes.iter().any(|known| known == note) {
                self.world.notes.push(note.to_owned());
            }
        }
        let number = self.number(&ty, place)?;
        let cell = number.cell();
        self.note_address(&desired.expr);
        let dst = self.builder.reg("old", cell);
        let (compared, put) = (number.narrowed(found.expr.clone()), number.narrowed(desired.expr));
        self.builder.at(place);
        let same = self.builder.reg("same", Type::I64);
        let [failed, after] = [(); 2].map(|()| self.builder.block());
        if weak && self.loops.is_empty() {
            // It may fail although it finds what it expects. Where it does not, the other way is the same.
            let fails = self.builder.reg("fails", Type::I64);
            self.push(Op::Choose { dst: fails, low: 0, high: 1, draw: None });
            let [by_itself, otherwise] = [(); 2].map(|()| self.builder.block());
            self.builder.terminate(Term::If(truth(Expr::Reg(fails)), by_itself, otherwise));
            self.builder.switch_to(by_itself);
            self.push(Op::Load {
                dst: Some(dst),
                ty: cell,
                addr: addr.clone(),
                order: failure,
                until: None,
                unwritten: Unwritten::Error,
            });
            self.push(Op::Assume { cond: Expr::eq(Expr::Reg(dst), compared.clone()) });
            self.push(Op::Assign { dst: same, value: Expr::int(Type::I64, 0) });
            self.builder.terminate(Term::Goto(failed));
            self.builder.switch_to(otherwise);
        }
        self.push(Op::Cas {
            dst: Some(dst),
            ty: cell,
            addr,
            expected: compared.clone(),
            desired: put,
            success,
            failure,
            wait: false,
        });
        self.push(Op::Assign {
            dst: same,
            value: Expr::cast(CastOp::ZExt, Type::I64, Expr::eq(Expr::Reg(dst), compared)),
        });
        // Where it fails, what was found is what is expected from now on.
        self.builder.terminate(Term::If(truth(Expr::Reg(same)), after, failed));
        self.builder.switch_to(failed);
        let old = Value { expr: number.widened(Expr::Reg(dst)), ty: found.ty };
        match expected {
            Thing::Variable(name, _) => drop(self.assign(&name, old)),
            Thing::Memory { addr, ty, .. } => {
                let order = if ty.is_atomic() { Ordering::SeqCst } else { Ordering::NonAtomic };
                self.store(addr, &ty, old, order, place)?;
            }
            Thing::Value(_) => {}
        }
        self.builder.terminate(Term::Goto(after));
        self.builder.switch_to(after);
        Ok(Value::int(Expr::Reg(same)))
    }

    /// What is no operation on atomics.
    fn other(&mut self, name: &str, place: Span) -> Result_<Value> {
        let result = match name {
            "lock" | "mtx_lock" | "pthread_mutex_lock" | "unlock" | "mtx_unlock" | "pthread_mutex_unlock" => {
                let mutex = self.mutex(place)?;
                self.builder.at(place);
                self.push(if name.contains("unlock") {
                    Op::Unlock { mutex }
                } else {
                    Op::Lock { mutex, recursive: false }
                });
                Value::number(0)
            }
            "trylock" | "mtx_trylock" | "pthread_mutex_trylock" => {
                let mutex = self.mutex(place)?;
                let dst = self.builder.reg("taken", Type::I1);
                self.builder.at(place);
                self.push(Op::TryLock { dst: Some(dst), mutex, recursive: false });
                // The functions of the libraries return 0 if the mutex was taken.
                let taken = if name == "trylock" { Expr::Reg(dst) } else { Expr::Reg(dst).negated() };
                Value::int(Expr::cast(CastOp::ZExt, Type::I64, taken))
            }
            "assert" => {
                let value = self.argument()?;
                self.builder.at(place);
                self.push(Op::Assert { cond: truth(value.expr), message: "the assertion is false".to_owned() });
                Value::number(0)
            }
            "assume" | "__VERIFIER_assume" => {
                let value = self.argument()?;
                self.builder.at(place);
                self.push(Op::Assume { cond: truth(value.expr) });
                Value::number(0)
            }
            "kill_dependency" | "__builtin_expect" => {
                let value = self.argument()?;
                if name == "__builtin_expect" {
                    self.next()?;
                }
                value
            }
            _ => {
                let message = format!("`{name}` is not supported in litmus tests");
                let kernel = KERNEL.iter().any(|known| name.starts_with(known));
                let help = if kernel {
                    "it belongs to the Linux kernel, whose memory model is not among those of Raddle"
                } else {
                    "the operations of <stdatomic.h>, lock and unlock are"
                };
                return Err(Diagnostic::new(place, message).help(help).into());
            }
        };
        self.cursor.expect(")")?;
        Ok(result)
    }

    /// The address of a mutex, which is one from now on.
    fn mutex(&mut self, place: Span) -> Result_<Expr> {
        let value = self.argument()?;
        let addr = address(value.expr);
        let Expr::Global(id) = addr else {
            return Err(Diagnostic::new(place, "which mutex this is, is not known when the test is read").into());
        };
        let at = id.index() - self.world.observed.len();
        self.world.locations[at].ty = Some(CType::Mutex);
        self.world.locations[at].length = None;
        Ok(addr)
    }

    /// The first argument, which says where.
    fn pointer(&mut self) -> Result_<(Expr, CType)> {
        let place = self.cursor.span();
        let pointer = self.argument()?;
        let Thing::Memory { addr, ty, .. } = self.pointed(pointer, place) else {
            return Err(Diagnostic::new(place, "this points nowhere").into());
        };
        Ok((addr, ty))
    }

    /// One more argument.
    fn next(&mut self) -> Result_<Value> {
        self.cursor.expect(",")?;
        self.argument()
    }

    /// The ordering among the arguments, if there is one.
    fn order(&mut self, given: bool, place: Span) -> Result_<Ordering> {
        if !given {
            return Ok(Ordering::SeqCst);
        }
        if !self.cursor.is(",") {
            return Err(Diagnostic::new(place, "the memory order is missing").into());
        }
        self.cursor.advance();
        self.first_order()
    }

    fn first_order(&mut self) -> Result_<Ordering> {
        let (name, span) = self.cursor.word("a memory order")?;
        let short = ["memory_order_", "__ATOMIC_", "mo_"].into_iter().find_map(|prefix| name.strip_prefix(prefix));
        match short.unwrap_or(&name).to_ascii_lowercase().as_str() {
            "relaxed" | "rlx" => Ok(Ordering::Relaxed),
            // As compilers do it.
            "consume" | "con" | "acquire" | "acq" => Ok(Ordering::Acquire),
            "release" | "rel" => Ok(Ordering::Release),
            "acq_rel" | "acqrel" => Ok(Ordering::AcqRel),
            "seq_cst" | "sc" => Ok(Ordering::SeqCst),
            _ => {
                let help = "memory_order_relaxed, _acquire, _release, _acq_rel and _seq_cst are";
                Err(Diagnostic::new(span, format!("`{name}` is no memory order")).help(help).into())
            }
        }
    }
}
