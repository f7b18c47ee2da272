//! Patches of `raddle robust`: applied by the tools that people have, and checked again.

mod common;

use common::{Ran, ran, root};
use raddle_testkit::Scratch;
use std::path::Path;
use std::process::{Command, Stdio};

fn raddle_in(dir: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(dir).args(args).env("COLUMNS", "100").env_remove("RUST_BACKTRACE");
    ran(command.output().expect("the command starts"))
}

/// Applies a patch where the file is.
fn apply(dir: &Path, tool: &str) {
    let mut command = Command::new(tool);
    match tool {
        "patch" => command.args(["-p0", "--quiet", "--input", "fences.diff"]),
        _ => command.args(["apply", "-p0", "fences.diff"]),
    };
    let status = command.current_dir(dir).stdin(Stdio::null()).status().expect("the tool is there");
    assert!(status.success(), "{tool} takes the patch");
}

/// The fences of a patch, as lines that were added.
fn added(dir: &Path) -> usize {
    let patch = std::fs::read_to_string(dir.join("fences.diff")).expect("a patch");
    patch.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).count()
}

/// A copy of an example in a folder of its own.
fn copy(name: &str, change: &dyn Fn(String) -> String) -> (Scratch, String) {
    let text = std::fs::read_to_string(root().join("examples").join(name)).expect("the example is there");
    let dir = Scratch::new();
    let file = Path::new(name).file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    dir.file(&file, change(text).as_bytes());
    (dir, file)
}

#[test]
fn with_its_patch_a_program_is_robust() {
    let cases: &[(&str, &[&str], usize)] = &[
        ("dekker.rdl", &[], 2),
        ("peterson_forever.rdl", &[], 1),
        ("lamport.rdl", &[], 2),
        ("bakery.rdl", &[], 2),
        ("sb.rdl", &[], 1),
        ("c/dekker.c", &["-D", "BROKEN"], 1),
        ("c/peterson.c", &["-D", "BROKEN"], 1),
        ("c/bakery.c", &["-D", "RELAXED"], 2),
        ("c/lamport_fast.c", &["-D", "BROKEN"], 2),
        ("c/chase_lev.c", &["-D", "BROKEN"], 1),
    ];
    for (number, &(name, defines, fences)) in cases.iter().enumerate() {
        let (dir, file) = copy(name, &|text| text);
        let ask = |more: &[&str]| raddle_in(&dir, &[&["robust", file.as_str()], defines, more].concat());
        let first = ask(&["--patch", "fences.diff"]);
        println!("{name}\n{}", first.stdout);
        assert_eq!(first.status, 1, "{name}: {first:?}");
        assert!(first.stdout.contains("patch:"), "{name}: {}", first.stdout);
        assert_eq!(added(&dir), fences, "{name}");
        apply(&dir, if number % 2 == 0 { "patch" } else { "git" });
        let again = ask(&[]);
        assert_eq!(again.status, 0, "{name}: {}", again.stdout);
    }
}

#[test]
fn with_its_patch_a_program_is_safe() {
    for (name, defines) in
        [("dekker.rdl", &[][..]), ("c/lamport_fast.c", &["-D", "BROKEN"]), ("c/peterson.c", &["-D", "BROKEN"])]
    {
        let (dir, file) = copy(name, &|text| text);
        let first = raddle_in(
            &dir,
            &[&["robust", &file, "--fences", "for=safety", "--patch", "fences.diff"], defines].concat(),
        );
        assert_eq!(first.status, 1, "{name}: {first:?}");
        let check = || {
            let how = ["check", &file, "--engine", "explicit", "--model", "tso", "--no", "race"];
            raddle_in(&dir, &[&how[..], defines].concat()).status
        };
        assert_eq!(check(), 1, "{name}");
        apply(&dir, "patch");
        assert_eq!(check(), 0, "{name}");
    }
}

/// One store is late for a load, and nobody cares: not robust, and no fence is needed.
#[test]
fn what_is_safe_needs_no_fence() {
    let dir = Scratch::new();
    let text = "global x: i32;\nglobal y: i32;\nfn left() {\n    store x, 1;\n    let r = load y;\n}\nfn right() {\n    store y, 1;\n    let r = load x;\n}\nfn main() {\n    spawn left();\n    spawn right();\n}\n";
    let file = dir.file("careless.rdl", text.as_bytes()).display().to_string();
    let safety = raddle_in(&dir, &["robust", &file, "--fences", "for=safety", "--patch", "none.diff"]);
    assert_eq!(safety.status, 1, "{safety:?}");
    assert!(safety.stdout.contains("none is needed"), "{}", safety.stdout);
    assert!(!dir.join("none.diff").exists());
    let robust = raddle_in(&dir, &["robust", "--fences", &file]);
    assert_eq!(robust.stdout.matches("fence:").count(), 2, "{}", robust.stdout);
    let wrong = raddle_in(&dir, &["robust", &file, "--fences", "for=luck"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("for=robustness or for=safety"), "{}", wrong.stderr);
}

/// The text says that nothing is to be changed, and no file is written.
#[test]
fn what_is_robust_needs_no_patch() {
    let (dir, file) = copy("c/seqlock.c", &|text| text);
    let answer = raddle_in(&dir, &["robust", &file, "--patch", "none.diff"]);
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(answer.stdout.contains("no line is to be changed"), "{}", answer.stdout);
    assert!(!dir.join("none.diff").exists());
}

/// A property that fails under SC is not mended by fences.
#[test]
fn some_things_no_fence_mends() {
    let (dir, file) = copy("lost_update.rdl", &|text| text);
    let answer = raddle_in(&dir, &["robust", &file, "--fences", "for=safety", "--json"]).json();
    assert_eq!(answer["fences"], serde_json::json!([]), "{answer}");
    assert!(answer["notes"].to_string().contains("no fences help"), "{answer}");
}

/// Lines that end in their own way stay as they are.
#[test]
fn ends_of_lines_stay() {
    for (change, tool) in [
        (&(|text: String| text.replace('\n', "\r\n")) as &dyn Fn(String) -> String, "git"),
        (&|text: String| text.trim_end().to_owned(), "patch"),
    ] {
        let (dir, file) = copy("dekker.rdl", change);
        assert_eq!(raddle_in(&dir, &["robust", &file, "--patch", "fences.diff"]).status, 1);
        apply(&dir, tool);
        let robust = raddle_in(&dir, &["robust", &file]);
        assert_eq!(robust.status, 0, "{robust:?}");
        let text = std::fs::read_to_string(dir.join(&file)).expect("the file is there");
        let returns = text.matches('\r').count();
        assert!(returns == 0 || returns == text.matches('\n').count());
    }
}
