//! The verdict on a history for a program.

use super::{Data, Explanation, Found, Lin, Operation};
use crate::answer::Say;
use serde::{Serialize, Serializer};
use serde_json::Value;

#[derive(Serialize)]
pub(super) struct Fields<'a> {
    verdict: &'static str,
    scope: &'static str,
    object: &'a str,
    operations: usize,
    pending: usize,
    events: u64,
    parts: usize,
    engine: &'a str,
    search: SearchFields,
    #[serde(skip_serializing_if = "Option::is_none")]
    linearization: Option<List<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<ExplanationFields<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hints: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct SearchFields {
    configurations: u64,
    states: u64,
}

#[derive(Serialize)]
struct ExplanationFields<'a> {
    reason: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a Value>,
    operations: List<'a>,
    others: &'static str,
    minimal: bool,
    confirmed: bool,
    #[serde(skip_serializing_if = "List::is_empty")]
    called: List<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_state: Option<&'a str>,
    #[serde(skip_serializing_if = "List::is_empty")]
    from_done: List<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states_before: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earliest_prefix: Option<PrefixFields>,
}

#[derive(Serialize)]
struct PrefixFields {
    event: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    exact: bool,
}

/// Operations, each made when it is written.
struct List<'a> {
    lin: &'a Lin,
    ids: &'a [usize],
}

impl List<'_> {
    fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.ids.iter().map(|&id| OperationFields::new(self.lin, id)))
    }
}

#[derive(Serialize)]
struct OperationFields {
    id: usize,
    process: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Value>,
    f: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    call: u32,
    r#return: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_line: Option<u32>,
}

impl OperationFields {
    fn new(lin: &Lin, id: usize) -> Self {
        let Operation { call, ret, call_line, return_line, .. } = lin.operations.operation(id);
        let Data { process, key, method, value, new, result } = lin.operations.data(id);
        let known = |line: u32| (line > 0).then_some(line);
        let (call_line, return_line) = (known(call_line), known(return_line));
        OperationFields { id, process, key, f: method, value, new, result, call, r#return: ret, call_line, return_line }
    }
}

impl Lin {
    pub(super) fn fields(&self) -> Fields<'_> {
        let number = self.operations.number();
        Fields {
            verdict: self.conclusion().word(),
            scope: "this history",
            object: &self.object,
            operations: number,
            pending: (0..number).filter(|&id| self.operations.operation(id).ret.is_none()).count(),
            events: self.events,
            parts: self.parts,
            engine: &self.engine,
            search: SearchFields { configurations: self.configurations, states: self.states },
            linearization: match &self.found {
                Found::Linearizable(order) => Some(List { lin: self, ids: order }),
                _ => None,
            },
            explanation: match &self.found {
                Found::Not(explanation) => Some(self.explanation_fields(explanation)),
                _ => None,
            },
            hints: &self.hints,
            why: match &self.found {
                Found::Unknown(why) => Some(why),
                _ => None,
            },
        }
    }

    fn explanation_fields<'a>(&'a self, explanation: &'a Explanation) -> ExplanationFields<'a> {
        let list = |ids| List { lin: self, ids };
        ExplanationFields {
            reason: explanation.reason,
            text: &explanation.text,
            object: explanation.object.as_ref().map(|(_, value)| value),
            operations: list(&explanation.operations),
            others: if explanation.others_pending { "pending" } else { "absent" },
            minimal: explanation.minimal,
            confirmed: explanation.confirmed,
            called: list(&explanation.called),
            from_state: explanation.since.as_ref().map(|since| since.state.words.as_str()),
            from_done: list(explanation.since.as_ref().map_or(&[], |since| &since.state.done)),
            states_before: explanation.before.iter().map(|state| state.words.as_str()).collect(),
            earliest_prefix: explanation.earliest.map(|earliest| PrefixFields {
                event: earliest.event,
                line: earliest.line,
                exact: earliest.exact,
            }),
        }
    }
}
