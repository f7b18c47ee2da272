//! Deterministic automata in the Hanoi Omega-Automata format (Babiak et al. 2015), and the Streett pairs of what they reject.
//!
//! Acceptance is any formula whose negation is, written as a conjunction of disjunctions, a conjunction of Streett pairs: Rabin, Büchi, co-Büchi and parity automata all have one, generalized
//! Rabin automata have not. A disjunction `Fin(a) | Inf(b) | Inf(c)` is the pair of the requests `a` and the grants `b` or `c`; one without `Fin` is requested always.
//!
//! Not read: several initial states, alternation, labels that are left out, `Fin(!a)` and `Inf(!a)`. Aliases are.

use super::InputError;
use rustc_hash::FxHashMap;

/// A deterministic automaton with marks on its edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// Where it begins.
    pub initial: u32,
    /// Names of propositions; at most 64.
    pub propositions: Vec<String>,
    /// The edges of each state that has some.
    edges: FxHashMap<u32, Vec<Edge>>,
    /// What has to hold for a word to be rejected.
    pub rejects: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Edge {
    label: Label,
    to: u32,
    marks: u64,
    at: (u32, u32),
}

/// A pair of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The mark that requests; none: always.
    pub requests: Option<u32>,
    /// Marks that grant, as bits.
    pub grants: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    Constant(bool),
    Proposition(u32),
    Not(Box<Label>),
    And(Box<Label>, Box<Label>),
    Or(Box<Label>, Box<Label>),
}

impl Label {
    fn size(&self) -> usize {
        match self {
            Label::Constant(_) | Label::Proposition(_) => 1,
            Label::Not(label) => 1 + label.size(),
            Label::And(one, other) | Label::Or(one, other) => 1 + one.size() + other.size(),
        }
    }

    fn holds(&self, letter: u64) -> bool {
        match self {
            Label::Constant(value) => *value,
            Label::Proposition(number) => letter >> number & 1 == 1,
            Label::Not(label) => !label.holds(letter),
            Label::And(one, other) => one.holds(letter) && other.holds(letter),
            Label::Or(one, other) => one.holds(letter) || other.holds(letter),
        }
    }
}

impl Automaton {
    /// Where it goes with this letter (a bit for each proposition), and the marks it meets; none if it is stuck, which rejects.
    ///
    /// # Errors
    /// If there are two ways to go.
    pub fn step(&self, state: u32, letter: u64) -> Result<Option<(u32, u64)>, InputError> {
        let mut ways = self.edges.get(&state).into_iter().flatten().filter(|edge| edge.label.holds(letter));
        let Some(first) = ways.next() else { return Ok(None) };
        match ways.next() {
            Some(second) => {
                Err(InputError::at(second.at, format!("the automaton has two ways to go in state {state}"))
                    .help("the automaton has to be deterministic, or the words it rejects are not known"))
            }
            None => Ok(Some((first.to, first.marks))),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// `States:`
    Header(&'a str),
    Word(&'a str),
    Number(u64),
    Text(&'a str),
    Sign(char),
    Alias(&'a str),
    Body,
    End,
}

type At = (u32, u32);

fn tokens(text: &str) -> Result<Vec<(Token<'_>, At)>, InputError> {
    let mut tokens = Vec::new();
    // The place of what was counted up to here: lines may be long.
    let (mut line, mut column, mut counted, mut at) = (1, 1, 0, 0);
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte == b'.';
    while at < bytes.len() {
        column += text[counted..at].chars().count() as u32;
        counted = at;
        let place = (line, column);
        let word = |from: usize| from + bytes[from..].iter().take_while(|&&byte| is_word(byte)).count();
        match bytes[at] {
            b'\n' => {
                at += 1;
                (line, column, counted) = (line + 1, 1, at);
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            b'/' if text[at..].starts_with("/*") => {
                let Some(len) = text[at + 2..].find("*/") else {
                    return Err(InputError::at(place, "the comment has no end"));
                };
                let comment = &text[at..at + len + 4];
                if let Some(last) = comment.rfind('\n') {
                    line += comment.matches('\n').count() as u32;
                    (column, counted) = (1, at + last + 1);
                }
                at += len + 4;
            }
            b'"' => {
                let rest = &bytes[at + 1..];
                let mut len = 0;
                while len < rest.len() && rest[len] != b'"' && rest[len] != b'\n' {
                    len += if rest[len] == b'\\' { 2 } else { 1 };
                }
                if rest.get(len) != Some(&b'"') {
                    return Err(InputError::at(place, "the text has no end"));
                }
                tokens.push((Token::Text(&text[at + 1..at + 1 + len]), place));
                at += len + 2;
            }
            b'@' => {
                let end = word(at + 1);
                tokens.push((Token::Alias(&text[at + 1..end]), place));
                at = end;
            }
            byte if is_word(byte) => {
                let end = word(at);
                let found = &text[at..end];
                at = end;
                tokens.push((
                    match found {
                        "--BODY--" => Token::Body,
                        "--END--" => Token::End,
                        _ if bytes.get(end) == Some(&b':') => {
                            at += 1;
                            Token::Header(found)
                        }
                        _ if found.bytes().all(|byte| byte.is_ascii_digit()) => {
                            Token::Number(super::number(found, place)?)
                        }
                        _ => Token::Word(found),
                    },
                    place,
                ));
            }
            byte if byte.is_ascii() => {
                tokens.push((Token::Sign(byte as char), place));
                at += 1;
            }
            _ => return Err(InputError::at(place, "this character has no meaning here")),
        }
    }
    Ok(tokens)
}

/// How deep formulas may be nested, and how many disjunctions acceptance may have.
const DEPTH: u32 = 200;
const CLAUSES: usize = 1_000;
/// How much may be written in place of aliases, which may name each other.
const EXPANDED: usize = 1_000_000;

struct Reader<'a> {
    tokens: Vec<(Token<'a>, At)>,
    next: usize,
    depth: u32,
    aliases: FxHashMap<&'a str, Label>,
    propositions: Vec<String>,
    sets: u64,
    /// How many states there are, if the header says so before it names one.
    states: u64,
    expanded: usize,
}

/// Reads an automaton.
///
/// # Errors
/// If it is none, or one that cannot be used; with a place.
pub fn read(text: &str) -> Result<Automaton, InputError> {
    let tokens = tokens(text)?;
    let mut reader = Reader {
        tokens,
        next: 0,
        depth: 0,
        aliases: FxHashMap::default(),
        propositions: Vec::new(),
        sets: 0,
        states: u64::MAX,
        expanded: 0,
    };
    reader.automaton()
}

impl<'a> Reader<'a> {
    fn here(&self) -> At {
        self.tokens.get(self.next).or(self.tokens.last()).map_or((1, 1), |token| token.1)
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, InputError> {
        Err(InputError::at(self.here(), message))
    }

    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.next).map(|token| &token.0)
    }

    fn take(&mut self) -> Option<Token<'a>> {
        let token = self.peek().cloned();
        self.next += 1;
        token
    }

    fn is(&mut self, sign: char) -> bool {
        let is = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, sign: char) -> Result<(), InputError> {
        if self.is(sign) { Ok(()) } else { self.wrong(format!("a `{sign}` is missing here")) }
    }

    fn number(&mut self) -> Result<u64, InputError> {
        match self.peek() {
            Some(&Token::Number(number)) => {
                self.next += 1;
                Ok(number)
            }
            _ => self.wrong("a number is missing here"),
        }
    }

    fn state(&mut self) -> Result<u32, InputError> {
        let at = self.here();
        match self.number()? {
            number if number >= self.states => Err(InputError::at(at, format!("there is no state {number}"))),
            number => u32::try_from(number).map_err(|_| InputError::at(at, "the number of this state is too large")),
        }
    }

    fn automaton(&mut self) -> Result<Automaton, InputError> {
        if self.peek() != Some(&Token::Header("HOA")) {
            return self.wrong("this is no automaton: it does not begin with `HOA: v1`");
        }
        self.next += 1;
        if self.take() != Some(Token::Word("v1")) {
            self.next -= 1;
            return self.wrong("only version 1 of the format is known: `HOA: v1`");
        }
        let (mut initial, mut rejects) = (None, None);
        loop {
            match self.take() {
                Some(Token::Body) => break,
                Some(Token::Header("States")) => self.states = self.number()?,
                Some(Token::Header("Start")) => {
                    if initial.is_some() {
                        return self.wrong("there are two initial states");
                    }
                    initial = Some(self.state()?);
                    if self.is('&') {
                        return self.wrong("alternating automata are not supported");
                    }
                }
                Some(Token::Header("AP")) => self.read_propositions()?,
                Some(Token::Header("Alias")) => {
                    let Some(Token::Alias(name)) = self.take() else { return self.wrong("an alias begins with `@`") };
                    let label = self.label()?;
                    self.aliases.insert(name, label);
                }
                Some(Token::Header("Acceptance")) => {
                    let at = self.here();
                    if rejects.is_some() {
                        return self.wrong("there are two acceptance conditions");
                    }
                    self.sets = self.number()?;
                    if self.sets > 64 {
                        return Err(InputError::at(at, "there are more than 64 acceptance sets"));
                    }
                    let formula = self.acceptance()?;
                    rejects = Some(clauses(&formula).map_err(|message| InputError::at(at, message))?);
                }
                // What begins with a capital letter may change the meaning.
                Some(Token::Header(name)) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    self.next -= 1;
                    return self.wrong(format!("`{name}:` is not supported"));
                }
                Some(_) => {}
                None => return self.wrong("the automaton has no body"),
            }
        }
        let Some(initial) = initial else { return self.wrong("there is no initial state") };
        let Some(rejects) = rejects else { return self.wrong("there is no acceptance condition") };
        let edges = self.body()?;
        Ok(Automaton { initial, propositions: std::mem::take(&mut self.propositions), edges, rejects })
    }

    fn read_propositions(&mut self) -> Result<(), InputError> {
        let at = self.here();
        let count = self.number()?;
        while let Some(&Token::Text(name)) = self.peek() {
            self.propositions.push(name.replace("\\\"", "\""));
            self.next += 1;
        }
        if self.propositions.len() as u64 != count {
            return Err(InputError::at(
                at,
                format!("{count} propositions are announced, {} follow", self.propositions.len()),
            ));
        }
        if count > 64 {
            return Err(InputError::at(at, "there are more than 64 propositions"));
        }
        Ok(())
    }

    fn body(&mut self) -> Result<FxHashMap<u32, Vec<Edge>>, InputError> {
        let mut edges: FxHashMap<u32, Vec<Edge>> = FxHashMap::default();
        // The state whose edges are being read, its label and its marks.
        let mut state: Option<(u32, Option<Label>, u64)> = None;
        loop {
            let at = self.here();
            match self.peek() {
                Some(Token::End) => {
                    self.next += 1;
                    return if self.peek().is_some() {
                        self.wrong("something follows the automaton")
                    } else {
                        Ok(edges)
                    };
                }
                None => return self.wrong("the automaton has no `--END--`"),
                Some(Token::Header("State")) => {
                    self.next += 1;
                    let label = if self.is('[') { Some(self.bracketed()?) } else { None };
                    let number = self.state()?;
                    if matches!(self.peek(), Some(Token::Text(_))) {
                        self.next += 1;
                    }
                    let marks = self.marks()?;
                    if edges.contains_key(&number) {
                        return Err(InputError::at(at, format!("state {number} is there twice")));
                    }
                    edges.insert(number, Vec::new());
                    state = Some((number, label, marks));
                }
                Some(_) => {
                    let Some((from, common, marks)) = state.clone() else {
                        return self.wrong("an edge has to come after a state");
                    };
                    let label = match (self.is('['), common) {
                        (true, None) => self.bracketed()?,
                        (false, Some(common)) => common,
                        (true, Some(_)) => return Err(InputError::at(at, "both the state and the edge have a label")),
                        (false, None) => {
                            return Err(InputError::at(at, "this edge has no label")
                                .help("labels that are left out are not supported; write them as `[0 & !1]`"));
                        }
                    };
                    let to = self.state()?;
                    if self.is('&') {
                        return Err(InputError::at(at, "alternating automata are not supported"));
                    }
                    let marks = marks | self.marks()?;
                    edges.entry(from).or_default().push(Edge { label, to, marks, at });
                }
            }
        }
    }

    fn marks(&mut self) -> Result<u64, InputError> {
        let mut marks = 0;
        if self.is('{') {
            while !self.is('}') {
                marks |= 1 << self.set()?;
            }
        }
        Ok(marks)
    }

    fn set(&mut self) -> Result<u32, InputError> {
        let at = self.here();
        match self.number()? {
            set if set < self.sets => Ok(set as u32),
            set => Err(InputError::at(at, format!("acceptance set {set} does not exist"))),
        }
    }

    fn bracketed(&mut self) -> Result<Label, InputError> {
        let label = self.label()?;
        self.expect(']')?;
        Ok(label)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, InputError>) -> Result<T, InputError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.wrong("this is nested too deeply");
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn label(&mut self) -> Result<Label, InputError> {
        self.deeper(|reader| {
            let mut label = reader.label_and()?;
            let mut length = 0;
            while reader.is('|') {
                length += 1;
                if length > DEPTH {
                    return reader.wrong("this formula is too long");
                }
                label = Label::Or(Box::new(label), Box::new(reader.label_and()?));
            }
            Ok(label)
        })
    }

    fn label_and(&mut self) -> Result<Label, InputError> {
        let mut label = self.label_atom()?;
        let mut length = 0;
        while self.is('&') {
            length += 1;
            if length > DEPTH {
                return self.wrong("this formula is too long");
            }
            label = Label::And(Box::new(label), Box::new(self.label_atom()?));
        }
        Ok(label)
    }

    fn label_atom(&mut self) -> Result<Label, InputError> {
        if self.is('!') {
            return self.deeper(|reader| Ok(Label::Not(Box::new(reader.label_atom()?))));
        }
        if self.is('(') {
            let label = self.label()?;
            self.expect(')')?;
            return Ok(label);
        }
        let at = self.here();
        match self.take() {
            Some(Token::Word("t")) => Ok(Label::Constant(true)),
            Some(Token::Word("f")) => Ok(Label::Constant(false)),
            Some(Token::Number(number)) if number < self.propositions.len() as u64 => {
                Ok(Label::Proposition(number as u32))
            }
            Some(Token::Number(number)) => Err(InputError::at(at, format!("proposition {number} does not exist"))),
            Some(Token::Alias(name)) => match self.aliases.get(name) {
                Some(label) => {
                    self.expanded += label.size();
                    if self.expanded > EXPANDED {
                        return Err(InputError::at(at, "the aliases make this automaton too large"));
                    }
                    Ok(label.clone())
                }
                None => Err(InputError::at(at, format!("nobody says what `@{name}` is"))),
            },
            _ => Err(InputError::at(at, "a proposition is missing here")),
        }
    }

    fn acceptance(&mut self) -> Result<Acceptance, InputError> {
        self.deeper(|reader| {
            let mut parts = vec![reader.acceptance_and()?];
            while reader.is('|') {
                parts.push(reader.acceptance_and()?);
            }
            Ok(Acceptance::Or(parts))
        })
    }

    fn acceptance_and(&mut self) -> Result<Acceptance, InputError> {
        let mut parts = vec![self.acceptance_atom()?];
        while self.is('&') {
            parts.push(self.acceptance_atom()?);
        }
        Ok(Acceptance::And(parts))
    }

    fn acceptance_atom(&mut self) -> Result<Acceptance, InputError> {
        if self.is('(') {
            let formula = self.acceptance()?;
            self.expect(')')?;
            return Ok(formula);
        }
        let at = self.here();
        match self.take() {
            Some(Token::Word("t")) => Ok(Acceptance::And(Vec::new())),
            Some(Token::Word("f")) => Ok(Acceptance::Or(Vec::new())),
            Some(Token::Word(word @ ("Fin" | "Inf"))) => {
                self.expect('(')?;
                if self.is('!') {
                    return self.wrong("complements of acceptance sets are not supported");
                }
                let set = self.set()?;
                self.expect(')')?;
                Ok(if word == "Fin" { Acceptance::Fin(set) } else { Acceptance::Inf(set) })
            }
            _ => Err(InputError::at(at, "this is no acceptance condition")),
        }
    }
}

#[derive(Clone, Debug)]
enum Acceptance {
    Fin(u32),
    Inf(u32),
    And(Vec<Acceptance>),
    Or(Vec<Acceptance>),
}

/// The negation as a conjunction of disjunctions of `Fin` and `Inf`, as bits.
fn negated(formula: &Acceptance) -> Result<Vec<(u64, u64)>, String> {
    Ok(match formula {
        Acceptance::Fin(set) => vec![(0, 1 << set)],
        Acceptance::Inf(set) => vec![(1 << set, 0)],
        // Not one of them: each of them fails.
        Acceptance::Or(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(negated(part)?);
            }
            tidy(all)?
        }
        // Not all of them: one of them fails.
        Acceptance::And(parts) => {
            let mut all = vec![(0, 0)];
            for part in parts {
                let part = negated(part)?;
                if all.len().saturating_mul(part.len()) > CLAUSES {
                    return Err("the acceptance condition is too complicated".into());
                }
                let both =
                    all.iter().flat_map(|&(fin, inf)| part.iter().map(move |&(more, other)| (fin | more, inf | other)));
                all = tidy(both.collect())?;
            }
            all
        }
    })
}

/// Without disjunctions that follow from others.
fn tidy(mut clauses: Vec<(u64, u64)>) -> Result<Vec<(u64, u64)>, String> {
    if clauses.len() > CLAUSES {
        return Err("the acceptance condition is too complicated".into());
    }
    // A set is visited again and again or it is not.
    clauses.retain(|(fin, inf)| fin & inf == 0);
    clauses.sort_by_key(|(fin, inf)| (fin.count_ones() + inf.count_ones(), *fin, *inf));
    let mut kept: Vec<(u64, u64)> = Vec::new();
    for (fin, inf) in clauses {
        if !kept.iter().any(|&(other, others)| other & !fin == 0 && others & !inf == 0) {
            kept.push((fin, inf));
        }
    }
    Ok(kept)
}

fn clauses(acceptance: &Acceptance) -> Result<Vec<Clause>, String> {
    let clause = |&(fin, grants): &(u64, u64)| match fin.count_ones() {
        0 => Ok(Clause { requests: None, grants }),
        1 => Ok(Clause { requests: Some(fin.trailing_zeros()), grants }),
        _ => Err(
            "what this automaton rejects is no Streett objective; ask the translator for a Rabin or parity automaton"
                .to_owned(),
        ),
    };
    negated(acceptance)?.iter().map(clause).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejects(acceptance: &str) -> Result<Vec<Clause>, String> {
        let text = format!("HOA: v1 Start: 0 AP: 0 Acceptance: 6 {acceptance} --BODY-- State: 0 [t] 0 --END--");
        read(&text).map(|automaton| automaton.rejects).map_err(|error| error.message)
    }

    fn pair(requests: Option<u32>, grants: &[u32]) -> Clause {
        Clause { requests, grants: grants.iter().fold(0, |bits, set| bits | 1 << set) }
    }

    #[test]
    fn acceptance_is_negated_into_pairs() {
        assert_eq!(rejects("Inf(0)"), Ok(vec![pair(Some(0), &[])]));
        assert_eq!(rejects("Fin(0)"), Ok(vec![pair(None, &[0])]));
        assert_eq!(
            rejects("(Fin(0) & Inf(1)) | (Fin(2) & Inf(3))"),
            Ok(vec![pair(Some(1), &[0]), pair(Some(3), &[2])])
        );
        assert_eq!(rejects("t"), Ok(vec![pair(None, &[])]));
        assert_eq!(rejects("f"), Ok(vec![]));
        let parity = rejects("Inf(0) | (Fin(1) & (Inf(2) | Fin(3)))");
        assert_eq!(parity, Ok(vec![pair(Some(0), &[]), pair(None, &[1, 3]), pair(Some(2), &[1])]));
        assert!(rejects("Inf(0) & Inf(1)").is_err(), "two requests at once");
        assert!(rejects("Inf(!0)").is_err() && rejects("Inf(6)").is_err());
    }

    #[test]
    fn edges_have_labels_and_marks() {
        let text = "HOA: v1\nname: \"G F a\"\nStates: 2\nStart: 1\nAP: 2 \"a\" \"b c\"\nAlias: @x 0 & !1\nacc-name: Buchi\n\
            Acceptance: 1 Inf(0)\nproperties: deterministic\n--BODY--\nState: 0 \"zero\" {0}\n[@x | 1] 1\nState: 1\n[!0] 1 {0} /* stay */\n[0] 0\n--END--\n";
        let automaton = read(text).expect("an automaton");
        assert_eq!(automaton.propositions, ["a", "b c"]);
        assert_eq!(automaton.step(0, 0b01), Ok(Some((1, 1))));
        assert_eq!(automaton.step(0, 0b00), Ok(None));
        assert_eq!(automaton.step(1, 0b00), Ok(Some((1, 1))));
        assert_eq!(automaton.step(1, 0b01), Ok(Some((0, 0))));
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let place = |text: &str| read(text).map_err(|error| (error.line, error.column)).expect_err("wrong");
        assert_eq!(place("States: 1"), (1, 1));
        assert_eq!(place("HOA: v1\nStart: 0\nAcceptance: 1 Inf(1)\n--BODY--\n--END--"), (3, 19));
        assert_eq!(place("HOA: v1\nStart: 0 & 1"), (2, 12));
        assert_eq!(place("HOA: v1 Start: 0 AP: 0 Acceptance: 0 t\n--BODY--\nState: 0\n0\n--END--"), (4, 1));
        assert_eq!(place("HOA: v1\n/* no end"), (2, 1));
        assert_eq!(place("HOA: v2"), (1, 6));
        assert_eq!(place("HOA: v1\nStates: 2\nStart: 2"), (3, 8));
        assert_eq!(place("HOA: v1\nStart: 0 Universal: 0"), (2, 10));
        let whole = "HOA: v1 Start: 0 AP: 0 Acceptance: 0 t --BODY-- State: 0 [t] 0 --END--\n";
        assert!(read(whole).is_ok());
        assert_eq!(place(&whole.repeat(2)), (2, 1));
        let two = read("HOA: v1 Start: 0 AP: 0 Acceptance: 0 t --BODY-- State: 0\n[t] 0\n[t] 1 --END--")
            .expect("an automaton");
        assert_eq!(two.step(0, 0).map_err(|error| error.line), Err(3));
    }
}
