//! This crate without the verifier around it: the snippet that docs/linear.md shows compiles, and no crate of the verifier is needed for it.

// docs: begin
use raddle_linear::decide::{Error, Settings, decide};
use raddle_linear::history::Ts;
use raddle_linear::search::{Budget, Entry, Found, Model, search};
use raddle_linear::verdict::Verdict;

/// A light with one button, which answers whether it is on.
struct Light;

impl Model for Light {
    type State = bool;
    type Call = ();
    type Ret = bool;

    fn initial(&self) -> bool {
        false
    }

    fn step(&self, on: &bool, _: &(), answer: Option<&bool>) -> Vec<bool> {
        if answer.is_none_or(|answer| answer != on) { vec![!on] } else { Vec::new() }
    }
}

/// Whether two people who pressed at the same time can have got these answers.
fn pressed_at_once(answers: [bool; 2]) -> bool {
    let press =
        |answer: bool, start: u32, end: u32| Entry { call: (), ret: Some(answer), start: Ts(start), end: Ts(end) };
    let history = [press(answers[0], 0, 2), press(answers[1], 1, 3)];
    matches!(search(&Light, &history, Budget::default()).0, Found::Linearization(_))
}

/// Whether a history of a kind that is built in holds.
fn holds(text: &str) -> Result<bool, Error> {
    Ok(matches!(decide(text.as_bytes(), &Settings::default())?.report.verdict, Verdict::Holds(_)))
}
// docs: end

#[test]
fn a_model_and_a_file_are_checked() {
    assert!(pressed_at_once([true, false]) && pressed_at_once([false, true]));
    assert!(!pressed_at_once([true, true]) && !pressed_at_once([false, false]));
    let log = "INVOKE 0 put k 5\nRETURN 0\nINVOKE 1 get k\nRETURN 1 5\n";
    assert!(holds(log).expect("a history"));
    assert!(!holds(&log.replace("RETURN 1 5", "RETURN 1 6")).expect("a history"));
    assert!(holds("INVOKE 0").is_err());
}

#[test]
fn the_book_shows_this_snippet() {
    let (book, here) = (include_str!("../../../docs/linear.md"), include_str!("alone.rs"));
    let from = here.find("// docs: begin\n").expect("a beginning") + "// docs: begin\n".len();
    let to = here.find("// docs: end\n").expect("an end");
    assert!(book.contains(&here[from..to]), "docs/linear.md does not show the snippet of tests/alone.rs");
}

/// What the crates of this workspace that it needs need in turn, by their manifests.
#[test]
fn no_crate_of_the_verifier_is_needed() {
    let manifests = [
        include_str!("../Cargo.toml"),
        include_str!("../../consistency/Cargo.toml"),
        include_str!("../../trace/Cargo.toml"),
    ];
    for manifest in manifests {
        let section = manifest.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next());
        for needed in section.unwrap_or_default().lines().filter(|line| line.starts_with("raddle-")) {
            let known = ["raddle-consistency", "raddle-trace"].iter().any(|name| needed.starts_with(name));
            assert!(known, "{needed}");
        }
    }
}
