//! JSON lines: one object an event.
//!
//! The fields are those of a Jepsen history: `process`, `type` (`invoke`, `ok`, `fail`, `info`), `f`, `value`, and
//! optionally `time`, `key`, `object`; other fields are ignored. The compact spelling
//! `{"t":1,"thread":4,"op":77,"ev":"call","m":"push","v":"a"}` is accepted too: there `op` (or `thread`) names the open
//! operation and a return may leave the method out. Where whole operations are read, a line without a type is one: its call and its return.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufReader, Read};

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use super::lines::Lines;
use super::{InputError, Phase, RawEvent, Source, Tables};
use crate::value::{Value, ValueId};

/// Reads JSON lines.
pub struct Json<R> {
    lines: Lines<R>,
    independent: bool,
    whole: bool,
    /// The return that comes with the call before.
    next: Option<RawEvent>,
    has_whole: bool,
}

impl<R: Read> Json<R> {
    /// A reader of this input.
    pub fn new(input: BufReader<R>, independent: bool, whole: bool) -> Json<R> {
        Json { lines: Lines::new(input), independent, whole, next: None, has_whole: false }
    }
}

/// A JSON value that borrows its text from the line.
#[derive(Debug)]
enum Item<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Text(Cow<'a, str>),
    List(Vec<Item<'a>>),
}

impl Item<'_> {
    fn value(self) -> Value {
        match self {
            Item::Nil => Value::Nil,
            Item::Bool(truth) => Value::Bool(truth),
            Item::Int(number) => Value::Int(number),
            Item::Text(text) => Value::text(text),
            Item::List(items) => Value::list(items.into_iter().map(Item::value).collect::<Vec<_>>()),
        }
    }

    fn intern(self, tables: &mut Tables) -> ValueId {
        match self {
            Item::Int(number) => tables.values.intern_int(number),
            other => tables.values.intern(other.value()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Item<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Item<'a>, D::Error> {
        struct Items;
        impl<'de> Visitor<'de> for Items {
            type Value = Item<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("null, a truth value, a number, a text or a list")
            }
            fn visit_unit<E>(self) -> Result<Item<'de>, E> {
                Ok(Item::Nil)
            }
            fn visit_bool<E>(self, truth: bool) -> Result<Item<'de>, E> {
                Ok(Item::Bool(truth))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Item<'de>, E> {
                Ok(Item::Int(number))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Item<'de>, E> {
                Ok(i64::try_from(number).map_or_else(|_| Item::Text(number.to_string().into()), Item::Int))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Item<'de>, E> {
                // Beyond this, whole numbers that differ are read as one and the same.
                const EXACT: f64 = 9_007_199_254_740_992.0;
                if number.abs() >= EXACT {
                    let why = format!("{number} is too large to be told from its neighbours; write it as a text");
                    return Err(E::custom(why));
                }
                Ok(if number.fract() == 0.0 { Item::Int(number as i64) } else { Item::Text(number.to_string().into()) })
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Item<'de>, E> {
                Ok(Item::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Item<'de>, E> {
                Ok(Item::Text(Cow::Owned(text.to_string())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Item<'de>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Item::List(list))
            }
        }
        input.deserialize_any(Items)
    }
}

/// The fields of a line, in either spelling.
#[derive(Debug, Default)]
struct Fields<'a> {
    process: Option<Item<'a>>,
    operation: Option<Item<'a>>,
    phase: Option<Item<'a>>,
    name: Option<Item<'a>>,
    value: Option<Item<'a>>,
    key: Option<Item<'a>>,
    object: Option<Item<'a>>,
    time: Option<Item<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Fields<'a>, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Fields<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object with the fields of an event")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields::default();
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    let slot = match key.as_ref() {
                        "process" | "thread" => &mut fields.process,
                        "op" => &mut fields.operation,
                        "type" | "ev" => &mut fields.phase,
                        "f" | "m" => &mut fields.name,
                        "value" | "v" => &mut fields.value,
                        "key" => &mut fields.key,
                        "object" => &mut fields.object,
                        "time" | "t" => &mut fields.time,
                        _ => {
                            map.next_value::<de::IgnoredAny>()?;
                            continue;
                        }
                    };
                    if slot.is_some() {
                        return Err(de::Error::custom(format!("the field `{key}` is given twice")));
                    }
                    *slot = Some(map.next_value()?);
                }
                Ok(fields)
            }
        }
        input.deserialize_map(Map)
    }
}

impl<R: Read> Source for Json<R> {
    fn next(&mut self, tables: &mut Tables) -> Result<Option<RawEvent>, InputError> {
        if let Some(event) = self.next.take() {
            return Ok(Some(event));
        }
        while let Some((line, text)) = self.lines.next_line()? {
            if text.trim().is_empty() {
                continue;
            }
            let plain = plain(text).map(Ok);
            let fields: Fields<'_> = plain.unwrap_or_else(|| serde_json::from_str(text)).map_err(|error| {
                let message = error.to_string();
                let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
                InputError::at(line, text, format!("{reason} (column {})", error.column()))
            })?;
            let whole = self.whole && fields.phase.is_none();
            if let Some(event) = event(fields, line, text, self.independent, whole, tables)? {
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

/// The fields of a line that is as simple as nearly all lines are: no lists, no fractions, no escapes, every field known and given once. Any other
/// line is none of ours, right or wrong.
fn plain(text: &str) -> Option<Fields<'_>> {
    let mut fields = Fields::default();
    let mut rest = text.strip_prefix('{')?;
    loop {
        let (key, after) = word(rest)?;
        let slot = match key {
            "process" | "thread" => &mut fields.process,
            "op" => &mut fields.operation,
            "type" | "ev" => &mut fields.phase,
            "f" | "m" => &mut fields.name,
            "value" | "v" => &mut fields.value,
            "key" => &mut fields.key,
            "object" => &mut fields.object,
            "time" | "t" => &mut fields.time,
            _ => return None,
        };
        let (item, after) = simple(after.strip_prefix(':')?.trim_start_matches(' '))?;
        if slot.replace(item).is_some() {
            return None;
        }
        match after.as_bytes() {
            [b'}'] => return Some(fields),
            [b',', ..] => rest = after[1..].trim_start_matches(' '),
            _ => return None,
        }
    }
}

/// A text in quotes without escapes, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let end = inside.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
    (inside.as_bytes()[end] == b'"').then(|| (&inside[..end], &inside[end + 1..]))
}

/// A text, a whole number of few digits, a truth value or nothing, and what follows it.
fn simple(text: &str) -> Option<(Item<'_>, &str)> {
    match *text.as_bytes().first()? {
        b'"' => word(text).map(|(word, after)| (Item::Text(Cow::Borrowed(word)), after)),
        b'n' => text.strip_prefix("null").map(|after| (Item::Nil, after)),
        b't' => text.strip_prefix("true").map(|after| (Item::Bool(true), after)),
        b'f' => text.strip_prefix("false").map(|after| (Item::Bool(false), after)),
        first => {
            let negative = first == b'-';
            let digits = &text[usize::from(negative)..];
            let count = digits.bytes().take_while(u8::is_ascii_digit).count();
            // A zero in front is no number; what follows must end it.
            let known = (1..=18).contains(&count) && (count == 1 || !digits.starts_with('0'));
            if !known || !digits[count..].starts_with([',', '}']) || (negative && digits.starts_with('0')) {
                return None;
            }
            let size = digits.bytes().take(count).fold(0i64, |number, digit| 10 * number + i64::from(digit - b'0'));
            Some((Item::Int(if negative { -size } else { size }), &digits[count..]))
        }
    }
}

fn event(
    fields: Fields<'_>,
    line: u32,
    text: &str,
    independent: bool,
    whole: bool,
    tables: &mut Tables,
) -> Result<Option<RawEvent>, InputError> {
    let wrong = |message: String| InputError::at(line, text, message);
    let word = |item: &Option<Item<'_>>| match item {
        Some(Item::Text(word)) => Some(word.clone().into_owned()),
        _ => None,
    };
    let phase = match fields.phase.as_ref() {
        Some(Item::Text(word)) => {
            phase(word).ok_or_else(|| wrong(format!("`{word}` is no type: invoke, ok, fail or info")))?
        }
        None if whole => Phase::Invoke,
        _ => {
            return Err(wrong("the field `type` is missing: invoke, ok, fail or info".into()));
        }
    };
    let owner = match (fields.operation, fields.process) {
        (Some(operation), _) => operation,
        (None, Some(Item::Text(who))) if who == "nemesis" => return Ok(None),
        (None, Some(process)) => process,
        (None, None) => return Err(wrong("the field `process` is missing".into())),
    };
    let name = match fields.name.as_ref() {
        Some(Item::Text(name)) => {
            Some(tables.name(name).ok_or_else(|| wrong("more than 65,536 different methods".into()))?)
        }
        None if phase != Phase::Invoke => None,
        _ => {
            return Err(wrong("the field `f` is missing: the name of the method".into()));
        }
    };
    let time = match fields.time {
        None | Some(Item::Nil) => None,
        Some(Item::Int(time)) => Some(time),
        ref other => {
            return Err(wrong(format!("`time` must be a whole number, found {:?}", word(other).unwrap_or_default())));
        }
    };
    let mut value = fields.value.unwrap_or(Item::Nil);
    let mut key = fields.key;
    if independent {
        match value {
            Item::List(mut pair) if pair.len() == 2 => {
                value = pair.pop().unwrap_or(Item::Nil);
                key = pair.pop();
            }
            _ => return Err(wrong("the value must be a [key, value] pair".into())),
        }
    }
    let place = match (fields.object, key) {
        (None, None) => ValueId::NIL,
        (Some(one), None) | (None, Some(one)) => one.intern(tables),
        (Some(object), Some(key)) => {
            let both = Value::list([object.value(), key.value()]);
            tables.values.intern(both)
        }
    };
    let process = owner.intern(tables);
    let value = match value {
        Item::Int(number) if tables.flat.is_none() => tables.values.intern_int(number),
        other => tables.carry(other.value()),
    };
    Ok(Some(RawEvent { line, process, phase, name, place, value, time }))
}

/// The phase a word names.
pub(super) fn phase(word: &str) -> Option<Phase> {
    Some(match word {
        "invoke" | "call" => Phase::Invoke,
        "ok" | "ret" | "return" => Phase::Ok,
        "fail" => Phase::Fail,
        "info" => Phase::Info,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read the short way is what is read the long way, on lines that are nearly simple.
    #[test]
    fn the_short_way_reads_what_the_long_way_reads() {
        let pieces = [
            "{",
            "}",
            ",",
            ":",
            "\"",
            "process",
            "type",
            "f",
            "value",
            "\"process\":",
            "\"type\":\"ok\"",
            "\"value\":",
            "\"f\":\"push\"",
            "\"key\":\"a\"",
            "\"x\":1",
            "0",
            "-0",
            "01",
            "-7",
            "12345678901234567890",
            "999999999999999999",
            "1.5",
            "1e3",
            "null",
            "nul",
            "true",
            "false",
            "[1,2]",
            "\"\\n\"",
            "\"\u{e9}\"",
            "\"a\"",
            " ",
        ];
        let mut seed = 7u64;
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % bound
        };
        let mut read = 0;
        for _ in 0..300_000 {
            let mut text = String::from("{");
            for _ in 0..1 + random(4) {
                let field = ["\"process\":", "\"type\":", "\"f\":", "\"value\":", "\"key\":"][random(5)];
                text += field;
                text += if random(4) == 0 { " " } else { "" };
                text += pieces[15 + random(pieces.len() - 15)];
                text += if random(12) == 0 { pieces[random(pieces.len())] } else { "," };
            }
            text.pop();
            text += if random(20) == 0 { pieces[random(pieces.len())] } else { "}" };
            if let Some(short) = plain(&text) {
                read += 1;
                let long: Fields<'_> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!(format!("{short:?}"), format!("{long:?}"), "{text}");
            }
        }
        assert!(read > 10_000, "{read}");
    }
}
