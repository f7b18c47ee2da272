//! Calls and returns, threads that start and end, objects that are made and end. The machine's `thread/calls.rs` says the same on numbers.

use super::control::{Control, Frame, Object, Status, Thread};
use super::path::{Halt, Path, Target};
use super::vars::Var;
use super::walk::{Next, Walker};
use crate::oc::successors;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, NO_SLOT, Operand, Pc, Slot};
use raddle_machine::{Addr, Code};
use raddle_program::FuncId;
use raddle_solve::Term;
use raddle_trace::{Property, ThreadId};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How deep calls may nest.
const MOST_FRAMES: usize = 200;

impl Walker<'_> {
    pub(super) fn make_thread(&mut self, control: &mut Control, id: ThreadId, function: FuncId) {
        let mut thread = Thread {
            id,
            status: Status::Silent,
            pc: self.code.function(function).entry,
            stage: 0,
            scratch: 0,
            frames: Vec::new(),
            held: Vec::new(),
            objects: Vec::new(),
            children: 0,
            atomic: 0,
            joined: false,
        };
        for &global in self.code.thread_locals() {
            let global = &self.code.globals()[global as usize];
            let size = global.bytes.len() as u32;
            self.make_object(&mut thread, size, Some(&global.bytes), global.private, false, false);
        }
        self.make_frame(&mut thread, function, u32::MAX, NO_SLOT);
        let at = control.threads.partition_point(|other| other.id < id);
        control.threads.insert(at, Rc::new(thread));
    }

    fn make_frame(&mut self, thread: &mut Thread, function: FuncId, return_to: Pc, dst: Slot) {
        let first_object = thread.objects.len() as u32;
        for local in &self.code.function(function).locals {
            self.make_object(thread, local.size, local.contents.as_deref(), local.private, false, false);
        }
        thread.frames.push(Frame { function, return_to, dst, first_object });
        thread.pc = self.code.function(function).entry;
    }

    pub(super) fn make_object(
        &mut self,
        thread: &mut Thread,
        size: u32,
        contents: Option<&[u8]>,
        private: bool,
        heap: bool,
        scoped: bool,
    ) -> u64 {
        let addr = thread.object_address(thread.objects.len() as u32);
        if let Some(contents) = contents {
            self.vars.make(addr, contents);
        }
        let written = contents.is_none().then(BTreeSet::new);
        thread.objects.push(Object { size, private, live: true, heap, scoped, written });
        addr
    }

    pub(super) fn call(&mut self, mut path: Path, id: ThreadId, function: FuncId, args: &[Term], dst: Slot) -> Path {
        let pc = path.thread(id).pc;
        if path.thread(id).frames.len() >= MOST_FRAMES {
            return self.ends_at(path, id, Target::GaveUp { why: "calls nest too deep", pc });
        }
        let mut thread = path.thread(id).clone();
        self.make_frame(&mut thread, function, pc + 1, dst);
        *path.thread_mut(id) = thread;
        self.pass(&mut path, id, function, args);
        path
    }

    /// Hands arguments to a frame that was just made. All its other slots are zero.
    fn pass(&mut self, path: &mut Path, id: ThreadId, function: FuncId, args: &[Term]) {
        let depth = path.thread(id).frames.len() as u16;
        let code = self.code.function(function);
        let zero = self.terms.constant(64, 0);
        for slot in 0..code.slots {
            let value = args.get(slot as usize).copied().unwrap_or(zero);
            self.write(path, Var::Slot { thread: id, depth, function, slot }, value);
        }
    }

    /// The function that is called through a pointer; `None` if it is none.
    pub(super) fn callee(
        &mut self,
        path: &Path,
        id: ThreadId,
        target: Operand,
        args: usize,
    ) -> Result<Option<FuncId>, Halt> {
        let pc = path.thread(id).pc;
        let target = self.get(path, id, target);
        let addr = Addr(self.number(target, pc, "which function this calls")?);
        Ok(match addr.owner() {
            Owner::Function(function)
                if addr.offset() == 0
                    && function.index() < self.code.functions()
                    && self.code.function(function).params as usize == args =>
            {
                Some(function)
            }
            _ => None,
        })
    }

    pub(super) fn spawn(&mut self, mut path: Path, id: ThreadId, function: FuncId, args: &[Term], dst: Slot) -> Path {
        let (pc, children) = (path.thread(id).pc, path.thread(id).children);
        let Some(child) = self.code.numbering().child(id, children) else {
            return self.ends_at(path, id, Target::GaveUp { why: raddle_trace::threads::TOO_MANY, pc });
        };
        path.thread_mut(id).children += 1;
        self.make_thread(&mut path.control, child, function);
        self.pass(&mut path, child, function, args);
        let handle = self.terms.constant(64, u64::from(child.0) + 1);
        self.set(&mut path, id, dst, handle);
        path.go_on(id)
    }

    /// The object whose life ends next where a function or a thread ends, if others can reach it.
    pub(super) fn next_life(&self, path: &Path, id: ThreadId) -> Option<u64> {
        let thread = path.thread(id);
        let all = matches!(self.code.instr(thread.pc), Instr::ExitThread { .. });
        let frames: Vec<&Frame> = thread.frames.iter().rev().take(if all { usize::MAX } else { 1 }).collect();
        let mut objects: Vec<u32> = Vec::new();
        for frame in &frames {
            let locals = self.code.function(frame.function).locals.len() as u32;
            objects.extend(frame.first_object..frame.first_object + locals);
        }
        let exits = self.code.entry_exits() && id == ThreadId::MAIN;
        if all || (thread.frames.len() == 1 && !exits) {
            objects.extend(0..self.code.thread_locals().len() as u32);
        }
        let mut shared = objects.into_iter().filter(|&at| !thread.objects[at as usize].private);
        shared.nth(thread.stage as usize).map(|at| thread.object_address(at))
    }

    /// Ends the life of an object that others can reach; a failure if that is wrong.
    pub(super) fn end_life(&mut self, mut path: Path, id: ThreadId, addr: u64, scoped: bool) -> Path {
        let at = Addr(addr);
        let right = |object: &Object| {
            !object.private
                && object.live
                && at.offset() < object.size.max(1)
                && (scoped || (object.heap && at.offset() == 0))
        };
        match (path.control.object(addr).is_some_and(right), at.owner()) {
            (true, Owner::Thread(owner, number)) => {
                let object = &mut path.thread_mut(owner).objects[number as usize];
                object.live = false;
                object.written = None;
                path
            }
            _ => self.fails(path, id, Property::Memory),
        }
    }

    pub(super) fn leave(&mut self, mut path: Path, id: ThreadId, value: Operand) -> Next {
        if self.next_life(&path, id).is_some() {
            return Self::rest(path, id);
        }
        let result = self.result(&path, id, value);
        let exits = self.code.entry_exits() && id == ThreadId::MAIN;
        let thread = path.thread_mut(id);
        thread.stage = 0;
        let frame = thread.frame().clone();
        let locals = self.code.function(frame.function).locals.len();
        for object in thread.objects.iter_mut().skip(frame.first_object as usize).take(locals) {
            object.live = false;
            object.written = None;
        }
        if thread.frames.len() == 1 {
            return Next::On(vec![self.finish(path, id, result, exits)]);
        }
        thread.frames.pop();
        thread.pc = frame.return_to;
        self.set(&mut path, id, frame.dst, result);
        Next::On(vec![path])
    }

    pub(super) fn end_thread(&mut self, path: Path, id: ThreadId, value: Operand) -> Next {
        if self.next_life(&path, id).is_some() {
            return Self::rest(path, id);
        }
        let result = self.result(&path, id, value);
        Next::On(vec![self.finish(path, id, result, false)])
    }

    fn result(&mut self, path: &Path, id: ThreadId, value: Operand) -> Term {
        if value == Operand::NONE { self.terms.constant(64, 0) } else { self.get(path, id, value) }
    }

    fn finish(&mut self, mut path: Path, id: ThreadId, result: Term, exit: bool) -> Path {
        if path.thread(id).atomic > 0 {
            return self.fails(path, id, Property::Lock);
        }
        self.write(&mut path, Var::Result(id), result);
        let thread = path.thread_mut(id);
        thread.status = Status::Finished { exit };
        (thread.stage, thread.pc) = (0, 0);
        thread.frames.clear();
        thread.held.clear();
        path
    }
}

/// The branches that decide how often a loop turns in which threads or objects are made. What they ask for is needed: there is no end of threads where it is not known.
pub(super) fn makers(code: &Code) -> FxHashSet<Pc> {
    let from = |start: Pc| {
        let mut seen: FxHashSet<Pc> = FxHashSet::default();
        let mut todo = successors(code, start);
        while let Some(pc) = todo.pop() {
            if seen.insert(pc) {
                todo.extend(successors(code, pc));
            }
        }
        seen
    };
    // Whoever calls a function that makes something makes it.
    let mut making: FxHashSet<FuncId> = FxHashSet::default();
    let makes = |pc: Pc, making: &FxHashSet<FuncId>| match code.instr(pc) {
        Instr::Spawn { .. } | Instr::SpawnIndirect { .. } | Instr::Alloc { .. } | Instr::CallIndirect { .. } => true,
        Instr::Call { func, .. } => making.contains(&func) || !code.function(func).locals.is_empty(),
        _ => false,
    };
    loop {
        let before = making.len();
        for id in (0..code.functions() as u32).map(FuncId) {
            let entry = code.function(id).entry;
            if from(entry).into_iter().chain([entry]).any(|pc| makes(pc, &making)) {
                making.insert(id);
            }
        }
        if making.len() == before {
            break;
        }
    }
    let mut all = FxHashSet::default();
    for pc in (0..code.len()).filter(|&pc| makes(pc, &making)) {
        let branches = from(pc).into_iter().filter(|&at| matches!(code.instr(at), Instr::Branch { .. }));
        all.extend(branches.filter(|&at| from(at).contains(&pc)));
    }
    all
}
