//! Loads that lead straight into an assumption.
//!
//! `r = load x; assume r == 1;`: a thread that reads anything but 1 is stopped by the assumption, and nothing it has done
//! since the load can be noticed by anybody. So whoever read something else need not have read at all: the load may wait for a value that
//! passes, and a thread that never finds one stands before the load instead of behind it. [`passing`] says which loads these are, and which values pass.
//!
//! Nothing is lost by that. Other threads cannot tell a thread that has read from one that is about to, so they do what they did,
//! and fail where they failed. The thread itself does nothing between the load and the assumption that could fail: whatever may is the end of
//! what is looked at. It is stopped in both cases, and counts as stopped by an assumption: it is no deadlock. What would be lost
//! is a race of the load itself, so a program in which accesses can race is left as it is.
//!
//! The way from the load to assumptions is followed symbolically, through assignments, branches and assertions, and no further than the next visible
//! operation, call or jump back. Other loads do not end it, if nothing can be wrong with them and they do not wait: nobody notices them either. What they
//! find is not known, so of an assumption only those conditions count that do not speak of it: in `a = load x; b = load y; assume a == 1 && b == 2;` the
//! first load waits for 1. Cost: at most 32 paths of 32 blocks per load.

use super::cfg::Cfg;
use super::liveness::may_fail;
use super::simplify::{binary, complement, simplified};
use crate::expr::{BinOp, Expr};
use crate::inst::{Op, Term};
use crate::program::{BlockId, Function, Layout, Program, Reg};
use crate::types::Type;
use rustc_hash::FxHashMap;

const MAX_PATHS: usize = 32;
const MAX_BLOCKS: usize = 32;
/// How large a condition may grow.
const MAX_SIZE: usize = 100;

/// A way from the load on.
#[derive(Clone, Default)]
struct Way {
    /// What registers hold, over those right behind the load; `None` if that is not known.
    values: FxHashMap<Reg, Option<Expr>>,
    /// What has been decided on the way.
    conditions: Vec<Expr>,
    blocks: usize,
}

impl Way {
    /// The expression over the registers right behind the load, if it can be followed.
    fn value(&self, expr: &Expr) -> Option<Expr> {
        let value = substituted(expr, &self.values)?;
        let mut size = 0;
        value.walk(&mut |_| size += 1);
        (size <= MAX_SIZE && !may_fail(&value)).then_some(value)
    }

    /// The same way where the condition holds; `None` if nobody goes there.
    fn with(mut self, cond: Expr) -> Option<Way> {
        match cond {
            Expr::Const(_, 0) => None,
            Expr::Const(..) => Some(self),
            cond => {
                self.conditions.push(cond);
                Some(self)
            }
        }
    }
}

/// The loads of a function that lead straight into an assumption. Each with the condition on the registers right behind it (its target holds what was
/// read) under which the thread is not stopped by one before it does anything else.
pub fn passing(program: &Program, function: &Function) -> FxHashMap<(BlockId, usize), Expr> {
    let insts = |block: usize| function.blocks[block].insts.iter().enumerate();
    if !(0..function.blocks.len()).flat_map(insts).any(|(_, inst)| matches!(inst.op, Op::Assume { .. })) {
        return FxHashMap::default();
    }
    let cfg = Cfg::new(function);
    let loads = (0..function.blocks.len()).flat_map(|block| {
        let loads = insts(block).filter(|(_, inst)| is_followed(&inst.op));
        loads.map(move |(at, _)| (BlockId(block as u32), at))
    });
    loads.filter_map(|(block, at)| Some(((block, at), passes(program, function, &cfg, block, at)?))).collect()
}

/// Whether the condition on what a load finds may be asked at any time. One of its own must hold beside it.
fn is_followed(op: &Op) -> bool {
    matches!(op, Op::Load { dst: Some(_), until, .. } if !until.as_ref().is_some_and(may_fail))
}

/// The condition for one load; `None` if there is no such assumption.
fn passes(program: &Program, function: &Function, cfg: &Cfg, block: BlockId, inst: usize) -> Option<Expr> {
    let mut stopped: Vec<Vec<Expr>> = Vec::new();
    let mut open = vec![(block, inst + 1, Way::default())];
    let mut paths = 0;
    while let Some((block, first, way)) = open.pop() {
        paths += 1;
        if paths > MAX_PATHS * MAX_BLOCKS || way.blocks > MAX_BLOCKS || open.len() > MAX_PATHS {
            // Whoever is not followed passes.
            continue;
        }
        let Some(mut way) = follow(program, function, block, first, way, &mut stopped) else { continue };
        way.blocks += 1;
        let mut go = |target: BlockId, way: Option<Way>| {
            if let Some(way) = way.filter(|_| !cfg.retreating_edges().contains(&(block, target))) {
                open.push((target, 0, way));
            }
        };
        match &function.blocks[block.index()].term.kind {
            Term::Goto(target) => go(*target, Some(way)),
            Term::If(cond, then, otherwise) => {
                let Some(cond) = way.value(cond) else { continue };
                go(*then, way.clone().with(cond.clone()));
                go(*otherwise, way.with(complement(cond)));
            }
            _ => {}
        }
    }
    let all = |conditions: Vec<Expr>| conditions.into_iter().reduce(|a, b| binary(BinOp::And, a, b));
    let any = stopped.into_iter().map(|conditions| all(conditions).unwrap_or_else(|| Expr::bool(true)));
    let stopped = any.reduce(|a, b| binary(BinOp::Or, a, b))?;
    let mut size = 0;
    stopped.walk(&mut |_| size += 1);
    (size <= 4 * MAX_SIZE).then(|| complement(stopped))
}

/// Goes to the end of a block; `None` if the thread does something visible before, or may fail. Notes where assumptions stop it.
fn follow(
    program: &Program,
    function: &Function,
    block: BlockId,
    first: usize,
    mut way: Way,
    stopped: &mut Vec<Vec<Expr>>,
) -> Option<Way> {
    for inst in &function.blocks[block.index()].insts[first..] {
        match &inst.op {
            Op::Assign { dst, value } => {
                if may_fail(value) {
                    return None;
                }
                let value = way.value(value);
                way.values.insert(*dst, value);
            }
            Op::Assume { cond } => {
                if may_fail(cond) {
                    return None;
                }
                let known: Vec<Expr> = conjuncts(cond).into_iter().filter_map(|part| way.value(part)).collect();
                if let Some(cond) = known.into_iter().reduce(|a, b| binary(BinOp::And, a, b)) {
                    stopped.extend(way.clone().with(complement(cond.clone())).map(|way| way.conditions));
                    way = way.with(cond)?;
                }
            }
            Op::Load { dst, ty, addr, until: None, .. } if is_sound(program, addr, *ty) => {
                way.values.extend(dst.map(|dst| (dst, None)));
            }
            Op::Assert { cond, .. } => {
                let cond = way.value(cond)?;
                way = way.with(cond)?;
            }
            _ => return None,
        }
    }
    Some(way)
}

/// The expression with these values in the places of registers; `None` if one of them is not known.
fn substituted(expr: &Expr, values: &FxHashMap<Reg, Option<Expr>>) -> Option<Expr> {
    let part = |expr: &Expr| substituted(expr, values).map(Box::new);
    Some(simplified(match expr {
        Expr::Reg(reg) => return values.get(reg).map_or_else(|| Some(expr.clone()), Clone::clone),
        Expr::Const(..) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => return Some(expr.clone()),
        Expr::Unary(op, a) => Expr::Unary(*op, part(a)?),
        Expr::Binary(op, a, b) => Expr::Binary(*op, part(a)?, part(b)?),
        Expr::Cast(op, to, a) => Expr::Cast(*op, *to, part(a)?),
        Expr::Select(c, a, b) => Expr::Select(part(c)?, part(a)?, part(b)?),
    }))
}

/// The parts of a condition all of which must hold.
fn conjuncts(cond: &Expr) -> Vec<&Expr> {
    match cond {
        Expr::Binary(BinOp::And, a, b) => [conjuncts(a), conjuncts(b)].concat(),
        other => vec![other],
    }
}

/// Whether an access of this type to an address that is known before the program runs is in order at any time: the object is shared, is always
/// there, has values from the beginning, and is long enough.
fn is_sound(program: &Program, addr: &Expr, ty: Type) -> bool {
    let (object, offset) = match addr {
        Expr::Global(id) => (id, 0),
        Expr::Binary(BinOp::Add, base, offset) => match (&**base, &**offset) {
            (Expr::Global(id), Expr::Const(_, offset)) => (id, *offset),
            _ => return false,
        },
        _ => return false,
    };
    let object = &program.globals[object.index()];
    let size = u64::from(ty.size());
    !object.thread_local
        && matches!(object.layout, Layout::Scalar(_) | Layout::Array(..) | Layout::Bytes { .. })
        && offset % size == 0
        && offset.checked_add(size).is_some_and(|end| end <= u64::from(object.layout.size()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// How many loads of the first function with this body lead straight into an assumption.
    fn loads(body: &str) -> usize {
        let text = format!("global x: i32; global y: i32; fn main() {{ {body} }} fn f() {{ }}");
        let program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        passing(&program, &program.functions[0]).len()
    }

    #[test]
    fn what_cannot_be_noticed_is_followed() {
        assert_eq!(loads("let r = load x; assume r == 1;"), 1);
        assert_eq!(loads("let r = load x; let s = r * 2; assert s != 3; assume s == 2;"), 1);
        assert_eq!(loads("let r = load x; if r == 0 { assume false; } store y, r;"), 1);
        assert_eq!(loads("let r = load x; assume r == 1; let s = load y; assume s == r;"), 2);
    }

    #[test]
    fn conditions_that_speak_of_one_load_are_its_own() {
        let conditions = |body: &str| {
            let text = format!("global x: i32; global y: i32[2]; fn main() {{ {body} }}");
            let program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
            let mut found: Vec<_> = passing(&program, &program.functions[0]).into_iter().collect();
            found.sort_by_key(|&(at, _)| at);
            found.into_iter().map(|(_, cond)| cond).collect::<Vec<Expr>>()
        };
        let is = |reg: u32, value: i64| Expr::eq(Expr::Reg(Reg(reg)), Expr::int(Type::I32, value));
        let both = Expr::binary(BinOp::And, is(0, 1), is(1, 2));
        let split = [is(0, 1), both];
        assert_eq!(conditions("let a = load x; let b = load y[1]; assume a == 1 && b == 2;"), split);
        assert_eq!(conditions("let a = load x; let b = load y[1]; assume b == 2;"), [is(1, 2)]);
        // Whoever passes the first assumption may be stopped by the second.
        let later = Expr::binary(BinOp::Or, complement(is(0, 1)), is(1, 2));
        let one_by_one = [is(0, 1), Expr::binary(BinOp::And, is(0, 1), later)];
        assert_eq!(conditions("let a = load x; let b = load y[1]; assume a == 1; assume b == 2;"), one_by_one);
        // The second load takes the place of the first.
        assert_eq!(conditions("let a = load x; a = load y[1]; assume a == 1;"), [is(0, 1)]);
        assert_eq!(conditions("let a = load x; let b = load y[1]; if b == 0 { assume a == 1; }").len(), 1);
    }

    #[test]
    fn what_can_be_noticed_or_fails_is_not() {
        for between in ["store y, 1;", "fence.sc;", "call f();", "let s = 1 / r;", "spawn f();"] {
            assert_eq!(loads(&format!("let r = load x; {between} assume r == 1;")), 0, "{between}");
        }
        // A load that waits, or may be an error, can be noticed.
        for between in ["let s = load y until s == 1;", "let p = &y + sext(i64, r); let s = load i32 *p;"] {
            assert_eq!(loads(&format!("let r = load x; {between} assume r == 1;")), 1, "{between}");
        }
        assert_eq!(loads("let r = load x; store y, r;"), 0);
        // Nobody is stopped who might have gone on.
        assert_eq!(loads("let r = load x; while r == 0 { r = 1; store y, 1; } assume r == 7;"), 1);
    }
}
