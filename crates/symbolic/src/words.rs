//! What instructions compute, on terms: operators, changes of type, what updates write, conditions of waits. The machine says the same on numbers (`thread.rs`, `condition.rs`).
//!
//! Values of slots are numbers of 64 bits, as in the machine. What has no circuit is refused with a reason, to which whoever asks adds the place.

use raddle_machine::code::Slot;
use raddle_machine::condition::{Condition, Source, Step};
use raddle_program::{BinOp, CastOp, RmwOp, Type, UnOp};
use raddle_solve::{Term, Terms};

/// Why something is not computed on terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTerm {
    /// It is about floating-point numbers.
    Float,
    /// It is about addresses of 32 bits.
    Narrow,
    /// It is a wait for an address.
    Address,
}

impl NoTerm {
    /// What an engine does not take.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            NoTerm::Float => "no floating-point numbers",
            NoTerm::Narrow => "no addresses of 32 bits",
            NoTerm::Address => "no wait for an address",
        }
    }
}

/// How many bits values of a type have.
pub(crate) fn bits(ty: Type) -> u8 {
    ty.bits() as u8
}

/// Whether a number is not zero.
pub(crate) fn holds(terms: &mut Terms, value: Term) -> Term {
    let zero = terms.constant(terms.width(value), 0);
    terms.ne(value, zero)
}

/// `op a`.
pub(crate) fn unary(terms: &mut Terms, op: UnOp, ty: Type, a: Term) -> Result<Term, NoTerm> {
    let a = terms.resize(a, bits(ty));
    terms.unary(op, a).ok_or(NoTerm::Float)
}

/// `a op b`, and whether there is no such number because it is a division by zero. Arithmetic of pointers is another matter.
pub(crate) fn binary(terms: &mut Terms, op: BinOp, ty: Type, a: Term, b: Term) -> Result<(Term, Term), NoTerm> {
    let a = terms.resize(a, bits(ty));
    // The operands of all others have one type.
    let b = if let BinOp::Splice(_) = op { b } else { terms.resize(b, bits(ty)) };
    let divides = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
    let zero = terms.constant(bits(ty), 0);
    let fails = if divides { terms.eq(b, zero) } else { terms.bool(false) };
    Ok((terms.binary(op, a, b).ok_or(NoTerm::Float)?, fails))
}

/// A change of type.
pub(crate) fn cast(terms: &mut Terms, op: CastOp, from: Type, to: Type, a: Term) -> Result<Term, NoTerm> {
    let a = terms.resize(a, bits(from));
    let why = if op.numbers_addresses() { NoTerm::Narrow } else { NoTerm::Float };
    terms.cast(op, to, a).ok_or(why)
}

/// What an update makes of a value.
pub(crate) fn changed(terms: &mut Terms, op: RmwOp, old: Term, operand: Term) -> Term {
    match op {
        RmwOp::Add => terms.add(old, operand),
        RmwOp::Sub => terms.sub(old, operand),
        RmwOp::And => terms.and(old, operand),
        RmwOp::Or => terms.or(old, operand),
        RmwOp::Xor => terms.xor(old, operand),
        RmwOp::Nand => {
            let both = terms.and(old, operand);
            terms.not(both)
        }
        RmwOp::Xchg => operand,
        RmwOp::Min | RmwOp::Max => {
            let less = terms.slt(old, operand);
            if op == RmwOp::Min { terms.ite(less, old, operand) } else { terms.ite(less, operand, old) }
        }
        RmwOp::UMin | RmwOp::UMax => {
            let less = terms.ult(old, operand);
            if op == RmwOp::UMin { terms.ite(less, old, operand) } else { terms.ite(less, operand, old) }
        }
    }
}

/// Where a pointer gets to that is moved, as `Addr::moved` says: these are where the objects are that it can point into, each by the first address that belongs to it and how many do.
pub(crate) fn moved(terms: &mut Terms, pointer: Term, by: Term, rooms: &[(u64, u64)]) -> Term {
    let to = terms.add(pointer, by);
    let mut stays = terms.bool(false);
    for &(first, count) in rooms {
        let (minus, count) = (terms.constant(64, first.wrapping_neg()), terms.constant(64, count));
        let (here, there) = (terms.add(pointer, minus), terms.add(to, minus));
        let (here, there) = (terms.ult(here, count), terms.ult(there, count));
        let both = terms.and(here, there);
        stays = terms.or(stays, both);
    }
    let (low, one) = (terms.constant(64, 0x3fff_ffff), terms.constant(64, 1));
    let far = terms.and(to, low);
    let far = terms.or(far, one);
    terms.ite(stays, to, far)
}

/// Who computes on terms: knows the slots of a frame, where pointers point, and what is to be said of what it does not take.
pub(crate) trait Computer {
    /// Why it goes no further.
    type Error;

    fn terms(&mut self) -> &mut Terms;

    /// What stands in a slot of the running frame.
    fn slot(&mut self, slot: Slot) -> Term;

    /// Where a pointer gets to that is moved.
    fn moved(&mut self, pointer: Term, by: Term) -> Result<Term, Self::Error>;

    fn refused(&self, why: NoTerm) -> Self::Error;

    /// What was computed, or that it is not taken.
    fn taken<T>(&self, value: Result<T, NoTerm>) -> Result<T, Self::Error> {
        value.map_err(|why| self.refused(why))
    }

    /// `a op b`, and whether there is no such number because it is a division by zero.
    fn binary(&mut self, op: BinOp, ty: Type, a: Term, b: Term) -> Result<(Term, Term), Self::Error> {
        if ty == Type::Ptr && op == BinOp::Add {
            let no = self.terms().bool(false);
            return Ok((self.moved(a, b)?, no));
        }
        let value = binary(self.terms(), op, ty, a, b);
        self.taken(value)
    }

    /// What a condition on what was found comes to, and whether that cannot be said because of a division by zero.
    fn condition(&mut self, condition: &Condition, found: Term) -> Result<(Term, Term), Self::Error> {
        let found = self.terms().zext(found, 64);
        let mut results: Vec<Term> = Vec::new();
        let mut fails = self.terms().bool(false);
        for &step in &condition.steps {
            let result = match step {
                Step::Un { op, ty, a } => {
                    let a = self.source(&results, found, a);
                    let value = unary(self.terms(), op, ty, a);
                    self.taken(value)?
                }
                Step::Bin { op, ty, a, b } => {
                    let (a, b) = (self.source(&results, found, a), self.source(&results, found, b));
                    let (value, failed) = self.binary(op, ty, a, b)?;
                    fails = self.terms().or(fails, failed);
                    value
                }
                Step::Cast { op, from, to, a } => {
                    let a = self.source(&results, found, a);
                    let value = cast(self.terms(), op, from, to, a);
                    self.taken(value)?
                }
                Step::Select { cond, a, b } => {
                    let [cond, a, b] = [cond, a, b].map(|source| self.source(&results, found, source));
                    let cond = holds(self.terms(), cond);
                    self.terms().ite(cond, a, b)
                }
                Step::Local(_) | Step::ThreadLocal(_) => return Err(self.refused(NoTerm::Address)),
            };
            let result = self.terms().zext(result, 64);
            results.push(result);
        }
        Ok((self.source(&results, found, condition.result), fails))
    }

    fn source(&mut self, results: &[Term], found: Term, source: Source) -> Term {
        match source {
            Source::Found => found,
            Source::Slot(number) => self.slot(number),
            Source::Constant(value) => self.terms().constant(64, value),
            Source::Step(step) => results[step as usize],
        }
    }
}

/// Whether a value is one of an unknown input's.
pub(crate) fn among(terms: &mut Terms, value: Term, ranges: impl IntoIterator<Item = (u64, u64)>) -> Term {
    let width = terms.width(value);
    let mut among = Vec::new();
    for (low, high) in ranges {
        let (low, high) = (terms.constant(width, low), terms.constant(width, high));
        let (below, above) = (terms.ult(value, low), terms.ult(high, value));
        let outside = terms.or(below, above);
        among.push(terms.not(outside));
    }
    terms.any(among)
}
