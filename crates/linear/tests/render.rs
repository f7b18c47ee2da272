//! What people and programs read, on the example histories.

use std::path::Path;

use raddle_linear::command::{Options, Outcome, run};
use raddle_linear::object::ObjectKind;

fn example(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/histories").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shown(name: &str, options: &Options) -> (Outcome, String) {
    let mut out = Vec::new();
    let outcome = run(&example(name)[..], options, &mut out).unwrap_or_else(|error| panic!("{name}: {error}"));
    (outcome, String::from_utf8(out).expect("the output is text"))
}

#[test]
fn the_examples_have_the_verdicts_their_comments_promise() {
    let cases = [
        ("stack-good.log", Outcome::Holds),
        ("stack-four-values.log", Outcome::Violated),
        ("stack-pending-pop.jsonl", Outcome::Holds),
        ("queue-critical-pair.log", Outcome::Violated),
        ("queue-intervals.txt", Outcome::Holds),
        ("register-stale-read.edn", Outcome::Violated),
        ("map-keys.txt", Outcome::Holds),
    ];
    for (name, expected) in cases {
        assert_eq!(shown(name, &Options::default()).0, expected, "{name}");
    }
    let set = Options { object: Some(ObjectKind::Set), ..Options::default() };
    assert_eq!(shown("set-queries.jsonl", &set).0, Outcome::Violated);
}

#[test]
fn a_violation_is_explained_in_words() {
    let (_, text) = shown("queue-critical-pair.log", &Options::default());
    assert!(text.starts_with("violated: not linearizable\n"), "{text}");
    for part in [
        "1 was in before 2 was called in",
        "none of them can be spared",
        "the general checker agrees",
        "lines 3 and 4",
        "wrong from event 5 (line 8) on",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn json_has_the_documented_fields() {
    let json = Options { json: true, ..Options::default() };
    let (_, text) = shown("stack-good.log", &json);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(answer["verdict"], "holds");
    assert_eq!(answer["object"], "stack");
    assert_eq!(answer["linearization"].as_array().map(Vec::len), Some(8));
    assert!(answer.get("explanation").is_none());
    let (_, text) = shown("register-stale-read.edn", &json);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(answer["verdict"], "violated");
    assert_eq!(answer["explanation"]["reason"], "no-order");
    assert_eq!(answer["explanation"]["earliest_prefix"]["line"], 11);
    assert!(answer.get("linearization").is_none());
}

#[test]
fn the_picture_is_one_page_that_loads_nothing_and_quotes_everything() {
    let scratch = raddle_testkit::Scratch::new();
    let path = scratch.join("history.html");
    let options = Options { html: Some(path.clone()), object: Some(ObjectKind::Stack), ..Options::default() };
    let text = "{\"process\":\"</script><b>\",\"type\":\"invoke\",\"f\":\"push\",\"value\":\"<i>\"}\n{\"process\":\"</script><b>\",\"type\":\"ok\",\"f\":\"push\"}\n\
                {\"process\":2,\"type\":\"invoke\",\"f\":\"pop\"}\n{\"process\":2,\"type\":\"ok\",\"f\":\"pop\",\"value\":\"<u>\"}\n";
    assert_eq!(run(text.as_bytes(), &options, &mut Vec::new()).expect("a verdict"), Outcome::Violated);
    let page = std::fs::read_to_string(&path).expect("the page was written");
    assert_eq!(page.matches("</script>").count(), 1, "values cannot end the script");
    assert!(
        !page.contains("<i>") && !page.contains("<u>") && !page.contains("http"),
        "nothing is loaded, nothing is markup"
    );
    assert!(!page.contains("@BARS@") && !page.contains("@TITLE@"), "everything is filled in");
    assert!(page.contains("not linearizable"));
}

/// A name such as `top` cannot be declared at the top of a script: the whole page would stay empty.
#[test]
fn the_script_of_the_picture_declares_nothing_at_its_top() {
    let page = include_str!("../src/render/timeline.html");
    let script = page.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next()).expect("a script");
    let code: Vec<&str> = script.lines().filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
    assert_eq!(code[..2], ["\"use strict\";", "{"]);
    assert_eq!(code.last(), Some(&"}"));
}
