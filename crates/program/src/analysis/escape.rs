//! Memory that no other thread can reach.
//!
//! For every local object, every allocation and every thread-local object: may another thread than the one it belongs to come by its
//! address? If not, accesses to it are invisible: they make no events and cost nothing.
//!
//! The analysis is Steensgaard's (1996): every object and every register is a node, a node has one *target*, the class of
//! objects its content may point to, and an assignment makes the targets of both sides one class. It looks neither at the order
//! of instructions nor at fields, and goes through calls by making arguments and parameters one. A special class,
//! the *world*, stands for everything that all threads can reach; its content points to itself. What ends up in one class with the
//! world may escape:
//! - global objects that are not thread-local, and what is stored in them;
//! - arguments of a spawned thread, its result, the operand of `thread_exit`;
//! - arguments of a call through a pointer; parameters and results of functions whose address is taken;
//! - what is stored through an address that points to nothing known; what is printed;
//! - synchronisation objects: the machine has no private ones.
//!
//! A pointer stored in a private object does not escape with it: the object's content has a target like a register's. Numbers are followed like
//! pointers, through casts and arithmetic, so a pointer in an `i64` is not lost.
//!
//! Deviations: no distinction of fields, of call sites, or of activations of one function, all on the side of
//! "may escape". Cost: almost linear in the size of the program (union-find).

use crate::expr::Expr;
use crate::inst::{Callee, Inst, Op, Term};
use crate::program::{BlockId, FuncId, GlobalId, InitValue, LocalId, Program, Reg};
use rustc_hash::{FxHashMap, FxHashSet};

/// What may be reached by other threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Escape {
    /// Per function, per local object: whether it may.
    pub locals: Vec<Vec<bool>>,
    /// The [`Op::Alloc`] instructions (function, block, position in the block) whose objects may.
    pub allocs: FxHashSet<(FuncId, BlockId, u32)>,
    /// Per global object: whether it may. Objects that are not thread-local always may.
    pub globals: Vec<bool>,
}

impl Escape {
    /// Whether the local object may be reached by other threads.
    pub fn local(&self, function: FuncId, local: LocalId) -> bool {
        self.locals[function.index()][local.index()]
    }

    /// Whether what is allocated there may be reached by other threads.
    pub fn alloc(&self, function: FuncId, block: BlockId, inst: u32) -> bool {
        self.allocs.contains(&(function, block, inst))
    }

    /// Whether a thread's copy of the global object may be reached by other threads.
    pub fn global(&self, global: GlobalId) -> bool {
        self.globals[global.index()]
    }
}

/// Analyses a valid program.
pub fn escape(program: &Program) -> Escape {
    let mut flow = Flow::new(program);
    flow.objects();
    for index in 0..program.functions.len() {
        flow.function(FuncId(index as u32));
    }
    let mut result = Escape::default();
    for node in flow.globals.clone() {
        let escapes = flow.classes.same(node, WORLD);
        result.globals.push(escapes);
    }
    for nodes in flow.locals.clone() {
        result.locals.push(nodes.into_iter().map(|node| flow.classes.same(node, WORLD)).collect());
    }
    for (site, node) in flow.allocs.clone() {
        if flow.classes.same(node, WORLD) {
            result.allocs.insert(site);
        }
    }
    result
}

/// An object, a register or a result: something with a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node(u32);

/// Everything that all threads can reach.
const WORLD: Node = Node(0);

/// Classes of nodes, each with the class its content points to.
#[derive(Debug, Default)]
struct Classes {
    parent: Vec<u32>,
    target: Vec<Option<Node>>,
}

impl Classes {
    fn fresh(&mut self) -> Node {
        self.parent.push(self.parent.len() as u32);
        self.target.push(None);
        Node(self.parent.len() as u32 - 1)
    }

    fn find(&mut self, node: Node) -> Node {
        let mut at = node.0;
        while self.parent[at as usize] != at {
            let above = self.parent[at as usize];
            self.parent[at as usize] = self.parent[above as usize];
            at = above;
        }
        Node(at)
    }

    fn same(&mut self, a: Node, b: Node) -> bool {
        self.find(a) == self.find(b)
    }

    /// The class that the content of `node` points to.
    fn target(&mut self, node: Node) -> Node {
        let root = self.find(node);
        if let Some(target) = self.target[root.0 as usize] {
            return self.find(target);
        }
        let target = self.fresh();
        self.target[root.0 as usize] = Some(target);
        target
    }

    /// Makes the classes of both one, and what they point to.
    fn unite(&mut self, a: Node, b: Node) {
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            self.parent[b.0 as usize] = a.0;
            match (self.target[a.0 as usize], self.target[b.0 as usize]) {
                (Some(x), Some(y)) => todo.push((x, y)),
                (None, target) => self.target[a.0 as usize] = target,
                (Some(_), None) => {}
            }
        }
    }
}

struct Flow<'p> {
    program: &'p Program,
    classes: Classes,
    globals: Vec<Node>,
    locals: Vec<Vec<Node>>,
    regs: Vec<Vec<Node>>,
    results: Vec<Node>,
    allocs: FxHashMap<(FuncId, BlockId, u32), Node>,
}

impl<'p> Flow<'p> {
    fn new(program: &'p Program) -> Self {
        let mut classes = Classes::default();
        let world = classes.fresh();
        classes.target[world.0 as usize] = Some(world);
        let mut nodes = |count: usize| -> Vec<Node> { (0..count).map(|_| classes.fresh()).collect() };
        let globals = nodes(program.globals.len());
        let results = nodes(program.functions.len());
        let locals = program.functions.iter().map(|function| nodes(function.locals.len())).collect();
        let regs = program.functions.iter().map(|function| nodes(function.regs.len())).collect();
        Flow { program, classes, globals, locals, regs, results, allocs: FxHashMap::default() }
    }

    /// Global objects and what they hold at the start.
    fn objects(&mut self) {
        for (index, object) in self.program.globals.iter().enumerate() {
            let node = self.globals[index];
            if !object.thread_local {
                self.classes.unite(WORLD, node);
            }
            for field in &object.init {
                match field.value {
                    InitValue::Global(id, _) => {
                        let target = self.classes.target(node);
                        self.classes.unite(target, self.globals[id.index()]);
                    }
                    InitValue::Func(id) => self.address_taken(id),
                    InitValue::Int(_) => {}
                }
            }
        }
    }

    /// Somebody may call the function through a pointer, with anything that everybody can reach.
    fn address_taken(&mut self, id: FuncId) {
        for param in 0..self.program.functions[id.index()].params {
            self.points_to_world(self.regs[id.index()][param as usize]);
        }
        self.points_to_world(self.results[id.index()]);
    }

    fn points_to_world(&mut self, node: Node) {
        let target = self.classes.target(node);
        self.classes.unite(WORLD, target);
    }

    fn function(&mut self, id: FuncId) {
        let function = &self.program.functions[id.index()];
        for (index, block) in function.blocks.iter().enumerate() {
            for (at, inst) in block.insts.iter().enumerate() {
                self.functions_in_operands(inst);
                self.inst(id, (id, BlockId(index as u32), at as u32), &inst.op);
            }
            match &block.term.kind {
                Term::Return(Some(value)) => {
                    functions_in(value, &mut |func| self.address_taken(func));
                    self.flows(id, value, self.results[id.index()]);
                }
                Term::ExitThread(Some(value)) => {
                    functions_in(value, &mut |func| self.address_taken(func));
                    self.escapes(id, value);
                }
                Term::If(value, ..) | Term::Switch(value, ..) => {
                    functions_in(value, &mut |func| self.address_taken(func));
                }
                _ => {}
            }
        }
    }

    fn functions_in_operands(&mut self, inst: &Inst) {
        inst.op.for_each_operand(|expr| functions_in(expr, &mut |func| self.address_taken(func)));
        if let Some(cond) = inst.op.condition() {
            functions_in(cond, &mut |func| self.address_taken(func));
        }
    }

    fn inst(&mut self, id: FuncId, site: (FuncId, BlockId, u32), op: &Op) {
        match op {
            Op::Assign { dst, value } => self.flows(id, value, self.reg(id, *dst)),
            Op::Load { dst, addr, .. } => self.reads(id, *dst, addr),
            Op::Store { addr, value, .. } => self.writes(id, addr, value),
            Op::Rmw { dst, addr, operand, .. } => {
                self.reads(id, *dst, addr);
                self.writes(id, addr, operand);
            }
            Op::Cas { dst, addr, desired, .. } => {
                self.reads(id, *dst, addr);
                self.writes(id, addr, desired);
            }
            Op::Call { dst, callee: Callee::Direct(callee), args } => {
                for (index, arg) in args.iter().enumerate() {
                    self.flows(id, arg, self.regs[callee.index()][index]);
                }
                if let Some(dst) = dst {
                    let result = self.classes.target(self.results[callee.index()]);
                    let target = self.classes.target(self.reg(id, *dst));
                    self.classes.unite(target, result);
                }
            }
            Op::Spawn { callee: Callee::Direct(callee), args, .. } => {
                args.iter().for_each(|arg| self.escapes(id, arg));
                self.address_taken(*callee);
            }
            Op::Call { dst, callee: Callee::Indirect(_), args } => {
                args.iter().for_each(|arg| self.escapes(id, arg));
                if let Some(dst) = dst {
                    self.points_to_world(self.reg(id, *dst));
                }
            }
            Op::Spawn { callee: Callee::Indirect(_), args, .. } | Op::Print { args, .. } => {
                args.iter().for_each(|arg| self.escapes(id, arg));
            }
            Op::Join { dst: Some(dst), .. } => self.points_to_world(self.reg(id, *dst)),
            Op::Alloc { dst, .. } => {
                let object = self.classes.fresh();
                self.allocs.insert(site, object);
                let target = self.classes.target(self.reg(id, *dst));
                self.classes.unite(target, object);
            }
            // Synchronisation objects are memory's business, whoever can reach them.
            op if op.synchronises() => op.for_each_operand(|operand| self.escapes(id, operand)),
            _ => {}
        }
    }

    fn reg(&self, function: FuncId, reg: Reg) -> Node {
        self.regs[function.index()][reg.index()]
    }

    /// The classes that the value of an expression may point to.
    fn targets(&mut self, function: FuncId, expr: &Expr) -> Vec<Node> {
        let mut out = Vec::new();
        self.collect(function, expr, &mut out);
        out
    }

    fn collect(&mut self, function: FuncId, expr: &Expr, out: &mut Vec<Node>) {
        match expr {
            Expr::Const(..) | Expr::Func(_) => {}
            Expr::Reg(reg) => out.push(self.classes.target(self.regs[function.index()][reg.index()])),
            Expr::Global(id) => out.push(self.globals[id.index()]),
            Expr::Local(id) => out.push(self.locals[function.index()][id.index()]),
            Expr::Unary(_, a) | Expr::Cast(_, _, a) => self.collect(function, a, out),
            Expr::Binary(op, ..) if op.is_comparison() => {}
            Expr::Binary(_, a, b) | Expr::Select(_, a, b) => {
                self.collect(function, a, out);
                self.collect(function, b, out);
            }
        }
    }

    /// The value becomes the content of `to`.
    fn flows(&mut self, function: FuncId, value: &Expr, to: Node) {
        for source in self.targets(function, value) {
            let target = self.classes.target(to);
            self.classes.unite(target, source);
        }
    }

    fn escapes(&mut self, function: FuncId, value: &Expr) {
        for node in self.targets(function, value) {
            self.classes.unite(WORLD, node);
        }
    }

    fn reads(&mut self, function: FuncId, dst: Option<Reg>, addr: &Expr) {
        let Some(dst) = dst else { return };
        for object in self.targets(function, addr) {
            let content = self.classes.target(object);
            let target = self.classes.target(self.reg(function, dst));
            self.classes.unite(target, content);
        }
    }

    fn writes(&mut self, function: FuncId, addr: &Expr, value: &Expr) {
        let objects = self.targets(function, addr);
        if objects.is_empty() {
            return self.escapes(function, value);
        }
        for object in objects {
            self.flows(function, value, object);
        }
    }
}

/// Calls `visit` on each function whose address is in the expression.
fn functions_in(expr: &Expr, visit: &mut impl FnMut(FuncId)) {
    expr.walk(&mut |part| {
        if let Expr::Func(id) = part {
            visit(*id);
        }
    });
}

#[cfg(test)]
mod inclusion;
#[cfg(test)]
mod tests;
