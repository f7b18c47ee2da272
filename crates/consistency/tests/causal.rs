//! The verifiers of release-acquire and RC11 against all orders of writes, by definitions that are written down here a second time: with relations, without clocks and
//! without blocks.
//!
//! The big sweep, so many instances per model:
//!
//! ```text
//! RADDLE_INSTANCES=100000 cargo test --release -p raddle-consistency --test causal -- --nocapture
//! ```

mod common;

use raddle_consistency::{
    Action, Answer, EventId, Instance, Loc, Malformed, Model, Settings, Source, ThreadId, Verifier, explain, verify,
};
use raddle_testkit::Random;
use raddle_trace::{Matrix, Ordering};

/// The events of an instance with what the definitions speak of.
struct Relations<'i> {
    instance: &'i Instance,
    events: Vec<(EventId, Action)>,
    po: Matrix,
    rf: Matrix,
    hb: Matrix,
}

impl<'i> Relations<'i> {
    fn new(instance: &'i Instance, model: Model) -> Self {
        let events: Vec<(EventId, Action)> = instance.events().collect();
        let size = events.len();
        let number = |id: EventId| events.iter().position(|&(other, _)| other == id).expect("it is one");
        let spawn = |child: ThreadId| events.iter().position(|&(_, action)| action == Action::Spawn { child });
        let neighbours = Matrix::of(size, |a, b| {
            let ((first, did), (second, does)) = (events[a], events[b]);
            let starts = did == Action::Spawn { child: second.thread };
            let ends = does == Action::Join { child: first.thread };
            // The start of a thread without events is before its end.
            let both = matches!((did, does), (Action::Spawn { child: a }, Action::Join { child: b }) if a == b);
            first.thread == second.thread && first.index < second.index || starts || ends || both
        });
        let _ = spawn;
        let po = neighbours.closure();
        let rf = Matrix::of(size, |a, b| events[b].1.source() == Some(Source::Write(events[a].0)));
        let order = |event: usize| instance.order(events[event].0);
        let on = |is_in: &dyn Fn(usize) -> bool| Matrix::on(size, is_in);
        let _ = number;
        let hb = if model == Model::Rc11 {
            let fence = |event: usize| matches!(events[event].1, Action::Fence | Action::StoreFence | Action::Note);
            let reads = |event: usize| events[event].1.source().is_some();
            let writes = |event: usize| events[event].1.writes();
            let atomic = |event: usize| order(event) != Ordering::NonAtomic;
            // An update is one event here, so that reading from it and being it is a step of a release sequence.
            let continued = rf.then(&on(&|event| reads(event) && writes(event)));
            let sequence = on(&|event| writes(event) && atomic(event)).then(&continued.closure().or_same());
            let releasing = on(&|event| (writes(event) || fence(event)) && order(event).releases());
            let acquiring = on(&|event| (reads(event) || fence(event)) && order(event).acquires());
            let read = on(&|event| reads(event) && atomic(event));
            let from = releasing.then(&on(&fence).then(&po).or_same());
            let to = po.then(&on(&fence)).or_same().then(&acquiring);
            po.or(&from.then(&sequence).then(&rf).then(&read).then(&to)).closure()
        } else {
            po.or(&rf).closure()
        };
        Relations { instance, events, po, rf, hb }
    }

    fn same(&self, a: usize, b: usize) -> bool {
        self.events[a].1.loc().is_some() && self.events[a].1.loc() == self.events[b].1.loc()
    }

    /// Whether some order of writes is consistent; `None` if there are too many.
    fn is_consistent(&self, model: Model) -> Option<bool> {
        if !self.po.or(&self.rf).is_acyclic() {
            return Some(false);
        }
        let size = self.events.len();
        let updates: Vec<usize> =
            (0..size).filter(|&event| matches!(self.events[event].1, Action::Update { .. })).collect();
        let single = |&a: &usize| {
            updates
                .iter()
                .all(|&b| a == b || !self.same(a, b) || self.events[a].1.source() != self.events[b].1.source())
        };
        if !updates.iter().all(single) {
            return Some(false);
        }
        if model == Model::Wra {
            return Some(!(0..size).any(|read| self.is_hidden(read)));
        }
        let locations: Vec<Loc> = {
            let mut all: Vec<Loc> = self
                .events
                .iter()
                .filter(|(_, action)| action.writes())
                .filter_map(|(_, action)| action.loc())
                .collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let writes = |loc: Loc| -> Vec<usize> {
            (0..size)
                .filter(|&event| self.events[event].1.writes() && self.events[event].1.loc() == Some(loc))
                .collect()
        };
        let orders: Vec<Vec<Vec<usize>>> = locations.iter().map(|&loc| permutations(&writes(loc))).collect();
        if orders.iter().map(Vec::len).product::<usize>() > 800 {
            return None;
        }
        let mut at = vec![0; orders.len()];
        loop {
            let chosen: Vec<&[usize]> = orders.iter().zip(&at).map(|(orders, &at)| orders[at].as_slice()).collect();
            if self.holds(model, &chosen) {
                return Some(true);
            }
            let Some(digit) = (0..at.len()).find(|&digit| at[digit] + 1 < orders[digit].len()) else {
                return Some(false);
            };
            at[digit] += 1;
            at[..digit].fill(0);
        }
    }

    fn is_hidden(&self, read: usize) -> bool {
        let Some(source) = self.events[read].1.source() else { return false };
        (0..self.events.len()).any(|write| {
            let overwritten = match source {
                Source::Initial => true,
                Source::Write(id) => {
                    (0..self.events.len()).any(|w| self.events[w].0 == id && w != write && self.hb.has(w, write))
                }
            };
            self.events[write].1.writes() && self.same(read, write) && self.hb.has(write, read) && overwritten
        })
    }

    fn holds(&self, model: Model, orders: &[&[usize]]) -> bool {
        let size = self.events.len();
        let mo = Matrix::of(size, |a, b| {
            orders.iter().any(|order| {
                let place = |event: usize| order.iter().position(|&other| other == event);
                matches!((place(a), place(b)), (Some(a), Some(b)) if a < b)
            })
        });
        let rb = Matrix::of(size, |read, write| {
            read != write
                && self.events[write].1.writes()
                && self.same(read, write)
                && match self.events[read].1.source() {
                    Some(Source::Initial) => true,
                    Some(Source::Write(id)) => (0..size).any(|w| self.events[w].0 == id && mo.has(w, write)),
                    None => false,
                }
        });
        let (po, hb) = (&self.po, &self.hb);
        let eco = self.rf.or(&mo).or(&rb).closure();
        // Of an update that is one event: nothing comes between what it reads and what it writes.
        let torn = (0..size).any(|update| {
            self.events[update].1.writes() && (0..size).any(|other| rb.has(update, other) && mo.has(other, update))
        });
        if torn || !hb.then(&eco.or_same()).is_irreflexive() || !eco.is_irreflexive() {
            return false;
        }
        let order = |event: usize| self.instance.order(self.events[event].0);
        let fence = Matrix::on(size, |event| self.events[event].1 == Action::Fence && order(event) == Ordering::SeqCst);
        let between = |order: &Matrix| fence.then(&order.or(&hb.then(&eco).then(hb))).then(&fence);
        match model {
            Model::Ra => between(hb).is_acyclic(),
            Model::Sra => {
                let order = hb.or(&mo).closure();
                order.is_irreflexive() && between(&order).is_acyclic()
            }
            Model::Rc11 => {
                let elsewhere = po.filter(|a, b| !self.same(a, b));
                let scb =
                    po.or(&elsewhere.then(hb).then(&elsewhere)).or(&hb.filter(|a, b| self.same(a, b))).or(&mo).or(&rb);
                let access =
                    Matrix::on(size, |event| self.events[event].1.loc().is_some() && order(event) == Ordering::SeqCst);
                let event = access.or(&fence);
                let from = event.or(&fence.then(&hb.or_same()));
                let to = event.or(&hb.or_same().then(&fence));
                from.then(&scb).then(&to).or(&between(hb)).is_acyclic()
            }
            other => unreachable!("{other} has no order of writes"),
        }
    }
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let shorter = permutations(rest);
    let with = |order: &Vec<usize>| {
        (0..=order.len())
            .map(|at| {
                let mut longer = order.clone();
                longer.insert(at, first);
                longer
            })
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(with).collect()
}

/// The same events with orderings at random, mostly of a few kinds.
fn with_orders(instance: &Instance, random: &mut Random) -> Instance {
    let profile = random.below(5);
    let mut result = Instance::new();
    for thread in (0..instance.threads() as u32).map(ThreadId) {
        result.begin_thread();
        for &action in instance.thread(thread) {
            let order = match (action, profile) {
                (_, 0) => action.default_order(),
                (Action::Note, _) => [Ordering::Relaxed, Ordering::Acquire][random.below(2)],
                (Action::Fence | Action::StoreFence, 1) => action.default_order(),
                (Action::Fence, _) => Ordering::ALL[2 + random.below(4)],
                (_, 1) => Ordering::Relaxed,
                (_, 2) => Ordering::AcqRel,
                (_, 3) => Ordering::ALL[random.below(5)],
                _ => Ordering::ALL[random.below(6)],
            };
            result.push_with(action, order);
        }
    }
    result
}

#[test]
fn every_order_of_writes() {
    let wanted: u64 = std::env::var("RADDLE_INSTANCES").map_or(150, |text| text.parse().expect("a number"));
    let mut verifier = Verifier::new();
    for (model, from) in [(Model::Wra, 1), (Model::Ra, 2), (Model::Sra, 3), (Model::Rc11, 4)] {
        let (mut compared, mut consistent, mut by_search) = (0, 0, 0);
        for number in 0.. {
            if compared == wanted {
                break;
            }
            let like = Model::OPERATIONAL[number as usize % 3];
            let random = &mut Random::new(number * 8 + from);
            let instance = with_orders(&common::instance(from, number, like), random);
            let Some(expected) = Relations::new(&instance, model).is_consistent(model) else { continue };
            let answer = match verifier.verify(&instance, model, &Settings::default()) {
                Ok(answer) => answer,
                Err(Malformed::FenceWithoutOrder { .. }) if model == Model::Wra => continue,
                Err(malformed) => panic!("{malformed}\n{instance:#?}"),
            };
            let found = matches!(answer, Answer::Consistent(_));
            assert_eq!(found, expected, "number {number} under {model}\n{instance:#?}");
            compared += 1;
            consistent += u64::from(found);
            by_search += u64::from(verifier.statistics().prefixes > 0);
        }
        println!("{model}: {compared} instances, {consistent} consistent, {by_search} by search");
        assert!(consistent > wanted / 10 && consistent < wanted * 9 / 10, "{model}: {consistent} of {compared}");
        assert!(!matches!(model, Model::Sra | Model::Rc11) || by_search > wanted / 20, "{by_search} by search");
    }
}

const X: Loc = Loc(0);
const Y: Loc = Loc(1);

fn write(loc: Loc) -> Action {
    Action::Write { loc }
}

fn read(loc: Loc, thread: u32, index: u32) -> Action {
    Action::Read { loc, from: Source::Write(EventId::new(ThreadId(thread), index)) }
}

fn initial(loc: Loc) -> Action {
    Action::Read { loc, from: Source::Initial }
}

fn under(instance: &Instance) -> Vec<Model> {
    let holds = |model: &Model| matches!(verify(instance, *model, &Settings::default()), Ok(Answer::Consistent(_)));
    Model::EVERY.into_iter().filter(holds).collect()
}

fn with(order: Ordering, threads: &[&[Action]]) -> Instance {
    let mut instance = Instance::new();
    for thread in threads {
        instance.begin_thread();
        thread.iter().for_each(|&action| {
            instance.push_with(action, if action.loc().is_some() { order } else { action.default_order() });
        });
    }
    instance
}

#[test]
fn classics_under_every_model() {
    use Model::{Pso, Ra, Rc11, Sra, Tso, Wra};
    let buffering: &[&[Action]] = &[&[write(X), initial(Y)], &[write(Y), initial(X)]];
    assert_eq!(under(&with(Ordering::AcqRel, buffering)), [Tso, Pso, Sra, Ra, Wra, Rc11]);
    assert_eq!(under(&with(Ordering::SeqCst, buffering)), [Tso, Pso, Sra, Ra, Wra]);
    let message: &[&[Action]] = &[&[write(X), write(Y)], &[read(Y, 0, 1), initial(X)]];
    assert_eq!(under(&with(Ordering::Relaxed, message)), [Pso, Rc11]);
    assert_eq!(under(&with(Ordering::AcqRel, message)), [Pso]);
    let two_writes: &[&[Action]] = &[&[write(X), write(Y), read(Y, 1, 0)], &[write(Y), write(X), read(X, 0, 0)]];
    assert_eq!(under(&with(Ordering::AcqRel, two_writes)), [Pso, Ra, Wra, Rc11]);
    let seen_apart: &[&[Action]] =
        &[&[write(X)], &[write(X)], &[read(X, 0, 0), read(X, 1, 0)], &[read(X, 1, 0), read(X, 0, 0)]];
    assert_eq!(under(&with(Ordering::AcqRel, seen_apart)), [Wra]);
    let fences: &[&[Action]] = &[&[write(X), Action::Fence, initial(Y)], &[write(Y), Action::Fence, initial(X)]];
    assert!(under(&with(Ordering::Relaxed, fences)).is_empty());
}

/// Ten threads, each of which reads what the one before wrote last and writes again.
fn rounds(rounds: u32) -> Instance {
    let mut instance = Instance::new();
    let threads = 10;
    for thread in 0..threads {
        instance.begin_thread();
        for round in 0..rounds {
            let (source, at) = if thread > 0 { (thread - 1, round) } else { (threads - 1, round.max(1) - 1) };
            let first = thread == 0 && round == 0;
            let loc = Loc(round % 50);
            let from = Source::Write(EventId::new(ThreadId(source), 2 * at + 1));
            let loc_read = if thread > 0 { loc } else { Loc(at % 50) };
            instance.push(Action::Read { loc: loc_read, from: if first { Source::Initial } else { from } });
            instance.push(Action::Write { loc });
        }
    }
    instance
}

#[test]
fn a_long_trace() {
    let mut instance = rounds(2_000);
    for model in [Model::Wra, Model::Ra, Model::Sra] {
        assert!(matches!(verify(&instance, model, &Settings::default()), Ok(Answer::Consistent(_))), "{model}");
    }
    // The last thread reads again what everybody has overwritten.
    instance.push(read(Loc(0), 0, 1));
    for model in [Model::Wra, Model::Ra, Model::Sra] {
        let clash = explain(&instance, model, &Settings::default()).expect("well formed").expect("there is none");
        assert!(clash.minimal && !clash.cycle.is_empty() && clash.events().count() < 100, "{model}: {clash:?}");
    }
}
