//! What C and POSIX leave undefined, one small program each, and beside it what looks alike and is allowed. The table of
//! `docs/undefined.md` names these tests.

mod atomics;
mod bits;
mod library;
mod memory;
mod order;
mod threads;
mod values;

use raddle::{Control, LoadOptions, Model, Outcome, Property, Settings, Verdict, load, verify};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

const HEAD: &str =
    "#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>
#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";

/// What is said about a C file with this text behind the usual headers.
fn check(text: &str) -> Outcome {
    check_with(text, &LoadOptions::default())
}

/// A file with this text behind the usual headers.
fn file(text: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("c_undefined_{}.c", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    path
}

fn check_with(text: &str, options: &LoadOptions) -> Outcome {
    let loaded = load(&file(text), options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&loaded.program, &Settings::new(Model::Sc), &Control::new())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Programs that are one body of `main` each: in each of them this is found, and said so.
fn found(before: &str, property: Property, words: &str, bodies: &[&str]) {
    for body in bodies {
        let text = format!("{before}\nint main(void) {{ {body}\nreturn 0; }}\n");
        let outcome = check(&text);
        let Some(finding) = outcome.findings.first() else {
            panic!("{:?}: {}\n{text}", outcome.verdict, outcome.scope)
        };
        let violation = finding.violation();
        assert_eq!(violation.property, property, "{}\n{text}", violation.message);
        assert!(violation.message.contains(words), "{}\n{text}", violation.message);
    }
}

/// Programs in which nothing is wrong.
fn allowed(before: &str, bodies: &[&str]) {
    for body in bodies {
        let text = format!("{before}\nint main(void) {{ {body}\nreturn 0; }}\n");
        let outcome = check(&text);
        let finding = outcome.findings.first().map(|finding| finding.violation().message.clone());
        assert_eq!(outcome.verdict, Verdict::Holds, "{finding:?} {}\n{text}", outcome.scope);
    }
}

/// A program that one of several engines is given, each under its model, with its shared struct on the heap and not: with one of the lines at its end something is found that was
/// never written.
fn every_engine<'a>(program: &str, engines: impl Iterator<Item = (&'a str, Model)>, lines: [(&str, bool); 2]) {
    for (engine, model) in engines {
        for place in ["malloc(sizeof *shared)", "&global"] {
            for (line, wrong) in lines {
                let text = program.replace("LOOK", line).replace("PLACE", place);
                let loaded =
                    load(&file(&text), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let mut settings = Settings::new(model);
                settings.engine = raddle::ENGINES.find(engine).expect("an engine");
                let outcome = verify(&loaded.program, &settings, &Control::new())
                    .unwrap_or_else(|error| panic!("{engine}: {error}"));
                let found = outcome.findings.first().map(|finding| finding.violation().property);
                assert_eq!(found, wrong.then_some(Property::Memory), "{engine}: {}\n{text}", outcome.scope);
                assert_eq!(outcome.verdict == Verdict::Holds, !wrong, "{engine}: {}\n{text}", outcome.scope);
            }
        }
    }
}
