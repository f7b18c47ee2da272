//! Every example system has the verdicts that it says, with shortest violations of the lengths that it says.
//!
//! ```text
//! // raddle: --model ra -D N=3 expect: violated length: 10
//! ```

use raddle_memsys::{Budget, Model, Verdict, format, verify};
use std::collections::BTreeSet;

#[test]
fn example_systems_have_the_verdicts_they_say() {
    let folder = format!("{}/../../examples/memsys", env!("CARGO_MANIFEST_DIR"));
    let mut verdicts = [0, 0];
    for file in std::fs::read_dir(folder).expect("there are examples").flatten() {
        let text = std::fs::read_to_string(file.path()).expect("an example is text");
        let name = file.file_name();
        let mut models = BTreeSet::new();
        for (options, expected) in text.lines().filter_map(|line| line.split_once("raddle:")?.1.split_once("expect:")) {
            let mut words = options.split_whitespace();
            let (mut model, mut parameters) = (None, Vec::new());
            while let (Some(option), Some(value)) = (words.next(), words.next()) {
                match (option, value.split_once('=')) {
                    ("--model", _) => model = value.parse::<Model>().ok(),
                    ("-D", Some((name, value))) => parameters.push((name.to_owned(), value.parse().expect("a number"))),
                    _ => panic!("{name:?}: {options}"),
                }
            }
            let model = model.expect("a model");
            let machine = format::read(text.as_bytes(), &parameters).expect("an example is accepted");
            let outcome = verify(&machine, model, &Budget::default()).expect("violations replay");
            let found = match outcome.verdict {
                Verdict::Holds => "holds".to_owned(),
                Verdict::Violated(violation) if violation.shortest => {
                    format!("violated length: {}", violation.moves.len())
                }
                other => panic!("{name:?} under {model}: {other:?}"),
            };
            assert_eq!(found, expected.trim(), "{name:?}{options}");
            verdicts[usize::from(found != "holds")] += 1;
            models.insert(model);
        }
        assert_eq!(models.len(), 3, "{name:?} says something of every model");
    }
    assert!(verdicts.iter().all(|&count| count > 10), "{verdicts:?}");
}
