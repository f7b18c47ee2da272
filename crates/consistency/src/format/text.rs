//! The form for people: a line for each event.
//!
//! ```text
//! // Store buffering.
//! initial x = 0
//! thread left:
//!     write x = 1
//!     read y = 0 from initial
//! thread right:
//!     a: write.rel y = 1
//!     read.acq x from left.0
//! ```

use super::{Draft, DraftEvent, DraftKind, DraftThread, EVENTS, InputError, Spot, Word};

/// The words of one line that are not read yet.
struct Line<'t> {
    words: std::iter::Peekable<std::vec::IntoIter<Word>>,
    /// Just behind the last word.
    end: Spot,
    text: &'t str,
}

pub(super) fn parse(text: &str) -> Result<Draft, InputError> {
    let mut draft = Draft::default();
    for (number, text) in text.lines().enumerate() {
        let mut line = Line::new(text, number as u32 + 1);
        match line.words.peek() {
            None => continue,
            Some(word) if word.text == "thread" => draft.threads.push(thread(&mut line)?),
            Some(word) if word.text == "initial" => draft.initial.push(initial(&mut line)?),
            Some(word) => {
                let spot = word.spot;
                let event = event(&mut line)?;
                let Some(thread) = draft.threads.last_mut() else {
                    return Err(InputError::at(spot, "an event before the first thread")
                        .help("begin a thread with `thread NAME:`"));
                };
                thread.events.push(event);
            }
        }
        line.finish()?;
    }
    Ok(draft)
}

impl<'t> Line<'t> {
    /// Cuts a line into words: at blanks, with `=` a word of its own. A comment begins with `//` or `#` in front of a word.
    fn new(text: &'t str, line: u32) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut glued = false;
        let mut length = 0;
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            let column = at as u32 + 1;
            let spot = Spot { line, column, len: 1 };
            if c.is_whitespace() {
                glued = false;
                continue;
            }
            if !glued && (c == '#' || (c == '/' && chars.peek().is_some_and(|&(_, next)| next == '/'))) {
                break;
            }
            length = at + 1;
            match words.last_mut() {
                Some(word) if glued && c != '=' => {
                    word.text.push(c);
                    word.spot.len += 1;
                }
                _ => words.push(Word { text: c.to_string(), spot }),
            }
            glued = c != '=';
        }
        let end = Spot { line, column: length as u32 + 1, len: 1 };
        Line { words: words.into_iter().peekable(), end, text }
    }

    /// The next word, which must be there.
    fn word(&mut self, what: &str, shape: &str) -> Result<Word, InputError> {
        let missing =
            || InputError::at(self.end, format!("{what} is missing")).help(format!("this is written `{shape}`"));
        self.words.next().ok_or_else(missing)
    }

    /// What follows this word, if it comes next.
    fn after(&mut self, mark: &str, what: &str, shape: &str) -> Result<Option<Word>, InputError> {
        if self.words.next_if(|word| word.text == mark).is_some() {
            return self.word(what, shape).map(Some);
        }
        Ok(None)
    }

    fn finish(&mut self) -> Result<(), InputError> {
        let Some(word) = self.words.next() else { return Ok(()) };
        let line = self.text.trim();
        Err(InputError::at(word.spot, format!("did not expect `{}` here", word.text)).help(if line.len() > 200 {
            EVENTS.to_owned()
        } else {
            format!("`{line}` should have ended before it")
        }))
    }
}

fn thread(line: &mut Line<'_>) -> Result<DraftThread, InputError> {
    line.words.next();
    let mut name = line.word("the name of the thread", "thread NAME:")?;
    if let Some(bare) = name.text.strip_suffix(':') {
        name.text = bare.to_owned();
        name.spot.len -= 1;
    } else {
        line.words.next_if(|word| word.text == ":");
    }
    Ok(DraftThread { name, events: Vec::new() })
}

fn initial(line: &mut Line<'_>) -> Result<(Word, Word), InputError> {
    const SHAPE: &str = "initial LOCATION = VALUE";
    line.words.next();
    let location = line.word("the location", SHAPE)?;
    let missing = InputError::at(line.end, "the value is missing").help(format!("this is written `{SHAPE}`"));
    Ok((location, line.after("=", "the value", SHAPE)?.ok_or(missing)?))
}

fn event(line: &mut Line<'_>) -> Result<DraftEvent, InputError> {
    let label = line.words.next_if(|word| word.text.len() > 1 && word.text.ends_with(':')).map(|mut word| {
        word.text.pop();
        word.spot.len -= 1;
        word
    });
    let mut verb = line.word("the event", "LABEL: EVENT")?;
    let order = verb.text.split_once('.').map(|(head, order)| {
        let before = head.chars().count() as u32 + 1;
        let spot =
            Spot { column: verb.spot.column + before, len: verb.spot.len.saturating_sub(before).max(1), ..verb.spot };
        (head.to_owned(), Word { text: order.to_owned(), spot })
    });
    let order = order.map(|(head, order)| {
        verb.spot.len = head.chars().count() as u32;
        verb.text = head;
        order
    });
    let kind = match verb.text.as_str() {
        "write" => {
            const SHAPE: &str = "write LOCATION = VALUE";
            DraftKind::Write { loc: line.word("the location", SHAPE)?, value: line.after("=", "the value", SHAPE)? }
        }
        "read" => {
            const SHAPE: &str = "read LOCATION = VALUE from SOURCE";
            DraftKind::Read {
                loc: line.word("the location", SHAPE)?,
                value: line.after("=", "the value", SHAPE)?,
                from: line.after("from", "the source", SHAPE)?,
            }
        }
        "update" => {
            const SHAPE: &str = "update LOCATION = OLD -> NEW from SOURCE";
            DraftKind::Update {
                loc: line.word("the location", SHAPE)?,
                old: line.after("=", "the old value", SHAPE)?,
                new: line.after("->", "the new value", SHAPE)?,
                from: line.after("from", "the source", SHAPE)?,
            }
        }
        "fence" => DraftKind::Fence,
        "store-fence" => DraftKind::StoreFence,
        "spawn" => DraftKind::Spawn(line.word("the thread", "spawn THREAD")?),
        "join" => DraftKind::Join(line.word("the thread", "join THREAD")?),
        "note" => {
            line.words.by_ref().for_each(drop);
            DraftKind::Note
        }
        other => return Err(InputError::at(verb.spot, format!("`{other}` is no event")).help(EVENTS)),
    };
    Ok(DraftEvent { label, kind, order, spot: verb.spot })
}
