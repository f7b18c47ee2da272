//! What a register holds, as a function of the input.

use super::values::Values;
use crate::expr::{BinOp, CastOp, Expr, UnOp};
use crate::program::{Function, Reg};
use crate::types::Type;
use rustc_hash::FxHashMap;

/// No more pieces than this.
const MAX_PIECES: usize = 64;

/// A function of the input. What does not depend on it has no view.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum View {
    /// Different for different inputs: these steps from it, one after the other.
    Injective { steps: Vec<Step>, ty: Type },
    /// One constant on each of these sets, which have no value in common and make up all values together.
    Pieces(Vec<(Values, u64)>),
    /// Some function of the input and of other things.
    Opaque,
}

/// A function that loses nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Adds a constant, in this type.
    Add(Type, u64),
    /// Takes the complement of all bits.
    Invert(Type),
    /// Fills up with zeros.
    ZExt { from: Type },
    /// Fills up with the sign.
    SExt { from: Type, to: Type },
}

impl Step {
    /// The values that the step leads into the set.
    fn before(self, after: &Values) -> Values {
        match self {
            Step::Add(ty, by) => after.shifted(ty, by.wrapping_neg()),
            Step::Invert(ty) => after.inverted(ty),
            Step::ZExt { from } => after.intersection(&Values::all(from)),
            Step::SExt { from, to } => {
                let half = from.mask() >> 1;
                let positive = after.intersection(&Values::range(0, half));
                let negative = after.intersection(&Values::range(to.mask() - half, to.mask()));
                positive.union(&negative.shifted(from, 0))
            }
        }
    }
}

impl View {
    pub(super) fn input(ty: Type) -> View {
        View::Injective { steps: Vec::new(), ty }
    }

    /// The inputs for which the value is one of these.
    fn inputs_for(steps: &[Step], values: &Values) -> Values {
        steps.iter().rev().fold(values.clone(), |after, step| step.before(&after))
    }

    /// The inputs for which the value is not zero, if that is known.
    pub(super) fn truth(&self) -> Option<Values> {
        match self {
            View::Pieces(pieces) => {
                let none = Values::none();
                Some(pieces.iter().filter(|piece| piece.1 != 0).fold(none, |all, piece| all.union(&piece.0)))
            }
            _ => None,
        }
    }

    /// The inputs for which the value is this one, if that is known.
    pub(super) fn equal_to(&self, value: u64) -> Option<Values> {
        match self {
            View::Injective { steps, .. } => Some(View::inputs_for(steps, &Values::one(value))),
            View::Pieces(pieces) => {
                let none = Values::none();
                Some(pieces.iter().filter(|piece| piece.1 == value).fold(none, |all, piece| all.union(&piece.0)))
            }
            View::Opaque => None,
        }
    }

    fn pieces(pieces: Vec<(Values, u64)>) -> View {
        let mut merged: Vec<(Values, u64)> = Vec::new();
        for (values, constant) in pieces.into_iter().filter(|piece| !piece.0.is_empty()) {
            match merged.iter_mut().find(|piece| piece.1 == constant) {
                Some(piece) => piece.0 = piece.0.union(&values),
                None => merged.push((values, constant)),
            }
        }
        if merged.len() <= MAX_PIECES { View::Pieces(merged) } else { View::Opaque }
    }

    /// What is true on this set only.
    fn truth_on(values: Values, input: Type) -> View {
        let others = values.complement(input);
        View::pieces(vec![(values, 1), (others, 0)])
    }

    fn mapped(self, map: impl Fn(u64) -> Option<u64>) -> View {
        let View::Pieces(pieces) = self else { return View::Opaque };
        let mapped = pieces.into_iter().map(|(values, constant)| Some((values, map(constant)?))).collect();
        Option::map_or(mapped, View::Opaque, View::pieces)
    }
}

/// The registers of an activation that depend on the input.
pub(super) type Environment = FxHashMap<Reg, View>;

/// How expressions of one activation depend on the input.
pub(super) struct Viewer<'e> {
    pub(super) function: &'e Function,
    pub(super) known: &'e Environment,
    /// The type of the input.
    pub(super) input: Type,
}

impl Viewer<'_> {
    /// Whether the expression mentions a register that depends on the input.
    pub(super) fn depends(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| found |= matches!(part, Expr::Reg(reg) if self.known.contains_key(reg)));
        found
    }

    /// What the expression is, if it depends on the input.
    pub(super) fn view(&self, expr: &Expr) -> Option<View> {
        if !self.depends(expr) {
            return None;
        }
        Some(match expr {
            Expr::Reg(reg) => self.known[reg].clone(),
            Expr::Unary(op, a) => self.unary(*op, self.view(a)?, self.function.expr_type(a)),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Cast(op, to, a) => self.cast(*op, self.function.expr_type(a), *to, self.view(a)?),
            Expr::Select(cond, a, b) => self.select(cond, a, b),
            Expr::Const(..) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => return None,
        })
    }

    fn unary(&self, op: UnOp, a: View, ty: Type) -> View {
        match a {
            View::Injective { .. } if matches!(op, UnOp::Float(_)) => View::Opaque,
            View::Injective { mut steps, .. } => {
                steps.push(Step::Invert(ty));
                if op == UnOp::Neg {
                    steps.push(Step::Add(ty, 1));
                }
                View::Injective { steps, ty }
            }
            other => other.mapped(|value| Some(op.apply(ty, value))),
        }
    }

    fn cast(&self, op: CastOp, from: Type, to: Type, a: View) -> View {
        match a {
            View::Injective { mut steps, .. } => {
                match (op, steps.last()) {
                    (CastOp::ZExt, _) => steps.push(Step::ZExt { from }),
                    (CastOp::SExt, _) => steps.push(Step::SExt { from, to }),
                    (CastOp::Trunc, Some(Step::ZExt { from: narrow } | Step::SExt { from: narrow, .. }))
                        if *narrow == to =>
                    {
                        steps.pop();
                    }
                    _ => return View::Opaque,
                }
                View::Injective { steps, ty: to }
            }
            other => other.mapped(|value| op.apply(from, to, value)),
        }
    }

    fn select(&self, cond: &Expr, a: &Expr, b: &Expr) -> View {
        let (Some(cond), Some(a), Some(b)) = (self.split(cond), self.split(a), self.split(b)) else {
            return View::Opaque;
        };
        let mut pieces = Vec::new();
        for (values, truth) in cond {
            let side = if truth != 0 { &a } else { &b };
            pieces.extend(side.iter().map(|(other, constant)| (values.intersection(other), *constant)));
        }
        View::pieces(pieces)
    }

    /// The expression as constants on sets of inputs.
    fn split(&self, expr: &Expr) -> Option<Vec<(Values, u64)>> {
        match (expr, self.view(expr)) {
            (Expr::Const(_, value), _) => Some(vec![(Values::all(self.input), *value)]),
            (_, Some(View::Pieces(pieces))) => Some(pieces),
            _ => None,
        }
    }

    fn binary(&self, op: BinOp, a: &Expr, b: &Expr) -> View {
        let ty = self.function.expr_type(a);
        if let (Some(left), Some(right)) = (self.split(a), self.split(b)) {
            let mut pieces = Vec::new();
            for (values, x) in &left {
                for (others, y) in &right {
                    let Some(result) = op.apply(ty, *x, *y) else { return View::Opaque };
                    pieces.push((values.intersection(others), result));
                }
            }
            return View::pieces(pieces);
        }
        match (self.view(a), self.view(b), a, b) {
            (Some(View::Injective { steps, .. }), None, _, Expr::Const(_, c)) => self.with_constant(op, ty, steps, *c),
            (None, Some(View::Injective { steps, .. }), Expr::Const(_, c), _) => self.constant_with(op, ty, *c, steps),
            _ => View::Opaque,
        }
    }

    /// `view op c`.
    fn with_constant(&self, op: BinOp, ty: Type, mut steps: Vec<Step>, c: u64) -> View {
        let (mask, half) = (ty.mask(), ty.mask() >> 1);
        let (signed, least) = (ty.signed(c), -(half as i64) - 1);
        let on = |values: Values| View::truth_on(View::inputs_for(&steps, &values), self.input);
        match op {
            BinOp::Add => steps.push(Step::Add(ty, c)),
            BinOp::Sub => steps.push(Step::Add(ty, c.wrapping_neg())),
            BinOp::Xor if c == mask => steps.push(Step::Invert(ty)),
            BinOp::Eq => return on(Values::one(c)),
            BinOp::Ne => return on(Values::one(c).complement(ty)),
            BinOp::ULt => return on(c.checked_sub(1).map_or(Values::none(), |most| Values::range(0, most))),
            BinOp::ULe => return on(Values::range(0, c)),
            BinOp::SLt if signed == least => return on(Values::none()),
            BinOp::SLt => return on(Values::signed_range(ty, least, signed - 1)),
            BinOp::SLe => return on(Values::signed_range(ty, least, signed)),
            _ => return View::Opaque,
        }
        View::Injective { steps, ty }
    }

    /// `c op view`.
    fn constant_with(&self, op: BinOp, ty: Type, c: u64, mut steps: Vec<Step>) -> View {
        let negated = |op| match self.with_constant(op, ty, steps.clone(), c) {
            View::Pieces(pieces) => View::Pieces(pieces).mapped(|truth| Some(u64::from(truth == 0))),
            other => other,
        };
        match op {
            BinOp::Add | BinOp::Xor | BinOp::Eq | BinOp::Ne => self.with_constant(op, ty, steps, c),
            // c - v is the complement of v, and c + 1.
            BinOp::Sub => {
                steps.extend([Step::Invert(ty), Step::Add(ty, c.wrapping_add(1))]);
                View::Injective { steps, ty }
            }
            BinOp::ULt => negated(BinOp::ULe),
            BinOp::ULe => negated(BinOp::ULt),
            BinOp::SLt => negated(BinOp::SLe),
            BinOp::SLe => negated(BinOp::SLt),
            _ => View::Opaque,
        }
    }
}
