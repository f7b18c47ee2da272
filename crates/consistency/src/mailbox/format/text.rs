//! The text form: `@handler`, messages `{ get(m) -> read(x, 1) -> post(h, n) }`, and sections `$(CO)`, `$(RF)`, `$(PB)`, `$(EO)`, `$(MO)` of chains that end in `;`.
//!
//! A chain relates each event to every later one; an event that is there twice is named `handler/message/index`, from 0. `open` before a brace begins a message that had not ended. Words of the form are the same in capitals. A third argument of a post
//! and a second of a get is a priority, which means nothing here; `done(m)` means nothing either. `//` and `#` begin comments.

use super::{
    Chain, Draft, DraftEvent, DraftHandler, DraftKind, DraftMessage, InputError, Mention, Relation, Spot, Word,
};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'t> {
    Name(&'t str),
    Arrow,
    Sign(char),
}

struct Reader<'t> {
    tokens: Vec<(Token<'t>, Spot)>,
    next: usize,
    end: Spot,
}

pub(super) fn parse(text: &str) -> Result<Draft, InputError> {
    let mut tokens = Vec::new();
    let mut end = Spot { line: 1, column: 1, len: 1 };
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        loop {
            rest = rest.trim_start();
            let column = line[..line.len() - rest.len()].chars().count() as u32 + 1;
            let spot = |len: usize| Spot { line: number as u32 + 1, column, len: len as u32 };
            end = spot(1);
            let Some(first) = rest.chars().next() else { break };
            if first == '#' || rest.starts_with("//") {
                break;
            }
            // Minus signs and slashes may be part of a name; an arrow and a comment end it.
            let ends = |&(at, c): &(usize, char)| {
                c.is_whitespace()
                    || "(){},;@$#".contains(c)
                    || ["->", "//"].iter().any(|end| rest[at..].starts_with(end))
            };
            let name = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
            let (token, len) = if rest.starts_with("->") {
                (Token::Arrow, 2)
            } else if name > 0 {
                (Token::Name(&rest[..name]), name)
            } else {
                (Token::Sign(first), first.len_utf8())
            };
            tokens.push((token, spot(rest[..len].chars().count())));
            rest = &rest[len..];
        }
    }
    Reader { tokens, next: 0, end }.draft()
}

impl<'t> Reader<'t> {
    fn spot(&self) -> Spot {
        self.tokens.get(self.next).map_or(self.end, |token| token.1)
    }

    fn wrong<T>(&self, message: &str) -> Result<T, InputError> {
        Err(InputError::at(self.spot(), message))
    }

    fn passes(&mut self, token: &Token<'_>) -> bool {
        let is = self.tokens.get(self.next).is_some_and(|next| next.0 == *token);
        self.next += usize::from(is);
        is
    }

    fn sign(&mut self, sign: char) -> bool {
        self.passes(&Token::Sign(sign))
    }

    fn expect(&mut self, sign: char) -> Result<(), InputError> {
        if self.sign(sign) { Ok(()) } else { self.wrong(&format!("expected `{sign}`")) }
    }

    fn name(&mut self, what: &str) -> Result<Word, InputError> {
        match self.tokens.get(self.next) {
            Some(&(Token::Name(text), spot)) => {
                self.next += 1;
                Ok(Word { text: text.to_owned(), spot })
            }
            _ => self.wrong(&format!("expected {what}")),
        }
    }

    fn draft(&mut self) -> Result<Draft, InputError> {
        let mut draft = Draft::default();
        let mut relation = None;
        while self.next < self.tokens.len() {
            if self.sign('@') {
                relation = None;
                draft.handlers.push(DraftHandler { name: self.name("the name of a handler")?, messages: Vec::new() });
            } else if self.sign('$') {
                relation = Some(self.section()?);
            } else if let Some(relation) = relation {
                draft.relations.push(self.chain(relation)?);
            } else if let Some(handler) = draft.handlers.last_mut() {
                handler.messages.push(self.message()?);
            } else {
                return Err(
                    InputError::at(self.spot(), "expected a handler").help("a handler begins with `@` and its name")
                );
            }
        }
        Ok(draft)
    }

    fn section(&mut self) -> Result<Relation, InputError> {
        self.expect('(')?;
        let name = self.name("the name of a relation")?;
        self.expect(')')?;
        match name.text.to_ascii_lowercase().as_str() {
            "co" => Ok(Relation::Coherence),
            "rf" => Ok(Relation::ReadsFrom),
            "pb" => Ok(Relation::Posted),
            "eo" => Ok(Relation::Runs),
            "mo" => Ok(Relation::Posts),
            _ => Err(InputError::at(name.spot, format!("no relation is called `{}`", name.text))
                .help("there are CO, RF, PB, EO and MO")),
        }
    }

    fn chain(&mut self, relation: Relation) -> Result<Chain, InputError> {
        let mut events = Vec::new();
        loop {
            let is_path = self.tokens.get(self.next + 1).is_none_or(|next| next.0 != Token::Sign('('));
            if is_path {
                events.push(Mention::Path(self.name("an event")?));
            } else if let Some(event) = self.event()? {
                events.push(Mention::Event(event));
            }
            if self.sign(';') || self.next == self.tokens.len() {
                return Ok(Chain { relation, events });
            }
            if !self.passes(&Token::Arrow) {
                return self.wrong("expected `->` or `;`");
            }
        }
    }

    fn message(&mut self) -> Result<DraftMessage, InputError> {
        let at = self.spot();
        let is_open =
            matches!(self.tokens.get(self.next), Some((Token::Name(word), _)) if word.eq_ignore_ascii_case("open"));
        self.next += usize::from(is_open);
        if !self.sign('{') {
            return Err(InputError::at(self.spot(), "expected a message")
                .help("a message looks like `{ get(m) -> write(x, 1) }`"));
        }
        let mut events = Vec::new();
        loop {
            events.extend(self.event()?.map(|event| (event, 0)));
            if self.sign('}') {
                break;
            }
            if !self.passes(&Token::Arrow) {
                return self.wrong("expected `->` or `}`");
            }
        }
        match events.first() {
            Some((DraftEvent { kind: DraftKind::Get(name), .. }, _)) => {
                Ok(DraftMessage { name: name.clone(), events, open: is_open })
            }
            _ => Err(InputError::at(at, "a message begins with its get")),
        }
    }

    /// An event; nothing for one that means nothing.
    fn event(&mut self) -> Result<Option<DraftEvent>, InputError> {
        let word = self.name("an event")?;
        self.expect('(')?;
        let mut arguments = vec![self.name("a name")?];
        while self.sign(',') {
            arguments.push(self.name("a name or a value")?);
        }
        self.expect(')')?;
        let kind = match (word.text.to_ascii_lowercase().as_str(), &arguments[..]) {
            ("get", [name] | [name, _]) => DraftKind::Get(name.clone()),
            ("post", [handler, name] | [handler, name, _]) => DraftKind::Post(handler.clone(), name.clone()),
            ("read", [location, value]) => DraftKind::Read(location.clone(), value.clone()),
            ("write", [location, value]) => DraftKind::Write(location.clone(), value.clone()),
            ("done", [_]) => return Ok(None),
            _ => {
                let message = format!("`{}` with {} arguments is no event", word.text, arguments.len());
                return Err(InputError::at(word.spot, message)
                    .help("the events are get(m), post(h, m), read(x, v) and write(x, v)"));
            }
        };
        Ok(Some(DraftEvent { kind, spot: word.spot }))
    }
}
