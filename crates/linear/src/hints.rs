//! Would the history hold if its words meant something else?
//!
//! Some words of histories have more than one meaning in use: a read that returned `nil`, a lock that another process releases, a set that may be
//! a multiset. When a history is violated and would hold under the other meaning, the answer says so; the verdict stays what it is.
//!
//! Cost: one more check for each meaning that applies, within a budget and before the deadline.

use rustc_hash::FxHashSet;

use crate::check::{Config, check};
use crate::history::{History, Method, Op};
use crate::meaning::NilReads;
use crate::object::ObjectKind;
use crate::value::{Value, ValueId};
use crate::verdict::Verdict;

/// The most operations of a history that is checked again.
const LARGE: usize = 1_000_000;
/// What checking it again may cost, in configurations for each object.
const QUESTION: u64 = 1_000_000;

/// What would make a violated history hold. `told` says that the user named the type of the object.
pub fn hints(history: &History, config: &Config, nil_reads: NilReads, told: bool) -> Vec<String> {
    if history.ops.len() > LARGE {
        return Vec::new();
    }
    let holds = |history: &History, config: Config| {
        let budget = config.budget.at_most(QUESTION);
        let config = Config { explain: false, budget, ..config };
        check(history, &config).is_ok_and(|report| matches!(report.verdict, Verdict::Holds(_)))
    };
    let mut hints = Vec::new();
    match config.kind {
        ObjectKind::Register | ObjectKind::Map => {
            let reads_nil = |op: &Op| op.method == Method::Read && op.result == Some(ValueId::NIL);
            if nil_reads == NilReads::Nothing && history.ops.iter().any(reads_nil) {
                let mut other = history.clone();
                other.ops.iter_mut().filter(|op| reads_nil(op)).for_each(|op| op.result = None);
                if holds(&other, config.clone()) {
                    hints.push("if a read that returned nil means that nobody knows what it read (--nil-reads unknown), it holds".into());
                }
            }
            if config.initial == Value::Nil
                && let Some(value) = read_but_never_written(history)
                && holds(history, Config { initial: history.value(value).clone(), ..config.clone() })
            {
                hints.push(format!("if {} was there at the beginning (--initial), it holds", history.value(value)));
            }
        }
        ObjectKind::Lock if holds(history, Config { kind: ObjectKind::Mutex, ..config.clone() }) => {
            hints.push("if a process may release what another one holds (--type mutex), it holds".into());
        }
        ObjectKind::Set if !told && holds(history, Config { kind: ObjectKind::Multiset, ..config.clone() }) => {
            hints.push("if a value may be there several times (--type multiset), it holds".into());
        }
        _ => {}
    }
    hints
}

/// The only value that was read and that nothing wrote, if there is one.
fn read_but_never_written(history: &History) -> Option<ValueId> {
    let written: FxHashSet<ValueId> = history
        .ops
        .iter()
        .filter_map(|op| match op.method {
            Method::Write => Some(op.arg),
            Method::Cas => Some(op.arg2),
            _ => None,
        })
        .collect();
    let mut read = history.ops.iter().filter(|op| op.method == Method::Read).filter_map(|op| op.result);
    let value = read.find(|value| *value != ValueId::NIL && !written.contains(value))?;
    read.all(|other| other == value || other == ValueId::NIL || written.contains(&other)).then_some(value)
}
