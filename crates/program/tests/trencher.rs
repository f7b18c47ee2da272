//! Automata in the format of TRENCHER: what they become, and what is wrong with texts that are none.

use raddle_program::trencher::read;
use raddle_program::{Op, Ordering, Term};

const TWO: &str = "# a comment
thread left
initial away
transition away announced write 1 10
transition announced looked read other 11
transition looked critical check == other 0
mark critical
end
thread right initial a
transition a b mfence
transition b a local x + x * 2 - 7 x
transition b c read x & x 3
transition c a check ! x transition c b check x
goal_state
end
";

#[test]
fn states_are_blocks_and_places_are_those_of_the_automaton() {
    let text = TWO.replace("goal_state\n", "");
    let program = read("two.trencher", &text).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(program.functions.len(), 3);
    let insts = || program.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.insts);
    let lines = |wanted: &dyn Fn(&Op) -> bool| -> Vec<u32> {
        insts().filter(|inst| wanted(&inst.op)).map(|inst| inst.span.line).collect()
    };
    assert_eq!(lines(&|op| matches!(op, Op::Store { .. })), [4]);
    assert_eq!(lines(&|op| matches!(op, Op::Load { .. })), [5, 12]);
    assert_eq!(lines(&|op| matches!(op, Op::Fence { order: Ordering::SeqCst })), [10]);
    assert_eq!(lines(&|op| matches!(op, Op::Assert { .. })), [2]);
    // The two ways on from `c` are a branch; those from `b` are a choice.
    let branches = program.functions[1].blocks.iter().filter(|block| matches!(block.term.kind, Term::If(..)));
    assert!(branches.count() >= 2);
    assert_eq!(insts().filter(|inst| matches!(inst.op, Op::Choose { .. })).count(), 1);
    assert_eq!(&*program.sources.files[0].text, text);
}

/// What a thread does with memory between its first state and its end, by words.
fn accesses(transitions: &str) -> Vec<&'static str> {
    let text = format!("thread a\ninitial q0\n{transitions}\nend\nthread b initial q end");
    let program = read("one.trencher", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let insts = program.functions[0].blocks.iter().flat_map(|block| &block.insts);
    insts
        .filter_map(|inst| match inst.op {
            Op::Store { .. } => Some("store"),
            Op::Load { .. } => Some("load"),
            Op::Rmw { .. } => Some("rmw"),
            Op::Cas { .. } => Some("cas"),
            Op::AtomicBegin => Some("begin"),
            Op::AtomicEnd => Some("end"),
            Op::Assume { .. } => Some("assume"),
            _ => None,
        })
        .collect()
}

#[test]
fn a_read_and_a_write_under_the_lock_are_an_update() {
    let start = "transition q0 q1 lock transition q1 q2 read r 5";
    let end = "transition q3 q4 unlock";
    assert_eq!(accesses(&format!("{start} transition q2 q3 write 7 5 {end}")), ["rmw"]);
    assert_eq!(accesses(&format!("{start} transition q2 q3 write + 1 r 5 {end}")), ["rmw"]);
    let swap = "transition q2 q3 check == 0 r transition q2 q9 check != 0 r transition q3 q4 write 1 5 transition q4 q5 unlock transition q9 q8 unlock";
    assert_eq!(accesses(&format!("{start} {swap} transition q8 q0 noop")), ["cas"]);
    // Another place, another use of what was read, a way in from elsewhere, a goal in between, arithmetic that wraps.
    let whole = ["begin", "load", "store", "end"];
    assert_eq!(accesses(&format!("{start} transition q2 q3 write 7 6 {end}")), whole);
    assert_eq!(accesses(&format!("{start} transition q2 q3 write * 2 r 5 {end}")), whole);
    assert_eq!(accesses(&format!("{start} transition q2 q3 write + r r 5 {end}")), whole);
    assert_eq!(accesses(&format!("{start} transition q2 q2 noop transition q2 q3 write 7 5 {end}")), whole);
    let marked = accesses(&format!("{start} transition q2 q3 write 7 5 {end} transition q4 q5 noop mark q4"));
    assert_eq!(marked, ["rmw"], "nobody is counted for a goal of one thread");
    // Who holds the lock may be where its goal wants it.
    let held = accesses("transition q0 q1 lock transition q1 q2 write 7 5 transition q2 q3 unlock mark q2");
    assert_eq!(held, ["begin", "store", "end", "end"]);
    let wraps = read(
        "one.trencher",
        &format!("domain 3 thread a initial q0 {} transition q2 q3 write + r 1 2 {end} end", start.replace('5', "2")),
    );
    let wraps = wraps.unwrap_or_else(|errors| panic!("{errors}"));
    assert!(
        wraps.functions[0].blocks.iter().flat_map(|block| &block.insts).all(|inst| !matches!(inst.op, Op::Rmw { .. }))
    );
}

/// Nobody goes on who holds the lock and does not pass, and nobody else does: such a run says nothing.
#[test]
fn who_does_not_pass_under_the_lock_has_not_taken_it() {
    assert_eq!(
        accesses("transition q0 q1 atomic write 1 0 check r read r 3 end"),
        ["begin", "store", "assume", "load", "end"]
    );
    let never = accesses("transition q0 q1 lock transition q1 q2 write 1 0 transition q2 q3 check 0");
    assert_eq!(never, ["begin", "store", "assume", "assume", "end"]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases: &[(&str, &str, u32)] = &[
        ("", "there is no thread", 1),
        ("threat left", "expected `thread`", 1),
        ("thread left", "expected `initial`, found the end", 1),
        ("thread left start q", "expected `initial`, found `start`", 1),
        ("thread left\ninitial q\ntransition q q jump\nend", "there is no instruction `jump`", 3),
        ("thread left\ninitial q\ntransition q q write 1\nend", "the end of the file", 4),
        ("thread left\ninitial q\ntransition q q read 3 4\nend", "expected a register, found `3`", 3),
        ("thread left\ninitial q\ntransition q q local r 99999999999\nend", "no number of 32 bits", 3),
        ("thread a initial q end thread a initial q end", "two threads named `a`", 1),
        ("domain 0 thread a initial q end", "1 to 32768 values", 1),
        ("thread a initial q end\ngoal b:q", "there is no thread `b`", 2),
        ("thread a initial q end\ngoal", "a goal has threads with states", 2),
        ("thread a initial q transition q q write 1 100000 end", "`domain n` says how many", 1),
        ("thread a initial q transition q q atomic atomic noop end end end", "do not nest", 1),
    ];
    for &(text, message, line) in cases {
        let errors = read("bad.trencher", text).expect_err(text);
        let first = &errors.diagnostics[0];
        assert!(first.message.contains(message), "{text}: {}", first.message);
        assert_eq!(first.span.line, line, "{text}");
    }
    let deep = format!("thread a initial q transition q q check {} 1 end", "! ".repeat(5_000));
    let errors = read("deep.trencher", &deep).expect_err("too deep");
    assert!(errors.diagnostics[0].message.contains("levels"), "{}", errors.diagnostics[0].message);
}

/// Any words end in a program or a diagnostic.
#[test]
fn any_words_end() {
    let words: Vec<&str> = "thread initial transition write read local check mfence noop lock unlock atomic end mark goal domain a b q r 0 1 7 == ! + - % a:q # \n é".split(' ').collect();
    let mut seed = 7u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..3_000 {
        let mut text = String::from("thread a initial q ");
        for _ in 0..random(12) {
            text.push_str(words[random(words.len())]);
            text.push(' ');
        }
        if random(2) == 0 {
            text.push_str(" end");
        }
        match read("random.trencher", &text) {
            Ok(_) => taken += 1,
            Err(errors) => {
                assert!(!errors.diagnostics.is_empty());
                refused += 1;
            }
        }
    }
    assert!(taken > 20 && refused > 500, "{taken} {refused}");
}
