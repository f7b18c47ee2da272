//! Which loops are known to end by themselves?
//!
//! A loop is *counted* if it has one way in, and in every turn of it (that is, in blocks that dominate all its jumps back)
//!
//! - a test leaves it unless `i < n` (or `<=`, or the other way round), and
//! - `i` is changed by a constant, upwards for `<`, and nowhere else in the loop,
//!
//! where `n` is computed from constants and registers that the loop does not write. The number of turns is then settled when the loop is entered. Such loops
//! need no bound: what stands behind one would be lost for a bound that is smaller than its number of turns, which is hardly ever
//! what somebody wanted who bounds the loops that do not end. The induction variables are those of every compiler (Allen and Cocke 1969).
//! A counter that wraps around before it gets to `n` is not recognised; then the limit on the length of an execution is what ends it.

use super::bounds::LoopBounds;
use super::cfg::Cfg;
use super::loops::{Loop, LoopId, Loops};
use crate::expr::{BinOp, Expr, UnOp};
use crate::inst::{Op, Term, Turn};
use crate::program::{BlockId, Function, Program, Reg};

/// Takes the bound from all counted loops but those that a bound names.
pub fn free_counted_loops(program: &mut Program, bounds: &LoopBounds) {
    for function in &mut program.functions {
        let cfg = Cfg::new(function);
        let loops = Loops::new(function, &cfg);
        for (id, l) in (0..).map(LoopId).zip(&loops.list) {
            if is_counted(function, &cfg, l) {
                let (begin, turn) = loops.beginning(function, &cfg, id);
                if bounds.named(&program.sources, function, turn).is_some() {
                    continue;
                }
                function.blocks[begin.index()].turn = Some(Turn { unbounded: true, ..turn });
            }
        }
    }
}

/// Whether the loop ends by itself.
pub(crate) fn is_counted(function: &Function, cfg: &Cfg, l: &Loop) -> bool {
    if !l.natural {
        return false;
    }
    let always = |block: BlockId| l.back_edges.iter().all(|&(from, _)| cfg.dominates(block, from));
    l.blocks.iter().filter(|&&block| always(block)).any(|&block| {
        let Term::If(cond, yes, no) = &function.blocks[block.index()].term.kind else { return false };
        match (l.contains(*yes), l.contains(*no)) {
            (true, false) => stays_while(cond, true).iter().any(|&test| counts(function, l, &always, test)),
            (false, true) => stays_while(cond, false).iter().any(|&test| counts(function, l, &always, test)),
            _ => false,
        }
    })
}

/// Whether the loop ends, be it after a counter has wrapped around: one that moves in steps of one meets every number.
pub(crate) fn ends(function: &Function, cfg: &Cfg, l: &Loop) -> bool {
    let always = |block: BlockId| l.back_edges.iter().all(|&(from, _)| cfg.dominates(block, from));
    let meets = |cond: &Expr, stays: bool| {
        let (a, b) = match (cond, stays) {
            (Expr::Binary(BinOp::Ne, a, b), true) | (Expr::Binary(BinOp::Eq, a, b), false) => (&**a, &**b),
            _ => return false,
        };
        let (Expr::Reg(reg), Expr::Const(..)) = (a, b) else { return false };
        match writes(function, l, *reg)[..] {
            [(block, op)] => always(block) && step(op, *reg, *reg, function).is_some_and(|by| by.abs() == 1),
            _ => false,
        }
    };
    is_counted(function, cfg, l)
        || l.natural
            && l.blocks.iter().filter(|&&block| always(block)).any(|&block| {
                let Term::If(cond, yes, no) = &function.blocks[block.index()].term.kind else { return false };
                match (l.contains(*yes), l.contains(*no)) {
                    (true, false) => meets(cond, true),
                    (false, true) => meets(cond, false),
                    _ => false,
                }
            })
}

/// A comparison by which a loop goes on: the first operand is less than the second, or less or equal.
type Test<'a> = (&'a Expr, &'a Expr);

/// The comparisons that must all hold if the condition is (or is not) to hold.
fn stays_while(cond: &Expr, holds: bool) -> Vec<Test<'_>> {
    match (cond, holds) {
        (Expr::Unary(UnOp::Not, inner), _) => stays_while(inner, !holds),
        (Expr::Binary(BinOp::And, a, b), true) | (Expr::Binary(BinOp::Or, a, b), false) => {
            [stays_while(a, holds), stays_while(b, holds)].concat()
        }
        (Expr::Binary(BinOp::SLt | BinOp::ULt | BinOp::SLe | BinOp::ULe, a, b), true) => vec![(&**a, &**b)],
        (Expr::Binary(BinOp::SLt | BinOp::ULt | BinOp::SLe | BinOp::ULe, a, b), false) => vec![(&**b, &**a)],
        _ => Vec::new(),
    }
}

/// Whether one side of the comparison moves towards the other, which stands still.
fn counts(function: &Function, l: &Loop, always: &impl Fn(BlockId) -> bool, (low, high): Test<'_>) -> bool {
    let fixed = |expr: &Expr| {
        let mut fixed = true;
        expr.walk(&mut |part| fixed &= !matches!(part, Expr::Reg(reg) if !writes(function, l, *reg).is_empty()));
        fixed
    };
    let moves = |expr: &Expr, up: bool| {
        let Expr::Reg(reg) = expr else { return false };
        // `n-- > 0` compares what the counter was before.
        let (reg, copy) = match writes(function, l, *reg)[..] {
            [(block, Op::Assign { value: Expr::Reg(counter), .. })] if always(block) => (*counter, *reg),
            _ => (*reg, *reg),
        };
        match writes(function, l, reg)[..] {
            [(block, op)] => always(block) && step(op, reg, copy, function).is_some_and(|by| by != 0 && (by > 0) == up),
            _ => false,
        }
    };
    moves(low, true) && fixed(high) || fixed(low) && moves(high, false)
}

/// The instructions of the loop that write a register.
fn writes<'f>(function: &'f Function, l: &Loop, reg: Reg) -> Vec<(BlockId, &'f Op)> {
    let of = |&block: &BlockId| {
        let insts = &function.blocks[block.index()].insts;
        insts.iter().filter(move |inst| inst.op.dst() == Some(reg)).map(move |inst| (block, &inst.op))
    };
    l.blocks.iter().flat_map(of).collect()
}

/// By how much the instruction changes the register, from itself or a copy, if that is a constant.
fn step(op: &Op, reg: Reg, copy: Reg, function: &Function) -> Option<i64> {
    let Op::Assign { value: Expr::Binary(op, a, b), .. } = op else { return None };
    let (Expr::Reg(from), Expr::Const(ty, by)) = (&**a, &**b) else { return None };
    let by = ty.signed(*by);
    match op {
        _ if (*from != reg && *from != copy) || *ty != function.reg_type(reg) => None,
        BinOp::Add => Some(by),
        BinOp::Sub => by.checked_neg(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    /// How many loops of the program keep their bound.
    fn bounded(body: &str) -> usize {
        let text =
            format!("global x: i32; fn main() {{ let n: i32 = load x; let i: i32 = 0; let m: i32 = 0; {body} }}");
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        free_counted_loops(&mut program, &LoopBounds::default());
        let function = &program.functions[0];
        let cfg = Cfg::new(function);
        let loops = Loops::new(function, &cfg);
        let ids = (0..loops.list.len() as u32).map(LoopId);
        ids.filter(|&id| !loops.beginning(function, &cfg, id).1.unbounded).count()
    }

    #[test]
    fn counted_loops_have_no_bound() {
        for body in [
            "while i < 5 { i = i + 1; }",
            "while i < n { store x, i; i = i + 2; }",
            "while n > i { i = i + 1; if i == m { break; } }",
            "i = n; while i > 0 { i = i - 1; }",
            "i = n; while i >= m { i = i - 3; }",
            "i = n; loop { m = i; i = i - 1; if m <= 0 { break; } }",
            "i = n; loop { m = i; i = m - 1; if m <= 0 { break; } }",
            "while i < n { i = i + 1; m = 0; while m < i { m = m + 1; } }",
        ] {
            assert_eq!(bounded(body), 0, "{body}");
        }
    }

    #[test]
    fn other_loops_keep_theirs() {
        for body in [
            "loop { i = i + 1; }",
            "while i < n { n = load x; i = i + 1; }",
            "while i < 5 { if n == 3 { i = i + 1; } }",
            "while i < 5 { i = i - 1; }",
            "while i != 5 { i = i + 1; }",
            "while i < 5 { i = i + m; }",
            "while i < 5 { i = i + 1; i = 0; }",
            "while i < 5 { if n == 3 { continue; } i = i + 1; }",
            "while i < 5 { i = i + 0; }",
            "while i < n || m == 0 { i = i + 1; }",
        ] {
            assert_eq!(bounded(body), 1, "{body}");
        }
    }
}
