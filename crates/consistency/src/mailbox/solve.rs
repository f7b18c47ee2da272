//! The search: close under what must hold, decide a pair, learn from conflicts.
//!
//! A pair is decided without a choice where the order has it already: an event of the one message reaches an event of the other (or, for queues and the posts to
//! stacks, the post of the one that of the other). Before the search every open pair is *probed*: if one way leads to a conflict, it is the other. A conflict is a cycle;
//! the choices that it rests on, through everything that was concluded from them, cannot all be made. That is learned as a clause: the search goes back to the last but one of
//! these choices and turns the last one round, and the clause is kept, for what it rules out later. Grahn 2026 outlines saturation, probing and a loop around a SAT solver; here
//! the clauses come from the incremental order instead.
//!
//! Before all that, and again whenever the number of choices has doubled, it is tried to run the messages as they come (see `greedy`). A schedule is what that finds, or the final order, sorted, and is replayed on the machine before it is returned.

use super::constraints::{GivenEdge, Literal, Pair, consequences, given, pairs, witnesses};
use super::greedy;
use super::order::{Edge, Mark, Order};
use super::replay::replay;
use super::trace::{Malformed, Rules, Trace};
use super::unknown::Memory;
use crate::interrupt::{Interrupt, Never};
use thiserror::Error;

/// So many clauses are kept.
const CLAUSES: usize = 2_000;
/// So many edges are added one by one; of more, the order is closed anew.
const FEW: usize = 2;
/// So many pairs are looked at between two looks at the clock.
const LOOKS: usize = 64;

/// How much the search may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'i> {
    /// So many conflicts.
    pub conflicts: u64,
    /// Until somebody says stop.
    pub interrupt: &'i dyn Interrupt,
    /// Probe if there are at most so many open pairs.
    pub probe: usize,
    /// Try to run the messages as they come, before the search and now and then in it.
    pub greedy: bool,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits { conflicts: u64::MAX, interrupt: &Never, probe: 2_000, greedy: true }
    }
}

/// Whether there is a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This one: all events, in order.
    Consistent(Vec<usize>),
    /// There is none.
    Inconsistent,
    /// A limit was reached.
    Unknown,
}

/// What the search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Pairs of messages that had to be ordered.
    pub pairs: usize,
    /// Pairs of writes without an order, and sources that a read may have.
    pub guesses: usize,
    /// Those that neither what is given nor probing decides.
    pub open: usize,
    /// Choices.
    pub decisions: u64,
    /// Conflicts, each of which left a clause.
    pub conflicts: u64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// It is no trace.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A run was found that is none: a bug in Raddle.
    #[error("a schedule was found that does not replay: {0}")]
    NotReplayed(String),
}

/// Looks for a run of this shape.
///
/// # Errors
/// If it is no trace, or a schedule does not replay.
pub fn solve(trace: &Trace, rules: &Rules, limits: &Limits<'_>) -> Result<(Answer, Statistics), Error> {
    trace.check()?;
    solve_growing(trace, rules, limits)
}

/// The same for a trace that grows.
pub(super) fn solve_growing(trace: &Trace, rules: &Rules, limits: &Limits<'_>) -> Result<(Answer, Statistics), Error> {
    trace.check_growing()?;
    if rules.mailboxes.len() != trace.handlers {
        return Err(Malformed::Mailboxes(rules.mailboxes.len(), trace.handlers).into());
    }
    let all = given(trace, rules);
    let mut search = Search::new(trace, rules);
    let answer = search.run(&all, limits);
    if let Answer::Consistent(schedule) = &answer {
        replay(trace, rules, schedule).map_err(|error| Error::NotReplayed(error.to_string()))?;
    }
    Ok((answer, search.statistics))
}

/// A pair that was decided.
#[derive(Clone, Copy, Debug)]
struct Decided {
    literal: Literal,
    level: u32,
    /// Where the literals that it follows from begin in the list, unless it is a choice.
    reason: Option<(u32, u32)>,
}

pub(super) struct Search<'t> {
    trace: &'t Trace,
    rules: &'t Rules,
    pairs: Vec<Pair>,
    memory: Memory,
    order: Order,
    decided: Vec<Option<Decided>>,
    /// Pairs that are open where no choice is made.
    open: Vec<u32>,
    /// Pairs in the order in which they were decided.
    sequence: Vec<usize>,
    reasons: Vec<Literal>,
    /// Where each level of choices begins: in the order, the sequence and the reasons.
    levels: Vec<(Mark, usize, usize)>,
    /// Literals that cannot all hold; so many of them, the first, are given and stay.
    clauses: Vec<Vec<Literal>>,
    stay: usize,
    pub(super) statistics: Statistics,
}

/// Why it does not go on from here.
enum Stop {
    /// Literals that cannot all hold.
    Conflict(Vec<Literal>),
    /// A limit was reached.
    Limit,
}

impl<'t> Search<'t> {
    pub(super) fn new(trace: &'t Trace, rules: &'t Rules) -> Self {
        Search {
            trace,
            rules,
            pairs: Vec::new(),
            memory: Memory::default(),
            order: Order::default(),
            decided: Vec::new(),
            open: Vec::new(),
            sequence: Vec::new(),
            reasons: Vec::new(),
            levels: Vec::new(),
            clauses: Vec::new(),
            stay: 0,
            statistics: Statistics::default(),
        }
    }

    /// Searches with these given edges.
    pub(super) fn run(&mut self, given: &[GivenEdge], limits: &Limits<'_>) -> Answer {
        match Order::new(self.trace.events.len(), given.iter().map(|edge| (edge.from, edge.to))) {
            Some(order) => self.order = order,
            None => return Answer::Inconsistent,
        }
        self.pairs = pairs(self.trace, self.rules, &self.order);
        self.statistics.pairs = self.pairs.len();
        self.memory = Memory::new(self.trace, given, &mut self.pairs);
        self.statistics.guesses = self.pairs.len() - self.statistics.pairs;
        // A read reads something: it is not so that it reads none of these.
        let none = |choices: &Vec<u32>| choices.iter().map(|&pair| Literal::new(pair as usize, true)).collect();
        self.clauses = self.memory.choices.iter().map(none).collect();
        self.stay = self.clauses.len();
        self.decided = vec![None; self.pairs.len()];
        self.open = (0..self.pairs.len() as u32).collect();
        match self.search(limits) {
            Ok(schedule) => Answer::Consistent(schedule),
            Err(Stop::Conflict(_)) => Answer::Inconsistent,
            Err(Stop::Limit) => Answer::Unknown,
        }
    }

    fn search(&mut self, limits: &Limits<'_>) -> Result<Vec<usize>, Stop> {
        self.propagate(limits)?;
        self.settle();
        if let Some(schedule) = self.greedy(limits) {
            return Ok(schedule);
        }
        self.probe(limits)?;
        self.settle();
        while let Some(pair) = self.choose() {
            if self.statistics.decisions.is_power_of_two()
                && let Some(schedule) = self.greedy(limits)
            {
                return Ok(schedule);
            }
            self.deeper();
            self.statistics.decisions += 1;
            let mut result = self.assign(Literal::new(pair, false), None).and_then(|()| self.propagate(limits));
            while let Err(stop) = result {
                let Stop::Conflict(conflict) = stop else { return Err(stop) };
                self.statistics.conflicts += 1;
                if self.statistics.conflicts > limits.conflicts {
                    return Err(Stop::Limit);
                }
                result = self.learn(conflict)?.and_then(|()| self.propagate(limits));
            }
        }
        Ok(self.order.sorted())
    }

    fn greedy(&self, limits: &Limits<'_>) -> Option<Vec<usize>> {
        if limits.greedy { greedy::run(self.trace, self.rules, &self.order, limits) } else { None }
    }

    /// Forgets the pairs that are decided without a choice.
    fn settle(&mut self) {
        self.open.retain(|&pair| self.decided[pair as usize].is_none());
        self.statistics.open = self.open.len();
    }

    /// An open pair, of the handler or location with the fewest.
    fn choose(&self) -> Option<usize> {
        let open = || self.open.iter().map(|&pair| pair as usize).filter(|&pair| self.decided[pair].is_none());
        let handler = |pair: usize| {
            let pair = self.pairs[pair];
            match pair.what.is_of_messages() {
                true => self.trace.messages[pair.first as usize].handler,
                false => self.trace.handlers + Memory::location(self.trace, pair),
            }
        };
        let locations = self.pairs.iter().filter(|pair| !pair.what.is_of_messages());
        let locations = locations.map(|&pair| Memory::location(self.trace, pair) + 1).max().unwrap_or(0);
        let mut count = vec![0usize; self.trace.handlers + locations];
        open().for_each(|pair| count[handler(pair)] += 1);
        open().min_by_key(|&pair| count[handler(pair)])
    }

    /// Decides a pair; with a reason, unless it is a choice.
    fn assign(&mut self, literal: Literal, reason: Option<&[Literal]>) -> Result<(), Stop> {
        let pair = literal.pair();
        let reason = reason.map(|literals| {
            let begin = self.reasons.len() as u32;
            self.reasons.extend_from_slice(literals);
            (begin, self.reasons.len() as u32)
        });
        self.decided[pair] = Some(Decided { literal, level: self.levels.len() as u32, reason });
        self.sequence.push(pair);
        for edge in self.edges(literal) {
            let (from, to) = (edge.from, edge.to);
            let since = edge.since.clone();
            if !self.order.add(edge) {
                if self.levels.is_empty() {
                    return Err(Stop::Conflict(Vec::new()));
                }
                let mut conflict = self.literals(to, from);
                conflict.extend(since.into_iter().map(Literal));
                return Err(Stop::Conflict(conflict));
            }
        }
        Ok(())
    }

    /// The edges that come with a decision and those before it.
    fn edges(&self, literal: Literal) -> Vec<Edge> {
        let question = self.pairs[literal.pair()];
        let decided = |pair: u32| self.decided[pair as usize].map(|decided| decided.literal);
        if question.what.is_of_messages() {
            consequences(self.trace, question, literal, question.partner.and_then(decided))
        } else {
            self.memory.consequences(self.trace, &self.pairs, question, literal, decided)
        }
    }

    /// The events of which the order decides this pair this way, if it does.
    fn witness(&self, pair: usize, swapped: bool) -> Option<(usize, usize)> {
        let question = self.pairs[pair];
        let of_memory = match question.what.is_of_messages() {
            true => Vec::new(),
            false => self.memory.witnesses(self.trace, question, swapped),
        };
        let mut all = witnesses(self.trace, question, swapped).into_iter().flatten().chain(of_memory);
        all.find(|&(from, to)| self.order.reaches(from, to))
    }

    /// What the order decides while no choice is made: in rounds, so that the order is closed once a round and not once an edge.
    fn propagate_rounds(&mut self, limits: &Limits<'_>) -> Result<(), Stop> {
        loop {
            let mut edges: Vec<(usize, usize)> = Vec::new();
            let before = self.sequence.len();
            for at in 0..self.open.len() {
                if at % LOOKS == 0 && limits.interrupt.is_due() {
                    return Err(Stop::Limit);
                }
                let pair = self.open[at] as usize;
                if self.decided[pair].is_some() {
                    continue;
                }
                let way = [false, true].into_iter().find(|&swapped| self.witness(pair, swapped).is_some());
                let Some(literal) = way.map(|swapped| Literal::new(pair, swapped)) else { continue };
                let reason = Some((self.reasons.len() as u32, self.reasons.len() as u32));
                self.decided[pair] = Some(Decided { literal, level: 0, reason });
                self.sequence.push(pair);
                let new = self.edges(literal).into_iter().map(|edge| (edge.from, edge.to));
                edges.extend(new.filter(|&(from, to)| from == to || !self.order.reaches(from, to)));
            }
            let is_order = match edges.len() {
                0..=FEW => edges.iter().all(|&(from, to)| self.order.add(Edge { from, to, since: Vec::new() })),
                _ => self.order.extend(edges.into_iter()),
            };
            if !is_order {
                return Err(Stop::Conflict(Vec::new()));
            }
            if self.sequence.len() == before {
                return Ok(());
            }
        }
    }

    /// What a way rests on.
    fn literals(&self, from: usize, to: usize) -> Vec<Literal> {
        let mut all: Vec<Literal> =
            self.order.way(from, to).into_iter().flat_map(|edge| edge.since.iter().copied().map(Literal)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Decides whatever the order and the clauses decide.
    fn propagate(&mut self, limits: &Limits<'_>) -> Result<(), Stop> {
        loop {
            let before = self.sequence.len();
            let is_free = self.levels.is_empty();
            if is_free {
                self.propagate_rounds(limits)?;
            }
            for at in 0..if is_free { 0 } else { self.open.len() } {
                if at % LOOKS == 0 && limits.interrupt.is_due() {
                    return Err(Stop::Limit);
                }
                let pair = self.open[at] as usize;
                if self.decided[pair].is_some() {
                    continue;
                }
                for swapped in [false, true] {
                    if let Some((from, to)) = self.witness(pair, swapped) {
                        let reason = self.literals(from, to);
                        self.assign(Literal::new(pair, swapped), Some(&reason))?;
                        break;
                    }
                }
            }
            for number in 0..self.clauses.len() {
                self.ruled_out(number)?;
            }
            if self.sequence.len() == before {
                return Ok(());
            }
        }
    }

    fn holds(&self, literal: Literal) -> Option<bool> {
        self.decided[literal.pair()].map(|decided| decided.literal == literal)
    }

    /// If all literals of a clause but one hold, that one does not.
    fn ruled_out(&mut self, number: usize) -> Result<(), Stop> {
        let clause = &self.clauses[number];
        let mut open = None;
        for &literal in clause {
            match (self.holds(literal), open) {
                (Some(true), _) => {}
                (Some(false), _) | (None, Some(_)) => return Ok(()),
                (None, None) => open = Some(literal),
            }
        }
        let Some(literal) = open else { return Err(Stop::Conflict(clause.clone())) };
        let others: Vec<Literal> = clause.iter().copied().filter(|&other| other != literal).collect();
        self.assign(literal.opposite(), Some(&others))
    }

    /// The choices that literals rest on, each with its level.
    fn choices(&self, literals: &[Literal]) -> Vec<(u32, Literal)> {
        let mut pending: Vec<usize> = literals.iter().map(|literal| literal.pair()).collect();
        let mut seen = vec![false; self.pairs.len()];
        let mut choices = Vec::new();
        while let Some(pair) = pending.pop() {
            if std::mem::replace(&mut seen[pair], true) {
                continue;
            }
            let decided = self.decided[pair].expect("what is in a conflict is decided");
            match decided.reason {
                None => choices.push((decided.level, decided.literal)),
                Some((begin, end)) => {
                    let literals = &self.reasons[begin as usize..end as usize];
                    pending.extend(literals.iter().map(|literal| literal.pair()));
                }
            }
        }
        choices.sort_unstable();
        choices
    }

    /// Keeps what a conflict rests on as a clause, goes back and turns the last choice round: with what comes of that. The conflict itself, if it rests on no choice.
    fn learn(&mut self, conflict: Vec<Literal>) -> Result<Result<(), Stop>, Stop> {
        let choices = self.choices(&conflict);
        let Some((&(_, last), others)) = choices.split_last() else { return Err(Stop::Conflict(conflict)) };
        let others: Vec<Literal> = others.iter().map(|&(_, literal)| literal).collect();
        let back = choices.len().checked_sub(2).map_or(0, |at| choices[at].0);
        self.back_to(back as usize);
        if self.clauses.len() - self.stay >= CLAUSES {
            // Clauses save work; the search ends without them, since what was turned round keeps its reason.
            self.clauses.drain(self.stay..self.stay + CLAUSES / 2);
        }
        self.clauses.push([others.as_slice(), &[last]].concat());
        Ok(self.assign(last.opposite(), Some(&others)))
    }

    /// Begins a level: a choice is about to be made.
    fn deeper(&mut self) {
        self.order.keep(true);
        self.levels.push((self.order.mark(), self.sequence.len(), self.reasons.len()));
    }

    fn back_to(&mut self, level: usize) {
        if let Some(&(mark, sequence, reasons)) = self.levels.get(level) {
            self.order.undo(mark);
            self.sequence.drain(sequence..).for_each(|pair| self.decided[pair] = None);
            self.reasons.truncate(reasons);
            self.levels.truncate(level);
            self.order.keep(level > 0);
        }
    }

    /// Tries both ways of every open pair; one that leads to a conflict is ruled out.
    fn probe(&mut self, limits: &Limits<'_>) -> Result<(), Stop> {
        if self.open.len() > limits.probe {
            return Ok(());
        }
        for at in 0..self.open.len() {
            let pair = self.open[at] as usize;
            for swapped in [false, true] {
                if self.decided[pair].is_some() {
                    break;
                }
                self.deeper();
                let literal = Literal::new(pair, swapped);
                let tried = self.assign(literal, None).and_then(|()| self.propagate(limits));
                self.back_to(0);
                match tried {
                    Ok(()) => {}
                    Err(Stop::Conflict(_)) => {
                        self.assign(literal.opposite(), Some(&[]))?;
                        self.propagate(limits)?;
                    }
                    limit => return limit,
                }
            }
        }
        Ok(())
    }
}
