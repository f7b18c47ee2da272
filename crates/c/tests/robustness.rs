//! Any text ends in a program or in diagnostics: no panic, no hang, no overflow of the stack.
//!
//! The default run is a sample. The full sweep of 100,000 damaged files:
//! `RADDLE_C_MUTANTS=100000 cargo test -p raddle-c --release --test robustness`.

mod support;

use raddle_c::{Error, Options, compile_preprocessed};
use raddle_testkit::{Random, Scratch, damaged, setting};
use std::path::Path;
use support::generate;

/// Pieces that mean something to a C parser.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "->",
    ".",
    "=",
    "==",
    "++",
    "<<",
    "?",
    ":",
    "...",
    "struct ",
    "union ",
    "enum ",
    "int ",
    "unsigned ",
    "typedef ",
    "static ",
    "extern ",
    "_Atomic ",
    "case ",
    "goto ",
    "return ",
    "sizeof ",
    "__attribute__((",
    "_Generic(",
    "0x",
    "1e9",
    "\"",
    "'",
    "/*",
    "# 1 \"x\"\n",
];

/// Whether the text is a program.
fn outcome(text: &str) -> bool {
    match compile_preprocessed("mutant.i", text, &Options::default()) {
        Ok(_) => true,
        Err(Error::Rejected(rejected)) => {
            let first = rejected.diagnostics.first().unwrap_or_else(|| panic!("rejected without a reason\n{text}"));
            // The validator of the program representation speaks of these; a front end must not come so far.
            let internal = [
                "expected a value of type",
                "does not lead from",
                "is put in",
                "returns nothing",
                "block that does not exist",
            ];
            assert!(!internal.iter().any(|words| first.message.contains(words)), "{first:?}\n{text}");
            false
        }
        Err(other) => panic!("{other}"),
    }
}

/// Preprocessed programs to damage: the examples, and random ones.
fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let entries = std::fs::read_dir(examples).expect("there are examples");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    files.sort();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "c")) {
        texts.push(raddle_c::preprocess(file, &Options::default()).expect("examples are C"));
    }
    assert!(texts.len() >= 20, "there are {} examples", texts.len());
    let scratch = Scratch::new();
    for seed in 0..4 {
        let file = scratch.file("g.c", generate::file(seed, 1));
        texts.push(raddle_c::preprocess(&file, &Options::default()).expect("generated programs are C"));
    }
    texts
}

#[test]
fn damaged_files_end_in_a_program_or_a_diagnostic() {
    let corpus = corpus();
    let random = &mut Random::new(11);
    let mut programs = 0;
    let mutants = setting("RADDLE_C_MUTANTS", 3000);
    for _ in 0..mutants {
        let text = damaged(&corpus, &PIECES, random);
        programs += u64::from(outcome(&String::from_utf8_lossy(&text)));
    }
    let some = mutants / 50..mutants / 2;
    assert!(some.contains(&programs), "{programs} of {mutants} are programs: some damage does not matter, most does");
}

#[test]
fn the_corpus_itself_is_accepted() {
    for text in corpus() {
        assert!(outcome(&text), "{text}");
    }
}

#[test]
fn hostile_sizes_are_refused_or_handled() {
    let in_main = |body: &str| format!("int printf(const char *, ...); int main(void) {{ {body} return 0; }}");
    let cases = [
        in_main(&format!("int x = 1{};", "+1".repeat(3900))),
        in_main(&format!("int x = {}1{};", "(".repeat(390), ")".repeat(390))),
        in_main(&"if (1) ; else ".repeat(300)),
        in_main("int a[1 << 30]; a[0] = 1;"),
        in_main("static int a[100000000]; a[0] = 1;"),
        in_main("int a[] = { [0 ... 500000000] = 1 }; (void)a[1];"),
        in_main("static char s[1000000] = { [999999] = 1 }; s[0] = s[1];"),
        in_main("char a[1000000] = { 1 }; a[0] = 2;"),
        in_main("switch (printf(\"\")) { case 0 ... 2000000000: break; case -5 ... -1: break; }"),
        in_main("struct { int a[1000][1000]; } x, y; x.a[1][1] = 0; y = x;"),
        format!("int a{}; int main(void) {{ return sizeof a; }}", "[2]".repeat(390)),
        "struct s { struct s inner; }; int main(void) { return sizeof(struct s); }".to_owned(),
        "int f(int x) { return f(x); } int main(void) { return f(1); }".to_owned(),
        format!("int main(void) {{ return {}; }}", "({".repeat(300)),
        "int main(void) { return sizeof(char[0x7fffffffffffffff]); }".to_owned(),
        "# 1 \"/dev/zero\"\nint main(void) { return @; }".to_owned(),
        String::new(),
        "\0".to_owned(),
    ];
    for text in cases {
        outcome(&text);
    }
}
