//! What the parts of a test build together: locations, initial registers, what is observed, the functions of the threads.

use crate::Result_;
use crate::condition::{Spot, Tail, Value};
use crate::head::Flavour;
use crate::types::{CType, Number};
use crate::x86;
use raddle_program::{CastOp, Diagnostic, Expr, Function, FunctionBuilder, GlobalId, Op, Ordering, Reg, Span, Type};
use std::collections::BTreeMap;

/// A location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) name: String,
    /// The type it was declared with, here or as a parameter.
    pub(crate) ty: Option<CType>,
    /// How many elements it has, if it is an array.
    pub(crate) length: Option<u32>,
    pub(crate) start: Vec<Value>,
    pub(crate) span: Span,
}

impl Location {
    /// How it is kept.
    pub(crate) fn number(&self) -> Option<Number> {
        self.ty.as_ref().map_or(Some(Number::Int), CType::number)
    }
}

#[derive(Debug)]
pub(crate) struct World {
    flavour: Flavour,
    pub(crate) locations: Vec<Location>,
    /// What registers begin with, by thread and name.
    pub(crate) registers: BTreeMap<(u32, String), (Option<CType>, Value, Span)>,
    /// The registers that final states consist of, by thread and name, and how they are called in the file.
    pub(crate) observed: BTreeMap<(u32, String), (String, Span)>,
    /// Whether some address is a value.
    pub(crate) addresses: bool,
    pub(crate) functions: Vec<Function>,
    pub(crate) notes: Vec<String>,
}

/// The most elements of all arrays together.
const MAX_ELEMENTS: u64 = 1 << 16;

impl World {
    pub(crate) fn new(flavour: Flavour) -> Self {
        World {
            flavour,
            locations: Vec::new(),
            registers: BTreeMap::new(),
            observed: BTreeMap::new(),
            addresses: false,
            functions: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// How registers are told apart: `RAX` and `EAX` are one.
    pub(crate) fn register_name(&self, name: &str) -> String {
        match self.flavour {
            Flavour::C => name.to_owned(),
            Flavour::X86 => x86::register(name).unwrap_or(name).to_owned(),
        }
    }

    /// A number of the initial state or of a condition on a register, as the flavour keeps it.
    pub(crate) fn constant(&self, number: i64) -> i64 {
        match self.flavour {
            Flavour::C => number,
            Flavour::X86 => x86::signed(number),
        }
    }

    /// The location with this name; it begins as 0 if the file says nothing else.
    pub(crate) fn location(&mut self, name: &str, span: Span) -> usize {
        self.known(name).unwrap_or_else(|| {
            self.locations.push(Location { name: name.to_owned(), ty: None, length: None, start: Vec::new(), span });
            self.locations.len() - 1
        })
    }

    pub(crate) fn known(&self, name: &str) -> Option<usize> {
        self.locations.iter().position(|known| known.name == name)
    }

    /// The object of a location. Those of observed registers stand before them, so it is asked for only when [`World::observe`] has seen what is observed.
    pub(crate) fn global(&self, location: usize) -> GlobalId {
        GlobalId((self.observed.len() + location) as u32)
    }

    /// A value of the initial state; whatever it is the address of is a location.
    fn meet(&mut self, value: &mut Value) -> Result_<()> {
        if let Value::Number(number) = value {
            *number = self.constant(*number);
        }
        if let Value::Address(spot) = value {
            if spot.thread.is_some() {
                return Err(Diagnostic::new(spot.span, "a value is a number or a location, not a register").into());
            }
            self.location(&spot.name, spot.span);
            self.addresses = true;
        }
        Ok(())
    }

    /// A location of the initial state.
    pub(crate) fn declare(
        &mut self,
        spot: &Spot,
        ty: Option<CType>,
        length: Option<u32>,
        mut start: Vec<Value>,
    ) -> Result_<()> {
        start.iter_mut().try_for_each(|value| self.meet(value))?;
        let total: u64 = self.locations.iter().filter_map(|known| known.length).map(u64::from).sum();
        if total + u64::from(length.unwrap_or(0)) > MAX_ELEMENTS {
            return Err(
                Diagnostic::new(spot.span, format!("arrays have at most {MAX_ELEMENTS} elements together")).into()
            );
        }
        let id = self.location(&spot.name, spot.span);
        let found = &mut self.locations[id];
        if !found.start.is_empty() && !start.is_empty() {
            return Err(Diagnostic::new(spot.span, format!("`{}` has a value already", spot.name)).into());
        }
        found.ty = ty.or(found.ty.take());
        found.length = length.or(found.length);
        if !start.is_empty() {
            found.start = start;
        }
        Ok(())
    }

    /// A register of the initial state.
    pub(crate) fn start_register(
        &mut self,
        thread: u32,
        spot: &Spot,
        ty: Option<CType>,
        mut start: Value,
    ) -> Result_<()> {
        self.meet(&mut start)?;
        let name = self.register_name(&spot.name);
        if self.registers.insert((thread, name), (ty, start, spot.span)).is_some() {
            return Err(Diagnostic::new(spot.span, format!("`{spot}` has a value already")).into());
        }
        Ok(())
    }

    /// Notes which registers the rest of the file asks for.
    pub(crate) fn observe(&mut self, tail: &Tail, threads: usize) -> Result_<()> {
        let mut spots: Vec<&Spot> = tail.locations.iter().collect();
        tail.condition.spots(&mut |spot| spots.push(spot));
        tail.filter.iter().for_each(|filter| filter.spots(&mut |spot| spots.push(spot)));
        let started: Vec<(u32, Span)> =
            self.registers.iter().map(|((thread, _), (_, _, span))| (*thread, *span)).collect();
        let asked = spots.iter().filter_map(|spot| Some((spot.thread?, spot.span)));
        for (thread, span) in asked.chain(started) {
            if thread as usize >= threads {
                let message = format!("there is no thread {thread}; there are {threads}, from 0 on");
                return Err(Diagnostic::new(span, message).into());
            }
        }
        for spot in spots {
            if let Some(thread) = spot.thread {
                let name = self.register_name(&spot.name);
                self.observed.entry((thread, name)).or_insert_with(|| (spot.to_string(), spot.span));
            }
        }
        Ok(())
    }

    /// The address of a location or an element, as a number.
    pub(crate) fn address(&mut self, spot: &Spot) -> Result_<Expr> {
        let id = self.location(&spot.name, spot.span);
        self.addresses = true;
        let number = Expr::cast(CastOp::ZExt, Type::I64, Expr::Global(self.global(id)));
        match self.offset(id, spot)? {
            0 => Ok(number),
            offset => Ok(Expr::binary(raddle_program::BinOp::Add, number, Expr::int(Type::I64, i64::from(offset)))),
        }
    }

    /// Where an element stands in its location, in bytes.
    pub(crate) fn offset(&self, id: usize, spot: &Spot) -> Result_<u32> {
        let location = &self.locations[id];
        if spot.index >= location.length.unwrap_or(1) {
            let message = format!("`{}` has no element {}", spot.name, spot.index);
            return Err(Diagnostic::new(spot.span, message).into());
        }
        Ok(location.number().map_or(0, |number| number.cell().size()) * spot.index)
    }

    /// What a register begins with.
    pub(crate) fn begin_registers(
        &mut self,
        thread: usize,
        builder: &mut FunctionBuilder,
        mut register: impl FnMut(&mut FunctionBuilder, &str, Option<CType>) -> Reg,
    ) -> Result_<()> {
        let own = self.registers.iter().filter(|((number, _), _)| *number as usize == thread);
        let own: Vec<(String, Option<CType>, Value, Span)> =
            own.map(|((_, name), (ty, value, span))| (name.clone(), ty.clone(), value.clone(), *span)).collect();
        for (name, ty, value, span) in own {
            builder.at(span);
            let value = match value {
                Value::Number(number) => Expr::int(Type::I64, number),
                Value::Address(spot) => self.address(&spot)?,
            };
            let dst = register(builder, &name, ty);
            builder.push(Op::Assign { dst, value });
        }
        Ok(())
    }

    /// The end of a thread: what is observed of its registers goes to cells of their own. `register` is `None` for those that the thread does not have.
    pub(crate) fn end_registers(
        &mut self,
        thread: usize,
        builder: &mut FunctionBuilder,
        register: impl Fn(&str) -> Option<Reg>,
    ) {
        for (at, ((number, name), (shown, span))) in self.observed.iter().enumerate() {
            if *number as usize != thread {
                continue;
            }
            match register(name) {
                Some(reg) => {
                    builder.at(*span);
                    let addr = Expr::Global(GlobalId(at as u32));
                    builder.push(Op::Store { ty: Type::I64, addr, value: Expr::Reg(reg), order: Ordering::Relaxed });
                }
                None => self.notes.push(format!("thread {thread} does not use `{shown}`, which stays 0")),
            }
        }
    }
}
