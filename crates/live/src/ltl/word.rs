//! Whether a formula is true of a run that goes on for ever, by the definition.
//!
//! The run is a list of letters of which the last ones repeat. A formula has one truth value per position; `p U q` is the least solution of "q, or p and the same in the next position", which
//! two rounds backwards over the positions find: the first brings what comes round the loop to its beginning, the second to everybody.

use super::atoms::Letter;
use super::formula::Formula;

/// Whether the formula is true at the beginning of the word whose letters from `back` on repeat for ever.
///
/// # Panics
/// If nothing repeats.
pub fn holds(formula: &Formula, letters: &[Letter], back: usize) -> bool {
    assert!(back < letters.len(), "something has to repeat");
    truth(formula, letters, back)[0]
}

fn truth(formula: &Formula, letters: &[Letter], back: usize) -> Vec<bool> {
    let last = letters.len() - 1;
    let next = |at: usize| if at == last { back } else { at + 1 };
    match formula {
        Formula::True => vec![true; letters.len()],
        Formula::Atom(number) => letters.iter().map(|letter| letter >> number & 1 == 1).collect(),
        Formula::Not(inner) => truth(inner, letters, back).into_iter().map(|value| !value).collect(),
        Formula::And(left, right) => {
            let right = truth(right, letters, back);
            truth(left, letters, back).into_iter().zip(right).map(|(left, right)| left && right).collect()
        }
        Formula::Next(inner) => {
            let inner = truth(inner, letters, back);
            (0..letters.len()).map(|at| inner[next(at)]).collect()
        }
        Formula::Until(left, right) => {
            let (left, right) = (truth(left, letters, back), truth(right, letters, back));
            let mut until = vec![false; letters.len()];
            for _ in 0..2 {
                for at in (0..letters.len()).rev() {
                    until[at] = right[at] || left[at] && until[next(at)];
                }
            }
            until
        }
    }
}
