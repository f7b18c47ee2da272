//! Which branches are decided before the program runs?
//!
//! Registers hold 0 when their function is entered. One that nobody gives another value holds it for ever, and a branch on such registers and constants
//! always goes the same way. The way it never goes would keep registers alive, and a turn of a loop that changes one of
//! them would not be seen to have no effect: in `loop { if stop == 1 { break; } seen = load x; ... }` with a `stop` that nobody assigns, `seen` is dead.
//!
//! Such a branch becomes a jump, and what cannot be reached any more goes; that may take away the last assignment of another register, so it is done until
//! nothing changes. Instructions stay as they are. Cost: linear in the size of a function, once for each round.

use super::simplify::{binary, complement, simplified};
use crate::expr::{Expr, UnOp};
use crate::inst::{Op, Term};
use crate::program::{Function, Program, Reg, drop_unreachable_blocks};

/// Turns branches that always go the same way into jumps, in every function.
pub fn decide_branches(program: &mut Program) {
    for function in &mut program.functions {
        while decide(function) {
            drop_unreachable_blocks(function);
        }
    }
}

/// Whether some branch was decided.
fn decide(function: &mut Function) -> bool {
    if !function.blocks.iter().any(|block| matches!(block.term.kind, Term::If(..) | Term::Switch(..))) {
        return false;
    }
    let mut zero = vec![true; function.regs.len()];
    zero[..function.params as usize].fill(false);
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        let stays = matches!(&inst.op, Op::Assign { value: Expr::Const(_, 0), .. });
        if let Some(dst) = inst.op.dst().filter(|_| !stays) {
            zero[dst.index()] = false;
        }
    }
    let types: Vec<_> = function.regs.iter().map(|reg| reg.ty).collect();
    let known = |reg: Reg| if zero[reg.index()] { Expr::Const(types[reg.index()], 0) } else { Expr::Reg(reg) };
    let mut changed = false;
    for block in &mut function.blocks {
        let to = match &block.term.kind {
            Term::If(cond, then, otherwise) => match with(cond, &known) {
                Expr::Const(_, value) => {
                    if value & 1 == 1 {
                        *then
                    } else {
                        *otherwise
                    }
                }
                _ => continue,
            },
            Term::Switch(value, cases, default) => match with(value, &known) {
                Expr::Const(ty, value) => {
                    let is = |case: &&(u64, _)| ty.truncate(case.0) == ty.truncate(value);
                    cases.iter().find(is).map_or(*default, |case| case.1)
                }
                _ => continue,
            },
            _ => continue,
        };
        block.term.kind = Term::Goto(to);
        changed = true;
    }
    changed
}

/// The expression with what is known of registers, worked out.
fn with(expr: &Expr, known: &impl Fn(Reg) -> Expr) -> Expr {
    match expr {
        Expr::Reg(reg) => known(*reg),
        Expr::Const(..) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => expr.clone(),
        Expr::Unary(UnOp::Not, a) => complement(with(a, known)),
        Expr::Unary(op, a) => simplified(Expr::Unary(*op, Box::new(with(a, known)))),
        Expr::Binary(op, a, b) => binary(*op, with(a, known), with(b, known)),
        Expr::Cast(op, to, a) => simplified(Expr::Cast(*op, *to, Box::new(with(a, known)))),
        Expr::Select(c, a, b) => {
            simplified(Expr::Select(Box::new(with(c, known)), Box::new(with(a, known)), Box::new(with(b, known))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, print};

    fn decided(body: &str) -> String {
        let text = format!("global x: i32; fn f(p: i32) {{ {body} }} fn main() {{ f(1); }}");
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        decide_branches(&mut program);
        let printed = print(&program);
        printed[..printed.find("fn main").expect("it has one")].to_owned()
    }

    #[test]
    fn a_register_that_nobody_assigns_is_0() {
        for cond in ["a == 1", "a != 0", "a + 1 == 3 && p == 1", "!(a == 0)", "(a == 0 ? 0 : p) == 2"] {
            assert!(!decided(&format!("let a: i32; if {cond} {{ store x, 1; }}")).contains("store"), "{cond}");
        }
        assert!(
            !decided("let a: i32; let b: i32; a = 0; if a == 1 { b = 1; } if b == 1 { store x, 1; }").contains("store")
        );
    }

    #[test]
    fn other_branches_stay() {
        for body in [
            "let a: i32; a = load x; if a == 1 { store x, 1; }",
            "if p == 1 { store x, 1; }",
            "let a: i32; loop { if a == 1 { store x, 1; break; } a = 1; }",
            "let a: i32; if 1 / a == 1 { store x, 1; }",
        ] {
            let found = decided(body);
            assert!(found.contains("store") && found.contains("if"), "{found}");
        }
    }
}
