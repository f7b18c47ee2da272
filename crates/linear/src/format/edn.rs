//! EDN histories: maps like `{:process 0, :type :invoke, :f :read, :value nil}`, one after another or in one vector.
//!
//! This is what Jepsen and Knossos write, and the shape of Porcupine's key-value logs. Forms may span lines; tagged
//! forms count as the form itself, so `#jepsen.history.Op{...}` is read as its map. Operations of the nemesis (a process
//! that is not a number) are skipped. Depth and size of a form are bounded.

use std::io::{BufRead, BufReader, Read};

use super::json::phase;
use super::{InputError, MAX_FORM, RawEvent, Source, Tables};
use crate::value::{Value, ValueId};

const MAX_DEPTH: usize = 64;

/// An EDN form.
#[derive(Clone, Debug, PartialEq)]
pub enum Edn {
    /// Everything a history value can be; keywords are texts that begin with a colon.
    Plain(Value),
    /// A vector, list or set.
    Many(Vec<Edn>),
    /// A map.
    Map(Vec<(Edn, Edn)>),
}

impl Edn {
    fn value(self) -> Result<Value, String> {
        match self {
            Edn::Plain(value) => Ok(value),
            Edn::Many(items) => Ok(Value::list(items.into_iter().map(Edn::value).collect::<Result<Vec<_>, _>>()?)),
            Edn::Map(_) => Err("a map cannot be a value of a history".into()),
        }
    }
}

/// Reads forms from bytes.
struct Forms<R> {
    input: BufReader<R>,
    line: u32,
    size: usize,
    /// The text of the form so far, and the line on which it begins, for messages.
    seen: String,
    began: u32,
    /// The word that was read last.
    word: Vec<u8>,
}

/// How much of a form a message shows.
const SHOWN: usize = 160;

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',')
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'"' | b';')
}

impl<R: Read> Forms<R> {
    fn new(input: BufReader<R>) -> Self {
        Forms { input, line: 1, size: 0, seen: String::new(), began: 1, word: Vec::new() }
    }

    /// Takes so many bytes of what is in the buffer.
    fn pass(&mut self, count: usize) -> Result<(), InputError> {
        if self.seen.trim_start().is_empty() {
            self.began = self.line;
        }
        let bytes = &self.input.buffer()[..count];
        let shown = bytes.iter().take(SHOWN.saturating_sub(self.seen.len()));
        self.seen.extend(shown.map(|&byte| char::from(if byte.is_ascii() { byte } else { b'?' })));
        self.line = self.line.saturating_add(bytes.iter().filter(|&&byte| byte == b'\n').count() as u32);
        self.input.consume(count);
        self.size += count;
        if self.size > MAX_FORM {
            return Err(self.wrong(format!("the form is longer than {} MiB", MAX_FORM >> 20)));
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, InputError> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn take(&mut self) -> Result<Option<u8>, InputError> {
        let Some(byte) = self.peek()? else {
            return Ok(None);
        };
        self.pass(1)?;
        Ok(Some(byte))
    }

    fn wrong(&self, message: impl Into<String>) -> InputError {
        InputError::at(self.began, self.seen.trim(), message)
    }

    fn skip_blanks(&mut self) -> Result<(), InputError> {
        let mut comment = false;
        loop {
            let buffer = self.input.fill_buf()?;
            let skipped = |&byte: &u8| if comment { byte != b'\n' } else { is_blank(byte) };
            let count = buffer.iter().take_while(|byte| skipped(byte)).count();
            let next = buffer.get(count).copied();
            if count > 0 {
                self.pass(count)?;
                self.size = self.size.saturating_sub(count);
            }
            match next {
                None if count > 0 => {}
                Some(b'\n') if comment => comment = false,
                Some(b';') => comment = true,
                _ => return Ok(()),
            }
        }
    }

    fn form(&mut self, depth: usize) -> Result<Edn, InputError> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("the form is nested too deeply"));
        }
        self.skip_blanks()?;
        match self.peek()? {
            None => Err(self.wrong("the input ends inside a form")),
            Some(b'{') => {
                self.take()?;
                let mut items = self.until(b'}', depth)?.into_iter();
                let mut map = Vec::new();
                while let Some(key) = items.next() {
                    let value = items.next().ok_or_else(|| self.wrong("a map with a key and no value"))?;
                    map.push((key, value));
                }
                Ok(Edn::Map(map))
            }
            Some(b'[') => {
                self.take()?;
                Ok(Edn::Many(self.until(b']', depth)?))
            }
            Some(b'(') => {
                self.take()?;
                Ok(Edn::Many(self.until(b')', depth)?))
            }
            Some(b'#') => {
                self.take()?;
                match self.peek()? {
                    Some(b'{') => {
                        self.take()?;
                        Ok(Edn::Many(self.until(b'}', depth)?))
                    }
                    Some(b'_') => {
                        self.take()?;
                        self.form(depth + 1)?;
                        self.form(depth + 1)
                    }
                    _ => {
                        self.word(|_| ())?;
                        self.form(depth + 1)
                    }
                }
            }
            Some(b'"') => {
                self.take()?;
                Ok(Edn::Plain(Value::text(self.text()?)))
            }
            Some(b'}' | b']' | b')') => Err(self.wrong("a closing bracket without an opening one")),
            Some(_) => {
                let atom = self.word(|word| (!word.is_empty()).then(|| atom(word)))?;
                atom.map(Edn::Plain).ok_or_else(|| self.wrong("expected a form"))
            }
        }
    }

    fn until(&mut self, close: u8, depth: usize) -> Result<Vec<Edn>, InputError> {
        let mut items = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.peek()? {
                None => return Err(self.wrong("the input ends inside a form")),
                Some(byte) if byte == close => {
                    self.take()?;
                    return Ok(items);
                }
                Some(_) => items.push(self.form(depth + 1)?),
            }
        }
    }

    /// Reads a word, which may be empty, and makes something of it.
    fn word<T>(&mut self, make: impl FnOnce(&str) -> T) -> Result<T, InputError> {
        self.word.clear();
        loop {
            let buffer = self.input.fill_buf()?;
            let count = buffer.iter().take_while(|&&byte| !ends_word(byte)).count();
            let ended = count < buffer.len() || count == 0;
            self.word.extend_from_slice(&buffer[..count]);
            self.pass(count)?;
            if ended {
                break;
            }
        }
        let word = std::str::from_utf8(&self.word).map_err(|_| self.wrong("the form is not UTF-8"))?;
        Ok(make(word))
    }

    fn text(&mut self) -> Result<String, InputError> {
        let mut text = Vec::new();
        loop {
            match self.take()? {
                None => return Err(self.wrong("the input ends inside a text")),
                Some(b'"') => break,
                Some(b'\\') => match self.take()? {
                    Some(b'n') => text.push(b'\n'),
                    Some(b't') => text.push(b'\t'),
                    Some(b'r') => text.push(b'\r'),
                    Some(b'u') => {
                        let mut code = String::new();
                        for _ in 0..4 {
                            code.extend(self.take()?.map(char::from));
                        }
                        let char = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                        let char = char.ok_or_else(|| self.wrong("`\\u` needs the four digits of a character"))?;
                        text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    Some(byte) => text.push(byte),
                    None => return Err(self.wrong("the input ends inside a text")),
                },
                Some(byte) => text.push(byte),
            }
        }
        String::from_utf8(text).map_err(|_| self.wrong("the form is not UTF-8"))
    }
}

/// A word that stands alone.
pub(super) fn atom(word: &str) -> Value {
    match word {
        "nil" => Value::Nil,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => {
            let digits = word.strip_suffix(['N', 'M']).unwrap_or(word);
            match digits.strip_prefix('+').unwrap_or(digits).parse::<i64>() {
                Ok(number) => Value::Int(number),
                Err(_) => Value::text(word),
            }
        }
    }
}

/// The value a piece of EDN text stands for, as the log formats embed it.
pub(super) fn value_of(text: &str) -> Result<Value, String> {
    let mut forms = Forms::new(BufReader::new(text.as_bytes()));
    let message = |error: InputError| match error {
        InputError::Line { message, .. } => message,
        other => other.to_string(),
    };
    let value = forms.form(0).map_err(message)?.value()?;
    forms.skip_blanks().map_err(message)?;
    match forms.peek().map_err(message)? {
        None => Ok(value),
        Some(_) => Err("more than one value".into()),
    }
}

/// A value as people write it on a command line: a text in quotes and a sequence in brackets as in EDN or JSON, anything else a number, a truth value,
/// nothing, or a text as it stands.
pub fn value_from(text: &str) -> Result<Value, String> {
    match text {
        "null" => Ok(Value::Nil),
        _ if text.starts_with(['"', '[', '(']) => value_of(text),
        _ => Ok(atom(text)),
    }
}

/// Reads EDN histories.
pub struct EdnSource<R> {
    forms: Forms<R>,
    independent: bool,
    wrapped: Option<u8>,
    started: bool,
    finished: bool,
}

impl<R: Read> EdnSource<R> {
    /// A reader of this input.
    pub fn new(input: BufReader<R>, independent: bool) -> EdnSource<R> {
        EdnSource { forms: Forms::new(input), independent, wrapped: None, started: false, finished: false }
    }

    fn form(&mut self) -> Result<Option<(u32, Edn)>, InputError> {
        loop {
            self.forms.seen.clear();
            self.forms.size = 0;
            self.forms.skip_blanks()?;
            self.forms.seen.clear();
            let Some(byte) = self.forms.peek()? else {
                return if self.wrapped.is_some() {
                    Err(self.forms.wrong("the input ends before the vector is closed"))
                } else {
                    Ok(None)
                };
            };
            if self.finished {
                return Err(self.forms.wrong("something follows the end of the vector"));
            }
            if !self.started && matches!(byte, b'[' | b'(') {
                self.forms.take()?;
                self.wrapped = Some(if byte == b'[' { b']' } else { b')' });
                self.started = true;
                continue;
            }
            self.started = true;
            if Some(byte) == self.wrapped {
                self.forms.take()?;
                self.wrapped = None;
                self.finished = true;
                continue;
            }
            let line = self.forms.line;
            return Ok(Some((line, self.forms.form(0)?)));
        }
    }
}

impl<R: Read> Source for EdnSource<R> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        while let Some((line, form)) = self.form()? {
            let wrong = |message: String| InputError::at(line, self.forms.seen.trim(), message);
            let Edn::Map(map) = form else {
                return Err(wrong("expected a map".into()));
            };
            if let Some(event) = event(line, map, self.independent, tables).map_err(wrong)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

fn event(line: u32, map: Vec<(Edn, Edn)>, independent: bool, tables: &mut Tables) -> Result<Option<RawEvent>, String> {
    let (mut process, mut kind, mut f, mut value, mut key, mut object, mut time) =
        (None, None, None, None, None, None, None);
    for (field, content) in map {
        let Edn::Plain(Value::Text(field)) = field else {
            continue;
        };
        let slot = match field.as_ref() {
            ":process" => &mut process,
            ":type" => &mut kind,
            ":f" => &mut f,
            ":value" => &mut value,
            ":key" => &mut key,
            ":object" => &mut object,
            ":time" => &mut time,
            _ => continue,
        };
        if slot.replace(content).is_some() {
            return Err(format!("the field {field} is given twice"));
        }
    }
    let word = |field: Option<Edn>| match field {
        Some(Edn::Plain(Value::Text(text))) => Some(text.trim_start_matches(':').to_string()),
        _ => None,
    };
    let kind = word(kind).ok_or(":type is missing: :invoke, :ok, :fail or :info")?;
    let phase = phase(&kind).ok_or_else(|| format!("`:{kind}` is no type: :invoke, :ok, :fail or :info"))?;
    let process = match process {
        Some(Edn::Plain(Value::Int(number))) => tables.values.intern_int(number),
        Some(Edn::Plain(Value::Text(_))) => return Ok(None),
        _ => return Err(":process is missing".into()),
    };
    let name = word(f).ok_or(":f is missing: the name of the method")?;
    let name = tables.name(&name).ok_or("more than 65,536 different methods")?;
    let time = match time {
        None | Some(Edn::Plain(Value::Nil)) => None,
        Some(Edn::Plain(Value::Int(time))) => Some(time),
        Some(_) => return Err(":time must be a whole number".into()),
    };
    let mut value = value.unwrap_or(Edn::Plain(Value::Nil));
    if independent {
        match value {
            Edn::Many(mut pair) if pair.len() == 2 => {
                value = pair.pop().unwrap_or(Edn::Plain(Value::Nil));
                key = pair.pop();
            }
            _ => return Err("the value must be a [key value] pair".into()),
        }
    }
    let place = match (object, key) {
        (None, None) => ValueId::NIL,
        (Some(one), None) | (None, Some(one)) => tables.values.intern(one.value()?),
        (Some(object), Some(key)) => {
            let both = Value::list([object.value()?, key.value()?]);
            tables.values.intern(both)
        }
    };
    let value = tables.values.intern(value.value()?);
    Ok(Some(RawEvent { line, process, phase, name: Some(name), place, value, time }))
}
