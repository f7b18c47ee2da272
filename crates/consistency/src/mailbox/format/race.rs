//! The log of a race detector for event loops: a line `OP field:value ...` for each thing that happened, in the order in which it did. A number in front of it means nothing.
//!
//! ```text
//! START tid:1
//! POST src:1 msg:7 dest:2     # thread 1 posts message 7 to thread 2
//! CALL tid:2 msg:7            # thread 2 takes it; RET ends it
//! READ tid:2 obj:0x1 class:A field:3
//! ```
//!
//! What a thread does before its loop, or without one, is its first message, `T.begin`; FORK posts that of the child, otherwise it is there from the beginning. A lock is a location that LOCK reads and writes and UNLOCK writes, and
//! the end of a thread one that THREADEXIT writes and JOIN reads: so critical sections and joins stay in the order in which they were seen. Locations that only one message uses are left out:
//! their accesses are in order anyway. START, THREADINIT, ATTACH-Q, LOOP and ENABLE say when a thread is ready and nothing more. A message without RET had not ended.

use super::{Draft, DraftEvent, DraftHandler, DraftKind, DraftMessage, InputError, Spot, Word};
use rustc_hash::FxHashMap;

const HELP: &str = "a line is POST src:T msg:M dest:T, CALL or RET tid:T msg:M, READ or WRITE tid:T and a location, LOCK or UNLOCK tid:T lock:L, FORK or JOIN par:T child:T, THREADEXIT tid:T";

/// Whether a line is one of such a log.
pub(super) fn is_line(line: &str) -> bool {
    let words: Vec<&str> =
        line.split_whitespace().skip_while(|word| word.bytes().all(|byte| byte.is_ascii_digit())).collect();
    words.len() > 1 && words[1..].iter().all(|word| word.split_once(':').is_some_and(|(name, _)| !name.is_empty()))
}

/// A thread.
#[derive(Default)]
struct Thread {
    /// Where its handler stands in the draft.
    handler: usize,
    /// The message it is in, and whether it has begun to take messages.
    running: Option<usize>,
    loops: bool,
}

#[derive(Default)]
struct Reader {
    draft: Draft,
    threads: FxHashMap<String, Thread>,
    written: FxHashMap<String, u64>,
    line: usize,
}

pub(super) fn parse(text: &str) -> Result<Draft, InputError> {
    let mut reader = Reader { draft: Draft { happened: true, ..Draft::default() }, ..Reader::default() };
    for (number, line) in text.lines().enumerate() {
        reader.line = number;
        let line = line.split('#').next().unwrap_or(line);
        let spot = |word: &str| {
            let before = &line[..word.as_ptr() as usize - line.as_ptr() as usize];
            let (column, len) = (before.chars().count() as u32 + 1, word.chars().count() as u32);
            Spot { line: number as u32 + 1, column, len }
        };
        let mut words = line.split_whitespace().skip_while(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(op) = words.next() else { continue };
        let mut fields: Vec<(&str, Word)> = Vec::new();
        for word in words {
            let Some((name, value)) =
                word.split_once(':').filter(|(name, value)| !name.is_empty() && !value.is_empty())
            else {
                return Err(InputError::at(spot(word), format!("`{word}` is no field")).help(HELP));
            };
            fields.push((name, Word { text: value.to_owned(), spot: spot(word) }));
        }
        reader.event(Word { text: op.to_owned(), spot: spot(op) }, fields)?;
    }
    for thread in reader.threads.values() {
        if let (Some(message), true) = (thread.running, thread.loops) {
            reader.draft.handlers[thread.handler].messages[message].open = true;
        }
    }
    reader.leave_out_own();
    Ok(reader.draft)
}

impl Reader {
    fn event(&mut self, op: Word, mut fields: Vec<(&str, Word)>) -> Result<(), InputError> {
        let mut take = |names: &[&str]| {
            let at = fields.iter().position(|(name, _)| names.contains(name));
            at.map(|at| fields.remove(at).1)
                .ok_or_else(|| InputError::at(op.spot, format!("`{}` has no `{}`", op.text, names[0])).help(HELP))
        };
        let verb = op.text.to_ascii_uppercase();
        match verb.as_str() {
            "START" | "THREADINIT" | "ATTACH-Q" | "ENABLE" => {}
            "LOOP" => {
                let thread = self.thread(&take(&["tid"])?);
                thread.running = if thread.loops { thread.running } else { None };
                thread.loops = true;
            }
            "POST" => {
                let (source, message, to) = (take(&["src", "tid"])?, take(&["msg"])?, take(&["dest"])?);
                self.add(&source, DraftKind::Post(to, message), op.spot)?;
            }
            "CALL" => {
                let (thread, message) = (take(&["tid"])?, take(&["msg"])?);
                let line = self.line;
                let own = self.thread(&thread);
                if own.loops && own.running.is_some() {
                    let what = format!("thread {} takes a message before the one it is in has ended", thread.text);
                    return Err(InputError::at(op.spot, what));
                }
                own.loops = true;
                let handler = own.handler;
                let messages = &mut self.draft.handlers[handler].messages;
                let get = DraftEvent { kind: DraftKind::Get(message.clone()), spot: op.spot };
                messages.push(DraftMessage { name: message, events: vec![(get, line)], open: false });
                let at = messages.len() - 1;
                self.thread(&thread).running = Some(at);
            }
            "RET" => {
                let (thread, message) = (take(&["tid"])?, take(&["msg"])?);
                let own = self.thread(&thread);
                let (handler, running) = (own.handler, own.running.take());
                let ended = running.map(|at| &self.draft.handlers[handler].messages[at].name.text);
                if ended != Some(&message.text) {
                    return Err(InputError::at(
                        message.spot,
                        format!("thread {} is not in message `{}`", thread.text, message.text),
                    ));
                }
            }
            "FORK" => {
                let (parent, child) = (take(&["par", "par-tid", "tid"])?, take(&["child", "child-tid"])?);
                let begin = Word { text: format!("{}.begin", child.text), spot: child.spot };
                self.add(&parent, DraftKind::Post(child, begin), op.spot)?;
            }
            "JOIN" | "THREADEXIT" | "LOCK" | "UNLOCK" | "READ" | "WRITE" => {
                let (thread, location) = match verb.as_str() {
                    "JOIN" => {
                        let (thread, child) = (take(&["par", "par-tid", "tid"])?, take(&["child", "child-tid"])?);
                        (thread, format!("end of {}", child.text))
                    }
                    "THREADEXIT" => {
                        let thread = take(&["tid"])?;
                        let location = format!("end of {}", thread.text);
                        (thread, location)
                    }
                    _ => {
                        let thread = take(&["tid"])?;
                        let words: Vec<String> =
                            fields.iter().map(|(name, value)| format!("{name}:{}", value.text)).collect();
                        if words.is_empty() {
                            return Err(InputError::at(op.spot, format!("`{}` has no location", op.text)).help(HELP));
                        }
                        (thread, words.join(" "))
                    }
                };
                if matches!(verb.as_str(), "READ" | "LOCK" | "JOIN") {
                    self.read(&thread, &location, op.spot)?;
                }
                if matches!(verb.as_str(), "WRITE" | "LOCK" | "UNLOCK" | "THREADEXIT") {
                    self.write(&thread, &location, op.spot)?;
                }
            }
            _ => return Err(InputError::at(op.spot, format!("`{}` is no event of such a log", op.text)).help(HELP)),
        }
        Ok(())
    }

    fn thread(&mut self, name: &Word) -> &mut Thread {
        let next = self.draft.handlers.len();
        let draft = &mut self.draft;
        self.threads.entry(name.text.clone()).or_insert_with(|| {
            draft.handlers.push(DraftHandler { name: name.clone(), messages: Vec::new() });
            Thread { handler: next, ..Thread::default() }
        })
    }

    /// One more event of the message that a thread is in.
    fn add(&mut self, thread: &Word, kind: DraftKind, spot: Spot) -> Result<(), InputError> {
        let line = self.line;
        let own = self.thread(thread);
        let (handler, running, loops) = (own.handler, own.running, own.loops);
        let at = match running {
            Some(at) => at,
            None if loops => {
                let what = format!("thread {} does this between two messages", thread.text);
                return Err(InputError::at(spot, what)
                    .help("what a loop does itself has no message it could belong to; leave it out"));
            }
            None => {
                let name = Word { text: format!("{}.begin", thread.text), spot: thread.spot };
                let get = DraftEvent { kind: DraftKind::Get(name.clone()), spot };
                let messages = &mut self.draft.handlers[handler].messages;
                messages.push(DraftMessage { name, events: vec![(get, line)], open: false });
                let at = messages.len() - 1;
                self.thread(thread).running = Some(at);
                at
            }
        };
        self.draft.handlers[handler].messages[at].events.push((DraftEvent { kind, spot }, line));
        Ok(())
    }

    fn read(&mut self, thread: &Word, location: &str, spot: Spot) -> Result<(), InputError> {
        let word = |text: String| Word { text, spot };
        let value = self.written.get(location).copied().unwrap_or(0);
        self.add(thread, DraftKind::Read(word(location.to_owned()), word(value.to_string())), spot)
    }

    fn write(&mut self, thread: &Word, location: &str, spot: Spot) -> Result<(), InputError> {
        let word = |text: String| Word { text, spot };
        let value = self.written.entry(location.to_owned()).or_default();
        *value += 1;
        let value = value.to_string();
        self.add(thread, DraftKind::Write(word(location.to_owned()), word(value)), spot)
    }

    /// Leaves out the accesses to locations that only one message uses.
    fn leave_out_own(&mut self) {
        // The message of each location, or nothing if there are several.
        let mut users: FxHashMap<String, Option<(usize, usize)>> = FxHashMap::default();
        let location = |kind: &DraftKind| match kind {
            DraftKind::Read(location, _) | DraftKind::Write(location, _) => Some(location.text.clone()),
            DraftKind::Get(_) | DraftKind::Post(..) => None,
        };
        for (handler, own) in self.draft.handlers.iter().enumerate() {
            for (number, message) in own.messages.iter().enumerate() {
                for location in message.events.iter().filter_map(|(event, _)| location(&event.kind)) {
                    let user = users.entry(location).or_insert(Some((handler, number)));
                    *user = user.filter(|&user| user == (handler, number));
                }
            }
        }
        for message in self.draft.handlers.iter_mut().flat_map(|own| &mut own.messages) {
            message.events.retain(|(event, _)| {
                location(&event.kind).is_none_or(|location| users.get(&location).is_some_and(Option::is_none))
            });
        }
    }
}
