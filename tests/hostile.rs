//! Whatever names, values and messages an input has, nothing of it reaches the terminal but visible characters.

mod common;

use common::{Ran, raddle};
use raddle_testkit::Scratch;
use std::fs;

/// Hidden text, cursor movements, a title, a bell, the same with one-byte introducers, reordered text, ends of lines.
const EVIL: &str = "\u{1b}[8m\u{1b}[2A\u{1b}]0;title\u{7}\u{9b}2J\u{202e}\u{2066}\u{2028}\u{7f}\r";

/// No character that does anything to a terminal, but for ends of lines.
fn harmless(text: &str) -> bool {
    let harmful = |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !text.replace('\n', "").contains(harmful)
}

/// The same for text with colours: an escape character begins a colour, and none that an input has chosen.
fn harmless_in_colour(text: &str) -> bool {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default();
    let plain = |part: &str| {
        let end = part.find('m')?;
        let colour = &part[..end];
        (colour != "8" && colour.chars().all(|c| c.is_ascii_digit() || c == ';')).then(|| part[end + 1..].to_owned())
    };
    harmless(first) && parts.all(|part| plain(part).is_some_and(|rest| harmless(&rest)))
}

/// Runs the command for a person with and without colours, and for a program; returns what it said without colours.
fn clean(args: &[&str], status: i32) -> [Ran; 2] {
    let human = raddle(args);
    let json = raddle(&[args, &["--json"]].concat());
    for ran in [&human, &json] {
        assert_eq!(ran.status, status, "{args:?}: {ran:?}");
        assert!(harmless(&ran.stdout) && harmless(&ran.stderr), "{args:?}: {ran:?}");
    }
    let coloured = coloured(args);
    assert_eq!(coloured.status, status, "{args:?}: {coloured:?}");
    assert!(harmless_in_colour(&coloured.stdout) && harmless_in_colour(&coloured.stderr), "{args:?}: {coloured:?}");
    [human, json]
}

/// Runs the command as on a terminal: elsewhere escape sequences are taken out whoever made them.
fn coloured(args: &[&str]) -> Ran {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(common::root()).args(args).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
    common::ran(command.output().expect("the command starts"))
}

#[test]
fn colours_are_told_from_what_an_input_sends() {
    assert!(coloured(&["check", "examples/sb.rdl", "--model", "tso"]).stdout.contains("\u{1b}["), "there are colours");
    assert!(harmless_in_colour("\u{1b}[1m\u{1b}[31mviolated\u{1b}[0m: x\n"));
    for text in ["\u{1b}[2Jx", "a\u{1b}[8mb", "\u{1b}]0;title\u{7}", "\u{1b}[1m\u{9b}2J", "a\rb", EVIL] {
        assert!(!harmless_in_colour(text), "{text:?}");
    }
}

fn write(scratch: &Scratch, name: &str, text: &str) -> String {
    scratch.file(name, text).display().to_string()
}

/// The characters as escapes of `.rdl` and of C.
fn escaped(form: impl Fn(u32) -> String) -> String {
    EVIL.chars().map(|c| form(u32::from(c))).collect()
}

#[test]
fn names_and_messages_of_programs() {
    let evil = escaped(|code| format!("\\u{{{code:x}}}"));
    let text = format!(
        "param `N{evil}` = 1;\nglobal `x{evil}`: i32;\nglobal `m{evil}`: mutex;\n\
         fn `left{evil}`() {{ lock `m{evil}`; store `x{evil}`, 1; print \"p{evil}\"; unlock `m{evil}`; }}\n\
         fn main() {{ spawn `left{evil}`(); lock `m{evil}`; let `r{evil}` = load `x{evil}`; unlock `m{evil}`; \
         assert `r{evil}` == 0, \"message {evil}\"; }} // {EVIL}\n"
    );
    let dir = Scratch::new();
    let file = write(&dir, "names.rdl", &text.replace(&format!("param `N{evil}` = 1;\n"), ""));
    let graph = dir.join("graph.dot").display().to_string();
    let saved = dir.join("schedule").display().to_string();
    let page = dir.join("page.html").display().to_string();
    let [_, json] = clean(&["check", &file, "--dot", &graph, "--html", &page, "--save-schedule", &saved], 1);
    let drawn = fs::read_to_string(&page).expect("written");
    assert!(harmless(&drawn) && drawn.contains("message"), "{drawn}");
    assert!(json.json()["violation"]["message"].as_str().is_some_and(|message| message.contains(EVIL)), "{json:?}");
    assert!(harmless(&fs::read_to_string(graph).expect("written")));
    assert!(harmless(&fs::read_to_string(&saved).expect("written")));
    clean(&["compare", &file], 1);
    clean(&["replay", &file, &format!("@{saved}"), "--full"], 1);
    assert!(harmless(&raddle(&["show", &file]).stdout));
    clean(&["check", &write(&dir, "wrong.rdl", &format!("{text}fn `f{evil}`() {{ nonsense {EVIL} }}"))], 2);
    clean(&["check", &write(&dir, "value.rdl", "param N = 1; fn main() { }"), "-D", &format!("N={EVIL}")], 2);
}

#[test]
fn a_deadlock_names_what_is_waited_for() {
    let evil = escaped(|code| format!("\\u{{{code:x}}}"));
    let text = format!(
        "global `m{evil}`: mutex;\nfn `left{evil}`() {{ lock `m{evil}`; }}\n\
         fn main() {{ lock `m{evil}`; let t = spawn `left{evil}`(); join t; }}\n"
    );
    let scratch = Scratch::new();
    let file = write(&scratch, "deadlock.rdl", &text);
    let [human, _] = clean(&["check", &file], 1);
    assert!(human.stdout.contains("waits for the mutex m"), "{human:?}");
}

#[test]
fn texts_of_c_programs() {
    let evil = escaped(|code| format!("\\x{code:x}\"\""));
    let text = format!(
        "extern int printf(const char *, ...);\nextern void reach_error(void);\n\
         int main(void) {{ printf(\"{evil}\\n\"); /* {EVIL} */ reach_error(); }}\n"
    );
    let dir = Scratch::new();
    let file = write(&dir, "printed.i", &text);
    let [_, json] = clean(&["check", &file], 1);
    let schedule = json.json()["violation"]["schedule"].as_str().expect("a schedule").to_owned();
    clean(&["replay", &file, &schedule], 1);
    clean(&["check", &write(&dir, "wrong.i", &format!("# 7 \"{EVIL}.c\"\nint main(void) {{ {EVIL} }}"))], 2);
}

#[test]
fn names_of_files() {
    let dir = Scratch::new();
    let name = |end: &str| format!("{EVIL}\n{end}");
    let rdl = write(&dir, &name(".rdl"), "global x: i32; fn main() { store x, 1; assert false, \"no\"; }");
    let [_, json] = clean(&["check", &rdl], 1);
    assert_eq!(json.json()["file"], rdl.as_str());
    clean(&["compare", &rdl], 1);
    clean(&["replay", &rdl, "0"], 1);
    assert!(harmless(&raddle(&["show", &rdl]).stdout));
    clean(&["trace", &write(&dir, &name(".trace"), "thread a:\n write x\n")], 0);
    clean(&["check", &write(&dir, &name("-wrong.rdl"), "nonsense")], 2);
    clean(&["trace", &write(&dir, &name("-wrong.trace"), "nonsense")], 2);
    clean(&["trace", &format!("nowhere{EVIL}")], 2);
    clean(&["check", &format!("nowhere{EVIL}.rdl")], 2);
    clean(&["check", &rdl, "--dot", &format!("no/such{EVIL}/x.dot")], 2);
    clean(&["check", &rdl, "--html", &format!("no/such{EVIL}/x.html")], 2);
    let page = dir.join("page.html").display().to_string();
    clean(&["check", &rdl, "--html", &page], 1);
    assert!(harmless(&fs::read_to_string(page).expect("written")));
    clean(&["replay", &rdl, &format!("@nowhere{EVIL}")], 2);
}

#[test]
fn words_of_traces() {
    let dir = Scratch::new();
    let text = format!("thread a:\n note {EVIL}\n write x\nthread b{EVIL}:\n read x from initial\n");
    clean(&["trace", &write(&dir, "names.trace", &text)], 2);
    let quoted = serde_json::Value::from(EVIL);
    let json = format!("{{\"threads\": [{{\"name\": {quoted}, \"events\": []}}]}}");
    clean(&["trace", &write(&dir, "names.json", &json)], 2);
    // Marks that are no control characters are allowed in names.
    let odd = "\u{2028}";
    let clash = format!("thread a{odd}:\n write x{odd}\n read x{odd} from initial\n");
    let graph = dir.join("graph.dot").display().to_string();
    clean(&["trace", &write(&dir, "clash.trace", &clash), "--dot", &graph], 1);
    assert!(harmless(&fs::read_to_string(graph).expect("written")));
}

/// A line of a history.
fn event(process: &str, kind: &str, method: &str, key: &str, value: &str) -> String {
    let text = |text: &str| serde_json::Value::from(text);
    let (process, method, key, value) = (text(process), text(method), text(key), text(value));
    format!(r#"{{"process":{process},"type":"{kind}","f":{method},"key":{key},"value":{value}}}"#) + "\n"
}

#[test]
fn values_of_histories() {
    let dir = Scratch::new();
    let (process, key) = (&format!("p{EVIL}"), &format!("k{EVIL}"));
    let both = |method: &str, value: &str| {
        event(process, "invoke", method, key, value) + &event(process, "ok", method, key, value)
    };
    let page = dir.join("page.html").display().to_string();
    let written = both("write", &format!("w{EVIL}"));
    let good = write(&dir, "good.jsonl", &(written.clone() + &both("read", &format!("w{EVIL}"))));
    let bad = write(&dir, "bad.jsonl", &(written.clone() + &both("read", &format!("r{EVIL}"))));
    for (file, status) in [(&good, 0), (&bad, 1)] {
        for engine in ["auto", "search"] {
            let [human, json] = clean(&["lin", file, "--type", "map", "--engine", engine, "--html", &page], status);
            assert!(human.stdout.contains("read(k\u{fffd}[8m"), "{human:?}");
            assert!(json.stdout.contains("k\\u001b[8m"), "{json:?}");
            let drawn = fs::read_to_string(&page).expect("written");
            assert!(harmless(&drawn) && drawn.contains("read(k"), "{drawn}");
        }
        clean(&["lin", file, "--type", "map", "--stream"], status);
    }
    let object = &json_of(&bad)["explanation"]["object"];
    assert_eq!(object, key.as_str(), "nothing is lost for a program");
    for (name, text) in [
        ("method.jsonl", both(&format!("fly{EVIL}"), "1")),
        ("twice.jsonl", event(process, "invoke", "write", key, "1").repeat(2)),
        ("shape.jsonl", written.clone() + EVIL),
        ("log.log", format!("# @object stack\n[1] call push {EVIL}\n[1] return {EVIL}\n[1] call fly {EVIL}\n")),
        ("list.edn", format!("{{:process 0, :type :{EVIL}, :f :read, :value \"{EVIL}\"}}\n")),
        ("intervals.txt", format!("# stack\npush {EVIL} 1 x{EVIL}\n")),
        ("log.txt", format!("INFO jepsen.util - {EVIL}\t:invoke\t:write\t{EVIL}\n")),
        ("kv.txt", format!("INVOKE 0 {EVIL} k 5\n")),
    ] {
        let file = write(&dir, name, &text);
        clean(&["lin", &file], 2);
        clean(&["lin", &file, "--stream"], 2);
    }
    clean(&["lin", &format!("nowhere{EVIL}")], 2);
    clean(&["lin", &good, "--type", "map", "--html", &format!("no/such{EVIL}/x.html")], 2);
}

fn json_of(file: &str) -> serde_json::Value {
    raddle(&["lin", file, "--type", "map", "--json"]).json()
}

#[test]
fn histories_on_standard_input() {
    use std::process::Stdio;
    let mut text = event("p", "invoke", "enqueue", "k", EVIL) + &event("p", "ok", "enqueue", "k", EVIL);
    let other = format!("other{EVIL}");
    text += &(event("p", "invoke", "dequeue", "k", &other) + &event("p", "ok", "dequeue", "k", &other));
    for args in [&["lin", "-"][..], &["lin", "-", "--stream"], &["lin", "-", "--stream", "--json"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"));
        command.args(args).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command starts");
        let mut input = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut input, text.as_bytes()).expect("the command reads");
        drop(input);
        let ran = common::ran(child.wait_with_output().expect("the command ends"));
        assert_eq!(ran.status, 1, "{args:?}: {ran:?}");
        assert!(ran.stdout.contains("other") && harmless_in_colour(&ran.stdout), "{args:?}: {ran:?}");
    }
}

#[test]
fn command_lines() {
    for args in [
        &["check", "examples/sb.rdl", "--model"][..],
        &["check", "examples/sb.rdl", "--engine"],
        &["check", "examples/sb.rdl", "--engine-option"],
        &["check", "examples/sb.rdl", "--time-limit"],
        &["check", "examples/sb.rdl", "--no"],
        &["check", "examples/sb.rdl", "-D"],
        &["replay", "examples/sb.rdl"],
        &["trace", "examples/traces/sb.trace", "--format"],
        &["show", "examples/sb.rdl"],
        &[],
    ] {
        clean(&[args, &[EVIL]].concat(), 2);
        clean(&[args, &[&format!("--{EVIL}")]].concat(), 2);
        clean(&[args, &["--\u{1b}[8m"]].concat(), 2);
    }
}
