//! Making a program smaller while something about it stays true.
//!
//! Greedy: of all programs that are one step simpler (a thread less, a statement less, a branch instead of the choice
//! between two, a weaker ordering, a smaller number) the first for which the claim still holds is taken, until there is none.

use crate::sketch::{At, Kind, ObjectId, Sketch, Stmt, Test, Value};
use raddle_program::{Ordering, RmwOp};

/// The smallest program that can be reached from `sketch` through programs for which `holds` is true.
pub fn shrink(sketch: &Sketch, mut holds: impl FnMut(&Sketch) -> bool) -> Sketch {
    let mut best = sketch.clone();
    'smaller: loop {
        for candidate in simpler(&best) {
            if holds(&candidate) {
                best = candidate;
                continue 'smaller;
            }
        }
        return best;
    }
}

/// Every program that is one step simpler, those that lose most first.
fn simpler(sketch: &Sketch) -> Vec<Sketch> {
    let mut candidates = Vec::new();
    for thread in 0..sketch.threads.len() {
        candidates.push(without_thread(sketch, thread));
    }
    for thread in 0..sketch.threads.len() {
        for body in smaller_bodies(&sketch.threads[thread]) {
            let mut candidate = sketch.clone();
            candidate.threads[thread] = body;
            candidates.push(candidate);
        }
    }
    for id in 0..sketch.objects.len() {
        candidates.extend(without_object(sketch, id));
        let simple = match sketch.objects[id].kind {
            Kind::Var(value) if value != 0 => Kind::Var(0),
            Kind::Semaphore(count) if count > 0 => Kind::Semaphore(count - 1),
            Kind::Barrier(count) if count > 1 => Kind::Barrier(count - 1),
            _ => continue,
        };
        let mut candidate = sketch.clone();
        candidate.objects[id].kind = simple;
        candidates.push(candidate);
    }
    candidates
}

fn without_thread(sketch: &Sketch, gone: usize) -> Sketch {
    let mut smaller = sketch.clone();
    smaller.threads.remove(gone);
    for body in &mut smaller.threads {
        retain(
            body,
            &|stmt| !matches!(stmt, Stmt::Spawn(t) | Stmt::Post(t, _) | Stmt::Join(t) | Stmt::Await(t) if *t == gone),
        );
        for_each_mut(body, &mut |stmt| {
            if let Stmt::Spawn(thread) | Stmt::Post(thread, _) | Stmt::Join(thread) | Stmt::Await(thread) = stmt
                && *thread > gone
            {
                *thread -= 1;
            }
        });
    }
    smaller
}

/// Without an object that nobody uses.
fn without_object(sketch: &Sketch, gone: ObjectId) -> Option<Sketch> {
    let mut used = false;
    let mut smaller = sketch.clone();
    smaller.objects.remove(gone);
    for body in &mut smaller.threads {
        for_each_mut(body, &mut |stmt| {
            for_each_object(stmt, &mut |id| {
                used |= *id == gone;
                *id -= usize::from(*id > gone);
            });
        });
    }
    (!used).then_some(smaller)
}

fn inner(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match stmt {
        Stmt::If(_, a, b) | Stmt::IfNull(_, a, b) => vec![a, b],
        Stmt::Atomic(body) | Stmt::Loop(body) => vec![body],
        _ => Vec::new(),
    }
}

fn for_each_mut(stmts: &mut [Stmt], visit: &mut impl FnMut(&mut Stmt)) {
    for stmt in stmts {
        visit(stmt);
        for body in inner(stmt) {
            for_each_mut(body, visit);
        }
    }
}

fn retain(stmts: &mut Vec<Stmt>, keep: &impl Fn(&Stmt) -> bool) {
    stmts.retain(keep);
    for stmt in stmts {
        for body in inner(stmt) {
            retain(body, keep);
        }
    }
}

fn for_each_object(stmt: &mut Stmt, visit: &mut impl FnMut(&mut ObjectId)) {
    match stmt {
        Stmt::Move(to, from) => {
            for at in [to, from] {
                if let At::Object(id) = at {
                    visit(id);
                }
            }
        }
        Stmt::Load(_, at, _)
        | Stmt::Store(at, ..)
        | Stmt::Rmw(_, _, at, ..)
        | Stmt::Cas(_, at, ..)
        | Stmt::CasWait(at, ..)
        | Stmt::Idle(_, at, ..)
        | Stmt::Wait(_, at, ..) => {
            if let At::Object(id) = at {
                visit(id);
            }
        }
        Stmt::Spin(reads, _) => reads.iter_mut().for_each(|(_, id)| visit(id)),
        Stmt::Lock(id)
        | Stmt::TryLock(_, id)
        | Stmt::Unlock(id)
        | Stmt::ReadLock(id)
        | Stmt::WriteLock(id)
        | Stmt::TryRwLock(_, id, _)
        | Stmt::RwUnlock(id)
        | Stmt::SemWait(id)
        | Stmt::SemTry(_, id)
        | Stmt::SemPost(id)
        | Stmt::Barrier(_, id)
        | Stmt::Signal(id)
        | Stmt::Broadcast(id)
        | Stmt::LoadPtr(_, id, _)
        | Stmt::StorePtr(id, ..) => visit(id),
        Stmt::Post(_, looper) => visit(looper),
        Stmt::CondWait(cond, mutex) => {
            visit(cond);
            visit(mutex);
        }
        Stmt::Fence(_)
        | Stmt::Choose(..)
        | Stmt::Assume(_)
        | Stmt::Assert(_)
        | Stmt::Set(..)
        | Stmt::Count(..)
        | Stmt::Loop(_)
        | Stmt::Leave(_)
        | Stmt::Again(_)
        | Stmt::Me(_)
        | Stmt::If(..)
        | Stmt::Atomic(_)
        | Stmt::Spawn(_)
        | Stmt::Join(_)
        | Stmt::Await(_)
        | Stmt::Alloc(..)
        | Stmt::Free(_)
        | Stmt::IfNull(..) => {}
    }
}

/// Every body that is one step simpler than this one.
fn smaller_bodies(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut bodies = Vec::new();
    let replaced = |at: usize, with: &[Stmt]| {
        let mut body = body.to_vec();
        body.splice(at..=at, with.iter().cloned());
        body
    };
    for at in 0..body.len() {
        bodies.push(replaced(at, &[]));
    }
    // A start and its end, a lock and its release: pairs that make no sense alone.
    for first in 0..body.len() {
        for second in first + 1..body.len() {
            let mut body = body.to_vec();
            body.remove(second);
            body.remove(first);
            bodies.push(body);
        }
    }
    for (at, stmt) in body.iter().enumerate() {
        match stmt {
            Stmt::If(test, a, b) => {
                bodies.extend([replaced(at, a), replaced(at, b)]);
                bodies.extend(smaller_bodies(a).into_iter().map(|a| replaced(at, &[Stmt::If(*test, a, b.clone())])));
                bodies.extend(smaller_bodies(b).into_iter().map(|b| replaced(at, &[Stmt::If(*test, a.clone(), b)])));
            }
            Stmt::IfNull(reg, a, b) => {
                bodies.extend([replaced(at, a), replaced(at, b)]);
                bodies.extend(smaller_bodies(a).into_iter().map(|a| replaced(at, &[Stmt::IfNull(*reg, a, b.clone())])));
                bodies.extend(smaller_bodies(b).into_iter().map(|b| replaced(at, &[Stmt::IfNull(*reg, a.clone(), b)])));
            }
            Stmt::Loop(inside) => {
                bodies.push(replaced(at, inside));
                bodies.extend(smaller_bodies(inside).into_iter().map(|body| replaced(at, &[Stmt::Loop(body)])));
            }
            Stmt::Atomic(inside) => {
                bodies.push(replaced(at, inside));
                bodies.extend(smaller_bodies(inside).into_iter().map(|body| replaced(at, &[Stmt::Atomic(body)])));
            }
            _ => {}
        }
        bodies.extend(simpler_stmts(stmt).into_iter().map(|stmt| replaced(at, &[stmt])));
    }
    bodies
}

fn simpler_values(value: Value) -> Vec<Value> {
    match value {
        Value::Const(0) => Vec::new(),
        Value::Const(1) => vec![Value::Const(0)],
        Value::Const(_) => vec![Value::Const(0), Value::Const(1)],
        Value::Reg(_, 0) => vec![Value::Const(0), Value::Const(1)],
        Value::Reg(reg, _) => vec![Value::Const(0), Value::Const(1), Value::Reg(reg, 0)],
    }
}

fn simpler_orders(order: Ordering) -> Vec<Ordering> {
    match order {
        Ordering::Relaxed => Vec::new(),
        Ordering::AcqRel | Ordering::SeqCst => vec![Ordering::Relaxed, Ordering::Acquire, Ordering::Release],
        _ => vec![Ordering::Relaxed],
    }
}

fn simpler_tests(test: Test) -> impl Iterator<Item = Test> {
    simpler_values(test.value).into_iter().map(move |value| Test { value, ..test })
}

/// The statement with one of its parts simplified.
fn simpler_stmts(stmt: &Stmt) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    match *stmt {
        Stmt::Move(to, from) => {
            stmts.extend([
                Stmt::Load(None, from, Ordering::Relaxed),
                Stmt::Store(to, Value::Const(0), Ordering::Relaxed),
            ]);
        }
        Stmt::Load(reg, at, order) => {
            stmts.extend(reg.map(|_| Stmt::Load(None, at, order)));
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::Load(reg, at, order)));
        }
        Stmt::Store(at, value, order) => {
            stmts.extend(simpler_values(value).into_iter().map(|value| Stmt::Store(at, value, order)));
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::Store(at, value, order)));
        }
        Stmt::Rmw(reg, op, at, value, order) => {
            stmts.extend([Stmt::Load(reg, at, Ordering::Relaxed), Stmt::Store(at, value, Ordering::Relaxed)]);
            stmts.extend(reg.map(|_| Stmt::Rmw(None, op, at, value, order)));
            stmts.extend(simpler_values(value).into_iter().map(|value| Stmt::Rmw(reg, op, at, value, order)));
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::Rmw(reg, op, at, value, order)));
        }
        Stmt::Cas(reg, at, old, new, order) => {
            stmts.extend([Stmt::Load(reg, at, Ordering::Relaxed), Stmt::Store(at, new, Ordering::Relaxed)]);
            stmts.extend(reg.map(|_| Stmt::Cas(None, at, old, new, order)));
            stmts.extend(simpler_values(old).into_iter().map(|old| Stmt::Cas(reg, at, old, new, order)));
            stmts.extend(simpler_values(new).into_iter().map(|new| Stmt::Cas(reg, at, old, new, order)));
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::Cas(reg, at, old, new, order)));
        }
        Stmt::Idle(reg, at, value, order, wait) => {
            stmts.push(Stmt::Rmw(Some(reg), RmwOp::Xchg, at, value, order));
            stmts.extend(simpler_values(value).into_iter().map(|value| Stmt::Idle(reg, at, value, order, wait)));
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::Idle(reg, at, value, order, wait)));
        }
        Stmt::CasWait(at, old, new, order) => {
            stmts.extend(simpler_values(old).into_iter().map(|old| Stmt::CasWait(at, old, new, order)));
            stmts.extend(simpler_values(new).into_iter().map(|new| Stmt::CasWait(at, old, new, order)));
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::CasWait(at, old, new, order)));
        }
        Stmt::Wait(reg, at, cmp, value, order) => {
            stmts.push(Stmt::Load(Some(reg), at, Ordering::Relaxed));
            stmts.extend(simpler_values(value).into_iter().map(|value| Stmt::Wait(reg, at, cmp, value, order)));
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::Wait(reg, at, cmp, value, order)));
        }
        Stmt::Spin(ref reads, test) => {
            if let [(reg, x)] = reads[..] {
                stmts.push(Stmt::Wait(reg, At::Object(x), test.cmp, test.value, Ordering::Relaxed));
            } else {
                stmts.extend(reads.iter().map(|&read| Stmt::Spin(vec![read], test)));
            }
            stmts.extend(simpler_tests(test).map(|test| Stmt::Spin(reads.clone(), test)));
        }
        Stmt::Fence(Ordering::AcqRel) => {
            stmts.extend([Stmt::Fence(Ordering::Acquire), Stmt::Fence(Ordering::Release)]);
        }
        Stmt::TryLock(Some(_), m) => stmts.push(Stmt::TryLock(None, m)),
        Stmt::TryRwLock(Some(_), l, write) => stmts.push(Stmt::TryRwLock(None, l, write)),
        Stmt::SemTry(Some(_), s) => stmts.push(Stmt::SemTry(None, s)),
        Stmt::Barrier(Some(_), b) => stmts.push(Stmt::Barrier(None, b)),
        Stmt::Choose(reg, count) if count > 2 => stmts.push(Stmt::Choose(reg, count - 1)),
        Stmt::Assume(test) => stmts.extend(simpler_tests(test).map(Stmt::Assume)),
        Stmt::Assert(test) => stmts.extend(simpler_tests(test).map(Stmt::Assert)),
        Stmt::Leave(test) => stmts.extend(simpler_tests(test).map(Stmt::Leave)),
        Stmt::Again(test) => stmts.extend(simpler_tests(test).map(Stmt::Again)),
        Stmt::If(test, ref a, ref b) => {
            stmts.extend(simpler_tests(test).map(|test| Stmt::If(test, a.clone(), b.clone())));
        }
        Stmt::Set(reg, value) => stmts.extend(simpler_values(value).into_iter().map(|value| Stmt::Set(reg, value))),
        Stmt::LoadPtr(reg, x, order) => {
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::LoadPtr(reg, x, order)));
        }
        Stmt::StorePtr(x, reg, order) => {
            stmts.extend(simpler_orders(order).into_iter().map(|order| Stmt::StorePtr(x, reg, order)));
        }
        _ => {}
    }
    stmts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::litmus;

    #[test]
    fn what_does_not_matter_goes() {
        let sketch = litmus(&[
            "W.sc x 2; if a==1 { a=R.acq y; lock m; unlock m }; W z 1",
            "a=A x 1; atomic { W y a+1; R x }",
            "spawn 3; join 3",
            "W x 1",
        ]);
        let small = shrink(&sketch, |sketch| {
            let reads =
                sketch.any(|stmt| matches!(stmt, Stmt::Load(_, At::Object(id), _) if sketch.objects[*id].name == "y"));
            let writes =
                sketch.any(|stmt| matches!(stmt, Stmt::Store(At::Object(id), ..) if sketch.objects[*id].name == "y"));
            reads && writes
        });
        assert_eq!(small.listing(), "thread 0\n  R y\nthread 1\n  W y 0\n");
    }
}
