//! Which values of an input make a difference?
//!
//! All paths from the input are walked, each with the set of values that take it. A test of the input alone splits the set, a
//! false assumption drops its part. A path ends
//! - where the input is used in any other way (stored, passed on, compared with something else): every value of the set matters;
//! - where nothing depends on the input any more: one value stands for the set;
//! - where it comes back to a block it has passed, or has become too long: every value of the set matters.
//!
//! While there is no other thread yet, an input that is stored at an address that is known is followed through memory: it is split by
//! what is read from there, but no value stands for another one as long as it stays there.
//!
//! A remainder, a mask of low bits or a cut to fewer bits that is all that is left of the input keeps as many values
//! in a row as it has results.
//!
//! Tests of other things than the input lead both ways, with the same set each; whatever the other things are, some value
//! found on the path that is then taken behaves as any of those it stands for.

use super::values::Values;
use super::view::{Environment, Step, View, Viewer};
use crate::analysis::cfg::Cfg;
use crate::analysis::liveness::Liveness;
use crate::expr::{BinOp, CastOp, Expr};
use crate::inst::{Callee, Op, Term};
use crate::program::{BlockId, FuncId, Function, GlobalId, LocalId, Program, Reg};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};

/// No more instructions than this are looked at for one input.
const MAX_STEPS: usize = 20_000;
/// No deeper calls are followed.
const MAX_CALLS: usize = 4;

/// An activation on a path.
#[derive(Clone)]
struct Frame {
    function: FuncId,
    block: BlockId,
    inst: usize,
    known: Environment,
    passed: FxHashSet<BlockId>,
}

/// A place in memory that holds a function of the input.
#[derive(Clone)]
struct Cell {
    place: Known,
    view: View,
}

/// A place in memory that does not depend on how the program runs.
#[derive(Clone, Copy, PartialEq)]
struct Known {
    base: Base,
    offset: u64,
    ty: Type,
}

#[derive(Clone, Copy, PartialEq)]
enum Base {
    Global(GlobalId),
    /// Of the activation at this depth.
    Local(usize, LocalId),
}

impl Known {
    fn overlaps(self, other: Known) -> bool {
        let before = |a: Known, b: Known| a.offset.wrapping_add(u64::from(a.ty.size())) <= b.offset;
        self.base == other.base && !before(self, other) && !before(other, self)
    }
}

/// A path that has come so far.
#[derive(Clone)]
struct Path {
    frames: Vec<Frame>,
    values: Values,
    cells: Vec<Cell>,
    /// There is no other thread.
    alone: bool,
}

impl Known {
    /// The place an address of the activation at this depth stands for.
    fn of(addr: &Expr, ty: Type, depth: usize) -> Option<Known> {
        let (base, offset) = match addr {
            Expr::Binary(BinOp::Add, base, offset) => match **offset {
                Expr::Const(Type::I64, offset) => (&**base, offset),
                _ => return None,
            },
            base => (base, 0),
        };
        let base = match base {
            Expr::Global(id) => Base::Global(*id),
            Expr::Local(id) => Base::Local(depth, *id),
            _ => return None,
        };
        Some(Known { base, offset, ty })
    }
}

/// What is known of the functions of a program.
pub(super) struct Facts<'p> {
    program: &'p Program,
    live: FxHashMap<FuncId, Liveness>,
    /// Functions that may start threads.
    spawning: Vec<bool>,
}

/// An input that is looked at.
pub(super) struct Site {
    pub(super) function: FuncId,
    pub(super) block: BlockId,
    pub(super) inst: usize,
    pub(super) dst: Reg,
    pub(super) ty: Type,
    pub(super) signed: bool,
}

impl<'p> Facts<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Facts { program, live: FxHashMap::default(), spawning: spawning(program) }
    }

    fn function(&self, id: FuncId) -> &'p Function {
        &self.program.functions[id.index()]
    }

    fn live(&mut self, id: FuncId) -> &Liveness {
        let function = self.function(id);
        self.live.entry(id).or_insert_with(|| Liveness::new(function, &Cfg::new(function)))
    }

    fn may_spawn(&self, op: &Op) -> bool {
        may_spawn(op, &self.spawning)
    }

    /// Whether no thread has been started when the input is asked for.
    fn is_alone(&self, site: &Site) -> bool {
        if self.program.entry != Some(site.function) {
            return false;
        }
        let function = self.function(site.function);
        let cfg = Cfg::new(function);
        let mut before = FxHashSet::default();
        let mut todo = cfg.predecessors(site.block).to_vec();
        while let Some(block) = todo.pop() {
            if before.insert(block) {
                todo.extend(cfg.predecessors(block));
            }
        }
        let insts = |block: BlockId| &function.blocks[block.index()].insts;
        let mut earlier = before.iter().flat_map(|&block| insts(block)).chain(&insts(site.block)[..site.inst]);
        !earlier.any(|inst| self.may_spawn(&inst.op))
    }

    /// The values that have to be explored if the input is one of `all`.
    pub(super) fn needed(&mut self, site: &Site, all: &Values) -> Values {
        let frame = Frame {
            function: site.function,
            block: site.block,
            inst: site.inst + 1,
            known: Environment::from_iter([(site.dst, View::input(site.ty))]),
            passed: FxHashSet::from_iter([site.block]),
        };
        let alone = self.is_alone(site);
        let mut walk = Walk { facts: self, site, needed: Values::none(), steps: 0 };
        let mut paths = vec![Path { frames: vec![frame], values: all.clone(), cells: Vec::new(), alone }];
        while let Some(path) = paths.pop() {
            walk.path(path, &mut paths);
        }
        walk.needed
    }
}

struct Walk<'w, 'p> {
    facts: &'w mut Facts<'p>,
    site: &'w Site,
    needed: Values,
    steps: usize,
}

/// Functions that may start threads.
fn spawning(program: &Program) -> Vec<bool> {
    let mut known = vec![false; program.functions.len()];
    loop {
        let starts = |function: &Function| {
            function.blocks.iter().flat_map(|block| &block.insts).any(|inst| may_spawn(&inst.op, &known))
        };
        let next: Vec<bool> = program.functions.iter().map(starts).collect();
        if next == known {
            return known;
        }
        known = next;
    }
}

fn may_spawn(op: &Op, spawning: &[bool]) -> bool {
    match op {
        Op::Spawn { .. } | Op::Call { callee: Callee::Indirect(_), .. } => true,
        Op::Call { callee: Callee::Direct(id), .. } => spawning[id.index()],
        _ => false,
    }
}

/// Whether memory that is known stays as it is, and nobody gets to know of it.
fn leaves_memory(op: &Op) -> bool {
    matches!(
        op,
        Op::Assume { .. }
            | Op::Assert { .. }
            | Op::Choose { .. }
            | Op::Input { .. }
            | Op::ThreadId { .. }
            | Op::Fence { .. }
            | Op::Alloc { .. }
            | Op::Free { scoped: true, .. }
    )
}

/// What an instruction or the end of a block does to a path.
enum Next {
    Go,
    /// Every value matters.
    Used,
    /// One value is enough.
    Dead,
    /// The path goes on in others, or nowhere.
    Over,
}

impl Walk<'_, '_> {
    fn path(&mut self, mut path: Path, paths: &mut Vec<Path>) {
        loop {
            self.steps += 1;
            let next = match path.values.is_empty() {
                true => Next::Over,
                false if self.steps > MAX_STEPS => Next::Used,
                false => self.step(&mut path, paths),
            };
            match next {
                Next::Go => {}
                Next::Used => self.needed = self.needed.union(&path.values),
                Next::Dead => {
                    self.needed = self.needed.union(&path.values.nearest(self.site.ty, self.site.signed, 1));
                }
                Next::Over => {}
            }
            if !matches!(next, Next::Go) {
                return;
            }
        }
    }

    fn step(&mut self, path: &mut Path, paths: &mut Vec<Path>) -> Next {
        let top = path.frames.last_mut().expect("a path is somewhere");
        let function = self.facts.function(top.function);
        let block = &function.blocks[top.block.index()];
        match block.insts.get(top.inst) {
            Some(inst) => {
                top.inst += 1;
                self.instruction(path, &inst.op, paths)
            }
            None => self.terminator(path, &block.term.kind, paths),
        }
    }

    fn instruction(&mut self, path: &mut Path, op: &Op, paths: &mut Vec<Path>) -> Next {
        let mut operands = Vec::new();
        op.for_each_operand(|operand| operands.push(operand));
        self.reduce(path, &operands, |walk, path| walk.is_dead(path, op.dst()));
        let (deep, in_memory) = (path.frames.len(), !path.cells.is_empty());
        let top = path.frames.last_mut().expect("a path is somewhere");
        let function = self.facts.function(top.function);
        let viewer = Viewer { function, known: &top.known, input: self.site.ty };
        let mut depends = op.condition().is_some_and(|cond| viewer.depends(cond));
        op.for_each_operand(|operand| depends |= viewer.depends(operand));
        match op {
            Op::Assign { dst, value } => {
                match viewer.view(value) {
                    Some(view) => top.known.insert(*dst, view),
                    None => top.known.remove(dst),
                };
                return Next::Go;
            }
            Op::Print { .. } => return Next::Go,
            Op::Assume { cond } | Op::Assert { cond, .. } if depends => {
                let Some(truth) = viewer.view(cond).and_then(|view| view.truth()) else { return Next::Used };
                if matches!(op, Op::Assert { .. }) {
                    // Whether a false assertion ends the execution is not decided here.
                    let wrong = path.values.intersection(&truth.complement(self.site.ty));
                    paths.push(Path { values: wrong, ..path.clone() });
                }
                path.values = path.values.intersection(&truth);
                return Next::Go;
            }
            Op::Call { callee: Callee::Direct(id), args, .. } if (depends || in_memory) && deep <= MAX_CALLS => {
                let views = args.iter().enumerate().filter_map(|(at, arg)| Some((Reg(at as u32), viewer.view(arg)?)));
                let known: Environment = views.collect();
                if path.frames.iter().any(|frame| frame.function == *id) {
                    return Next::Used;
                }
                let passed = FxHashSet::from_iter([BlockId(0)]);
                path.frames.push(Frame { function: *id, block: BlockId(0), inst: 0, known, passed });
                return Next::Go;
            }
            Op::Store { ty, addr, value, .. } if depends || in_memory => {
                let view = viewer.view(value);
                let Some(place) = Known::of(addr, *ty, deep).filter(|_| path.alone && !viewer.depends(addr)) else {
                    return Next::Used;
                };
                if path.cells.iter().any(|cell| cell.place != place && cell.place.overlaps(place)) {
                    return Next::Used;
                }
                path.cells.retain(|cell| cell.place != place);
                path.cells.extend(view.map(|view| Cell { place, view }));
                return Next::Go;
            }
            Op::Load { dst: Some(dst), ty, addr, until: None, .. } if in_memory && !depends => {
                let Some(place) = Known::of(addr, *ty, deep) else { return Next::Used };
                match path.cells.iter().find(|cell| cell.place.overlaps(place)) {
                    Some(cell) if cell.place == place => top.known.insert(*dst, cell.view.clone()),
                    Some(_) => return Next::Used,
                    None => top.known.remove(dst),
                };
                return Next::Go;
            }
            _ if depends => return Next::Used,
            // What may change memory in another way, or hand it to somebody else.
            _ if in_memory && !leaves_memory(op) => return Next::Used,
            _ => {}
        }
        path.alone &= !self.facts.may_spawn(op);
        if let Some(dst) = op.dst() {
            top.known.remove(&dst);
        }
        Next::Go
    }

    fn terminator(&mut self, path: &mut Path, term: &Term, paths: &mut Vec<Path>) -> Next {
        if let Term::If(value, ..) | Term::Switch(value, ..) = term {
            self.reduce(path, &[value], |walk, path| {
                let mut after = path.clone();
                let mut targets = Vec::new();
                term.for_each_target(|to| targets.push(to));
                targets.into_iter().all(|to| {
                    let top = after.frames.last_mut().expect("a path is somewhere");
                    (top.block, top.inst) = (to, 0);
                    walk.is_dead(&after, None)
                })
            });
        }
        let top = path.frames.last_mut().expect("a path is somewhere");
        let function = self.facts.function(top.function);
        let viewer = Viewer { function, known: &top.known, input: self.site.ty };
        match term {
            Term::Goto(to) => self.enter(path, *to),
            Term::If(cond, then, otherwise) => {
                let truth = match viewer.view(cond) {
                    None => None,
                    Some(view) => match view.truth() {
                        Some(truth) => Some(truth),
                        None => return Next::Used,
                    },
                };
                let sides = match truth {
                    Some(truth) => {
                        let others = truth.complement(self.site.ty);
                        [(path.values.intersection(&truth), *then), (path.values.intersection(&others), *otherwise)]
                    }
                    None => [(path.values.clone(), *then), (path.values.clone(), *otherwise)],
                };
                self.fork(path, sides, paths)
            }
            Term::Switch(value, cases, default) => {
                let mut rest = path.values.clone();
                let mut sides = Vec::new();
                let view = viewer.view(value);
                for &(case, to) in cases {
                    let taken = match &view {
                        None => path.values.clone(),
                        Some(view) => match view.equal_to(case) {
                            Some(inputs) => {
                                rest = rest.intersection(&inputs.complement(self.site.ty));
                                path.values.intersection(&inputs)
                            }
                            None => return Next::Used,
                        },
                    };
                    sides.push((taken, to));
                }
                sides.push((rest, *default));
                self.fork(path, sides, paths)
            }
            Term::Return(value) => {
                let value = value.as_ref().and_then(|value| viewer.view(value));
                if path.frames.len() == 1 {
                    let over = path.cells.is_empty() || path.alone;
                    return if value.is_none() && over { Next::Dead } else { Next::Used };
                }
                let depth = path.frames.len();
                path.cells.retain(|cell| !matches!(cell.place.base, Base::Local(at, _) if at == depth));
                path.frames.pop();
                let top = path.frames.last_mut().expect("there is a caller");
                let function = self.facts.function(top.function);
                let call = &function.blocks[top.block.index()].insts[top.inst - 1];
                if let Some(dst) = call.op.dst() {
                    match value {
                        Some(view) => top.known.insert(dst, view),
                        None => top.known.remove(&dst),
                    };
                }
                Next::Go
            }
            Term::ExitThread(Some(value)) if viewer.depends(value) => Next::Used,
            Term::ExitThread(_) if !path.cells.is_empty() && !path.alone => Next::Used,
            Term::ExitThread(_) | Term::Exit => Next::Dead,
            Term::Spin(_) | Term::Unreachable => Next::Used,
        }
    }

    /// Goes on in several blocks.
    fn fork(&mut self, path: &Path, sides: impl IntoIterator<Item = (Values, BlockId)>, paths: &mut Vec<Path>) -> Next {
        for (values, to) in sides {
            let mut side = Path { values, ..path.clone() };
            match self.enter(&mut side, to) {
                Next::Go => paths.push(side),
                Next::Dead if side.values.is_empty() => {}
                Next::Dead => {
                    self.needed = self.needed.union(&side.values.nearest(self.site.ty, self.site.signed, 1));
                }
                _ => self.needed = self.needed.union(&side.values),
            }
        }
        Next::Over
    }

    /// Goes on in a block.
    fn enter(&mut self, path: &mut Path, block: BlockId) -> Next {
        let top = path.frames.last_mut().expect("a path is somewhere");
        (top.block, top.inst) = (block, 0);
        if self.is_dead(path, None) {
            return Next::Dead;
        }
        let top = path.frames.last_mut().expect("a path is somewhere");
        if top.passed.insert(block) { Next::Go } else { Next::Used }
    }

    /// Whether nothing that may still be read depends on the input, but for one register.
    fn is_dead(&mut self, path: &Path, except: Option<Reg>) -> bool {
        let last = path.frames.len() - 1;
        let forgotten = path.cells.is_empty();
        forgotten
            && path.frames.iter().enumerate().all(|(at, frame)| {
                let function = self.facts.function(frame.function);
                let live = self.facts.live(frame.function).before(function, frame.block, frame.inst);
                frame.known.keys().all(|reg| (at == last && Some(*reg) == except) || !live.contains(*reg))
            })
    }

    /// Keeps fewer values if all that these expressions ask of the input is a remainder, and `dead` says that nothing else is
    /// asked of it later.
    fn reduce(&mut self, path: &mut Path, exprs: &[&Expr], dead: impl FnOnce(&mut Self, &Path) -> bool) {
        let top = path.frames.last().expect("a path is somewhere");
        let function = self.facts.function(top.function);
        let viewer = Viewer { function, known: &top.known, input: self.site.ty };
        let mut asked = Vec::new();
        let only = exprs.iter().all(|expr| remainders(expr, &viewer, &mut asked));
        asked.dedup();
        if let [remainder] = asked[..]
            && only
            && dead(self, path)
        {
            path.values = remainder.representatives(&path.values, self.site.ty);
        }
    }
}

/// A function of the input that repeats itself.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Remainder {
    /// After so many values.
    period: u64,
    /// Numbers below zero have results of their own.
    signed: bool,
}

impl Remainder {
    /// As many values as there are results; all, where there are fewer in a row.
    fn representatives(self, values: &Values, ty: Type) -> Values {
        let half = ty.mask() >> 1;
        let regions = match self.signed {
            true => vec![Values::range(0, half), Values::range(half + 1, ty.mask())],
            false => vec![Values::all(ty)],
        };
        let most = self.period - 1;
        let chosen = regions.iter().enumerate().map(|(index, region)| {
            let region = values.intersection(region);
            let mut rows = region.ranges().iter().filter(|(low, high)| high - low >= most);
            match index {
                0 => rows.next().map(|&(low, _)| Values::range(low, low + most)),
                _ => rows.next_back().map(|&(_, high)| Values::range(high - most, high)),
            }
            .unwrap_or(region.clone())
        });
        chosen.fold(Values::none(), |all, some| all.union(&some))
    }
}

/// Notes the remainders that the expression asks for; false if it asks for the input in another way.
fn remainders(expr: &Expr, viewer: &Viewer<'_>, asked: &mut Vec<Remainder>) -> bool {
    if !viewer.depends(expr) {
        return true;
    }
    if let Some(remainder) = remainder(expr, viewer) {
        asked.push(remainder);
        return true;
    }
    match expr {
        Expr::Unary(_, a) | Expr::Cast(_, _, a) => remainders(a, viewer, asked),
        Expr::Binary(_, a, b) => remainders(a, viewer, asked) && remainders(b, viewer, asked),
        Expr::Select(a, b, c) => [a, b, c].into_iter().all(|part| remainders(part, viewer, asked)),
        _ => false,
    }
}

/// The expression as a remainder of the input.
fn remainder(expr: &Expr, viewer: &Viewer<'_>) -> Option<Remainder> {
    const MOST: u64 = 1 << 16;
    // The input itself, or a wider number with the same value.
    let is_input = |expr: &Expr, signed: bool| match viewer.view(expr) {
        Some(View::Injective { steps, .. }) => match steps[..] {
            [] => true,
            [Step::SExt { .. }] => signed,
            [Step::ZExt { .. }] => !signed,
            _ => false,
        },
        _ => false,
    };
    let (period, signed) = match expr {
        Expr::Binary(BinOp::URem, a, b)
            if let Expr::Const(_, by) = **b
                && is_input(a, false) =>
        {
            (by, false)
        }
        Expr::Binary(BinOp::SRem, a, b)
            if let Expr::Const(_, by) = **b
                && is_input(a, true) =>
        {
            (by, true)
        }
        Expr::Binary(BinOp::And, a, b)
            if let Expr::Const(_, mask) = **b
                && mask < MOST
                && is_input(a, false) =>
        {
            ((mask + 1).next_power_of_two(), false)
        }
        Expr::Cast(CastOp::Trunc, to, a) if is_input(a, false) => (to.mask().saturating_add(1), false),
        _ => return None,
    };
    (1..=MOST).contains(&period).then_some(Remainder { period, signed })
}
