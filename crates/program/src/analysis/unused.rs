//! Which updates need not say what they found?
//!
//! A read-modify-write whose target register is dead behind it loses the target: `old = rmw.add x, 1` becomes
//! `rmw.add x, 1`. Front ends for languages in which every expression has a value make the first of every
//! `atomic_fetch_add(&x, 1);`, and engines that let blind updates commute know them by the missing target. The same holds for waits at
//! barriers, whose result is whether the thread was the last to arrive.
//!
//! An update that may do less than write ([`Idle`](crate::Idle)) needs its target for the condition and is left alone.
//! Cost: one liveness analysis per function that has such updates.

use super::cfg::Cfg;
use super::liveness::Liveness;
use crate::inst::Op;
use crate::program::{BlockId, Function, Program};

/// Takes away the targets of read-modify-writes and of waits at barriers whose results nobody reads.
pub fn drop_unused_results(program: &mut Program) {
    program.functions.iter_mut().for_each(drop_in);
}

fn drop_in(function: &mut Function) {
    let updates: Vec<(BlockId, usize)> = function
        .blocks
        .iter()
        .enumerate()
        .flat_map(|(block, code)| (0..code.insts.len()).map(move |inst| (BlockId(block as u32), inst)))
        .filter(|&(block, inst)| {
            let op = &function.blocks[block.index()].insts[inst].op;
            matches!(op, Op::Rmw { dst: Some(_), idle: None, .. } | Op::BarrierWait { dst: Some(_), .. })
        })
        .collect();
    if updates.is_empty() {
        return;
    }
    let live = Liveness::new(function, &Cfg::new(function));
    for (block, inst) in updates {
        let after = live.before(function, block, inst + 1);
        if let Op::Rmw { dst, .. } | Op::BarrierWait { dst, .. } = &mut function.blocks[block.index()].insts[inst].op
            && dst.is_some_and(|reg| !after.contains(reg))
        {
            *dst = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, print};

    fn dropped(body: &str) -> String {
        let text = format!("global x: i32; global b: barrier(2); fn main() {{ {body} }}");
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        drop_unused_results(&mut program);
        print(&program)
    }

    #[test]
    fn a_result_that_nobody_reads_is_not_asked_for() {
        assert!(!dropped("let old = rmw.add x, 1;").contains("old ="));
        assert!(!dropped("let old = rmw.add x, 1; old = 3; store x, old;").contains("old = rmw"));
        assert!(!dropped("let last = barrier_wait b;").contains("last ="));
        // What only feeds something that nobody reads is dead as well.
        assert!(!dropped("let old = rmw.add x, 1; let new = old + 1;").contains("old = rmw"));
    }

    #[test]
    fn a_result_that_somebody_may_read_stays() {
        assert!(dropped("let last = barrier_wait b; if last { store x, 1; }").contains("last = barrier"));
        assert!(dropped("let old = rmw.add x, 1; store x, old;").contains("old = rmw"));
        let branch = "let old = rmw.add x, 1; let c = choose 0..2; if c == 1 { assert old == 0, \"first\"; }";
        assert!(dropped(branch).contains("old = rmw"));
        let round = "let old = 0; let i = 0; while i < 2 { store x, old; old = rmw.add x, 1; i = i + 1; }";
        assert!(dropped(round).contains("old = rmw"));
        // A division may end the execution by what it divides by.
        assert!(dropped("let old = rmw.add x, 1; let q = 4 / old;").contains("old = rmw"));
    }
}
