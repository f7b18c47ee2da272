//! Every example parses, with its parameters, prints, and says what is expected of it.

use std::path::PathBuf;

fn examples() -> Vec<(PathBuf, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of examples exists") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|extension| extension == "rdl") {
            let text = std::fs::read_to_string(&path).expect("examples are text");
            out.push((path, text));
        }
    }
    assert!(out.len() > 20);
    out
}

/// The `-D NAME=VALUE` of an expectation.
fn params(line: &str) -> Vec<(String, i64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let given = words.windows(2).filter(|pair| pair[0] == "-D");
    given
        .map(|pair| {
            let (name, value) = pair[1].split_once('=').expect("NAME=VALUE");
            (name.to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn every_example_parses_and_its_printed_form_parses_to_the_same_text() {
    for (path, text) in examples() {
        let expectations: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("// raddle: ")).collect();
        assert!(!expectations.is_empty(), "{} expects nothing", path.display());
        for line in expectations {
            let (options, expected) = line.split_once(" expect: ").expect("options, then what is expected");
            assert!(options.contains("--model "), "{line}");
            assert!(expected.starts_with("holds") || expected.starts_with("violated("), "{line}");
            let name = path.display().to_string();
            let program = raddle_program::parse(&name, &text, &params(options)).unwrap_or_else(|e| panic!("{e}"));
            let printed = raddle_program::print(&program);
            let again =
                raddle_program::parse("printed.rdl", &printed, &[]).unwrap_or_else(|e| panic!("{e}\n{printed}"));
            assert_eq!(raddle_program::print(&again), printed);
        }
    }
}

#[test]
fn every_program_in_the_description_of_the_language_parses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rdl.md");
    let text = std::fs::read_to_string(path).expect("the description exists");
    let programs: Vec<&str> = text.split("```rdl\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(programs.len() >= 7);
    for program in programs {
        raddle_program::parse("rdl.md", program, &[]).unwrap_or_else(|e| panic!("{e}\n{program}"));
    }
}
