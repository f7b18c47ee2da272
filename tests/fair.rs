//! `raddle fair`: the examples are what they say they are, whatever algorithm and sets are used, and the command behaves like the others.

mod common;

use common::{raddle, root};
use raddle_testkit::Scratch;
use std::fs;

/// Options, how the run ends, and which evidence it shows.
const EXAMPLES: [(&str, i32, &str); 13] = [
    ("lock.aut --pairs lock.pairs", 0, "lasso"),
    ("lock.aut --spec served.hoa", 1, "lasso"),
    ("lock.aut --spec served.hoa --pairs lock.pairs", 0, "argument"),
    ("starve.aut --pairs starve.pairs", 1, "argument"),
    ("coin.tra --labels coin.lab --states coin.sta --pairs coin.pairs", 0, "strategy"),
    ("coin.tra --labels coin.lab --spec ends.hoa", 1, "strategy"),
    ("throw.tra --labels throw.lab --spec ends.hoa", 0, "argument"),
    ("throw.tra --labels throw.lab --pairs throw.pairs", 1, "argument"),
    ("../live/mutex.rdl --pairs starved.pairs", 0, "lasso"),
    ("../live/lehmann_rabin.rdl -DN=2 --pairs weak.pairs --spec ended.hoa", 0, "argument"),
    ("../live/consensus.rdl -DROUNDS=0 --pairs weak.pairs --spec ended.hoa", 1, "strategy"),
    ("../live/consensus.rdl --pairs weak.pairs --spec agreed.hoa", 0, "argument"),
    ("../live/consensus.rdl -DROUNDS=0 --pairs weak.pairs --spec agreed.hoa", 1, "strategy"),
];

/// The words of a command line, with files of the examples by their path.
fn words(line: &str) -> Vec<String> {
    let word = |word: &str| if word.starts_with('-') { word.to_owned() } else { format!("examples/fair/{word}") };
    ["fair".to_owned()].into_iter().chain(line.split(' ').map(word)).collect()
}

#[test]
fn the_examples_end_as_they_should_by_every_algorithm() {
    for (line, status, evidence) in EXAMPLES {
        let plain = words(line);
        for more in [
            "",
            "--sets bdds",
            "--algorithm basic",
            "--threshold never",
            "--threshold 0",
            "--sets bdds --algorithm basic",
        ] {
            let mut args: Vec<&str> = plain.iter().map(String::as_str).chain(["--json"]).collect();
            args.extend(more.split_whitespace());
            let ran = raddle(&args);
            let answer = ran.json();
            assert_eq!((ran.status, &answer["command"]), (status, &"fair".into()), "{args:?}: {ran:?}");
            assert_eq!(answer["verdict"], if status == 0 { "holds" } else { "violated" }, "{args:?}");
            for kind in ["lasso", "strategy", "argument"] {
                assert_eq!(answer[kind].is_null(), kind != evidence, "{args:?}: {answer}");
            }
        }
    }
}

#[test]
fn every_example_file_is_used() {
    for file in fs::read_dir(root().join("examples/fair")).expect("there are examples").flatten() {
        let name = file.file_name().into_string().expect("a plain name");
        assert!(EXAMPLES.iter().any(|(line, ..)| line.split(' ').any(|word| word == name)), "nobody uses {name}");
    }
}

#[test]
fn what_is_printed_has_the_fields_of_its_schema() {
    let text = fs::read_to_string(root().join("docs/json-schema.json")).expect("the schema is there");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("the schema is JSON");
    let documented = schema["$defs"]["fairness"]["properties"].as_object().expect("properties");
    let required = schema["$defs"]["fairness"]["required"].as_array().expect("a list");
    for (line, ..) in EXAMPLES {
        let plain = words(line);
        let args: Vec<&str> = plain.iter().map(String::as_str).chain(["--json"]).collect();
        let answer = raddle(&args).json();
        let object = answer.as_object().expect("an object");
        assert!(object.keys().all(|key| documented.contains_key(key)), "{object:?}");
        assert!(required.iter().filter_map(|key| key.as_str()).all(|key| object.contains_key(key)), "{object:?}");
    }
}

#[test]
fn a_mistake_in_any_file_is_shown_where_it_is() {
    let scratch = Scratch::new();
    let write = |name: &str, text: &str| {
        let path = scratch.join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let good = write("good.aut", "des (0, 1, 1)\n(0, \"a\", 0)\n");
    let bad = write("bad.aut", "des (0, 1, 1)\n(0, \"a\", 7)\n");
    let dead = write("dead.aut", "des (0, 1, 2)\n(0, \"a\", 1)\n");
    let pairs = write("good.pairs", "0 -> none\n");
    let wrong_pairs = write("bad.pairs", "0 -> none\n0 -> 9\n");
    let hoa = write("bad.hoa", "HOA: v1\nStart: 0\nAcceptance: 1 Inf(3)\n--BODY--\n--END--\n");
    for (args, file, line, words) in [
        (["fair", &bad, "--pairs", &pairs], "bad.aut", 2, "state 7 does not exist"),
        (["fair", &good, "--pairs", &wrong_pairs], "bad.pairs", 2, "state 9 does not exist"),
        (["fair", &good, "--spec", &hoa], "bad.hoa", 3, "acceptance set 3 does not exist"),
    ] {
        let ran = raddle(&args);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.contains(&format!("{file}:{line}")), "{ran:?}");
    }
    let names = write("names.pairs", "# who\n\"T1\" -> \"x == 1\"\n");
    let ran = raddle(&["fair", "examples/live/mutex.rdl", "--pairs", &names]);
    assert!(ran.status == 2 && ran.stderr.contains("there is no global variable `x`"), "{ran:?}");
    assert!(ran.stderr.contains("names.pairs:2"), "{ran:?}");
    let ran = raddle(&["fair", "examples/live/mutex.rdl", "--pairs", &pairs, "--labels", &pairs]);
    assert!(ran.status == 2 && ran.stderr.contains("`--labels` has no meaning"), "{ran:?}");
    let ran = raddle(&["fair", &good, "--pairs", &pairs, "--model", "tso"]);
    assert!(ran.status == 2 && ran.stderr.contains("`--model` has no meaning"), "{ran:?}");
    let ran = raddle(&["fair", &dead, "--pairs", &pairs]);
    assert!(ran.status == 2 && ran.stderr.contains("state 1 has no successor"), "{ran:?}");
    assert_eq!(raddle(&["fair", &dead, "--pairs", &pairs, "--dead-ends", "stay"]).status, 0);
    assert_eq!(raddle(&["fair", &good]).status, 2, "there is no objective");
    let ran = raddle(&["fair", "Cargo.toml", "--pairs", &pairs]);
    assert!(ran.status == 2 && ran.stderr.contains(".aut"), "{ran:?}");
}

#[test]
fn limits_end_in_unknown() {
    let ran = raddle(&["fair", "examples/fair/lock.aut", "--pairs", "examples/fair/lock.pairs", "--time-limit", "0"]);
    assert_eq!(ran.status, 3, "{ran:?}");
}
