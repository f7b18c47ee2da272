//! State spaces of protocols: dining philosophers who take both forks at once, or one after the other in the order of the forks.
//!
//! The objective is a complaint: every philosopher who wants to eat is treated fairly (who can go on again and again goes on again and again), and yet the first one is
//! hungry for ever. Four who take both forks at once allow it, for the two neighbours may take turns so that one of them always eats; those who take the forks in order do not.
//! In *company* nobody but the first is left behind, either: if one moves again and again, every other does. That is a pair for each two of them; it takes five then.

use crate::graph::{Graph, Pair, Vertex};
use crate::successors::{Explored, Successors, explore};

/// How forks are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forks {
    /// Both in one step.
    AtOnce,
    /// That with the smaller number first.
    InOrder,
}

const THINKS: u64 = 0;
const HUNGRY: u64 = 1;
const HOLDS_ONE: u64 = 2;
const EATS: u64 = 3;

/// Everybody's phase, two bits each, and who moved last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Table {
    phases: u64,
    last: u32,
}

impl Table {
    fn phase(self, who: u32) -> u64 {
        self.phases >> (2 * who) & 3
    }
}

struct Philosophers {
    count: u32,
    forks: Forks,
}

impl Philosophers {
    /// The forks of a philosopher, the first to be taken first.
    fn forks_of(&self, who: u32) -> [u32; 2] {
        let next = (who + 1) % self.count;
        [who.min(next), who.max(next)]
    }

    fn is_free(&self, table: Table, fork: u32) -> bool {
        let holds = |who: u32| {
            let [first, second] = self.forks_of(who);
            let phase = table.phase(who);
            (fork == first && phase >= HOLDS_ONE) || (fork == second && phase == EATS)
        };
        !(0..self.count).any(holds)
    }

    /// The next phase of a philosopher who can go on.
    fn next(&self, table: Table, who: u32) -> Option<u64> {
        let [first, second] = self.forks_of(who).map(|fork| self.is_free(table, fork));
        match (table.phase(who), self.forks) {
            (THINKS, _) => Some(HUNGRY),
            (HUNGRY, Forks::AtOnce) => (first && second).then_some(EATS),
            (HUNGRY, Forks::InOrder) => first.then_some(HOLDS_ONE),
            (HOLDS_ONE, _) => second.then_some(EATS),
            _ => Some(THINKS),
        }
    }
}

impl Successors for Philosophers {
    type State = Table;

    fn initial(&self) -> Table {
        Table { phases: 0, last: 0 }
    }

    fn is_random(&self, _: &Table) -> bool {
        false
    }

    fn successors(&self, &table: &Table, each: &mut dyn FnMut(Table)) {
        for who in 0..self.count {
            if let Some(phase) = self.next(table, who) {
                let phases = table.phases & !(3 << (2 * who)) | phase << (2 * who);
                each(Table { phases, last: who });
            }
        }
    }
}

/// A state space with an objective.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// All that can be reached from vertex 0, where it begins.
    pub graph: Graph,
    /// What is asked of a path.
    pub pairs: Vec<Pair>,
    /// What states are made of, in the order of the table: who moved last, and everybody's phase.
    pub columns: Vec<Vec<u32>>,
}

/// So many philosophers (three to twelve), and the complaint of the first, alone or in company.
///
/// # Panics
/// If there are fewer or more.
pub fn philosophers(count: u32, forks: Forks, company: bool) -> Protocol {
    assert!((3..=12).contains(&count), "three to twelve philosophers");
    let system = Philosophers { count, forks };
    let Explored { graph, states } =
        explore(&system, u64::MAX, None).unwrap_or_else(|_| panic!("somebody can always go on"));
    let select = |wanted: &dyn Fn(Table) -> bool| -> Vec<Vertex> {
        (0..states.len()).filter(|&at| wanted(states[at])).map(|at| at as Vertex).collect()
    };
    let mut pairs: Vec<Pair> = (0..count)
        .map(|who| Pair {
            requests: select(&|table| table.phase(who) != THINKS && system.next(table, who).is_some()),
            grants: select(&|table| table.last == who),
        })
        .collect();
    pairs.push(Pair { requests: select(&|table| matches!(table.phase(0), THINKS | EATS)), grants: Vec::new() });
    if company {
        let moved: Vec<Vec<Vertex>> = (0..count).map(|who| select(&|table| table.last == who)).collect();
        for other in 1..moved.len() {
            for one in (0..moved.len()).filter(|&one| one != other) {
                pairs.push(Pair { requests: moved[one].clone(), grants: moved[other].clone() });
            }
        }
    }
    let mut columns = vec![states.iter().map(|table| table.last).collect()];
    columns.extend((0..count).map(|who| states.iter().map(|table| table.phase(who) as u32).collect()));
    Protocol { graph, pairs, columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::Argument;
    use crate::sets::{Bdds, Bits, Codes, Order, Space};
    use crate::solve::{Goal, Method, solve};

    #[test]
    fn who_may_be_hungry_for_ever() {
        for (count, forks, company, starves) in [
            (3, Forks::AtOnce, false, false),
            (4, Forks::AtOnce, false, true),
            (4, Forks::AtOnce, true, false),
            (5, Forks::AtOnce, false, true),
            (5, Forks::AtOnce, true, true),
            (3, Forks::InOrder, false, false),
            (4, Forks::InOrder, false, false),
        ] {
            let Protocol { graph, pairs, columns } = philosophers(count, forks, company);
            let space = Space::new(Bits::new(&graph), &graph, &pairs).expect("no limit");
            let solution =
                solve(&space, Method::default(), Goal::AlmostSurely, Argument::none()).expect("there is no limit");
            let winning = space.members(&solution.winning);
            assert_eq!(winning.binary_search(&0).is_ok(), starves, "{count} {forks:?} {company}");
            let codes = Codes::columns(graph.vertices(), &columns);
            let sets = Bdds::coded(&graph, codes, Order::default(), 1 << 24).expect("it fits");
            let space = Space::new(sets, &graph, &pairs).expect("it fits");
            let solution = solve(&space, Method::default(), Goal::AlmostSurely, Argument::none()).expect("it fits");
            assert_eq!(space.members(&solution.winning), winning, "{count} {forks:?} {company}");
        }
    }
}
