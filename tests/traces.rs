//! `raddle trace`: every example trace is what it says it is, and the command behaves like the others.
//!
//! A trace carries its expectations in its own text (in JSON, in its comment), one per line:
//!
//! ```text
//! // raddle: --model tso expect: consistent
//! ```

mod common;

use common::{raddle, refuses, rejects, root};
use raddle_testkit::Scratch;
use serde_json::Value;
use std::fs;

/// The options and the verdict of each expectation.
fn expectations(text: &str) -> Vec<(Vec<String>, String)> {
    let lines = text.lines().filter_map(|line| line.split_once("raddle:")?.1.split_once("expect:"));
    let word = |text: &str| text.trim().trim_end_matches([',', '"']).to_owned();
    lines.map(|(options, verdict)| (options.split_whitespace().map(str::to_owned).collect(), word(verdict))).collect()
}

#[test]
fn example_traces_are_what_they_say() {
    let root = root();
    let files = fs::read_dir(root.join("examples/traces")).expect("there are example traces").flatten();
    let (mut checked, mut verdicts) = (0, [0, 0]);
    for path in files.map(|file| file.path()) {
        let file = path.strip_prefix(&root).expect("under the root").display().to_string();
        let expected = expectations(&fs::read_to_string(&path).expect("an example is text"));
        assert!(!expected.is_empty(), "{file} expects nothing");
        for (options, verdict) in expected {
            for more in [&[][..], &["--no-closure"], &["--algorithm", "naive"]] {
                let mut args = vec!["trace", &file, "--json"];
                args.extend(options.iter().map(String::as_str).chain(more.iter().copied()));
                let ran = raddle(&args);
                let answer = ran.json();
                assert_eq!(answer["verdict"], *verdict, "{args:?}: {ran:?}");
                let status = if verdict == "consistent" { 0 } else { 1 };
                assert_eq!(ran.status, status, "{args:?}");
                assert_eq!(answer["steps"].is_array(), status == 0, "{args:?}");
                assert_eq!(answer["clash"]["minimal"] == true, status == 1, "{args:?}");
                verdicts[status as usize] += 1;
                checked += 1;
            }
        }
    }
    assert!(checked > 0 && verdicts.iter().all(|&count| count > 0), "{verdicts:?}");
}

#[test]
fn a_trace_can_come_from_standard_input() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    let mut child = command
        .args(["trace", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("it is piped").write_all(b"thread a:\n write x\n").expect("the command reads");
    let ran = common::ran(child.wait_with_output().expect("the command ends"));
    assert_eq!((ran.status, &ran.json()["verdict"]), (0, &Value::from("consistent")));
}

#[test]
fn a_graph_is_written() {
    let scratch = Scratch::new();
    let path = scratch.join("cycle.dot");
    let ran = raddle(&["trace", "examples/traces/sb.trace", "--dot", &path.display().to_string()]);
    assert_eq!(ran.status, 1);
    let graph = fs::read_to_string(path).expect("the graph is there");
    assert!(graph.starts_with("digraph trace {") && graph.contains("color=red"), "{graph}");
}

#[test]
fn json_has_the_fields_of_its_schema() {
    let text = fs::read_to_string(root().join("docs/json-schema.json")).expect("the schema is there");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let names = |value: &Value| -> std::collections::BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let trace = &schema["$defs"]["trace"];
    let fields = |args: &[&str]| raddle(&[&["trace", "--json"], args].concat()).json();
    let consistent = fields(&["examples/traces/sb.trace", "--model", "tso"]);
    let inconsistent = fields(&["examples/traces/overwritten.trace", "--model", "tso"]);
    let unknown = fields(&["examples/traces/mp.trace", "--no-closure", "--max-prefixes", "0"]);
    assert_eq!(unknown["verdict"], "unknown");
    let seen = [&consistent, &inconsistent, &unknown].into_iter().flat_map(&names).collect();
    assert_eq!(names(&trace["properties"]), seen);
    let clash = &inconsistent["clash"];
    assert_eq!(names(clash), names(&trace["properties"]["clash"]["properties"]));
    assert_eq!(names(&clash["cycle"][0]), names(&schema["$defs"]["tie"]["properties"]));
    assert_eq!(names(&clash["cycle"][0]["from"]), names(&schema["$defs"]["moment"]["properties"]));
    assert_eq!(names(&clash["events"][0]), names(&schema["$defs"]["trace_event"]["properties"]));
}

#[test]
fn limits_give_no_verdict() {
    let options = ["--model", "pso", "--no-closure", "--algorithm", "naive", "--max-prefixes", "1", "--json"];
    let args: Vec<&str> = ["trace", "examples/traces/mp.trace"].into_iter().chain(options).collect();
    let ran = raddle(&args);
    assert_eq!((ran.status, &ran.json()["verdict"]), (3, &Value::from("unknown")), "{ran:?}");
    assert_eq!(ran.json()["why"], "the limit on prefixes was reached");
}

#[test]
fn bad_traces_are_refused_with_a_place() {
    refuses(
        "trace",
        &[],
        &[
            ("verb.trace", b"thread a:\n    wirte x\n", "`wirte` is no event", "2:5"),
            ("source.trace", b"thread a:\n    read x from b.0\n", "there is no event `b.0`", "2:17"),
            ("broken.json", b"{\"threads\": [\n  {]}", "expected the name of a field", "2:4"),
            ("latin1.trace", b"thread a:\n  note caf\xe9\n", "not UTF-8", "2:11"),
        ],
    );
    for (args, message) in [
        (["trace", "no/such.trace", "--model", "tso"], "cannot read `no/such.trace`"),
        (["trace", "examples/traces/sb.trace", "--model", "arm"], "there are sc, tso, pso, wra, ra, sra and rc11"),
        (["trace", "examples/traces/sb.trace", "--format", "xml"], "there are text and json"),
        (["trace", "examples/traces/sb.trace", "--dot", "no/such/x.dot"], "cannot write"),
    ] {
        rejects(&args, message);
    }
}

macro_rules! prints {
    ($name:ident, $($arg:literal),+ $(,)?) => {
        #[test]
        fn $name() {
            let ran = raddle(&[$($arg),+]);
            insta::assert_snapshot!(format!("{}{}[exit status {}]\n", ran.stdout, ran.stderr, ran.status));
        }
    };
}

prints!(trace_help, "trace", "--help");
prints!(a_consistent_trace, "trace", "examples/traces/forwarding.trace", "--model", "pso");
prints!(an_inconsistent_trace, "trace", "examples/traces/overwritten.trace", "--model", "tso");
