//! Terms with other terms in place of their variables.
//!
//! What is put together again goes through the constructors, so it is rewritten like anything else: a guard with a known number in place of a variable may come to a constant.

use crate::term::{Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

impl Terms {
    /// Whether it is a variable.
    pub fn is_var(&self, term: Term) -> bool {
        matches!(self.node(term), Node::Var(_))
    }

    /// The variables of these terms, each once, in the order in which they were made.
    pub fn variables(&self, terms: impl IntoIterator<Item = Term>) -> Vec<Term> {
        let mut todo: Vec<Term> = terms.into_iter().collect();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut all = Vec::new();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            if self.is_var(term) {
                all.push(term);
            }
            self.for_each_operand(term, |operand| todo.push(operand));
        }
        all.sort_unstable();
        all
    }

    /// The term with `with` in place of variables. What was made of a term is remembered in `done`, which must be empty at first and belongs to these replacements.
    pub fn replace(
        &mut self,
        term: Term,
        with: &dyn Fn(Term) -> Option<Term>,
        done: &mut FxHashMap<Term, Term>,
    ) -> Term {
        let mut todo = vec![term];
        while let Some(&top) = todo.last() {
            if done.contains_key(&top) {
                todo.pop();
                continue;
            }
            let before = todo.len();
            self.for_each_operand(top, |operand| {
                if !done.contains_key(&operand) {
                    todo.push(operand);
                }
            });
            if todo.len() == before {
                let new = match self.node(top) {
                    Node::Var(_) => with(top).unwrap_or(top),
                    _ => self.rebuilt(top, done),
                };
                done.insert(top, new);
                todo.pop();
            }
        }
        done[&term]
    }

    /// The same operator on other operands.
    fn rebuilt(&mut self, term: Term, of: &FxHashMap<Term, Term>) -> Term {
        let width = self.width(term);
        let get = |operand: Term| of[&operand];
        let mut same = true;
        self.for_each_operand(term, |operand| same &= get(operand) == operand);
        if same {
            return term;
        }
        match self.node(term) {
            Node::Const(_) | Node::Var(_) => term,
            Node::Not(a) => self.not(get(a)),
            Node::And(a, b) => self.and(get(a), get(b)),
            Node::Xor(a, b) => self.xor(get(a), get(b)),
            Node::Add(a, b) => self.add(get(a), get(b)),
            Node::Mul(a, b) => self.mul(get(a), get(b)),
            Node::UDiv(a, b) => self.udiv(get(a), get(b)),
            Node::URem(a, b) => self.urem(get(a), get(b)),
            Node::Shl(a, b) => self.shift(Node::Shl, get(a), get(b)),
            Node::LShr(a, b) => self.shift(Node::LShr, get(a), get(b)),
            Node::AShr(a, b) => self.shift(Node::AShr, get(a), get(b)),
            Node::Eq(a, b) => self.eq(get(a), get(b)),
            Node::ULt(a, b) => self.ult(get(a), get(b)),
            Node::Ite(a, b, c) => self.ite(get(a), get(b), get(c)),
            Node::Concat(a, b) => self.concat(get(a), get(b)),
            Node::Extract(a, from) => self.extract(get(a), from, width),
            Node::SExt(a) => self.sext(get(a), width),
        }
    }

    /// The parts of a truth value that all have to hold.
    pub fn conjuncts(&self, term: Term) -> Vec<Term> {
        let mut todo = vec![term];
        let mut all = Vec::new();
        while let Some(term) = todo.pop() {
            match self.node(term) {
                Node::And(a, b) if self.width(term) == 1 => todo.extend([b, a]),
                Node::Const(1) => {}
                _ => all.push(term),
            }
        }
        all
    }

    /// What a truth value is put together from by connectives: comparisons, and bits that are no truth values of others. None is a negation.
    pub fn atoms(&self, term: Term) -> Vec<Term> {
        let mut todo = vec![term];
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut all = Vec::new();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            let bits = |a: Term| self.width(a) == 1;
            match self.node(term) {
                Node::Const(_) => {}
                Node::Not(a) => todo.push(a),
                Node::And(a, b) | Node::Xor(a, b) => todo.extend([b, a]),
                Node::Eq(a, b) if bits(a) => todo.extend([b, a]),
                Node::Ite(a, b, c) => todo.extend([c, b, a]),
                _ => all.push(term),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::eval;

    #[test]
    fn what_is_replaced_has_the_value_it_had_with_the_new_values() {
        let mut terms = Terms::new();
        let (x, y, cond) = (terms.var(8), terms.var(8), terms.var(1));
        let (sum, product) = (terms.add(x, y), terms.mul(x, y));
        let (quotient, rest) = (terms.udiv(x, y), terms.urem(sum, y));
        let shifted = [Node::Shl, Node::LShr, Node::AShr].map(|kind| terms.shift(kind, product, y));
        let both = terms.xor(quotient, rest);
        let mixed = shifted.into_iter().fold(both, |all, one| terms.xor(all, one));
        let wide = terms.concat(mixed, x);
        let low = terms.extract(wide, 3, 8);
        let signed = terms.sext(low, 16);
        let chosen = terms.ite(cond, signed, wide);
        let (less, same) = (terms.ult(x, low), terms.eq(sum, low));
        let decided = terms.ite(less, chosen, wide);
        let decision = terms.and(less, same);
        let not = terms.not(decision);
        let bit = terms.zext(not, 16);
        let all = terms.add(decided, bit);
        assert_eq!(terms.variables([all]), [x, y, cond]);
        let z = terms.var(8);
        let three = terms.constant(8, 3);
        let other = terms.mul(z, three);
        for (number, choice) in [(0, 0), (1, 1), (77, 0), (128, 1), (255, 1)] {
            let bit = terms.constant(1, choice);
            let with = |term: Term| {
                [(x, other), (y, three), (cond, bit)].iter().find(|pair| pair.0 == term).map(|pair| pair.1)
            };
            let new = terms.replace(all, &with, &mut FxHashMap::default());
            let old: FxHashMap<Term, u64> = [(x, number * 3 % 256), (y, 3), (cond, choice)].into_iter().collect();
            let of_new: FxHashMap<Term, u64> = [(z, number)].into_iter().collect();
            assert_eq!(eval(&terms, &of_new, new), eval(&terms, &old, all), "{number} {choice}");
        }
    }

    #[test]
    fn conditions_fall_into_conjuncts_and_atoms() {
        let mut terms = Terms::new();
        let (x, y, z) = (terms.var(8), terms.var(8), terms.var(1));
        let (less, same) = (terms.ult(x, y), terms.eq(x, y));
        let either = terms.or(less, z);
        let both = terms.and(either, same);
        let mut conjuncts = terms.conjuncts(both);
        conjuncts.sort_unstable();
        let mut parts = [either, same];
        parts.sort_unstable();
        assert_eq!(conjuncts, parts);
        let mut atoms = terms.atoms(both);
        atoms.sort_unstable();
        assert_eq!(atoms, [z, less, same], "in the order in which they were made");
        let yes = terms.bool(true);
        assert!(terms.conjuncts(yes).is_empty());
    }
}
