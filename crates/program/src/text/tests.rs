//! Claims about the text form on hand-written programs.

use crate::{parse, print};

/// The flat text of a program that must parse.
fn flat(text: &str) -> String {
    match parse("test.rdl", text, &[]) {
        Ok(program) => print(&program),
        Err(errors) => panic!("{errors}"),
    }
}

#[test]
fn structured_text_becomes_flat_text_that_means_the_same() {
    let text = "
        global x: i32;
        fn main() {
            for i in 0..3 { let r = load x; if r == i { break; } store x, r + 1; }
        }";
    let once = flat(text);
    assert_eq!(flat(&once), once);
    assert!(once.contains("if r == i goto"), "{once}");
}
