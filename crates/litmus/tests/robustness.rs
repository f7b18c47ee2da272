//! Any text ends in a test or in a diagnostic with a place: no panic, no hang, no overflow of the stack.
//!
//! The default run is a sample. The full sweep: `RADDLE_LITMUS_MUTANTS=100000 cargo test -p raddle-litmus --release --test robustness`.

use raddle_litmus::parse;
use raddle_testkit::{Random, damaged, setting};
use std::fs;
use std::path::Path;

const PIECES: [&str; 44] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "|",
    "*",
    "&",
    "=",
    "==",
    "++",
    "?",
    ":",
    "~",
    "/\\",
    "\\/",
    "$",
    "%",
    "(*",
    "*)",
    "//",
    "\"",
    "0:",
    "7:",
    "P0",
    "exists ",
    "forall ",
    "locations [",
    "filter ",
    "int ",
    "unsigned ",
    "_Atomic(",
    "atomic_int ",
    "if (",
    "while (",
    "LOCK ",
    "MOV ",
    "CMPXCHG ",
    "EAX",
    "memory_order_release",
    "0xffffffff",
];

fn examples() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/litmus");
    let files = fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "litmus")).collect();
    files.sort();
    files.iter().map(|path| fs::read(path).expect("a file")).collect()
}

#[test]
fn damaged_tests_end_in_a_value_or_a_message() {
    let examples = examples();
    assert!(examples.len() >= 10, "{}", examples.len());
    let mut random = Random::new(12);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..setting("RADDLE_LITMUS_MUTANTS", 4_000) {
        let bytes = damaged(&examples, &PIECES, &mut random);
        let text = String::from_utf8_lossy(&bytes);
        match parse("mutant.litmus", &text) {
            Ok(test) => {
                raddle_program::validate(&test.question).expect("what is accepted is valid");
                raddle_program::validate(&test.census).expect("what is accepted is valid");
                accepted += 1;
            }
            Err(errors) => {
                let first = errors.diagnostics.first().expect("a reason");
                assert!(first.span.line > 0, "{} has no place in\n{text}", first.message);
                refused += 1;
            }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    let brackets = |inside: &str| format!("{}{inside}{}", "(".repeat(deep), ")".repeat(deep));
    let c = |body: &str| format!("C deep\n{{}}\nP0 (int *x) {{ {body} }}\nexists (x=1)");
    let texts = [
        c(&format!("*x = {};", brackets("1"))),
        c(&format!("*x = {}1;", "-".repeat(deep))),
        c(&format!("*x = {}1;", "- ".repeat(deep))),
        c(&format!("{}*x = 1;{}", "{".repeat(deep), "}".repeat(deep))),
        c(&format!("{}*x = 1;", "if (1) ".repeat(deep))),
        c(&format!("{}*x = 1;", "L: ".repeat(deep))),
        c(&format!("int r = {}1;", "1 ? 2 : ".repeat(deep))),
        c(&format!("int r; {}1;", "r = ".repeat(deep))),
        c(&format!("{} int r;", "_Atomic(".repeat(deep))),
        format!("X86 deep\n{{}}\nP0;\nMOV [x],$1;\nexists {}", brackets("x=1")),
        format!("X86 deep\n{{}}\nP0;\nMOV [x],$1;\nexists {}x=1", "~".repeat(deep)),
        format!("X86 deep\n{{}}\nP0;\nMOV [x],$1;\nexists {}x=1", "x=0 => ".repeat(deep)),
    ];
    for text in texts {
        let errors = parse("deep.litmus", &text).expect_err("too deep");
        assert!(
            errors.to_string().contains("nest") || errors.to_string().contains("second time"),
            "{}",
            &errors.to_string()[..200]
        );
    }
    // What is long but not deep is accepted.
    let many = 10_000;
    let long = c(&format!("*x = 1{};", " + 1".repeat(many)));
    parse("long.litmus", &long).expect("a long sum");
    let conditions = format!("X86 long\n{{}}\nP0;\nMOV [x],$1;\nexists (x=1{})", " /\\ x=1".repeat(many));
    parse("long.litmus", &conditions).expect("a long condition");
}
