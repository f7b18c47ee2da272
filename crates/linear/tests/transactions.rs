//! Levels of transactions: published anomalies, and random histories against definitions that try everything.

use std::collections::BTreeMap;

use raddle_linear::decide::{Error, Settings, transactions};
use raddle_linear::history::Ts;
use raddle_linear::txn::graph::EdgeKind;
use raddle_linear::txn::{
    Anomaly, Checked, Level, Micro, Outcome, Phenomenon, Seen, Standing, Step, Transactions, Txn, Workload, check,
};
use raddle_linear::value::ValueId;
use raddle_testkit::{Random, setting};

/// Transactions one after another, each `(outcome, asked, answered)`, all open at once unless `apart`.
fn edn(txns: &[(&str, &str)], apart: bool) -> String {
    let mut text = String::new();
    let call = |at: usize, what: &str| format!("{{:process {at}, :type :invoke, :f :txn, :value [{what}]}}\n");
    let end = |at: usize, how: &str, what: &str| format!("{{:process {at}, :type :{how}, :f :txn, :value [{what}]}}\n");
    for (at, (how, what)) in txns.iter().enumerate() {
        text += &call(at, what);
        if apart {
            text += &end(at, how, what);
        }
    }
    for (at, (how, what)) in txns.iter().enumerate().filter(|_| !apart) {
        text += &end(at, how, what);
    }
    text
}

fn checked(text: &str, workload: Workload) -> Result<Checked, Error> {
    transactions(text.as_bytes(), &Settings::default(), workload).map(|(_, checked)| checked)
}

fn names(checked: &Checked) -> Vec<String> {
    let name = |found: &raddle_linear::txn::Anomaly| {
        format!("{}{}", found.phenomenon.name(), if found.realtime { "-realtime" } else { "" })
    };
    checked.anomalies.iter().map(name).collect()
}

fn strongest(checked: &Checked) -> Option<Level> {
    checked.levels.iter().rev().find(|(_, standing)| *standing == Standing::Holds).map(|(level, _)| *level)
}

/// What it is called, its transactions, the anomaly, and the strongest level that is left.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, Option<Level>);

#[test]
fn each_anomaly_of_lists_has_its_name_and_its_level() {
    let cases: [Case; 16] = [
        (
            "serial",
            &[("ok", "[:append 1 1] [:r 2 nil]"), ("ok", "[:append 2 1] [:r 1 [1]]")],
            "",
            Some(Level::StrictSerializable),
        ),
        (
            "dirty write",
            &[
                ("ok", "[:append 1 1] [:append 2 1]"),
                ("ok", "[:append 1 2] [:append 2 2]"),
                ("ok", "[:r 1 [1 2]] [:r 2 [2 1]]"),
            ],
            "G0",
            None,
        ),
        ("aborted read", &[("fail", "[:append 1 1]"), ("ok", "[:r 1 [1]]")], "G1a", Some(Level::ReadUncommitted)),
        (
            "intermediate read",
            &[("ok", "[:append 1 1] [:append 1 2]"), ("ok", "[:r 1 [1]]")],
            "G1b",
            Some(Level::ReadUncommitted),
        ),
        (
            "circular information flow",
            &[("ok", "[:append 1 1] [:r 2 [1]]"), ("ok", "[:append 2 1] [:r 1 [1]]")],
            "G1c",
            Some(Level::ReadUncommitted),
        ),
        (
            "read skew",
            &[("ok", "[:append 1 1] [:append 2 1]"), ("ok", "[:r 1 nil] [:r 2 [1]]")],
            "G-single-item",
            Some(Level::ReadCommitted),
        ),
        (
            "lost update",
            &[("ok", "[:r 1 nil] [:append 1 1]"), ("ok", "[:r 1 nil] [:append 1 2]"), ("ok", "[:r 1 [1 2]]")],
            "lost-update",
            Some(Level::ReadCommitted),
        ),
        (
            "write skew",
            &[("ok", "[:r 1 nil] [:append 2 1]"), ("ok", "[:r 2 nil] [:append 1 1]")],
            "G2-item",
            Some(Level::SnapshotIsolation),
        ),
        ("own write unseen", &[("ok", "[:append 1 1] [:r 1 nil]")], "internal", None),
        ("an element twice", &[("ok", "[:append 1 1]"), ("ok", "[:r 1 [1 1]]")], "duplicate-elements", None),
        (
            "orders that differ",
            &[("ok", "[:append 1 1]"), ("ok", "[:append 1 2]"), ("ok", "[:r 1 [1 2]]"), ("ok", "[:r 1 [2 1]]")],
            "incompatible-order",
            None,
        ),
        ("garbage read", &[("ok", "[:append 1 1]"), ("ok", "[:r 1 [7]]")], "unwritten-read", None),
        (
            "dirty update",
            &[("fail", "[:append 1 1]"), ("ok", "[:append 1 2]"), ("ok", "[:r 1 [1 2]]")],
            "G1a",
            Some(Level::ReadUncommitted),
        ),
        (
            "what was read had been overwritten by its reader",
            &[("ok", "[:append 1 1] [:r 2 [1]]"), ("ok", "[:append 1 2] [:append 2 1]"), ("ok", "[:r 1 [1 2]]")],
            "G1c",
            Some(Level::ReadUncommitted),
        ),
        (
            "an append between a read and its append",
            &[
                ("ok", "[:append 1 2] [:append 1 1]"),
                ("ok", "[:r 1 [2 1]] [:append 2 5] [:append 1 4]"),
                ("ok", "[:append 1 5]"),
                ("ok", "[:r 1 [2 1 5 4]]"),
            ],
            "G-single-item",
            Some(Level::ReadCommitted),
        ),
        (
            "long fork",
            &[
                ("ok", "[:r 1 nil] [:r 4 [1]]"),
                ("ok", "[:append 1 1] [:append 2 1]"),
                ("ok", "[:r 2 [1]] [:r 3 nil]"),
                ("ok", "[:append 3 1] [:append 4 1]"),
            ],
            "G-nonadjacent-item",
            Some(Level::ReadCommitted),
        ),
    ];
    for (what, txns, anomaly, level) in cases {
        let checked = checked(&edn(txns, false), Workload::ListAppend).expect(what);
        assert_eq!(strongest(&checked), level, "{what}: {:?}", checked.anomalies);
        let names = names(&checked);
        assert!(
            if anomaly.is_empty() { names.is_empty() } else { names.iter().any(|name| name == anomaly) },
            "{what}: {names:?}"
        );
    }
}

#[test]
fn real_time_counts_for_the_strict_level_alone() {
    let stale = edn(&[("ok", "[:append 1 1]"), ("ok", "[:r 1 nil]")], true);
    let found = checked(&stale, Workload::ListAppend).expect("a history");
    assert_eq!(names(&found), ["G-single-item-realtime"]);
    assert_eq!(strongest(&found), Some(Level::Serializable));
    let cycle: Vec<(u32, &str, u32)> =
        found.anomalies[0].cycle.iter().map(|step| (step.from, step.kind.name(), step.to)).collect();
    assert_eq!(cycle, [(1, "rw", 0), (0, "realtime", 1)]);
}

#[test]
fn nobody_reads_what_it_writes_later() {
    for (text, workload) in [
        ("[:r 1 5] [:w 1 5]", Workload::RwRegister),
        ("[:w 1 4] [:w 1 5] [:r 1 4]", Workload::RwRegister),
        ("[:r 1 [5]] [:append 1 5]", Workload::ListAppend),
        ("[:r 1 [4 5]] [:append 1 5] [:append 1 4]", Workload::ListAppend),
    ] {
        let found = checked(&edn(&[("ok", text)], false), workload).expect(text);
        assert_eq!(found.levels[2], (Level::SnapshotIsolation, Standing::Violated), "{text}: {found:?}");
        assert!(names(&found).contains(&"internal".to_string()), "{text}: {found:?}");
    }
}

#[test]
fn json_and_registers_are_read_too() {
    let text = r#"{"process":0,"type":"invoke","f":"txn","value":[["r",1,null],["w",1,5]]}
{"process":1,"type":"invoke","f":"txn","value":[["r",1,null],["w",1,6]]}
{"process":0,"type":"ok","f":"txn","value":[["r",1,null],["w",1,5]]}
{"process":1,"type":"ok","f":"txn","value":[["r",1,null],["w",1,6]]}
"#;
    let found = checked(text, Workload::RwRegister).expect("a history");
    assert!(names(&found).contains(&"lost-update".to_string()), "{:?}", names(&found));
    assert_eq!(strongest(&found), Some(Level::ReadCommitted));
}

#[test]
fn what_is_no_transaction_is_refused_with_its_line() {
    for (text, workload) in [
        ("{:process 0, :type :invoke, :f :txn, :value 5}\n", Workload::ListAppend),
        ("{:process 0, :type :invoke, :f :txn, :value [[:w 1 2]]}\n", Workload::ListAppend),
        ("{:process 0, :type :invoke, :f :txn, :value [[:append 1 2]]}\n", Workload::RwRegister),
        ("{:process 0, :type :invoke, :f :txn, :value [[:append 1]]}\n", Workload::ListAppend),
        ("{:process 0, :type :invoke, :f :txn, :value [[:append 1 nil]]}\n", Workload::ListAppend),
    ] {
        let error = checked(text, workload).expect_err(text).to_string();
        assert!(error.contains("line 1"), "{error}");
    }
    // Formats that have no lists carry no transactions.
    for text in ["# @object stack\n[1] call push 5\n", "# stack\npush 1 1 2\n", "INVOKE 0 put k 5\n"] {
        let error = checked(text, Workload::ListAppend).expect_err(text).to_string();
        assert!(error.contains("EDN or JSON"), "{error}");
    }
    let twice = edn(&[("ok", "[:append 1 1]"), ("ok", "[:append 1 1]")], false);
    let error = checked(&twice, Workload::ListAppend).expect_err("a value written twice").to_string();
    assert!(error.contains("twice"), "{error}");
}

/// The nemesis may carry anything, keys and values may be lists, and clocks put the events in order.
#[test]
fn transactions_are_read_whatever_stands_between_them() {
    let text = "{:process 1 :type :invoke :f :txn :value [[:r [1 2] nil]] :time 5}
{:process :nemesis :type :info :f :start :value [[:append 1 1] [2 [3]]] :time 2}
{:process 0 :type :invoke :f :txn :value [[:append [1 2] [7]] [:append [1 2] \"x\"]] :time 1}
{:process 0 :type :ok :f :txn :value [[:append [1 2] [7]] [:append [1 2] \"x\"]] :time 3}
{:process :nemesis :type :info :f :start :value {:n1 [5]} :time 4}
{:process 1 :type :ok :f :txn :value [[:r [1 2] [[7] \"x\"]]] :time 6}
";
    let found = checked(text, Workload::ListAppend).expect("a history");
    assert_eq!(strongest(&found), Some(Level::StrictSerializable), "{:?}", names(&found));
    let found = checked(&text.replace("[[7] \"x\"]", "[[7]]"), Workload::ListAppend).expect("a history");
    assert_eq!(names(&found), ["G1b", "G-single-item"]);
}

type State = BTreeMap<u32, Vec<u32>>;

/// Whether a transaction reads what a state has, and the state after it; a register is the list of its versions.
fn run(history: &Transactions, txn: u32, state: &State) -> Option<State> {
    let mut state = state.clone();
    for micro in history.parts(txn) {
        match *micro {
            Micro::Write(key, value) => state.entry(key.0).or_default().push(value.0),
            Micro::Read(_, Seen::Unknown) => {}
            Micro::Read(key, Seen::List(from, to)) => {
                let seen: Vec<u32> = history.list((from, to)).iter().map(|value| value.0).collect();
                if state.get(&key.0).cloned().unwrap_or_default() != seen {
                    return None;
                }
            }
            Micro::Read(key, Seen::Value(value)) => {
                if state.get(&key.0).and_then(|list| list.last().copied()).unwrap_or(0) != value.0 {
                    return None;
                }
            }
        }
    }
    Some(state)
}

/// Tries all orders, with or without any of the transactions nobody knows the end of.
fn serializable(history: &Transactions, realtime: bool, done: u32, state: &State) -> bool {
    let txns = &history.txns;
    let left = |at: usize| done >> at & 1 == 0;
    if (0..txns.len()).all(|at| !left(at) || txns[at].outcome != Outcome::Committed) {
        return true;
    }
    let next: Vec<usize> = (0..txns.len()).filter(|&at| left(at) && txns[at].outcome != Outcome::Aborted).collect();
    let due = next.iter().map(|&at| txns[at].ret).min().expect("one is left");
    next.into_iter().filter(|&at| !realtime || txns[at].call < due).any(|at| {
        run(history, at as u32, state).is_some_and(|after| serializable(history, realtime, done | 1 << at, &after))
    })
}

/// Snapshot isolation as it works: transactions begin and commit in some order, read from what had been committed when they began, and commit only if nobody
/// else committed a write to one of their keys in between.
fn snapshots(
    history: &Transactions,
    begun: &mut Vec<Option<(State, usize)>>,
    log: &mut Vec<u32>,
    state: &State,
) -> bool {
    let txns = &history.txns;
    let done = |at: usize, log: &Vec<u32>| log.contains(&(at as u32));
    if (0..txns.len()).all(|at| done(at, log) || txns[at].outcome != Outcome::Committed) {
        return true;
    }
    let keys = |txn: u32| {
        let written = |micro: &Micro| if let Micro::Write(key, _) = micro { Some(*key) } else { None };
        history.parts(txn).iter().filter_map(written).collect::<Vec<_>>()
    };
    for at in 0..txns.len() {
        if txns[at].outcome == Outcome::Aborted || done(at, log) {
            continue;
        }
        match begun[at].clone() {
            None => {
                if run(history, at as u32, state).is_none() {
                    continue;
                }
                begun[at] = Some((state.clone(), log.len()));
                if snapshots(history, begun, log, state) {
                    return true;
                }
                begun[at] = None;
            }
            Some((_, since)) => {
                let mine = keys(at as u32);
                if log[since..].iter().any(|&other| keys(other).iter().any(|key| mine.contains(key))) {
                    continue;
                }
                let mut after = state.clone();
                for micro in history.parts(at as u32) {
                    if let Micro::Write(key, value) = *micro {
                        after.entry(key.0).or_default().push(value.0);
                    }
                }
                log.push(at as u32);
                if snapshots(history, begun, log, &after) {
                    return true;
                }
                log.pop();
            }
        }
    }
    false
}

/// Every order of some things.
fn permutations(things: &[u32]) -> Vec<Vec<u32>> {
    if things.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |at: usize| {
        let mut rest = things.to_vec();
        let first = rest.remove(at);
        permutations(&rest).into_iter().map(move |mut order| {
            order.insert(0, first);
            order
        })
    };
    (0..things.len()).flat_map(with_first).collect()
}

/// Of registers: everything that can be the order of the versions of each key, if these transactions took effect.
fn version_orders(history: &Transactions, took: &[bool]) -> Vec<BTreeMap<u32, Vec<u32>>> {
    let mut writers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for txn in (0..history.txns.len() as u32).filter(|txn| took[*txn as usize]) {
        for micro in history.parts(txn) {
            if let Micro::Write(key, _) = micro {
                let writers = writers.entry(key.0).or_default();
                writers.retain(|other| *other != txn);
                writers.push(txn);
            }
        }
    }
    let mut all = vec![BTreeMap::new()];
    for (key, writers) in writers {
        let orders = permutations(&writers);
        let with = |known: &BTreeMap<u32, Vec<u32>>| {
            let known = known.clone();
            orders.iter().map(move |order| {
                let mut known = known.clone();
                known.insert(key, order.clone());
                known
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// The transaction that wrote a value to a key, and whether it wrote the key again.
fn writer(history: &Transactions, key: ValueId, value: ValueId) -> Option<(u32, bool)> {
    (0..history.txns.len() as u32).find_map(|txn| {
        let parts = history.parts(txn);
        let at = parts.iter().position(|micro| *micro == Micro::Write(key, value))?;
        Some((txn, parts[at + 1..].iter().any(|micro| matches!(micro, Micro::Write(other, _) if *other == key))))
    })
}

/// Of registers: read committed by its definition. Some transactions of unknown end took effect, nothing was read that had none or was overwritten by its own
/// transaction, and for some order of the versions reading and overwriting make no circle.
fn read_committed(history: &Transactions) -> bool {
    let count = history.txns.len();
    let unknown: Vec<usize> = (0..count).filter(|&at| history.txns[at].outcome == Outcome::Unknown).collect();
    (0..1u32 << unknown.len()).any(|subset| {
        let mut took: Vec<bool> = history.txns.iter().map(|txn| txn.outcome == Outcome::Committed).collect();
        unknown.iter().enumerate().for_each(|(bit, &at)| took[at] = subset >> bit & 1 == 1);
        let mut from = Vec::new();
        for reader in (0..count).filter(|&at| history.txns[at].outcome == Outcome::Committed) {
            for micro in history.parts(reader as u32) {
                let Micro::Read(key, Seen::Value(value)) = *micro else { continue };
                if value == ValueId::NIL {
                    continue;
                }
                match writer(history, key, value) {
                    Some((own, _)) if own as usize == reader => {}
                    Some((other, false)) if took[other as usize] => from.push((other as usize, reader)),
                    _ => return false,
                }
            }
        }
        version_orders(history, &took).iter().any(|orders| {
            let mut before = vec![vec![false; count]; count];
            from.iter().for_each(|&(one, two)| before[one][two] = true);
            for order in orders.values() {
                order.windows(2).for_each(|pair| before[pair[0] as usize][pair[1] as usize] = true);
            }
            for (by, one, two) in (0..count.pow(3)).map(|at| (at / count / count, at / count % count, at % count)) {
                before[one][two] |= before[one][by] && before[by][two];
            }
            (0..count).all(|at| !before[at][at])
        })
    })
}

/// Of registers: the cycles that are said to exclude every order of the versions are cycles, of the kind that the level excludes, of things that were seen
/// or rest on the order, and each order has one.
fn check_cases(history: &Transactions, anomaly: &Anomaly) {
    let realtime = anomaly.realtime;
    let read =
        |txn: u32, key: ValueId, value: ValueId| history.parts(txn).contains(&Micro::Read(key, Seen::Value(value)));
    let mut took: Vec<bool> = history.txns.iter().map(|txn| txn.outcome == Outcome::Committed).collect();
    for micro in &history.micros {
        if let Micro::Read(key, Seen::Value(value)) = *micro
            && let Some((txn, _)) = writer(history, key, value)
        {
            took[txn as usize] = true;
        }
    }
    for case in &anomaly.cases {
        for (at, step) in case.iter().enumerate() {
            let next = case[(at + 1) % case.len()];
            assert_eq!(step.to, next.from, "{case:?}");
            let rw = |step: &Step| step.kind == EdgeKind::Rw;
            if anomaly.phenomenon == Phenomenon::NoOrder(Level::SnapshotIsolation) {
                assert!(case.len() > 1 && !(rw(step) && rw(&next)), "{case:?}");
            }
            match step.kind {
                EdgeKind::Wr => assert!(read(step.to, step.key, step.value), "{case:?}"),
                EdgeKind::Rw | EdgeKind::Through => assert!(read(step.from, step.key, step.value), "{case:?}"),
                EdgeKind::Ww => {}
                EdgeKind::Realtime => {
                    assert!(realtime && history.txns[step.from as usize].ret < history.txns[step.to as usize].call);
                }
            }
        }
    }
    for orders in version_orders(history, &took) {
        let older = |key: ValueId, one: u32, two: u32| {
            let place = |txn: u32| orders[&key.0].iter().position(|other| *other == txn).expect("a writer of the key");
            place(one) < place(two)
        };
        // What reads a version and writes the key cannot be older: that is a cycle for itself.
        let follows = |txn: u32| {
            history.parts(txn).iter().all(|micro| match *micro {
                Micro::Read(key, Seen::Value(value))
                    if orders.get(&key.0).is_some_and(|order| order.contains(&txn)) =>
                {
                    writer(history, key, value).is_none_or(|(from, _)| from == txn || older(key, from, txn))
                }
                _ => true,
            })
        };
        if !(0..took.len() as u32).filter(|txn| took[*txn as usize]).all(follows) {
            continue;
        }
        let so = |step: &Step| match step.kind {
            EdgeKind::Wr => writer(history, step.key, step.value).is_some_and(|(txn, _)| txn == step.from),
            EdgeKind::Ww => older(step.key, step.from, step.to),
            EdgeKind::Rw | EdgeKind::Through if step.value == ValueId::NIL => true,
            EdgeKind::Rw | EdgeKind::Through => {
                writer(history, step.key, step.value).is_some_and(|(txn, _)| older(step.key, txn, step.to))
            }
            EdgeKind::Realtime => true,
        };
        assert!(anomaly.cases.iter().any(|case| case.iter().all(so)), "{orders:?} has none of {:?}", anomaly.cases);
    }
}

/// A run of transactions on a store of snapshots, some of them looking at the newest state instead; often damaged.
fn random_history(workload: Workload, (width, longest): (usize, usize), random: &mut Random) -> Transactions {
    let mut history = Transactions::default();
    let keys: Vec<ValueId> = (0..width as i64).map(|key| history.values.intern_int(100 + key)).collect();
    let count = 1 + random.below(longest);
    let mut next: Vec<u32> = vec![0; width];
    let mut state: Vec<Vec<ValueId>> = vec![Vec::new(); width];
    let mut before = state.clone();
    let (mut open, mut clock): (Vec<usize>, u32) = (Vec::new(), 0);
    let mut values: Vec<Vec<ValueId>> = vec![Vec::new(); width];
    for _ in 0..count {
        let from = history.micros.len() as u32;
        let outcome = match random.below(10) {
            0 => Outcome::Aborted,
            1 => Outcome::Unknown,
            _ => Outcome::Committed,
        };
        let mut view = if random.chance(50) { state.clone() } else { before.clone() };
        before = state.clone();
        let effect = outcome != Outcome::Aborted && (outcome == Outcome::Committed || random.chance(50));
        for _ in 0..1 + random.below(3) {
            let key = random.below(width);
            if random.chance(50) {
                next[key] += 1;
                let value = history.values.intern_int(i64::from(next[key]));
                view[key].push(value);
                values[key].push(value);
                if effect {
                    state[key].push(value);
                }
                history.micros.push(Micro::Write(keys[key], value));
            } else {
                let mut seen = view[key].clone();
                if random.chance(12) {
                    seen.pop();
                } else if random.chance(6) && !values[key].is_empty() {
                    seen.push(random.pick(&values[key]));
                }
                let start = history.elements.len() as u32;
                history.micros.push(Micro::Read(
                    keys[key],
                    match (outcome, workload) {
                        (Outcome::Committed, Workload::ListAppend) => {
                            history.elements.extend(&seen);
                            Seen::List(start, history.elements.len() as u32)
                        }
                        (Outcome::Committed, Workload::RwRegister) => {
                            Seen::Value(seen.last().copied().unwrap_or(ValueId::NIL))
                        }
                        _ => Seen::Unknown,
                    },
                ));
            }
        }
        let parts = (from, history.micros.len() as u32);
        let at = history.txns.len();
        history.txns.push(Txn {
            process: ValueId(at as u32),
            outcome,
            call: Ts(clock),
            ret: Ts::INF,
            call_line: 0,
            ret_line: 0,
            parts,
        });
        open.push(at);
        clock += 1;
        while !open.is_empty() && random.chance(45) {
            let who = open.remove(random.below(open.len()));
            if history.txns[who].outcome != Outcome::Unknown {
                history.txns[who].ret = Ts(clock);
                clock += 1;
            }
        }
    }
    for who in open {
        if history.txns[who].outcome != Outcome::Unknown {
            history.txns[who].ret = Ts(clock);
            clock += 1;
        }
    }
    history.events = clock;
    history
}

fn sweep(workload: Workload, histories: u64, shape: (usize, usize), salt: u64) -> u64 {
    let mut random = Random::new(setting("RADDLE_SEED", 1) << 32 ^ salt);
    let mut counts: BTreeMap<(Level, bool), u64> = BTreeMap::new();
    let mut without_order = 0;
    for _ in 0..histories {
        let history = random_history(workload, shape, &mut random);
        let shown = || format!("{:?} {:?} {:?}", history.txns, history.micros, history.elements);
        let found = check(&history, workload, None).unwrap_or_else(|error| panic!("{error}: {}", shown()));
        let registers = workload == Workload::RwRegister;
        for (level, standing) in &found.levels {
            let expected = match level {
                Level::StrictSerializable => serializable(&history, true, 0, &State::new()),
                Level::Serializable => serializable(&history, false, 0, &State::new()),
                Level::SnapshotIsolation => {
                    snapshots(&history, &mut vec![None; history.txns.len()], &mut Vec::new(), &State::new())
                }
                Level::ReadCommitted if registers => read_committed(&history),
                Level::ReadUncommitted if registers => history.micros.iter().all(|micro| match *micro {
                    Micro::Read(key, Seen::Value(value)) if value != ValueId::NIL => {
                        writer(&history, key, value).is_some()
                    }
                    _ => true,
                }),
                _ => continue,
            };
            *counts.entry((*level, expected)).or_default() += 1;
            let said = match standing {
                Standing::Holds => true,
                Standing::Violated => false,
                Standing::Open => panic!("{} is not decided: {}", level.name(), shown()),
            };
            assert_eq!(said, expected, "{} of {}: {:?}", level.name(), shown(), found.anomalies);
        }
        for anomaly in found.anomalies.iter().filter(|anomaly| matches!(anomaly.phenomenon, Phenomenon::NoOrder(_))) {
            without_order += 1;
            if registers {
                check_cases(&history, anomaly);
            }
        }
    }
    println!("{}: {counts:?}, {without_order} without an order", workload.name());
    for level in [Level::SnapshotIsolation, Level::Serializable, Level::StrictSerializable] {
        for holds in [true, false] {
            assert!(counts.get(&(level, holds)).is_some_and(|&count| count > histories / 20), "{counts:?}");
        }
    }
    without_order
}

#[test]
fn lists_are_what_trying_everything_says() {
    sweep(Workload::ListAppend, setting("RADDLE_HISTORIES", 4_000), (2, 5), 31);
}

#[test]
fn registers_are_what_trying_everything_says() {
    let histories = setting("RADDLE_HISTORIES", 4_000);
    let without_order =
        sweep(Workload::RwRegister, histories, (2, 5), 32) + sweep(Workload::RwRegister, histories, (3, 6), 33);
    assert!(without_order > histories / 200, "every order had to be excluded {without_order} times");
}

/// After the deadline nothing is claimed that was not looked for.
#[test]
fn a_deadline_that_has_passed_leaves_levels_open() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:append 1 1]]}\n{:process 0, :type :ok, :f :txn, :value [[:append 1 1]]}\n";
    let settings = Settings { time_limit: Some(std::time::Duration::ZERO), ..Settings::default() };
    let (_, checked) = transactions(text.as_bytes(), &settings, Workload::ListAppend).expect("transactions");
    assert!(checked.stopped && checked.levels.iter().all(|(_, standing)| *standing == Standing::Open), "{checked:?}");
    let (_, checked) = transactions(text.as_bytes(), &Settings::default(), Workload::ListAppend).expect("transactions");
    assert!(!checked.stopped && checked.levels.iter().all(|(_, standing)| *standing == Standing::Holds), "{checked:?}");
}
