//! Small functions put in the place of their calls.
//!
//! `while (!trylock(l)) {}` waits, but that is seen only with the body of `trylock` in the loop; and `require(get(x) == 1)` is a load that leads
//! straight into an assumption, but that is seen only with both bodies in the caller. A function is small if it has few
//! instructions and neither objects of its own nor loops nor calls. Registers of the callee become registers of the caller, which start as 0 whenever
//! the call is reached, as they do in a function that is entered.

use crate::analysis::cfg::Cfg;
use crate::expr::Expr;
use crate::inst::{Block, Callee, Inst, Op, Term, Terminator};
use crate::program::{BlockId, FuncId, Function, Program, Reg, RegDecl};
use rustc_hash::FxHashSet;

/// A function with more instructions is not small.
const MAX_INSTS: usize = 24;
const MAX_BLOCKS: usize = 12;
/// No more calls than this are replaced among the assumptions of one function.
const MAX_HELPERS: usize = 64;
/// How often helpers of helpers are looked for.
const MAX_DEPTH: usize = 3;

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

/// Puts small functions that assume something, or do no more than look, in the place of their calls if the program assumes anything. It must be valid, and
/// stays so.
pub fn inline_helpers(program: &mut Program) {
    let assumes = |function: &Function| any(function, |op| matches!(op, Op::Assume { .. }));
    if !program.functions.iter().any(assumes) {
        return;
    }
    let looks = |function: &Function| !any(function, |op| !matches!(op, Op::Load { .. } | Op::Assign { .. }));
    for _ in 0..MAX_DEPTH {
        let helper = |function: &Function| small(function).filter(|body| assumes(body) || looks(body));
        let helpers: Vec<Option<Function>> = program.functions.iter().map(helper).collect();
        let mut changed = false;
        for function in &mut program.functions {
            let blocks: Vec<BlockId> = (0..function.blocks.len() as u32).map(BlockId).collect();
            if let Some(inlined) = inlined(function, &blocks, &helpers, MAX_HELPERS) {
                *function = inlined;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

fn any(function: &Function, is: impl Fn(&Op) -> bool) -> bool {
    function.blocks.iter().flat_map(|block| &block.insts).any(|inst| is(&inst.op))
}

/// The function with calls of small functions in these blocks replaced; `None` if there are none, or more than `most`.
pub(super) fn inlined(
    function: &Function,
    blocks: &[BlockId],
    small: &[Option<Function>],
    most: usize,
) -> Option<Function> {
    let replaced = |block: &BlockId| calls(&function.blocks[block.index()], small).count();
    let count: usize = blocks.iter().map(replaced).sum();
    if count == 0 || count > most {
        return None;
    }
    let mut result = function.clone();
    let mut names: FxHashSet<String> = function.regs.iter().map(|reg| reg.name.clone()).collect();
    names.extend(function.locals.iter().map(|local| local.name.clone()));
    for &block in blocks {
        // What follows the call moves to a new block, so the last call of a block comes first.
        while let Some((at, callee)) = calls(&result.blocks[block.index()], small).last() {
            replace(&mut result, block, at, small[callee.index()].as_ref()?, &mut names);
        }
    }
    Some(result)
}

/// The calls of small functions in a block.
pub(super) fn calls<'b>(block: &'b Block, small: &'b [Option<Function>]) -> impl Iterator<Item = (usize, FuncId)> + 'b {
    block.insts.iter().enumerate().filter_map(|(at, inst)| match inst.op {
        Op::Call { callee: Callee::Direct(id), .. } if small[id.index()].is_some() => Some((at, id)),
        _ => None,
    })
}

pub(super) fn replace(
    function: &mut Function,
    block: BlockId,
    at: usize,
    callee: &Function,
    names: &mut FxHashSet<String>,
) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::assumed;
    use crate::{parse, validate};

    /// How many loads of the first function lead straight into an assumption once helpers stand in their places.
    fn loads(body: &str) -> usize {
        let helpers = "fn get(p: ptr) -> i32 { let r: i32; r = load *p; return r; }
            fn require(c: i32) { if c == 0 { assume false; } }
            fn wanted(p: ptr) { let r = call get(p); call require(zext(i32, r == 1)); }
            fn act(p: ptr) -> i32 { let r: i32; r = load *p; store y, 1; return r; }";
        let text = format!("global x: i32; global y: i32; fn main() {{ {body} }} {helpers}");
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        inline_helpers(&mut program);
        validate(&program).unwrap_or_else(|e| panic!("{e:?}"));
        assumed::passing(&program, &program.functions[0]).len()
    }

    #[test]
    fn loads_and_assumptions_of_helpers_meet_in_the_caller() {
        assert_eq!(loads("let r = load x; call require(zext(i32, r == 1));"), 1);
        assert_eq!(loads("let r = call get(&x); assume r == 1;"), 1);
        assert_eq!(
            loads(
                "let r = call get(&x); call require(zext(i32, r == 1)); let s = call get(&y); call require(zext(i32, s == r));"
            ),
            2
        );
        assert_eq!(loads("call wanted(&x);"), 1);
        assert_eq!(loads("let r = call act(&x); call require(zext(i32, r == 1));"), 0);
    }
}
