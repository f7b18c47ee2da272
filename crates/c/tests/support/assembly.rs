//! Random inline assembly for x86: one instruction each on memory that is a number, a part of one, or a struct that stands for whatever lies there, with what
//! says how wide it is in the name of the instruction, in the operand, or in the operand's type.

use raddle_testkit::Random;
use std::fmt::Write;

/// How wide an instruction is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Width {
    bytes: usize,
    suffix: &'static str,
    modifier: &'static str,
    unsigned: &'static str,
    signed: &'static str,
}

const WIDTHS: [Width; 4] = [
    Width { bytes: 1, suffix: "b", modifier: "b", unsigned: "unsigned char", signed: "signed char" },
    Width { bytes: 2, suffix: "w", modifier: "w", unsigned: "unsigned short", signed: "short" },
    Width { bytes: 4, suffix: "l", modifier: "k", unsigned: "unsigned", signed: "int" },
    Width { bytes: 8, suffix: "q", modifier: "q", unsigned: "unsigned long", signed: "long" },
];

/// Several programs in one file.
pub(crate) fn file(seed: u64, programs: usize) -> String {
    let mut text = "#include <stdio.h>
struct any { unsigned long words[2]; };
static void say(unsigned long x) { printf(\"%lx\\n\", x); }\n"
        .to_owned();
    for index in 0..programs {
        let mut rng = Random::new(seed * 1000 + index as u64);
        let _ = writeln!(text, "static void p{index}_main(void) {{");
        let [a, b, v, w] = [0; 4].map(|_| rng.number());
        let _ = writeln!(text, "    static unsigned long m[4]; void *p = m; m[0] = {a}UL; m[1] = {b}UL;");
        let _ = writeln!(text, "    long v = {}, w = {}L; (void)v; (void)w;", v as i8, w as i64 >> 20);
        for _ in 0..rng.between(4, 8) {
            let line = statement(&mut rng);
            let _ = writeln!(text, "    {{ {line} }} say(m[0]); say(m[1]);");
        }
        text.push_str("}\n");
    }
    text + &super::main_of_all(programs)
}

/// The object behind `p`, as something of whatever type.
fn memory(rng: &mut Random, width: Width) -> String {
    match rng.below(4) {
        0 => "*(struct any *)p".to_owned(),
        1 => format!("*(volatile {} *)p", rng.pick(&WIDTHS).unsigned),
        2 => format!("*({} *)p", width.signed),
        _ => format!("*(volatile {} *)p", width.unsigned),
    }
}

/// A register operand: its type, and how the template names the part of it that is meant.
fn register(rng: &mut Random, width: Width) -> (&'static str, &'static str) {
    let own = if rng.chance(50) { width.signed } else { width.unsigned };
    let wider: Vec<Width> = WIDTHS.into_iter().filter(|other| other.bytes > width.bytes).collect();
    if !wider.is_empty() && rng.chance(40) {
        return (rng.pick(&wider).unsigned, width.modifier);
    }
    (own, if rng.chance(20) { width.modifier } else { "" })
}

fn statement(rng: &mut Random) -> String {
    let width = rng.pick(&WIDTHS);
    let place = memory(rng, width);
    let value = rng.pick(&["v", "7", "-1", "0x1234567890abcdefL", "w", "v * 3"]);
    let (ty, part) = register(rng, width);
    // An operand in a register says how wide it is.
    let suffix = if rng.chance(70) { width.suffix } else { "" };
    let all = width.suffix;
    match rng.below(9) {
        0 | 1 => {
            let op = rng.pick(&["add", "sub", "and", "or", "xor"]);
            format!(
                "{ty} x = ({ty})({value}); __asm__ volatile(\"lock; {op}{suffix} %{part}1, %0\" : \"+m\"({place}) : \"q\"(x) : \"memory\", \"cc\");"
            )
        }
        2 => {
            let op = rng.pick(&["add", "sub", "and", "or", "xor"]);
            let number = rng.pick(&[1, -1, 5, 100]);
            format!("__asm__ volatile(\"lock; {op}{all} ${number}, %0\" : \"+m\"({place}) : : \"memory\", \"cc\");")
        }
        3 => {
            let op = rng.pick(&["inc", "dec"]);
            format!("__asm__ volatile(\"lock; {op}{all} %0\" : \"+m\"({place}) : : \"memory\", \"cc\");")
        }
        4 => {
            let op = rng.pick(&["lock; xadd", "xchg"]);
            format!(
                "{ty} x = ({ty})({value}); __asm__ volatile(\"{op}{suffix} %{part}0, %1\" : \"+q\"(x), \"+m\"({place}) : : \"memory\", \"cc\"); say((unsigned long)x);"
            )
        }
        5 => {
            let expected = if rng.chance(60) { format!("*({} *)p", width.unsigned) } else { "3".to_owned() };
            format!(
                "{0} old = ({0})({expected}), x = ({0})({value}); __asm__ volatile(\"lock; cmpxchg{suffix} %2, %1\" : \"+a\"(old), \"+m\"({place}) : \"q\"(x) : \"memory\", \"cc\"); say((unsigned long)old);",
                width.unsigned
            )
        }
        6 => {
            let width = rng.pick(&WIDTHS[1..]);
            let (op, bit) = (rng.pick(&["bts", "btr", "btc"]), rng.below(8 * width.bytes));
            format!(
                "unsigned char c; __asm__ volatile(\"lock; {op}{} ${bit}, %1; setc %0\" : \"=q\"(c), \"+m\"({place}) : : \"memory\", \"cc\"); say(c);",
                width.suffix
            )
        }
        7 => format!(
            "{ty} x = ({ty})({value}); __asm__ volatile(\"mov{suffix} %{part}1, %0\" : \"+m\"({place}) : \"q\"(x) : \"memory\");"
        ),
        _ => format!(
            "{0} x; __asm__ volatile(\"mov{suffix} %1, %0\" : \"=q\"(x) : \"m\"({place}) : \"memory\"); say((unsigned long)x);",
            width.unsigned
        ),
    }
}
