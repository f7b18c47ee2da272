//! Does it make a difference which of two functions is called first?
//!
//! It may if one of them does something that the other could notice: writes to what is not its own variable, or an operation on
//! threads or atomic objects, itself or in a function that it calls by name. A function that only computes from its arguments is called at any time.

use super::Lowerer;
use crate::tree::{Builtin, ExprKind, FnId, Storage};
use crate::walk::each_in;
use rustc_hash::FxHashSet;

/// What calling a function may do to others.
#[derive(Clone, Copy, Debug, Default)]
struct Deeds {
    acts: bool,
    looks: bool,
}

impl Lowerer<'_> {
    /// Says which of these functions are called first, if that can make a difference.
    pub(super) fn note_order(&mut self, pos: crate::token::Pos, first: &[FnId], second: &[FnId]) {
        let (one, other) = (self.deeds(first), self.deeds(second));
        if !(one.acts && (other.acts || other.looks) || other.acts && one.looks) {
            return;
        }
        let way = if self.options.evaluation_right { "right" } else { "left" };
        let (line, other) = (self.span(pos).line, if way == "left" { "right" } else { "left" });
        self.note(format!(
            "functions that one expression calls in any order are called from the {way}, in line {line} for one; --evaluation {other} calls them the other way round"
        ));
    }

    fn deeds(&self, functions: &[FnId]) -> Deeds {
        let mut deeds = Deeds::default();
        let (mut todo, mut seen) = (functions.to_vec(), FxHashSet::default());
        while let Some(id) = todo.pop() {
            let Some(body) = self.bodies.get(&id).filter(|_| seen.insert(id)) else { continue };
            let is_own = |id| matches!(self.checker.var(id).storage, Storage::Auto);
            each_in(&body.stmts, &mut |expr| match &expr.kind {
                ExprKind::Assign(target, _) | ExprKind::OpAssign { target, .. } | ExprKind::IncDec { target, .. } => {
                    deeds.acts |= super::function::root(target).is_none_or(|id| !is_own(id));
                }
                ExprKind::Load(object) => deeds.looks |= super::function::root(object).is_none_or(|id| !is_own(id)),
                ExprKind::Builtin(builtin, _) => {
                    deeds.acts |= matches!(
                        builtin,
                        Builtin::AtomicStore(_)
                            | Builtin::AtomicRmw { .. }
                            | Builtin::CompareExchange { .. }
                            | Builtin::SyncCas { .. }
                            | Builtin::TestAndSet(_)
                    );
                    deeds.looks |= matches!(builtin, Builtin::AtomicLoad(_));
                }
                ExprKind::Func(id) => {
                    let known = self.checker.func(*id);
                    if known.def.is_some() && known.origin.is_user() {
                        todo.push(*id);
                    } else {
                        let name: &str = &known.name;
                        deeds.acts |= ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "raddle_"]
                            .iter()
                            .any(|p| name.starts_with(p));
                    }
                }
                _ => {}
            });
        }
        deeds
    }
}
