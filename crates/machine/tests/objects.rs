//! Synchronisation objects: what each lets through, what it keeps out, and what is a misuse.

mod support;

use raddle_trace::Model;
use std::collections::BTreeSet;
use support::all;

/// The results of a program under every model, which must be the same, if nothing goes wrong.
fn results(text: &str) -> BTreeSet<i32> {
    let [sc, others @ ..] = Model::OPERATIONAL.map(|model| {
        let met = all(text, model);
        assert!(met.failures.is_empty() && !met.stuck, "{model}: {met:?}\n{text}");
        met.results
    });
    others.iter().for_each(|other| assert_eq!(*other, sc, "{text}"));
    sc
}

/// What is wrong with a program under every model.
fn wrong(text: &str, expected: &str) {
    for model in Model::OPERATIONAL {
        let met = all(text, model);
        assert!(met.failures.iter().any(|message| message.contains(expected)), "{model}: {met:?}\n{text}");
    }
}

/// Two threads that add one to the result in a way that only works if nobody comes between.
fn two(objects: &str, enter: &str, leave: &str) -> String {
    format!(
        "global r: i32; {objects}
        fn a() {{ {enter} let v = load r; store r, v + 1; {leave} }}
        fn main() {{ let s = spawn a(); let t = spawn a(); join s; join t; }}"
    )
}

fn main(objects: &str, body: &str) -> String {
    format!("global r: i32; {objects} fn main() {{ {body} }}")
}

fn is_stuck(text: &str) -> bool {
    let [sc, tso, pso] = Model::OPERATIONAL.map(|model| all(text, model).stuck);
    assert!(sc == tso && tso == pso, "{text}");
    sc
}

#[test]
fn a_mutex_lets_one_in() {
    let one = BTreeSet::from([2]);
    assert_eq!(results(&two("global m: mutex;", "lock m;", "unlock m;")), one);
    assert_eq!(results(&two("global m: mutex;", "lock.rec m; lock.rec m;", "unlock m; unlock m;")), one);
    // Who does not get it goes on without.
    let tried = "let ok = trylock m; if ok == 0 { return; }";
    assert_eq!(results(&two("global m: mutex;", tried, "unlock m;")), BTreeSet::from([1, 2]));
    assert_eq!(
        results(&main("global m: mutex;", "lock m; let ok = trylock m; store r, zext(i32, ok) + 5; unlock m;")),
        BTreeSet::from([5])
    );
}

#[test]
fn a_mutex_that_nobody_gives_back() {
    assert!(is_stuck(&two("global m: mutex;", "lock m;", "")));
    let crossed = "global r: i32; global m: mutex; global n: mutex;
        fn a() { lock m; lock n; unlock n; unlock m; }
        fn main() { let t = spawn a(); lock n; lock m; unlock m; unlock n; join t; }";
    assert!(is_stuck(crossed));
    assert!(!is_stuck(
        &crossed.replace("lock n; lock m; unlock m; unlock n; join", "lock m; lock n; unlock n; unlock m; join")
    ));
}

#[test]
fn misuse_of_a_mutex() {
    let m = "global m: mutex;";
    wrong(&main(m, "lock m; lock m;"), "locks a mutex it holds already");
    wrong(&main(m, "unlock m;"), "unlocks a mutex it does not hold");
    wrong(&main(m, "lock m; destroy m;"), "destroys a lock it holds");
    wrong(&main(m, "destroy m; lock m;"), "m");
    let other = "global r: i32; global m: mutex; fn a() { unlock m; } fn main() { lock m; let t = spawn a(); join t; }";
    wrong(other, "unlocks a mutex it does not hold");
}

#[test]
fn a_lock_lets_many_readers_in_or_one_writer() {
    let l = "global l: rwlock;";
    assert_eq!(results(&two(l, "wrlock l;", "rwunlock l;")), BTreeSet::from([2]));
    assert_eq!(results(&two(l, "rdlock l;", "rwunlock l;")), BTreeSet::from([1, 2]));
    let tried = |first: &str, second: &str| {
        let text = format!(
            "global r: i32; global l: rwlock;
            fn a() {{ let ok = {second} l; store r, zext(i32, ok) + 5; if ok == 1 {{ rwunlock l; }} }}
            fn main() {{ {first} l; let t = spawn a(); join t; rwunlock l; }}"
        );
        results(&text)
    };
    assert_eq!(tried("rdlock", "tryrdlock"), BTreeSet::from([6]));
    assert_eq!(tried("rdlock", "trywrlock"), BTreeSet::from([5]));
    assert_eq!(tried("wrlock", "tryrdlock"), BTreeSet::from([5]));
    wrong(&main(l, "wrlock l; rdlock l;"), "holds for writing");
    wrong(&main(l, "rdlock l; wrlock l;"), "write-locks what it holds already");
    wrong(&main(l, "rwunlock l;"), "unlocks a lock it does not hold");
    assert!(is_stuck(
        &two(l, "rdlock l;", "").replace("join s;", "join s; wrlock l;").replace("fn a() {", "fn a() { rdlock l;")
    ));
}

#[test]
fn a_semaphore_counts() {
    assert_eq!(results(&two("global s: semaphore(1);", "sem_wait s;", "sem_post s;")), BTreeSet::from([2]));
    assert_eq!(results(&two("global s: semaphore(2);", "sem_wait s;", "sem_post s;")), BTreeSet::from([1, 2]));
    assert!(is_stuck(&main("global s: semaphore(0);", "sem_wait s;")));
    let tried = "let a = sem_trywait s; let b = sem_trywait s; store r, zext(i32, a) * 10 + zext(i32, b);";
    assert_eq!(results(&main("global s: semaphore(1);", tried)), BTreeSet::from([10]));
    assert_eq!(results(&main("global s: semaphore(0);", "sem_post s; sem_wait s; store r, 3;")), BTreeSet::from([3]));
}

#[test]
fn a_barrier_opens_when_all_are_there() {
    let text = "global r: i32; global x: i32; global b: barrier(2);
        fn a() { store x, 1; let last = barrier_wait b; }
        fn main() { let t = spawn a(); let last = barrier_wait b; let v = load x; store r, v; join t; }";
    assert_eq!(results(text), BTreeSet::from([1]));
    // One of them is told that it was the last one, and it can be either.
    let told = "global r: i32; global b: barrier(2);
        fn a() { let last = barrier_wait b; if last == 1 { rmw.add r, 1; } }
        fn main() { let t = spawn a(); let last = barrier_wait b; if last == 1 { rmw.add r, 10; } join t; }";
    assert_eq!(results(told), BTreeSet::from([1, 10]));
    // It can be used again.
    let again = told
        .replace("spawn a();", "spawn a(); let early = barrier_wait b;")
        .replace("fn a() {", "fn a() { let early = barrier_wait b;");
    assert_eq!(results(&again), BTreeSet::from([1, 10]));
    assert!(is_stuck(&main("global b: barrier(2);", "let last = barrier_wait b;")));
    wrong(&main("global b: barrier(2);", "barrier_init b, 0;"), "a barrier for no threads");
}

#[test]
fn a_condition_variable_wakes_who_waits() {
    let text = "global r: i32; global full: i32; global m: mutex; global c: cond;
        fn a() { lock m; store full, 1; unlock m; SIGNAL }
        fn main() {
            let t = spawn a(); lock m; let f = load full;
            while f == 0 { wait c, m; f = load full; }
            unlock m; store r, f; join t;
        }";
    assert_eq!(results(&text.replace("SIGNAL", "signal c;")), BTreeSet::from([1]));
    assert_eq!(results(&text.replace("SIGNAL", "broadcast c;")), BTreeSet::from([1]));
    assert!(is_stuck(&text.replace("SIGNAL", "")));
    // A signal that comes too early is lost.
    let early = "global r: i32; global m: mutex; global c: cond;
        fn a() { signal c; } fn main() { let t = spawn a(); lock m; wait c, m; unlock m; join t; }";
    assert!(is_stuck(early));
    let two_wait = "global r: i32; global n: i32; global m: mutex; global c: cond;
        fn a() { lock m; rmw.add n, 1; wait c, m; unlock m; rmw.add r, 1; }
        fn main() { let s = spawn a(); let t = spawn a(); let v = load n until v == 2; lock m; WAKE c; unlock m; join s; join t; }";
    assert_eq!(results(&two_wait.replace("WAKE", "broadcast")), BTreeSet::from([2]));
    assert!(is_stuck(&two_wait.replace("WAKE", "signal")));
    wrong(&main("global m: mutex; global c: cond;", "wait c, m;"), "without holding the mutex");
}

#[test]
fn joins() {
    let text = "global r: i32; fn a() -> i32 { return 7; } fn main() { let t = spawn a(); let v: i32 = join t; store r, v; JOIN }";
    assert_eq!(results(&text.replace("JOIN", "")), BTreeSet::from([7]));
    wrong(&text.replace("JOIN", "join t;"), "is joined twice");
    wrong(&main("", "join 99i64;"), "never started");
    assert!(is_stuck(
        "global r: i32; fn a(t: i64) { join t; } fn main() { let me = thread_id; let t = spawn a(me); join t; }"
    ));
}
