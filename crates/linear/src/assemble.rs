//! From events to operations.
//!
//! A call opens an operation for its process; the next event of that process ends it. What comes out is a [`RawOp`] in the words of the
//! input; what these words mean on an object is decided by [`crate::meaning`], and which object it is, if nobody said, by
//! [`crate::guess`] once everything has been read.
//!
//! A return without a call, a second call on a process that has one open, and a return that is about another object or key than its call are
//! errors of the line.

use rustc_hash::FxHashMap;

use crate::drain;
use crate::format::{InputError, NameId, Phase, RawEvent, Source, Tables};
use crate::guess;
use crate::history::{History, Op, Ts};
use crate::meaning::{Meaning, Words};
use crate::object::ObjectKind;
use crate::value::ValueId;

/// An operation in the words of the input.
#[derive(Clone, Copy, Debug)]
pub struct RawOp {
    /// Its place in the order of the calls, from 0.
    pub number: u32,
    /// Who called it.
    pub process: ValueId,
    /// The object or key.
    pub place: ValueId,
    /// The name of the method.
    pub name: NameId,
    /// The name of the method on its return, where it is given.
    pub name_again: NameId,
    /// What stands on its call.
    pub asked: ValueId,
    /// What stands on its return.
    pub answered: ValueId,
    /// How it ended; [`Phase::Invoke`] while it is open.
    pub end: Phase,
    /// When it was called.
    pub call: Ts,
    /// When it ended, [`Ts::INF`] while it is open or if nobody knows how it ended.
    pub ret: Ts,
    /// The line of its call.
    pub call_line: u32,
    /// The line of its end, 0 while it is open.
    pub ret_line: u32,
}

/// Puts calls and returns together.
#[derive(Default)]
pub struct Assembler {
    open: FxHashMap<ValueId, RawOp>,
    clock: u32,
    calls: u32,
}

impl Assembler {
    /// How many events have passed.
    pub fn events(&self) -> u32 {
        self.clock
    }

    /// Visits every value of the open operations, to note or to rename it.
    pub fn each_value(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        let open = std::mem::take(&mut self.open);
        for (_, mut op) in open {
            for value in [&mut op.process, &mut op.place, &mut op.asked] {
                visit(value);
            }
            self.open.insert(op.process, op);
        }
    }

    /// Takes in one event: the operation it calls or ends.
    pub fn push(&mut self, event: &RawEvent, tables: &Tables) -> Result<RawOp, InputError> {
        let wrong = |message: String| InputError::at(event.line, "", message);
        if self.clock >= Ts::END.0 - 1 {
            return Err(wrong("more events than this program can number".into()));
        }
        let now = Ts(self.clock);
        self.clock += 1;
        let who = || tables.values.get(event.process).to_string();
        if event.phase == Phase::Invoke {
            let name = event.name.ok_or_else(|| wrong("the call names no method".into()))?;
            let op = RawOp {
                number: self.calls,
                process: event.process,
                place: event.place,
                name,
                name_again: name,
                asked: event.value,
                answered: ValueId::NIL,
                end: Phase::Invoke,
                call: now,
                ret: Ts::INF,
                call_line: event.line,
                ret_line: 0,
            };
            self.calls += 1;
            if let Some(open) = self.open.insert(event.process, op) {
                let line = open.call_line;
                let message = format!("process {} calls again while its operation of line {line} is still open", who());
                return Err(wrong(message));
            }
            return Ok(op);
        }
        let Some(mut op) = self.open.remove(&event.process) else {
            return Err(wrong(format!("process {} returns but has called nothing", who())));
        };
        if event.place != ValueId::NIL && event.place != op.place {
            return Err(wrong("the return is about another object or key than the call".into()));
        }
        op.name_again = event.name.unwrap_or(op.name);
        op.end = event.phase;
        op.ret_line = event.line;
        op.answered = event.value;
        op.ret = if event.phase == Phase::Info { Ts::INF } else { now };
        Ok(op)
    }
}

/// Operations in pieces, so that they can be given back piece by piece while others are made of them.
#[derive(Default)]
struct Pieces {
    full: Vec<Vec<RawOp>>,
    last: Vec<RawOp>,
}

impl Pieces {
    /// So many that allocators map a piece on its own and give it back to the system when it is freed; smaller ones stay with the process, which then holds the
    /// history twice.
    const PIECE: usize = 1 << 20;

    /// Stores an operation: a new one, or one that has ended.
    fn put(&mut self, op: RawOp) {
        let (piece, at) = (op.number as usize / Pieces::PIECE, op.number as usize % Pieces::PIECE);
        if piece < self.full.len() {
            self.full[piece][at] = op;
        } else if at < self.last.len() {
            self.last[at] = op;
        } else {
            self.last.push(op);
            if self.last.len() == Pieces::PIECE {
                self.full.push(std::mem::replace(&mut self.last, Vec::with_capacity(Pieces::PIECE)));
            }
        }
    }

    fn len(&self) -> usize {
        self.full.len() * Pieces::PIECE + self.last.len()
    }

    fn iter(&self) -> impl Iterator<Item = &RawOp> + Clone {
        self.full.iter().flatten().chain(&self.last)
    }
}

/// Reads a whole history. `kind` is what the user asked for; else what the input declares counts, else what its methods tell.
pub fn read(
    source: &mut dyn Source,
    kind: Option<ObjectKind>,
    words: Words,
) -> Result<(ObjectKind, History), InputError> {
    let mut tables = Tables::default();
    let mut assembler = Assembler::default();
    let mut pieces = Pieces::default();
    let mut trouble = None;
    loop {
        let pushed = match source.next(&mut tables) {
            Ok(None) => break,
            Ok(Some(event)) => assembler.push(&event, &tables),
            Err(InputError::Late) => return Err(InputError::Late),
            Err(error) => Err(error),
        };
        match pushed {
            Ok(op) => pieces.put(op),
            Err(error) => {
                trouble = Some(error);
                break;
            }
        }
    }
    let known = kind.or_else(|| source.declared());
    let kind = match (known, trouble) {
        (Some(kind), None) => kind,
        (None, None) => guess::kind(pieces.iter(), &mut tables)?,
        (known, Some(error)) => {
            // What stands before the line at fault may be at fault already.
            if let Some(kind) = known.or_else(|| guess::kind(pieces.iter(), &mut tables).ok()) {
                translate(pieces, kind, words, &mut tables)?;
            }
            return Err(error);
        }
    };
    let ops = translate(pieces, kind, words, &mut tables)?;
    let (ops, events) = drain::expand(ops, kind, assembler.events(), &mut tables.values)?;
    tables.values.settle();
    Ok((kind, History { ops, values: tables.values, events }))
}

/// The operations with their meaning on this kind of object.
fn translate(pieces: Pieces, kind: ObjectKind, words: Words, tables: &mut Tables) -> Result<Vec<Op>, InputError> {
    let mut meaning = Meaning::new(kind, words);
    let mut ops = Vec::with_capacity(pieces.len());
    let mut first: Option<InputError> = None;
    for piece in pieces.full.into_iter().chain([pieces.last]) {
        for raw in &piece {
            match meaning.op(raw, tables) {
                Ok(op) => ops.extend(op),
                // Calls come in order; a return that is wrong may stand behind a call that is.
                Err(error) => {
                    if first.as_ref().is_none_or(|other| error.line() < other.line()) {
                        first = Some(error);
                    }
                }
            }
        }
    }
    first.map_or(Ok(ops), Err)
}
