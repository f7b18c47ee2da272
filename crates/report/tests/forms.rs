//! Snapshots of every form an answer is put into. `INSTA_UPDATE=always cargo test -p raddle-report` accepts changes.

mod hand_made;

use hand_made::*;
use raddle_report::{Body, Check, Layout, Problem, Replay, dot, excerpt::Mark, json};
use raddle_trace::{Execution, Property, Scope, Source, Verdict};

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn layout(width: usize) -> Layout {
    Layout { width, full: false }
}

fn shown(check: Check, width: usize) -> String {
    plain(&answer(Body::Check(check)).text(layout(width)))
}

/// The run alone, without a line about how it ends.
fn run(execution: Execution, layout: Layout) -> String {
    let text = plain(&answer(Body::Replay(Replay { execution, counterexample: None })).text(layout));
    let run = text.strip_prefix("ends: the schedule breaks no property\n\n").expect("the headline comes first");
    run.to_owned()
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn a_violation_at_80_columns() {
    let check = check(Verdict::Violated, Scope::AllExecutions, vec![dekker_found()]);
    insta::assert_snapshot!(shown(check, 80));
}

#[test]
fn a_violation_at_160_columns() {
    let check = check(Verdict::Violated, Scope::AllExecutions, vec![dekker_found()]);
    insta::assert_snapshot!(shown(check, 160));
}

#[test]
fn a_deadlock_shows_what_each_thread_waits_for() {
    let check = check(Verdict::Violated, Scope::AllExecutions, vec![deadlock()]);
    insta::assert_snapshot!(shown(check, 100));
}

#[test]
fn several_violations_are_numbered() {
    let mut check = check(Verdict::Violated, Scope::AllExecutions, vec![dekker_found(), deadlock()]);
    check.all = true;
    insta::assert_snapshot!(shown(check, 100));
}

#[test]
fn a_program_that_holds() {
    let mut check = check(Verdict::Holds, Scope::LoopBound { turns: 3 }, Vec::new());
    check.parameters.insert("N".into(), "4".into());
    check.advice.push("3 executions were cut off at the loop bound; --loop-bound raises it".into());
    check.notes.push("a seq_cst store is followed by a fence".into());
    insta::assert_snapshot!(shown(check, 80));
}

#[test]
fn an_unknown_names_the_limit() {
    let scope = Scope::Partial { reason: "the time limit of 10 s was reached".into() };
    let mut check = check(Verdict::Unknown, scope, Vec::new());
    check.share_done = 0.1234;
    check.advice.push("--time-limit raises it".into());
    let mut answer = answer(Body::Check(check));
    answer.cost.cpu_seconds = 9.9;
    insta::assert_snapshot!(plain(&answer.text(layout(80))));
}

#[test]
fn many_threads_share_one_column() {
    let mut execution = dekker();
    execution.threads = (0..9).map(|thread| format!("worker{thread}")).collect();
    execution.names = (0..9).map(thread).collect();
    execution.steps.truncate(2);
    for thread in 1..9 {
        let from = if thread == 1 { Source::Initial } else { Source::Write(id(thread - 1, 0)) };
        let step = event(thread, 0, 9, update("add", "inside", i64::from(thread) - 1, i64::from(thread), from));
        execution.steps.push(step);
    }
    let text = run(execution.clone(), layout(80));
    assert!(widest(&text) <= 80, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn preparation_and_the_middle_of_a_long_run_are_left_out() {
    let mut execution = dekker();
    let mut steps: Vec<_> = (0..40).map(|at| event(0, at, 21, write("a", 0))).collect();
    steps.extend(execution.steps.drain(..2));
    // Steps that look alike would be folded: these go round in 23 variables.
    let variable = |at: u32| char::from(b'b' + (at * at % 23) as u8).to_string();
    steps.extend((0..400).map(|at| event(1, at, 6, write(&variable(at), i64::from(at)))));
    execution.steps = steps;
    let text = run(execution.clone(), layout(80));
    assert!(text.contains("… 40 steps before the first thread is started"), "{text}");
    assert!(text.contains("… 103 lines left out"), "{text}");
    assert_eq!(text.lines().count(), 302);
    let full = run(execution, Layout { width: 80, full: true });
    assert_eq!(full.lines().count(), 443);
}

#[test]
fn tables_fit_every_width() {
    for width in [60, 70, 80, 100, 120, 200] {
        let text = run(dekker(), layout(width));
        assert!(widest(&text) <= width, "{width}:\n{text}");
    }
}

#[test]
fn hostile_names_and_widths_do_no_harm() {
    let mut execution = dekker();
    execution.threads = vec!["\u{1b}[31mred\u{7}".into()];
    execution.steps.push(event(7, 0, 6, write("日本語\n\t\u{202e}", i64::MIN)));
    for width in 0..200 {
        let text = run(execution.clone(), layout(width));
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    }
    let empty = Execution { steps: Vec::new(), ..execution };
    run(empty, layout(80));
}

#[test]
fn printed_lines_are_shown_in_the_run_and_after_it() {
    let mut execution = dekker();
    if let raddle_trace::execution::Entry::Event { printed, .. } = &mut execution.steps[3] {
        printed.push("r = 0\n".into());
    }
    execution.steps.truncate(6);
    let body = Body::Replay(Replay { execution, counterexample: None });
    insta::assert_snapshot!(plain(&answer(body).text(layout(100))));
}

#[test]
fn a_problem_with_an_input_looks_like_a_compiler_error() {
    let mark = Mark { file: "dekker.rdl".into(), line: 7, column: 13, len: 4, label: "expected `;`".into() };
    let problem = Problem::new("unknown operation `laod`").mark(mark).help("did you mean `load`?");
    insta::assert_snapshot!(plain(&problem.render(&sources(), 80)));
}

#[test]
fn marks_outside_the_text_do_no_harm() {
    for (line, column, len) in [(0, 0, 0), (1, 900, 3), (24, 3, 1), (99_999, 1, 1), (5, 0, u32::MAX), (4, 1, 0)] {
        let mark = Mark { file: "dekker.rdl".into(), line, column, len, label: "here".into() };
        let text = plain(&Problem::new("odd").mark(mark).render(&sources(), 80));
        assert!(text.starts_with("error: odd\n"), "{text}");
        assert!(text.contains("--> dekker.rdl"), "{text}");
    }
    let elsewhere = Mark { file: "other.c".into(), line: 3, column: 2, ..Mark::default() };
    assert!(plain(&Problem::new("odd").mark(elsewhere).render(&sources(), 80)).contains("other.c:3:2"));
}

#[test]
fn the_graph_of_an_execution() {
    insta::assert_snapshot!(dot::execution(&dekker()));
}

#[test]
fn json_has_the_documented_fields() {
    let check = check(Verdict::Violated, Scope::AllExecutions, vec![dekker_found()]);
    let value: serde_json::Value = serde_json::from_str(&answer(Body::Check(check)).json()).expect("one object");
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).expect("a value"));
    let run: Execution =
        serde_json::from_value(value["violations"][0]["execution"].clone()).expect("an execution reads back");
    assert_eq!(run, dekker());
    assert_eq!(value["violation"]["property"], Property::Assert.name());
}

#[test]
fn json_of_an_error_names_the_place() {
    let mark = Mark { file: "a.rdl".into(), line: 7, column: 13, ..Mark::default() };
    let problems = [Problem::new("first").mark(mark), Problem::new("second").help("do this")];
    insta::assert_snapshot!(json::error(Some("check"), Some("a.rdl"), &problems));
}

#[test]
fn a_waiting_thread_that_did_nothing_has_a_column() {
    let mut found = deadlock();
    found.waiting.push(raddle_trace::Waiting { thread: thread(0), what: "T1 to end".into(), place: place(23) });
    let body = Body::Replay(Replay { execution: found.execution.clone(), counterexample: Some(found) });
    let text = plain(&answer(body).text(layout(100)));
    assert!(text.contains("waits for T1 to end"), "{text}");
}
