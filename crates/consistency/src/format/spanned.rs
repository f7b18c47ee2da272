//! JSON that remembers where its parts stand, so that what is wrong with the meaning can be pointed at, too.

use super::{InputError, Spot};

/// So deep may arrays and objects nest.
const DEPTH: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Json {
    pub(crate) value: Value,
    /// Where it begins. Of strings and numbers, all of it.
    pub(crate) spot: Spot,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number, a truth value or null, as it is written.
    Plain(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Spot, Json)>),
}

pub(crate) fn parse(text: &str) -> Result<Json, InputError> {
    let mut reader = Reader { rest: text.chars().peekable(), line: 1, column: 1 };
    let json = reader.value(0)?;
    reader.blanks();
    match reader.rest.peek() {
        None => Ok(json),
        Some(_) => Err(reader.wrong("did not expect anything after the object")),
    }
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: u32,
    column: u32,
}

impl Reader<'_> {
    fn spot(&self) -> Spot {
        Spot { line: self.line, column: self.column, len: 1 }
    }

    fn wrong(&self, message: &str) -> InputError {
        InputError::at(self.spot(), message)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn blanks(&mut self) {
        while self.rest.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.next();
        }
    }

    /// Whether this comes next, after blanks; then it is passed.
    fn passes(&mut self, c: char) -> bool {
        self.blanks();
        let is = self.rest.peek() == Some(&c);
        if is {
            self.next();
        }
        is
    }

    fn value(&mut self, depth: usize) -> Result<Json, InputError> {
        self.blanks();
        let mut spot = self.spot();
        if depth > DEPTH {
            return Err(InputError::at(spot, format!("nested deeper than {DEPTH} levels")));
        }
        let value = match self.rest.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => Value::String(self.string()?),
            Some(c) if c.is_ascii_alphanumeric() || *c == '-' => Value::Plain(self.plain()?),
            Some(_) => {
                return Err(self.wrong("this is not JSON").help("a value begins with `{`, `[`, `\"` or a digit"));
            }
            None => return Err(self.wrong("the JSON ends too early")),
        };
        if matches!(value, Value::String(_) | Value::Plain(_)) && self.line == spot.line {
            spot.len = self.column - spot.column;
        }
        Ok(Json { value, spot })
    }

    fn array(&mut self, depth: usize) -> Result<Value, InputError> {
        self.next();
        let mut items = Vec::new();
        if self.passes(']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.passes(']') {
                return Ok(Value::Array(items));
            }
            if !self.passes(',') {
                return Err(self.wrong("expected `,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, InputError> {
        self.next();
        let mut fields: Vec<(String, Spot, Json)> = Vec::new();
        if self.passes('}') {
            return Ok(Value::Object(fields));
        }
        loop {
            self.blanks();
            let mut spot = self.spot();
            if self.rest.peek() != Some(&'"') {
                return Err(self.wrong("expected the name of a field, in quotes"));
            }
            let name = self.string()?;
            spot.len = if self.line == spot.line { self.column - spot.column } else { 1 };
            if !self.passes(':') {
                return Err(self.wrong("expected `:`"));
            }
            fields.push((name, spot, self.value(depth + 1)?));
            if self.passes('}') {
                return Ok(Value::Object(fields));
            }
            if !self.passes(',') {
                return Err(self.wrong("expected `,` or `}`"));
            }
        }
    }

    /// A number or a word.
    fn plain(&mut self) -> Result<String, InputError> {
        let spot = self.spot();
        let mut text = String::new();
        while let Some(&c) = self.rest.peek()
            && (c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'))
        {
            text.push(c);
            self.next();
        }
        let number = text.parse::<f64>().is_ok() && text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if number || ["true", "false", "null"].contains(&text.as_str()) {
            return Ok(text);
        }
        let len = text.len() as u32;
        Err(InputError::at(Spot { len, ..spot }, format!("`{text}` is not JSON")).help("texts stand in double quotes"))
    }

    fn string(&mut self) -> Result<String, InputError> {
        let start = self.spot();
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) if c >= ' ' => text.push(c),
                _ => return Err(InputError::at(start, "this text does not end in its line").help("close it with `\"`")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, InputError> {
        let spot = self.spot();
        let wrong = || InputError::at(spot, "this is not an escape sequence of JSON");
        Ok(match self.next().ok_or_else(wrong)? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.hex().ok_or_else(wrong)?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first).ok_or_else(wrong);
                }
                // The first half of a character beyond the basic plane.
                let second = if self.next() == Some('\\') && self.next() == Some('u') { self.hex() } else { None };
                let second = second.filter(|second| (0xdc00..0xe000).contains(second)).ok_or_else(wrong)?;
                char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or_else(wrong)?
            }
            _ => return Err(wrong()),
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let mut number = 0;
        for _ in 0..4 {
            number = number * 16 + self.next()?.to_digit(16)?;
        }
        Some(number)
    }
}
