//! What instructions may access: where pointers may point, and which objects each instruction reads and writes.
//!
//! Where an address may point is found without regard to the order of instructions (Andersen 1994, in its simplest form): of every slot, which objects the addresses in it may belong to. Arithmetic on pointers stays in its
//! object, as the machine has it; what was computed otherwise, or read from memory as wide as a pointer, may point anywhere. Objects are the global ones, each for itself, and as one whatever threads have made.
//!
//! Stateful search asks it for persistent sets, abstraction for source sets and for what flows where.
//!
//! Cost: some passes over the code with a few words per slot, once per program.

use crate::Addr;
use crate::address::Owner;
use crate::code::{Code, Instr, NO_SLOT, Operand, Pc, Slot, SyncOp};
use fixedbitset::FixedBitSet;
use raddle_program::{BinOp, FuncId, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A set of objects: the global ones by their numbers, and behind them what threads have made.
pub type Objects = FixedBitSet;

/// Something that an instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory at an address.
    Memory(Operand, u8),
    /// What threads have made, in some way that concerns all of it.
    Made,
    /// As if it were memory: that somebody was waited for, since a second wait for a thread fails.
    Waits,
}

/// Tells what the instruction at `pc` accesses, and whether it writes there.
pub fn accesses(code: &Code, pc: Pc, see: &mut impl FnMut(Place, bool)) {
    match code.instr(pc) {
        Instr::Load { addr, ty, .. } => see(Place::Memory(addr, ty.size() as u8), false),
        Instr::Store { addr, ty, .. } | Instr::Rmw { addr, ty, .. } => {
            see(Place::Memory(addr, ty.size() as u8), true);
        }
        Instr::Cas { cas } => {
            let cas = code.cas(cas);
            see(Place::Memory(cas.addr, cas.ty.size() as u8), true);
        }
        Instr::Free { .. } => see(Place::Made, true),
        Instr::Sync { op, object, other, .. } => {
            // The largest of them has eight bytes.
            see(Place::Memory(object, 8), true);
            if let SyncOp::CondWait { .. } = op {
                see(Place::Memory(other, 8), true);
            }
            // Wake-ups are counted in objects of threads.
            if let SyncOp::CondWait { .. } | SyncOp::CondSignal | SyncOp::CondBroadcast = op {
                see(Place::Made, true);
            }
        }
        Instr::Join { .. } => see(Place::Waits, true),
        Instr::Return { .. } | Instr::ExitThread { .. } => {
            let mut locals = (0..code.functions() as u32).flat_map(|id| &code.function(FuncId(id)).locals);
            if locals.any(|local| !local.private) || !code.thread_locals().is_empty() {
                see(Place::Made, true);
            }
        }
        _ => {}
    }
}

/// Where slots may point.
#[derive(Clone, Debug)]
pub struct Pointers {
    functions: Vec<FuncId>,
    globals: usize,
    slots: FxHashMap<(FuncId, Slot), Objects>,
}

impl Pointers {
    /// Of this program.
    pub fn new(code: &Code) -> Self {
        let mut functions = vec![FuncId(0); code.len() as usize];
        let mut order: Vec<FuncId> = (0..code.functions() as u32).map(FuncId).collect();
        order.sort_unstable_by_key(|&id| code.function(id).entry);
        for (at, &id) in order.iter().enumerate() {
            let end = order.get(at + 1).map_or(code.len(), |&next| code.function(next).entry);
            functions[code.function(id).entry as usize..end as usize].fill(id);
        }
        let mut pointers = Pointers { functions, globals: code.globals().len(), slots: FxHashMap::default() };
        while pointers.round(code) {}
        pointers
    }

    /// The function that an instruction belongs to.
    pub fn function(&self, pc: Pc) -> FuncId {
        self.functions[pc as usize]
    }

    /// How many global objects there are.
    pub fn globals(&self) -> usize {
        self.globals
    }

    /// What threads have made, as a member of [`Objects`].
    pub fn made(&self) -> usize {
        self.globals
    }

    /// No objects.
    pub fn none(&self) -> Objects {
        Objects::with_capacity(self.globals + 1)
    }

    /// This one alone.
    pub fn only(&self, object: usize) -> Objects {
        let mut objects = self.none();
        objects.insert(object);
        objects
    }

    /// All objects.
    pub fn all(&self) -> Objects {
        let mut objects = self.none();
        objects.insert_range(..);
        objects
    }

    /// Where an operand of the instruction at `pc` may point.
    pub fn of(&self, code: &Code, pc: Pc, operand: Operand) -> Objects {
        let Some(value) = code.as_constant(operand) else {
            return self.slots.get(&(self.function(pc), operand.0)).cloned().unwrap_or_else(|| self.none());
        };
        match Addr(value).owner() {
            Owner::Global(id) if id.index() < self.globals => self.only(id.index()),
            Owner::Global(_) => self.all(),
            Owner::Thread(..) => self.only(self.made()),
            Owner::Function(_) | Owner::Nothing => self.none(),
        }
    }

    /// Looks at every instruction once; says whether there was news.
    fn round(&mut self, code: &Code) -> bool {
        let mut news = false;
        for pc in 0..code.len() {
            let own = self.function(pc);
            let get = |operand: Operand| self.of(code, pc, operand);
            // A pointer that was taken to pieces is none that is known.
            let computed = || self.all();
            let read = |ty: Type| if ty.size() < 8 && !code.is_narrow() { self.none() } else { computed() };
            let mut add: SmallVec<[((FuncId, Slot), Objects); 4]> = SmallVec::new();
            match code.instr(pc) {
                Instr::Move { dst, src } => add.push(((own, dst), get(src))),
                Instr::Bin { op: BinOp::Add, ty: Type::Ptr, dst, a, .. } => add.push(((own, dst), get(a))),
                Instr::Select { dst, a, b, .. } => add.extend([((own, dst), get(a)), ((own, dst), get(b))]),
                // What has a pointer's width and is made of small numbers may be one in the end.
                Instr::Bin { ty, dst, .. } | Instr::Un { ty, dst, .. } => add.push(((own, dst), read(ty))),
                Instr::Cast { to, dst, a, .. } => add.extend([((own, dst), get(a)), ((own, dst), read(to))]),
                Instr::LocalAddr { dst, .. } | Instr::TlsAddr { dst, .. } | Instr::Alloc { dst, .. } => {
                    add.push(((own, dst), self.only(self.made())));
                }
                Instr::Load { dst, ty, .. } | Instr::Rmw { dst, ty, .. } | Instr::Join { dst, ty, .. } => {
                    add.push(((own, dst), read(ty)));
                }
                Instr::Cas { cas } => add.push(((own, code.cas(cas).dst), read(code.cas(cas).ty))),
                Instr::Call { func, args, dst } => {
                    add.extend(code.args(args).iter().zip(0..).map(|(&arg, slot)| ((func, slot), get(arg))));
                    add.push(((own, dst), computed()));
                }
                Instr::Spawn { func, args, .. } => {
                    add.extend(code.args(args).iter().zip(0..).map(|(&arg, slot)| ((func, slot), get(arg))));
                }
                Instr::CallIndirect { args, .. } | Instr::SpawnIndirect { args, .. } => {
                    let all = (0..code.functions() as u32).map(FuncId);
                    for id in all.filter(|&id| code.function(id).params == args.len) {
                        add.extend((0..args.len).map(|slot| ((id, slot), computed())));
                    }
                    if let Instr::CallIndirect { dst, .. } = code.instr(pc) {
                        add.push(((own, dst), computed()));
                    }
                }
                Instr::Choose { dst, .. } | Instr::Input { dst, .. } => add.push(((own, dst), computed())),
                _ => {}
            }
            for (slot, objects) in add.into_iter().filter(|add| add.0.1 != NO_SLOT) {
                let none = self.none();
                let known = self.slots.entry(slot).or_insert(none);
                news |= !objects.is_subset(known);
                known.union_with(&objects);
            }
        }
        news
    }
}
