//! What a term comes to, by definition.
//!
//! It is what circuits and rewriting are held against, and how models are read where no literal stands for a term.

use crate::term::{Node, Term, Terms, mask, sign};
use rustc_hash::FxHashMap;

/// The value of a term if variables have these values (0 if none is given).
pub fn eval(terms: &Terms, vars: &FxHashMap<Term, u64>, term: Term) -> u64 {
    let mut known: FxHashMap<Term, u64> = FxHashMap::default();
    let mut todo = vec![term];
    while let Some(&top) = todo.last() {
        if known.contains_key(&top) {
            todo.pop();
            continue;
        }
        let before = todo.len();
        terms.for_each_operand(top, |operand| {
            if !known.contains_key(&operand) {
                todo.push(operand);
            }
        });
        if todo.len() == before {
            let value = apply(terms, top, |operand| known[&operand], vars.get(&top).copied().unwrap_or(0));
            known.insert(top, value);
            todo.pop();
        }
    }
    known[&term]
}

/// The value of a term whose operands have these values; `var` if it is a variable.
pub(crate) fn apply(terms: &Terms, term: Term, value: impl Fn(Term) -> u64, var: u64) -> u64 {
    let width = terms.width(term);
    let result = match terms.node(term) {
        Node::Const(value) => value,
        Node::Var(_) => var,
        Node::Not(a) => !value(a),
        Node::And(a, b) => value(a) & value(b),
        Node::Xor(a, b) => value(a) ^ value(b),
        Node::Add(a, b) => value(a).wrapping_add(value(b)),
        Node::Mul(a, b) => value(a).wrapping_mul(value(b)),
        Node::UDiv(a, b) => value(a).checked_div(value(b)).unwrap_or(u64::MAX),
        Node::URem(a, b) => value(a).checked_rem(value(b)).unwrap_or(value(a)),
        Node::Shl(_, b) if value(b) >= u64::from(width) => 0,
        Node::Shl(a, b) => value(a) << value(b),
        Node::LShr(_, b) if value(b) >= u64::from(width) => 0,
        Node::LShr(a, b) => value(a) >> value(b),
        Node::AShr(a, b) => (sign(width, value(a)) >> value(b).min(63)) as u64,
        Node::Eq(a, b) => u64::from(value(a) == value(b)),
        Node::ULt(a, b) => u64::from(value(a) < value(b)),
        Node::Ite(cond, a, b) => value(if value(cond) != 0 { a } else { b }),
        Node::Concat(high, low) => value(high) << terms.width(low) | value(low),
        Node::Extract(a, from) => value(a) >> from,
        Node::SExt(a) => sign(terms.width(a), value(a)) as u64,
    };
    result & mask(width)
}

impl Terms {
    /// Calls `visit` on each operand of a term.
    pub(crate) fn for_each_operand(&self, term: Term, mut visit: impl FnMut(Term)) {
        match self.node(term) {
            Node::Const(_) | Node::Var(_) => {}
            Node::Not(a) | Node::Extract(a, _) | Node::SExt(a) => visit(a),
            Node::And(a, b)
            | Node::Xor(a, b)
            | Node::Add(a, b)
            | Node::Mul(a, b)
            | Node::UDiv(a, b)
            | Node::URem(a, b)
            | Node::Shl(a, b)
            | Node::LShr(a, b)
            | Node::AShr(a, b)
            | Node::Eq(a, b)
            | Node::ULt(a, b)
            | Node::Concat(a, b) => {
                visit(a);
                visit(b);
            }
            Node::Ite(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
        }
    }
}
