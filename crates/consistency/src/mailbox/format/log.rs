//! A log: a line `HANDLER MESSAGE EVENT ...` for each event, in the order in which they happened.
//!
//! ```text
//! ui  start  get            # or call, begin
//! ui  start  write x        # or store
//! ui  start  post net m1    # to handler net
//! net m1     call
//! net m1     load x         # reads what was written last
//! net m1     open           # m1 had not ended when the log did
//! ```
//!
//! What a model checker prints about a run and what a race detector for event loops records has this form, or nearly so. Values are not needed: stores of a location are numbered as
//! they come, and a load reads the last number, or the initial value before the first.

use super::{Draft, DraftEvent, DraftHandler, DraftKind, DraftMessage, InputError, Spot, Word};
use rustc_hash::FxHashMap;

pub(super) fn parse(text: &str) -> Result<Draft, InputError> {
    let mut draft = Draft { happened: true, ..Draft::default() };
    let mut handlers: FxHashMap<&str, usize> = FxHashMap::default();
    let mut messages: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    // How often each location has been written.
    let mut written: FxHashMap<&str, u64> = FxHashMap::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or(line);
        let words: Vec<(&str, Spot)> = line
            .split_whitespace()
            .map(|word| {
                let before = &line[..word.as_ptr() as usize - line.as_ptr() as usize];
                let column = before.chars().count() as u32 + 1;
                (word, Spot { line: number as u32 + 1, column, len: word.chars().count() as u32 })
            })
            .collect();
        if words.is_empty() {
            continue;
        }
        let word = |(text, spot): (&str, Spot)| Word { text: text.to_owned(), spot };
        let [handler, message, (verb, spot), arguments @ ..] = &words[..] else {
            return Err(InputError::at(words[0].1, "there is no event on this line").help(HELP));
        };
        let at = *handlers.entry(handler.0).or_insert_with(|| {
            draft.handlers.push(DraftHandler { name: word(*handler), messages: Vec::new() });
            draft.handlers.len() - 1
        });
        let own = &mut draft.handlers[at].messages;
        let place = *messages.entry((handler.0, message.0)).or_insert_with(|| {
            own.push(DraftMessage { name: word(*message), events: Vec::new(), open: false });
            own.len() - 1
        });
        let own = &mut own[place];
        let kind = match (verb.to_ascii_lowercase().as_str(), arguments) {
            ("get" | "call" | "begin", []) => DraftKind::Get(word(*message)),
            ("post", [to, posted]) => DraftKind::Post(word(*to), word(*posted)),
            ("read" | "load", [location]) => {
                let value = written.get(location.0).copied().unwrap_or(0).to_string();
                DraftKind::Read(word(*location), Word { text: value, spot: location.1 })
            }
            ("write" | "store", [location]) => {
                let value = written.entry(location.0).or_default();
                *value += 1;
                DraftKind::Write(word(*location), Word { text: value.to_string(), spot: location.1 })
            }
            ("open", []) => {
                own.open = true;
                continue;
            }
            _ => {
                let message = format!("`{verb}` with {} arguments is no event", arguments.len());
                return Err(InputError::at(*spot, message).help(HELP));
            }
        };
        own.events.push((DraftEvent { kind, spot: *spot }, number));
    }
    Ok(draft)
}

const HELP: &str = "a line is `HANDLER MESSAGE` and get, post HANDLER MESSAGE, read LOCATION, write LOCATION or open";
