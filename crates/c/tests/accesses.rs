//! What a C program does to memory can be counted: one read or write of an lvalue is one load or store.

mod support;

use raddle_c::{Options, compile_preprocessed};
use raddle_program::{Function, Layout, Op, Ordering, Program, Term, Type};

fn program(text: &str) -> Program {
    compile_preprocessed("t.i", text, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}")).program
}

fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    &program.functions[program.function(name).expect("lowered").index()]
}

/// Loads, stores, read-modify-writes and compare-exchanges of a function.
fn counts(function: &Function) -> (usize, usize, usize, usize) {
    let ops = || function.blocks.iter().flat_map(|b| &b.insts).map(|i| &i.op);
    (
        ops().filter(|op| matches!(op, Op::Load { .. })).count(),
        ops().filter(|op| matches!(op, Op::Store { .. })).count(),
        ops().filter(|op| matches!(op, Op::Rmw { .. })).count(),
        ops().filter(|op| matches!(op, Op::Cas { .. })).count(),
    )
}

#[track_caller]
fn body_counts(globals: &str, body: &str, expected: (usize, usize, usize, usize)) {
    let program = program(&format!("{globals}\nvoid f(void) {{ {body} }} int main(void) {{ f(); return 0; }}"));
    assert_eq!(counts(function(&program, "f")), expected, "{body}\n{}", raddle_program::print(&program));
}

#[test]
fn a_compound_assignment_of_a_plain_object_is_one_load_and_one_store() {
    body_counts("int x, y;", "x += 1;", (1, 1, 0, 0));
    body_counts("int x, y;", "x++;", (1, 1, 0, 0));
    body_counts("int x, y;", "x = y;", (1, 1, 0, 0));
    body_counts("int x, y;", "x += y * y;", (3, 1, 0, 0));
    body_counts("int a[4], i;", "a[i] = a[i + 1];", (3, 1, 0, 0));
    body_counts("int x;", "int y = x ? x : 1;", (2, 0, 0, 0));
    body_counts("int x;", "x;", (0, 0, 0, 0));
    body_counts("volatile int x;", "x;", (1, 0, 0, 0));
}

#[test]
fn a_compound_assignment_of_an_atomic_object_is_one_read_modify_write() {
    body_counts("_Atomic int x;", "x += 1;", (0, 0, 1, 0));
    body_counts("_Atomic int x;", "x++;", (0, 0, 1, 0));
    body_counts("_Atomic int x;", "int y = --x;", (0, 0, 1, 0));
    body_counts("int * _Atomic p;", "p += 2;", (0, 0, 1, 0));
    body_counts("_Atomic int x;", "x = x + 1;", (1, 1, 0, 0));
    body_counts("_Atomic int x;", "x *= 2;", (1, 0, 0, 1));
    body_counts("int x;", "__sync_fetch_and_add(&x, 1); __atomic_sub_fetch(&x, 1, 3);", (0, 0, 2, 0));
}

#[test]
fn locals_whose_address_is_not_taken_are_registers() {
    body_counts("int x;", "int a = 1, b; b = a + 2; for (int i = 0; i < 3; i++) b += i; x = b;", (0, 1, 0, 0));
    let program = program("int main(void) { int a = 1; _Atomic int b = 2; a++; b += a; return a + b; }");
    let main = function(&program, "main");
    assert!(main.locals.is_empty());
    assert_eq!(counts(main), (0, 0, 0, 0));
}

#[test]
fn the_expected_value_of_a_compare_exchange_stays_a_register() {
    let text =
        "_Atomic int x; int main(void) { int e = 0; return __atomic_compare_exchange_n(&x, &e, 1, 0, 5, 5) + e; }";
    let program = program(text);
    let main = function(&program, "main");
    assert!(main.locals.is_empty());
    assert_eq!(counts(main), (0, 0, 0, 1));
}

#[test]
fn a_local_whose_address_is_taken_is_an_object() {
    let program = program("int main(void) { int a = 1; int *p = &a; *p = 2; return a; }");
    let main = function(&program, "main");
    assert_eq!(main.locals.len(), 1);
    assert_eq!(main.locals[0].layout, Layout::Scalar(raddle_program::Type::I32));
    assert_eq!(counts(main), (1, 2, 0, 0));
}

#[test]
fn a_struct_is_copied_scalar_by_scalar() {
    body_counts("struct s { int a; char b; long c[2]; } x, y;", "x = y;", (4, 4, 0, 0));
    body_counts("struct s { int a : 3, b : 5; int c; } x, y;", "x = y;", (2, 2, 0, 0));
    body_counts(
        "struct s { int a; char *b; } x, y; void *memcpy(void *, const void *, unsigned long);",
        "memcpy(&x, &y, sizeof x);",
        (2, 2, 0, 0),
    );
}

#[test]
fn a_bit_field_is_read_and_written_through_its_unit() {
    body_counts("struct s { unsigned a : 3, b : 5; } x;", "x.a = 2;", (1, 1, 0, 0));
    body_counts("struct s { unsigned a : 3, b : 5; } x;", "int y = x.b;", (1, 0, 0, 0));
}

#[test]
fn plain_accesses_are_not_atomic_and_atomic_ones_are_sequentially_consistent() {
    let program = program("int p; _Atomic int a; int main(void) { p = 1; a = 2; return p + a; }");
    let orders: Vec<Ordering> = function(&program, "main")
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| match i.op {
            Op::Load { order, .. } | Op::Store { order, .. } => Some(order),
            _ => None,
        })
        .collect();
    assert_eq!(orders, [Ordering::NonAtomic, Ordering::SeqCst, Ordering::NonAtomic, Ordering::SeqCst]);
}

#[test]
fn initialised_globals_are_data_and_not_code() {
    let program = program("int a[3] = { 1, [2] = 3 }; char *s = \"hi\"; int main(void) { return a[0] + s[0]; }");
    let a = &program.globals[program.global("a").expect("there").index()];
    assert_eq!(a.init.len(), 2);
    assert_eq!(a.layout, Layout::Array(raddle_program::Type::I32, 3));
}

#[test]
fn returning_from_main_ends_a_thread_and_exit_ends_the_program() {
    let text = "void exit(int); int main(int argc, char **argv) { if (argc > 1) exit(1); return 0; }";
    let options = Options { args: vec!["x".to_owned()], ..Options::default() };
    let compiled = compile_preprocessed("t.i", text, &options).expect("a program");
    let main = function(&compiled.program, "main");
    assert!(main.blocks.iter().any(|b| b.term.kind == Term::Exit));
    let compiled = compile_preprocessed("t.i", text, &Options::default()).expect("a program");
    let main = function(&compiled.program, "main");
    assert!(main.blocks.iter().all(|b| b.term.kind != Term::Exit), "argc is known to be 1");
}

#[test]
fn steps_of_library_functions_show_the_line_of_the_call() {
    let scratch = raddle_testkit::Scratch::new();
    let text = "#include <pthread.h>\nint x;\nvoid *f(void *a) { x = 1; return a; }\nint main(void)\n{\n    pthread_t t;\n    pthread_create(&t, NULL, f, NULL);\n    pthread_join(t, NULL);\n    return x;\n}\n";
    let path = scratch.file("spans.c", text);
    let program = support::compile_file(&path, &Options::default()).expect("a program");
    for function in &program.functions {
        for inst in function.blocks.iter().flat_map(|b| &b.insts) {
            assert_eq!(program.sources.name(inst.span), path.to_string_lossy(), "{:?}", inst.op);
            assert!(program.sources.line(inst.span).is_some());
            match inst.op {
                Op::Spawn { .. } => assert_eq!(inst.span.line, 7),
                Op::Join { .. } => assert_eq!(inst.span.line, 8),
                _ => {}
            }
        }
    }
}

#[test]
fn functions_that_cannot_be_reached_are_not_part_of_the_program() {
    let program = program(
        "double half(double x) { return x / 2; } int missing(void); int unused(void) { return missing(); } int main(void) { return 0; }",
    );
    assert_eq!(program.functions.len(), 1);
}

#[test]
fn the_headers_of_the_system_are_understood_in_a_preprocessed_file() {
    let scratch = raddle_testkit::Scratch::new();
    let text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <assert.h>\n#include <stdatomic.h>\n#include <unistd.h>\n\
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; atomic_int a; int x;\n\
        void *f(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); atomic_fetch_add(&a, 1); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, NULL, f, NULL); pthread_join(t, NULL); assert(x == 1); printf(\"%d\\n\", atomic_load(&a)); return 0; }\n";
    let source = scratch.file("system.c", text);
    let output = std::process::Command::new("cc").arg("-E").arg(&source).output().expect("cc can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let preprocessed = scratch.file("system.i", &output.stdout);
    let program = support::compile_file(&preprocessed, &Options::default()).expect("a program");
    raddle_program::validate(&program).expect("valid");
}

#[test]
fn functions_of_the_competition_vocabulary_are_atomic_blocks() {
    let text = "int x; void __VERIFIER_atomic_add(int n) { if (n < 0) return; x = x + n; }\n\
                int main(void) { __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); __VERIFIER_atomic_add(1); return x; }";
    let program = program(text);
    raddle_program::validate(&program).expect("blocks are balanced");
    for (name, ends) in [("__VERIFIER_atomic_add", 2), ("main", 1)] {
        let ops: Vec<&Op> = function(&program, name).blocks.iter().flat_map(|b| &b.insts).map(|i| &i.op).collect();
        assert_eq!(ops.iter().filter(|op| matches!(op, Op::AtomicBegin)).count(), 1);
        assert_eq!(ops.iter().filter(|op| matches!(op, Op::AtomicEnd)).count(), ends);
    }
}

#[test]
fn unknown_inputs_are_inputs_and_truth_values_are_choices() {
    let text =
        "int main(void) { return __VERIFIER_nondet_int() + __VERIFIER_nondet_uchar() + __VERIFIER_nondet_bool(); }";
    let options = Options { nondet: Some(-2..=5), ..Options::default() };
    let compiled = compile_preprocessed("t.i", text, &options).expect("a program");
    assert_eq!(compiled.program.inputs.range, Some((-2, 5)));
    let main = function(&compiled.program, "main");
    let ops: Vec<&Op> = main.blocks.iter().flat_map(|b| &b.insts).map(|i| &i.op).collect();
    let inputs: Vec<(Type, bool)> = ops
        .iter()
        .filter_map(|op| if let Op::Input { dst, signed, values: None } = op { Some((*dst, *signed)) } else { None })
        .map(|(dst, signed)| (main.reg_type(dst), signed))
        .collect();
    assert_eq!(inputs, [(Type::I32, true), (Type::I8, false)]);
    assert!(ops.iter().any(|op| matches!(op, Op::Choose { low: 0, high: 1, .. })));
}
