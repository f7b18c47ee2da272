//! Litmus tests: a few threads, a few locations, and one question about how they can end.
//!
//! Which question: is a file in the litmus format of the herd family of tools, flavour C or X86, a program for the rest of Raddle, and what does it ask? [`parse`] answers with
//! a [`Test`]: the program, and what to make of its verdict.
//!
//! How: the head of the file says the flavour, `{ ... }` the initial state, then comes the code of the threads, then `locations`, `filter` and the condition. Each thread becomes a
//! function. Registers are flat, as in the format: a name is one register of its thread wherever it is declared. What the question is about is stored to a cell of its own at the end of
//! the thread; `main` starts the threads, joins them, reads those cells and the locations, and then either asserts ([`Test::question`]) or prints ([`Test::census`]) the final state. These
//! extra accesses are ordered by the joins, so they add no classes (but under WRA, where a location has no last write, and the reader of it may see each of those that no other one follows).
//!
//! All values are 64-bit registers; `int`, `long` and pointers are 64-bit cells as well, so that an untyped test may keep an address in an `int`, as the format allows. Unsigned and narrow
//! types have cells of their own width.
//!
//! Source: Alglave, Maranget, Tautschnig, *Herding cats* (2014), and the format's documentation. Deviations: `*x` of an atomic type is a seq_cst access, as in C; a name that stands for nothing is
//! an error, not 0.
//!
//! Reading order: `lex`, `head`, `init`, `condition`, `world` (what the parts build), `c`, `x86`, `finish`. Cost: linear in the text.

mod c;
mod condition;
mod cursor;
mod finish;
mod head;
mod init;
mod labels;
mod lex;
mod types;
mod world;
mod x86;

pub use condition::{Claim, Expectation, Quantifier};
pub use head::Flavour;

use cursor::Cursor;
use raddle_program::{Diagnostic, ParseErrors, Program, SourceMap};
use world::World;

/// How deep statements, expressions and conditions may nest.
pub const MAX_NESTING: usize = 200;

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name, from its first line.
    pub name: String,
    /// In which language its threads are.
    pub flavour: Flavour,
    /// What it says about its final states.
    pub claim: Claim,
    /// What a final state consists of, in the order in which it is shown: registers (`0:EAX`), then locations.
    pub observed: Vec<String>,
    /// The program whose assertion fails in a final state that decides the claim: one that satisfies the condition of `exists` and `~exists` (or of a test that expects Never
    /// or Sometimes), or does not satisfy that of `forall` (or Always).
    pub question: Program,
    /// The program that prints its final state instead; [`Test::state`] reads it.
    pub census: Program,
    /// What that assertion says where it fails.
    pub reached: String,
    /// What a reader of the verdict should know.
    pub notes: Vec<String>,
    /// The locations whose addresses may be values, by the numbers that the census prints.
    symbols: Vec<String>,
}

/// A final state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// The values, in the order of [`Test::observed`].
    pub values: Vec<String>,
    /// Whether it satisfies the condition.
    pub satisfies: bool,
}

impl Test {
    /// The final state in what the census printed; `None` if it is something else.
    pub fn state(&self, printed: &str) -> Option<State> {
        let mut words = printed.strip_prefix(finish::MARK)?.split(' ');
        let satisfies = words.next()? == "1";
        let value = |word: &str| {
            let (symbol, number) = word.split_once('/')?;
            match symbol.parse::<usize>().ok()?.checked_sub(1) {
                None => Some(number.to_owned()),
                Some(at) => self.symbols.get(at).cloned(),
            }
        };
        let values = words.map(value).collect::<Option<Vec<String>>>()?;
        (values.len() == self.observed.len()).then_some(State { values, satisfies })
    }
}

/// Reads a litmus test; `name` is what diagnostics call the file.
///
/// # Errors
/// What is wrong with the text, or which part of it is not supported.
pub fn parse(name: &str, text: &str) -> Result<Test, ParseErrors> {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    read(file, text, &sources).map_err(|diagnostic| ParseErrors { sources, diagnostics: vec![*diagnostic] })
}

/// One wrong place ends the reading: what follows it is rarely understood any more.
type Result_<T> = Result<T, Box<Diagnostic>>;

fn read(file: u32, text: &str, sources: &SourceMap) -> Result_<Test> {
    let head = head::read(file, text)?;
    let tokens = lex::tokens(file, text, head.end, head.flavour)?;
    let mut cursor = Cursor::new(&tokens);
    let mut world = World::new(head.flavour);
    init::read(&mut cursor, &mut world)?;
    let tail = match head.flavour {
        Flavour::C => {
            let threads = c::threads(&mut cursor)?;
            let tail = condition::read(&mut cursor)?;
            lower(&threads, &tail, &mut world, c::lower)?;
            tail
        }
        Flavour::X86 => {
            let threads = x86::threads(&mut cursor)?;
            let tail = condition::read(&mut cursor)?;
            lower(&threads, &tail, &mut world, x86::lower)?;
            tail
        }
    };
    finish::test(head, tail, world, sources)
}

/// The functions of the threads, once it is known what is asked about them.
fn lower<T>(
    threads: &[T],
    tail: &condition::Tail,
    world: &mut World,
    one: fn(usize, &T, &mut World) -> Result_<raddle_program::Function>,
) -> Result_<()> {
    if threads.is_empty() {
        return Err(Diagnostic::new(tail.span, "there are no threads").into());
    }
    world.observe(tail, threads.len())?;
    for (number, thread) in threads.iter().enumerate() {
        let function = one(number, thread, world)?;
        world.functions.push(function);
    }
    Ok(())
}
