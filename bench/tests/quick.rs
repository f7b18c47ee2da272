//! The benchmark works, and counts what it should. Nothing here depends on time.

use serde_json::Value;
use std::process::Command;

fn bench(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_raddle-bench")).args(arguments).arg("--json").output();
    let output = output.expect("the benchmark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

fn counts(rows: &Value) -> Vec<(String, String, u64)> {
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let rows = rows.as_array().expect("a list").iter();
    rows.map(|row| (text(row, "program"), text(row, "model"), row["executions"].as_u64().expect("a number"))).collect()
}

#[test]
fn the_quick_mode_counts_the_classes() {
    let rows = counts(&bench(&["--quick"]));
    let expected = [
        ("readers(3)", "sc", 8),
        ("fib(2)", "sc", 19),
        ("fib(2)", "tso", 20),
        ("lastzero(3)", "sc", 12),
        ("indexer(12)", "sc", 8),
        ("filesystem(14)", "sc", 2),
        ("ticket lock(3)", "sc", 6),
        ("mutex counter(3)", "sc", 6),
    ];
    for (program, model, executions) in expected {
        assert!(rows.contains(&(program.into(), model.into(), executions)), "{program} under {model}: {rows:?}");
    }
    assert!(rows.iter().all(|row| row.2 > 0), "{rows:?}");
}

#[test]
fn the_number_of_workers_changes_no_count() {
    let one = bench(&["--quick"]);
    let two = bench(&["--quick", "--workers", "2"]);
    assert_eq!(counts(&one), counts(&two));
    let rows = two.as_array().expect("a list");
    assert!(rows.iter().all(|row| row["parallel"]["workers"] == 2), "{two}");
}

#[test]
fn memory_is_measured_for_each_size() {
    let points = bench(&["--quick", "--memory"]);
    let executions: Vec<u64> =
        points.as_array().expect("a list").iter().filter_map(|p| p["executions"].as_u64()).collect();
    assert_eq!(executions, [4, 8, 16]);
}

#[test]
fn histories_are_checked_and_every_table_is_full() {
    let tables = bench(&["lin", "--quick", "--max", "4"]);
    let tables = tables.as_array().expect("a list");
    assert_eq!(tables.len(), 12, "{tables:?}");
    for table in tables {
        let columns = table["head"].as_array().expect("a list").len();
        let lines = table["lines"].as_array().expect("a list");
        assert!(!lines.is_empty(), "{table}");
        assert!(lines.iter().all(|line| line.as_array().is_some_and(|cells| cells.len() == columns)), "{table}");
    }
}

#[test]
fn the_algorithms_for_pairs_agree_and_lock_step_search_takes_fewer_steps_in_corridors() {
    let rows = bench(&["fair", "--quick"]);
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), 4 * (2 + 4 + 2), "{rows:?}");
    let steps = |row: &Value, at: usize| row["taken"][at]["steps"].as_u64().expect("a number");
    let corridor = rows.iter().rfind(|row| row["input"] == "corridor" && row["random"] == 0).expect("a corridor");
    assert!(steps(corridor, 1) < steps(corridor, 0), "{corridor}");
}

#[test]
fn fair_runs_have_the_known_verdicts() {
    let lines = bench(&["live", "--quick"]);
    let verdicts: Vec<&str> =
        lines.as_array().expect("a list").iter().filter_map(|line| line["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["holds", "holds", "violated"], "{lines}");
}

#[test]
fn verdicts_under_tso_are_the_known_ones() {
    let tables = bench(&["tso", "--quick"]);
    let lines = tables["lines"].as_array().expect("a list");
    assert!(lines.len() > 10, "{lines:?}");
    let fences = |program: &str| {
        let line = lines.iter().find(|line| line["table"] == "fences" && line["program"] == program);
        line.map(|line| line["verdict"].clone()).expect("it is there")
    };
    assert_eq!((fences("peterson"), fences("mcs, two threads")), ("2 fences".into(), "0 fences".into()));
    let searched = tables["searched"].as_array().expect("a list");
    let states: Vec<_> = searched.iter().map(|line| line["states"].as_u64().expect("a number")).collect();
    assert_eq!(states.len(), 3 * 2, "{searched:?}");
    // Each without reduction and with it, which leaves no more.
    assert!(states.chunks(2).all(|pair| pair[1] <= pair[0]), "{searched:?}");
}

#[test]
fn models_are_compared_and_their_counts_are_right() {
    let lines = bench(&["models", "--quick"]);
    let lines = lines.as_array().expect("a list");
    assert_eq!(lines.len(), 3 * 8, "{lines:?}");
    let executions = |program: &str, model: &str, engine: usize| {
        let line = lines.iter().find(|line| line["program"] == program && line["model"] == model);
        line.and_then(|line| line["engines"][engine]["executions"].as_u64()).expect("a number")
    };
    // The ring is store buffering of N threads: 2^N, without the outcome in which nobody sees anything where that is forbidden.
    for (program, model, expected) in [
        ("ring, seq_cst(3)", "sc", 7),
        ("ring, seq_cst(3)", "ra", 8),
        ("ring, seq_cst(3)", "rc11", 7),
        ("ring, fences(3)", "ra", 7),
        ("ring, fences(3)", "rc11", 7),
        ("fib(2)", "sc", 19),
        ("fib(2)", "ra", 20),
        ("fib(2)", "rc11", 20),
    ] {
        assert_eq!(executions(program, model, 0), expected, "{program} under {model}");
    }
}

#[test]
fn messages_and_stores_have_the_known_answers() {
    let rows = bench(&["messages", "--quick"]);
    let rows = rows.as_array().expect("a list");
    assert!(rows.len() >= 11 && rows.iter().all(|row| row["consistent"].is_boolean()), "{rows:?}");
    assert_eq!(bench(&["stores", "--quick"]).as_array().map(Vec::len), Some(6));
}
