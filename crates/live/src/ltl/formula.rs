//! The text of formulas.
//!
//! ```text
//! formula    = formula op formula | ("!" | "G" | "F" | "X") formula | "true" | "false" | condition | "(" formula ")"
//! op         = "<->" | "->" | "||" | "&&" | "U" | "R" | "W"          from weak to strong; -> and U, R, W group to the right
//! condition  = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]    a sum alone: it is not 0
//! sum        = sum ("+" | "-" | "*") sum | "-" sum | number | name | name "[" number "]" | "(" sum ")"
//! ```
//!
//! Conditions bind stronger than everything else: `! x == 1` is `!(x == 1)`. One grammar reads both kinds, and a second look says which is where, so that brackets may stand around either.

use super::Wrong;

/// A formula; conditions by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Formula {
    /// True.
    True,
    /// Not this.
    Not(Box<Formula>),
    /// Both.
    And(Box<Formula>, Box<Formula>),
    /// In the next state.
    Next(Box<Formula>),
    /// The first until the second, which comes.
    Until(Box<Formula>, Box<Formula>),
    /// The condition with this number.
    Atom(usize),
}

impl Formula {
    /// Not this.
    pub fn negated(self) -> Formula {
        match self {
            Formula::Not(inner) => *inner,
            other => Formula::Not(Box::new(other)),
        }
    }

    fn and(self, other: Formula) -> Formula {
        Formula::And(Box::new(self), Box::new(other))
    }

    fn or(self, other: Formula) -> Formula {
        self.negated().and(other.negated()).negated()
    }

    fn until(self, other: Formula) -> Formula {
        Formula::Until(Box::new(self), Box::new(other))
    }

    /// Whether it is about more than one state.
    pub fn is_temporal(&self) -> bool {
        match self {
            Formula::True | Formula::Atom(_) => false,
            Formula::Not(inner) => inner.is_temporal(),
            Formula::And(left, right) => left.is_temporal() || right.is_temporal(),
            Formula::Next(_) | Formula::Until(..) => true,
        }
    }

    /// How many formulas it is made of.
    fn size(&self) -> usize {
        match self {
            Formula::True | Formula::Atom(_) => 1,
            Formula::Not(inner) | Formula::Next(inner) => 1 + inner.size(),
            Formula::And(left, right) | Formula::Until(left, right) => 1 + left.size() + right.size(),
        }
    }

    fn always(self) -> Formula {
        Formula::True.until(self.negated()).negated()
    }
}

/// What was read, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// What.
    pub node: Node,
    /// At which character, from 0.
    pub at: usize,
    /// For how many characters.
    pub len: usize,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A number.
    Number(i64),
    /// A variable, perhaps an element of an array.
    Name(String, Option<i64>),
    /// `true` or `false`.
    Constant(bool),
    /// An operator before something.
    Unary(&'static str, Box<Tree>),
    /// An operator between two.
    Binary(&'static str, Box<Tree>, Box<Tree>),
}

/// Operators between two, from weak to strong.
const LEVELS: [&[&str]; 7] =
    [&["<->"], &["->"], &["||"], &["&&"], &["U", "R", "W"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-", "*"]];
/// The level of comparisons: what is from here on is a condition.
const CONDITIONS: usize = 5;
/// Everything that is not a name, a number or a blank, long ones first.
const SIGNS: [&str; 18] =
    ["<->", "->", "||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "!", "(", ")", "[", "]"];
/// Brackets and operators deeper than this are not read, ...
const DEEPEST: usize = 200;
/// ... nor formulas with more words.
const LONGEST: usize = 1_000;
/// Operators that stand for several of others make a formula no larger than this.
const LARGEST: usize = 5_000;

struct Token {
    text: String,
    at: usize,
    len: usize,
}

fn tokens(text: &str) -> Result<Vec<Token>, Wrong> {
    let all: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < all.len() {
        if all[at].is_whitespace() {
            at += 1;
            continue;
        }
        let word = |c: &&char| c.is_alphanumeric() || matches!(**c, '_' | '.' | '$');
        let mut len = all[at..].iter().take_while(word).count();
        if len == 0 {
            let rest: String = all[at..].iter().take(3).collect();
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            len = sign.map_or(0, |sign| sign.len());
        }
        if len == 0 {
            let message = format!("`{}` has no meaning in a formula", all[at]);
            return Err(Wrong { message, at, len: 1 });
        }
        if tokens.len() == LONGEST {
            return Err(Wrong { message: format!("a formula has at most {LONGEST} words"), at, len });
        }
        tokens.push(Token { text: all[at..at + len].iter().collect(), at, len });
        at += len;
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    end: usize,
    depth: usize,
}

/// Reads a formula.
///
/// # Errors
/// With the place of what is wrong.
pub fn parse(text: &str) -> Result<Tree, Wrong> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, end: text.chars().count(), depth: 0 };
    let tree = parser.binary(0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(tree),
        Some(token) => {
            let message = format!("`{}` is not expected here; the formula could end before it", token.text);
            Err(Wrong { message, at: token.at, len: token.len })
        }
    }
}

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.next).map_or("", |token| &token.text)
    }

    fn wrong(&self, message: String) -> Wrong {
        let (at, len) = self.tokens.get(self.next).map_or((self.end, 1), |token| (token.at, token.len));
        Wrong { message, at, len }
    }

    fn take(&mut self, text: &str) -> Result<(), Wrong> {
        if self.peek() != text {
            return Err(self.wrong(format!("`{text}` is missing")));
        }
        self.next += 1;
        Ok(())
    }

    /// From the beginning of one tree to the end of what was read last.
    fn tree(&self, node: Node, at: usize) -> Tree {
        let end = self.tokens[..self.next].last().map_or(at, |token| token.at + token.len);
        Tree { node, at, len: end - at }
    }

    fn binary(&mut self, level: usize) -> Result<Tree, Wrong> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(&operator) = operators.iter().find(|operator| **operator == self.peek()) {
            self.next += 1;
            self.deeper()?;
            let to_the_right = level == 1 || level == 4;
            let right = self.binary(if to_the_right { level } else { level + 1 })?;
            self.depth -= 1;
            let at = left.at;
            left = self.tree(Node::Binary(operator, Box::new(left), Box::new(right)), at);
            if level == CONDITIONS {
                break;
            }
        }
        Ok(left)
    }

    fn deeper(&mut self) -> Result<(), Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.wrong("the formula is nested too deeply".into())) } else { Ok(()) }
    }

    fn unary(&mut self) -> Result<Tree, Wrong> {
        let at = self.tokens.get(self.next).map_or(self.end, |token| token.at);
        if let Some(&operator) = ["!", "G", "F", "X", "-"].iter().find(|operator| **operator == self.peek()) {
            self.next += 1;
            self.deeper()?;
            let inner = if operator == "-" { self.unary()? } else { self.binary(CONDITIONS)? };
            self.depth -= 1;
            return Ok(self.tree(Node::Unary(operator, Box::new(inner)), at));
        }
        if self.peek() == "(" {
            self.next += 1;
            self.deeper()?;
            let mut inner = self.binary(0)?;
            self.depth -= 1;
            self.take(")")?;
            inner.at = at;
            let last = &self.tokens[self.next - 1];
            inner.len = last.at + last.len - at;
            return Ok(inner);
        }
        let word = self.peek().to_owned();
        let first = word.chars().next();
        let node = match first {
            Some(c) if c.is_ascii_digit() => {
                Node::Number(word.parse().map_err(|_| self.wrong(format!("`{word}` is no number that fits")))?)
            }
            Some(c) if c.is_alphabetic() || c == '_' => match word.as_str() {
                "true" => Node::Constant(true),
                "false" => Node::Constant(false),
                "U" | "R" | "W" => return Err(self.wrong(format!("`{word}` stands between two formulas"))),
                _ => {
                    self.next += 1;
                    let mut index = None;
                    if self.peek() == "[" {
                        self.next += 1;
                        let number = self.peek().parse().map_err(|_| self.wrong("a number is missing".into()))?;
                        index = Some(number);
                        self.next += 1;
                        self.take("]")?;
                    }
                    return Ok(self.tree(Node::Name(word, index), at));
                }
            },
            _ => return Err(self.wrong("a condition or a formula is missing".into())),
        };
        self.next += 1;
        Ok(self.tree(node, at))
    }
}

/// Who numbers conditions.
pub type Numbering<'n> = dyn FnMut(&Tree) -> Result<usize, Wrong> + 'n;

/// The formula that was read, with its conditions numbered.
///
/// # Errors
/// If something that is no condition stands where one has to, or `number` says so.
pub fn of(tree: &Tree, number: &mut Numbering<'_>) -> Result<Formula, Wrong> {
    Ok(match &tree.node {
        Node::Constant(true) => Formula::True,
        Node::Constant(false) => Formula::True.negated(),
        Node::Unary("!", inner) => of(inner, number)?.negated(),
        Node::Unary("G", inner) => of(inner, number)?.always(),
        Node::Unary("F", inner) => Formula::True.until(of(inner, number)?),
        Node::Unary("X", inner) => Formula::Next(Box::new(of(inner, number)?)),
        Node::Binary(operator @ ("<->" | "->" | "||" | "&&" | "U" | "R" | "W"), left, right) => {
            let (left, right) = (of(left, number)?, of(right, number)?);
            if left.size() + right.size() > LARGEST {
                return Err(Wrong { message: "the formula is too large".into(), at: tree.at, len: tree.len });
            }
            match *operator {
                "&&" => left.and(right),
                "||" => left.or(right),
                "->" => left.negated().or(right),
                "<->" => {
                    let both = left.clone().and(right.clone());
                    both.or(left.negated().and(right.negated()))
                }
                "U" => left.until(right),
                "R" => left.negated().until(right.negated()).negated(),
                _ => left.clone().until(right).or(left.always()),
            }
        }
        Node::Number(_) | Node::Name(..) | Node::Unary(..) | Node::Binary(..) => Formula::Atom(number(tree)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tree: &Tree) -> String {
        match &tree.node {
            Node::Number(n) => n.to_string(),
            Node::Name(name, None) => name.clone(),
            Node::Name(name, Some(index)) => format!("{name}[{index}]"),
            Node::Constant(value) => value.to_string(),
            Node::Unary(operator, inner) => format!("({operator} {})", shown(inner)),
            Node::Binary(operator, left, right) => format!("({} {operator} {})", shown(left), shown(right)),
        }
    }

    #[test]
    fn formulas_are_grouped_as_they_are_meant() {
        for (text, expected) in [
            ("G (want0 -> F in0)", "(G (want0 -> (F in0)))"),
            ("a -> b -> c", "(a -> (b -> c))"),
            ("!x == 1 && y", "((! (x == 1)) && y)"),
            ("a U b U c || d", "((a U (b U c)) || d)"),
            ("G F x + 1 < y * 2", "(G (F ((x + 1) < (y * 2))))"),
            ("(x + 1) == -2", "((x + 1) == (- 2))"),
            ("flag[1] <-> true", "(flag[1] <-> true)"),
            ("F G !p W q", "((F (G (! p))) W q)"),
        ] {
            assert_eq!(parse(text).map(|tree| shown(&tree)).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (text, at, message) in [
            ("G (a -> ", 8, "missing"),
            ("a b", 2, "not expected"),
            ("a && # b", 5, "no meaning"),
            ("(a", 2, "`)` is missing"),
            ("U a", 0, "between two"),
            ("x[y]", 2, "number"),
            ("99999999999999999999", 0, "fits"),
            ("", 0, "missing"),
        ] {
            let wrong = parse(text).expect_err(text);
            assert_eq!(wrong.at, at, "{text}: {wrong:?}");
            assert!(wrong.message.contains(message), "{text}: {wrong:?}");
        }
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&"! ".repeat(100_000)).is_err());
        assert!(parse(&"a -> ".repeat(100_000)).is_err());
        assert!(parse(&"a && ".repeat(100_000)).is_err());
        // Each of these operators stands for two of what is on its left.
        let tree = parse(&["a"; 100].join(" <-> ")).expect("a formula");
        assert!(of(&tree, &mut |_| Ok(0)).is_err());
    }
}
