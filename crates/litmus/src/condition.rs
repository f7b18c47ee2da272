//! The end of a file: `locations [x; 0:EAX;]`, `filter P`, and `exists P`, `~exists P` or `forall P`.

use crate::Result_;
use crate::cursor::Cursor;
use crate::lex::Kind;
use raddle_program::Span;
use std::fmt;

/// What a test says about its final states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Of how many of them.
    pub quantifier: Quantifier,
    /// What: the condition as text.
    pub condition: String,
    /// How often the file says that the condition is satisfied, if it does. Then this is the claim.
    pub expectation: Option<Expectation>,
}

/// Of how many final states a condition is said to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Of one at least.
    Exists,
    /// Of none.
    NotExists,
    /// Of all.
    Forall,
}

/// How often a condition is satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// In no final state.
    Never,
    /// In some, but not in all.
    Sometimes,
    /// In all.
    Always,
}

impl Expectation {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Expectation::Never => "Never",
            Expectation::Sometimes => "Sometimes",
            Expectation::Always => "Always",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Expectation::Never, Expectation::Sometimes, Expectation::Always]
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.quantifier, self.condition)
    }
}

/// A register of a thread or a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) thread: Option<u32>,
    pub(crate) name: String,
    pub(crate) index: u32,
    pub(crate) indexed: bool,
    pub(crate) span: Span,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(thread) = self.thread {
            write!(f, "{thread}:")?;
        }
        f.write_str(&self.name)?;
        if self.indexed { write!(f, "[{}]", self.index) } else { Ok(()) }
    }
}

/// What a register or a location is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(i64),
    /// The address of a location.
    Address(Spot),
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Constant(bool),
    Atom { spot: Spot, equal: bool, value: Value },
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Condition, inside: fn(&Condition) -> bool| {
            if inside(part) { format!("({part})") } else { part.to_string() }
        };
        match self {
            Condition::Constant(value) => write!(f, "{value}"),
            Condition::Atom { spot, equal, value } => {
                write!(f, "{spot}{}", if *equal { "=" } else { "!=" })?;
                match value {
                    Value::Number(number) => write!(f, "{number}"),
                    Value::Address(spot) => write!(f, "{spot}"),
                }
            }
            Condition::Not(inner) => write!(f, "~({inner})"),
            Condition::And(a, b) => {
                let or = |part: &Condition| matches!(part, Condition::Or(..));
                write!(f, "{} /\\ {}", part(a, or), part(b, or))
            }
            Condition::Or(a, b) => {
                let and = |part: &Condition| matches!(part, Condition::And(..));
                write!(f, "{} \\/ {}", part(a, and), part(b, and))
            }
        }
    }
}

impl Condition {
    /// Calls `visit` on every register and location that is read.
    pub(crate) fn spots<'a>(&'a self, visit: &mut impl FnMut(&'a Spot)) {
        match self {
            Condition::Constant(_) => {}
            Condition::Atom { spot, .. } => visit(spot),
            Condition::Not(inner) => inner.spots(visit),
            Condition::And(a, b) | Condition::Or(a, b) => {
                a.spots(visit);
                b.spots(visit);
            }
        }
    }
}

/// Everything behind the code.
pub(crate) struct Tail {
    pub(crate) locations: Vec<Spot>,
    pub(crate) filter: Option<Condition>,
    pub(crate) quantifier: Quantifier,
    pub(crate) condition: Condition,
    /// Where the condition stands.
    pub(crate) span: Span,
}

/// Whether the code ends here.
pub(crate) fn begins(cursor: &Cursor<'_>) -> bool {
    let word = |kind: &Kind, words: &[&str]| matches!(kind, Kind::Word(word) if words.contains(&word.as_str()));
    match cursor.peek() {
        Kind::End => true,
        Kind::Sign("~") => word(cursor.ahead(1), &["exists", "exist"]),
        kind if word(kind, &["not"]) => word(cursor.ahead(1), &["exists", "exist"]),
        kind => word(kind, &["exists", "exist", "forall", "locations", "filter", "final", "observed", "cases"]),
    }
}

pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result_<Tail> {
    let span = cursor.span();
    let mut tail = Tail {
        locations: Vec::new(),
        filter: None,
        quantifier: Quantifier::Forall,
        condition: Condition::Constant(true),
        span,
    };
    let mut asked = false;
    while !cursor.at_end() {
        let span = cursor.span();
        if cursor.eat_word("locations") {
            locations(cursor, &mut tail.locations)?;
            continue;
        }
        if cursor.eat_word("filter") {
            tail.filter = Some(implication(cursor)?);
            cursor.eat(";");
            continue;
        }
        let negated = cursor.eat("~") || cursor.eat_word("not");
        let (word, place) = cursor.word("`exists`, `~exists`, `forall`, `locations` or `filter`")?;
        let quantifier = match (word.as_str(), negated) {
            ("exists" | "exist", false) => Quantifier::Exists,
            ("exists" | "exist", true) => Quantifier::NotExists,
            ("forall", false) => Quantifier::Forall,
            _ => {
                let message = format!("`{word}` is not supported here");
                let help = "a test ends in `exists (P)`, `~exists (P)` or `forall (P)`";
                return Err(raddle_program::Diagnostic::new(place, message).help(help).into());
            }
        };
        if asked {
            return Err(
                raddle_program::Diagnostic::new(span, "a test has one condition, and this is a second one").into()
            );
        }
        asked = true;
        let condition = implication(cursor)?;
        tail = Tail { quantifier, condition, span, ..tail };
        cursor.eat(";");
    }
    Ok(tail)
}

fn locations(cursor: &mut Cursor<'_>, found: &mut Vec<Spot>) -> Result_<()> {
    cursor.expect("[")?;
    while !cursor.eat("]") {
        if !cursor.eat(";") && !cursor.eat(",") {
            // A type may stand before or behind.
            crate::types::specifier(cursor)?;
            while cursor.eat("*") {}
            let spot = spot(cursor)?;
            crate::types::specifier(cursor)?;
            while cursor.eat("*") {}
            found.push(spot);
        }
    }
    Ok(())
}

/// `x`, `[x]`, `*x`, `a[1]`, `0:EAX`, `P0:r1`.
pub(crate) fn spot(cursor: &mut Cursor<'_>) -> Result_<Spot> {
    let span = cursor.span();
    if cursor.eat("[") {
        let mut inner = spot_inside(cursor)?;
        // `[a+4]` and the like are not locations of their own.
        cursor.expect("]")?;
        inner.span = span;
        return Ok(inner);
    }
    cursor.eat("*");
    spot_inside(cursor)
}

fn spot_inside(cursor: &mut Cursor<'_>) -> Result_<Spot> {
    let span = cursor.span();
    let thread = match (cursor.peek(), cursor.ahead(1)) {
        (Kind::Number(Some(number)), Kind::Sign(":")) => {
            Some(u32::try_from(*number).map_err(|_| cursor.wrong("the number of a thread"))?)
        }
        (Kind::Word(word), Kind::Sign(":")) => Some(
            word.strip_prefix('P')
                .and_then(|number| number.parse().ok())
                .ok_or_else(|| cursor.wrong("the number of a thread"))?,
        ),
        _ => None,
    };
    if thread.is_some() {
        cursor.advance();
        cursor.advance();
        cursor.eat("%");
    }
    let (name, _) = cursor.word("a register (0:r1) or a location (x)")?;
    let mut spot = Spot { thread, name, index: 0, indexed: false, span };
    if spot.thread.is_none() && cursor.eat("[") {
        let index = cursor.number("an index")?;
        spot.index = u32::try_from(index).map_err(|_| cursor.error("this index is out of range"))?;
        spot.indexed = true;
        cursor.expect("]")?;
    }
    Ok(spot)
}

fn implication(cursor: &mut Cursor<'_>) -> Result_<Condition> {
    cursor.enter()?;
    let first = disjunction(cursor)?;
    let all = if cursor.eat("=>") {
        let then = implication(cursor)?;
        Condition::Or(Box::new(Condition::Not(Box::new(first))), Box::new(then))
    } else {
        first
    };
    cursor.leave();
    Ok(all)
}

fn disjunction(cursor: &mut Cursor<'_>) -> Result_<Condition> {
    let mut parts = vec![conjunction(cursor)?];
    while cursor.eat("\\/") || cursor.eat("||") {
        parts.push(conjunction(cursor)?);
    }
    Ok(balanced(parts, Condition::Or))
}

fn conjunction(cursor: &mut Cursor<'_>) -> Result_<Condition> {
    let mut parts = vec![atom(cursor)?];
    while cursor.eat("/\\") || cursor.eat("&&") {
        parts.push(atom(cursor)?);
    }
    Ok(balanced(parts, Condition::And))
}

/// Many parts make a tree that is not deep.
fn balanced(mut parts: Vec<Condition>, join: fn(Box<Condition>, Box<Condition>) -> Condition) -> Condition {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let right = parts.split_off(parts.len() / 2);
    join(Box::new(balanced(parts, join)), Box::new(balanced(right, join)))
}

fn atom(cursor: &mut Cursor<'_>) -> Result_<Condition> {
    if cursor.eat("~") || cursor.eat("!") || cursor.eat_word("not") {
        cursor.enter()?;
        let inner = atom(cursor)?;
        cursor.leave();
        return Ok(Condition::Not(Box::new(inner)));
    }
    if cursor.eat("(") {
        let inner = implication(cursor)?;
        cursor.expect(")")?;
        return Ok(inner);
    }
    for (word, value) in [("true", true), ("false", false)] {
        if cursor.eat_word(word) {
            return Ok(Condition::Constant(value));
        }
    }
    let spot = spot(cursor)?;
    let equal = cursor.eat("=") || cursor.eat("==");
    if !equal && !cursor.eat("!=") && !cursor.eat("<>") {
        return Err(cursor.wrong("`=`"));
    }
    Ok(Condition::Atom { spot, equal, value: value(cursor)? })
}

/// A number, or the address of a location.
pub(crate) fn value(cursor: &mut Cursor<'_>) -> Result_<Value> {
    cursor.eat("$");
    if matches!(cursor.peek(), Kind::Number(_)) && matches!(cursor.ahead(1), Kind::Sign(":")) {
        return Err(cursor.error("a value is a number or a location, not a register"));
    }
    if cursor.is("-") || matches!(cursor.peek(), Kind::Number(_)) {
        return cursor.number("a number").map(Value::Number);
    }
    if cursor.eat("+") {
        return cursor.number("a number").map(Value::Number);
    }
    cursor.eat("&");
    for (word, number) in [("NULL", 0), ("true", 1), ("false", 0)] {
        if cursor.eat_word(word) {
            return Ok(Value::Number(number));
        }
    }
    spot_inside(cursor).map(Value::Address)
}
