//! The verdict for a person: first the answer, then why.

use super::{Context, Finding, moment, reason, short};
use crate::explain::{Clash, Conclusion, Tie};
use crate::format::Trace;
use crate::instance::Action;
use raddle_trace::{EventId, Step, ThreadId};
use std::fmt::Write;

/// So many steps of a schedule are shown of a long one, half of them from its beginning.
const STEPS: usize = 200;

/// How to lay out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Characters in a line.
    pub width: usize,
    /// Leave nothing out.
    pub full: bool,
}

/// The verdict as text.
pub fn text(context: &Context<'_>, layout: Layout) -> String {
    let mut out = String::new();
    write(&mut out, context, layout).expect("a string takes everything");
    out
}

fn write(out: &mut String, context: &Context<'_>, layout: Layout) -> std::fmt::Result {
    let Context { trace, model, .. } = *context;
    match context.finding {
        Finding::Consistent(_) => writeln!(out, "consistent: there is an execution of this shape under {model}")?,
        Finding::Inconsistent(_) => writeln!(out, "inconsistent: no execution under {model} has this shape")?,
        Finding::Unknown(limit) => writeln!(out, "unknown: {limit} was reached")?,
    }
    let (threads, events) = (trace.instance.threads(), trace.instance.len());
    writeln!(out, "  {}, {}", counted(threads as u64, "thread"), counted(events as u64, "event"))?;
    writeln!(out, "  scope: this trace; {}", how(context))?;
    match context.finding {
        Finding::Consistent(schedule) => {
            writeln!(out)?;
            table(out, trace, schedule, layout)?;
            let words: Vec<String> = schedule.iter().map(|&step| word(trace, step)).collect();
            writeln!(out, "\n  schedule: {}", words.join(" "))
        }
        Finding::Inconsistent(Some(clash)) => explanation(out, trace, clash),
        Finding::Inconsistent(None) | Finding::Unknown(_) => Ok(()),
    }
}

fn how(context: &Context<'_>) -> String {
    let prefixes = counted(context.statistics.prefixes, "prefix");
    match context.finding {
        Finding::Consistent(_) => format!("the execution was found after {prefixes} and replayed"),
        Finding::Inconsistent(_) if context.statistics.cyclic => "closure finds a cycle".into(),
        Finding::Inconsistent(_) if context.statistics.prefixes == 0 => "a read contradicts its own thread".into(),
        Finding::Inconsistent(_) => format!("a search through {prefixes} finds nothing"),
        Finding::Unknown(_) => format!("{prefixes} were looked at"),
    }
}

fn counted(number: u64, what: &str) -> String {
    match (number, what) {
        (1, _) => format!("1 {what}"),
        (_, "prefix") => format!("{number} prefixes"),
        _ => format!("{number} {what}s"),
    }
}

/// A step of a schedule; locations are given by name.
fn word(trace: &Trace, step: Step) -> String {
    match step {
        Step::FlushAt(thread, loc) => format!("{}!{}", thread.0, trace.location(loc)),
        step => step.to_string(),
    }
}

/// One line per step, one column per thread if there is room for that.
fn table(out: &mut String, trace: &Trace, schedule: &[Step], layout: Layout) -> std::fmt::Result {
    let rows = rows(trace, schedule);
    let length = |text: &str| text.chars().count();
    let threads = trace.instance.threads();
    let mut widths: Vec<usize> = (0..threads).map(|at| length(trace.thread(ThreadId(at as u32)))).collect();
    for (thread, words) in &rows {
        widths[thread.index()] = widths[thread.index()].max(length(words));
    }
    let digits = rows.len().to_string().len().max(4);
    let in_columns = digits + 4 + widths.iter().map(|width| width + 2).sum::<usize>() <= layout.width;
    let names = (0..threads).map(|at| length(trace.thread(ThreadId(at as u32)))).max().unwrap_or(0);
    let line = |label: &str, thread: ThreadId, words: &str| {
        let indent = if in_columns { widths[..thread.index()].iter().map(|width| width + 2).sum() } else { 0 };
        let name = if in_columns { String::new() } else { format!("{:<names$}  ", trace.thread(thread)) };
        format!("  {label:>digits$}  {}{name}{words}", " ".repeat(indent))
    };
    if in_columns {
        let heads =
            (0..threads).map(|at| format!("{:<width$}  ", trace.thread(ThreadId(at as u32)), width = widths[at]));
        writeln!(out, "{}", format!("  {:>digits$}  {}", "step", heads.collect::<String>()).trim_end())?;
    } else {
        writeln!(out, "  {:>digits$}  thread", "step")?;
    }
    let hidden = if layout.full || rows.len() <= STEPS { 0..0 } else { STEPS / 2..rows.len() - STEPS / 2 };
    for (at, (thread, words)) in rows.iter().enumerate() {
        if at == hidden.start && !hidden.is_empty() {
            writeln!(out, "  {:>digits$}  {} more; --full shows them", "...", counted(hidden.len() as u64, "step"))?;
        }
        if !hidden.contains(&at) {
            writeln!(out, "{}", line(&(at + 1).to_string(), *thread, words))?;
        }
    }
    Ok(())
}

/// What each step does, in words.
fn rows(trace: &Trace, schedule: &[Step]) -> Vec<(ThreadId, String)> {
    let mut done = vec![0; trace.instance.threads()];
    let mut buffers: Vec<Vec<EventId>> = vec![Vec::new(); trace.instance.threads()];
    let rows = schedule.iter().map(|&step| {
        let thread = step.thread();
        let buffer = &mut buffers[thread.index()];
        let loc = |event: &EventId| trace.instance.get(*event).and_then(Action::loc).map(|loc| u64::from(loc.0));
        let oldest = match step {
            Step::Flush(_) => 0,
            Step::FlushAt(_, flushed) => buffer.iter().position(|event| loc(event) == Some(flushed)).unwrap_or(0),
            Step::Run(_) | Step::Choose(..) => {
                let event = EventId::new(thread, done[thread.index()]);
                done[thread.index()] += 1;
                if let Some(Action::Write { .. }) = trace.instance.get(event) {
                    buffer.push(event);
                }
                return (thread, trace.words(event).to_owned());
            }
        };
        (thread, format!("~ {} reaches memory", trace.words(buffer.remove(oldest))))
    });
    rows.collect()
}

fn explanation(out: &mut String, trace: &Trace, clash: &Clash) -> std::fmt::Result {
    let number = clash.events().count();
    let rest = if clash.minimal { "without any one of them the others do not" } else { "there may be fewer that do" };
    writeln!(out, "\n  {} of {} clash, {rest}:\n", number, counted(trace.instance.len() as u64, "event"))?;
    let width = clash.events().map(|event| trace.name(event).chars().count()).max().unwrap_or(0);
    for event in clash.events() {
        let weaker = matches!(trace.instance.get(event), Some(Action::Update { .. }))
            && matches!(clash.core.get(event), Some(Action::Write { .. }));
        let note = if weaker { " (that it wrote is enough)" } else { "" };
        let line = trace.spot(event).line;
        writeln!(out, "    {:<width$}  {}{note}, line {line}", trace.name(event), trace.words(event))?;
    }
    if clash.cycle.is_empty() {
        return writeln!(out, "\n  No single cycle shows it: every order of them was tried.");
    }
    for (at, conclusion) in clash.conclusions.iter().enumerate() {
        concluded(out, trace, conclusion, at + 1)?;
    }
    writeln!(out, "\n  Each is before the next, and the last before the first:\n")?;
    let arrows = Arrows { trace, clash };
    for (at, tie) in clash.cycle.iter().enumerate() {
        let last = at + 1 == clash.cycle.len();
        writeln!(out, "    {} {}", if at == 0 { "┌→" } else { "│ " }, moment(trace, tie.from))?;
        writeln!(out, "    {}     {}", if last { "└──" } else { "│  " }, arrows.why(tie))?;
    }
    Ok(())
}

struct Arrows<'a> {
    trace: &'a Trace,
    clash: &'a Clash,
}

impl Arrows<'_> {
    /// The reason, and the number of the conclusion if it is one.
    fn why(&self, tie: &Tie) -> String {
        let number = self.clash.conclusions.iter().position(|conclusion| conclusion.tie == *tie);
        let number = number.map_or(String::new(), |at| format!(" ({})", at + 1));
        format!("↓ {}{number}", reason(self.trace, tie))
    }
}

fn concluded(out: &mut String, trace: &Trace, conclusion: &Conclusion, number: usize) -> std::fmt::Result {
    let Conclusion { tie, since } = conclusion;
    let (from, to) = (moment(trace, tie.from), moment(trace, tie.to));
    writeln!(out, "\n  ({number}) {from}\n      is before {to}:\n      {}, since", reason(trace, tie))?;
    for tie in since {
        let (from, to) = (short(trace, tie.from), short(trace, tie.to));
        writeln!(out, "        {from} → {to}  {}", reason(trace, tie))?;
    }
    Ok(())
}
