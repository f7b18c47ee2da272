//! The earliest prefix of a history that is already wrong.
//!
//! A prefix is what an observer had seen after some event: operations that had not returned are pending, with unknown
//! results. Every prefix of a linearizable history is linearizable, so "wrong" is monotone and bisection finds the first
//! return after which it holds. The statement can be checked by anyone who cuts the file there.
//!
//! Cost: a logarithmic number of decisions; one or two where a good guess is known.

use crate::history::{Op, Ts, prefix};

/// What a decision procedure says about some operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Linearizable.
    Holds,
    /// Not linearizable.
    Fails,
    /// It cannot tell.
    Unknown,
}

/// The event after which a history is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarliestPrefix {
    /// The event: a return.
    pub event: Ts,
    /// Whether the history was still right before it; otherwise it may have been wrong even earlier.
    pub exact: bool,
}

fn returns(ops: &[Op]) -> Vec<Ts> {
    let mut returns: Vec<Ts> = ops.iter().filter(|op| !op.is_pending()).map(|op| op.ret).collect();
    returns.sort_unstable();
    returns
}

/// The earliest wrong prefix, given a return `from` before which the history is right even with the results that open operations
/// gave later. The whole history must be wrong.
pub fn forward(ops: &[Op], from: Ts, judge: impl Fn(&[Op]) -> Judgement) -> Option<EarliestPrefix> {
    let returns = returns(ops);
    let first = returns.partition_point(|&at| at < from);
    bisect(ops, &returns, first, judge)
}

/// The earliest wrong prefix, given a return `by` after which the history is known to be wrong.
pub fn backward(ops: &[Op], by: Ts, judge: impl Fn(&[Op]) -> Judgement) -> Option<EarliestPrefix> {
    let returns = returns(ops);
    let mut bad = returns.partition_point(|&at| at < by).min(returns.len().checked_sub(1)?);
    let (mut step, mut good) = (1, None);
    while bad > 0 {
        let Some(at) = bad.checked_sub(step).or((step > 1).then_some(0)) else {
            break;
        };
        match judge(&prefix(ops, returns[at])) {
            Judgement::Fails => {
                bad = at;
                step *= 2;
            }
            Judgement::Holds => {
                good = Some(at);
                break;
            }
            Judgement::Unknown => {
                return Some(EarliestPrefix { event: returns[bad], exact: false });
            }
        }
    }
    between(ops, &returns, good.map_or(0, |at| at + 1), bad, judge)
}

fn bisect(ops: &[Op], returns: &[Ts], first: usize, judge: impl Fn(&[Op]) -> Judgement) -> Option<EarliestPrefix> {
    let last = returns.len().checked_sub(1)?;
    // Nothing before `first` fails; the last one does. Double the distance until something fails.
    let (mut low, mut at, mut step) = (first.min(last), first.min(last), 1);
    loop {
        match judge(&prefix(ops, returns[at])) {
            Judgement::Fails => return between(ops, returns, low, at, judge),
            Judgement::Holds if at == last => return None,
            Judgement::Holds => {
                low = at + 1;
                at = (at + step).min(last);
                step *= 2;
            }
            Judgement::Unknown => {
                return Some(EarliestPrefix { event: returns[last], exact: false });
            }
        }
    }
}

/// Bisects: nothing before `low` fails, `high` does.
fn between(
    ops: &[Op],
    returns: &[Ts],
    mut low: usize,
    mut high: usize,
    judge: impl Fn(&[Op]) -> Judgement,
) -> Option<EarliestPrefix> {
    while low < high {
        let middle = (low + high) / 2;
        match judge(&prefix(ops, returns[middle])) {
            Judgement::Fails => high = middle,
            Judgement::Holds => low = middle + 1,
            Judgement::Unknown => {
                return Some(EarliestPrefix { event: returns[high], exact: false });
            }
        }
    }
    Some(EarliestPrefix { event: returns[high], exact: true })
}
