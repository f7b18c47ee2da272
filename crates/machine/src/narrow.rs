//! 32-bit numbers for addresses, for programs whose pointers have four bytes.
//!
//! Inside of the machine an address always has 64 bits (see [`Addr`]). A program of the ILP32 kind keeps it in memory
//! and in integers as a number of 32 bits, made by `pack` and undone by `unpack`. Both are functions of the number alone, so a thread
//! needs to know nothing of the objects other threads made. That works as with low-fat pointers (Duck and Yap 2016):
//! the number says which *class* an object is in, and the class how far its objects are apart.
//!
//! ```text
//!  0000_0000  null, and small numbers that point to nothing
//!  0001_0000  global objects, one after the other with gaps
//!  2000_0000  class 0: objects of up to  32 bytes,  64 bytes apart
//!  4000_0000  class 1: objects of up to 256 bytes, 512 bytes apart        and so on, by thread and number
//!  f000_0000  functions, 16 bytes apart
//!  f0f0_0000  nothing
//! ```
//!
//! Three properties hold. `pack` undoes `unpack` on every number. `unpack` undoes `pack` on every address in an object or near it (a quarter of the
//! distance between objects on either side), and distances inside of an object are kept. An address
//! further away becomes a number that points to nothing, as [`Addr::moved`] has it; so a stray pointer never meets another
//! object. What does not fit into the space is no verdict: the thread says that it cannot go on.

use crate::address::{Addr, NARROW, Owner};
use raddle_program::{FuncId, GlobalId, Program};
use raddle_trace::ThreadId;

/// Objects of similar size.
struct Class {
    /// The number of the first.
    start: u32,
    /// They are two to this power bytes apart.
    slot: u32,
    /// Two to this power of them per thread.
    count: u32,
    /// How many threads have some.
    threads: u32,
}

/// The last thread's share of every class stays empty, which keeps the classes apart.
const CLASSES: [Class; 6] = [
    Class { start: 0x2000_0000, slot: 6, count: 16, threads: 127 },
    Class { start: 0x4000_0000, slot: 9, count: 13, threads: 127 },
    Class { start: 0x6000_0000, slot: 12, count: 10, threads: 127 },
    Class { start: 0x8000_0000, slot: 16, count: 6, threads: 127 },
    Class { start: 0xa000_0000, slot: 20, count: 3, threads: 127 },
    Class { start: 0xe000_0000, slot: 24, count: 2, threads: 3 },
];

/// Where the class stands in the number of an object.
const CLASS_SHIFT: u32 = 17;
const GLOBALS: u32 = 0x0001_0000;
const FUNCTIONS: u32 = 0xf000_0000;
const FUNCTION_SLOT: u32 = 4;
/// No program has so many functions that they reach this.
const NOTHING: u32 = 0xf0f0_0000;
/// Where addresses go that are too far from their objects.
const STRAY: u32 = 0xfe00_0000;
/// Room on either side of a global object.
const GAP: u64 = 64;

impl Class {
    fn slot_size(&self) -> i64 {
        1 << self.slot
    }

    /// What belongs to an object on its lower side.
    fn margin(&self) -> i64 {
        self.slot_size() / 4
    }

    /// The first number that belongs to an object of this class.
    fn first(&self) -> i64 {
        i64::from(self.start) - self.margin()
    }
}

/// The number, among the objects of its thread, of the `index`-th object in a class.
fn object_number(class: usize, index: u32) -> u32 {
    NARROW | (class as u32) << CLASS_SHIFT | index
}

/// The class of an object by its number, and which of the class it is.
pub(crate) fn class_of(number: u32) -> (usize, u32) {
    (((number & !NARROW) >> CLASS_SHIFT) as usize, number & ((1 << CLASS_SHIFT) - 1))
}

/// How many objects of each class a thread has.
pub(crate) type Counts = [u32; CLASSES.len()];

/// The number for a new object of this size, or `None` if no class has room for it.
pub(crate) fn next_number(thread: ThreadId, size: u32, counts: &mut Counts) -> Option<u32> {
    for (index, class) in CLASSES.iter().enumerate() {
        let used = &mut counts[index];
        if u64::from(size) * 2 <= class.slot_size() as u64 && thread.0 < class.threads && *used < 1 << class.count {
            *used += 1;
            return Some(object_number(index, *used - 1));
        }
    }
    None
}

/// The 32-bit numbers of a program's addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// Per global object, its number; in ascending order.
    globals: Vec<u32>,
    /// The first number behind all of them.
    end: u32,
}

impl Numbers {
    /// Gives every global object its number; `None` if they do not fit.
    pub(crate) fn of(program: &Program) -> Option<Numbers> {
        let mut globals = Vec::with_capacity(program.globals.len());
        let mut next = u64::from(GLOBALS) + GAP;
        for object in &program.globals {
            let align = u64::from(object.layout.align()).max(16);
            next = next.next_multiple_of(align);
            globals.push(next as u32);
            let size = u64::from(object.layout.size());
            next += size + size / 4 + 2 * GAP;
        }
        (next - GAP <= CLASSES[0].first() as u64).then(|| Numbers { globals, end: (next - GAP) as u32 })
    }

    /// The number of an address.
    pub(crate) fn pack(&self, addr: Addr) -> u32 {
        let base = addr.base();
        let offset = addr.0.wrapping_sub(base.0) as i64;
        let number = match base.owner() {
            Owner::Nothing => Some(offset as u32).filter(|&number| self.unpack(number) == addr),
            Owner::Global(id) => self.globals.get(id.index()).map(|&start| (i64::from(start) + offset) as u32),
            Owner::Function(id) => Some((i64::from(FUNCTIONS) + (i64::from(id.0) << FUNCTION_SLOT) + offset) as u32),
            Owner::Thread(thread, number) => {
                let (class, index) = class_of(number);
                CLASSES.get(class).map(|class| {
                    let slots = i64::from(thread.0) << class.count | i64::from(index);
                    (i64::from(class.start) + (slots << class.slot) + offset) as u32
                })
            }
        };
        // What would be taken for something else points to nothing from now on.
        number.filter(|&number| self.unpack(number) == addr).unwrap_or(STRAY | addr.0 as u32 & 0x00ff_ffff | 1)
    }

    /// The address with this number.
    pub(crate) fn unpack(&self, number: u32) -> Addr {
        let at = i64::from(number);
        // With its sign, for a little below an object is no place for anything else.
        let nothing = Addr(number as i32 as u64);
        if (GLOBALS..self.end).contains(&number) {
            let next = self.globals.partition_point(|&start| u64::from(start) <= u64::from(number) + GAP);
            let Some(index) = next.checked_sub(1) else { return nothing };
            let offset = at - i64::from(self.globals[index]);
            return Addr(Addr::global(GlobalId(index as u32)).0.wrapping_add(offset as u64));
        }
        if (FUNCTIONS..NOTHING).contains(&number) {
            let id = FuncId((number - FUNCTIONS) >> FUNCTION_SLOT);
            return Addr::function(id).plus(number & ((1 << FUNCTION_SLOT) - 1));
        }
        let Some((index, class)) = CLASSES.iter().enumerate().rev().find(|(_, class)| class.first() <= at) else {
            return nothing;
        };
        let slot = (at - class.first()) >> class.slot;
        let thread = (slot >> class.count) as u32;
        if number >= NOTHING || thread >= class.threads {
            return nothing;
        }
        let object = Addr::object(ThreadId(thread), object_number(index, (slot & ((1 << class.count) - 1)) as u32));
        let offset = at - i64::from(class.start) - (slot << class.slot);
        Addr(object.0.wrapping_add(offset as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_program::{Layout, Object, Type};

    fn numbers(sizes: &[u32]) -> Numbers {
        let object = |&size: &u32| Object {
            name: String::new(),
            layout: Layout::Array(Type::I8, size),
            init: Vec::new(),
            thread_local: false,
            constant: false,
            span: Default::default(),
        };
        let program = Program { globals: sizes.iter().map(object).collect(), ..Program::default() };
        Numbers::of(&program).expect("they fit")
    }

    #[test]
    fn packing_undoes_unpacking() {
        let numbers = numbers(&[4, 1000, 1, 70_000]);
        let edges = CLASSES.iter().map(|class| class.start).chain([0, GLOBALS, FUNCTIONS, NOTHING, numbers.end]);
        let near = edges.flat_map(|edge| (-200..200).map(move |by| edge.wrapping_add_signed(by)));
        for number in near.chain((0..=u32::MAX).step_by(9973)) {
            assert_eq!(numbers.pack(numbers.unpack(number)), number, "{number:#x}");
        }
    }

    #[test]
    fn addresses_in_an_object_come_back_and_keep_their_distances() {
        let sizes = [4, 1000, 1, 70_000];
        let numbers = numbers(&sizes);
        let globals = sizes.iter().enumerate().map(|(id, &size)| (Addr::global(GlobalId(id as u32)), size));
        let mut objects: Vec<(Addr, u32)> = globals.collect();
        for thread in [0, 1, 2, 126] {
            let thread = ThreadId(thread);
            let mut counts = Counts::default();
            for size in [0, 1, 32, 33, 256, 2048, 2049, 32_768, 400_000, 1, 8 << 20] {
                if let Some(number) = next_number(thread, size, &mut counts) {
                    objects.push((Addr::object(thread, number), size));
                }
            }
        }
        assert_eq!(objects.len(), 4 + 3 * 11 + 10);
        let mut taken: Vec<(u32, u32)> = Vec::new();
        for &(base, size) in &objects {
            let first = numbers.pack(base);
            for by in [-8, -1, 0, 1, i64::from(size) / 2, i64::from(size)] {
                let addr = base.moved(by);
                assert_eq!(numbers.pack(addr), first.wrapping_add_signed(by as i32), "{base} {by}");
                assert_eq!(numbers.unpack(numbers.pack(addr)), addr, "{base} {by}");
            }
            taken.push((first, size));
        }
        taken.sort_unstable();
        assert!(taken.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0), "objects overlap: {taken:x?}");
    }

    #[test]
    fn a_stray_address_points_to_nothing() {
        let numbers = numbers(&[4, 4, 4]);
        for by in [100_000i64, -100_000, 1 << 33, i64::from(u32::MAX)] {
            let stray = numbers.unpack(numbers.pack(Addr::global(GlobalId(1)).moved(by)));
            assert!(!matches!(stray.owner(), Owner::Global(_) | Owner::Thread(..)), "{by}: {stray}");
            assert_eq!(numbers.unpack(numbers.pack(stray)), stray, "{by}");
        }
    }

    #[test]
    fn the_space_ends_somewhere() {
        let mut counts = Counts::default();
        let large = 5 << 20;
        let made = (0..100).map_while(|_| next_number(ThreadId(0), large, &mut counts)).count();
        assert_eq!(made, 4);
        assert_eq!(next_number(ThreadId(127), 1, &mut Counts::default()), None);
    }
}
