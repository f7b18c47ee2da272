//! C as programs have it: system headers, inline assembly, several files, functions with any number of arguments.

use raddle::{Control, Error, LoadOptions, Model, Outcome, Property, Settings, Verdict, load, verify};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A new folder with these files.
fn folder(files: &[(&str, &str)]) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("c_programs_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the folder for such files is there");
    for (name, text) in files {
        std::fs::write(path.join(name), text).expect("it can be written");
    }
    path
}

/// What `raddle check` says about the first of these files, with the others.
fn ask(files: &[(&str, &str)], options: LoadOptions) -> Result<Outcome, Error> {
    let folder = folder(files);
    let mut options = options;
    options.c.with =
        files[1..].iter().filter(|(name, _)| name.ends_with(".c")).map(|(name, _)| folder.join(name)).collect();
    let loaded = load(&folder.join(files[0].0), &options)?;
    verify(&loaded.program, &Settings::new(Model::Sc), &Control::new())
}

fn holds(text: &str) {
    let outcome = ask(&[("main.c", text)], LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(outcome.verdict, Verdict::Holds, "{}\n{text}", outcome.scope);
}

/// What is wrong with the first of these files, in one line.
fn refused(files: &[(&str, &str)]) -> String {
    ask(files, LoadOptions::default()).expect_err("it should be refused").to_string()
}

#[test]
fn the_systems_headers_stand_in_where_ours_have_nothing() {
    let main = "int main(void) { return 0; }";
    for header in [
        "signal.h",
        "sys/mman.h",
        "sys/socket.h",
        "setjmp.h",
        "math.h",
        "immintrin.h",
        "complex.h",
        "linux/futex.h",
        "sys/epoll.h",
        "dlfcn.h",
    ] {
        holds(&format!(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <{header}>\n{main}"
        ));
    }
    // What they declare and nobody models is refused where it is used.
    let text = "#include <setjmp.h>\njmp_buf b; int main(void) { return setjmp(b); }";
    assert!(refused(&[("main.c", text)]).contains("setjmp"), "{}", refused(&[("main.c", text)]));
    assert!(refused(&[("main.c", "#include <no/such/header.h>\nint main(void) {}")]).contains("no/such/header.h"));
}

#[test]
fn threads_are_the_same_under_the_systems_headers() {
    let text = "#include <signal.h>
        #include <pthread.h>
        #include <assert.h>
        #include <stdatomic.h>
        #include <stdio.h>
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int data; atomic_int done;
        void *worker(void *unused) { pthread_mutex_lock(&m); data++; pthread_mutex_unlock(&m); done++; return 0; }
        int main(void) {
            pthread_t a, b; sigset_t set;
            sigemptyset(&set); pthread_sigmask(SIG_BLOCK, &set, 0);
            pthread_create(&a, 0, worker, 0); pthread_create(&b, 0, worker, 0);
            pthread_join(a, 0); pthread_join(b, 0);
            fprintf(stderr, \"%d\\n\", data);
            assert(data == 2 && done == 2);
            return 0;
        }";
    holds(text);
    let outcome =
        ask(&[("main.c", &text.replace("data == 2", "data == 1"))], LoadOptions::default()).expect("accepted");
    assert_eq!(outcome.findings[0].violation().property, Property::Assert);
}

#[test]
fn assembly_is_understood_by_a_table() {
    let text = "#include <assert.h>
        #include <pthread.h>
        static inline int cmpxchg(int *p, int old, int wanted) {
            int found;
            __asm__ __volatile__(\"lock; cmpxchgl %2,%1\" : \"=a\"(found), \"+m\"(*p) : \"r\"(wanted), \"0\"(old) : \"memory\");
            return found;
        }
        static inline unsigned long swap(unsigned long *p, unsigned long v) {
            asm volatile(\"xchgq %0,%1\" : \"=r\"(v) : \"m\"(*p), \"0\"(v) : \"memory\");
            return v;
        }
        static inline int fetch_add(int *p, int v) {
            asm volatile(\"lock; xaddl %0, %1\" : \"+r\"(v), \"+m\"(*p) : : \"memory\", \"cc\");
            return v;
        }
        static inline int succeeds(int *p, int old, int wanted) {
            char equal;
            asm volatile(\"lock\\n\\tcmpxchgl %2,(%1)\\n\\tsete %0\" : \"=q\"(equal) : \"r\"(p), \"r\"(wanted), \"a\"(old) : \"memory\");
            return equal;
        }
        static inline int last(int *p) {
            unsigned char zero;
            asm volatile(\"lock; decl %0; sete %1\" : \"+m\"(*p), \"=qm\"(zero) :: \"memory\");
            return zero;
        }
        int lock, data, count = 2; unsigned long word = 5;
        void *worker(void *unused) {
            while (cmpxchg(&lock, 0, 1) != 0) asm volatile(\"rep; nop\" ::: \"memory\");
            data++;
            swap(&word, 7);
            asm volatile(\"lock; addl $0,0(%%rsp)\" ::: \"memory\");
            swap((unsigned long *)&word, 8);
            __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
            return 0;
        }
        int main(void) {
            pthread_t a, b;
            pthread_create(&a, 0, worker, 0); pthread_create(&b, 0, worker, 0);
            pthread_join(a, 0); pthread_join(b, 0);
            assert(data == 2 && word == 8);
            assert(fetch_add(&count, 3) == 2 && count == 5);
            assert(succeeds(&count, 5, 2) && !succeeds(&count, 5, 2) && count == 2);
            assert(!last(&count) && last(&count));
            asm(\"xchgl %0,%1\" : \"=r\"((unsigned)count) : \"m\"(data), \"0\"((unsigned)count));
            assert(count == 2 && data == 0);
            void *p = &count, *q;
            asm(\"\" : \"=r\"(q) : \"0\"(p));
            assert(p == q);
            return 0;
        }";
    holds(text);
    // Without the lock prefix it is no atomic operation, and what is not in the table is refused with its line.
    for instruction in ["cmpxchgl %1,%0", "bsfl %1,%0", "xaddl %1,%0", "cpuid"] {
        let text =
            format!("int x; int main(void) {{ int y = 1; asm(\"{instruction}\" : \"+m\"(x) : \"r\"(y)); return 0; }}");
        let said = refused(&[("main.c", &text)]);
        assert!(said.contains(instruction.split(' ').next().expect("a word")), "{instruction}: {said}");
    }
}

#[test]
fn a_program_may_have_several_files() {
    let header = "struct queue; struct queue *make(void); void put(struct queue *q, int v); int get(struct queue *q); extern int made;";
    let queue = "#include <stdlib.h>
        #include \"queue.h\"
        struct queue { int value; };
        static int helper(int v) { return v + 1; }
        int made = 0;
        struct queue *make(void) { made++; return calloc(1, sizeof(struct queue)); }
        void put(struct queue *q, int v) { q->value = helper(v); }
        int get(struct queue *q) { return q->value; }";
    let main = "#include <assert.h>
        #include \"queue.h\"
        static int helper(int v) { return v - 1; }
        int main(void) { struct queue *q = make(); put(q, 3); assert(get(q) == 4 && helper(3) == 2 && made == 1); return 0; }";
    let outcome = ask(&[("main.c", main), ("queue.c", queue), ("queue.h", header)], LoadOptions::default());
    assert_eq!(outcome.unwrap_or_else(|error| panic!("{error}")).verdict, Verdict::Holds);
    // What a linker would say.
    let twice = refused(&[("main.c", main), ("queue.c", queue), ("other.c", "int made = 3;"), ("queue.h", header)]);
    assert!(twice.contains("`made` is defined in another file, too"), "{twice}");
    let twice = refused(&[
        ("main.c", "int f(void) { return 1; } int main(void) { return f(); }"),
        ("other.c", "int f(void) { return 2; }"),
    ]);
    assert!(twice.contains("`f` is defined twice"), "{twice}");
    let types = refused(&[("main.c", "extern int x; int main(void) { return x; }"), ("other.c", "char x[3];")]);
    assert!(types.contains("`x` has the type `int` in another file"), "{types}");
    let kinds = refused(&[("main.c", "int x(void); int main(void) { return x(); }"), ("other.c", "int x;")]);
    assert!(kinds.contains("`x` is a function in another file"), "{kinds}");
    let nobody = refused(&[("main.c", "int f(void); int main(void) { return f(); }")]);
    assert!(nobody.contains("`f` is declared but not defined"), "{nobody}");
}

#[test]
fn a_compilation_database_says_how_files_are_compiled() {
    let folder = folder(&[
        ("test.c", "#include <assert.h>\nint f(void); int main(void) { assert(f() == N + 4); return 0; }"),
        ("f.c", "int f(void) { return M; }"),
        ("other.c", "int f(void) { return 0; }\nint main(void) { return 1; }"),
    ]);
    let entry = |file: &str, flags: &str| serde_json::json!({"directory": folder, "file": file, "command": format!("cc {flags} -c {file}")});
    let database = serde_json::json!([entry("test.c", "-DN=3"), entry("f.c", "-DM=7"), entry("other.c", "")]);
    std::fs::write(folder.join("commands.json"), database.to_string()).expect("it can be written");
    let options = LoadOptions { compile_commands: Some(folder.join("commands.json")), ..LoadOptions::default() };
    let loaded = load(&folder.join("test.c"), &options).unwrap_or_else(|error| panic!("{error}"));
    let outcome = verify(&loaded.program, &Settings::new(Model::Sc), &Control::new()).expect("no error");
    assert_eq!(outcome.verdict, Verdict::Holds);
    std::fs::write(folder.join("bad.json"), "{}").expect("it can be written");
    let options = LoadOptions { compile_commands: Some(folder.join("bad.json")), ..LoadOptions::default() };
    assert!(load(&folder.join("test.c"), &options).is_err_and(|error| error.to_string().contains("a list of entries")));
}

#[test]
fn functions_that_are_not_defined_may_stand_for_any_value() {
    let text = "#include <assert.h>\nint ask(int); void tell(int); char *name(void);
        int main(void) { tell(1); int x = ask(2); if (name()) return 1; if (x > 5) assert(x != 7); return 0; }";
    let mut options = LoadOptions::default();
    options.c.undefined_nondet = true;
    let outcome = ask(&[("main.c", text)], options.clone()).expect("accepted");
    assert_eq!(outcome.verdict, Verdict::Violated, "{}", outcome.scope);
    let outcome = ask(&[("main.c", &text.replace("x != 7", "x != 3"))], options).expect("accepted");
    assert_eq!(outcome.verdict, Verdict::Holds, "{}", outcome.scope);
}

#[test]
fn functions_may_have_any_number_of_arguments() {
    holds("#include <stdarg.h>
        #include <stdio.h>
        #include <string.h>
        #include <assert.h>
        int sum(int n, ...) { va_list ap; va_start(ap, n); int s = 0; for (int i = 0; i < n; i++) s += va_arg(ap, int); va_end(ap); return s; }
        const char *last(const char *first, ...) {
            va_list ap, copy; va_start(ap, first); va_copy(copy, ap);
            const char *result = first, *next;
            while ((next = va_arg(copy, const char *))) result = next;
            va_end(copy); va_end(ap);
            return result;
        }
        void check(const char *wanted, const char *format, ...) {
            char text[64];
            va_list ap; va_start(ap, format);
            int length = vsnprintf(text, sizeof text, format, ap);
            va_end(ap);
            assert(length == (int)strlen(wanted) && !strcmp(text, wanted));
        }
        int main(void) {
            int (*pointer)(int, ...) = sum;
            assert(sum(0) == 0 && sum(3, 1, -2, 4) == 3 && pointer(2, 5, 6) == 11);
            assert(!strcmp(last(\"a\", \"b\", \"c\", (char *)0), \"c\"));
            check(\"x=-5 y=00ff abc|  7|7  |+3\", \"x=%d y=%04x %s|%3d|%-3d|%+d\", -5, 255, \"abc\", 7, 7, 3);
            check(\"   xy|q|%|12345678901|ffffffffffffffff\", \"%5.2s|%c|%%|%lu|%llx\", \"xyz\", 'q', 12345678901ul, -1ll);
            check(\"-0012|  0x1f|007|-128\", \"%05d|%#6x|%.3u|%hhd\", -12, 31, 7, 128);
            char small[5];
            assert(snprintf(small, sizeof small, \"%s-%d\", \"hello\", 12) == 8 && !strcmp(small, \"hell\"));
            char text[32];
            assert(sprintf(text, \"%d\", 42) == 2 && !strcmp(text, \"42\"));
            return 0;
        }");
    // One argument more than there are.
    let text = "#include <stdarg.h>\nint f(int n, ...) { va_list ap; va_start(ap, n); va_arg(ap, int); return va_arg(ap, int); }
        int main(void) { return f(1, 2); }";
    let outcome = ask(&[("main.c", text)], LoadOptions::default()).expect("accepted");
    assert_eq!(outcome.findings[0].violation().property, Property::Memory);
}

#[test]
fn what_is_to_be_done_at_the_end_is_done() {
    let text = "#include <stdlib.h>\n#include <assert.h>
        int x; void first(void) { assert(x == 2); } void second(void) { x = 2; }
        int main(void) { atexit(first); atexit(second); END }";
    for end in ["return 0;", "exit(0);", "x = 1;"] {
        holds(&text.replace("END", end));
        let wrong = text.replace("END", end).replace("x == 2", "x == 1");
        let outcome = ask(&[("main.c", &wrong)], LoadOptions::default()).expect("accepted");
        assert_eq!(outcome.verdict, Verdict::Violated, "{end}");
    }
}

#[test]
fn names_and_builtins_have_many_spellings() {
    holds(
        "#include <assert.h>
        int gr\u{f6}\u{df}e = 1; int \\u00e5ngstr\\U000000f6m = 2;
        int x = 5; unsigned u = 5; int wide[] = \"ab\";
        int main(void) {
            assert(gr\u{f6}\u{df}e == 1 && \u{e5}ngstr\u{f6}m == 2);
            assert(__sync_fetch_and_max(&x, 7) == 5 && x == 7 && __sync_fetch_and_min(&x, -1) == 7 && x == -1);
            assert(__sync_fetch_and_umax(&u, 3u) == 5 && u == 5 && __sync_fetch_and_umin(&u, 3u) == 5 && u == 3);
            assert(__atomic_fetch_max(&x, 4, 5) == -1 && x == 4 && __atomic_max_fetch(&x, 9, 5) == 9);
            assert(sizeof wide == 3 * sizeof(int) && wide[0] == 'a' && wide[1] == 'b' && wide[2] == 0);
            return 0;
        }",
    );
}

#[test]
fn constructors_come_before_main_and_destructors_after() {
    holds(
        "#include <assert.h>
        #include <stdlib.h>
        int x, y;
        static void first(void) __attribute__((constructor));
        static void first(void) { x = 1; }
        __attribute__((constructor)) static void second(void) { x += 2; }
        __attribute__((destructor)) static void last(void) { assert(y == 5); }
        static void handler(void) { y = 5; }
        int main(void) { assert(x == 3); atexit(handler); return 0; }",
    );
    let text = "__attribute__((destructor)) static void last(void) { __builtin_trap(); } int main(void) { return 0; }";
    let outcome = ask(&[("main.c", text)], LoadOptions::default()).expect("accepted");
    assert_eq!(outcome.verdict, Verdict::Violated);
}

#[test]
fn an_offset_may_have_an_index() {
    holds(
        "#include <stddef.h>
        #include <assert.h>
        struct s { char c; struct { short a; int b; } list[3]; };
        int main(void) {
            for (int i = 0; i < 3; i++) assert(offsetof(struct s, list[i].b) == offsetof(struct s, list) + 8 * i + 4);
            return 0;
        }",
    );
}

#[test]
fn a_variable_may_be_cleaned_up_on_every_way_out() {
    let head = "#include <assert.h>\nstatic int noted[8], n; static void note(int *p) { noted[n++] = *p; }\n";
    let functions = "static int f(int stop) { int a __attribute__((cleanup(note))) = 1;
            { int b __attribute__((__cleanup__(note))) = 2; if (stop) return a + b; b = 3; }
            int c __attribute__((cleanup(note))); c = 4; a = 5; return a; }
        static void g(void) { goto out; { int a __attribute__((cleanup(note))) = 9; } out: ; }";
    let bodies = [
        "assert(f(1) == 3 && n == 2 && noted[0] == 2 && noted[1] == 1);",
        "assert(f(0) == 5 && n == 3 && noted[0] == 3 && noted[1] == 4 && noted[2] == 5);",
        "g(); assert(n == 0);",
        "for (int i __attribute__((cleanup(note))) = 0; i < 3; i++) if (i == 1) break; assert(n == 1 && noted[0] == 1);",
        "for (int i = 0; i < 3; i++) { __attribute__((cleanup(note))) int k = i; if (i != 1) continue; k = 7; } assert(n == 3 && noted[1] == 7 && noted[2] == 2);",
    ];
    for body in bodies {
        holds(&format!("{head}{functions}\nint main(void) {{ {body} return 0; }}"));
    }
    let jumps = format!(
        "{head}int main(void) {{ int a __attribute__((cleanup(note))) = 1; if (a) goto out; a = 2; out: return 0; }}"
    );
    assert!(refused(&[("main.c", &jumps)]).contains("a block that control can jump into"));
}
