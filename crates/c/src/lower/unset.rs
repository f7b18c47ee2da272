//! Which variables are read before they have a value?
//!
//! A variable in a register has no bytes of which memory could know that they were never written. C makes reading it an error all the
//! same (C11 6.3.2.1p2), so it is looked for here, by the definite assignment of compilers (Gosling 1996): forward over the control-flow
//! graph, a variable *may be unset* at a place if some way from its declaration to there does not assign it. Almost every
//! read is of a variable that is set on all ways, and stays as it is. For the others a flag beside the register says whether it is set, and a
//! read is preceded by a test of it. If it fails, an object with the name of the variable is read, to which nobody ever writes:
//! so this error is the one that memory has for whatever was never written.
//!
//! A declaration that is met again, in the next turn of a loop, leaves the variable without a value. The lowering marks declarations by
//! `x = x`, which C programs do not make (see `FnLowerer::set`); the marks are gone afterwards.
//!
//! What is not evaluated is not read: the sides of a choice, and what stands behind `&&` and `||`, count under their conditions.

use super::value::{binary, not};
use raddle_program::{
    BinOp, Block, BlockId, Expr, Function, Inst, Layout, Local, LocalId, Op, Ordering, Reg, RegDecl, Span, Term,
    Terminator, Type, Unwritten,
};

/// No more table entries than this; a function with more is left unchecked.
const MAX_TABLE: usize = 1 << 26;

/// Per register whether it may be unset.
type Unset = Vec<bool>;

/// Puts a test before every read of one of these variables that may have no value, and removes the marks of declarations.
pub(super) fn check(function: &mut Function, variables: &[Reg]) {
    if variables.is_empty() {
        return;
    }
    let mut tracked = vec![false; function.regs.len()];
    variables.iter().for_each(|reg| tracked[reg.index()] = true);
    if function.blocks.len().saturating_mul(tracked.len()) <= MAX_TABLE {
        let entry = solve(function, &tracked);
        let types: Vec<Type> = function.regs.iter().map(|reg| reg.ty).collect();
        let mut suspects = vec![false; types.len()];
        for (block, entry) in function.blocks.iter().zip(&entry) {
            let mut unset = entry.clone();
            let mut note = |found: Vec<Read>| found.iter().for_each(|read| suspects[read.reg.index()] = true);
            for inst in &block.insts {
                note(reads_of_inst(&inst.op, &unset, &types));
                transfer(&inst.op, &mut unset);
            }
            note(reads_of_term(&block.term.kind, &unset, &types));
        }
        if suspects.contains(&true) {
            let flags = flags(function, &suspects);
            insert(function, entry, &types, &flags);
        }
    }
    for block in &mut function.blocks {
        block.insts.retain(|inst| declared(&inst.op).is_none());
    }
}

/// The variable whose declaration this marks.
fn declared(op: &Op) -> Option<Reg> {
    match op {
        Op::Assign { dst, value: Expr::Reg(value) } if dst == value => Some(*dst),
        _ => None,
    }
}

/// What an instruction does to the table.
fn transfer(op: &Op, unset: &mut Unset) {
    if let Some(reg) = declared(op) {
        unset[reg.index()] = true;
    } else if let Some(dst) = op.dst() {
        unset[dst.index()] = false;
    }
}

/// What may be unset at the beginning of each block.
fn solve(function: &Function, tracked: &Unset) -> Vec<Unset> {
    let mut entry: Vec<Option<Unset>> = vec![None; function.blocks.len()];
    entry[0] = Some(tracked.clone());
    let mut todo = vec![BlockId(0)];
    while let Some(id) = todo.pop() {
        let mut unset = entry[id.index()].clone().expect("only reached blocks are on the list");
        let block = &function.blocks[id.index()];
        block.insts.iter().for_each(|inst| transfer(&inst.op, &mut unset));
        block.term.kind.for_each_target(|target| {
            let slot = &mut entry[target.index()];
            let changed = match slot {
                None => {
                    *slot = Some(unset.clone());
                    true
                }
                Some(known) => {
                    let more = known.iter().zip(&unset).any(|(mine, theirs)| *theirs && !*mine);
                    known.iter_mut().zip(&unset).for_each(|(mine, theirs)| *mine |= *theirs);
                    more
                }
            };
            if changed {
                todo.push(target);
            }
        });
    }
    entry.into_iter().map(|table| table.expect("no block is out of reach")).collect()
}

/// A read of a variable that may be unset.
struct Read {
    reg: Reg,
    /// The condition under which it is made; `None` is always.
    when: Option<Expr>,
}

/// Collects what an expression reads, as C would evaluate it.
fn reads(expr: &Expr, unset: &Unset, types: &[Type], when: Option<&Expr>, found: &mut Vec<Read>) {
    let also = |side: Expr| match when {
        Some(outer) => binary(BinOp::And, outer.clone(), side),
        None => side,
    };
    match expr {
        Expr::Reg(reg) => {
            if unset[reg.index()] {
                found.push(Read { reg: *reg, when: when.cloned() });
            }
        }
        Expr::Select(cond, a, b) => {
            reads(cond, unset, types, when, found);
            reads(a, unset, types, Some(&also((**cond).clone())), found);
            reads(b, unset, types, Some(&also(not((**cond).clone()))), found);
        }
        // Truth values are joined by `&&` and `||` only.
        Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) if expr.ty(&|reg| types[reg.index()]) == Type::I1 => {
            reads(a, unset, types, when, found);
            let cond = if *op == BinOp::And { (**a).clone() } else { not((**a).clone()) };
            reads(b, unset, types, Some(&also(cond)), found);
        }
        Expr::Unary(_, a) | Expr::Cast(_, _, a) => reads(a, unset, types, when, found),
        Expr::Binary(_, a, b) => {
            reads(a, unset, types, when, found);
            reads(b, unset, types, when, found);
        }
        Expr::Const(..) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => {}
    }
}

fn reads_of_inst(op: &Op, unset: &Unset, types: &[Type]) -> Vec<Read> {
    let mut found = Vec::new();
    if declared(op).is_none() {
        op.for_each_operand(|expr| reads(expr, unset, types, None, &mut found));
    }
    found
}

fn reads_of_term(term: &Term, unset: &Unset, types: &[Type]) -> Vec<Read> {
    let mut found = Vec::new();
    if let Term::If(value, ..) | Term::Switch(value, ..) | Term::Return(Some(value)) | Term::ExitThread(Some(value)) =
        term
    {
        reads(value, unset, types, None, &mut found);
    }
    found
}

/// What is needed to test one variable.
#[derive(Clone, Copy)]
struct Flag {
    /// Whether the variable is set (`i1`); registers start as 0.
    set: Reg,
    /// The object that nobody writes.
    object: LocalId,
}

/// Makes the flags of these variables. The objects get their names, which are what is reported.
fn flags(function: &mut Function, suspects: &[bool]) -> Vec<Option<Flag>> {
    let mut flags = vec![None; suspects.len()];
    for (index, _) in suspects.iter().enumerate().filter(|(_, suspect)| **suspect) {
        let RegDecl { name, ty } = function.regs[index].clone();
        function.regs[index].name = format!("{name}.value");
        let (set, object) = (Reg(function.regs.len() as u32), LocalId(function.locals.len() as u32));
        function.regs.push(RegDecl { name: format!("{name}.set"), ty: Type::I1 });
        function.locals.push(Local { name, layout: Layout::Scalar(ty), span: function.span });
        flags[index] = Some(Flag { set, object });
    }
    flags
}

/// Blocks being rewritten: what is cut off goes to new ones at the end.
struct Rewriter<'a> {
    blocks: Vec<Block>,
    flags: &'a [Option<Flag>],
    types: &'a [Type],
    /// The block that receives what comes next.
    current: usize,
}

fn insert(function: &mut Function, entry: Vec<Unset>, types: &[Type], flags: &[Option<Flag>]) {
    let old = std::mem::take(&mut function.blocks);
    let empty = |block: &Block| Block { turn: block.turn, insts: Vec::new(), term: block.term.clone() };
    let mut rewriter = Rewriter { blocks: old.iter().map(empty).collect(), flags, types, current: 0 };
    for (index, (block, mut unset)) in old.into_iter().zip(entry).enumerate() {
        rewriter.current = index;
        for inst in block.insts {
            let found = reads_of_inst(&inst.op, &unset, types);
            rewriter.test(found, inst.span, &mut unset);
            transfer(&inst.op, &mut unset);
            rewriter.keep(inst);
        }
        let found = reads_of_term(&block.term.kind, &unset, types);
        rewriter.test(found, block.term.span, &mut unset);
        rewriter.blocks[rewriter.current].term = block.term;
    }
    function.blocks = rewriter.blocks;
}

impl Rewriter<'_> {
    fn push(&mut self, op: Op, span: Span) {
        self.blocks[self.current].insts.push(Inst { op, span });
    }

    /// Adds an instruction, and what it means for the flag of the variable that it writes.
    fn keep(&mut self, inst: Inst) {
        let span = inst.span;
        let mark = declared(&inst.op);
        let change = mark.or(inst.op.dst()).and_then(|dst| self.flags.get(dst.index()).copied().flatten());
        self.blocks[self.current].insts.push(inst);
        if let Some(flag) = change {
            self.push(Op::Assign { dst: flag.set, value: Expr::bool(mark.is_none()) }, span);
        }
    }

    fn block(&mut self, kind: Term, span: Span) -> BlockId {
        self.blocks.push(Block { turn: None, insts: Vec::new(), term: Terminator { kind, span } });
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Tests the variables that are about to be read.
    fn test(&mut self, found: Vec<Read>, span: Span, unset: &mut Unset) {
        for Read { reg, when } in found {
            if !unset[reg.index()] {
                continue;
            }
            let flag = self.flags[reg.index()].expect("whatever may be read unset has a flag");
            let missing = not(Expr::Reg(flag.set));
            let wrong = match &when {
                Some(when) => binary(BinOp::And, when.clone(), missing),
                None => missing,
            };
            let next = self.block(Term::Unreachable, span);
            let error = self.block(Term::Goto(next), span);
            self.blocks[self.current].term = Terminator { kind: Term::If(wrong, error, next), span };
            self.current = error.index();
            let (ty, addr) = (self.types[reg.index()], Expr::Local(flag.object));
            let order = Ordering::NonAtomic;
            self.push(Op::Load { dst: Some(reg), ty, addr, order, until: None, unwritten: Unwritten::Error }, span);
            self.push(Op::Assign { dst: flag.set, value: Expr::bool(true) }, span);
            self.current = next.index();
            unset[reg.index()] &= when.is_some();
        }
    }
}
