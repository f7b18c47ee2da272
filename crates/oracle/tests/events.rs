//! Programs with mailboxes: known numbers of classes, what may go wrong between messages, and engines against brute force on random ones.

use raddle_engine::Equivalence;
use raddle_oracle::compare::{code, explorer};
use raddle_oracle::litmus::parse;
use raddle_oracle::sketch::Stmt;
use raddle_oracle::{Budget, Effort, Family, Subject, Sweep, enumerate, generate, subjects};
use raddle_testkit::setting;
use raddle_trace::{Model, Property};

/// The engines that know mailboxes.
fn engines() -> Vec<Subject> {
    let names = ["optimal", "rf", "explicit", "optimal prepared", "rf prepared", "explicit depth-first"];
    subjects().into_iter().filter(|engine| names.contains(&engine.name.as_str())).collect()
}

/// How many complete classes with and without coherence, and how many blocked ones, brute force and the engines count.
fn counts(text: &str) -> (usize, usize, usize) {
    let sketch = parse(text).expect("a program");
    let mut sweep = Sweep::new(engines(), Effort { states: 200_000, classes: 20_000 });
    let disagreements = sweep.compare(Family::Events, &sketch, &Model::OPERATIONAL);
    let told: Vec<String> = disagreements.iter().map(|it| format!("{}: {:?}", it.model, it.differences)).collect();
    assert!(told.is_empty(), "{told:?}\n{sketch}");
    assert!(sweep.tally(|engine, _, _| engine.equivalence == Equivalence::Traces).agreed > 0, "{sketch}");
    let found = enumerate(&code(&sketch), Model::Sc, Budget::default()).expect("it is small");
    (found.traces(), found.reads_from(), found.blocked.traces.len())
}

/// Threads that post one message each.
fn posters(mailbox: &str, messages: &[&str]) -> String {
    let count = messages.len();
    let posts = (0..count).map(|i| format!("thread {i} post {} l\n", i + count));
    let bodies = messages.iter().enumerate().map(|(i, body)| format!("thread {} {body}\n", i + count));
    format!("let l {mailbox}\n{}{}", posts.collect::<String>(), bodies.collect::<String>())
}

#[test]
fn messages_that_do_not_meet_are_one_class() {
    for mailbox in ["queue", "bag", "stack"] {
        assert_eq!(counts(&posters(mailbox, &["W x 1", "W y 1", "W z 1", "W w 1"])), (1, 1, 0), "{mailbox}");
    }
}

#[test]
fn messages_that_meet_have_a_class_for_each_order() {
    for mailbox in ["queue", "bag", "stack"] {
        assert_eq!(counts(&posters(mailbox, &["W x 1", "W x 2", "W x 3"])), (6, 1, 0), "{mailbox}");
        let increments = ["a=R x; W x a+1", "a=R x; W x a+1", "a=R x; W x a+1"];
        assert_eq!(counts(&posters(mailbox, &increments)), (6, 6, 0), "{mailbox}");
        // Written by one thread at a time, what was written is there.
        assert_eq!(counts(&posters(mailbox, &["W x 1; a=R x", "W x 2; a=R x"])), (2, 1, 0), "{mailbox}");
    }
}

#[test]
fn a_queue_keeps_the_order_of_posts() {
    let of = |mailbox: &str| {
        counts(&format!("let l {mailbox}\nthread 0 post 1 l; post 2 l\nthread 1 W x 1\nthread 2 W x 2\n")).0
    };
    assert_eq!([of("queue"), of("bag"), of("stack")], [1, 2, 2]);
}

#[test]
fn the_order_of_posts_is_total() {
    // Two posters, two loopers: that reads see messages in one order on one looper and in the other on the other one is no run of queues.
    let of = |mailbox: &str| {
        let text = format!(
            "let h {mailbox}\nlet k {mailbox}\nthread 0 post 2 h; post 3 k\nthread 1 post 4 k; post 5 h\n\
             thread 2 a=R x\nthread 3 W y 1\nthread 4 a=R y\nthread 5 W x 1\n"
        );
        counts(&text).0
    };
    assert_eq!([of("queue"), of("bag")], [3, 4]);
}

#[test]
fn a_message_that_waits_for_ever_keeps_its_looper() {
    let text = "let l bag\nthread 0 post 1 l; post 2 l\nthread 1 a=wait x == 1\nthread 2 W x 1\n";
    assert_eq!(counts(text), (1, 1, 1));
}

#[test]
fn a_message_that_fails_keeps_its_looper() {
    let text = "let l bag\nthread 0 post 1 l; post 2 l\nthread 1 a=R x; assert a==1\nthread 2 W x 1\n";
    counts(text);
    let code = code(&parse(text).expect("a program"));
    let found = enumerate(&code, Model::Sc, Budget::default()).expect("it is small");
    assert_eq!((found.complete.traces.len(), found.failed.traces.len()), (1, 1));
}

/// The smallest program whose only error is found in the last graph that the search looks at, and drops.
const ENDS_TWICE: &str = "thread 0 post 1 l0\nthread 1 p0=zalloc; WP q p0\n\
    thread 2 p0=RP q; post 3 l0; free p0; WP q p1\nthread 3 p0=RP q; free p0\n";

#[test]
fn a_life_that_may_end_twice_is_an_error() {
    for mailbox in ["queue", "bag", "stack"] {
        let text = format!("let l0 {mailbox}\n{ENDS_TWICE}");
        counts(&text);
        let code = code(&parse(&text).expect("a program"));
        for engine in ["optimal", "rf"] {
            let engine = explorer(raddle::ENGINES.find(engine).expect("it is there"));
            let counts = (engine.run)(&code, Model::Sc, false).expect("it takes the program");
            // Either of the two may come second.
            assert_eq!(counts.failures.len(), 2, "{} on {mailbox}: {counts:?}", engine.name);
        }
    }
}

/// Whether brute force and the engine find a race.
fn races(text: &str) -> bool {
    let sketch = parse(text).expect("a program");
    let optimal = explorer(raddle::ENGINES.find("optimal").expect("it is there"));
    let mut sweep = Sweep::new(vec![optimal], Effort { states: 200_000, classes: 20_000 });
    let disagreements = sweep.compare(Family::Events, &sketch, &[Model::Sc]);
    let told: Vec<_> = disagreements.iter().map(|it| it.differences.clone()).collect();
    assert!(told.is_empty(), "{told:?}\n{sketch}");
    let budget = Budget { races: true, ..Budget::default() };
    let found = enumerate(&code(&sketch), Model::Sc, budget).expect("it is small");
    found.failures.iter().any(|failure| failure.property == Property::Race)
}

#[test]
fn messages_of_one_looper_never_race() {
    assert!(!races("let l bag\nthread 0 post 2 l\nthread 1 post 3 l\nthread 2 W.na x 1\nthread 3 W.na x 2\n"));
    assert!(races(
        "let l bag\nlet k bag\nthread 0 post 2 l\nthread 1 post 3 k\nthread 2 W.na x 1\nthread 3 W.na x 2\n"
    ));
}

#[test]
fn a_post_happens_before_its_message() {
    assert!(!races("let l queue\nthread 0 W.na x 1; post 1 l\nthread 1 W.na x 2\n"));
    assert!(races("let l queue\nthread 0 post 1 l; W.na x 1\nthread 1 W.na x 2\n"));
}

#[test]
fn that_one_message_ran_before_another_orders_nothing_if_it_need_not() {
    // The second message of `l` makes another looper write; in a queue the first one comes before it in any case.
    let of = |mailbox: &str| {
        races(&format!(
            "let l {mailbox}\nlet k queue\nthread 0 post 1 l; post 2 l\nthread 1 W.na x 1\nthread 2 post 3 k\nthread 3 W.na x 2\n"
        ))
    };
    assert_eq!([of("queue"), of("bag")], [false, true]);
    // Whoever has seen an event of a message has seen all of it.
    let text = "let l bag\nlet k queue\nthread 0 post 1 l; post 2 l\nthread 1 W.rel y 1; W.na x 1\n\
                thread 2 a=R.acq y; if a==1 { post 3 k }\nthread 3 W.na x 2\n";
    assert!(!races(text));
}

/// The same on programs in which the lives of objects end at several places. `RADDLE_EVENTS` is how many programs.
#[test]
fn random_programs_with_ends_of_lives() {
    let programs = setting("RADDLE_EVENTS", 40) / 4;
    let mut sweep = Sweep::new(engines(), Effort { states: 3_000, classes: 300 });
    let sketches = (0..).map(|index| (index, generate(Family::Events, 12, index)));
    let with_ends = sketches.filter(|(_, sketch)| {
        let mut ends = 0;
        sketch.for_each(|stmt| ends += usize::from(matches!(stmt, Stmt::Free(_))));
        ends > 1
    });
    for (index, sketch) in with_ends.take(programs as usize) {
        let disagreements = sweep.compare(Family::Events, &sketch, &[Model::Sc]);
        let told: Vec<String> = disagreements.iter().map(|it| format!("{}: {:?}", it.model, it.differences)).collect();
        assert!(told.is_empty(), "program {index}: {told:?}\n{sketch}");
    }
    let tally = sweep.tally(|engine, _, _| engine.name == "optimal");
    println!("{tally:?}");
    assert!(tally.agreed >= programs / 2, "{tally:?}");
}

/// Engines against brute force on random programs with messages: the exact number of classes of every kind, and the classes. `RADDLE_EVENTS` is how many
/// programs.
#[test]
fn random_programs() {
    let programs = setting("RADDLE_EVENTS", 40);
    let mut sweep = Sweep::new(engines(), Effort { states: 3_000, classes: 300 });
    for index in 0..programs {
        let sketch = generate(Family::Events, 11, index);
        let disagreements = sweep.compare(Family::Events, &sketch, &Model::OPERATIONAL);
        let told: Vec<String> = disagreements.iter().map(|it| format!("{}: {:?}", it.model, it.differences)).collect();
        assert!(told.is_empty(), "program {index}: {told:?}\n{sketch}");
    }
    for name in ["optimal", "rf", "explicit"] {
        let tally = sweep.tally(|engine, _, model| engine.name == name && model == Model::Sc);
        println!("{name}: {tally:?}");
        assert!(tally.agreed >= programs / 2, "{name}: {tally:?}");
    }
}
