//! Programs whose numbers of classes are known: litmus tests, families, and the minimal programs that naive versions of
//! the exploration get wrong.
//!
//! The numbers are exact, confirmed by enumeration or by a closed form; brute force and engines are held to them alike.

use crate::litmus::litmus;
use crate::sketch::Sketch;
use raddle_trace::Model;

/// A program and the numbers of its classes, in the order SC, TSO, PSO.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The program.
    pub sketch: Sketch,
    /// Complete classes.
    pub complete: [usize; 3],
    /// Blocked classes.
    pub blocked: [usize; 3],
}

impl Case {
    /// Complete and blocked classes under this model.
    pub fn expected(&self, model: Model) -> (usize, usize) {
        (self.complete[model as usize], self.blocked[model as usize])
    }
}

fn case(name: impl Into<String>, threads: &[&str], complete: [usize; 3], blocked: usize) -> Case {
    Case { name: name.into(), sketch: litmus(threads), complete, blocked: [blocked; 3] }
}

fn same(name: impl Into<String>, threads: &[&str], complete: usize, blocked: usize) -> Case {
    case(name, threads, [complete; 3], blocked)
}

fn family(name: impl Into<String>, threads: &[String], complete: [usize; 3]) -> Case {
    let threads: Vec<_> = threads.iter().map(String::as_str).collect();
    case(name, &threads, complete, 0)
}

/// The litmus table, by events, reads-from and coherence.
pub fn litmus_table() -> Vec<Case> {
    vec![
        case("SB", &["W x 1; R y", "W y 1; R x"], [3, 4, 4], 0),
        same("SB, fence in both threads", &["W x 1; F; R y", "W y 1; F; R x"], 3, 0),
        case("SB, fence in one thread", &["W x 1; F; R y", "W y 1; R x"], [3, 4, 4], 0),
        same("SB, seq_cst stores", &["W.sc x 1; R y", "W.sc y 1; R x"], 3, 0),
        case("SB, release and acquire", &["W.rel x 1; R.acq y", "W.rel y 1; R.acq x"], [3, 4, 4], 0),
        case("SB, weaker fences", &["W x 1; F.acqrel; R y", "W y 1; F.acqrel; R x"], [3, 4, 4], 0),
        same("SB, add of another variable between", &["W x 1; A z 1; R y", "W y 1; A w 1; R x"], 3, 0),
        same("SB, failed compare-exchange between", &["W x 1; C z 1 1; R y", "W y 1; C w 1 1; R x"], 3, 0),
        case("SB with own reads", &["W x 1; R x; R y", "W y 1; R y; R x"], [3, 4, 4], 0),
        same("SB, add instead of writes", &["A x 1; R y", "A y 1; R x"], 3, 0),
        same("IRIW", &["W x 1", "W y 1", "R x; R y", "R y; R x"], 15, 0),
        same("WRC", &["W x 1", "R x; W y 1", "R y; R x"], 7, 0),
        case("MP", &["W x 1; W y 1", "R y; R x"], [3, 3, 4], 0),
        same("MP, store-store fence", &["W x 1; S; W y 1", "R y; R x"], 3, 0),
        same("MP, release store", &["W x 1; W.rel y 1", "R y; R x"], 3, 0),
        case("MP, release store first", &["W.rel x 1; W y 1", "R y; R x"], [3, 3, 4], 0),
        same("LB", &["R x; W y 1", "R y; W x 1"], 3, 0),
        case("S", &["W x 2; W y 1", "R y; W x 1"], [3, 3, 4], 0),
        case("R", &["W x 1; W y 1", "W y 2; R x"], [3, 4, 4], 0),
        same("R, fences", &["W x 1; F; W y 1", "W y 2; F; R x"], 3, 0),
        case("2+2W", &["W x 1; W y 2", "W y 1; W x 2"], [3, 3, 4], 0),
        same("2+2W, store-store fence", &["W x 1; S; W y 2", "W y 1; S; W x 2"], 3, 0),
        same("CoRR, one write", &["W x 1", "R x; R x"], 3, 0),
        same("CoRR, two writes", &["W x 1; W x 2", "R x; R x"], 6, 0),
    ]
}

/// Programs with their numbers of reads-from classes: the table of the specification (Toman 2021, checked by enumeration).
pub fn reads_from_table() -> Vec<Case> {
    let mut cases = vec![
        case("SB", &["W x 1; R y", "W y 1; R x"], [3, 4, 4], 0),
        same("SB, fence in both threads", &["W x 1; F; R y", "W y 1; F; R x"], 3, 0),
        case("SB, fence in one thread", &["W x 1; F; R y", "W y 1; R x"], [3, 4, 4], 0),
        case("MP", &["W x 1; W y 1", "R y; R x"], [3, 3, 4], 0),
        same("MP, fence", &["W x 1; F; W y 1", "R y; R x"], 3, 0),
        same("LB", &["R x; W y 1", "R y; W x 1"], 3, 0),
        same("CoRR", &["W x 1", "R x; R x"], 3, 0),
        same("two writers, two readers", &["W x 1", "W x 2", "R x; R x", "R x; R x"], 47, 0),
        same("IRIW", &["W x 1", "W y 1", "R x; R y", "R y; R x"], 15, 0),
        same("WRC", &["W x 1", "R x; W y 1", "R y; R x"], 7, 0),
        same("2+2W", &["W x 1; W y 2", "W y 1; W x 2"], 1, 0),
        case("crossed writes, own reads", &["W x 1; W y 1; R y", "W y 2; W x 2; R x"], [3, 3, 4], 0),
        same("two writes against one", &["W x 1; W y 1", "W y 2; R x; R y"], 4, 0),
        case("SB with own reads", &["W x 1; R x; R y", "W y 1; R y; R x"], [3, 4, 4], 0),
        same("two threads W W R R", &["W x 1; W y 1; R x; R y", "W x 2; W y 2; R x; R y"], 9, 0),
        case(
            "three threads W W R R",
            &["W x 1; W y 1; R x; R y", "W x 2; W y 2; R x; R y", "W x 3; W y 3; R x; R y"],
            [220, 256, 256],
            0,
        ),
        same("two threads with two adds each", &["A x 1; A x 1", "A x 1; A x 1"], 6, 0),
        same("compare-exchanges from 0", &["C x 0 1", "C x 0 2", "C x 0 3"], 3, 0),
        same("compare-exchanges in a ring", &["C x 0 1", "C x 1 2", "C x 2 0"], 5, 0),
        same("SB, add instead of writes", &["A x 1; R y", "A y 1; R x"], 3, 0),
        same("an add, a write, two readers", &["R x", "A x 1", "W x 5", "R x"], 18, 0),
        same("own write between reads", &["W x 1; R x; W x 2", "R x; R x"], 6, 0),
        case("a shared last write", &["W x 1; W z 1; R y; R z", "W y 1; W z 2; R x; R z"], [7, 12, 12], 0),
        same("the same, fenced", &["W x 1; F; R y; W z 1; R z", "W y 1; F; R x; W z 2; R z"], 9, 0),
    ];
    cases.extend((3..=4).map(store_buffering));
    cases.extend((1..=5).map(|n| {
        let mut threads: Vec<_> = (1..=n).map(|i| format!("W x {i}")).collect();
        threads.push("R x".to_owned());
        family(format!("{n} writers, one reader"), &threads, [n + 1; 3])
    }));
    cases.extend((2..=6).map(write_read));
    cases.extend((2..=4).map(|n| counter(n, 1)));
    cases
}

/// `n` threads that write a variable and read it.
pub fn write_read(n: usize) -> Case {
    let threads: Vec<_> = (1..=n).map(|i| format!("W x {i}; R x")).collect();
    family(format!("write and read({n})"), &threads, [(n + 1).pow(n as u32 - 1); 3])
}

/// The minimal programs that naive versions of the exploration get wrong, by their names in the literature of the engine.
pub fn traps() -> Vec<Case> {
    let try_section = |value: u32| format!("a=trylock m; if a==1 {{ W x {value}; unlock m }}");
    vec![
        same("N1", &["C x 0 2", "W x 1", "C x 1 1", "W x 1"], 24, 0),
        same("N2", &["W x 1", "C x 1 1", "W x 1"], 6, 0),
        same("N3", &["R x", "A x 1", "C x 0 2"], 5, 0),
        same("N4", &["R x", "W y 1", "W y 2; W x 1"], 4, 0),
        same("N4'", &["C x 0 1", "W x 1; W x 0"], 3, 0),
        same("N5", &["A x 1", "C x 0 2"], 2, 0),
        same("N5'", &["a=C x 0 1; if a==0 { W y 1 }", "C x 0 2; R y"], 3, 0),
        same("N6", &["R x; a=choose 2", "W x 1"], 4, 0),
        same("N7", &["lock n", "trylock n"], 1, 1),
        same("N7'", &["lock m", "lock m"], 0, 2),
        same("N8", &["lock n", "lock n; C x 0 2; unlock n", "W x 1"], 2, 1),
        same("N9", &["a=R x; assume a==1", "W x 1"], 1, 0),
        same("N10", &[&try_section(1), &try_section(2)], 4, 0),
        same("N11", &["R x; W y 1", "R y; W z 1", "R z; W x 1"], 7, 0),
        same("N12", &["spawn 1; W x 1; join 1; R y", "R x; W y 1"], 2, 0),
        case("N13", &["W x 1; a=choose 2; R y", "W y 1; a=choose 2; R x"], [12, 16, 16], 0),
        // The mutex of N14 is a plain variable, since only its holder may release a mutex.
        same("N14", &["W m 0", "CW m 0 1", "CW m 0 1"], 2, 2),
    ]
}

/// Store buffering in a ring of `n` threads.
pub fn store_buffering(n: usize) -> Case {
    let threads: Vec<_> = (0..n).map(|i| format!("W x{i} 1; R x{}", (i + 1) % n)).collect();
    family(format!("SB({n})"), &threads, [(1 << n) - 1, 1 << n, 1 << n])
}

/// One writer and `n` readers.
pub fn readers(n: usize) -> Case {
    let mut threads = vec!["R x".to_owned(); n];
    threads.push("W x 1".to_owned());
    family(format!("readers({n})"), &threads, [1 << n; 3])
}

/// `n` writers of one variable.
pub fn writers(n: usize) -> Case {
    let threads: Vec<_> = (1..=n).map(|i| format!("W x {i}")).collect();
    family(format!("writers({n})"), &threads, [factorial(n); 3])
}

/// `lastzero(n)`: thread `i` writes one more than element `i - 1` to element `i`; one thread looks for the last zero.
pub fn last_zero(n: usize) -> Case {
    let mut search = String::new();
    for i in (0..=n).rev() {
        search += &format!("a=R x{i}; if a!=0 {{ ");
    }
    search += &"} ".repeat(n + 1);
    let mut threads = vec![search];
    threads.extend((1..=n).map(|i| format!("a=R x{}; W x{i} a+1", i - 1)));
    let count = if n == 1 { 2 } else { (n + 3) << (n - 2) };
    family(format!("lastzero({n})"), &threads, [count; 3])
}

/// `fib(k)`: one thread `k` times `i += j`, the other `k` times `j += i`; perhaps a third that reads both. What is written
/// makes no difference to the classes; here it is what was read first.
///
/// # Panics
/// Outside the parameters whose numbers are known: `k` to 4, with a third thread to 2.
pub fn fib(k: usize, third: bool) -> Case {
    let half = |mine: &str, other: &str| format!("a=R {mine}; b=R {other}; W {mine} a; ").repeat(k);
    let mut threads = vec![half("i", "j"), half("j", "i")];
    threads.extend(third.then(|| "R i; R j".to_owned()));
    let counts = match (k, third) {
        (1, false) => [3, 3, 3],
        (2, false) => [19, 20, 20],
        (3, false) => [141, 175, 175],
        (4, false) => [1107, 1764, 1764],
        (1, true) => [11, 11, 11],
        (2, true) => [140, 153, 153],
        _ => panic!("the numbers of fib({k}) are not known"),
    };
    family(format!("fib({k}){}", if third { " with a reader" } else { "" }), &threads, counts)
}

/// `threads` threads with `each` fetch-adds on one variable.
pub fn counter(threads: usize, each: usize) -> Case {
    let bodies = vec!["A x 1; ".repeat(each); threads];
    let count = factorial(threads * each) / factorial(each).pow(threads as u32);
    family(format!("counter({threads}, {each})"), &bodies, [count; 3])
}

/// Two to four threads that each read a variable and write one more.
pub fn lost_update(n: usize) -> Case {
    family(format!("lost update({n})"), &vec!["a=R x; W x a+1".to_owned(); n], [factorial(n).pow(2); 3])
}

/// `n` threads that each take what they find 0.
pub fn cas_race(n: usize) -> Case {
    let threads: Vec<_> = (1..=n).map(|i| format!("C x 0 {i}")).collect();
    family(format!("CAS race({n})"), &threads, [n; 3])
}

/// `n` threads that increment a counter under a mutex.
pub fn mutex_counter(n: usize) -> Case {
    family(format!("mutex counter({n})"), &vec!["lock m; a=R x; W x a+1; unlock m".to_owned(); n], [factorial(n); 3])
}

/// The same under a spin lock made of a waiting compare-exchange.
pub fn spin_counter(n: usize) -> Case {
    family(format!("spin lock({n})"), &vec!["CW l 0 1; a=R x; W x a+1; W.rel l 0".to_owned(); n], [factorial(n); 3])
}

/// The same under a ticket lock.
pub fn ticket_counter(n: usize) -> Case {
    let body = "t=A next 1; u=wait serving == t; a=R x; W x a+1; W.rel serving u+1";
    family(format!("ticket lock({n})"), &vec![body.to_owned(); n], [factorial(n); 3])
}

/// The families, with parameters that brute force manages in moments, and small programs that block.
pub fn families() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend((2..=4).map(store_buffering));
    cases.extend((1..=5).map(readers));
    cases.extend((1..=5).map(writers));
    cases.extend((1..=4).map(last_zero));
    cases.extend((1..=3).map(|k| fib(k, false)));
    cases.extend((1..=2).map(|k| fib(k, true)));
    cases.extend([(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)].map(|(threads, each)| counter(threads, each)));
    cases.extend((2..=3).map(lost_update));
    cases.extend((2..=4).map(cas_race));
    cases.extend((2..=4).map(mutex_counter));
    cases.extend((2..=3).map(spin_counter));
    cases.extend((2..=3).map(ticket_counter));
    let once = "a=C l 0 1; assume a==0; b=R x; W x b+1; W.rel l 0";
    cases.push(same("CAS once, then assume, 2 threads", &[once; 2], 2, 2));
    cases.push(same("CAS once, then assume, 3 threads", &[once; 3], 6, 15));
    let ab = "lock m; lock n; unlock n; unlock m";
    let ba = "lock n; lock m; unlock m; unlock n";
    cases.push(same("two locks in opposite orders", &[ab, ba], 2, 1));
    cases
}

fn factorial(n: usize) -> usize {
    (1..=n).product()
}
