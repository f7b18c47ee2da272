//! Transition systems in the Aldebaran format: `des (initial, transitions, states)`, then `(from, "label", to)` on a line each.

use super::{InputError, lines, number, place};
use crate::system::{Choice, Names, System};

/// Reads a transition system.
///
/// # Errors
/// If it is none; with a place.
pub fn read(text: &str) -> Result<System, InputError> {
    let mut lines = lines(text);
    let shape =
        "the first line looks like `des (0, 4, 3)`: the initial state, the number of transitions, the number of states";
    let Some((line, head)) = lines.next() else {
        return Err(InputError::at((1, 1), "the file is empty").help(shape));
    };
    let inner = head.trim().strip_prefix("des").and_then(|rest| rest.trim().strip_prefix('(')?.strip_suffix(')'));
    let numbers: Vec<&str> = inner.map(|inner| inner.split(',').map(str::trim).collect()).unwrap_or_default();
    let [initial, transitions, states] = numbers[..] else {
        return Err(InputError::at((line, 1), "this is no header of a transition system").help(shape));
    };
    let here = |part| place(line, head, part);
    let states = usize::try_from(number(states, here(states))?).unwrap_or(usize::MAX);
    let initial = System::state(states, number(initial, here(initial))?, here(initial))?;
    let (announced, announced_at) = (number(transitions, here(transitions))?, here(transitions));
    let mut actions = Names::default();
    let mut choices = Vec::new();
    for (line, text) in lines {
        let (from, label, to) = transition(text).ok_or_else(|| {
            InputError::at((line, 1), "this is no transition").help("a transition looks like `(0, \"label\", 1)`")
        })?;
        let state = |part| {
            let at = place(line, text, part);
            System::state(states, number(part, at)?, at)
        };
        choices.push(Choice { from: state(from)?, targets: vec![(state(to)?, Some(actions.number(label)))], line });
    }
    if choices.len() as u64 != announced {
        let message = format!("the header announces {announced} transitions, but there are {}", choices.len());
        return Err(InputError::at(announced_at, message));
    }
    Ok(System::new(states, initial, actions.names, choices))
}

/// The parts of a transition. A label may have commas and parentheses in it, with or without quotes around it.
fn transition(line: &str) -> Option<(&str, &str, &str)> {
    let inner = line.trim().strip_prefix('(')?.strip_suffix(')')?;
    let (from, rest) = inner.split_once(',')?;
    let (label, to) = rest.rsplit_once(',')?;
    let label = label.trim();
    let label = label.strip_prefix('"').and_then(|label| label.strip_suffix('"')).unwrap_or(label);
    Some((from.trim(), label, to.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_have_anything_in_them() {
        let system = read("des (0, 3, 2)\n(0, \"PUT !1, (x)\", 1)\n(1,i,0)\n(1, \"\", 1)\n").expect("a system");
        assert_eq!(system.actions, ["PUT !1, (x)", "i", ""]);
        assert_eq!((system.states, system.choices().len(), system.choices_of(1)), (2, 3, 1..3));
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let wrong = |text| read(text).map_err(|error| (error.line, error.column, error.message)).expect_err("wrong");
        let place = |text| (wrong(text).0, wrong(text).1);
        assert_eq!(place(""), (1, 1));
        assert_eq!(place("des (0, 1)"), (1, 1));
        assert_eq!(place("des (2, 1, 1)"), (1, 6));
        let nowhere = "state 1 does not exist: there are 1 states";
        assert_eq!(wrong("des (0, 1, 1)\n\n(0, \"ä\", 1)"), (3, 10, nowhere.into()));
        assert_eq!(place("des (0, 1, 1)\n(0, \"a\")"), (2, 1));
        let fewer = "the header announces 2 transitions, but there are 1";
        assert_eq!(wrong("des (0, 2, 1)\n(0, \"a\", 0)"), (1, 9, fewer.into()));
        assert_eq!(place("des (0, 1, 1)\n(99999999999999999999, \"a\", 0)"), (2, 2));
    }
}
