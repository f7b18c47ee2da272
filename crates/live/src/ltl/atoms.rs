//! Conditions on global variables.
//!
//! What is compared are 64-bit sums, products and differences, as signed numbers; a variable is as wide as it is declared and signed as well.

use super::Wrong;
use super::formula::{Node, Tree};
use raddle_machine::{Access, Addr, ByteMemory};
use raddle_program::{GlobalId, Layout, Program, Type};

/// Which conditions are true in a state, a bit for each.
pub type Letter = u64;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    left: Value,
    compare: &'static str,
    right: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(i64),
    At(Access),
    Negated(Box<Value>),
    Of(&'static str, Box<Value>, Box<Value>),
}

impl Atom {
    /// Whether it is true with this memory.
    pub fn holds(&self, memory: &ByteMemory) -> bool {
        let (left, right) = (self.left.of(memory), self.right.of(memory));
        match self.compare {
            "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            _ => left >= right,
        }
    }
}

impl Value {
    fn of(&self, memory: &ByteMemory) -> i64 {
        match self {
            Value::Number(number) => *number,
            Value::At(access) => {
                let word = memory.read(*access).map_or(0, |(word, _)| word);
                let shift = 64 - 8 * u32::from(access.size);
                ((word << shift) as i64) >> shift
            }
            Value::Negated(inner) => inner.of(memory).wrapping_neg(),
            Value::Of("+", left, right) => left.of(memory).wrapping_add(right.of(memory)),
            Value::Of("-", left, right) => left.of(memory).wrapping_sub(right.of(memory)),
            Value::Of(_, left, right) => left.of(memory).wrapping_mul(right.of(memory)),
        }
    }
}

/// Finds the variables of a condition.
///
/// # Errors
/// If there is no such variable, or it has no single value.
pub fn resolve(tree: &Tree, program: &Program) -> Result<Atom, Wrong> {
    match &tree.node {
        Node::Binary(compare @ ("==" | "!=" | "<" | "<=" | ">" | ">="), left, right) => {
            Ok(Atom { left: value(left, program)?, compare, right: value(right, program)? })
        }
        _ => Ok(Atom { left: value(tree, program)?, compare: "!=", right: Value::Number(0) }),
    }
}

fn value(tree: &Tree, program: &Program) -> Result<Value, Wrong> {
    let wrong = |message: String| Wrong { message, at: tree.at, len: tree.len };
    match &tree.node {
        Node::Number(number) => Ok(Value::Number(*number)),
        Node::Unary("-", inner) => Ok(Value::Negated(Box::new(value(inner, program)?))),
        Node::Binary(operator @ ("+" | "-" | "*"), left, right) => {
            Ok(Value::Of(operator, Box::new(value(left, program)?), Box::new(value(right, program)?)))
        }
        Node::Name(name, index) => {
            let id = program.global(name).ok_or_else(|| wrong(format!("there is no global variable `{name}`")))?;
            let object = &program.globals[id.index()];
            if object.thread_local {
                return Err(wrong(format!("every thread has a `{name}` of its own")));
            }
            let (ty, at) = match (object.layout, *index) {
                (Layout::Scalar(ty), None) => (ty, 0),
                (Layout::Mutex | Layout::RwLock | Layout::Semaphore(_), None) => (Type::I32, 0),
                (Layout::Array(ty, number), Some(at)) => match u32::try_from(at).ok().filter(|&at| at < number) {
                    Some(at) => (ty, at),
                    None => return Err(wrong(format!("`{name}` has {number} elements"))),
                },
                (Layout::Array(_, number), None) => {
                    return Err(wrong(format!("`{name}` has {number} elements; `{name}[0]` is the first")));
                }
                _ => return Err(wrong(format!("`{name}` has no single value that could be compared"))),
            };
            Ok(Value::At(element(id, ty, at)))
        }
        Node::Constant(_) | Node::Unary(..) | Node::Binary(..) => {
            Err(wrong("a formula has no value; what is compared are variables and numbers".into()))
        }
    }
}

fn element(id: GlobalId, ty: Type, at: u32) -> Access {
    let size = ty.size() as u8;
    Access { addr: Addr(Addr::global(id).0 + u64::from(at) * u64::from(size)), size }
}
