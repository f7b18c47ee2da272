//! `raddle memsys`: every example system has the verdicts that it says, and the command behaves like the others.
//!
//! A system carries its expectations in its own text, one per line:
//!
//! ```text
//! // raddle: --model ra -D N=3 expect: violated length: 10
//! ```

mod common;

use common::{raddle, refuses, rejects, root};
use raddle_testkit::Scratch;
use serde_json::Value;
use std::fs;

#[test]
fn example_systems_have_the_verdicts_they_say() {
    let root = root();
    let files = fs::read_dir(root.join("examples/memsys")).expect("there are example systems").flatten();
    let mut verdicts = [0, 0];
    for path in files.map(|file| file.path()) {
        let file = path.strip_prefix(&root).expect("under the root").display().to_string();
        let text = fs::read_to_string(&path).expect("an example is text");
        let lines = text.lines().filter_map(|line| line.split_once("raddle:")?.1.split_once("expect:"));
        let mut models = std::collections::BTreeSet::new();
        for (options, expected) in lines {
            let mut args = vec!["memsys", &file, "--json"];
            args.extend(options.split_whitespace());
            let ran = raddle(&args);
            let answer = ran.json();
            let (verdict, length) = match expected.split_once("length:") {
                Some((verdict, length)) => (verdict.trim(), length.trim().parse().ok()),
                None => (expected.trim(), None),
            };
            let status = i32::from(verdict == "violated");
            assert_eq!((answer["verdict"].as_str(), ran.status), (Some(verdict), status), "{args:?}: {ran:?}");
            let steps = answer["violation"]["steps"].as_array().map(Vec::len);
            assert_eq!(steps, length, "{args:?}");
            assert_eq!(answer["violation"]["shortest"] == true, status == 1, "{args:?}");
            models.extend(answer["model"].as_str().map(str::to_owned));
            verdicts[status as usize] += 1;
        }
        assert_eq!(models.len(), 3, "{file} says something of every model");
    }
    assert!(verdicts.iter().all(|&count| count > 10), "{verdicts:?}");
}

#[test]
fn a_graph_of_the_machine_is_written() {
    let scratch = Scratch::new();
    let path = scratch.join("machine.dot");
    let ran = raddle(&["memsys", "examples/memsys/msi_wrong.sys", "--dot", &path.display().to_string()]);
    assert_eq!(ran.status, 1);
    let graph = fs::read_to_string(path).expect("the graph is there");
    assert!(graph.starts_with("digraph machine {") && graph.contains("color=red"), "{graph}");
}

#[test]
fn json_has_the_fields_of_its_schema() {
    let text = fs::read_to_string(root().join("docs/json-schema.json")).expect("the schema is there");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let names = |value: &Value| -> std::collections::BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let violated = raddle(&["memsys", "examples/memsys/msi_wrong.sys", "--json"]).json();
    let limited = ["memsys", "examples/memsys/msi.sys", "--json", "--max-configurations", "1"];
    let unknown = raddle(&limited);
    assert_eq!((unknown.status, unknown.json()["verdict"].as_str()), (3, Some("unknown")));
    let memsys = &schema["$defs"]["memsys"]["properties"];
    let seen = [&violated, &unknown.json()].into_iter().flat_map(&names).collect();
    assert_eq!(names(memsys), seen);
    let violation = &memsys["violation"]["properties"];
    assert_eq!(names(violation), names(&violated["violation"]));
    assert_eq!(names(&violation["steps"]["items"]["properties"]), names(&violated["violation"]["steps"][0]));
    assert_eq!(names(&violation["cycle"]["items"]["properties"]), names(&violated["violation"]["cycle"][0]));
}

#[test]
fn bad_systems_are_refused_with_a_place() {
    refuses(
        "memsys",
        &[],
        &[
            ("word.sys", b"system s\nregister a\n", "`register` begins no declaration", "2:1"),
            ("latin1.sys", b"system s // caf\xe9\n", "not UTF-8", "1:16"),
        ],
    );
    for (args, message) in [
        (["memsys", "no/such.sys", "--model", "ra"], "cannot read `no/such.sys`"),
        (["memsys", "examples/memsys/msi.sys", "--model", "sc"], "there are wra, ra and sra"),
        (["memsys", "examples/memsys/msi.sys", "-D", "CORES=3"], "there is no parameter `CORES`"),
        (["memsys", "examples/memsys/msi.sys", "-D", "N=many"], "is not a number"),
        (["memsys", "examples/memsys/msi.sys", "--dot", "no/such/x.dot"], "cannot write"),
    ] {
        rejects(&args, message);
    }
}
