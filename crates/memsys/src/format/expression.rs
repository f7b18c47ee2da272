//! Expressions: numbers, truths and members of enumerations; what they are worth in a state.

use super::layout::{Array, Element, Range, System};
use super::{InputError, Spot};

/// An operator between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Plus,
    Minus,
    Times,
    Remainder,
    Maximum,
    Minimum,
}

/// An expression with names resolved; truths are 0 and 1.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(i64),
    Local(usize),
    Cell(Element),
    /// A field of the message that was received.
    Field(Element),
    /// How many messages are in a channel.
    Length(Element),
    Not(Box<Expression>),
    Negative(Box<Expression>, Spot),
    Binary(Operator, Box<(Expression, Expression)>, Spot),
    /// Whether all (or any) in a range are so.
    Quantified {
        all: bool,
        slot: usize,
        range: Box<Range>,
        body: Box<Expression>,
    },
}

/// What expressions are evaluated in.
#[derive(Debug)]
pub(super) struct Scene<'s> {
    pub(super) system: &'s System,
    pub(super) state: Vec<i32>,
    pub(super) locals: Vec<i64>,
    /// The message that was received: its channel, the element of it and the place in the list.
    pub(super) message: Option<(usize, usize, usize)>,
    pub(super) steps: u64,
}

impl Scene<'_> {
    /// One more step of evaluation.
    pub(super) fn step(&mut self) -> Result<(), InputError> {
        let Some(left) = self.steps.checked_sub(1) else {
            let message = "expanding the system takes too many steps".to_owned();
            let help = Some("smaller parameters or narrower ranges make it smaller".to_owned());
            return Err(InputError { message, spot: None, help });
        };
        self.steps = left;
        Ok(())
    }

    pub(super) fn value(&mut self, expression: &Expression) -> Result<i64, InputError> {
        self.step()?;
        Ok(match expression {
            Expression::Number(number) => *number,
            Expression::Local(slot) => self.locals[*slot],
            Expression::Cell(element) => {
                let system = self.system;
                let cell = &system.cells[element.array];
                let at = cell.array.base + self.element(&cell.array, element)?;
                i64::from(self.state[at])
            }
            Expression::Field(element) => {
                let (channel, of, place) = self.message.expect("fields are known in rules that receive only");
                let channel = &self.system.channels[channel];
                let field = &channel.fields[element.array];
                let at = field.array.base + self.element(&field.array, element)?;
                i64::from(self.state[channel.state + of * channel.stride() + 1 + place * channel.width + at])
            }
            Expression::Length(element) => {
                let channel = &self.system.channels[element.array];
                let of = self.element(&channel.array, element)?;
                i64::from(self.state[channel.state + of * channel.stride()])
            }
            Expression::Not(inner) => 1 - self.value(inner)?,
            Expression::Negative(inner, spot) => self.value(inner)?.checked_neg().ok_or_else(|| overflow(*spot))?,
            Expression::Binary(operator, sides, spot) => self.binary(*operator, sides, *spot)?,
            Expression::Quantified { all, slot, range, body } => {
                let (from, to) = (self.value(&range.from)?, self.value(&range.to)?);
                for number in from..to {
                    self.locals[*slot] = number;
                    if (self.value(body)? == 1) != *all {
                        return Ok(i64::from(!all));
                    }
                }
                i64::from(*all)
            }
        })
    }

    fn binary(
        &mut self,
        operator: Operator,
        (left, right): &(Expression, Expression),
        spot: Spot,
    ) -> Result<i64, InputError> {
        let left = self.value(left)?;
        match (operator, left) {
            (Operator::Or, 1) => return Ok(1),
            (Operator::And, 0) => return Ok(0),
            _ => {}
        }
        let right = self.value(right)?;
        let number = match operator {
            Operator::Or | Operator::And => Some(right),
            Operator::Equal => Some(i64::from(left == right)),
            Operator::Unequal => Some(i64::from(left != right)),
            Operator::Less => Some(i64::from(left < right)),
            Operator::AtMost => Some(i64::from(left <= right)),
            Operator::Greater => Some(i64::from(left > right)),
            Operator::AtLeast => Some(i64::from(left >= right)),
            Operator::Plus => left.checked_add(right),
            Operator::Minus => left.checked_sub(right),
            Operator::Times => left.checked_mul(right),
            Operator::Remainder if right == 0 => return Err(InputError::at(spot, "the remainder of a division by 0")),
            Operator::Remainder => left.checked_rem_euclid(right),
            Operator::Maximum => Some(left.max(right)),
            Operator::Minimum => Some(left.min(right)),
        };
        number.ok_or_else(|| overflow(spot))
    }

    /// The number of an element of an array, from 0.
    pub(super) fn element(&mut self, array: &Array, element: &Element) -> Result<usize, InputError> {
        let mut at = 0;
        for (index, &size) in element.indices.iter().zip(&array.sizes) {
            let number = self.value(index)?;
            let inside = usize::try_from(number).ok().filter(|&number| number < size).ok_or_else(|| {
                let message = format!("`{}` has no element {number} here", array.name);
                InputError::at(element.spot, message).help(format!("its elements are 0 to {}", size as i64 - 1))
            })?;
            at = at * size + inside;
        }
        Ok(at)
    }
}

fn overflow(spot: Spot) -> InputError {
    InputError::at(spot, "the number is too large")
}
