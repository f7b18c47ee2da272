//! Terms that are smaller than what was asked for.
//!
//! Every rule keeps the value ([`eval`](crate::eval()) is the judge, on random terms). Rules look two operators deep at most.

use crate::eval::apply;
use crate::term::{Node, Term, Terms, mask};

impl Terms {
    /// The term of this node, folded if its operands are constants.
    fn fold(&mut self, node: Node, width: u8) -> Term {
        let term = self.intern(node, width);
        let mut constant = !matches!(node, Node::Const(_) | Node::Var(_));
        self.for_each_operand(term, |operand| constant &= self.as_const(operand).is_some());
        if !constant {
            return term;
        }
        let value = apply(self, term, |operand| self.as_const(operand).expect("just seen"), 0);
        self.constant(width, value)
    }

    fn is_zero(&self, a: Term) -> bool {
        self.as_const(a) == Some(0)
    }

    fn is_ones(&self, a: Term) -> bool {
        self.as_const(a) == Some(mask(self.width(a)))
    }

    fn are_opposite(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::Not(b) || self.node(b) == Node::Not(a)
    }

    /// `!a` of each bit.
    pub fn not(&mut self, a: Term) -> Term {
        match self.node(a) {
            Node::Not(b) => b,
            _ => self.fold(Node::Not(a), self.width(a)),
        }
    }

    /// `a && b` of each bit.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || self.is_ones(b) || self.is_zero(a) {
            return a;
        }
        if self.is_ones(a) || self.is_zero(b) {
            return b;
        }
        if self.are_opposite(a, b) {
            return self.constant(self.width(a), 0);
        }
        for (one, other) in [(a, b), (b, a)] {
            if let Node::And(x, y) = self.node(one) {
                if x == other || y == other {
                    return one;
                }
                if self.are_opposite(x, other) || self.are_opposite(y, other) {
                    return self.constant(self.width(a), 0);
                }
            }
            if let Node::Not(inner) = self.node(one)
                && let Node::And(x, y) = self.node(inner)
            {
                for (x, y) in [(x, y), (y, x)] {
                    if self.are_opposite(x, other) {
                        return other;
                    }
                    if x == other {
                        let y = self.not(y);
                        return self.and(other, y);
                    }
                }
            }
        }
        if let (Node::Not(one), Node::Not(other)) = (self.node(a), self.node(b))
            && let (Node::And(x, y), Node::And(u, v)) = (self.node(one), self.node(other))
        {
            // Two branches meet again: neither `x && y` nor `x && !y`.
            for (x, y) in [(x, y), (y, x)] {
                for (u, v) in [(u, v), (v, u)] {
                    if x == u && self.are_opposite(y, v) {
                        return self.not(x);
                    }
                }
            }
        }
        self.fold(Node::And(a, b), self.width(a))
    }

    /// Of each bit, whether they differ.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return self.constant(self.width(a), 0);
        }
        for (one, other) in [(a, b), (b, a)] {
            if self.is_zero(one) {
                return other;
            }
            if self.is_ones(one) {
                return self.not(other);
            }
        }
        self.fold(Node::Xor(a, b), self.width(a))
    }

    /// `a + b`.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (a.min(b), a.max(b));
        for (one, other) in [(a, b), (b, a)] {
            if self.is_zero(one) {
                return other;
            }
            let Some(by) = self.as_const(one) else { continue };
            if let Node::Add(x, y) = self.node(other) {
                for (x, y) in [(x, y), (y, x)] {
                    if let Some(more) = self.as_const(x) {
                        let sum = self.constant(self.width(a), by.wrapping_add(more));
                        return self.add(sum, y);
                    }
                }
            }
        }
        self.fold(Node::Add(a, b), self.width(a))
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (a.min(b), a.max(b));
        for (one, other) in [(a, b), (b, a)] {
            match self.as_const(one) {
                Some(0) => return one,
                Some(1) => return other,
                _ => {}
            }
        }
        self.fold(Node::Mul(a, b), self.width(a))
    }

    /// The quotient without signs; all ones if `b` is zero.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        if self.as_const(b) == Some(1) { a } else { self.fold(Node::UDiv(a, b), self.width(a)) }
    }

    /// The remainder without signs; `a` if `b` is zero.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        self.fold(Node::URem(a, b), self.width(a))
    }

    /// A shift.
    pub(crate) fn shift(&mut self, kind: fn(Term, Term) -> Node, a: Term, b: Term) -> Term {
        if self.is_zero(b) || self.is_zero(a) { a } else { self.fold(kind(a, b), self.width(a)) }
    }

    /// Whether they are equal.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return self.bool(true);
        }
        if self.are_opposite(a, b) {
            return self.bool(false);
        }
        for (one, other) in [(a, b), (b, a)] {
            let Some(value) = self.as_const(other) else { continue };
            if self.width(one) == 1 {
                return if value == 1 { one } else { self.not(one) };
            }
            match self.node(one) {
                Node::Var(_) if self.is_none_of(one, value) => return self.bool(false),
                Node::Concat(high, low) if self.as_const(high).is_some() || self.as_const(low).is_some() => {
                    let (wide, narrow) = (self.width(high), self.width(low));
                    let upper = self.constant(wide, value >> narrow);
                    let lower = self.constant(narrow, value);
                    let (upper, lower) = (self.eq(high, upper), self.eq(low, lower));
                    return self.and(upper, lower);
                }
                Node::Ite(cond, x, y) if self.as_const(x).is_some() || self.as_const(y).is_some() => {
                    let (x, y) = (self.eq(x, other), self.eq(y, other));
                    return self.ite(cond, x, y);
                }
                Node::Not(x) => {
                    let value = self.constant(self.width(x), !value);
                    return self.eq(x, value);
                }
                Node::Add(x, y) => {
                    for (x, y) in [(x, y), (y, x)] {
                        if let Some(more) = self.as_const(x) {
                            let value = self.constant(self.width(y), value.wrapping_sub(more));
                            return self.eq(y, value);
                        }
                    }
                }
                _ => {}
            }
        }
        if let (Node::Concat(high, low), Node::Concat(upper, lower)) = (self.node(a), self.node(b))
            && self.width(low) == self.width(lower)
            && high == upper
        {
            return self.eq(low, lower);
        }
        self.fold(Node::Eq(a, b), 1)
    }

    /// `a < b` without signs.
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        if a == b || self.is_zero(b) || self.is_ones(a) {
            return self.bool(false);
        }
        if self.is_zero(a) {
            return self.ne(a, b);
        }
        if self.as_const(b) == Some(1) {
            let zero = self.constant(self.width(a), 0);
            return self.eq(a, zero);
        }
        for (one, other) in [(a, b), (b, a)] {
            // Where the upper bits of one are known to be zeros, those of the other decide or do not matter.
            if let (Node::Concat(high, low), Some(value)) = (self.node(one), self.as_const(other))
                && self.is_zero(high)
            {
                if value > mask(self.width(low)) {
                    return self.bool(one == a);
                }
                let value = self.constant(self.width(low), value);
                return if one == a { self.ult(low, value) } else { self.ult(value, low) };
            }
        }
        if let (Node::Concat(high, low), Node::Concat(upper, lower)) = (self.node(a), self.node(b))
            && self.width(low) == self.width(lower)
            && high == upper
        {
            return self.ult(low, lower);
        }
        self.fold(Node::ULt(a, b), 1)
    }

    /// `a` if the condition holds, else `b`.
    pub fn ite(&mut self, cond: Term, a: Term, b: Term) -> Term {
        if a == b || self.is_true(cond) {
            return a;
        }
        if self.is_false(cond) {
            return b;
        }
        if let Node::Not(opposite) = self.node(cond) {
            return self.ite(opposite, b, a);
        }
        if let Node::Ite(same, x, _) = self.node(a)
            && same == cond
        {
            return self.ite(cond, x, b);
        }
        if let Node::Ite(same, _, y) = self.node(b)
            && same == cond
        {
            return self.ite(cond, a, y);
        }
        if self.width(a) == 1 {
            if self.is_true(a) || a == cond {
                return self.or(cond, b);
            }
            if self.is_false(a) {
                let not = self.not(cond);
                return self.and(not, b);
            }
            if self.is_true(b) {
                let not = self.not(cond);
                return self.or(not, a);
            }
            if self.is_false(b) || b == cond {
                return self.and(cond, a);
            }
        }
        self.fold(Node::Ite(cond, a, b), self.width(a))
    }

    /// `high` above `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let width = self.width(high) + self.width(low);
        if let (Node::Extract(x, from), Node::Extract(y, to)) = (self.node(high), self.node(low))
            && x == y
            && to + self.width(low) == from
        {
            return self.extract(x, to, width);
        }
        if let Node::Concat(first, second) = self.node(low)
            && self.is_zero(high)
            && self.is_zero(first)
        {
            let zeros = self.constant(self.width(high) + self.width(first), 0);
            return self.concat(zeros, second);
        }
        self.fold(Node::Concat(high, low), width)
    }

    /// So many bits from the bit `from` on.
    pub fn extract(&mut self, a: Term, from: u8, width: u8) -> Term {
        if from == 0 && width == self.width(a) {
            return a;
        }
        match self.node(a) {
            Node::Extract(inner, more) => return self.extract(inner, from + more, width),
            Node::Concat(high, low) => {
                let edge = self.width(low);
                if from + width <= edge {
                    return self.extract(low, from, width);
                }
                if from >= edge {
                    return self.extract(high, from - edge, width);
                }
                let low = self.extract(low, from, edge - from);
                let high = self.extract(high, 0, from + width - edge);
                return self.concat(high, low);
            }
            Node::SExt(inner) if from + width <= self.width(inner) => return self.extract(inner, from, width),
            _ => {}
        }
        self.fold(Node::Extract(a, from), width)
    }

    /// Wider, filled with the sign.
    pub fn sext(&mut self, a: Term, width: u8) -> Term {
        if width == self.width(a) { a } else { self.fold(Node::SExt(a), width) }
    }
}

impl Terms {
    /// Something that holds where `a` does and not where `b` does, for two conditions that exclude each other: what they differ in, if that is seen.
    pub fn selector(&self, a: Term, b: Term) -> Term {
        if let (Node::And(x, y), Node::And(u, v)) = (self.node(a), self.node(b)) {
            for (x, y) in [(x, y), (y, x)] {
                for (u, v) in [(u, v), (v, u)] {
                    if x == u && self.are_opposite(y, v) {
                        return y;
                    }
                }
            }
        }
        a
    }

    /// Whether `a` holding is seen to make `b` hold.
    pub fn implies(&self, a: Term, b: Term) -> bool {
        if a == b || self.is_true(b) || self.is_false(a) {
            return true;
        }
        if let Node::And(x, y) = self.node(b) {
            return self.implies(a, x) && self.implies(a, y);
        }
        let mut todo = vec![a];
        let mut looked_at = 0;
        while let Some(term) = todo.pop() {
            if term == b {
                return true;
            }
            looked_at += 1;
            if looked_at > 200 {
                return false;
            }
            if let Node::And(x, y) = self.node(term) {
                todo.extend([x, y]);
            }
        }
        false
    }

    /// The two that a term chooses between, if that is what it does.
    pub fn branches(&self, term: Term) -> Option<(Term, Term)> {
        if let Node::Ite(_, a, b) = self.node(term) { Some((a, b)) } else { None }
    }

    /// How many of the lowest bits are seen to be zero.
    pub fn trailing_zeros(&self, term: Term) -> u8 {
        self.zeros(term, 12)
    }

    fn zeros(&self, term: Term, depth: u8) -> u8 {
        let all = self.width(term);
        if depth == 0 {
            return 0;
        }
        match self.node(term) {
            Node::Const(0) => all,
            Node::Const(value) => value.trailing_zeros() as u8,
            Node::Mul(a, b) => (self.zeros(a, depth - 1) + self.zeros(b, depth - 1)).min(all),
            Node::Add(a, b) | Node::Xor(a, b) => self.zeros(a, depth - 1).min(self.zeros(b, depth - 1)),
            Node::And(a, b) => self.zeros(a, depth - 1).max(self.zeros(b, depth - 1)),
            Node::Ite(_, a, b) => self.zeros(a, depth - 1).min(self.zeros(b, depth - 1)),
            Node::SExt(a) => self.zeros(a, depth - 1),
            Node::Concat(high, low) => {
                let zeros = self.zeros(low, depth - 1);
                if zeros == self.width(low) { zeros + self.zeros(high, depth - 1) } else { zeros }
            }
            Node::Shl(a, b) => match self.as_const(b) {
                Some(by) => (u64::from(self.zeros(a, depth - 1)) + by).min(u64::from(all)) as u8,
                None => self.zeros(a, depth - 1),
            },
            _ => 0,
        }
    }
}
