//! The oracle for the tests: the same question answered by inclusion (Andersen 1994), as plainly as possible.
//!
//! Every object, register and result has the set of objects its content may be the address of. All instructions are applied to all sets until
//! nothing grows. This is more precise than classes that become one, so whatever escapes here must escape there.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    World,
    Global(usize),
    Local(usize, usize),
    Reg(usize, usize),
    Result(usize),
    Alloc(usize, usize, usize),
}

type Set = BTreeSet<Thing>;

#[derive(Clone, Default, PartialEq)]
struct Contents(BTreeMap<Thing, Set>);

impl Contents {
    fn of(&self, thing: Thing) -> Set {
        self.0.get(&thing).cloned().unwrap_or_default()
    }

    fn add(&mut self, to: Thing, what: Set) {
        self.0.entry(to).or_default().extend(what);
    }

    /// What the value of an expression of function `f` may be the address of.
    fn value(&self, f: usize, expr: &Expr) -> Set {
        match expr {
            Expr::Const(..) | Expr::Func(_) => Set::new(),
            Expr::Reg(reg) => self.of(Thing::Reg(f, reg.index())),
            Expr::Global(id) => Set::from([Thing::Global(id.index())]),
            Expr::Local(id) => Set::from([Thing::Local(f, id.index())]),
            Expr::Unary(_, a) | Expr::Cast(_, _, a) => self.value(f, a),
            Expr::Binary(op, ..) if op.is_comparison() => Set::new(),
            Expr::Binary(_, a, b) | Expr::Select(_, a, b) => &self.value(f, a) | &self.value(f, b),
        }
    }

    fn read(&mut self, f: usize, dst: &Option<Reg>, addr: &Expr) {
        for object in self.value(f, addr) {
            if let Some(dst) = dst {
                self.add(Thing::Reg(f, dst.index()), self.of(object));
            }
        }
    }

    fn write(&mut self, f: usize, addr: &Expr, value: &Expr) {
        for object in self.value(f, addr) {
            self.add(object, self.value(f, value));
        }
    }

    fn share(&mut self, f: usize, values: &[Expr]) {
        for value in values {
            self.add(Thing::World, self.value(f, value));
        }
    }

    /// What everybody reaches is changed and read by everybody.
    fn mix_world(&mut self) {
        for thing in self.of(Thing::World) {
            self.add(Thing::World, self.of(thing));
            self.add(thing, Set::from([Thing::World]));
        }
    }

    fn objects(&mut self, program: &Program, taken: &mut BTreeSet<usize>) {
        for (index, object) in program.globals.iter().enumerate() {
            if !object.thread_local {
                self.add(Thing::World, Set::from([Thing::Global(index)]));
            }
            for field in &object.init {
                match field.value {
                    InitValue::Global(id, _) => self.add(Thing::Global(index), Set::from([Thing::Global(id.index())])),
                    InitValue::Func(id) => taken.extend([id.index()]),
                    InitValue::Int(_) => {}
                }
            }
        }
    }

    fn apply(&mut self, (f, b, i): (usize, usize, usize), op: &Op, taken: &mut BTreeSet<usize>) {
        op.for_each_operand(|expr| functions_in(expr, &mut |id| taken.extend([id.index()])));
        match op {
            Op::Assign { dst, value } => self.add(Thing::Reg(f, dst.index()), self.value(f, value)),
            Op::Load { dst, addr, .. } => self.read(f, dst, addr),
            Op::Store { addr, value, .. } => self.write(f, addr, value),
            Op::Rmw { dst, addr, operand: value, .. } | Op::Cas { dst, addr, desired: value, .. } => {
                self.read(f, dst, addr);
                self.write(f, addr, value);
            }
            Op::Call { dst, callee: Callee::Direct(id), args } => {
                for (n, arg) in args.iter().enumerate() {
                    self.add(Thing::Reg(id.index(), n), self.value(f, arg));
                }
                if let Some(dst) = dst {
                    self.add(Thing::Reg(f, dst.index()), self.of(Thing::Result(id.index())));
                }
            }
            Op::Call { dst, args, .. } => {
                self.share(f, args);
                if let Some(dst) = dst {
                    self.add(Thing::Reg(f, dst.index()), Set::from([Thing::World]));
                }
            }
            Op::Spawn { callee, args, .. } => {
                self.share(f, args);
                if let Callee::Direct(id) = callee {
                    taken.insert(id.index());
                }
            }
            Op::Join { dst: Some(dst), .. } => self.add(Thing::Reg(f, dst.index()), Set::from([Thing::World])),
            Op::Alloc { dst, .. } => self.add(Thing::Reg(f, dst.index()), Set::from([Thing::Alloc(f, b, i)])),
            _ => {}
        }
    }
}

/// What escapes, by inclusion.
pub(super) fn by_inclusion(program: &Program) -> Escape {
    let mut contents = Contents::default();
    contents.add(Thing::World, Set::from([Thing::World]));
    let mut taken = BTreeSet::new();
    loop {
        let before = contents.clone();
        contents.objects(program, &mut taken);
        for (f, function) in program.functions.iter().enumerate() {
            for (b, block) in function.blocks.iter().enumerate() {
                for (i, inst) in block.insts.iter().enumerate() {
                    contents.apply((f, b, i), &inst.op, &mut taken);
                }
                match &block.term.kind {
                    Term::Return(Some(value)) => {
                        functions_in(value, &mut |id| taken.extend([id.index()]));
                        contents.add(Thing::Result(f), contents.value(f, value));
                    }
                    Term::ExitThread(Some(value)) => contents.share(f, std::slice::from_ref(value)),
                    _ => {}
                }
            }
        }
        for &f in &taken {
            for param in 0..program.functions[f].params as usize {
                contents.add(Thing::Reg(f, param), Set::from([Thing::World]));
            }
            contents.add(Thing::World, contents.of(Thing::Result(f)));
        }
        contents.mix_world();
        if contents == before {
            break;
        }
    }
    let world = contents.of(Thing::World);
    let functions = program.functions.iter().enumerate();
    let locals = functions
        .map(|(f, function)| (0..function.locals.len()).map(|index| world.contains(&Thing::Local(f, index))).collect());
    let allocs = world.iter().filter_map(|thing| match *thing {
        Thing::Alloc(f, b, i) => Some((FuncId(f as u32), BlockId(b as u32), i as u32)),
        _ => None,
    });
    Escape {
        locals: locals.collect(),
        allocs: allocs.collect(),
        globals: (0..program.globals.len()).map(|index| world.contains(&Thing::Global(index))).collect(),
    }
}
