//! Claims about the text form on hand-written programs: what it means, and what is said about mistakes.

use crate::testing::without_spans;
use crate::{Program, parse, print};

fn program(text: &str) -> Program {
    parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The flat text of a program that must parse.
fn flat(text: &str) -> String {
    print(&program(text))
}

/// The flat text of the statements of `main`, without declarations, labels and indentation.
fn statements(body: &str) -> Vec<String> {
    let text = flat(&format!(
        "global x: i32; global a: i64[4]; global s: bytes(24, 8); global p: ptr; fn main() {{ {body} }}
         fn f(n: i32) -> i32 {{ return n; }}"
    ));
    let main = text.split("fn main() {\n").nth(1).and_then(|rest| rest.split("\n}").next()).expect("main is printed");
    let skip = |line: &&str| !line.starts_with("let ") && !line.starts_with("var ");
    main.lines().map(str::trim).filter(skip).map(str::to_owned).collect()
}

/// What is said about a text that is wrong.
fn complaint(text: &str) -> String {
    match parse("test.rdl", text, &[]) {
        Ok(program) => panic!("this is a program:\n{}", print(&program)),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn structured_text_becomes_flat_text_that_means_the_same() {
    let text = "global x: i32; fn main() {
        for i in 0..3 { let r = load x; if r == i { break; } store x, r + 1; }
    }";
    let once = flat(text);
    assert_eq!(flat(&once), once);
    assert!(once.contains("if r == i goto"), "{once}");
}

#[test]
fn a_while_loop_is_a_test_and_a_body() {
    let lines = statements("let i = 0; while i < 3 { i = i + 1; } store x, i;");
    let expected = [
        "i = 0;",
        "goto b1;",
        "b1:",
        "if i < 3 goto b2 else b3;",
        "b2:",
        "loop;",
        "i = i + 1;",
        "goto b1;",
        "b3:",
        "store x, i;",
        "return;",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn literals_take_their_type_from_what_they_meet() {
    let lines = statements("let r = load a[1]; store a[2], r + 1; let t = r == 5; let d = 7; store i8 *&s, -1;");
    assert_eq!(lines[1], "store a[2], r + 1;");
    assert_eq!(lines[3], "d = 7;");
    assert_eq!(lines[4], "store i8 s, -1;");
}

#[test]
fn places_are_addresses_with_types() {
    let lines = statements(
        "let i = 2; let q = &a[1]; store a[i], 1; store i16 *(q + 2), 3; let r: i64 = load *q; let w = load i32 q[i];",
    );
    assert_eq!(lines[1], "q = &a + 8;");
    assert_eq!(lines[2], "store a[i], 1;");
    assert_eq!(lines[3], "store i16 *(q + 2), 3;");
    assert_eq!(lines[4], "r = load i64 *q;");
    assert_eq!(lines[5], "w = load i32 *(q + sext(i64, i) * 4);");
}

#[test]
fn greater_is_less_the_other_way_round_and_operators_bind_as_expected() {
    let lines = statements("let i = 1; let b = i > 2 || i >=u 3 && !(i == 4); let n = (i + 2) * 3 - -i / 2;");
    assert_eq!(lines[1], "b = 2 < i || 3 <=u i && !(i == 4);");
    assert_eq!(lines[2], "n = (i + 2) * 3 - -i / 2;");
}

#[test]
fn names_may_be_hidden_and_still_be_reached() {
    let lines = statements("let x = load x; store @x, x + 1; { let x = 5; store @x, x; }");
    assert_eq!(lines, ["x = load @x;", "store @x, x + 1;", "x.1 = 5;", "store @x, x.1;", "return;"]);
}

#[test]
fn leaving_an_atomic_block_ends_it() {
    let lines = statements("loop { atomic { let r = load x; if r == 1 { break; } store x, 1; } }");
    assert_eq!(lines.iter().filter(|line| *line == "atomic_end;").count(), 2);
}

#[test]
fn loops_are_left_and_continued_by_label() {
    let lines = statements("outer: for i in 0..2 { for j in 0..2 { if i == j { continue outer; } break outer; } }");
    assert!(lines.contains(&"if i == j goto b5 else b6;".to_owned()), "{lines:?}");
}

#[test]
fn parameters_are_constants_that_can_be_given_from_outside() {
    let text = "param N = 2; param M = N * N; global a: i32[M + 1]; fn main() { for i in 0..N { store a[i], M; } }";
    let printed = |params: &[(String, i64)]| print(&parse("t.rdl", text, params).expect("it parses"));
    assert!(printed(&[]).contains("a: i32[5]"));
    assert!(printed(&[("N".to_owned(), 3)]).contains("a: i32[10]"));
    let unknown = parse("t.rdl", text, &[("K".to_owned(), 3)]).expect_err("there is no K");
    assert_eq!(unknown.to_string(), "error: the program has no parameter `K`\n  = help: its parameters are N, M\n");
}

#[test]
fn labels_and_gotos_are_the_same_program_as_structure() {
    let structured = "global x: i32; fn main() { let r: i32; do { r = load x; } while r != 1; store x, 2; }";
    let gotos = "global x: i32; fn main() { let r: i32;
        again: r = load x; goto test; test: if r != 1 goto again else done; done: store x, 2; return; }";
    assert_eq!(
        without_spans(&program(structured)).functions[0].blocks.len(),
        without_spans(&program(gotos)).functions[0].blocks.len()
    );
}

#[test]
fn an_error_shows_the_line_the_place_and_the_way_out() {
    let expected = "\
error: there is no register `cuont`
 --> test.rdl:3:14
  |
3 |     store x, cuont + 1;
  |              ^^^^^
  = help: did you mean `count`?
";
    assert_eq!(complaint("global x: i32;\nfn main() { let count = 1;\n    store x, cuont + 1;\n}"), expected);
}

#[test]
fn a_missing_semicolon_is_reported_where_it_is_missing() {
    let expected = "\
error: expected `;`, found `store`
 --> test.rdl:2:23
  |
2 | fn main() { store x, 1
  |                       ^ a `;` is missing here
";
    let text = "global x: i32;\nfn main() { store x, 1\n store x, 2; }";
    assert_eq!(complaint(text), expected);
}

#[test]
fn several_errors_are_reported_in_one_run() {
    let text = "global x: i32; fn main() { stroe x, 1; store y, 1; let r: i64 = load x; lod x; }";
    let found = parse("test.rdl", text, &[]).expect_err("it is wrong").diagnostics;
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn every_mistake_has_its_own_words() {
    let cases = [
        ("fn main() { let r = x; }", "there is no register `x`"),
        ("global x: i32; fn main() { let r = x + 1; }", "read it with `let r = load x;`"),
        ("global x: i32; fn main() { x = 1; }", "write `store x, value;`"),
        ("global x: i32; fn main() { store.acq x, 1; }", "a store cannot be `acq`"),
        ("global x: i32; fn main() { load.rel x; }", "a load cannot be `rel`"),
        ("global x: i32; fn main() { load.seq_cst x; }", "did you mean `sc`?"),
        ("global x: i32; fn main() { rmw.add.na x, 1; }", "a read-modify-write is always atomic"),
        ("global x: i32; fn main() { rmw x, 1; }", "`rmw` needs an operation"),
        ("global x: i32; fn main() { rmw.ad x, 1; }", "did you mean `add`?"),
        ("global x: i32; fn main() { let r: i64 = load x; }", "the register has type `i64`"),
        ("fn main() { let r = 1i64 + 2i32; }", "expected a value of type `i64`, found `i32`"),
        ("fn main() { let r = 1; if r { } }", "compare it with something"),
        ("fn main() { let r: i8 = 300; }", "300 does not fit in `i8`"),
        ("fn main() { let r = 99999999999999999999; }", "does not fit in 64 bits"),
        ("fn main() { let r = 1 / 0; }", "this constant has no value"),
        ("fn f(a: i32) { } fn main() { f(); }", "`f` takes 1 argument, not 0"),
        ("fn f() { } fn main() { let r = f(); }", "this function returns nothing"),
        ("fn f() -> i32 { } fn main() { }", "`f` can end without returning its value"),
        ("fn main(a: i32) { }", "cannot have parameters"),
        ("fn man() { }", "did you mean `entry man;`?"),
        ("fn main() { break; }", "`break` outside of a loop"),
        ("fn main() { goto there; }", "there is no label `there`"),
        ("fn main() { a: a: return; }", "is defined twice"),
        ("fn main() { let r = 1; let r = 2; }", "`r` is declared twice"),
        ("global a: i32[3]; fn main() { load a[3]; }", "element 3 of an array of 3"),
        ("global a: i32[99999999999];", "the length of an array"),
        ("global a: i32[2] = {1, 2, 3}; fn main() { }", "3 values for an array of 2"),
        ("global a: int; fn main() { }", "did you mean `i32`?"),
        ("global m: mutexx; fn main() { }", "did you mean `mutex`?"),
        ("fn main() { let r = choose 3..3; }", "this range is empty"),
        ("fn main() { let r = choose 0..70000; }", "more than 65536 values"),
        ("fn main() { let r = choose random 0..2 weights 1; }", "there are 1 weights for 2 values"),
        ("fn main() { let r = choose random 0..2 weights 1, 0; }", "a weight is a number from 1 to 1000000"),
        ("fn main() { let r = 1; switch r { 1: { } 1: { } } }", "two cases have the value 1"),
        ("fn main() { atomic { atomic { } } }", "begins inside of another"),
        ("fn main() { atomic_begin; }", "an atomic block is open here"),
        ("fn main() { let r = load *p; }", "there is no register `p`"),
        ("fn main() { let p = null; let r = load *p; }", "the type of this access is not known"),
        ("fn main() { let r = 1 < 2 < 3; }", "comparisons do not chain"),
        ("fn main() { print \"x; }", "does not end on its line"),
        ("fn main() { /* ", "this comment does not end"),
        ("fn main() { let lock = 1; }", "a word of the language"),
        ("fn main() { let t = spawn main(); join t + 0i32; }", "expected a value of type `i64`"),
        ("global c: cond; fn main() { destroy c; }", "write `destroy_wide` for condition variables"),
        ("global b: barrier(0); fn main() { }", "is for nobody"),
        ("global x: i32; global x: i32; fn main() { }", "is declared twice"),
    ];
    for (text, expected) in cases {
        let said = complaint(text);
        assert!(said.contains(expected), "`{text}` gives\n{said}and not: {expected}");
    }
}

#[test]
fn nesting_has_a_limit_and_no_stack_overflows() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for expr in [deep("(", ")"), deep("-(", ")"), deep("!", ""), deep("1+(", ")"), "1 + ".repeat(100_000) + "1i32"] {
        let said = complaint(&format!("fn main() {{ let r = {expr}; }}"));
        assert!(said.contains("levels deep"), "{}", &said[..said.len().min(300)]);
    }
    let blocks = format!("fn main() {{ {} {} }}", "if true {".repeat(100_000), "}".repeat(100_000));
    assert!(complaint(&blocks).contains("levels deep"));
    let chain = format!("fn main() {{ if true {{ }} {} }}", "else if true { }".repeat(10_000));
    assert!(parse("test.rdl", &chain, &[]).is_ok());
}
