//! EDN histories: maps like `{:process 0, :type :invoke, :f :read, :value nil}`, one after another or in one vector.
//!
//! This is what Jepsen and Knossos write, and the shape of Porcupine's key-value logs. Forms may span lines; tagged
//! forms count as the form itself, so `#jepsen.history.Op{...}` is read as its map. Operations of the nemesis (a process
//! that is not a number) are skipped. Depth and size of a form are bounded.
//!
//! Reading goes in two steps: `Units` finds out where a form ends, and `Forms` reads it where it lies, without a tree between the bytes and
//! the values.

use std::borrow::Cow;
use std::io::{BufReader, Read};

use super::flat::Flat;
use super::json::phase;
use super::units::{Units, ends_word, is_blank};
use super::{InputError, Phase, RawEvent, Source, Tables};
use crate::value::{Value, ValueId, Values};

const MAX_DEPTH: usize = 64;

/// Forms in a piece of memory, one after another.
struct Forms<'a> {
    text: &'a str,
    at: usize,
}

/// How a form begins. Behind a word or a text it has ended.
enum Start<'a> {
    Word(&'a str),
    Text(Cow<'a, str>),
    /// A vector, list or set, and the bracket that closes it.
    Many(u8),
    Map,
}

impl<'a> Forms<'a> {
    fn new(text: &'a str) -> Forms<'a> {
        Forms { text, at: 0 }
    }

    /// The byte so many places on.
    fn ahead(&self, places: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + places).copied()
    }

    fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    /// What lies between here and the next byte of a kind, or the end.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text.as_bytes()[self.at..];
        let from = self.at;
        self.at += rest.iter().position(|&byte| ends(byte)).unwrap_or(rest.len());
        &self.text[from..self.at]
    }

    /// Passes what stands before a form and is none: blanks, comments, tags, and forms that are to be ignored.
    fn skip(&mut self, depth: usize) -> Result<(), String> {
        loop {
            match self.peek() {
                Some(byte) if is_blank(byte) => self.at += 1,
                Some(b';') => _ = self.until(|byte| byte == b'\n'),
                Some(b'#') => match self.ahead(1) {
                    // A set, or one of the numbers that are none.
                    Some(b'{' | b'#') => return Ok(()),
                    Some(b'_') => {
                        self.at += 2;
                        self.ignore(depth + 1)?;
                    }
                    _ => _ = self.until(ends_word),
                },
                _ => return Ok(()),
            }
        }
    }

    fn start(&mut self, depth: usize) -> Result<Start<'a>, String> {
        if depth > MAX_DEPTH {
            return Err("the form is nested too deeply".into());
        }
        self.skip(depth)?;
        let first = self.peek().ok_or("the input ends inside a form")?;
        let set = first == b'#' && self.ahead(1) == Some(b'{');
        if !ends_word(first) && !set {
            return Ok(Start::Word(self.until(ends_word)));
        }
        self.at += 1 + usize::from(set);
        match first {
            b'#' => Ok(Start::Many(b'}')),
            b'[' => Ok(Start::Many(b']')),
            b'(' => Ok(Start::Many(b')')),
            b'{' => Ok(Start::Map),
            b'"' => self.quoted().map(Start::Text),
            b'}' | b']' | b')' => Err("a closing bracket without an opening one".into()),
            _ => Err("expected a form".into()),
        }
    }

    /// Whether another form follows before the bracket that closes; passes the bracket if not.
    fn more(&mut self, close: u8, depth: usize) -> Result<bool, String> {
        self.skip(depth)?;
        match self.peek() {
            None => Err("the input ends inside a form".into()),
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
        }
    }

    /// Passes a form that begins here.
    fn ignore(&mut self, depth: usize) -> Result<(), String> {
        let start = self.start(depth)?;
        self.finish(&start, depth)
    }

    /// Passes the rest of a form.
    fn finish(&mut self, start: &Start<'a>, depth: usize) -> Result<(), String> {
        let (close, each) = match start {
            Start::Word(_) | Start::Text(_) => return Ok(()),
            Start::Many(close) => (*close, 1),
            Start::Map => (b'}', 2),
        };
        while self.more(close, depth)? {
            for part in 0..each {
                if part > 0 && !self.more(close, depth)? {
                    return Err(NO_VALUE.into());
                }
                self.ignore(depth + 1)?;
            }
        }
        Ok(())
    }

    /// The rest of a text behind its quote.
    fn quoted(&mut self) -> Result<Cow<'a, str>, String> {
        let mut text = Cow::Borrowed("");
        loop {
            text += self.until(|byte| matches!(byte, b'"' | b'\\'));
            let escape = match (self.peek(), self.ahead(1)) {
                (Some(b'"'), _) => {
                    self.at += 1;
                    return Ok(text);
                }
                (Some(_), Some(escape)) => escape,
                _ => return Err("the input ends inside a text".into()),
            };
            self.at += 2;
            match escape {
                b'n' => text += "\n",
                b't' => text += "\t",
                b'r' => text += "\r",
                b'u' => {
                    let code = self.text.get(self.at..self.at + 4);
                    let number = code.and_then(|code| u32::from_str_radix(code, 16).ok());
                    let char = number.and_then(char::from_u32).ok_or("`\\u` needs the four digits of a character")?;
                    text.to_mut().push(char);
                    self.at += 4;
                }
                // Anything else stands for itself, and is taken with what follows.
                _ => {
                    self.at -= 1;
                    let char = self.text[self.at..].chars().next().ok_or("the input ends inside a text")?;
                    text.to_mut().push(char);
                    self.at += char.len_utf8();
                }
            }
        }
    }

    /// The value that a form stands for.
    fn value(&mut self, depth: usize) -> Result<Value, String> {
        match self.start(depth)? {
            Start::Word(word) => Ok(atom(word)),
            Start::Text(text) => Ok(Value::text(text)),
            Start::Map => Err(MAP.into()),
            Start::Many(close) => {
                let mut items = Vec::new();
                while self.more(close, depth)? {
                    items.push(self.value(depth + 1)?);
                }
                Ok(Value::list(items))
            }
        }
    }

    /// The value of an event.
    fn carried(&mut self, tables: &mut Tables, depth: usize) -> Result<ValueId, String> {
        let Tables { values, flat: Some(flat), .. } = tables else {
            let value = self.value(depth)?;
            return Ok(tables.values.intern(value));
        };
        let from = flat.end();
        self.flatten(values, flat, depth)?;
        Ok(from)
    }

    fn flatten(&mut self, values: &mut Values, flat: &mut Flat, depth: usize) -> Result<(), String> {
        match self.start(depth)? {
            Start::Word(word) if word.starts_with(':') => flat.push(values.intern_text(word)),
            Start::Word(word) => flat.push(values.intern(atom(word))),
            Start::Text(text) => flat.push(values.intern_text(&text)),
            Start::Map => return Err(MAP.into()),
            Start::Many(close) => {
                let list = flat.open();
                let mut count = 0;
                while self.more(close, depth)? {
                    self.flatten(values, flat, depth + 1)?;
                    count += 1;
                }
                flat.close(list, count);
            }
        }
        Ok(())
    }
}

const MAP: &str = "a map cannot be a value of a history";
const NO_VALUE: &str = "a map with a key and no value";

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
    let mut forms = Forms::new(text);
    let value = forms.value(0)?;
    forms.skip(0)?;
    match forms.peek() {
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
    units: Units<R>,
    independent: bool,
    whole: bool,
    /// The return that comes with the call before.
    next: Option<RawEvent>,
    has_whole: bool,
    wrapped: Option<u8>,
    started: bool,
    finished: bool,
}

impl<R: Read> EdnSource<R> {
    /// A reader of this input.
    pub fn new(input: BufReader<R>, independent: bool, whole: bool) -> EdnSource<R> {
        let units = Units::new(input);
        EdnSource {
            units,
            independent,
            whole,
            next: None,
            has_whole: false,
            wrapped: None,
            started: false,
            finished: false,
        }
    }

    /// Goes to the next form, into the vector around all of them or out of it; whether there is a form.
    fn go_on(&mut self) -> Result<bool, InputError> {
        loop {
            let Some(byte) = self.units.peek()? else {
                return match self.wrapped {
                    Some(_) => Err(self.units.wrong("the input ends before the vector is closed")),
                    None => Ok(false),
                };
            };
            if self.finished {
                return Err(self.units.wrong("something follows the end of the vector"));
            }
            let opens = !self.started && matches!(byte, b'[' | b'(');
            self.started = true;
            if opens {
                self.wrapped = Some(if byte == b'[' { b']' } else { b')' });
            } else if Some(byte) == self.wrapped {
                self.wrapped = None;
                self.finished = true;
            } else {
                return Ok(true);
            }
            self.units.pass();
        }
    }
}

impl<R: Read> Source for EdnSource<R> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        if let Some(event) = self.next.take() {
            return Ok(Some(event));
        }
        while self.go_on()? {
            let (line, text) = self.units.next()?;
            let wrong = |message: String| InputError::at(line, text, message);
            if let Some((event, whole)) = event(line, text, self.independent, self.whole, tables).map_err(wrong)? {
                self.next = whole.then_some(RawEvent { phase: Phase::Ok, ..event });
                self.has_whole |= whole;
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn has_whole(&self) -> bool {
        self.has_whole
    }
}

/// The fields of an event.
#[derive(Default)]
struct Fields<'a> {
    process: Option<Value>,
    kind: Option<&'a str>,
    name: Option<&'a str>,
    value: Option<Carried>,
    key: Option<Carried>,
    object: Option<Carried>,
    time: Option<Value>,
}

/// A value that an event carries, or why it is none: events of the nemesis may carry anything.
type Carried = Result<ValueId, String>;

/// An event; and whether it is a whole operation, of which this is the call.
fn event(
    line: u32,
    text: &str,
    independent: bool,
    whole: bool,
    tables: &mut Tables,
) -> Result<Option<(RawEvent, bool)>, String> {
    let mut forms = Forms::new(text);
    let Start::Map = forms.start(0)? else {
        return Err("expected a map".into());
    };
    let mut fields = Fields::default();
    let kept = tables.flat.as_ref().map(Flat::end);
    while forms.more(b'}', 0)? {
        fields.read(&mut forms, independent, tables)?;
    }
    let Fields { process, kind, name, value, key, object, time } = fields;
    let phase = match kind {
        Some(kind) => phase(kind).ok_or_else(|| format!("`:{kind}` is no type: :invoke, :ok, :fail or :info"))?,
        None if whole => Phase::Invoke,
        None => return Err(":type is missing: :invoke, :ok, :fail or :info".into()),
    };
    let whole = whole && kind.is_none();
    let process = match process {
        Some(Value::Int(number)) => tables.values.intern_int(number),
        Some(Value::Text(text)) if text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit()) => {
            return Err(format!("the process `{text}` is no whole number that fits into 64 bits"));
        }
        Some(Value::Text(name)) if whole && name.trim_start_matches(':') != "nemesis" => {
            tables.values.intern(Value::Text(name))
        }
        Some(Value::Text(_)) => {
            tables.flat.iter_mut().zip(kept).for_each(|(flat, end)| flat.cut(end));
            return Ok(None);
        }
        _ => return Err(":process is missing".into()),
    };
    let name = name.ok_or(":f is missing: the name of the method")?;
    let name = tables.name(name).ok_or("more than 65,536 different methods")?;
    let time = match time {
        None | Some(Value::Nil) => None,
        Some(Value::Int(time)) => Some(time),
        Some(_) => return Err(":time must be a whole number".into()),
    };
    let place = match (object.transpose()?, key.transpose()?) {
        (None, None) => ValueId::NIL,
        (Some(one), None) | (None, Some(one)) => one,
        (Some(object), Some(key)) => {
            let both = [object, key].map(|id| tables.values.get(id).clone());
            tables.values.intern(Value::list(both))
        }
    };
    let value = match value {
        Some(value) => value?,
        None if independent => return Err(PAIR.into()),
        None => tables.carry(Value::Nil),
    };
    Ok(Some((RawEvent { line, process, phase, name: Some(name), place, value, time }, whole)))
}

const PAIR: &str = "the value must be a [key value] pair";

impl<'a> Fields<'a> {
    /// Reads a field with what it holds.
    fn read(&mut self, forms: &mut Forms<'a>, independent: bool, tables: &mut Tables) -> Result<(), String> {
        let field = forms.start(1)?;
        forms.finish(&field, 1)?;
        if !forms.more(b'}', 0)? {
            return Err(NO_VALUE.into());
        }
        let Start::Word(field) = field else {
            return forms.ignore(1);
        };
        let again = match field {
            ":process" => self.process.replace(forms.simple()?).is_some(),
            ":time" => self.time.replace(forms.simple()?).is_some(),
            ":type" => forms.keyword()?.is_some_and(|kind| self.kind.replace(kind).is_some()),
            ":f" => forms.keyword()?.is_some_and(|name| self.name.replace(name).is_some()),
            ":value" if independent => {
                let (key, value) = forms
                    .attempt(|forms| forms.pair(tables))?
                    .map_or_else(|why| (Err(why.clone()), Err(why)), |(key, value)| (Ok(key), Ok(value)));
                self.key = Some(key);
                self.value.replace(value).is_some()
            }
            ":value" => {
                let value = forms.attempt(|forms| forms.carried(tables, 1))?;
                self.value.replace(value).is_some()
            }
            ":key" if independent => {
                forms.ignore(1)?;
                false
            }
            ":key" | ":object" => {
                let value = forms.attempt(|forms| Ok(tables.values.intern(forms.value(1)?)))?;
                let slot = if field == ":key" { &mut self.key } else { &mut self.object };
                slot.replace(value).is_some()
            }
            _ => return forms.ignore(1),
        };
        if again { Err(format!("the field {field} is given twice")) } else { Ok(()) }
    }
}

impl<'a> Forms<'a> {
    /// Makes something of a form; if that cannot be done, passes it and tells why.
    fn attempt<T>(
        &mut self,
        make: impl FnOnce(&mut Forms<'a>) -> Result<T, String>,
    ) -> Result<Result<T, String>, String> {
        let from = self.at;
        let made = make(self);
        if made.is_err() {
            self.at = from;
            self.ignore(1)?;
        }
        Ok(made)
    }

    /// A number, a word or a text; anything else is nothing.
    fn simple(&mut self) -> Result<Value, String> {
        let made = self.attempt(|forms| forms.value(1))?;
        Ok(made.unwrap_or(Value::Nil))
    }

    /// A word without its colon.
    fn keyword(&mut self) -> Result<Option<&'a str>, String> {
        let start = self.start(1)?;
        self.finish(&start, 1)?;
        match start {
            Start::Word(word) => Ok(Some(word.trim_start_matches(':'))),
            _ => Ok(None),
        }
    }

    /// A key and a value.
    fn pair(&mut self, tables: &mut Tables) -> Result<(ValueId, ValueId), String> {
        let Start::Many(close) = self.start(1)? else { return Err(PAIR.into()) };
        if !self.more(close, 1)? {
            return Err(PAIR.into());
        }
        let key = tables.values.intern(self.value(2)?);
        if !self.more(close, 1)? {
            return Err(PAIR.into());
        }
        let value = self.carried(tables, 2)?;
        if self.more(close, 1)? { Err(PAIR.into()) } else { Ok((key, value)) }
    }
}
