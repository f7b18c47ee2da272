//! What every fair run is to do, and which part of the graph shows that one does not.
//!
//! - [`Goal::Ends`]: it ends. Any fair loop shows that it does not.
//! - [`Goal::Waits`]: no thread waits for ever, whether or not the program ends. A thread waits for ever in a loop if it has not finished and does nothing in it that others could see: it looks, in vain, or it cannot move. To wait
//!   for the end of another thread does not count: whoever serves for ever is waited for, too. For each thread the graph is left without the states in which it has finished and without its moves that change something, and a fair loop in the rest shows that it
//!   waits. Fairness is still that of the whole: who could move is asked of the states, not of the moves that are left.
//!
//! Loops that write while they wait, as Dekker's, are no waits in this sense; such a program is asked whether it ends.

use crate::graph::Moves;
use raddle_fair::labelled::{Decomposed, EVERYWHERE, Edge, Within};
use raddle_trace::ThreadId;

/// What every fair run is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// It ends.
    Ends,
    /// In it every thread that waits gets on.
    Waits,
}

/// A loop that shows that the goal is not reached.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The state in which it begins.
    pub start: u32,
    /// Its moves.
    pub edges: Vec<Edge>,
    /// Who waits in it, if that is what is wrong.
    pub waits: Option<ThreadId>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The loop whose beginning was met first.
    pub found: Option<Loop>,
    /// How many strongly connected sets were looked at.
    pub examined: u64,
    /// How many of them have a fair loop, whatever it shows.
    pub fair: u64,
}

/// Looks for a fair loop that shows that the goal is not reached; `None` if `stop` said so on the way.
pub fn judge(goal: Goal, moves: &Moves, stop: &dyn Fn() -> bool) -> Option<Judged> {
    let all = moves.labelled.decompose(&EVERYWHERE, stop)?;
    let mut judged = Judged { found: None, examined: all.examined, fair: all.good.len() as u64 };
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
                let earlier = |one: &Loop| judged.found.as_ref().is_none_or(|known| one.start < known.start);
                if found.as_ref().is_some_and(earlier) {
                    judged.found = found;
                }
            }
        }
    }
    Some(judged)
}

/// A loop through the good set that was met first.
fn first(moves: &Moves, found: &Decomposed, within: &Within<'_>, waits: Option<ThreadId>) -> Option<Loop> {
    let set = found.good.iter().min_by_key(|set| set[0])?;
    Some(Loop { start: set[0], edges: moves.labelled.cycle(set, within), waits })
}
