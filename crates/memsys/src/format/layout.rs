//! What a system is made of, with names resolved.

use super::Spot;
use super::expression::Expression;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Number,
    Truth,
    /// One of the enumerations, by its number.
    Enumeration(usize),
}

/// Something with elements: cores, locations, registers, state, channels, fields of messages.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) name: String,
    /// The number of its first element among all of its kind.
    pub(super) base: usize,
    pub(super) sizes: Vec<usize>,
}

impl Array {
    pub(super) fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The name of an element, by its number from 0.
    pub(super) fn element(&self, mut number: usize) -> String {
        let mut indices = Vec::new();
        for &size in self.sizes.iter().rev() {
            indices.push(format!("[{}]", number % size));
            number /= size;
        }
        indices.reverse();
        format!("{}{}", self.name, indices.concat())
    }
}

/// An element of something, with the indices as they are written.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Which array of its kind.
    pub(super) array: usize,
    pub(super) indices: Vec<Expression>,
    pub(super) spot: Spot,
}

/// A piece of state, or a field of messages.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) array: Array,
    pub(super) kind: Type,
    pub(super) low: i64,
    pub(super) high: i64,
    /// What it holds at the beginning.
    pub(super) initial: i64,
}

/// A channel with so many elements, each a list of messages.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) array: Array,
    pub(super) capacity: usize,
    /// What a message carries besides a value; bases count from the beginning of the message.
    pub(super) fields: Vec<Cell>,
    /// Numbers in a message: whether it carries a value, and its fields.
    pub(super) width: usize,
    /// Any message may be received, not the oldest only.
    pub(super) unordered: bool,
    /// Messages may vanish.
    pub(super) lossy: bool,
    /// Where the first element is in the state; it has the number of its messages, then the messages.
    pub(super) state: usize,
    /// The register of the first slot of the first element.
    pub(super) register: usize,
}

impl Channel {
    /// Numbers of an element in the state.
    pub(super) fn stride(&self) -> usize {
        1 + self.capacity * self.width
    }
}

/// Where a value is kept: in a register, or in the message that was received.
#[derive(Clone, Debug)]
pub(super) enum Store {
    Register(Element),
    Message(Spot),
}

/// A range of numbers, the second end excluded.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) from: Expression,
    pub(super) to: Expression,
}

/// What a rule does.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    Access {
        writes: bool,
        core: Element,
        location: Element,
        store: Store,
    },
    Copy {
        to: Element,
        from: Store,
    },
    Assign {
        cell: Element,
        value: Expression,
        spot: Spot,
    },
    /// In a `send`: the field of the new message.
    SetField {
        field: Element,
        value: Expression,
        spot: Spot,
    },
    Send {
        channel: Element,
        carries: Option<Store>,
        fields: Vec<Statement>,
    },
    For {
        slot: usize,
        range: Range,
        condition: Option<Expression>,
        body: Vec<Statement>,
    },
    If {
        condition: Expression,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
}

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) spot: Spot,
    /// Names and ranges of its parameters; their slots are 0, 1, ...
    pub(super) parameters: Vec<(String, Range)>,
    pub(super) receives: Option<Element>,
    pub(super) guard: Option<Expression>,
    pub(super) body: Vec<Statement>,
}

/// A system.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    pub(super) name: String,
    pub(super) initial_values: bool,
    pub(super) cores: Vec<Array>,
    pub(super) locations: Vec<Array>,
    pub(super) registers: Vec<Array>,
    pub(super) cells: Vec<Cell>,
    pub(super) channels: Vec<Channel>,
    /// The members of each enumeration.
    pub(super) enumerations: Vec<Vec<String>>,
    pub(super) rules: Vec<Rule>,
    /// The largest number of locals in a rule.
    pub(super) locals: usize,
    /// Numbers in a state, and registers, those of channels included.
    pub(super) width: usize,
    pub(super) register_count: usize,
}
