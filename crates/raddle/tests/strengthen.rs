//! The weakest orderings of programs for which they are known.

use raddle::answer::Question;
use raddle::report::strengthen::{End, Strengthen};
use raddle::report::{Body, Conclusion};
use raddle::{Control, Language, LoadOptions, Model, Settings, load_text};

fn ask(file: &str, text: &str, settings: &Settings) -> (Strengthen, Conclusion) {
    let load = LoadOptions::default();
    let language = if file.ends_with(".rdl") { Language::Rdl } else { Language::C };
    let loaded = load_text(file, text, language, &load).unwrap_or_else(|error| panic!("{error:?}"));
    let question = Question { file, load: &load, loaded: &loaded, settings };
    let answer = raddle::strengthen(&question, &Control::new()).expect("an answer");
    let conclusion = answer.conclusion();
    assert!(!answer.text(raddle::report::Layout { width: 100, full: false }).is_empty());
    let Body::Strengthen(body) = answer.body else { panic!("another body") };
    (body, conclusion)
}

/// The orderings that are needed, by the lines of the text, as they would be written.
fn minimal(text: &str) -> Vec<String> {
    minimal_under(text, Model::Rc11)
}

fn minimal_under(text: &str, model: Model) -> Vec<String> {
    let (found, conclusion) = ask("test.rdl", text, &Settings::new(model));
    assert_eq!((found.end, conclusion), (End::Minimal, Conclusion::Holds), "{found:?}");
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    let edited = patched(text, &found.diff);
    // What is found is a whole program, and the edit is what was checked: nothing is left to change.
    let (again, _) = ask("test.rdl", &edited, &Settings::new(model));
    assert!(again.end == End::Minimal && again.changes.is_empty(), "{edited}\n{again:?}");
    let ordered = |line: &&str| [".acq", ".rel", ".acqrel", ".sc"].iter().any(|suffix| line.contains(suffix));
    edited.lines().filter(ordered).map(|line| line.trim().to_owned()).collect()
}

/// The text with a diff applied.
fn patched(text: &str, diff: &str) -> String {
    let mut lines = text.lines();
    let mut at = 0;
    let mut out = String::new();
    let mut keep = |line: &str| out.push_str(&format!("{line}\n"));
    for line in diff.lines().skip(2) {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let start: usize = hunk.split(',').next().and_then(|number| number.parse().ok()).expect("a number");
            while at + 1 < start {
                keep(lines.next().expect("a line"));
                at += 1;
            }
        } else if let Some(added) = line.strip_prefix('+') {
            keep(added);
        } else {
            let old = lines.next().expect("a line");
            assert_eq!(&line[1..], old, "the diff fits");
            at += 1;
            if line.starts_with(' ') {
                keep(old);
            }
        }
    }
    lines.for_each(&mut keep);
    out
}

fn two(left: &str, right: &str, check: &str) -> String {
    format!(
        "global x: i32;\nglobal y: i32;\nglobal a: i32;\nglobal b: i32;\nfn left() {{\n{left}\n}}\nfn right() {{\n{right}\n}}\nfn main() {{\n    \
         let l = spawn left();\n    let r = spawn right();\n    join l;\n    join r;\n    let p = load.na a;\n    let q = load.na b;\n    assert {check}, \"the outcome\";\n}}\n"
    )
}

#[test]
fn message_passing_needs_release_and_acquire() {
    let text = |store: &str, load: &str| {
        two(
            &format!("    store.na x, 1;\n    store.{store} y, 1;"),
            &format!(
                "    let f = load.{load} y;\n    if f == 1 {{\n        let v = load.na x;\n        store.na a, v;\n        store.na b, 1;\n    }}"
            ),
            "q == 0 || p == 1",
        )
    };
    // From below, from above, and as it should be.
    for (store, load) in [("rlx", "rlx"), ("sc", "sc"), ("rel", "acq"), ("sc", "rlx")] {
        assert_eq!(minimal(&text(store, load)), ["store.rel y, 1;", "let f = load.acq y;"], "{store} {load}");
    }
}

fn store_buffering(order: &str) -> String {
    two(
        &format!("    store.{order} x, 1;\n    let r = load.{order} y;\n    store.na a, r;"),
        &format!("    store.{order} y, 1;\n    let r = load.{order} x;\n    store.na b, r;"),
        "p + q > 0",
    )
}

#[test]
fn store_buffering_needs_seq_cst_everywhere() {
    let expected = ["store.sc x, 1;", "let r = load.sc y;", "store.sc y, 1;", "let r = load.sc x;"];
    for order in ["rlx", "sc"] {
        assert_eq!(minimal(&store_buffering(order)), expected, "{order}");
    }
}

#[test]
fn under_release_acquire_it_needs_fences() {
    let found = minimal_under(&store_buffering("rlx"), Model::Ra);
    assert_eq!(found, ["fence.sc;", "fence.sc;"]);
}

#[test]
fn fences_that_are_not_needed_go() {
    let text = two(
        "    store x, 1;\n    fence.sc;\n    store y, 1;",
        "    let f = load y;\n    fence.sc;\n    let v = load x;\n    store.na a, v;\n    store.na b, f;",
        "q == 0 || p == 1",
    );
    // The fences of a program come first: they go, and accesses that are relaxed stay so as long as fences are enough.
    assert_eq!(minimal(&text), ["fence.rel;", "fence.acq;"]);
}

#[test]
fn independent_reads_need_seq_cst_reads() {
    let text = "
global x: i32;
global y: i32;
global a: i32;
global b: i32;
global c: i32;
global d: i32;
fn one() {
    store x, 1;
}
fn two() {
    store y, 1;
}
fn three() {
    let r = load x;
    let s = load y;
    store.na a, r;
    store.na b, s;
}
fn four() {
    let r = load y;
    let s = load x;
    store.na c, r;
    store.na d, s;
}
fn main() {
    let t = spawn one();
    let u = spawn two();
    let v = spawn three();
    let w = spawn four();
    join t;
    join u;
    join v;
    join w;
    let p = load.na a;
    let q = load.na b;
    let r = load.na c;
    let s = load.na d;
    assert !(p == 1 && q == 0 && r == 1 && s == 0), \"readers agree\";
}
";
    let found = minimal(text);
    assert_eq!(found.iter().filter(|line| line.contains("load.sc")).count(), 4, "{found:?}");
    assert_eq!(found.iter().filter(|line| line.contains("store.sc")).count(), 2, "{found:?}");
}

#[test]
fn a_pushed_node_needs_a_release() {
    let text = "
global top: ptr;
global n: i32;
fn push() {
    store.na n, 7;
    let r = cas top, null, &n;
}
fn pop() {
    let t = load top;
    if t != null {
        let v = load.na i32 *t;
        assert v == 7, \"the node is whole\";
    }
}
fn main() {
    spawn push();
    spawn pop();
}
";
    assert_eq!(minimal(text), ["let r = cas.rel.rlx top, null, &n;", "let t = load.acq top;"]);
}

#[test]
fn a_program_that_needs_nothing() {
    let text = two("    let r = rmw.add.sc x, 1;", "    let r = rmw.add.acqrel x, 1;\n    fence.sc;", "p == 0");
    let (found, _) = ask("test.rdl", &text, &Settings::new(Model::Rc11));
    assert_eq!((found.end, found.needed, found.changes.len()), (End::Minimal, 0, 3), "{found:?}");
    assert!(minimal(&text).is_empty());
}

#[test]
fn what_is_wrong_under_sc_cannot_be_mended() {
    let text = two("    store x, 1;", "    let r = load x;\n    store.na a, r;", "p == 1");
    let (found, conclusion) = ask("test.rdl", &text, &Settings::new(Model::Rc11));
    assert_eq!((found.end, conclusion), (End::BrokenUnderSc, Conclusion::Violated));
    assert!(found.counterexample.is_some() && found.diff.is_empty());
}

#[test]
fn a_limit_before_anything_was_verified() {
    let mut settings = Settings::new(Model::Rc11);
    settings.options.limits.executions = Some(1);
    let (found, conclusion) = ask("test.rdl", &store_buffering("sc"), &settings);
    assert_eq!((found.end, conclusion), (End::Open, Conclusion::Unknown), "{found:?}");
    assert!(found.limit.is_some());
}

#[test]
fn calls_of_c_are_edited() {
    let text = "\
int __atomic_load_n(int *, int);
int printf(const char *, ...);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int data;
int flag;
void *writer(void *arg) {
    data = 1;
    __atomic_store_n(&flag, 1, 0);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    if (__atomic_load_n(&flag, 0))
        if (data != 1) __assert_fail(\"data\", \"f\", 1, \"main\");
    return 0;
}
";
    let (found, _) = ask("test.i", text, &Settings::new(Model::Rc11));
    assert_eq!(found.end, End::Minimal, "{found:?}");
    assert!(found.diff.contains("+    __atomic_store_n(&flag, 1, 3);"), "{}\n{found:?}", found.diff);
    assert!(found.diff.contains("+    if (__atomic_load_n(&flag, 2))"), "{}", found.diff);
    // The edited text is what was checked: it holds, and nothing is left to change.
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    let (again, _) = ask("test.i", &patched(text, &found.diff), &Settings::new(Model::Rc11));
    assert!(again.end == End::Minimal && again.changes.is_empty(), "{again:?}");
}

/// Two operations of one kind on a line of C get one ordering. If they need different ones the edited text is another program, and is not shown.
#[test]
fn operations_of_a_line_of_c_are_edited_as_checked_or_not_at_all() {
    let text = "\
int __atomic_load_n(int *, int);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int data;
int flag;
int other;
void *writer(void *arg) {
    data = 1;
    __atomic_store_n(&flag, 1, 3);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int a = __atomic_load_n(&flag, 0), b = __atomic_load_n(&other, 0);
    if (a && b == 0)
        if (data != 1) __assert_fail(\"data\", \"f\", 1, \"main\");
    return 0;
}
";
    let (found, _) = ask("test.i", text, &Settings::new(Model::Rc11));
    assert_eq!(found.end, End::Minimal, "{found:?}");
    let edited = patched(text, &found.diff);
    let (again, _) = ask("test.i", &edited, &Settings::new(Model::Rc11));
    assert!(!found.notes.is_empty() || (again.end == End::Minimal && again.changes.is_empty()), "{found:?}");
}

/// The best set that was verified is shown when a weaker one takes too long: here every weaker ordering of the second pair adds an execution.
#[test]
fn a_limit_after_something_was_verified() {
    let text = "
global x: i32;
global y: i32;
global data: i32;
global flag: i32;
fn sender() {
    store.na data, 1;
    store flag, 1;
    let r = load.na data;
}
fn receiver() {
    let f = load flag;
    if f == 1 {
        let d = load.na data;
    }
}
fn left() {
    store.sc x, 1;
    let r = load.sc y;
}
fn right() {
    store.sc y, 1;
    let r = load.sc x;
}
fn main() {
    spawn sender();
    spawn receiver();
    spawn left();
    spawn right();
}
";
    let mut settings = Settings::new(Model::Rc11);
    settings.engine = raddle::ENGINES.find("optimal").expect("it is among them");
    // Two outcomes of the message, three of the others.
    settings.options.limits.executions = Some(6);
    let (found, conclusion) = ask("test.rdl", text, &settings);
    assert_eq!((found.end, conclusion), (End::Enough, Conclusion::Holds), "{found:?}");
    assert!(found.limit.is_some(), "{found:?}");
    let edited = patched(text, &found.diff);
    assert!(edited.contains("store.rel flag") && edited.contains("load.acq flag"), "{edited}");
    let loaded = load_text("test.rdl", &edited, Language::Rdl, &LoadOptions::default()).expect("a program");
    let outcome = raddle::verify(&loaded.program, &Settings::new(Model::Rc11), &Control::new()).expect("an outcome");
    assert_eq!(outcome.verdict, raddle::Verdict::Holds);
}
