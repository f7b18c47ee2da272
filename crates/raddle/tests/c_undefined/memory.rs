//! Objects: where they end, when they end, who may write them.

use crate::{allowed, check, file, found};
use raddle::{Control, LoadOptions, Model, Property, Settings, Verdict, load, verify};

#[test]
fn a_pointer_reaches_its_own_object_only() {
    let objects = "int first = 5; int count[4]; char text[16]; volatile long far = 1L << 30, back = -23;
        int use(void) { return first + count[0] + text[0]; }";
    let nothing = "no pointer to anything";
    found(
        objects,
        Property::Memory,
        nothing,
        &[
            "int *t = NULL; use(); return t[1L << 30];",
            "int *t = NULL; use(); return t[far];",
            "use(); return *(int *)0x100000000;",
            "use(); int *p = count; p += far; p += far; return *p;",
            "use(); int *p = count; p -= far; p -= far; p -= far; p -= far; return *p;",
            "use(); int *p = count - far; return *p;",
            "use(); char *p = text + (1L << 33); return *p;",
        ],
    );
    found(objects, Property::Memory, "count[-23], which has 4 elements", &["use(); return count[back];"]);
    found(objects, Property::Memory, "text[-23], which has 16 elements", &["use(); return text[back];"]);
    allowed(
        objects,
        &[
            "char *p = text - 1; return p[1];",
            "assert((count + 4)[-4] == 0);",
            "uintptr_t p = (uintptr_t)&first | 1; assert(*(int *)(p & ~3ul) == 5);",
            "assert((void *)-1 != NULL); assert((int *)0x100000000 != count);",
        ],
    );
}

#[test]
fn an_array_inside_of_something_has_bounds() {
    let objects = "struct s { int a[2], b; } s, *p = &s; int m[2][3]; struct t { int n; char last[1]; }; volatile int two = 2, three = 3;";
    found(
        objects,
        Property::Memory,
        "outside of the array",
        &[
            "return s.a[2];",
            "int i = two; return s.a[i];",
            "p->a[two] = 1;",
            "return m[0][three];",
            "return m[0][-1 + 4];",
            "struct s q[2] = {0}; return q[0].a[two];",
            "int (*row)[3] = m; return (*row)[three];",
            "p->a[2]++;",
        ],
    );
    allowed(
        objects,
        &[
            "int i = 1; s.a[i] = 3; assert(p->a[1] == 3); assert(m[1][2] == 0);",
            "int *end = &s.a[2], n = 0; for (int *i = s.a; i != end; i++) n += *i; assert(n == 0);",
            "int *end = m[2], n = 0; for (int *i = m[0]; i < end; i++) n++; assert(n == 6);",
            "struct t *t = malloc(sizeof *t + 7); t->last[two + 3] = 1; assert(t->last[5] == 1);",
        ],
    );
}

#[test]
fn constants_are_not_written() {
    found(
        "const int table[2] = {1, 2}; const int one = 1;",
        Property::Memory,
        "which is constant",
        &[
            "char *s = \"text\"; s[0] = 'T';",
            "*(int *)&one = 2;",
            "int *p = (int *)table; p[1]++;",
            "static const int local = 1; *(int *)&local = 2;",
            "__atomic_fetch_add((int *)&one, 1, 0);",
        ],
    );
    allowed(
        "const char *name = \"a\"; char text[] = \"text\";",
        &["name = \"b\"; text[0] = 'T'; assert(name[0] == 'b');"],
    );
}

#[test]
fn layout_can_be_packed() {
    let records = "#pragma pack(push, 1)\nstruct a { char c; int n; };\n#pragma pack(pop)\nstruct b { char c; int n; };
        #pragma pack(2)\nstruct c { char c; int n; };\n#pragma pack()\nenum __attribute__((packed)) e { A, B }; enum f { C } __attribute__((packed));
        struct __attribute__((packed)) g { unsigned a : 3, b : 13, c : 8; char d; }; enum __attribute__((packed)) h { L = -1, M = 300 };";
    allowed(
        records,
        &[
            "_Static_assert(sizeof(struct a) == 5 && sizeof(struct b) == 8 && sizeof(struct c) == 6, \"\");",
            "_Static_assert(sizeof(enum e) == 1 && sizeof(enum f) == 1 && sizeof(enum h) == 2, \"\");",
            "struct a x = {1, 2}; x.n = 7; assert(x.c + x.n == 8); enum h y = M; assert(y == 300);",
            "struct g z = {0}; z.b = 8191; z.c = 255; z.a = 5; assert(z.b == 8191 && z.c == 255 && z.a == 5 && z.d == 0);",
        ],
    );
}

#[test]
fn a_block_takes_its_variables_with_it() {
    let before = "int *kept; struct pair { int a, b; } *pair; void keep(int *p) { kept = p; }
        void *reader(void *p) { return (void *)(long)*(int *)p; }";
    found(
        before,
        Property::Memory,
        "life has ended",
        &[
            "{ int x = 5; kept = &x; } int y = *kept;",
            "{ int x = 5; keep(&x); } *kept = 3;",
            "{ struct pair p = {1, 2}; pair = &p; } return pair->b;",
            "int a[2] = {1, 2}; for (int i = 0; i < 2; i++) { int x = a[i]; if (i == 0) keep(&x); else return *kept; }",
            "for (int i = 0; i < 3; i++) { int x = i; keep(&x); if (i == 1) break; } return *kept;",
            "int i = 0; while (i < 2) { int x = i; keep(&x); i++; continue; } return *kept;",
            "{ int x = 5; keep(&x); goto out; } out: return *kept;",
            "for (int i = 0; i < 1; i++) keep(&i); return *kept;",
            "switch (kept == 0) { case 1: { int x = 1; keep(&x); break; } } return *kept;",
        ],
    );
    found(
        before,
        Property::Memory,
        "never written",
        &["for (int i = 0; i < 2; i++) { int x; keep(&x); if (i) return *kept; *kept = 1; }"],
    );
    // The thread may run when the block, whose variable it was given, is over.
    let outcome = check(&format!(
        "{before}\nint main(void) {{ pthread_t t; {{ int id = 1; pthread_create(&t, 0, reader, &id); }} pthread_join(t, 0); return 0; }}"
    ));
    assert_eq!(outcome.verdict, Verdict::Violated);
    allowed(
        before,
        &[
            "for (int i = 0; i < 3; i++) { int x = i; keep(&x); assert(*kept == i); if (i == 1) continue; *kept = 4; }",
            "{ int x = 1; keep(&x); { int y = 2; keep(&y); } keep(&x); assert(*kept == 1); }",
            "switch (1) { int x; case 1: keep(&x); x = 3; assert(*kept == 3); }",
            "int n = 0; again: { int x = n; keep(&x); if (n++ < 2) goto again; assert(*kept == 2); }",
            "pthread_t t; { int id = 1; pthread_create(&t, 0, reader, &id); pthread_join(t, 0); }",
            "for (int i = 0; i < 2; i++) { pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }",
        ],
    );
}

#[test]
fn a_thread_takes_its_own_memory_with_it() {
    let before = "_Thread_local int own = 1; int *kept; void *f(void *a) { own = 2; kept = &own; return 0; }
        void *g(void *a) { kept = &own; pthread_exit(0); }
        void *h(void *a) { return (void *)(long)(own + *kept); }";
    found(
        before,
        Property::Memory,
        "life has ended",
        &[
            "pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return *kept;",
            "pthread_t t; pthread_create(&t, 0, g, 0); pthread_join(t, 0); *kept = 1;",
        ],
    );
    allowed(
        before,
        &["kept = &own; pthread_t t; pthread_create(&t, 0, h, 0); pthread_join(t, 0); assert(own == 1 && *kept == 1);"],
    );
}

/// Who has got a pointer by a relaxed access does not know that there is an object.
#[test]
fn an_object_is_known_to_whoever_uses_it() {
    let program = |allocate: &str, publish: &str, find: &str, use_it: &str| {
        format!(
            "struct node {{ _Atomic int a; int b; pthread_mutex_t m; }}; static _Atomic(struct node *) shared;
             static void *user(void *unused) {{
               struct node *n = atomic_load_explicit(&shared, memory_order_{find});
               if (n) {{ {use_it} }}
               return 0; }}
             int main(void) {{
               pthread_t t; pthread_create(&t, 0, user, 0); struct node *n = {allocate};
               atomic_store_explicit(&shared, n, memory_order_{publish}); pthread_join(t, 0); return 0; }}"
        )
    };
    let judge = |text: &str| {
        let loaded = load(&file(text), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut answers = Vec::new();
        for (model, engines) in [
            (Model::Rc11, &["optimal", "rf"][..]),
            (Model::Sc, &["optimal", "rf", "rvf", "vc", "dc"]),
            (Model::Tso, &["optimal", "rf"]),
        ] {
            for engine in engines {
                let mut settings = Settings::new(model);
                settings.engine = raddle::ENGINES.find(engine).expect("an engine");
                let outcome = match verify(&loaded.program, &settings, &Control::new()) {
                    Ok(outcome) => outcome,
                    // Two of the engines have no updates.
                    Err(_) if ["vc", "dc"].contains(engine) && (text.contains("lock") || text.contains("fetch")) => {
                        continue;
                    }
                    Err(error) => panic!("{engine}: {error}\n{text}"),
                };
                answers.push(outcome.findings.first().map(|finding| finding.violation().message.clone()));
            }
        }
        answers
    };
    let uses = [
        "atomic_store_explicit(&n->a, 1, memory_order_relaxed);",
        "atomic_load(&n->a);",
        "int b = n->b; (void)b;",
        "n->b = 1;",
        "pthread_mutex_lock(&n->m); pthread_mutex_unlock(&n->m);",
        "atomic_fetch_add(&n->a, 1);",
    ];
    for use_it in uses {
        for (publish, find) in [("relaxed", "relaxed"), ("release", "relaxed"), ("relaxed", "acquire")] {
            let text = program("calloc(1, sizeof *n)", publish, find, use_it);
            for answer in judge(&text) {
                assert!(
                    answer.as_deref().is_some_and(|message| message.contains("it was made by T0")),
                    "{answer:?}\n{text}"
                );
            }
        }
        let text = program("calloc(1, sizeof *n)", "release", "acquire", use_it);
        assert!(judge(&text).iter().all(Option::is_none), "{text}");
    }
    let written = program("malloc(sizeof *n)", "relaxed", "relaxed", uses[0]);
    assert!(judge(&written).iter().all(Option::is_some), "{written}");
}
