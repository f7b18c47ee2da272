// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(memory)
// raddle: --model rc11 expect: holds
//
// Read, copy, update in its simplest form: a reader counts itself in and out, and the updater frees the old version when
// it has seen a moment without readers. Broken: it does not wait.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct version {
    atomic_int a, b;
};

static _Atomic(struct version *) current;
static atomic_int readers;

static struct version *make(int n)
{
    struct version *version = malloc(sizeof *version);
    atomic_init(&version->a, n);
    atomic_init(&version->b, n);
    return version;
}

static void *reader(void *unused)
{
    atomic_fetch_add(&readers, 1);
    struct version *version = atomic_load(&current);
    int a = atomic_load_explicit(&version->a, memory_order_relaxed);
    int b = atomic_load_explicit(&version->b, memory_order_relaxed);
    assert(a == b);
    atomic_fetch_sub(&readers, 1);
    return NULL;
}

static void *updater(void *unused)
{
    struct version *old = atomic_exchange(&current, make(2));
#ifndef BROKEN
    while (atomic_load(&readers) != 0)
        ;
#endif
    free(old);
    return NULL;
}

int main(void)
{
    atomic_init(&current, make(1));
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, updater, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
