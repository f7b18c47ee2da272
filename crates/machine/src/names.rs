//! From addresses to objects and to names a person knows.

use crate::address::{Addr, Owner, WAKEUPS};
use crate::automaton::{Access, Automaton};
use crate::code::Code;
use crate::objects::ObjectKind;
use crate::thread::Thread;
use raddle_program::{Layout, Parts, Shape, Type};
use raddle_trace::ThreadId;

/// How to find a thread by its number.
pub type Lookup<'a, T = Thread> = &'a dyn Fn(ThreadId) -> Option<&'a T>;

/// What an object holds before anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents<'c> {
    /// These bytes.
    Bytes(&'c [u8]),
    /// Zeros.
    Zeros,
    /// Nothing that may be read.
    Uninitialised,
}

impl Contents<'_> {
    /// What an access within the object finds; `None` if it may not be read.
    pub fn value(&self, access: Access) -> Option<u64> {
        match self {
            Contents::Zeros => Some(0),
            Contents::Uninitialised => None,
            Contents::Bytes(bytes) => {
                let mut value = [0; 8];
                let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
                value[..size].copy_from_slice(&bytes[start..start + size]);
                Some(u64::from_le_bytes(value))
            }
        }
    }
}

/// An object that an access was found to be in.
#[derive(Clone, Copy, Debug)]
pub struct Located<'c> {
    /// Its start.
    pub base: Addr,
    /// Its size.
    pub size: u32,
    /// What it holds at first.
    pub contents: Contents<'c>,
    /// Whether it can be freed.
    pub heap: bool,
    /// Whether its life can end at all.
    pub mortal: bool,
}

impl Code {
    /// The object that an access is to, or what is wrong with the access, in words. Whether the object's life has ended
    /// is for memory to say.
    pub fn locate<'c, T: Automaton>(&'c self, access: Access, threads: Lookup<'_, T>) -> Result<Located<'c>, String> {
        let Access { addr, size } = access;
        let located = match addr.owner() {
            Owner::Nothing if addr.0 == 0 => return Err("access through a null pointer".into()),
            Owner::Nothing => return Err(format!("access through {addr}, which is no pointer to anything")),
            Owner::Function(id) if id.index() < self.functions.len() => {
                return Err("access to a function as if it were memory".into());
            }
            Owner::Function(_) => return Err(format!("access through {addr}, which is no pointer to anything")),
            Owner::Global(id) => match self.globals.get(id.index()) {
                Some(global) if global.tls.is_none() => Located {
                    base: addr.base(),
                    size: global.bytes.len() as u32,
                    contents: Contents::Bytes(&global.bytes),
                    heap: false,
                    mortal: false,
                },
                _ => return Err(format!("access through {addr}, which is no pointer to anything")),
            },
            Owner::Thread(_, WAKEUPS) => {
                Located { base: addr.base(), size: 8, contents: Contents::Zeros, heap: false, mortal: false }
            }
            Owner::Thread(thread, number) => {
                let object = threads(thread).and_then(|thread| thread.object(number));
                let Some(object) = object else {
                    return Err(format!("access through {addr}, which is no pointer to anything"));
                };
                if object.is_private() {
                    return Err(format!("access through {addr}, a pointer that was guessed"));
                }
                let contents = match object.kind {
                    ObjectKind::ThreadLocal(n) => Contents::Bytes(&self.globals[self.tls[n as usize] as usize].bytes),
                    ObjectKind::Local(function, local) => {
                        let contents = &self.functions[function.index()].locals[local as usize].contents;
                        contents.as_deref().map_or(Contents::Uninitialised, Contents::Bytes)
                    }
                    _ if object.initialised => Contents::Zeros,
                    _ => Contents::Uninitialised,
                };
                Located {
                    base: addr.base(),
                    size: object.size,
                    contents,
                    heap: matches!(object.kind, ObjectKind::Heap(_)),
                    mortal: true,
                }
            }
        };
        if u64::from(addr.offset()) + u64::from(size) > u64::from(located.size) {
            if let Some((place, count)) = self.element(addr, u32::from(size)) {
                return Err(format!("access out of bounds: {place}, which has {count} elements"));
            }
            let name = self.describe(addr.base(), threads);
            let (offset, total) = (addr.offset() as i32, located.size);
            return Err(format!("access out of bounds: {size} bytes at offset {offset} of {name}, which has {total}"));
        }
        Ok(located)
    }

    /// If the address is where an element of a global array would be, of the size of the access: its name, and how many the array has.
    fn element(&self, addr: Addr, size: u32) -> Option<(String, u32)> {
        let Owner::Global(id) = addr.owner() else { return None };
        let global = self.globals.get(id.index())?;
        match global.layout {
            Layout::Array(ty, count) if ty.size() == size && addr.offset().is_multiple_of(size) => {
                Some((format!("{}[{}]", global.name, addr.offset() as i32 / size as i32), count))
            }
            _ => None,
        }
    }

    /// How a part of a global object is reached from it, if that is known.
    fn path(&self, name: &str, offset: u32) -> Option<String> {
        self.shapes.globals.get(name)?.path(offset)
    }

    /// A name for an address: `x`, `a[3]`, `s.next`, `heap#T1.2+8` (in the third object that T1 made), `node#T1.2->next` (if it is known to be a `struct node`),
    /// `buf@f#T1.0` (a local object of `f`), `errno@T1` (a thread-local one), `function f`. Each object has a name of its own, the same in every execution.
    pub fn describe<T: Automaton>(&self, addr: Addr, threads: Lookup<'_, T>) -> String {
        let offset = addr.offset();
        match addr.owner() {
            Owner::Nothing if addr.0 == 0 => "null".into(),
            Owner::Nothing => format!("{addr}"),
            Owner::Function(id) => match self.functions.get(id.index()) {
                Some(function) if offset == 0 => format!("function {}", function.name),
                _ => format!("{addr}"),
            },
            Owner::Global(id) => match self.globals.get(id.index()) {
                Some(global) => match self.path(&global.name, offset) {
                    Some(path) => format!("{}{path}", global.name),
                    None => place(&global.name, global.layout, offset),
                },
                None => format!("{addr}"),
            },
            Owner::Thread(thread, WAKEUPS) => format!("wake-ups of {}", self.name(thread)),
            Owner::Thread(thread, number) => {
                let Some(object) = threads(thread).and_then(|thread| thread.object(number)) else {
                    return format!("{addr}");
                };
                let whole = || self.whole(object.kind, thread, number);
                match object.kind {
                    ObjectKind::Heap(shape) => {
                        let shape = shape.checked_sub(1).map(|at| &*self.elements[at as usize]);
                        allocated(&format!("{}.{number}", self.name(thread)), shape, object.size, offset)
                    }
                    ObjectKind::Scoped(_) => with_offset(whole(), offset),
                    ObjectKind::Local(function, local) => {
                        let function = &self.functions[function.index()];
                        let place = (function.name.clone(), function.locals[local as usize].name.clone());
                        let path = self.shapes.locals.get(&place).and_then(|shape| shape.path(offset));
                        path.map_or_else(|| with_offset(whole(), offset), |path| whole() + &path)
                    }
                    ObjectKind::ThreadLocal(n) => {
                        let global = &self.globals[self.tls[n as usize] as usize];
                        match self.path(&global.name, offset) {
                            Some(path) => whole() + &path,
                            None => format!("{}@{}", place(&global.name, global.layout, offset), self.name(thread)),
                        }
                    }
                }
            }
        }
    }
}

impl Code {
    /// The name of an object that a thread has made, whole.
    fn whole(&self, kind: ObjectKind, thread: ThreadId, number: u32) -> String {
        let by = self.name(thread);
        match kind {
            ObjectKind::Heap(shape) => {
                let shape = shape.checked_sub(1).map(|at| &*self.elements[at as usize]);
                format!("{}#{by}.{number}", tag(shape))
            }
            ObjectKind::Scoped(name) => format!("{}#{by}.{number}", self.strings[name as usize]),
            ObjectKind::Local(function, local) => {
                let function = &self.functions[function.index()];
                format!("{}@{}#{by}.{number}", function.locals[local as usize].name, function.name)
            }
            ObjectKind::ThreadLocal(n) => format!("{}@{by}", self.globals[self.tls[n as usize] as usize].name),
        }
    }

    /// What a value is, if it is the address of an object that there is, of a part of one, or of a function: `&x`, `&queue.stub`, `node#T1.2`, `&node#T1.2->next`, `push`.
    pub fn pointee<T: Automaton>(&self, value: u64, threads: Lookup<'_, T>) -> Option<String> {
        let addr = Addr(value);
        let (whole, size, heap) = match addr.owner() {
            Owner::Nothing | Owner::Thread(_, WAKEUPS) => return None,
            Owner::Function(id) => {
                let function = self.functions.get(id.index()).filter(|_| addr.offset() == 0)?;
                return Some(function.name.clone());
            }
            Owner::Global(id) => {
                let global = self.globals.get(id.index()).filter(|global| global.tls.is_none())?;
                (global.name.clone(), global.bytes.len() as u32, false)
            }
            Owner::Thread(thread, number) => {
                let object = threads(thread)?.object(number)?;
                let name = self.whole(object.kind, thread, number);
                (name, object.size, matches!(object.kind, ObjectKind::Heap(_)))
            }
        };
        match addr.offset() {
            0 if heap => Some(whole),
            0 => Some(format!("&{whole}")),
            offset if offset < size => Some(format!("&{}", self.describe(addr, threads))),
            _ => None,
        }
    }
}

/// What something of this shape is called: by the tag of the struct, if it is one.
fn tag(element: Option<&Shape>) -> &str {
    match element.map(|element| &element.parts) {
        Some(Parts::Members { tag: Some(tag), .. }) => tag,
        _ => "heap",
    }
}

/// A name for a place in what an allocation made, of elements of this shape.
fn allocated(which: &str, element: Option<&Shape>, size: u32, offset: u32) -> String {
    let name = format!("{}#{which}", tag(element));
    let Some(element) = element.filter(|element| element.size > 0 && offset < size) else {
        return with_offset(name, offset);
    };
    let (index, within) = (offset / element.size, offset % element.size);
    // What lies behind the first of a struct may be a member of flexible length.
    let (index, path) = match &element.parts {
        Parts::Members { list, .. }
            if size / 2 < element.size || list.last().is_some_and(|last| last.shape.size == u32::MAX) =>
        {
            (String::new(), element.path(offset))
        }
        _ => (format!("[{index}]"), element.path(within)),
    };
    match (&element.parts, path) {
        (Parts::Members { .. }, Some(path)) => match path.strip_prefix('.') {
            Some(member) if index.is_empty() => format!("{name}->{member}"),
            _ => format!("{name}{index}{path}"),
        },
        (_, Some(path)) if size > element.size => format!("{name}{index}{path}"),
        _ => with_offset(name, offset),
    }
}

fn with_offset(name: String, offset: u32) -> String {
    match offset as i32 {
        0 => name,
        offset if offset > 0 => format!("{name}+{offset}"),
        offset => format!("{name}{offset}"),
    }
}

fn place(name: &str, layout: Layout, offset: u32) -> String {
    // Before the object, offsets are negative.
    let element = |ty: Type| offset.is_multiple_of(ty.size()).then(|| offset as i32 / ty.size() as i32);
    match layout {
        Layout::Array(ty, _) if let Some(index) = element(ty) => format!("{name}[{index}]"),
        _ => with_offset(name.to_owned(), offset),
    }
}
