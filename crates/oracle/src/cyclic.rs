//! Random programs whose loops do not end, and whose states are few.

use raddle_testkit::Random;
use std::fmt::Write;

/// A random program: threads that turn in loops and leave them by what they read, or not at all; values are 0 to 2.
pub fn program(random: &mut Random) -> String {
    let variables = ["x", "y", "z"];
    let mut text = String::from("global x: i32; global y: i32; global z: i32; global m: mutex;\n");
    let threads = random.between(2, 3);
    for thread in 0..threads {
        writeln!(text, "fn t{thread}() {{ let a = 0; let b = 0; let k = 0;").expect("a string");
        for _ in 0..random.between(0, 1) {
            statement(random, &variables, false, &mut text);
        }
        let loops = random.chance(80);
        if loops {
            text.push_str("loop {\n");
        }
        for _ in 0..random.between(2, if threads == 3 { 3 } else { 5 }) {
            statement(random, &variables, loops, &mut text);
        }
        if loops {
            text.push_str("}\n");
            if random.chance(50) {
                statement(random, &variables, false, &mut text);
            }
        }
        text.push_str("}\n");
    }
    let starts: String = (0..threads).map(|thread| format!("spawn t{thread}(); ")).collect();
    writeln!(text, "fn main() {{ {starts}}}").expect("a string");
    text
}

fn statement(random: &mut Random, variables: &[&str], in_loop: bool, text: &mut String) {
    let (x, y) = (random.pick(variables), random.pick(variables));
    let reg = random.pick(&["a", "b"]);
    let value = random.below(3);
    let leaves = if random.chance(70) { "break" } else { "continue" };
    let line = match random.below(12) {
        0 | 1 => format!("store {x}, {value};"),
        2 => format!("store {x}, ({reg} + 1) % 3;"),
        3 | 4 => format!("{reg} = load {x};"),
        5 if in_loop => format!("{reg} = load {x}; if {reg} == {value} {{ {leaves}; }}"),
        5 => format!("{reg} = load {x} until {reg} != {value};"),
        6 => format!(
            "{reg} = load {x}; let c{0} = load {y}; assert {reg} != {value} || c{0} != {1};",
            random.number(),
            random.below(3)
        ),
        7 => format!("{reg} = load {x}; assert {reg} != {value};"),
        8 => format!("{reg} = cas {x}, {value}, {};", random.below(3)),
        9 => String::from(if random.chance(50) { "fence.sc;" } else { "lock m; unlock m;" }),
        10 => format!("{reg} = choose 0..2; store {x}, {reg};"),
        _ => format!("k = (k + 1) % 3; if k == {value} {{ store {x}, k; }}"),
    };
    text.push_str(&line);
    text.push('\n');
}
