//! In which order the instructions of a function are unrolled.
//!
//! A function is unrolled so that ways through it which meet again are there together when they meet: loops turn by turn, what is behind a loop
//! after all of its turns, and inside of a turn in reverse postorder. None of this matters for what is found, only for how much is unrolled twice.

use raddle_machine::Code;
use raddle_machine::code::Pc;
use raddle_program::FuncId;
use rustc_hash::FxHashMap;

/// Which way a function is unrolled.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// The position of an instruction in the order.
    position: FxHashMap<Pc, u32>,
    /// The heads of the loops around an instruction, the outermost first.
    loops: FxHashMap<Pc, Vec<Pc>>,
    /// How many ways lead to an instruction.
    ways: FxHashMap<Pc, u32>,
    back: rustc_hash::FxHashSet<(Pc, Pc)>,
}

/// Where control goes within a function.
pub(crate) fn successors(code: &Code, pc: Pc) -> Vec<Pc> {
    let mut all = Vec::new();
    code.successors(pc, &mut |to| all.push(to));
    all
}

impl Shape {
    pub(super) fn new(code: &Code, function: FuncId) -> Shape {
        let entry = code.function(function).entry;
        let mut shape = Shape::default();
        // Depth first: what is on the way, with what is left to follow.
        let mut on_way: rustc_hash::FxHashSet<Pc> = [entry].into_iter().collect();
        let mut seen = on_way.clone();
        let mut way = vec![(entry, successors(code, entry))];
        let mut postorder = Vec::new();
        let mut before: FxHashMap<Pc, Vec<Pc>> = FxHashMap::default();
        while let Some((pc, left)) = way.last_mut() {
            let pc = *pc;
            let Some(next) = left.pop() else {
                on_way.remove(&pc);
                postorder.push(pc);
                way.pop();
                continue;
            };
            before.entry(next).or_default().push(pc);
            *shape.ways.entry(next).or_default() += 1;
            if on_way.contains(&next) {
                shape.back.insert((pc, next));
            }
            if seen.insert(next) {
                on_way.insert(next);
                way.push((next, successors(code, next)));
            }
        }
        shape.position = postorder.iter().rev().copied().zip(0..).collect();
        shape.find_loops(&before);
        shape
    }

    fn find_loops(&mut self, before: &FxHashMap<Pc, Vec<Pc>>) {
        let mut heads: Vec<Pc> = self.back.iter().map(|edge| edge.1).collect();
        heads.sort_unstable();
        heads.dedup();
        let mut bodies: Vec<(usize, Pc, Vec<Pc>)> = Vec::new();
        for head in heads {
            let mut body: rustc_hash::FxHashSet<Pc> = [head].into_iter().collect();
            let mut todo: Vec<Pc> = self.back.iter().filter(|edge| edge.1 == head).map(|edge| edge.0).collect();
            while let Some(pc) = todo.pop() {
                if body.insert(pc) {
                    todo.extend(before.get(&pc).into_iter().flatten());
                }
            }
            bodies.push((body.len(), head, body.into_iter().collect()));
        }
        bodies.sort_unstable_by_key(|body| (std::cmp::Reverse(body.0), body.1));
        for (_, head, body) in bodies {
            for pc in body {
                self.loops.entry(pc).or_default().push(head);
            }
        }
    }

    /// The loops around an instruction, the outermost first, by their heads.
    pub(super) fn loops(&self, pc: Pc) -> &[Pc] {
        self.loops.get(&pc).map_or(&[], Vec::as_slice)
    }

    /// Whether this leads back to the head of a loop.
    pub(super) fn leads_back(&self, from: Pc, to: Pc) -> bool {
        self.back.contains(&(from, to))
    }

    /// Whether several ways lead to an instruction.
    pub(super) fn is_meeting(&self, pc: Pc) -> bool {
        self.ways.get(&pc).is_some_and(|&ways| ways > 1)
    }

    /// The position of an instruction.
    pub(super) fn position(&self, pc: Pc) -> u32 {
        self.position.get(&pc).copied().unwrap_or(u32::MAX)
    }
}
