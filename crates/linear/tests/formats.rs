//! Every format, detected by its content, gives the same verdict on the same history; every malformed line is named.

use std::io::{self, Read};
use std::time::Duration;

use raddle_linear::check::Engine;
use raddle_linear::decide::{Decided, Error, Settings, decide, levels, transactions, watch};
use raddle_linear::format::InputError;
use raddle_linear::format::edn::value_from;
use raddle_linear::levels::Standing;
use raddle_linear::meaning::{FailedCas, NilReads, Words};
use raddle_linear::object::ObjectKind;
use raddle_linear::stream::StreamVerdict;
use raddle_linear::txn::Workload;
use raddle_linear::value::Value;
use raddle_linear::verdict::Verdict;
use raddle_testkit::{Random, damaged};

#[derive(Debug, PartialEq)]
enum Outcome {
    Holds,
    Violated,
    Unknown,
}

/// The verdict on a history that is read whole, or as a stream.
fn run(input: impl Read, settings: &Settings, stream: bool) -> Result<Outcome, Error> {
    Ok(if stream {
        match watch(input, settings)?.verdict {
            StreamVerdict::Holds => Outcome::Holds,
            StreamVerdict::Violated { .. } => Outcome::Violated,
            StreamVerdict::Unknown(_) => Outcome::Unknown,
        }
    } else {
        match decide(input, settings)?.report.verdict {
            Verdict::Holds(_) => Outcome::Holds,
            Verdict::Violated(_) => Outcome::Violated,
            Verdict::Unknown(_) => Outcome::Unknown,
        }
    })
}

fn verdict(text: &str, settings: &Settings) -> Result<Outcome, Error> {
    run(text.as_bytes(), settings, false)
}

fn plain(text: &str) -> Outcome {
    verdict(text, &Settings::default()).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// The line and the message of the error that reading this must give.
fn complaint_with(text: &str, settings: &Settings, stream: bool) -> (u32, String) {
    match run(text.as_bytes(), settings, stream) {
        Err(Error::Input(InputError::Line { line, message, .. })) => (line, message),
        other => panic!("an error about a line was expected, not {other:?}, for\n{text}"),
    }
}

fn complaint(text: &str) -> (u32, String) {
    complaint_with(text, &Settings::default(), false)
}

#[test]
fn json_lines_of_every_object() {
    let event = |process: u32, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let both = |f: &str, call: &str, ok: &str| event(0, "invoke", f, call) + &event(0, "ok", f, ok);
    let cases: [(&str, String, String); 11] = [
        (
            "stack",
            both("push", "1", "1") + &both("push", "2", "2") + &both("pop", "null", "2"),
            both("pop", "null", "1") + &both("pop", "null", "null"),
        ),
        (
            "queue",
            both("enqueue", "1", "1") + &both("enqueue", "2", "2") + &both("dequeue", "null", "1"),
            both("dequeue", "null", "null"),
        ),
        (
            "set",
            both("add", "1", "[1,true]") + &both("add", "1", "[1,false]") + &both("contains", "1", "[1,true]"),
            both("remove", "1", "[1,false]"),
        ),
        (
            "multiset",
            both("add", "1", "[1,true]") + &both("remove", "1", "[1,true]"),
            both("contains", "1", "[1,true]"),
        ),
        (
            "register",
            both("write", "1", "1") + &both("cas", "[1,2]", "[1,2]") + &both("read", "null", "2"),
            both("read", "null", "1"),
        ),
        ("map", both("put", "1", "1") + &both("get", "null", "1"), both("get", "null", "2")),
        (
            "counter",
            both("inc", "null", "null") + &both("add", "4", "4") + &both("read", "null", "5"),
            both("fetch-add", "1", "[1,4]"),
        ),
        (
            "log",
            both("append", "1", "[1,0]") + &both("append", "2", "2") + &both("read", "null", "[1,2]"),
            both("read", "null", "[2,1]"),
        ),
        (
            "lock",
            both("acquire", "null", "null") + &both("try-lock", "null", "false") + &both("release", "null", "null"),
            both("release", "null", "null"),
        ),
        (
            "priority-queue",
            both("insert", "10", "10") + &both("insert", "9", "9") + &both("extract-min", "null", "9"),
            both("extract-min", "null", "9"),
        ),
        (
            "deque",
            both("push-back", "1", "1") + &both("push-front", "2", "2") + &both("pop-back", "null", "1"),
            both("pop-back", "null", "1"),
        ),
    ];
    for (kind, good, wrong) in cases {
        let settings = Settings { object: Some(kind.parse().expect("a kind")), ..Settings::default() };
        assert_eq!(verdict(&good, &settings).expect("good"), Outcome::Holds, "{kind}");
        let bad =
            if kind == "stack" { both("push", "1", "1") + &both("push", "2", "2") + &wrong } else { good + &wrong };
        assert_eq!(verdict(&bad, &settings).expect("bad"), Outcome::Violated, "{kind}");
    }
}

const STACK_LOG: &str = "# @object atomic-stack\n# a comment\n\n  [1] call push 1\n[2] call pop\n[1] return\n[2] return 1\n[7] call Push(b<1,2>)\n[7] return\n";

#[test]
fn event_logs() {
    assert_eq!(plain(STACK_LOG), Outcome::Holds);
    assert_eq!(plain("# @object stack\n[1] call pop(5)\n[1] return\n"), Outcome::Violated);
    assert_eq!(
        plain("# @object queue\n[1] call add 1\n[1] return\n[1] call remove\n[1] return empty\n"),
        Outcome::Violated
    );
    assert_eq!(
        plain("# @object set\n[1] call add 1\n[1] return true\n[1] call contains 1\n[1] return true\n"),
        Outcome::Holds
    );
    assert_eq!(complaint("# @object stack\n[1] call pop(5)\n[1] return 6\n").0, 3);
    assert_eq!(complaint("[1] call push 1\n").0, 1);
    assert_eq!(complaint("# @object stack\n[1] call push 1\ncrash\n").0, 3);
    assert_eq!(complaint("# @object stack\n[1] call shove 1\n").0, 2);
}

#[test]
fn interval_lists() {
    assert_eq!(plain("# stack\npush 1 1 2\npop 1 5 6\n"), Outcome::Holds);
    assert_eq!(plain("# queue\nenq 1 1 2\nenq 2 3 4\ndeq 2 5 6\ndeq 1 7 8\n"), Outcome::Violated);
    // Equal readings invent no order: these inserts overlap.
    assert_eq!(plain("# queue\nenq 1 1 2\nenq 2 2 4\ndeq 2 5 6\ndeq 1 7 8\n"), Outcome::Holds);
    assert_eq!(complaint("# stack\npush 1 1\n").0, 2);
    assert_eq!(complaint("# stack\npush 1 5 2\n").0, 2);
}

#[test]
fn edn_one_map_a_line_or_in_a_vector() {
    let lines = "{:process 0, :type :invoke, :f :write, :value 3, :time 1}\n{:process 0, :type :ok, :f :write, :value 3, :time 2}\n\
                 {:process :nemesis, :type :info, :f :start, :value nil, :time 3}\n\
                 #jepsen.history.Op{:process 1, :type :invoke, :f :read, :value nil, :time 4}\n{:process 1 :type :ok :f :read :value 3 :time 5}\n";
    assert_eq!(plain(lines), Outcome::Holds);
    assert_eq!(plain(&format!("[{lines}]")), Outcome::Holds);
    assert_eq!(plain(&lines.replace(":f :read :value 3", ":f :read :value 4")), Outcome::Violated);
    let kv = "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 9 0 y\"}\n{:process 0, :type :ok, :f :append, :key \"0\", :value \"x 9 0 y\"}\n\
              {:process 1, :type :invoke, :f :get, :key \"1\", :value nil}\n{:process 1, :type :ok, :f :get, :key \"1\", :value \"\"}\n\
              {:process 1, :type :invoke, :f :get, :key \"0\", :value nil}\n{:process 1, :type :ok, :f :get, :key \"0\", :value \"x 9 0 y\"}\n";
    assert_eq!(plain(kv), Outcome::Holds);
    let open = "{:process 0, :type :invoke, :f :read}\n{:process 0,\n :type :invoke, :f :write\n\n";
    assert_eq!(complaint(open), (2, "the input ends inside a form".to_owned()));
    assert_eq!(complaint("{:process 0 :type :invoke :f :read}\n{:process 0 :type :sometimes :f :read}\n").0, 2);
    let independent = "{:process 0, :type :invoke, :f :write, :value [5 3]}\n{:process 0, :type :ok, :f :write, :value [5 3]}\n{:process 0, :type :invoke, :f :read, :value [6 nil]}\n{:process 0, :type :ok, :f :read, :value [6 nil]}\n";
    let settings = Settings { independent: true, object: Some(ObjectKind::Register), ..Settings::default() };
    assert_eq!(verdict(independent, &settings).expect("a verdict"), Outcome::Holds);
}

/// An input that comes byte by byte.
struct Dripping<'a>(&'a [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.len().min(buffer.len()).min(1);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn edn_may_come_in_pieces_with_comments_tags_and_forms_to_ignore() {
    let call = "{:process 0, :type :invoke, :f :write, :value \"a ]} \\\" ; b\"}";
    let end = "{:process 0, :type :ok, :f :write, :value \"a ]} \\\" ; b\"}";
    let read = |value: &str| {
        format!("{{:process 1 :type :invoke :f :read}}\n{{:process 1 :type :ok :f :read :value {value}}}\n")
    };
    let good = "\"a ]} \\\" ; b\"";
    for between in [
        "\n",
        " ; a comment with } and \" in it\n",
        "#_ {:process 7}",
        "#_ #_ 1 [2 \"]\"] ",
        "#jepsen.history.Op ",
        "\r\n,,\r\n",
        " #a #b\n#c",
    ] {
        for (value, expected) in [(good, Outcome::Holds), ("\"a\"", Outcome::Violated)] {
            let text = format!("{call}{between}{end}{between}{}", read(value));
            assert_eq!(plain(&text), expected, "{text}");
            let dripping = run(Dripping(text.as_bytes()), &Settings::default(), true);
            assert_eq!(dripping.unwrap_or_else(|error| panic!("{error}: {text}")), expected, "{text}");
            let wrapped = format!("\u{feff}[{text}]");
            assert_eq!(plain(&wrapped), expected, "{wrapped}");
        }
    }
    // Numbers that are none are values, and forms may be left out anywhere.
    let list = "{:process 0 :type :invoke :f :write :value [1 2 #_ 3]}{:process 0 :type :ok :f :write :value [1 2]}";
    assert_eq!(plain(&format!("{list}{}", read("[1 2]"))), Outcome::Holds);
    assert_eq!(plain(&format!("{list}{}", read("[1 #_ #_ 4 [5] 2]")).replace(" 2", " ##Inf")), Outcome::Holds);
    for (text, line, message) in [
        ("{:process 0 :type :invoke :f :read]}", 1, "a closing bracket without an opening one"),
        ("\n{:process 0 :type :invoke :f}", 2, "a map with a key and no value"),
        ("{:process 0 :type :invoke :f :read :value \"x", 1, "the input ends inside a text"),
        ("{:process 99999999999999999999 :type :invoke :f :read}", 1, "the process `99999999999999999999` is no whole"),
        ("{:process 0 :type :invoke :f :read :f :write}", 1, "the field :f is given twice"),
        ("{:process 0 :type :invoke :f :read :value {1 2}}", 1, "a map cannot be a value of a history"),
        ("{:process 0 :type :invoke :f :read}\n 5 ", 2, "expected a map"),
        ("{:process 0 :type :invoke :f :read}\n}", 2, "a closing bracket without an opening one"),
    ] {
        let found = complaint(text);
        assert!(found.0 == line && found.1.starts_with(message), "{text}: {found:?}");
    }
    assert_eq!(
        plain(
            "{:process :nemesis :type :info :f :start :value {:n1 #{1 2}}}{:process 0 :type :invoke :f :write :value 1}{:process 0 :type :ok :f :write :value 1}"
        ),
        Outcome::Holds
    );
}

#[test]
fn what_cannot_be_told_is_said_with_what_helps() {
    for (text, help) in [
        ("", "the input is empty"),
        ("\n \n\t\r\n", "the input is empty"),
        ("\u{feff}", "the input is empty"),
        ("[]", "the history has no event"),
        ("; nothing\n", "the history has no event"),
        ("[{\"process\": 0, \"type\": \"invoke\", \"f\": \"read\"}]\n", "one object a line"),
        ("{:process 0 :type :invoke :f :txn :value [[:r 1 nil]]}\n", "--txn"),
        ("# nothing that is known\n\n\n5 6 7\n", "line 4"),
    ] {
        let error = verdict(text, &Settings::default()).expect_err(text).to_string();
        assert!(error.contains(help), "{text}: {error}");
    }
}

#[test]
fn reading_ends_with_the_time_limit() {
    let pair = "{:process 0 :type :invoke :f :write :value 1}{:process 0 :type :ok :f :write :value 1}\n";
    let late = Settings { time_limit: Some(Duration::ZERO), ..Settings::default() };
    for clocks in [false, true] {
        let with =
            |value: &str| pair.replace(":value 1", &format!(":value {value}{}", if clocks { " :time 1" } else { "" }));
        let text = with("1").repeat(2_000);
        let found = decide(text.as_bytes(), &late).expect("an answer").report.verdict;
        assert!(matches!(&found, Verdict::Unknown(why) if why.contains("while the history was read")), "{found:?}");
        let found = levels(text.as_bytes(), &late).expect("an answer").levels;
        assert!(found.iter().all(|(_, standing)| matches!(standing, Standing::Unknown(_))), "{found:?}");
        let (read, found) =
            transactions(with("[]").repeat(2_000).as_bytes(), &late, Workload::ListAppend).expect("an answer");
        assert!(read.txns.is_empty() && found.stopped, "{found:?}");
    }
    assert_eq!(plain(&pair.repeat(2_000)), Outcome::Holds);
}

#[test]
fn jepsen_console_logs_and_failed_compare_and_sets() {
    let log = "INFO  jepsen.util - 0\t:invoke\t:write\t3\nINFO  jepsen.util - 0\t:ok\t:write\t3\nINFO  jepsen.util - 1 \t:invoke :cas \t[3 4] \t:hint 0\n\
               INFO  jepsen.util - 1\t:fail\t:cas\t[3 4]\nINFO  jepsen.util - 2\t:invoke\t:write\t9\nINFO  jepsen.util - 2\t:info\t:write\t:timed-out\n\
               INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok\t:read\t3\n";
    assert_eq!(plain(log), Outcome::Holds);
    // Taken as an observation, the failure is wrong: the register held 3 throughout.
    let observe =
        Settings { words: Words { failed_cas: FailedCas::Observe, ..Words::default() }, ..Settings::default() };
    assert_eq!(verdict(log, &observe).expect("a verdict"), Outcome::Violated);
    assert_eq!(
        plain(&log.replace(":ok\t:read\t3", ":ok\t:read\t9")),
        Outcome::Holds,
        "a write that timed out may have happened"
    );
}

#[test]
fn key_value_text() {
    let log = "INVOKE 0 put k 5\nRETURN 0\nINVOKE 1 get k\nRETURN 1 5\nINVOKE 0 cas k 5 6\nRETURN 0 true\nINVOKE 1 get other\nRETURN 1 nil\nINVOKE 2 append k \"x y\"\n";
    assert_eq!(plain(log), Outcome::Holds);
    assert_eq!(plain(&log.replace("RETURN 1 5", "RETURN 1 6")), Outcome::Violated);
    assert_eq!(complaint("INVOKE 0 put k 5\nRETURN\n").0, 2);
}

#[test]
fn the_compact_json_spelling() {
    let text = "{\"t\":1,\"thread\":4,\"op\":77,\"ev\":\"call\",\"m\":\"push\",\"v\":\"a\"}\n{\"t\":2,\"op\":77,\"ev\":\"ret\"}\n\
                {\"t\":3,\"thread\":4,\"op\":78,\"ev\":\"call\",\"m\":\"pop\"}\n{\"t\":4,\"op\":78,\"ev\":\"ret\",\"v\":\"a\"}\n";
    assert_eq!(plain(text), Outcome::Holds);
}

#[test]
fn clock_readings_order_the_events_and_ties_invent_nothing() {
    let line = |time: u32, process: u32, kind: &str, f: &str, value: &str| {
        format!("{{\"time\":{time},\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let write = |start, end, process, value: &str| {
        line(start, process, "invoke", "write", value) + &line(end, process, "ok", "write", value)
    };
    let read = |start, end, process, value: &str| {
        line(start, process, "invoke", "read", "null") + &line(end, process, "ok", "read", value)
    };
    // Out of order in the file.
    assert_eq!(plain(&(read(50, 60, 1, "1") + &write(10, 20, 0, "1"))), Outcome::Holds);
    assert_eq!(plain(&(write(10, 20, 0, "1") + &write(21, 30, 0, "2") + &read(50, 60, 1, "1"))), Outcome::Violated);
    assert_eq!(plain(&(write(10, 20, 0, "1") + &write(20, 30, 2, "2") + &read(50, 60, 1, "1"))), Outcome::Holds);
}

#[test]
fn histories_of_several_objects_are_checked_one_by_one() {
    let event = |object: &str, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":0,\"object\":\"{object}\",\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let both =
        |object: &str, f: &str, call: &str, ok: &str| event(object, "invoke", f, call) + &event(object, "ok", f, ok);
    let good = both("a", "push", "1", "1")
        + &both("b", "push", "1", "1")
        + &both("a", "pop", "null", "1")
        + &both("b", "pop", "null", "1");
    assert_eq!(plain(&good), Outcome::Holds);
    assert_eq!(plain(&(good + &both("a", "pop", "null", "1"))), Outcome::Violated);
}

/// Bytes that never end, without being in memory.
struct Endless {
    start: Vec<u8>,
    left: u64,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.start.is_empty() {
            let taken = self.start.len().min(out.len());
            out[..taken].copy_from_slice(&self.start[..taken]);
            self.start.drain(..taken);
            return Ok(taken);
        }
        let taken = self.left.min(out.len() as u64) as usize;
        out[..taken].fill(b'x');
        self.left -= taken as u64;
        Ok(taken)
    }
}

#[test]
fn a_line_of_a_gibibyte_is_refused_before_it_is_in_memory() {
    for start in [
        "{\"process\":\"",
        "{:process 0, :type :invoke, :f \"",
        "# @object stack\n[1] call push ",
        "# stack\npush ",
        "INFO jepsen.util - ",
        "INVOKE 0 put ",
    ] {
        for stream in [false, true] {
            let endless = Endless { start: start.as_bytes().to_vec(), left: 1 << 30 };
            match run(endless, &Settings::default(), stream) {
                Err(Error::Input(InputError::Line { message, .. })) => {
                    assert!(message.contains("longer than"), "{message}")
                }
                Err(Error::Input(InputError::Whole(message))) => {
                    assert!(stream && message.contains("cannot be streamed"), "{message}")
                }
                other => panic!("{start}: {other:?}"),
            }
        }
    }
}

#[test]
fn hostile_lines_are_named() {
    let ok = "{\"process\":0,\"type\":\"invoke\",\"f\":\"push\",\"value\":1}\n";
    let cases = [
        (format!("{ok}{{\"process\":0,\"type\":\"ok\",\"f\":\"push\",\"val"), 2, ""),
        ("{\"process\":0,\"type\":\"ok\",\"f\":\"push\",\"value\":1}\n".to_string(), 1, "has called nothing"),
        (format!("{ok}{ok}"), 2, "still open"),
        (format!("{ok}{{\"process\":0,\"type\":\"ok\",\"f\":\"pop\",\"value\":1}}\n"), 2, "called `push`"),
        (format!("{ok}{{\"process\":1,\"type\":\"invoke\",\"f\":\"fly\"}}\n"), 2, "no method"),
        (format!("{ok}[1,2]\n"), 2, "an object"),
        (format!("{ok}{{\"process\":1,\"type\":\"invoke\",\"f\":\"push\"}}\n"), 2, "needs a value"),
        (format!("{ok}{{\"process\":1,\"process\":1,\"type\":\"invoke\",\"f\":\"push\"}}\n"), 2, "twice"),
        (format!("{ok}{}\n", "[".repeat(100_000)), 2, ""),
        (format!("{ok}{{\"process\":0,\"type\":\"ok\",\"f\":\"push\",\"value\":{}}}\n", "[".repeat(100_000)), 2, ""),
    ];
    for stream in [false, true] {
        for (text, line, part) in &cases {
            let object = stream.then_some(ObjectKind::Queue);
            let (at, message) = complaint_with(text, &Settings { object, ..Settings::default() }, stream);
            assert_eq!(at, *line, "{message}");
            assert!(message.contains(part) || stream, "{message}");
        }
    }
    assert!(matches!(verdict("", &Settings::default()), Err(Error::Input(InputError::Whole(_)))));
    assert!(matches!(verdict("\n\n  \n", &Settings::default()), Err(Error::Input(InputError::Whole(_)))));
    assert!(verdict("hello\n", &Settings::default()).is_err());
    assert!(run(&b"{\"process\":0,\"type\":\"\xff\xfe\"}\n"[..], &Settings::default(), false).is_err());
}

#[test]
fn cut_and_garbled_input_never_panics() {
    let random = &mut Random::new(99);
    let samples = [
        STACK_LOG.to_string(),
        "# queue\nenq 1 1 2\nenq 2 2 4\ndeq 2 5 6\ndeq 1 7 8\n".to_string(),
        "[{:process 0, :type :invoke, :f :cas, :value [1 2]}\n {:process 0, :type :ok, :f :cas, :value [1 2]}]".to_string(),
        "INFO  jepsen.util - 0\t:invoke\t:write\t3\nINFO  jepsen.util - 0\t:ok\t:write\t3\n".to_string(),
        "INVOKE 0 put k 5\nRETURN 0\nINVOKE 1 get k\nRETURN 1 5\n".to_string(),
        "{\"process\":0,\"type\":\"invoke\",\"f\":\"add\",\"value\":1,\"time\":4}\n{\"process\":0,\"type\":\"ok\",\"f\":\"add\",\"value\":[1,true],\"time\":5}\n".to_string(),
    ];
    let pieces =
        [" ", "\n", "\"", "[", "]", "{", "}", "(", ")", ",", ":", "#", "\\", "-", "0", ":invoke", "RETURN", "nil"];
    for _ in 0..4_000 {
        let bytes = damaged(&samples, &pieces, random);
        for kind in [None, Some(ObjectKind::Set), Some(ObjectKind::Queue)] {
            let settings = Settings { object: kind, ..Settings::default() };
            let _ = run(&bytes[..], &settings, random.one_in(3));
        }
    }
}

#[test]
fn a_stream_of_many_different_values_is_held_in_little_memory() {
    let mut text = String::new();
    for value in 0..150_000 {
        text.push_str(&format!("{{\"process\":0,\"type\":\"invoke\",\"f\":\"enqueue\",\"value\":\"v{value}\"}}\n{{\"process\":0,\"type\":\"ok\",\"f\":\"enqueue\",\"value\":\"v{value}\"}}\n"));
        text.push_str(&format!("{{\"process\":1,\"type\":\"invoke\",\"f\":\"dequeue\"}}\n{{\"process\":1,\"type\":\"ok\",\"f\":\"dequeue\",\"value\":\"v{value}\"}}\n"));
    }
    let streamed = watch(text.as_bytes(), &Settings::default()).expect("a verdict");
    assert_eq!((&streamed.verdict, streamed.operations), (&StreamVerdict::Holds, 300_000));
    assert!(streamed.peak < 70_000, "{streamed:?}");
}

/// A history of one process in JSON lines: method, value on the call, value on the return.
fn one_by_one(ops: &[(&str, &str, &str)]) -> String {
    let event = |kind: &str, f: &str, value: &str| {
        format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    ops.iter().map(|(f, call, ok)| event("invoke", f, call) + &event("ok", f, ok)).collect()
}

/// What a violated history is said to hold under.
fn hints(text: &str) -> String {
    let report = decide(text.as_bytes(), &Settings::default()).expect("a verdict").report;
    assert!(matches!(report.verdict, Verdict::Violated(_)), "{report:?}");
    report.hints.join("\n")
}

/// The object that the answer names.
fn object_of(text: &str) -> String {
    let Decided { kind, report, .. } =
        decide(text.as_bytes(), &Settings::default()).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    assert!(matches!(report.verdict, Verdict::Holds(_)), "{report:?}");
    kind.to_string()
}

#[test]
fn all_methods_tell_the_type() {
    let log = [("read", "null", "[]"), ("append", "1", "[1,0]"), ("read", "null", "[1]")];
    assert_eq!(object_of(&one_by_one(&log)), "log");
    let counter = [("read", "null", "0"), ("inc", "null", "null"), ("read", "null", "1")];
    assert_eq!(object_of(&one_by_one(&counter)), "counter");
    let set = [("add", "1", "[1,true]"), ("remove", "1", "true"), ("contains", "1", "false")];
    assert_eq!(object_of(&one_by_one(&set)), "set");
    let register = [("read", "null", "null"), ("append", "\"a\"", "null"), ("read", "null", "\"a\"")];
    assert_eq!(object_of(&one_by_one(&register)), "register");
    let deque = [("push", "1", "1"), ("push-front", "2", "2"), ("pop", "null", "1")];
    assert_eq!(object_of(&one_by_one(&deque)), "deque");
    let heap = [("insert", "2", "2"), ("insert", "1", "1"), ("extract-min", "null", "1")];
    assert_eq!(object_of(&one_by_one(&heap)), "priority-queue");
}

#[test]
fn where_the_type_stays_open_it_is_asked_for() {
    let ask = |ops: &[(&str, &str, &str)], stream: bool| match run(
        one_by_one(ops).as_bytes(),
        &Settings::default(),
        stream,
    ) {
        Err(Error::Input(InputError::Whole(message))) => message,
        other => panic!("a question was expected, not {other:?}"),
    };
    for stream in [false, true] {
        let message = ask(&[("add", "1", "[1,true]"), ("remove", "1", "[1,true]")], stream);
        assert!(message.contains("set or multiset") && message.contains("--type"), "{message}");
        let message = ask(&[("put", "1", "1"), ("get", "null", "1")], stream);
        assert!(["stack", "queue", "register"].iter().all(|kind| message.contains(kind)), "{message}");
        let message = ask(&[("read", "null", "5")], stream);
        assert!(message.contains("register or counter"), "{message}");
    }
    let (line, message) = complaint(&one_by_one(&[("push", "1", "1"), ("pop", "null", "1"), ("fly", "1", "1")]));
    assert_eq!((line, message.as_str()), (5, "`fly` is no method of a stack"));
}

#[test]
fn a_read_that_returned_nil_may_mean_that_nobody_knows() {
    let text = one_by_one(&[("write", "1", "1"), ("read", "null", "null"), ("read", "null", "1")]);
    assert!(hints(&text).contains("--nil-reads unknown"), "the answer says what would make it hold");
    let unknown = Words { nil_reads: NilReads::Unknown, ..Words::default() };
    assert_eq!(verdict(&text, &Settings { words: unknown, ..Settings::default() }).expect("a verdict"), Outcome::Holds);
    let stale = one_by_one(&[("write", "1", "1"), ("read", "null", "2")]);
    assert_eq!(hints(&stale), "", "nothing would make it hold");
}

#[test]
fn a_lock_has_an_owner_and_a_mutex_has_none() {
    let event = |process: u32, kind: &str, f: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":null}}\n")
    };
    let both = |process: u32, f: &str| event(process, "invoke", f) + &event(process, "ok", f);
    let text = both(0, "acquire") + &both(1, "release");
    assert!(hints(&text).contains("--type mutex"));
    let mutex = Settings { object: Some("mutex".parse().expect("a kind")), ..Settings::default() };
    assert_eq!(verdict(&text, &mutex).expect("a verdict"), Outcome::Holds);
    assert_eq!(verdict(&(text + &both(0, "release")), &mutex).expect("a verdict"), Outcome::Violated);
}

#[test]
fn labels_are_decoration() {
    let log = "# @object stack\n[1] call push ?<0,0>\n[1] return\n[2] call pop\n[2] return x<0,0>\n";
    assert_eq!(plain(log), Outcome::Holds);
    assert_eq!(plain(&log.replace("x<0,0>", "?<0,1>")), Outcome::Violated);
}

#[test]
fn values_on_the_command_line() {
    for (text, value) in [
        ("\"\"", Value::text("")),
        ("\"a b\"", Value::text("a b")),
        ("a b", Value::text("a b")),
        ("-3", Value::Int(-3)),
        ("null", Value::Nil),
        ("nil", Value::Nil),
        ("[1, \"x\"]", Value::list([Value::Int(1), Value::text("x")])),
    ] {
        assert_eq!(value_from(text), Ok(value), "{text}");
    }
    assert!(value_from("\"open").is_err() && value_from("[1").is_err() && value_from("\"a\" \"b\"").is_err());
}

#[test]
fn what_cannot_be_streamed_is_named_with_its_line() {
    let twice = one_by_one(&[("enqueue", "1", "1"), ("enqueue", "1", "1")]);
    let monitor = Settings { engine: Engine::Monitor, ..Settings::default() };
    let (line, message) = complaint_with(&twice, &monitor, true);
    assert_eq!(line, 3, "{message}");
}

/// A stream that turns out in the middle of its first events not to be what the monitor of its kind covers is begun again.
#[test]
fn a_stream_begins_again_where_its_monitor_does_not_cover_it() {
    let line = |process: u32, phase: &str, f: &str, value: &str| {
        format!("{{:process {process}, :type :{phase}, :f :{f}, :key \"a\", :value {value}}}\n")
    };
    let op = |f: &str, asked: &str, answered: &str| line(0, "invoke", f, asked) + &line(0, "ok", f, answered);
    let good = op("get", "nil", "\"\"")
        + &op("put", "\"x\"", "\"x\"")
        + &op("append", "\"y\"", "\"y\"")
        + &op("get", "nil", "\"xy\"");
    let streamed = watch(good.as_bytes(), &Settings::default()).expect("a stream");
    assert_eq!(streamed.verdict, StreamVerdict::Holds);
    let bad = good + &op("get", "nil", "\"yx\"");
    let streamed = watch(bad.as_bytes(), &Settings::default()).expect("a stream");
    assert!(matches!(streamed.verdict, StreamVerdict::Violated { .. }), "{streamed:?}");
}

/// Whole numbers that JSON readers take for one and the same are refused, and a number is the same however it is written.
#[test]
fn numbers_are_not_mistaken_for_others() {
    let settings = Settings { object: Some(ObjectKind::Queue), ..Settings::default() };
    let said = |text: &str| verdict(text, &settings).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let line = |kind: &str, method: &str, value: &str| {
        format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"{method}\",\"value\":{value}}}\n")
    };
    let queue = |put: &str, got: &str| {
        line("invoke", "enqueue", put)
            + &line("ok", "enqueue", put)
            + &line("invoke", "dequeue", "null")
            + &line("ok", "dequeue", got)
    };
    for (put, got) in [
        ("99999999999999999999999998", "99999999999999999999999999"),
        ("-9223372036854775809", "-9223372036854775810"),
        ("18446744073709551616", "18446744073709551617"),
    ] {
        let (at, message) = complaint_with(&queue(put, got), &settings, false);
        assert!(at == 1 && message.contains("too large"), "{put}: line {at}: {message}");
    }
    assert_eq!(said(&queue("18446744073709551615", "18446744073709551614")), Outcome::Violated);
    assert_eq!(said(&queue("18446744073709551615", "18446744073709551615")), Outcome::Holds);
    for (put, got) in [("1000", "1e3"), ("1000", "1000.0"), ("0", "-0"), ("1.5", "15e-1")] {
        assert_eq!(said(&queue(put, got)), Outcome::Holds, "{put} {got}");
    }
    assert_eq!(said(&queue("1.5", "1.25")), Outcome::Violated);
}
