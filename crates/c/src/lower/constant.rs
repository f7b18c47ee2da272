//! Which registers have a value that is known before the program runs?
//!
//! Forward constant propagation over the control-flow graph (Kildall 1973): a register is known at a place if all
//! ways there give it the same constant. Known values replace reads of the register. This matters beyond tidiness:
//! in `expected = 0; while (!compare_exchange(&lock, &expected, 1)) expected = 0;` the turn of the loop is seen to
//! leave everything as it was only when `expected` is seen to be 0 at its head.
//!
//! Registers hold 0 when a function is entered. Cost: a few passes over the blocks; functions with an unusually
//! large product of blocks and registers are left as they are.

use super::value::binary;
use raddle_program::{BlockId, Expr, Function, Op, Term, Type};

/// No more table entries than this.
const MAX_TABLE: usize = 1 << 24;

/// What is known about a register; not being reached at all is the absence of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Constant(u64),
    Varying,
}

type Table = Vec<Known>;

/// Replaces reads of registers whose value is known.
pub(super) fn propagate(function: &mut Function) {
    if function.blocks.len().saturating_mul(function.regs.len()) > MAX_TABLE {
        return;
    }
    let types: Vec<Type> = function.regs.iter().map(|reg| reg.ty).collect();
    let mut entry: Vec<Option<Table>> = vec![None; function.blocks.len()];
    let mut first: Table = vec![Known::Constant(0); function.regs.len()];
    first[..function.params as usize].fill(Known::Varying);
    entry[0] = Some(first);
    let mut todo = vec![BlockId(0)];
    while let Some(id) = todo.pop() {
        let mut table = entry[id.index()].clone().expect("only reached blocks are on the list");
        let block = &function.blocks[id.index()];
        for inst in &block.insts {
            transfer(&inst.op, &mut table, &types);
        }
        block.term.kind.for_each_target(|target| {
            let slot = &mut entry[target.index()];
            let changed = match slot {
                None => {
                    *slot = Some(table.clone());
                    true
                }
                Some(known) => join(known, &table),
            };
            if changed {
                todo.push(target);
            }
        });
    }
    for (block, table) in function.blocks.iter_mut().zip(entry) {
        let Some(mut table) = table else { continue };
        for inst in &mut block.insts {
            inst.op.for_each_operand_mut(|expr| substitute(expr, &table, &types));
            transfer(&inst.op, &mut table, &types);
        }
        simplify(&mut block.term.kind, &table, &types);
    }
    raddle_program::program::drop_unreachable_blocks(function);
}

/// Keeps what both sides agree on; true if something was lost.
fn join(known: &mut Table, other: &Table) -> bool {
    let mut changed = false;
    for (mine, theirs) in known.iter_mut().zip(other) {
        if *mine != Known::Varying && mine != theirs {
            *mine = Known::Varying;
            changed = true;
        }
    }
    changed
}

fn transfer(op: &Op, table: &mut Table, types: &[Type]) {
    if let Op::Assign { dst, value } = op {
        let mut value = value.clone();
        substitute(&mut value, table, types);
        table[dst.index()] = match value {
            Expr::Const(_, bits) => Known::Constant(bits),
            _ => Known::Varying,
        };
    } else if let Some(dst) = op.dst() {
        table[dst.index()] = Known::Varying;
    }
}

/// Puts known values in the place of registers, and computes what follows.
fn substitute(expr: &mut Expr, table: &Table, types: &[Type]) {
    match expr {
        Expr::Reg(reg) => {
            if let Known::Constant(bits) = table[reg.index()] {
                *expr = Expr::Const(types[reg.index()], bits);
            }
        }
        Expr::Unary(op, inner) => {
            substitute(inner, table, types);
            if let Expr::Const(ty, bits) = **inner {
                *expr = Expr::Const(ty, op.apply(ty, bits));
            }
        }
        Expr::Binary(op, a, b) => {
            substitute(a, table, types);
            substitute(b, table, types);
            if let (Expr::Const(..), Expr::Const(..)) = (&**a, &**b) {
                *expr = binary(*op, (**a).clone(), (**b).clone());
            }
        }
        Expr::Cast(op, to, inner) => {
            substitute(inner, table, types);
            if let Expr::Const(from, bits) = **inner
                && let Some(value) = op.apply(from, *to, bits)
            {
                *expr = Expr::Const(*to, value);
            }
        }
        Expr::Select(cond, a, b) => {
            for part in [&mut *cond, &mut *a, &mut *b] {
                substitute(part, table, types);
            }
            if let Expr::Const(_, bits) = **cond {
                *expr = if bits != 0 { (**a).clone() } else { (**b).clone() };
            }
        }
        Expr::Const(..) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => {}
    }
}

fn simplify(term: &mut Term, table: &Table, types: &[Type]) {
    match term {
        Term::If(cond, yes, no) => {
            substitute(cond, table, types);
            if let Expr::Const(_, bits) = cond {
                *term = Term::Goto(if *bits != 0 { *yes } else { *no });
            }
        }
        Term::Switch(value, cases, default) => {
            substitute(value, table, types);
            if let Expr::Const(_, bits) = value {
                let target = cases.iter().find(|(case, _)| case == bits).map_or(*default, |(_, block)| *block);
                *term = Term::Goto(target);
            }
        }
        Term::Return(Some(value)) | Term::ExitThread(Some(value)) => substitute(value, table, types),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_program::{BinOp, FunctionBuilder, Span};

    #[test]
    fn a_register_that_every_way_sets_to_the_same_value_is_known() {
        let mut b = FunctionBuilder::new("f", &[("p", Type::I1)], Some(Type::I32), Span::default());
        let x = b.reg("x", Type::I32);
        let (yes, no, done) = (b.block(), b.block(), b.block());
        b.terminate(Term::If(Expr::Reg(b.param(0)), yes, no));
        for (block, value) in [(yes, 7), (no, 7)] {
            b.switch_to(block);
            b.push(Op::Assign { dst: x, value: Expr::int(Type::I32, value) });
            b.terminate(Term::Goto(done));
        }
        b.switch_to(done);
        b.terminate(Term::Return(Some(Expr::binary(BinOp::Add, Expr::Reg(x), Expr::int(Type::I32, 1)))));
        let mut function = b.finish();
        propagate(&mut function);
        let last = function.blocks.last().expect("there are blocks");
        assert_eq!(last.term.kind, Term::Return(Some(Expr::int(Type::I32, 8))));
    }

    #[test]
    fn a_register_that_a_loop_changes_is_not_known() {
        let mut b = FunctionBuilder::new("f", &[], Some(Type::I32), Span::default());
        let i = b.reg("i", Type::I32);
        let (head, turn, done) = (b.block(), b.block(), b.block());
        b.terminate(Term::Goto(head));
        b.switch_to(head);
        b.terminate(Term::If(Expr::binary(BinOp::SLt, Expr::Reg(i), Expr::int(Type::I32, 3)), turn, done));
        b.switch_to(turn);
        let next = Expr::binary(BinOp::Add, Expr::Reg(i), Expr::int(Type::I32, 1));
        b.push(Op::Assign { dst: i, value: next });
        b.terminate(Term::Goto(head));
        b.switch_to(done);
        b.terminate(Term::Return(Some(Expr::Reg(i))));
        let mut function = b.finish();
        let before = function.clone();
        propagate(&mut function);
        assert_eq!(function, before);
    }
}
