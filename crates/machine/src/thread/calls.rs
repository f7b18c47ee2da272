//! Calls, returns, and the end of a thread.

use super::{Flow, Frame, NO_ROOM, Status, Thread, Visible, rest};
use crate::address::{Addr, Owner};
use crate::code::{Code, Operand, Slot};
use crate::objects::{ObjectInfo, ObjectKind};
use raddle_program::FuncId;
use raddle_trace::{Property, ThreadId};

/// How deep calls may nest.
const MAX_FRAMES: usize = 100_000;

impl Thread {
    pub(super) fn callee(&self, code: &Code, target: Operand, args: u32) -> Result<FuncId, Status> {
        let addr = Addr(self.get(code, target));
        match addr.owner() {
            Owner::Function(id) if addr.offset() == 0 && id.index() < code.functions.len() => {
                let function = &code.functions[id.index()];
                if function.params == args {
                    return Ok(id);
                }
                let message =
                    format!("{} takes {} arguments but is called with {args}", function.name, function.params);
                Err(self.failed(Property::Memory, message))
            }
            _ => {
                let name = code.describe(addr, &|_| Some(self));
                Err(self.failed(Property::Memory, format!("call of {name}, which is no function")))
            }
        }
    }

    /// Starts a thread that runs this function, or posts a message to a looper.
    pub(super) fn start_another(&mut self, code: &Code, function: FuncId, mailbox: Operand) -> Flow {
        if mailbox == Operand::NONE {
            return rest(Visible::Spawn { function, mailbox: None });
        }
        let addr = Addr(self.get(code, mailbox));
        if code.mailbox(addr).is_none() {
            let name = code.describe(addr, &|_| Some(self));
            return Flow::Rest(
                self.failed(Property::Lock, format!("a message is posted to {name}, which is no looper")),
            );
        }
        if !code.tls.is_empty() {
            let name = &code.globals[code.tls[0] as usize].name;
            return Flow::Rest(self.cannot_go_on(format!(
                "a message is posted in a program with the thread-local object {name}, which the messages of a looper would share; make it a global object per looper"
            )));
        }
        rest(Visible::Spawn { function, mailbox: Some(addr) })
    }

    pub(super) fn call(&mut self, code: &Code, function: FuncId, args: &[u64], dst: Slot) -> Flow {
        match self.enter(code, function, args, self.pc + 1, dst) {
            Ok(()) => Flow::Goto(self.pc),
            Err(status) => Flow::Rest(status),
        }
    }

    pub(super) fn enter(
        &mut self,
        code: &Code,
        function: FuncId,
        args: &[u64],
        return_to: u32,
        dst: Slot,
    ) -> Result<(), Status> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(self.cannot_go_on(format!("calls nest deeper than {MAX_FRAMES}; does the recursion end?")));
        }
        let callee = &code.functions[function.index()];
        let base = self.regs.len() as u32;
        let first_object = self.objects.len();
        for (index, local) in callee.locals.iter().enumerate() {
            let kind = ObjectKind::Local(function, index as u32);
            let object = if local.private {
                ObjectInfo::private(kind, local.size, local.contents.as_deref())
            } else {
                ObjectInfo::shared(kind, local.size, local.contents.is_some())
            };
            if self.objects.add(self.id, object, local.room).is_none() {
                return Err(self.cannot_go_on(NO_ROOM.into()));
            }
        }
        self.regs.resize(base as usize + callee.slots as usize, 0);
        for ((index, &arg), ty) in args.iter().enumerate().zip(&callee.reg_types) {
            self.regs[base as usize + index] = ty.fit(arg);
        }
        self.frames.push(Frame { base, return_to, dst, function, first_object });
        self.pc = callee.entry;
        Ok(())
    }

    /// Returns from the current function: first the lives of its shared local objects end, one visible operation each
    /// (`stage` counts them), then control goes back. At the end of the thread its thread-local objects follow; the end of `main` is the
    /// end of the program, to which they belong.
    pub(super) fn leave(&mut self, code: &Code, value: Operand) -> Flow {
        let frame = *self.frames.last().expect("a running thread has a frame");
        let locals = &code.functions[frame.function.index()].locals;
        let mut shared = locals.iter().enumerate().filter(|(_, local)| !local.private);
        if let Some((index, _)) = shared.nth(self.stage as usize) {
            let addr = self.own_object(frame.first_object + index as u32);
            return rest(Visible::Free { addr, scope: true });
        }
        let exits = code.entry_exits && self.id == ThreadId::MAIN;
        if self.frames.len() == 1 && !exits {
            let done = locals.iter().filter(|local| !local.private).count() as u32;
            if let Some(addr) = self.thread_local(code, self.stage - done) {
                return rest(Visible::Free { addr, scope: true });
            }
        }
        self.stage = 0;
        let result = if value == Operand::NONE { 0 } else { self.get(code, value) };
        for (index, _) in locals.iter().enumerate().filter(|(_, local)| local.private) {
            let number = self.objects.number(frame.first_object + index as u32);
            self.objects.get_mut(number).end().expect("locals live until the return");
        }
        self.regs.truncate(frame.base as usize);
        if !self.turns.is_empty() {
            let outer = self.turns.partition_point(|&slot| slot < frame.base);
            self.turns.truncate(outer);
            self.past.turns.truncate(outer);
        }
        if self.frames.len() == 1 {
            return self.finish(code, result, exits);
        }
        self.frames.pop();
        self.set(frame.dst, result);
        Flow::Goto(frame.return_to)
    }

    /// Ends the thread from any depth: the lives of all shared locals on the stack and of the thread-local objects end first.
    pub(super) fn end_thread(&mut self, code: &Code) -> Flow {
        let mut skip = self.stage;
        for frame in self.frames.iter().rev() {
            let locals = &code.functions[frame.function.index()].locals;
            for (index, _) in locals.iter().enumerate().filter(|(_, local)| !local.private) {
                if skip == 0 {
                    let addr = self.own_object(frame.first_object + index as u32);
                    return rest(Visible::Free { addr, scope: true });
                }
                skip -= 1;
            }
        }
        if let Some(addr) = self.thread_local(code, skip) {
            return rest(Visible::Free { addr, scope: true });
        }
        self.stage = 0;
        self.finish(code, self.scratch, false)
    }

    /// The `n`-th thread-local object of the thread that others can reach; its life ends with the thread.
    fn thread_local(&self, code: &Code, n: u32) -> Option<Addr> {
        let mut shared = (0u32..).zip(&code.tls).filter(|(_, global)| !code.globals[**global as usize].private);
        shared.nth(n as usize).map(|(position, _)| self.own_object(position))
    }

    /// Ends the thread, and perhaps the program with it.
    fn finish(&mut self, code: &Code, result: u64, exit: bool) -> Flow {
        if self.atomic > 0 {
            return Flow::Rest(self.failed(Property::Lock, "the thread ends inside an atomic block".into()));
        }
        if self.message.is_some()
            && let Some(held) = self.held.first()
        {
            let name = code.describe(held.addr, &|_| Some(self));
            return Flow::Rest(self.cannot_go_on(format!(
                "the message ends while it holds {name}, which its looper would still hold in the next one; release it before the handler returns"
            )));
        }
        Flow::Rest(Status::Finished { result, exit })
    }
}
