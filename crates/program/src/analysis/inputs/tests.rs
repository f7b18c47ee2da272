//! What inputs are asked for, on small programs.

use super::*;
use crate::{parse, print};
use raddle_testkit::Random;

/// The values of the first input of `body` that are explored, as they are printed, and whether that is all that matters. In the end
/// somebody may look at memory.
fn explored_in(range: Option<(i64, i64)>, body: &str) -> (String, bool) {
    let text = format!(
        "global g: i32; fn main() {{ {body} spawn other(); }}
        fn other() {{ let r = load g; }} fn taker(p: ptr) {{ }} fn check(ok: i32) {{ if ok == 0 {{ exit; }} }} fn pass(x: i32) -> i32 {{ return x + 1; }}"
    );
    let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    program.inputs.range = range;
    resolve_inputs(&mut program);
    crate::validate(&program).unwrap_or_else(|errors| panic!("{errors:?}"));
    let printed = print(&program);
    let values = printed.split("choose").nth(1).map_or("nothing", |rest| rest.split(';').next().unwrap_or(""));
    let values = values.trim().trim_start_matches("signed").trim().trim_start_matches("in").trim();
    (values.to_owned(), program.inputs.sampled.is_empty())
}

fn explored(body: &str) -> String {
    let (values, all) = explored_in(None, body);
    assert!(all, "{body}");
    values
}

fn too_many(body: &str) -> String {
    let (values, all) = explored_in(None, body);
    assert!(!all, "{body}");
    values
}

#[test]
fn assumptions_bound_an_input() {
    assert_eq!(explored("let x: i32 = choose signed; assume x >= 1 && x <= 11; store g, x;"), "1..=11");
    assert_eq!(explored("let x: i32 = choose signed; assume 1 <= x; assume !(11 < x); store g, x;"), "1..=11");
    assert_eq!(explored("let x: i32 = choose signed; assume -2 <= x && x < 2; store g, x;"), "0..=1, -2..=-1");
    assert_eq!(explored("let x: i32 = choose; assume x <u 3; store g, x;"), "0..=2");
    assert_eq!(explored("let x: i8 = choose; store i8 g, x;"), "0..=255");
    let wide = "let x: i32 = choose signed; let y = sext(i64, x); assume y >= 5i64 && y < 7i64; store g, x;";
    assert_eq!(explored(wide), "5..=6");
    assert_eq!(explored("let x: i32 = choose signed; let y = 10 - x; assume y >= 0 && y <= 2; store g, y;"), "8..=10");
}

#[test]
fn branches_bound_an_input() {
    assert_eq!(explored("let x: i32 = choose signed; if x < 0 || x > 3 { return; } store g, x;"), "0..=4");
    assert_eq!(explored("let x: i32 = choose signed; if x != 0 { store g, 1; }"), "0..=1");
    assert_eq!(
        explored("let x: i32 = choose; switch x { 3: { store g, 1; } 9: { store g, 2; } default: { store g, 3; } }"),
        "0..=0, 3..=3, 9..=9"
    );
    let clamped = "let x: i32 = choose signed; if x > 2 { x = 2; } if x < 0 { x = 0; } store g, x;";
    assert_eq!(explored(clamped), "0..=3, -1..=-1");
    // The test of something else leads both ways.
    let other =
        "let x: i32 = choose signed; let r = load g; if r == 0 { assume x == 4; } else { assume x == 6; } store g, x;";
    assert_eq!(explored(other), "4..=4, 6..=6");
    let both = "let x: i32 = choose signed; assert x < 5, \"small\"; assume x > 2; store g, x;";
    assert!(!explored_in(None, both).1, "an assertion that fails may be passed");
}

#[test]
fn calls_are_followed() {
    assert_eq!(explored("let x: i32 = choose signed; call check(zext(i32, x >= 1 && x <= 3)); store g, x;"), "0..=3");
    assert_eq!(explored("let x: i32 = choose signed; let y = call pass(x); assume y == 4; store g, y;"), "3..=3");
}

#[test]
fn remainders_ask_for_as_many_values_as_they_have() {
    assert_eq!(explored("let x: i32 = choose; let y = x %u 4; store g, y;"), "0..=3");
    assert_eq!(explored("let x: i32 = choose signed; let y = x % 4; store g, y;"), "0..=3, -4..=-1");
    assert_eq!(explored("let x: i32 = choose signed; assume x >= 0; let y = x % 4; store g, y;"), "0..=3");
    assert_eq!(explored("let x: i32 = choose signed; let y = x & 5; store g, y;"), "0..=7");
    assert_eq!(explored("let x: i32 = choose signed; if x % 2 == 0 { store g, 1; }"), "0..=1, -2..=-1");
    // The whole of it is used as well.
    too_many("let x: i32 = choose; let y = x %u 4; store g, y; store g, x;");
    too_many("let x: i32 = choose; let y = x %u 4; let z = x %u 3; store g, y; store g, z;");
}

#[test]
fn an_input_that_may_be_anything_is_tried_with_a_few_values() {
    assert_eq!(too_many("let x: i32 = choose signed; store g, x;"), "0..=3");
    assert_eq!(too_many("let x: i32 = choose signed; assume x < 0; store g, x;"), "-4..=-1");
    assert_eq!(too_many("let x: i32 = choose signed; let r = load g; assume x < r; store g, x;"), "0..=3");
    assert_eq!(too_many("let x: i32 = choose signed; while x > 0 { x = x - 1; store g, 1; }"), "0..=3");
}

#[test]
fn nobody_asks_for_a_value_that_is_not_used() {
    assert_eq!(explored("let x: i32 = choose signed; store g, 1;"), "0..=0");
    assert_eq!(explored("let x: i32 = choose signed; print \"{}\", x;"), "0..=0");
    assert_eq!(explored("let x: i32 = choose signed; assume x > 5 && x < 3; store g, x;"), "0..=0");
}

#[test]
fn a_range_that_is_asked_for_is_kept() {
    let body = "let x: i32 = choose signed; store g, x;";
    assert_eq!(explored_in(Some((2, 900)), body), ("2..=900".to_owned(), true));
    assert_eq!(explored_in(Some((-1, 1)), body), ("0..=1, -1..=-1".to_owned(), true));
    assert_eq!(explored_in(Some((0, 100_000)), body), ("0..=3".to_owned(), false));
    assert_eq!(explored_in(Some((-5, 5)), "let x: i32 = choose; store g, x;"), ("0..=5".to_owned(), true));
    assert_eq!(explored_in(Some((-5, -1)), "let x: i32 = choose; store g, x;"), ("nothing".to_owned(), true));
    assert_eq!(
        explored_in(Some((0, 9)), "let x: i32 = choose; assume x == 3; store g, x;"),
        ("3..=3".to_owned(), true)
    );
}

/// What others see of a program without loops and with this input: how its assertions go, what is in memory when a thread is started, what it
/// stores then; nothing if it does not get through. Loads find `seen` unless the program has stored something there and is alone.
fn run(program: &crate::Program, input: u64, seen: u64) -> Option<Vec<u64>> {
    let (mut alone, mut memory) = (true, std::collections::BTreeMap::new());
    use crate::inst::Term;
    let mut stored = Vec::new();
    let mut frames = vec![(FuncId(0), BlockId(0), 0, vec![0; program.functions[0].regs.len()])];
    while let Some((id, block, at, regs)) = frames.last_mut() {
        let function = &program.functions[id.index()];
        let value = |expr: &Expr, regs: &[u64]| evaluate(function, expr, regs);
        let code = &function.blocks[block.index()];
        let Some(inst) = code.insts.get(*at) else {
            match &code.term.kind {
                Term::Goto(to) => (*block, *at) = (*to, 0),
                Term::If(cond, a, b) => (*block, *at) = (if value(cond, regs) != 0 { *a } else { *b }, 0),
                Term::Switch(subject, cases, default) => {
                    let subject = value(subject, regs);
                    let case = cases.iter().find(|case| case.0 == subject);
                    (*block, *at) = (case.map_or(*default, |case| case.1), 0);
                }
                Term::Return(result) => {
                    let result = result.as_ref().map_or(0, |result| value(result, regs));
                    frames.pop();
                    if let Some((id, block, at, regs)) = frames.last_mut()
                        && let Some(dst) = program.functions[id.index()].blocks[block.index()].insts[*at - 1].op.dst()
                    {
                        regs[dst.index()] = result;
                    }
                }
                other => panic!("{other:?}"),
            }
            continue;
        };
        *at += 1;
        match &inst.op {
            Op::Input { dst, .. } => regs[dst.index()] = input,
            Op::Assign { dst, value: expr } => regs[dst.index()] = value(expr, regs),
            Op::Spawn { .. } => {
                alone = false;
                stored.extend(memory.values());
            }
            Op::Load { dst: Some(dst), addr, .. } => {
                regs[dst.index()] = memory.get(&format!("{addr:?}")).copied().filter(|_| alone).unwrap_or(seen);
            }
            Op::Store { addr, value: expr, .. } if alone => {
                memory.insert(format!("{addr:?}"), value(expr, regs));
            }
            Op::Store { value: expr, .. } => stored.push(value(expr, regs)),
            Op::Assume { cond } if value(cond, regs) == 0 => return None,
            Op::Assert { cond, .. } => stored.push(1000 + value(cond, regs)),
            Op::Call { callee: crate::Callee::Direct(id), args, .. } => {
                let callee = &program.functions[id.index()];
                let mut fresh: Vec<u64> = args.iter().map(|arg| value(arg, regs)).collect();
                fresh.resize(callee.regs.len(), 0);
                frames.push((*id, BlockId(0), 0, fresh));
            }
            _ => {}
        }
    }
    Some(stored)
}

fn evaluate(function: &crate::Function, expr: &Expr, regs: &[u64]) -> u64 {
    let value = |expr: &Expr| evaluate(function, expr, regs);
    match expr {
        Expr::Const(_, value) => *value,
        Expr::Reg(reg) => regs[reg.index()],
        Expr::Unary(op, a) => op.apply(function.expr_type(a), value(a)),
        Expr::Binary(op, a, b) => op.apply(function.expr_type(a), value(a), value(b)).expect("no division by zero"),
        Expr::Cast(op, to, a) => op.apply(function.expr_type(a), *to, value(a)).expect("no addresses"),
        Expr::Select(cond, a, b) => value(if value(cond) != 0 { a } else { b }),
        other => panic!("{other:?}"),
    }
}

/// A random sequence of statements over the registers `x` (the input), `y` and `z`, all of eight bits.
fn statements(rng: &mut Random, depth: usize, out: &mut String) {
    let reg = |rng: &mut Random| rng.pick(&["x", "x", "x", "y", "z"]);
    let number = |rng: &mut Random| rng.pick(&[-128, -3, -1, 0, 1, 2, 5, 16, 100, 127]);
    let cond = |rng: &mut Random| {
        let one = |rng: &mut Random| {
            let compare = rng.pick(&["<", "<=", ">", ">=", "==", "!=", "<u", "<=u"]);
            match rng.below(8) {
                0 => format!("{} {compare} {}", number(rng), reg(rng)),
                1 => format!("sext(i32, {}) {compare} {}i32", reg(rng), number(rng)),
                2 => format!("{} % {} {compare} 1", reg(rng), rng.pick(&[2, 3, 8])),
                3 => format!("{} {compare} {}", reg(rng), reg(rng)),
                4 => format!("zext(i8, {} {compare} {}) == {}", reg(rng), number(rng), rng.below(2)),
                _ => format!("{} {compare} {}", reg(rng), number(rng)),
            }
        };
        match rng.below(4) {
            0 => format!("{} && {}", one(rng), one(rng)),
            1 => format!("{} || {}", one(rng), one(rng)),
            2 => format!("!({})", one(rng)),
            _ => one(rng),
        }
    };
    for _ in 0..1 + rng.below(3) {
        match rng.below(10) {
            0 => *out += &format!("assume {};\n", cond(rng)),
            1 => *out += &format!("store i8 {}, {};\n", rng.pick(&["g", "m"]), reg(rng)),
            2 => {
                *out += &format!(
                    "{} = {} {} {};\n",
                    rng.pick(&["y", "z", "x"]),
                    reg(rng),
                    rng.pick(&["+", "-", "&", "^"]),
                    number(rng)
                )
            }
            3 => *out += &format!("{} = {} - {};\n", rng.pick(&["y", "z"]), number(rng), reg(rng)),
            4 => *out += &format!("{} = {} %u {};\n", rng.pick(&["y", "z", "x"]), reg(rng), rng.pick(&[2, 4, 5])),
            5 => *out += &format!("{} = load i8 {};\n", rng.pick(&["y", "z"]), rng.pick(&["g", "m"])),
            6 => *out += &format!("{} = call pass({});\n", rng.pick(&["y", "x"]), reg(rng)),
            7 => *out += &format!("assert {}, \"\";\n", cond(rng)),
            _ if depth > 0 => {
                *out += &format!("if {} {{\n", cond(rng));
                statements(rng, depth - 1, out);
                *out += "} else {\n";
                statements(rng, depth - 1, out);
                *out += "}\n";
            }
            _ => *out += "store i8 g, 7;\n",
        }
    }
}

#[test]
fn no_behaviour_is_lost() {
    let mut rng = Random::new(17);
    let (mut fewer, mut bounded) = (0, 0);
    for _ in 0..1200 {
        let mut body = String::new();
        statements(&mut rng, 3, &mut body);
        let (first, second) = rng.pick(&[("", ""), ("", "store i8 g, x; y = load i8 g;"), ("spawn idle();", "")]);
        let text = format!(
            "global g: i8; fn main() {{ var m: i8; let y: i8; let z: i8; {first} let x: i8 = choose signed; {second}\n{body} spawn idle(); }}
            fn pass(a: i8) -> i8 {{ if a <u 10 {{ return a; }} let b = load i8 g; return b; }}
            fn idle() {{ }}"
        );
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        let before = program.clone();
        resolve_inputs(&mut program);
        let inputs =
            program.functions[0].blocks.iter().flat_map(|block| &block.insts).find_map(|inst| match &inst.op {
                Op::Input { values, .. } => values.clone(),
                _ => None,
            });
        let inputs: Vec<u64> = inputs.into_iter().flatten().flat_map(|(low, high)| low..=high).collect();
        fewer += usize::from(inputs.len() < 256);
        bounded += usize::from(inputs.len() < 20);
        for seen in [0, 1, 5, 200] {
            let does = |inputs: &mut dyn Iterator<Item = u64>| {
                inputs.filter_map(|input| run(&before, input, seen)).collect::<std::collections::BTreeSet<_>>()
            };
            let (all, some) = (does(&mut (0..256)), does(&mut inputs.iter().copied()));
            assert!(all == some, "{text}\nwith {inputs:?} and {seen}: {:?} is lost", all.difference(&some).next());
        }
    }
    assert!(fewer > 400 && bounded > 300, "{fewer}, {bounded}");
}

#[test]
fn an_input_is_followed_through_memory_while_nobody_else_is_there() {
    assert_eq!(
        explored("let x: i32 = choose signed; store g, x; let y = load g; assume y >= 1 && y <= 5; spawn other();"),
        "1..=5"
    );
    assert_eq!(
        explored(
            "let x: i32 = choose signed; store g, x; let y = load g; if y < 1 || y > 5 { return; } spawn other();"
        ),
        "0..=5"
    );
    let local = "var m: i32; let x: i32 = choose signed; store m, x; let y = load m; assume y == 2; spawn taker(&m);";
    assert_eq!(explored(local), "2..=2");
    too_many("spawn other(); let x: i32 = choose signed; store g, x; let y = load g; assume y == 1;");
    too_many("let x: i32 = choose signed; store g, x; spawn other(); let y = load g; assume y == 1;");
    // A pointer may lead there.
    too_many("let p = &g; let x: i32 = choose signed; store g, x; store i32 *p, 3; let y = load g; assume y == 3;");
    too_many("let x: i32 = choose signed; store g, x; let y: i8 = load i8 g; assume y == 1i8;");
}
