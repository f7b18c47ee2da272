//! Random problems against a search of all sequences.

use super::*;
use crate::interrupt::Never;
use crate::values::{NONE, Op};
use raddle_testkit::Random;
use rustc_hash::FxHashSet;

/// What each thread does: a location, whether it reads, whether it writes.
type Shape = Vec<Vec<(u32, bool, bool)>>;

/// An problem with sources at random.
fn problem(shape: &Shape, edges: &[(u32, u32)], random: &mut Random) -> Problem {
    let mut problem = Problem::default();
    problem.clear();
    let flat: Vec<(u32, bool, bool)> = shape.concat();
    let mut number = 0;
    for thread in shape {
        for &(loc, reads, writes) in thread {
            let mut good = (0, 0);
            if reads {
                let all =
                    flat.iter().enumerate().filter(|&(at, event)| event.2 && event.0 == loc && at as u32 != number);
                let mut sources: Vec<u32> = all.map(|(at, _)| at as u32).collect();
                sources.push(INIT);
                let start = problem.good.len() as u32;
                problem.good.push(sources[random.below_u32(sources.len() as u32) as usize]);
                good = (start, start + 1);
            }
            problem.push(Op { loc, reads, writes, after: NONE, good });
            number += 1;
        }
        problem.end_thread();
    }
    problem.edges.extend_from_slice(edges);
    problem
}

/// All sequences, by position vectors with what is in memory.
fn by_hand(
    problem: &Problem,
    done: &mut Vec<u32>,
    memory: &mut Vec<u32>,
    dead: &mut FxHashSet<(Vec<u32>, Vec<u32>)>,
) -> bool {
    let threads = problem.threads();
    if (0..threads).all(|thread| problem.starts[thread] + done[thread] == problem.starts[thread + 1]) {
        return true;
    }
    if dead.contains(&(done.clone(), memory.clone())) {
        return false;
    }
    for thread in 0..threads {
        let event = problem.starts[thread] + done[thread];
        if event == problem.starts[thread + 1] {
            continue;
        }
        let is_done = |other: u32| {
            let thread = problem.thread(other);
            other < problem.starts[thread] + done[thread]
        };
        let op = problem.ops[event as usize];
        let late = problem.edges.iter().any(|&(a, b)| b == event && !is_done(a));
        if late || (op.reads && memory[op.loc as usize] != problem.good(event)[0]) {
            continue;
        }
        let old = memory[op.loc as usize];
        if op.writes {
            memory[op.loc as usize] = event;
        }
        done[thread] += 1;
        if by_hand(problem, done, memory, dead) {
            return true;
        }
        done[thread] -= 1;
        memory[op.loc as usize] = old;
    }
    dead.insert((done.clone(), memory.clone()));
    false
}

fn is_possible(problem: &Problem) -> bool {
    let (mut done, mut memory) = (vec![0; problem.threads()], vec![INIT; problem.locations]);
    by_hand(problem, &mut done, &mut memory, &mut FxHashSet::default())
}

/// Holds an problem against the search by hand. Returns whether there is a sequence.
fn check(problem: &Problem) -> bool {
    let sequence: Vec<u32> = (0..problem.len() as u32).collect();
    let found = Realiser::default().realise(problem, &sequence, &Never).expect("nobody interrupts");
    assert_eq!(found.is_some(), is_possible(problem), "{problem:?}");
    if let Some(found) = &found {
        assert_eq!(found.len(), problem.len());
        let place = |of: u32| found.iter().position(|&event| event == of);
        assert!(problem.edges.iter().all(|&(a, b)| place(a) < place(b)), "{problem:?}");
    }
    found.is_some()
}

/// Checks so many shapes, and that both answers are met.
fn check_all(count: u32, seed: u64, mut shape: impl FnMut(&mut Random) -> Shape) {
    let mut random = Random::new(seed);
    let mut possible = 0;
    for _ in 0..count {
        let shape = shape(&mut random);
        possible += u32::from(check(&problem(&shape, &[], &mut random)));
    }
    assert!(possible > count / 50 && possible < count - count / 50, "{possible} of {count}");
}

/// Up to `most` accesses to the locations `first` and the next one.
fn thread(random: &mut Random, most: u32, first: u32) -> Vec<(u32, bool, bool)> {
    let mut events = Vec::new();
    for _ in 0..1 + random.below_u32(most) {
        let loc = first + random.below_u32(2);
        events.push(match random.below_u32(5) {
            0 | 1 => (loc, true, false),
            2 | 3 => (loc, false, true),
            _ => (loc, true, true),
        });
    }
    events
}

/// Told to stop from the start.
struct Now;

impl Interrupt for Now {
    fn is_due(&self) -> bool {
        true
    }
}

/// Two threads that write and read the same location, which leaves much open.
fn long(count: u32) -> (Problem, Vec<u32>) {
    let mut problem = Problem::default();
    problem.clear();
    for thread in 0..2 {
        for turn in 0..count {
            problem.push(Op { loc: 0, reads: false, writes: true, after: NONE, good: (0, 0) });
            problem.good.push(thread * 2 * count + 2 * turn);
            let good = (problem.good.len() as u32 - 1, problem.good.len() as u32);
            problem.push(Op { loc: 0, reads: true, writes: false, after: NONE, good });
        }
        problem.end_thread();
    }
    let sequence = (0..4 * count).collect();
    (problem, sequence)
}

#[test]
fn a_question_is_interrupted() {
    let (problem, sequence) = long(40);
    assert_eq!(Realiser::default().realise(&problem, &sequence, &Now), Err(Interrupted));
    assert_eq!(Realiser::default().certain(&problem, &sequence, &Now).map(|order| order.is_some()), Err(Interrupted));
    assert!(Realiser::default().realise(&problem, &sequence, &Never).is_ok_and(|found| found.is_some()));
}

#[test]
fn pairs_of_threads() {
    check_all(4_000, 1, |random| (0..2).map(|_| thread(random, 5, 0)).collect());
}

#[test]
fn chains_of_threads() {
    // Thread `i` shares location `i` with the one before and `i + 1` with the one after.
    check_all(4_000, 2, |random| (0..4).map(|i| thread(random, 3, i)).collect());
}

#[test]
fn threads_that_share_everything() {
    check_all(6_000, 3, |random| (0..3 + random.below_u32(2)).map(|_| thread(random, 3, 0)).collect());
}

/// Four threads in a ring: two pairs share a location each, and between the pairs the order is given.
fn ring(random: &mut Random) -> Problem {
    let mut shape: Shape = Vec::new();
    for thread in 0..4 {
        let read = random.below_u32(4);
        shape.push((0..3).map(|at| (thread / 2, at == read, at != read)).collect());
    }
    let mut edges = Vec::new();
    for (p, q) in [(1, 2), (3, 0)] {
        edges.push((3 * p + random.below_u32(3), 3 * q + random.below_u32(3)));
        if random.below_u32(2) == 0 {
            edges.push((3 * q + random.below_u32(3), 3 * p + random.below_u32(3)));
        }
    }
    problem(&shape, &edges, random)
}

#[test]
fn rings_need_composed_clauses() {
    let mut random = Random::new(4);
    let (mut possible, mut solved, mut cyclic) = (0, 0, 0);
    for _ in 0..30_000 {
        let problem = ring(&mut random);
        possible += u32::from(check(&problem));
        let mut realiser = Realiser::default();
        let sequence: Vec<u32> = (0..problem.len() as u32).collect();
        let Ok(true) = realiser.start(&problem, &sequence, &mut Watch::new(&Never, STEPS)) else { continue };
        let open = realiser.open(&problem);
        if open.is_empty() || realiser.architecture(&open).cycle().is_some() {
            continue;
        }
        solved += 1;
        assert!(clauses::decide(&problem, &mut realiser.order.clone(), &open).is_ok(), "{problem:?}");
        cyclic += u32::from(clauses::decide_as_published(&problem, &mut realiser.order, &open).is_err());
    }
    assert!(possible > 500, "{possible} are possible");
    assert!(solved > 500, "{solved} are left to clauses");
    assert!(cyclic > 0, "the published clauses accept no cycle");
}
