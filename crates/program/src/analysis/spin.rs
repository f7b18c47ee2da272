//! Loops that only wait, turned into waits.
//!
//! A thread that spins until another one does something has infinitely many executions that differ in the number of
//! turns. If a turn has no effect, all of them are one: drop the turn, and the thread is where it was, with the same live
//! registers, and memory is as it was; no other thread can tell. The turn that leaves the loop decides. So it is enough to
//! look at executions whose turns without effect are left out, and a thread that could only turn so waits.
//!
//! A turn *has no effect* if, from the head of the loop back to the head,
//! - it writes nothing: it consists of what is invisible, loads, fences, assertions, compare-exchanges and trylocks that
//!   fail;
//! - every register that is live at the head has the value at the end that it had at the start. What counts is what leaves the
//!   turn alive: a counter that nobody looks at does not.
//!
//! Fences and acquire loads of a dropped turn only add order; an execution without them is an execution of the program too (the
//! thread was just slower), and one with the fewest constraints. The same holds for what a failed compare-exchange does to a store buffer:
//! buffers empty themselves at any time. A failing assertion in a turn is not lost: the turn before it can be dropped,
//! so it fails in the first turn of some execution, and that turn is executed.
//!
//! First the loops that wait in one instruction. Three shapes, tried in this order on every natural loop without inner cycles, smaller loops first:
//! 1. *Waiting load.* One load is all the loop does; every way out and back passes it. It becomes `load ... until c`,
//!    where `c` is the condition, on the registers right behind the load, under which control does not come back to the head. The rest
//!    of the turn stays and computes what the last turn computes; the jumps back are cut.
//! 2. *Waiting compare-exchange.* One compare-exchange is all the loop does, every way out shows its success and every way back its
//!    failure: it becomes a waiting one, and the jumps back are cut. So does an exchange that finds what it writes (`binary`).
//! 3. *Waiting update.* One read-modify-write is all the loop does; it waits while it would come back and leave memory as it is (`update`).
//!
//! A loop that is none of these is tried once more with the test at its head moved to the end of its turns, and with small functions it calls
//! put in their place ([`inline`]): `while (!trylock(&l)) {}` is a loop around an exchange. What such a loop does in a turn is followed symbolically
//! (`paths`): registers are expressions over the values at the start and the values read. Whoever has more than 64 paths
//! through a turn or can be entered past its head is none of these.
//!
//! Before all that, loops with a first look or attempt before them begin with it (`peel`). A loop that turns for ever and looks at nothing waits for nobody; its thread is stopped
//! ([`stop_silent_loops`]).
//!
//! Of all other loops (`turns`), the jumps back whose turns are not known to have an effect become [`Term::Spin`], which decides when the turn is over. A
//! read-modify-write among other things is made a mere read where it leaves memory as it is and its turn comes back (`update`).
//!
//! Compare "saturation of spin loops" in the stateless model checkers of the last years; the criterion here (effect-free and live
//! registers unchanged) is the usual one, decided per turn that is executed instead of per loop.
//!
//! Cost: linear in the number of paths through loop bodies, at most 64 per loop, and in the depth of their nesting.

mod binary;
mod paths;
mod peel;
mod silent;
mod turns;
mod update;

use super::cfg::Cfg;
use super::inline;
use super::liveness::{Liveness, may_fail};
use super::loops::{Loop, Loops};
use crate::expr::{BinOp, Expr, UnOp};
use crate::inst::{Block, Callee, Op, Term, Terminator};
use crate::program::{BlockId, FuncId, Function, Program, Reg, drop_unreachable_blocks};
use crate::source::Span;
use paths::{End, Paths, Start, Turn};
use rustc_hash::{FxHashMap, FxHashSet};

pub use silent::stop_silent_loops;

/// What became of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpinKind {
    /// It is a load that waits for its condition.
    Load,
    /// It is a compare-exchange that waits until it succeeds.
    Cas,
    /// It is a read-modify-write that waits while it would come back and change nothing.
    Update,
    /// So many of its jumps back wait for a change if their turn had no effect.
    Turn(usize),
}

/// A loop that was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinLoop {
    /// The function it is in.
    pub function: FuncId,
    /// Where the loop starts in the source.
    pub span: Span,
    /// What became of it.
    pub kind: SpinKind,
}

/// The loops that were recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpinReport {
    /// Function by function, inner loops before those around them.
    pub loops: Vec<SpinLoop>,
}

/// What is known of the whole program.
struct Facts {
    /// Per function, what a call of it may do.
    silent: Vec<Silence>,
    /// Per function, whether each call of it has an effect, as far as that is easy to see.
    acts: Vec<bool>,
    /// Per global object, whether it only ever holds 0 or 1.
    binary: Vec<bool>,
    /// Per function, a copy of it if it may be put in the place of a call.
    small: Vec<Option<Function>>,
}

/// A function is left alone if the product of its blocks with its registers and jumps back exceeds this: the sets of the analyses
/// would take too much memory.
const MAX_WORK: usize = 1 << 28;

/// A function with more blocks is not copied to see whether a loop is better turned.
const MAX_COPIED: usize = 1 << 12;

/// No more calls than this are replaced in one loop.
const MAX_CALLS: usize = 8;

/// Turns loops that only wait into waits. The program must be valid, and stays so.
pub fn spin_loops(program: &mut Program) -> SpinReport {
    let facts = Facts {
        silent: silent_functions(program),
        acts: program.functions.iter().map(acts).collect(),
        binary: binary::binary_cells(program),
        small: program.functions.iter().map(inline::small).collect(),
    };
    let mut report = SpinReport::default();
    for (index, function) in program.functions.iter_mut().enumerate() {
        let mut done = FxHashSet::default();
        let mut found = Vec::new();
        thread_jumps(function);
        while peel::begin_with_the_look(function, &facts) {}
        while pass(function, &facts, &mut done, &mut found) {}
        turns::mark(function, &facts, &mut found);
        let id = FuncId(index as u32);
        report.loops.extend(found.into_iter().map(|(span, kind)| SpinLoop { function: id, span, kind }));
        drop_unreachable_blocks(function);
    }
    report
}

/// Whether the function begins with an effect.
fn acts(function: &Function) -> bool {
    function.blocks.first().is_some_and(|block| block.insts.iter().any(|inst| turns::acts(&inst.op)))
}

/// Leads jumps past blocks that only jump on, so that a turn that ends early does not share its jump back with one that
/// goes through: `for (n = 0; n < 3;) { if (!pop(&q, &v)) continue; n++; }`.
fn thread_jumps(function: &mut Function) {
    // The heads of loops stay, or a loop would become one with a loop inside that it begins with.
    let heads: FxHashSet<BlockId> = Cfg::new(function).retreating_edges().iter().map(|edge| edge.1).collect();
    let next = |block: BlockId| match &function.blocks[block.index()] {
        Block { turn: None, insts, term: Terminator { kind: Term::Goto(to), .. } }
            if insts.is_empty() && !heads.contains(&block) =>
        {
            Some(*to)
        }
        _ => None,
    };
    // A chain that is longer than this is left as it is; it may be a circle.
    const MAX_CHAIN: usize = 16;
    let last = |block: BlockId| std::iter::successors(Some(block), |&at| next(at)).take(MAX_CHAIN).last();
    let targets: Vec<BlockId> =
        (0..function.blocks.len() as u32).map(BlockId).map(|block| last(block).unwrap_or(block)).collect();
    for block in &mut function.blocks {
        block.term.kind.map_targets(|target| targets[target.index()]);
    }
}

/// Turns loops that have no cycles inside and wait in one instruction into that. Whether that changed something, so that loops around them may have become
/// loops without cycles inside.
///
/// What is known of the graph stays true for the other loops while one is changed: only blocks of that one change.
fn pass(
    function: &mut Function,
    facts: &Facts,
    done: &mut FxHashSet<BlockId>,
    found: &mut Vec<(Span, SpinKind)>,
) -> bool {
    let cfg = Cfg::new(function);
    if is_too_large(function, &cfg) {
        return false;
    }
    let loops = Loops::new(function, &cfg);
    if loops.list.iter().all(|l| done.contains(&l.head)) {
        return false;
    }
    let live = Liveness::new(function, &cfg);
    for l in &loops.list {
        if done.contains(&l.head) || !l.natural || has_inner_cycle(&cfg, l) {
            continue;
        }
        done.insert(l.head);
        if let Some(kind) = convert(function, &cfg, &live, l, facts) {
            found.push((l.span, kind));
        } else if let Some((turned, kind)) =
            convert_rotated(function, &cfg, l, facts).or_else(|| convert_inlined(function, l, facts))
        {
            *function = turned;
            found.push((l.span, kind));
            // The head of the loop is another block now.
            return true;
        } else {
            continue;
        }
        if l.parent.is_some() {
            return true;
        }
    }
    false
}

/// Whether the analyses would take too much memory.
fn is_too_large(function: &Function, cfg: &Cfg) -> bool {
    function.blocks.len().saturating_mul(function.regs.len() + cfg.retreating_edges().len()) > MAX_WORK
}

/// As [`convert`], with the test at the loop's head moved to the end of its turns first.
fn convert_rotated(function: &Function, cfg: &Cfg, l: &Loop, facts: &Facts) -> Option<(Function, SpinKind)> {
    let (turned, head) = rotated(function, cfg, l)?;
    convert_at(turned, head, facts)
}

/// As [`convert`], with calls of small functions replaced by what they do first.
fn convert_inlined(function: &Function, l: &Loop, facts: &Facts) -> Option<(Function, SpinKind)> {
    if function.blocks.len() > MAX_COPIED {
        return None;
    }
    let inlined = inline::inlined(function, &l.blocks, &facts.small, MAX_CALLS)?;
    let cfg = Cfg::new(&inlined);
    let loops = Loops::new(&inlined, &cfg);
    let turned = loops.list.iter().find(|other| other.head == l.head).and_then(|l| rotated(&inlined, &cfg, l));
    let head = l.head;
    convert_at(inlined, head, facts).or_else(|| turned.and_then(|(turned, head)| convert_at(turned, head, facts)))
}

/// [`convert`] on the loop of a changed function that has this head.
fn convert_at(mut turned: Function, head: BlockId, facts: &Facts) -> Option<(Function, SpinKind)> {
    let cfg = Cfg::new(&turned);
    let loops = Loops::new(&turned, &cfg);
    let l = loops.list.iter().find(|l| l.head == head && l.natural && !has_inner_cycle(&cfg, l))?;
    let live = Liveness::new(&turned, &cfg);
    let kind = convert(&mut turned, &cfg, &live, l, facts)?;
    Some((turned, kind))
}

/// The function with the test at the loop's head moved to the end of its turns, and the block that is the head then.
///
/// `while go { r = load x; go = r != 1; }` carries `go` from one turn to the next, but not from one load to the next.
fn rotated(function: &Function, cfg: &Cfg, l: &Loop) -> Option<(Function, BlockId)> {
    let mut test = function.blocks[l.head.index()].clone();
    let pure = test.insts.iter().all(|inst| matches!(inst.op, Op::Assign { .. }));
    let inside: Vec<BlockId> = cfg.successors(l.head).iter().copied().filter(|&to| l.contains(to)).collect();
    if function.blocks.len() > MAX_COPIED
        || !pure
        || inside.len() != 1
        || inside[0] == l.head
        || cfg.successors(l.head).len() < 2
    {
        return None;
    }
    let mut turned = function.clone();
    if let Some(turn) = test.turn.take() {
        turned.blocks[l.head.index()].turn = None;
        turned.blocks[inside[0].index()].turn = Some(turn);
    }
    for &(from, head) in &l.back_edges {
        turned.blocks.push(test.clone());
        let copy = BlockId(turned.blocks.len() as u32 - 1);
        turned.blocks[from.index()].term.kind.map_targets(|target| if target == head { copy } else { target });
    }
    Some((turned, inside[0]))
}

/// Changes a natural loop without inner cycles if it only waits, in one instruction, or around an update that may idle.
fn convert(function: &mut Function, cfg: &Cfg, live: &Liveness, l: &Loop, facts: &Facts) -> Option<SpinKind> {
    let paths = Paths { function, l, silent: &facts.silent };
    let turns = paths.from(Start::Head)?;
    let back: Vec<&Turn> = turns.iter().filter(|turn| matches!(turn.end, End::Back(_))).collect();
    if back.is_empty() {
        return None;
    }
    // Registers that hold one constant whenever the loop's head is reached.
    let constants: FxHashMap<Reg, Expr> = live
        .live_in(l.head)
        .iter()
        .filter_map(|reg| Some((reg, entry_constant(function, cfg, l, reg)?)))
        .filter(|(reg, constant)| {
            back.iter().map(|turn| turn.value(*reg)).all(|value| value == *constant || value == Expr::Reg(*reg))
        })
        .collect();
    let unchanged = |turn: &Turn| {
        let same = |reg| turn.value(reg) == Expr::Reg(reg) || constants.get(&reg) == Some(&turn.value(reg));
        live.live_in(l.head).iter().all(same)
    };
    if back.iter().all(|turn| unchanged(turn))
        && let Some((block, inst)) = only_action(function, cfg, l)
    {
        let after = paths.from(Start::After(block, inst))?;
        let op = &function.blocks[block.index()].insts[inst].op;
        match op {
            Op::Load { dst: Some(_), until: None, .. } => {
                if let Some(cond) = leaving_condition(&after, function.regs.len()) {
                    set_until(function, block, inst, cond);
                    cut_back_edges(function, l);
                    return Some(SpinKind::Load);
                }
            }
            Op::Cas { wait: false, .. } => {
                let waits = after.iter().all(|turn| match turn.end {
                    End::Back(_) => turn.failed(0) == Some(true),
                    End::Out => turn.failed(0) == Some(false),
                });
                if waits {
                    set_wait(function, block, inst);
                    cut_back_edges(function, l);
                    return Some(SpinKind::Cas);
                }
            }
            op => {
                if let Some(exchange) = binary::waiting_exchange(op, &after, &facts.binary) {
                    function.blocks[block.index()].insts[inst].op = exchange;
                    cut_back_edges(function, l);
                    return Some(SpinKind::Cas);
                }
                if let Some(update) = update::waiting(op, &after, function.regs.len()) {
                    function.blocks[block.index()].insts[inst].op = update;
                    return Some(SpinKind::Update);
                }
            }
        }
    }
    let update = update::Quiet::find(&paths, &back, &unchanged)?;
    Some(SpinKind::Turn(update.apply(function, l)))
}

/// The constant that the register holds when the loop is entered, if that is easy to see: the blocks before the loop have one
/// way to it, and the last assignment on it is of a constant (registers hold 0 when a function is entered).
fn entry_constant(function: &Function, cfg: &Cfg, l: &Loop, reg: Reg) -> Option<Expr> {
    let mut at = l.head;
    let mut seen = l.blocks.clone();
    loop {
        let mut before = cfg.predecessors(at).iter().copied().filter(|&block| at != l.head || !l.contains(block));
        match (before.next(), before.next()) {
            (None, _) if at == BlockId(0) && reg.0 >= function.params => {
                return Some(Expr::Const(function.reg_type(reg), 0));
            }
            (Some(block), None) if at != BlockId(0) && !seen.contains(&block) => at = block,
            _ => return None,
        }
        seen.push(at);
        if let Some(inst) = function.blocks[at.index()].insts.iter().rev().find(|inst| inst.op.dst() == Some(reg)) {
            return match &inst.op {
                Op::Assign { value: constant @ Expr::Const(..), .. } => Some(constant.clone()),
                _ => None,
            };
        }
    }
}

/// Whether there is a cycle in the loop that does not pass its head.
fn has_inner_cycle(cfg: &Cfg, l: &Loop) -> bool {
    cfg.retreating_edges().iter().any(|&(from, to)| to != l.head && l.contains(from) && l.contains(to))
}

/// The one instruction of the loop that is no assignment, if every way out of the loop and back to its head passes it.
///
/// An assignment that may fail counts: it must be executed in turns that come back, too.
fn only_action(function: &Function, cfg: &Cfg, l: &Loop) -> Option<(BlockId, usize)> {
    let mut found = None;
    for &block in &l.blocks {
        for (index, inst) in function.blocks[block.index()].insts.iter().enumerate() {
            let silent = matches!(&inst.op, Op::Assign { value, .. } if !may_fail(value));
            if !silent && found.replace((block, index)).is_some() {
                return None;
            }
        }
    }
    let (block, _) = found?;
    let leaves = |from: BlockId| {
        cfg.successors(from).iter().any(|&to| to == l.head || !l.contains(to)) || cfg.successors(from).is_empty()
    };
    l.blocks.iter().all(|&from| !leaves(from) || cfg.dominates(block, from)).then_some(found?)
}

/// When control does not come back to the head, as a condition on the registers at the start of these paths.
fn leaving_condition(after: &[Turn], registers: usize) -> Option<Expr> {
    const MAX_SIZE: usize = 200;
    let out = after.iter().any(|turn| turn.end == End::Out);
    let mut stay: Option<Expr> = None;
    for turn in after.iter().filter(|turn| turn.end != End::Out) {
        let all = turn.conditions.iter().cloned().reduce(|a, b| Expr::binary(BinOp::And, a, b))?;
        stay = Some(match stay {
            None => all,
            Some(other) => Expr::binary(BinOp::Or, other, all),
        });
    }
    let cond = negation(stay.filter(|_| out)?);
    let (mut size, mut unknown) = (0, false);
    cond.walk(&mut |part| {
        size += 1;
        unknown |= matches!(part, Expr::Reg(reg) if reg.index() >= registers);
    });
    (size <= MAX_SIZE && !unknown && !may_fail(&cond)).then_some(cond)
}

/// The negation of a truth value, without a `!` where another comparison says it.
fn negation(cond: Expr) -> Expr {
    match cond {
        Expr::Unary(UnOp::Not, inner) => *inner,
        Expr::Binary(BinOp::Eq, a, b) => Expr::Binary(BinOp::Ne, a, b),
        Expr::Binary(BinOp::Ne, a, b) => Expr::Binary(BinOp::Eq, a, b),
        Expr::Binary(BinOp::SLt, a, b) => Expr::Binary(BinOp::SLe, b, a),
        Expr::Binary(BinOp::SLe, a, b) => Expr::Binary(BinOp::SLt, b, a),
        Expr::Binary(BinOp::ULt, a, b) => Expr::Binary(BinOp::ULe, b, a),
        Expr::Binary(BinOp::ULe, a, b) => Expr::Binary(BinOp::ULt, b, a),
        other => other.negated(),
    }
}

fn set_until(function: &mut Function, block: BlockId, inst: usize, cond: Expr) {
    if let Op::Load { until, .. } = &mut function.blocks[block.index()].insts[inst].op {
        *until = Some(cond);
    }
}

fn set_wait(function: &mut Function, block: BlockId, inst: usize) {
    if let Op::Cas { wait, .. } = &mut function.blocks[block.index()].insts[inst].op {
        *wait = true;
    }
}

/// Removes the jumps back, which are never taken once the loop's one instruction waits.
fn cut_back_edges(function: &mut Function, l: &Loop) {
    for &(from, head) in &l.back_edges {
        let Terminator { kind, span } = function.blocks[from.index()].term.clone();
        let kind = match kind {
            Term::If(_, then, otherwise) if then == head && otherwise != head => Term::Goto(otherwise),
            Term::If(_, then, otherwise) if otherwise == head && then != head => Term::Goto(then),
            Term::Goto(_) | Term::If(..) => Term::Unreachable,
            mut other => {
                let nowhere = new_block(function, Term::Unreachable, span);
                other.map_targets(|target| if target == head { nowhere } else { target });
                other
            }
        };
        function.blocks[from.index()].term.kind = kind;
    }
}

/// Makes the jumps from `from` back to `head` wait.
fn spin_back(function: &mut Function, from: BlockId, head: BlockId) {
    let Terminator { mut kind, span } = function.blocks[from.index()].term.clone();
    if kind == Term::Goto(head) {
        kind = Term::Spin(head);
    } else {
        let spin = new_block(function, Term::Spin(head), span);
        kind.map_targets(|target| if target == head { spin } else { target });
    }
    function.blocks[from.index()].term.kind = kind;
}

fn new_block(function: &mut Function, kind: Term, span: Span) -> BlockId {
    function.blocks.push(Block { turn: None, insts: Vec::new(), term: Terminator { kind, span } });
    BlockId(function.blocks.len() as u32 - 1)
}

/// What a call of a function may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// Something that others may notice, or not end.
    None,
    /// Read memory.
    Reads,
    /// Compute.
    Pure,
}

/// Functions without loops made of assignments, loads, fences, assertions and calls of such functions.
fn silent_functions(program: &Program) -> Vec<Silence> {
    let candidate = |function: &Function| {
        let straight = Cfg::new(function).retreating_edges().is_empty();
        straight && function.blocks.iter().all(|block| !matches!(block.term.kind, Term::ExitThread(_) | Term::Exit))
    };
    let candidates: Vec<bool> = program.functions.iter().map(candidate).collect();
    // Functions that call each other in a circle may not end: only what was shown before counts.
    let mut known = vec![Silence::None; program.functions.len()];
    loop {
        let mut next = known.clone();
        for (index, function) in program.functions.iter().enumerate().filter(|&(index, _)| candidates[index]) {
            next[index] = function.blocks.iter().flat_map(|block| &block.insts).fold(Silence::Pure, |all, inst| {
                let this = match &inst.op {
                    Op::Call { callee: Callee::Direct(id), .. } => known[id.index()],
                    Op::Load { .. } => Silence::Reads,
                    op if paths::is_silent(op) => Silence::Pure,
                    _ => Silence::None,
                };
                match (all, this) {
                    (Silence::None, _) | (_, Silence::None) => Silence::None,
                    (Silence::Pure, Silence::Pure) => Silence::Pure,
                    _ => Silence::Reads,
                }
            });
        }
        if next == known {
            return known;
        }
        known = next;
    }
}

#[cfg(test)]
mod tests;
