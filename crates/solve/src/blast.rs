//! From terms to circuits of literals.
//!
//! Each bit of a term is a literal. Gates with constant or equal inputs need no clauses, equal gates are made once. Sums are ripple-carry adders,
//! products rows of them, quotients restoring division, shifts rows of multiplexers.
//!
//! Cost: linear in the bits of a term, quadratic for products and quotients.

use crate::sat::{Lit, Sat};
use crate::term::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// Which literals the bits of terms are, the lowest first.
#[derive(Debug, Default)]
pub(crate) struct Circuits {
    bits: Vec<Lit>,
    /// Where the bits of a term begin.
    starts: FxHashMap<Term, u32>,
    ands: FxHashMap<(Lit, Lit), Lit>,
    xors: FxHashMap<(Lit, Lit), Lit>,
    muxes: FxHashMap<(Lit, Lit, Lit), Lit>,
}

impl Circuits {
    /// The bits of a term, if it has been made a circuit.
    pub(crate) fn get(&self, terms: &Terms, term: Term) -> Option<&[Lit]> {
        let start = *self.starts.get(&term)? as usize;
        Some(&self.bits[start..start + usize::from(terms.width(term))])
    }

    /// The bits of a term.
    pub(crate) fn make(&mut self, sat: &mut Sat, terms: &Terms, term: Term) -> Vec<Lit> {
        let mut todo = vec![term];
        while let Some(&top) = todo.last() {
            if self.starts.contains_key(&top) {
                todo.pop();
                continue;
            }
            let before = todo.len();
            terms.for_each_operand(top, |operand| {
                if !self.starts.contains_key(&operand) {
                    todo.push(operand);
                }
            });
            if todo.len() == before {
                let bits = self.node(sat, terms, top);
                debug_assert_eq!(bits.len(), usize::from(terms.width(top)));
                self.starts.insert(top, self.bits.len() as u32);
                self.bits.extend(bits);
                todo.pop();
            }
        }
        self.get(terms, term).expect("just made").to_vec()
    }

    fn node(&mut self, sat: &mut Sat, terms: &Terms, term: Term) -> Vec<Lit> {
        let width = usize::from(terms.width(term));
        let of = |circuits: &Circuits, operand: Term| circuits.get(terms, operand).expect("made before").to_vec();
        match terms.node(term) {
            Node::Const(value) => {
                (0..width).map(|bit| if value >> bit & 1 == 1 { Lit::TRUE } else { Lit::FALSE }).collect()
            }
            Node::Var(_) => (0..width).map(|_| sat.var()).collect(),
            Node::Not(a) => of(self, a).into_iter().map(|bit| !bit).collect(),
            Node::And(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                a.into_iter().zip(b).map(|(a, b)| self.and(sat, a, b)).collect()
            }
            Node::Xor(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                a.into_iter().zip(b).map(|(a, b)| self.xor(sat, a, b)).collect()
            }
            Node::Add(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                self.add(sat, &a, &b, Lit::FALSE).0
            }
            Node::Mul(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                self.mul(sat, &a, &b)
            }
            Node::UDiv(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                self.div(sat, &a, &b).0
            }
            Node::URem(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                self.div(sat, &a, &b).1
            }
            Node::Shl(a, b) => {
                let (mut a, b) = (of(self, a), of(self, b));
                // To the right in the mirror.
                a.reverse();
                let mut shifted = self.shift(sat, a, &b, Lit::FALSE);
                shifted.reverse();
                shifted
            }
            Node::LShr(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                self.shift(sat, a, &b, Lit::FALSE)
            }
            Node::AShr(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                let sign = a[width - 1];
                self.shift(sat, a, &b, sign)
            }
            Node::Eq(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                let same: Vec<Lit> = a.into_iter().zip(b).map(|(a, b)| !self.xor(sat, a, b)).collect();
                vec![self.all(sat, same)]
            }
            Node::ULt(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                vec![!self.at_least(sat, &a, &b)]
            }
            Node::Ite(cond, a, b) => {
                let (cond, a, b) = (of(self, cond)[0], of(self, a), of(self, b));
                a.into_iter().zip(b).map(|(a, b)| self.mux(sat, cond, a, b)).collect()
            }
            Node::Concat(high, low) => {
                let (high, mut bits) = (of(self, high), of(self, low));
                bits.extend(high);
                bits
            }
            Node::Extract(a, from) => of(self, a)[usize::from(from)..][..width].to_vec(),
            Node::SExt(a) => {
                let mut bits = of(self, a);
                let sign = *bits.last().expect("a term has a bit");
                bits.resize(width, sign);
                bits
            }
        }
    }

    pub(crate) fn and(&mut self, sat: &mut Sat, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (a.as_bool(), b.as_bool()) {
            (Some(false), _) | (_, Some(false)) => return Lit::FALSE,
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            _ if a == b => return a,
            _ if a == !b => return Lit::FALSE,
            _ => {}
        }
        *self.ands.entry((a, b)).or_insert_with(|| {
            let both = sat.var();
            sat.add(&[!both, a]);
            sat.add(&[!both, b]);
            sat.add(&[both, !a, !b]);
            both
        })
    }

    fn all(&mut self, sat: &mut Sat, mut lits: Vec<Lit>) -> Lit {
        lits.retain(|&lit| lit != Lit::TRUE);
        if lits.contains(&Lit::FALSE) {
            return Lit::FALSE;
        }
        match lits[..] {
            [] => Lit::TRUE,
            [one] => one,
            [one, other] => self.and(sat, one, other),
            _ => {
                let all = sat.var();
                for &lit in &lits {
                    sat.add(&[!all, lit]);
                }
                let mut clause: Vec<Lit> = lits.into_iter().map(|lit| !lit).collect();
                clause.push(all);
                sat.add(&clause);
                all
            }
        }
    }

    fn or(&mut self, sat: &mut Sat, a: Lit, b: Lit) -> Lit {
        !self.and(sat, !a, !b)
    }

    fn xor(&mut self, sat: &mut Sat, a: Lit, b: Lit) -> Lit {
        match (a.as_bool(), b.as_bool()) {
            (Some(known), _) => return if known { !b } else { b },
            (_, Some(known)) => return if known { !a } else { a },
            _ if a == b => return Lit::FALSE,
            _ if a == !b => return Lit::TRUE,
            _ => {}
        }
        // The gate of the variables; signs go to the output.
        let (x, y) = (Lit(a.0.abs()), Lit(b.0.abs()));
        let (x, y) = (x.min(y), x.max(y));
        let differ = *self.xors.entry((x, y)).or_insert_with(|| {
            let differ = sat.var();
            sat.add(&[!differ, x, y]);
            sat.add(&[!differ, !x, !y]);
            sat.add(&[differ, !x, y]);
            sat.add(&[differ, x, !y]);
            differ
        });
        if (a.0 < 0) == (b.0 < 0) { differ } else { !differ }
    }

    fn mux(&mut self, sat: &mut Sat, cond: Lit, a: Lit, b: Lit) -> Lit {
        if a == b || cond == Lit::TRUE {
            return a;
        }
        if cond == Lit::FALSE {
            return b;
        }
        if a == !b {
            return !self.xor(sat, cond, a);
        }
        if a.as_bool() == Some(true) || a == cond {
            return self.or(sat, cond, b);
        }
        if a.as_bool() == Some(false) || a == !cond {
            return self.and(sat, !cond, b);
        }
        if b.as_bool() == Some(true) || b == !cond {
            return self.or(sat, !cond, a);
        }
        if b.as_bool() == Some(false) || b == cond {
            return self.and(sat, cond, a);
        }
        if cond.0 < 0 {
            return self.mux(sat, !cond, b, a);
        }
        *self.muxes.entry((cond, a, b)).or_insert_with(|| {
            let chosen = sat.var();
            sat.add(&[!cond, !a, chosen]);
            sat.add(&[!cond, a, !chosen]);
            sat.add(&[cond, !b, chosen]);
            sat.add(&[cond, b, !chosen]);
            chosen
        })
    }

    /// The majority of three.
    fn carry(&mut self, sat: &mut Sat, a: Lit, b: Lit, c: Lit) -> Lit {
        let (both, any) = (self.and(sat, a, b), self.or(sat, a, b));
        let more = self.and(sat, any, c);
        self.or(sat, both, more)
    }

    /// The sum, and what is carried out of it.
    fn add(&mut self, sat: &mut Sat, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Vec<Lit>, Lit) {
        let mut sum = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let half = self.xor(sat, a, b);
            sum.push(self.xor(sat, half, carry));
            carry = self.carry(sat, a, b, carry);
        }
        (sum, carry)
    }

    /// Whether `a >= b` without signs: `a - b` does not borrow.
    fn at_least(&mut self, sat: &mut Sat, a: &[Lit], b: &[Lit]) -> Lit {
        let mut carry = Lit::TRUE;
        for (&a, &b) in a.iter().zip(b) {
            carry = self.carry(sat, a, !b, carry);
        }
        carry
    }

    fn mul(&mut self, sat: &mut Sat, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let width = a.len();
        let mut sum = vec![Lit::FALSE; width];
        for (place, &bit) in b.iter().enumerate() {
            if bit == Lit::FALSE {
                continue;
            }
            let row: Vec<Lit> = a[..width - place].iter().map(|&a| self.and(sat, a, bit)).collect();
            let (upper, _) = self.add(sat, &sum[place..], &row, Lit::FALSE);
            sum.truncate(place);
            sum.extend(upper);
        }
        sum
    }

    /// Quotient and remainder; all ones and `a` if `b` is zero, as it comes.
    fn div(&mut self, sat: &mut Sat, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
        let width = a.len();
        let mut quotient = vec![Lit::FALSE; width];
        // One bit more than the divisor, so that doubling loses nothing.
        let mut divisor = b.to_vec();
        divisor.push(Lit::FALSE);
        let inverse: Vec<Lit> = divisor.iter().map(|&bit| !bit).collect();
        let mut rest = vec![Lit::FALSE; width + 1];
        for place in (0..width).rev() {
            rest.insert(0, a[place]);
            rest.truncate(width + 1);
            let (less, fits) = self.add(sat, &rest, &inverse, Lit::TRUE);
            quotient[place] = fits;
            rest = rest.into_iter().zip(less).map(|(old, new)| self.mux(sat, fits, new, old)).collect();
        }
        rest.truncate(width);
        (quotient, rest)
    }

    /// To the right, filled with `fill`.
    fn shift(&mut self, sat: &mut Sat, mut a: Vec<Lit>, by: &[Lit], fill: Lit) -> Vec<Lit> {
        let width = a.len();
        let mut too_far = Lit::FALSE;
        for (power, &bit) in by.iter().enumerate() {
            let far = 1usize.checked_shl(power as u32).filter(|&far| far < width);
            match far {
                None => too_far = self.or(sat, too_far, bit),
                Some(far) => {
                    let shifted = |at: usize| a.get(at + far).copied().unwrap_or(fill);
                    let moved: Vec<Lit> = (0..width).map(shifted).collect();
                    a = a.into_iter().zip(moved).map(|(old, new)| self.mux(sat, bit, new, old)).collect();
                }
            }
        }
        a.into_iter().map(|bit| self.mux(sat, too_far, fill, bit)).collect()
    }
}
