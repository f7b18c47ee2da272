//! Small programs whose answer is known by reasoning, one for each thing that was once answered wrongly.

use raddle::{Control, Model, Outcome, Property, Settings, Verdict, verify};

/// What `raddle check --all` finds under a model.
fn check(text: &str, model: Model) -> Outcome {
    let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut settings = Settings::new(model);
    settings.options.all = true;
    verify(&program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// The same properties are broken under every model; none if the program holds.
fn finds(text: &str, expected: &[Property]) {
    for model in Model::ALL {
        let outcome = check(text, model);
        let mut found: Vec<Property> = outcome.findings.iter().map(|finding| finding.violation.property).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expected, "{model}: {text}");
        let verdict = if expected.is_empty() { Verdict::Holds } else { Verdict::Violated };
        assert_eq!(outcome.verdict, verdict, "{model}: {text}");
    }
}

#[test]
fn a_thread_that_ends_the_program_is_never_joined() {
    let text = "fn ends() { exit; }
        fn main() { let t = spawn ends(); join t; error \"after the end\"; }";
    finds(text, &[]);
    assert_eq!(check(text, Model::Sc).statistics.executions, 1);
}
