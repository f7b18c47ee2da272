//! Satisfiability of clauses of two literals, by the strongly connected components of the graph of implications (Aspvall,
//! Plass, Tarjan 1979). Linear in the number of implications.

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal(u32);

impl Literal {
    pub(super) fn of(variable: u32) -> Literal {
        Literal(variable << 1)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

/// Clauses, as implications.
#[derive(Debug, Default)]
pub(super) struct TwoSat {
    variables: u32,
    implications: Vec<(Literal, Literal)>,
}

/// Not visited yet.
const NEW: u32 = u32::MAX;

impl TwoSat {
    /// A new variable.
    pub(super) fn variable(&mut self) -> Literal {
        self.variables += 1;
        Literal::of(self.variables - 1)
    }

    /// If `a` then `b`; also if not `b` then not `a`.
    pub(super) fn implies(&mut self, a: Literal, b: Literal) {
        self.implications.push((a, b));
        self.implications.push((!b, !a));
    }

    /// `a` holds.
    pub(super) fn holds(&mut self, a: Literal) {
        self.implications.push((!a, a));
    }

    /// Values of the variables that satisfy all clauses, if there are any.
    pub(super) fn solve(&self) -> Option<Solution> {
        let components = self.components();
        let of =
            |variable: u32| (components[Literal::of(variable).index()], components[(!Literal::of(variable)).index()]);
        // Components are numbered from the sinks, and a literal whose component is closer to them can be true: what it
        // implies is as close or closer.
        let values = (0..self.variables).map(|variable| {
            let (yes, no) = of(variable);
            (yes != no).then_some(yes < no)
        });
        values.collect::<Option<Vec<bool>>>().map(Solution)
    }

    /// The number of each literal's component; what it implies has a smaller number, or the same.
    fn components(&self) -> Vec<u32> {
        let literals = 2 * self.variables as usize;
        let mut starts = vec![0; literals + 1];
        self.implications.iter().for_each(|(a, _)| starts[a.index() + 1] += 1);
        (0..literals).for_each(|at| starts[at + 1] += starts[at]);
        let mut targets = vec![0; self.implications.len()];
        let mut free = starts.clone();
        for (a, b) in &self.implications {
            targets[free[a.index()]] = b.index();
            free[a.index()] += 1;
        }
        let mut numbers = vec![NEW; literals];
        let mut lows = vec![0; literals];
        let mut components = vec![NEW; literals];
        let (mut visited, mut found) = (0, 0);
        let mut open: Vec<usize> = Vec::new();
        // Which literal, and which of its implications comes next.
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..literals {
            if numbers[root] != NEW {
                continue;
            }
            path.push((root, starts[root]));
            while let Some((at, next)) = path.last_mut() {
                let at = *at;
                if *next == starts[at] {
                    numbers[at] = visited;
                    lows[at] = visited;
                    visited += 1;
                    open.push(at);
                }
                if *next < starts[at + 1] {
                    let to = targets[*next];
                    *next += 1;
                    if numbers[to] == NEW {
                        path.push((to, starts[to]));
                    } else if components[to] == NEW {
                        lows[at] = lows[at].min(numbers[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(from, _)) = path.last() {
                    lows[from] = lows[from].min(lows[at]);
                }
                if lows[at] == numbers[at] {
                    while let Some(member) = open.pop() {
                        components[member] = found;
                        if member == at {
                            break;
                        }
                    }
                    found += 1;
                }
            }
        }
        components
    }
}

/// Values of all variables.
#[derive(Debug)]
pub(super) struct Solution(Vec<bool>);

impl Solution {
    pub(super) fn is_true(&self, literal: Literal) -> bool {
        self.0[(literal.0 >> 1) as usize] == (literal.0 & 1 == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every assignment, tried.
    fn by_hand(variables: u32, clauses: &[(Literal, Literal)]) -> bool {
        (0..1u32 << variables).any(|values| {
            let holds = |literal: Literal| (values >> (literal.0 >> 1) & 1 == 1) == (literal.0 & 1 == 0);
            clauses.iter().all(|&(a, b)| !holds(a) || holds(b))
        })
    }

    #[test]
    fn agrees_with_trying_every_assignment() {
        let mut numbers = raddle_testkit::Random::new(1);
        let mut random = |below: u32| numbers.below(below as usize) as u32;
        let mut solvable = 0;
        for _ in 0..3_000 {
            let variables = 1 + random(6);
            let clauses = random(3 * variables + 1);
            let mut literal = || Literal(random(2 * variables));
            let clauses: Vec<_> = (0..clauses).map(|_| (literal(), literal())).collect();
            let mut sat = TwoSat::default();
            (0..variables).for_each(|_| _ = sat.variable());
            for &(a, b) in &clauses {
                if a == !b { sat.holds(b) } else { sat.implies(a, b) }
            }
            let found = sat.solve();
            assert_eq!(found.is_some(), by_hand(variables, &clauses), "{clauses:?}");
            if let Some(found) = found {
                solvable += 1;
                assert!(clauses.iter().all(|&(a, b)| !found.is_true(a) || found.is_true(b)), "{clauses:?}");
            }
        }
        assert!((500..2_500).contains(&solvable), "both answers are met: {solvable}");
    }
}
