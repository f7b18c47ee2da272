//! Who a thread is: the way to it from the first thread, and a number for each way.
//!
//! A thread is who started it and as how many-th. `1.2` is the second thread that the first thread of main started; the
//! threads that main itself starts are `1`, `2`, ..., and main is `0`. This *name* ([`ThreadName`]) means the same in every run of a program,
//! whatever the schedule, and in every process: in schedules, in reports, in what the program itself sees of a thread
//! (its handle, the addresses of the objects it makes).
//!
//! Whoever runs programs wants small numbers instead, to index tables, to pack into addresses, to make sets of bits of. So each
//! name has a number ([`ThreadId`]), which depends on the name and on one bit of the program ([`Numbering`]):
//!
//! * if only the first thread starts others, the `n`-th of them has the number `n`;
//! * otherwise all names are numbered by their *weight*: the product of the counts in it, times the square of its length (times two if it
//!   has length 1); among equals the shorter and then the lexicographically smaller one comes first. So threads near to the first one and
//!   started early have small numbers, in whatever way threads start others: 1, 2, 1.1, 3, 4, 1.2, 2.1, 1.1.1, 5, 6, 1.3, 3.1, 7, ...
//!   Among the first 64 are nine threads started by the first of main's, and a chain of six; among all 4094 it is more than a
//!   hundred, and more than twenty.

use crate::ids::ThreadId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// How many threads have numbers.
pub const MAX_THREADS: u32 = 4094;

/// What is said of a program that starts more.
pub const TOO_MANY: &str = "the program starts more threads than can be followed: 4,093 beside the first one, fewer where other threads start some; --loop-bound N bounds a loop that starts them";

/// Who a thread is, in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadName(u32);

/// Names from here on are positions in the table of all names.
const NESTED: u32 = MAX_THREADS;

impl ThreadName {
    /// The thread that runs `main`.
    pub const MAIN: ThreadName = ThreadName(0);

    /// The `n`-th thread that main starts, from 1; `None` if there are never so many.
    pub const fn nth(n: u32) -> Option<ThreadName> {
        if n < MAX_THREADS { Some(ThreadName(n)) } else { None }
    }

    fn from_path(path: &[u32]) -> Option<ThreadName> {
        match *path {
            [] => Some(ThreadName::MAIN),
            [n] => ThreadName::nth(n),
            _ => Some(ThreadName(NESTED + *TABLE.numbers.get(path)?)),
        }
    }

    /// Gives the counts along the way to it to `visit`.
    fn with_path<R>(self, visit: impl FnOnce(&[u32]) -> R) -> R {
        match self.0.checked_sub(NESTED) {
            Some(position) => visit(&TABLE.paths[position as usize]),
            None if self.0 == 0 => visit(&[]),
            None => visit(&[self.0]),
        }
    }
}

/// `T1.2`; with `#`, without the letter.
impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            f.write_str("T")?;
        }
        self.with_path(|path| {
            let (first, rest) = path.split_first().unwrap_or((&0, &[]));
            write!(f, "{first}")?;
            rest.iter().try_for_each(|count| write!(f, ".{count}"))
        })
    }
}

/// From the form without the letter.
impl FromStr for ThreadName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let count = |word: &str| word.parse::<u32>().ok().filter(|_| digits(word));
        let path: Option<Vec<u32>> = text.split('.').map(count).collect();
        let found = match path.as_deref() {
            Some([0]) => Some(ThreadName::MAIN),
            Some(path) => ThreadName::from_path(path).filter(|_| !path.contains(&0)),
            None => None,
        };
        found.ok_or_else(|| format!("`{text}` is no thread; threads look like `2` or `2.1`"))
    }
}

/// The threads that main starts, and main itself, are numbers; others are texts.
impl Serialize for ThreadName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 < NESTED {
            serializer.serialize_u32(self.0)
        } else {
            serializer.collect_str(&format_args!("{self:#}"))
        }
    }
}

impl<'de> Deserialize<'de> for ThreadName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = ThreadName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a thread such as 2 or \"2.1\"")
            }

            fn visit_u64<E: de::Error>(self, n: u64) -> Result<ThreadName, E> {
                let name = u32::try_from(n).ok().and_then(ThreadName::nth);
                name.ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(n), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ThreadName, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// How the threads of a program are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numbering {
    /// Only the first thread starts others.
    Flat,
    /// Any thread may start others.
    Nested,
}

impl Numbering {
    /// The thread that `parent` starts when it has started `started` before; `None` if it has no number.
    pub fn child(self, parent: ThreadId, started: u32) -> Option<ThreadId> {
        match self {
            Numbering::Flat if parent == ThreadId::MAIN => Some(ThreadId(started.checked_add(1)?)),
            Numbering::Flat => None,
            Numbering::Nested => {
                let mut path = TABLE.paths.get(parent.index())?.to_vec();
                path.push(started.checked_add(1)?);
                TABLE.numbers.get(path.as_slice()).map(|&number| ThreadId(number))
            }
        }
        .filter(|child| child.0 < MAX_THREADS)
    }

    /// The name of a thread, if there can be such a one.
    pub fn name(self, id: ThreadId) -> Option<ThreadName> {
        match self {
            Numbering::Flat => ThreadName::nth(id.0),
            Numbering::Nested => ThreadName::from_path(TABLE.paths.get(id.index())?),
        }
    }

    /// The number of a thread, if there can be such a one.
    pub fn number(self, name: ThreadName) -> Option<ThreadId> {
        match self {
            Numbering::Flat => (name.0 < NESTED).then_some(ThreadId(name.0)),
            Numbering::Nested => name.with_path(|path| TABLE.numbers.get(path).map(|&number| ThreadId(number))),
        }
    }
}

/// All names that have a number, by number.
struct Table {
    paths: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, u32>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut paths: Vec<Box<[u32]>> = vec![Box::default()];
    for weight in 1.. {
        for length in (1..).take_while(|length| length * length <= weight) {
            let factor = (length * length).max(2);
            if weight % factor == 0 {
                products(length, weight / factor, &mut Vec::new(), &mut paths);
            }
        }
        if paths.len() >= MAX_THREADS as usize {
            break;
        }
    }
    paths.truncate(MAX_THREADS as usize);
    let numbers = paths.iter().enumerate().map(|(number, path)| (path.clone(), number as u32)).collect();
    Table { paths, numbers }
});

/// Appends to `found` all lists that begin with `prefix` and go on with `left` numbers whose product is this.
fn products(left: u32, product: u32, prefix: &mut Vec<u32>, found: &mut Vec<Box<[u32]>>) {
    if left == 0 {
        if product == 1 {
            found.push(prefix.as_slice().into());
        }
        return;
    }
    for count in (1..=product).filter(|count| product.is_multiple_of(*count)) {
        prefix.push(count);
        products(left - 1, product / count, prefix, found);
        prefix.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ThreadName {
        text.parse().expect("a name")
    }

    #[test]
    fn names_read_back_as_they_were_written() {
        for text in ["0", "1", "17", "4093", "1.1", "2.1.3", "1.1.1.1.1.1.1.1.1.1"] {
            assert_eq!(format!("{:#}", name(text)), text);
            assert_eq!(name(text).to_string(), format!("T{text}"));
            let json = serde_json::to_string(&name(text)).expect("serialises");
            assert_eq!(json, if text.contains('.') { format!("\"{text}\"") } else { text.to_owned() });
            assert_eq!(serde_json::from_str::<ThreadName>(&json).expect("reads"), name(text));
        }
    }

    #[test]
    fn what_is_no_thread_is_refused() {
        for text in ["", "x", "-1", "+1", "1.", ".1", "1.0", "0.1", "0.0", "4094", "99999999999", "1.99999"] {
            assert!(text.parse::<ThreadName>().is_err(), "{text}");
        }
        for json in ["4094", "-1", "\"T1\"", "1.5", "[1]"] {
            assert!(serde_json::from_str::<ThreadName>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn numbers_and_names_belong_to_each_other() {
        for numbering in [Numbering::Flat, Numbering::Nested] {
            for number in (0..MAX_THREADS).map(ThreadId) {
                let name = numbering.name(number).expect("it has a number");
                assert_eq!(numbering.number(name), Some(number), "{name}");
            }
            assert_eq!(numbering.name(ThreadId(MAX_THREADS)), None);
        }
        assert_eq!(Numbering::Flat.number(name("1.1")), None);
    }

    #[test]
    fn a_thread_that_main_starts_has_its_count_for_a_number_if_nobody_else_starts_any() {
        assert_eq!(Numbering::Flat.child(ThreadId::MAIN, 0), Some(ThreadId(1)));
        assert_eq!(Numbering::Flat.child(ThreadId::MAIN, 4092), Some(ThreadId(4093)));
        assert_eq!(Numbering::Flat.child(ThreadId::MAIN, 4093), None);
        assert_eq!(Numbering::Flat.child(ThreadId(1), 0), None);
    }

    #[test]
    fn threads_near_to_main_and_started_early_have_small_numbers() {
        let names: Vec<String> =
            (0..14).filter_map(|n| Numbering::Nested.name(ThreadId(n))).map(|name| format!("{name:#}")).collect();
        assert_eq!(names.join(" "), "0 1 2 1.1 3 4 1.2 2.1 1.1.1 5 6 1.3 3.1 7");
        let number = |text: &str| Numbering::Nested.number(name(text)).map_or(u32::MAX, |id| id.0);
        assert!(["19", "1.9", "2.4", "1.1.1.1.1.1"].into_iter().all(|text| number(text) < 64));
        assert!(["264", "1.132", "11.11", "3.3.3"].into_iter().all(|text| number(text) < MAX_THREADS));
        assert!(number(&["1"; 22].join(".")) < MAX_THREADS);
    }

    #[test]
    fn the_name_of_a_child_goes_on_from_its_parent() {
        let id = |text: &str| Numbering::Nested.number(name(text)).expect("it has a number");
        assert_eq!(Numbering::Nested.child(ThreadId::MAIN, 2), Some(id("3")));
        assert_eq!(Numbering::Nested.child(id("3"), 0), Some(id("3.1")));
        assert_eq!(Numbering::Nested.child(id("3.1"), 1), Some(id("3.1.2")));
        assert_eq!(Numbering::Nested.child(id("3.1"), u32::MAX), None);
        assert_eq!(Numbering::Nested.child(ThreadId(MAX_THREADS), 0), None);
    }
}
