//! What can be said to the commands about systems of transitions: memory systems, graphs and MDPs.

use super::{C, Models};
use crate::values;
use clap::Args;
use raddle::Define;
use raddle::fair::streett::Threshold;
use raddle::memsys::Model as MemsysModel;
use std::path::PathBuf;
use std::time::Duration;

/// Does this memory system implement release-acquire?
///
/// Reads a cache protocol or a replicated store as rules or transitions, and says whether all its runs, under all programs, satisfy the model. If not, it shows a shortest
/// run that does not, as a message chart, and why. The exit status is 0 if the system satisfies the model and 1 if it does not.
#[derive(Args, Debug)]
pub(crate) struct Memsys {
    /// The memory system; `-` reads standard input
    pub(crate) file: PathBuf,

    /// The model: wra (causal), ra or sra
    #[arg(short, long, default_value = "ra")]
    pub(crate) model: MemsysModel,

    /// Give a parameter of the system a value
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub(crate) defines: Vec<Define>,

    /// How many configurations each search may meet
    #[arg(long, value_name = "N")]
    pub(crate) max_configurations: Option<u64>,

    /// How much memory a search may hold: 4GiB, 512M
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time: 90, 10s, 5m, 1.5h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the states and transitions to FILE, for Graphviz, with the violating run in red
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
}

/// Can this objective be satisfied, on a graph, in an MDP or by a program?
///
/// With --pairs: is there a path, and in an MDP a strategy with probability 1, such that whoever visits the requests of a pair again and again visits its grants again and again? The exit
/// status is 0 if there is. With --spec: does the automaton accept every path (that satisfies the pairs, if there are any), and in an MDP with probability 1 whatever the strategy? The exit status is 1 if it does not. The answer
/// comes with a path, a strategy or the partition that shows it, which was checked again.
#[derive(Args, Debug)]
pub(crate) struct Fair {
    /// The system: .aut (Aldebaran), .tra (PRISM), or a program whose states are meant: .rdl, .c or .i
    pub(crate) file: PathBuf,

    /// Give a parameter of the program a value (in C: define a macro)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub(crate) defines: Vec<Define>,

    /// The memory model of the program: sc or tso [default: sc]
    #[arg(short, long)]
    pub(crate) model: Option<Models>,

    /// Streett pairs, a line `REQUESTS -> GRANTS` each: to satisfy, or with --spec what may be assumed
    #[arg(long, value_name = "FILE", required_unless_present = "spec")]
    pub(crate) pairs: Option<PathBuf>,

    /// A deterministic automaton that has to accept, in the format HOA; its propositions are actions and labels of states
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,

    /// Labels of states (PRISM, .lab)
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,

    /// What states are called (PRISM, .sta)
    #[arg(long, value_name = "FILE")]
    pub(crate) states: Option<PathBuf>,

    /// What a state without a successor is: refuse (a mistake) or stay (it stays where it is)
    #[arg(long, value_enum, value_name = "WHAT", default_value = "refuse", hide_possible_values = true)]
    pub(crate) dead_ends: DeadEnds,

    /// How sets are kept: auto (bits in small graphs, BDDs in large ones), bits or bdds
    #[arg(long, value_enum, value_name = "NAME", default_value = "auto", hide_possible_values = true)]
    pub(crate) sets: SetsOption,

    /// The algorithm: improved (lock-step search) or basic
    #[arg(long, value_enum, value_name = "NAME", default_value = "improved", hide_possible_values = true)]
    pub(crate) algorithm: FairAlgorithm,

    /// From how many lost edges on a set is decomposed as a whole: log, sqrt-m, sqrt-m-log, never or a number [default: log, for
    /// end-components sqrt-m]
    #[arg(long, value_name = "N")]
    pub(crate) threshold: Option<Threshold>,

    /// How much memory sets may take: 4GiB, 512M [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time: 90, 10s, 5m, 1.5h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Show all of the evidence, however long it is
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) c: C,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum DeadEnds {
    Refuse,
    Stay,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum SetsOption {
    Auto,
    Bits,
    Bdds,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum FairAlgorithm {
    Basic,
    Improved,
}
