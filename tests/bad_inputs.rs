//! Whatever the input, the command ends with a message and the right exit status, never with a panic.

mod common;

use common::{Ran, raddle};
use raddle_testkit::Scratch;
use std::fs;

/// Bad input: status 2, nothing on standard output, and this on standard error. With `--json` the same as an object.
fn refused(args: &[&str], message: &str) -> Ran {
    let ran = raddle(args);
    assert_eq!(ran.status, 2, "{args:?}: {ran:?}");
    assert!(ran.stderr.contains(message), "{args:?}: {}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "", "{args:?}");

    let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let json = raddle(&json);
    assert_eq!(json.status, 2, "{json:?}");
    assert!(json.json()["error"]["message"].is_string(), "{json:?}");
    assert_eq!(json.stderr, "", "{json:?}");
    ran
}

#[test]
fn files_that_are_no_programs() {
    let dir = Scratch::new();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        fs::write(&path, bytes).expect("a file for the test");
        path.display().to_string()
    };
    refused(&["check", "no/such/file.rdl"], "cannot read `no/such/file.rdl`");
    refused(&["check", &dir.display().to_string()], "do not know what language");
    let directory = dir.join("directory.rdl");
    fs::create_dir(&directory).expect("a directory");
    refused(&["check", &directory.display().to_string()], "cannot read");
    refused(&["check", &file("empty.rdl", b"")], "main");
    refused(&["check", &file("latin1.rdl", b"fn main() {}\n// caf\xe9\n")], "is not UTF-8 text");
    refused(&["check", &file("zeros.rdl", &[0; 100])], "error");
    refused(&["check", &file("notes.txt", b"hello")], "do not know what language");
    refused(&["check", &file("noextension", b"hello")], ".rdl");
    refused(&["show", &file("wrong.rdl", b"fn main( {")], "wrong.rdl:1:10");
    let huge = file("huge.rdl", b"");
    fs::File::options().write(true).open(&huge).and_then(|f| f.set_len(65 << 20)).expect("a sparse file");
    refused(&["check", &huge], "at most");
}

#[test]
fn traces_of_nothing() {
    let dir = Scratch::new();
    let file = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::write(&path, text).expect("a file for the test");
        path.display().to_string()
    };
    refused(&["trace", &file("empty.trace", "")], "the trace has no events");
    refused(&["trace", &file("comment.trace", "# nothing\n")], "the trace has no events");
    refused(&["trace", &file("empty.json", r#"{"threads": []}"#)], "the trace has no events");
    refused(&["trace", &file("nobody.trace", ""), "--mailbox", "queue"], "the trace has no messages");
}

#[test]
fn only_c_has_several_files() {
    refused(
        &["check", "examples/sb.rdl", "examples/mp.rdl"],
        "`examples/sb.rdl` is not in C, so `examples/mp.rdl` means nothing",
    );
}

#[test]
fn a_large_file_is_read() {
    let dir = Scratch::new();
    let path = dir.join("large.rdl");
    let mut text = String::from("global x: i32;\nfn main() {\n");
    for _ in 0..200_000 {
        text += "    store x, 1;\n";
    }
    fs::write(&path, text + "}\n").expect("a file for the test");
    let ran = raddle(&["check", &path.display().to_string(), "--max-depth", "300000"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn deep_nesting_is_refused() {
    let dir = Scratch::new();
    let path = dir.join("deep.rdl");
    let text = format!("fn main() {{ assert {}1{} == 1; }}", "(".repeat(100_000), ")".repeat(100_000));
    fs::write(&path, text).expect("a file for the test");
    refused(&["check", &path.display().to_string()], "nest");
}

#[test]
fn litmus_tests_that_are_none() {
    let dir = Scratch::new();
    let number = std::cell::Cell::new(0);
    let wrong = |text: &str, message: &str, place: &str| {
        number.set(number.get() + 1);
        let path = dir.join(format!("{}.litmus", number.get()));
        fs::write(&path, text).expect("a file for the test");
        let ran = refused(&["check", &path.display().to_string()], message);
        assert!(ran.stderr.contains(&format!(".litmus:{place}")), "{place}: {}", ran.stderr);
    };
    let c = |body: &str| format!("C test\n{{ }}\nP0 (atomic_int *x, int *y) {{\n  {body}\n}}\nexists (x=1)\n");
    wrong("", "there is no litmus test here", "1:1");
    wrong("AArch64 MP\n{}\n", "the flavour AArch64 are not supported", "1:1");
    wrong("Z80 MP\n{}\n", "`Z80` is no flavour", "1:1");
    wrong("C MP\n", "the initial state is missing", "2:1");
    wrong("C MP\nResult=Perhaps\n{}", "nothing to expect", "2:1");
    wrong("C MP\n{}\nexists (x=1)", "there are no threads", "3:1");
    wrong("C MP\n{}\nP1 () { }", "expected the thread `P0`", "3:1");
    wrong("C MP\n{ x=1 y=2; }", "expected `;`", "2:7");
    wrong(&c("READ_ONCE(*x);"), "`READ_ONCE` is not supported", "4:3");
    wrong(&c("int r = z;"), "`z` is not declared", "4:11");
    wrong(&c("atomic_load_explicit(x, memory_order_release);"), "a load cannot release", "4:3");
    wrong(&c("atomic_store_explicit(x, 1);"), "the memory order is missing", "4:3");
    wrong(&c("atomic_store_explicit(x, 1, strong);"), "`strong` is no memory order", "4:31");
    wrong(&c("struct s *p;"), "`struct` is not supported", "4:3");
    wrong(&c("goto nowhere;"), "there is no label `nowhere`", "4:8");
    wrong(&c("y->next = 1;"), "structs are not supported", "4:4");
    wrong("C MP\n{}\nP0 (int *x) { *x = 1; }\nexists (q=1)", "there is no location `q`", "4:9");
    wrong("C MP\n{}\nP0 (int *x) { *x = 1; }\nexists (3:r=1)", "there is no thread 3", "4:9");
    wrong("C MP\n{}\nP0 (int *x) { *x = 1; ", "does not end", "3:");
    wrong(
        "X86 MP\n{}\nP0 | P1 ;\nMOV [x],$1 ;\n CLFLUSH [x] | NOP ;\nexists (x=1)",
        "`CLFLUSH` is not supported",
        "5:2",
    );
    wrong("X86 MP\n{}\nP0 ;\nMOV x,$1 ;\nexists (x=1)", "`x` is no register", "4:5");
    wrong("X86 MP\n{}\nP0 ;\nJNE out ; out: ;\nexists (x=1)", "nothing has set the flags", "4:1");
    wrong("X86 MP\n{}\nP0 ;\nMOV [x],[y] ;\nexists (x=1)", "only one operand can be in memory", "4:5");
    refused(&["check", "examples/litmus/SB.litmus", "-D", "N=1"], "a litmus test has no parameters");
    refused(&["check", "examples/litmus/SB.litmus", "--states", "--model", "all"], "final states belong to one");
    refused(&["check", "examples/dekker.rdl", "--states"], "only litmus tests have final states");
}

#[test]
fn options_that_make_no_sense() {
    let dekker = "examples/dekker.rdl";
    refused(&["check", dekker, "--model", "arm"], "there are sc, tso, pso, wra, ra, sra and rc11");
    refused(&["check", dekker, "--engine", "magic"], "no engine is called `magic`");
    refused(&["check", dekker, "--no", "luck"], "no property is called `luck`");
    refused(&["check", dekker, "--only", "race", "--no", "race"], "cannot be used with");
    refused(&["check", dekker, "--time-limit", "soon"], "a time looks like");
    refused(&["check", dekker, "--max-memory", "lots"], "an amount of memory looks like");
    refused(&["check", dekker, "--loop-bound", "x"], "--loop-bound");
    refused(&["check", dekker, "--colour"], "unexpected argument");
    refused(&["check", dekker, "-D", "N=3"], "the program has no parameter `N`");
    refused(&["check", "examples/fib.rdl", "-D", "K=three"], "not a number");
    refused(&["check", "examples/fib.rdl", "-D", "=3"], "NAME=VALUE");
    refused(&["chekc", dekker], "unrecognized subcommand");
    refused(&["check", dekker, "--model", "tso", "--dot", "no/such/directory/x.dot"], "cannot write");
    refused(&["check"], "FILE");
}

#[test]
fn orderings_of_traces() {
    let scratch = Scratch::new();
    let refuse = |event: &str, options: &[&str], why: &str| {
        let path = scratch.file("wrong.trace", format!("thread a:\n    {event}\n"));
        let path = path.display().to_string();
        let args: Vec<&str> = ["trace", &path].into_iter().chain(options.iter().copied()).collect();
        refused(&args, why);
    };
    refuse("write.acq x = 1", &[], "a write cannot have the memory ordering `acq`");
    refuse("read.rel x = 0", &[], "it may be one of na, rlx, acq, sc");
    refuse("fence.rlx", &[], "a fence cannot have the memory ordering `rlx`");
    refuse("write. x = 1", &[], "a write cannot have the memory ordering ``");
    refuse("note.sc b", &[], "this event has no memory ordering");
    refuse("fence", &["--model", "wra"], "`--model ra` knows full fences");
}

#[test]
fn schedules_that_do_not_fit() {
    let dekker = "examples/dekker.rdl";
    refused(&["replay", dekker, "0 x"], "`x` is not a step");
    refused(&["replay", dekker, "9"], "there is no thread T9");
    refused(&["replay", dekker, "1"], "step 1 of the schedule");
    refused(&["replay", dekker, "0 0 1!"], "no such write to flush");
    refused(&["replay", dekker, "@no-such-file"], "cannot read `no-such-file`");
    let named = |schedule: &str, model: &str, why: &str| {
        refused(&["replay", "examples/mp.rdl", schedule, "--model", model], why);
    };
    named("0 0 1@0 1@5", "rc11", "it can be put at 0 to 0 among the writes of its location");
    named("0 0 1@0 2<1.7", "rc11", "the event that it is to read from writes nothing there, or not yet");
    named("0 0 1<i", "rc11", "it writes; what is named is a place");
    named("0 0 2@0", "rc11", "it reads; what is named is a write");
    named("0 0 1@0 1@0 2<1.1 2<i", "ra", "it contradicts the order of the writes of a location");
    refused(
        &["replay", dekker, "0", "--no", "deadlock"],
        "only `race`, `memory`, `lock`, `assert` and `error` can be left out",
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .current_dir(common::root())
        .args(["show", "examples/dekker.rdl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let ran = common::ran(child.wait_with_output().expect("the command ends"));
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}

/// `/dev/full` takes nothing, like a disk without room.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    use std::process::{Command, Stdio};
    for args in [
        &["check", "examples/dekker.rdl"][..],
        &["check", "examples/dekker.rdl", "--json"],
        &["check", "examples/dekker.rdl", "--model", "tso"],
        &["check", "examples/fib.rdl", "-D", "K=6", "--max-executions", "10"],
        &["check", "no/such/file.rdl", "--json"],
        &["compare", "examples/sb.rdl"],
        &["replay", "examples/dekker.rdl", "0 0"],
        &["show", "examples/dekker.rdl"],
        &["lin", "examples/histories/stack-good.log"],
        &["lin", "examples/histories/stack-good.log", "--stream", "--json"],
        &["trace", "examples/traces/mp.trace"],
        &["--help"],
        &["--version"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").expect("there is such a device");
        let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
            .current_dir(common::root())
            .args(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .expect("the command starts");
        let ran = common::ran(output);
        assert_eq!(ran.status, 2, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("error: cannot write to standard output: "), "{args:?}: {ran:?}");
    }
    for args in [
        ["check", "examples/dekker.rdl", "--model", "tso", "--dot", "/dev/full"],
        ["check", "examples/dekker.rdl", "--model", "tso", "--save-schedule", "/dev/full"],
        ["replay", "examples/dekker.rdl", "0 0", "--full", "--dot", "/dev/full"],
        ["trace", "examples/traces/mp.trace", "--model", "tso", "--dot", "/dev/full"],
        ["lin", "examples/histories/stack-good.log", "--type", "stack", "--html", "/dev/full"],
    ] {
        refused(&args, "cannot write");
    }
}

#[test]
fn switches_that_the_engine_does_not_have() {
    let file = common::root().join("examples/sb.rdl").display().to_string();
    let check = |engine: &str, switch: &str, message: &str| {
        refused(&["check", &file, "--engine", engine, "--engine-option", switch], message);
    };
    check("vc", "rot=1", "vc has no switch `rot`; there are root, shortcut, signals, orders");
    check("dc", "closure=off", "dc has no switch `closure`");
    check("rvf", "closure=maybe", "`closure` is on or off, not `maybe`");
    check("rf", "closure=off", "the engine `rf` has no switches; `raddle check --help` says who has which");
    check("auto", "burst", "the engine `auto` has no switches");
}

#[test]
fn engines_that_do_not_take_the_program() {
    let file = |name: &str| common::root().join("examples").join(name).display().to_string();
    let ran = refused(&["check", &file("atomic.rdl"), "--engine", "rf"], "does not take atomic blocks");
    assert!(!ran.stderr.contains("-->"), "no line is to blame: {}", ran.stderr);
    refused(&["check", &file("sb.rdl"), "--engine", "rvf", "--model", "tso"], "only sc; use --engine optimal");
}
