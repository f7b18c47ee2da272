//! Threads, locks and what else POSIX wants used in its way.

use crate::{allowed, found};
use raddle::Property;

#[test]
fn threads_are_joined_or_detached_once() {
    let threads = "void *nothing(void *p) { return p; } pthread_t t; pthread_attr_t a;";
    found(
        threads,
        Property::Lock,
        "joined that is detached",
        &[
            "pthread_create(&t, 0, nothing, 0); pthread_detach(t); pthread_join(t, 0);",
            "pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
         pthread_create(&t, &a, nothing, 0); pthread_join(t, 0);",
        ],
    );
    found(
        threads,
        Property::Lock,
        "detached already",
        &["pthread_create(&t, 0, nothing, 0); pthread_detach(t); pthread_detach(t);"],
    );
    allowed(
        threads,
        &[
            "pthread_t s; pthread_create(&s, 0, nothing, 0); pthread_create(&t, 0, nothing, 0); pthread_detach(t); pthread_join(s, 0);",
            "pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE);
         pthread_create(&t, &a, nothing, 0); pthread_join(t, 0);",
        ],
    );
}

#[test]
fn what_is_initialised_is_initialised_once_and_by_nobody_else() {
    let objects =
        "pthread_barrier_t b; atomic_int x; pthread_t t; void *set(void *p) { atomic_init(&x, 1); return p; }";
    found(
        objects,
        Property::Lock,
        "initialised already",
        &[
            "pthread_barrier_init(&b, 0, 1); pthread_barrier_init(&b, 0, 2);",
            "pthread_barrier_t c; pthread_barrier_init(&c, 0, 1); pthread_barrier_wait(&c); pthread_barrier_init(&c, 0, 1);",
        ],
    );
    found(objects, Property::Race, "", &["pthread_create(&t, 0, set, 0); atomic_load(&x); pthread_join(t, 0);"]);
    allowed(
        objects,
        &[
            "pthread_barrier_init(&b, 0, 1); pthread_barrier_destroy(&b); pthread_barrier_init(&b, 0, 2);",
            "pthread_barrier_t *p = malloc(sizeof *p); pthread_barrier_init(p, 0, 1); pthread_barrier_wait(p);",
            "atomic_init(&x, 3); pthread_create(&t, 0, set, 0); pthread_join(t, 0); assert(atomic_load(&x) == 1);",
        ],
    );
}

#[test]
fn time_may_be_up() {
    let objects = "#include <threads.h>
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; sem_t s; pthread_rwlock_t r;
        pthread_t t; struct timespec d; int ready, result; mtx_t n; cnd_t e;
        void *lock(void *p) { return (void *)(long)pthread_mutex_timedlock(&m, &d); }
        void *read(void *p) { return (void *)(long)pthread_rwlock_timedrdlock(&r, &d); }
        void *write(void *p) { return (void *)(long)pthread_rwlock_timedwrlock(&r, &d); }
        void *signal(void *p) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }";
    allowed(objects, &[
        "pthread_mutex_lock(&m); pthread_create(&t, 0, lock, 0); void *got; pthread_join(t, &got); assert(got == (void *)ETIMEDOUT);",
        "pthread_rwlock_init(&r, 0); pthread_rwlock_wrlock(&r); pthread_create(&t, 0, read, 0); void *got; pthread_join(t, &got);
         assert(got == (void *)ETIMEDOUT);",
        "pthread_rwlock_init(&r, 0); pthread_rwlock_rdlock(&r); pthread_create(&t, 0, write, 0); void *got; pthread_join(t, &got);
         assert(got == (void *)ETIMEDOUT);",
        "sem_init(&s, 0, 0); assert(sem_timedwait(&s, &d) == -1 && errno == ETIMEDOUT); sem_post(&s); assert(sem_timedwait(&s, &d) == 0);",
        "pthread_mutex_lock(&m); assert(pthread_cond_timedwait(&c, &m, &d) == ETIMEDOUT); pthread_mutex_unlock(&m);",
        "mtx_init(&n, mtx_timed); cnd_init(&e); mtx_lock(&n); assert(cnd_timedwait(&e, &n, &d) == thrd_timedout); mtx_unlock(&n);
         assert(mtx_timedlock(&n, &d) == thrd_success);",
        "pthread_create(&t, 0, signal, 0); pthread_mutex_lock(&m); while (!ready && result == 0) result = pthread_cond_timedwait(&c, &m, &d);
         assert(ready || result == ETIMEDOUT); pthread_mutex_unlock(&m); pthread_join(t, 0);",
    ]);
    // Both ends are met.
    found(
        objects,
        Property::Assert,
        "result",
        &[
            "pthread_create(&t, 0, signal, 0); pthread_mutex_lock(&m); if (!ready) { result = pthread_cond_timedwait(&c, &m, &d); assert(result == ETIMEDOUT); }",
            "pthread_create(&t, 0, signal, 0); pthread_mutex_lock(&m); if (!ready) { result = pthread_cond_timedwait(&c, &m, &d); assert(result == 0); }",
        ],
    );
    // A wait without a deadline is still one.
    found(
        objects,
        Property::Deadlock,
        "",
        &["pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);"],
    );
}

#[test]
fn a_semaphore_has_a_greatest_value() {
    found(
        "sem_t s;",
        Property::Lock,
        "greatest value: s",
        &["sem_init(&s, 0, 0x7ffffffe); sem_post(&s); sem_post(&s);"],
    );
    allowed(
        "sem_t s;",
        &[
            "sem_init(&s, 0, 0x7ffffffe); sem_post(&s);",
            "assert(sem_init(&s, 0, 0x80000000) == -1 && errno == EINVAL);",
        ],
    );
}

/// Making a key for thread-specific data is no access that could race with the end of a thread.
#[test]
fn a_key_is_made_while_others_end() {
    allowed(
        "pthread_key_t k; int ended; void end(void *v) { ended++; } void *nothing(void *p) { return p; }
         void *something(void *p) { pthread_setspecific(k, p); return p; }",
        &[
            "pthread_t t; pthread_create(&t, 0, nothing, 0); pthread_key_create(&k, end); pthread_join(t, 0);",
            "pthread_t t; pthread_key_create(&k, end); pthread_create(&t, 0, something, &k); pthread_join(t, 0); assert(ended == 1);",
        ],
    );
}
