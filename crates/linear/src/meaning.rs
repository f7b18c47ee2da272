//! What the words of a history mean on a kind of object.
//!
//! `ok` gives the result; `fail` says that an operation had no effect, so it leaves the history (a failed compare-and-set may instead count as
//! the observation that the comparison failed, see [`FailedCas`]); `info` and the end of the input leave it pending. A method the object does not
//! have, a return from another method than was called, and a value of the wrong shape are errors of the line.

use crate::assemble::RawOp;
use crate::format::{InputError, NameId, Phase, Tables};
use crate::history::{Method, Op, Ts};
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

/// What a read of a register or key that returned nothing tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NilReads {
    /// That there was nothing.
    #[default]
    Nothing,
    /// Nothing at all: what it read is not known. Knossos' meaning.
    Unknown,
}

/// How words are taken that have more than one meaning in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Words {
    /// Compare-and-sets that ended with `fail`.
    pub failed_cas: FailedCas,
    /// Reads that returned nothing.
    pub nil_reads: NilReads,
}

/// What became of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// It was called.
    Called(Op),
    /// It returned; its result is known.
    Returned(Op),
    /// It ended without effect.
    Vanished(Op),
    /// Nobody will ever know how it ended.
    Lost(Op),
}

/// Turns operations in the words of the input into operations on a kind of object.
pub struct Meaning {
    kind: ObjectKind,
    words: Words,
    methods: Vec<Option<Option<Method>>>,
}

impl Meaning {
    /// The meaning of words on this kind of object.
    pub fn new(kind: ObjectKind, words: Words) -> Meaning {
        Meaning { kind, words, methods: Vec::new() }
    }

    fn method(&mut self, name: NameId, tables: &Tables) -> Option<Method> {
        let slot = name.0 as usize;
        if self.methods.len() <= slot {
            self.methods.resize(slot + 1, None);
        }
        *self.methods[slot].get_or_insert_with(|| self.kind.method(tables.names.text(name)))
    }

    /// What has just become of an operation.
    pub fn step(&mut self, raw: &RawOp, tables: &mut Tables) -> Result<Step, InputError> {
        let wrong = |message: String| InputError::at(raw.call_line, "", message);
        let method = self
            .method(raw.name, tables)
            .ok_or_else(|| wrong(format!("`{}` is no method of a {}", tables.names.text(raw.name), self.kind)))?;
        let arguments =
            self.kind.arguments(method, tables.names.text(raw.name), raw.asked, &mut tables.values).map_err(wrong)?;
        let mut op = Op {
            process: raw.process,
            place: raw.place,
            method,
            arg: arguments.arg,
            arg2: arguments.arg2,
            result: None,
            call: raw.call,
            ret: Ts::INF,
            call_line: raw.call_line,
            ret_line: 0,
        };
        let wrong = |message: String| InputError::at(raw.ret_line, "", message);
        if raw.name_again != raw.name && self.method(raw.name_again, tables) != Some(method) {
            return Err(wrong(format!(
                "process {} returns from `{}` but called `{}` on line {}",
                tables.values.get(raw.process),
                tables.names.text(raw.name_again),
                tables.names.text(raw.name),
                raw.call_line
            )));
        }
        match raw.end {
            Phase::Invoke => Ok(Step::Called(op)),
            Phase::Info => Ok(Step::Lost(op)),
            Phase::Fail if method == Method::Cas && self.words.failed_cas == FailedCas::Observe => {
                op.ret = raw.ret;
                op.ret_line = raw.ret_line;
                op.result = Some(ValueId::FALSE);
                Ok(Step::Returned(op))
            }
            Phase::Fail => {
                op.ret_line = raw.ret_line;
                Ok(Step::Vanished(op))
            }
            Phase::Ok => {
                op.ret = raw.ret;
                op.ret_line = raw.ret_line;
                let name = tables.names.text(raw.name);
                let found = self.kind.result(method, name, op.arg, raw.answered, &mut tables.values).map_err(wrong)?;
                op.result = match arguments.result {
                    Some(value) if raw.answered == ValueId::NIL => Some(value),
                    Some(value) if value != found => {
                        return Err(wrong(format!(
                            "the call of line {} says that it removed {}, the return says {}",
                            raw.call_line,
                            tables.values.get(value),
                            tables.values.get(found)
                        )));
                    }
                    _ if self.tells_nothing(&op, found) => None,
                    _ => Some(found),
                };
                Ok(Step::Returned(op))
            }
        }
    }

    fn tells_nothing(&self, op: &Op, found: ValueId) -> bool {
        let was_new = || matches!(found, ValueId::TRUE | ValueId::FALSE);
        if self.kind == ObjectKind::Set && op.method == Method::Insert {
            return !was_new();
        }
        self.words.nil_reads == NilReads::Unknown
            && op.method == Method::Read
            && found == ValueId::NIL
            && matches!(self.kind, ObjectKind::Register | ObjectKind::Map)
    }

    /// The operation as it stands in the history; nothing if it had no effect.
    pub fn op(&mut self, raw: &RawOp, tables: &mut Tables) -> Result<Option<Op>, InputError> {
        Ok(match self.step(raw, tables)? {
            Step::Called(op) | Step::Returned(op) | Step::Lost(op) => Some(op),
            Step::Vanished(_) => None,
        })
    }
}
