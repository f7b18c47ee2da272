//! Local objects that nobody else knows, kept in registers.
//!
//! A lock that backs off hands the address of its counter to a helper: `while (taken(l)) wait_longer(&turns);`. As long as the counter is an object, every turn
//! writes memory. So small helpers that do no more with an address than read and write what is there are put in the place of their calls, and objects
//! of which every mention is then the place of an ordinary access become registers. What a local object holds that never had its address go anywhere is seen by nobody; no event is lost.
//!
//! An object is a set of *cells*, each a place and a type, which may not overlap. It stays an object if there is a way on which a cell is read before it was
//! written, because that is to be found, and if something may be stored in it that has no value itself. Cost: linear in the size of a function times the number of its cells.

use super::inline::{self, calls};
use super::mentions::mentioned_only;
use crate::expr::{BinOp, Expr};
use crate::inst::{Callee, Inst, Op, Term};
use crate::program::{BlockId, FuncId, Function, LocalId, Program, Reg, RegDecl};
use crate::{Ordering, Type, Unwritten};
use rustc_hash::{FxHashMap, FxHashSet};

/// No more calls than this are replaced in one function.
const MAX_CALLS: usize = 32;

/// Of a function with more cells than this all stay what they are.
const MAX_CELLS: usize = 256;

/// Where in which object, as what.
type Cell = (LocalId, u64, Type);

/// Keeps local objects in registers where that makes no difference, in every function; whether there was one. The program must be valid, and stays so.
pub fn keep_in_registers(program: &mut Program) -> bool {
    let helpers: Vec<Option<Function>> = program.functions.iter().map(inline::small).collect();
    let mut changed = false;
    for function in &mut program.functions {
        if function.locals.is_empty() {
            continue;
        }
        open_calls(function, &helpers);
        changed |= promote(function);
    }
    changed
}

/// A constant distance from the start of a local object.
fn place(addr: &Expr) -> Option<(LocalId, u64)> {
    match addr {
        Expr::Local(local) => Some((*local, 0)),
        Expr::Binary(BinOp::Add, base, distance) => match (&**base, &**distance) {
            (Expr::Local(local), Expr::Const(_, distance)) => Some((*local, *distance)),
            _ => None,
        },
        _ => None,
    }
}

/// The cell that an instruction reads or writes, and does no more.
fn cell(op: &Op) -> Option<Cell> {
    match op {
        Op::Load { ty, addr, order: Ordering::NonAtomic, until: None, unwritten: Unwritten::Error, .. }
        | Op::Store { ty, addr, order: Ordering::NonAtomic, .. } => {
            let (local, at) = place(addr)?;
            Some((local, at, *ty))
        }
        _ => None,
    }
}

/// Whether a helper reads and writes what this parameter points at, and does nothing else with it.
fn only_accesses(helper: &Function, param: Reg) -> bool {
    let own = |expr: &Expr| match expr {
        Expr::Reg(reg) => *reg == param,
        Expr::Binary(BinOp::Add, base, by) => **base == Expr::Reg(param) && matches!(**by, Expr::Const(..)),
        _ => false,
    };
    let mentions = |expr: &Expr| {
        let mut count = 0;
        expr.walk(&mut |part| count += u32::from(*part == Expr::Reg(param)));
        count
    };
    helper.blocks.iter().all(|block| {
        let accesses = block.insts.iter().all(|inst| {
            let mut count = inst.op.condition().map_or(0, mentions);
            inst.op.for_each_operand(|operand| count += mentions(operand));
            let access = matches!(&inst.op, Op::Load { addr, .. } | Op::Store { addr, .. } if own(addr));
            inst.op.dst() != Some(param) && count == u32::from(access)
        });
        let decides = match &block.term.kind {
            Term::If(value, ..)
            | Term::Switch(value, ..)
            | Term::Return(Some(value))
            | Term::ExitThread(Some(value)) => mentions(value),
            _ => 0,
        };
        accesses && decides == 0
    })
}

/// Puts helpers in the place of calls that hand them the address of an object which otherwise is only accessed.
fn open_calls(function: &mut Function, helpers: &[Option<Function>]) {
    let handed = |op: &Op| -> Vec<LocalId> {
        let Op::Call { callee: Callee::Direct(id), args, .. } = op else { return Vec::new() };
        let Some(helper) = &helpers[id.index()] else { return Vec::new() };
        let param = |index: usize| Reg(index as u32);
        let places = args.iter().enumerate().filter(|(index, _)| only_accesses(helper, param(*index)));
        places.filter_map(|(_, arg)| place(arg)).map(|(local, _)| local).collect()
    };
    // Whoever is mentioned in another way stays an object, whatever the helpers do.
    let known = mentioned_only(function, |op| match handed(op)[..] {
        [local] => Some(local),
        _ => cell(op).map(|(local, ..)| local),
    });
    let opens = |op: &Op| matches!(handed(op)[..], [local] if known[local.index()]);
    let found = function.blocks.iter().flat_map(|block| &block.insts).filter(|inst| opens(&inst.op)).count();
    if found == 0 || found > MAX_CALLS {
        return;
    }
    let mut names: FxHashSet<String> = function.regs.iter().map(|reg| reg.name.clone()).collect();
    names.extend(function.locals.iter().map(|local| local.name.clone()));
    for block in (0..function.blocks.len() as u32).map(BlockId) {
        // What follows the call moves to a new block, so the last call of a block comes first.
        loop {
            let insts = &function.blocks[block.index()].insts;
            let call = calls(&function.blocks[block.index()], helpers).filter(|(at, _)| opens(&insts[*at].op)).last();
            let Some((at, callee)) = call else { break };
            open(function, block, at, callee, helpers, &mut names);
        }
    }
}

fn open(
    function: &mut Function,
    block: BlockId,
    at: usize,
    callee: FuncId,
    helpers: &[Option<Function>],
    names: &mut FxHashSet<String>,
) {
    let Some(mut helper) = helpers[callee.index()].clone() else { return };
    let Op::Call { args, .. } = &mut function.blocks[block.index()].insts[at].op else { return };
    for (index, arg) in args.iter_mut().enumerate() {
        let param = Reg(index as u32);
        let Some((local, distance)) = place(arg).filter(|_| only_accesses(&helper, param)) else { continue };
        let ops = helper.blocks.iter_mut().flat_map(|block| &mut block.insts).map(|inst| &mut inst.op);
        for op in ops {
            let (Op::Load { addr, .. } | Op::Store { addr, .. }) = op else { continue };
            let further = match addr {
                Expr::Reg(reg) if *reg == param => 0,
                Expr::Binary(BinOp::Add, base, by) if **base == Expr::Reg(param) => match **by {
                    Expr::Const(_, by) => by,
                    _ => continue,
                },
                _ => continue,
            };
            let distance = Expr::Const(Type::I64, distance.wrapping_add(further));
            *addr = Expr::binary(BinOp::Add, Expr::Local(local), distance);
        }
        *arg = Expr::null();
    }
    inline::replace(function, block, at, &helper, names);
}

/// Makes registers of the objects that are accessed and nothing else.
fn promote(function: &mut Function) -> bool {
    let known = mentioned_only(function, |op| cell(op).map(|(local, ..)| local));
    let mut cells: Vec<Cell> = Vec::new();
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if let Some(cell) = cell(&inst.op).filter(|(local, ..)| known[local.index()])
            && cells.len() <= MAX_CELLS
            && !cells.contains(&cell)
        {
            cells.push(cell);
        }
    }
    if cells.len() > MAX_CELLS {
        return false;
    }
    let end = |&(_, at, ty): &Cell| at.saturating_add(u64::from(ty.size()));
    let overlap = |a: &Cell, b: &Cell| a != b && a.0 == b.0 && a.1 < end(b) && b.1 < end(a);
    let whole = |cell: &Cell| end(cell) <= u64::from(function.locals[cell.0.index()].layout.size());
    let mut kept: FxHashSet<LocalId> = cells.iter().filter(|cell| !whole(cell)).map(|cell| cell.0).collect();
    kept.extend(cells.iter().filter(|a| cells.iter().any(|b| overlap(a, b))).map(|cell| cell.0));
    kept.extend(read_too_early(function, &cells));
    kept.extend(given_no_value(function));
    cells.retain(|cell| !kept.contains(&cell.0));
    let mut homes: FxHashMap<Cell, Reg> = FxHashMap::default();
    let mut names: FxHashSet<String> = function.regs.iter().map(|reg| reg.name.clone()).collect();
    names.extend(function.locals.iter().map(|local| local.name.clone()));
    for &cell in &cells {
        let own = &function.locals[cell.0.index()].name;
        let name = (0..).map(|n| format!("{own}.{n}")).find(|name| names.insert(name.clone()));
        homes.insert(cell, Reg(function.regs.len() as u32));
        function.regs.push(RegDecl { name: name.expect("some name is free"), ty: cell.2 });
    }
    for block in &mut function.blocks {
        let insts = std::mem::take(&mut block.insts);
        block.insts = insts.into_iter().filter_map(|inst| in_register(inst, &homes)).collect();
    }
    !cells.is_empty()
}

/// The instruction with a register in place of the cell; nothing if it only looked.
fn in_register(inst: Inst, homes: &FxHashMap<Cell, Reg>) -> Option<Inst> {
    let Some(&home) = cell(&inst.op).and_then(|cell| homes.get(&cell)) else { return Some(inst) };
    let op = match inst.op {
        Op::Load { dst, .. } => Op::Assign { dst: dst?, value: Expr::Reg(home) },
        Op::Store { value, .. } => Op::Assign { dst: home, value },
        other => other,
    };
    Some(Inst { op, ..inst })
}

/// The objects in which something may be stored that has no value, or not all of it: what was moved without one, or came from elsewhere. Memory knows that of
/// what it holds, registers do not.
fn given_no_value(function: &Function) -> Vec<LocalId> {
    let mut doubtful: Vec<bool> = (0..function.regs.len()).map(|reg| reg < function.params as usize).collect();
    let doubts = |doubtful: &[bool], expr: &Expr| {
        let mut found = false;
        expr.walk(&mut |part| found |= matches!(part, Expr::Reg(reg) if doubtful[reg.index()]));
        found
    };
    let ops = || function.blocks.iter().flat_map(|block| &block.insts).map(|inst| &inst.op);
    loop {
        let mut changed = false;
        for op in ops() {
            let Some(dst) = op.dst() else { continue };
            let doubt = match op {
                Op::Assign { value, .. } => doubts(&doubtful, value),
                Op::Load { unwritten, .. } => *unwritten == Unwritten::Kept,
                _ => true,
            };
            changed |= doubt && !std::mem::replace(&mut doubtful[dst.index()], true);
        }
        if !changed {
            break;
        }
    }
    let given = |op: &Op| match op {
        Op::Store { value, .. } if doubts(&doubtful, value) => cell(op).map(|(local, ..)| local),
        _ => None,
    };
    ops().filter_map(given).collect()
}

/// The objects with a cell that is read on some way before it is written.
fn read_too_early(function: &Function, cells: &[Cell]) -> FxHashSet<LocalId> {
    let number = |op: &Op| cell(op).and_then(|found| cells.iter().position(|cell| *cell == found));
    // Which cells are written whenever control comes to a block; none is known of a block that was not met yet.
    let mut written: Vec<Option<Vec<bool>>> = vec![None; function.blocks.len()];
    let mut early = FxHashSet::default();
    let mut todo = vec![(BlockId(0), vec![false; cells.len()])];
    while let Some((block, coming)) = todo.pop() {
        let before = &mut written[block.index()];
        let now: Vec<bool> = match before {
            None => coming,
            Some(known) => known.iter().zip(&coming).map(|(a, b)| *a && *b).collect(),
        };
        if before.as_ref() == Some(&now) {
            continue;
        }
        *before = Some(now.clone());
        let mut now = now;
        for inst in &function.blocks[block.index()].insts {
            if let Some(number) = number(&inst.op) {
                if let Op::Store { .. } = inst.op {
                    now[number] = true;
                } else if !now[number] {
                    early.insert(cells[number].0);
                }
            }
        }
        function.blocks[block.index()].term.kind.for_each_target(|target| todo.push((target, now.clone())));
    }
    early
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, print, validate};

    fn kept(body: &str) -> String {
        let text = format!(
            "global x: i32; fn more(p: ptr) {{ let n: i32; n = load.na *p; store.na i32 *p, n + 1; }} fn get() -> i32 {{ return 1; }} fn leak(p: ptr) {{ store x, 1; store.na i32 *p, 1; let q: ptr = p; store.na i32 *q, 2; }}
             fn main() {{ {body} }}"
        );
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        keep_in_registers(&mut program);
        validate(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let printed = print(&program);
        printed[printed.find("fn main").expect("it is there")..].to_owned()
    }

    #[test]
    fn objects_that_nobody_else_knows_become_registers() {
        for body in [
            "var a: i32; let n: i32; store.na a, 1; n = load.na a; store x, n;",
            "var a: i32; let n: i32; store.na a, 1; call more(&a); n = load.na a; store x, n;",
            "var a: i32[2]; let n: i32; store.na a[0], 1; store.na a[1], 2; call more(&a[1]); n = load.na a[1]; store x, n;",
            "var a: i32; let n: i32; n = load x; if n == 1 { store.na a, 1; } else { store.na a, 2; } loop { call more(&a); n = load.na a; if n > 5 { break; } }",
        ] {
            let text = kept(body);
            assert!(!text.contains("load.na") && !text.contains("store.na") && !text.contains("call"), "{text}");
        }
    }

    #[test]
    fn all_others_stay_objects() {
        for body in [
            // Read before it was written on some way.
            "var a: i32; let n: i32; n = load x; if n == 1 { store.na a, 1; } n = load.na a; store x, n;",
            "var a: i32; let n: i32; call more(&a); n = load.na a; store x, n;",
            // Its address goes elsewhere.
            "var a: i32; let n: i32; store.na a, 1; call leak(&a); n = load.na a; store x, n;",
            "var a: i32; let p: ptr; let n: i32; store.na a, 1; p = &a; n = load.na a; store x, n;",
            // It may be given something without a value.
            "var a: i32; var b: i32; let n: i32; n = load.na b or nothing; store.na a, n; n = load.na a; store x, n;",
            "var a: i32; let n: i32; n = get(); store.na a, n; n = load.na a; store x, n;",
            // Two sizes, an index, another order.
            "var a: i32; let n: i8; store.na a, 1; n = load.na i8 a; store x, zext(i32, n);",
            "var a: i32[2]; let n: i32; n = load x; store.na a[n], 1; n = load.na a[0]; store x, n;",
            "var a: i32; let n: i32; store.na a, 1; n = load.rlx a; store x, n;",
        ] {
            let text = kept(body);
            assert!(text.contains("store.na") || text.contains("call more"), "{text}");
        }
    }
}
