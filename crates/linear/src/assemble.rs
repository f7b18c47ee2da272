//! From events to operations.
//!
//! A call opens an operation for its process; the next event of that process ends it. `ok` gives the result; `fail`
//! says that it had no effect, so it leaves the history (a failed compare-and-set may instead count as the
//! observation that the comparison failed, see [`FailedCas`]); `info` and the end of the input leave it pending.
//!
//! A return without a call, a second call on a process that has one open, a method the object does not have, and a value of
//! the wrong shape are errors of the line.

use rustc_hash::FxHashMap;

use crate::format::{InputError, NameId, Phase, RawEvent, Source, Tables};
use crate::history::{History, Method, Op, Ts};
use crate::object::ObjectKind;
use crate::value::ValueId;

/// What a compare-and-set that ended with `fail` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FailedCas {
    /// Only that it had no effect: it may have failed for another reason. Jepsen's meaning.
    #[default]
    Ignore,
    /// That the value was another one at some moment of the call.
    Observe,
}

/// What one event did.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// An operation was called.
    Called(Op),
    /// An operation returned; its result is known.
    Returned(Op),
    /// An operation ended without effect.
    Vanished(Op),
    /// Nobody will ever know how this operation ended.
    Lost(Op),
}

/// Turns events into operations.
pub struct Assembler {
    kind: ObjectKind,
    failed_cas: FailedCas,
    methods: Vec<Option<Option<Method>>>,
    open: FxHashMap<ValueId, (Op, NameId)>,
    clock: u32,
}

impl Assembler {
    /// An assembler for this kind of object.
    pub fn new(kind: ObjectKind, failed_cas: FailedCas) -> Assembler {
        Assembler { kind, failed_cas, methods: Vec::new(), open: FxHashMap::default(), clock: 0 }
    }

    /// How many events have passed.
    pub fn events(&self) -> u32 {
        self.clock
    }

    /// Visits every value of the open operations, to note or to rename it.
    pub fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        let open = std::mem::take(&mut self.open);
        for (mut process, (mut op, name)) in open {
            visit(&mut process);
            for value in [&mut op.process, &mut op.place, &mut op.arg, &mut op.arg2] {
                visit(value);
            }
            if let Some(result) = &mut op.result {
                visit(result);
            }
            self.open.insert(process, (op, name));
        }
    }

    fn method(&mut self, name: NameId, tables: &Tables) -> Option<Method> {
        let slot = name.0 as usize;
        if self.methods.len() <= slot {
            self.methods.resize(slot + 1, None);
        }
        *self.methods[slot].get_or_insert_with(|| self.kind.method(tables.name_text(name)))
    }

    /// Takes in one event.
    pub fn push(&mut self, event: &RawEvent, tables: &mut Tables) -> Result<Step, InputError> {
        let wrong = |message: String| InputError::at(event.line, "", message);
        if self.clock >= Ts::END.0 - 1 {
            return Err(wrong("more events than this program can number".into()));
        }
        let now = Ts(self.clock);
        self.clock += 1;
        let who = |tables: &Tables| tables.values.get(event.process).to_string();
        match event.phase {
            Phase::Invoke => {
                let name = event.name.ok_or_else(|| wrong("the call names no method".into()))?;
                let method = self
                    .method(name, tables)
                    .ok_or_else(|| wrong(format!("`{}` is no method of a {}", tables.name_text(name), self.kind)))?;
                if let Some((open, _)) = self.open.get(&event.process) {
                    let message = format!(
                        "process {} calls again while its operation of line {} is still open",
                        who(tables),
                        open.call_line
                    );
                    return Err(wrong(message));
                }
                let text = tables.name_text(name).to_string();
                let arguments = self.kind.arguments(method, &text, event.value, &mut tables.values).map_err(wrong)?;
                let op = Op {
                    process: event.process,
                    place: event.place,
                    method,
                    arg: arguments.arg,
                    arg2: arguments.arg2,
                    result: arguments.result,
                    call: now,
                    ret: Ts::INF,
                    call_line: event.line,
                    ret_line: 0,
                };
                self.open.insert(event.process, (op, name));
                Ok(Step::Called(Op { result: None, ..op }))
            }
            ended => {
                let Some((mut op, name)) = self.open.remove(&event.process) else {
                    return Err(wrong(format!("process {} returns but has called nothing", who(tables))));
                };
                if let Some(again) = event.name
                    && self.method(again, tables) != Some(op.method)
                {
                    let message = format!(
                        "process {} returns from `{}` but called `{}` on line {}",
                        who(tables),
                        tables.name_text(again),
                        tables.name_text(name),
                        op.call_line
                    );
                    return Err(wrong(message));
                }
                if event.place != ValueId::NIL && event.place != op.place {
                    return Err(wrong("the return is about another object or key than the call".into()));
                }
                op.ret_line = event.line;
                let announced = op.result.take();
                match ended {
                    Phase::Info => {
                        op.ret_line = 0;
                        Ok(Step::Lost(op))
                    }
                    Phase::Fail if op.method == Method::Cas && self.failed_cas == FailedCas::Observe => {
                        op.ret = now;
                        op.result = Some(ValueId::FALSE);
                        Ok(Step::Returned(op))
                    }
                    Phase::Fail => Ok(Step::Vanished(op)),
                    _ => {
                        let text = tables.name_text(name).to_string();
                        let found = self
                            .kind
                            .result(op.method, &text, op.arg, event.value, &mut tables.values)
                            .map_err(wrong)?;
                        op.result = match announced {
                            Some(value) if event.value == ValueId::NIL => Some(value),
                            Some(value) if value != found => {
                                return Err(wrong(format!(
                                    "the call of line {} says that it removed {}, the return says {}",
                                    op.call_line,
                                    tables.values.get(value),
                                    tables.values.get(found)
                                )));
                            }
                            _ => Some(found),
                        };
                        op.ret = now;
                        Ok(Step::Returned(op))
                    }
                }
            }
        }
    }
}

/// What to make of an input that may or may not name its object.
pub fn kind_of(
    source: &dyn Source,
    asked: Option<ObjectKind>,
    first: Option<&RawEvent>,
    tables: &Tables,
) -> Result<ObjectKind, InputError> {
    match (asked, source.declared()) {
        (Some(asked), _) => Ok(asked),
        (None, Some(declared)) => Ok(declared),
        (None, None) => {
            let Some(event) = first else {
                return Err(InputError::Whole("the history has no event; give the type of the object".into()));
            };
            event
                .name
                .and_then(|name| ObjectKind::guess(tables.name_text(name), event.place != ValueId::NIL))
                .ok_or_else(|| InputError::Whole("cannot tell the type of the object; name it with --type".into()))
        }
    }
}

/// Reads a whole history.
pub fn read(
    source: &mut dyn Source,
    kind: Option<ObjectKind>,
    failed_cas: FailedCas,
) -> Result<(ObjectKind, History), InputError> {
    let mut tables = Tables::default();
    let first = source.next(&mut tables)?;
    let kind = kind_of(source, kind, first.as_ref(), &tables)?;
    let mut assembler = Assembler::new(kind, failed_cas);
    let mut ops: Vec<Op> = Vec::new();
    let mut open: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut vanished = false;
    let mut next = first;
    while let Some(event) = next {
        match assembler.push(&event, &mut tables)? {
            Step::Called(op) => {
                open.insert(op.process, ops.len());
                ops.push(op);
            }
            Step::Returned(op) => {
                if let Some(index) = open.remove(&op.process) {
                    ops[index] = op;
                }
            }
            Step::Lost(op) => {
                open.remove(&op.process);
            }
            Step::Vanished(op) => {
                if let Some(index) = open.remove(&op.process) {
                    // No operation returns before it was called: the mark of one to sweep out below.
                    ops[index].ret = Ts(0);
                    ops[index].call = Ts(1);
                    vanished = true;
                }
            }
        }
        next = source.next(&mut tables)?;
    }
    if vanished {
        ops.retain(|op| op.call < op.ret);
    }
    Ok((kind, History { ops, values: tables.values, events: assembler.events() }))
}
