//! MDPs and Markov chains as PRISM exports them: transitions (`.tra`), labels (`.lab`) and states (`.sta`).
//!
//! A line of transitions is `state choice target probability [action]` in an MDP and `state target probability [action]` in a chain; which of them it is, the header tells, which has three or two
//! numbers. The probabilities have to be above 0 and at most 1, and to sum up to 1 within a thousandth; beyond that they do not matter. Initial is the state with the label `init`, or state 0.

use super::{InputError, lines, number, words};
use crate::graph::Vertex;
use crate::system::{Choice, Names, System};
use rustc_hash::{FxHashMap, FxHashSet};

/// How far a sum of probabilities may be from 1: they are rounded in the file.
const ROUNDING: f64 = 1e-3;

/// Reads transitions.
///
/// # Errors
/// If they are none; with a place.
pub fn transitions(text: &str) -> Result<System, InputError> {
    let mut lines = lines(text);
    let shape = "the first line has the numbers of states, choices and transitions; without choices for a Markov chain";
    let Some((line, head)) = lines.next() else {
        return Err(InputError::at((1, 1), "the file is empty").help(shape));
    };
    let head: Vec<u64> = words(head).map(|(column, word)| number(word, (line, column))).collect::<Result<_, _>>()?;
    let (states, choices, announced) = match head[..] {
        [states, choices, transitions] => (states, Some(choices), transitions),
        [states, transitions] => (states, None, transitions),
        _ => return Err(InputError::at((line, 1), "this is no header of transitions").help(shape)),
    };
    let states = usize::try_from(states).unwrap_or(usize::MAX);
    let mut actions = Names::default();
    // State, choice, target, probability, action, line.
    let mut found: Vec<(Vertex, u64, Vertex, f64, Option<u32>, u32)> = Vec::new();
    for (line, text) in lines {
        let mut words = words(text);
        let mut next = |what: &str| {
            words.next().ok_or_else(|| InputError::at((line, 1), format!("there is no {what} on this line")))
        };
        let mut state = |what| {
            let (column, word) = next(what)?;
            System::state(states, number(word, (line, column))?, (line, column))
        };
        let from = state("state")?;
        let choice = match choices {
            None => 0,
            Some(_) => {
                let (column, word) = next("choice")?;
                number(word, (line, column))?
            }
        };
        let (column, word) = next("target")?;
        let to = System::state(states, number(word, (line, column))?, (line, column))?;
        let (column, word) = next("probability")?;
        let probability = probability(word)
            .ok_or_else(|| InputError::at((line, column), format!("`{word}` is no probability above 0")))?;
        let action = words.next().map(|(_, word)| actions.number(word));
        if let Some((column, word)) = words.next() {
            return Err(InputError::at((line, column), format!("`{word}` is too much on this line")));
        }
        found.push((from, choice, to, probability, action, line));
    }
    if found.len() as u64 != announced {
        let message = format!("the header announces {announced} transitions, but there are {}", found.len());
        return Err(InputError::at((line, 1), message));
    }
    found.sort_by_key(|&(from, choice, to, ..)| (from, choice, to));
    let mut all = Vec::new();
    for group in found.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        let (from, choice, _, _, _, line) = group[0];
        let sum: f64 = group.iter().map(|transition| transition.3).sum();
        if (sum - 1.0).abs() > ROUNDING {
            let what =
                if choices.is_some() { format!("choice {choice} of state {from}") } else { format!("state {from}") };
            return Err(InputError::at((line, 1), format!("the probabilities of {what} sum up to {sum}, not to 1")));
        }
        let mut targets: Vec<_> = group.iter().map(|transition| (transition.2, transition.4)).collect();
        targets.sort_unstable();
        targets.dedup();
        all.push(Choice { from, targets, line });
    }
    if let Some(choices) = choices
        && choices != all.len() as u64
    {
        let message = format!("the header announces {choices} choices, but there are {}", all.len());
        return Err(InputError::at((line, 1), message));
    }
    if states == 0 {
        return Err(InputError::at((line, 1), "there are no states"));
    }
    Ok(System::new(states, 0, actions.names, all))
}

/// A number above 0 and at most 1, also as a fraction.
fn probability(word: &str) -> Option<f64> {
    let number = |text: &str| text.parse::<f64>().ok();
    let value = match word.split_once('/') {
        Some((over, under)) => number(over)? / number(under)?,
        None => number(word)?,
    };
    (value > 0.0 && value <= 1.0 + ROUNDING).then_some(value)
}

/// Reads labels of states, and where it begins if they say so.
///
/// # Errors
/// If they are none; with a place.
pub fn labels(text: &str, system: &mut System) -> Result<(), InputError> {
    let mut lines = lines(text);
    let shape = "the first line looks like `0=\"init\" 1=\"deadlock\" 2=\"done\"`";
    let Some((line, head)) = lines.next() else {
        return Err(InputError::at((1, 1), "the file is empty").help(shape));
    };
    let mut labels: Vec<(String, Vec<Vertex>)> = Vec::new();
    let (mut numbers, mut names) = (FxHashMap::default(), FxHashSet::default());
    for (column, word) in words(head) {
        let at = (line, column);
        let named =
            word.split_once('=').and_then(|(number, name)| Some((number, name.strip_prefix('"')?.strip_suffix('"')?)));
        let Some((label, name)) = named else {
            return Err(InputError::at(at, format!("`{word}` does not name a label")).help(shape));
        };
        let label = number(label, at)?;
        if numbers.insert(label, labels.len()).is_some() || !names.insert(name) {
            return Err(InputError::at(at, format!("label {label} or \"{name}\" is there twice")));
        }
        labels.push((name.to_owned(), Vec::new()));
    }
    for (line, text) in lines {
        let Some((state, rest)) = text.split_once(':') else {
            return Err(
                InputError::at((line, 1), "this does not say what holds in a state").help("it looks like `3: 0 2`")
            );
        };
        let state = System::state(system.states, number(state.trim(), (line, 1))?, (line, 1))?;
        for word in rest.split_whitespace() {
            let label = number(word, (line, 1))?;
            let Some(&at) = numbers.get(&label) else {
                return Err(InputError::at((line, 1), format!("there is no label {label}")));
            };
            labels[at].1.push(state);
        }
    }
    for (_, states) in &mut labels {
        states.sort_unstable();
        states.dedup();
    }
    if let Some((_, states)) = labels.iter().find(|(name, _)| name == "init") {
        match states[..] {
            [initial] => system.initial = initial,
            _ => {
                let message = format!("{} states have the label \"init\"", states.len());
                return Err(InputError::at((line, 1), message).help("there has to be one initial state"));
            }
        }
    }
    system.labels = labels;
    Ok(())
}

/// Reads what states are called.
///
/// # Errors
/// If it does not say so; with a place.
pub fn states(text: &str, system: &mut System) -> Result<(), InputError> {
    let mut lines = lines(text);
    let Some((_, variables)) = lines.next() else {
        return Err(InputError::at((1, 1), "the file is empty").help("the first line has the variables: `(x,y)`"));
    };
    let variables: Vec<&str> = list(variables).unwrap_or_default();
    let mut names = Vec::new();
    let mut columns: Vec<(Names, Vec<u32>)> = variables.iter().map(|_| Default::default()).collect();
    for (line, text) in lines {
        let values = text.split_once(':').and_then(|(state, values)| Some((state.trim(), list(values)?)));
        let Some((state, values)) = values else {
            return Err(
                InputError::at((line, 1), "this does not say what a state is").help("it looks like `3:(0,true)`")
            );
        };
        let state = System::state(system.states, number(state, (line, 1))?, (line, 1))?;
        if state as usize != names.len() {
            return Err(InputError::at((line, 1), format!("state {} is missing, or out of its order", names.len())));
        }
        let pairs: Vec<String> = if variables.len() == values.len() {
            variables.iter().zip(&values).map(|(variable, value)| format!("{variable}={value}")).collect()
        } else {
            values.iter().map(|&value| value.to_owned()).collect()
        };
        names.push(format!("({})", pairs.join(",")));
        for ((known, column), value) in columns.iter_mut().zip(&values) {
            column.push(known.number(value));
        }
    }
    system.names = names;
    system.columns = columns.into_iter().map(|(_, column)| column).collect();
    Ok(())
}

fn list(text: &str) -> Option<Vec<&str>> {
    let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    Some(inner.split(',').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_mdp_has_choices_and_a_chain_has_none() {
        let mdp = transitions("2 2 3\n0 0 1 0.5 go\n0 0 0 1/2 go\n1 0 1 1\n").expect("an MDP");
        assert_eq!(mdp.choices()[0].targets, [(0, Some(0)), (1, Some(0))]);
        assert_eq!(mdp.action(Some(0)), Some("go"));
        let chain = transitions("2 3\n0 1 0.5\n0 0 0.5\n1 1 1\n").expect("a chain");
        assert_eq!(chain.choices().len(), 2);
    }

    #[test]
    fn labels_say_where_it_begins() {
        let mut system = transitions("3 3 3\n0 0 1 1\n1 0 2 1\n2 0 0 1\n").expect("an MDP");
        labels("0=\"init\" 1=\"done\"\n1: 0\n0: 1\n2: 1\n", &mut system).expect("labels");
        assert_eq!((system.initial, &system.labels[1]), (1, &("done".to_owned(), vec![0, 2])));
        states("(x,b)\n0:(1,true)\n1:(2,false)\n", &mut system).expect("states");
        assert_eq!(system.name(1), "1 (x=2,b=false)");
        assert_eq!(system.name(2), "2");
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let line = |text| transitions(text).map_err(|error| (error.line, error.message)).expect_err("wrong");
        assert_eq!(
            line("2 2 2\n0 0 1 0.5\n1 0 1 1\n"),
            (2, "the probabilities of choice 0 of state 0 sum up to 0.5, not to 1".into())
        );
        assert_eq!(line("1 1 1\n0 0 0 0\n").0, 2);
        assert_eq!(line("1 1 1\n0 0 0\n").0, 2);
        assert_eq!(line("1 1 1\n0 0 7 1\n").0, 2);
        assert_eq!(line("1 2 1\n0 0 0 1\n").1, "the header announces 2 choices, but there are 1");
        assert_eq!(line("1 1 1\n0 0 0 NaN\n").0, 2);
    }
}
