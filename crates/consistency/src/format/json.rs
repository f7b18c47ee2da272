//! The form for programs: one JSON object.
//!
//! ```text
//! {"comment": "Whatever one wants to say.",
//!  "initial": {"x": 0},
//!  "threads": [
//!    {"name": "left", "events": [
//!      {"op": "write", "location": "x", "value": 1, "order": "rel"},
//!      {"op": "read", "location": "y", "from": "right.0"},
//!      {"op": "update", "location": "x", "old": 1, "new": 2, "label": "a"},
//!      {"op": "fence"}, {"op": "spawn", "thread": "right"}]},
//!    {"name": "right", "events": [{"op": "write", "location": "y"}]}]}
//! ```

use super::spanned::{self, Json, Value};
use super::{Draft, DraftEvent, DraftKind, DraftThread, EVENTS, InputError, Spot, Word};

/// The fields of an object that are not read yet.
pub(crate) struct Fields {
    fields: Vec<(String, Spot, Json)>,
    spot: Spot,
}

pub(super) fn parse(text: &str) -> Result<Draft, InputError> {
    let mut fields = Fields::of(spanned::parse(text)?, "the trace")?;
    fields.take("comment");
    let mut draft = Draft::default();
    if let Some(initial) = fields.take("initial") {
        for (name, spot, value) in Fields::of(initial, "`initial`")?.fields {
            draft.initial.push((Word { text: name, spot }, plain(value, "a value")?));
        }
    }
    for (number, json) in array(fields.need("threads")?, "`threads`")?.into_iter().enumerate() {
        let mut fields = Fields::of(json, "a thread")?;
        let unnamed = Word { text: number.to_string(), spot: fields.spot };
        let name = fields.take("name").map_or(Ok(unnamed), |name| plain(name, "the name of a thread"))?;
        let events = array(fields.need("events")?, "`events`")?;
        draft.threads.push(DraftThread { name, events: events.into_iter().map(event).collect::<Result<_, _>>()? });
        fields.finish("a thread", "name and events")?;
    }
    fields.finish("the trace", "comment, initial and threads")?;
    Ok(draft)
}

impl Fields {
    pub(crate) fn of(json: Json, what: &str) -> Result<Self, InputError> {
        match json.value {
            Value::Object(fields) => Ok(Fields { fields, spot: json.spot }),
            _ => Err(InputError::at(json.spot, format!("{what} should be an object"))),
        }
    }

    /// All of them.
    pub(crate) fn into_all(self) -> Vec<(String, Spot, Json)> {
        self.fields
    }

    /// A field, if it is there and not null.
    pub(crate) fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.fields.iter().position(|(field, ..)| field == name)?;
        let (_, _, json) = self.fields.remove(at);
        Some(json).filter(|json| !matches!(&json.value, Value::Plain(text) if text == "null"))
    }

    pub(crate) fn need(&mut self, name: &str) -> Result<Json, InputError> {
        let missing = InputError::at(self.spot, format!("the field `{name}` is missing"));
        self.take(name).ok_or(missing)
    }

    fn take_word(&mut self, name: &str) -> Result<Option<Word>, InputError> {
        self.take(name).map(|json| plain(json, &format!("`{name}`"))).transpose()
    }

    fn need_word(&mut self, name: &str) -> Result<Word, InputError> {
        plain(self.need(name)?, &format!("`{name}`"))
    }

    pub(crate) fn finish(self, what: &str, known: &str) -> Result<(), InputError> {
        match self.fields.first() {
            None => Ok(()),
            Some((name, spot, _)) => {
                let message = format!("did not expect the field `{name}` here");
                Err(InputError::at(*spot, message).help(format!("{what} may have {known}, each once")))
            }
        }
    }
}

pub(crate) fn array(json: Json, what: &str) -> Result<Vec<Json>, InputError> {
    match json.value {
        Value::Array(items) => Ok(items),
        _ => Err(InputError::at(json.spot, format!("{what} should be an array"))),
    }
}

/// A text or a number as a word.
pub(crate) fn plain(json: Json, what: &str) -> Result<Word, InputError> {
    match json.value {
        Value::String(text) | Value::Plain(text) => Ok(Word { text, spot: json.spot }),
        _ => Err(InputError::at(json.spot, format!("{what} should be a text or a number"))),
    }
}

fn event(json: Json) -> Result<DraftEvent, InputError> {
    let spot = json.spot;
    let mut fields = Fields::of(json, "an event")?;
    let label = fields.take_word("label")?;
    let order = fields.take_word("order")?;
    let op = fields.need_word("op").map_err(|error| error.help(EVENTS))?;
    let (kind, known) = match op.text.as_str() {
        "write" => {
            let kind = DraftKind::Write { loc: fields.need_word("location")?, value: fields.take_word("value")? };
            (kind, "op, label, order, location and value")
        }
        "read" => {
            let loc = fields.need_word("location")?;
            let kind = DraftKind::Read { loc, value: fields.take_word("value")?, from: fields.take_word("from")? };
            (kind, "op, label, order, location, value and from")
        }
        "update" => {
            let loc = fields.need_word("location")?;
            let (old, new) = (fields.take_word("old")?, fields.take_word("new")?);
            let kind = DraftKind::Update { loc, old, new, from: fields.take_word("from")? };
            (kind, "op, label, order, location, old, new and from")
        }
        "fence" => (DraftKind::Fence, "op, label and order"),
        "store-fence" => (DraftKind::StoreFence, "op and label"),
        "spawn" => (DraftKind::Spawn(fields.need_word("thread")?), "op, label and thread"),
        "join" => (DraftKind::Join(fields.need_word("thread")?), "op, label and thread"),
        "note" => {
            fields.take("text");
            (DraftKind::Note, "op, label and text")
        }
        other => return Err(InputError::at(op.spot, format!("`{other}` is no event")).help(EVENTS)),
    };
    fields.finish("this event", known)?;
    Ok(DraftEvent { label, kind, order, spot })
}
