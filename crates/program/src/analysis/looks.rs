//! Loops that look at memory so many times and do the same whatever they see.
//!
//! ```text
//! for (i = 0; i < 100; i++)
//!     if (!load(&lock))
//!         break;
//! ```
//!
//! stands in many locks before an attempt. How many turns it takes makes no difference to anything but time: all ways out lead to one place, and nothing that the loop
//! computes is read there. So it is enough that it looks once. Every execution of the loop that looks once is one of the loop as it is, since a look may be repeated with the same
//! result until the count is up; and every execution of the loop as it is has, without all looks but the last, fewer constraints and the same effect. Two conditions
//! make that true: the loop ends by itself (else it waits, which is for [`spin`](super::spin)), and all turns look at the same places, so that what is wrong with a
//! look is wrong with the first. Only loops inside of other loops are changed: those are what keeps the loop around them from being one that waits.
//!
//! Cost: linear in the size of the function for each loop that is changed.

use super::cfg::Cfg;
use super::counted::ends;
use super::liveness::{Liveness, may_fail};
use super::loops::{Loop, Loops};
use crate::expr::Expr;
use crate::inst::{Inst, Op, Term};
use crate::program::{BlockId, Function, Program, Reg};

/// Lets such loops look once. Whether there were any.
pub fn look_once(program: &mut Program) -> bool {
    let mut changed = false;
    for function in &mut program.functions {
        while let Some((edges, out)) = find(function) {
            for (from, head) in edges {
                function.blocks[from.index()].term.kind.map_targets(|to| if to == head { out } else { to });
            }
            changed = true;
        }
        crate::program::drop_unreachable_blocks(function);
    }
    changed
}

/// The jumps back of a loop that may look once, and where it leads.
fn find(function: &Function) -> Option<(Vec<(BlockId, BlockId)>, BlockId)> {
    let cfg = Cfg::new(function);
    if cfg.retreating_edges().is_empty() {
        return None;
    }
    let loops = Loops::new(function, &cfg);
    let mut live = None;
    loops.list.iter().find_map(|l| {
        let inner = |&(from, to): &(BlockId, BlockId)| to != l.head && l.contains(from) && l.contains(to);
        if !l.natural || l.parent.is_none() || cfg.retreating_edges().iter().any(inner) || !ends(function, &cfg, l) {
            return None;
        }
        let written: Vec<Reg> = insts(function, l).filter_map(|inst| inst.op.dst()).collect();
        let mut looks = false;
        for inst in insts(function, l) {
            match &inst.op {
                Op::Assign { value, .. } if !may_fail(value) => {}
                Op::Load { addr, until: None, .. } if stands_still(addr, &written) => looks = true,
                _ => return None,
            }
        }
        let out = way_out(function, &cfg, l).filter(|_| looks)?;
        let live = live.get_or_insert_with(|| Liveness::new(function, &cfg)).live_in(out);
        let unread = written.iter().all(|&reg| !live.contains(reg));
        unread.then(|| (l.back_edges.clone(), out))
    })
}

fn insts<'f>(function: &'f Function, l: &'f Loop) -> impl Iterator<Item = &'f Inst> {
    l.blocks.iter().flat_map(|block| &function.blocks[block.index()].insts)
}

fn stands_still(addr: &Expr, written: &[Reg]) -> bool {
    let mut still = !may_fail(addr);
    addr.walk(&mut |part| still &= !matches!(part, Expr::Reg(reg) if written.contains(reg)));
    still
}

/// Where all ways out of the loop lead, if that is one place.
fn way_out(function: &Function, cfg: &Cfg, l: &Loop) -> Option<BlockId> {
    // Blocks that only jump on make no difference; a chain that is longer than this may be a circle.
    let onwards = |block: BlockId| {
        let next = |&at: &BlockId| match &function.blocks[at.index()] {
            block if block.insts.is_empty() && block.turn.is_none() => match block.term.kind {
                Term::Goto(to) => Some(to),
                _ => None,
            },
            _ => None,
        };
        std::iter::successors(Some(block), next).take(16).last().unwrap_or(block)
    };
    let mut out = None;
    for &block in &l.blocks {
        let term = &function.blocks[block.index()].term.kind;
        if !matches!(term, Term::Goto(_) | Term::If(..) | Term::Switch(..)) {
            return None;
        }
        for &to in cfg.successors(block).iter().filter(|&&to| !l.contains(to)) {
            let to = onwards(to);
            if l.contains(to) || *out.get_or_insert(to) != to {
                return None;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, print};

    fn looked(body: &str) -> (bool, String) {
        let text = format!("global x: i32; global a: i32[4]; fn main() {{ let i: i32 = 0; let n: i32 = 0; {body} }}");
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let changed = look_once(&mut program);
        crate::validate(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        (changed, print(&program))
    }

    #[test]
    fn what_it_sees_makes_no_difference() {
        for body in [
            "i = 0; while i < 100 { let r = load.rlx x; if r == 0 { break; } i = i + 1; } store x, 1;",
            "i = 50; loop { let r = load.rlx x; if r == 0 { break; } if i <= 0 { break; } i = i - 1; } store x, 1;",
        ] {
            let (changed, text) = looked(&format!("loop {{ {body} }}"));
            assert!(changed && text.contains("load"), "{text}");
        }
    }

    #[test]
    fn what_makes_a_difference_stays() {
        for body in [
            // It waits.
            "loop { let r = load.rlx x; if r == 0 { break; } } store x, 1;",
            // What it saw is used, how often it looked, or where it left.
            "while i < 9 { n = load.rlx x; if n == 0 { break; } i = i + 1; } store x, n;",
            "while i < 9 { let r = load.rlx x; if r == 0 { break; } i = i + 1; } store x, i;",
            "while i < 9 { let r = load.rlx x; if r == 0 { store x, 2; return; } i = i + 1; } store x, 1;",
            // It looks elsewhere in each turn, or does more than look.
            "while i < 9 { let r = load.rlx a[i]; if r == 0 { break; } i = i + 1; } store x, 1;",
            "while i < 9 { let r = load.rlx x; if r == 0 { break; } store x, 4; i = i + 1; }",
            "while i < 9 { let r = load.rlx x; if r == 0 { break; } fence.acq; i = i + 1; }",
        ] {
            let (changed, text) = looked(&format!("loop {{ {body} }}"));
            assert!(!changed, "{body}: {text}");
        }
    }
}
