//! A machine as a list of transitions.
//!
//! ```text
//! machine msi
//! threads t1 t2
//! vars x
//! regs a b
//! init II                     # `initial values` makes empty registers hold initial values
//! II -> MI : W t1 x a
//! MI -> SS : b := a
//! SS -> SS : R t2 x b | eps
//! ```
//!
//! Cores, locations and registers are declared before they are used; states are what transitions name.

use super::lex::{Kind, Token, Tokens};
use super::{InputError, Spot};
use crate::machine::{Core, Event, Location, Machine, Register, State};
use rustc_hash::FxHashMap;
use std::fmt::Write;

const SHAPE: &str = "a transition is written `FROM -> TO : EVENT | EVENT`; events are `W THREAD VAR REG`, `R THREAD VAR REG`, `REG := REG` and `eps`";

#[derive(Default)]
struct Names {
    cores: FxHashMap<String, Core>,
    locations: FxHashMap<String, Location>,
    registers: FxHashMap<String, Register>,
    states: FxHashMap<String, State>,
}

pub(super) fn parse(tokens: &mut Tokens) -> Result<Machine, InputError> {
    tokens.next();
    let mut machine = Machine::new(word(tokens, "the name of the machine", "this is written `machine NAME`")?.text);
    let mut names = Names::default();
    let mut initial: Option<Token> = None;
    while let Some(first) = tokens.peek().cloned() {
        let line = first.spot.line;
        match first.text.as_str() {
            "threads" | "vars" | "regs" => {
                tokens.next();
                while tokens.is_on(line) {
                    let name = word(tokens, "a name", "names are words, one after the other")?;
                    declare(&mut machine, &mut names, &first.text, name)?;
                }
            }
            "initial" => {
                tokens.next();
                tokens.expect("values", "this is written `initial values`")?;
                machine.initial_values = true;
            }
            "init" => {
                tokens.next();
                let state = word(tokens, "the initial state", "this is written `init STATE`")?;
                if initial.replace(state.clone()).is_some() {
                    return Err(InputError::at(state.spot, "a second initial state").help("there is only one"));
                }
            }
            _ => transition(tokens, &mut machine, &mut names)?,
        }
        if tokens.is_on(line) {
            return Err(tokens.unexpected("the end of the line"));
        }
    }
    let missing = || InputError::at(tokens.spot(), "the initial state is missing").help("add a line `init STATE`");
    let initial = initial.ok_or_else(missing)?;
    let Some(&state) = names.states.get(&initial.text) else {
        return Err(InputError::at(initial.spot, format!("no transition names the state `{}`", initial.text)));
    };
    machine.begin_in(state);
    Ok(machine)
}

fn word(tokens: &mut Tokens, what: &str, shape: &str) -> Result<Token, InputError> {
    match tokens.peek() {
        Some(token) if token.kind != Kind::Sign => Ok(tokens.next().expect("it was just there")),
        _ => Err(tokens.unexpected(what).help(shape)),
    }
}

fn declare(machine: &mut Machine, names: &mut Names, kind: &str, name: Token) -> Result<(), InputError> {
    let text = name.text;
    let before = match kind {
        "threads" => names.cores.insert(text.clone(), machine.add_core(text.clone())).is_some(),
        "vars" => names.locations.insert(text.clone(), machine.add_location(text.clone())).is_some(),
        _ => names.registers.insert(text.clone(), machine.add_register(text.clone())).is_some(),
    };
    if before { Err(InputError::at(name.spot, format!("`{text}` was declared before"))) } else { Ok(()) }
}

fn known<T: Copy>(names: &FxHashMap<String, T>, what: &str, tokens: &mut Tokens) -> Result<T, InputError> {
    let name = word(tokens, &format!("the name of a {what}"), SHAPE)?;
    names.get(&name.text).copied().ok_or_else(|| unknown(names, what, &name.text, name.spot))
}

fn unknown<T>(names: &FxHashMap<String, T>, what: &str, name: &str, spot: Spot) -> InputError {
    let mut there: Vec<&str> = names.keys().map(String::as_str).collect();
    there.sort_unstable();
    there.truncate(12);
    let error = InputError::at(spot, format!("there is no {what} `{name}`"));
    if there.is_empty() {
        error.help("declare it first")
    } else {
        error.help(format!("there are {}", there.join(", ")))
    }
}

fn transition(tokens: &mut Tokens, machine: &mut Machine, names: &mut Names) -> Result<(), InputError> {
    let mut state = |tokens: &mut Tokens, machine: &mut Machine| {
        let name = word(tokens, "a state", SHAPE)?.text;
        Ok(*names.states.entry(name.clone()).or_insert_with(|| machine.add_state(name)))
    };
    let from = state(tokens, machine)?;
    tokens.expect("->", SHAPE)?;
    let to = state(tokens, machine)?;
    tokens.expect(":", SHAPE)?;
    loop {
        let first = word(tokens, "an event", SHAPE)?;
        let event = if tokens.accept(":=") {
            let Some(&to) = names.registers.get(&first.text) else {
                return Err(unknown(&names.registers, "register", &first.text, first.spot));
            };
            Event::Copy { to, from: known(&names.registers, "register", tokens)? }
        } else {
            match first.text.as_str() {
                "eps" => Event::Idle,
                verb @ ("W" | "R") => {
                    let core = known(&names.cores, "thread", tokens)?;
                    let location = known(&names.locations, "variable", tokens)?;
                    let register = known(&names.registers, "register", tokens)?;
                    if verb == "W" {
                        Event::Write { core, location, register }
                    } else {
                        Event::Read { core, location, register }
                    }
                }
                other => return Err(InputError::at(first.spot, format!("`{other}` is no event")).help(SHAPE)),
            }
        };
        machine.add(from, event, to);
        if !tokens.accept("|") {
            return Ok(());
        }
    }
}

/// A machine as such a list. States, registers, cores and locations get plain names where theirs are no words.
pub fn write(machine: &Machine) -> String {
    let plain = |names: &[String], letter: &str| -> Vec<String> {
        let is_word = |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let keep = names.iter().all(is_word) && {
            let mut sorted: Vec<_> = names.iter().collect();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] != pair[1])
        };
        let clashes = |name: &String| ["threads", "vars", "regs", "init", "initial"].contains(&name.as_str());
        let keep = keep && !names.iter().any(clashes);
        let name = |(at, name): (usize, &String)| if keep { name.clone() } else { format!("{letter}{at}") };
        names.iter().enumerate().map(name).collect()
    };
    let (cores, locations) = (plain(machine.cores(), "p"), plain(machine.locations(), "x"));
    let (registers, states) = (plain(machine.registers(), "r"), plain(machine.states(), "s"));
    let mut out = String::new();
    let name = if machine.name.is_empty() { "m" } else { &machine.name };
    let mut line = |text: String| writeln!(out, "{text}").expect("a string takes everything");
    line(format!("machine {name}"));
    for (kind, names) in [("threads", &cores), ("vars", &locations), ("regs", &registers)] {
        if !names.is_empty() {
            line(format!("{kind} {}", names.join(" ")));
        }
    }
    if machine.initial_values {
        line("initial values".into());
    }
    line(format!("init {}", states[machine.initial().index()]));
    for transition in machine.transitions() {
        let event = match transition.event {
            Event::Write { core, location, register } => {
                format!("W {} {} {}", cores[core.index()], locations[location.index()], registers[register.index()])
            }
            Event::Read { core, location, register } => {
                format!("R {} {} {}", cores[core.index()], locations[location.index()], registers[register.index()])
            }
            Event::Copy { to, from } => format!("{} := {}", registers[to.index()], registers[from.index()]),
            Event::Idle => "eps".into(),
        };
        line(format!("{} -> {} : {event}", states[transition.from.index()], states[transition.to.index()]));
    }
    out
}
