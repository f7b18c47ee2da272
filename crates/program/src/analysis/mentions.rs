//! How often each local object is mentioned, and whether always in the same way.

use crate::expr::Expr;
use crate::inst::{Op, Term};
use crate::program::{Function, LocalId};

/// The local objects of a function that are mentioned in one way only: each mention is one that `way` finds in an instruction.
pub(super) fn mentioned_only(function: &Function, way: impl Fn(&Op) -> Option<LocalId>) -> Vec<bool> {
    let mut others = vec![0i64; function.locals.len()];
    let mut count = |expr: &Expr, step: i64| {
        expr.walk(&mut |part| {
            if let Expr::Local(id) = part {
                others[id.index()] += step;
            }
        });
    };
    for block in &function.blocks {
        for inst in &block.insts {
            inst.op.for_each_operand(|operand| count(operand, 1));
            inst.op.condition().into_iter().for_each(|condition| count(condition, 1));
            if let Some(local) = way(&inst.op) {
                count(&Expr::Local(local), -1);
            }
        }
        if let Term::If(value, ..)
        | Term::Switch(value, ..)
        | Term::Return(Some(value))
        | Term::ExitThread(Some(value)) = &block.term.kind
        {
            count(value, 1);
        }
    }
    others.into_iter().map(|mentions| mentions == 0).collect()
}
