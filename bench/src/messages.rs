//! Event-driven traces: how long it takes to find a run, against the number of messages.
//!
//! Families with known answers (a wrong one is an error), and one without:
//!
//! - *run*: a random program on eight handlers is run on the machine, and its trace is asked about. Consistent with the mailboxes it ran on.
//! - *tree*: messages in a random tree of posts, and reads between messages that nothing orders the other way (Grahn 2026, the scalable generator). Nobody knows the answer beforehand.
//! - *readers and writers*: n messages that write a location and n that read it, each posted by a message of its own; reader i reads writer i. After the published family of that name.
//! - *ordered posts*: n posters, each of which reads what the one before wrote; the messages they post run the other way round. A queue does not have that.
//! - *ring*: n queues and n posters; the posts of every two queues are crossed, and only all together have a cycle. Two of them are the counterexample to an order of posts that is only partial.
//! - *formula*: a formula in conjunctive form as a trace (Grahn 2026, the proof that queues are NP-hard), with the corrections that `raddle_consistency::mailbox` names; half of them have
//!   all four signs of two variables and are unsatisfiable.
//!
//! Published are results for traces of at most 16 messages and 45 events.

use crate::failure::Failure;
use crate::table::{markdown, thousands};
use fastrand::Rng;
use raddle::consistency::Interrupt;
use raddle::consistency::mailbox::families::{Clause, formula, satisfiable};
use raddle::consistency::mailbox::{Answer, Kind, Limits, Mailbox, Rules, Trace, solve};
use raddle::cost::Meter;
use serde::Serialize;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tiny parameters: says that everything works, nothing about speed
    #[arg(long)]
    quick: bool,

    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    family: &'static str,
    mailbox: &'static str,
    messages: usize,
    events: usize,
    consistent: Option<bool>,
    pairs: usize,
    open: usize,
    decisions: u64,
    conflicts: u64,
    cpu_seconds: f64,
}

struct Until(Instant);

impl Interrupt for Until {
    fn is_due(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// A trace, and per kind of mailbox (queue, multiset) whether it is consistent, if that is known.
type Input = (&'static str, Trace, [Option<bool>; 2]);

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (family, trace, known) in inputs(args.quick) {
        for (at, mailbox) in [Mailbox::Queue, Mailbox::Multiset].into_iter().enumerate() {
            if family == "formula" && mailbox == Mailbox::Multiset {
                continue;
            }
            rows.push(row(family, &trace, mailbox, known[at], Duration::from_secs(args.limit))?);
        }
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        anstream::print!("{}", table(&rows));
    }
    Ok(())
}

fn row(
    family: &'static str,
    trace: &Trace,
    mailbox: Mailbox,
    known: Option<bool>,
    limit: Duration,
) -> Result<Row, Failure> {
    let until = Until(Instant::now() + limit);
    let meter = Meter::start();
    let limits = Limits { interrupt: &until, ..Limits::default() };
    let name = if mailbox == Mailbox::Queue { "queue" } else { "multiset" };
    let wrong = |found: String| Failure::Verdict {
        program: format!("{family}, {} messages, {name}", trace.messages.len()),
        found,
    };
    let (answer, statistics) =
        solve(trace, &Rules::all(mailbox, trace), &limits).map_err(|error| wrong(error.to_string()))?;
    let consistent = match answer {
        Answer::Consistent(_) => Some(true),
        Answer::Inconsistent => Some(false),
        Answer::Unknown => None,
    };
    if let (Some(found), Some(known)) = (consistent, known)
        && found != known
    {
        return Err(wrong(format!("consistent: {found}, which is wrong")));
    }
    Ok(Row {
        family,
        mailbox: name,
        messages: trace.messages.len(),
        events: trace.events.len(),
        consistent,
        pairs: statistics.pairs,
        open: statistics.open,
        decisions: statistics.decisions,
        conflicts: statistics.conflicts,
        cpu_seconds: meter.read().cpu_seconds,
    })
}

fn table(rows: &[Row]) -> String {
    let head = [
        "family",
        "mailbox",
        "messages",
        "events",
        "consistent",
        "pairs",
        "open",
        "choices",
        "conflicts",
        "CPU seconds",
    ];
    let line = |row: &Row| {
        let consistent = match row.consistent {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unfinished",
        };
        let numbers = [row.pairs as u64, row.open as u64, row.decisions, row.conflicts].map(thousands);
        let mut cells = vec![row.family.to_owned(), row.mailbox.to_owned(), thousands(row.messages as u64)];
        cells.extend([thousands(row.events as u64), consistent.to_owned()]);
        cells.extend(numbers);
        cells.push(format!("{:.3}", row.cpu_seconds));
        cells
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    markdown(&head.map(str::to_owned), &lines, 2)
}

fn inputs(quick: bool) -> Vec<Input> {
    let sizes: &[usize] = if quick { &[16] } else { &[16, 100, 300, 1_000, 3_000] };
    let mut random = Rng::with_seed(15);
    let mut all: Vec<Input> = Vec::new();
    for &size in sizes {
        all.push(("run", a_run(size, &mut random), [Some(true), Some(true)]));
    }
    for &size in sizes {
        all.push(("tree", a_tree(size, &mut random), [None, None]));
    }
    for &size in sizes {
        all.push(("readers and writers", readers_and_writers(size / 4), [Some(true); 2]));
    }
    for &size in sizes {
        all.push(("ordered posts", ordered_posts(size / 2), [Some(false), Some(true)]));
    }
    for &size in sizes {
        all.push(("ring", ring(size / 3), [Some(false), Some(true)]));
    }
    let variables: &[usize] = if quick { &[3] } else { &[4, 8, 12, 16, 20] };
    for &count in variables {
        for is_contradictory in [false, true] {
            let clauses = clauses(count, is_contradictory, &mut random);
            let known = satisfiable(count, &clauses);
            all.push(("formula", formula(count, &clauses), [Some(known), None]));
        }
    }
    all
}

/// A run of a random program with queues: what it leaves is a run of multisets as well.
fn a_run(messages: usize, random: &mut Rng) -> Trace {
    const HANDLERS: usize = 8;
    let mut trace = Trace { handlers: HANDLERS, ..Trace::default() };
    let mut boxes: Vec<std::collections::VecDeque<usize>> = vec![std::collections::VecDeque::new(); HANDLERS];
    let mut running: Vec<Option<(usize, usize)>> = vec![None; HANDLERS];
    let mut last: Vec<Option<usize>> = vec![None; 16];
    for (handler, own) in boxes.iter_mut().enumerate() {
        own.push_back(trace.add_message(handler));
    }
    while boxes.iter().any(|own| !own.is_empty()) || running.iter().any(Option::is_some) {
        let handler = random.usize(..HANDLERS);
        let Some((message, left)) = running[handler] else {
            if let Some(message) = boxes[handler].pop_front() {
                trace.add(message, Kind::Get);
                running[handler] = Some((message, 4));
            }
            continue;
        };
        if left == 0 {
            running[handler] = None;
            continue;
        }
        running[handler] = Some((message, left - 1));
        let location = random.usize(..last.len());
        if left <= 2 && trace.messages.len() < messages {
            let to = random.usize(..HANDLERS);
            let posted = trace.add_message(to);
            trace.add(message, Kind::Post(posted));
            boxes[to].push_back(posted);
        } else if random.bool() {
            trace.add(message, Kind::Read { location, from: last[location] });
        } else {
            last[location] = Some(trace.add(message, Kind::Write { location }));
        }
    }
    trace
}

/// A tree of posts, and reads between messages in an order that the tree does not contradict.
fn a_tree(messages: usize, random: &mut Rng) -> Trace {
    const HANDLERS: usize = 4;
    let mut trace = Trace { handlers: HANDLERS, ..Trace::default() };
    for message in 0..messages {
        trace.add_message(message % HANDLERS);
        trace.add(message, Kind::Get);
    }
    // A message is posted by one with a smaller number, and reads of those only.
    for message in 1..messages {
        let poster = random.usize(message.saturating_sub(20)..message);
        trace.add(poster, Kind::Post(message));
    }
    for location in 0..messages / 4 {
        let reader = random.usize(1..messages);
        let writer = random.usize(..reader);
        let write = trace.add(writer, Kind::Write { location });
        trace.add(reader, Kind::Read { location, from: Some(write) });
    }
    trace
}

/// Posters of one message each; the writers and the readers run on one handler.
fn readers_and_writers(count: usize) -> Trace {
    let mut trace = Trace { handlers: 2, ..Trace::default() };
    let posters: Vec<usize> = (0..2 * count).map(|_| trace.add_message(0)).collect();
    for &poster in &posters {
        let message = trace.add_message(1);
        trace.add(poster, Kind::Get);
        trace.add(poster, Kind::Post(message));
        trace.add(message, Kind::Get);
    }
    for at in 0..count {
        let write = trace.add(2 * count + at, Kind::Write { location: 0 });
        trace.add(3 * count + at, Kind::Read { location: 0, from: Some(write) });
    }
    trace
}

/// Posts in the order of a chain of flags; what was posted runs the other way round.
fn ordered_posts(count: usize) -> Trace {
    let mut trace = Trace { handlers: count + 1, ..Trace::default() };
    let posters: Vec<usize> = (0..count).map(|at| trace.add_message(at + 1)).collect();
    let messages: Vec<usize> = (0..count).map(|_| trace.add_message(0)).collect();
    let mut flag = None;
    for (at, (&poster, &message)) in posters.iter().zip(&messages).enumerate() {
        trace.add(poster, Kind::Get);
        if let Some(write) = flag {
            trace.add(poster, Kind::Read { location: at - 1, from: Some(write) });
        }
        trace.add(poster, Kind::Post(message));
        flag = Some(trace.add(poster, Kind::Write { location: at }));
    }
    let mut last = None;
    for (at, &message) in messages.iter().enumerate().rev() {
        trace.add(message, Kind::Get);
        if let Some((location, write)) = last {
            trace.add(message, Kind::Read { location, from: Some(write) });
        }
        last = Some((count + at, trace.add(message, Kind::Write { location: count + at })));
    }
    trace
}

/// Poster i posts the second message of queue i, and then the first of the next one.
fn ring(count: usize) -> Trace {
    let mut trace = Trace { handlers: 2 * count, ..Trace::default() };
    let posters: Vec<usize> = (0..count).map(|at| trace.add_message(at)).collect();
    let pairs: Vec<[usize; 2]> =
        (0..count).map(|at| [trace.add_message(count + at), trace.add_message(count + at)]).collect();
    for (at, &poster) in posters.iter().enumerate() {
        trace.add(poster, Kind::Get);
        trace.add(poster, Kind::Post(pairs[at][1]));
        trace.add(poster, Kind::Post(pairs[(at + 1) % count][0]));
    }
    for (location, &[first, second]) in pairs.iter().enumerate() {
        trace.add(first, Kind::Get);
        let write = trace.add(first, Kind::Write { location });
        trace.add(second, Kind::Get);
        trace.add(second, Kind::Read { location, from: Some(write) });
    }
    trace
}

/// Clauses of three different variables, as many as there are variables; perhaps with all signs of the first two.
fn clauses(variables: usize, is_contradictory: bool, random: &mut Rng) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    for _ in 0..variables {
        let mut left: Vec<usize> = (0..variables).collect();
        random.shuffle(&mut left);
        clauses.push(left[..3].iter().map(|&variable| (variable, random.bool())).collect());
    }
    if is_contradictory {
        clauses.extend((0..4).map(|signs| vec![(0, signs & 1 == 0), (1, signs & 2 == 0)]));
    }
    clauses
}
