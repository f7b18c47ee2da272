//! From events to transactions.
//!
//! Any format that can carry nested lists: EDN and JSON. What a transaction was asked to do stands on its call; what it did on its return if that is `:ok`.

use super::{Micro, Outcome, Seen, Transactions, Txn, Workload};
use crate::assemble::Assembler;
use crate::format::flat::{Flat, Node};
use crate::format::{InputError, Phase, Source, Tables};
use crate::history::Ts;
use crate::value::{Value, ValueId, Values};

/// Reads a whole history.
pub fn read(source: &mut dyn Source, workload: Workload) -> Result<Transactions, InputError> {
    let mut tables = Tables { flat: Some(Flat::default()), ..Tables::default() };
    let mut assembler = Assembler::default();
    let mut history = Transactions::default();
    while let Some(event) = source.next(&mut tables)? {
        let op = assembler.push(&event, &tables)?;
        let wrong = |message: String| InputError::at(event.line, "", message);
        if event.phase == Phase::Invoke {
            let from = history.micros.len() as u32;
            history.txns.push(Txn {
                process: op.process,
                outcome: Outcome::Unknown,
                call: op.call,
                ret: Ts::INF,
                call_line: op.call_line,
                ret_line: 0,
                parts: (from, from),
            });
        }
        let (known, txn) = (event.phase == Phase::Ok, op.number);
        let Tables { values, flat: Some(flat), .. } = &mut tables else { continue };
        if known || event.phase == Phase::Invoke {
            Parts { history: &mut history, values, flat, workload, known }.read(txn, event.value).map_err(wrong)?;
        }
        // Without clocks events come as they are read, so nobody needs what this one carried.
        if event.time.is_none() {
            flat.cut(ValueId(0));
        }
        if event.phase == Phase::Invoke {
            continue;
        }
        let txn = &mut history.txns[txn as usize];
        (txn.ret, txn.ret_line) = (op.ret, op.ret_line);
        txn.outcome = match event.phase {
            Phase::Ok => Outcome::Committed,
            Phase::Fail => Outcome::Aborted,
            Phase::Info | Phase::Invoke => Outcome::Unknown,
        };
    }
    tables.values.settle();
    history.values = tables.values;
    history.events = assembler.events();
    Ok(history)
}

/// Reads the parts of transactions.
struct Parts<'a> {
    history: &'a mut Transactions,
    values: &'a mut Values,
    flat: &'a Flat,
    workload: Workload,
    /// Whether what was read is known.
    known: bool,
}

impl Parts<'_> {
    /// The parts of a transaction, which begin at a place. Those of a return take the place of those of the call, if they are as many.
    fn read(&mut self, txn: u32, mut place: ValueId) -> Result<(), String> {
        let count = match self.flat.next(&mut place) {
            Node::List(count) => count,
            Node::Value(ValueId::NIL) => 0,
            Node::Value(_) => {
                return Err(
                    "the value of a transaction must be a list of operations, like [[:append 1 2] [:r 3 nil]]".into()
                );
            }
        };
        let (mut from, to) = self.history.txns[txn as usize].parts;
        if to - from != count {
            from = self.history.micros.len() as u32;
        }
        for at in from..from + count {
            let mut part = place;
            let Some(micro) = self.micro(&mut place) else {
                let part = self.flat.value(&mut part, self.values);
                let forms = match self.workload {
                    Workload::ListAppend => "[:append key value] and [:r key list]",
                    Workload::RwRegister => "[:w key value] and [:r key value]",
                };
                return Err(format!("`{part}` is no operation of this workload: {forms}"));
            };
            match self.history.micros.get_mut(at as usize) {
                Some(asked) => *asked = micro,
                None => self.history.micros.push(micro),
            }
        }
        self.history.txns[txn as usize].parts = (from, from + count);
        Ok(())
    }

    /// One part.
    fn micro(&mut self, place: &mut ValueId) -> Option<Micro> {
        let (Node::List(3), Node::Value(name)) = (self.flat.next(place), self.flat.next(place)) else {
            return None;
        };
        let Value::Text(name) = self.values.get(name) else { return None };
        let read = match (name.trim_start_matches(':'), self.workload) {
            ("append", Workload::ListAppend) | ("w" | "write", Workload::RwRegister) => false,
            ("r" | "read", _) => true,
            _ => return None,
        };
        let key = self.flat.intern(place, self.values);
        match self.workload {
            _ if !read => {
                let value = self.flat.intern(place, self.values);
                (value != ValueId::NIL).then_some(Micro::Write(key, value))
            }
            _ if !self.known => {
                self.flat.pass(place);
                Some(Micro::Read(key, Seen::Unknown))
            }
            Workload::RwRegister => Some(Micro::Read(key, Seen::Value(self.flat.intern(place, self.values)))),
            Workload::ListAppend => {
                let from = self.history.elements.len() as u32;
                match self.flat.next(place) {
                    Node::Value(ValueId::NIL) => {}
                    Node::Value(_) => return None,
                    Node::List(count) => {
                        for _ in 0..count {
                            let element = self.flat.intern(place, self.values);
                            self.history.elements.push(element);
                        }
                    }
                }
                Some(Micro::Read(key, Seen::List(from, self.history.elements.len() as u32)))
            }
        }
    }
}
