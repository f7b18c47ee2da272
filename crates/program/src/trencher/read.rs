//! From automata to a program.

use super::goals::{Goal, Goals, NOBODY, Way};
use super::update::updates;
use crate::program::Program;
use crate::source::{Diagnostic, SourceMap, Span};
use crate::text::{ParseErrors, parse};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Expressions and blocks are nested no deeper.
const DEEPEST: usize = 100;

/// More values than this are refused: products have 32 bits.
const MOST_VALUES: i64 = 1 << 15;

/// More memory than this is refused.
const MOST_MEMORY: i64 = 1 << 16;

/// A word, and where it stands.
#[derive(Clone, Copy, Debug)]
struct Word<'t> {
    text: &'t str,
    span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr<'t> {
    Number(i64),
    Register(&'t str),
    Not(Box<Expr<'t>>),
    Binary(&'t str, Box<Expr<'t>>, Box<Expr<'t>>),
}

#[derive(Clone, Debug)]
pub(super) enum Instr<'t> {
    Write(Expr<'t>, Expr<'t>),
    Read(&'t str, Expr<'t>),
    Local(&'t str, Expr<'t>),
    Check(Expr<'t>),
    Fence,
    Nothing,
    Lock,
    Unlock,
    Atomic(Vec<Instr<'t>>),
    /// What several of them mean, the register and the address first; see [`updates`].
    Exchange(&'t str, Expr<'t>, Expr<'t>),
    Add(&'t str, Expr<'t>, Expr<'t>),
    Swap(&'t str, Expr<'t>, Expr<'t>, Expr<'t>),
    /// Part of one of these.
    Gone,
}

#[derive(Clone, Debug)]
pub(super) struct Transition<'t> {
    pub(super) from: &'t str,
    pub(super) to: &'t str,
    pub(super) instr: Instr<'t>,
    span: Span,
}

#[derive(Clone, Debug)]
struct Thread<'t> {
    name: Word<'t>,
    initial: &'t str,
    transitions: Vec<Transition<'t>>,
    marks: Vec<Word<'t>>,
}

const OPERATORS: [&str; 13] = ["==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "%", "&"];

/// Reads automata.
///
/// # Errors
/// What is wrong with the text.
pub fn read(name: &str, text: &str) -> Result<Program, ParseErrors> {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    let wrong = |diagnostic: Diagnostic, sources: &SourceMap| ParseErrors {
        sources: sources.clone(),
        diagnostics: vec![diagnostic],
    };
    let words = words(text);
    let mut reader = Reader { words: &words, next: 0, threads: Vec::new(), goals: Vec::new(), domain: None };
    reader.file().map_err(|diagnostic| wrong(diagnostic, &sources))?;
    let written = Writer::new(&reader).map_err(|diagnostic| wrong(diagnostic, &sources))?.file();
    let mut program = parse(name, &written.text, &[]).map_err(|errors| {
        let (line, message) = errors.diagnostics.first().map_or((0, ""), |first| (first.span.line, &first.message));
        wrong(Diagnostic::new(written.place(line), message), &sources)
    })?;
    let place = |span: &mut Span| *span = written.place(span.line);
    for function in &mut program.functions {
        place(&mut function.span);
        for block in &mut function.blocks {
            block.turn.iter_mut().for_each(|turn| place(&mut turn.span));
            block.insts.iter_mut().for_each(|inst| place(&mut inst.span));
            place(&mut block.term.span);
        }
    }
    program.globals.iter_mut().for_each(|global| place(&mut global.span));
    program.sources = sources;
    Ok(program)
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or(line);
        let mut at = 0;
        for word in line.split_whitespace() {
            let start = at + line[at..].find(word).unwrap_or(0);
            let column = line[..start].chars().count() as u32 + 1;
            words.push(Word {
                text: word,
                span: Span { file: 0, line: number, column, len: word.chars().count() as u32 },
            });
            at = start + word.len();
        }
    }
    words
}

struct Reader<'w, 't> {
    words: &'w [Word<'t>],
    next: usize,
    threads: Vec<Thread<'t>>,
    goals: Vec<Vec<(Word<'t>, &'t str)>>,
    domain: Option<i64>,
}

impl<'t> Reader<'_, 't> {
    fn peek(&self) -> Option<Word<'t>> {
        self.words.get(self.next).copied()
    }

    fn word(&mut self, what: &str) -> Result<Word<'t>, Diagnostic> {
        let word = self.peek().ok_or_else(|| {
            let last = self.words.last().map_or(Span { line: 1, column: 1, ..Span::default() }, |word| word.span);
            Diagnostic::new(last, format!("expected {what}, found the end of the file"))
        })?;
        self.next += 1;
        Ok(word)
    }

    fn file(&mut self) -> Result<(), Diagnostic> {
        while let Some(word) = self.peek() {
            self.next += 1;
            match word.text {
                "thread" => self.thread()?,
                "domain" => {
                    let size = self.word("a number")?;
                    let number = size.text.parse().ok().filter(|number| (1..=MOST_VALUES).contains(number));
                    let message = || Diagnostic::new(size.span, format!("a domain has 1 to {MOST_VALUES} values"));
                    self.domain = Some(number.ok_or_else(message)?);
                }
                "goal" => {
                    let mut goal = Vec::new();
                    while let Some((thread, state)) = self.peek().and_then(|word| word.text.split_once(':')) {
                        let word = self.word("a thread and a state")?;
                        goal.push((Word { text: thread, ..word }, state));
                    }
                    if goal.is_empty() {
                        return Err(Diagnostic::new(
                            word.span,
                            "a goal has threads with states, as in `left:critical`",
                        ));
                    }
                    self.goals.push(goal);
                }
                _ => {
                    let message = format!("expected `thread`, `goal` or `domain`, found `{}`", word.text);
                    return Err(Diagnostic::new(word.span, message));
                }
            }
        }
        if self.threads.is_empty() {
            return Err(Diagnostic::new(Span { line: 1, column: 1, ..Span::default() }, "there is no thread"));
        }
        Ok(())
    }

    fn thread(&mut self) -> Result<(), Diagnostic> {
        let name = self.word("the name of a thread")?;
        if self.threads.iter().any(|thread| thread.name.text == name.text) {
            return Err(Diagnostic::new(name.span, format!("there are two threads named `{}`", name.text)));
        }
        let initial = self.word("`initial`")?;
        if initial.text != "initial" {
            return Err(Diagnostic::new(initial.span, format!("expected `initial`, found `{}`", initial.text)));
        }
        let initial = self.word("a state")?.text;
        let mut thread = Thread { name, initial, transitions: Vec::new(), marks: Vec::new() };
        loop {
            let word = self.word("`transition`, `mark` or `end`")?;
            match word.text {
                "end" => break,
                "mark" => {
                    while let Some(state) =
                        self.peek().filter(|word| !["transition", "mark", "end"].contains(&word.text))
                    {
                        thread.marks.push(state);
                        self.next += 1;
                    }
                }
                "transition" => {
                    let (from, to) = (self.word("a state")?.text, self.word("a state")?.text);
                    let instr = self.instr(0)?;
                    thread.transitions.push(Transition { from, to, instr, span: word.span });
                }
                _ => {
                    let message = format!("expected `transition`, `mark` or `end`, found `{}`", word.text);
                    return Err(Diagnostic::new(word.span, message));
                }
            }
        }
        self.threads.push(thread);
        Ok(())
    }

    fn instr(&mut self, depth: usize) -> Result<Instr<'t>, Diagnostic> {
        let word = self.word("an instruction")?;
        if depth > 1 {
            return Err(Diagnostic::new(word.span, "atomic blocks do not nest"));
        }
        Ok(match word.text {
            "write" => Instr::Write(self.expr(0)?, self.expr(0)?),
            "read" => Instr::Read(self.register()?, self.expr(0)?),
            "local" => Instr::Local(self.register()?, self.expr(0)?),
            "check" => Instr::Check(self.expr(0)?),
            "mfence" => Instr::Fence,
            "noop" => Instr::Nothing,
            "lock" => Instr::Lock,
            "unlock" => Instr::Unlock,
            "atomic" => {
                let mut block = Vec::new();
                while self.peek().is_some_and(|word| word.text != "end") {
                    block.push(self.instr(depth + 1)?);
                }
                self.word("`end`")?;
                Instr::Atomic(block)
            }
            other => return Err(Diagnostic::new(word.span, format!("there is no instruction `{other}`"))),
        })
    }

    fn register(&mut self) -> Result<&'t str, Diagnostic> {
        let word = self.word("a register")?;
        if OPERATORS.contains(&word.text) || word.text == "!" || word.text.parse::<i64>().is_ok() {
            return Err(Diagnostic::new(word.span, format!("expected a register, found `{}`", word.text)));
        }
        Ok(word.text)
    }

    fn expr(&mut self, depth: usize) -> Result<Expr<'t>, Diagnostic> {
        let word = self.word("an expression")?;
        if depth > DEEPEST {
            return Err(Diagnostic::new(word.span, format!("an expression has more than {DEEPEST} levels")));
        }
        if word.text == "!" {
            return Ok(Expr::Not(Box::new(self.expr(depth + 1)?)));
        }
        if OPERATORS.contains(&word.text) {
            let (one, other) = (self.expr(depth + 1)?, self.expr(depth + 1)?);
            return Ok(Expr::Binary(word.text, Box::new(one), Box::new(other)));
        }
        let looks_like_number = word.text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        match word.text.parse::<i64>().ok().filter(|number| i32::try_from(*number).is_ok()) {
            Some(number) => Ok(Expr::Number(number)),
            None if looks_like_number => {
                Err(Diagnostic::new(word.span, format!("`{}` is no number of 32 bits", word.text)))
            }
            None => Ok(Expr::Register(word.text)),
        }
    }
}

/// A text, and which line of the automata each of its lines comes from.
#[derive(Debug, Default)]
struct Written {
    text: String,
    places: Vec<Span>,
}

impl Written {
    fn line(&mut self, span: Span, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.places.push(span);
    }

    fn place(&self, line: u32) -> Span {
        let first = Span { line: 1, column: 1, ..Span::default() };
        (line as usize).checked_sub(1).and_then(|at| self.places.get(at)).copied().unwrap_or(first)
    }
}

struct Writer<'r, 't> {
    threads: &'r [Thread<'t>],
    goals: Goals<'t>,
    domain: Option<i64>,
    /// How much memory there is.
    memory: i64,
    /// How many checks have been written.
    checks: usize,
    written: Written,
}

impl<'r, 't> Writer<'r, 't> {
    fn new(reader: &'r Reader<'_, 't>) -> Result<Self, Diagnostic> {
        let threads = &reader.threads[..];
        let mut goals: Vec<Goal<'t>> = Vec::new();
        for goal in &reader.goals {
            let mut states: Goal<'t> = Vec::new();
            for &(name, state) in goal {
                let number = threads.iter().position(|thread| thread.name.text == name.text);
                let number =
                    number.ok_or_else(|| Diagnostic::new(name.span, format!("there is no thread `{}`", name.text)))?;
                states.push((number, vec![state]));
            }
            goals.push(states);
        }
        let marked: Goal<'t> = threads
            .iter()
            .enumerate()
            .filter(|(_, thread)| !thread.marks.is_empty())
            .map(|(number, thread)| (number, thread.marks.iter().map(|mark| mark.text).collect()))
            .collect();
        if !marked.is_empty() {
            goals.push(marked);
        }
        let mut largest = 0;
        for transition in threads.iter().flat_map(|thread| &thread.transitions) {
            numbers(&transition.instr, &mut |number| largest = number.max(largest));
        }
        let memory = reader.domain.unwrap_or(largest + 1);
        if memory > MOST_MEMORY {
            let message = format!(
                "there are addresses up to {largest}, and at most {MOST_MEMORY} are taken; `domain n` says how many there are"
            );
            return Err(Diagnostic::new(threads[0].name.span, message));
        }
        let locked: Vec<BTreeSet<&str>> = threads.iter().map(locked).collect();
        let goals = Goals::new(goals, |thread, state| locked[thread].contains(state));
        Ok(Writer { threads, goals, domain: reader.domain, memory, checks: 0, written: Written::default() })
    }

    fn file(mut self) -> Written {
        let first = self.threads[0].name.span;
        // When the first thread has ended everything may end, so nobody who waits in vain does anything wrong.
        self.written.line(first, "entry main exit;");
        self.written.line(first, &format!("global memory: i32[{}];", self.memory));
        if self.goals.counts() {
            self.written.line(first, "global counted: i32;");
        }
        for number in 0..self.threads.len() {
            self.thread(number);
        }
        let starts: String = (0..self.threads.len()).map(|number| format!(" spawn t{number}();")).collect();
        self.written.line(first, &format!("fn main() {{{starts} }}"));
        self.written
    }

    fn thread(&mut self, number: usize) {
        let thread = &self.threads[number];
        let span = thread.name.span;
        let is_named = |state: &str| state == thread.initial || self.goals.wants(number, state);
        let thread =
            &Thread { transitions: updates(&thread.transitions, self.domain.is_some(), &is_named), ..thread.clone() };
        let locked = locked(thread);
        let mut states: BTreeMap<&str, usize> = BTreeMap::new();
        let ends = thread.transitions.iter().flat_map(|transition| [transition.from, transition.to]);
        for state in std::iter::once(thread.initial).chain(ends) {
            let next = states.len();
            states.entry(state).or_insert(next);
        }
        let mut registers: BTreeMap<&str, usize> = BTreeMap::new();
        for transition in &thread.transitions {
            named(&transition.instr, &mut |register| {
                let next = registers.len();
                registers.entry(register).or_insert(next);
            });
        }
        self.written.line(span, &format!("fn t{number}() {{"));
        for register in 0..registers.len() {
            self.written.line(span, &format!("let r{register}: i32;"));
        }
        self.written.line(span, "let pick: i32;");
        self.written.line(span, "let here: i32;");
        self.written.line(span, &format!("goto s{};", states[thread.initial]));
        let mut order: Vec<(&str, usize)> = states.iter().map(|(name, at)| (*name, *at)).collect();
        order.sort_by_key(|(_, at)| *at);
        for (state, at) in order {
            self.written.line(span, &format!("s{at}:"));
            let leaving: Vec<&Transition<'t>> =
                thread.transitions.iter().filter(|transition| transition.from == state).collect();
            let is_locked = locked.contains(state);
            let mut reached = self.goals.ways(number, state);
            // Nobody comes after a thread that stays where it holds the lock.
            reached.retain(|way| !is_locked || matches!(way, Way::Last(_)));
            let ways = leaving.len() + reached.len();
            if ways == 0 {
                // Nobody goes on who holds the lock and stops, so that is as if it had not been taken.
                self.written.line(span, if is_locked { "assume false; atomic_end; return;" } else { "return;" });
                continue;
            }
            if let ([one, other], []) = (&leaving[..], &reached[..])
                && let (Instr::Check(this), Instr::Check(that)) = (&one.instr, &other.instr)
                && is_opposite(this, that)
            {
                let condition = self.condition(this, &registers);
                let line = format!("if {condition} goto s{} else s{};", states[one.to], states[other.to]);
                self.written.line(one.span, &line);
                continue;
            }
            let place = leaving.first().map_or(span, |transition| transition.span);
            if ways > 1 {
                self.written.line(place, &format!("pick = choose 0..{ways};"));
            }
            for way in 0..ways {
                if way + 1 < ways {
                    self.written.line(place, &format!("if pick == {way} goto w{at}x{way} else n{at}x{way};"));
                    self.written.line(place, &format!("w{at}x{way}:"));
                }
                match leaving.get(way) {
                    Some(transition) => {
                        self.instr(transition.span, &transition.instr, &registers, is_locked);
                        self.written.line(transition.span, &format!("goto s{};", states[transition.to]));
                    }
                    None => self.count(span, &reached[way - leaving.len()], is_locked),
                }
                if way + 1 < ways {
                    self.written.line(place, &format!("n{at}x{way}:"));
                }
            }
        }
        self.written.line(span, "}");
    }

    /// A thread is where a goal wants it, and stays there.
    fn count(&mut self, span: Span, way: &Way, is_locked: bool) {
        match way {
            Way::Count(from, to) => self.written.line(span, &format!("here = cas counted, {from}, {to} wait;")),
            Way::Last(numbers) => {
                if !numbers.contains(&NOBODY) {
                    let is_one: Vec<String> = numbers.iter().map(|number| format!("here == {number}")).collect();
                    let is_one = is_one.join(" || ");
                    let wait = if is_locked {
                        format!("here = load counted; assume {is_one};")
                    } else {
                        format!("here = load counted until {is_one};")
                    };
                    self.written.line(span, &wait);
                }
                self.written.line(span, "assert false, \"the goal is reached\";");
            }
        }
        self.written.line(span, if is_locked { "atomic_end; return;" } else { "return;" });
    }

    fn instr(&mut self, span: Span, instr: &Instr<'t>, registers: &BTreeMap<&str, usize>, is_locked: bool) {
        let value = |expr: &Expr<'t>| self.value(expr, registers);
        let line = match instr {
            Instr::Write(value, address) => {
                format!("store memory[{}], {};", self.value(address, registers), self.value(value, registers))
            }
            Instr::Read(register, address) => {
                format!("r{} = load memory[{}];", registers[register], self.value(address, registers))
            }
            Instr::Local(register, expr) => format!("r{} = {};", registers[register], self.value(expr, registers)),
            Instr::Exchange(register, address, new) => {
                format!("r{} = rmw.xchg memory[{}], {};", registers[register], value(address), value(new))
            }
            Instr::Add(register, address, more) => {
                format!("r{} = rmw.add memory[{}], {};", registers[register], value(address), value(more))
            }
            Instr::Swap(register, address, old, new) => {
                let (address, old, new) = (value(address), value(old), value(new));
                format!("r{} = cas memory[{address}], {old}, {new};", registers[register])
            }
            // A block that does not pass is none, and nobody else goes on before a lock is given back.
            Instr::Check(expr) if is_locked => format!("assume {};", self.condition(expr, registers)),
            // Registers stay as they are, so who does not pass now never does.
            Instr::Check(expr) => {
                self.checks += 1;
                let (number, condition) = (self.checks, self.condition(expr, registers));
                self.written.line(span, &format!("if {condition} goto c{number} else c{number}x;"));
                self.written.line(span, &format!("c{number}x:"));
                self.written.line(span, "return;");
                format!("c{number}:")
            }
            Instr::Fence => "fence.sc;".to_owned(),
            Instr::Nothing | Instr::Gone => return,
            Instr::Lock => "atomic_begin;".to_owned(),
            Instr::Unlock => "atomic_end;".to_owned(),
            Instr::Atomic(block) => {
                self.written.line(span, "atomic_begin;");
                block.iter().for_each(|instr| self.instr(span, instr, registers, true));
                "atomic_end;".to_owned()
            }
        };
        self.written.line(span, &line);
    }

    /// An expression as a number.
    fn value(&self, expr: &Expr<'_>, registers: &BTreeMap<&str, usize>) -> String {
        let value = |expr: &Expr<'_>| self.value(expr, registers);
        let mut text = String::new();
        let written = match expr {
            Expr::Number(number) => match self.domain {
                Some(size) => write!(text, "{}i32", number.rem_euclid(size)),
                None => write!(text, "({number}i32)"),
            },
            Expr::Register(name) => write!(text, "r{}", registers[name]),
            Expr::Binary(operator @ ("+" | "-" | "*" | "&"), one, other) => match (self.domain, *operator) {
                (Some(size), "-") => write!(text, "(({} + {size} - {}) % {size})", value(one), value(other)),
                (Some(size), "+" | "*") => write!(text, "(({} {operator} {}) % {size})", value(one), value(other)),
                _ => write!(text, "({} {operator} {})", value(one), value(other)),
            },
            // Of nothing nothing is left.
            Expr::Binary("%", one, other) => {
                let (one, other) = (value(one), value(other));
                write!(text, "({one} % ({other} == 0 ? 1i32 : {other}))")
            }
            Expr::Binary(..) | Expr::Not(_) => write!(text, "zext(i32, {})", self.condition(expr, registers)),
        };
        written.expect("a string takes everything");
        text
    }

    /// An expression as a condition.
    fn condition(&self, expr: &Expr<'_>, registers: &BTreeMap<&str, usize>) -> String {
        let (value, condition) =
            (|expr: &Expr<'_>| self.value(expr, registers), |expr: &Expr<'_>| self.condition(expr, registers));
        match expr {
            Expr::Not(inner) => format!("(!{})", condition(inner)),
            Expr::Binary(operator @ ("&&" | "||"), one, other) => {
                format!("({} {operator} {})", condition(one), condition(other))
            }
            Expr::Binary(operator @ ("==" | "!=" | "<" | "<=" | ">" | ">="), one, other) => {
                format!("({} {operator} {})", value(one), value(other))
            }
            _ => format!("({} != 0)", value(expr)),
        }
    }
}

/// Whether exactly one of two conditions holds, as far as that can be seen.
pub(super) fn is_opposite(one: &Expr<'_>, other: &Expr<'_>) -> bool {
    match (one, other) {
        (Expr::Not(inner), other) | (other, Expr::Not(inner)) if **inner == *other => true,
        (Expr::Binary(this, a, b), Expr::Binary(that, c, d)) => {
            let pairs = [("==", "!="), ("<", ">="), (">", "<=")];
            let opposite = pairs.contains(&(*this, *that)) || pairs.contains(&(*that, *this));
            opposite && a == c && b == d
        }
        _ => false,
    }
}

/// The registers of an instruction.
fn named<'t>(instr: &Instr<'t>, see: &mut dyn FnMut(&'t str)) {
    match instr {
        Instr::Read(register, _) | Instr::Local(register, _) => see(register),
        Instr::Exchange(register, ..) | Instr::Add(register, ..) | Instr::Swap(register, ..) => see(register),
        Instr::Atomic(block) => return block.iter().for_each(|instr| named(instr, see)),
        _ => {}
    }
    each(instr, &mut |expr| {
        if let Expr::Register(name) = expr {
            see(name);
        }
    });
}

/// The registers of an expression.
pub(super) fn named_in<'t>(expr: &Expr<'t>, see: &mut dyn FnMut(&'t str)) {
    down(expr, &mut |expr| {
        if let Expr::Register(name) = expr {
            see(name);
        }
    });
}

/// The states of a thread in which it may hold the lock.
fn locked<'t>(thread: &Thread<'t>) -> BTreeSet<&'t str> {
    let mut locked = BTreeSet::new();
    let mut todo: Vec<&str> = Vec::new();
    let locks = |transition: &&Transition<'t>| matches!(transition.instr, Instr::Lock);
    todo.extend(thread.transitions.iter().filter(locks).map(|transition| transition.to));
    while let Some(state) = todo.pop() {
        if locked.insert(state) {
            let leaving = thread.transitions.iter().filter(|transition| transition.from == state);
            let keeps = leaving.filter(|transition| !matches!(transition.instr, Instr::Unlock));
            todo.extend(keeps.map(|transition| transition.to));
        }
    }
    locked
}

/// The numbers in an instruction.
fn numbers(instr: &Instr<'_>, see: &mut dyn FnMut(i64)) {
    each(instr, &mut |expr| {
        if let Expr::Number(number) = expr {
            see(*number);
        }
    });
}

fn down<'t>(expr: &Expr<'t>, see: &mut dyn FnMut(&Expr<'t>)) {
    see(expr);
    match expr {
        Expr::Not(inner) => down(inner, see),
        Expr::Binary(_, one, other) => {
            down(one, see);
            down(other, see);
        }
        Expr::Number(_) | Expr::Register(_) => {}
    }
}

fn each<'t>(instr: &Instr<'t>, see: &mut dyn FnMut(&Expr<'t>)) {
    match instr {
        Instr::Write(one, other) => {
            down(one, see);
            down(other, see);
        }
        Instr::Read(_, expr) | Instr::Local(_, expr) | Instr::Check(expr) => down(expr, see),
        Instr::Atomic(block) => block.iter().for_each(|instr| each(instr, see)),
        Instr::Exchange(_, one, other) | Instr::Add(_, one, other) => {
            [one, other].into_iter().for_each(|expr| down(expr, see))
        }
        Instr::Swap(_, one, other, last) => [one, other, last].into_iter().for_each(|expr| down(expr, see)),
        Instr::Fence | Instr::Nothing | Instr::Lock | Instr::Unlock | Instr::Gone => {}
    }
}
