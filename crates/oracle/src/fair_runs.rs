//! Fair runs that never end, by brute force: all states of the machine in a plain map, and every guess of who moves for ever.
//!
//! Say *exactly* these actors move again and again. Then the run stays, from some point on, among states that are connected by moves of theirs, and goes through all of them it likes; each of these actors has a move
//! there; and everybody else is owed nothing: under strong fairness it can move in none of these states, under weak fairness it cannot move in one of them. Every guess is tried. This is the definition, and shares
//! neither pairs nor decompositions with what is held against it; nor what is forgotten of states.
//!
//! Inside somebody's atomic block nobody else is asked.
//!
//! *Chance.* Where threads draw, it is asked whether some fair scheduler goes on for ever with a probability above zero: whether exactly these can move again and again in a set of states that a draw of theirs never leaves, as long as it is made at all. So of the connected states those
//! draws are left out that may lead elsewhere, one round after the other, until what is left is connected by what is left.

use raddle_machine::{AnyMemory, Automaton, ByteMemory, Code, Memory, Reaction, State, Status, Thread, Visible};
use raddle_trace::{Model, Step, StoreBuffer, ThreadId};
use std::collections::{BTreeSet, HashMap};

/// What everybody is owed; wrong rules are there to see that they are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Strong fairness.
    pub strong: bool,
    /// Threads are owed something.
    pub threads: bool,
    /// Store buffers are.
    pub drains: bool,
    /// Draws are for chance, not for the scheduler.
    pub chance: bool,
    /// Per action of a thread, by where it stands before and behind it.
    pub actions: bool,
}

/// Who moves: a thread or its store buffer; and for actions from where to where.
type Actor = (ThreadId, bool, Option<(u32, u32)>);

struct Move {
    to: usize,
    by: Actor,
    /// Whether chance decides between this and the other moves of the same thread.
    drawn: bool,
    /// Whether somebody else could see it.
    seen: bool,
}

/// All states of a program and the moves between them.
pub struct Runs {
    states: Vec<State<AnyMemory>>,
    moves: Vec<Vec<Move>>,
    /// Who could move, whatever the bound of store buffers says.
    able: Vec<BTreeSet<Actor>>,
    /// Whether a store had to wait for room.
    pub full: bool,
    /// Whether nobody can move in some state though somebody waits.
    pub deadlock: bool,
    /// Whether some run ends.
    pub ends: bool,
    /// Whether some thread can not be followed: it turns in a loop without any operation that others could see.
    pub lost: bool,
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} states", self.states.len())
    }
}

/// From so many actors on there are too many guesses.
const MOST_ACTORS: usize = 10;

impl Runs {
    /// All states with at most so many stores of a thread on their way; `None` if they are more than `most`.
    pub fn of(code: &Code, model: Model, buffer: usize, actions: bool, most: usize) -> Option<Runs> {
        let first = State::new(AnyMemory::of(model, ByteMemory::initial(code)), Thread::main(code, false));
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let mut runs = Runs {
            states: vec![first],
            moves: vec![],
            able: vec![],
            full: false,
            deadlock: false,
            ends: false,
            lost: false,
        };
        while runs.moves.len() < runs.states.len() {
            let state = runs.states[runs.moves.len()].clone();
            let (mut moves, mut able) = (Vec::new(), BTreeSet::new());
            runs.lost |= state.threads().any(|thread| matches!(thread.status(), Status::Failed(_)));
            for step in state.moves(code) {
                let id = step.thread();
                let mut next = state.clone();
                next.step(code, step, &mut ()).expect("it is a move");
                let drains = matches!(step, Step::Flush(_));
                let stands = |state: &State<AnyMemory>| match state.thread(id) {
                    Some(thread) if matches!(thread.status(), Status::Ready(_)) => thread.pc(),
                    _ => u32::MAX,
                };
                let drawn = matches!(step, Step::Choose(..))
                    && state.thread(id).is_some_and(|thread| code.draw(thread.pc()).is_some());
                // A draw is one action, wherever it leads.
                let behind = if drawn { u32::MAX - 1 } else { stands(&next) };
                let by = (id, drains, (actions && !drains).then(|| (stands(&state), behind)));
                able.insert(by);
                let is_store =
                    matches!(state.thread(id).map(Automaton::status), Some(Status::Ready(Visible::Store { .. })));
                let waiting = state.memory().waiting(id).map_or(0, StoreBuffer::len);
                if code.has_loops() && matches!(step, Step::Run(_)) && is_store && waiting >= buffer {
                    runs.full = true;
                    continue;
                }
                let seen = drains || is_seen(code, &state, id);
                let new = numbers.len();
                let to = *numbers.entry(next.clone()).or_insert(new);
                if to == new {
                    runs.states.push(next);
                }
                moves.push(Move { to, by, drawn, seen });
            }
            if able.is_empty() {
                let waits = state.threads().any(|thread| matches!(thread.status(), Status::Ready(_)));
                if waits { runs.deadlock = true } else { runs.ends = true }
            }
            runs.moves.push(moves);
            runs.able.push(able);
            if runs.states.len() > most {
                return None;
            }
        }
        Some(runs)
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The threads that are ever there.
    pub fn threads(&self) -> BTreeSet<ThreadId> {
        self.states.iter().flat_map(|state| state.threads().map(Automaton::id)).collect()
    }

    /// Whether some fair run never ends: one in which this thread waits, if one is named. `None` if there are too many guesses.
    pub fn goes_on(&self, rules: Rules, waits: Option<ThreadId>) -> Option<bool> {
        let actors: Vec<Actor> = self.able.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        if actors.len() > MOST_ACTORS {
            return None;
        }
        let bit = |actor: &Actor| 1u32 << actors.iter().position(|known| known == actor).expect("it is among them");
        let stands = |at: usize| {
            waits.is_none_or(|id| {
                self.states[at].thread(id).is_some_and(|thread| {
                    matches!(thread.status(), Status::Ready(visible) if !matches!(visible, Visible::Join { .. }))
                })
            })
        };
        let taken = |one: &&Move| !(one.seen && waits == Some(one.by.0) && !one.by.1);
        let all = |at: usize| {
            self.moves[at]
                .iter()
                .filter(taken)
                .map(|one| Way { to: one.to, by: bit(&one.by), drawn: one.drawn && rules.chance })
                .collect()
        };
        // Who is not asked, because somebody else is in an atomic block.
        let unasked = |at: usize| match self.states[at].atomic() {
            Some(owner) => actors.iter().filter(|actor| actor.0 != owner).map(&bit).sum(),
            None => 0,
        };
        let numbers = 0..self.len();
        let table = Table {
            stands: numbers.clone().map(stands).collect(),
            moves: numbers.clone().map(all).collect(),
            able: numbers.clone().map(|at| self.able[at].iter().map(&bit).sum()).collect(),
            unasked: numbers.map(unasked).collect(),
            owed: actors.iter().filter(|actor| if actor.1 { rules.drains } else { rules.threads }).map(&bit).sum(),
            strong: rules.strong,
        };
        Some((1u32..1 << actors.len()).any(|guess| table.shows(guess)))
    }
}

/// A move with its actor as a bit.
#[derive(Clone, Copy)]
struct Way {
    to: usize,
    by: u32,
    drawn: bool,
}

/// The same with actors as bits.
struct Table {
    /// Whether the thread that is to wait stands before something.
    stands: Vec<bool>,
    /// Where moves lead, and whose they are.
    moves: Vec<Vec<Way>>,
    /// Who can move.
    able: Vec<u32>,
    /// Who is not asked.
    unasked: Vec<u32>,
    /// Who is owed something if it does not move.
    owed: u32,
    strong: bool,
}

impl Table {
    /// Whether some run goes on in which exactly these move again and again, and the others are owed nothing.
    fn shows(&self, guess: u32) -> bool {
        let owed = self.owed & !guess;
        let stays = |at: usize| self.stands[at] && !(self.strong && self.able[at] & owed != 0);
        let all: BTreeSet<usize> = (0..self.moves.len()).filter(|&at| stays(at)).collect();
        let mut todo = vec![all];
        while let Some(mut left) = todo.pop() {
            // Who leads nowhere, or is come to from nowhere, goes on nowhere.
            loop {
                let goes: Vec<usize> =
                    left.iter().copied().filter(|&at| !self.next(at, guess, &left).is_empty()).collect();
                let come_to: BTreeSet<usize> = goes.iter().flat_map(|&at| self.next(at, guess, &left)).collect();
                let next: BTreeSet<usize> = goes.into_iter().filter(|at| come_to.contains(at)).collect();
                if next.len() == left.len() {
                    break;
                }
                left = next;
            }
            let mut parts = Vec::new();
            let mut rest = left.clone();
            while let Some(&pivot) = rest.first() {
                let mut back: HashMap<usize, Vec<usize>> = HashMap::new();
                for &at in &left {
                    self.next(at, guess, &left).into_iter().for_each(|to| back.entry(to).or_default().push(at));
                }
                let forward = reached(pivot, &|at| self.next(at, guess, &left));
                let backward = reached(pivot, &|at| back.get(&at).cloned().unwrap_or_default());
                let connected: BTreeSet<usize> = forward.intersection(&backward).copied().collect();
                rest = rest.difference(&connected).copied().collect();
                parts.push(connected);
            }
            if let [whole] = &parts[..] {
                if self.is_fair(guess, owed, whole) {
                    return true;
                }
            } else {
                // A draw that leads from one part to another is in none of them.
                todo.extend(parts);
            }
        }
        false
    }

    /// Whether exactly these move in a set of connected states, and the others are owed nothing.
    fn is_fair(&self, guess: u32, owed: u32, connected: &BTreeSet<usize>) -> bool {
        let moved =
            connected.iter().flat_map(|&at| self.inside(at, guess, connected)).fold(0, |moved, way| moved | way.by);
        // Weak: whoever is asked somewhere cannot move in one of the states in which it is asked.
        let asked = connected.iter().fold(0, |asked, &at| asked | !self.unasked[at]);
        let unable = connected.iter().fold(0, |unable, &at| unable | !self.able[at] & !self.unasked[at]);
        moved == guess && (self.strong || owed & asked & !unable == 0)
    }

    /// The moves of these by which a set is not left: of a draw all that can be drawn, or nothing.
    fn inside<'t>(&'t self, at: usize, guess: u32, left: &'t BTreeSet<usize>) -> impl Iterator<Item = &'t Way> + 't {
        let stays = move |way: &&Way| {
            let draw = |other: &&Way| way.drawn && other.drawn && other.by == way.by;
            left.contains(&way.to) && self.moves[at].iter().filter(draw).all(|other| left.contains(&other.to))
        };
        self.moves[at].iter().filter(move |way| way.by & guess != 0).filter(stays)
    }

    /// Where these can go from a state without leaving those that are left.
    fn next(&self, at: usize, guess: u32, left: &BTreeSet<usize>) -> Vec<usize> {
        self.inside(at, guess, left).map(|way| way.to).collect()
    }
}

fn reached(from: usize, next: &dyn Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let (mut seen, mut todo) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = todo.pop() {
        todo.extend(next(at).into_iter().filter(|&to| seen.insert(to)));
    }
    seen
}

/// Whether others can see what the thread does next: it is more than a look.
fn is_seen(code: &Code, state: &State<AnyMemory>, id: ThreadId) -> bool {
    let thread = state.thread(id).expect("it moves");
    match *thread.status() {
        Status::Ready(Visible::Update { access, .. }) => {
            let found = state.look(code, id, access).map(|found| found.value);
            found.is_none_or(|value| match thread.reaction(code, value) {
                Reaction::Read => false,
                Reaction::Write(new) => new != value,
                Reaction::Block | Reaction::Pick(_) => true,
            })
        }
        Status::Ready(
            Visible::Store { .. }
            | Visible::Spawn { .. }
            | Visible::Take { .. }
            | Visible::Join { .. }
            | Visible::Free { .. },
        ) => true,
        _ => false,
    }
}
