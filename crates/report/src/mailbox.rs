//! What `trace --mailbox` has to say: whether handlers that take messages from mailboxes have a run of a given shape, with a run or with what rules all of them out.

use crate::answer::{Answer, Conclusion, Say};
use crate::json::Head;
use crate::numbers::counted;
use crate::paper::Paper;
use crate::style::PLAIN;
use crate::table::{Row, Table};
use crate::trace;
use serde::Serialize;
use std::collections::BTreeMap;

/// So many steps of a run are shown of a long one, half of them from its beginning; and so many ties.
const STEPS: usize = 200;

/// The answer about an event-driven trace.
#[derive(Clone, Debug)]
pub struct Mailbox {
    /// The handlers: what each is called, and which mailbox it has.
    pub handlers: Vec<(String, &'static str)>,
    /// The messages: what each is called, and whose it is, by number.
    pub messages: Vec<(String, usize)>,
    /// The events.
    pub events: Vec<Event>,
    /// What was found.
    pub found: Found,
    /// What it took.
    pub statistics: Statistics,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Of which message, by number.
    pub message: usize,
    /// What it does: `write(x, 1)`.
    pub words: String,
    /// Its line in the input.
    pub line: u32,
}

/// What a search took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Statistics {
    /// Pairs of messages that had to be ordered.
    pub pairs: u64,
    /// Pairs of writes without an order, and sources that a read may have.
    pub guesses: u64,
    /// Those that what is given does not decide.
    pub open: u64,
    /// Choices.
    pub decisions: u64,
    /// Conflicts.
    pub conflicts: u64,
}

/// What was found; a run is all events, in order.
pub type Found = trace::Found<usize, Clash>;

/// What rules out all runs, given the order within messages, posts and mailboxes.
#[derive(Clone, Debug)]
pub struct Clash {
    /// Each before the other, and why.
    pub ties: Vec<Tie>,
    /// Whether none of them can be spared.
    pub minimal: bool,
}

/// One event is before another.
#[derive(Clone, Copy, Debug)]
pub struct Tie {
    /// The earlier one.
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// Why, as a stable name.
    pub why: &'static str,
    /// Why, in words.
    pub text: &'static str,
}

impl Say for Mailbox {
    fn command(&self) -> &'static str {
        "trace"
    }

    fn conclusion(&self) -> Conclusion {
        self.found.conclusion()
    }

    fn text(&self, _: &Answer, paper: &mut Paper) {
        let what = match &self.found {
            Found::Consistent(_) => "there is a run of this shape".to_owned(),
            Found::Inconsistent(_) => "no run has this shape".to_owned(),
            Found::Unknown(why) => why.clone(),
        };
        paper.paint(self.conclusion().style(), self.word()).say(format!(": {what}")).end();
        let count = |number: usize, noun| counted(number as u64, noun);
        let sizes = [
            count(self.handlers.len(), "handler"),
            count(self.messages.len(), "message"),
            count(self.events.len(), "event"),
        ];
        paper.say(format!("  {}, {}", sizes.join(", "), self.mailboxes())).end();
        paper.say(format!("  scope: this trace; {}", self.how())).end();
        match &self.found {
            Found::Consistent(schedule) => self.run(schedule, paper),
            Found::Inconsistent(Some(clash)) => self.explain(clash, paper),
            Found::Inconsistent(None) | Found::Unknown(_) => {}
        }
    }

    fn json(&self, head: Head<'_>) -> String {
        head.line(&self.fields())
    }
}

#[derive(Serialize)]
struct Fields<'a> {
    verdict: &'static str,
    scope: &'static str,
    mailboxes: BTreeMap<&'a str, &'static str>,
    handlers: usize,
    messages: usize,
    events: usize,
    statistics: Statistics,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<BTreeMap<&'a str, Vec<&'a str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<EventFields<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clash: Option<ClashFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct EventFields<'a> {
    handler: &'a str,
    message: &'a str,
    text: &'a str,
    line: u32,
}

#[derive(Serialize)]
struct ClashFields<'a> {
    minimal: bool,
    ties: Vec<TieFields<'a>>,
}

#[derive(Serialize)]
struct TieFields<'a> {
    from: EventFields<'a>,
    to: EventFields<'a>,
    why: &'static str,
    text: &'static str,
}

impl Mailbox {
    fn word(&self) -> &'static str {
        match self.found {
            Found::Consistent(_) => "consistent",
            Found::Inconsistent(_) => "inconsistent",
            Found::Unknown(_) => "unknown",
        }
    }

    fn mailboxes(&self) -> String {
        let mut kinds: Vec<&str> = self.handlers.iter().map(|handler| handler.1).collect();
        kinds.sort_unstable();
        kinds.dedup();
        match kinds[..] {
            [] => "no mailboxes".into(),
            [kind] => format!("each with a {kind}"),
            _ => {
                let each: Vec<String> =
                    self.handlers.iter().map(|(name, kind)| format!("{name} with a {kind}")).collect();
                each.join(", ")
            }
        }
    }

    /// How the answer was found.
    fn how(&self) -> String {
        let Statistics { pairs, guesses, open, decisions, conflicts } = self.statistics;
        let guesses = match guesses {
            0 => String::new(),
            guesses => format!(" and {} about writes and reads", counted(guesses, "question")),
        };
        let pairs = format!("{} of messages to order{guesses}", counted(pairs, "pair"));
        let search = match (open, &self.found) {
            (0, Found::Unknown(_)) => "not all of them looked at".to_owned(),
            (0, _) => "decided without a search".to_owned(),
            _ => {
                format!("{open} left to a search, {}, {}", counted(decisions, "choice"), counted(conflicts, "conflict"))
            }
        };
        let replayed = if matches!(self.found, Found::Consistent(_)) { "; the run was replayed" } else { "" };
        format!("{pairs}, {search}{replayed}")
    }

    fn event(&self, number: usize) -> EventFields<'_> {
        let Event { message, words, line } = &self.events[number];
        let (name, handler) = &self.messages[*message];
        EventFields { handler: &self.handlers[*handler].0, message: name, text: words, line: *line }
    }

    /// Which messages each handler runs, in order.
    fn runs(&self, schedule: &[usize]) -> BTreeMap<&str, Vec<&str>> {
        let mut runs: BTreeMap<&str, Vec<&str>> =
            self.handlers.iter().map(|(name, _)| (name.as_str(), Vec::new())).collect();
        let mut seen = vec![false; self.messages.len()];
        for &number in schedule {
            if !std::mem::replace(&mut seen[self.events[number].message], true) {
                let event = self.event(number);
                runs.entry(event.handler).or_default().push(event.message);
            }
        }
        runs
    }

    fn run(&self, schedule: &[usize], paper: &mut Paper) {
        let row = |(at, &number): (usize, &usize)| {
            let event = &self.events[number];
            let (message, handler) = &self.messages[event.message];
            let words = if event.words.starts_with("get(") {
                event.words.clone()
            } else {
                format!("{message}: {}", event.words)
            };
            Row { label: (at + 1).to_string(), lane: Some(*handler), words, style: PLAIN, source: String::new() }
        };
        let mut rows: Vec<Row> = schedule.iter().enumerate().map(row).collect();
        if !paper.layout().full && rows.len() > STEPS {
            let hidden = STEPS / 2..rows.len() - STEPS / 2;
            let words = format!("{} more; --full shows them", counted(hidden.len() as u64, "step"));
            rows.splice(hidden, [Row::note("...", words)]);
        }
        paper.end();
        let lanes = self.handlers.iter().map(|handler| handler.0.clone()).collect();
        Table { indent: 2, lanes, rows, sources: false }.text(paper);
    }

    fn explain(&self, clash: &Clash, paper: &mut Paper) {
        paper.end();
        if clash.ties.is_empty() {
            let what = match self.statistics.guesses {
                0 => "  Messages, posts and mailboxes alone rule out every run, whatever is read.",
                _ => {
                    "  Messages, posts and mailboxes rule out every run, and that each read reads one of the writes of its value."
                }
            };
            paper.say(what).end();
            return;
        }
        let rest = match clash.ties.len() {
            1 => "",
            _ if clash.minimal => ", and none of them can be spared",
            _ => "; there may be fewer that do",
        };
        let many = counted(clash.ties.len() as u64, "tie");
        let rule = if clash.ties.len() == 1 { "rules" } else { "rule" };
        paper.say(format!("  With messages, posts and mailboxes, {many} {rule} out every run{rest}:")).end().end();
        let shown = if paper.layout().full { clash.ties.len() } else { STEPS };
        for tie in clash.ties.iter().take(shown) {
            let words = |number: usize| {
                let event = self.event(number);
                format!("{} of {}, line {}", event.text, event.message, event.line)
            };
            paper.say(format!("    {}", words(tie.from))).end();
            paper.say(format!("      is before {}: {}", words(tie.to), tie.text)).end();
        }
        if clash.ties.len() > shown {
            paper.say(format!("    ... and {} more; --full shows them", clash.ties.len() - shown)).end();
        }
    }

    fn fields(&self) -> Fields<'_> {
        let mut fields = Fields {
            verdict: self.word(),
            scope: "this trace",
            mailboxes: self.handlers.iter().map(|(name, kind)| (name.as_str(), *kind)).collect(),
            handlers: self.handlers.len(),
            messages: self.messages.len(),
            events: self.events.len(),
            statistics: self.statistics,
            runs: None,
            steps: None,
            clash: None,
            why: None,
        };
        match &self.found {
            Found::Consistent(schedule) => {
                fields.runs = Some(self.runs(schedule));
                fields.steps = Some(schedule.iter().map(|&number| self.event(number)).collect());
            }
            Found::Inconsistent(clash) => {
                let tie = |tie: &Tie| TieFields {
                    from: self.event(tie.from),
                    to: self.event(tie.to),
                    why: tie.why,
                    text: tie.text,
                };
                fields.clash = clash
                    .as_ref()
                    .map(|clash| ClashFields { minimal: clash.minimal, ties: clash.ties.iter().map(tie).collect() });
            }
            Found::Unknown(why) => fields.why = Some(why),
        }
        fields
    }
}
