//! What the command prints, word for word. `INSTA_UPDATE=always cargo test --test output` accepts changes.

mod common;

use common::raddle;
use raddle_testkit::Scratch;
use std::fs;

/// The output with times and memory, which differ from run to run, left out.
fn steady(text: &str) -> String {
    let steady_line = |line: &str| match line.split_once(" blocked, ") {
        Some((counts, _)) => format!("{counts} blocked, [time and memory]"),
        None => without_time(line),
    };
    text.lines().map(steady_line).collect::<Vec<_>>().join("\n")
}

/// A line of the table of engines without its time, and without the blanks before it, of which a longer time leaves fewer.
fn without_time(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let found = (0..words.len()).find_map(|at| Some((at, time_at(&words[at..])?)));
    let (at, length, mask) = match found {
        Some((at, length)) => (at, length, "[time]"),
        None if line.starts_with("engine ") && line.ends_with(" time") => (words.len() - 1, 1, "time"),
        None => return line.to_owned(),
    };
    let before = words[..at].join(" ");
    format!("{}  {}", before.trim_end(), [&[mask], &words[at + length..]].concat().join(" "))
}

/// How many words at the beginning are a time, however long it is: `0.02 s`, `12.0 s`, `3 min 20 s`, `5 h 12 min`.
fn time_at(words: &[&str]) -> Option<usize> {
    let number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.parse::<f64>().is_ok();
    match words {
        [first, "min", second, "s", ..] | [first, "h", second, "min", ..] if number(first) && number(second) => Some(4),
        [first, "s" | "s,", ..] if number(first) => Some(2),
        _ => None,
    }
}

#[test]
fn times_of_any_length_are_left_out() {
    let bare = "dc       holds     16,807        0          0  88,272";
    let reason = "  the limit of 20000 executions was reached";
    for time in ["  0.02 s", "  9.99 s", "  12.0 s", "  99.9 s", "3 min 20 s", "59 min 0 s", "12 h 12 min"] {
        assert_eq!(without_time(&format!("{bare}  {time}")), format!("{bare}  [time]"), "{time}");
        assert_eq!(without_time(&format!("{bare}  {time}{reason}")), format!("{bare}  [time]{reason}"), "{time}");
    }
    assert_eq!(without_time("read in 12.5 s, at most 8 things"), "read in  [time] at most 8 things");
    assert_eq!(without_time("engine  events        time"), "engine  events  time");
    assert_eq!(without_time("rf       does not take atomic blocks"), "rf       does not take atomic blocks");
}

/// The command, what it printed, and how it ended.
fn transcript(args: &[&str]) -> String {
    let ran = raddle(args);
    let words: Vec<String> =
        args.iter().map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() }).collect();
    let mut text = format!("$ raddle {}\n{}", words.join(" "), steady(&ran.stdout));
    if !ran.stderr.is_empty() {
        text += &format!("\n[on standard error]\n{}", ran.stderr);
    }
    format!("{text}\n[exit status {}]\n", ran.status)
}

macro_rules! prints {
    ($name:ident, $($arg:literal),+ $(,)?) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(transcript(&[$($arg),+]));
        }
    };
}

prints!(help, "--help");
prints!(check_help, "check", "--help");
prints!(replay_help, "replay", "--help");
prints!(lin_help, "lin", "--help");
prints!(a_history_that_holds, "lin", "examples/histories/stack-good.log");
prints!(a_history_that_does_not, "lin", "examples/histories/register-stale-read.edn");
prints!(a_history_as_a_stream, "lin", "examples/histories/queue-critical-pair.log", "--stream");
prints!(dekker_holds_under_sc, "check", "examples/dekker.rdl");
prints!(dekker_breaks_under_tso, "check", "examples/dekker.rdl", "--model", "tso");
prints!(dekker_breaks_under_pso, "check", "examples/dekker.rdl", "--model", "pso");
prints!(a_race, "check", "examples/race.rdl");
prints!(a_deadlock, "check", "examples/philosophers.rdl");
prints!(a_use_after_free, "check", "examples/use_after_free.rdl");
prints!(show, "show", "examples/dekker.rdl");
prints!(compare_help, "compare", "--help");
prints!(engines_agree_that_it_holds, "compare", "bench/programs/write_read.rdl", "-D", "N=4");
prints!(engines_agree_that_it_breaks, "compare", "examples/dekker.rdl", "--model", "tso");
prints!(an_engine_may_refuse, "compare", "examples/atomic.rdl");
prints!(engines_at_a_limit, "compare", "bench/programs/write_read.rdl", "-D", "N=4", "--max-executions", "300");
prints!(a_limit, "check", "examples/fib.rdl", "-D", "K=6", "--max-executions", "1000");

#[test]
fn a_mistake_in_a_program() {
    let dir = Scratch::new();
    fs::write(dir.join("wrong.rdl"), "global x: i32;\n\nfn main() {\n    stor x, 1;\n    let r = load z;\n}\n")
        .expect("a file for the test");
    let ran = raddle(&["check".as_ref(), dir.join("wrong.rdl").as_os_str()]);
    let text = ran.stderr.replace(&dir.display().to_string(), "DIR");
    insta::assert_snapshot!(text);
    assert_eq!(ran.status, 2);
}

#[test]
fn a_loop_that_does_not_end_is_named() {
    let dir = Scratch::new();
    let path = dir.join("endless.rdl");
    let text =
        "global x: i32;\n\nfn main() {\n    while true {\n        let r = load x;\n        store x, r + 1;\n    }\n}\n";
    fs::write(&path, text).expect("a file for the test");
    let path = path.display().to_string();
    let ran = raddle(&["check", &path, "--max-depth", "500"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.starts_with("unknown: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("endless.rdl:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("--loop-bound"), "{}", ran.stdout);
    let bounded = raddle(&["check", &path, "--loop-bound", "5"]);
    assert_eq!(bounded.status, 3, "nothing comes to its end: {bounded:?}");
    assert!(bounded.stdout.contains("(0 blocked, 1 cut off at the loop bound)"), "{}", bounded.stdout);
}

#[test]
fn a_saved_schedule_is_replayed() {
    let dir = Scratch::new();
    let schedule = dir.join("dekker.schedule").display().to_string();
    let graph = dir.join("dekker.dot").display().to_string();
    let found =
        raddle(&["check", "examples/dekker.rdl", "--model", "tso", "--save-schedule", &schedule, "--dot", &graph]);
    assert_eq!(found.status, 1);
    assert!(fs::read_to_string(graph).expect("written").starts_with("digraph execution {"));
    let replayed = raddle(&["replay", "examples/dekker.rdl", &format!("@{schedule}"), "--model", "tso"]);
    assert_eq!(replayed.status, 1, "{replayed:?}");
    insta::assert_snapshot!(replayed.stdout);
}

#[test]
fn json_is_one_object_and_says_the_same() {
    let violated = raddle(&["check", "examples/dekker.rdl", "--model", "tso", "--json"]);
    assert_eq!((violated.status, violated.stdout.lines().count()), (1, 1));
    let answer = violated.json();
    assert_eq!(answer["verdict"], "violated");
    assert_eq!(answer["violation"]["property"], "assert");
    assert_eq!(answer["violation"]["file"], "examples/dekker.rdl");
    assert!(answer["violations"][0]["execution"]["steps"].is_array());
    let holds = raddle(&["check", "examples/dekker.rdl", "--json"]).json();
    assert_eq!(holds["verdict"], "holds");
    assert!(holds["violation"].is_null());
    assert!(holds["peak_memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    let wrong = raddle(&["check", "nowhere.rdl", "--json"]).json();
    assert!(wrong["error"]["message"].as_str().is_some_and(|message| message.contains("nowhere.rdl")));
}

#[test]
fn json_has_the_fields_of_its_schema() {
    let text = fs::read_to_string(common::root().join("docs/json-schema.json")).expect("the schema is there");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("the schema is JSON");
    let keys = |value: &serde_json::Value| -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys
    };
    let documented = |name: &str| keys(&schema["$defs"][name]["properties"]);
    let answer = raddle(&["check", "examples/dekker.rdl", "--model", "tso", "--json"]).json();
    // What only litmus tests have is looked at there.
    let all_but_litmus: Vec<String> = documented("answer").into_iter().filter(|key| key != "litmus").collect();
    assert_eq!(keys(&answer), all_but_litmus);
    assert_eq!(keys(&answer["violation"]), documented("violation"));
    assert_eq!(keys(&answer["violations"][0]), documented("violation_with_execution"));
    assert_eq!(keys(&answer["violations"][0]["execution"]), documented("execution"));
    let schedule = answer["violation"]["schedule"].as_str().expect("a schedule");
    let replayed = raddle(&["replay", "examples/dekker.rdl", schedule, "--model", "tso", "--json"]).json();
    assert_eq!(keys(&replayed), documented("replayed"));
    let robust = raddle(&["robust", "examples/dekker.rdl", "--fences", "--json"]).json();
    assert_eq!(keys(&robust), documented("robust"));
    assert_eq!(keys(&robust["fences"][0][0]), documented("spot"));
    for program in ["examples/live/mutex.rdl", "examples/live/philosophers.rdl"] {
        let live = raddle(&["check", program, "--live=waits", "--json"]).json();
        assert_eq!(keys(&live), documented("liveness"));
        let kind = if program.contains("mutex") { "lasso" } else { "violation_with_execution" };
        assert_eq!(keys(&live["violation"]), documented(kind));
    }
    let driven = raddle(&["check", "examples/live/consensus.rdl", "--live", "-D", "ROUNDS=0", "--json"]).json();
    assert_eq!(keys(&driven), documented("liveness"));
    assert_eq!(keys(&driven["violation"]), documented("scheduler"));
    let wrong = raddle(&["check", "nowhere.rdl", "--json"]).json();
    assert_eq!(keys(&wrong), documented("failure"));
    assert_eq!(keys(&wrong["error"]), documented("error"));
    assert_eq!((&wrong["command"], &wrong["file"]), (&"check".into(), &"nowhere.rdl".into()));
    let usage = raddle(&["replay", "--json"]).json();
    assert_eq!((&usage["command"], &usage["file"]), (&"replay".into(), &serde_json::Value::Null));
}

/// Programs, whether they are robust, and where fences make them so.
#[test]
fn tso_makes_a_difference_where_it_does() {
    type Lines = &'static [&'static [u64]];
    let cases: &[(&[&str], i32, Lines)] = &[
        (&["examples/dekker.rdl"], 1, &[&[21, 29]]),
        (&["examples/dekker_fenced.rdl"], 0, &[&[]]),
        (&["examples/peterson_forever.rdl"], 1, &[&[24]]),
        (&["examples/peterson_forever.rdl", "-D", "FENCED=1"], 0, &[&[]]),
        (&["examples/lamport.rdl"], 1, &[&[20, 27]]),
        (&["examples/spinlock.rdl"], 0, &[&[]]),
        (&["examples/ticket_lock.rdl"], 0, &[&[]]),
        (&["examples/mp.rdl"], 0, &[&[]]),
        (&["examples/bakery.rdl"], 1, &[&[13, 16], &[13, 17]]),
        (&["examples/trencher/dekker.trencher"], 1, &[&[10, 30]]),
    ];
    for &(program, status, fences) in cases {
        let args: Vec<&str> =
            ["robust"].into_iter().chain(program.iter().copied()).chain(["--fences", "--json"]).collect();
        let ran = raddle(&args);
        let answer = ran.json();
        assert_eq!(ran.status, status, "{program:?}");
        let lines = |set: &serde_json::Value| -> Vec<u64> {
            let places = set.as_array().expect("a set").iter();
            places.map(|place| place["line"].as_u64().expect("a line")).collect()
        };
        let found: Vec<Vec<u64>> = answer["fences"].as_array().expect("sets").iter().map(lines).collect();
        assert_eq!(found, fences, "{program:?}");
        assert_eq!(answer["replay"].is_string(), status == 1, "{program:?}");
    }
    let told = raddle(&["robust", "examples/dekker.rdl"]);
    let cycle = "cycle: T1 step 3 comes before T1 step 4, which reads what is overwritten by T2 step 5, which comes before T2 step 7, which reads what is overwritten by T1 step 3\n";
    assert!(told.stdout.replace('\u{a0}', " ").contains(cycle), "{}", told.stdout);
}

/// Written as automata and read again, a program has the same verdict.
#[test]
fn automata_say_the_same() {
    let dir = raddle_testkit::Scratch::new();
    for (name, models) in [
        ("peterson_forever", &[("sc", 0), ("tso", 1)][..]),
        ("lamport", &[("sc", 0), ("tso", 1)]),
        ("heartbeat", &[("sc", 0)]),
        ("store_loop", &[("sc", 0)]),
    ] {
        let shown = raddle(&["show", &format!("examples/{name}.rdl"), "--to", "trencher"]);
        assert_eq!(shown.status, 0, "{name}: {shown:?}");
        let file = dir.file(&format!("{name}.trencher"), &shown.stdout).display().to_string();
        for &(model, status) in models {
            let checked = raddle(&["check", &file, "--engine", "explicit", "--model", model]);
            assert_eq!(checked.status, status, "{name} under {model}: {checked:?}");
        }
    }
    let refused = raddle(&["show", "examples/dekker.rdl", "--to", "trencher"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("automata have no words for"), "{}", refused.stderr);
}

#[test]
fn every_object_of_json_has_the_same_head() {
    for (command, args) in [
        ("check", &["examples/sb.rdl"][..]),
        ("compare", &["examples/sb.rdl"]),
        ("replay", &["examples/sb.rdl", "0"]),
        ("robust", &["examples/sb.rdl"]),
        ("trace", &["examples/traces/sb.trace"]),
        ("lin", &["examples/histories/stack-good.log"]),
        ("lin", &["examples/histories/queue-critical-pair.log", "--stream"]),
    ] {
        let args: Vec<&str> = [command].into_iter().chain(args.iter().copied()).chain(["--json"]).collect();
        let answer = raddle(&args).json();
        assert_eq!(
            (&answer["schema"], &answer["command"], &answer["file"]),
            (&1.into(), &command.into(), &args[1].into())
        );
        assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
        assert!(answer["seconds"].is_number() && answer["cpu_seconds"].is_number(), "{answer}");
        assert!(answer["peak_memory_bytes"].is_number(), "{answer}");
    }
}

#[test]
fn a_history_in_json_has_the_fields_of_its_schema() {
    let text = fs::read_to_string(common::root().join("docs/json-schema.json")).expect("the schema is there");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("the schema is JSON");
    // Everything that is there is documented, and everything that has to be there is.
    let fits = |object: &serde_json::Value, name: &str| {
        let object = object.as_object().expect("an object");
        let documented = schema["$defs"][name]["properties"].as_object().expect("properties");
        assert!(object.keys().all(|key| documented.contains_key(key)), "{name}: {object:?}");
        let required = schema["$defs"][name]["required"].as_array().expect("a list");
        assert!(required.iter().filter_map(|key| key.as_str()).all(|key| object.contains_key(key)), "{name}");
    };
    let histories = fs::read_dir(common::root().join("examples/histories")).expect("there are examples");
    let mut seen = [0, 0];
    for history in histories.map(|entry| entry.expect("a file").path()) {
        let path = history.to_str().expect("UTF-8");
        let kind: &[&str] = if path.ends_with("set-queries.jsonl") { &["--type", "set"] } else { &[] };
        let answer = raddle(&[&["lin", path, "--json"], kind].concat()).json();
        fits(&answer, "history");
        let explanation = &answer["explanation"];
        let lists = [&answer["linearization"], &explanation["operations"], &explanation["called"]];
        lists.into_iter().filter_map(|list| list.as_array()).flatten().for_each(|one| fits(one, "history_operation"));
        seen[0] += 1;
        if explanation.is_object() {
            fits(explanation, "history_explanation");
            seen[1] += 1;
        }
    }
    assert!(seen[0] >= 8 && seen[1] >= 4, "{seen:?}");
    let stream = ["lin", "examples/histories/queue-critical-pair.log", "--stream", "--json"];
    fits(&raddle(&stream).json(), "history_stream");
}

#[test]
fn a_comparison_in_json_has_the_fields_of_its_schema() {
    let text = fs::read_to_string(common::root().join("docs/json-schema.json")).expect("the schema is there");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("the schema is JSON");
    let keys = |value: &serde_json::Value| -> std::collections::BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let documented = |name: &str| keys(&schema["$defs"][name]["properties"]);
    let ran = raddle(&["compare", "bench/programs/write_read.rdl", "-D", "N=3", "--json"]);
    assert_eq!((ran.status, ran.stdout.lines().count()), (0, 1));
    let comparison = ran.json();
    assert_eq!(keys(&comparison), documented("comparison"));
    assert_eq!((&comparison["agree"], &comparison["verdict"]), (&true.into(), &"holds".into()));
    let engine = |name: &str| {
        let engines = comparison["engines"].as_array().expect("a list");
        engines.iter().find(|engine| engine["engine"] == name).unwrap_or_else(|| panic!("{name} was asked"))["run"]
            .clone()
    };
    assert_eq!(keys(&engine("rf")), documented("run"));
    assert_eq!((&engine("optimal")["executions"], &engine("rf")["executions"]), (&36.into(), &16.into()));
    let wrong = raddle(&["compare", "nowhere.rdl", "--json"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.json()["error"]["message"].is_string());
}

#[test]
fn properties_can_be_switched_off() {
    let status = |args: &[&str]| raddle(args).status;
    assert_eq!(status(&["check", "examples/race.rdl"]), 1);
    assert_eq!(status(&["check", "examples/race.rdl", "--no", "race"]), 0);
    assert_eq!(status(&["check", "examples/race.rdl", "--only", "assert,deadlock"]), 0);
    assert_eq!(status(&["check", "examples/race.rdl", "--only", "race"]), 1);
}

#[test]
fn histories_are_checked() {
    let dir = Scratch::new();
    let lin = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::write(&path, text).expect("a file for the test");
        raddle(&["lin".as_ref(), path.as_os_str()])
    };
    let good = lin("good.txt", "# stack\npush 5 1 2\npop 5 3 4\n");
    assert_eq!((good.status, good.stdout.starts_with("holds")), (0, true), "{good:?}");
    let bad = lin("bad.txt", "# stack\npush 5 1 2\npop 6 3 4\n");
    assert_eq!((bad.status, bad.stdout.starts_with("violated")), (1, true), "{bad:?}");
    let nonsense = lin("nonsense.txt", "garbage\n");
    assert_eq!(nonsense.status, 2, "{nonsense:?}");
    assert!(nonsense.stderr.contains("nonsense.txt:1:1"), "{}", nonsense.stderr);
    let missing = raddle(&["lin", "no-such-file", "--json"]);
    assert_eq!(missing.status, 2);
    assert!(missing.json()["error"]["message"].is_string());
}

#[test]
fn colours_are_for_terminals_only() {
    let ran = raddle(&["check", "examples/dekker.rdl", "--model", "tso"]);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'));
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_prints_what_was_reached() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .current_dir(common::root())
        .args(["check", "examples/fib.rdl", "-D", "K=30"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // However slow the machine is: an interrupt before the command listens for it would just end the process.
    while !listens_for_interrupts(child.id()) {
        assert!(child.try_wait().expect("the command can be asked").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(killed.success());
    let ran = common::ran(child.wait_with_output().expect("the command ends"));
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("interrupted"), "{}", ran.stdout);
}

/// Whether the process handles SIGINT, by the mask of handled signals.
#[cfg(target_os = "linux")]
fn listens_for_interrupts(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (2 - 1) & 1 == 1)
}

#[test]
fn why_a_read_may_miss_a_write() {
    let dir = Scratch::new();
    let text = |store: &str, load: &str| {
        format!(
            "global data: i32; global flag: i32;\n\
             fn writer() {{ store.rlx data, 1; store.{store} flag, 1; }}\n\
             fn main() {{ spawn writer(); let f = load.{load} flag; let d = load.rlx data; assert f == 0 || d == 1; }}\n"
        )
    };
    let says = |store: &str, load: &str| {
        let file = dir.file("message.rdl", text(store, load));
        raddle(&["check", &file.display().to_string(), "--model", "rc11"]).stdout
    };
    let reader = "T0 step 4 reads flag with relaxed, not acquire";
    let writer = "T1 step 3 writes flag with relaxed, not release";
    let [first, second, both] = [says("rel", "rlx"), says("rlx", "acq"), says("rlx", "rlx")];
    assert!(first.contains(&format!("may miss T1 step 2: {reader}, so nothing orders them")), "{first}");
    assert!(second.contains(&format!("may miss T1 step 2: {writer}, so nothing orders them")), "{second}");
    assert!(both.contains(&format!("{writer}, and {reader}, so")), "{both}");
    assert!(says("rel", "acq").contains("holds"));
    // A fence that comes too late orders nothing.
    let late = text("rel", "rlx").replace("assert f", "fence.acq; assert f");
    let file = dir.file("late.rdl", late).display().to_string();
    let late = raddle(&["check", &file, "--model", "rc11"]).stdout;
    assert!(late.contains(&format!("may miss T1 step 2: {reader}, so nothing orders them")), "{late}");
}

/// A message through a flag, whose data is an ordinary access.
fn message(store: &str, load: &str) -> String {
    format!(
        "global data: i32; global flag: i32;\n\
         fn writer() {{\n  store.na data, 1;\n  {store} flag, 1;\n}}\n\
         fn main() {{\n  spawn writer();\n  let f = {load} flag;\n  if f != 0 {{\n    let d = load.na data;\n  }}\n}}\n"
    )
}

#[test]
fn why_two_accesses_race() {
    let dir = Scratch::new();
    let says = |text: String, model: &str| {
        let file = dir.file("race.rdl", text).display().to_string();
        raddle(&["check", &file, "--model", model]).stdout
    };
    let reader = "T0 step 4 (line 8) reads flag with relaxed, not acquire";
    let writer = "T1 step 3 (line 4) writes flag with relaxed, not release";
    // Races are judged by the declared orderings under every model.
    for model in ["sc", "tso", "pso", "sra", "ra", "rc11"] {
        let not_acquired = says(message("store.rel", "load.rlx"), model);
        let expected = format!("nothing orders them: {reader}, so it does not synchronise with T1 step 3 (line 4)\n");
        assert!(not_acquired.contains(&expected) || model == "tso" || model == "pso", "{model}: {not_acquired}");
        assert!(
            not_acquired.contains("reads flag with relaxed, not acquire, so it does not"),
            "{model}: {not_acquired}"
        );
        let not_released = says(message("store.rlx", "load.acq"), model);
        assert!(not_released.contains("(line 4) writes flag with relaxed, not release, so T0 step"), "{not_released}");
        assert!(not_released.contains("which reads it, does not synchronise with it\n"), "{not_released}");
        assert!(says(message("store.rel", "load.acq"), model).contains("holds"), "{model}");
    }
    let neither = says(message("store.rlx", "load.rlx"), "rc11");
    assert!(neither.contains(&format!("{writer}, and {reader}, so they do not synchronise\n")), "{neither}");
    let nothing = says(message("store.rel", "load.rlx").replace("if f != 0", "if f == 0"), "rc11");
    assert!(nothing.contains("no synchronisation leads from "), "{nothing}");
    // A fence stands in for the ordering, if it stands between.
    let fenced = message("fence.rel; store.rlx", "load.rlx").replace("{\n    let d", "{\n    fence.acq; let d");
    assert!(says(fenced.clone(), "rc11").contains("holds"));
    let too_early = fenced.replace("store.na data, 1;\n  fence.rel;", "fence.rel; store.na data, 1;\n ");
    let early = says(too_early, "rc11");
    assert!(early.contains("writes flag with relaxed, not release, so T0 step"), "{early}");
}

#[test]
fn why_two_accesses_race_in_json() {
    let dir = Scratch::new();
    let file = dir.file("race.rdl", message("store.rel", "load.rlx")).display().to_string();
    let object: serde_json::Value =
        serde_json::from_str(&raddle(&["check", &file, "--model", "rc11", "--json"]).stdout).expect("JSON");
    let violation = &object["violations"][0];
    let why = violation["why"][0].as_str().unwrap_or_default();
    assert!(why.contains("reads flag with relaxed, not acquire"), "{violation}");
    let steps = violation["execution"]["steps"].as_array().expect("steps");
    let race = &steps.last().expect("a failure")["race"];
    assert_eq!(race["with"], serde_json::json!({ "thread": 1, "index": 0 }), "{race}");
    assert_eq!(race["order"], "non_atomic");
}

/// An update continues the release sequence of the write that it reads, however weak it is.
#[test]
fn a_release_sequence_through_an_update_orders() {
    let dir = Scratch::new();
    let text = |first: &str, load: &str| {
        format!(
            "global data: i32; global flag: i32;\n\
             fn writer() {{ store.na data, 1; {first} flag, 1; }}\n\
             fn between() {{ let old = cas.rlx.rlx flag, 1, 2; }}\n\
             fn main() {{ spawn writer(); spawn between(); let f = {load} flag; if f == 2 {{ let d = load.na data; }} }}\n"
        )
    };
    let says = |text: String| {
        let file = dir.file("sequence.rdl", text).display().to_string();
        raddle(&["check", &file, "--model", "rc11"]).stdout
    };
    let ordered = says(text("store.rel", "load.acq"));
    assert!(ordered.contains("holds"), "{ordered}");
    let weak_load = says(text("store.rel", "load.rlx"));
    assert!(
        weak_load.contains("reads flag with relaxed, not acquire, so it does not synchronise with T2 step"),
        "{weak_load}"
    );
    assert!(!weak_load.contains("not release"), "the update need not release: {weak_load}");
    let weak_store = says(text("store.rlx", "load.acq"));
    assert!(
        weak_store.contains("T1 step 4 (line 2) writes flag with relaxed, not release, so T0 step"),
        "{weak_store}"
    );
    assert!(
        !weak_store.contains("T2 step 5 (line 3) writes"),
        "it is the first write that would have to release: {weak_store}"
    );
    // The same for a read that misses a write.
    let missed = text("store.rel", "load.rlx")
        .replace(".na", ".rlx")
        .replace("let d = load.rlx data;", "let d = load.rlx data; assert d == 1;");
    let missed = says(missed);
    assert!(missed.contains("may miss") && !missed.contains("not release"), "{missed}");
}

#[test]
fn why_two_accesses_of_a_c_program_race() {
    let dir = Scratch::new();
    let text = "#include <stdatomic.h>\n#include <pthread.h>\nint data; atomic_int flag;\n\
                void *writer(void *arg) {\n  data = 1;\n  atomic_store_explicit(&flag, 1, memory_order_release);\n  return 0;\n}\n\
                int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, writer, 0);\n\
                  if (atomic_load_explicit(&flag, memory_order_relaxed))\n    data++;\n  pthread_join(t, 0);\n}\n";
    let file = dir.file("race.c", text).display().to_string();
    for model in ["sc", "rc11"] {
        let said = raddle(&["check", &file, "--model", model]).stdout;
        let reason = "T0 step 4 (line 12) reads flag with relaxed, not acquire, so it does not synchronise with T1 step 3 (line 6)";
        assert!(said.contains(reason), "{model}: {said}");
    }
    let fixed = dir.file("fixed.c", text.replace("relaxed", "acquire")).display().to_string();
    let said = raddle(&["check", &fixed, "--model", "rc11"]).stdout;
    assert!(said.contains("holds"), "{said}");
}

/// Code hosts and editors get the violation at its line, and the run by threads.
#[test]
fn violations_are_written_for_code_hosts() {
    let dir = Scratch::new();
    let file = dir.join("log.sarif").display().to_string();
    let log = |args: &[&str], status: i32| -> serde_json::Value {
        let ran = raddle(&[&["check"], args, &["--sarif", &file]].concat());
        assert_eq!(ran.status, status, "{ran:?}");
        serde_json::from_str(&std::fs::read_to_string(&file).expect("it was written")).expect("it is JSON")
    };
    let broken = log(&["examples/c/spsc_ring.c", "-D", "BROKEN"], 1);
    assert_eq!(broken["version"], "2.1.0");
    let run = &broken["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "race");
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"race".into(), &"error".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "examples/c/spsc_ring.c");
    assert_eq!(place["region"]["startLine"], 40);
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("threads");
    let names: Vec<&str> = flows.iter().filter_map(|flow| flow["message"]["text"].as_str()).collect();
    assert_eq!(names, ["T0 main", "T1 producer", "T2 consumer"]);
    let orders = flows.iter().flat_map(|flow| flow["locations"].as_array().expect("steps"));
    let mut orders: Vec<u64> = orders.filter_map(|step| step["executionOrder"].as_u64()).collect();
    orders.sort_unstable();
    assert_eq!(orders, (1..=7).collect::<Vec<u64>>(), "every step is in one flow");
    assert_eq!(log(&["examples/c/spsc_ring.c"], 0)["runs"][0]["results"], serde_json::json!([]));
    let refused = raddle(&["check", "examples/litmus/SB.litmus", "--sarif", &file]);
    assert!(refused.status == 2 && refused.stderr.contains("--sarif"), "{refused:?}");
}

const UNKNOWN_INPUT: &str = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nextern void abort(void);
int main(void)\n{\n    int x = __VERIFIER_nondet_int();\n    if (x == 7) {\n        reach_error();\n        abort();\n    }\n    return 0;\n}\n";

#[test]
fn lines_for_editors_name_the_place_first() {
    let folder = Scratch::new();
    let file = folder.file("input.c", UNKNOWN_INPUT);
    let name = file.display().to_string();
    let ran = raddle(&["check", &name, "--short"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], format!("{name}:8:9: error: reach_error() is reached [error]"));
    assert!(lines.last().is_some_and(|line| line.starts_with(&format!("{name}: violated: "))), "{lines:?}");
    fs::write(&file, "int main(void) {\n  return }\n").expect("the folder can be written");
    let ran = raddle(&["check", &name, "--short"]);
    assert!(ran.stdout.starts_with(&format!("{name}:2:10: error: ")), "{}", ran.stdout);
}

#[test]
fn a_witness_names_the_file_the_input_and_the_place() {
    let folder = Scratch::new();
    let file = folder.file("input.c", UNKNOWN_INPUT);
    let witness = file.with_file_name("witness.yml");
    let (name, target) = (file.display().to_string(), witness.display().to_string());
    let ran = raddle(&["check", &name, "--witness", &target]);
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    let text = fs::read_to_string(&witness).expect("the witness is written");
    for line in [
        "- entry_type: \"violation_sequence\"",
        "    format_version: \"2.0\"",
        "      specification: \"CHECK( init(main()), LTL(G ! call(reach_error())) )\"",
        "      data_model: \"LP64\"",
        "            type: \"function_return\"",
        "              line: 6\n              column: 35",
        "              value: \"\\\\result == 7\"",
        "            type: \"target\"",
        "              line: 8\n              column: 9",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let hash = raddle::report::sha256(UNKNOWN_INPUT.as_bytes());
    assert!(text.contains(&format!("\"{hash}\"")), "{text}");
    // There is none of a program that holds.
    fs::remove_file(&witness).expect("it was there");
    fs::write(&file, "int main(void) { return 0; }").expect("the folder can be written");
    assert_eq!(raddle(&["check", &name, "--witness", &target]).status, 0);
    assert!(!witness.exists());
}
