//! The end of reading: the objects, `main`, and the two programs that differ in what `main` does at its end.

use crate::condition::{Claim, Condition, Expectation, Quantifier, Spot, Tail, Value};
use crate::head::Head;
use crate::types::{CType, Number};
use crate::world::World;
use crate::{Result_, Test};
use raddle_program::{
    BinOp, Callee, CastOp, Diagnostic, Expr, FuncId, Function, FunctionBuilder, GlobalId, InitField, InitValue, Layout,
    Object, Op, Ordering, Program, Reg, SourceMap, Span, Type, Unwritten, validate,
};
use std::collections::BTreeMap;

/// What the line begins with that the census prints.
pub(crate) const MARK: &str = "final state: ";

pub(crate) fn test(head: Head, tail: Tail, mut world: World, sources: &SourceMap) -> Result_<Test> {
    let spots = observed_locations(&tail, &world)?;
    let mut condition = tail.condition;
    let mut filter = tail.filter;
    // An address that is only compared with is a value as well.
    let expected = address_values(&condition, filter.as_ref(), &mut world)?;
    keep_constants(&mut condition, &world);
    filter.iter_mut().for_each(|filter| keep_constants(filter, &world));
    let shared = Shared {
        world: &world,
        spots: &spots,
        expected: &expected,
        condition: &condition,
        filter: filter.as_ref(),
        span: tail.span,
    };
    let quantifier = match head.expectation {
        Some(Expectation::Never | Expectation::Sometimes) => Quantifier::NotExists,
        Some(Expectation::Always) => Quantifier::Forall,
        None => tail.quantifier,
    };
    let question = shared.program(Some(quantifier), sources)?;
    let census = shared.program(None, sources)?;
    let registers = world.observed.values().map(|(shown, _)| shown.clone());
    let observed = registers.chain(spots.iter().map(|spot| spot.shown.clone())).collect();
    let symbols = shared.symbols().into_iter().map(|(_, name)| name).collect();
    let reached = reached(quantifier, &condition);
    let claim = Claim { quantifier: tail.quantifier, condition: condition.to_string(), expectation: head.expectation };
    Ok(Test {
        reached,
        name: head.name,
        flavour: head.flavour,
        claim,
        observed,
        question,
        census,
        notes: world.notes,
        symbols,
    })
}

/// What the assertion says where it fails.
fn reached(quantifier: Quantifier, condition: &Condition) -> String {
    let satisfies = if quantifier == Quantifier::Forall { "does not satisfy" } else { "satisfies" };
    format!("the final state {satisfies} {condition}")
}

/// A location, or an element of one, that final states have.
struct Observed {
    location: usize,
    offset: u32,
    number: Number,
    shown: String,
}

fn observed_locations(tail: &Tail, world: &World) -> Result_<Vec<Observed>> {
    let mut spots: Vec<&Spot> = tail.locations.iter().collect();
    tail.condition.spots(&mut |spot| spots.push(spot));
    tail.filter.iter().for_each(|filter| filter.spots(&mut |spot| spots.push(spot)));
    let mut found: BTreeMap<String, Observed> = BTreeMap::new();
    for spot in spots.into_iter().filter(|spot| spot.thread.is_none()) {
        let Some(location) = world.known(&spot.name) else {
            let message = format!("there is no location `{}`", spot.name);
            return Err(Diagnostic::new(spot.span, message)
                .help("registers are written with their thread: 0:r1")
                .into());
        };
        let length = world.locations[location].length;
        let elements: Vec<Spot> = match length {
            // An array as a whole stands for all of its elements.
            Some(length) if !spot.indexed => {
                (0..length).map(|index| Spot { index, indexed: true, ..spot.clone() }).collect()
            }
            _ => vec![spot.clone()],
        };
        if elements.len() > 1 && !tail.locations.contains(spot) {
            return Err(
                Diagnostic::new(spot.span, format!("`{}` is an array; which element is meant?", spot.name)).into()
            );
        }
        for element in elements {
            let offset = world.offset(location, &element)?;
            let number = match &world.locations[location].ty {
                Some(CType::Mutex) => Number::Narrow(Type::I32, true),
                _ => world.locations[location].number().unwrap_or(Number::Wide),
            };
            let shown = element.to_string();
            found.entry(shown.clone()).or_insert(Observed { location, offset, number, shown });
        }
    }
    Ok(found.into_values().collect())
}

/// The addresses that the conditions compare with, by how they are written.
fn address_values(
    condition: &Condition,
    filter: Option<&Condition>,
    world: &mut World,
) -> Result_<BTreeMap<String, Expr>> {
    let mut spots = Vec::new();
    for condition in filter.into_iter().chain([condition]) {
        values(condition, &mut |value| {
            if let Value::Address(spot) = value {
                spots.push(spot.clone());
            }
        });
    }
    let mut found = BTreeMap::new();
    for spot in spots {
        if spot.thread.is_some() {
            return Err(Diagnostic::new(spot.span, "a value is a number or a location, not a register").into());
        }
        if world.known(&spot.name).is_none() {
            return Err(Diagnostic::new(
                spot.span,
                format!("there is no location `{}` whose address this could be", spot.name),
            )
            .into());
        }
        found.insert(spot.to_string(), world.address(&spot)?);
    }
    Ok(found)
}

fn values<'a>(condition: &'a Condition, visit: &mut impl FnMut(&'a Value)) {
    match condition {
        Condition::Constant(_) => {}
        Condition::Atom { value, .. } => visit(value),
        Condition::Not(inner) => values(inner, visit),
        Condition::And(a, b) | Condition::Or(a, b) => {
            values(a, visit);
            values(b, visit);
        }
    }
}

/// Numbers that a location is compared with, as its type keeps them: `x=0xff` of a signed byte is -1.
fn keep_constants(condition: &mut Condition, world: &World) {
    match condition {
        Condition::Atom { spot: Spot { thread: None, name, .. }, value: Value::Number(number), .. } => {
            let location = world.known(name).map(|at| &world.locations[at]);
            if let Some(kind) = location.and_then(crate::world::Location::number) {
                *number = kind.kept(*number);
            }
        }
        Condition::Atom { value: Value::Number(number), .. } => *number = world.constant(*number),
        Condition::Constant(_) | Condition::Atom { .. } => {}
        Condition::Not(inner) => keep_constants(inner, world),
        Condition::And(a, b) | Condition::Or(a, b) => {
            keep_constants(a, world);
            keep_constants(b, world);
        }
    }
}

/// What both programs are made of.
struct Shared<'a> {
    world: &'a World,
    spots: &'a [Observed],
    expected: &'a BTreeMap<String, Expr>,
    condition: &'a Condition,
    filter: Option<&'a Condition>,
    span: Span,
}

impl Shared<'_> {
    /// The addresses that may be values, each with the name that is shown for it.
    fn symbols(&self) -> Vec<(Expr, String)> {
        if !self.world.addresses {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (at, location) in self.world.locations.iter().enumerate() {
            let base = Expr::cast(CastOp::ZExt, Type::I64, Expr::Global(self.world.global(at)));
            let size = location.number().map_or(0, |number| number.cell().size());
            for index in 0..location.length.unwrap_or(1).min(64) {
                let offset = Expr::int(Type::I64, i64::from(size * index));
                let address = if index == 0 { base.clone() } else { Expr::binary(BinOp::Add, base.clone(), offset) };
                let name = if location.length.is_some() {
                    format!("&{}[{index}]", location.name)
                } else {
                    location.name.clone()
                };
                found.push((address, name));
            }
        }
        found
    }

    fn program(&self, quantifier: Option<Quantifier>, sources: &SourceMap) -> Result_<Program> {
        let mut functions = self.world.functions.clone();
        let entry = FuncId(functions.len() as u32);
        functions.push(self.main(quantifier));
        let program = Program {
            globals: self.globals()?,
            functions,
            entry: Some(entry),
            sources: sources.clone(),
            ..Program::default()
        };
        match validate(&program) {
            Ok(()) => Ok(program),
            Err(mut wrong) => Err(Box::new(wrong.remove(0))),
        }
    }

    fn globals(&self) -> Result_<Vec<Object>> {
        let taken = |name: &str| self.world.locations.iter().any(|location| location.name == name) || name == "main";
        let own = |name: String| {
            let mut name = name;
            while taken(&name) {
                name.push('_');
            }
            name
        };
        let object = |name: String, layout, init, span| Object {
            name,
            layout,
            init,
            thread_local: false,
            constant: false,
            span,
        };
        let cells = self.world.observed.iter().map(|((thread, name), (_, span))| {
            object(own(format!("P{thread}_{name}")), Layout::Scalar(Type::I64), Vec::new(), *span)
        });
        let mut globals: Vec<Object> = cells.collect();
        for location in &self.world.locations {
            let span = location.span;
            let Some(number) = location.number() else {
                if location.length.is_some() || location.start.iter().any(|value| *value != Value::Number(0)) {
                    return Err(Diagnostic::new(span, format!("the mutex `{}` begins unlocked", location.name)).into());
                }
                globals.push(object(object_name(&location.name), Layout::Mutex, Vec::new(), span));
                continue;
            };
            let ty = number.cell();
            let layout = location.length.map_or(Layout::Scalar(ty), |length| Layout::Array(ty, length));
            let mut init = Vec::new();
            for (at, value) in location.start.iter().enumerate() {
                let (ty, value) = match value {
                    Value::Number(value) => (ty, InitValue::Int(ty.truncate(number.kept(*value) as u64))),
                    Value::Address(spot) => {
                        let at = self.world.known(&spot.name).expect("addresses in the initial state were met before");
                        if ty != Type::I64 {
                            let message = format!("`{}` is too small for an address", location.name);
                            return Err(Diagnostic::new(span, message).into());
                        }
                        let offset = i64::from(self.world.offset(at, spot)?);
                        (Type::Ptr, InitValue::Global(self.world.global(at), offset))
                    }
                };
                init.push(InitField { offset: at as u32 * ty.size(), ty, value });
            }
            globals.push(object(object_name(&location.name), layout, init, span));
        }
        Ok(globals)
    }

    /// Starts the threads, joins them, reads the final state, and asserts or prints.
    fn main(&self, quantifier: Option<Quantifier>) -> Function {
        let mut builder = FunctionBuilder::new("main", &[], None, self.span);
        let handles: Vec<Reg> = (0..self.world.functions.len())
            .map(|number| {
                let handle = builder.reg(&format!("thread{number}"), Type::I64);
                builder.at(self.world.functions[number].span);
                builder.push(Op::Spawn {
                    dst: Some(handle),
                    callee: Callee::Direct(FuncId(number as u32)),
                    args: Vec::new(),
                    mailbox: None,
                });
                handle
            })
            .collect();
        for (number, handle) in handles.into_iter().enumerate() {
            builder.at(self.world.functions[number].span);
            builder.push(Op::Join { dst: None, thread: Expr::Reg(handle) });
        }
        builder.at(self.span);
        let mut state: Vec<(String, Expr)> = Vec::new();
        for (at, (shown, _)) in self.world.observed.values().enumerate() {
            state.push((shown.clone(), read(&mut builder, Expr::Global(GlobalId(at as u32)), Number::Wide)));
        }
        for Observed { location, offset, number, shown } in self.spots {
            let base = Expr::Global(self.world.global(*location));
            let addr = match offset {
                0 => base,
                offset => Expr::binary(BinOp::Add, base, Expr::int(Type::I64, i64::from(*offset))),
            };
            state.push((shown.clone(), read(&mut builder, addr, *number)));
        }
        if let Some(filter) = self.filter {
            let cond = self.truth(filter, &state);
            builder.push(Op::Assume { cond });
        }
        let holds = self.truth(self.condition, &state);
        match quantifier {
            Some(quantifier) => {
                let cond = if quantifier == Quantifier::Forall { holds } else { holds.negated() };
                builder.push(Op::Assert { cond, message: reached(quantifier, self.condition) });
            }
            None => self.print(&mut builder, holds, state),
        }
        builder.terminate(raddle_program::Term::Return(None));
        builder.finish()
    }

    fn print(&self, builder: &mut FunctionBuilder, holds: Expr, state: Vec<(String, Expr)>) {
        let symbols = self.symbols();
        let mut args = vec![Expr::cast(CastOp::ZExt, Type::I64, holds)];
        let mut format = format!("{MARK}{{}}");
        for (_, value) in state {
            let symbol = symbols.iter().enumerate().fold(Expr::int(Type::I64, 0), |otherwise, (at, (address, _))| {
                let here = Expr::eq(value.clone(), address.clone());
                Expr::Select(Box::new(here), Box::new(Expr::int(Type::I64, at as i64 + 1)), Box::new(otherwise))
            });
            format += " {}/{}";
            args.extend([symbol, value]);
        }
        builder.push(Op::Print { format, args });
    }

    /// The condition as an expression.
    fn truth(&self, condition: &Condition, state: &[(String, Expr)]) -> Expr {
        match condition {
            Condition::Constant(value) => Expr::bool(*value),
            Condition::Atom { spot, equal, value } => {
                let name = match spot.thread {
                    Some(thread) => self.world.observed[&(thread, self.world.register_name(&spot.name))].0.clone(),
                    None => spot.to_string(),
                };
                let found =
                    &state.iter().find(|(shown, _)| *shown == name).expect("everything in the condition is observed").1;
                let value = match value {
                    Value::Number(number) => Expr::int(Type::I64, *number),
                    Value::Address(spot) => self.expected[&spot.to_string()].clone(),
                };
                let op = if *equal { BinOp::Eq } else { BinOp::Ne };
                Expr::binary(op, found.clone(), value)
            }
            Condition::Not(inner) => self.truth(inner, state).negated(),
            Condition::And(a, b) => Expr::binary(BinOp::And, self.truth(a, state), self.truth(b, state)),
            Condition::Or(a, b) => Expr::binary(BinOp::Or, self.truth(a, state), self.truth(b, state)),
        }
    }
}

/// Functions and objects share their names, and threads are called `P0`, `P1`, ...
fn object_name(name: &str) -> String {
    let a_thread =
        name.strip_prefix('P').is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
    if name == "main" || a_thread { format!("{name}_") } else { name.to_owned() }
}

fn read(builder: &mut FunctionBuilder, addr: Expr, number: Number) -> Expr {
    let ty = number.cell();
    let dst = builder.reg("final", ty);
    builder.push(Op::Load {
        dst: Some(dst),
        ty,
        addr,
        order: Ordering::Relaxed,
        until: None,
        unwritten: Unwritten::Error,
    });
    number.widened(Expr::Reg(dst))
}
