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
