//! The form for programs: one JSON object.
//!
//! ```text
//! {"handlers": [{"id": "h1", "messages": [{"id": "m1", "events": [{"get": "m1"}, {"read": ["x", "1"]}, {"post": ["h2", "m2"]}], "open": false}]}],
//!  "co": {"x": ["1", "2"]}, "rf": [["h2/m2/1", "h1/m1/1"]]}
//! ```
//!
//! Events are named by handler, message and index, from 0. `co` is an object of lists of values, or a list of chains of such names.

use super::{Chain, Draft, DraftEvent, DraftHandler, DraftKind, DraftMessage, InputError, Mention, Relation, Word};
use crate::format::json::{Fields, array, plain};
use crate::format::spanned::{self, Json, Value};

pub(super) fn parse(text: &str) -> Result<Draft, InputError> {
    let mut fields = Fields::of(spanned::parse(text)?, "the trace")?;
    fields.take("comment");
    let mut draft = Draft::default();
    for json in array(fields.need("handlers")?, "`handlers`")? {
        let mut fields = Fields::of(json, "a handler")?;
        let name = plain(fields.need("id")?, "the name of a handler")?;
        let messages = array(fields.need("messages")?, "`messages`")?;
        let messages = messages.into_iter().map(message).collect::<Result<_, _>>()?;
        draft.handlers.push(DraftHandler { name, messages });
        fields.finish("a handler", "id and messages")?;
    }
    let orders = fields.take("co");
    if let Some(json @ Json { value: Value::Array(_), .. }) = orders {
        paths(&mut draft, json, "co", Relation::Coherence)?;
    } else if let Some(orders) = orders {
        for (location, spot, values) in Fields::of(orders, "`co`")?.into_all() {
            let location = Word { text: location, spot };
            let mut events = Vec::new();
            for value in array(values, "the order of writes")? {
                let value = plain(value, "a value")?;
                let spot = value.spot;
                events.push(Mention::Event(DraftEvent { kind: DraftKind::Write(location.clone(), value), spot }));
            }
            draft.relations.push(Chain { relation: Relation::Coherence, events });
        }
    }
    for (name, relation) in [("rf", Relation::ReadsFrom), ("eo", Relation::Runs), ("mo", Relation::Posts)] {
        if let Some(chains) = fields.take(name) {
            paths(&mut draft, chains, name, relation)?;
        }
    }
    fields.finish("the trace", "comment, handlers, co, rf, eo and mo")?;
    Ok(draft)
}

/// Chains of events that are named by their paths.
fn paths(draft: &mut Draft, chains: Json, name: &str, relation: Relation) -> Result<(), InputError> {
    for chain in array(chains, &format!("`{name}`"))? {
        let path = |json| plain(json, "`handler/message/index`").map(Mention::Path);
        let events = array(chain, "a list of events")?.into_iter().map(path).collect::<Result<_, _>>()?;
        draft.relations.push(Chain { relation, events });
    }
    Ok(())
}

fn message(json: Json) -> Result<DraftMessage, InputError> {
    let mut fields = Fields::of(json, "a message")?;
    let name = plain(fields.need("id")?, "the name of a message")?;
    let events = array(fields.need("events")?, "`events`")?;
    let events = events.into_iter().map(|json| Ok((event(json)?, 0))).collect::<Result<_, InputError>>()?;
    let open = match fields.take("open") {
        None => false,
        Some(Json { value: Value::Plain(word), .. }) if word == "true" || word == "false" => word == "true",
        Some(json) => return Err(InputError::at(json.spot, "`open` is true or false")),
    };
    fields.finish("a message", "id, events and open")?;
    Ok(DraftMessage { name, events, open })
}

fn event(json: Json) -> Result<DraftEvent, InputError> {
    let spot = json.spot;
    let wrong = || {
        InputError::at(spot, "this is no event").help(
            "the events are {\"get\": \"m\"}, {\"post\": [\"h\", \"m\"]}, {\"read\": [\"x\", \"1\"]} and {\"write\": [\"x\", \"1\"]}",
        )
    };
    let mut all = Fields::of(json, "an event")?.into_all();
    let (Some((word, _, arguments)), true) = (all.pop(), all.is_empty()) else { return Err(wrong()) };
    let kind = if word == "get" {
        DraftKind::Get(plain(arguments, "the name of a message")?)
    } else {
        let arguments = array(arguments, "what an event is about")?;
        let words = arguments.into_iter().map(|json| plain(json, "a name")).collect::<Result<Vec<_>, _>>()?;
        let [first, second] = <[Word; 2]>::try_from(words).map_err(|_| wrong())?;
        match word.as_str() {
            "post" => DraftKind::Post(first, second),
            "read" => DraftKind::Read(first, second),
            "write" => DraftKind::Write(first, second),
            _ => return Err(wrong()),
        }
    };
    Ok(DraftEvent { kind, spot })
}
