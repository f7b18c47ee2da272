//! Which functions can the program reach, and which does it lack?
//!
//! A work list from `main` over the names that bodies and initial values mention. A function that is only declared
//! must be in the library; otherwise each call of it is an error, at the call.

use super::Lowerer;
use super::intrinsic::is_native;
use crate::check::Origin;
use crate::ctype::{Ty, Types};
use crate::parse::Fault;
use crate::token::Pos;
use crate::tree::{Base, Constant, ExprKind, FnId, Storage, VarId};
use crate::walk::each_in;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Functions of which not everything is looked at that the system may do.
const PARTIAL: [(&[&str], &str); 10] = [
    (
        &["fgets", "getchar", "fgetc", "getc", "fread", "getline", "getdelim"],
        "finds the end of the file: no file can be opened, and standard input is empty",
    ),
    (&["socket", "bind", "accept", "connect"], "succeeds or fails, and nobody is at the other end"),
    (&["strftime"], "writes one character"),
    (&["pthread_cancel"], "acts at cancellation points; a wait that it may end is no deadlock"),
    (&["pipe", "pipe2"], "makes no connection: what is read is not what was written"),
    (&["select"], "finds nothing, or everything that was asked for"),
    (&["read", "recv"], "fails, finds nothing, or brings one byte of any value"),
    (&["write", "send"], "fails, or writes everything"),
    (&["poll"], "finds nothing, or what was asked for at one or more files"),
    (&["getenv", "secure_getenv"], "finds nothing: the environment is empty"),
];

/// Whether the kind of a mutex is at this offset of an object; ours and glibc's have it at the same place.
fn is_mutex_kind(types: &Types, ty: &Ty, offset: u64) -> bool {
    match ty {
        Ty::Array(element, _) => {
            let size = types.size(&element.ty).unwrap_or(0);
            size > 0 && is_mutex_kind(types, &element.ty, offset % size)
        }
        Ty::Record(id) => {
            let record = types.record(*id);
            if record.tag.as_deref() == Some("__pthread_mutex_s") {
                return offset == 16;
            }
            let fields = record.fields.as_deref().unwrap_or(&[]);
            fields.iter().any(|f| {
                let end = f.offset + types.size(&f.ty.ty).unwrap_or(0);
                (f.offset..end).contains(&offset) && is_mutex_kind(types, &f.ty.ty, offset - f.offset)
            })
        }
        _ => false,
    }
}

impl Lowerer<'_> {
    /// Checks all reachable bodies and returns the functions in the order they were met.
    pub(super) fn reach(&mut self, main: FnId) -> Vec<FnId> {
        let around = self.checker.constructors.iter().chain(&self.checker.destructors).copied();
        let mut order: Vec<FnId> = std::iter::once(main).chain(around).collect();
        let mut seen: FxHashSet<FnId> = order.iter().copied().collect();
        let mut objects: FxHashSet<VarId> = FxHashSet::default();
        let mut at = 0;
        while let Some(&id) = order.get(at) {
            at += 1;
            let body = match self.checker.body(id) {
                Ok(Some(body)) => Rc::new(body),
                Ok(None) => continue,
                Err(fault) => {
                    self.faults.push(fault);
                    continue;
                }
            };
            self.bodies.insert(id, body.clone());
            let mut mentioned = Vec::new();
            let mut todo = Vec::new();
            each_in(&body.stmts, &mut |expr| match expr.kind {
                ExprKind::Func(id) => mentioned.push((id, expr.pos)),
                ExprKind::Var(id) => todo.push((id, expr.pos)),
                _ => {}
            });
            while let Some((var, pos)) = todo.pop() {
                if !objects.insert(var) {
                    continue;
                }
                let var = self.checker.var(var);
                if let Storage::Static { init, .. } = &var.storage {
                    for part in init {
                        // A mutex can be of a kind from the start.
                        if part.value != Constant::Int(0) && is_mutex_kind(&self.checker.types, &var.ty.ty, part.offset)
                        {
                            self.used.insert("pthread_mutexattr_settype".into());
                        }
                        match part.value {
                            Constant::Addr(Base::Func(id), _) => mentioned.push((id, pos)),
                            Constant::Addr(Base::Var(id), _) => todo.push((id, pos)),
                            _ => {}
                        }
                    }
                }
            }
            for (id, pos) in mentioned {
                if self.checker.func(id).def.is_some() {
                    if seen.insert(id) {
                        order.push(id);
                    }
                } else {
                    self.need_library(id, pos);
                }
            }
        }
        order
    }

    fn need_library(&mut self, id: FnId, pos: Pos) {
        let name = self.checker.func(id).name.clone();
        if let Some((_, bounds)) = PARTIAL.iter().find(|(names, _)| names.contains(&&*name)) {
            self.note(format!("`{name}` {bounds}"));
        }
        if is_native(&name) || self.checker.function_named(&name, Origin::Library).is_some() {
            self.used.insert(name);
            return;
        }
        if self.options.undefined_nondet {
            self.note(format!("`{name}` is not defined: a call of it returns any value and does nothing else"));
            return;
        }
        let fault =
            Fault { len: name.len() as u32, ..Fault::new(pos, format!("`{name}` is declared but not defined")) }
                .label("used here")
                .help("it is not one of the library functions Raddle knows; give the file that defines it as well, or let --undefined nondet stand for it");
        self.faults.push(fault);
    }
}
