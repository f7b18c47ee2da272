//! What the words of a trace mean.
//!
//! Threads, labels and locations get numbers. A read names its source (`initial`, a label, or `THREAD.INDEX`), or its value, if exactly one write of the
//! location, the initial one included, has that value.

use super::{Draft, DraftEvent, DraftKind, InputError, Spot, Trace, Word};
use crate::instance::{Action, Instance, Loc, MAX_LOC, Source};
use raddle_trace::{EventId, Ordering, ThreadId};
use rustc_hash::FxHashMap;

/// What a location holds if nobody says anything else.
const ZERO: &str = "0";

struct Names<'d> {
    threads: FxHashMap<&'d str, ThreadId>,
    labels: FxHashMap<&'d str, EventId>,
    locations: FxHashMap<&'d str, Loc>,
    /// What locations hold at first.
    initial: FxHashMap<Loc, &'d str>,
    /// Who writes a value to a location.
    writers: FxHashMap<(Loc, &'d str), Vec<EventId>>,
}

pub(super) fn resolve(draft: Draft) -> Result<Trace, InputError> {
    let mut names = Names {
        threads: FxHashMap::default(),
        labels: FxHashMap::default(),
        locations: FxHashMap::default(),
        initial: FxHashMap::default(),
        writers: FxHashMap::default(),
    };
    names.collect(&draft)?;
    let mut instance = Instance::new();
    let mut events = Vec::new();
    let mut spawned: FxHashMap<ThreadId, Spot> = FxHashMap::default();
    for thread in &draft.threads {
        let id = instance.begin_thread();
        for (index, event) in thread.events.iter().enumerate() {
            let at = EventId::new(id, index as u32);
            let (action, words) = names.action(&draft, at, event)?;
            if let (Action::Spawn { child }, DraftKind::Spawn(word)) = (action, &event.kind)
                && spawned.insert(child, word.spot).is_some()
            {
                return Err(InputError::at(word.spot, format!("thread `{}` is started a second time", word.text)));
            }
            let (action, order, words) = ordered(event, action, words)?;
            instance.push_with(action, order);
            events.push((words, event.spot));
        }
    }
    instance.validate().map_err(|malformed| InputError { message: malformed.to_string(), spot: None, help: None })?;
    let mut locations: Vec<(&str, Loc)> = names.locations.into_iter().collect();
    locations.sort_by_key(|&(_, loc)| loc);
    let locations = locations.into_iter().map(|(name, _)| name.to_owned()).collect();
    let threads = draft.threads.iter().map(|thread| thread.name.text.clone()).collect();
    Ok(Trace { instance, threads, locations, events })
}

/// The event with the ordering it was given.
fn ordered(event: &DraftEvent, action: Action, words: String) -> Result<(Action, Ordering, String), InputError> {
    let Some(word) = &event.order else { return Ok((action, action.default_order(), words)) };
    use Ordering::{AcqRel, Acquire, NonAtomic, Relaxed, Release, SeqCst};
    let (what, allowed): (&str, &[Ordering]) = match event.kind {
        DraftKind::Read { .. } => ("a read", &[NonAtomic, Relaxed, Acquire, SeqCst]),
        DraftKind::Write { .. } => ("a write", &[NonAtomic, Relaxed, Release, SeqCst]),
        DraftKind::Update { .. } => ("an update", &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
        DraftKind::Fence => ("a fence", &[Acquire, Release, AcqRel, SeqCst]),
        _ => return Err(InputError::at(word.spot, "this event has no memory ordering")),
    };
    let Some(&order) = allowed.iter().find(|order| order.name() == word.text) else {
        let names: Vec<&str> = allowed.iter().map(|order| order.name()).collect();
        let message = format!("{what} cannot have the memory ordering `{}`", word.text);
        return Err(InputError::at(word.spot, message).help(format!("it may be one of {}", names.join(", "))));
    };
    // Weaker fences are what they are under the models that know no orderings.
    let action = match (action, order) {
        (Action::Fence, Acquire) => Action::Note,
        (Action::Fence, Release | AcqRel) => Action::StoreFence,
        _ => action,
    };
    let words = match words.split_once(' ') {
        Some((verb, rest)) => format!("{verb}.{order} {rest}"),
        None => format!("{words}.{order}"),
    };
    Ok((action, order, words))
}

/// Names are printed, so they contain nothing a terminal would act upon.
fn check_name(word: &Word, what: &str) -> Result<(), InputError> {
    let bad = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if word.text.is_empty() || word.text.chars().any(bad) {
        let message = format!("{what} cannot be empty or contain control characters");
        return Err(InputError::at(word.spot, message));
    }
    Ok(())
}

impl<'d> Names<'d> {
    /// Gives everything its number.
    fn collect(&mut self, draft: &'d Draft) -> Result<(), InputError> {
        for (number, thread) in draft.threads.iter().enumerate() {
            check_name(&thread.name, "the name of a thread")?;
            if self.threads.insert(&thread.name.text, ThreadId(number as u32)).is_some() {
                let message = format!("there is a thread `{}` already", thread.name.text);
                return Err(InputError::at(thread.name.spot, message));
            }
        }
        for (location, value) in &draft.initial {
            let loc = self.location(location)?;
            check_name(value, "a value")?;
            if self.initial.insert(loc, &value.text).is_some() {
                let message = format!("`{}` has an initial value already", location.text);
                return Err(InputError::at(location.spot, message));
            }
        }
        for (number, thread) in draft.threads.iter().enumerate() {
            for (index, event) in thread.events.iter().enumerate() {
                self.collect_event(EventId::new(ThreadId(number as u32), index as u32), event)?;
            }
        }
        Ok(())
    }

    fn collect_event(&mut self, at: EventId, event: &'d DraftEvent) -> Result<(), InputError> {
        if let Some(label) = &event.label {
            check_name(label, "a label")?;
            if label.text == "initial" {
                return Err(InputError::at(label.spot, "no event can be called `initial`"));
            }
            if self.labels.insert(&label.text, at).is_some() {
                return Err(InputError::at(label.spot, format!("there is a label `{}` already", label.text)));
            }
        }
        let (loc, values, written) = match &event.kind {
            DraftKind::Write { loc, value } => (loc, [value, &None], value),
            DraftKind::Update { loc, old, new, .. } => (loc, [old, new], new),
            DraftKind::Read { loc, value, .. } => (loc, [value, &None], &None),
            _ => return Ok(()),
        };
        for value in values.into_iter().flatten() {
            check_name(value, "a value")?;
        }
        let loc = self.location(loc)?;
        if let Some(value) = written {
            self.writers.entry((loc, &value.text)).or_default().push(at);
        }
        Ok(())
    }

    fn location(&mut self, word: &'d Word) -> Result<Loc, InputError> {
        check_name(word, "the name of a location")?;
        let next = Loc(self.locations.len() as u32);
        if next.0 > MAX_LOC {
            return Err(InputError::at(word.spot, format!("there are more than {MAX_LOC} locations")));
        }
        Ok(*self.locations.entry(&word.text).or_insert(next))
    }

    fn thread(&self, draft: &Draft, word: &Word) -> Result<ThreadId, InputError> {
        let unknown = || {
            let known: Vec<&str> = draft.threads.iter().map(|thread| thread.name.text.as_str()).take(8).collect();
            InputError::at(word.spot, format!("there is no thread `{}`", word.text))
                .help(format!("the threads are {}", known.join(", ")))
        };
        self.threads.get(word.text.as_str()).copied().ok_or_else(unknown)
    }

    /// What the event does, and the words for it.
    fn action(&self, draft: &Draft, at: EventId, event: &DraftEvent) -> Result<(Action, String), InputError> {
        let loc = |word: &Word| self.locations[word.text.as_str()];
        let child = |word: &Word| {
            let child = self.thread(draft, word)?;
            if child == at.thread {
                return Err(InputError::at(word.spot, "a thread can neither start nor join itself"));
            }
            Ok(child)
        };
        let equals = |value: &Option<Word>| value.as_ref().map_or(String::new(), |value| format!(" = {}", value.text));
        Ok(match &event.kind {
            DraftKind::Write { loc: name, value } => {
                (Action::Write { loc: loc(name) }, format!("write {}{}", name.text, equals(value)))
            }
            DraftKind::Read { loc: name, value, from } => {
                let from = self.source(draft, at, event.spot, name, value.as_ref(), from.as_ref())?;
                let words = format!("read {}{} from {}", name.text, equals(value), source_name(draft, from));
                (Action::Read { loc: loc(name), from }, words)
            }
            DraftKind::Update { loc: name, old, new, from } => {
                let from = self.source(draft, at, event.spot, name, old.as_ref(), from.as_ref())?;
                let new = new.as_ref().map_or(String::new(), |new| format!(" -> {}", new.text));
                let words = format!("update {}{}{new} from {}", name.text, equals(old), source_name(draft, from));
                (Action::Update { loc: loc(name), from }, words)
            }
            DraftKind::Fence => (Action::Fence, "fence".into()),
            DraftKind::StoreFence => (Action::StoreFence, "store-fence".into()),
            DraftKind::Spawn(word) => (Action::Spawn { child: child(word)? }, format!("spawn {}", word.text)),
            DraftKind::Join(word) => (Action::Join { child: child(word)? }, format!("join {}", word.text)),
            DraftKind::Note => (Action::Note, "note".into()),
        })
    }

    /// What a read reads.
    fn source(
        &self,
        draft: &Draft,
        at: EventId,
        spot: Spot,
        location: &Word,
        value: Option<&Word>,
        from: Option<&Word>,
    ) -> Result<Source, InputError> {
        let loc = self.locations[location.text.as_str()];
        let source = match (from, value) {
            (Some(from), _) => self.named_source(draft, from)?,
            (None, Some(value)) => return self.source_of_value(draft, at, location, value),
            (None, None) => {
                return Err(InputError::at(spot, "this does not say what it read")
                    .help("add `from initial`, `from THREAD.INDEX`, or a value that is written only once"));
            }
        };
        let from = from.expect("it was there just now");
        let Source::Write(write) = source else {
            let initial = self.initial.get(&loc).copied();
            return match (initial, value) {
                (Some(initial), Some(value)) if initial != value.text => {
                    let message = format!("the initial value of `{}` is {initial}", location.text);
                    Err(InputError::at(value.spot, message))
                }
                _ => Ok(source),
            };
        };
        let other = &draft.threads[write.thread.index()].events[write.index as usize];
        let (their_loc, written) = match &other.kind {
            DraftKind::Write { loc, value } => (loc, value),
            DraftKind::Update { loc, new, .. } => (loc, new),
            _ => return Err(InputError::at(from.spot, format!("`{}` writes nothing", from.text))),
        };
        if write == at {
            return Err(InputError::at(from.spot, "an update cannot read what it writes itself"));
        }
        if their_loc.text != location.text {
            let message = format!("`{}` writes `{}`, not `{}`", from.text, their_loc.text, location.text);
            return Err(InputError::at(from.spot, message));
        }
        match (written, value) {
            (Some(written), Some(value)) if written.text != value.text => {
                Err(InputError::at(value.spot, format!("`{}` writes {}", from.text, written.text)))
            }
            _ => Ok(source),
        }
    }

    /// `initial`, a label, or `THREAD.INDEX`.
    fn named_source(&self, draft: &Draft, word: &Word) -> Result<Source, InputError> {
        if word.text == "initial" {
            return Ok(Source::Initial);
        }
        if let Some(&event) = self.labels.get(word.text.as_str()) {
            return Ok(Source::Write(event));
        }
        let unknown = || {
            InputError::at(word.spot, format!("there is no event `{}`", word.text))
                .help("a source is `initial`, a label, or `THREAD.INDEX`, with indices counted from 0")
        };
        let (thread, index) = word.text.rsplit_once('.').ok_or_else(unknown)?;
        let thread = *self.threads.get(thread).ok_or_else(unknown)?;
        let index: u32 = index.parse().map_err(|_| unknown())?;
        let length = draft.threads[thread.index()].events.len();
        if index as usize >= length {
            let name = &draft.threads[thread.index()].name.text;
            return Err(unknown().help(format!("thread `{name}` has {length} events, counted from 0")));
        }
        Ok(Source::Write(EventId::new(thread, index)))
    }

    /// The only write that has this value.
    fn source_of_value(&self, draft: &Draft, at: EventId, location: &Word, value: &Word) -> Result<Source, InputError> {
        let loc = self.locations[location.text.as_str()];
        let initial = self.initial.get(&loc).copied().unwrap_or(ZERO) == value.text;
        let writers = self.writers.get(&(loc, value.text.as_str())).map_or(&[][..], Vec::as_slice);
        let mut sources = writers.iter().filter(|&&write| write != at).map(|&write| Source::Write(write));
        let first = if initial { Some(Source::Initial) } else { sources.next() };
        match (first, sources.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => {
                Err(InputError::at(value.spot, format!("nobody writes {} to `{}`", value.text, location.text))
                    .help(format!("the initial value is {}", self.initial.get(&loc).copied().unwrap_or(ZERO))))
            }
            (Some(one), Some(other)) => {
                let (one, other) = (source_name(draft, one), source_name(draft, other));
                let message =
                    format!("more than one write of {} to `{}`: {one} and {other}", value.text, location.text);
                Err(InputError::at(value.spot, message).help(format!("say which one was read: `from {one}`")))
            }
        }
    }
}

fn source_name(draft: &Draft, source: Source) -> String {
    match source {
        Source::Initial => "initial".into(),
        Source::Write(write) => format!("{}.{}", draft.threads[write.thread.index()].name.text, write.index),
    }
}
