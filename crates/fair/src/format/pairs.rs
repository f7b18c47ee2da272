//! Streett pairs as text: a line `REQUESTS -> GRANTS` for each. States are numbers, ranges `3..7` (both ends included), labels in quotes, `all` and `none`. A label is that of a state where states have labels, and else
//! of an action: then it means to have come here by it. `random 1 5..7` makes states draw among their successors. `#` begins a comment.

use super::{InputError, lines, number, words};
use crate::graph::Vertex;
use crate::system::System;

/// States, as somebody wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// By number.
    pub ranges: Vec<(Vertex, Vertex)>,
    /// By the label of a state or an action.
    pub labels: Vec<String>,
    /// Every one.
    pub all: bool,
}

/// An objective, as somebody wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Requests and grants.
    pub pairs: Vec<(Places, Places)>,
    /// States that draw, from the first to the last of each.
    pub random: Vec<(Vertex, Vertex)>,
}

/// Reads an objective for a system.
///
/// # Errors
/// If it is none, or names what the system does not have; with a place.
pub fn read(text: &str, system: &System) -> Result<Written, InputError> {
    let mut written = Written::default();
    for (line, text) in lines(text) {
        let text = comment_cut(text);
        if text.trim().is_empty() {
            continue;
        }
        if let Some(rest) = text.trim_start().strip_prefix("random ") {
            let column = (text.len() - text.trim_start().len()) as u32 + 8;
            let places = places(rest, line, column, system)?;
            if places.all || !places.labels.is_empty() {
                return Err(InputError::at((line, column), "random states are given by number"));
            }
            written.random.extend(places.ranges);
            continue;
        }
        let Some((requests, grants)) = arrow(text) else {
            return Err(InputError::at((line, 1), "this is no pair")
                .help("a pair looks like `0 3..5 \"want\" -> \"get\"`: who requests again and again is granted again and again"));
        };
        let column = requests.chars().count() as u32 + 3;
        written.pairs.push((places(requests, line, 1, system)?, places(grants, line, column, system)?));
    }
    Ok(written)
}

/// What stands in quotes, and in which line.
pub fn names(text: &str) -> Vec<(u32, String)> {
    let quoted = |(line, text)| {
        let pieces = comment_cut(text).split('"').enumerate().filter(|(at, _)| at % 2 == 1);
        pieces.map(move |(_, name)| (line, name.to_owned())).collect::<Vec<_>>()
    };
    lines(text).flat_map(quoted).collect()
}

/// Where something begins for the first time outside of quotes.
fn outside_of_quotes(line: &str, wanted: &str) -> Option<usize> {
    let mut quoted = false;
    line.char_indices()
        .find(|&(at, c)| {
            quoted ^= c == '"';
            !quoted && line[at..].starts_with(wanted)
        })
        .map(|(at, _)| at)
}

/// The line up to a comment.
fn comment_cut(line: &str) -> &str {
    &line[..outside_of_quotes(line, "#").unwrap_or(line.len())]
}

fn arrow(line: &str) -> Option<(&str, &str)> {
    let at = outside_of_quotes(line, "->")?;
    Some((&line[..at], &line[at + 2..]))
}

fn places(text: &str, line: u32, column: u32, system: &System) -> Result<Places, InputError> {
    let mut places = Places::default();
    let mut some = false;
    // Labels may have blanks in them: every second piece between quotes is one.
    let (mut end, mut before) = (column, 0);
    for (at, piece) in text.split('"').enumerate() {
        let here = end;
        end += piece.chars().count() as u32 + 1;
        before += piece.len() + 1;
        if at % 2 == 1 {
            if before > text.len() {
                return Err(InputError::at((line, here), "the label has no end"));
            }
            let known =
                system.labels.iter().any(|(name, _)| name == piece) || system.actions.iter().any(|name| name == piece);
            if !known {
                return Err(InputError::at((line, here), format!("nothing has the label \"{piece}\"")));
            }
            places.labels.push(piece.to_owned());
            some = true;
            continue;
        }
        for (offset, word) in words(piece) {
            let at = (line, here + offset - 1);
            some = true;
            match (word, word.split_once("..")) {
                ("all", _) => places.all = true,
                ("none", _) => {}
                (_, Some((low, high))) => {
                    let low = System::state(system.states, number(low, at)?, at)?;
                    let high = System::state(system.states, number(high, at)?, at)?;
                    if low > high {
                        return Err(InputError::at(at, "the range is empty"));
                    }
                    places.ranges.push((low, high));
                }
                _ => {
                    let state = System::state(system.states, number(word, at)?, at)?;
                    places.ranges.push((state, state));
                }
            }
        }
    }
    if some {
        Ok(places)
    } else {
        Err(InputError::at((line, column), "there are no states here")
            .help("write `none` if there are none, `all` for every one"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::aut;

    fn system() -> System {
        aut::read("des (0, 2, 5)\n(0, \"a->#b\", 1)\n(1, \"c\", 0)\n").expect("a system")
    }

    #[test]
    fn pairs_are_numbers_ranges_and_labels() {
        let written = read("# first\n0 2..4 \"a->#b\" -> none # why\nrandom 1\nall -> 3\n", &system()).expect("pairs");
        assert_eq!(written.pairs[0].0.ranges, [(0, 0), (2, 4)]);
        assert_eq!(written.pairs[0].0.labels, ["a->#b"]);
        assert_eq!(written.pairs[0].1, Places::default());
        assert!(written.pairs[1].0.all);
        assert_eq!(written.random, [(1, 1)]);
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let place = |text| read(text, &system()).map_err(|error| (error.line, error.column)).expect_err("wrong");
        assert_eq!(place("0 -> 7"), (1, 6));
        assert_eq!(place("\n0 1"), (2, 1));
        assert_eq!(place("0 \"x\" -> 1"), (1, 4));
        assert_eq!(place("0 -> \"c"), (1, 7));
        assert_eq!(place("0 ->"), (1, 5));
        assert_eq!(place("3..1 -> 0"), (1, 1));
        assert_eq!(place("random all"), (1, 8));
    }
}
