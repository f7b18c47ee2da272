//! What a program may access from an instruction on, by whoever runs it and by those whom that starts.
//!
//! Where an address may point is found without regard to the order of instructions (Andersen 1994, in its simplest form): of every slot, which objects the addresses in it may belong to. Arithmetic on pointers stays in its
//! object, as the machine has it; what was computed otherwise, or read from memory as wide as a pointer, may point anywhere. What is accessed from an instruction on is then a fixed point over the code, calls and starts of threads included.
//!
//! Memory is told apart by *items*: the cells of global objects, or the whole of a large one; as one, whatever threads have made; and, as if it were memory, that somebody was waited for, since a second wait for a thread fails.
//!
//! Cost: some passes over the code with a few words per instruction, once per program.

use crate::machine::CELL;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, NO_SLOT, Operand, Pc, Slot, SyncOp};
use raddle_machine::{Access, Addr, Code};
use raddle_program::{BinOp, FuncId, Type};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// An object with more cells is one item.
const MOST_CELLS: u32 = 64;

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits(SmallVec<[u64; 2]>);

impl Bits {
    fn none(number: usize) -> Self {
        Bits(smallvec![0; number.div_ceil(64)])
    }

    fn add(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Adds what another one has; says whether that was news.
    fn join(&mut self, other: &Bits) -> bool {
        let mut news = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            news |= more & !*word != 0;
            *word |= more;
        }
        news
    }

    fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }
}

/// What is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Footprint {
    reads: Bits,
    writes: Bits,
}

impl Footprint {
    pub(crate) fn join(&mut self, other: &Footprint) -> bool {
        let news = self.reads.join(&other.reads);
        self.writes.join(&other.writes) | news
    }

    /// Whether both access the same, and one of them writes it.
    pub(crate) fn conflicts(&self, other: &Footprint) -> bool {
        self.writes.meets(&other.writes) || self.writes.meets(&other.reads) || self.reads.meets(&other.writes)
    }
}

/// What is accessed from each instruction on.
#[derive(Clone, Debug)]
pub struct Footprints {
    /// The first item of each global object, and how many it has.
    globals: Vec<(u32, u32)>,
    /// How many items there are; the last two are what threads have made, and waits for threads.
    items: usize,
    from: Vec<Footprint>,
}

impl Footprints {
    /// Of this program.
    pub fn new(code: &Code) -> Self {
        let (mut globals, mut items) = (Vec::new(), 0);
        for global in code.globals() {
            let cells = (global.bytes.len() as u32).div_ceil(CELL);
            let own = if (1..=MOST_CELLS).contains(&cells) { cells } else { 1 };
            globals.push((items, own));
            items += own;
        }
        let mut all = Footprints { globals, items: items as usize + 2, from: Vec::new() };
        let pointers = Pointers::new(code);
        all.from = (0..code.len()).map(|pc| all.of(code, &pointers, pc)).collect();
        let mut news = true;
        while news {
            news = false;
            for pc in (0..code.len()).rev() {
                let mut own = all.from[pc as usize].clone();
                let mut join = |pc: Pc| news |= own.join(&all.from[pc as usize]);
                code.successors(pc, &mut join);
                match code.instr(pc) {
                    Instr::Call { func, .. } | Instr::Spawn { func, .. } => join(code.function(func).entry),
                    Instr::CallIndirect { .. } | Instr::SpawnIndirect { .. } => {
                        (0..code.functions() as u32).for_each(|id| join(code.function(FuncId(id)).entry));
                    }
                    _ => {}
                }
                all.from[pc as usize] = own;
            }
        }
        all
    }

    /// Nothing.
    pub(crate) fn none(&self) -> Footprint {
        Footprint { reads: Bits::none(self.items), writes: Bits::none(self.items) }
    }

    /// What is accessed from this instruction on.
    pub(crate) fn from(&self, pc: Pc) -> &Footprint {
        &self.from[pc as usize]
    }

    /// An access.
    pub(crate) fn access(&self, access: Access, writes: bool) -> Footprint {
        let mut items = Bits::none(self.items);
        self.add_access(access, &mut items);
        self.as_read_or_written(items, writes)
    }

    /// Something happens to what threads have made.
    pub(crate) fn of_threads(&self) -> Footprint {
        let mut items = Bits::none(self.items);
        items.add(self.made());
        self.as_read_or_written(items, true)
    }

    /// Somebody waits for the end of a thread.
    pub(crate) fn wait(&self) -> Footprint {
        let mut items = Bits::none(self.items);
        items.add(self.waits());
        self.as_read_or_written(items, true)
    }

    fn as_read_or_written(&self, items: Bits, writes: bool) -> Footprint {
        let none = Bits::none(self.items);
        if writes { Footprint { reads: none, writes: items } } else { Footprint { reads: items, writes: none } }
    }

    fn made(&self) -> usize {
        self.items - 2
    }

    fn waits(&self) -> usize {
        self.items - 1
    }

    fn add_access(&self, Access { addr, size }: Access, items: &mut Bits) {
        match addr.owner() {
            Owner::Global(id) => {
                let Some(&(first, own)) = self.globals.get(id.index()) else { return };
                let cell = |offset: u32| first + (offset / CELL).min(own - 1);
                let last = addr.offset().saturating_add(u32::from(size).max(1) - 1);
                (cell(addr.offset())..=cell(last)).for_each(|item| items.add(item as usize));
            }
            Owner::Thread(..) => items.add(self.made()),
            Owner::Function(_) | Owner::Nothing => {}
        }
    }

    /// What an instruction accesses.
    fn of(&self, code: &Code, pointers: &Pointers, pc: Pc) -> Footprint {
        let mut all = self.none();
        let items = |operand: Operand, size: u8| {
            let mut items = Bits::none(self.items);
            if let Some(value) = code.as_constant(operand) {
                self.add_access(Access { addr: Addr(value), size }, &mut items);
                return items;
            }
            let objects = pointers.of(code, pc, operand);
            for (id, &(first, own)) in self.globals.iter().enumerate() {
                if objects.has(id) || objects.has(pointers.anywhere()) {
                    (first..first + own).for_each(|item| items.add(item as usize));
                }
            }
            if objects.has(pointers.made()) || objects.has(pointers.anywhere()) {
                items.add(self.made());
            }
            items
        };
        match code.instr(pc) {
            Instr::Load { addr, ty, .. } => all.reads = items(addr, ty.size() as u8),
            Instr::Store { addr, ty, .. } | Instr::Rmw { addr, ty, .. } => all.writes = items(addr, ty.size() as u8),
            Instr::Cas { cas } => {
                let cas = code.cas(cas);
                all.writes = items(cas.addr, cas.ty.size() as u8);
            }
            Instr::Free { .. } => all.writes.add(self.made()),
            Instr::Sync { op, object, other, .. } => {
                // The largest of them has eight bytes.
                all.writes = items(object, 8);
                if let SyncOp::CondWait { .. } = op {
                    all.writes.join(&items(other, 8));
                }
                // Wake-ups are counted in objects of threads.
                if let SyncOp::CondWait { .. } | SyncOp::CondSignal | SyncOp::CondBroadcast = op {
                    all.writes.add(self.made());
                }
            }
            Instr::Join { .. } => all.writes.add(self.waits()),
            Instr::Return { .. } | Instr::ExitThread { .. } => {
                let mut locals = (0..code.functions() as u32).flat_map(|id| &code.function(FuncId(id)).locals);
                if locals.any(|local| !local.private) || !code.thread_locals().is_empty() {
                    all.writes.add(self.made());
                }
            }
            _ => {}
        }
        all
    }
}

/// Where slots may point: to which of the global objects, to what threads have made, or anywhere.
struct Pointers {
    functions: Vec<FuncId>,
    globals: usize,
    slots: FxHashMap<(FuncId, Slot), Bits>,
}

impl Pointers {
    fn new(code: &Code) -> Self {
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

    fn made(&self) -> usize {
        self.globals
    }

    fn anywhere(&self) -> usize {
        self.globals + 1
    }

    fn none(&self) -> Bits {
        Bits::none(self.globals + 2)
    }

    fn only(&self, bit: usize) -> Bits {
        let mut bits = self.none();
        bits.add(bit);
        bits
    }

    /// Where an operand of the instruction at `pc` may point.
    fn of(&self, code: &Code, pc: Pc, operand: Operand) -> Bits {
        let Some(value) = code.as_constant(operand) else {
            let slot = (self.functions[pc as usize], operand.0);
            return self.slots.get(&slot).cloned().unwrap_or_else(|| self.none());
        };
        match Addr(value).owner() {
            Owner::Global(id) if id.index() < self.globals => self.only(id.index()),
            Owner::Global(_) => self.only(self.anywhere()),
            Owner::Thread(..) => self.only(self.made()),
            Owner::Function(_) | Owner::Nothing => self.none(),
        }
    }

    /// Looks at every instruction once; says whether there was news.
    fn round(&mut self, code: &Code) -> bool {
        let mut news = false;
        for pc in 0..code.len() {
            let own = self.functions[pc as usize];
            let get = |operand: Operand| self.of(code, pc, operand);
            // A pointer that was taken to pieces is none that is known.
            let computed = || self.only(self.anywhere());
            let read = |ty: Type| if ty.size() < 8 && !code.is_narrow() { self.none() } else { computed() };
            let mut add: SmallVec<[((FuncId, Slot), Bits); 4]> = SmallVec::new();
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
                news |= self.slots.entry(slot).or_insert(none).join(&objects);
            }
        }
        news
    }
}
