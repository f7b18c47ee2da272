//! Programs in which chance decides something: what a fair scheduler can do for ever.
//!
//! Where a thread draws (`choose random`), the scheduler says that it moves, and chance says how. So the moves of a program make a Markov decision process: to a state belong the moves one can choose from, and
//! to one that draws a random vertex of its own. A scheduler knows the whole past, draws included, may draw lots itself, and is *fair* if its runs are fair with probability one (Hart, Sharir and Pnueli 1983; Vardi 1985); what fair is says [`crate::fairness`]. Unknown inputs, `choose` without
//! `random` and who is woken up are choices of the scheduler.
//!
//! A program ends with probability one under every fair scheduler exactly if no fair scheduler can go on for ever with a probability above zero. What is visited again and again by a run is an end-component with probability one (de Alfaro 1997), so such
//! a scheduler has one in which whoever is owed something moves, or cannot: a *good end-component* of the Streett pairs of fairness ([`raddle_fair::labelled`]). Conversely, who is led there, which takes finitely many steps and has a probability above zero, and then
//! makes all moves inside again and again, is fair; elsewhere the scheduler may treat everybody in turn, so that it is fair with probability one as a whole. The weights of a draw make no difference to that, as long as none is zero.
//!
//! A run in which an assumption turns out to be false is none, so the scheduler cannot stay where chance might make one false.
//!
//! What is shown is as small as leaving out states and moves makes it ([`raddle_fair::smaller`]). If no draw is left in it, it is a loop like that of any other program.

use crate::goal::{Goal, Run};
use crate::graph::Moves;
use raddle_engine::Deadline;
use raddle_fair::labelled::{EVERYWHERE, Edge, Labelled, Within};
use raddle_fair::smaller::smaller;
use raddle_trace::ThreadId;

/// What a scheduler does for ever: in which states, by which moves; a draw by all that can be drawn.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The states, each with its moves and where they lead, by their place in this list. The state that is met first comes first.
    pub states: Vec<(u32, Vec<(Edge, usize)>)>,
    /// Who waits, if that is what is wrong.
    pub waits: Option<ThreadId>,
}

/// What can go on.
#[derive(Clone, Debug)]
pub enum Goes {
    /// A loop without draws.
    Round(Run),
    /// Wherever chance leads.
    On(Plan),
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// What goes on.
    pub found: Option<Goes>,
    /// How many strongly connected sets were looked at.
    pub examined: u64,
    /// How many of them a fair scheduler can stay in, whatever it shows.
    pub fair: u64,
}

/// The moves with random vertices, which follow the states.
struct Drawn {
    graph: Labelled,
    states: u32,
    /// The move of each edge that is one, or the first of them where they are drawn.
    moves: Vec<Edge>,
}

impl Drawn {
    fn new(moves: &Moves) -> Self {
        let all = &moves.labelled;
        let states = all.len() as u32;
        let mut drawn = Drawn { graph: Labelled::new(usize::from(all.pairs())), states, moves: Vec::new() };
        let mut draws: Vec<std::ops::Range<Edge>> = Vec::new();
        for state in 0..states {
            let mut edges = Vec::new();
            let mut range = all.from(state);
            while let Some(edge) = range.next() {
                let by = all.granted(edge);
                drawn.moves.push(edge);
                if !moves.drawn[edge as usize] {
                    edges.push((all.target(edge), by));
                    continue;
                }
                // Of a thread that draws, all that it can draw follows.
                let same = |next: &Edge| moves.drawn[*next as usize] && all.granted(*next) == by;
                let end = range.clone().find(|next| !same(next)).unwrap_or(range.end);
                range.start = end;
                edges.push((states + draws.len() as u32, by));
                draws.push(edge..end);
            }
            let pairs = 0..all.pairs();
            let requests = pairs.clone().filter(|&pair| all.requests(state, pair));
            drawn.graph.push(requests, pairs.clone().filter(|&pair| all.grants(state, pair)), edges);
        }
        for draw in draws {
            drawn.moves.extend(draw.clone());
            drawn.graph.push_random(draw.map(|edge| all.target(edge)));
        }
        drawn
    }

    /// What to do for ever in a good set.
    fn plan(&self, set: &[u32], within: &Within<'_>, waits: Option<ThreadId>) -> Plan {
        let small = smaller(&self.graph, set, within);
        let states: Vec<u32> = small.vertices.iter().copied().filter(|&vertex| vertex < self.states).collect();
        let place = |vertex: u32| states.binary_search(&vertex).expect("it is inside");
        let moves = |&state: &u32| {
            let mut moves = Vec::new();
            for edge in self.graph.from(state).filter(|edge| small.edges.binary_search(edge).is_ok()) {
                let target = self.graph.target(edge);
                if target < self.states {
                    moves.push((self.moves[edge as usize], place(target)));
                } else {
                    let draw = self.graph.from(target);
                    moves.extend(draw.map(|one| (self.moves[one as usize], place(self.graph.target(one)))));
                }
            }
            (state, moves)
        };
        Plan { states: states.iter().map(moves).collect(), waits }
    }
}

/// Looks for what a fair scheduler can do for ever so that the goal is not reached; `None` if there was no time, or the goal is a formula.
pub fn judge(goal: &Goal, moves: &Moves, deadline: &Deadline<'_>) -> Option<Judged> {
    let stop: &dyn Fn() -> bool = &|| deadline.passed().is_some();
    let drawn = Drawn::new(moves);
    let all = drawn.graph.decompose(&EVERYWHERE, stop)?;
    let mut judged = Judged { found: None, examined: all.examined, fair: all.good.len() as u64 };
    match goal {
        Goal::Ends => {
            let first = all.good.iter().min_by_key(|set| set[0]);
            judged.found = first.map(|set| goes(moves, drawn.plan(set, &EVERYWHERE, None)));
        }
        Goal::Waits => {
            let mut earliest = u32::MAX;
            let threads = moves.threads.iter().enumerate().filter(|_| judged.fair > 0);
            for (place, &thread) in threads {
                let vertex =
                    |vertex: u32| vertex >= drawn.states || moves.unfinished[vertex as usize] >> place & 1 == 1;
                let own = |edge: Edge| {
                    let by = drawn.graph.granted(edge);
                    by != raddle_fair::labelled::NOBODY && moves.actors[usize::from(by)].thread() == thread
                };
                // What is drawn is seen by nobody else.
                let edge = |edge: Edge| !(own(edge) && moves.acts[drawn.moves[edge as usize] as usize]);
                let within = Within { vertex: &vertex, edge: &edge };
                let waiting = drawn.graph.decompose(&within, stop)?;
                judged.examined += waiting.examined;
                let Some(set) = waiting.good.iter().min_by_key(|set| set[0]) else { continue };
                if set[0] < earliest {
                    earliest = set[0];
                    judged.found = Some(goes(moves, drawn.plan(set, &within, Some(thread))));
                }
            }
        }
        Goal::Formula(_) => return None,
    }
    Some(judged)
}

/// A loop, if chance decides nothing in the plan.
fn goes(moves: &Moves, plan: Plan) -> Goes {
    let taken: Vec<Edge> = {
        let mut edges: Vec<Edge> =
            plan.states.iter().flat_map(|(_, moves)| moves.iter().map(|&(edge, _)| edge)).collect();
        edges.sort_unstable();
        edges
    };
    if taken.iter().any(|&edge| moves.drawn[edge as usize]) {
        return Goes::On(plan);
    }
    let set: Vec<u32> = plan.states.iter().map(|&(state, _)| state).collect();
    let within = Within { vertex: &|_| true, edge: &|edge| taken.binary_search(&edge).is_ok() };
    let mut at = set[0];
    let mut turn = Vec::new();
    for edge in moves.labelled.cycle(&set, &within) {
        turn.push((at, edge));
        at = moves.labelled.target(edge);
    }
    Goes::Round(Run { stem: None, turn, waits: plan.waits })
}
