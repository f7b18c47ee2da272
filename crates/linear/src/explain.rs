//! From a violation to something a person can check.
//!
//! Every explanation has a reason (what kind of violation), a set of operations that cannot be ordered whatever the others did, and
//! the earliest prefix of the history that is already wrong. The set is as small as can be afforded, and it is put to
//! the general checker as a history of its own: if that finds a linearization of it, there is a fault in this program and no verdict.
//!
//! Values of stacks and queues, and removals that found nothing, may be left out without making matters worse, so their
//! minimal sets come from bisection ([`Asker`]). Pending removals always stay, because they could have helped. What is left is
//! tightened operation by operation ([`tighten`]), with the monitor as the judge.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::{CheckError, Config, Part, entries, object};
use crate::history::{History, Op, OpId, Ts, all_ops};
use crate::monitor::counting::{self, Change, Exceeded, change};
use crate::monitor::matching::{Discipline, Flaw, Matched, Matching, pair};
use crate::monitor::pairing::{Paired, Problem};
use crate::monitor::pending::{Conflict, Decision, How, decide};
use crate::monitor::set::{self, Role, Stuck, role};
use crate::monitor::{queue_pairs, stack_pairs};
use crate::object::ObjectKind;
use crate::prefix::{self, EarliestPrefix, Judgement};
use crate::search::objects::State;
use crate::search::shrink::{Asker, Others, shrink, tighten};
use crate::search::{Found, Window, search};
use crate::value::ValueId;
use crate::verdict::{Explanation, Reason};

/// What confirming a small set may cost.
const CONFIRM: u64 = 200_000;
/// What one question of a general explanation may cost.
const QUESTION: u64 = 20_000;
/// What it may cost where there are only a few operations, so that every question is answered.
const QUESTION_OF_FEW: u64 = 5_000_000;
/// So many are a few.
const FEW: usize = 12;
/// The most operations a general explanation is sought for.
const LARGE: usize = 100_000;
/// The most operations that are put to the general checker for confirmation.
const CONFIRMED: usize = 2_000;
/// The most work, in operations looked at, that sharing out pending removals of one prefix may take.
const PREFIX_WORK: u64 = 2_000_000;
/// The most work, in values looked at, that shrinking a stack or queue violation may take.
const SHRINK_WORK: usize = 30_000_000;

fn bare(reason: Reason, ops: Vec<OpId>) -> Explanation {
    Explanation {
        reason,
        ops,
        called: Vec::new(),
        others: Others::Absent,
        minimal: false,
        confirmed: false,
        earliest: None,
        from: None,
        place: ValueId::NIL,
    }
}

fn subset(ops: &[Op], ids: &[OpId]) -> Vec<Op> {
    ids.iter().map(|id| ops[id.index()]).collect()
}

/// Asks the general checker about a set of operations on their own.
fn judge_generally(history: &History, config: &Config, ops: &[Op], budget: u64) -> Judgement {
    // A search takes its time to begin, and many may be left to ask.
    if config.budget.is_late() {
        return Judgement::Unknown;
    }
    let (object, whole) = object(history, config);
    let object = object.foreseeing(ops, whole);
    match search(&object, &entries(&object, ops, whole), config.budget.at_most(budget)).0 {
        Found::Linearization(_) => Judgement::Holds,
        Found::None(_) => Judgement::Fails,
        Found::OutOfBudget(_) => Judgement::Unknown,
    }
}

/// Puts the operations of an explanation to the general checker.
fn confirm(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    explanation: &mut Explanation,
) -> Result<(), CheckError> {
    let bound: FxHashSet<OpId> = explanation.ops.iter().copied().collect();
    let context = match explanation.others {
        Others::Absent => explanation.ops.iter().chain(&explanation.called).copied().collect(),
        Others::Pending => all_ops(part.ops.len()),
    };
    if context.len() > CONFIRMED {
        return Ok(());
    }
    let mut ops: Vec<Op> = context
        .into_iter()
        .map(|id| if bound.contains(&id) { part.ops[id.index()] } else { part.ops[id.index()].pending() })
        .collect();
    ops.sort_unstable_by_key(|op| op.call);
    match judge_generally(history, config, &ops, CONFIRM) {
        Judgement::Fails => explanation.confirmed = true,
        Judgement::Unknown => {}
        Judgement::Holds => {
            let message =
                format!("the general checker can order the operations of a violation ({})", explanation.reason.name());
            return Err(CheckError::Internal(message));
        }
    }
    Ok(())
}

/// Spares every operation of an explanation that can be spared. `judge` decides operations on their own, some of them pending.
fn spare(part: &Part<'_>, explanation: &mut Explanation, judge: impl Fn(&[Op]) -> Judgement) {
    let ends: Vec<Ts> = part.ops.iter().map(|op| op.ret).collect();
    let mut work = 0;
    let core = tighten(&ends, explanation.ops.iter().map(|id| id.index()).collect(), |chosen| {
        work += chosen.len() + 1;
        if work > SHRINK_WORK {
            return None;
        }
        let ops = chosen.iter().map(|&(at, bound)| if bound { part.ops[at] } else { part.ops[at].pending() });
        match judge(&ops.collect::<Vec<Op>>()) {
            Judgement::Fails => Some(true),
            Judgement::Holds => Some(false),
            Judgement::Unknown => None,
        }
    });
    let ids = |ops: Vec<usize>| ops.into_iter().map(|at| OpId(at as u32)).collect();
    explanation.ops = ids(core.ops);
    explanation.called = ids(core.called);
    explanation.others = core.others;
    explanation.minimal = core.minimal;
}

/// A violation of a single value.
pub(crate) fn flaw(history: &History, part: &Part<'_>, config: &Config, flaw: Flaw) -> Result<Explanation, CheckError> {
    let (reason, mut ops) = match flaw {
        Flaw::Fresh { remove } => (Reason::FreshValue { remove }, vec![remove]),
        Flaw::Duplicate { insert, first, second } => {
            (Reason::DuplicateRemoval { insert, first, second }, vec![insert, first, second])
        }
        Flaw::TooEarly { insert, remove } => (Reason::RemovedBeforeInserted { insert, remove }, vec![insert, remove]),
    };
    ops.sort_unstable();
    let mut explanation = bare(reason, ops);
    let kind = if config.kind == ObjectKind::Stack { Discipline::Stack } else { Discipline::Queue };
    if config.explain {
        let how = config.how(kind);
        explanation.earliest = earliest_line_up(part, &how, &explanation.ops);
        spare(part, &mut explanation, |ops| judge_line_up(ops, &how));
        confirm(history, part, config, &mut explanation)?;
    }
    Ok(explanation)
}

/// Decides operations of a stack or queue.
pub(crate) fn judge_line_up(ops: &[Op], how: &How) -> Judgement {
    if how.budget.is_late() {
        return Judgement::Unknown;
    }
    match pair(ops) {
        Err(_) => Judgement::Unknown,
        Ok(Matching::Flawed(_)) => Judgement::Fails,
        Ok(Matching::Paired(mut matched)) => match decide(&mut matched, how) {
            Decision::Holds(_) => Judgement::Holds,
            Decision::Fails(_) => Judgement::Fails,
            Decision::Unknown(_) | Decision::Broken => Judgement::Unknown,
        },
    }
}

/// The earliest wrong prefix: first of the few operations of the explanation, then back from there in the whole history.
fn earliest_line_up(part: &Part<'_>, how: &How, ops: &[OpId]) -> Option<EarliestPrefix> {
    // Every prefix leaves removals open; what sharing them out may cost is bounded for a long history.
    let tries = 20 + PREFIX_WORK / (part.ops.len() as u64 + 1);
    let how = &How { budget: how.budget.at_most(tries), ..*how };
    let few: Vec<Op> = ops.iter().map(|id| part.ops[id.index()]).collect();
    let by = prefix::forward(&few, Ts(0), |ops| judge_line_up(ops, how));
    let by = by.map_or_else(|| last_return(&part.ops), |found| Some(found.event))?;
    let confirmed_by = if judge_line_up(&crate::history::prefix(&part.ops, by), how) == Judgement::Fails {
        by
    } else {
        last_return(&part.ops)?
    };
    prefix::backward(&part.ops, confirmed_by, |ops| judge_line_up(ops, how))
}

fn last_return(ops: &[Op]) -> Option<Ts> {
    ops.iter().filter(|op| !op.is_pending()).map(|op| op.ret).max()
}

/// A violation of a stack or queue whose values are paired.
pub(crate) fn line_up(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    how: &How,
    matched: &Matched,
    conflict: Option<Conflict>,
) -> Result<Explanation, CheckError> {
    let pending = || matched.open.iter().map(|(_, op)| *op);
    let of = |vals: &[crate::monitor::Val]| -> Vec<OpId> {
        vals.iter().flat_map(|val| [Some(val.insert), val.remove]).flatten().collect()
    };
    let mut explanation = match conflict {
        Some(Conflict::Pair(one, two)) => {
            let reason = match how.discipline {
                Discipline::Queue => Reason::CriticalPair { early: one.insert, late: two.insert },
                Discipline::Stack => Reason::InvertedPair { lower: one.insert, upper: two.insert },
            };
            let stays = if how.discipline == Discipline::Queue { &one } else { &two };
            let mut ops = of(&[one, two]);
            if stays.remove.is_none() {
                ops.extend(pending());
            }
            bare(reason, ops)
        }
        Some(Conflict::Covered(empty, vals)) => {
            let covered_by = vals.iter().map(|val| val.insert).collect();
            let mut ops = of(&vals);
            ops.push(empty.op);
            if vals.iter().any(|val| val.remove.is_none()) {
                ops.extend(pending());
            }
            bare(Reason::EmptyNeverPossible { empty: empty.op, covered_by }, ops)
        }
        stuck => {
            let mut pool = matched.clone();
            if let Some(Conflict::Stuck(vals)) = &stuck {
                let inserts: std::collections::HashSet<OpId> = vals.iter().map(|val| val.insert).collect();
                pool.taken.retain(|val| inserts.contains(&val.insert));
                pool.left.retain(|val| inserts.contains(&val.insert));
                pool.empties.clear();
            }
            let small = if config.explain { shrink_matched(&pool, how) } else { pool };
            let vals: Vec<_> = small.taken.iter().chain(&small.left).copied().collect();
            let mut ops = of(&vals);
            ops.extend(small.empties.iter().map(|empty| empty.op));
            if !small.left.is_empty() {
                ops.extend(pending());
            }
            let inserts = vals.iter().map(|val| val.insert).collect();
            let reason = match (&stuck, how.discipline) {
                (Some(Conflict::Stuck(_)), Discipline::Stack) => Reason::StackStuck { pushes: inserts },
                _ => Reason::TooFewPending { inserts },
            };
            bare(reason, ops)
        }
    };
    explanation.ops.sort_unstable();
    explanation.ops.dedup();
    if config.explain {
        explanation.earliest = earliest_line_up(part, how, &explanation.ops);
        spare(part, &mut explanation, |ops| judge_line_up(ops, how));
        confirm(history, part, config, &mut explanation)?;
    }
    Ok(explanation)
}

/// The fewest values and empty removals that still fail together with the pending removals.
fn shrink_matched(matched: &Matched, how: &How) -> Matched {
    let (taken, left) = (matched.taken.len() as u32, matched.left.len() as u32);
    let mut pool: Vec<u32> = (0..taken + left + matched.empties.len() as u32).collect();
    let ready = |item: u32| match item {
        at if at < taken => matched.taken[at as usize].or,
        at if at < taken + left => matched.left[(at - taken) as usize].pr,
        at => matched.empties[(at - taken - left) as usize].ret,
    };
    pool.sort_unstable_by_key(|&item| ready(item));
    let choose = |set: &[u32]| {
        let mut set = set.to_vec();
        set.sort_unstable();
        let mut chosen = Matched { open: matched.open.clone(), ..Matched::default() };
        for item in set {
            match item {
                at if at < taken => chosen.taken.push(matched.taken[at as usize]),
                at if at < taken + left => chosen.left.push(matched.left[(at - taken) as usize]),
                at => chosen.empties.push(matched.empties[(at - taken - left) as usize]),
            }
        }
        chosen
    };
    let mut work = 0;
    let mut asker = Asker::new(|set: &[u32]| {
        work += set.len() + 1;
        if work > SHRINK_WORK {
            return None;
        }
        match decide(&mut choose(set), how) {
            Decision::Fails(_) => Some(true),
            Decision::Holds(_) => Some(false),
            Decision::Unknown(_) | Decision::Broken => None,
        }
    });
    let small = asker.minimal(pool);
    choose(&small)
}

/// A set violation: the operations on the value since nothing was last open on it.
pub(crate) fn set(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    stuck: Stuck,
) -> Result<Explanation, CheckError> {
    let reason = |stuck: Stuck| Reason::SetStuck { value: stuck.value, op: stuck.op, present: stuck.present };
    if !config.explain {
        return Ok(bare(reason(stuck), vec![stuck.op]));
    }
    let judge = |ops: &[Op]| {
        if set::linearize(ops).is_ok() { Judgement::Holds } else { Judgement::Fails }
    };
    // What open operations returned later can make one value wrong before another: the prefix of which is the shortest?
    let mut stuck = stuck;
    let mut ops = Cow::Borrowed(&part.ops[..]);
    let (about, earliest) = loop {
        let about = part_of(&ops, stuck.value);
        let earliest = prefix::forward(&subset(&ops, &about), stuck.at, judge);
        let Some(before) = earliest.and_then(|found| found.event.0.checked_sub(1)) else {
            break (about, earliest);
        };
        let shorter = crate::history::prefix(&ops, Ts(before));
        match set::linearize(&shorter) {
            Ok(_) => break (about, earliest),
            Err(sooner) => (stuck, ops) = (sooner, Cow::Owned(shorter)),
        }
    };
    let by = earliest.map_or(Ts::END, |found| found.event);
    let seen: Vec<OpId> = about.into_iter().filter(|id| part.ops[id.index()].call <= by).collect();
    let window = since_quiet(part, &seen, by);
    let mut explanation = Explanation { earliest, ..bare(reason(stuck), window) };
    spare(part, &mut explanation, judge);
    confirm(history, part, config, &mut explanation)?;
    Ok(explanation)
}

/// The operations on a value.
fn part_of(ops: &[Op], value: ValueId) -> Vec<OpId> {
    ops.iter().enumerate().filter(|(_, op)| op.arg == value).map(|(at, _)| OpId(at as u32)).collect()
}

/// The operations of one value of a set since the last moment at which none was open; if the value was present then, with one
/// earlier add that stands for all that came before. At such a moment the state is certain.
fn since_quiet(part: &Part<'_>, ids: &[OpId], by: Ts) -> Vec<OpId> {
    let op = |id: &OpId| &part.ops[id.index()];
    let mut latest = Ts(0);
    let mut start = 0;
    for (position, id) in ids.iter().enumerate() {
        if position > 0 && latest < op(id).call {
            start = position;
        }
        latest = latest.max(if op(id).ret <= by { op(id).ret } else { Ts::INF });
    }
    let earlier = &ids[..start];
    let count = |wanted: Role| earlier.iter().filter(|id| role(op(id)) == wanted).count();
    let mut window = Vec::new();
    if count(Role::Add) > count(Role::Remove) {
        window.extend(earlier.iter().rev().find(|id| role(op(id)) == Role::Add));
    }
    window.extend(&ids[start..]);
    window
}

/// More came out than went in: the removals that returned are one more than the inserts that were called.
pub(crate) fn excess(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    exceeded: Exceeded,
) -> Result<Explanation, CheckError> {
    let Exceeded { value, op, at, adds } = exceeded;
    let reason = if adds == 0 && !matches!(config.kind, ObjectKind::Set | ObjectKind::Multiset) {
        Reason::FreshValue { remove: op }
    } else {
        Reason::CountExceeded { value, op, adds }
    };
    let removes = part.ops.iter().enumerate().filter(|(_, op)| {
        op.ret <= at && change(config.kind, op.method, op.arg, op.result) == Some(Change::Remove(value))
    });
    let mut explanation = bare(reason, removes.map(|(at, _)| OpId(at as u32)).collect());
    explanation.others = Others::Pending;
    explanation.minimal = true;
    explanation.earliest = Some(EarliestPrefix { event: at, exact: true });
    if config.explain {
        confirm(history, part, config, &mut explanation)?;
    }
    Ok(explanation)
}

/// A violation of a stack or queue whose values repeat; if it is known, nobody gets past the return of `blocked`.
pub(crate) fn container(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    discipline: Discipline,
    blocked: Option<OpId>,
) -> Result<Explanation, CheckError> {
    let last = (0..part.ops.len()).filter(|&at| !part.ops[at].is_pending()).max_by_key(|&at| part.ops[at].ret);
    let blocked = blocked.or(last.map(|at| OpId(at as u32)));
    let Some(blocked) = blocked else {
        return Err(CheckError::Internal("a violation without a return".into()));
    };
    let mut explanation = bare(Reason::NoOrder { blocked, before: Vec::new() }, called_by(part, Ts::END));
    if !config.explain || part.ops.len() > LARGE {
        return Ok(explanation);
    }
    let judge = |budget: u64| move |ops: &[Op]| judge_pairs(config, discipline, ops, budget);
    // The search for pairs of a stack does not know how far it got; that of a queue does.
    let from = if discipline == Discipline::Queue { part.ops[blocked.index()].ret } else { Ts(0) };
    explanation.earliest = prefix::forward(&part.ops, from, judge(config.budget.configurations));
    let by = explanation.earliest.map_or(Ts::END, |found| found.event);
    if let Some(at) = part.ops.iter().position(|op| op.ret == by) {
        explanation.reason = Reason::NoOrder { blocked: OpId(at as u32), before: Vec::new() };
    }
    let ids = called_by(part, by);
    let cut = crate::history::prefix(&part.ops, by);
    explanation.ops = values_that_fail(config.kind, &cut, judge(QUESTION)).into_iter().map(|at| ids[at]).collect();
    spare(part, &mut explanation, judge(QUESTION));
    confirm(history, part, config, &mut explanation)?;
    Ok(explanation)
}

/// Decides a stack or queue whose values may repeat.
fn judge_pairs(config: &Config, discipline: Discipline, ops: &[Op], budget: u64) -> Judgement {
    if config.budget.is_late() {
        return Judgement::Unknown;
    }
    if counting::exceeded(config.kind, ops).is_some() {
        return Judgement::Fails;
    }
    let (problem, budget) = (Problem::of_ops(ops), config.budget.at_most(budget));
    let (paired, _) = match discipline {
        Discipline::Queue => queue_pairs::decide(&problem, &budget),
        Discipline::Stack => stack_pairs::decide(&problem, config.stack, &budget),
    };
    match paired {
        Paired::Order(_) => Judgement::Holds,
        Paired::Fails(_) => Judgement::Fails,
        Paired::Limit(_) => Judgement::Unknown,
    }
}

/// The operations called up to a moment.
fn called_by(part: &Part<'_>, by: Ts) -> Vec<OpId> {
    let called = part.ops.iter().enumerate().filter(|(_, op)| op.call <= by);
    called.map(|(at, _)| OpId(at as u32)).collect()
}

/// The operations of the fewest values, and the fewest removals that found nothing, that fail together with the removals nobody knows
/// the result of. Leaving out all operations of a value never makes matters worse.
fn values_that_fail(kind: ObjectKind, ops: &[Op], judge: impl Fn(&[Op]) -> Judgement) -> Vec<usize> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut numbers: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut always = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        match change(kind, op.method, op.arg, op.result) {
            Some(Change::Insert(value) | Change::Remove(value)) => {
                let number = *numbers.entry(value).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[number].push(at);
            }
            None if op.result.is_none() => always.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups.sort_by_key(|group| group.iter().map(|&at| ops[at].ret).min());
    let members = |set: &[u32]| {
        let chosen = set.iter().flat_map(|&group| &groups[group as usize]).chain(&always);
        let mut members: Vec<usize> = chosen.copied().collect();
        members.sort_unstable();
        members
    };
    let mut asker =
        Asker::new(|set: &[u32]| match judge(&members(set).into_iter().map(|at| ops[at]).collect::<Vec<Op>>()) {
            Judgement::Fails => Some(true),
            Judgement::Holds => Some(false),
            Judgement::Unknown => None,
        });
    let kept = asker.minimal((0..groups.len() as u32).collect());
    members(&kept)
}

/// A violation the general checker found.
pub(crate) fn general(history: &History, part: &Part<'_>, config: &Config, window: Window<State>) -> Explanation {
    let blocked = OpId(window.blocked as u32);
    let ids = |ops: Vec<usize>| ops.into_iter().map(|at| OpId(at as u32)).collect();
    let before = window.before.into_iter().map(|(state, done)| (state, ids(done))).collect();
    let mut explanation = bare(Reason::NoOrder { blocked, before }, Vec::new());
    explanation.confirmed = true;
    let from = part.ops[blocked.index()].ret;
    explanation.ops = called_by(part, from);
    if !config.explain || part.ops.len() > LARGE {
        return explanation;
    }
    let budget = config.budget.configurations;
    explanation.earliest = prefix::forward(&part.ops, from, |ops| judge_generally(history, config, ops, budget));
    let by = explanation.earliest.map_or(Ts::END, |found| found.event);
    explanation.ops = called_by(part, by);
    let cut = crate::history::prefix(&subset(&part.ops, &explanation.ops), by);
    let (object, whole) = object(history, config);
    let question = config.budget.at_most(if cut.len() <= FEW { QUESTION_OF_FEW } else { QUESTION });
    let object = object.foreseeing(&cut, whole);
    if let Some(core) = shrink(&object, &entries(&object, &cut, whole), question) {
        explanation.from = core.from.map(|since| since.named(|at| explanation.ops[at]));
        explanation.called = core.called.into_iter().map(|at| explanation.ops[at]).collect();
        explanation.ops = core.ops.into_iter().map(|at| explanation.ops[at]).collect();
        explanation.others = core.others;
        explanation.minimal = core.minimal;
    }
    explanation
}
