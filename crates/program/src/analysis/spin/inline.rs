//! Small functions put in the place of their calls.
//!
//! `while (!trylock(l)) {}` waits, but that is seen only with the body of `trylock` in the loop. A function is small if it has few
//! instructions and neither objects of its own nor loops nor calls. Registers of the callee become registers of the caller, which start as 0 whenever
//! the call is reached, as they do in a function that is entered.

use crate::analysis::cfg::Cfg;
use crate::analysis::loops::Loop;
use crate::expr::Expr;
use crate::inst::{Block, Callee, Inst, Op, Term, Terminator};
use crate::program::{BlockId, FuncId, Function, Reg, RegDecl};
use rustc_hash::FxHashSet;

/// A function with more instructions is not small.
const MAX_INSTS: usize = 24;
const MAX_BLOCKS: usize = 12;
/// No more calls than this are replaced in one loop.
const MAX_CALLS: usize = 8;

/// A copy of the function if it is small.
pub(super) fn small(function: &Function) -> Option<Function> {
    let insts: usize = function.blocks.iter().map(|block| block.insts.len()).sum();
    if insts > MAX_INSTS || function.blocks.len() > MAX_BLOCKS || !function.locals.is_empty() {
        return None;
    }
    let mut ops = function.blocks.iter().flat_map(|block| &block.insts).map(|inst| &inst.op);
    let leaf = !ops.any(|op| matches!(op, Op::Call { .. } | Op::AtomicBegin | Op::AtomicEnd));
    (leaf && Cfg::new(function).retreating_edges().is_empty()).then(|| function.clone())
}

/// The function with calls of small functions in the loop replaced; `None` if there are none.
pub(super) fn inlined(function: &Function, l: &Loop, small: &[Option<Function>]) -> Option<Function> {
    let mut result = function.clone();
    let mut names: FxHashSet<String> = function.regs.iter().map(|reg| reg.name.clone()).collect();
    names.extend(function.locals.iter().map(|local| local.name.clone()));
    let mut calls = 0;
    for &block in &l.blocks {
        // What follows the call moves to a new block, so the last call of a block comes first.
        while let Some((at, callee)) = last_call(&result.blocks[block.index()], small) {
            calls += 1;
            if calls > MAX_CALLS {
                return None;
            }
            replace(&mut result, block, at, small[callee.index()].as_ref()?, &mut names);
        }
    }
    (calls > 0).then_some(result)
}

fn last_call(block: &Block, small: &[Option<Function>]) -> Option<(usize, FuncId)> {
    block.insts.iter().enumerate().rev().find_map(|(at, inst)| match inst.op {
        Op::Call { callee: Callee::Direct(id), .. } if small[id.index()].is_some() => Some((at, id)),
        _ => None,
    })
}

fn replace(function: &mut Function, block: BlockId, at: usize, callee: &Function, names: &mut FxHashSet<String>) {
    let mut rest = function.blocks[block.index()].insts.split_off(at);
    let Inst { op, span } = rest.remove(0);
    let Op::Call { dst, args, .. } = op else { return };
    let first_reg = function.regs.len() as u32;
    for reg in &callee.regs {
        let name = (0..).map(|n| format!("{}.{}{n}", reg.name, callee.name)).find(|name| names.insert(name.clone()));
        function.regs.push(RegDecl { name: name.expect("some name is free"), ty: reg.ty });
    }
    let moved = |reg: Reg| Reg(reg.0 + first_reg);
    let first_block = function.blocks.len() as u32;
    let after = BlockId(first_block + callee.blocks.len() as u32);
    let entering = callee.regs.iter().enumerate().map(|(index, reg)| {
        let value = args.get(index).cloned().unwrap_or(Expr::Const(reg.ty, 0));
        Inst { op: Op::Assign { dst: Reg(first_reg + index as u32), value }, span }
    });
    let term = Terminator { kind: Term::Goto(BlockId(first_block)), span };
    let before = &mut function.blocks[block.index()];
    before.insts.extend(entering);
    let after_term = std::mem::replace(&mut before.term, term);
    for source in &callee.blocks {
        let mut copy = source.clone();
        for inst in &mut copy.insts {
            inst.op.map_registers(&moved);
        }
        copy.term.kind.map_registers(&moved);
        copy.term.kind.map_targets(|target| BlockId(target.0 + first_block));
        if let Term::Return(value) = &copy.term.kind {
            if let (Some(dst), Some(value)) = (dst, value.clone()) {
                copy.insts.push(Inst { op: Op::Assign { dst, value }, span: copy.term.span });
            }
            copy.term.kind = Term::Goto(after);
        }
        function.blocks.push(copy);
    }
    function.blocks.push(Block { turn: None, insts: rest, term: after_term });
}
