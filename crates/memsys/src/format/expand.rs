//! From a system to a machine: every state that can be reached, and what rules do in it.
//!
//! A rule is one atomic step, whatever it does: its reads, writes and copies become a chain of transitions through states in which nothing else can happen. A rule
//! whose message finds no room in a channel cannot be taken. Received messages are gone after the rule, and those behind them move up.

use super::expression::Scene;
use super::layout::{Array, Cell, Rule, Statement, Store, System, Type};
use super::{InputError, Size, Spot};
use crate::machine::{Core, Event, Location, Machine, Register, State};
use rustc_hash::FxHashMap;

/// One rule with values for its parameters must not do more than this.
const EVENTS: usize = 10_000;

struct Expansion<'s> {
    scene: Scene<'s>,
    system: &'s System,
    machine: Machine,
    states: FxHashMap<Box<[i32]>, State>,
    /// States that were met, to be expanded in this order.
    met: Vec<(Box<[i32]>, State)>,
    /// What the rule does to data.
    events: Vec<Event>,
    rules: FxHashMap<String, u32>,
    limit: usize,
}

/// A rule stops here: it cannot be taken, or something is wrong.
enum Stop {
    Blocked,
    Wrong(InputError),
}

impl From<InputError> for Stop {
    fn from(error: InputError) -> Self {
        Stop::Wrong(error)
    }
}

pub(super) fn expand(system: &System, size: Size) -> Result<Machine, InputError> {
    let mut machine = Machine::new(system.name.clone());
    machine.initial_values = system.initial_values;
    let names = |array: &Array| (0..array.len()).map(|number| array.element(number)).collect::<Vec<_>>();
    system.cores.iter().flat_map(names).for_each(|name| _ = machine.add_core(name));
    system.locations.iter().flat_map(names).for_each(|name| _ = machine.add_location(name));
    let mut registers = vec![String::new(); system.register_count];
    for array in &system.registers {
        registers[array.base..][..array.len()].clone_from_slice(&names(array));
    }
    for channel in &system.channels {
        for slot in 0..channel.array.len() * channel.capacity {
            let of = channel.array.element(slot / channel.capacity);
            registers[channel.register + slot] = format!("{of}.{}", slot % channel.capacity);
        }
    }
    registers.into_iter().for_each(|name| _ = machine.add_register(name));
    let mut state = vec![0; system.width];
    for cell in &system.cells {
        state[cell.array.base..][..cell.array.len()].fill(cell.initial as i32);
    }
    let locals = vec![0; system.locals];
    let mut expansion = Expansion {
        scene: Scene { system, state, locals, message: None, steps: size.steps },
        system,
        machine,
        states: FxHashMap::default(),
        met: Vec::new(),
        events: Vec::new(),
        rules: FxHashMap::default(),
        limit: size.states,
    };
    expansion.intern()?;
    let mut at = 0;
    while let Some((state, from)) = expansion.met.get(at).cloned() {
        for rule in &system.rules {
            expansion.scene.state.copy_from_slice(&state);
            expansion.rule(rule, 0, &state, from)?;
        }
        expansion.losses(&state, from)?;
        at += 1;
    }
    Ok(expansion.machine)
}

impl Expansion<'_> {
    /// The machine's state for the state of the scene.
    fn intern(&mut self) -> Result<State, InputError> {
        if let Some(&state) = self.states.get(self.scene.state.as_slice()) {
            return Ok(state);
        }
        let name = self.describe();
        let state = self.new_state(name)?;
        let key: Box<[i32]> = self.scene.state.clone().into();
        self.states.insert(key.clone(), state);
        self.met.push((key, state));
        Ok(state)
    }

    fn new_state(&mut self, name: String) -> Result<State, InputError> {
        if self.machine.states().len() >= self.limit {
            let message = format!("the system has more than {} states", self.limit);
            let help = "smaller parameters or narrower domains make it smaller".to_owned();
            return Err(InputError { message, spot: None, help: Some(help) });
        }
        Ok(self.machine.add_state(name))
    }

    /// All ways to give values to the parameters of a rule from this one on.
    fn rule(&mut self, rule: &Rule, parameter: usize, state: &[i32], from: State) -> Result<(), InputError> {
        if let Some((_, range)) = rule.parameters.get(parameter) {
            let (low, high) = (self.scene.value(&range.from)?, self.scene.value(&range.to)?);
            for value in low..high {
                self.scene.step()?;
                self.scene.locals[parameter] = value;
                self.rule(rule, parameter + 1, state, from)?;
                self.scene.state.copy_from_slice(state);
            }
            return Ok(());
        }
        self.scene.state.copy_from_slice(state);
        let Some(element) = &rule.receives else { return self.take(rule, state, from) };
        let system = self.system;
        let channel = &system.channels[element.array];
        let of = self.scene.element(&channel.array, element)?;
        let messages = self.scene.state[channel.state + of * channel.stride()] as usize;
        let candidates = if channel.unordered { messages } else { messages.min(1) };
        for place in 0..candidates {
            self.scene.state.copy_from_slice(state);
            self.scene.message = Some((element.array, of, place));
            self.take(rule, state, from)?;
            self.scene.message = None;
        }
        Ok(())
    }

    /// Takes a rule in the state of the scene, if it can be taken.
    fn take(&mut self, rule: &Rule, state: &[i32], from: State) -> Result<(), InputError> {
        let enabled = match &rule.guard {
            Some(guard) => self.scene.value(guard)? == 1,
            None => true,
        };
        if !enabled {
            return Ok(());
        }
        self.events.clear();
        match rule.body.iter().try_for_each(|statement| self.execute(statement, None)) {
            Ok(()) => {}
            Err(Stop::Blocked) => return Ok(()),
            Err(Stop::Wrong(error)) => return Err(self.in_rule(rule, error)),
        }
        if let Some((channel, of, place)) = self.scene.message {
            self.remove(channel, of, place);
        }
        let values = rule.parameters.iter().zip(&self.scene.locals);
        let values: Vec<String> = values.map(|((name, _), value)| format!("{name}={value}")).collect();
        let name = if values.is_empty() { rule.name.clone() } else { format!("{}({})", rule.name, values.join(", ")) };
        self.chain(name, state, from)
    }

    /// An error says in which rule it came up, with which values.
    fn in_rule(&self, rule: &Rule, mut error: InputError) -> InputError {
        let values = rule.parameters.iter().zip(&self.scene.locals);
        let values: Vec<String> = values.map(|((name, _), value)| format!("{name} = {value}")).collect();
        if !values.is_empty() {
            error.message = format!("{} (in `{}` with {})", error.message, rule.name, values.join(", "));
        }
        error.spot = error.spot.or(Some(rule.spot));
        error
    }

    /// Adds the transitions of what the events have done.
    fn chain(&mut self, name: String, before: &[i32], from: State) -> Result<(), InputError> {
        if self.events.is_empty() {
            if *self.scene.state == *before {
                return Ok(());
            }
            self.events.push(Event::Idle);
        }
        let target = self.intern()?;
        let machine = &mut self.machine;
        let rule = *self.rules.entry(name).or_insert_with_key(|name| machine.add_rule(name.clone()));
        let events = std::mem::take(&mut self.events);
        let mut at = from;
        for (number, &event) in events.iter().enumerate() {
            let to = if number + 1 == events.len() { target } else { self.new_state(String::new())? };
            self.machine.add_of_rule(at, event, to, Some(rule));
            at = to;
        }
        self.events = events;
        Ok(())
    }

    /// Messages that vanish.
    fn losses(&mut self, state: &[i32], from: State) -> Result<(), InputError> {
        let system = self.system;
        for (number, channel) in system.channels.iter().enumerate().filter(|(_, channel)| channel.lossy) {
            for of in 0..channel.array.len() {
                for place in 0..state[channel.state + of * channel.stride()] as usize {
                    self.scene.step()?;
                    self.scene.state.copy_from_slice(state);
                    self.events.clear();
                    self.remove(number, of, place);
                    self.chain(format!("{} loses a message", channel.array.element(of)), state, from)?;
                }
            }
        }
        Ok(())
    }

    /// Takes a message out of a channel; those behind it move up.
    fn remove(&mut self, channel: usize, of: usize, place: usize) {
        let channel = &self.system.channels[channel];
        let begin = channel.state + of * channel.stride();
        let count = self.scene.state[begin] as usize;
        let message = |place: usize| begin + 1 + place * channel.width;
        let register = |place: usize| Register((channel.register + of * channel.capacity + place) as u32);
        for place in place..count - 1 {
            self.scene.state.copy_within(message(place + 1)..message(place + 2), message(place));
            if self.scene.state[message(place)] == 1 {
                self.events.push(Event::Copy { to: register(place), from: register(place + 1) });
            }
        }
        self.scene.state[message(count - 1)..message(count)].fill(0);
        self.scene.state[begin] -= 1;
    }

    /// Does what a statement says; in a `send`, to the message that begins here.
    fn execute(&mut self, statement: &Statement, message: Option<(usize, usize)>) -> Result<(), Stop> {
        self.scene.step()?;
        let system = self.system;
        match statement {
            Statement::Access { writes, core, location, store } => {
                let array = &system.cores[core.array];
                let core = Core((array.base + self.scene.element(array, core)?) as u32);
                let array = &system.locations[location.array];
                let location = Location((array.base + self.scene.element(array, location)?) as u32);
                let register = self.register(store)?;
                self.event(if *writes {
                    Event::Write { core, location, register }
                } else {
                    Event::Read { core, location, register }
                })?;
            }
            Statement::Copy { to, from } => {
                let array = &system.registers[to.array];
                let to = Register((array.base + self.scene.element(array, to)?) as u32);
                let from = self.register(from)?;
                if to != from {
                    self.event(Event::Copy { to, from })?;
                }
            }
            Statement::Assign { cell: element, value, spot } => {
                let cell = &system.cells[element.array];
                let at = cell.array.base + self.scene.element(&cell.array, element)?;
                let value = self.scene.value(value)?;
                self.scene.state[at] = within(cell, value, *spot)?;
            }
            Statement::SetField { field: element, value, spot } => {
                let (channel, begin) = message.expect("fields are set in a `send` only");
                let field = &system.channels[channel].fields[element.array];
                let at = field.array.base + self.scene.element(&field.array, element)?;
                let value = self.scene.value(value)?;
                self.scene.state[begin + at] = within(field, value, *spot)?;
            }
            Statement::Send { channel: element, carries, fields } => {
                let channel = &system.channels[element.array];
                let of = self.scene.element(&channel.array, element)?;
                let begin = channel.state + of * channel.stride();
                let place = self.scene.state[begin] as usize;
                if place >= channel.capacity {
                    return Err(Stop::Blocked);
                }
                let begins = begin + 1 + place * channel.width;
                for field in &channel.fields {
                    self.scene.state[begins + field.array.base..][..field.array.len()].fill(field.initial as i32);
                }
                if let Some(store) = carries {
                    let from = self.register(store)?;
                    let to = Register((channel.register + of * channel.capacity + place) as u32);
                    self.event(Event::Copy { to, from })?;
                }
                self.scene.state[begins] = i32::from(carries.is_some());
                fields.iter().try_for_each(|field| self.execute(field, Some((element.array, begins))))?;
                self.scene.state[begin] += 1;
            }
            Statement::For { slot, range, condition, body } => {
                let (low, high) = (self.scene.value(&range.from)?, self.scene.value(&range.to)?);
                for value in low..high {
                    self.scene.step()?;
                    self.scene.locals[*slot] = value;
                    let takes = match condition {
                        Some(condition) => self.scene.value(condition)? == 1,
                        None => true,
                    };
                    if takes {
                        body.iter().try_for_each(|statement| self.execute(statement, message))?;
                    }
                }
            }
            Statement::If { condition, then, otherwise } => {
                let body = if self.scene.value(condition)? == 1 { then } else { otherwise };
                body.iter().try_for_each(|statement| self.execute(statement, message))?;
            }
        }
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<(), InputError> {
        self.events.push(event);
        if self.events.len() > EVENTS {
            let message = format!("a rule does more than {EVENTS} things to registers");
            return Err(InputError { message, spot: None, help: None });
        }
        Ok(())
    }

    fn register(&mut self, store: &Store) -> Result<Register, InputError> {
        let system = self.system;
        match store {
            Store::Register(element) => {
                let array = &system.registers[element.array];
                Ok(Register((array.base + self.scene.element(array, element)?) as u32))
            }
            Store::Message(spot) => {
                let (number, of, place) = self.scene.message.expect("messages are known in rules that receive only");
                let channel = &system.channels[number];
                if self.scene.state[channel.state + of * channel.stride() + 1 + place * channel.width] == 0 {
                    return Err(InputError::at(*spot, "this message carries no value").help(format!(
                        "it was sent without `carrying`; tell messages of `{}` apart by a field",
                        channel.array.name
                    )));
                }
                Ok(Register((channel.register + of * channel.capacity + place) as u32))
            }
        }
    }

    /// The state of the scene in words.
    fn describe(&self) -> String {
        let mut parts = Vec::new();
        for cell in &self.system.cells {
            let values = &self.scene.state[cell.array.base..][..cell.array.len()];
            let values: Vec<String> = values.iter().map(|&value| self.shown(cell, value)).collect();
            parts.push(format!("{}={}", cell.array.name, values.join(",")));
        }
        for channel in &self.system.channels {
            for of in 0..channel.array.len() {
                let begin = channel.state + of * channel.stride();
                let count = self.scene.state[begin] as usize;
                if count == 0 {
                    continue;
                }
                let message = |place: usize| {
                    let begin = begin + 1 + place * channel.width;
                    let field = |field: &Cell| {
                        let values = &self.scene.state[begin + field.array.base..][..field.array.len()];
                        values.iter().map(|&value| self.shown(field, value)).collect::<Vec<_>>().join(",")
                    };
                    format!("({})", channel.fields.iter().map(field).collect::<Vec<_>>().join(" "))
                };
                parts.push(format!("{}={}", channel.array.element(of), (0..count).map(message).collect::<String>()));
            }
        }
        if parts.is_empty() { "always".into() } else { parts.join(" ") }
    }

    fn shown(&self, cell: &Cell, value: i32) -> String {
        match cell.kind {
            Type::Number => value.to_string(),
            Type::Truth => (value == 1).to_string(),
            Type::Enumeration(number) => self.system.enumerations[number][value as usize].clone(),
        }
    }
}

/// A value that a piece of state can hold.
fn within(cell: &Cell, value: i64, spot: Spot) -> Result<i32, InputError> {
    let fits = (cell.low..=cell.high).contains(&value);
    i32::try_from(value).ok().filter(|_| fits).ok_or_else(|| {
        let message = format!("`{}` cannot hold {value}", cell.array.name);
        InputError::at(spot, message).help(format!("its domain is {}..={}", cell.low, cell.high))
    })
}
