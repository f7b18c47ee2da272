//! VerifySC: a sequence of given events in which every read reads from a write that is good for it.
//!
//! The problem is NP-hard. The method is that of Agarwal, Chatterjee, Pathak, Pavlogiannis and Toman 2021 (Toman 2021):
//! a depth-first search over prefixes, of which two with the same events and the same thread as the last writer of each
//! location are the same for what can follow. With `n` events, `k` threads and `d` locations there are at most
//! `n^k · k^d` of them. An event can be executed if what must precede it has been, and
//! * a read finds a good write in memory;
//! * a write does not overwrite what a read still needs: its location is not *held*, that is, no read that is left has seen
//!   all its good writes go by.
//!
//! What keeps the search short, each with a switch:
//! * **closure** (`closure`): answers most problems without a solution, and restricts the order for the rest;
//! * **greedy reads**: a read that can be executed is executed at once, with no alternative. That is right for reads that
//!   write nothing; an update changes memory and is tried like a write (with the published rule taken literally, executions
//!   of programs with updates are lost);
//! * **greedy dead writes**: a write that no read needs, over a write that no read needs any more, needs no alternative;
//! * **guidance**: alternatives are tried in the order of a sequence of the same events that serves all reads but one.
//!
//! Prefixes are not stored: the search goes forth and back with an undo log, and only prefixes with more than one
//! continuation are remembered.

use super::closure::Closure;
use super::problem::{INIT, NONE, Op, Problem};
use crate::chains::Chains;
use crate::interrupt::{Interrupt, Interrupted, Watch};
use rustc_hash::FxHashSet;

/// Which heuristics are used. They change the time, never the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heuristics {
    /// Compute the closure of the problem before it is searched.
    pub closure: bool,
    /// Execute reads, and writes that nobody needs, without alternative.
    pub greedy: bool,
    /// Try alternatives in the order of the sequence at hand.
    pub guidance: bool,
    /// Executes updates greedily, too, as a literal reading of the published rule has it. This loses solutions, which is what tests
    /// show by it.
    #[cfg(test)]
    greedy_updates: bool,
}

impl Default for Heuristics {
    fn default() -> Self {
        Heuristics {
            closure: true,
            greedy: true,
            guidance: true,
            #[cfg(test)]
            greedy_updates: false,
        }
    }
}

impl Heuristics {
    /// Whether an operation that can be executed is, with no alternative.
    fn forces(&self, op: Op) -> bool {
        #[cfg(test)]
        if self.greedy_updates && op.reads {
            return self.greedy;
        }
        self.greedy && op.reads && !op.writes
    }
}

/// After so many steps it asks whether to stop.
const STEPS: u32 = 256;

/// The decision procedure, with its buffers.
#[derive(Debug, Default)]
pub struct Verifier {
    order: Chains,
    closure: Closure,
    state: State,
    /// Prefixes from which there is no way to the end.
    seen: FxHashSet<Box<[u32]>>,
    /// Continuations left to try, of all decisions.
    untried: Vec<u32>,
    decisions: Vec<Decision>,
    places: Vec<u32>,
    key: Vec<u32>,
}

/// A prefix with several continuations.
#[derive(Clone, Copy, Debug)]
struct Decision {
    /// Its length.
    length: usize,
    /// Where its continuations start.
    first: usize,
}

impl Verifier {
    /// Looks for a solution. `sequence` is any order of the events that respects program order, spawn and join.
    ///
    /// # Errors
    /// If it was told to stop.
    pub fn verify(
        &mut self,
        problem: &Problem,
        sequence: &[u32],
        heuristics: Heuristics,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<&[u32]>, Interrupted> {
        let watch = &mut Watch::new(interrupt, STEPS);
        if !problem.begin(&mut self.order, sequence)
            || (heuristics.closure && !self.closure.begin(problem, &mut self.order, watch)?)
        {
            return Ok(None);
        }
        self.places.clear();
        self.places.resize(problem.len(), 0);
        for (place, &event) in sequence.iter().enumerate() {
            self.places[event as usize] = place as u32;
        }
        self.state.start(problem);
        let found = self.search(problem, heuristics, watch)?;
        Ok(found.then_some(self.state.sequence.as_slice()))
    }

    fn search(
        &mut self,
        problem: &Problem,
        heuristics: Heuristics,
        watch: &mut Watch<'_>,
    ) -> Result<bool, Interrupted> {
        self.seen.clear();
        self.untried.clear();
        self.decisions.clear();
        loop {
            watch.step()?;
            self.execute_forced(problem, heuristics);
            if self.state.sequence.len() == problem.len() {
                return Ok(true);
            }
            let first = self.untried.len();
            self.candidates(problem, heuristics);
            if self.untried.len() > first + 1 {
                self.state.key(&mut self.key);
                if self.seen.contains(self.key.as_slice()) {
                    self.untried.truncate(first);
                } else {
                    self.seen.insert(self.key.as_slice().into());
                    if heuristics.guidance {
                        let places = &self.places;
                        self.untried[first..].sort_unstable_by_key(|&event| std::cmp::Reverse(places[event as usize]));
                    }
                }
            }
            if self.untried.len() > first {
                self.decisions.push(Decision { length: self.state.sequence.len(), first });
            }
            // The next continuation of the last decision that has one.
            loop {
                let Some(&decision) = self.decisions.last() else { return Ok(false) };
                while self.state.sequence.len() > decision.length {
                    self.state.undo(problem);
                }
                if self.untried.len() > decision.first {
                    let event = self.untried.pop().expect("there is one");
                    self.state.execute(problem, event);
                    break;
                }
                self.decisions.pop();
            }
        }
    }

    /// Executes what needs no alternative.
    fn execute_forced(&mut self, problem: &Problem, heuristics: Heuristics) {
        let mut waiting = 0;
        let mut thread = 0;
        let threads = problem.threads();
        while waiting < threads {
            let event = self.state.next[thread];
            let forced = event < problem.starts[thread + 1] && {
                let op = problem.ops[event as usize];
                let free = op.loc == NONE || (heuristics.forces(op) && self.state.is_executable(problem, event));
                free && self.is_minimal(problem, event)
            };
            if forced {
                self.state.execute(problem, event);
                waiting = 0;
            } else {
                thread = (thread + 1) % threads;
                waiting += 1;
            }
        }
    }

    /// Puts the events that can be executed next on the list of continuations.
    fn candidates(&mut self, problem: &Problem, heuristics: Heuristics) {
        let first = self.untried.len();
        for thread in 0..problem.threads() {
            let event = self.state.next[thread];
            if event >= problem.starts[thread + 1]
                || !self.state.is_executable(problem, event)
                || !self.is_minimal(problem, event)
            {
                continue;
            }
            if heuristics.greedy && self.state.is_dead(problem, event) {
                self.untried.truncate(first);
                self.untried.push(event);
                return;
            }
            self.untried.push(event);
        }
    }

    /// Whether all that the order puts before the event has been executed.
    fn is_minimal(&self, problem: &Problem, event: u32) -> bool {
        let row = self.order.row(event).iter().zip(&problem.starts).zip(&self.state.next);
        row.into_iter().all(|((&count, &start), &next)| next - start >= count)
    }
}

/// A prefix.
#[derive(Debug, Default)]
struct State {
    sequence: Vec<u32>,
    /// What was in memory before each event of the sequence that wrote.
    overwritten: Vec<u32>,
    /// The next event of each thread.
    next: Vec<u32>,
    /// The last write of each location.
    active: Vec<u32>,
    /// How many reads hold each location.
    held: Vec<u32>,
    /// For each read, how many of its good writes have not been executed.
    left: Vec<u32>,
    /// For each write, how many reads that are left it is good for.
    useful: Vec<u32>,
    /// The same for the initial write of each location.
    useful_initial: Vec<u32>,
    /// For each write, the reads it is good for: where the list starts in `readers`.
    reader_starts: Vec<u32>,
    readers: Vec<u32>,
}

impl State {
    fn start(&mut self, problem: &Problem) {
        let (events, locations) = (problem.len(), problem.locations);
        self.sequence.clear();
        self.overwritten.clear();
        self.next.clear();
        self.next.extend_from_slice(&problem.starts[..problem.threads()]);
        refill(&mut self.active, locations, INIT);
        refill(&mut self.held, locations, 0);
        refill(&mut self.left, events, 0);
        refill(&mut self.useful, events, 0);
        refill(&mut self.useful_initial, locations, 0);
        refill(&mut self.reader_starts, events + 1, 0);
        for (event, op) in problem.ops.iter().enumerate().filter(|(_, op)| op.reads) {
            for &write in problem.good(event as u32) {
                if write == INIT {
                    self.useful_initial[op.loc as usize] += 1;
                } else {
                    self.left[event] += 1;
                    self.useful[write as usize] += 1;
                    self.reader_starts[write as usize + 1] += 1;
                }
            }
            if self.left[event] == 0 {
                self.held[op.loc as usize] += 1;
            }
        }
        for event in 0..events {
            self.reader_starts[event + 1] += self.reader_starts[event];
        }
        refill(&mut self.readers, self.reader_starts[events] as usize, 0);
        for (event, _) in problem.ops.iter().enumerate().filter(|(_, op)| op.reads).rev() {
            for &write in problem.good(event as u32).iter().filter(|&&write| write != INIT) {
                let end = &mut self.reader_starts[write as usize + 1];
                *end -= 1;
                self.readers[*end as usize] = event as u32;
            }
        }
        // Filling from the ends has moved each end to its start.
        self.reader_starts.remove(0);
        self.reader_starts.push(self.readers.len() as u32);
    }

    fn executed(&self, problem: &Problem, event: u32) -> bool {
        event < self.next[problem.thread(event)]
    }

    /// Whether memory and the reads that are left allow the event.
    fn is_executable(&self, problem: &Problem, event: u32) -> bool {
        let op = problem.ops[event as usize];
        if op.loc == NONE {
            return true;
        }
        let loc = op.loc as usize;
        if op.reads && !problem.is_good(event, self.active[loc]) {
            return false;
        }
        // An update that holds the location itself may write to it.
        let own = u32::from(op.reads && self.left[event as usize] == 0);
        !op.writes || self.held[loc] == own
    }

    /// Whether the event is a write that nobody needs, over what nobody needs any more.
    fn is_dead(&self, problem: &Problem, event: u32) -> bool {
        let op = problem.ops[event as usize];
        if op.reads || !op.writes || self.useful[event as usize] > 0 {
            return false;
        }
        match self.active[op.loc as usize] {
            INIT => self.useful_initial[op.loc as usize] == 0,
            active => self.useful[active as usize] == 0,
        }
    }

    fn execute(&mut self, problem: &Problem, event: u32) {
        let op = problem.ops[event as usize];
        self.next[problem.thread(event)] += 1;
        self.sequence.push(event);
        if op.reads {
            for &write in problem.good(event) {
                if write == INIT {
                    self.useful_initial[op.loc as usize] -= 1;
                } else {
                    self.useful[write as usize] -= 1;
                }
            }
            self.held[op.loc as usize] -= u32::from(self.left[event as usize] == 0);
        }
        if op.writes {
            self.overwritten.push(std::mem::replace(&mut self.active[op.loc as usize], event));
            for at in self.reader_starts[event as usize]..self.reader_starts[event as usize + 1] {
                let reader = self.readers[at as usize];
                if !self.executed(problem, reader) {
                    self.left[reader as usize] -= 1;
                    self.held[op.loc as usize] += u32::from(self.left[reader as usize] == 0);
                }
            }
        }
    }

    fn undo(&mut self, problem: &Problem) {
        let event = self.sequence.pop().expect("there is something to take back");
        let op = problem.ops[event as usize];
        if op.writes {
            self.active[op.loc as usize] = self.overwritten.pop().expect("one per write");
            for at in self.reader_starts[event as usize]..self.reader_starts[event as usize + 1] {
                let reader = self.readers[at as usize];
                if !self.executed(problem, reader) {
                    self.held[op.loc as usize] -= u32::from(self.left[reader as usize] == 0);
                    self.left[reader as usize] += 1;
                }
            }
        }
        if op.reads {
            self.held[op.loc as usize] += u32::from(self.left[event as usize] == 0);
            for &write in problem.good(event) {
                if write == INIT {
                    self.useful_initial[op.loc as usize] += 1;
                } else {
                    self.useful[write as usize] += 1;
                }
            }
        }
        self.next[problem.thread(event)] -= 1;
    }

    /// What tells this prefix from others: which events, and which of them are in memory.
    fn key(&self, key: &mut Vec<u32>) {
        key.clear();
        key.extend_from_slice(&self.next);
        key.extend_from_slice(&self.active);
    }
}

fn refill(list: &mut Vec<u32>, len: usize, value: u32) {
    list.clear();
    list.resize(len, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use raddle_testkit::Random;

    /// A random problem of two or three threads over two locations, and an order of its events.
    fn problem(numbers: &mut Random) -> (Problem, Vec<u32>) {
        let mut problem = Problem::default();
        problem.clear();
        for _ in 0..2 + numbers.below(2) {
            for _ in 0..1 + numbers.below(3) {
                let kind = numbers.below(4);
                let (reads, writes) = (kind != 1, kind == 1 || kind == 2);
                problem.push(Op { loc: numbers.below_u32(2), reads, writes, after: NONE, good: (0, 0) });
            }
            problem.end_thread();
        }
        // A thread may start behind an event of the first one.
        let second = problem.starts[1] as usize;
        if numbers.below(3) == 0 {
            problem.ops[second].after = numbers.below_u32(second as u32);
        }
        for event in 0..problem.len() {
            let op = problem.ops[event];
            let from = problem.good.len() as u32;
            for write in 0..problem.len() {
                let other = problem.ops[write];
                if op.reads && other.writes && other.loc == op.loc && write != event && numbers.below(2) == 0 {
                    problem.good.push(write as u32);
                }
            }
            if op.reads && numbers.below(3) == 0 {
                problem.good.push(INIT);
            }
            problem.ops[event].good = (from, problem.good.len() as u32);
        }
        let sequence = (0..problem.len() as u32).collect();
        (problem, sequence)
    }

    /// Whether the sequence serves all reads and respects program order.
    fn is_solution(problem: &Problem, sequence: &[u32]) -> bool {
        let mut memory = vec![INIT; problem.locations];
        let mut done = vec![false; problem.len()];
        sequence.iter().all(|&event| {
            let op = problem.ops[event as usize];
            let start = problem.starts[problem.thread(event)];
            let ready =
                (start..event).all(|earlier| done[earlier as usize]) && (op.after == NONE || done[op.after as usize]);
            let served = !op.reads || problem.is_good(event, memory[op.loc as usize]);
            if op.writes {
                memory[op.loc as usize] = event;
            }
            done[event as usize] = true;
            ready && served
        })
    }

    /// Whether some order of the events that are left is a solution.
    fn solvable(problem: &Problem, prefix: &mut Vec<u32>) -> bool {
        if !is_solution(problem, prefix) {
            return false;
        }
        if prefix.len() == problem.len() {
            return true;
        }
        (0..problem.len() as u32).any(|event| {
            if prefix.contains(&event) {
                return false;
            }
            prefix.push(event);
            let found = solvable(problem, prefix);
            prefix.pop();
            found
        })
    }

    #[test]
    fn it_finds_a_solution_exactly_if_there_is_one() {
        let mut numbers = Random::new(7);
        let mut verifier = Verifier::default();
        let mut solved = [0; 2];
        for _ in 0..6_000 {
            let (problem, sequence) = problem(&mut numbers);
            let expected = solvable(&problem, &mut Vec::new());
            solved[usize::from(expected)] += 1;
            for switches in 0..8 {
                let [closure, greedy, guidance] = [1, 2, 4].map(|bit| switches & bit != 0);
                let heuristics = Heuristics { closure, greedy, guidance, ..Heuristics::default() };
                match verifier.verify(&problem, &sequence, heuristics, &Never).expect("nobody interrupts") {
                    Some(found) => {
                        assert_eq!(found.len(), problem.len());
                        assert!(is_solution(&problem, found), "{problem:?}: {found:?}");
                    }
                    None => assert!(!expected, "{heuristics:?} misses a solution of {problem:?}"),
                }
            }
        }
        assert!(solved.iter().all(|&count| count > 500), "{solved:?}");
    }

    #[test]
    fn updates_that_are_executed_greedily_lose_solutions() {
        let mut numbers = Random::new(7);
        let published = Heuristics { closure: false, guidance: false, greedy_updates: true, ..Heuristics::default() };
        let right = Heuristics { greedy_updates: false, ..published };
        let lost = (0..2_000).filter(|_| {
            let (problem, sequence) = problem(&mut numbers);
            let finds = |heuristics| {
                let found =
                    Verifier::default().verify(&problem, &sequence, heuristics, &Never).map(|found| found.is_some());
                found.expect("nobody interrupts")
            };
            finds(right) && !finds(published)
        });
        assert!(lost.count() > 0, "the published rule loses nothing");
    }

    /// Told to stop from the start.
    struct Now;

    impl Interrupt for Now {
        fn is_due(&self) -> bool {
            true
        }
    }

    /// Two threads that write and read so many times, each reading what the other wrote as the same number of turns.
    fn turns(count: u32) -> (Problem, Vec<u32>) {
        let mut problem = Problem::default();
        problem.clear();
        for thread in 0..2 {
            for turn in 0..count {
                problem.push(Op { loc: thread, reads: false, writes: true, after: NONE, good: (0, 0) });
                problem.good.push((1 - thread) * 2 * count + 2 * turn);
                let good = (problem.good.len() as u32 - 1, problem.good.len() as u32);
                problem.push(Op { loc: 1 - thread, reads: true, writes: false, after: NONE, good });
            }
            problem.end_thread();
        }
        let sequence = (0..4 * count).collect();
        (problem, sequence)
    }

    #[test]
    fn a_question_is_interrupted() {
        let (problem, sequence) = turns(300);
        for closure in [true, false] {
            let heuristics = Heuristics { closure, ..Heuristics::default() };
            let stopped =
                Verifier::default().verify(&problem, &sequence, heuristics, &Now).map(|found| found.is_some());
            assert_eq!(stopped, Err(Interrupted), "closure {closure}");
        }
    }

    #[test]
    fn a_long_question_needs_no_deep_stack() {
        let small = std::thread::Builder::new().stack_size(128 << 10);
        let solved = small.spawn(|| {
            let (problem, sequence) = turns(2_000);
            let heuristics = Heuristics { closure: false, greedy: false, ..Heuristics::default() };
            let found =
                Verifier::default().verify(&problem, &sequence, heuristics, &Never).map(|found| found.is_some());
            found.expect("nobody interrupts")
        });
        assert!(solved.expect("there is room for a thread").join().expect("it does not overflow"));
    }

    #[test]
    fn every_solution_refines_the_closure() {
        let mut numbers = Random::new(8);
        let (mut order, mut closure) = (Chains::default(), Closure::default());
        let mut refuted = 0;
        for _ in 0..2_000 {
            let (problem, sequence) = problem(&mut numbers);
            assert!(problem.begin(&mut order, &sequence));
            let watch = &mut Watch::new(&Never, u32::MAX);
            let possible = closure.begin(&problem, &mut order, watch).expect("nobody interrupts");
            refuted += u32::from(!possible);
            for_each_solution(&problem, &mut Vec::new(), &mut |solution| {
                assert!(possible, "{problem:?} has {solution:?}");
                for (at, &later) in solution.iter().enumerate() {
                    for &earlier in &solution[..at] {
                        assert!(!order.before(later, earlier), "{problem:?}: {solution:?}");
                    }
                }
            });
        }
        assert!(refuted > 100, "{refuted}");
    }

    fn for_each_solution(problem: &Problem, prefix: &mut Vec<u32>, visit: &mut impl FnMut(&[u32])) {
        if !is_solution(problem, prefix) {
            return;
        }
        if prefix.len() == problem.len() {
            visit(prefix);
            return;
        }
        for event in 0..problem.len() as u32 {
            if !prefix.contains(&event) {
                prefix.push(event);
                for_each_solution(problem, prefix, visit);
                prefix.pop();
            }
        }
    }
}
