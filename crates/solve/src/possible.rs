//! Which values a term can have, where these are few.
//!
//! Addresses are mostly choices between a handful of known ones: by conditions, by variables of which somebody says what they can be ([`Terms::restrict`]), and by arithmetic on such.
//! What is said of a variable is not checked here: whoever says it sees to it that the variable has no other value wherever it matters.

use crate::eval::apply;
use crate::term::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// How many terms are looked at before nothing is said.
const MOST_TERMS: usize = 4_096;

impl Terms {
    /// A variable has none but these values.
    pub fn restrict(&mut self, var: Term, mut values: Vec<u64>) {
        debug_assert!(matches!(self.node(var), Node::Var(_)), "only variables can be anything");
        values.sort_unstable();
        values.dedup();
        self.values.insert(var, values);
    }

    /// Whether this is said not to be a value of the variable.
    pub(crate) fn is_none_of(&self, var: Term, value: u64) -> bool {
        self.values.get(&var).is_some_and(|values| values.binary_search(&value).is_err())
    }

    /// The values that a term can have, sorted, if these are known and at most so many. Not each of them need be possible.
    pub fn choices(&self, term: Term, most: usize) -> Option<Vec<u64>> {
        let mut known: FxHashMap<Term, Vec<u64>> = FxHashMap::default();
        let mut todo = vec![term];
        while let Some(&top) = todo.last() {
            if known.contains_key(&top) {
                todo.pop();
                continue;
            }
            if known.len() > MOST_TERMS {
                return None;
            }
            let mut operands = Vec::new();
            match self.node(top) {
                Node::Ite(_, a, b) => operands.extend([a, b]),
                _ => self.for_each_operand(top, |operand| operands.push(operand)),
            }
            if let Some(&open) = operands.iter().find(|operand| !known.contains_key(operand)) {
                // The condition of a comparison need not be known for its value to be one of two.
                if self.width(open) == 1 && !matches!(self.node(open), Node::Const(_)) {
                    known.insert(open, vec![0, 1]);
                } else {
                    todo.push(open);
                }
                continue;
            }
            let values = self.values_of(top, &operands, &known, most)?;
            known.insert(top, values);
            todo.pop();
        }
        known.remove(&term)
    }

    /// The values of a term whose operands have these.
    fn values_of(
        &self,
        term: Term,
        operands: &[Term],
        known: &FxHashMap<Term, Vec<u64>>,
        most: usize,
    ) -> Option<Vec<u64>> {
        let mut values = match self.node(term) {
            Node::Const(value) => vec![value],
            Node::Var(_) => self.values.get(&term)?.clone(),
            Node::Ite(_, a, b) => known[&a].iter().chain(&known[&b]).copied().collect(),
            _ => match *operands {
                [a] => known[&a].iter().map(|&a| apply(self, term, |_| a, 0)).collect(),
                [a, b] if known[&a].len().saturating_mul(known[&b].len()) <= 4 * most => {
                    let pairs = known[&a].iter().flat_map(|&x| known[&b].iter().map(move |&y| (x, y)));
                    let pairs = pairs.filter(|(x, y)| a != b || x == y);
                    pairs.map(|(x, y)| apply(self, term, |of| if of == a { x } else { y }, 0)).collect()
                }
                _ => return None,
            },
        };
        values.sort_unstable();
        values.dedup();
        (values.len() <= most).then_some(values)
    }
}
