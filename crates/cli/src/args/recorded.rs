//! What can be said to the commands about something that was recorded: histories and traces.

use crate::values;
use clap::Args;
use raddle::Model;
use raddle::consistency::mailbox::Mailbox;
use raddle::linear::format::Format;
use raddle::linear::format::edn::value_from;
use raddle::linear::object::ObjectKind;
use raddle::linear::txn::{Level, Workload};
use raddle::linear::value::Value;
use std::path::PathBuf;
use std::time::Duration;

/// Is this history linearizable?
///
/// Reads a recorded history of a data structure or a database, and says whether its operations can be put into an order
/// that explains every result and respects real time.
#[derive(Args, Debug)]
pub(crate) struct Lin {
    /// The history; `-` reads standard input
    pub(crate) file: PathBuf,

    /// The object: stack, queue, set, multiset, bag, register, map, counter, log, lock, mutex, priority-queue, deque
    /// [default: what the input says]
    #[arg(short = 't', long = "type", value_name = "NAME")]
    pub(crate) object: Option<ObjectKind>,

    /// The format: json, edn, event-log, intervals, jepsen-text, kv-text [default: by the content]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) format: Option<Format>,

    /// How to decide: auto, monitor (fast, for the objects that have one) or search
    #[arg(short, long, value_enum, default_value = "auto", hide_possible_values = true)]
    pub(crate) engine: LinEngine,

    /// The monitor's algorithm: near-linear or quadratic for stacks, sweep, tree or all-pairs for queues
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true)]
    pub(crate) algorithm: Option<Algorithm>,

    /// How many configurations the search may visit for each object
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<u64>,

    /// How much memory the search may hold: 4GiB, 512M
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time: 90, 10s, 5m, 1.5h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// How many ways to share out pending removals may be tried
    #[arg(long, value_name = "N")]
    pub(crate) pending_budget: Option<u64>,

    /// Check the keys of a map together instead of one by one
    #[arg(long)]
    pub(crate) no_partition: bool,

    /// Values are `[key value]` pairs, as Jepsen's independent tests write them
    #[arg(long)]
    pub(crate) independent: bool,

    /// The order of the lines is the order of the events, whatever times they carry
    #[arg(long)]
    pub(crate) file_order: bool,

    /// What a compare-and-set that failed tells: ignore (nothing but that it had no effect) or observe (that the value was
    /// another one)
    #[arg(long, value_enum, value_name = "NAME", default_value = "ignore", hide_possible_values = true)]
    pub(crate) failed_cas: FailedCasOption,

    /// What a read of a register or key that returned nil tells: nothing (there was nothing) or unknown (nobody knows what it
    /// read)
    #[arg(long, value_enum, value_name = "NAME", default_value = "nothing", hide_possible_values = true)]
    pub(crate) nil_reads: NilReadsOption,

    /// What a register, each key of a map, or a counter holds at the beginning: 0, nil, "a text", [1 2]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, value_parser = value_from)]
    pub(crate) initial: Option<Value>,

    /// Say how a register or a map stands to each level of consistency: linearizable, sequential, causal-memory,
    /// causal-convergence, release-acquire, causal, pram, eventual
    #[arg(long, conflicts_with_all = ["stream", "txn"])]
    pub(crate) levels: bool,

    /// The operations are transactions of this workload: list-append or rw-register; says at which isolation level they stand
    #[arg(long, value_name = "WORKLOAD", conflicts_with_all = ["stream", "object"])]
    pub(crate) txn: Option<Workload>,

    /// The isolation level: read-uncommitted, read-committed, snapshot-isolation, serializable, strict-serializable
    #[arg(long, value_name = "LEVEL", default_value = "strict-serializable", requires = "txn")]
    pub(crate) level: Level,

    /// Check while reading, in bounded memory, and stop at the first violation
    #[arg(long)]
    pub(crate) stream: bool,

    /// Do not look for a small explanation of a violation
    #[arg(long)]
    pub(crate) no_explain: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the history as a picture to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Is this trace consistent?
///
/// Reads events, the order of each thread, and what every read read, and says whether there is an execution of that shape under the memory model. If
/// there is, it shows one; if not, a smallest set of events that clash, and the cycle among them. The exit status is 0 if the trace is consistent and 1 if
/// it is not. The log of a store, which says what each process read and wrote, is such a trace, too. With --mailbox the trace is that of handlers that run one message at a time, and the order of messages is sought.
#[derive(Args, Debug)]
pub(crate) struct Trace {
    /// The trace; `-` reads standard input
    pub(crate) file: PathBuf,

    /// The memory model: sc, tso, pso, sra, ra, wra or rc11
    #[arg(short, long, default_value_t)]
    pub(crate) model: Model,

    /// The events are those of messages, which handlers take out of mailboxes: queue, multiset or stack; HANDLER=KIND for one handler. The memory is sc
    #[arg(long, value_name = "KIND", value_parser = values::mailbox, conflicts_with_all = ["model", "algorithm", "no_closure", "max_prefixes", "max_memory", "dot"])]
    pub(crate) mailbox: Vec<(Option<String>, Mailbox)>,

    /// With --mailbox, what messages are that are posted and never taken: strict (they stay in the mailbox) or ignore
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "strict",
        hide_possible_values = true,
        requires = "mailbox"
    )]
    pub(crate) unexecuted: Unexecuted,

    /// The format: text or json, or log: of a store, in any format of `raddle lin`; of handlers (also race-log) with --mailbox [default: by the content]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) format: Option<String>,

    /// For the log of a store: what each key holds at the beginning: 0, nil, "a text", [1 2]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, value_parser = value_from, conflicts_with = "mailbox")]
    pub(crate) initial: Option<Value>,

    /// For the log of a store: values are `[key value]` pairs, as Jepsen's independent tests write them
    #[arg(long, conflicts_with = "mailbox")]
    pub(crate) independent: bool,

    /// How to search: model (made for the memory model) or naive (through all prefixes, for comparison)
    #[arg(long, value_enum, value_name = "NAME", default_value = "model", hide_possible_values = true)]
    pub(crate) algorithm: TraceAlgorithm,

    /// Search without looking for cycles first
    #[arg(long)]
    pub(crate) no_closure: bool,

    /// How many prefixes of executions the search may look at
    #[arg(long, value_name = "N")]
    pub(crate) max_prefixes: Option<u64>,

    /// How much memory the search may hold: 4GiB, 512M
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time: 90, 10s, 5m, 1.5h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Do not look for a small clash
    #[arg(long)]
    pub(crate) no_explain: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the trace as a graph to FILE, for Graphviz, with the cycle if there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,

    /// Show every step of an execution, however long it is
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Unexecuted {
    Strict,
    Ignore,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum TraceAlgorithm {
    Model,
    Naive,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum LinEngine {
    Auto,
    Monitor,
    Search,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Algorithm {
    NearLinear,
    Quadratic,
    Sweep,
    Tree,
    AllPairs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum NilReadsOption {
    Nothing,
    Unknown,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum FailedCasOption {
    Ignore,
    Observe,
}
