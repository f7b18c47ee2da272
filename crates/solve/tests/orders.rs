//! The theory of orders against all orders of a few nodes.

use raddle_solve::{Answer, Event, EventId, Lit, NodeId, Orders, Sat, Stop, Watcher};
use raddle_testkit::Random;

/// Nodes with events, the program order of threads, and who reads from whom.
#[derive(Debug)]
struct Case {
    nodes: usize,
    events: Vec<Event>,
    writes: Vec<bool>,
    edges: Vec<(u32, u32)>,
    /// By read, the write it reads from.
    reads: Vec<(usize, usize)>,
}

fn case(random: &mut Random) -> Case {
    let nodes = random.between(3, 6);
    let threads = random.between(2, 3);
    let (mut events, mut writes, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = vec![0u32; threads];
    // Node 0 writes both locations before all others.
    for location in 0..2 {
        events.push(Event { node: NodeId(0), position: location, location });
        writes.push(true);
    }
    for node in 1..nodes as u32 {
        let thread = random.below(threads);
        edges.push((last[thread], node));
        last[thread] = node;
        for _ in 0..random.between(1, 2) {
            let (position, location) = (events.len() as u32, random.below_u32(2));
            events.push(Event { node: NodeId(node), position, location });
            writes.push(random.chance(50));
        }
    }
    let mut reads = Vec::new();
    for read in (0..events.len()).filter(|&event| !writes[event]) {
        let fitting: Vec<usize> = (0..events.len())
            .filter(|&write| writes[write] && events[write].location == events[read].location)
            .collect();
        reads.push((read, random.pick(&fitting)));
    }
    Case { nodes, events, writes, edges, reads }
}

/// Whether there is an order of the nodes in which every read finds its write.
fn has_order(case: &Case) -> bool {
    fn extend(case: &Case, order: &mut Vec<u32>) -> bool {
        if order.len() == case.nodes {
            let mut last = [usize::MAX; 2];
            for &node in order.iter() {
                for event in (0..case.events.len()).filter(|&event| case.events[event].node.0 == node) {
                    let location = case.events[event].location as usize;
                    if case.writes[event] {
                        last[location] = event;
                    } else if case.reads.iter().any(|&(read, write)| read == event && last[location] != write) {
                        return false;
                    }
                }
            }
            return true;
        }
        for node in 0..case.nodes as u32 {
            let ready = case.edges.iter().all(|&(from, to)| to != node || order.contains(&from));
            if ready && !order.contains(&node) {
                order.push(node);
                if extend(case, order) {
                    return true;
                }
                order.pop();
            }
        }
        false
    }
    extend(case, &mut Vec::new())
}

/// The orders of a case, with a literal for every read and every write.
fn orders(case: &Case, sat: &mut Sat) -> (Orders, Vec<Lit>) {
    let mut orders = Orders::new(case.nodes, case.events.clone());
    let mut lits = Vec::new();
    for &(from, to) in &case.edges {
        orders.edge(Lit::TRUE, NodeId(from), NodeId(to));
    }
    for event in (0..case.events.len()).filter(|&event| case.writes[event]) {
        let lit = sat.var();
        orders.done(lit, EventId(event as u32));
        lits.push(lit);
    }
    for &(read, write) in &case.reads {
        let lit = sat.var();
        orders.reads(lit, EventId(write as u32), EventId(read as u32));
        lits.push(lit);
    }
    (orders, lits)
}

#[test]
fn contradictions_are_real_and_with_all_writes_ordered_there_are_no_others() {
    let (mut possible, mut impossible, mut weak) = (0, 0, 0);
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let case = case(&mut random);
        let really = has_order(&case);
        let mut sat = Sat::new(Stop::new());
        let (orders, mut lits) = orders(&case, &mut sat);
        // In whatever order literals come, the answer is the same, and what explains it is a contradiction by itself.
        let mut answers = Vec::new();
        for _ in 0..3 {
            let mut own = orders.clone();
            for at in (1..lits.len()).rev() {
                lits.swap(at, random.below(at + 1));
            }
            let result = lits.iter().try_for_each(|&lit| own.hold(lit));
            if let Err(why) = &result {
                assert!(why.iter().all(|lit| lits.contains(lit)));
                let mut fresh = orders.clone();
                assert!(why.iter().try_for_each(|&lit| fresh.hold(lit)).is_err(), "seed {seed}: {case:?}");
            }
            answers.push(result.is_ok());
        }
        assert!(answers.iter().all(|&answer| answer == answers[0]), "seed {seed}: {answers:?} {case:?}");
        assert!(answers[0] || !really, "seed {seed}: there is an order: {case:?}");
        // With all writes in some order, chosen by a solver.
        for search in [true, false] {
            let mut orders = orders.clone();
            for one in 0..case.events.len() {
                for other in one + 1..case.events.len() {
                    let (a, b) = (case.events[one], case.events[other]);
                    if case.writes[one] && case.writes[other] && a.location == b.location && a.node != b.node {
                        let lit = sat.var();
                        orders.before_if(lit, EventId(one as u32), EventId(other as u32));
                        orders.before_if(!lit, EventId(other as u32), EventId(one as u32));
                    }
                }
            }
            let mut sat = Sat::new(Stop::new());
            for _ in 0..200 {
                sat.var();
            }
            let _watcher = Watcher::new(&mut sat, orders, search);
            let expected = if really { Answer::Sat } else { Answer::Unsat };
            assert_eq!(sat.solve(&lits), expected, "seed {seed}, search {search}: {case:?}");
        }
        possible += u32::from(really);
        impossible += u32::from(!really);
        weak += u32::from(answers[0] && !really);
    }
    println!("{possible} possible, {impossible} impossible, {weak} of these by the order of writes only");
    assert!(possible > 400 && impossible > 400, "{possible} {impossible}");
}

#[test]
fn what_is_taken_back_is_gone() {
    let mut compared = 0;
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let case = case(&mut random);
        let mut sat = Sat::new(Stop::new());
        let (orders, lits) = orders(&case, &mut sat);
        let mut own = orders.clone();
        let mut held: Vec<Lit> = Vec::new();
        for _ in 0..30 {
            if random.one_in(3) && !held.is_empty() {
                let to = random.below(held.len());
                held.truncate(to);
                own.undo_to(to);
            } else {
                let lit = random.pick(&lits);
                let mut fresh = orders.clone();
                let before = held.iter().try_for_each(|&lit| fresh.hold(lit));
                assert!(before.is_ok(), "seed {seed}");
                assert_eq!(own.hold(lit).is_ok(), fresh.hold(lit).is_ok(), "seed {seed}");
                if own.len() > held.len() {
                    held.push(lit);
                    compared += 1;
                }
                for one in 0..case.nodes as u32 {
                    for other in 0..case.nodes as u32 {
                        let (one, other) = (NodeId(one), NodeId(other));
                        assert_eq!(own.is_before(one, other), fresh.is_before(one, other), "seed {seed}");
                    }
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

/// `x=1; read y=2`, `y=1` and `y=2; read y=1; read x=0`: that the last read comes before the first write has to be derived before anything follows for `y`. Whatever is said in which order, one pass over the axioms is not enough.
#[test]
fn derivation_goes_on_until_nothing_new_follows() {
    let at = |node: u32, position: u32, location: u32| Event { node: NodeId(node), position, location };
    let (x, y) = (0, 1);
    let events =
        [at(0, 0, x), at(0, 1, y), at(1, 2, x), at(2, 3, y), at(3, 4, y), at(4, 5, y), at(5, 6, y), at(6, 7, x)];
    let mut sat = Sat::new(Stop::new());
    let lits: Vec<Lit> = (0..6).map(|_| sat.var()).collect();
    let mut orders = Orders::new(7, events.to_vec());
    for (from, to) in [(1, 2), (4, 5), (5, 6)].into_iter().chain((1..7).map(|node| (0, node))) {
        orders.edge(Lit::TRUE, NodeId(from), NodeId(to));
    }
    orders.done(Lit::TRUE, EventId(0));
    orders.done(Lit::TRUE, EventId(1));
    orders.reads(lits[0], EventId(5), EventId(3));
    orders.reads(lits[1], EventId(4), EventId(6));
    orders.reads(lits[2], EventId(0), EventId(7));
    for (lit, write) in [(lits[3], 2), (lits[4], 4), (lits[5], 5)] {
        orders.done(lit, EventId(write));
    }
    let mut said = vec![(Vec::new(), lits)];
    while let Some((held, left)) = said.pop() {
        if left.is_empty() {
            orders.undo_to(0);
            let refuted = held.iter().any(|&lit| orders.hold(lit).is_err());
            assert!(refuted, "{held:?}");
        }
        for (at, &next) in left.iter().enumerate() {
            let more: Vec<Lit> = held.iter().copied().chain([next]).collect();
            let rest: Vec<Lit> = left[..at].iter().chain(&left[at + 1..]).copied().collect();
            said.push((more, rest));
        }
    }
}

/// What is before what, by the definition: the axioms, applied one after the other until nothing changes. `None` if something is before itself.
fn closure(case: &Case) -> Option<Vec<Vec<bool>>> {
    let mut before = vec![vec![false; case.nodes]; case.nodes];
    let node = |event: usize| case.events[event].node.0 as usize;
    let earlier = |before: &[Vec<bool>], one: usize, other: usize| match node(one) == node(other) {
        true => case.events[one].position < case.events[other].position,
        false => before[node(one)][node(other)],
    };
    let mut orders: Vec<(usize, usize)> = Vec::new();
    case.edges.iter().for_each(|&(from, to)| before[from as usize][to as usize] = true);
    case.reads.iter().for_each(|&(read, write)| orders.push((write, read)));
    loop {
        let old = before.clone();
        for (one, other) in orders.drain(..) {
            match node(one) == node(other) {
                true if case.events[one].position > case.events[other].position => return None,
                true => {}
                false => before[node(one)][node(other)] = true,
            }
        }
        for middle in 0..case.nodes {
            for from in 0..case.nodes {
                for to in 0..case.nodes {
                    before[from][to] |= before[from][middle] && before[middle][to];
                }
            }
        }
        for &(read, write) in &case.reads {
            let rivals = (0..case.events.len()).filter(|&other| {
                other != write && case.writes[other] && case.events[other].location == case.events[read].location
            });
            for other in rivals {
                if earlier(&before, other, read) {
                    orders.push((other, write));
                }
                if earlier(&before, write, other) {
                    orders.push((read, other));
                }
            }
        }
        if (0..case.nodes).any(|at| before[at][at]) {
            return None;
        }
        let settled = orders.iter().all(|&(one, other)| earlier(&before, one, other));
        if before == old && settled {
            return Some(before);
        }
    }
}

/// Neither more nor less follows than the definition says, whatever is said last.
#[test]
fn what_follows_is_what_the_axioms_say() {
    let (mut contradictory, mut orders_met) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let case = large_case(&mut random);
        let mut sat = Sat::new(Stop::new());
        let (mut orders, mut lits) = orders(&case, &mut sat);
        for at in (1..lits.len()).rev() {
            lits.swap(at, random.below(at + 1));
        }
        let held = lits.iter().try_for_each(|&lit| orders.hold(lit)).is_ok();
        let Some(before) = closure(&case) else {
            assert!(!held, "seed {seed}: {case:?}");
            contradictory += 1;
            continue;
        };
        assert!(held, "seed {seed}: {case:?}");
        for (one, row) in (0..).map(NodeId).zip(&before) {
            for (other, &is) in (0..).map(NodeId).zip(row) {
                assert_eq!(orders.is_before(one, other), is, "seed {seed}: {one:?} {other:?} {case:?}");
                orders_met += u32::from(is);
            }
        }
    }
    println!("{contradictory} contradictory, {orders_met} orders");
    assert!(contradictory > 200 && orders_met > 10_000, "{contradictory} {orders_met}");
}

/// Most cases of this size contradict themselves if reads read from anywhere; so each reads from what was last in some order of the nodes, but for a few.
fn large_case(random: &mut Random) -> Case {
    let (threads, locations) = (random.between(2, 4), random.between(2, 4) as u32);
    let mut case = Case { nodes: 1, events: Vec::new(), writes: Vec::new(), edges: Vec::new(), reads: Vec::new() };
    let mut last = vec![0u32; threads];
    let mut latest = vec![0; locations as usize];
    for location in 0..locations {
        case.events.push(Event { node: NodeId(0), position: location, location });
        case.writes.push(true);
        latest[location as usize] = location as usize;
    }
    for _ in 0..random.between(4, 14) {
        let (thread, node) = (random.below(threads), case.nodes as u32);
        case.nodes += 1;
        case.edges.push((last[thread], node));
        last[thread] = node;
        for _ in 0..random.between(1, 2) {
            let (event, location) = (case.events.len(), random.below_u32(locations));
            case.events.push(Event { node: NodeId(node), position: event as u32, location });
            case.writes.push(random.chance(50));
            match case.writes[event] {
                true => latest[location as usize] = event,
                false => case.reads.push((event, latest[location as usize])),
            }
        }
    }
    for at in 0..case.reads.len() {
        if random.one_in(12) {
            let read = case.reads[at].0;
            let same = |&write: &usize| case.writes[write] && case.events[write].location == case.events[read].location;
            let fitting: Vec<usize> = (0..case.events.len()).filter(same).collect();
            case.reads[at].1 = random.pick(&fitting);
        }
    }
    case
}

impl Case {
    fn node_behind(&mut self, before: &[u32]) -> u32 {
        let node = self.nodes as u32;
        self.nodes += 1;
        self.edges.extend(before.iter().map(|&from| (from, node)));
        node
    }

    fn event(&mut self, node: u32, location: u32, writes: bool) -> usize {
        let position = self.events.len() as u32;
        self.events.push(Event { node: NodeId(node), position, location });
        self.writes.push(writes);
        self.events.len() - 1
    }
}

/// A node that sees the flag comes before two chains. In each, the first read is behind a write that it does not read from, so that is before the one that it does, so the same holds of the next read, and so on;
/// and the last written of each chain is before all of the other chain's overwritten ones. The flag is what is read last.
fn chains(length: u32) -> Case {
    let mut case = Case { nodes: 0, events: Vec::new(), writes: Vec::new(), edges: Vec::new(), reads: Vec::new() };
    let flag = case.node_behind(&[]);
    let raised = case.event(flag, 0, true);
    let sees = case.node_behind(&[]);
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    for chain in 0..2 {
        let (mut asks, mut next, mut last) = (case.node_behind(&[sees]), flag, flag);
        for location in (1..=length).map(|nth| chain * length + nth) {
            let overwritten = case.node_behind(&[]);
            case.edges.push((overwritten, next));
            case.event(overwritten, location, true);
            next = overwritten;
            let read = case.event(asks, location, false);
            last = case.node_behind(&[]);
            let write = case.event(last, location, true);
            case.reads.push((read, write));
            asks = case.node_behind(&[last]);
        }
        firsts.push(next);
        lasts.push(last);
    }
    case.edges.extend([(lasts[0], firsts[1]), (lasts[1], firsts[0])]);
    let read = case.event(sees, 0, false);
    case.reads.push((read, raised));
    case
}

/// One thing is said last, and each order that follows from it is because of the one before: as many rounds as a chain is long.
#[test]
fn a_long_chain_of_derivations_is_followed_to_its_end() {
    for length in 2..8 {
        let case = chains(length);
        assert!(closure(&case).is_none());
        let mut sat = Sat::new(Stop::new());
        let (mut orders, lits) = orders(&case, &mut sat);
        let (&last, before) = lits.split_last().expect("the flag is read");
        assert!(before.iter().all(|&lit| orders.hold(lit).is_ok()), "{length}");
        assert!(orders.hold(last).is_err(), "{length}");
    }
}
