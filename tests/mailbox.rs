//! `raddle trace --mailbox`: every example is what it says it is, and the command behaves like the others.

mod common;

use common::{raddle, refuses, root};
use raddle_testkit::Scratch;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn example_traces_are_what_they_say() {
    let root = root();
    let files = fs::read_dir(root.join("examples/mailbox")).expect("there are examples").flatten();
    let mut verdicts = [0, 0];
    for path in files.map(|file| file.path()) {
        let file = path.strip_prefix(&root).expect("under the root").display().to_string();
        let text = fs::read_to_string(&path).expect("an example is text");
        let pieces = text.split("raddle:").skip(1).filter_map(|piece| piece.split_once("expect:"));
        for (options, rest) in pieces {
            let verdict: String = rest.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
            let mut args = vec!["trace", &file, "--json"];
            args.extend(options.split_whitespace());
            let ran = raddle(&args);
            let answer = ran.json();
            let status = i32::from(verdict == "inconsistent");
            assert_eq!((answer["verdict"].as_str(), ran.status), (Some(&*verdict), status), "{args:?}: {ran:?}");
            assert_eq!(answer["steps"].is_array(), status == 0, "{args:?}");
            assert_eq!(answer["clash"]["minimal"] == true, status == 1, "{args:?}");
            verdicts[status as usize] += 1;
        }
    }
    assert!(verdicts[0] >= 8 && verdicts[1] >= 4, "{verdicts:?}");
}

#[test]
fn json_has_the_fields_of_its_schema() {
    let text = fs::read_to_string(root().join("docs/json-schema.json")).expect("the schema is there");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let names = |value: &Value| -> BTreeSet<String> { value.as_object().expect("an object").keys().cloned().collect() };
    let run = |more: &[&str]| raddle(&[&["trace", "examples/mailbox/worked.trace", "--json"], more].concat());
    let unknown = run(&["--mailbox", "queue", "--time-limit", "0"]);
    assert_eq!((unknown.status, unknown.json()["verdict"].as_str()), (3, Some("unknown")));
    let answers = [run(&["--mailbox", "queue"]).json(), run(&["--mailbox", "multiset"]).json(), unknown.json()];
    let documented = &schema["$defs"]["trace_mailbox"]["properties"];
    assert_eq!(names(documented), answers.iter().flat_map(&names).collect());
    let event = names(&documented["steps"]["items"]["properties"]);
    assert_eq!(event, names(&answers[1]["steps"][0]));
    let tie = &documented["clash"]["properties"]["ties"]["items"]["properties"];
    assert_eq!(names(tie), names(&answers[0]["clash"]["ties"][0]));
}

#[test]
fn bad_traces_are_refused_with_a_place() {
    refuses(
        "trace",
        &["--mailbox", "queue"],
        &[
            ("event.trace", b"@h\n{ get(m) -> grab(x) }\n", "is no event", "2:13"),
            ("get.trace", b"@h\n{ write(x, 1) }\n", "a message begins with its get", "2:1"),
            ("post.trace", b"@h\n{ get(m) -> post(k, m) }\n", "belongs to `h`", "2:18"),
            (
                "twice.trace",
                b"@h\n{ get(m) -> write(x, 1) -> write(x, 1) }\n$(CO) write(x, 1) -> h/m/2;\n",
                "there are several events",
                "3:7",
            ),
            (
                "path.trace",
                b"@h\n{ get(m) -> write(x, 1) }\n$(CO) h/m/1 -> h/m/7;\n",
                "there is no event `h/m/7`",
                "3:16",
            ),
            ("value.json", b"{\"handlers\": [{\"id\": \"h\", \"messages\": [{}]}]}", "`id` is missing", "1:40"),
            ("verb.log", b"ui m get\nui m dance x\n", "is no event", "2:6"),
            ("array.json", b"[]", "should be an object", "1:1"),
            ("self.trace", b"@h\n{ get(m) -> write(x, 1) }\n$(CO)\nwrite(x, 1) -> write(x, 1);", "has a cycle", "2:13"),
            (
                "source.trace",
                b"@h\n{ get(m) -> write(x, -1) -> read(x, 0) }\n$(RF)\nwrite(x, -1) -> read(x, 0);",
                "`read(x, 0)` does not read the value of `write(x, -1)`",
                "4:17",
            ),
            ("relation.trace", b"@h\n{ get(m) }\n$(XX)\n", "no relation is called `XX`", "3:3"),
        ],
    );
    let dir = Scratch::new();
    let many: String = (0..3_200).map(|message| format!("h m{message} get\n")).collect();
    let file = dir.file("many.log", &many).display().to_string();
    let ran = raddle(&["trace", &file, "--mailbox", "queue"]);
    assert!(ran.status == 2 && ran.stderr.contains("more than 5000000 pairs") && ran.stderr.contains("many.log:3163:"));
    let example = "examples/mailbox/worked.trace";
    for (more, message) in [
        (&["--mailbox", "bag"][..], "there are queue, multiset and stack"),
        (&["--mailbox", "nobody=queue"], "there is no handler `nobody`"),
        (&["--mailbox", "queue", "--format", "xml"], "there are text, json and log"),
        (&["--mailbox", "queue", "--model", "tso"], "cannot be used with"),
        (&["--format", "log"], "cannot tell the format"),
    ] {
        let ran = raddle(&[&["trace", example], more].concat());
        assert!(ran.status == 2 && ran.stderr.contains(message), "{more:?}: {ran:?}");
    }
}
