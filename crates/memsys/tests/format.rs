//! Machines and systems as text: what is accepted, what is refused and where.

use raddle_memsys::format::{InputError, Size, read, read_within, write};
use raddle_testkit::{Random, damaged, setting};

fn refused(text: &str) -> (String, u32, u32, String) {
    let InputError { message, spot, help } = read(text.as_bytes(), &[]).expect_err("it is wrong");
    let spot = spot.unwrap_or_default();
    (message, spot.line, spot.column, help.unwrap_or_default())
}

#[track_caller]
fn refuses(text: &str, message: &str, line: u32, column: u32, help: &str) {
    let found = refused(text);
    assert!(found.0.contains(message) && found.3.contains(help), "{found:?}");
    assert_eq!((found.1, found.2), (line, column), "{found:?}");
}

#[test]
fn what_is_wrong_has_a_place_and_a_way_out() {
    refuses("", "begins with `system NAME` or `machine NAME`", 1, 1, "lists its transitions");
    refuses("machine m\nthreads t\nvars x\nregs a\ninit s\ns -> s : W t y a", "no variable `y`", 6, 14, "there are x");
    refuses("machine m\nregs a a", "declared before", 2, 8, "");
    refuses("machine m\ns -> s : jump", "`jump` is no event", 2, 10, "W THREAD VAR REG");
    refuses("machine m\ns -> s : eps", "the initial state is missing", 2, 13, "init STATE");
    refuses("machine m\ninit t\ns -> s : eps", "no transition names the state `t`", 2, 6, "");
    refuses("system s\nregister a", "`register` begins no declaration", 2, 1, "registers");
    refuses("system s\nparam N = x", "there is no `x`", 2, 11, "declared before");
    refuses("system s\nregisters a[0]", "cannot have 0 elements", 2, 13, "from 1");
    refuses("system s\nenum E { A }\nstate e in E = 0", "this is a number, but one of A is needed", 3, 16, "");
    refuses("system s\nstate e in 0..2 = 2", "`e` cannot hold 2", 2, 19, "0..=1");
    let system = |rule: &str| {
        format!(
            "system s\ncores P[2]\nlocations x\nregisters a[2]\nstate n in 0..=1 = 0\nchannel c capacity 1 (f in 0..2)\n{rule}"
        )
    };
    let wrong = |rule: &str, message: &str, column: u32, help: &str| {
        refuses(&system(rule), message, 7, column, help);
    };
    wrong("rule r { P[0] writes x into a; }", "`a` has 1 indices, here are 0", 29, "a[...]");
    wrong("rule r { P[2] writes x into a[0]; }", "`P` has no element 2", 10, "0 to 1");
    wrong("rule r { P[0] writes y into a[0]; }", "`y` is no location", 22, "CORE writes LOCATION");
    wrong("rule r { n := n + 1; }", "`n` cannot hold 2", 10, "0..=1");
    wrong("rule r when n { n := 0; }", "but a truth value is needed", 13, "");
    wrong("rule t { send c { g := 1; } }", "no field `g`", 19, "their fields are f");
    wrong("rule r { send a[0]; }", "`a` is no channel", 15, "send CHANNEL");
    wrong("rule r { P[0] reads x from a[0] }", "expected `;`, found `}`", 33, "end with `;`");
}

#[test]
fn a_message_without_a_value_cannot_be_stored() {
    let text = "system s\ncores P\nlocations x\nregisters a\nchannel c capacity 1\n\
                rule t when len(c) == 0 { send c; }\nrule r receive m from c { a := m; }";
    refuses(text, "carries no value", 7, 32, "without `carrying`");
}

#[test]
fn parameters_have_to_be_there() {
    let text =
        "system s\nparam N = 1\ncores P[N]\nlocations x\nregisters a\nrule w(p in 0..N) { P[p] writes x into a; }";
    let with = |name: &str, value| read(text.as_bytes(), &[(name.to_owned(), value)]);
    assert_eq!(with("N", 3).expect("a system").cores().len(), 3);
    assert!(with("M", 3).expect_err("no such parameter").message.contains("no parameter `M`"));
    assert!(read(b"machine m", &[("N".into(), 1)]).expect_err("it has none").message.contains("no parameter `N`"));
}

#[test]
fn what_is_too_large_is_refused() {
    let counter = "system s\ncores P\nlocations x\nregisters a\nstate n[9] in 0..9 = 0\n\
                   rule up(i in 0..9) when n[i] < 8 { n[i] := n[i] + 1; }";
    let size = Size { states: 1000, steps: 1_000_000 };
    assert!(
        read_within(counter.as_bytes(), &[], size).expect_err("9^9 states").message.contains("more than 1000 states")
    );
    let endless = "system s\ncores P\nlocations x\nregisters a\nrule r { for i in 0..4000000000 { } }";
    assert!(read_within(endless.as_bytes(), &[], size).expect_err("too long").message.contains("too many steps"));
    let deep = format!("system s\nparam N = {}1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(refused(&deep).0.contains("too large"));
    let long = format!("system s\nparam N = 1{}", "+1".repeat(5000));
    assert!(refused(&long).0.contains("too large"));
    let nested = format!("system s\ncores P\nlocations x\nregisters a\nrule r {{ {}", "if true { ".repeat(5000));
    assert!(refused(&nested).0.contains("nested"));
}

fn examples() -> Vec<String> {
    let folder = format!("{}/../../examples/memsys", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("there are examples").flatten();
    files.map(|file| std::fs::read_to_string(file.path()).expect("an example is text")).collect()
}

#[test]
fn an_expanded_system_can_be_written_and_read_again() {
    for text in examples() {
        let machine = read(text.as_bytes(), &[]).expect("an example is accepted");
        let again = read(write(&machine).as_bytes(), &[]).expect("what was written is accepted");
        let events =
            |machine: &raddle_memsys::Machine| machine.transitions().iter().map(|one| one.event).collect::<Vec<_>>();
        assert_eq!(events(&machine), events(&again));
        assert_eq!(
            (machine.initial_values, machine.reachable().0.states().len()),
            (again.initial_values, again.states().len())
        );
    }
}

#[test]
fn damaged_inputs_end_in_a_machine_or_a_message() {
    let mut inputs = examples();
    inputs.push(
        "machine m\nthreads t u\nvars x y\nregs a b\ninit s\ns -> q : W t x a | R u y b\nq -> s : a := b | eps\n"
            .into(),
    );
    let pieces = [
        "rule",
        "when",
        "receive m from",
        "send",
        "carrying",
        "all i in 0..N:",
        "for i in 0..3 {",
        "}",
        "[",
        "]",
        ":=",
        "..=",
        "..",
        "max(",
        "len(",
        "state",
        "param",
        "channel c capacity 2",
        "writes",
        "reads",
        "->",
        "|",
        "eps",
        "-",
        "!",
        "==",
        "// ",
    ];
    let mut random = Random::new(6);
    let mut accepted = 0;
    for _ in 0..setting("RADDLE_MEMSYS_DAMAGED", 4_000) {
        let bytes = damaged(&inputs, &pieces, &mut random);
        match read_within(&bytes, &[], Size { states: 300, steps: 20_000 }) {
            Ok(machine) => {
                accepted += 1;
                machine.check().expect("what is accepted is a machine");
            }
            Err(error) => assert!(!error.message.is_empty()),
        }
    }
    assert!(accepted > 100, "{accepted}");
}
