//! Fair runs that never end, by brute force: all states of the machine in a plain map, and every guess of who moves for ever.
//!
//! Say *exactly* these actors move again and again. Then the run stays, from some point on, among states that are connected by moves of theirs, and goes through all of them it likes; each of these actors has a move
//! there; and everybody else is owed nothing: under strong fairness it can move in none of these states, under weak fairness it cannot move in one of them. Every guess is tried. This is the definition, and shares
//! neither pairs nor decompositions with what is held against it; nor what is forgotten of states.
//!
//! Inside somebody's atomic block nobody else is asked.

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
    /// Per action of a thread, by where it stands before and behind it.
    pub actions: bool,
}

/// Who moves: a thread or its store buffer; and for actions from where to where.
type Actor = (ThreadId, bool, Option<(u32, u32)>);

struct Move {
    to: usize,
    by: Actor,
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
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} states", self.states.len())
    }
}

/// From so many actors on there are too many guesses.
const MOST_ACTORS: usize = 12;

impl Runs {
    /// All states with at most so many stores of a thread on their way; `None` if they are more than `most`.
    pub fn of(code: &Code, model: Model, buffer: usize, actions: bool, most: usize) -> Option<Runs> {
        let first = State::new(AnyMemory::of(model, ByteMemory::initial(code)), Thread::main(code, false));
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let mut runs =
            Runs { states: vec![first], moves: vec![], able: vec![], full: false, deadlock: false, ends: false };
        while runs.moves.len() < runs.states.len() {
            let state = runs.states[runs.moves.len()].clone();
            let (mut moves, mut able) = (Vec::new(), BTreeSet::new());
            for step in state.moves(code) {
                let id = step.thread();
                let mut next = state.clone();
                next.step(code, step, &mut ()).expect("it is a move");
                let drains = matches!(step, Step::Flush(_));
                let stands = |state: &State<AnyMemory>| match state.thread(id) {
                    Some(thread) if matches!(thread.status(), Status::Ready(_)) => thread.pc(),
                    _ => u32::MAX,
                };
                let by = (id, drains, (actions && !drains).then(|| (stands(&state), stands(&next))));
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
                moves.push(Move { to, by, seen });
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
        Some((1u32..1 << actors.len()).any(|guess| {
            let moves_on = |actor: &Actor| {
                let at = actors.iter().position(|known| known == actor).expect("it is among them");
                guess >> at & 1 == 1
            };
            let owed: Vec<Actor> = actors.iter().copied().filter(|actor| !moves_on(actor)).collect();
            self.shown_by(rules, waits, &moves_on, &owed)
        }))
    }

    /// Whether some run goes on in which exactly these move again and again, and the others are owed nothing.
    fn shown_by(
        &self,
        rules: Rules,
        waits: Option<ThreadId>,
        moves_on: &dyn Fn(&Actor) -> bool,
        owed: &[Actor],
    ) -> bool {
        let counts = |actor: &Actor| if actor.1 { rules.drains } else { rules.threads };
        let inside = |at: usize, actor: &Actor| self.states[at].atomic().is_some_and(|owner| owner != actor.0);
        let stays = |at: usize| {
            let here = waits.is_none_or(|id| {
                self.states[at].thread(id).is_some_and(|thread| {
                    matches!(thread.status(), Status::Ready(visible) if !matches!(visible, Visible::Join { .. }))
                })
            });
            here && !(rules.strong && owed.iter().any(|actor| counts(actor) && self.able[at].contains(actor)))
        };
        let taken = |one: &Move| moves_on(&one.by) && !(one.seen && waits == Some(one.by.0) && !one.by.1);
        let mut left: BTreeSet<usize> = (0..self.len()).filter(|&at| stays(at)).collect();
        // Who leads nowhere, or is come to from nowhere, is on no loop.
        loop {
            let goes: BTreeSet<usize> = left
                .iter()
                .copied()
                .filter(|&at| self.moves[at].iter().any(|one| taken(one) && left.contains(&one.to)))
                .collect();
            let come_to: BTreeSet<usize> =
                goes.iter().flat_map(|&at| self.moves[at].iter().filter(|one| taken(one)).map(|one| one.to)).collect();
            let next: BTreeSet<usize> = goes.intersection(&come_to).copied().collect();
            if next.len() == left.len() {
                break;
            }
            left = next;
        }
        while let Some(&pivot) = left.first() {
            let forward = self.reached(pivot, &left, &taken, false);
            let backward = self.reached(pivot, &left, &taken, true);
            let connected: BTreeSet<usize> = forward.intersection(&backward).copied().collect();
            let own: Vec<&Move> = connected
                .iter()
                .flat_map(|&at| self.moves[at].iter().filter(|one| taken(one) && connected.contains(&one.to)))
                .collect();
            let everybody_moves = self
                .able
                .iter()
                .flatten()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .filter(|actor| moves_on(actor))
                .all(|actor| own.iter().any(|one| one.by == *actor));
            let nothing_owed = |actor: &Actor| {
                let asked: Vec<usize> = connected.iter().copied().filter(|&at| !inside(at, actor)).collect();
                asked.is_empty() || asked.iter().any(|&at| !self.able[at].contains(actor))
            };
            let fair = rules.strong || owed.iter().filter(|actor| counts(actor)).all(nothing_owed);
            if !own.is_empty() && everybody_moves && fair {
                return true;
            }
            left = left.difference(&connected).copied().collect();
        }
        false
    }

    fn reached(
        &self,
        from: usize,
        left: &BTreeSet<usize>,
        taken: &dyn Fn(&Move) -> bool,
        back: bool,
    ) -> BTreeSet<usize> {
        let mut next: HashMap<usize, Vec<usize>> = HashMap::new();
        for &at in left {
            for one in self.moves[at].iter().filter(|one| taken(one) && left.contains(&one.to)) {
                let (from, to) = if back { (one.to, at) } else { (at, one.to) };
                next.entry(from).or_default().push(to);
            }
        }
        let (mut seen, mut todo) = (BTreeSet::from([from]), vec![from]);
        while let Some(at) = todo.pop() {
            todo.extend(next.get(&at).into_iter().flatten().copied().filter(|&to| seen.insert(to)));
        }
        seen
    }
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
        Status::Ready(Visible::Store { .. } | Visible::Spawn { .. } | Visible::Join { .. } | Visible::Free { .. }) => {
            true
        }
        _ => false,
    }
}
