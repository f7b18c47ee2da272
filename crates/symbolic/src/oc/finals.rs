//! All states that memory can end in, by asking for one after the other.
//!
//! A model of an execution in which every thread comes to its end is read, what it leaves in memory is noted and forbidden, and the solver is asked again until there is none. It is how the formula is held against brute force as a
//! whole, rather than by single properties.

use super::complete;
use super::encode::{Wanted, encode};
use super::graph::Location;
use super::joins::join_threads;
use super::search::{NoAnswer, Search, Way};
use super::unroll::{Bound, Fail, MOST_STEPS, unroll};
use raddle_machine::{Access, Code};
use raddle_solve::{Lit, Stop};
use raddle_trace::Model;
use std::collections::BTreeSet;

/// What these places can hold when all threads have come to their ends; `None` if the program is not taken, is too large, or has loops whose turns are not certain.
///
/// # Panics
/// If the engine contradicts itself.
pub fn final_states(code: &Code, model: Model, places: &[Access]) -> Option<BTreeSet<Vec<u64>>> {
    let stop = Stop::new();
    let states: Result<Option<BTreeSet<Vec<u64>>>, Fail> = (|| {
        let mut graph = unroll(code, model, Bound::LEAST, (false, false), MOST_STEPS, &stop)?;
        if !graph.cuts.is_empty() {
            return Ok(None);
        }
        let joined = join_threads(code, &mut graph)?;
        let looks: Vec<_> = {
            let last = graph.last_node();
            let yes = graph.terms.bool(true);
            let look = |place: &Access| {
                let location = Location::Memory(place.addr.0, place.size);
                let value = graph.terms.var(location.width());
                graph.add(last, location, false, value, yes, 0);
                value
            };
            places.iter().map(look).collect()
        };
        let wanted = Wanted { races: false, conflicts: true, certify: false };
        let formula = encode(code, &mut graph, &joined, wanted, &stop)?;
        let mut search = Search::new(&mut graph, formula, Way::Prop);
        let all_end: Vec<Lit> = complete(search.graph, &mut search);
        let mut states = BTreeSet::new();
        loop {
            match search.find(&all_end) {
                Ok(None) => return Ok(Some(states)),
                Ok(Some(_)) => {
                    let state: Vec<u64> = looks.iter().map(|&look| search.value(look)).collect();
                    search.forbid(&looks);
                    assert!(states.insert(state), "what was forbidden came again");
                }
                Err(NoAnswer::Stopped) => return Ok(None),
                Err(NoAnswer::Disordered | NoAnswer::NotProved(_)) => panic!("an execution without an order"),
            }
        }
    })();
    states.unwrap_or_default()
}
