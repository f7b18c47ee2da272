//! What every fair run is to do, and which part of the graph shows that one does not.
//!
//! - [`Goal::Ends`]: it ends. Any fair loop shows that it does not.
//! - [`Goal::Waits`]: no thread waits for ever, whether or not the program ends. A thread waits for ever in a loop if it has not finished and does nothing in it that others could see: it looks, in vain, or it cannot move. To wait
//!   for the end of another thread does not count: whoever serves for ever is waited for, too. For each thread the graph is left without the states in which it has finished and without its moves that change something, and a fair loop in the rest shows that it
//!   waits. Fairness is still that of the whole: who could move is asked of the states, not of the moves that are left.
//!
//! - [`Goal::Formula`]: it satisfies a formula of [temporal logic](crate::ltl). A fair loop in the product with the automaton of its negation shows that it does not.
//!
//! Loops that write while they wait, as Dekker's, are no waits in this sense; such a program is asked whether it ends.

use crate::graph::{Moves, States};
use crate::ltl::{Ltl, product, tableau};
use crate::running::is_complete;
use raddle_engine::Deadline;
use raddle_fair::labelled::{Decomposed, EVERYWHERE, Edge, Within};
use raddle_machine::memory::Memory;
use raddle_trace::ThreadId;

/// What every fair run is to do.
#[derive(Clone, Debug)]
pub enum Goal {
    /// It ends.
    Ends,
    /// In it every thread that waits gets on.
    Waits,
    /// It satisfies this formula.
    Formula(Ltl),
}

/// A run that shows that the goal is not reached, by moves of the graph: from which state, by which edge.
#[derive(Clone, Debug)]
pub struct Run {
    /// What leads to the loop; `None` if that is the way by which its first state was met.
    pub stem: Option<Vec<(u32, Edge)>>,
    /// The loop; nothing if the run ends.
    pub turn: Vec<(u32, Edge)>,
    /// Who waits in it, if that is what is wrong.
    pub waits: Option<ThreadId>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The run whose loop was met first.
    pub found: Option<Run>,
    /// How many strongly connected sets were looked at.
    pub examined: u64,
    /// How many of them have a fair loop, whatever it shows.
    pub fair: u64,
    /// How many pairs of a state and a state of the automaton there are, if a formula was asked about.
    pub product: Option<u64>,
}

/// Looks for a fair run that shows that the goal is not reached; `None` if there was no time or no room.
pub fn judge(goal: &Goal, states: &States<'_>, moves: &Moves, deadline: &Deadline<'_>) -> Option<Judged> {
    let stop: &dyn Fn() -> bool = &|| deadline.passed().is_some();
    let all = moves.labelled.decompose(&EVERYWHERE, stop)?;
    let mut judged = Judged { found: None, examined: all.examined, fair: all.good.len() as u64, product: None };
    match goal {
        Goal::Ends => judged.found = first(moves, &all, &EVERYWHERE, None),
        Goal::Waits => {
            // Without any fair loop nobody waits for ever.
            let threads = moves.threads.iter().enumerate().filter(|_| judged.fair > 0);
            for (place, &thread) in threads {
                let vertex = |vertex: u32| moves.unfinished[vertex as usize] >> place & 1 == 1;
                let own = |edge: Edge| moves.actors[usize::from(moves.labelled.granted(edge))].thread() == thread;
                let edge = |edge: Edge| !(own(edge) && moves.acts[edge as usize]);
                let within = Within { vertex: &vertex, edge: &edge };
                let waiting = moves.labelled.decompose(&within, stop)?;
                judged.examined += waiting.examined;
                let found = first(moves, &waiting, &within, Some(thread));
                let start = |one: &Run| one.turn[0].0;
                let earlier = |one: &Run| judged.found.as_ref().is_none_or(|known| start(one) < start(known));
                if found.as_ref().is_some_and(earlier) {
                    judged.found = found;
                }
            }
        }
        Goal::Formula(formula) => {
            let automaton = tableau::automaton(&formula.formula.clone().negated())?;
            let (mut letters, mut ends) = (Vec::new(), Vec::new());
            for index in 0..states.len() as u32 {
                if index % 1024 == 0 && stop() {
                    return None;
                }
                let state = states.state(index);
                letters.push(formula.letter(state.memory().bytes()));
                ends.push(moves.labelled.from(index).is_empty() && is_complete(&state));
            }
            let searched = product::search(moves, &automaton, &letters, &|state| ends[state as usize], stop)?;
            judged.examined += searched.examined;
            judged.product = Some(searched.vertices);
            let run = |found: product::Accepted| Run { stem: Some(found.stem), turn: found.turn, waits: None };
            judged.found = searched.found.map(run);
        }
    }
    Some(judged)
}

/// A loop through the good set that was met first.
fn first(moves: &Moves, found: &Decomposed, within: &Within<'_>, waits: Option<ThreadId>) -> Option<Run> {
    let set = found.good.iter().min_by_key(|set| set[0])?;
    let mut at = set[0];
    let mut turn = Vec::new();
    for edge in moves.labelled.cycle(set, within) {
        turn.push((at, edge));
        at = moves.labelled.target(edge);
    }
    Some(Run { stem: None, turn, waits })
}
