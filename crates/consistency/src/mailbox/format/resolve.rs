//! From words to a trace: every name means something, and once.

use super::super::trace::{Kind, Trace};
use super::{Draft, DraftEvent, DraftKind, InputError, MAX_EVENTS, MAX_PAIRS, Mention, Named, Relation, Spot, Word};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

#[derive(Default)]
struct Names<'d> {
    handlers: FxHashMap<&'d str, usize>,
    messages: FxHashMap<&'d str, usize>,
    locations: FxHashMap<&'d str, usize>,
}

struct Resolver<'d> {
    names: Names<'d>,
    named: Named,
    spots: Vec<Spot>,
    /// Writes by location and value.
    writes: FxHashMap<(usize, &'d str), Vec<usize>>,
    /// The value of each read.
    values: FxHashMap<usize, (usize, &'d str)>,
    /// All events as they were written.
    written: FxHashMap<String, Vec<usize>>,
}

pub(super) fn resolve(draft: &Draft) -> Result<Named, InputError> {
    let named = Named { trace: Trace::default(), handlers: Vec::new(), messages: Vec::new(), events: Vec::new() };
    let mut resolver = Resolver {
        names: Names::default(),
        named,
        spots: Vec::new(),
        writes: FxHashMap::default(),
        values: FxHashMap::default(),
        written: FxHashMap::default(),
    };
    resolver.messages(draft)?;
    let events = resolver.events(draft)?;
    resolver.pairs()?;
    resolver.reads(&events)?;
    resolver.relations(draft)?;
    resolver.guesses()?;
    Ok(resolver.named)
}

impl<'d> Resolver<'d> {
    fn handler(&mut self, name: &'d Word) -> usize {
        *self.names.handlers.entry(&name.text).or_insert_with(|| {
            self.named.handlers.push(name.text.clone());
            self.named.trace.handlers += 1;
            self.named.handlers.len() - 1
        })
    }

    /// One more message of a handler; nothing if there is one of that name.
    fn message(&mut self, name: &'d Word, handler: usize) -> Option<usize> {
        if self.names.messages.contains_key(name.text.as_str()) {
            return None;
        }
        let number = self.named.trace.add_message(handler);
        self.names.messages.insert(&name.text, number);
        self.named.messages.push(name.text.clone());
        Some(number)
    }

    /// All messages that are run.
    fn messages(&mut self, draft: &'d Draft) -> Result<(), InputError> {
        let mut count = 0;
        for handler in &draft.handlers {
            let known = self.named.handlers.len();
            let number = self.handler(&handler.name);
            if number < known {
                return Err(InputError::at(
                    handler.name.spot,
                    format!("handler `{}` is there twice", handler.name.text),
                ));
            }
            for message in &handler.messages {
                let name = &message.name;
                let Some(own) = self.message(name, number) else {
                    return Err(InputError::at(name.spot, format!("message `{}` is there twice", name.text)));
                };
                self.named.trace.messages[own].open = message.open;
                count += message.events.len();
                if message.events.is_empty() || count > MAX_EVENTS {
                    let what = if count > MAX_EVENTS {
                        format!("the trace has more than {MAX_EVENTS} events")
                    } else {
                        format!("message `{}` has no events", name.text)
                    };
                    return Err(InputError::at(name.spot, what));
                }
            }
        }
        Ok(())
    }

    /// The events, in the order in which they are written, or happened; reads are left open.
    fn events(&mut self, draft: &'d Draft) -> Result<Vec<&'d DraftEvent>, InputError> {
        let mut all: Vec<(usize, usize, &'d DraftEvent)> = Vec::new();
        for message in draft.handlers.iter().flat_map(|handler| &handler.messages) {
            let number = self.names.messages[message.name.text.as_str()];
            for (at, (event, place)) in message.events.iter().enumerate() {
                let is_own_get = matches!(&event.kind, DraftKind::Get(name) if name.text == message.name.text);
                if is_own_get != (at == 0) || (at > 0 && matches!(event.kind, DraftKind::Get(_))) {
                    let message = format!("message `{}` begins with its get, and has no other", message.name.text);
                    return Err(InputError::at(event.spot, message));
                }
                all.push((*place, number, event));
            }
        }
        if draft.happened {
            all.sort_by_key(|&(place, ..)| place);
        }
        let mut events = Vec::new();
        for (_, message, event) in all {
            let kind = match &event.kind {
                DraftKind::Get(_) => Kind::Get,
                DraftKind::Post(handler, posted) => Kind::Post(self.post(handler, posted)?),
                DraftKind::Read(location, _) => Kind::Read { location: self.location(location), from: None },
                DraftKind::Write(location, _) => Kind::Write { location: self.location(location) },
            };
            let number = self.named.trace.add(message, kind);
            match (&event.kind, kind) {
                (DraftKind::Write(_, value), Kind::Write { location }) => {
                    self.writes.entry((location, &value.text)).or_default().push(number);
                }
                (DraftKind::Read(_, value), Kind::Read { location, .. }) => {
                    self.values.insert(number, (location, &value.text));
                }
                _ => {}
            }
            let words = words(&event.kind);
            self.written.entry(words.clone()).or_default().push(number);
            self.named.events.push((words, event.spot.line));
            self.spots.push(event.spot);
            events.push(event);
        }
        Ok(events)
    }

    /// Whether there are not too many pairs to order.
    fn pairs(&self) -> Result<(), InputError> {
        let mut own = vec![0; self.named.handlers.len()];
        let mut pairs = 0;
        for message in &self.named.trace.messages {
            pairs += own[message.handler];
            own[message.handler] += 1;
            if pairs > MAX_PAIRS {
                let spot = message.events.first().copied().or(message.post).map(|event| self.spots[event]);
                let what = format!("the trace has more than {MAX_PAIRS} pairs of messages of one handler");
                return Err(InputError { message: what, spot, help: None });
            }
        }
        Ok(())
    }

    fn location(&mut self, name: &'d Word) -> usize {
        let next = self.names.locations.len();
        *self.names.locations.entry(&name.text).or_insert(next)
    }

    /// The message that is posted, which need not be run.
    fn post(&mut self, handler: &'d Word, posted: &'d Word) -> Result<usize, InputError> {
        let to = self.handler(handler);
        let Some(number) = self.message(posted, to).or_else(|| self.names.messages.get(posted.text.as_str()).copied())
        else {
            unreachable!("it is there, or was added")
        };
        let message = &self.named.trace.messages[number];
        if message.post.is_some() {
            return Err(InputError::at(posted.spot, format!("message `{}` is posted twice", posted.text)));
        }
        if message.handler != to {
            let own = &self.named.handlers[message.handler];
            let what = format!("message `{}` is posted to `{}`, but belongs to `{own}`", posted.text, handler.text);
            return Err(InputError::at(handler.spot, what));
        }
        Ok(number)
    }

    /// What reads read, by their values.
    fn reads(&mut self, events: &[&'d DraftEvent]) -> Result<(), InputError> {
        let mut initial: FxHashMap<usize, &str> = FxHashMap::default();
        for (number, event) in events.iter().enumerate() {
            let (Kind::Read { location, from }, DraftKind::Read(name, value)) =
                (&mut self.named.trace.events[number].kind, &event.kind)
            else {
                continue;
            };
            let sources = self.writes.get(&(*location, value.text.as_str()));
            *from = sources.and_then(|sources| sources.first()).copied();
            if let Some(several) = sources.filter(|sources| sources.len() > 1) {
                let several = several.iter().map(|&write| Some(write)).collect();
                self.named.trace.unknown.reads.push((number, several));
            }
            if from.is_none() && *initial.entry(*location).or_insert(&value.text) != value.text {
                let what = format!("`{}` is never written to `{}`", value.text, name.text);
                let first = initial[location];
                return Err(InputError::at(value.spot, what)
                    .help(format!("`{first}` is not either, so that one is taken for the initial value")));
            }
        }
        Ok(())
    }

    fn find(&self, mention: &Mention) -> Result<usize, InputError> {
        let spot = mention.spot();
        let one = |found: Option<&Vec<usize>>, what: &str| match found.map(Vec::as_slice) {
            Some([one]) => Ok(*one),
            Some([_, ..]) => Err(InputError::at(spot, format!("there are several events {what}"))
                .help("`handler/message/index`, the index from 0, names one of them")),
            _ => Err(InputError::at(spot, format!("there is no event {what}"))),
        };
        match mention {
            Mention::Event(event) => {
                let what = words(&event.kind);
                one(self.written.get(&what), &format!("`{what}`"))
            }
            Mention::Path(path) => {
                let nothing = || {
                    InputError::at(spot, format!("there is no event `{}`", path.text))
                        .help("an event is `handler/message/index`, the index from 0")
                };
                let mut parts = path.text.rsplitn(3, '/');
                let (index, message, handler) = (parts.next(), parts.next(), parts.next());
                let index: usize = index.and_then(|index| index.parse().ok()).ok_or_else(nothing)?;
                let number = message.and_then(|name| self.names.messages.get(name)).ok_or_else(nothing)?;
                let message = &self.named.trace.messages[*number];
                let event =
                    message.events.get(index).filter(|_| handler == Some(&self.named.handlers[message.handler]));
                event.copied().ok_or_else(nothing)
            }
        }
    }

    fn relations(&mut self, draft: &Draft) -> Result<(), InputError> {
        // Who is said to come before whom, among the writes of each location.
        let mut before: Vec<BTreeSet<(usize, usize)>> = vec![BTreeSet::new(); self.names.locations.len()];
        for chain in &draft.relations {
            let events = chain.events.iter().map(|mention| self.find(mention)).collect::<Result<Vec<_>, _>>()?;
            for (at, pair) in events.windows(2).enumerate() {
                let spot = chain.events[at + 1].spot();
                let (from, to) = (pair[0], pair[1]);
                let kinds = (self.named.trace.events[from].kind, self.named.trace.events[to].kind);
                let messages = (self.named.trace.events[from].message, self.named.trace.events[to].message);
                match (chain.relation, kinds) {
                    (Relation::Coherence, (Kind::Write { location }, Kind::Write { location: other }))
                        if location == other =>
                    {
                        before[location].insert((from, to));
                    }
                    (Relation::ReadsFrom, (Kind::Write { location }, Kind::Read { location: read, from: source }))
                        if location == read && at == 0 =>
                    {
                        let value = self.values.get(&to);
                        let is_one =
                            value.and_then(|value| self.writes.get(value)).is_some_and(|all| all.contains(&from));
                        let unknown = &mut self.named.trace.unknown.reads;
                        let at = unknown.iter().position(|(read, _)| *read == to);
                        if let (true, Some(at), Kind::Read { from: source, .. }) =
                            (is_one, at, &mut self.named.trace.events[to].kind)
                        {
                            unknown.remove(at);
                            *source = Some(from);
                        } else if source != Some(from) {
                            let (write, read) = (&self.named.events[from].0, &self.named.events[to].0);
                            let what = format!("`{read}` does not read the value of `{write}`");
                            return Err(InputError::at(spot, what));
                        }
                    }
                    (Relation::Posted, (Kind::Post(posted), Kind::Get)) if posted == messages.1 => {}
                    (Relation::Runs, (Kind::Get, Kind::Get)) => {
                        let last = self.named.trace.messages[messages.0].events.last().copied();
                        self.named.trace.said.push((last.unwrap_or(from), to));
                    }
                    (Relation::Posts, (Kind::Post(_), Kind::Post(_))) => self.named.trace.said.push((from, to)),
                    _ => return Err(InputError::at(spot, "these two events are not related in this way")),
                }
            }
        }
        for (location, before) in before.into_iter().enumerate() {
            self.coherence(location, &before, draft.happened)?;
        }
        Ok(())
    }

    /// The order of the writes of a location; if it is not known whole, what is known is said.
    fn coherence(
        &mut self,
        location: usize,
        before: &BTreeSet<(usize, usize)>,
        happened: bool,
    ) -> Result<(), InputError> {
        let Some(writes) = self.named.trace.coherence.get(location).cloned() else { return Ok(()) };
        if happened {
            return Ok(());
        }
        let mut entering: FxHashMap<usize, usize> = writes.iter().map(|&write| (write, 0)).collect();
        let mut leaving: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for &(from, to) in before {
            *entering.entry(to).or_default() += 1;
            leaving.entry(from).or_default().push(to);
        }
        let mut is_known = true;
        let mut ready: Vec<usize> = writes.iter().copied().filter(|write| entering[write] == 0).collect();
        let mut order = Vec::new();
        while let Some(write) = ready.pop() {
            is_known &= ready.is_empty();
            order.push(write);
            for &next in leaving.get(&write).into_iter().flatten() {
                let left = entering.entry(next).or_default();
                *left -= 1;
                if *left == 0 {
                    ready.push(next);
                }
            }
        }
        if order.len() < writes.len() {
            return Err(InputError::at(self.spots[writes[0]], "the order of the writes of this location has a cycle"));
        }
        if is_known {
            self.named.trace.coherence[location] = order;
        } else {
            self.named.trace.unknown.orders.push(location);
            self.named.trace.said.extend(before);
        }
        Ok(())
    }

    /// Whether not too much is left open.
    fn guesses(&self) -> Result<(), InputError> {
        let trace = &self.named.trace;
        let mut guesses = 0;
        for &location in &trace.unknown.orders {
            let writes = &trace.coherence[location];
            guesses += writes.len() * writes.len() / 2;
            if guesses > MAX_PAIRS {
                let what =
                    format!("nobody says in which order these {} writes came, and that are too many", writes.len());
                return Err(InputError::at(self.spots[writes[0]], what)
                    .help("list them in their order: `$(CO)` and `write(x, 1) -> write(x, 2);`, or `\"co\"`"));
            }
        }
        for (read, sources) in &trace.unknown.reads {
            guesses += sources.len();
            if guesses > MAX_PAIRS {
                let what = "there are too many writes that this read, and those before it, may have read";
                return Err(InputError::at(self.spots[*read], what).help("say which it is: `$(RF)`, or `\"rf\"`"));
            }
        }
        Ok(())
    }
}

/// An event as it is written.
fn words(kind: &DraftKind) -> String {
    match kind {
        DraftKind::Get(name) => format!("get({})", name.text),
        DraftKind::Post(handler, name) => format!("post({}, {})", handler.text, name.text),
        DraftKind::Read(location, value) => format!("read({}, {})", location.text, value.text),
        DraftKind::Write(location, value) => format!("write({}, {})", location.text, value.text),
    }
}
