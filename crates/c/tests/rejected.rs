//! What is not supported is refused by name, at the user's own line; nothing is skipped.

mod support;

use raddle_c::{Error, Options, compile, compile_preprocessed};

/// The first diagnostic: its line and message.
#[track_caller]
fn rejected(text: &str) -> (u32, String) {
    match compile_preprocessed("t.i", text, &Options::default()) {
        Err(Error::Rejected(rejected)) => {
            let first = &rejected.diagnostics[0];
            assert!(rejected.sources.line(first.span).is_some(), "the line can be shown: {first:?}");
            (first.span.line, first.message.clone())
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted:\n{text}"),
    }
}

/// What is said where a number is of a kind that there is not.
const OTHER_FLOAT: &str = "complex numbers, and floating-point numbers of 16 or 128 bits, are not supported";

#[test]
fn unsupported_constructs_are_named() {
    let cases = [
        ("int main(void) {\n  _Complex double d = 1;\n  return 0; }", 2, OTHER_FLOAT),
        ("int main(void) {\n  int x = (_Float128)1;\n  return x; }", 2, OTHER_FLOAT),
        ("double _Complex f(void);\nint main(void) {\n  return f(); }", 3, OTHER_FLOAT),
        ("int main(void) {\n  double d = 1; d %= 2;\n  return 0; }", 2, "this operator is for integers"),
        (
            "int snprintf(char *, unsigned long, const char *, ...);\nint main(void) {\n  char b[9]; snprintf(b, 9, \"%d %4.1f\", 1, 2.0);\n  return 0; }",
            3,
            "the characters of a floating-point number, or how many they are, are not supported",
        ),
        (
            "int main(void) {\n  __int128 x = 1;\n  switch (x) { case 1: return 1; }\n  return 0; }",
            3,
            "a `switch` over an integer of 128 bits is not supported",
        ),
        (
            "int main(int argc, char **argv) {\n  return raddle_random(argc); }",
            2,
            "`raddle_random` takes a constant number of alternatives",
        ),
        (
            "int main(void) {\n  asm volatile(\"vzeroupper\");\n  return 0; }",
            2,
            "inline assembly is not supported: `vzeroupper`",
        ),
        (
            "int main(void) {\n  int x; asm(\"\" : \"=r\"(x));\n  return 0; }",
            2,
            "inline assembly is not supported: `an output that nothing is written to`",
        ),
        (
            "int n; int main(void) {\n  int a[3][n];\n  return 0; }",
            2,
            "an array of variable length is not supported here",
        ),
        ("int main(void) {\n  goto *3;\n  return 0; }", 2, "a computed goto goes where a pointer says"),
        (
            "struct s { int a, b, c; }; _Atomic struct s x;\nint main(void) {\n  struct s y = x; return 0; }",
            3,
            "`_Atomic struct s` is atomic, and has not 1, 2, 4, 8 or 16 bytes",
        ),
        (
            "int main(void) {\n  return __builtin_frame_address(0) != 0; }",
            2,
            "`__builtin_frame_address` is not supported",
        ),
        ("int main(void) {\n  __VERIFIER_magic(); return 0; }", 2, "`__VERIFIER_magic` is not supported"),
        (
            "void f(int *p) {}\nint main(void) { typedef int x __attribute__((mode(V4SI))); return 0; }",
            2,
            "the mode `V4SI` of this type is not supported",
        ),
    ];
    for (text, line, message) in cases {
        assert_eq!(rejected(text), (line, message.to_owned()), "{text}");
    }
}

#[test]
fn a_function_without_a_body_or_a_model_is_an_error_at_its_call() {
    let text = "int helper(int);\nint main(void) {\n  int x = 1;\n  return helper(x);\n}";
    assert_eq!(rejected(text), (4, "`helper` is declared but not defined".to_owned()));
    let through_pointer = "int helper(int);\nint main(void) {\n  int (*p)(int) = helper;\n  return p(1);\n}";
    assert_eq!(rejected(through_pointer), (3, "`helper` is declared but not defined".to_owned()));
    assert_eq!(rejected("int main(void) {\n  return helper(1); }"), (2, "`helper` is not declared".to_owned()));
    let object = "extern int x;\nint main(void) {\n  return x; }";
    assert_eq!(rejected(object), (3, "`x` is declared but not defined".to_owned()));
}

#[test]
fn errors_of_types_and_names_are_found() {
    let cases = [
        ("int main(void) { return y; }", "`y` is not declared"),
        ("int main(void) { int x; x(); return 0; }", "`int` cannot be called"),
        ("struct s { int a; } x; int main(void) { return x.b; }", "`struct s` has no member `b`"),
        ("struct s; int main(void) { struct s x; return 0; }", "an object of the incomplete type `struct s`"),
        ("int main(void) { const int x = 1; x = 2; return x; }", "this object is `const`"),
        ("int main(void) { 1 = 2; return 0; }", "this cannot be assigned to"),
        ("void f(void *p) { *p = 1; } int main(void) { int x; f(&x); return 0; }", "this cannot be assigned to"),
        ("int main(void) { goto nowhere; return 0; }", "there is no label `nowhere` in this function"),
        ("int main(void) { break; return 0; }", "`break` outside of a loop or switch"),
        ("int main(void) { switch (1) { case 1: case 1: ; } return 0; }", "this value has a case already"),
        ("_Static_assert(sizeof(int) == 2, \"small\"); int main(void) { return 0; }", "static assertion failed: small"),
        ("int f(int); int main(void) { return f(1, 2); }", "2 arguments for a function of 1 parameters"),
        ("int x = 1; int x = 2; int main(void) { return x; }", "`x` is initialised twice"),
        ("int f(void) { return 1; } int f(void) { return 2; } int main(void) { return f(); }", "`f` is defined twice"),
        ("int a[2] = { 1, 2, 3 }; int main(void) { return a[0]; }", "more initial values than the object has parts"),
        ("int f(void) { return 0; }", "the program has no function `main`"),
        ("int y; int x = y; int main(void) { return x; }", "the initial value of a static object must be a constant"),
        (
            "struct s { int a; }; int main(void) { struct s x = { 1 }; return x + 1; }",
            "an integer is needed here, not `struct s`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(rejected(text).1, message, "{text}");
    }
}

#[test]
fn several_functions_can_be_wrong_at_once() {
    let text = "int f(void) { return a; }\nint g(void) { return b; }\nint main(void) { return f() + g(); }";
    let Err(Error::Rejected(rejected)) = compile_preprocessed("t.i", text, &Options::default()) else {
        panic!("accepted")
    };
    let lines: Vec<u32> = rejected.diagnostics.iter().map(|d| d.span.line).collect();
    assert_eq!(lines, [1, 2]);
}

#[test]
fn a_failing_preprocessor_is_an_error_with_its_message() {
    let scratch = raddle_testkit::Scratch::new();
    for (text, message) in [
        ("int x;\n#include \"missing.h\"\nint main(void) { return 0; }\n", "missing.h"),
        ("int x;\n#error this is wrong\n", "this is wrong"),
        ("#include <no/such.h>\nint main(void) { return 0; }\n", "no/such.h"),
    ] {
        let path = scratch.file("broken.c", text);
        let Err(Error::Rejected(rejected)) = compile(&path, &Options::default()) else { panic!("accepted:\n{text}") };
        assert!(rejected.diagnostics[0].message.contains(message), "{:?}", rejected.diagnostics);
        assert!(rejected.diagnostics[0].span.line > 0);
    }
    assert!(matches!(compile(&scratch.join("nowhere.c"), &Options::default()), Err(Error::Read { .. })));
}

#[test]
fn a_library_that_is_declared_by_the_program_itself_is_used_and_one_that_it_defines_is_called() {
    let declared = "unsigned long strlen(const char *); int main(void) { return (int)strlen(\"abc\") - 3; }";
    compile_preprocessed("t.i", declared, &Options::default()).expect("modelled");
    let defined = "int abs(int x) { return 7; } int main(void) { return abs(-1); }";
    let program = compile_preprocessed("t.i", defined, &Options::default()).expect("a program").program;
    assert!(program.function("abs").is_some());
}
