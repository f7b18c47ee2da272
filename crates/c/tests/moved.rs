//! Structs some of whose members were never written are moved about at random; what is read of them at the end has the value that was written, or is
//! an error. Which of the two is kept beside the program by the test itself, member by member.
//!
//! The default run is a sample; `RADDLE_C_MOVES=20000 cargo test -p raddle-c --test moved` is more of it (`RADDLE_C_SEED` starts elsewhere).

mod support;

use raddle_testkit::{Random, Scratch, setting};
use std::fmt::Write;
use support::{compile_file, run};

const HEAD: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>
struct in { short h; int *p; }; struct s { char c; int n; long l; struct in in; int a[3]; unsigned b : 5, d : 7; }; struct pair { struct s one, two; };
static struct s same(struct s x) { return x; } static struct s other(int n, struct s x, struct s *y) { return n ? x : *y; }
static void out(struct s *to, const struct s *from) { *to = *from; } static struct s (*volatile any)(struct s) = same;
static int number; struct s global;\n";

/// The members, and how they are printed.
const MEMBERS: [&str; 10] = ["c", "n", "l", "in.h", "in.p", "a[0]", "a[1]", "a[2]", "b", "d"];

/// Objects of the struct's type.
const OBJECTS: [&str; 8] = ["x", "y", "array[0]", "array[1]", "heap[0]", "heap[2]", "pair.two", "both->one"];

/// What each member of each object holds, if it holds anything.
type Memory = [[Option<u64>; MEMBERS.len()]; OBJECTS.len()];

/// A way to copy one object to another that has no part in common with it.
fn copy(random: &mut Random, to: &str, from: &str) -> String {
    match random.below(10) {
        0 | 1 => format!("{to} = {from};"),
        2 => format!("memcpy(&{to}, &{from}, sizeof {to});"),
        3 => format!("{to} = same({from});"),
        4 => format!("{to} = any({from});"),
        5 => format!("out(&{to}, &{from});"),
        6 => format!("{to} = other(0, {to}, &{from});"),
        7 => format!("{{ struct s t[2]; t[1] = {from}; {to} = t[1]; }}"),
        8 => format!("memmove(&{to}, &{from}, sizeof(struct s));"),
        _ => format!("{to} = ({{ struct s t = {from}; t; }});"),
    }
}

fn program(random: &mut Random) -> (String, Result<String, ()>) {
    let mut memory: Memory = Default::default();
    let mut body = String::new();
    let steps = random.between(2, 14);
    for _ in 0..steps {
        let (to, from) = (random.below(OBJECTS.len()), random.below(OBJECTS.len()));
        if random.chance(45) || to == from {
            let member = random.below(MEMBERS.len());
            let value = random.below(30) as u64;
            let stored = if MEMBERS[member] == "in.p" { format!("&number + {value}") } else { value.to_string() };
            if MEMBERS[member] == "in.p" && value > 1 {
                continue;
            }
            writeln!(body, "    {}.{} = {stored};", OBJECTS[to], MEMBERS[member]).expect("a string takes everything");
            memory[to][member] = Some(value);
        } else {
            writeln!(body, "    {}", copy(random, OBJECTS[to], OBJECTS[from])).expect("a string takes everything");
            memory[to] = memory[from];
        }
    }
    // Of what has a value everything is looked at, and perhaps one member that has none.
    let mut expected = String::new();
    let places = || (0..OBJECTS.len()).flat_map(|object| (0..MEMBERS.len()).map(move |member| (object, member)));
    let read = |(object, member): (usize, usize)| {
        let (object, member) = (OBJECTS[object], MEMBERS[member]);
        let number = if member == "in.p" { " - &number" } else { "" };
        format!("    printf(\"{object}.{member} is %ld\\n\", (long)({object}.{member}{number}));\n")
    };
    for place in places() {
        if let Some(value) = memory[place.0][place.1] {
            body.push_str(&read(place));
            writeln!(expected, "{}.{} is {value}", OBJECTS[place.0], MEMBERS[place.1])
                .expect("a string takes everything");
        }
    }
    let missing: Vec<(usize, usize)> = places().filter(|&(object, member)| memory[object][member].is_none()).collect();
    let wrong = !missing.is_empty() && random.chance(50);
    if wrong {
        body.push_str(&read(random.pick(&missing)));
    }
    let text = format!(
        "{HEAD}int main(void) {{\n    struct s x, y, array[2], *heap = malloc(3 * sizeof *heap); struct pair pair, *both = malloc(sizeof *both);\n{body}    return 0;\n}}\n"
    );
    (text, if wrong { Err(()) } else { Ok(expected) })
}

#[test]
fn what_was_written_is_found_and_nothing_else() {
    let programs = setting("RADDLE_C_MOVES", 60);
    let seed = setting("RADDLE_C_SEED", 1);
    let scratch = Scratch::new();
    let (mut fine, mut wrong) = (0, 0);
    for number in 0..programs {
        let mut random = Random::new(seed * 1_000_003 + number);
        let (text, expected) = program(&mut random);
        let source = scratch.file("p.c", &text);
        let program = compile_file(&source, &raddle_c::Options::default());
        let found = run(&program.unwrap_or_else(|error| panic!("{error}\n{text}")));
        match (expected, found) {
            (Ok(expected), Ok(printed)) => {
                assert_eq!(printed, expected, "{text}");
                fine += 1;
            }
            (Err(()), Err(error)) => {
                assert!(error.contains("never written"), "{error}\n{text}");
                wrong += 1;
            }
            (expected, found) => panic!("{found:?} instead of {expected:?}\n{text}"),
        }
    }
    assert!(fine * 4 >= programs && wrong * 5 >= programs, "{fine} without an error and {wrong} with one");
}
