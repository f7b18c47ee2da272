//! Recording what a concurrent object does.
//!
//! Each thread has a [`ThreadRecorder`] with a buffer of its own; recording an operation reads the clock twice and pushes one
//! entry, without locks or shared memory. The clock is monotonic, is read *before* the call and *after* the return: recorded intervals
//! are stretched, which can hide a violation but never invent one. When a thread is done (its recorder is dropped) its
//! buffer is handed in; [`Recorder::history`] merges the buffers by time. Equal readings put calls before returns.
//!
//! Values of stacks and queues should be different from each other. [`ThreadRecorder::unique`] makes a number that no other
//! call on the same recorder makes; an object that never looks at its values behaves the same on these.
//!
//! ```
//! use raddle_linear::recorder::Recorder;
//! use raddle_linear::object::ObjectKind;
//! use raddle_linear::check::{check, Config};
//! use std::sync::Mutex;
//!
//! let stack = Mutex::new(Vec::new());
//! let recorder = Recorder::new();
//! std::thread::scope(|scope| {
//!     for _ in 0..2 {
//!         scope.spawn(|| {
//!             let mut record = recorder.thread();
//!             for _ in 0..10 {
//!                 let value = record.unique();
//!                 record.insert(value, || stack.lock().unwrap().push(value));
//!                 record.remove(|| stack.lock().unwrap().pop());
//!             }
//!         });
//!     }
//! });
//! let history = recorder.history();
//! let report = check(&history, &Config::new(ObjectKind::Stack)).unwrap();
//! assert!(matches!(report.verdict, raddle_linear::verdict::Verdict::Holds(_)));
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::history::{History, Method, Op, Ts};
use crate::value::{Value, Values};

/// One recorded operation.
#[derive(Clone, Debug)]
struct Entry {
    place: Value,
    method: Method,
    arg: Value,
    arg2: Value,
    /// `None` while the operation is open.
    result: Option<Value>,
    call: u64,
    ret: u64,
}

/// Collects the operations of several threads.
#[derive(Debug)]
pub struct Recorder {
    start: Instant,
    threads: AtomicU32,
    done: Mutex<Vec<(u32, Vec<Entry>)>>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder::new()
    }
}

impl Recorder {
    /// A recorder whose clock starts now.
    pub fn new() -> Recorder {
        Recorder { start: Instant::now(), threads: AtomicU32::new(0), done: Mutex::new(Vec::new()) }
    }

    /// A recorder for the calling thread. Its operations become part of the history when it is dropped.
    pub fn thread(&self) -> ThreadRecorder<'_> {
        let number = self.threads.fetch_add(1, Ordering::Relaxed);
        ThreadRecorder { recorder: self, number, made: 0, entries: Vec::with_capacity(1024) }
    }

    /// The history of all threads whose recorders have been dropped.
    pub fn history(&self) -> History {
        let done = match self.done.lock() {
            Ok(done) => done,
            // A thread panicked while handing in; what others handed in is whole.
            Err(poisoned) => poisoned.into_inner(),
        };
        let mut values = Values::default();
        let mut ops = Vec::new();
        // (reading, return?, operation): calls before returns of the same reading.
        let mut ends: Vec<(u64, bool, u32)> = Vec::new();
        for (thread, entries) in done.iter() {
            let process = values.intern_int(i64::from(*thread));
            for entry in entries {
                let number = ops.len() as u32;
                ends.push((entry.call, false, number));
                if entry.result.is_some() {
                    ends.push((entry.ret, true, number));
                }
                ops.push(Op {
                    process,
                    place: values.intern(entry.place.clone()),
                    method: entry.method,
                    arg: values.intern(entry.arg.clone()),
                    arg2: values.intern(entry.arg2.clone()),
                    result: entry.result.clone().map(|result| values.intern(result)),
                    call: Ts(0),
                    ret: Ts::INF,
                    call_line: 0,
                    ret_line: 0,
                });
            }
        }
        ends.sort_unstable();
        for (time, (_, returns, number)) in ends.iter().enumerate() {
            let op = &mut ops[*number as usize];
            *(if *returns { &mut op.ret } else { &mut op.call }) = Ts(time as u32);
        }
        ops.sort_unstable_by_key(|op| op.call);
        History { ops, values, events: ends.len() as u32 }
    }
}

/// Anything that can be the result of a recorded operation.
pub trait Recorded {
    /// The value that goes into the history.
    fn value(&self) -> Value;
}

impl Recorded for () {
    fn value(&self) -> Value {
        Value::Nil
    }
}

impl Recorded for bool {
    fn value(&self) -> Value {
        Value::Bool(*self)
    }
}

macro_rules! whole_numbers {
    ($($number:ty)*) => {$(
        impl Recorded for $number {
            fn value(&self) -> Value {
                i64::try_from(*self).map_or_else(|_| Value::text(self.to_string()), Value::Int)
            }
        }
    )*};
}

whole_numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl Recorded for String {
    fn value(&self) -> Value {
        Value::text(self)
    }
}

impl<T: Recorded> Recorded for Option<T> {
    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Nil, Recorded::value)
    }
}

/// Records the operations of one thread.
#[derive(Debug)]
pub struct ThreadRecorder<'a> {
    recorder: &'a Recorder,
    number: u32,
    made: u64,
    entries: Vec<Entry>,
}

impl ThreadRecorder<'_> {
    /// A number that no other call on any thread of this recorder makes.
    pub fn unique(&mut self) -> u64 {
        self.made += 1;
        u64::from(self.number) << 40 | self.made
    }

    /// Runs and records an operation: method, arguments, and what is called.
    pub fn record<R: Recorded>(&mut self, method: Method, arg: Value, arg2: Value, call: impl FnOnce() -> R) -> R {
        self.record_on((), method, arg, arg2, call)
    }

    /// The same on one of several objects or keys.
    pub fn record_on<R: Recorded>(
        &mut self,
        place: impl Recorded,
        method: Method,
        arg: Value,
        arg2: Value,
        call: impl FnOnce() -> R,
    ) -> R {
        let slot = self.entries.len();
        self.entries.push(Entry { place: place.value(), method, arg, arg2, result: None, call: 0, ret: 0 });
        self.entries[slot].call = self.now();
        let result = call();
        let now = self.now();
        let entry = &mut self.entries[slot];
        entry.ret = now;
        entry.result = Some(result.value());
        result
    }

    fn now(&self) -> u64 {
        nanoseconds(self.recorder.start)
    }

    /// A push, an enqueue, or an add to a set or multiset.
    pub fn insert<R: Recorded>(&mut self, value: impl Recorded, call: impl FnOnce() -> R) -> R {
        self.record(Method::Insert, value.value(), Value::Nil, call)
    }

    /// A pop or a dequeue; `None` is "empty".
    pub fn remove<T: Recorded>(&mut self, call: impl FnOnce() -> Option<T>) -> Option<T> {
        self.record(Method::Remove, Value::Nil, Value::Nil, call)
    }

    /// A remove from a set or multiset: was it there?
    pub fn remove_value(&mut self, value: impl Recorded, call: impl FnOnce() -> bool) -> bool {
        self.record(Method::Remove, value.value(), Value::Nil, call)
    }

    /// A membership query.
    pub fn contains(&mut self, value: impl Recorded, call: impl FnOnce() -> bool) -> bool {
        self.record(Method::Contains, value.value(), Value::Nil, call)
    }

    /// A read of a register, a counter.
    pub fn read<T: Recorded>(&mut self, call: impl FnOnce() -> T) -> T {
        self.record(Method::Read, Value::Nil, Value::Nil, call)
    }

    /// A write.
    pub fn write(&mut self, value: impl Recorded, call: impl FnOnce()) {
        self.record(Method::Write, value.value(), Value::Nil, call);
    }

    /// An append to a text or a log; what it returns is the position, if it tells one.
    pub fn append<R: Recorded>(&mut self, value: impl Recorded, call: impl FnOnce() -> R) -> R {
        self.record(Method::Append, value.value(), Value::Nil, call)
    }

    /// An addition to a counter that returns what it was before.
    pub fn fetch_add<R: Recorded>(&mut self, amount: i64, call: impl FnOnce() -> R) -> R {
        self.record(Method::FetchAdd, Value::Int(amount), Value::Nil, call)
    }

    /// A compare-and-set: did it succeed?
    pub fn cas(&mut self, old: impl Recorded, new: impl Recorded, call: impl FnOnce() -> bool) -> bool {
        self.record(Method::Cas, old.value(), new.value(), call)
    }
}

impl Drop for ThreadRecorder<'_> {
    fn drop(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        if let Ok(mut done) = self.recorder.done.lock() {
            done.push((self.number, entries));
        }
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Records calls of any methods, for a model of one's own: what was called and answered are whatever the model says.
///
/// ```
/// use raddle_linear::recorder::Calls;
/// use std::sync::Mutex;
///
/// let number = Mutex::new(0i64);
/// let calls = Calls::new();
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut record = calls.thread();
///             record.call("add 1", || { *number.lock().unwrap() += 1; None });
///             record.call("get", || Some(*number.lock().unwrap()));
///         });
///     }
/// });
/// assert_eq!(calls.into_calls().len(), 4);
/// ```
#[derive(Debug)]
pub struct Calls<C, R> {
    start: Instant,
    threads: AtomicU32,
    done: Mutex<Vec<Made<C, R>>>,
}

/// A call that was recorded. Times are numbers of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made<C, R> {
    /// The thread.
    pub process: u32,
    /// What was called.
    pub call: C,
    /// What it answered; nothing if it never returned.
    pub ret: Option<R>,
    /// When it was called.
    pub start: Ts,
    /// When it returned, [`Ts::INF`] if it never did.
    pub end: Ts,
    read: (u64, u64),
}

impl<C, R> Default for Calls<C, R> {
    fn default() -> Calls<C, R> {
        Calls { start: Instant::now(), threads: AtomicU32::new(0), done: Mutex::new(Vec::new()) }
    }
}

impl<C, R> Calls<C, R> {
    /// A recorder whose clock starts now.
    pub fn new() -> Calls<C, R> {
        Calls::default()
    }

    /// A recorder for the calling thread. Its calls count when it is dropped.
    pub fn thread(&self) -> ThreadCalls<'_, C, R> {
        ThreadCalls { calls: self, process: self.threads.fetch_add(1, Ordering::Relaxed), made: Vec::new() }
    }

    /// The calls of all threads whose recorders have been dropped, in the order in which they were made.
    pub fn into_calls(self) -> Vec<Made<C, R>> {
        // A thread may have panicked while handing in; what others handed in is whole.
        let mut made = self.done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut ends: Vec<(u64, bool, usize)> = Vec::new();
        for (at, call) in made.iter().enumerate() {
            ends.push((call.read.0, false, at));
            if call.ret.is_some() {
                ends.push((call.read.1, true, at));
            }
        }
        ends.sort_unstable();
        for (now, (_, returns, at)) in (0u32..).zip(&ends) {
            *(if *returns { &mut made[*at].end } else { &mut made[*at].start }) = Ts(now);
        }
        made.sort_unstable_by_key(|call| call.start);
        made
    }
}

/// Records the calls of one thread.
#[derive(Debug)]
pub struct ThreadCalls<'a, C, R> {
    calls: &'a Calls<C, R>,
    process: u32,
    made: Vec<Made<C, R>>,
}

impl<C, R: Clone> ThreadCalls<'_, C, R> {
    /// Runs and records a call.
    pub fn call(&mut self, call: C, run: impl FnOnce() -> R) -> R {
        let slot = self.made.len();
        let (process, start, end) = (self.process, Ts(0), Ts::INF);
        self.made.push(Made { process, call, ret: None, start, end, read: (0, 0) });
        self.made[slot].read.0 = nanoseconds(self.calls.start);
        let ret = run();
        let now = nanoseconds(self.calls.start);
        let made = &mut self.made[slot];
        made.read.1 = now;
        made.ret = Some(ret.clone());
        ret
    }
}

impl<C, R> Drop for ThreadCalls<'_, C, R> {
    fn drop(&mut self) {
        let made = std::mem::take(&mut self.made);
        if let Ok(mut done) = self.calls.done.lock() {
            done.extend(made);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_panics_stays_pending() {
        let recorder = Recorder::new();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let mut record = recorder.thread();
                record.write(1u32, || {});
                record.read(|| -> u32 { panic!("the object under test fails") });
            });
            assert!(thread.join().is_err());
        });
        let history = recorder.history();
        assert_eq!(history.ops.len(), 2);
        assert!(!history.ops[0].is_pending() && history.ops[1].is_pending());
    }

    #[test]
    fn unique_values_are_unique_across_threads() {
        let recorder = Recorder::new();
        let (mut one, mut two) = (recorder.thread(), recorder.thread());
        let all: std::collections::HashSet<u64> = (0..100).flat_map(|_| [one.unique(), two.unique()]).collect();
        assert_eq!(all.len(), 200);
    }
}
