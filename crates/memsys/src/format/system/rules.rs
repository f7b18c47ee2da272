//! Reading rules and what they do.

use super::{Meaning, Reader};
use crate::format::InputError;
use crate::format::layout::{Rule, Statement, Store, Type};
use crate::format::lex::Token;

/// Statements are nested at most so deep.
const DEPTH: usize = 40;

const STATEMENTS: &str = "statements are `CORE writes LOCATION into REGISTER;`, `CORE reads LOCATION from REGISTER;`, \
                          `REGISTER := REGISTER;`, `STATE := VALUE;`, `send`, `for` and `if`";

impl Reader<'_> {
    pub(super) fn rule(&mut self) -> Result<(), InputError> {
        const SHAPE: &str = "this is written `rule NAME(PARAMETER in FROM..TO, ...) receive MESSAGE from CHANNEL when CONDITION { ... }`";
        let name = self.tokens.name("the name of a rule", SHAPE)?;
        let mut parameters = Vec::new();
        let mut locals = Vec::new();
        if self.tokens.accept("(") {
            while !self.tokens.accept(")") {
                let parameter = self.tokens.name("a parameter", SHAPE)?;
                self.tokens.expect("in", SHAPE)?;
                self.nodes = 0;
                let range = self.range(SHAPE)?;
                self.local(&parameter)?;
                parameters.push((parameter.text.clone(), range));
                locals.push(parameter);
                if !self.tokens.accept(",") && self.tokens.peek_text() != Some(")") {
                    return Err(self.tokens.unexpected("`,` or `)`").help(SHAPE));
                }
            }
        }
        let mut receives = None;
        let mut message = None;
        if self.tokens.accept("receive") {
            let bound = self.tokens.name("a name for the message", SHAPE)?;
            self.tokens.expect("from", SHAPE)?;
            let (number, element) = self.channel_element(SHAPE)?;
            self.declare(&bound, Meaning::Message(number))?;
            receives = Some(element);
            message = Some(bound);
        }
        let guard = if self.tokens.accept("when") { Some(self.expression_of(Type::Truth)?) } else { None };
        let body = self.block(SHAPE)?;
        locals.iter().rev().for_each(|local| self.forget(local));
        if let Some(bound) = message {
            self.names.remove(&bound.text);
        }
        self.system.rules.push(Rule { name: name.text, spot: name.spot, parameters, receives, guard, body });
        Ok(())
    }

    fn channel_element(&mut self, shape: &str) -> Result<(usize, crate::format::layout::Element), InputError> {
        let name = self.tokens.name("a channel", shape)?;
        let Some(&Meaning::Channel(number)) = self.names.get(&name.text) else {
            return Err(match self.names.contains_key(&name.text) {
                true => InputError::at(name.spot, format!("`{}` is no channel", name.text)).help(shape),
                false => self.unknown(&name),
            });
        };
        self.nodes = 0;
        let array = self.system.channels[number].array.clone();
        Ok((number, self.element(number, &name, &array)?))
    }

    fn block(&mut self, shape: &str) -> Result<Vec<Statement>, InputError> {
        self.block_of(shape, Self::statement)
    }

    /// Statements between braces.
    fn block_of(
        &mut self,
        shape: &str,
        statement: impl Fn(&mut Self) -> Result<Statement, InputError> + Copy,
    ) -> Result<Vec<Statement>, InputError> {
        let spot = self.tokens.expect("{", shape)?;
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(InputError::at(spot, format!("statements are nested more than {DEPTH} deep")));
        }
        let mut body = Vec::new();
        while !self.tokens.accept("}") {
            if self.tokens.peek().is_none() {
                return Err(self.tokens.unexpected("`}`").help("every `{` needs its `}`"));
            }
            body.push(statement(self)?);
        }
        self.depth -= 1;
        Ok(body)
    }

    fn statement(&mut self) -> Result<Statement, InputError> {
        self.nodes = 0;
        let name = self.tokens.name("a statement", STATEMENTS)?;
        match name.text.as_str() {
            "for" => self.for_loop(Self::statement),
            "if" => self.branch(Self::statement),
            "send" => self.send(),
            _ => match self.names.get(&name.text).copied() {
                Some(Meaning::Core(number)) => self.access(number, &name),
                Some(Meaning::Register(number)) => {
                    const SHAPE: &str = "this is written `REGISTER := REGISTER;`";
                    let array = self.system.registers[number].clone();
                    let to = self.element(number, &name, &array)?;
                    self.tokens.expect(":=", SHAPE)?;
                    let from = self.store(SHAPE)?;
                    self.tokens.expect(";", "statements end with `;`")?;
                    Ok(Statement::Copy { to, from })
                }
                Some(Meaning::Cell(number)) => {
                    let cell = self.system.cells[number].clone();
                    let element = self.element(number, &name, &cell.array)?;
                    self.tokens.expect(":=", "this is written `STATE := VALUE;`")?;
                    let value = self.expression_of(cell.kind)?;
                    self.tokens.expect(";", "statements end with `;`")?;
                    Ok(Statement::Assign { cell: element, value, spot: name.spot })
                }
                Some(_) => {
                    Err(InputError::at(name.spot, format!("`{}` begins no statement", name.text)).help(STATEMENTS))
                }
                None => Err(self.unknown(&name).help(STATEMENTS)),
            },
        }
    }

    fn access(&mut self, number: usize, name: &Token) -> Result<Statement, InputError> {
        const SHAPE: &str =
            "this is written `CORE writes LOCATION into REGISTER;` or `CORE reads LOCATION from REGISTER;`";
        let array = self.system.cores[number].clone();
        let core = self.element(number, name, &array)?;
        let writes = self.tokens.accept("writes");
        if !writes {
            self.tokens.expect("reads", SHAPE)?;
        }
        let name = self.tokens.name("a location", SHAPE)?;
        let Some(&Meaning::Location(number)) = self.names.get(&name.text) else {
            return Err(InputError::at(name.spot, format!("`{}` is no location", name.text)).help(SHAPE));
        };
        let array = self.system.locations[number].clone();
        let location = self.element(number, &name, &array)?;
        self.tokens.expect(if writes { "into" } else { "from" }, SHAPE)?;
        let spot = self.tokens.spot();
        let store = self.store(SHAPE)?;
        if let (true, Store::Message(_)) = (writes, &store) {
            return Err(InputError::at(spot, "a message that was received cannot be written into").help(SHAPE));
        }
        self.tokens.expect(";", "statements end with `;`")?;
        Ok(Statement::Access { writes, core, location, store })
    }

    /// A register, or the message that was received.
    fn store(&mut self, shape: &str) -> Result<Store, InputError> {
        let name = self.tokens.name("a register", shape)?;
        match self.names.get(&name.text).copied() {
            Some(Meaning::Register(number)) => {
                let array = self.system.registers[number].clone();
                Ok(Store::Register(self.element(number, &name, &array)?))
            }
            Some(Meaning::Message(_)) => Ok(Store::Message(name.spot)),
            Some(_) => Err(InputError::at(name.spot, format!("`{}` is no register", name.text)).help(shape)),
            None => Err(self.unknown(&name)),
        }
    }

    fn send(&mut self) -> Result<Statement, InputError> {
        const SHAPE: &str = "this is written `send CHANNEL carrying REGISTER { FIELD := VALUE; }`";
        let (number, channel) = self.channel_element(SHAPE)?;
        let carries = if self.tokens.accept("carrying") { Some(self.store(SHAPE)?) } else { None };
        let fields = if self.tokens.peek_text() == Some("{") {
            self.block_of(SHAPE, |reader| reader.set_field(number))?
        } else {
            self.tokens.expect(";", SHAPE)?;
            Vec::new()
        };
        Ok(Statement::Send { channel, carries, fields })
    }

    fn set_field(&mut self, channel: usize) -> Result<Statement, InputError> {
        const SHAPE: &str = "this is written `FIELD := VALUE;`";
        self.nodes = 0;
        let name = self.tokens.name("a field", SHAPE)?;
        if name.text == "for" {
            return self.for_loop(|reader| reader.set_field(channel));
        }
        let (number, cell) = self.field(channel, &name)?;
        let field = self.element(number, &name, &cell.array)?;
        self.tokens.expect(":=", SHAPE)?;
        let value = self.expression_of(cell.kind)?;
        self.tokens.expect(";", "statements end with `;`")?;
        Ok(Statement::SetField { field, value, spot: name.spot })
    }

    fn for_loop(
        &mut self,
        statement: impl Fn(&mut Self) -> Result<Statement, InputError> + Copy,
    ) -> Result<Statement, InputError> {
        const SHAPE: &str = "this is written `for NAME in FROM..TO where CONDITION { ... }`";
        let name = self.tokens.name("a name", SHAPE)?;
        self.tokens.expect("in", SHAPE)?;
        let range = self.range(SHAPE)?;
        let slot = self.local(&name)?;
        let condition = if self.tokens.accept("where") { Some(self.expression_of(Type::Truth)?) } else { None };
        let body = self.nested(SHAPE, &statement)?;
        self.forget(&name);
        Ok(Statement::For { slot, range, condition, body })
    }

    fn branch(
        &mut self,
        statement: impl Fn(&mut Self) -> Result<Statement, InputError> + Copy,
    ) -> Result<Statement, InputError> {
        const SHAPE: &str = "this is written `if CONDITION { ... } else { ... }`";
        let condition = self.expression_of(Type::Truth)?;
        let then = self.nested(SHAPE, &statement)?;
        let otherwise = if self.tokens.accept("else") { self.nested(SHAPE, &statement)? } else { Vec::new() };
        Ok(Statement::If { condition, then, otherwise })
    }

    /// A block of such statements; behind a reference, so that loops in loops are of one type.
    fn nested(
        &mut self,
        shape: &str,
        statement: &dyn Fn(&mut Self) -> Result<Statement, InputError>,
    ) -> Result<Vec<Statement>, InputError> {
        self.block_of(shape, statement)
    }
}
