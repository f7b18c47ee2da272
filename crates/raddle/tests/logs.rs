//! Logs of stores: whatever the bytes, there is an answer or a message with a line.
//!
//! `RADDLE_LOGS_DAMAGED=100000 cargo test --release -p raddle --test logs` is the big sweep.

use raddle::linear::decide;
use raddle::report::Conclusion;
use raddle::traces::Settings;
use raddle::{Control, Model};
use raddle_testkit::{Random, damaged, setting};

#[test]
fn damaged_logs_end_in_an_answer_or_in_a_message() {
    let texts = [
        "{\"process\":0,\"f\":\"write\",\"key\":\"x\",\"value\":1}\n{\"process\":1,\"f\":\"read\",\"key\":\"x\",\"value\":1}\n{\"process\":1,\"f\":\"read\",\"key\":\"x\",\"value\":null}\n".to_owned(),
        "{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"key\":\"x\",\"value\":1}\n{\"process\":0,\"type\":\"info\",\"f\":\"write\",\"key\":\"x\",\"value\":1}\n{\"process\":0,\"f\":\"read\",\"key\":\"x\",\"value\":1}\n".to_owned(),
        "; a log\n[{:process 0, :type :invoke, :f :w, :key :x, :value 1}\n{:process 0, :type :ok, :f :w, :key :x, :value 1}\n{:process 1, :f :r, :key :x, :value nil :time 4}]\n".to_owned(),
        "{:process :a :f :write :key [:x 1] :value \"a\"}\n{:process :b :f :read :key [:x 1] :value \"a\"}\n{:process :b :f :write :key :y :value 2}\n{:process :a :f :read :key :y :value nil}\n".to_owned(),
        "INVOKE 0 put k v\nRETURN 0\nINVOKE 1 get k\nRETURN 1 v\n".to_owned(),
    ];
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ":process",
        ":f",
        ":r",
        ":w",
        ":key",
        ":value",
        "nil",
        ":type",
        ":invoke",
        ":ok",
        ":info",
        ":fail",
        "\"process\":",
        "\"type\":\"ok\"",
        "\"f\":",
        "\"value\":",
        "null",
        "\n",
        "1",
        "-1",
        "99999999999999999999",
        "#",
        "\\",
    ];
    let mut random = Random::new(16);
    let (mut answers, mut messages) = ([0; 3], 0);
    for _ in 0..setting("RADDLE_LOGS_DAMAGED", 4_000) {
        let bytes = damaged(&texts, &pieces, &mut random);
        raddle::logs::is_log(&bytes);
        let model = random.pick(&[Model::Sc, Model::Tso, Model::Pso, Model::Wra, Model::Ra, Model::Sra]);
        let reading = decide::Settings { independent: random.one_in(8), ..decide::Settings::default() };
        match raddle::log("log", &bytes[..], &reading, &Settings::new(model), &Control::new()) {
            Ok(answer) => {
                let at = match answer.conclusion() {
                    Conclusion::Holds => 0,
                    Conclusion::Violated => 1,
                    _ => 2,
                };
                answers[at] += 1;
                assert!(!answer.json().is_empty() && answer.dot().is_some());
            }
            Err(error) => {
                assert!(!error.is_internal(), "{error}: {}", String::from_utf8_lossy(&bytes));
                messages += 1;
            }
        }
    }
    assert!(answers[0] > 50 && answers[1] > 50 && messages > 100, "{answers:?}, {messages} messages");
}
