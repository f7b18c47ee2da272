//! Code that makes no difference, taken out.
//!
//! Locks back off: they count their attempts, wait for 1, 2, 4, ... turns of an empty loop, yield every so often. None of it has an effect, but a counter that survives
//! a turn of the lock's loop makes every turn a different one, and the loop is not seen to only wait. What counts is what a computation leads to:
//! an instruction is *needed* if it does something (accesses memory, calls, may fail), if a needed one uses what it computes, and a branch is needed if it decides whether a needed
//! instruction is executed, or whether a loop ends that is not known to end by itself. All else goes: what is not needed is assumed not to be, until the contrary is shown (Cytron, Ferrante, Rosen, Wegman,
//! Zadeck 1991, section 7.1), so that a counter that only feeds its own branch disappears with it.
//!
//! A local object that is mentioned nowhere but as the place of stores is like a register that nobody reads: the stores go.
//!
//! Registers are taken as wholes: one needed use makes all that writes the register needed. Cost: near linear in the size of a function, apart from
//! dominators.

use super::cfg::Cfg;
use super::counted::ends;
use super::liveness::may_fail;
use super::loops::Loops;
use super::mentions::mentioned_only;
use crate::Ordering;
use crate::expr::{BinOp, Expr};
use crate::inst::{Callee, Op, Term};
use crate::program::{BlockId, Function, LocalId, Program, Reg};

/// Takes out what makes no difference, in every function.
pub fn drop_idle_code(program: &mut Program) {
    program.functions.iter_mut().for_each(drop_unread_stores);
    let idle: Vec<bool> = program.functions.iter().map(does_nothing).collect();
    program.functions.iter_mut().for_each(|function| drop_in(function, &idle));
}

/// Whether calling the function does nothing, apart from what it returns, and ends.
fn does_nothing(function: &Function) -> bool {
    let cfg = Cfg::new(function);
    let computes = |op: &Op| matches!(op, Op::Assign { value, .. } if !may_fail(value));
    let plain = |term: &Term| match term {
        Term::Goto(_) | Term::Return(None) => true,
        Term::If(value, ..) | Term::Switch(value, ..) | Term::Return(Some(value)) => !may_fail(value),
        Term::ExitThread(_) | Term::Exit | Term::Spin(_) | Term::Unreachable => false,
    };
    let blocks = &function.blocks;
    cfg.retreating_edges().is_empty()
        && blocks.iter().all(|block| block.insts.iter().all(|inst| computes(&inst.op)) && plain(&block.term.kind))
}

/// Takes out stores to local objects that are never read, nor reached in another way.
fn drop_unread_stores(function: &mut Function) {
    let only_stored = mentioned_only(function, |op| stored(function, op));
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        block.insts.retain(|inst| stored(function, &inst.op).is_none_or(|local| !only_stored[local.index()]));
    }
    function.blocks = blocks;
}

/// The local object in which this is an ordinary store at a known place, which cannot fail.
fn stored(function: &Function, op: &Op) -> Option<LocalId> {
    let Op::Store { ty, addr, value, order: Ordering::NonAtomic } = op else { return None };
    let (local, offset) = match addr {
        Expr::Local(local) => (*local, 0),
        Expr::Binary(BinOp::Add, base, offset) => match (&**base, &**offset) {
            (Expr::Local(local), Expr::Const(_, offset)) => (*local, *offset),
            _ => return None,
        },
        _ => return None,
    };
    let size = u64::from(function.locals[local.index()].layout.size());
    (!may_fail(value) && offset.checked_add(u64::from(ty.size()))? <= size).then_some(local)
}

/// What is needed so far, and what follows from that.
struct Needs<'f> {
    function: &'f Function,
    /// On which branches the execution of a block depends.
    deciders: Vec<Vec<BlockId>>,
    /// The computations of each register: in which block, of which operands.
    computed: Vec<Vec<(BlockId, Vec<Reg>)>>,
    registers: Vec<bool>,
    blocks: Vec<bool>,
    branches: Vec<bool>,
    todo: Vec<Need>,
}

enum Need {
    Register(Reg),
    Block(BlockId),
    Branch(BlockId),
}

fn registers_of(expr: &Expr) -> Vec<Reg> {
    let mut found = Vec::new();
    expr.walk(&mut |part| {
        if let Expr::Reg(reg) = part {
            found.push(*reg);
        }
    });
    found
}

fn operands(op: &Op) -> Vec<Reg> {
    let mut found = Vec::new();
    op.for_each_operand(|operand| found.extend(registers_of(operand)));
    found.extend(op.condition().into_iter().flat_map(registers_of));
    found
}

fn decision(term: &Term) -> Option<&Expr> {
    match term {
        Term::If(value, ..) | Term::Switch(value, ..) => Some(value),
        _ => None,
    }
}

/// Whether the instruction only computes.
fn computes(op: &Op, idle: &[bool]) -> bool {
    match op {
        Op::Assign { value, .. } => !may_fail(value),
        Op::Call { callee: Callee::Direct(function), args, .. } => idle[function.index()] && !args.iter().any(may_fail),
        _ => false,
    }
}

fn drop_in(function: &mut Function, idle: &[bool]) {
    let cfg = Cfg::new(function);
    let after = Afterwards::new(function, &cfg);
    let mut needs = Needs::new(function, &cfg, &after, idle);
    needs.settle();
    let Needs { registers, branches, .. } = needs;
    for block in (0..function.blocks.len() as u32).map(BlockId) {
        let code = &mut function.blocks[block.index()];
        let needed = |op: &Op| !computes(op, idle) || op.dst().is_some_and(|reg| registers[reg.index()]);
        code.insts.retain(|inst| needed(&inst.op));
        if decision(&code.term.kind).is_some()
            && !branches[block.index()]
            && let Some(next) = after.next(block)
        {
            code.term.kind = Term::Goto(next);
        }
    }
}

impl<'f> Needs<'f> {
    fn new(function: &'f Function, cfg: &Cfg, after: &Afterwards, idle: &[bool]) -> Self {
        let (blocks, registers) = (function.blocks.len(), function.regs.len());
        let mut needs = Needs {
            function,
            deciders: after.deciders(cfg, blocks),
            computed: vec![Vec::new(); registers],
            registers: vec![false; registers],
            blocks: vec![false; blocks],
            branches: vec![false; blocks],
            todo: Vec::new(),
        };
        for &block in cfg.reverse_postorder() {
            let code = &function.blocks[block.index()];
            for inst in &code.insts {
                match inst.op.dst() {
                    Some(dst) if computes(&inst.op, idle) => {
                        needs.computed[dst.index()].push((block, operands(&inst.op)));
                    }
                    _ if computes(&inst.op, idle) => {}
                    _ => {
                        needs.block(block);
                        operands(&inst.op).into_iter().for_each(|reg| needs.register(reg));
                    }
                }
            }
            match &code.term.kind {
                Term::Goto(_) => {}
                Term::If(value, ..) | Term::Switch(value, ..) if may_fail(value) => needs.branch(block),
                Term::If(..) | Term::Switch(..) => {}
                Term::Return(value) | Term::ExitThread(value) => {
                    needs.block(block);
                    value.iter().flat_map(registers_of).for_each(|reg| needs.register(reg));
                }
                Term::Exit | Term::Spin(_) | Term::Unreachable => needs.block(block),
            }
            if after.never_ends(block) {
                needs.block(block);
                needs.branch(block);
            }
        }
        for l in Loops::new(function, cfg).list.iter().filter(|l| !ends(function, cfg, l)) {
            let leaves = |block: &&BlockId| cfg.successors(**block).iter().any(|&next| !l.contains(next));
            l.blocks.iter().filter(leaves).for_each(|&block| needs.branch(block));
        }
        needs
    }

    fn register(&mut self, reg: Reg) {
        if !std::mem::replace(&mut self.registers[reg.index()], true) {
            self.todo.push(Need::Register(reg));
        }
    }

    fn block(&mut self, block: BlockId) {
        if !std::mem::replace(&mut self.blocks[block.index()], true) {
            self.todo.push(Need::Block(block));
        }
    }

    fn branch(&mut self, block: BlockId) {
        if !std::mem::replace(&mut self.branches[block.index()], true) {
            self.todo.push(Need::Branch(block));
        }
    }

    /// Follows needs to all that they need.
    fn settle(&mut self) {
        while let Some(need) = self.todo.pop() {
            match need {
                Need::Register(reg) => {
                    for (block, operands) in std::mem::take(&mut self.computed[reg.index()]) {
                        self.block(block);
                        operands.into_iter().for_each(|reg| self.register(reg));
                    }
                }
                Need::Block(block) => {
                    let deciders = std::mem::take(&mut self.deciders[block.index()]);
                    deciders.into_iter().for_each(|decider| self.branch(decider));
                }
                Need::Branch(block) => {
                    self.block(block);
                    let value = decision(&self.function.blocks[block.index()].term.kind);
                    value.into_iter().flat_map(registers_of).for_each(|reg| self.register(reg));
                }
            }
        }
    }
}

/// What comes after a block on every way to the end of the function: dominators of the graph with all its edges turned round, behind one end for all. Where a function
/// does not come to an end, it is taken to be able to at the jumps back of its loops.
struct Afterwards {
    reversed: Cfg,
    endless: Vec<bool>,
}

impl Afterwards {
    fn new(function: &Function, cfg: &Cfg) -> Self {
        let count = function.blocks.len();
        // The end is number 0.
        let mut edges = vec![Vec::new(); count + 1];
        for &block in cfg.reverse_postorder() {
            cfg.successors(block).iter().for_each(|next| edges[next.index() + 1].push(BlockId(block.0 + 1)));
            if cfg.successors(block).is_empty() {
                edges[0].push(BlockId(block.0 + 1));
            }
        }
        let reversed = Cfg::of_graph(edges.clone());
        let mut endless = vec![false; count];
        for &(from, _) in cfg.retreating_edges() {
            if !reversed.is_reachable(BlockId(from.0 + 1)) {
                endless[from.index()] = true;
                edges[0].push(BlockId(from.0 + 1));
            }
        }
        let reversed = if endless.contains(&true) { Cfg::of_graph(edges) } else { reversed };
        Afterwards { reversed, endless }
    }

    /// Whether the block is a jump back from which the function never ends.
    fn never_ends(&self, block: BlockId) -> bool {
        self.endless[block.index()]
    }

    /// The first block that comes after this one whatever happens.
    fn next(&self, block: BlockId) -> Option<BlockId> {
        let next = self.reversed.immediate_dominator(BlockId(block.0 + 1))?;
        next.0.checked_sub(1).map(BlockId)
    }

    /// For each block, the branches that decide whether it is executed.
    fn deciders(&self, cfg: &Cfg, count: usize) -> Vec<Vec<BlockId>> {
        let mut deciders = vec![Vec::new(); count];
        for &branch in cfg.reverse_postorder() {
            let successors = cfg.successors(branch);
            if successors.len() < 2 {
                continue;
            }
            let meet = self.next(branch);
            for &first in successors {
                let mut runner = Some(first);
                while let Some(block) = runner.filter(|&block| Some(block) != meet) {
                    deciders[block.index()].push(branch);
                    runner = self.next(block);
                }
            }
        }
        deciders
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, print};

    fn left(body: &str) -> String {
        let text = format!(
            "global x: i32; fn rest() -> i32 {{ return 1; }} fn busy() -> i32 {{ let r = load x; return r; }} fn main() {{ {body} }}"
        );
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        drop_idle_code(&mut program);
        crate::validate(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let printed = print(&program);
        printed[printed.find("fn main").expect("it is there")..].to_owned()
    }

    #[test]
    fn what_only_feeds_a_delay_goes() {
        for body in [
            "let n: i32 = 0; loop { let r = rmw.xchg x, 1; if r == 0 { break; } n = n + 1; if n > 10 { n = 0; } }",
            "let n: i32 = 1; loop { let r = rmw.xchg x, 1; if r == 0 { break; } let i: i32 = 0; while i < n { i = i + 1; } \
             if n < 1024 { n = n * 2; } }",
            "let n: i32 = 0; loop { let r = rmw.xchg x, 1; if r == 0 { break; } n = rest(); }",
            "let n: i32 = 0; loop { let r = rmw.xchg x, 1; if r == 0 { break; } n = n * 5 + 3; let i: i32 = n & 15; \
             while i != 0 { i = i - 1; } }",
            "var a: i32[2]; let n: i32 = 0; loop { let r = rmw.xchg x, 1; if r == 0 { break; } n = n + 1; store.na a[1], n; }",
        ] {
            let text = left(body);
            assert!(!text.contains("n =") && !text.contains("i =") && text.contains("rmw.xchg"), "{text}");
        }
    }

    #[test]
    fn what_makes_a_difference_stays() {
        for (body, kept) in [
            (
                "let n: i32 = 0; loop { let r = rmw.xchg x, 1; if r == 0 { break; } n = n + 1; } store x, n;",
                "n = n + 1",
            ),
            (
                "let n: i32 = 0; loop { let r = rmw.xchg x, 1; if r == 0 { break; } n = n + 1; if n > 3 { break; } }",
                "n = n + 1",
            ),
            (
                "let n: i32 = 0; loop { let r = load x; if r == 0 { break; } n = n + 1; if n == 3 { store x, 7; } }",
                "n = n + 1",
            ),
            ("let n: i32 = 0; loop { let r = load x; if r == 0 { break; } n = busy(); }", "busy()"),
            // Nobody knows whether this ends.
            ("let n: i32 = load x; while n != 3 { n = n * 2; }", "n = n * 2"),
            ("let n: i32 = load x; loop { n = n + 1; }", "goto"),
            // A division may fail.
            ("let n: i32 = load x; let m: i32 = 5 / n;", "5 / n"),
            // The one is read, the other perhaps out of bounds.
            ("var a: i32; store.na a, 1; let n: i32 = load.na a; store x, n;", "store.na a, 1"),
            ("var a: i32[2]; let n: i32 = load x; store.na a[n], 1;", "store.na a"),
        ] {
            let text = left(body);
            assert!(text.contains(kept), "{body}: {text}");
        }
    }

    #[test]
    fn a_branch_to_different_ends_stays() {
        let text = left("let r = load x; if r == 1 { store x, 2; return; } let n: i32 = 4; if r == 2 { n = 5; }");
        assert!(text.contains("store x, 2") && !text.contains("n = 5"), "{text}");
    }
}
