//! What people and programs read about the example histories.

use raddle::histories::Settings;
use raddle::linear::object::ObjectKind;
use raddle::report::{Answer, Conclusion, Layout};
use std::path::Path;

fn example(name: &str, settings: &Settings) -> Answer {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/histories").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    raddle::lin(name, &bytes[..], settings).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn plain(answer: &Answer) -> String {
    anstream::adapter::strip_str(&answer.text(Layout { width: 100, full: false })).to_string()
}

fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_str(&answer.json()).expect("JSON")
}

#[test]
fn the_examples_have_the_verdicts_their_comments_promise() {
    let cases = [
        ("stack-good.log", Conclusion::Holds),
        ("stack-four-values.log", Conclusion::Violated),
        ("stack-pending-pop.jsonl", Conclusion::Holds),
        ("queue-critical-pair.log", Conclusion::Violated),
        ("queue-intervals.txt", Conclusion::Holds),
        ("register-stale-read.edn", Conclusion::Violated),
        ("map-keys.txt", Conclusion::Holds),
    ];
    for (name, expected) in cases {
        assert_eq!(example(name, &Settings::default()).conclusion(), expected, "{name}");
    }
    let set = Settings { object: Some(ObjectKind::Set), ..Settings::default() };
    assert_eq!(example("set-queries.jsonl", &set).conclusion(), Conclusion::Violated);
}

#[test]
fn a_violation_is_explained_in_words() {
    let text = plain(&example("queue-critical-pair.log", &Settings::default()));
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
    let answer = json(&example("stack-good.log", &Settings::default()));
    assert_eq!((&answer["schema"], &answer["command"]), (&1.into(), &"lin".into()));
    assert_eq!((&answer["file"], &answer["version"]), (&"stack-good.log".into(), &raddle::VERSION.into()));
    assert_eq!((&answer["verdict"], &answer["object"]), (&"holds".into(), &"stack".into()));
    assert_eq!(answer["linearization"].as_array().map(Vec::len), Some(8));
    assert!(answer["seconds"].is_number() && answer["cpu_seconds"].is_number());
    assert!(answer.get("explanation").is_none());
    let answer = json(&example("register-stale-read.edn", &Settings::default()));
    assert_eq!(answer["verdict"], "violated");
    assert_eq!(answer["explanation"]["reason"], "no-order");
    assert_eq!(answer["explanation"]["earliest_prefix"]["line"], 11);
    assert!(answer.get("linearization").is_none());
}

#[test]
fn the_picture_is_one_page_that_loads_nothing_and_quotes_everything() {
    let settings = Settings { object: Some(ObjectKind::Stack), ..Settings::default() };
    let text = "{\"process\":\"</script><b>\",\"type\":\"invoke\",\"f\":\"push\",\"value\":\"<i>\"}\n{\"process\":\"</script><b>\",\"type\":\"ok\",\"f\":\"push\"}\n\
                {\"process\":2,\"type\":\"invoke\",\"f\":\"pop\"}\n{\"process\":2,\"type\":\"ok\",\"f\":\"pop\",\"value\":\"<u>\"}\n";
    let answer = raddle::lin("tags", text.as_bytes(), &settings).expect("a verdict");
    assert_eq!(answer.conclusion(), Conclusion::Violated);
    let page = answer.html().expect("a history can be drawn");
    assert_eq!(page.matches("</script>").count(), 1, "values cannot end the script");
    assert!(
        !page.contains("<i>") && !page.contains("<u>") && !page.contains("http"),
        "nothing is loaded, nothing is markup"
    );
    assert!(!page.contains("@DATA@") && !page.contains("@TITLE@"), "everything is filled in");
    assert!(page.contains("not linearizable"));
}

#[test]
fn a_stream_is_checked_as_far_as_it_is_read_and_never_drawn() {
    let event = |process: u32, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let both =
        |process, f: &str, call: &str, ret: &str| event(process, "invoke", f, call) + &event(process, "ok", f, ret);
    let good = both(0, "enqueue", "1", "1") + &both(1, "dequeue", "null", "1");
    let answer = raddle::lin_stream("-", good.as_bytes(), &Settings::default()).expect("a verdict");
    assert_eq!((answer.conclusion(), answer.html(), answer.dot()), (Conclusion::Holds, None, None));
    let fields = json(&answer);
    assert_eq!((&fields["command"], &fields["file"]), (&"lin".into(), &"-".into()));
    assert_eq!((&fields["operations"], &fields["engine"]), (&2.into(), &"stream".into()));
    // What comes after the first violation is not even read.
    let bad = good + &both(1, "dequeue", "null", "7") + "nonsense\n";
    let answer = raddle::lin_stream("-", bad.as_bytes(), &Settings::default()).expect("a verdict");
    assert_eq!(answer.conclusion(), Conclusion::Violated);
    assert!(plain(&answer).contains("at line 6 (event 5)"), "{}", plain(&answer));
    assert_eq!(json(&answer)["explanation"]["line"], 6);
}

/// A map of two keys, one of which is wrong: the picture knows the keys, which one it is about, the states it may have been in, and how many are marked.
#[test]
fn the_picture_tells_of_keys_and_states() {
    let event = |process: u32, phase: &str, f: &str, key: &str, value: &str| {
        format!("{{:process {process}, :type :{phase}, :f :{f}, :key {key}, :value {value}}}\n")
    };
    let text: String =
        [("write", "x", "1"), ("write", "y", "2"), ("write", "y", "3"), ("read", "y", "2"), ("read", "x", "1")]
            .into_iter()
            .map(|(f, key, value)| {
                let asked = if f == "read" { "nil" } else { value };
                event(0, "invoke", f, key, asked) + &event(0, "ok", f, key, value)
            })
            .collect();
    let answer = raddle::lin("map", text.as_bytes(), &Settings::default()).expect("a verdict");
    assert_eq!(answer.conclusion(), Conclusion::Violated);
    let page = answer.html().expect("a history can be drawn");
    for part in [
        r#""keys":["x","y"],"about":1"#,
        "the object may have been:",
        "The 3 marked operations cannot be ordered.",
        "id=\"key\"",
    ] {
        assert!(page.contains(part), "`{part}` is missing in\n{page}");
    }
    let strange = event(0, "invoke", "read", "x", "nil") + &event(0, "ok", "read", "x", "7");
    let settings = Settings { object: Some(ObjectKind::Map), ..Settings::default() };
    let answer = raddle::lin("map", strange.as_bytes(), &settings).expect("a verdict");
    let page = answer.html().expect("a history can be drawn");
    assert!(page.contains("The marked operation cannot be explained."), "{page}");
    assert!(plain(&answer).contains("1 operation (0 pending)"), "{}", plain(&answer));
}
