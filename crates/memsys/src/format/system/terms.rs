//! Reading expressions, ranges and elements.
//!
//! From the loosest to the tightest: `all i in 0..N: ...` and `any ...`, `||`, `&&`, comparisons, `+ -`, `* %`, `! -`.

use super::{Meaning, Reader, across, kind_words};
use crate::format::InputError;
use crate::format::expression::{Expression, Operator};
use crate::format::layout::{Array, Element, Range, Type};
use crate::format::lex::{Kind, Token};

/// An expression has at most so many parts, so that nobody runs out of stack.
const NODES: usize = 500;

type Typed = (Expression, Type);

impl Reader<'_> {
    /// An expression of this type.
    pub(super) fn expression_of(&mut self, kind: Type) -> Result<Expression, InputError> {
        let spot = self.tokens.spot();
        self.nodes = 0;
        let (expression, found) = self.any_expression()?;
        self.same(kind, found, spot)?;
        Ok(expression)
    }

    /// The same without comparisons and what is looser, so that `=` or `..` may follow.
    pub(super) fn sum_of(&mut self, kind: Type) -> Result<Expression, InputError> {
        let spot = self.tokens.spot();
        self.nodes = 0;
        let (expression, found) = self.sum()?;
        self.same(kind, found, spot)?;
        Ok(expression)
    }

    fn same(&self, wanted: Type, found: Type, spot: crate::format::Spot) -> Result<(), InputError> {
        if wanted == found {
            return Ok(());
        }
        let spot = across(spot, self.tokens.before());
        let (wanted, found) = (kind_words(wanted, &self.system), kind_words(found, &self.system));
        Err(InputError::at(spot, format!("this is {found}, but {wanted} is needed here")))
    }

    fn node(&mut self) -> Result<(), InputError> {
        self.nodes += 1;
        if self.nodes > NODES {
            return Err(InputError::at(self.tokens.spot(), "the expression is too large")
                .help(format!("an expression has at most {NODES} parts")));
        }
        Ok(())
    }

    fn any_expression(&mut self) -> Result<Typed, InputError> {
        let mut left = self.conjunction()?;
        while self.tokens.peek_text() == Some("||") {
            left = self.combined(left, Operator::Or, Type::Truth, Type::Truth, Self::conjunction)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Typed, InputError> {
        let mut left = self.comparison()?;
        while self.tokens.peek_text() == Some("&&") {
            left = self.combined(left, Operator::And, Type::Truth, Type::Truth, Self::comparison)?;
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Typed, InputError> {
        let left = self.sum()?;
        let operator = match self.tokens.peek_text() {
            Some("==") => Operator::Equal,
            Some("!=") => Operator::Unequal,
            Some("<") => Operator::Less,
            Some("<=") => Operator::AtMost,
            Some(">") => Operator::Greater,
            Some(">=") => Operator::AtLeast,
            _ => return Ok(left),
        };
        let sides = if matches!(operator, Operator::Equal | Operator::Unequal) { left.1 } else { Type::Number };
        self.combined(left, operator, sides, Type::Truth, Self::sum)
    }

    fn sum(&mut self) -> Result<Typed, InputError> {
        let mut left = self.product()?;
        loop {
            let operator = match self.tokens.peek_text() {
                Some("+") => Operator::Plus,
                Some("-") => Operator::Minus,
                _ => return Ok(left),
            };
            left = self.combined(left, operator, Type::Number, Type::Number, Self::product)?;
        }
    }

    fn product(&mut self) -> Result<Typed, InputError> {
        let mut left = self.factor()?;
        loop {
            let operator = match self.tokens.peek_text() {
                Some("*") => Operator::Times,
                Some("%") => Operator::Remainder,
                _ => return Ok(left),
            };
            left = self.combined(left, operator, Type::Number, Type::Number, Self::factor)?;
        }
    }

    /// The rest of a binary expression, its operator being next.
    fn combined(
        &mut self,
        (left, kind): Typed,
        operator: Operator,
        sides: Type,
        result: Type,
        right: impl Fn(&mut Self) -> Result<Typed, InputError>,
    ) -> Result<Typed, InputError> {
        self.node()?;
        let spot = self.tokens.spot();
        self.same(sides, kind, self.tokens.before())?;
        self.tokens.next();
        let begin = self.tokens.spot();
        let (right, kind) = right(self)?;
        self.same(sides, kind, begin)?;
        Ok((Expression::Binary(operator, Box::new((left, right)), spot), result))
    }

    fn factor(&mut self) -> Result<Typed, InputError> {
        self.node()?;
        let spot = self.tokens.spot();
        let Some(token) = self.tokens.next() else { return Err(self.tokens.unexpected("an expression")) };
        match (token.kind, token.text.as_str()) {
            (Kind::Number, digits) => {
                let number = digits.parse().map_err(|_| InputError::at(spot, "the number is too large"))?;
                Ok((Expression::Number(number), Type::Number))
            }
            (_, "(") => {
                let inner = self.any_expression()?;
                self.tokens.expect(")", "every `(` needs its `)`")?;
                Ok(inner)
            }
            (_, "!") => {
                let (inner, kind) = self.factor()?;
                self.same(Type::Truth, kind, spot)?;
                Ok((Expression::Not(Box::new(inner)), Type::Truth))
            }
            (_, "-") => {
                let (inner, kind) = self.factor()?;
                self.same(Type::Number, kind, spot)?;
                Ok((Expression::Negative(Box::new(inner), spot), Type::Number))
            }
            (_, "true") => Ok((Expression::Number(1), Type::Truth)),
            (_, "false") => Ok((Expression::Number(0), Type::Truth)),
            (_, word @ ("all" | "any")) => self.quantified(word == "all"),
            (_, word @ ("max" | "min")) => {
                let shape = "this is written `max(ONE, OTHER)` or `min(ONE, OTHER)`";
                self.tokens.expect("(", shape)?;
                let left = self.any_expression()?;
                if self.tokens.peek_text() != Some(",") {
                    return Err(self.tokens.unexpected("`,`").help(shape));
                }
                let operator = if word == "max" { Operator::Maximum } else { Operator::Minimum };
                let both = self.combined(left, operator, Type::Number, Type::Number, Self::any_expression)?;
                self.tokens.expect(")", shape)?;
                Ok(both)
            }
            (_, "len") => {
                const SHAPE: &str = "this is written `len(CHANNEL)`";
                self.tokens.expect("(", SHAPE)?;
                let name = self.tokens.name("the name of a channel", SHAPE)?;
                let Some(&Meaning::Channel(number)) = self.names.get(&name.text) else {
                    return Err(InputError::at(name.spot, format!("`{}` is no channel", name.text)).help(SHAPE));
                };
                let element = self.element(number, &name, &self.system.channels[number].array.clone())?;
                self.tokens.expect(")", SHAPE)?;
                Ok((Expression::Length(element), Type::Number))
            }
            (Kind::Word, _) => self.named(&token),
            _ => Err(InputError::at(spot, format!("expected an expression, found `{}`", token.text))),
        }
    }

    fn quantified(&mut self, all: bool) -> Result<Typed, InputError> {
        const SHAPE: &str = "this is written `all NAME in FROM..TO: CONDITION`";
        let name = self.tokens.name("a name", SHAPE)?;
        self.tokens.expect("in", SHAPE)?;
        let range = self.range(SHAPE)?;
        self.tokens.expect(":", SHAPE)?;
        let slot = self.local(&name)?;
        let begin = self.tokens.spot();
        let (body, kind) = self.any_expression()?;
        self.same(Type::Truth, kind, begin)?;
        self.forget(&name);
        Ok((Expression::Quantified { all, slot, range: Box::new(range), body: Box::new(body) }, Type::Truth))
    }

    fn named(&mut self, name: &Token) -> Result<Typed, InputError> {
        match self.names.get(&name.text).copied() {
            Some(Meaning::Constant(value, kind)) => Ok((Expression::Number(value), kind)),
            Some(Meaning::Local(slot, kind)) => Ok((Expression::Local(slot), kind)),
            Some(Meaning::Cell(number)) => {
                let cell = self.system.cells[number].clone();
                Ok((Expression::Cell(self.element(number, name, &cell.array)?), cell.kind))
            }
            Some(Meaning::Message(channel)) => {
                self.tokens.expect(".", "fields of a message are written `MESSAGE.FIELD`")?;
                let field = self.tokens.name("a field", "fields of a message are written `MESSAGE.FIELD`")?;
                let (number, cell) = self.field(channel, &field)?;
                Ok((Expression::Field(self.element(number, &field, &cell.array)?), cell.kind))
            }
            Some(_) => Err(InputError::at(name.spot, format!("`{}` has no value", name.text))
                .help("values are numbers, parameters, state, fields of messages and `len(CHANNEL)`")),
            None => Err(self.unknown(name)),
        }
    }

    /// There is nothing of this name.
    pub(super) fn unknown(&self, name: &Token) -> InputError {
        let near = |other: &&String| {
            other.eq_ignore_ascii_case(&name.text) || other.starts_with(&name.text) || name.text.starts_with(*other)
        };
        let error = InputError::at(name.spot, format!("there is no `{}`", name.text));
        match self.names.keys().filter(near).min() {
            Some(other) => error.help(format!("there is `{other}`")),
            None => error.help("names are declared before they are used"),
        }
    }

    /// A field of the messages of a channel.
    pub(super) fn field(
        &self,
        channel: usize,
        name: &Token,
    ) -> Result<(usize, crate::format::layout::Cell), InputError> {
        let channel = &self.system.channels[channel];
        let found = channel.fields.iter().enumerate().find(|(_, field)| field.array.name == name.text);
        found.map(|(number, field)| (number, field.clone())).ok_or_else(|| {
            let fields: Vec<&str> = channel.fields.iter().map(|field| field.array.name.as_str()).collect();
            let message = format!("messages of `{}` have no field `{}`", channel.array.name, name.text);
            let error = InputError::at(name.spot, message);
            if fields.is_empty() { error } else { error.help(format!("their fields are {}", fields.join(", "))) }
        })
    }

    /// The indices of an element of an array.
    pub(super) fn element(&mut self, number: usize, name: &Token, array: &Array) -> Result<Element, InputError> {
        let mut indices = Vec::new();
        while self.tokens.accept("[") {
            let begin = self.tokens.spot();
            let (index, kind) = self.any_expression()?;
            self.same(Type::Number, kind, begin)?;
            indices.push(index);
            self.tokens.expect("]", "every `[` needs its `]`")?;
        }
        let spot = across(name.spot, self.tokens.before());
        if indices.len() != array.sizes.len() {
            let brackets = "[...]".repeat(array.sizes.len());
            let message = format!("`{}` has {} indices, here are {}", array.name, array.sizes.len(), indices.len());
            return Err(InputError::at(spot, message).help(format!("it is written `{}{brackets}`", array.name)));
        }
        Ok(Element { array: number, indices, spot })
    }

    /// `FROM..TO` or `FROM..=TO`.
    pub(super) fn range(&mut self, shape: &str) -> Result<Range, InputError> {
        let nodes = self.nodes;
        let from = self.sum_of(Type::Number)?;
        let included = match self.tokens.peek_text() {
            Some("..") => false,
            Some("..=") => true,
            _ => return Err(self.tokens.unexpected("`..` or `..=`").help(shape)),
        };
        let spot = self.tokens.spot();
        self.tokens.next();
        let to = self.sum_of(Type::Number)?;
        self.nodes += nodes;
        let one = Expression::Number(1);
        let to = if included { Expression::Binary(Operator::Plus, Box::new((to, one)), spot) } else { to };
        Ok(Range { from, to })
    }

    /// A name for a number, until it is forgotten.
    pub(super) fn local(&mut self, name: &Token) -> Result<usize, InputError> {
        let slot = self.slots;
        self.declare(name, Meaning::Local(slot, Type::Number))?;
        self.slots += 1;
        self.system.locals = self.system.locals.max(self.slots);
        Ok(slot)
    }

    pub(super) fn forget(&mut self, name: &Token) {
        self.names.remove(&name.text);
        self.slots -= 1;
    }
}
