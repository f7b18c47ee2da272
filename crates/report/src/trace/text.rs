//! The verdict on a trace for a person: first the answer, then why.

use super::{Clash, Deduction, Found, Trace};
use crate::answer::Say;
use crate::numbers::counted;
use crate::paper::Paper;
use crate::style::{FLUSHED, PLAIN};
use crate::table::{Row, Table};
use crate::text::width;
use raddle_trace::{EventId, Model, Step};

/// So many steps of a schedule are shown of a long one, half of them from its beginning.
const STEPS: usize = 200;

impl Trace {
    pub(super) fn write_text(&self, paper: &mut Paper) {
        let what = match &self.found {
            Found::Consistent(_) => format!("there is an execution of this shape under {}", self.model),
            Found::Inconsistent(_) if self.unwritten.is_some() => {
                "no execution under any model has this shape".to_owned()
            }
            Found::Inconsistent(_) => format!("no execution under {} has this shape", self.model),
            Found::Unknown(why) => why.clone(),
        };
        paper.paint(self.conclusion().style(), self.word()).say(format!(": {what}")).end();
        let (threads, events) = (self.threads.len() as u64, self.len() as u64);
        paper.say(format!("  {}, {}", counted(threads, "thread"), counted(events, "event"))).end();
        paper.say(format!("  scope: this trace; {}", self.how())).end();
        match &self.found {
            Found::Consistent(schedule) => self.run(schedule, paper),
            Found::Inconsistent(Some(clash)) => self.explain(clash, paper),
            Found::Inconsistent(None) if self.unwritten.is_some() => {
                if let Some(id) = self.unwritten {
                    let line = self.event(id).map_or(0, |event| event.line);
                    let what = format!("{}  {}, line {line}", self.name(id), self.words(id));
                    paper.end().say("  Nobody wrote what this read returned:").end().end();
                    paper.say(format!("    {what}")).end();
                }
            }
            Found::Inconsistent(None) | Found::Unknown(_) => {}
        }
    }

    /// How the answer was found.
    fn how(&self) -> String {
        let axioms = Model::AXIOMATIC.contains(&self.model);
        let prefixes = match self.prefixes {
            number if axioms => counted(number, "guessed order"),
            1 => "1 prefix".to_owned(),
            number => format!("{number} prefixes"),
        };
        match self.found {
            Found::Consistent(_) if axioms && self.prefixes == 0 => "the execution was found and replayed".into(),
            Found::Consistent(_) => format!("the execution was found after {prefixes} and replayed"),
            Found::Inconsistent(_) if self.unwritten.is_some() => "nothing had to be searched".into(),
            Found::Inconsistent(_) if self.cyclic => "closure finds a cycle".into(),
            Found::Inconsistent(_) if self.prefixes == 0 => "a read contradicts its own thread".into(),
            Found::Inconsistent(_) => format!("a search through {prefixes} finds nothing"),
            Found::Unknown(_) => format!("{prefixes} were looked at"),
        }
    }

    /// The execution, as a table and as a schedule.
    fn run(&self, schedule: &[Step], paper: &mut Paper) {
        let mut rows = self.rows(schedule);
        if !paper.layout().full && rows.len() > STEPS {
            let hidden = STEPS / 2..rows.len() - STEPS / 2;
            let words = format!("{} more; --full shows them", counted(hidden.len() as u64, "step"));
            rows.splice(hidden, [Row::note("...", words)]);
        }
        paper.end();
        let lanes = self.threads.iter().map(|thread| thread.name.clone()).collect();
        Table { indent: 2, lanes, rows, sources: false }.text(paper);
        let word = |&step: &Step| match step {
            Step::FlushAt(thread, location) => format!("{}!{}", thread.0, self.location(location)),
            step => step.to_string(),
        };
        let words: Vec<String> = schedule.iter().map(word).collect();
        paper.end().say("  schedule: ").say(words.join(" ")).end();
    }

    /// What each step does.
    fn rows(&self, schedule: &[Step]) -> Vec<Row> {
        let mut done = vec![0; self.threads.len()];
        let mut buffers: Vec<Vec<EventId>> = vec![Vec::new(); self.threads.len()];
        let mut does = |step: Step| {
            let thread = step.thread();
            let buffer = buffers.get_mut(thread.index())?;
            let oldest = match step {
                Step::Flush(_) => Some(0).filter(|_| !buffer.is_empty()),
                Step::FlushAt(_, location) => {
                    buffer.iter().position(|&event| self.event(event).and_then(|event| event.buffers) == Some(location))
                }
                Step::Run(_) | Step::Choose(..) | Step::ReadFrom(..) | Step::WriteAt(..) => {
                    let id = EventId::new(thread, done[thread.index()]);
                    done[thread.index()] += 1;
                    let event = self.event(id)?;
                    buffer.extend(event.buffers.map(|_| id));
                    return Some((event.words.clone(), PLAIN));
                }
            };
            Some((format!("~ {} reaches memory", self.words(buffer.remove(oldest?))), FLUSHED))
        };
        let rows = schedule.iter().enumerate().map(|(at, &step)| {
            let (words, style) = does(step).unwrap_or(("?".into(), PLAIN));
            let lane = Some(step.thread().index()).filter(|&lane| lane < self.threads.len());
            Row { label: (at + 1).to_string(), lane, words, style, source: String::new() }
        });
        rows.collect()
    }

    fn explain(&self, clash: &Clash, paper: &mut Paper) {
        let rest =
            if clash.minimal { "without any one of them the others do not" } else { "there may be fewer that do" };
        let all = counted(self.len() as u64, "event");
        paper.end().say(format!("  {} of {all} clash, {rest}:", clash.events.len())).end().end();
        let names = clash.events.iter().map(|&(event, _)| width(&self.name(event))).max().unwrap_or(0);
        for &(event, only_writes) in &clash.events {
            let note = if only_writes { " (that it wrote is enough)" } else { "" };
            let line = self.event(event).map_or(0, |event| event.line);
            paper.say(format!("    {:<names$}  {}{note}, line {line}", self.name(event), self.words(event))).end();
        }
        if clash.cycle.is_empty() {
            paper.end().say("  No single cycle shows it: every order of them was tried.").end();
            return;
        }
        for (at, Deduction { tie, since }) in clash.conclusions.iter().enumerate() {
            paper.end().say(format!("  ({}) {}", at + 1, self.moment(tie.from))).end();
            paper.say(format!("      is before {}:", self.moment(tie.to))).end();
            paper.say(format!("      {}, since", tie.text)).end();
            for tie in since {
                let (from, to) = (self.short(tie.from), self.short(tie.to));
                paper.say(format!("        {from} → {to}  {}", tie.text)).end();
            }
        }
        paper.end().say("  Each is before the next, and the last before the first:").end().end();
        for (at, tie) in clash.cycle.iter().enumerate() {
            let last = at + 1 == clash.cycle.len();
            let number = clash.conclusions.iter().position(|conclusion| conclusion.tie == *tie);
            let number = number.map_or(String::new(), |at| format!(" ({})", at + 1));
            paper.say(format!("    {} {}", if at == 0 { "┌→" } else { "│ " }, self.moment(tie.from))).end();
            paper.say(format!("    {}     ↓ {}{number}", if last { "└──" } else { "│  " }, tie.text)).end();
        }
    }
}
