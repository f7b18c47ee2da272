//! What each instruction does, on terms. The machine's `thread/run.rs` says the same on numbers.

use super::control::Status;
use super::meetings::is_meeting;
use super::path::{Halt, Move, Path, Target};
use super::vars::Var;
use super::walk::{Next, Walker};
use crate::oc::MOST_BYTES;
use crate::words::{self, Computer, bits};
use raddle_machine::Addr;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, Pc};
use raddle_program::{BinOp, Ordering, Type};
use raddle_trace::{Property, ThreadId};

impl Walker<'_> {
    /// Does an instruction that others do not notice; the thread rests before one that they may.
    pub(super) fn step(&mut self, mut path: Path, id: ThreadId) -> Result<Next, Halt> {
        let pc = path.thread(id).pc;
        match self.code.instr(pc) {
            Instr::Move { dst, src } => {
                let value = self.get(&path, id, src);
                self.set(&mut path, id, dst, value);
            }
            Instr::Un { op, ty, dst, a } => {
                let a = self.get(&path, id, a);
                let value = words::unary(self.terms, op, ty, a);
                let value = self.at(&path, id).taken(value)?;
                self.set(&mut path, id, dst, value);
            }
            Instr::Bin { op: BinOp::Add, ty: Type::Ptr, dst, a, b } => {
                let (a, b) = (self.get(&path, id, a), self.get(&path, id, b));
                return Ok(Next::On(self.move_pointer(path, id, dst, a, b)?));
            }
            Instr::Bin { op, ty, dst, a, b } => {
                let (a, b) = (self.get(&path, id, a), self.get(&path, id, b));
                let (value, fails) = self.at(&path, id).binary(op, ty, a, b)?;
                let (mut ways, right) = self.fails_if(path, id, fails, Property::Arithmetic);
                if let Some(mut path) = right {
                    self.set(&mut path, id, dst, value);
                    ways.push(path.go_on(id));
                }
                return Ok(Next::On(ways));
            }
            Instr::Cast { op, from, to, dst, a } => {
                let a = self.get(&path, id, a);
                let value = words::cast(self.terms, op, from, to, a);
                let value = self.at(&path, id).taken(value)?;
                self.set(&mut path, id, dst, value);
            }
            Instr::Select { dst, cond, a, b } => {
                let [cond, a, b] = [cond, a, b].map(|operand| self.get(&path, id, operand));
                let cond = words::holds(self.terms, cond);
                let value = self.terms.ite(cond, a, b);
                self.set(&mut path, id, dst, value);
            }
            Instr::LocalAddr { dst, local } => {
                let thread = path.thread(id);
                let addr = thread.object_address(thread.frame().first_object + local);
                let addr = self.terms.constant(64, addr);
                self.set(&mut path, id, dst, addr);
            }
            Instr::TlsAddr { dst, index } => {
                let addr = self.terms.constant(64, path.thread(id).object_address(index));
                self.set(&mut path, id, dst, addr);
            }
            Instr::Load { .. } | Instr::Store { .. } | Instr::Rmw { .. } | Instr::Cas { .. } => {
                let addr = self.address(&path, id).expect("it is an access");
                if self.is_private(&path, id, addr) {
                    return Ok(Next::On(self.access(path, id)?));
                }
                self.settle(&mut path, id, addr)?;
                return Ok(Self::rest(path, id));
            }
            Instr::Fence { order } => {
                if order > Ordering::Relaxed {
                    return Ok(Self::rest(path, id));
                }
            }
            Instr::Call { dst, func, args } => {
                let args = self.values(&path, id, self.code.args(args));
                return Ok(Next::On(vec![self.call(path, id, func, &args, dst)]));
            }
            Instr::CallIndirect { dst, target, args } => {
                let args = self.values(&path, id, self.code.args(args));
                let called = self.callee(&path, id, target, args.len())?;
                return Ok(Next::On(vec![match called {
                    Some(function) => self.call(path, id, function, &args, dst),
                    None => self.fails(path, id, Property::Memory),
                }]));
            }
            Instr::Take => unreachable!("programs with mailboxes are refused"),
            Instr::Spawn { .. } => return Ok(Self::rest(path, id)),
            Instr::SpawnIndirect { target, args, .. } => {
                let called = self.callee(&path, id, target, args.len as usize)?;
                return Ok(match called {
                    Some(_) => Self::rest(path, id),
                    None => Next::On(vec![self.fails(path, id, Property::Memory)]),
                });
            }
            Instr::Join { thread, .. } => {
                let handle = self.get(&path, id, thread);
                let handle = self.number(handle, pc, "which thread this joins")?;
                return Ok(match handle.checked_sub(1) {
                    Some(child) if child < u64::from(Addr::MAX_THREADS) => Self::rest(path, id),
                    _ => Next::On(vec![self.fails(path, id, Property::Lock)]),
                });
            }
            Instr::ThreadId { dst } => {
                let handle = self.terms.constant(64, u64::from(id.0) + 1);
                self.set(&mut path, id, dst, handle);
            }
            // It has begun before.
            Instr::Sync { .. } if path.thread(id).stage > 0 => return Ok(Self::rest(path, id)),
            Instr::Sync { op, dst, object, other } => {
                let addr = self.get(&path, id, object);
                let addr = self.number(addr, pc, "which lock this is")?;
                return match self.sync_begin(path, id, op, dst, addr, other)? {
                    Ok(path) => Ok(Self::rest(path, id)),
                    Err(path) => Ok(Next::On(vec![path])),
                };
            }
            Instr::Alloc { dst, size, zeroed, private, scoped, .. } => {
                let size = self.get(&path, id, size);
                let size = self.number(size, pc, "how much this allocates")?;
                if size > u64::from(MOST_BYTES) {
                    return Err(self.refused(pc, "the engine `cegar` takes no large allocation"));
                }
                let zeros = zeroed.then(|| vec![0; size as usize]);
                let thread = path.thread_mut(id);
                let addr = self.make_object(thread, size as u32, zeros.as_deref(), private, scoped == 0, scoped != 0);
                let addr = self.terms.constant(64, addr);
                self.set(&mut path, id, dst, addr);
            }
            Instr::Free { ptr, scoped } => {
                let addr = self.get(&path, id, ptr);
                let addr = self.number(addr, pc, "which object this frees")?;
                if addr == 0 {
                    return Ok(Next::On(vec![path.go_on(id)]));
                }
                let Owner::Thread(owner, number) = Addr(addr).owner() else {
                    return Ok(Next::On(vec![self.fails(path, id, Property::Memory)]));
                };
                let own =
                    path.thread_mut(id).objects.get_mut(number as usize).filter(|object| owner == id && object.private);
                let Some(object) = own else { return Ok(Self::rest(path, id)) };
                let right = object.live && Addr(addr).offset() == 0 && if scoped { object.scoped } else { object.heap };
                object.live = false;
                if !right {
                    return Ok(Next::On(vec![self.fails(path, id, Property::Memory)]));
                }
            }
            Instr::Assert { cond, .. } => {
                let cond = self.get(&path, id, cond);
                let cond = words::holds(self.terms, cond);
                let broken = self.terms.not(cond);
                let (mut ways, right) = self.fails_if(path, id, broken, Property::Assert);
                ways.extend(right.map(|path| path.go_on(id)));
                return Ok(Next::On(ways));
            }
            Instr::Assume { cond } => {
                let cond = self.get(&path, id, cond);
                let cond = words::holds(self.terms, cond);
                let (right, wrong) = self.split(path, cond);
                let mut ways: Vec<Path> = right.map(|path| path.go_on(id)).into_iter().collect();
                if let Some(mut path) = wrong {
                    path.thread_mut(id).status = Status::Stopped;
                    ways.push(path);
                }
                return Ok(Next::On(ways));
            }
            Instr::Choose { dst, low, count, .. } => {
                if count > 1 {
                    return Ok(Self::rest(path, id));
                }
                let low = self.get(&path, id, low);
                self.set(&mut path, id, dst, low);
            }
            Instr::Input { dst, values, .. } => {
                let info = self.code.input_values(values);
                if info.count() > 1 {
                    return Ok(Self::rest(path, id));
                }
                let only = info.ranges.first().or(info.rest.first()).map_or(0, |range| range.0);
                let only = self.terms.constant(64, only);
                self.set(&mut path, id, dst, only);
            }
            Instr::AtomicBegin if path.thread(id).atomic == 0 => return Ok(Self::rest(path, id)),
            Instr::AtomicEnd if path.thread(id).atomic <= 1 => return Ok(Self::rest(path, id)),
            Instr::AtomicBegin => path.thread_mut(id).atomic += 1,
            Instr::AtomicEnd => path.thread_mut(id).atomic -= 1,
            Instr::Error { property, .. } => return Ok(Next::On(vec![self.fails(path, id, property)])),
            Instr::Print { .. } | Instr::MarkTurn { .. } => {}
            // A turn that has changed nothing leads back to where it began, as any other does.
            Instr::Jump { to } | Instr::Spin { to, .. } => {
                path.thread_mut(id).pc = to;
                return Ok(Next::On(vec![path]));
            }
            Instr::Turn { counter, bound } => {
                let turns = self.slot(&path, id, counter);
                self.need(turns)?;
                let (one, bound) = (self.terms.constant(64, 1), self.terms.constant(64, u64::from(bound)));
                let turns = self.terms.add(turns, one);
                let over = self.terms.ult(bound, turns);
                let (wrong, right) = self.split(path, over);
                let mut ways: Vec<Path> =
                    wrong.map(|path| self.ends_at(path, id, Target::Bound { pc })).into_iter().collect();
                if let Some(mut path) = right {
                    self.set(&mut path, id, counter, turns);
                    ways.push(path.go_on(id));
                }
                return Ok(Next::On(ways));
            }
            Instr::Branch { cond, then, otherwise } => {
                let cond = self.get(&path, id, cond);
                let cond = words::holds(self.terms, cond);
                if self.makers.contains(&pc) {
                    self.need(cond)?;
                }
                let (yes, no) = self.split(path, cond);
                let to = |path: Option<Path>, pc: Pc| {
                    path.map(|mut path| {
                        path.thread_mut(id).pc = pc;
                        path
                    })
                };
                return Ok(Next::On(to(yes, then).into_iter().chain(to(no, otherwise)).collect()));
            }
            Instr::Switch { value, table } => {
                let value = self.get(&path, id, value);
                let table = self.code.switch(table);
                let mut ways = Vec::new();
                let mut rest = Some(path);
                for &(case, to) in &table.cases {
                    let Some(path) = rest else { break };
                    let case = self.terms.constant(64, case);
                    let is = self.terms.eq(value, case);
                    let (yes, no) = self.split(path, is);
                    if let Some(mut path) = yes {
                        path.thread_mut(id).pc = to;
                        ways.push(path);
                    }
                    rest = no;
                }
                if let Some(mut path) = rest {
                    path.thread_mut(id).pc = table.default;
                    ways.push(path);
                }
                return Ok(Next::On(ways));
            }
            Instr::Return { value } => return Ok(self.leave(path, id, value)),
            Instr::ExitThread { value } => return Ok(self.end_thread(path, id, value)),
            Instr::Exit => {
                path.thread_mut(id).status = Status::Finished { exit: true };
                return Ok(Next::On(vec![path]));
            }
            Instr::Unreachable => {
                let why = "control reached a place it cannot reach";
                return Ok(Next::On(vec![self.ends_at(path, id, Target::GaveUp { why, pc })]));
            }
        }
        Ok(Next::On(vec![path.go_on(id)]))
    }

    /// Does what others may notice.
    pub(super) fn perform(&mut self, mut path: Path, id: ThreadId) -> Result<Vec<Path>, Halt> {
        let pc = path.thread(id).pc;
        path.thread_mut(id).status = Status::Silent;
        path.step = Move::Run;
        match self.code.instr(pc) {
            Instr::Load { .. } | Instr::Store { .. } | Instr::Rmw { .. } | Instr::Cas { .. } => {
                return self.access(path, id);
            }
            Instr::Sync { op, dst, object, other } => {
                let addr = self.get(&path, id, object);
                let addr = self.number(addr, pc, "which lock this is")?;
                return match is_meeting(op) {
                    true => self.meet(path, id, op, dst, addr, other),
                    false => self.sync(path, id, op, dst, addr),
                };
            }
            Instr::Fence { .. } => {}
            Instr::Spawn { dst, func, args, .. } => {
                let args = self.values(&path, id, self.code.args(args));
                return Ok(vec![self.spawn(path, id, func, &args, dst)]);
            }
            Instr::SpawnIndirect { dst, target, args, .. } => {
                let args = self.values(&path, id, self.code.args(args));
                let called = self.callee(&path, id, target, args.len())?;
                let function = called.expect("checked when the thread came here");
                return Ok(vec![self.spawn(path, id, function, &args, dst)]);
            }
            Instr::Join { dst, ty, thread } => {
                let handle = self.get(&path, id, thread);
                let child = ThreadId(self.number(handle, pc, "which thread this joins")? as u32 - 1);
                let Some(joined) = path.control.thread(child) else {
                    return Ok(vec![self.fails(path, id, Property::Lock)]);
                };
                if joined.joined {
                    return Ok(vec![self.fails(path, id, Property::Lock)]);
                }
                if joined.status != (Status::Finished { exit: false }) {
                    return Ok(Vec::new());
                }
                path.thread_mut(child).joined = true;
                let result = self.read(&path, Var::Result(child));
                let result = self.terms.resize(result, bits(ty));
                self.set(&mut path, id, dst, result);
            }
            Instr::Choose { dst, low, count, .. } => {
                let low = self.get(&path, id, low);
                let pick = self.vars.input(self.terms, id, pc, 32);
                let end = self.terms.constant(32, u64::from(count));
                let known = self.terms.ult(pick, end);
                path.guard = self.terms.and(path.guard, known);
                path.step = Move::Pick(pick);
                let pick = self.terms.zext(pick, 64);
                let value = self.terms.add(low, pick);
                self.set(&mut path, id, dst, value);
            }
            Instr::Input { dst, values, .. } => {
                let info = self.code.input_values(values);
                let value = self.vars.input(self.terms, id, pc, bits(info.ty));
                let known = words::among(self.terms, value, info.ranges.iter().chain(&info.rest).copied());
                path.guard = self.terms.and(path.guard, known);
                path.step = Move::Input(value, values);
                self.set(&mut path, id, dst, value);
            }
            Instr::AtomicBegin => {
                path.thread_mut(id).atomic = 1;
                path.control.atomic = Some(id);
            }
            Instr::AtomicEnd => {
                if path.thread(id).atomic == 0 {
                    return Err(self.refused(pc, "an atomic block ends that did not begin"));
                }
                path.thread_mut(id).atomic = 0;
                path.control.atomic = None;
            }
            Instr::Free { ptr, scoped } => {
                let addr = self.get(&path, id, ptr);
                let addr = self.number(addr, pc, "which object this frees")?;
                let path = self.end_life(path, id, addr, scoped);
                return Ok(vec![if path.target.is_some() { path } else { path.go_on(id) }]);
            }
            Instr::Return { .. } | Instr::ExitThread { .. } => {
                let addr = self.next_life(&path, id).expect("something ends here");
                let mut path = self.end_life(path, id, addr, true);
                if path.target.is_none() {
                    path.thread_mut(id).stage += 1;
                }
                return Ok(vec![path]);
            }
            other => unreachable!("nothing that others notice: {other:?}"),
        }
        Ok(vec![path.go_on(id)])
    }
}
