//! Random terms: what they come to is what the program's own operators come to, through rewriting, by definition and in circuits.

use raddle_program::{BinOp, CastOp, Type, UnOp};
use raddle_solve::{Answer, Lit, Sat, Solver, Stop, Term, Terms, eval};
use raddle_testkit::Random;
use rustc_hash::FxHashMap;

/// A term of a type, beside what it comes to.
#[derive(Clone, Copy)]
struct Known {
    ty: Type,
    term: Term,
    value: u64,
}

struct Maker {
    random: Random,
    terms: Terms,
    vars: FxHashMap<Term, u64>,
    pool: Vec<Known>,
    divisions: u32,
}

impl Maker {
    fn new(seed: u64) -> Self {
        Maker {
            random: Random::new(seed),
            terms: Terms::new(),
            vars: FxHashMap::default(),
            pool: Vec::new(),
            divisions: 0,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn number(&mut self, ty: Type) -> u64 {
        let number = match self.below(4) {
            0 => self.below(4) as u64,
            1 => (self.below(4) as i64).wrapping_neg() as u64,
            2 => 1 << self.below(64),
            _ => self.random.number(),
        };
        ty.truncate(number)
    }

    fn leaf(&mut self, ty: Type) -> Known {
        let value = self.number(ty);
        let width = ty.bits() as u8;
        let term = if self.below(3) == 0 {
            self.terms.constant(width, value)
        } else {
            let term = self.terms.var(width);
            self.vars.insert(term, value);
            term
        };
        Known { ty, term, value }
    }

    /// Something of this type that is there, or something new.
    fn some(&mut self, ty: Type) -> Known {
        let fitting: Vec<Known> = self.pool.iter().copied().filter(|known| known.ty == ty).collect();
        if fitting.is_empty() || self.below(4) == 0 { self.leaf(ty) } else { fitting[self.below(fitting.len())] }
    }

    fn grow(&mut self) {
        const TYPES: [Type; 5] = [Type::I1, Type::I8, Type::I16, Type::I32, Type::I64];
        let ty = TYPES[self.below(5)];
        let made = match self.below(8) {
            0 => {
                let a = self.some(ty);
                let op = if self.below(2) == 0 { UnOp::Not } else { UnOp::Neg };
                let term = self.terms.unary(op, a.term).expect("no floating point");
                Known { ty, term, value: op.apply(ty, a.value) }
            }
            1 => {
                let to = TYPES[self.below(5)];
                let op = match (ty.bits().cmp(&to.bits()), self.below(2)) {
                    (std::cmp::Ordering::Less, 0) => CastOp::ZExt,
                    (std::cmp::Ordering::Less, _) => CastOp::SExt,
                    (std::cmp::Ordering::Greater, _) => CastOp::Trunc,
                    _ => return,
                };
                let a = self.some(ty);
                let term = self.terms.cast(op, to, a.term).expect("of numbers");
                Known { ty: to, term, value: op.apply(ty, to, a.value).expect("of numbers") }
            }
            2 => {
                let (cond, a, b) = (self.some(Type::I1), self.some(ty), self.some(ty));
                let term = self.terms.ite(cond.term, a.term, b.term);
                Known { ty, term, value: if cond.value != 0 { a.value } else { b.value } }
            }
            _ => {
                let op = BinOp::ALL[self.below(BinOp::ALL.len())];
                let (a, b) = (self.some(ty), self.some(ty));
                let Some(value) = op.apply(ty, a.value, b.value) else { return };
                self.divisions += u32::from(matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem));
                let term = self.terms.binary(op, a.term, b.term).expect("no floating point");
                Known { ty: if op.is_comparison() { Type::I1 } else { ty }, term, value }
            }
        };
        assert_eq!(u32::from(self.terms.width(made.term)), made.ty.bits());
        self.pool.push(made);
    }
}

#[test]
fn terms_mean_what_programs_compute() {
    let mut divisions = 0;
    for seed in 0..600 {
        let mut maker = Maker::new(seed);
        for _ in 0..60 {
            maker.grow();
        }
        for known in &maker.pool {
            assert_eq!(eval(&maker.terms, &maker.vars, known.term), known.value, "seed {seed}");
        }
        divisions += maker.divisions;
    }
    assert!(divisions > 2000, "{divisions}");
}

#[test]
fn circuits_mean_what_programs_compute() {
    let mut asked = 0;
    for seed in 1000..1120 {
        let mut maker = Maker::new(seed);
        for _ in 0..30 {
            maker.grow();
        }
        let mut solver = Solver::new(Stop::new());
        for (&var, &value) in &maker.vars {
            let value = maker.terms.constant(maker.terms.width(var), value);
            let fixed = maker.terms.eq(var, value);
            solver.assert(&maker.terms, fixed);
        }
        let mut wrong = Vec::new();
        for known in &maker.pool {
            let value = maker.terms.constant(maker.terms.width(known.term), known.value);
            let differs = maker.terms.ne(known.term, value);
            wrong.push(solver.lit(&maker.terms, differs));
        }
        assert_eq!(solver.solve(&[]), Answer::Sat);
        for known in &maker.pool {
            assert_eq!(solver.value(&maker.terms, known.term), known.value, "seed {seed}");
        }
        for lit in wrong {
            assert_eq!(solver.solve(&[lit]), Answer::Unsat, "seed {seed}");
            asked += 1;
        }
    }
    assert!(asked > 2500, "{asked}");
}

#[test]
fn what_is_asked_of_all_inputs_is_found_among_them() {
    let mut terms = Terms::new();
    let x = terms.var(32);
    let seven = terms.constant(32, 7);
    let target = terms.constant(32, 0xdead_beef);
    let product = terms.mul(x, seven);
    let hit = terms.eq(product, target);
    let mut solver = Solver::new(Stop::new());
    let hit = solver.lit(&terms, hit);
    assert_eq!(solver.solve(&[hit]), Answer::Sat);
    let found = solver.value(&terms, x) as u32;
    assert_eq!(found.wrapping_mul(7), 0xdead_beef);
    let (zero, two) = (terms.constant(32, 0), terms.constant(32, 2));
    let doubled = terms.mul(x, two);
    let (one, odd) = (terms.constant(32, 1), terms.and(doubled, target));
    let bit = terms.and(odd, one);
    let never = terms.ne(bit, zero);
    let never = solver.lit(&terms, never);
    assert_eq!(solver.solve(&[hit, never]), Answer::Unsat);
    assert!(solver.sat.failed(never) || never == Lit::FALSE);
    assert_eq!(solver.solve(&[hit]), Answer::Sat, "assumptions are forgotten");
}

/// Sixteen pigeons do not fit into fifteen holes, which takes resolution longer than anybody waits.
#[test]
fn a_solver_that_is_told_to_stop_stops() {
    let stop = Stop::new();
    let mut sat = Sat::new(stop.clone());
    let sits: Vec<Vec<Lit>> = (0..16).map(|_| (0..15).map(|_| sat.var()).collect()).collect();
    for (pigeon, holes) in sits.iter().enumerate() {
        sat.add(holes);
        for other in &sits[pigeon + 1..] {
            for (&here, &there) in holes.iter().zip(other) {
                sat.add(&[!here, !there]);
            }
        }
    }
    let raiser = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        stop.raise();
    });
    assert_eq!(sat.solve(&[]), Answer::Unknown);
    raiser.join().expect("it raises and ends");
}
