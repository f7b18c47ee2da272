//! Terms: bit vectors of 1 to 64 bits.
//!
//! A term is a number; equal terms are the same number (hash-consing), so that what is written twice is a circuit once. Every
//! constructor rewrites first (`rewrite`): constants are folded by the very functions that the interpreter of programs uses, and what
//! unrolled programs are full of becomes small: conditions of branches that meet again, bytes that are put together again, comparisons
//! of known addresses.
//!
//! Truth values are terms of one bit. A division by zero has a value here (all ones, and the dividend as remainder); whoever divides asks
//! whether that can happen.

use raddle_program::{BinOp, CastOp, Field, Splice, Type, UnOp};
use rustc_hash::FxHashMap;

/// A term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub(crate) u32);

/// What a term is made of. Operands of an operator have the width of the result, unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Const(u64),
    /// Anything; the number tells variables apart.
    Var(u32),
    Not(Term),
    And(Term, Term),
    Xor(Term, Term),
    Add(Term, Term),
    Mul(Term, Term),
    UDiv(Term, Term),
    URem(Term, Term),
    Shl(Term, Term),
    LShr(Term, Term),
    AShr(Term, Term),
    /// One bit.
    Eq(Term, Term),
    /// One bit.
    ULt(Term, Term),
    /// The condition has one bit.
    Ite(Term, Term, Term),
    /// The upper part, then the lower part.
    Concat(Term, Term),
    /// So many bits from this one on.
    Extract(Term, u8),
    SExt(Term),
}

/// All terms there are.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub(crate) nodes: Vec<Node>,
    pub(crate) widths: Vec<u8>,
    known: FxHashMap<(Node, u8), Term>,
    vars: u32,
    /// The values that some variables have at most, sorted.
    pub(crate) values: FxHashMap<Term, Vec<u64>>,
}

/// All bits of a width.
pub(crate) const fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - width as u32)
}

/// The type of program values of this width, where there is one.
pub(crate) const fn sign(width: u8, value: u64) -> i64 {
    let shift = 64 - width as u32;
    ((value << shift) as i64) >> shift
}

impl Terms {
    /// No terms.
    pub fn new() -> Self {
        Terms::default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many bits it has.
    pub fn width(&self, term: Term) -> u8 {
        self.widths[term.0 as usize]
    }

    pub(crate) fn node(&self, term: Term) -> Node {
        self.nodes[term.0 as usize]
    }

    pub(crate) fn intern(&mut self, node: Node, width: u8) -> Term {
        *self.known.entry((node, width)).or_insert_with(|| {
            self.nodes.push(node);
            self.widths.push(width);
            Term(u32::try_from(self.nodes.len() - 1).expect("memory ends before numbers do"))
        })
    }

    /// The value of a constant.
    pub fn as_const(&self, term: Term) -> Option<u64> {
        if let Node::Const(value) = self.node(term) { Some(value) } else { None }
    }

    /// Whether it is a truth value that always holds.
    pub fn is_true(&self, term: Term) -> bool {
        self.width(term) == 1 && self.as_const(term) == Some(1)
    }

    /// Whether it is a truth value that never holds.
    pub fn is_false(&self, term: Term) -> bool {
        self.width(term) == 1 && self.as_const(term) == Some(0)
    }

    /// A constant, cut to its width.
    pub fn constant(&mut self, width: u8, value: u64) -> Term {
        debug_assert!((1..=64).contains(&width), "a term has 1 to 64 bits");
        self.intern(Node::Const(value & mask(width)), width)
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) -> Term {
        self.constant(1, u64::from(value))
    }

    /// A new variable.
    pub fn var(&mut self, width: u8) -> Term {
        self.vars += 1;
        self.intern(Node::Var(self.vars), width)
    }

    /// `a || b` of each bit.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// Whether one of them holds.
    pub fn any(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let none = self.bool(false);
        terms.into_iter().fold(none, |any, term| self.or(any, term))
    }

    /// Whether all of them hold.
    pub fn all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let yes = self.bool(true);
        terms.into_iter().fold(yes, |all, term| self.and(all, term))
    }

    /// `a` and not `b`.
    pub fn and_not(&mut self, a: Term, b: Term) -> Term {
        let b = self.not(b);
        self.and(a, b)
    }

    /// Not equal.
    pub fn ne(&mut self, a: Term, b: Term) -> Term {
        let equal = self.eq(a, b);
        self.not(equal)
    }

    /// `-a`.
    pub fn neg(&mut self, a: Term) -> Term {
        let (inverse, one) = (self.not(a), self.constant(self.width(a), 1));
        self.add(inverse, one)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let minus = self.neg(b);
        self.add(a, minus)
    }

    /// `a < b` with signs.
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        let top = self.constant(self.width(a), 1 << (self.width(a) - 1));
        let (a, b) = (self.xor(a, top), self.xor(b, top));
        self.ult(a, b)
    }

    /// The highest bit.
    fn sign_bit(&mut self, a: Term) -> Term {
        self.extract(a, self.width(a) - 1, 1)
    }

    /// `a`, or `-a` if the condition holds.
    fn negated_if(&mut self, cond: Term, a: Term) -> Term {
        let minus = self.neg(a);
        self.ite(cond, minus, a)
    }

    /// Wider, filled with zeros.
    pub fn zext(&mut self, a: Term, width: u8) -> Term {
        match width - self.width(a) {
            0 => a,
            more => {
                let zeros = self.constant(more, 0);
                self.concat(zeros, a)
            }
        }
    }

    /// To another width: the low bits, or filled with zeros.
    pub fn resize(&mut self, a: Term, width: u8) -> Term {
        if width <= self.width(a) { self.extract(a, 0, width) } else { self.zext(a, width) }
    }

    /// When a term is this variable, as far as it is chosen from terms that are or are not. What is computed from the variable is not it.
    pub fn is_chosen(&mut self, term: Term, variable: Term) -> Term {
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        let mut todo = vec![term];
        while let Some(&next) = todo.last() {
            let Node::Ite(cond, a, b) = self.node(next) else {
                let same = self.bool(next == variable);
                known.insert(next, same);
                todo.pop();
                continue;
            };
            match (known.get(&a).copied(), known.get(&b).copied()) {
                (Some(a), Some(b)) => {
                    let chosen = self.ite(cond, a, b);
                    known.insert(next, chosen);
                    todo.pop();
                }
                (first, second) => {
                    todo.extend([(a, first), (b, second)].into_iter().filter(|x| x.1.is_none()).map(|x| x.0))
                }
            }
        }
        known[&term]
    }

    /// The first with a field of it replaced by one of the second.
    fn splice(&mut self, a: Term, to: Field, b: Term, from: u8) -> Term {
        let part = self.extract(b, from, to.width);
        let (end, width) = (to.shift + to.width, self.width(a));
        let lower = if to.shift == 0 {
            part
        } else {
            let low = self.extract(a, 0, to.shift);
            self.concat(part, low)
        };
        if end == width {
            return lower;
        }
        let high = self.extract(a, end, width - end);
        self.concat(high, lower)
    }

    /// `op a` as programs compute it; `None` for floating-point numbers.
    pub fn unary(&mut self, op: UnOp, a: Term) -> Option<Term> {
        match op {
            UnOp::Not => Some(self.not(a)),
            UnOp::Neg => Some(self.neg(a)),
            UnOp::Float(_) => None,
        }
    }

    /// `a op b` as programs compute it, where a divisor is not zero; `None` for floating-point numbers.
    pub fn binary(&mut self, op: BinOp, a: Term, b: Term) -> Option<Term> {
        Some(match op {
            BinOp::Add => self.add(a, b),
            BinOp::Sub => self.sub(a, b),
            BinOp::Mul => self.mul(a, b),
            BinOp::UDiv => self.udiv(a, b),
            BinOp::URem => self.urem(a, b),
            BinOp::SDiv => {
                let (sa, sb) = (self.sign_bit(a), self.sign_bit(b));
                let (a, b) = (self.negated_if(sa, a), self.negated_if(sb, b));
                let (quotient, differ) = (self.udiv(a, b), self.xor(sa, sb));
                self.negated_if(differ, quotient)
            }
            BinOp::SRem => {
                let (sa, sb) = (self.sign_bit(a), self.sign_bit(b));
                let (a, b) = (self.negated_if(sa, a), self.negated_if(sb, b));
                let rest = self.urem(a, b);
                self.negated_if(sa, rest)
            }
            BinOp::And => self.and(a, b),
            BinOp::Or => self.or(a, b),
            BinOp::Xor => self.xor(a, b),
            BinOp::Shl => self.shift(Node::Shl, a, b),
            BinOp::LShr => self.shift(Node::LShr, a, b),
            BinOp::AShr => self.shift(Node::AShr, a, b),
            BinOp::Eq => self.eq(a, b),
            BinOp::Ne => self.ne(a, b),
            BinOp::ULt => self.ult(a, b),
            BinOp::ULe => {
                let less = self.ult(b, a);
                self.not(less)
            }
            BinOp::SLt => self.slt(a, b),
            BinOp::SLe => {
                let less = self.slt(b, a);
                self.not(less)
            }
            BinOp::Splice(Splice { to, from }) => self.splice(a, to, b, from),
            BinOp::Float(_) => return None,
        })
    }

    /// A change of type as programs do it; `None` for floating-point numbers and for numbers of addresses.
    pub fn cast(&mut self, op: CastOp, to: Type, a: Term) -> Option<Term> {
        let width = to.bits() as u8;
        match op {
            CastOp::ZExt | CastOp::Trunc => Some(self.resize(a, width)),
            CastOp::SExt => Some(self.sext(a, width)),
            CastOp::Pack | CastOp::Unpack | CastOp::Float(_) => None,
        }
    }
}
