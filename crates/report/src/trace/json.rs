//! The verdict on a trace for a program.

use super::{Clash, Found, Moment, Tie, Trace};
use raddle_trace::{EventId, Model, Step};
use serde::Serialize;

#[derive(Serialize)]
struct Statistics {
    prefixes: u64,
    closure_computed: bool,
    closure_cyclic: bool,
}
#[derive(Serialize)]
pub(super) struct Fields<'a> {
    verdict: &'static str,
    scope: &'static str,
    model: Model,
    threads: usize,
    events: usize,
    statistics: Statistics,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<StepFields<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clash: Option<ClashFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unwritten: Option<EventFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum StepFields<'a> {
    Event {
        #[serde(flatten)]
        event: EventFields<'a>,
    },
    Flush {
        thread: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        location: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct EventFields<'a> {
    thread: &'a str,
    index: u32,
    text: &'a str,
    line: u32,
}

#[derive(Serialize)]
struct ClashFields<'a> {
    minimal: bool,
    events: Vec<EventFields<'a>>,
    cycle: Vec<TieFields<'a>>,
    conclusions: Vec<DeductionFields<'a>>,
}

#[derive(Serialize)]
struct DeductionFields<'a> {
    tie: TieFields<'a>,
    since: Vec<TieFields<'a>>,
}

#[derive(Serialize)]
struct TieFields<'a> {
    from: MomentFields<'a>,
    to: MomentFields<'a>,
    why: &'static str,
    text: String,
}

#[derive(Serialize)]
#[serde(tag = "moment", rename_all = "snake_case")]
enum MomentFields<'a> {
    Event { thread: &'a str, index: u32 },
    InMemory { thread: &'a str, index: u32 },
    End { thread: &'a str },
}

impl Trace {
    pub(super) fn fields(&self) -> Fields<'_> {
        let mut fields = Fields {
            verdict: self.word(),
            scope: "this trace",
            model: self.model,
            threads: self.threads.len(),
            events: self.len(),
            statistics: Statistics {
                prefixes: self.prefixes,
                closure_computed: self.closed,
                closure_cyclic: self.cyclic,
            },
            schedule: None,
            steps: None,
            clash: None,
            unwritten: self.unwritten.map(|id| self.event_fields(id)),
            why: None,
        };
        match &self.found {
            Found::Consistent(schedule) => {
                fields.schedule = Some(schedule.iter().map(Step::to_string).collect::<Vec<_>>().join(" "));
                fields.steps = Some(self.step_fields(schedule));
            }
            Found::Inconsistent(clash) => fields.clash = clash.as_ref().map(|clash| self.clash_fields(clash)),
            Found::Unknown(why) => fields.why = Some(why.clone()),
        }
        fields
    }

    fn event_fields(&self, id: EventId) -> EventFields<'_> {
        let line = self.event(id).map_or(0, |event| event.line);
        EventFields { thread: self.thread(id.thread), index: id.index, text: self.words(id), line }
    }

    fn step_fields(&self, schedule: &[Step]) -> Vec<StepFields<'_>> {
        let mut done = vec![0; self.threads.len()];
        let fields = |&step: &Step| {
            let thread = step.thread();
            match step {
                Step::Flush(_) => StepFields::Flush { thread: self.thread(thread), location: None },
                Step::FlushAt(_, location) => {
                    StepFields::Flush { thread: self.thread(thread), location: Some(self.location(location)) }
                }
                Step::Run(_) | Step::Choose(..) | Step::ReadFrom(..) | Step::WriteAt(..) => {
                    let index = done.get_mut(thread.index()).map_or(0, |done| std::mem::replace(done, *done + 1));
                    StepFields::Event { event: self.event_fields(EventId::new(thread, index)) }
                }
            }
        };
        schedule.iter().map(fields).collect()
    }

    fn clash_fields(&self, clash: &Clash) -> ClashFields<'_> {
        let ties = |ties: &[Tie]| ties.iter().map(|tie| self.tie_fields(tie)).collect();
        let conclusions = clash.conclusions.iter();
        ClashFields {
            minimal: clash.minimal,
            events: clash.events.iter().map(|&(event, _)| self.event_fields(event)).collect(),
            cycle: ties(&clash.cycle),
            conclusions: conclusions
                .map(|found| DeductionFields { tie: self.tie_fields(&found.tie), since: ties(&found.since) })
                .collect(),
        }
    }

    fn tie_fields(&self, tie: &Tie) -> TieFields<'_> {
        let moment = |moment| match moment {
            Moment::Does(event) => MomentFields::Event { thread: self.thread(event.thread), index: event.index },
            Moment::Reaches(event) => MomentFields::InMemory { thread: self.thread(event.thread), index: event.index },
            Moment::Ends(thread) => MomentFields::End { thread: self.thread(thread) },
        };
        TieFields { from: moment(tie.from), to: moment(tie.to), why: tie.why, text: tie.text.clone() }
    }
}
