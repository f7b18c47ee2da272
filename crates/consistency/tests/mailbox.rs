//! Event-driven traces against brute force: all runs of the machine, all orders of messages, and a SAT solver.
//!
//! `RADDLE_MAILBOX_TRACES=100000 cargo test --release -p raddle-consistency --test mailbox -- --nocapture` is the big sweep.

use raddle_consistency::mailbox::families::{formula, satisfiable};
use raddle_consistency::mailbox::format::{Format, read};
use raddle_consistency::mailbox::{Answer, Kind, Limits, Mailbox, Rules, Trace, explain, replay, solve};
use raddle_testkit::{Random, damaged, setting};
use std::collections::HashSet;

const ALL: [Mailbox; 3] = [Mailbox::Queue, Mailbox::Multiset, Mailbox::Stack];

/// Whether the machine has a run of this shape: all of them are tried. Written from the description of the machine alone.
fn by_all_runs(trace: &Trace, rules: &Rules) -> bool {
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct State {
        running: Vec<Option<(usize, usize)>>,
        boxes: Vec<Vec<usize>>,
        last: Vec<Option<usize>>,
        happened: Vec<bool>,
        done: usize,
    }
    fn go(trace: &Trace, rules: &Rules, state: &State, seen: &mut HashSet<State>) -> bool {
        if state.done == trace.events.len() {
            return true;
        }
        if !seen.insert(state.clone()) {
            return false;
        }
        for handler in 0..trace.handlers {
            let nexts: Vec<(usize, usize, State)> = match state.running[handler] {
                Some((message, at)) => vec![(message, at, state.clone())],
                None => {
                    let pending = &state.boxes[handler];
                    let places: Vec<usize> = match rules.mailboxes[handler] {
                        _ if pending.is_empty() => Vec::new(),
                        Mailbox::Queue => vec![0],
                        Mailbox::Stack => vec![pending.len() - 1],
                        Mailbox::Multiset => (0..pending.len()).collect(),
                    };
                    let take = |place: usize| {
                        let mut next = state.clone();
                        let message = next.boxes[handler].remove(place);
                        (message, 0, next)
                    };
                    places.into_iter().map(take).collect()
                }
            };
            for (message, at, mut next) in nexts {
                let Some(&event) = trace.messages[message].events.get(at) else { continue };
                if trace.said.iter().any(|&(early, late)| late == event && !next.happened[early]) {
                    continue;
                }
                match trace.events[event].kind {
                    Kind::Get => {}
                    Kind::Post(posted) => {
                        if rules.strict || !trace.messages[posted].events.is_empty() {
                            next.boxes[trace.messages[posted].handler].push(posted);
                        }
                    }
                    Kind::Read { location, from } => {
                        let open = trace.unknown.reads.iter().find(|(read, _)| *read == event);
                        let may =
                            open.map_or(next.last[location] == from, |(_, all)| all.contains(&next.last[location]));
                        if !may {
                            continue;
                        }
                    }
                    Kind::Write { location } if trace.unknown.orders.contains(&location) => {
                        next.last[location] = Some(event);
                    }
                    Kind::Write { location } => {
                        let order = &trace.coherence[location];
                        let place = order.iter().position(|&write| write == event).expect("it is in the order");
                        if next.last[location] != place.checked_sub(1).map(|before| order[before]) {
                            continue;
                        }
                        next.last[location] = Some(event);
                    }
                }
                let over = at + 1 == trace.messages[message].events.len() && !trace.messages[message].open;
                next.running[handler] = (!over).then_some((message, at + 1));
                next.happened[event] = true;
                next.done += 1;
                if go(trace, rules, &next, seen) {
                    return true;
                }
            }
        }
        false
    }
    let initial: Vec<Vec<usize>> = (0..trace.handlers)
        .map(|handler| {
            let own = |&message: &usize| {
                let message = &trace.messages[message];
                message.handler == handler && message.post.is_none()
            };
            (0..trace.messages.len()).filter(own).collect()
        })
        .collect();
    let mut starts = vec![Vec::new()];
    for own in &initial {
        starts = starts
            .into_iter()
            .flat_map(|boxes: Vec<Vec<usize>>| {
                permutations(own).into_iter().map(move |own| [boxes.clone(), vec![own]].concat())
            })
            .collect();
    }
    starts.into_iter().any(|boxes| {
        let locations = trace.events.iter().filter_map(|event| match event.kind {
            Kind::Read { location, .. } | Kind::Write { location } => Some(location + 1),
            _ => None,
        });
        let last = vec![None; locations.max().unwrap_or(0)];
        let happened = vec![false; trace.events.len()];
        let state = State { running: vec![None; trace.handlers], boxes, last, happened, done: 0 };
        go(trace, rules, &state, &mut HashSet::new())
    })
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, &first) in items.iter().enumerate() {
        let rest = [&items[..at], &items[at + 1..]].concat();
        all.extend(permutations(&rest).into_iter().map(|rest| [vec![first], rest].concat()));
    }
    all
}

/// What everybody agrees on: program order, posts, reads-from, coherence and from-read.
fn base(trace: &Trace) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for message in &trace.messages {
        edges.extend(message.events.windows(2).map(|pair| (pair[0], pair[1])));
        edges.extend(message.post.zip(message.events.first().copied()));
    }
    edges.extend(&trace.said);
    for (read, event) in trace.events.iter().enumerate() {
        let Kind::Read { location, from } = event.kind else { continue };
        if trace.unknown.orders.contains(&location) || trace.unknown.reads.iter().any(|(other, _)| *other == read) {
            continue;
        }
        let order = trace.coherence.get(location).cloned().unwrap_or_default();
        edges.extend(from.map(|write| (write, read)));
        let later = order.iter().skip_while(|&&write| from.is_some_and(|from| write != from));
        edges.extend(later.filter(|&&write| Some(write) != from).map(|&write| (read, write)));
    }
    for (_, order) in
        trace.coherence.iter().enumerate().filter(|(location, _)| !trace.unknown.orders.contains(location))
    {
        for (at, &early) in order.iter().enumerate() {
            edges.extend(order[at + 1..].iter().map(|&late| (early, late)));
        }
    }
    edges
}

/// The same by a SAT solver: a total order of all events (a variable for each two of them, and transitivity), with the rules of mailboxes as clauses.
fn by_sat(trace: &Trace, rules: &Rules) -> bool {
    use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};
    let size = trace.events.len();
    let mut solver = BasicSolver::default();
    let chosen: Vec<Vec<Lit>> = trace
        .unknown
        .reads
        .iter()
        .map(|(_, sources)| sources.iter().map(|_| Lit::new(solver.new_var_default(), true)).collect())
        .collect();
    let variables: Vec<Vec<Var>> = (0..size).map(|_| (0..size).map(|_| solver.new_var_default()).collect()).collect();
    let before = |from: usize, to: usize| Lit::new(variables[from.min(to)][from.max(to)], from < to);
    let mut clause = |literals: &[Lit]| _ = solver.add_clause_reuse(&mut literals.to_vec());
    for a in 0..size {
        for b in (0..size).filter(|&b| b != a) {
            for c in (0..size).filter(|&c| c != a && c != b) {
                clause(&[!before(a, b), !before(b, c), before(a, c)]);
            }
        }
    }
    // A read comes after what it reads, and no other write of the location between; where that is not known, if it is chosen.
    for (read, event) in trace.events.iter().enumerate() {
        let Kind::Read { location, from } = event.kind else { continue };
        let open = trace.unknown.reads.iter().position(|(other, _)| *other == read);
        let sources: Vec<(Option<usize>, Option<Lit>)> = match open {
            Some(at) => {
                clause(&chosen[at]);
                trace.unknown.reads[at].1.iter().copied().zip(chosen[at].iter().copied().map(Some)).collect()
            }
            None => vec![(from, None)],
        };
        for (source, chosen) in sources {
            let unless: Vec<Lit> = chosen.into_iter().map(|chosen| !chosen).collect();
            let writes = trace.coherence.get(location).cloned().unwrap_or_default();
            if let Some(source) = source {
                clause(&[unless.as_slice(), &[before(source, read)]].concat());
            }
            for other in writes.into_iter().filter(|&other| Some(other) != source) {
                let earlier = source.map(|source| before(other, source));
                let literals: Vec<Lit> = earlier.into_iter().chain([before(read, other)]).collect();
                clause(&[unless.clone(), literals].concat());
            }
        }
    }
    for (from, to) in base(trace) {
        if from == to {
            return false;
        }
        clause(&[before(from, to)]);
    }
    for (first, one) in trace.messages.iter().enumerate() {
        for (second, other) in trace.messages.iter().enumerate() {
            if first == second || one.handler != other.handler {
                continue;
            }
            let mailbox = rules.mailboxes[one.handler];
            let ends = |message: &raddle_consistency::mailbox::Message| {
                message.events.first().copied().zip(message.events.last().copied())
            };
            match (ends(one), ends(other)) {
                (Some((get, last)), Some((then, end))) => {
                    clause(&[before(last, then), before(end, get)]);
                    if one.open {
                        clause(&[before(end, get)]);
                    }
                    match (mailbox, one.post, other.post) {
                        (Mailbox::Queue, Some(early), Some(late)) => clause(&[!before(early, late), before(get, then)]),
                        (Mailbox::Queue, None, Some(_)) => clause(&[before(get, then)]),
                        (Mailbox::Stack, None, Some(late)) => clause(&[!before(get, then), before(get, late)]),
                        (Mailbox::Stack, Some(early), Some(late)) => {
                            clause(&[!before(early, late), !before(get, then), before(get, late)]);
                        }
                        _ => {}
                    }
                }
                (Some((get, _)), None) if rules.strict => {
                    let late = other.post.expect("a message that is never run is posted");
                    match (mailbox, one.post) {
                        (Mailbox::Queue, Some(early)) => clause(&[before(early, late)]),
                        (Mailbox::Stack, Some(early)) => clause(&[!before(early, late), before(get, late)]),
                        (Mailbox::Stack, None) => clause(&[before(get, late)]),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
    solver.solve_limited(&[]) == lbool::TRUE
}

fn consistent(trace: &Trace, rules: &Rules, limits: &Limits) -> bool {
    match solve(trace, rules, limits).expect("a trace, and schedules replay").0 {
        Answer::Consistent(schedule) => {
            replay(trace, rules, &schedule).expect("it was replayed");
            true
        }
        Answer::Inconsistent => false,
        Answer::Unknown => panic!("there is no limit"),
    }
}

/// The example of the source: five messages, three handlers.
fn worked_example() -> Trace {
    let mut trace = Trace::default();
    let [init, m1, m2, m3, m4] = [1, 0, 0, 2, 2].map(|handler| trace.add_message(handler));
    trace.add(init, Kind::Get);
    let first = trace.add(init, Kind::Write { location: 0 });
    trace.add(init, Kind::Post(m2));
    trace.add(init, Kind::Post(m3));
    trace.add(m1, Kind::Get);
    trace.add(m1, Kind::Read { location: 0, from: Some(first) });
    trace.add(m1, Kind::Post(m4));
    trace.add(m2, Kind::Get);
    let second = trace.add(m2, Kind::Write { location: 0 });
    trace.add(m3, Kind::Get);
    trace.add(m3, Kind::Read { location: 0, from: Some(first) });
    trace.add(m3, Kind::Post(m1));
    trace.add(m4, Kind::Get);
    trace.add(m4, Kind::Read { location: 0, from: Some(second) });
    let third = trace.add(m4, Kind::Write { location: 0 });
    trace.add(m2, Kind::Read { location: 0, from: Some(third) });
    trace
}

/// Both queues want the posts of the other poster first: an order of posts that is only partial would not notice.
fn crossed_posts() -> Trace {
    let mut trace = Trace::default();
    let [a, b, m1, m2, n1, n2] = [0, 1, 2, 2, 3, 3].map(|handler| trace.add_message(handler));
    for (poster, posts) in [(a, [m2, n1]), (b, [n2, m1])] {
        trace.add(poster, Kind::Get);
        posts.iter().for_each(|&posted| _ = trace.add(poster, Kind::Post(posted)));
    }
    for (location, writer, reader) in [(0, m1, m2), (1, n1, n2)] {
        trace.add(writer, Kind::Get);
        let write = trace.add(writer, Kind::Write { location });
        trace.add(reader, Kind::Get);
        trace.add(reader, Kind::Read { location, from: Some(write) });
    }
    trace
}

#[test]
fn published_traces_are_what_they_should_be() {
    for (name, trace, expected) in
        [("worked example", worked_example(), [false, true]), ("crossed posts", crossed_posts(), [false, true])]
    {
        for (mailbox, expected) in [Mailbox::Queue, Mailbox::Multiset].into_iter().zip(expected) {
            let rules = Rules::all(mailbox, &trace);
            for probe in [0, 1000] {
                let limits = Limits { probe, ..Limits::default() };
                assert_eq!(consistent(&trace, &rules, &limits), expected, "{name} with {mailbox:?}");
            }
            assert_eq!(by_all_runs(&trace, &rules), expected, "{name} with {mailbox:?}, all runs");
            assert_eq!(by_sat(&trace, &rules), expected, "{name} with {mailbox:?}, SAT");
        }
    }
    let mixed =
        Rules { mailboxes: vec![Mailbox::Queue, Mailbox::Queue, Mailbox::Multiset, Mailbox::Queue], strict: true };
    assert!(consistent(&crossed_posts(), &mixed, &Limits::default()), "one bag is enough");
}

#[test]
fn an_explanation_has_nothing_to_spare() {
    let trace = worked_example();
    let rules = Rules::all(Mailbox::Queue, &trace);
    let core = explain(&trace, &rules, &Limits::default()).expect("there is no run");
    assert!(core.minimal);
    let words: Vec<(usize, usize)> = core.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    assert_eq!(words, [(14, 15)], "the last read of m2 is enough, whatever else is read");
    assert_eq!(explain(&trace, &Rules::all(Mailbox::Multiset, &trace), &Limits::default()), None);
}

/// A random program is run with random mailboxes; perhaps what reads read and the order of writes are changed afterwards.
fn random_trace(random: &mut Random) -> (Trace, Rules) {
    let handlers = random.between(1, 3);
    let mailboxes: Vec<Mailbox> = (0..handlers).map(|_| random.pick(&ALL)).collect();
    let rules = Rules { mailboxes, strict: random.chance(80) };
    let mut trace = Trace { handlers, ..Trace::default() };
    let mut boxes: Vec<Vec<usize>> = vec![Vec::new(); handlers];
    let mut running: Vec<Option<(usize, usize)>> = vec![None; handlers];
    let mut last = [None; 2];
    for _ in 0..random.between(1, 2) {
        let handler = random.below(handlers);
        let message = trace.add_message(handler);
        boxes[handler].push(message);
    }
    for _ in 0..random.between(6, 30) {
        if trace.events.len() >= 14 {
            break;
        }
        let handler = random.below(handlers);
        let Some((message, left)) = running[handler] else {
            if !boxes[handler].is_empty() {
                let place = match rules.mailboxes[handler] {
                    Mailbox::Queue => 0,
                    Mailbox::Stack => boxes[handler].len() - 1,
                    Mailbox::Multiset => random.below(boxes[handler].len()),
                };
                let message = boxes[handler].remove(place);
                trace.add(message, Kind::Get);
                running[handler] = Some((message, random.between(0, 3)));
            }
            continue;
        };
        if left == 0 {
            running[handler] = None;
            continue;
        }
        running[handler] = Some((message, left - 1));
        let location = random.below(2);
        match random.below(3) {
            0 if trace.messages.len() < 6 => {
                let to = random.below(handlers);
                let posted = trace.add_message(to);
                trace.add(message, Kind::Post(posted));
                boxes[to].push(posted);
            }
            1 => _ = trace.add(message, Kind::Read { location, from: last[location] }),
            _ => last[location] = Some(trace.add(message, Kind::Write { location })),
        }
    }
    for (message, _) in running.into_iter().flatten().filter(|&(_, left)| left > 0) {
        trace.messages[message].open = true;
    }
    // What was there from the beginning and never taken cannot be told in a trace.
    let mut number = 0;
    while number < trace.messages.len() {
        if trace.messages[number].post.is_none() && trace.messages[number].events.is_empty() {
            trace.messages.remove(number);
            for event in &mut trace.events {
                event.message -= usize::from(event.message > number);
                if let Kind::Post(posted) = &mut event.kind {
                    *posted -= usize::from(*posted > number);
                }
            }
        } else {
            number += 1;
        }
    }
    if random.chance(60) {
        change(&mut trace, random);
    }
    forget(&mut trace, random);
    if random.one_in(4) && trace.events.len() > 1 {
        trace.said.push((random.below(trace.events.len()), random.below(trace.events.len())));
    }
    let other = Rules { mailboxes: (0..handlers).map(|_| random.pick(&ALL)).collect(), strict: rules.strict };
    let rules = if random.chance(50) { rules } else { other };
    (trace, rules)
}

/// Leaves open some orders of writes, and what some reads read.
fn forget(trace: &mut Trace, random: &mut Random) {
    if random.chance(50) {
        return;
    }
    for location in 0..trace.coherence.len() {
        if random.chance(60) {
            trace.unknown.orders.push(location);
        }
    }
    for read in 0..trace.events.len() {
        let Kind::Read { location, .. } = trace.events[read].kind else { continue };
        let writes = trace.coherence.get(location).cloned().unwrap_or_default();
        let all: Vec<Option<usize>> = std::iter::once(None).chain(writes.into_iter().map(Some)).collect();
        let some: Vec<Option<usize>> = all.into_iter().filter(|_| random.chance(50)).collect();
        if !some.is_empty() && random.chance(50) {
            trace.unknown.reads.push((read, some));
        }
    }
}

fn change(trace: &mut Trace, random: &mut Random) {
    for _ in 0..random.between(1, 2) {
        if let Some(order) = trace.coherence.iter_mut().filter(|order| order.len() > 1).last()
            && random.chance(50)
        {
            let (one, other) = (random.below(order.len()), random.below(order.len()));
            order.swap(one, other);
        }
        let reads: Vec<usize> =
            (0..trace.events.len()).filter(|&event| matches!(trace.events[event].kind, Kind::Read { .. })).collect();
        if reads.is_empty() {
            continue;
        }
        let read = random.pick(&reads);
        if let Kind::Read { location, from } = &mut trace.events[read].kind {
            let writes = trace.coherence.get(*location).cloned().unwrap_or_default();
            *from = if writes.is_empty() || random.one_in(4) { None } else { Some(random.pick(&writes)) };
        }
    }
}

#[test]
fn random_traces_are_as_brute_force_says() {
    let mut random = Random::new(7);
    let mut outcomes = [0; 2];
    let mut decided_by_search = 0;
    let mut explained = 0;
    let mut open = [0; 2];
    for number in 0..setting("RADDLE_MAILBOX_TRACES", 4_000) {
        let (trace, rules) = if number % 3 == 0 { two_posters(&mut random) } else { random_trace(&mut random) };
        let expected = by_all_runs(&trace, &rules);
        for (probe, greedy) in [(0, false), (0, true), (1000, false), (1000, true)] {
            let limits = Limits { probe, greedy, ..Limits::default() };
            assert_eq!(consistent(&trace, &rules, &limits), expected, "{number} {rules:?}: {trace:?}");
        }
        let limits = Limits { probe: 0, greedy: false, ..Limits::default() };
        let (_, statistics) = solve(&trace, &rules, &limits).expect("a trace");
        decided_by_search += usize::from(statistics.decisions > 0);
        if number % setting("RADDLE_MAILBOX_SAT", 4) == 0 {
            assert_eq!(by_sat(&trace, &rules), expected, "{number} {rules:?}, SAT: {trace:?}");
        }
        outcomes[usize::from(expected)] += 1;
        open[usize::from(expected)] += usize::from(!trace.unknown.is_nothing());
        if !expected && number % 8 == 0 {
            let core = explain(&trace, &rules, &Limits::default()).expect("there is no run");
            assert!(core.minimal, "{number}");
            explained += 1;
        }
    }
    println!(
        "inconsistent and consistent: {outcomes:?}, with something open {open:?}; {decided_by_search} by search; {explained} explained"
    );
    assert!(open.iter().all(|&count| count > 50), "{open:?}");
    assert!(outcomes.iter().all(|&count| count > 100) && decided_by_search > 100, "{outcomes:?} {decided_by_search}");
}

/// Two posters, messages to one or two handlers, and reads that tie some of them together.
fn two_posters(random: &mut Random) -> (Trace, Rules) {
    let mut trace = Trace { handlers: 4, ..Trace::default() };
    let posters = [trace.add_message(0), trace.add_message(1)];
    posters.iter().for_each(|&poster| _ = trace.add(poster, Kind::Get));
    let messages: Vec<usize> = (0..random.between(2, 5)).map(|_| trace.add_message(random.between(2, 3))).collect();
    let mut open = messages.clone();
    while !open.is_empty() {
        let message = open.remove(random.below(open.len()));
        trace.add(random.pick(&posters), Kind::Post(message));
    }
    messages.iter().for_each(|&message| _ = trace.add(message, Kind::Get));
    for location in 0..random.between(0, 4) {
        let (writer, reader) = (random.pick(&messages), random.pick(&messages));
        if writer != reader {
            let write = trace.add(writer, Kind::Write { location });
            trace.add(reader, Kind::Read { location, from: Some(write) });
        }
    }
    let mailboxes = (0..4).map(|_| random.pick(&ALL)).collect();
    (trace, Rules { mailboxes, strict: true })
}

#[test]
fn formulas_become_traces() {
    let signs = |one, other| vec![(0, one), (1, other)];
    let all = vec![signs(true, true), signs(true, false), signs(false, true), signs(false, false)];
    let trace = formula(2, &all);
    assert!(!consistent(&trace, &Rules::all(Mailbox::Queue, &trace), &Limits::default()));
    let mut random = Random::new(8);
    let mut outcomes = [0; 2];
    for number in 0..setting("RADDLE_MAILBOX_TRACES", 4_000) / 200 {
        let variables = random.between(2, 3);
        let clauses: Vec<Vec<(usize, bool)>> = (0..random.between(2, 5))
            .map(|_| {
                let mut left: Vec<usize> = (0..variables).collect();
                let literal = |_| (left.remove(random.below(left.len())), random.chance(50));
                (0..2).map(literal).collect()
            })
            .collect();
        let trace = formula(variables, &clauses);
        let expected = satisfiable(variables, &clauses);
        let found = consistent(&trace, &Rules::all(Mailbox::Queue, &trace), &Limits::default());
        assert_eq!(found, expected, "{number}: {clauses:?}");
        outcomes[usize::from(expected)] += 1;
    }
    println!("unsatisfiable and satisfiable: {outcomes:?}");
    assert!(outcomes[1] > 0, "{outcomes:?}");
}

/// What a run of the machine leaves, as text.
fn as_text(trace: &Trace) -> String {
    let value = |write: usize| format!("v{write}");
    let mut text = String::new();
    for handler in 0..trace.handlers {
        text += &format!("@h{handler}\n");
        for (number, message) in trace.messages.iter().enumerate() {
            if message.handler != handler || message.events.is_empty() {
                continue;
            }
            let word = |&event: &usize| match trace.events[event].kind {
                Kind::Get => format!("get(m{number})"),
                Kind::Post(posted) => format!("post(h{}, m{posted})", trace.messages[posted].handler),
                Kind::Read { location, from } => {
                    format!("read(x{location}, {})", from.map_or("0".into(), value))
                }
                Kind::Write { location } => format!("write(x{location}, {})", value(event)),
            };
            let words: Vec<String> = message.events.iter().map(word).collect();
            text += &format!("{}{{ {} }}\n", if message.open { "open " } else { "" }, words.join(" -> "));
        }
    }
    text += "$(CO)\n";
    let is_known = |location: usize| !trace.unknown.orders.contains(&location);
    for (location, order) in
        trace.coherence.iter().enumerate().filter(|(location, order)| order.len() > 1 && is_known(*location))
    {
        let words: Vec<String> = order.iter().map(|&write| format!("write(x{location}, {})", value(write))).collect();
        text += &format!("{};\n", words.join(" -> "));
    }
    text
}

#[test]
fn traces_that_are_written_down_are_read_as_they_were() {
    let mut random = Random::new(9);
    for number in 0..500 {
        let (mut trace, rules) = random_trace(&mut random);
        // What is said in general cannot be written down, nor are sources of reads that have different values.
        trace.said.clear();
        trace.unknown.reads.clear();
        let text = as_text(&trace);
        let named = read(text.as_bytes(), Some(Format::Text)).unwrap_or_else(|error| panic!("{error}: {text}"));
        // Handlers may get other numbers, those without messages included.
        let mailbox = |name: &String| rules.mailboxes[name[1..].parse::<usize>().expect("a number")];
        let again = Rules { mailboxes: named.handlers.iter().map(mailbox).collect(), strict: rules.strict };
        let found = consistent(&named.trace, &again, &Limits::default());
        let expected = consistent(&trace, &rules, &Limits::default());
        assert_eq!(found, expected, "{number}: {text}");
    }
}

#[test]
fn a_log_is_a_run_of_some_mailbox() {
    let log = "a s get\na s write x\na s post b m\na s post b n\nb n call\nb n load x\nb m call\nb m store x\n";
    let named = read(log.as_bytes(), None).expect("a log");
    // The later post was taken first, and read what the other one overwrites.
    for (mailbox, expected) in [(Mailbox::Queue, false), (Mailbox::Stack, true), (Mailbox::Multiset, true)] {
        let rules = Rules::all(mailbox, &named.trace);
        assert_eq!(consistent(&named.trace, &rules, &Limits::default()), expected, "{mailbox:?}");
        assert_eq!(by_all_runs(&named.trace, &rules), expected, "{mailbox:?}");
    }
}

/// What race detectors write: threads begin with a message of their own, locks keep critical sections in order, what nobody else uses is left out.
#[test]
fn a_log_of_a_race_detector_is_a_run_of_its_queues() {
    let log = "START tid:s\nPOST src:s msg:a dest:m\nPOST src:s msg:b dest:m\nLOOP tid:m\n1 CALL tid:m msg:a\n2 WRITE tid:m obj:1 field:2\n3 WRITE tid:m own:1\nLOCK tid:m lock:l\nUNLOCK tid:m lock:l\nRET tid:m msg:a\nCALL tid:m msg:b\nREAD tid:m obj:1 field:2\nLOCK tid:m lock:l\n";
    let named = read(log.as_bytes(), None).expect("a log of a race detector");
    assert_eq!((named.handlers.len(), named.messages.len()), (2, 3));
    assert!(!named.events.iter().any(|(words, _)| words.contains("own")), "{:?}", named.events);
    assert!(named.trace.messages.iter().any(|message| message.open), "b had not ended");
    for (mailbox, expected) in [(Mailbox::Queue, true), (Mailbox::Stack, true), (Mailbox::Multiset, true)] {
        let rules = Rules::all(mailbox, &named.trace);
        assert_eq!(consistent(&named.trace, &rules, &Limits::default()), expected, "{mailbox:?}");
        assert_eq!(by_all_runs(&named.trace, &rules), expected, "{mailbox:?}");
    }
    // The later post was taken first, and read by the other.
    let late = "POST src:s msg:a dest:m\nPOST src:s msg:b dest:m\nCALL tid:m msg:b\nWRITE tid:m x:1\nRET tid:m msg:b\nCALL tid:m msg:a\nREAD tid:m x:1\nRET tid:m msg:a\n";
    let named = read(late.as_bytes(), None).expect("a log of a race detector");
    for (mailbox, expected) in [(Mailbox::Queue, false), (Mailbox::Stack, true), (Mailbox::Multiset, true)] {
        let rules = Rules::all(mailbox, &named.trace);
        assert_eq!(consistent(&named.trace, &rules, &Limits::default()), expected, "{mailbox:?}");
        assert_eq!(by_all_runs(&named.trace, &rules), expected, "{mailbox:?}");
    }
    // The lock was taken by one and then by the other: not the other way round.
    let order = "FORK par:a child:b\nLOCK tid:b lock:l\nUNLOCK tid:b lock:l\nTHREADEXIT tid:b\nJOIN par:a child:b\nLOCK tid:a lock:l\n";
    let named = read(order.as_bytes(), None).expect("a log");
    assert!(consistent(&named.trace, &Rules::all(Mailbox::Queue, &named.trace), &Limits::default()));
    for (text, message, line) in [
        ("CALL tid:m msg:a\nCALL tid:m msg:b\n", "before the one it is in has ended", 2),
        ("CALL tid:m msg:a\nRET tid:m msg:b\n", "is not in message `b`", 2),
        ("LOOP tid:m\nREAD tid:m x:1\n", "between two messages", 2),
        ("READ tid:m\n", "has no location", 1),
        ("POST src:m dest:n\n", "has no `msg`", 1),
        ("WAIT tid:m\n", "is no event", 1),
    ] {
        let error = read(text.as_bytes(), None).expect_err("no log").to_owned();
        assert!(error.message.contains(message) && error.spot.is_some_and(|spot| spot.line == line), "{error:?}");
    }
}

#[test]
fn many_messages_are_put_in_order_without_a_search() {
    // Everything is posted by one message, or each by its own; the order is free, or each reads what the one before writes, or the one behind.
    const MANY: usize = 300;
    for (posters, reads, expected) in [
        (1, 0, [true; 3]),
        (1, 1, [true, true, true]),
        (1, -1, [false, true, true]),
        (MANY, 0, [true; 3]),
        (MANY, 1, [true; 3]),
        (MANY, -1, [true; 3]),
    ] {
        let mut trace = Trace::default();
        let posters: Vec<usize> = (0..posters).map(|poster| trace.add_message(1 + poster)).collect();
        let messages: Vec<usize> = (0..MANY).map(|_| trace.add_message(0)).collect();
        posters.iter().for_each(|&poster| _ = trace.add(poster, Kind::Get));
        for (at, &message) in messages.iter().enumerate() {
            trace.add(posters[at % posters.len()], Kind::Post(message));
        }
        let mut order: Vec<(usize, usize)> = messages.into_iter().enumerate().collect();
        if reads < 0 {
            order.reverse();
        }
        let mut last = None;
        for (location, message) in order {
            trace.add(message, Kind::Get);
            if let Some((location, write)) = last.filter(|_| reads != 0) {
                trace.add(message, Kind::Read { location, from: Some(write) });
            }
            last = Some((location, trace.add(message, Kind::Write { location })));
        }
        for (mailbox, expected) in ALL.into_iter().zip(expected) {
            let rules = Rules::all(mailbox, &trace);
            let (answer, statistics) = solve(&trace, &rules, &Limits::default()).expect("a trace");
            assert_eq!(matches!(answer, Answer::Consistent(_)), expected, "{} {reads} {mailbox:?}", posters.len());
            assert_eq!((statistics.decisions, statistics.conflicts), (0, 0), "{} {reads} {mailbox:?}", posters.len());
        }
    }
}

#[test]
fn damaged_traces_end_in_an_answer_or_in_a_message_with_a_place() {
    let texts = [
        as_text(&worked_example()),
        as_text(&crossed_posts()),
        "@h\nopen { get(a) -> post(k, b, 3) -> read(x, 0) }\n$(RF)\nwrite(x, 1) -> read(x, 1);\n$(EO) get(a) -> get(b);\n$(MO) post(k, b);".to_owned(),
        "{\"handlers\": [{\"id\": \"h\", \"messages\": [{\"id\": \"m\", \"events\": [{\"get\": \"m\"}, {\"read\": [\"x\", \"1\"]}, {\"write\": [\"x\", \"1\"]}, {\"post\": [\"h\", \"n\"]}], \"open\": false}]}], \"co\": {\"x\": [\"1\"]}, \"rf\": [[\"h/m/2\", \"h/m/1\"]], \"eo\": [], \"mo\": []}".to_owned(),
        "a s get\na s write x\na s post b m\nb m call\nb m load x\nb m open\n".to_owned(),
        "POST src:s msg:a dest:m\nCALL tid:m msg:a\nWRITE tid:m x:1\nFORK par:m child:c\nREAD tid:c x:1\nLOCK tid:c l:1\nRET tid:m msg:a\n".to_owned(),
    ];
    let pieces =
        ["->", "get(", "post(h, ", "@h", "{", "}", "$(CO)", "$(EO)", ";", "open", "\"rf\"", "[[", "get", "call", "#"];
    let mut random = Random::new(10);
    let (mut answers, mut messages) = (0, 0);
    for _ in 0..setting("RADDLE_MAILBOX_DAMAGED", 10_000) {
        let bytes = damaged(&texts, &pieces, &mut random);
        match read(&bytes, None) {
            Ok(named) => {
                let rules = Rules::all(random.pick(&ALL), &named.trace);
                let limits = Limits { conflicts: 10_000, ..Limits::default() };
                solve(&named.trace, &rules, &limits).unwrap_or_else(|error| panic!("{error}: {bytes:?}"));
                answers += 1;
            }
            Err(error) => {
                assert!(error.spot.is_some_and(|spot| spot.line > 0), "{error:?}");
                messages += 1;
            }
        }
    }
    assert!(answers > 100 && messages > 100, "{answers} answers, {messages} messages");
}

/// Values that repeat leave sources open, and orders of writes that nobody gives are sought.
#[test]
fn what_a_text_leaves_open_is_sought() {
    let ask = |text: &str, mailbox| {
        let named = read(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}: {text}"));
        let rules = Rules::all(mailbox, &named.trace);
        let found = consistent(&named.trace, &rules, &Limits::default());
        assert_eq!(found, by_all_runs(&named.trace, &rules), "{text}");
        assert_eq!(found, by_sat(&named.trace, &rules), "{text}");
        (found, named.trace.unknown)
    };
    // Somebody sees 1 and then 2, somebody else 2 and then 1.
    let both =
        "@a\n{ get(m) -> write(x, 1) }\n@b\n{ get(n) -> write(x, 2) }\n@c\n{ get(o) -> read(x, 1) -> read(x, 2) }\n";
    let (found, unknown) = ask(both, Mailbox::Queue);
    assert!(found && unknown.orders == [0]);
    let against = format!("{both}@d\n{{ get(p) -> read(x, 2) -> read(x, 1) }}\n");
    assert!(!ask(&against, Mailbox::Queue).0);
    assert!(!ask(&format!("{both}$(CO) write(x, 2) -> write(x, 1);"), Mailbox::Queue).0);
    // The value is written twice: either of them, unless one is named.
    let twice = "@a\n{ get(m) -> write(x, 1) -> write(x, 2) -> write(x, 1) -> write(y, 1) }\n@b\n{ get(n) -> read(y, 1) -> read(x, 1) }\n";
    let (found, unknown) = ask(twice, Mailbox::Queue);
    assert!(found && unknown.reads.len() == 1 && unknown.reads[0].1.len() == 2);
    assert!(!ask(&format!("{twice}$(RF) a/m/1 -> b/n/2;"), Mailbox::Queue).0);
    assert!(ask(&format!("{twice}$(RF) a/m/3 -> b/n/2;"), Mailbox::Queue).0);
    let json = "{\"handlers\": [{\"id\": \"h\", \"messages\": [{\"id\": \"m\", \"events\": [{\"get\": \"m\"}, {\"write\": [\"x\", \"1\"]}, {\"write\": [\"x\", \"1\"]}]}]}], \"co\": [[\"h/m/2\", \"h/m/1\"]]}";
    assert!(!ask(json, Mailbox::Queue).0);
}

/// A run that grows event by event: what the oracle says of every prefix, and after steps back, is what brute force says.
#[test]
fn an_explorer_is_told_what_brute_force_says() {
    use raddle_consistency::mailbox::{Event, Oracle, Status};
    let mut random = Random::new(12);
    let mut counts = [0; 3];
    for number in 0..setting("RADDLE_MAILBOX_TRACES", 4_000) / 8 {
        let handlers = random.between(1, 3);
        let rules = Rules { mailboxes: (0..handlers).map(|_| random.pick(&ALL)).collect(), strict: true };
        let mut oracle = Oracle::new(rules.clone());
        let mut marks = vec![(oracle.mark(), oracle.trace().clone(), oracle.status())];
        for handler in 0..handlers {
            let message = oracle.add_message(handler);
            oracle.push_event(Event { kind: Kind::Get, message }).expect("it has not begun");
            oracle.add_message(random.below(handlers));
        }
        for _ in 0..random.between(8, 36) {
            let trace = oracle.trace().clone();
            let begun: Vec<usize> = (0..trace.messages.len())
                .filter(|&message| trace.messages[message].open && !trace.messages[message].events.is_empty())
                .collect();
            let idle: Vec<usize> =
                (0..trace.messages.len()).filter(|&message| trace.messages[message].events.is_empty()).collect();
            let location = random.below(2);
            let writes = trace.coherence.get(location).cloned().unwrap_or_default();
            let source = |random: &mut Random| {
                if writes.is_empty() || random.one_in(3) { None } else { Some(random.pick(&writes)) }
            };
            match random.below(8) {
                0 if trace.messages.len() < 7 => _ = oracle.add_message(random.below(handlers)),
                1 if !idle.is_empty() && trace.events.len() < 14 => {
                    let message = random.pick(&idle);
                    oracle.push_event(Event { kind: Kind::Get, message }).expect("it has not begun");
                }
                2 if !begun.is_empty() => _ = oracle.end_message(random.pick(&begun)).expect("it has begun"),
                3 if !trace.events.is_empty() => {
                    let reads: Vec<(usize, usize)> = (0..trace.events.len())
                        .filter_map(|event| match trace.events[event].kind {
                            Kind::Read { location, .. } => Some((event, location)),
                            _ => None,
                        })
                        .collect();
                    if let Some(&(read, location)) = reads.first() {
                        let writes = trace.coherence.get(location).cloned().unwrap_or_default();
                        let from = if writes.is_empty() { None } else { Some(random.pick(&writes)) };
                        oracle.set_rf(read, from).expect("a write of the location");
                    } else if writes.len() > 1 {
                        oracle.insert_co(random.pick(&writes), random.below(writes.len())).expect("a place");
                    }
                }
                _ if begun.is_empty() || trace.events.len() >= 14 => {}
                choice => {
                    let message = random.pick(&begun);
                    let unposted: Vec<usize> =
                        idle.iter().copied().filter(|&message| trace.messages[message].post.is_none()).collect();
                    let kind = match choice {
                        4 | 5 if !unposted.is_empty() => Kind::Post(random.pick(&unposted)),
                        4 | 6 => Kind::Write { location },
                        _ => Kind::Read { location, from: source(&mut random) },
                    };
                    oracle.push_event(Event { kind, message }).expect("it fits");
                }
            }
            if random.one_in(6) {
                let at = random.below(marks.len());
                let (mark, trace, status) = &marks[at];
                oracle.backtrack(*mark);
                assert_eq!(
                    (oracle.trace(), oracle.status() == Status::Inconsistent),
                    (trace, *status == Status::Inconsistent),
                    "{number}"
                );
                marks.truncate(at + 1);
            }
            marks.push((oracle.mark(), oracle.trace().clone(), oracle.status()));
            // What nobody posts or takes is not there yet.
            let mut now = oracle.trace().clone();
            let mut at = 0;
            while at < now.messages.len() {
                if now.messages[at].post.is_none() && now.messages[at].events.is_empty() {
                    now.messages.remove(at);
                    for event in &mut now.events {
                        event.message -= usize::from(event.message > at);
                        if let Kind::Post(posted) = &mut event.kind {
                            *posted -= usize::from(*posted > at);
                        }
                    }
                } else {
                    at += 1;
                }
            }
            let expected = by_all_runs(&now, &rules);
            let status = oracle.status();
            match status {
                Status::Consistent => assert!(expected, "{number} {rules:?}: {now:?}"),
                Status::Inconsistent => assert!(!expected, "{number} {rules:?}: {now:?}"),
                Status::Undecided => {
                    let answer = oracle.check(&Limits::default()).expect("a trace");
                    assert_eq!(matches!(answer, Answer::Consistent(_)), expected, "{number} {rules:?}: {now:?}");
                }
            }
            counts[status as usize] += 1;
        }
    }
    println!("consistent, inconsistent and undecided: {counts:?}");
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}
