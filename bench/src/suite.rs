//! The programs that are measured.
//!
//! All are written from their descriptions in the literature, and are the files of `examples/` with other parameters. Where
//! the number of executions is known from elsewhere (a closed form, or several tools agree on it) it is checked. The
//! renditions of lamport, peterson and filesystem are our own, so their counts differ from those of the peers: there the
//! rates can be compared, not the times.

use raddle::Model;

/// Executions per CPU second of other tools on the same program, on one core of a machine of the same kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peers {
    /// GenMC, under SC.
    pub(crate) genmc: Option<f64>,
    /// Nidhugg, optimal DPOR, under SC.
    pub(crate) nidhugg: Option<f64>,
}

/// Not measured.
pub(crate) const UNKNOWN: Peers = Peers { genmc: None, nidhugg: None };

/// With two rounds the rendition of the peers has 2,420 executions and ours 48, which are few for a rate; so ours is measured with
/// four rounds, too.
const PETERSON: Peers = Peers { genmc: Some(16_100.0), nidhugg: Some(6_000.0) };

/// A program with its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// What it is called in tables.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
    /// The memory model.
    pub(crate) model: Model,
    /// The parameter that makes it larger.
    pub(crate) parameter: &'static str,
    /// The value that is measured.
    pub(crate) full: Instance,
    /// The value for `--quick`.
    pub(crate) quick: Instance,
    /// What others reach.
    pub(crate) peers: Peers,
}

/// A value of the parameter, and how many executions there are if that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    /// The value.
    pub(crate) value: i64,
    /// How many executions there are.
    pub(crate) executions: Option<u64>,
}

const fn known(value: i64, executions: u64) -> Instance {
    Instance { value, executions: Some(executions) }
}

const fn open(value: i64) -> Instance {
    Instance { value, executions: None }
}

/// One writer and N readers. The rate of Nidhugg is that of readers(12).
pub(crate) const READERS: Case = Case {
    name: "readers",
    text: include_str!("../../examples/readers.rdl"),
    model: Model::Sc,
    parameter: "N",
    full: known(15, 32_768),
    quick: known(3, 8),
    peers: Peers { genmc: Some(25_000.0), nidhugg: Some(3_000.0) },
};

/// Two threads that add up each other's numbers.
const FIB: Case = Case {
    name: "fib",
    text: include_str!("../../examples/fib.rdl"),
    model: Model::Sc,
    parameter: "K",
    full: known(5, 8_953),
    quick: known(2, 19),
    peers: Peers { genmc: Some(15_400.0), nidhugg: Some(10_800.0) },
};

/// The same, where a store may not be seen at once.
const WEAK_FIB: Case = Case { full: known(5, 19_404), quick: known(2, 20), peers: UNKNOWN, ..FIB };

/// Threads that count under a mutex.
const MUTEX_COUNTER: Case = Case {
    name: "mutex counter",
    text: include_str!("../../examples/mutex_counter.rdl"),
    model: Model::Sc,
    parameter: "N",
    full: known(7, 5_040),
    quick: known(3, 6),
    peers: UNKNOWN,
};

/// Threads that collide in a hash table.
const INDEXER: Case = Case {
    name: "indexer",
    text: include_str!("../../examples/indexer.rdl"),
    model: Model::Sc,
    parameter: "N",
    full: known(14, 512),
    quick: known(12, 8),
    peers: Peers { genmc: Some(250.0), nidhugg: Some(330.0) },
};

/// The programs, in the order in which they are shown.
pub(crate) const CASES: &[Case] = &[
    Case {
        name: "lamport",
        text: include_str!("../../examples/lamport.rdl"),
        model: Model::Sc,
        parameter: "ROUNDS",
        full: open(2),
        quick: open(1),
        peers: Peers { genmc: Some(24_800.0), nidhugg: Some(6_300.0) },
    },
    READERS,
    Case { model: Model::Rc11, peers: UNKNOWN, ..READERS },
    FIB,
    Case { model: Model::Tso, ..WEAK_FIB },
    Case { model: Model::Ra, ..WEAK_FIB },
    Case { model: Model::Rc11, ..WEAK_FIB },
    Case {
        name: "lastzero",
        text: include_str!("../../examples/lastzero.rdl"),
        model: Model::Sc,
        parameter: "N",
        full: known(14, 69_632),
        quick: known(3, 12),
        peers: Peers { genmc: Some(13_200.0), nidhugg: None },
    },
    Case {
        name: "peterson",
        text: include_str!("../../examples/peterson.rdl"),
        model: Model::Sc,
        parameter: "ROUNDS",
        full: open(2),
        quick: open(1),
        peers: PETERSON,
    },
    Case {
        name: "peterson",
        text: include_str!("../../examples/peterson.rdl"),
        model: Model::Sc,
        parameter: "ROUNDS",
        full: open(4),
        quick: open(2),
        peers: PETERSON,
    },
    Case {
        name: "peterson",
        text: include_str!("../../examples/peterson.rdl"),
        model: Model::Tso,
        parameter: "ROUNDS",
        full: open(2),
        quick: open(1),
        peers: UNKNOWN,
    },
    INDEXER,
    Case { model: Model::Rc11, peers: UNKNOWN, ..INDEXER },
    Case {
        name: "filesystem",
        text: include_str!("../../examples/filesystem.rdl"),
        model: Model::Sc,
        parameter: "N",
        full: known(20, 128),
        quick: known(14, 2),
        peers: Peers { genmc: Some(370.0), nidhugg: Some(300.0) },
    },
    Case {
        name: "ticket lock",
        text: include_str!("../../examples/ticket_lock.rdl"),
        model: Model::Sc,
        parameter: "N",
        full: known(7, 5_040),
        quick: known(3, 6),
        peers: UNKNOWN,
    },
    MUTEX_COUNTER,
    Case { model: Model::Rc11, ..MUTEX_COUNTER },
];
