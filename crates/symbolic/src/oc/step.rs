//! What each instruction does to a state, on terms. The machine's `thread/run.rs` says the same on numbers.

use super::access::Update;
use super::graph::{Action, CutKind, Join};
use super::memory::MOST_BYTES;
use super::state::{Object, State};
use super::unroll::{Fail, Unroller};
use crate::apart;
use crate::words::{self, Computer, NoTerm, bits};
use raddle_engine::Refusal;
use raddle_machine::Addr;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, Operand, Pc, Slot};
use raddle_machine::condition::Condition;
use raddle_program::{BinOp, FuncId, Ordering, Type};
use raddle_solve::{Term, Terms};
use raddle_trace::{Property, ThreadId};
use std::rc::Rc;

/// How many functions or objects an address may be of.
const MOST_TARGETS: usize = 16;

/// Somebody who computes where a thread is.
struct At<'a, 'c> {
    unroller: &'a mut Unroller<'c>,
    state: &'a State,
}

impl Computer for At<'_, '_> {
    type Error = Fail;

    fn terms(&mut self) -> &mut Terms {
        &mut self.unroller.graph.terms
    }

    fn slot(&mut self, slot: Slot) -> Term {
        self.state.frame().slots[slot as usize]
    }

    fn moved(&mut self, pointer: Term, by: Term) -> Result<Term, Fail> {
        self.unroller.moved(pointer, by, self.state.pc)
    }

    fn refused(&self, why: NoTerm) -> Fail {
        let message = format!("the engine `oc` takes {}", why.what());
        Fail::Refused(Box::new(Refusal::at(self.unroller.code, self.state.pc, message)))
    }
}

impl<'c> Unroller<'c> {
    /// The states that follow.
    pub(super) fn step(&mut self, thread: usize, mut state: State) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        if self.races && state.block.is_some() && apart::meets_others(self.code, pc) {
            return self.refuse(pc, apart::MEETS_OTHERS);
        }
        match self.code.instr(pc) {
            Instr::Move { dst, src } => {
                let value = self.get(&state, src);
                self.set(&mut state, dst, value);
            }
            Instr::Un { op, ty, dst, a } => {
                let a = self.get(&state, a);
                let value = words::unary(&mut self.graph.terms, op, ty, a);
                let value = self.at(&state).taken(value)?;
                self.set(&mut state, dst, value);
            }
            Instr::Bin { op, ty, dst, a, b } => {
                let (a, b) = (self.get(&state, a), self.get(&state, b));
                if let BinOp::Splice(_) = op
                    && (self.may_be_missing(a) || self.may_be_missing(b))
                {
                    return self.refuse(pc, "the engine `oc` takes no words of which only some bits were written");
                }
                let (value, fails) = self.at(&state).binary(op, ty, a, b)?;
                self.fail_if(thread, &mut state, fails, Property::Arithmetic, pc);
                self.set(&mut state, dst, value);
            }
            Instr::Cast { op, from, to, dst, a } => {
                let a = self.get(&state, a);
                let value = words::cast(&mut self.graph.terms, op, from, to, a);
                let value = self.at(&state).taken(value)?;
                self.set(&mut state, dst, value);
            }
            Instr::Select { dst, cond, a, b } => {
                let (cond, a, b) = (self.get(&state, cond), self.get(&state, a), self.get(&state, b));
                let cond = self.holds(cond);
                let value = self.graph.terms.ite(cond, a, b);
                self.set(&mut state, dst, value);
            }
            Instr::LocalAddr { dst, local } => {
                let at = state.frame().first_object + local as usize;
                self.set_own(thread, &mut state, dst, at);
            }
            Instr::TlsAddr { dst, index } => self.set_own(thread, &mut state, dst, index as usize),
            Instr::Load { dst, ty, order, addr, wait, unwritten } => {
                let addr = self.get(&state, addr);
                let ordinary = order == Ordering::NonAtomic;
                self.load(thread, &mut state, dst, ty, addr, wait, unwritten, ordinary)?;
            }
            Instr::Store { ty, order, addr, value } => {
                let (addr, value) = (self.get(&state, addr), self.get(&state, value));
                self.store(thread, &mut state, ty, addr, value, order)?;
            }
            Instr::Rmw { op, ty, dst, addr, operand, idle, .. } => {
                let (addr, operand) = (self.get(&state, addr), self.get(&state, operand));
                let operand = self.graph.terms.resize(operand, bits(ty));
                let waits = idle != 0 && self.code.wait(idle).blocks;
                self.update(thread, &mut state, dst, ty, addr, waits, |unroller, state, old| {
                    let new = words::changed(&mut unroller.graph.terms, op, old, operand);
                    let terms = &mut unroller.graph.terms;
                    let (yes, no) = (terms.bool(true), terms.bool(false));
                    if idle == 0 {
                        return Ok(Update { new, writes: yes, goes_on: yes, fails: no });
                    }
                    let changes = terms.ne(new, old);
                    let (holds, fails) = unroller.waited_for(state, idle, old)?;
                    let terms = &mut unroller.graph.terms;
                    let writes = terms.any([changes, holds, fails]);
                    Ok(Update { new, writes, goes_on: if waits { writes } else { yes }, fails })
                })?;
            }
            Instr::Cas { cas } => {
                let cas = *self.code.cas(cas);
                let (addr, expected) = (self.get(&state, cas.addr), self.get(&state, cas.expected));
                let desired = self.get(&state, cas.desired);
                self.update(thread, &mut state, cas.dst, cas.ty, addr, cas.wait, |unroller, _, old| {
                    let terms = &mut unroller.graph.terms;
                    let found = terms.zext(old, 64);
                    let writes = terms.eq(found, expected);
                    let new = terms.resize(desired, bits(cas.ty));
                    let goes_on = if cas.wait { writes } else { terms.bool(true) };
                    let fails = terms.bool(false);
                    Ok(Update { new, writes, goes_on, fails })
                })?;
            }
            Instr::Fence { order } => {
                if order == Ordering::SeqCst && self.keeps_stores(&state) {
                    let node = self.node(&mut state);
                    let guard = self.visible(&state);
                    self.plan(thread, guard, node, Action::Run);
                } else if order > Ordering::Relaxed {
                    self.plan_alone(thread, &state, Action::Run);
                    if order.releases() && self.keeps_stores(&state) {
                        self.store_fence(&mut state);
                    }
                }
            }
            Instr::Call { dst, func, args } => {
                let args = self.values(&state, self.code.args(args));
                return Ok(self.call(thread, state, func, &args, dst));
            }
            Instr::CallIndirect { dst, target, args } => {
                let args = self.values(&state, self.code.args(args));
                let mut next = Vec::new();
                for (state, function) in self.callees(thread, state, target, args.len())? {
                    next.extend(self.call(thread, state, function, &args, dst));
                }
                return Ok(next);
            }
            Instr::Take => unreachable!("programs with mailboxes are refused"),
            Instr::Spawn { dst, func, args, .. } => {
                let args = self.values(&state, self.code.args(args));
                self.spawn(thread, &mut state, func, &args, dst)?;
            }
            Instr::SpawnIndirect { dst, target, args, .. } => {
                let args = self.values(&state, self.code.args(args));
                let mut next = Vec::new();
                for (mut state, function) in self.callees(thread, state, target, args.len())? {
                    self.spawn(thread, &mut state, function, &args, dst)?;
                    state.pc += 1;
                    next.push(state);
                }
                return Ok(next);
            }
            Instr::Join { dst, ty, thread: handle } => {
                let handle = self.get(&state, handle);
                self.join(thread, &mut state, dst, ty, handle)?;
            }
            Instr::ThreadId { dst } => {
                let id = self.graph.threads[thread].id;
                self.set_handle(&mut state, dst, id);
            }
            Instr::Sync { op, dst, object, other } => {
                let mut next = self.sync(thread, state, op, dst, object, other)?;
                next.iter_mut().for_each(|state| state.pc += 1);
                return Ok(next);
            }
            Instr::Alloc { dst, size, zeroed, private, scoped, .. } => {
                let size = self.get(&state, size);
                let (heap, scoped) = (scoped == 0, scoped != 0);
                let addr = match self.graph.terms.as_const(size) {
                    Some(size) if size <= u64::from(MOST_BYTES) => {
                        let zeros = zeroed.then(|| vec![0; size as usize]);
                        self.make_object(thread, &mut state, size as u32, zeros.as_deref(), private, heap, scoped)
                    }
                    Some(_) => return self.refuse(pc, "the engine `oc` takes no allocation of more than 16 KiB"),
                    None => self.make_sized(thread, &mut state, size, zeroed, (private, heap, scoped))?,
                };
                let addr = self.graph.terms.constant(64, addr);
                self.set(&mut state, dst, addr);
            }
            Instr::Free { ptr, scoped } => {
                let mut next = self.free(thread, state, ptr, scoped)?;
                next.iter_mut().for_each(|state| state.pc += 1);
                return Ok(next);
            }
            Instr::Assert { cond, .. } => {
                let cond = self.get(&state, cond);
                let holds = self.holds(cond);
                let broken = self.graph.terms.not(holds);
                self.fail_if(thread, &mut state, broken, Property::Assert, pc);
            }
            Instr::Assume { cond } => {
                let cond = self.get(&state, cond);
                let holds = self.holds(cond);
                let fails = self.graph.terms.not(holds);
                self.stop_if(&mut state, fails);
            }
            Instr::Choose { dst, low, count, .. } => {
                let low = self.get(&state, low);
                let mut pick = self.graph.terms.constant(64, 0);
                if count > 1 {
                    let (number, end) = (self.graph.terms.var(32), self.graph.terms.constant(32, u64::from(count)));
                    let known = self.graph.terms.ult(number, end);
                    self.graph.constraints.push(known);
                    self.plan_alone(thread, &state, Action::Pick(number));
                    pick = self.graph.terms.zext(number, 64);
                    state.has_acted();
                }
                let value = self.graph.terms.add(low, pick);
                self.set(&mut state, dst, value);
            }
            Instr::Input { dst, values, .. } => {
                let value = self.input(thread, &mut state, values);
                self.set(&mut state, dst, value);
            }
            Instr::AtomicBegin => match &mut state.block {
                Some((_, depth)) => *depth += 1,
                None => {
                    self.begin_block(&mut state);
                    self.plan_alone(thread, &state, Action::Run);
                }
            },
            Instr::AtomicEnd => match &mut state.block {
                Some((_, depth)) if *depth > 1 => *depth -= 1,
                Some((block, _)) => {
                    let block = *block;
                    self.plan_alone(thread, &state, Action::Run);
                    self.graph.blocks[block].ends.push(state.guard);
                    state.block = None;
                }
                None => return self.refuse(pc, "an atomic block ends that did not begin"),
            },
            Instr::Error { property, .. } => {
                let yes = self.graph.terms.bool(true);
                self.fail_if(thread, &mut state, yes, property, pc);
                return Ok(Vec::new());
            }
            Instr::Print { .. } => {}
            Instr::Jump { to } => return Ok(vec![State { pc: to, ..state }]),
            Instr::Turn { counter, bound } => {
                let one = self.graph.terms.constant(64, 1);
                let turns = self.graph.terms.add(state.frame().slots[counter as usize], one);
                let bound = self.graph.terms.constant(64, u64::from(bound));
                let too_often = self.graph.terms.ult(bound, turns);
                let cut = self.graph.terms.and(state.guard, too_often);
                self.cut(cut, pc, CutKind::AskedFor);
                state.guard = self.graph.terms.and_not(state.guard, too_often);
                self.set(&mut state, counter, turns);
            }
            Instr::Branch { cond, then, otherwise } => {
                let cond = self.get(&state, cond);
                let holds = self.holds(cond);
                if self.graph.terms.is_true(holds) {
                    self.stay(&mut state, otherwise);
                } else if self.graph.terms.is_false(holds) {
                    self.stay(&mut state, then);
                }
                return Ok(self.branch(state, holds, then, otherwise));
            }
            Instr::Switch { value, table } => {
                let value = self.get(&state, value);
                let table = self.code.switch(table);
                let mut next = Vec::new();
                for &(case, to) in &table.cases {
                    let case = self.graph.terms.constant(64, case);
                    let is = self.graph.terms.eq(value, case);
                    let guard = self.graph.terms.and(state.guard, is);
                    next.push(State { guard, pc: to, ..state.clone() });
                    state.guard = self.graph.terms.and_not(state.guard, is);
                }
                next.push(State { pc: table.default, ..state });
                return Ok(next);
            }
            Instr::Return { value } => return self.leave(thread, state, value),
            Instr::ExitThread { value } => {
                let result = self.result(&state, value);
                while let Some(frame) = state.frames.pop() {
                    let locals = frame.first_object..frame.first_object + self.locals(frame.function);
                    self.end_lives(thread, &mut state, locals);
                }
                self.end_lives(thread, &mut state, 0..self.code.thread_locals().len());
                self.finish(thread, &mut state, result, false, pc);
                return Ok(Vec::new());
            }
            Instr::Exit => {
                match state.block {
                    // Nobody moves behind such a block, so for all others it is as if it had not begun; only whoever asks whether executions end lets it happen.
                    Some((block, _)) => {
                        let quits = *self.graph.quits.get_or_insert_with(|| self.graph.terms.var(1));
                        let exit = self.graph.terms.and(state.guard, quits);
                        self.graph.blocks[block].ends.push(exit);
                        self.graph.exits_inside.push(exit);
                        let yes = self.graph.terms.bool(true);
                        self.stop_if(&mut state, yes);
                    }
                    None => self.graph.threads[thread].exits.push(state.guard),
                }
                return Ok(Vec::new());
            }
            Instr::MarkTurn { mark, kept } => {
                let depth = u64::from(state.block.map_or(0, |(_, depth)| depth));
                let depth = self.graph.terms.constant(64, depth);
                self.set(&mut state, mark, depth);
                for (&register, to) in self.code.args(kept).iter().zip(mark + 1..) {
                    let value = self.get(&state, register);
                    self.set(&mut state, to, value);
                }
                let looks = &mut state.frame_mut().looks;
                if !looks.contains(&mark) {
                    looks.push(mark);
                    looks.sort_unstable();
                }
            }
            Instr::Spin { mark, kept, to } => {
                if state.frame().looks.contains(&mark) {
                    let depth = u64::from(state.block.map_or(0, |(_, depth)| depth));
                    let depth = self.graph.terms.constant(64, depth);
                    let mut same = self.graph.terms.eq(state.frame().slots[mark as usize], depth);
                    for (&register, before) in self.code.args(kept).iter().zip(mark + 1..) {
                        let value = self.get(&state, register);
                        let kept = self.graph.terms.eq(value, state.frame().slots[before as usize]);
                        same = self.graph.terms.and(same, kept);
                    }
                    // A turn that has changed nothing leads back to where it began: whatever comes of it comes without it.
                    state.guard = self.graph.terms.and_not(state.guard, same);
                }
                return Ok(vec![State { pc: to, ..state }]);
            }
            Instr::Unreachable => {
                self.cut(state.guard, pc, CutKind::GaveUp);
                return Ok(Vec::new());
            }
        }
        state.pc += 1;
        Ok(vec![state])
    }

    fn values(&mut self, state: &State, operands: &[Operand]) -> Vec<Term> {
        operands.iter().map(|&operand| self.get(state, operand)).collect()
    }

    /// Whether a number is not zero.
    pub(super) fn holds(&mut self, value: Term) -> Term {
        words::holds(&mut self.graph.terms, value)
    }

    fn branch(&mut self, state: State, holds: Term, then: Pc, otherwise: Pc) -> Vec<State> {
        if self.graph.terms.is_true(holds) {
            return vec![State { pc: then, ..state }];
        }
        let guard = self.graph.terms.and(state.guard, holds);
        let other = self.graph.terms.and_not(state.guard, holds);
        vec![State { guard, pc: then, ..state.clone() }, State { guard: other, pc: otherwise, ..state }]
    }

    fn set_own(&mut self, thread: usize, state: &mut State, dst: Slot, object: usize) {
        let addr = Addr::object(self.graph.threads[thread].id, object as u32);
        let addr = self.graph.terms.constant(64, addr.0);
        self.set(state, dst, addr);
    }

    fn set_handle(&mut self, state: &mut State, dst: Slot, id: ThreadId) {
        let handle = self.graph.terms.constant(64, u64::from(id.0) + 1);
        self.set(state, dst, handle);
    }

    /// Whether the condition of a read holds for what it found, and whether that cannot be said because of a division by zero.
    pub(super) fn waited_for(&mut self, state: &State, wait: u32, found: Term) -> Result<(Term, Term), Fail> {
        let code = self.code;
        let (value, fails) = self.condition(state, &code.wait(wait).cond, found)?;
        let holds = self.holds(value);
        Ok((self.graph.terms.and_not(holds, fails), fails))
    }

    pub(super) fn condition(
        &mut self,
        state: &State,
        condition: &Condition,
        found: Term,
    ) -> Result<(Term, Term), Fail> {
        self.at(state).condition(condition, found)
    }

    /// Somebody who computes where a thread is.
    fn at<'a>(&'a mut self, state: &'a State) -> At<'a, 'c> {
        At { unroller: self, state }
    }

    /// A value of an unknown input: any of them, as far as each has a number in schedules.
    fn input(&mut self, thread: usize, state: &mut State, values: u32) -> Term {
        let info = self.code.input_values(values);
        let width = bits(info.ty);
        let numbered = info.count() <= 1 << 32;
        let rest = if numbered { &info.rest[..] } else { &[] };
        self.graph.every_input &= numbered;
        let terms = &mut self.graph.terms;
        if let ([(low, high)], []) = (&info.ranges[..], rest)
            && low == high
        {
            return terms.constant(width, *low);
        }
        let value = terms.var(width);
        let known = words::among(terms, value, info.ranges.iter().chain(rest).copied());
        self.graph.constraints.push(known);
        self.plan_alone(thread, state, Action::Input(value, values));
        state.has_acted();
        value
    }

    fn call(&mut self, thread: usize, mut state: State, function: FuncId, args: &[Term], dst: Slot) -> Vec<State> {
        if self.nests_too_deep(&state, function) {
            self.cut(state.guard, state.pc, CutKind::Unrolling);
            return Vec::new();
        }
        let back = state.pc + 1;
        self.enter(thread, &mut state, function, args, back, dst);
        vec![state]
    }

    /// The functions that are called through a pointer, each by a state of its own.
    fn callees(
        &mut self,
        thread: usize,
        mut state: State,
        target: Operand,
        args: usize,
    ) -> Result<Vec<(State, FuncId)>, Fail> {
        let target = self.get(&state, target);
        let Some(choices) = self.graph.terms.choices(target, MOST_TARGETS) else {
            return self.refuse(state.pc, "the engine `oc` does not know which function this calls");
        };
        let mut next = Vec::new();
        for choice in choices {
            let value = self.graph.terms.constant(64, choice);
            let is = self.graph.terms.eq(target, value);
            match Addr(choice).owner() {
                Owner::Function(id)
                    if Addr(choice).offset() == 0
                        && id.index() < self.code.functions()
                        && self.code.function(id).params as usize == args =>
                {
                    let guard = self.graph.terms.and(state.guard, is);
                    next.push((State { guard, ..state.clone() }, id));
                }
                _ => {
                    let pc = state.pc;
                    self.fail_if(thread, &mut state, is, Property::Memory, pc);
                }
            }
        }
        Ok(next)
    }

    fn spawn(
        &mut self,
        thread: usize,
        state: &mut State,
        function: FuncId,
        args: &[Term],
        dst: Slot,
    ) -> Result<(), Fail> {
        let id = self.graph.threads[thread].id;
        let Some(child) = self.code.numbering().child(id, state.children) else {
            return self.refuse(state.pc, raddle_trace::threads::TOO_MANY);
        };
        let starts = Action::Spawn(self.graph.threads.len());
        if self.keeps_stores(state) {
            let node = self.node(state);
            let guard = self.visible(state);
            self.plan(thread, guard, node, starts);
        } else {
            self.plan_alone(thread, state, starts);
        }
        state.children += 1;
        state.has_acted();
        let guard = self.visible(state);
        self.thread(child, function, args, guard, state.behind.all())?;
        self.set_handle(state, dst, child);
        Ok(())
    }

    fn join(&mut self, thread: usize, state: &mut State, dst: Slot, ty: Type, handle: Term) -> Result<(), Fail> {
        if self.deadlocks && state.block.is_some() {
            return self.refuse(
                state.pc,
                "the engine `oc` looks for no deadlocks beside waits inside atomic blocks; --no deadlock",
            );
        }
        let node = self.node(state);
        let guard = self.visible(state);
        let terms = &mut self.graph.terms;
        let (over, fails, result) = (terms.var(1), terms.var(1), terms.var(64));
        let moves = terms.or(over, fails);
        self.graph.require(over, guard);
        self.plan(thread, moves, node, Action::Run);
        let pc = state.pc;
        let steps = self.graph.threads[thread].plan.len();
        self.graph.joins.push(Join { thread, node, guard, over, fails, handle, result, pc, steps });
        self.fail_if(thread, state, fails, Property::Lock, pc);
        state.guard = self.graph.terms.and(state.guard, over);
        state.has_acted();
        let result = self.graph.terms.resize(result, bits(ty));
        self.set(state, dst, result);
        Ok(())
    }

    fn free(&mut self, thread: usize, mut state: State, ptr: Operand, scoped: bool) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let ptr = self.get(&state, ptr);
        let Some(choices) = self.graph.terms.choices(ptr, MOST_TARGETS) else {
            return self.refuse(pc, "the engine `oc` does not know which object this frees");
        };
        let mut next = Vec::new();
        for choice in choices {
            let value = self.graph.terms.constant(64, choice);
            let is = self.graph.terms.eq(ptr, value);
            let guard = self.graph.terms.and(state.guard, is);
            state.guard = self.graph.terms.and_not(state.guard, is);
            let mut state = State { guard, ..state.clone() };
            if choice != 0 && !self.free_one(thread, &mut state, choice, scoped)? {
                continue;
            }
            next.push(state);
        }
        Ok(next)
    }

    /// Frees the object at this address; false if that is an error.
    fn free_one(&mut self, thread: usize, state: &mut State, addr: u64, scoped: bool) -> Result<bool, Fail> {
        let (pc, yes) = (state.pc, self.graph.terms.bool(true));
        let at = Addr(addr);
        if let Owner::Thread(owner, number) = at.owner()
            && owner == self.graph.threads[thread].id
            && let Some(Object::Private { bytes, live, heap, scoped: in_block, .. }) =
                state.objects.get_mut(number as usize)
        {
            let right = *live && at.offset() == 0 && if scoped { *in_block } else { *heap };
            if right {
                (*live, *bytes) = (false, Rc::new(Vec::new()));
                state.has_acted();
            } else {
                self.fail_if(thread, state, yes, Property::Memory, pc);
            }
            return Ok(right);
        }
        let right = self.graph.object_is(at.base().0, |object| scoped || (object.heap && at.offset() == 0));
        match right {
            Some(always) if self.graph.terms.is_true(always) => self.end_life(thread, state, addr, pc),
            Some(_) => return self.refuse(pc, "the engine `oc` does not know what kind of object this frees"),
            None => {
                self.plan_settled(thread, state);
                self.fail_if(thread, state, yes, Property::Memory, pc);
            }
        }
        Ok(right.is_some())
    }

    fn locals(&self, function: FuncId) -> usize {
        self.code.function(function).locals.len()
    }

    /// The lives of these objects end; of those that others can reach one by one.
    fn end_lives(&mut self, thread: usize, state: &mut State, objects: std::ops::Range<usize>) {
        let id = self.graph.threads[thread].id;
        for at in objects {
            match &mut state.objects[at] {
                Object::Private { bytes, live, .. } => (*live, *bytes) = (false, Rc::new(Vec::new())),
                Object::Shared => self.end_life(thread, state, Addr::object(id, at as u32).0, state.pc),
            }
        }
    }

    fn result(&mut self, state: &State, value: Operand) -> Term {
        if value == Operand::NONE { self.graph.terms.constant(64, 0) } else { self.get(state, value) }
    }

    fn leave(&mut self, thread: usize, mut state: State, value: Operand) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let result = self.result(&state, value);
        let (first, function) = (state.frame().first_object, state.frame().function);
        self.end_lives(thread, &mut state, first..first + self.locals(function));
        let exits = self.code.entry_exits() && self.graph.threads[thread].id == ThreadId::MAIN;
        if state.frames.len() == 1 {
            if !exits {
                self.end_lives(thread, &mut state, 0..self.code.thread_locals().len());
            }
            self.finish(thread, &mut state, result, exits, pc);
            return Ok(Vec::new());
        }
        let frame = state.frames.pop().expect("just seen");
        self.set(&mut state, frame.dst, result);
        state.pc = frame.return_to;
        Ok(vec![state])
    }

    /// The thread ends, and perhaps the program with it.
    fn finish(&mut self, thread: usize, state: &mut State, result: Term, exit: bool, pc: Pc) {
        if state.block.is_some() {
            let yes = self.graph.terms.bool(true);
            self.fail_if(thread, state, yes, Property::Lock, pc);
            return;
        }
        if exit {
            self.graph.threads[thread].exits.push(state.guard);
        } else {
            let end = self.graph.terms.and(state.guard, state.behind.arrive());
            self.graph.threads[thread].ends.push((end, state.behind.all(), result));
        }
    }
}
