//! Which registers may still be read.
//!
//! The classical backward analysis over blocks, with one refinement: an assignment to a register that is not live does not
//! make its operands live (strong liveness), so a counter that only counts itself is dead. An expression that may divide by
//! zero keeps its operands, because the division can end the execution.
//!
//! A register that is live at the start of a function and is no parameter is read before it is written; it holds 0 then.
//!
//! Cost: a few passes over the blocks, each linear in the instructions, with one bit per register and block.

use super::cfg::Cfg;
use crate::expr::{BinOp, Expr};
use crate::inst::{Op, Term};
use crate::program::{BlockId, Function, Reg};

/// A set of registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegSet {
    words: Vec<u64>,
}

impl RegSet {
    /// The empty set, for a function with so many registers.
    pub fn new(registers: usize) -> RegSet {
        RegSet { words: vec![0; registers.div_ceil(64)] }
    }

    /// Whether the register is in the set.
    pub fn contains(&self, reg: Reg) -> bool {
        self.words.get(reg.index() / 64).is_some_and(|word| word >> (reg.0 % 64) & 1 == 1)
    }

    /// Puts the register in the set.
    pub fn insert(&mut self, reg: Reg) {
        let at = reg.index() / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (reg.0 % 64);
    }

    /// Takes the register out of the set.
    pub fn remove(&mut self, reg: Reg) {
        if let Some(word) = self.words.get_mut(reg.index() / 64) {
            *word &= !(1 << (reg.0 % 64));
        }
    }

    /// Puts all of `other` in the set; whether that added something.
    pub fn union(&mut self, other: &RegSet) -> bool {
        let mut grew = false;
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, new) in self.words.iter_mut().zip(&other.words) {
            grew |= new & !*word != 0;
            *word |= new;
        }
        grew
    }

    /// The registers of the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        (0..self.words.len() as u32 * 64).map(Reg).filter(|&reg| self.contains(reg))
    }
}

/// The live registers at the boundaries of blocks.
#[derive(Clone, Debug)]
pub struct Liveness {
    live_in: Vec<RegSet>,
    live_out: Vec<RegSet>,
}

impl Liveness {
    /// Analyses a function.
    pub fn new(function: &Function, cfg: &Cfg) -> Liveness {
        let empty = RegSet::new(function.regs.len());
        let mut live = Liveness {
            live_in: vec![empty.clone(); function.blocks.len()],
            live_out: vec![empty; function.blocks.len()],
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in cfg.reverse_postorder().iter().rev() {
                let mut out = std::mem::take(&mut live.live_out[block.index()]);
                for &next in cfg.successors(block) {
                    out.union(&live.live_in[next.index()]);
                }
                let before = live.through(function, block, 0, out.clone());
                live.live_out[block.index()] = out;
                changed |= live.live_in[block.index()].union(&before);
            }
        }
        live
    }

    /// Registers live before the first instruction of the block.
    pub fn live_in(&self, block: BlockId) -> &RegSet {
        &self.live_in[block.index()]
    }

    /// Registers live after the block's terminator.
    pub fn live_out(&self, block: BlockId) -> &RegSet {
        &self.live_out[block.index()]
    }

    /// Registers live before instruction `inst` of the block; its number of instructions stands for the terminator.
    pub fn before(&self, function: &Function, block: BlockId, inst: usize) -> RegSet {
        self.through(function, block, inst, self.live_out[block.index()].clone())
    }

    /// What is live before instruction `first` if `live` is live after the block.
    fn through(&self, function: &Function, block: BlockId, first: usize, mut live: RegSet) -> RegSet {
        let block = &function.blocks[block.index()];
        match &block.term.kind {
            Term::If(expr, ..) | Term::Switch(expr, ..) | Term::Return(Some(expr)) | Term::ExitThread(Some(expr)) => {
                uses(expr, &mut live);
            }
            _ => {}
        }
        for inst in block.insts[first..].iter().rev() {
            step(&inst.op, &mut live);
        }
        live
    }
}

fn uses(expr: &Expr, live: &mut RegSet) {
    expr.walk(&mut |part| {
        if let Expr::Reg(reg) = part {
            live.insert(*reg);
        }
    });
}

/// Whether evaluating the expression can end the execution.
pub fn may_fail(expr: &Expr) -> bool {
    let mut fails = false;
    expr.walk(&mut |part| {
        if let Expr::Binary(BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, _, divisor) = part {
            fails |= !matches!(**divisor, Expr::Const(_, 1..));
        }
    });
    fails
}

/// From what is live after an instruction to what is live before it.
fn step(op: &Op, live: &mut RegSet) {
    if let Op::Assign { dst, value } = op
        && !live.contains(*dst)
        && !may_fail(value)
    {
        return;
    }
    if let Some(cond) = op.condition() {
        uses(cond, live);
    }
    if let Some(dst) = op.dst() {
        live.remove(dst);
    }
    op.for_each_operand(|expr| uses(expr, live));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn analysed(text: &str) -> (Function, Liveness) {
        let program = parse("test.rdl", text, &[]).unwrap_or_else(|e| panic!("{e}"));
        let function = program.functions[0].clone();
        let live = Liveness::new(&function, &Cfg::new(&function));
        (function, live)
    }

    fn names(function: &Function, set: &RegSet) -> Vec<String> {
        set.iter().map(|reg| function.regs[reg.index()].name.clone()).collect()
    }

    #[test]
    fn a_register_is_live_from_its_writing_to_its_last_reading() {
        let (f, live) = analysed("global x: i32; fn main() { let a = load x; let b = a + 1; store x, b; }");
        let before = |inst| names(&f, &live.before(&f, BlockId(0), inst));
        assert_eq!(before(0), Vec::<String>::new());
        assert_eq!(before(1), ["a"]);
        assert_eq!(before(2), ["b"]);
        assert_eq!(before(3), Vec::<String>::new());
    }

    #[test]
    fn a_counter_nobody_looks_at_is_dead() {
        let (f, live) = analysed(
            "global x: i32; fn main() {
                let tries = 0; let seen = 0;
                loop { tries = tries + 1; let r = load x; if r == seen { break; } }
            }",
        );
        assert_eq!(names(&f, live.live_in(BlockId(1))), ["seen"]);
    }

    #[test]
    fn a_division_that_may_fail_keeps_its_operands() {
        let (f, live) = analysed("fn main() { let c = choose 0..2; print \"go\"; let d = 4 / c; }");
        assert_eq!(names(&f, &live.before(&f, BlockId(0), 1)), ["c"]);
    }

    #[test]
    fn the_condition_of_a_wait_reads_the_new_value_of_its_register() {
        let (f, live) = analysed("global x: i32; fn main() { let r: i32; let n = 3; r = load x until r == n; }");
        assert_eq!(names(&f, &live.before(&f, BlockId(0), 1)), ["n"]);
    }
}
