//! Records real concurrent objects and monitors them: crossbeam's queues, mutexed collections of the standard library, and a stack
//! that is broken on purpose.
//!
//! ```text
//! cargo run --release -p raddle --example record -- [OPERATIONS PER THREAD] [THREADS] [DIRECTORY FOR THE HISTORIES]
//! ```

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Mutex;

use crossbeam::queue::{ArrayQueue, SegQueue};
use raddle::cost::Meter;
use raddle::linear::check::{Config, check};
use raddle::linear::decide::Decided;
use raddle::linear::format::write::json_lines;
use raddle::linear::object::ObjectKind;
use raddle::linear::recorder::{Recorder, ThreadRecorder};
use raddle::report::Layout;

struct Settings {
    operations: usize,
    threads: usize,
    directory: Option<PathBuf>,
}

/// Runs a workload on every thread, and monitors what was recorded.
fn monitor(name: &str, kind: ObjectKind, settings: &Settings, work: impl Fn(&mut ThreadRecorder<'_>, usize) + Sync) {
    let recorder = Recorder::new();
    std::thread::scope(|scope| {
        for _ in 0..settings.threads {
            scope.spawn(|| {
                let mut record = recorder.thread();
                (0..settings.operations).for_each(|turn| work(&mut record, turn));
            });
        }
    });
    let history = recorder.history();
    println!("== {name}");
    if let Some(directory) = &settings.directory {
        let path = directory.join(format!("{}.jsonl", name.replace(' ', "-")));
        match File::create(&path) {
            Ok(mut file) => {
                if let Err(error) = json_lines(&history, kind, &mut file) {
                    eprintln!("cannot write {}: {error}", path.display());
                }
            }
            Err(error) => eprintln!("cannot create {}: {error}", path.display()),
        }
    }
    let meter = Meter::start();
    match check(&history, &Config::new(kind)) {
        Ok(report) => {
            let answer = raddle::histories::answer(name, Decided { kind, history, report }, meter.read());
            answer
                .text(Layout { width: 100, full: false })
                .lines()
                .take(12)
                .for_each(|line| anstream::println!("{line}"));
        }
        Err(error) => println!("{error}"),
    }
}

/// A stack whose pop looks at the top and takes it in two steps: between them another thread may push or pop.
#[derive(Default)]
struct TornStack {
    values: Mutex<Vec<u64>>,
}

impl TornStack {
    fn values(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.values.lock().expect("no thread panics while it holds the lock")
    }

    fn push(&self, value: u64) {
        self.values().push(value);
    }

    fn pop(&self) -> Option<u64> {
        let top = self.values().last().copied();
        std::thread::yield_now();
        self.values().pop();
        top
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let settings = Settings {
        operations: words.next().and_then(|word| word.parse().ok()).unwrap_or(20_000),
        threads: words.next().and_then(|word| word.parse().ok()).unwrap_or(4),
        directory: words.next().map(PathBuf::from),
    };
    let lock = "no thread panics while it holds the lock";

    let queue = SegQueue::new();
    monitor("crossbeam SegQueue", ObjectKind::Queue, &settings, |record, turn| {
        if turn % 2 == 0 {
            let value = record.unique();
            record.insert(value, || queue.push(value));
        } else {
            record.remove(|| queue.pop());
        }
    });

    let queue = ArrayQueue::new(1 << 20);
    monitor("crossbeam ArrayQueue", ObjectKind::Queue, &settings, |record, turn| {
        if turn % 3 != 2 {
            let value = record.unique();
            record.insert(value, || while queue.push(value).is_err() {});
        } else {
            record.remove(|| queue.pop());
        }
    });

    let queue = Mutex::new(VecDeque::new());
    monitor("mutexed VecDeque", ObjectKind::Queue, &settings, |record, turn| {
        if turn % 2 == 0 {
            let value = record.unique();
            record.insert(value, || queue.lock().expect(lock).push_back(value));
        } else {
            record.remove(|| queue.lock().expect(lock).pop_front());
        }
    });

    let stack = Mutex::new(Vec::new());
    monitor("mutexed Vec as a stack", ObjectKind::Stack, &settings, |record, turn| {
        if turn % 2 == 0 {
            let value = record.unique();
            record.insert(value, || stack.lock().expect(lock).push(value));
        } else {
            record.remove(|| stack.lock().expect(lock).pop());
        }
    });

    let set = Mutex::new(HashSet::new());
    monitor("mutexed HashSet", ObjectKind::Set, &settings, |record, turn| {
        let value = (turn * 7 % 16) as u64;
        match turn % 3 {
            0 => record.insert(value, || set.lock().expect(lock).insert(value)),
            1 => record.remove_value(value, || set.lock().expect(lock).remove(&value)),
            _ => record.contains(value, || set.lock().expect(lock).contains(&value)),
        };
    });

    let torn = TornStack::default();
    monitor("torn stack", ObjectKind::Stack, &settings, |record, turn| {
        if turn % 3 != 2 {
            let value = record.unique();
            record.insert(value, || torn.push(value));
        } else {
            record.remove(|| torn.pop());
        }
    });
}
