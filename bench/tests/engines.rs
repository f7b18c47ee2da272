//! Engines are compared and their growth is measured. Nothing here depends on time.

use raddle::trace::{Property, Schedule};
use raddle::{Control, ENGINES, Model, Program, Settings};
use raddle_bench::catalogue;
use raddle_oracle::brute::classify_values;
use serde_json::Value;
use std::collections::HashSet;
use std::process::Command;

fn bench(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_raddle-bench")).args(arguments).arg("--json").output();
    let output = output.expect("the benchmark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

#[test]
fn every_model_has_a_line_and_every_engine_a_cell() {
    let lines = bench(&["engines", "--only", "fig_4_1"]);
    let lines = lines.as_array().expect("a list");
    let models: Vec<&str> = lines.iter().filter_map(|line| line["model"].as_str()).collect();
    assert_eq!(models, ["sc", "tso", "pso"]);
    let cells = lines[0]["cells"].as_array().expect("a list");
    assert_eq!((&cells[0]["classes"], &cells[1]["classes"]), (&98.into(), &9.into()), "{cells:?}");
    assert!(cells[..2].iter().all(|cell| cell["result"] == "done"), "{cells:?}");
}

#[test]
fn what_takes_too_long_is_at_its_limit() {
    let lines = bench(&["engines", "--only", "redundant_co", "--model", "sc", "--limit", "0.001"]);
    assert_eq!(lines[0]["cells"][0]["result"], "limit", "{lines}");
}

#[test]
fn growth_is_measured_for_two_to_four_threads() {
    let series = bench(&["growth", "--events", "32", "--executions", "50"]);
    let series = series.as_array().expect("a list");
    for threads in 2..=4u64 {
        for (program, engine) in [("work", "optimal"), ("work", "rf"), ("long", "optimal"), ("long", "rf")] {
            let found = series
                .iter()
                .find(|one| one["program"] == program && one["engine"] == engine && one["threads"] == threads);
            let found = found.unwrap_or_else(|| panic!("{program} by {engine} with {threads} threads"));
            let points = found["points"].as_array().expect("a list");
            assert_eq!(points.len(), 2, "{found}");
            assert!(points.iter().all(|point| point["executions"].as_u64().is_some_and(|n| (1..=50).contains(&n))));
        }
    }
}

#[test]
fn formulas_are_measured_by_every_way_to_search() {
    let lines = bench(&["oc", "--quick", "--only", "triangular"]);
    let lines = lines.as_array().expect("a list");
    let shape = |line: &Value| (line["right"].as_bool(), line["bound"].as_u64());
    let shapes: Vec<_> = lines.iter().map(shape).collect();
    let all = [(true, 1), (true, 2), (false, 1), (false, 2)].map(|(right, bound)| (Some(right), Some(bound)));
    assert_eq!(shapes, all);
    assert!(lines.iter().all(|line| line["ways"].as_array().is_some_and(|ways| ways.len() == 6)), "{lines:?}");
}

/// One run of each execution of an engine.
fn runs(program: &Program, engine: &str) -> Vec<Schedule> {
    let mut settings = Settings::new(Model::Sc);
    settings.engine = ENGINES.find(engine).expect("an engine");
    settings.options.keep_schedules = true;
    settings.options.properties = settings.options.properties.without(Property::Race);
    raddle::verify(program, &settings, &Control::new()).expect("it takes this program").schedules
}

/// `rvf` has fewer executions of this program than were published.
#[test]
fn every_way_to_give_values_to_events_is_met() {
    let entries = catalogue::entries().expect("they can be read");
    let entry = entries.iter().find(|entry| entry.name == "27_boop4").expect("it is there");
    let program = entry.load(&["U=2".parse().expect("a define")]).expect("it is a program");
    let code = raddle::prepare(&program, None);
    let classes = |engine: &str| {
        let runs = runs(&program, engine);
        let classes: HashSet<_> = runs
            .iter()
            .map(|run| {
                let (_, class, values) = classify_values(&code, Model::Sc, run).expect("it is a whole run");
                class.reads_value_from(&values)
            })
            .collect();
        (runs.len(), classes)
    };
    let (sources, values) = (classes("rf"), classes("rvf"));
    assert_eq!((sources.0, values.0, values.1.len()), (18_040, 6_177, 6_177));
    assert!(values.1.is_subset(&sources.1));
    let ways = |(_, classes): &(usize, HashSet<raddle_oracle::class::ValueClass>)| {
        classes.iter().map(|class| class.values()).collect::<HashSet<_>>()
    };
    assert_eq!(ways(&sources).len(), 1_311);
    assert!(ways(&sources) == ways(&values));
}
