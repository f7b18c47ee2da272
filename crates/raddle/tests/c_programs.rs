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
    let text = "#include <sys/epoll.h>\nint main(void) { return epoll_create(1); }";
    assert!(refused(&[("main.c", text)]).contains("epoll_create"), "{}", refused(&[("main.c", text)]));
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
    for instruction in ["cmpxchgl %1,%0", "imull %1,%0", "xaddl %1,%0", "stc"] {
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

/// Holds as it is, and is violated with the first `==` of its last assertion turned round.
fn decides(text: &str) {
    holds(text);
    let at = text.rfind("assert(").expect("there is an assertion");
    let (before, after) = text.split_at(at);
    let wrong = format!("{before}{}", after.replacen("==", "!=", 1));
    let outcome = ask(&[("main.c", &wrong)], LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{wrong}"));
    assert_eq!(outcome.verdict, Verdict::Violated, "{wrong}");
}

const TWO: &str = "#include <assert.h>\n#include <pthread.h>\nstatic void *worker(void *);
    static void two(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); }\n";

#[test]
fn assembly_of_spin_locks_and_queues() {
    // A spin lock with jumps.
    decides(&format!(
        "{TWO} static int lock, count;
        static void *worker(void *u) {{ int taken = 1;
            asm volatile(\"1: xchg %[lock], %[taken]\\n test %[taken], %[taken]\\n jz 3f\\n 2: pause\\n cmpl $0, %[lock]\\n jnz 2b\\n jmp 1b\\n 3:\"
                : [lock] \"=m\"(lock), [taken] \"=q\"(taken) : \"[taken]\"(taken) : \"memory\");
            count++;
            int free = 0; asm volatile(\"xchg %[lock], %[free]\" : [lock] \"=m\"(lock), [free] \"=q\"(free) : \"[free]\"(free) : \"memory\");
            return 0; }}
        int main(void) {{ two(); assert(count == 2); return 0; }}"
    ));
    // Loads, stores, bits.
    decides(&format!(
        "{TWO} static unsigned long bits, word; static int first;
        static void *worker(void *u) {{ unsigned char was; unsigned long one = 1, seen;
            asm volatile(\"lock; btsq %2, %0; setc %1\" : \"+m\"(bits), \"=q\"(was) : \"r\"(5L) : \"memory\", \"cc\");
            if (!was) {{ first = 1; asm volatile(\"movq %1, %0\" : \"=m\"(word) : \"r\"(one) : \"memory\"); }}
            asm volatile(\"movq %1, %0\" : \"=q\"(seen) : \"m\"(word) : \"memory\");
            if (seen) assert(first);
            return 0; }}
        int main(void) {{ two();
            int was; asm volatile(\"lock btrl %2, %0\\n sbbl %1, %1\" : \"+m\"(bits), \"=r\"(was) : \"Ir\"(5) : \"memory\");
            assert(was == -1); assert(bits == 0); return 0; }}"
    ));
    // Two words at once, by named registers or by letters.
    let exchange = |body: &str| {
        format!(
            "{TWO} static struct {{ unsigned long low, high; }} __attribute__((aligned(16))) x; static int wins;
            static int swap(unsigned long *old, unsigned long *new) {{ unsigned char won; {body} return won; }}
            static void *worker(void *u) {{ unsigned long old[2] = {{ 0, 0 }}, new[2] = {{ 1, 7 }};
                if (swap(old, new)) __atomic_fetch_add(&wins, 1, 0); return 0; }}
            int main(void) {{ two(); assert(x.low == 1); assert(x.high == 7); assert(wins == 1); return 0; }}"
        )
    };
    decides(&exchange(
        "asm volatile(\"lock cmpxchg16b %1; setz %0\" : \"=q\"(won), \"+m\"(x), \"+a\"(old[0]), \"+d\"(old[1]) : \"b\"(new[0]), \"c\"(new[1]) : \"memory\", \"cc\");",
    ));
    decides(&exchange(
        "asm volatile(\"movq 0(%4), %%rax; movq 8(%4), %%rdx; lock; cmpxchg16b %0; setz %1\"
            : \"+m\"(x), \"=q\"(won) : \"b\"(new[0]), \"c\"(new[1]), \"q\"(old) : \"memory\", \"cc\", \"%rax\", \"%rdx\");",
    ));
}

#[test]
fn builtins_are_chosen_by_type_and_take_pointers_to_nothing() {
    decides(
        "#include <assert.h>\n#include <stdint.h>\n#include <stdbool.h>
        #define exchange(p, old, new) _Generic((p), uint32_t *: __atomic_compare_exchange_n, uint64_t *: __atomic_compare_exchange_n)(p, old, new, false, 5, 5)
        #define cmpxchg(p, old, new) ({ typeof(*p) found = (old); __atomic_compare_exchange_n((p), (void *)&found, (new), 0, 5, 5); found; })
        int main(void) { uint32_t x = 3, old = 3; assert(exchange(&x, &old, 4)); assert(cmpxchg(&x, 4, 9) == 4);
            uintptr_t number = 3; void *p = (void *)number; assert((uintptr_t)p == 3);
            uintptr_t there = (uintptr_t)(void *)number; assert(there + (uintptr_t)(void *)there == 6); return 0; }",
    );
    decides(
        "#include <assert.h>\n#include <stddef.h>
        int main(void) { size_t r; unsigned long q; long s; int i; unsigned char c;
            assert(__builtin_mul_overflow((size_t)1 << 40, (size_t)1 << 40, &r)); assert(!__builtin_umull_overflow(2, 3, &q) && q == 6);
            assert(__builtin_saddl_overflow(0x7fffffffffffffffL, 1, &s) && s == -0x7fffffffffffffffL - 1);
            assert(!__builtin_add_overflow(-1L, 1UL, &q) && q == 0); assert(__builtin_sub_overflow(1UL, 2UL, &q) && q == -1UL);
            assert(!__builtin_sub_overflow(1UL, 2UL, &s) && s == -1); assert(__builtin_add_overflow(200L, 100L, &c) && c == 44);
            assert(!__builtin_mul_overflow(-0x4000000000000000L, 2L, &s)); assert(__builtin_mul_overflow(0x4000000000000000L, 2, &s));
            assert(__builtin_smul_overflow(1 << 20, 1 << 20, &i)); assert(__builtin_ffs(8) == 4 && __builtin_ffsl(0) == 0);
            assert(__builtin_parity(7) + __builtin_parityl(5) == 1); return 0; }",
    );
}

#[test]
fn code_that_is_never_reached_may_call_what_is_nowhere_defined() {
    decides(
        "#include <assert.h>\n extern void wrong_size(void); extern int wrong(int);
        #define get(p) ({ if (sizeof(*(p)) != 4) wrong_size(); sizeof(*(p)) == 4 ? *(p) : wrong(1); })
        int main(void) { int x = 3; if (0) wrong_size(); else x++; if (0) { again: return 1; } if (x == 9) goto again; assert(get(&x) == 4); return 0; }",
    );
}

#[test]
fn other_names_and_other_sizes_of_types() {
    decides(
        "#include <assert.h>
        static int twice(int x) { return 2 * x; } int other(int x) __attribute__((alias(\"twice\")));
        int count = 3; extern int also __attribute__((weak, alias(\"count\")));
        typedef int word __attribute__((mode(DI))); typedef unsigned small __attribute__((__mode__(__QI__)));
        typedef int four __attribute__((vector_size(16))); struct both { char c; four v; };
        int main(void) { also++; assert(sizeof(word) == 8 && (small)257 == 1); assert(sizeof(four) == 16 && sizeof(struct both) == 32);
            int n = 3; assert(sizeof(int[n + 1]) == 16); struct both a, b; a.c = 1; b.c = 0; assert(other(count) == 8); return 0; }",
    );
    let vector = |code: &str| {
        format!("typedef int four __attribute__((vector_size(16)));\nint main(void) {{ {code} return 0; }}")
    };
    for code in ["four a = { 1, 2, 3, 4 };", "four a, b; a + b;", "four a; a[1] = 2;"] {
        assert!(!refused(&[("main.c", &vector(code))]).is_empty(), "{code}");
    }
    let order =
        "struct s { int x; } __attribute__((scalar_storage_order(\"big-endian\"))) s;\nint main(void) { return s.x; }";
    assert!(refused(&[("main.c", order)]).contains("scalar_storage_order"));
}

#[test]
fn functions_of_old_c_need_no_declaration() {
    decides(
        "#include <assert.h>\nint add(a, b) int a; long b; { return a + (int)b; }
        int main() { int *p = malloc(sizeof(int)); *p = add(1, 2L); printf(\"%d\\n\", *p); int x = *p; free(p); assert(x == 3); return 0; }",
    );
}

#[test]
fn what_comes_from_outside_is_anything() {
    let text = "#include <assert.h>\n#include <unistd.h>\n#include <poll.h>\n
        int main(void) { unsigned char b[4] = { 9, 9, 9, 9 }; struct pollfd p = { 0, POLLIN, 0 };
            int n = poll(&p, 1, 10); assert(n == 0 || n == 1); assert(n == (p.revents != 0));
            if (n) { long got = read(0, b, 4); assert(got >= -1 && got <= 4); assert(b[3] == 9); WHAT }
            return 0; }";
    holds(&text.replace("WHAT", "assert(write(1, b, 1) <= 1);"));
    for what in ["assert(got != -1);", "assert(got != 0);", "assert(b[0] != 77);", "assert(write(1, b, 1) == 1);"] {
        let outcome = ask(&[("main.c", &text.replace("WHAT", what))], LoadOptions::default()).expect("it is accepted");
        assert_eq!(outcome.verdict, Verdict::Violated, "{what}");
    }
    decides(
        "#include <assert.h>\n#include <sys/select.h>
        int main(void) { fd_set s; FD_ZERO(&s); FD_SET(3, &s); FD_SET(5, &s); struct timeval t = { 1, 0 }; assert(select(0, 0, 0, 0, &t) == 0);
            int n = select(6, &s, 0, 0, &t); assert(n == 0 || n == 2); assert(!!FD_ISSET(3, &s) + !!FD_ISSET(5, &s) == n); return 0; }",
    );
    decides(
        "#include <assert.h>\n#include <stdio.h>\n#include <fcntl.h>\n#include <errno.h>\n#include <sys/mman.h>
        int main(void) { FILE *out = stdout ? stdout : stderr; fprintf(out, \"%d\\n\", 3); assert(stdin != stdout && out);
            int file = open(\"name\", O_RDONLY); assert(errno == ENOENT); assert(file == -1); return 0; }",
    );
    decides(
        "#include <assert.h>\n#include <sys/mman.h>\n#include <stdlib.h>
        int main(void) { int *p = mmap(0, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); assert(p != MAP_FAILED && (long)p % 4096 == 0);
            p[1023] = 1; assert(p[5] == 0 && !getenv(\"X\")); munmap(p, 100); assert(p[1023] == 1); return 0; }",
    );
}

#[test]
fn signals_are_handled_by_who_raises_them() {
    decides(
        "#include <assert.h>\n#include <signal.h>\n#include <string.h>
        static volatile sig_atomic_t got, more; static void handler(int s) { got = s; } static void wide(int s, siginfo_t *i, void *c) { more = i->si_signo; }
        int main(void) { struct sigaction sa, old; memset(&sa, 0, sizeof sa); sa.sa_handler = handler; sigaction(SIGUSR1, &sa, &old);
            assert(old.sa_handler == SIG_DFL); raise(SIGUSR1); assert(got == SIGUSR1); got = 0;
            sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); assert(sigismember(&s, SIGUSR1) && !sigismember(&s, SIGUSR2));
            pthread_sigmask(SIG_BLOCK, &s, 0); raise(SIGUSR1); assert(got == 0); pthread_sigmask(SIG_UNBLOCK, &s, 0); assert(got == SIGUSR1);
            sa.sa_sigaction = wide; sa.sa_flags = SA_SIGINFO; sigaction(SIGUSR2, &sa, 0); raise(SIGUSR2); assert(more == SIGUSR2); return 0; }",
    );
    holds(
        "#include <signal.h>\nint main(void) { signal(SIGUSR1, SIG_IGN); raise(SIGUSR1); raise(SIGTERM); __builtin_trap(); }",
    );
}

#[test]
fn a_block_is_cleaned_up_by_whoever_leaves_it() {
    for header in ["", "#include <sys/mman.h>\n"] {
        decides(&format!(
            "{header}{TWO} static int n; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static void unlock(void *p) {{ n++; pthread_mutex_unlock(p); }}
            static void leave(void) {{ pthread_exit(0); }}
            static void *worker(void *u) {{ pthread_mutex_lock(&m); pthread_cleanup_push(unlock, &m); leave(); pthread_cleanup_pop(0); return 0; }}
            int main(void) {{ two(); pthread_mutex_lock(&m); pthread_cleanup_push(unlock, &m); n += 10; pthread_cleanup_pop(1);
                pthread_cleanup_push(unlock, &m); n += 100; pthread_cleanup_pop(0); assert(n == 113); return 0; }}"
        ));
    }
}

#[test]
fn threads_have_the_names_of_their_functions() {
    let text = "#include <assert.h>\n#include <pthread.h>\nstatic pthread_key_t key; int done; static void end(void *p) { done = 1; }
        static void *worker(void *u) { pthread_setspecific(key, &done); return 0; }
        int main(void) { pthread_key_create(&key, end); pthread_t t; pthread_create(&t, 0, worker, 0); pthread_join(t, 0); assert(!done); return 0; }";
    let path = folder(&[("main.c", text)]).join("main.c");
    let loaded = load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let settings = Settings::new(Model::Sc);
    let outcome = verify(&loaded.program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
    let schedule = &outcome.findings.first().expect("the data of the thread is destroyed").violation().schedule;
    let replay = raddle::replay(&loaded.program, Model::Sc, schedule, settings.options.properties);
    assert_eq!(replay.expect("it fits").execution.threads, ["main", "worker"]);
}
