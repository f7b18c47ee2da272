//! What can be asked.

mod live;
mod recorded;
mod systems;

pub(crate) use live::Live;
pub(crate) use recorded::{
    Algorithm, FailedCasOption, Lin, LinEngine, NilReadsOption, Trace, TraceAlgorithm, Unexecuted,
};
pub(crate) use systems::{DeadEnds, Fair, FairAlgorithm, Memsys, SetsOption};

use crate::values::{self, LoopBound};
use clap::{Args, FromArgMatches, Parser, Subcommand};
use raddle::program::analysis::Pieces;
use raddle::report::robust::Purpose;
use raddle::{Define, Engine, LoadOptions, Model, Property, PropertySet, Settings};
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

const AFTER: &str = "\
Exit status: 0 holds, 1 violated, 2 bad input, usage or output, 3 unknown (not everything was explored), 4 internal error.
`raddle COMMAND --help` explains the options of a command.";

/// Is there an execution that breaks this concurrent program?
#[derive(Debug, Parser)]
#[command(name = "raddle", version, after_help = AFTER, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(Options<Check>),
    Compare(Options<Compare>),
    Replay(Options<Replay>),
    Show(Options<Show>),
    Lin(Options<Lin>),
    Trace(Options<Trace>),
    Memsys(Options<Memsys>),
    Fair(Options<Fair>),
    Robust(Options<Robust>),
    Strengthen(Options<Strengthen>),
}

/// The words of the command line, with what fences are for joined to the option that asks for them: `--fences for=safety` is one option, and a file behind `--fences` is a file.
pub(crate) fn joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for word in words {
        match all.last_mut() {
            Some(last) if *last == "--fences" && word.as_encoded_bytes().starts_with(b"for=") => {
                last.push("=");
                last.push(word);
            }
            _ => all.push(word),
        }
    }
    all
}

/// The options of a command. Where another one is asked for they are not made: those of all commands take longer than a small check.
#[derive(Debug)]
pub(crate) struct Options<T>(pub(crate) Box<T>);

impl<T: Args> Args for Options<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let asked = std::env::args_os().nth(1);
        let other = asked.is_some_and(|word| {
            word != "help" && word != command.get_name() && !word.as_encoded_bytes().starts_with(b"-")
        });
        if other { command.defer(T::augment_args) } else { T::augment_args(command) }
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Options<T> {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(|options| Options(Box::new(options)))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The program that a command is about.
#[derive(Args, Debug)]
pub(crate) struct Input {
    /// The program: .rdl, .c or .i, automata: .trencher, or a litmus test: .litmus
    pub(crate) file: PathBuf,

    /// Give a parameter of the program a value (in C: define a macro)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub(crate) defines: Vec<Define>,
}

/// What a program of several files consists of, but for the first.
#[derive(Args, Debug, Default)]
pub(crate) struct Others {
    /// Other files of a C program
    #[arg(value_name = "FILE")]
    others: Vec<PathBuf>,
}

/// What only C programs need.
#[derive(Args, Debug)]
#[command(next_help_heading = "C programs")]
pub(crate) struct C {
    /// Search this directory for included files
    #[arg(short = 'I', value_name = "DIR")]
    include_dirs: Vec<PathBuf>,

    /// Forget a macro
    #[arg(short = 'U', value_name = "NAME")]
    undefines: Vec<String>,

    /// The dialect, as in `cc -std=`
    #[arg(long, value_name = "NAME")]
    std: Option<String>,

    /// `long`, `size_t` and pointers have 32 bits
    #[arg(long, visible_alias = "32")]
    ilp32: bool,

    /// What unknown inputs (`__VERIFIER_nondet_int`, `rand`) range over, both ends included; without it, over all values
    #[arg(long, value_name = "LOW..HIGH", value_parser = values::range, allow_hyphen_values = true)]
    nondet: Option<RangeInclusive<i64>>,

    /// Let condition variables wake up without a signal
    #[arg(long, visible_alias = "spurious")]
    spurious_wakeups: bool,

    /// Let a weak compare-exchange fail where it finds what is expected, once at each place in each call of a function
    #[arg(long)]
    weak_cas_fails: bool,

    /// Which way operands and arguments are evaluated where C leaves that open: from the left, or from the right
    #[arg(long, value_enum, value_name = "left|right", default_value = "left", hide_possible_values = true)]
    evaluation: Evaluation,

    /// What signed arithmetic does whose result is too large for its type: it wraps, or is an error of the property `arithmetic`
    #[arg(long, value_enum, value_name = "wrap|error", default_value = "wrap", hide_possible_values = true)]
    overflow: Overflow,

    /// What accesses to `volatile` objects are: plain ones, as C11 has it, or relaxed atomic ones
    #[arg(long, value_enum, value_name = "plain|relaxed", default_value = "plain", hide_possible_values = true)]
    volatile: Volatile,

    /// Another file of the program, as if it stood behind the first; may be given several times
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,

    /// Preprocess files as this compilation database says, and take those of its files that have no `main` as part of the program,
    /// unless others are named
    #[arg(long, value_name = "FILE")]
    compile_commands: Option<PathBuf>,

    /// What a call of a function does that is declared and not defined: it is an error, or returns any value
    #[arg(long, value_enum, value_name = "error|nondet", default_value = "error", hide_possible_values = true)]
    undefined: Undefined,

    /// Make accesses at FILE:LINE:COLUMN in pieces of so many bytes. `check` finds out which have to be, because others access the same
    /// memory with another size
    #[arg(long, value_name = "PLACE=BYTES", value_delimiter = ',')]
    pieces: Vec<Pieces>,

    /// An argument of `main`, after the program's name
    #[arg(long, value_name = "TEXT")]
    arg: Vec<String>,
}

/// What accesses to `volatile` objects are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Volatile {
    Plain,
    Relaxed,
}

/// Which way operands are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Evaluation {
    Left,
    Right,
}

/// What signed arithmetic does whose result is too large for its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Overflow {
    Wrap,
    Error,
}

/// What a call of a function does that is not defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Undefined {
    Error,
    Nondet,
}

impl Input {
    /// How to read the program.
    pub(crate) fn options(&self, c: &C, others: &Others) -> LoadOptions {
        LoadOptions {
            defines: self.defines.clone(),
            c: raddle::c::Options {
                include_dirs: c.include_dirs.clone(),
                undefines: c.undefines.clone(),
                std: c.std.clone(),
                ilp32: c.ilp32,
                nondet: c.nondet.clone(),
                spurious_wakeups: c.spurious_wakeups,
                weak_cas_fails: c.weak_cas_fails,
                evaluation_right: c.evaluation == Evaluation::Right,
                overflow_is_error: c.overflow == Overflow::Error,
                volatile_relaxed: c.volatile == Volatile::Relaxed,
                args: c.arg.clone(),
                defines: Vec::new(),
                compiler: None,
                with: others.others.iter().chain(&c.with).cloned().collect(),
                flags: Vec::new(),
                undefined_nondet: c.undefined == Undefined::Nondet,
            },
            compile_commands: c.compile_commands.clone(),
            pieces: c.pieces.clone(),
        }
    }
}

/// One memory model, or all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Models {
    One(Model),
    All,
}

impl Models {
    /// The model, if it is one.
    pub(crate) fn one(self) -> Option<Model> {
        match self {
            Models::One(model) => Some(model),
            Models::All => None,
        }
    }
}

impl std::str::FromStr for Models {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "all" { Ok(Models::All) } else { name.parse().map(Models::One) }
    }
}

/// The model and the properties.
#[derive(Args, Debug)]
#[command(next_help_heading = "What to verify")]
pub(crate) struct What {
    /// The memory model: sc, tso, pso, or of those of C11 rc11, ra, sra, wra; `check` also takes all [default: rc11 for C, tso for
    /// litmus tests of X86, sc for .rdl]
    #[arg(short, long)]
    pub(crate) model: Option<Models>,

    /// Look for these properties only: assert, error, memory, lock, arithmetic, race, deadlock
    #[arg(long, value_name = "PROPERTY", value_delimiter = ',', conflicts_with = "no")]
    pub(crate) only: Vec<Property>,

    /// Do not look for these properties
    #[arg(long, value_name = "PROPERTY", value_delimiter = ',')]
    pub(crate) no: Vec<Property>,
}

impl What {
    /// The memory model; for a program with this one by default. `None` stands for all.
    pub(crate) fn model(&self, default: Model) -> Option<Model> {
        self.model.unwrap_or(Models::One(default)).one()
    }

    /// The properties to look for.
    pub(crate) fn properties(&self) -> PropertySet {
        if self.only.is_empty() {
            self.no.iter().fold(PropertySet::all(), |set, &property| set.without(property))
        } else {
            self.only.iter().copied().collect()
        }
    }
}

/// A question about a program: to one engine or to all.
#[derive(Args, Debug)]
pub(crate) struct Asked {
    #[command(flatten)]
    pub(crate) input: Input,

    #[command(flatten)]
    others: Others,

    #[command(flatten)]
    pub(crate) what: What,

    /// Go on after a violation: list the distinct ones, count all classes
    #[arg(long, help_heading = "What to verify")]
    pub(crate) all: bool,

    /// Enter the body of a loop at most N times each time the loop is reached, unless its number of turns is known then.
    /// file.c:42=N and function=N are for the loops at that line and in that function alone
    #[arg(long, visible_alias = "unroll", value_name = "[LOOP=]N", value_delimiter = ',', value_parser = values::loop_bound,
          help_heading = "How far")]
    pub(crate) loop_bound: Vec<LoopBound>,

    /// Bound loops whose number of turns is known, too
    #[arg(long, requires = "loop_bound", help_heading = "How far")]
    pub(crate) bound_all_loops: bool,

    /// Stop after this many executions, blocked and failed ones included
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub(crate) max_executions: Option<u64>,

    /// Stop after this time: 90, 10s, 5m, 1.5h
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "How far")]
    pub(crate) time_limit: Option<Duration>,

    /// Explore with N threads; 0 stands for one per core. Counts do not depend on it; which violation is found first may
    #[arg(short, long, value_name = "N", default_value = "1", help_heading = "How")]
    pub(crate) workers: usize,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) c: C,
}

impl Asked {
    /// How to read the program.
    pub(crate) fn load_options(&self) -> LoadOptions {
        self.input.options(&self.c, &self.others)
    }

    /// The question, as far as all engines have it in common, about a program with this model by default.
    pub(crate) fn settings(&self, default: Model) -> Settings {
        let mut settings = Settings::new(self.what.model(default).unwrap_or_default());
        for bound in &self.loop_bound {
            match bound {
                LoopBound::Every(turns) => settings.loop_bound = Some(*turns),
                LoopBound::Named(bound) => settings.named_bounds.push(bound.clone()),
            }
        }
        settings.bound_all_loops = self.bound_all_loops;
        let options = &mut settings.options;
        options.properties = self.what.properties();
        options.all = self.all;
        options.limits.executions = self.max_executions;
        options.limits.time = self.time_limit;
        options.workers = match self.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            workers => workers,
        };
        settings
    }
}

/// Verify a program
///
/// Looks at one execution of every class and says whether one of them breaks a property: a false assertion, a reached
/// error mark, a misuse of memory or locks, a division by zero, a data race, a deadlock. A counterexample is shown step
/// by step, after it has been replayed on the machine of the memory model.
///
/// A litmus test holds if what it says about its final states is true: `exists P` if an execution ends so, which is shown, `~exists P` if none
/// does, `forall P` if all do. A data race or another violated property comes first.
#[derive(Args, Debug)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) asked: Asked,

    #[command(flatten)]
    pub(crate) live: Live,

    /// Cut an execution off after this many events
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub(crate) max_depth: Option<usize>,

    /// Stop when the process holds this much memory: 4GiB, 512M
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "How far")]
    pub(crate) max_memory: Option<u64>,

    /// Stop a search that remembers states after this many of them
    #[arg(long, value_name = "N", help_heading = "How far")]
    pub(crate) max_states: Option<u64>,

    /// The engine
    #[arg(short, long, default_value = "auto", value_parser = values::engine, help = values::engines(), help_heading = "How")]
    pub(crate) engine: &'static dyn Engine,

    /// Set a switch of the engine
    #[arg(long, value_name = "KEY=VALUE", help = values::switches(), help_heading = "How")]
    pub(crate) engine_option: Vec<String>,

    /// Check the proofs of an engine that says why there is no such execution, as `--engine-option certify=on`
    #[arg(long, help_heading = "How")]
    pub(crate) certify: bool,

    /// Do not tell executions apart by the order of read-modify-writes whose results nobody uses
    #[arg(long, help_heading = "How")]
    pub(crate) commuting_updates: bool,

    /// List all final states of a litmus test, with how many executions end in each
    #[arg(long, help_heading = "Output")]
    pub(crate) states: bool,

    /// Write the execution graph of the first counterexample to FILE, for Graphviz
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) dot: Option<PathBuf>,

    /// Write the first counterexample to FILE as a page for a browser: steps, source and graph side by side
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Write all violations to FILE, with the runs that show them, as SARIF for code hosts and editors
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) sarif: Option<PathBuf>,

    /// Write the first violation to FILE as a witness of verification competitions: YAML, format 2.0
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) witness: Option<PathBuf>,

    /// Print one line for each violation or error, as compilers do (FILE:LINE:COLUMN: error: MESSAGE), and one for the verdict
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) short: bool,

    /// Write the schedule of the first counterexample to FILE, for `raddle replay`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) save_schedule: Option<PathBuf>,

    /// Show every step of a counterexample, however long it is
    #[arg(long, help_heading = "Output")]
    pub(crate) full: bool,
}

/// Put the same question to every engine
///
/// Verifies the program with each engine that takes it, one after the other, and prints a table of what they counted and what it
/// took. Engines tell executions apart in different ways, so their numbers of classes differ; their verdicts must not. The exit
/// status is that of the common verdict, or 4 if engines contradict each other, which is a bug in Raddle. A limit is for each
/// engine; one that reaches it contradicts nobody.
#[derive(Args, Debug)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) asked: Asked,
}

/// Find the weakest memory orders and fences for which the properties of a program hold
///
/// Makes the orderings that a violation goes through stronger until nothing is violated, then every ordering as weak as it can be, each choice decided by a whole check under
/// the memory model (rc11 unless another one is named). Shows what changes as lines and as a diff, and says whether any single ordering could be weaker still. The exit status is
/// 0 if orderings were found that are enough, 1 if there are none, 3 if a limit was reached before.
#[derive(Args, Debug)]
pub(crate) struct Strengthen {
    #[command(flatten)]
    pub(crate) asked: Asked,

    /// Show every step of a counterexample, however long it is
    #[arg(long, help_heading = "Output")]
    pub(crate) full: bool,
}

/// Does TSO add behaviour to a program, and which fences would remove it?
///
/// A program is robust if every execution under TSO is like one under sequential consistency: what holds under sc then holds under tso. Decides that without store buffers and without a bound for
/// loops, shows an execution that is like none of sc with the cycle that says why, and lists which store can be late for which load. The exit status is 0 if the program is robust, 1 if not, 3 if a limit was reached before.
#[derive(Args, Debug)]
pub(crate) struct Robust {
    #[command(flatten)]
    pub(crate) input: Input,

    #[command(flatten)]
    pub(crate) others: Others,

    /// Find the cheapest sets of fences that make the program robust, or (for=safety) its properties hold under TSO; one in a loop costs ten
    #[arg(long, value_name = "for=WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "for=robustness", value_parser = values::purpose)]
    pub(crate) fences: Option<Purpose>,

    /// Write a patch to FILE that puts the cheapest fences into the text, which has been checked again
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,

    /// Stop after this time: 90, 10s, 5m, 1.5h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Explore with N threads
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub(crate) workers: usize,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the graph of the execution to FILE, for Graphviz
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) c: C,
}

/// Run a schedule again, step by step
///
/// A schedule is a list of words: `2` lets thread 2 do its next event, `2=1` lets it take alternative 1 of a choice, `2!` lets
/// its oldest buffered write reach memory, and `2!10000000c` the oldest one to that address. `raddle check` prints
/// the schedule of every counterexample. The exit status is 1 if the run breaks a property, else 0.
#[derive(Args, Debug)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) input: Input,

    /// The schedule, or @FILE to read it from a file
    #[arg(required = true, value_name = "SCHEDULE")]
    pub(crate) schedule: Vec<String>,

    /// The memory model: sc, tso, pso, rc11, ra, sra or wra [default: as for `check`]
    #[arg(short, long)]
    pub(crate) model: Option<Model>,

    /// Do not end the run at a data race, or at errors of memory or locks that have a way on
    #[arg(long, value_name = "PROPERTY", value_delimiter = ',', value_parser = with_a_way_on)]
    pub(crate) no: Vec<Property>,

    /// The schedule is one of `check --live`: loops that wait are loops
    #[arg(long)]
    pub(crate) as_written: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the execution graph to FILE, for Graphviz
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,

    /// Write the run to FILE as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Show every step, however many there are
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) c: C,
}

fn with_a_way_on(name: &str) -> Result<Property, String> {
    match name.parse()? {
        property @ (Property::Race | Property::Memory | Property::Lock | Property::Assert | Property::Error) => {
            Ok(property)
        }
        _ => Err(
            "a replay ends at whatever goes wrong; only `race`, `memory`, `lock`, `assert` and `error` can be left out"
                .into(),
        ),
    }
}

/// The languages in which a program can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    Rdl,
    Trencher,
}

/// Print a program as Raddle sees it, in .rdl
#[derive(Args, Debug)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) input: Input,

    #[command(flatten)]
    pub(crate) others: Others,

    /// Show it as engines run it: with loops that only wait turned into waits
    #[arg(long)]
    pub(crate) prepared: bool,

    /// In which language: rdl, or trencher (automata) as far as there are words
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = Form::Rdl, hide_possible_values = true)]
    pub(crate) to: Form,

    /// If the program is not accepted, say so as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) c: C,
}
