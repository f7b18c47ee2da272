//! Everything against brute force: runs against total coherence orders, machines against all their runs up to some length.
//!
//! `RADDLE_MEMSYS_RUNS=100000 RADDLE_MEMSYS_MACHINES=10000 cargo test --release -p raddle-memsys --test oracle` is the big sweep.

use raddle_memsys::machine::{Core, Event, Location, Machine, Move, Register, State};
use raddle_memsys::observer::{self, Search, observe};
use raddle_memsys::run::{Access, Kind, Run, replay};
use raddle_memsys::{Budget, Model, Verdict, check_run, judge, verify, wra};
use raddle_testkit::{Random, setting};

/// Whether the run satisfies the model with total coherence orders, all of which are tried: they extend hb; no write later than w is hb-before a read of w; under
/// SRA they fit together with program order and reads-from.
fn by_total_orders(run: &Run, model: Model) -> bool {
    let size = run.accesses.len();
    let mut before = vec![vec![false; size]; size];
    for to in 0..size {
        for (from, row) in before.iter_mut().enumerate().take(to) {
            let program = run.accesses[from].core == run.accesses[to].core;
            row[to] = program || run.accesses[to].kind == Kind::Read(Some(from));
        }
    }
    let base = before.clone();
    close(&mut before);
    let stale = |read: usize| {
        let access = run.accesses[read];
        let writes = (0..read).any(|write| is_write(run, write, access.location) && before[write][read]);
        run.initial_values && access.kind == Kind::Read(None) && writes
    };
    if (0..size).any(stale) {
        return false;
    }
    let locations: Vec<Location> = (0..3).map(Location).collect();
    choose(run, model, &before, &locations, &base)
}

fn is_write(run: &Run, at: usize, location: Location) -> bool {
    run.accesses[at].kind == Kind::Write && run.accesses[at].location == location
}

fn close(relation: &mut [Vec<bool>]) {
    let size = relation.len();
    for middle in 0..size {
        for from in 0..size {
            for to in 0..size {
                relation[from][to] |= relation[from][middle] && relation[middle][to];
            }
        }
    }
}

/// Chooses an order for each of these locations; `union` collects those of SRA.
fn choose(run: &Run, model: Model, before: &[Vec<bool>], locations: &[Location], union: &[Vec<bool>]) -> bool {
    let Some((&location, rest)) = locations.split_first() else {
        let mut closed = union.to_vec();
        close(&mut closed);
        return model != Model::Sra || (0..closed.len()).all(|at| !closed[at][at]);
    };
    let writes: Vec<usize> = (0..run.accesses.len()).filter(|&at| is_write(run, at, location)).collect();
    permutations(&writes).into_iter().any(|order| {
        let place = |write: usize| order.iter().position(|&other| other == write).expect("all writes are in the order");
        let extends = order.iter().enumerate().all(|(at, &late)| order[..at].iter().all(|&early| !before[late][early]));
        let agrees = run.accesses.iter().enumerate().all(|(read, access)| match access.kind {
            Kind::Read(Some(write)) if access.location == location && is_write(run, write, location) => {
                order[place(write) + 1..].iter().all(|&later| !before[later][read])
            }
            _ => true,
        });
        if !extends || !agrees {
            return false;
        }
        let mut more = union.to_vec();
        order.windows(2).for_each(|pair| more[pair[0]][pair[1]] = true);
        choose(run, model, before, rest, &more)
    })
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, &first) in items.iter().enumerate() {
        let rest: Vec<usize> = [&items[..at], &items[at + 1..]].concat();
        all.extend(permutations(&rest).into_iter().map(|mut rest| {
            rest.insert(0, first);
            rest
        }));
    }
    all
}

fn random_run(random: &mut Random) -> Run {
    let mut run = Run { accesses: Vec::new(), initial_values: random.one_in(3) };
    let (cores, locations) = (random.between(1, 3) as u32, random.between(1, 2) as u32);
    for step in 0..random.between(2, 9) {
        let (core, location) = (Core(random.below_u32(cores)), Location(random.below_u32(locations)));
        let writes: Vec<usize> = (0..step)
            .filter(|&at| {
                let access: Access = run.accesses[at];
                access.kind == Kind::Write && (access.location == location || random.one_in(12))
            })
            .collect();
        let kind = if random.chance(50) {
            Kind::Write
        } else if writes.is_empty() || random.one_in(8) {
            Kind::Read(None)
        } else {
            Kind::Read(Some(random.pick(&writes)))
        };
        run.accesses.push(Access { core, location, kind, step });
    }
    run
}

#[test]
fn runs_are_judged_as_by_total_orders() {
    let mut random = Random::new(1);
    let mut outcomes = [0; 4];
    for number in 0..setting("RADDLE_MEMSYS_RUNS", 8_000) {
        let run = if number.is_multiple_of(2) { random_run(&mut random) } else { only_run(&programs(&mut random)) };
        let found = check_run(&run);
        for model in Model::ALL {
            assert_eq!(judge(&run, model).is_some(), found.is(model), "{number} under {model}: {run:?}");
        }
        for model in [Model::Ra, Model::Sra] {
            assert_eq!(by_total_orders(&run, model), !found.is(model), "{number} under {model}: {run:?}");
        }
        outcomes[Model::ALL.into_iter().filter(|&model| found.is(model)).count()] += 1;
    }
    assert!(outcomes.iter().all(|&count| count > 2), "every outcome is met: {outcomes:?}");
}

#[test]
fn cycles_consist_of_what_they_say() {
    use raddle_memsys::judge::{Node, Reason};
    let mut random = Random::new(2);
    let mut cycles = 0;
    for _ in 0..3_000 {
        let run = random_run(&mut random);
        for model in Model::ALL {
            let Some(cycle) = judge(&run, model) else { continue };
            cycles += 1;
            for (at, tie) in cycle.iter().enumerate() {
                assert_eq!(tie.to, cycle[(at + 1) % cycle.len()].from, "{cycle:?}");
                let step = |from: usize, to: usize| {
                    let program = run.accesses[from].core == run.accesses[to].core && from < to;
                    program || run.accesses[to].kind == Kind::Read(Some(from))
                };
                match (&tie.why, tie.from, tie.to) {
                    (Reason::Program | Reason::ReadsFrom, Node::Access(from), Node::Access(to)) => {
                        assert!(step(from, to));
                    }
                    (Reason::Oldest, Node::Initial(location), Node::Access(to)) => {
                        assert!(is_write(&run, to, location));
                    }
                    (Reason::Overwritten { read, way }, Node::Access(from), to) => {
                        assert!(way.first() == Some(&from) && way.last() == Some(read));
                        assert!(way.windows(2).all(|pair| step(pair[0], pair[1])));
                        let returned = match to {
                            Node::Access(to) => Some(to),
                            Node::Initial(_) => None,
                        };
                        assert_eq!(run.accesses[*read].kind, Kind::Read(returned));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    assert!(cycles > 1_000, "{cycles}");
}

struct Shape {
    states: u32,
    cores: u32,
    locations: u32,
    registers: u32,
}

fn empty(shape: &Shape) -> Machine {
    let mut machine = Machine::new("random");
    (0..shape.cores).for_each(|number| _ = machine.add_core(format!("p{number}")));
    (0..shape.locations).for_each(|number| _ = machine.add_location(format!("x{number}")));
    (0..shape.registers).for_each(|number| _ = machine.add_register(format!("r{number}")));
    (0..shape.states).for_each(|number| _ = machine.add_state(format!("s{number}")));
    machine
}

fn random_event(shape: &Shape, random: &mut Random) -> Event {
    let core = Core(random.below_u32(shape.cores));
    let location = Location(random.below_u32(shape.locations));
    let register = Register(random.below_u32(shape.registers));
    match random.below(20) {
        0 => Event::Idle,
        1..=4 => Event::Copy { to: Register(random.below_u32(shape.registers)), from: register },
        5..=12 => Event::Write { core, location, register },
        _ => Event::Read { core, location, register },
    }
}

/// Runs are looked at up to this length: a machine that has only one way to go has few of each length, and no longest.
const LONGEST: usize = 14;

/// The lengths of the shortest violating runs, as far as runs were looked at; and how far that was.
fn by_all_runs(machine: &Machine, most: usize) -> ([Option<usize>; 3], usize) {
    let mut shortest = [None; 3];
    let mut runs: Vec<(State, Vec<Move>)> = vec![(machine.initial(), Vec::new())];
    let mut length = 0;
    while !runs.is_empty() {
        let mut longer = Vec::new();
        for (state, moves) in &runs {
            for number in (0..machine.transitions().len() as u32).map(Move) {
                let transition = machine.transition(number);
                if transition.from == *state {
                    longer.push((transition.to, [moves.as_slice(), &[number]].concat()));
                }
            }
        }
        if longer.len() > most || length == LONGEST {
            break;
        }
        length += 1;
        for (_, moves) in &longer {
            if !matches!(machine.transition(moves[moves.len() - 1]).event, Event::Read { .. }) {
                continue;
            }
            let found = check_run(&replay(machine, moves).expect("it follows transitions"));
            for (at, model) in Model::ALL.into_iter().enumerate() {
                if found.is(model) && shortest[at].is_none() {
                    shortest[at] = Some(length);
                }
            }
        }
        if longer.is_empty() || shortest[0].is_some() {
            return (shortest, if longer.is_empty() { usize::MAX } else { length });
        }
        runs = longer;
    }
    (shortest, length)
}

/// Whether some guessed cycle with so many coherence edges is met, with one token in place of each set of places (an independent way to observe).
fn by_tokens(machine: &Machine, model: Model, strands: usize) -> bool {
    /// What a token is at: nothing yet, a register, a core, or done.
    type Token = (u8, u32);
    const IDLE: Token = (0, 0);
    const DONE: Token = (3, 0);
    type Strand = (Option<u32>, [Token; 3]);
    /// The strand and field that a role sets, to which tokens, and the location.
    type Set = (usize, usize, Vec<Token>, Option<u32>);
    fn moves(token: Token, value: bool, event: Event) -> Vec<Token> {
        let (kind, at) = token;
        match event {
            Event::Copy { to, from } if kind == 1 => {
                let stays = (at != to.0 || from == to).then_some(token);
                stays.into_iter().chain((at == from.0 && from != to).then_some((1, to.0))).collect()
            }
            Event::Write { register, .. } if kind == 1 && at == register.0 => Vec::new(),
            Event::Write { core, register, .. } if kind == 2 && at == core.0 && !value => vec![token, (1, register.0)],
            Event::Read { core, register, .. } if kind == 1 && at == register.0 && !value => vec![token, (2, core.0)],
            _ => vec![token],
        }
    }
    let first: (State, Vec<Strand>) = (machine.initial(), vec![(None, [IDLE; 3]); strands]);
    let mut seen = std::collections::HashSet::from([first.clone()]);
    let mut pending = vec![first];
    while let Some((state, tokens)) = pending.pop() {
        if tokens.iter().all(|(_, tokens)| *tokens == [DONE; 3]) {
            return true;
        }
        for transition in machine.transitions().iter().filter(|transition| transition.from == state) {
            let event = transition.event;
            // Fields that a role sets, and those that it finishes.
            let mut roles: Vec<Vec<Set>> = vec![Vec::new()];
            for i in 0..strands {
                let j = (i + 1) % strands;
                match event {
                    Event::Write { core, location, register } => {
                        let fits = |strand: usize| {
                            let of = |at: usize| tokens[at].0.is_none_or(|known| known == location.0);
                            if model == Model::Sra { of(strand) } else { (0..strands).all(of) }
                        };
                        let place = vec![(2, core.0), (1, register.0)];
                        let value = vec![(1, register.0)];
                        let y = Some(location.0);
                        let starts = tokens[i].1[0] == IDLE && tokens[i].1[1] == IDLE && fits(i);
                        let links = tokens[j].1[2] == IDLE && fits(j);
                        if starts {
                            roles.push(vec![(i, 0, value.clone(), y), (i, 1, place.clone(), y)]);
                        }
                        if links && tokens[i].1[1] == (2, core.0) {
                            roles.push(vec![(i, 1, vec![DONE], None), (j, 2, place.clone(), y)]);
                        }
                        if starts && links && strands > 1 {
                            roles.push(vec![(i, 0, value, y), (i, 1, vec![DONE], None), (j, 2, place, y)]);
                        }
                    }
                    Event::Read { core, location, register } => {
                        let (known, [value, _, overwriter]) = tokens[i];
                        if known == Some(location.0) && value == (1, register.0) && overwriter == (2, core.0) {
                            roles.push(vec![(i, 0, vec![DONE], None), (i, 2, vec![DONE], None)]);
                        }
                    }
                    _ => {}
                }
            }
            for role in roles {
                let mut nexts: Vec<Vec<Strand>> = vec![tokens.clone()];
                for (strand, (_, own)) in tokens.iter().enumerate() {
                    for (field, &token) in own.iter().enumerate() {
                        let set = role.iter().find(|set| (set.0, set.1) == (strand, field));
                        let options = match set {
                            Some((_, _, options, _)) => options.clone(),
                            None => moves(token, field == 0, event),
                        };
                        let known = set.and_then(|set| set.3);
                        nexts = nexts
                            .into_iter()
                            .flat_map(|next| {
                                options.iter().map(move |&token| {
                                    let mut next = next.clone();
                                    next[strand].1[field] = token;
                                    next[strand].0 = known.or(next[strand].0);
                                    next
                                })
                            })
                            .collect();
                    }
                }
                for next in nexts {
                    let next = (transition.to, next);
                    if seen.insert(next.clone()) {
                        pending.push(next);
                    }
                }
            }
        }
    }
    false
}

fn verdict(machine: &Machine, model: Model) -> Option<usize> {
    match verify(machine, model, &Budget::default()).expect("violations replay").verdict {
        Verdict::Holds => None,
        Verdict::Violated(violation) => {
            assert!(violation.shortest);
            Some(violation.moves.len())
        }
        Verdict::Unknown { .. } => panic!("there is no limit"),
    }
}

/// So many configurations are enough for most small machines.
const SMALL: Budget = Budget { configurations: 20_000, bytes: 1 << 30, deadline: None };

#[test]
fn machines_do_what_all_their_runs_do() {
    let mut random = Random::new(3);
    let mut outcomes = [0; 4];
    let (mut compared, mut undecided) = (0, 0);
    for number in 0..setting("RADDLE_MEMSYS_MACHINES", 200) {
        let shape = Shape {
            states: random.between(1, 3) as u32,
            cores: random.between(2, 3) as u32,
            locations: random.between(1, 2) as u32,
            registers: random.between(2, 4) as u32,
        };
        let mut machine = empty(&shape);
        machine.initial_values = random.one_in(4);
        for _ in 0..random.between(3, 10) {
            let (from, to) = (State(random.below_u32(shape.states)), State(random.below_u32(shape.states)));
            machine.add(from, random_event(&shape, &mut random), to);
        }
        let text = || raddle_memsys::format::write(&machine);
        let (shortest, looked_at) = by_all_runs(&machine, 1_500);
        let mut violated = 0;
        for (model, shortest) in Model::ALL.into_iter().zip(shortest) {
            let found = match verify(&machine, model, &SMALL).expect("violations replay").verdict {
                Verdict::Holds => None,
                Verdict::Violated(violation) if violation.shortest => Some(violation.moves.len()),
                Verdict::Violated(_) | Verdict::Unknown { .. } => {
                    undecided += 1;
                    continue;
                }
            };
            match (shortest, found) {
                (Some(_), _) => assert_eq!(found, shortest, "{number} under {model}\n{}", text()),
                (None, Some(found)) => assert!(found > looked_at, "{number} under {model}\n{}", text()),
                (None, None) => {}
            }
            violated += usize::from(found.is_some());
            compared += 1;
        }
        outcomes[violated] += 1;
        if machine.initial_values {
            continue;
        }
        for (model, strands) in [(Model::Wra, 1), (Model::Ra, 2), (Model::Sra, 2)] {
            let search = |forget| Search { model, strands, longest: usize::MAX, forget };
            let (plain, met) = observe(&machine, search(false), &SMALL);
            let (forgets, fewer) = observe(&machine, search(true), &SMALL);
            let length = |found: &observer::Found| match found {
                observer::Found::Violation(moves) => Some(moves.len()),
                _ => None,
            };
            if [&plain, &forgets].into_iter().any(|found| matches!(found, observer::Found::Stopped(_))) {
                continue;
            }
            assert_eq!(length(&plain), length(&forgets), "{number} under {model}\n{}", text());
            assert!(fewer <= met || length(&plain).is_some(), "forgetting meets no more");
            if strands == 1 {
                let saturated = match wra::saturate(&machine, &Budget::default()).0 {
                    wra::Found::Violation(moves) => Some(moves.len()),
                    _ => None,
                };
                assert_eq!(length(&plain), saturated, "{number}\n{}", text());
            }
            if shape.cores == 2 && shape.registers < 4 && met < 300 {
                assert_eq!(
                    by_tokens(&machine, model, strands),
                    length(&plain).is_some(),
                    "{number} {model}\n{}",
                    text()
                );
            }
        }
    }
    println!("{compared} verdicts compared, {undecided} out of reach; {outcomes:?}");
    assert!(outcomes[0] > 0 && outcomes[3] > 0, "{outcomes:?}");
    assert!(undecided * 5 < compared, "most machines are within reach: {undecided} are not, {compared} are");
}

/// Threads write first and read then, each write into a register of its own: all four outcomes are frequent.
fn programs(random: &mut Random) -> Machine {
    let cores = random.between(2, 3) as u32;
    let mut threads: Vec<Vec<Event>> = Vec::new();
    let mut registers = Vec::new();
    let locations = random.between(1, 2) as u32;
    for core in (0..cores).map(Core) {
        let mut thread = Vec::new();
        let first = random.below_u32(locations);
        for number in 0..1 + u32::from(random.chance(75)) {
            let location = Location(if random.chance(80) { (first + number) % locations } else { first });
            let register = Register(registers.len() as u32);
            registers.push(location);
            thread.push(Event::Write { core, location, register });
        }
        threads.push(thread);
    }
    for core in (0..cores).map(Core) {
        for _ in 0..random.between(0, 2) {
            let own = |register: &usize| {
                threads[core.index()]
                    .iter()
                    .any(|event| matches!(*event, Event::Write { register: into, .. } if into.index() == *register))
            };
            let others: Vec<usize> =
                (0..registers.len()).filter(|register| !own(register) || random.one_in(4)).collect();
            let register = random.pick(&others);
            let read = Event::Read { core, location: registers[register], register: Register(register as u32) };
            threads[core.index()].push(read);
        }
    }
    let shape = Shape { states: 1, cores, locations, registers: registers.len() as u32 };
    let mut machine = empty(&shape);
    let mut state = State(0);
    while threads.iter().any(|thread| !thread.is_empty()) {
        let thread = random.below(threads.len());
        if threads[thread].is_empty() {
            continue;
        }
        let next = machine.add_state("s");
        let copy = |random: &mut Random| Register(random.below_u32(shape.registers));
        let event = match random.one_in(12) {
            true => Event::Copy { to: copy(random), from: copy(random) },
            false => threads[thread].remove(0),
        };
        machine.add(state, event, next);
        state = next;
    }
    machine
}

fn only_run(machine: &Machine) -> Run {
    let moves: Vec<Move> = (0..machine.transitions().len() as u32).map(Move).collect();
    replay(machine, &moves).expect("a line is a run")
}

#[test]
fn lines_are_their_only_run() {
    let mut random = Random::new(4);
    let mut outcomes = [0; 4];
    for number in 0..setting("RADDLE_MEMSYS_RUNS", 8_000) / 4 {
        let machine = programs(&mut random);
        let found = check_run(&only_run(&machine));
        for model in Model::ALL {
            let text = || raddle_memsys::format::write(&machine);
            assert_eq!(verdict(&machine, model).is_some(), found.is(model), "{number} under {model}\n{}", text());
        }
        outcomes[Model::ALL.into_iter().filter(|&model| found.is(model)).count()] += 1;
    }
    assert!(outcomes.iter().all(|&count| count > 2), "every outcome is met: {outcomes:?}");
}

/// Deterministic automata over `symbols`: per state where each symbol leads, if anywhere, and whether it accepts.
struct Automaton {
    states: Vec<(Vec<Option<usize>>, bool)>,
}

/// Whether some word is accepted by all: the product is searched.
fn intersect(automata: &[Automaton], symbols: usize) -> bool {
    let mut seen = std::collections::HashSet::from([vec![0; automata.len()]]);
    let mut pending = vec![vec![0; automata.len()]];
    while let Some(at) = pending.pop() {
        if automata.iter().zip(&at).all(|(automaton, &state)| automaton.states[state].1) {
            return true;
        }
        for symbol in 0..symbols {
            let next: Option<Vec<usize>> =
                automata.iter().zip(&at).map(|(automaton, &state)| automaton.states[state].0[symbol]).collect();
            if let Some(next) = next.filter(|next| seen.insert(next.clone())) {
                pending.push(next);
            }
        }
    }
    false
}

/// The machine that violates RA iff the automata accept a common word (Grahn 2026, with the registers of the two initial writes exchanged: as printed every input is
/// a violation).
fn hard(automata: &[Automaton], symbols: usize) -> Machine {
    let mut machine = Machine::new("hard");
    let count = automata.len();
    let cores: Vec<Core> = (0..count).map(|number| machine.add_core(format!("p{number}"))).collect();
    let nobody = machine.add_core("nil");
    let location = machine.add_location("x");
    let nil = machine.add_register("nil");
    // The last register of each automaton stands for the final state.
    let registers: Vec<Vec<Register>> = automata
        .iter()
        .map(|automaton| (0..=automaton.states.len()).map(|at| machine.add_register(format!("r{at}"))).collect())
        .collect();
    let last = |at: usize| registers[at][registers[at].len() - 1];
    let write = |core, register| Event::Write { core, location, register };
    let mut opening = Vec::new();
    for (at, &core) in cores.iter().enumerate() {
        opening.push(write(core, registers[(at + count - 1) % count][0]));
        opening.push(write(core, last(at)));
    }
    opening.push(write(nobody, nil));
    for own in &registers {
        opening.extend(own[1..own.len() - 1].iter().map(|&to| Event::Copy { to, from: nil }));
    }
    let mut state = machine.add_state("begin");
    let follow = |machine: &mut Machine, mut state: State, events: &[Event], end: Option<State>| {
        for (number, &event) in events.iter().enumerate() {
            let last = number + 1 == events.len();
            let next = end.filter(|_| last).unwrap_or_else(|| machine.add_state("s"));
            machine.add(state, event, next);
            state = next;
        }
        state
    };
    state = follow(&mut machine, state, &opening, None);
    let main = state;
    // The last symbol leads from accepting states to the final one.
    for symbol in 0..=symbols {
        let mut at = main;
        for (number, automaton) in automata.iter().enumerate() {
            let own = &registers[number];
            let next = if number + 1 == count { main } else { machine.add_state("s") };
            for (from, (leads, accepts)) in automaton.states.iter().enumerate() {
                let to = if symbol < symbols { leads[symbol] } else { accepts.then_some(own.len() - 1) };
                let Some(to) = to else { continue };
                let mut events = vec![Event::Copy { to: own[to], from: own[from] }];
                let others = own[..own.len() - 1].iter().filter(|&&register| register != own[to]);
                events.extend(others.map(|&to| Event::Copy { to, from: nil }));
                follow(&mut machine, at, &events, Some(next));
            }
            at = next;
        }
    }
    let reads: Vec<Event> =
        (0..count).map(|at| Event::Read { core: cores[at], location, register: last(at) }).collect();
    follow(&mut machine, main, &reads, None);
    machine
}

#[test]
fn hard_machines_are_violated_when_automata_meet() {
    let mut random = Random::new(5);
    let mut outcomes = [0; 2];
    for number in 0..setting("RADDLE_MEMSYS_MACHINES", 200) / 8 {
        let (count, symbols) = (random.between(2, 3), random.between(1, 2));
        let automata: Vec<Automaton> = (0..count)
            .map(|_| {
                let states = random.between(1, 3);
                let state = |_| {
                    let leads = (0..symbols).map(|_| random.chance(75).then(|| random.below(states))).collect();
                    (leads, random.chance(35))
                };
                Automaton { states: (0..states).map(state).collect() }
            })
            .collect();
        let machine = hard(&automata, symbols);
        let meet = intersect(&automata, symbols);
        assert_eq!(verdict(&machine, Model::Wra), None, "{number}");
        for model in [Model::Ra, Model::Sra] {
            assert_eq!(verdict(&machine, model).is_some(), meet, "{number} under {model}");
        }
        outcomes[usize::from(meet)] += 1;
    }
    assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
}
