//! Claims about the text form on random programs and random damage.

use crate::program::{Layout, Program};
use crate::testing::{random_program, without_spans};
use crate::{parse, print, validate};
use raddle_testkit::{Random, damaged};
use rustc_hash::FxHashSet;
use std::mem::discriminant;

#[test]
fn random_programs_are_valid() {
    let mut rng = Random::new(1);
    for _ in 0..3000 {
        let program = random_program(&mut rng);
        if let Err(errors) = validate(&program) {
            panic!("{errors:?}\n{}", print(&program));
        }
    }
}

#[test]
fn parsing_what_was_printed_gives_the_same_program() {
    let mut rng = Random::new(2);
    for _ in 0..5000 {
        let program = random_program(&mut rng);
        let text = print(&program);
        let again = match parse("printed.rdl", &text, &[]) {
            Ok(again) => again,
            Err(errors) => panic!("{errors}\n{text}"),
        };
        let (before, after) = (without_spans(&program), without_spans(&again));
        assert_eq!(before.globals, after.globals, "{text}");
        assert_eq!(before.functions, after.functions, "{text}");
        assert_eq!(before.entry, after.entry, "{text}");
        assert_eq!(before.entry_exits, after.entry_exits, "{text}");
        assert_eq!(print(&again), text);
    }
}

#[test]
fn random_programs_use_everything_there_is() {
    let mut rng = Random::new(3);
    let (mut ops, mut terms, mut layouts) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
    for _ in 0..500 {
        let program = random_program(&mut rng);
        layouts.extend(program.globals.iter().map(|object| discriminant(&object.layout)));
        for block in program.functions.iter().flat_map(|function| &function.blocks) {
            ops.extend(block.insts.iter().map(|inst| discriminant(&inst.op)));
            terms.insert(discriminant(&block.term.kind));
        }
    }
    assert_eq!((ops.len(), terms.len(), layouts.len()), (36, 8, 9));
}

/// Texts to damage: the examples, and printed random programs.
fn seeds(rng: &mut Random) -> Vec<String> {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut seeds = vec![
        "param N = 2; fn main() { for i in 0..N { let r = choose 0..N; assert r < N, \"m\"; } }".to_owned(),
        "global a: i32[3] = {1, 2}; fn main() { let r = load.acq a[1]; cas.sc a[0], r, 1 wait; }".to_owned(),
    ];
    for entry in std::fs::read_dir(examples).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "rdl") {
            seeds.extend(std::fs::read_to_string(entry.path()));
        }
    }
    let printed = std::iter::repeat_with(|| print(&random_program(rng)));
    seeds.extend(printed.filter(|text| text.len() < 1200).take(40));
    seeds
}

const PIECES: [&str; 18] =
    ["{", "}", "(", ")", ";", ",", "*", "&", "-", "..", "\"", "`", "/*", "é", "\0", "load", "i32", "choose"];

#[test]
fn a_hundred_thousand_damaged_texts_end_in_a_value_or_a_diagnostic() {
    let mut rng = Random::new(4);
    let seeds = seeds(&mut rng);
    let (mut programs, mut errors) = (0, 0);
    for _ in 0..100_000 {
        let text = damaged(&seeds, &PIECES, &mut rng);
        let text = String::from_utf8_lossy(&text);
        match parse("damaged.rdl", &text, &[]) {
            Ok(program) => {
                programs += 1;
                let printed = print(&program);
                assert!(parse("printed.rdl", &printed, &[]).is_ok(), "{printed}");
            }
            Err(found) => {
                errors += 1;
                assert!(!found.diagnostics.is_empty() && found.diagnostics.len() <= super::MAX_ERRORS);
                assert!(!found.to_string().is_empty());
            }
        }
    }
    println!("{programs} programs, {errors} rejected");
    assert!(programs > 1000 && errors > 1000);
}

/// Breaks a valid program somewhere inside.
fn broken(program: &mut Program, rng: &mut Random) {
    use crate::{BlockId, Expr, FuncId, GlobalId, LocalId, Op, Ordering, Reg, Term, Type};
    let wild = rng.pick(&[0, 1, 3, 100, u32::MAX]);
    let function = rng.below(program.functions.len());
    let function = &mut program.functions[function];
    let block = rng.below(function.blocks.len());
    let block = &mut function.blocks[block];
    let expr = rng.pick(&[
        Expr::Reg(Reg(wild)),
        Expr::Global(GlobalId(wild)),
        Expr::Local(LocalId(wild)),
        Expr::Func(FuncId(wild)),
        Expr::Const(Type::I1, u64::MAX),
    ]);
    match rng.below(8) {
        0 => function.params = wild,
        1 => drop(function.regs.pop()),
        2 => drop(function.locals.pop()),
        3 => block.term.kind = Term::Goto(BlockId(wild)),
        4 => block.term.kind = Term::Return(Some(expr)),
        5 => program.globals.truncate(wild as usize),
        6 => function.blocks.clear(),
        _ => {
            for inst in &mut block.insts {
                match &mut inst.op {
                    Op::Store { value, order, .. } => {
                        *value = expr.clone();
                        *order = Ordering::Acquire;
                    }
                    Op::Assign { dst, .. } | Op::Choose { dst, .. } | Op::ThreadId { dst } => *dst = Reg(wild),
                    Op::Lock { mutex, .. } => *mutex = expr.clone(),
                    _ => inst.op = Op::AtomicBegin,
                }
            }
        }
    }
    if rng.one_in(10) {
        program.entry = Some(FuncId(wild));
    }
}

#[test]
fn the_validator_survives_broken_programs_and_what_it_lets_through_can_be_printed() {
    let mut rng = Random::new(5);
    let mut rejected = 0;
    for _ in 0..5000 {
        let mut program = random_program(&mut rng);
        broken(&mut program, &mut rng);
        match validate(&program) {
            Ok(()) => drop(print(&program)),
            Err(errors) => {
                assert!(!errors.is_empty());
                rejected += 1;
            }
        }
    }
    assert!(rejected > 1000, "{rejected}");
}

#[test]
fn objects_of_any_size_are_measured_without_overflow() {
    assert_eq!(Layout::Array(crate::Type::I64, u32::MAX).size(), u32::MAX);
}
