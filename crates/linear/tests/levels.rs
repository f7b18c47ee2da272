//! Levels below linearizability against their definitions, by trying all orders.

mod common;

use std::collections::BTreeMap;

use common::{brute_force, show};
use raddle_consistency::{Answer, Model, verify};
use raddle_linear::check::Config;
use raddle_linear::decide::{Settings, levels as decide_levels};
use raddle_linear::history::{History, Method, Op, Ts};
use raddle_linear::levels::{Level, Standing, levels, observe};
use raddle_linear::object::ObjectKind;
use raddle_linear::value::{Value, ValueId, Values};
use raddle_testkit::{Random, setting};

/// Whether some order of these operations that respects a relation passes a test.
fn some_order(set: &[usize], before: &dyn Fn(usize, usize) -> bool, good: &dyn Fn(&[usize]) -> bool) -> bool {
    fn go(
        left: &mut Vec<usize>,
        line: &mut Vec<usize>,
        before: &dyn Fn(usize, usize) -> bool,
        good: &dyn Fn(&[usize]) -> bool,
    ) -> bool {
        if left.is_empty() {
            return good(line);
        }
        (0..left.len()).any(|at| {
            let next = left[at];
            if left.iter().any(|&other| other != next && before(other, next)) {
                return false;
            }
            left.remove(at);
            line.push(next);
            let found = go(left, line, before, good);
            line.pop();
            left.insert(at, next);
            found
        })
    }
    go(&mut set.to_vec(), &mut Vec::new(), before, good)
}

/// Whether the reads that are asked about return the last value written before them in a line.
fn legal(ops: &[Op], line: &[usize], asked: &dyn Fn(usize) -> bool) -> bool {
    let mut now: BTreeMap<u32, ValueId> = BTreeMap::new();
    line.iter().all(|&at| match ops[at].method {
        Method::Write => {
            now.insert(ops[at].place.0, ops[at].arg);
            true
        }
        _ => !asked(at) || ops[at].result == Some(now.get(&ops[at].place.0).copied().unwrap_or(ValueId::NIL)),
    })
}

/// What the definitions say. Reads that never returned tell nothing, and writes that never returned and that nobody read need not have happened.
fn expected(ops: &[Op], level: Level) -> bool {
    let seen = |op: &Op| {
        ops.iter().any(|read| read.method == Method::Read && read.place == op.place && read.result == Some(op.arg))
    };
    let ops: Vec<Op> =
        ops.iter().filter(|op| !op.is_pending() || (op.method == Method::Write && seen(op))).copied().collect();
    let ops = &ops[..];
    let count = ops.len();
    let all: Vec<usize> = (0..count).collect();
    let reads = |at: usize| ops[at].method == Method::Read;
    // What nobody knows the end of is before nothing in its process.
    let po = |one: usize, two: usize| one < two && ops[one].process == ops[two].process && !ops[one].is_pending();
    // The least order that is causal: what a read needs must be in its past, and a larger order asks for more.
    let mut co: Vec<Vec<bool>> = all.iter().map(|&one| all.iter().map(|&two| po(one, two)).collect()).collect();
    for read in all.iter().copied().filter(|&at| reads(at)) {
        for write in all.iter().copied().filter(|&at| !reads(at)) {
            co[write][read] |= ops[write].place == ops[read].place && Some(ops[write].arg) == ops[read].result;
        }
    }
    for middle in 0..count {
        for one in 0..count {
            for two in 0..count {
                co[one][two] |= co[one][middle] && co[middle][two];
            }
        }
    }
    let cyclic = (0..count).any(|at| co[at][at]);
    let past = |at: usize| all.iter().copied().filter(|&other| other == at || co[other][at]).collect::<Vec<_>>();
    let causally = |one: usize, two: usize| co[one][two];
    match level {
        Level::Sequential => some_order(&all, &po, &|line| legal(ops, line, &|_| true)),
        Level::Pram => all.iter().all(|&me| {
            let mine = |at: usize| ops[at].process == ops[me].process;
            let seen: Vec<usize> = all.iter().copied().filter(|&at| mine(at) || !reads(at)).collect();
            some_order(&seen, &po, &|line| legal(ops, line, &mine))
        }),
        Level::Causal => {
            !cyclic && all.iter().all(|&me| some_order(&past(me), &causally, &|line| legal(ops, line, &|at| at == me)))
        }
        Level::CausalMemory => {
            let mine = |me: usize, at: usize| at == me || po(at, me);
            !cyclic
                && all.iter().all(|&me| some_order(&past(me), &causally, &|line| legal(ops, line, &|at| mine(me, at))))
        }
        Level::CausalConvergence => {
            !cyclic
                && some_order(&all, &causally, &|line| {
                    all.iter().all(|&me| {
                        let seen = past(me);
                        let known: Vec<usize> = line.iter().copied().filter(|at| seen.contains(at)).collect();
                        legal(ops, &known, &|at| at == me)
                    })
                })
        }
        Level::ReleaseAcquire => {
            let source = |read: usize| {
                let wrote = |&other: &usize| {
                    !reads(other) && ops[other].place == ops[read].place && Some(ops[other].arg) == ops[read].result
                };
                all.iter().copied().find(wrote)
            };
            let known = |read: usize| source(read).is_some() || ops[read].result == Some(ValueId::NIL);
            let readers = || all.iter().copied().filter(|&at| reads(at));
            let settled = |line: &[usize]| {
                let place = |write: usize| line.iter().position(|&at| at == write);
                readers().filter(|&read| ops[read].place == ops[line[0]].place).all(|read| {
                    let from = source(read).and_then(place).map_or(0, |at| at + 1);
                    line[from..].iter().all(|&later| !co[later][read])
                })
            };
            !cyclic
                && readers().all(known)
                && all.iter().filter(|&&at| !reads(at)).all(|&one| {
                    let own = |at: &usize| !reads(*at) && ops[*at].place == ops[one].place;
                    let writes: Vec<usize> = all.iter().copied().filter(own).collect();
                    some_order(&writes, &causally, &settled)
                })
        }
        Level::Eventual => all.iter().copied().filter(|&at| reads(at)).all(|read| {
            let wrote = |other: &Op| other.method == Method::Write && other.place == ops[read].place;
            ops[read].result == Some(ValueId::NIL)
                || ops.iter().any(|other| wrote(other) && Some(other.arg) == ops[read].result)
        }),
        Level::Linearizable => unreachable!("asked elsewhere"),
    }
}

/// Operations of two or three processes on one or two keys; reads return anything that is written to their key, or nothing, or now and then what nobody wrote.
fn random_history(random: &mut Random) -> History {
    let mut values = Values::default();
    let keys: Vec<ValueId> =
        (0..1 + random.below(2)).map(|key| values.intern(Value::text(format!("k{key}")))).collect();
    let (count, processes) = (2 + random.below(5), 2 + random.below(2));
    let names: Vec<ValueId> = (0..processes).map(|number| values.intern_int(1000 + number as i64)).collect();
    let (mut ops, mut written): (Vec<Op>, Vec<(ValueId, ValueId)>) = (Vec::new(), Vec::new());
    // Now and then two processes write two keys each and read one: what tells release-acquire from causal convergence looks so.
    let crossed = random.one_in(4);
    let count = if crossed { 6 } else { count };
    for at in 0..count {
        let (place, write) = (random.pick(&keys), if crossed { at % 3 < 2 } else { random.chance(50) });
        let value = values.intern_int(1 + at as i64);
        if write {
            written.push((place, value));
        }
        ops.push(Op {
            process: if crossed { names[at / 3] } else { random.pick(&names) },
            place,
            method: if write { Method::Write } else { Method::Read },
            arg: if write { value } else { ValueId::NIL },
            arg2: ValueId::NIL,
            result: Some(ValueId::NIL),
            call: Ts(2 * at as u32),
            ret: Ts(2 * at as u32 + 1),
            call_line: 0,
            ret_line: 0,
        });
    }
    let strange = values.intern_int(99);
    for op in ops.iter_mut().filter(|op| op.method == Method::Read) {
        let known: Vec<ValueId> = written.iter().filter(|(key, _)| *key == op.place).map(|(_, value)| *value).collect();
        let read = if known.is_empty() || random.chance(20) { ValueId::NIL } else { random.pick(&known) };
        op.result = Some(if random.chance(2) { strange } else { read });
    }
    for op in ops.iter_mut().filter(|_| random.chance(8)) {
        *op = op.pending();
    }
    History { events: 2 * count as u32, ops, values }
}

#[test]
fn every_level_is_what_its_definition_says() {
    let histories = setting("RADDLE_HISTORIES", 10_000);
    let mut random = Random::new(setting("RADDLE_SEED", 1) << 32 ^ 41);
    let mut counts: BTreeMap<(Level, bool), u64> = BTreeMap::new();
    for _ in 0..histories {
        let history = random_history(&mut random);
        let found = levels(&history, &Config::new(ObjectKind::Map)).expect("an answer");
        for (level, standing) in found {
            let expected = match level {
                Level::Linearizable => brute_force(ObjectKind::Map, &history.ops, &history.values),
                level => expected(&history.ops, level),
            };
            *counts.entry((level, expected)).or_default() += 1;
            let agrees = match standing {
                Standing::Holds => expected,
                Standing::Violated(_) => !expected,
                Standing::Unknown(_) => false,
            };
            assert!(agrees, "{} is {standing:?}:\n{}", level.name(), show(&history, &history.ops));
        }
    }
    println!("{counts:?}");
    let often = |level: &Level| counts.contains_key(&(*level, true)) && counts.contains_key(&(*level, false));
    assert!(Level::ALL.iter().all(often), "{counts:?}");
}

fn strongest(text: &str) -> Vec<&'static str> {
    let settings = Settings { object: Some(ObjectKind::Map), ..Settings::default() };
    let found = decide_levels(text.as_bytes(), &settings).expect("a history").levels;
    found.into_iter().filter(|(_, standing)| *standing == Standing::Holds).map(|(level, _)| level.name()).collect()
}

/// One process a line: `w x 1` and `r x 1`, one after another.
fn history(processes: &[&[(&str, &str, i64)]]) -> String {
    let mut text = String::new();
    for (process, ops) in processes.iter().enumerate() {
        for (f, key, value) in *ops {
            let (name, asked) = if *f == "w" { ("write", value.to_string()) } else { ("read", "null".into()) };
            let answer = if *value == 0 { "null".into() } else { value.to_string() };
            text += &format!(
                "{{\"process\":{process},\"type\":\"invoke\",\"f\":\"{name}\",\"key\":\"{key}\",\"value\":{asked}}}\n"
            );
            text += &format!(
                "{{\"process\":{process},\"type\":\"ok\",\"f\":\"{name}\",\"key\":\"{key}\",\"value\":{answer}}}\n"
            );
        }
    }
    text
}

/// Causal is WRA, release-acquire is RA, causal convergence is SRA, sequential is SC: the verifiers of traces, which are others, say the same.
#[test]
fn levels_are_memory_models() {
    let mut random = Random::new(setting("RADDLE_SEED", 1) << 32 ^ 43);
    let mut counts: BTreeMap<(Level, bool), u64> = BTreeMap::new();
    for _ in 0..setting("RADDLE_HISTORIES", 10_000) {
        let history = random_history(&mut random);
        let config = Config::new(ObjectKind::Map);
        let found = levels(&history, &config).expect("an answer");
        let observed = observe(&history, &config).expect("a trace");
        if observed.unwritten.is_some() {
            assert!(found.iter().all(|(_, standing)| *standing != Standing::Holds), "{}", show(&history, &history.ops));
            continue;
        }
        for (level, model) in [
            (Level::Sequential, Model::Sc),
            (Level::CausalConvergence, Model::Sra),
            (Level::ReleaseAcquire, Model::Ra),
            (Level::Causal, Model::Wra),
        ] {
            let holds = found.iter().any(|(other, standing)| *other == level && *standing == Standing::Holds);
            let answer = verify(&observed.instance, model, &raddle_consistency::Settings::default()).expect("a trace");
            let text = show(&history, &history.ops);
            assert_eq!(matches!(answer, Answer::Consistent(_)), holds, "{} and {model}:\n{text}", level.name());
            *counts.entry((level, holds)).or_default() += 1;
        }
    }
    println!("{counts:?}");
    assert_eq!(counts.len(), 8, "{counts:?}");
    assert_ne!(
        counts[&(Level::ReleaseAcquire, true)],
        counts[&(Level::CausalConvergence, true)],
        "one key each tells them apart"
    );
}

/// The histories that tell the levels apart, as Bouajjani, Enea, Guerraoui, Hamza 2017 have them in their figure 3.
#[test]
fn known_histories_tell_the_levels_apart() {
    // Both processes read the other's write last: for each an order, for all none.
    let not_convergent = history(&[&[("w", "x", 1), ("r", "x", 2)], &[("w", "x", 2), ("r", "x", 1)]]);
    assert_eq!(strongest(&not_convergent), ["causal-memory", "causal", "pram", "eventual"]);
    // Store buffering: causal in every sense, in no one order.
    let buffering = history(&[&[("w", "x", 1), ("r", "y", 0)], &[("w", "y", 2), ("r", "x", 0)]]);
    assert_eq!(strongest(&buffering)[0], "causal-memory");
    assert_eq!(strongest(&buffering).len(), 6);
    // What was read is passed on, and the reader of that does not know it.
    let not_causal = history(&[&[("w", "x", 1)], &[("r", "x", 1), ("w", "y", 2)], &[("r", "y", 2), ("r", "x", 0)]]);
    assert_eq!(strongest(&not_causal), ["pram", "eventual"]);
    // The writes of one process seen in the wrong order.
    let not_pram = history(&[&[("w", "x", 1), ("w", "x", 2)], &[("r", "x", 2), ("r", "x", 1)]]);
    assert_eq!(strongest(&not_pram), ["eventual"]);
    let strange = history(&[&[("r", "x", 7)]]);
    assert!(strongest(&strange).is_empty());
}

#[test]
fn what_the_levels_are_not_for_is_refused() {
    let twice = history(&[&[("w", "x", 1), ("w", "x", 1)]]);
    let settings = Settings { object: Some(ObjectKind::Map), ..Settings::default() };
    let error = decide_levels(twice.as_bytes(), &settings).expect_err("a value twice").to_string();
    assert!(error.contains("written twice"), "{error}");
    let settings = Settings { object: Some(ObjectKind::Queue), ..Settings::default() };
    let queue = "{\"process\":0,\"type\":\"invoke\",\"f\":\"enqueue\",\"value\":1}\n";
    let error = decide_levels(queue.as_bytes(), &settings).expect_err("a queue").to_string();
    assert!(error.contains("registers and maps"), "{error}");
}
