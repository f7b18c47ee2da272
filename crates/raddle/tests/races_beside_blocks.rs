//! Races of accesses in atomic blocks with accesses outside: every engine that takes them says the same.

use raddle::engine::PropertySet;
use raddle::{Control, ENGINES, Model, Property, Settings, Verdict, verify};

fn verdicts(text: &str) -> Vec<(&'static str, Verdict)> {
    let program = raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let engines = ["optimal", "oc", "cegar"];
    let ask = |name| {
        let mut settings = Settings::new(Model::Sc);
        settings.engine = ENGINES.find(name).expect("an engine");
        settings.options.properties = PropertySet::none().with(Property::Race);
        let outcome = verify(&program, &settings, &Control::new());
        (name, outcome.unwrap_or_else(|error| panic!("{name}: {error:?}\n{text}")).verdict)
    };
    engines.map(ask).into()
}

fn all_say(text: &str, verdict: Verdict) {
    for (name, said) in verdicts(text) {
        assert_eq!(said, verdict, "{name}:\n{text}");
    }
}

/// A lock made of blocks protects what is accessed under it; whoever does not take it races, also with what the blocks access.
#[test]
fn a_lock_made_of_blocks_protects_from_those_who_take_it() {
    let with = |main: &str| {
        format!(
            "global x: i32; global m: i32;
             fn locks() {{
                 atomic {{ let a = load.na m; assume a == 0; store.na m, 1; }}
                 let v = load.na x; store.na x, v + 1;
                 atomic {{ store.na m, 0; }}
             }}
             fn main() {{ spawn locks(); spawn locks(); {main} }}"
        )
    };
    for main in [
        "",
        "atomic { let a = load.na m; }",
        "atomic { let a = load.na m; assume a == 0; store.na m, 1; } store.na x, 3;",
    ] {
        all_say(&with(main), Verdict::Holds);
    }
    for main in
        ["store.na m, 5;", "let a = load.na m;", "store.na x, 3;", "atomic { let a = load.na m; } let b = load.na x;"]
    {
        all_say(&with(main), Verdict::Violated);
    }
}

/// What a block has accessed before its thread stops has been accessed; what it would access otherwise has not.
#[test]
fn who_stops_in_a_block_has_done_what_comes_before() {
    let with = |block: &str| {
        format!(
            "global x: i32; global y: i32;
             fn stops() {{ atomic {{ {block} }} }}
             fn main() {{ spawn stops(); store.na x, 1; }}"
        )
    };
    for block in ["store.na x, 2; let a = load.na y; assume a == 1;", "let a = load.na x; if a == 0 { exit; }"] {
        all_say(&with(block), Verdict::Violated);
    }
    all_say(&with("let a = load.na y; if a == 1 { store.na x, 2; }"), Verdict::Holds);
}

/// The access outside decides what the block does: it races with what the block reads before.
#[test]
fn the_access_outside_may_keep_the_block_from_the_other_one() {
    let text = "global x: i32; global y: i32;
        fn block() { atomic { let a = load.na x; if a == 0 { store.na y, 1; } } }
        fn main() { spawn block(); store.na x, 1; store.na y, 2; }";
    all_say(text, Verdict::Violated);
    let known = "global x: i32; global y: i32;
        fn block() { atomic { let a = load.na x; if a == 0 { store.na y, 1; } } }
        fn main() { atomic { store.na x, 1; } spawn block(); store.na y, 2; }";
    all_say(known, Verdict::Holds);
}
