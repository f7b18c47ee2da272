//! What is said about inconsistent instances is true: the events clash, none of them can be spared, and the cycle is one.

mod common;

use common::{instance, is_consistent};
use raddle_consistency::explain::{Moment, Reason};
use raddle_consistency::{Action, EventId, Instance, Loc, Model, Settings, Source, ThreadId, explain};

fn sweep(instances: u64) {
    for model in Model::OPERATIONAL {
        let (mut explained, mut minimal) = (0, 0);
        for number in 0..instances {
            let instance = instance(3, number, model);
            let clash = explain(&instance, model, &Settings::default()).expect("the instance is well formed");
            assert_eq!(clash.is_none(), is_consistent(&instance, model), "{model}: {instance:?}");
            let Some(clash) = clash else { continue };
            explained += 1;
            let core = &clash.core;
            assert!(!is_consistent(core, model), "{model}: {clash:?}\n{instance:?}");
            if clash.minimal {
                minimal += 1;
                for event in clash.events() {
                    let read = core.events().any(|(_, action)| action.source() == Some(Source::Write(event)));
                    if !read {
                        let mut less = core.clone();
                        less.set(event, Action::Note);
                        assert!(is_consistent(&less, model), "{model}: {event} of {clash:?}\n{instance:?}");
                    }
                }
            }
            let ties = &clash.cycle;
            assert!(!ties.is_empty(), "closure finds a cycle: {instance:?}");
            for (at, tie) in ties.iter().enumerate() {
                assert_eq!(tie.to, ties[(at + 1) % ties.len()].from, "{clash:?}");
                if let (Moment::Does(from), Moment::Does(to), Reason::Program) = (tie.from, tie.to, tie.why) {
                    assert!(from.thread == to.thread && from.index < to.index, "{clash:?}");
                }
            }
        }
        assert!(minimal == explained && explained > 0, "{model}: {minimal} of {explained} are minimal");
    }
}

#[test]
fn explanations_are_true() {
    sweep(1500);
}

#[test]
#[ignore = "takes minutes"]
fn many_explanations_are_true() {
    sweep(40_000);
}

#[test]
fn store_buffering_is_a_cycle_of_four() {
    let (x, y) = (Loc(0), Loc(1));
    let read = |loc| Action::Read { loc, from: Source::Initial };
    let write = |loc| Action::Write { loc };
    let noise = [Action::Fence, write(Loc(2)), read(Loc(2))];
    let instance = Instance::of(&[
        &[write(x), Action::Note, read(y)],
        &[write(y), read(x)],
        &noise[..1],
        &noise[1..2],
        &noise[2..],
    ]);
    let clash = explain(&instance, Model::Sc, &Settings::default()).expect("well formed").expect("inconsistent");
    let event = |thread, index| EventId::new(ThreadId(thread), index);
    assert!(clash.events().eq([event(0, 0), event(0, 2), event(1, 0), event(1, 1)]));
    assert!(clash.minimal);
    let reasons: Vec<Reason> = clash.cycle.iter().map(|tie| tie.why).collect();
    assert_eq!(reasons.len(), 4, "{clash:?}");
    assert_eq!(reasons.iter().filter(|&&why| why == Reason::Program).count(), 2);
    assert_eq!(explain(&instance, Model::Tso, &Settings::default()), Ok(None));
}

#[test]
fn a_store_fence_is_part_of_the_clash() {
    let (message, flag, other) = (Loc(0), Loc(1), Loc(2));
    let from = Source::Write(EventId::new(ThreadId(0), 4));
    let instance = Instance::of(&[
        &[
            Action::StoreFence,
            Action::Write { loc: message },
            Action::StoreFence,
            Action::Write { loc: other },
            Action::Write { loc: flag },
        ],
        &[Action::Read { loc: flag, from }, Action::Read { loc: message, from: Source::Initial }],
    ]);
    let clash = explain(&instance, Model::Pso, &Settings::default()).expect("well formed").expect("inconsistent");
    assert!(!is_consistent(&clash.core, Model::Pso));
    assert_eq!(clash.events().count(), 5);
    assert!(clash.minimal);
    assert!(clash.cycle.iter().any(|tie| tie.why == Reason::StoreFence), "{clash:?}");
}
