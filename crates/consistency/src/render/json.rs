//! The verdict for a program: one JSON object on one line, described in the book.

use super::{Context, Finding, reason};
use crate::explain::{Clash, Moment, Reason, Tie};
use crate::format::Trace;
use raddle_trace::{EventId, Model, Step};
use serde::Serialize;

/// The version of the schema.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    version: &'a str,
    file: &'a str,
    verdict: &'static str,
    scope: &'static str,
    model: Model,
    threads: usize,
    events: usize,
    seconds: f64,
    statistics: Statistics,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<StepObject<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clash: Option<ClashObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct Statistics {
    prefixes: u64,
    closure_computed: bool,
    closure_cyclic: bool,
}

#[derive(Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum StepObject<'a> {
    Event {
        #[serde(flatten)]
        event: EventObject<'a>,
    },
    Flush {
        thread: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        location: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct EventObject<'a> {
    thread: &'a str,
    index: u32,
    text: &'a str,
    line: u32,
}

#[derive(Serialize)]
struct ClashObject<'a> {
    minimal: bool,
    events: Vec<EventObject<'a>>,
    cycle: Vec<TieObject<'a>>,
    conclusions: Vec<ConclusionObject<'a>>,
}

#[derive(Serialize)]
struct ConclusionObject<'a> {
    tie: TieObject<'a>,
    since: Vec<TieObject<'a>>,
}

#[derive(Serialize)]
struct TieObject<'a> {
    from: MomentObject<'a>,
    to: MomentObject<'a>,
    why: &'static str,
    text: String,
}

#[derive(Serialize)]
#[serde(tag = "moment", rename_all = "snake_case")]
enum MomentObject<'a> {
    Event { thread: &'a str, index: u32 },
    InMemory { thread: &'a str, index: u32 },
    End { thread: &'a str },
}

/// The verdict as JSON.
pub fn json(context: &Context<'_>) -> String {
    let Context { trace, finding, statistics, .. } = *context;
    let schedule = match finding {
        Finding::Consistent(schedule) => Some(schedule),
        _ => None,
    };
    let object = Object {
        schema: SCHEMA,
        version: context.version,
        file: context.file,
        verdict: finding.word(),
        scope: "this trace",
        model: context.model,
        threads: trace.instance.threads(),
        events: trace.instance.len(),
        seconds: context.seconds,
        statistics: Statistics {
            prefixes: statistics.prefixes,
            closure_computed: statistics.closed,
            closure_cyclic: statistics.cyclic,
        },
        schedule: schedule.map(|steps| steps.iter().map(Step::to_string).collect::<Vec<_>>().join(" ")),
        steps: schedule.map(|schedule| steps(trace, schedule)),
        clash: match finding {
            Finding::Inconsistent(Some(found)) => Some(clash(trace, found)),
            _ => None,
        },
        why: match finding {
            Finding::Unknown(limit) => Some(format!("{limit} was reached")),
            _ => None,
        },
    };
    let mut text = serde_json::to_string(&object).expect("texts and numbers can be written");
    text.push('\n');
    text
}

fn event(trace: &Trace, event: EventId) -> EventObject<'_> {
    EventObject {
        thread: trace.thread(event.thread),
        index: event.index,
        text: trace.words(event),
        line: trace.spot(event).line,
    }
}

fn steps<'a>(trace: &'a Trace, schedule: &[Step]) -> Vec<StepObject<'a>> {
    let mut done = vec![0; trace.instance.threads()];
    let object = |&step: &Step| {
        let thread = step.thread();
        match step {
            Step::Flush(_) => StepObject::Flush { thread: trace.thread(thread), location: None },
            Step::FlushAt(_, loc) => {
                StepObject::Flush { thread: trace.thread(thread), location: Some(trace.location(loc)) }
            }
            Step::Run(_) | Step::Choose(..) => {
                done[thread.index()] += 1;
                StepObject::Event { event: event(trace, EventId::new(thread, done[thread.index()] - 1)) }
            }
        }
    };
    schedule.iter().map(object).collect()
}

fn clash<'a>(trace: &'a Trace, clash: &Clash) -> ClashObject<'a> {
    let ties = |ties: &[Tie]| ties.iter().map(|one| tie(trace, one)).collect();
    let conclusions = clash.conclusions.iter();
    ClashObject {
        minimal: clash.minimal,
        events: clash.events().map(|id| event(trace, id)).collect(),
        cycle: ties(&clash.cycle),
        conclusions: conclusions
            .map(|found| ConclusionObject { tie: tie(trace, &found.tie), since: ties(&found.since) })
            .collect(),
    }
}

fn tie<'a>(trace: &'a Trace, tie: &Tie) -> TieObject<'a> {
    let moment = |moment| match moment {
        Moment::Does(event) => MomentObject::Event { thread: trace.thread(event.thread), index: event.index },
        Moment::Reaches(event) => MomentObject::InMemory { thread: trace.thread(event.thread), index: event.index },
        Moment::Ends(thread) => MomentObject::End { thread: trace.thread(thread) },
    };
    let why = match tie.why {
        Reason::Program => "program_order",
        Reason::Issue => "issue",
        Reason::Buffer => "buffer",
        Reason::Drain => "drain",
        Reason::StoreFence => "store_fence",
        Reason::Start => "start",
        Reason::End => "end",
        Reason::ReadsFrom => "reads_from",
        Reason::OwnBefore(_) => "own_before",
        Reason::Earlier(_) => "earlier",
        Reason::Later(_) => "later",
        Reason::Hidden => "hidden",
    };
    TieObject { from: moment(tie.from), to: moment(tie.to), why, text: reason(trace, tie) }
}
