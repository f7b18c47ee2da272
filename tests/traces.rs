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

/// Logs of stores: each separates one level from the next, and says under which models it is consistent.
#[test]
fn example_logs_are_what_they_say() {
    let root = root();
    let files = fs::read_dir(root.join("examples/logs")).expect("there are example logs").flatten();
    let mut strongest = std::collections::BTreeSet::new();
    for path in files.map(|file| file.path()) {
        let file = path.strip_prefix(&root).expect("under the root").display().to_string();
        let text = fs::read_to_string(&path).expect("an example is text");
        let expected: Vec<(&str, &str)> =
            text.split("raddle:").skip(1).filter_map(|piece| piece.split_once("expect:")).collect();
        assert!(expected.len() > 1, "{file} expects little");
        for (options, verdict) in expected {
            let verdict: String = verdict.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
            let mut args = vec!["trace", &file, "--json"];
            args.extend(options.split_whitespace());
            let ran = raddle(&args);
            let status = i32::from(verdict == "inconsistent");
            let answer = ran.json();
            assert_eq!((answer["verdict"].as_str(), ran.status), (Some(&*verdict), status), "{args:?}: {ran:?}");
            let why = answer["clash"]["minimal"] == true || answer["unwritten"].is_object();
            assert_eq!(why, status == 1, "{args:?}: {ran:?}");
        }
        let (_, levels) = text.split_once("levels:").expect("the levels are said");
        let levels: Vec<&str> =
            levels.lines().next().unwrap_or_default().trim_end_matches(['"', '}']).split_whitespace().collect();
        let answer = raddle(&["lin", &file, "--levels", "--json"]).json();
        let all = answer["levels"].as_array().expect("levels");
        let held = all.iter().filter(|level| level["verdict"] == "holds").filter_map(|level| level["level"].as_str());
        let held: Vec<&str> = held.collect();
        assert_eq!(held, levels.iter().copied().filter(|&level| level != "none").collect::<Vec<_>>(), "{file}");
        strongest.insert(levels[0].to_owned());
    }
    // Causal memory without convergence, convergence without causal memory, and all the others.
    assert_eq!(strongest.len(), 7, "{strongest:?}");
}

#[test]
fn logs_are_told_from_traces_and_refused_with_a_line() {
    let dir = Scratch::new();
    let told = [
        ("a.log", "{\"process\": 0, \"f\": \"w\", \"key\": 1, \"value\": 1}\n", "consistent"),
        ("b.log", "; a log\n{:process :a, :f :read, :key :x, :value nil}\n", "consistent"),
        (
            "c.log",
            "{\"threads\": [{\"name\": \"process\", \"events\": [{\"op\": \"write\", \"location\": \"f\"}]}]}",
            "consistent",
        ),
        ("d.log", "INVOKE 0 put k v\nRETURN 0\n", "consistent"),
        // A write without an end may have taken effect late: after what its process did next.
        (
            "e.log",
            "{:process 0 :type :invoke :f :w :key :x :value 1}\n{:process 0 :type :info :f :w :key :x :value 1}\n{:process 0 :f :r :key :x :value nil}\n{:process 1 :f :r :key :x :value 1}\n",
            "consistent",
        ),
    ];
    for (name, text, verdict) in told {
        let file = dir.file(name, text).display().to_string();
        let ran = raddle(&["trace", &file, "--json"]);
        assert_eq!(ran.json()["verdict"], verdict, "{ran:?}");
    }
    let refused = [
        ("twice.edn", "{:process 0 :f :w :key :x :value 1}\n{:process 1 :f :w :key :x :value 1}\n", "lines 1 and 2"),
        ("cas.edn", "{:process 0 :f :cas :key :x :value [1 2]}\n", "reads and writes"),
        ("push.edn", "{:process 0 :f :w :key :x :value 1}\n{:process 0 :f :push :key :x :value 1}\n", "no method"),
        ("empty.edn", ";\n", "no operation"),
    ];
    for (name, text, message) in refused {
        let file = dir.file(name, text).display().to_string();
        let ran = raddle(&["trace", &file]);
        assert!(ran.status == 2 && ran.stderr.contains(message), "{name}: {ran:?}");
    }
    let whole =
        dir.file("whole.log", "{\"process\": 0, \"f\": \"w\", \"key\": 1, \"value\": 1}\n").display().to_string();
    let ran = raddle(&["lin", &whole]);
    assert!(ran.status == 2 && ran.stderr.contains("`type` is missing"), "{ran:?}");
    let levels = raddle(&["lin", &whole, "--levels", "--json"]).json();
    assert_eq!((levels["verdict"].as_str(), levels["strongest"].as_str()), (Some("unknown"), Some("sequential")));
    assert!(raddle(&["lin", &whole, "--levels"]).stdout.starts_with("unknown: sequential, and perhaps linearizable\n"));
    // What has no order at all has none in real time.
    let none = raddle(&["lin", "examples/logs/replicas.jsonl", "--levels", "--json"]);
    assert_eq!((none.status, none.json()["verdict"].as_str()), (1, Some("violated")));
    for (args, message) in [
        (["trace", "examples/traces/sb.trace", "--initial", "0"], "for the log of a store"),
        (["trace", "examples/traces/sb.trace", "--format", "log"], "cannot tell the format"),
    ] {
        rejects(&args, message);
    }
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
    let unwritten = fields(&["examples/logs/unwritten.edn"]);
    assert_eq!(names(&unwritten["unwritten"]), names(&schema["$defs"]["trace_event"]["properties"]));
    let seen = [&consistent, &inconsistent, &unknown, &unwritten].into_iter().flat_map(&names).collect();
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
prints!(an_inconsistent_log, "trace", "examples/logs/pram.edn", "--model", "wra");
prints!(a_log_with_a_value_that_nobody_wrote, "trace", "examples/logs/unwritten.edn", "--model", "ra");
prints!(a_consistent_trace, "trace", "examples/traces/forwarding.trace", "--model", "pso");
prints!(an_inconsistent_trace, "trace", "examples/traces/overwritten.trace", "--model", "tso");
