//! The general checker: time against the number of clients and operations.
//!
//! A store is checked three times: key by key; all keys in one search that knows which key an operation is about; and
//! by a model that does not tell, so that the search sees one object whose state is the whole store. The last is what a
//! checker without partitions has to do.

use super::generate::{container, register, simulate, stale, store};
use super::{Made, Table, seconds, timed};
use crate::failure::Failure;
use crate::table::thousands;
use raddle::cost::Meter;
use raddle::linear::check::{Config, Engine};
use raddle::linear::history::{History, Ts};
use raddle::linear::object::ObjectKind;
use raddle::linear::search::objects::{Object, Request, State};
use raddle::linear::search::{Budget, Entry, Found, Model, Nature, search};
use raddle::linear::value::{ValueId, Values};
use raddle::linear::verdict::Verdict;
use std::time::{Duration, Instant};

/// How the general checker is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct General {
    /// Seconds after which it gives up.
    pub(super) patience: u64,
    /// Tiny histories only.
    pub(super) quick: bool,
}

impl General {
    fn budget(self) -> Budget {
        Budget { deadline: Some(Instant::now() + Duration::from_secs(self.patience)), ..Budget::default() }
    }

    pub(super) fn sizes(self, sizes: &[(usize, usize)]) -> &[(usize, usize)] {
        if self.quick { &sizes[..1] } else { sizes }
    }

    /// The time of a verdict of which nobody else knows whether it is right.
    pub(super) fn decide_alone(self, history: &History, config: Config) -> Result<String, Failure> {
        let alone = self.decide(history, config.clone(), Made::Linearizable);
        alone.or_else(|_| self.decide(history, config, Made::Wrong))
    }

    pub(super) fn decide(self, history: &History, config: Config, made: Made) -> Result<String, Failure> {
        let config = Config { budget: self.budget(), explain: false, ..config };
        let (time, report) = timed(&config.kind.to_string(), history, &config, made)?;
        Ok(match report.verdict {
            Verdict::Unknown(_) => "unknown".to_owned(),
            _ => seconds(time),
        })
    }

    /// Key-value stores.
    ///
    /// # Errors
    /// If a verdict is wrong.
    pub(super) fn store(self) -> Result<Table, Failure> {
        const SIZES: [(usize, usize); 8] =
            [(10, 360), (10, 1_000), (10, 4_000), (25, 1_000), (50, 1_800), (50, 10_000), (100, 4_000), (100, 20_000)];
        let title = "key-value store of 10 keys (get 40 %, put 10 %, append 50 %): CPU seconds";
        let head = "clients|operations|key by key|stale read|one search|stale read|keys unknown|stale read";
        let mut table = Table::new(title, head);
        for &(clients, count) in self.sizes(&SIZES) {
            let (mut object, values) = store(10);
            let good = simulate(&mut object, values, count, clients, 3);
            let mut bad = good.clone();
            stale(&mut bad);
            let histories = [(&good, Made::Linearizable), (&bad, Made::Wrong)];
            let mut cells = vec![clients.to_string(), thousands(count as u64)];
            for partition in [true, false] {
                for (history, made) in histories {
                    cells.push(self.decide(history, Config { partition, ..Config::new(ObjectKind::Map) }, made)?);
                }
            }
            for (history, made) in histories {
                cells.push(self.decide_whole(history, made)?);
            }
            table.lines.push(cells);
        }
        Ok(table)
    }

    fn decide_whole(self, history: &History, made: Made) -> Result<String, Failure> {
        let meter = Meter::start();
        let object = Object::new(ObjectKind::Map, &history.values).foreseeing(&history.ops, true);
        let entry = |op| {
            let call = object.request(op, true);
            Entry { call, ret: op.result, start: op.call, end: op.ret }
        };
        let entries: Vec<Entry<Whole<'_>>> = history.ops.iter().map(entry).collect();
        let (found, _) = search(&Whole(object), &entries, self.budget());
        let time = meter.read().cpu_seconds;
        match (found, made) {
            (Found::OutOfBudget(_), _) => Ok("unknown".to_owned()),
            (Found::Linearization(_), Made::Linearizable) | (Found::None(_), Made::Wrong) => Ok(seconds(time)),
            _ => Err(Failure::History { what: "store".into(), found: "the wrong verdict".into() }),
        }
    }

    /// Registers.
    ///
    /// # Errors
    /// If a verdict is wrong.
    pub(super) fn register(self) -> Result<Table, Failure> {
        const SIZES: [(usize, usize); 8] = [
            (10, 1_000),
            (10, 10_000),
            (20, 1_000),
            (20, 10_000),
            (50, 1_000),
            (50, 10_000),
            (100, 1_000),
            (100, 10_000),
        ];
        let title = "register of 5 values (read, write, compare-and-set): CPU seconds";
        let mut table = Table::new(title, "clients|operations|linearizable|one read wrong");
        for &(clients, count) in self.sizes(&SIZES) {
            let good = simulate(&mut register(5), Values::default(), count, clients, 5);
            let mut bad = good.clone();
            stale(&mut bad);
            let mut cells = vec![clients.to_string(), thousands(count as u64)];
            for (history, made) in [(&good, Made::Linearizable), (&bad, Made::Wrong)] {
                cells.push(self.decide(history, Config::new(ObjectKind::Register), made)?);
            }
            table.lines.push(cells);
        }
        Ok(table)
    }

    /// Stacks and queues of different values, for which there are monitors.
    ///
    /// # Errors
    /// If a verdict is wrong.
    pub(super) fn line(self) -> Result<Table, Failure> {
        const SIZES: [(usize, usize); 5] = [(4, 400), (4, 1_000), (8, 200), (8, 400), (8, 2_000)];
        let title = "stacks and queues of different values without their monitors: CPU seconds";
        let mut table = Table::new(title, "threads|operations|queue|stack");
        for &(threads, count) in self.sizes(&SIZES) {
            let mut cells = vec![threads.to_string(), thousands(count as u64)];
            for kind in [ObjectKind::Queue, ObjectKind::Stack] {
                let history = container(kind, count, threads);
                let config = Config { engine: Engine::Search, ..Config::new(kind) };
                cells.push(self.decide(&history, config, Made::Linearizable)?);
            }
            table.lines.push(cells);
        }
        Ok(table)
    }
}

/// A store that does not tell which operations have nothing to do with each other.
struct Whole<'a>(Object<'a>);

impl Model for Whole<'_> {
    type State = State;
    type Call = Request;
    type Ret = ValueId;

    fn initial(&self) -> State {
        self.0.initial()
    }

    fn step(&self, state: &State, call: &Request, ret: Option<&ValueId>) -> Vec<State> {
        self.0.step(state, call, ret)
    }

    fn nature(&self, call: &Request, ret: Option<&ValueId>) -> Nature {
        // A write overwrites one key, not the store.
        match self.0.nature(call, ret) {
            Nature::Overwrites => Nature::Silent,
            other => other,
        }
    }

    fn fades(&self, state: &State) -> Option<(Ts, State)> {
        self.0.fades(state)
    }

    fn weight(&self, state: &State) -> usize {
        self.0.weight(state)
    }
}
