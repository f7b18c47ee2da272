//! Traces that are hard: every formula is one (Grahn 2026), so whether a trace is consistent is NP-complete for queues.

use super::{Kind, Trace};

/// Two or three literals, `(variable, positive)`, of different variables.
pub type Clause = Vec<(usize, bool)>;

/// Whether the formula can be satisfied, by trying all values.
pub fn satisfiable(variables: usize, clauses: &[Clause]) -> bool {
    let holds = |values: u32, clause: &Clause| {
        clause.iter().any(|&(variable, positive)| (values >> variable & 1 == 1) == positive)
    };
    (0..1u32 << variables).any(|values| clauses.iter().all(|clause| holds(values, clause)))
}

/// A formula as a trace with queues that is consistent iff the formula can be satisfied. Corrected: the clause messages are tied to the messages on the last handler, and the copies end
/// with the last clause.
pub fn formula(variables: usize, clauses: &[Clause]) -> Trace {
    const LAST: usize = 4;
    let mut trace = Trace::default();
    let begin = trace.add_message(0);
    trace.add(begin, Kind::Get);
    let mut of_clause: Vec<Vec<usize>> = Vec::new();
    for clause in clauses {
        let own: Vec<usize> = (0..=clause.len()).map(|place| trace.add_message(5 + place)).collect();
        own.iter().for_each(|&message| _ = trace.add(begin, Kind::Post(message)));
        of_clause.push(own);
    }
    // For each variable and clause, the messages for both sides.
    let mut sides: Vec<Vec<[Option<usize>; 2]>> = vec![vec![[None; 2]; clauses.len()]; variables];
    for (variable, own) in sides.iter_mut().enumerate() {
        for side in [0, 1] {
            let mut poster = trace.add_message(1 + side);
            trace.add(begin, Kind::Post(poster));
            trace.add(poster, Kind::Get);
            for (number, clause) in clauses.iter().enumerate() {
                let copy = trace.add_message(0);
                trace.add(poster, Kind::Post(copy));
                trace.add(copy, Kind::Get);
                poster = copy;
                if let Some(place) = clause.iter().position(|&(other, _)| other == variable) {
                    let through = trace.add_message(1 + place);
                    let end = trace.add_message(LAST);
                    own[number][side] = Some(end);
                    trace.add(copy, Kind::Post(through));
                    trace.add(through, Kind::Get);
                    trace.add(through, Kind::Post(end));
                    trace.add(end, Kind::Get);
                }
            }
        }
    }
    let mut location = 0;
    let mut during = |trace: &mut Trace, inner: usize, outer: usize| {
        let begin = trace.add(outer, Kind::Write { location });
        trace.add(inner, Kind::Read { location, from: Some(begin) });
        let end = trace.add(inner, Kind::Write { location: location + 1 });
        trace.add(outer, Kind::Read { location: location + 1, from: Some(end) });
        location += 2;
    };
    let above = 4 * clauses.iter().map(Vec::len).sum::<usize>();
    for (number, clause) in clauses.iter().enumerate() {
        of_clause[number].iter().for_each(|&message| _ = trace.add(message, Kind::Get));
        let read = trace.add(of_clause[number][0], Kind::Read { location: above + number, from: None });
        for (place, &(variable, positive)) in clause.iter().enumerate() {
            let [on_true, on_false] = sides[variable][number];
            let (first, second) = if positive { (on_false, on_true) } else { (on_true, on_false) };
            for (place, side) in [(place, first), (place + 1, second)] {
                side.into_iter().for_each(|side| during(&mut trace, of_clause[number][place], side));
            }
        }
        let write = trace.add(of_clause[number][clause.len()], Kind::Write { location: above + number });
        trace.events[read].kind = Kind::Read { location: above + number, from: Some(write) };
    }
    trace
}
