//! What can happen in such a program: every state, every step, one after the other.
//!
//! A value is a number below 16: programs compare with numbers below 4 and look at the lowest bits, so a variable without a value that is read
//! may as well have one of these.

use crate::program::{FIELDS, PLACES, Place, Program, Stmt, VARIABLES};
use raddle::Property;
use std::collections::HashSet;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What is wrong of what is looked for.
    pub(crate) wrong: HashSet<Property>,
    /// Whether something without a value is read, or an assertion fails, and that is not looked for: then the verdict may be open.
    pub(crate) valueless: bool,
}

/// A step of a thread.
#[derive(Clone, Debug)]
enum Step {
    Plain(Stmt),
    /// Goes on there unless the place holds this.
    Unless(Place, u8, usize),
    /// Goes on there if the shared object holds this.
    When(usize, u8, usize),
    Goto(usize),
    Lock(usize),
    Unlock(usize),
    /// Takes the mutex, or goes on there.
    Timed(usize, usize),
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: [usize; 2],
    places: [[Option<u8>; PLACES.len()]; 2],
    shared: [u8; 2],
    holders: [Option<usize>; 2],
}

/// Goes through all states.
pub(crate) fn interpret(program: &Program, looked_for: &[Property]) -> Found {
    let code = [0, 1].map(|thread: usize| {
        let mut steps = Vec::new();
        flatten(&program.threads[thread].1, &mut steps);
        steps
    });
    let places = [program.threads[0].0, program.threads[1].0];
    let first = State { at: [0, 0], places, shared: [0, 0], holders: [None, None] };
    let mut found = Found::default();
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = vec![first];
    while let Some(state) = todo.pop() {
        let mut next = Vec::new();
        let mut moves = false;
        for (thread, steps) in code.iter().enumerate() {
            if let Some(step) = steps.get(state.at[thread]) {
                moves |= follow(&state, thread, step, looked_for, &mut found, &mut next);
            }
        }
        let done = (0..2).all(|thread| state.at[thread] == code[thread].len());
        if !moves && !done && looked_for.contains(&Property::Deadlock) {
            found.wrong.insert(Property::Deadlock);
        }
        todo.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
    }
    found
}

fn flatten(stmts: &[Stmt], steps: &mut Vec<Step>) {
    for stmt in stmts {
        match stmt {
            Stmt::If(place, value, then, otherwise) => {
                let test = steps.len();
                steps.push(Step::Goto(0));
                flatten(then, steps);
                let leave = steps.len();
                steps.push(Step::Goto(0));
                steps[test] = Step::Unless(*place, *value, steps.len());
                flatten(otherwise, steps);
                steps[leave] = Step::Goto(steps.len());
            }
            Stmt::Locked(mutex, inside) => {
                steps.push(Step::Lock(*mutex));
                flatten(inside, steps);
                steps.push(Step::Unlock(*mutex));
            }
            Stmt::Timed(mutex, inside, late) => {
                let take = steps.len();
                steps.push(Step::Goto(0));
                flatten(inside, steps);
                steps.push(Step::Unlock(*mutex));
                let leave = steps.len();
                steps.push(Step::Goto(0));
                steps[take] = Step::Timed(*mutex, steps.len());
                flatten(late, steps);
                steps[leave] = Step::Goto(steps.len());
            }
            Stmt::Times(times, body) => (0..*times).for_each(|_| flatten(body, steps)),
            Stmt::Until(most, shared, value, body) => {
                let mut tests = Vec::new();
                for _ in 0..*most {
                    tests.push(steps.len());
                    steps.push(Step::Goto(0));
                    flatten(body, steps);
                }
                let end = steps.len();
                tests.into_iter().for_each(|test| steps[test] = Step::When(*shared, *value, end));
            }
            plain => steps.push(Step::Plain(plain.clone())),
        }
    }
}

/// Adds the states behind a step; whether it can be made.
fn follow(
    state: &State,
    thread: usize,
    step: &Step,
    looked_for: &[Property],
    found: &mut Found,
    next: &mut Vec<State>,
) -> bool {
    let mut after = state.clone();
    after.at[thread] += 1;
    // What is read has a value first.
    let read = match step {
        Step::Plain(Stmt::Copy(_, place) | Stmt::Store(_, place) | Stmt::AssertNot(place, _)) => Some(*place),
        Step::Unless(place, ..) => Some(*place),
        _ => None,
    };
    if let Some(place) = read.filter(|&place| state.places[thread][place].is_none()) {
        if looked_for.contains(&Property::Memory) {
            found.wrong.insert(Property::Memory);
            return true;
        }
        found.valueless = true;
        // Memory is taken for zero, and nothing is said then unless something is wrong.
        let values = if place < VARIABLES { 0..16 } else { 0..1 };
        for value in values {
            let mut chosen = state.clone();
            chosen.places[thread][place] = Some(value);
            let mut ways = Vec::new();
            follow(&chosen, thread, step, looked_for, found, &mut ways);
            for mut way in ways {
                let keeps = !matches!(step, Step::Plain(Stmt::Copy(to, _)) if *to == place);
                if place >= VARIABLES && keeps {
                    way.places[thread][place] = None;
                }
                next.push(way);
            }
        }
        return true;
    }
    let places = &state.places[thread];
    let value = |place: Place| places[place].expect("asked above");
    let fit = |place: Place, value: u8| if FIELDS.contains(&place) { value & 7 } else { value };
    match step {
        Step::Plain(Stmt::Set(to, value)) => after.places[thread][*to] = Some(*value),
        Step::Plain(Stmt::Copy(to, from)) => after.places[thread][*to] = Some(fit(*to, value(*from))),
        Step::Plain(Stmt::CopyStruct(forth)) => {
            let (from, to) = if *forth { (3, 5) } else { (5, 3) };
            after.places[thread].copy_within(from..from + 2, to);
        }
        Step::Plain(Stmt::Load(to, shared)) => after.places[thread][*to] = Some(state.shared[*shared]),
        Step::Plain(Stmt::Store(shared, from)) => after.shared[*shared] = value(*from) & 3,
        Step::Plain(Stmt::Count(shared)) => after.shared[*shared] ^= 1,
        Step::Plain(Stmt::AssertNot(place, wrong)) => {
            if value(*place) == *wrong {
                // Nothing comes behind it, looked for or not.
                if looked_for.contains(&Property::Assert) {
                    found.wrong.insert(Property::Assert);
                } else {
                    found.valueless = true;
                }
                return true;
            }
        }
        Step::Plain(other) => unreachable!("{other:?} is several steps"),
        Step::Unless(place, wanted, there) => {
            if value(*place) != *wanted {
                after.at[thread] = *there;
            }
        }
        Step::When(shared, wanted, there) => {
            if state.shared[*shared] == *wanted {
                after.at[thread] = *there;
            }
        }
        Step::Goto(there) => after.at[thread] = *there,
        Step::Lock(mutex) if state.holders[*mutex].is_some() => return false,
        Step::Lock(mutex) => after.holders[*mutex] = Some(thread),
        Step::Unlock(mutex) => after.holders[*mutex] = None,
        Step::Timed(mutex, there) => match state.holders[*mutex] {
            Some(_) => after.at[thread] = *there,
            None => after.holders[*mutex] = Some(thread),
        },
    }
    next.push(after);
    true
}
