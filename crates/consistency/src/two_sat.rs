//! Two-literal clauses for sequential consistency (Chalupa et al. 2018).
//!
//! What closure leaves open is the order of some events of some pairs of threads. Each such pair of events becomes a variable "the first is before the
//! second", and what every execution obeys becomes implications between two of them:
//!
//! - `a` before `b` implies `a` before what follows `b`, and what `a` follows before `b`;
//! - `a` before `b` implies `c` before `d` where `c` is before or equal to `a` and `d` after or equal to `b` in the closure;
//! - a write that is before a read of another write is before that other write.
//!
//! No assignment means no execution, whatever the threads share. An assignment gives an order, and if that is acyclic, an execution; Chalupa et al. 2018 show
//! that it is if the threads that share locations form a forest. The second kind of implication is not theirs: it makes it acyclic, too, if every simple
//! cycle of threads has at most two pairs that closure has not decided. Otherwise the order may turn out cyclic; then this
//! module has no answer, and the search goes on.
//!
//! Cost: a variable for every two events of an undecided pair of threads, and for each as many implications as there are such pairs. The
//! implications are not stored but made when the strongly connected components (Tarjan 1972) are looked for.

use crate::order::Order;
use crate::prefix::{Move, Prefix};
use crate::shape::{NONE, Shape};

/// More variables than this are not tried.
const MOST: usize = 1 << 21;

/// What the clauses say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clauses {
    /// They cannot be satisfied: there is no execution.
    Unsatisfiable,
    /// The log of the prefix is an execution.
    Ordered,
    /// They do not tell.
    Undecided,
}

/// Tries to decide what closure has left open under SC.
pub(crate) fn solve(shape: &Shape, order: &Order, prefix: &mut Prefix) -> Clauses {
    let Some(mut problem) = Problem::new(shape, order) else { return Clauses::Undecided };
    if !problem.components() {
        return Clauses::Unsatisfiable;
    }
    if problem.run(prefix) { Clauses::Ordered } else { Clauses::Undecided }
}

struct Problem<'s> {
    shape: &'s Shape,
    order: &'s Order,
    /// Undecided pairs of threads, each both ways.
    pairs: Vec<(u32, u32)>,
    /// Per two threads, the lower one first, where their variables begin; [`NONE`] if they are decided.
    bases: Vec<u32>,
    /// Per event and thread the first event of the thread that is after or equal to it; the end of the thread if there is none.
    firsts: Vec<u32>,
    /// Per write its readers.
    readers: Vec<Vec<u32>>,
    variables: usize,
    /// Per literal its component, in reverse topological order.
    component: Vec<u32>,
}

impl<'s> Problem<'s> {
    fn new(shape: &'s Shape, order: &'s Order) -> Option<Self> {
        let threads = shape.threads();
        let mut problem = Problem {
            shape,
            order,
            pairs: Vec::new(),
            bases: vec![NONE; threads * threads],
            firsts: Vec::new(),
            readers: vec![Vec::new(); shape.ops.len()],
            variables: 0,
            component: Vec::new(),
        };
        for (number, op) in shape.ops.iter().enumerate() {
            if op.source != NONE && !shape.is_initial(op.source) {
                problem.readers[op.source as usize].push(number as u32);
            }
        }
        problem.find_pairs()?;
        for event in 0..shape.ops.len() as u32 {
            for thread in 0..threads {
                let (mut low, mut high) = (shape.starts[thread], shape.starts[thread + 1]);
                while low < high {
                    let middle = low.midpoint(high);
                    if order.at_most(shape, event, middle) { high = middle } else { low = middle + 1 }
                }
                problem.firsts.push(low);
            }
        }
        Some(problem)
    }

    /// Two threads are undecided if two of their events conflict and closure does not order them.
    fn find_pairs(&mut self) -> Option<()> {
        let (shape, order) = (self.shape, self.order);
        let threads = shape.threads();
        let mut by_location: Vec<Vec<u32>> = vec![Vec::new(); shape.locs];
        for (number, op) in shape.ops.iter().enumerate() {
            if op.lane != NONE || op.source != NONE {
                by_location[op.loc as usize].push(number as u32);
            }
        }
        for events in &by_location {
            for (at, &a) in events.iter().enumerate() {
                for &b in &events[at + 1..] {
                    let (p, q) = (shape.op(a).thread as usize, shape.op(b).thread as usize);
                    let conflict = shape.op(a).lane != NONE || shape.op(b).lane != NONE;
                    if p == q || !conflict || self.bases[p * threads + q] != NONE {
                        continue;
                    }
                    if !order.at_most(shape, a, b) && !order.at_most(shape, b, a) {
                        self.bases[p * threads + q] = self.variables as u32;
                        self.variables += shape.length(p) as usize * shape.length(q) as usize;
                        self.pairs.extend([(p as u32, q as u32), (q as u32, p as u32)]);
                        if self.variables > MOST {
                            return None;
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// The literal "`a` is before `b`", if it is one; else what closure says, if it says something.
    fn literal(&self, a: u32, b: u32) -> Result<u32, Option<bool>> {
        let (shape, order) = (self.shape, self.order);
        if order.at_most(shape, a, b) {
            return Err(Some(true));
        }
        if order.at_most(shape, b, a) {
            return Err(Some(false));
        }
        let (low, high, swapped) = if a < b { (a, b, 0) } else { (b, a, 1) };
        let (p, q) = (shape.op(low).thread as usize, shape.op(high).thread as usize);
        let base = self.bases[p * shape.threads() + q];
        if base == NONE {
            return Err(None);
        }
        let variable = base + shape.index(low) * shape.length(q) + shape.index(high);
        Ok(2 * variable + swapped)
    }

    /// The two events of every literal, the earlier one first; `None` where closure has ordered them.
    fn events(&self) -> Vec<Option<(u32, u32)>> {
        let mut events = vec![None; 2 * self.variables];
        for &(p, q) in self.pairs.iter().step_by(2) {
            for a in self.shape.starts[p as usize]..self.shape.starts[p as usize + 1] {
                for b in self.shape.starts[q as usize]..self.shape.starts[q as usize + 1] {
                    if let Ok(literal) = self.literal(a, b) {
                        events[literal as usize] = Some((a, b));
                        events[literal as usize ^ 1] = Some((b, a));
                    }
                }
            }
        }
        events
    }

    /// What "`a` before `b`" implies. If it implies something false, it implies its own contrary.
    fn implied(&self, a: u32, b: u32, out: &mut Vec<u32>) {
        let shape = self.shape;
        let contrary = || self.literal(b, a).expect("a literal has a contrary");
        let mut imply = |c: u32, d: u32| match self.literal(c, d) {
            Ok(literal) => out.push(literal),
            Err(Some(false)) => out.push(contrary()),
            Err(_) => {}
        };
        if b + 1 < shape.starts[shape.op(b).thread as usize + 1] {
            imply(a, b + 1);
        }
        if a > shape.starts[shape.op(a).thread as usize] {
            imply(a - 1, b);
        }
        for &(p, q) in &self.pairs {
            let before = self.order.count_before(a, p as usize);
            let after = self.firsts[b as usize * shape.threads() + q as usize];
            if before > 0 && after < shape.starts[q as usize + 1] {
                imply(shape.starts[p as usize] + before - 1, after);
            }
        }
        let (op, other) = (shape.op(a), shape.op(b));
        if op.lane == NONE || op.loc != other.loc {
            return;
        }
        // A write before a read of another one is before that other one, ...
        if other.source != NONE && other.source != a && !shape.is_initial(other.source) {
            imply(a, other.source);
        }
        // ... and if it is after that other one, then it is after the read.
        if other.lane != NONE {
            for &read in self.readers[a as usize].iter().filter(|&&read| read != b) {
                imply(read, b);
            }
        }
    }

    /// Finds the strongly connected components; false if a literal and its contrary are in one.
    fn components(&mut self) -> bool {
        let events = self.events();
        let mut component = vec![NONE; events.len()];
        let mut low = vec![0_u32; events.len()];
        let mut number = vec![NONE; events.len()];
        let (mut numbers, mut components) = (0, 0);
        let mut open: Vec<u32> = Vec::new();
        // The literals on the way, each with where its implications begin in `todo`.
        let mut way: Vec<(u32, usize)> = Vec::new();
        let mut todo: Vec<u32> = Vec::new();
        for root in 0..events.len() as u32 {
            if events[root as usize].is_none() || number[root as usize] != NONE {
                continue;
            }
            todo.push(root);
            way.push((NONE, 0));
            while let Some(&(literal, begin)) = way.last() {
                if let Some(next) = (todo.len() > begin).then(|| todo.pop().expect("there is one")) {
                    let at = next as usize;
                    if number[at] == NONE {
                        let (a, b) = events[at].expect("implications are between literals");
                        (number[at], low[at]) = (numbers, numbers);
                        numbers += 1;
                        open.push(next);
                        way.push((next, todo.len()));
                        self.implied(a, b, &mut todo);
                    } else if component[at] == NONE && literal != NONE {
                        low[literal as usize] = low[literal as usize].min(number[at]);
                    }
                    continue;
                }
                way.pop();
                if literal == NONE {
                    break;
                }
                if low[literal as usize] == number[literal as usize] {
                    while let Some(member) = open.pop() {
                        component[member as usize] = components;
                        if member == literal {
                            break;
                        }
                    }
                    components += 1;
                }
                if let Some(&(parent, _)) = way.last().filter(|(parent, _)| *parent != NONE) {
                    low[parent as usize] = low[parent as usize].min(low[literal as usize]);
                }
            }
        }
        let clash = |at: usize| component[at] != NONE && component[at] == component[at ^ 1];
        let satisfiable = !(0..component.len()).step_by(2).any(clash);
        self.component = component;
        satisfiable
    }

    /// Runs the events in an order that agrees with the assignment; false if that is cyclic.
    fn run(&self, prefix: &mut Prefix) -> bool {
        let shape = self.shape;
        prefix.reset(shape);
        // An event may be done if it is before the next event of every other thread: later ones come after that one.
        loop {
            let next = (0..shape.threads()).map(|thread| shape.starts[thread] + prefix.pos[thread]);
            let next: Vec<u32> = next.zip(&shape.starts[1..]).filter(|(at, end)| at < end).map(|(at, _)| at).collect();
            let is_first = |&event: &u32| next.iter().all(|&other| other == event || self.may_precede(event, other));
            let Some(&event) = next.iter().find(|event| is_first(event)) else { return next.is_empty() };
            let thread = shape.op(event).thread as usize;
            if prefix.next(shape, thread).is_none() || !prefix.can_step(shape, event) {
                return false;
            }
            prefix.apply(shape, Move::Step(shape.op(event).thread));
        }
    }

    /// Whether nothing says that `b` is before `a`.
    fn may_precede(&self, a: u32, b: u32) -> bool {
        match self.literal(a, b) {
            Ok(literal) => self.component[literal as usize] < self.component[literal as usize ^ 1],
            Err(known) => known != Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closure::ClosureOrder;
    use crate::testing::{Random, Size, program, random_sources, sources_of_run, with_one_other_source};
    use crate::{Answer, Closure, Model, Settings, verify};

    /// Closure leaves hardly anything to the clauses, so they get program order and reads-from only.
    #[test]
    fn clauses_are_right_whatever_the_order_they_start_from() {
        let random = &mut Random::new(5);
        let (mut shape, mut order, mut prefix) = (Shape::default(), ClosureOrder::default(), Prefix::default());
        let mut counts = [0; 3];
        let mut lost = 0;
        for _ in 0..12_000 {
            let threads = 2 + random.below(3);
            let size = Size {
                threads,
                events: 6 + random.below(8),
                locations: 1 + random.below(2),
                fences: 0,
                store_fences: 0,
                updates: 10,
                children: random.chance(20),
            };
            let program = program(size, random);
            let instance = match random.below(3) {
                0 | 1 => random_sources(&program, random),
                _ => with_one_other_source(&sources_of_run(&program, Model::Sc, random).unwrap_or(program), random),
            };
            let settings = Settings { closure: Closure::Off, ..Settings::default() };
            let expected = matches!(verify(&instance, Model::Sc, &settings), Ok(Answer::Consistent(_)));
            if shape.build(&instance, Model::Sc).is_err() || order.build_unclosed(&shape).is_err() {
                assert!(!expected);
                continue;
            }
            let found = solve(&shape, &order.order, &mut prefix);
            match found {
                Clauses::Unsatisfiable => assert!(!expected, "{instance:?}"),
                Clauses::Ordered => assert!(expected && prefix.is_complete(), "{instance:?}"),
                // Without closure, what is decided may be decided wrongly; no clause says so.
                Clauses::Undecided => lost += u32::from(threads == 2 && expected),
            }
            counts[found as usize] += 1;
        }
        assert!(counts[0] > 100 && counts[1] > 1000, "{counts:?}");
        assert_eq!(lost, 0, "two threads are a forest");
    }
}
