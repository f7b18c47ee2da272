//! The stack core in quadratic time: the reference that [`super::stack`] must agree with.
//!
//! For values with non-empty inner intervals let `m` be the least return of a push and `M` the greatest call of a pop.
//! A value whose push was called before `m` and whose pop returned after `M` is *extreme*: its push can go first and its
//! pop last, around everything else, and taking it out changes nothing about the rest. If no value is extreme, the
//! values must split at an instant at which nothing is stored; any such instant will do. If there is none, the history is not
//! linearizable and the values at hand show it.
//!
//! After Grahn 2026. Cost: each round is linear and removes a value or splits the set, n² in all.

use super::matching::Val;
use super::stack::{Core, Move};

/// Orders the pushes and pops of values whose push and pop do not overlap, or says which values are stuck.
pub fn core(vals: &[Val]) -> Core {
    enum Task {
        Solve(Vec<u32>),
        Emit(Vec<Move>),
    }
    let mut order: Vec<u32> = (0..vals.len() as u32).collect();
    order.sort_unstable_by_key(|&at| vals[at as usize].pr);
    let mut moves = Vec::with_capacity(2 * vals.len());
    let mut tasks = vec![Task::Solve(order)];
    while let Some(task) = tasks.pop() {
        let part = match task {
            Task::Emit(ready) => {
                moves.extend(ready);
                continue;
            }
            Task::Solve(part) if part.is_empty() => continue,
            Task::Solve(part) => part,
        };
        let val = |at: &u32| &vals[*at as usize];
        let first_return = part.iter().map(|at| val(at).pr).min().expect("the part is not empty");
        let last_call = part.iter().map(|at| val(at).oc).max().expect("the part is not empty");
        let (extreme, rest): (Vec<u32>, Vec<u32>) =
            part.iter().partition(|at| val(at).pc < first_return && val(at).or > last_call);
        if !extreme.is_empty() {
            moves.extend(extreme.iter().map(|&at| Move::Push(at)));
            tasks.push(Task::Emit(extreme.iter().rev().map(|&at| Move::Pop(at)).collect()));
            tasks.push(Task::Solve(rest));
            continue;
        }
        let mut end = val(&part[0]).oc;
        let gap = part.iter().position(|at| {
            let free = val(at).pr > end;
            end = end.max(val(at).oc);
            free
        });
        match gap {
            None => return Core::Stuck(part),
            Some(split) => {
                tasks.push(Task::Solve(part[split..].to_vec()));
                tasks.push(Task::Solve(part[..split].to_vec()));
            }
        }
    }
    Core::Ordered(moves)
}
