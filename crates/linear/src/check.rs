//! One history in, one verdict out.
//!
//! 1. The history is cut into objects (by the `object` or `key` its operations name); by locality it is linearizable iff each object's
//!    part is. For sets and multisets under the general checker also by value.
//! 2. Each part goes to the monitor of its object, or to the general checker: when the object has no monitor, when that of registers finds no order, when values of a stack or
//!    queue repeat, when a multiset is asked what it contains, when a set is read as a whole, when a queue is drained, or when the caller says so.
//! 3. The linearizations of the parts are merged by the times of their points, and the merged one is checked again
//!    against real time and against the sequential object. If that fails it is an internal error and no verdict.
//! 4. A violation is explained (in the module `explain`).

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::certificate::{check_container, check_order, check_register, replay};
use crate::drain;
use crate::explain;
use crate::history::{History, Method, Op, OpId, Ts, prefix};
use crate::monitor::counting::{self, Exceeded};
use crate::monitor::matching::{Discipline, Matching, Repeated, pair};
use crate::monitor::pairing::{Paired, Problem};
use crate::monitor::pending::{Decision, How, decide};
use crate::monitor::queue::QueueAlgorithm;
use crate::monitor::stack::StackAlgorithm;
use crate::monitor::{multiset, queue_pairs, register, set, stack_pairs};
use crate::object::ObjectKind;
use crate::prefix::EarliestPrefix;
use crate::search::objects::Object;
use crate::search::{Budget, Entry, Found, Statistics, search};
use crate::value::{Value, ValueId};
use crate::verdict::{Explanation, Report, Verdict};

/// What it may cost, in configurations, to find out whether a history that is wrong for a simple reason was wrong before.
const PREFIX_QUESTION: u64 = 1_000_000;

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// The monitor where it applies, the general checker elsewhere.
    #[default]
    Auto,
    /// The monitor, or an error where it does not apply.
    Monitor,
    /// The general checker.
    Search,
}

/// How to check.
#[derive(Clone, Debug)]
pub struct Config {
    /// The kind of object.
    pub kind: ObjectKind,
    /// Who decides.
    pub engine: Engine,
    /// The procedure for stacks.
    pub stack: StackAlgorithm,
    /// The procedure for queues.
    pub queue: QueueAlgorithm,
    /// What the general checker may spend on each part.
    pub budget: Budget,
    /// How many ways to share out pending removals may be tried.
    pub tries: u64,
    /// Check keys of a map, and values of a set or multiset under the general checker, one by one.
    pub partition: bool,
    /// What a register, or each key of a map, holds at the beginning.
    pub initial: Value,
    /// Look for a small explanation of a violation.
    pub explain: bool,
}

impl Config {
    /// The defaults for this kind of object.
    pub fn new(kind: ObjectKind) -> Config {
        Config {
            kind,
            engine: Engine::Auto,
            stack: StackAlgorithm::NearLinear,
            queue: QueueAlgorithm::Sweep,
            budget: Budget::default(),
            tries: 10_000,
            partition: true,
            initial: Value::Nil,
            explain: true,
        }
    }

    pub(crate) fn how(&self, discipline: Discipline) -> How {
        How { discipline, stack: self.stack, queue: self.queue, budget: self.budget.at_most(self.tries) }
    }
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The monitor was asked for and does not cover the history.
    #[error("{0}")]
    Unsupported(String),
    /// A result did not survive being checked again. This is a fault of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Which operations are on one object: their numbers, unless they are all.
struct Share {
    place: ValueId,
    ids: Option<Vec<OpId>>,
}

impl Share {
    /// The operations. They are copied only while they are looked at: together the copies would take as much as the history.
    fn part<'a>(&'a self, history: &'a History) -> Part<'a> {
        let ops = match &self.ids {
            None => Cow::Borrowed(&history.ops[..]),
            Some(ids) => Cow::Owned(ids.iter().map(|id| *history.op(*id)).collect()),
        };
        Part { place: self.place, ids: self.ids.as_deref(), ops }
    }

    fn name(&self, id: OpId) -> OpId {
        self.ids.as_ref().map_or(id, |ids| ids[id.index()])
    }
}

/// A part of a history: the operations on one object, with their numbers in the whole.
pub(crate) struct Part<'a> {
    pub(crate) place: ValueId,
    /// The numbers in the whole, unless the part is the whole.
    ids: Option<&'a [OpId]>,
    pub(crate) ops: Cow<'a, [Op]>,
}

impl Part<'_> {
    fn name(&self, id: OpId) -> OpId {
        self.ids.map_or(id, |ids| ids[id.index()])
    }

    /// An explanation with operations by their numbers in the whole.
    fn named(&self, found: Explanation) -> Explanation {
        let name = |id: OpId| self.name(id);
        Explanation {
            reason: found.reason.renamed(&name),
            ops: found.ops.into_iter().map(name).collect(),
            called: found.called.into_iter().map(name).collect(),
            from: found.from.map(|since| since.named(name)),
            place: self.place,
            ..found
        }
    }
}

/// What came of one part; operations by their number in the part.
pub(crate) enum PartVerdict {
    Holds(Vec<OpId>),
    Violated(Box<Explanation>),
    Unknown(String),
}

/// Checks a history.
pub fn check(history: &History, config: &Config) -> Result<Report, CheckError> {
    let shares = split(history, config);
    let mut statistics = Statistics::default();
    let mut engine = "none";
    let mut lines: Vec<Option<Vec<OpId>>> = Vec::with_capacity(shares.len());
    let mut unknown: Option<String> = None;
    let mut violated: Option<Explanation> = None;
    for (at, share) in shares.iter().enumerate() {
        let part = share.part(history);
        let (verdict, who) = check_part(history, &part, config, &mut statistics)?;
        engine = if engine == "none" || engine == who { who } else { "mixed" };
        match verdict {
            PartVerdict::Holds(line) => lines.push(Some(line)),
            PartVerdict::Unknown(why) => {
                lines.push(None);
                unknown = unknown.or(Some(why));
            }
            PartVerdict::Violated(found) => {
                let sooner = sooner(history, &shares, &lines, (at, part.named(*found)), config, &mut statistics)?;
                violated = Some(sooner);
                break;
            }
        }
    }
    let count = shares.len();
    let verdict = match (violated, unknown) {
        (Some(explanation), _) => Verdict::Violated(explanation),
        (None, Some(why)) => Verdict::Unknown(why),
        (None, None) => {
            let mut lines: Vec<Vec<OpId>> = lines.into_iter().flatten().collect();
            for (share, line) in shares.iter().zip(&mut lines) {
                line.iter_mut().for_each(|id| *id = share.name(*id));
            }
            drop(shares);
            let order = if lines.len() == 1 { lines.remove(0) } else { merge(&history.ops, &lines) };
            check_order(&history.ops, &order).map_err(|wrong| CheckError::Internal(wrong.to_string()))?;
            Verdict::Holds(order)
        }
    };
    Ok(Report { verdict, engine, statistics, parts: count, hints: Vec::new() })
}

/// The violation that shows first, given one of some part: another part may have been wrong before.
fn sooner(
    history: &History,
    shares: &[Share],
    lines: &[Option<Vec<OpId>>],
    (found, mut best): (usize, Explanation),
    config: &Config,
    statistics: &mut Statistics,
) -> Result<Explanation, CheckError> {
    for (at, share) in shares.iter().enumerate() {
        let holds = lines.get(at).is_some_and(Option::is_some);
        let Some(EarliestPrefix { event: Ts(event), .. }) = best.earliest.filter(|_| at != found && !holds) else {
            continue;
        };
        let part = share.part(history);
        let shorter = prefix(&part.ops, Ts(event.saturating_sub(1)));
        if event == 0 || shorter.is_empty() {
            continue;
        }
        // Operations are in the order of their calls, so the prefix has the numbers of the part.
        let shorter = Part { place: part.place, ids: part.ids, ops: Cow::Owned(shorter) };
        match check_part(history, &shorter, config, statistics)?.0 {
            PartVerdict::Holds(_) => {}
            PartVerdict::Violated(sooner) => best = part.named(*sooner),
            PartVerdict::Unknown(_) => best.earliest = Some(EarliestPrefix { event: Ts(event), exact: false }),
        }
    }
    Ok(best)
}

/// Cuts a history into its objects.
fn split(history: &History, config: &Config) -> Vec<Share> {
    let by_value = config.partition && config.engine != Engine::Monitor && {
        let covered = match config.kind {
            ObjectKind::Set => set::covers(&history.ops),
            ObjectKind::Multiset => multiset::covers(&history.ops),
            _ => true,
        };
        // A read of everything is about all values.
        (config.engine == Engine::Search || !covered)
            && matches!(config.kind, ObjectKind::Set | ObjectKind::Multiset)
            && history.ops.iter().all(|op| op.method != Method::Read)
    };
    let whole = config.kind == ObjectKind::Map && !config.partition;
    if let Some(first) = history.ops.first()
        && !by_value
        && (whole || history.ops.iter().all(|op| op.place == first.place))
    {
        let place = if whole { ValueId::NIL } else { first.place };
        return vec![Share { place, ids: None }];
    }
    let mut numbers: FxHashMap<(ValueId, ValueId), u32> = FxHashMap::default();
    let mut shares: Vec<(ValueId, Vec<OpId>)> = Vec::new();
    for (id, op) in history.iter() {
        let place = if whole { ValueId::NIL } else { op.place };
        let value = if by_value { op.arg } else { ValueId::NIL };
        let next = shares.len() as u32;
        let number = *numbers.entry((place, value)).or_insert(next);
        if number == next {
            shares.push((place, Vec::new()));
        }
        shares[number as usize].1.push(id);
    }
    shares.into_iter().map(|(place, ids)| Share { place, ids: Some(ids) }).collect()
}

/// Merges linearizations of different objects: each operation has a point in time, the greatest call so far.
fn merge(ops: &[Op], lines: &[Vec<OpId>]) -> Vec<OpId> {
    let point = |id: OpId, now: Ts| now.max(ops[id.index()].call);
    let first = |(part, line): (u32, &Vec<OpId>)| line.first().map(|id| Reverse((point(*id, Ts(0)), part, 0)));
    let mut next: BinaryHeap<Reverse<(Ts, u32, u32)>> = (0u32..).zip(lines).filter_map(first).collect();
    let mut merged = Vec::with_capacity(lines.iter().map(Vec::len).sum());
    while let Some(Reverse((now, part, at))) = next.pop() {
        let line = &lines[part as usize];
        merged.push(line[at as usize]);
        next.extend(line.get(at as usize + 1).map(|id| Reverse((point(*id, now), part, at + 1))));
    }
    merged
}

fn check_part(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    statistics: &mut Statistics,
) -> Result<(PartVerdict, &'static str), CheckError> {
    let monitored = match (config.engine, config.kind) {
        (Engine::Search, _) => None,
        (_, ObjectKind::Stack) => Some(match line_up(history, part, config, Discipline::Stack)? {
            Some(verdict) => (verdict, "stack monitor"),
            None => (pairs(history, part, config, Discipline::Stack, statistics)?, "pairing search"),
        }),
        (_, ObjectKind::Queue) if !drain::ordered(&part.ops) => {
            Some(match line_up(history, part, config, Discipline::Queue)? {
                Some(verdict) => (verdict, "queue monitor"),
                None => (pairs(history, part, config, Discipline::Queue, statistics)?, "pairing search"),
            })
        }
        (_, ObjectKind::Set) if set::covers(&part.ops) => Some((
            match set::linearize(&part.ops) {
                Ok(line) => PartVerdict::Holds(line),
                Err(stuck) => PartVerdict::Violated(Box::new(explain::set(history, part, config, stuck)?)),
            },
            "set monitor",
        )),
        (_, ObjectKind::Multiset) if multiset::covers(&part.ops) => Some((
            match multiset::linearize(&part.ops) {
                Ok(line) => PartVerdict::Holds(line),
                Err(exceeded) => PartVerdict::Violated(Box::new(explain::excess(history, part, config, exceeded)?)),
            },
            "multiset monitor",
        )),
        (Engine::Auto, ObjectKind::Register | ObjectKind::Map) => {
            written_once(history, part, config).map(|line| (PartVerdict::Holds(line), "register monitor"))
        }
        (Engine::Monitor, kind) => {
            let why = match kind {
                ObjectKind::Multiset => {
                    "the multiset monitor does not cover membership queries, reads and failed removes".to_string()
                }
                ObjectKind::Set => {
                    "the set monitor does not cover reads, and adds that do not tell whether the value was new"
                        .to_string()
                }
                ObjectKind::Queue => "the queue monitor does not cover drains".to_string(),
                kind => format!("there is no monitor for a {kind}; use the general checker"),
            };
            return Err(CheckError::Unsupported(why));
        }
        _ => None,
    };
    if let Some((PartVerdict::Holds(line), _)) = &monitored
        && let Some(Err(wrong)) = check_container(config.kind, &part.ops, line)
    {
        return Err(CheckError::Internal(format!("the linearization does not stand: {wrong}")));
    }
    match monitored {
        Some(done) => Ok(done),
        None => Ok((general(history, part, config, statistics)?, "search")),
    }
}

/// A linearization of a register or key whose values are written once, if one is found the short way.
fn written_once(history: &History, part: &Part<'_>, config: &Config) -> Option<Vec<OpId>> {
    if config.kind == ObjectKind::Map && !config.partition {
        return None;
    }
    let initial = history.values.find(&config.initial);
    let line = register::propose(&part.ops, initial)?;
    check_register(&part.ops, &line, initial).is_ok().then_some(line)
}

/// A stack or queue part under its monitor; `None` when values repeat and the general checker may be used.
fn line_up(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    discipline: Discipline,
) -> Result<Option<PartVerdict>, CheckError> {
    let mut matched = match pair(&part.ops) {
        Err(repeated) if config.engine == Engine::Monitor => {
            return Err(CheckError::Unsupported(refusal(history, part, repeated)));
        }
        Err(_) => return Ok(None),
        Ok(Matching::Flawed(flaw)) => {
            return Ok(Some(PartVerdict::Violated(Box::new(explain::flaw(history, part, config, flaw)?))));
        }
        Ok(Matching::Paired(matched)) => matched,
    };
    let how = config.how(discipline);
    Ok(Some(match decide(&mut matched, &how) {
        Decision::Holds(line) => PartVerdict::Holds(line),
        Decision::Unknown(limit) => PartVerdict::Unknown(format!("{limit} while pending removals were shared out")),
        Decision::Broken => {
            return Err(CheckError::Internal("a positive decision without a linearization".into()));
        }
        Decision::Fails(conflict) => {
            PartVerdict::Violated(Box::new(explain::line_up(history, part, config, &how, &matched, conflict)?))
        }
    }))
}

/// A stack or queue part whose values repeat.
fn pairs(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    discipline: Discipline,
    statistics: &mut Statistics,
) -> Result<PartVerdict, CheckError> {
    if let Some(exceeded) = counting::exceeded(config.kind, &part.ops) {
        return counted(history, part, config, exceeded, statistics);
    }
    let problem = Problem::of_ops(&part.ops);
    let (paired, visited) = match discipline {
        Discipline::Queue => queue_pairs::decide(&problem, &config.budget),
        Discipline::Stack => stack_pairs::decide(&problem, config.stack, &config.budget),
    };
    statistics.configurations += visited;
    Ok(match paired {
        Paired::Order(order) => PartVerdict::Holds(order),
        Paired::Limit(limit) => {
            PartVerdict::Unknown(format!("{limit} after {visited} ways to pair inserts and removals"))
        }
        Paired::Fails(blocked) => {
            PartVerdict::Violated(Box::new(explain::container(history, part, config, discipline, blocked)?))
        }
    })
}

fn refusal(history: &History, part: &Part<'_>, repeated: Repeated) -> String {
    let (first, second) = (&part.ops[repeated.first.index()], &part.ops[repeated.second.index()]);
    let mut text = format!("the value {} is inserted twice", history.value(repeated.value));
    if first.call_line > 0 && second.call_line > 0 {
        let _ = write!(text, " (lines {} and {})", first.call_line, second.call_line);
    }
    text.push_str("; this monitor needs values that are inserted once: make them unique, or use the general checker");
    text
}

/// The operations as the general checker takes them.
pub(crate) fn entries<'a>(object: &Object<'a>, ops: &[Op], whole: bool) -> Vec<Entry<Object<'a>>> {
    ops.iter()
        .map(|op| Entry { call: object.request(op, whole), ret: op.result, start: op.call, end: op.ret })
        .collect()
}

/// The model for a part.
pub(crate) fn object<'a>(history: &'a History, config: &Config) -> (Object<'a>, bool) {
    let object = Object::starting_with(config.kind, &history.values, config.initial.clone());
    (object, config.kind == ObjectKind::Map && !config.partition)
}

fn general(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    statistics: &mut Statistics,
) -> Result<PartVerdict, CheckError> {
    if let Some(exceeded) = counting::exceeded(config.kind, &part.ops) {
        return counted(history, part, config, exceeded, statistics);
    }
    let (object, whole) = object(history, config);
    let entries = entries(&object, &part.ops, whole);
    // The linearization is replayed on the object as it is, without foresight.
    let (found, spent) = search(&object.clone().foreseeing(&part.ops, whole), &entries, config.budget);
    statistics.configurations += spent.configurations;
    statistics.states += spent.states;
    Ok(match found {
        Found::Linearization(line) => {
            let steps = line.iter().map(|&at| (&entries[at].call, entries[at].ret.as_ref()));
            if let Some(position) = replay(&object, steps) {
                let message =
                    format!("the linearization does not stand: operation {} is not legal at its place", line[position]);
                return Err(CheckError::Internal(message));
            }
            PartVerdict::Holds(line.into_iter().map(|at| OpId(at as u32)).collect())
        }
        Found::OutOfBudget(limit) => PartVerdict::Unknown(format!(
            "{limit} after {} configurations of the general checker",
            spent.configurations
        )),
        Found::None(window) => PartVerdict::Violated(Box::new(explain::general(history, part, config, window))),
    })
}

/// More of a value came out than went in: that is the verdict, and what is left is to see whether something else was wrong before.
fn counted(
    history: &History,
    part: &Part<'_>,
    config: &Config,
    exceeded: Exceeded,
    statistics: &mut Statistics,
) -> Result<PartVerdict, CheckError> {
    let mut explanation = explain::excess(history, part, config, exceeded)?;
    let before = exceeded.at.0.checked_sub(1).filter(|_| config.explain);
    if let Some(before) = before {
        let shorter = Part { place: part.place, ids: None, ops: Cow::Owned(prefix(&part.ops, Ts(before))) };
        let budget = config.budget.at_most(PREFIX_QUESTION);
        match check_part(history, &shorter, &Config { budget, ..config.clone() }, statistics)?.0 {
            PartVerdict::Violated(sooner) => return Ok(PartVerdict::Violated(sooner)),
            PartVerdict::Holds(_) => {}
            PartVerdict::Unknown(_) => {
                explanation.earliest = Some(EarliestPrefix { event: exceeded.at, exact: false });
            }
        }
    }
    Ok(PartVerdict::Violated(Box::new(explanation)))
}
