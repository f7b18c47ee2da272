//! The answer as a person reads it: the verdict first, then why, then how far it reaches, then what it took.

use crate::answer::{Answer, Counterexample, Sources};
use crate::excerpt::Problem;
use crate::numbers::{counted, grouped, memory, percent, short, time};
use crate::style::{BAD, FAINT, GOOD, HEAD, OPEN, paint};
use crate::table::{Layout, table};
use crate::text::clean;
use raddle_trace::{Execution, Scope, Verdict};
use std::fmt::Write;

/// A replay command longer than this is not printed; the schedule goes into a file instead.
const LONG_COMMAND: usize = 2_000;

/// The whole answer.
pub fn answer(answer: &Answer, sources: &Sources, layout: Layout) -> String {
    let mut out = headline(answer);
    let several = answer.counterexamples.len() > 1;
    for (at, counterexample) in answer.counterexamples.iter().enumerate() {
        out.push('\n');
        if several {
            let title = format!("violation {} of {}", at + 1, answer.counterexamples.len());
            writeln!(out, "{}", paint(HEAD, title)).expect("a string takes everything");
        }
        out += &self::counterexample(counterexample, sources, layout);
    }
    if !answer.counterexamples.is_empty() {
        out.push('\n');
    }
    let mut line = |word: &str, text: &str| {
        writeln!(out, "{} {}", paint(HEAD, format!("{word}:")), clean(text)).expect("a string takes everything");
    };
    line("scope", &scope(answer));
    for advice in &answer.advice {
        line("help", advice);
    }
    for note in &answer.notes {
        line("note", note);
    }
    out += &paint(FAINT, counts(answer));
    out.push('\n');
    out
}

fn headline(answer: &Answer) -> String {
    let (style, word) = match answer.verdict {
        Verdict::Holds => (GOOD, "holds"),
        Verdict::Violated => (BAD, "violated"),
        Verdict::Unknown => (OPEN, "unknown"),
    };
    let mut given = String::new();
    for (name, value) in &answer.parameters {
        write!(given, " {name}={value}").expect("a string takes everything");
    }
    let file = clean(&answer.file);
    let what = match answer.verdict {
        Verdict::Holds => "no execution breaks a property",
        Verdict::Violated => match answer.counterexamples.as_slice() {
            [] | [_] => "an execution breaks a property",
            _ => "executions break properties",
        },
        Verdict::Unknown => "no violation was found, but not everything was explored",
    };
    format!("{}: {file}{given} under {}: {what}\n", paint(style, word), answer.model)
}

fn scope(answer: &Answer) -> String {
    match (&answer.scope, answer.verdict) {
        (_, Verdict::Violated) if !answer.all => {
            "the search ended at the first violation; --all goes on and lists the distinct ones".into()
        }
        (Scope::Partial { reason }, _) if answer.share_done > 0.0 && answer.share_done < 1.0 => {
            format!("part of the executions, about {} of the search: {reason}", percent(answer.share_done))
        }
        (scope, _) => scope.to_string(),
    }
}

/// Executions, time and memory in one line.
fn counts(answer: &Answer) -> String {
    let cost = answer.cost;
    let mut parts = vec![counted(answer.executions, "execution"), format!("{} blocked", grouped(answer.blocked))];
    for (names, words) in [(&["failed"][..], "failed"), (&["bounded", "cut"], "cut off")] {
        let number: u64 = names.iter().filter_map(|name| answer.statistics.get(*name)).sum();
        if number > 0 {
            parts.push(format!("{} {words}", grouped(number)));
        }
    }
    parts.push(time(cost.seconds));
    if cost.cpu_seconds >= 0.5 {
        let rate = (answer.executions + answer.blocked) as f64 / cost.cpu_seconds;
        parts.push(format!("{} CPU ({}/s)", time(cost.cpu_seconds), short(rate)));
    }
    parts.extend(cost.peak_memory_bytes.map(|bytes| format!("{} peak memory", memory(bytes))));
    format!("{} (engine {})", parts.join(", "), answer.engine)
}

/// One counterexample: what is wrong, the run, how to see it again.
pub fn counterexample(counterexample: &Counterexample, sources: &Sources, layout: Layout) -> String {
    let mut out = Problem::of(counterexample).render(sources, layout.width);
    out.push('\n');
    out += &table(&counterexample.execution, &counterexample.waiting, layout);
    out.push('\n');
    let replay = if counterexample.replay.len() <= LONG_COMMAND {
        counterexample.replay.clone()
    } else {
        let steps = counted(counterexample.violation.schedule.steps.len() as u64, "step");
        format!("the schedule has {steps}; --save-schedule FILE keeps it, and `raddle replay` takes @FILE")
    };
    writeln!(out, "{} {}", paint(HEAD, "replay:"), clean(&replay)).expect("a string takes everything");
    out
}

/// A run that was asked for: the table, what the program printed, and how it ended.
pub fn replayed(
    execution: &Execution,
    counterexample: Option<&Counterexample>,
    sources: &Sources,
    layout: Layout,
) -> String {
    let waiting = counterexample.map_or(&[][..], |found| &found.waiting);
    let mut out = match counterexample {
        Some(found) => {
            let heading = format!("{}: the schedule breaks a property\n\n", paint(BAD, "violated"));
            heading + &Problem::of(found).render(sources, layout.width)
        }
        None => format!("{}: the schedule breaks no property\n", paint(GOOD, "ends")),
    };
    out.push('\n');
    out += &table(execution, waiting, layout);
    let printed: Vec<String> = printed(execution).map(|line| clean(line.trim_end())).collect();
    if !printed.is_empty() {
        write!(out, "\n{}\n", paint(HEAD, "the program printed:")).expect("a string takes everything");
        for line in printed {
            writeln!(out, "  {line}").expect("a string takes everything");
        }
    }
    out
}

/// What the threads printed, in order.
pub fn printed(execution: &Execution) -> impl Iterator<Item = &str> {
    execution.steps.iter().flat_map(|step| match step {
        raddle_trace::execution::Entry::Event { printed, .. } => printed.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    })
}
