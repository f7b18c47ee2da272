//! What a program may access from an instruction on, by whoever runs it and by those whom that starts.
//!
//! Where addresses may point is known for each instruction by itself ([`raddle_machine::points`]). What is accessed from an instruction on is then a fixed point over the code, calls and starts of threads included.
//!
//! Memory is told apart by *items*: the cells of global objects, or the whole of a large one; as one, whatever threads have made; and, as if it were memory, that somebody was waited for.
//!
//! Cost: some passes over the code with a few words per instruction, once per program.

use crate::machine::CELL;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, Pc};
use raddle_machine::points::{Place, Pointers};
use raddle_machine::{Access, Addr, Code};
use raddle_program::FuncId;
use smallvec::{SmallVec, smallvec};

/// An object with more cells is one item.
const MOST_CELLS: u32 = 64;

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Bits(SmallVec<[u64; 2]>);

impl Bits {
    fn none(number: usize) -> Self {
        Bits(smallvec![0; number.div_ceil(64)])
    }

    fn add(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
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
}

/// What is accessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
        let own = self.reads.0.iter().zip(&self.writes.0);
        let others = other.reads.0.iter().zip(&other.writes.0);
        own.zip(others).any(|((reads, writes), (read, written))| (writes & (read | written)) | (reads & written) != 0)
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
        raddle_machine::points::accesses(code, pc, &mut |place, writes| {
            let items = if writes { &mut all.writes } else { &mut all.reads };
            match place {
                Place::Memory(operand, size) => match code.as_constant(operand) {
                    Some(value) => self.add_access(Access { addr: Addr(value), size }, items),
                    None => {
                        for object in pointers.of(code, pc, operand).ones() {
                            let (first, own) = self.globals.get(object).copied().unwrap_or((self.made() as u32, 1));
                            (first..first + own).for_each(|item| items.add(item as usize));
                        }
                    }
                },
                Place::Made => items.add(self.made()),
                Place::Waits => items.add(self.waits()),
            }
        });
        all
    }
}
