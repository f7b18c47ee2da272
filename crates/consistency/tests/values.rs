//! Verification with sets of good writes agrees with an oracle that tries all interleavings.

mod common;

use common::instance;
use raddle_consistency::replay::Memory;
use raddle_consistency::testing::{Random, writes};
use raddle_consistency::values::{GoodWrites, MalformedValues, ValueSettings, ValueVerifier};
use raddle_consistency::{Action, Answer, EventId, Instance, Loc, Model, Source, Step, ThreadId};
use std::collections::HashSet;

/// The number of the read among all reads.
fn number(instance: &Instance, read: EventId) -> usize {
    instance.events().filter(|(event, action)| action.source().is_some() && *event < read).count()
}

fn oracle(instance: &Instance, good: &GoodWrites) -> bool {
    let first = Memory::new(instance, Model::Sc);
    let mut seen = HashSet::from([first.clone()]);
    let mut stack = vec![first];
    while let Some(memory) = stack.pop() {
        if memory.is_complete(instance) {
            return true;
        }
        for thread in (0..instance.threads() as u32).map(ThreadId) {
            if memory.can_run(instance, thread) {
                let (event, _) = memory.next(instance, thread).expect("it can run");
                let mut after = memory.clone();
                let found = after.run(instance, thread);
                let fits = found.is_none_or(|found| good.of_read(number(instance, event)).contains(&found));
                if fits && seen.insert(after.clone()) {
                    stack.push(after);
                }
            }
        }
    }
    false
}

/// Sets around the sources of the instance: more writes, sometimes without the source itself.
fn random_sets(instance: &Instance, random: &mut Random) -> GoodWrites {
    let mut good = GoodWrites::new();
    let (more, without) = (random.below(60), [0, 10, 40][random.below(3)]);
    for (event, action) in instance.events() {
        let (Some(source), Some(loc)) = (action.source(), action.loc()) else { continue };
        good.begin_read();
        let others = writes(instance, loc).into_iter().filter(|&write| write != event).map(Source::Write);
        for other in others.chain([Source::Initial]) {
            if if other == source { !random.chance(without) } else { random.chance(more) } {
                good.push(other);
            }
        }
    }
    good
}

fn sweep(seed: u64, instances: u64) {
    let mut verifier = ValueVerifier::new();
    let (mut consistent, mut inconsistent, mut refuted) = (0, 0, 0);
    for at in 0..instances {
        let random = &mut Random::new(seed.wrapping_add(at << 16));
        let instance = instance(seed, at, Model::Sc);
        let good = random_sets(&instance, random);
        let expected = oracle(&instance, &good);
        let mut guide: Vec<EventId> = instance.events().map(|(event, _)| event).collect();
        for last in (1..guide.len()).rev() {
            guide.swap(last, random.below(last + 1));
        }
        for (closure, greedy, guided) in
            [(true, true, false), (false, true, false), (false, false, false), (true, false, true), (true, true, true)]
        {
            let guide = guided.then_some(guide.as_slice());
            let settings = ValueSettings { closure, greedy, guide, ..ValueSettings::default() };
            let answer = verifier.verify(&instance, &good, &settings).expect("well formed");
            let found = matches!(answer, Answer::Consistent(_));
            assert_eq!(found, expected, "number {at}, {settings:?}\n{instance:?}\n{good:?}");
            refuted += u64::from(!expected && closure && greedy && !guided && verifier.statistics().cyclic);
        }
        *if expected { &mut consistent } else { &mut inconsistent } += 1;
    }
    println!("{consistent} consistent, {inconsistent} inconsistent, {refuted} of them by closure; no disagreement");
    assert!(consistent * 10 > instances && inconsistent * 10 > instances, "{consistent} and {inconsistent}");
}

#[test]
fn sets_of_good_writes_agree_with_the_oracle() {
    sweep(11, 2000);
}

#[test]
#[ignore = "takes a minute"]
fn many_sets_of_good_writes_agree_with_the_oracle() {
    sweep(12, 150_000);
}

#[test]
fn an_auxiliary_trace_that_fits_is_the_answer() {
    let x = Loc(0);
    let source = Source::Write(EventId::new(ThreadId(0), 0));
    let instance = Instance::of(&[&[Action::Write { loc: x }], &[Action::Read { loc: x, from: source }]]);
    let guide = [EventId::new(ThreadId(0), 0), EventId::new(ThreadId(1), 0)];
    let settings = ValueSettings { guide: Some(&guide), ..ValueSettings::default() };
    let mut verifier = ValueVerifier::new();
    let answer = verifier.verify(&instance, &GoodWrites::of(&instance), &settings);
    assert_eq!(answer, Ok(Answer::Consistent(vec![Step::Run(ThreadId(0)), Step::Run(ThreadId(1))])));
    assert_eq!(verifier.statistics().prefixes, 0);
}

#[test]
fn sets_that_make_no_sense_are_refused() {
    let (x, y) = (Loc(0), Loc(1));
    let read = Action::Read { loc: x, from: Source::Initial };
    let instance = Instance::of(&[&[Action::Write { loc: y }, read]]);
    let mut verifier = ValueVerifier::new();
    let mut refused = |good: &GoodWrites| verifier.verify(&instance, good, &ValueSettings::default());
    assert_eq!(refused(&GoodWrites::new()), Err(MalformedValues::OtherNumber { reads: 1, sets: 0 }));
    let mut good = GoodWrites::new();
    good.begin_read();
    assert_eq!(refused(&good), Ok(Answer::Inconsistent), "nothing can be read");
    let (write, read) = (EventId::new(ThreadId(0), 0), EventId::new(ThreadId(0), 1));
    good.push(Source::Write(write));
    assert_eq!(refused(&good), Err(MalformedValues::NotAWrite { read, write }));
}
