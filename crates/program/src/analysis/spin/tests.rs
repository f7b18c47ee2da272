//! Claims about spin loops: the shapes people and front ends write, and, on random loops, that no outcome is lost or invented.

use super::*;
use crate::program::Layout;
use crate::{parse, print, validate};
use raddle_testkit::Random;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What becomes of the loops of the first function with this body, and its text then.
fn converted(body: &str) -> (Vec<SpinKind>, String) {
    let text = format!(
        "global x: i32; global y: i32; global m: mutex;
         fn main() {{ {body} }}
         fn pause() {{ }}
         fn peek() -> i32 {{ let r = load y; return r; }}
         fn poke() {{ store y, 1; }}
         fn take() -> i32 {{ let old = rmw.xchg x, 1; return old; }}
         fn push() -> i32 {{ let n = load x; if n == 2 {{ return 0; }} store y, 1; return 1; }}
         fn look() -> i32 {{ let old = load x; if old == 0 {{ old = cas x, 0, 1; }} return old; }}"
    );
    let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let report = spin_loops(&mut program);
    validate(&program).expect("a converted program is valid");
    (report.loops.iter().map(|l| l.kind).collect(), print(&program))
}

#[test]
fn a_loop_around_one_load_is_a_waiting_load() {
    for body in [
        "let r: i32; do { r = load x; } while r != 1; store y, r;",
        "loop { let r = load x; if r == 1 { break; } }",
        "loop { let r = load.acq x; if !(r != 1) { break; } }",
        "let r: i32; let go = true; while go { r = load x; go = r != 1; }",
        "a: let r = load x; if r == 1 goto b else a; b: return;",
    ] {
        let (kinds, text) = converted(body);
        assert_eq!(kinds, [SpinKind::Load], "{text}");
        assert!(text.contains("until"), "{text}");
        assert!(!text.contains("spin"), "{text}");
    }
}

#[test]
fn the_condition_is_read_off_the_way_out() {
    let (_, text) = converted("let n = 3; loop { let r = load x; if r == n { break; } }");
    assert!(text.contains("r = load x until r == n"), "{text}");
    let (_, text) = converted("loop { let r = load x; if r == 1 { break; } if r > 5 { break; } }");
    assert!(text.contains("until"), "{text}");
}

#[test]
fn a_turn_that_may_fail_is_executed() {
    let (kinds, text) = converted("let s = 0; loop { let r = load x; s = 1 / r; if r == 1 { break; } }");
    assert_eq!(kinds, [SpinKind::Turn(1)], "{text}");
    let (kinds, text) = converted("loop { let r = load x; if r == 2 { error; } if r == 1 { break; } }");
    assert_eq!(kinds, [SpinKind::Turn(1)], "{text}");
}

#[test]
fn what_the_last_turn_computes_is_still_computed() {
    let (kinds, text) = converted("let s: i32; loop { let r = load x; s = r * 2; if r == 1 { break; } } store y, s;");
    assert_eq!(kinds, [SpinKind::Load]);
    assert!(text.contains("s = r * 2"), "{text}");
}

#[test]
fn a_loop_around_one_compare_exchange_is_a_waiting_one() {
    for body in [
        "loop { let old = cas.acq x, 0, 1; if old == 0 { break; } }",
        "let ok = false; while !ok { let old = cas.acq x, 0, 1; ok = old == 0; }",
        "let ok: i32; do { let old = cas x, 0, 1; ok = zext(i32, old == 0); } while ok == 0;",
        "let e = 0; loop { let held = e; let old = cas x, held, 1; e = old; if old == held { break; } e = 0; }",
        "let ok = 0; while ok == 0 { let old = cas x, 0, 1; ok = old == 0 ? 1 : 0; }",
    ] {
        let (kinds, text) = converted(body);
        assert_eq!(kinds, [SpinKind::Cas], "{text}");
        assert!(text.contains("wait"), "{text}");
    }
}

#[test]
fn test_and_set_of_a_flag_is_a_waiting_exchange() {
    let convert = |rest: &str, cond: &str| {
        let text = format!(
            "global flag: i8; fn main() {{ loop {{ let old = rmw.xchg.acq flag, 1; if {cond} {{ break; }} }} {rest} }}"
        );
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        let kinds: Vec<SpinKind> = spin_loops(&mut program).loops.iter().map(|l| l.kind).collect();
        validate(&program).expect("a converted program is valid");
        kinds
    };
    assert_eq!(convert("store.rel flag, 0;", "old == 0"), [SpinKind::Cas]);
    assert_eq!(convert("store.rel flag, 0;", "zext(i32, old) != 1"), [SpinKind::Cas]);
    // Somebody may put something else there: it waits only while it would put back what is there.
    assert_eq!(convert("store.rel flag, 2;", "old == 0"), [SpinKind::Update]);
    assert_eq!(convert("let p = &flag; store i8 *p, 2;", "old == 0"), [SpinKind::Update]);
    // It leaves when it failed.
    assert_eq!(convert("store.rel flag, 0;", "old == 1"), []);
}

#[test]
fn a_turn_that_does_more_than_one_thing_waits_at_its_end() {
    for body in [
        "loop { let a = load x; if a == 0 { break; } let b = load y; if b == 1 { break; } }",
        "loop { let e = load x; let old = cas x, e, e + 1; if old == e { break; } }",
        "loop { let ok = trylock m; if ok { break; } }",
        "loop { let a = load x; if a == 0 { break; } fence.sc; }",
        // Only the turn itself tells whether it had an effect.
        "loop { let old = cas x, 0, 1; if old == 0 { store y, 1; } if old == 7 { break; } }",
        "loop { cas x, 0, 1; let r = load y; if r == 1 { break; } }",
        "let e = 5; loop { let held = e; let old = cas x, held, 1; e = old; if old == held { break; } e = 0; }",
        "let e: i32; if true { e = 1; } loop { let old = cas x, e, 1; if old == e { break; } e = 0; }",
        "loop { let i = 0; while i < 3 { i = i + 1; } let r = load x; if r == 1 { break; } }",
        // The turns that end early wait, those that write do not.
        "loop { let a = load x; if a == 0 { continue; } store y, 1; if a == 2 { break; } }",
    ] {
        let (kinds, text) = converted(body);
        assert_eq!(kinds, [SpinKind::Turn(1)], "{text}");
        assert!(text.contains("spin"), "{text}");
    }
}

#[test]
fn an_update_that_changes_nothing_and_comes_back_waits() {
    for body in [
        "let p = &y; loop { let r = rmw.xchg i32 *p, 1; if r == 0 { break; } }",
        "loop { let r = rmw.or x, 2; if r == 0 { break; } }",
        "loop { let r = rmw.or x, 2; if (r & 2) == 0 { break; } pause(); }",
        "let n = 0; loop { let r = rmw.xchg x, 1; if r == 0 { break; } n = n + 1; } store x, 2;",
    ] {
        let (kinds, text) = converted(body);
        assert_eq!(
            kinds.last(),
            Some(if body.contains("pause") { &SpinKind::Turn(1) } else { &SpinKind::Update }),
            "{text}"
        );
        assert!(text.contains("until") || text.contains("unless"), "{text}");
    }
}

#[test]
fn an_update_among_other_reads_is_a_read_if_its_turn_is_dropped() {
    let (kinds, text) = converted(
        "let p = &y; loop { let a = load i32 *p; if a == 0 { let r = rmw.xchg i32 *p, 1; if r == 0 { break; } } }",
    );
    assert_eq!(kinds, [SpinKind::Turn(2)], "{text}");
    assert!(text.contains("unless r == 0") && text.contains("spin"), "{text}");
    // The turn that leaves has written.
    let (kinds, text) =
        converted("loop { let r = rmw.xchg x, 1; if r == 0 { break; } let s = load y; if s == 1 { break; } }");
    assert_eq!(kinds, [], "{text}");
    let (kinds, text) = converted(
        "let n = 0; loop { let s = load y; let r = rmw.xchg x, 1; if r == 0 { break; } n = n + s; } store y, n;",
    );
    assert_eq!(kinds, [], "{text}");
}

#[test]
fn a_function_that_tries_is_looked_into() {
    for body in
        ["loop { let a = load x; if a == 0 { break; } pause(); }", "loop { let a = call peek(); if a == 0 { break; } }"]
    {
        let (kinds, text) = converted(body);
        assert_eq!(kinds, [SpinKind::Load], "{text}");
    }
    let (kinds, text) = converted("loop { let r = call take(); if r == 0 { break; } }");
    assert_eq!(kinds, [SpinKind::Cas], "{text}");
    let (kinds, text) = converted("loop { let r = call look(); if r == 0 { break; } pause(); }");
    assert_eq!(kinds, [SpinKind::Turn(1)], "{text}");
    // What it returns tells whether it has written.
    let (kinds, text) = converted("loop { let r = call push(); if r != 0 { break; } }");
    assert_eq!(kinds, [SpinKind::Turn(1)], "{text}");
}

#[test]
fn test_and_test_and_set_is_a_wait_inside_a_wait() {
    let (kinds, text) = converted(
        "loop { loop { let r = load x; if r == 0 { break; } } let old = cas.acq x, 0, 1; if old == 0 { break; } }",
    );
    assert_eq!(kinds, [SpinKind::Load, SpinKind::Turn(1)], "{text}");
}

#[test]
fn a_first_look_before_a_loop_is_part_of_it() {
    for (body, kind) in [
        ("let a = load x; while a != 0 { a = load x; }", SpinKind::Load),
        ("let t = load x; let a = t; while a != 0 { let s = load x; a = s; }", SpinKind::Load),
        ("let a = cas x, 0, 1; while a != 0 { a = cas x, 0, 1; }", SpinKind::Cas),
        ("let a = call peek(); while a != 0 { a = call peek(); }", SpinKind::Load),
        ("let a = load y; let b = load x; while b != 0 { a = load y; b = load x; } store y, a;", SpinKind::Turn(1)),
    ] {
        let (kinds, text) = converted(body);
        assert_eq!(kinds, [kind], "{text}");
        let main = text.split("fn pause").next().unwrap_or_default();
        assert!(main.matches("load x").count() + main.matches("cas x").count() <= 1, "{text}");
    }
    // Not the same place, not the same in a register that lives on, not the same order.
    for body in [
        "let a = load x; while a != 0 { a = load y; }",
        "let a = load x; let b = 1; while a != 0 { a = load x; b = 2; } store y, b;",
        "let a = load.acq x; while a != 0 { a = load x; }",
    ] {
        let (_, text) = converted(body);
        let main = text.split("fn pause").next().unwrap_or_default();
        assert!(main.matches("a = load").count() + main.matches("a = cas").count() == 2, "{text}");
    }
}

#[test]
fn an_attempt_that_fails_is_the_next_look() {
    let retry = |body: &str| {
        let (kinds, text) = converted(body);
        assert_eq!(kinds, [SpinKind::Turn(1)], "{text}");
        let main = text.split("fn pause").next().unwrap_or_default().to_owned();
        // The turn ends before the look.
        let head = main.split("spin ").nth(1).and_then(|rest| rest.split(';').next()).unwrap_or_default().to_owned();
        let turn = main.split(&format!("  {head}:")).nth(1).unwrap_or_default().trim_start().to_owned();
        turn.starts_with("r = load")
    };
    assert!(retry("let r = load x; loop { let f = cas x, r, 7; if f == r { break; } r = f; }"));
    assert!(retry("let r = load x; loop { let f = cas x, r, r + 1; if f == r { break; } r = f; } store y, r;"));
    assert!(retry("let r = load x; loop { let d = load y; let s = load x; if r == s { break; } r = s; } store y, r;"));
    // Something else, something more, or less order.
    assert!(!retry("let r = load y; loop { let f = cas x, r, 7; if f == r { break; } r = f; }"));
    assert!(!retry("let r = load x; loop { let f = cas x, r, 7; if f == r { break; } r = f + 1; }"));
    assert!(!retry("let r = load.acq x; loop { let f = cas x, r, 7; if f == r { break; } r = f; }"));
}

#[test]
fn a_counter_nobody_reads_does_not_keep_a_loop_from_waiting() {
    let (kinds, _) = converted("let n = 0; loop { n = n + 1; let r = load x; if r == 1 { break; } }");
    assert_eq!(kinds, [SpinKind::Load]);
}

#[test]
fn a_loop_whose_turns_matter_is_left_alone() {
    for body in [
        "let n = 0; loop { let r = load x; if r == 1 { break; } n = n + 1; } store y, n;",
        "for i in 0..3 { let r = load x; if r == 1 { break; } }",
        "loop { let r = load x; if r == 1 { break; } store y, 1; }",
        "loop { let r = load x; if r == 1 { break; } poke(); }",
        "loop { let c = choose 0..2; if c == 0 { break; } let r = load x; }",
        "loop { lock m; let r = load x; unlock m; if r == 1 { break; } }",
        "loop { pause(); }",
    ] {
        let (kinds, text) = converted(body);
        assert_eq!(kinds, [], "{text}");
    }
}

/// A thread of the tiny machine below.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Thread {
    function: usize,
    block: BlockId,
    inst: usize,
    regs: Vec<u64>,
    callers: Vec<(Thread, Option<Reg>)>,
    /// Of the turns that have begun, by depth of calls and head: registers then, and whether they have had an effect.
    turns: BTreeMap<(usize, BlockId), (Vec<u64>, bool)>,
    finished: bool,
}

impl Thread {
    fn of(program: &Program, function: usize) -> Thread {
        let regs = vec![0; program.functions[function].regs.len()];
        let (callers, turns) = (Vec::new(), BTreeMap::new());
        Thread { function, block: BlockId(0), inst: 0, regs, callers, turns, finished: false }
    }

    fn go(&mut self, kept: &Kept, target: BlockId) {
        (self.block, self.inst) = (target, 0);
        if let Some(kept) = kept.get(&(self.function, target)) {
            let regs = kept.iter().map(|reg| self.regs[reg.index()]).collect();
            self.turns.insert((self.callers.len(), target), (regs, false));
        }
    }
}

/// By function and head, the registers that a turn without effect leaves as they are.
type Kept = FxHashMap<(usize, BlockId), Vec<Reg>>;

fn kept(program: &Program) -> Kept {
    let mut all = Kept::default();
    for (index, function) in program.functions.iter().enumerate() {
        let cfg = Cfg::new(function);
        let live = Liveness::new(function, &cfg);
        for l in Loops::new(function, &cfg).list {
            all.insert((index, l.head), crate::analysis::loops::kept(function, &l, &live));
        }
    }
    all
}

/// Every final memory of a program whose first function spawns nothing: functions 1 and 2 run as threads over the globals,
/// one byte each. A turn without effect before a spin waits for ever, so only executions without such turns come to an end.
fn outcomes(program: &Program) -> FxHashSet<Vec<u64>> {
    let kept = kept(program);
    let thread = |function: usize| {
        let mut thread = Thread::of(program, function);
        thread.go(&kept, BlockId(0));
        thread
    };
    assert!(program.globals.iter().all(|global| matches!(global.layout, Layout::Scalar(crate::Type::I8))));
    let start = (vec![thread(1), thread(2)], vec![0; program.globals.len()]);
    let mut seen = FxHashSet::default();
    let mut todo = vec![start];
    let mut out = FxHashSet::default();
    while let Some((threads, memory)) = todo.pop() {
        if !seen.insert((threads.clone(), memory.clone())) {
            continue;
        }
        if threads.iter().all(|thread| thread.finished) {
            out.insert(memory);
            continue;
        }
        for index in 0..threads.len() {
            let (mut threads, mut memory) = (threads.clone(), memory.clone());
            if !threads[index].finished && step(program, &kept, &mut threads[index], &mut memory) {
                todo.push((threads, memory));
            }
        }
    }
    out
}

fn eval(function: &Function, regs: &[u64], expr: &Expr) -> u64 {
    let value = |expr: &Expr| eval(function, regs, expr);
    match expr {
        Expr::Const(_, value) => *value,
        Expr::Reg(reg) => regs[reg.index()],
        Expr::Unary(op, a) => op.apply(function.expr_type(a), value(a)),
        Expr::Binary(op, a, b) => op.apply(function.expr_type(a), value(a), value(b)).expect("no division"),
        Expr::Cast(op, to, a) => op.apply(function.expr_type(a), *to, value(a)).expect("no addresses"),
        Expr::Select(c, a, b) => value(if value(c) == 1 { a } else { b }),
        Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => panic!("no addresses in values"),
    }
}

/// One instruction or terminator; false if the thread waits.
fn step(program: &Program, kept: &Kept, thread: &mut Thread, memory: &mut [u64]) -> bool {
    let function = &program.functions[thread.function];
    let block = &function.blocks[thread.block.index()];
    let cell = |addr: &Expr| match addr {
        Expr::Global(id) => id.index(),
        _ => panic!("addresses are globals"),
    };
    let Some(inst) = block.insts.get(thread.inst) else {
        let value = |expr: &Expr| eval(function, &thread.regs, expr);
        let target = match &block.term.kind {
            Term::Goto(target) => *target,
            Term::If(cond, a, b) => {
                if value(cond) == 1 {
                    *a
                } else {
                    *b
                }
            }
            Term::Return(result) => {
                let result = result.as_ref().map(value);
                let Some((caller, dst)) = thread.callers.pop() else {
                    thread.finished = true;
                    return true;
                };
                let (callers, turns) = (std::mem::take(&mut thread.callers), std::mem::take(&mut thread.turns));
                *thread = Thread { callers, turns, ..caller };
                if let (Some(dst), Some(result)) = (dst, result) {
                    thread.regs[dst.index()] = result;
                }
                thread.inst += 1;
                return true;
            }
            Term::Spin(head) => {
                let (regs, effect) = &thread.turns[&(thread.callers.len(), *head)];
                let registers = kept[&(thread.function, *head)].iter().map(|reg| thread.regs[reg.index()]);
                if !effect && registers.eq(regs.iter().copied()) {
                    return false;
                }
                *head
            }
            other => panic!("{other:?} is reached"),
        };
        thread.go(kept, target);
        return true;
    };
    let mut effect = false;
    match &inst.op {
        Op::Assign { dst, value } => thread.regs[dst.index()] = eval(function, &thread.regs, value),
        Op::Load { dst, addr, until, .. } => {
            let mut regs = thread.regs.clone();
            if let Some(dst) = dst {
                regs[dst.index()] = memory[cell(addr)];
            }
            if until.as_ref().is_some_and(|cond| eval(function, &regs, cond) == 0) {
                return false;
            }
            thread.regs = regs;
        }
        Op::Store { addr, value, .. } => {
            memory[cell(addr)] = eval(function, &thread.regs, value);
            effect = true;
        }
        Op::Rmw { dst, op, ty, addr, operand, idle, .. } => {
            let old = memory[cell(addr)];
            let new = op.apply(*ty, old, eval(function, &thread.regs, operand));
            let mut regs = thread.regs.clone();
            if let Some(dst) = dst {
                regs[dst.index()] = old;
            }
            if let Some(idle) = idle
                && old == new
                && eval(function, &regs, &idle.until) == 0
            {
                if idle.wait {
                    return false;
                }
            } else {
                effect = true;
            }
            memory[cell(addr)] = new;
            thread.regs = regs;
        }
        Op::Cas { dst, addr, expected, desired, wait, .. } => {
            let old = memory[cell(addr)];
            if old == eval(function, &thread.regs, expected) {
                memory[cell(addr)] = eval(function, &thread.regs, desired);
                effect = true;
            } else if *wait {
                return false;
            }
            if let Some(dst) = dst {
                thread.regs[dst.index()] = old;
            }
        }
        Op::Call { dst, callee: Callee::Direct(id), .. } => {
            let mut callers = std::mem::take(&mut thread.callers);
            callers.push((thread.clone(), *dst));
            let turns = std::mem::take(&mut thread.turns);
            *thread = Thread { callers, turns, ..Thread::of(program, id.index()) };
            thread.go(kept, BlockId(0));
            return true;
        }
        Op::Assume { cond } => {
            if eval(function, &thread.regs, cond) == 0 {
                return false;
            }
        }
        other => panic!("{other:?} is not used here"),
    }
    thread.turns.values_mut().for_each(|turn| turn.1 |= effect);
    thread.inst += 1;
    true
}

fn random_condition(rng: &mut Random) -> String {
    let reg = |rng: &mut Random| rng.pick(&["a", "b", "c", "n"]);
    let (left, right) = (reg(rng), if rng.one_in(2) { reg(rng).to_owned() } else { rng.below(3).to_string() });
    let simple = format!("{left} {} {right}", rng.pick(&["==", "!=", "<"]));
    match rng.below(4) {
        0 => format!("!({simple})"),
        1 => format!("{simple} {} {} == {}", rng.pick(&["&&", "||"]), reg(rng), rng.below(3)),
        2 => format!("zext(i8, {simple}) != 0"),
        _ => simple,
    }
}

fn random_statements(rng: &mut Random, depth: u32) -> String {
    let mut out = String::new();
    for _ in 0..1 + rng.below(4) {
        let cond = random_condition(rng);
        let (reg, var) = (rng.pick(&["a", "b", "c"]), rng.pick(&["x", "y"]));
        out += &match rng.below(13) {
            0..3 => format!("{reg} = load {var};"),
            3 | 4 => format!("{reg} = cas {var}, {}, {};", rng.below(2), rng.below(3)),
            5 => format!("{reg} = (a + b) & 3;"),
            6 if rng.one_in(2) => format!("{reg} = {};", rng.below(2)),
            6 => "n = (n + 1) & 3;".to_owned(),
            7 if depth > 0 => format!("if {cond} {{ {} }}", random_statements(rng, depth - 1)),
            8 if depth > 0 => format!("loop {{ {} if {cond} {{ break; }} }}", random_statements(rng, depth - 1)),
            9 => format!("if {cond} {{ continue; }}"),
            11 if rng.one_in(2) => {
                let op = rng.pick(&["xchg", "or", "and", "xor"]);
                format!("{reg} = rmw.{op} {var}, {};", rng.below(3))
            }
            12 => format!("{reg} = call {}();", rng.pick(&["take", "look"])),
            10 if rng.one_in(4) => format!("store {var}, {};", rng.below(3)),
            _ => format!("if {cond} {{ break; }}"),
        };
    }
    out
}

#[test]
fn on_random_loops_no_outcome_is_lost_and_none_is_new() {
    let mut rng = Random::new(21);
    let (mut programs, mut stops, mut loads, mut exchanges, mut updates, mut turns) = (0, 0, 0, 0, 0, 0);
    while programs < 3000 {
        let (body, leave) = if rng.one_in(5) {
            let (var, expected, filler) = (rng.pick(&["x", "y"]), rng.below(2), rng.pick(&["", "n = (n + 1) & 3;"]));
            let cond = if rng.one_in(4) { random_condition(&mut rng) } else { format!("a == {expected}") };
            let op = rng.pick(&["xchg", "xchg", "or", "and", "add"]);
            let action = if rng.one_in(3) { format!("cas {var}, {expected}, 2") } else { format!("rmw.{op} {var}, 1") };
            (format!("a = {action}; {filler}"), cond)
        } else {
            (random_statements(&mut rng, 2), random_condition(&mut rng))
        };
        let kept = rng.pick(&["0", "a", "b", "c", "n", "a + b"]);
        let mut other = String::new();
        for _ in 0..1 + rng.below(4) {
            let values = if rng.one_in(3) { 3 } else { 2 };
            other += &format!("store {}, {};", rng.pick(&["x", "y"]), rng.below(values));
        }
        let text = format!(
            "global x: i8; global y: i8; global z: i8; fn main() {{}}
             fn waiter() {{ let a: i8; let b: i8; let c: i8; let n: i8; loop {{ {body} if {leave} {{ break; }} }} store z, {kept}; }}
             fn writer() {{ {other} }}
             fn take() -> i8 {{ let old = rmw.xchg x, 1; return old; }}
             fn look() -> i8 {{ let old = load x; if old == 0 {{ old = cas x, 0, 1; }} return old; }}"
        );
        let program = parse("random.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        if program.functions[1].blocks.len() > 30 {
            continue;
        }
        programs += 1;
        let mut changed = program.clone();
        stop_silent_loops(&mut changed);
        if print(&changed) != print(&program) {
            stops += 1;
            validate(&changed).expect("a changed program is valid");
            assert_eq!(outcomes(&program), outcomes(&changed), "{text}\nbecame\n{}", print(&changed));
        }
        let report = spin_loops(&mut changed);
        for found in &report.loops {
            match found.kind {
                SpinKind::Load => loads += 1,
                SpinKind::Cas => exchanges += 1,
                SpinKind::Update => updates += 1,
                SpinKind::Turn(_) => turns += 1,
            }
        }
        if !report.loops.is_empty() {
            validate(&changed).expect("a converted program is valid");
            assert_eq!(outcomes(&program), outcomes(&changed), "{text}\nbecame\n{}", print(&changed));
        }
    }
    println!(
        "{programs} programs: {stops} with turns that repeat for ever, {loads} waiting loads, {exchanges} exchanges, {updates} updates, {turns} spins"
    );
    assert!(stops > 30, "{stops}");
    assert!(loads > 30 && exchanges > 30 && updates > 30 && turns > 100, "{loads} {exchanges} {updates} {turns}");
}

#[test]
fn thousands_of_loops_are_looked_at_in_a_moment() {
    let wait = "loop { let r = load x; if r == 1 { break; } }";
    let count = "loop { let r = load x; if r == 1 { break; } store x, 2; }";
    let (kinds, _) = converted(&format!("{} {}", wait.repeat(2000), count.repeat(2000)));
    assert_eq!(kinds.len(), 2000);
    let (kinds, _) = converted(&format!("{wait} {}{wait}{}", "loop { pause(); ".repeat(90), "}".repeat(90)));
    assert_eq!(kinds.len(), 3);
}
