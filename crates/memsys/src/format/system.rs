//! Reading a system: declarations, then rules. Names are declared before they are used, so they are resolved and typed on the way.
//!
//! ```text
//! system msi                                  // coherent caches on one bus
//! param N = 2
//! enum Status { I S M }
//! cores P[N]
//! locations x
//! registers cache[N]
//! state status[N] in Status = I
//!
//! rule write(p in 0..N) {
//!     P[p] writes x into cache[p];
//!     for q in 0..N where q != p { status[q] := I; }
//!     status[p] := M;
//! }
//! rule read(p in 0..N) when status[p] != I { P[p] reads x from cache[p]; }
//! ```
//!
//! This file has the declarations; [`rules`] has rules and statements, [`terms`] expressions.

mod rules;
mod terms;

use super::expression::{Expression, Scene};
use super::layout::{Array, Cell, Channel, System, Type};
use super::lex::{Kind, Token, Tokens};
use super::{InputError, Spot};
use rustc_hash::FxHashMap;

/// An array has at most so many elements, and so does everything of a kind together.
const ELEMENTS: usize = 4096;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Constant(i64, Type),
    Enumeration(usize),
    Core(usize),
    Location(usize),
    Register(usize),
    Cell(usize),
    Channel(usize),
    Local(usize, Type),
    /// The message that a rule receives, of this channel.
    Message(usize),
}

struct Reader<'t> {
    tokens: &'t mut Tokens,
    parameters: FxHashMap<String, i64>,
    system: System,
    names: FxHashMap<String, Meaning>,
    /// Locals in use.
    slots: usize,
    /// How deep statements are nested, and how large the expression is.
    depth: usize,
    nodes: usize,
}

const DECLARATIONS: &str =
    "declarations begin with param, enum, cores, locations, registers, state, channel, rule or `initial values`";

pub(super) fn parse(tokens: &mut Tokens, parameters: &[(String, i64)]) -> Result<System, InputError> {
    tokens.next();
    let name = tokens.name("the name of the system", "this is written `system NAME`")?.text;
    let mut reader = Reader {
        tokens,
        parameters: parameters.iter().cloned().collect(),
        system: System { name, ..System::default() },
        names: FxHashMap::default(),
        slots: 0,
        depth: 0,
        nodes: 0,
    };
    while let Some(token) = reader.tokens.next() {
        reader.declaration(&token)?;
    }
    if let Some(name) = reader.parameters.keys().min() {
        let message = format!("there is no parameter `{name}`");
        let help = Some("parameters are declared with `param NAME = DEFAULT`".to_owned());
        return Err(InputError { message, spot: None, help });
    }
    let system = reader.system;
    for (list, what) in [(&system.cores, "cores"), (&system.locations, "locations"), (&system.registers, "registers")] {
        let from_channels = what == "registers" && system.register_count > 0;
        if list.is_empty() && !from_channels {
            let message = format!("the system has no {what}");
            return Err(InputError { message, spot: None, help: Some(format!("declare some with `{what} NAME[N]`")) });
        }
    }
    Ok(system)
}

impl Reader<'_> {
    fn declaration(&mut self, first: &Token) -> Result<(), InputError> {
        match first.text.as_str() {
            "param" => self.parameter(),
            "enum" => self.enumeration(),
            kind @ ("cores" | "locations" | "registers") => self.arrays(kind),
            "state" => self.state(),
            "channel" => self.channel(),
            "rule" => self.rule(),
            "initial" => {
                self.tokens.expect("values", "this is written `initial values`")?;
                self.system.initial_values = true;
                Ok(())
            }
            other => Err(InputError::at(first.spot, format!("`{other}` begins no declaration")).help(DECLARATIONS)),
        }
    }

    /// Gives a name a meaning that it does not have yet.
    fn declare(&mut self, name: &Token, meaning: Meaning) -> Result<(), InputError> {
        const WORDS: [&str; 22] = [
            "param",
            "enum",
            "cores",
            "locations",
            "registers",
            "state",
            "channel",
            "rule",
            "initial",
            "in",
            "when",
            "receive",
            "from",
            "into",
            "writes",
            "reads",
            "send",
            "carrying",
            "for",
            "if",
            "else",
            "where",
        ];
        if WORDS.contains(&name.text.as_str())
            || ["all", "any", "max", "min", "len", "true", "false"].contains(&name.text.as_str())
        {
            return Err(InputError::at(name.spot, format!("`{}` is a word of the language", name.text)));
        }
        if self.names.insert(name.text.clone(), meaning).is_some() {
            return Err(InputError::at(name.spot, format!("`{}` was declared before", name.text)));
        }
        Ok(())
    }

    fn parameter(&mut self) -> Result<(), InputError> {
        const SHAPE: &str = "this is written `param NAME = NUMBER`";
        let name = self.tokens.name("the name of a parameter", SHAPE)?;
        self.tokens.expect("=", SHAPE)?;
        let otherwise = self.constant(Type::Number)?;
        let value = self.parameters.remove(&name.text).unwrap_or(otherwise);
        self.declare(&name, Meaning::Constant(value, Type::Number))
    }

    fn enumeration(&mut self) -> Result<(), InputError> {
        const SHAPE: &str = "this is written `enum NAME { MEMBER MEMBER }`";
        let number = self.system.enumerations.len();
        let name = self.tokens.name("the name of an enumeration", SHAPE)?;
        self.declare(&name, Meaning::Enumeration(number))?;
        self.tokens.expect("{", SHAPE)?;
        let mut members = Vec::new();
        while !self.tokens.accept("}") {
            let member = self.tokens.name("a member", SHAPE)?;
            self.declare(&member, Meaning::Constant(members.len() as i64, Type::Enumeration(number)))?;
            members.push(member.text);
            self.tokens.accept(",");
        }
        if members.is_empty() {
            return Err(InputError::at(name.spot, format!("`{}` has no members", name.text)).help(SHAPE));
        }
        self.system.enumerations.push(members);
        Ok(())
    }

    /// `NAME[SIZE][SIZE]` for something that so many elements come before.
    fn array(&mut self, name: &Token, base: usize, free: usize) -> Result<Array, InputError> {
        let mut sizes = Vec::new();
        while self.tokens.accept("[") {
            let spot = self.tokens.spot();
            let size = self.constant(Type::Number)?;
            let size = usize::try_from(size).ok().filter(|size| (1..=ELEMENTS).contains(size)).ok_or_else(|| {
                InputError::at(spot, format!("`{}` cannot have {size} elements", name.text))
                    .help(format!("sizes are from 1 to {ELEMENTS}"))
            })?;
            sizes.push(size);
            self.tokens.expect("]", "sizes are written `NAME[SIZE][SIZE]`")?;
        }
        let len = sizes.iter().try_fold(1usize, |len, &size| len.checked_mul(size)).filter(|&len| len <= free);
        if len.is_none() {
            return Err(InputError::at(name.spot, format!("`{}` has too many elements", name.text))
                .help(format!("all arrays of a kind together have at most {ELEMENTS}")));
        }
        Ok(Array { name: name.text.clone(), base, sizes })
    }

    /// `cores`, `locations` or `registers`: names with their sizes, up to the next declaration.
    fn arrays(&mut self, kind: &str) -> Result<(), InputError> {
        let shape = format!("this is written `{kind} NAME NAME[SIZE]`");
        let line = self.tokens.spot().line;
        let mut any = false;
        while self.tokens.is_on(line) || !any {
            let name = self.tokens.name("a name", &shape)?;
            any = true;
            let of = |list: &[Array]| list.last().map_or(0, |last| last.base + last.len());
            let base = match kind {
                "cores" => of(&self.system.cores),
                "locations" => of(&self.system.locations),
                _ => self.system.register_count,
            };
            let array = self.array(&name, base, ELEMENTS - base.min(ELEMENTS))?;
            let meaning = match kind {
                "cores" => Meaning::Core(self.system.cores.len()),
                "locations" => Meaning::Location(self.system.locations.len()),
                _ => Meaning::Register(self.system.registers.len()),
            };
            self.declare(&name, meaning)?;
            match kind {
                "cores" => self.system.cores.push(array),
                "locations" => self.system.locations.push(array),
                _ => {
                    self.system.register_count += array.len();
                    self.system.registers.push(array);
                }
            }
            self.tokens.accept(",");
        }
        Ok(())
    }

    /// `NAME[SIZE] in DOMAIN`.
    fn cell(&mut self, base: usize, shape: &str) -> Result<(Token, Cell), InputError> {
        let name = self.tokens.name("a name", shape)?;
        let array = self.array(&name, base, ELEMENTS - base.min(ELEMENTS))?;
        self.tokens.expect("in", shape)?;
        let spot = self.tokens.spot();
        let named = self.tokens.peek().filter(|token| token.kind == Kind::Word).map(|token| token.text.clone());
        let enumeration = named.as_ref().and_then(|name| match self.names.get(name) {
            Some(&Meaning::Enumeration(number)) => Some(number),
            _ => None,
        });
        let (kind, low, high) = if let Some(number) = enumeration {
            self.tokens.next();
            (Type::Enumeration(number), 0, self.system.enumerations[number].len() as i64 - 1)
        } else if self.tokens.accept("bool") {
            (Type::Truth, 0, 1)
        } else {
            let low = self.constant(Type::Number)?;
            let included = match self.tokens.next() {
                Some(token) if token.text == ".." => 0,
                Some(token) if token.text == "..=" => 1,
                _ => {
                    let message = "expected a domain";
                    return Err(InputError::at(spot, message)
                        .help("domains are `LOW..HIGH`, `LOW..=HIGH`, `bool` and enumerations"));
                }
            };
            let high = self.constant(Type::Number)?.saturating_sub(1 - included);
            (Type::Number, low, high)
        };
        if low > high || i32::try_from(low).is_err() || i32::try_from(high).is_err() {
            let message = format!("there is no number from {low} to {high} that `{}` could hold", name.text);
            return Err(InputError::at(spot, message).help("domains are not empty, and their numbers have 32 bits"));
        }
        Ok((name, Cell { array, kind, low, high, initial: low }))
    }

    fn state(&mut self) -> Result<(), InputError> {
        const SHAPE: &str = "this is written `state NAME[SIZE] in DOMAIN = INITIAL`";
        let (name, mut cell) = self.cell(self.system.width, SHAPE)?;
        if self.tokens.accept("=") {
            let spot = self.tokens.spot();
            cell.initial = self.constant(cell.kind)?;
            if !(cell.low..=cell.high).contains(&cell.initial) {
                let message = format!("`{}` cannot hold {}", name.text, cell.initial);
                return Err(InputError::at(spot, message).help(format!("its domain is {}..={}", cell.low, cell.high)));
            }
        }
        self.declare(&name, Meaning::Cell(self.system.cells.len()))?;
        self.system.width += cell.array.len();
        self.system.cells.push(cell);
        Ok(())
    }

    fn channel(&mut self) -> Result<(), InputError> {
        const SHAPE: &str = "this is written `channel NAME[SIZE] capacity N (FIELD in DOMAIN, ...) unordered lossy`";
        let name = self.tokens.name("the name of a channel", SHAPE)?;
        let array = self.array(&name, 0, ELEMENTS)?;
        self.tokens.expect("capacity", SHAPE)?;
        let spot = self.tokens.spot();
        let capacity = self.constant(Type::Number)?;
        let mut channel = Channel {
            array,
            capacity: usize::try_from(capacity).unwrap_or(0),
            fields: Vec::new(),
            width: 1,
            unordered: false,
            lossy: false,
            state: self.system.width,
            register: self.system.register_count,
        };
        if self.tokens.accept("(") {
            while !self.tokens.accept(")") {
                let (field, cell) = self.cell(channel.width, SHAPE)?;
                if channel.fields.iter().any(|other| other.array.name == field.text) {
                    return Err(InputError::at(field.spot, format!("a second field `{}`", field.text)));
                }
                channel.width += cell.array.len();
                channel.fields.push(cell);
                if !self.tokens.accept(",") && self.tokens.peek_text() != Some(")") {
                    return Err(self.tokens.unexpected("`,` or `)`").help(SHAPE));
                }
            }
        }
        loop {
            if self.tokens.accept("unordered") {
                channel.unordered = true;
            } else if self.tokens.accept("lossy") {
                channel.lossy = true;
            } else {
                break;
            }
        }
        let slots = channel.array.len().checked_mul(channel.capacity).filter(|&slots| (1..=ELEMENTS).contains(&slots));
        let room = slots.and_then(|slots| slots.checked_mul(channel.width)).filter(|&room| room <= 16 * ELEMENTS);
        if room.is_none() || self.system.register_count + slots.unwrap_or(0) > ELEMENTS {
            let message = format!("a channel cannot have a capacity of {capacity} here");
            return Err(
                InputError::at(spot, message).help(format!("all of them together hold 1 to {ELEMENTS} messages"))
            );
        }
        self.system.width += channel.array.len() * channel.stride();
        self.system.register_count += slots.unwrap_or(0);
        self.declare(&name, Meaning::Channel(self.system.channels.len()))?;
        self.system.channels.push(channel);
        Ok(())
    }

    /// An expression of parameters only.
    fn constant(&mut self, kind: Type) -> Result<i64, InputError> {
        let spot = self.tokens.spot();
        let expression = self.sum_of(kind)?;
        let empty = System::default();
        let mut scene = Scene {
            system: &empty,
            state: Vec::new(),
            locals: vec![0; self.system.locals],
            message: None,
            steps: 10_000,
        };
        if refers_to_state(&expression) {
            return Err(
                InputError::at(spot, "this has to be known before the system runs").help("it may use parameters only")
            );
        }
        scene.value(&expression)
    }
}

fn refers_to_state(expression: &Expression) -> bool {
    match expression {
        Expression::Number(_) | Expression::Local(_) => false,
        Expression::Cell(_) | Expression::Field(_) | Expression::Length(_) => true,
        Expression::Not(inner) | Expression::Negative(inner, _) => refers_to_state(inner),
        Expression::Binary(_, sides, _) => refers_to_state(&sides.0) || refers_to_state(&sides.1),
        Expression::Quantified { range, body, .. } => {
            refers_to_state(&range.from) || refers_to_state(&range.to) || refers_to_state(body)
        }
    }
}

/// What is meant by a type, for messages.
fn kind_words(kind: Type, system: &System) -> String {
    match kind {
        Type::Number => "a number".into(),
        Type::Truth => "a truth value".into(),
        Type::Enumeration(number) => {
            let members = system.enumerations.get(number).map_or(String::new(), |members| members.join(", "));
            format!("one of {members}")
        }
    }
}

/// The spot from one token to another of the same line.
fn across(from: Spot, to: Spot) -> Spot {
    if from.line == to.line && to.column >= from.column {
        Spot { len: to.column + to.len - from.column, ..from }
    } else {
        from
    }
}
