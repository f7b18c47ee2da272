//! Whatever the bytes, there is a verdict or a message with a place, never a panic.

use raddle_consistency::format::{self, InputError};
use raddle_consistency::{Answer, Limits, Model, Settings, explain, verify};
use raddle_testkit::{Random, damaged};
use std::path::Path;

fn examples() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces");
    let files = std::fs::read_dir(directory).expect("there are examples").flatten();
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("an example can be read")).collect()
}

/// Reads a trace and verifies it; where there is no execution, there is an explanation within the same limits.
fn run(bytes: &[u8], model: Model) -> Result<Answer, InputError> {
    let trace = format::read(bytes, None)?;
    let settings = Settings { limits: Limits { prefixes: 2_000, ..Limits::default() }, ..Settings::default() };
    let answer = verify(&trace.instance, model, &settings).expect("what is read is well formed");
    if answer == Answer::Inconsistent {
        explain(&trace.instance, model, &settings).expect("what is read is well formed");
    }
    Ok(answer)
}

/// Scraps that mean something, to be put where they should not be.
const SCRAPS: [&str; 24] = [
    "thread",
    "thread a:",
    "write x",
    "read x from initial",
    "update x from a.0",
    "spawn a",
    "join a",
    "fence",
    " = ",
    ":",
    "->",
    "from",
    "a.99999999999",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\\u0000",
    "\\ud800",
    "\u{202e}",
    "\u{1b}[31m",
    "\r\n",
];

#[test]
fn damaged_traces_end_in_a_verdict_or_a_message() {
    let examples = examples();
    let random = &mut Random::new(1);
    let (mut verdicts, mut messages) = (0, 0);
    for number in 0..12_000 {
        let bytes = damaged(&examples, &SCRAPS, random);
        match run(&bytes, Model::OPERATIONAL[number % 3]) {
            Ok(_) => verdicts += 1,
            Err(InputError { message, spot, .. }) => {
                messages += 1;
                let spot = spot.unwrap_or_else(|| panic!("no place: {message}"));
                let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
                assert!((1..=lines).contains(&spot.line) && spot.column > 0, "{message}: {spot:?}");
            }
        }
    }
    assert!(verdicts > 1000 && messages > 1000, "{verdicts} verdicts, {messages} messages");
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let cases: [(&str, u32, u32, &str); 22] = [
        ("write x", 1, 1, "before the first thread"),
        ("thread", 1, 7, "the name of the thread is missing"),
        ("thread a:\n  wirte x", 2, 3, "`wirte` is no event"),
        ("thread a:\n  write", 2, 8, "the location is missing"),
        ("thread a:\n  write x 5", 2, 11, "did not expect `5`"),
        ("thread a:\n  read x", 2, 3, "does not say what it read"),
        ("thread a:\n  read x from b.0", 2, 15, "there is no event `b.0`"),
        ("thread a:\n  read x from a.7", 2, 15, "there is no event `a.7`"),
        ("thread a:\n  read x from a.0", 2, 15, "`a.0` writes nothing"),
        ("thread a:\n  write y\n  read x from a.0", 3, 15, "`a.0` writes `y`, not `x`"),
        ("thread a:\n  read x = 3", 2, 12, "nobody writes 3 to `x`"),
        ("thread a:\n  write x=0\n  read x=0", 3, 10, "more than one write of 0"),
        ("thread a:\n  write x = 1\n  read x = 2 from a.0", 3, 12, "`a.0` writes 1"),
        ("thread a:\n  update x from a.0", 2, 17, "cannot read what it writes itself"),
        ("thread a:\nthread a:", 2, 8, "there is a thread `a` already"),
        ("thread a:\n  l: fence\n  l: fence", 3, 3, "there is a label `l` already"),
        ("thread a:\n  spawn b", 2, 9, "there is no thread `b`"),
        ("thread a:\n  spawn a", 2, 9, "neither start nor join itself"),
        ("thread a:\n spawn b\n spawn b\nthread b:", 3, 8, "a second time"),
        ("{\"threads\": [\n  {\"events\": [{\"op\": \"jump\"}]}]}", 2, 22, "`jump` is no event"),
        ("{\"threads\": [\n  {\"events\": [}]}", 2, 15, "not JSON"),
        ("{\"threads\": [],\n \"speed\": 3}", 2, 2, "did not expect the field `speed`"),
    ];
    for (text, line, column, message) in cases {
        let error = format::read(text.as_bytes(), None).expect_err(text);
        let spot = error.spot.unwrap_or_else(|| panic!("{text}: {error}"));
        assert_eq!((spot.line, spot.column), (line, column), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

#[test]
fn extremes_are_answered() {
    let consistent = |text: &str, model| match run(text.as_bytes(), model) {
        Ok(Answer::Consistent(_)) => Some(true),
        Ok(Answer::Inconsistent) => Some(false),
        Ok(Answer::Unknown) | Err(_) => None,
    };
    for model in Model::OPERATIONAL {
        assert_eq!(consistent("", model), Some(true));
        assert_eq!(consistent("{\"threads\": []}", model), Some(true));
        let many_threads: String = (0..3000).map(|at| format!("thread {at}:\n write x{}\n", at % 7)).collect();
        assert_eq!(consistent(&many_threads, model), Some(true));
        let long: String = "thread a:\n".to_owned() + &" write x\n read x from initial\n".repeat(20_000);
        assert_eq!(consistent(&long, model), Some(false));
        let slashes = "/ ".repeat(200_000);
        assert!(run(slashes.as_bytes(), model).is_err());
        assert!(run("{\"threads\": ".repeat(100_000).as_bytes(), model).is_err());
        assert!(run("[".repeat(100_000).as_bytes(), model).is_err());
    }
}
